//! The distances between all vertices of a graph of a batch, by one thread.

use crate::dijkstra::{Dijkstra, bytes_of_dijkstra};
use crate::lists::{Along, of_member};
use crate::run::go_on;
use crate::search::{SOURCES, Search, bytes_of_search};
use crate::waves::{Findings, Sum, Sums, sources};
use crate::{Observer, RunError};
use ripplet_graph::batch::BatchGraph;
use ripplet_graph::{OutOfMemory, VertexId};

/// What a thread searches graphs with, of so many vertices or fewer.
pub(crate) enum Distances {
    /// From 64 vertices at once.
    Hops(Search, Box<Sums>),
    /// From one vertex after the other.
    Weights(Dijkstra),
}

/// Bytes of the [`Distances`] of so many threads.
pub(crate) fn bytes_of_distances(weigh: bool, vertices: u32, threads: usize) -> u64 {
    let bytes = if weigh { bytes_of_dijkstra(vertices) } else { bytes_of_search(vertices) };
    (threads as u64).saturating_mul(bytes)
}

impl Distances {
    pub fn new(weigh: bool, vertices: u32) -> Result<Distances, OutOfMemory> {
        Ok(match weigh {
            true => Distances::Weights(Dijkstra::new(vertices)?),
            false => Distances::Hops(Search::new(vertices)?, Box::default()),
        })
    }

    /// What the distances from each vertex come to, one vertex after the other.
    pub fn for_each(
        &mut self,
        graph: BatchGraph<'_>,
        along: Along,
        observer: &dyn Observer,
        mut take: impl FnMut(VertexId, &Sum),
    ) -> Result<(), RunError> {
        let lists = of_member(graph, along);
        match self {
            Distances::Hops(search, sums) => {
                for group in 0..graph.vertices().div_ceil(SOURCES) {
                    go_on(observer)?;
                    let sources = sources(group, graph.vertices());
                    sums.clear();
                    search.run(lists, sources.clone(), &mut **sums);
                    sources.zip(sums.of_sources()).for_each(|(source, sum)| take(source, sum));
                }
            }
            Distances::Weights(search) => {
                for source in 0..graph.vertices() {
                    go_on(observer)?;
                    search.run(lists, source);
                    take(source, &search.sum());
                }
            }
        }
        Ok(())
    }
}
