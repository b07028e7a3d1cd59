//! Lists without repetitions.

use ripplet_graph::VertexId;

/// Yields each distinct vertex of a sorted list once, with the place at which the iterator first
/// meets it.
#[inline(always)]
pub(super) fn distinct(
    list: impl Iterator<Item = (usize, VertexId)>,
) -> impl Iterator<Item = (usize, VertexId)> {
    // Not a vertex: the initial value differs from all of them.
    let mut last = VertexId::MAX;
    list.filter_map(move |(at, vertex)| {
        let new = vertex != last;
        last = vertex;
        new.then_some((at, vertex))
    })
}
