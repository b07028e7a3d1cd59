//! A crew: threads that share the parts of short steps, one step after the other.
//!
//! A phase has a few hundred vertices on a small graph, and each of its steps takes some microseconds:
//! as long as a thread pool needs to begin one. A crew's helpers stay for a whole round. They spin on
//! one word until it offers parts, and claim a part by adding 1 to one of its fields. The leader claims
//! from the first part on, helpers from the last one back, so that each reads memory in one direction:
//!
//! ```text
//! leader    offer(step, 3 parts) │ part 0 │ part 1 │ waits until 3 parts are done │ offer(…)
//! helper         spins           │ part 2 │ spins                                 │
//!
//! the word    step (8 bits) │ parts (18) │ claimed from the back (18) │ claimed from the front (18)
//! ```
//!
//! The leader never waits for a helper to come, only for parts that one has claimed. So a crew makes
//! progress while the pool's other threads are busy elsewhere, for instance with crews of their own.

use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

/// Looks at the offer before a waiting thread leaves its core to others.
const SPINS: u32 = 256;
/// The bits of a count in an offer.
const BITS: u32 = 18;
const MASK: u64 = (1 << BITS) - 1;
/// The most parts of an offer: half of what a field counts, as every thread may add a claim too many.
const MOST_PARTS: usize = 1 << (BITS - 1);

/// Where a thread claims parts.
#[derive(Clone, Copy)]
enum Side {
    Front,
    Back,
}

/// The value of an offer's word.
#[derive(Clone, Copy)]
struct Offer(u64);

impl Offer {
    fn new(step: u8, parts: usize) -> Offer {
        Offer(u64::from(step) << (3 * BITS) | (parts as u64) << (2 * BITS))
    }

    fn step(self) -> u8 {
        (self.0 >> (3 * BITS)) as u8
    }

    /// Returns the part that a claim at this side gets, if one is left.
    fn next(self, side: Side) -> Option<u64> {
        let field = |at: u32| self.0 >> (at * BITS) & MASK;
        let (front, back, parts) = (field(0), field(1), field(2));
        (front + back < parts).then(|| match side {
            Side::Front => front,
            Side::Back => parts - 1 - back,
        })
    }
}

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
    /// An [`Offer`].
    offer: AtomicU64,
    /// The part of the step that is the first of the offer.
    first: AtomicUsize,
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
        first: AtomicUsize::new(0),
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
        for first in (0..parts).step_by(MOST_PARTS) {
            let offered = MOST_PARTS.min(parts - first);
            self.first.store(first, Relaxed);
            self.done.store(0, Relaxed);
            self.offer.store(Offer::new(step, offered).0, Release);
            while self.claim(Side::Front) {}
            self.wait_for(offered as u64);
        }
        !self.panicked.load(Relaxed)
    }

    fn wait_for(&self, count: u64) {
        let mut spins = 0;
        while self.done.load(Acquire) < count {
            pause(&mut spins);
        }
    }

    /// Claims a part and does it; returns false if none is left.
    fn claim(&self, side: Side) -> bool {
        let claim = match side {
            Side::Front => 1,
            Side::Back => 1 << BITS,
        };
        // Acquire: what the leader wrote before the offer is visible. The step and the count are those
        // of the claimed part, even if the leader made another offer since the caller looked.
        let offer = Offer(self.offer.fetch_add(claim, Acquire));
        let Some(part) = offer.next(side) else { return false };
        // The leader makes no further offer before this part is done.
        let part = self.first.load(Relaxed) + part as usize;
        let work = || self.work.part(offer.step(), part);
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
            let offer = Offer(self.offer.load(Relaxed));
            if offer.next(Side::Back).is_some() && self.claim(Side::Back) {
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
    fn more_parts_than_an_offer_has_are_offered_in_turns() {
        for parts in [MOST_PARTS - 1, MOST_PARTS, MOST_PARTS + 1, 3 * MOST_PARTS + 5] {
            let times = (0..parts).map(|_| AtomicU32::new(0)).collect();
            let work = Counting { step: AtomicU32::new(9), times };
            pool(4).install(|| with_crew(&work, 3, |crew| assert!(crew.run(9, parts))));
            assert!(work.times.iter().all(|times| times.load(Relaxed) == 1), "{parts}");
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
