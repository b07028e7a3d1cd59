//! A run of refinement, then the output as for label propagation, and tables beside it.

use super::program::RefineJob;
use super::work::{Extra, Work};
use crate::console::Console;
use crate::failure::Failure;
use crate::output::written;
use crate::reading::read_list;
use ripplet::communities::{CommunitySearch, FoundLabels, NamedColumn, columns_of_dendrogram};
use ripplet::graph::{VertexId, VertexIds};
use ripplet::io::write::{
    ColumnData, VertexColumn, numbered_by_size, write_numbered_table, write_vertex_table,
};
use ripplet::lp::refine::RefineError;
use std::path::Path;

impl<'a> Work<'a> {
    /// Finds communities by refinement, and writes them.
    pub(super) fn refine(
        &self,
        search: CommunitySearch<'a>,
        job: &RefineJob,
    ) -> Result<(), Failure> {
        if let Some(profile) = &job.profile {
            return self.profile(search, job, profile);
        }
        if self.job.estimate.is_some() {
            return self.estimate(|follow| search.estimate_with(follow));
        }
        let found = self.follow(|follow| search.labels_with(follow))?;
        self.write_tables(job, &found)?;
        self.finish(&found, Extra::default())?;
        self.remove_checkpoints();
        Ok(())
    }

    /// Writes the tables beside the communities.
    pub(super) fn write_tables(
        &self,
        job: &RefineJob,
        found: &FoundLabels<'_>,
    ) -> Result<(), Failure> {
        if let Some(path) = &job.levels {
            self.write_levels(found, path)?;
        }
        if let Some(path) = &job.dendrogram {
            self.write_dendrogram(found, path)?;
        }
        Ok(())
    }

    /// Finds the parts of the communities at the resolution of the run, and writes them.
    fn write_levels(&self, found: &FoundLabels<'_>, path: &Path) -> Result<(), Failure> {
        let labels = found.labels();
        let parts = found.levels(&mut self.console.watch())?.unwrap_or_default();
        let names: Vec<String> = (1..=parts.len()).map(|level| format!("part_{level}")).collect();
        let names = names.iter().map(String::as_str).chain(["community"]);
        let levels: Vec<Vec<u32>> = parts
            .iter()
            .map(Vec::as_slice)
            .chain([labels])
            .map(|labels| numbered_by_size(labels, labels.len()))
            .collect::<Result<_, _>>()?;
        let columns: Vec<VertexColumn<'_>> = names
            .zip(&levels)
            .map(|(name, values)| VertexColumn { name, len: 1, values: ColumnData::U32(values) })
            .collect();
        self.console.stage(format!("writing {}", path.display()));
        written(write_vertex_table(path, self.graph.ids(), &columns))
    }

    /// Finds how the communities join, and writes it.
    fn write_dendrogram(&self, found: &FoundLabels<'_>, path: &Path) -> Result<(), Failure> {
        let labels = found.labels();
        let numbers = numbered_by_size(labels, labels.len())?;
        let merges = found.dendrogram(&numbers, &mut self.console.watch())?.unwrap_or_default();
        let communities = numbers.iter().max().map_or(0, |largest| largest + 1);
        let columns = columns_of_dendrogram(&merges)?;
        self.console.stage(format!("writing {}", path.display()));
        write_rows(path, "cluster", communities, &columns)
    }
}

/// Writes a table whose rows have numbers from `first`.
pub(super) fn write_rows(
    path: &Path,
    number: &'static str,
    first: u32,
    columns: &[NamedColumn],
) -> Result<(), Failure> {
    let columns = columns.iter();
    let columns: Vec<VertexColumn<'_>> = columns
        .map(|(name, column)| VertexColumn { name, len: 1, values: column.data() })
        .collect();
    written(write_numbered_table(path, number, first, &columns))
}

impl RefineJob {
    /// Reads the vertices that keep their community.
    pub(super) fn read_fixed(
        &self,
        ids: &VertexIds,
        console: &Console,
    ) -> Result<Vec<VertexId>, Failure> {
        match &self.fixed {
            Some(path) => read_list(path, "--fixed", "to fix", ids, console),
            None => Ok(Vec::new()),
        }
    }
}

impl From<RefineError> for Failure {
    fn from(error: RefineError) -> Failure {
        let help = match error {
            RefineError::Run(error) => return error.into(),
            RefineError::Checkpoint(_) => "name another folder, or leave --resume out",
            RefineError::DirectedDendrogram => "leave --directed out, or leave --dendrogram out",
            RefineError::Scale { .. } => "multiply the weights, or give another --resolution",
            RefineError::Weights { .. } => "scale the weights down, or leave --weighted out",
            RefineError::Resolution { .. } => "give --resolution such a number",
            RefineError::Range { .. } => "give --resolution such a range",
            RefineError::Length { .. } => "give each vertex a label",
            RefineError::FixedVertex { .. } => "list vertices of the graph",
            RefineError::FixedTwice { .. } => "list each vertex once",
            RefineError::InitialSize { .. } => "give a larger --max-size, or other --labels",
        };
        Failure::refused(error.to_string(), help)
    }
}
