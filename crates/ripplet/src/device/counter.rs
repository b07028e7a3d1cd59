//! The counter that fits a device's memory.

use super::AnyExecutor;
use ripplet_graph::GraphView;
use ripplet_lp::{Counter, DynProgram, Executor, Plan, RunError, Settings, Sketch};

impl AnyExecutor {
    /// Returns the counter for a run of these settings: exact counting, which is the fastest and misses no label, if
    /// its tables, which grow with degrees, fit; otherwise a sketch of eight labels, with the error of the exact one.
    ///
    /// Plans must pass `fits`, and fit the memory of each GPU. Programs that do not follow the frequency
    /// ([`Hints::follows_frequency`](ripplet_lp::Hints::follows_frequency)) take no sketch: theirs is the exact one.
    pub fn fitting_counter<'g, E: From<RunError>>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
        fits: impl FnOnce(&Plan) -> Result<(), E>,
    ) -> (Counter, Option<E>) {
        let graph = graph.into();
        if !program.info().follows_frequency {
            return (Counter::EXACT, None);
        }
        let exact = Settings { counter: Counter::EXACT, ..settings.clone() };
        let plan = self.plan(graph, program, &exact);
        let fits = fits(&plan).and_then(|()| Ok(self.check_run(graph, program, &exact, &plan)?));
        match fits {
            Ok(()) => (Counter::EXACT, None),
            Err(why) => (Counter::from(Sketch::of_eight()), Some(why)),
        }
    }
}
