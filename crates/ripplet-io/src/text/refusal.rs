//! What is wrong with one of the first rows of a table.

/// A sentence about one of the first rows.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Its place among the rows, from 0.
    pub(super) row: usize,
    /// What is wrong, and what to do.
    pub(super) why: String,
}

/// Of the first row, which stands for all.
impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal { row: 0, why }
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Refusal {
        Refusal::from(why.to_owned())
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> String {
        refusal.why
    }
}
