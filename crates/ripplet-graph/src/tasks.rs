//! Parallel loops whose bodies are called by reference.
//!
//! rayon compiles a loop anew for each closure, to some 1,700 lines of LLVM's intermediate code. Code that is generic
//! over storages or programs has a copy for each of them, and takes long to build. A call by reference costs nothing
//! beside a task of hundreds of vertices.

use rayon::prelude::*;

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
    let chunks = items.par_chunks_mut(size.max(1)).enumerate();
    chunks.try_for_each(|(chunk, items)| task(chunk * size, items))
}

/// Performs two tasks, at the same time if a thread of rayon's current pool is idle.
pub fn join(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    rayon::join(a, b);
}
