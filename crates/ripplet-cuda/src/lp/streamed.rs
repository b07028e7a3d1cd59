//! The phases of a graph whose lists are not all on the device.
//!
//! A phase has a part whose lists are there, and parts whose lists are not. All members are gathered first. Then those of
//! a part choose while the lists of the next are fetched to the stage; the stage has a few slots, which parts take in
//! turn. What is fetched stays there to the end of the phase, when those who changed wake their neighbours, unless
//! another part needs its slot: such a list is read where it is, in the host's memory.

use super::layout::{Layout, Tallies, most_parts};
use super::rounds::DeviceRounds;
use crate::device::{Device, DeviceError, Launch, Queue};
use crate::streamed::{Residence, SLOTS};
use ripplet_graph::{Direction, GraphView, VertexId};
use ripplet_lp::ListsMoved;
use std::ops::Range;

/// Words that are fetched at a time at least, where they are more than one part's: what it takes to launch kernels is
/// short beside it.
const PART_WORDS: u64 = 1 << 20;

/// The kernels that a streamed graph has besides, and what is known of its phases.
pub(super) struct Streaming<'a, Mark> {
    graph: GraphView<'a>,
    residence: Residence,
    /// Words of the lists that are not on the device, by array.
    far_words: u64,
    arcs: u64,
    most_parts: u32,
    begin_part: Launch,
    fetch: Launch,
    fetch_long: Launch,
    /// Bounds of the parts of a phase, of which there were last as many as are needed now.
    bounds: Vec<VertexId>,
    /// The share of all arcs that the next phase is expected to look at.
    share: f64,
    /// When lists were fetched in this round.
    times: Vec<Fetched<Mark>>,
    moved: Vec<ListsMoved>,
}

/// When the lists of a part were fetched, and when those who choose were done with all before it.
struct Fetched<Mark> {
    begin: Mark,
    end: Mark,
    wanted: Mark,
}

impl<'a, Mark> Streaming<'a, Mark> {
    /// None where the whole graph is on the device.
    pub fn new(
        layout: &Layout,
        graph: GraphView<'a>,
        launch: impl Fn(&'static str) -> Result<Launch, DeviceError>,
    ) -> Result<Option<Streaming<'a, Mark>>, DeviceError> {
        let Some(places) = layout.graph.streamed() else { return Ok(None) };
        let arrays = if is_in_two_arrays(graph) { 2 } else { 1 };
        let sides = if graph.direction() == Direction::Directed { 2 } else { 1 };
        Ok(Some(Streaming {
            graph,
            residence: places.residence,
            far_words: places.far_bytes / 4 / arrays,
            arcs: sides * graph.arcs(),
            most_parts: most_parts(graph.arcs()),
            begin_part: launch("ripplet_begin_part")?,
            fetch: launch("ripplet_fetch")?,
            fetch_long: launch("ripplet_fetch_long")?,
            bounds: Vec::new(),
            share: 1.0,
            times: Vec::new(),
            moved: Vec::new(),
        }))
    }

    /// Sees what a round moved, and what is to be expected of the next.
    pub fn end_round<D: Device<Mark = Mark>>(
        &mut self,
        device: &D,
        before: &Tallies,
        now: &Tallies,
    ) -> Result<(), DeviceError> {
        let mut moved = ListsMoved {
            fetched: 4 * (now.fetched - before.fetched),
            unstaged: 4 * (now.unstaged - before.unstaged),
            ..ListsMoved::default()
        };
        for Fetched { begin, end, wanted } in self.times.drain(..) {
            let seconds = device.seconds_between(&begin, &end)?;
            moved.fetching += seconds;
            moved.waiting += device.seconds_between(&wanted, &end)?.clamp(0.0, seconds);
        }
        self.moved.push(moved);
        let scanned = now.scanned - before.scanned;
        self.share = (scanned as f64 / self.arcs.max(1) as f64).min(1.0);
        Ok(())
    }

    /// What each round moved.
    pub fn finish(self) -> Vec<ListsMoved> {
        self.moved
    }

    /// Sets the bounds of a phase's parts, for so many phases a round.
    fn divide(&mut self, phases: u32) {
        let expected = (self.far_words as f64 * self.share / f64::from(phases.max(1))) as u64;
        let slot = self.residence.slot_words.max(1);
        // A tenth more than fits would be read where it is.
        let needed = (expected + expected / 8).div_ceil(slot);
        let worth = (expected / PART_WORDS).min(u64::from(SLOTS));
        let parts = needed.max(worth).clamp(1, u64::from(self.most_parts) - 1) as u32;
        if self.bounds.len() != parts as usize + 1 {
            self.bounds = self.residence.parts(self.graph, parts);
        }
    }

    /// The vertices of each part: first of the one whose lists are on the device.
    fn parts(&self) -> impl Iterator<Item = Range<VertexId>> {
        let far = self.bounds.windows(2).map(|pair| pair[0]..pair[1]);
        [0..self.residence.near_end].into_iter().chain(far)
    }
}

fn is_in_two_arrays(graph: GraphView<'_>) -> bool {
    matches!(graph, GraphView::Plain(_)) && graph.is_weighted()
}

impl<D: Device> DeviceRounds<'_, D> {
    /// Launches a phase of a streamed graph, in parts.
    pub(super) fn launch_streamed(&mut self, phase: u32) -> Result<(), DeviceError> {
        let phases = self.field.phases;
        let Some(streaming) = &mut self.streaming else { return Ok(()) };
        streaming.divide(phases);
        let Some(streaming) = &self.streaming else { return Ok(()) };
        let parts: Vec<Range<VertexId>> = streaming.parts().collect();
        let step = |part: usize| self.step_of(phase, parts[part].clone(), part as u32);
        let kernels = *self.kernels();
        self.forget_fetched()?;
        for part in 0..parts.len() {
            self.launch(&kernels.gather, &step(part))?;
            self.launch(&streaming.begin_part, &step(part))?;
        }
        let device = self.device();
        device.follow(Queue::Side, &device.mark(Queue::Main)?)?;
        let mut chosen = Vec::with_capacity(parts.len());
        let mut fetched: Option<[D::Mark; 2]> = None;
        let mut times = Vec::with_capacity(parts.len());
        for part in 0..parts.len() {
            let next = part + 1;
            let behind = if next < parts.len() {
                // Its slot must be free.
                if next > SLOTS as usize {
                    device.follow(Queue::Side, &chosen[next - SLOTS as usize])?;
                }
                let begin = device.mark(Queue::Side)?;
                self.launch_beside(&streaming.fetch, &step(next))?;
                self.launch_beside(&streaming.fetch_long, &step(next))?;
                Some([begin, device.mark(Queue::Side)?])
            } else {
                None
            };
            if let Some([begin, end]) = std::mem::replace(&mut fetched, behind) {
                let wanted = device.mark(Queue::Main)?;
                device.follow(Queue::Main, &end)?;
                times.push(Fetched { begin, end, wanted });
            }
            for launch in [&kernels.choose, &kernels.low, &kernels.scanned].into_iter().flatten() {
                self.launch(launch, &step(part))?;
            }
            chosen.push(device.mark(Queue::Main)?);
        }
        self.streaming.iter_mut().for_each(|streaming| streaming.times.append(&mut times));
        // The rest is of all parts together.
        let whole = self.step_of(phase, 0..self.field.vertices, parts.len() as u32 - 1);
        for launch in [&kernels.spread, &kernels.show].into_iter().flatten() {
            self.launch(launch, &whole)?;
        }
        self.launch(&kernels.wake, &whole)
    }

    /// Nothing is in the stage.
    fn forget_fetched(&self) -> Result<(), DeviceError> {
        let Some(places) = self.layout.graph.streamed() else { return Ok(()) };
        places.fetched.iter().try_for_each(|place| self.fill_bytes(place, u8::MAX))
    }

    fn launch_beside(&self, launch: &Launch, argument: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: as of `launch`. It writes to a slot of the stage, and where in it lists are, of a part whose members
        // are gathered, which marks see to: what runs meanwhile is of other parts and looks at other slots.
        unsafe { self.device().launch_in(Queue::Side, self.module, launch, argument) }
    }
}
