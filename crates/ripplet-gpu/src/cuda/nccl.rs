//! NCCL: transfers between GPUs over whatever connects them.
//!
//! The library is found at run time, as the driver is. If it is missing or does not start, the
//! caller gets the reason, and uses another transport.

use super::functions::functions;
use crate::device::Transfer;
use crate::error::DeviceError;
use cudarc::driver::sys::CUstream;
use cudarc::nccl::sys;
use std::env;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use sys::{cudaStream_t, ncclComm_t, ncclDataType_t, ncclResult_t};

functions! {
    /// NCCL's functions.
    Library -> ncclResult_t {
        ncclCommInitAll(*mut ncclComm_t, c_int, *const c_int);
        ncclCommAbort(ncclComm_t);
        ncclGroupStart();
        ncclGroupEnd();
        ncclSend(*const c_void, usize, ncclDataType_t, c_int, ncclComm_t, cudaStream_t);
        ncclRecv(*mut c_void, usize, ncclDataType_t, c_int, ncclComm_t, cudaStream_t);
    }
}

const SUCCESS: u32 = ncclResult_t::ncclSuccess as u32;

/// NCCL's variable for multicast in NVLink switches. The messages of a run do not use multicast,
/// and on some machines its setup fails or hangs.
const MULTICAST: &str = "NCCL_NVLS_ENABLE";

/// Communicators of a run's GPUs, by rank.
pub struct Nccl {
    library: &'static Library,
    communicators: Vec<Communicator>,
}

struct Communicator(ncclComm_t);

// SAFETY: a communicator may be used from any thread, by one at a time: `Nccl::send_and_receive` is called for
// each rank by one thread.
unsafe impl Send for Communicator {}
// SAFETY: as above.
unsafe impl Sync for Communicator {}

/// Returns the library, found once, or the reason why there is none.
fn library() -> Result<&'static Library, String> {
    static FOUND: OnceLock<Result<Library, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        // SAFETY: loading a library runs its initializers; the library of this name is NCCL.
        if !unsafe { sys::is_culib_present() } {
            return Err("there is no NCCL (libnccl.so.2) where the system finds libraries".into());
        }
        // SAFETY: the library is there, as was checked before.
        let library = unsafe { Library::find() };
        library.map_err(|name| format!("the NCCL that is here has no function {name}"))
    });
    found.as_ref().map_err(Clone::clone)
}

impl Library {
    fn check(&self, code: u32, what: &str) -> Result<(), DeviceError> {
        match code {
            SUCCESS => Ok(()),
            code => Err(DeviceError::Failed { what: what.to_owned(), reason: reason(code) }),
        }
    }
}

/// Returns the description of a code in NCCL's words.
fn reason(code: u32) -> String {
    // SAFETY: the library is there, as it has returned a code.
    let library = unsafe { sys::culib() };
    type ErrorString = unsafe extern "C" fn(u32) -> *const c_char;
    // SAFETY: the function of this name has this type, with the code as a number, for which any
    // value is valid.
    let text = match unsafe { library.get::<ErrorString>(b"ncclGetErrorString\0") } {
        // SAFETY: as above.
        Ok(ask) => unsafe { ask(code) },
        Err(_) => ptr::null(),
    };
    if text.is_null() {
        return format!("NCCL's error {code}");
    }
    // SAFETY: NCCL's texts end in 0 and live as long as its library.
    format!("NCCL says: {}", unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

impl Nccl {
    /// Creates communicators for the GPUs of these numbers.
    ///
    /// # Errors
    /// The reason, as a sentence, if there is no NCCL or it does not start.
    pub fn start(numbers: &[c_int]) -> Result<Nccl, String> {
        let library = library()?;
        if env::var_os(MULTICAST).is_none() {
            // SAFETY: devices are opened before a run begins, from one thread; no other thread of
            // this program reads or writes the environment meanwhile. NCCL's configuration struct
            // has no field for this.
            unsafe { env::set_var(MULTICAST, "0") };
        }
        let mut handles: Vec<ncclComm_t> = vec![ptr::null_mut(); numbers.len()];
        let count = c_int::try_from(numbers.len()).unwrap_or(c_int::MAX);
        // SAFETY: `numbers` and `handles` have the same length; NCCL reads the former and writes
        // the latter.
        let code =
            unsafe { (library.ncclCommInitAll)(handles.as_mut_ptr(), count, numbers.as_ptr()) };
        match code {
            SUCCESS => {
                let communicators = handles.into_iter().map(Communicator).collect();
                Ok(Nccl { library, communicators })
            }
            code => Err(format!("NCCL does not start; {}", reason(code))),
        }
    }

    /// Sends and receives in the order of a stream.
    ///
    /// # Safety
    /// As for [`crate::device::Peer::send_and_receive`]; the stream is of this rank's device, whose context is
    /// current.
    pub unsafe fn send_and_receive(
        &self,
        rank: usize,
        sent: &[Transfer],
        received: &[Transfer],
        stream: CUstream,
    ) -> Result<(), DeviceError> {
        let (library, what) = (self.library, "sending to other GPUs");
        let Communicator(communicator) = self.communicators[rank];
        let (bytes, stream) = (ncclDataType_t::ncclUint8, stream.cast());
        let peer = |transfer: &Transfer| c_int::try_from(transfer.rank).unwrap_or(c_int::MAX);
        // SAFETY: the group ends below, in this thread.
        library.check(unsafe { (library.ncclGroupStart)() }, what)?;
        let mut done = Ok(());
        for transfer in sent {
            let from = transfer.address.0 as *const c_void;
            let length = transfer.bytes as usize;
            // SAFETY: the caller's promise.
            let code = unsafe {
                (library.ncclSend)(from, length, bytes, peer(transfer), communicator, stream)
            };
            done = done.and(library.check(code, what));
        }
        for transfer in received {
            let to = transfer.address.0 as *mut c_void;
            let length = transfer.bytes as usize;
            // SAFETY: the caller's promise.
            let code = unsafe {
                (library.ncclRecv)(to, length, bytes, peer(transfer), communicator, stream)
            };
            done = done.and(library.check(code, what));
        }
        // SAFETY: as above.
        done.and(library.check(unsafe { (library.ncclGroupEnd)() }, what))
    }
}

impl Drop for Nccl {
    /// Aborts the communicators. Destroying them would wait for the other ranks, for ever if a GPU
    /// was lost.
    fn drop(&mut self) {
        for Communicator(communicator) in &self.communicators {
            // SAFETY: created by NCCL, and freed once.
            unsafe { (self.library.ncclCommAbort)(*communicator) };
        }
    }
}
