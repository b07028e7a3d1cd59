//! The part of a rank in a run on several devices: its vertices, its send buffers, and the
//! addresses at which it reads those of its peers.
//!
//! `exchange.cuh` has the same structs, and describes the messages.

use bytemuck::{Pod, Zeroable};
use ripplet_gpu::text;
use ripplet_gpu::{Address, Arena};
use ripplet_lp::Schedule;
use ripplet_lp::engine::Parts;
use std::ops::Range;

/// The most devices that can share a run.
pub const MOST_RANKS: usize = 16;

/// Header of an update message: `UpdateHeader` in `exchange.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct UpdateHeader {
    pub count: u32,
    pub capacity: u32,
    pub activating_arcs: u64,
}

/// Ranks of a run as the kernels of one rank see them: `Ranks` in `exchange.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Ranks {
    pub count: u32,
    pub own: u32,
    pub capacity: u32,
    pub copies_messages: u32,
    pub bounds: [u32; MOST_RANKS + 1],
    pub padding: u32,
    pub updates: Address,
    pub peer_updates: [Address; MOST_RANKS],
    pub mirrors_of: [Address; MOST_RANKS],
    pub sent_word_counts: Address,
    pub sent_words: [Address; MOST_RANKS],
    pub received_counts: [Address; MOST_RANKS],
    pub received_words: [Address; MOST_RANKS],
}

/// Mirrors that a rank writes: `Mirrors` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Mirrors {
    pub count: u64,
    pub of: [Address; MOST_RANKS],
}

/// Whether most vertices may change in one phase: under `sync`, `async`, and with one phase a
/// round. Their values are then exchanged through mirrors if they do not fit a message.
pub fn is_mirrored(schedule: Schedule) -> bool {
    schedule.phases() <= 1
}

/// Vertices per record of an update message if there are mirrors: a message with more changes than
/// records is replaced by the mirror. A record has 8 bytes or more, and is read in any order; a
/// mirror has 4 or more a vertex, and is read in a row.
const RECORD_OF: u64 = 16;

/// Bytes of the header of an update message.
pub const HEADER_BYTES: u64 = size_of::<UpdateHeader>() as u64;
/// Bytes of a `FrontierWord` in `exchange.cuh`: the activated ones among 32 vertices.
const FRONTIER_WORD_BYTES: u64 = 8;

/// The vertices of one device of a run.
#[derive(Clone, Debug)]
pub struct Share {
    pub parts: Parts,
    pub rank: usize,
    /// Whether messages are transported into this device's memory. Otherwise its kernels read them
    /// in the peers' memory.
    pub copies_messages: bool,
    /// Whether processes share the run: the graph may then have the lists of this device's vertices alone.
    pub is_of_processes: bool,
}

impl Default for Share {
    fn default() -> Share {
        Share::whole(0)
    }
}

impl Share {
    /// Returns the share of a device that has all vertices.
    pub fn whole(vertices: u32) -> Share {
        let parts = Parts::whole(vertices);
        Share { parts, rank: 0, copies_messages: false, is_of_processes: false }
    }

    /// Whether several devices share the run.
    pub fn is_ranked(&self) -> bool {
        self.parts.ranks() > 1
    }

    /// Returns the device's own vertices.
    pub fn vertices(&self) -> Range<u32> {
        self.parts.of(self.rank)
    }

    /// Returns the ranks of the peers.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.rank;
        (0..self.parts.ranks()).filter(move |&rank| rank != own)
    }
}

/// Byte ranges of a device's message buffers, as offsets into its memory; empty on a single device.
#[derive(Clone, Debug, Default)]
pub struct RankPlaces {
    /// Records that fit the update message.
    pub capacity: u64,
    /// Whether more vertices may change than fit the message; the values are then in mirrors.
    pub is_mirrored: bool,
    /// Values of a vertex: its label, and those of its written columns.
    values: u64,
    pub updates: Range<u64>,
    /// Place of the device's `Mirrors`, and by rank, of this device's mirror of that rank's
    /// vertices.
    pub mirrors_at: Range<u64>,
    pub mirrors: Vec<Range<u64>>,
    pub sent_word_counts: Range<u64>,
    /// By rank, the activations that this device sends to it.
    pub sent_words: Vec<Range<u64>>,
    /// By rank, the receive buffers, if messages are transported.
    pub received: Vec<ReceiveBuffers>,
}

/// Receive buffers for the messages of one peer.
#[derive(Clone, Debug, Default)]
pub struct ReceiveBuffers {
    pub updates: Range<u64>,
    pub sent_word_counts: Range<u64>,
    pub sent_words: Range<u64>,
}

/// Send buffers of a rank, as its peers find them.
#[derive(Clone, Debug)]
pub struct SendBuffers {
    pub updates: Address,
    /// By rank, this rank's mirror of that rank's vertices.
    pub mirrors: Vec<Address>,
    pub sent_word_counts: Address,
    pub sent_words: Vec<Address>,
}

fn words(vertices: &Range<u32>) -> u64 {
    u64::from(vertices.end - vertices.start).div_ceil(32)
}

impl RankPlaces {
    /// Allocates the message buffers of a share.
    ///
    /// Of `n` vertices, at most `at_once(n)` update in one phase. Each has a label and `drafted`
    /// values of written columns.
    pub fn new(
        to: &mut Arena,
        share: &Share,
        drafted: u64,
        schedule: Schedule,
        at_once: impl Fn(u64) -> u64,
    ) -> RankPlaces {
        if !share.is_ranked() {
            return RankPlaces::default();
        }
        let values = 1 + drafted;
        let is_mirrored = is_mirrored(schedule);
        let count = |rank: usize| {
            let of = share.parts.of(rank);
            u64::from(of.end - of.start)
        };
        let capacity = |rank: usize| {
            let all = at_once(count(rank));
            if is_mirrored { all.div_ceil(RECORD_OF) } else { all }
        };
        let updates = |rank: usize| {
            let records = capacity(rank).saturating_mul(4 * (1 + values));
            records.saturating_add(HEADER_BYTES)
        };
        let ranks = 0..share.parts.ranks();
        let place = to.take(1, updates(share.rank));
        let mirrors_at = to.take(size_of::<Mirrors>() as u64, is_mirrored.into());
        // Peers write their mirrors here. If mirrors are transported, each rank also writes one in
        // its own memory, to be sent.
        let has_mirror = |rank: usize| is_mirrored && (share.copies_messages || rank != share.rank);
        let mirror = |rank| to.take(4 * values, if has_mirror(rank) { count(rank) } else { 0 });
        let mirrors = ranks.clone().map(mirror).collect();
        let sent_word_counts = to.take(4, MOST_RANKS as u64);
        let of_others =
            |rank: usize| if rank == share.rank { 0 } else { words(&share.parts.of(rank)) };
        let sent_words =
            ranks.clone().map(|rank| to.take(FRONTIER_WORD_BYTES, of_others(rank))).collect();
        let own = words(&share.vertices());
        let mut received = |rank: usize| match share.copies_messages && rank != share.rank {
            true => ReceiveBuffers {
                updates: to.take(1, updates(rank)),
                sent_word_counts: to.take(4, MOST_RANKS as u64),
                sent_words: to.take(FRONTIER_WORD_BYTES, own),
            },
            false => ReceiveBuffers::default(),
        };
        let received = ranks.map(&mut received).collect();
        RankPlaces {
            capacity: capacity(share.rank),
            is_mirrored,
            values,
            updates: place,
            mirrors_at,
            mirrors,
            sent_word_counts,
            sent_words,
            received,
        }
    }

    /// Returns the addresses of the send buffers, in memory that begins at `base`.
    pub fn send_buffers(&self, base: Address) -> SendBuffers {
        let at = |place: &Range<u64>| base.plus(place.start);
        SendBuffers {
            updates: at(&self.updates),
            mirrors: self.mirrors.iter().map(at).collect(),
            sent_word_counts: at(&self.sent_word_counts),
            sent_words: self.sent_words.iter().map(at).collect(),
        }
    }

    /// Returns the `Ranks` of a device whose memory begins at `base`; `all` has the send buffers by
    /// rank.
    pub fn ranks(&self, base: Address, share: &Share, all: &[SendBuffers]) -> Ranks {
        let at = |place: &Range<u64>| base.plus(place.start);
        let mut ranks = Ranks {
            count: share.parts.ranks() as u32,
            own: share.rank as u32,
            capacity: self.capacity as u32,
            copies_messages: share.copies_messages.into(),
            updates: at(&self.updates),
            sent_word_counts: at(&self.sent_word_counts),
            ..Ranks::default()
        };
        let bounds = share.parts.bounds();
        ranks.bounds[..bounds.len()].copy_from_slice(bounds);
        for (rank, mirror) in self.mirrors.iter().enumerate() {
            ranks.mirrors_of[rank] = self.by_vertex(at(mirror), share, rank);
        }
        for rank in share.others() {
            let (place, send_buffers) = (&self.received[rank], &all[rank]);
            ranks.sent_words[rank] = at(&self.sent_words[rank]);
            [ranks.peer_updates[rank], ranks.received_counts[rank], ranks.received_words[rank]] =
                match share.copies_messages {
                    true => {
                        [at(&place.updates), at(&place.sent_word_counts), at(&place.sent_words)]
                    }
                    false => [
                        send_buffers.updates,
                        send_buffers.sent_word_counts,
                        send_buffers.sent_words[share.rank],
                    ],
                };
        }
        ranks
    }

    /// Returns the `Mirrors` of a device; `all` has the send buffers by rank.
    pub fn mirrors(&self, share: &Share, all: &[SendBuffers]) -> Mirrors {
        let own = share.rank;
        let mut mirrors = Mirrors::default();
        let written = (0..all.len()).filter(|&rank| share.copies_messages == (rank == own));
        for (rank, of) in written.zip(&mut mirrors.of) {
            *of = self.by_vertex(all[rank].mirrors[own], share, own);
            mirrors.count += 1;
        }
        mirrors
    }

    /// Returns the address that vertex 0 would have in the mirror of a rank's vertices.
    fn by_vertex(&self, mirror: Address, share: &Share, rank: usize) -> Address {
        mirror.minus(4 * self.values * u64::from(share.parts.of(rank).start))
    }

    /// Returns the bytes to transport of an update message with this header, and of the mirror of
    /// `vertices` vertices: the message with its records and no mirror, or if they do not fit, the
    /// header and the mirror.
    pub fn bytes_of(&self, head: &UpdateHeader, vertices: u64) -> [u64; 2] {
        match head.count > head.capacity {
            true => [HEADER_BYTES, 4 * self.values * vertices],
            false => [HEADER_BYTES + 4 * (1 + self.values) * u64::from(head.count), 0],
        }
    }
}

/// Returns the bytes of `words` words of activated vertices.
pub fn bytes_of_words(words: u32) -> u64 {
    u64::from(words) * FRONTIER_WORD_BYTES
}

/// Bytes of the counts that are sent with the activations.
pub const COUNTS_BYTES: u64 = 4 * MOST_RANKS as u64;

/// Returns text that does not compile if a struct of the kernels has another size than here.
pub fn checks() -> String {
    let sizes = [
        ("UpdateHeader", HEADER_BYTES),
        ("Ranks", size_of::<Ranks>() as u64),
        ("Mirrors", size_of::<Mirrors>() as u64),
        ("FrontierWord", FRONTIER_WORD_BYTES),
    ];
    text::sizes_are(sizes)
}
