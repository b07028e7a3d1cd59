//! Collectives of values, over any wire.

use crate::CommError;
use crate::step::{Collective, Step};
use crate::wire::{Bytes, Wire};
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The communicator of a rank.
///
/// Its methods are collectives: all ranks call the same ones in the same order. They take `&mut self`, so
/// that the threads of a rank cannot mix theirs.
///
/// # Examples
/// ```
/// use ripplet_ranks::{Comm, CommError, Threads};
/// use std::time::Duration;
///
/// let sums = Threads::run(3, Duration::from_secs(10), |mut comm| {
///     let own = comm.rank() as u64;
///     let gathered = comm.all_gather("numbers", &[own, 10 * own])?;
///     assert_eq!(gathered.of(2), [2, 20]);
///     comm.all_reduce("sum", own, |a, b| a + b)
/// });
/// assert_eq!(sums, [Ok(3), Ok(3), Ok(3)]);
/// # Ok::<(), CommError>(())
/// ```
pub struct Comm {
    wire: Box<dyn Wire>,
    traffic: Traffic,
    /// Whether a collective failed.
    broken: bool,
}

/// A communicator that a run and its caller use by turns.
///
/// After an error of the run, the caller aborts: see [`Comm::abort`].
pub type SharedComm = Arc<Mutex<Comm>>;

/// What a rank has sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The number of collectives.
    pub calls: u64,
    /// Bytes of values sent to other ranks.
    pub sent: u64,
    /// Bytes of values received from other ranks.
    pub received: u64,
    /// Time within collectives: of transfers, and of waiting for slower ranks.
    pub waited: Duration,
}

impl Traffic {
    /// Returns what was added since an earlier state.
    #[must_use]
    pub fn since(self, before: Traffic) -> Traffic {
        Traffic {
            calls: self.calls.saturating_sub(before.calls),
            sent: self.sent.saturating_sub(before.sent),
            received: self.received.saturating_sub(before.received),
            waited: self.waited.saturating_sub(before.waited),
        }
    }

    /// Returns the traffic of each rank, for each of these parts of a run; all ranks call it at the same time, with as many
    /// parts.
    ///
    /// # Errors
    /// See [`Wire::exchange`].
    ///
    /// # Examples
    /// ```
    /// use ripplet_ranks::{CommError, Threads, Traffic};
    /// use std::time::Duration;
    ///
    /// let sent = Threads::run(2, Duration::from_secs(10), |mut comm| {
    ///     comm.barrier("begin")?;
    ///     let own = comm.traffic();
    ///     let parts = Traffic::gather(&mut comm, &[own])?;
    ///     Ok::<_, CommError>(parts[0].iter().map(|of| of.calls).collect::<Vec<_>>())
    /// });
    /// assert_eq!(sent, [Ok(vec![1, 1]), Ok(vec![1, 1])]);
    /// ```
    pub fn gather(comm: &mut Comm, parts: &[Traffic]) -> Result<Vec<Vec<Traffic>>, CommError> {
        let words = |part: &Traffic| {
            let waited = u64::try_from(part.waited.as_nanos()).unwrap_or(u64::MAX);
            [part.calls, part.sent, part.received, waited]
        };
        let words: Vec<u64> = parts.iter().flat_map(words).collect();
        let gathered = comm.all_gather("traffic", &words)?;
        let of = |rank: usize, part: usize| {
            let (words, _) = gathered.of(rank).as_chunks();
            let &[calls, sent, received, waited] = words.get(part).unwrap_or(&[0; 4]);
            Traffic { calls, sent, received, waited: Duration::from_nanos(waited) }
        };
        let of_each = |part| (0..comm.size()).map(|rank| of(rank, part)).collect();
        Ok((0..parts.len()).map(of_each).collect())
    }
}

/// The values that each rank sent, in the order of the ranks.
#[derive(Clone, Debug)]
pub struct Received<T> {
    messages: Vec<Arc<Bytes>>,
    values: PhantomData<T>,
}

impl<T: Pod> Received<T> {
    /// Returns the values of a rank; none of a rank that does not exist.
    pub fn of(&self, rank: usize) -> &[T] {
        self.messages.get(rank).and_then(|bytes| bytes.values()).unwrap_or_default()
    }

    /// Yields the values of each rank.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.messages.len()).map(|rank| self.of(rank))
    }

    /// Returns the first rank whose values are not those of rank 0, if there is one.
    pub fn other_than_first(&self) -> Option<usize>
    where
        T: PartialEq,
    {
        self.iter().position(|values| values != self.of(0))
    }

    /// Yields the values of all ranks, one after the other.
    pub fn all(&self) -> impl Iterator<Item = T> {
        self.iter().flatten().copied()
    }
}

impl Comm {
    /// Creates a communicator over a wire.
    pub fn new(wire: impl Wire + 'static) -> Comm {
        Comm { wire: Box::new(wire), traffic: Traffic::default(), broken: false }
    }

    /// Returns the number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.wire.rank()
    }

    /// Returns the number of ranks, at least 1.
    pub fn size(&self) -> usize {
        self.wire.size()
    }

    /// Returns the name of the wire.
    pub fn name(&self) -> String {
        self.wire.name()
    }

    /// Returns what this rank has sent and received.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Sends `to[r]` to each rank `r`; returns what each rank sent to this one.
    ///
    /// # Errors
    /// [`CommError::Messages`] unless there is a message for each rank, and see [`Wire::exchange`].
    pub fn all_to_all<T: Pod>(
        &mut self,
        purpose: &'static str,
        to: &[impl AsRef<[T]>],
    ) -> Result<Received<T>, CommError> {
        if to.len() != self.size() {
            let (given, size) = (to.len(), self.size());
            return Err(self.fail(CommError::Messages { given, size }));
        }
        let bodies = to.iter().map(|values| Bytes::of(values.as_ref()).map(Arc::new)).collect();
        let bodies: Vec<_> = self.checked(bodies)?;
        self.exchange(Collective::AllToAll, purpose, &bodies)
    }

    /// Sends these values to all ranks; returns the values of each. Their numbers may differ.
    ///
    /// # Errors
    /// See [`Wire::exchange`].
    pub fn all_gather<T: Pod>(
        &mut self,
        purpose: &'static str,
        values: &[T],
    ) -> Result<Received<T>, CommError> {
        let body = Arc::new(self.checked(Bytes::of(values))?);
        self.exchange(Collective::AllGather, purpose, &vec![body; self.size()])
    }

    /// Returns the values of rank `root`, which alone sends; what the others pass is ignored.
    ///
    /// # Errors
    /// See [`Wire::exchange`].
    pub fn broadcast<T: Pod>(
        &mut self,
        purpose: &'static str,
        root: usize,
        values: &[T],
    ) -> Result<Vec<T>, CommError> {
        let own = if self.rank() == root { values } else { &[] };
        let received = self.all_gather(purpose, own)?;
        let values = received.of(root);
        let mut copy = Vec::new();
        let refused = |_| CommError::OutOfMemory { bytes: size_of_val(values) as u64 };
        let room = copy.try_reserve_exact(values.len()).map_err(refused);
        self.checked(room)?;
        copy.extend_from_slice(values);
        Ok(copy)
    }

    /// Combines the values of all ranks in the order of the ranks; each rank has the result.
    ///
    /// # Errors
    /// See [`Wire::exchange`].
    pub fn all_reduce<T: Pod>(
        &mut self,
        purpose: &'static str,
        value: T,
        combine: impl Fn(T, T) -> T,
    ) -> Result<T, CommError> {
        let body = Arc::new(self.checked(Bytes::of(&[value]))?);
        let bodies = vec![body; self.size()];
        let received = self.exchange::<T>(Collective::AllReduce, purpose, &bodies)?;
        let mut result: Option<T> = None;
        for (peer, values) in received.iter().enumerate() {
            let &[value] = values else {
                let step = self.last_step(Collective::AllReduce, purpose, size_of::<T>());
                let bytes = size_of_val(values) as u64;
                let expected = "one value".into();
                return Err(self.fail(CommError::Length { peer, step, bytes, expected }));
            };
            result = Some(result.map_or(value, |before| combine(before, value)));
        }
        Ok(result.unwrap_or(value))
    }

    /// Waits until all ranks have called it.
    ///
    /// # Errors
    /// See [`Wire::exchange`].
    pub fn barrier(&mut self, purpose: &'static str) -> Result<(), CommError> {
        let nothing = Arc::new(Bytes::default());
        let bodies = vec![nothing; self.size()];
        self.exchange::<u8>(Collective::Barrier, purpose, &bodies).map(|_| ())
    }

    /// Notifies the other ranks that this one failed and ends with an exit code.
    pub fn abort(&mut self, code: u8) {
        self.broken = true;
        self.wire.abort(code);
    }

    fn exchange<T: Pod>(
        &mut self,
        collective: Collective,
        purpose: &'static str,
        bodies: &[Arc<Bytes>],
    ) -> Result<Received<T>, CommError> {
        if self.broken {
            return Err(CommError::Broken);
        }
        let step = Step::new(self.traffic.calls, collective, purpose, size_of::<T>());
        let begun = Instant::now();
        let exchanged = self.wire.exchange(step, bodies);
        let messages = self.checked(exchanged)?;
        self.traffic.waited += begun.elapsed();
        self.traffic.calls += 1;
        let own = self.rank();
        let of_others = |bodies: &[Arc<Bytes>]| -> u64 {
            let others = bodies.iter().enumerate().filter(|&(rank, _)| rank != own);
            others.map(|(_, body)| body.len() as u64).sum()
        };
        self.traffic.sent += of_others(bodies);
        self.traffic.received += of_others(&messages);
        for (peer, message) in messages.iter().enumerate() {
            if message.values::<T>().is_none() {
                let bytes = message.len() as u64;
                let expected = format!("a multiple of {}", size_of::<T>());
                return Err(self.fail(CommError::Length { peer, step, bytes, expected }));
            }
        }
        Ok(Received { messages, values: PhantomData })
    }

    fn last_step(&self, collective: Collective, purpose: &str, value_bytes: usize) -> Step {
        Step::new(self.traffic.calls.saturating_sub(1), collective, purpose, value_bytes)
    }

    /// Notes an error: the ranks are no longer in step.
    fn checked<T>(&mut self, result: Result<T, CommError>) -> Result<T, CommError> {
        self.broken |= result.is_err();
        result
    }

    fn fail(&mut self, error: CommError) -> CommError {
        self.broken = true;
        error
    }
}

impl fmt::Debug for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {} over {}", self.rank(), self.size(), self.name())
    }
}
