//! Enumeration of triangles: every triangle once, on all threads.
//!
//! ```text
//! for each v (by rank), list A of its neighbours of lower rank:
//!   give each rank of A a cell
//!   for each u in A, list B:               each rank in both lists is a third corner w
//!     test A's ranks in a hub's bitmap,    if A's part before u is shorter than B
//!     or search for them in B,             if it is much shorter
//!     or walk B and test the cells
//!   add the counts to the vertices, and free the cells
//! ```
//!
//! Lists ascend and hold ranks below their owner's, so that only the part of A before u can
//! intersect B.
//!
//! A thread has a fixed number of cells. The cell of a rank is given by its low bits, and stores
//! the rank. A walk reads nothing else and has no branch that depends on the ranks, so that the
//! processor prefetches the next lists meanwhile. A rank whose cell is taken by a lower rank of A
//! is *spilled*: spilled ranks are few and are searched for. The sums of hubs, the lowest ranks,
//! are kept per thread: there, threads would contend most.

use super::counts::{Counts, Sum};
use super::hubs::{Hubs, Row};
use super::oriented::{self, List, Oriented};
use super::rule::{Packed, Rule, unpack};
use crate::AnalysisError;
use crate::run::go_on;
use rayon::prelude::*;
use ripplet_graph::{Observer, OutOfMemory, memory};
use std::hint::black_box;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Cells of a thread, 8 or 16 bytes each: sized for a second-level cache.
const CELLS: usize = 1 << 15;
/// Ranks whose sums a thread keeps privately: 32 KiB, 64 KiB with triangles.
const HUBS: usize = 1 << 12;
/// The cost of a step of a search, in steps of a walk.
const SEARCH_STEP: usize = 2;
/// Tasks per thread: small enough that the last task of a run is a small part of it.
const TASKS_PER_THREAD: u64 = 64;
/// Arcs walked between two checks for cancellation: about a millisecond.
const WORK_PER_LOOK: u64 = 1 << 19;

/// A method of intersecting two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Intersection {
    Walk,
    Search,
}

impl Intersection {
    /// Returns the cheaper method to find which of `short` ranks are among `long`.
    #[inline]
    fn to_meet(short: usize, long: usize) -> Intersection {
        match short * (long | 1).ilog2() as usize * SEARCH_STEP < long {
            true => Intersection::Search,
            false => Intersection::Walk,
        }
    }
}

/// Returns the bytes of a thread's workspace for a graph of `edges` edges.
pub(super) fn bytes_of_workspace<R: Rule>(edges: u64, triangles: bool) -> u64 {
    let (cell, hub) = (size_of::<Cell<R>>() as u64, if triangles { 16 } else { 8 });
    let scratch = if R::DIRECTED { 16 } else { 0 };
    // A growing array has capacity for twice its length, and the old array lives while it is moved.
    let tasks = 3 * (TASKS_PER_THREAD + 1) * size_of::<Range<u32>>() as u64;
    CELLS as u64 * cell
        + HUBS as u64 * hub
        + tasks
        + oriented::longest_list(edges) * (cell + size_of::<R::Tally>() as u64 + scratch)
}

/// Workspace of a thread.
struct Workspace<R: Rule> {
    cells: Box<[Cell<R>; CELLS]>,
    /// The ranks of v's list whose cell another rank has, ascending, with room for the longest
    /// list.
    spilled: Vec<Cell<R>>,
    /// Sums from hubs' bitmaps for the ranks of v's list, by place; with room for the longest list.
    of_rows: Vec<R::Tally>,
    /// Sums of the lowest ranks.
    hubs: Vec<u64>,
    /// Triangles of the lowest ranks, if counted separately.
    hub_triangles: Vec<u64>,
}

/// The counts of a rank of v's list.
struct Cell<R: Rule> {
    rank: u32,
    tally: R::Tally,
}

/// The rank of a free cell.
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

/// Returns the cell of a rank: the rank itself if it is below [`CELLS`].
#[inline]
fn cell_of(rank: u32) -> usize {
    rank as usize % CELLS
}

/// The inputs and outputs of an enumeration.
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

    /// Enumerates every triangle and applies a rule; returns their number.
    pub fn run<R: Rule>(&self) -> Result<u64, AnalysisError> {
        let threads = rayon::current_num_threads();
        let tasks = Tasks::cut(self.oriented, threads, self.observer)?;
        let mut workspaces = memory::with_room(threads)?;
        for _ in 0..threads {
            workspaces.push(Mutex::new(self.workspace::<R>()?));
        }
        let done = AtomicU64::new(0);
        let counted = tasks.ranges.into_par_iter().with_max_len(1).map(|ranks| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            // A task that panicked ends the run: its workspace is not read.
            let mut workspace = workspaces[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let (mut triangles, mut work, mut unseen) = (0, 0, 0);
            for rank in ranks {
                triangles += self.corners_of(rank, &mut workspace);
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
        let triangles = counted.try_reduce(|| 0, |a, b| Ok::<u64, AnalysisError>(a + b))?;
        for workspace in workspaces {
            self.add_hubs(workspace.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        Ok(triangles)
    }

    fn workspace<R: Rule>(&self) -> Result<Workspace<R>, OutOfMemory> {
        let triangles = if self.counts.has_triangles() { HUBS } else { 0 };
        let longest = oriented::longest_list(self.oriented.edges()) as usize;
        let cells = memory::filled(Cell::free(), CELLS)?.into_boxed_slice();
        Ok(Workspace {
            // An array of constant length, so that the compiler drops bounds checks.
            cells: cells.try_into().map_err(|_| OutOfMemory::of::<Cell<R>>(CELLS))?,
            spilled: memory::with_room(longest)?,
            of_rows: memory::with_room(longest)?,
            hubs: memory::zeros(HUBS)?,
            hub_triangles: memory::zeros(triangles)?,
        })
    }

    /// Enumerates the triangles whose highest rank is `rank`; returns their number.
    fn corners_of<R: Rule>(&self, rank: u32, workspace: &mut Workspace<R>) -> u64 {
        let a = self.oriented.list(rank);
        if a.ranks.len() < 2 {
            return 0;
        }
        self.begin_reading(a.ranks);
        workspace.mark(&a);
        let mut own = Sum::default();
        for (place, &u) in a.ranks.iter().enumerate().skip(1) {
            let b = self.oriented.list(u);
            let vu = if R::DIRECTED { a.multiplicity(place) } else { 1 };
            let (before, row) = (&a.ranks[..place], self.hubs.row(u));
            let (v_sum, u_sum) = match (row, Intersection::to_meet(place, b.ranks.len())) {
                (Some(row), _) if place < b.ranks.len() => workspace.ask(before, &row, vu),
                (_, Intersection::Walk) => workspace.walk(&b, vu),
                (_, Intersection::Search) => workspace.search(before, &b, vu),
            };
            let v_sum = unpack(v_sum);
            own.numerator += v_sum.numerator;
            own.triangles += v_sum.triangles;
            // The counts of u as second corner are merged with those as third corner of other
            // triangles.
            R::add(&mut workspace.of_rows[place], u_sum);
        }
        let mut spilled = std::mem::take(&mut workspace.spilled);
        let mut tallies = spilled.drain(..);
        for (place, &w) in a.ranks.iter().enumerate() {
            let cell = &mut workspace.cells[cell_of(w)];
            let cell = match cell.rank == w {
                true => Some(std::mem::replace(cell, Cell::free())),
                false => tallies.next(),
            };
            let of_cell = cell.map_or(0, |cell| R::found(cell.tally));
            let packed = of_cell + R::found(workspace.of_rows[place]);
            if packed > 0 {
                self.add(workspace, w, unpack(packed));
            }
        }
        drop(tallies);
        workspace.spilled = spilled;
        if own != Sum::default() {
            self.add(workspace, rank, own);
        }
        if R::DIRECTED { own.triangles } else { own.numerator }
    }

    /// Reads the first element of each of these lists, all at once: the loads overlap. Lists that
    /// are first touched one after the other would each wait for memory.
    #[inline]
    fn begin_reading(&self, ranks: &[u32]) {
        let first = |&u: &u32| self.oriented.list(u).ranks.first().copied().unwrap_or(0);
        black_box(ranks.iter().skip(1).map(first).fold(0, u32::wrapping_add));
    }

    #[inline]
    fn add<R: Rule>(&self, workspace: &mut Workspace<R>, rank: u32, sum: Sum) {
        let at = rank as usize;
        if at >= HUBS {
            return self.counts.add(self.oriented.vertex(rank), sum);
        }
        workspace.hubs[at] += sum.numerator;
        if let Some(triangles) = workspace.hub_triangles.get_mut(at) {
            *triangles += sum.triangles;
        }
    }

    /// Adds the sums of hubs that a thread kept privately.
    fn add_hubs<R: Rule>(&self, workspace: Workspace<R>) {
        for (rank, &numerator) in (0..self.oriented.ranks()).zip(&workspace.hubs) {
            let triangles = workspace.hub_triangles.get(rank as usize).copied().unwrap_or(0);
            self.counts.add(self.oriented.vertex(rank), Sum { numerator, triangles });
        }
    }
}

impl<R: Rule> Workspace<R> {
    /// Returns the cell of a rank of v's list.
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

    /// Tests the first ranks of v's list in a hub's bitmap.
    #[inline]
    fn ask(&mut self, ranks: &[u32], row: &Row<'_>, vu: u64) -> (Packed, Packed) {
        let mut sums = Sums::<R>::default();
        for (&w, tally) in ranks.iter().zip(&mut self.of_rows) {
            let uw = if R::DIRECTED { row.multiplicity(w) } else { 1 };
            sums.meet(tally, row.has(w), vu, uw);
        }
        sums.of_both()
    }

    /// Walks a list and tests the cell of each rank.
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

    /// Searches a list for ascending ranks of v's list.
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

/// Contributions of an edge's triangles to v and to u; only v's if the rule gives equal ones.
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

/// Returns the place of a rank in a list by galloping search. The search begins at `from`, which
/// becomes the begin of the search for the next higher rank.
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
    /// The total work.
    work: u64,
}

impl Tasks {
    fn cut(
        oriented: &Oriented,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Tasks, AnalysisError> {
        let mut costs = memory::zeros::<u64>(oriented.blocks())?;
        costs.par_iter_mut().enumerate().try_for_each(|(block, cost)| {
            *cost = oriented.block(block).map(|rank| cost_of(oriented, rank)).sum();
            go_on(observer)
        })?;
        let work: u64 = costs.iter().sum();
        // Each task has at least this much work, except the last: this bounds their number.
        let task_work = work / (threads as u64 * TASKS_PER_THREAD) + 1;
        let (mut ranges, mut start, mut cost_now) = (Vec::new(), 0, 0);
        let mut take = |end: u32, cost: u64| {
            cost_now += cost;
            if cost_now < task_work {
                return Ok(());
            }
            cost_now = 0;
            memory::push(&mut ranges, std::mem::replace(&mut start, end)..end)
        };
        for (index, &cost) in costs.iter().enumerate() {
            let ranks = oriented.block(index);
            if cost <= task_work {
                take(ranks.end, cost)?;
            } else {
                ranks.into_iter().try_for_each(|rank| take(rank + 1, cost_of(oriented, rank)))?;
            }
        }
        memory::push(&mut ranges, start..oriented.ranks())?;
        Ok(Tasks { ranges, work })
    }
}

/// Estimates the work for a highest rank, in arcs walked: the square of its list's length, as if
/// the other lists were as long. (An exact estimate would cost as much as the enumeration if
/// triangles are few.)
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
        let oriented = Oriented::of((&graph).into(), &()).unwrap();
        for threads in [1, 2, 16] {
            let tasks = Tasks::cut(&oriented, threads, &()).unwrap();
            let most = (0..oriented.ranks()).map(|rank| cost_of(&oriented, rank)).max().unwrap();
            let task_work = tasks.work / (threads as u64 * TASKS_PER_THREAD) + 1;
            let (mut next, mut sum) = (0, 0);
            for ranks in &tasks.ranges {
                assert_eq!(ranks.start, next);
                next = ranks.end;
                let work = ranks.clone().map(|rank| cost_of(&oriented, rank)).sum::<u64>();
                assert!(work <= 2 * task_work + most, "{ranks:?}: {work} beside {task_work}");
                sum += work;
            }
            assert_eq!((next, sum), (oriented.ranks(), tasks.work));
            let few = threads * TASKS_PER_THREAD as usize + 1;
            assert!(tasks.ranges.len() <= few, "{} of {few}", tasks.ranges.len());
        }
    }

    /// The number of hubs with bitmaps, and so the method of intersection, does not change the
    /// result.
    #[test]
    fn every_way_finds_the_same() {
        let edges = Rmat { edge_factor: 24, ..Rmat::new(11) }.generate().unwrap();
        for direction in [Direction::Undirected, Direction::Directed] {
            let graph = GraphBuilder::new().direction(direction).build(edges.clone()).unwrap();
            let oriented = Oriented::of((&graph).into(), &()).unwrap();
            let mut counts = [0; 3];
            for rank in 0..oriented.ranks() {
                for (place, &u) in oriented.list(rank).ranks.iter().enumerate().skip(1) {
                    let long = oriented.degree(u);
                    counts[Intersection::to_meet(place, long) as usize] += 1;
                    counts[2] += usize::from(place < long);
                }
            }
            assert!(counts.iter().all(|&pairs| pairs > 100), "{counts:?}");

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
        assert_eq!(Intersection::to_meet(1, 4), Intersection::Walk);
        assert_eq!(Intersection::to_meet(100, 100), Intersection::Walk);
        assert_eq!(Intersection::to_meet(2, 10_000), Intersection::Search);
        assert_eq!(Intersection::to_meet(0, 0), Intersection::Walk);
    }
}
