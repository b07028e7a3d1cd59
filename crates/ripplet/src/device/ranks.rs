//! The executor of a rank: a process of several that share a run.

use super::AnyExecutor;
use super::executor::On;
use ripplet_graph::GraphView;
use ripplet_lp::cpu::{CpuExecutor, ThreadError};
use ripplet_lp::engine::Parts;
use ripplet_lp::{
    DynProgram, Executor, Outcome, Plan, RankExecutor, RoundObserver, RunError, RunIdentity,
    Settings,
};
use ripplet_ranks::SharedComm;
use std::sync::{Arc, PoisonError};

/// Executor of a rank that first compares its graph with the others'.
pub(super) struct OfRank {
    executor: RankExecutor,
    cpu: Arc<CpuExecutor>,
    comm: SharedComm,
}

impl AnyExecutor {
    /// Returns the executor of a rank on the CPU with `threads` threads, or one per core.
    ///
    /// All ranks run the same programs on the same graph, which is compared before a run; each gets the outcome of
    /// one process. After an error, abort the communicator: see [`RankExecutor::sharing`].
    ///
    /// # Errors
    /// If the system refuses the threads.
    pub fn of_rank(threads: Option<usize>, comm: SharedComm) -> Result<AnyExecutor, ThreadError> {
        let cpu = Arc::new(CpuExecutor::new(threads)?);
        let executor = RankExecutor::sharing(cpu.clone(), comm.clone());
        Ok(AnyExecutor(On::Rank(OfRank { executor, cpu, comm })))
    }

    /// Sets the vertices of each rank, whose graph then needs the lists of its own vertices alone: see
    /// [`RankExecutor::with_parts`]. An executor that is no rank's ignores it.
    ///
    /// Rank 0's graph must have the ids. Whether all have parts of the same graph is for the caller to compare.
    #[must_use]
    pub fn with_parts(self, parts: Parts) -> AnyExecutor {
        match self.0 {
            On::Rank(OfRank { executor, cpu, comm }) => {
                let executor = executor.with_parts(parts);
                AnyExecutor(On::Rank(OfRank { executor, cpu, comm }))
            }
            on => AnyExecutor(on),
        }
    }

    /// Returns the identity of a run: [`RunIdentity::of`]. Ranks call it at the same time, and each reads the lists of its
    /// own vertices if it has no others.
    ///
    /// # Errors
    /// [`RunError::Ranks`] if a message between ranks fails.
    pub fn identity<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Result<RunIdentity, RunError> {
        match &self.0 {
            On::Rank(rank) => rank.identity(graph.into(), program, settings),
            On::Cpu(_) | On::Gpus(_) => Ok(RunIdentity::of(graph, program, settings)),
        }
    }
}

impl OfRank {
    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.cpu.threads()
    }

    /// Returns the executor of this rank's own CPU.
    pub fn cpu(&self) -> &CpuExecutor {
        &self.cpu
    }

    fn identity(
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
        match all.iter().position(|other| other != all.of(0)) {
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
