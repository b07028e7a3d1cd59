//! The active vertices: one bit each.

use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{VertexId, as_plain_words};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A set of vertices that several threads change at once.
pub(super) struct ActiveSet {
    words: Vec<AtomicU64>,
}

/// The set to which a thread adds the vertices that it activates.
#[derive(Clone, Copy)]
pub(super) enum Activated<'a> {
    /// A set that no other thread changes meanwhile.
    Own(&'a ActiveSet),
    /// A set that other threads change, too.
    Shared(&'a ActiveSet),
}

impl ActiveSet {
    /// Creates the set of all vertices.
    pub fn all(vertices: u32) -> Result<ActiveSet, OutOfMemory> {
        let mut words = memory::with_room((vertices as usize).div_ceil(64))?;
        words.extend((0..vertices / 64).map(|_| AtomicU64::new(u64::MAX)));
        if !vertices.is_multiple_of(64) {
            words.push(AtomicU64::new((1 << (vertices % 64)) - 1));
        }
        Ok(ActiveSet { words })
    }

    /// Creates the empty set.
    pub fn none(vertices: u32) -> Result<ActiveSet, OutOfMemory> {
        let words = (0..vertices.div_ceil(64)).map(|_| AtomicU64::new(0));
        Ok(ActiveSet { words: memory::collected(words)? })
    }

    /// Creates the set with these words, as [`ActiveSet::state`] returns them.
    pub fn of(words: &[u64]) -> Result<ActiveSet, OutOfMemory> {
        let words = memory::collected(words.iter().map(|&word| AtomicU64::new(word)))?;
        Ok(ActiveSet { words })
    }

    /// Returns the words of the set.
    pub fn state(&mut self) -> &[u64] {
        as_plain_words(&mut self.words)
    }

    /// Returns the bytes of a set of `vertices` vertices.
    pub fn bytes_for(vertices: u32) -> u64 {
        u64::from(vertices).div_ceil(64) * 8
    }

    /// Returns the number of words; word `w` holds vertices `64 w .. 64 w + 64`.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Returns the bits of a word's vertices.
    #[inline]
    fn word(&self, word: usize) -> u64 {
        self.words[word].load(Relaxed)
    }

    /// Moves the vertices of some words from the set to `vertices`, ascending.
    pub fn take(&self, words: Range<usize>, vertices: &mut Vec<VertexId>) {
        vertices.clear();
        for word in words {
            if self.word(word) != 0 {
                vertices.extend(vertices_of(word, self.words[word].swap(0, Relaxed)));
            }
        }
    }

    /// Removes the vertices of some bits of a word, which no other thread changes meanwhile, and
    /// returns the bits of those that were in the set; words behind the last are empty.
    #[inline]
    pub fn remove(&self, word: usize, bits: u64) -> u64 {
        let Some(held) = self.words.get(word) else { return 0 };
        let all = held.load(Relaxed);
        let found = all & bits;
        if found != 0 {
            held.store(all & !found, Relaxed);
        }
        found
    }

    /// Moves all vertices of another set, of as many vertices, into this one.
    pub fn append(&self, other: &ActiveSet) {
        for (word, other) in self.words.iter().zip(&other.words) {
            if other.load(Relaxed) != 0 {
                word.fetch_or(other.swap(0, Relaxed), Relaxed);
            }
        }
    }

    /// Returns the number of vertices in the set.
    pub fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum()
    }

    /// Adds a vertex to the set.
    #[inline]
    pub fn insert(&self, v: VertexId) {
        self.words[v as usize / 64].fetch_or(1 << (v % 64), Relaxed);
    }

    /// Adds those of some vertices that are not in the set, except where `is_inactive` returns true.
    #[inline]
    fn insert_unless(&self, vertices: &[VertexId], is_inactive: impl Fn(VertexId) -> bool) {
        // Loaded once: otherwise the compiler reloads it after every store to the set.
        let words = &*self.words;
        for &v in vertices {
            let (word, bit) = (&words[v as usize / 64], 1 << (v % 64));
            if word.load(Relaxed) & bit == 0 && !is_inactive(v) {
                word.fetch_or(bit, Relaxed);
            }
        }
    }

    /// Adds some vertices, except where `is_inactive` returns true; no other thread may change the
    /// set meanwhile.
    ///
    /// Without branches, which would depend on the order of the phases, and without atomic updates.
    #[inline]
    fn insert_alone(&self, vertices: &[VertexId], is_inactive: impl Fn(VertexId) -> bool) {
        let words = &*self.words;
        for &v in vertices {
            let word = &words[v as usize / 64];
            let bit = u64::from(!is_inactive(v)) << (v % 64);
            word.store(word.load(Relaxed) | bit, Relaxed);
        }
    }

    /// Removes all vertices.
    pub fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// Adds all vertices.
    pub fn insert_all(&self, vertices: u32) {
        for (index, word) in self.words.iter().enumerate() {
            let rest = vertices as usize - index * 64;
            word.store(if rest >= 64 { u64::MAX } else { (1 << rest) - 1 }, Relaxed);
        }
    }
}

impl Activated<'_> {
    /// Adds some vertices to the set, except where `is_inactive` returns true.
    #[inline]
    pub fn insert_unless(self, vertices: &[VertexId], is_inactive: impl Fn(VertexId) -> bool) {
        match self {
            Activated::Own(set) => set.insert_alone(vertices, is_inactive),
            Activated::Shared(set) => set.insert_unless(vertices, is_inactive),
        }
    }
}

/// Yields the vertices of a word's bits, ascending.
#[inline]
pub(super) fn vertices_of(word: usize, mut bits: u64) -> impl Iterator<Item = VertexId> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(word as u32 * 64 + bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_of_vertices() {
        for vertices in [0, 1, 63, 64, 65, 200] {
            let set = ActiveSet::all(vertices).unwrap();
            let members = |set: &ActiveSet| -> Vec<u32> {
                (0..set.words()).flat_map(|w| vertices_of(w, set.word(w))).collect()
            };
            let everyone: Vec<u32> = (0..vertices).collect();
            assert_eq!(members(&set), everyone);
            let mut taken = Vec::new();
            set.take(0..set.words(), &mut taken);
            assert_eq!(taken, everyone);
            assert!(members(&set).is_empty());
            set.insert_all(vertices);
            assert_eq!(members(&set), everyone);
            assert_eq!(ActiveSet::bytes_for(vertices), set.words() as u64 * 8);
        }
    }

    #[test]
    fn single_vertices() {
        let set = ActiveSet::all(130).unwrap();
        assert_eq!(set.len(), 130);
        assert_eq!(set.remove(2, u64::MAX << 1), 0b10);
        assert_eq!((set.remove(2, u64::MAX), set.remove(2, 1), set.remove(9, 1)), (1, 0, 0));
        assert_eq!(set.len(), 128);
        set.insert(128);
        assert_eq!(set.word(2), 1);
        set.take(0..1, &mut Vec::new());
        set.insert_unless(&[5, 6, 7], |v| v == 6);
        assert_eq!(set.word(0), 0b1010_0000);
        set.insert_alone(&[8, 5, 9, 129], |v| v == 9);
        assert_eq!((set.remove(0, 0b1_0000_0000), set.remove(2, 0b10)), (0b1_0000_0000, 0b10));
        assert_eq!(set.word(0), 0b1010_0000);
        let other = ActiveSet::none(130).unwrap();
        [6, 7, 129].iter().for_each(|&v| other.insert(v));
        set.append(&other);
        assert_eq!((set.word(0), set.word(2), other.len()), (0b1110_0000, 0b11, 0));
    }
}
