//! How a vertex's votes are counted.

/// How a vertex's votes are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counter {
    /// A hash table that holds every label: the true sums.
    #[default]
    Exact,
}

impl Counter {
    /// The name, as the command line knows it.
    pub fn name(self) -> &'static str {
        match self {
            Counter::Exact => "exact",
        }
    }
}
