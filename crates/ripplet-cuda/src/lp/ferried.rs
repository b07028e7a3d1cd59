//! The phases of a graph whose lists the host ferries to the device, as kernels cannot read them where they are: in a file
//! that the host's memory has no room for.
//!
//! A phase goes part by part, each of vertices whose lists find room in the stage together. Who has its turn is
//! listed; the host reads who they are, copies their lists to the stage, and they choose. When all have chosen, those who
//! wake others have their lists ferried once more. Lists are copied in the order of the file, so that it is read from its
//! beginning to its end, and of it no more than what is looked at.
//!
//! Memory of the host: 4 bytes for each vertex that has its turn at once, and a few tens of megabytes ([`BYTES`]).

use super::layout::{Ferried, StageUse};
use super::rounds::DeviceRounds;
use super::streamed::{Fetched, Streaming};
use crate::device::{Device, DeviceError, Queue};
use crate::streamed::{self, FERRIED_AT_ONCE, Ferry};
use rayon::prelude::*;
use ripplet_graph::{VertexId, memory};
use ripplet_lp::Wake;
use std::ops::Range;

/// Words that are copied to the device together.
const AT_ONCE: usize = 4 << 20;
/// Bytes of the host's memory that it takes to copy them: the words, and where those of each list are, and go.
pub(super) const BYTES: u64 = 4 * AT_ONCE as u64 + 128 * FERRIED_AT_ONCE as u64;

impl<Mark> Streaming<'_, Mark> {
    /// The device's own vertices of each part.
    fn own_parts(&self, own: &Range<VertexId>) -> Vec<Range<VertexId>> {
        let within = |v: VertexId| v.clamp(own.start, own.end);
        self.parts(own).into_iter().map(|part| within(part.start)..within(part.end)).collect()
    }
}

impl<'a, D: Device> DeviceRounds<'a, D> {
    /// Has the phase's members choose; how many parts there were.
    pub(super) fn choose_ferried(
        &mut self,
        streaming: &mut Streaming<'a, D::Mark>,
        phase: u32,
    ) -> Result<u32, DeviceError> {
        let kernels = *self.kernels();
        let own = self.layout.share.vertices();
        self.turn_stage(0);
        self.clear_stage(Queue::Main, 0)?;
        let parts = streaming.own_parts(&own);
        for (number, part) in (0..).zip(&parts) {
            let step = self.late_step_of_part(phase, part.clone(), number);
            self.launch(&kernels.gather, &step)?;
            self.ferry(streaming)?;
            let choosing = [&kernels.choose, &kernels.low, &kernels.scanned, &kernels.spread];
            let choosing = choosing.into_iter().flatten();
            for launch in [&streaming.begin_part].into_iter().chain(choosing) {
                self.launch(launch, &step)?;
            }
            self.forget(Queue::Main, part)?;
        }
        Ok(parts.len() as u32)
    }

    /// Has those who wake others do so.
    pub(super) fn wake_ferried(
        &mut self,
        streaming: &mut Streaming<'a, D::Mark>,
    ) -> Result<(), DeviceError> {
        let (phase, wake) = (self.phase, self.kernels().wake);
        let parts = streaming.own_parts(&self.layout.share.vertices());
        for (number, part) in (0..).zip(&parts) {
            let step = self.late_step_of_part(phase, part.clone(), number);
            if number > 0 {
                // The first also ends the phase.
                if self.wake == Wake::Always {
                    break;
                }
                self.launch(&streaming.want_changed, &step)?;
                if !self.ferry(streaming)? {
                    continue;
                }
            }
            self.launch(&wake, &step)?;
            self.forget(Queue::Main, part)?;
        }
        Ok(())
    }

    /// Copies the lists that are wanted to the stage; whether any are.
    fn ferry(&self, streaming: &mut Streaming<'a, D::Mark>) -> Result<bool, DeviceError> {
        let Some(places) = self.layout.graph.streamed() else { return Ok(false) };
        let (device, wanted) = (self.device, &self.layout.wanted);
        let mut uses = [StageUse::default()];
        let place = self.layout.stage_use.start;
        device.read(&self.memory, place, bytemuck::cast_slice_mut(&mut uses))?;
        self.fill_bytes(&self.layout.stage_use, 0)?;
        let count = uses[0].wanted[1] as usize;
        if count == 0 {
            return Ok(false);
        }
        let middle = wanted.start + (wanted.end - wanted.start) / 2;
        let mut vertices: Vec<VertexId> = memory::zeros(count).map_err(refused)?;
        device.read(&self.memory, middle, bytemuck::cast_slice_mut(&mut vertices))?;
        vertices.par_sort_unstable();
        device.write(&self.memory, middle, bytemuck::cast_slice(&vertices))?;

        let begin = device.mark(Queue::Main)?;
        let (mut first, mut used) = (0u32, 0);
        for vertices in vertices.chunks(FERRIED_AT_ONCE) {
            let to = places.stage.start + 4 * used;
            let ferry = Ferry::load(streaming.graph, vertices, &mut used).map_err(refused)?;
            let ferried = Ferried { side: 0, first, count: vertices.len() as u32 };
            for (side, found) in (0..).zip(&ferry.places).filter(|(_, found)| !found.is_empty()) {
                let place = wanted.start + 4 * u64::from(first);
                device.write(&self.memory, place, bytemuck::cast_slice(found))?;
                let ferried = Ferried { side, ..ferried };
                let argument = [bytemuck::bytes_of(&ferried), &[0; 4], &self.run()[..]].concat();
                self.launch(&streaming.find_ferried, &argument)?;
            }
            for (words, to) in [(ferry.words, to), (ferry.weights, to + 4 * places.weights_behind)]
            {
                self.unload(&words, to)?;
                let count = words.iter().map(|words| words.len() as u64).sum::<u64>();
                streaming.copied_words[0] += count;
            }
            first += ferried.count;
        }
        let end = device.mark(Queue::Main)?;
        streaming.times.push(Fetched { begin, end, wanted: None });
        Ok(true)
    }

    /// Copies words to the device's memory, one behind the other.
    fn unload(&self, all: &[&[u32]], to: u64) -> Result<(), DeviceError> {
        let (mut at, mut first) = (to, 0);
        let mut together: Vec<u32> = Vec::new();
        while first < all.len() {
            let mut words = 0;
            let fits = |piece: &&&[u32]| {
                words += piece.len();
                words <= AT_ONCE
            };
            let count = all[first..].iter().take_while(fits).count();
            if count <= 1 {
                let piece: &[u32] = all[first];
                self.device.write(&self.memory, at, bytemuck::cast_slice(piece))?;
                (at, first) = (at + 4 * piece.len() as u64, first + 1);
                continue;
            }
            let pieces = &all[first..first + count];
            let words = pieces.iter().map(|piece| piece.len()).sum();
            if together.len() < words {
                together = memory::zeros(words).map_err(refused)?;
            }
            let mut room = &mut together[..words];
            let mut copies = memory::with_room(count).map_err(refused)?;
            for piece in pieces {
                let (here, behind) = room.split_at_mut(piece.len());
                copies.push((here, *piece));
                room = behind;
            }
            let copies = copies.into_par_iter().with_min_len(64);
            copies.for_each(|(to, from): (&mut [u32], &[u32])| to.copy_from_slice(from));
            self.device.write(&self.memory, at, bytemuck::cast_slice(&together[..words]))?;
            (at, first) = (at + 4 * words as u64, first + count);
        }
        Ok(())
    }
}

fn refused(error: memory::OutOfMemory) -> DeviceError {
    streamed::refused("ferrying lists to its memory", error)
}
