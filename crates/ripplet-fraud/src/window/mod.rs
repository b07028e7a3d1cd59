//! The graph of a range of time, and how it slides.
//!
//! Days are kept as sorted runs ([`Run`]). When the window slides, the runs that come and those that go are made one
//! list of changes ([`Delta`]), by which the adjacency is merged to the next: one pass, in which all lists that
//! nobody changed are copied in stretches, and in changed lists what lies between two changes. Nothing is sorted, and
//! nothing is numbered again, since vertices are the same in all windows.
//!
//! ```text
//! window, 30 days  ─┐
//! runs that come   ─┼▶ merged ─▶ window, a day later        (the arrays of the window before the last are
//! runs that go     ─┘                                        written again)
//! ```
//!
//! The graph is that of a rebuild from the same transactions, array by array: counts and amounts are integers, and
//! what they weigh is asked of their sums. Weights that age ([`Weighing::ages`]) are asked again of every day that is
//! in the window, and added up as integers, so they too are those of a rebuild; that takes a look at every arc of
//! every day.
//!
//! Memory: two windows' arrays (8 bytes an arc and 4 a vertex where edges weigh their count, 20 otherwise), the runs
//! of the days in it, and the changes.

mod merge;

pub use merge::{Merged, Sums};

use crate::days::{Delta, Run};
use crate::weights::{BadWeight, Weighing};
use crate::{Span, TimeRange, Timestamp};
use ripplet_graph::{Graph, InvalidGraph, OutOfMemory, VertexId};
use std::collections::VecDeque;
use std::sync::Arc;
use thiserror::Error;

/// A window: the transactions of a range of time as a graph.
///
/// The graph is undirected and weighted, and has all entities that were seen so far as vertices; who is in no
/// transaction of the window has no arcs.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Which of the run's windows it is, from 0.
    pub index: u32,
    /// The range of time.
    pub range: TimeRange,
    /// Who dealt with whom, and how much that weighs.
    pub graph: Graph,
    /// How many transactions there are in it.
    pub transactions: u64,
}

/// Days that a window may have.
pub const MOST_DAYS: i64 = 4096;

/// How long windows are, and by how much they slide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    length: Span,
    slide: Span,
    growing: bool,
}

/// Windows that cannot be.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ShapeError {
    /// There would be gaps.
    #[error(
        "a slide of {slide} is longer than the window of {length}: transactions between would be in none"
    )]
    Gaps {
        /// How long they are.
        length: Span,
        /// By how much they slide.
        slide: Span,
    },
    /// There would be very many runs.
    #[error(
        "a window of {length} that slides by {slide} is made of {days} runs of {unit}, and {MOST_DAYS} are the most: \
         choose a longer slide"
    )]
    TooFine {
        /// How long they are.
        length: Span,
        /// By how much they slide.
        slide: Span,
        /// What both, and a day, are multiples of.
        unit: Span,
        /// How many of these.
        days: i64,
    },
}

impl Shape {
    /// Windows of a length that slide by another; both are multiples of a unit, a day or whatever it is.
    ///
    /// # Errors
    /// Where slides are longer than windows, or would be made of too many units.
    pub fn new(length: Span, slide: Span) -> Result<Shape, ShapeError> {
        if slide > length {
            return Err(ShapeError::Gaps { length, slide });
        }
        let unit = unit_of(length, slide);
        let days = length.over(unit);
        if days > MOST_DAYS {
            return Err(ShapeError::TooFine { length, slide, unit, days });
        }
        Ok(Shape { length, slide, growing: false })
    }

    /// The same, where the first window ends a slide after the first transaction's day begins, and windows grow until
    /// they are as long as they should be. Otherwise the first is as long as all.
    #[must_use]
    pub fn growing(self) -> Shape {
        Shape { growing: true, ..self }
    }

    /// Whether the first windows are shorter than the others.
    pub fn is_growing(self) -> bool {
        self.growing
    }

    /// How long windows are.
    pub fn length(self) -> Span {
        self.length
    }

    /// By how much they slide.
    pub fn slide(self) -> Span {
        self.slide
    }

    /// The unit of which both are multiples, and runs are made: a day, where that is one.
    pub fn unit(self) -> Span {
        unit_of(self.length, self.slide)
    }
}

/// A day, or the longest span of which a day and both are multiples, so that windows begin with the day of the first
/// transaction.
fn unit_of(length: Span, slide: Span) -> Span {
    length.common(slide).common(Span::DAY)
}

/// A window that cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WindowError {
    /// An edge's weight cannot be stored.
    #[error("the weight of the edge between vertices {source_vertex} and {target_vertex} {bad}")]
    Weight {
        /// One end.
        source_vertex: VertexId,
        /// The other.
        target_vertex: VertexId,
        /// Why.
        bad: BadWeight,
    },
    /// A pair has more transactions than 32 bits count.
    #[error("vertices {0} and {1} have more than 2³² transactions in the window")]
    Count(VertexId, VertexId),
    /// There are too many pairs.
    #[error("the window has {0} arcs, and 2³¹ are the most: choose a shorter window")]
    TooLarge(u64),
    /// What was taken away was never there: a mistake of this library's.
    #[error("a day was taken away that is not in the window, at vertices {0} and {1}")]
    NotThere(VertexId, VertexId),
    /// The arrays are no graph: a mistake of this library's.
    #[error(transparent)]
    Graph(#[from] InvalidGraph),
    /// Memory was refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// More memory would be needed than is allowed.
    #[error(
        "the window that ends {end} needs {needed} bytes with all that is kept, and {allowed} are allowed: choose a \
         shorter window, or allow more memory"
    )]
    Memory {
        /// The window's end.
        end: Timestamp,
        /// What it needs.
        needed: u64,
        /// What is allowed.
        allowed: u64,
    },
}

/// Which vertices' lists changed from a window to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// These, ascending.
    Some(Vec<VertexId>),
    /// All that have any.
    All,
}

/// The days of a stream of transactions, and the window over the last of them.
#[derive(Debug)]
pub struct Sliding {
    shape: Shape,
    sums: Sums,
    /// The days of the window, and those behind its end, one after the other.
    days: VecDeque<(i64, Run)>,
    /// The unit with which the next window ends; none before there is a day.
    next_end: Option<i64>,
    /// The unit with which the last window ended.
    last_end: Option<i64>,
    window: Option<Window>,
    /// Arrays to write again.
    spare: merge::Arrays,
    windows: u32,
    transactions: u64,
    from_scratch: bool,
    allowed: Option<u64>,
}

impl Sliding {
    /// No days yet.
    pub fn new(shape: Shape, weighing: impl Into<Arc<Weighing>>, unit_value: f64) -> Sliding {
        Sliding {
            shape,
            sums: Sums::new(weighing.into(), unit_value),
            days: VecDeque::new(),
            next_end: None,
            last_end: None,
            window: None,
            spare: merge::Arrays::default(),
            windows: 0,
            transactions: 0,
            from_scratch: false,
            allowed: None,
        }
    }

    /// Rebuilds each window of its days, instead of merging: for who wants to compare.
    #[must_use]
    pub fn from_scratch(self) -> Sliding {
        Sliding { from_scratch: true, ..self }
    }

    /// Refuses windows that would make all that is kept here occupy more.
    #[must_use]
    pub fn within(self, bytes: u64) -> Sliding {
        Sliding { allowed: Some(bytes), ..self }
    }

    /// Adds the day after the last; whether a window ends with it.
    ///
    /// Days are whole: the first is where time begins, and each is the one after the last, even if nothing happened.
    pub fn push(&mut self, unit: i64, run: Run) -> bool {
        let (length, slide) = self.in_units();
        let first = unit + if self.shape.growing { slide } else { length };
        let next_end = *self.next_end.get_or_insert(first);
        self.days.push_back((unit, run));
        unit + 1 == next_end
    }

    /// Length and slide of windows, in units.
    fn in_units(&self) -> (i64, i64) {
        let unit = self.shape.unit();
        (self.shape.length.over(unit), self.shape.slide.over(unit))
    }

    /// How many windows there were, those passed over among them.
    pub fn windows(&self) -> u32 {
        self.windows
    }

    /// Transactions of days behind the last window.
    pub fn behind(&self) -> u64 {
        let last_end = self.last_end.unwrap_or(i64::MIN);
        let behind = self.days.iter().filter(|(unit, _)| *unit >= last_end);
        behind.map(|(_, run)| run.transactions).sum()
    }

    /// Whether there are days behind the last window.
    pub fn has_more(&self) -> bool {
        self.days.back().is_some_and(|(unit, _)| self.last_end.is_none_or(|end| *unit >= end))
    }

    /// The window that ends with the last day, over the vertices `0..vertices`; and whose lists are other than in the
    /// window before it.
    ///
    /// # Errors
    /// Where a weight cannot be stored, or the window is too large. What was the window is lost then.
    pub fn slide(&mut self, vertices: u32) -> Result<(&Window, Changed), WindowError> {
        let (length, slide) = self.in_units();
        let end = self.days.back().map_or(0, |(unit, _)| unit + 1);
        let begin = end - length;
        let last_end = self.last_end.unwrap_or(i64::MIN);
        let (mut added, mut removed, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (unit, run) in &self.days {
            if *unit < begin {
                // A day that came and went without a window over it is neither.
                if *unit < last_end {
                    removed.push(run);
                }
                continue;
            }
            kept.push((end - 1 - unit, run));
            if *unit >= last_end {
                added.push(run);
            }
        }
        // Also where the window before was passed over.
        if self.from_scratch || self.window.is_none() {
            self.window = None;
            self.transactions = 0;
            added = kept.iter().map(|(_, run)| *run).collect();
            removed.clear();
        }
        let delta = Delta::of(&added, &removed, self.sums.needs_amounts())?;
        let last = self.window.take().map(|window| window.graph);
        if let Some(allowed) = self.allowed {
            let arcs = delta.neighbors.len() as u64 + last.as_ref().map_or(0, Graph::arcs);
            let runs: u64 = self.days.iter().map(|(_, run)| run.bytes()).sum();
            let needed = runs + delta.bytes() + 2 * self.sums.bytes_for(vertices, arcs);
            if needed > allowed {
                let end = self.instant(end);
                return Err(WindowError::Memory { end, needed, allowed });
            }
        }
        let unit_days = self.shape.unit().days() as f32;
        let aged: Vec<(f32, &Run)> =
            kept.iter().map(|(age, run)| (*age as f32 * unit_days, *run)).collect();
        let anew = last.is_none();
        let Merged { graph, changed } =
            self.sums.merged(last, &mut self.spare, &delta, &aged, vertices)?;
        self.transactions = self.transactions.wrapping_add_signed(delta.transactions);
        // Those of the window are needed once more, to be taken away.
        while self.days.front().is_some_and(|(unit, _)| *unit < begin) {
            self.days.pop_front();
        }
        (self.last_end, self.next_end) = (Some(end), Some(end + slide));
        let range = TimeRange::new(self.instant(begin), self.instant(end));
        let index = self.windows;
        self.windows += 1;
        let window = Window { index, range, graph, transactions: self.transactions };
        let changed = if anew { Changed::All } else { changed };
        Ok((self.window.insert(window), changed))
    }

    /// Passes over the window that ends with the last day, without making it.
    pub fn pass(&mut self) {
        let (length, slide) = self.in_units();
        let end = self.days.back().map_or(0, |(unit, _)| unit + 1);
        while self.days.front().is_some_and(|(unit, _)| *unit < end - length) {
            self.days.pop_front();
        }
        self.window = None;
        self.windows += 1;
        (self.last_end, self.next_end) = (Some(end), Some(end + slide));
    }

    /// The range of the window that ends with the last day.
    pub fn range(&self) -> TimeRange {
        let (length, _) = self.in_units();
        let end = self.days.back().map_or(0, |(unit, _)| unit + 1);
        TimeRange::new(self.instant(end - length), self.instant(end))
    }

    /// Where a unit begins.
    fn instant(&self, unit: i64) -> Timestamp {
        Timestamp(unit.saturating_mul(self.shape.unit().micros()))
    }

    /// The graph of the last window with the number of transactions in place of weights; none where these are the
    /// weights.
    ///
    /// # Errors
    /// Where memory is refused.
    pub fn counted(&self) -> Result<Option<Graph>, WindowError> {
        self.window.as_ref().map_or(Ok(None), |window| self.sums.counted(&window.graph))
    }

    /// The last window.
    pub fn window(&self) -> Option<&Window> {
        self.window.as_ref()
    }

    /// The days of the last window, with the instants where they begin.
    pub fn days(&self) -> impl Iterator<Item = (Timestamp, &Run)> {
        let (length, _) = self.in_units();
        let end = self.last_end.unwrap_or(i64::MIN);
        let within = self.days.iter().filter(move |(unit, _)| *unit < end && *unit >= end - length);
        within.map(|(unit, run)| (self.instant(*unit), run))
    }

    /// Bytes that days and windows occupy now.
    pub fn bytes(&self) -> u64 {
        let runs: u64 = self.days.iter().map(|(_, run)| run.bytes()).sum();
        let graph = self.window.as_ref().map_or(0, |window| window.graph.bytes());
        runs + graph + self.spare.bytes() + self.sums.bytes()
    }
}
