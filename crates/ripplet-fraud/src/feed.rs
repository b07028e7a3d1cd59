//! Pipeline from sources to windows: reader, stream of days, and sliding window.
//!
//! [`Feed::advance`] reads until a window's last day has ended. [`Feed::slide`] builds that window, or
//! [`Feed::pass`] skips it. The last window ends with the last day, however short its slide is, unless
//! [`FeedOptions::full_slides`]. If the stream ends before the first window is complete, one window is built
//! of what there is. [`Feed::slide_to`] builds a single window.

use crate::days::DayAdjacency;
use crate::entities::EntityError;
use crate::source::reader::{self, Input, Message, ReaderError, Reading, SharedReading, Sources};
use crate::source::row_hash::{BLOCK, RowHash};
use crate::stream::{FinishedDay, Stream, StreamError, StreamOptions};
use crate::weights::{WeightError, WeightFunction};
use crate::window::{Changed, Shape, Sliding, WindowError};
use crate::{Entities, Mapping, Span, TimeRange, Timestamp, Window};
use ripplet_graph::{Graph, VertexId};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use thiserror::Error;

/// Interval at which a waiting reader checks for cancellation.
const PATIENCE: Duration = Duration::from_millis(100);

/// Options of a feed.
#[derive(Clone, Debug)]
pub struct FeedOptions {
    /// Sources of transactions.
    pub sources: Sources,
    /// Options of reading files.
    pub reading: Reading,
    /// Mapping of columns.
    pub mapping: Mapping,
    /// Length and slide of windows.
    pub shape: Shape,
    /// Largest delay of late rows.
    pub late: Option<Span>,
    /// Range of time: rows outside are counted and left out, and files of partitions outside are not opened.
    pub range: TimeRange,
    /// Whether faulty rows are left out.
    pub skip_bad_rows: bool,
    /// Whether late rows are left out.
    pub skip_late_rows: bool,
    /// Largest difference between a row's time and those of the rows around it.
    pub longest_gap: Span,
    /// Whether the last window must end a whole slide after the previous one; transactions after it are in no
    /// window.
    pub full_slides: bool,
    /// Whether each window is built of all its days instead of merged.
    pub from_scratch: bool,
}

/// Error of a feed.
#[derive(Debug, Error)]
pub enum FeedError {
    /// Sources cannot be read.
    #[error(transparent)]
    Reader(#[from] ReaderError),
    /// Rows cannot be added.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The weight rule is invalid.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// Entities cannot be added.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// A window cannot be built.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The weight of an edge cannot be stored.
    #[error("the weight `{rule}` of the edge between {ends} {why}")]
    EdgeWeight {
        /// The weight rule.
        rule: String,
        /// The two ends of the edge.
        ends: String,
        /// Reason.
        why: String,
    },
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Error if no window of a feed ends at the requested instant.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("there is no window that ends then")]
pub struct NoWindow {
    /// Ends of the windows that there are, ascending.
    pub ends: Vec<Timestamp>,
}

impl NoWindow {
    /// Returns which windows there are, as a sentence without a period.
    pub fn help(&self) -> String {
        let (Some(first), Some(last)) = (self.ends.first(), self.ends.last()) else {
            return "there are no transactions in the input".into();
        };
        let (first, last) = (first.as_last(), last.as_last());
        format!("the last days of the {} windows are {first} to {last}", self.ends.len())
    }
}

/// Pipeline from sources to windows.
#[derive(Debug)]
pub struct Feed {
    messages: Receiver<Result<Message, ReaderError>>,
    stream: Stream,
    sliding: Sliding,
    inputs: Vec<Input>,
    /// Number of inputs of which the caller knows.
    announced: usize,
    /// Days that ended and are in no window yet.
    ended: VecDeque<FinishedDay>,
    /// Number of entities when the last day of `sliding` ended.
    vertices: u32,
    over: bool,
    /// Error, returned once the days before it are in their windows.
    failed: Option<FeedError>,
    /// Whether there was an error: rows after it are not taken.
    has_failed: bool,
    /// Whether the reader has ended after an error.
    is_drained: bool,
    /// Hashes of the rows, if the feed is that of a rank.
    hashes: Vec<RowHash>,
    full_slides: bool,
    /// Whether the last day ended because the stream did.
    is_cut: bool,
    decimals: Option<u32>,
    /// Text of the weight rule.
    rule: String,
}

/// Result of [`Feed::advance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// A window ends with the last day: build it with [`Feed::slide`], or skip it with [`Feed::pass`].
    Window,
    /// The sources are exhausted.
    Over,
}

impl Feed {
    /// Starts reading.
    ///
    /// # Errors
    /// If sources are missing, or a rule is invalid.
    pub fn begin(options: &FeedOptions) -> Result<Feed, FeedError> {
        Feed::begin_shared(options, &SharedReading::default())
    }

    /// Starts reading on a rank, as [`Feed::begin`] does.
    pub(crate) fn begin_shared(
        options: &FeedOptions,
        shared: &SharedReading,
    ) -> Result<Feed, FeedError> {
        let FeedOptions { mapping, shape, late, .. } = options;
        let unit_value =
            mapping.amount.as_ref().map_or(1.0, |amount| 10f64.powi(-(amount.decimals as i32)));
        let decimals = mapping.amount.as_ref().map(|amount| amount.decimals);
        let weighing = WeightFunction::new(&mapping.weight, decimals)?;
        let weighing = Arc::new(weighing);
        let stream_options = StreamOptions {
            unit: shape.unit(),
            late: *late,
            skip_bad_rows: options.skip_bad_rows,
            skip_late_rows: options.skip_late_rows,
            longest_gap: options.longest_gap,
            is_followed: options.reading.follow.is_some(),
            range: options.range,
        };
        let sliding = Sliding::new(*shape, weighing.clone(), unit_value);
        let rule = weighing.text().to_owned();
        Ok(Feed {
            stream: Stream::new(mapping, weighing, stream_options)?,
            sliding: if options.from_scratch { sliding.from_scratch() } else { sliding },
            messages: reader::begin_shared(
                &options.sources,
                mapping,
                options.reading,
                options.range,
                shared,
            )?,
            inputs: Vec::new(),
            announced: 0,
            ended: VecDeque::new(),
            vertices: 0,
            over: false,
            failed: None,
            has_failed: false,
            is_drained: false,
            hashes: Vec::new(),
            full_slides: options.full_slides,
            is_cut: false,
            decimals: mapping.amount.as_ref().map(|amount| amount.decimals),
            rule,
        })
    }

    /// Reads until a window ends.
    ///
    /// # Errors
    /// If reading fails, or `is_cancelled`.
    pub fn advance(
        &mut self,
        mut on_input: impl FnMut(&[Input]) -> Result<(), FeedError>,
        is_cancelled: impl Fn() -> bool,
    ) -> Result<Advance, FeedError> {
        loop {
            if self.announced < self.inputs.len() {
                self.announced = self.inputs.len();
                on_input(&self.inputs)?;
            }
            while let Some(FinishedDay { unit, run, vertices, is_open }) = self.ended.pop_front() {
                self.vertices = vertices;
                self.is_cut = is_open;
                if self.sliding.push(unit, run) {
                    return Ok(Advance::Window);
                }
            }
            if self.over {
                let wanted = self.sliding.windows() == 0 || !self.full_slides;
                let more = wanted && self.sliding.has_more();
                return Ok(if more { Advance::Window } else { Advance::Over });
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if is_cancelled() {
                return Err(FeedError::Cancelled);
            }
            self.receive()?;
        }
    }

    /// Receives the next message of the reader, if there is one soon. After an error, rows are not taken.
    fn receive(&mut self) -> Result<(), FeedError> {
        let taken = self.take_message();
        self.has_failed |= taken.is_err() || self.failed.is_some();
        taken
    }

    fn take_message(&mut self) -> Result<(), FeedError> {
        match self.messages.recv_timeout(PATIENCE) {
            // A server may take long before its first row.
            Ok(Ok(Message::Nothing)) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Ok(Message::Input(input))) => self.inputs.push(input),
            Ok(Ok(Message::Hash(hash))) => self.hashes.push(hash),
            Ok(Ok(Message::Rows(batch, origin))) => {
                if let Some(input) = self.inputs.last_mut() {
                    input.rows += batch.rows() as u64;
                }
                if !self.has_failed {
                    self.ended.extend(self.stream.push(&batch, &origin)?);
                }
            }
            Ok(Err(_)) if self.has_failed => {}
            Ok(Err(error)) => {
                self.ended.extend(self.stream.classify_rest()?);
                self.failed = Some(error.into());
            }
            Err(RecvTimeoutError::Disconnected) if self.has_failed => self.is_drained = true,
            Err(RecvTimeoutError::Disconnected) => {
                self.ended.extend(self.stream.finish()?);
                self.over = true;
            }
        }
        Ok(())
    }

    /// Waits until the first input is opened.
    ///
    /// # Errors
    /// If it cannot be opened, or `is_cancelled`.
    pub(crate) fn open(&mut self, is_cancelled: impl Fn() -> bool) -> Result<(), FeedError> {
        while self.inputs.is_empty() && !self.over {
            if is_cancelled() {
                return Err(FeedError::Cancelled);
            }
            self.receive()?;
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Reads ahead until there are `hashes` hashes of rows, or as many as the input has. Days that end are kept for their
    /// windows, and an error for the call of [`Feed::advance`] that reaches it.
    ///
    /// # Errors
    /// If `is_cancelled`.
    pub(crate) fn read_ahead(
        &mut self,
        hashes: usize,
        is_cancelled: impl Fn() -> bool,
    ) -> Result<(), FeedError> {
        while self.hashes.len() < hashes && !self.over && !self.is_drained {
            if is_cancelled() {
                return Err(FeedError::Cancelled);
            }
            if let Err(error) = self.receive() {
                self.failed = Some(error);
            }
        }
        Ok(())
    }

    /// Returns the hashes of the rows so far: of all up to the end of each block, and at last of the whole input.
    pub(crate) fn hashes(&self) -> &[RowHash] {
        &self.hashes
    }

    /// Returns the number of hashes that cover all rows so far.
    pub(crate) fn hashes_of_rows(&self) -> usize {
        let rows: u64 = self.inputs.iter().map(|input| input.rows).sum();
        self.hashes.len().max(rows.div_ceil(BLOCK as u64) as usize)
    }

    /// Builds the window that ends with the last day, and returns the vertices whose lists changed since the
    /// previous window.
    ///
    /// # Errors
    /// If a weight cannot be stored, or memory allocation fails.
    pub fn slide(&mut self) -> Result<Changed, FeedError> {
        match self.sliding.slide(self.vertices) {
            Ok((_, changed)) => Ok(changed),
            Err(WindowError::Weight { source_vertex, target_vertex, bad }) => {
                let entities = self.stream.entities();
                let name =
                    |v: VertexId| format!("{} {}", entities.kind_name_of(v), entities.id_of(v));
                let ends = format!("{} and {}", name(source_vertex), name(target_vertex));
                Err(FeedError::EdgeWeight { rule: self.rule.clone(), ends, why: bad.to_string() })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Skips the window that ends with the last day.
    pub fn pass(&mut self) {
        self.sliding.pass();
    }

    /// Reads until the window that ends at `until`, by default until the last one, and builds it; windows before
    /// `until` are skipped. Then [`Feed::window`] returns it, or `None` for a new feed of which no window ends there.
    ///
    /// Returns the ends of the windows up to it, ascending, as [`NoWindow`] takes them.
    ///
    /// # Errors
    /// If reading fails, the window cannot be built, or `is_cancelled`.
    pub fn slide_to(
        &mut self,
        until: Option<Timestamp>,
        is_cancelled: impl Fn() -> bool,
    ) -> Result<Vec<Timestamp>, FeedError> {
        let mut ends = Vec::new();
        while self.advance(|_| Ok(()), &is_cancelled)? == Advance::Window {
            let end = self.range().until;
            ends.push(end);
            if until.is_none_or(|wanted| wanted == end) {
                self.slide()?;
            } else {
                self.pass();
            }
            if until == Some(end) {
                break;
            }
        }
        Ok(ends)
    }

    /// Returns the last window that was built.
    pub fn window(&self) -> Option<&Window> {
        self.sliding.window()
    }

    /// Returns the graph of the last window with the number of transactions as weights; `None` if its weights
    /// already are these.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn counted(&self) -> Result<Option<Graph>, FeedError> {
        Ok(self.sliding.counted()?)
    }

    /// Returns the range of the window that ends with the last day.
    pub fn range(&self) -> TimeRange {
        self.sliding.range()
    }

    /// Whether the window's last day ended because the stream did. With more transactions, that day may get
    /// more, or the window may end later.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the entities seen so far; the first of them are the vertices of a window.
    pub fn entities(&self) -> &Entities {
        self.stream.entities()
    }

    /// Returns the stream of rows.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns the inputs so far; the last one is being read.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Iterates over the days of the last window.
    pub fn days(&self) -> impl Iterator<Item = (Timestamp, &DayAdjacency)> {
        self.sliding.days()
    }

    /// Returns the number of decimals of amounts, if amounts are mapped.
    pub fn decimals(&self) -> Option<u32> {
        self.decimals
    }

    /// Returns the number of transactions after the end of the last window.
    pub fn behind(&self) -> u64 {
        self.sliding.behind()
    }

    /// Returns the bytes that the feed occupies.
    pub fn bytes(&self) -> u64 {
        let ended: u64 = self.ended.iter().map(|day| day.run.bytes()).sum();
        self.stream.bytes() + self.sliding.bytes() + ended
    }
}
