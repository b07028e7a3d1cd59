//! The executor on the chosen device.

use super::gpu::{Gpus, RankGpu};
use super::gpu_types::Exchanged;
use super::ranks::OfRank;
use ripplet_graph::GraphView;
use ripplet_lp::cpu::{CpuExecutor, ThreadError};
use ripplet_lp::engine::{Parts, bytes_of_state};
use ripplet_lp::{
    DynProgram, Executor, Outcome, Plan, RankLabels, RoundObserver, RunError, RunIdentity, Settings,
};
use ripplet_ranks::SharedComm;

/// Executor on a device that is chosen at run time.
pub struct AnyExecutor(pub(super) On);

/// The device of an executor.
pub(super) enum On {
    /// The cores of the host.
    Cpu(CpuExecutor),
    /// One GPU or several.
    Gpus(Gpus),
    /// The cores of this host or a GPU, and those of other ranks.
    Rank(OfRank),
}

impl AnyExecutor {
    /// Returns an executor on the CPU with `threads` threads, or one per core.
    ///
    /// # Errors
    /// If the system refuses the threads.
    pub fn cpu(threads: Option<usize>) -> Result<AnyExecutor, ThreadError> {
        Ok(AnyExecutor(On::Cpu(CpuExecutor::new(threads)?)))
    }

    /// Returns an executor on GPUs.
    pub(super) fn of_gpus(gpus: Gpus) -> AnyExecutor {
        AnyExecutor(On::Gpus(gpus))
    }

    /// Returns the executor of a rank on the CPU with `threads` threads, or one per core.
    ///
    /// All ranks run the same programs on the same graph, which is compared before a run; each gets the outcome of
    /// one process. After an error, abort the communicator: see [`RankExecutor::sharing`](ripplet_lp::RankExecutor::sharing).
    ///
    /// # Errors
    /// If the system refuses the threads.
    pub fn of_rank(threads: Option<usize>, comm: SharedComm) -> Result<AnyExecutor, ThreadError> {
        Ok(AnyExecutor(On::Rank(OfRank::new(threads, comm)?)))
    }

    /// Sets the vertices of each rank, whose graph then needs the lists of its own vertices alone: see
    /// [`RankExecutor::with_parts`](ripplet_lp::RankExecutor::with_parts). An executor that is no rank's ignores it.
    ///
    /// Rank 0's graph must have the ids. Whether all have parts of the same graph is for the caller to compare.
    #[must_use]
    pub fn with_parts(self, parts: Parts) -> AnyExecutor {
        match self.0 {
            On::Rank(rank) => AnyExecutor(On::Rank(rank.with_parts(parts))),
            on => AnyExecutor(on),
        }
    }

    /// Sets the vertices whose labels each rank has in the rounds: see
    /// [`RankExecutor::with_labels`](ripplet_lp::RankExecutor::with_labels). An executor that is no rank's ignores it.
    #[must_use]
    pub fn with_rank_labels(self, labels: RankLabels) -> AnyExecutor {
        match self.0 {
            On::Rank(rank) => AnyExecutor(On::Rank(rank.with_labels(labels))),
            on => AnyExecutor(on),
        }
    }

    /// Returns the executor of a rank that has chosen the vertices whose labels it has in a run, and which: all or ghosts,
    /// see [`RankExecutor::choose_labels`](ripplet_lp::RankExecutor::choose_labels). Its plan of the run is of this choice, and
    /// the run does not choose again. `None` of an executor that is no rank's. All ranks call it at the same time.
    ///
    /// # Errors
    /// [`RunError::NoGhosts`] if the program has none and they are set, [`RunError::Ranks`] if a message between ranks fails.
    pub fn choosing_rank_labels<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Result<Option<(AnyExecutor, RankLabels)>, RunError> {
        let On::Rank(rank) = &self.0 else { return Ok(None) };
        let (rank, labels) = rank.choosing_labels(graph.into(), program, settings)?;
        Ok(Some((AnyExecutor(On::Rank(rank)), labels)))
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

    /// Limits the bytes of host memory that a run on a GPU may use; the CPU ignores it.
    #[must_use]
    pub fn with_host_memory(self, limit: Option<u64>) -> AnyExecutor {
        match self.0 {
            On::Cpu(_) | On::Rank(_) => self,
            On::Gpus(gpus) => AnyExecutor(On::Gpus(gpus.with_host_memory(limit))),
        }
    }

    /// Returns the name for reports: `cpu`, or the numbers and models of the GPUs.
    pub fn name(&self) -> String {
        match &self.0 {
            On::Cpu(_) => "cpu".into(),
            On::Rank(rank) => rank.gpu().map_or_else(|| "cpu".into(), RankGpu::name),
            On::Gpus(gpus) => gpus.name(),
        }
    }

    /// Returns whether the device is the CPU.
    pub fn is_cpu(&self) -> bool {
        match &self.0 {
            On::Cpu(_) => true,
            On::Rank(rank) => rank.gpu().is_none(),
            On::Gpus(_) => false,
        }
    }

    /// Returns the number of threads of the CPU; `None` for GPUs.
    pub fn threads(&self) -> Option<usize> {
        match &self.0 {
            On::Cpu(executor) => Some(executor.threads()),
            On::Rank(rank) => Some(rank.threads()),
            On::Gpus(_) => None,
        }
    }

    /// Returns the executor of this host's cores, if these compute.
    pub(crate) fn cores(&self) -> Option<&CpuExecutor> {
        match &self.0 {
            On::Cpu(executor) => Some(executor),
            On::Rank(rank) => Some(rank.cpu()),
            On::Gpus(_) => None,
        }
    }

    /// Returns what a user should know although nothing failed, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        match &self.0 {
            On::Cpu(_) | On::Rank(_) => Vec::new(),
            On::Gpus(gpus) => gpus.notes(),
        }
    }

    /// Returns the traffic of the last run; `None` unless several GPUs share runs.
    pub fn exchanged(&self) -> Option<Exchanged> {
        match &self.0 {
            On::Cpu(_) | On::Rank(_) => None,
            On::Gpus(gpus) => gpus.exchanged(),
        }
    }

    /// Returns the plan of each of several GPUs, with its name; empty for the CPU or one GPU.
    pub fn plans<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Vec<(String, Plan)> {
        match &self.0 {
            On::Cpu(_) | On::Rank(_) => Vec::new(),
            On::Gpus(gpus) => gpus.plans(graph.into(), program, settings),
        }
    }

    /// Adds to the plan of a run what checkpoints take: of GPUs, a copy of the state.
    pub fn add_checkpoints<'g>(
        &self,
        plan: Plan,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
    ) -> Plan {
        match self.is_cpu() {
            true => plan,
            false => {
                let bytes = bytes_of_state(graph.into().vertices(), &program.info().columns);
                plan.with("a checkpoint", bytes)
            }
        }
    }

    /// Refuses a plan that does not fit the memory of the GPU. Several GPUs check their plans when
    /// a run begins: see [`AnyExecutor::check_run`].
    ///
    /// # Errors
    /// If the plan does not fit, or the GPU does not report its free memory.
    pub fn check_memory(&self, plan: &Plan) -> Result<(), RunError> {
        match &self.0 {
            On::Cpu(_) => Ok(()),
            On::Rank(rank) => rank.gpu().map_or(Ok(()), |gpu| gpu.check_memory(plan)),
            On::Gpus(gpus) => gpus.check_memory(plan),
        }
    }

    /// Refuses a run, of this plan, that does not fit the memory of each of its GPUs.
    ///
    /// # Errors
    /// See [`AnyExecutor::check_memory`].
    pub fn check_run<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
        plan: &Plan,
    ) -> Result<(), RunError> {
        match &self.0 {
            On::Cpu(_) => Ok(()),
            On::Rank(rank) => rank.gpu().map_or(Ok(()), |gpu| gpu.check_memory(plan)),
            On::Gpus(gpus) => gpus.check_run(graph.into(), program, settings, plan),
        }
    }
}

impl Executor for AnyExecutor {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        match &self.0 {
            On::Cpu(executor) => executor.plan_on(graph, program, settings),
            On::Rank(rank) => rank.plan_on(graph, program, settings),
            On::Gpus(gpus) => gpus.plan_on(graph, program, settings),
        }
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        match &self.0 {
            On::Cpu(executor) => executor.run_on(graph, program, settings, observer),
            On::Rank(rank) => rank.run_on(graph, program, settings, observer),
            On::Gpus(gpus) => gpus.run_on(graph, program, settings, observer),
        }
    }
}
