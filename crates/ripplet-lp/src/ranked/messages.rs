//! Formats of the messages of label propagation between ranks, and their validation.
//!
//! ```text
//! label update      vertex │ label │ values of written columns …         words of 32 bits
//! own vertices      for each: label │ values of written columns …        words of 32 bits
//! total update      label │ amount │ ranks that read the total …         words of 32 bits
//! frontier update   number of a word of the active set │ its bits        words of 64 bits
//! total             label in the high half, total in the low half        words of 64 bits
//! two kinds         number of records of the first kind │ these │ those of the second kind
//! ```

use crate::ranks::{Parts, Update, WORD};
use crate::{Label, NO_LABEL, RunError};
use ripplet_ranks::CommError;

/// The formats of a run's messages, of which this rank has a part.
pub(super) struct Messages {
    pub parts: Parts,
    /// This rank.
    pub rank: usize,
    /// The number of vertices of the graph.
    pub vertices: u32,
    /// The values of written columns of a vertex.
    pub values: usize,
}

/// Returns the error for a message that the sender cannot have meant.
pub(super) fn foreign<T>(peer: usize, words: &[T]) -> RunError {
    CommError::Foreign { peer, bytes: size_of_val(words) }.into()
}

impl Messages {
    /// Returns no words for each rank.
    pub fn to_each<T: Clone>(&self) -> Vec<Vec<T>> {
        vec![Vec::new(); self.parts.ranks()]
    }

    /// Returns the words of a label update.
    pub fn update_len(&self) -> usize {
        2 + self.values
    }

    /// Packs a label update.
    pub fn put_update(&self, update: &Update, words: &mut Vec<u32>) {
        words.extend([update.vertex, update.label]);
        words.extend(&update.values);
    }

    /// Returns the updates of a message of another rank, which has only its own vertices.
    pub fn updates(&self, peer: usize, words: &[u32]) -> Result<Vec<Update>, RunError> {
        let own = self.parts.of(peer);
        let update = |record: &[u32]| match *record {
            [vertex, label, ref values @ ..] if own.contains(&vertex) && self.is_label(label) => {
                Ok(Update { vertex, label, values: values.to_vec() })
            }
            _ => Err(foreign(peer, words)),
        };
        records(peer, words, self.update_len())?.map(update).collect()
    }

    /// Validates the labels and columns of `count` vertices of another rank.
    pub fn check_vertices(&self, peer: usize, words: &[u32], count: usize) -> Result<(), RunError> {
        let record = 1 + self.values;
        let has_all = words.len() == count * record;
        match has_all && words.iter().step_by(record).all(|&label| self.is_label(label)) {
            true => Ok(()),
            false => Err(foreign(peer, words)),
        }
    }

    /// Returns a message to each rank with the words of the active set that have its vertices. Words ascend.
    pub fn frontier_to_each(&self, activated: Vec<(usize, u64)>) -> Vec<Vec<u64>> {
        let mut to = self.to_each();
        for (number, bits) in activated {
            to[self.parts.owner(number as u32 * WORD)].extend([number as u64, bits]);
        }
        to
    }

    /// Returns the words of the active set in a message, which are of this rank's vertices.
    pub fn frontier(&self, peer: usize, words: &[u64]) -> Result<Vec<(usize, u64)>, RunError> {
        let own = self.parts.of(self.rank);
        let word = |pair: &[u64]| match *pair {
            [number, bits]
                if number < u64::from(self.vertices.div_ceil(WORD))
                    && own.contains(&(number as u32 * WORD)) =>
            {
                Ok((number as usize, bits))
            }
            _ => Err(foreign(peer, words)),
        };
        records(peer, words, 2)?.map(word).collect()
    }

    /// Returns the totals of a message of the labels' owner.
    pub fn totals(&self, peer: usize, words: &[u64]) -> Result<Vec<(Label, u32)>, RunError> {
        let owned = self.parts.of(peer);
        let total = |&word: &u64| {
            let (label, total) = ((word >> 32) as Label, word as u32);
            if owned.contains(&label) { Ok((label, total)) } else { Err(foreign(peer, words)) }
        };
        words.iter().map(total).collect()
    }

    fn is_label(&self, label: Label) -> bool {
        label < self.vertices || label == NO_LABEL
    }
}

/// Packs a total.
pub(super) fn put_total(label: Label, total: u32) -> u64 {
    u64::from(label) << 32 | u64::from(total)
}

/// Yields the records of a message, of `len` words each.
pub(super) fn records<T>(
    peer: usize,
    words: &[T],
    len: usize,
) -> Result<impl Iterator<Item = &[T]>, RunError> {
    let records = words.chunks_exact(len);
    match records.remainder() {
        [] => Ok(records),
        _ => Err(foreign(peer, words)),
    }
}

/// Joins records of two kinds to one message; those of the first kind have `len` words.
pub(super) fn joined<T: Copy + From<u32>>(first: &[T], len: usize, second: &[T]) -> Vec<T> {
    if first.is_empty() && second.is_empty() {
        return Vec::new();
    }
    let count = T::from((first.len() / len) as u32);
    [&[count], first, second].concat()
}

/// Splits a message of records of two kinds.
pub(super) fn split<T: Copy + Into<u64>>(
    peer: usize,
    words: &[T],
    len: usize,
) -> Result<(&[T], &[T]), RunError> {
    let Some((&count, rest)) = words.split_first() else { return Ok((&[], &[])) };
    let first = usize::try_from(count.into()).ok().and_then(|count| count.checked_mul(len));
    first.and_then(|first| rest.split_at_checked(first)).ok_or_else(|| foreign(peer, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(values: usize) -> Messages {
        let parts = Parts::of_bounds(vec![0, 64, 128, 150]).unwrap();
        Messages { parts, rank: 1, vertices: 150, values }
    }

    fn is_foreign<T>(result: Result<T, RunError>) -> bool {
        matches!(result, Err(RunError::Ranks(CommError::Foreign { peer: 2, .. })))
    }

    #[test]
    fn updates_are_read_as_they_were_packed_and_nothing_else_is() {
        let messages = messages(1);
        let update = Update { vertex: 149, label: NO_LABEL, values: vec![7] };
        let mut words = Vec::new();
        messages.put_update(&update, &mut words);
        assert_eq!(messages.updates(2, &words), Ok(vec![update]));
        // A cut record, a vertex of another rank, a label that is none.
        for words in [&[149, 0][..], &[64, 0, 0], &[150, 0, 0], &[149, 150, 0]] {
            assert!(is_foreign(messages.updates(2, words)), "{words:?}");
        }
    }

    #[test]
    fn vertices_are_all_of_a_rank() {
        let messages = messages(1);
        let words: Vec<u32> = (0..22).flat_map(|label| [label, u32::MAX - 1]).collect();
        assert_eq!(messages.check_vertices(2, &words, 22), Ok(()));
        let mut other = words.clone();
        other[4] = 150;
        for words in [&words[..42], &words[..43], &other] {
            assert!(is_foreign(messages.check_vertices(2, words, 22)));
        }
    }

    #[test]
    fn words_of_the_frontier_are_of_the_receiver() {
        let messages = messages(0);
        let to = messages.frontier_to_each(vec![(0, 5), (1, 6), (2, 7)]);
        assert_eq!(to, [[0, 5], [1, 6], [2, 7]]);
        assert_eq!(messages.frontier(2, &to[1]), Ok(vec![(1, 6)]));
        for words in [&[1][..], &[0, 1], &[2, 1], &[3, 1], &[1 << 58, 1]] {
            assert!(is_foreign(messages.frontier(2, words)), "{words:?}");
        }
    }

    #[test]
    fn totals_are_of_their_owner() {
        let messages = messages(0);
        assert_eq!(messages.totals(2, &[put_total(140, u32::MAX)]), Ok(vec![(140, u32::MAX)]));
        assert!(is_foreign(messages.totals(2, &[put_total(140, 1), put_total(100, 1)])));
    }

    #[test]
    fn two_kinds_are_split_as_they_were_joined() {
        assert_eq!(
            split(2, &joined(&[1u32, 2, 3, 4], 2, &[9]), 2),
            Ok((&[1, 2, 3, 4][..], &[9][..]))
        );
        assert_eq!(split::<u64>(2, &joined(&[], 2, &[9]), 2), Ok((&[][..], &[9][..])));
        assert_eq!(split::<u32>(2, &joined(&[], 3, &[]), 3), Ok((&[][..], &[][..])));
        for words in [&[3, 1, 2, 3, 4][..], &[1, 1], &[u64::MAX, 1]] {
            assert!(is_foreign(split(2, words, 2)), "{words:?}");
        }
    }
}
