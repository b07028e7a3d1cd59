//! Quality measures of each community.
//!
//! Each community's induced subgraph is measured: large communities one after the other, each by
//! all threads; small ones several at a time. Directed graphs: `inner` and `outer` count edges in
//! both directions, density counts ordered pairs, and triangles and paths ignore directions.
//!
//! Cost: three passes over the arcs of all members, and for triangles at worst their number to the
//! power of 1.5. Memory: 4 bytes per vertex and thread, 160 per community, and for the communities
//! in progress 28 bytes per member and 8 per inner edge. Determinism: measures are computed from
//! sums of integers; results are bitwise equal on any number of threads.

use super::inside::{Arcs, Inside, OUTSIDE, Sharing};
use super::pool::Pool;
use super::{Cover, QualityError};
use rayon::prelude::*;
use ripplet_graph::storage::ShardLists;
use ripplet_graph::{Direction, GraphView, OutOfMemory, VertexId, dispatch_storage, memory};
use std::cmp::Reverse;

/// The number of members' arcs from which on all threads work on one community. This many take
/// about a millisecond, so that parallel overhead is small.
const LARGE: u64 = 1 << 16;

/// Quality measures of one community.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// Conductance: the weight of outer edges over the summed degrees of the members or, if
    /// smaller, of all other vertices. 0 without outer edges, 1 without inner edges; 0 if the
    /// denominator is 0.
    pub conductance: f64,
    /// Density: inner edges except loops over the pairs of members; 0 for one member.
    pub density: f64,
    /// The community's term of the modularity at the requested resolution. For disjoint communities
    /// the terms add up to the modularity.
    pub modularity: f64,
    /// The fraction of members in a triangle of members. Yang and Leskovec 2012.
    pub triangle_participation: f64,
    /// Whether inner edges connect all members, ignoring directions.
    pub connected: bool,
}

/// Returns the measures of each community of a cover.
///
/// # Errors
/// If the cover and the graph have different numbers of vertices, the sum of the weights exceeds 64
/// bits, or memory is refused.
pub fn per_community<'g>(
    graph: impl Into<GraphView<'g>>,
    cover: &Cover,
    resolution: f64,
) -> Result<Vec<CommunityQuality>, QualityError> {
    per_community_in(graph.into(), cover, resolution)
}

fn per_community_in(
    graph: GraphView<'_>,
    cover: &Cover,
    resolution: f64,
) -> Result<Vec<CommunityQuality>, QualityError> {
    let (labels, vertices) = (cover.vertices() as usize, graph.vertices() as usize);
    if labels != vertices {
        return Err(QualityError::Length { labels, vertices });
    }
    dispatch_storage!(graph, lists => of_lists(graph, |v| lists.shard_of(v), cover, resolution))
}

fn of_lists<'s, S: ShardLists + 's>(
    graph: GraphView<'_>,
    shard_of: impl Fn(VertexId) -> &'s S + Sync,
    cover: &Cover,
    resolution: f64,
) -> Result<Vec<CommunityQuality>, QualityError> {
    let directed = graph.direction() == Direction::Directed;
    let arcs = Arcs { shard_of, directed };
    let totals = (0..graph.vertices()).into_par_iter().with_min_len(256);
    let total: u128 = totals.map(|v| u128::from(arcs.out_strength(v))).sum();
    let total = u64::try_from(total).map_err(|_| QualityError::Weights { total })?;
    let unit = graph.weight_scale().weight(1 << 20) / f64::from(1 << 20);
    let rules = Rules { total, unit, resolution, directed };
    let measure = |job: &mut Job, place: &mut [u32], sharing| {
        let members = cover.members(job.community as usize);
        let inside = Inside::of(members, &arcs, place, sharing)?;
        job.figures = rules.figures(members.len() as u32, &inside);
        Ok::<_, OutOfMemory>(())
    };
    let mut jobs = jobs_of(graph, cover)?;
    let places = Pool::new(OUTSIDE, graph.vertices() as usize);
    let first_small = jobs.partition_point(|job| job.arcs >= LARGE);
    let (large, small) = jobs.split_at_mut(first_small);
    for job in large {
        measure(job, &mut places.borrow()?, Sharing::Shared)?;
    }
    small.par_iter_mut().try_for_each_init(
        || places.borrow(),
        |place, job| {
            let place = place.as_mut().map_err(|refused| *refused)?;
            measure(job, place, Sharing::Alone)
        },
    )?;
    jobs.par_sort_unstable_by_key(|job| job.community);
    Ok(memory::collected(jobs.iter().map(|job| job.figures))?)
}

/// A community to be measured.
#[derive(Clone, Copy)]
struct Job {
    community: u32,
    /// Arcs of the members.
    arcs: u64,
    figures: CommunityQuality,
}

/// Returns the communities, those with most arcs first.
fn jobs_of(graph: GraphView<'_>, cover: &Cover) -> Result<Vec<Job>, OutOfMemory> {
    let job = |community: u32| Job { community, arcs: 0, figures: CommunityQuality::default() };
    let mut jobs = memory::with_room(cover.len())?;
    jobs.extend((0..cover.len() as u32).map(job));
    jobs.par_iter_mut().for_each(|job| {
        let members = cover.members(job.community as usize);
        job.arcs = members.par_iter().with_min_len(4096).map(|&v| graph.degree(v)).sum();
    });
    jobs.par_sort_unstable_by_key(|job| (Reverse(job.arcs), job.community));
    Ok(jobs)
}

/// Graph-wide quantities and settings of the measures.
struct Rules {
    /// The summed degrees of all vertices; directed: the summed weight of all edges.
    total: u64,
    /// The real weight of a stored 1.
    unit: f64,
    resolution: f64,
    directed: bool,
}

impl Rules {
    fn figures(&self, members: u32, inside: &Inside) -> CommunityQuality {
        let sums = inside.sums;
        // Each inner edge was counted from both ends, and the weight of a loop twice.
        let (inner_edges, inner) = (sums.arcs / 2 + sums.loops, sums.inner as f64 / 2.0);
        let pairs = f64::from(members) * (f64::from(members) - 1.0);
        let pairs = if self.directed { pairs } else { pairs / 2.0 };
        let [out, incoming] = sums.strengths.map(|sum| sum as f64);
        let total = self.total as f64;
        let (volume, all, ends) = match self.directed {
            true => (out + incoming, 2.0 * total, [out, incoming]),
            false => (out, total, [out, out]),
        };
        let within = if self.directed { inner } else { 2.0 * inner };
        let smaller = volume.min(all - volume);
        let by_chance = ends[0] / total * (ends[1] / total);
        CommunityQuality {
            size: members,
            inner_edges,
            outer_edges: sums.outer_edges,
            inner_weight: inner * self.unit,
            outer_weight: sums.outer as f64 * self.unit,
            conductance: if smaller > 0.0 { sums.outer as f64 / smaller } else { 0.0 },
            density: if members < 2 { 0.0 } else { (inner_edges - sums.loops) as f64 / pairs },
            modularity: if total > 0.0 {
                within / total - self.resolution * by_chance
            } else {
                0.0
            },
            triangle_participation: f64::from(inside.in_triangles) / f64::from(members.max(1)),
            connected: inside.connected,
        }
    }
}
