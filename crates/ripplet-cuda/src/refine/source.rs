//! Source text of the kernels.

use super::state::checks;
use ripplet_gpu::{Source, text};
use ripplet_hooks::cpp;

const FILES: [(&str, &str); 11] = [
    ("scalar.cuh", cpp::SCALAR),
    ("platform.cuh", ripplet_gpu::PLATFORM),
    ("hash.cuh", include_str!("../../kernels/lp/hash.cuh")),
    ("state.cuh", include_str!("../../kernels/refine/state.cuh")),
    ("gain.cuh", include_str!("../../kernels/refine/gain.cuh")),
    ("table.cuh", include_str!("../../kernels/refine/table.cuh")),
    ("order.cuh", include_str!("../../kernels/refine/order.cuh")),
    ("choose.cuh", include_str!("../../kernels/refine/choose.cuh")),
    ("commit.cuh", include_str!("../../kernels/refine/commit.cuh")),
    ("contract.cuh", include_str!("../../kernels/refine/contract.cuh")),
    ("levels.cuh", include_str!("../../kernels/refine/levels.cuh")),
];
const KERNELS: (&str, &str) = ("kernels.cuh", include_str!("../../kernels/refine/kernels.cuh"));

/// Returns the source of the kernels, which is the same for all graphs and scores.
pub fn source() -> Source {
    let checks = checks();
    let parts = FILES.into_iter().chain([KERNELS, ("sizes", &*checks)]);
    Source { name: "refine".to_owned(), text: text::joined(parts) }
}
