//! Many small graphs of two kinds and six sizes: SwarmGraph's benchmark II.
//!
//! The paper's table 3 gives the numbers of R-MAT and random graphs of 32, 64, … 1024 vertices in
//! a million graphs. Other numbers of graphs have equal shares, by largest remainders. The kind and
//! size of each graph are drawn, so that all are mixed.
//!
//! *Average degree*: a graph of n vertices draws from 4 n to 8 n edges, uniformly: 8 to 16 ends
//! per vertex. The graph has fewer, because self-loops are dropped and repeated edges merged. Only
//! small random graphs lose some. All R-MAT graphs, whose quadrants and scrambled ids are those of
//! [`Rmat`], lose many.
//!
//! **Parts.** A million graphs draw 2.4 billion edges. They are generated part by part. A part is a
//! batch whose ids are the numbers of its graphs in the swarm. A graph depends on the swarm and on
//! its number alone, not on its part.
//!
//! **Memory.** The batch of a part; while it is generated, another 20 MiB, 0.2 MiB per thread, and
//! addresses (not pages) for dropped and merged edges.
//!
//! Reference: Ji, Liu, Huang, *SwarmGraph*, HPCC 2020, section 4.1.

use crate::permutation::Permutation;
use crate::random::{Stream, derive};
use crate::rmat::{Rmat, descend};
use crate::{GenerateError, vertex_count};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchAdjacency, BatchIds, GraphBatch, Members};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{VertexId, VertexIds};
use std::ops::Range;

/// Parameters of a swarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swarm {
    /// Number of graphs; at most 2³² − 2.
    pub graphs: u64,
    /// Seed of the graphs.
    pub seed: u64,
}

/// Distribution of a graph's edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwarmKind {
    /// Down the matrix, as [`Rmat`] does.
    Rmat,
    /// Each end is drawn independently and uniformly from all vertices.
    Random,
}

/// Kind and size of a graph, before its edges are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwarmShape {
    /// Distribution of its edges.
    pub kind: SwarmKind,
    /// Number of vertices: a power of two from 32 to 1024.
    pub vertices: u32,
    /// Number of drawn edges, including those that are dropped or merged.
    pub edges: u32,
}

/// The paper's table 3: kinds, scales (2^scale vertices), and their numbers in a million graphs.
const TABLE: [(SwarmKind, u32, u64); CLASSES] = [
    (SwarmKind::Rmat, 5, 57_795),
    (SwarmKind::Rmat, 6, 58_881),
    (SwarmKind::Rmat, 7, 110_831),
    (SwarmKind::Rmat, 8, 104_287),
    (SwarmKind::Rmat, 9, 105_780),
    (SwarmKind::Rmat, 10, 107_020),
    (SwarmKind::Random, 5, 42_205),
    (SwarmKind::Random, 6, 41_119),
    (SwarmKind::Random, 7, 89_169),
    (SwarmKind::Random, 8, 95_713),
    (SwarmKind::Random, 9, 94_220),
    (SwarmKind::Random, 10, 92_980),
];
const CLASSES: usize = 12;
const TABLE_GRAPHS: u128 = 1_000_000;

/// Drawn edges per vertex: half of the average degree, which is from 8 to 16.
const EDGES_PER_VERTEX: Range<u64> = 4..8;
/// Arcs that are drawn before the graphs are appended: few enough that memory is reused, and
/// enough that threads need not wait for one another.
const CHUNK_ARCS: usize = 1 << 22;
/// Arcs that one graph draws at most, and graphs that a chunk has at most.
const MOST_ARCS: usize = 2 * 8 * 1024;
const CHUNK_GRAPHS: usize = CHUNK_ARCS / (2 * 4 * 32) + 1;
/// Least graphs of a task: fewer do not repay its overhead.
const GRAPHS_PER_TASK: usize = 8;

impl Swarm {
    /// Returns a swarm of this number of graphs.
    pub fn new(graphs: u64) -> Swarm {
        Swarm { graphs, seed: 1 }
    }

    /// Returns the kind, vertices and drawn edges of each graph of a range.
    ///
    /// # Errors
    /// If there are too many graphs, or the range ends beyond them.
    pub fn shapes(
        &self,
        graphs: Range<u64>,
    ) -> Result<impl ExactSizeIterator<Item = SwarmShape> + Clone, GenerateError> {
        let (sampler, first) = (self.sampler()?, graphs.start);
        let count = self.check(&graphs)?;
        Ok((0..count).map(move |at| sampler.begin(first + u64::from(at)).shape))
    }

    /// Cuts the graphs of the swarm into consecutive parts of about `edges` drawn edges each.
    ///
    /// Complexity: some nanoseconds per graph, when the iterator reaches its part.
    ///
    /// # Errors
    /// If there are too many graphs.
    pub fn parts(&self, edges: u64) -> Result<impl Iterator<Item = Range<u64>>, GenerateError> {
        let (sampler, graphs, mut start) = (self.sampler()?, self.graphs, 0);
        Ok(std::iter::from_fn(move || {
            let (first, mut drawn) = (start, 0);
            while start < graphs && drawn < edges.max(1) {
                drawn += u64::from(sampler.begin(start).shape.edges);
                start += 1;
            }
            (start > first).then_some(first..start)
        }))
    }

    /// Generates the graphs of a range, on rayon's current pool. They have no weights and no directions.
    ///
    /// # Errors
    /// If there are too many graphs, the range ends beyond them, or memory allocation fails.
    pub fn generate_part(&self, graphs: Range<u64>) -> Result<GraphBatch, GenerateError> {
        let sampler = self.sampler()?;
        let shapes = self.shapes(graphs.clone())?;
        let rows: u64 = shapes.clone().map(|shape| u64::from(shape.edges)).sum();
        let refused = |error: OutOfMemory| GenerateError::OutOfMemory { rows, bytes: error.bytes };
        let members = members(graphs.start, shapes.clone()).map_err(refused)?;
        let lists = sampler.draw(graphs.start, shapes, rows).map_err(refused)?;
        let batch = GraphBatch::new(members, None, lists, None);
        Ok(batch.expect("the generator makes what a batch is"))
    }

    /// Returns the number of graphs of a range, or an error if there is no such range.
    fn check(&self, graphs: &Range<u64>) -> Result<u32, GenerateError> {
        if graphs.start > graphs.end || graphs.end > self.graphs {
            let expected = format!("a range within 0..{}", self.graphs);
            return Err(GenerateError::parameter("graphs", format!("{graphs:?}"), expected));
        }
        // At most as many as vertices, which is the limit of a batch, too.
        vertex_count(graphs.end - graphs.start)
    }

    fn sampler(&self) -> Result<Sampler, GenerateError> {
        if vertex_count(self.graphs).is_err() {
            return Err(GenerateError::parameter("graphs", self.graphs, "at most 4,294,967,294"));
        }
        let mut end = 0;
        let ends = counts(self.graphs).map(|count| {
            end += count;
            end
        });
        let order = Permutation::new(self.graphs, derive(self.seed, "swarm order"));
        Ok(Sampler { seed: self.seed, ends, order, limits: Rmat::new(0).limits()? })
    }
}

/// Apportions `graphs` graphs to the classes of the table: the share of each, rounded down, plus one
/// for the classes with the largest remainders.
fn counts(graphs: u64) -> [u64; CLASSES] {
    let exact = TABLE.map(|(_, _, count)| u128::from(count) * u128::from(graphs));
    let mut counts = exact.map(|exact| (exact / TABLE_GRAPHS) as u64);
    let mut by_loss: [usize; CLASSES] = std::array::from_fn(|class| class);
    by_loss.sort_by_key(|&class| std::cmp::Reverse(exact[class] % TABLE_GRAPHS));
    let missing = graphs - counts.iter().sum::<u64>();
    by_loss[..missing as usize].iter().for_each(|&class| counts[class] += 1);
    counts
}

/// Sampler of a swarm's graphs: a graph's size, kind and edges depend on its number and this value alone.
#[derive(Clone)]
struct Sampler {
    seed: u64,
    /// End of each class, in the order of graphs sorted by class.
    ends: [u64; CLASSES],
    /// Position of each graph in that order.
    order: Permutation,
    /// Cumulative probabilities of R-MAT's quadrants.
    limits: [u64; 3],
}

/// A graph before it is drawn.
struct Begun {
    shape: SwarmShape,
    scale: u32,
    stream: Stream,
}

impl Sampler {
    fn begin(&self, graph: u64) -> Begun {
        let rank = self.order.of(graph);
        let (kind, scale, _) = TABLE[self.ends.partition_point(|&end| end <= rank)];
        let mut stream = Stream::new(self.seed, "swarm", graph);
        let Range { start, end } = EDGES_PER_VERTEX;
        let vertices = 1u32 << scale;
        let most = (end - start) * u64::from(vertices);
        let edges = (start * u64::from(vertices) + stream.below(most + 1)) as u32;
        Begun { shape: SwarmShape { kind, vertices, edges }, scale, stream }
    }
}

/// Returns the graphs from number `first` on, with their sizes.
fn members(
    first: u64,
    shapes: impl ExactSizeIterator<Item = SwarmShape>,
) -> Result<Members, OutOfMemory> {
    let count = shapes.len() as u32;
    let (mut starts, mut end) = (memory::with_room(shapes.len() + 1)?, 0);
    starts.push(0);
    starts.extend(shapes.map(|shape| {
        end += u64::from(shape.vertices);
        end
    }));
    let ids = VertexIds::Consecutive { first, count };
    let members = Members::new(ids, starts.into(), BatchIds::InGraph { first: 0 });
    Ok(members.expect("sizes and ids of a swarm are those of a batch"))
}

/// Destination of the lists of a graph.
struct Place<'a> {
    offsets: &'a mut [u32],
    /// Space for all drawn edges, twice.
    neighbors: &'a mut [VertexId],
}

impl Sampler {
    /// Draws the lists of the graphs from number `first` on, which have `rows` rows in all.
    fn draw(
        &self,
        first: u64,
        shapes: impl ExactSizeIterator<Item = SwarmShape> + Clone,
        rows: u64,
    ) -> Result<BatchAdjacency, OutOfMemory> {
        let slots: usize = shapes.clone().map(|shape| shape.vertices as usize + 1).sum();
        let mut offsets = memory::zeros(slots)?;
        let mut arc_starts = memory::with_room(shapes.len() + 1)?;
        arc_starts.push(0);
        let mut neighbors = memory::with_room(2 * rows as usize)?;
        let mut drawn = memory::zeros((2 * rows as usize).min(CHUNK_ARCS + MOST_ARCS))?;
        let (mut rest, mut shapes, mut next) = (&mut offsets[..], shapes.peekable(), first);
        while shapes.peek().is_some() {
            let (mut places, mut free) = (memory::with_room(CHUNK_GRAPHS)?, &mut drawn[..]);
            let mut arcs = 0;
            while let Some(shape) = shapes.next_if(|_| arcs < CHUNK_ARCS) {
                let own = 2 * shape.edges as usize;
                let offsets = rest.split_off_mut(..=shape.vertices as usize);
                let neighbors = free.split_off_mut(..own);
                let place = offsets.zip(neighbors);
                let (offsets, neighbors) = place.expect("there is room for all");
                places.push(Place { offsets, neighbors });
                arcs += own;
            }
            self.draw_chunk(next, &mut places)?;
            next += places.len() as u64;
            append_chunk(&places, &mut arc_starts, &mut neighbors)?;
        }
        neighbors.shrink_to_fit();
        Ok(BatchAdjacency {
            arc_starts: arc_starts.into(),
            offsets: offsets.into(),
            neighbors: neighbors.into(),
            weights: None,
        })
    }

    /// Draws the graphs from number `first` on, each to its place.
    fn draw_chunk(&self, first: u64, places: &mut [Place<'_>]) -> Result<(), OutOfMemory> {
        let graphs = places.par_iter_mut().enumerate().with_min_len(GRAPHS_PER_TASK);
        graphs.try_for_each_init(Scratch::default, |scratch, (at, place)| {
            scratch.draw(self.begin(first + at as u64), self.limits, place)
        })
    }
}

/// Appends what graphs keep, without the gaps between them.
fn append_chunk(
    places: &[Place<'_>],
    arc_starts: &mut Vec<u64>,
    neighbors: &mut Vec<VertexId>,
) -> Result<(), OutOfMemory> {
    let kept: usize = places.iter().map(Place::kept).sum();
    let begin = neighbors.len();
    neighbors.resize(begin + kept, 0);
    let mut rest = &mut neighbors[begin..];
    let mut end = begin as u64;
    let mut copies = memory::with_room(places.len())?;
    for place in places {
        let (to, more) = rest.split_at_mut(place.kept());
        rest = more;
        end += to.len() as u64;
        arc_starts.push(end);
        copies.push((&place.neighbors[..to.len()], to));
    }
    copies.into_par_iter().with_min_len(GRAPHS_PER_TASK).for_each(|(from, to)| {
        to.copy_from_slice(from);
    });
    Ok(())
}

impl Place<'_> {
    /// Returns the number of arcs of the graph, after it is drawn.
    fn kept(&self) -> usize {
        self.offsets[self.offsets.len() - 1] as usize
    }
}

/// Workspace of a task, reused for all its graphs.
#[derive(Default)]
struct Scratch {
    /// The vertex of the graph for each vertex of the matrix.
    names: Vec<VertexId>,
    /// The edges, in the order of drawing.
    edges: Vec<[VertexId; 2]>,
    /// Position of the next arc of each vertex.
    ends: Vec<u32>,
    /// The lists in the order of drawing.
    unsorted: Vec<VertexId>,
}

impl Scratch {
    fn draw(
        &mut self,
        graph: Begun,
        limits: [u64; 3],
        place: &mut Place<'_>,
    ) -> Result<(), OutOfMemory> {
        let Begun { shape, scale, stream } = graph;
        self.edges.clear();
        memory::reserve(&mut self.edges, shape.edges as usize)?;
        match shape.kind {
            SwarmKind::Random => self.draw_random(shape, stream),
            SwarmKind::Rmat => self.draw_rmat(shape, scale, limits, stream)?,
        }
        self.count(place.offsets);
        self.place(place)
    }

    fn draw_random(&mut self, shape: SwarmShape, mut stream: Stream) {
        // Sizes are powers of two: the lowest bits are as good as any.
        let mask = shape.vertices - 1;
        self.edges.extend((0..shape.edges).map(|_| {
            let bits = stream.bits();
            [bits as u32 & mask, (bits >> 32) as u32 & mask]
        }));
    }

    fn draw_rmat(
        &mut self,
        shape: SwarmShape,
        scale: u32,
        limits: [u64; 3],
        mut stream: Stream,
    ) -> Result<(), OutOfMemory> {
        self.names.clear();
        memory::reserve(&mut self.names, shape.vertices as usize)?;
        self.names.extend(0..shape.vertices);
        stream.shuffle(&mut self.names);
        self.edges.extend((0..shape.edges).map(|_| {
            let (source, target) = descend(&mut stream, scale, limits);
            [self.names[source as usize], self.names[target as usize]]
        }));
        Ok(())
    }

    /// Counts the arcs of each vertex, without loops, and sets `starts` to the begins of the lists.
    fn count(&self, starts: &mut [u32]) {
        for &[source, target] in &self.edges {
            let arc = u32::from(source != target);
            starts[source as usize + 1] += arc;
            starts[target as usize + 1] += arc;
        }
        let mut end = 0;
        for start in starts {
            end += *start;
            *start = end;
        }
    }

    /// Places the arcs, sorts the lists and merges repeated arcs.
    ///
    /// Each edge is in the lists of both of its ends. So the lists are sorted by traversing them in the
    /// order of their vertices, and appending each vertex to the lists of its neighbours.
    fn place(&mut self, place: &mut Place<'_>) -> Result<(), OutOfMemory> {
        let Scratch { edges, ends, unsorted, .. } = self;
        let Place { offsets, neighbors } = place;
        let vertices = offsets.len() - 1;
        let arcs = offsets[vertices] as usize;
        let begin = |ends: &mut Vec<u32>| {
            ends.clear();
            memory::extend(ends, &offsets[..vertices])
        };
        begin(ends)?;
        if unsorted.len() < arcs {
            memory::reserve(unsorted, arcs - unsorted.len())?;
            unsorted.resize(arcs, 0);
        }
        for &[source, target] in edges.iter().filter(|[source, target]| source != target) {
            append(unsorted, ends, source, target);
            append(unsorted, ends, target, source);
        }
        begin(ends)?;
        for vertex in 0..vertices {
            for &to in &unsorted[offsets[vertex] as usize..offsets[vertex + 1] as usize] {
                append(neighbors, ends, to, vertex as VertexId);
            }
        }
        merge(offsets, neighbors);
        Ok(())
    }
}

/// Appends a vertex to a list, whose end is in `ends`.
#[inline]
fn append(lists: &mut [VertexId], ends: &mut [u32], list: VertexId, vertex: VertexId) {
    let end = &mut ends[list as usize];
    lists[*end as usize] = vertex;
    *end += 1;
}

/// Keeps one of each run of equal neighbours in a list, and closes the gaps.
fn merge(offsets: &mut [u32], neighbors: &mut [VertexId]) {
    let (mut from, mut kept) = (0, 0);
    for end in &mut offsets[1..] {
        // No vertex has this id.
        let mut last = VertexId::MAX;
        for at in from..*end as usize {
            let neighbor = neighbors[at];
            // The next neighbour overwrites a repeated one.
            neighbors[kept] = neighbor;
            kept += usize::from(neighbor != last);
            last = neighbor;
        }
        from = *end as usize;
        *end = kept as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_any_pool;
    use std::collections::BTreeSet;

    /// Each graph's id, vertices, and edges from their lower end.
    type Graphs = Vec<(String, u32, BTreeSet<(u32, u32)>)>;

    fn graphs(batch: &GraphBatch) -> Graphs {
        let edges = |graph: ripplet_graph::batch::BatchGraph<'_>| {
            let of = |v: u32| graph.out().of(v as usize).iter().map(move |&u| (v, u));
            let arcs: Vec<(u32, u32)> = (0..graph.vertices()).flat_map(of).collect();
            let edges: BTreeSet<_> = arcs.iter().copied().filter(|(v, u)| v < u).collect();
            // No loops, nothing twice, and each edge at both ends.
            assert_eq!(arcs.len(), 2 * edges.len());
            assert!(arcs.iter().all(|&(v, u)| edges.contains(&(v.min(u), v.max(u)))));
            edges
        };
        let graph = |graph: ripplet_graph::batch::BatchGraph<'_>| {
            (graph.id().to_string(), graph.vertices(), edges(graph))
        };
        batch.all().graphs().map(graph).collect()
    }

    #[test]
    fn counts_are_the_tables() {
        assert_eq!(counts(1_000_000), TABLE.map(|(_, _, count)| count));
        assert_eq!(
            TABLE.iter().map(|(_, _, count)| u128::from(*count)).sum::<u128>(),
            TABLE_GRAPHS
        );
        for graphs in [0, 1, 7, 999, 12_345, 1_000_001, u64::from(u32::MAX)] {
            let found = counts(graphs);
            assert_eq!(found.iter().sum::<u64>(), graphs);
            for (found, (_, _, count)) in found.into_iter().zip(TABLE) {
                let exact = count as f64 * graphs as f64 / TABLE_GRAPHS as f64;
                assert!((found as f64 - exact).abs() < 1.0, "{found}, not {exact}");
            }
        }
    }

    #[test]
    fn shapes_of_a_million_graphs_are_the_tables() {
        let swarm = Swarm::new(1_000_000);
        let mut found = [0u64; CLASSES];
        let mut edges_per_vertex = 0.0;
        // The classes at the begin of each thousand graphs vary: they are mixed.
        let mut begins = BTreeSet::new();
        for (at, shape) in swarm.shapes(0..swarm.graphs).unwrap().enumerate() {
            let is = |&(kind, scale, _): &(SwarmKind, u32, u64)| {
                (kind, 1 << scale) == (shape.kind, shape.vertices)
            };
            let class = TABLE.iter().position(is).unwrap();
            found[class] += 1;
            assert!((4 * shape.vertices..=8 * shape.vertices).contains(&shape.edges));
            edges_per_vertex += f64::from(shape.edges) / f64::from(shape.vertices);
            if at % 1000 == 0 {
                begins.insert(class);
            }
        }
        assert_eq!(found, TABLE.map(|(_, _, count)| count));
        // Uniform from 4 to 8: the mean of a million is 6, give or take 4 / √12 / 1000.
        assert!((edges_per_vertex / 1e6 - 6.0).abs() < 0.01, "{edges_per_vertex}");
        assert_eq!(begins.len(), CLASSES);
    }

    #[test]
    fn parts_and_threads_change_no_bit() {
        let swarm = Swarm { graphs: 300, seed: 5 };
        let whole = on_any_pool(|| swarm.generate_part(0..300).unwrap());
        let expected = graphs(&whole);
        assert_eq!(expected.len(), 300);
        for edges in [0, 1, 3000, 40_000, u64::MAX] {
            let parts: Vec<_> = swarm.parts(edges).unwrap().collect();
            assert_eq!(parts.len() == 1, edges == u64::MAX);
            assert_eq!(parts.len() == 300, edges < 2);
            let made = parts.into_iter().map(|part| swarm.generate_part(part).unwrap());
            let found: Graphs = made.flat_map(|batch| graphs(&batch)).collect();
            assert!(found == expected, "{edges} edges a part");
        }
        assert_ne!(whole, Swarm { graphs: 300, seed: 6 }.generate_part(0..300).unwrap());
    }

    /// Compares edges with those of a simple implementation.
    #[test]
    fn edges_are_those_drawn() {
        let swarm = Swarm { graphs: 60, seed: 3 };
        let (sampler, made) = (swarm.sampler().unwrap(), swarm.generate_part(0..60).unwrap());
        for (at, (id, vertices, edges)) in graphs(&made).into_iter().enumerate() {
            let Begun { shape, scale, mut stream } = sampler.begin(at as u64);
            let mut names: Vec<u32> = (0..shape.vertices).collect();
            if shape.kind == SwarmKind::Rmat {
                stream.shuffle(&mut names);
            }
            let mut expected = BTreeSet::new();
            for _ in 0..shape.edges {
                let (source, target) = match shape.kind {
                    SwarmKind::Rmat => descend(&mut stream, scale, sampler.limits),
                    SwarmKind::Random => {
                        let bits = stream.bits();
                        let vertices = u64::from(vertices);
                        (bits % vertices, (bits >> 32) % vertices)
                    }
                };
                let ends = [names[source as usize], names[target as usize]];
                expected.insert((ends[0].min(ends[1]), ends[0].max(ends[1])));
            }
            expected.retain(|(a, b)| a != b);
            assert_eq!((id, vertices), (at.to_string(), shape.vertices));
            assert!(edges == expected, "graph {at}: {shape:?}");
        }
    }

    #[test]
    fn degrees_are_those_of_the_kinds() {
        let swarm = Swarm::new(400);
        let batch = swarm.generate_part(0..400).unwrap();
        for (graph, shape) in batch.all().graphs().zip(swarm.shapes(0..400).unwrap()) {
            let kept = graph.arcs() as f64 / f64::from(2 * shape.edges);
            let degrees = (0..shape.vertices as usize).map(|v| graph.out().degree(v));
            let largest = f64::from(degrees.max().unwrap()) / graph.arcs() as f64;
            let largest = largest * f64::from(shape.vertices);
            match shape.kind {
                SwarmKind::Random if shape.vertices == 1024 => assert!(kept > 0.98, "{kept}"),
                SwarmKind::Random => assert!(kept > 0.6 && largest < 4.0, "{kept}, {largest}"),
                SwarmKind::Rmat if shape.vertices == 1024 => {
                    assert!((0.6..0.95).contains(&kept) && largest > 10.0, "{kept}, {largest}");
                }
                SwarmKind::Rmat => assert!(kept < 0.95, "{kept}"),
            }
        }
    }

    #[test]
    fn extremes() {
        assert!(Swarm::new(0).generate_part(0..0).unwrap().is_empty());
        assert_eq!(Swarm::new(0).parts(10).unwrap().count(), 0);
        assert_eq!(Swarm::new(1).generate_part(0..1).unwrap().len(), 1);
        let error = Swarm::new(5).generate_part(3..6).unwrap_err();
        assert_eq!(error.to_string(), "graphs is 3..6; it must be a range within 0..5");
        let error = Swarm::new(1 << 32).generate_part(0..1).unwrap_err();
        assert_eq!(error.to_string(), "graphs is 4294967296; it must be at most 4,294,967,294");
        assert!(Swarm::new(1 << 40).parts(1).is_err());
    }
}
