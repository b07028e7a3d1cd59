//! The exact counter.

use std::fmt;

/// Exact counter: the sum of the votes for every label.
///
/// Memory: on the CPU, per thread, the votes of the vertex of the highest degree, 16 bytes each, and
/// a hash table of at least three slots of 16 bytes per vote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exact;

impl Exact {
    /// The name as the command line reads it.
    pub const NAME: &str = "exact";
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Exact::NAME)
    }
}
