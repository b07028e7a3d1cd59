//! A crew: threads that share the parts of short steps, one step after the other.
//!
//! A phase has a few hundred vertices on a small graph, and each of its steps takes some microseconds:
//! as long as a thread pool needs to begin one. A crew's helpers stay for a whole round. They spin on
//! one word until it offers parts, and claim a part by adding 1 to it:
//!
//! ```text
//! leader    offer(step, 3 parts) │ part 0 │ part 2 │ waits until 3 parts are done │ offer(…)
//! helper         spins           │ part 1 │ spins                                 │
//! ```
//!
//! The leader never waits for a helper to come, only for parts that one has claimed. So a crew makes
//! progress while the pool's other threads are busy elsewhere, for instance with crews of their own.

use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Looks at the offer before a waiting thread leaves its core to others.
const SPINS: u32 = 256;
/// The bits of an offer that count claimed parts, and those that count all parts.
const BITS: u32 = 28;
const MASK: u64 = (1 << BITS) - 1;

/// Work in steps, each of which has parts that may run at the same time.
pub(super) trait Work: Sync {
    /// Does a part of a step.
    fn part(&self, step: u8, part: usize);
}

/// The leader's access to its crew.
pub(super) struct Crew<'w, W> {
    work: &'w W,
    /// The number of helpers that may come.
    helpers: usize,
    /// The step, the number of its parts, and the number of claims.
    offer: AtomicU64,
    /// Parts of the step that are done.
    done: AtomicU64,
    /// Whether a part panicked in a helper.
    panicked: AtomicBool,
    ended: AtomicBool,
}

/// Ends the helpers when it is dropped, also by a panic.
struct End<'c>(&'c AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Release);
    }
}

/// Calls `lead` with a crew of at most `helpers` threads of the current pool beside the calling one.
///
/// A panic of a part is passed on to the caller.
pub(super) fn with_crew<W: Work, T: Send>(
    work: &W,
    helpers: usize,
    lead: impl FnOnce(&Crew<'_, W>) -> T + Send,
) -> T {
    let crew = Crew {
        work,
        helpers,
        offer: AtomicU64::new(0),
        done: AtomicU64::new(0),
        panicked: AtomicBool::new(false),
        ended: AtomicBool::new(false),
    };
    if helpers == 0 {
        return lead(&crew);
    }
    rayon::scope(|scope| {
        let _end = End(&crew.ended);
        (0..helpers).for_each(|_| scope.spawn(|_| crew.help()));
        lead(&crew)
    })
}

impl<W: Work> Crew<'_, W> {
    /// Does all parts of a step. Returns false if one panicked in a helper: the leader must return,
    /// and the panic goes on at the end of [`with_crew`].
    pub fn run(&self, step: u8, parts: usize) -> bool {
        if parts <= 1 || self.helpers == 0 {
            (0..parts).for_each(|part| self.work.part(step, part));
            return true;
        }
        // Half of what the word counts: every helper may add a claim too many. No phase has as many.
        let offered = (parts as u64).min(MASK / 2);
        self.done.store(0, Relaxed);
        self.offer.store(u64::from(step) << (2 * BITS) | offered << BITS, Release);
        while self.claim(false) {}
        self.wait_for(offered);
        (offered as usize..parts).for_each(|part| self.work.part(step, part));
        !self.panicked.load(Relaxed)
    }

    fn wait_for(&self, count: u64) {
        let mut spins = 0;
        while self.done.load(Acquire) < count {
            pause(&mut spins);
        }
    }

    /// Claims a part and does it; returns false if none is left.
    fn claim(&self, back: bool) -> bool {
        // Acquire: what the leader wrote before the offer is visible. The step and the count are those
        // of the claimed part, even if the leader made another offer since the caller looked.
        let offer = self.offer.fetch_add(if back { 1 << 14 } else { 1 }, Acquire);
        let (f, b, count) = (offer & 0x3fff, offer >> 14 & 0x3fff, offer >> BITS & MASK);
        if f + b >= count {
            return false;
        }
        let part = if back { count - 1 - b } else { f };
        let work = || self.work.part((offer >> (2 * BITS)) as u8, part as usize);
        // A part that panics must count as done, or the leader would wait for it for ever.
        let result = catch_unwind(AssertUnwindSafe(work));
        if result.is_err() {
            self.panicked.store(true, Relaxed);
        }
        // Release: the leader sees what this part wrote.
        self.done.fetch_add(1, Release);
        match result {
            Ok(()) => true,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Does parts until the leader ends the crew.
    fn help(&self) {
        let mut spins = 0;
        while !self.ended.load(Acquire) {
            // Only a look: claims beyond the last part would count up without end.
            let offer = self.offer.load(Relaxed);
            if (offer & 0x3fff) + (offer >> 14 & 0x3fff) < offer >> BITS & MASK && self.claim(true)
            {
                spins = 0;
            } else {
                pause(&mut spins);
            }
        }
    }
}

/// Waits for a moment; after some of them, lets other threads run.
fn pause(spins: &mut u32) {
    if *spins < SPINS {
        *spins += 1;
        spin_loop();
    } else {
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::sync::atomic::AtomicU32;

    /// Counts how often each part of each step is done, and that steps do not overlap.
    struct Counting {
        step: AtomicU32,
        times: Vec<AtomicU32>,
    }

    impl Work for Counting {
        fn part(&self, step: u8, part: usize) {
            assert_eq!(self.step.load(Relaxed), u32::from(step));
            self.times[part].fetch_add(1, Relaxed);
        }
    }

    fn count(helpers: usize, steps: u32) {
        let parts = |step: u32| (step * 7 % 13) as usize;
        let times = (0..13).map(|_| AtomicU32::new(0)).collect();
        let work = Counting { step: AtomicU32::new(0), times };
        with_crew(&work, helpers, |crew| {
            for step in 0..steps {
                work.step.store(step % 200, Relaxed);
                assert!(crew.run((step % 200) as u8, parts(step)));
                for (part, times) in work.times.iter().enumerate() {
                    assert_eq!(times.swap(0, Relaxed), u32::from(part < parts(step)));
                }
            }
        });
    }

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn every_part_is_done_once_before_the_next_step() {
        for helpers in [0, 1, 4] {
            pool(helpers + 1).install(|| count(helpers, 2000));
        }
    }

    #[test]
    fn crews_of_busy_threads_do_not_wait_for_one_another() {
        pool(3).install(|| (0..40).into_par_iter().for_each(|_| count(2, 50)));
    }

    #[test]
    fn a_panic_of_a_part_ends_the_step_and_reaches_the_caller() {
        struct Panicking;
        impl Work for Panicking {
            fn part(&self, _step: u8, part: usize) {
                assert!(part != 20, "part 20");
            }
        }
        for helpers in [0, 2] {
            let run = || with_crew(&Panicking, helpers, |crew| crew.run(0, 100));
            assert!(pool(3).install(|| catch_unwind(run)).is_err());
        }
    }
}
