//! Profiled full iterations on the CPU: the same moves as in a run, and every arc in exactly one
//! degree class.

use crate::graphs::{Edges, Storage};
use ripplet_graph::MAX_SHARD_ARCS;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::Cdlp;
use ripplet_lp::{Executor, Schedule, Settings, Stop};

const ITERATIONS: u32 = 3;

/// Returns stars of several sizes in a row with joined centres: four of the degree classes, and a
/// vertex without arcs.
fn stars() -> Edges {
    let (mut pairs, mut next) = (Vec::new(), 0);
    for leaves in [3, 10, 60, 600] {
        pairs.extend((1..=leaves).map(|leaf| (next, next + leaf)));
        if next > 0 {
            pairs.push((0, next));
        }
        next += leaves + 1;
    }
    Edges::new(next + 1, pairs)
}

fn check(edges: &Edges) {
    let settings = Settings {
        schedule: Schedule::cdlp(),
        stop: Stop::after(ITERATIONS),
        ..Settings::default()
    };
    for storage in [Storage::Plain, Storage::Compressed] {
        let stored = edges.stored(MAX_SHARD_ARCS, storage);
        let (graph, executor) = (stored.view(), CpuExecutor::new(Some(2)).unwrap());
        let run = executor.run(graph, &Cdlp, &settings, &mut ()).unwrap();
        let found = executor.profile(graph, &Cdlp, &settings, ITERATIONS, &mut ()).unwrap();
        let changed: Vec<u64> = found.iterations.iter().map(|found| found.changed).collect();
        assert_eq!(changed, run.rounds.iter().map(|round| round.changed).collect::<Vec<_>>());
        let arcs = (0..graph.vertices()).map(|v| graph.degree(v)).sum::<u64>();
        assert!(found.arcs == arcs && found.stream > 0.0 && found.gather > 0.0, "{found:?}");
        for iteration in &found.iterations {
            let [keep, classes @ .., show] = &iteration.parts[..] else { panic!("{iteration:?}") };
            assert_eq!(
                (keep.name, show.name),
                ("copy labels", "commit labels, activate neighbours")
            );
            assert_eq!(classes.iter().map(|class| class.arcs).sum::<u64>(), arcs, "{iteration:?}");
            let vertices = classes.iter().map(|class| class.vertices).sum::<u64>();
            assert_eq!(vertices, u64::from(graph.vertices()));
            assert!(classes.len() >= 4 && classes.iter().all(|class| class.vertices > 0));
        }
    }
}

#[test]
fn iterations_move_labels_as_a_run_does() {
    check(&stars());
}

#[test]
fn a_directed_graphs_arcs_are_read_at_both_ends() {
    check(&stars().directed());
}

#[test]
fn settings_are_checked() {
    let settings = Settings { initial: Some(vec![0; 3]), ..Settings::default() };
    let graph = Edges::new(2, [(0, 1)]).graph(MAX_SHARD_ARCS);
    let refused = CpuExecutor::new(Some(1)).unwrap().profile(&graph, &Cdlp, &settings, 1, &mut ());
    assert!(refused.is_err(), "{refused:?}");
}
