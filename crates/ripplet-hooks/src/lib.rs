//! The language of hooks: a plain subset of Rust, checked and translated.
//!
//! A label propagation program is one Rust module or one file. This crate reads it, checks it as
//! rustc would, and turns it into one intermediate form, [`ir`], from which come the CUDA C++ of
//! the GPU and, for a file, the machine code of the CPU.

pub mod ir;
