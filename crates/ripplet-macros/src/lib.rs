//! The attribute `#[label_program]`; its implementation is in `ripplet-hooks`.

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
/// error at its place. The module needs `use ripplet::lp::hooks::*;`.
///
/// ```
/// # use ripplet_lp::hooks::label_program;
/// #[label_program]
/// mod attenuated {
///     use ripplet_lp::hooks::*;
///
///     pub struct Attenuated {
///         pub attenuation: f32,
///     }
///
///     #[columns]
///     struct Columns {
///         #[default(1.0)]
///         strength: f32,
///     }
///
///     impl Program for Attenuated {
///         type Score = u64;
///
///         fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
///             Vote { label: u.label, weight: (65536.0 * u.strength()) as u32 }
///         }
///
///         fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
///             c.frequency
///         }
///
///         fn carry(&self, _v: Vertex, u: Neighbor) -> f32 {
///             u.strength()
///         }
///
///         fn update_vertex(&self, v: &mut VertexMut, label: Label, _score: u64) -> Label {
///             v.set_strength(v.carried() - self.attenuation);
///             label
///         }
///     }
/// }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::{Executor, Settings, cpu::CpuExecutor};
///
/// // A triangle.
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0, 1, 2], vec![1, 2, 0])?)?;
/// let program = attenuated::Attenuated { attenuation: 0.05 };
/// let found = CpuExecutor::new(None)?.run(&graph, &program, &Settings::default(), &mut ())?;
/// assert_eq!(found.labels.len(), 3);
/// assert_eq!(found.columns[0].name, "strength");
/// # Ok(())
/// # }
/// ```
#[proc_macro_attribute]
pub fn label_program(arguments: TokenStream, item: TokenStream) -> TokenStream {
    ripplet_hooks::expand(arguments.into(), item.into()).into()
}
