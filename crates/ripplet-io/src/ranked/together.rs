//! The ranks that read a table together.

use super::TablePartError;
use ripplet_graph::Reduce;
use ripplet_ranks::{Comm, CommError, Received};

/// The ranks that read a table together, as one of them sees them.
pub(super) struct Together<'c> {
    pub(super) comm: &'c mut Comm,
}

impl<'c> Together<'c> {
    pub(super) fn new(comm: &'c mut Comm) -> Together<'c> {
        Together { comm }
    }

    pub(super) fn rank(&self) -> usize {
        self.comm.rank()
    }

    pub(super) fn size(&self) -> usize {
        self.comm.size()
    }

    /// Ends a step that each rank does on its own: if it failed on one, it fails on all.
    pub(super) fn agree<T, E: Into<TablePartError>>(
        &mut self,
        own: Result<T, E>,
    ) -> Result<T, TablePartError> {
        let failed = self.comm.all_reduce("step", u8::from(own.is_err()), u8::max)?;
        match own {
            Ok(_) if failed > 0 => Err(TablePartError::Elsewhere),
            own => own.map_err(Into::into),
        }
    }

    /// Sends each rank the values that begin at its bound.
    pub(super) fn send<T: bytemuck::Pod>(
        &mut self,
        purpose: &'static str,
        values: &[T],
        bounds: &[usize],
    ) -> Result<Received<T>, CommError> {
        let to = bounds.windows(2).map(|ends| values.get(ends[0]..ends[1]).unwrap_or_default());
        let to: Vec<&[T]> = to.collect();
        self.comm.all_to_all(purpose, &to)
    }
}

impl Reduce for Together<'_> {
    type Error = CommError;

    fn reduce<const N: usize>(
        &mut self,
        purpose: &'static str,
        own: [u64; N],
        combine: impl Fn([u64; N], [u64; N]) -> [u64; N],
    ) -> Result<[u64; N], CommError> {
        let all = self.comm.all_gather(purpose, &own)?;
        let value = |words: &[u64]| -> Option<[u64; N]> { words.try_into().ok() };
        let mut result = None;
        for (peer, words) in all.iter().enumerate() {
            let foreign = CommError::Foreign { peer, bytes: size_of_val(words) };
            let value = value(words).ok_or(foreign)?;
            result = Some(result.map_or(value, |before| combine(before, value)));
        }
        Ok(result.unwrap_or(own))
    }
}
