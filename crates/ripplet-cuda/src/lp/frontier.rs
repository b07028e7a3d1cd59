//! The frontier on a device: the active vertices, and the stamps of changes and activations.

use super::run_memory::RunMemory;
use super::state::{Frontier, Piece, SENT};
use super::tuning::{HUB, PIECE, VERTEX_BLOCK};
use rayon::prelude::*;
use ripplet_gpu::Arena;
use ripplet_gpu::{Address, Device, DeviceError};
use ripplet_graph::{GraphView, VertexId};
use ripplet_lp::Checkpoint;
use std::ops::Range;

/// Active marks that are copied at a time: bytes on the device, bits on the host.
const ACTIVE_AT_A_TIME: usize = 1 << 20;

/// Byte ranges of the frontier's arrays.
#[derive(Clone, Debug, Default)]
pub struct FrontierPlaces {
    active: Range<u64>,
    changed: Range<u64>,
    last_activated: Range<u64>,
    hubs: Range<u64>,
}

impl FrontierPlaces {
    /// Allocates an active mark for each vertex, and `stamps` stamps of changes.
    pub fn new(to: &mut Arena, vertices: u64, stamps: u64) -> FrontierPlaces {
        FrontierPlaces {
            active: to.take(1, vertices),
            changed: to.take(1, stamps),
            last_activated: to.take(4, vertices.div_ceil(VERTEX_BLOCK)),
            hubs: 0..0,
        }
    }

    /// Allocates the pieces of vertices of more than `HUB` arcs.
    pub fn take_hubs(&mut self, to: &mut Arena, pieces: u64) {
        self.hubs = to.take(size_of::<Piece>() as u64, pieces);
    }

    /// Returns the addresses, in memory that begins at `base`.
    pub fn state(&self, base: Address) -> Frontier {
        let at = |place: &Range<u64>| base.plus(place.start);
        Frontier {
            active: at(&self.active),
            changed: at(&self.changed),
            last_activated: at(&self.last_activated),
            hubs: at(&self.hubs),
            ..Frontier::default()
        }
    }

    /// Uploads the pieces of the own vertices of more than `HUB` arcs; returns their number.
    pub fn upload_hubs<D: Device>(
        &self,
        memory: &RunMemory<'_, D>,
        graph: GraphView<'_>,
        own: Range<VertexId>,
    ) -> Result<u32, DeviceError> {
        let pieces = |v: VertexId| {
            let degree = graph.degree(v);
            let count = if degree > HUB { degree.div_ceil(PIECE) as u32 } else { 0 };
            (0..count).map(move |index| Piece { owner: v, index })
        };
        let hubs: Vec<Piece> = own.into_par_iter().flat_map_iter(pieces).collect();
        memory.write(&self.hubs, 0, bytemuck::cast_slice(&hubs))?;
        Ok(hubs.len() as u32)
    }

    /// Clears the stamps of activations.
    pub fn clear_activations<D: Device>(
        &self,
        memory: &RunMemory<'_, D>,
    ) -> Result<(), DeviceError> {
        memory.fill(&self.last_activated, 0)
    }

    /// Clears the stamps of changes.
    pub fn clear_changes<D: Device>(&self, memory: &RunMemory<'_, D>) -> Result<(), DeviceError> {
        memory.fill(&self.changed, 0)
    }

    /// Returns the address and the number of the stamps of activations.
    pub fn activations(&self, base: Address) -> (Address, u64) {
        let place = &self.last_activated;
        (base.plus(place.start), (place.end - place.start) / 4)
    }

    /// Marks all vertices active.
    pub fn activate_all<D: Device>(&self, memory: &RunMemory<'_, D>) -> Result<(), DeviceError> {
        memory.fill(&self.active, 1)
    }

    /// Sets the marks of the peers' vertices: `SENT` if they are active and known to be, 0 if they
    /// are inactive.
    pub fn mark_others<D: Device>(
        &self,
        memory: &RunMemory<'_, D>,
        own: &Range<VertexId>,
        mark: u8,
    ) -> Result<(), DeviceError> {
        let active = &self.active;
        memory.fill(&(active.start..active.start + u64::from(own.start)), mark)?;
        memory.fill(&(active.start + u64::from(own.end)..active.end), mark)
    }

    /// Restores the active vertices of a checkpoint.
    pub fn restore<D: Device>(
        &self,
        memory: &RunMemory<'_, D>,
        checkpoint: &Checkpoint,
        own: &Range<VertexId>,
    ) -> Result<(), DeviceError> {
        let (vertices, mut bytes) = ((self.active.end - self.active.start) as usize, Vec::new());
        for first in (0..vertices).step_by(ACTIVE_AT_A_TIME) {
            let bit = |v: usize| {
                let is_active = (checkpoint.active[v / 64] >> (v % 64) & 1) as u8;
                if own.contains(&(v as u32)) { is_active } else { is_active * SENT }
            };
            bytes.clear();
            bytes.extend((first..vertices.min(first + ACTIVE_AT_A_TIME)).map(bit));
            memory.write(&self.active, first as u64, &bytes)?;
        }
        Ok(())
    }

    /// Sets a bit for each own vertex that is active. Ranks set bits in different words, as shares
    /// begin at multiples of 64.
    pub fn read<D: Device>(
        &self,
        memory: &RunMemory<'_, D>,
        own: &Range<VertexId>,
        words: &mut [u64],
    ) -> Result<(), DeviceError> {
        let mut bytes = vec![0u8; ACTIVE_AT_A_TIME.min(own.len())];
        for first in own.clone().step_by(ACTIVE_AT_A_TIME) {
            let bytes = &mut bytes[..ACTIVE_AT_A_TIME.min((own.end - first) as usize)];
            memory.read(self.active.start + u64::from(first), bytes)?;
            for (word, bytes) in words[first as usize / 64..].iter_mut().zip(bytes.chunks(64)) {
                let bits = bytes.iter().enumerate();
                *word = bits.fold(0u64, |word, (bit, &byte)| word | u64::from(byte != 0) << bit);
            }
        }
        Ok(())
    }
}
