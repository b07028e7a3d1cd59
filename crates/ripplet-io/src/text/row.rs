//! Fields of a row that are read.

use std::borrow::Cow;

/// Fields of a row that are read.
pub(super) struct Row<'a> {
    pub(super) source: Cow<'a, [u8]>,
    pub(super) target: Cow<'a, [u8]>,
    pub(super) weight: Option<f64>,
}
