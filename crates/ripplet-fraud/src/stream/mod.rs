//! Stream of transactions, cut into days by event time: late rows, faulty rows, and vertex numbers of
//! entities.
//!
//! A day ends when a transaction arrives that is later than the day's end by the bound `late`. Until then,
//! transactions of the day may arrive in any order. A transaction for a day that has ended is an error that
//! names its row, or is counted and left out if asked. Days without transactions between two others end too,
//! as empty days.
//!
//! The result depends on the rows and their order alone, not on batches, files or threads: entities are
//! looked up in parallel, and new ones are numbered row by row.
//!
//! Memory: 24 bytes for each pair of a row of the open days, 32 if a row has several pairs.

mod error;
mod limit;

pub use error::StreamError;

use crate::amount::Amount;
pub use crate::counts::Counts;
use crate::days::{ColumnPairEdges, DayAdjacency, MOST_AMOUNT};
use crate::entities::{EntityError, KindId};
use crate::mapping::{End, Mapping};
use crate::payments::Transfer;
use crate::source::decode::is_empty;
use crate::source::{Batch, FaultKind};
use crate::sums::Sums;
use crate::time_outliers::{
    Classified, Lookahead, RowLocation, TimeFilter, TimeOutlier, Undecided,
};
use crate::weights::WeightFunction;
use crate::{Entities, Span, TimeRange, Timestamp};
use arrow_array::{Array, StringArray};
use limit::Limit;
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Options of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// Length of a day.
    pub unit: Span,
    /// Largest delay of a transaction behind a later one; `None` if time must not go back to an earlier day.
    pub late: Option<Span>,
    /// Whether faulty rows are counted and left out instead of an error.
    pub skip_bad_rows: bool,
    /// Whether late rows are counted and left out instead of an error.
    pub skip_late_rows: bool,
    /// Largest difference between a row's time and those of the rows around it.
    pub longest_gap: Span,
    /// Whether the input grows, so that only few rows may be pending.
    pub is_followed: bool,
    /// Range of the run: other rows are counted and left out.
    pub range: TimeRange,
}

/// Default of [`StreamOptions::longest_gap`]: less than the year by which a typing error is off, more than a
/// seasonal pause.
pub const LONGEST_PAUSE: Span = Span::days_of(180);

/// Day that ended.
#[derive(Debug)]
pub struct FinishedDay {
    /// Number of the day, in units since 1970.
    pub unit: i64,
    /// Aggregated transactions of the day.
    pub run: DayAdjacency,
    /// Number of entities when the day ended.
    pub vertices: u32,
    /// Whether the day ended because the stream did. With more rows it may get more transactions.
    pub is_open: bool,
}

/// Largest number of days without a transaction between two that have some.
pub const LONGEST_GAP: i64 = 10_000;

/// Marks an entity without a vertex.
const NONE: VertexId = VertexId::MAX;

/// Stream of transactions, cut into days.
#[derive(Debug)]
pub struct Stream {
    options: StreamOptions,
    kinds: Vec<KindId>,
    /// Pairs of id columns that make edges.
    pairs: Vec<(usize, usize)>,
    has_amounts: bool,
    entities: Entities,
    /// Days that have not ended, with their transactions so far.
    open: BTreeMap<i64, Open>,
    latest: Option<(Timestamp, RowLocation)>,
    /// Names of the files, or of the query, so far.
    inputs: Vec<String>,
    time_outliers: TimeFilter<PendingRow>,
    limit: Limit,
    time_column: String,
    /// Vertices of the current row, column by column.
    vertices: Vec<VertexId>,
    /// Days before this one have ended.
    ended: i64,
    /// Day that ends next; `None` before the first one ended.
    next: Option<i64>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Open {
    transfers: Vec<Transfer>,
    sums: Sums,
    transactions: u64,
    /// Number of edges of each pair of columns.
    links: Vec<u64>,
    /// Ends of these edges, if there are several pairs.
    columns: Vec<Vec<(VertexId, VertexId)>>,
}

/// Day that receives the current rows, and days that ended meanwhile.
#[derive(Debug, Default)]
struct Current {
    day: Option<i64>,
    open: Open,
    ended: Vec<FinishedDay>,
}

/// Fields of a row that are not ids.
#[derive(Clone, Copy)]
struct Row {
    time: Timestamp,
    amount: u64,
    location: RowLocation,
}

/// Ids of a row, by column.
trait Ids {
    /// Returns the vertex, if the entity was looked up and found.
    fn known(&self, column: usize) -> Option<VertexId>;

    /// Returns the id, if the column has one.
    fn id(&self, column: usize) -> Option<&str>;
}

/// Row of a batch whose ids were looked up.
struct OfBatch<'a> {
    batch: &'a Batch,
    known: &'a [Vec<VertexId>],
    row: usize,
}

impl Ids for OfBatch<'_> {
    fn known(&self, column: usize) -> Option<VertexId> {
        Some(self.known[column][self.row]).filter(|&vertex| vertex != NONE)
    }

    fn id(&self, column: usize) -> Option<&str> {
        let ids = &self.batch.ids[column];
        (!is_empty(ids, self.row)).then(|| ids.value(self.row))
    }
}

impl Ids for PendingRow {
    fn known(&self, _: usize) -> Option<VertexId> {
        None
    }

    fn id(&self, column: usize) -> Option<&str> {
        self.ids[column].as_deref()
    }
}

/// Row that is pending until its time is classified.
#[derive(Debug)]
struct PendingRow {
    ids: Vec<Option<String>>,
    amount: u64,
}

impl PendingRow {
    fn of(batch: &Batch, row: usize) -> PendingRow {
        let id = |ids: &StringArray| (!is_empty(ids, row)).then(|| ids.value(row).to_owned());
        PendingRow {
            ids: batch.ids.iter().map(id).collect(),
            amount: batch.amounts.get(row).copied().unwrap_or(0),
        }
    }
}

impl Stream {
    /// Creates an empty stream. `weighing` decides which amounts a weight can hold.
    ///
    /// # Errors
    /// If the mapping has too many kinds.
    pub fn new(
        mapping: &Mapping,
        weighing: Arc<WeightFunction>,
        options: StreamOptions,
    ) -> Result<Stream, EntityError> {
        let mut entities = Entities::new();
        let also = mapping.also.iter().map(|linked| &linked.entity);
        let columns = [&mapping.source, &mapping.target].into_iter().chain(also);
        let kinds = columns.map(|column| entities.kind(&column.kind));
        let kinds = kinds.collect::<Result<Vec<KindId>, _>>()?;
        let mut pairs = vec![(0, 1)];
        for (place, linked) in mapping.also.iter().enumerate() {
            let end = |end: &End| usize::from(*end == End::Target);
            pairs.extend(linked.to.iter().map(|to| (end(to), place + 2)));
        }
        Ok(Stream {
            options,
            vertices: vec![NONE; kinds.len()],
            kinds,
            pairs,
            has_amounts: mapping.amount.is_some(),
            entities,
            open: BTreeMap::new(),
            latest: None,
            inputs: Vec::new(),
            time_outliers: TimeFilter::new(
                options.late.map_or(options.longest_gap, |late| late.max(options.longest_gap)),
                if options.is_followed { Lookahead::FOLLOWED } else { Lookahead::WHOLE },
            ),
            limit: Limit::new(mapping, weighing),
            time_column: mapping.time.column.clone(),
            ended: i64::MIN,
            next: None,
            counts: Counts::default(),
        })
    }

    /// Returns the entities seen so far.
    pub fn entities(&self) -> &Entities {
        &self.entities
    }

    /// Returns the counts of rows so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns the latest time seen so far.
    pub fn latest(&self) -> Option<Timestamp> {
        self.latest.map(|(time, _)| time)
    }

    /// Size of the entities and the open days in bytes.
    pub fn bytes(&self) -> u64 {
        let of_columns = |open: &Open| open.columns.iter().map(Vec::capacity).sum::<usize>();
        let bytes = |open: &Open| {
            let arrays = size_of::<Transfer>() * open.transfers.capacity() + 8 * of_columns(open);
            arrays as u64 + open.sums.bytes()
        };
        self.entities.bytes() + self.open.values().map(bytes).sum::<u64>()
    }

    /// Adds a batch of transactions, and returns the days that end with it.
    ///
    /// # Errors
    /// The first row that cannot be added. Rows before it were added, but the days that they ended are lost:
    /// do not use a stream after an error.
    pub fn push(&mut self, batch: &Batch, origin: &str) -> Result<Vec<FinishedDay>, StreamError> {
        let known = self.look_up(batch)?;
        let mut faults = batch.faults.iter().peekable();
        let mut others = batch.others.iter().peekable();
        let mut current = Current::default();
        if self.inputs.last().is_none_or(|last| last != origin) {
            self.inputs.push(origin.into());
        }
        let input = self.inputs.len().saturating_sub(1) as u32;
        self.counts.rounded += batch.rounded;
        self.counts.trimmed += batch.trimmed;
        for (row, &time) in batch.times.iter().enumerate() {
            self.counts.rows += 1;
            let fault = faults.next_if(|fault| fault.row as usize == row);
            if others.next_if(|&&other| other as usize == row).is_some() {
                self.counts.other_kinds += 1;
                continue;
            }
            // The time of a row with another fault counts, too.
            let is_timeless = fault.is_some_and(|fault| fault.kind.is_of_time(&self.time_column));
            if !is_timeless && !self.options.range.contains(time) {
                self.counts.add_outside(time);
                continue;
            }
            let location = RowLocation { input, place: batch.places.of(row) };
            if let Some(fault) = fault {
                self.skip_fault(&fault.kind, location)?;
                continue;
            }
            let amount = batch.amounts.get(row).copied().unwrap_or(0);
            if let Some(fault) = self.limit.check(amount) {
                self.skip_fault(&fault, location)?;
                continue;
            }
            if !self.time_outliers.is_near(time, location) {
                let classified =
                    self.time_outliers.classify(time, location, PendingRow::of(batch, row));
                let classified = classified.map_err(|undecided| self.pause(undecided))?;
                self.settle(classified, &mut current)?;
                continue;
            }
            let ids = OfBatch { batch, known: &known, row };
            self.take(Row { time, amount, location }, &ids, &mut current)?;
        }
        self.put_back(&mut current);
        Ok(current.ended)
    }

    /// Adds rows whose time was classified.
    fn settle(
        &mut self,
        classified: Vec<Classified<PendingRow>>,
        current: &mut Current,
    ) -> Result<(), StreamError> {
        for Classified { time, location, row, far } in classified {
            if let Some(TimeOutlier { side, around, beside }) = far {
                let (column, gap) = (self.time_column.clone(), self.time_outliers.gap());
                let beside = self.named(beside);
                self.skip_fault(
                    &FaultKind::TimeOutlier { column, time, side, around, beside, gap },
                    location,
                )?;
                continue;
            }
            self.take(Row { time, amount: row.amount, location }, &row, current)?;
        }
        Ok(())
    }

    /// Adds a row, if its day has not ended and the day's sums can hold its amount.
    fn take(&mut self, row: Row, ids: &impl Ids, current: &mut Current) -> Result<(), StreamError> {
        let Row { time, amount, .. } = row;
        let unit = time.unit(self.options.unit);
        if !self.is_in_time(row, unit)? || !self.is_within_sums(row, unit, ids, current)? {
            return Ok(());
        }
        if let Some(until) = self.end_with(row, unit)? {
            self.put_back(current);
            self.end_until(until, &mut current.ended)?;
        }
        for (column, vertex) in self.vertices.iter_mut().enumerate() {
            *vertex = match (ids.known(column), ids.id(column)) {
                (Some(vertex), _) => vertex,
                (None, Some(id)) => self.entities.intern(self.kinds[column], id)?,
                (None, None) => NONE,
            };
        }
        self.open_day(unit, current);
        let Open { transfers, sums, links, columns, .. } = &mut current.open;
        links.resize(self.pairs.len(), 0);
        if self.pairs.len() > 1 {
            columns.resize(self.pairs.len(), Vec::new());
        }
        for (place, &(source, target)) in self.pairs.iter().enumerate() {
            let (source, target) = (self.vertices[source], self.vertices[target]);
            if source != NONE && target != NONE {
                links[place] += u64::from(source != target);
                memory::push(transfers, Transfer { source, target, time, amount })?;
                sums.add((source, target), amount)?;
                if let Some(ends) = columns.get_mut(place) {
                    memory::push(ends, (source, target))?;
                }
            }
        }
        current.open.transactions += 1;
        self.counts.taken += 1;
        self.counts.to_themselves += u64::from(self.vertices[0] == self.vertices[1]);
        Ok(())
    }

    /// Makes a day the current one.
    fn open_day(&mut self, unit: i64, current: &mut Current) {
        if current.day != Some(unit) {
            self.put_back(current);
            current.open = self.open.remove(&unit).unwrap_or_default();
            current.day = Some(unit);
        }
    }

    /// Whether the sums of the row's pairs in its day stay within bounds.
    fn is_within_sums(
        &mut self,
        row: Row,
        unit: i64,
        ids: &impl Ids,
        current: &mut Current,
    ) -> Result<bool, StreamError> {
        let open = match current.day {
            Some(day) if day == unit => Some(&current.open),
            _ => self.open.get(&unit),
        };
        let may_exceed = |sums: &Sums| sums.may_exceed(row.amount, self.pairs.len());
        if !open.map_or_else(|| may_exceed(&Sums::default()), |open| may_exceed(&open.sums)) {
            return Ok(true);
        }
        self.open_day(unit, current);
        let vertices = |column: usize| {
            let find = |id| self.entities.find(self.kinds[column], id);
            ids.known(column).or_else(|| ids.id(column).and_then(find))
        };
        // An entity without a vertex has no sum, and a single amount does not exceed the bound.
        let pairs = self.pairs.iter().filter_map(|&(a, b)| Some((vertices(a)?, vertices(b)?)));
        let pairs: Vec<(VertexId, VertexId)> = pairs.collect();
        let Open { transfers, sums, .. } = &mut current.open;
        match sums.first_exceeded(transfers, &pairs, row.amount)? {
            None => Ok(true),
            Some(ends) => {
                let fault = self.sum_too_large(ends, unit, row.amount);
                self.skip_fault(&fault, row.location).map(|()| false)
            }
        }
    }

    /// Returns the fault of a row whose amount exceeds the bound on a pair's sum.
    fn sum_too_large(&self, (a, b): (VertexId, VertexId), unit: i64, amount: u64) -> FaultKind {
        let name = |v| format!("{} {}", self.entities.kind_name_of(v), self.entities.id_of(v));
        let decimals = self.limit.decimals;
        FaultKind::Sum {
            column: self.limit.column.clone(),
            text: Amount { units: amount, decimals }.to_string(),
            ends: format!("{} and {}", name(a), name(b)),
            day: Timestamp(unit.saturating_mul(self.options.unit.micros())),
            unit: self.options.unit,
            most: Amount { units: MOST_AMOUNT, decimals }.to_string(),
        }
    }

    /// Formats a position for a message.
    fn named(&self, location: RowLocation) -> String {
        format!("{}{}", self.origin(location), location.place)
    }

    fn origin(&self, location: RowLocation) -> String {
        self.inputs.get(location.input as usize).cloned().unwrap_or_default()
    }

    /// Returns the error of an undecided sequence of rows.
    fn pause(&self, Undecided { time, location, rows, far }: Undecided) -> StreamError {
        let TimeOutlier { side, around, beside } = far;
        StreamError::Pause {
            at: self.named(location),
            time,
            rows,
            side,
            around,
            beside: self.named(beside),
            gap: self.time_outliers.gap(),
        }
    }

    /// Counts a faulty row if such rows are left out, and fails otherwise.
    fn skip_fault(&mut self, fault: &FaultKind, location: RowLocation) -> Result<(), StreamError> {
        if !self.options.skip_bad_rows {
            // The first wrong row is the one to report, also if it is pending. Undecided rows may be right.
            if let Ok(classified) = self.time_outliers.finish() {
                self.settle(classified, &mut Current::default())?;
            }
            let (origin, place) = (self.origin(location), location.place);
            return Err(StreamError::Row { origin, place, fault: Box::new(fault.clone()) });
        }
        *self.counts.faults.entry(fault.name().into()).or_default() += 1;
        let place = self.named(location);
        self.counts.name(|| format!("{place}: {fault}"));
        Ok(())
    }

    /// Whether a row's day has not ended.
    fn is_in_time(&mut self, row: Row, unit: i64) -> Result<bool, StreamError> {
        if unit >= self.ended {
            return Ok(true);
        }
        let Row { time, location, .. } = row;
        let (latest, beside) = self.latest.unwrap_or((time, location));
        let beside = self.named(beside);
        if !self.options.skip_late_rows {
            let (origin, place) = (self.origin(location), location.place);
            return Err(StreamError::Late { origin, place, time, latest, beside });
        }
        self.counts.late += 1;
        let place = self.named(location);
        self.counts.name(|| {
            format!("{place}: {time} comes after {latest} ({beside}), when its day had ended")
        });
        Ok(false)
    }

    /// Records a row's time, and returns the day before which all days end, if any ends.
    fn end_with(&mut self, row: Row, unit: i64) -> Result<Option<i64>, StreamError> {
        let Row { time, location, .. } = row;
        let before = self.latest;
        let unit_before = before.map_or(unit, |(latest, _)| latest.unit(self.options.unit));
        if before.is_some_and(|(latest, _)| time <= latest) {
            self.counts.out_of_order += u64::from(unit < unit_before);
            return Ok(None);
        }
        self.latest = Some((time, location));
        let days = unit.saturating_sub(unit_before);
        if days > LONGEST_GAP {
            let (latest, beside) = before.unwrap_or((time, location));
            let (origin, place, beside) =
                (self.origin(location), location.place, self.named(beside));
            let unit = self.options.unit;
            return Err(StreamError::Jump { origin, place, time, latest, beside, days, unit });
        }
        let safe = self.options.late.map_or(time, |late| time.minus(late));
        let safe = safe.unit(self.options.unit);
        Ok((safe > self.ended).then_some(safe))
    }

    /// Classifies the pending rows at the end of the input, and returns the days that end with them.
    ///
    /// # Errors
    /// If a row cannot be added.
    pub fn classify_rest(&mut self) -> Result<Vec<FinishedDay>, StreamError> {
        let mut current = Current::default();
        let classified = self.time_outliers.finish().map_err(|undecided| self.pause(undecided))?;
        self.settle(classified, &mut current)?;
        self.put_back(&mut current);
        Ok(current.ended)
    }

    /// Ends the stream: all days end.
    ///
    /// # Errors
    /// If a day cannot be built.
    pub fn finish(&mut self) -> Result<Vec<FinishedDay>, StreamError> {
        let mut ended = self.classify_rest()?;
        if let Some(last) = self.open.keys().next_back().copied() {
            let whole = ended.len();
            self.end_until(last + 1, &mut ended)?;
            ended[whole..].iter_mut().for_each(|day| day.is_open = true);
        }
        Ok(ended)
    }

    /// Looks up the vertices of a batch's ids in parallel, column by column.
    fn look_up(&self, batch: &Batch) -> Result<Vec<Vec<VertexId>>, OutOfMemory> {
        const ROWS: usize = 1 << 12;
        let of_column = |(ids, &kind): (&StringArray, &KindId)| {
            let mut known = memory::filled(NONE, ids.len())?;
            known.par_chunks_mut(ROWS).enumerate().for_each(|(chunk, known)| {
                for (at, vertex) in known.iter_mut().enumerate() {
                    let row = chunk * ROWS + at;
                    if !is_empty(ids, row) {
                        *vertex = self.entities.find(kind, ids.value(row)).unwrap_or(NONE);
                    }
                }
            });
            Ok(known)
        };
        batch.ids.iter().zip(&self.kinds).map(of_column).collect()
    }

    fn put_back(&mut self, current: &mut Current) {
        if let Some(day) = current.day.take() {
            self.open.insert(day, std::mem::take(&mut current.open));
        }
    }

    /// Ends all days before `until`.
    fn end_until(&mut self, until: i64, ended: &mut Vec<FinishedDay>) -> Result<(), StreamError> {
        self.ended = until;
        let first = self.open.keys().next().copied();
        let Some(mut unit) = self.next.or(first) else { return Ok(()) };
        while unit < until {
            let Open { transfers, transactions, links, columns, .. } =
                self.open.remove(&unit).unwrap_or_default();
            let mut run = DayAdjacency::of(transfers, transactions, self.has_amounts)?;
            for (&(a, b), links) in self.pairs.iter().zip(links) {
                *run.links.entry((self.kinds[a], self.kinds[b])).or_default() += links;
            }
            let of_columns = self.pairs.iter().zip(columns);
            run.columns = of_columns
                .map(|(&(a, b), ends)| ColumnPairEdges::of((self.kinds[a], self.kinds[b]), ends))
                .collect();
            ended.push(FinishedDay { unit, run, vertices: self.entities.len(), is_open: false });
            unit += 1;
        }
        // Before the first day with transactions, no day ends.
        if self.next.is_some() || first.is_some_and(|first| first < until) {
            self.next = Some(unit);
        }
        Ok(())
    }
}
