//! A running computation on one device: moves the graph there, launches rounds, and returns labels.

use super::failed;
use super::layout::{Column, LISTED, Layout, LpState, Phase, Piece, Tallies, low_shared};
use super::ranks::{HEADER_BYTES, Ranks, SendBuffers};
use super::source::Resident;
use super::streamed::{Streaming, blocks_beside};
use super::tuning::{BLOCK, HUB, PIECE, SCAN_BLOCK, SHARED, Tuning};
use crate::streamed::Supply;
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use ripplet_gpu::{Address, Device, DeviceError, Launch};
use ripplet_graph::memory;
use ripplet_graph::{GraphView, VertexId};
use ripplet_lp::engine::{Finished, Rank, Rounds, SingleRank, VolumeUnit, run_phase};
use ripplet_lp::{
    Activation, Checkpoint, Clock, ColumnKind, ColumnSpec, ColumnValues, LabelTotal, ListsMoved,
    Observer, ProgramInfo, Round, RunError, Scalar, Schedule, Settings, State,
};
use std::borrow::Cow;
use std::ops::Range;
use std::time::Instant;

/// Argument of the kernel `fill`: `Fill` in `start.cuh`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Fill {
    values: Address,
    count: u64,
    bits: u32,
    step: u32,
}

/// Value of an active mark, `SENT` in `state.cuh`: another rank's vertex whose activation needs no
/// sending.
const SENT: u8 = 2;

/// Number of distinct stamps of changes, from 1 on. After this many phases, the marks are cleared,
/// and stamps repeat.
const STAMPS: u32 = 255;

/// Bytes of shared memory of a block that compacts the frontier, and of one that activates
/// neighbours.
const COMPACT_SHARED: u32 = 128;
const ACTIVATE_SHARED: u32 = 256 * 8;

/// If less than one vertex in `FEW` was visited in a round, most vertex blocks are inactive in the
/// next.
const FEW: u64 = 4;

/// Active marks that are copied at a time: bytes on the device, bits on the host.
const ACTIVE_AT_A_TIME: usize = 1 << 20;

/// Degrees that are copied at a time.
const DEGREES_AT_A_TIME: usize = 1 << 20;

/// Draft index of a column that is not written.
const NO_DRAFT: u32 = u32::MAX;

/// Launches of the kernels, each with the number of blocks that fills the device.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    fill: Launch,
    start: Launch,
    find_most: Launch,
    pub compact: Launch,
    /// `None` if the graph has no vertex for the kernel, or there is nothing to commit.
    pub scanned: Option<Launch>,
    pub choose: Option<Launch>,
    pub low: Option<Launch>,
    /// Whether `choose` and `low` run concurrently, so that one begins where the other's last
    /// blocks leave room.
    side_by_side: bool,
    pub spread: Option<Launch>,
    pub commit: Option<Launch>,
    pub activate: Launch,
    /// `None` on a single device.
    ranked: Option<RankKernels>,
}

/// Launches of the kernels that exchange messages between ranks; `pack_updates` replaces `commit`.
#[derive(Clone, Copy)]
struct RankKernels {
    fill_mirrors: Launch,
    pack_updates: Launch,
    apply_updates: Launch,
    publish_frontier: Launch,
    receive_frontier: Launch,
}

/// The lowest degree classes, which have a kernel of their own.
const LOW_CLASSES: usize = 3;
/// Members of a phase that make two concurrent kernels worth their launch.
const LEAST_SIDE_BY_SIDE: u64 = 4096;

/// A run to be done.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub graph: GraphView<'t>,
    pub program: &'t ProgramInfo,
    pub settings: &'t Settings,
    pub tuning: Tuning,
}

impl Task<'_> {
    /// Returns the task with lists that the host reads from the file and copies to the device
    /// (`Supply::Staged`).
    pub fn staged(self) -> Self {
        Task { tuning: Tuning { supply: Supply::Staged, ..self.tuning }, ..self }
    }
}

/// What vertices add to label totals if totals are volumes.
#[derive(Default)]
pub(super) struct Volumes {
    shift: u32,
    /// By vertex; empty if the degree determines it.
    shares: Vec<u32>,
}

impl Volumes {
    /// Computes the shares in one pass over the graph, if the program uses volumes.
    ///
    /// # Errors
    /// [`RunError::OutOfMemory`] if the host has no memory for 4 bytes a vertex.
    pub fn of(task: Task<'_>) -> Result<Volumes, RunError> {
        let Task { graph, program, settings, .. } = task;
        if program.label_total != LabelTotal::Volume {
            return Ok(Volumes::default());
        }
        let strength = |v: VertexId| graph.strength(v);
        let all: u64 = (0..graph.vertices()).into_par_iter().map(strength).sum();
        let unit = VolumeUnit::for_all(all, settings.seed);
        let mut shares = Vec::new();
        if graph.is_weighted() {
            let bytes = 4 * u64::from(graph.vertices());
            let refused = |_| RunError::OutOfMemory { bytes };
            shares = memory::with_room(graph.vertices() as usize).map_err(refused)?;
            let share = |v| unit.share(v, strength(v));
            shares.par_extend((0..graph.vertices()).into_par_iter().map(share));
        }
        Ok(Volumes { shift: unit.shift(), shares })
    }
}

pub(super) struct DeviceRounds<'a, D: Device> {
    pub(super) device: &'a D,
    pub(super) module: &'a D::Module,
    pub(super) memory: D::Memory,
    pub(super) layout: Layout,
    kernels: Kernels,
    pub(super) state: LpState,
    /// Bytes that follow `state` in kernel arguments: columns and the program's parameters.
    tail: Vec<u8>,
    specs: Vec<ColumnSpec>,
    pub(super) seen: Tallies,
    pub(super) activation: Activation,
    schedule: Schedule,
    /// Phases done over all rounds; and how many were done before this round, and before the last
    /// one.
    pub(super) phases_done: u32,
    begun: [u32; 2],
    /// Whether few vertices were visited in the last round, so that most vertex blocks are
    /// inactive.
    is_sparse: bool,
    tuning: Tuning,
    /// Addresses of this device's messages and of the peers', if there are any.
    ranks: Ranks,
    /// The current phase, and its kernel arguments: a `Step`, and a `RankStep`.
    pub(super) phase: u32,
    step: Vec<u8>,
    rank_step: Vec<u8>,
    transfer_seconds: f64,
    pub(super) streaming: Option<Streaming<'a, D::Mark>>,
    /// Pinned lists in the host's memory. Declared after `memory`: dropping that waits for the
    /// device.
    pub(super) mapped: Option<D::Mapped<'a>>,
}

/// Flags of a step of a streamed graph.
#[derive(Clone, Copy, Default)]
struct Flags {
    defers: bool,
    late: bool,
}

impl<'a, D: Device> DeviceRounds<'a, D> {
    /// Creates the state before the first round on the device.
    ///
    /// # Errors
    /// If memory is refused or the device fails.
    pub fn new(
        device: &'a D,
        module: &'a D::Module,
        layout: Layout,
        task: Task<'a>,
        volumes: &Volumes,
    ) -> Result<Self, RunError> {
        let Task { graph, program, settings, tuning } = task;
        let memory = device.reserve(layout.bytes).map_err(failed)?;
        let scan_shared = device.properties().shared_per_block.min(tuning.scan_shared);
        let kernels =
            Kernels::new(device, module, &layout, graph, scan_shared, settings).map_err(failed)?;
        let specs = program.columns.clone();
        let launch = |kernel| filling(device, module, one_block(kernel, 0));
        let streaming = Streaming::new(&layout, graph, device.properties().multiprocessors, launch)
            .map_err(failed)?;
        let mut rounds = DeviceRounds {
            state: layout.state(device.address(&memory)),
            device,
            module,
            memory,
            layout,
            kernels,
            tail: Vec::new(),
            specs,
            seen: Tallies::default(),
            activation: program.activation,
            schedule: settings.schedule,
            phases_done: 0,
            begun: [0; 2],
            is_sparse: false,
            tuning,
            ranks: Ranks::default(),
            phase: 0,
            step: Vec::new(),
            rank_step: Vec::new(),
            transfer_seconds: 0.0,
            streaming,
            mapped: None,
        };
        rounds.state.vertices = graph.vertices();
        rounds.state.shard_count = graph.shards() as u32;
        rounds.state.seed = Clock::new(settings.seed, 0).seed();
        rounds.state.scan_most = tuning.scan_most();
        rounds.state.scan_shared = scan_shared;
        rounds.state.pull_threshold = tuning.pull_threshold_of(settings.schedule);
        rounds.state.least_class = tuning.least_class();
        rounds.state.traced = u32::from(settings.schedule.is_traced());
        let start = Instant::now();
        let places = &rounds.layout.graph;
        let moved = places.upload(rounds.device, &rounds.memory, graph).map_err(failed)?;
        (rounds.state.first, rounds.state.arcs) = (moved.first, graph.arcs());
        rounds.mapped = moved.mapped;
        rounds.upload_hubs(graph).map_err(failed)?;
        rounds.upload_volumes(volumes, graph).map_err(failed)?;
        rounds.upload_columns(settings).map_err(failed)?;
        rounds.tail.extend(parameters(program));
        // `start` ends with a read, which waits for all writes.
        rounds.start(settings).map_err(failed)?;
        rounds.transfer_seconds = start.elapsed().as_secs_f64();
        Ok(rounds)
    }

    fn write(&self, place: &Range<u64>, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.device.write(&self.memory, place.start + at, bytes)
    }

    pub(super) fn fill_bytes(&self, place: &Range<u64>, value: u8) -> Result<(), DeviceError> {
        self.device.fill(&self.memory, place.start, place.end - place.start, value)
    }

    /// Uploads the pieces of vertices of more than `HUB` arcs, if phases may pull.
    fn upload_hubs(&mut self, graph: GraphView<'_>) -> Result<(), DeviceError> {
        if self.state.pull_threshold == 0 {
            return Ok(());
        }
        let pieces = |v: VertexId| {
            let degree = graph.degree(v);
            let count = if degree > HUB { degree.div_ceil(PIECE) as u32 } else { 0 };
            (0..count).map(move |index| Piece { owner: v, index })
        };
        let hubs: Vec<Piece> =
            self.layout.share.vertices().into_par_iter().flat_map_iter(pieces).collect();
        self.state.hub_pieces = hubs.len() as u32;
        self.write(&self.layout.hubs, 0, bytemuck::cast_slice(&hubs))
    }

    /// Uploads what each vertex adds to its label's total; and degrees, if a rank shares compressed
    /// lists.
    fn upload_volumes(
        &mut self,
        volumes: &Volumes,
        graph: GraphView<'_>,
    ) -> Result<(), DeviceError> {
        self.state.volume_shift = volumes.shift;
        self.write(&self.layout.shares, 0, bytemuck::cast_slice(&volumes.shares))?;
        if self.layout.degrees.is_empty() {
            return Ok(());
        }
        let degree = |v: VertexId| u32::try_from(graph.degree(v)).unwrap_or(u32::MAX);
        for first in (0..graph.vertices()).step_by(DEGREES_AT_A_TIME) {
            let end = first.saturating_add(DEGREES_AT_A_TIME as u32).min(graph.vertices());
            let degrees: Vec<u32> = (first..end).into_par_iter().map(degree).collect();
            self.write(&self.layout.degrees, 4 * u64::from(first), bytemuck::cast_slice(&degrees))?;
        }
        Ok(())
    }

    /// Fills the columns, and begins the tail with their addresses.
    fn upload_columns(&mut self, settings: &Settings) -> Result<(), DeviceError> {
        let base = self.device.address(&self.memory);
        let mut draft = 0;
        let mut kept = settings.resume.iter().flat_map(|checkpoint| &checkpoint.columns);
        for (spec, place) in self.specs.iter().zip(&self.layout.columns) {
            let values = base.plus(place.start);
            let column = Column {
                values,
                length: spec.len,
                draft: if spec.written { draft } else { NO_DRAFT },
            };
            self.tail.extend_from_slice(bytemuck::bytes_of(&column));
            draft += if spec.written { spec.len } else { 0 };
            if let Some(kept) = if spec.written { kept.next() } else { None } {
                self.write(place, 0, bytemuck::cast_slice(kept))?;
                continue;
            }
            match settings.columns.get(&*spec.name) {
                Some(ColumnValues::U32(given)) => {
                    self.write(place, 0, bytemuck::cast_slice(given))?
                }
                Some(ColumnValues::F32(given)) => {
                    self.write(place, 0, bytemuck::cast_slice(given))?
                }
                None => {
                    let bits = spec.default_bits().ok().flatten().unwrap_or(0);
                    let count = (place.end - place.start) / 4;
                    self.launch_fill(&Fill { values, count, bits, step: 0 })?;
                }
            }
        }
        if self.specs.is_empty() {
            // C++ has no empty array: without columns there is one, unused.
            self.tail.extend_from_slice(bytemuck::bytes_of(&Column::default()));
        }
        Ok(())
    }

    fn start(&mut self, settings: &Settings) -> Result<(), DeviceError> {
        let resume = settings.resume.as_ref();
        let initial = resume.map(|checkpoint| &*checkpoint.labels).or(settings.initial.as_deref());
        match initial {
            Some(labels) => self.write(&self.layout.labels, 0, bytemuck::cast_slice(labels))?,
            None => self.launch_fill(&Fill {
                values: self.state.labels,
                count: u64::from(self.state.vertices),
                bits: 0,
                step: 1,
            })?,
        }
        self.fill_bytes(&self.layout.tallies, 0)?;
        self.fill_bytes(&self.layout.last_activated, 0)?;
        self.fill_bytes(&self.layout.totals, 0)?;
        if self.state.vertices > 0 {
            self.launch(&self.kernels.start, &self.run())?;
            if !self.layout.totals.is_empty() {
                self.launch(&self.kernels.find_most, &self.run())?;
            }
        }
        self.begin_ranked()?;
        if let Some(checkpoint) = resume {
            self.go_on(checkpoint)?;
        }
        self.seen = self.tallies()?;
        self.state.grand_total = self.seen.grand_total;
        Ok(())
    }

    /// Clears the messages, and marks the peers' vertices as active and known to be (`SENT`): all
    /// vertices begin active.
    fn begin_ranked(&self) -> Result<(), DeviceError> {
        if !self.layout.share.is_ranked() {
            return Ok(());
        }
        let head = self.layout.ranks.updates.start..self.layout.ranks.updates.start + HEADER_BYTES;
        self.fill_bytes(&head, 0)?;
        self.fill_bytes(&self.layout.ranks.sent_word_counts, 0)?;
        let (active, own) = (&self.layout.active, self.layout.share.vertices());
        self.fill_bytes(&(active.start..active.start + u64::from(own.start)), SENT)?;
        self.fill_bytes(&(active.start + u64::from(own.end)..active.end), SENT)
    }

    /// Restores the active vertices and the fingerprint of a checkpoint. The fingerprint is set on
    /// the first rank only, as those of all ranks are added.
    fn go_on(&self, checkpoint: &Checkpoint) -> Result<(), DeviceError> {
        let place = std::mem::offset_of!(Tallies, fingerprint) as u64;
        let fingerprint = if self.layout.share.rank == 0 { checkpoint.fingerprint() } else { 0 };
        self.write(&self.layout.tallies, place, bytemuck::bytes_of(&fingerprint))?;
        let (vertices, mut bytes) = (self.state.vertices as usize, Vec::new());
        let own = self.layout.share.vertices();
        for first in (0..vertices).step_by(ACTIVE_AT_A_TIME) {
            let bit = |v: usize| {
                let is_active = (checkpoint.active[v / 64] >> (v % 64) & 1) as u8;
                if own.contains(&(v as u32)) { is_active } else { is_active * SENT }
            };
            bytes.clear();
            bytes.extend((first..vertices.min(first + ACTIVE_AT_A_TIME)).map(bit));
            self.write(&self.layout.active, first as u64, &bytes)?;
        }
        Ok(())
    }

    /// Sets a bit for each own vertex that is active. Ranks set bits in different words, as shares
    /// begin at multiples of 64.
    pub(super) fn read_active(&self, words: &mut [u64]) -> Result<(), RunError> {
        let own = self.layout.share.vertices();
        let mut bytes = vec![0u8; ACTIVE_AT_A_TIME.min(own.len())];
        for first in own.clone().step_by(ACTIVE_AT_A_TIME) {
            let bytes = &mut bytes[..ACTIVE_AT_A_TIME.min((own.end - first) as usize)];
            let place = self.layout.active.start + u64::from(first);
            self.device.read(&self.memory, place, bytes).map_err(failed)?;
            for (word, bytes) in words[first as usize / 64..].iter_mut().zip(bytes.chunks(64)) {
                let bits = bytes.iter().enumerate();
                *word = bits.fold(0u64, |word, (bit, &byte)| word | u64::from(byte != 0) << bit);
            }
        }
        Ok(())
    }

    /// Returns the error for memory that the host refuses.
    pub(super) fn refused(&self) -> impl Fn(memory::OutOfMemory) -> RunError + use<D> {
        let bytes = self.layout.plan.algorithm_host();
        move |_| RunError::OutOfMemory { bytes }
    }

    /// Returns the kernel argument `Run`.
    pub(super) fn run(&self) -> Vec<u8> {
        [bytemuck::bytes_of(&self.state), &self.tail].concat()
    }

    /// Returns the kernel argument `Step` of a phase.
    pub(super) fn step(&self, phase: u32) -> Vec<u8> {
        self.step_of(phase, self.layout.share.vertices(), 0)
    }

    /// Returns the `Step` of a part of a phase.
    pub(super) fn step_of(&self, phase: u32, vertices: Range<VertexId>, part: u32) -> Vec<u8> {
        self.whole_step(phase, vertices, part, Flags::default(), self.phases_done)
    }

    /// Returns the `Step` of a part of a phase whose members request their lists on demand.
    pub(super) fn late_step_of(&self, phase: u32, vertices: Range<VertexId>, part: u32) -> Vec<u8> {
        let flags = Flags { late: true, ..Flags::default() };
        self.whole_step(phase, vertices, part, flags, self.phases_done)
    }

    /// Returns the `Step` of a part of a phase. If `defers` is set, changed vertices activate no
    /// neighbours; vertices pull later.
    pub(super) fn deferring_step_of(
        &self,
        phase: u32,
        vertices: Range<VertexId>,
        part: u32,
        defers: bool,
    ) -> Vec<u8> {
        self.whole_step(
            phase,
            vertices,
            part,
            Flags { defers, ..Flags::default() },
            self.phases_done,
        )
    }

    /// Returns the `Step` of the previous phase, for some vertices.
    pub(super) fn past_step_of(&self, phase: u32, vertices: Range<VertexId>) -> Vec<u8> {
        self.whole_step(phase, vertices, 0, Flags::default(), self.phases_done.wrapping_sub(1))
    }

    fn whole_step(
        &self,
        phase: u32,
        vertices: Range<VertexId>,
        part: u32,
        flags: Flags,
        number: u32,
    ) -> Vec<u8> {
        let current = self.phase_of(phase, vertices, part, flags, number);
        let state = self.state_at(&current);
        [bytemuck::bytes_of(&current), bytemuck::bytes_of(&state), &self.tail].concat()
    }

    /// Returns the `LpState` for a phase. In a streamed graph, the stamps of the previous phase are
    /// kept beside those of this one, as vertices still pull by them.
    fn state_at(&self, current: &Phase) -> LpState {
        let mut state = self.state;
        if self.layout.graph.streamed().is_some() && state.pull_threshold > 0 {
            let before = u64::from(current.parity) * u64::from(state.vertices);
            state.changed = state.changed.plus(before);
        }
        state
    }

    fn phase_of(
        &self,
        phase: u32,
        vertices: Range<VertexId>,
        part: u32,
        Flags { defers, late }: Flags,
        number: u32,
    ) -> Phase {
        let (parity, stamp) = (number & 1, number % STAMPS + 1);
        let is_sparse = u32::from(self.is_sparse);
        let takes_smaller_only = u32::from(self.schedule.is_pick_less(self.state.round));
        let since = self.begun[1];
        let Range { start: first, end } = vertices;
        Phase {
            index: phase,
            number,
            parity,
            stamp,
            since,
            is_sparse,
            takes_smaller_only,
            first,
            end,
            part,
            defers: defers.into(),
            late: late.into(),
        }
    }

    pub(super) fn launch(&self, launch: &Launch, argument: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: the argument is a `Run` or a `Step` as the kernels have it: they do not compile
        // if the sizes of its parts differ. Its addresses are in `memory`, which lives as long as
        // `self` and is laid out so that the kernels stay within it; or in messages and mirrors of
        // other ranks, which are kept until all ranks are idle.
        unsafe { self.device.launch(self.module, launch, argument) }
    }

    /// Launches the kernels that choose labels for the members of a phase, except the grid-mapped
    /// one.
    pub(super) fn launch_choosing(&self, step: &[u8]) -> Result<(), DeviceError> {
        let Kernels { choose, low, scanned, side_by_side, .. } = self.kernels;
        let both: Vec<_> = [choose, low].into_iter().flatten().map(|it| (it, step)).collect();
        for together in both.chunks(if side_by_side { 2 } else { 1 }) {
            // SAFETY: as of `launch`. The two kernels write members of different classes.
            unsafe { self.device.launch_together(self.module, together) }?;
        }
        // This kernel needs the sums of large vertices from the first one.
        scanned.map_or(Ok(()), |launch| self.launch(&launch, step))
    }

    fn launch_fill(&self, fill: &Fill) -> Result<(), DeviceError> {
        if fill.count == 0 {
            return Ok(());
        }
        self.launch(&self.kernels.fill, bytemuck::bytes_of(fill))
    }

    pub(super) fn tallies(&self) -> Result<Tallies, DeviceError> {
        let mut tallies = Tallies::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut tallies);
        self.device.read(&self.memory, self.layout.tallies.start, bytes)?;
        Ok(tallies)
    }

    pub(super) fn device(&self) -> &D {
        self.device
    }

    pub(super) fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    pub(super) fn begin_round(&mut self, index: u32) {
        self.state.round = index;
        self.begun = [self.phases_done, self.begun[0]];
        self.state.phases = match self.schedule.is_in_place() {
            true => self.tuning.async_parts(index, self.state.vertices),
            false => self.schedule.phases(),
        };
    }

    pub(super) fn end_phase(&mut self) {
        self.phases_done = self.phases_done.wrapping_add(1);
    }

    /// Launches a kernel whose argument is a `Run`.
    fn launch_run(&self, launch: &Launch) -> Result<(), DeviceError> {
        self.launch(launch, &self.run())
    }

    /// Launches a kernel that reads all of `state.out`; in a directed graph once more, with the
    /// incoming arcs in its place.
    pub(super) fn launch_over_arcs(&self, launch: &Launch) -> Result<(), DeviceError> {
        self.launch_run(launch)?;
        let arcs = self.layout.graph.plain().map_or(0, |graph| graph.incoming.arcs());
        if arcs == 0 {
            return Ok(());
        }
        let state = LpState { out: self.state.incoming, arcs, ..self.state };
        self.launch(launch, &[bytemuck::bytes_of(&state), &self.tail].concat())
    }

    pub(super) fn activate_all(&self) -> Result<(), DeviceError> {
        self.fill_bytes(&self.layout.active, 1)?;
        let (values, count) = (
            self.state.last_activated,
            self.layout.last_activated.end - self.layout.last_activated.start,
        );
        self.launch_fill(&Fill { values, count: count / 4, bits: self.phases_done, step: 0 })
    }

    /// Returns the number of members of each class.
    pub(super) fn members(&self) -> Result<[u32; LISTED + 1], DeviceError> {
        Ok(self.tallies()?.members[self.phases_done as usize & 1])
    }

    /// Returns the number of large vertices, and how many of them are left for the grid-mapped
    /// kernel.
    pub(super) fn large(&self) -> Result<[u32; 2], DeviceError> {
        let (tallies, parity) = (self.tallies()?, self.phases_done as usize & 1);
        Ok([tallies.members[parity][LISTED], tallies.open[parity]])
    }

    /// Sets the number of members of the listed classes.
    pub(super) fn set_members(&self, members: [u32; LISTED]) -> Result<(), DeviceError> {
        let all = std::mem::offset_of!(Tallies, members) as u64;
        let of_parity = size_of::<[u32; LISTED + 1]>() as u64 * u64::from(self.phases_done & 1);
        self.write(&self.layout.tallies, all + of_parity, bytemuck::cast_slice(&members))
    }

    /// Begins a phase of the round: prepares its kernel arguments.
    pub(super) fn begin_phase(&mut self, phase: u32) {
        self.phase = phase;
        self.step = self.step(phase);
        if self.layout.share.is_ranked() {
            let current = self.phase_of(
                phase,
                self.layout.share.vertices(),
                0,
                Flags::default(),
                self.phases_done,
            );
            let (ranks, state) = (bytemuck::bytes_of(&self.ranks), self.state_at(&current));
            let state = bytemuck::bytes_of(&state);
            self.rank_step = [bytemuck::bytes_of(&current), ranks, state, &self.tail].concat();
        }
    }

    /// Ends a round after its phases.
    pub(super) fn end_round(&self) -> Result<(), RunError> {
        if self.activation == Activation::Always {
            self.activate_all().map_err(failed)?;
        }
        Ok(())
    }

    /// Launches all phases of a round.
    fn launch_round(&mut self) -> Result<(), RunError> {
        for phase in 0..self.state.phases {
            self.begin_phase(phase);
            run_phase(self, &mut SingleRank)?;
            self.end_phase();
        }
        self.end_round()
    }

    /// Clears the stamps of changes before they repeat.
    fn forget_stamps(&self) -> Result<(), DeviceError> {
        if self.phases_done.is_multiple_of(STAMPS) {
            self.fill_bytes(&self.layout.changed, 0)?;
        }
        Ok(())
    }

    /// Returns the addresses of this device's send buffers (`SendBuffers`), for its peers.
    pub(super) fn send_buffers(&self) -> SendBuffers {
        self.layout.ranks.send_buffers(self.device.address(&self.memory))
    }

    /// Returns the bytes of peers' messages that the device has read.
    pub(super) fn received_bytes(&self) -> u64 {
        self.seen.received_bytes
    }

    /// Sets the addresses of all send buffers. All ranks must have done this before one of them
    /// begins a round.
    pub(super) fn join(&mut self, all: &[SendBuffers]) -> Result<(), RunError> {
        let base = self.device.address(&self.memory);
        let Layout { ranks, share, .. } = &self.layout;
        self.ranks = ranks.ranks(base, share, all);
        if ranks.is_mirrored && self.state.vertices > 0 {
            let mirrors = ranks.mirrors(share, all);
            let written = self.write(&ranks.mirrors_at, 0, bytemuck::bytes_of(&mirrors));
            written.map_err(failed)?;
            self.begin_phase(0);
            self.launch_ranked(|kernels| kernels.fill_mirrors)?;
            self.device.wait().map_err(failed)?;
        }
        Ok(())
    }

    pub(super) fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn memory(&self) -> &D::Memory {
        &self.memory
    }

    pub(super) fn phases(&self) -> u32 {
        self.state.phases
    }

    /// Launches a kernel whose argument is a `RankStep`.
    fn launch_ranked(&self, kernel: impl FnOnce(&RankKernels) -> Launch) -> Result<(), RunError> {
        let launch = self.kernels.ranked.as_ref().map(kernel);
        launch.map_or(Ok(()), |launch| self.launch(&launch, &self.rank_step)).map_err(failed)
    }

    /// Applies the peers' label updates; their messages must be complete.
    pub(super) fn apply_updates(&self) -> Result<(), RunError> {
        self.launch_ranked(|kernels| kernels.apply_updates)
    }

    /// Applies the peers' activations of own vertices; their messages must be complete.
    pub(super) fn receive_frontier(&self) -> Result<(), RunError> {
        self.launch_ranked(|kernels| kernels.receive_frontier)
    }

    /// Returns the counts since the last call.
    pub(super) fn count(&mut self) -> Result<Round, RunError> {
        let now = self.tallies().map_err(failed)?;
        let before = std::mem::replace(&mut self.seen, now);
        if let Some(streaming) = &mut self.streaming {
            streaming.end_round(self.device, &before, &now).map_err(failed)?;
        }
        Ok(Round {
            changed: now.changed - before.changed,
            visited: now.visited - before.visited,
            scanned: now.scanned - before.scanned,
            nan_scores: now.nan_scores - before.nan_scores,
            fingerprint: (self.state.traced != 0).then_some(now.fingerprint),
            seconds: 0.0,
        })
    }

    /// Sets how the next round begins, by what all ranks visited in the last one.
    pub(super) fn expect_after(&mut self, round: &Round) {
        if let Some(streaming) = &mut self.streaming {
            streaming.expect(round.scanned);
        }
        self.is_sparse = round.visited < u64::from(self.state.vertices) / FEW;
    }

    /// Returns the result of a round of a graph without vertices, or `None`.
    pub(super) fn empty_round(&self) -> Option<Round> {
        let fingerprint = (self.state.traced != 0).then_some(0);
        (self.state.vertices == 0).then_some(Round { fingerprint, ..Round::default() })
    }

    /// Returns what each round moved of the lists, after all rounds.
    pub(super) fn finish_moving(self) -> Result<Vec<ListsMoved>, RunError> {
        self.device.wait().map_err(failed)?;
        let moved = self.streaming.map(|streaming| streaming.finish(self.device)).transpose();
        Ok(moved.map_err(failed)?.unwrap_or_default())
    }

    /// Returns the state of a run; `read_active` collects the active vertices of all ranks.
    pub(super) fn state_with(
        &self,
        read_active: impl FnOnce(&mut [u64]) -> Result<(), RunError>,
    ) -> Result<State<'_>, RunError> {
        let written = self.specs.iter().zip(&self.layout.columns).filter(|(spec, _)| spec.written);
        let columns = written.map(|(_, place)| self.download(place).map(Cow::Owned));
        let count = State::words(self.state.vertices);
        let mut active = memory::with_room(count).map_err(self.refused())?;
        active.resize(count, 0);
        read_active(&mut active)?;
        Ok(State {
            labels: Cow::Owned(self.download(&self.layout.labels)?),
            active: Cow::Owned(active),
            columns: columns.collect::<Result<_, RunError>>()?,
        })
    }

    /// Copies labels or columns from the device.
    fn download<T: Pod>(&self, place: &Range<u64>) -> Result<Vec<T>, RunError> {
        let count = ((place.end - place.start) / size_of::<T>() as u64) as usize;
        let mut values = memory::with_room(count).map_err(self.refused())?;
        values.resize(count, T::zeroed());
        let bytes = bytemuck::cast_slice_mut(&mut values);
        self.device.read(&self.memory, place.start, bytes).map_err(failed)?;
        Ok(values)
    }
}

impl<D: Device> Rounds for DeviceRounds<'_, D> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        if observer.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        if let Some(round) = self.empty_round() {
            return Ok(round);
        }
        self.begin_round(index);
        self.launch_round()?;
        let round = self.count()?;
        self.expect_after(&round);
        Ok(round)
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        self.settle()?;
        self.state_with(|words| self.read_active(words))
    }

    fn finish(self: Box<Self>) -> Result<Finished, RunError> {
        self.device.wait().map_err(failed)?;
        let start = Instant::now();
        let labels = self.download(&self.layout.labels)?;
        let written = self.specs.iter().zip(&self.layout.columns).filter(|(spec, _)| spec.written);
        let columns = written.map(|(spec, place)| {
            let values = match spec.kind {
                ColumnKind::U32 => ColumnValues::U32(self.download(place)?),
                ColumnKind::F32 => ColumnValues::F32(self.download(place)?),
            };
            Ok(ripplet_lp::Column { name: spec.name.clone(), len: spec.len, values })
        });
        let columns = columns.collect::<Result<_, RunError>>()?;
        let transfer_seconds = self.transfer_seconds + start.elapsed().as_secs_f64();
        let lists_moved = self.finish_moving()?;
        Ok(Finished { labels, columns, transfer_seconds, lists_moved })
    }
}

impl<D: Device> Rank for DeviceRounds<'_, D> {
    fn choose(&mut self) -> Result<(), RunError> {
        self.forget_stamps().map_err(failed)?;
        if !self.with_streaming(Self::choose_streamed)? {
            let Kernels { compact, spread, commit, .. } = &self.kernels;
            self.launch(compact, &self.step).map_err(failed)?;
            self.launch_choosing(&self.step).map_err(failed)?;
            for launch in [spread, commit].into_iter().flatten() {
                self.launch(launch, &self.step).map_err(failed)?;
            }
        }
        self.launch_ranked(|kernels| kernels.pack_updates)
    }

    fn activate_neighbors(&mut self) -> Result<(), RunError> {
        if !self.with_streaming(Self::activate_streamed)? {
            self.launch(&self.kernels.activate, &self.step).map_err(failed)?;
        }
        self.launch_ranked(|kernels| kernels.publish_frontier)
    }
}

impl Kernels {
    fn new<D: Device>(
        device: &D,
        module: &D::Module,
        layout: &Layout,
        graph: GraphView<'_>,
        scan_shared: u32,
        settings: &Settings,
    ) -> Result<Kernels, DeviceError> {
        let kernel = |name, shared| filling(device, module, one_block(name, shared));
        let scanned =
            Launch { threads: SCAN_BLOCK, ..one_block("ripplet_choose_by_block", scan_shared) };
        let spread = Launch { cooperative: true, ..one_block("ripplet_choose_by_grid", SHARED) };
        // All blocks of a cooperative launch must be resident beside the blocks that fetch lists.
        let all_at_once = |launch: Launch| {
            let filling = filling(device, module, launch)?;
            if layout.resident() == Resident::Whole {
                return Ok(filling);
            }
            let all = device.properties().multiprocessors.max(1);
            let left = all - blocks_beside(all).min(all - 1);
            Ok(Launch { blocks: (filling.blocks / all * left).max(1), ..filling })
        };
        let some = |launch: Launch, is_needed: bool| {
            is_needed.then(|| filling(device, module, launch)).transpose()
        };
        // Degrees 9 to 16 are counted by `low`, or by `choose` if votes have weights: both are
        // launched for them.
        let has =
            |classes: Range<usize>| layout.members[classes].iter().any(|list| !list.is_empty());
        let has_large = !layout.large.is_empty();
        // A kernel with little to do ends soon. And in a streamed graph, lists fetched meanwhile
        // would come later.
        let members = |classes: Range<usize>| {
            layout.members[classes].iter().map(|list| (list.end - list.start) / 4).sum::<u64>()
        };
        let [few, many] = [members(0..LOW_CLASSES), members(LOW_CLASSES..LISTED)];
        let enough = (few.max(many) / 16).max(LEAST_SIDE_BY_SIDE);
        // Under `async`, hubs and their neighbours would update at the same time, and swap labels.
        let in_place = settings.schedule.is_in_place();
        let side_by_side =
            layout.resident() == Resident::Whole && !in_place && few.min(many) >= enough;
        let low = low_shared(graph, layout.resident());
        let sketches = settings.counter.sketch().is_some();
        let is_ranked = layout.share.is_ranked();
        let ranked = || {
            Ok(RankKernels {
                fill_mirrors: kernel("ripplet_fill_mirrors", 0)?,
                pack_updates: kernel("ripplet_pack_updates", 0)?,
                apply_updates: kernel("ripplet_apply_updates", 0)?,
                publish_frontier: kernel("ripplet_publish_frontier", 0)?,
                receive_frontier: kernel("ripplet_receive_frontier", 0)?,
            })
        };
        Ok(Kernels {
            fill: kernel("ripplet_fill", 0)?,
            start: kernel("ripplet_start", 0)?,
            find_most: kernel("ripplet_find_most", 0)?,
            compact: kernel("ripplet_compact_frontier", COMPACT_SHARED)?,
            scanned: some(scanned, has_large && !sketches)?,
            choose: some(one_block("ripplet_choose", SHARED), has_large || has(2..LISTED))?,
            low: some(one_block("ripplet_choose_by_thread", low), has(0..LOW_CLASSES))?,
            side_by_side,
            spread: has_large.then(|| all_at_once(spread)).transpose()?,
            commit: some(one_block("ripplet_commit", 0), !in_place && !is_ranked)?,
            activate: kernel("ripplet_activate", ACTIVATE_SHARED)?,
            ranked: is_ranked.then(ranked).transpose()?,
        })
    }
}

/// Returns a launch of one block of `BLOCK` threads.
pub(super) fn one_block(kernel: &'static str, shared: u32) -> Launch {
    Launch { kernel, blocks: 1, threads: BLOCK, shared, cooperative: false }
}

/// Returns the launch with as many blocks as fill the device.
pub(super) fn filling<D: Device>(
    device: &D,
    module: &D::Module,
    launch: Launch,
) -> Result<Launch, DeviceError> {
    let blocks = device.resident_blocks(module, &launch)?.max(1);
    Ok(Launch { blocks, ..launch })
}

/// Returns a program's parameters as the kernels have them: each in the low bits of 8 bytes.
fn parameters(program: &ProgramInfo) -> Vec<u8> {
    let word = |scalar: &Scalar| match *scalar {
        Scalar::U32(value) => u64::from(value),
        Scalar::I32(value) => u64::from(value as u32),
        Scalar::U64(value) => value,
        Scalar::I64(value) => value as u64,
        Scalar::F32(value) => u64::from(value.to_bits()),
        Scalar::Bool(value) => u64::from(value),
    };
    let mut words: Vec<u64> = program.parameters.iter().map(word).collect();
    words.resize(words.len().max(1), 0);
    bytemuck::cast_slice(&words).to_vec()
}
