//! Ctrl-C, SIGTERM and SIGHUP: whatever happens ends within a second and leaves no half-written file.
//!
//! A run sees [`requested`] within milliseconds and ends itself, and so does every command between
//! two stages. A stage that does not look (reading, writing) is ended from here.

use ripplet::io::write::remove_unfinished;
use std::io::{Write, stderr};
use std::process::exit;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread::sleep;
use std::time::Duration;
use thiserror::Error;

/// What a stage gets to end by itself.
const GRACE: Duration = Duration::from_millis(400);

static REQUESTED: AtomicBool = AtomicBool::new(false);
static WRITTEN: AtomicBool = AtomicBool::new(false);
/// The last round whose state is kept; 0 where none is.
static KEPT: AtomicUsize = AtomicUsize::new(0);
static SAID: AtomicBool = AtomicBool::new(false);

/// Somebody wants this process to end.
#[derive(Clone, Copy, Debug, Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Begins to listen; `tidy` is called before the last words.
pub fn listen(tidy: fn()) {
    // Where the system refuses a handler, a signal ends the process as it always did.
    let _ = ctrlc::set_handler(move || {
        REQUESTED.store(true, SeqCst);
        sleep(GRACE);
        let _stopped = remove_unfinished();
        tidy();
        say_goodbye();
        exit(1);
    });
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
