//! A graph of LDBC with its properties.

use super::properties::Properties;
use crate::console::Console;
use crate::failure::Failure;
use crate::memory::{OF_A_GRAPH, within};
use crate::reading::{Loaded, load_with};
use ripplet::graph::{BuildOptions, Direction, SelfLoops};
use ripplet::io::ReadSummary;
use ripplet::{Input, LoadOptions, io};
use std::path::{Path, PathBuf};

/// A graph that a properties file describes.
pub struct Workload {
    /// The file.
    pub properties: Properties,
    vertices: PathBuf,
    edges: PathBuf,
    direction: Direction,
}

impl Workload {
    /// Reads the properties, and no data yet.
    pub fn read(path: &Path) -> Result<Workload, Failure> {
        let properties = Properties::read(path)?;
        Ok(Workload {
            vertices: properties.file("vertex-file")?,
            edges: properties.file("edge-file")?,
            direction: properties.direction()?,
            properties,
        })
    }

    /// The files that the graph is read from.
    pub fn inputs(&self) -> [&Path; 2] {
        [&self.vertices, &self.edges]
    }

    /// The graph, if it is as large as the properties say.
    pub fn load(&self, console: &Console) -> Result<Loaded, Failure> {
        let options = LoadOptions {
            build: BuildOptions { self_loops: SelfLoops::Keep, ..self.direction.into() },
            ..LoadOptions::default()
        };
        let read = || {
            let edges = io::read_ldbc(&self.vertices, &self.edges, &options.read)?;
            let summary = ReadSummary::of_edges(&edges);
            Ok(Input::Edges(edges, summary))
        };
        let what = format!("reading {}", self.edges.display());
        let loaded = within(None, &what, OF_A_GRAPH, || {
            load_with(&self.edges, &options, read, |input| options.build(input), console)
        })?;
        let vertices = u64::from(loaded.graph.vertices());
        self.check_count("meta.vertices", vertices, "vertices", &self.vertices)?;
        self.check_count(
            "meta.edges",
            loaded.summary.as_ref().map_or(0, |summary| summary.edges),
            "edges",
            &self.edges,
        )?;
        Ok(loaded)
    }

    fn check_count(&self, key: &str, found: u64, what: &str, file: &Path) -> Result<(), Failure> {
        match self.properties.count(key)? {
            Some((expected, line)) if expected != found => {
                let (name, file) = (self.properties.name(), file.display());
                let sentence = format!(
                    "`graph.{name}.{key}` is {expected}, but {file} has {found} {what}: one of the \
                     two files is not the other's"
                );
                Err(self.properties.error(line, sentence))
            }
            _ => Ok(()),
        }
    }
}
