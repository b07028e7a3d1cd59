//! Loading of graphs from files of any format.

use crate::{Storage, StoredGraph};
use ripplet_graph::{
    BuildError, BuildOptions, Direction, EdgeTable, Graph, GraphBuilder, GraphView,
};
use ripplet_io::{
    Format, Place, ReadError, ReadOptions, ReadSummary, ranked, read_edges_with_summary, rg, rgz,
};
use ripplet_ranks::Comm;
use std::path::Path;
use thiserror::Error;

/// Options for reading a file and building a graph.
///
/// The default suits community detection: undirected, unweighted, self-loops dropped, repeated
/// edges merged.
///
/// # Examples
/// A directed graph with self-loops, of two columns of a table:
/// ```
/// use ripplet::LoadOptions;
/// use ripplet::graph::{BuildOptions, Direction, SelfLoops};
/// use ripplet::io::{Columns, ReadOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("payments.csv");
/// std::fs::write(&path, "day,payer,payee\n1,ann,bob\n2,bob,ann\n2,bob,bob\n")?;
/// let columns =
///     Columns { source: "payer".into(), target: "payee".into(), ..Columns::default() };
/// let options = LoadOptions {
///     read: ReadOptions { columns, ..ReadOptions::default() },
///     build: BuildOptions {
///         direction: Direction::Directed,
///         self_loops: SelfLoops::Keep,
///         ..BuildOptions::default()
///     },
///     ..LoadOptions::default()
/// };
/// let graph = ripplet::load(&path, &options)?;
/// assert_eq!((graph.vertices(), graph.edges()), (2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The format of the file, beyond what its name determines.
    pub read: ReadOptions,
    /// Rules by which edges become a graph.
    pub build: BuildOptions,
    /// Whether a stored graph must be undirected: then a directed `.rg` or `.rgz` is an error.
    /// Otherwise it is loaded with its directions, whatever the rules say.
    pub undirected_only: bool,
}

/// The contents of a file: edges, or a finished graph.
#[derive(Clone, Debug)]
pub enum Input {
    /// Edges, of any format except `.rg` and `.rgz`, and a summary of reading them.
    Edges(EdgeTable, ReadSummary),
    /// The graph of an `.rg` or `.rgz` file, with lists as they are there.
    Graph(StoredGraph),
}

impl Input {
    /// Returns the summary of reading edges.
    pub fn summary(&self) -> Option<&ReadSummary> {
        match self {
            Input::Edges(_, summary) => Some(summary),
            Input::Graph(_) => None,
        }
    }
}

/// The reason why a file does not become a graph.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read, or is not valid in its format.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The edges do not make a graph.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Loads a graph from a file of any format; `-` is standard input.
///
/// An `.rg` is memory-mapped as it was stored. An `.rgz` is memory-mapped, and its lists are
/// decoded. Any other format is read and built. The graph does not depend on the number of threads.
///
/// Memory: while reading, twice the edge table; then the table and the graph. For an `.rgz`, the
/// graph.
///
/// ```
/// use ripplet::LoadOptions;
/// use ripplet::graph::Direction;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("trade.tsv");
/// # std::fs::write(&path, "source\ttarget\tweight\nFR\tDE\t1.5\nDE\tFR\t2\n")?;
/// let mut options = LoadOptions { build: Direction::Directed.into(), ..LoadOptions::default() };
/// options.read.weighted = true;
/// let graph = ripplet::load(&path, &options)?;
/// assert_eq!((graph.vertices(), graph.edges()), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`LoadOptions::read`] and [`LoadOptions::build`].
pub fn load(path: &Path, options: &LoadOptions) -> Result<Graph, LoadError> {
    Ok(options.build(options.read(path)?)?)
}

impl LoadOptions {
    /// Reads a file: the first half of [`load`].
    ///
    /// # Errors
    /// If the file cannot be read, is not valid in its format, or is an `.rg` or `.rgz` whose
    /// directions or weights are not those that the options request.
    pub fn read(&self, path: &Path) -> Result<Input, ReadError> {
        let stored = match self.format_of(path) {
            Some(Format::Rg) => StoredGraph::Plain(rg::open(path)?),
            Some(Format::Rgz) => StoredGraph::Compressed(rgz::open(path)?),
            _ => {
                let (edges, summary) = read_edges_with_summary(path, &self.read)?;
                return Ok(Input::Edges(edges, summary));
            }
        };
        self.check_stored(stored.view(), path)?;
        Ok(Input::Graph(stored))
    }

    /// Reads part number `part` of `parts` of an `.rg`: see [`rg::open_part`].
    ///
    /// # Errors
    /// If the file cannot be read, is not an `.rg`, is damaged where it is read, or is a graph whose directions or weights
    /// are not those that the options request.
    pub fn read_part(
        &self,
        path: &Path,
        part: usize,
        parts: usize,
        with_ids: bool,
    ) -> Result<rg::Part, ReadError> {
        let part = rg::open_part(path, part, parts, with_ids)?;
        self.check_stored((&part.graph).into(), path)?;
        Ok(part)
    }

    /// Whether [`LoadOptions::read_table_part`] reads a file.
    pub fn has_shares(&self, path: &Path) -> bool {
        ranked::has_shares(path, &self.read)
    }

    /// Reads a table of edges with other ranks, and builds this rank's part of its graph: see [`ranked::read_part`].
    ///
    /// # Errors
    /// The errors of [`ranked::read_part`].
    pub fn read_table_part(
        &self,
        path: &Path,
        comm: &mut Comm,
        with_ids: bool,
    ) -> Result<ranked::TablePart, ranked::TablePartError> {
        ranked::read_part(path, &self.read, &self.build, comm, with_ids)
    }

    /// Builds a graph from the contents of a file: the second half of [`load`], which states the
    /// memory.
    ///
    /// # Errors
    /// If one vertex has more arcs than a graph can hold, memory is refused, or a weight would
    /// change by more than 1 % and [`BuildOptions::weights`] does not allow it.
    pub fn build(&self, input: Input) -> Result<Graph, BuildError> {
        match input {
            Input::Graph(graph) => Ok(graph.into_plain()?),
            Input::Edges(edges, _) => self.builder().build(edges),
        }
    }

    /// Returns a builder with these options.
    pub fn builder(&self) -> GraphBuilder {
        self.build.clone().into()
    }

    /// Builds a graph with the given storage of its lists. `None` keeps the storage of the file,
    /// and uses plain lists for edges.
    ///
    /// Compressed lists of a file are memory-mapped. Memory if lists are compressed or decoded:
    /// the lists of both graphs, and for edges what [`load`] takes before.
    ///
    /// ```
    /// use ripplet::lp::{Executor, Settings, cpu::CpuExecutor, programs::Lpa};
    /// use ripplet::{LoadOptions, Storage, io::rgz};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = |name: &str| folder.path().join(name);
    /// std::fs::write(path("graph.txt"), "1 2\n2 3\n3 1\n3 4\n")?;
    /// let options = LoadOptions::default();
    /// rgz::write(&ripplet::load(&path("graph.txt"), &options)?, &path("graph.rgz"))?;
    ///
    /// let graph = options.store(options.read(&path("graph.rgz"))?, None)?;
    /// assert_eq!(graph.storage(), Storage::Compressed);
    /// let executor = CpuExecutor::new(None)?;
    /// let found = executor.run(&graph, &Lpa::default(), &Settings::default(), &mut ())?;
    /// assert_eq!(found.labels, [0, 0, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`LoadOptions::build`].
    pub fn store(&self, input: Input, storage: Option<Storage>) -> Result<StoredGraph, BuildError> {
        let graph = match input {
            Input::Graph(graph) => graph,
            edges => StoredGraph::Plain(self.build(edges)?),
        };
        Ok(match storage {
            Some(storage) => graph.kept(storage)?,
            None => graph,
        })
    }

    /// Returns the format from the options or, if they have none, from the file's name.
    pub fn format_of(&self, path: &Path) -> Option<Format> {
        self.read.format.or_else(|| Format::of_path(path).map(|(format, _)| format))
    }

    /// Returns an error if a stored graph lacks what the options request.
    fn check_stored(&self, graph: GraphView<'_>, path: &Path) -> Result<(), ReadError> {
        let lacks = |what: &str| {
            let sentence = format!(
                "this graph was stored {what}, which cannot be undone: make it again from its source"
            );
            Err(ReadError::content(path, Place::File, sentence))
        };
        if self.build.direction == Direction::Directed && graph.direction() == Direction::Undirected
        {
            return lacks("undirected");
        }
        if self.undirected_only && graph.direction() == Direction::Directed {
            return lacks("directed");
        }
        if self.read.weighted && !graph.is_weighted() {
            return lacks("without weights");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_graph::compressed::CompressedGraph;
    use ripplet_io::write;

    #[test]
    fn a_stored_graph_is_what_its_source_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let text = path("a.txt");
        std::fs::write(&text, "5 7 2\n7 5 1\n7 7 1\n").unwrap();
        for direction in [Direction::Undirected, Direction::Directed] {
            for weighted in [false, true] {
                let mut options = LoadOptions { build: direction.into(), ..LoadOptions::default() };
                options.read.weighted = weighted;
                let graph = load(&text, &options).unwrap();
                for stored in [path("a.rg"), path("a.rgz")] {
                    write::write_graph(&graph, &stored, None).unwrap();
                    assert_eq!(load(&stored, &options).unwrap(), graph);
                    assert_eq!(load(&stored, &LoadOptions::default()).unwrap(), graph);
                }
            }
        }
    }

    #[test]
    fn lists_are_kept_as_the_file_has_them_or_as_it_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.txt"), "5 7\n7 5\n9 5\n").unwrap();
        let options = LoadOptions::default();
        let graph = load(&path("a.txt"), &options).unwrap();
        let compressed = CompressedGraph::copied(&graph).unwrap();
        let of_file = |name: &str| match name {
            "a.rgz" => Storage::Compressed,
            _ => Storage::Plain,
        };
        for name in ["a.txt", "a.rg", "a.rgz"] {
            if name != "a.txt" {
                write::write_graph(&graph, &path(name), None).unwrap();
            }
            for asked in [None, Some(Storage::Plain), Some(Storage::Compressed)] {
                let stored = options.store(options.read(&path(name)).unwrap(), asked).unwrap();
                let expected = match asked.unwrap_or(of_file(name)) {
                    Storage::Plain => StoredGraph::Plain(graph.clone()),
                    Storage::Compressed => StoredGraph::Compressed(compressed.clone()),
                };
                assert_eq!(stored, expected, "{name} {asked:?}");
            }
        }
    }

    #[test]
    fn a_stored_graph_lacks_what_was_not_stored() {
        for name in ["a.rg", "a.rgz"] {
            lacks_what_was_not_stored(name);
        }
    }

    fn lacks_what_was_not_stored(name: &str) {
        let folder = tempfile::tempdir().unwrap();
        let (text, stored) = (folder.path().join("a.txt"), folder.path().join(name));
        std::fs::write(&text, "5 7 2\n").unwrap();
        let graph = load(&text, &LoadOptions::default()).unwrap();
        write::write_graph(&graph, &stored, None).unwrap();
        let directed = LoadOptions { build: Direction::Directed.into(), ..LoadOptions::default() };
        let error = load(&stored, &directed).unwrap_err().to_string();
        assert!(error.contains("stored undirected"), "{error}");
        let undirected = LoadOptions { undirected_only: true, ..LoadOptions::default() };
        assert!(load(&stored, &undirected).is_ok());
        let mut weighted = LoadOptions::default();
        weighted.read.weighted = true;
        let error = load(&stored, &weighted).unwrap_err().to_string();
        assert!(error.contains("stored without weights"), "{error}");

        write::write_graph(&load(&text, &directed).unwrap(), &stored, None).unwrap();
        let error = load(&stored, &undirected).unwrap_err().to_string();
        assert!(error.contains("stored directed"), "{error}");
    }
}
