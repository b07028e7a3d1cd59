//! What runs programs.

use crate::{DynProgram, Observer, Outcome, Plan, RunError, Settings};
use ripplet_graph::GraphView;

/// Runs label propagation programs: on the CPU, a GPU, or several.
///
/// An executor that is chosen at run time is a `&dyn Executor`.
pub trait Executor {
    /// Returns the memory that a run will need, before it starts.
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan;

    /// Runs a program on a graph of plain or of compressed lists.
    ///
    /// The labels are the same bytes for any executor, either kind of lists and any number of
    /// threads, unless the schedule's name says otherwise.
    ///
    /// # Errors
    /// If the settings do not fit the graph, memory is refused, or the observer cancels.
    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError>;

    /// [`Executor::plan_on`] a graph or a view of one.
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

    /// [`Executor::run_on`] a graph or a view of one.
    ///
    /// # Errors
    /// As [`Executor::run_on`].
    fn run<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError>
    where
        Self: Sized,
    {
        self.run_on(graph.into(), program, settings, observer)
    }
}
