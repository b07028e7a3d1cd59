//! What a reader says of a batch that it read: how many graphs, out of which columns.

use crate::summary::{ReadColumns, ReadGraphColumns, ReadSummary, grouped};
use ripplet_graph::Direction;
use ripplet_graph::batch::GraphBatch;
use std::fmt;

/// What was read of a batch so far.
///
/// Prints as one line: `read 2 graphs, 8 vertices, 6 edges: graph = "graph", source = "from", target = "to"`. Where
/// the files of a folder or an archive were read in several ways, it says how many were read in which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchSummary {
    /// How many graphs.
    pub graphs: u64,
    /// How many vertices they have.
    pub vertices: u64,
    /// How many edges (rows) were read, repeated ones and self-loops included; of a TU data set and a `.swarm` the
    /// edges that the graphs have.
    pub edges: u64,
    /// Which columns a table was read from.
    pub table: Option<ReadGraphColumns>,
    /// Which columns the files were read from that are tables, in the order of the first such file.
    ways: Vec<Way>,
    /// Tables that were read in yet other ways.
    others: u64,
    /// Files that are no tables.
    without_columns: u64,
}

/// How some files were read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Way {
    columns: ReadColumns,
    files: u64,
}

/// Ways that are told apart: a folder may have a header for each of a million files.
const MOST_WAYS: usize = 4;

impl BatchSummary {
    /// Adds a file that is a graph.
    pub(super) fn add_file(&mut self, read: ReadSummary) {
        self.edges += read.edges;
        let Some(columns) = read.columns.map(|columns| *columns) else {
            self.without_columns += 1;
            return;
        };
        match self.ways.iter().position(|way| way.columns == columns) {
            Some(way) => self.ways[way].files += 1,
            None if self.ways.len() < MOST_WAYS => self.ways.push(Way { columns, files: 1 }),
            None => self.others += 1,
        }
    }

    /// Adds the edges of graphs whose rows are not counted.
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

    /// How the files were read, where they were not all read alike.
    fn write_ways(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = ": ";
        for Way { columns, files } in &self.ways {
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

/// A number with its noun.
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
        match (&self.table, &*self.ways) {
            (Some(columns), _) => write!(f, ": {columns}"),
            (None, []) => Ok(()),
            (None, [Way { columns, .. }]) if self.others + self.without_columns == 0 => {
                write!(f, ": {columns}")
            }
            (None, _) => self.write_ways(f),
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
            graph_ignored: false,
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
        summary.add_file(file("a"));
        summary.add_file(file("a"));
        let alike = "source = \"a\", target = column 2; 1 other column ignored";
        assert_eq!(summary.to_string(), format!("read 2 graphs, 1,200 vertices, 6 edges: {alike}"));
        summary.add_file(file("b"));
        summary.add_file(ReadSummary { columns: None, ..file("c") });
        let both = format!(
            "read 2 graphs, 1,200 vertices, 12 edges: 2 files ({alike}), 1 file ({}), 1 file without columns",
            alike.replace("\"a\"", "\"b\"")
        );
        assert_eq!(summary.to_string(), both);
        (0..9).for_each(|name| summary.add_file(file(&name.to_string())));
        assert!(summary.to_string().ends_with("), 7 files otherwise, 1 file without columns"));
    }
}
