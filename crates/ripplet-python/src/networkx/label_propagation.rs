//! NetworkX's `label_propagation_communities`: semi-synchronous label propagation.

use crate::array::Array;
use crate::error::{Class, Failure};
use crate::graph::Graph;
use crate::options::Options;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use ripplet::Observer;
use ripplet::graph::{GraphView, OutOfMemory, VertexId, memory};

/// Returns the labels of networkx's `label_propagation_communities`: semi-synchronous label propagation after Cordasco
/// and Gargano 2010, with its order of nodes and its colours.
///
/// Vertices are numbered in the order of the graph's nodes, and loops are kept. Vertices of one colour are no neighbours, so
/// they update at the same time; the result does not depend on the number of threads.
#[pyfunction]
pub fn semi_synchronous(
    py: Python<'_>,
    graph: &Graph,
    options: Bound<'_, PyDict>,
) -> PyResult<Array> {
    let stored = graph.stored.clone();
    Options(options).start()?.run(py, move |watch| {
        watch.stage("colouring");
        let graph = stored.view();
        let colours = colours_of(graph)?;
        watch.stage("running");
        let mut labels: Vec<VertexId> = memory::collected(0..graph.vertices())?;
        while !is_complete(graph, &labels)? {
            for colour in &colours {
                if watch.is_cancelled() {
                    return Err(Failure::new(Class::Run, "cancelled"));
                }
                let chosen: Result<Vec<VertexId>, OutOfMemory> = colour
                    .par_iter()
                    .with_min_len(256)
                    .map_init(Vec::new, |votes, &vertex| {
                        chosen_label(graph, vertex, &labels, votes)
                    })
                    .collect();
                for (&vertex, label) in colour.iter().zip(chosen?) {
                    labels[vertex as usize] = label;
                }
            }
        }
        Ok(Array::of(labels))
    })
}

/// Returns the vertices of each colour, of a greedy colouring that begins with the highest degrees.
fn colours_of(graph: GraphView<'_>) -> Result<Vec<Vec<VertexId>>, OutOfMemory> {
    let vertices = graph.vertices();
    // A loop counts twice, as networkx counts degrees.
    let degree = |vertex: VertexId| {
        graph.neighbors(vertex).map(|to| if to == vertex { 2_u64 } else { 1 }).sum::<u64>()
    };
    let degrees: Vec<u64> = memory::collected((0..vertices).map(degree))?;
    let mut order: Vec<VertexId> = memory::collected(0..vertices)?;
    order.sort_by_key(|&vertex| std::cmp::Reverse(degrees[vertex as usize]));
    let mut colour_of: Vec<u32> = memory::filled(u32::MAX, vertices as usize)?;
    // The last vertex whose neighbours have a colour.
    let mut taken: Vec<VertexId> = Vec::new();
    let mut colours: Vec<Vec<VertexId>> = Vec::new();
    for vertex in order {
        for to in graph.neighbors(vertex) {
            if let Some(taken) = taken.get_mut(colour_of[to as usize] as usize) {
                *taken = vertex;
            }
        }
        let free = taken.iter().position(|&by| by != vertex).unwrap_or(taken.len());
        if free == taken.len() {
            memory::push(&mut taken, VertexId::MAX)?;
            memory::push(&mut colours, Vec::new())?;
        }
        colour_of[vertex as usize] = free as u32;
        memory::push(&mut colours[free], vertex)?;
    }
    Ok(colours)
}

/// Collects the labels of the neighbours, sorted.
fn collect_votes(
    graph: GraphView<'_>,
    vertex: VertexId,
    labels: &[VertexId],
    votes: &mut Vec<VertexId>,
) -> Result<(), OutOfMemory> {
    votes.clear();
    for to in graph.neighbors(vertex) {
        memory::push(votes, labels[to as usize])?;
    }
    votes.sort_unstable();
    Ok(())
}

/// Returns the highest number of equal votes, the largest label that has it, and whether `label` has it.
fn most_frequent(votes: &[VertexId], label: VertexId) -> Option<(VertexId, bool)> {
    let most = votes.chunk_by(|a, b| a == b).map(<[VertexId]>::len).max()?;
    let mut frequent =
        votes.chunk_by(|a, b| a == b).filter(|equal| equal.len() == most).map(|equal| equal[0]);
    let has = frequent.clone().any(|frequent| frequent == label);
    frequent.next_back().map(|largest| (largest, has))
}

/// Returns the most frequent label of the neighbours; of several the present one, or else the largest.
fn chosen_label(
    graph: GraphView<'_>,
    vertex: VertexId,
    labels: &[VertexId],
    votes: &mut Vec<VertexId>,
) -> Result<VertexId, OutOfMemory> {
    collect_votes(graph, vertex, labels, votes)?;
    let label = labels[vertex as usize];
    Ok(match most_frequent(votes, label) {
        Some((largest, false)) => largest,
        _ => label,
    })
}

/// Returns whether each vertex has a most frequent label of its neighbours.
fn is_complete(graph: GraphView<'_>, labels: &[VertexId]) -> Result<bool, OutOfMemory> {
    let holds = |votes: &mut Vec<VertexId>, vertex: VertexId| {
        collect_votes(graph, vertex, labels, votes)?;
        Ok(most_frequent(votes, labels[vertex as usize]).is_none_or(|(_, has)| has))
    };
    (0..graph.vertices())
        .into_par_iter()
        .with_min_len(256)
        .map_init(Vec::new, holds)
        .try_reduce(|| true, |a, b| Ok(a && b))
}
