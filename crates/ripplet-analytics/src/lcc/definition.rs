//! Options of clustering coefficients: the definition, and the outputs.

use super::neighbors::Degrees;

/// The definition of the coefficient. On undirected graphs both agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Definition {
    /// LDBC Graphalytics': the number of arcs between neighbours of v over d (d − 1), where d is
    /// the number of neighbours in either direction; 0 if d < 2.
    #[default]
    Ldbc,
    /// Fagiolo's for unweighted directed graphs: ((A + Aᵀ)³)ᵥᵥ over 2 (t (t − 1) − 2 r), where t is
    /// the number of arcs in and out of v, and r the number of its neighbours in both directions; 0
    /// if v has fewer than 2 neighbours. networkx computes it for a `DiGraph`.
    Fagiolo,
}

/// The computation of local clustering coefficients: its definition and outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lcc {
    pub(super) definition: Definition,
    pub(super) triangles: bool,
}

impl Lcc {
    /// Creates a computation by this definition, without triangles per vertex.
    pub fn new(definition: Definition) -> Lcc {
        Lcc { definition, triangles: false }
    }

    /// Requests the number of triangles at each vertex, too.
    pub fn with_triangles(self) -> Lcc {
        Lcc { triangles: true, ..self }
    }

    /// Returns the definition of the coefficient.
    pub fn definition(&self) -> Definition {
        self.definition
    }

    /// Returns whether the number of triangles at each vertex is requested.
    pub fn has_triangles(&self) -> bool {
        self.triangles
    }
}

impl Definition {
    /// Returns a nonzero coefficient: its vertex has at least 2 neighbours.
    pub(super) fn quotient(self, numerator: u64, degrees: Degrees, directed: bool) -> f64 {
        let Degrees { neighbors, reciprocal } = degrees;
        let pairs = match self {
            Definition::Fagiolo if directed => {
                let total = u128::from(neighbors) + u128::from(reciprocal);
                total * (total - 1) - 2 * u128::from(reciprocal)
            }
            _ => u128::from(neighbors) * u128::from(neighbors - 1),
        };
        numerator as f64 / pairs as f64
    }
}
