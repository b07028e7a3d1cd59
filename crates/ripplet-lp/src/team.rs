//! Thread teams: threads that share the parts of short steps, one step after the other.
//!
//! A phase has a few hundred vertices on a small graph, and each of its steps takes some microseconds:
//! as long as a thread pool needs to begin one. A team's helpers stay for many steps. They spin on
//! one word until it offers parts, and claim some by adding to one of its fields: a share of what is
//! left, so that claims are few, and the last ones short. The leader claims from the first part on,
//! helpers from the last one back, so that a thread meets the same vertices in each step:
//!
//! ```text
//! leader    offer(5 parts) │ part 0 │ part 1 │ part 2 │ waits until 5 parts are done │ offer(…)
//! helper         spins     │ part 4 │ part 3 │ spins                                 │
//!
//! the word    parts (20 bits) │ claimed from the back (20) │ claimed from the front (20)
//! ```
//!
//! The leader never waits for a helper to come, only for parts that one has claimed. So a team makes
//! progress while the pool's other threads are busy elsewhere, for instance with teams of their own.
//!
//! [`with_team`] has helpers until its closure returns. The helpers of a [`StandingTeam`] stay from one call to the next,
//! as calling a sleeping thread takes as long as a small round; those that had nothing to do for a while leave their cores,
//! and are called again.

use ripplet_graph::tasks::range_at;
use std::any::Any;
use std::hint::spin_loop;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{from_ref, null_mut};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};

/// Looks at the offer before a waiting thread leaves its core to others.
const SPINS: u32 = if cfg!(miri) { 1 } else { 256 };
/// Looks at the offer before a helper of a standing team leaves: about a millisecond.
const LOOKS: u32 = if cfg!(miri) { 4 } else { 1 << 12 };
/// The bits of a count in an offer. Few under Miri, which is slow, so that tests have several offers.
const BITS: u32 = if cfg!(miri) { 8 } else { 20 };
const MASK: u64 = (1 << BITS) - 1;
/// The most parts of an offer.
const MOST_PARTS: usize = MASK as usize;

/// The most threads that sum up values by group, and the fewest values for each.
const MOST_ADDERS: usize = 8;
const LEAST_PER_ADDER: usize = if cfg!(any(test, miri)) { 4 } else { 1 << 13 };

/// The fewest shares that the parts that are left are divided into: the vertices of some parts have many times the arcs of
/// others, and what a thread has claimed the others wait for.
const LEAST_SHARES: usize = 16;

/// A step: does the part of this number.
type Step<'s> = &'s (dyn Fn(usize) + Sync);

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
    fn new(parts: usize) -> Offer {
        Offer((parts as u64) << (2 * BITS))
    }

    /// Claims some of the parts that are left, for one of `threads` threads: returns them and the offer
    /// after it.
    fn claim(self, side: Side, threads: usize) -> Option<(Range<usize>, Offer)> {
        let field = |at: u32| (self.0 >> (at * BITS) & MASK) as usize;
        let (front, back, parts) = (field(0), field(1), field(2));
        let left = parts - front - back;
        let share = left.div_ceil((2 * threads).max(LEAST_SHARES));
        (left > 0).then(|| match side {
            Side::Front => (front..front + share, Offer(self.0 + share as u64)),
            Side::Back => {
                let end = parts - back;
                (end - share..end, Offer(self.0 + ((share as u64) << BITS)))
            }
        })
    }
}

/// A value on cache lines without others: processors that write neighbouring values would take
/// the line from each other.
#[repr(align(128))]
pub(crate) struct CachePadded<T>(pub T);

/// Team of threads that perform steps together, as its leader sees it.
pub(crate) struct ThreadTeam {
    /// The number of helpers that may come.
    helpers: usize,
    /// An [`Offer`].
    offer: CachePadded<AtomicU64>,
    /// The step of the offer.
    step: AtomicPtr<Step<'static>>,
    /// The part of the step that is the first of the offer.
    first: AtomicUsize,
    /// Parts of the offer that are done.
    done: CachePadded<AtomicUsize>,
    /// The first panic of a part.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    ended: AtomicBool,
}

/// Ends the helpers when it is dropped, also by a panic.
struct End<'c>(&'c AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Release);
    }
}

/// Calls `lead` with a team of at most `helpers` threads of the current pool beside the calling one.
fn with_team<T: Send>(helpers: usize, lead: impl FnOnce(&ThreadTeam) -> T + Send) -> T {
    let (mut lead, mut result) = (Some(lead), None);
    lead_team(helpers, &mut |team| result = lead.take().map(|lead| lead(team)));
    result.unwrap_or_else(|| unreachable!("a team is led once"))
}

/// Calls `lead` once. Compiled once for all leaders, which are many: rayon's scope is a thousand lines of
/// intermediate code.
fn lead_team(helpers: usize, lead: &mut (dyn FnMut(&ThreadTeam) + Send)) {
    let team = ThreadTeam::new(helpers);
    if helpers == 0 {
        return lead(&team);
    }
    rayon::scope(|scope| {
        let _end = End(&team.ended);
        (0..helpers).for_each(|_| scope.spawn(|_| team.help(u32::MAX)));
        lead(&team);
    });
}

/// A team whose helpers stay between its steps.
pub(crate) struct StandingTeam {
    team: Arc<ThreadTeam>,
    /// The leader alone.
    alone: ThreadTeam,
    /// The helpers that were called and have not left.
    here: Arc<AtomicUsize>,
}

impl StandingTeam {
    /// Creates a team with at most `helpers` helpers; none is called yet.
    pub fn new(helpers: usize) -> StandingTeam {
        let (team, here) = (Arc::new(ThreadTeam::new(helpers)), Arc::default());
        StandingTeam { team, alone: ThreadTeam::new(0), here }
    }

    /// Calls `lead` with the team: with all helpers, threads of the current pool, or with the leader alone.
    pub fn lead<T>(&self, has_helpers: bool, lead: impl FnOnce(&ThreadTeam) -> T) -> T {
        if !has_helpers {
            return lead(&self.alone);
        }
        while self.here.load(Relaxed) < self.team.helpers {
            self.here.fetch_add(1, Relaxed);
            let (team, here) = (self.team.clone(), self.here.clone());
            rayon::spawn(move || {
                team.help(LOOKS);
                here.fetch_sub(1, Relaxed);
            });
        }
        lead(&self.team)
    }
}

impl Drop for StandingTeam {
    fn drop(&mut self) {
        self.team.ended.store(true, Release);
    }
}

/// Calls `lead` with a team of all threads of the current pool.
pub(crate) fn with_whole_pool<T: Send>(lead: impl FnOnce(&ThreadTeam) -> T + Send) -> T {
    with_team(rayon::current_num_threads() - 1, lead)
}

impl ThreadTeam {
    fn new(helpers: usize) -> ThreadTeam {
        ThreadTeam {
            helpers,
            offer: CachePadded(AtomicU64::new(0)),
            step: AtomicPtr::new(null_mut()),
            first: AtomicUsize::new(0),
            done: CachePadded(AtomicUsize::new(0)),
            panic: Mutex::new(None),
            ended: AtomicBool::new(false),
        }
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.helpers + 1
    }

    /// Does all parts of a step. All are done even if one panics; the panic then goes on here.
    pub fn run(&self, parts: usize, step: impl Fn(usize) + Sync) {
        self.perform(parts, &step);
    }

    /// Does all parts of a step. Compiled once for all steps, and each step once for all teams.
    fn perform(&self, parts: usize, step: Step<'_>) {
        if parts <= 1 || self.helpers == 0 {
            return (0..parts).for_each(step);
        }
        self.step.store(from_ref(&step).cast_mut().cast(), Relaxed);
        for first in (0..parts).step_by(MOST_PARTS) {
            let offered = MOST_PARTS.min(parts - first);
            self.first.store(first, Relaxed);
            self.done.0.store(0, Relaxed);
            self.offer.0.store(Offer::new(offered).0, Release);
            while self.claim(Side::Front) {}
            let mut spins = 0;
            while self.done.0.load(Acquire) < offered {
                pause(&mut spins);
            }
        }
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Divides the numbers below `count` into ranges of `chunk` numbers, and calls `work` with each.
    pub fn ranges(&self, count: usize, chunk: usize, work: impl Fn(Range<usize>) + Sync) {
        self.perform_ranges(count, chunk, &work);
    }

    fn perform_ranges(&self, count: usize, chunk: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
        self.run(count.div_ceil(chunk), |part| work(range_at(part, chunk, count)));
    }

    /// Joins what `work` returns for ranges of `chunk` numbers below `count`; `join` must be
    /// associative and commutative.
    pub fn reduce<T: Send + Default>(
        &self,
        count: usize,
        chunk: usize,
        work: impl Fn(Range<usize>) -> T + Sync,
        join: impl Fn(T, T) -> T + Sync,
    ) -> T {
        let all = Mutex::new(T::default());
        self.ranges(count, chunk, |range| {
            let value = work(range);
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            let before = std::mem::take(&mut *all);
            *all = join(before, value);
        });
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns by how many threads sums over `count` values by group are divided: several threads that add to the
    /// sum of one large group wait for its cache line, up to a hundred times as long as an addition takes. So each
    /// has sums of its own, and a few threads suffice; of few values, one takes no longer.
    pub fn adders(&self, count: usize) -> usize {
        self.threads().min(MOST_ADDERS).min(count / LEAST_PER_ADDER).max(1)
    }

    /// Sums up what `work` returns for ranges of `chunk` numbers below `count`.
    pub fn sum(
        &self,
        count: usize,
        chunk: usize,
        work: impl Fn(Range<usize>) -> u64 + Sync,
    ) -> u64 {
        let sum = AtomicU64::new(0);
        self.ranges(count, chunk, |range| _ = sum.fetch_add(work(range), Relaxed));
        sum.into_inner()
    }

    /// Claims parts and does them; returns false if none is left.
    fn claim(&self, side: Side) -> bool {
        let offer = &self.offer.0;
        let mut before = Offer(offer.load(Relaxed));
        let parts = loop {
            let Some((parts, after)) = before.claim(side, self.threads()) else { return false };
            // Acquire: what the leader wrote before the offer is visible.
            match offer.compare_exchange_weak(before.0, after.0, Acquire, Relaxed) {
                Ok(_) => break parts,
                Err(changed) => before = Offer(changed),
            }
        };
        let first = self.first.load(Relaxed);
        // SAFETY: the claimed offer is the latest, as the leader makes no other and does not leave
        // `run` before `done` counts these parts. So its step still exists.
        let step = unsafe { *self.step.load(Relaxed) };
        let count = parts.len();
        for part in parts {
            // A part that panics must count as done, or the leader would wait for it for ever.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| step(first + part))) {
                let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(panic);
            }
        }
        // Release: the leader sees what these parts wrote.
        self.done.0.fetch_add(count, Release);
        true
    }

    /// Does parts until the leader ends the team, or `looks` looks found none.
    fn help(&self, looks: u32) {
        let (mut spins, mut looked) = (0, 0);
        while !self.ended.load(Acquire) && looked < looks {
            if self.claim(Side::Back) {
                (spins, looked) = (0, 0);
            } else {
                looked = looked.saturating_add(u32::from(spins == SPINS));
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

    /// Performs steps of 0 to 12 parts, and checks that each part is done once before the next step.
    fn count(helpers: usize, steps: usize) {
        with_team(helpers, |team| {
            for step in 0..steps {
                let times: Vec<AtomicU32> = (0..step * 7 % 13).map(|_| AtomicU32::new(0)).collect();
                team.run(times.len(), |part| _ = times[part].fetch_add(1, Relaxed));
                assert!(times.iter().all(|times| times.load(Relaxed) == 1));
            }
        });
    }

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn every_part_is_done_once_before_the_next_step() {
        for helpers in [0, 1, 4] {
            pool(helpers + 1).install(|| count(helpers, if cfg!(miri) { 50 } else { 2000 }));
        }
    }

    #[test]
    fn more_parts_than_an_offer_has_are_offered_in_turns() {
        for parts in [MOST_PARTS - 1, MOST_PARTS, MOST_PARTS + 1, 3 * MOST_PARTS + 5] {
            let times: Vec<AtomicU32> = (0..parts).map(|_| AtomicU32::new(0)).collect();
            let step = |part: usize| _ = times[part].fetch_add(1, Relaxed);
            pool(4).install(|| with_whole_pool(|team| team.run(parts, step)));
            assert!(times.iter().all(|times| times.load(Relaxed) == 1), "{parts}");
        }
    }

    #[test]
    fn sums_are_those_of_all_ranges() {
        for (count, chunk) in [(0, 1), (1, 1), (10, 3), (1000, 7), (1000, 1000), (1000, 4096)] {
            let numbers = |range: Range<usize>| range.map(|number| number as u64).sum::<u64>();
            let expected = numbers(0..count);
            pool(3).install(|| {
                with_whole_pool(|team| {
                    assert_eq!(team.sum(count, chunk, numbers), expected);
                    assert_eq!(team.reduce(count, chunk, numbers, |a, b| a + b), expected);
                });
            });
        }
    }

    #[test]
    fn teams_of_busy_threads_do_not_wait_for_one_another() {
        let (teams, steps) = if cfg!(miri) { (6, 20) } else { (40, 50) };
        pool(3).install(|| (0..teams).into_par_iter().for_each(|_| count(2, steps)));
    }

    #[test]
    fn a_panic_of_a_part_reaches_the_leader_after_the_step() {
        for helpers in [0, 2] {
            let done = AtomicU32::new(0);
            let step = |part: usize| {
                assert!(part != 20, "part 20");
                done.fetch_add(1, Relaxed);
            };
            let run = || with_team(helpers, |team| team.run(100, step));
            let panic = pool(3).install(|| catch_unwind(AssertUnwindSafe(run))).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"part 20"));
            assert!(helpers == 0 || done.load(Relaxed) == 99);
        }
    }

    #[test]
    fn helpers_of_a_standing_team_stay_leave_and_come_again() {
        let steps = if cfg!(miri) { 5 } else { 500 };
        for helpers in [0, 1, 3] {
            pool(helpers + 1).install(|| {
                let team = StandingTeam::new(helpers);
                for call in 0..4 {
                    for step in 0..steps {
                        let times: Vec<AtomicU32> =
                            (0..step * 7 % 13).map(|_| AtomicU32::new(0)).collect();
                        let count = |part: usize| _ = times[part].fetch_add(1, Relaxed);
                        team.lead(call != 1, |team| team.run(times.len(), count));
                        assert!(times.iter().all(|times| times.load(Relaxed) == 1));
                    }
                    // At last all leave; those that no thread has begun to be count as here.
                    while helpers > 0 && team.here.load(Relaxed) > 0 {
                        rayon::yield_now();
                    }
                }
            });
        }
    }

    #[test]
    fn a_standing_team_outlives_a_panic_and_busy_threads() {
        pool(2).install(|| {
            (0..4).into_par_iter().for_each(|_| {
                let team = StandingTeam::new(3);
                let panicking = || team.lead(true, |team| team.run(100, |_| panic!("each part")));
                assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
                assert_eq!(team.lead(true, |team| team.sum(100, 1, |_| 1)), 100);
            });
        });
    }

    #[test]
    fn a_team_goes_on_after_a_panic() {
        pool(3).install(|| {
            with_whole_pool(|team| {
                let panicking = || team.run(100, |_| panic!("each part"));
                assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
                assert_eq!(team.sum(100, 1, |_| 1), 100);
            });
        });
    }
}
