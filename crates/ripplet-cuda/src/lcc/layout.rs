//! Memory layout of a run on a device.

use super::tuning::Tuning;
use crate::lists::{GraphPlaces, Lists, ShardStart};
use bytemuck::{Pod, Zeroable};
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_gpu::{Address, Arena, text};
use ripplet_graph::{Direction, Graph};
use ripplet_lp::Plan;
use std::ops::Range;

/// Threads of a block, unless a kernel has another number; as in `state.cuh`.
pub const BLOCK: u32 = 256;
/// Arcs that a block processes, as in `state.cuh`.
const PIECE: u64 = 2048;
/// Threads of blocks that count triangles, and slots of their tables, as in `count.cuh`.
pub const SMALL_BLOCK: u32 = 128;
pub const LARGE_BLOCK: u32 = 512;
pub const WARP_SLOTS: u32 = 128;
pub const BLOCK_SLOTS: u32 = 1024;
pub const PART_SLOTS: u32 = 8192;
/// Vertices whose degrees a block counts, and the first name of a hub, as in `hubs.cuh`.
pub const BINNED: u64 = 4096;
const HUBS_FROM: u64 = (1 << 32) - 1 - 65536;
/// The longest list that is not divided into slices, and the neighbours of a slice, as in
/// `count.cuh`.
const BLOCK_LIST: u64 = 512;

/// A slice of a long list: `Slice` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Slice {
    vertex: u32,
    index: u32,
}

/// Counters of a run: `Tallies` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Tallies {
    pub edges: u64,
    pub triangles: u64,
    pub neighbors: u64,
    pub slices: u32,
    pub hubs: u32,
    pub bins: [[u32; 32]; 32],
}

/// The state of a run: `State` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    pub out: Lists,
    pub incoming: Lists,
    pub shards: Address,
    pub owners: Address,
    pub listed: Address,
    pub degrees: Address,
    pub bits: Address,
    pub both_bits: Address,
    pub hubs: Address,
    pub found: Address,
    pub numbers: Address,
    pub begins: Address,
    pub targets: Address,
    pub reciprocal: Address,
    pub slices: Address,
    pub numerators: Address,
    pub triangles: Address,
    pub tallies: Address,
    pub arcs: u64,
    pub pieces: u64,
    pub vertices: u32,
    pub shard_count: u32,
    pub hub_degree: u32,
    pub hub_count: u32,
    pub is_simple: u32,
    padding: u32,
}

/// Argument of a kernel: `Work` in `kernels.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Work {
    pub state: State,
    pub first: u64,
    pub counts: Address,
}

/// Contribution of a triangle to its corners: `RULE` in `state.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Plain = 0,
    Arcs = 1,
    Cycles = 2,
}

/// Properties of a run that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub directed: bool,
    pub sharded: bool,
    pub wide: bool,
    pub rule: Rule,
    /// Whether triangles are counted beside numerators.
    pub apart: bool,
}

impl Kind {
    /// Returns the properties of a run on a graph.
    pub fn new(graph: &Graph, lcc: &Lcc, tuning: Tuning) -> Kind {
        let directed = graph.direction() == Direction::Directed;
        Kind {
            directed,
            sharded: graph.shards().len() > 1,
            wide: most_edges(graph) >= tuning.wide_from,
            rule: match (directed, lcc.definition()) {
                (false, _) => Rule::Plain,
                (true, Definition::Ldbc) => Rule::Arcs,
                (true, Definition::Fagiolo) => Rule::Cycles,
            },
            apart: directed && lcc.has_triangles(),
        }
    }

    /// Returns the bytes of a slot of a table.
    pub fn bytes_of_slot(self) -> u32 {
        if self.apart { 12 } else { 8 }
    }

    pub fn bytes_of_walk(self) -> u32 {
        if self.wide { 648 } else { 516 }
    }
}

/// Returns a bound on the number of edges. An undirected graph has two arcs for each.
fn most_edges(graph: &Graph) -> u64 {
    match graph.direction() {
        Direction::Undirected => graph.arcs() / 2,
        Direction::Directed => graph.arcs(),
    }
}

/// Returns the words of the bit matrix of `hubs` hubs, as `word_of` in `hubs.cuh` computes them.
fn words_of(hubs: u64) -> u64 {
    let groups = hubs.div_ceil(32);
    16 * groups * (groups + 1)
}

/// Returns the most hubs whose bit matrices take at most 4 bytes for each vertex.
fn most_hubs(vertices: u64, directed: bool) -> u64 {
    // Hubs' names are numbers above all ids.
    if vertices > HUBS_FROM {
        return 0;
    }
    let words = if directed { vertices / 2 } else { vertices };
    let mut groups = (words / 16).isqrt();
    while words_of(32 * groups) > words {
        groups -= 1;
    }
    (32 * groups).min(65536)
}

/// Returns text that does not compile if a struct or constant of the kernels differs from the one
/// here.
pub fn checks(kind: Kind) -> String {
    let sizes = [
        ("Lists", size_of::<Lists>()),
        ("ShardStart", size_of::<ShardStart>()),
        ("Slice", size_of::<Slice>()),
        ("Tallies", size_of::<Tallies>()),
        ("State", size_of::<State>()),
        ("Work", size_of::<Work>()),
        ("Walk", kind.bytes_of_walk() as usize),
    ];
    let constants = [
        ("BLOCK", u64::from(BLOCK)),
        ("PIECE", PIECE),
        ("BLOCK_LIST", BLOCK_LIST),
        ("SLICE", BLOCK_LIST),
        ("SMALL_BLOCK", u64::from(SMALL_BLOCK)),
        ("LARGE_BLOCK", u64::from(LARGE_BLOCK)),
        ("BINNED", BINNED),
        ("HUBS_FROM", HUBS_FROM),
        ("BINS", 32 * 32),
        ("WARP_SLOTS", u64::from(WARP_SLOTS)),
        ("BLOCK_SLOTS", u64::from(BLOCK_SLOTS)),
        ("PART_SLOTS", u64::from(PART_SLOTS)),
        ("SLOT_WORDS", u64::from(kind.bytes_of_slot() / 4)),
    ];
    text::sizes_are(sizes) + &text::constants_are(constants)
}

/// Returns the least degree of a bin, as `bin_of` in `hubs.cuh` defines bins.
fn least_degree(exponent: usize, mantissa: usize) -> u32 {
    (32 + mantissa as u32) << (exponent - 5)
}

/// Returns the least degree of a hub, and the number of hubs, if at most `most` vertices are hubs.
/// The degrees of a bin are all included or none.
pub fn hub_degree(bins: &[[u32; 32]; 32], most: u64) -> (u32, u32) {
    let (mut degree, mut count) = (u32::MAX, 0);
    for (exponent, mantissas) in bins.iter().enumerate().skip(5).rev() {
        for (mantissa, &vertices) in mantissas.iter().enumerate().rev() {
            if u64::from(count) + u64::from(vertices) > most {
                return (degree, count);
            }
            if vertices > 0 {
                (degree, count) = (least_degree(exponent, mantissa), count + vertices);
            }
        }
    }
    (degree, count)
}

/// Byte ranges of all arrays, as ranges of bytes in one allocation.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub graph: GraphPlaces,
    pub owners: Range<u64>,
    pub listed: Range<u64>,
    pub degrees: Range<u64>,
    pub hubs: Range<u64>,
    pub begins: Range<u64>,
    pub targets: Range<u64>,
    pub reciprocal: Range<u64>,
    pub slices: Range<u64>,
    pub numerators: Range<u64>,
    pub triangles: Range<u64>,
    pub tallies: Range<u64>,
    /// Bytes of the allocation.
    pub bytes: u64,
    pub pieces: u64,
    /// The most hubs whose bit matrices fit the memory of the degrees.
    pub most_hubs: u64,
    pub has_triangles: bool,
    pub plan: Plan,
}

impl Layout {
    pub fn new(graph: &Graph, lcc: &Lcc, kind: Kind, tuning: Tuning) -> Layout {
        let (vertices, edges) = (u64::from(graph.vertices()), most_edges(graph));
        let mut to = Layout { has_triangles: lcc.has_triangles(), ..Layout::default() };
        let mut places = Arena::default();
        to.graph = GraphPlaces::new(&mut places, graph, false);
        let graph_bytes = places.bytes;

        to.pieces = (to.graph.out.arcs() + to.graph.incoming.arcs()).div_ceil(PIECE);
        to.targets = places.take(4, edges);
        to.reciprocal = places.take(4, if kind.directed { edges.div_ceil(32) } else { 0 });
        to.owners = places.take(4, to.pieces + 1);
        to.listed = places.take(8, to.pieces + 1);
        // A list of more than 512 neighbours has at most 2 slices for each 512 edges.
        to.slices = places.take(size_of::<Slice>() as u64, 2 * edges / BLOCK_LIST);
        to.most_hubs = most_hubs(vertices, kind.directed).min(tuning.most_hubs);
        to.hubs = places.take(4, to.most_hubs);
        let lists = places.bytes;
        to.begins = places.take(if kind.wide { 8 } else { 4 }, vertices + 1);
        to.degrees = places.take(4, vertices);
        to.numerators = places.take(8, vertices);
        to.tallies = places.take(size_of::<Tallies>() as u64, 1);
        let counts = places.bytes;
        to.triangles = places.take(8, if to.has_triangles { vertices } else { 0 });
        to.bytes = places.bytes;

        let mut plan =
            Plan { graph_host: graph.bytes(), graph_device: graph_bytes, ..Plan::default() }
                .with("coefficients", 8 * vertices)
                .with_device("each edge once", lists - graph_bytes)
                .with_device("degrees, places, coefficients", counts - lists);
        if to.has_triangles {
            plan = plan.with("triangles", 8 * vertices).with_device("triangles", to.bytes - counts);
        }
        to.plan = plan;
        to
    }

    /// Returns the addresses of all arrays, in memory that begins at `base`.
    pub fn state(&self, base: Address, graph: &Graph) -> State {
        let at = |range: &Range<u64>| base.plus(range.start);
        State {
            out: self.graph.out.lists(base),
            incoming: self.graph.incoming.lists(base),
            shards: at(&self.graph.shards),
            owners: at(&self.owners),
            listed: at(&self.listed),
            degrees: at(&self.degrees),
            bits: at(&self.degrees),
            both_bits: at(&self.degrees).plus(4 * words_of(self.most_hubs)),
            hubs: at(&self.hubs),
            // The numerators' memory is not in use while hubs are found.
            found: at(&self.numerators),
            numbers: at(&self.numerators).plus(4 * u64::from(graph.vertices())),
            begins: at(&self.begins),
            targets: at(&self.targets),
            reciprocal: at(&self.reciprocal),
            slices: at(&self.slices),
            numerators: at(&self.numerators),
            // Triangles have no memory if they are not requested.
            triangles: if self.has_triangles { at(&self.triangles) } else { Address(0) },
            tallies: at(&self.tallies),
            arcs: self.graph.out.arcs() + self.graph.incoming.arcs(),
            pieces: self.pieces,
            vertices: graph.vertices(),
            shard_count: graph.shards().len() as u32,
            hub_degree: u32::MAX,
            ..State::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hubs_have_the_highest_degrees_and_room() {
        let mut bins = [[0; 32]; 32];
        assert_eq!(hub_degree(&bins, 1000), (u32::MAX, 0));
        // 40 to 40: (40 - 32) << 0; 100 vertices of 4096 and more, 7 of 2^31 and more.
        (bins[5][8], bins[12][0], bins[31][0]) = (1000, 100, 7);
        assert_eq!(hub_degree(&bins, 6), (u32::MAX, 0));
        assert_eq!(hub_degree(&bins, 106), (1 << 31, 7));
        assert_eq!(hub_degree(&bins, 107), (4096, 107));
        assert_eq!(hub_degree(&bins, 5000), (40, 1107));
        assert_eq!(least_degree(31, 31), 63 << 26);
    }

    #[test]
    fn bits_fit_the_memory_of_degrees() {
        for vertices in [0, 1, 31, 32, 1000, 1 << 18, 1 << 22, HUBS_FROM] {
            for (directed, squares) in [(false, 1), (true, 2)] {
                let hubs = most_hubs(vertices, directed);
                assert!(squares * words_of(hubs) <= vertices, "{vertices}");
                assert!(hubs == 65536 || squares * words_of(hubs + 32) > vertices, "{vertices}");
            }
        }
        assert_eq!(most_hubs(HUBS_FROM + 1, false), 0);
        assert_eq!(most_hubs(1 << 22, false), 16352);
    }
}
