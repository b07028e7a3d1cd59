//! Figures of each community by itself.
//!
//! Each community's members and the edges between them are looked at as a graph of their own, several
//! communities at a time. Directed graphs: `inner` and `outer` count edges in both directions, density counts
//! ordered pairs, and a triangle or a path may go against directions.
//!
//! Triangles: every edge is listed at its end of lower degree, and for each edge the two lists are merged (Chiba and
//! Nishizeki 1985). Cost: the edges of all members, and their power of 1.5 at worst. Memory: 4 bytes a vertex and
//! thread, and 16 bytes an inner edge of the communities at work.

use super::{Cover, QualityError};
use rayon::prelude::*;
use ripplet_graph::compressed::{NeighborLists, ShardLists};
use ripplet_graph::{Direction, GraphView, VertexId};

/// Figures of one community.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommunityQuality {
    /// The number of members.
    pub size: u32,
    /// Edges between members, self-loops included.
    pub inner_edges: u64,
    /// Edges between a member and another vertex.
    pub outer_edges: u64,
    /// The summed weight of inner edges; without weights their number.
    pub inner_weight: f64,
    /// The summed weight of outer edges; without weights their number.
    pub outer_weight: f64,
    /// The weight of outer edges over the summed degrees of the members or, where these are fewer, of all other
    /// vertices: 0 is a part of its own, 1 has no inner edge. 0 where nothing could leave.
    pub conductance: f64,
    /// Inner edges that are no loops over the pairs of members; 0 for one member.
    pub density: f64,
    /// The community's term of the modularity at the resolution asked for; their sum is the modularity of communities
    /// that do not overlap.
    pub modularity: f64,
    /// The share of members that are in a triangle of members. Yang and Leskovec 2012.
    pub triangle_participation: f64,
    /// Whether inner edges join all members, in whatever direction.
    pub connected: bool,
}

/// The figures of each community of a cover.
///
/// # Errors
/// Where the cover is not of the graph's vertices, or the weights add up to more than 64 bits hold.
pub fn per_community<'g>(
    graph: impl Into<GraphView<'g>>,
    cover: &Cover,
    resolution: f64,
) -> Result<Vec<CommunityQuality>, QualityError> {
    let graph = graph.into();
    let (labels, vertices) = (cover.vertices() as usize, graph.vertices() as usize);
    if labels != vertices {
        return Err(QualityError::Length { labels, vertices });
    }
    match graph {
        GraphView::Plain(lists) => of_lists(graph, |v| lists.shard_of(v), cover, resolution),
        GraphView::Compressed(lists) => of_lists(graph, |v| lists.shard_of(v), cover, resolution),
    }
}

fn of_lists<'s, S: ShardLists + 's>(
    graph: GraphView<'_>,
    shard_of: impl Fn(VertexId) -> &'s S + Sync,
    cover: &Cover,
    resolution: f64,
) -> Result<Vec<CommunityQuality>, QualityError> {
    let directed = graph.direction() == Direction::Directed;
    let lists = Arcs { shard_of, directed };
    let totals = (0..graph.vertices()).into_par_iter().with_min_len(256);
    let total: u128 = totals.map(|v| u128::from(lists.strengths(v)[0])).sum();
    let total = u64::try_from(total).map_err(|_| QualityError::Weights { total })?;
    let unit = graph.weight_scale().weight(1 << 20) / f64::from(1 << 20);
    let rules = Rules { total, unit, resolution, directed };
    let place = || vec![OUTSIDE; graph.vertices() as usize];
    // The largest first, so that none is begun last.
    let mut order: Vec<usize> = (0..cover.len()).collect();
    order.par_sort_by_key(|&at| std::cmp::Reverse(cover.members(at).len()));
    let figures = order.par_iter().with_max_len(1).map_init(place, |place, &at| {
        (at, Inside::of(cover.members(at), &lists, place).figures(&rules))
    });
    let mut figures: Vec<(usize, CommunityQuality)> = figures.collect();
    figures.par_sort_unstable_by_key(|&(at, _)| at);
    Ok(figures.into_iter().map(|(_, figures)| figures).collect())
}

/// The place of a vertex that is no member.
const OUTSIDE: u32 = u32::MAX;

/// What the figures of a community are measured by.
struct Rules {
    /// The summed degrees of all vertices; directed: the summed weight of all edges.
    total: u64,
    /// The weight of a stored 1.
    unit: f64,
    resolution: f64,
    directed: bool,
}

struct Arcs<F> {
    shard_of: F,
    directed: bool,
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

    /// The summed weights of the lists; an undirected loop has two ends.
    fn strengths(&self, vertex: VertexId) -> [u64; 2] {
        let mut sums = [0; 2];
        self.each(vertex, |list, u, weight| {
            sums[list] += if u == vertex && !self.directed { 2 * weight } else { weight };
        });
        sums
    }
}

/// A community as a graph of its own.
struct Inside {
    members: u32,
    /// Inner arcs as they are stored, loops left out: of undirected edges both.
    arcs: u64,
    loops: u64,
    outer_edges: u64,
    /// Stored weights.
    inner: u128,
    outer: u128,
    strengths: [u128; 2],
    /// The neighbours of each member, ascending, each once, as places among the members.
    neighbors: Vec<Vec<u32>>,
}

impl Inside {
    fn of<'s, S: ShardLists + 's, F: Fn(VertexId) -> &'s S>(
        members: &[VertexId],
        arcs: &Arcs<F>,
        place: &mut [u32],
    ) -> Inside {
        for (at, &member) in (0..).zip(members) {
            place[member as usize] = at;
        }
        let mut inside = Inside {
            members: members.len() as u32,
            arcs: 0,
            loops: 0,
            outer_edges: 0,
            inner: 0,
            outer: 0,
            strengths: [0; 2],
            neighbors: Vec::with_capacity(members.len()),
        };
        for &member in members {
            let mut neighbors = Vec::new();
            arcs.each(member, |list, u, weight| {
                let counts = list == 0 || u != member;
                match place[u as usize] {
                    OUTSIDE => {
                        inside.outer_edges += 1;
                        inside.outer += u128::from(weight);
                    }
                    _ if u == member => {
                        inside.loops += u64::from(counts);
                        inside.inner += if counts { 2 * u128::from(weight) } else { 0 };
                    }
                    at => {
                        inside.arcs += 1;
                        inside.inner += u128::from(weight);
                        neighbors.push(at);
                    }
                }
            });
            neighbors.sort_unstable();
            neighbors.dedup();
            inside.neighbors.push(neighbors);
            let strengths = arcs.strengths(member);
            inside.strengths =
                [0, 1].map(|list| inside.strengths[list] + u128::from(strengths[list]));
        }
        members.iter().for_each(|&member| place[member as usize] = OUTSIDE);
        inside
    }

    fn figures(self, rules: &Rules) -> CommunityQuality {
        let Inside { members, arcs, loops, outer_edges, .. } = self;
        // Each inner edge was met from both its ends, a loop twice.
        let (inner_edges, inner) = (arcs / 2 + loops, self.inner as f64 / 2.0);
        let pairs = f64::from(members) * (f64::from(members) - 1.0);
        let pairs = if rules.directed { pairs } else { pairs / 2.0 };
        let [out, incoming] = self.strengths.map(|sum| sum as f64);
        let total = rules.total as f64;
        let (volume, all, ends) = match rules.directed {
            true => (out + incoming, 2.0 * total, [out, incoming]),
            false => (out, total, [out, out]),
        };
        let within = if rules.directed { inner } else { 2.0 * inner };
        let smaller = volume.min(all - volume);
        let by_chance = ends[0] / total * (ends[1] / total);
        CommunityQuality {
            size: members,
            inner_edges,
            outer_edges,
            inner_weight: inner * rules.unit,
            outer_weight: self.outer as f64 * rules.unit,
            conductance: if smaller > 0.0 { self.outer as f64 / smaller } else { 0.0 },
            density: if members < 2 { 0.0 } else { (inner_edges - loops) as f64 / pairs },
            modularity: if total > 0.0 {
                within / total - rules.resolution * by_chance
            } else {
                0.0
            },
            triangle_participation: self.in_triangles() as f64 / f64::from(members.max(1)),
            connected: self.is_connected(),
        }
    }

    fn is_connected(&self) -> bool {
        let mut seen = vec![false; self.neighbors.len()];
        let (mut next, mut reached) = (Vec::new(), 0);
        if let Some(first) = seen.first_mut() {
            *first = true;
            next.push(0u32);
        }
        while let Some(member) = next.pop() {
            reached += 1;
            for &neighbor in &self.neighbors[member as usize] {
                if !std::mem::replace(&mut seen[neighbor as usize], true) {
                    next.push(neighbor);
                }
            }
        }
        reached == seen.len()
    }

    /// How many members are in a triangle.
    fn in_triangles(&self) -> usize {
        let degree = |member: u32| (self.neighbors[member as usize].len(), member);
        let above = |member: usize| -> Vec<u32> {
            let own = degree(member as u32);
            self.neighbors[member].iter().copied().filter(|&other| degree(other) > own).collect()
        };
        let above: Vec<Vec<u32>> = (0..self.neighbors.len()).map(above).collect();
        let mut found = vec![false; above.len()];
        for (member, list) in above.iter().enumerate() {
            for &other in list {
                let (mut a, mut b) = (&list[..], &above[other as usize][..]);
                while let (Some((&x, rest_a)), Some((&y, rest_b))) =
                    (a.split_first(), b.split_first())
                {
                    if x == y {
                        for corner in [member, other as usize, x as usize] {
                            found[corner] = true;
                        }
                    }
                    a = if x <= y { rest_a } else { a };
                    b = if y <= x { rest_b } else { b };
                }
            }
        }
        found.iter().filter(|&&found| found).count()
    }
}
