//! Emulated device: memory of the host, and launches that run at once.

use crate::communicator::EmulatedCommunicator;
use crate::module::EmulatedModule;
use crate::mutex::lock;
use ripplet_gpu::{
    Address, Device, DeviceError, Launch, Peer, Properties, Source, Stream, Transfer,
};
use ripplet_graph::splitmix;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Contents of reserved memory before it is written.
const UNDEFINED: u8 = 0xa5;
/// Contents of the guards before and behind reserved memory.
const GUARD: u8 = 0xc3;
/// Bytes of a guard, and alignment of memory.
const GUARD_BYTES: usize = 1024;
/// Resident blocks, by default.
const RESIDENT_BLOCKS: u32 = 4;
/// The most threads of a block.
const MAX_BLOCK_THREADS: u32 = 1024;

/// A device that runs kernels on the CPU, for tests; see [the crate](crate).
pub struct EmulatedDevice {
    properties: Properties,
    order: u64,
    resident_blocks: u32,
    has_peer_access: bool,
    has_communicator: bool,
    /// Number of launches that succeed before one fails.
    failing_after: Option<u64>,
    /// Whether there is no compiler: sources are refused and kept.
    has_no_compiler: bool,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Reserved memory: begin and length.
    reserved: BTreeMap<usize, usize>,
    reserved_bytes: u64,
    launches: u64,
    /// Sources that were refused, as there is no compiler.
    refused: Vec<Source>,
    /// The first error. As on a GPU, nothing runs after it.
    failed: Option<DeviceError>,
}

impl Default for EmulatedDevice {
    fn default() -> EmulatedDevice {
        EmulatedDevice::new()
    }
}

impl fmt::Debug for EmulatedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmulatedDevice").finish_non_exhaustive()
    }
}

impl EmulatedDevice {
    /// Returns a device that runs threads in ascending order.
    #[must_use]
    pub fn new() -> EmulatedDevice {
        let properties = Properties {
            name: "emulator".to_owned(),
            architecture: (9, 0),
            multiprocessors: 2,
            shared_per_block: 227 * 1024,
            memory: 16 << 30,
        };
        let resident_blocks = RESIDENT_BLOCKS;
        EmulatedDevice {
            properties,
            order: 0,
            resident_blocks,
            has_peer_access: true,
            has_communicator: false,
            failing_after: None,
            has_no_compiler: false,
            state: Arc::default(),
        }
    }

    /// Returns a device that runs threads in the order of a seed, which changes after each
    /// collective; 0 is ascending order.
    #[must_use]
    pub fn with_order(seed: u64) -> EmulatedDevice {
        EmulatedDevice { order: seed, ..EmulatedDevice::new() }
    }

    /// Limits the device's memory to `bytes` bytes.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> EmulatedDevice {
        self.properties.memory = bytes;
        self
    }

    /// Sets the number of resident blocks. The time of a launch that fills the device grows with
    /// it.
    #[must_use]
    pub fn with_resident_blocks(mut self, blocks: u32) -> EmulatedDevice {
        self.resident_blocks = blocks;
        self
    }

    /// Returns a device whose kernels cannot access other devices' memory, as GPUs without peer
    /// access. `has_communicator` is whether there is a communicator, such as NCCL.
    #[must_use]
    pub fn apart(mut self, has_communicator: bool) -> EmulatedDevice {
        (self.has_peer_access, self.has_communicator) = (false, has_communicator);
        self
    }

    /// Makes the device fail after some launches.
    #[must_use]
    pub fn lost_after(mut self, launches: u64) -> EmulatedDevice {
        self.failing_after = Some(launches);
        self
    }

    /// Takes the compiler away: every source is refused.
    #[must_use]
    pub fn without_compiler(mut self) -> EmulatedDevice {
        self.has_no_compiler = true;
        self
    }

    /// Returns the sources that a device without a compiler has refused, in order.
    #[must_use]
    pub fn refused(&self) -> Vec<Source> {
        lock(&self.state).refused.clone()
    }

    fn refuse(&self, launch: &Launch) -> Option<String> {
        let resident = self.resident_blocks;
        let Launch { blocks, threads, shared, cooperative, .. } = *launch;
        let most = self.properties.shared_per_block;
        if blocks == 0 || blocks > i32::MAX as u32 {
            return Some(format!("{blocks} blocks: there must be 1 to 2^31 - 1"));
        }
        if threads == 0 || threads > MAX_BLOCK_THREADS || threads % 32 != 0 {
            return Some(format!(
                "{threads} threads a block: there must be 32 to {MAX_BLOCK_THREADS}, in whole warps"
            ));
        }
        if shared > most {
            return Some(format!(
                "{shared} bytes of shared memory a block: at most {most} are there"
            ));
        }
        if cooperative && blocks > resident {
            return Some(format!(
                "{blocks} blocks that wait for one another: only {resident} can be there at once"
            ));
        }
        None
    }
}

/// Memory of a [`EmulatedDevice`].
pub struct EmulatedMemory {
    begin: NonNull<u8>,
    bytes: usize,
    layout: Layout,
    state: Arc<Mutex<State>>,
}

// SAFETY: memory of the host with one owner. It is accessed with the device's lock held, or by
// other devices' kernels, which wait for one another before they read what another device wrote.
unsafe impl Send for EmulatedMemory {}
// SAFETY: as above.
unsafe impl Sync for EmulatedMemory {}

impl EmulatedMemory {
    /// Returns the begin of `length` bytes from `offset` on.
    fn part(&self, offset: u64, length: usize) -> *mut u8 {
        let end = offset.checked_add(length as u64);
        assert!(
            end.is_some_and(|end| end <= self.bytes as u64),
            "{length} bytes from byte {offset} on are not within {} bytes of memory",
            self.bytes
        );
        // SAFETY: within the reserved memory, as was checked before.
        unsafe { self.begin.as_ptr().add(offset as usize) }
    }
}

impl Drop for EmulatedMemory {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        state.check_guards();
        state.reserved.remove(&(self.begin.as_ptr() as usize));
        state.reserved_bytes -= self.bytes as u64;
        // SAFETY: allocated with this layout, a guard before `begin`, and freed once.
        unsafe { dealloc(self.begin.as_ptr().sub(GUARD_BYTES), self.layout) };
    }
}

impl State {
    fn fail(&mut self, error: DeviceError) {
        self.failed.get_or_insert(error);
    }

    fn result(&self) -> Result<(), DeviceError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Returns the first write to a guard: its offset from the memory, and the memory's length.
    fn stray_write(&self) -> Option<(i64, usize)> {
        self.reserved.iter().find_map(|(&begin, &bytes)| {
            let damaged = |at: usize| {
                // SAFETY: a guard, within its allocation as long as it is listed; nothing runs.
                let guard = unsafe { std::slice::from_raw_parts(at as *const u8, GUARD_BYTES) };
                guard.iter().position(|&byte| byte != GUARD)
            };
            let after = damaged(begin + bytes).map(|i| (bytes + i) as i64);
            let before = || damaged(begin - GUARD_BYTES).map(|i| i as i64 - GUARD_BYTES as i64);
            after.or_else(before).map(|at| (at, bytes))
        })
    }

    fn check_guards(&mut self) {
        if self.failed.is_none()
            && let Some((at, bytes)) = self.stray_write()
        {
            self.fail(DeviceError::Failed {
                what: "a write outside of reserved memory".to_owned(),
                reason: format!("a kernel wrote to byte {at} of memory of {bytes} bytes"),
            });
        }
    }
}

impl Device for EmulatedDevice {
    type Module = EmulatedModule;
    type Memory = EmulatedMemory;
    type Mapped<'a> = Vec<&'a [u32]>;
    type Event = Instant;

    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<u64, DeviceError> {
        Ok(self.properties.memory.saturating_sub(lock(&self.state).reserved_bytes))
    }

    fn load(&self, source: &Source) -> Result<EmulatedModule, DeviceError> {
        if self.has_no_compiler {
            lock(&self.state).refused.push(source.clone());
            return Err(DeviceError::NoCompiler("it was taken away".to_owned()));
        }
        EmulatedModule::load(source)
    }

    fn resident_blocks(&self, _: &EmulatedModule, launch: &Launch) -> Result<u32, DeviceError> {
        let fits = self.refuse(&Launch { blocks: 1, ..*launch }).is_none();
        Ok(if fits { self.resident_blocks } else { 0 })
    }

    fn reserve(&self, bytes: u64) -> Result<EmulatedMemory, DeviceError> {
        let mut state = lock(&self.state);
        state.result()?;
        let free = self.properties.memory.saturating_sub(state.reserved_bytes);
        let refused = DeviceError::OutOfMemory { bytes, free };
        let layout = usize::try_from(bytes)
            .ok()
            .filter(|_| bytes <= free)
            .and_then(|bytes| bytes.checked_add(2 * GUARD_BYTES))
            .and_then(|bytes| Layout::from_size_align(bytes, GUARD_BYTES).ok());
        let Some(layout) = layout else { return Err(refused) };
        // SAFETY: the layout is not empty.
        let Some(guard) = NonNull::new(unsafe { alloc(layout) }) else { return Err(refused) };
        let length = bytes as usize;
        // SAFETY: all within the allocation: a guard, the memory, a guard.
        let begin = unsafe {
            ptr::write_bytes(guard.as_ptr(), GUARD, layout.size());
            let begin = guard.add(GUARD_BYTES);
            ptr::write_bytes(begin.as_ptr(), UNDEFINED, length);
            begin
        };
        state.reserved.insert(begin.as_ptr() as usize, length);
        state.reserved_bytes += bytes;
        Ok(EmulatedMemory { begin, bytes: length, layout, state: Arc::clone(&self.state) })
    }

    fn address(&self, memory: &EmulatedMemory) -> Address {
        Address(memory.begin.as_ptr() as u64)
    }

    fn write(&self, memory: &EmulatedMemory, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let to = memory.part(offset, bytes.len());
        let state = lock(&self.state);
        state.result()?;
        // SAFETY: `part` has checked the bounds; kernels run with the lock held, so none runs now.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    fn read(
        &self,
        memory: &EmulatedMemory,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<(), DeviceError> {
        let from = memory.part(offset, bytes.len());
        let state = lock(&self.state);
        state.result()?;
        // SAFETY: as in `write`.
        unsafe { ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn fill_on(
        &self,
        _: Stream,
        memory: &EmulatedMemory,
        offset: u64,
        length: u64,
        value: u8,
    ) -> Result<(), DeviceError> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let to = memory.part(offset, length);
        let state = lock(&self.state);
        if state.failed.is_none() {
            // SAFETY: as in `write`.
            unsafe { ptr::write_bytes(to, value, length) };
        }
        Ok(())
    }

    fn map_host<'a>(&'a self, parts: &[&'a [u32]]) -> Result<Vec<&'a [u32]>, DeviceError> {
        lock(&self.state).result()?;
        Ok(parts.to_vec())
    }

    fn mapped(&self, mapped: &Vec<&[u32]>, number: usize) -> Address {
        Address(mapped[number].as_ptr() as u64)
    }

    fn copy_mapped(
        &self,
        _: Stream,
        (mapped, number): (&Vec<&[u32]>, usize),
        words: Range<usize>,
        memory: &EmulatedMemory,
        offset: u64,
    ) -> Result<(), DeviceError> {
        self.write(memory, offset, bytemuck::cast_slice(&mapped[number][words]))
    }

    fn record(&self, _: Stream) -> Result<Instant, DeviceError> {
        Ok(Instant::now())
    }

    // All work is done at once, so there is nothing to wait for.
    fn wait_for(&self, _: Stream, _: &Instant) -> Result<(), DeviceError> {
        Ok(())
    }

    fn seconds_between(&self, start: &Instant, end: &Instant) -> Result<f64, DeviceError> {
        Ok(end.saturating_duration_since(*start).as_secs_f64())
    }

    unsafe fn launch_on(
        &self,
        _: Stream,
        module: &EmulatedModule,
        launch: &Launch,
        argument: &[u8],
    ) -> Result<(), DeviceError> {
        if let Some(reason) = self.refuse(launch) {
            let what = format!("the launch of `{}`", launch.kernel);
            return Err(DeviceError::Failed { what, reason });
        }
        let mut state = lock(&self.state);
        if state.failed.is_some() {
            return Ok(());
        }
        if self.failing_after.is_some_and(|most| state.launches >= most) {
            state.fail(DeviceError::Failed {
                what: format!("kernel `{}`", launch.kernel),
                reason: "the device is lost, as was asked for".to_owned(),
            });
            return Ok(());
        }
        state.launches += 1;
        let order = order_of(self.order, state.launches);
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { module.run(launch, argument, order) } {
            state.fail(error);
        }
        state.check_guards();
        Ok(())
    }

    fn wait(&self) -> Result<(), DeviceError> {
        lock(&self.state).result()
    }

    fn timed(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<f64, DeviceError> {
        let begin = Instant::now();
        work()?;
        self.wait()?;
        Ok(begin.elapsed().as_secs_f64())
    }
}

/// Emulated devices share the host's memory, and do all work at once: after a barrier of the host's
/// threads, all earlier launches of the peers are done.
impl Peer for EmulatedDevice {
    type Communicator = EmulatedCommunicator;

    fn enable_peer_access(&self, _: &EmulatedDevice) -> Result<bool, DeviceError> {
        Ok(self.has_peer_access)
    }

    unsafe fn copy_from_peer(
        &self,
        to: Address,
        _: &EmulatedDevice,
        from: Address,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let state = lock(&self.state);
        state.result()?;
        // SAFETY: the caller's promise; addresses are the host's.
        unsafe { ptr::copy_nonoverlapping(from.0 as *const u8, to.0 as *mut u8, bytes as usize) };
        Ok(())
    }

    fn communicator(devices: &[EmulatedDevice]) -> Result<EmulatedCommunicator, String> {
        match devices.iter().all(|device| device.has_communicator) {
            true => Ok(EmulatedCommunicator::default()),
            false => Err("emulated devices have no NCCL".to_owned()),
        }
    }

    unsafe fn send_and_receive(
        &self,
        communicator: &EmulatedCommunicator,
        rank: usize,
        sent: &[Transfer],
        received: &[Transfer],
    ) -> Result<(), DeviceError> {
        lock(&self.state).result()?;
        // SAFETY: the caller's promise.
        unsafe { communicator.send_and_receive(rank, sent, received) };
        Ok(())
    }

    fn wait_unless(&self, _: &dyn Fn() -> bool) -> Result<bool, DeviceError> {
        self.wait().map(|()| true)
    }
}

/// Returns the order of a launch, different for each, and the same for the same seed; 0 stays 0.
fn order_of(seed: u64, launch: u64) -> u64 {
    if seed == 0 {
        return 0;
    }
    splitmix::finalize(seed.wrapping_add(launch.wrapping_mul(splitmix::INCREMENT))).max(1)
}
