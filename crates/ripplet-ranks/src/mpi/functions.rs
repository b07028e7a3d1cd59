//! The functions of MPI in use, in three binary interfaces.
//!
//! Handles are numbers of 32 bits in the MPICH ABI, and pointers in the others. So the table is generic
//! over the handle, and each interface has its own constants. [`Calls`] hides this.

use crate::CommError;
use libloading::os::unix::Library;
use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

/// A handle of MPI: a communicator, a type, an error handler or a request.
pub(super) trait Handle: Copy + Send + Sync + 'static {
    fn to_bits(self) -> usize;
    fn from_bits(bits: usize) -> Self;
}

impl Handle for c_int {
    fn to_bits(self) -> usize {
        self as u32 as usize
    }

    fn from_bits(bits: usize) -> c_int {
        bits as u32 as c_int
    }
}

/// A handle that is a pointer.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Pointer(*mut c_void);

// SAFETY: MPI's handles may be used from any thread, if calls do not overlap; this crate never reads through them.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

impl Handle for Pointer {
    fn to_bits(self) -> usize {
        self.0 as usize
    }

    fn from_bits(bits: usize) -> Pointer {
        Pointer(bits as *mut c_void)
    }
}

/// A binary interface of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interface {
    Mpich,
    OpenMpi,
    Standard,
}

/// A message on its way: the request's handle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request(usize);

/// The functions of an opened library. Calls must not overlap.
pub(super) trait Calls: Send {
    /// Returns whether this process has started MPI already.
    fn has_started(&self) -> Result<bool, CommError>;

    /// Joins an MPI that this process has started. Returns why that is not possible.
    fn join(&self) -> Result<(), String>;

    /// Starts MPI. Returns MPI's explanation if it fails.
    fn start(&self) -> Result<(), String>;

    /// Ends MPI: all other ranks must do so.
    fn finish(&self);

    fn rank(&self) -> Result<usize, CommError>;

    fn size(&self) -> Result<usize, CommError>;

    fn version(&self) -> String;

    /// Begins to send bytes.
    ///
    /// # Safety
    /// They stay and are not written until the request is done.
    unsafe fn send(
        &self,
        from: *const u8,
        bytes: usize,
        to: usize,
        tag: c_int,
    ) -> Result<Request, CommError>;

    /// Begins to receive at most this number of bytes.
    ///
    /// # Safety
    /// They stay and are neither read nor written until the request is done.
    unsafe fn receive(
        &self,
        into: *mut u8,
        bytes: usize,
        from: usize,
        tag: c_int,
    ) -> Result<Request, CommError>;

    /// Returns whether a request is done; it is then no longer valid.
    fn is_done(&self, request: &mut Request) -> Result<bool, CommError>;
}

/// The constants of an interface.
struct Constants<H> {
    world: H,
    byte: H,
    errors_return: H,
    ignore_status: *mut c_void,
    /// The level of threads at which any thread may call, but no two at the same time.
    serialized: c_int,
    /// The level of threads at which threads may call at the same time.
    multiple: c_int,
}

// SAFETY: `ignore_status` is a constant, and not read through.
unsafe impl<H: Send> Send for Constants<H> {}

struct Table<H> {
    constants: Constants<H>,
    init_thread:
        unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int,
    initialized: unsafe extern "C" fn(*mut c_int) -> c_int,
    query_thread: unsafe extern "C" fn(*mut c_int) -> c_int,
    finalize: unsafe extern "C" fn() -> c_int,
    comm_rank: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    comm_size: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    comm_set_errhandler: unsafe extern "C" fn(H, H) -> c_int,
    error_string: unsafe extern "C" fn(c_int, *mut c_char, *mut c_int) -> c_int,
    get_library_version: unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int,
    isend: unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int,
    irecv: unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int,
    test: unsafe extern "C" fn(*mut H, *mut c_int, *mut c_void) -> c_int,
    handle: PhantomData<H>,
}

/// The most bytes of a text of MPI, in any interface.
const TEXT: usize = 8192 + 1;
const SUCCESS: c_int = 0;

/// Finds the functions of a library in this interface; the error is the name of a missing one.
///
/// # Safety
/// The library has this interface, and is never unloaded.
pub(super) unsafe fn find(
    library: &Library,
    interface: Interface,
) -> Result<Box<dyn Calls>, &'static str> {
    match interface {
        Interface::Mpich => {
            // The values of MPICH's mpi.h, which its ABI fixes.
            let constants = Constants::<c_int> {
                world: 0x4400_0000,
                byte: 0x4c00_010d,
                errors_return: 0x5400_0001,
                // MPI_STATUS_IGNORE is the address 1.
                ignore_status: ptr::without_provenance_mut(1),
                serialized: 2,
                multiple: 3,
            };
            // SAFETY: the caller's promise.
            unsafe { table(library, constants) }
        }
        Interface::OpenMpi => {
            let address = |name: &'static str| {
                // SAFETY: only the address of the object of this name is taken.
                let symbol = unsafe { library.get::<*mut c_void>(name.as_bytes()) };
                symbol.map(|symbol| Pointer(symbol.as_raw_ptr())).map_err(|_| name)
            };
            // In Open MPI's mpi.h, these constants are the addresses of objects of the library.
            let constants = Constants {
                world: address("ompi_mpi_comm_world")?,
                byte: address("ompi_mpi_byte")?,
                errors_return: address("ompi_mpi_errors_return")?,
                ignore_status: ptr::null_mut(),
                serialized: 2,
                multiple: 3,
            };
            // SAFETY: the caller's promise.
            unsafe { table(library, constants) }
        }
        Interface::Standard => {
            // The values of the standard's mpi.h (MPI 5.0, appendix A).
            let constants = Constants {
                world: Pointer::from_bits(0x101),
                byte: Pointer::from_bits(0x247),
                errors_return: Pointer::from_bits(0x143),
                ignore_status: ptr::null_mut(),
                serialized: 2048,
                multiple: 4096,
            };
            // SAFETY: the caller's promise.
            unsafe { table(library, constants) }
        }
    }
}

/// # Safety
/// See [`find`].
unsafe fn table<H: Handle>(
    library: &Library,
    constants: Constants<H>,
) -> Result<Box<dyn Calls>, &'static str> {
    macro_rules! function {
        ($name:literal) => {
            // SAFETY: the function of this name has the type of its field: MPI's standard, with the handles of this
            // interface.
            *unsafe { library.get($name.as_bytes()) }.map_err(|_| $name)?
        };
    }
    Ok(Box::new(Table {
        constants,
        init_thread: function!("MPI_Init_thread"),
        initialized: function!("MPI_Initialized"),
        query_thread: function!("MPI_Query_thread"),
        finalize: function!("MPI_Finalize"),
        comm_rank: function!("MPI_Comm_rank"),
        comm_size: function!("MPI_Comm_size"),
        comm_set_errhandler: function!("MPI_Comm_set_errhandler"),
        error_string: function!("MPI_Error_string"),
        get_library_version: function!("MPI_Get_library_version"),
        isend: function!("MPI_Isend"),
        irecv: function!("MPI_Irecv"),
        test: function!("MPI_Test"),
        handle: PhantomData,
    }))
}

/// Returns a text that MPI wrote, with this length.
fn text(buffer: &[u8], len: c_int) -> String {
    let len = usize::try_from(len).unwrap_or(0).min(buffer.len());
    let written = buffer.get(..len).unwrap_or_default();
    let written = written.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(written).replace(char::is_control, " ").trim().to_owned()
}

impl<H: Handle> Table<H> {
    fn reason(&self, code: c_int) -> String {
        let (mut buffer, mut len) = (vec![0u8; TEXT], 0);
        // SAFETY: the buffer is at least as long as MPI's longest text.
        let done = unsafe { (self.error_string)(code, buffer.as_mut_ptr().cast(), &mut len) };
        match done {
            SUCCESS => text(&buffer, len),
            _ => format!("error {code}"),
        }
    }

    /// Makes functions return errors, which otherwise end the process.
    fn return_errors(&self) -> Result<(), String> {
        let Constants { world, errors_return, .. } = self.constants;
        // SAFETY: MPI has started, and both are its constants.
        let code = unsafe { (self.comm_set_errhandler)(world, errors_return) };
        self.check(code, "MPI_Comm_set_errhandler").map_err(|error| error.to_string())
    }

    fn check(&self, code: c_int, function: &'static str) -> Result<(), CommError> {
        match code {
            SUCCESS => Ok(()),
            code => Err(CommError::Mpi { function, reason: self.reason(code) }),
        }
    }
}

/// Returns a number of MPI, which is not negative.
fn number(value: c_int, function: &'static str) -> Result<usize, CommError> {
    let reason = || format!("it returned {value}");
    usize::try_from(value).map_err(|_| CommError::Mpi { function, reason: reason() })
}

/// Returns a number for MPI.
fn count(value: usize, function: &'static str) -> Result<c_int, CommError> {
    let reason = || format!("{value} is more than it takes");
    c_int::try_from(value).map_err(|_| CommError::Mpi { function, reason: reason() })
}

impl<H: Handle> Calls for Table<H> {
    fn start(&self) -> Result<(), String> {
        let (wanted, mut provided) = (self.constants.serialized, 0);
        let none = ptr::null_mut();
        // SAFETY: MPI allows null pointers in place of a program's arguments.
        let code = unsafe { (self.init_thread)(none, ptr::null_mut(), wanted, &mut provided) };
        if code != SUCCESS {
            return Err(format!("MPI_Init_thread returned {code}"));
        }
        if provided < wanted {
            return Err("it allows one thread alone to communicate".into());
        }
        self.return_errors()
    }

    fn has_started(&self) -> Result<bool, CommError> {
        let mut has_started = 0;
        // SAFETY: MPI allows this call at any time.
        let code = unsafe { (self.initialized)(&mut has_started) };
        self.check(code, "MPI_Initialized")?;
        Ok(has_started != 0)
    }

    fn join(&self) -> Result<(), String> {
        let mut level = 0;
        // SAFETY: MPI has started.
        let code = unsafe { (self.query_thread)(&mut level) };
        self.check(code, "MPI_Query_thread").map_err(|error| error.to_string())?;
        if level < self.constants.multiple {
            let reason = "this process started it for fewer threads than MPI_THREAD_MULTIPLE";
            return Err(reason.into());
        }
        self.return_errors()
    }

    fn finish(&self) {
        // SAFETY: MPI has started, no request is open, and it ends once. After an error, there is nothing to do.
        let _ = unsafe { (self.finalize)() };
    }

    fn rank(&self) -> Result<usize, CommError> {
        let mut rank = 0;
        // SAFETY: MPI has started.
        let code = unsafe { (self.comm_rank)(self.constants.world, &mut rank) };
        self.check(code, "MPI_Comm_rank")?;
        number(rank, "MPI_Comm_rank")
    }

    fn size(&self) -> Result<usize, CommError> {
        let mut size = 0;
        // SAFETY: MPI has started.
        let code = unsafe { (self.comm_size)(self.constants.world, &mut size) };
        self.check(code, "MPI_Comm_size")?;
        number(size, "MPI_Comm_size")
    }

    fn version(&self) -> String {
        let (mut buffer, mut len) = (vec![0u8; TEXT], 0);
        // SAFETY: MPI allows this call at any time; the buffer is at least as long as its longest text.
        let code = unsafe { (self.get_library_version)(buffer.as_mut_ptr().cast(), &mut len) };
        match code {
            // MPICH's has many lines: the first has the version.
            SUCCESS => {
                let first = buffer.split(|&byte| byte == b'\n').next().unwrap_or_default();
                let version = text(first, len);
                version
                    .split(',')
                    .next()
                    .unwrap_or_default()
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            _ => "MPI".into(),
        }
    }

    unsafe fn send(
        &self,
        from: *const u8,
        bytes: usize,
        to: usize,
        tag: c_int,
    ) -> Result<Request, CommError> {
        const NAME: &str = "MPI_Isend";
        let (bytes, to) = (count(bytes, NAME)?, count(to, NAME)?);
        let Constants { world, byte, .. } = self.constants;
        let mut request = H::from_bits(0);
        // SAFETY: MPI has started; the caller's promise for the bytes.
        let code = unsafe { (self.isend)(from.cast(), bytes, byte, to, tag, world, &mut request) };
        self.check(code, NAME)?;
        Ok(Request(request.to_bits()))
    }

    unsafe fn receive(
        &self,
        into: *mut u8,
        bytes: usize,
        from: usize,
        tag: c_int,
    ) -> Result<Request, CommError> {
        const NAME: &str = "MPI_Irecv";
        let (bytes, from) = (count(bytes, NAME)?, count(from, NAME)?);
        let Constants { world, byte, .. } = self.constants;
        let mut request = H::from_bits(0);
        // SAFETY: MPI has started; the caller's promise for the bytes.
        let code =
            unsafe { (self.irecv)(into.cast(), bytes, byte, from, tag, world, &mut request) };
        self.check(code, NAME)?;
        Ok(Request(request.to_bits()))
    }

    fn is_done(&self, request: &mut Request) -> Result<bool, CommError> {
        let (mut handle, mut done) = (H::from_bits(request.0), 0);
        let ignore = self.constants.ignore_status;
        // SAFETY: a request of this library that is not done, which `Request`'s holder guarantees; MPI replaces
        // the handle by its null request when it is done, for which a test is allowed, too.
        let code = unsafe { (self.test)(&mut handle, &mut done, ignore) };
        request.0 = handle.to_bits();
        self.check(code, "MPI_Test")?;
        Ok(done != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_keep_their_bits() {
        for handle in [0x4400_0000, -1, 0, c_int::MIN] {
            assert_eq!(c_int::from_bits(handle.to_bits()), handle);
        }
        assert_eq!(Pointer::from_bits(0x247).to_bits(), 0x247);
    }

    #[test]
    fn texts_end_at_their_length_or_at_a_zero() {
        assert_eq!(text(b"MPICH\0Version", 13), "MPICH");
        assert_eq!(text(b"MPICH Version", 5), "MPICH");
        assert_eq!(text(b"MPICH", -1), "");
        assert_eq!(text(b"MPICH\n", 100), "MPICH");
    }

    #[test]
    fn numbers_that_do_not_fit_are_errors() {
        assert!(count(1 << 31, "MPI_Isend").is_err());
        assert!(number(-1, "MPI_Comm_rank").is_err());
    }
}
