//! Parallel loops whose bodies are called by reference.
//!
//! rayon compiles a loop anew for each closure, to some 1,700 lines of LLVM's intermediate code. Code that is generic
//! over storages or programs has a copy for each of them, and takes long to build. A call by reference costs nothing
//! beside a task of hundreds of vertices.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The fewest items that a thread takes in a loop of a few instructions for each: to wake another thread for fewer takes
/// longer than the loop.
pub const MIN_LEN: usize = 1 << 12;

/// Performs the tasks `0..count` on all threads of rayon's current pool.
///
/// # Examples
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// let sum = AtomicU64::new(0);
/// ripplet_graph::tasks::for_each(10, &|task| _ = sum.fetch_add(task as u64, Relaxed));
/// assert_eq!(sum.into_inner(), 45);
/// ```
pub fn for_each(count: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(task);
}

/// Returns what the tasks `0..count` return, in their order; they are performed on all threads of rayon's current pool.
///
/// Memory: a lock beside each result, so that few tasks with large results are best.
pub fn map<T: Send>(count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each(count, &|at| {
        let result = task(at);
        *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let result =
        |result: Mutex<Option<T>>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().filter_map(result).collect()
}

/// Performs the tasks `0..count` on all threads of rayon's current pool, one at a time each. After an error, no more
/// begin.
///
/// # Errors
/// One of the errors of the tasks.
pub fn try_for_each<E: Send>(
    count: usize,
    task: &(dyn Fn(usize) -> Result<(), E> + Sync),
) -> Result<(), E> {
    (0..count).into_par_iter().with_max_len(1).try_for_each(task)
}

/// Returns the range at a place, of those of `size` numbers that the numbers below `count` are divided into; the last one
/// may be shorter.
///
/// # Examples
/// ```
/// use ripplet_graph::tasks::range_at;
///
/// assert_eq!([range_at(0, 4, 6), range_at(1, 4, 6), range_at(2, 4, 6)], [0..4, 4..6, 6..6]);
/// ```
pub fn range_at(place: usize, size: usize, count: usize) -> Range<usize> {
    let first = place.saturating_mul(size).min(count);
    first..first.saturating_add(size).min(count)
}

/// Performs a task on each range of `size` numbers below `count` ([`range_at`]), on all threads of rayon's current pool.
pub fn for_each_range(count: usize, size: usize, task: &(dyn Fn(Range<usize>) + Sync)) {
    let size = size.max(1);
    for_each(count.div_ceil(size), &|place| task(range_at(place, size, count)));
}

/// Performs a task on each range of `size` numbers below `count` ([`range_at`]), as [`try_for_each`] does.
///
/// # Errors
/// One of the errors of the tasks.
pub fn try_for_each_range<E: Send>(
    count: usize,
    size: usize,
    task: &(dyn Fn(Range<usize>) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let size = size.max(1);
    try_for_each(count.div_ceil(size), &|place| task(range_at(place, size, count)))
}

/// A task on a chunk of an array: receives the place of the chunk's first item, and the chunk.
pub type ChunkTask<'t, T, E> = dyn Fn(usize, &mut [T]) -> Result<(), E> + Sync + 't;

/// Performs a task on each chunk of `size` items, the last one of which may have fewer, on all threads of rayon's
/// current pool. After an error, no more begin.
///
/// # Errors
/// One of the errors of the tasks.
pub fn try_for_each_chunk<T: Send, E: Send>(
    items: &mut [T],
    size: usize,
    task: &ChunkTask<'_, T, E>,
) -> Result<(), E> {
    let size = size.max(1);
    let chunks = items.par_chunks_mut(size).enumerate();
    chunks.try_for_each(|(chunk, items)| task(chunk * size, items))
}

/// Performs two tasks, at the same time if a thread of rayon's current pool is idle; returns both results.
pub fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut of_a, mut of_b) = (None, None);
    join_dyn(&mut || of_a = a.take().map(|a| a()), &mut || of_b = b.take().map(|b| b()));
    match (of_a, of_b) {
        (Some(of_a), Some(of_b)) => (of_a, of_b),
        _ => unreachable!("both are performed once"),
    }
}

/// [`join`], compiled once for all tasks.
fn join_dyn(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    rayon::join(a, b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn every_task_is_performed_once() {
        let times: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
        for_each(times.len(), &|task| _ = times[task].fetch_add(1, Relaxed));
        try_for_each(times.len(), &|task| {
            times[task].fetch_add(1, Relaxed);
            Ok::<_, ()>(())
        })
        .unwrap();
        assert!(times.iter().all(|times| times.load(Relaxed) == 2));
    }

    #[test]
    fn results_are_in_the_order_of_the_tasks() {
        let squares = map(50, |task| task * task);
        assert_eq!(squares, (0..50).map(|task| task * task).collect::<Vec<_>>());
        assert!(map(0, |task| task).is_empty());
    }

    #[test]
    fn chunks_receive_their_place() {
        for (length, size) in [(0, 3), (7, 3), (9, 3), (2, 3), (5, 0)] {
            let mut items = vec![usize::MAX; length];
            let fill = |first: usize, items: &mut [usize]| {
                assert!((1..=size.max(1)).contains(&items.len()));
                items.iter_mut().zip(first..).for_each(|(item, place)| *item = place);
                Ok::<_, ()>(())
            };
            try_for_each_chunk(&mut items, size, &fill).unwrap();
            assert_eq!(items, (0..length).collect::<Vec<_>>());
        }
    }

    #[test]
    fn ranges_cover_every_number_once() {
        for (count, size) in [(0, 3), (7, 3), (9, 3), (2, 3), (5, 0), (3, usize::MAX)] {
            let times: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let note = |range: Range<usize>| {
                assert!((1..=size.max(1)).contains(&range.len()));
                range.for_each(|at| _ = times[at].fetch_add(1, Relaxed));
            };
            for_each_range(count, size, &note);
            try_for_each_range(count, size, &|range| {
                note(range);
                Ok::<_, ()>(())
            })
            .unwrap();
            assert!(times.iter().all(|times| times.load(Relaxed) == 2), "{count} by {size}");
        }
    }

    #[test]
    fn an_error_of_a_task_is_returned() {
        let fail = |at: usize| if at == 5 { Err(at) } else { Ok(()) };
        assert_eq!(try_for_each(8, &fail), Err(5));
        assert_eq!(try_for_each_range(8, 1, &|range| fail(range.start)), Err(5));
        assert_eq!(try_for_each_chunk(&mut [0; 8], 1, &|at, _: &mut [i32]| fail(at)), Err(5));
    }

    #[test]
    fn both_sides_of_a_join_are_performed() {
        let text = "moved".to_owned();
        assert_eq!(join(move || text, || 2), ("moved".to_owned(), 2));
    }
}
