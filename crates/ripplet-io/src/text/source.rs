//! Splits a byte stream into lines and batches of whole lines.
//!
//! Plain files are read, not mapped: a copy out of the page cache costs a few percent of the parsing and
//! overlaps with it, while truncating a mapped file would end the process. So a plain file, a compressed one
//! and a pipe are handled alike.

use super::decode::is_trailing_bytes;
use crate::fault::Fault;
use crate::{Compression, Place, ReadErrorKind};
use memchr::{memchr, memchr_iter, memrchr};
use ripplet_graph::{Cancel, Cancelled, OutOfMemory, memory, tasks};
use std::io::{self, Read};
use std::ops::Range;

/// Bytes that one task parses: they stay in a core's cache between counting and parsing.
const CHUNK: usize = 256 << 10;
/// Bytes that are parsed while the next batch is read.
const BATCH: usize = 16 << 20;
/// Bytes that a look-ahead reads at a time.
const LOOK: usize = 64 << 10;
/// Longest line of a table: beyond any real row, a bound on memory for a file without line ends.
pub(super) const LONGEST_ROW: usize = BATCH;
/// The longest line of an adjacency list: about 25 million neighbours.
pub(super) const LONGEST_LIST: usize = 256 << 20;
/// Bytes behind a wrong row that are decompressed in search of damage: some seconds' worth, so that a pipe without an end ends.
const MOST_PASSED: u64 = 1 << 30;
/// Longest line of a file whose line breaks have no meaning, such as GML.
pub(crate) const LONGEST_OF_WORDS: usize = 64 << 20;

/// Text that is being read.
pub(crate) struct Text<'a> {
    reader: Box<dyn Read + Send + 'a>,
    compression: Compression,
    /// Bytes from `start` on were read and not yet returned.
    buffer: Vec<u8>,
    start: usize,
    end: End,
    /// Number of lines returned.
    line: u64,
    /// Number of bytes returned or skipped.
    passed: u64,
    longest: usize,
}

/// A reader that fails once the flag is set.
struct Cancellable<'a> {
    reader: Box<dyn Read + Send + 'a>,
    cancel: Cancel,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.cancel.check().map_err(io::Error::other)?;
        self.reader.read(buffer)
    }
}

/// Whether there may be more to read.
enum End {
    NotYet,
    Reached,
    /// Data before the error is returned first, so that an error in it comes first.
    Failed(io::Error),
}

/// Error that ends the lines of a text; its line number is known once all lines before it are parsed.
enum Trouble {
    TooLong,
    Failed,
}

/// Batch of whole lines. The last line of a text may lack its line end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    pub(super) bytes: &'a [u8],
    /// Number of lines: an upper bound of the rows.
    pub(super) lines: u64,
}

/// Error of a line of a chunk, counted from 0.
#[derive(Debug)]
pub(super) struct LineFault {
    pub(super) line: u64,
    pub(super) kind: ReadErrorKind,
}

impl LineFault {
    pub(super) fn new(line: u64, why: impl Into<ReadErrorKind>) -> LineFault {
        LineFault { line, kind: why.into() }
    }
}

/// A failed memory allocation has no line.
impl From<OutOfMemory> for LineFault {
    fn from(error: OutOfMemory) -> LineFault {
        LineFault::new(0, error)
    }
}

/// Consumer of the results of some chunks.
type Take<'t, T> = dyn FnMut(Vec<Parsed<'_, T>>) -> Result<(), Fault> + 't;

/// Result of a chunk.
#[derive(Debug)]
pub(super) struct Parsed<'a, T> {
    pub(super) outcome: T,
    pub(super) chunk: Chunk<'a>,
    /// Number of the line before the chunk.
    pub(super) line: u64,
}

impl<'a> Text<'a> {
    /// Creates a text in UTF-8 (or any ASCII-compatible encoding if names are not read), with or without a
    /// byte order mark. `compression` is that of `reader`, for errors.
    pub(crate) fn new(
        reader: Box<dyn Read + Send + 'a>,
        compression: Compression,
    ) -> Result<Text<'a>, Fault> {
        let mut text = Text { compression, ..Text::of_lines(reader) };
        text.read_by(Text::begin)?;
        Ok(text)
    }

    /// Skips a byte order mark, and refuses what is no text in UTF-8.
    fn begin(&mut self) -> Result<(), Fault> {
        match self.look_ahead(8) {
            // An id may begin so, but no such byte follows it.
            [b'P', b'A', b'R', b'1', 0..=8, ..] | [b'P', b'A', b'R', b'1', 14..=31, ..] => {
                return Err(Fault::whole(binary("Parquet", "parquet")));
            }
            [b'A', b'R', b'R', b'O', b'W', b'1', 0, 0, ..] => {
                return Err(Fault::whole(binary("Arrow", "arrow")));
            }
            [0xef, 0xbb, 0xbf, ..] => self.skip_bytes(3),
            // With a byte order mark, or letters with a zero beside each.
            [0xff, 0xfe, ..]
            | [0xfe, 0xff, ..]
            | [1..=127, 0, 1..=127, 0, ..]
            | [0, 1..=127, 0, 1..=127, ..] => {
                return Err(Fault::whole(
                    "the text is UTF-16: convert it to UTF-8, such as with iconv -f UTF-16 -t UTF-8",
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// Creates a text of some lines of a longer one, which is not compressed.
    pub(super) fn of_lines(reader: Box<dyn Read + Send + 'a>) -> Text<'a> {
        let (compression, buffer, end) = (Compression::None, Vec::new(), End::NotYet);
        let longest = LONGEST_ROW;
        Text { reader, compression, buffer, start: 0, end, line: 0, passed: 0, longest }
    }

    /// Returns the text, whose reading fails once the flag is set.
    pub(crate) fn cancelled_by(self, cancel: &Cancel) -> Text<'a> {
        let reader = Box::new(Cancellable { reader: self.reader, cancel: cancel.clone() });
        Text { reader, ..self }
    }

    /// Sets the length above which a line is an error.
    pub(crate) fn longest_line(&mut self, bytes: usize) {
        self.longest = bytes;
    }

    /// Returns the number of lines returned so far.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Returns the number of bytes before those that were not yet returned or skipped, until chunks are parsed.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// Returns the next bytes: at least `bytes` of them, unless the text ends before.
    pub(crate) fn look_ahead(&mut self, bytes: usize) -> &[u8] {
        let held = self.buffer.len() - self.start;
        if held < bytes && matches!(self.end, End::NotYet) {
            self.buffer.drain(..self.start);
            self.start = 0;
            Self::fill(&mut self.reader, &mut self.end, &mut self.buffer, bytes.max(LOOK));
        }
        &self.buffer[self.start..]
    }

    /// Returns the next line, without its end, which stays to be read.
    pub(crate) fn peek_line(&mut self) -> Result<Option<&[u8]>, Fault> {
        let mut searched = 0;
        let length = loop {
            // The buffer is searched before more is read: reading moves all of it.
            let ahead = &self.buffer[self.start..];
            let (held, end) = (ahead.len(), memchr(b'\n', &ahead[searched..]));
            match (end, &self.end) {
                (Some(end), _) => break searched + end,
                (None, End::NotYet) if held > self.longest => {
                    return Err(self.fault(Trouble::TooLong));
                }
                (None, End::NotYet) => {
                    searched = held;
                    self.look_ahead(2 * held.max(LOOK));
                }
                (None, End::Reached) if held == 0 => return Ok(None),
                (None, End::Reached) => break held,
                (None, End::Failed(_)) => return Err(self.fault(Trouble::Failed)),
            }
        };
        let line = &self.buffer[self.start..self.start + length];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Skips the next line.
    pub(crate) fn skip_line(&mut self) {
        let rest = &self.buffer[self.start..];
        let length = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        self.start += length;
        self.passed += length as u64;
        self.line += 1;
    }

    /// Skips the given number of bytes, and counts their line ends.
    pub(crate) fn skip_bytes(&mut self, bytes: usize) {
        let passed = &self.buffer[self.start..self.start + bytes];
        self.line += match passed {
            [byte] => u64::from(*byte == b'\n'),
            bytes => memchr_iter(b'\n', bytes).count() as u64,
        };
        self.start += bytes;
        self.passed += bytes as u64;
    }

    /// Returns the next byte, if it is in memory already.
    #[inline]
    pub(crate) fn take_held_byte(&mut self) -> Option<u8> {
        let &byte = self.buffer.get(self.start)?;
        self.start += 1;
        self.passed += 1;
        self.line += u64::from(byte == b'\n');
        Some(byte)
    }

    /// Whether the bytes ended with an error instead of the end of the text.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.end, End::Failed(_))
    }

    /// Returns why there are no more bytes, if that is not the end of the text.
    pub(crate) fn failed(&mut self) -> Option<Fault> {
        self.has_failed().then(|| self.failure())
    }

    /// Runs a reader of the text. If it fails, and the rest of compressed data turns out to be damaged, that is the error: the
    /// bytes that the reader failed on came from there.
    ///
    /// # Errors
    /// That of the compressed data, or else of the reader.
    pub(crate) fn read_by<T>(
        &mut self,
        read: impl FnOnce(&mut Text<'a>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let fault = match read(self) {
            Err(fault) if self.compression != Compression::None && fault.is_of_content() => fault,
            done => return done,
        };
        if matches!(self.end, End::NotYet)
            && let Err(error) = pass_over(&mut self.reader)
        {
            self.end = End::Failed(error);
        }
        match &self.end {
            End::Failed(error) if is_damage(error) => Err(self.failure()),
            _ => Err(fault),
        }
    }

    /// Skips lines that `skip` accepts.
    pub(super) fn skip_lines(&mut self, skip: impl Fn(&[u8]) -> bool) -> Result<(), Fault> {
        while self.peek_line()?.is_some_and(&skip) {
            self.skip_line();
        }
        Ok(())
    }

    /// Parses the rest, chunk by chunk in parallel, and passes the results to `take` in the order of the
    /// text, with the chunk and the number of the line before it.
    ///
    /// # Errors
    /// The first error of reading, `parse` or `take` in the order of the text.
    pub(super) fn parse_chunks<T: Send>(
        &mut self,
        parse: impl Fn(Chunk<'_>) -> Result<T, LineFault> + Sync,
        mut take: impl FnMut(T, Chunk<'_>, u64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.parse_batches(parse, |batch| {
            let mut parsed = batch.into_iter();
            parsed.try_for_each(|parsed| take(parsed.outcome, parsed.chunk, parsed.line))
        })
    }

    /// Parses the rest as [`Text::parse_chunks`] does, and passes the results to `take` in batches, which it
    /// may process in parallel.
    ///
    /// # Errors
    /// The first error of reading, `parse` or `take` in the order of the text.
    pub(super) fn parse_batches<T: Send>(
        &mut self,
        parse: impl Fn(Chunk<'_>) -> Result<T, LineFault> + Sync,
        mut take: impl FnMut(Vec<Parsed<'_, T>>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.parse_batches_dyn(&parse, &mut take)
    }

    /// [`Text::parse_batches`], compiled once for each type of results.
    fn parse_batches_dyn<T: Send>(
        &mut self,
        parse: &(dyn Fn(Chunk<'_>) -> Result<T, LineFault> + Sync),
        take: &mut Take<'_, T>,
    ) -> Result<(), Fault> {
        let mut next = self.next_batch(Vec::new());
        let mut spare = Vec::new();
        while let Some(batch) = next.map_err(|trouble| self.fault(trouble))? {
            let parse_batch = || {
                let chunks = cut(&batch);
                tasks::map(chunks.len(), |at| {
                    let chunk = Chunk { bytes: chunks[at], lines: count_lines(chunks[at]) };
                    (chunk, parse(chunk))
                })
            };
            let (outcomes, read) = tasks::join(parse_batch, || self.next_batch(spare));
            let (mut parsed, mut end) = (Vec::with_capacity(outcomes.len()), Ok(()));
            for (chunk, outcome) in outcomes {
                let line = self.line;
                match outcome {
                    Ok(outcome) => parsed.push(Parsed { outcome, chunk, line }),
                    Err(fault) => {
                        end = Err(Fault::line(line + fault.line + 1, fault.kind));
                        break;
                    }
                }
                self.line += chunk.lines;
            }
            // An earlier chunk may have another error, which comes first.
            take(parsed)?;
            end?;
            next = read;
            spare = batch;
        }
        Ok(())
    }

    /// Returns the next whole lines, about [`BATCH`] bytes, in the memory of `batch`.
    fn next_batch(&mut self, mut batch: Vec<u8>) -> Result<Option<Vec<u8>>, Trouble> {
        batch.clear();
        if let Err(refused) = memory::extend(&mut batch, &self.buffer[self.start..]) {
            self.end = End::Failed(refused_by_memory(refused));
            return Err(Trouble::Failed);
        }
        self.buffer.clear();
        self.start = 0;
        let mut wanted = BATCH;
        loop {
            Self::fill(&mut self.reader, &mut self.end, &mut batch, wanted);
            let whole = memrchr(b'\n', &batch).map(|end| end + 1);
            match (&self.end, whole) {
                (End::Reached, _) => return Ok((!batch.is_empty()).then_some(batch)),
                (_, Some(whole)) => {
                    if let Err(refused) = memory::extend(&mut self.buffer, &batch[whole..]) {
                        self.end = End::Failed(refused_by_memory(refused));
                        return Err(Trouble::Failed);
                    }
                    batch.truncate(whole);
                    return Ok(Some(batch));
                }
                (End::Failed(_), None) => return Err(Trouble::Failed),
                (End::NotYet, None) if batch.len() > self.longest => return Err(Trouble::TooLong),
                (End::NotYet, None) => wanted = 2 * batch.len(),
            }
        }
    }

    /// Reads until `bytes` holds `wanted`, or the text ends.
    fn fill(reader: &mut dyn Read, end: &mut End, bytes: &mut Vec<u8>, wanted: usize) {
        while matches!(end, End::NotYet) && bytes.len() < wanted {
            // The buffer grows with the text: a small text does not allocate a whole batch.
            let missing = (wanted - bytes.len()).min(bytes.len().max(LOOK));
            if let Err(refused) = memory::reserve(bytes, missing) {
                *end = End::Failed(refused_by_memory(refused));
                return;
            }
            match reader.take(missing as u64).read_to_end(bytes) {
                Ok(0) => *end = End::Reached,
                Ok(_) => {}
                Err(error) => *end = End::Failed(error),
            }
        }
    }

    /// Returns the error at the end of the returned lines.
    fn fault(&mut self, trouble: Trouble) -> Fault {
        match trouble {
            Trouble::Failed => self.failure(),
            Trouble::TooLong => Fault::line(
                self.line + 1,
                format!(
                    "no line end within {} MiB: this is not a text of this format",
                    self.longest >> 20
                ),
            ),
        }
    }

    /// Returns why reading failed, as an error of the file: bad compressed data is the file's fault, other
    /// errors are the system's.
    fn failure(&mut self) -> Fault {
        let End::Failed(error) = std::mem::replace(&mut self.end, End::Reached) else {
            return Fault::whole("the text ended early");
        };
        if let Some(refused) = error.get_ref().and_then(|inner| inner.downcast_ref::<OutOfMemory>())
        {
            return Fault::whole(*refused);
        }
        if error.kind() == io::ErrorKind::OutOfMemory || is_zstd_refusal(&error) {
            let kind = ReadErrorKind::Io(io::ErrorKind::OutOfMemory.into());
            return Fault { place: Place::File, kind };
        }
        let compressed = match self.compression {
            Compression::None => None,
            Compression::Gzip => Some("gzip"),
            Compression::Zstd => Some("zstd"),
        };
        match compressed {
            Some(_) if is_trailing_bytes(&error) => Fault::whole(error.to_string()),
            Some(name) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Fault::whole(format!("the {name} data ends early: the file was cut short"))
            }
            Some(name) if error.raw_os_error().is_none() => {
                Fault::whole(format!("the {name} data is damaged: {error}"))
            }
            _ => Fault { place: Place::File, kind: ReadErrorKind::Io(error) },
        }
    }
}

/// Decompresses text, as far as it is looked at for damage.
pub(crate) fn pass_over(reader: &mut dyn Read) -> io::Result<()> {
    io::copy(&mut reader.take(MOST_PASSED), &mut io::sink()).map(|_| ())
}

/// Whether an error of reading compressed data is the data's fault: not the system's, and not that the run was cancelled.
pub(crate) fn is_damage(error: &io::Error) -> bool {
    let inner = error.get_ref();
    error.raw_os_error().is_none()
        && error.kind() != io::ErrorKind::OutOfMemory
        && !is_zstd_refusal(error)
        && !inner.is_some_and(|inner| inner.is::<OutOfMemory>() || inner.is::<Cancelled>())
}

/// Returns the message for bytes that are no text.
fn binary(what: &str, format: &str) -> String {
    format!("this is {what}, not a text: use --from {format}, or name the file .{format}")
}

/// Whether this is zstd's error of a failed allocation (`ZSTD_error_memory_allocation`).
fn is_zstd_refusal(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Other && error.to_string().starts_with("Allocation error")
}

fn refused_by_memory(error: OutOfMemory) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, error)
}

/// Cuts a batch into pieces of about [`CHUNK`] bytes, each ending at a line end.
fn cut(batch: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::with_capacity(batch.len() / CHUNK + 1);
    let mut rest = batch;
    while !rest.is_empty() {
        let end = rest.get(CHUNK..).and_then(|tail| Some(CHUNK + memchr(b'\n', tail)? + 1));
        let (chunk, others) = rest.split_at(end.unwrap_or(rest.len()));
        chunks.push(chunk);
        rest = others;
    }
    chunks
}

/// Returns the number of lines, including a last one without its end.
fn count_lines(bytes: &[u8]) -> u64 {
    let open = bytes.last().is_some_and(|&last| last != b'\n');
    memchr_iter(b'\n', bytes).count() as u64 + u64::from(open)
}

/// Returns the lines of a chunk without their ends.
pub(super) fn lines(chunk: &[u8]) -> impl Iterator<Item = &[u8]> {
    spans(chunk).map(|span| &chunk[span])
}

/// Returns the ranges of the lines of a chunk, without their ends.
pub(super) fn spans(chunk: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        let rest = chunk.get(start..).filter(|rest| !rest.is_empty())?;
        let end = start + memchr(b'\n', rest).unwrap_or(rest.len());
        next = end + 1;
        let carriage_return = chunk[start..end].ends_with(b"\r");
        Some(start..end - usize::from(carriage_return))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    fn text(bytes: &[u8]) -> Text<'_> {
        Text::new(Box::new(Cursor::new(bytes)), Compression::None).unwrap()
    }

    #[test]
    fn a_hundred_megabytes_of_nothing_are_passed_over_in_linear_time() {
        let nothing = io::repeat(b'\n').take(100 << 20).chain(Cursor::new(&b"1 2\n"[..]));
        let mut text = Text::new(Box::new(nothing), Compression::None).unwrap();
        let begin = std::time::Instant::now();
        text.skip_lines(<[u8]>::is_empty).unwrap();
        assert_eq!((text.line(), text.peek_line().unwrap()), (100 << 20, Some(&b"1 2"[..])));
        // One refill a line copied 64 KiB a line: hours.
        assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
    }

    /// Counts the reads of a reader.
    struct Counted<'a>(&'a [u8], &'a AtomicUsize);

    impl Read for Counted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1.fetch_add(1, Relaxed);
            self.0.read(buffer)
        }
    }

    #[test]
    fn lines_that_are_held_are_not_read_for() {
        let bytes = "# a comment\n\n".repeat(100_000);
        let reads = AtomicUsize::new(0);
        let reader = Counted(bytes.as_bytes(), &reads);
        let mut text = Text::new(Box::new(reader), Compression::None).unwrap();
        text.skip_lines(|_| true).unwrap();
        assert_eq!(text.line(), 200_000);
        assert!(reads.load(Relaxed) < 200, "{reads:?} reads of 1.3 MB");
    }

    /// Returns its bytes a few at a time, then an error or the end.
    struct Slow<'a> {
        bytes: &'a [u8],
        fails: bool,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.bytes.is_empty() && self.fails {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let length = buffer.len().min(self.bytes.len()).min(3);
            buffer[..length].copy_from_slice(&self.bytes[..length]);
            self.bytes = &self.bytes[length..];
            Ok(length)
        }
    }

    fn whole_lines(text: &mut Text<'_>) -> (Vec<Vec<u8>>, Result<(), Fault>) {
        let mut all = Vec::new();
        let parse = |chunk: Chunk<'_>| Ok(lines(chunk.bytes).map(<[u8]>::to_vec).collect());
        let end = text.parse_chunks(parse, |some: Vec<_>, chunk, before| {
            assert_eq!(before, all.len() as u64);
            assert_eq!(chunk.lines, some.len() as u64);
            all.extend(some);
            Ok(())
        });
        (all, end)
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        let many: Vec<String> =
            (0..200_000).map(|i| format!("line {i} {}", "x".repeat(i % 200))).collect();
        let joined = many.join("\n");
        assert!(joined.len() > BATCH, "more than a batch");
        let (found, end) = whole_lines(&mut text(joined.as_bytes()));
        end.unwrap();
        assert!(found.iter().zip(&many).all(|(a, b)| a == b.as_bytes()));
        assert_eq!(found.len(), many.len());
    }

    #[test]
    fn line_ends_and_marks_are_not_part_of_a_line() {
        for bytes in [&b"a\nb\n"[..], b"a\r\nb", b"\xef\xbb\xbfa\nb\r\n"] {
            let (found, end) = whole_lines(&mut text(bytes));
            end.unwrap();
            assert_eq!(found, [b"a", b"b"]);
            let mut by_line = text(bytes);
            assert_eq!(by_line.peek_line().unwrap(), Some(&b"a"[..]));
            by_line.skip_line();
            by_line.skip_lines(|line| line == b"b").unwrap();
            assert_eq!(by_line.peek_line().unwrap(), None);
            assert_eq!(by_line.line(), 2);
        }
        assert!(Text::new(Box::new(&b"\xff\xfe1\0"[..]), Compression::None).is_err());
    }

    #[test]
    fn what_comes_before_a_failure_is_read() {
        let slow = |fails| {
            let bytes = b"one\ntwo\nthr";
            Text::new(Box::new(Slow { bytes, fails }), Compression::Gzip).unwrap()
        };
        let (found, end) = whole_lines(&mut slow(false));
        end.unwrap();
        assert_eq!(found, [&b"one"[..], b"two", b"thr"]);
        let (found, end) = whole_lines(&mut slow(true));
        assert_eq!(found, [b"one", b"two"]);
        let ReadErrorKind::Content(sentence) = end.unwrap_err().kind else { panic!() };
        assert_eq!(sentence, "the gzip data ends early: the file was cut short");
    }

    #[test]
    fn damage_behind_a_wrong_row_is_the_error() {
        let wrong = |text: &mut Text<'_>| -> Result<(), Fault> {
            text.skip_line();
            Err(Fault::line(1, "a wrong row"))
        };
        let read = |compression, fails, bytes: &[u8]| {
            let mut text = Text::new(Box::new(Slow { bytes, fails }), compression).unwrap();
            text.read_by(wrong).unwrap_err().kind.to_string()
        };
        let long = "1 2\n".repeat(100_000);
        for bytes in [&b"one\ntwo\n"[..], long.as_bytes()] {
            for compression in [Compression::Gzip, Compression::Zstd] {
                assert!(
                    read(compression, true, bytes).contains("data ends early"),
                    "{compression:?}"
                );
                assert_eq!(read(compression, false, bytes), "a wrong row");
            }
            assert_eq!(read(Compression::None, true, bytes), "a wrong row");
        }
        // Other errors stay what they are.
        let mut text = Text::new(Box::new(Slow { bytes: b"1\n", fails: true }), Compression::Gzip);
        let refused =
            |_: &mut Text<'_>| -> Result<(), Fault> { Err(OutOfMemory { bytes: 7 }.into()) };
        let fault = text.as_mut().unwrap().read_by(refused).unwrap_err();
        assert!(matches!(fault.kind, ReadErrorKind::OutOfMemory(_)), "{fault:?}");
    }

    #[test]
    fn a_file_without_line_ends_does_not_fill_the_memory() {
        let endless = || Text::new(Box::new(io::repeat(b'x')), Compression::None).unwrap();
        assert!(endless().peek_line().is_err());
        let (found, end) = whole_lines(&mut endless());
        assert!(found.is_empty() && end.is_err());
    }

    #[test]
    fn the_first_fault_wins() {
        let bytes = b"1\n".repeat(CHUNK);
        let fails = |line| {
            let parse = |_: Chunk<'_>| Err::<(), _>(LineFault::new(line, "x"));
            text(&bytes).parse_chunks(parse, |(), _, _| Ok(())).unwrap_err().place
        };
        assert_eq!(fails(4), Place::Line(5));
    }
}
