//! Every triangle once, on all threads.
//!
//! ```text
//! of each v (by rank), list A of its neighbours of lower rank:
//!   give each rank of A a cell
//!   of each u in A, list B:            what is in both is a third corner w
//!     ask a hub's row of A's ranks,    where A's part is shorter than B
//!     or look them up in B,            where it is much shorter
//!     or walk B over the cells
//!   what was counted is added to its vertices, and the cells are free again
//! ```
//!
//! Lists ascend and hold ranks below their owner's, so that only the part of A before u can meet B.
//!
//! A thread has a fixed number of cells. A rank's cell is that of its low bits, and says whose it is:
//! walking asks no more than that, and no branch depends on the ranks that are met, so that a processor
//! fetches the next lists meanwhile. A rank whose cell a lower one of A has is *spilled*: few are, and
//! they are looked up. Of hubs, the lowest ranks, a thread keeps the sums to itself: there, threads
//! would meet most.

use super::counts::{Counts, Sum};
use super::hubs::{Hubs, Row};
use super::oriented::{self, List, Oriented};
use super::rule::{Packed, Rule, unpack};
use crate::run::go_on;
use crate::{Observer, RunError};
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, memory};
use std::hint::black_box;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Cells of a thread, 8 or 16 bytes each: what a second-level cache holds.
const CELLS: usize = 1 << 15;
/// Ranks whose sums a thread keeps to itself: 32 KiB, 64 with triangles.
const HUBS: usize = 1 << 12;
/// A step of a search costs as much as so many of a walk.
const SEARCH_STEP: usize = 2;
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
    /// The better way to find which of `short` ranks are among `long`.
    #[inline]
    fn to_meet(short: usize, long: usize) -> Way {
        match short * (long | 1).ilog2() as usize * SEARCH_STEP < long {
            true => Way::Search,
            false => Way::Walk,
        }
    }
}

/// Bytes that a thread needs for a graph of so many edges.
pub(super) fn bytes_of_desk<R: Rule>(edges: u64, triangles: bool) -> u64 {
    let (cell, hub) = (size_of::<Cell<R>>() as u64, if triangles { 16 } else { 8 });
    let scratch = if R::DIRECTED { 16 } else { 0 };
    // An array that grows has room for twice as much, and once more while it is moved.
    let tasks = 3 * (TASKS_PER_THREAD + 1) * size_of::<Range<u32>>() as u64;
    CELLS as u64 * cell
        + HUBS as u64 * hub
        + tasks
        + oriented::longest_list(edges) * (cell + size_of::<R::Tally>() as u64 + scratch)
}

/// What a thread works with.
struct Desk<R: Rule> {
    cells: Box<[Cell<R>; CELLS]>,
    /// The ranks of v's list whose cell another one has, ascending, with room for the longest list.
    spilled: Vec<Cell<R>>,
    /// What rows of hubs add to the ranks of v's list, by place; with room for the longest list.
    of_rows: Vec<R::Tally>,
    /// Sums of the lowest ranks.
    hubs: Vec<u64>,
    /// Their triangles, where these are counted apart.
    hub_triangles: Vec<u64>,
}

/// What is counted of a rank of v's list.
struct Cell<R: Rule> {
    rank: u32,
    tally: R::Tally,
}

/// The rank of a cell that none has.
const FREE: u32 = u32::MAX;

impl<R: Rule> Cell<R> {
    fn free() -> Cell<R> {
        Cell { rank: FREE, tally: R::Tally::default() }
    }
}

impl<R: Rule> Clone for Cell<R> {
    fn clone(&self) -> Cell<R> {
        Cell { ..*self }
    }
}

/// The number of a rank's cell: the rank itself, if it is low.
#[inline]
fn cell_of(rank: u32) -> usize {
    rank as usize % CELLS
}

/// Triangles to be counted.
pub(super) struct Enumeration<'a> {
    oriented: &'a Oriented,
    hubs: &'a Hubs,
    counts: Counts<'a>,
    observer: &'a dyn Observer,
}

impl<'a> Enumeration<'a> {
    pub fn new(
        oriented: &'a Oriented,
        hubs: &'a Hubs,
        counts: Counts<'a>,
        observer: &'a dyn Observer,
    ) -> Self {
        Enumeration { oriented, hubs, counts, observer }
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
                triangles += self.corners_of(rank, &mut desk);
                let cost = cost_of(self.oriented, rank);
                (work, unseen) = (work + cost, unseen + cost);
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
        let longest = oriented::longest_list(self.oriented.edges()) as usize;
        let cells = memory::filled(Cell::free(), CELLS)?.into_boxed_slice();
        Ok(Desk {
            // A slice of this length, which a loop then knows.
            cells: cells.try_into().map_err(|_| OutOfMemory::of::<Cell<R>>(CELLS))?,
            spilled: memory::with_room(longest)?,
            of_rows: memory::with_room(longest)?,
            hubs: memory::zeros(HUBS)?,
            hub_triangles: memory::zeros(triangles)?,
        })
    }

    /// Counts the triangles whose highest rank this is; returns how many there are.
    fn corners_of<R: Rule>(&self, rank: u32, desk: &mut Desk<R>) -> u64 {
        let a = self.oriented.list(rank);
        if a.ranks.len() < 2 {
            return 0;
        }
        self.begin_reading(a.ranks);
        desk.mark(&a);
        let mut own = Sum::default();
        for (place, &u) in a.ranks.iter().enumerate().skip(1) {
            let b = self.oriented.list(u);
            let vu = if R::DIRECTED { a.multiplicity(place) } else { 1 };
            let (before, row) = (&a.ranks[..place], self.hubs.row(u));
            let (v_sum, u_sum) = match (row, Way::to_meet(place, b.ranks.len())) {
                (Some(row), _) if place < b.ranks.len() => desk.ask(before, &row, vu),
                (_, Way::Walk) => desk.walk(&b, vu),
                (_, Way::Search) => desk.search(before, &b, vu),
            };
            let v_sum = unpack(v_sum);
            own.numerator += v_sum.numerator;
            own.triangles += v_sum.triangles;
            // What u gets as the second corner goes with what it gets as the third one of others.
            R::add(&mut desk.of_rows[place], u_sum);
        }
        let mut spilled = std::mem::take(&mut desk.spilled);
        let mut tallies = spilled.drain(..);
        for (place, &w) in a.ranks.iter().enumerate() {
            let cell = &mut desk.cells[cell_of(w)];
            let cell = match cell.rank == w {
                true => Some(std::mem::replace(cell, Cell::free())),
                false => tallies.next(),
            };
            let of_cell = cell.map_or(0, |cell| R::found(cell.tally));
            let packed = of_cell + R::found(desk.of_rows[place]);
            if packed > 0 {
                self.add(desk, w, unpack(packed));
            }
        }
        drop(tallies);
        desk.spilled = spilled;
        if own != Sum::default() {
            self.add(desk, rank, own);
        }
        if R::DIRECTED { own.triangles } else { own.numerator }
    }

    /// Reads where the lists of some ranks begin, all at once: what is met one list after the other waits
    /// for the memory at each.
    #[inline]
    fn begin_reading(&self, ranks: &[u32]) {
        let first = |&u: &u32| self.oriented.list(u).ranks.first().copied().unwrap_or(0);
        black_box(ranks.iter().skip(1).map(first).fold(0, u32::wrapping_add));
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
    /// The cell of a rank of v's list.
    #[inline]
    fn cell(&mut self, rank: u32) -> &mut Cell<R> {
        let cell = &mut self.cells[cell_of(rank)];
        if cell.rank == rank {
            return cell;
        }
        let place = self.spilled.partition_point(|cell| cell.rank < rank);
        &mut self.spilled[place]
    }

    /// Gives each rank of a list a cell.
    fn mark(&mut self, a: &List<'_>) {
        self.of_rows.clear();
        for (place, &rank) in a.ranks.iter().enumerate() {
            let vw = if R::DIRECTED { a.multiplicity(place) } else { 1 };
            let marked = Cell { rank, tally: R::marked(vw) };
            self.of_rows.push(marked.tally);
            match &mut self.cells[cell_of(rank)] {
                cell if cell.rank == FREE => *cell = marked,
                _ => self.spilled.push(marked),
            }
        }
    }

    /// Asks a hub's row of the first ranks of v's list.
    #[inline]
    fn ask(&mut self, ranks: &[u32], row: &Row<'_>, vu: u64) -> (Packed, Packed) {
        let mut sums = Sums::<R>::default();
        for (&w, tally) in ranks.iter().zip(&mut self.of_rows) {
            let uw = if R::DIRECTED { row.multiplicity(w) } else { 1 };
            sums.meet(tally, row.has(w), vu, uw);
        }
        sums.of_both()
    }

    /// Meets all of a list.
    #[inline]
    fn walk(&mut self, b: &List<'_>, vu: u64) -> (Packed, Packed) {
        let (mut sums, mut from) = (Sums::<R>::default(), 0);
        for (place, &w) in b.ranks.iter().enumerate() {
            let uw = if R::DIRECTED { b.multiplicity(place) } else { 1 };
            let cell = &mut self.cells[cell_of(w)];
            sums.meet(&mut cell.tally, cell.rank == w, vu, uw);
        }
        for cell in &mut self.spilled {
            let Some(place) = seek(b.ranks, &mut from, cell.rank) else { continue };
            let uw = if R::DIRECTED { b.multiplicity(place) } else { 1 };
            sums.meet(&mut cell.tally, true, vu, uw);
        }
        sums.of_both()
    }

    /// Looks ranks of v's list, which ascend, up in another list.
    #[inline]
    fn search(&mut self, ranks: &[u32], b: &List<'_>, vu: u64) -> (Packed, Packed) {
        let (mut sums, mut from) = (Sums::<R>::default(), 0);
        for &w in ranks {
            let Some(place) = seek(b.ranks, &mut from, w) else { continue };
            let uw = if R::DIRECTED { b.multiplicity(place) } else { 1 };
            sums.meet(&mut self.cell(w).tally, true, vu, uw);
        }
        sums.of_both()
    }
}

/// What the triangles of an edge add to v and to u; of rules that give both the same, only v's.
struct Sums<R> {
    v: Packed,
    u: Packed,
    rule: PhantomData<R>,
}

impl<R> Default for Sums<R> {
    fn default() -> Sums<R> {
        Sums { v: 0, u: 0, rule: PhantomData }
    }
}

impl<R: Rule> Sums<R> {
    #[inline]
    fn meet(&mut self, tally: &mut R::Tally, is_of_w: bool, vu: u64, uw: u64) {
        let (v, u) = R::meet(tally, is_of_w, vu, uw);
        self.v += v;
        if !R::ALIKE {
            self.u += u;
        }
    }

    #[inline]
    fn of_both(self) -> (Packed, Packed) {
        (self.v, if R::ALIKE { self.v } else { self.u })
    }
}

/// Where a list has a rank. `from` is where it is looked for, in steps that double, and becomes where the
/// next higher rank is to be looked for.
#[inline]
fn seek(ranks: &[u32], from: &mut usize, rank: u32) -> Option<usize> {
    let mut step = 1;
    while ranks.get(*from + step).is_some_and(|&lower| lower < rank) {
        *from += step;
        step *= 2;
    }
    let end = ranks.len().min(*from + step + 1);
    *from += ranks[*from..end].partition_point(|&lower| lower < rank);
    ranks.get(*from).is_some_and(|&found| found == rank).then_some(*from)
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

/// What counting the triangles of a highest rank will cost, in about arcs walked: as if the lists that it
/// meets were as long as its own. (To look at each costs as much as counting where triangles are few.)
fn cost_of(oriented: &Oriented, rank: u32) -> u64 {
    match oriented.degree(rank) as u64 {
        0 | 1 => 1,
        length => length * length,
    }
}

#[cfg(test)]
mod tests {
    use super::super::hubs;
    use super::super::rule::{Arcs, Plain};
    use super::*;
    use ripplet_generate::Rmat;
    use ripplet_graph::{Direction, GraphBuilder};

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

    /// The same triangles, however few hubs have rows, and so whichever way lists are met.
    #[test]
    fn every_way_finds_the_same() {
        let edges = Rmat { edge_factor: 24, ..Rmat::new(11) }.generate().unwrap();
        for direction in [Direction::Undirected, Direction::Directed] {
            let graph = GraphBuilder::new().direction(direction).build(edges.clone()).unwrap();
            let oriented = Oriented::of(&graph, &()).unwrap();
            let mut ways = [0; 3];
            for rank in 0..oriented.ranks() {
                for (place, &u) in oriented.list(rank).ranks.iter().enumerate().skip(1) {
                    let long = oriented.degree(u);
                    ways[Way::to_meet(place, long) as usize] += 1;
                    ways[2] += usize::from(place < long);
                }
            }
            assert!(ways.iter().all(|&pairs| pairs > 100), "{ways:?}");

            let vertices = graph.vertices() as usize;
            let with_rows = |rows| {
                let (mut numerators, mut triangles) = (vec![0; vertices], vec![0; vertices]);
                let hubs = Hubs::of(&oriented, direction, rows).unwrap();
                let directed = direction == Direction::Directed;
                let counts = Counts::new(&mut numerators, directed.then_some(&mut triangles));
                let enumeration = Enumeration::new(&oriented, &hubs, counts, &());
                let count = match direction {
                    Direction::Undirected => enumeration.run::<Plain>(),
                    Direction::Directed => enumeration.run::<Arcs>(),
                };
                (count.unwrap(), numerators, triangles)
            };
            let expected = with_rows(0);
            assert!(expected.0 > 100_000);
            assert!(with_rows(100) == expected && with_rows(hubs::MOST) == expected);
        }
    }

    #[test]
    fn ranks_that_share_a_cell_are_all_found() {
        let shared: Vec<u32> = (0..5u32).map(|i| i << CELLS.ilog2()).collect();
        assert!(shared.iter().all(|&rank| cell_of(rank) == 0));
        assert!((0..CELLS as u32).all(|rank| cell_of(rank) == rank as usize));
        assert!((u32::MAX - CELLS as u32..u32::MAX).all(|rank| cell_of(rank) < CELLS));
    }

    #[test]
    fn ranks_are_found_where_they_are() {
        let ranks: Vec<u32> = (0..200).map(|i| i * i / 7 + i).collect();
        for stride in [1, 3, 50, 999] {
            let mut from = 0;
            for rank in (0..6000).step_by(stride) {
                let expected = ranks.binary_search(&rank).ok();
                assert_eq!(seek(&ranks, &mut from, rank), expected, "{rank} by {stride}");
            }
        }
        assert_eq!(seek(&[], &mut 0, 3), None);
    }

    #[test]
    fn a_short_list_is_looked_up_in_a_long_one() {
        assert_eq!(Way::to_meet(1, 4), Way::Walk);
        assert_eq!(Way::to_meet(100, 100), Way::Walk);
        assert_eq!(Way::to_meet(2, 10_000), Way::Search);
        assert_eq!(Way::to_meet(0, 0), Way::Walk);
    }
}
