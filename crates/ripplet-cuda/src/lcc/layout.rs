//! What a run keeps on a device, and where.

use super::Tuning;
use crate::device::Address;
use crate::places::Places;
use crate::resident::{GraphPlaces, Lists, ShardStart};
use bytemuck::{Pod, Zeroable};
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_graph::{Direction, Graph};
use ripplet_lp::Plan;
use std::ops::Range;

/// Threads of a block, where a kernel says nothing else, as in `state.cuh`.
pub const BLOCK: u32 = 256;
/// Arcs that a block looks at, as there.
const PIECE: u64 = 2048;
/// Threads of blocks that count, slots of their tables, and vertices that a block of the middle class
/// looks for, as in `count.cuh`.
pub const MIDDLE_BLOCK: u32 = 128;
pub const LARGE_BLOCK: u32 = 512;
pub const FEW_SLOTS: u32 = 128;
pub const MIDDLE_SLOTS: u32 = 2048;
pub const PART_SLOTS: u32 = 8192;
pub const MIDDLE_VERTICES: u64 = 8;
/// The longest list that is not cut into slices, and what a slice has, as in `count.cuh`.
const MIDDLE: u64 = 512;

/// As `Slice` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Slice {
    vertex: u32,
    index: u32,
}

/// As `Tallies` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Tallies {
    pub edges: u64,
    pub triangles: u64,
    pub slices: u32,
    padding: u32,
}

/// As `State` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    pub out: Lists,
    pub incoming: Lists,
    pub shards: Address,
    pub owners: Address,
    pub listed: Address,
    pub degrees: Address,
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
}

/// As `Work` in `kernels.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Work {
    pub state: State,
    pub first: u64,
    pub counts: Address,
}

/// What a triangle adds to its corners, as in `state.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Plain = 0,
    Arcs = 1,
    Cycles = 2,
}

/// What kernels are compiled for.
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
    /// The kind of a run on a graph.
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

    /// Bytes of a slot of a table, and of a `Walk`.
    pub fn bytes_of_slot(self) -> u32 {
        if self.apart { 12 } else { 8 }
    }

    pub fn bytes_of_walk(self) -> u32 {
        if self.wide { 648 } else { 516 }
    }
}

/// No graph of these arcs has more edges: an undirected one has each twice.
fn most_edges(graph: &Graph) -> u64 {
    match graph.direction() {
        Direction::Undirected => graph.arcs() / 2,
        Direction::Directed => graph.arcs(),
    }
}

/// Text that does not compile where the kernels' structs are not of the sizes that they have here.
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
    let equal = |(name, bytes)| {
        format!(
            "static_assert(sizeof(ripplet::{name}) == {bytes}, \"{name} as the host has it\");\n"
        )
    };
    let constants = [
        ("BLOCK", u64::from(BLOCK)),
        ("PIECE", PIECE),
        ("MIDDLE", MIDDLE),
        ("SLICE", MIDDLE),
        ("MIDDLE_BLOCK", u64::from(MIDDLE_BLOCK)),
        ("LARGE_BLOCK", u64::from(LARGE_BLOCK)),
        ("MIDDLE_VERTICES", MIDDLE_VERTICES),
        ("FEW_SLOTS", u64::from(FEW_SLOTS)),
        ("MIDDLE_SLOTS", u64::from(MIDDLE_SLOTS)),
        ("PART_SLOTS", u64::from(PART_SLOTS)),
        ("SLOT_WORDS", u64::from(kind.bytes_of_slot() / 4)),
    ];
    let constants = constants.map(|(name, value)| {
        format!("static_assert(ripplet::{name} == {value}, \"{name} as the host has it\");\n")
    });
    sizes.map(equal).into_iter().chain(constants).collect()
}

/// Where everything is, as offsets into one block of memory.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub graph: GraphPlaces,
    pub owners: Range<u64>,
    pub listed: Range<u64>,
    pub degrees: Range<u64>,
    pub begins: Range<u64>,
    pub targets: Range<u64>,
    pub reciprocal: Range<u64>,
    pub slices: Range<u64>,
    pub numerators: Range<u64>,
    pub triangles: Range<u64>,
    pub tallies: Range<u64>,
    /// All bytes.
    pub bytes: u64,
    pub pieces: u64,
    pub has_triangles: bool,
    pub plan: Plan,
}

impl Layout {
    pub fn new(graph: &Graph, lcc: &Lcc, kind: Kind) -> Layout {
        let (vertices, edges) = (u64::from(graph.vertices()), most_edges(graph));
        let mut to = Layout { has_triangles: lcc.has_triangles(), ..Layout::default() };
        let mut places = Places::default();
        to.graph = GraphPlaces::new(&mut places, graph, false);
        let graph_bytes = places.bytes;

        to.pieces = (to.graph.out.arcs() + to.graph.incoming.arcs()).div_ceil(PIECE);
        to.targets = places.take(4, edges);
        to.reciprocal = places.take(4, if kind.directed { edges.div_ceil(32) } else { 0 });
        to.owners = places.take(4, to.pieces + 1);
        to.listed = places.take(8, to.pieces + 1);
        // Of a list that is cut, no slice but the last has fewer edges than the others.
        to.slices = places.take(size_of::<Slice>() as u64, 2 * edges / MIDDLE);
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

    /// The addresses where the memory begins at `base`.
    pub fn state(&self, base: Address, graph: &Graph) -> State {
        let at = |range: &Range<u64>| base.plus(range.start);
        State {
            out: self.graph.out.lists(base),
            incoming: self.graph.incoming.lists(base),
            shards: at(&self.graph.shards),
            owners: at(&self.owners),
            listed: at(&self.listed),
            degrees: at(&self.degrees),
            begins: at(&self.begins),
            targets: at(&self.targets),
            reciprocal: at(&self.reciprocal),
            slices: at(&self.slices),
            numerators: at(&self.numerators),
            // Where nobody asks for them there is no place.
            triangles: if self.has_triangles { at(&self.triangles) } else { Address(0) },
            tallies: at(&self.tallies),
            arcs: self.graph.out.arcs() + self.graph.incoming.arcs(),
            pieces: self.pieces,
            vertices: graph.vertices(),
            shard_count: graph.shards().len() as u32,
        }
    }
}
