//! The tests of the file formats, in one binary.

mod graphs;
mod rg;
mod text;
