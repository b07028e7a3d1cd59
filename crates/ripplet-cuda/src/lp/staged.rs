//! Phases of a graph whose lists the host stages: kernels cannot read the lists, as they are in a
//! file that the host's memory has no room for.
//!
//! A phase is done in parts, each of vertices whose lists fit the staging area together:
//!
//! 1. The device lists the members of the part.
//! 2. The host reads the list of members, and copies their neighbour lists from the file to the
//!    staging area.
//! 3. The members choose.
//!
//! After the commit, the lists of vertices that activate their neighbours are staged once more.
//! Lists are copied in the order of the file, so that it is read sequentially, and only as far as
//! needed.
//!
//! Memory of the host: 4 bytes for each vertex that updates at once, and 40 MiB ([`BYTES`]).

use super::layout::{StageUse, Staged};
use super::rounds::DeviceRounds;
use super::streamed::{Fetched, Streaming};
use crate::streamed::{self, Load};
use rayon::prelude::*;
use ripplet_gpu::{Device, DeviceError, Queue};
use ripplet_graph::{VertexId, memory};
use ripplet_lp::Activation;

/// Words, and lists, that are copied to the device together.
const WORDS: usize = 4 << 20;
const AT_ONCE: usize = 1 << 20;
/// Bytes of the host's buffers: words and weights, then places of lists and requests.
pub(super) const BYTES: u64 = 2 * 4 * WORDS as u64 + 2 * 4 * AT_ONCE as u64;

impl<'a, D: Device> DeviceRounds<'a, D> {
    /// Launches the choices of a phase, part by part; returns the number of parts.
    pub(super) fn choose_staged(
        &mut self,
        streaming: &mut Streaming<'a, D::Mark>,
        phase: u32,
    ) -> Result<u32, DeviceError> {
        let kernels = *self.kernels();
        let own = self.layout.share.vertices();
        self.clear_stage()?;
        let parts = streaming.own_parts(&own);
        for (number, part) in (0..).zip(&parts) {
            let step = self.late_step_of(phase, part.clone(), number);
            self.launch(&kernels.compact, &step)?;
            self.stage_lists(streaming)?;
            self.launch(&streaming.begin_part, &step)?;
            self.launch_choosing(&step)?;
            if let Some(spread) = &kernels.spread {
                self.launch(spread, &step)?;
            }
            self.forget(Queue::Main, part)?;
        }
        Ok(parts.len() as u32)
    }

    /// Activates the neighbours of changed vertices, part by part.
    pub(super) fn activate_staged(
        &mut self,
        streaming: &mut Streaming<'a, D::Mark>,
    ) -> Result<(), DeviceError> {
        let (phase, activate) = (self.phase, self.kernels().activate);
        let parts = streaming.own_parts(&self.layout.share.vertices());
        for (number, part) in (0..).zip(&parts) {
            let step = self.late_step_of(phase, part.clone(), number);
            if number > 0 {
                // The first launch also resets the counters of the phase.
                if self.activation == Activation::Always {
                    break;
                }
                self.launch(&streaming.request_lists_of_changed, &step)?;
                if !self.stage_lists(streaming)? {
                    continue;
                }
            }
            self.launch(&activate, &step)?;
            self.forget(Queue::Main, part)?;
        }
        Ok(())
    }

    /// Copies the requested lists to the staging area; returns whether there were any.
    fn stage_lists(&self, streaming: &mut Streaming<'a, D::Mark>) -> Result<bool, DeviceError> {
        let (device, wanted) = (self.device, &self.layout.wanted);
        let mut uses = [StageUse::default()];
        let place = self.layout.stage_use.start;
        device.read(&self.memory, place, bytemuck::cast_slice_mut(&mut uses))?;
        self.fill_bytes(&self.layout.stage_use, 0)?;
        let count = uses[0].wanted[1] as usize;
        if count == 0 {
            return Ok(false);
        }
        let middle = wanted.start + 4 * u64::from(self.state.streamed.most_requested);
        let mut vertices: Vec<VertexId> = memory::zeros(count).map_err(refused)?;
        device.read(&self.memory, middle, bytemuck::cast_slice_mut(&mut vertices))?;
        vertices.par_sort_unstable();
        device.write(&self.memory, middle, bytemuck::cast_slice(&vertices))?;

        let begin = device.mark(Queue::Main)?;
        let (mut at, mut hold) = (0, Hold::default());
        for side in 0..2 {
            let mut staged = Staged { side, first: 0, count: 0 };
            for vertices in vertices.chunks(AT_ONCE) {
                let loads = Load::all(streaming.graph, side as usize, vertices);
                let mut left = &loads[..];
                while !left.is_empty() {
                    let (together, others) = left.split_at(fitting(left));
                    left = others;
                    staged.first += staged.count;
                    staged.count = together.iter().map(|load| load.len() as u32).sum();
                    hold.fill(together, at).map_err(refused)?;
                    self.unload(streaming, &staged, together, &hold, at)?;
                    let words: u64 = together.iter().map(|load| load.words).sum();
                    at += words;
                    streaming.copied_words[0] += words * together[0].arrays().count() as u64;
                }
            }
        }
        let end = device.mark(Queue::Main)?;
        streaming.times.push(Fetched { begin, end, wanted: None });
        Ok(true)
    }

    /// Copies some loads to the staging area from word `at` on, and records where their lists are.
    fn unload(
        &self,
        streaming: &Streaming<'a, D::Mark>,
        staged: &Staged,
        loads: &[Load<'_, '_>],
        hold: &Hold,
        at: u64,
    ) -> Result<(), DeviceError> {
        let Some(places) = self.layout.graph.streamed() else { return Ok(()) };
        let place = self.layout.wanted.start + 4 * u64::from(staged.first);
        self.device.write(&self.memory, place, bytemuck::cast_slice(&hold.places))?;
        let argument = [bytemuck::bytes_of(staged), &[0; 4], &self.run()[..]].concat();
        self.launch(&streaming.find_staged, &argument)?;
        let to = places.stage.start + 4 * at;
        self.unload_array(loads, 0, &hold.arrays[0], to)?;
        self.unload_array(loads, 1, &hold.arrays[1], to + 4 * places.weights_behind)
    }

    /// Copies an array of some loads to the device's memory: from the buffer, or stretch by stretch
    /// for a load without a buffer.
    fn unload_array(
        &self,
        loads: &[Load<'_, '_>],
        array: usize,
        together: &[u32],
        to: u64,
    ) -> Result<(), DeviceError> {
        if !together.is_empty() {
            return self.device.write(&self.memory, to, bytemuck::cast_slice(together));
        }
        let Some(all) = loads[0].arrays().nth(array) else { return Ok(()) };
        let mut done = Ok(());
        loads[0].each_stretch(|words, place| {
            if done.is_ok() {
                let words = bytemuck::cast_slice(&all[words]);
                done = self.device.write(&self.memory, to + 4 * place, words);
            }
        });
        done
    }
}

/// Returns how many of some loads are copied together; at least one.
fn fitting(loads: &[Load<'_, '_>]) -> usize {
    let mut words = 0;
    let fits = |load: &&Load<'_, '_>| {
        words += load.words;
        words <= WORDS as u64
    };
    loads.iter().take_while(fits).count().max(1)
}

/// Buffers of the host: the place of each list in the staging area, and the lists. A load of more
/// than `WORDS` words is not buffered.
#[derive(Default)]
struct Hold {
    places: Vec<u32>,
    arrays: [Vec<u32>; 2],
}

impl Hold {
    /// Fills the buffers with some loads, in parallel, for a place in the staging area that begins
    /// at word `at`.
    fn fill(&mut self, loads: &[Load<'_, '_>], at: u64) -> Result<(), memory::OutOfMemory> {
        let words = loads.iter().map(|load| load.words).sum::<u64>() as usize;
        let count = loads.iter().map(Load::len).sum();
        resize(&mut self.places, count)?;
        let arrays = loads[0].arrays().count();
        for (number, array) in self.arrays.iter_mut().enumerate() {
            let is_there = words <= WORDS && number < arrays;
            resize(array, if is_there { words } else { 0 })?;
        }
        let [neighbors, weights] = &mut self.arrays;
        let (mut places, mut arrays) =
            (&mut self.places[..], [&mut neighbors[..], &mut weights[..]]);
        let (mut shares, mut at) = (memory::with_room(loads.len())?, at);
        for load in loads {
            let its_arrays =
                arrays.each_mut().map(|array| memory::front(array, load.words as usize));
            shares.push((load, at, memory::front(&mut places, load.len()), its_arrays));
            at += load.words;
        }
        shares.into_par_iter().for_each(|(load, at, places, arrays)| {
            load.place(at, places);
            for (from, to) in load.arrays().zip(arrays).filter(|(_, to)| !to.is_empty()) {
                load.each_stretch(|words, place| {
                    let place = place as usize..place as usize + words.len();
                    to[place].copy_from_slice(&from[words]);
                });
            }
        });
        Ok(())
    }
}

fn resize(array: &mut Vec<u32>, length: usize) -> Result<(), memory::OutOfMemory> {
    memory::reserve(array, length.saturating_sub(array.len()))?;
    array.resize(length, 0);
    Ok(())
}

fn refused(error: memory::OutOfMemory) -> DeviceError {
    streamed::refused("staging lists to its memory", error)
}
