//! The ranks of a run on several devices: a thread of the host for each launches its work, and
//! messages are exchanged in each phase.

use super::errors::{failed, named};
use super::rank::DeviceRank;
use super::rank_rounds::{Group, perform_phases};
use super::ranks::{COUNTS_BYTES, MOST_RANKS, SendBuffers, UpdateHeader, bytes_of_words};
use bytemuck::Zeroable;
use ripplet_gpu::transport::{AllGatherBarrier, Ended, Transfers, Transport};
use ripplet_gpu::{Peer, Stream};
use ripplet_lp::engine::Exchange;
use ripplet_lp::{Round, RunError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The group of several ranks, with the transport between their devices.
pub(super) struct Peers<'a, D: Peer> {
    pub devices: &'a [D],
    pub transport: &'a Transport<D::Communicator>,
    /// The devices' names in errors.
    pub names: &'a [String],
    /// Bytes of messages that the devices received so far.
    pub exchanged: &'a AtomicU64,
}

impl<'a, D: Peer> Group<'a, D> for Peers<'a, D> {
    /// Performs a round on all devices, a thread each.
    fn perform(&self, ranks: &mut Vec<DeviceRank<'a, D>>) -> Result<Vec<Round>, RunError> {
        let barrier = AllGatherBarrier::new(ranks.len());
        let buffers: Vec<SendBuffers> = ranks.iter().map(DeviceRank::send_buffers).collect();
        let Peers { devices, transport, .. } = *self;
        let (barrier, buffers) = (&barrier, &buffers);
        let done: Vec<Result<Round, RunError>> = std::thread::scope(|scope| {
            let part = |(number, rank)| {
                let exchange = RankExchange { devices, transport, barrier, buffers };
                scope.spawn(move || exchange.do_part(number, rank))
            };
            let threads: Vec<_> = ranks.iter_mut().enumerate().map(part).collect();
            threads.into_iter().map(joined).collect()
        });
        let Some(failed) = barrier.ended_by() else {
            let received = ranks.iter().map(DeviceRank::received_bytes).sum();
            self.exchanged.store(received, Ordering::Relaxed);
            return done.into_iter().collect();
        };
        // A device that waits for a failed one may wait for ever. Its memory is then leaked until
        // the process ends, as freeing it would block.
        let idle = |rank: &DeviceRank<'_, D>| rank.run.device().wait_unless(&|| true) == Ok(true);
        if !ranks.iter().all(idle) {
            std::mem::take(ranks).into_iter().for_each(std::mem::forget);
        }
        let name = &self.names[failed];
        done.into_iter()
            .nth(failed)
            .unwrap_or(Ok(Round::default()))
            .map(|_| Vec::new())
            .map_err(|error| named(name, error))
    }
}

/// Returns the result of a thread, or resumes its panic.
pub(super) fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Message between the hosts' threads of ranks, exchanged at the all-gather barrier.
enum HostMessage<M> {
    /// The rank's device messages are complete at this event.
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
    barrier: &'l AllGatherBarrier<HostMessage<D::Event>>,
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
    fn read(&self, rank: &DeviceRank<'_, D>, place: u64, bytes: &mut [u8]) -> Result<(), RunError> {
        self.settle(rank.run.device())?;
        rank.run.memory.read(place, bytes).map_err(failed)
    }

    /// Joins the barrier, and makes later launches wait for the peers' earlier ones.
    fn follow_all(&self, device: &D, own: usize) -> Result<(), RunError> {
        let event = device.record(Stream::Main).map_err(failed)?;
        let all = self.all_gather(own, HostMessage::Event(event))?;
        let others = all.iter().enumerate().filter(|(rank, _)| *rank != own);
        for (_, word) in others {
            if let HostMessage::Event(event) = word {
                device.wait_for(Stream::Main, event).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Joins the all-gather barrier with a message.
    fn all_gather(
        &self,
        own: usize,
        message: HostMessage<D::Event>,
    ) -> Result<Arc<[HostMessage<D::Event>]>, RunError> {
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

impl<'d, D: Peer> Exchange<DeviceRank<'d, D>> for RankExchange<'_, D> {
    fn exchange_updates(&mut self, rank: &mut DeviceRank<'d, D>) -> Result<(), RunError> {
        let (device, ranks) = (rank.run.device(), rank.ranks());
        let own = ranks.own as usize;
        if !self.transport.copies_messages() {
            self.follow_all(device, own)?;
            return rank.apply_updates();
        }
        let places = &rank.run.layout.ranks;
        let mut head = UpdateHeader::zeroed();
        self.read(rank, places.updates.start, bytemuck::bytes_of_mut(&mut head))?;
        let all = self.all_gather(own, HostMessage::Header(head))?;
        let share = &rank.run.layout.share;
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

    fn exchange_frontier(&mut self, rank: &mut DeviceRank<'d, D>) -> Result<(), RunError> {
        let (device, ranks) = (rank.run.device(), rank.ranks());
        let own = ranks.own as usize;
        if !self.transport.copies_messages() {
            self.follow_all(device, own)?;
            return rank.receive_frontier();
        }
        let mut counts = [0; MOST_RANKS];
        let place = rank.run.layout.ranks.sent_word_counts.start;
        self.read(rank, place, bytemuck::bytes_of_mut(&mut counts))?;
        let all = self.all_gather(own, HostMessage::WordCounts(counts))?;
        let mut transfers = Transfers::default();
        for other in rank.run.layout.share.others() {
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

impl<D: Peer> RankExchange<'_, D> {
    /// Runs one rank's part of a round. If it fails, the other ranks stop waiting for it.
    fn do_part(mut self, number: usize, rank: &mut DeviceRank<'_, D>) -> Result<Round, RunError> {
        let barrier = self.barrier;
        // Also ends the barrier if this thread panics.
        let mut leaving = Leaving { barrier, number, is_well: false };
        let done = self.perform_round(rank);
        leaving.is_well = done.is_ok();
        done
    }

    fn perform_round(&mut self, rank: &mut DeviceRank<'_, D>) -> Result<Round, RunError> {
        perform_phases(rank, self)?;
        self.settle(rank.run.device())?;
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
