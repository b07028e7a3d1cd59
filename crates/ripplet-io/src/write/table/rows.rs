//! Subjects of a table's rows, in blocks of contiguous values.

use super::keys::{Ids, no_memory};
use crate::output::refused;
use ripplet_graph::batch::BatchSlice;
use ripplet_graph::{ExternalId, VertexId, VertexIds, memory};
use std::borrow::Cow;
use std::io;
use std::ops::Range;

/// Subject of a table's rows, which determines its key columns; a batch has `graph` before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// One vertex: `id`.
    Vertices,
    /// One community: `community`.
    Groups,
    /// One vertex and its community: `id`, `community`.
    Communities,
    /// One vertex and its component: `id`, `component`.
    Components,
    /// One graph: no column but `graph`.
    Graphs,
    /// Two different vertices of a graph, ordered: `source`, `target`.
    Pairs,
    /// One edge: `source`, `target`.
    Edges,
    /// One of other things with numbers, by this name.
    Numbered(&'static str),
}

/// Graphs whose vertices rows refer to: one graph, or consecutive graphs of a batch.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// The vertices of one graph.
    Graph(&'a VertexIds),
    /// Graphs of a batch.
    Batch(BatchSlice<'a>),
}

/// Consecutive rows of a table, graph by graph.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    /// All vertices.
    Vertices(Subject<'a>),
    /// Some vertices of one graph, in this order.
    Chosen {
        /// The ids of the graph's vertices.
        ids: &'a VertexIds,
        /// The vertices.
        vertices: &'a [VertexId],
    },
    /// All communities; their names take the place of vertex ids.
    Groups(Subject<'a>),
    /// All vertices, each with a vertex of its graph whose id names its community.
    Communities {
        /// The graphs.
        of: Subject<'a>,
        /// The naming vertices, graph by graph.
        communities: &'a [VertexId],
    },
    /// A row for each vertex with its component.
    Components {
        /// The graphs.
        of: Subject<'a>,
        /// The components' vertices, graph by graph.
        components: &'a [VertexId],
    },
    /// All things of this name; their numbers take the place of vertex ids.
    Numbered(&'static str, Subject<'a>),
    /// All graphs.
    Graphs(Subject<'a>),
    /// For each graph, from each of these vertices (as far as it has them) to all others.
    ///
    /// Values are full rows: one for each vertex of the graph, including the source, whose own value is
    /// skipped.
    Pairs {
        /// The graphs.
        of: Subject<'a>,
        /// The sources.
        sources: Range<VertexId>,
    },
    /// Edges by their ends, as vertices of their graph.
    Edges {
        /// The graphs.
        of: Subject<'a>,
        /// Offset of each graph's edges, and the end of the last.
        starts: &'a [u64],
        /// Source of each edge.
        sources: &'a [VertexId],
        /// Target of each edge.
        targets: &'a [VertexId],
    },
}

impl<'a> Subject<'a> {
    pub(super) fn graphs(self) -> usize {
        match self {
            Subject::Graph(_) => 1,
            Subject::Batch(graphs) => graphs.len(),
        }
    }

    fn vertices_of(self, graph: usize) -> u64 {
        match self {
            Subject::Graph(ids) => ids.len() as u64,
            Subject::Batch(graphs) => {
                graphs.vertex_starts()[graph + 1] - graphs.vertex_starts()[graph]
            }
        }
    }

    /// Returns the ids of a graph's vertices.
    pub(super) fn ids(self, graph: usize) -> Ids<'a> {
        match self {
            Subject::Graph(ids) => Ids::of_graph(ids),
            Subject::Batch(graphs) => Ids::of_member(graphs, graph),
        }
    }

    /// Returns the id of a graph, if it is of a batch.
    pub(super) fn graph_id(self, graph: usize) -> Option<ExternalId<'a>> {
        match self {
            Subject::Graph(_) => None,
            Subject::Batch(graphs) => Some(graphs.graph(graph).id()),
        }
    }
}

impl<'a> Part<'a> {
    pub(in crate::write) fn rows(&self) -> Rows {
        match self {
            Part::Vertices(_) | Part::Chosen { .. } => Rows::Vertices,
            Part::Groups(_) => Rows::Groups,
            Part::Numbered(name, _) => Rows::Numbered(name),
            Part::Communities { .. } => Rows::Communities,
            Part::Components { .. } => Rows::Components,
            Part::Graphs(_) => Rows::Graphs,
            Part::Pairs { .. } => Rows::Pairs,
            Part::Edges { .. } => Rows::Edges,
        }
    }

    pub(super) fn subject(&self) -> Subject<'a> {
        match self {
            Part::Vertices(of) | Part::Groups(of) | Part::Graphs(of) => *of,
            Part::Chosen { ids, .. } => Subject::Graph(ids),
            Part::Numbered(_, of) => *of,
            Part::Communities { of, .. } | Part::Components { of, .. } => *of,
            Part::Pairs { of, .. } | Part::Edges { of, .. } => *of,
        }
    }
}

/// Part with the offset of each graph's rows.
pub(super) struct Layout<'a> {
    pub part: Part<'a>,
    /// Offsets, one more than graphs; those of a slice count from the start of the batch.
    starts: Cow<'a, [u64]>,
    /// Offset of each graph's values, if there is not one value per row.
    value_starts: Option<Vec<u64>>,
}

/// Rows with contiguous values, of one graph unless the rows are graphs.
pub(super) struct RowBlock {
    /// Index of the graph, or of the first of them.
    pub graph: usize,
    pub about: RowSubject,
    /// Indices of the values, one a row.
    pub values: Range<usize>,
}

/// Subject of the rows of a block.
pub(super) enum RowSubject {
    /// One vertex each.
    Vertices(Range<VertexId>),
    /// One vertex each, with its community or component.
    Communities(Range<VertexId>),
    Graphs,
    /// One target each.
    Pairs {
        source: VertexId,
        targets: Range<VertexId>,
    },
    /// One edge each.
    Edges {
        sources: Range<usize>,
    },
}

impl<'a> Layout<'a> {
    /// Checks that the part is consistent.
    pub fn of(part: Part<'a>) -> io::Result<Layout<'a>> {
        let (starts, value_starts): (Cow<'a, [u64]>, _) = match &part {
            Part::Vertices(of) | Part::Groups(of) | Part::Numbered(_, of) => match of {
                Subject::Batch(graphs) => (graphs.vertex_starts().into(), None),
                Subject::Graph(ids) => (vec![0, ids.len() as u64].into(), None),
            },
            Part::Chosen { ids, vertices } => {
                if vertices.iter().any(|&vertex| vertex as usize >= ids.len()) {
                    return Err(refused("a row is of no vertex of the graph"));
                }
                (vec![0, vertices.len() as u64].into(), None)
            }
            Part::Communities { of, communities }
            | Part::Components { of, components: communities } => {
                let starts = Layout::of(Part::Vertices(*of))?.starts;
                check_communities(&starts, communities)?;
                (starts, None)
            }
            Part::Graphs(of) => (vec![0, of.graphs() as u64].into(), None),
            Part::Pairs { of, sources } => {
                let rows = |targets: fn(u64) -> u64| {
                    sums((0..of.graphs()).map(|graph| {
                        let vertices = of.vertices_of(graph);
                        let Range { start, end } = sources_of(sources, vertices);
                        (end - start) * targets(vertices)
                    }))
                };
                (rows(|vertices| vertices.saturating_sub(1))?.into(), Some(rows(|all| all)?))
            }
            Part::Edges { of, starts, sources, targets } => {
                check_edges(*of, starts, sources, targets)?;
                ((*starts).into(), None)
            }
        };
        Ok(Layout { part, starts, value_starts })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        span(&self.starts)
    }

    /// Returns the number of values a column has.
    pub fn values(&self) -> u64 {
        self.value_starts.as_deref().map_or(self.rows(), span)
    }

    /// Visits some rows, block by block.
    pub fn for_each(
        &self,
        rows: Range<u64>,
        mut visit: impl FnMut(RowBlock) -> io::Result<()>,
    ) -> io::Result<()> {
        let values = rows.start as usize..rows.end as usize;
        if let Part::Graphs(_) = self.part {
            return visit(RowBlock { graph: values.start, about: RowSubject::Graphs, values });
        }
        let base = self.starts[0];
        let (mut row, end) = (base + rows.start, base + rows.end);
        let mut graph = self.starts.partition_point(|&start| start <= row) - 1;
        while row < end {
            let (start, stop) = (self.starts[graph], end.min(self.starts[graph + 1]));
            if row < stop {
                self.for_each_of(
                    graph,
                    row - start..stop - start,
                    (start - base) as usize,
                    &mut visit,
                )?;
                row = stop;
            }
            graph += 1;
        }
        Ok(())
    }

    /// Visits some rows of one graph, counted from its first; `before` rows precede the graph.
    fn for_each_of(
        &self,
        graph: usize,
        rows: Range<u64>,
        before: usize,
        visit: &mut impl FnMut(RowBlock) -> io::Result<()>,
    ) -> io::Result<()> {
        let values = before + rows.start as usize..before + rows.end as usize;
        match (&self.part, &self.value_starts) {
            (Part::Pairs { of, sources }, Some(value_starts)) => {
                let vertices = of.vertices_of(graph);
                let first = sources_of(sources, vertices).start;
                pairs(rows, vertices, first, |source, targets| {
                    let row = value_starts[graph] + (source - first) * vertices;
                    let values = (row + targets.start) as usize..(row + targets.end) as usize;
                    let targets = targets.start as VertexId..targets.end as VertexId;
                    let about = RowSubject::Pairs { source: source as VertexId, targets };
                    visit(RowBlock { graph, about, values })
                })
            }
            (Part::Chosen { vertices, .. }, _) => {
                let mut row = values.start;
                for run in vertices[values].chunk_by(|&a, &b| a.checked_add(1) == Some(b)) {
                    let (begin, end) = (run[0], run[run.len() - 1] + 1);
                    let (about, values) = (RowSubject::Vertices(begin..end), row..row + run.len());
                    row += run.len();
                    visit(RowBlock { graph, about, values })?;
                }
                Ok(())
            }
            (Part::Edges { .. }, _) => {
                let about = RowSubject::Edges { sources: values.clone() };
                visit(RowBlock { graph, about, values })
            }
            (part, _) => {
                let vertices = rows.start as VertexId..rows.end as VertexId;
                let about = match part {
                    Part::Communities { .. } | Part::Components { .. } => {
                        RowSubject::Communities(vertices)
                    }
                    _ => RowSubject::Vertices(vertices),
                };
                visit(RowBlock { graph, about, values })
            }
        }
    }
}

/// Returns the targets of some rows of a graph, source by source, without the source itself.
fn pairs(
    rows: Range<u64>,
    vertices: u64,
    first: u64,
    mut visit: impl FnMut(u64, Range<u64>) -> io::Result<()>,
) -> io::Result<()> {
    let others = vertices - 1;
    let mut row = rows.start;
    while row < rows.end {
        let (source, begin) = (first + row / others, row % others);
        let end = others.min(begin + (rows.end - row));
        // Vertices after the source shift by one.
        let (before, behind) = (begin..end.min(source), begin.max(source) + 1..end + 1);
        for targets in [before, behind] {
            if targets.start < targets.end {
                visit(source, targets)?;
            }
        }
        row += end - begin;
    }
    Ok(())
}

/// Returns the sources of a graph with `vertices` vertices.
fn sources_of(sources: &Range<VertexId>, vertices: u64) -> Range<u64> {
    let [start, end] = [sources.start, sources.end].map(|at| u64::from(at).min(vertices));
    start..end.max(start)
}

/// Returns the exclusive prefix sums, and the total.
fn sums(sizes: impl ExactSizeIterator<Item = u64>) -> io::Result<Vec<u64>> {
    let mut sums = memory::with_room(sizes.len() + 1).map_err(no_memory)?;
    let mut sum = 0u64;
    sums.push(sum);
    for size in sizes {
        sum =
            sum.checked_add(size).ok_or_else(|| refused("these are too many pairs for a table"))?;
        sums.push(sum);
    }
    Ok(sums)
}

fn span(starts: &[u64]) -> u64 {
    starts[starts.len() - 1] - starts[0]
}

fn check_communities(starts: &[u64], communities: &[VertexId]) -> io::Result<()> {
    if span(starts) != communities.len() as u64 {
        return Err(refused("there is not one community for each vertex"));
    }
    let wrong = |graph: &[u64]| {
        let [start, end] = [graph[0], graph[1]].map(|start| (start - starts[0]) as usize);
        communities[start..end].iter().any(|&community| community as usize >= end - start)
    };
    match starts.windows(2).position(wrong) {
        Some(graph) => {
            Err(refused(format!("a community of graph {graph} is called by no vertex of it")))
        }
        None => Ok(()),
    }
}

fn check_edges(
    of: Subject<'_>,
    starts: &[u64],
    sources: &[VertexId],
    targets: &[VertexId],
) -> io::Result<()> {
    let fit = starts.len() == of.graphs() + 1
        && starts[0] == 0
        && starts.is_sorted()
        && starts[of.graphs()] == sources.len() as u64
        && sources.len() == targets.len();
    if !fit {
        return Err(refused("the edges' ends and where each graph's edges begin do not fit"));
    }
    let wrong = |graph: &usize| {
        let edges = starts[*graph] as usize..starts[graph + 1] as usize;
        let vertices = of.vertices_of(*graph);
        let known = |&vertex: &VertexId| u64::from(vertex) < vertices;
        !sources[edges.clone()].iter().chain(&targets[edges]).all(known)
    };
    match (0..of.graphs()).find(wrong) {
        Some(graph) => Err(refused(format!("an edge of graph {graph} ends at no vertex of it"))),
        None => Ok(()),
    }
}
