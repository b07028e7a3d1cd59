//! What a run promises beside its labels: stops, reports, plans, cancellation.

use crate::graphs::{bipartite, cliques, ring, shapes, star};
use crate::oracle;
use ripplet_graph::MAX_SHARD_ARCS;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Lpa, Resolution};
use ripplet_lp::{
    Executor, Observer, Order, Round, RunError, Schedule, Settings, SettingsError, Stop, StopReason,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

fn executor() -> CpuExecutor {
    CpuExecutor::new(Some(2)).unwrap()
}

#[test]
fn synchronous_swaps_are_found_and_phases_settle_them() {
    let graph = bipartite(8, 8).graph(MAX_SHARD_ARCS);
    let plain = Lpa::new(Resolution::OFF);
    let sync = Settings { schedule: Schedule::cdlp(), ..Settings::default() };
    let found = executor().run(&graph, &Cdlp, &sync, &mut ()).unwrap();
    assert_eq!(found.reason, StopReason::Oscillation);
    assert!(!found.converged());

    let phased = Settings { stop: Stop::after(50), ..Settings::default() };
    let found = executor().run(&graph, &plain, &phased, &mut ()).unwrap();
    assert_eq!(found.reason, StopReason::Fixpoint);
    assert_eq!(found.labels, vec![0; 16]);
}

#[test]
fn asynchronous_on_one_thread_ends_where_no_vertex_wants_another_label() {
    let executor = CpuExecutor::new(Some(1)).unwrap();
    for (name, edges) in shapes() {
        let settings = Settings {
            schedule: Schedule::asynchronous(),
            stop: Stop::after(200),
            keep_disconnected: true,
            ..Settings::default()
        };
        let graph = edges.graph(MAX_SHARD_ARCS);
        let plain = Lpa::new(Resolution::OFF);
        let found = executor.run(&graph, &plain, &settings, &mut ()).unwrap();
        assert_eq!(found.reason, StopReason::Fixpoint, "{name}");
        for (v, list) in edges.lists().iter().enumerate() {
            let mut votes: BTreeMap<u32, u64> = BTreeMap::new();
            list.iter()
                .for_each(|(u, w)| *votes.entry(found.labels[*u as usize]).or_default() += w);
            let own = votes.get(&found.labels[v]).copied().unwrap_or(0);
            assert_eq!(own, votes.values().copied().max().unwrap_or(0), "{name}: vertex {v}");
        }
    }
}

#[test]
fn asynchronous_on_many_threads_finds_cliques() {
    let edges = cliques(40, 10);
    let settings = Settings { schedule: Schedule::asynchronous(), ..Settings::default() };
    let graph = edges.graph(MAX_SHARD_ARCS);
    let found = CpuExecutor::new(Some(7)).unwrap();
    let found = found.run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
    // Two cliques may become one community, but no clique falls apart.
    assert!(found.labels.chunks(10).all(|clique| clique.iter().all(|&label| label == clique[0])));
    let communities: BTreeSet<u32> = found.labels.into_iter().collect();
    assert!(communities.len() >= 30, "{communities:?}");
}

#[test]
fn a_fixed_number_of_rounds_is_kept() {
    let graph = ring(100).graph(MAX_SHARD_ARCS);
    for rounds in [0, 1, 3] {
        let settings = Settings {
            schedule: Schedule::cdlp(),
            stop: Stop::after(rounds),
            ..Settings::default()
        };
        let found = executor().run(&graph, &Cdlp, &settings, &mut ()).unwrap();
        assert_eq!(found.rounds.len(), rounds as usize);
        assert_eq!(found.reason, StopReason::RoundLimit);
    }
}

#[test]
fn counts_add_up() {
    let edges = star(100);
    let graph = edges.graph(MAX_SHARD_ARCS);
    let found = executor().run(&graph, &Lpa::default(), &Settings::default(), &mut ()).unwrap();
    assert_eq!(found.rounds[0].visited, 101);
    assert_eq!(found.rounds[0].scanned, graph.arcs());
    assert!(found.scanned() >= graph.arcs());
    assert_eq!(found.labels, oracle::split(&edges.lists(), &found.labels));
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let graph = ring(5).graph(MAX_SHARD_ARCS);
    let refused =
        |settings: Settings| match executor().run(&graph, &Lpa::default(), &settings, &mut ()) {
            Err(RunError::Settings(error)) => error,
            other => panic!("{other:?}"),
        };
    let order = Order::Phased { phases: 0 };
    let no_phase =
        Settings { schedule: Schedule { order, ..Schedule::default() }, ..Settings::default() };
    assert_eq!(refused(no_phase), SettingsError::NoPhase);
    for share in [-0.1, 1.5] {
        let stop = Stop::after(1).at_tolerance(share);
        let error = refused(Settings { stop, ..Settings::default() });
        assert_eq!(error, SettingsError::BadTolerance(share));
    }
    let nan = Settings { stop: Stop::after(1).at_tolerance(f64::NAN), ..Settings::default() };
    assert!(matches!(refused(nan), SettingsError::BadTolerance(_)));
    let initial =
        |labels: &[u32]| Settings { initial: Some(labels.to_vec()), ..Settings::default() };
    assert_eq!(refused(initial(&[0, 1])), SettingsError::LabelCount { labels: 2, vertices: 5 });
    assert_eq!(
        refused(initial(&[0, 1, 2, 5, 4])),
        SettingsError::NoSuchLabel { vertex: 3, label: 5, last: 4 }
    );
}

/// Ends the run once it was asked so often.
struct CancelAfter(AtomicU32);

impl Observer for CancelAfter {
    fn is_cancelled(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn cancelling_ends_the_run_within_a_round() {
    let graph = ring(100_000).graph(MAX_SHARD_ARCS);
    for schedule in [Schedule::sync(), Schedule::phased(), Schedule::asynchronous()] {
        for questions in [0, 1, 20] {
            let settings = Settings { schedule, ..Settings::default() };
            let mut observer = CancelAfter(AtomicU32::new(questions));
            let ended = executor().run(&graph, &Lpa::default(), &settings, &mut observer);
            assert_eq!(ended, Err(RunError::Cancelled), "{schedule:?}");
        }
    }
}

/// Remembers what it was told.
#[derive(Default)]
struct Log(Vec<(usize, u64)>);

impl Observer for Log {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.0.push((index, round.changed));
    }
}

#[test]
fn the_observer_sees_every_round() {
    let graph = cliques(20, 6).graph(MAX_SHARD_ARCS);
    let mut log = Log::default();
    let found = executor().run(&graph, &Lpa::default(), &Settings::default(), &mut log).unwrap();
    let rounds = found.rounds.iter().map(|round| round.changed).enumerate();
    assert_eq!(log.0, rounds.collect::<Vec<_>>());
}
