//! How a vertex's votes are counted: exactly, or by a sketch whose size does not depend on the degree.
//!
//! # Sketches
//!
//! A vertex's votes are taken in the order of its arcs (outgoing ones first), beginning where
//! [`Start`] says, and from the last on with the first; those for no label, or of weight 0, are
//! passed over. What a sketch then holds are the *candidates*, each a label with a weight:
//!
//! - **Misra-Gries**, `mg:K`: K slots. A vote adds to its label's slot, or takes the first free one.
//!   Where there is neither, every slot and the vote lose as much as the least of them has; the slots
//!   that are left with nothing are free, and what is left of the vote takes the first of these. So
//!   K + 1 labels lose alike, and who has more than 1/(K + 1) of all votes is a candidate.
//! - **Boyer-Moore**, `bm`: one slot. A vote adds to its own label; another one's weight is taken off
//!   while the slot has more than that, and otherwise takes the slot over with all of its weight. Where all
//!   votes weigh the same and there is one part, a label with more than half of them is the candidate.
//!   (`mg:1` keeps that for any weights.)
//!
//! *Parts* ([`Parts::Merged`]): 128 consecutive arcs are a part and have a sketch; neighbouring parts'
//! sketches are merged in pairs, then those of four parts, and so on; what has no partner waits. The right
//! one of two is merged into the left one: for Misra-Gries as if its slots, the first one first, were
//! votes, which keeps the promise above for all votes together (Agarwal et al., *Mergeable summaries*,
//! 2013); for Boyer-Moore the heavier one stays, of equal ones the left. The order is part of the
//! definition, so that any number of threads finds the same.
//!
//! *Start*: where all labels differ, a sketch holds those that came last. Begun with the first arc each
//! time, that is the same neighbours' in every round, who are heard by all and hear nobody: most graphs
//! settle badly (`docs/sketches.md` has figures). So each round begins with another arc, number `hash(v, seed, round) · degree >> 32`.
//!
//! *Scans*: after one scan a candidate's frequency is what its slot holds, which is the true sum or
//! less; with two ([`Scans::Double`]) the votes for each candidate are added up again, and the vertex's
//! own label is a candidate wherever it got votes. The candidates are then scored as the program says, and the best wins; ties end as the schedule says. A vertex without
//! a candidate, or none that may win, keeps its label.
//!
//! References: Sahu, *Memory efficient GPU-based label propagation algorithm for community detection on
//! large graphs*, 2024, and *Memory-efficient community detection on large graphs using weighted
//! sketches*, 2024. There the merge of Misra-Gries sketches and its loss differ: a vote that finds no
//! slot is gone with all of its weight, which for votes of different weights promises nothing.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Arcs of a part of a vertex; see [`Parts::Merged`].
pub const PART: usize = 128;

/// How a vertex's votes are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counter {
    /// A hash table that holds every label: the true sums.
    #[default]
    Exact,
    /// A few labels that got many votes, for programs that
    /// [follow the frequency](crate::Program::follows_frequency).
    Sketch(Sketch),
}

/// What is kept of a vertex's votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// How a vote is taken.
    pub rule: Rule,
    /// Whether votes for the candidates are added up again.
    pub scans: Scans,
    /// What has a sketch of its own.
    pub parts: Parts,
    /// The arc whose vote is taken first.
    pub start: Start,
}

/// How a vote is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// So many slots.
    MisraGries(Slots),
    /// One slot, which the heavier takes.
    BoyerMoore,
}

/// Slots of a Misra-Gries sketch: 1 to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots(u32);

/// How often votes are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scans {
    /// Once: a candidate's frequency is what its slot holds.
    Single,
    /// Once more: its frequency is the true sum.
    #[default]
    Double,
}

/// What has a sketch of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// All arcs of a vertex.
    One,
    /// Each [`PART`] of them, merged in pairs.
    #[default]
    Merged,
}

/// The arc whose vote is taken first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The first one.
    First,
    /// One that is drawn for each vertex and round.
    #[default]
    Drawn,
}

/// What is no counter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadCounter {
    /// A number of slots out of bounds.
    #[error("a Misra-Gries sketch has 1 to {max} slots, not {0}", max = Slots::MOST)]
    Slots(u32),
    /// Another text.
    #[error(
        "expected exact, bm, or mg:K with K from 1 to {max}; then, if wanted, :single (scan), :one \
         (sketch a vertex) and :first (arc first), as in mg:8:single; not `{0}`",
        max = Slots::MOST
    )]
    Text(String),
}

impl Slots {
    /// The most slots.
    pub const MOST: u32 = 32;

    /// So many slots.
    ///
    /// # Errors
    /// Where they are 0 or more than 32.
    pub const fn new(slots: u32) -> Result<Slots, BadCounter> {
        match slots {
            1..=Slots::MOST => Ok(Slots(slots)),
            _ => Err(BadCounter::Slots(slots)),
        }
    }

    /// How many.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Sketch {
    /// Eight slots, as published: one scan.
    pub const NU_MG8: Sketch = Sketch::published(Rule::MisraGries(Slots(8)));
    /// One slot, as published: one scan.
    pub const NU_BM: Sketch = Sketch::published(Rule::BoyerMoore);

    const fn published(rule: Rule) -> Sketch {
        Sketch { rule, scans: Scans::Single, parts: Parts::Merged, start: Start::First }
    }

    /// Eight slots, two scans, merged parts and a drawn start: what `docs/sketches.md` recommends.
    pub const fn of_eight() -> Sketch {
        Sketch::by(Rule::MisraGries(Slots(8)))
    }

    /// By this rule, with two scans, merged parts and a drawn start.
    const fn by(rule: Rule) -> Sketch {
        Sketch { rule, scans: Scans::Double, parts: Parts::Merged, start: Start::Drawn }
    }

    /// Candidates at most.
    pub const fn slots(self) -> u32 {
        match self.rule {
            Rule::MisraGries(slots) => slots.get(),
            Rule::BoyerMoore => 1,
        }
    }

    /// Whether a vertex's own label is a candidate wherever it got votes, and candidates' frequencies
    /// are the true sums.
    pub(crate) fn counts_again(self) -> bool {
        self.scans == Scans::Double
    }
}

impl Counter {
    /// The sketch, where it is one.
    pub const fn sketch(self) -> Option<Sketch> {
        match self {
            Counter::Exact => None,
            Counter::Sketch(sketch) => Some(sketch),
        }
    }
}

impl fmt::Display for Counter {
    /// The name, as the command line knows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counter::Sketch(Sketch { rule, scans, parts, start }) = self else {
            return f.write_str("exact");
        };
        match rule {
            Rule::MisraGries(slots) => write!(f, "mg:{}", slots.get())?,
            Rule::BoyerMoore => f.write_str("bm")?,
        }
        if *scans == Scans::Single {
            f.write_str(":single")?;
        }
        if *parts == Parts::One {
            f.write_str(":one")?;
        }
        if *start == Start::First {
            f.write_str(":first")?;
        }
        Ok(())
    }
}

impl FromStr for Counter {
    type Err = BadCounter;

    fn from_str(text: &str) -> Result<Counter, BadCounter> {
        let bad = || BadCounter::Text(text.to_owned());
        let mut words = text.split(':');
        let rule = match words.next() {
            Some("exact") if text == "exact" => return Ok(Counter::Exact),
            Some("bm") => Rule::BoyerMoore,
            Some("mg") => {
                let slots = words.next().and_then(|slots| slots.parse().ok()).ok_or_else(bad)?;
                Rule::MisraGries(Slots::new(slots)?)
            }
            _ => return Err(bad()),
        };
        let mut sketch = Sketch::by(rule);
        for word in words {
            match word {
                "single" if sketch.scans == Scans::Double => sketch.scans = Scans::Single,
                "one" if sketch.parts == Parts::Merged => sketch.parts = Parts::One,
                "first" if sketch.start == Start::Drawn => sketch.start = Start::First,
                _ => return Err(bad()),
            }
        }
        Ok(Counter::Sketch(sketch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in ["exact", "bm", "bm:single:one:first", "mg:1", "mg:32:single", "mg:8:one"] {
            assert_eq!(name.parse::<Counter>().map(|counter| counter.to_string()), Ok(name.into()));
        }
        assert_eq!("mg:8:single:first".parse(), Ok(Counter::Sketch(Sketch::NU_MG8)));
        assert_eq!("bm:first:single".parse(), Ok(Counter::Sketch(Sketch::NU_BM)));
    }

    #[test]
    fn other_texts_are_refused() {
        for slots in [0, 33, u32::MAX] {
            assert_eq!(format!("mg:{slots}").parse::<Counter>(), Err(BadCounter::Slots(slots)));
        }
        for text in
            ["", "mg", "mg:", "mg:x", "mg:-1", "exact:single", "bm:1", "mg:8:one:one", "mg:8:two"]
        {
            assert_eq!(text.parse::<Counter>(), Err(BadCounter::Text(text.to_owned())));
        }
    }
}
