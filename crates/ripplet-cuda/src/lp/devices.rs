//! Label propagation on several devices of one process. Each device has the lists of some vertices,
//! and labels of all.

use super::layout::{Classes, Layout};
use super::ranks::{COUNTS_BYTES, MOST_RANKS, SendBuffers, Share, UpdateHeader, bytes_of_words};
use super::rounds::{DeviceRounds, Task, Volumes};
use super::source::{Kernels, Resident, source};
use super::tuning::Tuning;
use super::{check, failed, refuse_above};
use bytemuck::Zeroable;
use ripplet_gpu::transport::{AllGatherBarrier, Ended, Transfers, Transport, TransportKind};
use ripplet_gpu::{DeviceError, Peer, Queue};
use ripplet_graph::GraphView;
use ripplet_lp::engine::{Exchange, Finished, Loads, Parts, Rounds, run_phase, run_rounds};
use ripplet_lp::{DynProgram, Executor, Observer, Outcome, Plan, Round, RunError, Settings, State};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Shares begin at multiples of 64 vertices, so that each rank's bits of the active set are words
/// of their own.
const SHARE_FROM: u32 = 64;

/// Executor of label propagation on several devices, which share the graph.
pub struct DevicesExecutor<D: Peer> {
    // Dropped before the devices, on which it depends.
    transport: Transport<D::Communicator>,
    devices: Vec<D>,
    names: Vec<String>,
    tuning: Tuning,
    /// Limit in bytes of each device's memory for a run; `None` for all that is free.
    limit: Option<u64>,
    /// Limit in bytes of the host's memory for a run.
    host_limit: Option<u64>,
    notes: Vec<String>,
    /// Bytes of messages that the devices received in the last run.
    exchanged: AtomicU64,
}

impl<D: Peer> DevicesExecutor<D> {
    /// Returns an executor on these devices, with the fastest transport that works between them.
    ///
    /// # Errors
    /// If there are no devices or more than [`MOST_RANKS`], or one of them fails.
    pub fn new(devices: Vec<D>) -> Result<Self, DeviceError> {
        Self::by(devices, None)
    }

    /// Returns an executor on these devices with the given transport, or with another one if it
    /// does not work.
    ///
    /// # Errors
    /// If there are no devices or more than [`MOST_RANKS`], or one of them fails.
    pub fn by(devices: Vec<D>, kind: Option<TransportKind>) -> Result<Self, DeviceError> {
        if devices.is_empty() || devices.len() > MOST_RANKS {
            return Err(DeviceError::Failed {
                what: "sharing a run".to_owned(),
                reason: format!("1 to {MOST_RANKS} can share one, not {}", devices.len()),
            });
        }
        let (transport, reason) = Transport::find(&devices, kind)?;
        let name = |(number, device): (usize, &D)| format!("{number} {}", device.properties().name);
        let names = devices.iter().enumerate().map(name).collect();
        let note = |why| format!("GPUs exchange labels by copies of the driver: {why}");
        let notes = reason.into_iter().map(note).collect();
        Ok(DevicesExecutor {
            transport,
            devices,
            names,
            tuning: Tuning::default(),
            limit: None,
            host_limit: None,
            notes,
            exchanged: AtomicU64::new(0),
        })
    }

    /// Sets the devices' names in errors. Has no effect if `names` has another length.
    #[must_use]
    pub fn with_names(self, names: Vec<String>) -> Self {
        if names.len() == self.devices.len() { DevicesExecutor { names, ..self } } else { self }
    }

    /// Sets the tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DevicesExecutor { tuning, ..self }
    }

    /// Limits the bytes of each device's memory that a run may use.
    #[must_use]
    pub fn with_memory(self, limit: Option<u64>) -> Self {
        DevicesExecutor { limit, ..self }
    }

    /// Limits the bytes of the host's memory that a run may use: see
    /// [`DeviceExecutor::with_host_memory`].
    ///
    /// [`DeviceExecutor::with_host_memory`]: super::DeviceExecutor::with_host_memory
    #[must_use]
    pub fn with_host_memory(self, host_limit: Option<u64>) -> Self {
        DevicesExecutor { host_limit, ..self }
    }

    /// Returns the devices.
    pub fn devices(&self) -> &[D] {
        &self.devices
    }

    /// Returns the devices' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the transport between the devices.
    pub fn transport(&self) -> TransportKind {
        self.transport.kind()
    }

    /// Returns notes for the user, a sentence each, about things that are not errors.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the bytes of messages that the devices received in the last finished run.
    pub fn exchanged(&self) -> u64 {
        self.exchanged.load(Ordering::Relaxed)
    }

    /// Returns the bytes of each device's memory that a run may use. If a device fails here, there
    /// is no limit: the error shows when memory is reserved.
    fn rooms(&self) -> Vec<u64> {
        let room = |device: &D| {
            let free = device.free_memory().unwrap_or(u64::MAX);
            self.limit.map_or(free, |limit| limit.min(free))
        };
        self.devices.iter().map(room).collect()
    }

    fn layout(&self, task: Task<'_>, parts: &Parts, rank: usize) -> Layout {
        let share = self.share(parts, rank);
        let classes = Classes::of(task.graph, share.vertices(), &task.tuning);
        Layout::new(&classes, None, share, task)
    }

    fn layouts(&self, task: Task<'_>, parts: &Parts) -> Vec<Layout> {
        (0..self.devices.len()).map(|rank| self.layout(task, parts, rank)).collect()
    }

    /// Plans each device's memory if some lists stay in the host's memory. Then all devices stream,
    /// as ranks must agree on how vertices are activated.
    fn streamed(&self, task: Task<'_>, parts: &Parts, rooms: &[u64]) -> Vec<Layout> {
        let layout = |(rank, &room): (usize, &u64)| {
            let share = self.share(parts, rank);
            let classes = Classes::of(task.graph, share.vertices(), &task.tuning);
            Layout::streamed_within(room, &classes, share, task)
        };
        rooms.iter().enumerate().map(layout).collect()
    }

    fn share(&self, parts: &Parts, rank: usize) -> Share {
        Share { parts: parts.clone(), rank, copies_messages: self.transport.copies_messages() }
    }

    /// Plans each device's memory: equal loads, limited by the devices' memory.
    ///
    /// A share that does not fit shrinks in proportion to its lists, and the devices with room take
    /// the rest. If this does not converge, the graph does not fit. Then loads are equal, and lists
    /// that do not fit are fetched from the host's memory.
    fn shared(&self, task: Task<'_>) -> Vec<Layout> {
        let layouts = self.shared_as(task);
        match layouts.iter().any(|layout| layout.exceeds(self.host_limit, task.graph)) {
            true => self.shared_as(task.staged()),
            false => layouts,
        }
    }

    /// Plans each device's memory with the supply of lists that the tuning has.
    fn shared_as(&self, task: Task<'_>) -> Vec<Layout> {
        const TRIES: usize = 8;
        let loads = Loads::of(task.graph, SHARE_FROM);
        let rooms = self.rooms();
        let mut shares = vec![1.0; self.devices.len()];
        let equal = loads.part(&shares);
        let streamed = || self.streamed(task, &equal, &rooms);
        if task.tuning.streamed_from.is_some() && self.devices.len() > 1 {
            return streamed();
        }
        let fits = |layout: &Layout, room: u64| layout.plan.total_device() <= room;
        let mut layouts = self.layouts(task, &equal);
        for _ in 0..TRIES {
            if layouts.iter().zip(&rooms).all(|(layout, &room)| fits(layout, room)) {
                return layouts;
            }
            let nothing = Share { copies_messages: false, ..Share::whole(0) };
            let least = Layout::new(&Classes::default(), None, nothing, task).plan.total_device();
            let (mut open, mut taken) = (0.0, 0.0);
            for ((share, layout), &room) in shares.iter_mut().zip(&layouts).zip(&rooms) {
                if fits(layout, room) {
                    open += *share;
                } else {
                    let lists = layout.plan.total_device().saturating_sub(least).max(1);
                    let fitting = room.saturating_sub(least) as f64 / lists as f64;
                    let less = *share * (fitting * 0.97).min(0.97);
                    taken += *share - less;
                    *share = less;
                }
            }
            for ((share, layout), &room) in shares.iter_mut().zip(&layouts).zip(&rooms) {
                if open > 0.0 && fits(layout, room) {
                    *share += taken * *share / open;
                }
            }
            if shares.iter().sum::<f64>() <= 0.0 {
                break;
            }
            layouts = self.layouts(task, &loads.part(&shares));
        }
        let most = |layouts: &[Layout]| layouts.iter().map(|layout| layout.bytes).max();
        let streamed = streamed();
        if most(&streamed) <= most(&layouts) { streamed } else { layouts }
    }

    /// Returns the memory plan of each device.
    pub fn plans<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Vec<Plan> {
        let program = &program.info();
        let task = Task { graph: graph.into(), program, settings, tuning: self.tuning };
        self.shared(task).into_iter().map(|layout| layout.plan).collect()
    }

    /// Refuses a run if the plan of a device does not fit its memory.
    ///
    /// # Errors
    /// [`RunError::DeviceMemory`], with the device's name.
    pub fn check_memory(&self, plans: &[Plan]) -> Result<(), RunError> {
        for ((plan, device), name) in plans.iter().zip(&self.devices).zip(&self.names) {
            let free = device.free_memory().map_err(|error| of_device(name, error))?;
            let room = self.limit.map_or(free, |limit| limit.min(free));
            refuse_above([room, free], name, plan)?;
        }
        Ok(())
    }
}

/// Converts an error, with the device's name if the device itself failed.
fn of_device(name: &str, error: DeviceError) -> RunError {
    match error {
        DeviceError::OutOfMemory { .. } | DeviceError::Failed { .. } => {
            RunError::Device(format!("{name}: {error}"))
        }
        error => failed(error),
    }
}

/// Adds a device's name to an error.
fn named(name: &str, error: RunError) -> RunError {
    match error {
        RunError::Device(text) => RunError::Device(format!("{name}: {text}")),
        error => error,
    }
}

impl<D: Peer> Executor for DevicesExecutor<D> {
    /// Returns the plan of the device that needs most.
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        let plans = self.plans(graph, program, settings);
        plans.into_iter().max_by_key(Plan::total_device).unwrap_or_default()
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        let program = &program.info();
        let task = Task { graph, program, settings, tuning: self.tuning };
        self.run_on(task, observer)
    }
}

impl<D: Peer> DevicesExecutor<D> {
    /// Runs a program as [`Executor::run`] does, compiled once for both kinds of lists.
    fn run_on(&self, task: Task<'_>, observer: &mut dyn Observer) -> Result<Outcome, RunError> {
        let Task { graph, program, settings, .. } = task;
        check(graph, program, settings)?;
        let kernels = if self.devices.len() > 1 { Kernels::Ranked } else { Kernels::Work };
        let layouts = self.shared(task);
        let resident = layouts.first().map_or(Resident::Whole, Layout::resident);
        let source = source(graph, program, settings, kernels, resident)?;
        let plans: Vec<Plan> = layouts.iter().map(|layout| layout.plan.clone()).collect();
        self.check_memory(&plans)?;
        observer.on_stage("compiling the kernels");
        let start = Instant::now();
        // Of several devices of one kind, the first compiles, and the others find the result in the
        // cache.
        let load = |(device, name): (&D, &String)| {
            device.load(&source).map_err(|error| of_device(name, error))
        };
        let modules = self.devices.iter().zip(&self.names).map(load);
        let modules: Vec<D::Module> = modules.collect::<Result<_, _>>()?;
        let seconds = start.elapsed().as_secs_f64();
        observer.on_stage("moving the graph to the devices");
        let rounds = self.begin(&modules, layouts, task)?;
        let mut outcome = run_rounds(Box::new(rounds), graph, settings, observer)?;
        outcome.device_seconds.kernels = seconds;
        Ok(outcome)
    }

    /// Creates the state before the first round on each device.
    fn begin<'a>(
        &'a self,
        modules: &'a [D::Module],
        layouts: Vec<Layout>,
        task: Task<'a>,
    ) -> Result<DevicesRounds<'a, D>, RunError> {
        let start = Instant::now();
        let volumes = &Volumes::of(task)?;
        let begin = |((device, module), layout)| {
            move || DeviceRounds::new(device, module, layout, task, volumes)
        };
        let all = self.devices.iter().zip(modules).zip(layouts);
        let begun: Vec<Result<DeviceRounds<'a, D>, RunError>> = std::thread::scope(|scope| {
            let threads: Vec<_> = all.map(|one| scope.spawn(begin(one))).collect();
            threads.into_iter().map(joined).collect()
        });
        let with_name = |(begun, name): (Result<_, RunError>, &String)| {
            begun.map_err(|error| named(name, error))
        };
        let mut ranks: Vec<DeviceRounds<'a, D>> =
            begun.into_iter().zip(&self.names).map(with_name).collect::<Result<_, _>>()?;
        let buffers: Vec<_> = ranks.iter().map(DeviceRounds::send_buffers).collect();
        for (rank, name) in ranks.iter_mut().zip(&self.names) {
            rank.join(&buffers).map_err(|error| named(name, error))?;
        }
        let transfer_seconds = start.elapsed().as_secs_f64();
        Ok(DevicesRounds { executor: self, ranks, transfer_seconds })
    }
}

/// Returns the result of a thread, or resumes its panic.
fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A running computation: a thread of the host per device launches the device's work.
struct DevicesRounds<'a, D: Peer> {
    executor: &'a DevicesExecutor<D>,
    ranks: Vec<DeviceRounds<'a, D>>,
    transfer_seconds: f64,
}

/// Message between the hosts' threads of ranks, exchanged at the all-gather barrier.
enum HostMessage<M> {
    /// The rank's device messages are complete at this mark.
    Event(M),
    /// Header of the rank's update message, which is complete.
    Header(UpdateHeader),
    /// By rank, the number of words of its vertices that this rank activated.
    WordCounts([u32; MOST_RANKS]),
}

impl<M> HostMessage<M> {
    /// Returns the header of the update message; zeros if this is another kind of message.
    fn header(&self) -> UpdateHeader {
        if let HostMessage::Header(head) = self { *head } else { UpdateHeader::zeroed() }
    }

    /// Returns the bytes of the activations for a rank.
    fn frontier_bytes(&self, rank: usize) -> u64 {
        if let HostMessage::WordCounts(words) = self { bytes_of_words(words[rank]) } else { 0 }
    }
}

/// Exchange of one rank with its peers: the transport, the barrier, and all send buffers.
struct RankExchange<'l, D: Peer> {
    devices: &'l [D],
    transport: &'l Transport<D::Communicator>,
    barrier: &'l AllGatherBarrier<HostMessage<D::Mark>>,
    buffers: &'l [SendBuffers],
}

/// The error of a rank that stops because another rank failed; that rank has the reason.
fn ended(_: Ended) -> RunError {
    RunError::Device("another GPU of the run failed".to_owned())
}

impl<D: Peer> RankExchange<'_, D> {
    /// Waits until all launched work is done, or another rank has failed.
    fn settle(&self, device: &D) -> Result<(), RunError> {
        match device.wait_unless(&|| self.barrier.has_ended()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(ended(Ended)),
            Err(error) => Err(failed(error)),
        }
    }

    /// Reads from a rank's memory after all launched work.
    fn read(
        &self,
        rank: &DeviceRounds<'_, D>,
        place: u64,
        bytes: &mut [u8],
    ) -> Result<(), RunError> {
        self.settle(rank.device())?;
        rank.device().read(rank.memory(), place, bytes).map_err(failed)
    }

    /// Joins the barrier, and makes later launches wait for the peers' earlier ones.
    fn follow_all(&self, device: &D, own: usize) -> Result<(), RunError> {
        let mark = device.mark(Queue::Main).map_err(failed)?;
        let all = self.all_gather(own, HostMessage::Event(mark))?;
        let others = all.iter().enumerate().filter(|(rank, _)| *rank != own);
        for (_, word) in others {
            if let HostMessage::Event(mark) = word {
                device.follow(Queue::Main, mark).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Joins the all-gather barrier with a message.
    fn all_gather(
        &self,
        own: usize,
        message: HostMessage<D::Mark>,
    ) -> Result<Arc<[HostMessage<D::Mark>]>, RunError> {
        self.barrier.all_gather(own, message).map_err(ended)
    }

    /// Transports messages: the peers' to where this rank reads them, and this rank's to the peers.
    fn transport_all(&self, own: usize, transfers: &Transfers) -> Result<(), RunError> {
        // SAFETY: the transfers are parts of messages and of receive buffers, which `RankPlaces` made
        // as long as messages can be. Sender and receiver use the size that the sender brought to
        // the barrier. The sender writes there again only after the next barrier, which this rank
        // joins when its transfers are done.
        unsafe { self.transport.exchange(self.devices, own, transfers) }.map_err(failed)
    }
}

impl<'d, D: Peer> Exchange<DeviceRounds<'d, D>> for RankExchange<'_, D> {
    fn exchange_updates(&mut self, rank: &mut DeviceRounds<'d, D>) -> Result<(), RunError> {
        let (device, ranks) = (rank.device(), rank.ranks());
        let own = ranks.own as usize;
        if !self.transport.copies_messages() {
            self.follow_all(device, own)?;
            return rank.apply_updates();
        }
        let places = &rank.layout().ranks;
        let mut head = UpdateHeader::zeroed();
        self.read(rank, places.updates.start, bytemuck::bytes_of_mut(&mut head))?;
        let all = self.all_gather(own, HostMessage::Header(head))?;
        let share = &rank.layout().share;
        let bytes =
            |rank: usize| places.bytes_of(&all[rank].header(), share.parts.of(rank).len() as u64);
        let mut transfers = Transfers::default();
        for other in share.others() {
            let [updates, mirror] = bytes(own);
            transfers.send(other, ranks.updates, updates);
            transfers.send(other, self.buffers[own].mirrors[own], mirror);
            let ([updates, mirror], send_buffers) = (bytes(other), &self.buffers[other]);
            transfers.receive(other, ranks.peer_updates[other], send_buffers.updates, updates);
            let to = self.buffers[own].mirrors[other];
            transfers.receive(other, to, send_buffers.mirrors[other], mirror);
        }
        self.transport_all(own, &transfers)?;
        rank.apply_updates()
    }

    fn exchange_frontier(&mut self, rank: &mut DeviceRounds<'d, D>) -> Result<(), RunError> {
        let (device, ranks) = (rank.device(), rank.ranks());
        let own = ranks.own as usize;
        if !self.transport.copies_messages() {
            self.follow_all(device, own)?;
            return rank.receive_frontier();
        }
        let mut counts = [0; MOST_RANKS];
        let place = rank.layout().ranks.sent_word_counts.start;
        self.read(rank, place, bytemuck::bytes_of_mut(&mut counts))?;
        let all = self.all_gather(own, HostMessage::WordCounts(counts))?;
        let mut transfers = Transfers::default();
        for other in rank.layout().share.others() {
            let send_buffers = &self.buffers[other];
            transfers.send(other, ranks.sent_word_counts, COUNTS_BYTES);
            transfers.send(other, ranks.sent_words[other], all[own].frontier_bytes(other));
            transfers.receive(
                other,
                ranks.received_counts[other],
                send_buffers.sent_word_counts,
                COUNTS_BYTES,
            );
            let bytes = all[other].frontier_bytes(own);
            transfers.receive(
                other,
                ranks.received_words[other],
                send_buffers.sent_words[own],
                bytes,
            );
        }
        self.transport_all(own, &transfers)?;
        rank.receive_frontier()
    }
}

impl<D: Peer> DevicesRounds<'_, D> {
    /// Runs a round on all devices, a thread each; returns the counts of each rank.
    fn do_round(&mut self) -> Result<Vec<Round>, RunError> {
        let barrier = AllGatherBarrier::new(self.ranks.len());
        let buffers: Vec<SendBuffers> = self.ranks.iter().map(DeviceRounds::send_buffers).collect();
        let DevicesExecutor { devices, transport, .. } = self.executor;
        let (barrier, buffers) = (&barrier, &buffers);
        let exchange = || RankExchange { devices, transport, barrier, buffers };
        let done: Vec<Result<Round, RunError>> = std::thread::scope(|scope| {
            let part = |(number, rank)| {
                let exchange = exchange();
                scope.spawn(move || exchange.do_part(number, rank))
            };
            let threads: Vec<_> = self.ranks.iter_mut().enumerate().map(part).collect();
            threads.into_iter().map(joined).collect()
        });
        let Some(failed) = barrier.ended_by() else { return done.into_iter().collect() };
        // A device that waits for a failed one may wait for ever. Its memory is then leaked until
        // the process ends, as freeing it would block.
        let idle = |rank: &DeviceRounds<'_, D>| rank.device().wait_unless(&|| true) == Ok(true);
        if !self.ranks.iter().all(idle) {
            std::mem::take(&mut self.ranks).into_iter().for_each(std::mem::forget);
        }
        let name = &self.executor.names[failed];
        done.into_iter()
            .nth(failed)
            .unwrap_or(Ok(Round::default()))
            .map(|_| Vec::new())
            .map_err(|error| named(name, error))
    }
}

impl<D: Peer> RankExchange<'_, D> {
    /// Runs one rank's part of a round. If it fails, the other ranks stop waiting for it.
    fn do_part(mut self, number: usize, rank: &mut DeviceRounds<'_, D>) -> Result<Round, RunError> {
        let barrier = self.barrier;
        // Also ends the barrier if this thread panics.
        let mut leaving = Leaving { barrier, number, is_well: false };
        let done = self.do_phases(rank);
        leaving.is_well = done.is_ok();
        done
    }

    fn do_phases(&mut self, rank: &mut DeviceRounds<'_, D>) -> Result<Round, RunError> {
        for phase in 0..rank.phases() {
            rank.begin_phase(phase);
            run_phase(rank, self)?;
            rank.end_phase();
        }
        rank.end_round()?;
        self.settle(rank.device())?;
        rank.count()
    }
}

/// Guard that ends the barrier if a thread leaves with an error or a panic.
struct Leaving<'l, T> {
    barrier: &'l AllGatherBarrier<T>,
    number: usize,
    is_well: bool,
}

impl<T> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        if !self.is_well {
            self.barrier.end(self.number);
        }
    }
}

impl<D: Peer> Rounds for DevicesRounds<'_, D> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        if observer.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        if let Some(round) = self.ranks[0].empty_round() {
            return Ok(round);
        }
        self.ranks.iter_mut().for_each(|rank| rank.begin_round(index));
        let parts = self.do_round()?;
        let received = self.ranks.iter().map(DeviceRounds::received_bytes).sum();
        self.executor.exchanged.store(received, Ordering::Relaxed);
        let round = parts.into_iter().reduce(Round::plus).unwrap_or_default();
        self.ranks.iter_mut().for_each(|rank| rank.expect_after(&round));
        Ok(round)
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        self.ranks.iter_mut().try_for_each(DeviceRounds::settle)?;
        let ranks = &self.ranks;
        let read = |words: &mut [u64]| ranks.iter().try_for_each(|rank| rank.read_active(words));
        ranks[0].state_with(read)
    }

    /// Returns the labels and columns of the first device; all devices have the same.
    fn finish(mut self: Box<Self>) -> Result<Finished, RunError> {
        let others = self.ranks.split_off(1);
        let first = self.ranks.swap_remove(0);
        let moved: Vec<_> =
            others.into_iter().map(DeviceRounds::finish_moving).collect::<Result<_, _>>()?;
        let mut finished = Box::new(first).finish()?;
        for moved in moved {
            for (sum, its) in finished.lists_moved.iter_mut().zip(moved) {
                *sum = sum.plus(its);
            }
        }
        finished.transfer_seconds += self.transfer_seconds;
        Ok(finished)
    }
}
