//! The local clustering coefficient on a device: the same bits as on the CPU.
//!
//! # Algorithm
//! As [`ripplet_analytics::lcc`]: each edge is kept once, at the end of lower degree, and every triangle
//! met once. The lists are the graph's arcs without those that are not kept, in their order
//! (`orient.cuh`): no list is sorted, and blocks take as many arcs each, whoever's they are. Which of the
//! vertices of the highest degrees, the hubs, are neighbours is a square of bits (`hubs.cuh`): a pair of
//! them in a vertex's list is one look (`pairs.cuh`). The lists of the other neighbours are walked over,
//! one behind the other, with a hash table of the vertex's own list in shared memory (`walk.cuh`). Lists
//! of up to 32 have a warp, of up to 512 a block, and longer ones a block for each 512 of their
//! neighbours; of a list of more than 4096 the table has a part after the other (`count.cuh`).
//!
//! # Memory
//! Of the device, beside the graph: 4 bytes an edge (and a bit, where the graph is directed), 16 bytes a
//! vertex, and for places, slices and hubs' names no more than 2 % of the former and a tenth of a byte
//! of the latter; 8 bytes a vertex more where triangles are asked for, and 4 where there are 2³² edges or
//! more: [`DeviceLcc::plan`]. A square of bits has the place of what was needed before there were lists.
//!
//! # Determinism
//! Counts are integers, and a coefficient is one division of two of them.

mod layout;
mod profile;
mod run;
mod source;

pub use profile::Profile;
pub use source::source;

use crate::device::Device;
use crate::lp::{DeviceExecutor, Kernels, failed};
use layout::{Kind, Layout};
use ripplet_analytics::Observer;
use ripplet_analytics::lcc::{Lcc, Outcome};
use ripplet_graph::Graph;
use ripplet_lp::{DeviceSeconds, Plan, RunError};
use run::Run;
use std::time::Instant;

/// Computes coefficients on an executor's device, within its memory.
#[derive(Debug)]
pub struct DeviceLcc<'a, D> {
    executor: &'a DeviceExecutor<D>,
    tuning: Tuning,
}

/// What small graphs have no need of, and tests ask for. It changes nothing but speed and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Where there may be so many edges, their numbers have 8 bytes: no more than 2³².
    pub wide_from: u64,
    /// Blocks of the first launch of a kernel that has more; the next ones have twice as many as long as
    /// they take milliseconds, so that a run is cancelled soon.
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
    /// On this executor's device.
    pub fn new(executor: &'a DeviceExecutor<D>) -> Self {
        DeviceLcc { executor, tuning: Tuning::default() }
    }

    /// The same with another tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DeviceLcc { tuning, ..self }
    }

    /// The memory that a run will need.
    ///
    /// Edges are counted by the lists' lengths: loops, repeated edges and, on a directed graph, edges in
    /// both directions make it more than it needs. Cost: none.
    pub fn plan(&self, graph: &Graph, lcc: Lcc) -> Plan {
        let kind = Kind::new(graph, &lcc, self.tuning);
        Layout::new(graph, &lcc, kind, self.tuning).plan
    }

    /// Computes the coefficients; tells what compiling and moving took, which is not the algorithm's.
    ///
    /// # Errors
    /// Where the observer cancels, memory is refused, or the device fails.
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
