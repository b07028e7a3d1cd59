//! Phases of a graph whose lists are not all on the device.
//!
//! Kernels look for a list in the *staging area* first, a part of the device's memory. Lists come
//! there in one of two ways:
//!
//! - *By list*: a kernel reads lists from the host's memory over the bus. While a phase runs, the
//!   lists of vertices that are active already and scheduled in the next phases are prefetched, to
//!   a region of the staging area that is not in use. When a phase's frontier is compacted, the
//!   lists that are still missing are fetched on demand.
//! - *By range*: if all vertices update in one phase and many are active, the lists of a range of
//!   vertices are copied as they lie, while the vertices of the range before update. Rounds
//!   alternate between forwards and backwards, so that the last ranges of a round are there for the
//!   next. Changed vertices do not activate their neighbours; instead, each inactive vertex looks
//!   for a changed neighbour (pull) when its own list is on the device the next time. Ranks of a
//!   shared run all pull or all push, by the number of arcs that all of them read in the round
//!   before.
//!
//! A list that is in the staging area in neither way is read over the bus, with the same result. If
//! kernels cannot read the host's memory, see `staged.rs`.

use super::failed;
use super::layout::{Layout, Prefetch, Tallies, USE_BYTES, most_parts};
use super::rounds::DeviceRounds;
use crate::streamed::{self, Residence, Stretch, Supply, arrays_of};
use ripplet_gpu::{Device, DeviceError, Launch, Queue};
use ripplet_graph::{Direction, GraphView, VertexId};
use ripplet_lp::{Activation, ListsMoved, RunError};
use std::ops::Range;

/// Ranges whose lists are in the staging area at the same time.
const SLOTS: usize = 2;

/// Lists are copied by range if at least this share of all arcs is expected to be read: fetching
/// them one by one has about half the bandwidth.
const MANY: f64 = 0.5;

/// Returns the number of blocks that fetch lists: a fifth of the multiprocessors keeps the bus
/// busy, and the others compute. A multiprocessor with such a block cannot run a block of a kernel
/// that needs all of it.
pub(super) fn blocks_beside(multiprocessors: u32) -> u32 {
    (multiprocessors / 5).max(1)
}

/// State of streaming, over the phases of a run.
pub(super) struct Streaming<'a, Mark> {
    pub(super) graph: GraphView<'a>,
    residence: Residence,
    /// Words of the lists that are not on the device, in one array (neighbours, or weights).
    far_words: u64,
    arcs: u64,
    pub(super) begin_part: Launch,
    fetch: Launch,
    /// `None` if no list is long.
    fetch_long: Option<Launch>,
    request_lists: Launch,
    forget: Launch,
    find_copied: Launch,
    pub(super) request_lists_of_changed: Launch,
    pub(super) find_staged: Launch,
    pull: Launch,
    /// Ranges whose lists are copied together. They are processed from first to last, or backwards.
    ranges: Vec<Range<VertexId>>,
    backwards: bool,
    /// The last ranges that were copied and are still in the staging area, in the order of copying.
    kept: Vec<Kept>,
    /// Share of all arcs that was read in the last round.
    share: f64,
    /// Number of parts of the current phase; whether their lists were copied by range.
    parts: u32,
    by_range: bool,
    in_stage: InStage,
    coming: Option<Coming<Mark>>,
    /// The last phase, if inactive vertices have not pulled after it yet.
    unpulled: Option<u32>,
    pub(super) times: Vec<Fetched<Mark>>,
    moved: Vec<ListsMoved>,
    /// Words copied by range in this round, and words that did not fit.
    pub(super) copied_words: [u64; 2],
}

/// A prefetch for phase number `current` and those after it, between two marks.
struct Coming<Mark> {
    current: u32,
    begin: Mark,
    end: Mark,
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

/// Returns the own vertices of a part, as parts consist of whole blocks and shares may not.
fn within(part: &Range<VertexId>, own: &Range<VertexId>) -> Range<VertexId> {
    part.start.clamp(own.start, own.end)..part.end.clamp(own.start, own.end)
}

/// A range whose lists are in the staging area: its slot, and the words of lists that did not fit.
#[derive(Clone, Copy)]
struct Kept {
    slot: usize,
    left_out: u64,
}

/// Marks around a transfer of lists, and the mark at which the transfer was waited for.
pub(super) struct Fetched<Mark> {
    pub begin: Mark,
    pub end: Mark,
    /// `None` if the transfer was waited for from its beginning.
    pub wanted: Option<Mark>,
}

impl<'a, Mark> Streaming<'a, Mark> {
    /// Returns the state before the first phase, or `None` if the whole graph is on the device.
    pub fn new(
        layout: &Layout,
        graph: GraphView<'a>,
        multiprocessors: u32,
        launch: impl Fn(&'static str) -> Result<Launch, DeviceError>,
    ) -> Result<Option<Streaming<'a, Mark>>, DeviceError> {
        let Some(places) = layout.graph.streamed() else { return Ok(None) };
        let sides = if graph.direction() == Direction::Directed { 2 } else { 1 };
        let residence = places.residence;
        let slot = residence.region_words / SLOTS as u64;
        // Bounds the number of parts by `most_parts`: two consecutive ranges together have more
        // than `slot` words.
        let far_words = places.far_bytes / 4 / arrays_of(graph);
        let least = far_words.div_ceil(u64::from(most_parts(graph.arcs())) / 4);
        let ranges = match residence.supply {
            Supply::Pinned => residence.parts(graph, slot.saturating_sub(64).max(least)),
            Supply::Staged => residence.staged_parts(graph),
        };
        let long = !places.long_pieces.is_empty();
        let beside =
            |kernel| Ok(Launch { blocks: blocks_beside(multiprocessors), ..launch(kernel)? });
        Ok(Some(Streaming {
            graph,
            residence,
            far_words,
            arcs: sides * graph.arcs(),
            begin_part: launch("ripplet_begin_part")?,
            fetch: beside("ripplet_fetch")?,
            fetch_long: long.then(|| beside("ripplet_fetch_long")).transpose()?,
            request_lists: launch("ripplet_request_lists")?,
            forget: launch("ripplet_forget")?,
            find_copied: launch("ripplet_find_copied")?,
            request_lists_of_changed: launch("ripplet_request_changed")?,
            find_staged: launch("ripplet_find_staged")?,
            pull: launch("ripplet_pull")?,
            ranges,
            backwards: false,
            kept: Vec::new(),
            share: 1.0,
            parts: 1,
            by_range: false,
            in_stage: InStage::Anything,
            coming: None,
            unpulled: None,
            times: Vec::new(),
            moved: Vec::new(),
            copied_words: [0; 2],
        }))
    }

    /// Returns the parts of a phase, of own vertices: those with lists on the device, then each
    /// range of others.
    pub fn own_parts(&self, own: &Range<VertexId>) -> Vec<Range<VertexId>> {
        let near = own.start..self.residence.near_end;
        [&near].into_iter().chain(&self.ranges).map(|part| within(part, own)).collect()
    }

    /// Whether to copy lists by range in a round that reads as many arcs as the last one.
    fn is_by_range(&self) -> bool {
        let expected = self.far_words as f64 * self.share;
        self.share >= MANY || expected > self.residence.region_words as f64
    }

    /// Records what a round moved.
    pub fn end_round<D: Device<Mark = Mark>>(
        &mut self,
        device: &D,
        before: &Tallies,
        now: &Tallies,
    ) -> Result<(), DeviceError> {
        let [copied, left_out] = std::mem::take(&mut self.copied_words);
        let mut moved = ListsMoved {
            fetched: 4 * (now.fetched - before.fetched + copied),
            unstaged: 4 * (now.unstaged - before.unstaged + left_out),
            ..ListsMoved::default()
        };
        for Fetched { begin, end, wanted } in self.times.drain(..) {
            let seconds = device.seconds_between(&begin, &end)?;
            moved.fetching += seconds;
            moved.waiting += device
                .seconds_between(wanted.as_ref().unwrap_or(&begin), &end)?
                .clamp(0.0, seconds);
        }
        self.moved.push(moved);
        Ok(())
    }

    /// Sets the share of arcs to expect, from the arcs that all ranks read in the last round.
    pub fn expect(&mut self, scanned: u64) {
        self.share = (scanned as f64 / self.arcs.max(1) as f64).min(1.0);
    }

    /// Returns what each round moved.
    pub fn finish<D: Device<Mark = Mark>>(
        self,
        device: &D,
    ) -> Result<Vec<ListsMoved>, DeviceError> {
        // A prefetch for a round that does not take place may still be running.
        if let Some(Coming { end, .. }) = &self.coming {
            device.follow(Queue::Main, end)?;
        }
        device.wait()?;
        Ok(self.moved)
    }
}

impl<'a, D: Device> DeviceRounds<'a, D> {
    /// Calls `work` if the graph is streamed; returns false if all of it is on the device.
    pub(super) fn with_streaming(
        &mut self,
        work: impl FnOnce(&mut Self, &mut Streaming<'a, D::Mark>) -> Result<(), DeviceError>,
    ) -> Result<bool, RunError> {
        let Some(mut streaming) = self.streaming.take() else { return Ok(false) };
        let done = work(self, &mut streaming);
        self.streaming = Some(streaming);
        done.map(|()| true).map_err(failed)
    }

    /// Launches the choices of a phase of a streamed graph.
    pub(super) fn choose_streamed(
        &mut self,
        streaming: &mut Streaming<'a, D::Mark>,
    ) -> Result<(), DeviceError> {
        let (kernels, phase) = (*self.kernels(), self.phase);
        if streaming.residence.supply == Supply::Staged {
            streaming.parts = self.choose_staged(streaming, phase)?;
            let step = self.step_of(phase, self.layout.share.vertices(), streaming.parts - 1);
            return kernels.commit.map_or(Ok(()), |commit| self.launch(&commit, &step));
        }
        streaming.by_range = self.state.phases == 1 && streaming.is_by_range();
        streaming.parts = if streaming.by_range {
            self.choose_by_range(streaming, phase)?
        } else {
            self.choose_by_list(streaming, phase)?
        };
        // Large vertices and the commit are processed for all parts together.
        let step = self.step_of(phase, self.layout.share.vertices(), streaming.parts - 1);
        for launch in [&kernels.spread, &kernels.commit].into_iter().flatten() {
            self.launch(launch, &step)?;
        }
        Ok(())
    }

    /// Activates the neighbours of changed vertices, or defers it until vertices can pull.
    pub(super) fn activate_streamed(
        &mut self,
        streaming: &mut Streaming<'a, D::Mark>,
    ) -> Result<(), DeviceError> {
        if streaming.residence.supply == Supply::Staged {
            return self.activate_staged(streaming);
        }
        let phase = self.phase;
        let may_defer = self.state.pull_threshold > 0 && self.activation != Activation::Always;
        let defers = if self.layout.share.is_ranked() {
            // All ranks must decide alike, so they use what all of them know.
            may_defer && self.state.phases == 1 && streaming.share >= MANY
        } else if may_defer && streaming.by_range {
            streaming.expect(self.tallies()?.scanned - self.seen.scanned);
            streaming.is_by_range()
        } else {
            false
        };
        let own = self.layout.share.vertices();
        let step = self.deferring_step_of(phase, own, streaming.parts - 1, defers);
        self.launch(&self.kernels().activate, &step)?;
        streaming.unpulled = defers.then_some(phase);
        Ok(())
    }

    /// Compacts the frontier and launches the choices of a phase whose lists are fetched one by
    /// one; returns the number of parts.
    fn choose_by_list(
        &mut self,
        streaming: &mut Streaming<'_, D::Mark>,
        phase: u32,
    ) -> Result<u32, DeviceError> {
        let (device, kernels) = (self.device, *self.kernels());
        let vertices = self.layout.share.vertices();
        self.pull_now(streaming)?;
        streaming.kept.clear();
        let (current, next) = (self.phases_done, self.phases_done.wrapping_add(1));
        let mut coming = streaming.coming.take().filter(|coming| coming.current == current);
        if coming.is_none() {
            // A prefetch for another phase must end before its region is reused.
            device.follow(Queue::Main, &device.mark(Queue::Side)?)?;
        }
        if streaming.in_stage == InStage::Lists {
            // The lists of past phases are not needed any more.
            self.forget_region(streaming, next)?;
        } else {
            self.clear_stage()?;
            streaming.in_stage = InStage::Lists;
        }
        if streaming.residence.ahead > 0 {
            // The bus prefetches the lists of later phases while this phase runs.
            if coming.is_none() {
                coming = Some(self.fetch_ahead(streaming, phase, current)?);
            }
            streaming.coming = Some(self.fetch_ahead(streaming, phase + 1, next)?);
        }
        if let Some(Coming { begin, end, .. }) = coming {
            let wanted = device.mark(Queue::Main)?;
            device.follow(Queue::Main, &end)?;
            streaming.times.push(Fetched { begin, end, wanted: Some(wanted) });
        }
        self.use_region_of(current.into());
        let step = self.late_step_of(phase, vertices, 0);
        let begin = device.mark(Queue::Main)?;
        for launch in [
            Some(&kernels.compact),
            Some(&streaming.begin_part),
            Some(&streaming.fetch),
            streaming.fetch_long.as_ref(),
        ]
        .into_iter()
        .flatten()
        {
            self.launch(launch, &step)?;
        }
        let end = device.mark(Queue::Main)?;
        streaming.times.push(Fetched { begin, end, wanted: None });
        self.launch_choosing(&step)?;
        Ok(1)
    }

    /// Begins to prefetch the lists of active vertices that are scheduled in `phase`, number `current`
    /// of the run, or in the phases after it. After the last phase of the round comes the first of
    /// the next.
    fn fetch_ahead(
        &mut self,
        streaming: &Streaming<'_, D::Mark>,
        phase: u32,
        current: u32,
    ) -> Result<Coming<D::Mark>, DeviceError> {
        let (device, round, regions) =
            (self.device, self.state.round, streaming.residence.regions());
        let next = if phase < self.state.phases { phase } else { 0 };
        if next < phase {
            self.state.round = round.wrapping_add(1);
        }
        let own = self.layout.share.vertices();
        let far = streaming.residence.near_end.min(own.end)..own.end;
        // When a round begins, single requests (`Prefetch::Alone`) go to the last regions of the round
        // before, if these are kept long enough.
        let before = u64::from(2 * next + 1);
        let wanted = if before + 1 < regions {
            vec![(Prefetch::Together, 0), (Prefetch::Alone, before)]
        } else {
            vec![(Prefetch::All, 0)]
        };
        let mut steps = Vec::new();
        for (prefetch, before) in wanted {
            self.use_region_of(u64::from(current) + regions - before);
            self.state.streamed.prefetch = prefetch as u32;
            let step = self.step_of(next, far.clone(), 0);
            self.launch(&streaming.request_lists, &step)?;
            steps.push(step);
        }
        self.state.round = round;
        device.follow(Queue::Side, &device.mark(Queue::Main)?)?;
        let begin = device.mark(Queue::Side)?;
        for (step, long) in steps.iter().zip([streaming.fetch_long.as_ref(), None]) {
            for launch in [Some(&streaming.fetch), long].into_iter().flatten() {
                self.launch_beside(launch, step)?;
            }
        }
        Ok(Coming { current, begin, end: device.mark(Queue::Side)? })
    }

    /// Launches the choices of a phase in which all vertices update, with lists copied range by
    /// range; returns the number of parts.
    fn choose_by_range(
        &mut self,
        streaming: &mut Streaming<'_, D::Mark>,
        phase: u32,
    ) -> Result<u32, DeviceError> {
        let (device, kernels) = (self.device, *self.kernels());
        let own = self.layout.share.vertices();
        if streaming.in_stage != InStage::Ranges {
            // Copies by range use the whole staging area, so prefetched lists are dropped.
            streaming.coming = None;
            device.follow(Queue::Main, &device.mark(Queue::Side)?)?;
            self.clear_stage()?;
            streaming.in_stage = InStage::Ranges;
        }
        // Order: the ranges that are still in the staging area, then the vertices with lists on the
        // device, then the ranges that are copied meanwhile.
        let mut kept = std::mem::take(&mut streaming.kept);
        kept.reverse();
        streaming.backwards = !kept.is_empty() && !streaming.backwards;
        let mut ranges = streaming.ranges.clone();
        if streaming.backwards {
            ranges.reverse();
        }
        let (there, near) = (kept.len(), own.start..streaming.residence.near_end);
        let numbered = || ranges.iter().enumerate().map(|(number, range)| (Some(number), range));
        let order = numbered().take(there).chain([(None, &near)]).chain(numbered().skip(there));
        self.forget_others()?;
        device.follow(Queue::Side, &device.mark(Queue::Main)?)?;
        let mut chosen: Vec<D::Mark> = Vec::with_capacity(ranges.len());
        for (part, (number, vertices)) in (0..).zip(order) {
            if let Some(number) = number.filter(|&number| number >= there) {
                let before = number.checked_sub(SLOTS);
                if let Some(before) = before {
                    // The slot must be free, and no kernel may read lists there any more.
                    device.follow(Queue::Side, &chosen[before])?;
                    self.forget(Queue::Side, &ranges[before])?;
                }
                let begin = device.mark(Queue::Side)?;
                let slot = before.map_or(number, |before| kept[before].slot);
                let [copied, left_out] = self.copy_range(streaming, slot, vertices)?;
                kept.push(Kept { slot, left_out });
                streaming.copied_words[0] += copied;
                let (end, wanted) = (device.mark(Queue::Side)?, device.mark(Queue::Main)?);
                device.follow(Queue::Main, &end)?;
                streaming.times.push(Fetched { begin, end, wanted: Some(wanted) });
            }
            streaming.copied_words[1] += number.map_or(0, |number| kept[number].left_out);
            if let Some(phase) = streaming.unpulled {
                self.launch(&streaming.pull, &self.past_step_of(phase, within(vertices, &own)))?;
            }
            let step = self.step_of(phase, within(vertices, &own), part);
            for launch in [&kernels.compact, &streaming.begin_part] {
                self.launch(launch, &step)?;
            }
            self.launch_choosing(&step)?;
            if number.is_some() {
                chosen.push(device.mark(Queue::Main)?);
            }
        }
        kept.drain(..kept.len().saturating_sub(SLOTS));
        streaming.kept = kept;
        Ok(1 + ranges.len() as u32)
    }

    /// Marks the peers' vertices inactive: all of them update in this phase.
    fn forget_others(&self) -> Result<(), DeviceError> {
        let (active, own) = (&self.layout.active, self.layout.share.vertices());
        self.fill_bytes(&(active.start..active.start + u64::from(own.start)), 0)?;
        self.fill_bytes(&(active.start + u64::from(own.end)..active.end), 0)
    }

    /// Copies the lists of a range to a slot of the staging area. Returns the words copied, and the
    /// words that did not fit.
    fn copy_range(
        &self,
        streaming: &Streaming<'_, D::Mark>,
        slot: usize,
        vertices: &Range<VertexId>,
    ) -> Result<[u64; 2], DeviceError> {
        let (Some(mapped), Some(places)) = (&self.mapped, self.layout.graph.streamed()) else {
            return Ok([0; 2]);
        };
        let (device, room) = (self.device, places.residence.region_words / SLOTS as u64 / 4 * 4);
        let place = (slot as u64 * room, room);
        let near_end = places.residence.near_end;
        let (all, left_out) = streamed::stretches(
            (device, mapped),
            streaming.graph,
            near_end,
            vertices.clone(),
            place,
        );
        let mut words = [0, left_out];
        for Stretch { copied, mapped: number, words: its, weights } in all {
            let to = places.stage.start + 4 * u64::from(copied.at);
            device.copy_mapped(Queue::Side, (mapped, number), its.clone(), &self.memory, to)?;
            words[0] += its.len() as u64;
            if let Some(weights) = weights {
                let shift = (device.mapped(mapped, weights).0 / 4)
                    .wrapping_sub(device.mapped(mapped, number).0 / 4)
                    % 4;
                let to = to + 4 * (places.weights_behind + shift);
                device.copy_mapped(
                    Queue::Side,
                    (mapped, weights),
                    its.clone(),
                    &self.memory,
                    to,
                )?;
                words[0] += its.len() as u64;
            }
            let argument = [bytemuck::bytes_of(&copied), &self.run()].concat();
            self.launch_beside(&streaming.find_copied, &argument)?;
        }
        Ok(words)
    }

    /// Launches the deferred pull for all vertices, wherever their lists are.
    fn pull_now(&self, streaming: &mut Streaming<'_, D::Mark>) -> Result<(), DeviceError> {
        let Some(phase) = streaming.unpulled.take() else { return Ok(()) };
        self.launch(&streaming.pull, &self.past_step_of(phase, self.layout.share.vertices()))
    }

    /// Completes the set of active vertices before it is read.
    pub(super) fn settle(&mut self) -> Result<(), RunError> {
        self.with_streaming(|rounds, streaming| rounds.pull_now(streaming)).map(drop)
    }

    /// Makes the region of phase number `current` the one that lists are fetched to.
    fn use_region_of(&mut self, current: u64) {
        let Some(places) = self.layout.graph.streamed() else { return };
        let (base, region) =
            (self.device.address(&self.memory), current % places.residence.regions());
        self.layout.at_region(&mut self.state.streamed, base, region);
    }

    /// Empties a region: its lists are marked as not fetched.
    fn forget_region(
        &mut self,
        streaming: &Streaming<'_, D::Mark>,
        current: u32,
    ) -> Result<(), DeviceError> {
        let Some(places) = self.layout.graph.streamed() else { return Ok(()) };
        let region = u64::from(current) % places.residence.regions();
        self.use_region_of(region);
        self.launch(&streaming.forget, &self.run())?;
        let used = self.layout.stage_use.start + region * USE_BYTES;
        self.device.fill(&self.memory, used, USE_BYTES, 0)
    }

    /// Empties the staging area.
    pub(super) fn clear_stage(&mut self) -> Result<(), DeviceError> {
        let Some(places) = self.layout.graph.streamed() else { return Ok(()) };
        self.fill_bytes(&self.layout.stage_use, 0)?;
        places.fetched.iter().try_for_each(|place| self.fill_bytes(place, u8::MAX))
    }

    /// Marks the lists of a range as not fetched.
    pub(super) fn forget(
        &self,
        queue: Queue,
        vertices: &Range<VertexId>,
    ) -> Result<(), DeviceError> {
        let Some(places) = self.layout.graph.streamed() else { return Ok(()) };
        let (start, length) = (4 * u64::from(vertices.start), 4 * vertices.len() as u64);
        places.fetched.iter().filter(|place| !place.is_empty()).try_for_each(|place| {
            self.device().fill_in(queue, &self.memory, place.start + start, length, u8::MAX)
        })
    }

    fn launch_beside(&self, launch: &Launch, argument: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: as of `launch`. The kernel writes the staging area, and where lists are in it. It
        // does so for vertices that are not scheduled, in words that are not in use, or for a range
        // whose members have not chosen, in a slot that is not in use. Marks order it after earlier
        // uses.
        unsafe { self.device().launch_in(Queue::Side, self.module, launch, argument) }
    }
}
