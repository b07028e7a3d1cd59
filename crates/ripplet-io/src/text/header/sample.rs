//! First rows of a table: the kinds of their fields, and the candidates for an edge's columns.

use super::times;
use crate::column_names::{Name, is_row_name, measures, words};
use crate::intern::Sign;
use crate::missing::MISSING_NAMES;
use crate::text::separator::{Separator, fields};
use crate::text::token::{self, NotAnId};
use std::borrow::Cow;
use std::collections::HashSet;

/// A field of a row.
pub(super) type Field<'a> = Cow<'a, [u8]>;

/// Largest number of columns whose names are compared.
const MOST_COLUMNS: usize = 256;

/// Largest number of rows that are examined.
pub(in crate::text) const MOST_ROWS: usize = 4096;

/// First rows of a table, the first of which may be a header.
pub(in crate::text) struct Sample<'a> {
    pub(in crate::text) first: Vec<Field<'a>>,
    pub(super) others: Vec<Vec<Field<'a>>>,
    /// Whether files of this kind conventionally have the ends of an edge in their first two columns.
    pub(in crate::text) ends_first: bool,
    /// Whether the first two columns are the ends of an edge in any case.
    pub(in crate::text) ends_known: bool,
    /// Index of the column that this sample lacks, if it is that of graphs.
    pub(super) left_out: Option<usize>,
    /// Whether the first row has no name for the first column, which has row names, as R writes it: an empty
    /// one was inserted.
    pub(in crate::text) row_names: bool,
    /// The first two rows as they stand in the file.
    pub(in crate::text) raw: Vec<&'a [u8]>,
}

/// Kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// No values.
    Nothing,
    Integers,
    /// Numbers, some of which have a decimal point.
    Fractions,
    Words,
    /// Only signs: neither a-z nor digits.
    Marks,
    /// Dates, times, or amounts with a sign.
    Measures,
}

/// Pairs of columns whose names are those of the ends of an edge.
#[derive(Default)]
pub(super) struct KnownPairs {
    /// Pairs by [`KNOWN_COLUMN_PAIRS`] alone.
    pub(super) sure: Vec<[usize; 2]>,
    /// Pairs by these words beside common ones, by a common name with two numbers or characters after it, or
    /// by `start` and `end`, which may be times.
    pub(super) likely: Vec<[usize; 2]>,
}

/// Ends of an edge by the names of a table's columns alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownEnds {
    /// The only known pair.
    Pair([usize; 2]),
    /// The first of several pairs.
    Several([usize; 2]),
    /// No pair is known.
    Unknown,
}

/// Returns the known pair among the names of columns; an empty name stands for a column that cannot be an end.
pub(crate) fn known_ends(names: &[&str]) -> KnownEnds {
    let first = names.iter().map(|name| name.as_bytes().into()).collect();
    let known = Sample::new(first, Vec::new()).known_pairs();
    match (&*known.sure, &*known.likely) {
        ([pair], _) | ([], [pair]) => KnownEnds::Pair(*pair),
        ([], []) => KnownEnds::Unknown,
        ([pair, ..], _) | ([], [pair, ..]) => KnownEnds::Several(*pair),
    }
}

/// Kind of a field.
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
        // `31 Jan 2024`.
        let is_date = || {
            field.iter().any(u8::is_ascii_digit)
                && field.iter().any(|byte| b" -/".contains(byte))
                && std::str::from_utf8(field).is_ok_and(times::is_time)
        };
        if is_number || is_date() { Kind::Number } else { Kind::Word }
    }
}

impl<'a> Sample<'a> {
    /// Creates the sample of rows with a separator; there is at least one row.
    ///
    /// # Errors
    /// If the first row is invalid.
    pub(in crate::text) fn of(
        rows: &[&'a [u8]],
        separator: Separator,
    ) -> Result<Sample<'a>, String> {
        let Some((first, others)) = rows.split_first() else {
            return Ok(Sample::new(vec![], vec![]));
        };
        let mut first = fields(first, separator).collect::<Result<Vec<_>, _>>()?;
        // Errors of other rows are reported when they are read.
        let others = others
            .iter()
            .filter_map(|row| fields(row, separator).collect::<Result<Vec<_>, _>>().ok());
        let others = others.filter(|row| row.len() > 1 && !row[0].is_empty() && !row[1].is_empty());
        let others: Vec<Vec<Field<'a>>> = others.collect();
        let row_names = is_below_row_names(&first, &others, rows);
        if row_names {
            first.insert(0, Cow::Borrowed(b""));
        }
        let ends_first = !matches!(separator, Separator::Each(_));
        let raw = rows.iter().take(2).copied().collect();
        Ok(Sample { ends_first, row_names, raw, ..Sample::new(first, others) })
    }

    /// Creates the sample of rows as fields; there is at least one row.
    pub(in crate::text) fn new(first: Vec<Field<'a>>, others: Vec<Vec<Field<'a>>>) -> Sample<'a> {
        let (ends_first, ends_known, left_out, row_names) = (false, false, None, false);
        let raw = Vec::new();
        Sample { first, others, ends_first, ends_known, left_out, row_names, raw }
    }

    /// Returns the sample without the inserted name of the first row, which is then an edge.
    pub(in crate::text) fn without_row_names(mut self) -> Sample<'a> {
        if self.row_names {
            self.first.remove(0);
            self.row_names = false;
        }
        self
    }

    /// Returns the name of a column, if the first row is a header that has it.
    pub(in crate::text) fn name(&self, column: usize) -> Option<String> {
        self.first.get(column).map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// Returns the first row that is no header.
    pub(in crate::text) fn data(&self, header: bool) -> &[Field<'a>] {
        match header {
            true => self.others.first().map_or(&[], Vec::as_slice),
            false => &self.first,
        }
    }

    /// Returns all rows that are no header.
    pub(in crate::text) fn rows(&self, header: bool) -> impl Iterator<Item = &[Field<'a>]> + Clone {
        let first = (!header).then_some(self.first.as_slice());
        first.into_iter().chain(self.others.iter().map(Vec::as_slice))
    }

    /// Returns the column with a name: an exact match, else the only match that ignores case.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let exact = self.first.iter().position(|field| **field == *name.as_bytes());
        exact.or_else(|| {
            let is_alike = |at: &usize| self.first[*at].eq_ignore_ascii_case(name.as_bytes());
            let mut alike = (0..self.first.len()).filter(is_alike);
            alike.next().filter(|_| alike.next().is_none())
        })
    }

    /// Whether all fields below the first of a column are of a kind, and there are at least the given number.
    pub(super) fn is_above(&self, column: usize, least: usize, is: impl Fn(&[u8]) -> bool) -> bool {
        let below = self.others.iter().filter_map(|row| row.get(column));
        let mut below = below.filter(|field| Kind::of(field) != Kind::Empty);
        let mut seen = 0;
        below.all(|field| {
            seen += 1;
            is(field)
        }) && seen >= least
    }

    /// Whether the values of a column may be ids: none is a date, a fraction or another number that is no integer, or at
    /// least as many are words. Beside names, `12e4` and `3/4` are names, too.
    fn may_be_ids(&self, column: usize) -> bool {
        let (mut words, mut measures) = (0, 0);
        let fields = self.others.iter().filter_map(|row| row.get(column));
        for field in fields.filter(|field| !is_missing(field) && !is_of_signs(field)) {
            match Kind::of(field) {
                Kind::Word => words += 1,
                Kind::Number if !is_integer(field) => measures += 1,
                Kind::Number | Kind::Empty => {}
            }
        }
        measures <= words
    }

    /// Whether an id of the first row recurs in the columns of the ends.
    pub(super) fn recurs(&self, ends: [usize; 2]) -> bool {
        let first = ends.map(|end| self.first.get(end));
        let mut below = self.others.iter().flat_map(|row| ends.map(|end| row.get(end)));
        below.any(|field| field.is_some() && first.contains(&field))
    }

    /// Whether ids of these columns are the stem of the first row's and a number: `user1,user2` above
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

    /// Returns the kind of a column's values.
    pub(super) fn values(&self, header: bool, column: usize) -> Values {
        let fields = self.rows(header).filter_map(|row| row.get(column));
        Values::of(fields.map(|field| &**field))
    }

    /// Returns the different values of a column.
    fn distinct(&self, header: bool, column: usize) -> HashSet<&[u8]> {
        self.rows(header).filter_map(|row| Some(&**row.get(column)?)).collect()
    }

    /// Whether the values of a column look like times, in at least two rows: seconds or milliseconds since 1970, from the year
    /// 2001 on, or dates as `20240131`.
    pub(super) fn are_times(&self, header: bool, column: usize) -> bool {
        const SECONDS: std::ops::Range<u64> = 1_000_000_000..2_200_000_000;
        let all = |is_time: &dyn Fn(u64) -> bool| {
            let number = |row: &[Field<'_>]| row.get(column).and_then(|field| token::parse(field));
            self.rows(header).all(|row| number(row).is_some_and(is_time))
        };
        let is_day = |date: u64| {
            (1900..2100).contains(&(date / 10_000))
                && (1..=12).contains(&(date / 100 % 100))
                && (1..=31).contains(&(date % 100))
        };
        self.rows(header).nth(1).is_some()
            && (all(&|second| SECONDS.contains(&second))
                || all(&|milli| SECONDS.contains(&(milli / 1000)))
                || all(&is_day))
    }

    /// Whether the first column has the numbers of rows, from 0 or 1, none of which is a value of the next two, which share some: the
    /// ends of edges.
    pub(super) fn has_row_numbers(&self, header: bool) -> bool {
        const LEAST: usize = 3;
        let value = |row: &[Field<'_>]| row.first().and_then(|field| token::parse::<u64>(field));
        let first = self.rows(header).next().and_then(value);
        let counted = (first.unwrap_or(2)..).zip(self.rows(header));
        let are_counted = first.is_some_and(|first| first < 2)
            && self.rows(header).count() >= LEAST
            && counted.into_iter().all(|(number, row)| value(row) == Some(number));
        let [numbers, source, target] = [0, 1, 2].map(|column| self.distinct(header, column));
        are_counted
            && source.intersection(&target).next().is_some()
            && numbers.is_disjoint(&source)
            && numbers.is_disjoint(&target)
    }

    /// Whether, below a header, the second and the third of three columns share values as the ends of edges do, and the first has
    /// none of them: an amount, say. Ids and small weights share values, too, but few of the ids are among them.
    pub(super) fn has_later_ends(&self) -> bool {
        const LEAST: usize = 3;
        let [first, source, target] = [0, 1, 2].map(|column| self.distinct(true, column));
        let shared = source.intersection(&target).count();
        self.pairs_of_ids(true).contains(&[1, 2])
            && shared >= LEAST.max(source.len().max(target.len()) / 3)
            && first.is_disjoint(&source)
            && first.is_disjoint(&target)
    }

    /// Returns the two columns that share most values: ids recur at both ends of edges.
    pub(super) fn shared_ends(&self, header: bool) -> Option<[usize; 2]> {
        let width = self.first.len().min(COMPARED);
        let values = |column: usize| {
            let mut values = self.distinct(header, column);
            values.remove(&b""[..]);
            values
        };
        let values: Vec<HashSet<&[u8]>> = (0..width).map(values).collect();
        let shared = |&[a, b]: &[usize; 2]| values[a].intersection(&values[b]).count();
        // Ties go to the first pair.
        let best = self.pairs_of_ids(header).into_iter().rev().max_by_key(shared);
        best.filter(|pair| shared(pair) > 0)
    }

    /// Returns the pairs of columns whose values can be ids, of one kind, in the order of the columns.
    pub(super) fn pairs_of_ids(&self, header: bool) -> Vec<[usize; 2]> {
        let width = self.first.len().min(COMPARED);
        let values: Vec<Values> = (0..width).map(|column| self.values(header, column)).collect();
        // Numbers of rows are in the first column.
        let is_of_rows = |name: &[u8]| name.is_empty() || is_row_name(name);
        let measures = |column: usize| {
            let name = &self.first[column];
            header && (measures(name) || column == 0 && is_of_rows(name))
                || self.are_times(header, column)
        };
        let pairs = (0..width).flat_map(|a| (a + 1..width).map(move |b| [a, b]));
        let are_ids = |&[a, b]: &[usize; 2]| {
            matches!(values[a], Values::Integers | Values::Words)
                && values[a] == values[b]
                && !measures(a)
                && !measures(b)
        };
        pairs.filter(are_ids).collect()
    }

    /// Returns the columns around one with the same mark in each row, such as `ann -> bob`, and the mark's
    /// column.
    ///
    /// The mark stands behind the first column, and rows are equally long: `1 : 2 3` above `2 : 4` are lists.
    pub(super) fn around_a_mark(&self) -> Option<([usize; 2], usize)> {
        const MARK: usize = 1;
        let mark = self.first.get(MARK)?;
        let width = self.first.len();
        // In a table with commas, a single hyphen is a missing value.
        let is_missing = !self.ends_first && **mark == *b"-";
        let is_alike = |row: &[Field<'_>]| row.len() == width && row[MARK] == *mark;
        let is_mark =
            width > MARK + 1 && is_arrow(mark) && !is_missing && self.rows(false).all(is_alike);
        if !is_mark {
            return None;
        }
        let is_reversed = mark.starts_with(b"<") && !mark.ends_with(b">");
        let (before, behind) = (MARK - 1, MARK + 1);
        Some((if is_reversed { [behind, before] } else { [before, behind] }, MARK))
    }

    /// Whether the weights of a column have a decimal comma.
    ///
    /// # Errors
    /// If some have one and others a point, or all could be thousands.
    pub(in crate::text) fn has_decimal_commas(
        &self,
        header: bool,
        column: usize,
    ) -> Result<bool, String> {
        let mut weights = self.rows(header).filter_map(|row| row.get(column));
        if !weights.clone().any(|field| field.contains(&b',')) {
            return Ok(false);
        }
        let is_decimal = |field: &Field<'_>| {
            is_decimal_comma(field) || !field.contains(&b',') && !field.contains(&b'.')
        };
        if weights.clone().all(is_decimal)
            && weights.any(|field| is_decimal_comma(field) && !may_be_thousands(field))
        {
            return Ok(true);
        }
        Err(format!(
            "the weights in column {} have commas that may stand before decimals or between thousands: write them with a \
             decimal point alone, as in 1234.50",
            column + 1
        ))
    }

    /// Returns the pairs of columns whose names are known to mean the ends of an edge, and whose values may be ids.
    pub(super) fn known_pairs(&self) -> KnownPairs {
        self.pairs_of(|column| self.may_be_ids(column))
    }

    /// Whether two names are known to be the ends of an edge, regardless of values.
    pub(in crate::text) fn has_known_names(&self) -> bool {
        !self.pairs_of(|_| true).sure.is_empty()
    }

    /// Returns the pairs of those columns whose names are known to mean the ends of an edge.
    fn pairs_of(&self, counts: impl Fn(usize) -> bool) -> KnownPairs {
        let names: Vec<Name> = self.first.iter().map(|name| Name::of(name)).collect();
        let mut known = KnownPairs::default();
        let columns: Vec<usize> =
            (0..names.len().min(MOST_COLUMNS)).filter(|&column| counts(column)).collect();
        for &a in &columns {
            for &b in columns.iter().filter(|&&b| b != a) {
                // `head,tail` has two interpretations: the first counts.
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

impl Values {
    fn of<'f>(fields: impl Iterator<Item = &'f [u8]>) -> Values {
        let (mut all, mut fractions, mut words, mut marks, mut measures) = (0, 0, 0, 0, 0);
        for field in fields.filter(|field| !is_missing(field)) {
            all += 1;
            if is_digits(field) {
                continue;
            }
            let kind = if is_of_signs(field) {
                &mut marks
            } else if token::is_number(field) && Kind::of(field) == Kind::Number {
                &mut fractions
            } else if is_measure(field) {
                &mut measures
            } else {
                &mut words
            };
            *kind += 1;
        }
        match (all, words) {
            (0, _) => Values::Nothing,
            _ if marks == all => Values::Marks,
            // A missing value may be a word.
            _ if measures > 0 && 2 * (measures + fractions) >= all => Values::Measures,
            (_, 0) if fractions == 0 => Values::Integers,
            (_, 0) => Values::Fractions,
            _ if 2 * fractions > all => Values::Measures,
            // A word among numbers is reported with its line.
            _ if 2 * words < all => Values::Integers,
            _ => Values::Words,
        }
    }
}

/// Largest number of columns whose values are compared.
const COMPARED: usize = 24;

/// Whether the first row lacks a name for the first column, whose values are distinct integers: row names.
///
/// If the second and the third column have integers, too, the first could be an end of the edges, and the last a column
/// without a name. Then the row names, and nothing else, must be in quotes, as R writes them, or count the rows from 1, before two
/// columns that share ids.
fn is_below_row_names(first: &[Field<'_>], others: &[Vec<Field<'_>>], rows: &[&[u8]]) -> bool {
    let mut seen = HashSet::new();
    let is_name = |field: &Field<'_>| Kind::of(field) == Kind::Word && !is_of_signs(field);
    first.len() > 1
        && !others.is_empty()
        && first.iter().all(is_name)
        && others
            .iter()
            .all(|row| row.len() == first.len() + 1 && is_digits(&row[0]) && seen.insert(&row[0]))
        && (are_words(others, 1)
            || are_words(others, 2)
            || have_quoted_names(rows)
            || count_before_ids(others))
}

/// Whether a value of a column is a word, and none is a number with a fraction.
fn are_words(rows: &[Vec<Field<'_>>], column: usize) -> bool {
    let values = Values::of(rows.iter().filter_map(|row| Some(&**row.get(column)?)));
    values == Values::Words
}

/// Whether the first field of each row but the first is in quotes, and no other.
fn have_quoted_names(rows: &[&[u8]]) -> bool {
    let is_quoted = |row: &&[u8]| {
        row.trim_ascii_start().starts_with(b"\"")
            && row.iter().filter(|byte| **byte == b'"').count() == 2
    };
    rows.iter().skip(1).all(is_quoted)
}

/// Whether the first column counts the rows from 1, and the next two have integers and share some.
fn count_before_ids(rows: &[Vec<Field<'_>>]) -> bool {
    const LEAST: usize = 2;
    let ids = |column: usize| -> HashSet<&Field<'_>> {
        rows.iter().filter_map(|row| row.get(column)).collect()
    };
    let (sources, targets) = (ids(1), ids(2));
    rows.len() >= LEAST
        && (1u64..).zip(rows).all(|(number, row)| token::parse(&row[0]) == Some(number))
        && sources.iter().chain(&targets).all(|id| is_integer(id))
        && !sources.is_disjoint(&targets)
}

/// Whether a field is a missing value.
fn is_missing(field: &[u8]) -> bool {
    field.is_empty()
        || MISSING_NAMES.iter().any(|missing| missing.as_bytes().eq_ignore_ascii_case(field))
}

/// Whether a field has neither a letter nor a digit.
pub(super) fn is_of_signs(field: &[u8]) -> bool {
    if field.iter().any(u8::is_ascii_alphanumeric) {
        return false;
    }
    let text = String::from_utf8_lossy(field);
    !text.is_empty()
        && !text.chars().any(|c| c.is_alphanumeric() || c == char::REPLACEMENT_CHARACTER)
}

/// Whether a field is a mark between the ends of an edge: an arrow, a line, a colon or a bar.
fn is_arrow(field: &[u8]) -> bool {
    let text = String::from_utf8_lossy(field);
    !text.is_empty() && text.chars().all(|c| "-<>=~:|–—←→↔⇐⇒⇔".contains(c))
}

pub(super) fn is_digits(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a field is a number with a decimal comma.
pub(in crate::text) fn is_decimal_comma(field: &[u8]) -> bool {
    let number = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    let mut parts = number.split(|byte| *byte == b',');
    let is_number = |part: Option<&[u8]>| {
        part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

/// Whether a number with a comma may have a thousands separator: `1,234`, but not `0,234`.
fn may_be_thousands(field: &[u8]) -> bool {
    let mut parts = field.split(|byte| *byte == b',');
    let (whole, rest) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    rest.len() == 3 && !whole.starts_with(b"0")
}

/// Whether a field is several integers.
pub(in crate::text) fn is_several(field: &[u8]) -> bool {
    let mut parts = field.split(|byte| b" \t,;".contains(byte)).filter(|part| !part.is_empty());
    parts.clone().count() > 1 && parts.all(is_integer) && !is_decimal_comma(field)
}

/// Whether a field is a date, a time, or an amount: a number with a currency, a percent sign, or commas.
fn is_measure(field: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(field) else { return false };
    let is_digit = |c: char| c.is_ascii_digit();
    if !text.contains(is_digit) {
        return false;
    }
    let bare = text
        .trim_start_matches(['-', '+', '$', '€', '£'])
        .trim_end_matches(['%', '€', '$', '£'])
        .trim();
    let is_amount = bare.len() < text.len() || text.contains(',');
    let is_of = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let has_sign = text.contains(['$', '€', '£', '%']) || bare.contains(',');
    is_amount && has_sign && !bare.is_empty() && bare.chars().all(is_of) || times::is_time(text)
}

/// Whether a field is a code or an address rather than a word: it has two digits, or is an address with a host.
pub(super) fn is_code(field: &[u8]) -> bool {
    field.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2 || field.contains(&b'@')
}

/// Whether a field is an integer that may be an id.
pub(super) fn is_integer(field: &[u8]) -> bool {
    token::id(field, Sign::Signed).is_ok() || token::id(field, Sign::Unsigned).is_ok()
}

/// Whether a field is an integer id, or a number that may be meant as one.
pub(in crate::text) fn is_number_like(field: &[u8]) -> bool {
    token::id(field, Sign::Unsigned) != Err(NotAnId::NoNumber)
}

/// Whether a field is an integer that does not print as it is written: `007`.
pub(in crate::text) fn is_padded(field: &[u8]) -> bool {
    token::exact_id(field, Sign::Unsigned) == Err(NotAnId::Padded)
}
