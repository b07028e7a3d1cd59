//! A share of a text table: the lines that begin in a range of its bytes.
//!
//! ```text
//! file    # comment\n source,target\n a,b\n b,c\n c,d\n d,e\n
//! ranges  └──────────────── 0 ──────────────┘└────── 1 ──────┘     some bytes each
//! rows                                └─── 0 ───┘└─── 1 ───┘      the lines that begin there, behind the head
//! ```
//!
//! The head says how the rows of all shares are read. Shares of ranges that cover the file one after the other are all rows.

use super::Text;
use super::table::TableHead;
use crate::fault::Fault;
use crate::source::{Pace, Source};
use crate::summary::ReadColumns;
use crate::{Compression, Format, Place, ReadErrorKind, ReadOptions};
use memchr::{memchr, memchr_iter};
use ripplet_graph::EdgeTable;
use std::io;
use std::ops::Range;

/// Bytes that are searched for a line end at a time.
const BLOCK: usize = 64 << 10;

/// Reads the edges of the lines that begin in a range of the bytes of a file, which is not compressed; there may be none.
/// Returns the number of comments that are to be mentioned, too.
///
/// # Errors
/// The errors of reading the head, or one of these lines; [`ReadErrorKind::NoEdges`] if the file has no row at all, not even a header.
pub(crate) fn read_share(
    source: &Source,
    format: Format,
    options: &ReadOptions,
    range: Range<u64>,
) -> Result<(EdgeTable, ReadColumns, u64), Fault> {
    let all = source.reader(0..u64::MAX, Pace::First).map_err(failed)?;
    let text = Text::new(all, Compression::None)?;
    let mut text = text.cancelled_by(&options.cancel);
    let head = TableHead::of(&mut text, format, options)?;
    let rows = text.passed();
    let begin = first_line_from(source, range.start.max(rows), rows).map_err(failed)?;
    let end = first_line_from(source, range.end.max(rows), rows).map_err(failed)?;
    let lines = source.reader(begin..end.max(begin), Pace::All).map_err(failed)?;
    let mut lines = Text::of_lines(lines).cancelled_by(&options.cancel);
    head.edges(&mut lines).map_err(|fault| match fault.place {
        Place::Line(line) => match lines_before(source, begin) {
            Ok(before) => Fault { place: Place::Line(before + line), ..fault },
            Err(error) => failed(error),
        },
        _ => fault,
    })
}

/// Returns where the first line begins that begins at `from` or later: `first` is the begin of one.
fn first_line_from(source: &Source, from: u64, first: u64) -> io::Result<u64> {
    if from <= first {
        return Ok(first);
    }
    let mut at = from - 1;
    let mut rest = source.reader(at..u64::MAX, Pace::First)?;
    let mut block = vec![0; BLOCK];
    loop {
        let length = match rest.read(&mut block) {
            Ok(0) => return Ok(at),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match memchr(b'\n', &block[..length]) {
            Some(end) => return Ok(at + end as u64 + 1),
            None => at += length as u64,
        }
    }
}

/// Returns the number of lines before a byte, which begins one.
fn lines_before(source: &Source, byte: u64) -> io::Result<u64> {
    let mut rest = source.reader(0..byte, Pace::All)?;
    let (mut block, mut lines) = (vec![0; BLOCK], 0);
    loop {
        match rest.read(&mut block) {
            Ok(0) => return Ok(lines),
            Ok(length) => lines += memchr_iter(b'\n', &block[..length]).count() as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn failed(error: io::Error) -> Fault {
    Fault { place: Place::File, kind: ReadErrorKind::Io(error) }
}
