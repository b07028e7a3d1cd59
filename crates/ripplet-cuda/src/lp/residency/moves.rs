//! Record of the transfers of lists: bytes and seconds of each round.

use super::super::state::Tallies;
use ripplet_gpu::{Device, DeviceError};
use ripplet_lp::ListsMoved;

/// Events around a transfer of lists, and the event at which the transfer was waited for.
pub struct Transfer<Event> {
    pub begin: Event,
    pub end: Event,
    /// `None` if the transfer was waited for from its beginning.
    pub wanted: Option<Event>,
}

/// The transfers of the current round, and what each round before it moved.
pub struct Moves<Event> {
    pub transfers: Vec<Transfer<Event>>,
    /// Words that the host or the copy engine copied in this round, and words that did not fit.
    pub copied_words: u64,
    pub left_out_words: u64,
    /// Bytes and seconds of the transfers of each round.
    pub rounds: Vec<ListsMoved>,
}

impl<Event> Moves<Event> {
    /// Returns the record before the first round.
    pub fn new() -> Moves<Event> {
        Moves { transfers: Vec::new(), copied_words: 0, left_out_words: 0, rounds: Vec::new() }
    }

    /// Records what a round moved, from the counters before and after it.
    pub fn end_round<D: Device<Event = Event>>(
        &mut self,
        device: &D,
        before: &Tallies,
        now: &Tallies,
    ) -> Result<(), DeviceError> {
        let copied = std::mem::take(&mut self.copied_words);
        let left_out = std::mem::take(&mut self.left_out_words);
        let mut moved = ListsMoved {
            fetched: 4 * (now.fetched - before.fetched + copied),
            unstaged: 4 * (now.unstaged - before.unstaged + left_out),
            ..ListsMoved::default()
        };
        for Transfer { begin, end, wanted } in self.transfers.drain(..) {
            let seconds = device.seconds_between(&begin, &end)?;
            moved.fetching += seconds;
            moved.waiting += device
                .seconds_between(wanted.as_ref().unwrap_or(&begin), &end)?
                .clamp(0.0, seconds);
        }
        self.rounds.push(moved);
        Ok(())
    }
}
