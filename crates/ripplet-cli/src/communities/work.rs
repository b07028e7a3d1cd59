//! A run on one graph: what the search finds, its quality, and the output.

use super::follow::Follow;
use super::job::Job;
use super::largest;
use super::parts::write_part;
use super::program::{Program, SweepJob};
use super::rows::{Names, Rows};
use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory::Limit;
use crate::message::{counted, on_device};
use crate::output::{print, write_json, written};
use crate::ranks::Ranks;
use crate::stats::{
    Bytes, CheckpointFigures, Choices, Estimate, ExchangeFigures, Layer, ProfileFigures,
    RanksFigures, RefineFigures, Shape, Stages, Stats,
};
use ripplet::checkpoints::RunCheckpoints;
use ripplet::communities::{
    CommunitiesError, CommunitySearch, FoundLabels, RunSeconds, SearchEstimate,
};
use ripplet::device::peak_memory;
use ripplet::graph::{GraphView, VertexIds};
use ripplet::io::Seeds;
use ripplet::io::write::{ColumnData, Destination, VertexColumn, write_vertex_table};
use ripplet::lp::engine::Parts;
use ripplet::lp::quality::{Sizes, Summary};
use ripplet::lp::small::{MinSize, SmallCommunities};
use ripplet::lp::sweep::Sweep;
use ripplet::lp::{Counter, Settings};
use std::sync::Arc;
use std::time::Instant;

/// A job and its graph.
pub struct Work<'a> {
    pub job: &'a Job<'a>,
    /// The processes that share the run.
    pub ranks: &'a Ranks,
    /// Description of the input that was read.
    pub input: Option<String>,
    /// The folder of checkpoints.
    pub store: Option<Arc<RunCheckpoints>>,
    pub console: &'a Console,
    pub graph: GraphView<'a>,
    /// The vertices of each rank, if it has their lists alone.
    pub parts: Option<Parts>,
    pub threads: usize,
    /// The seconds until the graph was ready.
    pub before: Stages,
    /// The limit of host memory.
    pub limit: Option<Limit>,
    /// The seeds, whose clusters have names.
    pub seeds: Option<Seeds>,
}

/// What is reported of a run beside what the search found.
#[derive(Default)]
pub struct Extra {
    /// The result for each γ of a sweep.
    pub layers: Option<Vec<Layer>>,
    /// The quality of the communities, if it is known.
    pub summary: Option<Summary>,
    /// The runs over a range of resolutions.
    pub profile: Option<ProfileFigures>,
}

/// What was measured of communities.
#[derive(Default)]
struct Measured {
    summary: Option<Summary>,
    shape: Option<Shape>,
    ranks: Option<RanksFigures>,
}

impl<'a> Work<'a> {
    /// Does what the job asks for by a search on its graph.
    pub fn run(&self, search: CommunitySearch<'a>) -> Result<(), Failure> {
        match &self.job.program {
            Program::Sweep(sweep) => self.sweep(search, sweep),
            Program::Refine(refine) => self.refine(search, refine),
            _ => self.find(search),
        }
    }

    /// Finds communities by a program, and writes them.
    fn find(&self, search: CommunitySearch<'a>) -> Result<(), Failure> {
        if self.job.estimate.is_some() {
            return self.estimate(|follow| search.estimate_with(follow));
        }
        let found = self.follow(|follow| search.labels_with(follow))?;
        self.finish(&found, Extra::default())?;
        self.remove_checkpoints();
        Ok(())
    }

    /// Runs the program at each γ, keeps the communities of the highest modularity, and writes the
    /// order of the vertices if one is requested.
    fn sweep(&self, search: CommunitySearch<'a>, job: &SweepJob) -> Result<(), Failure> {
        let sweep = Sweep::halved(job.halvings);
        let sweep = if job.order.is_some() { sweep.with_order() } else { sweep };
        if self.job.estimate.is_some() {
            return self.estimate(|follow| search.estimate_sweep_with(sweep, follow));
        }
        let swept = self.follow(|follow| search.sweep_with(sweep, follow))?;
        if let (Some(order), Some(path)) = (swept.order, &job.order) {
            let values = ColumnData::U32(order.places());
            let places = VertexColumn { name: "place", len: 1, values };
            written(write_vertex_table(path, self.graph.ids(), &[places]))?;
        }
        let layers = Some(swept.layers.into_iter().map(Layer::from).collect());
        // Small communities that joined others have another modularity.
        let summary = Some(swept.summary).filter(|_| self.job.small.is_none());
        self.finish(&swept.best, Extra { layers, summary, ..Extra::default() })
    }

    /// Does work of a search, and follows it.
    pub fn follow<T>(
        &self,
        work: impl FnOnce(&mut Follow<'_>) -> Result<T, CommunitiesError>,
    ) -> Result<T, Failure> {
        let Work { job, ranks, console, graph, limit, .. } = *self;
        let mut follow = Follow::new(job, ranks, console, graph.ids(), limit);
        work(&mut follow).map_err(|error| follow.failure(error))
    }

    /// Prints the plan of a run.
    pub fn estimate(
        &self,
        plan: impl FnOnce(&mut Follow<'_>) -> Result<SearchEstimate, CommunitiesError>,
    ) -> Result<(), Failure> {
        let Some(form) = self.job.estimate else { return Ok(()) };
        let SearchEstimate { plan, of_each, device, counter, .. } = self.follow(plan)?;
        let choices = self.choices(device, counter);
        let own = self.ranks.own(self.graph, self.parts.as_ref());
        let shape = self.ranks.shape(self.graph, own);
        let estimate = Estimate::new(shape, &choices, &plan).of_each(of_each);
        self.ranks.agree(match self.ranks.is_first() {
            true => form.print_as(&estimate, || estimate.lines(&choices.device)),
            false => Ok(()),
        })
    }

    /// Removes the checkpoints of a run whose results are written.
    pub fn remove_checkpoints(&self) {
        let Some(store) = &self.store else { return };
        if let Err(error) = store.remove() {
            self.console.note(&format!("a checkpoint is left: {error}"));
        }
    }

    /// Returns the choices by their names.
    fn choices(&self, device: String, counter: Counter) -> Choices {
        let settings = Settings { counter, ..self.job.settings.clone() };
        let choices = self.job.choices(&settings, self.graph.into(), device, self.threads);
        match self.job.program {
            Program::Refine(_) => Choices { phases: None, ..choices },
            _ => choices,
        }
    }

    /// Measures the quality, unless it is known, and writes the communities.
    pub fn finish(&self, found: &FoundLabels<'_>, extra: Extra) -> Result<(), Failure> {
        let Work { job, console, graph, .. } = *self;
        if !self.ranks.is_first() {
            self.measure(found, &extra)?;
            return self.finish_part(found);
        }
        let (outcome, report) = (found.outcome(), found.report());
        self.report_unlabelled(report.unlabelled);
        if let (Some(size), Some(small)) = (job.small, report.small) {
            self.report_small(size, small);
        }
        let measured = self.measure(found, &extra)?;
        let peak = peak_memory();
        interrupt::check()?;
        if let Program::File(file) = &self.job.program {
            file.write_columns(found.outcome(), self.graph.ids())?;
        }
        let rows = self.rows(found)?;
        let told = job.stats.is_some() || !console.is_quiet();
        let sizes = told.then(|| rows.sizes(graph.vertices())).transpose()?;
        let write = self.write(&rows)?;
        if let Some(most) = job.top {
            let table = largest::table(graph, &rows, job.names == Names::Number, most as usize)?;
            self.print_table(&table)?;
        }
        if outcome.nan_scores() > 0 {
            let count = outcome.nan_scores();
            console.note(&format!(
                "{count} times a vertex met a label whose score is no number; such a label never wins"
            ));
        }
        let summary = extra.summary.or(measured.summary);
        let (Some(summary), Some(sizes)) = (summary, sizes) else { return Ok(()) };
        let choices = self.choices(report.device.clone(), report.counter);
        let line = self.last_line(found, &choices, summary, &sizes);
        if let (Some(path), Some(shape)) = (&job.stats, measured.shape) {
            let Stages { open, read, build, .. } = self.before;
            let RunSeconds { kernels, transfer, compute } = report.seconds;
            let seconds = Stages { open, read, build, kernels, transfer, compute, write };
            let bytes = Bytes::new(&report.plan, peak);
            let stats = Stats::new(shape, choices, outcome, summary, &sizes, seconds, bytes);
            let of_refinement =
                |found| RefineFigures { profile: extra.profile, ..RefineFigures::of(found) };
            write_json(
                path,
                &Stats {
                    input: self.input.clone(),
                    sweep: extra.layers,
                    checkpoints: CheckpointFigures::of(report),
                    exchange: report.exchanged.map(ExchangeFigures::from),
                    ranks: measured.ranks,
                    refinement: report.refinement.as_ref().map(of_refinement),
                    ..stats
                },
            )?;
        }
        console.say(&line);
        Ok(())
    }

    /// Returns the rows that are written.
    fn rows<'f>(&'f self, found: &'f FoundLabels<'_>) -> Result<Rows<'f>, Failure> {
        let mut rows = self.memberships(found)?;
        if self.job.names == Names::Hub {
            rows.call_by_hub(self.graph)?;
        }
        Ok(rows)
    }

    /// Returns the memberships of the communities, which are named by vertices.
    fn memberships<'f>(&'f self, found: &'f FoundLabels<'_>) -> Result<Rows<'f>, Failure> {
        let memberships = self.follow(|_| found.memberships())?;
        let Some(memberships) = memberships else { return Ok(Rows::of_labels(found.outcome())) };
        if let Some(small) = self.job.small {
            self.report_left_out(small, memberships.left_out, "rows");
        }
        let vertices = found.labels().len();
        let clusters = self.seeds.as_ref().map(|seeds| clusters(seeds, vertices));
        Ok(Rows { clusters, ..Rows::from(memberships) })
    }

    /// Measures communities, together with the other ranks if there are some; what is measured, the first one knows.
    fn measure(&self, found: &FoundLabels<'_>, extra: &Extra) -> Result<Measured, Failure> {
        let figures = self.job.stats.is_some();
        let quality = extra.summary.is_none() && (figures || !self.console.is_quiet());
        let flags = [quality, figures].map(u8::from);
        let flags = self.ranks.together(|comm| comm.broadcast("what is measured", 0, &flags));
        let [quality, figures] = match flags.as_deref() {
            Some(&[quality, figures]) => [quality > 0, figures > 0],
            _ => [quality, figures],
        };
        let mut measured = Measured::default();
        if quality {
            self.console.stage("measuring modularity");
            measured.summary = Some(self.follow(|_| found.summary())?);
        }
        if figures {
            measured.shape = Some(self.ranks.shape(self.graph, found.own_vertices()));
            let is_whole = self.job.whole_graph.is_some();
            let report = found.report().ranks.as_ref();
            measured.ranks = report.and_then(|report| self.ranks.figures_of_run(report, is_whole));
        }
        Ok(measured)
    }

    /// Reports small communities that joined others, or were left out.
    fn report_small(&self, size: MinSize, small: SmallCommunities) {
        if small.joined > 0 {
            let joined = counted(small.joined.into(), "community", "communities");
            let least = size.least();
            self.console.remark(&format!(
                "{joined} with fewer than {least} vertices joined the neighbour they have most edges to"
            ));
        }
        self.report_left_out(size, small.unassigned.into(), "vertices");
    }

    /// Notes vertices to which the program gave no label, also under `--quiet`. Vertices that no seed reaches are
    /// meant to have none.
    fn report_unlabelled(&self, count: u64) {
        if count == 0 || matches!(self.job.program, Program::Seeded(_)) {
            return;
        }
        let vertices = counted(count, "vertex", "vertices");
        let have = if count == 1 { "has" } else { "have" };
        let left_out = match self.destination() {
            Some(Destination::Standard) => ": the output has no community for them".into(),
            Some(named) => format!(": {} has no community for them", named.path().display()),
            None => String::new(),
        };
        self.console.note(&format!("{vertices} {have} no label{left_out}"));
    }

    fn report_left_out(&self, small: MinSize, count: u64, what: &str) {
        if count > 0 {
            let least = small.least();
            self.console.remark(&format!(
                "{count} {what} of communities with fewer than {least} are left out"
            ));
        }
    }

    /// Prints a table to standard output, or to standard error if the communities go to standard output.
    fn print_table(&self, table: &str) -> Result<(), Failure> {
        match self.destination() {
            Some(Destination::Standard) => {
                self.console.say(table.trim_end());
                Ok(())
            }
            _ => print(table),
        }
    }

    /// Returns the destination of the communities.
    fn destination(&self) -> Option<Destination<'_>> {
        self.job.target().map(|target| target.destination())
    }

    /// Writes this rank's part of the communities, if each rank writes one.
    fn finish_part(&self, found: &FoundLabels<'_>) -> Result<(), Failure> {
        match self.job.is_in_parts() {
            true => self.write(&self.rows(found)?).map(drop),
            false => Ok(()),
        }
    }

    /// Writes the communities; returns the seconds of writing.
    fn write(&self, rows: &Rows<'_>) -> Result<f64, Failure> {
        let Some(target) = self.job.target() else { return Ok(0.0) };
        let path = target.path();
        self.console.stage(format!("writing {}", path.display()));
        let start = Instant::now();
        if target.destination().is_standard() {
            self.console.close();
        }
        if target.destination().is_in_parts() && self.ranks.are_several() {
            let own = self.ranks.own(self.graph, self.parts.as_ref());
            write_part(rows, (target, own), self.graph, self.job.names, self.ranks)?;
        } else {
            rows.write(target, self.graph, self.job.names)?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    fn last_line(
        &self,
        found: &FoundLabels<'_>,
        choices: &Choices,
        summary: Summary,
        sizes: &Sizes,
    ) -> String {
        let (outcome, report) = (found.outcome(), found.report());
        let compute = report.seconds.compute;
        let (communities, median, largest) = (sizes.count(), sizes.median, sizes.max);
        // Without the sign of what is rounded to 0.
        let modularity = (summary.modularity * 1e4).round() / 1e4 + 0.0;
        let communities = counted(communities, "community", "communities");
        let rounds = counted(outcome.rounds.len() as u64, "round", "rounds");
        let resolution = match &report.refinement {
            Some(refinement) => format!(", resolution {}", short(refinement.resolution)),
            None => String::new(),
        };
        let reason = outcome.reason.name();
        let place = match self.destination() {
            None | Some(Destination::Standard) => String::new(),
            Some(named) => format!("; see {}", named.path().display()),
        };
        let device = match self.ranks.size() {
            1 => on_device(&choices.device),
            ranks if choices.device == "cpu" => format!(" on {ranks} ranks"),
            ranks => format!(" on {ranks} ranks with a GPU each"),
        };
        let differs = match choices.deterministic {
            true => "",
            false => " (async: another run may differ)",
        };
        format!(
            "{communities}, median size {median}, largest {largest}, modularity {modularity:.4}{resolution}, \
             after {rounds} ({reason}) in {compute:.3} s{device}{place}{differs}"
        )
    }
}

/// Returns the names of the clusters, and for each vertex that represents one the number of its name.
fn clusters(seeds: &Seeds, vertices: usize) -> (&VertexIds, Vec<u32>) {
    let mut of = vec![u32::MAX; vertices];
    seeds.rows.iter().for_each(|row| of[row.vertex as usize] = row.cluster);
    (&seeds.clusters, of)
}

/// Returns a positive number with some four significant digits.
fn short(value: f64) -> String {
    match (1e-3..1e6).contains(&value) {
        true => format!("{value:.4}"),
        false => format!("{value:.3e}"),
    }
}
