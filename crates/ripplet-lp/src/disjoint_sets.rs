//! Lock-free union-find: disjoint sets of numbers that several threads unite.
//!
//! A larger root is always linked below a smaller one, so that the root of a set is its smallest
//! number for any order of the threads.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Disjoint sets of the numbers below the length of `parents`, the parent of each number.
#[derive(Clone, Copy)]
pub(crate) struct DisjointSets<'a> {
    parents: &'a [AtomicU32],
}

impl<'a> DisjointSets<'a> {
    /// Wraps a forest; if each number is its own parent, all sets are singletons.
    pub(crate) fn new(parents: &'a [AtomicU32]) -> DisjointSets<'a> {
        DisjointSets { parents }
    }

    /// Returns the smallest number of a set, and halves the path to it.
    pub(crate) fn root(self, mut v: u32) -> u32 {
        loop {
            let parent = self.parents[v as usize].load(Relaxed);
            if parent == v {
                return v;
            }
            let grandparent = self.parents[parent as usize].load(Relaxed);
            if grandparent != parent {
                // Safe against races: every thread that writes here writes an ancestor.
                self.parents[v as usize].store(grandparent, Relaxed);
            }
            v = grandparent;
        }
    }

    /// Unites two sets.
    pub(crate) fn unite(self, a: u32, b: u32) {
        let (mut a, mut b) = (self.root(a), self.root(b));
        while a != b {
            let (small, large) = (a.min(b), a.max(b));
            let parent = &self.parents[large as usize];
            match parent.compare_exchange(large, small, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(_) => (a, b) = (self.root(small), self.root(large)),
            }
        }
    }
}
