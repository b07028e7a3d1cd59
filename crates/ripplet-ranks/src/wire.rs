//! A wire: the only way in which ranks communicate.

use crate::CommError;
use crate::step::{Collective, Step};
use bytemuck::Pod;
use std::fmt;
use std::sync::Arc;

/// Bytes of a message, aligned for values of up to 8 bytes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bytes {
    words: Vec<u64>,
    len: usize,
}

impl Bytes {
    /// Copies values.
    ///
    /// # Errors
    /// If the system refuses memory.
    pub fn of<T: Pod>(values: &[T]) -> Result<Bytes, CommError> {
        let source: &[u8] = bytemuck::cast_slice(values);
        let mut bytes = Bytes::zeros(source.len() as u64)?;
        bytes.as_mut_slice().copy_from_slice(source);
        Ok(bytes)
    }

    /// Returns `len` zero bytes.
    ///
    /// # Errors
    /// If the system refuses memory.
    pub fn zeros(len: u64) -> Result<Bytes, CommError> {
        let refused = CommError::OutOfMemory { bytes: len };
        let size = usize::try_from(len).map_err(|_| refused.clone())?;
        let mut words = Vec::new();
        words.try_reserve_exact(size.div_ceil(8)).map_err(|_| refused)?;
        words.resize(size.div_ceil(8), 0);
        Ok(Bytes { words, len: size })
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes.
    pub fn as_slice(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words).get(..self.len).unwrap_or_default()
    }

    /// Returns the bytes for writing.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words).get_mut(..self.len).unwrap_or_default()
    }

    /// Returns the values, or `None` if the bytes are no whole number of them.
    pub fn values<T: Pod>(&self) -> Option<&[T]> {
        bytemuck::try_cast_slice(self.as_slice()).ok()
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len)
    }
}

/// The head of a message on a wire that carries bytes.
///
/// ```text
/// magic 4 │ collective 4 │ number 8 │ purpose 16 │ value bytes 4 │ 0 4 │ length of the body 8
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The collective of the sender.
    pub step: Step,
    /// The bytes of the body.
    pub len: u64,
}

impl Head {
    /// The bytes of a head.
    pub const BYTES: usize = 48;
    /// A number, written in the byte order of the sender: ranks of different byte order do not understand each other.
    const MAGIC: u32 = 0x5250_4c31;

    /// Returns the bytes.
    pub fn to_bytes(self) -> [u8; Head::BYTES] {
        let Head { step, len } = self;
        let parts: [&[u8]; 7] = [
            &Head::MAGIC.to_ne_bytes(),
            &(step.collective as u32).to_ne_bytes(),
            &step.number.to_ne_bytes(),
            &step.purpose,
            &step.value_bytes.to_ne_bytes(),
            &[0; 4],
            &len.to_ne_bytes(),
        ];
        let mut bytes = [0; Head::BYTES];
        bytes.iter_mut().zip(parts.into_iter().flatten()).for_each(|(to, from)| *to = *from);
        bytes
    }

    /// Reads a head; `None` if the bytes are no head.
    pub fn from_bytes(bytes: &[u8]) -> Option<Head> {
        let number = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        if number(0)? != Head::MAGIC {
            return None;
        }
        let step = Step {
            collective: Collective::of(number(4)?)?,
            number: long(8)?,
            purpose: bytes.get(16..32)?.try_into().ok()?,
            value_bytes: number(32)?,
        };
        Some(Head { step, len: long(40)? })
    }
}

/// A connection to all other ranks.
///
/// It has one operation, from which [`Comm`](crate::Comm) makes every collective. A receiver never states a
/// length: the message has it.
pub trait Wire: Send {
    /// Returns the number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks, at least 1.
    fn size(&self) -> usize;

    /// Sends `bodies[r]` to each rank `r`, and returns the message of each rank; the rank's own is its own.
    ///
    /// # Errors
    /// If a message of another rank has another step, a rank has failed or is silent, or memory is refused.
    fn exchange(&mut self, step: Step, bodies: &[Arc<Bytes>])
    -> Result<Vec<Arc<Bytes>>, CommError>;

    /// Makes known to the other ranks, as far as they can be reached, that this one failed and ends with an exit code.
    /// Their next call returns [`CommError::Failed`].
    fn abort(&mut self, code: u8);

    /// Returns the name for reports, such as `threads` or the version of an MPI.
    fn name(&self) -> String;
}

impl Wire for Box<dyn Wire> {
    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn size(&self) -> usize {
        (**self).size()
    }

    fn exchange(
        &mut self,
        step: Step,
        bodies: &[Arc<Bytes>],
    ) -> Result<Vec<Arc<Bytes>>, CommError> {
        (**self).exchange(step, bodies)
    }

    fn abort(&mut self, code: u8) {
        (**self).abort(code);
    }

    fn name(&self) -> String {
        (**self).name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written_and_nothing_else_is() {
        let step = Step::new(7, Collective::AllGather, "label updates", 4);
        let head = Head { step, len: 1 << 40 };
        let bytes = head.to_bytes();
        assert_eq!(Head::from_bytes(&bytes), Some(head));
        assert_eq!(Head::from_bytes(&bytes[..47]), None);
        let mut swapped = bytes;
        swapped[..4].reverse();
        assert_eq!(Head::from_bytes(&swapped), None);
        let mut unknown = bytes;
        unknown[4..8].copy_from_slice(&9u32.to_ne_bytes());
        assert_eq!(Head::from_bytes(&unknown), None);
        assert_eq!(step.to_string(), "all-gather 7 (label updates, 4 bytes a value)");
        let long = Step::new(0, Collective::Barrier, "a purpose that is cut", 0);
        assert_eq!(long.to_string(), "barrier 0 (a purpose that i, 0 bytes a value)");
    }

    #[test]
    fn values_are_read_only_as_a_whole_number_of_them() {
        let bytes = Bytes::of(&[1u32, 2, 3]).unwrap();
        assert_eq!(bytes.values::<u32>(), Some(&[1, 2, 3][..]));
        assert_eq!(bytes.values::<u64>(), None);
        assert!(Bytes::zeros(u64::MAX).is_err());
        assert_eq!(Bytes::of::<u64>(&[]).unwrap().values::<u64>(), Some(&[][..]));
    }
}
