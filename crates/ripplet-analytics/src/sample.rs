//! Random samples of vertices, from which shortest paths are searched instead of from all.

use crate::{AnalysisError, InvalidSetting, Plan};
use ripplet_graph::{VertexId, memory, splitmix};
use std::collections::BinaryHeap;

/// A random sample of vertices without repetition.
///
/// Which vertices it has follows from its two numbers and the number of all vertices alone. Those of a smaller sample are in
/// every larger one of an equal seed.
///
/// # Examples
/// ```
/// use ripplet_analytics::Sample;
///
/// let sample = Sample { vertices: 10, seed: 1 }.choose(1000)?.expect("not all of them");
/// assert!(sample.len() == 10 && sample.is_sorted());
/// assert_eq!(Sample { vertices: 10, seed: 1 }.choose(10)?, None);
/// # Ok::<(), ripplet_analytics::AnalysisError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The number of vertices, 2 or above. If the graph has no more, all of them are taken.
    pub vertices: u32,
    /// The seed of the choice.
    pub seed: u64,
}

impl Sample {
    /// Returns the sampled vertices among `0..vertices`, ascending; `None` if they are all.
    ///
    /// Memory: 20 bytes per sampled vertex. Cost: a hash of each vertex, and rarely a logarithmic step.
    ///
    /// # Errors
    /// If fewer than two are to be chosen, or memory is refused.
    pub fn choose(self, vertices: u32) -> Result<Option<Vec<VertexId>>, AnalysisError> {
        if self.vertices < 2 {
            let (name, value) = ("the number of sampled vertices", f64::from(self.vertices));
            return Err(InvalidSetting { name, value, expected: "2 or above" }.into());
        }
        if self.vertices >= vertices {
            return Ok(None);
        }
        // Those of least hash. Hashes of different vertices differ.
        let seed = splitmix::mix(self.seed);
        let hash = |vertex: VertexId| splitmix::mix(seed ^ u64::from(vertex));
        let mut least =
            BinaryHeap::from(memory::with_room::<(u64, VertexId)>(self.vertices as usize)?);
        least.extend((0..self.vertices).map(|vertex| (hash(vertex), vertex)));
        for vertex in self.vertices..vertices {
            let next = (hash(vertex), vertex);
            if let Some(mut most) = least.peek_mut()
                && next < *most
            {
                *most = next;
            }
        }
        let mut chosen = memory::with_room(self.vertices as usize)?;
        chosen.extend(least.into_iter().map(|(_, vertex)| vertex));
        chosen.sort_unstable();
        Ok(Some(chosen))
    }

    /// Returns the plan of a run from this sample of `vertices` vertices. `plan_from` returns that from a number of sources, or
    /// from all.
    pub(crate) fn plan(self, vertices: u32, plan_from: impl FnOnce(Option<u32>) -> Plan) -> Plan {
        if self.vertices >= vertices {
            return plan_from(None);
        }
        plan_from(Some(self.vertices)).with("sampled vertices", 20 * u64::from(self.vertices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_of_different_vertices_and_larger_ones_contain_them() {
        let of = |vertices, seed| Sample { vertices, seed }.choose(1000).unwrap().unwrap();
        let (small, large) = (of(10, 7), of(200, 7));
        assert!(large.is_sorted_by(|a, b| a < b) && large.iter().all(|&v| v < 1000));
        assert_eq!((small.len(), large.len()), (10, 200));
        assert!(small.iter().all(|v| large.contains(v)));
        assert_ne!(small, of(10, 8));
        assert_eq!(Sample { vertices: 1000, seed: 1 }.choose(1000).unwrap(), None);
        assert!(Sample { vertices: 1, seed: 1 }.choose(1000).is_err());
    }

    #[test]
    fn every_vertex_is_chosen_equally_often() {
        // 4000 samples of 5 of 20: each is expected 1000 times, with a standard deviation of 27.
        let mut times = [0u32; 20];
        for seed in 0..4000 {
            let chosen = Sample { vertices: 5, seed }.choose(20).unwrap().unwrap();
            chosen.iter().for_each(|&v| times[v as usize] += 1);
        }
        assert!(times.iter().all(|&times| times.abs_diff(1000) < 140), "{times:?}");
    }
}
