//! Construction of the lists of some vertices, by one of several processes that each build their own.
//!
//! The rows are arcs, each at the process whose vertex it begins at. The lists are those that one process builds of all
//! rows: the processes only agree on the scale of the weights.

use super::{Arcs, GraphBuilder, LargestSum, MAX_SHARD_ARCS, Role, Rows, cut_by, ranges};
use crate::grouped::{Classes, Groups};
use crate::memory::{self, OutOfMemory};
use crate::{
    Adjacency, BuildError, EdgeTable, Graph, InvalidGraph, Reduce, Shard, VertexId, VertexIds,
    WeightLoss, WeightScale, as_atomic,
};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use thiserror::Error;

/// Arcs of a process's own vertices, for [`GraphBuilder::build_part`]. Arcs of other vertices are ignored.
#[derive(Clone, Debug)]
pub struct OwnArcs {
    /// The vertices whose arcs these are.
    pub own: Range<VertexId>,
    /// The arcs out of these vertices, which are the rows' sources; in an undirected graph all arcs of them, a loop once.
    pub out: EdgeTable,
    /// In a directed graph the arcs into these vertices, which are the rows' sources, too.
    pub incoming: Option<EdgeTable>,
    /// The weights of the edges that this process has read, each once, if the graph has weights.
    pub weights: Option<Vec<f64>>,
}

/// The reason why a process has no part of a graph.
#[derive(Debug, Error)]
pub enum PartError<E> {
    /// Its arcs do not become lists.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The arcs are not those of the vertices, of the ids, or of the direction.
    #[error(transparent)]
    Invalid(#[from] InvalidGraph),
    /// Another process has an error of its own.
    #[error("building the graph: another process failed")]
    Elsewhere,
    /// The processes cannot combine their values.
    #[error(transparent)]
    Reduce(E),
}

impl GraphBuilder {
    /// Builds the lists of a process's own vertices, on rayon's current pool; those of all others are empty. Self-loops
    /// are kept: who makes the arcs drops them. All processes call it at the same time.
    ///
    /// `ids` are those of all vertices; a process that needs none may number them from 0.
    ///
    /// The lists and their weights are those of [`GraphBuilder::build`] with the rows of all processes, in any order.
    ///
    /// # Errors
    /// The errors of [`GraphBuilder::build`]; and if another process has such an error, or a combination fails.
    pub fn build_part<R: Reduce>(
        &self,
        ids: VertexIds,
        arcs: OwnArcs,
        reduce: &mut R,
    ) -> Result<Graph, PartError<R::Error>> {
        let OwnArcs { own, out, incoming, weights } = arcs;
        let direction = self.options.direction;
        let (mut scale, mut loss) = (WeightScale::ONE, WeightLoss::default());
        if let Some(weights) = &weights {
            scale = WeightScale::fitting_all(weights, reduce).map_err(PartError::Reduce)?;
            loss = self.loss_of_all(weights, scale, reduce)?;
        }
        let mut tables: Vec<EdgeTable> = std::iter::once(out).chain(incoming).collect();
        let shards = loop {
            let sums = LargestSum::default();
            let built = self.build_own(&mut tables, own.clone(), ids.len() as u32, scale, &sums);
            let ended = [sums.overflow().unwrap_or(0), u64::from(built.is_err())];
            let largest = |a: [u64; 2], b: [u64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
            let [sum, failed] =
                reduce.reduce("lists", ended, largest).map_err(PartError::Reduce)?;
            match (built?, failed, sum, &weights) {
                (_, 1.., ..) => return Err(PartError::Elsewhere),
                (_, 0, 1.., Some(weights)) => {
                    scale = scale.coarser_for(sum);
                    loss = self.loss_of_all(weights, scale, reduce)?;
                }
                (shards, ..) => break shards,
            }
        };
        self.options.weights.note(loss);
        let graph = Graph::from_part(ids, direction, scale, shards, own);
        let arcs = graph.as_ref().map_or(0, Graph::arcs);
        let own = [arcs, u64::from(graph.is_err())];
        let sum = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
        let [all, failed] = reduce.reduce("arcs", own, sum).map_err(PartError::Reduce)?;
        match (graph?, failed) {
            (graph, 0) => Ok(graph.with_arcs_elsewhere(all - arcs)),
            _ => Err(PartError::Elsewhere),
        }
    }

    /// Returns the change of all processes' weights at a scale.
    fn loss_of_all<R: Reduce>(
        &self,
        weights: &[f64],
        scale: WeightScale,
        reduce: &mut R,
    ) -> Result<WeightLoss, PartError<R::Error>> {
        let loss = scale.loss_of_all(weights, reduce).map_err(PartError::Reduce)?;
        match self.options.weights.refuses(&loss) {
            true => Err(BuildError::CoarseWeights(loss).into()),
            false => Ok(loss),
        }
    }

    /// Builds shards of the own vertices from a table for each list, and one without arcs of those before and of those
    /// behind.
    fn build_own(
        &self,
        tables: &mut [EdgeTable],
        own: Range<VertexId>,
        vertices: u32,
        scale: WeightScale,
        sums: &LargestSum,
    ) -> Result<Vec<Shard>, BuildError> {
        self.options.cancel.check()?;
        let counts = tables.iter().map(|table| counts_of(table, &own));
        let counts = counts.collect::<Result<Vec<_>, _>>()?;
        let lists = tables.len();
        let weighted = tables.iter().any(|table| table.weights().is_some());
        let mut shards = Vec::new();
        if own.start > 0 {
            shards.push(empty(0..own.start, lists, weighted)?);
        }
        let most = |v: usize| counts.iter().map(|counts| u64::from(counts[v])).max().unwrap_or(0);
        for locals in cut_by(own.len(), self.shard_arcs, most) {
            let range = own.start + locals.start as u32..own.start + locals.end as u32;
            let mut of_shard = Vec::with_capacity(lists);
            for (edges, counts) in tables.iter_mut().zip(&counts) {
                let mut offsets = memory::with_room(locals.len() + 1)?;
                offsets.extend_from_slice(&counts[locals.clone()]);
                offsets.push(0);
                let classes = Classes::new(ranges(&offsets, range.start));
                // All rows whose source has a class are wanted; their targets need none.
                let groups = Groups::sort(edges, &classes, &Classes::new(Vec::new()))?;
                let rows = Rows { edges, role: Role::Out, keep_loops: true };
                let arcs = Arcs { rows, groups: &groups, scale };
                let (neighbors, weights) =
                    self.place(&arcs, classes.ranges(), &mut offsets, sums)?;
                let weights = weights.map(Into::into);
                of_shard.push(Adjacency::new(offsets.into(), neighbors.into(), weights));
            }
            shards.push(shard(range, of_shard));
        }
        if own.end < vertices {
            shards.push(empty(own.end..vertices, lists, weighted)?);
        }
        Ok(shards)
    }
}

/// Returns the number of arcs of each own vertex.
fn counts_of(edges: &EdgeTable, own: &Range<VertexId>) -> Result<Vec<u32>, BuildError> {
    let mut counts = memory::zeros::<u32>(own.len())?;
    let shared = as_atomic(&mut counts);
    let is_counted = |owner: VertexId| {
        // The count before: as many arcs as a list may have are counted, and no more.
        let count = owner.checked_sub(own.start).and_then(|local| shared.get(local as usize));
        count.is_none_or(|count| u64::from(count.fetch_add(1, Relaxed)) < MAX_SHARD_ARCS)
    };
    let too_many = edges.sources().par_iter().find_first(|&&owner| !is_counted(owner)).copied();
    match too_many {
        None => Ok(counts),
        Some(vertex) => {
            let arcs = edges.sources().par_iter().filter(|&&owner| owner == vertex).count() as u64;
            let id = format!("number {vertex}, in ascending order of the ids,");
            Err(BuildError::TooManyArcs { id, arcs, limit: MAX_SHARD_ARCS })
        }
    }
}

/// Returns a shard without arcs, whose offsets take no memory before they are read.
fn empty(vertices: Range<VertexId>, lists: usize, weighted: bool) -> Result<Shard, OutOfMemory> {
    let list = || {
        let offsets = memory::zeros::<u32>(vertices.len() + 1)?;
        let weights = weighted.then(|| Vec::new().into());
        Ok(Adjacency::new(offsets.into(), Vec::new().into(), weights))
    };
    let lists = (0..lists).map(|_| list()).collect::<Result<Vec<_>, OutOfMemory>>()?;
    Ok(shard(vertices, lists))
}

/// Returns a shard with one or two lists.
fn shard(vertices: Range<VertexId>, lists: Vec<Adjacency>) -> Shard {
    let mut lists = lists.into_iter();
    let none = || Adjacency::new(Vec::new().into(), Vec::new().into(), None);
    let out = lists.next().unwrap_or_else(none);
    Shard::new(vertices, out, lists.next())
}
