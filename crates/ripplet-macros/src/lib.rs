// Its example is tested by `ripplet-lp`, which it needs.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
#![cfg_attr(doctest, doc = "`#[label_program]`.")]

use proc_macro::TokenStream;

/// Makes a module with a struct and its `impl Program` a label propagation program.
///
/// The Rust stays as it is and runs natively on the CPU. In addition:
///
/// - the hooks are translated to CUDA C++ (`Hints::device_source`),
/// - the views get accessors for the columns,
/// - the program reports its name, parameters and columns,
/// - `Hints` is implemented. Its functions that a program may write, such as `score_bound`, stand in
///   the `impl Program` of the text, and move from there.
///
/// Hooks are written in a plain subset of Rust. The compiler reports anything outside of it as an
/// error at its place. The module needs `use ripplet::lp::hooks::*;`, where there is an
/// [example](https://docs.rs/ripplet-lp/latest/ripplet_lp/hooks/).
#[proc_macro_attribute]
pub fn label_program(arguments: TokenStream, item: TokenStream) -> TokenStream {
    ripplet_hooks::expand(arguments.into(), item.into()).into()
}
