//! Schedule of a run: sizes of teams, items of work, and source batches of items.

use super::abi::{Item, NO_SPLIT, PIECE, Piece, Split, WORD_BYTES};
use super::graphs::Graphs;
use super::kind::{Kind, Quantity};
use super::tuning::Tuning;
use ripplet_graph::{OutOfMemory, memory};
use std::ops::Range;

/// Bytes of shared memory that a block takes beyond its request: CUDA reserves 1 KiB.
const RESERVED: u32 = 1024;
/// Threads per multiprocessor, and the most threads of a block, for which the kernels' registers
/// suffice (`kernels.cuh`): for searches from 8 sources, for searches with masks, and for lists in
/// global memory. 1024 threads have 64 of 65,536 registers each, 1536 have 40; other bounds are not
/// measured.
const IN_GROUPS_OF_EIGHT: [u32; 2] = [1024, 1024];
const IN_MASKS: [u32; 2] = [1536, 768];
const READERS: u32 = 1024;
/// The fewest threads of a block: 1024 threads over the most blocks of a multiprocessor, 16.
const MIN_THREADS: u32 = 64;
/// Warps of a block in which each warp has a graph. With 12 blocks a multiprocessor, 48 of its 64
/// warps have 40 registers a thread. Not measured against other numbers.
const WARPS: u32 = 4;
/// The most vertices whose ids and distances fit two bytes, and sums of distances four: a sum is below
/// 2^29. Two steps of two bytes are no distances (`Rows`), so that 2^16 vertices would be too many.
const MAX_SHARED_VERTICES: u32 = 1 << 15;

/// Blocks per multiprocessor, which share its shared memory: from the smallest shares on. Each share is
/// about 1.3 to 2 times the one before, so that a graph leaves little of its share unused. Not measured
/// against other shares.
const BY_WARP: [u32; 3] = [12, 8, 6];
const BY_BLOCK: [u32; 8] = [16, 12, 8, 6, 4, 3, 2, 1];
const READING: [u32; 3] = [4, 2, 1];
/// Graphs move to a tier of larger teams if all of them are then resident at once, down to this
/// number of blocks per multiprocessor. That saves a launch, and each graph gets more threads
/// (docs/adr/0010-swarms-on-the-gpu.md). Not measured against other numbers.
const MERGED_UP_TO: u32 = 4;

/// Buckets of work by which the graphs of a tier are sorted: by the highest bit and the two behind
/// it.
const BUCKETS: usize = 256;

/// Properties of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub multiprocessors: u32,
    /// The most bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes of the device's memory for the state of searches that do not fit shared memory.
    pub scratch: u64,
}

/// A size of teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    pub kernel: &'static str,
    /// Threads, and bytes of shared memory, of a block.
    pub threads: u32,
    pub shared: u32,
    /// Teams of a block, and bytes of shared memory of each.
    pub teams: u32,
    pub bytes: u32,
    /// Blocks per multiprocessor.
    pub blocks: u32,
    /// Memory of a graph's lists and state: shared or global.
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Lists and state are in shared memory.
    SharedLists,
    /// Lists, state, and the order of vertices are in shared memory.
    Ordered,
    /// State is in shared memory, lists are in global memory.
    State,
    Memory,
}

/// Items for teams of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub tier: usize,
    pub items: Range<u32>,
}

/// Items that are processed before their results are added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceBatch {
    pub shares: Vec<Share>,
    pub pieces: Range<u32>,
}

/// The work of a run.
#[derive(Debug, Default)]
pub struct Schedule {
    pub tiers: Vec<Tier>,
    pub items: Vec<Item>,
    pub splits: Vec<Split>,
    pub pieces: Vec<Piece>,
    pub source_batches: Vec<SourceBatch>,
    /// The most partial sums of a source batch.
    pub partials: u64,
    /// Vertices of split graphs.
    pub sums: u64,
    /// Blocks with state in the device's memory, and bytes of each.
    pub memory_blocks: u32,
    pub stride: u64,
}

fn tiers(machine: Machine, kind: Kind) -> Vec<Tier> {
    let shared =
        |blocks: u32| ((machine.shared + RESERVED) / blocks).saturating_sub(RESERVED) / 16 * 16;
    let by_warp = |blocks: u32| {
        let bytes = shared(blocks) / WARPS / 16 * 16;
        let (threads, shared) = (32 * WARPS, WARPS * bytes);
        let (kernel, place) = ("ripplet_swarm_by_warp", Place::SharedLists);
        Tier { kernel, threads, shared, teams: WARPS, bytes, blocks, place }
    };
    let by_block = |kernel, place, blocks: u32, threads: u32| {
        let threads = (threads / 32 * 32).max(MIN_THREADS);
        let bytes = shared(blocks).saturating_sub(WORD_BYTES);
        Tier { kernel, threads, shared: shared(blocks), teams: 1, bytes, blocks, place }
    };
    let in_groups_of_eight = kind.quantity.counts_paths() || kind.weighs;
    let [on_all, most] = if in_groups_of_eight { IN_GROUPS_OF_EIGHT } else { IN_MASKS };
    let in_shared = BY_BLOCK.map(|blocks| {
        by_block("ripplet_swarm_by_block", Place::Ordered, blocks, most.min(on_all / blocks))
    });
    let reading = READING.map(|blocks| {
        by_block("ripplet_swarm_global_lists", Place::State, blocks, READERS / blocks)
    });
    let in_memory = by_block("ripplet_swarm_global_state", Place::Memory, 1, READERS);
    let in_memory = Tier { shared: WORD_BYTES, bytes: 0, ..in_memory };
    BY_WARP.map(by_warp).into_iter().chain(in_shared).chain(reading).chain([in_memory]).collect()
}

/// Properties of a graph that determine its work.
#[derive(Clone, Copy)]
struct Shape {
    vertices: u32,
    /// Values that a unit has sums for.
    width: u64,
    /// First unit; a unit is the sources of one search.
    first_unit: u32,
    units: u32,
    /// Arcs of the lists that are read.
    arcs: u64,
    tier: usize,
    /// Whether each unit is an item of its own.
    is_split: bool,
}

impl Shape {
    fn new(graphs: Graphs<'_>, graph: usize, kind: Kind, tiers: &[Tier]) -> Shape {
        let vertices = graphs.vertices_of(graph);
        let (behind, ahead) = kind.sides(graphs);
        let arcs_of = |starts: &[u64]| starts[graph + 1] - starts[graph];
        let more = ahead.map_or(0, |ahead| arcs_of(ahead.arc_starts));
        let arcs = arcs_of(behind.arc_starts) + more;
        let state = kind.bytes_of_state(vertices, false);
        let in_shared = state.saturating_add(kind.bytes_of_lists(vertices, arcs));
        let ordered = in_shared.saturating_add(kind.bytes_of_order(vertices));
        let fits = |tier: &Tier| match tier.place {
            Place::SharedLists => {
                vertices <= MAX_SHARED_VERTICES && in_shared <= u64::from(tier.bytes)
            }
            Place::Ordered => vertices <= MAX_SHARED_VERTICES && ordered <= u64::from(tier.bytes),
            Place::State => vertices <= MAX_SHARED_VERTICES && state <= u64::from(tier.bytes),
            Place::Memory => true,
        };
        let tier = tiers.iter().position(fits).unwrap_or(tiers.len() - 1);
        let Range { start: first_unit, end } = kind.units(graphs, graph);
        let (width, units) = (kind.width(graphs, graph), end - first_unit);
        Shape { vertices, width, first_unit, units, arcs, tier, is_split: false }
    }

    fn work(self) -> u64 {
        u64::from(self.units).saturating_mul(u64::from(self.vertices) + self.arcs)
    }

    /// Returns the rank in the order of work: larger teams first, then more work.
    fn rank(self, tiers: usize) -> usize {
        let work = self.work().max(4);
        let highest = work.ilog2();
        let bucket = 4 * highest as usize + (work >> (highest - 2) & 3) as usize;
        (tiers - 1 - self.tier) * BUCKETS + BUCKETS - 1 - bucket
    }
}

/// Returns the bytes of the host's memory for making a schedule.
pub fn bytes_of_order(graphs: Graphs<'_>) -> u64 {
    (size_of::<Shape>() + size_of::<u32>()) as u64 * graphs.len() as u64
}

/// Builder of a schedule.
struct Planner {
    kind: Kind,
    machine: Machine,
    tuning: Tuning,
    tiers: Vec<Tier>,
    /// By graph.
    shapes: Vec<Shape>,
}

impl Schedule {
    /// Returns the schedule of a run.
    ///
    /// # Errors
    /// If the host refuses memory.
    pub fn new(
        graphs: Graphs<'_>,
        kind: Kind,
        machine: Machine,
        tuning: Tuning,
    ) -> Result<Schedule, OutOfMemory> {
        let tiers = tiers(machine, kind);
        let shapes = (0..graphs.len()).map(|graph| Shape::new(graphs, graph, kind, &tiers));
        let shapes = memory::collected(shapes)?;
        let all = shapes.iter().fold(0_u64, |sum, shape| sum.saturating_add(shape.work()));
        let mut planner = Planner { kind, machine, tuning, tiers, shapes };
        planner.choose_split(all);
        let counts = planner.merge();
        let order = planner.sorted()?;
        let mut to = Schedule::default();
        let ends = planner.split(&order, &mut to)?;
        let items = counts.iter().sum::<u64>();
        let room = u32::try_from(items).map_or(usize::MAX, |items| items as usize);
        to.items = memory::with_room(room)?;
        planner.list(&order, &ends, &mut to)?;
        planner.find_memory(counts[planner.tiers.len() - 1], &mut to);
        to.tiers = planner.tiers;
        Ok(to)
    }
}

impl Planner {
    /// Decides which graphs to split: those with more work than the average team of their size
    /// would have, divided by `split_over`.
    fn choose_split(&mut self, all: u64) {
        let over = self.tuning.split_over;
        let from = |tier| all.checked_div(over.saturating_mul(self.teams(tier)));
        let from: Vec<u64> =
            (0..self.tiers.len()).map(|tier| from(tier).unwrap_or(u64::MAX)).collect();
        for shape in &mut self.shapes {
            shape.is_split = shape.units > 1 && shape.work() >= from[shape.tier];
        }
    }

    /// Returns the resident teams of a tier.
    fn teams(&self, tier: usize) -> u64 {
        let Tier { blocks, teams, .. } = self.tiers[tier];
        u64::from(self.machine.multiprocessors) * u64::from(blocks) * u64::from(teams)
    }

    /// Moves the graphs of a tier to the next one if all of both are resident at once, which saves
    /// a launch. Returns the items of each tier.
    fn merge(&mut self) -> Vec<u64> {
        let mut items = vec![0; self.tiers.len()];
        // Vertices of the largest graph of each tier.
        let mut largest = vec![0; self.tiers.len()];
        for &shape in self.shapes.iter().filter(|shape| shape.vertices > 0) {
            items[shape.tier] += if shape.is_split { u64::from(shape.units) } else { 1 };
            largest[shape.tier] = shape.vertices.max(largest[shape.tier]);
        }
        let mut merged: Vec<usize> = (0..self.tiers.len()).collect();
        for tier in 0..self.tiers.len() - 1 {
            let next = self.tiers[tier + 1];
            let at_once = self.teams(tier + 1);
            let both = items[tier] + items[tier + 1];
            let has_room = match next.place {
                Place::SharedLists => self.tiers[tier].bytes <= next.bytes,
                Place::Ordered => {
                    let order = self.kind.bytes_of_order(largest[tier]);
                    u64::from(self.tiers[tier].bytes) + order <= u64::from(next.bytes)
                }
                Place::State | Place::Memory => false,
            };
            if has_room && next.blocks >= MERGED_UP_TO && both <= at_once {
                merged.iter_mut().filter(|to| **to == tier).for_each(|to| *to = tier + 1);
                (items[tier], items[tier + 1]) = (0, both);
                largest[tier + 1] = largest[tier].max(largest[tier + 1]);
            }
        }
        self.shapes.iter_mut().for_each(|shape| shape.tier = merged[shape.tier]);
        items
    }

    /// Returns the graphs with vertices in the order of their ranks.
    fn sorted(&self) -> Result<Vec<u32>, OutOfMemory> {
        let ranks = self.tiers.len() * BUCKETS;
        let all = || (0..).zip(&self.shapes).filter(|(_, shape)| shape.vertices > 0);
        let mut places = vec![0_usize; ranks + 1];
        all().for_each(|(_, shape)| places[shape.rank(self.tiers.len()) + 1] += 1);
        for rank in 0..ranks {
            places[rank + 1] += places[rank];
        }
        let mut order = memory::zeros(places[ranks])?;
        for (graph, shape) in all() {
            let place = &mut places[shape.rank(self.tiers.len())];
            order[*place] = graph;
            *place += 1;
        }
        Ok(order)
    }

    /// Divides split graphs into the units of each source batch; returns the end of each source batch's parts.
    fn split(&self, order: &[u32], to: &mut Schedule) -> Result<Vec<usize>, OutOfMemory> {
        let units_of_group = u64::from(self.kind.units_of_group());
        // A source batch has work for every multiprocessor.
        let fewest = u64::from(self.machine.multiprocessors).div_ceil(units_of_group);
        let (mut ends, mut used) = (Vec::new(), 0);
        for &graph in order {
            let shape = self.shapes[graph as usize];
            if !shape.is_split {
                continue;
            }
            let groups = u64::from(shape.units).div_ceil(units_of_group);
            let of_unit = if self.kind.has_partials() { shape.width } else { 0 };
            let of_group = of_unit * units_of_group;
            let most = (self.tuning.partials / 8).max(of_group * fewest.min(groups));
            let (mut first, last) = (shape.first_unit, shape.first_unit + shape.units);
            while first < last {
                if used > 0 && used + of_group > most {
                    memory::push(&mut ends, to.splits.len())?;
                    used = 0;
                }
                let fit = (most - used).checked_div(of_group).unwrap_or(groups);
                let units = u64::from(last - first).min(fit * units_of_group);
                let (end, sums) = (first + units as u32, to.sums);
                let is_last = u32::from(end == last);
                memory::push(
                    &mut to.splits,
                    Split { partials: used, sums, graph, first, end, is_last },
                )?;
                used += units * of_unit;
                to.partials = to.partials.max(used);
                first = end;
            }
            to.sums += u64::from(shape.vertices);
        }
        memory::push(&mut ends, to.splits.len())?;
        Ok(ends)
    }

    /// Lists the items source batch by source batch, those of the largest teams first, and the values to add up
    /// after each.
    fn list(&self, order: &[u32], ends: &[usize], to: &mut Schedule) -> Result<(), OutOfMemory> {
        let mut begin = 0;
        // Graphs that are not split are all in the first source batch.
        let mut whole = order;
        for &end in ends {
            let mut batch = SourceBatch::default();
            for tier in (0..self.tiers.len()).rev() {
                let first = to.items.len() as u32;
                for (index, part) in (begin as u32..).zip(&to.splits[begin..end]) {
                    if self.shapes[part.graph as usize].tier == tier {
                        let item = |unit| Item::new(part.graph, unit..unit + 1, index);
                        to.items.extend((part.first..part.end).map(item));
                    }
                }
                let is_of_tier = |graph: &&u32| self.shapes[**graph as usize].tier == tier;
                let (of_tier, rest) = whole.split_at(whole.iter().take_while(is_of_tier).count());
                whole = rest;
                for &graph in of_tier {
                    let shape = self.shapes[graph as usize];
                    if !shape.is_split {
                        let units = shape.first_unit..shape.first_unit + shape.units;
                        to.items.push(Item::new(graph, units, NO_SPLIT));
                    }
                }
                let items = first..to.items.len() as u32;
                if !items.is_empty() {
                    batch.shares.push(Share { tier, items });
                }
            }
            let first = to.pieces.len() as u32;
            // Distances of pairs are stored in place, and need no sums.
            let added =
                if self.kind.quantity == Quantity::Pairs { begin..begin } else { begin..end };
            for index in added {
                let graph = to.splits[index].graph as usize;
                for first in (0..self.shapes[graph].width).step_by(PIECE as usize) {
                    let piece = Piece { split: index as u32, first: first as u32 };
                    memory::push(&mut to.pieces, piece)?;
                }
            }
            batch.pieces = first..to.pieces.len() as u32;
            memory::push(&mut to.source_batches, batch)?;
            begin = end;
        }
        Ok(())
    }

    /// Plans the memory for state that does not fit shared memory: for as many blocks as have work.
    fn find_memory(&self, items: u64, to: &mut Schedule) {
        let in_memory = self.shapes.iter().filter(|shape| shape.tier == self.tiers.len() - 1);
        let Some(largest) = in_memory.map(|shape| shape.vertices).max() else { return };
        to.stride = self.kind.bytes_of_state(largest, true).next_multiple_of(256);
        let blocks = (self.machine.scratch / to.stride.max(1)).min(items);
        to.memory_blocks = blocks.clamp(1, u64::from(self.machine.multiprocessors.max(1))) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_analytics::Lengths;
    use ripplet_analytics::PathAnalysis;
    use ripplet_graph::Direction;
    use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, GraphBatch, Members};

    /// An H200.
    const MACHINE: Machine = Machine { multiprocessors: 132, shared: 227 << 10, scratch: 16 << 30 };

    /// Returns rings with these numbers of vertices.
    fn rings(sizes: &[u32]) -> GraphBatch {
        let members = Members::of_sizes(sizes.iter().copied()).unwrap();
        let mut rows = BatchRows::default();
        for (graph, &size) in (0..).zip(sizes) {
            for vertex in 0..size {
                rows.graphs.push(graph);
                rows.sources.push(vertex);
                rows.targets.push((vertex + 1) % size);
            }
        }
        let builder = BatchBuilder::new().direction(Direction::Undirected);
        builder.build(BatchTable::new(members, rows).unwrap()).unwrap()
    }

    fn schedule(sizes: &[u32], question: PathAnalysis, tuning: Tuning) -> Schedule {
        let batch = rings(sizes);
        let graphs = Graphs::from(batch.all());
        Schedule::new(graphs, Kind::of(question, graphs), MACHINE, tuning).unwrap()
    }

    const BETWEENNESS: PathAnalysis =
        PathAnalysis::Betweenness { normalized: false, lengths: Lengths::Hops };

    /// Checks that each unit of each graph is scheduled once, and that source batches have room for partial
    /// sums.
    fn check(sizes: &[u32], question: PathAnalysis, tuning: Tuning) -> Schedule {
        let schedule = schedule(sizes, question, tuning);
        let kind = Kind::new(question, false, false);
        let mut done = vec![Vec::new(); sizes.len()];
        let mut listed = 0;
        for batch in &schedule.source_batches {
            for share in &batch.shares {
                assert_eq!(share.items.start, listed);
                listed = share.items.end;
                for item in &schedule.items[share.items.start as usize..listed as usize] {
                    done[item.graph as usize].extend(item.first..item.end);
                    if item.split == NO_SPLIT {
                        continue;
                    }
                    let part = schedule.splits[item.split as usize];
                    assert!(part.graph == item.graph && part.first <= item.first);
                    let vertices = u64::from(sizes[item.graph as usize]);
                    let end = part.partials + u64::from(item.end - part.first) * vertices;
                    assert!(!kind.has_partials() || end <= schedule.partials);
                }
            }
        }
        assert_eq!(listed as usize, schedule.items.len());
        for (units, &size) in done.iter_mut().zip(sizes) {
            units.sort_unstable();
            assert!(
                units.iter().copied().eq(0..size.div_ceil(if question == BETWEENNESS {
                    8
                } else {
                    64
                })),
                "{size}"
            );
        }
        schedule
    }

    #[test]
    fn small_graphs_share_a_block_and_large_ones_have_one() {
        let tiers = tiers(MACHINE, Kind::new(BETWEENNESS, false, false));
        let of = |size: u32| {
            let sizes = vec![size; 4000];
            let schedule =
                check(&sizes, BETWEENNESS, Tuning { split_over: 0, ..Tuning::default() });
            let [share] = &schedule.source_batches[0].shares[..] else { panic!("{size}") };
            tiers[share.tier]
        };
        assert_eq!((of(20).kernel, of(20).teams), ("ripplet_swarm_by_warp", 4));
        assert_eq!((of(512).kernel, of(512).blocks), ("ripplet_swarm_by_block", 2));
        assert_eq!((of(1024).blocks, of(1024).threads), (1, 1024));
        assert_eq!(of(1500).kernel, "ripplet_swarm_global_lists");
        assert_eq!(of(1600).kernel, "ripplet_swarm_global_state");
        assert!(tiers.iter().all(|tier| tier.shared <= MACHINE.shared && tier.threads <= 1024));
    }

    #[test]
    fn few_graphs_of_many_sizes_are_few_launches() {
        let sizes: Vec<u32> = (1..150).collect();
        let schedule = check(&sizes, BETWEENNESS, Tuning { split_over: 0, ..Tuning::default() });
        assert_eq!(schedule.source_batches.len(), 1);
        assert_eq!(schedule.source_batches[0].shares.len(), 1, "{:?}", schedule.source_batches);
    }

    #[test]
    fn a_graph_that_others_would_wait_for_is_split() {
        let mut sizes = vec![30; 40_000];
        sizes.push(900);
        let schedule = check(&sizes, BETWEENNESS, Tuning::default());
        assert_eq!(schedule.splits.len(), 1);
        assert_eq!(schedule.splits[0].graph, 40_000);
        assert_eq!(schedule.sums, 900);
        // If there are fewer graphs than teams, all are split,
        let schedule = check(&[30; 1000], BETWEENNESS, Tuning::default());
        assert_eq!((schedule.splits.len(), schedule.items.len()), (1000, 4000));
        // and if there are many, none is.
        let schedule = check(&vec![300; 20_000], BETWEENNESS, Tuning::default());
        assert!(schedule.splits.is_empty() && schedule.pieces.is_empty());
    }

    #[test]
    fn sums_of_units_are_bounded_by_waves() {
        let tuning = Tuning { partials: 1 << 20, ..Tuning::default() };
        for question in [BETWEENNESS, PathAnalysis::Summary { lengths: Lengths::Hops }] {
            let schedule = check(&[3000, 40, 2000], question, tuning);
            // Partial sums have room for all multiprocessors at least.
            assert!(schedule.partials <= 8 * 17 * 3000);
            assert_eq!(schedule.source_batches.len() > 1, question == BETWEENNESS);
        }
        assert_eq!(check(&[], BETWEENNESS, tuning).items.len(), 0);
        assert_eq!(check(&[0, 1, 0], BETWEENNESS, tuning).items.len(), 1);
    }
}
