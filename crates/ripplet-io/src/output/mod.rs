//! Basis of all writers: atomic files, parallel blocks, and the text of ids and weights.

pub(crate) mod arcs;
mod atomic_file;
mod destination;
mod folder;
mod opened;
pub(crate) mod text;

pub use atomic_file::{
    AtomicFile, OutputsStopped, SyncedTogether, UnfinishedPaths, left_in, remove_unfinished,
    try_remove_unfinished,
};
pub use destination::Destination;
pub use opened::{check_destination, whole_file};

pub(crate) use folder::PartsFolder;
pub(crate) use opened::Output;

use ripplet_graph::tasks;
use std::io;

/// Builds the blocks `0..count` in parallel and passes them to `take` in order, while the next ones are
/// built.
pub(crate) fn in_order<T: Send>(
    count: usize,
    make: impl Fn(usize) -> io::Result<T> + Sync,
    mut take: impl FnMut(T) -> io::Result<()> + Send,
) -> io::Result<()> {
    in_order_dyn(count, &make, &mut take)
}

/// [`in_order`], compiled once for each type of blocks.
fn in_order_dyn<T: Send>(
    count: usize,
    make: &(dyn Fn(usize) -> io::Result<T> + Sync),
    take: &mut (dyn FnMut(T) -> io::Result<()> + Send),
) -> io::Result<()> {
    let chunk = 2 * rayon::current_num_threads();
    let made = |from: usize| -> Vec<io::Result<T>> {
        tasks::map(count.min(from + chunk) - from, |at| make(from + at))
    };
    let (mut ready, mut next) = (made(0), chunk.min(count));
    while !ready.is_empty() {
        let take_all = || ready.into_iter().try_for_each(|block| take(block?));
        let (taken, following) = tasks::join(take_all, || made(next));
        taken?;
        (ready, next) = (following, count.min(next + chunk));
    }
    Ok(())
}

/// Creates an error of the caller or the user, as a sentence.
pub(crate) fn refused(sentence: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, sentence.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_arrive_in_order_and_stop_at_the_first_error() {
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for count in [0, 1, 5, 100] {
                let mut taken = Vec::new();
                let push = |block| {
                    taken.push(block);
                    Ok(())
                };
                pool.install(|| in_order(count, Ok, push)).unwrap();
                assert_eq!(taken, (0..count).collect::<Vec<_>>());
            }
            let fail = |block| if block == 40 { Err(refused("no")) } else { Ok(block) };
            let mut taken = 0;
            let count = |_| {
                taken += 1;
                Ok(())
            };
            assert!(pool.install(|| in_order(100, fail, count)).is_err());
            assert_eq!(taken, 40);
        }
    }
}
