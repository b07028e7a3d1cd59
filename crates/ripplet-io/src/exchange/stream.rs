//! Stream of text bytes for third-party parsers, with a bound on what they may buffer.

use crate::fault::Fault;
use crate::text::Text;
use std::cell::Cell;
use std::io::{self, BufRead, Read};

/// Largest piece of a text that a parser buffers: a tag, a text, a comment, an element of a list.
pub(super) const LONGEST_PIECE: usize = 1 << 20;

/// Largest piece that a parser skips; of nested lists, it keeps a byte for each level.
const LONGEST_PASSED_OVER: usize = 256 << 20;

/// Position in a stream, and the bytes that a parser may still buffer in one piece.
#[derive(Debug)]
pub(super) struct Meter {
    line: Cell<u64>,
    room: Cell<usize>,
    ended: Cell<bool>,
}

impl Meter {
    pub(super) fn new() -> Meter {
        Meter { line: Cell::new(1), room: Cell::new(LONGEST_PIECE), ended: Cell::new(false) }
    }

    /// Returns the line that the next byte is of.
    pub(super) fn line(&self) -> u64 {
        self.line.get()
    }

    /// Begins a new piece.
    pub(super) fn renew(&self) {
        self.room.set(LONGEST_PIECE);
    }

    /// Begins a piece of which the parser keeps only the depth.
    pub(super) fn release(&self) {
        self.room.set(LONGEST_PASSED_OVER);
    }

    /// Whether the parser reached the limit of a piece.
    pub(super) fn is_used_up(&self) -> bool {
        self.room.get() == 0
    }

    /// Whether the text has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.get()
    }
}

/// Byte stream of a text.
pub(super) struct Stream<'t, 'a> {
    text: &'t mut Text<'a>,
    meter: &'t Meter,
}

impl<'t, 'a> Stream<'t, 'a> {
    pub(super) fn new(text: &'t mut Text<'a>, meter: &'t Meter) -> Stream<'t, 'a> {
        meter.line.set(text.line() + 1);
        Stream { text, meter }
    }

    /// Returns why the text gave no more, if that is not its end.
    pub(super) fn failed(&mut self) -> Option<Fault> {
        self.text.failed()
    }
}

impl BufRead for Stream<'_, '_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let room = self.meter.room.get();
        if room == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if self.text.look_ahead(1).is_empty() {
            self.meter.ended.set(true);
            return match self.text.has_failed() {
                true => Err(io::ErrorKind::InvalidData.into()),
                false => Ok(&[]),
            };
        }
        let bytes = self.text.look_ahead(1);
        Ok(&bytes[..bytes.len().min(room)])
    }

    #[inline]
    fn consume(&mut self, bytes: usize) {
        self.text.skip_bytes(bytes);
        self.meter.line.set(self.text.line() + 1);
        self.meter.room.set(self.meter.room.get() - bytes);
    }
}

impl Read for Stream<'_, '_> {
    /// Reads one byte: a parser of JSON takes one at a time.
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let ([place], Some(room)) = (&mut *buffer, self.meter.room.get().checked_sub(1))
            && let Some(byte) = self.text.take_held_byte()
        {
            *place = byte;
            self.meter.room.set(room);
            self.meter.line.set(self.text.line() + 1);
            return Ok(1);
        }
        let bytes = self.fill_buf()?;
        let length = bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&bytes[..length]);
        self.consume(length);
        Ok(length)
    }
}
