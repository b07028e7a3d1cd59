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
use crate::text::{json_label_rows, label_rows};
use crate::vertex_table::Source;
use crate::{Format, Place, ReadErrorKind};
use ripplet_graph::{ExternalId, VertexIds};

/// Reads the rows in blocks, in parallel. `add` appends a vertex's id and its label, if it has one, to a
/// block made by `start`, with the row's position in the block. `take` receives the blocks in the order of
/// the file, with a function from a row's position in its block to its position in the file.
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
    let row = |block: &mut T, line: u32, id: &str, label: Option<&str>| {
        add(block, ExternalId::Name(id), label.map(ExternalId::Name), line)
    };
    match source.format() {
        format @ (Format::EdgeList | Format::Tsv | Format::Csv) => {
            let take = |block, before| take(block, &|line| line_at(before, line));
            label_rows(&mut source.text()?, format, table, start, row, take)
        }
        Format::JsonLines => {
            let take = |block, before| take(block, &|line| line_at(before, line));
            json_label_rows(&mut source.text()?, table, start, row, take)
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
