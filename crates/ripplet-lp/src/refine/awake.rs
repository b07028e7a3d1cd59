//! Threads that stay awake between short parallel loops.
//!
//! A run has thousands of parallel loops of some ten microseconds. A thread of the pool that finds
//! no work goes to sleep, which takes as long to undo as such a loop. Here, the threads look for
//! work until the run is over; they yield to other processes meanwhile.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Calls `work`, which starts parallel loops, on this thread, while the other threads of rayon's
/// current pool stay awake.
pub(super) fn with_threads_awake<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let own = rayon::current_thread_index();
    // Outside of a pool, `work` has no thread of its own.
    if own.is_none() || rayon::current_num_threads() == 1 {
        return work();
    }
    let over = AtomicBool::new(false);
    let over = &over;
    rayon::in_place_scope(|scope| {
        scope.spawn_broadcast(move |_, context| {
            // Looking for work here, this thread would not return to its own.
            while Some(context.index()) != own && !over.load(Relaxed) {
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    std::thread::yield_now();
                }
            }
        });
        // The others must leave the loop also if `work` panics.
        let _over = SetOnDrop(over);
        work()
    })
}

/// Sets a flag at the end of its scope.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
