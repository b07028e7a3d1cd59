//! Sketches of a vertex's votes.
//!
//! A sketch takes a vertex's votes in the order of its arcs (outgoing ones first), from the arc
//! that [`Start`] selects, and wraps around. It skips votes for no label and votes of weight 0. At
//! the end it holds *candidates*: labels with weights.
//!
//! - **Misra-Gries**, `mg:K`: K slots. A vote adds to its label's slot, or takes the first free
//!   one. If there is neither, every slot and the vote lose the least weight among them. Slots of
//!   weight 0 become free, and the rest of the vote takes the first of these. Each such step takes
//!   the same weight from K + 1 labels: a label with more than 1/(K + 1) of all votes is therefore
//!   a candidate.
//! - **Boyer-Moore**, `bm`: one slot. A vote adds to its own label. Otherwise its weight is
//!   subtracted while the slot has more than that; else the vote takes the slot over with all of
//!   its weight. If all votes have equal weight and there is one part, a label with more than half
//!   of them is the candidate. (`mg:1` guarantees that for any weights.)
//!
//! *Parts* ([`Parts::Merged`]): 128 consecutive arcs are a part with its own sketch. The sketches
//! of neighbouring parts are merged in pairs, then those of four parts, and so on; a sketch without
//! a partner waits. The right sketch is merged into the left one. Misra-Gries takes the right one's
//! slots as votes, in order, which keeps the guarantee above for all votes together (Agarwal et
//! al., *Mergeable summaries*, 2013). Boyer-Moore keeps the heavier one, of equal ones the left.
//! The order is part of the definition, so that the result does not depend on the number of
//! threads.
//!
//! *Start*: if all labels differ, a sketch holds the last ones. If it began with the first arc in
//! every round, these would be the labels of the same neighbours each time, and most graphs would
//! converge badly (`bench/sketches.md` has figures). Each round therefore begins with another arc,
//! number `hash(v, seed, round) · degree >> 32`.
//!
//! *Scans*: after one scan a candidate's frequency is the weight of its slot, which is at most the
//! true sum. With two ([`Scans::Double`]) the votes for each candidate are added up again, and the
//! vertex's own label is a candidate if it got votes. The program then scores the candidates, and
//! the best one wins; the schedule breaks ties. A vertex without an eligible candidate keeps its
//! label.
//!
//! References: Sahu, *Memory efficient GPU-based label propagation algorithm for community
//! detection on large graphs*, 2024, and *Memory-efficient community detection on large graphs
//! using weighted sketches*, 2024. The papers' merge of Misra-Gries sketches and their eviction
//! differ: a vote that finds no slot is dropped with all of its weight, which gives no guarantee
//! for votes of different weights.

use super::BadCounter;
use std::fmt;
use std::str::FromStr;

/// Arcs of a part of a vertex; see [`Parts::Merged`].
pub const PART: usize = 128;

/// A sketch of a vertex's votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// The update rule of a vote.
    pub rule: Rule,
    /// Whether the votes for the candidates are added up again.
    pub scans: Scans,
    /// The unit that has its own sketch.
    pub parts: Parts,
    /// The arc whose vote is taken first.
    pub start: Start,
}

/// The update rule of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Misra-Gries, with this number of slots.
    MisraGries(Slots),
    /// Boyer-Moore: one slot, which the heavier label takes.
    BoyerMoore,
}

/// The number of slots of a Misra-Gries sketch: 1 to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots(u32);

/// The number of passes over the votes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scans {
    /// One pass: a candidate's frequency is the weight of its slot.
    Single,
    /// Two passes: a candidate's frequency is the true sum.
    #[default]
    Double,
}

/// The unit that has its own sketch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// All arcs of a vertex.
    One,
    /// Each [`PART`] arcs of a vertex; the sketches are merged in pairs.
    #[default]
    Merged,
}

/// The arc whose vote is taken first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The first arc of the list.
    First,
    /// An arc that is drawn for each vertex and round.
    #[default]
    Drawn,
}

impl Slots {
    /// The largest number of slots.
    pub const MOST: u32 = 32;

    /// Returns this number of slots.
    ///
    /// # Errors
    /// If it is 0 or more than 32.
    pub const fn new(slots: u32) -> Result<Slots, BadCounter> {
        match slots {
            1..=Slots::MOST => Ok(Slots(slots)),
            _ => Err(BadCounter::Slots(slots)),
        }
    }

    /// Returns the number of slots.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Sketch {
    /// νMG8: Misra-Gries with eight slots and one scan, as published.
    pub const NU_MG8: Sketch = Sketch::published(Rule::MisraGries(Slots(8)));
    /// νBM: Boyer-Moore with one scan, as published.
    pub const NU_BM: Sketch = Sketch::published(Rule::BoyerMoore);

    const fn published(rule: Rule) -> Sketch {
        Sketch { rule, scans: Scans::Single, parts: Parts::Merged, start: Start::First }
    }

    /// Returns the sketch that `docs/sketches.md` recommends: eight slots, two scans, merged parts,
    /// a drawn start.
    pub const fn of_eight() -> Sketch {
        Sketch::by(Rule::MisraGries(Slots(8)))
    }

    /// Returns a sketch by this rule, with two scans, merged parts and a drawn start.
    const fn by(rule: Rule) -> Sketch {
        Sketch { rule, scans: Scans::Double, parts: Parts::Merged, start: Start::Drawn }
    }

    /// Returns the largest number of candidates.
    pub const fn slots(self) -> u32 {
        match self.rule {
            Rule::MisraGries(slots) => slots.get(),
            Rule::BoyerMoore => 1,
        }
    }

    /// Returns whether candidates' frequencies are the true sums, and a vertex's own label is a
    /// candidate if it got votes.
    pub(crate) fn counts_again(self) -> bool {
        self.scans == Scans::Double
    }
}

impl fmt::Display for Sketch {
    /// Writes the name as the command line reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sketch { rule, scans, parts, start } = self;
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

impl FromStr for Sketch {
    type Err = BadCounter;

    fn from_str(text: &str) -> Result<Sketch, BadCounter> {
        let bad = || BadCounter::Text(text.to_owned());
        let mut words = text.split(':');
        let rule = match words.next() {
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
        Ok(sketch)
    }
}
