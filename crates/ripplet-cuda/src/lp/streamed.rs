//! The phases of a graph whose lists are not all on the device.
//!
//! Who looks at a list, looks for it in the *stage* first: memory of the device, to which lists come in one of two ways.
//!
//! *By list*: when a phase's members are gathered, the lists of those whose are not there are fetched by a kernel, which
//! reads the host's memory over the bus. Mostly they are there: while a phase is at work, the lists of those who are
//! active already and have their turn in the next phases are fetched to a region of the stage that nobody uses then.
//!
//! *By range*: where all vertices have their turn in one phase, and many of them are active, the lists of a range of
//! vertices are copied as they lie, while those of the range before choose. Rounds go forwards and backwards in turns, so that
//! what came last is there when the next begins. Whom a change wakes is then found when the
//! lists are there the next time: the sleeping ask. Devices that share a run all do so, or none: by what all of them
//! looked at in the round before.
//!
//! A list that is in the stage in neither way is read where it is, which is slower and nothing else. Where kernels cannot
//! read the host's memory, none is: `ferried.rs`.

use super::failed;
use super::layout::{Layout, Tallies, USE_BYTES, Wants, most_parts};
use super::rounds::DeviceRounds;
use crate::device::{Device, DeviceError, Launch, Queue};
use crate::streamed::{self, Residence, Stretch, Supply, arrays_of};
use ripplet_graph::{Direction, GraphView, VertexId};
use ripplet_lp::{ListsMoved, RunError, Wake};
use std::ops::Range;

/// Ranges whose lists are in the stage at the same time.
const SLOTS: usize = 2;

/// Lists are copied by range where at least this share of all arcs is expected to be looked at: fetched one by one, the
/// bus carries about half as much.
const MANY: f64 = 0.5;

/// Blocks that fetch lists: few keep the bus busy, and others are at work meanwhile. On the multiprocessors of these, no
/// other kernel that needs one for itself can run.
pub(super) fn blocks_beside(multiprocessors: u32) -> u32 {
    (multiprocessors / 5).max(1)
}

/// What is known of a streamed graph's phases.
pub(super) struct Streaming<'a, Mark> {
    pub(super) graph: GraphView<'a>,
    residence: Residence,
    /// Words of the lists that are not on the device, by array.
    far_words: u64,
    arcs: u64,
    pub(super) begin_part: Launch,
    fetch: Launch,
    /// None where no list is long.
    fetch_long: Option<Launch>,
    want: Launch,
    forget: Launch,
    find_copied: Launch,
    pub(super) want_changed: Launch,
    pub(super) find_ferried: Launch,
    ask: Launch,
    /// Ranges whose lists are copied together; they have their turns from the first to the last, or backwards.
    ranges: Vec<Range<VertexId>>,
    backwards: bool,
    /// The last ranges that were copied, as long as they are there, in this order.
    kept: Vec<Kept>,
    /// The share of all arcs that was looked at in the last round.
    share: f64,
    /// Parts of the phase at hand, and whether their lists were copied by range.
    parts: u32,
    by_range: bool,
    in_stage: InStage,
    coming: Option<Coming<Mark>>,
    /// The phase after which the sleeping have not asked yet: the last.
    unasked: Option<u32>,
    pub(super) times: Vec<Fetched<Mark>>,
    moved: Vec<ListsMoved>,
    /// Words that were copied by range in this round, and those that did not fit.
    pub(super) copied_words: [u64; 2],
}

/// Lists that are being fetched for a phase, of this number over all rounds, and for those after it; when that began and ends.
struct Coming<Mark> {
    turn: u32,
    begin: Mark,
    end: Mark,
}

/// What is in the stage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InStage {
    Anything,
    /// Lists that were fetched one by one.
    Lists,
    /// Lists that were copied by range.
    Ranges,
}

/// The device's own vertices of a part: blocks may begin and end within others'.
fn within(part: &Range<VertexId>, own: &Range<VertexId>) -> Range<VertexId> {
    part.start.clamp(own.start, own.end)..part.end.clamp(own.start, own.end)
}

/// A range whose lists are in the stage: in which slot, and how many words of them did not fit.
#[derive(Clone, Copy)]
struct Kept {
    slot: usize,
    left_out: u64,
}

/// When lists came, and when they were waited for.
pub(super) struct Fetched<Mark> {
    pub begin: Mark,
    pub end: Mark,
    /// None where it was when they began to come.
    pub wanted: Option<Mark>,
}

impl<'a, Mark> Streaming<'a, Mark> {
    /// None where the whole graph is on the device.
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
        // Of few words, there would be more than can be told apart: two that follow one another have more than as many.
        let far_words = places.far_bytes / 4 / arrays_of(graph);
        let least = far_words.div_ceil(u64::from(most_parts(graph.arcs())) / 4);
        let ranges = match residence.supply {
            Supply::Locked => residence.parts(graph, slot.saturating_sub(64).max(least)),
            Supply::Ferried => residence.ferried_parts(graph),
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
            want: launch("ripplet_want")?,
            forget: launch("ripplet_forget")?,
            find_copied: launch("ripplet_find_copied")?,
            want_changed: launch("ripplet_want_changed")?,
            find_ferried: launch("ripplet_find_ferried")?,
            ask: launch("ripplet_ask")?,
            ranges,
            backwards: false,
            kept: Vec::new(),
            share: 1.0,
            parts: 1,
            by_range: false,
            in_stage: InStage::Anything,
            coming: None,
            unasked: None,
            times: Vec::new(),
            moved: Vec::new(),
            copied_words: [0; 2],
        }))
    }

    /// The parts of a phase, of the device's own vertices: those whose lists are on the device, and each range of others.
    pub fn own_parts(&self, own: &Range<VertexId>) -> Vec<Range<VertexId>> {
        let near = own.start..self.residence.near_end;
        [&near].into_iter().chain(&self.ranges).map(|part| within(part, own)).collect()
    }

    /// Whether lists are to be copied by range in a round like the last.
    fn is_by_range(&self) -> bool {
        let expected = self.far_words as f64 * self.share;
        self.share >= MANY || expected > self.residence.region_words as f64
    }

    /// Sees what a round moved, and what is to be expected of the next.
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

    /// Remembers how many arcs were looked at in a round, by all who share it.
    pub fn expect(&mut self, scanned: u64) {
        self.share = (scanned as f64 / self.arcs.max(1) as f64).min(1.0);
    }

    /// What each round moved.
    pub fn finish<D: Device<Mark = Mark>>(
        self,
        device: &D,
    ) -> Result<Vec<ListsMoved>, DeviceError> {
        // What was fetched for a round that does not come is on its way.
        if let Some(Coming { end, .. }) = &self.coming {
            device.follow(Queue::Main, end)?;
        }
        device.wait()?;
        Ok(self.moved)
    }
}

impl<'a, D: Device> DeviceRounds<'a, D> {
    /// Does what is special of a streamed graph; false where the whole graph is on the device.
    pub(super) fn with_streaming(
        &mut self,
        work: impl FnOnce(&mut Self, &mut Streaming<'a, D::Mark>) -> Result<(), DeviceError>,
    ) -> Result<bool, RunError> {
        let Some(mut streaming) = self.streaming.take() else { return Ok(false) };
        let done = work(self, &mut streaming);
        self.streaming = Some(streaming);
        done.map(|()| true).map_err(failed)
    }

    /// Has the phase's members of a streamed graph choose.
    pub(super) fn choose_streamed(
        &mut self,
        streaming: &mut Streaming<'a, D::Mark>,
    ) -> Result<(), DeviceError> {
        let (kernels, phase) = (*self.kernels(), self.phase);
        if streaming.residence.supply == Supply::Ferried {
            streaming.parts = self.choose_ferried(streaming, phase)?;
            let step = self.step_of(phase, self.layout.share.vertices(), streaming.parts - 1);
            return kernels.show.map_or(Ok(()), |show| self.launch(&show, &step));
        }
        streaming.by_range = self.field.phases == 1 && streaming.is_by_range();
        streaming.parts = if streaming.by_range {
            self.choose_by_range(streaming, phase)?
        } else {
            self.choose_by_list(streaming, phase)?
        };
        // What is left is of all parts together.
        let step = self.step_of(phase, self.layout.share.vertices(), streaming.parts - 1);
        for launch in [&kernels.spread, &kernels.show].into_iter().flatten() {
            self.launch(launch, &step)?;
        }
        Ok(())
    }

    /// Wakes who must look again because they changed, or leaves it to these to ask.
    pub(super) fn wake_streamed(
        &mut self,
        streaming: &mut Streaming<'a, D::Mark>,
    ) -> Result<(), DeviceError> {
        if streaming.residence.supply == Supply::Ferried {
            return self.wake_ferried(streaming);
        }
        let phase = self.phase;
        let may_defer = self.field.waking_share > 0 && self.wake != Wake::Always;
        let defers = if self.layout.share.is_ranked() {
            // What all of them know alike.
            may_defer && self.field.phases == 1 && streaming.share >= MANY
        } else if may_defer && streaming.by_range {
            streaming.expect(self.tallies()?.scanned - self.seen.scanned);
            streaming.is_by_range()
        } else {
            false
        };
        let own = self.layout.share.vertices();
        let step = self.deferring_step_of(phase, own, streaming.parts - 1, defers);
        self.launch(&self.kernels().wake, &step)?;
        streaming.unasked = defers.then_some(phase);
        Ok(())
    }

    /// Gathers a phase's members and has them choose, when their lists are fetched one by one; how many parts there were.
    fn choose_by_list(
        &mut self,
        streaming: &mut Streaming<'_, D::Mark>,
        phase: u32,
    ) -> Result<u32, DeviceError> {
        let (device, kernels) = (self.device, *self.kernels());
        let vertices = self.layout.share.vertices();
        self.ask_now(streaming)?;
        streaming.kept.clear();
        let (turn, next) = (self.turns, self.turns.wrapping_add(1));
        let mut coming = streaming.coming.take().filter(|coming| coming.turn == turn);
        if coming.is_none() {
            // Whatever is on its way must not come here any more.
            device.follow(Queue::Main, &device.mark(Queue::Side)?)?;
        }
        if streaming.in_stage == InStage::Lists {
            // What came for the phases before is not needed any more.
            self.forget_region(streaming, next)?;
        } else {
            self.clear_stage()?;
            streaming.in_stage = InStage::Lists;
        }
        if streaming.residence.ahead > 0 {
            // The bus goes on with what comes after this while the phase is at work.
            if coming.is_none() {
                coming = Some(self.fetch_ahead(streaming, phase, turn)?);
            }
            streaming.coming = Some(self.fetch_ahead(streaming, phase + 1, next)?);
        }
        if let Some(Coming { begin, end, .. }) = coming {
            let wanted = device.mark(Queue::Main)?;
            device.follow(Queue::Main, &end)?;
            streaming.times.push(Fetched { begin, end, wanted: Some(wanted) });
        }
        self.turn_stage(turn.into());
        let step = self.late_step_of(phase, vertices, 0);
        let begin = device.mark(Queue::Main)?;
        for launch in [
            Some(&kernels.gather),
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

    /// Begins to fetch the lists of those who are active and have their turn in a phase, of this number over all rounds, or in
    /// those after it. Behind the last phase of the round comes the first of the next.
    fn fetch_ahead(
        &mut self,
        streaming: &Streaming<'_, D::Mark>,
        phase: u32,
        turn: u32,
    ) -> Result<Coming<D::Mark>, DeviceError> {
        let (device, round, regions) =
            (self.device, self.field.round, streaming.residence.regions());
        let next = if phase < self.field.phases { phase } else { 0 };
        if next < phase {
            self.field.round = round.wrapping_add(1);
        }
        let own = self.layout.share.vertices();
        let far = streaming.residence.near_end.min(own.end)..own.end;
        // What is wanted alone when a round begins has room in the last regions of the round before, if these are there long
        // enough.
        let before = u64::from(2 * next + 1);
        let wanted = if before + 1 < regions {
            vec![(Wants::Together, 0), (Wants::Alone, before)]
        } else {
            vec![(Wants::All, 0)]
        };
        let mut steps = Vec::new();
        for (wants, before) in wanted {
            self.turn_stage(u64::from(turn) + regions - before);
            self.field.streamed.wants = wants as u32;
            let step = self.step_of(next, far.clone(), 0);
            self.launch(&streaming.want, &step)?;
            steps.push(step);
        }
        self.field.round = round;
        device.follow(Queue::Side, &device.mark(Queue::Main)?)?;
        let begin = device.mark(Queue::Side)?;
        for (step, long) in steps.iter().zip([streaming.fetch_long.as_ref(), None]) {
            for launch in [Some(&streaming.fetch), long].into_iter().flatten() {
                self.launch_beside(launch, step)?;
            }
        }
        Ok(Coming { turn, begin, end: device.mark(Queue::Side)? })
    }

    /// The same where all vertices have their turn at once, and their lists are copied range by range.
    fn choose_by_range(
        &mut self,
        streaming: &mut Streaming<'_, D::Mark>,
        phase: u32,
    ) -> Result<u32, DeviceError> {
        let (device, kernels) = (self.device, *self.kernels());
        let own = self.layout.share.vertices();
        if streaming.in_stage != InStage::Ranges {
            // What is fetched ahead is not, as all of the stage is used otherwise.
            streaming.coming = None;
            device.follow(Queue::Main, &device.mark(Queue::Side)?)?;
            self.clear_stage()?;
            streaming.in_stage = InStage::Ranges;
        }
        // The last ranges come first, as they are still there; then what is on the device anyway, while others come.
        let mut kept = std::mem::take(&mut streaming.kept);
        kept.reverse();
        streaming.backwards = !kept.is_empty() && !streaming.backwards;
        let mut ranges = streaming.ranges.clone();
        if streaming.backwards {
            ranges.reverse();
        }
        let (there, near) = (kept.len(), own.start..streaming.residence.near_end);
        let numbered = || ranges.iter().enumerate().map(|(number, range)| (Some(number), range));
        let turns = numbered().take(there).chain([(None, &near)]).chain(numbered().skip(there));
        self.forget_others()?;
        device.follow(Queue::Side, &device.mark(Queue::Main)?)?;
        let mut chosen: Vec<D::Mark> = Vec::with_capacity(ranges.len());
        for (part, (number, vertices)) in (0..).zip(turns) {
            if let Some(number) = number.filter(|&number| number >= there) {
                let before = number.checked_sub(SLOTS);
                if let Some(before) = before {
                    // Its place must be free, and nobody look there any more.
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
            if let Some(phase) = streaming.unasked {
                self.launch(&streaming.ask, &self.past_step_of(phase, within(vertices, &own)))?;
            }
            let step = self.step_of(phase, within(vertices, &own), part);
            for launch in [&kernels.gather, &streaming.begin_part] {
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

    /// Of others' vertices, all of which have their turn, it is forgotten that they are active.
    fn forget_others(&self) -> Result<(), DeviceError> {
        let (active, own) = (&self.layout.active, self.layout.share.vertices());
        self.fill_bytes(&(active.start..active.start + u64::from(own.start)), 0)?;
        self.fill_bytes(&(active.start + u64::from(own.end)..active.end), 0)
    }

    /// Copies the lists of a range to a slot of the stage; how many words it copied, and how many did not fit.
    fn copy_range(
        &self,
        streaming: &Streaming<'_, D::Mark>,
        slot: usize,
        vertices: &Range<VertexId>,
    ) -> Result<[u64; 2], DeviceError> {
        let (Some(lent), Some(places)) = (&self.lent, self.layout.graph.streamed()) else {
            return Ok([0; 2]);
        };
        let (device, room) = (self.device, places.residence.region_words / SLOTS as u64 / 4 * 4);
        let place = (slot as u64 * room, room);
        let near_end = places.residence.near_end;
        let (all, left_out) =
            streamed::stretches((device, lent), streaming.graph, near_end, vertices.clone(), place);
        let mut words = [0, left_out];
        for Stretch { copied, lent: number, words: its, weights } in all {
            let to = places.stage.start + 4 * u64::from(copied.at);
            device.copy_lent(Queue::Side, (lent, number), its.clone(), &self.memory, to)?;
            words[0] += its.len() as u64;
            if let Some(weights) = weights {
                let shift = (device.lent(lent, weights).0 / 4)
                    .wrapping_sub(device.lent(lent, number).0 / 4)
                    % 4;
                let to = to + 4 * (places.weights_behind + shift);
                device.copy_lent(Queue::Side, (lent, weights), its.clone(), &self.memory, to)?;
                words[0] += its.len() as u64;
            }
            let argument = [bytemuck::bytes_of(&copied), &self.run()].concat();
            self.launch_beside(&streaming.find_copied, &argument)?;
        }
        Ok(words)
    }

    /// Has the sleeping ask who have not, wherever their lists are.
    fn ask_now(&self, streaming: &mut Streaming<'_, D::Mark>) -> Result<(), DeviceError> {
        let Some(phase) = streaming.unasked.take() else { return Ok(()) };
        self.launch(&streaming.ask, &self.past_step_of(phase, self.layout.share.vertices()))
    }

    /// Makes all active who must look again, before somebody asks who is.
    pub(super) fn settle(&mut self) -> Result<(), RunError> {
        self.with_streaming(|rounds, streaming| rounds.ask_now(streaming)).map(drop)
    }

    /// From here on, lists are fetched to the region of the stage that is a phase's of this number.
    fn turn_stage(&mut self, turn: u64) {
        let Some(places) = self.layout.graph.streamed() else { return };
        let (base, region) = (self.device.address(&self.memory), turn % places.residence.regions());
        self.layout.at_region(&mut self.field.streamed, base, region);
    }

    /// Nobody is to look in that region any more, which is empty from here on.
    fn forget_region(
        &mut self,
        streaming: &Streaming<'_, D::Mark>,
        turn: u32,
    ) -> Result<(), DeviceError> {
        let Some(places) = self.layout.graph.streamed() else { return Ok(()) };
        let region = u64::from(turn) % places.residence.regions();
        self.turn_stage(region);
        self.launch(&streaming.forget, &self.run())?;
        let used = self.layout.stage_use.start + region * USE_BYTES;
        self.device.fill(&self.memory, used, USE_BYTES, 0)
    }

    /// Nothing is in the stage any more, whatever was there.
    pub(super) fn clear_stage(&mut self) -> Result<(), DeviceError> {
        let Some(places) = self.layout.graph.streamed() else { return Ok(()) };
        self.fill_bytes(&self.layout.stage_use, 0)?;
        places.fetched.iter().try_for_each(|place| self.fill_bytes(place, u8::MAX))
    }

    /// Nobody is to look in the stage any more for the lists of a range.
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
        // SAFETY: as of `launch`. It writes to the stage, and where in it lists are: of vertices that are not at their turn, in
        // words that nobody has; or of a range whose members have not chosen, in a slot that nobody uses. Marks see to that.
        unsafe { self.device().launch_in(Queue::Side, self.module, launch, argument) }
    }
}
