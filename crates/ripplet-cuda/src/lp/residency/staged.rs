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
//! Memory of the host: 4 bytes for each vertex that updates at once, and 40 MiB
//! ([`STAGING_BUFFER_BYTES`](crate::lists::STAGING_BUFFER_BYTES)).

use super::super::arguments::{Part, StepArgument};
use super::super::device_run::DeviceRun;
use super::super::state::{self, StageUse};
use super::area::{self, within};
use super::moves::{Moves, Transfer};
use crate::lists::{self, Load, STAGING_LISTS, STAGING_WORDS, StreamedPlaces};
use rayon::prelude::*;
use ripplet_gpu::{Device, DeviceError, Stream};
use ripplet_graph::{GraphView, VertexId, memory};
use ripplet_lp::Activation;
use std::ops::Range;

/// State of the transfers, over the phases of a run.
pub struct Staged<'a, D: Device> {
    graph: GraphView<'a>,
    /// The parts of a phase: the own vertices with lists on the device, then each range of others.
    parts: Vec<Range<VertexId>>,
    pub(super) moves: Moves<D::Event>,
}

impl<'a, D: Device> Staged<'a, D> {
    /// Returns the state before the first phase.
    pub fn new(
        run: &DeviceRun<'a, D>,
        places: &StreamedPlaces,
        graph: GraphView<'a>,
    ) -> Staged<'a, D> {
        let (own, split) = (run.own(), places.split);
        let near = own.start..split.near_end;
        let far = split.staged_parts(graph);
        let parts = [&near].into_iter().chain(&far).map(|part| within(part, &own)).collect();
        Staged { graph, parts, moves: Moves::new() }
    }

    /// Launches the choices of a phase, part by part, and their commit.
    pub fn choose(&mut self, run: &DeviceRun<'a, D>) -> Result<(), DeviceError> {
        area::clear(run)?;
        for (number, part) in (0..).zip(&self.parts) {
            let step = late_step(run, number, part);
            run.launches.compact(&step)?;
            stage_lists(run, self.graph, &mut self.moves)?;
            run.launches.begin_part(&step)?;
            run.launches.choose(&step)?;
            run.launches.choose_by_grid(&step)?;
            area::forget(run, Stream::Main, part)?;
        }
        let last = self.parts.len() as u32 - 1;
        run.launches.commit(&run.arguments.step(Part { number: last, ..Part::of(run.own()) }))
    }

    /// Activates the neighbours of changed vertices, part by part.
    pub fn activate(&mut self, run: &DeviceRun<'a, D>) -> Result<(), DeviceError> {
        for (number, part) in (0..).zip(&self.parts) {
            let step = late_step(run, number, part);
            if number > 0 {
                // The first launch also resets the counters of the phase.
                if run.activation == Activation::Always {
                    break;
                }
                run.launches.request_lists_of_changed(&step)?;
                if !stage_lists(run, self.graph, &mut self.moves)? {
                    continue;
                }
            }
            run.launches.activate(&step)?;
            area::forget(run, Stream::Main, part)?;
        }
        Ok(())
    }
}

/// Returns the argument for a part whose members request their lists on demand.
fn late_step<D: Device>(
    run: &DeviceRun<'_, D>,
    number: u32,
    vertices: &Range<VertexId>,
) -> StepArgument {
    run.arguments.step(Part { number, late: true, ..Part::of(vertices.clone()) })
}

/// Copies the requested lists to the staging area; returns whether there were any.
fn stage_lists<D: Device>(
    run: &DeviceRun<'_, D>,
    graph: GraphView<'_>,
    moves: &mut Moves<D::Event>,
) -> Result<bool, DeviceError> {
    let (device, memory, lists) = (run.device(), &run.memory, &run.layout.lists);
    let used: StageUse = memory.value(&lists.stage_use)?;
    memory.fill(&lists.stage_use, 0)?;
    let count = used.wanted[1] as usize;
    if count == 0 {
        return Ok(false);
    }
    let middle = 4 * u64::from(run.arguments.state.streamed.most_requested);
    let mut vertices: Vec<VertexId> = memory::zeros(count).map_err(refused)?;
    memory.read(lists.wanted.start + middle, bytemuck::cast_slice_mut(&mut vertices))?;
    vertices.par_sort_unstable();
    memory.write(&lists.wanted, middle, bytemuck::cast_slice(&vertices))?;

    let begin = device.record(Stream::Main)?;
    let (mut at, mut hold) = (0, Hold::default());
    for side in 0..2 {
        let mut staged = state::Staged { side, first: 0, count: 0 };
        for vertices in vertices.chunks(STAGING_LISTS) {
            let loads = Load::all(graph, side as usize, vertices);
            let mut left = &loads[..];
            while !left.is_empty() {
                let (together, others) = left.split_at(fitting(left));
                left = others;
                staged.first += staged.count;
                staged.count = together.iter().map(|load| load.len() as u32).sum();
                hold.fill(together, at).map_err(refused)?;
                unload(run, &staged, together, &hold, at)?;
                let words: u64 = together.iter().map(|load| load.words).sum();
                at += words;
                moves.copied_words += words * together[0].arrays().count() as u64;
            }
        }
    }
    let end = device.record(Stream::Main)?;
    moves.transfers.push(Transfer { begin, end, wanted: None });
    Ok(true)
}

/// Copies some loads to the staging area from word `at` on, and records where their lists are.
fn unload<D: Device>(
    run: &DeviceRun<'_, D>,
    staged: &state::Staged,
    loads: &[Load<'_, '_>],
    hold: &Hold,
    at: u64,
) -> Result<(), DeviceError> {
    let Some(places) = run.layout.lists.streamed() else { return Ok(()) };
    let first = 4 * u64::from(staged.first);
    run.memory.write(&run.layout.lists.wanted, first, bytemuck::cast_slice(&hold.places))?;
    run.launches.find_staged(&run.arguments.found_staged(staged))?;
    unload_array(run, loads, 0, &hold.arrays[0], 4 * at)?;
    unload_array(run, loads, 1, &hold.arrays[1], 4 * (at + places.weights_behind))
}

/// Copies an array of some loads to the staging area, `to` bytes from its beginning: from the
/// buffer, or stretch by stretch for a load without a buffer.
fn unload_array<D: Device>(
    run: &DeviceRun<'_, D>,
    loads: &[Load<'_, '_>],
    array: usize,
    together: &[u32],
    to: u64,
) -> Result<(), DeviceError> {
    let Some(places) = run.layout.lists.streamed() else { return Ok(()) };
    if !together.is_empty() {
        return run.memory.write(&places.stage, to, bytemuck::cast_slice(together));
    }
    let Some(all) = loads[0].arrays().nth(array) else { return Ok(()) };
    let mut done = Ok(());
    loads[0].each_stretch(|words, place| {
        if done.is_ok() {
            let words = bytemuck::cast_slice(&all[words]);
            done = run.memory.write(&places.stage, to + 4 * place, words);
        }
    });
    done
}

/// Returns how many of some loads are copied together; at least one.
fn fitting(loads: &[Load<'_, '_>]) -> usize {
    let mut words = 0;
    let fits = |load: &&Load<'_, '_>| {
        words += load.words;
        words <= STAGING_WORDS as u64
    };
    loads.iter().take_while(fits).count().max(1)
}

/// Buffers of the host: the place of each list in the staging area, and the lists. A load of more
/// than `STAGING_WORDS` words is not buffered.
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
            let is_there = words <= STAGING_WORDS && number < arrays;
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
    lists::refused("staging lists to its memory", error)
}
