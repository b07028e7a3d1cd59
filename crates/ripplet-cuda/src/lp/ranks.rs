//! What a device has where several share a run: its vertices, its letters, and where it reads the others'.
//!
//! `exchange.cuh` has the same structs, and says what is in a letter.

use crate::device::Address;
use crate::places::Places;
use crate::text;
use bytemuck::{Pod, Zeroable};
use ripplet_lp::Order;
use ripplet_lp::engine::Parts;
use std::ops::Range;

/// The most devices that can share a run.
pub const MOST_RANKS: usize = 16;

/// As `Letter` in `exchange.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Letter {
    pub count: u32,
    pub capacity: u32,
    pub waking: u64,
}

/// As `Ranks` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Ranks {
    pub count: u32,
    pub own: u32,
    pub capacity: u32,
    pub brings: u32,
    pub bounds: [u32; MOST_RANKS + 1],
    pub padding: u32,
    pub letter: Address,
    pub letters: [Address; MOST_RANKS],
    pub mirrors: [Address; MOST_RANKS],
    pub told_counts: Address,
    pub told: [Address; MOST_RANKS],
    pub heard_counts: [Address; MOST_RANKS],
    pub heard: [Address; MOST_RANKS],
}

/// As `Mirrors` in `field.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Mirrors {
    pub count: u64,
    pub of: [Address; MOST_RANKS],
}

/// Whether so many vertices may change in a phase that mirrors tell of them: where all have their turn in one.
pub fn is_mirrored(order: Order) -> bool {
    match order {
        Order::Phased { phases } => phases <= 1,
        Order::Sync | Order::Async { .. } => true,
    }
}

/// Of a rank's vertices, one in so many has a record in its letter where mirrors tell of more.
const RECORD_OF: u64 = 16;

/// Bytes of a letter before its records.
pub const LETTER_BYTES: u64 = size_of::<Letter>() as u64;
/// Bytes of a `Woken` there, which stands for 32 vertices.
const WOKEN_BYTES: u64 = 8;

/// Which vertices are a device's, among those who share a run.
#[derive(Clone, Debug)]
pub struct Share {
    pub parts: Parts,
    pub rank: usize,
    /// Whether letters are carried into its memory: otherwise it reads them where they were written.
    pub is_brought: bool,
}

impl Default for Share {
    fn default() -> Share {
        Share::whole(0)
    }
}

impl Share {
    /// All vertices are one device's.
    pub fn whole(vertices: u32) -> Share {
        Share { parts: Parts::whole(vertices), rank: 0, is_brought: false }
    }

    /// Whether there are others.
    pub fn is_ranked(&self) -> bool {
        self.parts.ranks() > 1
    }

    /// The device's own vertices.
    pub fn vertices(&self) -> Range<u32> {
        self.parts.of(self.rank)
    }

    /// The ranks of the others.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.rank;
        (0..self.parts.ranks()).filter(move |&rank| rank != own)
    }
}

/// Where a device's letters are; nothing where it is alone.
#[derive(Clone, Debug, Default)]
pub struct RankPlaces {
    /// Records that its letter has room for.
    pub capacity: u64,
    /// Whether more vertices may change at once, of which mirrors tell.
    pub is_mirrored: bool,
    /// Values of a vertex in a letter.
    values: u64,
    pub letter: Range<u64>,
    /// The device's `Mirrors`, and by rank the mirror that it has of its vertices.
    pub mirrors_at: Range<u64>,
    mirrors: Vec<Range<u64>>,
    pub told_counts: Range<u64>,
    /// For each rank.
    pub told: Vec<Range<u64>>,
    /// Of each rank, where letters are brought.
    brought: Vec<Brought>,
}

/// Where another rank's letters are brought.
#[derive(Clone, Debug, Default)]
struct Brought {
    letter: Range<u64>,
    told_counts: Range<u64>,
    told: Range<u64>,
}

/// The letters of a rank, as others find them.
#[derive(Clone, Debug)]
pub struct Outbox {
    pub letter: Address,
    /// By rank, the mirror of its vertices that this one has.
    pub mirrors: Vec<Address>,
    pub told_counts: Address,
    pub told: Vec<Address>,
}

fn words(vertices: &Range<u32>) -> u64 {
    u64::from(vertices.end - vertices.start).div_ceil(32)
}

impl RankPlaces {
    /// The next places. Of a rank's vertices, so many as `at_once` says choose at once; each has so many
    /// written columns' values, and a label.
    pub fn new(
        to: &mut Places,
        share: &Share,
        drafted: u64,
        order: Order,
        at_once: impl Fn(u64) -> u64,
    ) -> RankPlaces {
        if !share.is_ranked() {
            return RankPlaces::default();
        }
        let values = 1 + drafted;
        let is_mirrored = is_mirrored(order);
        let count = |rank: usize| {
            let of = share.parts.of(rank);
            u64::from(of.end - of.start)
        };
        let capacity = |rank: usize| {
            let all = at_once(count(rank));
            if is_mirrored { all.div_ceil(RECORD_OF) } else { all }
        };
        let letter = |rank: usize| {
            let records = capacity(rank).saturating_mul(4 * (1 + values));
            records.saturating_add(LETTER_BYTES)
        };
        let ranks = 0..share.parts.ranks();
        let place = to.take(1, letter(share.rank));
        let mirrors_at = to.take(size_of::<Mirrors>() as u64, is_mirrored.into());
        // The others write theirs here; what is brought, each writes at its own.
        let has_mirror = |rank: usize| is_mirrored && (share.is_brought || rank != share.rank);
        let mirror = |rank| to.take(4 * values, if has_mirror(rank) { count(rank) } else { 0 });
        let mirrors = ranks.clone().map(mirror).collect();
        let told_counts = to.take(4, MOST_RANKS as u64);
        let of_others =
            |rank: usize| if rank == share.rank { 0 } else { words(&share.parts.of(rank)) };
        let told = ranks.clone().map(|rank| to.take(WOKEN_BYTES, of_others(rank))).collect();
        let own = words(&share.vertices());
        let mut brought = |rank: usize| match share.is_brought && rank != share.rank {
            true => Brought {
                letter: to.take(1, letter(rank)),
                told_counts: to.take(4, MOST_RANKS as u64),
                told: to.take(WOKEN_BYTES, own),
            },
            false => Brought::default(),
        };
        let brought = ranks.map(&mut brought).collect();
        RankPlaces {
            capacity: capacity(share.rank),
            is_mirrored,
            values,
            letter: place,
            mirrors_at,
            mirrors,
            told_counts,
            told,
            brought,
        }
    }

    /// Where the letters are, for the others, in memory that begins at `base`.
    pub fn outbox(&self, base: Address) -> Outbox {
        let at = |place: &Range<u64>| base.plus(place.start);
        Outbox {
            letter: at(&self.letter),
            mirrors: self.mirrors.iter().map(at).collect(),
            told_counts: at(&self.told_counts),
            told: self.told.iter().map(at).collect(),
        }
    }

    /// The `Ranks` of a device whose memory begins at `base`, where these are all ranks' letters.
    pub fn ranks(&self, base: Address, share: &Share, all: &[Outbox]) -> Ranks {
        let at = |place: &Range<u64>| base.plus(place.start);
        let mut ranks = Ranks {
            count: share.parts.ranks() as u32,
            own: share.rank as u32,
            capacity: self.capacity as u32,
            brings: share.is_brought.into(),
            letter: at(&self.letter),
            told_counts: at(&self.told_counts),
            ..Ranks::default()
        };
        let bounds = share.parts.bounds();
        ranks.bounds[..bounds.len()].copy_from_slice(bounds);
        for (rank, mirror) in self.mirrors.iter().enumerate() {
            ranks.mirrors[rank] = self.by_vertex(at(mirror), share, rank);
        }
        for rank in share.others() {
            let (place, outbox) = (&self.brought[rank], &all[rank]);
            ranks.told[rank] = at(&self.told[rank]);
            [ranks.letters[rank], ranks.heard_counts[rank], ranks.heard[rank]] =
                match share.is_brought {
                    true => [at(&place.letter), at(&place.told_counts), at(&place.told)],
                    false => [outbox.letter, outbox.told_counts, outbox.told[share.rank]],
                };
        }
        ranks
    }

    /// The `Mirrors` of a device, where these are all ranks' letters.
    pub fn mirrors(&self, share: &Share, all: &[Outbox]) -> Mirrors {
        let own = share.rank;
        let mut mirrors = Mirrors::default();
        let written = (0..all.len()).filter(|&rank| share.is_brought == (rank == own));
        for (rank, of) in written.zip(&mut mirrors.of) {
            *of = self.by_vertex(all[rank].mirrors[own], share, own);
            mirrors.count += 1;
        }
        mirrors
    }

    /// Where vertex 0 would be in a mirror of a rank's vertices.
    fn by_vertex(&self, mirror: Address, share: &Share, rank: usize) -> Address {
        mirror.minus(4 * self.values * u64::from(share.parts.of(rank).start))
    }

    /// Bytes of a letter with this head, and of what is brought of the mirror, of a rank with so many vertices.
    pub fn bytes_of(&self, head: &Letter, vertices: u64) -> [u64; 2] {
        match head.count > head.capacity {
            true => [LETTER_BYTES, 4 * self.values * vertices],
            false => [LETTER_BYTES + 4 * (1 + self.values) * u64::from(head.count), 0],
        }
    }
}

/// Bytes of so many words of woken vertices.
pub fn bytes_of_woken(words: u32) -> u64 {
    u64::from(words) * WOKEN_BYTES
}

/// Bytes of the counts that come with them.
pub const COUNTS_BYTES: u64 = 4 * MOST_RANKS as u64;

/// Text that does not compile where the kernels' structs are not of the sizes that they have here.
pub fn checks() -> String {
    let sizes = [
        ("Letter", LETTER_BYTES),
        ("Ranks", size_of::<Ranks>() as u64),
        ("Mirrors", size_of::<Mirrors>() as u64),
        ("Woken", WOKEN_BYTES),
    ];
    text::sizes_are(sizes)
}
