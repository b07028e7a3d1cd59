//! Interface between an engine and a machine that runs kernels.

use crate::error::DeviceError;
use std::ops::Range;

/// An address in a device's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Address(pub u64);

impl Address {
    /// Returns the address `bytes` bytes further on.
    #[must_use]
    pub fn plus(self, bytes: u64) -> Address {
        Address(self.0 + bytes)
    }

    /// Returns the address `bytes` bytes before. It may be outside of any memory, as a base for
    /// other addresses.
    #[must_use]
    pub fn minus(self, bytes: u64) -> Address {
        Address(self.0.wrapping_sub(bytes))
    }
}

/// Properties of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Name, as the driver reports it.
    pub name: String,
    /// Architecture: (9, 0) for sm_90.
    pub architecture: (u32, u32),
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// The most bytes of shared memory of a block.
    pub shared_per_block: u32,
    /// Bytes of memory.
    pub memory: u64,
}

/// Source text of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name in errors: that of the program.
    pub name: String,
    /// CUDA C++17, device code only, without `#include`s. A kernel is `extern "C" __global__ void
    /// name(const __grid_constant__ T argument)`, with one argument.
    pub text: String,
}

/// Configuration of a kernel launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Number of blocks.
    pub blocks: u32,
    /// Threads per block, a multiple of 32.
    pub threads: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
    /// Whether blocks wait for one another, so that all must be resident at once.
    pub cooperative: bool,
}

/// Stream of a device: work in one stream is done in order; work in both may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The default stream.
    Main,
    /// A second stream, for transfers and the kernels that belong to them.
    Side,
}

/// A machine that runs kernels, in the order of their launches.
///
/// Launches and fills return at once. [`Device::wait`] and [`Device::read`] wait for all launched
/// work, and return its errors.
///
/// # Errors
/// All functions return [`DeviceError::Failed`] if the machine fails; after that, every later call
/// fails. [`Device::load`] also returns [`DeviceError::NoCompiler`], [`DeviceError::Compile`] and
/// [`DeviceError::TooOld`], and [`Device::reserve`] returns [`DeviceError::OutOfMemory`].
pub trait Device {
    /// Compiled kernels.
    type Module;
    /// Reserved memory, freed when dropped.
    type Memory;
    /// Pinned memory of the host that kernels can read (mapped), until this is dropped.
    type Mapped<'a>: Send
    where
        Self: 'a;
    /// A point in a stream.
    type Event;

    /// Returns the device's properties.
    fn properties(&self) -> &Properties;

    /// Returns the bytes of free memory.
    fn free_memory(&self) -> Result<u64, DeviceError>;

    /// Compiles kernels, or takes them from a cache.
    fn load(&self, source: &Source) -> Result<Self::Module, DeviceError>;

    /// Returns the number of blocks of a kernel that can be resident at once, on the whole device.
    fn resident_blocks(&self, module: &Self::Module, launch: &Launch) -> Result<u32, DeviceError>;

    /// Reserves memory. Its contents are undefined.
    fn reserve(&self, bytes: u64) -> Result<Self::Memory, DeviceError>;

    /// Returns the address of reserved memory, a multiple of 256.
    fn address(&self, memory: &Self::Memory) -> Address;

    /// Copies `bytes` into memory, `offset` bytes from its beginning.
    ///
    /// # Panics
    /// If they do not fit.
    fn write(&self, memory: &Self::Memory, offset: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Copies from memory, `offset` bytes from its beginning, into `bytes`, after all work launched
    /// before.
    ///
    /// # Panics
    /// If the memory ends before.
    fn read(&self, memory: &Self::Memory, offset: u64, bytes: &mut [u8])
    -> Result<(), DeviceError>;

    /// Sets `length` bytes of memory, `offset` bytes from its beginning, to a value.
    ///
    /// # Panics
    /// If the memory ends before.
    fn fill(
        &self,
        memory: &Self::Memory,
        offset: u64,
        length: u64,
        value: u8,
    ) -> Result<(), DeviceError> {
        self.fill_on(Stream::Main, memory, offset, length, value)
    }

    /// Sets `length` bytes of memory, `offset` bytes from its beginning, to a value, in the order
    /// of a stream.
    ///
    /// # Panics
    /// If the memory ends before.
    fn fill_on(
        &self,
        stream: Stream,
        memory: &Self::Memory,
        offset: u64,
        length: u64,
        value: u8,
    ) -> Result<(), DeviceError>;

    /// Pins parts of the host's memory in place, and maps them for kernels.
    fn map_host<'a>(&'a self, parts: &[&'a [u32]]) -> Result<Self::Mapped<'a>, DeviceError>;

    /// Returns the address at which kernels read a pinned part.
    ///
    /// # Panics
    /// If there is no part with this number.
    fn mapped(&self, mapped: &Self::Mapped<'_>, number: usize) -> Address;

    /// Copies words of a pinned part into memory, `offset` bytes from its beginning, in the order
    /// of a stream.
    ///
    /// # Panics
    /// If the part has fewer words, or they do not fit.
    fn copy_mapped(
        &self,
        stream: Stream,
        mapped: (&Self::Mapped<'_>, usize),
        words: Range<usize>,
        memory: &Self::Memory,
        offset: u64,
    ) -> Result<(), DeviceError>;

    /// Launches a kernel with one argument, by value.
    ///
    /// # Safety
    /// `argument` has the kernel's type. The addresses in it are of memory that is kept until the
    /// launch is done, and the kernel stays within it.
    unsafe fn launch(
        &self,
        module: &Self::Module,
        launch: &Launch,
        argument: &[u8],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_on(Stream::Main, module, launch, argument) }
    }

    /// Launches a kernel in a stream.
    ///
    /// # Safety
    /// As for [`Device::launch`]. Work in the other stream that shares memory with this launch is
    /// ordered by an event, if one of both writes it.
    unsafe fn launch_on(
        &self,
        stream: Stream,
        module: &Self::Module,
        launch: &Launch,
        argument: &[u8],
    ) -> Result<(), DeviceError>;

    /// Records an event behind all work in a stream.
    fn record(&self, stream: Stream) -> Result<Self::Event, DeviceError>;

    /// Makes later work in a stream wait for the work before an event, which may be in another stream.
    fn wait_for(&self, stream: Stream, event: &Self::Event) -> Result<(), DeviceError>;

    /// Returns the seconds between two events, after the work before both is done.
    fn seconds_between(&self, start: &Self::Event, end: &Self::Event) -> Result<f64, DeviceError>;

    /// Launches several chains of kernels: each chain's run one after the other, and chains may run concurrently. Later
    /// launches wait for all of them.
    ///
    /// # Safety
    /// As for [`Device::launch`], for each. No kernel reads or writes what one of another chain writes.
    unsafe fn launch_chains(
        &self,
        module: &Self::Module,
        chains: &[&[(Launch, &[u8])]],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        chains
            .iter()
            .copied()
            .flatten()
            .try_for_each(|(launch, argument)| unsafe { self.launch(module, launch, argument) })
    }

    /// Waits until all launched work is done.
    fn wait(&self) -> Result<(), DeviceError>;

    /// Returns the seconds that the work launched by `work` takes on the device.
    fn timed(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<f64, DeviceError>;
}

/// A device that can share a run with others of its kind.
///
/// Events work across devices: [`Device::wait_for`] accepts an event of another device.
pub trait Peer:
    Device<Module: Sync, Memory: Send + Sync, Event: Send + Sync> + Sync + Sized
{
    /// A communicator that moves bytes between the devices of a run, such as NCCL's.
    type Communicator: Send + Sync;

    /// Enables peer access: kernels of this device can then read and write the other's memory.
    /// Returns whether that works.
    fn enable_peer_access(&self, other: &Self) -> Result<bool, DeviceError>;

    /// Copies from another device's memory, after all work launched here before.
    ///
    /// # Safety
    /// Both addresses begin at least `bytes` bytes of their device's memory, kept until the copy is
    /// done. The other device does not write to them meanwhile.
    unsafe fn copy_from_peer(
        &self,
        to: Address,
        other: &Self,
        from: Address,
        bytes: u64,
    ) -> Result<(), DeviceError>;

    /// Creates the communicator of these devices.
    ///
    /// # Errors
    /// The reason, as a sentence, if there is no such library or it does not start.
    fn communicator(devices: &[Self]) -> Result<Self::Communicator, String>;

    /// Sends and receives, after all work launched here before. This device is number `rank` of the
    /// communicator. All devices call this at the same time, each from a thread of its own.
    ///
    /// # Safety
    /// The bytes of each transfer are in this device's memory, and are kept until they are sent or
    /// received. Sends and receives of all devices match.
    unsafe fn send_and_receive(
        &self,
        communicator: &Self::Communicator,
        rank: usize,
        sent: &[Transfer],
        received: &[Transfer],
    ) -> Result<(), DeviceError>;

    /// Waits until all launched work is done, or until `is_over` returns true, which is called
    /// often. Returns whether the work is done.
    ///
    /// # Errors
    /// As for [`Device::wait`].
    fn wait_unless(&self, is_over: &dyn Fn() -> bool) -> Result<bool, DeviceError>;
}

/// A transfer to another device, or from one.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Number of the other device.
    pub rank: usize,
    /// Address in this device's memory.
    pub address: Address,
    /// Number of bytes.
    pub bytes: u64,
}
