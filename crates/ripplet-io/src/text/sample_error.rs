//! Error of one of the first rows of a table.

/// Error of one of the first rows.
#[derive(Debug)]
pub(super) struct SampleError {
    /// Index of the row, from 0.
    pub(super) row: usize,
    /// The error and its remedy, as a sentence.
    pub(super) why: String,
}

/// An error of the first row, which represents all.
impl From<String> for SampleError {
    fn from(why: String) -> SampleError {
        SampleError { row: 0, why }
    }
}

impl From<&str> for SampleError {
    fn from(why: &str) -> SampleError {
        SampleError::from(why.to_owned())
    }
}

impl From<SampleError> for String {
    fn from(error: SampleError) -> String {
        error.why
    }
}
