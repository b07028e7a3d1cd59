//! The communities of each graph of a batch, computed on the CPU: those of a run on the graph alone.

use super::job::Job;
use super::program::Program;
use super::rows::Names;
use crate::batch::{BatchArguments, Done, Opened, PartNeeds, Source};
use crate::console::Console;
use crate::device::note_fallback;
use crate::failure::{Ending, Failure};
use crate::message::counted;
use crate::output::begin_table;
use crate::ranks::Ranks;
use crate::standard_streams::is_standard;
use ripplet::Storage;
use ripplet::analytics::AnalysisError;
use ripplet::device::Fallback;
use ripplet::graph::batch::{BatchGraph, BatchSlice};
use ripplet::graph::{OutOfMemory, VertexId, memory};
use ripplet::io::write::{ColumnKind, Rows, TableShape, is_graph};
use ripplet::lp::DynProgram;
use ripplet::lp::programs::{Cdlp, Llp, Lpa};
use ripplet::lp::quality::{SizeCounts, Sizes};
use ripplet::programs::BuiltIn;
use ripplet::swarm::{Answer, Column, CommunitiesWorker, Report};
use serde::Serialize;
use std::cmp::Reverse;
use std::sync::Arc;

/// The column of numbered communities.
const NUMBERS: &[(&str, ColumnKind)] = &[("community", ColumnKind::U32)];
/// Reason that no GPU is used.
const NO_GPU: &str = "the communities of a batch are for the CPU so far";

/// Finds the communities of each graph.
pub(super) fn run(
    job: &Job<'_>,
    batch: &BatchArguments,
    ranks: &Ranks,
    console: &Console,
) -> Result<Ending, Failure> {
    let threads = ranks.agree(job.threads.start())?;
    let work = Work { job, batch, ranks, console, threads };
    match &job.program {
        Program::BuiltIn(BuiltIn::Lpa(guard)) => work.run(Lpa::new(*guard).into()),
        Program::BuiltIn(BuiltIn::Cdlp) => work.run(Cdlp.into()),
        Program::BuiltIn(BuiltIn::Llp(gamma)) => work.run(Llp::new(*gamma).into()),
        Program::File(file) => work.run(file.program()),
        program => check_program(program).map(|()| Ending::Whole),
    }
}

/// Refuses programs that are about one graph.
fn check_program(program: &Program) -> Result<(), Failure> {
    match program {
        Program::BuiltIn(BuiltIn::Slpa { .. }) => Err(Failure::refused(
            "slpa gives a vertex several communities, and in a batch each has one",
            "use another --program, or run it on each graph alone",
        )),
        Program::Refine(_) => Err(refused("--refine finds the communities of one graph", "refine")),
        Program::Sweep(_) => Err(refused("--sweep looks for the best layer of one graph", "sweep")),
        Program::BuiltIn(BuiltIn::Seeded { .. }) | Program::Seeded(_) => Err(Failure::refused(
            "seeded begins with vertices of one graph, but the input is a batch",
            "use another --program, or run it on each graph alone",
        )),
        Program::BuiltIn(BuiltIn::Lpa(_) | BuiltIn::Cdlp | BuiltIn::Llp(_)) | Program::File(_) => {
            Ok(())
        }
    }
}

/// Refuses what is about one graph, or about a GPU.
pub(super) fn check(job: &Job<'_>) -> Result<(), Failure> {
    if job.checks_program && job.estimate.is_none() {
        return Err(Failure::refused(
            "--check-program tests a program on one graph, and this is a batch",
            "leave --check-program out, or name one graph of the batch",
        ));
    }
    check_options(job)?;
    check_program(&job.program)
}

/// Refuses options that are about one graph, or about a GPU.
fn check_options(job: &Job<'_>) -> Result<(), Failure> {
    let (reads, writes) = match &job.program {
        Program::File(_) => (job.program.reads(), job.program.writes()),
        _ => (None, Vec::new()),
    };
    let flags = [
        (job.labels.is_some(), "--labels are of the vertices of one graph", "labels"),
        (reads.is_some(), "--vertex-table is about the vertices of one graph", "vertex-table"),
        (job.checkpoint.is_some(), "--checkpoint keeps the state of one run", "checkpoint"),
        (!writes.is_empty(), "--columns-out is about the vertices of one graph", "columns-out"),
        (
            job.storage == Some(Storage::Compressed),
            "--storage compressed is of the lists of one graph",
            "storage",
        ),
        (job.finds_counter, "--counter auto looks at the memory for one graph", "counter"),
        (job.small.is_some(), "--min-size is about the communities of one graph", "min-size"),
        (job.top.is_some(), "--top is a table of one graph's communities", "top"),
    ];
    if let Some(output) = job.target().filter(|output| is_graph(*output)) {
        return Err(Failure::refused(
            format!("{} would be one graph, but the input is a batch", output.path().display()),
            "name a table, such as .csv or .parquet",
        ));
    }
    if let Program::File(file) = &job.program
        && let Some(column) = file.column_to_give()
    {
        return Err(Failure::refused(
            format!(
                "the program needs the column `{column}`, but the input is a batch, which has no columns"
            ),
            "give it #[default(VALUE)] in the program, or run it on each graph alone",
        ));
    }
    if let Some((_, sentence, flag)) = flags.iter().find(|(is_given, ..)| *is_given) {
        return Err(refused(sentence, flag));
    }
    if job.device.device().is_auto() || job.device.device().is_cpu() {
        return Ok(());
    }
    Err(Failure::refused(NO_GPU, "use --device cpu"))
}

/// Returns the error of an option that does not apply to a batch.
fn refused(sentence: &str, flag: &str) -> Failure {
    let sentence = format!("{sentence}, but the input is a batch");
    Failure::refused(sentence, format!("leave --{flag} out, or run it on each graph alone"))
}

/// A job and the batch that it works on.
struct Work<'a> {
    job: &'a Job<'a>,
    batch: &'a BatchArguments,
    ranks: &'a Ranks,
    console: &'a Console,
    threads: usize,
}

/// Figures of the communities of all graphs.
#[derive(Clone, Copy, Serialize)]
struct Found {
    communities: u64,
    median_size: f64,
    largest_size: u64,
}

impl Found {
    fn of(sizes: &Sizes) -> Found {
        let (median_size, largest_size) = (sizes.median, sizes.max);
        Found { communities: sizes.count(), median_size, largest_size }
    }
}

impl Work<'_> {
    fn run(&self, program: Box<dyn DynProgram>) -> Result<Ending, Failure> {
        let Work { job, ranks, console, threads, .. } = *self;
        let worker = CommunitiesWorker::new(program, job.settings.clone(), threads);
        let worker = ranks.agree(worker.map_err(Failure::from))?;
        let choices = job.choices(&job.settings, Storage::Plain, "cpu".into(), threads);
        let source = Source {
            input: &job.input,
            batch: self.batch,
            options: &job.load,
            limit: job.host_memory,
            workers: 1,
            weight: |_| 0,
            ranks,
            work: Arc::new(|graph| u64::from(graph.vertices()).saturating_add(graph.arcs())),
        };
        source.open(console, |mut batch| {
            if job.device.device().is_auto() {
                note_fallback(&Fallback::no_kernel(NO_GPU), console);
            }
            if let Some(form) = job.estimate {
                let estimate = batch.estimate(choices, |part| needs(&worker, part));
                let estimate = ranks.agree(estimate)?;
                if ranks.is_first() {
                    form.print_as(&estimate, || estimate.lines())?;
                }
                return Ok(Ending::Whole);
            }
            let deterministic = choices.deterministic;
            let (done, found) = self.find(batch, worker)?;
            done.write_stats(job.stats.as_deref(), choices, found)?;
            self.say(&done.report, found, deterministic);
            Ok(done.ending)
        })
    }

    /// Finds the communities and writes them, by the ids of vertices or as numbers.
    fn find(&self, batch: Opened<'_>, worker: CommunitiesWorker) -> Result<(Done, Found), Failure> {
        let Work { job, console, .. } = *self;
        let numbers = job.names == Names::Number;
        let (rows, columns) = match numbers {
            true => (Rows::Vertices, NUMBERS),
            false => (Rows::Communities, &[][..]),
        };
        let shape = TableShape { rows, of_batch: true, columns };
        let table = || begin_table(job.target(), shape, console);
        let mut numbering = Numbering::default();
        let number = |graphs: BatchSlice<'_>, answer: Answer| {
            let Answer::Communities(mut communities) = answer else { return Ok(answer) };
            numbering.name(graphs, &mut communities, job.names)?;
            Ok(match numbers {
                true => Answer::Vertices(vec![Column::U32(communities)]),
                false => Answer::Communities(communities),
            })
        };
        let done = batch.run(vec![Box::new(worker)], table, number, console)?;
        Ok((done, Found::of(&numbering.sizes.sizes())))
    }

    fn say(&self, report: &Report, found: Found, deterministic: bool) {
        let Report { graphs, vertices, wall, .. } = report;
        let graphs = counted(*graphs, "graph", "graphs");
        let vertices = counted(*vertices, "vertex", "vertices");
        let Found { communities, median_size, largest_size } = found;
        let communities = counted(communities, "community", "communities");
        let place = match &self.job.output {
            Some(path) if !is_standard(path) => format!("; see {}", path.display()),
            _ => String::new(),
        };
        let differs = if deterministic { "" } else { " (async: another run may differ)" };
        let on_ranks = if self.ranks.are_several() { self.ranks.as_end() } else { String::new() };
        self.console.say(&format!(
            "{graphs}, {vertices}; {communities}, median size {median_size}, largest {largest_size}, in \
             {wall:.3} s{on_ranks}{place}{differs}"
        ));
    }
}

/// Returns the needs of a part in addition to its graphs.
fn needs(worker: &CommunitiesWorker, part: BatchSlice<'_>) -> Result<PartNeeds, Failure> {
    let plan = worker.plan(part).map_err(AnalysisError::from)?;
    let host = plan.items.iter().map(|item| (item.purpose, item.bytes)).collect();
    let answer = part.vertices().saturating_mul(size_of::<VertexId>() as u64);
    Ok(PartNeeds { host, answer, ..PartNeeds::default() })
}

/// Names and sizes of a graph's communities. Memory: 4 bytes per vertex of the largest graph so far, and 24 bytes a
/// community of it if communities are not named by one of their vertices.
#[derive(Default)]
struct Numbering {
    /// By the vertex that a community is called by: its number in the order of first vertices.
    numbers: Vec<u32>,
    /// By number.
    found: Vec<Community>,
    /// The sizes of the communities of all graphs.
    sizes: SizeCounts,
}

/// A community of the current graph.
#[derive(Clone, Copy)]
struct Community {
    size: u32,
    /// The member of highest degree, of equal ones the first.
    hub: VertexId,
    degree: usize,
    /// Its place in the order of size.
    place: u32,
}

/// Stands for a community that has no number yet.
const UNSEEN: u32 = u32::MAX;

impl Numbering {
    /// Counts the communities of graphs and puts what they are called in their places.
    fn name(
        &mut self,
        graphs: BatchSlice<'_>,
        communities: &mut [VertexId],
        names: Names,
    ) -> Result<(), OutOfMemory> {
        let mut rest = communities;
        for graph in graphs.graphs() {
            let size = graph.vertices() as usize;
            let of_graph = rest.split_off_mut(..size).unwrap_or_default();
            match names {
                Names::Vertex => self.count(of_graph)?,
                Names::Hub => self.call_by_hub(graph, of_graph)?,
                Names::Number => self.call_by_place(of_graph)?,
            }
        }
        Ok(())
    }

    /// Counts the communities of a graph.
    fn count(&mut self, communities: &[VertexId]) -> Result<(), OutOfMemory> {
        let sizes = self.numbers_of(communities.len(), 0)?;
        communities.iter().for_each(|&community| sizes[community as usize] += 1);
        self.numbers[..communities.len()].iter().for_each(|&size| self.sizes.add(size));
        Ok(())
    }

    /// Names each community of a graph by its hub.
    fn call_by_hub(
        &mut self,
        graph: BatchGraph<'_>,
        communities: &mut [VertexId],
    ) -> Result<(), OutOfMemory> {
        let (out, incoming) = (graph.out(), graph.incoming());
        let degree =
            |vertex| out.of(vertex).len() + incoming.map_or(0, |lists| lists.of(vertex).len());
        self.find(communities, degree)?;
        self.rename(communities, |community| community.hub);
        Ok(())
    }

    /// Calls each community of a graph by its place in the order of size, of equal ones in that of first members.
    fn call_by_place(&mut self, communities: &mut [VertexId]) -> Result<(), OutOfMemory> {
        self.find(communities, |_| 0)?;
        let mut by_size = memory::filled(0u32, self.found.len())?;
        (0..).zip(&mut by_size).for_each(|(number, slot)| *slot = number);
        by_size.sort_by_key(|&number| Reverse(self.found[number as usize].size));
        (0..).zip(by_size).for_each(|(place, number)| self.found[number as usize].place = place);
        self.rename(communities, |community| community.place);
        Ok(())
    }

    /// Puts what a community is called in the place of its label.
    fn rename(&self, communities: &mut [VertexId], name: impl Fn(&Community) -> u32) {
        for community in communities {
            *community = name(&self.found[self.numbers[*community as usize] as usize]);
        }
    }

    /// Returns a slice with `number` for each of `vertices`.
    fn numbers_of(&mut self, vertices: usize, number: u32) -> Result<&mut [u32], OutOfMemory> {
        if self.numbers.len() < vertices {
            self.numbers = memory::zeros(vertices)?;
        }
        let numbers = &mut self.numbers[..vertices];
        numbers.fill(number);
        Ok(numbers)
    }

    /// Finds the communities of a graph by the degrees of its vertices.
    fn find(
        &mut self,
        communities: &[VertexId],
        degree: impl Fn(usize) -> usize,
    ) -> Result<(), OutOfMemory> {
        self.numbers_of(communities.len(), UNSEEN)?;
        let numbers = &mut self.numbers[..communities.len()];
        self.found.clear();
        for (vertex, &community) in communities.iter().enumerate() {
            let number = &mut numbers[community as usize];
            let degree = degree(vertex);
            if *number == UNSEEN {
                *number = self.found.len() as u32;
                let hub = vertex as VertexId;
                memory::push(&mut self.found, Community { size: 0, hub, degree, place: 0 })?;
            }
            let found = &mut self.found[*number as usize];
            found.size += 1;
            if degree > found.degree {
                (found.hub, found.degree) = (vertex as VertexId, degree);
            }
        }
        self.found.iter().for_each(|community| self.sizes.add(community.size));
        Ok(())
    }
}
