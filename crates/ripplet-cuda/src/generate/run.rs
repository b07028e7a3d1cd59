//! A shard that is drawn: kernels launched, lists brought back.

use super::DrawError;
use super::layout::{
    BLOCK, Layout, PAIRS, SHARED, SHARED_OF_SORT, Shape, State, TILE, Tables, Totals,
};
use crate::device::{Device, DeviceError, Launch};
use crate::lp::failed;
use bytemuck::Zeroable;
use ripplet_analytics::Observer;
use ripplet_graph::generate::GenerateError;
use ripplet_graph::{Adjacency, Shard, memory};
use ripplet_lp::RunError;
use std::ops::Range;

/// A shard in the device's memory.
pub(super) struct Run<'a, D: Device> {
    pub device: &'a D,
    pub module: &'a D::Module,
    pub memory: &'a D::Memory,
    pub layout: &'a Layout,
    pub shape: &'a Shape,
    pub observer: &'a dyn Observer,
}

/// Seconds that each kernel of a shard took, in the order of the launches.
pub type Steps = Vec<(&'static str, f64)>;

/// Whether kernels follow one another, or each is waited for and timed.
pub(super) enum Pace<'a> {
    Usual,
    Timed(&'a mut Steps),
}

/// A kernel, and its blocks.
#[derive(Clone, Copy)]
struct Step {
    kernel: &'static str,
    blocks: u64,
    shared: u32,
}

impl Step {
    fn of(kernel: &'static str, blocks: u64) -> Step {
        Step { kernel, blocks, shared: SHARED }
    }

    /// A kernel that has a thread for each of so many.
    fn over(kernel: &'static str, threads: u64) -> Step {
        Step::of(kernel, threads.div_ceil(u64::from(BLOCK)))
    }
}

impl<D: Device> Run<'_, D> {
    /// Draws the shard's lists, which leaves them in the device's memory.
    pub fn draw(&self, tables: &Tables<'_>, mut pace: Pace<'_>) -> Result<State, DrawError> {
        let base = self.device.address(self.memory);
        let mut state = self.layout.state(base, tables, self.shape);
        for place in [&self.layout.begins, &self.layout.totals] {
            let bytes = place.end - place.start;
            self.device.fill(self.memory, place.start, bytes, 0).map_err(failed)?;
        }
        let mut go = |state: &State, steps: &[Step]| {
            steps.iter().try_for_each(|step| self.launch(step, state, &mut pace))
        };
        let (vertices, stubs) = (u64::from(state.vertices), state.stub_count);
        let pairs = u64::from(state.ring_count) * PAIRS;
        let counting = [
            Step::over("ripplet_count_stubs", stubs),
            Step::over("ripplet_count_ring_sales", pairs),
            Step::of("ripplet_sum_vertices", vertices.div_ceil(TILE)),
            Step::of("ripplet_sum_vertex_tiles", 1),
            Step::of("ripplet_begin_lists", vertices.div_ceil(TILE)),
        ];
        go(&state, &counting)?;
        state.arcs = self.totals()?.arcs;
        self.check(state.arcs, self.shape.most_drawn)?;
        let tiles = u64::from(state.arcs).div_ceil(TILE);
        state.tiles = tiles as u32;
        let placing = [
            Step::over("ripplet_place_stubs", stubs),
            Step::over("ripplet_place_ring_sales", pairs),
            Step::over("ripplet_find_owners", tiles + 1),
            Step { shared: SHARED_OF_SORT, ..Step::of("ripplet_sort_tiles", tiles) },
        ];
        go(&state, &placing)?;
        let passes = self.totals()?.passes;
        let merging = ["ripplet_merge_tiles", "ripplet_settle_tiles"];
        for pass in (0..u32::BITS).filter(|pass| passes >> pass & 1 == 1) {
            state.pass = pass;
            go(&state, &merging.map(|kernel| Step::of(kernel, tiles)))?;
        }
        let listing = [
            Step::of("ripplet_count_kept", tiles),
            Step::of("ripplet_sum_kept", 1),
            Step::of("ripplet_list_kept", tiles),
        ];
        go(&state, &listing)?;
        state.kept = self.totals()?.kept;
        self.check(state.kept, self.shape.most_kept)?;
        let kept = u64::from(state.kept);
        go(&state, &[Step::over("ripplet_gather", kept)])?;
        go(&state, &[Step::over("ripplet_begin_kept", vertices + 1)])?;
        if tables.is_weighted() {
            go(&state, &[Step::over("ripplet_weigh", kept)])?;
        }
        Ok(state)
    }

    /// Launches a kernel, where it has something to do.
    fn launch(&self, step: &Step, state: &State, pace: &mut Pace<'_>) -> Result<(), RunError> {
        if self.observer.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        let Step { kernel, blocks, shared } = *step;
        if blocks == 0 {
            return Ok(());
        }
        // No place among arcs or stubs is beyond 2³²: there are not as many blocks.
        let launch =
            Launch { kernel, blocks: blocks as u32, threads: BLOCK, shared, cooperative: false };
        // SAFETY: the argument is a `State` as the kernels have it (they do not compile where its size
        // differs), and its addresses are of memory that is kept as long as `self`, laid out so that the
        // kernels stay within it: `check` saw that what they counted has its place.
        let mut start =
            || unsafe { self.device.launch(self.module, &launch, bytemuck::bytes_of(state)) };
        match pace {
            Pace::Usual => start().map_err(failed),
            Pace::Timed(steps) => {
                steps.push((kernel, self.device.timed(&mut start).map_err(failed)?));
                Ok(())
            }
        }
    }

    fn totals(&self) -> Result<Totals, RunError> {
        let mut totals = Totals::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut totals);
        self.device.read(self.memory, self.layout.totals.start, bytes).map_err(failed)?;
        Ok(totals)
    }

    /// Refuses a count that nothing could have, before it is taken for a size.
    fn check(&self, counted: u32, most: u64) -> Result<(), RunError> {
        if u64::from(counted) <= most {
            return Ok(());
        }
        let what = "drawing a shard".to_owned();
        let reason = format!("it counted {counted} arcs, where there are {most} at most");
        Err(failed(DeviceError::Failed { what, reason }))
    }

    /// Brings the lists back.
    pub fn bring(&self, state: &State, is_weighted: bool) -> Result<Shard, DrawError> {
        let (vertices, kept) = (self.shape.vertices.clone(), state.kept as usize);
        let offsets = self.read(&self.layout.begins, vertices.len() + 1)?;
        let neighbors = self.read(&self.layout.neighbors, kept)?;
        let weights = is_weighted.then(|| self.read(&self.layout.lists, kept)).transpose()?;
        let lists = Adjacency::new(offsets.into(), neighbors.into(), weights.map(Into::into));
        Ok(Shard::new(vertices, lists, None))
    }

    fn read(&self, place: &Range<u64>, count: usize) -> Result<Vec<u32>, DrawError> {
        let rows = self.shape.most_kept;
        let refused =
            |error: memory::OutOfMemory| GenerateError::OutOfMemory { rows, bytes: error.bytes };
        let mut values = memory::zeros::<u32>(count).map_err(refused)?;
        let bytes = bytemuck::cast_slice_mut(&mut values);
        self.device.read(self.memory, place.start, bytes).map_err(failed)?;
        Ok(values)
    }
}
