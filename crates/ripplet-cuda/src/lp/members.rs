//! The members of a phase on a device: lists by degree class, and records of large vertices.

use super::classes::Classes;
use super::state::{BEST_BYTES, LARGE_BYTES, LISTED, LargeVertices, MemberLists, SLOT_BYTES};
use super::tuning::{PIECE_SLOTS, SLICES, Tuning};
use ripplet_gpu::Address;
use ripplet_gpu::Arena;
use ripplet_lp::{Settings, Sketch};
use std::ops::Range;

/// Byte ranges of the member lists and of the labels that members choose.
#[derive(Clone, Debug, Default)]
pub struct MemberPlaces {
    /// By class, room for as many members as a phase may have. Two classes share an array, from its
    /// front and from its end.
    of_class: [Range<u64>; LISTED],
    chosen: Range<u64>,
}

/// Room for the labels that members choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choices {
    /// Choices are committed at once, and need no room.
    InPlace,
    /// A choice for each member.
    Packed,
    /// A choice for each entry of the member lists, at the same index.
    AsMembers,
}

impl MemberPlaces {
    /// Allocates lists for vertices of these classes, if at most `at_once` update in one phase.
    pub fn new(to: &mut Arena, classes: &Classes, at_once: u64, choices: Choices) -> MemberPlaces {
        let mut places = MemberPlaces::default();
        let [listed @ .., _] = classes.vertices;
        for pair in (0..LISTED).step_by(2) {
            let [front, back] = [listed[pair], listed[pair + 1]];
            let list = to.take(4, (front + back).min(at_once));
            places.of_class[pair] = list.start..list.start + 4 * front.min(at_once);
            places.of_class[pair + 1] = list.end - 4 * back.min(at_once)..list.end;
        }
        let choices = match choices {
            Choices::InPlace => 0,
            Choices::Packed => listed.iter().sum::<u64>().min(at_once),
            Choices::AsMembers => {
                let [.., front, back] = &places.of_class;
                (back.end.max(front.end) - places.of_class[0].start) / 4
            }
        };
        places.chosen = to.take(4, choices);
        places
    }

    /// Returns the most members that some classes may have in a phase.
    pub fn most(&self, classes: Range<usize>) -> u64 {
        self.of_class[classes].iter().map(|list| (list.end - list.start) / 4).sum()
    }

    /// Returns the address of the first list.
    pub fn first(&self, base: Address) -> Address {
        base.plus(self.of_class[0].start)
    }

    /// Returns the addresses, in memory that begins at `base`.
    pub fn state(&self, base: Address) -> MemberLists {
        MemberLists {
            of_class: std::array::from_fn(|class| {
                let list = &self.of_class[class];
                base.plus(if class % 2 == 0 { list.start } else { list.end })
            }),
            chosen: base.plus(self.chosen.start),
            ..MemberLists::default()
        }
    }
}

/// Byte ranges of the large vertices' records, pieces and tables.
#[derive(Clone, Debug, Default)]
pub struct LargePlaces {
    records: Range<u64>,
    pieces: Range<u64>,
    pub open_pieces: Range<u64>,
    found: Range<u64>,
    /// Tables in global memory, which are clear before the first phase.
    pub tables: Range<u64>,
    sketched_labels: Range<u64>,
    sketched_weights: Range<u64>,
    /// Pieces whose tables exist at once.
    room: u32,
}

impl LargePlaces {
    /// Allocates room for all large vertices.
    pub fn new(
        to: &mut Arena,
        classes: &Classes,
        settings: &Settings,
        tuning: &Tuning,
    ) -> LargePlaces {
        let sketch = settings.counter.sketch();
        let room = match sketch {
            None => {
                classes.pieces_of_largest.max(classes.pieces.min(tuning.table_slots / PIECE_SLOTS))
            }
            Some(_) => 0,
        };
        // Two batches in a row together hold more than `room` pieces, so that at most as many entries are left free.
        let listed = if room > 0 { 2 * classes.pieces } else { 0 };
        let sketched = classes.pieces * u64::from(sketch.map_or(0, Sketch::slots));
        LargePlaces {
            records: to.take(LARGE_BYTES, classes.vertices[LISTED]),
            pieces: to.take(8, classes.pieces),
            open_pieces: to.take(8, listed),
            found: to.take(BEST_BYTES, SLICES * classes.pieces),
            tables: to.take(SLOT_BYTES, room * PIECE_SLOTS),
            sketched_labels: to.take(4, sketched),
            sketched_weights: to.take(8, sketched),
            room: room as u32,
        }
    }

    /// Whether there are no large vertices.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the addresses, in memory that begins at `base`.
    pub fn state(&self, base: Address) -> LargeVertices {
        let at = |place: &Range<u64>| base.plus(place.start);
        LargeVertices {
            records: at(&self.records),
            pieces: at(&self.pieces),
            open_pieces: at(&self.open_pieces),
            found: at(&self.found),
            tables: at(&self.tables),
            sketched_labels: at(&self.sketched_labels),
            sketched_weights: at(&self.sketched_weights),
            room: self.room,
            ..LargeVertices::default()
        }
    }
}
