//! Transactions of one day, aggregated to a sorted adjacency: partners, counts and amounts.
//!
//! A day here is the unit by which windows slide, whatever its length. Its adjacency lists each pair twice,
//! from either side, sorted by vertex and then by neighbour, so that days merge as sorted runs. Sums are
//! integers. So a day does not depend on the order of its rows, and subtracting a day restores the exact sums
//! before it.
//!
//! ```text
//! rows of a day   (a, b, 3.50) (b, a, 1.00) (a, c, 2.00)
//! adjacency       a: b ×2 4.50, c ×1 2.00     b: a ×2 4.50     c: a ×1 2.00
//! ```
//!
//! Beside the sums, each single transaction is kept ([`Payments`]).
//!
//! Memory: 8 bytes per arc and 8 per vertex with arcs; 8 more per arc with amounts. A transaction takes 16 bytes,
//! 24 with amounts, and 8 more if a row links more than two entities. While a day is built: 24 bytes per row
//! and 16 per arc more.

use crate::KindId;
use crate::payments::{Payments, Transfer, sort_key};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use std::collections::BTreeMap;
use std::ops::Range;

/// Aggregated transactions of one day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayAdjacency {
    /// Vertices with neighbours, ascending.
    pub vertices: Vec<VertexId>,
    /// End of each vertex's list in `neighbors`.
    pub ends: Vec<u32>,
    /// The neighbours, ascending for each vertex.
    pub neighbors: Vec<VertexId>,
    /// Number of transactions with each neighbour.
    pub counts: Vec<u32>,
    /// Summed amount with each neighbour, in smallest units; empty if amounts are not mapped.
    pub amounts: Vec<u64>,
    /// Number of rows, however many entities each links.
    pub transactions: u64,
    /// The single transactions, by payer and payee.
    pub payments: Payments,
    /// Number of transactions between two kinds; those of an entity with itself do not count.
    pub links: BTreeMap<(KindId, KindId), u64>,
    /// Edges of each pair of columns, if a row has several ([`Mapping::also`](crate::Mapping::also)); empty
    /// otherwise.
    pub columns: Vec<ColumnPairEdges>,
}

/// Edges of a day that come from one pair of columns. A row has at most one of them, so that rows can be
/// counted although each row makes several edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPairEdges {
    /// The kinds of the two columns.
    pub kinds: (KindId, KindId),
    /// Both ends of each edge, ascending.
    ends: Vec<(VertexId, VertexId)>,
}

impl ColumnPairEdges {
    /// Sorts the edges of a pair of columns; self-loops are dropped.
    pub fn of(kinds: (KindId, KindId), mut ends: Vec<(VertexId, VertexId)>) -> ColumnPairEdges {
        ends.retain(|(one, other)| one != other);
        ends.par_sort_unstable();
        ColumnPairEdges { kinds, ends }
    }

    /// Returns the number of edges.
    pub fn count(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Whether an edge leads from an entity in the first column to another in the second.
    pub fn links(&self, one: VertexId, other: VertexId) -> bool {
        self.ends.binary_search(&(one, other)).is_ok()
    }

    /// Returns the number of edges between two entities, in either direction.
    pub fn between(&self, one: VertexId, other: VertexId) -> u64 {
        let count = |ends: (VertexId, VertexId)| {
            let begin = self.ends.partition_point(|&these| these < ends);
            self.ends[begin..].partition_point(|&these| these == ends) as u64
        };
        count((one, other)) + if one == other { 0 } else { count((other, one)) }
    }
}

/// Sum of several days, or the difference to apply to a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Vertices with neighbours, ascending.
    pub vertices: Vec<VertexId>,
    /// End of each vertex's list in `neighbors`.
    pub ends: Vec<usize>,
    /// The neighbours, ascending for each vertex.
    pub neighbors: Vec<VertexId>,
    /// Change of the number of transactions with each neighbour.
    pub counts: Vec<i64>,
    /// Change of the summed amount; empty if amounts are not mapped.
    pub amounts: Vec<i64>,
    /// Change of the number of transactions.
    pub transactions: i64,
}

/// Error of building a day.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum DayError {
    /// The day has too many pairs.
    #[error("a day has {0} pairs, and a run holds 2³¹: let windows slide by less than a day")]
    TooLarge(u64),
    /// A sum of amounts does not fit.
    #[error(
        "the amounts between vertices {0} and {1} in a day sum up to more than 2⁵⁰ of the smallest unit: keep fewer \
         decimals"
    )]
    Amount(VertexId, VertexId),
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

const MOST_ARCS: u64 = 1 << 31;
/// Largest sum of amounts of a pair in a day, in smallest units, so that the sums over a window's days
/// ([`MOST_DAYS`](crate::window::MOST_DAYS)) fit 63 bits.
pub const MOST_AMOUNT: u64 = 1 << 50;

/// Arc of one row, sorted by its key.
#[derive(Clone, Copy)]
struct Arc {
    /// Vertex and neighbour.
    key: u64,
    amount: u64,
}

impl DayAdjacency {
    /// Aggregates a day's transfers; self-loops are dropped.
    ///
    /// # Errors
    /// If there are too many pairs, a sum does not fit, or memory allocation fails.
    pub fn of(
        mut transfers: Vec<Transfer>,
        transactions: u64,
        has_amounts: bool,
    ) -> Result<DayAdjacency, DayError> {
        let arcs = 2 * transfers.len() as u64;
        if arcs > MOST_ARCS {
            return Err(DayError::TooLarge(transfers.len() as u64));
        }
        transfers.par_sort_unstable_by_key(sort_key);
        let payments = Payments::of_sorted(&transfers, has_amounts)?;
        let mut sorted: Vec<Arc> = memory::with_room(arcs as usize)?;
        let between = transfers.iter().filter(|transfer| transfer.source != transfer.target);
        for &Transfer { source, target, amount, .. } in between {
            let key = |a: VertexId, b: VertexId| u64::from(a) << 32 | u64::from(b);
            sorted.push(Arc { key: key(source, target), amount });
            sorted.push(Arc { key: key(target, source), amount });
        }
        drop(transfers);
        sorted.par_sort_unstable_by_key(|arc| arc.key);
        Ok(DayAdjacency {
            payments,
            ..DayAdjacency::of_sorted(&sorted, transactions, has_amounts)?
        })
    }

    fn of_sorted(
        sorted: &[Arc],
        transactions: u64,
        has_amounts: bool,
    ) -> Result<DayAdjacency, DayError> {
        let pairs = sorted.chunk_by(|a, b| a.key == b.key);
        let (mut arcs, mut vertices) = (0, 0);
        let mut last = None;
        for pair in pairs.clone() {
            arcs += 1;
            let vertex = (pair[0].key >> 32) as VertexId;
            vertices += usize::from(last.replace(vertex) != Some(vertex));
        }
        let mut run = DayAdjacency {
            vertices: memory::with_room(vertices)?,
            ends: memory::with_room(vertices)?,
            neighbors: memory::with_room(arcs)?,
            counts: memory::with_room(arcs)?,
            amounts: memory::with_room(if has_amounts { arcs } else { 0 })?,
            transactions,
            payments: Payments::default(),
            links: BTreeMap::new(),
            columns: Vec::new(),
        };
        for pair in pairs {
            let vertex = (pair[0].key >> 32) as VertexId;
            if run.vertices.last() != Some(&vertex) {
                run.vertices.push(vertex);
                run.ends.push(run.neighbors.len() as u32);
            }
            run.neighbors.push(pair[0].key as VertexId);
            run.counts.push(pair.len() as u32);
            if has_amounts {
                let sum = pair.iter().try_fold(0u64, |sum, arc| sum.checked_add(arc.amount));
                let large = DayError::Amount(vertex, pair[0].key as VertexId);
                let sum = sum.filter(|&sum| sum <= MOST_AMOUNT).ok_or(large)?;
                run.amounts.push(sum);
            }
            if let Some(end) = run.ends.last_mut() {
                *end = run.neighbors.len() as u32;
            }
        }
        Ok(run)
    }

    /// Returns the arcs of the vertex at an index of `vertices`.
    pub fn arcs_at(&self, place: usize) -> Range<usize> {
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[place] as usize
    }

    /// Returns the arcs of a vertex.
    pub fn arcs_of(&self, vertex: VertexId) -> Range<usize> {
        self.vertices.binary_search(&vertex).map_or(0..0, |place| self.arcs_at(place))
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        let (vertices, arcs) = (self.vertices.capacity(), self.neighbors.capacity());
        let linked: usize = self.columns.iter().map(|linked| linked.ends.capacity()).sum();
        (8 * vertices + 8 * arcs + 8 * self.amounts.capacity() + 8 * linked) as u64
            + self.payments.bytes()
    }
}

/// Cuts all vertices into ranges with about as many arcs each in the largest day.
fn ranges(signed: &[(&DayAdjacency, i64)]) -> Vec<Range<u64>> {
    const PARTS_A_THREAD: usize = 8;
    const LEAST_ARCS: usize = 1 << 14;
    let largest = signed.iter().map(|(run, _)| *run).max_by_key(|run| run.neighbors.len());
    let Some(largest) = largest else { return Vec::new() };
    let arcs = largest.neighbors.len();
    let parts = (PARTS_A_THREAD * rayon::current_num_threads()).min(arcs / LEAST_ARCS + 1);
    let mut begins: Vec<u64> = (1..parts)
        .map(|part| {
            let place = largest.ends.partition_point(|&end| (end as usize) < part * arcs / parts);
            largest.vertices.get(place).map_or(u64::MAX, |&vertex| u64::from(vertex))
        })
        .collect();
    begins.dedup();
    let begins = std::iter::once(0).chain(begins);
    let mut ranges: Vec<Range<u64>> = begins.map(|begin| begin..u64::MAX).collect();
    for at in 1..ranges.len() {
        ranges[at - 1].end = ranges[at].start;
    }
    ranges
}

impl Delta {
    /// Returns the sums of all `added` days minus those of all `removed` days, which were each added before.
    /// Pairs whose counts cancel are left out, and so are vertices without any other pair. Amounts are left
    /// out unless `with_amounts`.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(
        added: &[&DayAdjacency],
        removed: &[&DayAdjacency],
        with_amounts: bool,
    ) -> Result<Delta, OutOfMemory> {
        let added = added.iter().map(|run| (*run, 1));
        let signed: Vec<(&DayAdjacency, i64)> =
            added.chain(removed.iter().map(|run| (*run, -1))).collect();
        let part = |range: Range<u64>| Delta::of_range(&signed, range, with_amounts);
        let parts = ranges(&signed).into_par_iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let transactions = signed.iter().map(|(run, sign)| sign * run.transactions as i64).sum();
        Ok(Delta { transactions, ..Delta::joined(parts)? })
    }

    /// Returns the sums for a range of vertices.
    fn of_range(
        signed: &[(&DayAdjacency, i64)],
        range: Range<u64>,
        with_amounts: bool,
    ) -> Result<Delta, OutOfMemory> {
        let part =
            |&(run, sign): &(&DayAdjacency, i64)| Delta::of_run(run, sign, &range, with_amounts);
        let mut deltas = signed.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        // Merges pairs of about equal size, so that each arc is merged log₂(days) times.
        while deltas.len() > 1 {
            let mut merged = Vec::with_capacity(deltas.len().div_ceil(2));
            let mut some = deltas.into_iter();
            while let Some(one) = some.next() {
                merged.push(match some.next() {
                    Some(other) => one.merged(&other)?,
                    None => one,
                });
            }
            deltas = merged;
        }
        Ok(deltas.pop().unwrap_or_default())
    }

    fn of_run(
        run: &DayAdjacency,
        sign: i64,
        range: &Range<u64>,
        with_amounts: bool,
    ) -> Result<Delta, OutOfMemory> {
        let place = |end: u64| run.vertices.partition_point(|&vertex| u64::from(vertex) < end);
        let places = place(range.start)..place(range.end);
        let begin =
            |place: usize| place.checked_sub(1).map_or(0, |before| run.ends[before] as usize);
        let arcs = begin(places.start)..begin(places.end);
        let ends = run.ends[places.clone()].iter().map(|&end| end as usize - arcs.start);
        let counts = run.counts[arcs.clone()].iter().map(|&count| sign * i64::from(count));
        let amounts = match with_amounts && !run.amounts.is_empty() {
            true => &run.amounts[arcs.clone()],
            false => &[],
        };
        Ok(Delta {
            vertices: memory::copied(&run.vertices[places])?,
            ends: memory::collected(ends)?,
            neighbors: memory::copied(&run.neighbors[arcs])?,
            counts: memory::collected(counts)?,
            amounts: memory::collected(amounts.iter().map(|&amount| sign * amount as i64))?,
            transactions: 0,
        })
    }

    /// Concatenates the lists of all parts; each part is freed once it is copied.
    fn joined(parts: Vec<Delta>) -> Result<Delta, OutOfMemory> {
        let sum = |length: fn(&Delta) -> usize| parts.iter().map(length).sum::<usize>();
        let mut joined = Delta {
            vertices: memory::with_room(sum(|part| part.vertices.len()))?,
            ends: memory::with_room(sum(|part| part.ends.len()))?,
            neighbors: memory::with_room(sum(|part| part.neighbors.len()))?,
            counts: memory::with_room(sum(|part| part.counts.len()))?,
            amounts: memory::with_room(sum(|part| part.amounts.len()))?,
            transactions: 0,
        };
        for part in parts {
            let before = joined.neighbors.len();
            joined.vertices.extend_from_slice(&part.vertices);
            joined.ends.extend(part.ends.iter().map(|end| before + end));
            joined.neighbors.extend_from_slice(&part.neighbors);
            joined.counts.extend_from_slice(&part.counts);
            joined.amounts.extend_from_slice(&part.amounts);
        }
        Ok(joined)
    }

    /// Returns the arcs of the vertex at an index of `vertices`.
    pub fn arcs_at(&self, place: usize) -> Range<usize> {
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin..self.ends[place]
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        let (vertices, arcs) = (self.vertices.capacity(), self.neighbors.capacity());
        (12 * vertices + 12 * arcs + 8 * self.amounts.capacity()) as u64
    }

    fn merged(&self, other: &Delta) -> Result<Delta, OutOfMemory> {
        let vertices = self.vertices.len() + other.vertices.len();
        let arcs = self.neighbors.len() + other.neighbors.len();
        let has_amounts = !self.amounts.is_empty() || !other.amounts.is_empty();
        let mut merged = Delta {
            vertices: memory::with_room(vertices)?,
            ends: memory::with_room(vertices)?,
            neighbors: memory::with_room(arcs)?,
            counts: memory::with_room(arcs)?,
            amounts: memory::with_room(if has_amounts { arcs } else { 0 })?,
            transactions: self.transactions + other.transactions,
        };
        let (mut a, mut b) = (0, 0);
        loop {
            let (one, two) = (self.vertices.get(a), other.vertices.get(b));
            let vertex = match (one, two) {
                (None, None) => return Ok(merged),
                (Some(&one), Some(&two)) => one.min(two),
                (Some(&vertex), None) | (None, Some(&vertex)) => vertex,
            };
            let mut mine = if one == Some(&vertex) { self.arcs_at(a) } else { 0..0 };
            let mut others = if two == Some(&vertex) { other.arcs_at(b) } else { 0..0 };
            a += usize::from(one == Some(&vertex));
            b += usize::from(two == Some(&vertex));
            merged.merge_list((self, &mut mine), (other, &mut others));
            if merged.neighbors.len() > merged.ends.last().copied().unwrap_or(0) {
                merged.vertices.push(vertex);
                merged.ends.push(merged.neighbors.len());
            }
        }
    }

    fn merge_list(&mut self, one: (&Delta, &mut Range<usize>), two: (&Delta, &mut Range<usize>)) {
        let ((one, mine), (two, others)) = (one, two);
        let amount = |delta: &Delta, arc: usize| delta.amounts.get(arc).copied().unwrap_or(0);
        while mine.start < mine.end || others.start < others.end {
            let next = |delta: &Delta, arcs: &Range<usize>| {
                if arcs.start >= arcs.end {
                    u64::MAX
                } else {
                    u64::from(delta.neighbors[arcs.start])
                }
            };
            let (left, right) = (next(one, mine), next(two, others));
            let (mut count, mut sum) = (0, 0);
            if left <= right {
                count += one.counts[mine.start];
                sum += amount(one, mine.start);
                mine.start += 1;
            }
            if right <= left {
                count += two.counts[others.start];
                sum += amount(two, others.start);
                others.start += 1;
            }
            if count != 0 || sum != 0 {
                self.neighbors.push(left.min(right) as VertexId);
                self.counts.push(count);
                if !(one.amounts.is_empty() && two.amounts.is_empty()) {
                    self.amounts.push(sum);
                }
            }
        }
    }
}
