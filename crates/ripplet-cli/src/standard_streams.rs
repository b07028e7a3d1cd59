//! Standard input and output, and whether they were closed before this process began (`<&-`, `>&-`).
//!
//! Rust's runtime opens `/dev/null` for standard streams that are closed, before `main`: what is written
//! there would vanish without an error, and what is read would be empty. Whether one was closed has to be
//! seen before that.

use std::io::{Error, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Standard input or output, by name.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

static INPUT_CLOSED: AtomicBool = AtomicBool::new(false);
static OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns an error if standard input was closed when this process began.
pub fn check_input() -> Result<(), Error> {
    check(&INPUT_CLOSED, "standard input is closed")
}

/// Returns an error if standard output was closed when this process began.
pub fn check_output() -> Result<(), Error> {
    check(&OUTPUT_CLOSED, "it is closed")
}

fn check(closed: &AtomicBool, sentence: &str) -> Result<(), Error> {
    match closed.load(Relaxed) {
        true => Err(Error::new(ErrorKind::NotConnected, sentence)),
        false => Ok(()),
    }
}

/// Opens `/dev/null` for standard streams that are closed, as Rust's runtime does before `main`: another file would
/// otherwise get the number of one, and what is printed.
#[cfg(unix)]
pub fn open_closed() {
    for number in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: asks for the flags of a descriptor by its number. A file that is opened gets the lowest number that is
        // free, which is this one, since those below it are open by now.
        unsafe {
            if libc::fcntl(number, libc::F_GETFD) == -1 {
                libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
            }
        }
    }
}

/// Other systems have no numbers that files could get.
#[cfg(not(unix))]
pub fn open_closed() {}

/// Called by the loader, before Rust's runtime.
#[cfg(unix)]
extern "C" fn look() {
    for (number, closed) in
        [(libc::STDIN_FILENO, &INPUT_CLOSED), (libc::STDOUT_FILENO, &OUTPUT_CLOSED)]
    {
        // SAFETY: asks for the flags of a descriptor by its number, and reads and writes no memory of ours.
        let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
        closed.store(flags == -1, Relaxed);
    }
}

// SAFETY: the section is the list of functions of this type that the loader calls before `main`; `look` needs
// nothing that is set up later.
#[cfg(unix)]
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;
