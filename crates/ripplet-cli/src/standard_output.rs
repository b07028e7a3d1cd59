//! Standard output, and whether it was closed before this process began (`>&-`).
//!
//! Rust's runtime opens `/dev/null` for standard streams that are closed, before `main`, so that what is
//! written there would vanish without an error. Whether one was closed has to be seen before that.

use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns an error if standard output was closed when this process began.
pub fn check() -> Result<(), Error> {
    match CLOSED.load(Relaxed) {
        true => Err(Error::new(ErrorKind::NotConnected, "it is closed")),
        false => Ok(()),
    }
}

/// Called by the loader, before Rust's runtime.
#[cfg(unix)]
extern "C" fn look() {
    // SAFETY: asks for the flags of a descriptor by its number, and reads and writes no memory of ours.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags == -1, Relaxed);
}

// SAFETY: the section is the list of functions of this type that the loader calls before `main`; `look` needs
// nothing that is set up later.
#[cfg(unix)]
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;
