//! What goes into the output: who is in which community.

use crate::failure::Failure;
use crate::output::written;
use ripplet::graph::{VertexId, VertexIds};
use ripplet::io::write::{Communities, Naming, write_communities};
use ripplet::lp::{NO_LABEL, Outcome};
use std::borrow::Cow;
use std::path::Path;

/// Rows of the output.
pub struct Rows<'a> {
    /// The vertex of each; all in order where absent.
    pub vertices: Option<Vec<VertexId>>,
    /// A vertex that stands for the community of each.
    pub communities: Cow<'a, [VertexId]>,
    pub strengths: Option<Vec<f32>>,
    /// What clusters are called that have names of their own, and for each vertex that stands for
    /// one the number of its name.
    pub clusters: Option<(VertexIds, Vec<u32>)>,
}

impl Rows<'_> {
    /// A row for each vertex that has a label.
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

    /// Writes them, whole or not at all.
    pub fn write(&self, path: &Path, ids: &VertexIds, consecutive: bool) -> Result<(), Failure> {
        let communities = Communities {
            vertices: self.vertices.as_deref(),
            communities: &self.communities,
            strengths: self.strengths.as_deref(),
        };
        let naming = match &self.clusters {
            _ if consecutive => Naming::Consecutive,
            Some((names, of)) => Naming::Given { names, of },
            None => Naming::VertexId,
        };
        written(write_communities(path, ids, &communities, naming))
    }
}
