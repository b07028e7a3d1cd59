//! The executor of a rank: a process of several that share a run.

use super::gpu::RankGpu;
use ripplet_graph::GraphView;
use ripplet_lp::cpu::{CpuExecutor, ThreadError, threads_of_environment};
use ripplet_lp::engine::Parts;
use ripplet_lp::{
    DynProgram, Executor, Outcome, Plan, RankExecutor, RankLabels, RoundObserver, RunError,
    RunIdentity, Settings,
};
use ripplet_ranks::{CommError, Hosts, SharedComm};
use std::sync::{Arc, PoisonError};

/// Returns the threads of a rank for [`AnyExecutor::of_rank`](super::AnyExecutor::of_rank), `None` for one per core: the
/// number that is asked for, else that of the [environment](threads_of_environment), else the rank's
/// [share](Hosts::share_of) of the cores of its machine.
///
/// # Examples
/// ```
/// use ripplet::device::{AnyExecutor, threads_of_rank};
/// use ripplet::ranks::{Hosts, Threads};
/// use std::sync::{Arc, Mutex};
/// use std::time::Duration;
///
/// let threads = Threads::run(2, Duration::from_secs(10), |mut comm| {
///     let hosts = Hosts::gather(&mut comm)?;
///     let threads = threads_of_rank(Some(3), &hosts, comm.rank());
///     let executor = AnyExecutor::of_rank(threads, Arc::new(Mutex::new(comm)))?;
///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(executor.threads())
/// });
/// assert!(threads.into_iter().all(|threads| threads.is_ok_and(|threads| threads == Some(3))));
/// ```
pub fn threads_of_rank(asked: Option<usize>, hosts: &Hosts, rank: usize) -> Option<usize> {
    let share = hosts.share_of(rank);
    let is_divided = share.ranks > 1 && threads_of_environment().is_none();
    asked.or_else(|| is_divided.then_some(share.threads))
}

/// Returns the threads of this rank by [`threads_of_rank`], as all ranks do at the same time.
///
/// # Errors
/// If a message between ranks fails.
pub fn threads_beside(asked: Option<usize>, comm: &SharedComm) -> Result<Option<usize>, CommError> {
    let mut comm = comm.lock().unwrap_or_else(PoisonError::into_inner);
    let hosts = Hosts::gather(&mut comm)?;
    Ok(threads_of_rank(asked, &hosts, comm.rank()))
}

/// Executor of a rank that first compares its graph with the others'.
#[derive(Clone)]
pub(super) struct OfRank {
    executor: RankExecutor,
    cpu: Arc<CpuExecutor>,
    comm: SharedComm,
    /// The GPU that updates the rank's vertices.
    gpu: Option<RankGpu>,
}

impl OfRank {
    /// Creates the executor of a rank with `threads` threads, or one per core.
    ///
    /// # Errors
    /// If the system refuses the threads.
    pub fn new(threads: Option<usize>, comm: SharedComm) -> Result<OfRank, ThreadError> {
        let cpu = Arc::new(CpuExecutor::new(threads)?);
        let executor = RankExecutor::sharing(cpu.clone(), comm.clone());
        Ok(OfRank { executor, cpu, comm, gpu: None })
    }

    /// Has a GPU update the rank's vertices: see [`RankExecutor::on_device`].
    pub fn on_gpu(self, gpu: RankGpu) -> OfRank {
        OfRank { executor: self.executor.on_device(gpu.device()), gpu: Some(gpu), ..self }
    }

    /// Returns the GPU that updates the rank's vertices, if the cores do not.
    pub fn gpu(&self) -> Option<&RankGpu> {
        self.gpu.as_ref()
    }

    /// Sets the vertices of each rank: see [`RankExecutor::with_parts`].
    pub fn with_parts(self, parts: Parts) -> OfRank {
        OfRank { executor: self.executor.with_parts(parts), ..self }
    }

    /// Sets the vertices whose labels each rank has: see [`RankExecutor::with_labels`].
    pub fn with_labels(self, labels: RankLabels) -> OfRank {
        OfRank { executor: self.executor.with_labels(labels), ..self }
    }

    /// Returns the executor with the labels that it chooses for a run, and these: see [`RankExecutor::choose_labels`].
    ///
    /// # Errors
    /// If the program has no ghosts and they are set, or a message between ranks fails.
    pub fn choosing_labels(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Result<(OfRank, RankLabels), RunError> {
        let labels = self.executor.choose_labels(graph, &program.info(), settings)?;
        Ok((self.clone().with_labels(labels), labels))
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
