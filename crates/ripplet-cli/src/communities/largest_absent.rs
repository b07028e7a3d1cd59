//! The refusal of `--top` by a build without the feature `draw`.

use super::rows::Rows;
use crate::absent;
use crate::failure::Failure;
use ripplet::graph::GraphView;

/// Refuses `--top`.
pub fn check() -> Result<(), Failure> {
    Err(absent::refused("`--top`", "draw"))
}

/// Refuses a table of the largest communities.
pub fn table(_: GraphView<'_>, _: &Rows<'_>, _: bool, _: usize) -> Result<String, Failure> {
    Err(absent::refused("`--top`", "draw"))
}
