//! Parallel work over the graphs of a batch: one thread per graph, many graphs at once.
//!
//! A graph of a batch is too small to be split between threads, and there are many. Each thread
//! works on one graph after the other, in a workspace that has room for the largest, so that
//! nothing is allocated in the loop.

use crate::AnalysisError;
use crate::run::go_on;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Observer, OutOfMemory, memory, tasks};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// The least number of arcs and vertices of a task: smaller ones cost more to schedule than to do.
const TASK: u64 = 1 << 12;

/// Returns the number of vertices of the largest graph, which a workspace has room for.
pub(crate) fn largest(graphs: BatchSlice<'_>) -> u32 {
    graphs.graphs().map(|graph| graph.vertices()).max().unwrap_or(0)
}

/// The output of consecutive graphs, which can be split between graphs.
pub(crate) trait Place: Send + Sized {
    /// Splits off the part of the graphs `first`; returns it and the rest.
    fn cut(self, first: BatchSlice<'_>) -> (Self, Self);
}

/// A value per graph.
pub(crate) struct PerGraph<'a, T>(pub &'a mut [T]);
/// A value per vertex; or none if they are not requested.
pub(crate) struct PerVertex<'a, T>(pub &'a mut [T]);

/// A varying number of values per graph.
pub(crate) struct PerItem<'a, T> {
    /// The begin of each graph's values, and the end of the last graph's.
    pub starts: &'a [u64],
    pub items: &'a mut [T],
}

impl<T: Send> Place for PerGraph<'_, T> {
    fn cut(self, first: BatchSlice<'_>) -> (Self, Self) {
        let (first, rest) = self.0.split_at_mut(first.len());
        (PerGraph(first), PerGraph(rest))
    }
}

impl<T: Send> Place for PerVertex<'_, T> {
    fn cut(self, first: BatchSlice<'_>) -> (Self, Self) {
        let vertices = self.0.len().min(first.vertices() as usize);
        let (first, rest) = self.0.split_at_mut(vertices);
        (PerVertex(first), PerVertex(rest))
    }
}

impl<T: Send> Place for PerItem<'_, T> {
    fn cut(self, first: BatchSlice<'_>) -> (Self, Self) {
        let (starts, graphs) = (self.starts, first.len());
        let (first, rest) = self.items.split_at_mut((starts[graphs] - starts[0]) as usize);
        let first = PerItem { starts: &starts[..=graphs], items: first };
        (first, PerItem { starts: &starts[graphs..], items: rest })
    }
}

impl<A: Place, B: Place> Place for (A, B) {
    fn cut(self, first: BatchSlice<'_>) -> (Self, Self) {
        let ((a, rest_of_a), (b, rest_of_b)) = (self.0.cut(first), self.1.cut(first));
        ((a, b), (rest_of_a, rest_of_b))
    }
}

/// Work on each graph, in workspaces created by `make`.
pub(crate) struct Swarm<'a, Make, Work> {
    pub make: Make,
    pub work: Work,
    pub observer: &'a dyn Observer,
}

impl<D, Make, Work> Swarm<'_, Make, Work>
where
    D: Send,
    Make: Fn() -> Result<D, OutOfMemory> + Sync,
{
    /// Fills an output: `work` receives each graph's part of it.
    pub fn fill<P: Place>(&self, graphs: BatchSlice<'_>, place: P) -> Result<(), AnalysisError>
    where
        Work: Fn(&mut D, BatchGraph<'_>, P) -> Result<(), AnalysisError> + Sync,
    {
        let threads = rayon::current_num_threads();
        let mut workspaces = memory::with_room(threads)?;
        for _ in 0..threads {
            workspaces.push((self.make)()?);
        }
        let all = graphs.vertices() + graphs.arcs();
        let state = State { workspaces: Mutex::new(workspaces), done: AtomicU64::new(0), all };
        share(graphs, place, &|graphs: BatchSlice<'_>, mut place: P| {
            go_on(self.observer)?;
            // A thread has one task at a time, so that a workspace is free for each.
            let workspace = state.workspaces.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut workspace = workspace.map_or_else(&self.make, Ok)?;
            for at in 0..graphs.len() {
                let (mine, others) = place.cut(graphs.slice(at..at + 1));
                (self.work)(&mut workspace, graphs.graph(at), mine)?;
                place = others;
            }
            state.workspaces.lock().unwrap_or_else(PoisonError::into_inner).push(workspace);
            let size = graphs.vertices() + graphs.arcs();
            let done = state.done.fetch_add(size, Relaxed) + size;
            self.observer.on_progress(done as f64 / state.all.max(1) as f64);
            Ok(())
        })
    }
}

/// The shared state of a run's tasks.
struct State<D> {
    workspaces: Mutex<Vec<D>>,
    done: AtomicU64,
    all: u64,
}

/// Distributes graphs and their parts of an output over threads, halving until a task is small.
pub(crate) fn share<P, E, T>(graphs: BatchSlice<'_>, place: P, task: &T) -> Result<(), E>
where
    P: Place,
    E: Send,
    T: Fn(BatchSlice<'_>, P) -> Result<(), E> + Sync,
{
    if graphs.len() < 2 || graphs.vertices() + graphs.arcs() < TASK {
        return task(graphs, place);
    }
    let middle = graphs.len() / 2;
    let (left, right) = (graphs.slice(0..middle), graphs.slice(middle..graphs.len()));
    let (of_left, of_right) = place.cut(left);
    let (left, right) = tasks::join(|| share(left, of_left, task), || share(right, of_right, task));
    left.and(right)
}
