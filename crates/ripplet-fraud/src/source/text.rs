//! Transactions in `.csv` and `.tsv`, plain or compressed.
//!
//! The first row names the columns. If it has no comma (in `.tsv`: no tab), the separator is the tab, comma
//! or semicolon that it contains. Fields may be quoted, as in RFC 4180. A row with another number of fields
//! than the first is an error that names its line, as when a file's last row is half written.
//!
//! The parser takes any text for quoted until the next quote, so that one quote too many would swallow the rows behind
//! it. So the quotes of a row that has some are checked: each is closed, a separator follows, and a column that is read has no
//! line break.
//!
//! Blanks around an unquoted field are trimmed, as in edge tables. The parser does not report whether a field
//! was quoted. So the bytes of a row are kept while it is read, and searched for quotes if a field has
//! surrounding blanks.

use super::{Batches, Places, ROWS, RawBatch, SourceError, places_of};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema};
use csv::{ByteRecord, Reader, ReaderBuilder};
use ripplet_io::tables::open_text;
use ripplet_io::{Place, ReadError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest size of a column in a batch in bytes, so that 32-bit offsets suffice.
const MOST_BYTES: usize = 1 << 30;
/// Size of the read buffer in bytes.
const BUFFER: usize = 1 << 18;

/// Opens a text; batches have these columns in this order.
pub(super) fn open(path: &Path, separator: u8, columns: &[&str]) -> Result<Batches, SourceError> {
    let (reader, names) = reader_and_names(path, separator)?;
    rows_of(path, reader, &names, columns)
}

/// Reads a text with commas from a stream; `path` is its name in errors.
pub(super) fn stream(
    path: &Path,
    text: Box<dyn Read + Send>,
    columns: &[&str],
) -> Result<Batches, SourceError> {
    let mut reader = reader_over(text, b',');
    let names = header_of(path, &mut reader)?;
    rows_of(path, reader, &names, columns)
}

/// Reads the rows behind a header.
fn rows_of(
    path: &Path,
    reader: TextReader,
    names: &[String],
    columns: &[&str],
) -> Result<Batches, SourceError> {
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let places = places_of(columns, &names, &path.display().to_string())?;
    let fields = columns.iter().map(|&name| Field::new(name, DataType::Utf8, false));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let separator = reader.separator;
    let reader = reader.records;
    let record = ByteRecord::new();
    let (path, fields) = (path.into(), names.len());
    let mut rows = TextRows { path, reader, separator, fields, places, schema, record };
    let mut over = false;
    Ok(Box::new(std::iter::from_fn(move || {
        if over {
            return None;
        }
        let next = rows.next().transpose();
        over = !matches!(next, Some(Ok(_)));
        next
    })))
}

/// Reader that keeps its last bytes.
struct RecordingReader<R> {
    inner: R,
    bytes: Vec<u8>,
    /// Offset in the text of the first kept byte.
    first: u64,
}

impl<R: Read> Read for RecordingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

impl<R> RecordingReader<R> {
    /// Returns the kept bytes between two offsets in the text.
    fn between(&self, begin: u64, end: u64) -> &[u8] {
        let place =
            |byte: u64| usize::try_from(byte.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let end = place(end).min(self.bytes.len());
        &self.bytes[place(begin).min(end)..end]
    }

    /// Drops the bytes before an offset, if there are many.
    fn forget(&mut self, before: u64) {
        let gone = usize::try_from(before.saturating_sub(self.first)).unwrap_or(0);
        if gone >= BUFFER {
            let gone = gone.min(self.bytes.len());
            self.bytes.drain(..gone);
            self.first += gone as u64;
        }
    }
}

/// Parser of a text, and its separator.
struct TextReader {
    records: Records,
    separator: u8,
}

type Records = Reader<RecordingReader<Box<dyn Read + Send>>>;

fn reader_of(path: &Path, separator: u8) -> Result<TextReader, SourceError> {
    Ok(reader_over(open_text(path)?, separator))
}

fn reader_over(text: Box<dyn Read + Send>, separator: u8) -> TextReader {
    let mut builder = ReaderBuilder::new();
    // Rows of another length are found here, after their quotes are checked.
    let builder = builder.delimiter(separator).flexible(true).buffer_capacity(BUFFER);
    let text = RecordingReader { inner: text, bytes: Vec::new(), first: 0 };
    TextReader { records: builder.from_reader(text), separator }
}

/// First bytes of files that are no text in UTF-8, and what to do with them.
const OTHER_FORMATS: [(&[u8], &str); 4] = [
    (b"\xff\xfe", "the file is not UTF-8, but UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "the file is not UTF-8, but UTF-16: save it as UTF-8"),
    (b"PAR1", "the file is not UTF-8, but Parquet: its name must end with .parquet"),
    (b"ARROW1", "the file is not UTF-8, but Arrow: its name must end with .arrow"),
];

fn header_of(path: &Path, reader: &mut TextReader) -> Result<Vec<String>, SourceError> {
    let header = reader.records.byte_headers().map_err(|error| fault(path, &error))?.clone();
    if header.is_empty() {
        let sentence = "the file is empty: its first row should name the columns";
        return Err(ReadError::content(path, Place::File, sentence).into());
    }
    let first = header.get(0).unwrap_or_default();
    let other = OTHER_FORMATS.iter().find(|(bytes, _)| first.starts_with(bytes));
    if let Some((_, sentence)) = other {
        return Err(ReadError::content(path, Place::File, *sentence).into());
    }
    let (row, line) = row_and_line(&reader.records, header.position());
    check_quotes(path, row, line, reader.separator)?;
    let name = |name: &[u8]| {
        String::from_utf8_lossy(name).trim_start_matches('\u{feff}').trim().to_owned()
    };
    Ok(header.iter().map(name).collect())
}

/// Returns the names in the first row.
pub(super) fn columns_of(path: &Path, separator: u8) -> Result<Vec<String>, SourceError> {
    Ok(reader_and_names(path, separator)?.1)
}

/// Opens a text, reads its first row, and returns the names in it.
fn reader_and_names(path: &Path, separator: u8) -> Result<(TextReader, Vec<String>), SourceError> {
    let mut reader = reader_of(path, separator)?;
    let names = header_of(path, &mut reader)?;
    if let [only] = &names[..] {
        let others = [b'\t', b',', b';'];
        let other = others.into_iter().find(|&other| only.contains(char::from(other)));
        if let Some(other) = other.filter(|&other| other != separator) {
            let mut reader = reader_of(path, other)?;
            let names = header_of(path, &mut reader)?;
            return Ok((reader, names));
        }
    }
    Ok((reader, names))
}

struct TextRows {
    path: PathBuf,
    reader: Records,
    separator: u8,
    /// The fields of a row.
    fields: usize,
    places: Vec<usize>,
    schema: Arc<Schema>,
    record: ByteRecord,
}

/// Builder of a column of a batch.
struct Column {
    bytes: Vec<u8>,
    ends: Vec<i32>,
    /// Fields with surrounding blanks.
    trimmed: u64,
}

impl TextRows {
    fn next(&mut self) -> Result<Option<RawBatch>, SourceError> {
        let new = || Column { bytes: Vec::new(), ends: vec![0], trimmed: 0 };
        let mut columns: Vec<Column> = self.places.iter().map(|_| new()).collect();
        let mut lines = Vec::new();
        while lines.len() < ROWS && columns.iter().all(|column| column.bytes.len() < MOST_BYTES) {
            let more = self.reader.read_byte_record(&mut self.record);
            if !more.map_err(|error| fault(&self.path, &error))? {
                break;
            }
            let begin = self.record.position().map_or(0, csv::Position::byte);
            self.reader.get_mut().forget(begin);
            let (row, line) = row_and_line(&self.reader, self.record.position());
            let has_quotes = memchr::memchr(b'"', row).is_some();
            if has_quotes {
                check_quotes(&self.path, row, line, self.separator)?;
            }
            let found = self.record.len();
            if found != self.fields {
                let sentence = format!(
                    "{found} fields, where the first row has {}: the row is broken, or the file half written",
                    self.fields
                );
                return Err(ReadError::content(&self.path, Place::Line(line), sentence).into());
            }
            for (column, &place) in columns.iter_mut().zip(&self.places) {
                let mut field = self.record.get(place).unwrap_or_default();
                if has_quotes && field.contains(&b'\n') {
                    return Err(broken_field(&self.path, line, field));
                }
                if is_padded(field) && !is_quoted(row, self.separator, place) {
                    field = trimmed(field);
                    column.trimmed += 1;
                }
                if field.len() > MOST_BYTES {
                    let place = Place::Line(line);
                    return Err(ReadError::content(&self.path, place, "a field is too long").into());
                }
                column.bytes.extend_from_slice(field);
                column.ends.push(column.bytes.len() as i32);
            }
            lines.push(line);
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let trimmed = columns.iter().map(|column| column.trimmed).collect();
        let arrays = columns.into_iter().map(|column| self.array(column, &lines));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>, _>>()?;
        let columns = RecordBatch::try_new(self.schema.clone(), arrays);
        let columns = columns
            .map_err(|error| ReadError::content(&self.path, Place::File, error.to_string()))?;
        Ok(Some(RawBatch { columns, places: Places::Lines(lines.into()), trimmed }))
    }

    fn array(&self, column: Column, lines: &[u64]) -> Result<ArrayRef, SourceError> {
        let Column { bytes, ends, .. } = column;
        let is_text = |row: &usize| {
            let field = &bytes[ends[*row] as usize..ends[*row + 1] as usize];
            std::str::from_utf8(field).is_ok()
        };
        if std::str::from_utf8(&bytes).is_err()
            && let Some(row) = (0..lines.len()).find(|row| !is_text(row))
        {
            let place = Place::Line(lines[row]);
            return Err(ReadError::content(&self.path, place, "a field is not UTF-8").into());
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        let array = StringArray::try_new(offsets, Buffer::from_vec(bytes), None);
        let array = array
            .map_err(|error| ReadError::content(&self.path, Place::File, error.to_string()))?;
        Ok(Arc::new(array))
    }
}

/// Whether a field has surrounding blanks.
fn is_padded(field: &[u8]) -> bool {
    field.first().is_some_and(u8::is_ascii_whitespace)
        || field.last().is_some_and(u8::is_ascii_whitespace)
}

/// Returns a field without surrounding blanks and the quotes inside these: the parser only handles quotes at
/// the start of a field.
fn trimmed(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    let quoted = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
    quoted.filter(|inner| !inner.contains(&b'"')).unwrap_or(field)
}

/// Returns the bytes of the row that was read last, without line breaks around it, and its line.
fn row_and_line<'r>(reader: &'r Records, position: Option<&csv::Position>) -> (&'r [u8], u64) {
    let (begin, line) = position.map_or((0, 0), |position| (position.byte(), position.line()));
    let row = reader.get_ref().between(begin, reader.position().byte());
    // The bytes of a row begin with the blank lines before it, and with what is left of the line break before.
    let is_break = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    let (before, row) = row.split_at(row.iter().take_while(is_break).count());
    let breaks = before.iter().filter(|&&byte| byte == b'\n').count();
    (&row[..row.len() - row.iter().rev().take_while(is_break).count()], line + breaks as u64)
}

/// Checks that each quoted field of a row ends, and that a separator follows.
fn check_quotes(path: &Path, row: &[u8], line: u64, separator: u8) -> Result<(), SourceError> {
    let mut rest = row;
    loop {
        let before = &row[..row.len() - rest.len()];
        let line = line + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let wrong = |sentence: &str| {
            let sentence = format!(
                "{sentence}: a quote at the begin of a field is doubled if it belongs to the text, with quotes around \
                 the field"
            );
            Err(ReadError::content(path, Place::Line(line), sentence).into())
        };
        if rest.starts_with(b"\"") {
            let Some(end) = behind_quotes(rest) else {
                return wrong("a field in quotes does not end");
            };
            if rest.get(end).is_some_and(|&next| next != separator) {
                return wrong("text follows the closing quote of a field");
            }
        }
        match behind_field(rest, separator) {
            Some(next) => rest = next,
            None => return Ok(()),
        }
    }
}

/// Returns the error of a field in quotes with a line break, which no id, time or amount has.
fn broken_field(path: &Path, line: u64, field: &[u8]) -> SourceError {
    let first = field.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first.trim_ascii());
    let sentence = format!(
        "the field that begins with `{first}` goes on over a line break: a quote opens it, and the closing one is missing"
    );
    ReadError::content(path, Place::Line(line), sentence).into()
}

/// Whether the field at an index of a row is quoted.
fn is_quoted(row: &[u8], separator: u8, place: usize) -> bool {
    let mut rest = row;
    for _ in 0..place {
        let Some(next) = behind_field(rest, separator) else { return false };
        rest = next;
    }
    rest.starts_with(b"\"")
}

/// Returns the text after a field and its separator.
fn behind_field(text: &[u8], separator: u8) -> Option<&[u8]> {
    let at = if text.starts_with(b"\"") { behind_quotes(text)? } else { 0 };
    let end = at + text[at..].iter().position(|&byte| byte == separator)?;
    Some(&text[end + 1..])
}

/// Returns the place behind the closing quote of a text that begins with a quote.
fn behind_quotes(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr(b'"', &text[at..])? + 1;
        // A doubled quote is a quote in the field.
        if text.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}

/// Converts a parser error.
fn fault(path: &Path, error: &csv::Error) -> SourceError {
    match error.kind() {
        csv::ErrorKind::Io(error) => {
            let error = std::io::Error::new(error.kind(), error.to_string());
            ReadError::io(path, Place::File, error).into()
        }
        _ => ReadError::content(path, Place::File, error.to_string()).into(),
    }
}
