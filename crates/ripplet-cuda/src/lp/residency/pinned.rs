//! Phases of a graph whose lists are partly pinned in the host's memory.
//!
//! Lists come to the staging area in one of two ways:
//!
//! - *By list* (`by_list.rs`): kernels fetch the lists of active vertices over the bus.
//! - *By range* (`by_range.rs`), if all vertices update in one phase and many are active: the lists
//!   of a range of vertices are copied as they lie. Changed vertices do not activate their
//!   neighbours; instead, each inactive vertex looks for a changed neighbour (pull) when its own
//!   list is on the device the next time. Ranks of a shared run all pull or all push, by the number
//!   of arcs that all of them read in the round before.
//!
//! A list that is in the staging area in neither way is read over the bus, with the same result.

use super::super::arguments::Part;
use super::super::device_run::DeviceRun;
use super::super::stage::most_parts;
use super::area;
use super::by_list::ByList;
use super::by_range::{ByRange, SLOTS};
use super::moves::Moves;
use crate::lists::{Split, StreamedPlaces, arrays_of};
use ripplet_gpu::{Device, DeviceError, Stream};
use ripplet_graph::{Direction, GraphView};
use ripplet_lp::{Activation, ListsMoved};

/// Lists are copied by range if at least this share of all arcs is expected to be read: fetching
/// them one by one has about half the bandwidth, 30 GB/s
/// (`bench/runs/2026-11-22-h200/streamed-web-24.jsonl`, `link.jsonl`).
const MANY: f64 = 0.5;

/// State of the transfers, over the phases of a run.
pub struct Pinned<'a, D: Device> {
    split: Split,
    /// Words of the lists that are not on the device, in one array (neighbours, or weights).
    far_words: u64,
    arcs: u64,
    /// Share of all arcs that was read in the last round.
    share: f64,
    /// Number of parts of the current phase; whether their lists were copied by range.
    parts: u32,
    is_by_range: bool,
    in_stage: InStage,
    /// The last phase, if inactive vertices have not pulled after it yet.
    unpulled: Option<u32>,
    by_list: ByList<D::Event>,
    by_range: ByRange<'a, D>,
    pub(super) moves: Moves<D::Event>,
}

/// Contents of the staging area.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InStage {
    Anything,
    /// Lists that were fetched one by one.
    Lists,
    /// Lists that were copied by range.
    Ranges,
}

impl<'a, D: Device> Pinned<'a, D> {
    /// Returns the state before the first phase.
    pub fn new(
        run: &DeviceRun<'a, D>,
        places: &StreamedPlaces,
        graph: GraphView<'a>,
        mapped: D::Mapped<'a>,
    ) -> Pinned<'a, D> {
        let sides = if graph.direction() == Direction::Directed { 2 } else { 1 };
        let split = places.split;
        let slot = split.region_words / SLOTS as u64;
        // Bounds the number of parts by `most_parts`: two consecutive ranges together have more
        // than `slot` words.
        let far_words = places.far_bytes / 4 / arrays_of(graph);
        let least = far_words.div_ceil(u64::from(most_parts(graph.arcs())) / 4);
        let ranges = split.parts(graph, slot.saturating_sub(64).max(least));
        Pinned {
            split,
            far_words,
            arcs: sides * graph.arcs(),
            share: 1.0,
            parts: 1,
            is_by_range: false,
            in_stage: InStage::Anything,
            unpulled: None,
            by_list: ByList::new(split),
            by_range: ByRange::new(run.own(), split, ranges, graph, mapped),
            moves: Moves::new(),
        }
    }

    /// Whether to copy lists by range in a round that reads as many arcs as the last one.
    fn favors_ranges(&self) -> bool {
        let expected = self.far_words as f64 * self.share;
        self.share >= MANY || expected > self.split.region_words as f64
    }

    /// Launches the choices of a phase and their commit.
    pub fn choose(&mut self, run: &mut DeviceRun<'a, D>) -> Result<(), DeviceError> {
        self.is_by_range = run.arguments.phases() == 1 && self.favors_ranges();
        if self.is_by_range {
            self.choose_by_range(run)?;
        } else {
            self.choose_by_list(run)?;
        }
        // Large vertices and the commit are processed for all parts together.
        let step = run.arguments.step(Part { number: self.parts - 1, ..Part::of(run.own()) });
        run.launches.choose_by_grid(&step)?;
        run.launches.commit(&step)
    }

    fn choose_by_range(&mut self, run: &mut DeviceRun<'a, D>) -> Result<(), DeviceError> {
        if self.in_stage != InStage::Ranges {
            // Copies by range use the whole staging area, so prefetched lists are dropped.
            self.by_list.drop_prefetch();
            run.device().wait_for(Stream::Main, &run.device().record(Stream::Side)?)?;
            area::clear(run)?;
            self.in_stage = InStage::Ranges;
        }
        self.parts = self.by_range.choose(run, self.unpulled, &mut self.moves)?;
        Ok(())
    }

    fn choose_by_list(&mut self, run: &mut DeviceRun<'a, D>) -> Result<(), DeviceError> {
        self.settle(run)?;
        self.by_range.drop_ranges();
        let has_lists = self.in_stage == InStage::Lists;
        self.in_stage = InStage::Lists;
        self.parts = 1;
        self.by_list.choose(run, has_lists, &mut self.moves)
    }

    /// Activates the neighbours of changed vertices, or defers it until vertices can pull.
    pub fn activate(&mut self, run: &mut DeviceRun<'a, D>) -> Result<(), DeviceError> {
        let may_defer =
            run.arguments.state.frontier.pull_threshold > 0 && run.activation != Activation::Always;
        let defers = if run.layout.share.is_ranked() {
            // All ranks must decide alike, so they use what all of them know.
            may_defer && run.arguments.phases() == 1 && self.share >= MANY
        } else if may_defer && self.is_by_range {
            self.expect(run.tallies()?.scanned - run.seen.scanned);
            self.favors_ranges()
        } else {
            false
        };
        let part = Part { number: self.parts - 1, defers, ..Part::of(run.own()) };
        run.launches.activate(&run.arguments.step(part))?;
        self.unpulled = defers.then_some(run.arguments.phase());
        Ok(())
    }

    /// Launches the deferred pull for all vertices, wherever their lists are.
    pub fn settle(&mut self, run: &DeviceRun<'a, D>) -> Result<(), DeviceError> {
        let Some(phase) = self.unpulled.take() else { return Ok(()) };
        run.launches.pull(&run.arguments.past_step(phase, run.own()))
    }

    /// Sets the share of arcs to expect, from the arcs that all ranks read in the last round.
    pub fn expect(&mut self, scanned: u64) {
        self.share = (scanned as f64 / self.arcs.max(1) as f64).min(1.0);
    }

    /// Returns what each round moved.
    pub fn finish(self, device: &D) -> Result<Vec<ListsMoved>, DeviceError> {
        self.by_list.finish(device)?;
        device.wait()?;
        Ok(self.moves.rounds)
    }
}
