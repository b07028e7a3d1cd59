//! From sources to windows: reading, days, and the window that slides.
//!
//! [`Feed::advance`] reads until a window's last day has ended; [`Feed::slide`] makes that window, or [`Feed::pass`] does
//! not. The last window ends with the last day, however short its slide is, unless [`FeedOptions::full_slides`]. Where a
//! stream ends before the first window is as long as it should be, one window is made of what there is.

use crate::days::Run;
use crate::entities::EntityError;
use crate::source::reader::{self, Input, Message, ReaderError, Reading, Sources};
use crate::stream::{Ended, Stream, StreamError, Taking};
use crate::weights::{Weighing, WeightError};
use crate::window::{Changed, Shape, Sliding, WindowError};
use crate::{Entities, Mapping, Span, TimeRange, Timestamp, Window};
use ripplet_graph::{Graph, VertexId};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use thiserror::Error;

/// How often somebody who waits for rows looks whether that is still wanted.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a feed is made of.
#[derive(Clone, Debug)]
pub struct FeedOptions {
    /// Where transactions come from.
    pub sources: Sources,
    /// How files are read.
    pub reading: Reading,
    /// What their columns are.
    pub mapping: Mapping,
    /// How long windows are.
    pub shape: Shape,
    /// How late rows may come.
    pub late: Option<Span>,
    /// Whether rows with faults are left out.
    pub skip_bad_rows: bool,
    /// Whether rows that come too late are.
    pub skip_late_rows: bool,
    /// By how much a row's time may differ from those of the rows around it.
    pub longest_gap: Span,
    /// Whether the last window may only end a whole slide after the one before it: transactions behind that are in
    /// no window.
    pub full_slides: bool,
    /// Whether each window is built of its days, and not merged.
    pub from_scratch: bool,
}

/// A feed that failed.
#[derive(Debug, Error)]
pub enum FeedError {
    /// Sources that cannot be read.
    #[error(transparent)]
    Reader(#[from] ReaderError),
    /// Rows that cannot be taken.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A weight that is none.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// Entities that cannot be taken in.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// A window that cannot be made.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The weight of an edge that cannot be stored.
    #[error("the weight `{rule}` of the edge between {ends} {why}")]
    EdgeWeight {
        /// The rule that gives it.
        rule: String,
        /// Who deals.
        ends: String,
        /// Why.
        why: String,
    },
    /// Somebody wants it to end.
    #[error("cancelled")]
    Cancelled,
}

/// Transactions on their way to windows.
#[derive(Debug)]
pub struct Feed {
    messages: Receiver<Result<Message, ReaderError>>,
    stream: Stream,
    sliding: Sliding,
    inputs: Vec<Input>,
    /// Days that ended and are in no window yet.
    ended: VecDeque<Ended>,
    /// How many entities there were when the last day of `sliding` ended.
    vertices: u32,
    over: bool,
    /// Why reading ended, to be told once the days before that are in their windows.
    failed: Option<ReaderError>,
    full_slides: bool,
    /// Whether the last day ended because the stream did.
    is_cut: bool,
    decimals: Option<u32>,
    /// The rule of weights, as it was written.
    rule: String,
}

/// What [`Feed::advance`] comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// A window ends with the last day: make it, or pass over it.
    Window,
    /// The sources are at their end.
    Over,
}

impl Feed {
    /// Begins to read.
    ///
    /// # Errors
    /// Where sources are not there, or a rule is none.
    pub fn begin(options: &FeedOptions) -> Result<Feed, FeedError> {
        let FeedOptions { mapping, shape, late, .. } = options;
        let unit_value =
            mapping.amount.as_ref().map_or(1.0, |amount| 10f64.powi(-(amount.decimals as i32)));
        let weighing = Weighing::new(&mapping.weight, mapping.amount.is_some())?;
        let weighing = Arc::new(weighing);
        let taking = Taking {
            unit: shape.unit(),
            late: *late,
            skip_bad_rows: options.skip_bad_rows,
            skip_late_rows: options.skip_late_rows,
            longest_gap: options.longest_gap,
            is_followed: options.reading.follow.is_some(),
        };
        let sliding = Sliding::new(*shape, weighing.clone(), unit_value);
        let rule = weighing.text().to_owned();
        Ok(Feed {
            stream: Stream::new(mapping, weighing, taking)?,
            sliding: if options.from_scratch { sliding.from_scratch() } else { sliding },
            messages: reader::begin(&options.sources, mapping, options.reading)?,
            inputs: Vec::new(),
            ended: VecDeque::new(),
            vertices: 0,
            over: false,
            failed: None,
            full_slides: options.full_slides,
            is_cut: false,
            decimals: mapping.amount.as_ref().map(|amount| amount.decimals),
            rule,
        })
    }

    /// Reads until a window ends.
    ///
    /// # Errors
    /// Where reading fails, or `is_cancelled`.
    pub fn advance(
        &mut self,
        mut on_input: impl FnMut(&[Input]) -> Result<(), FeedError>,
        is_cancelled: impl Fn() -> bool,
    ) -> Result<Advance, FeedError> {
        loop {
            while let Some(Ended { unit, run, vertices, is_open }) = self.ended.pop_front() {
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
                return Err(error.into());
            }
            if is_cancelled() {
                return Err(FeedError::Cancelled);
            }
            match self.messages.recv_timeout(PATIENCE) {
                // A server may think for long before its first row.
                Ok(Ok(Message::Nothing)) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Ok(Message::Input(input))) => {
                    self.inputs.push(input);
                    on_input(&self.inputs)?;
                }
                Ok(Ok(Message::Rows(batch, origin))) => {
                    if let Some(input) = self.inputs.last_mut() {
                        input.rows += batch.rows() as u64;
                    }
                    self.ended.extend(self.stream.push(&batch, &origin)?);
                }
                Ok(Err(error)) => {
                    self.ended.extend(self.stream.judge_rest()?);
                    self.failed = Some(error);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.over = true;
                    self.ended.extend(self.stream.finish()?);
                }
            }
        }
    }

    /// Makes the window that ends with the last day; and tells whose lists are other than in that before.
    ///
    /// # Errors
    /// Where a weight cannot be stored, or memory is refused.
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

    /// Passes over the window that ends with the last day.
    pub fn pass(&mut self) {
        self.sliding.pass();
    }

    /// The last window that was made.
    pub fn window(&self) -> Option<&Window> {
        self.sliding.window()
    }

    /// The graph of the last window with the number of transactions in place of weights; none where these are the
    /// weights.
    ///
    /// # Errors
    /// Where memory is refused.
    pub fn counted(&self) -> Result<Option<Graph>, FeedError> {
        Ok(self.sliding.counted()?)
    }

    /// The range of the window that ends with the last day.
    pub fn range(&self) -> TimeRange {
        self.sliding.range()
    }

    /// Whether the window's last day ended because the stream did: with more transactions, that day may have more, or the
    /// window may end later.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Who was seen so far; a window has the first of them as its vertices.
    pub fn entities(&self) -> &Entities {
        self.stream.entities()
    }

    /// The rows so far.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The inputs so far, the last of them at work.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The days of the last window.
    pub fn days(&self) -> impl Iterator<Item = (Timestamp, &Run)> {
        self.sliding.days()
    }

    /// Digits behind the decimal point of amounts, where they are mapped.
    pub fn decimals(&self) -> Option<u32> {
        self.decimals
    }

    /// Transactions behind the end of the last window.
    pub fn behind(&self) -> u64 {
        self.sliding.behind()
    }

    /// Bytes that all that is kept here occupies.
    pub fn bytes(&self) -> u64 {
        let ended: u64 = self.ended.iter().map(|day| day.run.bytes()).sum();
        self.stream.bytes() + self.sliding.bytes() + ended
    }
}
