//! Messages of a running command: a progress line on a terminal, and lines that stay.

use crate::interrupt;
use crate::message::{lines, one_line};
use indicatif::{ProgressBar, ProgressStyle};
use ripplet::Observer;
use ripplet::lp::{Round, RoundObserver, Stop};
use std::io::{IsTerminal, Write, stderr};
use std::sync::OnceLock;
use std::time::Duration;

/// The interval between updates of the progress line.
const TICK: Duration = Duration::from_millis(120);

/// The progress line, which the interrupt handler removes.
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// Standard error, unless `--quiet`.
pub struct Console {
    quiet: bool,
    verbose: bool,
    /// Whether nothing is printed, not even notes.
    silent: bool,
    line: Option<ProgressBar>,
}

impl Console {
    /// Creates a console, which shows progress if standard error is a terminal.
    pub fn new(quiet: bool, verbose: bool) -> Console {
        let line = (!quiet && stderr().is_terminal()).then(|| {
            let line = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
                line.set_style(style);
            }
            LINE.get_or_init(|| line).clone()
        });
        Console { quiet, verbose, silent: false, line }
    }

    /// Creates a console that prints nothing: another process does.
    pub fn silent() -> Console {
        Console { quiet: true, verbose: false, silent: true, line: None }
    }

    /// Returns whether only errors and notes are printed.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Shows the current stage of the run.
    pub fn stage(&self, what: impl Into<String>) {
        if let Some(line) = &self.line {
            line.set_message(one_line(&what.into()));
            line.enable_steady_tick(TICK);
        }
    }

    /// Prints a line.
    pub fn say(&self, what: &str) {
        self.close();
        if !self.quiet {
            // If standard error is closed, the line is lost.
            let _ = writeln!(stderr(), "{}", lines(what));
        }
    }

    /// Prints a remark on how a result was computed.
    pub fn remark(&self, what: &str) {
        if !self.quiet {
            self.note(what);
        }
    }

    /// Prints a detail, with `--verbose`.
    pub fn detail(&self, what: &str) {
        if self.verbose {
            self.note(what);
        }
    }

    /// Prints a note, also with `--quiet`.
    pub fn note(&self, what: &str) {
        if self.silent {
            return;
        }
        let note = || {
            // If standard error is closed, the line is lost.
            let _ = writeln!(stderr(), "note: {}", one_line(what));
        };
        match &self.line {
            Some(line) => line.suspend(note),
            None => note(),
        }
    }

    /// Removes the progress line.
    pub fn close(&self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }

    /// Returns a watcher of a run, which shows its rounds and ends it at an interrupt.
    pub fn watch(&self) -> Watch<'_> {
        Watch { console: self, progress: Progress::default() }
    }
}

/// Removes the progress line of the running command.
pub fn clear() {
    if let Some(line) = LINE.get() {
        line.finish_and_clear();
    }
}

/// Shows a run's rounds, and ends it at an interrupt.
pub struct Watch<'a> {
    console: &'a Console,
    progress: Progress,
}

impl<'a> Watch<'a> {
    /// Sets the stopping rule and the number of vertices, from which the rest of the run is estimated.
    pub fn until(self, stop: Stop, vertices: u32) -> Watch<'a> {
        let progress = Progress { until: Some((stop, vertices)), ..Progress::default() };
        Watch { progress, ..self }
    }

    /// Shows the current stage of the run.
    pub fn show(&self, what: String) {
        self.console.stage(what);
    }
}

impl Observer for Watch<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.console.stage(name);
    }

    fn on_progress(&self, done: f64) {
        self.console.stage(format!("{:.0} % done", 100.0 * done));
    }

    fn is_cancelled(&self) -> bool {
        interrupt::requested()
    }
}

impl RoundObserver for Watch<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.console.stage(self.progress.after(index, round));
    }
}

/// The progress of a run.
#[derive(Default)]
struct Progress {
    until: Option<(Stop, u32)>,
    /// The number of vertices that changed in the round before.
    before: Option<u64>,
}

impl Progress {
    /// Returns the line after a round: its number, changes and speed, and an estimate of the time left.
    fn after(&mut self, index: usize, round: &Round) -> String {
        let Round { changed, scanned, seconds, .. } = *round;
        let most = self.until.as_ref().and_then(|(stop, _)| stop.max_rounds());
        let of = most.map_or_else(String::new, |most| format!(" of {most}"));
        let mut line = format!("round {}{of}: {changed} vertices changed", index + 1);
        if seconds > 0.0 && scanned > 0 {
            line += &format!(", {:.1} M arcs/s", scanned as f64 / seconds / 1e6);
        }
        if let Some(left) = self.rounds_left(index, changed) {
            line += &format!(", about {:.0} s left", (left * seconds).ceil());
        }
        self.before = Some(changed);
        line
    }

    /// Estimates the number of rounds left, if changes continue to fall by the factor of this round; at most the
    /// number that the stopping rule allows.
    fn rounds_left(&self, index: usize, changed: u64) -> Option<f64> {
        let (stop, vertices) = self.until.as_ref()?;
        let most = f64::from(stop.max_rounds()?) - (index + 1) as f64;
        let enough = (stop.tolerance().unwrap_or(0.0) * f64::from(*vertices)).max(1.0);
        let shrinks = self.before? as f64 / changed.max(1) as f64;
        let left = match shrinks > 1.0 {
            true => (changed as f64 / enough).max(1.0).ln() / shrinks.ln(),
            false => most,
        };
        Some(left.min(most).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_says_how_far_the_run_is() {
        let round = |changed, seconds| Round {
            changed,
            visited: 0,
            scanned: 4_000_000,
            nan_scores: 0,
            fingerprint: None,
            seconds,
        };
        let stop = Stop::default();
        let most = stop.max_rounds().unwrap();
        let mut progress = Progress { until: Some((stop.clone(), 1_000_000)), before: None };
        let first = format!("round 1 of {most}: 800000 vertices changed, 2.0 M arcs/s");
        assert_eq!(progress.after(0, &round(800_000, 2.0)), first);
        // Halving each time: log2 of what is left over the tolerance.
        let enough = stop.tolerance().unwrap_or(0.0) * 1e6;
        let seconds = ((400_000.0 / enough).log2() * 2.0).ceil();
        let second = progress.after(1, &round(400_000, 2.0));
        assert!(second.ends_with(&format!(", about {seconds:.0} s left")), "{second}");
        // If the number of changes does not fall, all rounds may be needed.
        let third = progress.after(2, &round(400_000, 1.0));
        assert!(third.ends_with(&format!(", about {} s left", most - 3)), "{third}");
        assert_eq!(Progress::default().after(0, &round(5, 0.0)), "round 1: 5 vertices changed");
    }
}
