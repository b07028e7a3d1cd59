//! Shares of files: which bytes, row groups or files a rank reads.

use crate::read::{check_delimiter, format_of, read_source, summary_of};
use crate::source::{Pace, Source};
use crate::{
    Compression, Format, Place, ReadError, ReadOptions, ReadSummary, columnar, table_parts, text,
};
use ripplet_graph::{EdgeTable, memory};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// The shares of a rank.
pub(super) struct Shares {
    pub(super) own: Vec<Share>,
    /// The number of files of all ranks.
    pub(super) files: usize,
    /// A hash of their names and sizes, and of their versions in object storage, or samples of their bytes on a disk.
    pub(super) listing: u64,
}

/// Bytes of a sample of a file.
const SAMPLE: u64 = 4 << 10;
/// The most samples of a file, and of all files, each of which has one at least.
const MOST_SAMPLES: u64 = 256;
const ALL_SAMPLES: u64 = 1 << 12;

/// A share of one file.
pub(super) struct Share {
    pub(super) source: Source,
    format: Format,
    rows: Rows,
}

/// The rows of a share.
enum Rows {
    All,
    /// The lines that begin in a range of the file's bytes.
    Lines(Range<u64>),
    /// The row groups in a range of the file's bytes, as if each row took as many of them; and the size of the file.
    Groups(Range<u64>, u64),
}

impl Shares {
    /// Returns the shares of a rank of several: of all files one after the other, as many bytes as the others have.
    pub(super) fn of(
        path: &Path,
        options: &ReadOptions,
        rank: usize,
        ranks: usize,
    ) -> Result<Shares, ReadError> {
        let files = match table_parts::files_of(path)? {
            Some(files) => files,
            None => vec![Source::of(path)?],
        };
        let (mut sized, mut listing) = (Vec::new(), DefaultHasher::new());
        let samples = (ALL_SAMPLES / files.len() as u64).clamp(1, MOST_SAMPLES);
        for source in files {
            let file = source.path();
            let format = format_of(file, options)?;
            table_parts::check_is_table(file, format)?;
            check_delimiter(file, format, options)?;
            let failed = |error| ReadError::io(file, Place::File, error);
            let size = source.size().map_err(failed)?;
            let version = source.version();
            (file, size, &version).hash(&mut listing);
            if version.is_none() && source.is_plain() {
                hash_samples(file, size, samples, &mut listing).map_err(failed)?;
            }
            memory::push(&mut sized, (source, format, size))
                .map_err(|error| crate::fault::Fault::from(error).of(path))?;
        }
        let all: u128 = sized.iter().map(|&(_, _, size)| u128::from(size)).sum();
        // The last rank has what begins at the end of all: files without a byte.
        let bound = |rank: usize| match rank == ranks {
            true => u128::MAX,
            false => all * rank as u128 / ranks as u128,
        };
        let ours = bound(rank)..bound(rank + 1);
        let (mut own, mut before) = (Vec::new(), 0u128);
        let files = sized.len();
        for (source, format, size) in sized {
            let begin = before;
            before += u128::from(size);
            let within = |place: u128| place.clamp(begin, before).saturating_sub(begin) as u64;
            let range = within(ours.start)..within(ours.end);
            // Rank 0 says which columns are read, also if it reads no row.
            let is_head = rank == 0 && begin == 0 && format != Format::Parquet;
            // Nothing of the file is this rank's, however it is read.
            if range.is_empty() && !is_head && !ours.contains(&begin) {
                continue;
            }
            let rows = match is_divided(&source, format)? {
                true if range.is_empty() && !is_head => continue,
                true if format == Format::Parquet => Rows::Groups(range, size),
                true => Rows::Lines(range),
                false if ours.contains(&begin) => Rows::All,
                false => continue,
            };
            own.push(Share { source, format, rows });
        }
        Ok(Shares { own, files, listing: listing.finish() })
    }
}

/// Adds samples of a file's bytes to a hash, evenly spaced from its first ones on.
fn hash_samples(file: &Path, size: u64, samples: u64, hash: &mut DefaultHasher) -> io::Result<()> {
    let mut opened = File::open(file)?;
    let samples = samples.min(size.div_ceil(SAMPLE));
    let last = size.saturating_sub(SAMPLE);
    for sample in 0..samples {
        let begin = u128::from(last) * u128::from(sample) / u128::from(samples.max(2) - 1);
        opened.seek(SeekFrom::Start(begin as u64))?;
        let mut bytes = Vec::new();
        opened.by_ref().take(SAMPLE).read_to_end(&mut bytes)?;
        bytes.hash(hash);
    }
    Ok(())
}

/// Whether a file is read in shares: one with bytes that is Parquet, or a text that is not compressed.
fn is_divided(source: &Source, format: Format) -> Result<bool, ReadError> {
    if format == Format::Arrow || !source.is_plain() {
        return Ok(false);
    }
    let file = source.path();
    let mut first = Vec::new();
    let opened = source.reader(0..4, Pace::First).and_then(|mut all| all.read_to_end(&mut first));
    opened.map_err(|error| ReadError::io(file, Place::File, error))?;
    let named = Format::of_path(file).map_or(Compression::None, |(_, compression)| compression);
    let compression = text::compression_of_named(named, &first);
    // The reader of the whole file says what is wrong with its compression.
    let is_plain = format == Format::Parquet || compression == Ok(Compression::None);
    Ok(!first.is_empty() && is_plain)
}

impl Share {
    /// Reads the edges; returns the number of comments between them that the summary does not mention, too.
    pub(super) fn read(
        &self,
        options: &ReadOptions,
    ) -> Result<(EdgeTable, ReadSummary, u64), ReadError> {
        let Share { source, format, rows } = self;
        let file = source.path();
        let (edges, columns, comments) = match rows {
            Rows::All => {
                let (edges, summary) = read_source(source, options)?;
                return Ok((edges, summary, 0));
            }
            Rows::Lines(range) => text::read_share(source, *format, options, range.clone())
                .map_err(|fault| fault.of(file))?,
            Rows::Groups(range, size) => {
                let (edges, columns) =
                    columnar::read_share(source, *format, options, range.clone(), *size)?;
                (edges, columns, 0)
            }
        };
        let summary = summary_of(&edges, columns, file)?;
        Ok((edges, summary, comments))
    }
}
