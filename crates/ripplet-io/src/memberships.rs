//! Who is in which community, if vertices may be in several or in none.
//!
//! Three forms of the same:
//!
//! ```text
//! Rows          a line or a row a membership: `id community`, as ripplet writes it; other columns are skipped
//! Memberships   a line a vertex: its id and all its communities, as in LFR's `community.dat`
//! Members       a line a community: the ids of its members, as SNAP's `…cmty.txt`; communities are called 1, 2, …
//! ```
//!
//! Rows of two fields, those under a header, and a vertex, a tab and several integers show what they are. What else a
//! line with more than two fields is cannot be told by looking at it, so the caller says it. Rows may be any table that
//! labels may be ([`crate::read_labels`]); the other forms are text.
//!
//! Memory: 8 bytes a membership and the distinct names. Determinism: nothing depends on the number of threads, the
//! first error included.

use crate::label_columns::LabelSummary;
use crate::labelled::{LabelTable, labelled_rows, vertex};
use crate::names::NameSet;
use crate::text::{Fault, members};
use crate::vertex_table::Source;
use crate::{Format, ReadError, ReadErrorKind, ReadOptions};
use ripplet_graph::{ExternalId, VertexId, VertexIds, memory};
use std::path::Path;

/// How a file says who is in which community.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MembershipForm {
    /// Whichever of [`MembershipForm::Rows`] and [`MembershipForm::Memberships`] the first rows show; refused where
    /// they show neither.
    #[default]
    Auto,
    /// A line or a row for each vertex and community it is in.
    Rows,
    /// A line for each vertex, with its id and then all its communities.
    Memberships,
    /// A line for each community, with the ids of its members.
    Members,
}

/// Who is in which community.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memberships {
    /// A vertex and a community's number, in the order of the file.
    pub memberships: Vec<(VertexId, u32)>,
    /// What the communities are called, by number.
    pub names: Vec<String>,
    /// What was read of the file.
    pub summary: LabelSummary,
}

/// Reads who is in which community. `-` is standard input.
///
/// # Errors
/// What cannot be read; an id that is no vertex; rows that may be several things, as [`MembershipForm`] says.
pub fn read_memberships(
    path: &Path,
    form: MembershipForm,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<Memberships, ReadError> {
    memberships(Source::File(path, options), form, options.label_columns.as_ref(), ids)
}

/// Reads who is in which community from bytes, as [`read_memberships`] does from a file; an error calls them
/// `(bytes)`.
///
/// # Errors
/// The errors of [`read_memberships`].
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

/// Some rows in order.
struct Block {
    memberships: Vec<(VertexId, u32)>,
    /// The distinct communities of these rows.
    names: NameSet,
}

/// Communities as a row a membership.
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

/// Communities as lines of members.
fn of_lines(source: Source<'_>, ids: &VertexIds) -> Result<Memberships, Fault> {
    let format = source.format();
    if !matches!(format, Format::EdgeList | Format::Tsv | Format::Csv) {
        return Err(Fault::whole("lines of members are text: .txt, .tsv or .csv"));
    }
    let tabs = matches!(ids, VertexIds::Names(_));
    let find = |id: &str| Ok(vertex(ids, ExternalId::Name(id))?);
    let mut read = Memberships::default();
    members(&mut source.text()?, format, tabs, find, |lines| {
        for line in lines {
            let number = read.names.len() as u32;
            memory::push(&mut read.names, (number + 1).to_string())?;
            memory::reserve(&mut read.memberships, line.len())?;
            read.memberships.extend(line.into_iter().map(|vertex| (vertex, number)));
        }
        Ok(())
    })?;
    Ok(read)
}
