//! TU data sets: many graphs in one folder of text files, the common format of chemistry and biology.
//!
//! ```text
//! DS_A.txt                  2, 1      an edge: two vertices, which count from 1 over all graphs
//! DS_graph_indicator.txt    1         the graph of vertex 1, the next line that of vertex 2, …
//! DS_graph_labels.txt       6         the class of graph 1, …; this file may be missing
//! ```
//!
//! Each file may be compressed (`.gz`, `.zst`); comments and blank lines are skipped and count as
//! no row. Other files of the folder are not read.
//!
//! **Edges.** `DS_A.txt` lists the entries of an adjacency matrix. So an undirected edge is listed twice,
//! once a direction, and is one edge of its graph. So is an edge that is listed once, or three times. With
//! [`Direction::Directed`], each row is an edge from the first vertex to the second.
//!
//! **Graphs and vertices.** The id of a graph is its number from 1, that of a vertex its line in the
//! indicator. The indicator need not ascend: each graph's vertices keep their order. The labels define the
//! number of graphs, some of which may be empty. Without labels, each graph from 1 to the largest must have a
//! vertex, so that a wrong digit does not create a million empty graphs.
//!
//! **Memory.** 4 bytes per vertex, 16 if the indicator does not ascend, and 12 per row of `DS_A.txt` (24 while
//! rows are joined), beside the batch.
//!
//! **Determinism.** Nothing depends on the number of threads, the first error included.
//!
//! Reference: Morris, Kriege, Bause, Kersting, Mutzel, Neumann, *TUDataset: A collection of benchmark
//! datasets for learning with graphs*, ICML 2020 workshop GRL+.

use crate::fault::Fault;
use crate::read::{in_memory, open};
use crate::small::check_plain;
use crate::text::{Indicator, Text, read_labels};
use crate::{Place, ReadError};
use ripplet_graph::batch::{BatchBuilder, BatchTable, GraphBatch};
use ripplet_graph::{Direction, SelfLoops};
use std::io;
use std::path::{Path, PathBuf};

/// Batch of graphs with the labels of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The graphs, with their ids and those of their vertices.
    pub batch: GraphBatch,
    /// Label of each graph, if the data set has labels.
    pub graph_labels: Option<Vec<f64>>,
}

/// Rules by which rows of a TU data set become edges. Duplicate rows are one edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatasetOptions {
    /// Whether edges are directed.
    pub direction: Direction,
    /// Whether self-loops are kept.
    pub self_loops: SelfLoops,
}

/// Texts of a data set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    /// `DS_A.txt`.
    pub edges: &'a [u8],
    /// `DS_graph_indicator.txt`.
    pub graph_indicator: &'a [u8],
    /// `DS_graph_labels.txt`.
    pub graph_labels: Option<&'a [u8]>,
}

/// Suffixes of the files, after the data set's name.
const EDGES: &str = "_A.txt";
const INDICATOR: &str = "_graph_indicator.txt";
const LABELS: &str = "_graph_labels.txt";
/// Extensions of compressed files.
const COMPRESSIONS: [&str; 3] = ["", ".gz", ".zst"];

/// Whether a path names a data set: a folder with one, or its `DS_A.txt`.
///
/// Returns `false` if the path cannot be inspected; [`read`] then returns the reason.
pub fn is_dataset(path: &Path) -> bool {
    if path.is_dir() {
        names_in(path).is_ok_and(|names| !names.is_empty())
    } else {
        in_file(path).is_some()
    }
}

/// Whether a path names a data set with its indicator, so that it is nothing else.
pub(crate) fn has_indicator(path: &Path) -> bool {
    let has = |folder: &Path, name: &str| found(folder, name, INDICATOR).is_some();
    if path.is_dir() {
        names_in(path).is_ok_and(|names| names.iter().any(|name| has(path, name)))
    } else {
        in_file(path).is_some_and(|(folder, name)| has(folder, name))
    }
}

/// Reads a data set. `path` is its folder, or its `DS_A.txt` if a folder has several.
///
/// Runs on rayon's current pool.
///
/// # Errors
/// If a file is missing or empty, a row is no pair of numbers, a vertex is not in the indicator, an edge
/// connects two graphs, a graph of the indicator has no label, a graph is empty although there are no labels,
/// or memory allocation fails. The error is the first one in the labels, then in the indicator, then in the
/// edges.
pub fn read(path: &Path, options: &DatasetOptions) -> Result<Dataset, ReadError> {
    let files = Files::of(path)?;
    let labels = files.labels.as_deref();
    let all = [labels, Some(&*files.indicator), Some(&*files.edges)];
    all.into_iter().flatten().try_for_each(check_plain)?;
    let labels = labels.map(|path| with(path, open(path), read_labels)).transpose()?;
    let indicator = |text: &mut Text<'_>| Indicator::read(text, labels.as_ref().map(Vec::len));
    let indicator = with(&files.indicator, open(&files.indicator), indicator)?;
    let table = with(&files.edges, open(&files.edges), |text| table(indicator, text))?;
    dataset(table, labels, options).map_err(|fault| fault.of(&files.edges))
}

/// Parses the uncompressed texts of a data set, as [`read`] does; errors name them `(bytes)_A.txt` and so on.
///
/// # Errors
/// The errors of [`read`].
pub fn parse(texts: Texts<'_>, options: &DatasetOptions) -> Result<Dataset, ReadError> {
    let named = |part: &str| PathBuf::from(format!("(bytes){part}"));
    let labels = texts.graph_labels;
    let labels =
        labels.map(|bytes| with(&named(LABELS), in_memory(bytes), read_labels)).transpose()?;
    let indicator = |text: &mut Text<'_>| Indicator::read(text, labels.as_ref().map(Vec::len));
    let indicator = with(&named(INDICATOR), in_memory(texts.graph_indicator), indicator)?;
    let edges = named(EDGES);
    let table = with(&edges, in_memory(texts.edges), |text| table(indicator, text))?;
    dataset(table, labels, options).map_err(|fault| fault.of(&edges))
}

/// Reads a text, and adds the file's name to an error.
fn with<'a, T>(
    path: &Path,
    text: Result<Text<'a>, Fault>,
    read: impl FnOnce(&mut Text<'a>) -> Result<T, Fault>,
) -> Result<T, ReadError> {
    text.and_then(|mut text| text.read_by(read)).map_err(|fault| fault.of(path))
}

fn table(indicator: Indicator, text: &mut Text<'_>) -> Result<BatchTable, Fault> {
    let rows = indicator.read_rows(text)?;
    // Rows were checked line by line; this reports the remaining errors.
    BatchTable::new(indicator.into_members(), rows).map_err(Fault::whole)
}

fn dataset(
    table: BatchTable,
    graph_labels: Option<Vec<f64>>,
    options: &DatasetOptions,
) -> Result<Dataset, Fault> {
    let builder = BatchBuilder::new().direction(options.direction).self_loops(options.self_loops);
    let batch = builder.build(table).map_err(Fault::whole)?;
    Ok(Dataset { batch, graph_labels })
}

/// Files of a data set.
struct Files {
    edges: PathBuf,
    indicator: PathBuf,
    labels: Option<PathBuf>,
}

impl Files {
    fn of(path: &Path) -> Result<Files, ReadError> {
        let wrong = |sentence: String| Err(ReadError::content(path, Place::File, sentence));
        if !path.is_dir() {
            let Some((folder, name)) = in_file(path) else {
                return wrong(format!(
                    "expected a TU data set: its folder, or its file whose name ends in {EDGES}"
                ));
            };
            return Files::beside(path.into(), folder, name);
        }
        let names = names_in(path).map_err(|error| ReadError::io(path, Place::File, error))?;
        match &names[..] {
            [] => wrong(format!(
                "the folder has no TU data set: expected a file whose name ends in {EDGES}"
            )),
            [name] => {
                let edges = found(path, name, EDGES);
                Files::beside(
                    edges.unwrap_or_else(|| path.join(format!("{name}{EDGES}"))),
                    path,
                    name,
                )
            }
            [name, other, ..] => wrong(format!(
                "the folder has several TU data sets, such as {name} and {other}: expected one, or \
                 the path of one of them, {name}{EDGES}"
            )),
        }
    }

    /// Returns the files beside that of the edges.
    fn beside(edges: PathBuf, folder: &Path, name: &str) -> Result<Files, ReadError> {
        let Some(indicator) = found(folder, name, INDICATOR) else {
            let sentence = format!(
                "the file {} is missing: a TU data set has it beside its {name}{EDGES}",
                folder.join(format!("{name}{INDICATOR}")).display()
            );
            return Err(ReadError::content(edges, Place::File, sentence));
        };
        let labels = found(folder, name, LABELS);
        Ok(Files { edges, indicator, labels })
    }
}

/// Returns a file of a data set, compressed or not.
fn found(folder: &Path, name: &str, part: &str) -> Option<PathBuf> {
    let candidates =
        COMPRESSIONS.map(|compression| folder.join(format!("{name}{part}{compression}")));
    candidates.into_iter().find(|path| path.exists())
}

/// Returns the names of the data sets of a folder, ascending.
fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.file_name();
        if let Some(name) = file.to_str().and_then(name_of) {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Returns the folder and the name of the data set that a file of edges belongs to.
fn in_file(path: &Path) -> Option<(&Path, &str)> {
    Some((path.parent()?, name_of(path.file_name()?.to_str()?)?))
}

/// Returns the name of the data set that a file of edges of this name belongs to.
fn name_of(file: &str) -> Option<&str> {
    let plain = COMPRESSIONS[1..].iter().find_map(|compression| file.strip_suffix(compression));
    plain.unwrap_or(file).strip_suffix(EDGES)
}
