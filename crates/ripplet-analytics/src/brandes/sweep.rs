//! What sweeps over small graphs need: an order of the vertices, distances from 64 sources, and which arcs are on
//! shortest ways.
//!
//! In the order of a breadth-first search most ways come nearer to its root, then go away from it. Sweeps over
//! it, back and forth, therefore settle most vertices at once, and all of them sooner or later, in any order.

use super::once;
use super::sums::Sums;
use crate::lists::{Lists, Sides};
use crate::search::Mask;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// A set of sources that are searched from at once.
pub(super) type Sources = u64;

const LANES: usize = Sources::LANES as usize;

/// How far a vertex is from each source, in arcs.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Distances([u16; LANES]);

/// Where there is no way: farther than all there are, and one more is no overflow.
const NOWHERE: u16 = 1 << 15;

/// What a thread keeps, with room for so many vertices and arcs or more.
pub(super) struct Sweep {
    /// The vertices as a search finds them that goes along arcs, then against them, too.
    order: Vec<VertexId>,
    /// Whether a vertex has news for those ahead.
    news: Vec<bool>,
    distances: Vec<Distances>,
    /// The sources from which an arc of the lists behind, and of those ahead, is on shortest ways. Of repeated
    /// ones the first has them.
    pub behind: Vec<Sources>,
    pub ahead: Vec<Sources>,
}

impl Sweep {
    /// Bytes of one with room for so many vertices and arcs.
    pub fn bytes(vertices: u32, arcs: u64) -> u64 {
        let of_vertex = size_of::<VertexId>() + size_of::<bool>() + size_of::<Distances>();
        of_vertex as u64 * u64::from(vertices) + 2 * size_of::<Sources>() as u64 * arcs
    }

    /// For no more vertices than distances are told apart.
    pub fn new(vertices: u32, arcs: u64) -> Result<Sweep, OutOfMemory> {
        let (vertices, arcs) = (vertices as usize, arcs as usize);
        Ok(Sweep {
            order: memory::with_room(vertices)?,
            news: memory::filled(false, vertices)?,
            distances: memory::filled(Distances([NOWHERE; LANES]), vertices)?,
            behind: memory::filled(Sources::NONE, arcs)?,
            ahead: memory::filled(Sources::NONE, arcs)?,
        })
    }

    /// The vertices in an order to sweep over.
    pub fn order(&self) -> &[VertexId] {
        &self.order
    }

    /// Begins the order with the vertices that a search from one finds along arcs; how many arcs the last is away.
    #[inline(always)]
    pub fn search<L: Lists>(&mut self, ahead: L, source: VertexId) -> usize {
        let Sweep { order, news: found, .. } = self;
        let found = &mut found[..ahead.vertices() as usize];
        found.fill(false);
        order.clear();
        find(order, found, &[source]);
        let (mut next, mut depth) = (0, 0);
        // Of dense graphs most lists tell nothing new.
        while next < order.len() && order.len() < found.len() {
            let level = next..order.len();
            next = level.end;
            for at in level {
                find(order, found, ahead.of(order[at]));
            }
            depth += usize::from(next < order.len());
        }
        depth
    }

    /// Prepares for sources, after a search from one.
    #[inline(always)]
    pub fn begin<L: Lists>(
        &mut self,
        lists: Sides<L>,
        sources: Range<VertexId>,
        sums: &mut impl Sums<Sources>,
    ) {
        self.arrange(lists);
        self.measure(lists, sources);
        self.compare(lists, sums);
    }

    /// Completes the order.
    #[inline(always)]
    fn arrange<L: Lists>(&mut self, lists: Sides<L>) {
        let Sweep { order, news: found, .. } = self;
        let found = &mut found[..lists.vertices() as usize];
        let first = order.first().copied().unwrap_or_default();
        // On an undirected graph the search has been along all arcs.
        let undirected = std::ptr::eq(lists.ahead.of(first), lists.behind.of(first));
        let mut next = if undirected { order.len() } else { 0 };
        for root in 0..lists.vertices() {
            while let Some(&vertex) = order.get(next) {
                find(order, found, lists.ahead.of(vertex));
                if !undirected {
                    find(order, found, lists.behind.of(vertex));
                }
                next += 1;
            }
            find(order, found, &[root]);
        }
    }

    /// Finds the distances: who is nearer to a source than it was tells those ahead.
    #[inline(always)]
    fn measure<L: Lists>(&mut self, lists: Sides<L>, sources: Range<VertexId>) {
        let vertices = lists.vertices() as usize;
        let (order, news) = (&self.order[..vertices], &mut self.news[..vertices]);
        let distances = &mut self.distances[..vertices];
        distances.fill(Distances([NOWHERE; LANES]));
        news.fill(false);
        for (lane, source) in sources.enumerate() {
            distances[source as usize].0[lane] = 0;
            news[source as usize] = true;
        }
        let mut back = true;
        loop {
            let mut any = false;
            for at in 0..vertices {
                let vertex = order[if back { vertices - 1 - at } else { at }];
                if std::mem::take(&mut news[vertex as usize]) {
                    any = true;
                    let there = distances[vertex as usize].0.map(|distance| distance + 1);
                    for &to in lists.ahead.of(vertex) {
                        news[to as usize] |= distances[to as usize].approach(&there);
                    }
                }
            }
            if !any {
                return;
            }
            back = !back;
        }
    }

    /// Finds the arcs on shortest ways.
    #[inline(always)]
    fn compare<L: Lists>(&mut self, lists: Sides<L>, sums: &mut impl Sums<Sources>) {
        let Sweep { distances, behind, ahead, .. } = self;
        behind[..lists.behind.arcs() as usize].fill(Sources::NONE);
        ahead[..lists.ahead.arcs() as usize].fill(Sources::NONE);
        for vertex in 0..lists.vertices() {
            let here = distances[vertex as usize];
            let begin = lists.behind.begin(vertex);
            for (at, from) in once(lists.behind.of(vertex).iter().enumerate()) {
                let sources = distances[from as usize].lead_to(&here);
                behind[begin + at] = sources;
                sums.mark(|| begin + at, sources);
            }
            let begin = lists.ahead.begin(vertex);
            for (at, to) in once(lists.ahead.of(vertex).iter().enumerate()) {
                ahead[begin + at] = here.lead_to(&distances[to as usize]);
            }
        }
    }
}

/// Appends those vertices that were not found before.
#[inline(always)]
fn find(order: &mut Vec<VertexId>, found: &mut [bool], vertices: &[VertexId]) {
    for &vertex in vertices {
        if !std::mem::replace(&mut found[vertex as usize], true) {
            order.push(vertex);
        }
    }
}

impl Distances {
    /// Whether a way through a neighbour is shorter than those known from any source, which it replaces.
    #[inline(always)]
    fn approach(&mut self, through: &[u16; LANES]) -> bool {
        let mut changed = 0;
        for (known, through) in self.0.iter_mut().zip(through) {
            let least = *through.min(known);
            changed |= least ^ *known;
            *known = least;
        }
        changed != 0
    }

    /// The sources from which a neighbour ahead is one arc farther.
    #[inline(always)]
    fn lead_to(&self, ahead: &Distances) -> Sources {
        let mut sources = Sources::NONE;
        for (lane, (here, ahead)) in self.0.iter().zip(&ahead.0).enumerate() {
            sources |= Sources::from(here + 1 == *ahead) << lane;
        }
        sources
    }
}
