//! Reading of an object from one end of a range to the other, some requests ahead.

use super::{AT_ONCE, Object, PIECE};
use crate::object::store::{Answer, start};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;

/// Bytes of the first request if the first bytes may be enough.
const FIRST: u64 = 64 << 10;
/// Ratio of the bytes of consecutive requests, until they are large.
const GROWTH: u64 = 4;

/// Reader of a range of an object.
pub(crate) struct ObjectReader {
    object: Object,
    /// What is not requested yet.
    rest: Range<u64>,
    /// Bytes of the next request, and how many requests there may be at a time.
    step: u64,
    at_once: usize,
    ahead: VecDeque<Answer<io::Result<Vec<u8>>>>,
    /// Bytes from `at` on were received and not returned.
    received: Vec<u8>,
    at: usize,
}

impl ObjectReader {
    pub(super) fn new(object: Object, range: Range<u64>, all: bool) -> ObjectReader {
        let (step, at_once) = if all { (PIECE, AT_ONCE) } else { (FIRST, 1) };
        let (ahead, received) = (VecDeque::new(), Vec::new());
        ObjectReader { object, rest: range, step, at_once, ahead, received, at: 0 }
    }

    fn request(&mut self) -> io::Result<()> {
        while self.ahead.len() < self.at_once && !self.rest.is_empty() {
            let end = self.rest.end.min(self.rest.start.saturating_add(self.step));
            let (object, range) = (self.object.clone(), self.rest.start..end);
            self.ahead.push_back(start(async move { object.fetch(range).await })?);
            self.rest.start = end;
            if self.step < PIECE {
                self.step = (self.step * GROWTH).min(PIECE);
            } else {
                self.at_once = AT_ONCE;
            }
        }
        Ok(())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.received.len() {
            self.request()?;
            let Some(next) = self.ahead.pop_front() else { return Ok(0) };
            // The memory of what was read is not kept beside that of what comes.
            self.received = Vec::new();
            self.at = 0;
            self.received = next.wait()??;
        }
        let some = &self.received[self.at..];
        let length = some.len().min(buffer.len());
        buffer[..length].copy_from_slice(&some[..length]);
        self.at += length;
        Ok(length)
    }
}
