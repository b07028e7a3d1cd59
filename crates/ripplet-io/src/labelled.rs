//! Rows of a vertex and its label, from any table: the common part of labels and memberships.
//!
//! The columns are chosen by known names (see `label_table.rs`) in a header, in the columns of a Parquet or
//! Arrow table, or in the keys of JSON lines; without names, they are the first two fields of a line. Rows
//! whose label is empty or null have none.
//!
//! Determinism: blocks are processed in the order of the file, so the result and the first error do not
//! depend on the number of threads.

use crate::columnar;
use crate::fault::Fault;
use crate::label_table::{LabelSummary, LabelTable};
use crate::shown::shown_id;
use crate::table_parts::files_of;
use crate::text::{Text, json_label_rows, label_rows};
use crate::vertex_table::Source;
use crate::write::{Destination, parts_in};
use crate::{Format, Place, ReadError, ReadErrorKind, ReadOptions, is_remote};
use ripplet_graph::{ExternalId, VertexIds};
use std::io;
use std::path::{Path, PathBuf};

/// Reads the rows in blocks, in parallel. `add` appends a vertex's id and its label, if it has one, to a
/// block made by `start`, with the row's position in the block. `take` receives the blocks in the order of
/// the file, with a function from a row's position in its block to its position in the file.
///
/// A pattern, and a folder of parts, are read file by file, as the one table of all their rows.
///
/// # Errors
/// The first error in the file.
pub(crate) fn labelled_rows<T: Send>(
    source: Source<'_>,
    table: &LabelTable<'_>,
    start: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, ExternalId<'_>, Option<ExternalId<'_>>, u32) -> Result<(), ReadErrorKind>
    + Sync,
    mut take: impl FnMut(T, &dyn Fn(u32) -> Place) -> Result<(), Fault>,
) -> Result<LabelSummary, Fault> {
    let Source::File(path, options) = source else {
        return rows_of_one(source, table, &start, &add, &mut take);
    };
    let Some((files, format)) = parts_of(path).map_err(|error| beside(path, error))? else {
        return rows_of_one(source, table, &start, &add, &mut take);
    };
    let options = ReadOptions { format: options.format.or(format), ..options.clone() };
    let mut all: Option<LabelSummary> = None;
    for file in &files {
        let of_file = |fault: Fault| within(file, fault);
        let source = Source::File(file, &options);
        let read = rows_of_one(source, table, &start, &add, &mut take).map_err(of_file)?;
        match &mut all {
            // A text without a line names no columns.
            _ if read == LabelSummary::default() => {}
            None => all = Some(read),
            Some(all) if (&all.names, all.columns) != (&read.names, read.columns) => {
                let first = files[0].display();
                return Err(of_file(Fault::whole(format!("its columns are not those of {first}"))));
            }
            Some(all) => {
                all.ignored = all.ignored.max(read.ignored);
                all.without_label += read.without_label;
                all.with_several += read.with_several;
                all.missing_names += read.missing_names;
            }
        }
    }
    Ok(all.unwrap_or_default())
}

/// The files of a table, and their format if it is known without their names.
type TableFiles = (Vec<PathBuf>, Option<Format>);

/// Returns the files of a pattern or of a folder of parts, and the format that a manifest gives; `None` for the path of a file.
fn parts_of(path: &Path) -> Result<Option<TableFiles>, ReadError> {
    if path == Path::new("-") {
        return Ok(None);
    }
    if Destination::of(path).is_in_parts() || !is_remote(path) && path.is_dir() {
        return parts_in(path).map(|(files, format)| Some((files, Some(format))));
    }
    let files = files_of(path)?;
    let paths = |files: Vec<crate::source::Source>| {
        files.iter().map(|file| file.path().to_owned()).collect()
    };
    Ok(files.map(|files| (paths(files), None)))
}

/// Names the file of an error, unless it is the pattern or the folder itself.
fn beside(path: &Path, error: ReadError) -> Fault {
    let file = error.path.clone();
    let fault = Fault::unnamed(error);
    if file == path { fault } else { within(&file, fault) }
}

/// Names the file of a fault, beside the pattern or the folder.
fn within(file: &Path, fault: Fault) -> Fault {
    let sentence =
        |kind: &dyn std::fmt::Display| format!("{}{}: {kind}", file.display(), fault.place);
    let kind = match &fault.kind {
        ReadErrorKind::Content(text) => sentence(text).into(),
        ReadErrorKind::Io(error) => io::Error::new(error.kind(), sentence(error)).into(),
        _ => return fault,
    };
    Fault { place: Place::File, kind }
}

/// Reads the rows of one file or text.
fn rows_of_one<T: Send>(
    source: Source<'_>,
    table: &LabelTable<'_>,
    start: &(impl Fn() -> T + Sync),
    add: &(
         impl Fn(&mut T, ExternalId<'_>, Option<ExternalId<'_>>, u32) -> Result<(), ReadErrorKind> + Sync
     ),
    take: &mut impl FnMut(T, &dyn Fn(u32) -> Place) -> Result<(), Fault>,
) -> Result<LabelSummary, Fault> {
    let row = |block: &mut T, line: u32, id: &str, label: Option<&str>| {
        add(block, ExternalId::Name(id), label.map(ExternalId::Name), line)
    };
    match source.format() {
        format @ (Format::EdgeList | Format::Tsv | Format::Csv) => {
            let take = |block, before| take(block, &|line| line_at(before, line));
            let read = |text: &mut Text<'_>| label_rows(text, format, table, start, row, take);
            source.text()?.read_by(read)
        }
        Format::JsonLines => {
            let take = |block, before| take(block, &|line| line_at(before, line));
            let read = |text: &mut Text<'_>| json_label_rows(text, table, start, row, take);
            source.text()?.read_by(read)
        }
        format @ (Format::Parquet | Format::Arrow) => {
            columnar::label_rows(source.bytes()?, format, table, start, add, take)
        }
        format => Err(Fault::whole(unfit(format, table.what))),
    }
}

/// Returns the position of a line that counts from the one after `before`.
fn line_at(before: u64, line: u32) -> Place {
    Place::Line(before + u64::from(line))
}

/// Returns the message for a format without rows about vertices.
fn unfit(format: Format, what: &str) -> String {
    let formats = ".txt, .tsv, .csv, .jsonl, .parquet or .arrow";
    match format.is_exchange() {
        true => format!(
            "{what} are read from {formats}, and this is a graph: write its communities as such a table, as `ripplet \
             communities -o communities.tsv` does"
        ),
        false => format!("{what} are read from {formats}"),
    }
}

/// Returns the vertex of an id.
///
/// # Errors
/// If the id is no vertex, as a sentence.
pub(crate) fn vertex(ids: &VertexIds, id: ExternalId<'_>) -> Result<u32, String> {
    ids.find(id).ok_or_else(|| {
        format!(
            "`{}` is no vertex of the graph: give the graph of the run, with the --columns and --ids of the run; \
             --labels-columns (of a truth: --truth-columns) says which column has the ids",
            shown_id(id)
        )
    })
}
