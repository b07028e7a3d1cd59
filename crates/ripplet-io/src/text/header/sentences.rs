//! Messages for tables whose first rows do not show which columns are meant.

use super::sample::{Field, Kind, Sample};
use crate::shown::columns_option;
use crate::text::token;

impl Sample<'_> {
    pub(in crate::text) fn no_column(&self, missing: &str) -> String {
        format!(
            "there is no column `{}`; the columns are: {} (--columns says which to read, by name or number)",
            token::show(missing.as_bytes()),
            self.listed()
        )
    }

    /// Returns the fields of the first row, with commas between.
    pub(super) fn listed(&self) -> String {
        /// Largest number of fields in a message.
        const LISTED: usize = 12;
        let mut listed: Vec<String> =
            (0..self.first.len().min(LISTED)).map(|at| self.shown(at)).collect();
        if self.first.len() > LISTED {
            listed.push(format!("and {} more", self.first.len() - LISTED));
        }
        listed.join(", ")
    }

    /// Returns the message for a name of `--columns` that the first row lacks.
    pub(super) fn no_header_with(&self, missing: &str) -> String {
        match self.first.iter().any(|field| Kind::of(field) == Kind::Number) {
            true => format!(
                "--columns names the column {missing}, but no row of the file does: expected a header row, or \
                 numbers of columns, such as --columns {}",
                self.first_numbers()
            ),
            false => self.no_column(missing),
        }
    }

    pub(super) fn ambiguous(&self) -> String {
        format!(
            "the first row may name the columns or be an edge; {}: use --header or --no-header",
            self.first_rows_are()
        )
    }

    /// Returns the message for a table that describes vertices.
    pub(super) fn of_vertices(&self) -> String {
        format!(
            "the header seems that of a table of vertices, not of edges; {}: give the table of edges, or \
             if this is it, name the two columns with an edge's ends as --columns SOURCE,TARGET",
            self.first_rows_are()
        )
    }

    /// Returns notes on the first rows for the user.
    pub(super) fn asides(&self, mark: Option<usize>) -> Vec<String> {
        let mark = mark.map(|at| {
            format!("column {} is the mark `{}`", self.place_in_table(at) + 1, self.shown(at))
        });
        let names = self.row_names.then(|| "the first column has the names of rows".to_owned());
        mark.into_iter().chain(names).collect()
    }

    /// Returns a message with the first rows and the option to use.
    pub(super) fn unclear(&self, header: bool, why: &str) -> String {
        self.unclear_between(header, why, self.likely_ends(header))
    }

    /// Returns a message with the first rows and the option to use, with `ends` as an example.
    pub(super) fn unclear_between(&self, header: bool, why: &str, ends: [usize; 2]) -> String {
        format!(
            "{why}; {}: use --columns with two names or numbers, such as {}",
            self.first_rows_are(),
            self.columns_option(header, &ends)
        )
    }

    /// Returns the option that reads these columns: by name if that is short and clear, else by number.
    pub(super) fn columns_option(&self, header: bool, columns: &[usize]) -> String {
        let names: Option<Vec<String>> = columns
            .iter()
            .map(|&column| {
                let name = std::str::from_utf8(self.first.get(column)?).ok()?;
                let is_only = self
                    .first
                    .iter()
                    .filter(|other| other.eq_ignore_ascii_case(name.as_bytes()))
                    .count()
                    == 1;
                let is_plain = !name.contains([',', '\'']) && !name.contains(char::is_control);
                let is_short = !name.is_empty() && name.len() < 30 && !name.starts_with('-');
                (is_only && is_plain && is_short && Kind::of(name.as_bytes()) == Kind::Word)
                    .then(|| name.to_owned())
            })
            .collect();
        match names.filter(|_| header) {
            Some(names) => columns_option(&names),
            None => {
                let number = |&column| (self.place_in_table(column) + 1).to_string();
                columns_option(&columns.iter().map(number).collect::<Vec<_>>())
            }
        }
    }

    /// Formats the first two rows, or the only one, as a clause.
    pub(super) fn first_rows_are(&self) -> String {
        let verb = if self.rows(false).nth(1).is_none() { "row is" } else { "rows are" };
        format!("the first {verb} {}", self.first_rows())
    }

    /// Returns the first two rows as they stand in the file.
    pub(super) fn first_rows(&self) -> String {
        let fields = |row: &[Field<'_>]| {
            let fields: Vec<&[u8]> = row.iter().map(|field| &**field).collect();
            fields.join(&b","[..])
        };
        let rows: Vec<String> = match &*self.raw {
            [] => self
                .rows(false)
                .take(2)
                .map(|row| format!("`{}`", token::show_row(&fields(row))))
                .collect(),
            raw => {
                raw.iter().map(|row| format!("`{}`", token::show_row(row.trim_ascii()))).collect()
            }
        };
        rows.join(" and ")
    }

    pub(super) fn shown(&self, at: usize) -> String {
        self.first.get(at).map_or_else(String::new, |field| token::show(field))
    }

    /// Returns the two columns that share most values, else the first two that may be ids of one kind, else the first two.
    pub(super) fn likely_ends(&self, header: bool) -> [usize; 2] {
        let last = self.first.len().saturating_sub(1);
        let alike = || self.pairs_of_ids(header).first().copied();
        // Behind a column of an index.
        let is_index = header && last > 1 && self.first[0].is_empty();
        let first = usize::from(is_index);
        self.shared_ends(header).or_else(alike).unwrap_or([first, last.min(first + 1)])
    }
}
