//! Brandes' algorithm for large graphs: eight sources at once, level by level.

use super::once;
use super::sums::{Rows, Sums};
use crate::lists::{Lists, Sides};
use crate::pairwise::EIGHT;
use crate::run::go_on;
use crate::search::{Mask, Search, Visit, bytes_of_search};
use crate::{Observer, RunError};
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// A set of sources that one search starts from: a bit each.
pub(super) type Sources = u8;

/// Workspace of a thread, with room for a number of vertices and arcs.
///
/// A row holds one number per source of the search.
pub(super) struct Levelled<S> {
    search: Search<Sources>,
    levels: Levels,
    /// The sources that have a vertex in the level next to the current one; none between searches.
    beside: Vec<Sources>,
    /// Rows: the number of shortest paths σ from each source. It is a float, as in the literature
    /// and in other libraries: it does not overflow.
    path_counts: Vec<f64>,
    /// Rows: 1 / σ.
    inverse: Vec<f64>,
    /// Rows: δ / σ, accumulated from the successors.
    share: Vec<f64>,
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
    /// Returns the bytes of a workspace for `vertices` vertices and `arcs` arcs.
    pub fn bytes(vertices: u32, arcs: u64) -> u64 {
        let of_lane = size_of::<(VertexId, Sources)>() + 3 * size_of::<f64>();
        let of_vertex = Sources::LANES as usize * of_lane + 8 + size_of::<Sources>();
        let of_vertices = of_vertex as u64 * u64::from(vertices);
        bytes_of_search::<Sources>(vertices) + of_vertices + S::bytes(vertices, arcs)
    }

    pub fn new(vertices: u32, arcs: u64) -> Result<Levelled<S>, OutOfMemory> {
        let count = vertices as usize;
        let numbers = count.saturating_mul(Sources::LANES as usize);
        Ok(Levelled {
            search: Search::new(vertices)?,
            levels: Levels {
                found: memory::with_room(numbers)?,
                begins: memory::with_room(count)?,
            },
            beside: memory::filled(Sources::NONE, count)?,
            path_counts: memory::zeros(numbers)?,
            inverse: memory::zeros(numbers)?,
            share: memory::zeros(numbers)?,
            sums: S::new(vertices, arcs)?,
        })
    }

    /// Sums up the dependencies of a group of sources.
    pub fn add_group<L: Lists>(
        &mut self,
        lists: Sides<L>,
        sources: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        self.sums.clear(lists.behind);
        let end = sources.end;
        for first in sources.step_by(Sources::LANES as usize) {
            go_on(observer)?;
            self.add(lists, first..end.min(first.saturating_add(Sources::LANES)));
        }
        Ok(())
    }

    /// Adds the dependencies of up to eight sources.
    fn add<L: Lists>(&mut self, lists: Sides<L>, sources: Range<VertexId>) {
        let row = sources.len().next_multiple_of(EIGHT);
        let numbers = row * lists.vertices() as usize;
        self.levels.found.clear();
        self.levels.begins.clear();
        self.search.run(lists, sources, &mut self.levels);
        self.count_paths(lists.behind, row, numbers);
        self.share_out(lists.ahead, row, numbers);
        let [path_counts, inverse, share] =
            [&self.path_counts, &self.inverse, &self.share].map(|rows| &rows[..numbers]);
        self.sums.add_up(lists.behind, Rows { row, path_counts, inverse, share });
    }

    /// Counts the shortest paths to all vertices, level by level.
    fn count_paths<L: Lists>(&mut self, behind: L, row: usize, numbers: usize) {
        let Levelled { levels, beside, path_counts, inverse, sums, .. } = self;
        path_counts[..numbers].fill(0.0);
        for &(source, lane) in levels.level(0) {
            path_counts[source as usize * row + lane.first() as usize] = 1.0;
        }
        for level in 1..levels.begins.len() {
            enter(beside, levels.level(level - 1));
            for &(vertex, sources) in levels.level(level) {
                let to = vertex as usize * row;
                for (at, from) in once(behind.of(vertex).iter().enumerate()) {
                    let mut both = sources & beside[from as usize];
                    sums.mark(|| behind.begin(vertex) + at, both);
                    while both != Sources::NONE {
                        let lane = both.first() as usize;
                        path_counts[to + lane] += path_counts[from as usize * row + lane];
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
    fn share_out<L: Lists>(&mut self, ahead: L, row: usize, numbers: usize) {
        let Levelled { levels, beside, inverse, share, .. } = self;
        share[..numbers].fill(0.0);
        // Level 0 is left out: no path passes through its own source.
        for level in (1..levels.begins.len()).rev() {
            enter(beside, levels.level(level + 1));
            for &(vertex, sources) in levels.level(level) {
                let to = vertex as usize * row;
                for (_, from) in once(ahead.of(vertex).iter().enumerate().rev()) {
                    let mut both = sources & beside[from as usize];
                    while both != Sources::NONE {
                        let lane = both.first() as usize;
                        let at = from as usize * row + lane;
                        share[to + lane] += inverse[at] + share[at];
                        both = both.rest();
                    }
                }
            }
            leave(beside, levels.level(level + 1));
        }
    }
}

fn enter(beside: &mut [Sources], level: &[(VertexId, Sources)]) {
    level.iter().for_each(|&(vertex, sources)| beside[vertex as usize] = sources);
}

fn leave(beside: &mut [Sources], level: &[(VertexId, Sources)]) {
    level.iter().for_each(|&(vertex, _)| beside[vertex as usize] = Sources::NONE);
}
