//! Ranks as threads of this process.

use crate::step::Step;
use crate::wire::{Bytes, Wire};
use crate::{Comm, CommError};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What a rank sends to another one.
enum Message {
    /// A message of a collective.
    Body(Step, Arc<Bytes>),
    /// The end of the rank, with an exit code.
    Failed(u8),
}

/// What a rank has received, and not yet taken.
struct Mailbox {
    received: Mutex<Received>,
    /// There is a message of each rank, or one of them says no more.
    is_awaited: Condvar,
}

struct Received {
    /// Messages of each rank, oldest first; none of the own.
    of: Vec<VecDeque<Message>>,
    /// Ranks that have hung up.
    gone: Vec<bool>,
    /// Ranks without a message here, except the own.
    missing: usize,
}

impl Mailbox {
    fn of_ranks(size: usize) -> Mailbox {
        let of = (0..size).map(|_| VecDeque::new()).collect();
        let received = Received { of, gone: vec![false; size], missing: size - 1 };
        Mailbox { received: Mutex::new(received), is_awaited: Condvar::new() }
    }

    /// Returns what is there; it is whole at all times.
    fn lock(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message of a rank. The receiver is woken once for all that it waits for, and not once for each.
    fn put(&self, rank: usize, message: Message) {
        let mut received = self.lock();
        let is_last = matches!(message, Message::Failed(_));
        received.missing -= usize::from(received.of[rank].is_empty());
        received.of[rank].push_back(message);
        let is_awaited = received.missing == 0 || is_last;
        // The receiver would wait for the lock.
        drop(received);
        if is_awaited {
            self.is_awaited.notify_one();
        }
    }

    /// Notes that a rank sends nothing more.
    fn hang_up(&self, rank: usize) {
        self.lock().gone[rank] = true;
        self.is_awaited.notify_one();
    }
}

impl Received {
    /// Returns the error of the first rank whose next message is none of this step, or that has none and hung up.
    fn error(&self, rank: usize, step: Step) -> Option<CommError> {
        let others = self.of.iter().zip(&self.gone).enumerate().filter(|(peer, _)| *peer != rank);
        others
            .filter_map(|(peer, (messages, &gone))| match messages.front() {
                Some(Message::Body(theirs, _)) if *theirs == step => None,
                Some(Message::Body(theirs, _)) => {
                    Some(CommError::OutOfStep { rank, peer, own: step, theirs: *theirs })
                }
                Some(Message::Failed(code)) => Some(CommError::Failed { rank: peer, code: *code }),
                None => gone.then_some(CommError::Gone { rank: peer }),
            })
            .next()
    }

    /// Takes the next body of each rank, and of this one its own.
    fn take(&mut self, own: &Arc<Bytes>) -> Vec<Arc<Bytes>> {
        let mut missing = 0;
        let bodies = self.of.iter_mut().map(|messages| {
            let Some(Message::Body(_, body)) = messages.pop_front() else { return own.clone() };
            missing += usize::from(messages.is_empty());
            body
        });
        let bodies = bodies.collect();
        self.missing = missing;
        bodies
    }
}

/// A rank that is a thread of this process: messages are passed in memory, and not copied.
///
/// A rank that ends hangs up, and the others get [`CommError::Gone`]; one that hangs is
/// [silent](CommError::Silent) after the deadline.
pub struct Threads {
    rank: usize,
    /// Of all ranks.
    mailboxes: Arc<[Mailbox]>,
    deadline: Duration,
}

impl Threads {
    /// Returns a single rank.
    pub fn alone() -> Threads {
        Threads { rank: 0, mailboxes: Arc::new([Mailbox::of_ranks(1)]), deadline: Duration::MAX }
    }

    /// Connects ranks, at least one; the messages of a collective are awaited for no longer than `deadline`.
    pub fn connect(size: usize, deadline: Duration) -> Vec<Threads> {
        let size = size.max(1);
        let mailboxes: Arc<[Mailbox]> = (0..size).map(|_| Mailbox::of_ranks(size)).collect();
        let connected = |rank| Threads { rank, mailboxes: mailboxes.clone(), deadline };
        (0..size).map(connected).collect()
    }

    /// Returns the mailboxes of the other ranks, with their numbers.
    fn others(&self) -> impl Iterator<Item = (usize, &Mailbox)> {
        self.mailboxes.iter().enumerate().filter(|(peer, _)| *peer != self.rank)
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
        self.mailboxes.len()
    }

    fn exchange(
        &mut self,
        step: Step,
        bodies: &[Arc<Bytes>],
    ) -> Result<Vec<Arc<Bytes>>, CommError> {
        let [rank, size] = [self.rank, self.size()];
        if bodies.len() != size {
            return Err(CommError::Messages { given: bodies.len(), size });
        }
        for (peer, mailbox) in self.others() {
            mailbox.put(rank, Message::Body(step, bodies[peer].clone()));
        }
        let own = &self.mailboxes[rank];
        let begin = Instant::now();
        let mut received = own.lock();
        loop {
            // A rank that hung up has said why in what is received.
            if let Some(error) = received.error(rank, step) {
                return Err(error);
            }
            if received.missing == 0 {
                return Ok(received.take(&bodies[rank]));
            }
            let left = self.deadline.saturating_sub(begin.elapsed());
            if left.is_zero() {
                let is_missing = |peer: &usize| *peer != rank && received.of[*peer].is_empty();
                let silent = (0..size).find(is_missing).unwrap_or(rank);
                return Err(CommError::Silent { rank: silent, waited: self.deadline });
            }
            let waited = own.is_awaited.wait_timeout(received, left);
            received = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn abort(&mut self, code: u8) {
        for (_, mailbox) in self.others() {
            mailbox.put(self.rank, Message::Failed(code));
        }
    }

    fn name(&self) -> String {
        match self.size() {
            1 => "one rank".into(),
            _ => "threads".into(),
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.others().for_each(|(_, mailbox)| mailbox.hang_up(self.rank));
    }
}
