//! The graph of communities: one vertex a community, one edge a pair of communities with edges between them.

use crate::{DrawError, NO_COMMUNITY};
use rayon::prelude::*;
use ripplet_graph::storage::{NeighborLists, ShardLists};
use ripplet_graph::{
    Direction, GraphView, Ranked, Ranking, VertexId, dispatch_storage, memory, ranked_by_size,
};
use std::cmp::Reverse;
use std::ops::Range;

/// Vertices whose arcs one task reads.
const VERTICES_PER_TASK: usize = 1 << 14;

/// A community that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Community {
    /// Its number in the input.
    pub number: u32,
    /// Its number of members.
    pub size: u32,
    /// The total stored weight of edges between its members (a self-loop counts once).
    pub inner: u64,
    /// The total stored weight of edges from its members to other vertices.
    pub outer: u64,
}

/// The edges between two drawn communities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The larger community, as an index into [`CommunityGraph::communities`].
    pub a: u32,
    /// The smaller community, likewise.
    pub b: u32,
    /// The total stored weight of the edges between them, in both directions.
    pub weight: u64,
}

/// The largest communities of a graph and the edges between them.
#[derive(Clone, Debug)]
pub struct CommunityGraph {
    /// By size descending, then by first member.
    pub communities: Vec<Community>,
    /// By `a`, then by `b`.
    pub links: Vec<Link>,
    /// Number of communities of the input.
    pub total: u32,
    /// Members of communities that are not drawn.
    pub members_left_out: u64,
    /// Vertices without a community.
    pub unassigned: u64,
    /// For each vertex the index of its drawn community, or [`NO_COMMUNITY`].
    pub(crate) drawn: Vec<u32>,
    /// For each vertex the total weight of its arcs within its drawn community, loops left out.
    pub(crate) inner_strength: Vec<u64>,
}

impl CommunityGraph {
    /// Counts the `most` largest communities of a graph.
    ///
    /// `communities[v]` is the number of `v`'s community, or [`NO_COMMUNITY`]; numbers are below the
    /// number of vertices.
    ///
    /// # Errors
    /// [`DrawError::OtherGraph`] if `communities` does not fit the graph's vertices,
    /// [`DrawError::OutOfMemory`].
    pub fn new(
        graph: GraphView<'_>,
        communities: &[u32],
        most: usize,
    ) -> Result<CommunityGraph, DrawError> {
        let vertices = graph.vertices();
        let fits = |&number: &u32| number < vertices || number == NO_COMMUNITY;
        if communities.len() != vertices as usize || !communities.par_iter().all(fits) {
            return Err(DrawError::OtherGraph { vertices, communities: communities.len() });
        }
        let Ranking { largest, total } = ranked_by_size(communities, vertices as usize, most)?;
        let mut index_of = memory::filled(NO_COMMUNITY, vertices as usize)?;
        for (index, community) in largest.iter().enumerate() {
            index_of[community.label as usize] = index as u32;
        }
        let index = |&number: &u32| match number {
            NO_COMMUNITY => NO_COMMUNITY,
            number => index_of[number as usize],
        };
        let mut drawn = memory::with_room(vertices as usize)?;
        drawn.par_extend(communities.par_iter().map(index));
        let mut inner_strength = memory::zeros::<u64>(vertices as usize)?;
        let weights = count(graph, &drawn, largest.len(), &mut inner_strength)?;
        let unassigned = communities.par_iter().filter(|&&number| number == NO_COMMUNITY).count();
        let members: u64 = largest.iter().map(|community| u64::from(community.size)).sum();
        Ok(CommunityGraph {
            communities: (0..)
                .zip(&largest)
                .map(|(at, &community)| weights.community(at, community))
                .collect(),
            links: weights.links(),
            total,
            members_left_out: u64::from(vertices) - unassigned as u64 - members,
            unassigned: unassigned as u64,
            drawn,
            inner_strength,
        })
    }
}

impl CommunityGraph {
    /// Returns the drawn community of a vertex, as an index into [`CommunityGraph::communities`].
    ///
    /// # Panics
    /// If `vertex` is not a vertex of the graph.
    pub fn place_of(&self, vertex: VertexId) -> Option<u32> {
        Some(self.drawn[vertex as usize]).filter(|&place| place != NO_COMMUNITY)
    }

    /// Returns the members of each drawn community with the largest weight of edges within it, at most `most` of each,
    /// then by vertex.
    ///
    /// # Errors
    /// [`DrawError::OutOfMemory`].
    pub fn leading_members(&self, most: usize) -> Result<Vec<Vec<VertexId>>, DrawError> {
        let CommunityGraph { drawn, inner_strength, communities, .. } = self;
        let mut starts = vec![0usize; communities.len() + 1];
        for (at, community) in communities.iter().enumerate() {
            starts[at + 1] = starts[at] + community.size as usize;
        }
        let mut next = starts.clone();
        let mut members = memory::zeros::<VertexId>(*starts.last().unwrap_or(&0))?;
        for (v, &community) in drawn.iter().enumerate() {
            if community != NO_COMMUNITY {
                members[next[community as usize]] = v as VertexId;
                next[community as usize] += 1;
            }
        }
        let order = |&v: &VertexId| (Reverse(inner_strength[v as usize]), v);
        let mut rest = &mut members[..];
        let mut parts = Vec::with_capacity(communities.len());
        for community in communities {
            let (part, others) = rest.split_at_mut(community.size as usize);
            parts.push(part);
            rest = others;
        }
        let leaders = parts.into_par_iter().map(|part| {
            let count = part.len().min(most);
            if count < part.len() && count > 0 {
                part.select_nth_unstable_by_key(count - 1, order);
            }
            let mut leaders = part[..count].to_vec();
            leaders.sort_unstable_by_key(order);
            leaders
        });
        Ok(leaders.collect())
    }
}

/// Weights between all pairs of drawn communities, and from each to the rest.
struct Weights {
    count: usize,
    /// `between[a · count + b]` for `a ≤ b`: each edge once.
    between: Vec<u64>,
    /// From each community to vertices outside of it.
    outer: Vec<u64>,
}

impl Weights {
    fn zero(count: usize) -> Result<Weights, DrawError> {
        let (between, outer) = (memory::zeros(count * count)?, memory::zeros(count)?);
        Ok(Weights { count, between, outer })
    }

    fn plus(mut self, other: &Weights) -> Weights {
        let add = |into: &mut Vec<u64>, from: &Vec<u64>| {
            into.iter_mut().zip(from).for_each(|(sum, more)| *sum += more);
        };
        add(&mut self.between, &other.between);
        add(&mut self.outer, &other.outer);
        self
    }

    fn community(&self, at: usize, Ranked { label, size }: Ranked) -> Community {
        let inner = self.between[at * self.count + at];
        Community { number: label, size, inner, outer: self.outer[at] }
    }

    fn links(&self) -> Vec<Link> {
        let pairs = (0..self.count).flat_map(|a| (a + 1..self.count).map(move |b| (a, b)));
        let weights = pairs.map(|(a, b)| (a, b, self.between[a * self.count + b]));
        let present = weights.filter(|&(.., weight)| weight > 0);
        present.map(|(a, b, weight)| Link { a: a as u32, b: b as u32, weight }).collect()
    }
}

fn count(
    graph: GraphView<'_>,
    drawn: &[u32],
    count: usize,
    inner_strength: &mut [u64],
) -> Result<Weights, DrawError> {
    let directed = graph.direction() == Direction::Directed;
    dispatch_storage!(graph, graph => {
        count_in(graph.shards(), directed, drawn, count, inner_strength)
    })
}

fn count_in<S: ShardLists>(
    shards: &[S],
    directed: bool,
    drawn: &[u32],
    count: usize,
    inner_strength: &mut [u64],
) -> Result<Weights, DrawError> {
    let mut weights = Weights::zero(count)?;
    for shard in shards {
        let Range { start, end } = shard.vertices();
        let strengths = &mut inner_strength[start as usize..end as usize];
        let tasks = strengths.par_chunks_mut(VERTICES_PER_TASK).enumerate();
        let counted = tasks.try_fold(
            || None,
            |sum: Option<Weights>, (task, strengths)| {
                let mut sum = sum.map_or_else(|| Weights::zero(count), Ok)?;
                let first = task * VERTICES_PER_TASK;
                for (local, strength) in (first..).zip(strengths) {
                    let v = start + local as u32;
                    *strength = count_vertex(shard, local, v, directed, drawn, &mut sum);
                }
                Ok(Some(sum))
            },
        );
        // Integers: the sum does not depend on the order.
        let of_shard = counted.try_reduce(
            || None,
            |a, b| {
                Ok::<_, DrawError>(match (a, b) {
                    (Some(a), Some(b)) => Some(a.plus(&b)),
                    (a, b) => a.or(b),
                })
            },
        )?;
        weights = of_shard.iter().fold(weights, Weights::plus);
    }
    Ok(weights)
}

/// Adds one vertex's arcs; returns the weight of those to other members of its community.
fn count_vertex(
    shard: &impl ShardLists,
    local: usize,
    v: VertexId,
    directed: bool,
    drawn: &[u32],
    sum: &mut Weights,
) -> u64 {
    let own = drawn[v as usize];
    if own == NO_COMMUNITY {
        return 0;
    }
    let mut within = 0;
    for (list, lists) in shard.lists().enumerate() {
        lists.for_each_arc(local, |u, weight| {
            let other = drawn[u as usize];
            if other == own {
                within += if u == v { 0 } else { weight };
            } else {
                sum.outer[own as usize] += weight;
            }
            // An edge has two arcs, of which one counts: of a directed one, that in the source's list.
            let counts = if directed { list == 0 } else { u >= v };
            if counts && other != NO_COMMUNITY {
                let (a, b) = (own.min(other) as usize, own.max(other) as usize);
                sum.between[a * sum.count + b] += weight;
            }
        });
    }
    within
}
