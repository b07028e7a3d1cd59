//! The output of `--stats` for a batch. Programs rely on the names.

use super::Done;
use crate::failure::Failure;
use crate::output::write_json;
use crate::stats::RanksFigures;
use ripplet::device::peak_memory;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The output of `--stats`.
#[derive(Serialize)]
struct Stats<C, F> {
    /// The version of ripplet.
    version: &'static str,
    /// The report of the reader.
    input: String,
    graphs: u64,
    vertices: u64,
    /// Half of the stored arcs if edges are undirected.
    edges: u64,
    directed: bool,
    weighted: bool,
    #[serde(flatten)]
    choices: C,
    #[serde(flatten)]
    found: F,
    /// Parts in which the batch came.
    parts: u64,
    /// Graphs that could not be read.
    skipped: Vec<Skipped>,
    /// Seconds in which each stage was busy, and in all.
    seconds: Seconds,
    /// `seconds`, each as a share of the time from the first part to the last.
    busy: Seconds,
    /// Figures of each worker: of several ranks, one each.
    workers: Vec<WorkerStats>,
    /// The peak memory of the process; null if the system does not report it.
    peak_host: Option<u64>,
    /// Messages between ranks; left out in one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<RanksFigures>,
}

#[derive(Serialize)]
struct Skipped {
    graph: String,
    error: String,
}

/// A number for each stage. The stages overlap.
#[derive(Serialize)]
struct Seconds {
    /// Opening the batch; a TU data set and a table are read with their first part.
    open: f64,
    read: f64,
    /// The seconds of the busiest worker.
    compute: f64,
    write: f64,
    /// From the first part to the last.
    wall: f64,
}

#[derive(Serialize)]
struct WorkerStats {
    name: String,
    parts: u64,
    busy: f64,
    /// The seconds of each stage, as far as the worker reports them.
    seconds: BTreeMap<&'static str, f64>,
}

impl Done {
    /// Writes the choices and figures of the run under `--stats`.
    pub fn write_stats(
        &self,
        path: Option<&Path>,
        choices: impl Serialize,
        found: impl Serialize,
    ) -> Result<(), Failure> {
        let Some(path) = path.filter(|_| self.is_first) else { return Ok(()) };
        let Done { report, reader, directed, weighted, .. } = self;
        let skipped = reader.skipped().iter().map(|skipped| Skipped {
            graph: skipped.graph.clone(),
            error: skipped.error.to_string(),
        });
        let workers = report.workers.iter().map(|worker| WorkerStats {
            name: worker.name.clone(),
            parts: worker.parts,
            busy: report.share(worker.busy),
            seconds: worker.steps.iter().copied().collect(),
        });
        let stats = Stats {
            version: env!("CARGO_PKG_VERSION"),
            input: reader.summary().to_string(),
            graphs: report.graphs,
            vertices: report.vertices,
            edges: if *directed { report.arcs } else { report.arcs / 2 },
            directed: *directed,
            weighted: *weighted,
            choices,
            found,
            parts: report.parts,
            skipped: skipped.collect(),
            seconds: self.stages(|seconds| seconds),
            busy: self.stages(|seconds| report.share(seconds)),
            workers: workers.collect(),
            peak_host: peak_memory(),
            ranks: self.ranks.clone(),
        };
        write_json(path, &stats)
    }

    fn stages(&self, of: impl Fn(f64) -> f64) -> Seconds {
        let report = &self.report;
        Seconds {
            open: of(self.open),
            read: of(report.read),
            compute: of(report.compute()),
            write: of(report.write),
            wall: of(report.wall),
        }
    }
}
