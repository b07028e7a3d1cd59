//! The state of a run, and the steps of updating one vertex: choose, commit, activate neighbours.
//!
//! | file | contents | used by |
//! |---|---|---|
//! | `mod.rs` | the state, its begin and end | all schedules |
//! | `workspace.rs` | scratch of a thread, tasks over the active set | all schedules |
//! | `choose.rs` | the choice of a vertex | all schedules |
//! | `exact.rs`, `sketched.rs` | the choice by either counter | `choose.rs` |
//! | `commit.rs` | commits, activation of neighbours | all schedules |

mod choose;
mod commit;
mod exact;
mod sketched;
mod workspace;

pub(super) use choose::Choice;
pub(super) use workspace::{Scratch, Workspace};

use super::active::ActiveSet;
use super::totals::Totals;
use crate::columns::Columns;
use crate::counters::Sketch;
use crate::hash::{Clock, Stream};
use crate::ranks::RankTotals;
use crate::rounds::Finished;
use crate::team::CachePadded;
use crate::views::Context;
use crate::{Activation, Hints, Label, Settings, State, Ties, Vertex};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::{Listed, VertexLists};
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{GraphView, VertexId, as_plain};
use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The most labels that are not prefetched: 256 KiB.
const LABELS_IN_CACHE: usize = 1 << 16;

/// State of a run on the CPU.
pub(super) struct LpState<'a, P> {
    pub graph: GraphView<'a>,
    pub program: &'a P,
    pub lists: VertexLists<'a>,
    pub labels: Vec<AtomicU32>,
    pub active: ActiveSet,
    pub columns: Columns,
    pub totals: Totals,
    ties: Ties,
    sketch: Option<Sketch>,
    /// The key that ranks labels in ties, in the current round.
    tie_key: u32,
    seed: u64,
    /// A workspace per thread, so that its lock is never contended.
    workspaces: Vec<CachePadded<Mutex<Workspace>>>,
}

impl<'a, P: Hints> LpState<'a, P> {
    /// Creates the state before the first round: all vertices active with their initial labels, or
    /// the state of the checkpoint.
    pub fn new(
        graph: GraphView<'a>,
        program: &'a P,
        settings: &Settings,
    ) -> Result<Self, OutOfMemory> {
        LpState::with_totals(graph, program, settings, RankTotals::default())
    }

    /// Creates the state like [`LpState::new`], with the label totals of a rank.
    pub fn with_totals(
        graph: GraphView<'a>,
        program: &'a P,
        settings: &Settings,
        totals: RankTotals,
    ) -> Result<Self, OutOfMemory> {
        let resume = settings.resume.as_ref();
        let initial = resume.map(|checkpoint| &*checkpoint.labels).or(settings.initial.as_deref());
        let labels = first_labels(graph.vertices(), initial)?;
        let lists = VertexLists::new(graph);
        let totals = Totals::new(program.label_total(), &lists, &labels, settings.seed, totals)?;
        let specs = if program.has_columns() { program.columns() } else { Vec::new() };
        let kept = resume.map_or(&[][..], |checkpoint| &checkpoint.columns);
        let columns = Columns::new(&specs, &settings.columns, kept, graph.vertices())?;
        let active = match resume {
            Some(checkpoint) => ActiveSet::of(&checkpoint.active)?,
            None => ActiveSet::all(graph.vertices())?,
        };
        Ok(LpState {
            graph,
            program,
            lists,
            labels,
            active,
            columns,
            totals,
            ties: settings.schedule.ties,
            sketch: settings.counter.sketch(),
            tie_key: 0,
            seed: settings.seed,
            workspaces: (0..rayon::current_num_threads())
                .map(|_| CachePadded(Mutex::new(Workspace::new(graph.vertices()))))
                .collect(),
        })
    }

    /// Returns the state with exact counters in place of sketches.
    pub fn with_exact_counter(self) -> Self {
        LpState { sketch: None, ..self }
    }

    /// Begins a round; returns its clock.
    pub fn begin_round(&mut self, round: u32) -> Clock {
        let clock = Clock::new(self.seed, round);
        self.tie_key = clock.key(Stream::Tie as u32);
        clock
    }

    #[inline]
    pub fn label(&self, v: VertexId) -> Label {
        self.labels[v as usize].load(Relaxed)
    }

    #[inline]
    fn vertex<'s>(&self, v: VertexId, context: Context<'s>) -> Vertex<'s> {
        Vertex { id: v, label: self.label(v), context }
    }

    /// Returns the number of threads.
    #[inline]
    pub fn threads(&self) -> usize {
        self.workspaces.len()
    }

    /// Returns when the program wants vertices to be updated again.
    #[inline]
    pub fn activation(&self) -> Activation {
        self.program.activation()
    }

    /// Calls `visit` for each vertex with its index, and prefetches what [`LpState::choose`] reads.
    #[inline]
    pub fn for_each(&self, vertices: &[VertexId], visit: impl FnMut(usize, Listed<'_>)) {
        // A second-level cache holds few labels as they are; of several threads' labels, some are in another one's.
        let in_cache = LABELS_IN_CACHE / self.threads().min(2);
        let labels = (self.labels.len() > in_cache).then_some(&self.labels[..]);
        self.lists.for_each_prefetched(vertices, labels, visit);
    }

    /// Calls `visit` for each vertex with its index, and prefetches what [`LpState::activate_neighbors`]
    /// reads: lists, but rarely labels.
    #[inline]
    pub fn for_each_changed(&self, vertices: &[VertexId], visit: impl FnMut(usize, Listed<'_>)) {
        self.lists.for_each_prefetched(vertices, None::<&[u32]>, visit);
    }

    /// Ends a round: activates all vertices if the program is [`Activation::Always`].
    pub fn end_round(&self) {
        if self.activation() == Activation::Always {
            self.active.insert_all(self.labels.len() as u32);
        }
    }

    /// Returns the state from which a run can resume.
    pub fn state(&mut self) -> State<'_> {
        State {
            labels: Cow::Borrowed(as_plain(&mut self.labels)),
            active: Cow::Borrowed(self.active.state()),
            columns: self.columns.state(),
        }
    }

    /// Returns labels and written columns.
    pub fn finish(self) -> Finished {
        Finished {
            labels: self.labels.into_iter().map(AtomicU32::into_inner).collect(),
            columns: self.columns.into_written(self.program.columns()),
            transfer_seconds: 0.0,
            lists_moved: Vec::new(),
        }
    }
}

/// Returns these labels, or each vertex's own id.
fn first_labels(vertices: u32, initial: Option<&[Label]>) -> Result<Vec<AtomicU32>, OutOfMemory> {
    let mut labels = memory::with_room(vertices as usize)?;
    match initial {
        Some(initial) => {
            labels.par_extend(initial.par_iter().with_min_len(MIN_LEN).map(|&l| AtomicU32::new(l)))
        }
        None => labels
            .par_extend((0..vertices).into_par_iter().with_min_len(MIN_LEN).map(AtomicU32::new)),
    }
    Ok(labels)
}
