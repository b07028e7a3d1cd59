//! Times of the steps of a run, and of counting with a thread per edge in place of the classes.

use super::device::DeviceLcc;
use super::layout::{Kind, Layout};
use super::run::{Run, Step};
use super::source;
use super::tuning::Tuning;
use crate::lp::{Kernels, failed};
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_gpu::Device;
use ripplet_graph::{Direction, Graph};
use ripplet_lp::RunError;

/// Times of a run on a graph that is on the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Number of edges, each counted once.
    pub edges: u64,
    /// Number of triangles of the graph.
    pub triangles: u64,
    /// Kernels in their order, with their seconds.
    pub steps: Vec<(&'static str, f64)>,
    /// Seconds of counting with a thread per edge, which looks up the entries of the shorter list
    /// in the longer one; for an undirected graph only, as lists must be in ascending order.
    pub by_edge: Option<f64>,
}

impl<D: Device> DeviceLcc<'_, D> {
    /// Measures the steps of a run.
    ///
    /// # Errors
    /// As for a run; also if the two methods find different triangles.
    pub fn profile(&self, graph: &Graph) -> Result<Profile, RunError> {
        let lcc = Lcc::new(Definition::Ldbc);
        let kind = Kind::new(graph, &lcc, self.tuning);
        let module = self.executor.device();
        let module = module.load(&source::of_kind(kind, Kernels::Measured)).map_err(failed)?;
        let mut run = self.measured(&module, kind, self.tuning, graph)?;
        let mut steps = Vec::new();
        run.time(&run.measuring(), &mut steps)?;
        run.choose_hubs().map_err(failed)?;
        run.time(&run.listing(), &mut steps)?;
        run.time(&run.preparing().map_err(failed)?, &mut steps)?;
        run.time(&run.counting().map_err(failed)?, &mut steps)?;
        let found = run.tallies().map_err(failed)?;
        let counted = run.numerators()?;
        run.time(&run.dividing().map_err(failed)?, &mut steps)?;
        drop(run);
        let by_edge = match graph.direction() {
            Direction::Directed => None,
            Direction::Undirected => {
                let tuning = Tuning { most_hubs: 0, ..self.tuning };
                let run = self.measured(&module, kind, tuning, graph)?;
                Some(by_edge(&run, found.edges, &counted)?)
            }
        };
        Ok(Profile { edges: found.edges, triangles: found.triangles, steps, by_edge })
    }

    /// Creates a run with a tuning, and moves the graph to the device.
    fn measured<'m>(
        &'m self,
        module: &'m D::Module,
        kind: Kind,
        tuning: Tuning,
        graph: &Graph,
    ) -> Result<Run<'m, D>, RunError> {
        let layout = Layout::new(graph, &Lcc::new(Definition::Ldbc), kind, tuning);
        self.executor.check_memory(&layout.plan)?;
        let run = Run::new(self.executor.device(), module, (layout, kind), tuning, graph);
        let run = run.map_err(failed)?;
        run.clear_all().map_err(failed)?;
        Ok(run)
    }
}

impl<D: Device> Run<'_, D> {
    /// Performs steps, and records the seconds of each.
    fn time(&self, steps: &[Step], seconds: &mut Vec<(&'static str, f64)>) -> Result<(), RunError> {
        for step in steps.iter().filter(|step| step.blocks > 0) {
            let mut launch = || self.launch(step, 0, step.blocks);
            seconds.push((step.kernel, self.device.timed(&mut launch).map_err(failed)?));
        }
        Ok(())
    }
}

/// Counts again, with a thread per edge, and compares the results.
fn by_edge<D: Device>(run: &Run<'_, D>, edges: u64, counted: &[u64]) -> Result<f64, RunError> {
    run.perform(&run.measuring(), &())?;
    run.perform(&run.listing(), &())?;
    run.perform(&run.preparing().map_err(failed)?, &())?;
    let device = run.device;
    let sources = device.reserve(4 * edges.max(1)).map_err(failed)?;
    let address = device.address(&sources);
    let find = Step::over("ripplet_find_sources", counted.len() as u64).counting_in(address);
    run.perform(&[find], &())?;
    let count = Step::over("ripplet_count_by_edge", edges).counting_in(address);
    let mut seconds = Vec::new();
    run.time(&[count], &mut seconds)?;
    match run.numerators()? == counted {
        true => Ok(seconds.iter().map(|(_, seconds)| seconds).sum()),
        false => Err(RunError::Device("a thread an edge counts other triangles".to_owned())),
    }
}
