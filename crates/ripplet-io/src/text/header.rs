//! What the first rows of a table say of its columns: whether the first row names them, and which are the edge's.
//!
//! ```text
//! --no-header                                             no header
//! --header, names of --columns, or a known pair of names  header
//! a number in the first row                               no header
//! a word above numbers (or dates) only                    header
//! words above words: an id of the first row comes again   no header
//!                    both ends are codes (X17, a@b.org)   no header
//!                    words above nothing but codes        header
//!                    none of these                        refused: it may be either
//! ```
//!
//! With a header, the columns are those of `--columns`, else a known pair of names, wherever in the row they
//! stand; else the first two, where there are no others that could be meant. Without one, they are the first two,
//! where these hold integers or the table has no more than three columns. Anything else is refused with the
//! first two rows and the option to use.

use super::layout::{Separator, fields};
use super::token::{self, NotAnId};
use crate::intern::Sign;
use crate::summary::{ReadColumn, ReadColumns};
use crate::{Columns, Header, ReadOptions};
use std::borrow::Cow;
use std::collections::HashSet;

/// A field of a row.
type Field<'a> = Cow<'a, [u8]>;

/// The columns whose names are compared.
const MOST_COLUMNS: usize = 256;

/// A column of at least so many codes below a word without digits has that word as its name.
const CODES: usize = 3;

/// The rows that are looked at.
pub(super) const MOST_ROWS: usize = 4096;

/// Pairs of column names that mean the source and the target of an edge.
///
/// A name is compared by its words in lower case (`SenderAccountId` is `sender account id`, and so is
/// `sender_account_id`), less those that only say what an id is of: see [`UNSPECIFIC_WORDS`].
pub const KNOWN_COLUMN_PAIRS: &[(&str, &str)] = &[
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("source", "sink"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("src", "trg"),
    ("from", "to"),
    ("head", "tail"),
    ("tail", "head"),
    ("left", "right"),
    ("u", "v"),
    ("i", "j"),
    ("row", "col"),
    ("row", "column"),
    ("srcip", "dstip"),
    ("saddr", "daddr"),
    ("nameorig", "namedest"),
    ("orig", "dest"),
    ("orig", "resp"),
    ("origin", "destination"),
    ("origin", "dest"),
    ("originator", "beneficiary"),
    ("originator", "receiver"),
    ("orig", "bene"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("send", "receive"),
    ("payer", "payee"),
    ("payer", "receiver"),
    ("debtor", "creditor"),
    ("debit", "credit"),
    ("remitter", "beneficiary"),
    ("ordering", "beneficiary"),
    ("buyer", "seller"),
    ("customer", "merchant"),
    ("client", "merchant"),
    ("card", "merchant"),
    ("user", "merchant"),
    ("user", "item"),
    ("user", "product"),
    ("user", "friend"),
    ("user", "movie"),
    ("customer", "product"),
    ("borrower", "lender"),
    ("lender", "borrower"),
    ("donor", "recipient"),
    ("exporter", "importer"),
    ("reporter", "partner"),
    ("supplier", "customer"),
    ("caller", "callee"),
    ("calling", "called"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("follower", "following"),
    ("truster", "trustee"),
    ("trustor", "trustee"),
    ("rater", "ratee"),
    ("rater", "rated"),
    ("citing", "cited"),
    ("citer", "citee"),
    ("parent", "child"),
    ("manager", "employee"),
    ("employee", "manager"),
    ("person", "friend"),
    ("author", "coauthor"),
    ("subject", "object"),
    ("input", "output"),
    ("ego", "alter"),
    ("node", "neighbor"),
    ("node", "neighbour"),
    ("vertex", "neighbor"),
    ("vertex", "neighbour"),
    ("query", "match"),
    ("client", "server"),
    ("local", "remote"),
    ("first", "second"),
];

/// Words that say what an id is of, not which end it is: left out when names are compared.
pub const UNSPECIFIC_WORDS: &[&str] = &[
    "id", "ids", "uid", "guid", "uuid", "key", "no", "num", "nr", "number", "code", "name",
    "names", "node", "nodes", "vertex", "account", "acct", "acc", "user", "users", "entity",
    "addr", "address", "ip", "iban", "card", "client", "customer", "person", "party", "index",
    "idx", "label", "wallet", "the", "of", "is",
];

/// Words of columns that measure something of an edge's ends, or of two of its sides: not ids.
const MEASURE_WORDS: &[&str] = &[
    "date",
    "time",
    "timestamp",
    "year",
    "month",
    "week",
    "day",
    "hour",
    "port",
    "bytes",
    "packets",
    "pkts",
    "balance",
    "newbalance",
    "oldbalance",
    "amount",
    "amt",
    "count",
    "price",
    "country",
    "currency",
    "bank",
    "location",
    "city",
    "type",
    "lat",
    "latitude",
    "lon",
    "lng",
    "longitude",
    "age",
    "rate",
    "flag",
];

/// Names of two columns that differ in their last sign alone: `id1` and `id2`, `user_a` and `user_b`.
const ENUMERATIONS: &[(&str, &str)] = &[("1", "2"), ("0", "1"), ("a", "b"), ("i", "j")];

/// Names of a column of weights.
pub const KNOWN_WEIGHT_NAMES: &[&str] =
    &["weight", "weights", "w", "amount", "amt", "value", "count", "strength", "capacity"];

/// Names of a first column of a table that describes vertices, not edges.
const VERTEX_NAMES: &[&str] =
    &["id", "node", "vertex", "name", "user", "account", "customer", "entity", "person"];

/// The columns that are read, and whether the first row names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) header: bool,
    pub(super) source: usize,
    pub(super) target: usize,
    /// Present where weights are read and the file has a column of them by name or number, else the third.
    pub(super) weight: usize,
}

/// Some rows of a table, the first of which may name its columns.
pub(super) struct Sample<'a> {
    first: Vec<Field<'a>>,
    others: Vec<Vec<Field<'a>>>,
    /// Whether files of this kind have the ends of an edge in their first two columns by custom.
    ends_first: bool,
}

/// What a field could be a value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Empty,
    /// A number, date, time or amount.
    Number,
    Word,
}

impl Kind {
    fn of(field: &[u8]) -> Kind {
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
    pub(super) fn of(rows: &[&'a [u8]], separator: Separator) -> Result<Sample<'a>, String> {
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
    pub(super) fn new(first: Vec<Field<'a>>, others: Vec<Vec<Field<'a>>>) -> Sample<'a> {
        Sample { first, others, ends_first: false }
    }

    /// The first row that is no header.
    pub(super) fn data(&self, header: bool) -> &[Field<'a>] {
        match header {
            true => self.others.first().map_or(&[], Vec::as_slice),
            false => &self.first,
        }
    }

    /// Whether all rows have as many fields, some of which are words, and none is several numbers.
    pub(super) fn is_table_of_words(&self) -> bool {
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

    /// All rows that are no header.
    pub(super) fn rows(&self, header: bool) -> impl Iterator<Item = &[Field<'a>]> {
        let first = (!header).then_some(self.first.as_slice());
        first.into_iter().chain(self.others.iter().map(Vec::as_slice))
    }

    /// Decides what the columns are.
    pub(super) fn decide(&self, options: &ReadOptions) -> Result<Decision, String> {
        // A row of separators has no field.
        if self.first.is_empty() || self.first.iter().any(|field| field.contains(&b'\r')) {
            // What is wrong with it is for its row to say.
            return Ok(Decision { header: false, source: 0, target: 1, weight: 2 });
        }
        let asked = Asked::of(&options.columns);
        let header = match options.header {
            Header::Absent => false,
            Header::Present => true,
            Header::Auto => self.has_header(&asked)?,
        };
        if header && !asked.is_by_number() {
            self.check_distinct()?;
        }
        let [source, target] = match (&asked, header) {
            (Asked::Columns(columns), _) => self.asked(columns, header)?,
            (Asked::Nothing, true) => self.named()?,
            (Asked::Nothing, false) if options.header == Header::Absent => [0, 1],
            (Asked::Nothing, false) => self.first_two()?,
        };
        let weight = match options.weighted {
            true => self.weight(&options.columns, header, [source, target])?,
            false => 2,
        };
        Ok(Decision { header, source, target, weight })
    }

    /// Whether the first row names the columns.
    fn has_header(&self, asked: &Asked<'_>) -> Result<bool, String> {
        let mut ends = [0, 1];
        if let Asked::Columns(columns) = asked {
            let names = [columns.source.as_str(), &columns.target];
            let mut by_name = names.iter().filter(|name| number(name).is_none()).peekable();
            if by_name.peek().is_some() {
                return match by_name.find(|name| self.position(name).is_none()) {
                    None => Ok(true),
                    Some(missing) => Err(self.no_header_with(missing)),
                };
            }
            for (end, name) in ends.iter_mut().zip(names) {
                *end = number(name).unwrap_or(*end);
            }
        }
        if ends.iter().any(|&end| self.first.get(end).is_none_or(|field| field.is_empty())) {
            // What is missing is for its row to say.
            return Ok(false);
        }
        let is_asked = matches!(asked, Asked::Columns(_));
        let kinds: Vec<Kind> = self.first.iter().map(|field| Kind::of(field)).collect();
        let known = self.known_pairs();
        if kinds.contains(&Kind::Number) {
            // Years may be names of columns beside known ones.
            let is_sure = |pair: &[usize; 2]| pair.iter().all(|&end| self.first[end].len() > 1);
            return Ok(!known.sure.is_empty()
                && known.sure.iter().all(is_sure)
                && !self.recurs(ends));
        }
        let recurs = self.recurs(ends);
        if !known.sure.is_empty() || !known.likely.is_empty() {
            let letters = self.first.iter().all(|name| name.len() == 1);
            return match recurs {
                false => Ok(true),
                // Vertices may well be called by letters.
                true if letters => Ok(false),
                true => Err(self.ambiguous()),
            };
        }
        if recurs {
            return Ok(false);
        }
        let mut words = (0..kinds.len()).filter(|&column| kinds[column] == Kind::Word);
        let is_number = |field: &[u8]| Kind::of(field) == Kind::Number;
        if words.any(|column| self.is_above(column, 1, is_number)) {
            return Ok(true);
        }
        let firsts: Vec<&[u8]> =
            ends.iter().filter_map(|&end| self.first.get(end)).map(|field| &**field).collect();
        let is_loop = firsts.len() == 2 && firsts[0] == firsts[1];
        if self.others.is_empty() || is_loop || firsts.iter().all(|field| is_code(field)) {
            return Ok(false);
        }
        let has_digit = |field: &&[u8]| field.iter().any(u8::is_ascii_digit);
        if !firsts.iter().any(has_digit)
            && ends.iter().all(|&end| self.is_above(end, CODES, is_code))
        {
            return Ok(true);
        }
        if self.first.len() > 3 && !is_asked {
            // Whatever the first row is, which columns are meant is asked below.
            return Ok(true);
        }
        Err(self.ambiguous())
    }

    /// Whether all fields below the first of a column are of a kind, and there are so many at least.
    fn is_above(&self, column: usize, least: usize, is: impl Fn(&[u8]) -> bool) -> bool {
        let below = self.others.iter().filter_map(|row| row.get(column));
        let mut below = below.filter(|field| Kind::of(field) != Kind::Empty);
        let mut seen = 0;
        below.all(|field| {
            seen += 1;
            is(field)
        }) && seen >= least
    }

    /// The pairs of columns whose names are known to mean the ends of an edge, and whose values may be ids.
    fn known_pairs(&self) -> Known {
        let names: Vec<Name> = self.first.iter().map(|name| Name::of(name)).collect();
        let mut known = Known::default();
        let columns: Vec<usize> =
            (0..names.len().min(MOST_COLUMNS)).filter(|&column| self.may_be_ids(column)).collect();
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

    /// Whether no value of a column is a date, a fraction, or another number that is no integer.
    fn may_be_ids(&self, column: usize) -> bool {
        let fields = self.others.iter().filter_map(|row| row.get(column));
        fields.into_iter().all(|field| Kind::of(field) != Kind::Number || is_integer(field))
    }

    /// Whether an id of the first row comes again in the columns of the ends.
    fn recurs(&self, ends: [usize; 2]) -> bool {
        let of = |row: &'_ [Field<'a>]| ends.map(|end| row.get(end).map(|field| field.to_vec()));
        let first: HashSet<Vec<u8>> = of(&self.first).into_iter().flatten().collect();
        self.others.iter().flat_map(|row| of(row)).flatten().any(|field| first.contains(&field))
    }

    /// The columns of `--columns`.
    fn asked(&self, columns: &Columns, header: bool) -> Result<[usize; 2], String> {
        let place = |name: &String| {
            let named = if header { self.position(name) } else { None };
            let width = self.first.len();
            match named.or(number(name)) {
                Some(place) if place < width => Ok(place),
                Some(place) => Err(format!(
                    "--columns asks for column {}, but the first row has {width}",
                    place + 1
                )),
                None if header => Err(self.no_column(name)),
                None => Err(format!(
                    "--columns names the column {name}, but there is no header: use numbers of columns, such as \
                     --columns 1,2"
                )),
            }
        };
        Ok([place(&columns.source)?, place(&columns.target)?])
    }

    /// The columns that a header tells.
    fn named(&self) -> Result<[usize; 2], String> {
        let exact = ["source", "target"].map(|name| self.position(name));
        if let [Some(source), Some(target)] = exact {
            return Ok([source, target]);
        }
        let known = self.known_pairs();
        match (&*known.sure, &*known.likely) {
            ([pair], _) | ([], [pair]) => return Ok(*pair),
            ([], []) => {}
            _ => {
                return Err(
                    self.unclear(true, "more than one pair of columns could be the edge's ends")
                );
            }
        }
        let of_first = words(&self.first[0]);
        let is_of_vertices = of_first.iter().all(|word| VERTEX_NAMES.contains(&word.as_str()));
        let seems_of_vertices = is_of_vertices && self.shared_ends(true).is_none();
        match self.first.len() {
            0 | 1 => {
                Err(format!("expected two vertex ids in a row, found only `{}`", self.shown(0)))
            }
            2 if !is_of_vertices => Ok([0, 1]),
            3 if !is_of_vertices && self.is_weight_like(2) && self.are_of_one_kind() => Ok([0, 1]),
            _ if seems_of_vertices => Err(format!(
                "the header seems that of a table of vertices, not of edges; the first rows are {}: give the \
                 table of edges, or if this is it, the two columns with an edge's ends as --columns SOURCE,TARGET",
                self.first_rows()
            )),
            2 => Err(self.unclear(true, "the header is that of a table of vertices, not of edges")),
            _ => {
                Err(self.unclear(true, "the header does not say which columns are the edge's ends"))
            }
        }
    }

    /// Whether the values of a column are numbers.
    fn is_weight_like(&self, column: usize) -> bool {
        let fields = self.others.iter().filter_map(|row| row.get(column));
        fields.map(|field| Kind::of(field)).all(|kind| kind != Kind::Word)
    }

    /// Whether the values of both first columns are numbers, or those of neither.
    fn are_of_one_kind(&self) -> bool {
        let is_number = |column: usize| self.is_weight_like(column);
        is_number(0) == is_number(1)
    }

    /// The first two columns, of a table without a header.
    fn first_two(&self) -> Result<[usize; 2], String> {
        let integers =
            self.rows(false).all(|row| row.iter().take(2).all(|field| is_integer(field)));
        let words = self.first.iter().any(|field| Kind::of(field) == Kind::Word);
        match self.first.len() {
            0..=3 => Ok([0, 1]),
            // An integer in front of words counts rows, or is one of their attributes; but not in the files
            // whose fields stand apart by blanks, which have their ends first by custom.
            _ if integers && (!words || self.ends_first) => Ok([0, 1]),
            _ => Err(self.unclear(
                false,
                "the table has more than three columns and no header that says which are the edge's ends",
            )),
        }
    }

    /// The column of weights.
    fn weight(&self, columns: &Columns, header: bool, ends: [usize; 2]) -> Result<usize, String> {
        let free = |place: &usize| !ends.contains(place);
        let default = columns.weight == Columns::default().weight;
        if !default {
            let named = if header { self.position(&columns.weight) } else { None };
            let place = named.or(number(&columns.weight)).filter(|&place| place < self.first.len());
            return place.ok_or_else(|| self.no_column(&columns.weight));
        }
        if !header {
            return Ok((0..).find(free).unwrap_or(2));
        }
        if let Some(exact) = self.position(&columns.weight) {
            return Ok(exact);
        }
        let known = |place: &usize| {
            let name = words(&self.first[*place]);
            name.len() == 1 && KNOWN_WEIGHT_NAMES.contains(&name[0].as_str())
        };
        let candidates: Vec<usize> = (0..self.first.len()).filter(free).filter(known).collect();
        match *candidates {
            [only] => Ok(only),
            [] if self.first.len() == 3 => Ok((0..3).find(free).unwrap_or(2)),
            [] => Err(self.no_column(&columns.weight)),
            [first, second, ..] => Err(format!(
                "both `{}` and `{}` could be the weight: use --columns SOURCE,TARGET,WEIGHT",
                self.shown(first),
                self.shown(second)
            )),
        }
    }

    /// Refuses a header that has a name twice.
    fn check_distinct(&self) -> Result<(), String> {
        let mut seen = HashSet::new();
        let filled = self.first.iter().filter(|name| !name.trim_ascii().is_empty());
        match filled.into_iter().find(|name| !seen.insert(name.trim_ascii())) {
            None => Ok(()),
            Some(twice) => Err(format!(
                "the header has the column `{}` twice: name the columns by number, such as --columns 1,2",
                token::show(twice)
            )),
        }
    }

    /// What is read of the table, for its owner.
    pub(super) fn columns(
        &self,
        header: bool,
        [source, target]: [usize; 2],
        weight: Option<usize>,
    ) -> ReadColumns {
        let column = |at: usize| match self.first.get(at).filter(|_| header) {
            Some(name) => ReadColumn::Name(String::from_utf8_lossy(name).into_owned()),
            None => ReadColumn::Number(at + 1),
        };
        let is_read = |at: &usize| [Some(source), Some(target), weight].contains(&Some(*at));
        let ignored = |at: &usize| !is_read(at);
        let others = (0..self.first.len()).filter(ignored);
        ReadColumns {
            source: column(source),
            target: column(target),
            weight: weight.map(column),
            header,
            ignored: others.clone().count(),
            graph_ignored: header && others.into_iter().any(|at| &*self.first[at] == b"graph"),
        }
    }

    pub(super) fn no_column(&self, missing: &str) -> String {
        /// As many as a message can hold.
        const LISTED: usize = 12;
        let mut listed: Vec<String> =
            (0..self.first.len().min(LISTED)).map(|at| self.shown(at)).collect();
        if self.first.len() > LISTED {
            listed.push(format!("and {} more", self.first.len() - LISTED));
        }
        format!(
            "there is no column `{}`; the columns are: {} (--columns says which to read, by name or number)",
            token::show(missing.as_bytes()),
            listed.join(", ")
        )
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.first.iter().position(|field| **field == *name.as_bytes())
    }

    fn shown(&self, at: usize) -> String {
        self.first.get(at).map_or_else(String::new, |field| token::show(field))
    }

    fn ambiguous(&self) -> String {
        format!(
            "the first row may name the columns or be an edge; the first rows are {}: use --header or --no-header",
            self.first_rows()
        )
    }

    /// What is wrong with a name of `--columns` that the first row does not have.
    fn no_header_with(&self, missing: &str) -> String {
        match self.first.iter().any(|field| Kind::of(field) == Kind::Number) {
            true => format!(
                "--columns names the column {missing}, but no row of the file does: expected a header row, or \
                 numbers of columns, such as --columns 1,2"
            ),
            false => self.no_column(missing),
        }
    }

    /// A refusal with the first rows and the option to use.
    fn unclear(&self, header: bool, why: &str) -> String {
        let [source, target] =
            self.likely_ends(header).map(|column| match self.first.get(column) {
                Some(name)
                    if header
                        && Kind::of(name) == Kind::Word
                        && !name.contains(&b',')
                        && name.len() < 30 =>
                {
                    token::show(name)
                }
                _ => (column + 1).to_string(),
            });
        format!(
            "{why}; the first rows are {}: use --columns with two names or numbers, such as --columns {source},{target}",
            self.first_rows()
        )
    }

    fn first_rows(&self) -> String {
        let shown = |row: &[Field<'_>]| {
            let fields: Vec<String> = row.iter().take(10).map(|field| token::show(field)).collect();
            let more = if row.len() > 10 { ",…" } else { "" };
            format!("`{}{more}`", fields.join(","))
        };
        let rows: Vec<String> = self.rows(false).take(2).map(shown).collect();
        rows.join(" and ")
    }

    /// The two columns that share most values, or the first two if none share any.
    fn likely_ends(&self, header: bool) -> [usize; 2] {
        let last = self.first.len().saturating_sub(1);
        self.shared_ends(header).unwrap_or([0, 1.min(last)])
    }

    /// The two columns that share most values: ids come again on both sides of edges.
    fn shared_ends(&self, header: bool) -> Option<[usize; 2]> {
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
}

/// Pairs of columns whose names say that they are the ends of an edge.
#[derive(Default)]
struct Known {
    /// By [`KNOWN_COLUMN_PAIRS`] alone.
    sure: Vec<[usize; 2]>,
    /// By these words beside others that both names have, by the same name with two numbers or letters behind
    /// it, or by `start` and `end`, which may be times.
    likely: Vec<[usize; 2]>,
}

/// What `--columns` asks for.
enum Asked<'a> {
    Nothing,
    Columns(&'a Columns),
}

impl<'a> Asked<'a> {
    fn of(columns: &'a Columns) -> Asked<'a> {
        let default = Columns::default();
        let is_default = columns.source == default.source && columns.target == default.target;
        if is_default { Asked::Nothing } else { Asked::Columns(columns) }
    }

    fn is_by_number(&self) -> bool {
        match self {
            Asked::Nothing => false,
            Asked::Columns(columns) => {
                number(&columns.source).is_some() && number(&columns.target).is_some()
            }
        }
    }
}

/// The place of a column that is called by its number, which counts from 1.
pub(crate) fn number(name: &str) -> Option<usize> {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse::<usize>().ok().filter(|_| is_number)?.checked_sub(1)
}

/// A column's name by its words.
struct Name {
    whole: String,
    /// Without words for identifiers alone.
    without_id: String,
    /// Without all unspecific words.
    specific: String,
}

impl Name {
    fn of(name: &[u8]) -> Name {
        let words = words(name);
        let without = |list: &[&str]| {
            let kept = words.iter().map(String::as_str).filter(|word| !list.contains(word));
            kept.collect::<Vec<_>>().join(" ")
        };
        let without_id = without(&["id", "ids", "key", "no", "number", "name", "code"]);
        Name { whole: words.join(" "), without_id, specific: without(UNSPECIFIC_WORDS) }
    }

    fn is(&self, name: &str) -> bool {
        self.whole == name || self.without_id == name || self.specific == name
    }

    /// Whether two names are a known pair.
    fn is_source_of(&self, other: &Name) -> bool {
        KNOWN_COLUMN_PAIRS.iter().any(|&(source, target)| self.is(source) && other.is(target))
    }

    /// Whether two names are `start` and `end`, or differ in one word, which is of a known pair, and the other
    /// words do not say that it is a measure: `source computer` and `target computer`.
    fn is_like_source_of(&self, other: &Name) -> bool {
        if self.is("start") && other.is("end") {
            return true;
        }
        let (a, b): (Vec<&str>, Vec<&str>) =
            (self.whole.split(' ').collect(), other.whole.split(' ').collect());
        let mut differ = a.iter().zip(&b).filter(|(a, b)| a != b);
        let (Some((one, two)), None) = (differ.next(), differ.next()) else { return false };
        a.len() == b.len()
            && !a.iter().any(|word| MEASURE_WORDS.contains(word))
            && KNOWN_COLUMN_PAIRS.contains(&(one, two))
    }

    /// What two names have in common that differ in a last number or letter alone: `id 1` and `id 2`.
    fn is_numbered_before(&self, other: &Name) -> Option<&str> {
        ENUMERATIONS.iter().find_map(|&(first, second)| {
            let stem = self.whole.strip_suffix(first)?;
            // `na`, `nb` is no numbering, `n a`, `n b` and `n1`, `n2` are.
            let by_letter = first.bytes().all(|byte| byte.is_ascii_alphabetic());
            let is_stem = !stem.trim_end().is_empty()
                && (!by_letter || stem.ends_with(' '))
                && !KNOWN_WEIGHT_NAMES.contains(&stem.trim_end());
            let is_same = other.whole.strip_suffix(second) == Some(stem);
            (is_same && is_stem).then(|| stem.trim_end())
        })
    }
}

/// The words of a name in lower case: `nameOrig`, `name_orig` and `Name Orig` are the same two.
fn words(name: &[u8]) -> Vec<String> {
    let name = String::from_utf8_lossy(name);
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && !before.is_uppercase() || !before.is_alphanumeric();
        if letter.is_alphanumeric() {
            if begins || words.is_empty() {
                words.push(String::new());
            }
            let word = words.last_mut().expect("one was pushed");
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    // `FromNodeId` has its words by capitals; `fromnodeid` by what is known to end names.
    if let [word] = &mut *words {
        for end in ["nodeid", "userid", "accountid", "id"] {
            if let Some(stem) = word.strip_suffix(end).filter(|stem| stem.len() > 1) {
                *word = stem.to_owned();
                break;
            }
        }
    }
    words
}

/// Whether a field is a code or an address rather than a word: it has two digits, or is somebody's at a host.
fn is_code(field: &[u8]) -> bool {
    field.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2 || field.contains(&b'@')
}

/// Whether a field is an integer that may be an id.
fn is_integer(field: &[u8]) -> bool {
    token::id(field, Sign::Signed).is_ok() || token::id(field, Sign::Unsigned).is_ok()
}

/// Whether a field is an integer id, or a number that was meant as one.
pub(super) fn is_number_like(field: &[u8]) -> bool {
    token::id(field, Sign::Unsigned) != Err(NotAnId::NoNumber)
}

/// Whether a field is an integer that does not print as it is written: `007`.
pub(super) fn is_padded(field: &[u8]) -> bool {
    token::exact_id(field, Sign::Unsigned) == Err(NotAnId::Padded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page's lists are those that the reader goes by.
    #[test]
    fn the_page_lists_what_is_known() {
        let page = include_str!("../../../../docs/tables.md");
        let blocks: Vec<String> = page
            .split("```text\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap_or_default().replace('\n', " "))
            .collect();
        let pairs = KNOWN_COLUMN_PAIRS.iter().map(|(source, target)| format!("{source} {target}"));
        let pairs: Vec<String> = pairs.collect();
        for list in [
            pairs.join(", "),
            UNSPECIFIC_WORDS.join(", "),
            MEASURE_WORDS.join(", "),
            KNOWN_WEIGHT_NAMES.join(", "),
        ] {
            assert!(blocks.iter().any(|block| block.trim() == list), "docs/tables.md lacks {list}");
        }
    }

    #[test]
    fn names_are_compared_by_their_words() {
        for (name, expected) in [
            ("nameOrig", "name orig"),
            ("SENDER_ACCOUNT_ID", "sender account id"),
            ("Payer Id", "payer id"),
            ("FromNodeId", "from node id"),
            (":START_ID", "start id"),
            ("fromnodeid", "from"),
            ("id", "id"),
        ] {
            assert_eq!(words(name.as_bytes()).join(" "), expected, "{name}");
        }
    }
}
