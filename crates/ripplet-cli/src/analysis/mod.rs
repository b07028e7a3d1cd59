//! Commands that analyse a graph or each graph of a batch: `closeness`, `harmonic`, `betweenness`, `apsp`,
//! `pagerank`, `components`, `kcore` and `lcc`.

mod batch;
mod follow;
mod graph;
mod output;

use crate::batch::BatchArguments;
use crate::console::Console;
use crate::device::{DeviceArguments, note_fallback};
use crate::failure::{Ending, Failure};
use crate::message::counted;
use crate::on_ranks::start;
use crate::ranks::{Ranks, RanksArguments, not_on_ranks};
use crate::reading::{check_standard_input, read_list, read_weighted_list};
use crate::values::{ValueArguments, Weights};
use clap::Args;
use ripplet::Storage;
use ripplet::analyses::AnalysisRun;
use ripplet::analytics::pagerank::{Jumps, JumpsError};
use ripplet::analytics::{Lengths, Sources, SourcesError};
use ripplet::device::{GpuWorker, Workers};
use ripplet::graph::{GraphView, VertexId};
use ripplet::io::write::{ColumnData, Part, Subject};
use ripplet::swarm::{Analysis, Clustering, Scope, SwarmError};
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// The common arguments of most of these commands.
#[derive(Args)]
pub struct AskedArguments {
    #[command(flatten)]
    pub values: ValueArguments,
    #[command(flatten)]
    batch: BatchArguments,
    #[command(flatten, next_help_heading = "Choices")]
    device: DeviceArguments,
    #[command(flatten)]
    ranks: RanksArguments,
}

impl AskedArguments {
    /// Runs the analysis, about the vertices of a file if one is given, and writes the result. `choices` are the settings that
    /// determine it, by name.
    pub fn ask<C: Serialize>(
        &self,
        listed: Option<Listed<'_>>,
        (weights, analysis): (Weights, Analysis),
        choices: C,
        console: &Console,
    ) -> Result<Ending, Failure> {
        let AskedArguments { values, batch, device, ranks } = self;
        Request { values, batch, device, weights, analysis, listed, choices }.ask(ranks, console)
    }
}

/// An analysis, its input and its output.
pub struct Request<'a, C> {
    /// The input and the output.
    pub values: &'a ValueArguments,
    /// The arguments of a batch.
    pub batch: &'a BatchArguments,
    /// The device.
    pub device: &'a DeviceArguments,
    /// The meaning of weights.
    pub weights: Weights,
    /// The analysis.
    pub analysis: Analysis,
    /// The file of the vertices that it is about, if it is not about all alike.
    pub listed: Option<Listed<'a>>,
    /// The settings that determine the result, by name.
    pub choices: C,
}

/// A file of the vertices that an analysis is about.
#[derive(Clone, Copy)]
pub enum Listed<'a> {
    /// Walks jump to them.
    JumpTo(&'a Path),
    /// Distances are those from them.
    From(&'a Path),
    /// Values are those of them alone.
    Of(&'a Path),
}

impl<'a> Listed<'a> {
    fn path(self) -> &'a Path {
        match self {
            Listed::JumpTo(path) | Listed::From(path) | Listed::Of(path) => path,
        }
    }

    /// Returns the option that names the file.
    fn option(self) -> &'static str {
        match self {
            Listed::JumpTo(_) => "--personalize",
            Listed::From(_) => "--sources",
            Listed::Of(_) => "--vertices",
        }
    }

    /// Reads the vertices; returns the run about them, and the number of those from which distances are searched.
    fn choose<'g>(
        self,
        run: AnalysisRun<'g>,
        graph: GraphView<'_>,
        console: &Console,
    ) -> Result<(AnalysisRun<'g>, Option<u64>), Failure> {
        let purpose = match self {
            Listed::JumpTo(_) => "to jump to",
            Listed::From(_) => "to start at",
            Listed::Of(_) => "to compute",
        };
        let refused = |error: &dyn fmt::Display| {
            Failure::refused(error.to_string(), "list vertices of the graph")
        };
        if let Listed::JumpTo(_) = self {
            let weights =
                read_weighted_list(self.path(), self.option(), purpose, graph.ids(), console)?;
            let jumps = Jumps::to(graph.vertices(), weights);
            let jumps = jumps.map_err(|error| match error {
                JumpsError::OutOfMemory(error) => error.into(),
                error => refused(&error),
            })?;
            return Ok((run.personalize(jumps), None));
        }
        let vertices = read_list(self.path(), self.option(), purpose, graph.ids(), console)?;
        let chosen = Sources::new(graph.vertices(), vertices).map_err(|error| match error {
            SourcesError::OutOfMemory(error) => error.into(),
            error => refused(&error),
        })?;
        Ok(match self {
            Listed::Of(_) => (run.vertices(chosen), None),
            _ => {
                let count = chosen.vertices().len() as u64;
                (run.sources(chosen), Some(count))
            }
        })
    }
}

/// The settings that determine a result or its speed, by name.
#[derive(Debug, Serialize)]
struct Choices<'a, C> {
    #[serde(flatten)]
    of_analysis: &'a C,
    /// The storage of the lists.
    storage: &'static str,
    /// The device that computes.
    device: String,
    /// Threads of the CPU, which reads and writes also if a GPU computes.
    threads: usize,
}

/// Returns the workers on GPUs; prints the reason if there are none although a GPU was allowed.
fn noted(workers: Workers, console: &Console) -> Vec<GpuWorker> {
    workers.unwrap_or_else(|fallback| {
        note_fallback(&fallback, console);
        Vec::new()
    })
}

/// Returns the name of a definition of path lengths.
pub fn lengths_name(lengths: Lengths) -> &'static str {
    match lengths {
        Lengths::Hops => "hops",
        Lengths::Weights => "weights",
    }
}

impl<C: Serialize> Request<'_, C> {
    /// Runs the analysis, on ranks if there are several, and writes the result.
    pub fn ask(self, ranks: &RanksArguments, console: &Console) -> Result<Ending, Failure> {
        ranks.share(console, |ranks, console| {
            self.device.check()?;
            let device = &match self.analysis.on_device_for(self.scope()) {
                Ok(()) => self.device.with_storage(&self.values.storage, console)?,
                Err(_) => self.device.clone(),
            };
            Request { device, ..self }.run(ranks, console)
        })
    }

    fn run(&self, ranks: &Ranks, console: &Console) -> Result<Ending, Failure> {
        let file = self.listed.map(Listed::path);
        let (options, threads) = match ranks.are_several() {
            true => start(ranks, self.values, self.device, (self.weights, file), console)?,
            false => {
                if let Some(path) = file {
                    check_standard_input(&[self.values.input(), path])?;
                }
                self.values.start(self.weights, file)?
            }
        };
        self.say_lengths(console);
        if self.batch.is_asked(self.values.input(), &options.read) {
            ranks.agree(self.check_batch())?;
            return self.of_batch(ranks, &options, threads, console);
        }
        ranks.agree(self.batch.check_unused().and_then(|()| self.check_graph(ranks)))?;
        self.of_graph(ranks, (&options, threads), console)?;
        Ok(Ending::Whole)
    }

    fn scope(&self) -> Scope {
        match self.listed {
            None | Some(Listed::JumpTo(_)) => Scope::All,
            Some(Listed::From(_) | Listed::Of(_)) => Scope::Chosen,
        }
    }

    /// Refuses an analysis of one graph that several ranks do not share.
    fn check_graph(&self, ranks: &Ranks) -> Result<(), Failure> {
        match self.analysis {
            Analysis::PageRank(_) | Analysis::Components | Analysis::Lcc(_) => Ok(()),
            _ if !ranks.are_several() => Ok(()),
            _ => Err(not_on_ranks(
                "this analysis of one graph",
                "run it in one process; ranks share the graphs of a batch, and of one graph communities, PageRank, components \
                 and clustering coefficients",
            )),
        }
    }

    /// Notes that weights are lengths.
    fn say_lengths(&self, console: &Console) {
        if matches!(self.weights, Weights::Lengths) && self.values.is_weighted() {
            // In `communities` a weight is a strength, the opposite of a length: the remark prevents confusion.
            console.remark("a weight is the length of its edge: a large weight means far apart");
        }
    }

    /// Refuses what is about one graph.
    fn check_batch(&self) -> Result<(), Failure> {
        if let Some(option) = self.listed.map(Listed::option) {
            return Err(Failure::refused(
                format!("{option} names vertices of one graph, and the input is a batch"),
                format!("leave {option} out, or take the graphs one by one"),
            ));
        }
        if let Analysis::SampledBetweenness { .. } | Analysis::SampledCloseness { .. } =
            self.analysis
        {
            return Err(SwarmError::SampleOfBatch.into());
        }
        self.values.storage.check_of_batch()
    }

    fn choices(&self, storage: Storage, device: String, threads: usize) -> Choices<'_, C> {
        Choices { of_analysis: &self.choices, storage: storage.name(), device, threads }
    }
}

/// Figures of an answer: the number of components, or statistics of its first column of numbers, as far as
/// they are finite.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    largest: f64,
    sum: f64,
    count: u64,
    components: Option<u64>,
}

/// [`Figures`] in the form of `--stats`.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Found {
    Values { largest: f64, mean: f64 },
    Components { components: u64 },
    Clustering { triangles: u64, mean: f64 },
}

impl From<Clustering> for Found {
    fn from(Clustering { triangles, mean }: Clustering) -> Found {
        Found::Clustering { triangles, mean }
    }
}

impl Figures {
    /// Adds the values of some rows. Pairs of a vertex with itself have no row and are not counted.
    fn add(&mut self, part: &Part<'_>, columns: &[ColumnData<'_>]) {
        if let Part::Components { of, components } = part {
            *self.components.get_or_insert(0) += count_components(*of, components);
        }
        let own = match part {
            Part::Pairs { of: Subject::Batch(graphs), .. } => graphs.vertices(),
            Part::Pairs { sources, .. } => sources.len() as u64,
            _ => 0,
        };
        let numbers = |column: &ColumnData<'_>| matches!(column, ColumnData::F64(_));
        match (columns.iter().find(|column| numbers(column)), columns) {
            (Some(ColumnData::F64(values)), _) => {
                values.iter().for_each(|&value| self.count(value))
            }
            (_, [ColumnData::U32(values)]) => {
                values.iter().for_each(|&value| self.count(value.into()));
            }
            _ => return,
        }
        self.count = self.count.saturating_sub(own);
    }

    fn count(&mut self, value: f64) {
        if value.is_finite() {
            self.largest = self.largest.max(value);
            self.sum += value;
            self.count += 1;
        }
    }

    fn found(self) -> Found {
        match self.components {
            Some(components) => Found::Components { components },
            None => {
                let mean = self.sum / self.count.max(1) as f64;
                Found::Values { largest: self.largest, mean }
            }
        }
    }
}

/// Returns the number of vertices that give their component its name.
fn count_components(of: Subject<'_>, components: &[VertexId]) -> u64 {
    let count = |components: &[VertexId]| {
        (0..).zip(components).filter(|(vertex, component)| vertex == *component).count() as u64
    };
    match of {
        Subject::Graph(_) => count(components),
        Subject::Batch(graphs) => {
            let starts = graphs.vertex_starts();
            let range = |at: u64| (at - starts[0]) as usize;
            starts.windows(2).map(|of| count(&components[range(of[0])..range(of[1])])).sum()
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Values { largest, mean } => write!(f, "largest {largest:.6}, mean {mean:.6}"),
            Found::Clustering { triangles, mean } => {
                write!(f, "mean {mean:.4}, {}", counted(*triangles, "triangle", "triangles"))
            }
            Found::Components { components: 1 } => write!(f, "1 component"),
            Found::Components { components } => write!(f, "{components} components"),
        }
    }
}
