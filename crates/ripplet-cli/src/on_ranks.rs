//! A command that computes values of vertices, on ranks that share it.

use crate::console::Console;
use crate::device::DeviceArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::parts::{is_whole, load_with_ranks};
use crate::ranks::{Ranks, not_on_ranks};
use crate::reading::Loaded;
use crate::standard_streams::is_standard;
use crate::values::{OfRanks, ValueArguments, Weights};
use ripplet::analytics::RankPart;
use ripplet::device::peak_memory;
use ripplet::graph::{GraphView, VertexId};
use ripplet::lp::Plan;
use ripplet::ranks::{CommError, Traffic};
use ripplet::{LoadOptions, Storage, StoredGraph};
use serde::Serialize;
use std::ops::Range;
use std::path::Path;

/// A graph of which this rank has its part, and the ranks that share it.
pub struct RankRun<'a> {
    ranks: &'a Ranks,
    pub loaded: Loaded<StoredGraph>,
    /// This rank's own vertices.
    pub own: Range<VertexId>,
    pub threads: usize,
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

impl<'a> RankRun<'a> {
    /// Loads this rank's part of a graph, after [`start`]. `with_ids` is whether each rank needs the ids of vertices.
    pub fn load(
        ranks: &'a Ranks,
        values: &ValueArguments,
        (options, threads): (&LoadOptions, usize),
        with_ids: bool,
        console: &Console,
    ) -> Result<RankRun<'a>, Failure> {
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
        let own = ranks.own(graph, parts.as_ref());
        Ok(RankRun { ranks, loaded, own, threads, whole: whole.is_some() })
    }

    pub fn graph(&self) -> GraphView<'_> {
        self.loaded.graph.view()
    }

    /// Prints the first rank's plan and returns true under `--estimate`; otherwise refuses a run that does not fit a rank.
    pub fn is_estimate(
        &self,
        values: &ValueArguments,
        choices: impl Serialize,
        plan: &Plan,
    ) -> Result<bool, Failure> {
        let is_silent = values.asks_estimate() && !self.ranks.is_first();
        let own = match is_silent {
            true => Ok(true),
            false => values.is_estimate(self.graph(), choices, "cpu", plan),
        };
        self.ranks.agree(own)
    }

    /// Computes something together with the other ranks; returns it, and what `--stats` has of all ranks if that is requested.
    /// `run` returns an error of messages apart from its own.
    pub fn compute<T>(
        &self,
        values: &ValueArguments,
        run: impl FnOnce(&mut RankPart<'_>) -> Result<Result<T, Failure>, CommError>,
    ) -> Result<(T, Option<OfRanks>), Failure> {
        let begun = self.ranks.traffic();
        let own = self.own.clone();
        let computed = self.ranks.together(|comm| run(&mut RankPart::new(own, comm)));
        interrupt::check()?;
        // A rank that fails alone ends the others, which wait for it in the computation.
        let computed = computed.unwrap_or(Err(Failure::Elsewhere))?;
        let of_ranks = values.stats().map(|_| self.figures_since(begun));
        Ok((computed, of_ranks))
    }

    /// Returns the figures of all ranks, each of which calls it.
    fn figures_since(&self, begun: Traffic) -> OfRanks {
        let traffic = self.ranks.traffic().since(begun);
        let mut messages = self.ranks.figures(&[traffic], self.whole);
        let peak = [peak_memory().unwrap_or(0)];
        let peaks = self.ranks.together(|comm| comm.all_gather("peak memory", &peak));
        if let (Some(messages), Some(peaks)) = (&mut messages, peaks) {
            messages.peak_memory = peaks.all().collect();
        }
        let shape = self.ranks.shape(self.graph(), self.own.clone());
        OfRanks { shape, messages }
    }

    /// Whether this rank prints and writes.
    pub fn is_first(&self) -> bool {
        self.ranks.is_first()
    }

    /// Returns how many ranks computed it, as the end of a sentence.
    pub fn on_ranks(&self) -> String {
        self.ranks.as_end()
    }
}
