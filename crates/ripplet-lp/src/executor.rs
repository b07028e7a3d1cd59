//! Executors, which run programs.

use crate::{DynProgram, Outcome, Plan, RoundObserver, RunError, Settings};
use ripplet_graph::GraphView;

/// Runs label propagation programs: on the CPU, on one GPU, or on several.
///
/// An executor that is chosen at run time is a `&dyn Executor`.
///
/// # Examples
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::{Executor, Settings, cpu::CpuExecutor, programs::Lpa};
///
/// // Two triangles with one edge between them.
/// let ids = VertexIds::Consecutive { first: 0, count: 6 };
/// let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
/// let graph = GraphBuilder::new().build(edges)?;
///
/// let (executor, settings) = (CpuExecutor::new(None)?, Settings::default());
/// let found = executor.run(&graph, &Lpa::default(), &settings, &mut ())?;
/// assert_eq!(found.labels[0], found.labels[2]);
/// assert_ne!(found.labels[0], found.labels[3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Executor {
    /// Returns the memory that a run needs, before it starts.
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan;

    /// Runs a program on a graph of plain or of compressed lists.
    ///
    /// The labels are the same bytes for any executor, either kind of lists and any number of
    /// threads, unless the schedule is not deterministic.
    ///
    /// # Errors
    /// If the settings do not fit the graph, memory is refused, or the observer cancels.
    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError>;

    /// Calls [`Executor::plan_on`] with a graph or a view of one.
    fn plan<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Plan
    where
        Self: Sized,
    {
        self.plan_on(graph.into(), program, settings)
    }

    /// Calls [`Executor::run_on`] with a graph or a view of one.
    ///
    /// # Errors
    /// See [`Executor::run_on`].
    fn run<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError>
    where
        Self: Sized,
    {
        self.run_on(graph.into(), program, settings, observer)
    }
}
