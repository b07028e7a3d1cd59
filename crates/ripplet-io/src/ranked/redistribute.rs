//! Redistribution of edges to the ranks that have their vertices.
//!
//! A rank has consecutive vertices, with about as many arcs and vertices as any other. An edge becomes an arc at each of its
//! ends, and each goes to the rank that has the end. Arcs are sent some at a time, so that messages stay small.

use super::TablePartError;
use super::together::Together;
use crate::fault::Fault;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{
    BuildOptions, Direction, EdgeTable, EdgeTableError, OwnArcs, SelfLoops, VertexId, VertexIds,
};
use ripplet_ranks::{CommError, Received};
use std::ops::Range;
use std::path::Path;

/// Vertices of a word of a bitmap. Bounds of ranks are multiples of it, so that a word belongs to one rank.
const BITMAP_WORD: u32 = 64;
/// The most blocks of vertices whose arcs are counted to find bounds, and the most counts that a rank gets from all.
const BLOCKS: u32 = 1 << 16;
const COUNTS: u32 = 1 << 22;
/// The most edges of a rank that are sent at a time, and the most of all ranks, whose arcs one may have.
const EDGES: usize = 1 << 20;
const ALL_EDGES: usize = 1 << 22;

/// The arcs of a rank's own vertices, and the bounds of all ranks.
pub(super) struct Redistributed {
    pub(super) arcs: OwnArcs,
    pub(super) bounds: Vec<VertexId>,
}

impl Redistributed {
    /// Redistributes the edges, of which this rank has `columns` and their `weights`.
    pub(super) fn of(
        [sources, targets]: [Vec<VertexId>; 2],
        weights: Option<Vec<f64>>,
        vertices: u32,
        build: &BuildOptions,
        together: &mut Together<'_>,
        path: &Path,
    ) -> Result<Redistributed, TablePartError> {
        let refused = |error: OutOfMemory| TablePartError::from(Fault::from(error).of(path));
        let invalid = |error: EdgeTableError| TablePartError::from(Fault::from(error).of(path));
        let mut edges =
            Edges { sources, targets, weights, keep_loops: build.self_loops == SelfLoops::Keep };
        let bounds = bounds_of(&edges, vertices, together)?;
        let own = bounds[together.rank()]..bounds[together.rank() + 1];
        let roles = match build.direction {
            Direction::Undirected => &[Role::Both][..],
            Direction::Directed => &[Role::Out, Role::Incoming],
        };
        let arcs = edges.redistribute(roles, &bounds, together, &refused)?;
        let tables = arcs.into_iter().map(|arcs| arcs.into_table(vertices)).collect();
        let tables: Result<Vec<EdgeTable>, _> = tables;
        let mut tables = together.agree(tables.map_err(invalid))?.into_iter();
        let none = || Arcs::default().into_table(vertices).map_err(invalid);
        let out = tables.next().map_or_else(none, Ok)?;
        let arcs = OwnArcs { own, out, incoming: tables.next(), weights: edges.weights };
        Ok(Redistributed { arcs, bounds })
    }
}

/// The end of an edge that an arc begins at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Out,
    Incoming,
    Both,
}

/// The edges that a rank has read. Their ends are freed as they are sent; the weights stay, as the scale of all depends on
/// them.
struct Edges {
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    weights: Option<Vec<f64>>,
    keep_loops: bool,
}

/// Arcs of own vertices: the vertex, its neighbour, and the weight if there are weights.
#[derive(Default)]
struct Arcs {
    owners: Vec<VertexId>,
    neighbors: Vec<VertexId>,
    weights: Option<Vec<f64>>,
}

/// A message of arcs to each rank, and one of their weights.
type Messages = (Vec<Vec<[VertexId; 2]>>, Vec<Vec<f64>>);

impl Edges {
    /// Calls `visit(owner, neighbor, edge)` for the arcs of some edges in a role.
    fn arcs(
        &self,
        role: Role,
        edges: Range<usize>,
        mut visit: impl FnMut(VertexId, VertexId, usize),
    ) {
        let ends = self.sources[edges.clone()].iter().zip(&self.targets[edges.clone()]);
        for (edge, (&source, &target)) in edges.zip(ends) {
            let is_loop = source == target;
            if is_loop && !self.keep_loops {
                continue;
            }
            if role != Role::Incoming {
                visit(source, target, edge);
            }
            // A loop is one arc: if both ends have arcs, it is counted at the source.
            if role == Role::Incoming || role == Role::Both && !is_loop {
                visit(target, source, edge);
            }
        }
    }

    /// Sends the arcs of these roles to those that have their vertices; returns those of this rank's own, by role.
    fn redistribute(
        &mut self,
        roles: &[Role],
        bounds: &[VertexId],
        together: &mut Together<'_>,
        refused: &impl Fn(OutOfMemory) -> TablePartError,
    ) -> Result<Vec<Arcs>, TablePartError> {
        let ranks = together.size();
        let owner = |vertex: VertexId| bounds[1..ranks].partition_point(|&bound| bound <= vertex);
        let mut own = Vec::with_capacity(roles.len());
        for &role in roles {
            let mut counts = vec![0u64; ranks];
            self.arcs(role, 0..self.sources.len(), |vertex, _, _| counts[owner(vertex)] += 1);
            let to: Vec<&[u64]> = counts.iter().map(std::slice::from_ref).collect();
            let arcs: u64 = together.comm.all_to_all("arcs", &to)?.all().sum();
            let room = Arcs::with_room(arcs, self.weights.is_some());
            own.push(together.agree(room.map_err(refused))?);
        }
        let at_once = (ALL_EDGES / ranks).clamp(1 << 12, EDGES);
        let steps = self.sources.len().div_ceil(at_once) as u64;
        let steps = together.comm.all_reduce("steps", steps, u64::max)?;
        for _ in 0..steps {
            // From the back, so that their memory is free for the arcs.
            let rest = self.sources.len().saturating_sub(at_once);
            for (&role, own) in roles.iter().zip(&mut own) {
                let messages = self.messages(role, rest..self.sources.len(), ranks, owner);
                let (arcs, weights) = together.agree(messages.map_err(refused))?;
                own.receive(&together.comm.all_to_all("arcs", &arcs)?)?;
                if let Some(of_own) = &mut own.weights {
                    let received = together.comm.all_to_all("weights of arcs", &weights)?;
                    received.iter().for_each(|weights| of_own.extend_from_slice(weights));
                }
            }
            for column in [&mut self.sources, &mut self.targets] {
                column.truncate(rest);
                column.shrink_to_fit();
            }
        }
        Ok(own)
    }

    /// Returns the arcs of some edges by the rank that has their vertex, and their weights.
    fn messages(
        &self,
        role: Role,
        edges: Range<usize>,
        ranks: usize,
        owner: impl Fn(VertexId) -> usize,
    ) -> Result<Messages, OutOfMemory> {
        let mut counts = vec![0; ranks];
        self.arcs(role, edges.clone(), |vertex, _, _| counts[owner(vertex)] += 1);
        let arcs = counts.iter().map(|&count| memory::with_room(count));
        let mut arcs = arcs.collect::<Result<Vec<_>, _>>()?;
        let weighted = |count: usize| if self.weights.is_some() { count } else { 0 };
        let weights = counts.iter().map(|&count| memory::with_room(weighted(count)));
        let mut weights = weights.collect::<Result<Vec<_>, _>>()?;
        self.arcs(role, edges, |vertex, neighbor, edge| {
            let rank = owner(vertex);
            arcs[rank].push([vertex, neighbor]);
            if let Some(of_edges) = &self.weights {
                weights[rank].push(of_edges[edge]);
            }
        });
        Ok((arcs, weights))
    }
}

impl Arcs {
    fn with_room(arcs: u64, weighted: bool) -> Result<Arcs, OutOfMemory> {
        let arcs = arcs as usize;
        let weights = weighted.then(|| memory::with_room(arcs)).transpose()?;
        let (owners, neighbors) = (memory::with_room(arcs)?, memory::with_room(arcs)?);
        Ok(Arcs { owners, neighbors, weights })
    }

    /// Adds the arcs that ranks have sent, for which there is room.
    fn receive(&mut self, received: &Received<[VertexId; 2]>) -> Result<(), CommError> {
        for (peer, pairs) in received.iter().enumerate() {
            if pairs.len() > self.owners.capacity() - self.owners.len() {
                return Err(CommError::Foreign { peer, bytes: size_of_val(pairs) });
            }
            self.owners.extend(pairs.iter().map(|&[owner, _]| owner));
            self.neighbors.extend(pairs.iter().map(|&[_, neighbor]| neighbor));
        }
        Ok(())
    }

    fn into_table(self, vertices: u32) -> Result<EdgeTable, EdgeTableError> {
        let ids = VertexIds::Consecutive { first: 0, count: vertices };
        let table = EdgeTable::new(ids, self.owners, self.neighbors)?;
        match self.weights {
            Some(weights) => table.with_weights(weights),
            None => Ok(table),
        }
    }
}

/// Returns the first vertex of each rank, and last the number of vertices: about as many arcs and vertices each.
fn bounds_of(
    edges: &Edges,
    vertices: u32,
    together: &mut Together<'_>,
) -> Result<Vec<VertexId>, TablePartError> {
    let ranks = together.size();
    let most = (COUNTS / ranks as u32).clamp(1 << 10, BLOCKS);
    let mut shift = BITMAP_WORD.trailing_zeros();
    while vertices >> shift >= most {
        shift += 1;
    }
    let block = 1u64 << shift;
    let blocks = u64::from(vertices).div_ceil(block) as usize;
    let mut arcs = vec![0u64; blocks];
    edges.arcs(Role::Both, 0..edges.sources.len(), |owner, _, _| {
        arcs[(owner >> shift) as usize] += 1
    });
    let gathered = together.comm.all_gather("arcs of blocks", &arcs)?;
    // A vertex is as much work as an arc.
    let work =
        (0..blocks).map(|at| block + gathered.iter().filter_map(|arcs| arcs.get(at)).sum::<u64>());
    let mut before = 0;
    let before: Vec<u64> = work
        .map(|work| {
            before += work;
            before
        })
        .collect();
    let all = before.last().copied().unwrap_or(0);
    let bound = |rank: usize| {
        let wanted = (u128::from(all) * rank as u128 / ranks as u128) as u64;
        let blocks = before.partition_point(|&before| before < wanted) as u64;
        (blocks * block).min(vertices.into()) as VertexId
    };
    Ok((0..ranks).map(bound).chain([vertices]).collect())
}
