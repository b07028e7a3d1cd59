//! Decides whether the first row is a header, and which columns are read.

use super::sample::{
    Field, Kind, KnownPairs, Sample, Values, is_code, is_digits, is_integer, is_of_signs,
    is_several,
};
use crate::column_names::{
    VERTEX_NAMES, is_circumstance, is_graph_name, is_id_name, is_row_name, is_weight_name,
    measures, words,
};
use crate::summary::{ReadColumn, ReadColumns};
use crate::text::token;
use crate::{Columns, Header, ReadOptions};
use std::collections::{BTreeSet, HashSet};

/// Error of a table that is no edge's by its names, and whose first column has none.
const UNNAMED: &str =
    "the first column has no name, and the others do not say which are the edge's ends";

/// Smallest number of codes below a word without digits that make the word the column's name.
const CODES: usize = 3;

/// Columns that are read, and whether the first row is a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::text) struct Decision {
    pub(in crate::text) header: bool,
    pub(in crate::text) source: usize,
    pub(in crate::text) target: usize,
    /// Index of the column of weights if they are read, else 2, which is not read.
    pub(in crate::text) weight: usize,
    /// Index of a column with the same mark in each row, between the ends.
    pub(in crate::text) mark: Option<usize>,
}

impl Sample<'_> {
    /// Decides on the columns.
    pub(in crate::text) fn decide(&self, options: &ReadOptions) -> Result<Decision, String> {
        // A row of separators has no field.
        if self.first.is_empty() || self.first.iter().any(|field| field.contains(&b'\r')) {
            // The error is reported for its row.
            return Ok(Decision { header: false, source: 0, target: 1, weight: 2, mark: None });
        }
        let asked = asked_for(options);
        if asked.is_none() {
            self.check_no_matrix()?;
            self.check_no_attributes()?;
            self.check_no_brackets()?;
        }
        self.check_no_nodes_of_neo4j()?;
        let known = self.known_pairs();
        let header = match options.header {
            Header::Absent => false,
            Header::Present => true,
            Header::Auto => self.has_header(asked, &known)?,
        };
        if header && !asked.is_some_and(are_numbers) {
            self.check_distinct()?;
            self.check_all_are_named()?;
        }
        // Where the ends are known, what looks like a mark is a vertex.
        let has_mark = asked.is_none() && !header && !self.ends_known;
        let mark = if has_mark { self.around_a_mark() } else { None };
        let [source, target] = match (asked, header) {
            (Some(columns), _) => self.asked(columns, header)?,
            (None, true) => self.named(&known)?,
            (None, false) => {
                self.check_no_lists()?;
                match mark {
                    Some((ends, _)) => self.check_ids(false, ends)?,
                    None if self.ends_known => [0, 1],
                    None if options.header != Header::Absent => self.first_two()?,
                    // Of three columns, the third is the weight.
                    None if self.first.len() <= 3 => self.not_of_words([0, 1])?,
                    None => self.first_two().map_err(|why| format!("{why} --no-header"))?,
                }
            }
        };
        if asked.is_none() {
            self.check_no_lists_of_ids(header, [source, target])?;
        }
        let mark = mark.map(|(_, column)| column);
        let weight = match options.weighted {
            true => self.weight(&options.columns, header, [source, target], mark)?,
            false => 2,
        };
        Ok(Decision { header, source, target, weight, mark })
    }

    /// Whether `--columns` has column numbers alone.
    pub(in crate::text) fn is_asked_by_number(&self, options: &ReadOptions) -> bool {
        asked_for(options).is_some_and(are_numbers)
    }

    /// Whether the first row is a header.
    fn has_header(&self, asked: Option<&Columns>, known: &KnownPairs) -> Result<bool, String> {
        let mut ends = self.around_a_mark().map_or([0, 1], |(ends, _)| ends);
        if let Some(columns) = asked {
            let names = [columns.source.as_str(), &columns.target];
            let mut by_name = names.iter().filter(|name| number(name).is_none()).peekable();
            if by_name.peek().is_some() {
                return match by_name.find(|name| self.position(name).is_none()) {
                    None => Ok(true),
                    Some(missing) => Err(self.no_header_with(missing)),
                };
            }
            for (end, name) in ends.iter_mut().zip(names) {
                *end = self.numbered(name).unwrap_or(*end);
            }
        }
        if self.row_names && asked.is_some() {
            return Ok(true);
        }
        if ends.iter().any(|&end| self.first.get(end).is_none_or(|field| field.is_empty())) {
            return self.has_unnamed_index(asked, known);
        }
        if self.has_numbers_above_words(ends)? {
            return Ok(true);
        }
        let kinds: Vec<Kind> = self.first.iter().map(|field| Kind::of(field)).collect();
        if kinds.contains(&Kind::Number) {
            // Years may be names of columns beside known ones.
            let is_sure = |pair: &[usize; 2]| pair.iter().all(|&end| self.first[end].len() > 1);
            return Ok(!known.sure.is_empty()
                && known.sure.iter().all(is_sure)
                && !self.recurs(ends));
        }
        let recurs = self.recurs(ends);
        // Values that are no ids do not make known names unknown.
        if !known.likely.is_empty() || self.has_known_names() {
            let letters = self.first.iter().all(|name| name.len() == 1);
            return match recurs {
                false => Ok(true),
                // Ids may well be single characters.
                true if letters => Ok(false),
                true => Err(self.ambiguous()),
            };
        }
        if recurs || self.first.iter().any(|field| is_of_signs(field)) {
            return Ok(false);
        }
        self.is_header_of_words(&kinds, ends, asked.is_some())
    }

    /// Whether the first row, in which an end would be empty, names all columns but the first, which is an
    /// index: tables as pandas writes them.
    ///
    /// # Errors
    /// If so, but without a known pair of names.
    fn has_unnamed_index(
        &self,
        asked: Option<&Columns>,
        known: &KnownPairs,
    ) -> Result<bool, String> {
        let Some((index, names)) = self.first.split_first() else { return Ok(false) };
        let is_index = index.is_empty()
            && !names.is_empty()
            && (are_counted(names) || names.iter().all(|name| Kind::of(name) == Kind::Word))
            && self.is_above(0, 1, is_integer);
        if !is_index || asked.is_some() {
            // The missing value is reported for its row.
            return Ok(false);
        }
        match known.sure.is_empty() && known.likely.is_empty() && !are_counted(names) {
            false => Ok(true),
            true => Err(self.unclear(true, UNNAMED)),
        }
    }

    /// Whether the first row counts the columns from 0, as pandas does, above words only.
    ///
    /// # Errors
    /// If the ends are other numbers above words only: an edge, or names.
    fn has_numbers_above_words(&self, ends: [usize; 2]) -> Result<bool, String> {
        let is_above_words = |end: usize| {
            is_integer(&self.first[end])
                && self.is_above(end, 1, |field| Kind::of(field) == Kind::Word)
        };
        match ends.into_iter().all(is_above_words) {
            false => Ok(false),
            true if are_counted(&self.first) => Ok(true),
            true => Err(self.ambiguous()),
        }
    }

    /// Whether a first row of words without known names, none of whose ids recurs, is a header.
    fn is_header_of_words(
        &self,
        kinds: &[Kind],
        ends: [usize; 2],
        is_asked: bool,
    ) -> Result<bool, String> {
        let mut of_words = (0..kinds.len()).filter(|&column| kinds[column] == Kind::Word);
        let is_number = |field: &[u8]| Kind::of(field) == Kind::Number;
        if of_words.any(|column| self.is_above(column, 1, is_number)) {
            return Ok(true);
        }
        let firsts: Vec<&[u8]> =
            ends.iter().filter_map(|&end| self.first.get(end)).map(|field| &**field).collect();
        let is_loop = firsts.len() == 2 && firsts[0] == firsts[1];
        if self.others.is_empty() || is_loop || firsts.iter().all(|field| is_code(field)) {
            return Ok(false);
        }
        let has_digit = |field: &&[u8]| field.iter().any(u8::is_ascii_digit);
        let of_first = words(&self.first[0]);
        let is_of_vertices = of_first.iter().all(|word| VERTEX_NAMES.contains(&word.as_str()));
        if is_of_vertices && !is_asked && !firsts.iter().any(has_digit) {
            // The columns are checked below, whatever the ids are.
            return Ok(true);
        }
        if !firsts.iter().any(has_digit)
            && ends.iter().all(|&end| self.is_above(end, CODES, is_code))
        {
            return Ok(true);
        }
        if self.first.len() > 3 && !is_asked {
            // The columns are checked below, whatever the first row is.
            return Ok(true);
        }
        Err(self.ambiguous())
    }

    /// Returns the columns of `--columns`.
    fn asked(&self, columns: &Columns, header: bool) -> Result<[usize; 2], String> {
        let place = |name: &String| {
            let named = if header { self.position(name) } else { None };
            let width = self.first.len();
            match named.or(self.numbered(name)) {
                Some(place) if place < width => Ok(place),
                Some(place) => Err(format!(
                    "--columns asks for column {}, but the first row has {}",
                    self.place_in_table(place) + 1,
                    width + usize::from(self.left_out.is_some())
                )),
                None if header => Err(self.no_column(name)),
                None => Err(format!(
                    "--columns names the column {name}, but there is no header: use numbers of columns, such as \
                     --columns {}",
                    self.first_numbers()
                )),
            }
        };
        Ok([place(&columns.source)?, place(&columns.target)?])
    }

    /// Returns the columns of a header.
    fn named(&self, known: &KnownPairs) -> Result<[usize; 2], String> {
        let exact = ["source", "target"].map(|name| self.position(name));
        if let [Some(source), Some(target)] = exact {
            return Ok([source, target]);
        }
        match (&*known.sure, &*known.likely) {
            ([pair], _) | ([], [pair]) => return Ok(*pair),
            ([], []) => {}
            ([pair, ..], _) | ([], [pair, ..]) => {
                let why = "more than one pair of columns could be the edge's ends";
                return Err(self.unclear_between(true, why, *pair));
            }
        }
        // pandas writes its index before the columns that it counts.
        let start = usize::from(self.first[0].is_empty() && are_counted(&self.first[1..]));
        let of_first = words(&self.first[0]);
        let is_of_vertices = start == 0
            && !of_first.is_empty()
            && of_first.iter().all(|word| VERTEX_NAMES.contains(&word.as_str()));
        match self.first.len() - start {
            0 | 1 => {
                Err(format!("expected two vertex ids in a row, found only `{}`", self.shown(start)))
            }
            _ if is_of_vertices => Err(self.of_vertices()),
            _ if start == 0 && self.first[0].is_empty() => Err(self.unclear(true, UNNAMED)),
            3 if start == 0 && self.has_later_ends() => {
                let why = "the second and the third column share values, as the ends of edges do, and the first has none of them";
                Err(self.unclear(true, why))
            }
            width @ (2 | 3) if width == 2 || self.is_weight_like(start + 2) => {
                self.check_names([start, start + 1])?;
                self.check_ids(true, [start, start + 1])
            }
            _ => {
                Err(self.unclear(true, "the header does not say which columns are the edge's ends"))
            }
        }
    }

    /// Rejects two names of which one is that of a measurement.
    fn check_names(&self, ends: [usize; 2]) -> Result<(), String> {
        let is_none =
            |name: &Field<'_>| measures(name) || self.first.len() > 2 && is_row_name(name);
        match ends.into_iter().find(|&end| is_none(&self.first[end])) {
            None => Ok(()),
            Some(end) => Err(self.unclear(
                true,
                &format!(
                    "the column `{}` seems to measure or describe something, not to hold an edge's end",
                    self.shown(end)
                ),
            )),
        }
    }

    /// Returns the two columns, if their values can be ids and are of one kind.
    fn check_ids(&self, header: bool, ends: [usize; 2]) -> Result<[usize; 2], String> {
        if let Some(times) = ends.into_iter().find(|&end| self.are_times(header, end))
            && self.first.len() > 2
            && ends.iter().any(|&end| !self.are_times(header, end))
        {
            return Err(self.unclear(
                header,
                &format!(
                    "the values in column {} seem to be times, such as seconds since 1970 or dates",
                    times + 1
                ),
            ));
        }
        if ends == [0, 1] && self.first.len() > 2 && self.has_row_numbers(header) {
            return Err(self.unclear(header, "the first column seems to have the numbers of rows"));
        }
        if ends.iter().all(|&end| self.data(header).get(end).is_some_and(|id| is_digits(id))) {
            // Numbers are read, and an invalid one is reported with its line.
            return Ok(ends);
        }
        let values = ends.map(|end| self.values(header, end));
        let column = |at: usize| ends[at] + 1;
        let why = match values {
            [Values::Measures, _] | [_, Values::Measures] => {
                let at = usize::from(values[0] != Values::Measures);
                format!("the values in column {} are dates, times or amounts, not ids", column(at))
            }
            [Values::Marks, _] | [_, Values::Marks] => {
                let at = usize::from(values[0] != Values::Marks);
                format!("the values in column {} have neither letters nor digits", column(at))
            }
            [Values::Integers | Values::Fractions, Values::Integers | Values::Fractions] => {
                // A number that is no integer is reported with its line, unless other columns are meant.
                if self.pairs_of_ids(header).is_empty() {
                    return Ok(ends);
                }
                "the first two columns have numbers with decimals, not ids".to_owned()
            }
            [a, b] if a == b || a == Values::Nothing || b == Values::Nothing => return Ok(ends),
            _ => format!(
                "columns {} and {} are of two kinds, numbers and words, as a table of what is known about each vertex has them",
                column(0),
                column(1)
            ),
        };
        Err(self.unclear(header, &why))
    }

    /// Rejects rows of an adjacency matrix, with or without names of rows and columns.
    fn check_no_matrix(&self) -> Result<(), String> {
        // Names may be above and before the cells.
        if self.others.len() > self.first.len() {
            return Ok(());
        }
        let rows: Vec<&[_]> = self.rows(false).collect();
        let found = [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().find_map(|(above, before)| {
            let rows = rows.get(above..)?;
            let cells = rows.iter().map(|row| row.get(before..)).collect::<Option<Vec<_>>>()?;
            is_matrix(&cells).then(|| cells[0].len())
        });
        match found {
            None => Ok(()),
            Some(width) => Err(format!(
                "the rows are those of an adjacency matrix with {width} columns, not edges: write one edge a row, or the \
                 matrix as MatrixMarket (in Python: scipy.io.mmwrite(\"graph.mtx\", scipy.sparse.coo_array(matrix))); to \
                 read two columns as edges nevertheless, use --columns 1,2"
            )),
        }
    }

    /// Rejects edges of words with attributes in Python syntax, whose blanks look like separators.
    fn check_no_attributes(&self) -> Result<(), String> {
        // Commas in them may split the row, so that they follow the ends in one field.
        let is_attributes = |field: &Field<'_>| field.windows(2).any(|two| two == b"{'");
        let are_integers = self.first.iter().take(2).all(|field| is_integer(field));
        match self.first.iter().any(is_attributes) && !are_integers {
            false => Ok(()),
            true => Err(format!(
                "behind the ends are attributes as Python writes them; {}: write the file with NetworkX's \
                 write_edgelist(…, data=False), or with weights with write_weighted_edgelist",
                self.first_rows_are()
            )),
        }
    }

    /// Rejects an export of Neo4j with rows of nodes, which have no ends.
    fn check_no_nodes_of_neo4j(&self) -> Result<(), String> {
        let all = ["_id", "_labels", "_start", "_end"].map(|name| self.position(name));
        let [Some(_), Some(_), Some(start), Some(_)] = all else { return Ok(()) };
        let is_node = |row: &Vec<Field<'_>>| row.get(start).is_none_or(|end| end.is_empty());
        match self.others.iter().any(is_node) {
            false => Ok(()),
            true => Err(
                "this export of Neo4j has rows of nodes, in which `_start` and `_end` are empty: keep its rows of \
                 relationships alone, or export them with apoc.export.csv.query(\"MATCH (a)-[r]->(b) RETURN id(a) AS source, \
                 id(b) AS target\", …)"
                    .into(),
            ),
        }
    }

    /// Rejects rows of integers of different lengths, which are adjacency lists: the first two of each would be read as an
    /// edge.
    fn check_no_lists(&self) -> Result<(), String> {
        let lengths: BTreeSet<usize> = self.rows(false).map(<[_]>::len).collect();
        let (Some(&shortest), Some(&longest)) = (lengths.first(), lengths.last()) else {
            return Ok(());
        };
        // A weight may be missing.
        let are_alike = lengths.len() < 2 || longest <= 3 && !self.may_be_lists();
        if are_alike || !self.rows(false).flatten().all(|field| is_integer(field)) {
            return Ok(());
        }
        Err(format!(
            "rows have {shortest} to {longest} integers, as lists of neighbours have, and an edge list has one edge a row; the \
             first rows are {}: write one edge a row, or read the first two of each with --columns {}",
            self.first_rows(),
            self.first_numbers()
        ))
    }

    /// Whether no vertex begins two rows, as in lists of neighbours, and all third fields are vertices; of two rows, nothing is
    /// known.
    fn may_be_lists(&self) -> bool {
        const LEAST: usize = 3;
        let mut heads = HashSet::new();
        let ids: HashSet<&Field<'_>> =
            self.rows(false).flat_map(|row| row.iter().take(2)).collect();
        self.rows(false).count() >= LEAST
            && self.rows(false).all(|row| {
                row.first().is_none_or(|head| heads.insert(head))
                    && row.get(2).is_none_or(|third| ids.contains(third))
            })
    }

    /// Returns the first two columns, of a table without a header.
    fn first_two(&self) -> Result<[usize; 2], String> {
        let integers =
            self.rows(false).all(|row| row.iter().take(2).all(|field| is_integer(field)));
        let words = self.first.iter().any(|field| Kind::of(field) == Kind::Word);
        let is_empty = self.first.iter().take(2).any(|field| field.is_empty());
        match self.first.len() {
            // The missing value is reported for its row.
            _ if is_empty => Ok([0, 1]),
            0 | 1 => Ok([0, 1]),
            2 | 3 => self.check_ids(false, self.not_of_words([0, 1])?),
            // An integer before words is a row number, or an attribute. In files with blanks as separators it
            // is an end, as these have their ends first by convention.
            _ if integers && (!words || self.ends_first) => self.check_ids(false, [0, 1]),
            _ => Err(self.unclear(
                false,
                "the table has more than three columns and no header that says which are the edge's ends",
            )),
        }
    }

    /// Returns the ends, unless they and the third column are words: the second may be a relation (`ann knows
    /// bob`), or a part of an id with a blank (`Ann Lee Bob`).
    fn not_of_words(&self, ends: [usize; 2]) -> Result<[usize; 2], String> {
        let is_of_words = |column: usize| self.values(false, column) == Values::Words;
        if self.first.len() != 3 || !(0..3).all(is_of_words) {
            return Ok(ends);
        }
        Err(format!(
            "three columns of words, and no header that says which are the edge's ends; {}: use --columns 1,2 \
             --no-header or --columns 1,3 --no-header if the other column is about the edge; ids that hold blanks or \
             commas need tabs between them (--delimiter tab), double quotes, or another format, such as GraphML",
            self.first_rows_are()
        ))
    }

    /// Returns the column of weights.
    fn weight(
        &self,
        columns: &Columns,
        header: bool,
        ends: [usize; 2],
        mark: Option<usize>,
    ) -> Result<usize, String> {
        let free = |place: &usize| !ends.contains(place) && mark != Some(*place);
        let default = columns.weight == Columns::default().weight;
        if !default {
            let named = if header { self.position(&columns.weight) } else { None };
            let place =
                named.or(self.numbered(&columns.weight)).filter(|&place| place < self.first.len());
            return place.ok_or_else(|| self.no_column(&columns.weight));
        }
        if !header {
            let place = (0..).find(free).unwrap_or(2);
            let are_chosen = ends != [0, 1] && mark.is_none();
            if are_chosen && (0..self.first.len()).filter(free).count() > 1 {
                return Err(format!(
                    "several columns could be the weight: use --columns with the one that is, such as {}",
                    self.columns_option(header, &[ends[0], ends[1], place])
                ));
            }
            return match self.first.get(place) {
                Some(field) if field.starts_with(b"{") => Err(format!(
                    "the third column has attributes as Python writes them, `{}`, not weights: write the file with \
                     NetworkX's write_weighted_edgelist",
                    token::show(field)
                )),
                _ => Ok(place),
            };
        }
        match *self.weight_candidates(ends) {
            [only] => Ok(only),
            [] if self.first.len() == 3 + usize::from(self.first[0].is_empty()) => {
                let third = (0..4)
                    .filter(|&place| self.first.get(place).is_some_and(|name| !name.is_empty()))
                    .find(free);
                let third = third.unwrap_or(2);
                // Before the ends are numbers of rows, and ids of edges.
                let is_before = ends.iter().all(|&end| third < end);
                let is_none = |name: &Field<'_>| is_circumstance(name) || is_id_name(name);
                match is_before || self.first.get(third).is_some_and(is_none) {
                    false => Ok(third),
                    true => Err(format!(
                        "the column `{}` does not seem to be a weight: leave --weighted out, or use {}",
                        self.shown(third),
                        self.columns_option(header, &[ends[0], ends[1], third])
                    )),
                }
            }
            [] => Err(self.no_column(&columns.weight)),
            [first, second, ..] => Err(format!(
                "both `{}` and `{}` could be the weight: use --columns with the one that is, such as {}",
                self.shown(first),
                self.shown(second),
                self.columns_option(header, &[ends[0], ends[1], first])
            )),
        }
    }

    /// Returns the columns of a header with names of weights; `weight` alone if there is one.
    fn weight_candidates(&self, ends: [usize; 2]) -> Vec<usize> {
        let free = |place: &usize| !ends.contains(place);
        if let Some(exact) = self.position("weight").filter(free) {
            return vec![exact];
        }
        let known = |place: &usize| is_weight_name(&self.first[*place]);
        (0..self.first.len()).filter(free).filter(known).collect()
    }

    /// Rejects a header that has one name less than each row has fields: the first column has integers, which are no names of
    /// rows.
    fn check_all_are_named(&self) -> Result<(), String> {
        let names = self.first.len();
        let has_more = |row: &Vec<Field<'_>>| {
            row.len() == names + 1
                && row.first().is_some_and(|field| is_digits(field))
                && row.last().is_some_and(|field| !field.is_empty())
        };
        match !self.others.is_empty() && self.others.iter().all(has_more) {
            false => Ok(()),
            true => Err(format!(
                "the header has {names} {}, and each row {} fields, so that it is unclear which column a name belongs to; {}: \
                 write a name for each column into the first row",
                if names == 1 { "name" } else { "names" },
                names + 1,
                self.first_rows_are()
            )),
        }
    }

    /// Rejects pairs as Python writes them: `(1, 2)` and `[1, 2]`.
    fn check_no_brackets(&self) -> Result<(), String> {
        let is_open = |field: &[u8], [open, close]: [u8; 2]| {
            field.first() == Some(&open) && !field.contains(&close)
        };
        let is_closed = |field: &[u8], [open, close]: [u8; 2]| {
            let field = field.strip_suffix(b",").unwrap_or(field);
            field.last() == Some(&close) && !field.contains(&open)
        };
        let is_pair = |row: &[Field<'_>]| {
            let row =
                &row[..row.len() - row.iter().rev().take_while(|field| field.is_empty()).count()];
            let [first, between @ .., last] = row else { return false };
            let is_plain = |field: &Field<'_>| !field.iter().any(|byte| b"()[]{}".contains(byte));
            [*b"()", *b"[]", *b"{}"].iter().any(|&marks| {
                is_open(first, marks) && is_closed(last, marks) && between.iter().all(is_plain)
            })
        };
        // The first row may be a header.
        match self.rows(!self.others.is_empty()).all(is_pair) {
            false => Ok(()),
            true => Err(format!(
                "the rows have brackets around them, which would become a part of the ids; {}: write each row without them, \
                 such as with sed 's/[][(){{}}]//g'",
                self.first_rows_are()
            )),
        }
    }

    /// Rejects ends of which one is an integer, and the other has several integers in a field: a list of neighbours.
    fn check_no_lists_of_ids(&self, header: bool, ends: [usize; 2]) -> Result<(), String> {
        let fields = |end: usize| self.rows(header).filter_map(move |row| row.get(end));
        let are_integers = |end: usize| fields(end).all(|field| is_integer(field));
        let list = |end: usize| {
            let are_ids = fields(end).all(|field| is_integer(field) || is_several(field));
            fields(end).find(|field| is_several(field)).filter(|_| are_ids)
        };
        let [source, target] = ends;
        let both = [(source, target), (target, source)];
        let found = both.into_iter().find_map(|(one, other)| {
            are_integers(one).then(|| list(other).map(|field| (other, field))).flatten()
        });
        match found {
            None => Ok(()),
            Some((column, field)) => Err(format!(
                "{} has lists of ids, such as `{}`: write a row for each edge",
                match self.read_column(column, header) {
                    ReadColumn::Name(name) =>
                        format!("the column `{}`", token::show(name.as_bytes())),
                    ReadColumn::Number(number) => format!("column {number}"),
                },
                token::show(field)
            )),
        }
    }

    /// Rejects a header with a duplicate name.
    fn check_distinct(&self) -> Result<(), String> {
        let mut seen = HashSet::new();
        let filled = self.first.iter().filter(|name| !name.trim_ascii().is_empty());
        match filled.into_iter().find(|name| !seen.insert(name.trim_ascii())) {
            None => Ok(()),
            Some(twice) => Err(format!(
                "the header has the column `{}` twice: name the columns by number, such as {}",
                token::show(twice),
                self.columns_option(false, &self.ends_beside(twice))
            )),
        }
    }

    /// Returns the likely ends of an edge in a table with a duplicate name: the one known pair, else both
    /// columns of that name if they may be ids, else columns that share values.
    fn ends_beside(&self, twice: &[u8]) -> [usize; 2] {
        if let [pair] = *self.known_pairs().sure {
            return pair;
        }
        let of_name: Vec<usize> = (0..self.first.len())
            .filter(|&at| self.first[at].trim_ascii() == twice.trim_ascii())
            .collect();
        match *of_name {
            [a, b] if self.pairs_of_ids(true).contains(&[a, b]) => [a, b],
            _ => self.likely_ends(true),
        }
    }

    /// Returns the summary of the columns.
    pub(in crate::text) fn columns(
        &self,
        header: bool,
        [source, target]: [usize; 2],
        weight: Option<usize>,
        mark: Option<usize>,
    ) -> ReadColumns {
        let column = |at: usize| self.read_column(at, header);
        let weights = match weight {
            None if header => self.weight_candidates([source, target]),
            _ => Vec::new(),
        };
        let is_read = |at: &usize| [Some(source), Some(target), weight, mark].contains(&Some(*at));
        let ignored = |at: &usize| !is_read(at);
        // Without a header, rows may have fields that the first lacks.
        let width = match header {
            true => self.first.len(),
            false => self.rows(false).map(filled).max().unwrap_or(0).max(self.first.len()),
        };
        let others = (0..width).filter(ignored);
        ReadColumns {
            source: column(source),
            target: column(target),
            weight: weight.map(column),
            header,
            ignored: others.clone().count(),
            weight_ignored: weights.first().map(|&at| column(at)),
            weights_ignored: weights.len(),
            graph_ignored: others
                .into_iter()
                .find(|&at| header && is_graph_name(&self.first[at]))
                .map(column),
            asides: self.asides(mark),
        }
    }
}

/// Returns the number of fields of a row up to the last one that is not empty.
fn filled(row: &[Field<'_>]) -> usize {
    row.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1)
}

/// Whether names count columns from 0: `0,1,2`, as pandas names columns without names.
fn are_counted(names: &[Field<'_>]) -> bool {
    names.len() > 1
        && (0..).zip(names).all(|(at, name)| name.as_ref() == format!("{at}").as_bytes())
}

/// Whether rows of fields form a square adjacency matrix: numbers that are all 0 and 1, or symmetric with
/// zeros on the diagonal. For a wide one, the first rows suffice.
fn is_matrix(rows: &[&[Field<'_>]]) -> bool {
    /// A narrower one is a matrix only if it has as many rows.
    const WIDE: usize = 16;
    let Some(width) = rows.first().map(|row| row.len()) else { return false };
    let is_square = rows.len() == width || rows.len() < width && width >= WIDE;
    if !is_square || rows.len() < 3 || rows.iter().any(|row| row.len() != width) {
        return false;
    }
    let bit = |field: &Field<'_>| matches!(&**field, b"0" | b"1");
    if rows.iter().all(|row| row.iter().all(bit)) {
        return true;
    }
    let number = |field: &Field<'_>| token::parse::<f64>(field);
    let is_symmetric = |a: usize| {
        number(&rows[a][a]) == Some(0.0)
            && (0..a)
                .all(|b| number(&rows[a][b]).is_some_and(|cell| number(&rows[b][a]) == Some(cell)))
    };
    (0..rows.len()).all(is_symmetric)
}

/// Returns the columns that `--columns` names, if it is given.
fn asked_for(options: &ReadOptions) -> Option<&Columns> {
    options.has_named_ends().then_some(&options.columns)
}

/// Whether both ends are column numbers.
fn are_numbers(columns: &Columns) -> bool {
    number(&columns.source).is_some() && number(&columns.target).is_some()
}

/// Returns the index of a column that is given by number, from 1.
pub(crate) fn number(name: &str) -> Option<usize> {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse::<usize>().ok().filter(|_| is_number)?.checked_sub(1)
}
