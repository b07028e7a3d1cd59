//! What is said while a command works: a moving line on a terminal, and a last line anywhere.

use crate::failure::Failure;
use crate::interrupt;
use crate::message::{lines, one_line};
use crate::standard_streams;
use indicatif::{ProgressBar, ProgressStyle};
use ripplet::lp::{Keeper, Observer, Round};
use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::OnceLock;
use std::time::Duration;

/// How often the moving line moves.
const TICK: Duration = Duration::from_millis(120);

/// The moving line, where the interrupt finds it.
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// Standard error, unless `--quiet`.
pub struct Console {
    quiet: bool,
    line: Option<ProgressBar>,
}

impl Console {
    /// A console that shows what happens if standard error is a terminal.
    pub fn new(quiet: bool) -> Console {
        let line = (!quiet && stderr().is_terminal()).then(|| {
            let line = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
                line.set_style(style);
            }
            LINE.get_or_init(|| line).clone()
        });
        Console { quiet, line }
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
        Watch { console: self, keeper: None }
    }
}

/// Removes the moving line of whatever command is running.
pub fn clear() {
    if let Some(line) = LINE.get() {
        line.finish_and_clear();
    }
}

/// Prints a result to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    clear();
    standard_streams::check_output().map_err(Failure::Print)?;
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Print)
}

/// Shows a run's rounds, and ends it at an interrupt.
pub struct Watch<'a> {
    console: &'a Console,
    keeper: Option<&'a mut dyn Keeper>,
}

impl<'a> Watch<'a> {
    /// The same for a run whose states are kept.
    pub fn keeping(self, keeper: Option<&'a mut dyn Keeper>) -> Watch<'a> {
        Watch { keeper, ..self }
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
        let (round_number, changed) = (index + 1, round.changed);
        self.console.stage(format!("round {round_number}: {changed} vertices changed"));
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
