//! Lists fetched one by one: kernels read them from the host's memory over the bus.
//!
//! While a phase runs, the lists of vertices that are active already and scheduled in the next
//! phases are prefetched, to a region of the staging area that is not in use. When a phase's
//! frontier is compacted, the lists that are still missing are fetched on demand.

use super::super::arguments::{Part, StepArgument};
use super::super::device_run::DeviceRun;
use super::super::state::Prefetch;
use super::area;
use super::moves::{Moves, Transfer};
use crate::lists::Split;
use ripplet_gpu::{Device, DeviceError, Stream};

/// State of fetches by list, over the phases of a run.
pub struct ByList<Event> {
    split: Split,
    coming: Option<Coming<Event>>,
}

/// A prefetch for phase number `current` and those after it, between two events.
struct Coming<Event> {
    current: u32,
    begin: Event,
    end: Event,
}

impl<Event> ByList<Event> {
    /// Returns the state before the first phase.
    pub fn new(split: Split) -> ByList<Event> {
        ByList { split, coming: None }
    }

    /// Drops the prefetch that is under way.
    pub fn drop_prefetch(&mut self) {
        self.coming = None;
    }

    /// Compacts the frontier and launches the choices of a phase. `has_lists` is whether the
    /// staging area has lists that were fetched one by one.
    pub fn choose<D: Device<Event = Event>>(
        &mut self,
        run: &mut DeviceRun<'_, D>,
        has_lists: bool,
        moves: &mut Moves<Event>,
    ) -> Result<(), DeviceError> {
        let (device, phase) = (run.device(), run.arguments.phase());
        let current = run.arguments.phases_done();
        let next = current.wrapping_add(1);
        let mut coming = self.coming.take().filter(|coming| coming.current == current);
        if coming.is_none() {
            // A prefetch for another phase must end before its region is reused.
            device.wait_for(Stream::Main, &device.record(Stream::Side)?)?;
        }
        if has_lists {
            // The lists of past phases are not needed any more.
            area::forget_region_of(run, next)?;
        } else {
            area::clear(run)?;
        }
        if self.split.ahead > 0 {
            // The bus prefetches the lists of later phases while this phase runs.
            if coming.is_none() {
                coming = Some(self.prefetch(run, phase, current)?);
            }
            self.coming = Some(self.prefetch(run, phase + 1, next)?);
        }
        if let Some(Coming { begin, end, .. }) = coming {
            let wanted = device.record(Stream::Main)?;
            device.wait_for(Stream::Main, &end)?;
            moves.transfers.push(Transfer { begin, end, wanted: Some(wanted) });
        }
        area::use_region_of(run, current.into());
        let step = run.arguments.step(Part { late: true, ..Part::of(run.own()) });
        let begin = device.record(Stream::Main)?;
        run.launches.compact(&step)?;
        run.launches.begin_part(&step)?;
        run.launches.fetch(&step)?;
        let end = device.record(Stream::Main)?;
        moves.transfers.push(Transfer { begin, end, wanted: None });
        run.launches.choose(&step)
    }

    /// Begins to prefetch the lists of active vertices that are scheduled in `phase`, number
    /// `current` of the run, or in the phases after it. After the last phase of the round comes the
    /// first of the next.
    fn prefetch<D: Device<Event = Event>>(
        &self,
        run: &mut DeviceRun<'_, D>,
        phase: u32,
        current: u32,
    ) -> Result<Coming<Event>, DeviceError> {
        let (device, regions) = (run.device(), self.split.regions());
        let round = run.arguments.state.round.index;
        let next = if phase < run.arguments.phases() { phase } else { 0 };
        if next < phase {
            run.arguments.state.round.index = round.wrapping_add(1);
        }
        let own = run.own();
        let far = self.split.near_end.min(own.end)..own.end;
        // When a round begins, single requests (`Prefetch::Alone`) go to the last regions of the
        // round before, if these are kept long enough.
        let before = u64::from(2 * next + 1);
        let wanted = if before + 1 < regions {
            vec![(Prefetch::Together, 0), (Prefetch::Alone, before)]
        } else {
            vec![(Prefetch::All, 0)]
        };
        let mut steps: Vec<StepArgument> = Vec::new();
        for (prefetch, before) in wanted {
            area::use_region_of(run, u64::from(current) + regions - before);
            run.arguments.state.streamed.prefetch = prefetch as u32;
            let step = run.arguments.step_of(next, Part::of(far.clone()));
            run.launches.request_lists(&step)?;
            steps.push(step);
        }
        run.arguments.state.round.index = round;
        device.wait_for(Stream::Side, &device.record(Stream::Main)?)?;
        let begin = device.record(Stream::Side)?;
        // `fetch_long` runs once for a region.
        for (step, with_long) in steps.iter().zip([true, false]) {
            run.launches.fetch_beside(step, with_long)?;
        }
        Ok(Coming { current, begin, end: device.record(Stream::Side)? })
    }

    /// Waits for a prefetch for a round that does not take place.
    pub fn finish<D: Device<Event = Event>>(&self, device: &D) -> Result<(), DeviceError> {
        self.coming.as_ref().map_or(Ok(()), |coming| device.wait_for(Stream::Main, &coming.end))
    }
}
