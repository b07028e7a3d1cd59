//! Folds of the known bad, by a hash of the entity.

use crate::Entities;
use crate::entity_hash::entity_hash;
use ripplet_graph::{Graph, VertexId};

/// Number of folds.
pub const FOLDS: usize = 5;

/// A number for each fold: the part of a linear evidence that comes from the known bad of that fold.
pub type Parts = [f32; FOLDS];

/// Known bad entities with transactions, and their folds.
///
/// A fold follows from kind and id alone, so an entity keeps it in all windows, and whether another entity is
/// known does not change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds {
    /// Known bad vertices, ascending, each with its fold.
    known: Vec<(VertexId, u8)>,
    counts: [u32; FOLDS],
}

impl Folds {
    /// Assigns the known bad vertices that have edges in the graph; `bad` ascends.
    pub fn of(graph: &Graph, entities: &Entities, bad: &[VertexId]) -> Folds {
        let mut folds = Folds::default();
        for &v in bad.iter().filter(|&&v| v < graph.vertices() && graph.degree(v) > 0) {
            let hash = entity_hash(entities.kind_name_of(v), entities.id_of(v));
            // The remainder of the whole hash splits the arrays: these folds use its upper half.
            let fold = ((hash >> 32) % FOLDS as u64) as u8;
            folds.known.push((v, fold));
            folds.counts[usize::from(fold)] += 1;
        }
        folds
    }

    /// Returns the known bad vertices with edges, ascending, each with its fold.
    pub fn known(&self) -> &[(VertexId, u8)] {
        &self.known
    }

    /// Returns the fold of a vertex; `None` if it is not known to be bad, or has no edges.
    pub fn fold_of(&self, vertex: VertexId) -> Option<usize> {
        let at = self.known.binary_search_by_key(&vertex, |&(v, _)| v).ok()?;
        Some(usize::from(self.known[at].1))
    }

    /// Returns the number of known bad vertices of a view.
    pub fn count(&self, view: View) -> u32 {
        let used = self.counts.iter().enumerate().filter(|(fold, _)| view.uses(*fold));
        used.map(|(_, count)| count).sum()
    }

    /// Returns the number of known bad vertices in a fold.
    pub fn size(&self, fold: usize) -> u32 {
        self.counts[fold]
    }
}

/// The known bad that an evidence uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// All folds.
    All,
    /// All folds but one.
    Without(usize),
}

impl View {
    /// Whether the known bad of a fold are used.
    #[inline]
    pub fn uses(self, fold: usize) -> bool {
        self != View::Without(fold)
    }

    /// Returns the sum of the parts of the used folds.
    #[inline]
    pub fn sum(self, parts: &Parts) -> f32 {
        let used = parts.iter().enumerate().filter(|(fold, _)| self.uses(*fold));
        used.map(|(_, part)| part).sum()
    }
}
