//! Compressed lists, decoded by lanes and by warps: the sums equal those of plain lists.

use crate::machines::on_gpu;
use proptest::prelude::*;
use ripplet_cuda::compressed::{DeviceLists, Lists};
use ripplet_emulator::EmulatedDevice;
use ripplet_gpu::{CudaDevice, Device};
use ripplet_graph::compressed::CompressedAdjacency;
use ripplet_graph::{Direction, Duplicates, EdgeTable, Graph, GraphBuilder, SelfLoops, VertexIds};

fn graph(vertices: u32, pairs: impl IntoIterator<Item = (u32, u32)>, keep: bool) -> Graph {
    let (sources, targets) = pairs.into_iter().unzip();
    let ids = VertexIds::Consecutive { first: 0, count: vertices };
    let builder = GraphBuilder::new().direction(Direction::Directed);
    let builder = match keep {
        true => builder.duplicates(Duplicates::Keep).self_loops(SelfLoops::Keep),
        false => builder,
    };
    builder.build(EdgeTable::new(ids, sources, targets).unwrap()).unwrap()
}

/// Compares both kinds of lists with the sums of the graph's own, with all lists read by lanes, by
/// warps, and by default.
fn check(graph: &Graph, order: u64) {
    if on_gpu() {
        let device = CudaDevice::new(0);
        let device = device.unwrap_or_else(|error| panic!("RIPPLET_GPU is set, but: {error}"));
        check_on(&device, graph);
    } else {
        check_on(&EmulatedDevice::with_order(order), graph);
    }
}

fn check_on<D: Device>(device: &D, graph: &Graph) {
    let plain = graph.shards()[0].out();
    let compressed = CompressedAdjacency::of(plain, 0).unwrap();
    let labels: Vec<u32> = (0..graph.vertices()).map(|v| v.wrapping_mul(2_654_435_761)).collect();
    let of = |v: u32| plain.of(v as usize).iter().map(|&u| u64::from(labels[u as usize])).sum();
    let expected: Vec<u64> = (0..graph.vertices()).map(of).collect();
    let lists = DeviceLists::new(device, plain, &compressed, &labels).unwrap();
    for kind in [Lists::Plain, Lists::Compressed] {
        for long_from in [0, 16, u32::MAX] {
            assert!(lists.sums(kind, long_from).unwrap() == expected, "{kind:?}, {long_from}");
        }
    }
    for long_from in [0, 16, u32::MAX] {
        assert!(lists.decoded(long_from).unwrap() == plain.neighbors(), "{long_from}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_lists(
        (vertices, pairs) in (1u32..300).prop_flat_map(|n| {
            // Neighbours that are close, or anywhere.
            let near = (0..n, 0..40u32).prop_map(move |(v, d)| (v, (v + d) % n));
            let pair = prop_oneof![near, (0..n, 0..n)];
            (Just(n), prop::collection::vec(pair, 0..2000))
        }),
        keep in any::<bool>(),
        order in 0u64..3,
    ) {
        check(&graph(vertices, pairs, keep), order);
    }
}

/// Lists of all other vertices, empty ones, runs between gaps, and several segments.
#[test]
fn long_lists() {
    let n = 5000;
    let all = (0..n).map(|v| (7, v));
    let even = (0..n).step_by(2).map(|v| (31, v));
    let runs = (0..n).filter(|v| v % 37 > 9).map(|v| (32, v));
    let far = (0..60).map(|i| (4000, i * i));
    let few = (0..3).map(|v| (n - 1, v));
    let lists = all.chain(even).chain(runs).chain(far).chain(few);
    check(&graph(n, lists, false), 1);
    check(&graph(n, (0..n).flat_map(|v| [(3, v), (3, v), (v, v)]), true), 2);
}
