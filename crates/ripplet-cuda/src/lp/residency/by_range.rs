//! Lists copied by range: the copy engine copies the lists of consecutive vertices as they lie,
//! while the vertices of the range before update.
//!
//! The staging area has [`SLOTS`] slots for ranges. Rounds alternate between forwards and
//! backwards, so that the last ranges of a round are there for the next.

use super::super::arguments::Part;
use super::super::device_run::DeviceRun;
use super::area::{self, within};
use super::moves::{Moves, Transfer};
use crate::lists::{self, Split, Stretch};
use ripplet_gpu::{Device, DeviceError, Stream};
use ripplet_graph::{GraphView, VertexId};
use std::ops::Range;

/// Ranges whose lists are in the staging area at the same time. With four, there are twice as many
/// parts, and a round on compressed lists takes 26.9 ms instead of 18.4
/// (`bench/runs/2026-11-23-h200/streamed-slots-*.jsonl`).
pub const SLOTS: usize = 2;

/// State of copies by range, over the phases of a run.
pub struct ByRange<'a, D: Device + 'a> {
    graph: GraphView<'a>,
    split: Split,
    /// The own vertices with lists on the device.
    near: Range<VertexId>,
    /// Ranges whose lists are copied together. They are processed from first to last, or backwards.
    ranges: Vec<Range<VertexId>>,
    backwards: bool,
    /// The last ranges that were copied and are still in the staging area, in the order of copying.
    kept: Vec<Kept>,
    mapped: D::Mapped<'a>,
}

/// A range whose lists are in the staging area: its slot, and the words of lists that did not fit.
#[derive(Clone, Copy)]
struct Kept {
    slot: usize,
    left_out: u64,
}

impl<'a, D: Device> ByRange<'a, D> {
    /// Returns the state before the first phase.
    pub fn new(
        own: Range<VertexId>,
        split: Split,
        ranges: Vec<Range<VertexId>>,
        graph: GraphView<'a>,
        mapped: D::Mapped<'a>,
    ) -> ByRange<'a, D> {
        let near = own.start..split.near_end;
        ByRange { graph, split, near, ranges, backwards: false, kept: Vec::new(), mapped }
    }

    /// Drops the ranges in the staging area.
    pub fn drop_ranges(&mut self) {
        self.kept.clear();
    }

    /// Launches the choices of a phase in which all vertices update; returns the number of parts.
    /// Before the vertices of a range choose, the inactive ones pull after phase `unpulled`.
    pub fn choose(
        &mut self,
        run: &DeviceRun<'a, D>,
        unpulled: Option<u32>,
        moves: &mut Moves<D::Event>,
    ) -> Result<u32, DeviceError> {
        let (device, own) = (run.device(), run.own());
        // Order: the ranges that are still in the staging area, then the vertices with lists on the
        // device, then the ranges that are copied meanwhile.
        let mut kept = std::mem::take(&mut self.kept);
        kept.reverse();
        self.backwards = !kept.is_empty() && !self.backwards;
        let mut ranges = self.ranges.clone();
        if self.backwards {
            ranges.reverse();
        }
        let there = kept.len();
        let numbered = || ranges.iter().enumerate().map(|(number, range)| (Some(number), range));
        let near = [(None, &self.near)];
        let order = numbered().take(there).chain(near).chain(numbered().skip(there));
        // All of the peers' vertices update in this phase.
        run.layout.frontier.mark_others(&run.memory, &own, 0)?;
        device.wait_for(Stream::Side, &device.record(Stream::Main)?)?;
        let mut chosen: Vec<D::Event> = Vec::with_capacity(ranges.len());
        for (part, (number, vertices)) in (0..).zip(order) {
            if let Some(number) = number.filter(|&number| number >= there) {
                let before = number.checked_sub(SLOTS);
                if let Some(before) = before {
                    // The slot must be free, and no kernel may read lists there any more.
                    device.wait_for(Stream::Side, &chosen[before])?;
                    area::forget(run, Stream::Side, &ranges[before])?;
                }
                let begin = device.record(Stream::Side)?;
                let slot = before.map_or(number, |before| kept[before].slot);
                let [copied, left_out] = self.copy(run, slot, vertices)?;
                kept.push(Kept { slot, left_out });
                moves.copied_words += copied;
                let (end, wanted) = (device.record(Stream::Side)?, device.record(Stream::Main)?);
                device.wait_for(Stream::Main, &end)?;
                moves.transfers.push(Transfer { begin, end, wanted: Some(wanted) });
            }
            moves.left_out_words += number.map_or(0, |number| kept[number].left_out);
            if let Some(phase) = unpulled {
                run.launches.pull(&run.arguments.past_step(phase, within(vertices, &own)))?;
            }
            let part = Part { number: part, ..Part::of(within(vertices, &own)) };
            let step = run.arguments.step(part);
            run.launches.compact(&step)?;
            run.launches.begin_part(&step)?;
            run.launches.choose(&step)?;
            if number.is_some() {
                chosen.push(device.record(Stream::Main)?);
            }
        }
        kept.drain(..kept.len().saturating_sub(SLOTS));
        self.kept = kept;
        Ok(1 + ranges.len() as u32)
    }

    /// Copies the lists of a range to a slot of the staging area. Returns the words copied, and the
    /// words that did not fit.
    fn copy(
        &self,
        run: &DeviceRun<'a, D>,
        slot: usize,
        vertices: &Range<VertexId>,
    ) -> Result<[u64; 2], DeviceError> {
        let Some(places) = run.layout.lists.streamed() else { return Ok([0; 2]) };
        let (device, mapped, memory) = (run.device(), &self.mapped, &run.memory.memory);
        let room = self.split.region_words / SLOTS as u64 / 4 * 4;
        let (all, left_out) = lists::stretches(
            (device, mapped),
            self.graph,
            self.split.near_end,
            vertices.clone(),
            (slot as u64 * room, room),
        );
        let mut words = [0, left_out];
        for Stretch { copied, mapped: number, words: its, weights } in all {
            let to = places.stage.start + 4 * u64::from(copied.at);
            device.copy_mapped(Stream::Side, (mapped, number), its.clone(), memory, to)?;
            words[0] += its.len() as u64;
            if let Some(weights) = weights {
                let shift = (device.mapped(mapped, weights).0 / 4)
                    .wrapping_sub(device.mapped(mapped, number).0 / 4)
                    % 4;
                let to = to + 4 * (places.weights_behind + shift);
                device.copy_mapped(Stream::Side, (mapped, weights), its.clone(), memory, to)?;
                words[0] += its.len() as u64;
            }
            run.launches.find_copied(&run.arguments.found(&copied))?;
        }
        Ok(words)
    }
}
