//! Reads memberships: overlapping communities, in which a vertex may be in several or in none.
//!
//! There are three forms:
//!
//! ```text
//! Rows          a line or a row a membership: `id community`, as ripplet writes it; other columns are skipped
//! Memberships   one line per vertex: its id and all its communities, as in LFR's `community.dat`
//! Members       one line per community: the ids of its members, as SNAP's `…cmty.txt`; communities are called 1, 2, …
//! ```
//!
//! The form is detected for rows of two fields, for rows under a header, and for a vertex, a tab and several
//! integers. Other lines of more than two fields are ambiguous, so the caller chooses. Rows may be in any
//! table format that labels may be in ([`crate::read_labels`]); the other forms are text.
//!
//! Memory: 8 bytes a membership and the distinct names. Determinism: the result and the first error do not
//! depend on the number of threads.

use crate::fault::Fault;
use crate::label_table::{LabelSummary, LabelTable, MembershipForm};
use crate::labelled::{labelled_rows, vertex};
use crate::names::NameSet;
use crate::text::members;
use crate::vertex_table::Source;
use crate::{Format, ReadError, ReadErrorKind, ReadOptions};
use ripplet_graph::{ExternalId, VertexId, VertexIds, memory};
use std::path::Path;

/// Memberships of vertices in communities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memberships {
    /// A vertex and a community's number, in the order of the file.
    pub memberships: Vec<(VertexId, u32)>,
    /// Names of the communities, by number.
    pub names: Vec<String>,
    /// Columns and rows that were read.
    pub summary: LabelSummary,
}

/// Reads memberships. `-` is standard input.
///
/// # Errors
/// If the file cannot be read, an id is no vertex, or the form is ambiguous: see [`MembershipForm`].
///
/// # Examples
/// See [`parse_memberships`].
pub fn read_memberships(
    path: &Path,
    form: MembershipForm,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<Memberships, ReadError> {
    memberships(Source::File(path, options), form, options.label_columns.as_ref(), ids)
}

/// Parses memberships, as [`read_memberships`] does; errors name the input `(bytes)`.
///
/// # Errors
/// The errors of [`read_memberships`].
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::{Format, MembershipForm, parse_memberships};
///
/// // A community per line: its members.
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let text = b"0 1\n1 2\n";
/// let found = parse_memberships(text, MembershipForm::Members, Format::EdgeList, &ids)?;
/// assert_eq!(found.memberships, [(0, 0), (1, 0), (1, 1), (2, 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_memberships(
    bytes: &[u8],
    form: MembershipForm,
    format: Format,
    ids: &VertexIds,
) -> Result<Memberships, ReadError> {
    memberships(Source::Bytes(bytes, format), form, None, ids)
}

fn memberships(
    source: Source<'_>,
    form: MembershipForm,
    columns: Option<&[String; 2]>,
    ids: &VertexIds,
) -> Result<Memberships, ReadError> {
    let read = match form {
        MembershipForm::Members | MembershipForm::Memberships if columns.is_some() => {
            Err(Fault::whole(
                "columns are of rows: leave out either --labels-columns or --labels-form (of a truth: --truth-…)",
            ))
        }
        MembershipForm::Members => of_lines(source, ids),
        _ => {
            of_rows(source, LabelTable { ids, form, columns, has_forms: true, what: "communities" })
        }
    };
    read.map_err(|fault| fault.of(source.path()))
}

/// Block of rows in order.
struct Block {
    memberships: Vec<(VertexId, u32)>,
    /// The distinct communities of these rows.
    names: NameSet,
}

/// Reads rows of one membership each.
fn of_rows(source: Source<'_>, table: LabelTable<'_>) -> Result<Memberships, Fault> {
    let (mut memberships, mut names) = (Vec::new(), NameSet::default());
    let like = names.alike();
    let start = || Block { memberships: Vec::new(), names: like.alike() };
    let add = |block: &mut Block, id: ExternalId<'_>, community: Option<ExternalId<'_>>, _| {
        let vertex = vertex(table.ids, id)?;
        let community = match community {
            None => return Ok(()),
            Some(ExternalId::Name(name)) => block.names.number(name)?,
            Some(integer) => block.names.number(&integer.to_string())?,
        };
        Ok::<_, ReadErrorKind>(memory::push(&mut block.memberships, (vertex, community))?)
    };
    let summary = labelled_rows(source, &table, start, add, |block, _| {
        let numbers = names.merge(&block.names)?;
        memory::reserve(&mut memberships, block.memberships.len())?;
        let rows = block.memberships.iter();
        memberships.extend(rows.map(|&(vertex, community)| (vertex, numbers[community as usize])));
        Ok(())
    })?;
    let name = |number| String::from_utf8_lossy(names.name(number)).into_owned();
    Ok(Memberships { memberships, names: (0..names.len() as u32).map(name).collect(), summary })
}

/// Reads lines of members.
fn of_lines(source: Source<'_>, ids: &VertexIds) -> Result<Memberships, Fault> {
    let format = source.format();
    if !matches!(format, Format::EdgeList | Format::Tsv | Format::Csv) {
        return Err(Fault::whole("lines of members are text: .txt, .tsv or .csv"));
    }
    let tabs = matches!(ids, VertexIds::Names(_));
    let find = |id: &str| Ok(vertex(ids, ExternalId::Name(id))?);
    let mut read = Memberships::default();
    let take = |lines: Vec<Vec<u32>>| {
        for line in lines {
            let number = read.names.len() as u32;
            memory::push(&mut read.names, (number + 1).to_string())?;
            memory::reserve(&mut read.memberships, line.len())?;
            read.memberships.extend(line.into_iter().map(|vertex| (vertex, number)));
        }
        Ok(())
    };
    source.text()?.read_by(|text| members(text, format, tabs, find, take))?;
    Ok(read)
}
