//! What a device knows of all vertices, beside the lists that it has.

use super::task::Task;
use super::totals::Volumes;
use rayon::prelude::*;
use ripplet_graph::{GraphView, VertexId, memory};
use ripplet_lp::RunError;
use std::borrow::Cow;
use std::ops::Range;

/// What a device knows of all vertices.
pub(super) struct Known {
    /// The number of arcs, in one direction.
    pub arcs: u64,
    /// Contributions to label totals.
    pub volumes: Volumes,
    /// The degree of each vertex, if the graph has not the lists of all.
    pub degrees: Option<Vec<u32>>,
}

impl Known {
    /// Computes it of a graph with all lists.
    ///
    /// # Errors
    /// [`RunError::OutOfMemory`] if the host has no memory for it.
    pub fn of(task: Task<'_>) -> Result<Known, RunError> {
        Ok(Known { arcs: task.graph.arcs(), volumes: Volumes::of(task)?, degrees: None })
    }

    /// Returns the degrees of some vertices.
    pub fn degrees(&self, graph: GraphView<'_>, of: Range<VertexId>) -> Cow<'_, [u32]> {
        match &self.degrees {
            Some(degrees) => Cow::Borrowed(&degrees[of.start as usize..of.end as usize]),
            None => Cow::Owned(of.into_par_iter().map(|v| degree_of(graph, v)).collect()),
        }
    }
}

/// Returns the degrees of some vertices, whose lists the graph has.
///
/// # Errors
/// If memory is refused.
pub(super) fn degrees_of(
    graph: GraphView<'_>,
    of: Range<VertexId>,
) -> Result<Vec<u32>, memory::OutOfMemory> {
    let mut degrees = memory::with_room(of.len())?;
    degrees.par_extend(of.into_par_iter().map(|v| degree_of(graph, v)));
    Ok(degrees)
}

fn degree_of(graph: GraphView<'_>, v: VertexId) -> u32 {
    u32::try_from(graph.degree(v)).unwrap_or(u32::MAX)
}
