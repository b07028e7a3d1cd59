//! The contents of a batch, from one pass over its parts.

use super::Arguments;
use crate::batch::report_read;
use crate::console::Console;
use crate::convert::PARTS;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::memory::Limit;
use crate::message::{counted, one_line};
use crate::output::{json, print};
use rayon::prelude::*;
use ripplet::LoadOptions;
use ripplet::graph::Direction;
use ripplet::graph::batch::{BatchGraph, BatchSlice};
use ripplet::io::batch::BatchReader;
use serde::Serialize;
use std::fmt::Write;

/// Figures of a batch.
#[derive(Debug, Default, Serialize)]
struct BatchInfo {
    graphs: u64,
    /// The report of the reader, as a sentence.
    input: String,
    #[serde(flatten)]
    all: Counts,
    directed: bool,
    weighted: bool,
    /// Graphs that could not be read.
    skipped: usize,
    first_graph: Option<String>,
    last_graph: Option<String>,
    /// The number of graphs by the number of vertices, in doubling classes; empty classes are left out.
    sizes: Vec<Size>,
}

/// A sum over all graphs, and the maximum.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    vertices: u64,
    edges: u64,
    self_loops: u64,
    /// Graphs without vertices.
    empty: u64,
    most_vertices: u32,
    most_edges: u64,
}

/// Graphs of similar size.
#[derive(Clone, Copy, Debug, Serialize)]
struct Size {
    /// The least number of vertices, and the largest.
    vertices: [u32; 2],
    graphs: u64,
}

/// The number of size classes: 0, 1, 2 to 3, 4 to 7, …
const SIZES: usize = 33;

impl Arguments {
    /// Shows what a batch holds.
    pub(super) fn show_batch(
        &self,
        options: &LoadOptions,
        console: &Console,
    ) -> Result<Ending, Failure> {
        self.threads.start()?;
        console.stage(format!("reading {}", self.file.display()));
        let limit = Limit::of(self.memory.host_memory)?;
        let room = limit.map(|limit| limit.size.0 / PARTS);
        let mut reader = BatchReader::open(&self.file, &self.batch.options(options, room))?;
        let (mut info, mut sizes) = (BatchInfo::default(), [0; SIZES]);
        while let Some(part) = reader.next_part()? {
            interrupt::check()?;
            info.add(part.slice(), &mut sizes);
            let read = counted(info.graphs, "graph", "graphs");
            console.stage(format!("{read}, {:.0} %", 100.0 * reader.progress()));
        }
        let ending = report_read(&reader, console);
        info.skipped = reader.skipped().len();
        info.input = reader.summary().to_string();
        let of_size = |(size, graphs): (u32, u64)| Size { vertices: bounds(size), graphs };
        let some = |&(_, graphs): &(u32, u64)| graphs > 0;
        info.sizes = (0..).zip(sizes).filter(some).map(of_size).collect();
        print(&if self.json { json(&info) } else { info.lines() })?;
        Ok(ending)
    }
}

/// Returns the size class of a graph of `vertices` vertices.
fn size_of_graph(vertices: u32) -> usize {
    vertices.checked_ilog2().map_or(0, |log| log as usize + 1)
}

/// The least and the largest number of vertices of a size.
fn bounds(size: u32) -> [u32; 2] {
    match size {
        0 => [0, 0],
        _ => [1 << (size - 1), u32::MAX >> (32 - size)],
    }
}

impl Counts {
    fn of(graph: BatchGraph<'_>) -> Counts {
        let (vertices, edges) = (graph.vertices(), graph.edges());
        Counts {
            vertices: vertices.into(),
            edges,
            self_loops: graph.self_loops(),
            empty: u64::from(vertices == 0),
            most_vertices: vertices,
            most_edges: edges,
        }
    }

    fn and(self, other: Counts) -> Counts {
        Counts {
            vertices: self.vertices + other.vertices,
            edges: self.edges + other.edges,
            self_loops: self.self_loops + other.self_loops,
            empty: self.empty + other.empty,
            most_vertices: self.most_vertices.max(other.most_vertices),
            most_edges: self.most_edges.max(other.most_edges),
        }
    }
}

impl BatchInfo {
    fn add(&mut self, graphs: BatchSlice<'_>, sizes: &mut [u64; SIZES]) {
        let of = |graph: usize| Counts::of(graphs.graph(graph));
        let counts = (0..graphs.len()).into_par_iter().map(of);
        self.all = self.all.and(counts.reduce(Counts::default, Counts::and));
        for graph in graphs.graphs() {
            sizes[size_of_graph(graph.vertices())] += 1;
        }
        let (mut ends, last) = (graphs.graphs(), graphs.len().checked_sub(1));
        if let (None, Some(first)) = (&self.first_graph, ends.next()) {
            self.first_graph = Some(first.id().to_string());
        }
        if let Some(last) = last {
            self.last_graph = Some(graphs.graph(last).id().to_string());
        }
        self.graphs += graphs.len() as u64;
        self.directed = graphs.batch().direction() == Direction::Directed;
        self.weighted = graphs.batch().is_weighted();
    }

    fn lines(&self) -> String {
        let yes = |fact: bool| if fact { "yes" } else { "no" }.to_string();
        let mean = |sum: u64| sum as f64 / self.graphs.max(1) as f64;
        let ends = match (&self.first_graph, &self.last_graph) {
            (Some(first), Some(last)) => format!(", {} to {}", one_line(first), one_line(last)),
            _ => String::new(),
        };
        let Counts { vertices, edges, self_loops, empty, most_vertices, most_edges } = self.all;
        let of_all = |sum, most: u64| format!("{sum}: {:.2} a graph, {most} at most", mean(sum));
        let mut text = String::new();
        for (name, value) in [
            ("graphs", format!("{}{ends}", self.graphs)),
            ("vertices", of_all(vertices, most_vertices.into())),
            ("edges", of_all(edges, most_edges)),
            ("directed", yes(self.directed)),
            ("weighted", yes(self.weighted)),
            ("self-loops", self_loops.to_string()),
            ("empty", empty.to_string()),
        ] {
            let _ = writeln!(text, "{name:<12}{value}");
        }
        for Size { vertices: [least, most], graphs } in &self.sizes {
            let range = if least == most { least.to_string() } else { format!("{least}–{most}") };
            let noun = if *graphs == 1 { "graph" } else { "graphs" };
            let _ = writeln!(text, "  {range:<18}{graphs:>12} {noun}");
        }
        let _ = writeln!(text, "{:<12}{}", "input", self.input);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_double() {
        for vertices in [0, 1, 2, 3, 4, 7, 8, 1023, 1024, u32::MAX - 1, u32::MAX] {
            let [least, most] = bounds(size_of_graph(vertices) as u32);
            assert!((least..=most).contains(&vertices), "{vertices}: {least} to {most}");
        }
        assert_eq!(
            [0, 1, 2, 3, 32].map(bounds),
            [[0, 0], [1, 1], [2, 3], [4, 7], [1 << 31, u32::MAX]]
        );
    }
}
