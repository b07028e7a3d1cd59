//! `ripplet convert`: a graph from one format into another.

use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{check_place, is_standard, written};
use crate::reading::{BuildArguments, ReadArguments, format, load};
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::graph::Graph;
use ripplet::io::{Format, WriteError, write};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// Convert a graph from one format into another; .rg opens in milliseconds.
///
/// Edges from a vertex to itself are dropped and repeated ones merged, as `ripplet communities`
/// does, unless flags say otherwise.
#[derive(Args)]
pub struct Arguments {
    /// The graph.
    input: PathBuf,
    /// Where it goes: .rg, .txt, .el, .tsv, .csv, .mtx, .graph, .e, .parquet or .arrow; text also
    /// as .gz or .zst.
    output: PathBuf,
    #[command(flatten)]
    reading: ReadArguments,
    #[command(flatten)]
    building: BuildArguments,
    /// The input's format, where its name does not tell.
    #[arg(long, value_name = "FORMAT", value_parser = format, help_heading = "Reading")]
    from: Option<Format>,
    /// The output's format, where its name does not tell.
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    to: Option<Format>,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// Converts a graph.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { input, output, to, .. } = arguments;
    let options = arguments.reading.options(input, arguments.from, &arguments.building)?;
    check_graph_place(output, *to, &[input])?;
    arguments.threads.start()?;
    let graph = load(input, &options, console)?.graph;
    write_graph(&graph, output, *to, console)?;
    if !is_standard(output) {
        let (vertices, edges) = (graph.vertices(), graph.edges());
        console.say(&format!("{vertices} vertices, {edges} edges; see {}", output.display()));
    }
    Ok(())
}

/// Checks that a graph can go to `path`.
pub fn check_graph_place(
    path: &Path,
    format: Option<Format>,
    others: &[&Path],
) -> Result<(), Failure> {
    if format.is_none() && Format::of_path(path).is_none() && !is_standard(path) {
        let names = Format::names();
        let sentence = format!("the name does not tell the format, one of: {names}");
        let source = Error::new(ErrorKind::InvalidInput, sentence);
        return Err(Failure::Place(WriteError { path: path.into(), source }));
    }
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
        console.say(&format!(
            "note: {left_out} vertices without edges are not in {}, whose format names edges only",
            path.display()
        ));
    }
    Ok(left_out)
}
