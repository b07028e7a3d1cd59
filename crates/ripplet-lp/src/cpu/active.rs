//! The vertices that must be looked at again: one bit each.

use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{VertexId, as_plain_words};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A set of vertices, changed by several threads at once.
pub(super) struct ActiveSet {
    words: Vec<AtomicU64>,
}

impl ActiveSet {
    /// All vertices.
    pub fn all(vertices: u32) -> Result<ActiveSet, OutOfMemory> {
        let mut words = memory::with_room((vertices as usize).div_ceil(64))?;
        words.extend((0..vertices / 64).map(|_| AtomicU64::new(u64::MAX)));
        if !vertices.is_multiple_of(64) {
            words.push(AtomicU64::new((1 << (vertices % 64)) - 1));
        }
        Ok(ActiveSet { words })
    }

    /// The set that had these words, as [`ActiveSet::state`] gave them.
    pub fn of(words: &[u64]) -> Result<ActiveSet, OutOfMemory> {
        let words = memory::collected(words.iter().map(|&word| AtomicU64::new(word)))?;
        Ok(ActiveSet { words })
    }

    /// Its words.
    pub fn state(&mut self) -> &[u64] {
        as_plain_words(&mut self.words)
    }

    /// Bytes that the set of so many vertices needs.
    pub fn bytes_for(vertices: u32) -> u64 {
        u64::from(vertices).div_ceil(64) * 8
    }

    /// How many words there are; word `w` holds vertices `64 w .. 64 w + 64`.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// The vertices of a word that are in the set.
    #[inline]
    fn word(&self, word: usize) -> u64 {
        self.words[word].load(Relaxed)
    }

    /// Takes a vertex out of the set.
    #[inline]
    pub fn remove(&self, v: VertexId) {
        self.words[v as usize / 64].fetch_and(!(1 << (v % 64)), Relaxed);
    }

    /// Moves the vertices of some words out of the set into `vertices`, ascending.
    pub fn take(&self, words: Range<usize>, vertices: &mut Vec<VertexId>) {
        vertices.clear();
        for word in words {
            if self.word(word) != 0 {
                vertices.extend(vertices_of(word, self.words[word].swap(0, Relaxed)));
            }
        }
    }

    /// Whether a vertex is in the set.
    #[inline]
    pub fn contains(&self, v: VertexId) -> bool {
        self.word(v as usize / 64) >> (v % 64) & 1 == 1
    }

    /// Whether any of these vertices, at least one, may be in the set: looks at whole words.
    #[inline]
    pub fn any_in(&self, vertices: Range<u64>) -> bool {
        let (first, last) = ((vertices.start / 64) as usize, ((vertices.end - 1) / 64) as usize);
        let is_filled = |word: &AtomicU64| word.load(Relaxed) != 0;
        self.words.get(first).is_some_and(is_filled)
            || (first < last && self.words[first..].iter().take(last - first + 1).any(is_filled))
    }

    /// Puts a vertex into the set.
    #[inline]
    pub fn insert(&self, v: VertexId) {
        self.words[v as usize / 64].fetch_or(1 << (v % 64), Relaxed);
    }

    /// Puts those of some vertices into the set that are not there, unless `sleeps` says otherwise.
    #[inline]
    pub fn insert_unless(&self, vertices: &[VertexId], sleeps: impl Fn(VertexId) -> bool) {
        // Looked up once: every write to the set could have moved it, for all a compiler knows.
        let words = &*self.words;
        for &v in vertices {
            let (word, bit) = (&words[v as usize / 64], 1 << (v % 64));
            if word.load(Relaxed) & bit == 0 && !sleeps(v) {
                word.fetch_or(bit, Relaxed);
            }
        }
    }

    /// Takes all vertices out of the set.
    pub fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// Puts all vertices into the set.
    pub fn insert_all(&self, vertices: u32) {
        for (index, word) in self.words.iter().enumerate() {
            let rest = vertices as usize - index * 64;
            word.store(if rest >= 64 { u64::MAX } else { (1 << rest) - 1 }, Relaxed);
        }
    }
}

/// The vertices of a word's bits, ascending.
#[inline]
fn vertices_of(word: usize, mut bits: u64) -> impl Iterator<Item = VertexId> {
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
        set.remove(129);
        assert!(!set.contains(129) && set.contains(128));
        set.insert(129);
        assert_eq!(set.word(2), 0b11);
        set.take(0..1, &mut Vec::new());
        set.insert_unless(&[5, 6, 7], |v| v == 6);
        assert_eq!(set.word(0), 0b1010_0000);
        set.take(0..1, &mut Vec::new());
        assert!(!set.any_in(0..64) && set.any_in(0..65) && set.any_in(129..1000));
    }
}
