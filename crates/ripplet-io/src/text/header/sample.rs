//! The first rows of a table: what their fields could be values of, and which of its columns are alike.

use super::names::{Name, words};
use crate::intern::Sign;
use crate::text::layout::{Separator, fields};
use crate::text::token::{self, NotAnId};
use std::borrow::Cow;
use std::collections::HashSet;

/// A field of a row.
pub(super) type Field<'a> = Cow<'a, [u8]>;

/// The columns whose names are compared.
const MOST_COLUMNS: usize = 256;

/// The rows that are looked at.
pub(in crate::text) const MOST_ROWS: usize = 4096;

/// Some rows of a table, the first of which may name its columns.
pub(in crate::text) struct Sample<'a> {
    pub(super) first: Vec<Field<'a>>,
    pub(super) others: Vec<Vec<Field<'a>>>,
    /// Whether files of this kind have the ends of an edge in their first two columns by custom.
    pub(super) ends_first: bool,
    /// The column of the table that this sample lacks, where it is that of graphs.
    pub(super) left_out: Option<usize>,
}

/// Pairs of columns whose names say that they are the ends of an edge.
#[derive(Default)]
pub(super) struct Known {
    /// By [`KNOWN_COLUMN_PAIRS`] alone.
    pub(super) sure: Vec<[usize; 2]>,
    /// By these words beside others that both names have, by the same name with two numbers or letters behind
    /// it, or by `start` and `end`, which may be times.
    pub(super) likely: Vec<[usize; 2]>,
}

/// What a field could be a value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Empty,
    /// A number, date, time or amount.
    Number,
    Word,
}

impl Kind {
    pub(super) fn of(field: &[u8]) -> Kind {
        let field = field.trim_ascii();
        let Some(&begin) = field.first() else { return Kind::Empty };
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.,:/ TZeE%".contains(byte);
        let starts = begin.is_ascii_digit() || b"+-.$".contains(&begin) || !begin.is_ascii();
        let amount = field.strip_prefix("€".as_bytes()).or(field.strip_prefix("£".as_bytes()));
        let amount = amount.or(field.strip_prefix(b"$")).unwrap_or(field);
        let is_address = field.iter().filter(|byte| **byte == b'.').count() == 3
            && field.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
        let is_number = starts
            && !is_address
            && amount.iter().all(is_part)
            && amount.iter().any(u8::is_ascii_digit);
        if is_number { Kind::Number } else { Kind::Word }
    }
}

impl<'a> Sample<'a> {
    /// The sample of rows whose fields stand apart by a separator; there is one row at least.
    ///
    /// # Errors
    /// What is wrong with the first.
    pub(in crate::text) fn of(
        rows: &[&'a [u8]],
        separator: Separator,
    ) -> Result<Sample<'a>, String> {
        let Some((first, others)) = rows.split_first() else {
            return Ok(Sample::new(vec![], vec![]));
        };
        let first = fields(first, separator).collect::<Result<Vec<_>, _>>()?;
        // What is wrong with other rows is said when they are read.
        let others = others
            .iter()
            .filter_map(|row| fields(row, separator).collect::<Result<Vec<_>, _>>().ok());
        let others = others.filter(|row| row.len() > 1 && !row[0].is_empty() && !row[1].is_empty());
        let ends_first = matches!(separator, Separator::Runs(_));
        Ok(Sample { ends_first, ..Sample::new(first, others.collect()) })
    }

    /// The sample of rows as fields; there is one at least.
    pub(in crate::text) fn new(first: Vec<Field<'a>>, others: Vec<Vec<Field<'a>>>) -> Sample<'a> {
        Sample { first, others, ends_first: false, left_out: None }
    }

    /// The name of a column, if the first row is a header that has it.
    pub(in crate::text) fn name(&self, column: usize) -> Option<String> {
        self.first.get(column).map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// The first row that is no header.
    pub(in crate::text) fn data(&self, header: bool) -> &[Field<'a>] {
        match header {
            true => self.others.first().map_or(&[], Vec::as_slice),
            false => &self.first,
        }
    }

    /// All rows that are no header.
    pub(in crate::text) fn rows(&self, header: bool) -> impl Iterator<Item = &[Field<'a>]> {
        let first = (!header).then_some(self.first.as_slice());
        first.into_iter().chain(self.others.iter().map(Vec::as_slice))
    }

    /// Whether all rows have as many fields, some of which are words, and none is several numbers.
    pub(in crate::text) fn is_table_of_words(&self) -> bool {
        let is_several = |field: &Field<'_>| {
            let mut parts =
                field.split(|byte| b" ,;".contains(byte)).filter(|part| !part.is_empty());
            parts.clone().count() > 1 && parts.all(is_integer)
        };
        let data = self.rows(!self.others.is_empty());
        let is_wide =
            self.first.len() > 1 && self.others.iter().all(|row| row.len() == self.first.len());
        is_wide
            && self.rows(false).flatten().all(|field| !is_several(field))
            && data.flatten().any(|field| Kind::of(field) == Kind::Word)
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.first.iter().position(|field| **field == *name.as_bytes())
    }

    /// Whether all fields below the first of a column are of a kind, and there are so many at least.
    pub(super) fn is_above(&self, column: usize, least: usize, is: impl Fn(&[u8]) -> bool) -> bool {
        let below = self.others.iter().filter_map(|row| row.get(column));
        let mut below = below.filter(|field| Kind::of(field) != Kind::Empty);
        let mut seen = 0;
        below.all(|field| {
            seen += 1;
            is(field)
        }) && seen >= least
    }

    /// Whether no value of a column is a date, a fraction, or another number that is no integer.
    fn may_be_ids(&self, column: usize) -> bool {
        let fields = self.others.iter().filter_map(|row| row.get(column));
        fields.into_iter().all(|field| Kind::of(field) != Kind::Number || is_integer(field))
    }

    /// Whether an id of the first row comes again in the columns of the ends.
    pub(super) fn recurs(&self, ends: [usize; 2]) -> bool {
        let first = ends.map(|end| self.first.get(end));
        let mut below = self.others.iter().flat_map(|row| ends.map(|end| row.get(end)));
        below.any(|field| field.is_some() && first.contains(&field))
    }

    /// Whether ids of these columns are the stem of the first row's and a number too: `user1,user2` above
    /// `user3,user4`.
    fn has_more_of(&self, stem: &str, columns: [usize; 2]) -> bool {
        let is_like = |field: &Field<'_>| {
            let name = words(field).join(" ");
            let number = name.strip_prefix(stem).map(str::trim_start);
            number.is_some_and(|rest| {
                !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        let values =
            self.others.iter().flat_map(|row| columns.iter().filter_map(|&at| row.get(at)));
        values.into_iter().any(is_like)
    }

    /// Whether the values of a column are numbers.
    pub(super) fn is_weight_like(&self, column: usize) -> bool {
        let fields = self.others.iter().filter_map(|row| row.get(column));
        fields.map(|field| Kind::of(field)).all(|kind| kind != Kind::Word)
    }

    /// Whether the values of both first columns are numbers, or those of neither.
    pub(super) fn are_of_one_kind(&self) -> bool {
        let is_number = |column: usize| self.is_weight_like(column);
        is_number(0) == is_number(1)
    }

    /// The two columns that share most values: ids come again on both sides of edges.
    pub(super) fn shared_ends(&self, header: bool) -> Option<[usize; 2]> {
        /// Columns that are compared.
        const COLUMNS: usize = 24;
        let width = self.first.len().min(COLUMNS);
        let values = |column: usize| -> HashSet<&[u8]> {
            let fields = self.rows(header).filter_map(|row| row.get(column));
            fields.map(|field| &**field).filter(|field| !field.is_empty()).collect()
        };
        let values: Vec<HashSet<&[u8]>> = (0..width).map(values).collect();
        let pairs = (0..width).flat_map(|a| (a + 1..width).map(move |b| [a, b]));
        let shared = |&[a, b]: &[usize; 2]| values[a].intersection(&values[b]).count();
        // The first of those that share most.
        let best = pairs.rev().max_by_key(shared);
        best.filter(|pair| shared(pair) > 0)
    }

    /// The pairs of columns whose names are known to mean the ends of an edge, and whose values may be ids.
    pub(super) fn known_pairs(&self) -> Known {
        self.pairs_of(|column| self.may_be_ids(column))
    }

    /// Whether two names are known to mean the ends of an edge, whatever is below them.
    pub(super) fn has_known_names(&self) -> bool {
        !self.pairs_of(|_| true).sure.is_empty()
    }

    /// The pairs of those columns whose names are known to mean the ends of an edge.
    fn pairs_of(&self, counts: impl Fn(usize) -> bool) -> Known {
        let names: Vec<Name> = self.first.iter().map(|name| Name::of(name)).collect();
        let mut known = Known::default();
        let columns: Vec<usize> =
            (0..names.len().min(MOST_COLUMNS)).filter(|&column| counts(column)).collect();
        for &a in &columns {
            for &b in columns.iter().filter(|&&b| b != a) {
                // `head,tail` may be meant either way: the first way counts.
                let add = |pairs: &mut Vec<[usize; 2]>| {
                    if !pairs.contains(&[b, a]) {
                        pairs.push([a, b]);
                    }
                };
                if names[a].is_source_of(&names[b]) {
                    add(&mut known.sure);
                } else if names[a].is_like_source_of(&names[b]) {
                    add(&mut known.likely);
                } else if let Some(stem) = names[a].is_numbered_before(&names[b])
                    && !self.has_more_of(stem, [a, b])
                {
                    add(&mut known.likely);
                }
            }
        }
        known
    }
}

/// Whether a field is a code or an address rather than a word: it has two digits, or is somebody's at a host.
pub(super) fn is_code(field: &[u8]) -> bool {
    field.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2 || field.contains(&b'@')
}

/// Whether a field is an integer that may be an id.
pub(super) fn is_integer(field: &[u8]) -> bool {
    token::id(field, Sign::Signed).is_ok() || token::id(field, Sign::Unsigned).is_ok()
}

/// Whether a field is an integer id, or a number that was meant as one.
pub(in crate::text) fn is_number_like(field: &[u8]) -> bool {
    token::id(field, Sign::Unsigned) != Err(NotAnId::NoNumber)
}

/// Whether a field is an integer that does not print as it is written: `007`.
pub(in crate::text) fn is_padded(field: &[u8]) -> bool {
    token::exact_id(field, Sign::Unsigned) == Err(NotAnId::Padded)
}
