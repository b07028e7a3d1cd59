//! Source text of the kernels for a question.

use super::abi;
use super::kind::Kind;
use ripplet_analytics::PathAnalysis;
use ripplet_gpu::{Source, text};
use ripplet_hooks::cpp;

/// Files before the configuration.
const BEFORE: [(&str, &str); 2] =
    [("scalar.cuh", cpp::SCALAR), ("platform.cuh", ripplet_gpu::PLATFORM)];

/// Files after the configuration.
const BEHIND: [(&str, &str); 10] = [
    ("state.cuh", include_str!("../../kernels/swarm/state.cuh")),
    ("team.cuh", include_str!("../../kernels/swarm/team.cuh")),
    ("lists.cuh", include_str!("../../kernels/swarm/lists.cuh")),
    ("value.cuh", include_str!("../../kernels/swarm/value.cuh")),
    ("sums.cuh", include_str!("../../kernels/swarm/sums.cuh")),
    ("tally.cuh", include_str!("../../kernels/swarm/tally.cuh")),
    ("distances.cuh", include_str!("../../kernels/swarm/distances.cuh")),
    ("lengths.cuh", include_str!("../../kernels/swarm/lengths.cuh")),
    ("path_counts.cuh", include_str!("../../kernels/swarm/path_counts.cuh")),
    ("kernels.cuh", include_str!("../../kernels/swarm/kernels.cuh")),
];

/// Returns the source of the kernels that answer a question about graphs, directed or not, with
/// weights or without.
pub fn source(question: PathAnalysis, directed: bool, weighted: bool) -> Source {
    of_kind(Kind::new(question, directed, weighted))
}

/// Returns the source of the kernels for a kind of run.
pub(super) fn of_kind(kind: Kind) -> Source {
    let configuration = configuration(kind);
    let checks = abi::checks();
    let parts = BEFORE
        .into_iter()
        .chain([("configuration", &*configuration)])
        .chain(BEHIND)
        .chain([("sizes", &*checks)]);
    Source {
        name: format!("swarm: {}{}", kind.name(), if kind.weighs { " by weights" } else { "" }),
        text: text::joined(parts),
    }
}

/// Returns the configuration constants that `state.cuh` describes.
fn configuration(kind: Kind) -> String {
    format!(
        "namespace ripplet {{\n\
         constexpr unsigned QUESTION = {};\n\
         constexpr bool TWO_SIDED = {};\n\
         constexpr bool WEIGHS = {};\n\
         }}  // namespace ripplet\n",
        kind.quantity as u32, kind.two_sided, kind.weighs,
    )
}
