//! All-gather barrier for the host's threads of ranks that share a run.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Reusable all-gather barrier: each thread contributes a value, and receives the values of all.
pub struct AllGatherBarrier<T> {
    count: usize,
    table: Mutex<Table<T>>,
    is_over: Condvar,
    /// Number of completed barriers, or [`ENDED`].
    generation: AtomicU64,
}

struct Table<T> {
    received: Vec<Option<T>>,
    /// Values of the last completed barrier.
    last: Arc<[T]>,
    /// The thread that ended the barrier first.
    ended_by: Option<usize>,
}

/// The barrier has ended: a thread has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

const ENDED: u64 = u64::MAX;

/// Checks of a waiting thread in a loop before it sleeps. Threads that launch kernels arrive some microseconds
/// apart, which is less than a wake-up takes.
const SPINS: u32 = 1 << 12;

impl<T> AllGatherBarrier<T> {
    /// Returns a barrier for `count` threads.
    #[must_use]
    pub fn new(count: usize) -> AllGatherBarrier<T> {
        let received = (0..count).map(|_| None).collect();
        let table = Mutex::new(Table { received, last: Arc::from([]), ended_by: None });
        AllGatherBarrier { count, table, is_over: Condvar::new(), generation: AtomicU64::new(0) }
    }

    /// Waits for all threads; returns their values by number. `number` is this thread's, below the
    /// count.
    ///
    /// # Errors
    /// If a thread ended the barrier, even if all had arrived before this one left.
    pub fn all_gather(&self, number: usize, value: T) -> Result<Arc<[T]>, Ended> {
        let mut table = self.table();
        if table.ended_by.is_some() {
            return Err(Ended);
        }
        let generation = self.generation.load(Ordering::Relaxed);
        table.received[number] = Some(value);
        if table.received.iter().flatten().count() == self.count {
            table.last = table.received.iter_mut().filter_map(Option::take).collect();
            self.generation.store(generation + 1, Ordering::Release);
            self.is_over.notify_all();
            return Ok(Arc::clone(&table.last));
        }
        drop(table);
        for _ in 0..SPINS {
            if self.generation.load(Ordering::Acquire) != generation {
                break;
            }
            hint::spin_loop();
        }
        let mut table = self.table();
        while self.generation.load(Ordering::Relaxed) == generation {
            table = self.is_over.wait(table).unwrap_or_else(PoisonError::into_inner);
        }
        // The next barrier cannot complete before this thread has left, so `last` is still this
        // one's.
        if self.generation.load(Ordering::Relaxed) == ENDED {
            Err(Ended)
        } else {
            Ok(Arc::clone(&table.last))
        }
    }

    /// Ends the barrier: waiting and later threads return an error.
    pub fn end(&self, number: usize) {
        let mut table = self.table();
        table.ended_by.get_or_insert(number);
        self.generation.store(ENDED, Ordering::Release);
        self.is_over.notify_all();
    }

    /// Returns the thread that ended the barrier first.
    pub fn ended_by(&self) -> Option<usize> {
        self.table().ended_by
    }

    /// Whether the barrier has ended.
    pub fn has_ended(&self) -> bool {
        self.generation.load(Ordering::Acquire) == ENDED
    }

    /// Locks the table. A panic never leaves it half-written, so poisoning is ignored.
    fn table(&self) -> MutexGuard<'_, Table<T>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_receives_the_values_of_all() {
        let barrier = AllGatherBarrier::new(3);
        std::thread::scope(|scope| {
            for number in 0..3 {
                let barrier = &barrier;
                scope.spawn(move || {
                    for turn in 0..1000 {
                        let all = barrier.all_gather(number, (turn, number)).unwrap();
                        assert_eq!(*all, [(turn, 0), (turn, 1), (turn, 2)]);
                    }
                });
            }
        });
        assert_eq!(barrier.ended_by(), None);
    }

    #[test]
    fn no_thread_waits_for_one_that_left() {
        let barrier = AllGatherBarrier::new(3);
        std::thread::scope(|scope| {
            for number in 0..3 {
                let barrier = &barrier;
                scope.spawn(move || {
                    let mut turn = 0;
                    while barrier.all_gather(number, ()).is_ok() {
                        turn += 1;
                        if number == 1 && turn == 10 {
                            return barrier.end(number);
                        }
                    }
                    // A thread that has not left the last barrier yet may get the error for it.
                    assert!(turn == 9 || turn == 10, "{turn}");
                });
            }
        });
        assert_eq!((barrier.ended_by(), barrier.has_ended()), (Some(1), true));
        assert_eq!(barrier.all_gather(0, ()), Err(Ended));
    }
}
