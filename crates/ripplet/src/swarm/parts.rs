//! Sources of the parts of a batch.

use ripplet_graph::batch::{BatchGraph, GraphBatch};
use ripplet_io::ReadError;
use ripplet_io::batch::{BatchPart, BatchReader};
use std::ops::Range;
use std::sync::Arc;

/// A batch that is read part by part.
pub trait Parts: Send {
    /// Returns the next part; `None` after the last.
    ///
    /// # Errors
    /// If it cannot be read.
    fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError>;

    /// Returns the fraction of the batch that has been read, from 0 to 1.
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

/// A batch in memory, as one part.
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

/// Splits parts so that the total weight of their graphs is limited.
///
/// A function gives the weight of a graph. A graph above the limit is a part by itself.
pub struct Cut<'a, P> {
    parts: &'a mut P,
    most: u64,
    weight: fn(BatchGraph<'_>) -> u64,
    rest: Option<BatchPart>,
}

impl<'a, P: Parts> Cut<'a, P> {
    /// Splits `parts` so that the graphs of a part weigh at most `most`.
    pub fn new(parts: &'a mut P, most: u64, weight: fn(BatchGraph<'_>) -> u64) -> Cut<'a, P> {
        Cut { parts, most, weight, rest: None }
    }

    /// Returns the number of graphs in the next part.
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
