//! The choice of the labels that a rank has: of all vertices, or ghosts.

use super::label_totals::LabelTotals;
use super::rank_sets::RankSets;
use crate::schedules::largest_phase;
use crate::stop::DEFAULT_ROUNDS;
use crate::{Activation, LabelTotal, ProgramInfo, Settings};
use std::str::FromStr;
use thiserror::Error;

/// The vertices whose labels a rank has in the rounds of a run.
///
/// The labels found are the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankLabels {
    /// [`Ghosts`](RankLabels::Ghosts) if the program allows them and they need fewer bytes of messages by an estimate, else
    /// [`All`](RankLabels::All).
    ///
    /// With *n* ranks, and *s* the mean number of other ranks that have a neighbour of a vertex, of a sample of the vertices
    /// with neighbours, a vertex sends:
    ///
    /// ```text
    /// All      changes · update · (n − 1) + degree · (n − 1)
    /// Ghosts   changes · (update + totals) · s + end
    ///
    /// changes  1.5; of a program that is always active, the limit on rounds
    /// update   8 bytes, and 4 for each value of a written column
    /// degree   4 bytes if the label totals are volumes, else 0
    /// totals   24 bytes if the program has label totals, else 0
    /// end      4 bytes, to rank 0; if communities are not split or columns are written, (n − 1) · (4 bytes, and 4 per value)
    /// ```
    #[default]
    Auto,
    /// The labels of all vertices: each changed label is sent to all ranks.
    All,
    /// The labels of its own vertices and of their neighbours, the *ghosts*: a changed label is sent to the ranks that have a
    /// neighbour. At the end, and for checkpoints, all labels are sent to all ranks.
    ///
    /// A program with label totals must promise
    /// [`votes_for_own_label`](crate::Hints::votes_for_own_label).
    Ghosts,
}

/// Vertices of a rank that are sampled to choose.
pub(super) const SAMPLE: usize = 1 << 14;
/// Changes of a vertex in a run, in halves. Measured for `lpa` with phases: 1.2 to 1.7 in four graphs
/// (bench/runs/2026-11-29-2-cores/ghosts-messages.txt).
const HALVES_OF_CHANGES: u64 = 3;
/// Bytes of the totals of a change, for each rank that has a neighbour. Measured in the same runs: 11 to 23.
const TOTALS: u64 = 24;

/// A text that is no [`RankLabels`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected auto, all or ghosts, not {0}")]
pub struct BadRankLabels(String);

impl FromStr for RankLabels {
    type Err = BadRankLabels;

    fn from_str(text: &str) -> Result<RankLabels, BadRankLabels> {
        let all = [RankLabels::Auto, RankLabels::All, RankLabels::Ghosts];
        let found = all.into_iter().find(|labels| labels.name() == text);
        found.ok_or_else(|| BadRankLabels(text.into()))
    }
}

impl RankLabels {
    /// Returns the name: `auto`, `all` or `ghosts`.
    pub fn name(self) -> &'static str {
        match self {
            RankLabels::Auto => "auto",
            RankLabels::All => "all",
            RankLabels::Ghosts => "ghosts",
        }
    }

    /// Returns whether ranks can run the program with [ghosts](RankLabels::Ghosts).
    pub fn has_ghosts(program: &ProgramInfo) -> bool {
        program.label_total == LabelTotal::None || program.votes_for_own_label
    }

    /// Returns whether ghosts need fewer bytes of messages by the estimate of [`RankLabels::Auto`]: `subscriptions` are the
    /// sum over `sampled` vertices of the other ranks that have a neighbour.
    pub(super) fn ghosts_send_less(
        program: &ProgramInfo,
        settings: &Settings,
        ranks: usize,
        [sampled, subscriptions]: [u64; 2],
    ) -> bool {
        let values = 4 * values_of(program);
        let (totals, degree) = match program.label_total {
            LabelTotal::None => (0, 0),
            LabelTotal::Members => (TOTALS, 0),
            LabelTotal::Volume => (TOTALS, 4),
        };
        let halves = match program.activation {
            Activation::Always => {
                2 * u64::from(settings.stop.max_rounds().unwrap_or(DEFAULT_ROUNDS))
            }
            Activation::Disagreement | Activation::Change => HALVES_OF_CHANGES,
        };
        let (update, others) = (8 + values, ranks as u64 - 1);
        let end = if ends_at_first(program, settings) { 4 } else { (4 + values) * others };
        let all = (halves * update + 2 * degree) * others * sampled;
        let ghosts = halves * (update + totals) * subscriptions + 2 * end * sampled;
        ghosts < all
    }
}

/// Returns whether the labels of all vertices are needed on rank 0 alone at the end: it splits communities, and sends the
/// labels to all. Columns are not sent again.
pub(super) fn ends_at_first(program: &ProgramInfo, settings: &Settings) -> bool {
    !settings.keep_disconnected && values_of(program) == 0
}

/// Returns the number of values of a vertex in written columns.
pub(super) fn values_of(program: &ProgramInfo) -> u64 {
    let written = program.columns.iter().filter(|column| column.written);
    written.map(|column| u64::from(column.len)).sum()
}

/// Returns the bytes of the label updates of a phase: as values, as a message that is sent, and as one that is received.
pub(super) fn bytes_of_updates(program: &ProgramInfo, vertices: u64, phases: u32) -> u64 {
    largest_phase(vertices, phases).saturating_mul(3 * (8 + 4 * values_of(program)))
}

/// Returns the bytes of what a rank with ghosts knows of the others, and of its messages, by the neighbours of a
/// [sample](RankSets::sampled) of its `own` vertices.
pub(super) fn bytes_of_ghosts(
    program: &ProgramInfo,
    [vertices, own]: [u64; 2],
    phases: u32,
    ranks: usize,
    [sampled, subscriptions]: [u64; 2],
) -> [u64; 2] {
    let others = subscriptions.div_ceil(sampled.max(1));
    let subscribers = 4 * own * RankSets::words_for(ranks) as u64;
    let sent = bytes_of_updates(program, own, phases).saturating_mul(others);
    let messages = sent.saturating_add(bytes_of_updates(program, vertices, phases));
    match program.label_total {
        LabelTotal::None => [subscribers, messages],
        LabelTotal::Members | LabelTotal::Volume => {
            let first = LabelTotals::bytes_of_first_messages(own, ranks, others);
            [subscribers + LabelTotals::bytes_for(own, ranks), messages.max(first)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::{Guard, Lpa, Slpa};

    #[test]
    fn ghosts_are_chosen_where_few_ranks_have_neighbours_of_a_vertex() {
        let guarded = ProgramInfo::of(&Lpa::default());
        let plain = ProgramInfo::of(&Lpa::new(Guard::OFF));
        let slpa = ProgramInfo::of(&Slpa::default());
        let split = Settings::default();
        let kept = Settings { keep_disconnected: true, ..Settings::default() };
        let chosen = |program, settings, ranks, subscriptions| {
            RankLabels::ghosts_send_less(program, settings, ranks, [100, subscriptions])
        };
        // All neighbours on all ranks.
        assert!(!chosen(&plain, &split, 8, 700) && !chosen(&guarded, &split, 32, 3100));
        assert!(!chosen(&slpa, &split, 8, 700));
        assert!(chosen(&plain, &split, 8, 600) && !chosen(&plain, &kept, 8, 600));
        assert!(chosen(&guarded, &split, 8, 200) && !chosen(&guarded, &split, 8, 300));
        assert!(chosen(&slpa, &kept, 8, 600));
    }
}
