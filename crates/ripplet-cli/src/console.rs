//! What is said while a command works: a moving line on a terminal, and a last line anywhere.

use crate::interrupt;
use crate::message::{lines, one_line};
use indicatif::{ProgressBar, ProgressStyle};
use ripplet::lp::{Keeper, Observer, Round, Stop};
use std::io::{IsTerminal, Write, stderr};
use std::sync::OnceLock;
use std::time::Duration;

/// How often the moving line moves.
const TICK: Duration = Duration::from_millis(120);

/// The moving line, where the interrupt finds it.
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// Standard error, unless `--quiet`.
pub struct Console {
    quiet: bool,
    verbose: bool,
    line: Option<ProgressBar>,
}

impl Console {
    /// A console that shows what happens if standard error is a terminal.
    pub fn new(quiet: bool, verbose: bool) -> Console {
        let line = (!quiet && stderr().is_terminal()).then(|| {
            let line = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
                line.set_style(style);
            }
            LINE.get_or_init(|| line).clone()
        });
        Console { quiet, verbose, line }
    }

    /// Whether only errors are said.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// What is being done now.
    pub fn stage(&self, what: impl Into<String>) {
        if let Some(line) = &self.line {
            line.set_message(one_line(&what.into()));
            line.enable_steady_tick(TICK);
        }
    }

    /// A line that stays.
    pub fn say(&self, what: &str) {
        self.close();
        if !self.quiet {
            // Where nobody listens to standard error, nobody misses this.
            let _ = writeln!(stderr(), "{}", lines(what));
        }
    }

    /// A line about how it was done; the outcome is what was asked for.
    pub fn remark(&self, what: &str) {
        if !self.quiet {
            self.note(what);
        }
    }

    /// A line about what was chosen, for those who ask.
    pub fn detail(&self, what: &str) {
        if self.verbose {
            self.note(what);
        }
    }

    /// A line about what else should be known; said even where only errors are.
    pub fn note(&self, what: &str) {
        let note = || {
            // Where nobody listens to standard error, nobody misses this.
            let _ = writeln!(stderr(), "note: {}", one_line(what));
        };
        match &self.line {
            Some(line) => line.suspend(note),
            None => note(),
        }
    }

    /// Removes the moving line.
    pub fn close(&self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }

    /// The watcher of a run: shows its rounds, and ends it at an interrupt.
    pub fn watch(&self) -> Watch<'_> {
        Watch { console: self, keeper: None, progress: Progress::default() }
    }
}

/// Removes the moving line of whatever command is running.
pub fn clear() {
    if let Some(line) = LINE.get() {
        line.finish_and_clear();
    }
}

/// Shows a run's rounds, and ends it at an interrupt.
pub struct Watch<'a> {
    console: &'a Console,
    keeper: Option<&'a mut dyn Keeper>,
    progress: Progress,
}

impl<'a> Watch<'a> {
    /// The same for a run whose states are kept.
    pub fn keeping(self, keeper: Option<&'a mut dyn Keeper>) -> Watch<'a> {
        Watch { keeper, ..self }
    }

    /// The same for a run that stops by this rule, on so many vertices.
    pub fn until(self, stop: Stop, vertices: u32) -> Watch<'a> {
        let progress = Progress { until: Some((stop, vertices)), ..Progress::default() };
        Watch { progress, ..self }
    }

    /// What is being done now.
    pub fn show(&self, what: String) {
        self.console.stage(what);
    }
}

impl Observer for Watch<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.console.stage(name);
    }

    fn on_round(&mut self, index: usize, round: &Round) {
        self.console.stage(self.progress.after(index, round));
    }

    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        match &mut self.keeper {
            Some(keeper) => Some(&mut **keeper),
            None => None,
        }
    }

    fn is_cancelled(&self) -> bool {
        interrupt::requested()
    }
}

/// How far a run is.
#[derive(Default)]
struct Progress {
    until: Option<(Stop, u32)>,
    /// How many vertices changed in the round before.
    before: Option<u64>,
}

impl Progress {
    /// What is said after a round: its number, what it did and how fast, and about how long it will go on.
    fn after(&mut self, index: usize, round: &Round) -> String {
        let Round { changed, scanned, seconds, .. } = *round;
        let of =
            self.until.map_or_else(String::new, |(stop, _)| format!(" of {}", stop.max_rounds()));
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

    /// About how many rounds are left, where each changes as much less than the one before as this one did, and at
    /// most so many as are allowed.
    fn rounds_left(&self, index: usize, changed: u64) -> Option<f64> {
        let (stop, vertices) = self.until?;
        let most = f64::from(stop.max_rounds()) - (index + 1) as f64;
        let enough = (stop.tolerance().unwrap_or(0.0) * f64::from(vertices)).max(1.0);
        let shrinks = self.before? as f64 / changed.max(1) as f64;
        let left = match shrinks > 1.0 {
            true => (changed as f64 / enough).max(1.0).ln() / shrinks.ln(),
            false => most,
        };
        Some(left.min(most).max(0.0))
    }
}

impl ripplet::analytics::Observer for Watch<'_> {
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
        let most = stop.max_rounds();
        let mut progress = Progress { until: Some((stop, 1_000_000)), before: None };
        let first = format!("round 1 of {most}: 800000 vertices changed, 2.0 M arcs/s");
        assert_eq!(progress.after(0, &round(800_000, 2.0)), first);
        // Halving each time: log2 of what is left over the tolerance.
        let enough = stop.tolerance().unwrap_or(0.0) * 1e6;
        let seconds = ((400_000.0 / enough).log2() * 2.0).ceil();
        let second = progress.after(1, &round(400_000, 2.0));
        assert!(second.ends_with(&format!(", about {seconds:.0} s left")), "{second}");
        // What does not shrink may take all rounds.
        let third = progress.after(2, &round(400_000, 1.0));
        assert!(third.ends_with(&format!(", about {} s left", most - 3)), "{third}");
        assert_eq!(Progress::default().after(0, &round(5, 0.0)), "round 1: 5 vertices changed");
    }
}
