//! Files of parts under an index, written and read part by part: the container of `.swarm`, `.rgz` and
//! checkpoints.
//!
//! ```text
//! 0         header, 64 bytes: magic [u8; 8], version u32, zeros
//! 64        parts, each from a multiple of 64, with zero bytes between them: sections and their checksums
//!           (`sections.rs`), the first of them the part's header of 128 bytes
//!           index: an entry for each part, of whole words: begin u64, length u64, and what else the format has
//! end - 64  footer: begin of the index u64, five words of the format, CRC-32 of header and index u32, CRC-32 of
//!           bytes 0 to 52 of the footer u32, magic [u8; 8]
//! ```

use crate::output::{AtomicFile, Output, refused};
use crate::sections::{ALIGNMENT, Sections, aligned, pair, sealed, verify, word};
use crate::{Place, ReadError, ReadErrorKind, WriteError};
use ripplet_graph::{Buffer, OutOfMemory, memory};
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) const PART_HEADER_BYTES: u64 = 128;
const HEADER_BYTES: u64 = 64;
const FOOTER_BYTES: u64 = 64;

/// Bytes that outlive their readers, such as a mapped file.
pub(crate) type Owner = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Words of a footer, without checksums and magic.
pub(crate) type Words = [u64; 6];

/// Properties of a container format.
#[derive(Debug)]
pub(crate) struct Format {
    /// Name with its article: `an .rgz`.
    pub name: &'static str,
    /// The first byte is not valid text, so that the file is not mistaken for a text.
    pub magic: [u8; 8],
    /// Version; a reader only reads its own.
    pub version: u32,
    /// Plural of what is appended: `shards`.
    pub parts: &'static str,
    /// Number of words in an index entry.
    pub entry: usize,
}

/// Index of a file, before any part is read.
pub(crate) struct Index<'a, Footer> {
    pub footer: Footer,
    /// Range of each part; they are contiguous up to the index.
    pub parts: Vec<Range<u64>>,
    /// The entries of the parts, concatenated.
    pub entries: &'a [u8],
}

/// Returns the error of a file whose index is damaged.
pub(crate) fn damaged(path: &Path, at: u64) -> ReadError {
    let sentence = "the index of the parts is damaged: copy the file or make it again";
    ReadError::content(path, Place::Byte(at), sentence)
}

impl Format {
    fn header(&self) -> [u8; HEADER_BYTES as usize] {
        let mut words = [0u64; 8];
        words[0] = u64::from_le_bytes(self.magic);
        words[1] = u64::from(self.version);
        bytemuck::cast(words)
    }

    fn footer(&self, words: Words, sum: u32) -> [u8; FOOTER_BYTES as usize] {
        let mut all = [0u64; 8];
        all[..6].copy_from_slice(&words);
        all[6] = u64::from(sum);
        all[7] = u64::from_le_bytes(self.magic);
        let own = crc32fast::hash(&bytemuck::bytes_of(&all)[..52]);
        all[6] = pair(sum, own);
        bytemuck::cast(all)
    }

    /// Returns the footer's words and the checksum of header and index; `None` if it is damaged.
    fn words(&self, footer: &[u8]) -> Option<(Words, u32)> {
        let sums = word(footer, 6);
        let whole = crc32fast::hash(&footer[..52]) == (sums >> 32) as u32
            && word(footer, 7) == u64::from_le_bytes(self.magic);
        whole.then(|| ([0, 1, 2, 3, 4, 5].map(|at| word(footer, at)), sums as u32))
    }

    /// Reads the index. `footer` converts the footer's words to the format's value and the number of parts;
    /// `None` for invalid words.
    ///
    /// # Errors
    /// If the file has another format or version, is truncated, or its index is damaged.
    pub fn index<'a, Footer>(
        &self,
        bytes: &'a [u8],
        path: &Path,
        footer: impl FnOnce(Words) -> Option<(Footer, u64)>,
    ) -> Result<Index<'a, Footer>, ReadError> {
        let Format { name, magic, version, entry, .. } = self;
        let wrong = |at, sentence: &str| ReadError::content(path, Place::Byte(at), sentence);
        if cfg!(target_endian = "big") {
            return Err(ReadError::content(path, Place::File, self.big_endian()));
        }
        let length = bytes.len() as u64;
        if length < HEADER_BYTES + FOOTER_BYTES {
            let sentence = format!("{name} has 128 bytes at least: this file was cut short");
            return Err(wrong(length, &sentence));
        }
        if bytes[..8] != *magic {
            let sentence = format!("this is not {name} file: its first bytes are others");
            return Err(wrong(0, &sentence));
        }
        let found = word(bytes, 1);
        if found != u64::from(*version) {
            let sentence = format!(
                "the file has version {found}, this program reads version {version}: make it again"
            );
            return Err(wrong(8, &sentence));
        }
        let end = length - FOOTER_BYTES;
        let cut = "the file has no whole footer: it was cut short or damaged, make it again";
        let read = self.words(&bytes[end as usize..]);
        let read = read.and_then(|(words, sum)| Some((words[0], footer(words)?, sum)));
        let (index, (footer, count), sum) = read.ok_or_else(|| wrong(end, cut))?;
        let damaged = |at| damaged(path, at);
        let entry = 8 * *entry as u64;
        let begin = count.checked_mul(entry).and_then(|all| end.checked_sub(all));
        if begin != Some(index) || index < HEADER_BYTES {
            return Err(damaged(end));
        }
        let entries = &bytes[index as usize..end as usize];
        let mut found = crc32fast::Hasher::new();
        found.update(&bytes[..HEADER_BYTES as usize]);
        found.update(entries);
        if found.finalize() != sum || bytes[16..64].iter().any(|&byte| byte != 0) {
            return Err(damaged(index));
        }
        let places = entries.chunks_exact(entry as usize).map(|entry| {
            let (begin, length) = (word(entry, 0), word(entry, 1));
            begin..begin.saturating_add(length)
        });
        let parts = memory::collected(places).map_err(|refused| out_of_memory(path, refused))?;
        match lie_close(bytes, index, &parts) {
            true => Ok(Index { footer, parts, entries }),
            false => Err(damaged(index)),
        }
    }

    fn big_endian(&self) -> String {
        let (_, name) = self.name.split_once(' ').unwrap_or(("", self.name));
        format!("{name} files need a little-endian machine")
    }
}

/// Whether the parts are contiguous up to the index, with zero bytes between them.
fn lie_close(bytes: &[u8], index: u64, parts: &[Range<u64>]) -> bool {
    let zeros = |from: u64, to: u64| {
        let between = bytes.get(from as usize..to as usize);
        between.is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0))
    };
    let mut end = HEADER_BYTES;
    for part in parts {
        if part.end > index || part.start != aligned(end) || !zeros(end, part.start) {
            return false;
        }
        end = part.end;
    }
    index == aligned(end) && zeros(end, index)
}

pub(crate) fn out_of_memory(path: &Path, refused: OutOfMemory) -> ReadError {
    ReadError { path: path.into(), place: Place::File, kind: ReadErrorKind::OutOfMemory(refused) }
}

/// Returns the error of a damaged part: its description, position, and reason.
pub(crate) fn damaged_part(path: &Path, what: &str, at: u64, why: &str) -> ReadError {
    let sentence = format!("{what} of the file is damaged: {why}; copy the file or make it again");
    ReadError::content(path, Place::Byte(at), sentence)
}

/// Cursor over the sections of a verified part; positions count from the start of the file.
pub(crate) struct Part<'a> {
    owner: &'a Owner,
    at: u64,
    end: u64,
}

impl<'a> Part<'a> {
    /// Opens a part, verifies its checksums, and returns its header; `what` describes it in an error.
    ///
    /// # Errors
    /// If the header does not fit the part, or a checksum is wrong.
    pub fn open(
        owner: &'a Owner,
        path: &Path,
        part: Range<u64>,
        what: &str,
    ) -> Result<(Part<'a>, &'a [u8]), ReadError> {
        let Range { start, end } = part;
        let bytes = &(**owner).as_ref()[start as usize..end as usize];
        let head = bytes.get(..PART_HEADER_BYTES as usize);
        let fits = |head: &&[u8]| {
            word(head, 0) >= PART_HEADER_BYTES && sealed(word(head, 0)) == Some(end - start)
        };
        let Some(head) = head.filter(fits) else {
            return Err(damaged_part(path, what, start, "its header does not fit it"));
        };
        let data_end = word(head, 0);
        verify(bytes, data_end as usize, path, start).map_err(|error| ReadError {
            kind: format!("{what}: {}", error.kind).into(),
            ..error
        })?;
        let (at, end) = (start + PART_HEADER_BYTES, start + data_end);
        Ok((Part { owner, at, end }, head))
    }

    /// Returns the next section of `values` values.
    pub fn section<T: bytemuck::Pod>(&mut self, values: u64) -> Option<Buffer<T>> {
        // Parts begin at multiples of 64.
        let begin = aligned(self.at);
        let end = values.checked_mul(size_of::<T>() as u64)?.checked_add(begin)?;
        if end > self.end {
            return None;
        }
        self.at = end;
        Buffer::shared(self.owner.clone(), begin as usize..end as usize)
    }

    /// Whether all sections were read.
    pub fn is_taken(&self) -> bool {
        self.at == self.end
    }
}

/// Ends of the sections of a part, as its header has them.
pub(crate) fn data_end(sections: &[&[u8]]) -> u64 {
    sections.iter().fold(PART_HEADER_BYTES, |end, bytes| aligned(end) + bytes.len() as u64)
}

/// Writer of a file of parts, which appears atomically when it is finished.
#[derive(Debug)]
pub(crate) struct PartsWriter {
    format: &'static Format,
    path: PathBuf,
    file: Output,
    /// Bytes written.
    at: u64,
    /// Whether writing failed, so that the file must not appear.
    failed: bool,
}

impl PartsWriter {
    /// Creates a file that will be `path`.
    ///
    /// # Errors
    /// If the folder does not exist or is not writable, or `path` is standard output.
    pub fn create(format: &'static Format, path: &Path) -> Result<PartsWriter, WriteError> {
        if path == Path::new("-") {
            let sentence =
                format!("{} is a file, which standard output need not be: name one", format.name);
            return Err(WriteError { path: path.into(), source: refused(sentence) });
        }
        PartsWriter::of(format, path, || AtomicFile::create(path).map(Output::File))
    }

    /// Creates a writer of an output that is called `path`.
    ///
    /// # Errors
    /// If `open` fails.
    pub fn of(
        format: &'static Format,
        path: &Path,
        open: impl FnOnce() -> Result<Output, WriteError>,
    ) -> Result<PartsWriter, WriteError> {
        if cfg!(target_endian = "big") {
            let source = io::Error::new(ErrorKind::Unsupported, format.big_endian());
            return Err(WriteError { path: path.into(), source });
        }
        let file = open()?;
        let mut writer = PartsWriter { format, path: path.into(), file, at: 0, failed: false };
        writer.write_all(&format.header()).map_err(|source| writer.error(source))?;
        Ok(writer)
    }

    /// Checks that no write failed so far.
    ///
    /// # Errors
    /// If one failed: the file cannot be finished then.
    pub fn ready(&self) -> io::Result<()> {
        let sentence = || {
            let parts = self.format.parts;
            format!("{parts} before could not be written, so the file is not whole")
        };
        if self.failed { Err(io::Error::other(sentence())) } else { Ok(()) }
    }

    /// Records the result of appending.
    pub fn note(&mut self, appended: io::Result<()>) -> Result<(), WriteError> {
        self.failed |= appended.is_err();
        appended.map_err(|source| self.error(source))
    }

    /// Writes a part, whose header has the ends of its sections; returns its position and length.
    pub fn part(
        &mut self,
        header: &[u8; PART_HEADER_BYTES as usize],
        sections: &[&[u8]],
    ) -> io::Result<[u64; 2]> {
        let mut all = Sections::default();
        all.push(header);
        sections.iter().for_each(|bytes| all.push(bytes));
        self.pad()?;
        all.write(&mut self.file)?;
        let length = sealed(all.end()).ok_or_else(|| io::Error::other("the part is too long"))?;
        let begin = self.at;
        self.at += length;
        Ok([begin, length])
    }

    /// Writes the index, of the words of all entries, and the footer, whose first word is the position of the
    /// index, and makes the file appear; returns its size in bytes.
    pub fn finish(mut self, entries: &[u64], mut words: Words) -> Result<u64, WriteError> {
        let written = self.ready().and_then(|()| self.write_index(entries, &mut words));
        self.note(written)?;
        let bytes = self.at;
        self.file.finish().map(|()| bytes)
    }

    fn write_index(&mut self, entries: &[u64], words: &mut Words) -> io::Result<()> {
        self.pad()?;
        words[0] = self.at;
        let entries: &[u8] = bytemuck::cast_slice(entries);
        let mut sum = crc32fast::Hasher::new();
        sum.update(&self.format.header());
        sum.update(entries);
        self.write_all(entries)?;
        self.write_all(&self.format.footer(*words, sum.finalize()))
    }

    fn pad(&mut self) -> io::Result<()> {
        let missing = aligned(self.at) - self.at;
        self.write_all(&[0; ALIGNMENT as usize][..missing as usize])
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    pub fn error(&self, source: io::Error) -> WriteError {
        WriteError { path: self.path.clone(), source }
    }
}
