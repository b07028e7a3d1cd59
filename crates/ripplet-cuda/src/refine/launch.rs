//! A refinement's memory on a device, and the launches of its kernels.

use super::places::Places;
use super::state::{BLOCK, CLASSES, Counters, LARGE_BLOCK, NUMBERED, SORTED, SUM_BLOCK, Work};
use crate::lp::failed;
use bytemuck::{Pod, Zeroable};
use ripplet_gpu::{Address, Device, Launch};
use ripplet_graph::memory;
use ripplet_lp::RunError;
use std::mem::offset_of;

/// Blocks of a kernel for each multiprocessor: several times as many as run at once, so that the last
/// ones are short: the 2048 threads of a multiprocessor are 8 blocks of 256. Not measured against
/// other numbers.
const BLOCKS_PER_MULTIPROCESSOR: u64 = 32;
/// Blocks of the largest class for each multiprocessor: as many as run at once, as each takes 98 KiB
/// of the 228 KiB of shared memory of an H100.
const LARGE_PER_MULTIPROCESSOR: u64 = 2;
/// Lanes that take a vertex of each class that groups take, and bytes of the classes' tables and what
/// stands behind them, as in `table.cuh` and `choose.cuh`: 12 bytes a slot, and up to 2 KiB of what
/// the warps of a block exchange (at most 48 bytes each) and of `LongMembers` (260 bytes).
const LANES: [u64; 2] = [4, 32];
const SHARED: [u32; CLASSES] = [64 * 32 * 12, 8 * 256 * 12, 4096 * 12 + 2048, 8192 * 12 + 2048];
/// Lanes that read the list of a vertex in kernels that take all vertices, as in `levels.cuh`. Not
/// measured against other widths.
const READING: u64 = 8;

/// What each item of a kernel is.
#[derive(Clone, Copy)]
pub(super) enum Items {
    /// A thread takes an item.
    Threads(u64),
    /// Eight lanes take an item.
    Lists(u64),
    /// A block takes [`NUMBERED`] items.
    Numbered(u64),
    /// A block takes [`SORTED`] items, which shared memory has room for.
    Sorted(u64),
    /// One block takes all.
    OneBlock,
    /// One warp takes all.
    OneWarp,
}

/// A refinement's memory and kernels.
pub(super) struct Launcher<'a, D: Device> {
    pub device: &'a D,
    pub module: D::Module,
    pub memory: D::Memory,
    pub places: Places,
    base: Address,
    multiprocessors: u64,
}

impl<'a, D: Device> Launcher<'a, D> {
    /// Reserves the memory.
    pub fn new(device: &'a D, module: D::Module, places: Places) -> Result<Self, RunError> {
        let memory = device.reserve(places.bytes).map_err(failed)?;
        let base = device.address(&memory);
        let multiprocessors = u64::from(device.properties().multiprocessors);
        Ok(Launcher { device, module, memory, places, base, multiprocessors })
    }

    /// Returns the address of a place.
    pub fn at(&self, place: u64) -> Address {
        self.base.plus(place)
    }

    fn place(&self, address: Address) -> u64 {
        address.0 - self.base.0
    }

    /// Sets bytes to a value.
    pub fn fill(&self, address: Address, bytes: u64, value: u8) -> Result<(), RunError> {
        self.device.fill(&self.memory, self.place(address), bytes, value).map_err(failed)
    }

    /// Copies values to the device.
    pub fn write<T: Pod>(&self, address: Address, values: &[T]) -> Result<(), RunError> {
        let bytes = bytemuck::cast_slice(values);
        self.device.write(&self.memory, self.place(address), bytes).map_err(failed)
    }

    /// Copies values from the device.
    pub fn read<T: Pod>(&self, address: Address, count: u64) -> Result<Vec<T>, RunError> {
        let mut values = memory::zeros(count as usize).map_err(RunError::Array)?;
        let bytes = bytemuck::cast_slice_mut(&mut values);
        self.device.read(&self.memory, self.place(address), bytes).map_err(failed)?;
        Ok(values)
    }

    /// Sets all counters to 0, and the end of contracted graphs' arcs.
    pub fn reset(&self, arcs_end: u64) -> Result<(), RunError> {
        let counters = &self.places.counters;
        self.fill(self.at(counters.start), counters.end - counters.start, 0)?;
        let end = self.at(counters.start + offset_of!(Counters, arcs_end) as u64);
        self.write(end, &[arcs_end])
    }

    /// Returns the counters, after all work launched before.
    pub fn counters(&self) -> Result<Counters, RunError> {
        let mut counters = Counters::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut counters);
        self.device.read(&self.memory, self.places.counters.start, bytes).map_err(failed)?;
        Ok(counters)
    }

    /// Launches a kernel.
    pub fn launch(&self, kernel: &'static str, items: Items, work: &Work) -> Result<(), RunError> {
        let per_block = |count: u64, each: u64| count.div_ceil(each);
        let some = |blocks: u64| blocks.min(self.multiprocessors * BLOCKS_PER_MULTIPROCESSOR);
        let (blocks, threads) = match items {
            Items::Threads(count) => (some(per_block(count, u64::from(BLOCK))), BLOCK),
            Items::Lists(count) => (some(per_block(count, u64::from(BLOCK) / READING)), BLOCK),
            Items::Numbered(count) => (per_block(count, u64::from(NUMBERED)), BLOCK),
            Items::Sorted(count) => (some(per_block(count, u64::from(SORTED))), BLOCK),
            Items::OneBlock => (1, SUM_BLOCK),
            Items::OneWarp => (1, 32),
        };
        // Else a place for each warp and one more, or two for each bin.
        let shared = if matches!(items, Items::Sorted(_)) { 8 * SORTED } else { 512 };
        self.launch_blocks(kernel, [blocks, u64::from(threads)], shared, work)
    }

    /// Launches the kernels of each class that has vertices: `names` by class.
    pub fn launch_classes(
        &self,
        names: [&'static str; CLASSES],
        counts: [u32; CLASSES],
        longest: u64,
        work: &Work,
    ) -> Result<(), RunError> {
        for (class, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            let count = u64::from(count);
            let most = self.multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
            let mut work = *work;
            let (blocks, threads) = match LANES.get(class) {
                Some(lanes) => (count.div_ceil(u64::from(BLOCK) / lanes).min(most), BLOCK),
                None if class == 2 => (count.min(most), BLOCK),
                None => {
                    let slots =
                        (2 * longest.min(u64::from(work.level.vertices))).next_power_of_two();
                    work.region_slots = slots;
                    let large = self.multiprocessors * LARGE_PER_MULTIPROCESSOR;
                    (count.min(large).min(self.places.region_slots() / slots), LARGE_BLOCK)
                }
            };
            let shape = [blocks, u64::from(threads)];
            self.launch_blocks(names[class], shape, SHARED[class], &work)?;
        }
        Ok(())
    }

    fn launch_blocks(
        &self,
        kernel: &'static str,
        [blocks, threads]: [u64; 2],
        shared: u32,
        work: &Work,
    ) -> Result<(), RunError> {
        if blocks == 0 {
            return Ok(());
        }
        let (blocks, threads) = (blocks as u32, threads as u32);
        let launch = Launch { kernel, blocks, threads, shared, cooperative: false };
        // SAFETY: the argument is a `Work` as the kernels have it: they do not compile if its size
        // differs. Its addresses are of memory that lives as long as `self`, laid out so that the
        // kernels stay within it.
        unsafe { self.device.launch(&self.module, &launch, bytemuck::bytes_of(work)) }
            .map_err(failed)
    }
}
