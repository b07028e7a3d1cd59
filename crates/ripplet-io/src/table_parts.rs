//! A table in parts: files whose names match a pattern, read as the one table of all their rows.
//!
//! Ids are numbered over all parts, so the edges are those of one file of all rows, in any order of the files.
//!
//! Memory: as for one file of all rows, and what reading the largest part takes.

use crate::address::{check_address, is_remote};
use crate::fault::Fault;
use crate::intern::{self, Ends, Interned, Sign};
use crate::names::NameIndex;
use crate::source::Source;
use crate::summary::ReadSummary;
use crate::{Format, Place, ReadError, ReadErrorKind};
use glob::{MatchOptions, Pattern};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{EdgeTable, ExternalId, VertexId, VertexIds};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The refusal of ids that no integer of 64 bits can hold together.
pub(crate) const BEYOND_64_BITS: &str = "some ids are negative and others above 2^63 - 1, and an id has 64 bits: --ids names reads them as \
     names";
/// Edges of a block, which one thread converts.
const BLOCK: usize = 1 << 20;
/// The most files whose notes the summary has beside those of the first.
const MOST_NOTED: usize = 3;

/// Returns the folder of a path whose last component has a wildcard, and the pattern of names in it; `None` if it has
/// no wildcard, or names a file.
fn pattern_of(path: &Path) -> Option<Result<(&Path, Pattern), String>> {
    let name = path.file_name()?.to_str().filter(|name| name.contains(['*', '?', '[']))?;
    if !is_remote(path) && path.symlink_metadata().is_ok() {
        return None;
    }
    let pattern = Pattern::new(name).map_err(|error| format!("it is not a pattern: {error}"));
    Some(pattern.map(|pattern| (folder_of(path), pattern)))
}

/// Returns the folder of a file: the current one if the path has none.
fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Whether a pattern matches the name of a file. A wildcard does not match the dot of a hidden file.
fn matches(pattern: &Pattern, name: &std::ffi::OsStr) -> bool {
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::default() };
    pattern.matches_with(&name.to_string_lossy(), options)
}

/// Whether `path` is a file that [`read_edges`](crate::read_edges) reads, or would read once it exists, if it is given
/// `pattern`: false if that has no wildcard or names a file.
pub fn is_part_of(path: &Path, pattern: &Path) -> bool {
    let Some(Ok((folder, pattern))) = pattern_of(pattern) else { return false };
    let real = |folder: &Path| match is_remote(folder) {
        true => Some(folder.to_owned()),
        false => fs::canonicalize(folder).ok(),
    };
    path.file_name().is_some_and(|name| matches(&pattern, name))
        && real(folder).is_some_and(|folder| Some(folder) == real(folder_of(path)))
}

/// Returns the files whose names match the last component of a path, if that has a wildcard (`*`, `?` or `[…]`),
/// ascending by name; `None` if it has none, or names a file.
///
/// # Errors
/// If the pattern is not valid, the folder cannot be listed, no file matches, or a match is a folder or the file of another.
pub(crate) fn files_of(path: &Path) -> Result<Option<Vec<Source>>, ReadError> {
    let Some(found) = pattern_of(path) else { return Ok(None) };
    let refused = |sentence: String| ReadError::content(path, Place::File, sentence);
    let (folder, pattern) = found.map_err(refused)?;
    if is_remote(path) {
        check_address(path)?;
        return objects_of(path, folder, &pattern).map(Some);
    }
    let in_folder = |error| ReadError::io(path, Place::File, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(in_folder)? {
        let name = entry.map_err(in_folder)?.file_name();
        if matches(&pattern, &name) {
            memory::push(&mut files, path.with_file_name(name))
                .map_err(|error| Fault::from(error).of(path))?;
        }
    }
    files.sort();
    if files.is_empty() {
        let error = io::Error::new(io::ErrorKind::NotFound, "no file has such a name");
        return Err(ReadError::io(path, Place::File, error));
    }
    let mut links = BTreeMap::new();
    for file in &files {
        if file.is_dir() {
            return Err(ReadError::content(file, Place::File, IS_FOLDER));
        }
        let real =
            fs::canonicalize(file).map_err(|error| ReadError::io(file, Place::File, error))?;
        if let Some(other) = links.insert(real, file) {
            let (a, b) = (other.display(), file.display());
            return Err(refused(format!(
                "{a} and {b} are one file, whose edges would count twice"
            )));
        }
    }
    Ok(Some(files.into_iter().map(Source::File).collect()))
}

/// Returns the objects of a folder whose names match, ascending by name.
fn objects_of(path: &Path, folder: &Path, pattern: &Pattern) -> Result<Vec<Source>, ReadError> {
    let of_pattern = |error: ReadError| ReadError { path: path.into(), ..error };
    let (objects, folders) =
        Source::list(folder, &|name| matches(pattern, name.as_ref())).map_err(of_pattern)?;
    if let Some(name) = folders.first() {
        return Err(ReadError::content(folder.join(name), Place::File, IS_FOLDER));
    }
    match objects.is_empty() {
        true => {
            let error = io::Error::new(io::ErrorKind::NotFound, "no object has such a name");
            Err(ReadError::io(path, Place::File, error))
        }
        false => Ok(objects),
    }
}

const IS_FOLDER: &str = "it is a folder, and a pattern names files: end the pattern with *.csv";

/// Joins the tables that `read` returns for these files, which match a pattern. A part without edges adds nothing.
/// `is_told` is whether the caller chose the columns; otherwise they must be called the same in all files.
///
/// # Errors
/// The errors of `read`; and if the columns of a file or the kind of its ids are not those of the first, or none has
/// edges.
pub(crate) fn join(
    pattern: &Path,
    files: &[Source],
    is_told: bool,
    read: impl Fn(&Source) -> Result<(EdgeTable, ReadSummary), ReadError>,
) -> Result<(EdgeTable, ReadSummary), ReadError> {
    if let [file] = files {
        return read(file);
    }
    let mut table = Joined::new(is_told);
    let mut empty = None;
    for file in files {
        match read(file) {
            Ok((edges, summary)) => table.add(file.path(), &edges, summary)?,
            Err(error) if matches!(error.kind, ReadErrorKind::NoEdges(_)) => empty = Some(error),
            Err(error) => return Err(error),
        }
    }
    match (table.first.is_some(), empty) {
        (false, Some(error)) => Err(error),
        _ => {
            let (edges, mut summary) = table.finish().map_err(|fault| fault.of(pattern))?;
            summary.note_files(files.len());
            Ok((edges, summary))
        }
    }
}

/// Whether a format is a table with one row per edge, whose vertices are those of its edges alone.
pub(crate) fn is_table(format: Format) -> bool {
    use Format::{Arrow, Csv, EdgeList, JsonLines, Parquet, Tsv};
    matches!(format, EdgeList | Tsv | Csv | JsonLines | Parquet | Arrow)
}

/// Rejects a file that is a graph of its own: its vertices are not those of its edges alone.
pub(crate) fn check_is_table(file: &Path, format: Format) -> Result<(), ReadError> {
    if is_table(format) {
        return Ok(());
    }
    let sentence = format!(
        "a file in the format {} is a graph of its own, not a part of a table: give it alone",
        format.name()
    );
    Err(ReadError::content(file, Place::File, sentence))
}

/// The rows of the parts so far.
pub(crate) struct Joined {
    /// The first file with edges, and the summary of all files.
    first: Option<(PathBuf, ReadSummary)>,
    /// The number of other files with notes.
    noted: usize,
    ids: Option<JoinedIds>,
    /// The weights of each part, if there are weights.
    weights: Option<Vec<Vec<f64>>>,
    is_told: bool,
}

/// The ends of each part's edges.
enum JoinedIds {
    /// In two's complement; whether some part's are signed, and whether some are above the largest signed integer.
    Integers { blocks: Vec<Ends>, sign: Sign, above_signed: bool },
    /// Numbers of names, source and target of each edge in turn.
    Names(NameIndex, Vec<Vec<u32>>),
}

impl Joined {
    /// No parts. `is_told` is whether the caller chose the columns; otherwise they must be called the same in all files.
    pub(crate) fn new(is_told: bool) -> Joined {
        Joined { first: None, noted: 0, ids: None, weights: None, is_told }
    }

    /// Adds the edges of a file.
    ///
    /// # Errors
    /// If its columns or the kind of its ids are not those of the files before, or memory is refused.
    pub(crate) fn add(
        &mut self,
        file: &Path,
        edges: &EdgeTable,
        summary: ReadSummary,
    ) -> Result<(), ReadError> {
        match &mut self.first {
            None => self.first = Some((file.into(), summary)),
            Some((first, all)) => {
                if !self.is_told {
                    check_columns(file, &summary, first, all)?;
                }
                all.edges += summary.edges;
                let more = summary.notes.into_iter().filter(|note| !all.notes.contains(note));
                let more: Vec<String> = more.collect();
                all.notes.extend(more);
                if let (Some(all), Some(part)) = (&mut all.columns, summary.columns) {
                    self.noted += usize::from(!part.asides.is_empty());
                    let named = |aside| format!("{aside} in {}", file.display());
                    let kept = part.asides.into_iter().filter(|_| self.noted <= MOST_NOTED);
                    all.asides.extend(kept.map(named));
                }
            }
        }
        self.add_rows(edges).map_err(|fault| fault.of(file))
    }

    fn add_rows(&mut self, edges: &EdgeTable) -> Result<(), Fault> {
        let is_names = matches!(edges.ids(), VertexIds::Names(_));
        let ids = self.ids.get_or_insert_with(|| match is_names {
            true => JoinedIds::Names(NameIndex::default(), Vec::new()),
            false => JoinedIds::Integers {
                blocks: Vec::new(),
                sign: Sign::Unsigned,
                above_signed: false,
            },
        });
        match (ids, edges.ids()) {
            (JoinedIds::Names(index, blocks), VertexIds::Names(names)) => {
                let mut set = index.alike();
                for vertex in 0..names.len() {
                    set.number(names.get(vertex))?;
                }
                let numbers = index.number_sets(&[set])?.pop().unwrap_or_default();
                blocks.extend(blocks_of(edges, |ends| {
                    let mut block = memory::with_room(2 * ends.len())?;
                    block.extend(ends.flatten().map(|vertex| numbers[vertex as usize]));
                    Ok(block)
                })?);
            }
            (JoinedIds::Integers { blocks, sign, above_signed }, of_part) if !is_names => {
                match (of_part, of_part.len()) {
                    (VertexIds::Signed(_), _) => *sign = Sign::Signed,
                    (_, 0) => {}
                    (ids, count) => {
                        let largest = ids.get((count - 1) as VertexId);
                        *above_signed |= ExternalId::from(i64::MAX).precedes(largest);
                    }
                }
                let bits = |vertex| match of_part.get(vertex) {
                    ExternalId::Signed(id) => id as u64,
                    ExternalId::Unsigned(id) => id,
                    ExternalId::Name(_) => unreachable!("ids are of one kind"),
                };
                blocks.extend(blocks_of(edges, |ends| {
                    let mut block = Ends::with_room(ends.len())?;
                    for ends in ends {
                        block.push(ends.map(bits))?;
                    }
                    Ok(block)
                })?);
            }
            (other, _) => {
                let [these, others] = match other {
                    JoinedIds::Names(..) => ["integers", "names"],
                    JoinedIds::Integers { .. } => ["names", "integers"],
                };
                return Err(Fault::whole(mixed_ids(these, others)));
            }
        }
        if let Some(weights) = edges.weights() {
            let mut block = memory::with_room(weights.len())?;
            block.extend_from_slice(weights);
            memory::push(self.weights.get_or_insert_default(), block)?;
        }
        Ok(())
    }

    /// Returns the edges of all files; there is at least one.
    pub(crate) fn finish(self) -> Result<(EdgeTable, ReadSummary), Fault> {
        let Joined { first, noted, ids, weights, is_told: _ } = self;
        let (Some((_, mut summary)), Some(ids)) = (first, ids) else {
            return Err(Fault::whole("there are no files"));
        };
        let interned = match ids {
            JoinedIds::Integers { sign: Sign::Signed, above_signed: true, .. } => {
                return Err(Fault::whole(BEYOND_64_BITS));
            }
            JoinedIds::Integers { mut blocks, sign, .. } => {
                if sign == Sign::Signed {
                    for block in &mut blocks {
                        block.make_signed()?;
                    }
                }
                intern::intern_integers(blocks, sign)?
            }
            JoinedIds::Names(index, blocks) => intern::intern_names(index, blocks)?,
        };
        let Interned { ids, sources, targets } = interned;
        let mut table = EdgeTable::new(ids, sources, targets)?;
        if let Some(weights) = weights {
            table = table.with_weights(intern::into_column(weights)?)?;
        }
        if let Some(columns) = summary.columns.as_mut().filter(|_| noted > MOST_NOTED) {
            columns.asides.push(format!("and more in {} other files", noted - MOST_NOTED));
        }
        summary.note_values(&table)?;
        Ok((table, summary))
    }
}

/// Returns the refusal of a file whose ids are of another kind than those of the files before.
pub(crate) fn mixed_ids(these: &str, others: &str) -> String {
    format!(
        "its ids are {these}, and those of the files before are {others}: --ids names reads all of them as names"
    )
}

/// Returns what `block` makes of the ends of each some edges, in their order, on all threads.
fn blocks_of<B: Send>(
    edges: &EdgeTable,
    block: impl Fn(&mut dyn ExactSizeIterator<Item = [VertexId; 2]>) -> Result<B, OutOfMemory> + Sync,
) -> Result<Vec<B>, OutOfMemory> {
    let (sources, targets) = (edges.sources().par_chunks(BLOCK), edges.targets().par_chunks(BLOCK));
    let of_block = |(sources, targets): (&[VertexId], &[VertexId])| {
        block(&mut sources.iter().zip(targets).map(|(&source, &target)| [source, target]))
    };
    sources.zip(targets).map(of_block).collect()
}

/// Rejects a part whose edges are in other columns than those of the first: which of them are meant is not guessed.
fn check_columns(
    file: &Path,
    summary: &ReadSummary,
    first: &Path,
    all: &ReadSummary,
) -> Result<(), ReadError> {
    let (Some(part), Some(all)) = (&summary.columns, &all.columns) else { return Ok(()) };
    match part.ends() == all.ends() {
        true => Ok(()),
        false => Err(other_columns(file, &part.chosen(), first, &all.chosen())),
    }
}

/// Returns the refusal of a file whose edges are in other columns than those of the first.
pub(crate) fn other_columns(file: &Path, part: &str, first: &Path, all: &str) -> ReadError {
    let sentence = format!(
        "its edges are {part}, and those of {} are {all}: --columns chooses those of all files",
        first.display(),
    );
    ReadError::content(file, Place::File, sentence)
}
