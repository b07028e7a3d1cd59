//! Time profiles of full iterations on the chosen device.

use super::AnyExecutor;
use super::executor::On;
use super::gpu_types::GpuCounting;
use ripplet_graph::Graph;
use ripplet_lp::profile::Profile;
use ripplet_lp::{DynProgram, RoundObserver, RunError, Settings};

impl AnyExecutor {
    /// Sets how a GPU counts votes; the CPU ignores it.
    #[must_use]
    pub fn with_gpu_counting(self, counting: GpuCounting) -> AnyExecutor {
        match self.0 {
            On::Cpu(_) | On::Rank(_) => self,
            On::Gpus(gpus) => AnyExecutor(On::Gpus(gpus.with_counting(counting))),
        }
    }

    /// Measures `iterations` full iterations of a program on a graph, each as a whole and by degree
    /// class. On a GPU the observer is not called.
    ///
    /// # Errors
    /// If the settings do not fit the graph, memory is refused, the observer cancels, the GPU
    /// fails, or there are several GPUs.
    pub fn profile(
        &self,
        graph: &Graph,
        program: &dyn DynProgram,
        settings: &Settings,
        iterations: u32,
        observer: &mut dyn RoundObserver,
    ) -> Result<Profile, RunError> {
        match &self.0 {
            On::Cpu(executor) => executor.profile(graph, program, settings, iterations, observer),
            On::Rank(rank) => rank.cpu().profile(graph, program, settings, iterations, observer),
            On::Gpus(gpus) => gpus.profile(graph, program, settings, iterations),
        }
    }
}
