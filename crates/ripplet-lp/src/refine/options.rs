//! The choices of a refinement.

use crate::{Label, RunError};
use ripplet_graph::{OutOfMemory, Plan};
use thiserror::Error;

/// The least resolution.
pub const LEAST_RESOLUTION: f64 = 1e-9;
/// The largest resolution.
pub const LARGEST_RESOLUTION: f64 = 1e9;

/// The score that [`refine`](super::refine) increases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// Modularity: Newman and Girvan 2004, with a resolution after Reichardt and Bornholdt 2006.
    Modularity(Resolution),
    /// The constant Potts model: the weight inside communities, minus γ for each pair of vertices in
    /// one community. Traag, Van Dooren and Nesterov 2011.
    ///
    /// γ is a density: inside a community, it is above γ, between communities below. In a weighted
    /// graph it is a weight for each pair.
    Cpm(f64),
}

impl Objective {
    /// Refuses a resolution out of range.
    pub(super) fn check(self) -> Result<(), RefineError> {
        let resolution = match self {
            Objective::Modularity(Resolution::Auto) => 1.0,
            Objective::Modularity(Resolution::Fixed(resolution)) => resolution,
            Objective::Cpm(resolution) => resolution,
        };
        match (LEAST_RESOLUTION..=LARGEST_RESOLUTION).contains(&resolution) {
            true => Ok(()),
            false => Err(RefineError::Resolution { resolution }),
        }
    }
}

/// The resolution γ of modularity: larger values favour smaller communities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// Estimated from the communities, anew after each iteration but the last.
    ///
    /// The first iteration is at γ = 1. With ωi and ωo the ratio of actual to expected weight
    /// inside and between communities, γ = (ωi − ωo) / (ln ωi − ln ωo). Newman, *Equivalence between
    /// modularity optimization and maximum likelihood methods for community detection*, 2016,
    /// equation 20.
    Auto,
    /// This one. 1 is usual, and merges small communities in large graphs.
    Fixed(f64),
}

/// The choices of a refinement.
#[derive(Clone, Debug, PartialEq)]
pub struct RefineOptions {
    /// The score to increase.
    pub objective: Objective,
    /// The seed of all draws.
    pub seed: u64,
    /// The most iterations, at least 1. An iteration that lowers the score is undone and is the
    /// last.
    pub iterations: u32,
    /// The communities to begin with, a label per vertex; [`NO_LABEL`](crate::NO_LABEL) is a
    /// community of one vertex. Each vertex alone if absent.
    pub initial: Option<Vec<Label>>,
}

/// The default of [`RefineOptions::iterations`] at a fixed resolution: further ones gain less than
/// 0.001 of modularity.
pub const DEFAULT_ITERATIONS: u32 = 2;
/// The default of [`RefineOptions::iterations`] at an estimated resolution: two for the estimate, and
/// one more.
pub const ESTIMATE_ITERATIONS: u32 = 3;

impl RefineOptions {
    /// Returns the default choices for an objective.
    pub fn new(objective: Objective) -> RefineOptions {
        let iterations = match objective {
            Objective::Modularity(Resolution::Auto) => ESTIMATE_ITERATIONS,
            _ => DEFAULT_ITERATIONS,
        };
        RefineOptions { objective, seed: 0, iterations, initial: None }
    }

    /// Refuses values that have no meaning.
    pub(super) fn check(&self, vertices: u32) -> Result<(), RefineError> {
        self.objective.check()?;
        match &self.initial {
            Some(labels) if labels.len() != vertices as usize => {
                Err(RefineError::Length { labels: labels.len(), vertices })
            }
            _ => Ok(()),
        }
    }
}

/// The reason why a refinement has no result.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RefineError {
    /// The resolution is out of range.
    #[error("resolution {resolution}: it must be a number from 1e-9 to 1e9")]
    Resolution {
        /// The resolution.
        resolution: f64,
    },
    /// The ends of a range of resolutions are not in order, or one is out of range.
    #[error(
        "resolutions from {from} to {to}: both must be numbers from 1e-9 to 1e9, the smaller first"
    )]
    Range {
        /// The first.
        from: f64,
        /// The last.
        to: f64,
    },
    /// The number of initial labels differs from the number of vertices.
    #[error("{labels} initial labels for {vertices} vertices: there must be one for each")]
    Length {
        /// The number of labels.
        labels: usize,
        /// The number of vertices.
        vertices: u32,
    },
    /// The graph is directed.
    #[error(
        "refinement reads an undirected graph, and this one is directed; read it as undirected, or \
         find communities without refinement"
    )]
    Directed,
    /// The sums of weights are too large for exact scores.
    #[error(
        "the stored edge weights add up to {total}, and scores at this resolution do not fit 127 \
         bits; scale the weights down"
    )]
    Weights {
        /// The sum, from both ends of each edge.
        total: u128,
    },
    /// The run failed or was cancelled.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl RefineError {
    /// Replaces the bytes of a refused array by those of a plan.
    pub(super) fn planned(self, plan: impl FnOnce() -> Plan) -> RefineError {
        match self {
            RefineError::Run(error) => error.planned(plan().algorithm_host()).into(),
            error => error,
        }
    }
}

impl From<OutOfMemory> for RefineError {
    fn from(error: OutOfMemory) -> RefineError {
        RefineError::Run(error.into())
    }
}
