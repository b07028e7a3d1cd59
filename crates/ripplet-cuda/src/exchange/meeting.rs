//! Where the threads of those who share a run wait for one another.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A place where so many threads meet again and again. Each brings something, and leaves with what all brought.
pub struct Meeting<T> {
    count: usize,
    table: Mutex<Table<T>>,
    is_over: Condvar,
    /// How often all were there, or [`ENDED`].
    turn: AtomicU64,
}

struct Table<T> {
    brought: Vec<Option<T>>,
    /// What all brought the last time.
    last: Arc<[T]>,
    /// Who ended it.
    ended_by: Option<usize>,
}

/// Somebody does not come any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

const ENDED: u64 = u64::MAX;

/// How often one who waits looks before it sleeps: they who launch kernels are some microseconds apart, and to
/// be woken takes longer.
const LOOKS: u32 = 1 << 12;

impl<T> Meeting<T> {
    /// A meeting of so many.
    pub fn new(count: usize) -> Meeting<T> {
        let brought = (0..count).map(|_| None).collect();
        let table = Mutex::new(Table { brought, last: Arc::from([]), ended_by: None });
        Meeting { count, table, is_over: Condvar::new(), turn: AtomicU64::new(0) }
    }

    /// Waits for all others. Each of them is a number below the count.
    ///
    /// # Errors
    /// Where one of them ended it, though all may have been there and it ended before this one left.
    pub fn meet(&self, number: usize, brings: T) -> Result<Arc<[T]>, Ended> {
        let mut table = self.table();
        if table.ended_by.is_some() {
            return Err(Ended);
        }
        let turn = self.turn.load(Ordering::Relaxed);
        table.brought[number] = Some(brings);
        if table.brought.iter().flatten().count() == self.count {
            table.last = table.brought.iter_mut().filter_map(Option::take).collect();
            self.turn.store(turn + 1, Ordering::Release);
            self.is_over.notify_all();
            return Ok(Arc::clone(&table.last));
        }
        drop(table);
        for _ in 0..LOOKS {
            if self.turn.load(Ordering::Acquire) != turn {
                break;
            }
            hint::spin_loop();
        }
        let mut table = self.table();
        while self.turn.load(Ordering::Relaxed) == turn {
            table = self.is_over.wait(table).unwrap_or_else(PoisonError::into_inner);
        }
        // Nobody is at the next meeting's end before this one has left: what lies there is still the last.
        if self.turn.load(Ordering::Relaxed) == ENDED {
            Err(Ended)
        } else {
            Ok(Arc::clone(&table.last))
        }
    }

    /// Ends it: nobody waits any more.
    pub fn end(&self, number: usize) {
        let mut table = self.table();
        table.ended_by.get_or_insert(number);
        self.turn.store(ENDED, Ordering::Release);
        self.is_over.notify_all();
    }

    /// Who ended it first.
    pub fn ended_by(&self) -> Option<usize> {
        self.table().ended_by
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.turn.load(Ordering::Acquire) == ENDED
    }

    /// Whole at all times, also where a thread panicked with it.
    fn table(&self) -> MutexGuard<'_, Table<T>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leaves_with_what_all_brought() {
        let meeting = Meeting::new(3);
        std::thread::scope(|scope| {
            for number in 0..3 {
                let meeting = &meeting;
                scope.spawn(move || {
                    for turn in 0..1000 {
                        let all = meeting.meet(number, (turn, number)).unwrap();
                        assert_eq!(*all, [(turn, 0), (turn, 1), (turn, 2)]);
                    }
                });
            }
        });
        assert_eq!(meeting.ended_by(), None);
    }

    #[test]
    fn nobody_waits_for_one_who_left() {
        let meeting = Meeting::new(3);
        std::thread::scope(|scope| {
            for number in 0..3 {
                let meeting = &meeting;
                scope.spawn(move || {
                    let mut turn = 0;
                    while meeting.meet(number, ()).is_ok() {
                        turn += 1;
                        if number == 1 && turn == 10 {
                            return meeting.end(number);
                        }
                    }
                    // Who has not left the last one yet may hear of the end instead.
                    assert!(turn == 9 || turn == 10, "{turn}");
                });
            }
        });
        assert_eq!((meeting.ended_by(), meeting.has_ended()), (Some(1), true));
        assert_eq!(meeting.meet(0, ()), Err(Ended));
    }
}
