//! A checkpoint that one rank has, on all ranks.

use crate::{Checkpoint, Round};
use ripplet_graph::Buffer;
use ripplet_ranks::{Comm, CommError};

/// Words of a round in a message: four counts, whether it has a fingerprint, the fingerprint, seconds as bits.
const WORDS: usize = 7;

/// Returns the checkpoint of rank 0 on every rank, all of which call it; those of others are ignored.
///
/// So a folder of checkpoints needs to be on rank 0's machine alone. Memory: the checkpoint, which is not in a
/// mapped file on other ranks, and its arrays as messages, one at a time.
///
/// # Errors
/// If a rank is lost, or memory is refused.
///
/// # Examples
/// ```
/// use ripplet_lp::{Checkpoint, share_checkpoint};
/// use ripplet_ranks::{CommError, Threads};
/// use std::time::Duration;
///
/// let kept = Checkpoint {
///     rounds: Vec::new(),
///     labels: vec![0, 0, 2].into(),
///     active: vec![0b100].into(),
///     columns: Vec::new(),
/// };
/// let shared = Threads::run(2, Duration::from_secs(10), |mut comm| {
///     let own = (comm.rank() == 0).then(|| kept.clone());
///     share_checkpoint(&mut comm, own)
/// });
/// assert_eq!(shared, [Ok(Some(kept.clone())), Ok(Some(kept))]);
/// # Ok::<(), CommError>(())
/// ```
pub fn share_checkpoint(
    comm: &mut Comm,
    own: Option<Checkpoint>,
) -> Result<Option<Checkpoint>, CommError> {
    let columns = own.as_ref().map_or(u64::MAX, |own| own.columns.len() as u64);
    let columns = comm.broadcast("checkpoint", 0, &[columns])?;
    let Some(&columns) = columns.first().filter(|&&columns| columns < u64::MAX) else {
        return Ok(None);
    };
    let rounds: Vec<u64> = own.iter().flat_map(|own| &own.rounds).flat_map(words).collect();
    let rounds = comm.broadcast("rounds", 0, &rounds)?;
    let array = own.as_ref().map_or(&[][..], |own| &own.labels);
    let labels = comm.broadcast("labels", 0, array)?;
    let array = own.as_ref().map_or(&[][..], |own| &own.active);
    let active = comm.broadcast("active vertices", 0, array)?;
    let mut values: Vec<Buffer<u32>> = Vec::new();
    for column in 0..columns as usize {
        let array = own.as_ref().and_then(|own| own.columns.get(column));
        values.push(comm.broadcast("column", 0, array.map_or(&[][..], |own| own))?.into());
    }
    match comm.rank() {
        // Its arrays may lie in a mapped file.
        0 => Ok(own),
        _ => Ok(Some(Checkpoint {
            rounds: rounds.chunks_exact(WORDS).filter_map(round).collect(),
            labels: labels.into(),
            active: active.into(),
            columns: values,
        })),
    }
}

fn words(round: &Round) -> [u64; WORDS] {
    let Round { changed, visited, scanned, nan_scores, fingerprint, seconds } = *round;
    let (has, print) = (u64::from(fingerprint.is_some()), fingerprint.unwrap_or(0));
    [changed, visited, scanned, nan_scores, has, print, seconds.to_bits()]
}

fn round(words: &[u64]) -> Option<Round> {
    let &[changed, visited, scanned, nan_scores, has, print, seconds] = words else { return None };
    let fingerprint = (has > 0).then_some(print);
    let seconds = f64::from_bits(seconds);
    Some(Round { changed, visited, scanned, nan_scores, fingerprint, seconds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_ranks::Threads;
    use std::time::Duration;

    #[test]
    fn every_rank_gets_the_first_ones_checkpoint_and_no_other() {
        let round = |fingerprint, seconds| Round {
            changed: 7,
            visited: 1 << 40,
            scanned: 3,
            nan_scores: 1,
            fingerprint,
            seconds,
        };
        let kept = Checkpoint {
            rounds: vec![round(None, 0.5), round(Some(u64::MAX), 1e-9), round(Some(0), 0.0)],
            labels: vec![0, 0, u32::MAX].into(),
            active: vec![5].into(),
            columns: vec![vec![1, 2, 3].into(), vec![].into(), vec![9; 3].into()],
        };
        let share = |given: &(dyn Fn(usize) -> Option<Checkpoint> + Sync)| {
            Threads::run(3, Duration::from_secs(20), |mut comm| {
                let own = given(comm.rank());
                share_checkpoint(&mut comm, own).unwrap()
            })
        };
        let found = share(&|rank| (rank == 0).then(|| kept.clone()));
        assert!(found.iter().all(|found| found.as_ref() == Some(&kept)), "{found:?}");
        let found = share(&|rank| (rank > 0).then(|| kept.clone()));
        assert_eq!(found, [None, None, None]);
    }
}
