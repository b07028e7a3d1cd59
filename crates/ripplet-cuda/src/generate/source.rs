//! The text that is compiled: the same for every market.

use super::layout;
use crate::device::Source;
use crate::text;
use ripplet_hooks::cpp;

const FILES: [(&str, &str); 8] = [
    ("scalar.cuh", cpp::SCALAR),
    ("platform.cuh", include_str!("../../kernels/platform.cuh")),
    ("state.cuh", include_str!("../../kernels/generate/state.cuh")),
    ("draw.cuh", include_str!("../../kernels/generate/draw.cuh")),
    ("sums.cuh", include_str!("../../kernels/generate/sums.cuh")),
    ("sort.cuh", include_str!("../../kernels/generate/sort.cuh")),
    ("keep.cuh", include_str!("../../kernels/generate/keep.cuh")),
    ("kernels.cuh", include_str!("../../kernels/generate/kernels.cuh")),
];

/// The kernels that draw shards of a market.
pub fn source() -> Source {
    let checks = layout::checks();
    let parts = FILES.into_iter().chain([("sizes", &*checks)]);
    Source { name: "generate".to_owned(), text: text::joined(parts) }
}
