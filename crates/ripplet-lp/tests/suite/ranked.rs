//! Ranks that share a run: what the conformance suite leaves out.

use ripplet_conformance::graphs::shapes;
use ripplet_graph::Observer;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::Lpa;
use ripplet_lp::refine::MergeShare;
use ripplet_lp::{Executor, Outcome, RankExecutor, RoundObserver, RunError, Schedule, Settings};
use ripplet_ranks::{CommError, Threads};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

/// Runs each rank with its own settings and observer.
fn run<O: RoundObserver>(
    size: usize,
    graph: &ripplet_graph::Graph,
    settings: impl Fn(usize) -> Settings + Sync,
    observer: impl Fn(usize) -> O + Sync,
) -> Vec<Result<Outcome, RunError>> {
    Threads::run(size, SOON, |comm| {
        let (rank, own) = (comm.rank(), CpuExecutor::new(Some(1)).unwrap());
        let executor = RankExecutor::new(Arc::new(own), comm);
        executor.run(graph, &Lpa::default(), &settings(rank), &mut observer(rank))
    })
}

#[test]
fn splitting_and_merging_are_those_of_one_process() {
    let one = CpuExecutor::new(Some(2)).unwrap();
    for (name, edges) in shapes() {
        let graph = edges.graph(1 << 20);
        for merge in [None, Some(MergeShare::default())] {
            let settings = Settings { merge, ..Settings::default() };
            let expected = one.run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
            for size in [1, 3] {
                for found in run(size, &graph, |_| settings.clone(), |_| ()) {
                    let found = found.unwrap();
                    assert_eq!(found.labels, expected.labels, "{name}, {size} ranks");
                    assert_eq!((found.split, found.merged), (expected.split, expected.merged));
                    assert_eq!(found.rounds.len(), expected.rounds.len());
                }
            }
        }
    }
}

#[test]
fn ranks_that_differ_are_refused_on_each() {
    let (_, grid) = shapes().into_iter().find(|(name, _)| *name == "grid").unwrap();
    let graph = grid.graph(1 << 20);
    let settings = |rank| Settings { seed: rank as u64 % 2, ..Settings::default() };
    let found = run(3, &graph, settings, |_| ());
    for (rank, found) in found.into_iter().enumerate() {
        let other = if rank == 1 { 0 } else { 1 };
        assert_eq!(found.err(), Some(RunError::RanksDiffer { rank: other }), "rank {rank}");
    }
    let settings = |_| Settings { schedule: Schedule::asynchronous(), ..Settings::default() };
    for found in run(2, &graph, settings, |_| ()) {
        assert_eq!(found.err(), Some(RunError::InPlaceOnRanks { schedule: "async" }));
    }
}

/// Cancels at once, or never.
struct Cancels(bool);

impl Observer for Cancels {
    fn is_cancelled(&self) -> bool {
        self.0
    }
}

impl RoundObserver for Cancels {}

#[test]
fn a_cancelled_rank_ends_the_others() {
    let (_, cliques) = shapes().into_iter().find(|(name, _)| *name == "cliques").unwrap();
    let graph = cliques.graph(1 << 20);
    let found = run(2, &graph, |_| Settings::default(), |rank| Cancels(rank == 1));
    assert_eq!(found[1].as_ref().err(), Some(&RunError::Cancelled));
    let failed = RunError::Ranks(CommError::Failed { rank: 1, code: 1 });
    assert_eq!(found[0].as_ref().err(), Some(&failed));
}
