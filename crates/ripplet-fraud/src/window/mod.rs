//! Sliding window: the graph of a range of time, updated from window to window.
//!
//! Days are kept as sorted runs ([`DayAdjacency`]). When the window slides, the days that enter and those
//! that leave become one list of changes ([`Delta`]), which is merged into the adjacency. The merge is one
//! pass: it copies unchanged lists in long ranges, and of changed lists the parts between two changes. It
//! sorts and renumbers nothing, since vertices are the same in all windows.
//!
//! ```text
//! window, 30 days  ─┐
//! days that enter  ─┼▶ merged ─▶ window, a day later        (reuses the arrays of the window before the last)
//! days that leave  ─┘
//! ```
//!
//! The graph equals that of a rebuild from the same transactions, array by array: counts and amounts are integers,
//! and weights are evaluated on their sums. Weights that age ([`WeightFunction::ages`]) are evaluated anew on
//! every day in the window and added up as integers, so they too equal those of a rebuild. That takes a pass
//! over every arc of every day.
//!
//! Memory: two windows' arrays (8 bytes per arc and 4 per vertex if weights are counts, 20 otherwise), the days in
//! the window, and the changes.

mod merge;
mod named;

pub use merge::{Merged, Sums};
pub use named::NamedError;

use crate::days::{DayAdjacency, Delta};
use crate::weights::{BadWeight, WeightFunction};
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
    /// Number of the window in the run, from 0.
    pub index: u32,
    /// Range of time.
    pub range: TimeRange,
    /// Range of its days: `range`, but of the first windows of a shape that grows from the first day on.
    pub days: TimeRange,
    /// Transaction graph of the range.
    pub graph: Graph,
    /// Number of transactions.
    pub transactions: u64,
}

/// Largest number of days in a window.
pub const MOST_DAYS: i64 = 4096;

/// Length and slide of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    length: Span,
    slide: Span,
    growing: bool,
}

/// Error of a window shape.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ShapeError {
    /// The slide is longer than the window.
    #[error(
        "a slide of {slide} is longer than the window of {length}: transactions between would be in none"
    )]
    Gaps {
        /// Length of windows.
        length: Span,
        /// Slide of windows.
        slide: Span,
    },
    /// The window has too many days.
    #[error(
        "a window of {length} that slides by {slide} is made of {days} runs of {unit}, and {MOST_DAYS} are the most: \
         choose a longer slide"
    )]
    TooFine {
        /// Length of windows.
        length: Span,
        /// Slide of windows.
        slide: Span,
        /// Common unit of both and of a day.
        unit: Span,
        /// Number of units in a window.
        days: i64,
    },
}

impl Shape {
    /// Creates a shape from length and slide. Their common unit is a day, or a divisor of it.
    ///
    /// # Errors
    /// If the slide is longer than the window, or the window has too many units.
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

    /// Starts with a window of one slide, and lets windows grow to their full length. Otherwise the first
    /// window has full length.
    #[must_use]
    pub fn growing(self) -> Shape {
        Shape { growing: true, ..self }
    }

    /// Whether the first windows are shorter than the others.
    pub fn is_growing(self) -> bool {
        self.growing
    }

    /// Returns the length of windows.
    pub fn length(self) -> Span {
        self.length
    }

    /// Returns the slide of windows.
    pub fn slide(self) -> Span {
        self.slide
    }

    /// Returns the common unit in which days are built: a day if both are multiples of one.
    pub fn unit(self) -> Span {
        unit_of(self.length, self.slide)
    }
}

/// Names the end of a last window of a unit: `day`, or the unit if it is shorter.
pub(crate) fn last_unit(unit: Span) -> String {
    match unit {
        Span::DAY => "day".into(),
        unit => format!("{unit} with transactions"),
    }
}

/// Returns a day, or the longest span that divides a day and both, so that windows start with the day of the
/// first transaction.
pub(crate) fn unit_of(length: Span, slide: Span) -> Span {
    length.common(slide).common(Span::DAY)
}

/// Error of building a window.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WindowError {
    /// An edge's weight cannot be stored.
    #[error("the weight of the edge between vertices {source_vertex} and {target_vertex} {bad}")]
    Weight {
        /// One end of the edge.
        source_vertex: VertexId,
        /// The other end.
        target_vertex: VertexId,
        /// Reason.
        bad: BadWeight,
    },
    /// A pair has more transactions than 32 bits count.
    #[error("vertices {0} and {1} have more than 2³² transactions in the window")]
    Count(VertexId, VertexId),
    /// There are too many pairs.
    #[error("the window has {0} arcs, and 2³¹ are the most: choose a shorter window")]
    TooLarge(u64),
    /// A day that was never added was removed: a bug in this library.
    #[error("a day was taken away that is not in the window, at vertices {0} and {1}")]
    NotThere(VertexId, VertexId),
    /// The arrays are no valid graph: a bug in this library.
    #[error(transparent)]
    Graph(#[from] InvalidGraph),
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The memory limit would be exceeded.
    #[error(
        "the window that ends {end} needs {needed} bytes with all that is kept, and {allowed} are allowed: choose a \
         shorter window, or allow more memory"
    )]
    Memory {
        /// End of the window.
        end: Timestamp,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are allowed.
        allowed: u64,
    },
}

/// Vertices whose lists changed from one window to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// These vertices, ascending.
    Some(Vec<VertexId>),
    /// All vertices with arcs.
    All,
}

/// Days of a stream, and the window over the last of them.
#[derive(Debug)]
pub struct Sliding {
    shape: Shape,
    sums: Sums,
    /// Days in the window, followed by the days after its end.
    days: VecDeque<(i64, DayAdjacency)>,
    /// Unit with which the next window ends; `None` before the first day.
    next_end: Option<i64>,
    /// The first unit of all.
    first: Option<i64>,
    /// Unit with which the last window ended.
    last_end: Option<i64>,
    window: Option<Window>,
    /// Arrays for reuse.
    spare: merge::Arrays,
    windows: u32,
    transactions: u64,
    from_scratch: bool,
    allowed: Option<u64>,
}

impl Sliding {
    /// Creates a window without days.
    pub fn new(shape: Shape, weighing: impl Into<Arc<WeightFunction>>, unit_value: f64) -> Sliding {
        Sliding {
            shape,
            sums: Sums::new(weighing.into(), unit_value),
            days: VecDeque::new(),
            next_end: None,
            first: None,
            last_end: None,
            window: None,
            spare: merge::Arrays::default(),
            windows: 0,
            transactions: 0,
            from_scratch: false,
            allowed: None,
        }
    }

    /// Rebuilds each window from its days instead of merging, for comparison.
    #[must_use]
    pub fn from_scratch(self) -> Sliding {
        Sliding { from_scratch: true, ..self }
    }

    /// Sets a memory limit in bytes for days and windows.
    #[must_use]
    pub fn within(self, bytes: u64) -> Sliding {
        Sliding { allowed: Some(bytes), ..self }
    }

    /// Adds the next day, and returns whether a window ends with it.
    ///
    /// Days are complete: the first starts the time axis, and each follows the previous one, even if it is
    /// empty.
    pub fn push(&mut self, unit: i64, run: DayAdjacency) -> bool {
        let (length, slide) = self.in_units();
        let first = unit + if self.shape.growing { slide } else { length };
        let next_end = *self.next_end.get_or_insert(first);
        self.first.get_or_insert(unit);
        self.days.push_back((unit, run));
        unit + 1 == next_end
    }

    /// Returns length and slide of windows in units.
    fn in_units(&self) -> (i64, i64) {
        let unit = self.shape.unit();
        (self.shape.length.over(unit), self.shape.slide.over(unit))
    }

    /// Returns the number of windows so far, including skipped ones.
    pub fn windows(&self) -> u32 {
        self.windows
    }

    /// Returns the number of transactions after the last window.
    pub fn behind(&self) -> u64 {
        let last_end = self.last_end.unwrap_or(i64::MIN);
        let behind = self.days.iter().filter(|(unit, _)| *unit >= last_end);
        behind.map(|(_, run)| run.transactions).sum()
    }

    /// Whether there are days after the last window.
    pub fn has_more(&self) -> bool {
        self.days.back().is_some_and(|(unit, _)| self.last_end.is_none_or(|end| *unit >= end))
    }

    /// Builds the window that ends with the last day, over the vertices `0..vertices`, and returns it with
    /// the vertices whose lists changed since the previous window.
    ///
    /// # Errors
    /// If a weight cannot be stored, or the window is too large. The previous window is lost then.
    pub fn slide(&mut self, vertices: u32) -> Result<(&Window, Changed), WindowError> {
        let (length, slide) = self.in_units();
        let end = self.days.back().map_or(0, |(unit, _)| unit + 1);
        let begin = end - length;
        let last_end = self.last_end.unwrap_or(i64::MIN);
        let (mut added, mut removed, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (unit, run) in &self.days {
            if *unit < begin {
                // A day that was never in a window is neither added nor removed.
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
        // Also if the previous window was skipped.
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
        let aged: Vec<(f32, &DayAdjacency)> =
            kept.iter().map(|(age, run)| (*age as f32 * unit_days, *run)).collect();
        let anew = last.is_none();
        let Merged { graph, changed } =
            self.sums.merged(last, &mut self.spare, &delta, &aged, vertices)?;
        self.transactions = self.transactions.wrapping_add_signed(delta.transactions);
        // Days of the window are needed once more, to be removed.
        while self.days.front().is_some_and(|(unit, _)| *unit < begin) {
            self.days.pop_front();
        }
        (self.last_end, self.next_end) = (Some(end), Some(end + slide));
        let range = TimeRange::new(self.instant(begin), self.instant(end));
        let first = self.first.filter(|_| self.shape.growing).map(|first| self.instant(first));
        let days = TimeRange { from: first.map_or(range.from, |at| at.max(range.from)), ..range };
        let index = self.windows;
        self.windows += 1;
        let window = Window { index, range, days, graph, transactions: self.transactions };
        let changed = if anew { Changed::All } else { changed };
        Ok((self.window.insert(window), changed))
    }

    /// Skips the window that ends with the last day, without building it.
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

    /// Returns the range of the window that ends with the last day.
    pub fn range(&self) -> TimeRange {
        let (length, _) = self.in_units();
        let end = self.days.back().map_or(0, |(unit, _)| unit + 1);
        TimeRange::new(self.instant(end - length), self.instant(end))
    }

    /// Returns the start of a unit.
    fn instant(&self, unit: i64) -> Timestamp {
        Timestamp(unit.saturating_mul(self.shape.unit().micros()))
    }

    /// Returns the graph of the last window with the number of transactions as weights; `None` if its weights
    /// already are these.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn counted(&self) -> Result<Option<Graph>, WindowError> {
        self.window.as_ref().map_or(Ok(None), |window| self.sums.counted(&window.graph))
    }

    /// Returns the last window.
    pub fn window(&self) -> Option<&Window> {
        self.window.as_ref()
    }

    /// Iterates over the days of the last window, with the instants at which they start.
    pub fn days(&self) -> impl Iterator<Item = (Timestamp, &DayAdjacency)> {
        let (length, _) = self.in_units();
        let end = self.last_end.unwrap_or(i64::MIN);
        let within = self.days.iter().filter(move |(unit, _)| *unit < end && *unit >= end - length);
        within.map(|(unit, run)| (self.instant(*unit), run))
    }

    /// Returns the size of days and windows in bytes.
    pub fn bytes(&self) -> u64 {
        let runs: u64 = self.days.iter().map(|(_, run)| run.bytes()).sum();
        let graph = self.window.as_ref().map_or(0, |window| window.graph.bytes());
        runs + graph + self.spare.bytes() + self.sums.bytes()
    }
}
