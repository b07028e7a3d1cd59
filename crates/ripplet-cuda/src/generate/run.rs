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

/// What is launched: at once, or each kernel by itself to be timed.
pub(super) enum Pace<'a> {
    Usual,
    Timed(&'a mut Steps),
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
        let mut go = |state: &State, kernels: &[&'static str]| {
            kernels.iter().try_for_each(|kernel| self.launch(kernel, state, &mut pace))
        };
        go(
            &state,
            &[
                "ripplet_count_stubs",
                "ripplet_count_ring_sales",
                "ripplet_sum_vertices",
                "ripplet_sum_vertex_tiles",
                "ripplet_begin_lists",
            ],
        )?;
        state.arcs = self.totals()?.arcs;
        self.check(state.arcs, self.shape.most_drawn)?;
        state.tiles = u64::from(state.arcs).div_ceil(TILE) as u32;
        go(
            &state,
            &[
                "ripplet_place_stubs",
                "ripplet_place_ring_sales",
                "ripplet_find_owners",
                "ripplet_sort_tiles",
            ],
        )?;
        let passes = self.totals()?.passes;
        for pass in (0..u32::BITS).filter(|pass| passes >> pass & 1 == 1) {
            state.pass = pass;
            go(&state, &["ripplet_merge_tiles", "ripplet_settle_tiles"])?;
        }
        go(&state, &["ripplet_count_kept", "ripplet_sum_kept", "ripplet_list_kept"])?;
        state.kept = self.totals()?.kept;
        self.check(state.kept, self.shape.most_kept)?;
        go(&state, &["ripplet_gather", "ripplet_begin_kept"])?;
        if tables.is_weighted() {
            go(&state, &["ripplet_weigh"])?;
        }
        Ok(state)
    }

    /// Launches a kernel with as many blocks as it has something to do for.
    fn launch(
        &self,
        kernel: &'static str,
        state: &State,
        pace: &mut Pace<'_>,
    ) -> Result<(), RunError> {
        if self.observer.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        let over = |threads: u64| threads.div_ceil(u64::from(BLOCK));
        let (vertices, tiles) = (u64::from(state.vertices), u64::from(state.tiles));
        let blocks = match kernel {
            "ripplet_count_stubs" | "ripplet_place_stubs" => over(state.stub_count),
            "ripplet_count_ring_sales" | "ripplet_place_ring_sales" => {
                over(u64::from(state.ring_count) * PAIRS)
            }
            "ripplet_sum_vertices" | "ripplet_begin_lists" => vertices.div_ceil(TILE),
            "ripplet_sum_vertex_tiles" | "ripplet_sum_kept" => 1,
            "ripplet_find_owners" => over(tiles + 1),
            "ripplet_gather" | "ripplet_weigh" => over(u64::from(state.kept)),
            "ripplet_begin_kept" => over(vertices + 1),
            _ => tiles,
        };
        if blocks == 0 {
            return Ok(());
        }
        let shared = if kernel == "ripplet_sort_tiles" { SHARED_OF_SORT } else { SHARED };
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
