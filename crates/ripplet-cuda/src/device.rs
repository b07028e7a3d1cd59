//! What the engine asks of a machine that runs kernels, whatever it is.

use std::ops::Range;
use thiserror::Error;

/// An address in a device's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Address(pub u64);

impl Address {
    /// The address so many bytes on.
    #[must_use]
    pub fn plus(self, bytes: u64) -> Address {
        Address(self.0 + bytes)
    }

    /// The address so many bytes before: of nothing, it may be, from which others are counted.
    #[must_use]
    pub fn minus(self, bytes: u64) -> Address {
        Address(self.0.wrapping_sub(bytes))
    }
}

/// What is known of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Its name, as the driver gives it.
    pub name: String,
    /// Its architecture: (9, 0) for sm_90.
    pub architecture: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory that a block can have at most.
    pub shared_per_block: u32,
    /// Bytes of its memory.
    pub memory: u64,
}

/// Kernels as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What it is called in errors: the program's name.
    pub name: String,
    /// CUDA C++17, device code alone, without `#include`s. Kernels are
    /// `extern "C" __global__ void name(const __grid_constant__ T argument)` with one argument.
    pub text: String,
}

/// One launch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Blocks.
    pub blocks: u32,
    /// Threads a block: a multiple of 32.
    pub threads: u32,
    /// Bytes of dynamic shared memory a block.
    pub shared: u32,
    /// Whether its blocks wait for one another, and so must all be there at once.
    pub cooperative: bool,
}

/// Where launches wait for their turn. What is in one queue is done in order; what is in another may be done meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Of all that does not say otherwise.
    Main,
    /// What may be done beside it.
    Side,
}

/// A machine that runs kernels, one after the other in the order of their launches.
///
/// Launches and fills return at once; [`Device::wait`] and [`Device::read`] wait for what was
/// launched, and say what went wrong meanwhile.
pub trait Device {
    /// Compiled kernels.
    type Module;
    /// Reserved memory, given back when dropped.
    type Memory;
    /// Memory of the host that kernels read where it lies, until this is dropped.
    type Lent<'a>: Send
    where
        Self: 'a;
    /// A place in a queue.
    type Mark;

    /// What it is.
    fn properties(&self) -> &Properties;

    /// Bytes of its memory that nobody has.
    fn free_memory(&self) -> Result<u64, DeviceError>;

    /// Compiles kernels, or finds them compiled.
    fn load(&self, source: &Source) -> Result<Self::Module, DeviceError>;

    /// How many blocks of a kernel can be there at once, on the whole device.
    fn resident_blocks(&self, module: &Self::Module, launch: &Launch) -> Result<u32, DeviceError>;

    /// Reserves memory. What is in it is not defined.
    fn reserve(&self, bytes: u64) -> Result<Self::Memory, DeviceError>;

    /// Where reserved memory begins: a multiple of 256.
    fn address(&self, memory: &Self::Memory) -> Address;

    /// Copies `bytes` into memory, `offset` bytes from its beginning.
    ///
    /// # Panics
    /// Where they do not fit.
    fn write(&self, memory: &Self::Memory, offset: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Copies from memory, `offset` bytes from its beginning, into `bytes`, when all that was
    /// launched before is done.
    ///
    /// # Panics
    /// Where there are not as many.
    fn read(&self, memory: &Self::Memory, offset: u64, bytes: &mut [u8])
    -> Result<(), DeviceError>;

    /// Sets `length` bytes of memory, `offset` bytes from its beginning, to a value.
    ///
    /// # Panics
    /// Where there are not as many.
    fn fill(
        &self,
        memory: &Self::Memory,
        offset: u64,
        length: u64,
        value: u8,
    ) -> Result<(), DeviceError> {
        self.fill_in(Queue::Main, memory, offset, length, value)
    }

    /// The same, in a queue.
    ///
    /// # Panics
    /// As above.
    fn fill_in(
        &self,
        queue: Queue,
        memory: &Self::Memory,
        offset: u64,
        length: u64,
        value: u8,
    ) -> Result<(), DeviceError>;

    /// Lends parts of the host's memory, which stay where they are.
    fn lend<'a>(&'a self, parts: &[&'a [u32]]) -> Result<Self::Lent<'a>, DeviceError>;

    /// Where kernels find the part of this number.
    ///
    /// # Panics
    /// Where there are not as many.
    fn lent(&self, lent: &Self::Lent<'_>, number: usize) -> Address;

    /// Copies words of the lent part of this number into memory, `offset` bytes from its beginning, in its turn in
    /// a queue.
    ///
    /// # Panics
    /// Where there are not as many, or they do not fit.
    fn copy_lent(
        &self,
        queue: Queue,
        lent: (&Self::Lent<'_>, usize),
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
        unsafe { self.launch_in(Queue::Main, module, launch, argument) }
    }

    /// The same, in a queue.
    ///
    /// # Safety
    /// As of [`Device::launch`]; and nothing in the other queue needs what this one writes, or writes what it needs, but
    /// behind a mark.
    unsafe fn launch_in(
        &self,
        queue: Queue,
        module: &Self::Module,
        launch: &Launch,
        argument: &[u8],
    ) -> Result<(), DeviceError>;

    /// Marks what is in a queue until now.
    fn mark(&self, queue: Queue) -> Result<Self::Mark, DeviceError>;

    /// What comes next in a queue waits for what is before a mark in the other.
    fn follow(&self, queue: Queue, mark: &Self::Mark) -> Result<(), DeviceError>;

    /// The seconds from one mark to another, when what is before both is done.
    fn seconds_between(&self, start: &Self::Mark, end: &Self::Mark) -> Result<f64, DeviceError>;

    /// Launches a kernel with each of these arguments: they may run at the same time, and what is launched
    /// later waits for them all.
    ///
    /// # Safety
    /// As of [`Device::launch`], for each; and none needs what another writes.
    unsafe fn launch_together(
        &self,
        module: &Self::Module,
        launches: &[(Launch, &[u8])],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        launches
            .iter()
            .try_for_each(|(launch, argument)| unsafe { self.launch(module, launch, argument) })
    }

    /// Waits until all that was launched is done.
    fn wait(&self) -> Result<(), DeviceError>;

    /// The seconds that what `work` launches takes on the device.
    fn timed(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<f64, DeviceError>;
}

/// A device that can share a run with others of its kind.
///
/// A mark of one may be followed by another: what comes next there waits for what is before the mark here.
pub trait Peer:
    Device<Module: Sync, Memory: Send + Sync, Mark: Send + Sync> + Sync + Sized
{
    /// What carries bytes between some devices by itself, such as NCCL.
    type Carrier: Send + Sync;

    /// Lets kernels of this device read and write another one's memory; whether they can.
    fn reach(&self, other: &Self) -> Result<bool, DeviceError>;

    /// Copies from another device's memory, when all that was launched here before is done.
    ///
    /// # Safety
    /// There are so many bytes at both addresses, each of its device's memory, kept until the copy is done; and
    /// the other device does not write to them meanwhile.
    unsafe fn fetch(
        &self,
        to: Address,
        other: &Self,
        from: Address,
        bytes: u64,
    ) -> Result<(), DeviceError>;

    /// What carries bytes between these devices.
    ///
    /// # Errors
    /// Where there is no such thing here, or it does not start; why, as a sentence.
    fn carrier(devices: &[Self]) -> Result<Self::Carrier, String>;

    /// Sends and receives, when all that was launched here before is done: this device is number `rank` of the
    /// carrier's. All of them call this at the same time, each from a thread of its own.
    ///
    /// # Safety
    /// Each parcel's bytes are there, in this device's memory, and kept until they are sent or received; the
    /// others receive what is sent, and send what is received.
    unsafe fn carry(
        &self,
        carrier: &Self::Carrier,
        rank: usize,
        sent: &[Parcel],
        received: &[Parcel],
    ) -> Result<(), DeviceError>;

    /// Waits until all that was launched is done, or `is_over`, which is asked often; whether all is done.
    ///
    /// # Errors
    /// As [`Device::wait`].
    fn wait_unless(&self, is_over: &dyn Fn() -> bool) -> Result<bool, DeviceError>;
}

/// Bytes for another device, or from one.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// The other device's number.
    pub rank: usize,
    /// Where they are, or will be, in this one's memory.
    pub address: Address,
    /// How many.
    pub bytes: u64,
}

/// What a device, or the way to it, refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// No driver, as far as anybody can see.
    #[error(
        "no NVIDIA driver: no library libcuda.so.1 (nvcuda.dll on Windows) that can be loaded; it \
         comes with NVIDIA's driver, version 525 or newer"
    )]
    NoLibrary,
    /// No driver that works.
    #[error("no NVIDIA driver: {0}")]
    NoDriver(String),
    /// No device, or none of this number.
    #[error("{}", no_such_device(*.number, *.count))]
    NoSuchDevice {
        /// The number asked for.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// The device, or the driver, is too old for the engine.
    #[error("{0}")]
    TooOld(String),
    /// No compiler for kernels.
    #[error(
        "no compiler for GPU kernels: {0}; install NVRTC 13 (the CUDA toolkit has it, and so does \
         the Python package nvidia-cuda-nvrtc) where the system finds libraries"
    )]
    NoCompiler(String),
    /// Kernels that do not compile.
    #[error("the kernels of {name} do not compile:\n{log}")]
    Compile {
        /// The program's name.
        name: String,
        /// What the compiler said.
        log: String,
    },
    /// The device refused memory.
    #[error("the GPU refused {bytes} bytes, of {free} that are free")]
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
        /// What was free.
        free: u64,
    },
    /// The device failed, or was taken away.
    #[error("the GPU failed at {what}: {reason}")]
    Failed {
        /// What was being done.
        what: String,
        /// What the driver said.
        reason: String,
    },
}

fn no_such_device(number: usize, count: usize) -> String {
    match count {
        0 => "the NVIDIA driver finds no GPU".to_owned(),
        1 => format!("there is no GPU {number}: this machine has one, cuda:0"),
        _ => format!(
            "there is no GPU {number}: this machine has {count}, cuda:0 to cuda:{}",
            count - 1
        ),
    }
}
