//! The graphs of a batch, each by one thread, many at once.
//!
//! A graph of a batch is too small to be shared out, and there are many: a thread does one after the
//! other at a desk that has room for the largest, so that nothing is allocated on the way.

use crate::run::go_on;
use crate::{Observer, RunError};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{OutOfMemory, memory};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Arcs and vertices below which a task is not worth its handing over.
const TASK: u64 = 1 << 12;

/// The vertices of the largest graph, which a desk has room for.
pub(crate) fn largest(graphs: BatchSlice<'_>) -> u32 {
    graphs.graphs().map(|graph| graph.vertices()).max().unwrap_or(0)
}

/// What neighbouring graphs are given: a place for their results, which is cut where the graphs are.
pub(crate) trait Place: Send + Sized {
    /// The part of these graphs, which are the first, and the rest.
    fn cut(self, first: BatchSlice<'_>) -> (Self, Self);
}

/// A value for each graph.
pub(crate) struct PerGraph<'a, T>(pub &'a mut [T]);
/// A value for each vertex; or none, where nobody asked for them.
pub(crate) struct PerVertex<'a, T>(pub &'a mut [T]);

/// Values of which graphs have different numbers.
pub(crate) struct PerItem<'a, T> {
    /// Where each graph's begin, and after them the end of the last.
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

/// Work on each graph, at desks of `make`.
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
    /// Fills a place: `work` is given each graph's part of it.
    pub fn fill<P: Place>(&self, graphs: BatchSlice<'_>, place: P) -> Result<(), RunError>
    where
        Work: Fn(&mut D, BatchGraph<'_>, P) -> Result<(), RunError> + Sync,
    {
        let threads = rayon::current_num_threads();
        let mut desks = memory::with_room(threads)?;
        for _ in 0..threads {
            desks.push((self.make)()?);
        }
        let all = graphs.vertices() + graphs.arcs();
        let state = State { desks: Mutex::new(desks), done: AtomicU64::new(0), all };
        share(graphs, place, &|graphs: BatchSlice<'_>, mut place: P| {
            go_on(self.observer)?;
            // There is one for each thread, which has one task at a time.
            let desk = state.desks.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut desk = desk.map_or_else(&self.make, Ok)?;
            for at in 0..graphs.len() {
                let (mine, others) = place.cut(graphs.slice(at..at + 1));
                (self.work)(&mut desk, graphs.graph(at), mine)?;
                place = others;
            }
            state.desks.lock().unwrap_or_else(PoisonError::into_inner).push(desk);
            let size = graphs.vertices() + graphs.arcs();
            let done = state.done.fetch_add(size, Relaxed) + size;
            self.observer.on_progress(done as f64 / state.all.max(1) as f64);
            Ok(())
        })
    }
}

/// What the tasks of a run have in common.
struct State<D> {
    desks: Mutex<Vec<D>>,
    done: AtomicU64,
    all: u64,
}

/// Shares out graphs and the parts of a place that are theirs, halving until a task is small.
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
    let (left, right) = rayon::join(|| share(left, of_left, task), || share(right, of_right, task));
    left.and(right)
}
