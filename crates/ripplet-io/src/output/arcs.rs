//! Iterates over a graph's arcs in blocks of bounded size, whatever the degrees.

use ripplet_graph::{Direction, Graph, Shard, VertexId};

/// Slots in a block: enough work for a task, with little memory.
const SLOTS: u64 = 1 << 16;

/// Arcs of a graph in order, cut into blocks.
///
/// A vertex takes a slot for each arc in its `out` list and one for the end of the list. So a block is
/// bounded both if a vertex has many arcs and if many vertices have none.
pub(crate) struct Arcs<'a> {
    graph: &'a Graph,
    /// Number of blocks before each shard, and in total.
    before: Vec<usize>,
}

/// Contents of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// An arc.
    Arc {
        source: VertexId,
        target: VertexId,
        /// The stored weight, if the graph has weights.
        weight: Option<u32>,
        /// Whether it is the first of its source.
        first: bool,
    },
    /// The end of a vertex's list.
    End,
}

impl<'a> Arcs<'a> {
    pub(crate) fn of(graph: &'a Graph) -> Arcs<'a> {
        let mut before = vec![0];
        for shard in graph.shards() {
            let slots = shard.out().neighbors().len() as u64 + shard.vertices().len() as u64;
            before.push(before[before.len() - 1] + slots.div_ceil(SLOTS) as usize);
        }
        Arcs { graph, before }
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.before[self.before.len() - 1]
    }

    /// Visits the slots of a block.
    pub(crate) fn for_each(&self, block: usize, mut visit: impl FnMut(Slot)) {
        let Span { shard, begin, end, first_vertex: mut local } = self.span(block);
        let (out, vertices) = (shard.out(), shard.vertices());
        let (offsets, neighbors, weights) = (out.offsets(), out.neighbors(), out.weights());
        let end_of = |local: usize| u64::from(offsets[local + 1]) + local as u64 + 1;
        for slot in begin..end {
            let arc = (slot - local as u64) as usize;
            if slot + 1 == end_of(local) {
                visit(Slot::End);
                local += 1;
                continue;
            }
            visit(Slot::Arc {
                source: vertices.start + local as u32,
                target: neighbors[arc],
                weight: weights.map(|weights| weights[arc]),
                first: arc == offsets[local] as usize,
            });
        }
    }

    /// Visits the arcs of a block that represent edges: each undirected edge once, from its smaller end.
    pub(crate) fn for_each_edge(
        &self,
        block: usize,
        mut visit: impl FnMut(VertexId, VertexId, Option<u32>),
    ) {
        self.for_each_numbered_edge(block, |_, source, target, weight| {
            visit(source, target, weight)
        });
    }

    /// Visits the edges of a block as [`Arcs::for_each_edge`] does, each with a unique number. The numbers
    /// ascend, with gaps.
    pub(crate) fn for_each_numbered_edge(
        &self,
        block: usize,
        mut visit: impl FnMut(u64, VertexId, VertexId, Option<u32>),
    ) {
        let both = self.graph.direction() == Direction::Directed;
        self.for_each_list(block, |number, source, targets, weights| {
            let weight = |at: usize| weights.map(|weights| weights[at]);
            for (at, &target) in targets.iter().enumerate() {
                if both || source <= target {
                    visit(number + at as u64, source, target, weight(at));
                }
            }
        });
    }

    /// Visits the arcs of a block, those of a source together: the number of the first one, the source, the targets, and
    /// their stored weights, if the graph has weights.
    fn for_each_list(
        &self,
        block: usize,
        mut visit: impl FnMut(u64, VertexId, &[VertexId], Option<&[u32]>),
    ) {
        let Span { shard, begin, end, first_vertex } = self.span(block);
        let (out, vertices) = (shard.out(), shard.vertices());
        let (offsets, neighbors, weights) = (out.offsets(), out.neighbors(), out.weights());
        let (mut slot, mut local) = (begin, first_vertex);
        while slot < end {
            let stop = end.min(u64::from(offsets[local + 1]) + local as u64);
            let arcs = (slot - local as u64) as usize..(stop - local as u64) as usize;
            let number = block as u64 * SLOTS + (slot - begin);
            let weights = weights.map(|weights| &weights[arcs.clone()]);
            visit(number, vertices.start + local as u32, &neighbors[arcs], weights);
            // Behind the arcs is the end of the list, unless the block ends before.
            (slot, local) = (stop + 1, local + 1);
        }
    }

    /// Returns the slots of a block.
    fn span(&self, block: usize) -> Span<'a> {
        let index = self.before.partition_point(|&blocks| blocks <= block) - 1;
        let shard = &self.graph.shards()[index];
        let (out, vertices) = (shard.out(), shard.vertices());
        let offsets = out.offsets();
        let slots = out.neighbors().len() as u64 + vertices.len() as u64;
        let begin = (block - self.before[index]) as u64 * SLOTS;
        let end = slots.min(begin + SLOTS);
        let end_of = |local: usize| u64::from(offsets[local + 1]) + local as u64 + 1;
        let first_vertex = partition_point(vertices.len(), |local| end_of(local) <= begin);
        Span { shard, begin, end, first_vertex }
    }
}

/// The slots of a block.
struct Span<'a> {
    shard: &'a Shard,
    /// The first slot, and the one behind the last, in the shard.
    begin: u64,
    end: u64,
    /// The vertex of the first slot, in the shard.
    first_vertex: usize,
}

/// Returns the first of `0..count` for which `before` no longer holds.
fn partition_point(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};

    #[test]
    fn blocks_visit_every_arc_and_every_end_once_whatever_the_degrees() {
        let leaves = 150_000;
        // A hub over several blocks, its leaves, and as many vertices without any arc.
        let ids = VertexIds::Consecutive { first: 0, count: 2 * leaves + 1 };
        let table = EdgeTable::new(ids, vec![0; leaves as usize], (1..=leaves).collect()).unwrap();
        for shard_arcs in [1 << 31, 200_000] {
            let graph = GraphBuilder::new().shard_arcs(shard_arcs).build(table.clone()).unwrap();
            let arcs = Arcs::of(&graph);
            let (mut sources, mut ends, mut firsts, mut edges) = (Vec::new(), 0, 0, Vec::new());
            let mut numbers = Vec::new();
            for block in 0..arcs.blocks() {
                let mut slots = 0;
                arcs.for_each(block, |slot| {
                    slots += 1;
                    match slot {
                        Slot::Arc { source, first, .. } => {
                            sources.push(source);
                            firsts += u32::from(first);
                        }
                        Slot::End => ends += 1,
                    }
                });
                assert!((1..=SLOTS).contains(&slots));
                arcs.for_each_edge(block, |source, target, _| edges.push((source, target)));
                arcs.for_each_numbered_edge(block, |number, _, _, _| numbers.push(number));
            }
            assert_eq!(ends, graph.vertices());
            assert_eq!(firsts, leaves + 1);
            assert_eq!(sources.len() as u64, graph.arcs());
            assert!(sources.is_sorted());
            assert_eq!(numbers.len(), edges.len());
            assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(edges, (1..=leaves).map(|leaf| (0, leaf)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn edges_of_both_directions_with_weights_where_lists_end_at_a_block() {
        // The end of a list takes a slot, so that the list of 65,535 arcs fills a block.
        for (arcs, direction) in [65_534u32, 65_535, 65_536, 65_537]
            .into_iter()
            .flat_map(|arcs| [(arcs, Direction::Directed), (arcs, Direction::Undirected)])
        {
            // The first vertex has these arcs, the next one none, and those behind it lead back to it.
            let vertices = arcs + 2;
            let out = (0..arcs).map(|at| (0, 2 + at));
            let back = (0..100).map(|at| (2 + at, 1));
            let (sources, targets): (Vec<u32>, Vec<u32>) = out.chain(back).unzip();
            let weights = (0..sources.len()).map(|at| at as f64 + 1.0).collect();
            let ids = VertexIds::Consecutive { first: 0, count: vertices };
            let table = EdgeTable::new(ids, sources.clone(), targets.clone()).unwrap();
            let table = table.with_weights(weights).unwrap();
            let graph = GraphBuilder::new().direction(direction).build(table).unwrap();
            let unit = graph.weight_scale().weight(1);
            let blocks = Arcs::of(&graph);
            let mut found = Vec::new();
            for block in 0..blocks.blocks() {
                blocks.for_each_edge(block, |source, target, weight| {
                    let weight = f64::from(weight.unwrap()) * unit;
                    found.push((source, target, weight.round() as u32));
                });
            }
            let given = sources.into_iter().zip(targets).zip(1..);
            let mut expected: Vec<(u32, u32, u32)> = given
                .map(|((source, target), weight)| match direction {
                    Direction::Directed => (source, target, weight),
                    Direction::Undirected => (source.min(target), source.max(target), weight),
                })
                .collect();
            expected.sort_unstable();
            assert!(found == expected, "{arcs} {direction:?}");
        }
    }
}
