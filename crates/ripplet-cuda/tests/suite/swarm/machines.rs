//! Devices under test: the kernels on the emulator and, if `RIPPLET_GPU` is set, on the first GPU; and
//! comparisons.

use crate::lcc::graphs::Edges;
use crate::machines::on_gpu;
use ripplet_analytics::Lengths;
use ripplet_analytics::PathAnalysis;
use ripplet_analytics::apsp::{
    GraphSummary, Reach, distances_of_batch, reach_of_batch, summary_of_batch,
};
use ripplet_analytics::betweenness::betweenness_of_batch;
use ripplet_analytics::closeness::{Closeness, closeness_of_batch};
use ripplet_analytics::edge_betweenness::edge_betweenness_of_batch;
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::swarm::{DeviceSwarm, Tuning};
use ripplet_emulator::EmulatedDevice;
use ripplet_gpu::{CudaDevice, Device};
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchSlice, BatchTable, GraphBatch, Members};
use ripplet_graph::{Direction, Duplicates, Observer, SelfLoops};
use ripplet_lp::RunError;

/// The default; all graphs split, in waves of one group; little shared memory; and launches of one
/// or two items.
pub fn tunings() -> [Tuning; 4] {
    let usual = Tuning::default();
    let split = Tuning { split_over: u64::MAX, partials: 0, ..usual };
    [
        usual,
        split,
        Tuning { most_shared: 8 << 10, first_items: 1, split_over: 0, ..usual },
        Tuning { most_shared: 2 << 10, most_scratch: 40_000, ..split },
    ]
}

/// Weights of the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighing {
    /// No weights.
    Not,
    /// Few different weights, so that many paths are equally long.
    Few,
    /// Few different weights, some of them 0.
    FewAndNone,
    /// Many different weights.
    Many,
    /// Nearly the largest weight that can be stored.
    Huge,
}

impl Weighing {
    fn weight(self, graph: u32, source: u32, target: u32) -> f64 {
        let mixed =
            (graph * 31 + source).wrapping_mul(7919).wrapping_add(target.wrapping_mul(104_729));
        let drawn = f64::from(mixed.wrapping_mul(2_654_435_761) >> 12);
        match self {
            Weighing::Not => 1.0,
            Weighing::Few => 0.5 * (drawn % 4.0 + 1.0),
            Weighing::FewAndNone => drawn % 3.0,
            Weighing::Many => drawn + 0.25,
            Weighing::Huge => 4e9,
        }
    }
}

/// The graphs as a batch; `keep` is whether loops and duplicates are kept.
pub fn batch(graphs: &[Edges], directed: bool, keep: bool) -> GraphBatch {
    weighted_batch(graphs, directed, keep, Weighing::Not)
}

/// The graphs as a batch with weights.
pub fn weighted_batch(
    graphs: &[Edges],
    directed: bool,
    keep: bool,
    weighing: Weighing,
) -> GraphBatch {
    let members = Members::of_sizes(graphs.iter().map(|graph| graph.vertices)).unwrap();
    let mut rows = BatchRows::default();
    let mut weights = Vec::new();
    for (index, graph) in (0u32..).zip(graphs) {
        for &(source, target) in &graph.pairs {
            rows.graphs.push(index);
            rows.sources.push(source);
            rows.targets.push(target);
            weights.push(weighing.weight(index, source, target));
        }
    }
    rows.weights = (weighing != Weighing::Not).then_some(weights);
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    let builder = BatchBuilder::new().direction(direction);
    let builder = match keep {
        true => builder.self_loops(SelfLoops::Keep).duplicates(Duplicates::Keep),
        false => builder.duplicates(Duplicates::Least),
    };
    builder.build(BatchTable::new(members, rows).unwrap()).unwrap()
}

pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Questions on graphs whose paths can be counted.
pub fn questions(lengths: Lengths) -> Vec<PathAnalysis> {
    let mut questions = questions_of_distances(lengths);
    questions.extend([
        PathAnalysis::Betweenness { normalized: false, lengths },
        PathAnalysis::Betweenness { normalized: true, lengths },
        PathAnalysis::EdgeBetweenness { normalized: false, lengths },
    ]);
    questions
}

/// Questions on graphs whose paths cannot be counted, as some edges have length 0.
pub fn questions_of_distances(lengths: Lengths) -> Vec<PathAnalysis> {
    let closeness = |measure| PathAnalysis::Closeness { measure, normalized: false, lengths };
    vec![
        closeness(Closeness::Reciprocal),
        closeness(Closeness::WassermanFaust),
        closeness(Closeness::Harmonic),
        PathAnalysis::Closeness { measure: Closeness::Reciprocal, normalized: true, lengths },
        PathAnalysis::Closeness { measure: Closeness::Harmonic, normalized: true, lengths },
        PathAnalysis::Distances { lengths },
        PathAnalysis::Reach { lengths },
        PathAnalysis::Summary { lengths },
    ]
}

/// Results, compared bit by bit.
#[derive(Debug, PartialEq)]
pub enum Found {
    Values(Vec<u64>),
    Edges(Vec<u64>, Vec<u64>),
    Reach(Vec<Reach>),
    Summaries(Vec<GraphSummary>),
}

/// Results of the CPU.
pub fn on_cpu(graphs: BatchSlice<'_>, question: PathAnalysis) -> Found {
    let values = |values: Result<Vec<f64>, _>| {
        let values: Result<Vec<f64>, ripplet_analytics::AnalysisError> = values;
        Found::Values(bits(&values.unwrap()))
    };
    match question {
        PathAnalysis::Closeness { measure, normalized, lengths } => {
            values(closeness_of_batch(graphs, measure, normalized, lengths, &mut ()))
        }
        PathAnalysis::Betweenness { normalized, lengths } => {
            values(betweenness_of_batch(graphs, normalized, lengths, &mut ()))
        }
        PathAnalysis::EdgeBetweenness { normalized, lengths } => {
            let found = edge_betweenness_of_batch(graphs, normalized, lengths, &mut ()).unwrap();
            Found::Edges(found.starts, bits(&found.values))
        }
        PathAnalysis::Distances { lengths } => values(distances_of_batch(graphs, lengths, &mut ())),
        PathAnalysis::Reach { lengths } => {
            Found::Reach(reach_of_batch(graphs, lengths, &mut ()).unwrap())
        }
        PathAnalysis::Summary { lengths } => {
            Found::Summaries(summary_of_batch(graphs, lengths, &mut ()).unwrap())
        }
    }
}

/// Results of a device.
pub fn on_device<D: Device>(
    swarm: &mut DeviceSwarm<D>,
    graphs: BatchSlice<'_>,
    question: PathAnalysis,
    observer: &dyn Observer,
) -> Result<Found, RunError> {
    Ok(match question {
        PathAnalysis::Closeness { measure, normalized, lengths } => {
            let found = swarm.closeness(graphs, measure, normalized, lengths, observer)?;
            Found::Values(bits(&found.0))
        }
        PathAnalysis::Betweenness { normalized, lengths } => {
            Found::Values(bits(&swarm.betweenness(graphs, normalized, lengths, observer)?.0))
        }
        PathAnalysis::EdgeBetweenness { normalized, lengths } => {
            let found = swarm.edge_betweenness(graphs, normalized, lengths, observer)?.0;
            Found::Edges(found.starts, bits(&found.values))
        }
        PathAnalysis::Distances { lengths } => {
            Found::Values(bits(&swarm.distances(graphs, lengths, observer)?.0))
        }
        PathAnalysis::Reach { lengths } => Found::Reach(swarm.reach(graphs, lengths, observer)?.0),
        PathAnalysis::Summary { lengths } => {
            Found::Summaries(swarm.summaries(graphs, lengths, observer)?.0)
        }
    })
}

/// Compares a device with the CPU, whose suite compares it with everything else. On the emulator,
/// `order` sets the order of threads.
pub fn check(whole: &GraphBatch, questions: &[PathAnalysis], tuning: Tuning, order: u64) {
    if on_gpu() {
        let device = CudaDevice::new(0);
        let device = device.unwrap_or_else(|error| panic!("RIPPLET_GPU is set, but: {error}"));
        check_on(DeviceExecutor::new(device), whole, questions, tuning, order);
    } else {
        let device = EmulatedDevice::with_order(order);
        check_on(DeviceExecutor::new(device), whole, questions, tuning, order);
    }
}

fn check_on<D: Device>(
    executor: DeviceExecutor<D>,
    whole: &GraphBatch,
    questions: &[PathAnalysis],
    tuning: Tuning,
    order: u64,
) {
    let mut swarm = DeviceSwarm::new(executor).with_tuning(tuning);
    for &question in questions {
        let found = on_device(&mut swarm, whole.all(), question, &()).unwrap();
        let expected = on_cpu(whole.all(), question);
        let name = || format!("{question:?}, {:?}, order {order}, {tuning:?}", whole.direction());
        assert!(found == expected, "{}", name());
    }
}
