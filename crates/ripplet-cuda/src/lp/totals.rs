//! Label totals on a device: what vertices add to the total of their label.

use super::run_memory::RunMemory;
use super::state::LabelTotals;
use super::task::Task;
use rayon::prelude::*;
use ripplet_gpu::Arena;
use ripplet_gpu::{Address, Device, DeviceError};
use ripplet_graph::{VertexId, memory};
use ripplet_lp::engine::VolumeUnit;
use ripplet_lp::{LabelTotal, RunError};
use std::ops::Range;

/// Contributions of vertices to label totals that are volumes.
#[derive(Default)]
pub(super) struct Volumes {
    shift: u32,
    /// By vertex; empty if the degree determines it.
    shares: Vec<u32>,
}

impl Volumes {
    /// Computes the shares in one pass over the graph, if the program uses volumes.
    ///
    /// # Errors
    /// [`RunError::OutOfMemory`] if the host has no memory for 4 bytes per vertex.
    pub fn of(task: Task<'_>) -> Result<Volumes, RunError> {
        let Task { graph, program, settings, .. } = task;
        if program.label_total != LabelTotal::Volume {
            return Ok(Volumes::default());
        }
        let strength = |v: VertexId| graph.strength(v);
        let all: u64 = (0..graph.vertices()).into_par_iter().map(strength).sum();
        let unit = VolumeUnit::for_all(all, settings.seed);
        let mut shares = Vec::new();
        if graph.is_weighted() {
            let bytes = 4 * u64::from(graph.vertices());
            let refused = |_| RunError::OutOfMemory { bytes };
            shares = memory::with_room(graph.vertices() as usize).map_err(refused)?;
            let share = |v| unit.share(v, strength(v));
            shares.par_extend((0..graph.vertices()).into_par_iter().map(share));
        }
        Ok(Volumes { shift: unit.shift(), shares })
    }

    /// Returns the shares that ranks have computed of their vertices, or the degrees of all that determine them.
    pub fn of_ranks(task: Task<'_>, shares: Vec<u32>, degrees: &[u32]) -> Volumes {
        if task.graph.is_weighted() {
            return Volumes { shift: 0, shares };
        }
        let all = degrees.par_iter().map(|&degree| u64::from(degree)).sum();
        let unit = VolumeUnit::for_all(all, task.settings.seed);
        Volumes { shift: unit.shift(), shares: Vec::new() }
    }
}

/// Whether the host computes a share for each vertex.
pub(super) fn has_shares(task: Task<'_>) -> bool {
    task.graph.is_weighted() && task.program.label_total == LabelTotal::Volume
}

/// Byte ranges of the label totals; empty if the program uses none.
#[derive(Clone, Debug, Default)]
pub struct TotalPlaces {
    by_label: Range<u64>,
    shares: Range<u64>,
}

impl TotalPlaces {
    /// Allocates the totals, and the shares if there are any.
    pub fn new(to: &mut Arena, task: Task<'_>) -> TotalPlaces {
        let vertices = u64::from(task.graph.vertices());
        let has_totals = task.program.label_total != LabelTotal::None;
        TotalPlaces {
            by_label: to.take(4, if has_totals { vertices } else { 0 }),
            shares: to.take(4, if has_shares(task) { vertices } else { 0 }),
        }
    }

    /// Whether the program uses totals, and there are vertices.
    pub fn are_used(&self) -> bool {
        !self.by_label.is_empty()
    }

    /// Returns the addresses, in memory that begins at `base`.
    pub fn state(&self, base: Address) -> LabelTotals {
        LabelTotals {
            by_label: base.plus(self.by_label.start),
            shares: base.plus(self.shares.start),
            ..LabelTotals::default()
        }
    }

    /// Uploads the vertices' shares; returns the scale of volumes.
    pub fn upload<D: Device>(
        &self,
        memory: &RunMemory<'_, D>,
        volumes: &Volumes,
    ) -> Result<u32, DeviceError> {
        memory.write(&self.shares, 0, bytemuck::cast_slice(&volumes.shares))?;
        Ok(volumes.shift)
    }

    /// Sets all totals to 0.
    pub fn clear<D: Device>(&self, memory: &RunMemory<'_, D>) -> Result<(), DeviceError> {
        memory.fill(&self.by_label, 0)
    }
}
