//! NetworkX's `label_propagation_communities`: semi-synchronous label propagation.

use crate::array::Array;
use crate::error::{Class, Failure};
use crate::graph::Graph;
use crate::job::Watch;
use crate::options::Options;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use ripplet::Observer;
use ripplet::graph::storage::NeighborLists;
use ripplet::graph::{OutOfMemory, VertexId, dispatch_lists, memory};
use ripplet::lp::cpu::CpuExecutor;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Arcs of a graph from which a run has several threads: with fewer, starting these takes longer.
const ARCS_FOR_THREADS: u64 = 1 << 17;
/// Vertices that a thread updates at a time.
const VERTICES_PER_TASK: usize = 512;

/// Returns the labels of networkx's `label_propagation_communities`: semi-synchronous label propagation after Cordasco
/// and Gargano 2010, with its order of nodes and its colours.
///
/// Vertices are numbered in the order of the graph's nodes, and loops are kept. Vertices of one colour are no neighbours, so
/// they update at the same time; the result does not depend on the number of threads. Memory: 21 bytes per vertex, and
/// 4 more for each thread.
#[pyfunction]
pub fn semi_synchronous(
    py: Python<'_>,
    graph: &Graph,
    options: Bound<'_, PyDict>,
) -> PyResult<Array> {
    let stored = graph.stored.clone();
    let start = Options(options).start()?;
    let threads = start.threads;
    start.wait(py, move |watch| {
        let graph = stored.view();
        let executor = match graph.arcs() < ARCS_FOR_THREADS {
            true => None,
            false => Some(CpuExecutor::new(threads)?),
        };
        let labels = dispatch_lists!(graph, (out, _incoming) => {
            let mut run = Run::new(out, executor)?;
            run.propagate(watch)?;
            run.labels
        });
        Ok(Array::of(labels))
    })
}

/// Returns the vertices of each colour, of a greedy colouring that begins with the highest degrees.
fn colours_of(lists: impl NeighborLists) -> Result<Vec<Vec<VertexId>>, OutOfMemory> {
    let vertices = lists.vertices();
    // A loop counts twice, as networkx counts degrees.
    let degree = |vertex: usize| {
        let loops = lists.each_of(vertex).filter(|&to| to as usize == vertex).count();
        lists.degree_of(vertex) as usize + loops
    };
    let degrees: Vec<usize> = memory::collected((0..vertices).map(degree))?;
    let mut order: Vec<VertexId> = memory::collected(0..vertices as VertexId)?;
    order.sort_by_key(|&vertex| std::cmp::Reverse(degrees[vertex as usize]));
    let mut colour_of: Vec<u32> = memory::filled(u32::MAX, vertices)?;
    // The last vertex whose neighbours have a colour.
    let mut taken: Vec<VertexId> = Vec::new();
    let mut colours: Vec<Vec<VertexId>> = Vec::new();
    for vertex in order {
        for to in lists.each_of(vertex as usize) {
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

/// The labels, and the vertices whose labels may change.
struct Run<N> {
    lists: N,
    /// The threads, if there are several.
    executor: Option<CpuExecutor>,
    /// The votes of a vertex, for each thread.
    votes: Vec<Mutex<Votes>>,
    labels: Vec<VertexId>,
    /// Whether a neighbour's label changed since the vertex was updated. All others keep their labels.
    is_stale: Vec<AtomicBool>,
}

impl<N: NeighborLists> Run<N> {
    fn new(lists: N, executor: Option<CpuExecutor>) -> Result<Run<N>, OutOfMemory> {
        let vertices = lists.vertices();
        let threads =
            executor.as_ref().map_or(1, |executor| executor.install(rayon::current_num_threads));
        let votes = (0..threads).map(|_| Ok(Mutex::new(Votes(memory::zeros(vertices)?))));
        let is_stale = memory::collected((0..vertices).map(|_| AtomicBool::new(true)))?;
        let labels = memory::collected(0..vertices as VertexId)?;
        Ok(Run { lists, votes: votes.collect::<Result<_, _>>()?, executor, labels, is_stale })
    }

    /// Updates one colour after the other, until each vertex has a most frequent label of its neighbours.
    fn propagate(&mut self, watch: &mut Watch) -> Result<(), Failure> {
        watch.stage("colouring");
        let colours = colours_of(self.lists)?;
        watch.stage("running");
        while !self.is_complete() {
            for colour in &colours {
                if watch.is_cancelled() {
                    return Err(Failure::new(Class::Run, "cancelled"));
                }
                self.update(colour)?;
            }
        }
        Ok(())
    }

    fn is_stale(&self, vertex: VertexId) -> bool {
        self.is_stale[vertex as usize].load(Relaxed)
    }

    /// Updates the vertices of a colour, which are no neighbours.
    fn update(&mut self, colour: &[VertexId]) -> Result<(), OutOfMemory> {
        let mut stale = memory::copied(colour)?;
        stale.retain(|&vertex| self.is_stale(vertex));
        let mut chosen = memory::zeros(stale.len())?;
        let run = &*self;
        match &run.executor {
            Some(executor) if stale.len() > VERTICES_PER_TASK => executor.install(|| {
                let tasks = chosen.par_chunks_mut(VERTICES_PER_TASK);
                let tasks = tasks.zip(stale.par_chunks(VERTICES_PER_TASK));
                tasks.for_each(|(chosen, vertices)| run.choose(vertices, chosen));
            }),
            _ => run.choose(&stale, &mut chosen),
        }
        for (&vertex, label) in stale.iter().zip(chosen) {
            self.is_stale[vertex as usize].store(false, Relaxed);
            if std::mem::replace(&mut self.labels[vertex as usize], label) != label {
                let neighbors = self.lists.each_of(vertex as usize);
                neighbors.for_each(|to| self.is_stale[to as usize].store(true, Relaxed));
            }
        }
        Ok(())
    }

    /// Chooses the labels of vertices.
    fn choose(&self, vertices: &[VertexId], chosen: &mut [VertexId]) {
        let mut votes = self.votes();
        for (&vertex, chosen) in vertices.iter().zip(chosen) {
            *chosen = self.most_frequent(vertex, &mut votes);
        }
    }

    fn most_frequent(&self, vertex: VertexId, votes: &mut Votes) -> VertexId {
        let labels = || self.lists.each_of(vertex as usize).map(|to| self.labels[to as usize]);
        votes.most_frequent(labels, self.labels[vertex as usize])
    }

    /// Returns whether each vertex has a most frequent label of its neighbours; those that were found to have one are not stale.
    fn is_complete(&self) -> bool {
        let votes = &mut *self.votes();
        let stale = (0..).zip(&self.labels).filter(|&(vertex, _)| self.is_stale(vertex));
        let mut holds = stale.map(|(vertex, &label)| {
            let holds = self.most_frequent(vertex, votes) == label;
            self.is_stale[vertex as usize].store(!holds, Relaxed);
            holds
        });
        holds.all(|holds| holds)
    }

    /// Returns the votes of this thread.
    fn votes(&self) -> impl std::ops::DerefMut<Target = Votes> {
        let thread = rayon::current_thread_index().unwrap_or(0);
        self.votes[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of votes for each label: 0, but while a label is chosen.
struct Votes(Vec<u32>);

impl Votes {
    /// Returns the most frequent label; of several the present one, or else the largest. Without labels, it is the present one.
    fn most_frequent<L: Iterator<Item = VertexId>>(
        &mut self,
        labels: impl Fn() -> L,
        present: VertexId,
    ) -> VertexId {
        let mut most = 0;
        for label in labels() {
            let votes = &mut self.0[label as usize];
            *votes += 1;
            most = most.max(*votes);
        }
        let (mut largest, mut keeps) = (None, most == 0);
        for label in labels() {
            if std::mem::take(&mut self.0[label as usize]) == most {
                largest = largest.max(Some(label));
                keeps |= label == present;
            }
        }
        largest.filter(|_| !keeps).unwrap_or(present)
    }
}
