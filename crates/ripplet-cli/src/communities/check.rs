//! Checked mode: tests a program's promises before the run.

use super::Work;
use crate::failure::Failure;
use ripplet::lp::DynProgram;
use ripplet::lp::check::{CheckError, Promise, SAMPLE, check_program};

impl Work<'_> {
    /// Tests the program's promises, if asked to, on the CPU.
    pub(super) fn check(&self, program: &dyn DynProgram) -> Result<(), Failure> {
        if !self.job.checks_program {
            return Ok(());
        }
        self.console.stage("checking the program");
        let settings = self.settings.borrow();
        let watch = self.console.watch();
        match check_program(self.graph, program, &settings, SAMPLE, &watch) {
            Ok(checked) => {
                self.console.remark(&format!(
                    "no broken promise found at {} vertices with {} labels",
                    checked.vertices, checked.candidates
                ));
                Ok(())
            }
            Err(CheckError::Run(error)) => Err(error.into()),
            Err(CheckError::Broken(broken)) => {
                let ids = self.graph.ids();
                let sentence = broken.describe(|v| ids.get(v).to_string());
                let meaning = broken.promise.meaning();
                let help = match broken.promise {
                    Promise::Pure(_) => {
                        format!("{meaning}: write it as a function of its arguments")
                    }
                    _ => format!(
                        "by its promise, {meaning}: leave the promise out, or mend the hooks"
                    ),
                };
                Err(Failure::refused(sentence, help))
            }
        }
    }
}
