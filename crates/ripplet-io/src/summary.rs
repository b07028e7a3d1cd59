//! Summary of a read: the number of edges, and the columns that were used.

use crate::column_names::{are_of_two_kinds, is_circumstance};
use crate::missing::MISSING_NAMES;
use crate::shown::columns_option;
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{EdgeTable, ExternalId, VertexId, VertexIds};
use std::fmt;
use std::ops::Range;

/// Summary of a file of edges.
///
/// Prints as one line: `read 1,204 edges: source = "from", target = "to"; 2 other columns ignored`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadSummary {
    /// Number of edges (rows) read, including duplicates and self-loops.
    pub edges: u64,
    /// Columns that were read, for a table.
    pub columns: Option<Box<ReadColumns>>,
    /// Whether the file declares its edges as directed.
    pub directed: bool,
    /// Notes for the user, a sentence each.
    pub notes: Vec<String>,
}

impl ReadSummary {
    /// Creates the summary of a file without columns.
    pub fn of_edges(edges: &EdgeTable) -> ReadSummary {
        ReadSummary { edges: edges.len() as u64, columns: None, directed: false, notes: Vec::new() }
    }

    /// Creates the summary of a table.
    ///
    /// # Errors
    /// If memory is refused: a byte for each vertex of a table whose ends are of two kinds.
    pub(crate) fn of_table(
        edges: &EdgeTable,
        columns: ReadColumns,
    ) -> Result<ReadSummary, OutOfMemory> {
        let note = |graph: &ReadColumn| {
            format!(
                "the column {graph} is ignored, and all rows are edges of one graph: --batch reads a graph for each of \
                 its values"
            )
        };
        let notes = columns.graph_ignored.iter().map(note).collect();
        let columns = Some(Box::new(columns));
        let mut summary = ReadSummary { columns, notes, ..ReadSummary::of_edges(edges) };
        summary.note_values(edges)?;
        Ok(summary)
    }

    /// Adds the notes on what the ids and weights of a table seem to be, unless they are there.
    ///
    /// # Errors
    /// If memory is refused.
    pub(crate) fn note_values(&mut self, edges: &EdgeTable) -> Result<(), OutOfMemory> {
        let Some(columns) = &self.columns else { return Ok(()) };
        let notes = [
            columns.note_on_kinds(edges)?,
            columns.note_on_times(edges),
            columns.note_on_header(edges),
            columns.note_on_counts(edges),
            note_on_missing(edges.ids()),
        ];
        for note in notes.into_iter().flatten() {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(())
    }

    /// Notes that the edges are those of several files.
    pub(crate) fn note_files(&mut self, files: usize) {
        if let Some(columns) = &mut self.columns {
            columns.asides.push(format!("from {files} files"));
        }
    }
}

/// Returns a note if ids are words for a missing value.
fn note_on_missing(ids: &VertexIds) -> Option<String> {
    let VertexIds::Names(_) = ids else { return None };
    let is_there = |name: &&&str| ids.find(ExternalId::Name(name)).is_some();
    let names: Vec<String> =
        MISSING_NAMES.iter().filter(is_there).map(|name| format!("`{name}`")).collect();
    let (is, it) = if names.len() == 1 {
        ("is a vertex", "it stands")
    } else {
        ("are vertices", "they stand")
    };
    (!names.is_empty()).then(|| {
        format!(
            "{} {is}, with all edges of the rows that have that id: if {it} for a missing value, remove these rows",
            names.join(", ")
        )
    })
}

/// Columns of a table that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadColumns {
    /// One end of an edge.
    pub source: ReadColumn,
    /// The other end.
    pub target: ReadColumn,
    /// The weight, if weights were read.
    pub weight: Option<ReadColumn>,
    /// Whether the table has a header.
    pub header: bool,
    /// Number of other columns.
    pub ignored: usize,
    /// First ignored column whose name is that of a weight, if weights were not read.
    pub weight_ignored: Option<ReadColumn>,
    /// Number of ignored columns whose names are those of weights, if weights were not read.
    pub weights_ignored: usize,
    /// First ignored column whose name is that of a graph.
    pub graph_ignored: Option<ReadColumn>,
    /// Further notes, a clause each.
    pub asides: Vec<String>,
}

/// Columns of a table of many graphs that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadGraphColumns {
    /// The graph of each edge.
    pub graph: ReadColumn,
    /// The other columns.
    pub edges: ReadColumns,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadColumn {
    /// Name in the header.
    Name(String),
    /// Number from 1, without a header.
    Number(usize),
}

/// Seconds from 1970 to the years 1990 and 2100: weights within look like times.
const LIKELY_SECONDS: Range<f64> = 631_152_000.0..4_102_444_800.0;

/// Returns the unit in which all weights, two at least, look like times since 1970.
fn unit_of_times(weights: &[f64]) -> Option<&'static str> {
    let are_times = |per_second: f64| {
        let is_time =
            |weight: &f64| weight.fract() == 0.0 && LIKELY_SECONDS.contains(&(weight / per_second));
        weights.len() > 1 && weights.par_iter().all(is_time)
    };
    let units = [("seconds", 1.0), ("milliseconds", 1000.0)];
    units.into_iter().find(|&(_, per_second)| are_times(per_second)).map(|(unit, _)| unit)
}

/// Largest number of characters of a name in a message.
const LONGEST: usize = 60;

impl fmt::Display for ReadColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadColumn::Number(number) => write!(f, "column {number}"),
            ReadColumn::Name(name) => {
                let cut: String = name.chars().take(LONGEST).collect();
                let more = if cut.len() < name.len() { "…" } else { "" };
                write!(f, "\"{}{more}\"", cut.escape_debug())
            }
        }
    }
}

impl fmt::Display for ReadSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "read {} edge{}", grouped(self.edges), if self.edges == 1 { "" } else { "s" })?;
        match &self.columns {
            Some(columns) => write!(f, ": {columns}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ReadGraphColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph = {}, {}", self.graph, self.edges)
    }
}

impl fmt::Display for ReadColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReadColumns { ignored, .. } = self;
        f.write_str(&self.chosen())?;
        let how = self.weighted_option();
        match (*ignored, &self.weight_ignored) {
            (0, _) => {}
            (1, Some(weight)) => write!(f, "; {weight} ignored ({how} reads it)")?,
            (2, Some(weight)) => {
                write!(f, "; {weight} ({how} reads it) and 1 other column ignored")?;
            }
            (ignored, Some(weight)) => {
                let others = grouped(ignored as u64 - 1);
                write!(f, "; {weight} ({how} reads it) and {others} other columns ignored")?;
            }
            (1, None) => write!(f, "; 1 other column ignored")?,
            (ignored, None) => write!(f, "; {} other columns ignored", grouped(ignored as u64))?,
        }
        if !self.header {
            write!(f, "; no header")?;
        }
        self.asides.iter().try_for_each(|aside| write!(f, "; {aside}"))
    }
}

impl ReadColumns {
    /// Returns the columns of the edges.
    pub(crate) fn ends(&self) -> [Option<&ReadColumn>; 3] {
        [Some(&self.source), Some(&self.target), self.weight.as_ref()]
    }

    /// Returns the columns of the edges, as they print.
    pub(crate) fn chosen(&self) -> String {
        let ReadColumns { source, target, .. } = self;
        let weight = self.weight.as_ref().map(|weight| format!(", weight = {weight}"));
        format!("source = {source}, target = {target}{}", weight.unwrap_or_default())
    }

    /// Returns a note if rows repeat the header's names of the ends, which are then vertices.
    fn note_on_header(&self, edges: &EdgeTable) -> Option<String> {
        let (ReadColumn::Name(source), ReadColumn::Name(target)) = (&self.source, &self.target)
        else {
            return None;
        };
        let VertexIds::Names(_) = edges.ids() else { return None };
        let find = |name: &str| edges.ids().find(ExternalId::Name(name));
        let header = [find(source)?, find(target)?];
        let ends = edges.sources().par_iter().zip(edges.targets());
        let rows = ends.filter(|&(&source, &target)| [source, target] == header).count();
        (rows > 0).then(|| {
            format!(
                "{rows} {} the names of the columns, {} and {}, as an edge: if files were joined, leave their headers out, or \
                 give the files themselves by a pattern, such as 'part-*.csv'",
                if rows == 1 { "row repeats" } else { "rows repeat" },
                self.source,
                self.target
            )
        })
    }

    /// Returns a note if the first row, without a header, has the number of the rows below it behind a number that bounds their
    /// ids: the numbers of vertices and edges, with which files for competitions and older programs begin.
    fn note_on_counts(&self, edges: &EdgeTable) -> Option<String> {
        const LEAST: u64 = 8;
        let id = |v: &VertexId| match edges.ids().get(*v) {
            ExternalId::Unsigned(id) => Some(id),
            _ => None,
        };
        let (vertices, rows) = (id(edges.sources().first()?)?, id(edges.targets().first()?)?);
        let others = || edges.sources()[1..].par_iter().chain(&edges.targets()[1..]);
        let are_counts = !self.header
            && rows >= LEAST
            && rows == edges.len() as u64 - 1
            && others().all(|v| id(v).is_some_and(|id| id <= vertices));
        are_counts.then(|| {
            format!(
                "the first row, {vertices} and {rows}, is read as an edge, but {rows} rows follow it: if it has the numbers of \
                 vertices and edges, remove it, or put # before it"
            )
        })
    }

    /// Returns a note if the names of the ends are those of two kinds, such as users and movies, and an id is in both
    /// columns.
    fn note_on_kinds(&self, edges: &EdgeTable) -> Result<Option<String>, OutOfMemory> {
        let (ReadColumn::Name(source), ReadColumn::Name(target)) = (&self.source, &self.target)
        else {
            return Ok(None);
        };
        if !are_of_two_kinds(source.as_bytes(), target.as_bytes()) {
            return Ok(None);
        }
        let mut is_source = memory::filled(false, edges.ids().len())?;
        edges.sources().iter().for_each(|&vertex| is_source[vertex as usize] = true);
        let is_in_both = |&vertex: &VertexId| is_source[vertex as usize];
        let is_shared = edges.targets().par_iter().any(is_in_both);
        Ok(is_shared.then(|| {
            format!(
                "some ids are in {} and in {}, and each of them is one vertex, a row that has it twice a self-loop: if the \
                 columns are of two kinds, write a prefix before the ids of one, such as m1 for 1",
                self.source, self.target
            )
        }))
    }

    /// Returns a note if the weights seem to be times: in a column without a name, or with that of a time.
    fn note_on_times(&self, edges: &EdgeTable) -> Option<String> {
        let weight = self.weight.as_ref()?;
        if matches!(weight, ReadColumn::Name(name) if !is_circumstance(name.as_bytes())) {
            return None;
        }
        let unit = unit_of_times(edges.weights()?)?;
        Some(format!(
            "the weights, {weight}, look like times, in {unit} since 1970: leave --weighted out, or choose another column \
             with --columns SOURCE,TARGET,WEIGHT"
        ))
    }

    /// Returns the option that reads the ignored weight.
    fn weighted_option(&self) -> String {
        match &self.weight_ignored {
            Some(weight) if self.weights_ignored > 1 => {
                format!("--weighted {}", option_of([&self.source, &self.target, weight]))
            }
            _ => "--weighted".to_owned(),
        }
    }
}

/// Returns the option that names these columns, quoted for a shell.
pub(crate) fn option_of(columns: [&ReadColumn; 3]) -> String {
    let value = |column: &ReadColumn| match column {
        ReadColumn::Number(number) => Some(number.to_string()),
        ReadColumn::Name(name) => {
            let is_plain = |letter: char| letter.is_alphanumeric() || "_-.: ".contains(letter);
            (name.chars().all(is_plain) && name.chars().count() <= LONGEST).then(|| name.clone())
        }
    };
    match columns.into_iter().map(value).collect::<Option<Vec<_>>>() {
        Some(values) => columns_option(&values),
        None => "--columns SOURCE,TARGET,WEIGHT".to_owned(),
    }
}

/// Formats a number with separators between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_says_it() {
        let name = |name: &str| ReadColumn::Name(name.into());
        let columns = ReadColumns {
            source: name("nameOrig"),
            target: name("name\u{1b}Dest"),
            weight: None,
            header: true,
            ignored: 9,
            weight_ignored: None,
            weights_ignored: 0,
            graph_ignored: None,
            asides: Vec::new(),
        };
        let mut summary = ReadSummary {
            edges: 1204,
            columns: Some(Box::new(columns)),
            directed: false,
            notes: Vec::new(),
        };
        assert_eq!(
            summary.to_string(),
            "read 1,204 edges: source = \"nameOrig\", target = \"name\\u{1b}Dest\"; 9 other columns ignored"
        );
        for (ignored, expected) in [
            (1, "; \"amount\" ignored (--weighted reads it)"),
            (2, "; \"amount\" (--weighted reads it) and 1 other column ignored"),
            (1001, "; \"amount\" (--weighted reads it) and 1,000 other columns ignored"),
        ] {
            let columns = summary.columns.as_mut().unwrap();
            (columns.ignored, columns.weight_ignored) = (ignored, Some(name("amount")));
            assert!(summary.to_string().ends_with(expected), "{summary}");
        }
        let columns = summary.columns.as_mut().unwrap();
        (columns.ignored, columns.weights_ignored) = (2, 2);
        columns.target = name("name dest");
        let expected = "; \"amount\" (--weighted --columns 'nameOrig,name dest,amount' reads it) and 1 other column ignored";
        assert!(summary.to_string().ends_with(expected), "{summary}");
        summary.columns = Some(Box::new(ReadColumns {
            source: ReadColumn::Number(1),
            target: ReadColumn::Number(2),
            weight: Some(ReadColumn::Number(3)),
            header: false,
            ignored: 0,
            weight_ignored: None,
            weights_ignored: 0,
            graph_ignored: None,
            asides: Vec::new(),
        }));
        summary.edges = 1;
        assert_eq!(
            summary.to_string(),
            "read 1 edge: source = column 1, target = column 2, weight = column 3; no header"
        );
        summary.columns.as_mut().unwrap().asides.push("1 row left out".into());
        assert!(summary.to_string().ends_with("; no header; 1 row left out"), "{summary}");
        summary.columns = None;
        summary.edges = 1_234_567;
        assert_eq!(summary.to_string(), "read 1,234,567 edges");
    }
}
