//! The choices of a refinement.

use crate::{Checkpoint, CheckpointError, Label, RunError};
use ripplet_graph::{Direction, OutOfMemory, Plan, VertexId, memory};
use std::num::NonZeroU32;
use thiserror::Error;

/// The least resolution.
pub const LEAST_RESOLUTION: f64 = 1e-9;
/// The largest resolution.
pub const LARGEST_RESOLUTION: f64 = 1e9;

/// The score that [`refine`](super::refine) increases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// Modularity: Newman and Girvan 2004, with a resolution after Reichardt and Bornholdt 2006; of a
    /// directed graph after Leicht and Newman 2008.
    Modularity(Resolution),
    /// The constant Potts model: the weight inside communities, minus γ for each pair of vertices in
    /// one community. Traag, Van Dooren and Nesterov 2011.
    ///
    /// γ is a density: inside a community, it is above γ, between communities below. In a weighted
    /// graph it is a weight for each pair. In a directed graph, pairs are ordered: γ is a density of arcs.
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

    /// Returns whether vertices have an imbalance beside their mass, on a graph of this direction: what
    /// their arcs out weigh more than those in.
    #[must_use]
    pub fn has_imbalances(self, direction: Direction) -> bool {
        matches!(self, Objective::Modularity(_)) && direction == Direction::Directed
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
    /// equation 20. The derivation holds for directed graphs as well: with as many Poisson arcs from i to
    /// j as ω · out(i) · in(j) / arcs, the likelihood has the same form, and so γ.
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
    /// Vertices that keep the community that they begin with, each at most once. Others may join or leave
    /// them. Two of them are in one community exactly if they were at the start; such a community may be
    /// disconnected.
    pub fixed: Vec<VertexId>,
    /// The most vertices of a community. The communities to begin with must not be larger.
    pub max_size: Option<NonZeroU32>,
    /// The state to resume from, of a run with the same
    /// [identity](crate::RunIdentity::of_refinement), which a [`Keeper`](crate::Keeper) saved.
    pub resume: Option<Checkpoint>,
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
        RefineOptions {
            objective,
            seed: 0,
            iterations,
            initial: None,
            fixed: Vec::new(),
            max_size: None,
            resume: None,
        }
    }

    /// Refuses values that have no meaning.
    pub(super) fn check(&self, vertices: u32) -> Result<(), RefineError> {
        self.objective.check()?;
        if let Some(labels) = &self.initial
            && labels.len() != vertices as usize
        {
            return Err(RefineError::Length { labels: labels.len(), vertices });
        }
        let mut is_fixed =
            memory::zeros::<u8>(if self.fixed.is_empty() { 0 } else { vertices as usize })?;
        for &vertex in &self.fixed {
            match is_fixed.get_mut(vertex as usize) {
                None => return Err(RefineError::FixedVertex { vertex, vertices }),
                Some(1) => return Err(RefineError::FixedTwice { vertex }),
                Some(is_fixed) => *is_fixed = 1,
            }
        }
        Ok(())
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
    /// The graph of a dendrogram is directed.
    #[error(
        "a dendrogram is of an undirected graph, and this one is directed; read it as undirected"
    )]
    DirectedDendrogram,
    /// A fixed vertex does not exist.
    #[error("the fixed vertex {vertex} does not exist: the graph has {vertices} vertices, from 0")]
    FixedVertex {
        /// The vertex.
        vertex: VertexId,
        /// The number of vertices.
        vertices: u32,
    },
    /// A vertex is listed twice among the fixed ones.
    #[error("vertex {vertex} is fixed twice: list it once")]
    FixedTwice {
        /// The vertex.
        vertex: VertexId,
    },
    /// A community to begin with is larger than communities may be.
    #[error(
        "a community to begin with has {size} vertices, and communities may have {most} at most"
    )]
    InitialSize {
        /// The size of the largest community to begin with.
        size: u32,
        /// The limit.
        most: u32,
    },
    /// The weights are too small or too large for an exact comparison with this resolution of CPM.
    #[error(
        "resolution {resolution} is {} units of weight as they are stored ({unit} each), and scores are exact from \
         2^-39 to 2^39 units; multiply all weights by a constant, so that they are nearer to the resolution",
        resolution / unit
    )]
    Scale {
        /// The resolution.
        resolution: f64,
        /// The weight of a stored unit.
        unit: f64,
    },
    /// The sums of weights are too large for exact scores.
    #[error(
        "the stored edge weights add up to {total}, and scores at this resolution do not fit 127 \
         bits; scale the weights down"
    )]
    Weights {
        /// The sum, from both ends of each edge.
        total: u128,
    },
    /// The run cannot resume from the checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
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
