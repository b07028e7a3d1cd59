//! Detects the separator of a text table from its first rows.
//!
//! A separator fits if it cuts all rows into the same number of fields, at least two. A header may have one
//! field less, above rows that begin with their names, as R writes them. In a `.csv` or `.tsv` the format's
//! own separator wins if it fits, unless its commas are decimal commas. In other tables exactly one separator
//! must fit, or all that fit must give the same fields. Integers are read between any blanks, tabs, commas
//! and semicolons, if that gives the same fields.

use super::header::{Sample, is_decimal_comma, is_number_like, is_several};
use super::separator::{BLANKS, PLAIN_BLANKS, Separator, fields};
use super::token::show;
use crate::{Delimiter, Format, ReadOptions};
use std::borrow::Cow;

/// Returns the separator of a table that starts with these rows.
///
/// # Errors
/// If two separators fit, and give different fields.
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

/// Rows and their separator. Rows are cut anew each time: all fields at once would exceed small memory
/// limits.
#[derive(Clone, Copy)]
struct Cut<'r> {
    separator: Separator,
    rows: &'r [&'r [u8]],
}

impl<'r> Cut<'r> {
    /// Returns the rows as a separator cuts them, if it fits.
    fn of(rows: &'r [&'r [u8]], separator: Separator) -> Option<Cut<'r>> {
        let (first, others) = rows.split_first()?;
        let width = count(first, separator).filter(|&width| width > 1)?;
        let is_filled = fields(first, separator).flatten().any(|field| !field.is_empty());
        let below = match others.first() {
            Some(row) => count(row, separator)?,
            None => width,
        };
        let is_even = others.iter().all(|row| count(row, separator) == Some(below));
        let is_headed = below == width || below == width + 1;
        (is_filled && is_headed && is_even).then_some(Cut { separator, rows })
    }

    /// Returns the fields of a row.
    fn fields<'a>(self, row: &'a [u8]) -> impl Iterator<Item = Cow<'a, [u8]>> {
        fields(row, self.separator).flatten()
    }

    /// Returns the fields of all rows that are no header, if there is one.
    fn data(self) -> impl Iterator<Item = Cow<'r, [u8]>> {
        data(self.rows).iter().flat_map(move |row| self.fields(row))
    }

    /// Returns the first row that another separator cuts into other fields, at most the given number.
    fn first_unlike(self, other: Cut<'r>, most: usize) -> Option<&'r [u8]> {
        let is_unlike = |row: &&[u8]| self.fields(row).take(most).ne(other.fields(row).take(most));
        self.rows.iter().copied().find(is_unlike)
    }

    fn is_like(self, other: Cut<'r>) -> bool {
        self.first_unlike(other, usize::MAX).is_none()
    }

    /// Whether fields contain commas, and all of these are decimal commas.
    fn has_decimal_commas(self) -> bool {
        let mut with_comma = self.data().filter(|field| field.contains(&b',')).peekable();
        with_comma.peek().is_some() && with_comma.all(|field| is_decimal_comma(&field))
    }

    /// Whether one of the fields is several integers.
    fn has_lists(self) -> bool {
        self.rows.iter().any(|row| self.fields(row).any(|field| is_several(&field)))
    }

    /// Whether one of the fields ends with a separator, or one of the first two has a decimal comma, which is
    /// no id.
    fn has_loose_ends(self) -> bool {
        let is_loose = |field: Cow<'_, [u8]>| {
            let ends = [field.first(), field.last()];
            ends.iter().flatten().any(|byte| b",;|".contains(byte))
        };
        let has_decimal =
            |row: &&[u8]| self.fields(row).take(2).any(|field| is_decimal_comma(&field));
        self.rows.iter().any(|row| self.fields(row).any(is_loose))
            || data(self.rows).iter().any(has_decimal)
    }

    /// Whether the first row names the ends of an edge.
    fn has_known_names(self) -> bool {
        let names = self.rows.first().map(|row| self.fields(row).collect()).unwrap_or_default();
        Sample::new(names, Vec::new()).has_known_names()
    }
}

/// Returns the number of fields a row has, if none is wrong.
fn count(row: &[u8], separator: Separator) -> Option<usize> {
    fields(row, separator).try_fold(0, |count, field| field.ok().map(|_| count + 1))
}

/// Returns the rows that are no header, if there is one.
fn data<'r>(rows: &'r [&'r [u8]]) -> &'r [&'r [u8]] {
    &rows[usize::from(rows.len() > 1)..]
}

/// Returns the separator of a `.csv` or `.tsv`: the first of its candidates that fits, the format's own before others.
fn of_table(rows: &[&[u8]], candidates: &[u8]) -> Result<Separator, String> {
    let mut cuts: Vec<Cut<'_>> =
        candidates.iter().filter_map(|&byte| Cut::of(rows, Separator::Each(byte))).collect();
    if cuts.iter().any(|cut| cut.separator != COMMA && cut.has_decimal_commas()) {
        cuts.retain(|cut| cut.separator != COMMA);
    }
    if let Some(cut) = cuts.first() {
        return Ok(cut.separator);
    }
    // The error is reported for its row.
    let first = rows.first().copied().unwrap_or_default();
    let occurs = |&&byte: &&u8| fields(first, Separator::Each(byte)).count() > 1;
    match candidates.iter().find(occurs) {
        Some(&byte) => Ok(Separator::Each(byte)),
        None => of_edge_list(rows),
    }
}

const COMMA: Separator = Separator::Each(b',');
const TAB: Separator = Separator::Each(b'\t');

/// Returns the separator of an edge list, which has none of its own.
fn of_edge_list(rows: &[&[u8]]) -> Result<Separator, String> {
    if rows.iter().all(|row| row.iter().all(|byte| b"0123456789 \t.+-eE".contains(byte))) {
        // Fast path for the usual case: numbers between blanks.
        return Ok(if has_empty_fields(rows) { TAB } else { BLANKS });
    }
    let each = b"\t|;,".map(Separator::Each);
    let mut cuts: Vec<Cut<'_>> =
        each.iter().filter_map(|&separator| Cut::of(rows, separator)).collect();
    cuts.extend(Cut::of(rows, blanks(rows)).filter(|cut| !cut.has_loose_ends()));
    cuts.retain(|cut| !cut.has_lists());
    // Text rarely contains tabs or bars.
    if matches!(cuts.first(), Some(cut) if [b'\t', b'|'].map(Separator::Each).contains(&cut.separator))
    {
        cuts.truncate(1);
    }
    let is_decimal = cuts.iter().any(|cut| cut.separator != COMMA && cut.has_decimal_commas());
    if is_decimal {
        cuts.retain(|cut| cut.separator != COMMA);
    }
    if cuts.iter().any(|cut| cut.has_known_names()) {
        cuts.retain(|cut| cut.has_known_names());
    }
    let has_integers = has_integers(rows);
    let mixture = if has_integers { Cut::of(rows, BLANKS) } else { None };
    if let Some(mixture) = mixture {
        if cuts.iter().any(|cut| cut.is_like(mixture)) {
            return Ok(BLANKS);
        }
        // Columns after the ends may be words.
        if !is_decimal && cuts.iter().any(|cut| cut.first_unlike(mixture, 2).is_some()) {
            cuts.push(mixture);
        }
    }
    match *cuts {
        [] if has_integers => Ok(BLANKS),
        [] => Ok(uneven(rows)),
        [first, ref others @ ..] => {
            let unlike = others
                .iter()
                .find_map(|&other| Some((other, first.first_unlike(other, usize::MAX)?)));
            match unlike {
                Some((other, row)) => Err(two_ways(first, other, row)),
                None => Ok(first.separator),
            }
        }
    }
}

/// Whether tabs cut all rows alike, and blanks do not: some fields between tabs are empty.
fn has_empty_fields(rows: &[&[u8]]) -> bool {
    let two_tabs = |row: &&[u8]| row.windows(2).any(|two| two == b"\t\t") || row.starts_with(b"\t");
    let are_alike = |separator| {
        let mut counts = rows.iter().map(|row| count(row, separator));
        let first = counts.next();
        counts.all(|count| Some(count) == first)
    };
    rows.iter().any(two_tabs) && are_alike(TAB) && !are_alike(BLANKS)
}

/// Whether the first two fields of all rows are numbers, except in a header.
fn has_integers(rows: &[&[u8]]) -> bool {
    data(rows).iter().all(|row| {
        let mut ends = fields(row, BLANKS).take(2);
        ends.all(|field| field.is_ok_and(|field| is_number_like(&field)))
    })
}

/// Returns the separator of rows of text that none fits: one that all rows have or else the first, else blanks.
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

/// Returns blanks as separators; fields may be quoted if some are.
fn blanks(rows: &[&[u8]]) -> Separator {
    let is_quoted =
        |row: &&[u8]| fields(row, PLAIN_BLANKS).flatten().any(|field| field.starts_with(b"\""));
    if rows.iter().any(is_quoted) { Separator::QuotedBlanks } else { PLAIN_BLANKS }
}

/// Returns the message for a row with two interpretations.
fn two_ways(one: Cut<'_>, other: Cut<'_>, row: &[u8]) -> String {
    let shown = |cut: Cut<'_>| {
        let fields: Vec<String> =
            cut.fields(row).take(4).map(|field| format!("`{}`", show(&field))).collect();
        format!("{} (--delimiter {})", fields.join(" "), name(cut.separator))
    };
    format!(
        "the fields of a row may be {} or {}: say which with --delimiter",
        shown(one),
        shown(other)
    )
}

/// Returns the value of `--delimiter` for a separator, quoted for a shell.
fn name(separator: Separator) -> String {
    match separator {
        Separator::Each(b'\t') => "tab".into(),
        Separator::Each(b',') => ",".into(),
        Separator::Each(byte) => format!("'{}'", show(&[byte])),
        Separator::Runs(_) | Separator::QuotedBlanks => "blanks".into(),
    }
}
