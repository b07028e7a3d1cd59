//! The output of an analysis of one graph.

use super::{Figures, Request};
use crate::console::Console;
use crate::failure::Failure;
use crate::output::written;
use crate::values::ValueArguments;
use ripplet::device::peak_memory;
use ripplet::io::write::{ColumnData, Part, TableShape, TableWriter};
use ripplet::swarm::{Analysis, SwarmError};
use std::time::Instant;

/// A table that is written as its rows arrive, by the first of several ranks.
pub struct Output<'a> {
    values: &'a ValueArguments,
    analysis: Analysis,
    is_first: bool,
    console: &'a Console,
    /// The table, once it has begun.
    table: Option<TableWriter>,
    figures: Figures,
    /// The seconds of writing.
    seconds: f64,
    /// The peak memory before the first row is written.
    pub peak: Option<u64>,
}

impl<'a> Output<'a> {
    /// The output of a request; nothing is written yet.
    pub fn new<C>(request: &Request<'a, C>, is_first: bool, console: &'a Console) -> Output<'a> {
        let (table, figures, seconds, peak) = (None, Figures::default(), 0.0, None);
        let (values, analysis) = (request.values, request.analysis);
        Output { values, analysis, is_first, console, table, figures, seconds, peak }
    }

    /// Writes some rows, and adds them to the figures.
    pub fn take(&mut self, part: Part<'_>, columns: &[ColumnData<'_>]) -> Result<(), SwarmError> {
        let start = Instant::now();
        self.peak = self.peak.or_else(peak_memory);
        if !self.is_first {
            return Ok(());
        }
        let mut table = self.table.take().map_or_else(|| self.begin(), Ok)?;
        self.figures.add(&part, columns);
        table.append(part, columns)?;
        self.table = Some(table);
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Completes the table; returns its figures and the seconds of writing.
    pub fn finish(mut self) -> Result<(Figures, f64), Failure> {
        self.console.stage("finishing the output");
        let start = Instant::now();
        written(self.table.take().map_or_else(|| self.begin(), Ok)?.finish())?;
        Ok((self.figures, self.seconds + start.elapsed().as_secs_f64()))
    }

    fn begin(&self) -> Result<TableWriter, SwarmError> {
        let (rows, columns) = (self.analysis.rows(), self.analysis.columns());
        self.values.table(TableShape { rows, of_batch: false, columns }, self.console)
    }
}
