//! How long each step of a run takes, and what it would take with a thread an edge instead of classes.

use super::layout::{Kind, Layout};
use super::run::{Run, Step};
use super::{DeviceLcc, source};
use crate::device::Device;
use crate::lp::{Kernels, failed};
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_graph::{Direction, Graph};
use ripplet_lp::RunError;

/// Where the time of a run goes, the graph being on the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Edges, each once.
    pub edges: u64,
    /// Triangles of the graph.
    pub triangles: u64,
    /// Kernels in their order, and the seconds that each takes.
    pub steps: Vec<(&'static str, f64)>,
    /// The seconds that counting takes with a thread an edge, which looks the shorter of two lists up in
    /// the longer one; on an undirected graph, whose lists ascend.
    pub by_edge: Option<f64>,
}

impl<D: Device> DeviceLcc<'_, D> {
    /// Measures a run's steps.
    ///
    /// # Errors
    /// As a run; and where the two ways to count find different triangles.
    pub fn profile(&self, graph: &Graph) -> Result<Profile, RunError> {
        let lcc = Lcc::new(Definition::Ldbc);
        let kind = Kind::new(graph, &lcc, self.tuning);
        let layout = Layout::new(graph, &lcc, kind);
        self.executor.check_memory(&layout.plan)?;
        let device = self.executor.device();
        let module = device.load(&source::of_kind(kind, Kernels::Measured)).map_err(failed)?;
        let run = Run::new(device, &module, (layout, kind), self.tuning, graph).map_err(failed)?;
        run.clear_all().map_err(failed)?;
        let mut steps = Vec::new();
        let mut timed = |run: &Run<'_, D>, step: &Step| -> Result<f64, RunError> {
            let seconds = match step.blocks {
                0 => 0.0,
                blocks => device.timed(&mut || run.launch(step, 0, blocks)).map_err(failed)?,
            };
            steps.push((step.kernel, seconds));
            Ok(seconds)
        };
        for step in run.listing() {
            timed(&run, &step)?;
        }
        for step in run.counting()? {
            timed(&run, &step)?;
        }
        let found = run.tallies().map_err(failed)?;
        let counted = run.numerators()?;
        let by_edge = match graph.direction() {
            Direction::Directed => None,
            Direction::Undirected => Some(by_edge(&run, found.edges, &counted)?),
        };
        for step in run.dividing().map_err(failed)? {
            timed(&run, &step)?;
        }
        Ok(Profile { edges: found.edges, triangles: found.triangles, steps, by_edge })
    }
}

/// Counts again, with a thread an edge, and compares.
fn by_edge<D: Device>(run: &Run<'_, D>, edges: u64, counted: &[u64]) -> Result<f64, RunError> {
    let device = run.device;
    let sources = device.reserve(4 * edges.max(1)).map_err(failed)?;
    let address = device.address(&sources);
    let find = Step::over("ripplet_find_sources", counted.len() as u64).counting_in(address);
    run.perform(&[find], &())?;
    run.clear_counts().map_err(failed)?;
    let count = Step::over("ripplet_count_by_edge", edges).counting_in(address);
    let seconds = match count.blocks {
        0 => 0.0,
        blocks => device.timed(&mut || run.launch(&count, 0, blocks)).map_err(failed)?,
    };
    match run.numerators()? == counted {
        true => Ok(seconds),
        false => Err(RunError::Device("a thread an edge counts other triangles".to_owned())),
    }
}
