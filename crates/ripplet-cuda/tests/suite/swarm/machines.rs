//! Who runs the suite here: the kernels on the shim, and where `RIPPLET_GPU` is set, on the first GPU. And what is
//! compared.

use crate::lcc::graphs::Edges;
use crate::machines::on_gpu;
use ripplet_analytics::Lengths;
use ripplet_analytics::apsp::{reach, summary};
use ripplet_analytics::betweenness::betweenness_of_batch;
use ripplet_analytics::closeness::{Closeness, closeness_of_batch};
use ripplet_cuda::device::Device;
use ripplet_cuda::shim::ShimDevice;
use ripplet_cuda::swarm::{DeviceSwarm, GraphSummary, Reach, Tuning};
use ripplet_cuda::{CudaDevice, DeviceExecutor};
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, GraphBatch, Members};
use ripplet_graph::{Direction, Duplicates, SelfLoops};

pub const MEASURES: [Closeness; 3] =
    [Closeness::Reciprocal, Closeness::WassermanFaust, Closeness::Harmonic];

/// The usual one; all graphs split, in waves of one group; shared memory for the least alone, and launches of
/// an item or two.
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

/// The graphs as a batch, with loops and duplicates where they are kept.
pub fn batch(graphs: &[Edges], directed: bool, keep: bool) -> GraphBatch {
    let members = Members::of_sizes(graphs.iter().map(|graph| graph.vertices)).unwrap();
    let mut rows = BatchRows::default();
    for (index, graph) in (0u32..).zip(graphs) {
        for &(source, target) in &graph.pairs {
            rows.graphs.push(index);
            rows.sources.push(source);
            rows.targets.push(target);
        }
    }
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    let builder = BatchBuilder::new().direction(direction);
    let builder = match keep {
        true => builder.self_loops(SelfLoops::Keep).duplicates(Duplicates::Keep),
        false => builder,
    };
    builder.build(BatchTable::new(members, rows).unwrap()).unwrap()
}

pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// What the CPU finds.
pub struct Expected {
    closeness: Vec<(Closeness, bool, Vec<u64>)>,
    betweenness: Vec<(bool, Vec<u64>)>,
    summaries: Vec<GraphSummary>,
    reach: Vec<Reach>,
}

impl Expected {
    /// Of a batch, and of its graphs each for itself.
    pub fn new(whole: &GraphBatch, graphs: &[Edges]) -> Expected {
        let mut found = Expected {
            closeness: Vec::new(),
            betweenness: Vec::new(),
            summaries: Vec::new(),
            reach: Vec::new(),
        };
        let all = whole.all();
        for normalized in [false, true] {
            for measure in MEASURES {
                let values = closeness_of_batch(all, measure, normalized, Lengths::Hops, &mut ());
                found.closeness.push((measure, normalized, bits(&values.unwrap())));
            }
            let values = betweenness_of_batch(all, normalized, Lengths::Hops, &mut ()).unwrap();
            found.betweenness.push((normalized, bits(&values)));
        }
        let directed = whole.direction() == Direction::Directed;
        for edges in graphs {
            let graph = Edges { directed, ..edges.clone() }.graph();
            let of_graph = summary(&graph, Lengths::Hops, &mut ()).unwrap();
            found.summaries.push(GraphSummary {
                pairs: of_graph.whole.pairs,
                sum: of_graph.whole.sum as u64,
                diameter: of_graph.whole.diameter as u32,
                radius: of_graph.whole.radius as u32,
            });
            found.reach.extend(reach(&graph, Lengths::Hops, &mut ()).unwrap().iter().map(
                |found| Reach {
                    far: found.far as u64,
                    reached: found.reached as u32,
                    farthest: found.farthest as u32,
                },
            ));
        }
        found
    }

    /// Compares with what a device finds.
    fn check_on<D: Device>(&self, swarm: &mut DeviceSwarm<D>, whole: &GraphBatch, name: &str) {
        for (measure, normalized, expected) in &self.closeness {
            let found = swarm.closeness(whole.all(), *measure, *normalized, &()).unwrap().0;
            assert!(bits(&found) == *expected, "{measure:?}, {normalized}, {name}");
        }
        for (normalized, expected) in &self.betweenness {
            let found = swarm.betweenness(whole.all(), *normalized, &()).unwrap().0;
            assert!(bits(&found) == *expected, "betweenness, {normalized}, {name}");
        }
        assert!(swarm.reach(whole.all(), &()).unwrap().0 == self.reach, "{name}");
        assert!(swarm.summaries(whole.all(), &()).unwrap().0 == self.summaries, "{name}");
    }
}

/// Compares what a device finds with the CPU, whose suite compares it with everything else: with this tuning, on
/// the shim with threads in an order that `order` draws.
pub fn check(graphs: &[Edges], directed: bool, keep: bool, tuning: Tuning, order: u64) {
    let whole = batch(graphs, directed, keep);
    let expected = Expected::new(&whole, graphs);
    let name = format!("directed {directed}, keep {keep}, order {order}, {tuning:?}");
    if on_gpu() {
        let device = CudaDevice::new(0);
        let device = device.unwrap_or_else(|error| panic!("RIPPLET_GPU is set, but: {error}"));
        let mut swarm = DeviceSwarm::new(DeviceExecutor::new(device)).with_tuning(tuning);
        expected.check_on(&mut swarm, &whole, &name);
    } else {
        let device = ShimDevice::with_order(order);
        let mut swarm = DeviceSwarm::new(DeviceExecutor::new(device)).with_tuning(tuning);
        expected.check_on(&mut swarm, &whole, &name);
    }
}
