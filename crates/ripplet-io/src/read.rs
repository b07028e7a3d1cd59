//! Chooses the reader of a file by its format, and opens its bytes.

use crate::address::is_remote;
use crate::exchange;
use crate::fault::Fault;
use crate::small::is_plain_file;
use crate::source::{Pace, Source};
use crate::summary::{ReadColumns, ReadSummary};
use crate::text::{self, Text, Vertices};
use crate::{Compression, Format, Place, ReadError, ReadErrorKind, ReadOptions};
use crate::{bv, columnar, table_parts};
use bytes::Bytes;
use ripplet_graph::{EdgeTable, memory};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// Reads the edges of a file, or of several that are the parts of one table.
///
/// A path may be the address of an object: `s3://bucket/key`, `gs://…`, `az://…`, `abfss://…`, `https://…` or `http://…`, if
/// the feature `object-storage` is on.
///
/// If the last component of a path has a wildcard (`*`, `?` or `[…]`) and names no file, such as `days/*.csv`, all files
/// that match are read: edge lists, `.csv`, `.tsv`, `.jsonl`, Parquet or Arrow, with equal columns. Their edges are those
/// of one file of all rows, in any order. `-` is standard input, an edge list unless the options give another format. The format is
/// [`ReadOptions::format`], else that of the extension; the extension or the first bytes decide on
/// compression. Vertices are the ids in a table, all of `1..n` in a matrix or a METIS graph, all of `0..n-1`
/// in a BV graph, and the contents of the `.v` file for LDBC. A `.graph` file is a BV graph if a properties
/// file beside it says so ([`crate::bv`]), else METIS.
///
/// Runs on rayon's current pool; the table does not depend on the number of threads.
///
/// Memory: twice the table, and 32 MiB.
///
/// # Errors
/// If the file cannot be read or violates the format; for a text, the error is that of the first such line.
///
/// # Examples
/// ```
/// use ripplet_io::{ReadOptions, read_edges};
///
/// let path = std::env::temp_dir().join(format!("ripplet-read-edges-{}.csv", std::process::id()));
/// std::fs::write(&path, "source,target\nann,bob\nbob,cid\n")?;
/// let edges = read_edges(&path, &ReadOptions::default())?;
/// assert_eq!((edges.len(), edges.ids().len()), (2, 3));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_edges(path: &Path, options: &ReadOptions) -> Result<EdgeTable, ReadError> {
    Ok(read_edges_with_summary(path, options)?.0)
}

/// Reads the edges of a file as [`read_edges`] does, with a summary of what was read.
///
/// # Errors
/// The errors of [`read_edges`].
///
/// # Examples
/// ```
/// use ripplet_io::{ReadOptions, read_edges_with_summary};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("payments.csv");
/// std::fs::write(&path, "payer,payee,amount\nann,bob,7\n")?;
/// let (edges, summary) = read_edges_with_summary(&path, &ReadOptions::default())?;
/// assert_eq!(edges.len(), 1);
/// assert!(summary.to_string().contains("source = \"payer\", target = \"payee\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_edges_with_summary(
    path: &Path,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadSummary), ReadError> {
    let is_told = options.has_named_columns();
    match table_parts::files_of(path)? {
        Some(files) => table_parts::join(path, &files, is_told, |file| {
            table_parts::check_is_table(file.path(), format_of(file.path(), options)?)?;
            read_source(file, options)
        }),
        None => read_source(&Source::of(path)?, options),
    }
}

/// Reads the edges of one file.
pub(crate) fn read_source(
    source: &Source,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadSummary), ReadError> {
    let path = source.path();
    let standard_input = path == Path::new("-");
    let format = match format_of(path, options)? {
        Format::Metis if options.format.is_none() && bv::is_beside(path) => Format::Bv,
        format => format,
    };
    check_delimiter(path, format, options)?;
    match format {
        Format::Bv => Ok(without_columns(bv::read(path, options)?)),
        format @ (Format::Parquet | Format::Arrow) if standard_input => {
            let bytes = read_standard_input().map_err(|fault| fault.of(path))?;
            let (edges, columns) = columnar::parse_named(bytes, format, options, path)?;
            let summary = summary_of(&edges, columns, path)?;
            Ok((edges, summary))
        }
        format @ (Format::Parquet | Format::Arrow) => {
            let (edges, columns) = columnar::read_source(source, format, options)?;
            let summary = summary_of(&edges, columns, path)?;
            Ok((edges, summary))
        }
        format if format.is_finished_graph() => Err(finished(path, format)),
        Format::Ldbc if standard_input => Err(ReadError::content(
            path,
            Place::File,
            "an LDBC graph is two files: expected the path of its .e file",
        )),
        Format::Ldbc => Ok(without_columns(read_ldbc_beside(path, options)?)),
        format => {
            let text = open_source(source).map_err(|fault| fault.of(path))?;
            text.cancelled_by(&options.cancel)
                .read_by(|text| read_text(text, format, options))
                .map_err(|fault| fault.of(path))
        }
    }
}

/// Returns the summary of the table of a file.
pub(crate) fn summary_of(
    edges: &EdgeTable,
    columns: ReadColumns,
    path: &Path,
) -> Result<ReadSummary, ReadError> {
    ReadSummary::of_table(edges, columns).map_err(|refused| Fault::from(refused).of(path))
}

/// Rejects a delimiter for a format that has none.
pub(crate) fn check_delimiter(
    path: &Path,
    format: Format,
    options: &ReadOptions,
) -> Result<(), ReadError> {
    if options.delimiter.is_none() || format == Format::EdgeList || format.is_delimited() {
        return Ok(());
    }
    let sentence = format!(
        "--delimiter says what stands between the fields of a text table, and the format {} has none: leave it out, or \
         use --from csv",
        format.name()
    );
    Err(ReadError::content(path, Place::File, sentence))
}

/// Reads all of standard input, for a format that needs random access.
fn read_standard_input() -> Result<Bytes, Fault> {
    /// Bytes by which the buffer grows.
    const STEP: usize = 16 << 20;
    let (mut input, mut bytes) = (io::stdin().lock(), Vec::new());
    loop {
        let more = STEP.min(bytes.len().max(1 << 16));
        memory::reserve(&mut bytes, more)?;
        let step = bytes.capacity() - bytes.len();
        if input.by_ref().take(step as u64).read_to_end(&mut bytes).map_err(system)? == 0 {
            return Ok(bytes.into());
        }
    }
}

fn without_columns(edges: EdgeTable) -> (EdgeTable, ReadSummary) {
    let summary = ReadSummary::of_edges(&edges);
    (edges, summary)
}

fn finished(path: &Path, format: Format) -> ReadError {
    let sentence = format!(
        "an .{} file is a finished graph, not a list of edges: it is opened, not read",
        format.name()
    );
    ReadError::content(path, Place::File, sentence)
}

/// Returns the format of the options, else that of the extension; standard input is an edge list.
pub(crate) fn format_of(path: &Path, options: &ReadOptions) -> Result<Format, ReadError> {
    match (options.format, Format::of_path(path)) {
        (Some(format), _) | (None, Some((format, _))) => Ok(format),
        (None, None) if path == Path::new("-") => Ok(Format::EdgeList),
        // If the file does not exist, its unknown extension is not the error to report.
        (None, None) if is_remote(path) => Source::of(path).and(Err(unknown_format(path))),
        (None, None) => match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(ReadError::io(path, Place::File, error))
            }
            _ => Err(unknown_format(path)),
        },
    }
}

/// Reads the edges of a file in memory, as [`read_edges_with_summary`] does the file of that name. A text may
/// unpack to at most `most` bytes.
///
/// # Errors
/// The errors of [`read_edges`], or if the format needs several files.
pub(crate) fn read_bytes(
    bytes: Bytes,
    path: &Path,
    options: &ReadOptions,
    most: u64,
) -> Result<(EdgeTable, ReadSummary), ReadError> {
    let format = format_of(path, options)?;
    if format.is_finished_graph() {
        return Err(finished(path, format));
    }
    if format == Format::Ldbc {
        let sentence = "an LDBC graph is two files, and one alone cannot be read";
        return Err(ReadError::content(path, Place::File, sentence));
    }
    if format == Format::Bv {
        let sentence = "a BV graph is two files: expected the path of its .graph file";
        return Err(ReadError::content(path, Place::File, sentence));
    }
    check_delimiter(path, format, options)?;
    if !format.is_text() {
        let (edges, columns) = columnar::parse_named(bytes, format, options, path)?;
        let summary = summary_of(&edges, columns, path)?;
        return Ok((edges, summary));
    }
    let read = || {
        let named = Format::of_path(path).map_or(Compression::None, |(_, compression)| compression);
        let compression = text::compression_of_named(named, &bytes).map_err(Fault::whole)?;
        let decoder = text::decoder(&bytes[..], compression);
        let plain = Bounded::new(decoder.map_err(system)?, most);
        let mut text = Text::new(Box::new(plain), compression)?;
        text.read_by(|text| read_text(text, format, options))
    };
    read().map_err(|fault| fault.of(path))
}

/// Reader with a size limit; reading more is an error.
pub(crate) struct Bounded<R> {
    reader: R,
    left: u64,
    most: u64,
}

impl<R> Bounded<R> {
    pub(crate) fn new(reader: R, most: u64) -> Bounded<R> {
        Bounded { reader, left: most, most }
    }

    /// Whether nothing has been read.
    pub(crate) fn is_fresh(&self) -> bool {
        self.left == self.most
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if room > 0 || buffer.is_empty() {
            let length = self.reader.read(&mut buffer[..room])?;
            self.left -= length as u64;
            return Ok(length);
        }
        match self.reader.read(&mut [0])? {
            0 => Ok(0),
            _ => {
                let sentence = format!("it unpacks to more than {} bytes", self.most);
                Err(io::Error::new(io::ErrorKind::InvalidData, sentence))
            }
        }
    }
}

/// Reads the bytes of a reader whose declared size is `size`; more bytes are an error.
pub(crate) fn read_bounded(reader: &mut dyn Read, size: u64) -> Result<Vec<u8>, Fault> {
    /// The buffer grows with the data, as the declared size may be wrong.
    const STEP: u64 = 1 << 20;
    let mut reader = Bounded::new(reader, size);
    let mut bytes = Vec::new();
    loop {
        memory::reserve(&mut bytes, STEP.min(size).max(64) as usize)?;
        let step = reader.by_ref().take(STEP).read_to_end(&mut bytes).map_err(damaged)?;
        if step == 0 {
            return Ok(bytes);
        }
    }
}

/// Bad compressed data is a fault of the file; other errors are the system's.
fn damaged(error: io::Error) -> Fault {
    if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::OutOfMemory {
        return system(error);
    }
    let what = match error.kind() {
        io::ErrorKind::Unsupported => "it is packed in a way that is not read here",
        _ => "its data is damaged",
    };
    Fault::whole(format!("{what}: {error}"))
}

fn system(error: io::Error) -> Fault {
    Fault { place: Place::File, kind: ReadErrorKind::Io(error) }
}

/// Reads an LDBC graph from its two files at any paths; [`read_edges`] finds the `.v` file beside the `.e`
/// file.
///
/// # Errors
/// The errors of [`read_edges`].
pub fn read_ldbc(
    vertices: &Path,
    edges: &Path,
    options: &ReadOptions,
) -> Result<EdgeTable, ReadError> {
    let text = open(edges).map_err(|fault| fault.of(edges))?;
    read_ldbc_edges(vertices, edges, text, options)
}

/// Parses the edges of an uncompressed text in memory, as [`read_edges`] does a file; errors name the input
/// `(bytes)`.
///
/// # Errors
/// The errors of [`read_edges`], or if the format is not text, or is LDBC, which has two files: see
/// [`parse_ldbc`].
///
/// # Examples
/// ```
/// use ripplet_io::{Format, ReadOptions, parse_edges};
///
/// let options = ReadOptions { weighted: true, ..ReadOptions::default() };
/// let edges = parse_edges(b"# a comment\n7 3 0.5\n3 90 2\n", Format::EdgeList, &options)?;
/// assert_eq!((edges.len(), edges.ids().len()), (2, 3));
/// assert_eq!(edges.weights(), Some(&[0.5, 2.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_edges(
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<EdgeTable, ReadError> {
    let path = Path::new("(bytes)");
    if !format.is_text() || format == Format::Ldbc {
        let sentence = format!("the format {} is not one text", format.name());
        return Err(ReadError::content(path, Place::File, sentence));
    }
    check_delimiter(path, format, options)?;
    let parse = || read_text(&mut in_memory(bytes)?, format, options);
    Ok(parse().map_err(|fault| fault.of(path))?.0)
}

/// Parses an LDBC graph from the contents of its `.v` and `.e` files; errors name them so.
///
/// # Errors
/// The errors of [`read_edges`].
pub fn parse_ldbc(
    vertices: &[u8],
    edges: &[u8],
    options: &ReadOptions,
) -> Result<EdgeTable, ReadError> {
    let vertices = || Vertices::read(&mut in_memory(vertices)?, options);
    let vertices = vertices().map_err(|fault| fault.of(Path::new("(bytes).v")))?;
    let edges = || vertices.read_edges(&mut in_memory(edges)?, options);
    edges().map_err(|fault| fault.of(Path::new("(bytes).e")))
}

/// Reads the edges of a text in a format of a single file, with a summary.
fn read_text(
    text: &mut Text<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadSummary), Fault> {
    match format.is_exchange() {
        true => exchange::read(text, format, options),
        false => text::read(text, format, options),
    }
}

/// Returns the text of uncompressed bytes in memory.
pub(crate) fn in_memory(bytes: &[u8]) -> Result<Text<'_>, Fault> {
    Text::new(Box::new(bytes), Compression::None)
}

fn read_ldbc_beside(path: &Path, options: &ReadOptions) -> Result<EdgeTable, ReadError> {
    let text = open(path).map_err(|fault| fault.of(path))?;
    read_ldbc_edges(&vertex_file(path)?, path, text, options)
}

fn read_ldbc_edges(
    vertices: &Path,
    edges: &Path,
    mut text: Text<'_>,
    options: &ReadOptions,
) -> Result<EdgeTable, ReadError> {
    let listed = || open(vertices)?.read_by(|text| Vertices::read(text, options));
    let listed = listed().map_err(|fault| fault.of(vertices))?;
    text.read_by(|text| listed.read_edges(text, options)).map_err(|fault| fault.of(edges))
}

/// Returns the `.v` file beside a `.e` file, with the same or another compression.
fn vertex_file(edges: &Path) -> Result<PathBuf, ReadError> {
    let compression = Format::of_path(edges).map_or(Compression::None, |(_, found)| found);
    let plain = match compression {
        Compression::None => edges.with_extension("v"),
        _ => edges.with_extension("").with_extension("v"),
    };
    let with = |extension: &str| {
        let mut name = plain.clone().into_os_string();
        name.push(extension);
        PathBuf::from(name)
    };
    let mut candidates = vec![plain.clone(), with(".gz"), with(".zst")];
    match compression {
        Compression::None => {}
        Compression::Gzip => candidates.swap(0, 1),
        Compression::Zstd => candidates.swap(0, 2),
    }
    let is_there = |path: &PathBuf| match is_remote(path) {
        true => Source::of(path).is_ok(),
        false => is_plain_file(path),
    };
    candidates.into_iter().find(is_there).ok_or_else(|| {
        let sentence = format!(
            "the vertex file {} is missing: an LDBC graph is a .e file with its .v file beside it",
            plain.display()
        );
        ReadError::content(edges, Place::File, sentence)
    })
}

/// Returns the text of a file, or of standard input, decompressed.
pub(crate) fn open(path: &Path) -> Result<Text<'static>, Fault> {
    let source = Source::of(path).map_err(Fault::unnamed)?;
    open_source(&source)
}

/// Returns the text of a source as [`open`] does.
pub(crate) fn open_source(source: &Source) -> Result<Text<'static>, Fault> {
    let path = source.path();
    let named = Format::of_path(path).map_or(Compression::None, |(_, compression)| compression);
    let mut file: Box<dyn Read + Send> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        if path.is_dir() {
            return Err(system(io::ErrorKind::IsADirectory.into()));
        }
        source.reader(0..u64::MAX, Pace::All).map_err(system)?
    };
    let mut first = Vec::new();
    file.by_ref().take(4).read_to_end(&mut first).map_err(system)?;
    let compression = text::compression_of_named(named, &first).map_err(Fault::whole)?;
    let whole = Cursor::new(first).chain(file);
    Text::new(text::decoder(whole, compression).map_err(system)?, compression)
}

fn unknown_format(path: &Path) -> ReadError {
    let kind = match Format::is_spreadsheet(path) {
        true => ReadErrorKind::Spreadsheet,
        false => ReadErrorKind::UnknownFormat,
    };
    ReadError { path: path.into(), place: Place::File, kind }
}
