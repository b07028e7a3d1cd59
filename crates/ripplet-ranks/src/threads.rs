//! Ranks as threads of this process.

use crate::step::Step;
use crate::wire::{Bytes, Wire};
use crate::{Comm, CommError};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// What a rank sends to another one.
enum Message {
    /// A message of a collective.
    Body(Step, Arc<Bytes>),
    /// The end of the rank, with an exit code.
    Failed(u8),
}

/// A rank that is a thread of this process: messages are passed in memory, and not copied.
///
/// A rank that ends hangs up, and the others get [`CommError::Gone`]; one that hangs is
/// [silent](CommError::Silent) after the deadline.
pub struct Threads {
    rank: usize,
    to: Vec<Option<Sender<Message>>>,
    from: Vec<Option<Receiver<Message>>>,
    deadline: Duration,
}

impl Threads {
    /// Returns a single rank.
    pub fn alone() -> Threads {
        Threads { rank: 0, to: vec![None], from: vec![None], deadline: Duration::MAX }
    }

    /// Connects ranks, at least one; a message is awaited for no longer than `deadline`.
    pub fn connect(size: usize, deadline: Duration) -> Vec<Threads> {
        let none = |rank| Threads { rank, to: Vec::new(), from: Vec::new(), deadline };
        let mut ranks: Vec<Threads> = (0..size.max(1)).map(none).collect();
        for sender in 0..ranks.len() {
            for receiver in 0..ranks.len() {
                let (to, from) = channel();
                let connected = sender != receiver;
                ranks[sender].to.push(connected.then_some(to));
                ranks[receiver].from.push(connected.then_some(from));
            }
        }
        ranks
    }

    /// Runs `work` on each of `size` ranks, each in a thread; returns the results in the order of the ranks.
    ///
    /// # Panics
    /// If `work` panics: when all threads have ended, with the first one's message.
    pub fn run<T: Send>(
        size: usize,
        deadline: Duration,
        work: impl Fn(Comm) -> T + Sync,
    ) -> Vec<T> {
        let ranks = Threads::connect(size, deadline);
        let work = &work;
        thread::scope(|scope| {
            let run = |rank| scope.spawn(move || work(Comm::new(rank)));
            let threads: Vec<_> = ranks.into_iter().map(run).collect();
            let joined: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            let value = |done: thread::Result<T>| {
                done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            joined.into_iter().map(value).collect()
        })
    }
}

impl Comm {
    /// Returns the communicator of a single rank.
    pub fn alone() -> Comm {
        Comm::new(Threads::alone())
    }
}

impl Wire for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn exchange(
        &mut self,
        step: Step,
        bodies: &[Arc<Bytes>],
    ) -> Result<Vec<Arc<Bytes>>, CommError> {
        if bodies.len() != self.size() {
            return Err(CommError::Messages { given: bodies.len(), size: self.size() });
        }
        for (to, body) in self.to.iter().zip(bodies) {
            // A rank that hung up has said why in what is received below.
            let _ = to.as_ref().map(|to| to.send(Message::Body(step, body.clone())));
        }
        let mut received = Vec::with_capacity(bodies.len());
        for (peer, (from, own)) in self.from.iter().zip(bodies).enumerate() {
            let Some(from) = from else {
                received.push(own.clone());
                continue;
            };
            match from.recv_timeout(self.deadline) {
                Ok(Message::Body(theirs, body)) if theirs == step => received.push(body),
                Ok(Message::Body(theirs, _)) => {
                    return Err(CommError::OutOfStep { rank: self.rank, peer, own: step, theirs });
                }
                Ok(Message::Failed(code)) => return Err(CommError::Failed { rank: peer, code }),
                Err(RecvTimeoutError::Disconnected) => return Err(CommError::Gone { rank: peer }),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(CommError::Silent { rank: peer, waited: self.deadline });
                }
            }
        }
        Ok(received)
    }

    fn abort(&mut self, code: u8) {
        for to in self.to.iter().flatten() {
            // A rank that has ended needs no message.
            let _ = to.send(Message::Failed(code));
        }
    }

    fn name(&self) -> String {
        match self.size() {
            1 => "one rank".into(),
            _ => "threads".into(),
        }
    }
}
