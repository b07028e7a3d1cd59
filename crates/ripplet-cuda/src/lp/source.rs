//! Source text of the kernels of a run: the run's configuration, the program's hooks, and the
//! kernels.

use super::{ranks, state, tuning};
use ripplet_gpu::Source;
use ripplet_gpu::text;
use ripplet_graph::{Direction, GraphView};
use ripplet_hooks::cpp;
use ripplet_lp::counters::{Rule, Scans, Start};
use ripplet_lp::{Activation, LabelTotal, ProgramInfo, RunError, Settings, Sketch, Ties};

/// Files before the program's hooks, in this order. The configuration stands before the last of
/// them.
const BEFORE: [(&str, &str); 7] = [
    ("scalar.cuh", cpp::SCALAR),
    ("platform.cuh", ripplet_gpu::PLATFORM),
    ("graph.cuh", include_str!("../../kernels/graph.cuh")),
    ("lists.cuh", include_str!("../../kernels/compressed/lists.cuh")),
    ("streamed.cuh", include_str!("../../kernels/streamed.cuh")),
    ("hash.cuh", include_str!("../../kernels/lp/hash.cuh")),
    ("state.cuh", include_str!("../../kernels/lp/state.cuh")),
];

/// Access to arcs, by kind of lists, and the last file before the hooks.
const PLAIN: (&str, &str) = ("plain.cuh", include_str!("../../kernels/lp/plain.cuh"));
const COMPRESSED: (&str, &str) =
    ("compressed.cuh", include_str!("../../kernels/lp/compressed.cuh"));
const ACCESS: (&str, &str) = ("access.cuh", include_str!("../../kernels/lp/access.cuh"));

/// Files after the hooks.
const BEHIND: [(&str, &str); 21] = [
    ("team.cuh", include_str!("../../kernels/lp/team.cuh")),
    ("best.cuh", include_str!("../../kernels/lp/best.cuh")),
    ("update.cuh", include_str!("../../kernels/lp/update.cuh")),
    ("carry.cuh", include_str!("../../kernels/lp/carry.cuh")),
    ("table.cuh", include_str!("../../kernels/lp/table.cuh")),
    ("by_warp.cuh", include_str!("../../kernels/lp/by_warp.cuh")),
    ("by_block.cuh", include_str!("../../kernels/lp/by_block.cuh")),
    ("large.cuh", include_str!("../../kernels/lp/large.cuh")),
    ("by_large_block.cuh", include_str!("../../kernels/lp/by_large_block.cuh")),
    ("by_grid.cuh", include_str!("../../kernels/lp/by_grid.cuh")),
    ("sketch.cuh", include_str!("../../kernels/lp/sketch.cuh")),
    ("sketched.cuh", include_str!("../../kernels/lp/sketched.cuh")),
    ("sketched_large.cuh", include_str!("../../kernels/lp/sketched_large.cuh")),
    ("by_thread.cuh", include_str!("../../kernels/lp/by_thread.cuh")),
    ("frontier.cuh", include_str!("../../kernels/lp/frontier.cuh")),
    ("fetch.cuh", include_str!("../../kernels/lp/fetch.cuh")),
    ("commit.cuh", include_str!("../../kernels/lp/commit.cuh")),
    ("activate.cuh", include_str!("../../kernels/lp/activate.cuh")),
    ("start.cuh", include_str!("../../kernels/lp/start.cuh")),
    ("ceilings.cuh", include_str!("../../kernels/lp/ceilings.cuh")),
    ("kernels.cuh", include_str!("../../kernels/lp/kernels.cuh")),
];

/// Kernels of the exchange between ranks.
const EXCHANGE: (&str, &str) = ("exchange.cuh", include_str!("../../kernels/lp/exchange.cuh"));

/// Set of kernels to compile. Only those of a run are compiled, as each takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// The kernels of a round.
    Work,
    /// The kernels of a round, and the bandwidth ceilings.
    Measured,
    /// The kernels of a round that several devices share.
    Ranked,
    /// The kernels of a round that processes share: a device has the degrees of all vertices beside the lists, which may be
    /// of its own vertices alone.
    OfProcesses,
}

impl Kernels {
    /// Returns whether several devices share a round.
    fn are_ranked(self) -> bool {
        matches!(self, Kernels::Ranked | Kernels::OfProcesses)
    }
}

/// Part of a graph on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resident {
    /// All of it.
    Whole,
    /// Some vertices' lists are in the host's memory.
    Partly,
}

/// What a run's kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The kernels beside those of a round.
    pub kernels: Kernels,
    /// Where the graph's lists are.
    pub resident: Resident,
    /// Whether the graph has vertices of more than 4096 arcs. Their kernels are a quarter of the text, and few graphs of
    /// some thousand vertices need them.
    pub has_large: bool,
}

/// The properties of a graph that its kernels are compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphKind {
    /// Whether arcs have a direction.
    pub is_directed: bool,
    /// Whether arcs have weights.
    pub is_weighted: bool,
    /// Whether the lists are in several shards.
    pub is_sharded: bool,
    /// Whether the lists are compressed.
    pub is_compressed: bool,
}

impl GraphKind {
    /// Returns the kind of a graph.
    #[must_use]
    pub fn of(graph: GraphView<'_>) -> GraphKind {
        GraphKind {
            is_directed: graph.direction() == Direction::Directed,
            is_weighted: graph.is_weighted(),
            is_sharded: graph.shards() > 1,
            is_compressed: matches!(graph, GraphView::Compressed(_)),
        }
    }
}

/// Returns the source of the kernels that run a program on such a graph with these settings.
///
/// # Errors
/// [`RunError::NoDeviceSource`] if the program's hooks have no device source.
pub fn source(
    graph: GraphView<'_>,
    program: &ProgramInfo,
    settings: &Settings,
    compiled: Compiled,
) -> Result<Source, RunError> {
    source_for(GraphKind::of(graph), program, settings, compiled)
}

/// Returns the source of the kernels that run a program on a graph of this kind with these settings.
///
/// # Errors
/// As for [`source`].
pub fn source_for(
    graph: GraphKind,
    program: &ProgramInfo,
    settings: &Settings,
    compiled: Compiled,
) -> Result<Source, RunError> {
    let Some(hooks) = &program.device_source else {
        return Err(RunError::NoDeviceSource { program: program.name.clone() });
    };
    let configuration = configuration(graph, program, settings, compiled);
    let low_shared = low_shared(graph, compiled.resident);
    let mut checks = state::checks(program.columns.len(), low_shared);
    let is_ranked = compiled.kernels.are_ranked();
    if is_ranked {
        checks += &ranks::checks();
    }
    let arcs = if graph.is_compressed { COMPRESSED } else { PLAIN };
    let (general, state) = BEFORE.split_at(BEFORE.len() - 1);
    let parts = general
        .iter()
        .copied()
        .chain([("configuration", &*configuration)])
        .chain(state.iter().copied())
        .chain([arcs, ACCESS, ("views.cuh", cpp::VIEWS), ("the program's hooks", &*hooks.text)])
        .chain(BEHIND)
        .chain(is_ranked.then_some(EXCHANGE))
        .chain([("sizes", &*checks)]);
    Ok(Source { name: program.name.clone(), text: text::joined(parts) })
}

/// Returns the bytes of shared memory of a block of the kernel `ripplet_choose_by_thread`.
pub(super) fn low_shared(graph: GraphKind, resident: Resident) -> u32 {
    match (resident, graph.is_compressed) {
        (Resident::Partly, _) => tuning::LOW_SHARED_STREAMED,
        (Resident::Whole, true) => tuning::LOW_SHARED_COMPRESSED,
        (Resident::Whole, false) => tuning::LOW_SHARED,
    }
}

/// Returns the configuration constants that `state.cuh` describes.
fn configuration(
    graph: GraphKind,
    program: &ProgramInfo,
    settings: &Settings,
    Compiled { kernels, resident, has_large }: Compiled,
) -> String {
    let columns = &program.columns;
    let is_streamed = resident == Resident::Partly;
    let sketch = settings.counter.sketch();
    let drafted: u64 =
        columns.iter().filter(|spec| spec.written).map(|spec| u64::from(spec.len)).sum();
    let is_mirrored = kernels.are_ranked() && ranks::is_mirrored(settings.schedule);
    let has_degrees =
        kernels.are_ranked() && (graph.is_compressed || kernels == Kernels::OfProcesses);
    let activation = match program.activation {
        Activation::Disagreement => 0,
        Activation::Change => 1,
        Activation::Always => 2,
    };
    let total = match program.label_total {
        LabelTotal::None => 0,
        LabelTotal::Members => 1,
        LabelTotal::Volume => 2,
    };
    format!(
        "#define RIPPLET_MEASURED {}\n\
         #define RIPPLET_STREAMED {}\n\
         #define RIPPLET_LARGE {}\n\
         namespace ripplet {{\n\
         constexpr bool DIRECTED = {}, WEIGHTED = {}, SHARDED = {}, COMPRESSED = {}, RANKED = {};\n\
         constexpr bool MIRRORED = {is_mirrored}, DEGREES = {has_degrees};\n\
         constexpr bool STREAMED = {is_streamed};\n\
         constexpr u32 COLUMNS = {}, DRAFT_LENGTH = {drafted}, ACTIVATION = {activation}, TOTAL = {total};\n\
         constexpr bool FALLS_WITH_TOTAL = {}, CARRIES = {};\n\
         constexpr bool SMALLEST_TIES = {}, IN_PLACE = {};\n\
         constexpr u32 SKETCH_SLOTS = {};\n\
         constexpr bool BY_MAJORITY = {}, RECOUNTS = {}, DRAWN_START = {};\n\
         }}  // namespace ripplet\n",
        u32::from(kernels == Kernels::Measured),
        u32::from(is_streamed),
        u32::from(has_large),
        graph.is_directed,
        graph.is_weighted,
        graph.is_sharded,
        graph.is_compressed,
        kernels.are_ranked(),
        columns.len(),
        program.falls_with_total && total != 0,
        program.carries,
        settings.schedule.ties == Ties::Smallest,
        settings.schedule.is_in_place(),
        sketch.map_or(0, Sketch::slots),
        sketch.is_some_and(|sketch| sketch.rule == Rule::BoyerMoore),
        sketch.is_some_and(|sketch| sketch.scans == Scans::Double),
        sketch.is_some_and(|sketch| sketch.start == Start::Drawn),
    )
}
