//! What an analysis of one graph finds.

use super::AnalyseError;
use crate::device::{Fallback, RunSeconds};
use crate::swarm::{Analysis, Clustering, Column, SwarmError};
use ripplet_graph::{ExternalId, GraphView, VertexId, memory};
use ripplet_io::write::{ColumnData, Part};
use ripplet_lp::Plan;
use ripplet_ranks::Traffic;

/// How an analysis was run, and what that took.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AnalysisReport {
    /// The name of the device that computed: `cpu`, or the GPU's number and model.
    pub device: String,
    /// The reason why it was the CPU, if the choice allowed a GPU.
    pub fallback: Option<Fallback>,
    /// The planned memory.
    pub plan: Plan,
    /// The seconds of the run, without those of who takes its rows.
    pub seconds: RunSeconds,
    /// The figures of clustering coefficients.
    pub clustering: Option<Clustering>,
    /// The messages of this rank in the run; [`Traffic::gather`] has those of all.
    pub traffic: Option<Traffic>,
}

/// The values so far.
#[derive(Default)]
pub(super) struct Collected {
    columns: Vec<Column>,
    ends: Option<[Vec<VertexId>; 2]>,
    vertices: Option<Vec<VertexId>>,
}

impl Collected {
    pub fn add(&mut self, part: &Part<'_>, columns: &[ColumnData<'_>]) -> Result<(), SwarmError> {
        if let Part::Components { components, .. } = part {
            self.columns.push(Column::U32(memory::copied(components)?));
        }
        if let Part::Edges { sources, targets, .. } = part {
            self.ends = Some([memory::copied(sources)?, memory::copied(targets)?]);
        }
        if let Part::Chosen { vertices, .. } = part {
            self.vertices = Some(memory::copied(vertices)?);
        }
        for (at, values) in columns.iter().enumerate() {
            match self.columns.get_mut(at) {
                Some(column) => column.append(*values)?,
                None => self.columns.push(Column::of(*values)?),
            }
        }
        Ok(())
    }
}

/// Values of an analysis of a graph.
#[derive(Clone, Debug)]
pub struct Analysed<'g> {
    graph: GraphView<'g>,
    analysis: Analysis,
    columns: Vec<(&'static str, Column)>,
    ends: Option<[Vec<VertexId>; 2]>,
    vertices: Option<Vec<VertexId>>,
    report: AnalysisReport,
}

impl<'g> Analysed<'g> {
    pub(super) fn new(
        graph: GraphView<'g>,
        analysis: Analysis,
        values: Collected,
        report: AnalysisReport,
    ) -> Analysed<'g> {
        let Collected { columns, ends, vertices } = values;
        let names: Vec<&str> = match analysis {
            Analysis::Components => vec!["component"],
            analysis => analysis.columns().iter().map(|&(name, _)| name).collect(),
        };
        let columns = names.into_iter().zip(columns).collect();
        Analysed { graph, analysis, columns, ends, vertices, report }
    }

    /// Returns the columns, by name: a value per vertex, chosen ones ascending, per edge ([`Analysed::edges`]), or per pair
    /// of vertices, source by source.
    pub fn columns(&self) -> &[(&'static str, Column)] {
        &self.columns
    }

    /// Returns the vertices at both ends of each edge that has a value.
    pub fn edges(&self) -> Option<[&[VertexId]; 2]> {
        self.ends.as_ref().map(|[sources, targets]| [&sources[..], &targets[..]])
    }

    /// Returns each vertex's id and number, if the first column has a number per vertex.
    ///
    /// # Errors
    /// If it has not.
    pub fn by_vertex(&self) -> Result<impl Iterator<Item = (ExternalId<'g>, f64)>, AnalyseError> {
        let first = self.columns.first().filter(|_| self.analysis.has_value_per_vertex());
        let Some((_, column)) = first else { return Err(AnalyseError::NotByVertex) };
        let (ids, chosen) = (self.graph.ids(), self.vertices.as_deref());
        let count = chosen.map_or(self.graph.vertices(), |chosen| chosen.len() as u32);
        Ok((0..count).map(move |at| {
            let vertex = chosen.map_or(at, |chosen| chosen[at as usize]);
            (ids.get(vertex), column.number(at as usize))
        }))
    }

    /// Returns the name of the device that computed them: `cpu`, or the GPU's number and model.
    pub fn device(&self) -> &str {
        &self.report.device
    }

    /// Returns the reason why it was the CPU, if the choice allowed a GPU.
    pub fn fallback(&self) -> Option<&Fallback> {
        self.report.fallback.as_ref()
    }

    /// Returns how they were computed, and what that took.
    pub fn report(&self) -> &AnalysisReport {
        &self.report
    }
}
