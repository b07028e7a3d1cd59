//! `--estimate`: the plan of a run, printed instead of the run.

use crate::failure::Failure;
use crate::output::{json, print};
use crate::stats::{Estimate, Shape};
use clap::{Args, ValueEnum};
use ripplet::graph::GraphView;
use ripplet::lp::Plan;
use serde::Serialize;

/// The option `--estimate`.
#[derive(Args)]
#[command(next_help_heading = "Running")]
pub struct EstimateArguments {
    /// Read the graph, print the memory that the run will need with it, and stop.
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text"
    )]
    pub estimate: Option<EstimateForm>,
}

/// The format of `--estimate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EstimateForm {
    /// Lines for a person
    Text,
    /// For a program
    Json,
}

impl EstimateForm {
    /// Prints the plan of a run with these choices; `device` is what would compute.
    pub fn print<'g>(
        self,
        graph: impl Into<GraphView<'g>>,
        choices: impl Serialize,
        device: &str,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let estimate = Estimate::new(Shape::of(graph), choices, plan);
        self.print_as(&estimate, || estimate.lines(device))
    }

    /// Prints an estimate; `lines` are those for a person.
    pub fn print_as(
        self,
        estimate: &impl Serialize,
        lines: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        print(&match self {
            EstimateForm::Text => lines(),
            EstimateForm::Json => json(estimate),
        })
    }
}
