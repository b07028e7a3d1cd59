//! Ctrl-C, SIGTERM and SIGHUP: a command ends within a second and leaves no half-written file.
//!
//! A run checks [`requested`] every few milliseconds, and every command between
//! two stages. A stage without checks (reading, writing) is ended from here. The exit code is 128 plus the
//! signal's number, as in shells: 130 after Ctrl-C, 143 after SIGTERM.

use crate::exit_status::ExitStatus;
use ripplet::io::write::remove_unfinished;
use std::io::{Write, stderr};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize};
use std::thread::sleep;
use std::time::Duration;
use thiserror::Error;

/// The signal of a closed terminal.
const SIGHUP: i32 = 1;
/// The default signal of `kill`.
const SIGTERM: i32 = 15;

/// The time that a stage has to end by itself.
const GRACE: Duration = Duration::from_millis(400);

static REQUESTED: AtomicBool = AtomicBool::new(false);
static WRITTEN: AtomicBool = AtomicBool::new(false);
/// The last round with a checkpoint; 0 if there is none.
static KEPT: AtomicUsize = AtomicUsize::new(0);
/// Whether the run keeps the windows that it has finished, in a folder.
static KEEPS_WINDOWS: AtomicBool = AtomicBool::new(false);
/// Whether a launcher may kill the process soon after the first signal, so that unfinished files are removed at once.
static HURRIES: AtomicBool = AtomicBool::new(false);
/// The first signal; 0 before.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static SAID: AtomicBool = AtomicBool::new(false);

/// The error of a command that a signal ended.
#[derive(Clone, Copy, Debug, Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Installs the handlers; `tidy` is called before the last message, and `leave` ends the process.
pub fn listen(tidy: fn(), leave: fn(ExitStatus) -> !) {
    // If the system refuses a handler, the default action of the signal remains.
    let _ = signals::on_any(move || {
        REQUESTED.store(true, SeqCst);
        if !HURRIES.load(SeqCst) {
            sleep(GRACE);
        }
        let _stopped = remove_unfinished();
        tidy();
        print_last_message();
        leave(status());
    });
}

/// Returns the exit status after a signal.
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

    /// SIGINT comes last: if it is caught, all of them are.
    const SIGNALS: [c_int; 3] = [libc::SIGHUP, libc::SIGTERM, libc::SIGINT];

    /// The end of a pipe that wakes the thread.
    static WAKE: AtomicI32 = AtomicI32::new(-1);

    /// Calls `act` on a separate thread after the first signal. Signals that this process ignored from its start, as
    /// under `nohup`, stay ignored.
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
        // SAFETY: a signal is ignored: then a file that reaches the size limit is an error of the write, and no end
        // of the process.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
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

/// Other systems have Ctrl-C alone.
#[cfg(not(unix))]
mod signals {
    pub fn on_any(act: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
        ctrlc::set_handler(act)
    }
}

/// Returns whether a signal has requested the end of the process.
pub fn requested() -> bool {
    REQUESTED.load(SeqCst)
}

/// Ends the command between two stages if a signal has requested it.
pub fn check() -> Result<(), Interrupted> {
    if requested() { Err(Interrupted) } else { Ok(()) }
}

/// Records for the last message that an output is complete.
pub fn has_written() {
    WRITTEN.store(true, SeqCst);
}

/// Records for the last message that a run can resume after round `rounds`.
pub fn has_kept(rounds: usize) {
    KEPT.store(rounds, SeqCst);
}

/// Returns the last round with a checkpoint; 0 if there is none.
pub fn kept() -> usize {
    KEPT.load(SeqCst)
}

/// Removes unfinished files without delay after a signal: a launcher kills all ranks a quarter of a second after it.
pub fn hurry() {
    HURRIES.store(true, SeqCst);
}

/// Says that the run keeps the windows that it has finished.
pub fn keep_windows() {
    KEEPS_WINDOWS.store(true, SeqCst);
}

/// Returns whether the run keeps windows.
pub fn has_windows() -> bool {
    KEEPS_WINDOWS.load(SeqCst)
}

/// Leaves the last message to another process.
pub fn silence() {
    SAID.store(true, SeqCst);
}

/// Prints the last message, once.
pub fn print_last_message() {
    if !SAID.swap(true, SeqCst) {
        let what = match WRITTEN.load(SeqCst) {
            false => "nothing was written",
            true => "what was written before is whole",
        };
        // If standard error is closed, the exit code is the only report.
        let _ = match KEPT.load(SeqCst) {
            0 => writeln!(stderr(), "interrupted; {what}"),
            round => {
                writeln!(stderr(), "interrupted; {what}; the run can --resume after round {round}")
            }
        };
    }
}
