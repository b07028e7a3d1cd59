//! Small graphs: 64 sources at once, and a list of all that one number is added to another for.
//!
//! ```text
//! search       from 64 sources; where some come to v from u on a shortest way, a link for each of them
//! ways         link after link: to += from
//! share        the links once more, from the last to the first: from += 1 / ways of to + share of to
//! ```
//!
//! Links stand in the order of their levels, then of their ends, so that each pass finds ready what it adds.
//! No pass asks anything: that is what makes them faster than looking at every arc for every source.

use super::once;
use super::small::Numbers;
use super::sums::{Rows, Sums};
use super::sweep::Sources;
use crate::eights::EIGHT;
use crate::lists::{Lists, Sides};
use crate::search::{Mask, Search, Visit, bytes_of_search};
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// What a thread works with, with room for so many vertices and arcs or more.
pub(super) struct Linked {
    search: Search<Sources>,
    links: Links,
}

/// Whose numbers are added to whose: places in the rows.
struct Links {
    /// The first so many, of what there is room for.
    len: usize,
    list: Vec<Link>,
}

/// Both places as one number, which is one store.
#[derive(Clone, Copy)]
struct Link(u64);

impl Link {
    #[inline(always)]
    fn new(from: u32, to: u32) -> Link {
        Link(u64::from(from) << 32 | u64::from(to))
    }

    /// So many places on in both rows.
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

/// Links that are written at once, of which those behind the last are written over.
const AT_ONCE: usize = 4;

impl Links {
    /// Adds a link for each of some sources, from one row to another.
    #[inline(always)]
    fn add(&mut self, link: Link, mut sources: Sources) {
        let count = sources.count_ones() as usize;
        // To write as many as there mostly are, whatever they are, is cheaper than to ask.
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

/// Lists links.
struct Find<'a, L, S> {
    links: &'a mut Links,
    sums: &'a mut S,
    behind: L,
    row: u32,
    /// Where the links of the second level begin: those of the first come from sources.
    second: usize,
}

impl<L: Lists, S: Sums<Sources>> Visit<Sources> for Find<'_, L, S> {
    const IN_ORDER: bool = true;

    #[inline(always)]
    fn arrive(&mut self, step: u32, vertex: VertexId, sources: Sources, here: &[Sources]) {
        if step == 0 {
            return;
        }
        let to = vertex * self.row;
        for (at, from) in once(self.behind.of(vertex).iter().enumerate()) {
            let (link, both) = (Link::new(from * self.row, to), sources & here[from as usize]);
            self.links.add(link, both);
            self.sums.mark(|| self.behind.begin(vertex) + at, both);
        }
        if step == 1 {
            self.second = self.links.len;
        }
    }
}

impl Linked {
    /// Bytes of one with room for so many vertices and arcs.
    pub fn bytes(vertices: u32, arcs: u64) -> u64 {
        let links = arcs * u64::from(Sources::LANES) + AT_ONCE as u64;
        bytes_of_search::<Sources>(vertices) + links * size_of::<Link>() as u64
    }

    pub fn new(vertices: u32, arcs: u64) -> Result<Linked, OutOfMemory> {
        // From one source an arc is on a shortest way, or not.
        let links = arcs as usize * Sources::LANES as usize + AT_ONCE;
        Ok(Linked {
            search: Search::new(vertices)?,
            links: Links { len: 0, list: memory::filled(Link(0), links)? },
        })
    }

    /// Adds the shortest ways from a group of sources.
    #[inline(always)]
    pub fn add_group<L: Lists>(
        &mut self,
        lists: Sides<L>,
        sources: Range<VertexId>,
        rows: [&mut Numbers; 3],
        sums: &mut impl Sums<Sources>,
    ) {
        let Linked { search, links } = self;
        let row = sources.len().next_multiple_of(EIGHT);
        let numbers = row * lists.vertices() as usize;
        let [ways, inverse, share] = rows.map(|rows| rows.first(numbers));
        links.len = 0;
        ways.fill(0.0);
        for (lane, source) in sources.clone().enumerate() {
            ways[source as usize * row + lane] = 1.0;
        }
        let behind = lists.behind;
        let mut find = Find { links, sums, behind, row: row as u32, second: 0 };
        search.run(lists, sources, &mut find);
        let second = find.second;
        let links = &links.list[..links.len];
        for link in links {
            ways[link.to()] += ways[link.from()];
        }
        inverse.iter_mut().zip(&*ways).for_each(|(inverse, ways)| *inverse = 1.0 / ways);
        share.fill(0.0);
        // Nothing leads through a source.
        for link in links[second..].iter().rev() {
            share[link.from()] += inverse[link.to()] + share[link.to()];
        }
        sums.add_up(behind, Rows { row, ways, inverse, share });
    }
}
