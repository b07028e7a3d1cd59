//! Parallel interner of names: maps names to vertices without locks.
//!
//! ```text
//! chunk of text ─▶ NameList: the hash and the place of each name, by partition    (chunks in parallel)
//! partition     ─▶ NameSet: takes its names of all chunks, numbers the new ones   (partitions in parallel)
//! at the end    ─▶ all names in ascending order, and the rank of each number
//! ```
//!
//! The first bits of a name's hash select its partition. No two threads access the same partition, so there
//! are no locks. A partition is small enough to stay in a core's cache, whereas a table of all names would
//! cost a cache miss for each end of each edge.
//!
//! Memory: the distinct names, and about 16 bytes each. While a batch is numbered, 16 bytes for each name in
//! it. While the names are sorted, the finished ids and 20 bytes each.
//!
//! Determinism: numbers depend on the hash and differ from run to run; ranks are the order of the names and
//! do not.

use crate::slices::pieces;
use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{MAX_VERTICES, Names, VertexId, VertexIds, as_atomic};
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::Ordering::Relaxed;
use thiserror::Error;

/// Error of interning ids.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum InternError {
    /// There are more distinct ids than a graph can have vertices (or than names can be numbered).
    #[error("there are more distinct vertex ids than the {MAX_VERTICES} that a graph can have")]
    TooManyVertices,
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// Of a million names, 8000 share a partition: some 300 KiB.
const PARTITION_BITS: u32 = 7;
const PARTITIONS: usize = 1 << PARTITION_BITS;
/// Names that are prefetched together.
const AHEAD: usize = 16;
/// Names that one partition can number.
const MOST_LOCAL: u32 = 1 << (u32::BITS - PARTITION_BITS);

/// Hash of a name: its first bits select the partition, its last ones the slot there.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    fn of(name: &[u8], builder: &DefaultHashBuilder) -> Hash {
        let mut hasher = builder.build_hasher();
        hasher.write(name);
        Hash(hasher.finish())
    }

    fn partition(self) -> usize {
        (self.0 >> (u64::BITS - PARTITION_BITS)) as usize
    }

    fn within(self) -> u32 {
        self.0 as u32
    }
}

/// Returns the hash for a table, which takes a tag of seven bits from its upper end: Fibonacci hashing
/// (Knuth, TAOCP volume 3, section 6.4) moves entropy there from the lower end.
fn spread(within: u32) -> u64 {
    u64::from(within).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Distinct names, numbered in the order of insertion.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameSet {
    hash: DefaultHashBuilder,
    numbers: HashTable<u32>,
    /// Name `i` ends at `ends[i]` and starts at the end of the previous one.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl NameSet {
    /// Returns an empty set with the same hash function.
    pub(crate) fn alike(&self) -> NameSet {
        NameSet { hash: self.hash.clone(), ..NameSet::default() }
    }

    /// Returns the number of a name; a new one is added.
    pub(crate) fn number(&mut self, name: &str) -> Result<u32, InternError> {
        let hash = Hash::of(name.as_bytes(), &self.hash);
        self.number_hashed(hash.within(), name.as_bytes())
    }

    /// Adds all names of another set; returns their numbers here.
    pub(crate) fn merge(&mut self, other: &NameSet) -> Result<Vec<u32>, InternError> {
        let mut numbers = memory::with_room(other.len())?;
        for number in 0..other.len() as u32 {
            let name = other.name(number);
            numbers.push(self.number_hashed(Hash::of(name, &self.hash).within(), name)?);
        }
        Ok(numbers)
    }

    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the name of a number of this set.
    #[inline]
    pub(crate) fn name(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }

    #[inline]
    fn find_hashed(&self, hash: u32, name: &[u8]) -> Option<u32> {
        self.numbers.find(spread(hash), |&number| self.name(number) == name).copied()
    }

    #[inline]
    fn number_hashed(&mut self, hash: u32, name: &[u8]) -> Result<u32, InternError> {
        match self.find_hashed(hash, name) {
            Some(number) => Ok(number),
            None => self.add(hash, name),
        }
    }

    /// Adds a name that is not in the set.
    fn add(&mut self, hash: u32, name: &[u8]) -> Result<u32, InternError> {
        let number = self.len() as u32;
        if number >= MAX_VERTICES {
            return Err(InternError::TooManyVertices);
        }
        let NameSet { hash: builder, numbers, ends, bytes } = self;
        memory::reserve(bytes, name.len())?;
        memory::reserve(ends, 1)?;
        let name_of = |number: u32| {
            let number = number as usize;
            &bytes[if number == 0 { 0 } else { ends[number - 1] }..ends[number]]
        };
        let hash_of = |&number: &u32| spread(Hash::of(name_of(number), builder).within());
        // A table doubles: a number and a tag for each slot.
        let refused = OutOfMemory { bytes: 2 * 5 * numbers.capacity() as u64 };
        numbers.try_reserve(1, hash_of).map_err(|_| refused)?;
        numbers.insert_unique(spread(hash), number, hash_of);
        bytes.extend_from_slice(name);
        ends.push(bytes.len());
        Ok(number)
    }
}

/// Occurrences of names in some rows, by partition.
#[derive(Debug, Default)]
pub(crate) struct NameList {
    /// Partition `p` has `entries[begin[p]..begin[p + 1]]`, in the order of the rows.
    begin: Vec<u32>,
    entries: Vec<Entry>,
}

/// One occurrence of a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    hash: u32,
    /// Index of the occurrence in the list, from 0.
    at: u32,
    /// Position by which the name is found again.
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// Builder of a [`NameList`]: names in the order of the rows.
pub(crate) struct NameListBuilder {
    hash: DefaultHashBuilder,
    entries: Vec<Entry>,
    partitions: Vec<u8>,
}

impl NameListBuilder {
    /// Appends a name, which `start` and `length` locate.
    #[inline]
    pub(crate) fn push(&mut self, name: &[u8], start: u32, length: u32) -> Result<(), OutOfMemory> {
        let hash = Hash::of(name, &self.hash);
        let at = self.entries.len() as u32;
        memory::push(&mut self.entries, Entry { hash: hash.within(), at, start, length })?;
        memory::push(&mut self.partitions, hash.partition() as u8)
    }

    /// Returns the names by partition.
    pub(crate) fn finish(self) -> Result<NameList, OutOfMemory> {
        let mut begin = memory::zeros::<u32>(PARTITIONS + 1)?;
        for &partition in &self.partitions {
            begin[usize::from(partition) + 1] += 1;
        }
        for partition in 0..PARTITIONS {
            begin[partition + 1] += begin[partition];
        }
        let none = Entry { hash: 0, at: 0, start: 0, length: 0 };
        let mut entries = memory::filled(none, self.entries.len())?;
        let mut next = [0; PARTITIONS];
        next.copy_from_slice(&begin[..PARTITIONS]);
        for (entry, &partition) in self.entries.iter().zip(&self.partitions) {
            let place = &mut next[usize::from(partition)];
            entries[*place as usize] = *entry;
            *place += 1;
        }
        Ok(NameList { begin, entries })
    }
}

impl NameList {
    /// Returns the number of occurrences.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn of(&self, partition: usize) -> &[Entry] {
        &self.entries[self.begin[partition] as usize..self.begin[partition + 1] as usize]
    }
}

/// All names of an input, in partitions.
#[derive(Clone, Debug)]
pub(crate) struct NameIndex {
    hash: DefaultHashBuilder,
    partitions: Vec<NameSet>,
}

impl Default for NameIndex {
    fn default() -> NameIndex {
        let like = NameSet::default();
        let partitions = (0..PARTITIONS).map(|_| like.alike()).collect();
        NameIndex { hash: like.hash, partitions }
    }
}

impl NameIndex {
    /// Returns an empty list for names of this index, with capacity for some.
    pub(crate) fn list(&self, names: usize) -> Result<NameListBuilder, OutOfMemory> {
        let (entries, partitions) = (memory::with_room(names)?, memory::with_room(names)?);
        Ok(NameListBuilder { hash: self.hash.clone(), entries, partitions })
    }

    /// Returns an empty set for names that will be added here.
    pub(crate) fn alike(&self) -> NameSet {
        self.partitions[0].alike()
    }

    /// Adds the names of lists; returns for each list the numbers of its names, in the order in which they
    /// were pushed. `name(list, entry)` locates a name.
    pub(crate) fn number<'a>(
        &mut self,
        lists: &[&NameList],
        name: impl Fn(usize, &Entry) -> &'a [u8] + Sync,
    ) -> Result<Vec<Vec<u32>>, InternError> {
        let zeros = lists.iter().map(|list| memory::zeros::<u32>(list.len()));
        let mut numbers = zeros.collect::<Result<Vec<_>, _>>()?;
        let shared: Vec<_> = numbers.iter_mut().map(|numbers| as_atomic(numbers)).collect();
        self.partitions.par_iter_mut().enumerate().try_for_each(|(partition, set)| {
            for (at, (list, numbers)) in lists.iter().zip(&shared).enumerate() {
                for entries in list.of(partition).chunks(AHEAD) {
                    // The names are far apart: these loads overlap in memory, whereas the comparisons below
                    // would wait for each in turn.
                    let first = |entry| name(at, entry).first().copied().unwrap_or_default();
                    std::hint::black_box(entries.iter().map(first).fold(0, |all, byte| all ^ byte));
                    for entry in entries {
                        let local = set.number_hashed(entry.hash, name(at, entry))?;
                        if local >= MOST_LOCAL - 1 {
                            return Err(InternError::TooManyVertices);
                        }
                        let number = local << PARTITION_BITS | partition as u32;
                        numbers[entry.at as usize].store(number, Relaxed);
                    }
                }
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    /// Adds the names of sets; returns for each set the numbers of its names here.
    pub(crate) fn number_sets(&mut self, sets: &[NameSet]) -> Result<Vec<Vec<u32>>, InternError> {
        let list = |set: &NameSet| {
            let mut list = self.list(set.len())?;
            for number in 0..set.len() as u32 {
                list.push(set.name(number), number, 0)?;
            }
            list.finish()
        };
        let lists = sets.par_iter().map(list).collect::<Result<Vec<_>, _>>()?;
        let lists: Vec<&NameList> = lists.iter().collect();
        self.number(&lists, |at, entry| sets[at].name(entry.start))
    }

    /// Returns the number of distinct names.
    pub(crate) fn len(&self) -> usize {
        self.partitions.iter().map(NameSet::len).sum()
    }

    /// Returns an upper bound of all numbers.
    pub(crate) fn number_bound(&self) -> usize {
        self.partitions.iter().map(NameSet::len).max().unwrap_or(0) << PARTITION_BITS
    }

    /// Returns a snapshot of the current names.
    pub(crate) fn snapshot(&self) -> NameSnapshot {
        NameSnapshot(self.partitions.iter().map(NameSet::len).collect())
    }

    /// Returns the number of a name, if it exists.
    pub(crate) fn find(&self, name: &[u8]) -> Option<u32> {
        let hash = Hash::of(name, &self.hash);
        let partition = hash.partition();
        let local = self.partitions[partition].find_hashed(hash.within(), name)?;
        Some(local << PARTITION_BITS | partition as u32)
    }

    /// Returns the name of a number of this index.
    #[inline]
    pub(crate) fn name(&self, number: u32) -> &[u8] {
        let partition = number as usize & (PARTITIONS - 1);
        self.partitions[partition].name(number >> PARTITION_BITS)
    }

    /// Returns the result of [`NameIndex::sorted`], and frees the tables first.
    pub(crate) fn into_sorted(mut self) -> Result<(VertexIds, Vec<VertexId>), InternError> {
        self.partitions.iter_mut().for_each(|set| set.numbers = HashTable::new());
        self.sorted()
    }

    /// Returns the names ascending by bytes, and the rank of each number.
    pub(crate) fn sorted(&self) -> Result<(VertexIds, Vec<VertexId>), InternError> {
        if self.len() > MAX_VERTICES as usize {
            return Err(InternError::TooManyVertices);
        }
        let keys = self.keys()?;
        let mut rank = memory::zeros::<VertexId>(self.number_bound())?;
        let shared = as_atomic(&mut rank);
        keys.par_iter().enumerate().for_each(|(at, key)| {
            shared[key.number() as usize].store(at as VertexId, Relaxed);
        });
        let names = self.joined(&keys)?;
        Ok((VertexIds::Names(names), rank))
    }

    /// Returns a key for each name, in ascending order of the names.
    fn keys(&self) -> Result<Vec<Key>, OutOfMemory> {
        let mut keys = memory::zeros::<Key>(self.len())?;
        let lengths: Vec<usize> = self.partitions.iter().map(NameSet::len).collect();
        pieces(&mut keys, &lengths).into_par_iter().enumerate().for_each(|(partition, keys)| {
            for (local, key) in (0..).zip(keys) {
                let number = local << PARTITION_BITS | partition as u32;
                *key = Key::of(self.name(number), 0, number);
            }
        });
        self.sort(&mut keys, 0);
        Ok(keys)
    }

    /// Sorts names that agree up to byte `depth`; the keys hold the bytes after it.
    ///
    /// Names of one file often share a prefix. The bytes that distinguish them are loaded into the keys once,
    /// instead of in each comparison.
    fn sort(&self, keys: &mut [Key], depth: usize) {
        /// Fewer names than this are compared directly.
        const FEW: usize = 16;
        /// Beyond this depth, too: reasonable names do not share longer prefixes.
        const DEEPEST: usize = 64;
        keys.par_sort_unstable_by_key(|key| (key.0, key.1));
        let next = depth + Key::BYTES;
        keys.par_chunk_by_mut(|a, b| (a.0, a.1) == (b.0, b.1)).for_each(|run| {
            // Names are distinct: only those that continue can be equal so far.
            if run.len() < 2 {
                return;
            }
            if run.len() < FEW || next >= DEEPEST {
                let rest = |key: &Key| &self.name(key.number())[next..];
                return run.sort_unstable_by(|a, b| rest(a).cmp(rest(b)));
            }
            run.iter_mut().for_each(|key| {
                let number = key.number();
                *key = Key::of(self.name(number), next, number);
            });
            self.sort(run, next);
        });
    }

    /// Returns the names of `keys`, concatenated.
    fn joined(&self, keys: &[Key]) -> Result<Names, OutOfMemory> {
        const NAMES_PER_TASK: usize = 1 << 14;
        let mut offsets = memory::zeros::<u64>(keys.len() + 1)?;
        offsets[1..].par_iter_mut().zip(keys).for_each(|(length, key)| {
            *length = self.name(key.number()).len() as u64;
        });
        for at in 0..keys.len() {
            offsets[at + 1] += offsets[at];
        }
        let mut bytes = memory::zeros::<u8>(offsets[keys.len()] as usize)?;
        let bounds = offsets.chunks(NAMES_PER_TASK).map(|offsets| offsets[0] as usize);
        let mut bounds: Vec<usize> = bounds.collect();
        bounds.push(bytes.len());
        let lengths: Vec<usize> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let tasks = pieces(&mut bytes, &lengths).into_par_iter();
        tasks.zip(keys.par_chunks(NAMES_PER_TASK)).for_each(|(mut bytes, keys)| {
            for key in keys {
                let name = self.name(key.number());
                let (place, rest) = bytes.split_at_mut(name.len());
                place.copy_from_slice(name);
                bytes = rest;
            }
        });
        let names = Names::from_parts(offsets.into(), bytes.into());
        Ok(names.expect("each name was UTF-8 when it was added"))
    }
}

/// Number of names in each partition of an index at some time.
pub(crate) struct NameSnapshot(Vec<usize>);

impl NameSnapshot {
    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().sum()
    }

    /// Whether the name of a number existed then.
    pub(crate) fn has(&self, number: u32) -> bool {
        let (partition, local) = (number as usize % PARTITIONS, number as usize / PARTITIONS);
        local < self.0[partition]
    }
}

/// Eight bytes of a name as an integer of the same order, the number of them that the name has (at most
/// eight), and the name's number.
#[derive(Clone, Copy, Debug)]
struct Key(u64, u32, u32);

// SAFETY: a struct of integers, of which all are valid as zero.
unsafe impl bytemuck::Zeroable for Key {}

impl Key {
    const BYTES: usize = 8;

    #[inline]
    fn of(name: &[u8], depth: usize, number: u32) -> Key {
        let rest = name.get(depth..).unwrap_or_default();
        let mut first = [0; Key::BYTES];
        let length = rest.len().min(Key::BYTES);
        first[..length].copy_from_slice(&rest[..length]);
        Key(u64::from_be_bytes(first), length as u32, number)
    }

    fn number(self) -> u32 {
        self.2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Numbers the names of each list, every list in one string.
    fn numbered(index: &mut NameIndex, lists: &[Vec<String>]) -> Vec<Vec<u32>> {
        let texts: Vec<String> = lists.iter().map(|names| names.concat()).collect();
        let made: Vec<NameList> = lists
            .iter()
            .map(|names| {
                let (mut list, mut start) = (index.list(0).unwrap(), 0);
                for name in names {
                    list.push(name.as_bytes(), start, name.len() as u32).unwrap();
                    start += name.len() as u32;
                }
                list.finish().unwrap()
            })
            .collect();
        let name = |at: usize, entry: &Entry| {
            &texts[at].as_bytes()[entry.start as usize..][..entry.length as usize]
        };
        index.number(&made.iter().collect::<Vec<_>>(), name).unwrap()
    }

    fn check(batches: &[Vec<Vec<String>>]) {
        let mut index = NameIndex::default();
        let numbers: Vec<_> = batches.iter().map(|lists| numbered(&mut index, lists)).collect();
        let distinct: BTreeSet<&str> =
            batches.iter().flatten().flatten().map(String::as_str).collect();
        assert_eq!(index.len(), distinct.len());
        let (ids, rank) = index.clone().into_sorted().unwrap();
        let VertexIds::Names(names) = &ids else { panic!("names") };
        assert!(distinct.iter().enumerate().all(|(at, &name)| names.get(at) == name));
        assert_eq!(names.len(), distinct.len());
        for (name, number) in batches.iter().flatten().flatten().zip(numbers.concat().concat()) {
            assert_eq!(index.name(number), name.as_bytes());
            assert_eq!(index.find(name.as_bytes()), Some(number));
            assert_eq!(names.get(rank[number as usize] as usize), name);
        }
        assert_eq!(index.find(b"a name that is not there"), None);
    }

    #[test]
    fn names_that_begin_alike_are_in_order() {
        let mut names = vec![];
        for prefix in ["", "user", "http://www.example.org/a/long/way/down/to/a/page/that/is/deep/"]
        {
            for number in 0..if cfg!(miri) { 4 } else { 300 } {
                names.push(format!("{prefix}{number}"));
                names.push(format!("{prefix}{number}\0"));
                names.push(format!("{prefix}{number}\0\0\0\0\0\0\0\0\0"));
                names.push(format!("{prefix}{number:08}"));
                names.push(format!("{prefix}{number:024}ü"));
            }
        }
        check(&[vec![names.clone(), vec![]], vec![names]]);
    }

    #[test]
    fn a_set_is_merged_by_name() {
        let mut all = NameSet::default();
        let mut local = all.alike();
        let words = ["b", "a", "Zoë", "a longer name", "a longer name!", "", "b"];
        let numbers: Vec<u32> = words.iter().map(|word| local.number(word).unwrap()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 0]);
        all.number("a").unwrap();
        assert_eq!(all.merge(&local).unwrap(), [1, 0, 2, 3, 4, 5]);
        let mut index = NameIndex::default();
        let numbers = index.number_sets(&[all, local]).unwrap();
        assert_eq!(index.len(), 6);
        assert_eq!(index.name(numbers[0][0]), b"a");
        assert_eq!(numbers[0][0], numbers[1][1]);
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_set(
            batches in prop::collection::vec(
                prop::collection::vec(prop::collection::vec("[ab\0é]{0,20}", 0..60), 0..4), 0..3)
        ) {
            check(&batches);
        }
    }
}
