//! GPUs by CUDA, and the executors on them.

use super::choice::listed;
use super::gpu_types::{
    CompiledKernels, Exchanged, GpuCounting, GpuInfo, GpuList, LccError, RunSeconds, Unopened,
};
use crate::swarm::{Answer, DeviceWorker, SwarmError, Worker};
use ripplet_analytics::PathAnalysis;
use ripplet_analytics::lcc::{Coefficients, Lcc};
use ripplet_cuda::lcc::DeviceLcc;
use ripplet_cuda::lp::{Counting, Tuning};
use ripplet_cuda::refine::DeviceRefinement;
use ripplet_cuda::swarm::SwarmSeconds;
use ripplet_cuda::{DeviceExecutor, DevicesExecutor};
use ripplet_gpu::cache::Cache;
use ripplet_gpu::{CudaDevice, Device as _, DeviceError, Gpu, MIN_ARCHITECTURE};
use ripplet_graph::batch::BatchSlice;
use ripplet_graph::{Graph, GraphView, Observer};
use ripplet_io::write::{ColumnData, Part};
use ripplet_lp::engine::RankDevice;
use ripplet_lp::profile::Profile;
use ripplet_lp::refine::{self, RefineError, RefineOptions, Refined};
use ripplet_lp::{
    DeviceSeconds, DynProgram, Executor, Outcome, Plan, RoundObserver, RunError, Settings,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The reason of a fallback in the usual case: no more words than it takes.
pub(super) const USUAL_REASON: &str = "there is no NVIDIA driver";

/// GPUs that are open.
pub(super) enum Gpus {
    /// One GPU.
    One {
        /// Its number, as in `cuda:0`.
        number: usize,
        /// The executor on it.
        executor: Box<DeviceExecutor<CudaDevice>>,
    },
    /// Several GPUs that share each run.
    Several {
        /// Their numbers.
        numbers: Vec<usize>,
        /// The executor on all of them.
        executor: Box<DevicesExecutor<CudaDevice>>,
    },
}

impl From<DeviceError> for Unopened {
    fn from(error: DeviceError) -> Unopened {
        let is_usual = matches!(error, DeviceError::NoLibrary);
        Unopened { error: error.to_string(), is_usual }
    }
}

/// The process that has called the driver; 0 before. After `fork`, the driver has no state in the child, whose calls
/// fail or wait for ever.
static CALLER: AtomicU32 = AtomicU32::new(0);

/// Returns an error in a process that was forked from one that has called the driver.
fn check_fork() -> Result<(), Unopened> {
    match CALLER.load(Relaxed) {
        0 => Ok(()),
        caller if caller == std::process::id() => Ok(()),
        caller => Err(Unopened {
            error: format!(
                "this process was forked from process {caller}, which has used the driver: fork before the first use of \
                 a GPU, or start processes by `spawn`"
            ),
            is_usual: false,
        }),
    }
}

/// Opens a GPU, and notes that this process has called the driver.
fn open_device(number: usize) -> Result<CudaDevice, Unopened> {
    check_fork()?;
    let opened = CudaDevice::new(number);
    if !matches!(opened, Err(DeviceError::NoLibrary)) {
        CALLER.store(std::process::id(), Relaxed);
    }
    Ok(opened?)
}

/// Opens a GPU that may use at most `memory` bytes in a run.
pub(super) fn open_one(
    number: usize,
    memory: Option<u64>,
) -> Result<DeviceExecutor<CudaDevice>, Unopened> {
    Ok(DeviceExecutor::new(open_device(number)?).with_memory(memory))
}

/// Returns the name of a GPU for reports: its number and model.
pub(super) fn name_of(number: usize, device: &CudaDevice) -> String {
    format!("cuda:{number} {}", device.properties().name)
}

/// Returns the GPUs of the host.
pub(super) fn list() -> Result<GpuList, String> {
    check_fork().map_err(|unopened| unopened.error)?;
    let listed = ripplet_gpu::devices();
    if !matches!(listed, Err(DeviceError::NoLibrary)) {
        CALLER.store(std::process::id(), Relaxed);
    }
    let gpus = listed.map_err(|error| error.to_string())?;
    let info = |gpu: Gpu| GpuInfo {
        number: gpu.number,
        name: gpu.properties.name,
        architecture: gpu.properties.architecture,
        memory: gpu.properties.memory,
        free_memory: gpu.free_memory.map_err(|error| error.to_string()),
    };
    Ok(GpuList {
        gpus: gpus.into_iter().map(info).collect(),
        driver: ripplet_gpu::driver_version().ok().map(|version| version.to_string()),
        nvrtc: match ripplet_gpu::nvrtc::available() {
            Ok(version) => Ok(version.to_string()),
            Err(error) => Err(error.to_string()),
        },
    })
}

/// Returns the number of files of compiled kernels that this program was built with.
pub(super) fn built_in_kernels() -> usize {
    ripplet_gpu::built_in_kernels()
}

/// Compiles the kernels of usual runs for these architectures, or for those of the GPUs here.
pub(super) fn compile_kernels(
    architectures: &[(u32, u32)],
    observer: &dyn Observer,
) -> Result<CompiledKernels, String> {
    let sentence = |error: DeviceError| error.to_string();
    let mut architectures = match architectures {
        [] => architectures_here()?,
        named => {
            named.iter().try_for_each(|&one| check_architecture(one))?;
            named.to_vec()
        }
    };
    architectures.sort_unstable();
    architectures.dedup();
    let Some(cache) = Cache::of_environment() else {
        return Err("there is no folder for compiled kernels: set RIPPLET_CACHE".to_owned());
    };
    let sources = ripplet_cuda::built_in().map_err(|error| error.to_string())?;
    let progress = |done| {
        observer.on_progress(done);
        !observer.is_cancelled()
    };
    let compiled = ripplet_gpu::compile_ahead(&cache, &sources, &architectures, &progress);
    let Some(compiled) = compiled.map_err(sentence)? else {
        return Err("cancelled before all kernels were compiled".to_owned());
    };
    let (folder, files) = (cache.folder().to_owned(), sources.len() * architectures.len());
    Ok(CompiledKernels { folder, architectures, files, compiled })
}

/// Checks that ripplet runs on an architecture, and that the compiler here knows it.
fn check_architecture(architecture: (u32, u32)) -> Result<(), String> {
    let (major, minor) = architecture;
    if architecture < MIN_ARCHITECTURE {
        return Err(format!("ripplet needs sm_75 or newer, and sm_{major}{minor} is older"));
    }
    ripplet_gpu::nvrtc::check_architecture(architecture).map_err(|error| error.to_string())
}

/// Returns the architectures of those GPUs here that kernels run on.
fn architectures_here() -> Result<Vec<(u32, u32)>, String> {
    let gpus = list()?.gpus;
    ripplet_gpu::check_compiler().map_err(|error| error.to_string())?;
    let all = gpus.iter().map(|gpu| gpu.architecture);
    let found: Vec<_> = all.filter(|&architecture| architecture >= MIN_ARCHITECTURE).collect();
    if found.is_empty() {
        return Err(
            "the NVIDIA driver finds no GPU of sm_75 or newer to compile kernels for".into()
        );
    }
    Ok(found)
}

/// The GPU of a rank.
#[derive(Clone)]
pub(super) struct RankGpu {
    number: usize,
    executor: Arc<DeviceExecutor<CudaDevice>>,
}

impl RankGpu {
    /// Opens a GPU that may use at most `memory` bytes in a run.
    pub(super) fn open(number: usize, memory: Option<u64>) -> Result<RankGpu, Unopened> {
        Ok(RankGpu { number, executor: Arc::new(open_one(number, memory)?) })
    }

    pub(super) fn name(&self) -> String {
        name_of(self.number, self.executor.device())
    }

    /// Returns what updates the rank's vertices.
    pub(super) fn device(&self) -> Arc<dyn RankDevice> {
        self.executor.clone()
    }

    pub(super) fn check_memory(&self, plan: &Plan) -> Result<(), RunError> {
        self.executor.check_memory(plan)
    }
}

impl Gpus {
    /// Opens the GPUs of these numbers, at least one.
    pub(super) fn open(numbers: &[usize], memory: Option<u64>) -> Result<Gpus, Unopened> {
        if let &[number] = numbers {
            let executor = Box::new(open_one(number, memory)?);
            return Ok(Gpus::One { number, executor });
        }
        let devices = numbers.iter().map(|&number| open_device(number));
        let devices: Vec<CudaDevice> = devices.collect::<Result<_, _>>()?;
        let names = numbers.iter().zip(&devices);
        let names = names.map(|(number, device)| name_of(*number, device)).collect();
        let executor = DevicesExecutor::new(devices)?.with_names(names).with_memory(memory);
        Ok(Gpus::Several { numbers: numbers.to_vec(), executor: Box::new(executor) })
    }

    pub(super) fn with_host_memory(self, limit: Option<u64>) -> Gpus {
        match self {
            Gpus::One { number, executor } => {
                Gpus::One { number, executor: Box::new(executor.with_host_memory(limit)) }
            }
            Gpus::Several { numbers, executor } => {
                Gpus::Several { numbers, executor: Box::new(executor.with_host_memory(limit)) }
            }
        }
    }

    pub(super) fn with_counting(self, counting: GpuCounting) -> Gpus {
        let counting = match counting {
            GpuCounting::GlobalTables => Counting::GlobalTables,
            GpuCounting::SharedTables => Counting::SharedTables,
            GpuCounting::PackedWarps => Counting::Packed,
        };
        let tuning = Tuning { counting, ..Tuning::default() };
        match self {
            Gpus::One { number, executor } => {
                Gpus::One { number, executor: Box::new(executor.with_tuning(tuning)) }
            }
            Gpus::Several { numbers, executor } => {
                Gpus::Several { numbers, executor: Box::new(executor.with_tuning(tuning)) }
            }
        }
    }

    pub(super) fn profile(
        &self,
        graph: &Graph,
        program: &dyn DynProgram,
        settings: &Settings,
        iterations: u32,
    ) -> Result<Profile, RunError> {
        match self {
            Gpus::One { executor, .. } => executor.profile(graph, program, settings, iterations),
            Gpus::Several { .. } => Err(RunError::Device("a profile is of one GPU".into())),
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Gpus::One { number, executor } => name_of(*number, executor.device()),
            Gpus::Several { numbers, executor } => {
                let names = executor.devices().iter().map(|device| &*device.properties().name);
                format!("cuda:{} {}", listed(numbers), names.collect::<Vec<_>>().join(", "))
            }
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        match self {
            Gpus::One { executor, .. } => executor.device().notes(),
            Gpus::Several { executor, .. } => {
                let mut notes = executor.notes().to_vec();
                for note in executor.devices().iter().flat_map(CudaDevice::notes) {
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
                notes
            }
        }
    }

    pub(super) fn exchanged(&self) -> Option<Exchanged> {
        match self {
            Gpus::One { .. } => None,
            Gpus::Several { executor, .. } => Some(Exchanged {
                transport: executor.transport().name(),
                bytes: executor.exchanged(),
            }),
        }
    }

    pub(super) fn plans(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Vec<(String, Plan)> {
        match self {
            Gpus::One { .. } => Vec::new(),
            Gpus::Several { executor, .. } => {
                let plans = executor.plans(graph, program, settings);
                executor.names().iter().cloned().zip(plans).collect()
            }
        }
    }

    pub(super) fn check_memory(&self, plan: &Plan) -> Result<(), RunError> {
        match self {
            Gpus::One { executor, .. } => executor.check_memory(plan),
            Gpus::Several { .. } => Ok(()),
        }
    }

    pub(super) fn check_run(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        plan: &Plan,
    ) -> Result<(), RunError> {
        match self {
            Gpus::One { executor, .. } => executor.check_memory(plan),
            Gpus::Several { executor, .. } => {
                executor.check_memory(&executor.plans(graph, program, settings))
            }
        }
    }

    /// Returns the plan of clustering coefficients; `None` for several GPUs, which do not share
    /// them.
    pub(super) fn plan_lcc(&self, graph: &Graph, lcc: Lcc) -> Option<Plan> {
        match self {
            Gpus::One { executor, .. } => Some(DeviceLcc::new(executor).plan(graph, lcc)),
            Gpus::Several { .. } => None,
        }
    }

    pub(super) fn run_lcc(
        &self,
        graph: &Graph,
        lcc: Lcc,
        observer: &mut dyn Observer,
    ) -> Result<(Coefficients, DeviceSeconds), LccError> {
        match self {
            Gpus::One { executor, .. } => Ok(DeviceLcc::new(executor).run(graph, lcc, observer)?),
            Gpus::Several { .. } => Err(LccError::SeveralGpus),
        }
    }
}

impl Gpus {
    /// Returns the plan of a refinement; of several GPUs, which do not share it, that of the host with
    /// `threads` threads.
    pub(super) fn plan_refinement(
        &self,
        graph: GraphView<'_>,
        options: &RefineOptions,
        threads: usize,
    ) -> Plan {
        match self {
            Gpus::One { executor, .. } => {
                DeviceRefinement::new(executor).plan(graph, options, threads)
            }
            Gpus::Several { .. } => refine::plan(graph, options, threads),
        }
    }

    pub(super) fn run_refinement(
        &self,
        graph: GraphView<'_>,
        options: &RefineOptions,
        observer: &mut dyn RoundObserver,
    ) -> Result<(Refined, DeviceSeconds), RefineError> {
        match self {
            Gpus::One { executor, .. } => {
                DeviceRefinement::new(executor).run(graph, options, observer)
            }
            Gpus::Several { .. } => {
                let reason = "several GPUs do not share a refinement; choose one, such as cuda:0";
                Err(RunError::Device(reason.into()).into())
            }
        }
    }
}

impl Executor for Gpus {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        match self {
            Gpus::One { executor, .. } => executor.plan(graph, program, settings),
            Gpus::Several { executor, .. } => executor.plan(graph, program, settings),
        }
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        match self {
            Gpus::One { executor, .. } => executor.run(graph, program, settings, observer),
            Gpus::Several { executor, .. } => executor.run(graph, program, settings, observer),
        }
    }
}

/// Worker on a GPU; see [`Device::open_workers`](super::Device::open_workers).
pub struct GpuWorker(DeviceWorker<CudaDevice>);

impl GpuWorker {
    pub(super) fn open(
        number: usize,
        memory: Option<u64>,
        analysis: PathAnalysis,
    ) -> Result<GpuWorker, Unopened> {
        let executor = open_one(number, memory)?;
        let name = name_of(number, executor.device());
        Ok(GpuWorker(DeviceWorker::new(name, executor, analysis)))
    }

    /// Returns the memory that the analysis of a single graph needs.
    pub(crate) fn plan_graph(&self, graph: &Graph) -> Result<Plan, RunError> {
        self.0.plan(graph)
    }

    /// Returns the memory that the analysis of these graphs at once needs.
    ///
    /// # Errors
    /// If the host refuses memory.
    pub fn plan_part(&self, graphs: BatchSlice<'_>) -> Result<Plan, RunError> {
        self.0.plan(graphs)
    }

    /// Refuses a plan that does not fit the memory of the GPU.
    pub(crate) fn check_memory(&self, plan: &Plan) -> Result<(), RunError> {
        self.0.executor().check_memory(plan)
    }

    /// Returns what a user should know although nothing failed, a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.0.executor().device().notes()
    }

    /// Analyses a single graph, and passes the rows and their columns to `take`: in several parts
    /// if they are pairs.
    pub(crate) fn answer_graph(
        &mut self,
        graph: &Graph,
        observer: &dyn Observer,
        take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
    ) -> Result<RunSeconds, SwarmError> {
        let before = self.0.seconds();
        self.0.answer_graph(graph, observer, take)?;
        let SwarmSeconds { kernels, upload, compute, download } = self.0.seconds();
        Ok(RunSeconds {
            kernels: kernels - before.kernels,
            transfer: upload + download - before.upload - before.download,
            compute: compute - before.compute,
        })
    }
}

impl Worker for GpuWorker {
    fn name(&self) -> String {
        self.0.name()
    }

    fn answer(
        &mut self,
        part: BatchSlice<'_>,
        observer: &dyn Observer,
    ) -> Result<Answer, SwarmError> {
        self.0.answer(part, observer)
    }

    fn steps(&self) -> Vec<(&'static str, f64)> {
        self.0.steps()
    }
}
