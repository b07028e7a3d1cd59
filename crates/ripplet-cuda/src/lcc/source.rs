//! Source text of the kernels: the run's configuration and the kernels.

use super::layout::{self, Kind, Rule};
use super::tuning::Tuning;
use ripplet_analytics::lcc::Lcc;
use ripplet_gpu::{Source, text};
use ripplet_graph::Graph;
use ripplet_hooks::cpp;

/// Files before the configuration.
const BEFORE: [(&str, &str); 3] = [
    ("scalar.cuh", cpp::SCALAR),
    ("platform.cuh", ripplet_gpu::PLATFORM),
    ("graph.cuh", include_str!("../../kernels/graph.cuh")),
];

/// Files after the configuration.
const BEHIND: [(&str, &str); 9] = [
    ("state.cuh", include_str!("../../kernels/lcc/state.cuh")),
    ("hubs.cuh", include_str!("../../kernels/lcc/hubs.cuh")),
    ("orient.cuh", include_str!("../../kernels/lcc/orient.cuh")),
    ("rule.cuh", include_str!("../../kernels/lcc/rule.cuh")),
    ("pairs.cuh", include_str!("../../kernels/lcc/pairs.cuh")),
    ("table.cuh", include_str!("../../kernels/lcc/table.cuh")),
    ("walk.cuh", include_str!("../../kernels/lcc/walk.cuh")),
    ("count.cuh", include_str!("../../kernels/lcc/count.cuh")),
    ("divide.cuh", include_str!("../../kernels/lcc/divide.cuh")),
];

const KERNELS: (&str, &str) = ("kernels.cuh", include_str!("../../kernels/lcc/kernels.cuh"));

/// Returns the source of the kernels for such a graph.
pub fn source(graph: &Graph, lcc: Lcc) -> Source {
    of_kind(Kind::new(graph, &lcc, Tuning::default()))
}

/// Returns the sources of the kernels of runs on graphs in one shard, of fewer than 2^32 edges, without triangles beside
/// the coefficients.
pub(crate) fn usual_sources() -> impl Iterator<Item = Source> {
    let rules = [(false, Rule::Plain), (true, Rule::Arcs), (true, Rule::Cycles)];
    rules.into_iter().map(|(directed, rule)| {
        let kind = Kind { directed, sharded: false, wide: false, rule, apart: false };
        of_kind(kind)
    })
}

/// Returns the source of the kernels for a kind of run.
pub(super) fn of_kind(kind: Kind) -> Source {
    let configuration = configuration(kind);
    let checks = layout::checks(kind);
    let parts = BEFORE
        .into_iter()
        .chain([("configuration", &*configuration)])
        .chain(BEHIND)
        .chain([KERNELS, ("sizes", &*checks)]);
    Source { name: "lcc".to_owned(), text: text::joined(parts) }
}

/// Returns the configuration constants that `state.cuh` describes.
fn configuration(kind: Kind) -> String {
    let Kind { directed, sharded, wide, rule, apart } = kind;
    format!(
        "namespace ripplet {{\n\
         constexpr bool DIRECTED = {directed}, SHARDED = {sharded}, WIDE = {wide}, APART = {apart};\n\
         constexpr u32 RULE = {};\n\
         }}  // namespace ripplet\n",
        rule as u32,
    )
}
