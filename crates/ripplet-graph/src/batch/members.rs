//! The members of a batch: its graphs, their vertices' places, and the external ids of both.

use super::InvalidBatch;
use crate::memory::{self, OutOfMemory};
use crate::{Buffer, ExternalId, MAX_VERTICES, Names, VertexId, VertexIds};
use rayon::prelude::*;
use std::ops::Range;

/// The place of a vertex among all vertices of a batch: its index in a column with one value per
/// vertex.
///
/// It is not a [`VertexId`], which counts from 0 in each graph; [`Members::locate`] and
/// [`super::BatchGraph::place_of`] convert between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchVertex(u64);

/// The graphs of a batch: their ids, numbers of vertices, and the vertices' ids.
///
/// Memory: 8 bytes per graph, and the ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Members {
    graph_ids: VertexIds,
    vertex_starts: Buffer<u64>,
    vertex_ids: BatchIds,
}

/// The external ids of a batch's vertices.
///
/// They ascend within each graph, as in a [`crate::Graph`]; two graphs may share ids.
#[derive(Clone, Debug, PartialEq)]
pub enum BatchIds {
    /// `first, first + 1, …` anew in each graph: nothing is stored.
    InGraph {
        /// The id of each graph's vertex 0.
        first: u64,
    },
    /// `first, first + 1, …` over the whole batch: nothing is stored.
    InBatch {
        /// The id of the batch's first vertex.
        first: u64,
    },
    /// Arbitrary non-negative integers, one per vertex of the batch.
    Unsigned(Buffer<u64>),
    /// Integers, some of them negative, one per vertex of the batch.
    Signed(Buffer<i64>),
    /// Strings, one per vertex of the batch, ordered by bytes.
    Names(Names),
}

impl BatchVertex {
    /// Returns the vertex at a place.
    pub fn new(place: u64) -> BatchVertex {
        BatchVertex(place)
    }

    /// Returns the place, counted from 0.
    pub fn place(self) -> u64 {
        self.0
    }

    /// Returns the place as the index of a column.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl BatchIds {
    /// Returns the id of the vertex at a place of the batch, which is `vertex` in its graph.
    pub(super) fn get(&self, place: BatchVertex, vertex: VertexId) -> ExternalId<'_> {
        match self {
            BatchIds::InGraph { first } => ExternalId::Unsigned(first + u64::from(vertex)),
            BatchIds::InBatch { first } => ExternalId::Unsigned(first + place.place()),
            BatchIds::Unsigned(ids) => ExternalId::Unsigned(ids[place.index()]),
            BatchIds::Signed(ids) => ExternalId::Signed(ids[place.index()]),
            BatchIds::Names(names) => ExternalId::Name(names.get(place.index())),
        }
    }

    /// Returns a copy of the ids at some places.
    fn copied(&self, places: Range<usize>) -> Result<BatchIds, OutOfMemory> {
        Ok(match self {
            BatchIds::InGraph { first } => BatchIds::InGraph { first: *first },
            BatchIds::InBatch { first } => BatchIds::InBatch { first: first + places.start as u64 },
            BatchIds::Unsigned(ids) => BatchIds::Unsigned(memory::copied(&ids[places])?.into()),
            BatchIds::Signed(ids) => BatchIds::Signed(memory::copied(&ids[places])?.into()),
            BatchIds::Names(names) => BatchIds::Names(names.copied(places)?),
        })
    }

    /// Returns whether there are ids for `vertices` vertices, of which the largest graph has
    /// `most`.
    fn suffice(&self, vertices: u64, most: u64) -> bool {
        match self {
            BatchIds::InGraph { first } => first.checked_add(most).is_some(),
            BatchIds::InBatch { first } => first.checked_add(vertices).is_some(),
            BatchIds::Unsigned(ids) => ids.len() as u64 == vertices,
            BatchIds::Signed(ids) => ids.len() as u64 == vertices,
            BatchIds::Names(names) => names.len() as u64 == vertices,
        }
    }

    /// Returns whether the ids of one graph ascend.
    fn ascend(&self, places: Range<usize>) -> bool {
        match self {
            BatchIds::InGraph { .. } | BatchIds::InBatch { .. } => true,
            BatchIds::Unsigned(ids) => ids[places].windows(2).all(|pair| pair[0] < pair[1]),
            BatchIds::Signed(ids) => ids[places].windows(2).all(|pair| pair[0] < pair[1]),
            BatchIds::Names(names) => {
                places.clone().zip(places.skip(1)).all(|(a, b)| names.get(a) < names.get(b))
            }
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            BatchIds::InGraph { .. } | BatchIds::InBatch { .. } => 0,
            BatchIds::Unsigned(ids) => ids.bytes(),
            BatchIds::Signed(ids) => ids.bytes(),
            BatchIds::Names(names) => {
                let (offsets, bytes) = names.parts();
                (size_of_val(offsets) + bytes.len()) as u64
            }
        }
    }
}

impl Members {
    /// Creates graphs with these ids, which must ascend like a graph's vertex ids. The vertices of
    /// graph `i` are those from `vertex_starts[i]` to `vertex_starts[i + 1]`, so that there is one
    /// more start than graphs.
    ///
    /// # Errors
    /// If the parts are inconsistent; the error names the first invalid graph.
    pub fn new(
        graph_ids: VertexIds,
        vertex_starts: Buffer<u64>,
        vertex_ids: BatchIds,
    ) -> Result<Members, InvalidBatch> {
        if !graph_ids.is_valid() {
            return Err(InvalidBatch::GraphIds);
        }
        let graphs = graph_ids.len();
        if vertex_starts.len() != graphs + 1 || vertex_starts[0] != 0 {
            return Err(InvalidBatch::Starts);
        }
        let size = |graph: usize| vertex_starts[graph + 1].checked_sub(vertex_starts[graph]);
        let wrong = |&graph: &usize| size(graph).is_none_or(|size| size > u64::from(MAX_VERTICES));
        if let Some(graph) = (0..graphs).into_par_iter().find_first(wrong) {
            return Err(InvalidBatch::Size { graph });
        }
        let most = (0..graphs).into_par_iter().filter_map(size).max().unwrap_or(0);
        if !vertex_ids.suffice(vertex_starts[graphs], most) {
            return Err(InvalidBatch::VertexIds);
        }
        let members = Members { graph_ids, vertex_starts, vertex_ids };
        let wrong = |&graph: &usize| {
            let Range { start, end } = members.range(graph..graph + 1);
            !members.vertex_ids.ascend(start.index()..end.index())
        };
        match (0..graphs).into_par_iter().find_first(wrong) {
            Some(graph) => Err(InvalidBatch::VertexOrder { graph }),
            None => Ok(members),
        }
    }

    /// Creates graphs of these numbers of vertices, with ids that count from 0, for graphs and for
    /// the vertices of each graph.
    ///
    /// # Errors
    /// If there are too many graphs, if a graph has too many vertices, or if memory allocation fails.
    pub fn of_sizes(sizes: impl ExactSizeIterator<Item = u32>) -> Result<Members, InvalidBatch> {
        let count = u32::try_from(sizes.len()).map_err(|_| InvalidBatch::GraphIds)?;
        let mut starts = memory::with_room(sizes.len() + 1)?;
        starts.push(0);
        let mut end = 0;
        for size in sizes {
            end += u64::from(size);
            memory::push(&mut starts, end)?;
        }
        let graph_ids = VertexIds::Consecutive { first: 0, count };
        Members::new(graph_ids, starts.into(), BatchIds::InGraph { first: 0 })
    }

    /// Returns a copy of consecutive graphs.
    pub(super) fn copied(&self, graphs: Range<usize>) -> Result<Members, OutOfMemory> {
        let Range { start, end } = self.range(graphs.clone());
        let starts = self.vertex_starts[graphs.start..=graphs.end].iter();
        Ok(Members {
            graph_ids: self.graph_ids.copied(graphs)?,
            vertex_starts: memory::collected(starts.map(|at| at - start.place()))?.into(),
            vertex_ids: self.vertex_ids.copied(start.index()..end.index())?,
        })
    }

    /// Returns the number of graphs.
    pub fn len(&self) -> usize {
        self.graph_ids.len()
    }

    /// Returns whether there are no graphs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of vertices of all graphs.
    pub fn vertices(&self) -> u64 {
        self.vertex_starts[self.len()]
    }

    /// Returns the number of vertices of one graph.
    ///
    /// # Panics
    /// If `graph` is not below [`Members::len`].
    pub fn vertices_of(&self, graph: usize) -> u32 {
        (self.vertex_starts[graph + 1] - self.vertex_starts[graph]) as u32
    }

    /// Returns the external ids of the graphs.
    pub fn graph_ids(&self) -> &VertexIds {
        &self.graph_ids
    }

    /// Returns the external ids of the vertices.
    pub fn vertex_ids(&self) -> &BatchIds {
        &self.vertex_ids
    }

    /// Returns the first place of each graph's vertices, and the end of the last graph's.
    pub fn vertex_starts(&self) -> &[u64] {
        &self.vertex_starts
    }

    /// Returns the graph of a vertex of the batch, and its id within the graph; `None` past the
    /// last vertex.
    pub fn locate(&self, vertex: BatchVertex) -> Option<(usize, VertexId)> {
        // Empty graphs begin where the next graph does: the last graph that begins here has the
        // vertex.
        let begun = self.vertex_starts.partition_point(|&start| start <= vertex.place());
        let start = self.vertex_starts[begun.checked_sub(1)?];
        (vertex.place() < self.vertices())
            .then(|| (begun - 1, (vertex.place() - start) as VertexId))
    }

    /// Returns the places of the vertices of consecutive graphs.
    pub(super) fn range(&self, graphs: Range<usize>) -> Range<BatchVertex> {
        BatchVertex(self.vertex_starts[graphs.start])..BatchVertex(self.vertex_starts[graphs.end])
    }

    /// Returns the range of the offsets of consecutive graphs: each graph has one more offset than
    /// vertices.
    pub(super) fn offsets(&self, graphs: Range<usize>) -> Range<usize> {
        let Range { start, end } = graphs;
        self.vertex_starts[start] as usize + start..self.vertex_starts[end] as usize + end
    }

    /// Returns the ids of the vertices of the only graph.
    pub(super) fn into_ids_of_one(self) -> VertexIds {
        let count = self.vertices() as u32;
        match self.vertex_ids {
            BatchIds::InGraph { first } | BatchIds::InBatch { first } => {
                VertexIds::Consecutive { first, count }
            }
            BatchIds::Unsigned(ids) => VertexIds::Unsigned(ids),
            BatchIds::Signed(ids) => VertexIds::Signed(ids),
            BatchIds::Names(names) => VertexIds::Names(names),
        }
    }

    /// Returns the bytes that the ids occupy.
    pub(super) fn id_bytes(&self) -> u64 {
        self.graph_ids.bytes() + self.vertex_ids.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(starts: &[u64], ids: BatchIds) -> Result<Members, InvalidBatch> {
        let count = starts.len().saturating_sub(1) as u32;
        let graph_ids = VertexIds::Consecutive { first: 1, count };
        Members::new(graph_ids, starts.to_vec().into(), ids)
    }

    #[test]
    fn every_vertex_is_found_in_its_graph() {
        let members = Members::of_sizes([0, 2, 0, 0, 1, 0].into_iter()).unwrap();
        let found = [0, 1, 2, 3, u64::MAX].map(|place| members.locate(BatchVertex::new(place)));
        assert_eq!(found, [Some((1, 0)), Some((1, 1)), Some((4, 0)), None, None]);
        let none = Members::of_sizes([].into_iter()).unwrap();
        assert_eq!((none.len(), none.vertices(), none.locate(BatchVertex::new(0))), (0, 0, None));
    }

    #[test]
    fn ids_are_checked_graph_by_graph() {
        let names = |list: &[&str]| BatchIds::Names(Names::new(list.iter().copied()));
        let unsigned = |list: &[u64]| BatchIds::Unsigned(list.to_vec().into());
        assert!(members(&[0, 2, 3], names(&["a", "b", "a"])).is_ok());
        assert!(members(&[0, 2, 3], unsigned(&[4, 9, 4])).is_ok());
        let order = |graph| Err(InvalidBatch::VertexOrder { graph });
        assert_eq!(members(&[0, 1, 3], names(&["a", "b", "a"])), order(1));
        assert_eq!(members(&[0, 2, 3], unsigned(&[4, 4, 5])), order(0));
        assert_eq!(members(&[0, 1, 3], BatchIds::Signed(vec![7, -1, -2].into())), order(1));
        let count = Err(InvalidBatch::VertexIds);
        assert_eq!(members(&[0, 2, 3], unsigned(&[1, 2])), count);
        assert_eq!(members(&[0, 2], BatchIds::InGraph { first: u64::MAX }), count);
        assert_eq!(members(&[0, 2], BatchIds::InBatch { first: u64::MAX - 1 }), count);
    }

    #[test]
    fn starts_are_checked() {
        let any = || BatchIds::InGraph { first: 0 };
        assert_eq!(members(&[], any()), Err(InvalidBatch::Starts));
        assert_eq!(members(&[1, 2], any()), Err(InvalidBatch::Starts));
        assert_eq!(members(&[0, 2, 1], any()), Err(InvalidBatch::Size { graph: 1 }));
        let too_large = [0, u64::from(MAX_VERTICES) + 1];
        assert_eq!(members(&too_large, any()), Err(InvalidBatch::Size { graph: 0 }));
        let ids = VertexIds::Unsigned(vec![3, 3].into());
        let found = Members::new(ids, vec![0, 0, 0].into(), any());
        assert_eq!(found, Err(InvalidBatch::GraphIds));
    }
}
