//! The tests of ripplet-draw, in one binary.

mod counting;
mod page;
mod svg;
