//! Brandes' algorithm for small graphs with long paths: 64 sources at once, in repeated sweeps.
//!
//! ```text
//! on         per arc, the sources for which it is on a shortest path
//! done       per vertex, the sources for which its sum is final; initially the source's own bit
//! a sweep    for each vertex that is not done for all sources:
//!              ready = the sources for which all its predecessors are done
//!              sum  += the predecessors' values, for all ready sources at once; done |= ready
//! σ          sweeps away from the sources, over predecessor lists
//! δ/σ        sweeps towards the sources, over successor lists
//! ```
//!
//! A vertex is rarely at equal distance from two sources, so that a level-by-level engine would add
//! few numbers at a time. But sources on the same side of a vertex reach it through the same
//! neighbours, whatever their distance: after one sweep in each direction most vertices are done.

use super::rows::{AlignedRows, Rows};
use super::sums::Sums;
use super::sweep::{Sources, Sweep};
use crate::search::Mask;
use crate::sides::Sides;
use ripplet_graph::{Neighbors, OutOfMemory, VertexId, memory};

/// Numbers that are added at once: as many as fit into the processor's registers.
const SPAN: usize = 32;
/// The sources of the first span.
const SPAN_OF_SOURCES: Sources = Sources::MAX >> (64 - SPAN);

type Span = [f64; SPAN];

/// Workspace of a thread, with room for a number of vertices and arcs.
pub(super) struct Swept {
    pub sweep: Sweep,
    /// The vertices that are not done for all sources.
    pending: Vec<VertexId>,
    done: Vec<Sources>,
    /// The `dependencies` values of each vertex, (1 + δ) / σ.
    dependencies: AlignedRows,
}

/// Sums that propagate along arcs, from predecessors in the direction of the pass.
trait Flow {
    /// Whether a list is summed from its last vertex to the first.
    const BACK: bool;

    /// Returns the sum at a place so far.
    fn sum(&self, place: usize) -> Span;

    /// Returns the value that a place contributes to others.
    fn give(&self, place: usize) -> &Span;

    /// Stores the sum at a place.
    fn set(&mut self, place: usize, sum: Span);
}

/// Path counts.
struct PathCounts<'a>(&'a mut [Span]);

impl Flow for PathCounts<'_> {
    const BACK: bool = false;

    #[inline(always)]
    fn sum(&self, place: usize) -> Span {
        self.0[place]
    }

    #[inline(always)]
    fn give(&self, place: usize) -> &Span {
        &self.0[place]
    }

    #[inline(always)]
    fn set(&mut self, place: usize, sum: Span) {
        self.0[place] = sum;
    }
}

/// Dependencies.
struct Shares<'a> {
    inverse: &'a [Span],
    share: &'a mut [Span],
    dependencies: &'a mut [Span],
}

impl Flow for Shares<'_> {
    const BACK: bool = true;

    #[inline(always)]
    fn sum(&self, place: usize) -> Span {
        self.share[place]
    }

    #[inline(always)]
    fn give(&self, place: usize) -> &Span {
        &self.dependencies[place]
    }

    #[inline(always)]
    fn set(&mut self, place: usize, sum: Span) {
        let inverse = &self.inverse[place];
        self.share[place] = sum;
        self.dependencies[place] = std::array::from_fn(|lane| inverse[lane] + sum[lane]);
    }
}

impl Swept {
    /// Returns the bytes of a workspace for `vertices` vertices and `arcs` arcs.
    pub fn bytes(vertices: u32, arcs: u64) -> u64 {
        let of_vertex = size_of::<VertexId>() + size_of::<Sources>();
        Sweep::bytes(vertices, arcs)
            + of_vertex as u64 * u64::from(vertices)
            + AlignedRows::bytes(vertices)
    }

    pub fn new(vertices: u32, arcs: u64) -> Result<Swept, OutOfMemory> {
        let count = vertices as usize;
        Ok(Swept {
            sweep: Sweep::new(vertices, arcs)?,
            pending: memory::with_room(count)?,
            done: memory::filled(Sources::NONE, count)?,
            dependencies: AlignedRows::new(vertices)?,
        })
    }

    /// Adds the dependencies of a group of sources, after a search from one of them.
    #[inline(always)]
    pub fn add_group(
        &mut self,
        lists: Sides<Neighbors<'_>>,
        sources: &[VertexId],
        [path_counts, inverse, share]: [&mut AlignedRows; 3],
        sums: &mut impl Sums<Sources>,
    ) {
        let Swept { sweep, pending, done, dependencies } = self;
        sweep.begin(lists, sources, sums);
        let spans = sources.len().div_ceil(SPAN);
        let vertices = lists.vertices() as usize;
        let count = spans * vertices;
        let [path_counts, inverse, share, dependencies] =
            [path_counts, inverse, share, dependencies]
                .map(|numbers| numbers.first(count * SPAN).as_chunks_mut().0);
        let mut run = Run { order: sweep.order(), spans, sources, pending, done };
        path_counts.fill([0.0; SPAN]);
        for (lane, &source) in sources.iter().enumerate() {
            path_counts[source as usize * spans + lane / SPAN][lane % SPAN] = 1.0;
        }
        run.settle(lists.behind, &sweep.behind, PathCounts(path_counts));
        let numbers = inverse.as_flattened_mut().iter_mut().zip(path_counts.as_flattened());
        numbers.for_each(|(inverse, path_counts)| *inverse = 1.0 / path_counts);
        share.fill([0.0; SPAN]);
        run.settle(lists.ahead, &sweep.ahead, Shares { inverse, share, dependencies });
        let [path_counts, inverse, share] =
            [path_counts, inverse, share].map(|spans| spans.as_flattened());
        sums.add_up(lists.behind, Rows { row: spans * SPAN, path_counts, inverse, share });
    }
}

/// The state of the sweeps for a group of sources.
struct Run<'a> {
    order: &'a [VertexId],
    /// The number of spans of a row.
    spans: usize,
    sources: &'a [VertexId],
    pending: &'a mut Vec<VertexId>,
    done: &'a mut [Sources],
}

impl Run<'_> {
    /// Sweeps until all vertices are done. `lists` holds the predecessors; the sources are done
    /// from the start.
    #[inline(always)]
    fn settle<F: Flow>(&mut self, lists: Neighbors<'_>, on: &[Sources], mut flow: F) {
        let Run { order, spans, pending, done, .. } = self;
        let all = Sources::MAX >> (Sources::LANES - self.sources.len() as u32);
        let done = &mut done[..order.len()];
        done.fill(!all);
        for (lane, &source) in (0..).zip(self.sources) {
            done[source as usize] |= Sources::of(lane);
        }
        pending.clear();
        // Reversed, the first sweep goes towards the root, as most paths do.
        pending.extend(order.iter().rev());
        while !pending.is_empty() {
            let mut kept = 0;
            for at in 0..pending.len() {
                let vertex = pending[at];
                let list = lists.of(vertex as usize);
                let begin = lists.offsets()[vertex as usize] as usize;
                let arcs = Arcs { list, on: &on[begin..][..list.len()] };
                let before = done[vertex as usize];
                let ready = arcs.ready(done) & !before;
                pending[kept] = vertex;
                kept += usize::from(before | ready != Sources::MAX);
                if ready == Sources::NONE {
                    continue;
                }
                done[vertex as usize] = before | ready;
                for span in 0..*spans {
                    if ready >> (span * SPAN) & SPAN_OF_SOURCES != Sources::NONE {
                        arcs.add_up(vertex, span, *spans, ready, &mut flow);
                    }
                }
            }
            pending.truncate(kept);
            pending.reverse();
        }
    }
}

/// The arcs of a vertex.
struct Arcs<'a> {
    list: &'a [VertexId],
    /// The sources for which each arc is on a shortest path.
    on: &'a [Sources],
}

impl Arcs<'_> {
    /// Returns the sources for which all predecessors are done.
    #[inline(always)]
    fn ready(&self, done: &[Sources]) -> Sources {
        let arcs = self.list.iter().zip(self.on);
        arcs.fold(!Sources::NONE, |ready, (&from, on)| ready & (done[from as usize] | !on))
    }

    /// Adds the predecessors' values, for some sources.
    #[inline(always)]
    fn add_up<F: Flow>(
        &self,
        vertex: VertexId,
        span: usize,
        spans: usize,
        sources: Sources,
        flow: &mut F,
    ) {
        let place = |vertex: VertexId| vertex as usize * spans + span;
        let mut sum = flow.sum(place(vertex));
        let mut arcs = self.list.iter().zip(self.on);
        while let Some((&from, on)) = if F::BACK { arcs.next_back() } else { arcs.next() } {
            let (on, given) = ((on & sources) >> (span * SPAN), flow.give(place(from)));
            for (lane, (sum, given)) in sum.iter_mut().zip(given).enumerate() {
                let bits = 0u64.wrapping_sub(on >> lane & 1);
                *sum += f64::from_bits(given.to_bits() & bits);
            }
        }
        flow.set(place(vertex), sum);
    }
}
