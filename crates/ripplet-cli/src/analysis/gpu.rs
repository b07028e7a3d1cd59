//! The GPUs that answer.

use super::Request;
use crate::console::Console;
use crate::failure::Failure;
use crate::machine::{Lane, WhyCpu, name_of_gpu};
use ripplet::gpu::CudaDevice;
use ripplet::swarm::DeviceWorker;
use serde::Serialize;

/// A GPU that answers.
pub(super) type Gpu = DeviceWorker<CudaDevice>;

impl<C: Serialize> Request<'_, C> {
    /// The GPUs that answer, each so many times; none where the CPU does, and a sentence where that was not
    /// asked for: what is wrong with the input comes before it.
    pub(super) fn gpus(&self, times: usize) -> Result<Result<Vec<Gpu>, WhyCpu>, Failure> {
        let question = match self.analysis.question() {
            Ok(question) => question,
            Err(_) if self.device.is_cpu() => return Ok(Ok(Vec::new())),
            Err(why) if self.device.is_auto() => {
                return Ok(Err(WhyCpu::no_work_for_gpu(why.to_string())));
            }
            Err(why) => return Err(Failure::refused(why.to_string(), "use --device cpu")),
        };
        let gpu = |Lane { number, executor }| {
            let name = name_of_gpu(number, executor.device());
            DeviceWorker::new(name, executor, question)
        };
        let lanes = self.device.open_all(times)?;
        Ok(lanes.map(|lanes| lanes.into_iter().map(gpu).collect()))
    }
}

/// The GPUs, if any; says why there are none where that was not asked for.
pub(super) fn told(gpus: Result<Vec<Gpu>, WhyCpu>, console: &Console) -> Vec<Gpu> {
    gpus.unwrap_or_else(|why| {
        why.tell(console);
        Vec::new()
    })
}
