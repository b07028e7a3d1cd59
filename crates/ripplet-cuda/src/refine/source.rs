//! Source text of the kernels.

use super::state::{Kind, checks};
use ripplet_gpu::{Source, text};
use ripplet_hooks::cpp;

/// Files before the configuration.
const BEFORE: [(&str, &str); 3] = [
    ("scalar.cuh", cpp::SCALAR),
    ("platform.cuh", ripplet_gpu::PLATFORM),
    ("hash.cuh", include_str!("../../kernels/lp/hash.cuh")),
];

/// Files after the configuration.
const BEHIND: [(&str, &str); 9] = [
    ("state.cuh", include_str!("../../kernels/refine/state.cuh")),
    ("gain.cuh", include_str!("../../kernels/refine/gain.cuh")),
    ("table.cuh", include_str!("../../kernels/refine/table.cuh")),
    ("order.cuh", include_str!("../../kernels/refine/order.cuh")),
    ("choose.cuh", include_str!("../../kernels/refine/choose.cuh")),
    ("commit.cuh", include_str!("../../kernels/refine/commit.cuh")),
    ("contract.cuh", include_str!("../../kernels/refine/contract.cuh")),
    ("levels.cuh", include_str!("../../kernels/refine/levels.cuh")),
    ("kernels.cuh", include_str!("../../kernels/refine/kernels.cuh")),
];

/// The kernels of refinement beside these, and of a limit of sizes.
const REFINEMENT: (&str, &str) =
    ("refinement.cuh", include_str!("../../kernels/refine/refinement.cuh"));
const LIMITED: (&str, &str) =
    ("size_limit.cuh", include_str!("../../kernels/refine/size_limit.cuh"));

/// The kernels of merging beside these.
const MERGING: (&str, &str) = ("merge.cuh", include_str!("../../kernels/refine/merge.cuh"));

/// Returns the source of the kernels of refinement, for a kind of run.
pub fn source(kind: Kind) -> Source {
    let of_limits = kind.is_limited.then_some(LIMITED);
    source_with("refine", kind, [REFINEMENT].into_iter().chain(of_limits))
}

/// Returns the source of the kernels of merging.
pub fn merging_source() -> Source {
    source_with("merge", Kind::MERGING, [MERGING])
}

fn source_with<'a>(
    name: &str,
    kind: Kind,
    last: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Source {
    let (configuration, checks) = (configuration(kind), checks(kind));
    let before = BEFORE.into_iter().chain([("configuration", &*configuration)]);
    let last: Vec<(&str, &str)> = last.into_iter().collect();
    let parts = before.chain(BEHIND).chain(last).chain([("checks", &*checks)]);
    Source { name: name.to_owned(), text: text::joined(parts) }
}

/// Returns the configuration constants that `state.cuh` describes.
fn configuration(kind: Kind) -> String {
    let Kind { has_imbalances, is_limited } = kind;
    format!(
        "namespace ripplet {{\n\
         constexpr bool DIRECTED = {has_imbalances}, LIMITED = {is_limited};\n\
         }}  // namespace ripplet\n"
    )
}
