//! Workspaces of threads, and tasks over the active set.

use super::LpState;
use crate::cpu::sketch::VoteSketch;
use crate::cpu::tasks;
use crate::cpu::votes::Votes;
use crate::team::CachePadded;
use crate::{Hints, Round, RunError};
use ripplet_graph::{Observer, VertexId};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Workspace of a thread.
pub struct Workspace {
    pub scratch: Scratch,
    pub vertices: Vec<VertexId>,
    /// The counts of this thread's choices in the round, until [`LpState::take_counts`].
    pub counts: Round,
}

/// Scratch for the vertex that is being updated.
pub struct Scratch {
    pub votes: Votes,
    /// The sketch, used instead of `votes` if the counter is one; created for the first vertex.
    pub vote_sketch: Option<VoteSketch>,
    /// The new values of the vertex's written columns, column by column.
    pub draft: Vec<u32>,
}

impl Workspace {
    /// The most vertices of a task; tasks of a phase and of words of the active set observe it.
    pub const VERTICES: usize = 512;

    /// Creates the workspace of a thread for a graph of `vertices` vertices.
    pub fn new(vertices: u32) -> Workspace {
        let scratch = Scratch { votes: Votes::new(vertices), vote_sketch: None, draft: Vec::new() };
        Workspace { scratch, vertices: Vec::new(), counts: Round::default() }
    }

    /// Returns the bytes of a workspace with `votes` bytes of vote counters and drafts of
    /// `draft_len` values.
    pub fn bytes_for(votes: u64, draft_len: u64) -> u64 {
        let vertices = (Self::VERTICES * size_of::<VertexId>()) as u64;
        let draft = draft_len.saturating_mul(size_of::<u32>() as u64);
        votes.saturating_add(vertices).saturating_add(draft)
    }
}

impl<P: Hints> LpState<'_, P> {
    /// Calls `task` with this thread's workspace.
    pub fn with_workspace<T>(&self, task: impl FnOnce(&mut Workspace) -> T) -> T {
        let thread = rayon::current_thread_index().unwrap_or(0);
        // A poisoned workspace may hold a damaged table. It is not used again: the panic ends the
        // run.
        let mut workspace =
            self.workspaces[thread].0.lock().unwrap_or_else(PoisonError::into_inner);
        task(&mut workspace)
    }

    /// Returns the sum of the counts in all workspaces, and sets them to 0.
    pub fn take_counts(&self) -> Round {
        let counts_of = |workspace: &CachePadded<Mutex<Workspace>>| {
            let mut workspace = workspace.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut workspace.counts)
        };
        self.workspaces.iter().map(counts_of).fold(Round::default(), Round::plus)
    }

    /// Calls `act` with ranges of words of the active set, on all threads, and returns the sum of
    /// the counts.
    pub fn for_active_words(
        &self,
        observer: &dyn Observer,
        act: impl Fn(Range<usize>, &mut Workspace) -> Round + Sync,
    ) -> Result<Round, RunError> {
        const WORDS: usize = Workspace::VERTICES / 64;
        let words = self.active.words();
        tasks::sum(words.div_ceil(WORDS), observer, &|task| {
            let part = task * WORDS..(task * WORDS + WORDS).min(words);
            self.with_workspace(|workspace| act(part, workspace))
        })
    }
}
