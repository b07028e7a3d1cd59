//! Every triangle once, on all threads.
//!
//! ```text
//! of each v (by rank), list A of its neighbours of lower rank:
//!   mark the cells of A
//!   of each u in A, list B:            all of B that is marked is a third corner w
//!     walk B over the cells            or, where A is much shorter, look its ranks up in B;
//!                                      ranks beyond the cells: both lists in step
//!   what the cells have counted is added to their vertices, and they are cleared
//! ```
//!
//! Lists ascend and hold ranks below their owner's, so that only the part of A before u can meet B.
//! A thread has cells of its own for the lowest ranks, the vertices of the highest degree, which most
//! third corners are; and sums of its own for the lowest of these, where threads would meet most.

use super::counts::{Counts, Sum};
use super::oriented::{self, List, Oriented};
use super::rule::{Packed, Rule, unpack};
use crate::run::go_on;
use crate::{Observer, RunError};
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, memory};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Ranks that have cells: 256 or 512 KiB a thread, what a second-level cache holds.
const CELLS: usize = 1 << 16;
/// Ranks whose sums a thread keeps to itself: 32 KiB, 64 with triangles.
const HUBS: usize = 1 << 12;
/// A step of a search costs as much as so many of a walk.
const SEARCH_STEP: usize = 4;
/// Tasks a thread: the last one of a run is a small part of it.
const TASKS_PER_THREAD: u64 = 64;
/// Arcs walked between two looks whether the run is cancelled: about a millisecond.
const WORK_PER_LOOK: u64 = 1 << 19;

/// A way to meet a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Walk,
    Search,
}

impl Way {
    /// The better way to find which of `short` ranks are among `long`, and what it costs.
    #[inline]
    fn to_meet(short: usize, long: usize) -> (Way, usize) {
        // Searching goes on from where it was, in steps that double.
        let steps = (long / short.max(1) + 2).ilog2() as usize + 1;
        let searching = short * steps * SEARCH_STEP;
        if searching < long { (Way::Search, searching) } else { (Way::Walk, long) }
    }
}

/// Bytes that a thread needs for a graph of so many edges.
pub(super) fn bytes_of_desk<R: Rule>(edges: u64, triangles: bool) -> u64 {
    let (cell, hub) = (size_of::<R::Cell>() as u64, if triangles { 16 } else { 8 });
    let scratch = if R::DIRECTED { 16 } else { 0 };
    // An array that grows has room for twice as much, and once more while it is moved.
    let tasks = 3 * (TASKS_PER_THREAD + 1) * size_of::<Range<u32>>() as u64;
    CELLS as u64 * cell
        + HUBS as u64 * hub
        + tasks
        + oriented::longest_list(edges) * (cell + scratch)
}

/// What a thread works with.
struct Desk<R: Rule> {
    cells: Vec<R::Cell>,
    /// Cells of the ranks of v's list that are beyond `cells`.
    tail: Vec<R::Cell>,
    /// Sums of the lowest ranks.
    hubs: Vec<u64>,
    /// Their triangles, where these are counted apart.
    hub_triangles: Vec<u64>,
}

/// Triangles to be counted.
pub(super) struct Enumeration<'a> {
    oriented: &'a Oriented,
    counts: Counts<'a>,
    observer: &'a dyn Observer,
}

impl<'a> Enumeration<'a> {
    pub fn new(oriented: &'a Oriented, counts: Counts<'a>, observer: &'a dyn Observer) -> Self {
        Enumeration { oriented, counts, observer }
    }

    /// Counts every triangle by a rule; returns how many there are.
    pub fn run<R: Rule>(&self) -> Result<u64, RunError> {
        let threads = rayon::current_num_threads();
        let tasks = Tasks::cut(self.oriented, threads, self.observer)?;
        let mut desks = memory::with_room(threads)?;
        for _ in 0..threads {
            desks.push(Mutex::new(self.desk::<R>()?));
        }
        let done = AtomicU64::new(0);
        let counted = tasks.ranges.into_par_iter().with_max_len(1).map(|ranks| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            // A task that panicked ends the run: nobody reads what it left.
            let mut desk = desks[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let (mut triangles, mut work, mut unseen) = (0, 0, 0);
            for rank in ranks {
                let (found, cost) = self.corners_of(rank, &mut desk);
                (triangles, work, unseen) = (triangles + found, work + cost, unseen + cost);
                if unseen > WORK_PER_LOOK {
                    unseen = 0;
                    go_on(self.observer)?;
                }
            }
            go_on(self.observer)?;
            let done = done.fetch_add(work, Relaxed) + work;
            self.observer.on_progress(done as f64 / tasks.work.max(1) as f64);
            Ok(triangles)
        });
        let triangles = counted.try_reduce(|| 0, |a, b| Ok::<u64, RunError>(a + b))?;
        for desk in desks {
            self.add_hubs(desk.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        Ok(triangles)
    }

    fn desk<R: Rule>(&self) -> Result<Desk<R>, OutOfMemory> {
        let triangles = if self.counts.has_triangles() { HUBS } else { 0 };
        Ok(Desk {
            cells: memory::zeros(CELLS)?,
            tail: memory::with_room(self.oriented.longest_tail(CELLS))?,
            hubs: memory::zeros(HUBS)?,
            hub_triangles: memory::zeros(triangles)?,
        })
    }
    /// Counts the triangles whose highest rank this is; returns how many there are, and what it cost.
    fn corners_of<R: Rule>(&self, rank: u32, desk: &mut Desk<R>) -> (u64, u64) {
        let a = self.oriented.list(rank);
        if a.ranks.len() < 2 {
            return (0, 1);
        }
        let split = a.ranks.partition_point(|&w| (w as usize) < CELLS);
        desk.mark(&a, split);
        let (mut own, mut cost) = (Sum::default(), 1);
        for (place, &u) in a.ranks.iter().enumerate().skip(1) {
            let b = self.oriented.list(u);
            let (way, steps) = Way::to_meet(place, b.ranks.len());
            cost += 1 + steps as u64;
            let vu = if R::DIRECTED { a.multiplicity(place) } else { 1 };
            let before = &a.ranks[..place];
            let (v_sum, u_sum) = match way {
                Way::Walk => desk.walk(before, split, &b, vu),
                Way::Search => desk.search(before, split, &b, vu),
            };
            let v_sum = unpack(v_sum);
            own.numerator += v_sum.numerator;
            own.triangles += v_sum.triangles;
            if u_sum > 0 {
                self.add(desk, u, unpack(u_sum));
            }
        }
        self.collect(&a, split, desk);
        if own != Sum::default() {
            self.add(desk, rank, own);
        }
        (if R::DIRECTED { own.triangles } else { own.numerator }, cost)
    }

    /// Adds what the cells of a list counted to its vertices, and clears them.
    fn collect<R: Rule>(&self, a: &List<'_>, split: usize, desk: &mut Desk<R>) {
        for (place, &w) in a.ranks.iter().enumerate() {
            let packed = R::found(std::mem::take(desk.cell(w, place, split)));
            if packed > 0 {
                self.add(desk, w, unpack(packed));
            }
        }
    }

    #[inline]
    fn add<R: Rule>(&self, desk: &mut Desk<R>, rank: u32, sum: Sum) {
        let at = rank as usize;
        if at >= HUBS {
            return self.counts.add(self.oriented.vertex(rank), sum);
        }
        desk.hubs[at] += sum.numerator;
        if let Some(triangles) = desk.hub_triangles.get_mut(at) {
            *triangles += sum.triangles;
        }
    }

    /// Adds what a thread kept to itself.
    fn add_hubs<R: Rule>(&self, desk: Desk<R>) {
        for (rank, &numerator) in (0..self.oriented.ranks()).zip(&desk.hubs) {
            let triangles = desk.hub_triangles.get(rank as usize).copied().unwrap_or(0);
            self.counts.add(self.oriented.vertex(rank), Sum { numerator, triangles });
        }
    }
}

impl<R: Rule> Desk<R> {
    /// The cell of rank `w`, which stands at `place` of a list that leaves the cells at `split`.
    #[inline]
    fn cell(&mut self, w: u32, place: usize, split: usize) -> &mut R::Cell {
        if place < split { &mut self.cells[w as usize] } else { &mut self.tail[place - split] }
    }

    fn mark(&mut self, a: &List<'_>, split: usize) {
        // There is room for the longest list.
        self.tail.resize(a.ranks.len() - split, R::Cell::default());
        for (place, &w) in a.ranks.iter().enumerate() {
            let vw = if R::DIRECTED { a.multiplicity(place) } else { 1 };
            *self.cell(w, place, split) = R::marked(vw);
        }
    }

    /// Meets all of list `b`.
    #[inline]
    fn walk(&mut self, before: &[u32], split: usize, b: &List<'_>, vu: u64) -> (Packed, Packed) {
        let end = match b.ranks.last() {
            Some(&last) if last as usize >= CELLS => {
                b.ranks.partition_point(|&w| (w as usize) < CELLS)
            }
            _ => b.ranks.len(),
        };
        let mut sums = (0, 0);
        for (place, &w) in b.ranks[..end].iter().enumerate() {
            let uw = if R::DIRECTED { b.multiplicity(place) } else { 1 };
            let (v, u) = R::meet(&mut self.cells[w as usize], vu, uw);
            sums = (sums.0 + v, sums.1 + u);
        }
        if end == b.ranks.len() || split >= before.len() {
            return sums;
        }
        // Beyond the cells, both lists in step.
        let (mut place_a, mut place_b) = (split, end);
        while let (Some(&w), Some(&of_b)) = (before.get(place_a), b.ranks.get(place_b)) {
            if w == of_b {
                let uw = if R::DIRECTED { b.multiplicity(place_b) } else { 1 };
                let (v, u) = R::meet(&mut self.tail[place_a - split], vu, uw);
                sums = (sums.0 + v, sums.1 + u);
            }
            place_a += usize::from(w <= of_b);
            place_b += usize::from(of_b <= w);
        }
        sums
    }

    /// Looks the ranks of `before` up in list `b`, in steps that double from where the last was.
    #[inline]
    fn search(&mut self, before: &[u32], split: usize, b: &List<'_>, vu: u64) -> (Packed, Packed) {
        let (mut sums, mut from) = ((0, 0), 0);
        for (place, &w) in before.iter().enumerate() {
            let mut step = 1;
            while b.ranks.get(from + step).is_some_and(|&rank| rank < w) {
                from += step;
                step *= 2;
            }
            let end = b.ranks.len().min(from + step + 1);
            from += b.ranks[from..end].partition_point(|&rank| rank < w);
            match b.ranks.get(from) {
                None => break,
                Some(&rank) if rank == w => {
                    let uw = if R::DIRECTED { b.multiplicity(from) } else { 1 };
                    let (v, u) = R::meet(self.cell(w, place, split), vu, uw);
                    sums = (sums.0 + v, sums.1 + u);
                    from += 1;
                }
                Some(_) => {}
            }
        }
        sums
    }
}

/// Ranges of ranks of about equal work.
struct Tasks {
    ranges: Vec<Range<u32>>,
    /// The work of all.
    work: u64,
}

impl Tasks {
    fn cut(
        oriented: &Oriented,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Tasks, RunError> {
        let mut costs = memory::zeros::<u64>(oriented.blocks())?;
        costs.par_iter_mut().enumerate().try_for_each(|(block, cost)| {
            *cost = oriented.block(block).map(|rank| cost_of(oriented, rank)).sum();
            go_on(observer)
        })?;
        let work: u64 = costs.iter().sum();
        // Each task has the grain or more, but for the last: there are few.
        let grain = work / (threads as u64 * TASKS_PER_THREAD) + 1;
        let (mut ranges, mut start, mut cost_now) = (Vec::new(), 0, 0);
        let mut take = |end: u32, cost: u64| {
            cost_now += cost;
            if cost_now < grain {
                return Ok(());
            }
            cost_now = 0;
            memory::push(&mut ranges, std::mem::replace(&mut start, end)..end)
        };
        for (index, &cost) in costs.iter().enumerate() {
            let ranks = oriented.block(index);
            if cost <= grain {
                take(ranks.end, cost)?;
            } else {
                ranks.into_iter().try_for_each(|rank| take(rank + 1, cost_of(oriented, rank)))?;
            }
        }
        memory::push(&mut ranges, start..oriented.ranks())?;
        Ok(Tasks { ranges, work })
    }
}

/// What counting the triangles of a highest rank will cost, in arcs walked.
fn cost_of(oriented: &Oriented, rank: u32) -> u64 {
    let list = oriented.list(rank).ranks;
    let cost = |(place, &u): (usize, &u32)| 1 + Way::to_meet(place, oriented.degree(u)).1 as u64;
    1 + list.iter().enumerate().skip(1).map(cost).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_graph::GraphBuilder;
    use ripplet_graph::generate::Rmat;

    #[test]
    fn tasks_are_all_ranks_in_parts_of_about_equal_work() {
        let edges = Rmat::new(12).generate().unwrap();
        let graph = GraphBuilder::new().build(edges).unwrap();
        let oriented = Oriented::of(&graph, &()).unwrap();
        for threads in [1, 2, 16] {
            let tasks = Tasks::cut(&oriented, threads, &()).unwrap();
            let most = (0..oriented.ranks()).map(|rank| cost_of(&oriented, rank)).max().unwrap();
            let grain = tasks.work / (threads as u64 * TASKS_PER_THREAD) + 1;
            let (mut next, mut sum) = (0, 0);
            for ranks in &tasks.ranges {
                assert_eq!(ranks.start, next);
                next = ranks.end;
                let work = ranks.clone().map(|rank| cost_of(&oriented, rank)).sum::<u64>();
                assert!(work <= 2 * grain + most, "{ranks:?}: {work} beside {grain}");
                sum += work;
            }
            assert_eq!((next, sum), (oriented.ranks(), tasks.work));
            let few = threads * TASKS_PER_THREAD as usize + 1;
            assert!(tasks.ranges.len() <= few, "{} of {few}", tasks.ranges.len());
        }
    }

    #[test]
    fn a_short_list_is_looked_up_in_a_long_one() {
        assert_eq!(Way::to_meet(1, 4).0, Way::Walk);
        assert_eq!(Way::to_meet(100, 100).0, Way::Walk);
        assert_eq!(Way::to_meet(2, 10_000).0, Way::Search);
        assert_eq!(Way::to_meet(0, 0), (Way::Walk, 0));
    }
}
