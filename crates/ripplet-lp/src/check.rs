//! Checked mode: tests a program's promises on a sample of a graph's vertices.
//!
//! An engine relies on the [`Hints`](crate::Hints) of a program. A promise that does not hold gives
//! wrong labels without an error; this module finds it first. It compares what an engine may infer
//! from a promise with what the hooks return:
//!
//! | promise | test |
//! |---|---|
//! | hooks are pure functions | two equal calls return the same |
//! | [`falls_with_total`](crate::Hints::falls_with_total) | scores of a label with growing totals |
//! | [`follows_frequency`](crate::Hints::follows_frequency) | scores of a vertex's labels, by frequency |
//! | [`votes_for_own_label`](crate::Hints::votes_for_own_label) | each vote against the label of its neighbour |
//! | [`score_bound`](crate::Hints::score_bound) | each score against its bound; bounds of growing frequencies |
//! | [`Activation::Disagreement`] | scores of a label with growing frequencies |
//! | [`load_neighbors`](crate::Hints::load_neighbors) | against one call of the hooks per neighbour |
//! | [`carry_most`](crate::Hints::carry_most) | against one call of the hook per neighbour |
//! | [`carries`](crate::Hints::carries) | if false, the hook's largest result against 0 |
//! | [`has_columns`](crate::Hints::has_columns) | if false, the list of columns |
//!
//! Tests use the state before each of the first [`ROUNDS`] rounds, all under
//! [`Schedule::sync`](crate::Schedule::sync). A sample finds a promise that is often broken. That
//! none is found broken is no proof.
//!
//! Memory: that of a run under `sync` and the votes of a vertex on each thread; see [`plan`].
//! Determinism: the sample is drawn by the settings' seed, and
//! the first broken promise of the sample is returned, with any number of threads.
//!
//! [`Activation::Disagreement`]: crate::Activation::Disagreement

use crate::{DynProgram, Plan, RunError, Settings, cpu};
use ripplet_graph::{GraphView, Observer};

pub use crate::promise::{BrokenPromise, CheckError, Checked, Evidence, Promise, ROUNDS, Scored};

/// The number of vertices that the command tests in each round.
pub const SAMPLE: u32 = 1000;

/// Tests the promises of a program on `sample` vertices of a graph, or on all if it has fewer.
///
/// The settings provide the seed, initial labels and columns. The work runs on rayon's current
/// pool.
///
/// # Errors
/// With the first broken promise. Also if the settings do not fit, memory is refused, or the
/// observer cancels.
///
/// # Examples
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::check::{Promise, CheckError, check_program};
/// use ripplet_lp::{Settings, hooks::*};
///
/// /// Prefers rare labels, but promises the opposite.
/// struct Contrary;
///
/// impl Program for Contrary {
///     type Score = u64;
///     fn name(&self) -> &str {
///         "contrary"
///     }
///     fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
///         c.total_votes - c.frequency + 1
///     }
/// }
///
/// impl Hints for Contrary {
///     fn follows_frequency(&self) -> bool {
///         true
///     }
/// }
///
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let edges = EdgeTable::new(ids, vec![0, 0], vec![1, 2])?.with_weights(vec![1.0, 5.0])?;
/// let graph = GraphBuilder::new().build(edges)?;
/// let found = check_program(&graph, &Contrary, &Settings::default(), 1000, &());
/// let Err(CheckError::Broken(broken)) = found else { panic!("not found") };
/// assert_eq!(broken.promise, Promise::FollowsFrequency);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_program<'g>(
    graph: impl Into<GraphView<'g>>,
    program: &dyn DynProgram,
    settings: &Settings,
    sample: u32,
    observer: &dyn Observer,
) -> Result<Checked, CheckError> {
    let graph = graph.into();
    settings.check(graph.vertices(), &program.info()).map_err(RunError::from)?;
    let checked = program.check(graph, settings, sample, observer);
    checked.map_err(|error| match error {
        CheckError::Run(error) => {
            let plan = plan(graph, program, settings, sample, rayon::current_num_threads());
            error.planned(plan.algorithm_host()).into()
        }
        broken => broken,
    })
}

/// Returns the memory that [`check_program`] needs, on `threads` threads.
///
/// The memory is free again when the check ends: a run after it adds what exceeds its own plan.
pub fn plan<'g>(
    graph: impl Into<GraphView<'g>>,
    program: &dyn DynProgram,
    settings: &Settings,
    sample: u32,
    threads: usize,
) -> Plan {
    cpu::check::plan(graph.into(), &program.info(), settings, sample, threads)
}
