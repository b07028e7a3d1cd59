//! Communities of a window at several resolutions, and the known bad in each.
//!
//! Communities do not depend on the known bad, so that they are found once a window. Memory: 8 bytes per vertex
//! and resolution, and what label propagation needs meanwhile.

use super::folds::{FOLDS, Folds, Parts, View};
use crate::detect::{DetectError, kept_graph};
use crate::ties::Ties;
use ripplet_graph::{Graph, GraphView, OutOfMemory, VertexId, memory};
use ripplet_lp::programs::{Gamma, Llp, Lpa};
use ripplet_lp::{DynProgram, Executor, Label, RoundObserver, Settings};

/// Number of partitions.
pub const PARTITIONS: usize = 3;

/// Label of a vertex in no part of a partition.
pub const NO_PART: Label = Label::MAX;

/// Partition of a window's vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    labels: Vec<Label>,
    /// Number of vertices with each label.
    sizes: Vec<u32>,
}

/// Known bad of each community that has any, by label.
#[derive(Debug, Default)]
pub struct KnownIn(Vec<(Label, Parts)>);

/// Finds the communities at γ = 1/4 and 1/64, and those of the kept ties.
///
/// # Errors
/// If memory allocation fails, or the observer cancels.
pub fn partitions(
    executor: &dyn Executor,
    graph: &Graph,
    ties: &Ties,
    seed: u64,
    observer: &mut dyn RoundObserver,
) -> Result<[Partition; PARTITIONS], DetectError> {
    let mut found = |graph: GraphView<'_>, program: Box<dyn DynProgram>| {
        let settings = Settings { seed, ..Settings::default() };
        let outcome = executor.run_on(graph, &*program, &settings, observer)?;
        Ok::<_, DetectError>(Partition::of(outcome.labels)?)
    };
    let layered = |gamma: f64| -> Box<dyn DynProgram> {
        Llp::new(Gamma::new(gamma).unwrap_or(Gamma::ZERO)).into()
    };
    let fine = found(graph.into(), layered(1.0 / 4.0))?;
    let coarse = found(graph.into(), layered(1.0 / 64.0))?;
    let kept = kept_graph(ties, &memory::zeros(graph.vertices() as usize)?)?;
    let of_ties = found((&kept).into(), Lpa::default().into())?;
    Ok([fine, coarse, of_ties])
}

impl Partition {
    /// Creates a partition from the label of each vertex: a vertex number, or [`NO_PART`].
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(labels: Vec<Label>) -> Result<Partition, OutOfMemory> {
        let mut sizes = memory::zeros::<u32>(labels.len())?;
        for &label in &labels {
            if let Some(size) = sizes.get_mut(label as usize) {
                *size += 1;
            }
        }
        Ok(Partition { labels, sizes })
    }

    /// Whether a vertex is in a part.
    pub fn has(&self, vertex: VertexId) -> bool {
        self.labels.get(vertex as usize).is_some_and(|&label| label != NO_PART)
    }

    /// Counts the known bad in each community.
    pub fn known(&self, folds: &Folds) -> KnownIn {
        let with_label = |&(v, fold): &(VertexId, u8)| {
            let label = self.labels.get(v as usize).filter(|&&label| label != NO_PART)?;
            Some((*label, fold))
        };
        let mut all: Vec<(Label, u8)> = folds.known().iter().filter_map(with_label).collect();
        all.sort_unstable();
        let of_label = |same: &[(Label, u8)]| {
            let mut parts = [0.0; FOLDS];
            same.iter().for_each(|&(_, fold)| parts[usize::from(fold)] += 1.0);
            (same[0].0, parts)
        };
        KnownIn(all.chunk_by(|a, b| a.0 == b.0).map(of_label).collect())
    }

    /// Returns the number of other vertices in the community of `vertex`, and of the known bad of a view in it.
    #[inline]
    pub fn around(&self, vertex: VertexId, known: &KnownIn, view: View) -> (f32, f32) {
        let Some(&label) = self.labels.get(vertex as usize) else { return (0.0, 0.0) };
        let size = self.sizes.get(label as usize).copied().unwrap_or(1);
        let at = known.0.binary_search_by_key(&label, |&(label, _)| label).ok();
        let bad = at.map_or(0.0, |at| view.sum(&known.0[at].1));
        (size.saturating_sub(1) as f32, bad)
    }
}
