//! NetworkX's `pagerank`: power iteration with any weights, begins, jumps and dangling nodes.

use super::adjacency::Adjacency;
use super::communities::Weighed;
use crate::array::Array;
use crate::error::{Class, Failure};
use crate::options::Options;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use ripplet::Observer;
use ripplet::graph::{VertexId, memory};

/// Nodes of a task, and of a partial sum.
const BLOCK: usize = 1 << 12;

/// Returns the ranks of a walk; none if they have not converged after `rounds`.
///
/// `begin` are the ranks at the beginning, `jump` the shares of the nodes at which a walk goes on that jumps, and `dangling`
/// of those at which it goes on after a node without outgoing weight; each has a number for each node. The walk follows
/// an arc with the probability `damping`, in proportion to the weights or, without `weighted`, to the number of parallel
/// edges. Ranks have converged if they differ from those of the round before by less than `tolerance` times the number of
/// nodes, in the sum of magnitudes. Sums have a fixed order: the result does not depend on the number of threads.
/// Memory: 24 bytes a node beside the arguments.
///
/// Reference: Page, Brin, Motwani, Winograd, *The PageRank citation ranking*, 1999; NetworkX's `_pagerank_scipy`.
#[pyfunction]
#[pyo3(signature = (graph, weighted, begin, jump, dangling, damping, tolerance, rounds, options))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by position")]
pub fn walk_ranks(
    py: Python<'_>,
    graph: &Adjacency,
    weighted: bool,
    begin: PyBuffer<f64>,
    jump: PyBuffer<f64>,
    dangling: PyBuffer<f64>,
    damping: f64,
    tolerance: f64,
    rounds: u64,
    options: Bound<'_, PyDict>,
) -> PyResult<Option<Array>> {
    let dicts = graph.0.clone();
    let (mut ranks, jump, dangling) = (begin.to_vec(py)?, jump.to_vec(py)?, dangling.to_vec(py)?);
    let nodes = dicts.nodes() as usize;
    if [&ranks, &jump, &dangling].iter().any(|values| values.len() != nodes) {
        return Err(Failure::input("an array has not one number for each node").into());
    }
    Options(options).start()?.run(py, move |watch| {
        let out = Weighed::new(&dicts.out, weighted)?;
        let incoming = Weighed::new(dicts.incoming(), weighted)?;
        let mut inverse: Vec<f64> = memory::zeros(nodes)?;
        inverse.par_iter_mut().with_min_len(BLOCK).enumerate().for_each(|(node, inverse)| {
            let sum: f64 = dicts.out.arcs(node as VertexId).map(|arc| out.weight(arc)).sum();
            *inverse = if sum == 0.0 { 0.0 } else { 1.0 / sum };
        });
        let mut next: Vec<f64> = memory::zeros(nodes)?;
        for _ in 0..rounds {
            if watch.is_cancelled() {
                return Err(Failure::new(Class::Run, "cancelled"));
            }
            let lost: f64 =
                ranks.iter().zip(&inverse).filter(|(_, i)| **i == 0.0).map(|(r, _)| r).sum();
            next.par_iter_mut().with_min_len(BLOCK).enumerate().for_each(|(node, next)| {
                let arcs = dicts.incoming().arcs(node as VertexId);
                let shares = arcs.map(|arc| {
                    let from = dicts.incoming().ends[arc] as usize;
                    ranks[from] * (incoming.weight(arc) * inverse[from])
                });
                let share: f64 = shares.sum();
                *next = damping * (share + lost * dangling[node]) + (1.0 - damping) * jump[node];
            });
            let changes = next.par_chunks(BLOCK).zip(ranks.par_chunks(BLOCK));
            let changes = changes.map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum());
            let changes: Vec<f64> = changes.collect();
            std::mem::swap(&mut ranks, &mut next);
            if changes.iter().sum::<f64>() < nodes as f64 * tolerance {
                return Ok(Some(Array::of(ranks)));
            }
        }
        Ok(None)
    })
}
