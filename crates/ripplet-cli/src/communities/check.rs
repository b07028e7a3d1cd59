//! Checked mode: tests a program's promises before the run.

use crate::console::Console;
use crate::failure::Failure;
use ripplet::graph::GraphView;
use ripplet::lp::check::{CheckError, Promise, SAMPLE, check_program};
use ripplet::lp::{DynProgram, Settings};

/// Tests the program's promises on a sample of the graph, on the CPU.
pub fn check(
    program: &dyn DynProgram,
    graph: GraphView<'_>,
    settings: &Settings,
    console: &Console,
) -> Result<(), Failure> {
    console.stage("checking the program");
    let watch = console.watch();
    match check_program(graph, program, settings, SAMPLE, &watch) {
        Ok(checked) => {
            console.remark(&format!(
                "no broken promise found at {} vertices with {} labels",
                checked.vertices, checked.candidates
            ));
            Ok(())
        }
        Err(CheckError::Run(error)) => Err(error.into()),
        Err(CheckError::Broken(broken)) => {
            let ids = graph.ids();
            let sentence = broken.describe(|v| ids.get(v).to_string());
            let meaning = broken.promise.meaning();
            let help = match broken.promise {
                Promise::Pure(_) => {
                    format!("{meaning}: write it as a function of its arguments")
                }
                _ => format!("by its promise, {meaning}: leave the promise out, or mend the hooks"),
            };
            Err(Failure::refused(sentence, help))
        }
    }
}
