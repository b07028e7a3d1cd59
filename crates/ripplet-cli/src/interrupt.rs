//! Ctrl-C, SIGTERM and SIGHUP: whatever happens ends within a second and leaves no half-written file.
//!
//! A run sees [`requested`] within milliseconds and ends itself, and so does every command between
//! two stages. A stage that does not look (reading, writing) is ended from here. The exit code is 128 and the
//! signal's number, as shells have it: 130 after Ctrl-C, 143 after SIGTERM.

use crate::exit_status::ExitStatus;
use ripplet::io::write::remove_unfinished;
use std::io::{Write, stderr};
use std::process::exit;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize};
use std::thread::sleep;
use std::time::Duration;
use thiserror::Error;

/// The terminal is gone.
const SIGHUP: i32 = 1;
/// `kill` without a number.
const SIGTERM: i32 = 15;

/// What a stage gets to end by itself.
const GRACE: Duration = Duration::from_millis(400);

static REQUESTED: AtomicBool = AtomicBool::new(false);
static WRITTEN: AtomicBool = AtomicBool::new(false);
/// The last round whose state is kept; 0 where none is.
static KEPT: AtomicUsize = AtomicUsize::new(0);
/// The first signal that came; 0 before.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static SAID: AtomicBool = AtomicBool::new(false);

/// Somebody wants this process to end.
#[derive(Clone, Copy, Debug, Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Begins to listen; `tidy` is called before the last words.
pub fn listen(tidy: fn()) {
    // Where the system refuses a handler, a signal ends the process as it always did.
    let _ = signals::on_any(move || {
        REQUESTED.store(true, SeqCst);
        sleep(GRACE);
        let _stopped = remove_unfinished();
        tidy();
        say_goodbye();
        exit(i32::from(status().code()));
    });
}

/// How a process ends that a signal ended.
pub fn status() -> ExitStatus {
    match SIGNAL.load(SeqCst) {
        SIGHUP => ExitStatus::HungUp,
        SIGTERM => ExitStatus::Terminated,
        _ => ExitStatus::Interrupted,
    }
}

/// Signals that end a process, and a thread that waits for them.
#[cfg(unix)]
mod signals {
    use super::SIGNAL;
    use libc::{c_int, c_void, sigaction, sighandler_t};
    use std::io::{Error, Result};
    use std::mem::zeroed;
    use std::ptr::{null, null_mut};
    use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

    /// Ctrl-C's comes last: whoever sees that it is caught knows that all are.
    const SIGNALS: [c_int; 3] = [libc::SIGHUP, libc::SIGTERM, libc::SIGINT];

    /// The end of a pipe that wakes the thread.
    static WAKE: AtomicI32 = AtomicI32::new(-1);

    /// Calls `act` on a thread of its own after the first signal. Signals that whoever started this process wants
    /// to be ignored, as `nohup` does, stay so.
    pub fn on_any(act: impl FnOnce() + Send + 'static) -> Result<()> {
        let mut ends = [0; 2];
        // SAFETY: the system writes two descriptors into an array of two.
        if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
            return Err(Error::last_os_error());
        }
        let [read, write] = ends;
        for end in ends {
            // SAFETY: a flag of a descriptor that was just made: programs that are started do not get it.
            unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        let wait = move || {
            let mut byte = 0u8;
            // SAFETY: the system writes at most one byte to where there is one. The pipe is never closed.
            while unsafe { libc::read(read, (&raw mut byte).cast::<c_void>(), 1) } != 1 {}
            act();
        };
        std::thread::Builder::new().name("signals".into()).spawn(wait)?;
        WAKE.store(write, SeqCst);
        for signal in SIGNALS {
            // SAFETY: all zeros is a `sigaction`, which the system fills with what there is; then it gets a handler
            // of the type that goes without `SA_SIGINFO`.
            unsafe {
                let mut action: sigaction = zeroed();
                if sigaction(signal, null(), &mut action) != 0
                    || action.sa_sigaction == libc::SIG_IGN
                {
                    continue;
                }
                action = zeroed();
                action.sa_sigaction = note as extern "C" fn(c_int) as sighandler_t;
                action.sa_flags = libc::SA_RESTART;
                sigaction(signal, &action, null_mut());
            }
        }
        Ok(())
    }

    /// Notes the first signal and wakes the thread: two things that are allowed whatever was interrupted.
    extern "C" fn note(signal: c_int) {
        if SIGNAL.compare_exchange(0, signal, SeqCst, SeqCst).is_ok() {
            // SAFETY: one byte from where there is one; the place of the last error is put back.
            unsafe {
                let before = *errno();
                libc::write(WAKE.load(SeqCst), (&raw const WAKE).cast::<c_void>(), 1);
                *errno() = before;
            }
        }
    }

    #[cfg(not(target_vendor = "apple"))]
    use libc::__errno_location as errno;
    #[cfg(target_vendor = "apple")]
    use libc::__error as errno;
}

/// Elsewhere there is Ctrl-C alone.
#[cfg(not(unix))]
mod signals {
    pub fn on_any(act: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
        ctrlc::set_handler(act)
    }
}

/// Whether somebody wants this process to end.
pub fn requested() -> bool {
    REQUESTED.load(SeqCst)
}

/// Between two stages: ends the command where somebody wants that.
pub fn check() -> Result<(), Interrupted> {
    if requested() { Err(Interrupted) } else { Ok(()) }
}

/// Notes that an output is whole, for the last words.
pub fn has_written() {
    WRITTEN.store(true, SeqCst);
}

/// Notes that a run can go on after so many rounds, for the last words.
pub fn has_kept(rounds: usize) {
    KEPT.store(rounds, SeqCst);
}

/// The last words, once.
pub fn say_goodbye() {
    if !SAID.swap(true, SeqCst) {
        let what = match WRITTEN.load(SeqCst) {
            false => "nothing was written",
            true => "what was written before is whole",
        };
        // Where nobody listens to standard error, the exit code has to do.
        let _ = match KEPT.load(SeqCst) {
            0 => writeln!(stderr(), "interrupted; {what}"),
            round => {
                writeln!(stderr(), "interrupted; {what}; the run can --resume after round {round}")
            }
        };
    }
}
