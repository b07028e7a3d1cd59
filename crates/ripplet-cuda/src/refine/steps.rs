//! The steps of a refinement on a device.

use super::launch::{Items, Launcher};
use super::state::{
    CLASSES, Contraction, Counters, Kind, Level, NONE, Partition, SORTED, WeightKind, Work,
};
use super::tuning::Tuning;
use ripplet_gpu::{Address, Arena, Device};
use ripplet_graph::{Observer, VertexId, memory};
use ripplet_lp::refine::{Counts, Figures, HostLevel, RefineSteps, Rule, Saved, Sums};
use ripplet_lp::{Label, RunError};
use std::borrow::Cow;
use std::ops::Range;

/// Bytes that the arrays of a contraction are longer than their values, at most, by alignment.
const ALIGNED: u64 = 16 * 256;

/// Kernels by class.
pub(super) type Kernels = [&'static str; CLASSES];

const MOVE: Kernels = [
    "ripplet_refine_move_0",
    "ripplet_refine_move_1",
    "ripplet_refine_move_2",
    "ripplet_refine_move_3",
];
const MOVE_WIDE: Kernels = [
    "ripplet_refine_move_wide_0",
    "ripplet_refine_move_wide_1",
    "ripplet_refine_move_wide_2",
    "ripplet_refine_move_wide_3",
];
const JOIN: Kernels = [
    "ripplet_refine_join_0",
    "ripplet_refine_join_1",
    "ripplet_refine_join_2",
    "ripplet_refine_join_3",
];
const JOIN_WIDE: Kernels = [
    "ripplet_refine_join_wide_0",
    "ripplet_refine_join_wide_1",
    "ripplet_refine_join_wide_2",
    "ripplet_refine_join_wide_3",
];
const CONTRACT: Kernels = [
    "ripplet_refine_contract_0",
    "ripplet_refine_contract_1",
    "ripplet_refine_contract_2",
    "ripplet_refine_contract_3",
];
/// The fewest arcs of a huge part: those with fewer are of classes that do not leave any out.
const LEAST_HUGE: u32 = 2049;

/// The steps of a refinement on a device.
pub struct DeviceSteps<'a, D: Device> {
    pub(super) launcher: Launcher<'a, D>,
    pub(super) tuning: Tuning,
    pub(super) kind: Kind,
    /// Whether vertices are fixed.
    pub(super) has_fixed: bool,
    /// The most vertices of a community, if sizes are limited.
    pub(super) most_size: u32,
    /// The part of the stack that is in use.
    pub(super) stack: Arena,
    /// The vertices that further contracted graphs may have together.
    pub(super) vertices_room: u64,
    /// The end of the arcs of contracted graphs, and the arcs for which there is room.
    pub(super) arcs_end: u64,
    pub(super) arcs_room: u64,
    /// Vertices that joined a part in the last subdivision.
    pub(super) joined: u64,
    /// The founder of the part of finished vertices in it, or [`NONE`].
    pub(super) finished: u32,
}

/// The graph of a level on a device.
pub struct DeviceGraph {
    pub(super) level: Level,
    pub(super) figures: Figures,
    /// The places of a contracted graph's arcs; `None` for the input.
    pub(super) arcs: Option<Range<u64>>,
}

/// A partition on a device.
pub struct DevicePartition {
    pub(super) partition: Partition,
    pub(super) level: Level,
}

/// A contracted graph on a device.
pub struct DeviceContraction {
    contraction: Contraction,
    graph: DeviceGraph,
    partition: DevicePartition,
    /// The bytes of the stack, the end of arcs, and the room for vertices before it.
    below: (u64, u64, u64),
}

impl<D: Device> DeviceSteps<'_, D> {
    /// Activates all vertices of the input's partition, and adds up the communities' masses.
    pub(super) fn start(&mut self, partition: &DevicePartition) -> Result<(), RunError> {
        let DevicePartition { partition, level } = partition;
        let vertices = u64::from(level.vertices);
        self.launcher.fill(partition.active, vertices, 1)?;
        self.sum_masses(*level, *partition)
    }

    /// Sets the masses and sizes of a partition's labels to 0.
    pub(super) fn clear_masses(&self, partition: Partition, labels: u64) -> Result<(), RunError> {
        if self.kind.is_limited {
            self.launcher.fill(partition.sizes, 4 * labels, 0)?;
        }
        if self.kind.has_imbalances {
            self.launcher.fill(partition.imbalances, 8 * labels, 0)?;
        }
        self.launcher.fill(partition.totals, 8 * labels, 0)
    }

    /// Adds up the masses and sizes of a partition's labels.
    pub(super) fn sum_masses(&self, level: Level, partition: Partition) -> Result<(), RunError> {
        let vertices = u64::from(level.vertices);
        self.clear_masses(partition, vertices)?;
        let work = self.work(level, partition);
        self.launcher.launch("ripplet_refine_sum_masses", Items::Threads(vertices), &work)
    }

    /// Returns an argument for a level and a partition of its vertices.
    pub(super) fn work(&self, level: Level, partition: Partition) -> Work {
        let (launcher, places) = (&self.launcher, &self.launcher.places);
        let at = |place: &Range<u64>| launcher.at(place.start);
        Work {
            level,
            partition,
            order: at(&places.order),
            changes: at(&places.changes),
            long_changes: at(&places.members),
            choices: at(&places.choices),
            claims: at(&places.claims),
            most_size: self.most_size,
            huge: self.tuning.huge.max(LEAST_HUGE),
            counters: at(&places.counters),
            region_keys: at(&places.region_keys),
            region_sums: at(&places.region_sums),
            arcs_room: self.arcs_room,
            phases: 1,
            ..Work::default()
        }
    }

    /// Returns the argument of a round.
    fn round(&self, level: Level, partition: Partition, rule: Rule) -> Work {
        let (key, phases) = (rule.draw.key, rule.draw.phases);
        let work = self.work(level, partition).with_factors(rule.factors);
        Work { key, phases, tie_key: rule.tie_key(), ..work }
    }

    pub(super) fn parts(&self) -> Partition {
        let places = &self.launcher.places;
        Partition {
            labels: self.launcher.at(places.part_labels.start),
            totals: self.launcher.at(places.part_totals.start),
            active: Address(0),
            imbalances: self.launcher.at(places.part_imbalances.start),
            fixed: Address(0),
            sizes: Address(0),
        }
    }

    /// Sorts the vertices of a round; returns the counts of each class.
    fn sort(&self, work: &Work) -> Result<Counters, RunError> {
        let vertices = Items::Threads(work.level.vertices.into());
        self.launcher.launch("ripplet_refine_count_order", vertices, work)?;
        self.launcher.launch("ripplet_refine_start_order", Items::OneWarp, work)?;
        self.launcher.launch("ripplet_refine_fill_order", vertices, work)?;
        self.launcher.counters()
    }

    /// Performs the phases of a round.
    pub(super) fn phases(
        &self,
        work: &Work,
        kernels: &Kernels,
        activates: bool,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        let launcher = &self.launcher;
        launcher.reset(0)?;
        let sorted = self.sort(work)?;
        for phase in 0..work.phases {
            if observer.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            let counts = std::array::from_fn(|class| sorted.count(phase as usize, class));
            let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            if all == 0 {
                continue;
            }
            let work = Work { phase, ..*work };
            launcher.launch_classes(*kernels, counts, sorted.longest.into(), &work)?;
            if work.partition.sizes != Address(0) {
                self.admit(&work, all)?;
            }
            launcher.launch("ripplet_refine_commit", Items::Threads(all), &work)?;
            if activates {
                launcher.launch("ripplet_refine_activate", Items::Lists(all), &work)?;
                if counts[CLASSES - 1] > 0 {
                    let arcs = Items::Threads(sorted.longest.into());
                    launcher.launch("ripplet_refine_activate_long", arcs, &work)?;
                }
            }
        }
        let Counters { changed, scanned, .. } = launcher.counters()?;
        let changed = changed.into_iter().map(u64::from).sum();
        Ok(Counts { visited: sorted.scheduled.into(), changed, scanned })
    }

    /// Admits the choices of a phase, at most `all`, into communities of limited size.
    fn admit(&self, work: &Work, all: u64) -> Result<(), RunError> {
        let launch = |kernel, items| self.launcher.launch(kernel, items, work);
        launch("ripplet_refine_claim", Items::Threads(all))?;
        launch("ripplet_refine_divide", Items::Threads(all))?;
        let claims = u64::from(self.launcher.counters()?.claims[work.phase as usize]);
        if claims == 0 {
            return Ok(());
        }
        launch("ripplet_refine_withdraw", Items::Threads(claims))?;
        self.sort_claims(work, claims)?;
        launch("ripplet_refine_admit", Items::Threads(claims))
    }

    /// Sorts the claims of a phase: bitonic, with the steps of up to [`SORTED`] claims in shared memory.
    fn sort_claims(&self, work: &Work, claims: u64) -> Result<(), RunError> {
        let launch =
            |kernel, items, width| self.launcher.launch(kernel, items, &Work { width, ..*work });
        launch("ripplet_refine_sort_claims", Items::Sorted(claims), SORTED)?;
        let mut width = 2 * SORTED;
        while u64::from(width / 2) < claims {
            let pairs = Items::Threads(claims.next_multiple_of(width.into()) / 2);
            launch("ripplet_refine_flip_claims", pairs, width)?;
            let mut narrower = width / 2;
            while narrower > SORTED {
                launch("ripplet_refine_step_claims", pairs, narrower)?;
                narrower /= 2;
            }
            launch("ripplet_refine_merge_claims", Items::Sorted(claims), SORTED)?;
            width *= 2;
        }
        Ok(())
    }

    /// Launches a kernel that counts, over all vertices; returns the counters.
    pub(super) fn counted(
        &self,
        kernel: &'static str,
        items: fn(u64) -> Items,
        work: &Work,
    ) -> Result<Counters, RunError> {
        self.launcher.reset(0)?;
        self.launcher.launch(kernel, items(work.level.vertices.into()), work)?;
        self.launcher.counters()
    }

    /// Contracts the parts that the kernels of classes leave out, one by one.
    fn contract_huge_parts(&self, work: &Work) -> Result<(), RunError> {
        let (launcher, parts) = (&self.launcher, u64::from(work.contraction.parts));
        let lengths: Vec<u32> = launcher.read(work.contraction.lengths, parts)?;
        for (part, length) in (0..).zip(lengths).filter(|(_, length)| *length >= work.huge) {
            let slots = (2 * u64::from(length).min(parts)).next_power_of_two();
            launcher.fill(work.region_keys, 4 * slots, 0xff)?;
            launcher.fill(work.region_sums, 8 * slots, 0)?;
            let work = Work { part, ..*work };
            launcher.launch("ripplet_refine_sum_up_huge", Items::Lists(length.into()), &work)?;
            launcher.launch("ripplet_refine_append_huge", Items::Threads(slots), &work)?;
            launcher.launch("ripplet_refine_finish_huge", Items::OneWarp, &work)?;
        }
        Ok(())
    }

    /// Numbers the parts of a level, and groups their members. `communities` are those of the contracted
    /// vertices to begin with, and have the fixed vertices.
    pub(super) fn number_parts(
        &mut self,
        level: Level,
        communities: Partition,
    ) -> Result<Work, RunError> {
        let parts = u64::from(level.vertices) - self.joined;
        let (contraction, coarse, coarse_partition) = self.reserve(level, parts);
        let of_level = Partition { fixed: communities.fixed, ..self.parts() };
        let work = Work {
            coarse,
            coarse_partition,
            communities: communities.labels,
            contraction,
            ..self.work(level, of_level)
        };
        self.group(&work)?;
        Ok(work)
    }

    /// Sums up the arcs of numbered parts: returns the contracted graph and its partition; `None` if there
    /// is no room for the arcs.
    pub(super) fn sum_up_parts(
        &mut self,
        work: Work,
    ) -> Result<Option<(DeviceGraph, DevicePartition)>, RunError> {
        let Work { level, coarse, coarse_partition, contraction, .. } = work;
        let parts = u64::from(contraction.parts);
        let launcher = &self.launcher;
        launcher.reset(self.arcs_end)?;
        // Parts are sorted by the arcs of their members.
        let lengths = Level { degrees: contraction.lengths, ..coarse };
        let sorted = self.sort(&Work { level: lengths, schedules_all: 1, ..work })?;
        let counts = std::array::from_fn(|class| sorted.count(0, class));
        let longest = u64::from(sorted.longest.min(work.huge - 1)).min(parts);
        launcher.launch_classes(CONTRACT, counts, longest, &work)?;
        if sorted.longest >= work.huge {
            self.contract_huge_parts(&work)?;
        }

        launcher.fill(contraction.names, 4 * u64::from(level.vertices), 0xff)?;
        launcher.launch("ripplet_refine_find_lifted", Items::Threads(parts), &work)?;
        self.clear_masses(coarse_partition, parts)?;
        launcher.launch("ripplet_refine_lift", Items::Threads(parts), &work)?;
        if self.has_fixed {
            launcher.fill(coarse_partition.fixed, parts, 0)?;
            let vertices = Items::Threads(level.vertices.into());
            launcher.launch("ripplet_refine_fix_parts", vertices, &work)?;
        }
        let measured = Work { level: coarse, ..work };
        launcher.launch("ripplet_refine_measure", Items::Threads(parts), &measured)?;
        let found = launcher.counters()?;
        if found.arcs_end > self.arcs_room {
            return Ok(None);
        }
        let arcs = self.arcs_end..found.arcs_end;
        self.arcs_end = found.arcs_end;
        self.vertices_room = self.vertices_room.saturating_sub(parts);
        let figures = Figures {
            vertices: parts as u32,
            arcs: found.arcs,
            largest_weight: found.largest_weight,
            largest_mass: found.largest_mass,
            total_mass: found.total_mass,
        };
        let graph = DeviceGraph { level: coarse, figures, arcs: Some(arcs) };
        let partition = DevicePartition { partition: coarse_partition, level: coarse };
        Ok(Some((graph, partition)))
    }

    /// Makes the finished vertices of a level one part; returns how many joined the first.
    fn unite_finished(&mut self, work: Work) -> Result<u64, RunError> {
        let found = self.counted("ripplet_refine_find_finished", Items::Threads, &work)?;
        if found.finished == 0 {
            return Ok(0);
        }
        self.finished = !found.not_finished;
        if found.finished > 1 {
            let contraction = Contraction { finished: self.finished, ..work.contraction };
            let (work, vertices) = (Work { contraction, ..work }, work.level.vertices.into());
            self.launcher.launch(
                "ripplet_refine_unite_finished",
                Items::Threads(vertices),
                &work,
            )?;
        }
        Ok(u64::from(found.finished) - 1)
    }

    /// Returns the arrays of a contraction to some parts, from the stack.
    fn reserve(&mut self, level: Level, parts: u64) -> (Contraction, Level, Partition) {
        let start = self.launcher.places.stack.start;
        let imbalances = if self.kind.has_imbalances { parts } else { 0 };
        let sizes = if self.kind.is_limited { parts } else { 0 };
        let mut take = |size: u64, count: u64| {
            let place = start + self.stack.take(size, count).start;
            self.launcher.at(place)
        };
        let mut contraction = Contraction {
            part_of: take(4, level.vertices.into()),
            founders: take(4, parts),
            begin: take(4, parts),
            parts: parts as u32,
            finished: self.finished,
            ..Contraction::default()
        };
        let coarse = Level {
            begins: take(8, parts),
            degrees: take(4, parts),
            masses: take(8, parts),
            imbalances: take(8, imbalances),
            sizes: take(4, sizes),
            vertices: parts as u32,
            kind: WeightKind::Long as u32,
            ..Level::default()
        };
        let partition = Partition {
            labels: take(4, parts),
            totals: take(8, parts),
            active: take(1, parts),
            imbalances: take(8, imbalances),
            fixed: if self.has_fixed { take(1, parts) } else { Address(0) },
            sizes: if sizes > 0 { take(4, sizes) } else { Address(0) },
        };
        let (launcher, places) = (&self.launcher, &self.launcher.places);
        contraction.members = launcher.at(places.members.start);
        contraction.ends = launcher.at(places.ends.start);
        contraction.lengths = launcher.at(places.lengths.start);
        contraction.names = launcher.at(places.names.start);
        contraction.of_blocks = launcher.at(places.of_blocks.start);
        let (ids, weights) =
            (launcher.at(places.coarse_ids.start), launcher.at(places.coarse_weights.start));
        (contraction, Level { ids, weights, ..coarse }, partition)
    }

    /// Returns the fixed vertices of a partition.
    fn fixed(&self, partition: &DevicePartition) -> Result<Vec<VertexId>, RunError> {
        if !self.has_fixed {
            return Ok(Vec::new());
        }
        let vertices = partition.level.vertices;
        let is_fixed: Vec<u8> = self.launcher.read(partition.partition.fixed, vertices.into())?;
        let each = || (0..vertices).filter(|&v| is_fixed[v as usize] != 0);
        let mut fixed = memory::with_room(each().count()).map_err(RunError::Array)?;
        fixed.extend(each());
        Ok(fixed)
    }

    /// Returns the labels that were kept last.
    fn labels_kept(&self) -> Result<Vec<Label>, RunError> {
        let best = &self.launcher.places.best;
        self.launcher.read(self.launcher.at(best.start), (best.end - best.start) / 4)
    }

    /// Numbers the parts, and groups their members.
    fn group(&self, work: &Work) -> Result<(), RunError> {
        let (launcher, parts) = (&self.launcher, u64::from(work.contraction.parts));
        let vertices = u64::from(work.level.vertices);
        let launch = |kernel, items| launcher.launch(kernel, items, work);
        launch("ripplet_refine_count_founders", Items::Numbered(vertices))?;
        launch("ripplet_refine_sum_founders", Items::OneBlock)?;
        launch("ripplet_refine_number_founders", Items::Numbered(vertices))?;
        launch("ripplet_refine_find_parts", Items::Threads(vertices))?;
        if self.kind.is_limited {
            launcher.fill(work.coarse.sizes, 4 * parts, 0)?;
        }
        launcher.fill(work.contraction.ends, 4 * parts, 0)?;
        launcher.fill(work.contraction.lengths, 4 * parts, 0)?;
        launch("ripplet_refine_count_members", Items::Threads(vertices))?;
        launch("ripplet_refine_count_of_parts", Items::Numbered(parts))?;
        launch("ripplet_refine_sum_of_parts", Items::OneBlock)?;
        launch("ripplet_refine_begin_parts", Items::Numbered(parts))?;
        launch("ripplet_refine_group_members", Items::Threads(vertices))
    }
}

impl<D: Device> RefineSteps for DeviceSteps<'_, D> {
    type Graph = DeviceGraph;
    type Partition = DevicePartition;
    type Contraction = DeviceContraction;

    fn figures(&mut self, graph: &DeviceGraph) -> Result<Figures, RunError> {
        Ok(graph.figures)
    }

    fn move_round(
        &mut self,
        graph: &DeviceGraph,
        partition: &DevicePartition,
        rule: Rule,
        keeps_active: bool,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        let fits = rule.fits_64(self.kind.has_imbalances);
        let kernels = if fits { &MOVE } else { &MOVE_WIDE };
        let work = self.round(graph.level, partition.partition, rule);
        let work = Work { keeps_active: keeps_active.into(), ..work };
        self.phases(&work, kernels, !keeps_active, observer)
    }

    fn is_singletons(&mut self, partition: &DevicePartition) -> Result<bool, RunError> {
        let work = self.work(partition.level, partition.partition);
        let counted = self.counted("ripplet_refine_count_joined", Items::Threads, &work)?;
        Ok(counted.different == 0)
    }

    fn subdivide(
        &mut self,
        graph: &DeviceGraph,
        communities: &DevicePartition,
        rule: Rule,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        let fits = rule.fits_64(self.kind.has_imbalances);
        let kernels = if fits { &JOIN } else { &JOIN_WIDE };
        let work = Work {
            communities: communities.partition.labels,
            community_totals: communities.partition.totals,
            community_imbalances: communities.partition.imbalances,
            schedules_all: 1,
            ..self.round(graph.level, self.parts(), rule)
        };
        let vertices = Items::Threads(graph.level.vertices.into());
        self.launcher.launch("ripplet_refine_separate", vertices, &work)?;
        let mut counts = self.phases(&work, kernels, false, observer)?;
        self.finished = NONE;
        if counts.changed > 0 {
            let fixed = communities.partition.fixed;
            let work = Work { partition: Partition { fixed, ..work.partition }, ..work };
            counts.changed += self.unite_finished(work)?;
        }
        self.joined = counts.changed;
        Ok(counts)
    }

    fn contract(
        &mut self,
        graph: &DeviceGraph,
        communities: &DevicePartition,
        observer: &dyn Observer,
    ) -> Result<Option<DeviceContraction>, RunError> {
        if observer.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        let below = (self.stack.bytes, self.arcs_end, self.vertices_room);
        let numbered = self.number_parts(graph.level, communities.partition)?;
        let contracted = self.sum_up_parts(numbered)?;
        if contracted.is_none() {
            self.stack.bytes = below.0;
        }
        Ok(contracted.map(|(graph, partition)| {
            let contraction = numbered.contraction;
            DeviceContraction { contraction, graph, partition, below }
        }))
    }

    fn contracted(contraction: &DeviceContraction) -> (&DeviceGraph, &DevicePartition) {
        (&contraction.graph, &contraction.partition)
    }

    fn lower(
        &mut self,
        graph: &DeviceGraph,
        partition: &DevicePartition,
        found: DeviceContraction,
    ) -> Result<u64, RunError> {
        let DeviceContraction { contraction, graph: coarse, partition: coarse_partition, below } =
            found;
        let work = Work {
            coarse: coarse.level,
            coarse_partition: coarse_partition.partition,
            contraction,
            ..self.work(graph.level, partition.partition)
        };
        let (launcher, parts) = (&self.launcher, u64::from(contraction.parts));
        let vertices = u64::from(graph.level.vertices);
        launcher.reset(0)?;
        launcher.fill(contraction.names, 4 * parts, 0xff)?;
        launcher.launch("ripplet_refine_find_lowered", Items::Threads(parts), &work)?;
        self.clear_masses(partition.partition, vertices)?;
        launcher.launch("ripplet_refine_lower", Items::Threads(vertices), &work)?;
        launcher.launch("ripplet_refine_activate_borders", Items::Lists(vertices), &work)?;
        let scanned = launcher.counters()?.scanned;
        (self.stack.bytes, self.arcs_end, self.vertices_room) = below;
        Ok(scanned)
    }

    fn sums(&mut self, graph: &DeviceGraph, partition: &DevicePartition) -> Result<Sums, RunError> {
        let work = self.work(graph.level, partition.partition);
        let vertices = u64::from(graph.level.vertices);
        self.launcher.reset(0)?;
        self.launcher.launch("ripplet_refine_sum_inner", Items::Lists(vertices), &work)?;
        self.launcher.launch("ripplet_refine_sum_squares", Items::Threads(vertices), &work)?;
        let Counters { inner, squares, .. } = self.launcher.counters()?;
        let squares = (0..).zip(squares).map(|(part, sum)| u128::from(sum) << (32 * part)).sum();
        Ok(Sums { inner, squares })
    }

    fn activate_all(&mut self, partition: &DevicePartition) -> Result<(), RunError> {
        let vertices = u64::from(partition.level.vertices);
        self.launcher.fill(partition.partition.active, vertices, 1)
    }

    fn keep(&mut self, partition: &DevicePartition) -> Result<bool, RunError> {
        let best = self.launcher.at(self.launcher.places.best.start);
        let work = self.work(partition.level, partition.partition);
        let work = Work { communities: best, ..work };
        let counted = self.counted("ripplet_refine_keep", Items::Threads, &work)?;
        Ok(counted.different == 0)
    }

    fn state(&mut self, partition: &DevicePartition) -> Result<Saved<'_>, RunError> {
        let vertices = partition.level.vertices;
        let active: Vec<u8> = self.launcher.read(partition.partition.active, vertices.into())?;
        let mut words = memory::zeros(vertices.div_ceil(64) as usize).map_err(RunError::Array)?;
        let word_of = |word: &mut u64, bytes: &[u8]| {
            let bits = bytes.iter().enumerate().map(|(bit, &byte)| u64::from(byte != 0) << bit);
            *word = bits.sum();
        };
        words.iter_mut().zip(active.chunks(64)).for_each(|(word, bytes)| word_of(word, bytes));
        for v in self.fixed(partition)? {
            words[v as usize / 64] &= !(1 << (v % 64));
        }
        Ok((Cow::Owned(self.labels_kept()?), words))
    }

    fn activate(&mut self, partition: &DevicePartition, active: &[u64]) -> Result<(), RunError> {
        // Of fixed vertices, which are never scheduled, the byte does not matter.
        let is_active = |v: u32| (active[v as usize / 64] >> (v % 64) & 1) as u8;
        let bytes = memory::collected((0..partition.level.vertices).map(is_active));
        self.launcher.write(partition.partition.active, &bytes.map_err(RunError::Array)?)
    }

    fn best(self) -> Result<Vec<Label>, RunError> {
        self.labels_kept()
    }

    fn to_host(
        &mut self,
        graph: &DeviceGraph,
        partition: &DevicePartition,
    ) -> Result<Option<HostLevel>, RunError> {
        let Some(arcs) = &graph.arcs else { return Ok(None) };
        let (level, figures) = (graph.level, graph.figures);
        let (places, vertices) = (&self.launcher.places, u64::from(level.vertices));
        let of_contraction = places.contraction_bytes(vertices, vertices.min(self.vertices_room));
        let most = self.stack.bytes + of_contraction + ALIGNED;
        let fits = most <= places.stack.end - places.stack.start;
        if fits && figures.arcs >= self.tuning.host_below {
            return Ok(None);
        }
        let (launcher, count) = (&self.launcher, arcs.end - arcs.start);
        let has_imbalances = self.kind.has_imbalances;
        let imbalances = has_imbalances.then(|| launcher.read(level.imbalances, vertices));
        let sizes = self.kind.is_limited.then(|| launcher.read(level.sizes, vertices));
        let mut begins: Vec<u64> = launcher.read(level.begins, vertices)?;
        begins.iter_mut().for_each(|begin| *begin -= arcs.start);
        Ok(Some(HostLevel {
            masses: launcher.read(level.masses, vertices)?,
            imbalances: imbalances.transpose()?,
            begins,
            degrees: launcher.read(level.degrees, vertices)?,
            neighbors: launcher.read::<VertexId>(level.ids.plus(4 * arcs.start), count)?,
            weights: launcher.read(level.weights.plus(8 * arcs.start), count)?,
            largest_weight: figures.largest_weight,
            labels: launcher.read(partition.partition.labels, vertices)?,
            fixed: self.fixed(partition)?,
            sizes: sizes.transpose()?,
            most_size: self.most_size,
            room: self.arcs_room - arcs.end,
        }))
    }

    fn take_labels(
        &mut self,
        graph: &DeviceGraph,
        partition: &DevicePartition,
        labels: &[Label],
    ) -> Result<(), RunError> {
        self.launcher.write(partition.partition.labels, labels)?;
        self.sum_masses(graph.level, partition.partition)
    }
}
