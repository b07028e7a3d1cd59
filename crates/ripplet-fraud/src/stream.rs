//! Transactions as they come, to days as they end: event time, late rows, faults, and entities' numbers.
//!
//! A day ends when a transaction comes that is later than its end by the bound `late`; until then, transactions of it
//! are welcome in any order. One that comes for a day that has ended is an error that names its row, or is counted and
//! left out, as asked. Days between two that have transactions, and have none, end too, as empty runs.
//!
//! What comes out depends on the rows and their order, not on how they were cut into batches and files, and not on
//! threads: entities are looked up in parallel, and those that are new are numbered row by row.
//!
//! Memory: 24 bytes for each pair of a row of the days that have not ended, 32 if a row has several pairs.

use crate::amount::Amount;
pub use crate::counts::Counts;
use crate::days::{Deal, Linked, MOST_AMOUNT, Run, RunError};
use crate::entities::{EntityError, KindId};
use crate::mapping::{End, Mapping};
use crate::neighbours::{Far, Judged, Neighbours, Patience, Spot, Undecided};
use crate::source::decode::is_empty;
use crate::source::{Batch, FaultKind};
use crate::sums::Sums;
use crate::weights::{BadWeight, Weighing};
use crate::{Entities, Span, Timestamp};
use arrow_array::{Array, StringArray};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_io::Place;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// How a stream is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taking {
    /// The length of a day.
    pub unit: Span,
    /// How much later than a transaction one of before may come; none, where time must not go back to a day before.
    pub late: Option<Span>,
    /// Whether rows with faults are counted and left out, and not an error.
    pub skip_bad_rows: bool,
    /// Whether rows that come too late are.
    pub skip_late_rows: bool,
    /// By how much a row's time may differ from those of the rows around it.
    pub longest_gap: Span,
    /// Whether the input grows, so that few rows may wait for others.
    pub is_followed: bool,
}

/// By how much a row's time may differ from those of the rows around it, where nothing is said: less than the year by
/// which a typing error is off, more than the pause of a season.
pub const LONGEST_PAUSE: Span = Span::days_of(180);

/// A day that ended.
#[derive(Debug)]
pub struct Ended {
    /// Which: the day that begins so many units after 1970.
    pub unit: i64,
    /// Its transactions.
    pub run: Run,
    /// How many entities there were when it ended.
    pub vertices: u32,
    /// Whether it ended with the stream, and not by a row of a later day: with more rows, it may have more.
    pub is_open: bool,
}

/// Rows that cannot be taken.
#[derive(Debug, Error)]
pub enum StreamError {
    /// A row has a fault.
    #[error("{origin}{place}: {fault} (such rows can be left out and counted)")]
    Row {
        /// The file or query.
        origin: String,
        /// Where in it.
        place: Place,
        /// What is wrong.
        fault: Box<FaultKind>,
    },
    /// Time goes back beyond the bound.
    #[error(
        "{origin}{place}: the transaction of {time} comes after one of {latest} ({beside}), when its day had ended: \
         either time may be wrong; allow for later rows, sort the input by time, or have such rows left out and counted"
    )]
    Late {
        /// The file or query.
        origin: String,
        /// Where in it.
        place: Place,
        /// When the transaction was.
        time: Timestamp,
        /// When the latest before it was.
        latest: Timestamp,
        /// Where that is.
        beside: String,
    },
    /// So many rows are far from those before them that neither side can be told to be the wrong one.
    #[error(
        "{at}: from here on, {rows} rows in a row are more than {gap} {side} those before them: {time} here, {around} in \
         {beside}. Either this is a pause, or the times on one side are wrong"
    )]
    Pause {
        /// The file or query, and where in it the first of them is.
        at: String,
        /// The time of the first.
        time: Timestamp,
        /// How many they are so far.
        rows: usize,
        /// `after` or `before`.
        side: &'static str,
        /// The time of a row before them.
        around: Timestamp,
        /// Where that row is.
        beside: String,
        /// The longest gap that is allowed.
        gap: Span,
    },
    /// Time goes ahead by very much.
    #[error(
        "{origin}{place}: the transaction of {time}, and those behind it, come {days} days (of {unit}) after the last \
         before it ({latest}, {beside}): this looks like a wrong time or unit"
    )]
    Jump {
        /// The file or query.
        origin: String,
        /// Where in it.
        place: Place,
        /// When the transaction was.
        time: Timestamp,
        /// When the last before it was.
        latest: Timestamp,
        /// Where that is.
        beside: String,
        /// How many days lie between.
        days: i64,
        /// Their length.
        unit: Span,
    },
    /// An entity cannot be taken in.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// A day cannot be made a run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Memory was refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// Days without a transaction that may lie between two that have some.
pub const LONGEST_GAP: i64 = 10_000;

/// No vertex, yet or at all.
const NONE: VertexId = VertexId::MAX;

/// A stream of transactions.
#[derive(Debug)]
pub struct Stream {
    taking: Taking,
    kinds: Vec<KindId>,
    /// Which columns of ids make pairs.
    pairs: Vec<(usize, usize)>,
    has_amounts: bool,
    entities: Entities,
    /// Days that have not ended, with what was taken of them.
    open: BTreeMap<i64, Open>,
    latest: Option<(Timestamp, Spot)>,
    /// The names of the files, or of the query, so far.
    inputs: Vec<String>,
    neighbours: Neighbours<Held>,
    limit: Limit,
    time_column: String,
    /// The vertices of the row that is taken, column by column.
    vertices: Vec<VertexId>,
    /// Days before this one have ended.
    ended: i64,
    /// The day that ends next; none before the first did.
    next: Option<i64>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Open {
    deals: Vec<Deal>,
    sums: Sums,
    transactions: u64,
    /// Deals of each pair of columns.
    links: Vec<u64>,
    /// The ends of these, if there are several pairs.
    columns: Vec<Vec<(VertexId, VertexId)>>,
}

/// The day that rows are put into, and those that ended meanwhile.
#[derive(Debug, Default)]
struct Current {
    day: Option<i64>,
    open: Open,
    ended: Vec<Ended>,
}

/// What of a row is not an id.
#[derive(Clone, Copy)]
struct Row {
    time: Timestamp,
    amount: u64,
    spot: Spot,
}

/// The ids of a row, by column.
trait Ids {
    /// The vertex, if it was looked up and is there.
    fn known(&self, column: usize) -> Option<VertexId>;

    /// The id, if there is one.
    fn id(&self, column: usize) -> Option<&str>;
}

/// A row of a batch, whose ids were looked up.
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

impl Ids for Held {
    fn known(&self, _: usize) -> Option<VertexId> {
        None
    }

    fn id(&self, column: usize) -> Option<&str> {
        self.ids[column].as_deref()
    }
}

/// A row that waits for a verdict on its time.
#[derive(Debug)]
struct Held {
    ids: Vec<Option<String>>,
    amount: u64,
}

impl Held {
    fn of(batch: &Batch, row: usize) -> Held {
        let id = |ids: &StringArray| (!is_empty(ids, row)).then(|| ids.value(row).to_owned());
        Held {
            ids: batch.ids.iter().map(id).collect(),
            amount: batch.amounts.get(row).copied().unwrap_or(0),
        }
    }
}

/// The amounts that a single transaction may have: an edge must be able to weigh it.
#[derive(Debug)]
struct Limit {
    weighing: Arc<Weighing>,
    column: String,
    decimals: u32,
    /// The largest amount that is known to fit.
    fits: u64,
}

impl Limit {
    fn new(mapping: &Mapping, weighing: Arc<Weighing>) -> Limit {
        let amount = mapping.amount.as_ref();
        Limit {
            weighing,
            column: amount.map_or(String::new(), |amount| amount.column.clone()),
            decimals: amount.map_or(0, |amount| amount.decimals),
            fits: 0,
        }
    }

    #[inline]
    fn check(&mut self, amount: u64) -> Option<FaultKind> {
        if amount <= self.fits { None } else { self.look(amount) }
    }

    /// Of rows, few have more than all before.
    fn look(&mut self, amount: u64) -> Option<FaultKind> {
        let unit = 10f64.powi(-(self.decimals as i32));
        let why = match self.weighing.stored(1, amount, unit, 0.0) {
            _ if amount > MOST_AMOUNT => "is more than 2⁵⁰ of the smallest unit".into(),
            Err(bad @ BadWeight::TooLarge(_)) => format!("makes an edge whose weight {bad}"),
            _ => {
                self.fits = amount;
                return None;
            }
        };
        let text = Amount { units: amount, decimals: self.decimals }.to_string();
        Some(FaultKind::TooLarge { column: self.column.clone(), text, why })
    }
}

impl Stream {
    /// A stream of which nothing came yet.
    ///
    /// `weighing` tells which amounts an edge cannot weigh.
    ///
    /// # Errors
    /// Where the mapping has too many kinds.
    pub fn new(
        mapping: &Mapping,
        weighing: Arc<Weighing>,
        taking: Taking,
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
            taking,
            vertices: vec![NONE; kinds.len()],
            kinds,
            pairs,
            has_amounts: mapping.amount.is_some(),
            entities,
            open: BTreeMap::new(),
            latest: None,
            inputs: Vec::new(),
            neighbours: Neighbours::new(
                taking.late.map_or(taking.longest_gap, |late| late.max(taking.longest_gap)),
                if taking.is_followed { Patience::FOLLOWED } else { Patience::WHOLE },
            ),
            limit: Limit::new(mapping, weighing),
            time_column: mapping.time.column.clone(),
            ended: i64::MIN,
            next: None,
            counts: Counts::default(),
        })
    }

    /// Who was seen so far.
    pub fn entities(&self) -> &Entities {
        &self.entities
    }

    /// What was counted so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The latest time that was seen.
    pub fn latest(&self) -> Option<Timestamp> {
        self.latest.map(|(time, _)| time)
    }

    /// Bytes that entities and open days occupy.
    pub fn bytes(&self) -> u64 {
        let of_columns = |open: &Open| open.columns.iter().map(Vec::capacity).sum::<usize>();
        let bytes = |open: &Open| {
            let arrays = size_of::<Deal>() * open.deals.capacity() + 8 * of_columns(open);
            arrays as u64 + open.sums.bytes()
        };
        self.entities.bytes() + self.open.values().map(bytes).sum::<u64>()
    }

    /// Takes some transactions; the days that end with them.
    ///
    /// # Errors
    /// The first row that cannot be taken. Those before it were taken, but the days that they ended are lost: a
    /// stream is not to be used after an error.
    pub fn push(&mut self, batch: &Batch, origin: &str) -> Result<Vec<Ended>, StreamError> {
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
            let spot = Spot { input, place: batch.places.of(row) };
            if let Some(fault) = fault {
                self.skip_fault(&fault.kind, spot)?;
                continue;
            }
            let amount = batch.amounts.get(row).copied().unwrap_or(0);
            if let Some(fault) = self.limit.check(amount) {
                self.skip_fault(&fault, spot)?;
                continue;
            }
            if !self.neighbours.is_near(time, spot) {
                let judged = self.neighbours.judge(time, spot, Held::of(batch, row));
                let judged = judged.map_err(|undecided| self.pause(undecided))?;
                self.settle(judged, &mut current)?;
                continue;
            }
            let ids = OfBatch { batch, known: &known, row };
            self.take(Row { time, amount, spot }, &ids, &mut current)?;
        }
        self.put_back(&mut current);
        Ok(current.ended)
    }

    /// Takes rows that waited for a verdict.
    fn settle(
        &mut self,
        judged: Vec<Judged<Held>>,
        current: &mut Current,
    ) -> Result<(), StreamError> {
        for Judged { time, spot, row, far } in judged {
            if let Some(Far { side, around, beside }) = far {
                let (column, gap) = (self.time_column.clone(), self.neighbours.gap());
                let beside = self.named(beside);
                self.skip_fault(&FaultKind::Far { column, time, side, around, beside, gap }, spot)?;
                continue;
            }
            self.take(Row { time, amount: row.amount, spot }, &row, current)?;
        }
        Ok(())
    }

    /// Takes a row, if its day has not ended and its amount does not exceed what a day may have.
    fn take(&mut self, row: Row, ids: &impl Ids, current: &mut Current) -> Result<(), StreamError> {
        let Row { time, amount, .. } = row;
        let unit = time.unit(self.taking.unit);
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
        let Open { deals, sums, links, columns, .. } = &mut current.open;
        links.resize(self.pairs.len(), 0);
        if self.pairs.len() > 1 {
            columns.resize(self.pairs.len(), Vec::new());
        }
        for (place, &(source, target)) in self.pairs.iter().enumerate() {
            let (source, target) = (self.vertices[source], self.vertices[target]);
            if source != NONE && target != NONE {
                links[place] += u64::from(source != target);
                memory::push(deals, Deal { source, target, time, amount })?;
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

    /// Whether the sums of the row's pairs in its day are within bounds also with it.
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
        // Who was never seen has no sum: two of those exceed nothing, as no single amount does.
        let pairs = self.pairs.iter().filter_map(|&(a, b)| Some((vertices(a)?, vertices(b)?)));
        let pairs: Vec<(VertexId, VertexId)> = pairs.collect();
        let Open { deals, sums, .. } = &mut current.open;
        match sums.first_exceeded(deals, &pairs, row.amount)? {
            None => Ok(true),
            Some(ends) => {
                let fault = self.sum_too_large(ends, unit, row.amount);
                self.skip_fault(&fault, row.spot).map(|()| false)
            }
        }
    }

    /// The fault of a row with which the amounts of a pair sum up to too much.
    fn sum_too_large(&self, (a, b): (VertexId, VertexId), unit: i64, amount: u64) -> FaultKind {
        let name = |v| format!("{} {}", self.entities.kind_name_of(v), self.entities.id_of(v));
        let decimals = self.limit.decimals;
        FaultKind::Sum {
            column: self.limit.column.clone(),
            text: Amount { units: amount, decimals }.to_string(),
            ends: format!("{} and {}", name(a), name(b)),
            day: Timestamp(unit.saturating_mul(self.taking.unit.micros())),
            unit: self.taking.unit,
            most: Amount { units: MOST_AMOUNT, decimals }.to_string(),
        }
    }

    /// A place as messages name it.
    fn named(&self, spot: Spot) -> String {
        format!("{}{}", self.origin(spot), spot.place)
    }

    fn origin(&self, spot: Spot) -> String {
        self.inputs.get(spot.input as usize).cloned().unwrap_or_default()
    }

    /// The error of rows that nothing decides on.
    fn pause(&self, Undecided { time, spot, rows, far }: Undecided) -> StreamError {
        let Far { side, around, beside } = far;
        StreamError::Pause {
            at: self.named(spot),
            time,
            rows,
            side,
            around,
            beside: self.named(beside),
            gap: self.neighbours.gap(),
        }
    }

    /// Counts a row with a fault, where such rows are left out.
    fn skip_fault(&mut self, fault: &FaultKind, spot: Spot) -> Result<(), StreamError> {
        if !self.taking.skip_bad_rows {
            // The first row that is wrong is the one to tell of, also where it waits for a verdict. What is undecided
            // may be right.
            if let Ok(judged) = self.neighbours.finish() {
                self.settle(judged, &mut Current::default())?;
            }
            let (origin, place) = (self.origin(spot), spot.place);
            return Err(StreamError::Row { origin, place, fault: Box::new(fault.clone()) });
        }
        *self.counts.faults.entry(fault.name().into()).or_default() += 1;
        let place = self.named(spot);
        self.counts.name(|| format!("{place}: {fault}"));
        Ok(())
    }

    /// Whether a row's day has not ended.
    fn is_in_time(&mut self, row: Row, unit: i64) -> Result<bool, StreamError> {
        if unit >= self.ended {
            return Ok(true);
        }
        let Row { time, spot, .. } = row;
        let (latest, beside) = self.latest.unwrap_or((time, spot));
        let beside = self.named(beside);
        if !self.taking.skip_late_rows {
            let (origin, place) = (self.origin(spot), spot.place);
            return Err(StreamError::Late { origin, place, time, latest, beside });
        }
        self.counts.late += 1;
        let place = self.named(spot);
        self.counts.name(|| {
            format!("{place}: {time} comes after {latest} ({beside}), when its day had ended")
        });
        Ok(false)
    }

    /// Notes a row's time; before which day all end with it, if any does.
    fn end_with(&mut self, row: Row, unit: i64) -> Result<Option<i64>, StreamError> {
        let Row { time, spot, .. } = row;
        let before = self.latest;
        let unit_before = before.map_or(unit, |(latest, _)| latest.unit(self.taking.unit));
        if before.is_some_and(|(latest, _)| time <= latest) {
            self.counts.out_of_order += u64::from(unit < unit_before);
            return Ok(None);
        }
        self.latest = Some((time, spot));
        let days = unit.saturating_sub(unit_before);
        if days > LONGEST_GAP {
            let (latest, beside) = before.unwrap_or((time, spot));
            let (origin, place, beside) = (self.origin(spot), spot.place, self.named(beside));
            let unit = self.taking.unit;
            return Err(StreamError::Jump { origin, place, time, latest, beside, days, unit });
        }
        let safe = self.taking.late.map_or(time, |late| time.minus(late));
        let safe = safe.unit(self.taking.unit);
        Ok((safe > self.ended).then_some(safe))
    }

    /// Judges the rows that wait, as no more will come; the days that end with them.
    ///
    /// # Errors
    /// If a row cannot be taken.
    pub fn judge_rest(&mut self) -> Result<Vec<Ended>, StreamError> {
        let mut current = Current::default();
        let judged = self.neighbours.finish().map_err(|undecided| self.pause(undecided))?;
        self.settle(judged, &mut current)?;
        self.put_back(&mut current);
        Ok(current.ended)
    }

    /// The end of the stream: all days end.
    ///
    /// # Errors
    /// Where a day cannot be made a run.
    pub fn finish(&mut self) -> Result<Vec<Ended>, StreamError> {
        let mut ended = self.judge_rest()?;
        if let Some(last) = self.open.keys().next_back().copied() {
            let whole = ended.len();
            self.end_until(last + 1, &mut ended)?;
            ended[whole..].iter_mut().for_each(|day| day.is_open = true);
        }
        Ok(ended)
    }

    /// The vertices of a batch's ids, column by column, where they were seen before.
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

    /// Ends the days before this one.
    fn end_until(&mut self, until: i64, ended: &mut Vec<Ended>) -> Result<(), StreamError> {
        self.ended = until;
        let first = self.open.keys().next().copied();
        let Some(mut unit) = self.next.or(first) else { return Ok(()) };
        while unit < until {
            let Open { deals, transactions, links, columns, .. } =
                self.open.remove(&unit).unwrap_or_default();
            let mut run = Run::of(deals, transactions, self.has_amounts)?;
            for (&(a, b), links) in self.pairs.iter().zip(links) {
                *run.links.entry((self.kinds[a], self.kinds[b])).or_default() += links;
            }
            let of_columns = self.pairs.iter().zip(columns);
            run.columns = of_columns
                .map(|(&(a, b), ends)| Linked::of((self.kinds[a], self.kinds[b]), ends))
                .collect();
            ended.push(Ended { unit, run, vertices: self.entities.len(), is_open: false });
            unit += 1;
        }
        // Nothing has begun where nothing has ended.
        if self.next.is_some() || first.is_some_and(|first| first < until) {
            self.next = Some(unit);
        }
        Ok(())
    }
}
