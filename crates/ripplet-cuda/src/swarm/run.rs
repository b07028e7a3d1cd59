//! A running computation: moves graphs, processes source batches of items, and returns values.

use super::abi::{State, Work};
use super::graphs::Graphs;
use super::kind::Kind;
use super::layout::Layout;
use super::schedule::{Share, SourceBatch, Tier};
use super::tuning::Tuning;
use crate::lp::failed;
use bytemuck::Pod;
use ripplet_analytics::PathAnalysis;
use ripplet_gpu::{Device, DeviceError, Launch};
use ripplet_graph::Observer;
use ripplet_lp::RunError;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A launch that takes less is followed by one of twice as many items.
const LONG: Duration = Duration::from_millis(250);
/// A source batch of at most this many times `first_items` is short.
const SHORT: u32 = 8;
/// Threads of blocks that add up, as in `kernels.cuh`.
pub(super) const BLOCK: u32 = 256;

/// A run on the device, in the memory that is kept from run to run.
pub(super) struct Run<'a, D: Device> {
    pub device: &'a D,
    pub module: &'a D::Module,
    pub memory: &'a D::Memory,
    pub layout: &'a Layout,
    pub state: State,
    pub tuning: Tuning,
}

impl<'a, D: Device> Run<'a, D> {
    /// Moves the graphs, and waits until they are on the device.
    pub fn new(
        device: &'a D,
        (module, memory): (&'a D::Module, &'a D::Memory),
        layout: &'a Layout,
        (graphs, question): (Graphs<'_>, PathAnalysis),
        tuning: Tuning,
    ) -> Result<Self, DeviceError> {
        let kind = Kind::of(question, graphs);
        for (place, bytes) in layout.uploads(graphs, kind) {
            device.write(memory, place.start, bytes)?;
        }
        for place in [&layout.sums, &layout.summaries] {
            device.fill(memory, place.start, place.end - place.start, 0)?;
        }
        let state = layout.state(device.address(memory), graphs, question);
        device.wait()?;
        Ok(Run { device, module, memory, layout, state, tuning })
    }

    /// Processes all source batches, and waits for the last.
    pub fn perform(&self, observer: &dyn Observer) -> Result<(), RunError> {
        for batch in &self.layout.schedule.source_batches {
            if self.is_short(batch) {
                self.launch_together(batch).map_err(failed)?;
            } else {
                batch.shares.iter().try_for_each(|share| self.share(share, observer))?;
            }
            if observer.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            self.add_up(batch).map_err(failed)?;
        }
        self.device.wait().map_err(failed)
    }

    /// Whether a source batch ends soon, so that cancelling need not be checked meanwhile.
    pub(super) fn is_short(&self, batch: &SourceBatch) -> bool {
        let items: u32 = batch.shares.iter().map(|share| share.items.end - share.items.start).sum();
        let last = self.layout.schedule.tiers.len() - 1;
        let in_memory = batch.shares.iter().any(|share| share.tier == last);
        items <= self.tuning.first_items.saturating_mul(SHORT) && !in_memory
    }

    /// Launches all teams of a source batch concurrently.
    pub(super) fn launch_together(&self, batch: &SourceBatch) -> Result<(), DeviceError> {
        self.clear_taken()?;
        let mut launches = Vec::with_capacity(batch.shares.len());
        for (share, number) in batch.shares.iter().zip(0..) {
            let tier = self.layout.schedule.tiers[share.tier];
            let resident = self.resident(tier, share.tier)?;
            launches.push(self.teams(tier, share.items.clone(), resident, number));
        }
        let arguments = launches.iter().map(|(launch, work)| (*launch, bytemuck::bytes_of(work)));
        let arguments: Vec<_> = arguments.collect();
        let alone: Vec<_> = arguments.chunks(1).collect();
        // SAFETY: as in `start`; each launch has items of its own, and a counter of its own.
        unsafe { self.device.launch_chains(self.module, &alone) }
    }

    /// Resets the counters of items taken.
    fn clear_taken(&self) -> Result<(), DeviceError> {
        let taken = &self.layout.taken;
        self.device.fill(self.memory, taken.start, taken.end - taken.start, 0)
    }

    /// Processes a share's items, some at a time, so that a run can be cancelled.
    fn share(&self, share: &Share, observer: &dyn Observer) -> Result<(), RunError> {
        let schedule = &self.layout.schedule;
        let tier = schedule.tiers[share.tier];
        let resident = self.resident(tier, share.tier).map_err(failed)?;
        // Items with state in the device's memory take longest.
        let is_large = share.tier + 1 == schedule.tiers.len();
        let most = if is_large { resident } else { u32::MAX };
        let mut most = self.tuning.first_items.min(most).max(1);
        let mut first = share.items.start;
        while first < share.items.end {
            if observer.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            let start = Instant::now();
            let end = share.items.end.min(first.saturating_add(most));
            self.launch(tier, first..end, resident).map_err(failed)?;
            first = end;
            if first < share.items.end {
                self.device.wait().map_err(failed)?;
                observer.on_progress(f64::from(first) / schedule.items.len() as f64);
                if start.elapsed() < LONG {
                    most = most.saturating_mul(2);
                }
            }
        }
        Ok(())
    }

    /// Returns the resident blocks of a tier.
    pub(super) fn resident(&self, tier: Tier, index: usize) -> Result<u32, DeviceError> {
        let schedule = &self.layout.schedule;
        if index + 1 == schedule.tiers.len() {
            return Ok(schedule.memory_blocks);
        }
        let Tier { kernel, threads, shared, .. } = tier;
        let launch = Launch { kernel, blocks: 1, threads, shared, cooperative: false };
        self.device.resident_blocks(self.module, &launch)
    }

    /// Launches teams for these items.
    pub(super) fn launch(
        &self,
        tier: Tier,
        items: Range<u32>,
        resident: u32,
    ) -> Result<(), DeviceError> {
        self.clear_taken()?;
        let (launch, work) = self.teams(tier, items, resident, 0);
        self.start(&launch, work)
    }

    /// Returns the launch of teams for these items, with no more blocks than are resident.
    fn teams(&self, tier: Tier, items: Range<u32>, resident: u32, number: u32) -> (Launch, Work) {
        let Tier { kernel, threads, shared, teams, bytes, .. } = tier;
        let blocks = resident.min((items.end - items.start).div_ceil(teams)).max(1);
        let launch = Launch { kernel, blocks, threads, shared, cooperative: false };
        (launch, Work { state: self.state, bytes, number, ..of(items) })
    }

    /// Adds up a source batch's results of split graphs.
    pub(super) fn add_up(&self, batch: &SourceBatch) -> Result<(), DeviceError> {
        if batch.pieces.is_empty() {
            return Ok(());
        }
        let blocks = batch.pieces.end - batch.pieces.start;
        let kernel = "ripplet_swarm_add_up";
        let launch = Launch { kernel, blocks, threads: BLOCK, shared: 0, cooperative: false };
        self.start(&launch, Work { state: self.state, ..of(batch.pieces.clone()) })
    }

    fn start(&self, launch: &Launch, work: Work) -> Result<(), DeviceError> {
        // SAFETY: the argument is a `Work` as the kernels have it: they do not compile if its size
        // differs. Its addresses are of memory that is kept as long as `self`, laid out so that the
        // kernels stay within it.
        unsafe { self.device.launch(self.module, launch, bytemuck::bytes_of(&work)) }
    }

    /// Copies results from a place, as many as there is room for.
    pub fn read<T: Pod>(&self, place: &Range<u64>, values: &mut [T]) -> Result<(), RunError> {
        let bytes = bytemuck::cast_slice_mut(values);
        self.device.read(self.memory, place.start, bytes).map_err(failed)
    }
}

fn of(range: Range<u32>) -> Work {
    Work { first: range.start, end: range.end, ..Work::default() }
}
