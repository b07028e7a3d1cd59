//! The rule for several labels with the best score.

/// The rule for several labels with the best score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The smallest `hash(label, v, seed, round)` wins: no label has a permanent advantage.
    Hashed,
    /// The smallest label wins, as in LDBC's CDLP.
    Smallest,
}

impl Ties {
    /// Returns the name, as checkpoints contain it.
    pub fn name(self) -> &'static str {
        match self {
            Ties::Hashed => "hashed",
            Ties::Smallest => "smallest",
        }
    }

    /// Adds the rule, unless it is the usual one, to an order in words.
    pub(super) fn describe(self, order: String) -> String {
        match self {
            Ties::Hashed => order,
            Ties::Smallest => format!("{order}; of equal labels, the smallest"),
        }
    }
}
