//! Who is in which community, where vertices may be in several or in none.
//!
//! Two forms of the same:
//!
//! ```text
//! Rows        a line or a row a membership: `id community`, as ripplet writes it; further columns are passed over
//! Members     a line a community: the ids of its members, as SNAP's `…cmty.txt`; communities are called 1, 2, …
//! ```
//!
//! Which of both a file is cannot be told by looking at it, so the caller says it. Rows may be any table that
//! labels may be ([`crate::read_labels`]); lines of members are text.
//!
//! Memory: 8 bytes a membership and the distinct names. Determinism: nothing depends on the number of threads, the
//! first error included.

use crate::columnar::Table;
use crate::labels::{Block, Kind, columns, is_heading, shown};
use crate::map::map;
use crate::names::NameSet;
use crate::read::{in_memory, open};
use crate::text::{Fault, Text, members, pairs};
use crate::{Format, Place, ReadError, ReadErrorKind, ReadOptions};
use bytes::Bytes;
use ripplet_graph::{ExternalId, VertexId, VertexIds, memory};
use std::io;
use std::path::Path;

/// How a file says who is in which community.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MembershipForm {
    /// A line or a row for each vertex and community it is in.
    #[default]
    Rows,
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
}

/// Reads who is in which community. `-` is standard input.
///
/// # Errors
/// What cannot be read; an id that is no vertex; a row without a community.
pub fn read_memberships(
    path: &Path,
    form: MembershipForm,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<Memberships, ReadError> {
    let told = options.format.or_else(|| Format::of_path(path).map(|(format, _)| format));
    let format = told.unwrap_or(Format::EdgeList);
    let read = || {
        if is_table(format, form)? {
            let system =
                |error: io::Error| Fault { place: Place::File, kind: ReadErrorKind::Io(error) };
            return of_table(Bytes::from_owner(map(path).map_err(system)?), format, ids);
        }
        of_text(&mut open(path)?, form, format, ids)
    };
    read().map_err(|fault| fault.of(path))
}

/// Reads who is in which community from bytes, as [`read_memberships`] does from a file; an error calls them
/// `(bytes)`.
///
/// # Errors
/// Those of [`read_memberships`].
pub fn parse_memberships(
    bytes: &[u8],
    form: MembershipForm,
    format: Format,
    ids: &VertexIds,
) -> Result<Memberships, ReadError> {
    let read = || {
        if is_table(format, form)? {
            return of_table(Bytes::copy_from_slice(bytes), format, ids);
        }
        of_text(&mut in_memory(bytes)?, form, format, ids)
    };
    read().map_err(|fault| fault.of(Path::new("(bytes)")))
}

/// Whether a format is a binary table; what no form has is refused.
fn is_table(format: Format, form: MembershipForm) -> Result<bool, Fault> {
    match (format, form) {
        (Format::EdgeList | Format::Tsv | Format::Csv, _) => Ok(false),
        (Format::Parquet | Format::Arrow, MembershipForm::Rows) => Ok(true),
        (Format::Parquet | Format::Arrow, MembershipForm::Members) => {
            Err(Fault::whole("lines of members are text: .txt, .tsv or .csv"))
        }
        _ => Err(Fault::whole("communities are read from .txt, .tsv, .csv, .parquet or .arrow")),
    }
}

/// Rows that are read.
#[derive(Default)]
struct Collected {
    memberships: Vec<(VertexId, u32)>,
    names: NameSet,
}

impl Collected {
    fn take(&mut self, block: Block) -> Result<(), Fault> {
        let numbers = self.names.merge(&block.names)?;
        memory::reserve(&mut self.memberships, block.rows.len())?;
        let rows = block.rows.iter().map(|row| (row.vertex, numbers[row.label as usize]));
        self.memberships.extend(rows);
        Ok(())
    }

    fn finish(self) -> Memberships {
        let name = |number| String::from_utf8_lossy(self.names.name(number)).into_owned();
        let names = (0..self.names.len() as u32).map(name).collect();
        Memberships { memberships: self.memberships, names }
    }
}

fn of_text(
    text: &mut Text<'_>,
    form: MembershipForm,
    format: Format,
    ids: &VertexIds,
) -> Result<Memberships, Fault> {
    if form == MembershipForm::Members {
        return of_lines(text, format, ids);
    }
    let mut collected = Collected::default();
    let like = collected.names.alike();
    let tabs = matches!(ids, VertexIds::Names(_));
    let start = || Block { rows: Vec::new(), names: like.alike() };
    let row = |block: &mut Block, line: u32, id: &str, label: &str| {
        block.add(ids, Kind::Groups, [ExternalId::Name(id), ExternalId::Name(label)], line)
    };
    let heading = |field: &str| is_heading(ids, format, field);
    pairs(text, format, tabs, heading, start, row, |block, _| collected.take(block))?;
    Ok(collected.finish())
}

fn of_table(bytes: Bytes, format: Format, ids: &VertexIds) -> Result<Memberships, Fault> {
    let table = Table::open(bytes, format)?;
    let [id, label] = columns(table.schema()).map_err(Fault::whole)?;
    let mut both = vec![id, label];
    both.sort_unstable();
    let mut collected = Collected::default();
    let like = collected.names.alike();
    let at = if id < label { [0, 1] } else { [1, 0] };
    let blocks = table.map(&both, |batch, first| {
        let block = Block { rows: Vec::new(), names: like.alike() };
        block.of_batch(ids, Kind::Groups, &batch, at, first)
    })?;
    blocks.into_iter().try_for_each(|block| collected.take(block))?;
    Ok(collected.finish())
}

/// Communities as lines of members.
fn of_lines(text: &mut Text<'_>, format: Format, ids: &VertexIds) -> Result<Memberships, Fault> {
    let tabs = matches!(ids, VertexIds::Names(_));
    let find = |id: &str| match ids.find(ExternalId::Name(id)) {
        Some(vertex) => Ok(vertex),
        None => Err(format!("`{}` is no vertex of the graph", shown(ExternalId::Name(id))).into()),
    };
    let mut read = Memberships::default();
    members(text, format, tabs, find, |lines| {
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
