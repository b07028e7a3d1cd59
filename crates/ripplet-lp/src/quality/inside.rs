//! The subgraph that a community induces: sums of weights, connectivity, triangles.
//!
//! ```text
//! sum up     for each arc of a member: inner, outer or loop; unite the ends of inner arcs
//! list       for each member its inner neighbours of higher (degree, place), ascending, each once
//! triangles  for each listed pair: merge both lists; common neighbours close triangles
//! ```
//!
//! Each step is parallel over members. Threads add up integers, so that the result does not depend
//! on their number.
//!
//! Reference: Chiba, Nishizeki, *Arboricity and subgraph listing algorithms*, SIAM Journal on
//! Computing 14, 1985.

use crate::disjoint_sets::DisjointSets;
use rayon::prelude::*;
use ripplet_graph::storage::{NeighborLists, ShardLists};
use ripplet_graph::{OutOfMemory, VertexId, as_atomic, memory};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The place of a vertex that is not a member.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// Members of a task that lists neighbours.
const MEMBERS_PER_TASK: usize = 64;

/// Whether the work on one community is parallel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sharing {
    /// One thread does all of it.
    Alone,
    /// All threads take part.
    Shared,
}

impl Sharing {
    /// Returns the least number of items per task.
    fn min_len(self) -> usize {
        match self {
            Sharing::Alone => usize::MAX,
            Sharing::Shared => 1,
        }
    }
}

/// Access to the arcs of a graph's vertices.
pub(super) struct Arcs<F> {
    pub(super) shard_of: F,
    pub(super) directed: bool,
}

impl<'s, S: ShardLists + 's, F: Fn(VertexId) -> &'s S> Arcs<F> {
    /// Calls `visit` with the list (0: out), the neighbour and the stored weight of each arc.
    fn each(&self, vertex: VertexId, mut visit: impl FnMut(usize, VertexId, u64)) {
        let shard = (self.shard_of)(vertex);
        let local = (vertex - shard.vertices().start) as usize;
        for (list, lists) in shard.lists().enumerate() {
            lists.for_each_arc(local, |u, weight| visit(list, u, weight));
        }
    }

    /// Returns the summed weight of the first list; an undirected loop counts twice.
    pub(super) fn out_strength(&self, vertex: VertexId) -> u64 {
        let mut sum = 0;
        self.each(vertex, |list, u, weight| {
            sum += if list == 0 { self.ends(vertex, u) * weight } else { 0 };
        });
        sum
    }

    /// Returns how often an arc from `vertex` to `other` counts in the strength of its list.
    fn ends(&self, vertex: VertexId, other: VertexId) -> u64 {
        if vertex == other && !self.directed { 2 } else { 1 }
    }
}

/// Sums over the arcs of a community's members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Inner arcs as they are stored, without loops: an undirected edge is two.
    pub(super) arcs: u64,
    pub(super) loops: u64,
    pub(super) outer_edges: u64,
    /// Stored weights; an inner edge counts from both ends, a loop twice.
    pub(super) inner: u128,
    pub(super) outer: u128,
    /// Stored weights by list.
    pub(super) strengths: [u128; 2],
}

impl Sums {
    fn plus(self, other: Sums) -> Sums {
        Sums {
            arcs: self.arcs + other.arcs,
            loops: self.loops + other.loops,
            outer_edges: self.outer_edges + other.outer_edges,
            inner: self.inner + other.inner,
            outer: self.outer + other.outer,
            strengths: [0, 1].map(|list| self.strengths[list] + other.strengths[list]),
        }
    }
}

/// Figures of a community's induced subgraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inside {
    pub(super) sums: Sums,
    /// Whether inner edges connect all members.
    pub(super) connected: bool,
    /// The number of members in a triangle of members.
    pub(super) in_triangles: u32,
}

impl Inside {
    /// Computes the figures of the community of `members`, which must be distinct.
    ///
    /// `place` must be [`OUTSIDE`] for every vertex, and is so again afterwards.
    pub(super) fn of<'s, S: ShardLists + 's, F: Fn(VertexId) -> &'s S + Sync>(
        members: &[VertexId],
        arcs: &Arcs<F>,
        place: &mut [u32],
        sharing: Sharing,
    ) -> Result<Inside, OutOfMemory> {
        let place = as_atomic(place);
        let all = || members.par_iter().enumerate().with_min_len(sharing.min_len());
        all().for_each(|(at, &member)| place[member as usize].store(at as u32, Relaxed));
        let inside = Community { members, arcs, place, sharing }.inside();
        all().for_each(|(_, &member)| place[member as usize].store(OUTSIDE, Relaxed));
        inside
    }
}

/// A community whose members' places are set.
struct Community<'a, F> {
    members: &'a [VertexId],
    arcs: &'a Arcs<F>,
    place: &'a [AtomicU32],
    sharing: Sharing,
}

/// For each member its neighbours of higher degree, or of equal degree and later place: ascending,
/// each once.
struct Above {
    /// The begin of each member's slot in `values`; a slot is as long as the member's degree.
    begins: Vec<usize>,
    /// The used length of each slot.
    lens: Vec<u32>,
    values: Vec<u32>,
}

impl<'s, S: ShardLists + 's, F: Fn(VertexId) -> &'s S + Sync> Community<'_, F> {
    fn inside(&self) -> Result<Inside, OutOfMemory> {
        let count = self.members.len();
        let mut degrees = memory::zeros::<u32>(count)?;
        let mut parents = memory::collected(0..count as u32)?;
        let sets = DisjointSets::new(as_atomic(&mut parents));
        let all = degrees.par_iter_mut().enumerate().with_min_len(self.sharing.min_len());
        let sums = all.map(|(at, degree)| self.sums(at, degree, sets));
        let sums = sums.reduce(Sums::default, Sums::plus);
        let connected = (0..count as u32).all(|at| sets.root(at) == 0);
        let in_triangles = self.in_triangles(&self.above(&degrees)?)?;
        Ok(Inside { sums, connected, in_triangles })
    }

    /// Sums up a member's arcs, counts those to other members, and unites it with these.
    fn sums(&self, at: usize, degree: &mut u32, sets: DisjointSets<'_>) -> Sums {
        let (mut sums, member) = (Sums::default(), self.members[at]);
        self.arcs.each(member, |list, u, stored| {
            let weight = u128::from(stored);
            sums.strengths[list] += u128::from(self.arcs.ends(member, u) * stored);
            match self.place[u as usize].load(Relaxed) {
                OUTSIDE => {
                    sums.outer_edges += 1;
                    sums.outer += weight;
                }
                // A directed loop is in both lists.
                _ if u == member && list == 0 => {
                    sums.loops += 1;
                    sums.inner += 2 * weight;
                }
                _ if u == member => {}
                other => {
                    sums.arcs += 1;
                    sums.inner += weight;
                    *degree = degree.saturating_add(1);
                    if (other as usize) < at {
                        sets.unite(other, at as u32);
                    }
                }
            }
        });
        sums
    }

    /// Lists the neighbours of each member that are above it.
    fn above(&self, degrees: &[u32]) -> Result<Above, OutOfMemory> {
        let mut begins = memory::with_room(degrees.len() + 1)?;
        let mut begin = 0;
        for &degree in degrees {
            begins.push(begin);
            begin += degree as usize;
        }
        begins.push(begin);
        let mut above =
            Above { begins, lens: memory::zeros(degrees.len())?, values: memory::zeros(begin)? };
        self.list(0, degrees, &above.begins, &mut above.lens, &mut above.values);
        Ok(above)
    }

    /// Lists the neighbours above the members from `first` on, whose slots begin at `begins`.
    fn list(
        &self,
        first: usize,
        degrees: &[u32],
        begins: &[usize],
        lens: &mut [u32],
        values: &mut [u32],
    ) {
        if lens.len() > MEMBERS_PER_TASK && matches!(self.sharing, Sharing::Shared) {
            let half = lens.len() / 2;
            let (lens, other_lens) = lens.split_at_mut(half);
            let (values, other_values) = values.split_at_mut(begins[half] - begins[0]);
            rayon::join(
                || self.list(first, degrees, begins, lens, values),
                || self.list(first + half, degrees, &begins[half..], other_lens, other_values),
            );
            return;
        }
        let order = |at: u32| (degrees[at as usize], at);
        for (local, len) in lens.iter_mut().enumerate() {
            let at = first + local;
            let room = &mut values[begins[local] - begins[0]..begins[local + 1] - begins[0]];
            let mut taken = 0;
            self.arcs.each(self.members[at], |_, u, _| {
                let other = self.place[u as usize].load(Relaxed);
                if other != OUTSIDE && order(other) > order(at as u32) {
                    room[taken] = other;
                    taken += 1;
                }
            });
            let list = &mut room[..taken];
            list.sort_unstable();
            *len = move_distinct_ahead(list) as u32;
        }
    }

    /// Returns the number of members in a triangle.
    fn in_triangles(&self, above: &Above) -> Result<u32, OutOfMemory> {
        let mut found = memory::zeros::<u32>(self.members.len())?;
        let marks = as_atomic(&mut found);
        let all = (0..self.members.len()).into_par_iter().with_min_len(self.sharing.min_len());
        all.for_each(|at| {
            for &other in above.of(at) {
                for_each_common(above.of(at), above.of(other as usize), |corner| {
                    for corner in [at as u32, other, corner] {
                        marks[corner as usize].store(1, Relaxed);
                    }
                });
            }
        });
        Ok(found.iter().sum())
    }
}

impl Above {
    fn of(&self, at: usize) -> &[u32] {
        &self.values[self.begins[at]..][..self.lens[at] as usize]
    }
}

/// Moves the distinct numbers of an ascending list to its front; returns their count.
fn move_distinct_ahead(list: &mut [u32]) -> usize {
    let mut distinct = 0;
    for at in 0..list.len() {
        if distinct == 0 || list[distinct - 1] != list[at] {
            list[distinct] = list[at];
            distinct += 1;
        }
    }
    distinct
}

/// Calls `visit` with the common numbers of two ascending lists.
fn for_each_common(mut a: &[u32], mut b: &[u32], mut visit: impl FnMut(u32)) {
    while let (Some((&x, rest_a)), Some((&y, rest_b))) = (a.split_first(), b.split_first()) {
        if x == y {
            visit(x);
        }
        a = if x <= y { rest_a } else { a };
        b = if y <= x { rest_b } else { b };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ripplet_graph::{
        Direction, Duplicates, EdgeTable, Graph, GraphBuilder, SelfLoops, VertexIds,
    };
    use std::collections::BTreeSet;

    const VERTICES: u32 = 150;

    fn graph(edges: &[(u32, u32)], direction: Direction) -> Graph {
        let ids = VertexIds::Consecutive { first: 0, count: VERTICES };
        let (sources, targets) = edges.iter().copied().unzip();
        let table = EdgeTable::new(ids, sources, targets).unwrap();
        let builder = GraphBuilder::new().direction(direction).shard_arcs(100);
        builder.self_loops(SelfLoops::Keep).duplicates(Duplicates::Keep).build(table).unwrap()
    }

    fn inside(graph: &Graph, members: &[u32], sharing: Sharing) -> Inside {
        let directed = graph.direction() == Direction::Directed;
        let arcs = Arcs { shard_of: |v| graph.shard_of(v), directed };
        let mut place = vec![OUTSIDE; VERTICES as usize];
        let inside = Inside::of(members, &arcs, &mut place, sharing).unwrap();
        assert!(place.iter().all(|&place| place == OUTSIDE));
        inside
    }

    /// Triangles by exhaustive search, connectivity by flooding.
    fn tried(edges: &[(u32, u32)], members: &[u32]) -> (bool, u32) {
        let is_in = |v: &u32| members.contains(v);
        let inner = edges.iter().filter(|(a, b)| a != b && is_in(a) && is_in(b));
        let pairs: BTreeSet<_> = inner.flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        let closes = |a: u32, b: u32| {
            members.iter().any(|&c| pairs.contains(&(a, c)) && pairs.contains(&(b, c)))
        };
        let triangled = pairs.iter().filter(|&&(a, b)| closes(a, b)).map(|&(a, _)| a);
        let count = triangled.collect::<BTreeSet<_>>().len() as u32;
        let mut reached: BTreeSet<u32> = members.first().copied().into_iter().collect();
        loop {
            let next = pairs.iter().filter(|(a, _)| reached.contains(a)).map(|&(_, b)| b);
            let next: BTreeSet<u32> = next.chain(reached.iter().copied()).collect();
            if next == reached {
                return (reached.len() == members.len(), count);
            }
            reached = next;
        }
    }

    proptest! {
        #[test]
        fn it_is_what_trying_finds_on_any_number_of_threads(
            edges in prop::collection::vec((0..VERTICES, 0..VERTICES), 0..500),
            members in prop::collection::btree_set(0..VERTICES, 0..150),
            directed: bool,
        ) {
            let direction = if directed { Direction::Directed } else { Direction::Undirected };
            let graph = graph(&edges, direction);
            let members: Vec<u32> = members.into_iter().collect();
            let alone = inside(&graph, &members, Sharing::Alone);
            prop_assert_eq!((alone.connected, alone.in_triangles), tried(&edges, &members));
            for threads in [1, 2, 4] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let shared = pool.install(|| inside(&graph, &members, Sharing::Shared));
                prop_assert_eq!(shared, alone);
            }
        }
    }
}
