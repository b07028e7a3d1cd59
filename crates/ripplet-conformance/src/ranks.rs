//! Several ranks of one process that share a run, as processes on several machines do.
//!
//! Each has room for the labels, totals and columns of all vertices, so that memory grows with the number of ranks, and a
//! run is no faster than on one executor with all threads.

use ripplet_graph::GraphView;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::{
    DynProgram, Executor, Outcome, Plan, RankExecutor, RankLabels, RoundObserver, RunError,
    Settings,
};
use ripplet_ranks::{Comm, Threads};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// The longest time to wait for a rank.
const DEADLINE: Duration = Duration::from_secs(60);

/// Runs label propagation on several ranks, each a thread with its own executor.
///
/// Runs take the numbers of ranks in turn. `async` has no ranks, and runs on the first executor.
#[derive(Debug)]
pub struct RanksExecutor {
    executors: Vec<Arc<CpuExecutor>>,
    sizes: Vec<usize>,
    labels: RankLabels,
    runs: AtomicUsize,
}

impl RanksExecutor {
    /// Creates an executor whose runs have these numbers of ranks in turn; `threads` are those of the ranks in
    /// turn, and `labels` those that each rank has.
    ///
    /// # Panics
    /// If there is no size, or the system refuses the threads.
    pub fn new(sizes: &[usize], threads: &[usize], labels: RankLabels) -> Self {
        let most = sizes.iter().copied().max().expect("a number of ranks");
        let executor = |&count: &usize| Arc::new(CpuExecutor::new(Some(count)).expect("threads"));
        let executors = threads.iter().cycle().take(most).map(executor).collect();
        RanksExecutor { executors, sizes: sizes.to_vec(), labels, runs: AtomicUsize::new(0) }
    }
}

impl Executor for RanksExecutor {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        let alone = RankExecutor::new(self.executors[0].clone(), Comm::alone());
        alone.with_labels(self.labels).plan(graph, program, settings)
    }

    /// Returns the outcome of the first rank, after comparing it with the others'.
    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        if settings.schedule.is_in_place() {
            return self.executors[0].run(graph, program, settings, observer);
        }
        let size = self.sizes[self.runs.fetch_add(1, Relaxed) % self.sizes.len()];
        let wires = Threads::connect(size, DEADLINE).into_iter().map(Comm::new);
        let ranks = self.executors.iter().cloned().zip(wires);
        let rank = |(executor, comm)| RankExecutor::new(executor, comm).with_labels(self.labels);
        let mut ranks = ranks.map(rank);
        let first = ranks.next().expect("a rank");
        let (outcome, others) = thread::scope(|scope| {
            let run = |rank: RankExecutor| {
                scope.spawn(move || rank.run(graph, program, settings, &mut ()))
            };
            let threads: Vec<_> = ranks.map(run).collect();
            let outcome = first.run(graph, program, settings, observer);
            drop(first);
            let others = threads.into_iter().map(|thread| thread.join().expect("no panic"));
            (outcome, others.collect::<Vec<_>>())
        });
        let outcome = outcome?;
        for other in others {
            let other = other?;
            assert_eq!(other.labels, outcome.labels, "of {size} ranks");
            assert_eq!((other.columns, other.reason), (outcome.columns.clone(), outcome.reason));
            assert_eq!((other.split, other.merged), (outcome.split, outcome.merged));
        }
        Ok(outcome)
    }
}
