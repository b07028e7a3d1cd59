//! Launches of the kernels: each kernel's configuration, and the call that launches it.
//!
//! `kernels/README.md` follows a phase through these launches.

use super::arguments::{FoundArgument, RankStepArgument, RunArgument, StepArgument};
use super::layout::Layout;
use super::source::{GraphKind, Resident, low_shared};
use super::state::{Fill, LISTED};
use super::task::Task;
use super::tuning::{BLOCK, SCAN_BLOCK, SHARED, SLICE_SHARED};
use ripplet_gpu::{Device, DeviceError, Launch, Stream};
use ripplet_graph::GraphView;
use std::ops::Range;

/// Bytes of shared memory of a block that compacts the frontier: two counts for each of 11 classes.
const COMPACT_SHARED: u32 = 128;
/// Bytes of shared memory of a block that sums votes of plain lists: 256 for the reductions of 8 warps.
const SUM_SHARED: u32 = 256;
/// Bytes of shared memory of a block that activates neighbours: a `Changed` for each thread.
const ACTIVATE_SHARED: u32 = BLOCK * 8;

/// The lowest degree classes, which have a kernel of their own.
const LOW_CLASSES: usize = 3;
/// Members of a phase that make two concurrent kernels worth their launch. Fewer lanes than this
/// fill at most 16 blocks. `bench/runs/2026-11-23-h200/side-by-side-*.jsonl` has the gain.
const LEAST_CONCURRENT: u64 = 4096;

/// Returns the number of blocks that fetch lists: a fifth of the multiprocessors keeps the bus
/// busy, and the others compute. A multiprocessor with such a block cannot run a block of a kernel
/// that needs all of it: the first round of `web` 24 takes 65.7 ms instead of 76.7
/// (`bench/runs/2026-11-22-h200/streamed-web-24-2.jsonl`).
fn blocks_beside(multiprocessors: u32) -> u32 {
    (multiprocessors / 5).max(1)
}

/// Launches of all kernels of a run on one device, each with the number of blocks that fills it.
pub(super) struct Launches<'a, D: Device> {
    device: &'a D,
    module: &'a D::Module,
    fill: Launch,
    start: Launch,
    find_most: Launch,
    compact: Launch,
    /// `None` if the graph has no vertex for the kernel, or there is nothing to commit.
    sum_pieces: Option<Launch>,
    choose: Option<Launch>,
    by_thread: Option<Launch>,
    by_large_block: Option<Launch>,
    by_grid: Option<Launch>,
    commit: Option<Launch>,
    /// Whether `choose` and `by_thread` run concurrently, so that one begins where the other's last
    /// blocks leave room.
    concurrent: bool,
    /// Whether large vertices are counted concurrently with all others. `hubs-beside.txt` in
    /// `bench/runs/2026-11-28-h200` has the gain.
    concurrent_large: bool,
    activate: Launch,
    /// `None` on a single device.
    exchange: Option<ExchangeLaunches>,
    /// `None` if the whole graph is on the device.
    fetch: Option<FetchLaunches>,
}

/// Launches of the kernels that exchange messages between ranks; `pack_updates` replaces `commit`.
struct ExchangeLaunches {
    fill_mirrors: Launch,
    pack_updates: Launch,
    apply_updates: Launch,
    publish_frontier: Launch,
    receive_frontier: Launch,
}

/// Launches of the kernels that bring lists to the staging area.
struct FetchLaunches {
    begin_part: Launch,
    fetch: Launch,
    /// `None` if no list is long.
    fetch_long: Option<Launch>,
    request_lists: Launch,
    request_lists_of_changed: Launch,
    forget: Launch,
    find_copied: Launch,
    find_staged: Launch,
    pull: Launch,
}

/// The launch of a kernel that measures a bandwidth ceiling.
pub(super) struct CeilingLaunch(Launch);

impl<'a, D: Device> Launches<'a, D> {
    /// Configures the launches of a run.
    ///
    /// # Errors
    /// If the device fails when it is asked for the blocks of a kernel.
    pub fn new(
        device: &'a D,
        module: &'a D::Module,
        layout: &Layout,
        task: Task<'_>,
        scan_shared: u32,
    ) -> Result<Self, DeviceError> {
        let filling = |launch: Launch| filling(device, module, launch);
        let kernel = |name, shared| filling(block_launch(name, shared));
        let some = |launch: Launch, is_needed: bool| is_needed.then(|| filling(launch)).transpose();
        let multiprocessors = device.properties().multiprocessors;
        let (resident, schedule) = (layout.resident(), task.settings.schedule);
        let is_whole = resident == Resident::Whole;
        // All blocks of a cooperative launch must be resident beside the blocks that fetch lists.
        let all_at_once = |launch: Launch| {
            let filling = filling(launch)?;
            if is_whole {
                return Ok(filling);
            }
            let all = multiprocessors.max(1);
            let left = all - blocks_beside(all).min(all - 1);
            Ok(Launch { blocks: (filling.blocks / all * left).max(1), ..filling })
        };
        let by_large_block =
            Launch { threads: SCAN_BLOCK, ..block_launch("ripplet_choose_by_block", scan_shared) };
        let sketches = task.settings.counter.sketch().is_some();
        let by_grid = || {
            let launch = |shared| block_launch("ripplet_choose_by_grid", shared);
            match sketches {
                // Blocks that sketch meet at barriers of the grid.
                true => all_at_once(Launch { cooperative: true, ..launch(SHARED) }),
                false => filling(launch(SLICE_SHARED)),
            }
        };
        // Degrees 9 to 16 are counted by `by_thread`, or by `choose` if votes have weights: both
        // are launched for them.
        let members = |classes: Range<usize>| layout.members.most(classes);
        let has = |classes: Range<usize>| members(classes) > 0;
        let has_large = !layout.large.is_empty();
        // A kernel with little to do ends soon. And in a streamed graph, lists fetched meanwhile
        // would come later.
        let [low, high] = [members(0..LOW_CLASSES), members(LOW_CLASSES..LISTED)];
        let enough = (low.max(high) / 16).max(LEAST_CONCURRENT);
        // Under `async`, hubs and their neighbours would update at the same time, and swap labels.
        let in_place = schedule.is_in_place();
        let is_ranked = layout.share.is_ranked();
        let low_shared = low_shared(GraphKind::of(task.graph), resident);
        let by_thread = block_launch("ripplet_choose_by_thread", low_shared);
        let is_compressed = matches!(task.graph, GraphView::Compressed(_));
        let sum_shared = if is_compressed { SHARED } else { SUM_SHARED };
        let exchange = || {
            Ok(ExchangeLaunches {
                fill_mirrors: kernel("ripplet_fill_mirrors", 0)?,
                pack_updates: kernel("ripplet_pack_updates", 0)?,
                apply_updates: kernel("ripplet_apply_updates", 0)?,
                publish_frontier: kernel("ripplet_publish_frontier", 0)?,
                receive_frontier: kernel("ripplet_receive_frontier", 0)?,
            })
        };
        let beside =
            |name| Ok(Launch { blocks: blocks_beside(multiprocessors), ..kernel(name, 0)? });
        let fetch = |has_long: bool| {
            Ok(FetchLaunches {
                begin_part: kernel("ripplet_begin_part", 0)?,
                fetch: beside("ripplet_fetch")?,
                fetch_long: has_long.then(|| beside("ripplet_fetch_long")).transpose()?,
                request_lists: kernel("ripplet_request_lists", 0)?,
                request_lists_of_changed: kernel("ripplet_request_changed", 0)?,
                forget: kernel("ripplet_forget", 0)?,
                find_copied: kernel("ripplet_find_copied", 0)?,
                find_staged: kernel("ripplet_find_staged", 0)?,
                pull: kernel("ripplet_pull", 0)?,
            })
        };
        let streamed = layout.lists.streamed();
        Ok(Launches {
            device,
            module,
            fill: kernel("ripplet_fill", 0)?,
            start: kernel("ripplet_start", 0)?,
            find_most: kernel("ripplet_find_most", 0)?,
            compact: kernel("ripplet_compact_frontier", COMPACT_SHARED)?,
            sum_pieces: some(block_launch("ripplet_sum_pieces", sum_shared), has_large)?,
            choose: some(block_launch("ripplet_choose", SHARED), has(2..LISTED))?,
            by_thread: some(by_thread, has(0..LOW_CLASSES))?,
            by_large_block: some(by_large_block, has_large && !sketches)?,
            by_grid: has_large.then(by_grid).transpose()?,
            commit: some(block_launch("ripplet_commit", 0), !in_place && !is_ranked)?,
            concurrent: is_whole && !in_place && low.min(high) >= enough,
            concurrent_large: is_whole && !in_place && has_large && has(0..LISTED),
            activate: kernel("ripplet_activate", ACTIVATE_SHARED)?,
            exchange: is_ranked.then(exchange).transpose()?,
            fetch: streamed.map(|places| fetch(!places.long_pieces.is_empty())).transpose()?,
        })
    }

    /// Fills an array with `bits + step * index`.
    pub fn fill(&self, fill: &Fill) -> Result<(), DeviceError> {
        if fill.count == 0 {
            return Ok(());
        }
        self.launch(&self.fill, bytemuck::bytes_of(fill))
    }

    /// Marks all vertices active, and computes the label totals.
    pub fn start(&self, run: &RunArgument) -> Result<(), DeviceError> {
        self.launch(&self.start, &run.0)
    }

    /// Finds the largest label total.
    pub fn find_most(&self, run: &RunArgument) -> Result<(), DeviceError> {
        self.launch(&self.find_most, &run.0)
    }

    /// Launch 1: lists the active, scheduled vertices by degree class.
    pub fn compact(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch(&self.compact, &step.0)
    }

    /// Launches 2 to 5: all members choose labels.
    pub fn choose_all(&self, step: &StepArgument) -> Result<(), DeviceError> {
        if !self.concurrent_large {
            self.choose(step)?;
            return self.choose_by_grid(step);
        }
        // A cooperative launch would wait until all of its blocks fit beside the others.
        let by_grid = self.by_grid.filter(|launch| !launch.cooperative);
        // The blocks of large vertices, which take most of a multiprocessor each, must begin before blocks of `choose`
        // take all room until the end. So the sums come before all.
        self.launch_if(self.sum_pieces.as_ref(), &step.0)?;
        let large = of(&[self.by_large_block, by_grid], step);
        let others = of(&[self.choose, self.by_thread], step);
        let chains: Vec<_> = std::iter::once(&*large).chain(self.chains(&others)).collect();
        // SAFETY: as of `launch`. The chains write members of different classes.
        unsafe { self.device.launch_chains(self.module, &chains) }?;
        if by_grid.is_some() { Ok(()) } else { self.choose_by_grid(step) }
    }

    /// Launches 2 to 4: members choose labels, except those that launch 4 leaves to launch 5.
    pub fn choose(&self, step: &StepArgument) -> Result<(), DeviceError> {
        let others = of(&[self.choose, self.by_thread], step);
        let chains: Vec<_> = self.chains(&others).collect();
        // SAFETY: as of `launch`. The chains write members of different classes.
        unsafe { self.device.launch_chains(self.module, &chains) }?;
        self.launch_if(self.sum_pieces.as_ref(), &step.0)?;
        self.launch_if(self.by_large_block.as_ref(), &step.0)
    }

    /// Divides the launches that choose for listed members into chains that run concurrently.
    fn chains<'l>(
        &self,
        launches: &'l [(Launch, &'l [u8])],
    ) -> impl Iterator<Item = &'l [(Launch, &'l [u8])]> {
        launches.chunks(if self.concurrent { 1 } else { 2 })
    }

    /// Launches 2 and 4a alone.
    pub fn choose_by_warp_and_block(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_if(self.sum_pieces.as_ref(), &step.0)?;
        self.launch_if(self.choose.as_ref(), &step.0)
    }

    /// Launch 3 alone.
    pub fn choose_by_thread(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_if(self.by_thread.as_ref(), &step.0)
    }

    /// Launch 4b alone.
    pub fn choose_by_large_block(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_if(self.by_large_block.as_ref(), &step.0)
    }

    /// Launch 5: the grid counts the large vertices that are left.
    pub fn choose_by_grid(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_if(self.by_grid.as_ref(), &step.0)
    }

    /// Launch 6 on a single device: stores the chosen labels, unless they are already.
    pub fn commit(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_if(self.commit.as_ref(), &step.0)
    }

    /// Launch 7: activates the neighbours of changed vertices, and resets counters.
    pub fn activate(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch(&self.activate, &step.0)
    }

    /// Whether phases have this launch.
    pub fn has(&self, kernel: Optional) -> bool {
        let launch = match kernel {
            Optional::ByLargeBlock => &self.by_large_block,
            Optional::ByGrid => &self.by_grid,
            Optional::Commit => &self.commit,
        };
        launch.is_some()
    }

    /// Fills the mirrors before the first round.
    pub fn fill_mirrors(&self, step: &RankStepArgument) -> Result<(), DeviceError> {
        self.launch_exchange(|kernels| &kernels.fill_mirrors, step)
    }

    /// Launch 6 on several devices: commits, and packs the changes into the update message.
    pub fn pack_updates(&self, step: &RankStepArgument) -> Result<(), DeviceError> {
        self.launch_exchange(|kernels| &kernels.pack_updates, step)
    }

    /// Applies the peers' updates; their messages must be complete.
    pub fn apply_updates(&self, step: &RankStepArgument) -> Result<(), DeviceError> {
        self.launch_exchange(|kernels| &kernels.apply_updates, step)
    }

    /// Packs the activated vertices of each peer.
    pub fn publish_frontier(&self, step: &RankStepArgument) -> Result<(), DeviceError> {
        self.launch_exchange(|kernels| &kernels.publish_frontier, step)
    }

    /// Applies the peers' activations; their messages must be complete.
    pub fn receive_frontier(&self, step: &RankStepArgument) -> Result<(), DeviceError> {
        self.launch_exchange(|kernels| &kernels.receive_frontier, step)
    }

    /// Records the bounds of a part of a phase after its members are listed.
    pub fn begin_part(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_fetch(|kernels| Some(&kernels.begin_part), &step.0)
    }

    /// Fetches the requested lists, short ones first.
    pub fn fetch(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_fetch(|kernels| Some(&kernels.fetch), &step.0)?;
        self.launch_fetch(|kernels| kernels.fetch_long.as_ref(), &step.0)
    }

    /// Fetches the requested lists in the side stream, long ones if `with_long` is set.
    pub fn fetch_beside(&self, step: &StepArgument, with_long: bool) -> Result<(), DeviceError> {
        self.launch_beside(|kernels| Some(&kernels.fetch), &step.0)?;
        self.launch_beside(|kernels| kernels.fetch_long.as_ref().filter(|_| with_long), &step.0)
    }

    /// Requests the lists of active vertices that are scheduled in coming phases.
    pub fn request_lists(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_fetch(|kernels| Some(&kernels.request_lists), &step.0)
    }

    /// Requests the lists of changed vertices that activate their neighbours.
    pub fn request_lists_of_changed(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_fetch(|kernels| Some(&kernels.request_lists_of_changed), &step.0)
    }

    /// Marks the lists in a region as not fetched.
    pub fn forget(&self, run: &RunArgument) -> Result<(), DeviceError> {
        self.launch_fetch(|kernels| Some(&kernels.forget), &run.0)
    }

    /// Records where lists copied by range are, in the side stream.
    pub fn find_copied(&self, found: &FoundArgument) -> Result<(), DeviceError> {
        self.launch_beside(|kernels| Some(&kernels.find_copied), &found.0)
    }

    /// Records where lists copied by the host are.
    pub fn find_staged(&self, found: &FoundArgument) -> Result<(), DeviceError> {
        self.launch_fetch(|kernels| Some(&kernels.find_staged), &found.0)
    }

    /// Inactive vertices look for a neighbour that changed in the phase of the argument.
    pub fn pull(&self, step: &StepArgument) -> Result<(), DeviceError> {
        self.launch_fetch(|kernels| Some(&kernels.pull), &step.0)
    }

    /// Configures the launch of a kernel that measures a bandwidth ceiling.
    pub fn ceiling(&self, kernel: &'static str) -> Result<CeilingLaunch, DeviceError> {
        Ok(CeilingLaunch(filling(self.device, self.module, block_launch(kernel, 0))?))
    }

    /// Launches a kernel that measures a bandwidth ceiling.
    pub fn measure(&self, ceiling: &CeilingLaunch, run: &RunArgument) -> Result<(), DeviceError> {
        self.launch(&ceiling.0, &run.0)
    }

    fn launch_if(&self, launch: Option<&Launch>, argument: &[u8]) -> Result<(), DeviceError> {
        launch.map_or(Ok(()), |launch| self.launch(launch, argument))
    }

    fn launch_exchange(
        &self,
        kernel: impl FnOnce(&ExchangeLaunches) -> &Launch,
        step: &RankStepArgument,
    ) -> Result<(), DeviceError> {
        self.launch_if(self.exchange.as_ref().map(kernel), &step.0)
    }

    fn launch_fetch(
        &self,
        kernel: impl FnOnce(&FetchLaunches) -> Option<&Launch>,
        argument: &[u8],
    ) -> Result<(), DeviceError> {
        self.launch_if(self.fetch.as_ref().and_then(kernel), argument)
    }

    fn launch(&self, launch: &Launch, argument: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: `Arguments` makes the argument as the kernels have it: they do not compile if the
        // sizes of its parts differ. Its addresses are in the run's memory, which is laid out so
        // that the kernels stay within it, and lives until the device is idle; or in messages and
        // mirrors of other ranks, which are kept until all ranks are idle.
        unsafe { self.device.launch(self.module, launch, argument) }
    }

    fn launch_beside(
        &self,
        kernel: impl FnOnce(&FetchLaunches) -> Option<&Launch>,
        argument: &[u8],
    ) -> Result<(), DeviceError> {
        let Some(launch) = self.fetch.as_ref().and_then(kernel) else { return Ok(()) };
        // SAFETY: as of `launch`. The kernel writes the staging area, and where lists are in it. It
        // does so for vertices that are not scheduled, in words that are not in use, or for a range
        // whose members have not chosen, in a slot that is not in use. Marks order it after earlier
        // uses.
        unsafe { self.device.launch_on(Stream::Side, self.module, launch, argument) }
    }
}

/// A kernel that only some runs launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Optional {
    /// Launch 4b.
    ByLargeBlock,
    /// Launch 5.
    ByGrid,
    /// Launch 6.
    Commit,
}

/// Returns the launches that a graph needs, each with its argument.
fn of<'s>(launches: &[Option<Launch>], step: &'s StepArgument) -> Vec<(Launch, &'s [u8])> {
    launches.iter().flatten().map(|&launch| (launch, &*step.0)).collect()
}

/// Returns a launch of one block of `BLOCK` threads.
fn block_launch(kernel: &'static str, shared: u32) -> Launch {
    Launch { kernel, blocks: 1, threads: BLOCK, shared, cooperative: false }
}

/// Returns the launch with as many blocks as fill the device.
fn filling<D: Device>(
    device: &D,
    module: &D::Module,
    launch: Launch,
) -> Result<Launch, DeviceError> {
    let blocks = device.resident_blocks(module, &launch)?.max(1);
    Ok(Launch { blocks, ..launch })
}
