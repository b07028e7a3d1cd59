//! A rank of a run that processes share, each of which has a device. Messages go through the hosts.
//!
//! ```text
//! device ─▶ host ─▶ all to all (MPI) ─▶ host ─▶ device        twice a phase: label updates, activations
//! ```
//!
//! Messages and kernels are those of several devices of one process (`exchange.cuh`). The host waits for its device
//! before each exchange, and sends what the device has packed: labels, totals and columns of all vertices are the same
//! on all devices after a phase.
//!
//! Memory of the host: the messages of all ranks in a phase, and the degrees of all vertices before the first round.

use super::classes::Classes;
use super::errors::{check, failed};
use super::executor::DeviceExecutor;
use super::fit;
use super::known::{Known, degrees_of};
use super::layout::Layout;
use super::rank::DeviceRank;
use super::rank_rounds::{Group, RankRounds, perform_phases};
use super::ranks::{HEADER_BYTES, MOST_RANKS, Share, UpdateHeader, bytes_of_words};
use super::source::{Kernels, source};
use super::task::Task;
use super::totals::Volumes;
use bytemuck::Zeroable;
use ripplet_gpu::Device;
use ripplet_graph::memory;
use ripplet_lp::engine::{
    EndRun, Exchange, RankDevice, RankStart, RankTask, RankTotals, join_active, sum_of_ranks,
};
use ripplet_lp::{Outcome, Plan, Round, RoundObserver, RunError};
use ripplet_ranks::{Comm, CommError, Received};
use std::convert::Infallible;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

impl<D: Device + fmt::Debug + Send + Sync> RankDevice for DeviceExecutor<D> {
    fn plan_rank(&self, task: &RankTask<'_>) -> Plan {
        let room = self.room().unwrap_or(u64::MAX);
        let own = self.task_of(task);
        let Ok(layout) = layout_of(own, share_of(task), room, Ok::<bool, Infallible>);
        layout.plan.with("degrees", 4 * u64::from(task.graph.vertices()))
    }

    fn run_rank(
        &self,
        task: RankTask<'_>,
        start: RankStart,
        comm: &Mutex<Comm>,
        observer: &mut dyn RoundObserver,
        end: &mut EndRun<'_>,
    ) -> Result<Outcome, RunError> {
        let RankTask { graph, program, settings, .. } = task;
        check(graph, program, settings)?;
        if task.parts.ranks() > MOST_RANKS {
            let count = task.parts.ranks();
            let sentence = format!("1 to {MOST_RANKS} GPUs can share a run, not {count}");
            return Err(RunError::Device(sentence));
        }
        let own = self.task_of(&task);
        let room = self.room()?;
        let layout = layout_of(own, share_of(&task), room, |streams| {
            let any = locked(comm).all_reduce("lists on the host", u8::from(streams), u8::max)?;
            Ok::<bool, CommError>(any > 0)
        })?;
        let source = source(graph, program, settings, layout.compiled(Kernels::OfProcesses))?;
        self.check_memory(&layout.plan)?;
        let known = known(own, &task, start, comm)?;
        observer.on_stage("compiling the kernels");
        let begin = Instant::now();
        let module = self.device.load(&source).map_err(failed)?;
        let kernels = begin.elapsed().as_secs_f64();
        observer.on_stage("moving the graph to the device");
        let planned = layout.plan.algorithm_host();
        let mut rank = DeviceRank::new(&self.device, &module, layout, own, &known)?;
        drop(known);
        // Other devices' buffers are in other processes: no kernel here knows them.
        let buffers = vec![rank.send_buffers(); task.parts.ranks()];
        rank.join(&buffers)?;
        let ranks = vec![rank];
        let rounds = RankRounds { ranks, group: Processes { comm }, transfer_seconds: 0.0 };
        let mut outcome =
            end(Box::new(rounds), observer).map_err(|error| error.planned(planned))?;
        outcome.device_seconds.kernels += kernels;
        Ok(outcome)
    }
}

impl<D: Device> DeviceExecutor<D> {
    fn task_of<'t>(&self, task: &RankTask<'t>) -> Task<'t> {
        let RankTask { graph, program, settings, .. } = *task;
        Task { graph, program, settings, tuning: self.tuning }
    }
}

/// Returns the share of a rank.
fn share_of(task: &RankTask<'_>) -> Share {
    let (parts, rank) = (task.parts.clone(), task.rank);
    Share { parts, rank, copies_messages: true, is_of_processes: true }
}

/// Plans a rank's share in `room` bytes of its device. If a rank's lists do not fit, all ranks leave some in the host's memory, as
/// they must agree on how vertices are activated: `agree` returns whether one of them does.
///
/// # Errors
/// The error of `agree`.
fn layout_of<E>(
    task: Task<'_>,
    share: Share,
    room: u64,
    agree: impl FnOnce(bool) -> Result<bool, E>,
) -> Result<Layout, E> {
    let classes = Classes::of(task.graph, share.vertices(), &task.tuning);
    let whole = Layout::new(&classes, None, share.clone(), task);
    let streams = task.tuning.streamed_from.is_some() || whole.bytes > room;
    Ok(match agree(streams)? {
        true => fit::streamed_within(room, &classes, share, task),
        false => whole,
    })
}

/// Returns what ranks know of all vertices: each has computed it of its own ones.
fn known(
    task: Task<'_>,
    of: &RankTask<'_>,
    start: RankStart,
    comm: &Mutex<Comm>,
) -> Result<Known, RunError> {
    let graph = task.graph;
    let arcs = graph.arcs_of(start.own.clone());
    let arcs = locked(comm).all_reduce("arcs", arcs, u64::wrapping_add)?;
    let degrees = match of.has_all_lists {
        true => degrees_of(graph, 0..graph.vertices())?,
        false => {
            let own = degrees_of(graph, start.own)?;
            let received = locked(comm).all_gather("degrees", &own)?;
            let mut all = memory::with_room(graph.vertices() as usize)?;
            received.iter().for_each(|degrees| all.extend_from_slice(degrees));
            all
        }
    };
    let shares = match start.totals {
        RankTotals::OfAll { volumes } => volumes.unwrap_or_default(),
        RankTotals::Set { .. } => Vec::new(),
    };
    let volumes = Volumes::of_ranks(task, shares, &degrees);
    Ok(Known { arcs, volumes, degrees: Some(degrees) })
}

fn locked(comm: &Mutex<Comm>) -> MutexGuard<'_, Comm> {
    comm.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The group of several processes, of which this one has a rank.
struct Processes<'c> {
    comm: &'c Mutex<Comm>,
}

impl<'a, D: Device> Group<'a, D> for Processes<'_> {
    /// Performs the phases on the rank that is here; returns the sum of the counts of all.
    fn perform(&self, ranks: &mut Vec<DeviceRank<'a, D>>) -> Result<Vec<Round>, RunError> {
        let count = |rank: &mut DeviceRank<'a, D>| {
            perform_phases(rank, &mut ProcessExchange { comm: self.comm })?;
            sum_of_ranks(rank.count()?, self.comm)
        };
        ranks.iter_mut().map(count).collect()
    }

    fn add_active(&self, words: &mut [u64]) -> Result<(), RunError> {
        join_active(words, self.comm)
    }
}

/// The exchanges of a phase between devices of several processes.
struct ProcessExchange<'c> {
    comm: &'c Mutex<Comm>,
}

/// Returns the error of a message whose length is not that of what it says to have.
fn malformed(rank: usize) -> RunError {
    RunError::Device(format!("the message of rank {rank} is not as long as it says"))
}

impl<'a, D: Device> DeviceRank<'a, D> {
    /// Reads some bytes of the device's memory behind others, after all launched work.
    fn append(&self, place: Range<u64>, to: &mut Vec<u8>) -> Result<(), RunError> {
        let (begin, bytes) = (to.len(), (place.end - place.start) as usize);
        memory::reserve(to, bytes)?;
        to.resize(begin + bytes, 0);
        self.run.memory.read(place.start, &mut to[begin..]).map_err(failed)
    }
}

impl<'a, D: Device> Exchange<DeviceRank<'a, D>> for ProcessExchange<'_> {
    fn exchange_updates(&mut self, rank: &mut DeviceRank<'a, D>) -> Result<(), RunError> {
        let (memory, layout) = (&rank.run.memory, &rank.run.layout);
        let (places, share) = (&layout.ranks, &layout.share);
        let bytes =
            |of: usize, head: &UpdateHeader| places.bytes_of(head, share.parts.of(of).len() as u64);
        let head: UpdateHeader = memory.value(&places.updates).map_err(failed)?;
        let [updates, mirror] = bytes(share.rank, &head);
        let mut message = Vec::new();
        let [first, begin] = [&places.updates, &places.mirrors[share.rank]].map(|of| of.start);
        rank.append(first..first + updates, &mut message)?;
        rank.append(begin..begin + mirror, &mut message)?;
        let received = locked(self.comm).all_gather("label updates", &message)?;
        drop(message);
        for other in share.others() {
            let message = received.of(other);
            let mut head = UpdateHeader::zeroed();
            let header = message.get(..HEADER_BYTES as usize).ok_or_else(|| malformed(other))?;
            bytemuck::bytes_of_mut(&mut head).copy_from_slice(header);
            let [updates, mirror] = bytes(other, &head);
            let place = &places.received[other].updates;
            let fits = updates <= place.end - place.start;
            if message.len() as u64 != updates + mirror || !fits {
                return Err(malformed(other));
            }
            let (updates, mirror) = message.split_at(updates as usize);
            memory.write(place, 0, updates).map_err(failed)?;
            memory.write(&places.mirrors[other], 0, mirror).map_err(failed)?;
        }
        rank.apply_updates()
    }

    fn exchange_frontier(&mut self, rank: &mut DeviceRank<'a, D>) -> Result<(), RunError> {
        let (memory, layout) = (&rank.run.memory, &rank.run.layout);
        let (places, share) = (&layout.ranks, &layout.share);
        let counts: [u32; MOST_RANKS] = memory.value(&places.sent_word_counts).map_err(failed)?;
        let mut to = vec![Vec::new(); share.parts.ranks()];
        for other in share.others() {
            let begin = places.sent_words[other].start;
            rank.append(begin..begin + bytes_of_words(counts[other]), &mut to[other])?;
        }
        let received: Received<u8> = locked(self.comm).all_to_all("activations", &to)?;
        for other in share.others() {
            let words = received.of(other);
            let place = &places.received[other];
            let count = words.len() as u64 / bytes_of_words(1);
            let room = place.sent_words.end - place.sent_words.start;
            if words.len() as u64 != count * bytes_of_words(1) || words.len() as u64 > room {
                return Err(malformed(other));
            }
            let (count, at) = (count as u32, 4 * share.rank as u64);
            let written = memory.write(&place.sent_word_counts, at, bytemuck::bytes_of(&count));
            written.map_err(failed)?;
            memory.write(&place.sent_words, 0, words).map_err(failed)?;
        }
        rank.receive_frontier()
    }
}
