//! Times of teams by size.

use super::device::{DeviceSwarm, refused};
use super::graphs::Flat;
use super::layout::Layout;
use super::run::{BLOCK, Run};
use super::schedule::{Share, SourceBatch, Tier};
use crate::lp::failed;
use ripplet_analytics::PathAnalysis;
use ripplet_gpu::{Device, DeviceError};
use ripplet_graph::batch::Subject;
use ripplet_lp::RunError;

/// Launches of teams of one size in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Threads per block.
    pub threads: u32,
    /// Bytes of shared memory per block.
    pub shared: u32,
    /// Blocks that are resident at once.
    pub resident: u32,
    /// Items processed.
    pub items: u32,
    /// Seconds taken.
    pub seconds: f64,
}

impl<D: Device> DeviceSwarm<D> {
    /// Measures each size of team separately, with the graphs on the device; teams that a run
    /// launches concurrently are also measured together, and so are the final sums of each source batch.
    ///
    /// # Errors
    /// As for a run; also if the graphs do not fit at once.
    pub fn profile<'a>(
        &mut self,
        subject: impl Into<Subject<'a>>,
        question: PathAnalysis,
    ) -> Result<Vec<Step>, RunError> {
        let flat = Flat::new(subject.into())?;
        let graphs = flat.graphs();
        let layout = Layout::new(graphs, question, self.machine(), self.tuning);
        let layout = layout.map_err(refused)?;
        self.executor.check_memory_beside(&layout.plan, self.kept())?;
        let mut steps = Vec::new();
        self.with_run(&layout, (graphs, question), |run| {
            for batch in &layout.schedule.source_batches {
                for share in &batch.shares {
                    steps.push(run.time_share(share).map_err(failed)?);
                }
                if run.is_short(batch) {
                    steps.push(run.time_together(batch).map_err(failed)?);
                }
                steps.extend(run.time_adding(batch).map_err(failed)?);
            }
            Ok(())
        })?;
        Ok(steps)
    }
}

impl<D: Device> Run<'_, D> {
    fn time_share(&self, share: &Share) -> Result<Step, DeviceError> {
        let tier = self.layout.schedule.tiers[share.tier];
        let resident = self.resident(tier, share.tier)?;
        let seconds =
            self.device.timed(&mut || self.launch(tier, share.items.clone(), resident))?;
        let Tier { kernel, threads, shared, .. } = tier;
        let items = share.items.end - share.items.start;
        Ok(Step { kernel, threads, shared, resident, items, seconds })
    }

    fn time_together(&self, batch: &SourceBatch) -> Result<Step, DeviceError> {
        let seconds = self.device.timed(&mut || self.launch_together(batch))?;
        let items = batch.shares.iter().map(|share| share.items.end - share.items.start).sum();
        let kernel = "all of these at once";
        Ok(Step { kernel, threads: 0, shared: 0, resident: 0, items, seconds })
    }

    fn time_adding(&self, batch: &SourceBatch) -> Result<Option<Step>, DeviceError> {
        if batch.pieces.is_empty() {
            return Ok(None);
        }
        let seconds = self.device.timed(&mut || self.add_up(batch))?;
        let items = batch.pieces.end - batch.pieces.start;
        let (kernel, threads) = ("ripplet_swarm_add_up", BLOCK);
        Ok(Some(Step { kernel, threads, shared: 0, resident: items, items, seconds }))
    }
}
