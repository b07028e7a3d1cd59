//! Moves a graph's lists to a device, decoded if they are compressed.

use super::places::Places;
use crate::lp::failed;
use bytemuck::Pod;
use rayon::prelude::*;
use ripplet_gpu::Device;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{Direction, Graph, GraphView, dispatch_lists, memory};
use ripplet_lp::RunError;
use std::ops::Range;

/// Arcs that are decoded and moved together.
const MOVED: u64 = 1 << 22;

/// Copies the begins, degrees, arcs and weights of a graph to their places. Of a directed graph, a vertex
/// has its list out, then that in.
pub(super) fn upload<D: Device>(
    device: &D,
    memory: &D::Memory,
    places: &Places,
    graph: GraphView<'_>,
) -> Result<(), RunError> {
    if let GraphView::Plain(graph) = graph
        && graph.direction() == Direction::Undirected
    {
        return upload_shards(device, memory, places, graph);
    }
    dispatch_lists!(graph, (out, incoming) => {
        let incoming = (graph.direction() == Direction::Directed).then_some(incoming);
        upload_lists(device, memory, places, Ends { out, incoming })
    })
}

/// Copies the lists of an undirected graph, which are as they are on the device.
fn upload_shards<D: Device>(
    device: &D,
    to: &D::Memory,
    places: &Places,
    graph: &Graph,
) -> Result<(), RunError> {
    let write = |place: &Range<u64>, at: u64, bytes: &[u8]| {
        device.write(to, place.start + at, bytes).map_err(failed)
    };
    let mut first_arc = 0;
    for shard in graph.shards() {
        let (lists, first) = (shard.out(), u64::from(shard.vertices().start));
        let offsets = lists.offsets();
        let mut degrees: Vec<u32> =
            memory::zeros(shard.vertices().len()).map_err(RunError::Array)?;
        let mut begins: Vec<u64> = memory::zeros(degrees.len()).map_err(RunError::Array)?;
        let each = degrees.par_iter_mut().zip(&mut begins).zip(offsets.par_windows(2));
        each.for_each(|((degree, begin), pair)| {
            *degree = pair[1] - pair[0];
            *begin = first_arc + u64::from(pair[0]);
        });
        write(&places.degrees, 4 * first, bytemuck::cast_slice(&degrees))?;
        write(&places.begins, 8 * first, bytemuck::cast_slice(&begins))?;
        write(&places.ids, 4 * first_arc, bytemuck::cast_slice(lists.neighbors()))?;
        if let Some(weights) = lists.weights() {
            write(&places.weights, 4 * first_arc, bytemuck::cast_slice(weights))?;
        }
        first_arc += lists.neighbors().len() as u64;
    }
    Ok(())
}

/// The lists of a graph.
#[derive(Clone, Copy)]
struct Ends<N> {
    out: N,
    /// The arcs in, if the graph is directed.
    incoming: Option<N>,
}

impl<N: NeighborLists> Ends<N> {
    /// Returns the arcs of a vertex.
    fn degree(self, v: usize) -> Result<u32, RunError> {
        let entering = self.incoming.map_or(0, |incoming| incoming.degree_of(v));
        let degree = self.out.degree_of(v).checked_add(entering);
        degree.ok_or_else(|| RunError::Device("a vertex has 2^32 arcs or more".into()))
    }

    /// Yields the lists of a vertex.
    fn each(self) -> impl Iterator<Item = N> {
        [Some(self.out), self.incoming].into_iter().flatten()
    }
}

fn upload_lists<D: Device, N: NeighborLists>(
    device: &D,
    to: &D::Memory,
    places: &Places,
    lists: Ends<N>,
) -> Result<(), RunError> {
    let vertices = lists.out.vertices();
    let mut degrees: Vec<u32> = memory::zeros(vertices).map_err(RunError::Array)?;
    for (v, degree) in degrees.iter_mut().enumerate() {
        *degree = lists.degree(v)?;
    }
    let mut end = 0;
    let begins: Vec<u64> = memory::collected(degrees.iter().map(|&degree| {
        end += u64::from(degree);
        end - u64::from(degree)
    }))
    .map_err(RunError::Array)?;
    let write = |place: &Range<u64>, at: u64, bytes: &[u8]| {
        device.write(to, place.start + at, bytes).map_err(failed)
    };
    write(&places.begins, 0, bytemuck::cast_slice(&begins))?;
    write(&places.degrees, 0, bytemuck::cast_slice(&degrees))?;
    let mut first = 0;
    while first < vertices {
        let limit = begins[first] + MOVED;
        let last = begins.partition_point(|&begin| begin < limit).max(first + 1);
        let ids = collected(first..last, |v| lists.each().flat_map(move |of| of.each_of(v)));
        write(&places.ids, 4 * begins[first], bytemuck::cast_slice(&ids))?;
        if lists.out.is_weighted() {
            let weights = collected(first..last, |v| {
                lists.each().flat_map(move |of| of.each_weight_of(v).into_iter().flatten())
            });
            write(&places.weights, 4 * begins[first], bytemuck::cast_slice(&weights))?;
        }
        first = last;
    }
    Ok(())
}

/// Returns the values of whole vertices, each collected by one thread.
fn collected<T: Pod + Send, I: Iterator<Item = T>>(
    vertices: Range<usize>,
    values: impl Fn(usize) -> I + Sync + Send,
) -> Vec<T> {
    vertices.into_par_iter().flat_map_iter(values).collect()
}
