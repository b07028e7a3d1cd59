//! Split of the lists: which are on the device, and the room for the others.

use super::load::LOAD;
use super::stored::{SLACK, arrays_of, block_of, largest_block, vertex_behind, words_before};
use ripplet_graph::{Direction, GraphView, VertexId};
use std::ops::Range;

/// Words of the staging area for copies by range, if there is room: 128 MiB, a few milliseconds of
/// the bus (`bench/runs/2026-11-22-h200/link.jsonl`).
const BUSY_WORDS: u64 = 32 << 20;
/// The most words of the staging area: places in it have 32 bits, of which two values are reserved.
const LARGEST_STAGE: u64 = u32::MAX as u64 - 1024;

/// How lists in the host's memory reach the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Supply {
    /// Lists are pinned in the host's memory, where kernels read them.
    #[default]
    Pinned,
    /// Lists may be in a file that the host's memory has no room for. The host copies those that
    /// are needed.
    Staged,
}

/// Which lists are on the device, and the room for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    pub supply: Supply,
    /// Bounds of the blocks of the device's vertices.
    pub(super) first: VertexId,
    pub(super) end: VertexId,
    /// Lists of the vertices before this one are on the device.
    pub near_end: VertexId,
    /// Phases whose lists are prefetched together while another phase runs; 0 if lists are fetched
    /// when their phase begins.
    pub ahead: u32,
    /// Words of a region of the staging area, without weights.
    pub region_words: u64,
}

impl Split {
    /// Returns the split that has no list of some vertices on the device, and no room for any.
    pub fn least(graph: GraphView<'_>, part: &Range<VertexId>, ahead: u32) -> Split {
        let first = block_of(graph, part.start).start;
        let end = if part.is_empty() { first } else { block_of(graph, part.end - 1).end };
        Split { supply: Supply::Pinned, first, end, near_end: first, ahead, region_words: 0 }
    }

    /// Returns the split that has no list on the device if the host stages them, with room for the lists of any
    /// block, and for as many words that a phase has at most `parts` parts.
    pub fn least_staged(graph: GraphView<'_>, part: &Range<VertexId>, parts: u32) -> Split {
        let least = Split::least(graph, part, 0);
        let arrays = arrays_of(graph);
        let all = least.words(graph);
        // Two consecutive parts have more words together than one may have.
        let fair = (2 * all).div_ceil((u64::from(parts.max(4)) - 2) * arrays);
        let largest = largest_block(graph, least.first..least.end).div_ceil(arrays);
        let words = (fair.max(largest) + spare_words(graph)).next_multiple_of(64);
        Split { supply: Supply::Staged, region_words: words.min(LARGEST_STAGE), ..least }
    }

    /// Returns the best use of `bytes` bytes if one vertex in `phases` updates at a time.
    pub fn within(self, graph: GraphView<'_>, bytes: u64, phases: u64) -> Split {
        let (regions, arrays) = (self.regions(), arrays_of(graph));
        let (words, all) = (words_within(graph, bytes), self.words(graph));
        let most = (LARGEST_STAGE / regions).saturating_sub(self.region_words) * arrays * regions;
        let (near, stage) = if phases > 1 && self.supply == Supply::Pinned {
            // Room for all lists of a phase comes first, so that none is read over the bus without
            // being staged. The rest is divided so that the staging area suffices for the lists
            // that are then not on the device.
            let share = self.staged_share(graph, phases);
            let near = (words as f64 - share * all as f64) / (1.0 - share).max(f64::EPSILON);
            let near = near.clamp(0.0, words as f64) as u64;
            (near, words - near)
        } else {
            // As much as keeps the bus busy while the vertices of another range update.
            let stage = (words / 4).max(words.min(BUSY_WORDS)).min(all);
            (words - stage, stage)
        };
        let stage = stage.min(most);
        let before = words_before(graph, self.first);
        let near_end = vertex_behind(graph, before + near).clamp(self.first, self.end);
        let region_words = self.region_words + stage / arrays / regions / 64 * 64;
        Split { near_end, region_words, ..self }
    }

    /// Whether `bytes` bytes hold, or nearly hold, the lists that are prefetched together.
    pub fn suits(self, graph: GraphView<'_>, bytes: u64, phases: u64) -> bool {
        let wanted = self.staged_share(graph, phases) * self.words(graph) as f64;
        words_within(graph, bytes) as f64 >= 0.9 * wanted
    }

    /// Returns the words of all lists of the device's vertices, with weights.
    fn words(self, graph: GraphView<'_>) -> u64 {
        words_before(graph, self.end) - words_before(graph, self.first)
    }

    /// Returns the share of the lists that is in the staging area at once if none are on the device
    /// otherwise. Lists, or groups of lists that are prefetched together, are padded to 16 bytes,
    /// by 12 bytes on average. A sixteenth is added, as phases differ in size.
    fn staged_share(self, graph: GraphView<'_>, phases: u64) -> f64 {
        let sides = if graph.direction() == Direction::Directed { 2 } else { 1 };
        let lists = sides * arrays_of(graph) * u64::from(self.end - self.first);
        let all = self.words(graph).max(1) as f64;
        let padded = all + 3.0 * lists as f64 / f64::from(self.ahead.max(1));
        (self.regions() as f64 / phases as f64 * 1.0625 * padded / all).min(1.0)
    }

    /// Sets the words of a region.
    pub fn with_region(self, region_words: u64) -> Split {
        Split { region_words, ..self }
    }

    /// Returns the number of regions of the staging area. Each prefetch has a region, which is kept
    /// until its phases are over.
    pub fn regions(self) -> u64 {
        1 + u64::from(self.ahead)
    }

    /// Sets the lists on the device: those before the block of `v`.
    pub fn until(self, graph: GraphView<'_>, v: VertexId) -> Split {
        Split { near_end: block_of(graph, v).start.clamp(self.first, self.end), ..self }
    }

    /// Returns the parts of the vertices whose lists the host stages; the lists of each fit the
    /// staging area.
    pub fn staged_parts(self, graph: GraphView<'_>) -> Vec<Range<VertexId>> {
        self.parts(graph, self.region_words - spare_words(graph))
    }

    /// Returns the parts of the vertices whose lists are not on the device: at most `words` words
    /// each, without weights, unless a single block has more.
    pub fn parts(self, graph: GraphView<'_>, words: u64) -> Vec<Range<VertexId>> {
        let (mut parts, most) = (Vec::new(), words * arrays_of(graph));
        let mut at = self.near_end;
        while at < self.end {
            let fits = vertex_behind(graph, words_before(graph, at).saturating_add(most));
            let next = if fits > at { fits.min(self.end) } else { block_of(graph, at).end };
            parts.push(at..next);
            at = next;
        }
        parts
    }
}

/// Returns the words of lists that fit `bytes` bytes, beside the padding between arrays.
fn words_within(graph: GraphView<'_>, bytes: u64) -> u64 {
    (bytes / 4).saturating_sub(graph.shards() as u64 * 4 * (64 + SLACK) + 256)
}

/// Returns the words that a part's lists may need beyond their own: for each load, the word behind
/// its last list.
fn spare_words(graph: GraphView<'_>) -> u64 {
    let loads = graph.shards() as u64 + u64::from(graph.vertices()) / LOAD as u64;
    2 * loads * SLACK + 64
}
