//! Moves a graph's lists to a device, decoded if they are compressed.

use super::places::Places;
use crate::lp::failed;
use rayon::prelude::*;
use ripplet_gpu::Device;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{GraphView, dispatch_lists, memory};
use ripplet_lp::RunError;
use std::ops::Range;

/// Arcs that are decoded and moved together.
const MOVED: u64 = 1 << 22;

/// Copies the begins, degrees, arcs and weights of a graph to their places.
pub(super) fn upload<D: Device>(
    device: &D,
    memory: &D::Memory,
    places: &Places,
    graph: GraphView<'_>,
) -> Result<(), RunError> {
    dispatch_lists!(graph, (out, _incoming) => upload_lists(device, memory, places, out))
}

fn upload_lists<D: Device, N: NeighborLists>(
    device: &D,
    to: &D::Memory,
    places: &Places,
    lists: N,
) -> Result<(), RunError> {
    let vertices = lists.vertices();
    let degrees: Vec<u32> =
        memory::collected((0..vertices).map(|v| lists.degree_of(v))).map_err(RunError::Array)?;
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
        // Lists of whole vertices, each collected by one thread.
        let ids: Vec<u32> =
            (first..last).into_par_iter().flat_map_iter(|v| lists.each_of(v)).collect();
        write(&places.ids, 4 * begins[first], bytemuck::cast_slice(&ids))?;
        if lists.is_weighted() {
            let weights_of = |v: usize| lists.each_weight_of(v).into_iter().flatten();
            let weights: Vec<u32> =
                (first..last).into_par_iter().flat_map_iter(weights_of).collect();
            write(&places.weights, 4 * begins[first], bytemuck::cast_slice(&weights))?;
        }
        first = last;
    }
    Ok(())
}
