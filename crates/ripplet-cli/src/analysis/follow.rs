//! An analysis of one graph as the command follows it: notes, the limit of memory, and errors in the words of its options.

use crate::console::{Console, Watch};
use crate::device::note_fallback;
use crate::failure::Failure;
use crate::ranks::Ranks;
use crate::values::ValueArguments;
use ripplet::Observer;
use ripplet::analyses::{AnalyseError, AnalysisObserver};
use ripplet::device::Fallback;
use ripplet::lp::Plan;
use ripplet::ranks::SharedComm;
use std::convert::Infallible;

/// Observer of an analysis: refuses a plan that exceeds the limit, and prints what the run decides.
pub struct Follow<'a> {
    values: &'a ValueArguments,
    pub ranks: &'a Ranks,
    pub console: &'a Console,
    /// The remark that a large number of rows is to come.
    many_rows: Option<String>,
    watch: Watch<'a>,
    /// The refusal of a plan.
    refused: Option<Failure>,
}

impl<'a> Follow<'a> {
    /// Follows an analysis, and prints `many_rows` before it begins on the CPU.
    pub fn new(
        values: &'a ValueArguments,
        ranks: &'a Ranks,
        many_rows: Option<String>,
        console: &'a Console,
    ) -> Follow<'a> {
        Follow { values, ranks, console, many_rows, watch: console.watch(), refused: None }
    }

    /// Returns the failure of the command after an error of the run.
    pub fn failure(&mut self, error: AnalyseError) -> Failure {
        match (self.refused.take(), error) {
            (Some(refused), _) => refused,
            // All ranks have this error.
            (None, error @ AnalyseError::Ranks(_)) => {
                let Err(failure) = self.ranks.agree(Err::<Infallible, _>(error.into()));
                failure
            }
            (None, error) => error.into(),
        }
    }
}

impl Observer for Follow<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.watch.on_stage(name);
    }

    fn on_progress(&self, done: f64) {
        self.watch.on_progress(done);
    }

    fn is_cancelled(&self) -> bool {
        self.watch.is_cancelled()
    }
}

impl AnalysisObserver for Follow<'_> {
    fn allows(&mut self, plan: &Plan, device: &str) -> bool {
        self.refused = self.ranks.agree(self.values.check_plan(plan)).err();
        let is_allowed = self.refused.is_none();
        if let Some(many_rows) = self.many_rows.as_ref().filter(|_| is_allowed && device == "cpu") {
            self.console.remark(many_rows);
        }
        is_allowed
    }

    fn on_fallback(&mut self, fallback: Fallback, error: AnalyseError) {
        let reason = self.failure(error).to_string();
        note_fallback(&Fallback { reason, ..fallback }, self.console);
    }

    fn on_device_note(&mut self, note: String) {
        self.console.remark(&note);
    }

    /// Leaves the communicator open: [`Ranks::end`] reports the error before it ends the others.
    fn on_failure(&mut self, _: &SharedComm, _: &AnalyseError) {}
}
