//! Local clustering coefficients on a device: the same bits as on the CPU.
//!
//! # Algorithm
//! The algorithm of [`ripplet_analytics::lcc`]: each edge is kept once, in the list of its vertex
//! of lower degree, and every triangle is found once.
//!
//! - The lists are the graph's arcs, in their order, without those that are not kept
//!   (`orient.cuh`). No list is sorted, and each block processes the same number of arcs.
//! - A bit matrix has the edges between *hubs*, the vertices of highest degree (`hubs.cuh`). A pair
//!   of hubs in a vertex's list is one lookup (`pairs.cuh`).
//! - The lists of the other neighbours are walked over, and each entry is looked up in a hash table
//!   of the vertex's own list in shared memory (`walk.cuh`).
//! - A list of up to 32 neighbours is processed by a warp, of up to 512 by a block, and a longer
//!   one by a block for each 512 neighbours. The table holds a list of more than 4096 in parts
//!   (`count.cuh`).
//!
//! # Memory
//! On the device, beside the graph: 4 bytes an edge (and a bit, if the graph is directed) and 16
//! bytes a vertex. Offsets, slices and names of hubs add at most 2 % of the former and a tenth of a
//! byte a vertex. Triangles add 8 bytes a vertex, and a graph of 2³² edges or more 4 bytes a
//! vertex; see [`DeviceLcc::plan`]. The bit matrix reuses memory that is needed only before the
//! lists exist.
//!
//! # Determinism
//! Counts are integers, and a coefficient is one division of two integers.

mod layout;
mod profile;
mod run;
mod source;

pub use profile::Profile;
pub use source::source;

use crate::lp::{DeviceExecutor, Kernels, failed};
use layout::{Kind, Layout};
use ripplet_analytics::Observer;
use ripplet_analytics::lcc::{Lcc, Outcome};
use ripplet_gpu::Device;
use ripplet_graph::Graph;
use ripplet_lp::{DeviceSeconds, Plan, RunError};
use run::Run;
use std::time::Instant;

/// Computes clustering coefficients on an executor's device, within its memory limit.
#[derive(Debug)]
pub struct DeviceLcc<'a, D> {
    executor: &'a DeviceExecutor<D>,
    tuning: Tuning,
}

/// Tuning of a run, mostly for tests. It changes the speed and the memory, and no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Number of edges from which their indices have 8 bytes: at most 2³².
    pub wide_from: u64,
    /// Blocks of the first launch of a larger kernel. Later launches double as long as they take
    /// milliseconds, so that a run can be cancelled soon.
    pub first_blocks: u64,
    /// The most hubs.
    pub most_hubs: u64,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { wide_from: 1 << 32, first_blocks: 1 << 16, most_hubs: u64::MAX }
    }
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
    ) -> Result<(Outcome, DeviceSeconds), RunError> {
        let kind = Kind::new(graph, &lcc, self.tuning);
        let layout = Layout::new(graph, &lcc, kind, self.tuning);
        self.executor.check_memory(&layout.plan)?;
        observer.on_stage("compiling the kernels");
        let start = Instant::now();
        let device = self.executor.device();
        let module = device.load(&source::of_kind(kind, Kernels::Work)).map_err(failed)?;
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
        let outcome = Outcome { coefficients, triangles, triangle_count };
        Ok((outcome, DeviceSeconds { kernels, transfer }))
    }
}
