//! A wire between ranks that records its traffic, and simulates a network, delays and deaths of ranks.

use ripplet_ranks::{Bytes, Collective, CommError, Step, Wire};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A network between hosts, of one rank each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// The time until the first byte of a message is there.
    pub latency: Duration,
    /// The bytes that a rank sends, and at the same time receives, in a second.
    pub bytes_per_second: f64,
}

impl Network {
    /// Returns a network by its bandwidth in gigabits per second.
    pub fn gigabits(per_second: f64, latency: Duration) -> Network {
        Network { latency, bytes_per_second: per_second * 1e9 / 8.0 }
    }

    /// Returns the seconds of an exchange by one rank: the latency, and the larger of both directions.
    pub fn seconds(&self, record: &Record) -> f64 {
        let bytes = record.sent.max(record.received) as f64;
        self.latency.as_secs_f64() + bytes / self.bytes_per_second
    }

    /// Returns the seconds of a run by the recordings of all its ranks: of each exchange, those of the slowest.
    pub fn seconds_of_run(&self, ranks: &[Vec<Record>]) -> f64 {
        let steps = ranks.iter().map(Vec::len).max().unwrap_or(0);
        let slowest = |step: usize| {
            let each = ranks.iter().filter_map(|records| records.get(step));
            each.map(|record| self.seconds(record)).fold(0.0, f64::max)
        };
        (0..steps).map(slowest).sum()
    }
}

/// An exchange of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// The collective.
    pub step: Step,
    /// Bytes sent to other ranks.
    pub sent: u64,
    /// Bytes received from other ranks.
    pub received: u64,
}

/// A fault that a rank has on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is late for the exchange of this number.
    Delay(u64, Duration),
    /// It ends before the exchange of this number, without a word to the others.
    Death(u64),
    /// It sends its messages of the exchange of this number as those of a barrier.
    OutOfStep(u64),
}

/// A wire that records its traffic.
///
/// ```
/// use ripplet_conformance::recorded::Recorded;
/// use ripplet_ranks::{Comm, CommError, Threads};
/// use std::time::Duration;
///
/// let wires = Threads::connect(1, Duration::from_secs(1));
/// let (wire, recording) = Recorded::new(wires.into_iter().next().ok_or(CommError::Broken)?);
/// Comm::new(wire).all_gather("nothing to send", &[1u32])?;
/// assert_eq!(recording.take()[0].sent, 0);
/// # Ok::<(), CommError>(())
/// ```
pub struct Recorded<W> {
    wire: Option<W>,
    rank: usize,
    size: usize,
    recording: Recording,
    network: Option<Network>,
    faults: Vec<Fault>,
}

/// The records of a wire, which can be read while the wire is in use.
#[derive(Clone, Debug, Default)]
pub struct Recording(Arc<Mutex<Vec<Record>>>);

impl Recording {
    /// Removes and returns the records so far.
    pub fn take(&self) -> Vec<Record> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<W: Wire> Recorded<W> {
    /// Wraps a wire.
    pub fn new(wire: W) -> (Recorded<W>, Recording) {
        let recording = Recording::default();
        let (rank, size) = (wire.rank(), wire.size());
        let of = recording.clone();
        let wire = Some(wire);
        (Recorded { wire, rank, size, recording: of, network: None, faults: Vec::new() }, recording)
    }

    /// Makes each exchange take as long as on this network, at least.
    #[must_use]
    pub fn on(self, network: Network) -> Recorded<W> {
        Recorded { network: Some(network), ..self }
    }

    /// Adds a fault.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Recorded<W> {
        self.faults.push(fault);
        self
    }

    fn bytes_of_others(&self, bodies: &[Arc<Bytes>]) -> u64 {
        let others = bodies.iter().enumerate().filter(|&(rank, _)| rank != self.rank);
        others.map(|(_, body)| body.len() as u64).sum()
    }
}

impl<W: Wire> Wire for Recorded<W> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(
        &mut self,
        step: Step,
        bodies: &[Arc<Bytes>],
    ) -> Result<Vec<Arc<Bytes>>, CommError> {
        let mut claimed = step;
        for fault in &self.faults {
            match *fault {
                Fault::Delay(number, time) if number == step.number => thread::sleep(time),
                Fault::Death(number) if number == step.number => self.wire = None,
                Fault::OutOfStep(number) if number == step.number => {
                    claimed = Step { collective: Collective::Barrier, ..step };
                }
                Fault::Delay(..) | Fault::Death(_) | Fault::OutOfStep(_) => {}
            }
        }
        let Some(wire) = &mut self.wire else { return Err(CommError::Broken) };
        let received = wire.exchange(claimed, bodies)?;
        let (sent, taken) = (self.bytes_of_others(bodies), self.bytes_of_others(&received));
        let record = Record { step, sent, received: taken };
        if let Some(network) = self.network {
            thread::sleep(
                Duration::try_from_secs_f64(network.seconds(&record)).unwrap_or_default(),
            );
        }
        self.recording.0.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        Ok(received)
    }

    fn abort(&mut self, code: u8) {
        if let Some(wire) = &mut self.wire {
            wire.abort(code);
        }
    }

    fn name(&self) -> String {
        self.wire.as_ref().map_or_else(|| "a dead rank".into(), Wire::name)
    }
}
