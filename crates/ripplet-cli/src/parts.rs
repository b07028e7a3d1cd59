//! Loading of a graph by ranks: each its part, if that is enough.

use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory::{OF_A_GRAPH, within};
use crate::output::named_input;
use crate::ranks::Ranks;
use crate::reading::{FileParts, Loaded, load_stored, report_summary, report_weight_loss};
use crate::size::Size;
use ripplet::io::Format;
use ripplet::io::ranked::{TablePart, TablePartError};
use ripplet::io::rg::Part;
use ripplet::lp::engine::Parts;
use ripplet::{LoadOptions, Storage, StoredGraph};
use std::path::Path;
use std::time::Instant;

/// Returns why a file is not read in parts, if it is not.
pub fn is_whole(path: &Path, options: &LoadOptions) -> Option<String> {
    let is_divided = options.format_of(path) == Some(Format::Rg) || options.has_shares(path);
    let reason = "tables of edges and .rg are read in parts, and `ripplet convert` makes an .rg";
    (!is_divided).then(|| reason.into())
}

/// Loads a graph with the other ranks: this rank's part, or if there is a reason for it the whole graph, with its lists
/// stored as `storage` says. `with_ids` is whether this rank needs the ids of the vertices. If one rank fails, all do.
pub fn load_with_ranks(
    path: &Path,
    options: &LoadOptions,
    ranks: &Ranks,
    (whole, storage): (Option<&str>, Option<Storage>),
    with_ids: bool,
    host_memory: Option<Size>,
    console: &Console,
) -> Result<(Loaded<StoredGraph>, Option<Parts>), Failure> {
    let named = named_input(path);
    let with_ids = ranks.is_first() || with_ids;
    let loaded = within(host_memory, &format!("reading {}", path.display()), OF_A_GRAPH, || {
        if let Some(reason) = whole {
            console.remark(&format!("each rank reads the whole graph of {named}: {reason}"));
            return Ok((load_stored(path, options, storage, console)?, None));
        }
        let (loaded, parts) = match options.format_of(path) {
            Some(Format::Rg) => {
                load_part(path, options, (ranks.rank(), ranks.size()), with_ids, console)?
            }
            _ => load_table_part(path, options, ranks, with_ids, console)?,
        };
        console.detail(&format!("each rank reads its part of {named}"));
        Ok((loaded, Some(parts)))
    });
    let (loaded, parts) = ranks.agree(loaded)?;
    if let Some(parts) = &parts {
        ranks.agree(ranks.compare_parts(parts))?;
    }
    Ok((loaded, parts.map(|parts| parts.of_ranks)))
}

/// Loads part number `part` of `parts` of an `.rg`, and reports progress.
fn load_part(
    path: &Path,
    options: &LoadOptions,
    (part, parts): (usize, usize),
    with_ids: bool,
    console: &Console,
) -> Result<(Loaded<StoredGraph>, FileParts), Failure> {
    console.stage(format!("reading {}", named_input(path)));
    let start = Instant::now();
    let Part { graph, bounds, content } = options.read_part(path, part, parts, with_ids)?;
    let of_ranks = Parts::of_bounds(bounds).unwrap_or_else(|| Parts::whole(graph.vertices()));
    let (read, graph) = (start.elapsed().as_secs_f64(), StoredGraph::Plain(graph));
    interrupt::check()?;
    let loaded = Loaded { graph, read, build: 0.0, summary: None };
    Ok((loaded, FileParts { of_ranks, content }))
}

/// Loads this rank's part of the graph of a table of edges, which the ranks read together, and reports progress.
fn load_table_part(
    path: &Path,
    options: &LoadOptions,
    ranks: &Ranks,
    with_ids: bool,
    console: &Console,
) -> Result<(Loaded<StoredGraph>, FileParts), Failure> {
    console.stage(format!("reading {}", named_input(path)));
    let start = Instant::now();
    let read = ranks.together(|comm| match options.read_table_part(path, comm, with_ids) {
        Err(TablePartError::Ranks(error)) => Err(error),
        read => Ok(read),
    });
    let Some(read) = read else { return Err(Failure::Elsewhere) };
    let TablePart { graph, bounds, summary } = read.map_err(|error| match error {
        TablePartError::Read(error) => Failure::Read(error),
        TablePartError::Build(error) => Failure::Build(error),
        TablePartError::FilesDiffer { .. } => Failure::refused(
            error.to_string(),
            "give all machines the same files, under the same path: a shared folder, or copies",
        ),
        TablePartError::Elsewhere | TablePartError::Ranks(_) => Failure::Elsewhere,
    })?;
    report_summary(path, options, &summary, console);
    let of_ranks = Parts::of_bounds(bounds).unwrap_or_else(|| Parts::whole(graph.vertices()));
    let read = start.elapsed().as_secs_f64();
    let content = (graph.arcs(), graph.weight_scale().code() as u32);
    let graph = StoredGraph::Plain(graph);
    report_weight_loss(&options.build.weights.loss(), console);
    interrupt::check()?;
    let loaded = Loaded { graph, read, build: 0.0, summary: Some(summary) };
    Ok((loaded, FileParts { of_ranks, content }))
}
