//! Clustering coefficients on a device.

use super::layout::{Kind, Layout};
use super::run::Run;
use super::source;
use super::tuning::Tuning;
use crate::lp::{DeviceExecutor, failed};
use ripplet_analytics::lcc::{Coefficients, Lcc};
use ripplet_gpu::Device;
use ripplet_graph::Graph;
use ripplet_graph::Observer;
use ripplet_lp::{DeviceSeconds, Plan, RunError};
use std::time::Instant;

/// Computes clustering coefficients on an executor's device, within its memory limit.
#[derive(Debug)]
pub struct DeviceLcc<'a, D> {
    pub(super) executor: &'a DeviceExecutor<D>,
    pub(super) tuning: Tuning,
}

impl<'a, D: Device> DeviceLcc<'a, D> {
    /// Returns an analysis on an executor's device, with the default tuning.
    pub fn new(executor: &'a DeviceExecutor<D>) -> Self {
        DeviceLcc { executor, tuning: Tuning::default() }
    }

    /// Sets the tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DeviceLcc { tuning, ..self }
    }

    /// Returns the memory plan of a run.
    ///
    /// The number of edges is estimated by the lists' lengths. Loops, repeated edges and, in a
    /// directed graph, edges in both directions make it an overestimate. Takes constant time.
    pub fn plan(&self, graph: &Graph, lcc: Lcc) -> Plan {
        let kind = Kind::new(graph, &lcc, self.tuning);
        Layout::new(graph, &lcc, kind, self.tuning).plan
    }

    /// Computes the coefficients; also returns the seconds for compiling and moving, which are not
    /// part of the algorithm.
    ///
    /// # Errors
    /// If the observer cancels, memory is refused, or the device fails.
    pub fn run(
        &self,
        graph: &Graph,
        lcc: Lcc,
        observer: &mut dyn Observer,
    ) -> Result<(Coefficients, DeviceSeconds), RunError> {
        let kind = Kind::new(graph, &lcc, self.tuning);
        let layout = Layout::new(graph, &lcc, kind, self.tuning);
        self.executor.check_memory(&layout.plan)?;
        observer.on_stage("compiling the kernels");
        let start = Instant::now();
        let device = self.executor.device();
        let module = device.load(&source::of_kind(kind)).map_err(failed)?;
        let kernels = start.elapsed().as_secs_f64();
        observer.on_stage("moving the graph to the device");
        let start = Instant::now();
        let mut run =
            Run::new(device, &module, (layout, kind), self.tuning, graph).map_err(failed)?;
        let mut transfer = start.elapsed().as_secs_f64();
        observer.on_stage("listing each edge once");
        run.clear_all().map_err(failed)?;
        run.perform(&run.measuring(), observer)?;
        run.choose_hubs().map_err(failed)?;
        run.perform(&run.listing(), observer)?;
        observer.on_stage("counting triangles");
        run.perform(&run.preparing().map_err(failed)?, observer)?;
        run.perform(&run.counting().map_err(failed)?, observer)?;
        let triangle_count = run.tallies().map_err(failed)?.triangles;
        run.perform(&run.dividing().map_err(failed)?, observer)?;
        run.device.wait().map_err(failed)?;
        observer.on_stage("moving the coefficients from the device");
        let start = Instant::now();
        let coefficients = run.coefficients()?;
        let triangles = run.triangles()?;
        transfer += start.elapsed().as_secs_f64();
        let outcome = Coefficients { coefficients, triangles, triangle_count };
        Ok((outcome, DeviceSeconds { kernels, transfer }))
    }
}
