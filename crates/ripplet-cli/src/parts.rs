//! Loading of a graph by ranks: each its part, if that is enough.

use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory::{OF_A_GRAPH, within};
use crate::output::named_input;
use crate::ranks::Ranks;
use crate::reading::{Loaded, load_stored, report_summary, report_weight_loss};
use crate::size::Size;
use ripplet::lp::RunError;
use ripplet::lp::engine::Parts;
use ripplet::{LoadError, LoadOptions, LoadPartError, RankGraph, Storage, StoredGraph};
use std::path::Path;
use std::time::Instant;

/// Returns why a file is not read in parts, if it is not.
pub fn is_whole(path: &Path, options: &LoadOptions) -> Option<String> {
    let reason = "tables of edges and .rg are read in parts, and `ripplet convert` makes an .rg";
    (!options.has_parts(path)).then(|| reason.into())
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
        let (loaded, parts) = load_part(path, options, ranks, with_ids, console)?;
        console.detail(&format!("each rank reads its part of {named}"));
        Ok((loaded, Some(parts)))
    });
    ranks.agree(loaded)
}

/// Loads this rank's part of a graph, and reports progress.
fn load_part(
    path: &Path,
    options: &LoadOptions,
    ranks: &Ranks,
    with_ids: bool,
    console: &Console,
) -> Result<(Loaded<StoredGraph>, Parts), Failure> {
    console.stage(format!("reading {}", named_input(path)));
    let start = Instant::now();
    let read = ranks.together(|comm| match options.load_part(path, comm, with_ids) {
        Err(LoadPartError::Ranks(error)) => Err(error),
        read => Ok(read),
    });
    let Some(read) = read else { return Err(Failure::Elsewhere) };
    let RankGraph { graph, parts, summary } = read.map_err(|error| match error {
        LoadPartError::Load(LoadError::Read(error)) => Failure::Read(error),
        LoadPartError::Load(LoadError::Build(error)) => Failure::Build(error),
        LoadPartError::GraphsDiffer { rank } => RunError::RanksDiffer { rank }.into(),
        LoadPartError::FilesDiffer { .. } => Failure::refused(
            error.to_string(),
            "give all machines the same files, under the same path: a shared folder, or copies",
        ),
        LoadPartError::NoParts => {
            Failure::refused(error.to_string(), "run it in one process with --ranks none")
        }
        LoadPartError::Elsewhere | LoadPartError::Ranks(_) => Failure::Elsewhere,
    })?;
    if let Some(summary) = &summary {
        report_summary(path, options, summary, console);
    }
    let read = start.elapsed().as_secs_f64();
    report_weight_loss(&options.build.weights.loss(), console);
    interrupt::check()?;
    Ok((Loaded { graph: StoredGraph::Plain(graph), read, build: 0.0, summary }, parts))
}
