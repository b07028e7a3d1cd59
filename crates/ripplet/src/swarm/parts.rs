//! Where the parts of a batch come from.

use ripplet_graph::batch::{BatchGraph, GraphBatch};
use ripplet_io::ReadError;
use ripplet_io::batch::{BatchPart, BatchReader};
use std::ops::Range;
use std::sync::Arc;

/// A batch, part by part.
pub trait Parts: Send {
    /// The next part; `None` behind the last.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError>;

    /// How much of the batch came already, from 0 to 1.
    fn progress(&self) -> f64;
}

impl Parts for BatchReader {
    fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError> {
        BatchReader::next_part(self)
    }

    fn progress(&self) -> f64 {
        BatchReader::progress(self)
    }
}

/// A batch in memory, in one part.
#[derive(Debug)]
pub struct WholeBatch(Option<GraphBatch>);

impl From<GraphBatch> for WholeBatch {
    fn from(batch: GraphBatch) -> WholeBatch {
        WholeBatch(Some(batch))
    }
}

impl Parts for WholeBatch {
    fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError> {
        let whole = |batch: GraphBatch| {
            let graphs = 0..batch.len();
            BatchPart { batch: Arc::new(batch), graphs }
        };
        Ok(self.0.take().map(whole))
    }

    fn progress(&self) -> f64 {
        if self.0.is_none() { 1.0 } else { 0.0 }
    }
}

/// Parts of others, cut where their graphs would weigh too much together: what a graph weighs is told by a
/// function, and one that weighs too much alone is a part of its own.
pub struct Cut<'a, P> {
    parts: &'a mut P,
    most: u64,
    weight: fn(BatchGraph<'_>) -> u64,
    rest: Option<BatchPart>,
}

impl<'a, P: Parts> Cut<'a, P> {
    /// Parts of `parts` whose graphs weigh at most `most`.
    pub fn new(parts: &'a mut P, most: u64, weight: fn(BatchGraph<'_>) -> u64) -> Cut<'a, P> {
        Cut { parts, most, weight, rest: None }
    }

    /// The graphs of a part that come first.
    fn first_of(&self, part: &BatchPart) -> usize {
        let mut weight = 0u64;
        let too_much = |graph: BatchGraph<'_>| {
            weight = weight.saturating_add((self.weight)(graph));
            weight > self.most
        };
        let graphs = part.slice();
        graphs.graphs().position(too_much).map_or(graphs.len(), |graphs| graphs.max(1))
    }
}

impl<P: Parts> Parts for Cut<'_, P> {
    fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError> {
        let part = match self.rest.take() {
            None => self.parts.next_part()?,
            rest => rest,
        };
        let Some(part) = part else { return Ok(None) };
        let Range { start, end } = part.graphs;
        let middle = start + self.first_of(&part);
        let of = |graphs| BatchPart { batch: part.batch.clone(), graphs };
        self.rest = (middle < end).then(|| of(middle..end));
        Ok(Some(of(start..middle)))
    }

    fn progress(&self) -> f64 {
        self.parts.progress()
    }
}
