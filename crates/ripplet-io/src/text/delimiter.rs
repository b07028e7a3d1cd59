//! What stands between the fields of a text table, by its first rows.
//!
//! A separator fits if it gives all rows the same number of fields, two at least; a header may have one less, above
//! rows that begin with their names, as R writes them. In a `.csv` or `.tsv` the format's own separator counts if it
//! fits, unless its commas are those of decimals. Elsewhere the one that fits counts, and two that fit and cut in
//! different ways are refused. Integers are read between any blanks, tabs, commas and semicolons, if that gives the same
//! fields.

use super::header::{Sample, is_decimal_comma, is_number_like, is_several};
use super::layout::{BLANKS, PLAIN_BLANKS, Separator, fields};
use super::token::show;
use crate::{Delimiter, Format, ReadOptions};
use std::borrow::Cow;

/// The fields of some rows.
type Rows<'a> = Vec<Vec<Cow<'a, [u8]>>>;

/// The separator of a table that starts with these rows.
///
/// # Errors
/// Two separators fit, and give other fields.
pub(super) fn of_rows(
    rows: &[&[u8]],
    format: Format,
    options: &ReadOptions,
) -> Result<Separator, String> {
    match (options.delimiter, format) {
        (Some(Delimiter::Byte(byte)), _) => Ok(Separator::Each(byte)),
        (Some(Delimiter::Blanks), _) => Ok(blanks(rows)),
        (None, Format::Csv) => of_table(rows, b",;\t|"),
        (None, Format::Tsv) => of_table(rows, b"\t,;|"),
        (None, _) => of_edge_list(rows),
    }
}

/// Rows and what cuts them into fields.
struct Cut<'a> {
    separator: Separator,
    rows: Rows<'a>,
}

impl<'a> Cut<'a> {
    /// The rows as a separator cuts them, if it fits.
    fn of(rows: &[&'a [u8]], separator: Separator) -> Option<Cut<'a>> {
        let (first, others) = rows.split_first()?;
        let first = fields(first, separator).collect::<Result<Vec<_>, _>>().ok()?;
        let is_filled = first.iter().any(|field| !field.is_empty());
        let width = match others.first() {
            _ if first.len() < 2 || !is_filled => return None,
            Some(row) => fields(row, separator).count(),
            None => first.len(),
        };
        if width != first.len() && width != first.len() + 1 {
            return None;
        }
        let mut cut = vec![first];
        for row in others {
            let row = fields(row, separator).collect::<Result<Vec<_>, _>>().ok()?;
            if row.len() != width {
                return None;
            }
            cut.push(row);
        }
        Some(Cut { separator, rows: cut })
    }

    /// The rows that are no header, if there is one.
    fn data(&self) -> &[Vec<Cow<'a, [u8]>>] {
        &self.rows[usize::from(self.rows.len() > 1)..]
    }

    /// Whether fields hold commas, and all of these stand before decimals.
    fn has_decimal_commas(&self) -> bool {
        let mut with_comma =
            self.data().iter().flatten().filter(|field| field.contains(&b',')).peekable();
        with_comma.peek().is_some() && with_comma.all(|field| is_decimal_comma(field))
    }

    /// Whether one of the fields is several integers.
    fn has_lists(&self) -> bool {
        self.rows.iter().flatten().any(|field| is_several(field))
    }

    /// Whether one of the fields has a separator at its end, or one of the first two a comma before decimals, which is
    /// no id.
    fn has_loose_ends(&self) -> bool {
        let is_loose = |field: &Cow<'_, [u8]>| {
            let ends = [field.first(), field.last()];
            ends.iter().flatten().any(|byte| b",;|".contains(byte))
        };
        let is_decimal =
            |row: &Vec<Cow<'_, [u8]>>| row.iter().take(2).any(|field| is_decimal_comma(field));
        self.rows.iter().flatten().any(is_loose) || self.data().iter().any(is_decimal)
    }

    /// Whether the first row names the ends of an edge.
    fn has_known_names(&self) -> bool {
        Sample::new(self.rows[0].clone(), Vec::new()).has_known_names()
    }
}

/// The separator of a `.csv` or `.tsv`: the first of its candidates that fits, the format's own before others.
fn of_table(rows: &[&[u8]], candidates: &[u8]) -> Result<Separator, String> {
    let mut cuts: Vec<Cut<'_>> =
        candidates.iter().filter_map(|&byte| Cut::of(rows, Separator::Each(byte))).collect();
    if cuts.iter().any(|cut| cut.separator != COMMA && cut.has_decimal_commas()) {
        cuts.retain(|cut| cut.separator != COMMA);
    }
    if let Some(cut) = cuts.first() {
        return Ok(cut.separator);
    }
    // What is wrong is for its row to say.
    let first = rows.first().copied().unwrap_or_default();
    let occurs = |&&byte: &&u8| fields(first, Separator::Each(byte)).count() > 1;
    match candidates.iter().find(occurs) {
        Some(&byte) => Ok(Separator::Each(byte)),
        None => of_edge_list(rows),
    }
}

const COMMA: Separator = Separator::Each(b',');

/// The separator of an edge list, which has none of its own.
fn of_edge_list(rows: &[&[u8]]) -> Result<Separator, String> {
    if rows.iter().all(|row| row.iter().all(|byte| b"0123456789 \t.+-eE".contains(byte))) {
        // The usual case, at once: numbers between blanks.
        return Ok(BLANKS);
    }
    let each = b"\t|;,".map(Separator::Each);
    let mut cuts: Vec<Cut<'_>> =
        each.iter().filter_map(|&separator| Cut::of(rows, separator)).collect();
    cuts.extend(Cut::of(rows, blanks(rows)).filter(|cut| !cut.has_loose_ends()));
    cuts.retain(|cut| !cut.has_lists());
    // No text has tabs within, and hardly any has bars.
    if matches!(cuts.first(), Some(cut) if [b'\t', b'|'].map(Separator::Each).contains(&cut.separator))
    {
        cuts.truncate(1);
    }
    let is_decimal = cuts.iter().any(|cut| cut.separator != COMMA && cut.has_decimal_commas());
    if is_decimal {
        cuts.retain(|cut| cut.separator != COMMA);
    }
    if let Some(known) = cuts.iter().position(Cut::has_known_names) {
        cuts.swap(0, known);
        cuts.retain(Cut::has_known_names);
    }
    let has_integers = has_integers(rows);
    let mixture = if has_integers { Cut::of(rows, BLANKS) } else { None };
    if mixture.as_ref().is_some_and(|mixture| cuts.iter().any(|cut| cut.rows == mixture.rows)) {
        return Ok(BLANKS);
    }
    if let Some(mixture) = mixture.filter(|_| !is_decimal) {
        // Columns behind the ends may be words.
        let has_other_ends = |cut: &Cut<'_>| {
            let mut pairs = cut.rows.iter().zip(&mixture.rows);
            pairs.any(|(a, b)| a.iter().take(2).ne(b.iter().take(2)))
        };
        if cuts.iter().any(has_other_ends) {
            cuts.push(mixture);
        }
    }
    match &*cuts {
        [] if has_integers => Ok(BLANKS),
        [] => Ok(uneven(rows)),
        [first, others @ ..] => match others.iter().find(|other| other.rows != first.rows) {
            Some(other) => Err(two_ways(first, other)),
            None => Ok(first.separator),
        },
    }
}

/// Whether the first two fields of all rows are numbers, but for a header's.
fn has_integers(rows: &[&[u8]]) -> bool {
    let data = &rows[usize::from(rows.len() > 1)..];
    data.iter().all(|row| {
        let mut ends = fields(row, BLANKS).take(2);
        ends.all(|field| field.is_ok_and(|field| is_number_like(&field)))
    })
}

/// The separator of rows of text that none fits: one that all rows have or else the first, else blanks.
fn uneven(rows: &[&[u8]]) -> Separator {
    let cuts = |row: &[u8], separator: Separator| {
        let filled = fields(row, separator).flatten().filter(|field| !field.is_empty());
        filled.count() > 1
    };
    let each = b",;\t|".map(Separator::Each);
    let first = rows.first().copied().unwrap_or_default();
    let in_all = each.iter().find(|&&separator| rows.iter().all(|row| cuts(row, separator)));
    let in_first = || each.iter().find(|&&separator| cuts(first, separator));
    match in_all.or_else(in_first) {
        Some(&separator) => separator,
        None if rows.len() < 2 => BLANKS,
        None => blanks(rows),
    }
}

/// Blanks, within which fields may stand in quotes if some do.
fn blanks(rows: &[&[u8]]) -> Separator {
    let is_quoted =
        |row: &&[u8]| fields(row, PLAIN_BLANKS).flatten().any(|field| field.starts_with(b"\""));
    if rows.iter().any(is_quoted) { Separator::QuotedBlanks } else { PLAIN_BLANKS }
}

/// The refusal of rows that may be cut in two ways.
fn two_ways(one: &Cut<'_>, other: &Cut<'_>) -> String {
    let row = one.rows.iter().zip(&other.rows).position(|(a, b)| a != b).unwrap_or(0);
    let shown = |cut: &Cut<'_>| {
        let fields: Vec<String> =
            cut.rows[row].iter().take(4).map(|field| format!("`{}`", show(field))).collect();
        format!("{} (--delimiter {})", fields.join(" "), name(cut.separator))
    };
    format!(
        "the fields of a row may be {} or {}: say which with --delimiter",
        shown(one),
        shown(other)
    )
}

/// What `--delimiter` calls a separator, quoted for a shell.
fn name(separator: Separator) -> String {
    match separator {
        Separator::Each(b'\t') => "tab".into(),
        Separator::Each(b',') => ",".into(),
        Separator::Each(byte) => format!("'{}'", show(&[byte])),
        Separator::Runs(_) | Separator::QuotedBlanks => "blanks".into(),
    }
}
