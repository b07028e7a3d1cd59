//! A table in parts: files whose names match a pattern, read as the one table of all their rows.
//!
//! Ids are numbered over all parts, so the edges are those of one file of all rows, in any order of the files.
//!
//! Memory: as for one file of all rows, and the largest part's edges once more.

use crate::fault::Fault;
use crate::intern::{self, Ends, Interned, Sign};
use crate::names::NameIndex;
use crate::summary::{ReadColumns, ReadSummary};
use crate::{Format, Place, ReadError, ReadErrorKind};
use ripplet_graph::{EdgeTable, ExternalId, VertexId, VertexIds, memory};
use std::path::{Path, PathBuf};

/// Returns the files that match a path with `*`, `?` or `[…]`, ascending by name; `None` if it has none of them, or is
/// the name of a file itself.
///
/// A `*` matches neither a `/` nor the `.` with which the name of a hidden file begins; `**` matches any folders.
///
/// # Errors
/// If the pattern is not valid, a folder cannot be listed, or no file matches.
pub(crate) fn files_of(path: &Path) -> Result<Option<Vec<PathBuf>>, ReadError> {
    let Some(pattern) = path.to_str().filter(|text| text.contains(['*', '?', '['])) else {
        return Ok(None);
    };
    if path.symlink_metadata().is_ok() {
        return Ok(None);
    }
    let refused = |sentence| ReadError::content(path, Place::File, sentence);
    let options = glob::MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..glob::MatchOptions::default()
    };
    let found = glob::glob_with(pattern, options)
        .map_err(|error| refused(format!("it is not a pattern of files: {error}")))?;
    let mut files = Vec::new();
    for file in found {
        let file = file.map_err(|error| {
            let folder = error.path().to_path_buf();
            ReadError::io(&folder, Place::File, error.into())
        })?;
        memory::push(&mut files, file).map_err(|error| Fault::from(error).of(path))?;
    }
    match files.is_empty() {
        true => Err(refused("no file has such a name".to_owned())),
        false => Ok(Some(files)),
    }
}

/// Joins the tables that `read` returns for these files, which match a pattern. A part without edges adds nothing.
///
/// # Errors
/// The errors of `read`; and if a file is a folder, its columns or the kind of its ids are not those of the first, or
/// none has edges.
pub(crate) fn join(
    pattern: &Path,
    files: &[PathBuf],
    read: impl Fn(&Path) -> Result<(EdgeTable, ReadSummary), ReadError>,
) -> Result<(EdgeTable, ReadSummary), ReadError> {
    let mut table = Joined { first: None, ids: None, weights: Vec::new(), weighted: false };
    for file in files {
        if file.is_dir() {
            let sentence = "it is a folder, and a pattern names files: end the pattern with /*.csv, or with *.csv";
            return Err(ReadError::content(file, Place::File, sentence));
        }
        match read(file) {
            Ok((edges, summary)) => table.add(file, &edges, summary)?,
            Err(ReadError { kind: ReadErrorKind::NoEdges, .. }) => {}
            Err(error) => return Err(error),
        }
    }
    table.finish(files.len()).map_err(|fault| fault.of(pattern))
}

/// Rejects a file that is a graph of its own: its vertices are not those of its edges alone.
pub(crate) fn check_is_table(file: &Path, format: Format) -> Result<(), ReadError> {
    if matches!(
        format,
        Format::EdgeList
            | Format::Tsv
            | Format::Csv
            | Format::JsonLines
            | Format::Parquet
            | Format::Arrow
    ) {
        return Ok(());
    }
    let sentence = format!(
        "a file in the format {} is a graph of its own, not a part of a table: give it alone",
        format.name()
    );
    Err(ReadError::content(file, Place::File, sentence))
}

/// The rows of the parts so far.
struct Joined {
    /// The first file with edges, and the summary of all files.
    first: Option<(PathBuf, ReadSummary)>,
    ids: Option<JoinedIds>,
    /// The weights of each part, if there are weights.
    weights: Vec<Vec<f64>>,
    weighted: bool,
}

/// The ends of each part's edges.
enum JoinedIds {
    /// In two's complement; whether some part's are signed, and whether some are above the largest signed integer.
    Integers { blocks: Vec<Ends>, sign: Sign, above_signed: bool },
    /// Numbers of names, source and target of each edge in turn.
    Names(NameIndex, Vec<Vec<u32>>),
}

impl Joined {
    fn add(
        &mut self,
        file: &Path,
        edges: &EdgeTable,
        summary: ReadSummary,
    ) -> Result<(), ReadError> {
        match &mut self.first {
            None => self.first = Some((file.into(), summary)),
            Some((first, all)) => {
                check_columns(file, &summary, first, all)?;
                all.edges += summary.edges;
                let more = summary.notes.into_iter().filter(|note| !all.notes.contains(note));
                let more: Vec<String> = more.collect();
                all.notes.extend(more);
                if let (Some(all), Some(part)) = (&mut all.columns, summary.columns) {
                    let named = |aside| format!("{aside} in {}", file.display());
                    all.asides.extend(part.asides.into_iter().map(named));
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
                let mut block = memory::with_room(2 * edges.len())?;
                for (&source, &target) in edges.sources().iter().zip(edges.targets()) {
                    block.extend([source, target].map(|vertex| numbers[vertex as usize]));
                }
                memory::push(blocks, block)?;
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
                let mut block = Ends::with_room(edges.len())?;
                for (&source, &target) in edges.sources().iter().zip(edges.targets()) {
                    block.push([bits(source), bits(target)])?;
                }
                memory::push(blocks, block)?;
            }
            (other, _) => {
                let [these, others] = match other {
                    JoinedIds::Names(..) => ["integers", "names"],
                    JoinedIds::Integers { .. } => ["names", "integers"],
                };
                return Err(Fault::whole(format!(
                    "its ids are {these}, and those of the files before are {others}: --ids names reads all of them as \
                     names"
                )));
            }
        }
        if let Some(weights) = edges.weights() {
            let mut block = memory::with_room(weights.len())?;
            block.extend_from_slice(weights);
            memory::push(&mut self.weights, block)?;
            self.weighted = true;
        }
        Ok(())
    }

    fn finish(self, files: usize) -> Result<(EdgeTable, ReadSummary), Fault> {
        let Joined { first, ids, weights, weighted } = self;
        let (Some((_, mut summary)), Some(ids)) = (first, ids) else {
            return Err(Fault::whole(ReadErrorKind::NoEdges));
        };
        let interned = match ids {
            JoinedIds::Integers { sign: Sign::Signed, above_signed: true, .. } => {
                let sentence = "some ids are negative and others above 2^63 - 1, and an id has 64 bits: --ids names \
                                reads them as names";
                return Err(Fault::whole(sentence));
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
        if weighted {
            table = table.with_weights(intern::into_column(weights)?)?;
        }
        if let Some(columns) = summary.columns.as_mut().filter(|_| files > 1) {
            columns.asides.push(format!("from {files} files"));
        }
        Ok((table, summary))
    }
}

/// Rejects a part whose edges are in other columns than those of the first: which of them are meant is not guessed.
fn check_columns(
    file: &Path,
    summary: &ReadSummary,
    first: &Path,
    all: &ReadSummary,
) -> Result<(), ReadError> {
    let (Some(part), Some(all)) = (&summary.columns, &all.columns) else { return Ok(()) };
    let of = |columns: &ReadColumns| {
        (columns.source.clone(), columns.target.clone(), columns.weight.clone())
    };
    if of(part) == of(all) {
        return Ok(());
    }
    let named = |columns: &ReadColumns| {
        let weight = columns.weight.as_ref().map(|weight| format!(", weight = {weight}"));
        let weight = weight.unwrap_or_default();
        format!("source = {}, target = {}{weight}", columns.source, columns.target)
    };
    let sentence = format!(
        "its edges are {}, and those of {} are {}: --columns names the columns of all files",
        named(part),
        first.display(),
        named(all)
    );
    Err(ReadError::content(file, Place::File, sentence))
}
