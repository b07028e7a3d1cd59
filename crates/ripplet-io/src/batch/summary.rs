//! Summary of a batch: the number of graphs, and the columns that were used.

use crate::summary::{ReadColumns, ReadGraphColumns, ReadSummary, grouped};
use ripplet_graph::Direction;
use ripplet_graph::batch::GraphBatch;
use std::fmt;
use std::path::PathBuf;

/// Summary of a batch so far.
///
/// Prints as one line: `read 2 graphs, 8 vertices, 6 edges: graph = "graph", source = "from", target = "to"`.
/// If the files of a folder or an archive were read differently, it counts them by columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchSummary {
    /// Number of graphs.
    pub graphs: u64,
    /// Number of vertices.
    pub vertices: u64,
    /// Number of edges (rows) read, including duplicates and self-loops. For a TU data set and a `.swarm`,
    /// the edges of the graphs.
    pub edges: u64,
    /// Columns of a table that were read.
    pub table: Option<ReadGraphColumns>,
    /// Columns of the files that are tables, in the order of the first such file.
    column_sets: Vec<ColumnSet>,
    /// Number of tables with yet other columns.
    others: u64,
    /// Number of files without columns.
    without_columns: u64,
    /// Notes on files, in the order of the first such file.
    notes: Vec<Note>,
}

/// Note on some files.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Note {
    sentence: String,
    /// The first file.
    first: PathBuf,
    files: u64,
}

/// Largest number of distinct notes; further ones are dropped.
const MOST_NOTES: usize = 8;

/// Set of columns that some files were read by.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ColumnSet {
    columns: ReadColumns,
    files: u64,
}

/// Largest number of distinct sets of columns: each of a million files may have another header.
const MAX_COLUMN_SETS: usize = 4;

impl BatchSummary {
    /// Returns notes for the user, a sentence each, with the first file that it applies to and the number of
    /// files.
    pub fn notes(&self) -> Vec<String> {
        let text_of = |Note { sentence, first, files }: &Note| {
            let first = first.display();
            match files - 1 {
                0 => format!("{first}: {sentence}"),
                1 => format!("{first} and 1 more file: {sentence}"),
                more => format!("{first} and {} more files: {sentence}", grouped(more)),
            }
        };
        self.notes.iter().map(text_of).collect()
    }

    fn add_note(&mut self, sentence: String, file: impl FnOnce() -> PathBuf) {
        self.add_note_on(sentence, 1, file);
    }

    /// Adds a note on some files, the first of which is `file`.
    pub(super) fn add_note_on(
        &mut self,
        sentence: String,
        files: u64,
        file: impl FnOnce() -> PathBuf,
    ) {
        match self.notes.iter().position(|note| note.sentence == sentence) {
            Some(note) => self.notes[note].files += files,
            None if self.notes.len() < MOST_NOTES => {
                self.notes.push(Note { sentence, first: file(), files });
            }
            None => {}
        }
    }

    /// Adds a file that is a graph.
    pub(super) fn add_file(&mut self, read: ReadSummary, file: impl Fn() -> PathBuf) {
        self.edges += read.edges;
        read.notes.into_iter().for_each(|note| self.add_note(note, &file));
        let Some(columns) = read.columns.map(|columns| *columns) else {
            self.without_columns += 1;
            return;
        };
        match self.column_sets.iter().position(|set| set.columns == columns) {
            Some(set) => self.column_sets[set].files += 1,
            None if self.column_sets.len() < MAX_COLUMN_SETS => {
                self.column_sets.push(ColumnSet { columns, files: 1 })
            }
            None => self.others += 1,
        }
    }

    /// Adds the edges of graphs whose rows were not counted.
    pub(super) fn add_edges_of(&mut self, batch: &GraphBatch) {
        self.edges += match batch.direction() {
            Direction::Directed => batch.arcs(),
            Direction::Undirected => batch.all().graphs().map(|graph| graph.edges()).sum(),
        };
    }

    pub(super) fn add_graphs(&mut self, batch: &GraphBatch) {
        self.graphs += batch.len() as u64;
        self.vertices += batch.vertices();
    }

    /// Writes how the files were read, if they differ.
    fn write_column_sets(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = ": ";
        for ColumnSet { columns, files } in &self.column_sets {
            write!(f, "{before}{} ({columns})", Counted(*files, "file", "files"))?;
            before = ", ";
        }
        for (files, how) in [(self.others, "otherwise"), (self.without_columns, "without columns")]
        {
            if files > 0 {
                write!(f, "{before}{} {how}", Counted(files, "file", "files"))?;
                before = ", ";
            }
        }
        Ok(())
    }
}

/// Number with its noun.
struct Counted(u64, &'static str, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted(number, one, many) = *self;
        write!(f, "{} {}", grouped(number), if number == 1 { one } else { many })
    }
}

impl fmt::Display for BatchSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "read {}, {}, {}",
            Counted(self.graphs, "graph", "graphs"),
            Counted(self.vertices, "vertex", "vertices"),
            Counted(self.edges, "edge", "edges")
        )?;
        match (&self.table, &*self.column_sets) {
            (Some(columns), _) => write!(f, ": {columns}"),
            (None, []) => Ok(()),
            (None, [ColumnSet { columns, .. }]) if self.others + self.without_columns == 0 => {
                write!(f, ": {columns}")
            }
            (None, _) => self.write_column_sets(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::ReadColumn;

    fn file(source: &str) -> ReadSummary {
        let columns = ReadColumns {
            source: ReadColumn::Name(source.into()),
            target: ReadColumn::Number(2),
            weight: None,
            header: true,
            ignored: 1,
            weight_ignored: None,
            weights_ignored: 0,
            graph_ignored: None,
            asides: Vec::new(),
        };
        ReadSummary {
            edges: 3,
            columns: Some(Box::new(columns)),
            directed: false,
            notes: Vec::new(),
        }
    }

    #[test]
    fn files_that_are_read_alike_are_one_sentence_and_others_are_counted() {
        let mut summary = BatchSummary { graphs: 2, vertices: 1200, ..BatchSummary::default() };
        assert_eq!(summary.to_string(), "read 2 graphs, 1,200 vertices, 0 edges");
        let add = |summary: &mut BatchSummary, read| summary.add_file(read, PathBuf::new);
        add(&mut summary, file("a"));
        add(&mut summary, file("a"));
        let alike = "source = \"a\", target = column 2; 1 other column ignored";
        assert_eq!(summary.to_string(), format!("read 2 graphs, 1,200 vertices, 6 edges: {alike}"));
        add(&mut summary, file("b"));
        add(&mut summary, ReadSummary { columns: None, ..file("c") });
        let both = format!(
            "read 2 graphs, 1,200 vertices, 12 edges: 2 files ({alike}), 1 file ({}), 1 file without columns",
            alike.replace("\"a\"", "\"b\"")
        );
        assert_eq!(summary.to_string(), both);
        (0..9).for_each(|name| add(&mut summary, file(&name.to_string())));
        assert!(summary.to_string().ends_with("), 7 files otherwise, 1 file without columns"));
    }

    #[test]
    fn what_is_noted_of_many_files_is_said_once() {
        let mut summary = BatchSummary::default();
        for (name, note) in [("a.mtx", "x"), ("b.mtx", "y"), ("c.mtx", "x"), ("d.mtx", "x")] {
            let read = ReadSummary { notes: vec![note.into()], ..file("s") };
            summary.add_file(read, || name.into());
        }
        assert_eq!(summary.notes(), ["a.mtx and 2 more files: x", "b.mtx: y"]);
        for note in 0..100 {
            summary.add_note(note.to_string(), || "e.mtx".into());
        }
        assert_eq!(summary.notes().len(), MOST_NOTES);
    }
}
