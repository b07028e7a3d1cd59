//! The choice of the labels that a rank has: of all vertices, or ghosts.

use super::label_totals::LabelTotals;
use super::rank_sets::RankSets;
use crate::{LabelTotal, ProgramInfo};

/// The vertices whose labels a rank has in the rounds of a run.
///
/// The labels found are the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankLabels {
    /// [`Ghosts`](RankLabels::Ghosts) if the program allows them and they need fewer bytes of messages by an estimate, else
    /// [`All`](RankLabels::All).
    ///
    /// The estimate is of a run in which each vertex changes its label 1.5 times. With *s* the mean number of other ranks
    /// that have a neighbour of a vertex, of a sample of the vertices, and *n* ranks, a vertex then sends:
    ///
    /// ```text
    /// All      1.5 · update · (n − 1)
    /// Ghosts   1.5 · (update + totals) · s + vertex · (n − 1)
    ///
    /// update   8 bytes, and 4 for each value of a written column
    /// totals   16 bytes if the program has label totals, else 0
    /// vertex   4 bytes, and 4 for each value of a written column
    /// ```
    #[default]
    Auto,
    /// Those of all vertices: each changed label is sent to all ranks.
    All,
    /// Those of its own vertices and of their neighbours, the *ghosts*: a changed label is sent to the ranks that have a
    /// neighbour. At the end, and for checkpoints, all labels are sent to all ranks.
    ///
    /// A program with label totals must promise
    /// [`votes_for_own_label`](crate::Hints::votes_for_own_label).
    Ghosts,
}

/// Vertices of a rank that are sampled to choose.
pub(super) const SAMPLE: usize = 1 << 14;
/// Changes of a vertex in a run, in halves. Measured for `phased`: 1.3 and 1.5 in an `rmat` and a `web` graph
/// (bench/runs/2026-11-27-ranks).
const HALVES_OF_CHANGES: u64 = 3;
/// Bytes of the totals that a change sends, for each rank that has a neighbour: of the label before and after, 8 each.
const TOTALS: u64 = 16;

impl RankLabels {
    /// Returns whether ranks can run the program with [ghosts](RankLabels::Ghosts).
    pub fn has_ghosts(program: &ProgramInfo) -> bool {
        program.label_total == LabelTotal::None || program.votes_for_own_label
    }

    /// Returns whether ghosts need fewer bytes of messages: `subscriptions` are the sum over `sampled` vertices of the other
    /// ranks that have a neighbour.
    pub(super) fn ghosts_send_less(
        program: &ProgramInfo,
        ranks: usize,
        [sampled, subscriptions]: [u64; 2],
    ) -> bool {
        let values = 4 * values_of(program);
        let totals = if program.label_total == LabelTotal::None { 0 } else { TOTALS };
        let to_others = sampled * (ranks as u64 - 1);
        let all = HALVES_OF_CHANGES * (8 + values) * to_others;
        let ghosts = HALVES_OF_CHANGES * (8 + values + totals) * subscriptions
            + 2 * (4 + values) * to_others;
        ghosts < all
    }
}

/// Returns the number of values of a vertex in written columns.
pub(super) fn values_of(program: &ProgramInfo) -> u64 {
    let written = program.columns.iter().filter(|column| column.written);
    written.map(|column| u64::from(column.len)).sum()
}

/// Returns the bytes of what a rank knows of the others, with `own` vertices: of ghosts, the subscribers, and totals.
pub(super) fn bytes_of_ghosts(program: &ProgramInfo, own: u64, ranks: usize) -> u64 {
    let subscribers = 4 * own * RankSets::words_for(ranks) as u64;
    match program.label_total {
        LabelTotal::None => subscribers,
        LabelTotal::Members | LabelTotal::Volume => {
            subscribers + LabelTotals::bytes_for(own, ranks)
        }
    }
}
