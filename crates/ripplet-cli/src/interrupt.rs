//! Ctrl-C, SIGTERM and SIGHUP: whatever happens ends within a second and leaves no half-written file.
//!
//! A run sees [`requested`] within milliseconds and ends itself, and so does every command between
//! two stages. A stage that does not look (reading, writing) is ended from here.

use crate::{console, failure::Failure};
use ripplet::io::write::remove_unfinished;
use std::io::{Write, stderr};
use std::process::exit;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::sleep;
use std::time::Duration;

/// What a stage gets to end by itself.
const GRACE: Duration = Duration::from_millis(400);

static REQUESTED: AtomicBool = AtomicBool::new(false);
static WRITTEN: AtomicBool = AtomicBool::new(false);
static SAID: AtomicBool = AtomicBool::new(false);

/// Begins to listen.
pub fn listen() {
    // Where the system refuses a handler, a signal ends the process as it always did.
    let _ = ctrlc::set_handler(|| {
        REQUESTED.store(true, SeqCst);
        sleep(GRACE);
        let _stopped = remove_unfinished();
        console::clear();
        say_goodbye();
        exit(1);
    });
}

/// Whether somebody wants this process to end.
pub fn requested() -> bool {
    REQUESTED.load(SeqCst)
}

/// Between two stages: ends the command where somebody wants that.
pub fn check() -> Result<(), Failure> {
    if requested() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Notes that an output is whole, for the last words.
pub fn has_written() {
    WRITTEN.store(true, SeqCst);
}

/// The last words, once.
pub fn say_goodbye() {
    if !SAID.swap(true, SeqCst) {
        let what = match WRITTEN.load(SeqCst) {
            false => "nothing was written",
            true => "what was written before is whole",
        };
        // Where nobody listens to standard error, the exit code has to do.
        let _ = writeln!(stderr(), "interrupted; {what}");
    }
}
