//! The refusal of GPUs by a build without the feature `cuda`.

use super::gpu_types::{
    CompiledKernels, Exchanged, GpuCounting, GpuList, LccError, RunSeconds, Unopened,
};
use crate::swarm::{Answer, SwarmError, Worker};
use ripplet_analytics::PathAnalysis;
use ripplet_analytics::lcc::{Coefficients, Lcc};
use ripplet_graph::batch::BatchSlice;
use ripplet_graph::{Graph, GraphView, Observer};
use ripplet_io::NotBuiltIn;
use ripplet_io::write::{ColumnData, Part};
use ripplet_lp::engine::RankDevice;
use ripplet_lp::profile::Profile;
use ripplet_lp::refine::{RefineError, RefineOptions, Refined};
use ripplet_lp::{
    DeviceSeconds, DynProgram, Executor, Outcome, Plan, RoundObserver, RunError, Settings,
};
use std::convert::Infallible;
use std::sync::Arc;

/// The reason of a fallback in the usual case.
pub(super) const USUAL_REASON: &str = "this build has no cargo feature `cuda`";

/// The refusal of all GPUs.
const ABSENT: NotBuiltIn = NotBuiltIn::new("computation on NVIDIA GPUs", "cuda");

/// Returns why there is no GPU.
pub(super) fn list() -> Result<GpuList, String> {
    Err(ABSENT.to_string())
}

/// Returns that this build has no kernels.
pub(super) fn built_in_kernels() -> usize {
    0
}

/// Refuses to compile kernels.
pub(super) fn compile_kernels(
    _: &[(u32, u32)],
    _: &dyn Observer,
) -> Result<CompiledKernels, String> {
    Err(ABSENT.to_string())
}

/// The GPU of a rank: none in this build.
#[derive(Clone)]
pub(super) struct RankGpu(Infallible);

impl RankGpu {
    /// Refuses to open a GPU.
    pub(super) fn open(_: usize, _: Option<u64>) -> Result<RankGpu, Unopened> {
        Err(Unopened { error: ABSENT.to_string(), is_usual: true })
    }

    pub(super) fn name(&self) -> String {
        match self.0 {}
    }

    pub(super) fn device(&self) -> Arc<dyn RankDevice> {
        match self.0 {}
    }

    pub(super) fn check_memory(&self, _: &Plan) -> Result<(), RunError> {
        match self.0 {}
    }
}

/// GPUs that are open: none in this build.
pub(super) struct Gpus(Infallible);

impl Gpus {
    /// Refuses to open GPUs.
    pub(super) fn open(_: &[usize], _: Option<u64>) -> Result<Gpus, Unopened> {
        Err(Unopened { error: ABSENT.to_string(), is_usual: true })
    }

    pub(super) fn with_host_memory(self, _: Option<u64>) -> Gpus {
        match self.0 {}
    }

    pub(super) fn with_counting(self, _: GpuCounting) -> Gpus {
        match self.0 {}
    }

    pub(super) fn profile(
        &self,
        _: &Graph,
        _: &dyn DynProgram,
        _: &Settings,
        _: u32,
    ) -> Result<Profile, RunError> {
        match self.0 {}
    }

    pub(super) fn name(&self) -> String {
        match self.0 {}
    }

    pub(super) fn notes(&self) -> Vec<String> {
        match self.0 {}
    }

    pub(super) fn exchanged(&self) -> Option<Exchanged> {
        match self.0 {}
    }

    pub(super) fn plans(
        &self,
        _: GraphView<'_>,
        _: &dyn DynProgram,
        _: &Settings,
    ) -> Vec<(String, Plan)> {
        match self.0 {}
    }

    pub(super) fn check_memory(&self, _: &Plan) -> Result<(), RunError> {
        match self.0 {}
    }

    pub(super) fn check_run(
        &self,
        _: GraphView<'_>,
        _: &dyn DynProgram,
        _: &Settings,
        _: &Plan,
    ) -> Result<(), RunError> {
        match self.0 {}
    }

    pub(super) fn plan_lcc(&self, _: &Graph, _: Lcc) -> Option<Plan> {
        match self.0 {}
    }

    pub(super) fn run_lcc(
        &self,
        _: &Graph,
        _: Lcc,
        _: &mut dyn Observer,
    ) -> Result<(Coefficients, DeviceSeconds), LccError> {
        match self.0 {}
    }
}

impl Gpus {
    pub(super) fn plan_refinement(&self, _: GraphView<'_>, _: &RefineOptions, _: usize) -> Plan {
        match self.0 {}
    }

    pub(super) fn run_refinement(
        &self,
        _: GraphView<'_>,
        _: &RefineOptions,
        _: &mut dyn RoundObserver,
    ) -> Result<(Refined, DeviceSeconds), RefineError> {
        match self.0 {}
    }
}

impl Executor for Gpus {
    fn plan_on(&self, _: GraphView<'_>, _: &dyn DynProgram, _: &Settings) -> Plan {
        match self.0 {}
    }

    fn run_on(
        &self,
        _: GraphView<'_>,
        _: &dyn DynProgram,
        _: &Settings,
        _: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        match self.0 {}
    }
}

/// Worker on a GPU, of which this build has none.
pub struct GpuWorker(Infallible);

impl GpuWorker {
    pub(super) fn open(_: usize, _: Option<u64>, _: PathAnalysis) -> Result<GpuWorker, Unopened> {
        Err(Unopened { error: ABSENT.to_string(), is_usual: true })
    }

    pub(crate) fn plan_graph(&self, _: &Graph) -> Result<Plan, RunError> {
        match self.0 {}
    }

    /// Returns the memory that the analysis of these graphs at once needs.
    ///
    /// # Errors
    /// None: there is no such worker.
    pub fn plan_part(&self, _: BatchSlice<'_>) -> Result<Plan, RunError> {
        match self.0 {}
    }

    pub(crate) fn check_memory(&self, _: &Plan) -> Result<(), RunError> {
        match self.0 {}
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        match self.0 {}
    }

    pub(crate) fn answer_graph(
        &mut self,
        _: &Graph,
        _: &dyn Observer,
        _: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
    ) -> Result<RunSeconds, SwarmError> {
        match self.0 {}
    }
}

impl Worker for GpuWorker {
    fn name(&self) -> String {
        match self.0 {}
    }

    fn answer(&mut self, _: BatchSlice<'_>, _: &dyn Observer) -> Result<Answer, SwarmError> {
        match self.0 {}
    }
}
