//! Brandes' algorithm for small graphs with short paths: 64 sources at once, and a list of all
//! additions.
//!
//! ```text
//! search       from 64 sources; for each source with a shortest path to v through u, append a link (u, v)
//! σ            for each link, in order:      σ(to) += σ(from)
//! share δ/σ    for each link, in reverse:    share(from) += 1 / σ(to) + share(to)
//! ```
//!
//! Links are ordered by level, then by target, so that each pass reads finished values. The passes
//! have no branches: this is why they are faster than testing every arc for every source.

use super::distinct::distinct;
use super::rows::{AlignedRows, Rows};
use super::sums::Sums;
use super::sweep::Sources;
use crate::pairwise::EIGHT;
use crate::search::{Mask, Search, Visit, bytes_of_search};
use crate::sides::Sides;
use ripplet_graph::{Neighbors, OutOfMemory, VertexId, memory};

/// Workspace of a thread, with room for a number of vertices and arcs.
pub(super) struct Linked {
    search: Search<Sources>,
    links: Links,
}

/// Additions: pairs of places in the rows, from source to target.
struct Links {
    /// The number of links in use; `list` has its full capacity.
    len: usize,
    list: Vec<Link>,
}

/// Both places packed into one number, so that a link is one store.
#[derive(Clone, Copy)]
struct Link(u64);

impl Link {
    #[inline(always)]
    fn new(from: u32, to: u32) -> Link {
        Link(u64::from(from) << 32 | u64::from(to))
    }

    /// Returns the link `lane` places further in both rows.
    #[inline(always)]
    fn lane(self, lane: u32) -> Link {
        Link(self.0.wrapping_add(u64::from(lane) * (1 << 32 | 1)))
    }

    #[inline(always)]
    fn from(self) -> usize {
        (self.0 >> 32) as usize
    }

    #[inline(always)]
    fn to(self) -> usize {
        self.0 as u32 as usize
    }
}

/// The number of links that are written unconditionally; the next call overwrites the surplus.
const AT_ONCE: usize = 4;

impl Links {
    /// Appends a link for each of some sources, from one row to another.
    #[inline(always)]
    fn add(&mut self, link: Link, mut sources: Sources) {
        let count = sources.count_ones() as usize;
        // Writing the usual number of links, valid or not, is cheaper than a branch for each.
        let Some(slots) = self.list[self.len..].first_chunk_mut::<AT_ONCE>() else { return };
        for slot in slots {
            *slot = link.lane(sources.first());
            sources = sources.rest();
        }
        let mut at = self.len + AT_ONCE;
        while sources != 0 {
            self.list[at] = link.lane(sources.first());
            sources = sources.rest();
            at += 1;
        }
        self.len += count;
    }
}

/// The visitor that appends links.
struct Find<'a, S> {
    links: &'a mut Links,
    sums: &'a mut S,
    behind: Neighbors<'a>,
    row: u32,
    /// The begin of the second level's links; the links before it come from sources.
    second: usize,
}

impl<S: Sums<Sources>> Visit<Sources> for Find<'_, S> {
    const IN_ORDER: bool = true;

    #[inline(always)]
    fn arrive(&mut self, step: u32, vertex: VertexId, sources: Sources, here: &[Sources]) {
        if step == 0 {
            return;
        }
        let to = vertex * self.row;
        for (at, from) in distinct(self.behind.of(vertex as usize).iter().copied().enumerate()) {
            let (link, both) = (Link::new(from * self.row, to), sources & here[from as usize]);
            self.links.add(link, both);
            self.sums.mark(vertex, at, both);
        }
        if step == 1 {
            self.second = self.links.len;
        }
    }
}

impl Linked {
    /// Returns the bytes of a workspace for `vertices` vertices and `arcs` arcs.
    pub fn bytes(vertices: u32, arcs: u64) -> u64 {
        let links = arcs * u64::from(Sources::LANES) + AT_ONCE as u64;
        bytes_of_search::<Sources>(vertices) + links * size_of::<Link>() as u64
    }

    pub fn new(vertices: u32, arcs: u64) -> Result<Linked, OutOfMemory> {
        // Each source has at most one link per arc.
        let links = arcs as usize * Sources::LANES as usize + AT_ONCE;
        Ok(Linked {
            search: Search::new(vertices)?,
            links: Links { len: 0, list: memory::filled(Link(0), links)? },
        })
    }

    /// Adds the dependencies of a group of sources.
    #[inline(always)]
    pub fn add_group(
        &mut self,
        lists: Sides<Neighbors<'_>>,
        sources: &[VertexId],
        rows: [&mut AlignedRows; 3],
        sums: &mut impl Sums<Sources>,
    ) {
        let Linked { search, links } = self;
        let row = sources.len().next_multiple_of(EIGHT);
        let numbers = row * lists.vertices() as usize;
        let [path_counts, inverse, share] = rows.map(|rows| rows.first(numbers));
        links.len = 0;
        path_counts.fill(0.0);
        for (lane, &source) in sources.iter().enumerate() {
            path_counts[source as usize * row + lane] = 1.0;
        }
        let behind = lists.behind;
        let mut find = Find { links, sums, behind, row: row as u32, second: 0 };
        search.run(lists, sources, &mut find);
        let second = find.second;
        let links = &links.list[..links.len];
        for link in links {
            path_counts[link.to()] += path_counts[link.from()];
        }
        inverse
            .iter_mut()
            .zip(&*path_counts)
            .for_each(|(inverse, path_counts)| *inverse = 1.0 / path_counts);
        share.fill(0.0);
        // The links of the first level are left out: no path passes through its own source.
        for link in links[second..].iter().rev() {
            share[link.from()] += inverse[link.to()] + share[link.to()];
        }
        sums.add_up(behind, Rows { row, path_counts, inverse, share });
    }
}
