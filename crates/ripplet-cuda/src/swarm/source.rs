//! The text that is compiled for a question.

use super::Question;
use super::layout::{self, Kind};
use crate::device::Source;
use crate::text;
use ripplet_hooks::cpp;

/// What comes before the configuration.
const BEFORE: [(&str, &str); 2] =
    [("scalar.cuh", cpp::SCALAR), ("platform.cuh", include_str!("../../kernels/platform.cuh"))];

/// What comes behind it.
const BEHIND: [(&str, &str); 8] = [
    ("state.cuh", include_str!("../../kernels/swarm/state.cuh")),
    ("team.cuh", include_str!("../../kernels/swarm/team.cuh")),
    ("lists.cuh", include_str!("../../kernels/swarm/lists.cuh")),
    ("value.cuh", include_str!("../../kernels/swarm/value.cuh")),
    ("distances.cuh", include_str!("../../kernels/swarm/distances.cuh")),
    ("ways.cuh", include_str!("../../kernels/swarm/ways.cuh")),
    ("add_up.cuh", include_str!("../../kernels/swarm/add_up.cuh")),
    ("kernels.cuh", include_str!("../../kernels/swarm/kernels.cuh")),
];

/// The kernels that answer a question about graphs whose edges have a direction, or have none.
pub fn source(question: Question, directed: bool) -> Source {
    of_kind(Kind::new(question, directed))
}

/// The kernels that answer a kind of question.
pub(super) fn of_kind(kind: Kind) -> Source {
    let configuration = configuration(kind);
    let checks = layout::checks();
    let parts = BEFORE
        .into_iter()
        .chain([("configuration", &*configuration)])
        .chain(BEHIND)
        .chain([("sizes", &*checks)]);
    Source { name: format!("swarm: {}", kind.name()), text: text::joined(parts) }
}

/// The constants that `state.cuh` names.
fn configuration(kind: Kind) -> String {
    format!(
        "namespace ripplet {{\n\
         constexpr unsigned QUESTION = {};\n\
         constexpr bool TWO_SIDED = {};\n\
         }}  // namespace ripplet\n",
        kind.asked as u32, kind.two_sided,
    )
}
