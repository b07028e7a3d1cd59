//! Vote counters: exact, or a sketch whose size does not depend on the degree.
//!
//! One file per counter holds its definition and its parameters:
//!
//! | counter | a label's frequency | memory per vertex | file |
//! |---|---|---|---|
//! | [`Exact`] | the sum of its votes | by the degree | `exact.rs` |
//! | [`Sketch`] | of a few labels: the sum, or less | fixed | `sketch.rs` |
//!
//! Engines do not match on [`Counter`]. They ask for its [`sketch`](Counter::sketch), or whether it
//! [keeps every label](Counter::keeps_every_label).

mod exact;
mod sketch;

pub use exact::Exact;
pub use sketch::{PART, Parts, Rule, Scans, Sketch, Slots, Start};

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A vote counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// A hash table of all labels: exact sums.
    Exact(Exact),
    /// A few labels with many votes, for programs that [follow the
    /// frequency](crate::Hints::follows_frequency).
    Sketch(Sketch),
}

/// A text or number that does not name a counter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadCounter {
    /// The number of slots is out of range.
    #[error("a Misra-Gries sketch has 1 to {max} slots, not {0}", max = Slots::MOST)]
    Slots(u32),
    /// The text does not name a counter.
    #[error(
        "expected exact, bm, or mg:K with K from 1 to {max}; then, if wanted, :single (scan), :one \
         (sketch a vertex) and :first (arc first), as in mg:8:single; not `{0}`",
        max = Slots::MOST
    )]
    Text(String),
}

impl Counter {
    /// The exact counter, which is the default.
    pub const EXACT: Counter = Counter::Exact(Exact);

    /// Returns the sketch, unless the counter is exact.
    pub const fn sketch(self) -> Option<Sketch> {
        match self {
            Counter::Exact(_) => None,
            Counter::Sketch(sketch) => Some(sketch),
        }
    }

    /// Returns whether every label that got votes is a candidate, with the sum of its votes.
    pub const fn keeps_every_label(self) -> bool {
        self.sketch().is_none()
    }
}

impl Default for Counter {
    fn default() -> Counter {
        Counter::EXACT
    }
}

impl From<Sketch> for Counter {
    fn from(sketch: Sketch) -> Counter {
        Counter::Sketch(sketch)
    }
}

impl fmt::Display for Counter {
    /// Writes the name as the command line reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Counter::Exact(exact) => exact.fmt(f),
            Counter::Sketch(sketch) => sketch.fmt(f),
        }
    }
}

impl FromStr for Counter {
    type Err = BadCounter;

    fn from_str(text: &str) -> Result<Counter, BadCounter> {
        match text {
            Exact::NAME => Ok(Counter::EXACT),
            _ => text.parse().map(Counter::Sketch),
        }
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
