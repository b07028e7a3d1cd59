//! Finds the column of graphs in a table of many graphs.
//!
//! The other columns are detected as in a table of one graph: see [`Sample::without`].

use super::decision::number;
use super::sample::Sample;
use crate::column_names::is_graph_name;
use crate::summary::ReadColumn;
use crate::text::token;
use crate::{Columns, Header, ReadOptions};

impl<'a> Sample<'a> {
    /// Returns the column of graphs, and whether that decides on the header: it does if the column was found
    /// by name.
    ///
    /// # Errors
    /// If there is no such column, or several candidates.
    pub(in crate::text) fn graph_column(
        &self,
        options: &ReadOptions,
    ) -> Result<(usize, Header), String> {
        let asked = Some(&*options.columns.graph).filter(|&name| name != Columns::default().graph);
        let by_number = asked.and_then(number);
        let named = match (options.header, asked) {
            (Header::Absent, _) => None,
            // A number is a name only if the first row is known to have names.
            (Header::Auto, _) if by_number.is_some() => None,
            (_, Some(name)) => match self.only(|field| *field == *name.as_bytes())? {
                None => self.only(|field| field.eq_ignore_ascii_case(name.as_bytes()))?,
                exact => exact,
            },
            (_, None) => match self.only(|field| field == b"graph")? {
                None => self.only(is_graph_name)?,
                exact => exact,
            },
        };
        let width = self.first.len();
        match (named, by_number) {
            (Some(column), _) => Ok((column, Header::Present)),
            (None, Some(column)) if column < width => Ok((column, options.header)),
            (None, Some(column)) => Err(format!(
                "--graph-column asks for column {}, but the first row has {width}",
                column + 1
            )),
            (None, None) => Err(self.no_graph_column(options)),
        }
    }

    /// Returns the only column whose name is accepted, if there is one.
    fn only(&self, is_meant: impl Fn(&[u8]) -> bool) -> Result<Option<usize>, String> {
        let mut meant = (0..self.first.len()).filter(|&column| is_meant(&self.first[column]));
        match (meant.next(), meant.next()) {
            (Some(first), Some(second)) => Err(format!(
                "both `{}` and `{}` could be the column of graphs: use --graph-column with the number of one, such as \
                 --graph-column {}",
                self.shown(first),
                self.shown(second),
                first + 1
            )),
            (only, _) => Ok(only),
        }
    }

    fn no_graph_column(&self, options: &ReadOptions) -> String {
        let name = token::show(options.columns.graph.as_bytes());
        match options.header {
            Header::Absent => format!(
                "the column of graphs is called `{name}`, but there is no header: use its number, such as \
                 --graph-column 1"
            ),
            Header::Auto | Header::Present => format!(
                "there is no column `{name}` with the graph of each edge; the columns are: {}: use --graph-column with \
                 a name or number",
                self.listed()
            ),
        }
    }

    /// Rejects options that use the column of graphs as an end or a weight.
    pub(in crate::text) fn check_apart(
        &self,
        graph: usize,
        options: &ReadOptions,
    ) -> Result<(), String> {
        let Columns { source, target, weight, .. } = &options.columns;
        let is_graph = |name: &&String| {
            let named = self.position(name).filter(|_| options.header != Header::Absent);
            named.or(number(name)) == Some(graph)
        };
        let default = Columns::default();
        match [source, target].into_iter().chain(options.weighted.then_some(weight)).find(is_graph)
        {
            None => Ok(()),
            // Nothing else says that this column is an end.
            Some(name) if [&default.source, &default.target, &default.weight].contains(&name) => {
                Err(format!(
                    "--graph-column asks for column {}, `{}`, which is that of an edge's end or weight: expected the column \
                     with the graph of each edge, or --columns with those of an edge's ends; the columns are: {}",
                    graph + 1,
                    token::show(name.as_bytes()),
                    self.listed()
                ))
            }
            Some(name) => Err(format!(
                "--columns names `{}`, which is the column of graphs: expected the columns with an edge's ends{}",
                token::show(name.as_bytes()),
                if options.weighted { " and its weight" } else { "" }
            )),
        }
    }

    /// Returns the sample without a column: column numbers stay those of the whole table.
    pub(in crate::text) fn without(mut self, column: usize) -> Sample<'a> {
        for row in std::iter::once(&mut self.first).chain(&mut self.others) {
            if column < row.len() {
                row.remove(column);
            }
        }
        Sample { left_out: Some(column), ..self }
    }

    /// Returns the index in the whole table of a column of this sample.
    pub(in crate::text) fn place_in_table(&self, column: usize) -> usize {
        column + usize::from(self.left_out.is_some_and(|left_out| column >= left_out))
    }

    /// Returns the numbers of the first two columns in the whole table, for an example.
    pub(super) fn first_numbers(&self) -> String {
        let [first, second] = [0, 1].map(|column| self.place_in_table(column) + 1);
        format!("{first},{second}")
    }

    /// Returns the column of this sample with a number in the whole table, from 1.
    pub(super) fn numbered(&self, name: &str) -> Option<usize> {
        let place = number(name)?;
        match self.left_out {
            Some(left_out) if place == left_out => None,
            Some(left_out) if place > left_out => Some(place - 1),
            _ => Some(place),
        }
    }

    /// Returns a column for a summary: by number if its name is empty or a duplicate.
    pub(in crate::text) fn read_column(&self, column: usize, header: bool) -> ReadColumn {
        let is_only = |name: &String| {
            let same = self.first.iter().filter(|other| ***other == *name.as_bytes());
            !name.is_empty() && same.count() == 1
        };
        match self.name(column).filter(|name| header && is_only(name)) {
            Some(name) => ReadColumn::Name(name),
            None => ReadColumn::Number(self.place_in_table(column) + 1),
        }
    }
}
