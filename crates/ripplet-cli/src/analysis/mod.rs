//! What commands have in common that ask something of a graph, or of each graph of a batch: `closeness`,
//! `harmonic`, `betweenness`, `apsp`.

mod batch;
mod gpu;
mod graph;

pub use batch::BatchArguments;

use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::machine::DeviceArguments;
use crate::values::{ValueArguments, Weights};
use ripplet::analytics::Lengths;
use ripplet::io::write::ColumnData;
use ripplet::swarm::Analysis;
use serde::Serialize;

/// What is asked, of what, and where the answer goes.
pub struct Request<'a, C> {
    /// From where to where.
    pub values: &'a ValueArguments,
    /// Whether of many graphs.
    pub batch: &'a BatchArguments,
    /// Who answers.
    pub device: &'a DeviceArguments,
    /// What is asked.
    pub analysis: Analysis,
    /// What decides the answer, by name.
    pub choices: C,
}

/// What decides an answer or its speed, by name.
#[derive(Debug, Serialize)]
struct Choices<'a, C> {
    #[serde(flatten)]
    of_analysis: &'a C,
    /// Who computes.
    device: String,
    /// Threads of the CPU, which reads and writes whoever computes.
    threads: usize,
}

/// What the length of a way is, by name.
pub fn lengths_name(lengths: Lengths) -> &'static str {
    match lengths {
        Lengths::Hops => "hops",
        Lengths::Weights => "weights",
    }
}

impl<C: Serialize> Request<'_, C> {
    /// Asks, and writes the answer.
    pub fn run(&self, console: &Console) -> Result<Ending, Failure> {
        self.device.check()?;
        let (options, threads) = self.values.start(Weights::Lengths)?;
        if self.batch.is_asked(self.values.input(), &options.read) {
            return self.of_batch(&options, threads, console);
        }
        self.batch.check_unused()?;
        self.of_graph(&options, threads, console)?;
        Ok(Ending::Whole)
    }

    fn choices(&self, device: String, threads: usize) -> Choices<'_, C> {
        Choices { of_analysis: &self.choices, device, threads }
    }
}

/// What is told of an answer: of its first column of numbers, as far as they are finite.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    largest: f64,
    sum: f64,
    count: u64,
}

/// The same, as `--stats` has it.
#[derive(Clone, Copy, Debug, Serialize)]
struct Found {
    largest: f64,
    mean: f64,
}

impl Figures {
    /// Adds values, of which so many are of a vertex and itself: they count for nothing.
    fn add(&mut self, columns: &[ColumnData<'_>], own: u64) {
        let numbers = |column: &ColumnData<'_>| matches!(column, ColumnData::F64(_));
        let Some(ColumnData::F64(values)) = columns.iter().copied().find(numbers) else { return };
        for &value in values.iter().filter(|value| value.is_finite()) {
            self.largest = self.largest.max(value);
            self.sum += value;
            self.count += 1;
        }
        self.count = self.count.saturating_sub(own);
    }

    fn found(self) -> Found {
        Found { largest: self.largest, mean: self.sum / self.count.max(1) as f64 }
    }
}
