//! A running computation: moves the graph, launches kernels, and returns coefficients.

use super::layout::{
    BINNED, BLOCK, BLOCK_SLOTS, Kind, LARGE_BLOCK, Layout, PART_SLOTS, Rule, SMALL_BLOCK, State,
    Tallies, WARP_SLOTS, Work, hub_degree,
};
use super::tuning::Tuning;
use crate::lp::failed;
use bytemuck::{Pod, Zeroable};
use ripplet_gpu::{Address, Device, DeviceError, Launch};
use ripplet_graph::Observer;
use ripplet_graph::{Graph, memory};
use ripplet_lp::RunError;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A launch that takes less is followed by one of twice as many blocks.
const LONG: Duration = Duration::from_millis(20);
/// The most blocks of a launch.
const MOST_BLOCKS: u64 = 1 << 30;

/// A kernel to launch: its blocks, their threads, and their bytes of shared memory.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub kernel: &'static str,
    pub blocks: u64,
    threads: u32,
    shared: u32,
    /// Array that the kernel counts in.
    counts: Address,
}

impl Step {
    /// Returns a step of blocks of `BLOCK` threads.
    fn of(kernel: &'static str, blocks: u64) -> Step {
        Step { kernel, blocks, threads: BLOCK, shared: 256, counts: Address(0) }
    }

    /// Returns a step with a thread for each of `threads` items.
    pub fn over(kernel: &'static str, threads: u64) -> Step {
        Step::of(kernel, threads.div_ceil(u64::from(BLOCK)))
    }

    pub fn counting_in(self, counts: Address) -> Step {
        Step { counts, ..self }
    }
}

pub(super) struct Run<'a, D: Device> {
    pub device: &'a D,
    module: &'a D::Module,
    memory: D::Memory,
    layout: Layout,
    kind: Kind,
    tuning: Tuning,
    state: State,
}

impl<'a, D: Device> Run<'a, D> {
    /// Reserves memory and moves the graph to the device.
    pub fn new(
        device: &'a D,
        module: &'a D::Module,
        (layout, kind): (Layout, Kind),
        tuning: Tuning,
        graph: &Graph,
    ) -> Result<Self, DeviceError> {
        let memory = device.reserve(layout.bytes)?;
        layout.graph.upload(device, &memory, graph)?;
        let state = layout.state(device.address(&memory), graph);
        let run = Run { device, module, memory, layout, kind, tuning, state };
        // The graph is then complete on the device.
        device.wait()?;
        Ok(run)
    }

    fn clear(&self, place: &Range<u64>) -> Result<(), DeviceError> {
        self.device.fill(&self.memory, place.start, place.end - place.start, 0)
    }

    pub fn tallies(&self) -> Result<Tallies, DeviceError> {
        let mut tallies = Tallies::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut tallies);
        self.device.read(&self.memory, self.layout.tallies.start, bytes)?;
        Ok(tallies)
    }

    /// Launches some of a step's blocks, from `first` on.
    pub fn launch(&self, step: &Step, first: u64, blocks: u64) -> Result<(), DeviceError> {
        let Step { kernel, threads, shared, counts, .. } = *step;
        let launch = Launch { kernel, blocks: blocks as u32, threads, shared, cooperative: false };
        let work = Work { state: self.state, first, counts };
        // SAFETY: the argument is a `Work` as the kernels have it: they do not compile if its size
        // differs. Its addresses are of memory that lives as long as `self`, laid out so that the
        // kernels stay within it.
        unsafe { self.device.launch(self.module, &launch, bytemuck::bytes_of(&work)) }
    }

    /// Performs steps in order, some blocks at a time, so that a run can be cancelled.
    pub fn perform(&self, steps: &[Step], observer: &dyn Observer) -> Result<(), RunError> {
        let all = steps.len() as f64;
        for (before, step) in steps.iter().enumerate() {
            let (mut first, mut most) = (0, self.tuning.first_blocks);
            while first < step.blocks {
                if observer.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                let start = Instant::now();
                let blocks = most.min(step.blocks - first);
                self.launch(step, first, blocks).map_err(failed)?;
                first += blocks;
                if first < step.blocks {
                    self.device.wait().map_err(failed)?;
                    observer.on_progress((before as f64 + first as f64 / step.blocks as f64) / all);
                    if start.elapsed() < LONG {
                        most = (2 * most).min(MOST_BLOCKS);
                    }
                }
            }
        }
        Ok(())
    }

    /// Clears the arrays that must be zero before the first step.
    pub fn clear_all(&self) -> Result<(), DeviceError> {
        let Layout { degrees, reciprocal, tallies, triangles, begins, .. } = &self.layout;
        // In a graph without arcs no kernel writes the begins of lists.
        let places = [degrees, reciprocal, tallies, triangles, begins];
        places.into_iter().try_for_each(|place| self.clear(place))
    }

    /// Returns the steps that compute degrees and their distribution.
    pub fn measuring(&self) -> Vec<Step> {
        let (pieces, vertices) = (self.state.pieces, u64::from(self.state.vertices));
        if pieces == 0 {
            return Vec::new();
        }
        vec![
            Step::over("ripplet_find_owners", pieces + 1),
            Step::of("ripplet_count_neighbors", pieces).counting_in(self.state.degrees),
            Step { shared: 4096, ..Step::of("ripplet_count_degrees", vertices.div_ceil(BINNED)) },
        ]
    }

    /// Chooses as many hubs as there is room for; waits for the steps before.
    pub fn choose_hubs(&mut self) -> Result<(), DeviceError> {
        let found = self.tallies()?;
        let most = self.layout.most_hubs;
        (self.state.hub_degree, self.state.hub_count) = hub_degree(&found.bins, most);
        let is_simple = !self.kind.directed && found.neighbors == self.state.arcs;
        self.state.is_simple = u32::from(is_simple);
        Ok(())
    }

    /// Returns the steps that orient the graph: lists with each edge once.
    pub fn listing(&self) -> Vec<Step> {
        let (pieces, vertices) = (self.state.pieces, u64::from(self.state.vertices));
        if pieces == 0 {
            return Vec::new();
        }
        let hubs = u64::from(self.state.hub_count);
        vec![
            Step::over("ripplet_find_hubs", if hubs > 0 { vertices } else { 0 }),
            Step { shared: 4 * BLOCK, ..Step::over("ripplet_number_hubs", hubs) },
            Step::of("ripplet_count_listed", pieces),
            Step::of("ripplet_sum_listed", 1),
            Step::of("ripplet_list_edges", pieces),
            Step::over("ripplet_list_empty", vertices + 1),
        ]
    }

    /// Clears memory that is reused, and returns the steps before triangles are counted: bits of
    /// hubs, and slices.
    pub fn preparing(&self) -> Result<[Step; 2], DeviceError> {
        self.clear(&self.layout.degrees)?;
        self.clear(&self.layout.numerators)?;
        let slices = Step::over("ripplet_list_slices", u64::from(self.state.vertices));
        Ok([Step::of("ripplet_set_bits", u64::from(self.state.hub_count)), slices])
    }

    /// Returns the steps that count triangles, the longest lists first; waits for the number of
    /// slices.
    ///
    /// `count.cuh` describes the shared memory: tables and walks.
    pub fn counting(&self) -> Result<[Step; 3], DeviceError> {
        let vertices = u64::from(self.state.vertices);
        let slices = u64::from(self.tallies()?.slices);
        let (slot, walk) = (self.kind.bytes_of_slot(), self.kind.bytes_of_walk());
        let with = |step: Step, threads: u32, shared: u32| Step { threads, shared, ..step };
        let bytes = |slots: u32, warps: u32| slots * slot + warps * walk;
        let by_block = Step::of("ripplet_count_by_block", vertices.div_ceil(32));
        let by_warp = Step::over("ripplet_count_by_warp", vertices);
        Ok([
            with(
                Step::of("ripplet_count_slice", slices),
                LARGE_BLOCK,
                bytes(PART_SLOTS, LARGE_BLOCK / 32),
            ),
            with(by_block, SMALL_BLOCK, bytes(BLOCK_SLOTS, SMALL_BLOCK / 32)),
            with(by_warp, BLOCK, BLOCK / 32 * bytes(WARP_SLOTS, 1)),
        ])
    }

    /// Returns the steps that turn counts into coefficients. They reuse the memory of the lists'
    /// begins, and of the bit matrices for degrees.
    pub fn dividing(&self) -> Result<Vec<Step>, DeviceError> {
        let (pieces, state) = (self.state.pieces, &self.state);
        let mut steps = Vec::new();
        if state.is_simple == 0 {
            self.clear(&self.layout.degrees)?;
            steps.push(Step::of("ripplet_count_neighbors", pieces).counting_in(state.degrees));
        }
        if self.kind.rule == Rule::Cycles {
            self.clear(&self.layout.begins)?;
            steps.push(Step::of("ripplet_count_reciprocal", pieces).counting_in(state.begins));
        }
        let divide = Step::over("ripplet_divide", u64::from(state.vertices));
        steps.push(divide.counting_in(state.begins));
        Ok(steps)
    }

    pub fn coefficients(&self) -> Result<Vec<f64>, RunError> {
        self.download(&self.layout.numerators)
    }

    /// Returns the triangles of each vertex, if they were requested.
    pub fn triangles(&self) -> Result<Option<Vec<u64>>, RunError> {
        let place = &self.layout.triangles;
        self.layout.has_triangles.then(|| self.download(place)).transpose()
    }

    fn download<T: Pod>(&self, place: &Range<u64>) -> Result<Vec<T>, RunError> {
        let count = ((place.end - place.start) / size_of::<T>() as u64) as usize;
        let planned = self.layout.plan.algorithm_host();
        let refused = |_| RunError::OutOfMemory { bytes: planned };
        let mut values = memory::zeros(count).map_err(refused)?;
        let bytes = bytemuck::cast_slice_mut(&mut values);
        self.device.read(&self.memory, place.start, bytes).map_err(failed)?;
        Ok(values)
    }
}
