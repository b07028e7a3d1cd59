//! Checkpoints of a refinement: its state between two iterations.
//!
//! A state holds the labels, the active vertices, and a column of words:
//!
//! ```text
//! iterations done, step (the clock of draws), arcs read (2 words), resolution (2 words each of a fraction)
//! for each round: its iteration, level, number of vertices
//! ```
//!
//! Words are 32 bits, the lower half of 64 first. Totals follow from the labels; levels, parts and phases
//! exist within an iteration only. So a resumed run has the labels and counts of an uninterrupted one.

use super::RefineRound;
use super::input::Input;
use super::level::READ_PER_TASK;
use super::options::RefineError;
use super::partition::Partition;
use super::ratio::Ratio;
use crate::checkpoint::{Checkpoint, CheckpointError, State};
use crate::team::ThreadTeam;
use crate::{Keeper, Label, Round, RunError};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{VertexId, as_atomic_words};
use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;

/// Words before those of the rounds, and words of a round.
const WORDS: usize = 8;
const ROUND_WORDS: usize = 3;

/// Returns the bytes that a checkpoint takes on the host while it is written, beside the run's: a bit for each
/// vertex and, of a run on a device, copies of its labels and of a byte for each vertex.
pub fn checkpoint_bytes(vertices: u64, is_on_device: bool) -> u64 {
    let copies = if is_on_device { vertices.saturating_mul(4 + 1) } else { 0 };
    vertices.div_ceil(64).saturating_mul(8).saturating_add(copies)
}

/// How far a run is, beside its labels and active vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Progress {
    /// The iterations that are done.
    pub iterations: u32,
    /// The number of rounds and subdivisions.
    pub step: u32,
    pub scanned: u64,
    /// The resolution of the next iteration.
    pub ratio: Option<Ratio>,
    pub rounds: Vec<RefineRound>,
}

impl Progress {
    fn words(&self) -> Vec<u32> {
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let Ratio { num, den } = self.ratio.unwrap_or(Ratio::ONE);
        let mut words = vec![self.iterations, self.step];
        words.extend([self.scanned, num, den].into_iter().flat_map(halves));
        words.extend(
            self.rounds.iter().flat_map(|round| [round.iteration, round.level, round.vertices]),
        );
        words
    }

    fn rounds(&self) -> Vec<Round> {
        self.rounds.iter().map(|round| round.round).collect()
    }

    /// Returns whether a state is due after one of the rounds from `asked` on.
    pub fn is_due(&self, asked: usize, keeper: &mut dyn Keeper) -> bool {
        let rounds = self.rounds();
        (asked + 1..=rounds.len()).any(|count| keeper.is_due(&rounds[..count]))
    }

    /// Passes the state to a keeper.
    pub fn keep(
        &self,
        keeper: &mut dyn Keeper,
        labels: &[Label],
        active: &[u64],
    ) -> Result<(), RunError> {
        let rounds = self.rounds();
        let state = State {
            labels: Cow::Borrowed(labels),
            active: Cow::Borrowed(active),
            columns: vec![Cow::Owned(self.words())],
        };
        let kept = keeper.keep(&rounds, state);
        kept.map_err(|source| RunError::NotKept { rounds: rounds.len(), source })
    }

    /// Reads the progress of a checkpoint, which a run of at most `iterations` iterations resumes.
    pub fn of(
        checkpoint: &Checkpoint,
        input: &Input,
        vertices: u32,
        iterations: u32,
    ) -> Result<Progress, RefineError> {
        let fits = |what, found: usize, wanted: u64| match found as u64 {
            found if found == wanted => Ok(()),
            found => Err(CheckpointError::Misfit { what, found, wanted }),
        };
        let Checkpoint { rounds, labels, active, columns } = checkpoint;
        fits("labels", labels.len(), vertices.into())?;
        fits("words of active vertices", active.len(), State::words(vertices) as u64)?;
        fits("written columns", columns.len(), 1)?;
        let words: &[u32] = &columns[0];
        let wanted = WORDS + ROUND_WORDS * rounds.len();
        fits("words of progress", words.len(), wanted as u64)?;
        if let Some(vertex) = labels.iter().position(|&label| label >= vertices) {
            let label = labels[vertex];
            return Err(CheckpointError::NoSuchLabel { vertex, label }.into());
        }
        let long = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let done = words[0];
        if done == 0 || done >= iterations {
            let (what, found, wanted) = ("iterations, or more", done.into(), iterations.into());
            return Err(CheckpointError::Misfit { what, found, wanted }.into());
        }
        let ratio = Ratio { num: long(4), den: long(6) };
        let objective = input.objective.at(ratio);
        let is_own = input.objective.is_estimated || ratio == input.objective.ratio;
        if ratio.num == 0 || ratio.den == 0 || !is_own {
            let (found, wanted) = (ratio.num, input.objective.ratio.num);
            let what = "as the numerator of its resolution";
            return Err(CheckpointError::Misfit { what, found, wanted }.into());
        }
        objective.check(input.total, vertices.into())?;
        let of_rounds = words[WORDS..].as_chunks::<ROUND_WORDS>().0;
        let rounds = rounds.iter().zip(of_rounds);
        let rounds = rounds.map(|(&round, &[iteration, level, vertices])| RefineRound {
            iteration,
            level,
            vertices,
            round,
        });
        Ok(Progress {
            iterations: done,
            step: words[1],
            scanned: long(2),
            ratio: Some(ratio),
            rounds: rounds.collect(),
        })
    }
}

/// Returns a bit for each vertex, whether it is active.
pub(super) fn active_words(
    team: &ThreadTeam,
    partition: &Partition,
) -> Result<Vec<u64>, OutOfMemory> {
    let vertices = partition.labels.len();
    let mut words = memory::zeros(vertices.div_ceil(64))?;
    let to = as_atomic_words(&mut words);
    team.ranges(to.len(), READ_PER_TASK / 64, |range| {
        for word in range {
            let of_word = (64 * word..vertices).take(64).enumerate();
            let bits = of_word.map(|(bit, v)| u64::from(partition.is_active(v as VertexId)) << bit);
            to[word].store(bits.sum(), Relaxed);
        }
    });
    Ok(words)
}

/// Activates the vertices of a checkpoint, and no others.
pub(super) fn activate(partition: &Partition, words: &[u64]) {
    for v in 0..partition.labels.len() {
        partition.set_active(v as VertexId, words[v / 64] >> (v % 64) & 1 == 1);
    }
}
