//! Full iterations in parts: the same changes as a run's, and every arc in one part.

use crate::graphs::Edges;
use crate::large::all_classes;
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lp::{Counting, Tuning};
use ripplet_emulator::EmulatedDevice;
use ripplet_graph::{Graph, MAX_SHARD_ARCS};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::profile::Profile;
use ripplet_lp::programs::Cdlp;
use ripplet_lp::{Executor, Schedule, Settings, Stop};

const ITERATIONS: u32 = 2;

fn check(edges: &Edges, countings: &[Counting]) {
    let graph = edges.graph(MAX_SHARD_ARCS);
    let stop = Stop::after(ITERATIONS);
    let settings = Settings { schedule: Schedule::cdlp(), stop, ..Settings::default() };
    let expected = CpuExecutor::new(Some(2)).unwrap();
    let expected = expected.run(&graph, &Cdlp, &settings, &mut ()).unwrap();
    let expected: Vec<u64> = expected.rounds.iter().map(|round| round.changed).collect();
    for &counting in countings {
        let tuning = Tuning { counting, ..Tuning::default() };
        let executor = DeviceExecutor::new(EmulatedDevice::new()).with_tuning(tuning);
        let found = executor.profile(&graph, &Cdlp, &settings, ITERATIONS).unwrap();
        let changed: Vec<u64> = found.iterations.iter().map(|found| found.changed).collect();
        assert_eq!(changed, expected, "{counting:?}");
        check_parts(&graph, counting, &found);
    }
}

fn check_parts(graph: &Graph, counting: Counting, found: &Profile) {
    let arcs = (0..graph.vertices()).map(|v| graph.degree(v)).sum::<u64>();
    assert!(found.arcs == arcs && found.stream > 0.0 && found.gather > 0.0, "{found:?}");
    let listed = (0..graph.vertices()).filter(|&v| graph.degree(v) > 0).count() as u64;
    for iteration in &found.iterations {
        let [list, classes @ .., show, wake] = &iteration.parts[..] else {
            panic!("{iteration:?}")
        };
        let names = ["compact the frontier", "commit labels", "activate neighbours"];
        assert_eq!([list.name, show.name, wake.name], names);
        assert_eq!([list.arcs, show.arcs, wake.arcs], [arcs, 0, arcs]);
        assert_eq!(classes.iter().map(|class| class.arcs).sum::<u64>(), arcs, "{iteration:?}");
        let counted = classes.iter().filter(|class| class.arcs > 0).map(|class| class.vertices);
        assert_eq!(counted.sum::<u64>(), listed);
        match (counting, classes) {
            (Counting::GlobalTables, [all, _, many]) => {
                assert!(all.name.contains("above 4096") && many.name.contains("many blocks"));
            }
            (Counting::SharedTables, [table]) => assert!(table.name.contains("a block, a table")),
            (Counting::Packed, [_, _, _, _, _, ..]) => {}
            _ => panic!("{counting:?}: {classes:?}"),
        }
    }
}

#[test]
fn iterations_in_parts() {
    check(&all_classes(), &[Counting::GlobalTables, Counting::SharedTables, Counting::Packed]);
}

#[test]
fn ceilings_of_a_directed_graph_go_over_all_arcs() {
    check(&all_classes().directed(), &[Counting::Packed]);
}
