//! What is said of first rows that do not tell which columns are meant.

use super::sample::{Field, Kind, Sample};
use crate::text::token;

impl Sample<'_> {
    pub(in crate::text) fn no_column(&self, missing: &str) -> String {
        format!(
            "there is no column `{}`; the columns are: {} (--columns says which to read, by name or number)",
            token::show(missing.as_bytes()),
            self.listed()
        )
    }

    /// The fields of the first row, with commas between.
    pub(super) fn listed(&self) -> String {
        /// As many as a message can hold.
        const LISTED: usize = 12;
        let mut listed: Vec<String> =
            (0..self.first.len().min(LISTED)).map(|at| self.shown(at)).collect();
        if self.first.len() > LISTED {
            listed.push(format!("and {} more", self.first.len() - LISTED));
        }
        listed.join(", ")
    }

    /// What is wrong with a name of `--columns` that the first row does not have.
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
            "the first row may name the columns or be an edge; the first rows are {}: use --header or --no-header",
            self.first_rows()
        )
    }

    /// A refusal with the first rows and the option to use.
    pub(super) fn unclear(&self, header: bool, why: &str) -> String {
        self.unclear_between(header, why, self.likely_ends(header))
    }

    /// A refusal with the first rows and the option to use, of which `ends` are an example.
    pub(super) fn unclear_between(&self, header: bool, why: &str, ends: [usize; 2]) -> String {
        let [source, target] = ends.map(|column| match self.first.get(column) {
            Some(name)
                if header
                    && Kind::of(name) == Kind::Word
                    && !name.contains(&b',')
                    && name.len() < 30 =>
            {
                token::show(name)
            }
            _ => (self.place_in_table(column) + 1).to_string(),
        });
        format!(
            "{why}; the first rows are {}: use --columns with two names or numbers, such as --columns {source},{target}",
            self.first_rows()
        )
    }

    pub(super) fn first_rows(&self) -> String {
        let shown = |row: &[Field<'_>]| {
            let fields: Vec<String> = row.iter().take(10).map(|field| token::show(field)).collect();
            let more = if row.len() > 10 { ",…" } else { "" };
            format!("`{}{more}`", fields.join(","))
        };
        let rows: Vec<String> = self.rows(false).take(2).map(shown).collect();
        rows.join(" and ")
    }

    pub(super) fn shown(&self, at: usize) -> String {
        self.first.get(at).map_or_else(String::new, |field| token::show(field))
    }

    /// The two columns that share most values, or the first two if none share any.
    fn likely_ends(&self, header: bool) -> [usize; 2] {
        let last = self.first.len().saturating_sub(1);
        self.shared_ends(header).unwrap_or([0, 1.min(last)])
    }
}
