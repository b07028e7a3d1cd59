//! An analysis of one graph.

use super::{Choices, Figures, Found, Request};
use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::machine::plan_of_cpu;
use crate::output::written;
use crate::stats::{Bytes, Stages, peak_memory};
use ripplet::LoadOptions;
use ripplet::graph::Graph;
use ripplet::io::write::{Part, Rows, TableShape};
use serde::Serialize;
use std::time::Instant;

/// Rows that are worth a word before they are written.
const MANY_ROWS: u64 = 100_000_000;

impl<C: Serialize> Request<'_, C> {
    /// Asks it of one graph.
    pub(super) fn of_graph(
        &self,
        options: &LoadOptions,
        choices: Choices<'_, C>,
        console: &Console,
    ) -> Result<(), Failure> {
        let values = self.values;
        let loaded = values.load(options, console)?;
        let graph = &loaded.graph;
        let plan = plan_of_cpu(graph, self.analysis.plan(graph, choices.threads));
        if values.is_estimate(graph, &choices, choices.device, &plan)? {
            return Ok(());
        }
        self.announce(graph, console);
        let start = Instant::now();
        let (figures, write) = self.answer(graph, console)?;
        let compute = start.elapsed().as_secs_f64() - write;
        let (read, build) = (loaded.read, loaded.build);
        let seconds = Stages { read, build, compute, write, ..Stages::default() };
        let bytes = Bytes::new(&plan, peak_memory());
        let found = figures.found();
        values.write_stats(graph, &choices, found, seconds, bytes)?;
        let (Found { largest, mean }, place) = (found, values.see());
        console.say(&format!("largest {largest:.6}, mean {mean:.6}, in {compute:.3} s{place}"));
        Ok(())
    }

    /// Writes the answer as it comes; what is told of it, and the seconds of writing.
    fn answer(&self, graph: &Graph, console: &Console) -> Result<(Figures, f64), Failure> {
        let (rows, columns) = (self.analysis.rows(), self.analysis.columns());
        let shape = TableShape { rows, of_batch: false, columns };
        let mut table = self.values.table(shape, console)?;
        let (mut figures, mut seconds) = (Figures::default(), 0.0);
        self.analysis.of_graph(graph, &mut console.watch(), |part, columns| {
            let start = Instant::now();
            let own = match &part {
                Part::Pairs { sources, .. } => sources.len() as u64,
                _ => 0,
            };
            figures.add(columns, own);
            table.append(part, columns)?;
            seconds += start.elapsed().as_secs_f64();
            Ok(())
        })?;
        interrupt::check()?;
        console.stage("finishing the output");
        let start = Instant::now();
        written(table.finish())?;
        Ok((figures, seconds + start.elapsed().as_secs_f64()))
    }

    /// Says how many rows are to come, where they are many.
    fn announce(&self, graph: &Graph, console: &Console) {
        let vertices = u64::from(graph.vertices());
        let rows = vertices * vertices.saturating_sub(1);
        if self.analysis.rows() == Rows::Pairs && rows >= MANY_ROWS {
            console.remark(&format!(
                "{rows} rows are to come, one a pair; --rows vertices or --rows graphs sums them up"
            ));
        }
    }
}
