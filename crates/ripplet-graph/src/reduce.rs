//! Values that processes, each with a part of a table, combine into those of the whole table.

use std::convert::Infallible;

/// Combines what each of several processes found in its part of a table. All call it at the same time, for the same
/// purposes in the same order, and get the same result.
pub trait Reduce {
    /// The error of a failed combination; the processes are then no longer in step.
    type Error;

    /// Returns the combination of all processes' values. `combine` does not depend on their order.
    ///
    /// # Errors
    /// If another process fails, or the connection to it.
    fn reduce<const N: usize>(
        &mut self,
        purpose: &'static str,
        own: [u64; N],
        combine: impl Fn([u64; N], [u64; N]) -> [u64; N],
    ) -> Result<[u64; N], Self::Error>;

    /// Returns the largest of all processes' values.
    ///
    /// # Errors
    /// The errors of [`Reduce::reduce`].
    fn largest(&mut self, purpose: &'static str, own: u64) -> Result<u64, Self::Error> {
        Ok(self.reduce(purpose, [own], |[a], [b]| [a.max(b)])?[0])
    }
}

/// The only process: it has the whole table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Reduce for Alone {
    type Error = Infallible;

    fn reduce<const N: usize>(
        &mut self,
        _: &'static str,
        own: [u64; N],
        _: impl Fn([u64; N], [u64; N]) -> [u64; N],
    ) -> Result<[u64; N], Infallible> {
        Ok(own)
    }
}
