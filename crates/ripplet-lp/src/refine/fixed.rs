//! Fixed vertices keep the community that they begin with.
//!
//! They are never scheduled, and others may join or leave them. A part with a fixed vertex is fixed on
//! the coarser level. Two fixed vertices are in one community exactly if they were at the start.

use crate::Label;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};

/// Joins the connected parts of a community that have fixed vertices again; returns how many parts fewer
/// there are.
///
/// `communities` are the labels before splitting, and `labels` those after it, named by the smallest
/// vertices.
pub(super) fn rejoin(
    fixed: &[VertexId],
    communities: &[Label],
    labels: &mut [Label],
) -> Result<u32, OutOfMemory> {
    let mut smallest = memory::filled(Label::MAX, labels.len())?;
    for &v in fixed {
        let name = &mut smallest[communities[v as usize] as usize];
        *name = labels[v as usize].min(*name);
    }
    let mut joined = memory::collected(0..labels.len() as Label)?;
    let mut fewer = 0;
    for &v in fixed {
        let (part, name) = (labels[v as usize], smallest[communities[v as usize] as usize]);
        fewer += u32::from(joined[part as usize] != name);
        joined[part as usize] = name;
    }
    labels.iter_mut().for_each(|label| *label = joined[*label as usize]);
    Ok(fewer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_with_fixed_vertices_join() {
        // Community 0 was split into parts 0, 2 and 4; community 6 into 6 and 7.
        let (communities, split) = ([0, 0, 0, 0, 0, 0, 6, 6], [0, 0, 2, 2, 4, 4, 6, 7]);
        for (fixed, fewer, expected) in [
            (&[][..], 0, split),
            (&[3, 7], 0, split),
            (&[5, 3], 1, [0, 0, 2, 2, 2, 2, 6, 7]),
            (&[5, 1, 4, 6, 7], 2, [0, 0, 2, 2, 0, 0, 6, 6]),
        ] {
            let mut labels = split;
            assert_eq!(rejoin(fixed, &communities, &mut labels), Ok(fewer));
            assert_eq!(labels, expected, "{fixed:?}");
        }
    }
}
