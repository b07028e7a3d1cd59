//! Interner of external ids: collects the distinct ids, sorts them, and rewrites the ends of edges as ranks.
//!
//! ```text
//! ends as read        distinct ids          rank
//! 7 – 3, 3 – 90  ─▶   3 7 90            ─▶      1 – 0, 0 – 2
//! ```
//!
//! *Integers*: if the range of the ids is not much wider than the number of ends, a bitmap over the range
//! holds the ids, and a rank is a population count. Otherwise the ids are sorted and searched. *Names*: see
//! [`crate::names`].
//!
//! Memory: beside the ends, at most 6 bytes per edge for the bitmap, or 16 a distinct id for the sorted ids.
//! The rewritten columns take 8 bytes per edge, while blocks of ends are freed one by one. If memory
//! allocation fails, that is an error.
//!
//! Determinism: ranks follow the order of the ids, so nothing depends on threads or hash values.

use crate::names::{InternError, NameIndex};
use crate::slices::pieces;
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{MAX_VERTICES, VertexId, VertexIds};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Ends of edges in the order of the input, as external integers: 32 bits if all fit.
///
/// Signed ids are kept in [`signed`] form, which preserves their order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ends {
    /// All ids below 2³².
    Narrow(Vec<[u32; 2]>),
    /// Any ids.
    Wide(Vec<[u64; 2]>),
}

/// Vertices and columns of an edge table.
#[derive(Debug)]
pub(crate) struct Interned {
    pub(crate) ids: VertexIds,
    pub(crate) sources: Vec<VertexId>,
    pub(crate) targets: Vec<VertexId>,
}

/// Whether integers are signed, and so are in [`signed`] form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Unsigned,
    Signed,
}

/// Maps a signed id to an unsigned integer of the same order.
pub(crate) fn signed(id: i64) -> u64 {
    id as u64 ^ 1 << 63
}

/// Inverse of [`signed`].
fn unsigned_to_signed(id: u64) -> i64 {
    (id ^ 1 << 63) as i64
}

impl Ends {
    /// Returns no ends, with room for some.
    pub(crate) fn with_room(edges: usize) -> Result<Ends, OutOfMemory> {
        memory::with_room(edges).map(Ends::Narrow)
    }

    /// Appends an edge.
    #[inline]
    pub(crate) fn push(&mut self, ends: [u64; 2]) -> Result<(), OutOfMemory> {
        match self {
            Ends::Narrow(narrow) if (ends[0] | ends[1]) >> 32 == 0 => {
                memory::push(narrow, ends.map(|id| id as u32))
            }
            Ends::Wide(wide) => memory::push(wide, ends),
            Ends::Narrow(_) => self.push_wider(ends),
        }
    }

    #[cold]
    fn push_wider(&mut self, ends: [u64; 2]) -> Result<(), OutOfMemory> {
        if let Ends::Narrow(narrow) = self {
            let mut wide = memory::with_room(narrow.capacity())?;
            wide.extend(narrow.iter().map(|pair| pair.map(u64::from)));
            *self = Ends::Wide(wide);
        }
        self.push(ends)
    }

    /// Converts from two's complement to the [`signed`] form.
    pub(crate) fn make_signed(&mut self) -> Result<(), OutOfMemory> {
        match self {
            Ends::Narrow(pairs) => {
                let mut wide = memory::with_room(pairs.len())?;
                wide.extend(pairs.iter().map(|pair| pair.map(|id| signed(i64::from(id)))));
                *self = Ends::Wide(wide);
            }
            Ends::Wide(pairs) => {
                pairs.as_flattened_mut().iter_mut().for_each(|id| *id = signed(*id as i64));
            }
        }
        Ok(())
    }

    /// Returns the number of edges.
    pub(crate) fn len(&self) -> usize {
        match self {
            Ends::Narrow(narrow) => narrow.len(),
            Ends::Wide(wide) => wide.len(),
        }
    }

    /// Iterates over the edges.
    pub(crate) fn iter(&self) -> impl Iterator<Item = [u64; 2]> {
        let (narrow, wide) = match self {
            Ends::Narrow(narrow) => (&narrow[..], &[][..]),
            Ends::Wide(wide) => (&[][..], &wide[..]),
        };
        narrow.iter().map(|ends| ends.map(u64::from)).chain(wide.iter().copied())
    }

    /// Returns the ends as one list of ids: two an edge.
    pub(crate) fn ids(&self) -> IdSlice<'_> {
        match self {
            Ends::Narrow(narrow) => IdSlice::Narrow(narrow.as_flattened()),
            Ends::Wide(wide) => IdSlice::Wide(wide.as_flattened()),
        }
    }

    /// Rewrites each end, into columns with one element an edge.
    fn rank_into(&self, ranks: &Ranks, sources: &mut [VertexId], targets: &mut [VertexId]) {
        let known = |id: u64| ranks.rank(id).expect("the ranks were built from these ends");
        match ranks.order {
            Order::Consecutive => {
                self.map_into(|id| (id - ranks.least) as VertexId, sources, targets)
            }
            _ => self.map_into(known, sources, targets),
        }
    }

    #[inline]
    fn map_into(
        &self,
        rank: impl Fn(u64) -> VertexId,
        sources: &mut [VertexId],
        targets: &mut [VertexId],
    ) {
        let columns = sources.iter_mut().zip(targets);
        match self {
            Ends::Narrow(narrow) => columns.zip(narrow).for_each(|((source, target), ends)| {
                (*source, *target) = (rank(ends[0].into()), rank(ends[1].into()));
            }),
            Ends::Wide(wide) => columns.zip(wide).for_each(|((source, target), ends)| {
                (*source, *target) = (rank(ends[0]), rank(ends[1]));
            }),
        }
    }
}

/// Interns edges whose ends are integers: the vertices are exactly the distinct ids.
pub(crate) fn intern_integers(blocks: Vec<Ends>, sign: Sign) -> Result<Interned, InternError> {
    let slices = memory::collected(blocks.iter().map(Ends::ids))?;
    let ranks = Ranks::of(&slices)?;
    drop(slices);
    let (sources, targets) = into_columns(blocks, Ends::len, |ends, sources, targets| {
        ends.rank_into(&ranks, sources, targets);
    })?;
    Ok(Interned { ids: ranks.into_ids(sign)?, sources, targets })
}

/// Interns edges whose ends are numbers of names in `names`, source and target of each edge in turn: the
/// vertices are all names of the index.
pub(crate) fn intern_names(
    names: NameIndex,
    blocks: Vec<Vec<u32>>,
) -> Result<Interned, InternError> {
    let (ids, rank) = names.into_sorted()?;
    let len = |numbers: &Vec<u32>| numbers.len() / 2;
    let (sources, targets) = into_columns(blocks, len, |numbers, sources, targets| {
        let pairs = numbers.as_chunks::<2>().0;
        for ((source, target), pair) in sources.iter_mut().zip(targets).zip(pairs) {
            (*source, *target) = (rank[pair[0] as usize], rank[pair[1] as usize]);
        }
    })?;
    Ok(Interned { ids, sources, targets })
}

/// Two columns: sources and targets.
pub(crate) type EndColumns = (Vec<VertexId>, Vec<VertexId>);

/// Splits blocks of pairs into two columns; each block is freed once it is written.
pub(crate) fn into_columns<B: Send>(
    blocks: Vec<B>,
    len: impl Fn(&B) -> usize,
    write: impl Fn(B, &mut [VertexId], &mut [VertexId]) + Sync,
) -> Result<EndColumns, OutOfMemory> {
    let lengths = memory::collected(blocks.iter().map(len))?;
    let total = lengths.iter().sum();
    let (mut sources, mut targets) = (memory::zeros(total)?, memory::zeros(total)?);
    let columns = pieces(&mut sources, &lengths).into_iter().zip(pieces(&mut targets, &lengths));
    let work: Vec<_> = blocks.into_iter().zip(columns).collect();
    work.into_par_iter().for_each(|(block, (sources, targets))| write(block, sources, targets));
    Ok((sources, targets))
}

/// Splits blocks of vertex pairs into two columns.
pub(crate) fn pairs_into_columns(
    blocks: Vec<Vec<[VertexId; 2]>>,
) -> Result<EndColumns, OutOfMemory> {
    into_columns(blocks, Vec::len, |pairs, sources, targets| {
        for ((source, target), pair) in sources.iter_mut().zip(targets).zip(pairs) {
            [*source, *target] = pair;
        }
    })
}

/// Joins blocks of values to one column; each block is freed once it is written.
pub(crate) fn into_column(blocks: Vec<Vec<f64>>) -> Result<Vec<f64>, OutOfMemory> {
    let lengths = memory::collected(blocks.iter().map(Vec::len))?;
    let mut column = memory::zeros(lengths.iter().sum())?;
    let work: Vec<_> = blocks.into_iter().zip(pieces(&mut column, &lengths)).collect();
    work.into_par_iter().for_each(|(block, piece): (Vec<f64>, &mut [f64])| {
        piece.copy_from_slice(&block);
    });
    Ok(column)
}

/// External integers, 32 or 64 bits each.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IdSlice<'a> {
    Narrow(&'a [u32]),
    Wide(&'a [u64]),
}

impl IdSlice<'_> {
    fn len(self) -> usize {
        match self {
            IdSlice::Narrow(ids) => ids.len(),
            IdSlice::Wide(ids) => ids.len(),
        }
    }

    #[inline]
    fn for_each(self, mut visit: impl FnMut(u64)) {
        match self {
            IdSlice::Narrow(ids) => ids.iter().for_each(|&id| visit(id.into())),
            IdSlice::Wide(ids) => ids.iter().for_each(|&id| visit(id)),
        }
    }

    /// Returns the smallest and the largest id, if there are any.
    fn range(self) -> Option<(u64, u64)> {
        fn range<T: Copy + Ord>(ids: &[T]) -> Option<(T, T)> {
            let start = *ids.first()?;
            Some(ids.iter().fold((start, start), |(a, b), &id| (a.min(id), b.max(id))))
        }
        match self {
            IdSlice::Narrow(ids) => range(ids).map(|(a, b)| (a.into(), b.into())),
            IdSlice::Wide(ids) => range(ids),
        }
    }

    /// Returns the distinct ids, ascending.
    fn distinct(self) -> Result<Vec<u64>, OutOfMemory> {
        let mut ids = memory::with_room(self.len())?;
        self.for_each(|id| ids.push(id));
        ids.sort_unstable();
        ids.dedup();
        ids.shrink_to_fit();
        Ok(ids)
    }
}

/// Rank of each distinct external integer.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    least: u64,
    count: u32,
    order: Order,
}

#[derive(Clone, Debug)]
enum Order {
    /// `least, least + 1, …`.
    Consecutive,
    /// Bit `i` is set if `least + i` is an id; `before[i / 64]` counts the set bits of earlier words.
    Bitmap { bits: Vec<u64>, before: Vec<u32> },
    /// The sorted ids, and the start of each bucket of ids by the high bits of their distance to the least:
    /// `d >> shift`.
    Sorted { ids: Vec<u64>, begin: Vec<u32>, shift: u32 },
}

/// Bits of a bitmap an end may cost: 32 bits are half the size of an end, and the counts beside the bitmap
/// half of that again.
const BITS_PER_END: u64 = 16;
/// Bits of a bitmap that is always worthwhile: 256 KiB.
const SMALL_BITMAP: u64 = 1 << 21;

impl Ranks {
    /// Returns the ranks of all ids in `slices`.
    pub(crate) fn of(slices: &[IdSlice<'_>]) -> Result<Ranks, InternError> {
        let ends: u64 = slices.iter().map(|slice| slice.len() as u64).sum();
        let ranges = slices.par_iter().filter_map(|slice| slice.range());
        let Some((least, most)) = ranges.reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1))) else {
            return Ok(Ranks { least: 0, count: 0, order: Order::Consecutive });
        };
        let span = most - least;
        if span < SMALL_BITMAP.max(ends.saturating_mul(BITS_PER_END)) {
            Ranks::by_bitmap(slices, least, span)
        } else {
            Ranks::by_sorting(slices, least, span)
        }
    }

    fn by_bitmap(slices: &[IdSlice<'_>], least: u64, span: u64) -> Result<Ranks, InternError> {
        let words = (span / 64 + 1) as usize;
        let bits = memory::zeros::<AtomicU64>(words)?;
        slices.par_iter().for_each(|slice| {
            slice.for_each(|id| {
                let (word, bit) = (&bits[((id - least) / 64) as usize], 1 << ((id - least) % 64));
                // Most ids are set already: testing first keeps the cache line shared among cores.
                if word.load(Relaxed) & bit == 0 {
                    word.fetch_or(bit, Relaxed);
                }
            });
        });
        // In place: the standard library reuses the allocation for values of equal size.
        let bits: Vec<u64> = bits.into_iter().map(AtomicU64::into_inner).collect();
        let count = bits.par_iter().map(|word| u64::from(word.count_ones())).sum();
        let count = checked_count(count)?;
        if u64::from(count) == span + 1 {
            return Ok(Ranks { least, count, order: Order::Consecutive });
        }
        let mut sum = 0;
        let counted = |word: &u64| {
            let before = sum;
            sum += word.count_ones();
            before
        };
        let before = memory::collected(bits.iter().map(counted))?;
        Ok(Ranks { least, count, order: Order::Bitmap { bits, before } })
    }

    fn by_sorting(slices: &[IdSlice<'_>], least: u64, span: u64) -> Result<Ranks, InternError> {
        let distinct = slices.par_iter().map(|slice| slice.distinct());
        let distinct = distinct.collect::<Result<Vec<_>, _>>()?;
        let mut ids = memory::with_room(distinct.iter().map(Vec::len).sum())?;
        distinct.into_iter().for_each(|some| ids.extend_from_slice(&some));
        ids.par_sort_unstable();
        ids.dedup();
        ids.shrink_to_fit();
        let count = checked_count(ids.len() as u64)?;
        // About one bucket an id: `span >> shift` is below twice the number of ids.
        let shift =
            (64 - span.leading_zeros()).saturating_sub(64 - u64::from(count).leading_zeros());
        let buckets = (span >> shift) as usize + 1;
        let mut begin = memory::zeros::<u32>(buckets + 1)?;
        for id in &ids {
            begin[((id - least) >> shift) as usize + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut begin {
            sum += *end;
            *end = sum;
        }
        Ok(Ranks { least, count, order: Order::Sorted { ids, begin, shift } })
    }

    /// Returns the number of distinct ids.
    pub(crate) fn len(&self) -> u32 {
        self.count
    }

    /// Returns the vertex of an external integer.
    #[inline]
    pub(crate) fn rank(&self, id: u64) -> Option<VertexId> {
        let distance = id.checked_sub(self.least)?;
        match &self.order {
            Order::Consecutive => {
                (distance < u64::from(self.count)).then_some(distance as VertexId)
            }
            Order::Bitmap { bits, before } => {
                let at = usize::try_from(distance / 64).ok()?;
                let (word, bit) = (*bits.get(at)?, 1 << (distance % 64));
                (word & bit != 0).then(|| before[at] + (word & (bit - 1)).count_ones())
            }
            Order::Sorted { ids, begin, shift } => {
                let bucket = usize::try_from(distance >> shift).ok()?;
                let end = *begin.get(bucket.checked_add(1)?)?;
                let start = begin[bucket];
                let found = ids[start as usize..end as usize].binary_search(&id).ok()?;
                Some(start + found as VertexId)
            }
        }
    }

    /// Returns the ids, ascending.
    pub(crate) fn into_ids(self, sign: Sign) -> Result<VertexIds, OutOfMemory> {
        let ids = match self.order {
            Order::Consecutive => {
                let first = match sign {
                    Sign::Unsigned => Some(self.least),
                    // Empty, or no id is negative.
                    Sign::Signed => u64::try_from(unsigned_to_signed(self.least)).ok(),
                };
                if let Some(first) = first.filter(|f| f.checked_add(self.count.into()).is_some()) {
                    return Ok(VertexIds::Consecutive { first, count: self.count });
                }
                let mut ids = memory::with_room(self.count as usize)?;
                ids.extend((0..self.count).map(|rank| self.least + u64::from(rank)));
                ids
            }
            Order::Bitmap { bits, .. } => set_bits(&bits, self.least, self.count)?,
            Order::Sorted { ids, .. } => ids,
        };
        Ok(stored_ids(ids, sign))
    }
}

/// Returns ids that ascend, in [`signed`] form if they are signed.
fn stored_ids(mut ids: Vec<u64>, sign: Sign) -> VertexIds {
    if sign == Sign::Unsigned {
        return VertexIds::Unsigned(ids.into());
    }
    let negative = ids.first().is_some_and(|&id| unsigned_to_signed(id) < 0);
    ids.iter_mut().for_each(|id| *id = unsigned_to_signed(*id) as u64);
    match negative {
        // In place: both are 64 bits.
        true => VertexIds::Signed(bytemuck::allocation::cast_vec::<u64, i64>(ids).into()),
        false => VertexIds::Unsigned(ids.into()),
    }
}

/// Returns the vertices of distinct ids that ascend, in [`signed`] form if they are signed, as [`intern_integers`] has them.
pub(crate) fn ids_of_sorted(ids: Vec<u64>, sign: Sign) -> Result<VertexIds, OutOfMemory> {
    let count = ids.len() as u32;
    match (ids.first(), ids.last()) {
        (Some(&least), Some(&most)) if most - least == u64::from(count) - 1 => {
            Ranks { least, count, order: Order::Consecutive }.into_ids(sign)
        }
        (None, _) => Ranks { least: 0, count, order: Order::Consecutive }.into_ids(sign),
        _ => Ok(stored_ids(ids, sign)),
    }
}

fn checked_count(count: u64) -> Result<u32, InternError> {
    let count = u32::try_from(count).ok().filter(|&count| count <= MAX_VERTICES);
    count.ok_or(InternError::TooManyVertices)
}

/// Returns `least + i` for each set bit `i`.
fn set_bits(bits: &[u64], least: u64, count: u32) -> Result<Vec<u64>, OutOfMemory> {
    let mut ids = memory::with_room(count as usize)?;
    for (at, &word) in bits.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            ids.push(least + at as u64 * 64 + u64::from(word.trailing_zeros()));
            word &= word - 1;
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ripplet_graph::{EdgeTable, ExternalId};
    use std::collections::BTreeSet;

    fn ends(pairs: &[[u64; 2]]) -> Ends {
        let mut ends = Ends::with_room(0).unwrap();
        pairs.iter().for_each(|&pair| ends.push(pair).unwrap());
        ends
    }

    fn interned(blocks: &[&[[u64; 2]]], sign: Sign) -> Interned {
        intern_integers(blocks.iter().map(|pairs| ends(pairs)).collect(), sign).unwrap()
    }

    #[test]
    fn ends_widen_when_an_id_asks_for_it() {
        let mut ends = ends(&[[1, 2]]);
        assert_eq!(ends, Ends::Narrow(vec![[1, 2]]));
        ends.push([3, 1 << 32]).unwrap();
        ends.push([4, 5]).unwrap();
        assert_eq!(ends, Ends::Wide(vec![[1, 2], [3, 1 << 32], [4, 5]]));
    }

    #[test]
    fn consecutive_ids_are_not_stored() {
        let table = interned(&[&[[7, 9]], &[[8, 7]]], Sign::Unsigned);
        assert_eq!(table.ids, VertexIds::Consecutive { first: 7, count: 3 });
        assert_eq!((table.sources, table.targets), (vec![0, 1], vec![2, 0]));
        let signed_ids = interned(&[&[[signed(1), signed(0)]]], Sign::Signed);
        assert_eq!(signed_ids.ids, VertexIds::Consecutive { first: 0, count: 2 });
    }

    #[test]
    fn the_ends_of_the_integers_are_ids_like_others() {
        let table = interned(&[&[[u64::MAX, u64::MAX - 1]]], Sign::Unsigned);
        assert_eq!(table.ids, VertexIds::Unsigned(vec![u64::MAX - 1, u64::MAX].into()));
        let table = interned(&[&[[u64::MAX, 0]]], Sign::Unsigned);
        assert_eq!((table.sources, table.targets), (vec![1], vec![0]));
        let ends = [signed(i64::MIN), signed(i64::MAX)];
        let table = interned(&[&[ends]], Sign::Signed);
        assert_eq!(table.ids, VertexIds::Signed(vec![i64::MIN, i64::MAX].into()));
        let table = interned(&[&[[signed(-1), signed(0)]]], Sign::Signed);
        assert_eq!(table.ids, VertexIds::Signed(vec![-1, 0].into()));
    }

    #[test]
    fn an_id_that_does_not_occur_has_no_rank() {
        let of = |ids: &[u64]| Ranks::of(&[IdSlice::Wide(ids)]).unwrap();
        for ids in [&[5, 6, 7][..], &[5, 900, 64, 63], &[5, 1 << 60, 1 << 61, 12]] {
            let ranks = of(ids);
            assert_eq!(ranks.len() as usize, ids.len());
            for absent in [0, 4, 8, 65, 901, (1 << 60) + 1, u64::MAX] {
                assert_eq!(ranks.rank(absent), None, "{absent} of {ids:?}");
            }
        }
        assert_eq!(of(&[]).rank(0), None);
    }

    /// Ids of every density: consecutive, bitmap, sorted.
    fn any_blocks() -> impl Strategy<Value = Vec<Vec<[u64; 2]>>> {
        prop_oneof![Just(10u64), Just(1 << 12), Just(1 << 40), Just(u64::MAX)].prop_flat_map(
            |most| {
                let pair = [0..=most, 0..=most];
                prop::collection::vec(prop::collection::vec(pair, 0..20), 0..5)
            },
        )
    }

    proptest! {
        #[test]
        fn ranks_give_the_ids_back(blocks in any_blocks(), by_sign in any::<bool>()) {
            let flat: Vec<[u64; 2]> = blocks.concat();
            let sign = if by_sign { Sign::Signed } else { Sign::Unsigned };
            let narrow_and_wide = blocks.iter().map(|pairs| ends(pairs)).collect();
            let Interned { ids, sources, targets } = intern_integers(narrow_and_wide, sign).unwrap();
            let table = EdgeTable::new(ids, sources, targets).unwrap();
            let outside = |id: u64| match sign {
                Sign::Unsigned => i128::from(id),
                Sign::Signed => i128::from(unsigned_to_signed(id)),
            };
            let value = |vertex: u32| match table.ids().get(vertex) {
                ExternalId::Unsigned(id) => i128::from(id),
                ExternalId::Signed(id) => i128::from(id),
                ExternalId::Name(name) => panic!("{name}"),
            };
            for (row, pair) in flat.iter().enumerate() {
                prop_assert_eq!(value(table.sources()[row]), outside(pair[0]));
                prop_assert_eq!(value(table.targets()[row]), outside(pair[1]));
            }
            let distinct: BTreeSet<u64> = flat.as_flattened().iter().copied().collect();
            prop_assert_eq!(table.ids().len(), distinct.len());
        }
    }
}
