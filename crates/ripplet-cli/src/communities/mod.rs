//! `ripplet communities`: from a graph in a file to communities in a file.
//!
//! ```text
//! arguments ─▶ Job ─▶ places ─▶ GPU ─▶ graph ─▶ CommunitySearch ─▶ FoundLabels ─▶ summary ─▶ output ─▶ stats ─▶ last line
//!                   (no data touched yet)        └ --estimate ends here
//! ```
//!
//! For batches see `batch`.

mod arguments;
mod batch;
mod checkpoint;
#[cfg(feature = "jit")]
mod file;
#[cfg(not(feature = "jit"))]
#[path = "file_absent.rs"]
mod file;
mod file_arguments;
mod follow;
mod job;
#[cfg(feature = "draw")]
mod largest;
#[cfg(not(feature = "draw"))]
#[path = "largest_absent.rs"]
mod largest;
mod parts;
mod profile;
mod program;
mod refine;
mod refine_arguments;
mod resolve;
mod rows;
mod search;
mod work;

pub use arguments::Arguments;
pub use file_arguments::FileArguments;
pub use program::attenuation_refused;

use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::memory::{Limit, OF_A_LIST, within};
use crate::message::counted;
use crate::named_cover::say_columns;
use crate::output::{check_alone, check_output, check_table, named_input};
use crate::parts::load_with_ranks;
use crate::ranks::{Ranks, not_on_ranks};
use crate::reading::{Loaded, load_stored};
use crate::stats::Stages;
use crate::{device, interrupt, memory};
use job::Job;
use program::Program;
use ripplet::device::Opened;
use ripplet::graph::{VertexId, VertexIds};
use ripplet::io::{self, InitialLabels, ReadOptions, write};
use ripplet::lp::RankLabels;
use ripplet::lp::engine::Parts;
use ripplet::programs::ProgramName;
use ripplet::{Device, StoredGraph};
use std::path::Path;
use std::time::Instant;
use work::Work;

/// Finds the communities of a graph, or of each graph of a batch.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    arguments.ranks.share(console, |ranks, console| run_among(arguments, ranks, console))
}

/// Finds communities together with other ranks, if there are some.
fn run_among(arguments: &Arguments, ranks: &Ranks, console: &Console) -> Result<Ending, Failure> {
    if ranks.are_several() {
        let mut job = ranks.agree(job_of_ranks(arguments, ranks))?;
        job.threads = ranks.share_host(job.threads, job.host_memory, console);
        if arguments.batch.is_asked(&job.input, &job.load.read) {
            return batch::run(&job, &arguments.batch, ranks, console);
        }
        run_graph(job, ranks, console)?;
        return Ok(Ending::Whole);
    }
    let job = arguments.resolve()?;
    let is_batch = arguments.batch.is_asked(&job.input, &job.load.read);
    check_places(&job, is_batch)?;
    if is_batch {
        batch::check(&job)?;
        return batch::run(&job, &arguments.batch, ranks, console);
    }
    arguments.batch.check_unused()?;
    run_graph(job, ranks, console)?;
    Ok(Ending::Whole)
}

/// Returns the job of a rank, or why ranks cannot do it; that of any but the first writes nothing.
fn job_of_ranks<'a>(arguments: &'a Arguments, ranks: &Ranks) -> Result<Job<'a>, Failure> {
    let mut job = arguments.resolve()?;
    job.check_ranks()?;
    let is_batch = arguments.batch.is_asked(&job.input, &job.load.read);
    if is_batch {
        batch::check(&job)?;
        if job.rank_labels != RankLabels::Auto {
            return Err(not_on_ranks(
                "--rank-labels of a batch",
                "leave it out: the graphs of a batch are dealt out, and ranks send no labels",
            ));
        }
    } else {
        arguments.batch.check_unused()?;
        job.whole_graph = job.needs_whole_graph();
    }
    match ranks.is_first() {
        true => check_places(&job, is_batch)?,
        false => job.leave_to_first(),
    }
    Ok(job)
}

fn run_graph(job: Job<'_>, ranks: &Ranks, console: &Console) -> Result<(), Failure> {
    if let Program::File(file) = &job.program {
        file.check_columns_out()?;
    }
    if job.top.is_some() {
        largest::check()?;
    }
    let threads = ranks.agree(job.threads.start())?;
    let store = ranks.agree(job.open_store())?;
    let start = Instant::now();
    let opened = open_device(&job, ranks)?;
    let open = start.elapsed().as_secs_f64();
    let (loaded, parts) = load(&job, ranks, console)?;
    let input = loaded.input();
    let Loaded { graph: stored, read, build, .. } = loaded;
    let before = Stages { open, read, build, ..Stages::default() };
    let graph = stored.view();
    let initial = ranks.agree(read_labels(&job, graph.ids(), console))?;
    interrupt::check()?;
    let limit = Limit::of(job.host_memory)?;
    let executor = match ranks.are_several() {
        // Ranks start theirs with the search.
        true => None,
        false => Some(device::start(opened, &job.threads, console)?),
    };
    if job.load.read.weighted && job.program.registered() == Some(ProgramName::Llp) {
        console.remark("votes of llp count neighbours: with --weighted, weights count for the modularity alone, by which --sweep chooses");
    }
    let mut begin = ranks.agree(job.read_begin(graph.ids(), console))?;
    begin.initial = initial;
    let search = ranks.agree(job.search(graph, &mut begin, console))?;
    let mut search = job.share(search, (ranks, parts.as_ref()), store.as_ref(), limit);
    if let Some(executor) = executor {
        let of_gpu = limit.map(|limit| limit.size.0);
        search = search.executor((executor.with_host_memory(of_gpu), None));
    }
    let (job, seeds) = (&job, begin.seeds);
    let work =
        Work { job, ranks, input, store, console, graph, parts, threads, before, limit, seeds };
    work.run(search)
}

/// Opens the device, before the graph is read.
fn open_device(job: &Job<'_>, ranks: &Ranks) -> Result<Opened, Failure> {
    match &job.program {
        // No GPU is opened for work that the CPU does.
        _ if ranks.are_several() => Ok(Device::cpu().open(None)?),
        Program::Refine(refine) if refine.profile.is_some() => Ok(Device::cpu().open(None)?),
        // Several GPUs do not share a refinement.
        Program::Refine(_) => job.device.open_one(),
        _ => job.device.open(),
    }
}

/// Loads the graph, or this rank's part of it.
fn load(
    job: &Job<'_>,
    ranks: &Ranks,
    console: &Console,
) -> Result<(Loaded<StoredGraph>, Option<Parts>), Failure> {
    let (path, load, limit) = (&job.input, &job.load, job.host_memory);
    if ranks.are_several() {
        let whole = (job.whole_graph.as_deref(), job.storage);
        // Labels to begin with name vertices by their ids, and a part of the output has ids.
        let with_ids = job.labels.is_some() || job.is_in_parts();
        return load_with_ranks(path, load, ranks, whole, with_ids, limit, console);
    }
    let reading = format!("reading {}", path.display());
    let read = || load_stored(path, load, job.storage, console);
    Ok((within(limit, &reading, memory::OF_A_GRAPH, read)?, None))
}

/// Checks that the output can have these ids, and reads the initial labels.
fn read_labels(
    job: &Job<'_>,
    ids: &VertexIds,
    console: &Console,
) -> Result<Option<Vec<VertexId>>, Failure> {
    if let Some(output) = job.target() {
        write::check_communities_or_graph(output, ids).map_err(Failure::Place)?;
    }
    let Some(labels) = &job.labels else { return Ok(None) };
    console.stage(format!("reading {}", labels.display()));
    let label_columns = job.labels_columns.as_ref().map(|columns| columns.0.clone());
    let options = ReadOptions { label_columns, ..ReadOptions::default() };
    let what = format!("reading {}", labels.display());
    let read = || Ok(io::read_initial_labels(labels, &options, ids)?);
    let initial = within(job.host_memory, &what, OF_A_LIST, read)?;
    say_columns(labels, &initial.summary, console);
    console.say(&initial_labels_line(labels, &initial));
    Ok(Some(initial.labels))
}

/// Returns a line on the initial labels.
fn initial_labels_line(path: &Path, initial: &InitialLabels) -> String {
    let InitialLabels { labels, communities, unlabelled, are_named, .. } = initial;
    let labelled = counted(labels.len() as u64 - unlabelled, "label", "labels");
    let communities = counted(*communities, "community", "communities");
    let called = if *are_named { "by names" } else { "by vertices" };
    let without = match unlabelled {
        0 => String::new(),
        _ => format!("; {} without one", counted(*unlabelled, "vertex", "vertices")),
    };
    format!("read {labelled} from {}: {communities}, called {called}{without}", named_input(path))
}

/// Checks all outputs; `is_batch` is whether the input is a batch.
fn check_places(job: &Job, is_batch: bool) -> Result<(), Failure> {
    let mut others: Vec<&Path> = vec![&job.input];
    others.extend(job.labels.as_deref());
    let writes = job.program.writes();
    others.extend(job.program.reads());
    let outputs = [job.output.as_deref(), job.stats.as_deref()].into_iter().flatten();
    check_alone(outputs.chain(writes.iter().copied()))?;
    let no_ids = VertexIds::Consecutive { first: 0, count: 0 };
    if let Some(output) = job.target() {
        if output.destination().is_in_parts() && is_batch {
            // A folder of parts is of one graph.
            check_output(output.path(), &others)?;
        }
        write::check_communities_or_graph(output, &no_ids).map_err(Failure::Place)?;
        check_table(output, &others)?;
        others.push(output.path());
    }
    for table in writes {
        write::check_vertex_table(table, &no_ids).map_err(Failure::Place)?;
        check_output(table, &others)?;
        others.push(table);
    }
    if let Some(stats) = &job.stats {
        check_output(stats, &others)?;
        others.push(stats);
    }
    job.checkpoint
        .iter()
        .try_for_each(|checkpoint| checkpoint::check_folder(&checkpoint.folder, &others))
}
