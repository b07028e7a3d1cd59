//! From a file to a graph, whatever the format.

use ripplet_graph::{BuildError, Direction, Duplicates, EdgeTable, Graph, GraphBuilder, SelfLoops};
use ripplet_io::{Format, Place, ReadError, ReadOptions, read_edges, rg};
use std::path::Path;
use thiserror::Error;

/// How to read a file, and what graph to make of its edges.
///
/// The default is what communities want: undirected, unweighted, self-loops dropped, repeated
/// edges merged.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// What the file is, beside what its name tells.
    pub read: ReadOptions,
    /// Whether edges have a direction.
    pub direction: Direction,
    /// What becomes of self-loops.
    pub self_loops: SelfLoops,
    /// What becomes of repeated edges.
    pub duplicates: Duplicates,
}

/// What a file holds: edges that are to become a graph, or a finished one.
#[derive(Clone, Debug)]
pub enum Input {
    /// Edges, of any format but `.rg`.
    Edges(EdgeTable),
    /// The graph of an `.rg`.
    Graph(Graph),
}

/// Why a file does not become a graph.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read, or is not what its format asks for.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its edges do not make a graph.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Loads a graph from a file of any format; `-` is standard input.
///
/// An `.rg` is opened as it was stored, memory-mapped; anything else is read and built. The graph
/// does not depend on the number of threads.
///
/// Memory: while reading, twice the edge table; then the table and the graph.
///
/// ```
/// use ripplet::LoadOptions;
/// use ripplet::graph::Direction;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("trade.tsv");
/// # std::fs::write(&path, "source\ttarget\tweight\nFR\tDE\t1.5\nDE\tFR\t2\n")?;
/// let mut options = LoadOptions { direction: Direction::Directed, ..LoadOptions::default() };
/// options.read.weighted = true;
/// let graph = ripplet::load(&path, &options)?;
/// assert_eq!((graph.vertices(), graph.edges()), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`LoadOptions::read`] and [`LoadOptions::build`].
pub fn load(path: &Path, options: &LoadOptions) -> Result<Graph, LoadError> {
    Ok(options.build(options.read(path)?)?)
}

impl LoadOptions {
    /// The first half of [`load`]: what the file holds.
    ///
    /// # Errors
    /// Where the file cannot be read, is not what its format asks for, or is an `.rg` without the
    /// directions or weights that are asked for.
    pub fn read(&self, path: &Path) -> Result<Input, ReadError> {
        match self.format_of(path) {
            Some(Format::Rg) => self.open(path).map(Input::Graph),
            _ => read_edges(path, &self.read).map(Input::Edges),
        }
    }

    /// The second half of [`load`]: a graph of what the file holds.
    ///
    /// # Errors
    /// Where one vertex has more arcs than a graph may hold, or memory is refused.
    pub fn build(&self, input: Input) -> Result<Graph, BuildError> {
        match input {
            Input::Graph(graph) => Ok(graph),
            Input::Edges(edges) => GraphBuilder::new()
                .direction(self.direction)
                .self_loops(self.self_loops)
                .duplicates(self.duplicates)
                .build(edges),
        }
    }

    /// The format that the options or, failing them, the file's name tell.
    pub fn format_of(&self, path: &Path) -> Option<Format> {
        self.read.format.or_else(|| Format::of_path(path).map(|(format, _)| format))
    }

    fn open(&self, path: &Path) -> Result<Graph, ReadError> {
        let graph = rg::open(path)?;
        let lacks = |what: &str| {
            let sentence = format!(
                "this .rg was stored {what}, which cannot be undone: make it again from its source"
            );
            Err(ReadError::content(path, Place::File, sentence))
        };
        if self.direction == Direction::Directed && graph.direction() == Direction::Undirected {
            return lacks("undirected");
        }
        if self.read.weighted && !graph.is_weighted() {
            return lacks("without weights");
        }
        Ok(graph)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_rg_is_what_its_source_was() {
        let folder = tempfile::tempdir().unwrap();
        let (text, stored) = (folder.path().join("a.txt"), folder.path().join("a.rg"));
        std::fs::write(&text, "5 7 2\n7 5 1\n7 7 1\n").unwrap();
        for direction in [Direction::Undirected, Direction::Directed] {
            for weighted in [false, true] {
                let mut options = LoadOptions { direction, ..LoadOptions::default() };
                options.read.weighted = weighted;
                let graph = load(&text, &options).unwrap();
                rg::write(&graph, &stored).unwrap();
                assert_eq!(load(&stored, &options).unwrap(), graph);
                assert_eq!(load(&stored, &LoadOptions::default()).unwrap(), graph);
            }
        }
    }

    #[test]
    fn an_rg_lacks_what_was_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        let (text, stored) = (folder.path().join("a.txt"), folder.path().join("a.rg"));
        std::fs::write(&text, "5 7 2\n").unwrap();
        rg::write(&load(&text, &LoadOptions::default()).unwrap(), &stored).unwrap();
        let directed = LoadOptions { direction: Direction::Directed, ..LoadOptions::default() };
        let error = load(&stored, &directed).unwrap_err().to_string();
        assert!(error.contains("stored undirected"), "{error}");
        let mut weighted = LoadOptions::default();
        weighted.read.weighted = true;
        let error = load(&stored, &weighted).unwrap_err().to_string();
        assert!(error.contains("stored without weights"), "{error}");
    }
}
