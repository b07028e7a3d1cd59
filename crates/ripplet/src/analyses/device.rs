//! Devices of analyses of one graph.

use super::{AnalyseError, AnalysisReport, Take};
use crate::Storage;
use crate::device::{
    AnyExecutor, Device, Fallback, GpuWorker, LccError, OpenError, OpenWorkersError, Opened,
    RunSeconds,
};
use crate::swarm::{Analysis, Scope, SwarmError, Worker, of_coefficients, pass};
use ripplet_analytics::lcc::Lcc;
use ripplet_graph::{Graph, Observer};
use ripplet_lp::{DeviceSeconds, Plan, RunError};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A device that was opened for an analysis of one graph, before the graph is read.
///
/// A GPU that fails in a run is closed if the choice allows the CPU, which then does further runs.
///
/// # Examples
/// ```
/// use ripplet::analyses::{AnalysisDevice, AnalysisName, AnalysisRun};
/// use ripplet::analytics::Lengths;
/// use ripplet::swarm::Scope;
/// use ripplet::{Device, graph_from_edges};
///
/// let analysis = AnalysisName::Closeness.analysis(Lengths::Hops);
/// let device = AnalysisDevice::open(analysis, Scope::All, &Device::auto(), None)?;
/// // Loading a large graph would come here; a GPU reads plain lists.
/// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1)])?;
/// let found = AnalysisRun::on(device, &graph).run()?;
/// assert_eq!(found.by_vertex()?.map(|(_, value)| value).collect::<Vec<f64>>(), [0.5; 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AnalysisDevice {
    pub(super) analysis: Analysis,
    pub(super) scope: Scope,
    pub(super) choice: Device,
    pub(super) memory: Option<u64>,
    gpu: Mutex<GpuOrFallback>,
}

/// A GPU; or none, with the reason if the choice allowed one.
pub(super) type GpuOrFallback = Result<Gpu, Option<Fallback>>;

impl AnalysisDevice {
    /// Opens the device of a choice for an analysis of a graph with plain lists; a GPU may use at most `memory` bytes of its
    /// memory in a run.
    ///
    /// # Errors
    /// If the device cannot be opened, is several GPUs, or is a GPU that has no kernel for the analysis.
    pub fn open(
        analysis: Analysis,
        scope: Scope,
        choice: &Device,
        memory: Option<u64>,
    ) -> Result<AnalysisDevice, AnalyseError> {
        AnalysisDevice::open_for(Storage::Plain, analysis, scope, choice, memory)
    }

    /// Opens the device as [`AnalysisDevice::open`] does, for lists of this storage.
    pub(super) fn open_for(
        lists: Storage,
        analysis: Analysis,
        scope: Scope,
        choice: &Device,
        memory: Option<u64>,
    ) -> Result<AnalysisDevice, AnalyseError> {
        let gpu = match analysis.on_device_for(scope) {
            Err(why) => Err(choice.without_kernel(why, memory)?),
            Ok(()) => match choice.for_lists(lists, memory).map_err(OpenWorkersError::from)? {
                (choice, None) => Gpu::open(analysis, &choice, memory)?,
                (_, fallback) => Err(fallback),
            },
        };
        Ok(AnalysisDevice { analysis, scope, choice: choice.clone(), memory, gpu: Mutex::new(gpu) })
    }

    /// Returns whether it is a GPU, which reads plain lists.
    pub fn is_gpu(&self) -> bool {
        self.gpu().is_ok()
    }

    /// Returns the reason why it is the CPU, if the choice allowed a GPU.
    pub fn fallback(&self) -> Option<Fallback> {
        self.gpu().as_ref().err().cloned().flatten()
    }

    pub(super) fn gpu(&self) -> MutexGuard<'_, GpuOrFallback> {
        self.gpu.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for AnalysisDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnalysisDevice").field("choice", &self.choice).finish_non_exhaustive()
    }
}

/// A GPU that was opened for an analysis of one graph.
pub(super) enum Gpu {
    /// For analyses of paths.
    Paths(Box<GpuWorker>),
    /// For clustering coefficients.
    Lcc(AnyExecutor, Lcc),
}

impl Gpu {
    fn open(
        analysis: Analysis,
        choice: &Device,
        memory: Option<u64>,
    ) -> Result<GpuOrFallback, AnalyseError> {
        if let Analysis::Lcc(lcc) = analysis {
            return match choice.open_one(memory) {
                Ok(Opened::Gpu(executor)) => Ok(Ok(Gpu::Lcc(executor, lcc))),
                Ok(Opened::Cpu { fallback }) => Ok(Err(fallback)),
                Err(OpenError::SeveralGpus) => Err(AnalyseError::SeveralGpus),
                Err(error) => Err(OpenWorkersError::from(error).into()),
            };
        }
        match choice.open_workers(analysis, 1, memory)? {
            Ok(workers) if workers.len() > 1 => Err(AnalyseError::SeveralGpus),
            Ok(mut workers) => Ok(workers.pop().map(|gpu| Gpu::Paths(Box::new(gpu))).ok_or(None)),
            Err(fallback) => Ok(Err(Some(fallback))),
        }
    }

    /// Returns its number and model.
    pub fn name(&self) -> String {
        match self {
            Gpu::Paths(worker) => worker.name(),
            Gpu::Lcc(executor, _) => executor.name(),
        }
    }

    /// Returns what a user should know although nothing failed, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Gpu::Paths(worker) => worker.notes(),
            Gpu::Lcc(executor, _) => executor.notes(),
        }
    }

    /// Returns the memory that the analysis of a graph needs.
    pub fn plan(&self, graph: &Graph) -> Result<Plan, RunError> {
        match self {
            Gpu::Paths(worker) => worker.plan_graph(graph),
            // The threads are those of a plan on the CPU.
            Gpu::Lcc(executor, lcc) => Ok(executor.plan_lcc(graph, *lcc, 1)),
        }
    }

    /// Refuses a plan that does not fit its memory.
    pub fn check_memory(&self, plan: &Plan) -> Result<(), RunError> {
        match self {
            Gpu::Paths(worker) => worker.check_memory(plan),
            Gpu::Lcc(executor, _) => executor.check_memory(plan),
        }
    }

    /// Analyses a graph, and passes its rows on.
    pub fn pass_rows(
        &mut self,
        graph: &Graph,
        observer: &mut dyn Observer,
        take: Take<'_>,
    ) -> Result<AnalysisReport, SwarmError> {
        match self {
            Gpu::Paths(worker) => {
                let seconds = worker.answer_graph(graph, &*observer, take)?;
                Ok(AnalysisReport { seconds, ..AnalysisReport::default() })
            }
            Gpu::Lcc(executor, lcc) => {
                let start = Instant::now();
                let found = executor.run_lcc(graph, *lcc, observer);
                let (found, DeviceSeconds { kernels, transfer }) =
                    found.map_err(|error| match error {
                        LccError::Cpu(error) => SwarmError::from(error),
                        LccError::Device(error) => error.into(),
                        error @ (LccError::Compressed | LccError::SeveralGpus) => {
                            RunError::Device(error.to_string()).into()
                        }
                    })?;
                let compute = (start.elapsed().as_secs_f64() - kernels - transfer).max(0.0);
                let (answer, clustering) = of_coefficients(found);
                pass(answer, graph.into(), take)?;
                let seconds = RunSeconds { kernels, transfer, compute };
                let clustering = Some(clustering);
                Ok(AnalysisReport { seconds, clustering, ..AnalysisReport::default() })
            }
        }
    }
}
