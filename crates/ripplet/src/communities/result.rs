//! The communities that a run found, and their members.

use super::report::{Resumed, RunReport};
use crate::device::Fallback;
use ripplet_graph::{ExternalId, GraphView, OutOfMemory, VertexId, memory};
use ripplet_lp::programs::Membership;
use ripplet_lp::quality::{QualityError, Summary};
use ripplet_lp::{Counter, Label, NO_LABEL, Outcome};
use std::ops::Range;
use thiserror::Error;

/// The communities of a graph: each with its members, in ascending order of its id.
///
/// A community is named by the id of one of its vertices. With `slpa` a vertex may have several
/// communities, with `seeded` none.
///
/// Memory: 4 bytes per vertex for the labels, 4 per membership for the members (8 with strengths),
/// and 12 per community; with `slpa` 4 more per membership.
///
/// ```
/// # let ids = ripplet::graph::VertexIds::Names(ripplet::graph::Names::new(["ann", "bob", "cid", "dan"]));
/// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 2], vec![1, 3])?;
/// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
/// let found = ripplet::communities(&graph).device(ripplet::Device::cpu()).run()?;
/// for community in &found {
///     let members: Vec<String> = community.members().map(|id| id.to_string()).collect();
///     println!("{}: {}", community.id(), members.join(", "));
/// }
/// let of_bob: Vec<_> = found.of("bob")?.collect();
/// assert_eq!(of_bob[0].id(), "ann".into());
/// assert!(found.of("eve").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Communities<'g> {
    graph: GraphView<'g>,
    outcome: Outcome,
    report: RunReport,
    groups: Groups,
    /// The communities of each vertex, if it may have several.
    of_vertex: Option<OfVertex>,
}

/// Memberships by community.
struct Groups {
    /// The labels of the communities, ascending.
    labels: Vec<Label>,
    /// The begin of each community's members, and the end of the last one's.
    starts: Vec<usize>,
    /// The members, ascending within a community.
    members: Vec<VertexId>,
    /// The strength of each membership.
    strengths: Option<Vec<f32>>,
}

/// Memberships by vertex.
struct OfVertex {
    starts: Vec<usize>,
    labels: Vec<Label>,
}

/// A community and its members.
#[derive(Clone, Copy)]
pub struct Community<'a> {
    graph: GraphView<'a>,
    label: Label,
    members: &'a [VertexId],
    strengths: Option<&'a [f32]>,
}

/// Iterator over communities, in ascending order of their ids.
#[derive(Clone)]
pub struct Iter<'a> {
    of: &'a Communities<'a>,
    rest: Range<usize>,
}

/// Iterator over the ids of a community's members, ascending.
#[derive(Clone)]
pub struct Members<'a> {
    graph: GraphView<'a>,
    vertices: std::slice::Iter<'a, VertexId>,
}

/// Error of an id that no vertex has.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the graph has no vertex {0}")]
pub struct UnknownVertex(pub String);

impl Groups {
    /// Groups memberships, which come by vertex.
    fn new<R>(rows: R, vertices: u32, has_strengths: bool) -> Result<Groups, OutOfMemory>
    where
        R: Iterator<Item = (VertexId, Label, f32)> + Clone,
    {
        let mut next: Vec<usize> = memory::zeros(vertices as usize)?;
        rows.clone().for_each(|(_, label, _)| next[label as usize] += 1);
        let count = next.iter().filter(|&&size| size > 0).count();
        let (mut labels, mut starts) = (memory::with_room(count)?, memory::with_room(count + 1)?);
        let mut end = 0;
        for (label, size) in (0..).zip(&mut next) {
            if *size > 0 {
                labels.push(label);
                starts.push(end);
                end += std::mem::replace(size, end);
            }
        }
        starts.push(end);
        let mut members: Vec<VertexId> = memory::zeros(end)?;
        let mut strengths: Vec<f32> = memory::zeros(if has_strengths { end } else { 0 })?;
        for (vertex, label, strength) in rows {
            let at = next[label as usize];
            members[at] = vertex;
            if has_strengths {
                strengths[at] = strength;
            }
            next[label as usize] += 1;
        }
        let strengths = has_strengths.then_some(strengths);
        Ok(Groups { labels, starts, members, strengths })
    }

    fn range(&self, at: usize) -> Range<usize> {
        self.starts[at]..self.starts[at + 1]
    }
}

impl<'g> Communities<'g> {
    /// Returns the communities of an outcome in which each vertex has at most one.
    pub(super) fn of_labels(
        graph: GraphView<'g>,
        outcome: Outcome,
        strengths: Option<&[f32]>,
        report: RunReport,
    ) -> Result<Communities<'g>, OutOfMemory> {
        let rows = (0..).zip(&outcome.labels).filter(|&(_, &label)| label != NO_LABEL);
        let rows = rows.map(|(vertex, &label)| {
            (vertex, label, strengths.map_or(1.0, |strengths| strengths[vertex as usize]))
        });
        let groups = Groups::new(rows, graph.vertices(), strengths.is_some())?;
        Ok(Communities { graph, outcome, report, groups, of_vertex: None })
    }

    /// Returns the communities of memberships, which come by vertex.
    pub(super) fn overlapping(
        graph: GraphView<'g>,
        outcome: Outcome,
        rows: &[Membership],
        report: RunReport,
    ) -> Result<Communities<'g>, OutOfMemory> {
        let vertices = graph.vertices();
        let each = rows.iter().map(|row| (row.vertex, row.label, row.strength));
        let groups = Groups::new(each, vertices, true)?;
        let mut starts: Vec<usize> = memory::zeros(vertices as usize + 1)?;
        rows.iter().for_each(|row| starts[row.vertex as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let labels = memory::collected(rows.iter().map(|row| row.label))?;
        let of_vertex = Some(OfVertex { starts, labels });
        Ok(Communities { graph, outcome, report, groups, of_vertex })
    }

    /// Returns the communities of another partition that the same run found.
    pub(super) fn of_partition(&self, labels: Vec<Label>) -> Result<Communities<'g>, OutOfMemory> {
        let outcome = Outcome {
            labels,
            columns: Vec::new(),
            rounds: Vec::new(),
            lists_moved: Vec::new(),
            ..self.outcome.clone()
        };
        Communities::of_labels(self.graph, outcome, None, self.report.clone())
    }

    /// Returns the number of communities.
    pub fn len(&self) -> usize {
        self.groups.labels.len()
    }

    /// Returns whether there are no communities.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the communities, in ascending order of their ids.
    pub fn iter(&self) -> Iter<'_> {
        Iter { of: self, rest: 0..self.len() }
    }

    /// Returns the communities, the largest first; of equal ones the smallest id first.
    pub fn by_size(&self) -> Vec<Community<'_>> {
        let mut all: Vec<Community<'_>> = self.iter().collect();
        all.sort_by_key(|community| std::cmp::Reverse(community.len()));
        all
    }

    /// Returns the communities of a vertex, by its id: one, and with `slpa` the strongest first.
    ///
    /// # Errors
    /// If the graph has no such vertex.
    pub fn of<'i>(
        &self,
        id: impl Into<ExternalId<'i>>,
    ) -> Result<impl Iterator<Item = Community<'_>>, UnknownVertex> {
        let id = id.into();
        let vertex = self.graph.ids().find(id);
        let vertex = vertex.ok_or_else(|| UnknownVertex(id.to_string()))? as usize;
        let labels = match &self.of_vertex {
            None => &self.outcome.labels[vertex..=vertex],
            Some(OfVertex { starts, labels }) => &labels[starts[vertex]..starts[vertex + 1]],
        };
        let known = |label: &Label| self.groups.labels.binary_search(label).ok();
        Ok(labels.iter().filter_map(known).map(|at| self.at(at)))
    }

    fn at(&self, at: usize) -> Community<'_> {
        let range = self.groups.range(at);
        Community {
            graph: self.graph,
            label: self.groups.labels[at],
            members: &self.groups.members[range.clone()],
            strengths: self.groups.strengths.as_ref().map(|all| &all[range]),
        }
    }

    /// Returns the label of each vertex: the vertex that names its community, or
    /// [`NO_LABEL`]. With `slpa`, that is the strongest community.
    pub fn labels(&self) -> &[Label] {
        &self.outcome.labels
    }

    /// Returns the outcome of the run: labels, columns, rounds.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Converts into the outcome of the run.
    pub fn into_outcome(self) -> Outcome {
        self.outcome
    }

    /// Returns how the search was run: device, memory, seconds, and more.
    pub fn report(&self) -> &RunReport {
        &self.report
    }

    /// Returns the number of communities and the modularity of the labels. Cost: a pass over the
    /// graph, of which a rank needs all lists; [`FoundLabels::summary`](super::FoundLabels::summary) is for parts.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn summary(&self) -> Result<Summary, QualityError> {
        Summary::of(self.graph, &self.outcome.labels)
    }

    /// Returns the name of the device that computed them: `cpu`, or the GPU's number and model.
    pub fn device(&self) -> &str {
        &self.report.device
    }

    /// Returns the reason why it was the CPU, if the choice allowed a GPU.
    pub fn fallback(&self) -> Option<&Fallback> {
        self.report.fallback.as_ref()
    }

    /// Returns how votes were counted: exactly, or by the sketch that was chosen or found.
    pub fn counter(&self) -> Counter {
        self.report.counter
    }

    /// Returns the checkpoint from which the run went on, if there was one.
    pub fn resumed(&self) -> Option<&Resumed> {
        self.report.resumed.as_ref()
    }
}

impl<'a> IntoIterator for &'a Communities<'_> {
    type Item = Community<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<'a> Community<'a> {
    /// Returns the id of the vertex that names the community.
    pub fn id(&self) -> ExternalId<'a> {
        self.graph.ids().get(self.label)
    }

    /// Returns the vertex that names the community.
    pub fn label(&self) -> Label {
        self.label
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether there are no members, which is never the case.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the ids of the members, ascending.
    pub fn members(&self) -> Members<'a> {
        Members { graph: self.graph, vertices: self.members.iter() }
    }

    /// Returns the members as vertices, ascending.
    pub fn vertices(&self) -> &'a [VertexId] {
        self.members
    }

    /// Returns the strength of each membership, from 0 to 1, with `slpa` and `seeded`.
    pub fn strengths(&self) -> Option<&'a [f32]> {
        self.strengths
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Community<'a>;

    fn next(&mut self) -> Option<Community<'a>> {
        self.rest.next().map(|at| self.of.at(at))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rest.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> Iterator for Members<'a> {
    type Item = ExternalId<'a>;

    fn next(&mut self) -> Option<ExternalId<'a>> {
        self.vertices.next().map(|&vertex| self.graph.ids().get(vertex))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.vertices.size_hint()
    }
}

impl ExactSizeIterator for Members<'_> {}
