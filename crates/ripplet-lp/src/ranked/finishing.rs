//! What follows the rounds on ranks: disconnected communities are split, and communities merge, each rank by its own
//! lists.
//!
//! ```text
//! split   each rank     unite own vertices with their neighbours of the same label
//!         in pairs      the forest of a rank joins that of another, ⌈log₂ ranks⌉ times; rank 0 has all of them
//!         rank 0 ─▶ all the label of each vertex
//! merge   each rank     sum up own arcs by the communities at both ends, and own strengths by community
//!         all ─▶ rank 0 these sums, which are the graph of communities; rank 0 merges
//!         rank 0 ─▶ all the community that each community is merged with
//! ```
//!
//! Memory: to split, 4 bytes per vertex and a message of up to 8; to merge, 4 bytes per vertex, 8 bytes an own vertex, and on
//! rank 0 the graph of communities, 24 bytes for each pair of communities of a rank that are neighbours.
//!
//! Determinism: sets and sums of integers, which depend on neither the number of ranks nor that of threads.

use super::locked;
use crate::communities::Marks;
use crate::disjoint_sets::DisjointSets;
use crate::engine::Finisher;
use crate::finishing::{Communities, Finishing};
use crate::refine::MergeShare;
use crate::refine::merge::{SummedUp, smallest_members};
use crate::{Label, NO_LABEL, RoundObserver, RunError, Settings};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{Direction, GraphView, Observer, VertexId, dispatch_lists};
use ripplet_ranks::{Comm, CommError, Received};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;

/// Vertices of a task: the run polls for cancellation between tasks.
const VERTICES_PER_TASK: usize = 4096;
/// Words of the record of a community before its arcs: its number, its strength, and the number of its arcs.
const HEAD: usize = 4;
/// Words of an arc of a community: the other end, and the weight.
const ARC: usize = 3;

/// Splitting and merging by all ranks.
pub(super) struct RanksFinisher<'a> {
    pub comm: &'a Mutex<Comm>,
    pub settings: &'a Settings,
    /// The vertices of this rank.
    pub own: Range<VertexId>,
}

/// Returns the bytes that splitting and merging take on a rank with `own` vertices and `arcs` arcs, beside what rank 0
/// receives to merge.
pub(super) fn bytes_for(vertices: u64, own: u64, arcs: u64, settings: &Settings) -> u64 {
    let labels = 4 * vertices;
    let splitting = if settings.keep_disconnected { 0 } else { labels + 12 * vertices };
    let arc = (size_of::<u32>() * ARC) as u64;
    let merging = settings.merge.map_or(0, |_| {
        let records = (8 + 4 * HEAD as u64) * own;
        // The records of tasks, and the message of them.
        (2 * labels).saturating_add(records).saturating_add(arcs.saturating_mul(2 * arc))
    });
    splitting.max(merging)
}

impl Finisher for RanksFinisher<'_> {
    fn finish(
        &self,
        run: Finishing<'_>,
        observer: &mut dyn RoundObserver,
    ) -> Result<Option<Communities>, RunError> {
        let mut labels = memory::copied(run.labels)?;
        let split = match self.settings.keep_disconnected {
            true => None,
            false => {
                observer.on_stage("splitting what is not connected");
                Some(self.split(run.graph, &mut labels, &*observer)?)
            }
        };
        let merged = match self.settings.merge {
            None => None,
            Some(share) => {
                observer.on_stage("merging communities");
                Some(self.merge(run.graph, &mut labels, share, &*observer)?)
            }
        };
        Ok(Some(Communities { labels, split, merged, ..Communities::default() }))
    }

    fn takes_all(&self) -> bool {
        true
    }
}

impl RanksFinisher<'_> {
    fn rank_and_size(&self) -> (usize, usize) {
        let comm = locked(self.comm);
        (comm.rank(), comm.size())
    }

    /// Gives each connected part of each community its own label, its smallest vertex; returns the number of communities
    /// that this adds.
    fn split(
        &self,
        graph: GraphView<'_>,
        labels: &mut Vec<Label>,
        observer: &dyn Observer,
    ) -> Result<u32, RunError> {
        let vertices = labels.len() as u32;
        let parents = memory::collected((0..vertices).map(AtomicU32::new))?;
        let sets = DisjointSets::new(&parents);
        self.unite_own(graph, labels, sets, observer)?;
        self.join_forests(sets, vertices)?;
        let (rank, _) = self.rank_and_size();
        let mut added = 0;
        if rank == 0 {
            let seen = Marks::new(vertices)?;
            let named = labels
                .par_iter_mut()
                .enumerate()
                .with_min_len(MIN_LEN)
                .filter(|(_, label)| **label < vertices);
            let parts: u32 = named
                .map(|(v, label)| {
                    seen.set(*label);
                    *label = sets.root(v as u32);
                    u32::from(*label == v as u32)
                })
                .sum();
            added = parts.saturating_sub(seen.count());
        }
        drop(parents);
        let mut comm = locked(self.comm);
        let split = comm.broadcast("communities", 0, labels)?;
        if split.len() != labels.len() {
            return Err(CommError::Foreign { peer: 0, bytes: 4 * split.len() }.into());
        }
        *labels = split;
        Ok(comm.all_reduce("added communities", added, u32::max)?)
    }

    /// Unites own vertices with their neighbours in the same community.
    fn unite_own(
        &self,
        graph: GraphView<'_>,
        labels: &[Label],
        sets: DisjointSets<'_>,
        observer: &dyn Observer,
    ) -> Result<(), RunError> {
        let is_member = |v: VertexId, label: Label| labels[v as usize] == label;
        dispatch_lists!(graph, (out, _incoming) => {
            self.each_task(observer, |range| {
                for v in range {
                    let label = labels[v as usize];
                    if (label as usize) < labels.len() {
                        let members = out.each_of(v as usize).filter(|&u| is_member(u, label));
                        members.for_each(|u| sets.unite(u, v));
                    }
                }
            })
        })
    }

    /// Calls `work` with ranges of own vertices, in parallel.
    fn each_task(
        &self,
        observer: &dyn Observer,
        work: impl Fn(Range<VertexId>) + Sync,
    ) -> Result<(), RunError> {
        let Range { start, end } = self.own.clone();
        (start..end).into_par_iter().step_by(VERTICES_PER_TASK).try_for_each(|first| {
            if observer.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            work(first..first.saturating_add(VERTICES_PER_TASK as u32).min(end));
            Ok(())
        })
    }

    /// Joins the forests of all ranks in that of rank 0.
    fn join_forests(&self, sets: DisjointSets<'_>, vertices: u32) -> Result<(), RunError> {
        let (rank, size) = self.rank_and_size();
        let mut stride = 1;
        while stride < size {
            let mut to: Vec<Vec<u32>> = vec![Vec::new(); size];
            if rank % (2 * stride) == stride {
                to[rank - stride] = members(sets, vertices)?;
            }
            let received = locked(self.comm).all_to_all("connected parts", &to)?;
            let peer = rank + stride;
            if rank.is_multiple_of(2 * stride) && peer < size {
                let words = received.of(peer);
                let foreign = CommError::Foreign { peer, bytes: size_of_val(words) };
                if !words.len().is_multiple_of(2) || words.iter().any(|&v| v >= vertices) {
                    return Err(foreign.into());
                }
                words.par_chunks_exact(2).with_min_len(MIN_LEN).for_each(|pair| {
                    sets.unite(pair[0], pair[1]);
                });
            }
            stride *= 2;
        }
        Ok(())
    }

    /// Merges communities; returns how many fewer there are. If it is not 0, each is named by its smallest vertex.
    fn merge(
        &self,
        graph: GraphView<'_>,
        labels: &mut [Label],
        share: MergeShare,
        observer: &dyn Observer,
    ) -> Result<u32, RunError> {
        let (communities, founders) = numbered(smallest_members(labels)?)?;
        let count = founders.len();
        let records = self.own_records(graph, labels, &communities, observer)?;
        let (rank, size) = self.rank_and_size();
        let mut to: Vec<Vec<u32>> = vec![Vec::new(); size];
        if let Some(first) = to.first_mut() {
            *first = records;
        }
        let received = locked(self.comm).all_to_all("graph of communities", &to)?;
        drop(to);
        let mut merged = (0, Vec::new());
        if rank == 0 {
            let graph = summed_up(&received, count)?;
            drop(received);
            merged = graph.merge(share, self.settings.seed, observer)?;
        }
        let mut comm = locked(self.comm);
        let left = comm.all_reduce("communities left", merged.0, u32::max)?;
        let joined = comm.broadcast("merged communities", 0, &merged.1)?;
        drop(comm);
        if joined.len() != count || joined.iter().any(|&name| name as usize >= count) {
            return Err(CommError::Foreign { peer: 0, bytes: 4 * joined.len() }.into());
        }
        let fewer = (count as u32).saturating_sub(left);
        if fewer > 0 {
            let named = labels.par_iter_mut().zip(communities).with_min_len(MIN_LEN);
            named.filter(|(label, _)| **label != NO_LABEL).for_each(|(label, community)| {
                *label = founders[joined[community as usize] as usize];
            });
        }
        Ok(fewer)
    }

    /// Sums up own strengths and own arcs between communities; returns a record for each community of an own vertex.
    ///
    /// ```text
    /// community │ strength, 2 words │ arcs │ for each arc: other community │ weight, 2 words
    /// ```
    fn own_records(
        &self,
        graph: GraphView<'_>,
        labels: &[Label],
        communities: &[u32],
        observer: &dyn Observer,
    ) -> Result<Vec<u32>, RunError> {
        let own = self.own.start..self.own.end.max(self.own.start);
        let mut members: Vec<(u32, VertexId)> =
            memory::collected(own.map(|v| (communities[v as usize], v)))?;
        members.par_sort_unstable();
        let is_directed = graph.direction() == Direction::Directed;
        let tasks: Vec<Vec<u32>> = dispatch_lists!(graph, (out, incoming) => {
            let incoming = is_directed.then_some(incoming);
            let input = Input { out, incoming, labels, communities };
            (0..members.len().div_ceil(VERTICES_PER_TASK))
                .into_par_iter()
                .map(|task| match observer.is_cancelled() {
                    true => Err(RunError::Cancelled),
                    false => Ok(input.records(groups_of(&members, task))?),
                })
                .collect::<Result<_, RunError>>()?
        });
        let mut records = memory::with_room(tasks.iter().map(Vec::len).sum())?;
        tasks.into_iter().for_each(|task| records.extend_from_slice(&task));
        Ok(records)
    }
}

/// Returns the members of a task: of the communities whose first member is in its part of the array.
fn groups_of(members: &[(u32, VertexId)], task: usize) -> &[(u32, VertexId)] {
    let begin_from = |at: usize| match at.checked_sub(1).and_then(|last| members.get(last)) {
        // A community that begins before belongs to an earlier task.
        Some(&(community, _)) => members.partition_point(|member| member.0 <= community).max(at),
        None => at.min(members.len()),
    };
    let begin = begin_from(task * VERTICES_PER_TASK);
    let end = begin_from(members.len().min((task + 1) * VERTICES_PER_TASK));
    members.get(begin..end.max(begin)).unwrap_or_default()
}

/// The lists, the labels, and the numbers of the vertices' communities.
struct Input<'a, N> {
    out: N,
    incoming: Option<N>,
    labels: &'a [Label],
    communities: &'a [u32],
}

impl<N: NeighborLists> Input<'_, N> {
    /// Returns the records of whole communities; see [`RanksFinisher::own_records`].
    fn records(&self, members: &[(u32, VertexId)]) -> Result<Vec<u32>, OutOfMemory> {
        let (mut words, mut arcs) = (Vec::new(), Vec::new());
        for group in members.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(community, _)) = group.first() else { continue };
            arcs.clear();
            let mut strength = 0u64;
            for &(_, v) in group {
                strength = strength.wrapping_add(self.strength(v));
                self.add_arcs(v, community, &mut arcs)?;
            }
            arcs.sort_unstable_by_key(|&(other, _)| other);
            arcs.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                if is_same {
                    kept.1 = kept.1.wrapping_add(next.1);
                }
                is_same
            });
            memory::reserve(&mut words, HEAD + ARC * arcs.len())?;
            let [low, high] = halves(strength);
            words.extend([community, low, high, arcs.len() as u32]);
            for &(other, weight) in &arcs {
                let [low, high] = halves(weight);
                words.extend([other, low, high]);
            }
        }
        Ok(words)
    }

    fn strength(&self, v: VertexId) -> u64 {
        let lists = [Some(self.out), self.incoming];
        lists.into_iter().flatten().map(|lists| lists.strength_of(v as usize)).sum()
    }

    /// Adds the arcs of a vertex to other communities.
    fn add_arcs(
        &self,
        v: VertexId,
        community: u32,
        arcs: &mut Vec<(u32, u64)>,
    ) -> Result<(), OutOfMemory> {
        if self.labels[v as usize] == NO_LABEL {
            return Ok(());
        }
        for lists in [Some(self.out), self.incoming].into_iter().flatten() {
            memory::reserve(arcs, lists.degree_of(v as usize) as usize)?;
            lists.for_each_arc(v as usize, |u, weight| {
                let other = self.communities[u as usize];
                if weight > 0 && other != community && self.labels[u as usize] != NO_LABEL {
                    arcs.push((other, weight));
                }
            });
        }
        Ok(())
    }
}

/// Returns each vertex that is not the smallest of its set, followed by the smallest.
fn members(sets: DisjointSets<'_>, vertices: u32) -> Result<Vec<u32>, OutOfMemory> {
    let is_member = |&v: &u32| sets.root(v) != v;
    let count = (0..vertices).into_par_iter().with_min_len(MIN_LEN).filter(is_member).count();
    let mut pairs = memory::with_room(2 * count)?;
    (0..vertices).filter(is_member).for_each(|v| pairs.extend([v, sets.root(v)]));
    Ok(pairs)
}

/// Numbers communities in the order of their smallest vertices, by which they are named. Returns the number of each
/// vertex's community, and the smallest vertices.
fn numbered(mut named: Vec<VertexId>) -> Result<(Vec<u32>, Vec<VertexId>), OutOfMemory> {
    let count = named
        .par_iter()
        .enumerate()
        .with_min_len(MIN_LEN)
        .filter(|&(v, &name)| v == name as usize)
        .count();
    let mut founders: Vec<VertexId> = memory::with_room(count)?;
    for v in 0..named.len() {
        // The smallest vertex has its number before the other members.
        let name = named[v] as usize;
        named[v] = match name == v {
            true => {
                founders.push(v as VertexId);
                founders.len() as u32 - 1
            }
            false => named[name],
        };
    }
    Ok((named, founders))
}

/// Returns the graph of `count` communities of all ranks' records.
fn summed_up(received: &Received<u32>, count: usize) -> Result<SummedUp, RunError> {
    let mut masses: Vec<u64> = memory::zeros(count)?;
    let mut begins: Vec<u64> = memory::zeros(count + 1)?;
    for (peer, words) in received.iter().enumerate() {
        for record in Records(words) {
            let Record { community, strength, arcs } =
                record.ok_or_else(|| foreign(peer, words))?;
            let (Some(mass), Some(degree)) =
                (masses.get_mut(community), begins.get_mut(community + 1))
            else {
                return Err(foreign(peer, words).into());
            };
            *mass = mass.wrapping_add(strength);
            *degree += (arcs.len() / ARC) as u64;
        }
    }
    for community in 0..count {
        begins[community + 1] += begins[community];
    }
    let arcs = begins.last().copied().unwrap_or(0) as usize;
    let (mut neighbors, mut weights): (Vec<VertexId>, Vec<u64>) =
        (memory::zeros(arcs)?, memory::zeros(arcs)?);
    let mut ends = memory::copied(&begins)?;
    for (peer, words) in received.iter().enumerate() {
        for Record { community, arcs, .. } in Records(words).flatten() {
            for arc in arcs.chunks_exact(ARC) {
                let &[other, low, high] = arc else { continue };
                if other as usize >= count {
                    return Err(foreign(peer, words).into());
                }
                let at = ends[community] as usize;
                (neighbors[at], weights[at]) = (other, whole(low, high));
                ends[community] += 1;
            }
        }
    }
    Ok(SummedUp { masses, begins, neighbors, weights })
}

/// A community of a rank: see [`RanksFinisher::own_records`].
struct Record<'a> {
    community: usize,
    strength: u64,
    arcs: &'a [u32],
}

/// The records of a message; `None` for what is no record, after which there are no more.
struct Records<'a>(&'a [u32]);

impl<'a> Iterator for Records<'a> {
    type Item = Option<Record<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let words = std::mem::take(&mut self.0);
        let (&[community, low, high, arcs], rest) = match words.split_first_chunk::<HEAD>() {
            Some(split) => split,
            None if words.is_empty() => return None,
            None => return Some(None),
        };
        let Some((arcs, rest)) =
            (arcs as usize).checked_mul(ARC).and_then(|words| rest.split_at_checked(words))
        else {
            return Some(None);
        };
        self.0 = rest;
        Some(Some(Record { community: community as usize, strength: whole(low, high), arcs }))
    }
}

fn foreign(peer: usize, words: &[u32]) -> CommError {
    CommError::Foreign { peer, bytes: size_of_val(words) }
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

fn whole(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_have_whole_communities_and_each_member_once() {
        for sizes in [&[1, 1, 3][..], &[5000, 1, 4095, 1, 9000, 2], &[4096, 4096, 1], &[]] {
            let each = sizes.iter().enumerate();
            let members: Vec<(u32, u32)> =
                each.flat_map(|(community, &size)| vec![(community as u32, 7); size]).collect();
            let tasks = members.len().div_ceil(VERTICES_PER_TASK);
            let all: Vec<_> = (0..tasks).map(|task| groups_of(&members, task)).collect();
            assert_eq!(all.concat(), members);
            let ends = all.iter().filter_map(|task| Some((task.first()?.0, task.last()?.0)));
            let ends: Vec<_> = ends.collect();
            assert!(ends.windows(2).all(|pair| pair[0].1 < pair[1].0), "{sizes:?}");
        }
    }

    #[test]
    fn a_message_that_is_cut_or_names_no_community_is_no_graph() {
        let words = [1, 5, 0, 1, 0, 7, 0];
        let read = |words: &[u32]| {
            Records(words).map(|record| record.map(|r| r.arcs.len())).collect::<Vec<_>>()
        };
        assert_eq!(read(&words), [Some(3)]);
        assert_eq!(read(&words[..6]), [None]);
        assert_eq!(read(&[1, 2]), [None]);
        assert_eq!(read(&[0, 0, 0, u32::MAX]), [None]);
        assert_eq!(read(&[]), []);
    }

    #[test]
    fn communities_are_numbered_by_their_smallest_vertices() {
        let (numbers, founders) = numbered(vec![0, 1, 1, 0, 4]).unwrap();
        assert_eq!((numbers, founders), (vec![0, 1, 1, 0, 2], vec![0, 1, 4]));
    }
}
