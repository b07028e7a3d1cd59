//! The GPUs that answer.

use super::Request;
use crate::console::Console;
use crate::failure::Failure;
use crate::machine::{Lane, name_of_gpu};
use ripplet::cuda::CudaDevice;
use ripplet::swarm::DeviceWorker;
use serde::Serialize;

/// A GPU that answers.
pub(super) type Gpu = DeviceWorker<CudaDevice>;

impl<C: Serialize> Request<'_, C> {
    /// The GPUs that answer, each so many times; none where the CPU does.
    pub(super) fn gpus(&self, times: usize, console: &Console) -> Result<Vec<Gpu>, Failure> {
        let question = match self.analysis.question() {
            Ok(question) => question,
            Err(_) if self.device.is_cpu() => return Ok(Vec::new()),
            Err(why) if self.device.is_auto() => {
                console.remark(&format!("running on the CPU: {why}"));
                return Ok(Vec::new());
            }
            Err(why) => return Err(Failure::refused(why.to_string(), "use --device cpu")),
        };
        let lanes = self.device.open_all(times, console)?;
        let gpu = |Lane { number, executor }| {
            let name = name_of_gpu(number, executor.device());
            DeviceWorker::new(name, executor, question)
        };
        Ok(lanes.into_iter().map(gpu).collect())
    }
}
