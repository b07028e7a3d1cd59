//! `ripplet convert`: a graph from one format into another.

use crate::batch::{BatchArguments, report_read};
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::memory::{Limit, MemoryArguments, OF_A_GRAPH, within};
use crate::message::{counted, size_of};
use crate::output::{check_not_folder, check_place, named_input, written};
use crate::parts::load_with_ranks;
use crate::ranks::{Ranks, RanksArguments, not_on_ranks};
use crate::reading::{BuildArguments, ReadArguments, load, output_format};
use crate::standard_streams::is_standard;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::graph::Graph;
use ripplet::io::batch::BatchReader;
use ripplet::io::rg::{WriteRankedError, write_ranked};
use ripplet::io::swarm_file::SwarmWriter;
use ripplet::io::{Format, write};
use ripplet::{LoadOptions, StoredGraph};
use std::path::{Path, PathBuf};

/// Convert a graph from one format into another; .rg opens in milliseconds, .rgz is smaller.
///
/// A batch of many graphs (a folder or an archive of graph files, a TU data set, with --batch a table with a
/// column `graph`) becomes a .swarm.
///
/// Edges from a vertex to itself are dropped and repeated ones merged, as `ripplet communities`
/// does, unless flags say otherwise.
#[derive(Args)]
pub struct Arguments {
    /// The graph.
    input: PathBuf,
    /// The file for the graph: .rg, .rgz, .txt, .el, .tsv, .csv, .mtx, .graph, .e, .graphml, .gexf, .gml,
    /// .net (Pajek), .json (node-link), .dot, .parquet or .arrow; text also as .gz or .zst; a batch to .swarm.
    output: PathBuf,
    #[command(flatten)]
    reading: ReadArguments,
    #[command(flatten)]
    building: BuildArguments,
    /// The output's format, if its name does not show it.
    #[arg(long, value_name = "FORMAT", value_parser = output_format)]
    to: Option<Format>,
    #[command(flatten)]
    batch: BatchArguments,
    #[command(flatten)]
    memory: MemoryArguments,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    ranks: RanksArguments,
}

/// Converts a graph, or many.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    arguments.ranks.share(console, |ranks, console| match ranks.size() > 1 {
        true => arguments.on_ranks(ranks, console),
        false => run_alone(arguments, console),
    })
}

fn run_alone(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    let Arguments { input, output, to, batch, .. } = arguments;
    let options = arguments.reading.options(input, &arguments.building)?;
    if batch.is_asked(input, &options.read) {
        let what = format!("the batch {}", input.display());
        let convert = || {
            let converted = arguments.convert_batch(&options, console);
            converted.map_err(|failure| arguments.batch.with_hint(failure, input))
        };
        return within(arguments.memory.host_memory, &what, MORE, convert);
    }
    batch.check_unused()?;
    if is_swarm(output) {
        return Err(Failure::refused(
            format!("{} would be of many graphs, but the input is one", output.display()),
            "name another format, such as .rg, or add --batch where the input is a table with a \
             column `graph`",
        ));
    }
    check_graph_place(output, *to, &[input])?;
    arguments.threads.start()?;
    let reading = format!("reading {}", input.display());
    let read = || load(input, &options, console);
    let graph = within(arguments.memory.host_memory, &reading, OF_A_GRAPH, read)?.graph;
    write_graph(&graph, output, *to, console)?;
    if !is_standard(output) {
        let size = size_of(graph.vertices().into(), graph.edges());
        console.say(&format!("{size}; see {}", output.display()));
    }
    Ok(Ending::Whole)
}

/// The advice if the memory does not suffice for a part of a batch, or for a table.
pub const MORE: &str = "allow more --host-memory";
/// Parts that are in memory at once: the one that is taken, the one that is read, and what both are made of.
pub const PARTS: u64 = 4;

/// Returns whether the output is a batch.
fn is_swarm(output: &Path) -> bool {
    output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("swarm"))
}

impl Arguments {
    /// Converts a table together with other ranks, each of which has a part of its graph; the first one writes.
    fn on_ranks(&self, ranks: &Ranks, console: &Console) -> Result<Ending, Failure> {
        let Arguments { input, output, memory, .. } = self;
        let host_memory = memory.host_memory;
        let options = ranks.agree(self.options_on_ranks(ranks))?;
        let threads = ranks.share_host(self.threads, host_memory, console);
        ranks.agree(threads.start())?;
        let (whole, with_ids) = ((None, None), false);
        let (loaded, parts) =
            load_with_ranks(input, &options, ranks, whole, with_ids, host_memory, console)?;
        let graph = loaded.graph.view();
        let own = ranks.own(graph, parts.as_ref());
        let edges = ranks.shape(graph, own.clone()).edges;
        let StoredGraph::Plain(plain) = &loaded.graph else { return Err(Failure::Elsewhere) };
        console.stage(format!("writing {}", output.display()));
        let writing = ranks.together(|comm| match write_ranked(plain, own, output, comm) {
            Err(WriteRankedError::Ranks(error)) => Err(error),
            written => Ok(written),
        });
        match writing.unwrap_or(Ok(())) {
            Ok(()) => {}
            Err(WriteRankedError::Write(error)) => return Err(Failure::Write(error)),
            Err(WriteRankedError::OutOfMemory(error)) => return Err(error.into()),
            Err(WriteRankedError::Ranks(_)) => return Err(Failure::Elsewhere),
        }
        let size = size_of(graph.vertices().into(), edges);
        console.say(&format!("{size}; see {}", output.display()));
        Ok(Ending::Whole)
    }

    /// Refuses what ranks cannot convert; the first one alone writes.
    fn options_on_ranks(&self, ranks: &Ranks) -> Result<LoadOptions, Failure> {
        let Arguments { input, output, to, batch, .. } = self;
        let options = self.reading.options(input, &self.building)?;
        if batch.is_asked(input, &options.read) {
            return Err(not_on_ranks("converting a batch", "run it in one process"));
        }
        batch.check_unused()?;
        if !options.has_shares(input) {
            let what = format!("converting {}", named_input(input));
            return Err(not_on_ranks(
                &what,
                "run it in one process: ranks convert tables of edges alone",
            ));
        }
        let format = to.or_else(|| Format::of_path(output).map(|(format, _)| format));
        if format != Some(Format::Rg) || is_standard(output) {
            let what = format!("writing {}", output.display());
            return Err(not_on_ranks(&what, "name an .rg, or run it in one process"));
        }
        if ranks.is_first() {
            check_graph_place(output, *to, &[input])?;
        }
        Ok(options)
    }

    /// Converts many graphs, part by part.
    fn convert_batch(&self, options: &LoadOptions, console: &Console) -> Result<Ending, Failure> {
        let Arguments { input, output, batch, .. } = self;
        if !is_swarm(output) || self.to.is_some() {
            return Err(Failure::refused(
                format!("{} holds many graphs, which only a .swarm can hold", input.display()),
                "name the output OUT.swarm, and leave --to out",
            ));
        }
        check_place(output, &[input])?;
        self.threads.start()?;
        console.stage(format!("reading {}", input.display()));
        let limit = Limit::of(self.memory.host_memory)?;
        let room = limit.map(|limit| limit.size.0 / PARTS);
        let mut reader = BatchReader::open(input, &batch.options(options, room))?;
        let mut writer = SwarmWriter::create(output).map_err(Failure::Write)?;
        let (mut graphs, mut vertices, mut arcs) = (0, 0, 0);
        while let Some(part) = reader.next_part()? {
            interrupt::check()?;
            let slice = part.slice();
            writer.append(slice).map_err(Failure::Write)?;
            graphs += slice.len() as u64;
            (vertices, arcs) = (vertices + slice.vertices(), arcs + slice.arcs());
            let read = counted(graphs, "graph", "graphs");
            console.stage(format!("{read}, {:.0} % done", 100.0 * reader.progress()));
        }
        interrupt::check()?;
        written(writer.finish())?;
        let ending = report_read(&reader, console);
        let see = output.display();
        console.say(&format!(
            "{}, {}, {}; see {see}",
            counted(graphs, "graph", "graphs"),
            counted(vertices, "vertex", "vertices"),
            counted(arcs, "arc", "arcs")
        ));
        Ok(ending)
    }
}

/// Checks that a graph can go to `path`.
pub fn check_graph_place(
    path: &Path,
    format: Option<Format>,
    others: &[&Path],
) -> Result<(), Failure> {
    check_not_folder(path)?;
    if format.is_none() && Format::of_path(path).is_none() && !is_standard(path) {
        return Err(Failure::refused(
            format!("the name of the output {} does not show its format", path.display()),
            format!("name the format with --to: {}", Format::names_written()),
        ));
    }
    write::check_graph_name(path, format).map_err(Failure::Place)?;
    check_place(path, others)
}

/// Writes a graph; returns how many of its vertices the format leaves out.
pub fn write_graph(
    graph: &Graph,
    path: &Path,
    format: Option<Format>,
    console: &Console,
) -> Result<u64, Failure> {
    interrupt::check()?;
    console.stage(format!("writing {}", path.display()));
    if is_standard(path) {
        console.close();
    }
    let left_out = written(write::write_graph(graph, path, format))?;
    if left_out > 0 {
        let (vertices, are) = match left_out {
            1 => ("vertex", "is"),
            _ => ("vertices", "are"),
        };
        console.say(&format!(
            "note: {left_out} {vertices} without edges {are} not in {}, whose format names edges only",
            path.display()
        ));
    }
    Ok(left_out)
}
