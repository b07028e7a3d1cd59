//! A rank on one device: moves the graph there, launches the steps of a phase, and returns labels.

use super::arguments::{Arguments, RankStepArgument};
use super::device_run::DeviceRun;
use super::errors::failed;
use super::known::Known;
use super::launch::Launches;
use super::layout::Layout;
use super::ranks::{HEADER_BYTES, Ranks, SendBuffers};
use super::residency::Residency;
use super::run_memory::RunMemory;
use super::source::Resident;
use super::state::{Fill, SENT, Tallies};
use super::task::Task;
use ripplet_gpu::{Device, DeviceError};
use ripplet_graph::{GraphView, memory};
use ripplet_lp::engine::{Finished, Rank};
use ripplet_lp::{Activation, Checkpoint, Clock, ListsMoved, Round, RunError, Settings, State};
use std::borrow::Cow;
use std::time::Instant;

/// Degrees that are copied at a time.
const DEGREES_AT_A_TIME: usize = 1 << 20;

/// A rank on one device: the only one of a run, or one of several.
pub(super) struct DeviceRank<'a, D: Device> {
    pub run: DeviceRun<'a, D>,
    /// Dropped after `run`: dropping the run's memory waits for the device, which may read lists in
    /// the host's memory.
    residency: Residency<'a, D>,
    /// Addresses of this device's messages and of the peers', if there are any.
    ranks: Ranks,
    /// Argument of the kernels that exchange the current phase's messages; `None` on a single
    /// device.
    rank_step: Option<RankStepArgument>,
    transfer_seconds: f64,
}

impl<'a, D: Device> DeviceRank<'a, D> {
    /// Creates the state before the first round on the device.
    ///
    /// # Errors
    /// If memory is refused or the device fails.
    pub fn new(
        device: &'a D,
        module: &'a D::Module,
        layout: Layout,
        task: Task<'a>,
        known: &Known,
    ) -> Result<Self, RunError> {
        let Task { graph, program, settings, tuning } = task;
        let memory = RunMemory::reserve(device, layout.bytes).map_err(failed)?;
        let base = memory.base();
        let mut state = layout.state(base);
        state.graph.arcs = known.arcs;
        state.graph.vertices = graph.vertices();
        state.graph.shard_count = graph.shards() as u32;
        state.round.seed = Clock::new(settings.seed, 0).seed();
        state.round.traced = u32::from(settings.schedule.is_traced());
        state.frontier.pull_threshold = tuning.pull_threshold_of(settings.schedule);
        state.members.least_class = tuning.least_class();
        state.large.scan_most = tuning.scan_most();
        state.large.scan_shared = device.properties().shared_per_block.min(tuning.scan_shared);
        let launches = Launches::new(device, module, &layout, task, state.large.scan_shared)
            .map_err(failed)?;
        let columns = layout.columns.state(base);
        let keeps_last_stamps = layout.resident() == Resident::Partly;
        let order = (settings.schedule, tuning);
        let mut run = DeviceRun {
            arguments: Arguments::new(state, &columns, program, order, keeps_last_stamps),
            memory,
            layout,
            launches,
            activation: program.activation,
            seen: Tallies::default(),
        };
        let start = Instant::now();
        let moved = run.layout.lists.graph.upload(device, &run.memory.memory, graph);
        let moved = moved.map_err(failed)?;
        run.arguments.state.graph.first = moved.first;
        let mut rank = DeviceRank {
            residency: Residency::new(&run, graph, moved.mapped),
            run,
            ranks: Ranks::default(),
            rank_step: None,
            transfer_seconds: 0.0,
        };
        // `upload` ends with a read, which waits for all writes.
        rank.upload(graph, settings, known).map_err(failed)?;
        rank.transfer_seconds = start.elapsed().as_secs_f64();
        Ok(rank)
    }

    /// Uploads everything except the lists, and computes the rest of the state before the first
    /// round.
    fn upload(
        &mut self,
        graph: GraphView<'_>,
        settings: &Settings,
        known: &Known,
    ) -> Result<(), DeviceError> {
        let own = self.run.own();
        let DeviceRun { memory, layout, launches, arguments, .. } = &mut self.run;
        let state = &mut arguments.state;
        if state.frontier.pull_threshold > 0 {
            state.frontier.hub_pieces = layout.frontier.upload_hubs(memory, graph, own.clone())?;
        }
        state.totals.volume_shift = layout.totals.upload(memory, &known.volumes)?;
        upload_degrees(memory, layout, graph, known)?;
        for fill in layout.columns.upload(memory, settings)? {
            launches.fill(&fill)?;
        }
        let resume = settings.resume.as_ref();
        let initial = resume.map(|checkpoint| &*checkpoint.labels).or(settings.initial.as_deref());
        match initial {
            Some(labels) => memory.write(&layout.labels, 0, bytemuck::cast_slice(labels))?,
            None => launches.fill(&Fill {
                values: state.labels,
                count: u64::from(state.graph.vertices),
                bits: 0,
                step: 1,
            })?,
        }
        memory.fill(&layout.tallies, 0)?;
        memory.fill(&layout.large.tables, 0)?;
        layout.frontier.clear_activations(memory)?;
        layout.totals.clear(memory)?;
        if arguments.state.graph.vertices > 0 {
            let argument = arguments.run();
            launches.start(&argument)?;
            if layout.totals.are_used() {
                launches.find_most(&argument)?;
            }
        }
        if layout.share.is_ranked() {
            // All vertices begin active, and the peers know it.
            let updates = layout.ranks.updates.start;
            memory.fill(&(updates..updates + HEADER_BYTES), 0)?;
            memory.fill(&layout.ranks.sent_word_counts, 0)?;
            layout.frontier.mark_others(memory, &own, SENT)?;
        }
        if let Some(checkpoint) = resume {
            self.restore(checkpoint)?;
        }
        self.run.seen = self.run.tallies()?;
        self.run.arguments.state.totals.grand = self.run.seen.grand_total;
        Ok(())
    }

    /// Restores the active vertices and the fingerprint of a checkpoint. The fingerprint is set on
    /// the first rank only, as those of all ranks are added.
    fn restore(&self, checkpoint: &Checkpoint) -> Result<(), DeviceError> {
        let DeviceRun { memory, layout, .. } = &self.run;
        let at = std::mem::offset_of!(Tallies, fingerprint) as u64;
        let fingerprint = if layout.share.rank == 0 { checkpoint.fingerprint() } else { 0 };
        memory.write(&layout.tallies, at, bytemuck::bytes_of(&fingerprint))?;
        layout.frontier.restore(memory, checkpoint, &self.run.own())
    }

    /// Returns the seconds of moving the graph to the device.
    pub fn transfer_seconds(&self) -> f64 {
        self.transfer_seconds
    }

    /// Returns the addresses of this device's send buffers, for its peers.
    pub fn send_buffers(&self) -> SendBuffers {
        self.run.layout.ranks.send_buffers(self.run.memory.base())
    }

    /// Sets the addresses of all send buffers. All ranks must have done this before one of them
    /// begins a round.
    pub fn join(&mut self, all: &[SendBuffers]) -> Result<(), RunError> {
        let DeviceRun { memory, layout, arguments, .. } = &self.run;
        let Layout { ranks, share, .. } = layout;
        self.ranks = ranks.ranks(memory.base(), share, all);
        if ranks.is_mirrored && arguments.state.graph.vertices > 0 {
            let mirrors = ranks.mirrors(share, all);
            let written = memory.write(&ranks.mirrors_at, 0, bytemuck::bytes_of(&mirrors));
            written.map_err(failed)?;
            self.begin_phase(0);
            self.exchange(Launches::fill_mirrors)?;
            self.run.device().wait().map_err(failed)?;
        }
        Ok(())
    }

    /// Returns the addresses of all messages.
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Returns the bytes of peers' messages that the device has read.
    pub fn received_bytes(&self) -> u64 {
        self.run.seen.received_bytes
    }

    /// Begins a round.
    pub fn begin_round(&mut self, index: u32) {
        self.run.arguments.begin_round(index);
    }

    /// Returns the number of phases of the round.
    pub fn phases(&self) -> u32 {
        self.run.arguments.phases()
    }

    /// Begins a phase of the round.
    pub fn begin_phase(&mut self, phase: u32) {
        self.run.arguments.begin_phase(phase);
        let is_ranked = self.run.layout.share.is_ranked();
        self.rank_step =
            is_ranked.then(|| self.run.arguments.rank_step(self.run.own(), &self.ranks));
    }

    /// Ends a phase.
    pub fn end_phase(&mut self) {
        self.run.arguments.end_phase();
    }

    /// Ends a round after its phases.
    pub fn end_round(&self) -> Result<(), RunError> {
        if self.run.activation == Activation::Always {
            self.activate_all().map_err(failed)?;
        }
        Ok(())
    }

    /// Marks all vertices active.
    pub fn activate_all(&self) -> Result<(), DeviceError> {
        let DeviceRun { memory, layout, launches, arguments, .. } = &self.run;
        layout.frontier.activate_all(memory)?;
        let (values, count) = layout.frontier.activations(memory.base());
        launches.fill(&Fill { values, count, bits: arguments.phases_done(), step: 0 })
    }

    /// Launches a kernel of the exchange, if several devices share the run.
    fn exchange(
        &self,
        kernel: impl FnOnce(&Launches<'a, D>, &RankStepArgument) -> Result<(), DeviceError>,
    ) -> Result<(), RunError> {
        let step = self.rank_step.as_ref();
        step.map_or(Ok(()), |step| kernel(&self.run.launches, step)).map_err(failed)
    }

    /// Applies the peers' label updates; their messages must be complete.
    pub fn apply_updates(&self) -> Result<(), RunError> {
        self.exchange(Launches::apply_updates)
    }

    /// Applies the peers' activations of own vertices; their messages must be complete.
    pub fn receive_frontier(&self) -> Result<(), RunError> {
        self.exchange(Launches::receive_frontier)
    }

    /// Returns the counts since the last call.
    pub fn count(&mut self) -> Result<Round, RunError> {
        let now = self.run.tallies().map_err(failed)?;
        let before = std::mem::replace(&mut self.run.seen, now);
        self.residency.end_round(self.run.device(), &before, &now).map_err(failed)?;
        Ok(Round {
            changed: now.changed - before.changed,
            visited: now.visited - before.visited,
            scanned: now.scanned - before.scanned,
            nan_scores: now.nan_scores - before.nan_scores,
            fingerprint: self.is_traced().then_some(now.fingerprint),
            seconds: 0.0,
        })
    }

    fn is_traced(&self) -> bool {
        self.run.arguments.state.round.traced != 0
    }

    /// Sets how the next round begins, by what all ranks visited in the last one.
    pub fn expect_after(&mut self, round: &Round) {
        self.residency.expect(round.scanned);
        self.run.arguments.expect_after(round);
    }

    /// Returns the result of a round of a graph without vertices, or `None`.
    pub fn empty_round(&self) -> Option<Round> {
        let fingerprint = self.is_traced().then_some(0);
        let is_empty = self.run.arguments.state.graph.vertices == 0;
        is_empty.then_some(Round { fingerprint, ..Round::default() })
    }

    /// Completes the set of active vertices before it is read.
    pub fn settle(&mut self) -> Result<(), RunError> {
        self.residency.settle(&self.run).map_err(failed)
    }

    /// Sets a bit for each own vertex that is active.
    pub fn read_active(&self, words: &mut [u64]) -> Result<(), RunError> {
        let DeviceRun { memory, layout, .. } = &self.run;
        layout.frontier.read(memory, &self.run.own(), words).map_err(failed)
    }

    /// Returns the error for memory that the host refuses.
    fn refused(&self) -> impl Fn(memory::OutOfMemory) -> RunError + Copy + use<D> {
        let bytes = self.run.layout.plan.algorithm_host();
        move |_| RunError::OutOfMemory { bytes }
    }

    /// Returns the state of a run; `read_active` collects the active vertices of all ranks.
    pub fn state_with(
        &self,
        read_active: impl FnOnce(&mut [u64]) -> Result<(), RunError>,
    ) -> Result<State<'_>, RunError> {
        let DeviceRun { memory, layout, arguments, .. } = &self.run;
        let count = State::words(arguments.state.graph.vertices);
        let mut active = memory::with_room(count).map_err(self.refused())?;
        active.resize(count, 0);
        read_active(&mut active)?;
        let columns = layout.columns.bits(memory, self.refused())?;
        Ok(State {
            labels: Cow::Owned(memory.download(&layout.labels, self.refused())?),
            active: Cow::Owned(active),
            columns: columns.into_iter().map(Cow::Owned).collect(),
        })
    }

    /// Returns what each round moved of the lists, after all rounds.
    pub fn finish_moving(self) -> Result<Vec<ListsMoved>, RunError> {
        self.run.device().wait().map_err(failed)?;
        self.residency.finish(self.run.device()).map_err(failed)
    }

    /// Returns labels and written columns, and frees everything else.
    pub fn finish(self) -> Result<Finished, RunError> {
        self.run.device().wait().map_err(failed)?;
        let start = Instant::now();
        let DeviceRun { memory, layout, .. } = &self.run;
        let labels = memory.download(&layout.labels, self.refused())?;
        let columns = layout.columns.download(memory, self.refused())?;
        let transfer_seconds = self.transfer_seconds + start.elapsed().as_secs_f64();
        let lists_moved = self.finish_moving()?;
        Ok(Finished { labels, columns, transfer_seconds, lists_moved })
    }
}

impl<D: Device> Rank for DeviceRank<'_, D> {
    fn choose(&mut self) -> Result<(), RunError> {
        if self.run.arguments.stamps_repeat() {
            self.run.layout.frontier.clear_changes(&self.run.memory).map_err(failed)?;
        }
        self.residency.choose(&mut self.run).map_err(failed)?;
        self.exchange(Launches::pack_updates)
    }

    fn activate_neighbors(&mut self) -> Result<(), RunError> {
        self.residency.activate(&mut self.run).map_err(failed)?;
        self.exchange(Launches::publish_frontier)
    }
}

/// Uploads the degrees of all vertices, if the layout has room for them.
fn upload_degrees<D: Device>(
    memory: &RunMemory<'_, D>,
    layout: &Layout,
    graph: GraphView<'_>,
    known: &Known,
) -> Result<(), DeviceError> {
    if layout.degrees.is_empty() {
        return Ok(());
    }
    for first in (0..graph.vertices()).step_by(DEGREES_AT_A_TIME) {
        let end = first.saturating_add(DEGREES_AT_A_TIME as u32).min(graph.vertices());
        let degrees = known.degrees(graph, first..end);
        memory.write(&layout.degrees, 4 * u64::from(first), bytemuck::cast_slice(&degrees))?;
    }
    Ok(())
}
