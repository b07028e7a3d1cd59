//! Places of all arrays of a refinement in a device's memory.
//!
//! ```text
//! | input | scratch of any level | arcs of contracted graphs | level 1 | level 2 | …           |
//!                                                            stack: grows by a contraction, and
//!                                                            shrinks on the way back
//! ```

use super::state::{Kind, NUMBERED};
use super::tuning::Tuning;
use ripplet_gpu::Arena;
use ripplet_graph::GraphView;
use ripplet_lp::Plan;
use ripplet_lp::refine::arcs_of;
use std::ops::Range;

/// Bytes of a level's arrays on the stack, per vertex of the level below and per vertex of the level.
const BELOW_BYTES: u64 = 4;
const LEVEL_BYTES: u64 = 8 + 4 + 8 + 4 + 8 + 1 + 4 + 4;
/// Bytes of imbalances on the stack, per vertex of the level: of vertices and of labels.
const IMBALANCE_BYTES: u64 = 8 + 8;
/// Bytes on the stack that say whether a vertex of the level is fixed.
const FIXED_BYTES: u64 = 1;
/// Bytes of sizes on the stack, per vertex of the level: of vertices and of labels.
const SIZE_BYTES: u64 = 4 + 4;
/// Room for the alignment of the stack's arrays. Levels that find no room are left to the host.
const STACK_PADDING: u64 = 1 << 17;

/// The alignment of each stack.
const ALIGNMENT: u64 = 256;

/// Byte ranges of the arrays in one allocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub begins: Range<u64>,
    pub degrees: Range<u64>,
    pub masses: Range<u64>,
    pub ids: Range<u64>,
    pub weights: Range<u64>,
    pub labels: Range<u64>,
    pub totals: Range<u64>,
    pub active: Range<u64>,
    /// The imbalances of vertices, labels and parts; without bytes under an undirected null model.
    pub imbalances: Range<u64>,
    pub label_imbalances: Range<u64>,
    pub part_imbalances: Range<u64>,
    /// The fixed vertices; without bytes if there are none.
    pub fixed: Range<u64>,
    /// The sizes of vertices and labels, the choices of a round, and the claims of a phase; without bytes if
    /// sizes are not limited.
    pub sizes: Range<u64>,
    pub label_sizes: Range<u64>,
    pub choices: Range<u64>,
    pub claims: Range<u64>,
    pub best: Range<u64>,
    pub part_labels: Range<u64>,
    pub part_totals: Range<u64>,
    pub order: Range<u64>,
    pub changes: Range<u64>,
    /// Changes with long lists in a round, members of parts in a contraction.
    pub members: Range<u64>,
    pub ends: Range<u64>,
    pub lengths: Range<u64>,
    pub names: Range<u64>,
    pub of_blocks: Range<u64>,
    pub counters: Range<u64>,
    pub region_keys: Range<u64>,
    pub region_sums: Range<u64>,
    pub coarse_ids: Range<u64>,
    pub coarse_weights: Range<u64>,
    pub stack: Range<u64>,
    /// Bytes of a level's arrays on the stack, per vertex of the level.
    level_bytes: u64,
    pub bytes: u64,
    pub plan: Plan,
}

/// The size of an input.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub vertices: u64,
    /// The sum of the lists' lengths.
    pub arcs: u64,
    /// The arcs of contracted graphs.
    pub room: u64,
    pub is_weighted: bool,
    pub has_fixed: bool,
    pub kind: Kind,
    /// The stacks of contracted graphs: one, or two if levels are not kept.
    pub stacks: u64,
}

impl Places {
    pub fn new(size: Size, counters: u64, tuning: Tuning) -> Places {
        let Size { vertices, arcs, room, is_weighted, has_fixed, kind, .. } = size;
        let Kind { has_imbalances, is_limited } = kind;
        let bytes_if = |exists: bool, bytes: u64| if exists { bytes } else { 0 };
        let (mut to, mut arena) = (Places::default(), Arena::default());
        to.begins = arena.take(8, vertices);
        to.degrees = arena.take(4, vertices);
        to.ids = arena.take(4, arcs);
        to.weights = arena.take(4, if is_weighted { arcs } else { 0 });
        let graph = arena.bytes;

        to.masses = arena.take(8, vertices);
        to.labels = arena.take(4, vertices);
        to.totals = arena.take(8, vertices);
        to.active = arena.take(1, vertices);
        let imbalance = bytes_if(has_imbalances, 8);
        to.imbalances = arena.take(imbalance, vertices);
        to.label_imbalances = arena.take(imbalance, vertices);
        to.part_imbalances = arena.take(imbalance, vertices);
        to.fixed = arena.take(bytes_if(has_fixed, 1), vertices);
        to.sizes = arena.take(bytes_if(is_limited, 4), vertices);
        to.label_sizes = arena.take(bytes_if(is_limited, 4), vertices);
        to.best = arena.take(4, vertices);
        to.part_labels = arena.take(4, vertices);
        to.part_totals = arena.take(8, vertices);
        let partitions = arena.bytes;

        to.order = arena.take(4, vertices);
        to.changes = arena.take(8, vertices);
        to.choices = arena.take(bytes_if(is_limited, 8), vertices);
        to.claims = arena.take(bytes_if(is_limited, 8), vertices);
        to.members = arena.take(4, vertices);
        to.ends = arena.take(4, vertices);
        to.lengths = arena.take(4, vertices);
        to.names = arena.take(4, vertices);
        to.of_blocks = arena.take(4, vertices.div_ceil(u64::from(NUMBERED)));
        to.counters = arena.take(counters, 1);
        let rounds = arena.bytes;

        // A table has room for twice the labels of one vertex.
        let slots = (2 * vertices).next_power_of_two().max(tuning.region_slots);
        to.region_sums = arena.take(8, slots);
        to.region_keys = arena.take(4, slots);
        let tables = arena.bytes;

        to.coarse_ids = arena.take(4, room);
        to.coarse_weights = arena.take(8, room);
        let lists = arena.bytes;

        let of_level = LEVEL_BYTES
            + bytes_if(has_imbalances, IMBALANCE_BYTES)
            + bytes_if(has_fixed, FIXED_BYTES)
            + bytes_if(is_limited, SIZE_BYTES);
        to.level_bytes = of_level;
        let most = (2 * BELOW_BYTES + of_level) * vertices + STACK_PADDING;
        let most = most.next_multiple_of(ALIGNMENT);
        to.stack = arena.take(1, size.stacks * most);
        to.bytes = arena.bytes;
        to.plan = Plan { graph_device: graph, ..Plan::default() }
            .with_device("labels, masses and totals", partitions - graph)
            .with_device("one round", rounds - partitions)
            .with_device("sums of large vertices", tables - rounds)
            .with_device("lists of contracted graphs", lists - tables)
            .with_device("contracted graphs", to.bytes - lists);
        to
    }

    /// Returns the bytes of the arrays of a contraction of a level to some parts, without their alignment.
    pub fn contraction_bytes(&self, vertices: u64, parts: u64) -> u64 {
        BELOW_BYTES * vertices + self.level_bytes * parts
    }

    /// Returns the slots of the tables of vertices with long lists, together.
    pub fn region_slots(&self) -> u64 {
        (self.region_keys.end - self.region_keys.start) / 4
    }
}

impl Size {
    /// Returns the size of a graph, with this room for the arcs of contracted graphs, whether vertices are
    /// fixed, and the kind of the run.
    pub fn of(graph: GraphView<'_>, room: u64, has_fixed: bool, kind: Kind) -> Size {
        let (vertices, arcs) = (u64::from(graph.vertices()), arcs_of(graph));
        let is_weighted = graph.is_weighted();
        Size { vertices, arcs, room, is_weighted, has_fixed, kind, stacks: 1 }
    }
}
