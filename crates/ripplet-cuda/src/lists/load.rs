//! Loads: lists that one thread of the host copies to the staging area.

use super::stored::{Stored, StoredShard};
use rayon::prelude::*;
use ripplet_gpu::DeviceError;
use ripplet_graph::{GraphView, VertexId, memory};
use std::ops::Range;

/// Vertices of a load.
pub(super) const LOAD: usize = 2048;

/// Words, and lists, that the host copies to the device together.
pub(crate) const STAGING_WORDS: usize = 4 << 20;
pub(crate) const STAGING_LISTS: usize = 1 << 20;
/// Bytes of the host's buffers: words and weights, then places of lists and requests.
pub(crate) const STAGING_BUFFER_BYTES: u64 =
    2 * 4 * STAGING_WORDS as u64 + 2 * 4 * STAGING_LISTS as u64;

/// Lists of one direction that one thread copies to the staging area.
pub(crate) struct Load<'a, 'v> {
    stored: Stored<'a>,
    /// The shard's first vertex.
    first: VertexId,
    vertices: &'v [VertexId],
    /// Words of all lists; words shared by several lists are counted once.
    pub words: u64,
}

impl<'a, 'v> Load<'a, 'v> {
    /// Divides the lists of some vertices, in ascending order, into loads.
    pub fn all(graph: GraphView<'a>, side: usize, vertices: &'v [VertexId]) -> Vec<Load<'a, 'v>> {
        let of_shard = |shard: StoredShard<'a>| {
            let stored = shard.lists[side]?;
            let Range { start, end } = shard.vertices;
            let [from, to] = [start, end].map(|bound| vertices.partition_point(|&v| v < bound));
            let load = move |vertices| {
                let load = Load { stored, first: start, vertices, words: 0 };
                Load { words: load.visit(|_, _| {}, |_, _| {}), ..load }
            };
            Some(vertices[from..to].par_chunks(LOAD).map(load).collect::<Vec<_>>())
        };
        StoredShard::all(graph).filter_map(of_shard).flatten().collect()
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Returns the arrays of the lists: words, and weights of plain lists with weights.
    pub fn arrays(&self) -> impl Iterator<Item = &'a [u32]> {
        [Some(self.stored.words()), self.stored.weights()].into_iter().flatten()
    }

    /// Writes the place of each list in the staging area, if the first is at `at`.
    pub fn place(&self, at: u64, places: &mut [u32]) {
        self.visit(|number, word| places[number] = (at + word) as u32, |_, _| {});
    }

    /// Calls `stretch` with each contiguous range of words, and the number of words before it.
    pub fn each_stretch(&self, stretch: impl FnMut(Range<usize>, u64)) {
        self.visit(|_, _| {}, stretch);
    }

    /// Calls `list` with the place of each list, and `stretch` with each contiguous range; returns
    /// the number of words.
    fn visit(
        &self,
        mut list: impl FnMut(usize, u64),
        mut stretch: impl FnMut(Range<usize>, u64),
    ) -> u64 {
        let (mut words, mut open, mut place) = (0, 0..0, 0);
        for (number, &v) in self.vertices.iter().enumerate() {
            let its = self.stored.words_of((v - self.first) as usize);
            if !(open.start..=open.end).contains(&its.start) {
                stretch(open.start as usize..open.end as usize, place);
                (open, place) = (its.start..its.start, words);
            }
            words += its.end.saturating_sub(open.end);
            open.end = open.end.max(its.end);
            list(number, place + (its.start - open.start));
        }
        stretch(open.start as usize..open.end as usize, place);
        words
    }
}

/// Returns the error for memory that the host refuses.
pub(crate) fn refused(what: &str, error: memory::OutOfMemory) -> DeviceError {
    DeviceError::Failed { what: what.to_owned(), reason: error.to_string() }
}
