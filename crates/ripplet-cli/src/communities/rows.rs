//! The rows of the output: memberships, and the names of communities.

use crate::failure::{Failure, unwritten};
use crate::output::written;
use clap::ValueEnum;
use ripplet::communities::Memberships;
use ripplet::graph::{GraphView, OutOfMemory, VertexId, VertexIds, memory};
use ripplet::io::write::{
    Communities, Naming, PartRecord, TableParts, Target, write_communities,
    write_communities_or_graph, write_communities_part,
};
use ripplet::lp::quality::Sizes;
use ripplet::lp::{NO_LABEL, Outcome, hubs};
use std::borrow::Cow;
use std::ops::Range;

/// The names of communities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Names {
    /// By the id of one of their vertices
    #[default]
    Vertex,
    /// By the id of their vertex of highest degree
    Hub,
    /// By numbers from 0 in the order of their size, the largest first
    Number,
}

/// Rows of the output.
pub struct Rows<'a> {
    /// The vertex of each; all vertices in order if `None`.
    pub vertices: Option<Vec<VertexId>>,
    /// The vertex that represents the community of each.
    pub communities: Cow<'a, [VertexId]>,
    pub strengths: Option<Vec<f32>>,
    /// Names of the clusters of the seeds, and for each vertex that represents a cluster the number of its
    /// name.
    pub clusters: Option<(&'a VertexIds, Vec<u32>)>,
}

impl Rows<'_> {
    /// Returns a row for each vertex with a label.
    pub fn of_labels(outcome: &Outcome) -> Rows<'_> {
        let labels = &outcome.labels;
        let rows =
            Rows { vertices: None, communities: labels.into(), strengths: None, clusters: None };
        if !labels.contains(&NO_LABEL) {
            return rows;
        }
        let labelled = (0..).zip(labels).filter(|&(_, &label)| label != NO_LABEL);
        let (vertices, communities): (_, Vec<VertexId>) = labelled.unzip();
        Rows { vertices: Some(vertices), communities: communities.into(), ..rows }
    }

    /// The vertex of a row.
    pub fn vertex(&self, row: usize) -> VertexId {
        self.vertices.as_ref().map_or(row as VertexId, |vertices| vertices[row])
    }

    /// Returns the sizes of the communities.
    pub fn sizes(&self, vertices: u32) -> Result<Sizes, OutOfMemory> {
        Ok(Sizes::of(self.sizes_by_label(vertices)?))
    }

    /// The number of rows of each community, by the vertex that represents it.
    fn sizes_by_label(&self, vertices: u32) -> Result<Vec<u32>, OutOfMemory> {
        let mut sizes = memory::zeros::<u32>(vertices as usize)?;
        self.communities.iter().for_each(|&label| sizes[label as usize] += 1);
        Ok(sizes)
    }

    /// Names each community by its member of highest degree; of equal ones by the first.
    pub fn call_by_hub(&mut self, graph: GraphView<'_>) -> Result<(), OutOfMemory> {
        let rows = self.communities.iter().enumerate();
        let hubs = hubs(graph, rows.map(|(row, &label)| (self.vertex(row), label)))?;
        self.communities.to_mut().iter_mut().for_each(|label| *label = hubs[*label as usize]);
        Ok(())
    }

    /// Writes the rows atomically: as a table, or, if the name is that of a graph, as attributes of the
    /// vertices of `graph`, whose lists must then be plain.
    pub fn write(
        &self,
        target: Target<'_>,
        graph: GraphView<'_>,
        names: Names,
    ) -> Result<(), Failure> {
        let (communities, naming) = (self.communities(), self.naming(names));
        written(match graph.as_plain() {
            Some(graph) => write_communities_or_graph(target, graph, &communities, naming),
            None => write_communities(target, graph.ids(), &communities, naming),
        })
    }

    /// Writes the rows of some vertices as a part of a table.
    pub fn write_part(
        &self,
        parts: &mut TableParts,
        own: (usize, Range<VertexId>),
        graph: GraphView<'_>,
        names: Names,
    ) -> Result<PartRecord, Failure> {
        let (communities, naming) = (self.communities(), self.naming(names));
        write_communities_part(parts, own, graph.ids(), &communities, naming).map_err(unwritten)
    }

    fn communities(&self) -> Communities<'_> {
        Communities {
            vertices: self.vertices.as_deref(),
            communities: &self.communities,
            strengths: self.strengths.as_deref(),
        }
    }

    fn naming(&self, names: Names) -> Naming<'_> {
        match &self.clusters {
            _ if names == Names::Number => Naming::BySize,
            Some((names, of)) => Naming::Given { names, of },
            None => Naming::VertexId,
        }
    }
}

impl From<Memberships> for Rows<'_> {
    fn from(Memberships { vertices, labels, strengths, .. }: Memberships) -> Self {
        let (vertices, strengths) = (Some(vertices), Some(strengths));
        Rows { vertices, communities: labels.into(), strengths, clusters: None }
    }
}
