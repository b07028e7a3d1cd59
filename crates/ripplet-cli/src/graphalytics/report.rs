//! The report of a benchmark: as lines, as JSON and as a page.

use super::algorithm::Task;
use crate::message::size_of;
use crate::stats::{MachineFacts, Shape};
use askama::Template;
use serde::Serialize;
use std::fmt::Write;

/// A benchmark of one graph. Programs rely on the names.
#[derive(Debug, Serialize, Template)]
#[template(path = "graphalytics.html")]
pub struct Report {
    /// The version of ripplet.
    pub version: &'static str,
    /// The graph's name in its properties.
    pub graph: String,
    /// The graph.
    #[serde(flatten)]
    pub shape: Shape,
    /// The machine.
    pub machine: MachineFacts,
    /// Threads that read, and compute unless a GPU does.
    pub threads: usize,
    /// Seconds from the files to a graph in memory.
    pub load_seconds: f64,
    /// The algorithms, in the order of `--algorithm`.
    pub algorithms: Vec<Measured>,
}

/// An algorithm and its repetitions.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// Its name.
    pub algorithm: &'static str,
    /// Rounds, if it has rounds.
    pub iterations: Option<u32>,
    /// The device.
    pub device: String,
    /// Each repetition, from the first.
    pub runs: Vec<Run>,
    /// The median of the repetitions' processing seconds.
    pub processing_seconds: f64,
    /// The median of their makespans.
    pub makespan_seconds: f64,
    /// Edges and vertices a second of processing, by its median.
    pub evps: f64,
    /// The result of validation: `passed`, `failed`, or `none` without a reference output.
    pub validation: &'static str,
    /// `validation` as a sentence.
    pub validated: String,
}

/// A repetition.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Run {
    /// The algorithm alone.
    pub processing_seconds: f64,
    /// Time of a process that runs this repetition alone: loading, processing, writing if there is an output, and
    /// everything between them.
    pub makespan_seconds: f64,
}

impl Measured {
    /// Summarizes the repetitions of a task on a graph of this shape.
    pub fn new(task: &Task, device: String, shape: &Shape, runs: Vec<Run>) -> Measured {
        let processing_seconds = median(runs.iter().map(|run| run.processing_seconds));
        let size = f64::from(shape.vertices) + shape.edges as f64;
        Measured {
            algorithm: task.algorithm.name(),
            iterations: task.iterations,
            device,
            processing_seconds,
            makespan_seconds: median(runs.iter().map(|run| run.makespan_seconds)),
            // Without a measurable time there is no speed: JSON has no infinity.
            evps: if processing_seconds > 0.0 { size / processing_seconds } else { 0.0 },
            runs,
            validation: "none",
            validated: format!("none: there is no {}", task.reference.name),
        }
    }
}

impl Report {
    /// The report as lines for a person.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<12}{value}");
        };
        let kind = self.kind();
        let Shape { vertices, edges, .. } = self.shape;
        line("graph", format!("{}, {kind}, {}", self.graph, size_of(vertices.into(), edges)));
        line("load", format!("{:.6} s", self.load_seconds));
        for measured in &self.algorithms {
            let Measured { processing_seconds, makespan_seconds, evps, .. } = measured;
            line(
                measured.algorithm,
                format!(
                    "processing {processing_seconds:.6} s, makespan {makespan_seconds:.6} s, \
                     {evps:.0} edges and vertices a second{}; {}",
                    measured.of_runs(),
                    measured.how(self.threads)
                ),
            );
            line("validation", measured.validated.clone());
        }
        text
    }

    fn kind(&self) -> &'static str {
        if self.shape.directed { "directed" } else { "undirected" }
    }
}

impl Measured {
    fn of_runs(&self) -> String {
        match self.runs.len() {
            1 => String::new(),
            runs => format!(" (medians of {runs})"),
        }
    }

    fn how(&self, threads: usize) -> String {
        let rounds = self.iterations.map(|rounds| format!("{rounds} iterations, "));
        let device = match &*self.device {
            "cpu" => format!("{threads} threads"),
            device => device.to_owned(),
        };
        rounds.unwrap_or_default() + &device
    }
}

/// The median; of an even number, the mean of the middle two. There is at least one.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    let last = all.len().saturating_sub(1);
    match (all.get(last / 2), all.get(last.div_ceil(2))) {
        (Some(low), Some(high)) => (low + high) / 2.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn medians() {
        for (values, expected) in [
            (&[3.0][..], 3.0),
            (&[5.0, 1.0], 3.0),
            (&[9.0, 1.0, 2.0], 2.0),
            (&[4.0, 1.0, 2.0, 9.0], 3.0),
        ] {
            assert_eq!(median(values.iter().copied()), expected);
        }
    }
}
