//! Memory layout of a run on a device.

use super::graphs::Graphs;
use super::schedule::{Machine, Schedule, WORD_BYTES, bytes_of_order};
use super::{Question, Tuning};
use bytemuck::{Pod, Zeroable};
use ripplet_analytics::Lengths;
use ripplet_analytics::closeness::Closeness;
use ripplet_gpu::text;
use ripplet_gpu::{Address, Arena};
use ripplet_graph::batch::FlatLists;
use ripplet_graph::{OutOfMemory, memory};
use ripplet_lp::Plan;
use std::ops::Range;

/// Sources of a group, and sources of a search if paths are counted or arcs have weights, as in
/// `state.cuh`.
pub const GROUP: u32 = 64;
const EIGHT: u32 = 8;
/// Values of split graphs that a block adds up, as in `state.cuh`.
pub const PIECE: u32 = 1024;
/// Bins of degrees, as in `lists.cuh`.
const BINS: u32 = 64;
/// Value of an item of a graph that is not split, as in `state.cuh`.
pub const NO_SPLIT: u32 = u32::MAX;

/// Lists of all graphs in one direction: `GraphLists` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct GraphLists {
    starts: Address,
    offsets: Address,
    ids: Address,
    weights: Address,
    first: u64,
}

/// Item of work: `Item` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Item {
    pub graph: u32,
    pub first: u32,
    pub end: u32,
    pub split: u32,
}

/// Units of a split graph: `Split` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Split {
    pub partials: u64,
    pub sums: u64,
    pub graph: u32,
    pub first: u32,
    pub end: u32,
    pub is_last: u32,
}

/// Values to add up: `Piece` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Piece {
    pub split: u32,
    pub first: u32,
}

/// Summary of a vertex's distances: `Reach` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Reach {
    pub far: u64,
    pub farthest: u64,
    pub reached: u32,
    pub padding: u32,
}

/// Summary of a graph's distances: `Summary` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Summary {
    pub pairs: u64,
    pub low: u64,
    pub high: u64,
    pub diameter: u64,
    pub radius_turned: u64,
}

/// The state of a run: `State` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    vertex_starts: Address,
    behind: GraphLists,
    ahead: GraphLists,
    items: Address,
    splits: Address,
    pieces: Address,
    taken: Address,
    values: Address,
    pair_starts: Address,
    groups: Address,
    partials: Address,
    sums: Address,
    reach: Address,
    summaries: Address,
    units: Address,
    scratch: Address,
    stride: u64,
    first_vertex: u64,
    measure: u32,
    is_normalized: u32,
    is_directed: u32,
    first_source: u32,
}

/// Argument of a kernel: `Work` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Work {
    pub state: State,
    pub first: u32,
    pub end: u32,
    pub bytes: u32,
    pub number: u32,
}

impl Item {
    pub fn new(graph: u32, units: Range<u32>, split: u32) -> Item {
        Item { graph, first: units.start, end: units.end, split }
    }
}

/// What to compute for each graph: `QUESTION` in `state.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Far = 0,
    Near = 1,
    Span = 2,
    Pairs = 3,
    PathCounts = 4,
    Edges = 5,
}

impl Asked {
    pub fn counts_paths(self) -> bool {
        matches!(self, Asked::PathCounts | Asked::Edges)
    }
}

/// Properties of a run that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub asked: Asked,
    /// Whether the backward pass reads other lists than the search.
    pub two_sided: bool,
    /// Whether arcs have weights.
    pub weighs: bool,
}

impl Kind {
    pub fn new(question: Question, is_directed: bool, is_weighted: bool) -> Kind {
        let (asked, lengths) = match question {
            Question::Closeness { measure: Closeness::Harmonic, lengths, .. } => {
                (Asked::Near, lengths)
            }
            Question::Closeness { lengths, .. } => (Asked::Far, lengths),
            Question::Reach { lengths } | Question::Summaries { lengths } => (Asked::Span, lengths),
            Question::Distances { lengths } => (Asked::Pairs, lengths),
            Question::Betweenness { lengths, .. } => (Asked::PathCounts, lengths),
            Question::EdgeBetweenness { lengths, .. } => (Asked::Edges, lengths),
        };
        let weighs = is_weighted && lengths == Lengths::Weights;
        Kind { asked, two_sided: is_directed && asked.counts_paths(), weighs }
    }

    /// Returns the properties of a run on these graphs.
    pub fn of(question: Question, graphs: Graphs<'_>) -> Kind {
        Kind::new(question, graphs.is_directed(), graphs.is_weighted())
    }

    pub fn name(self) -> &'static str {
        match self.asked {
            Asked::Far => "closeness",
            Asked::Near => "harmonic closeness",
            Asked::Span => "distances",
            Asked::Pairs => "distances of pairs",
            Asked::PathCounts => "betweenness",
            Asked::Edges => "betweenness of edges",
        }
    }

    /// Returns the lists of the neighbours behind each vertex, and those of the neighbours ahead if
    /// they differ.
    ///
    /// A search from a source follows arcs forwards: a vertex reads its incoming neighbours. For
    /// summaries, it follows arcs backwards, so that each vertex collects its own distances to
    /// others.
    pub fn sides<'a>(self, graphs: Graphs<'a>) -> (FlatLists<'a>, Option<FlatLists<'a>>) {
        match (self.asked, graphs.incoming) {
            (Asked::Span, _) | (_, None) => (graphs.out, None),
            (_, Some(incoming)) => (incoming, self.two_sided.then_some(graphs.out)),
        }
    }

    fn unit(self) -> u32 {
        if self.asked.counts_paths() || self.weighs { EIGHT } else { GROUP }
    }

    /// Returns the units of a graph to process.
    pub fn units(self, graphs: Graphs<'_>, graph: usize) -> Range<u32> {
        let all = graphs.vertices_of(graph).div_ceil(self.unit());
        let groups = graphs.groups(all.div_ceil(self.units_of_group()));
        let first = |group: u32| group.saturating_mul(self.units_of_group()).min(all);
        first(groups.start)..first(groups.end)
    }

    pub fn units_of_group(self) -> u32 {
        GROUP / self.unit()
    }

    /// Whether units have floating-point sums, which must be added in order.
    pub fn has_partials(self) -> bool {
        matches!(self.asked, Asked::Near | Asked::PathCounts | Asked::Edges)
    }

    /// Returns the number of values of a graph, of which a unit has partial sums: vertices, or
    /// arcs.
    pub fn width(self, graphs: Graphs<'_>, graph: usize) -> u64 {
        match self.asked {
            Asked::Edges => graphs.out.arc_starts[graph + 1] - graphs.out.arc_starts[graph],
            _ => u64::from(graphs.vertices_of(graph)),
        }
    }

    /// Returns the number of values of all graphs: vertices, arcs, or pairs.
    pub fn values(self, graphs: Graphs<'_>) -> u64 {
        match self.asked {
            Asked::Span => 0,
            Asked::Edges => graphs.out.neighbors.len() as u64,
            Asked::Pairs => {
                let pairs = |graph| pairs_of(graphs, graph);
                (0..graphs.len()).map(pairs).fold(0, u64::saturating_add)
            }
            _ => graphs.vertices(),
        }
    }

    /// Returns the bytes of a search's state of a graph with `vertices` vertices. `wide` is set if
    /// it may be larger than shared memory.
    pub fn bytes_of_state(self, vertices: u32, wide: bool) -> u64 {
        let (sum, step) = if wide { (8, 4) } else { (4, 2) };
        let sum = if self.weighs { 8 } else { sum };
        let eight = u64::from(EIGHT);
        let search = match (self.asked.counts_paths(), self.weighs) {
            (false, false) => 3 * 8,
            (false, true) => eight * (8 + 8) + 2,
            (true, weighs) => eight * (8 + 8 + step + if weighs { 8 } else { 0 }) + 2,
        };
        let found = match self.asked {
            Asked::Far => sum + 4,
            Asked::Span => sum + sum + 4,
            Asked::Near | Asked::PathCounts => 8,
            Asked::Pairs | Asked::Edges => 0,
        };
        (search + found) * u64::from(vertices)
    }

    /// Returns the bytes of a graph's lists, if they are in shared memory as well.
    pub fn bytes_of_lists(self, vertices: u32, arcs: u64) -> u64 {
        let sides = if self.two_sided { 2 } else { 1 };
        let of_arc = if self.weighs { 2 + 4 } else { 2 };
        (sides * 4 * (u64::from(vertices) + 1)).saturating_add(arcs.saturating_mul(of_arc))
    }

    /// Returns the bytes of the order of a graph's vertices, which blocks have as well.
    pub fn bytes_of_order(self, vertices: u32) -> u64 {
        let sides = if self.two_sided { 2 } else { 1 };
        u64::from(2 * 4 * BINS) + sides * 2 * u64::from(vertices)
    }
}

/// Returns the number of distances of a graph to compute.
fn pairs_of(graphs: Graphs<'_>, graph: usize) -> u64 {
    let vertices = graphs.vertices_of(graph);
    let groups = graphs.groups(vertices.div_ceil(GROUP));
    let first = |group: u32| u64::from(group.saturating_mul(GROUP).min(vertices));
    (first(groups.end) - first(groups.start)) * u64::from(vertices)
}

/// Returns the begin of each graph's distances.
fn pair_starts(graphs: Graphs<'_>) -> Result<Vec<u64>, OutOfMemory> {
    let mut end = 0_u64;
    memory::collected((0..graphs.len()).map(|graph| {
        let start = end;
        end = end.saturating_add(pairs_of(graphs, graph));
        start
    }))
}

/// Returns text that does not compile if a struct of the kernels has another size than here.
pub fn checks() -> String {
    let sizes = [
        ("GraphLists", size_of::<GraphLists>()),
        ("Item", size_of::<Item>()),
        ("Split", size_of::<Split>()),
        ("Piece", size_of::<Piece>()),
        ("Reach", size_of::<Reach>()),
        ("Summary", size_of::<Summary>()),
        ("State", size_of::<State>()),
        ("Work", size_of::<Work>()),
    ];
    let constants = [
        ("GROUP", GROUP),
        ("EIGHT", EIGHT),
        ("PIECE", PIECE),
        ("BINS", BINS),
        ("WORD_BYTES", WORD_BYTES),
    ];
    text::sizes_are(sizes) + &text::constants_are(constants)
}

/// Byte ranges of the lists of all graphs in one direction.
#[derive(Clone, Debug, Default)]
struct ListPlaces {
    starts: Range<u64>,
    offsets: Range<u64>,
    ids: Range<u64>,
    /// Empty if arcs have no weights.
    weights: Range<u64>,
}

impl ListPlaces {
    fn new(to: &mut Arena, lists: FlatLists<'_>, weighs: bool) -> ListPlaces {
        ListPlaces {
            starts: to.take(8, lists.arc_starts.len() as u64),
            offsets: to.take(4, lists.offsets.len() as u64),
            ids: to.take(4, lists.neighbors.len() as u64),
            weights: to.take(4, weights(lists, weighs).len() as u64),
        }
    }

    fn lists(&self, base: Address, lists: FlatLists<'_>) -> GraphLists {
        let at = |place: &Range<u64>| base.plus(place.start);
        GraphLists {
            starts: at(&self.starts),
            offsets: at(&self.offsets),
            ids: at(&self.ids),
            weights: at(&self.weights),
            first: lists.arc_starts[0],
        }
    }
}

/// Returns the weights, or nothing if they are not used.
fn weights(lists: FlatLists<'_>, weighs: bool) -> &[u32] {
    lists.weights.filter(|_| weighs).unwrap_or_default()
}

/// Byte ranges of all arrays, as ranges of bytes in one allocation.
#[derive(Debug, Default)]
pub struct Layout {
    vertex_starts: Range<u64>,
    behind: ListPlaces,
    ahead: ListPlaces,
    items: Range<u64>,
    splits: Range<u64>,
    pieces: Range<u64>,
    pub taken: Range<u64>,
    pub values: Range<u64>,
    pair_starts: (Range<u64>, Vec<u64>),
    /// Real length of a stored weight of 1, by graph, if arcs have weights.
    units: (Range<u64>, Vec<f64>),
    groups: Range<u64>,
    partials: Range<u64>,
    /// Sums of split graphs; zero at the beginning.
    pub sums: Range<u64>,
    /// Summaries by vertex, and by graph; zero at the beginning.
    pub reach: Range<u64>,
    pub summaries: Range<u64>,
    scratch: Range<u64>,
    /// Bytes of the allocation.
    pub bytes: u64,
    pub plan: Plan,
    pub schedule: Schedule,
}

impl Layout {
    pub fn new(
        graphs: Graphs<'_>,
        question: Question,
        machine: Machine,
        tuning: Tuning,
    ) -> Result<Layout, OutOfMemory> {
        let kind = Kind::of(question, graphs);
        let schedule = Schedule::new(graphs, kind, machine, tuning)?;
        let mut to = Layout::default();
        let mut places = Arena::default();
        let (behind, ahead) = kind.sides(graphs);
        to.vertex_starts = places.take(8, graphs.vertex_starts.len() as u64);
        let mut places_of = |lists| ListPlaces::new(&mut places, lists, kind.weighs);
        (to.behind, to.ahead) = (places_of(behind), ahead.map(places_of).unwrap_or_default());
        if kind.weighs {
            let units = memory::collected(graphs.units())?;
            to.units = (places.take(8, units.len() as u64), units);
        }
        let lists = places.bytes;
        to.items = places.take(size_of::<Item>() as u64, schedule.items.len() as u64);
        to.splits = places.take(size_of::<Split>() as u64, schedule.splits.len() as u64);
        to.pieces = places.take(size_of::<Piece>() as u64, schedule.pieces.len() as u64);
        to.taken = places.take(4, schedule.tiers.len() as u64);
        if kind.asked == Asked::Pairs {
            let starts = pair_starts(graphs)?;
            to.pair_starts = (places.take(8, starts.len() as u64), starts);
        }
        let work = places.bytes;
        let (vertices, count) = (graphs.vertices(), graphs.len() as u64);
        match question {
            Question::Reach { .. } => to.reach = places.take(size_of::<Reach>() as u64, vertices),
            Question::Summaries { .. } => {
                to.summaries = places.take(size_of::<Summary>() as u64, count);
            }
            _ => to.values = places.take(8, kind.values(graphs)),
        }
        let results = places.bytes;
        let of_arcs = if kind.asked == Asked::Edges { kind.values(graphs) } else { 0 };
        to.groups = places.take(8, of_arcs);
        to.partials = places.take(8, schedule.partials);
        let sums = if kind.has_partials() { 0 } else { schedule.sums };
        to.sums = places.take(size_of::<Reach>() as u64, sums);
        let parts = places.bytes;
        let scratch = u64::from(schedule.memory_blocks).saturating_mul(schedule.stride);
        to.scratch = places.take(1, scratch);
        to.bytes = places.bytes;
        to.plan = Plan { graph_device: lists, ..Plan::default() }
            .with("values", results - work)
            .with("the order of the work", work - lists + bytes_of_order(graphs))
            .with_device("the order of the work", work - lists)
            .with_device("values", results - work)
            .with_device("sums of sources", parts - results)
            .with_device("searches in graphs too large for shared memory", to.bytes - parts);
        to.schedule = schedule;
        Ok(to)
    }

    /// Returns the places and bytes to copy before a run.
    pub fn uploads<'a>(
        &'a self,
        graphs: Graphs<'a>,
        kind: Kind,
    ) -> impl Iterator<Item = (&'a Range<u64>, &'a [u8])> {
        let (behind, ahead) = kind.sides(graphs);
        let of = |places: &'a ListPlaces, lists: FlatLists<'a>| {
            [
                (&places.starts, bytemuck::cast_slice(lists.arc_starts)),
                (&places.offsets, bytemuck::cast_slice(lists.offsets)),
                (&places.ids, bytemuck::cast_slice(lists.neighbors)),
                (&places.weights, bytemuck::cast_slice(weights(lists, kind.weighs))),
            ]
        };
        let work = [
            (&self.vertex_starts, bytemuck::cast_slice(graphs.vertex_starts)),
            (&self.items, bytemuck::cast_slice(&self.schedule.items)),
            (&self.splits, bytemuck::cast_slice(&self.schedule.splits)),
            (&self.pieces, bytemuck::cast_slice(&self.schedule.pieces)),
            (&self.pair_starts.0, bytemuck::cast_slice(&self.pair_starts.1)),
            (&self.units.0, bytemuck::cast_slice(&self.units.1)),
        ];
        let ahead = ahead.map(|lists| of(&self.ahead, lists));
        work.into_iter().chain(of(&self.behind, behind)).chain(ahead.into_iter().flatten())
    }

    /// Returns the addresses of all arrays, in memory that begins at `base`.
    pub fn state(&self, base: Address, graphs: Graphs<'_>, question: Question) -> State {
        let kind = Kind::of(question, graphs);
        let (behind, ahead) = kind.sides(graphs);
        let at = |range: &Range<u64>| base.plus(range.start);
        let (measure, is_normalized) = match question {
            Question::Closeness { measure, normalized, .. } => {
                (u32::from(measure == Closeness::WassermanFaust), normalized)
            }
            Question::Betweenness { normalized, .. } => (0, normalized),
            _ => (0, false),
        };
        // Results that are not requested have no memory.
        let asked = |range: &Range<u64>| if range.is_empty() { Address(0) } else { at(range) };
        State {
            vertex_starts: at(&self.vertex_starts),
            behind: self.behind.lists(base, behind),
            ahead: ahead.map_or(GraphLists::default(), |lists| self.ahead.lists(base, lists)),
            items: at(&self.items),
            splits: at(&self.splits),
            pieces: at(&self.pieces),
            taken: at(&self.taken),
            values: at(&self.values),
            pair_starts: at(&self.pair_starts.0),
            groups: at(&self.groups),
            partials: at(&self.partials),
            sums: at(&self.sums),
            reach: asked(&self.reach),
            summaries: asked(&self.summaries),
            units: at(&self.units.0),
            scratch: at(&self.scratch),
            stride: self.schedule.stride,
            first_vertex: graphs.vertex_starts[0],
            measure,
            is_normalized: u32::from(is_normalized),
            is_directed: u32::from(graphs.is_directed()),
            first_source: graphs.groups(u32::MAX).start.saturating_mul(GROUP),
        }
    }
}
