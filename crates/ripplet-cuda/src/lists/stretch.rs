//! Stretches: lists of consecutive vertices, contiguous in the host's memory, which the copy engine
//! copies as they lie.

use super::kernel::Copied;
use super::stored::{Stored, StoredShard};
use ripplet_gpu::Device;
use ripplet_graph::{GraphView, VertexId};
use std::ops::Range;

/// Lists of one direction of a range of vertices, contiguous in the host's memory.
pub(crate) struct Stretch {
    /// The argument of the kernel that records where the lists are.
    pub copied: Copied,
    /// The pinned part of the host's memory, and its words to copy.
    pub mapped: usize,
    pub words: Range<usize>,
    /// The pinned part of the weights, whose words have the same indices.
    pub weights: Option<usize>,
}

/// Returns the copies that bring the lists of some vertices to `room` words of the staging area
/// from word `at` on, and the words of lists that do not fit.
pub(crate) fn stretches<D: Device>(
    (device, mapped): (&D, &D::Mapped<'_>),
    graph: GraphView<'_>,
    near_end: VertexId,
    vertices: Range<VertexId>,
    (at, room): (u64, u64),
) -> (Vec<Stretch>, u64) {
    let (mut all, mut left_out, mut used, mut number) = (Vec::new(), 0, 0, 0);
    for shard in StoredShard::all(graph) {
        for (side, stored) in (0..).zip(shard.lists) {
            let Some(stored) = stored else { continue };
            let own = number;
            number += stored.arrays();
            let [first, end] = [vertices.start, vertices.end].map(|v| shard.before(v));
            if first == end {
                continue;
            }
            let near = stored.words_before(shard.before(near_end));
            let [from, behind] = [first, end].map(|local| stored.words_before(local));
            // A decoder reads one word behind a list.
            let behind = (behind + u64::from(matches!(stored, Stored::Compressed(_))))
                .min(stored.words().len() as u64);
            // Keeps the alignment to 16 bytes.
            let place = used + (device.mapped(mapped, own).0 / 4 + from - near) % 4;
            if place + (behind - from) + 4 > room {
                left_out += (behind - from) * stored.arrays() as u64;
                continue;
            }
            used = (place + (behind - from)).next_multiple_of(4) + 4;
            let start = shard.vertices.start;
            all.push(Stretch {
                copied: Copied {
                    side,
                    first: start + first as u32,
                    end: start + end as u32,
                    at: (at + place) as u32,
                    word: device.mapped(mapped, own).0 / 4 + from - near,
                },
                mapped: own,
                words: (from - near) as usize..(behind - near) as usize,
                weights: stored.weights().map(|_| own + 1),
            });
        }
    }
    (all, left_out)
}
