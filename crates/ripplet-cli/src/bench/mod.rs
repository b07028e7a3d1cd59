//! `ripplet bench`: where a machine's time goes.

mod lp;
mod report;

use crate::console::Console;
use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Measure where the time goes on this machine.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    workload: Workload,
}

/// The benchmark.
#[derive(Subcommand)]
enum Workload {
    Lp(Box<lp::Arguments>),
}

/// Measures.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    match &arguments.workload {
        Workload::Lp(arguments) => lp::run(arguments, console),
    }
}
