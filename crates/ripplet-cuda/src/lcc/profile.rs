//! Times of the steps of a run.

use super::device::DeviceLcc;
use super::layout::{Kind, Layout};
use super::run::{Run, Step};
use super::source;
use crate::lp::failed;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_gpu::Device;
use ripplet_graph::Graph;
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
}

impl<D: Device> DeviceLcc<'_, D> {
    /// Measures the steps of a run.
    ///
    /// # Errors
    /// As for a run.
    pub fn profile(&self, graph: &Graph) -> Result<Profile, RunError> {
        let lcc = Lcc::new(Definition::Ldbc);
        let kind = Kind::new(graph, &lcc, self.tuning);
        let layout = Layout::new(graph, &lcc, kind, self.tuning);
        self.executor.check_memory(&layout.plan)?;
        let device = self.executor.device();
        let module = device.load(&source::of_kind(kind)).map_err(failed)?;
        let mut run =
            Run::new(device, &module, (layout, kind), self.tuning, graph).map_err(failed)?;
        run.clear_all().map_err(failed)?;
        let mut steps = Vec::new();
        run.time(&run.measuring(), &mut steps)?;
        run.choose_hubs().map_err(failed)?;
        run.time(&run.listing(), &mut steps)?;
        run.time(&run.preparing().map_err(failed)?, &mut steps)?;
        run.time(&run.counting().map_err(failed)?, &mut steps)?;
        let found = run.tallies().map_err(failed)?;
        run.time(&run.dividing().map_err(failed)?, &mut steps)?;
        Ok(Profile { edges: found.edges, triangles: found.triangles, steps })
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
