//! A command that computes values of vertices, on ranks that share it.

use crate::console::Console;
use crate::device::DeviceArguments;
use crate::failure::Failure;
use crate::parts::{is_whole, load_with_ranks};
use crate::ranks::{Ranks, not_on_ranks};
use crate::reading::Loaded;
use crate::standard_streams::is_standard;
use crate::values::{OfRanks, ValueArguments, Weights};
use ripplet::graph::GraphView;
use ripplet::lp::engine::Parts;
use ripplet::ranks::Traffic;
use ripplet::{LoadOptions, Storage, StoredGraph};
use std::path::Path;

/// How ranks share a graph.
pub struct Shared {
    /// The vertices of each rank.
    pub parts: Parts,
    /// Whether each rank has the lists of all vertices.
    whole: bool,
}

/// Refuses what ranks cannot do, and starts the threads, on each rank. Returns the options of reading, and the number of
/// threads. `other` is another file that the command reads.
pub fn start(
    ranks: &Ranks,
    values: &ValueArguments,
    device: &DeviceArguments,
    (weights, other): (Weights, Option<&Path>),
    console: &Console,
) -> Result<(LoadOptions, usize), Failure> {
    let streams = [Some(values.input()), other].into_iter().flatten().any(is_standard);
    let refused = [
        ("a GPU", !device.is_cpu_enough(), "leave --device and --device-memory out"),
        ("reading standard input", streams, "name a file that all ranks can read"),
    ];
    let allowed = match refused.into_iter().find(|(_, is_asked, _)| *is_asked) {
        Some((what, _, help)) => Err(not_on_ranks(what, help)),
        None => Ok(()),
    };
    ranks.agree(allowed)?;
    values.start_on_ranks(weights, other, ranks, console)
}

/// Loads this rank's part of a graph, after [`start`]. `with_ids` is whether each rank needs the ids of vertices.
pub fn load(
    ranks: &Ranks,
    values: &ValueArguments,
    options: &LoadOptions,
    with_ids: bool,
    console: &Console,
) -> Result<(Loaded<StoredGraph>, Option<Shared>), Failure> {
    let input = values.input();
    let storage = values.storage.get();
    let compressed = (storage == Some(Storage::Compressed))
        .then(|| "--storage compressed needs all of it".to_owned());
    let whole = compressed.or_else(|| is_whole(input, options));
    let reasons = (whole.as_deref(), storage);
    let limit = values.host_memory();
    let (loaded, parts) =
        load_with_ranks(input, options, ranks, reasons, with_ids, limit, console)?;
    let graph = loaded.graph.view();
    if parts.is_none() {
        ranks.agree(ranks.compare_graphs(graph))?;
    }
    let fits = if ranks.is_first() { values.check_ids(graph.ids()) } else { Ok(()) };
    ranks.agree(fits)?;
    let parts = parts.unwrap_or_else(|| Parts::of_ranks(graph, ranks.size()));
    Ok((loaded, Some(Shared { parts, whole: whole.is_some() })))
}

impl Shared {
    /// Returns the figures of all ranks, each of which calls it with its traffic in the run and its peak memory.
    pub fn figures(
        &self,
        ranks: &Ranks,
        graph: GraphView<'_>,
        traffic: Traffic,
        peak: Option<u64>,
    ) -> OfRanks {
        let mut messages = ranks.figures(&[traffic], self.whole);
        let peaks = ranks.together(|comm| comm.all_gather("peak memory", &[peak.unwrap_or(0)]));
        if let (Some(messages), Some(peaks)) = (&mut messages, peaks) {
            messages.peak_memory = peaks.all().collect();
        }
        let shape = ranks.shape(graph, ranks.own(graph, Some(&self.parts)));
        OfRanks { shape, messages }
    }
}
