//! The output of `--stats` and `--estimate`. Programs rely on the names.

use crate::size::Size;
use ripplet::Storage;
use ripplet::communities::{CheckpointReport, RefinementReport, RunReport};
use ripplet::device::{Exchanged, machine_memory};
use ripplet::graph::{Direction, GraphBytes, GraphView};
use ripplet::lp::quality::{Sizes, Summary};
use ripplet::lp::sweep;
use ripplet::lp::{Item, NO_LABEL, Outcome, Plan};
use serde::Serialize;
use std::fmt::{self, Write};
use std::fs;

/// The five choices of a run and what else decides its result, by name.
#[derive(Clone, Debug, Serialize)]
pub struct Choices {
    /// Name of the program.
    pub program: String,
    /// The schedule.
    pub schedule: &'static str,
    /// Phases of a round, if the schedule has phases.
    pub phases: Option<u32>,
    /// The interval of pick-less rounds, if the schedule has them.
    pub pick_less: Option<u32>,
    /// The counter of votes.
    pub counter: String,
    /// The share of a community's votes with which it joins another at the end; null if communities
    /// are not merged.
    pub merge: Option<f64>,
    /// The storage of the adjacency.
    pub storage: &'static str,
    /// The device.
    pub device: String,
    /// Threads of the CPU, which reads and writes also if a GPU computes.
    pub threads: usize,
    /// The seed of random choices.
    pub seed: u64,
    /// Whether another run gives the same labels, on any number of threads.
    pub deterministic: bool,
}

/// The size and kind of a graph.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Shape {
    /// The number of vertices.
    pub vertices: u32,
    /// The number of edges.
    pub edges: u64,
    /// Whether edges are directed.
    pub directed: bool,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Bytes of the graph in the host's memory; a device has all of them but the ids.
    pub graph_bytes: Parts,
    /// The storage of the lists; written with the choices of commands that have one.
    #[serde(skip)]
    pub storage: Storage,
    /// Bytes of the graph if its lists were plain.
    #[serde(skip)]
    pub plain_bytes: u64,
}

/// Bytes of the parts of a graph.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Parts {
    /// The vertices' ids.
    pub ids: u64,
    /// Offset of each vertex's neighbour list; for compressed lists, of each 32 lists.
    pub offsets: u64,
    /// The neighbours; compressed, with their weights.
    pub neighbors: u64,
    /// The weights of arcs.
    pub weights: u64,
}

/// A number for each stage of a command.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Stages {
    /// Finding and opening a GPU, or none.
    pub open: f64,
    /// From the file to edges.
    pub read: f64,
    /// From edges to a graph.
    pub build: f64,
    /// Compiling a GPU's kernels, or finding them compiled.
    pub kernels: f64,
    /// Transfers to and from a device.
    pub transfer: f64,
    /// The run: rounds and the splitting of disconnected communities, without measuring quality.
    pub compute: f64,
    /// From labels to a whole file.
    pub write: f64,
}

/// Memory, planned and measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bytes {
    /// The graph, in the host's memory.
    pub graph_host: u64,
    /// The graph, on devices.
    pub graph_device: u64,
    /// Beside the graph, in the host's memory.
    pub algorithm_host: u64,
    /// Beside the graph, on devices.
    pub algorithm_device: u64,
    /// Both of the host, as planned.
    pub planned_host: u64,
    /// Both of devices, as planned.
    pub planned_device: u64,
    /// The largest memory that the process had until the end of the run, reading included; null
    /// if the system does not report it.
    pub peak_host: Option<u64>,
    /// The memory reserved on devices.
    pub peak_device: u64,
}

/// The figures of checkpoints.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CheckpointFigures {
    /// Checkpoints written.
    pub written: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// Seconds of finding the graph's identity and of writing; not in those of computing.
    pub seconds: f64,
    /// Rounds that were done before this process began; null if it did all of them.
    pub resumed_after: Option<usize>,
}

/// The data exchanged by the GPUs of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExchangeFigures {
    /// `direct`, `nccl` or `copies`.
    pub transport: &'static str,
    /// Bytes that all of them received, together.
    pub bytes: u64,
}

impl CheckpointFigures {
    /// Returns the figures of a run, if it kept checkpoints.
    pub fn of(report: &RunReport) -> Option<CheckpointFigures> {
        let CheckpointReport { written, looking } = report.checkpoints?;
        Some(CheckpointFigures {
            written: written.checkpoints,
            bytes: written.bytes,
            seconds: looking + written.seconds,
            resumed_after: report.resumed.as_ref().map(|from| from.rounds),
        })
    }
}

impl From<Exchanged> for ExchangeFigures {
    fn from(Exchanged { transport, bytes }: Exchanged) -> ExchangeFigures {
        ExchangeFigures { transport, bytes }
    }
}

/// The messages of a run that several ranks share.
#[derive(Clone, Debug, Serialize)]
pub struct RanksFigures {
    /// The MPI.
    pub mpi: String,
    /// The machine of each rank.
    pub hosts: Vec<String>,
    /// Whether each rank has read its part of the graph, `parts`, or the `whole`.
    pub graph: &'static str,
    /// The vertices whose labels each rank had in the rounds, `all` or `ghosts`; left out of an analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<&'static str>,
    /// The peak resident memory of each rank until its communities were measured, with the pages of mapped files that it
    /// read; 0 if the system does not report it.
    pub peak_memory: Vec<u64>,
    /// The bytes that each rank received from object storage; left out if there is none.
    #[serde(skip_serializing_if = "is_of_none")]
    pub fetched: Vec<u64>,
    /// The threads of each rank.
    pub threads: Vec<usize>,
    /// The number of collectives of the run, which is that of every rank.
    pub calls: u64,
    /// Bytes that each rank sent.
    pub sent: Vec<u64>,
    /// Bytes that each rank received.
    pub received: Vec<u64>,
    /// Seconds of each rank in collectives: of transfers, and of waiting for slower ranks.
    pub waiting: Vec<f64>,
    /// Bytes that all ranks sent, by round.
    pub round_sent: Vec<u64>,
    /// Seconds of each rank in collectives, by round.
    pub round_waiting: Vec<Vec<f64>>,
}

fn is_of_none(figures: &[u64]) -> bool {
    figures.iter().all(|&figure| figure == 0)
}

/// The needs of one of several GPUs.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceNeed {
    /// Its name.
    pub device: String,
    /// Its share of the graph.
    pub graph_device: u64,
    /// The memory of the algorithm.
    pub algorithm_device: u64,
    /// Both.
    pub planned_device: u64,
}

/// The figures of a refinement.
#[derive(Clone, Debug, Serialize)]
pub struct RefineFigures {
    /// The resolution of the last iteration.
    pub resolution: f64,
    /// Iterations, including one that was undone.
    pub iterations: u32,
    /// Arcs read by all steps, also those between move rounds.
    pub arcs_read: u64,
    /// The iteration of each round, counted from 0.
    pub round_iterations: Vec<u32>,
    /// The level of each round, counted from 0, the graph.
    pub round_levels: Vec<u32>,
    /// The vertices of each round's level.
    pub round_vertices: Vec<u32>,
    /// The runs over a range of resolutions; left out with one resolution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileFigures>,
}

/// The figures of a resolution profile.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ProfileFigures {
    /// Runs, without those of another seed.
    pub runs: u32,
    /// Partitions, the rows of the table.
    pub partitions: usize,
    /// The number of the row whose communities are the output.
    pub chosen: usize,
    /// Whether the number of runs ended the search.
    pub is_cut: bool,
}

impl RefineFigures {
    /// Returns the figures of a finished refinement.
    pub fn of(refined: &RefinementReport) -> RefineFigures {
        let rounds = &refined.rounds;
        RefineFigures {
            resolution: refined.resolution,
            iterations: refined.iterations,
            arcs_read: refined.scanned,
            round_iterations: rounds.iter().map(|round| round.iteration).collect(),
            round_levels: rounds.iter().map(|round| round.level).collect(),
            round_vertices: rounds.iter().map(|round| round.vertices).collect(),
            profile: None,
        }
    }
}

/// The result for a γ of a sweep.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Layer {
    /// The γ.
    pub gamma: f64,
    /// Rounds.
    pub iterations: usize,
    /// The number of communities, and their modularity.
    #[serde(flatten)]
    pub summary: Summary,
}

impl From<sweep::Layer> for Layer {
    fn from(sweep::Layer { gamma, rounds: iterations, summary }: sweep::Layer) -> Layer {
        Layer { gamma, iterations, summary }
    }
}

/// The output of `--stats`.
#[derive(Debug, Serialize)]
pub struct Stats {
    /// The version of ripplet.
    pub version: &'static str,
    /// The report of the reader; null for a finished graph.
    pub input: Option<String>,
    /// The graph.
    #[serde(flatten)]
    pub shape: Shape,
    /// The choices.
    #[serde(flatten)]
    pub choices: Choices,
    /// Rounds.
    pub iterations: usize,
    /// Whether the labels converged by the stop rules.
    pub converged: bool,
    /// The stop rule that ended the run.
    pub stop: &'static str,
    /// Vertices that changed, by round.
    pub changed: Vec<u64>,
    /// Vertices that were looked at, by round.
    pub visited: Vec<u64>,
    /// Seconds, by round.
    pub round_seconds: Vec<f64>,
    /// Arcs counted over all rounds.
    pub edges_scanned: u64,
    /// Number of communities added by splitting disconnected ones; null if they are kept.
    pub split: Option<u32>,
    /// Number of communities that merging took away; null if they are not merged.
    pub merged: Option<u32>,
    /// The number of communities, and their modularity.
    #[serde(flatten)]
    pub summary: Summary,
    /// The size of the median community of the output.
    pub median_size: f64,
    /// The size of the largest community of the output.
    pub largest_size: u64,
    /// Vertices without a community.
    pub unlabelled: u64,
    /// The number of labels with a NaN score.
    pub nan_scores: u64,
    /// The checkpoints of the run, and the one it resumed from; null without checkpoints.
    pub checkpoints: Option<CheckpointFigures>,
    /// Messages between the GPUs of the run; null with a single device.
    pub exchange: Option<ExchangeFigures>,
    /// Messages between ranks; left out in one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RanksFigures>,
    /// The transfers of a graph whose lists are not all on the GPU; null if they are.
    pub streamed: Option<StreamedFigures>,
    /// The result for each γ of a sweep; null without a sweep.
    pub sweep: Option<Vec<Layer>>,
    /// The levels and iterations of a refinement; left out without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refinement: Option<RefineFigures>,
    /// The seconds of each stage.
    pub seconds: Stages,
    /// `seconds`, each as a share of their sum.
    pub shares: Stages,
    /// The bytes by purpose.
    pub bytes: Bytes,
}

/// The transfers per round of a graph whose lists are not all on the GPU.
#[derive(Debug, Serialize)]
pub struct StreamedFigures {
    /// Bytes of lists that came from the host's memory.
    pub bytes: Vec<u64>,
    /// Bytes of lists without room on the GPU, which were read over the bus at each access.
    pub unstaged: Vec<u64>,
    /// Seconds that they took to come.
    pub seconds: Vec<f64>,
    /// The part of these in which the GPU was at work meanwhile, over all rounds.
    pub overlap: f64,
}

impl StreamedFigures {
    /// Returns the transfers of a run, if there were some.
    fn of(outcome: &Outcome) -> Option<StreamedFigures> {
        let all = &outcome.lists_moved;
        let fetching: f64 = all.iter().map(|moved| moved.fetching).sum();
        let waiting: f64 = all.iter().map(|moved| moved.waiting).sum();
        (!all.is_empty()).then(|| StreamedFigures {
            bytes: all.iter().map(|moved| moved.fetched).collect(),
            unstaged: all.iter().map(|moved| moved.unstaged).collect(),
            seconds: all.iter().map(|moved| moved.fetching).collect(),
            overlap: if fetching > 0.0 { 1.0 - waiting / fetching } else { 1.0 },
        })
    }
}

/// The output of `--estimate`.
#[derive(Debug, Serialize)]
pub struct Estimate<C> {
    /// The graph.
    #[serde(flatten)]
    pub shape: Shape,
    /// The choices of the run.
    #[serde(flatten)]
    pub choices: C,
    /// The needs of the run in addition to the graph, by purpose.
    pub plan: Vec<Need>,
    /// The graph, in the host's memory.
    pub graph_host: u64,
    /// The sum of `plan`.
    pub algorithm_host: u64,
    /// Both.
    pub planned_host: u64,
    /// Both with `--storage plain`, at most: a compressed graph's on the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_host_plain: Option<u64>,
    /// The needs of the run on a device in addition to the graph, by purpose; empty on the CPU.
    pub device_plan: Vec<Need>,
    /// The graph, on a device.
    pub graph_device: u64,
    /// The part of its lists that stays in host memory and is transferred when needed.
    pub graph_streamed: u64,
    /// The sum of `device_plan`.
    pub algorithm_device: u64,
    /// Both.
    pub planned_device: u64,
    /// The needs of each of several devices; the plan is that of the largest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceNeed>,
}

/// One purpose and its bytes.
#[derive(Debug, Serialize)]
pub struct Need {
    purpose: &'static str,
    bytes: u64,
}

/// Purposes and their bytes.
pub fn needs(items: impl IntoIterator<Item = (&'static str, u64)>) -> Vec<Need> {
    items.into_iter().map(|(purpose, bytes)| Need { purpose, bytes }).collect()
}

impl Need {
    /// Returns the number of bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<28}{:>12}", self.purpose, Size(self.bytes).to_string())
    }
}

impl Shape {
    /// The shape of a graph: one pass, for its self-loops.
    pub fn of<'g>(graph: impl Into<GraphView<'g>>) -> Shape {
        let graph = graph.into();
        Shape::with_loops(graph, graph.self_loops())
    }

    /// The shape of a graph with this number of self-loops; nothing of its lists is read.
    pub fn with_loops(graph: GraphView<'_>, self_loops: u64) -> Shape {
        let GraphBytes { ids, offsets, neighbors, weights } = graph.bytes_by_part();
        Shape {
            graph_bytes: Parts { ids, offsets, neighbors, weights },
            vertices: graph.vertices(),
            edges: match graph.direction() {
                Direction::Directed => graph.arcs(),
                Direction::Undirected => (graph.arcs() + self_loops) / 2,
            },
            directed: graph.direction() == Direction::Directed,
            weighted: graph.is_weighted(),
            storage: graph.into(),
            plain_bytes: graph.plain_bytes(),
        }
    }
}

impl Bytes {
    /// Memory of a run that is done.
    pub fn new(plan: &Plan, peak_host: Option<u64>) -> Bytes {
        Bytes {
            graph_host: plan.graph_host,
            graph_device: plan.graph_device,
            algorithm_host: plan.algorithm_host(),
            algorithm_device: plan.algorithm_device(),
            planned_host: plan.total_host(),
            planned_device: plan.total_device(),
            peak_host,
            // One allocation, of the planned size.
            peak_device: plan.total_device(),
        }
    }
}

impl Stages {
    /// Each as a part of their sum.
    pub fn shares(self) -> Stages {
        let Stages { open, read, build, kernels, transfer, compute, write } = self;
        let all = open + read + build + kernels + transfer + compute + write;
        let share = |seconds: f64| if all > 0.0 { seconds / all } else { 0.0 };
        Stages {
            open: share(open),
            read: share(read),
            build: share(build),
            kernels: share(kernels),
            transfer: share(transfer),
            compute: share(compute),
            write: share(write),
        }
    }
}

impl Stats {
    /// The statistics of a finished run.
    pub fn new(
        shape: Shape,
        choices: Choices,
        outcome: &Outcome,
        summary: Summary,
        sizes: &Sizes,
        seconds: Stages,
        bytes: Bytes,
    ) -> Stats {
        let rounds = &outcome.rounds;
        Stats {
            version: env!("CARGO_PKG_VERSION"),
            input: None,
            shape,
            choices,
            iterations: rounds.len(),
            converged: outcome.converged(),
            stop: outcome.reason.name(),
            changed: rounds.iter().map(|round| round.changed).collect(),
            visited: rounds.iter().map(|round| round.visited).collect(),
            round_seconds: rounds.iter().map(|round| round.seconds).collect(),
            edges_scanned: outcome.scanned(),
            split: outcome.split,
            merged: outcome.merged,
            summary,
            median_size: sizes.median,
            largest_size: sizes.max,
            unlabelled: outcome.labels.iter().filter(|&&label| label == NO_LABEL).count() as u64,
            nan_scores: outcome.nan_scores(),
            checkpoints: None,
            exchange: None,
            ranks: None,
            streamed: StreamedFigures::of(outcome),
            sweep: None,
            refinement: None,
            seconds,
            shares: seconds.shares(),
            bytes,
        }
    }
}

impl<C> Estimate<C> {
    /// The estimate of a run.
    pub fn new(shape: Shape, choices: C, plan: &Plan) -> Estimate<C> {
        let need = |item: &Item| Need { purpose: item.purpose, bytes: item.bytes };
        let of_cpu = plan.total_device() == 0;
        let planned_host_plain = (of_cpu && shape.storage != Storage::Plain)
            .then(|| plan.algorithm_host().saturating_add(shape.plain_bytes));
        Estimate {
            planned_host_plain,
            shape,
            choices,
            plan: plan.items.iter().map(need).collect(),
            graph_host: plan.graph_host,
            algorithm_host: plan.algorithm_host(),
            planned_host: plan.total_host(),
            device_plan: plan.device_items.iter().map(need).collect(),
            graph_device: plan.graph_device,
            graph_streamed: plan.graph_streamed,
            algorithm_device: plan.algorithm_device(),
            planned_device: plan.total_device(),
            devices: Vec::new(),
        }
    }

    /// Sets the plans of several devices.
    pub fn of_each(self, plans: Vec<(String, Plan)>) -> Estimate<C> {
        let need = |(device, plan): (String, Plan)| DeviceNeed {
            device,
            graph_device: plan.graph_device,
            algorithm_device: plan.algorithm_device(),
            planned_device: plan.total_device(),
        };
        Estimate { devices: plans.into_iter().map(need).collect(), ..self }
    }

    /// Returns the estimate as lines of text; `device` is the name of the device.
    pub fn lines(&self, device: &str) -> String {
        let Parts { ids, offsets, neighbors, weights } = self.shape.graph_bytes;
        let of_storage = format!("  {} lists", self.shape.storage);
        let of_neighbors = match self.shape.storage {
            Storage::Plain => "  neighbours",
            _ => &*of_storage,
        };
        let lists = [(of_neighbors, neighbors), ("  offsets", offsets), ("  weights", weights)];
        let [a, b, c] = lists;
        let in_file = (ids + offsets + neighbors + weights).saturating_sub(self.graph_host);
        let host = match in_file {
            0 => vec![("graph", self.graph_host), a, b, c, ("  ids", ids)],
            // Lists that are read from the file when needed take no memory.
            _ => vec![("graph", self.graph_host), ("  in its file", in_file)],
        };
        let mut text = table(&host, &self.plan, self.planned_host);
        if let Some(plain) = self.planned_host_plain {
            let _ = writeln!(text, "{:<28}{:>12}", "with --storage plain", Size(plain).to_string());
        }
        if self.planned_device > 0 {
            let on_device = match self.graph_streamed {
                0 => vec![("graph", self.graph_device), a, b, c],
                // The resident part of the lists is not known.
                _ => vec![("graph", self.graph_device)],
            };
            let mut on_device = table(&on_device, &self.device_plan, self.planned_device);
            if self.graph_streamed > 0 {
                let left = Size(self.graph_streamed).to_string();
                let _ = writeln!(on_device, "{:<28}{left:>12}", "lists left on the host");
            }
            let most = if self.devices.is_empty() { "" } else { ", the one that needs most" };
            let _ = write!(text, "\non {device}{most}\n{on_device}");
        }
        for (number, need) in self.devices.iter().enumerate() {
            let before = if number == 0 { "\neach\n" } else { "" };
            let size = Size(need.planned_device).to_string();
            let _ = writeln!(text, "{before}{:<28}{size:>12}", need.device);
        }
        text
    }
}

/// Returns a line for the graph, for each of its parts, for the memory beside it, and for the sum.
fn table(graph: &[(&str, u64)], needs: &[Need], total: u64) -> String {
    let needs = needs.iter().map(|need| (need.purpose, need.bytes));
    let graph = graph.iter().copied().filter(|(part, bytes)| *part == "graph" || *bytes > 0);
    let mut text = String::new();
    for (purpose, bytes) in graph.chain(needs).chain([("total", total)]) {
        let _ = writeln!(text, "{purpose:<28}{:>12}", Size(bytes).to_string());
    }
    text
}

/// The machine that a figure is of.
#[derive(Clone, Debug, Serialize)]
pub struct MachineFacts {
    /// The processor's name, if the system reports it.
    pub processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// All of its memory in bytes, if the system reports it.
    pub memory: Option<u64>,
    /// Operating system and architecture.
    pub system: String,
}

impl MachineFacts {
    /// This machine.
    pub fn here() -> MachineFacts {
        let file = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = file.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        MachineFacts {
            processor: name.map_or("unknown", |(_, name)| name.trim()).to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: machine_memory(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}
