//! An array that is owned or borrowed from shared bytes (a memory-mapped file).

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// An immutable array of plain values: owned, or a view into shared bytes.
///
/// The shared form lets a memory-mapped file be a graph without a copy; readers see a slice in
/// either form. Clones of the shared form share; clones of the owned form copy.
#[derive(Clone)]
pub struct Buffer<T>(Repr<T>);

#[derive(Clone)]
enum Repr<T> {
    Owned(Vec<T>),
    Shared { owner: Arc<dyn AsRef<[u8]> + Send + Sync>, bytes: Range<usize> },
}

impl<T: bytemuck::Pod> Buffer<T> {
    /// Returns a view of `bytes` within `owner`, or `None` if the range exceeds the owner, is not
    /// aligned for `T`, or does not hold a whole number of values.
    pub fn shared(
        owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
        bytes: Range<usize>,
    ) -> Option<Buffer<T>> {
        let view = (*owner).as_ref().get(bytes.clone())?;
        bytemuck::try_cast_slice::<u8, T>(view).ok()?;
        Some(Buffer(Repr::Shared { owner, bytes }))
    }

    /// Returns the values.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        match &self.0 {
            Repr::Owned(values) => values,
            Repr::Shared { owner, bytes } => {
                bytemuck::cast_slice(&(**owner).as_ref()[bytes.clone()])
            }
        }
    }

    /// Returns the values as a `Vec`; copies only shared ones.
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Repr::Owned(values) => values,
            Repr::Shared { .. } => self.as_slice().to_vec(),
        }
    }

    /// Returns the bytes that the values occupy.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.as_slice()) as u64
    }

    /// Returns the bytes of the values that are shared.
    pub fn shared_bytes(&self) -> u64 {
        match self.0 {
            Repr::Owned(_) => 0,
            Repr::Shared { .. } => self.bytes(),
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Buffer(Repr::Owned(values))
    }
}

impl<T: bytemuck::Pod> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: bytemuck::Pod + PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: bytemuck::Pod + fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_and_owned_are_the_same_to_a_reader() {
        let bytes: Vec<u8> = bytemuck::cast_slice(&[7u32, 8, 9]).to_vec();
        // A `Vec<u8>` has any alignment: pad it so that the test does not depend on luck.
        let pad = bytes.as_ptr().align_offset(4);
        let mut padded = vec![0u8; pad];
        padded.extend(&bytes);
        let owner: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::new(padded);
        let start = (*owner).as_ref().as_ptr().align_offset(4);
        if let Some(view) = Buffer::<u32>::shared(owner.clone(), start..start + 4) {
            assert_eq!((view.len(), view.bytes(), view.shared_bytes()), (1, 4, 4));
        }
        assert!(Buffer::<u32>::shared(owner.clone(), start + 1..start + 5).is_none(), "unaligned");
        assert!(Buffer::<u32>::shared(owner.clone(), start..start + 3).is_none(), "not whole");
        assert!(Buffer::<u32>::shared(owner, 0..1 << 20).is_none(), "outside");
        let owned = Buffer::from(vec![1u32, 2]);
        assert_eq!((&*owned, owned.bytes(), owned.shared_bytes()), (&[1, 2][..], 8, 0));
    }
}
