//! The executor of a rank: a process of several that share a run.

use ripplet_graph::GraphView;
use ripplet_lp::cpu::{CpuExecutor, ThreadError};
use ripplet_lp::engine::Parts;
use ripplet_lp::{
    DynProgram, Executor, Outcome, Plan, RankExecutor, RankLabels, RoundObserver, RunError,
    RunIdentity, Settings,
};
use ripplet_ranks::SharedComm;
use std::sync::{Arc, PoisonError};

/// Executor of a rank that first compares its graph with the others'.
pub(super) struct OfRank {
    executor: RankExecutor,
    cpu: Arc<CpuExecutor>,
    comm: SharedComm,
}

impl OfRank {
    /// Creates the executor of a rank with `threads` threads, or one per core.
    ///
    /// # Errors
    /// If the system refuses the threads.
    pub fn new(threads: Option<usize>, comm: SharedComm) -> Result<OfRank, ThreadError> {
        let cpu = Arc::new(CpuExecutor::new(threads)?);
        let executor = RankExecutor::sharing(cpu.clone(), comm.clone());
        Ok(OfRank { executor, cpu, comm })
    }

    /// Sets the vertices of each rank: see [`RankExecutor::with_parts`].
    pub fn with_parts(self, parts: Parts) -> OfRank {
        OfRank { executor: self.executor.with_parts(parts), ..self }
    }

    /// Sets the vertices whose labels each rank has: see [`RankExecutor::with_labels`].
    pub fn with_labels(self, labels: RankLabels) -> OfRank {
        OfRank { executor: self.executor.with_labels(labels), ..self }
    }

    /// Returns the vertices whose labels each rank has: see [`RankExecutor::choose_labels`].
    ///
    /// # Errors
    /// If the program has no ghosts and they are set, or a message between ranks fails.
    pub fn labels(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Result<RankLabels, RunError> {
        self.executor.choose_labels(graph, &program.info(), settings)
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.cpu.threads()
    }

    /// Returns the executor of this rank's own CPU.
    pub fn cpu(&self) -> &CpuExecutor {
        &self.cpu
    }

    /// Returns the identity of a run, as all ranks do at the same time.
    ///
    /// # Errors
    /// [`RunError::Ranks`] if a message between ranks fails.
    pub fn identity(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Result<RunIdentity, RunError> {
        let Some(parts) = self.executor.parts() else {
            return Ok(self.cpu.install(|| RunIdentity::of(graph, program, settings)));
        };
        let rank = self.comm.lock().unwrap_or_else(PoisonError::into_inner).rank();
        let own = if rank < parts.ranks() { parts.of(rank) } else { 0..0 };
        let own = self.cpu.install(|| {
            let lists = graph.identity_of_lists(own);
            // Rank 0 has the ids.
            let others = if rank == 0 { graph.identity_without_lists() } else { 0 };
            lists.wrapping_add(others)
        });
        let mut comm = self.comm.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = comm.all_reduce("graph", own, u64::wrapping_add)?;
        Ok(RunIdentity::with_graph(digest, graph, program, settings))
    }

    /// Refuses a run of another graph than rank 0's, on all ranks.
    fn check_alike(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Result<(), RunError> {
        let identity = self.identity(graph, program, settings)?.to_string();
        let mut comm = self.comm.lock().unwrap_or_else(PoisonError::into_inner);
        let all = comm.all_gather("identity", identity.as_bytes())?;
        match all.other_than_first() {
            None => Ok(()),
            Some(rank) => Err(RunError::RanksDiffer { rank }),
        }
    }
}

impl Executor for OfRank {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        self.executor.plan_on(graph, program, settings)
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        self.check_alike(graph, program, settings)?;
        self.executor.run_on(graph, program, settings, observer)
    }
}
