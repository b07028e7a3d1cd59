//! Brandes' algorithm for large graphs: eight sources at once, level by level.

use super::distinct::distinct;
use super::rows::EightRows;
use super::sums::Sums;
use crate::AnalysisError;
use crate::pairwise::EIGHT;
use crate::run::go_on;
use crate::search::{Mask, Search, Visit, bytes_of_search};
use crate::sides::Sides;
use ripplet_graph::storage::{Decoded, NeighborLists};
use ripplet_graph::{Observer, OutOfMemory, VertexId, memory};

/// A set of sources that one search starts from: a bit each.
pub(super) type Sources = u8;

/// Workspace of a thread, with room for a number of vertices and arcs.
pub(super) struct Levelled<S> {
    search: Search<Sources>,
    levels: Levels,
    /// The sources that have a vertex in the level next to the current one; none between searches.
    beside: Vec<Sources>,
    rows: EightRows,
    /// A decoded list, which the backward pass reads from its end.
    decoded: Decoded,
    pub sums: S,
}

/// The vertices of each level with the sources that reach them; vertices ascend within a level.
struct Levels {
    found: Vec<(VertexId, Sources)>,
    /// The begin of each level in `found`.
    begins: Vec<usize>,
}

impl Visit<Sources> for Levels {
    const IN_ORDER: bool = true;

    #[inline]
    fn arrive(&mut self, step: u32, vertex: VertexId, sources: Sources, _here: &[Sources]) {
        if self.begins.len() == step as usize {
            self.begins.push(self.found.len());
        }
        self.found.push((vertex, sources));
    }
}

impl Levels {
    /// Returns a level, counted from 0; levels past the last are empty.
    fn level(&self, level: usize) -> &[(VertexId, Sources)] {
        let begin = |level| self.begins.get(level).copied().unwrap_or(self.found.len());
        &self.found[begin(level)..begin(level + 1)]
    }
}

impl<S: Sums<Sources>> Levelled<S> {
    /// Returns the bytes of a workspace for `vertices` vertices, `arcs` arcs, and decoded lists of
    /// `longest_decoded` arcs.
    pub fn bytes(vertices: u32, arcs: u64, longest_decoded: usize) -> u64 {
        let found = Sources::LANES as usize * size_of::<(VertexId, Sources)>();
        let of_vertex = found + 8 + size_of::<Sources>();
        bytes_of_search::<Sources>(vertices)
            + of_vertex as u64 * u64::from(vertices)
            + EightRows::bytes(vertices)
            + Decoded::bytes(longest_decoded, false)
            + S::bytes(vertices, arcs)
    }

    pub fn new(
        vertices: u32,
        arcs: u64,
        longest_decoded: usize,
    ) -> Result<Levelled<S>, OutOfMemory> {
        let count = vertices as usize;
        Ok(Levelled {
            search: Search::new(vertices)?,
            levels: Levels {
                found: memory::with_room(count.saturating_mul(Sources::LANES as usize))?,
                begins: memory::with_room(count)?,
            },
            beside: memory::filled(Sources::NONE, count)?,
            rows: EightRows::new(vertices)?,
            decoded: Decoded::new(longest_decoded, false)?,
            sums: S::new(vertices, arcs)?,
        })
    }

    /// Sums up the dependencies of a group of sources.
    pub fn add_group<L: NeighborLists>(
        &mut self,
        lists: Sides<L>,
        sources: &[VertexId],
        observer: &dyn Observer,
    ) -> Result<(), AnalysisError> {
        self.sums.clear(lists.behind);
        for eight in sources.chunks(Sources::LANES as usize) {
            go_on(observer)?;
            self.add(lists, eight);
        }
        Ok(())
    }

    /// Adds the dependencies of up to eight sources.
    fn add<L: NeighborLists>(&mut self, lists: Sides<L>, sources: &[VertexId]) {
        self.levels.found.clear();
        self.levels.begins.clear();
        self.search.run(lists, sources, &mut self.levels);
        self.count_paths(lists.behind);
        self.share_out(lists.ahead);
        self.sums.add_up(lists.behind, self.rows.first(lists.vertices()));
    }

    /// Counts the shortest paths to all vertices, level by level.
    fn count_paths<L: NeighborLists>(&mut self, behind: L) {
        let Levelled { levels, beside, rows, sums, .. } = self;
        let EightRows { path_counts, inverse, .. } = rows;
        let numbers = EIGHT * behind.vertices();
        path_counts[..numbers].fill(0.0);
        for &(source, lane) in levels.level(0) {
            path_counts[source as usize * EIGHT + lane.first() as usize] = 1.0;
        }
        for level in 1..levels.begins.len() {
            enter(beside, levels.level(level - 1));
            for &(vertex, sources) in levels.level(level) {
                let to = vertex as usize * EIGHT;
                for (at, from) in distinct(behind.each_of(vertex as usize).enumerate()) {
                    let mut both = sources & beside[from as usize];
                    sums.mark(vertex, at, both);
                    while both != Sources::NONE {
                        let lane = both.first() as usize;
                        path_counts[to + lane] += path_counts[from as usize * EIGHT + lane];
                        both = both.rest();
                    }
                }
            }
            leave(beside, levels.level(level - 1));
        }
        let rows = inverse[..numbers].iter_mut().zip(&path_counts[..numbers]);
        rows.for_each(|(inverse, path_counts)| *inverse = 1.0 / path_counts);
    }

    /// Accumulates dependencies from the farthest level to the first.
    fn share_out<L: NeighborLists>(&mut self, ahead: L) {
        let Levelled { levels, beside, rows, decoded, .. } = self;
        let EightRows { inverse, share, .. } = rows;
        share[..EIGHT * ahead.vertices()].fill(0.0);
        // Level 0 is left out: no path passes through its own source.
        for level in (1..levels.begins.len()).rev() {
            enter(beside, levels.level(level + 1));
            for &(vertex, sources) in levels.level(level) {
                let to = vertex as usize * EIGHT;
                let successors = ahead.slice_of(vertex as usize, decoded).iter().copied();
                for (_, from) in distinct(successors.enumerate().rev()) {
                    let mut both = sources & beside[from as usize];
                    while both != Sources::NONE {
                        let lane = both.first() as usize;
                        let at = from as usize * EIGHT + lane;
                        share[to + lane] += inverse[at] + share[at];
                        both = both.rest();
                    }
                }
            }
            leave(beside, levels.level(level + 1));
        }
    }
}

/// Stores the sources of a level's vertices.
fn enter(beside: &mut [Sources], level: &[(VertexId, Sources)]) {
    level.iter().for_each(|&(vertex, sources)| beside[vertex as usize] = sources);
}

/// Clears what [`enter`] stored.
fn leave(beside: &mut [Sources], level: &[(VertexId, Sources)]) {
    level.iter().for_each(|&(vertex, _)| beside[vertex as usize] = Sources::NONE);
}
