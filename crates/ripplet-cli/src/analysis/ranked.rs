//! An analysis of one graph, on ranks that share it.

use super::{Choices, Listed, Request};
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::on_ranks::{RankRun, start};
use crate::ranks::{Ranks, not_on_ranks};
use crate::stats::{Bytes, Stages};
use crate::values::OfRanks;
use ripplet::analytics::AnalysisError;
use ripplet::analytics::pagerank::Jumps;
use ripplet::device::{peak_memory, plan_on_cpu};
use ripplet::io::write::{ColumnData, Subject};
use ripplet::lp::Plan;
use ripplet::swarm::{Analysis, Answer, Column, SwarmError};
use serde::Serialize;
use std::cell::Cell;
use std::time::Instant;

/// What a rank has when the computation ends.
struct Computed<'a, C> {
    choices: Choices<'a, C>,
    plan: Plan,
    answer: Answer,
    seconds: f64,
    of_ranks: Option<OfRanks>,
}

impl<C: Serialize> Request<'_, C> {
    /// Runs the analysis together with other ranks, of which the first one writes.
    pub(super) fn on_ranks(&self, ranks: &Ranks, console: &Console) -> Result<Ending, Failure> {
        let reading = (self.weights, self.listed.map(Listed::path));
        let (options, threads) = start(ranks, self.values, self.device, reading, console)?;
        self.say_lengths(console);
        if self.batch.is_asked(self.values.input(), &options.read) {
            ranks.agree(self.check_batch())?;
            return self.of_batch(ranks, &options, threads, console);
        }
        ranks.agree(self.batch.check_unused().and_then(|()| self.check_graph_on_ranks()))?;
        let (loading, with_ids) = ((&options, threads), self.listed.is_some());
        let run = RankRun::load(ranks, self.values, loading, with_ids, console)?;
        let graph = run.graph();
        let chosen = ranks.agree(self.chosen(graph, console))?;
        let jumps = chosen.jumps();
        let identity = jumps.map_or(0, Jumps::identity);
        ranks.agree(ranks.compare("vertices to jump to", &[identity]))?;
        let plan = self.analysis.plan_on_ranks(graph, run.own.clone(), jumps);
        let plan = plan_on_cpu(graph, ranks.agree(plan.map_err(Failure::from))?);
        let choices = self.choices(graph.into(), "cpu".into(), run.threads);
        if run.is_estimate(self.values, &choices, &plan)? {
            return Ok(Ending::Whole);
        }
        let start = Instant::now();
        let watch = &mut console.watch();
        let (answer, of_ranks) = run.compute(self.values, |part| {
            match self.analysis.of_graph_on_ranks(graph, jumps, part, watch) {
                Err(SwarmError::Run(AnalysisError::Ranks(error))) => Err(error),
                answer => Ok(answer.map_err(Failure::from)),
            }
        })?;
        let seconds = start.elapsed().as_secs_f64();
        let computed = Computed { choices, plan, answer, seconds, of_ranks };
        if run.is_first() {
            self.write_of_ranks(&run, computed, console)?;
        }
        Ok(Ending::Whole)
    }

    /// Refuses an analysis of one graph that ranks do not share.
    fn check_graph_on_ranks(&self) -> Result<(), Failure> {
        match self.analysis {
            Analysis::PageRank(_) | Analysis::Components | Analysis::Lcc(_) => Ok(()),
            _ => Err(not_on_ranks(
                "this analysis of one graph",
                "run it in one process; ranks share the graphs of a batch, and of one graph communities, PageRank, components \
                 and clustering coefficients",
            )),
        }
    }

    /// Writes the answer, and reports it.
    fn write_of_ranks(
        &self,
        run: &RankRun<'_>,
        computed: Computed<'_, C>,
        console: &Console,
    ) -> Result<(), Failure> {
        let Computed { choices, plan, answer, seconds: compute, of_ranks } = computed;
        let peak = peak_memory();
        let columns: Vec<ColumnData<'_>> = answer.columns().iter().map(Column::data).collect();
        let part = answer.part(Subject::Graph(run.graph().ids()));
        let (figures, write) =
            self.write(&Cell::new(false), console, |take| take(part, &columns))?;
        let (read, build) = (run.loaded.read, run.loaded.build);
        let seconds = Stages { read, build, compute, write, ..Stages::default() };
        let (bytes, found) = (Bytes::new(&plan, peak), figures.found());
        self.values.write_stats(&run.loaded, of_ranks, &choices, found, seconds, bytes)?;
        let (on_ranks, place) = (run.on_ranks(), self.values.see());
        console.say(&format!("{found}, in {compute:.3} s{on_ranks}{place}"));
        Ok(())
    }
}
