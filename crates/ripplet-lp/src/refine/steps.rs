//! The steps of a refinement, which a device performs on the graph of each level.
//!
//! ```text
//! Run     iterations                    run.rs       on any device
//! Cycle   up and down the levels        cycle.rs     on any device
//! Steps   rounds, contraction, sums     host.rs      on the CPU's threads
//!                                       ripplet-cuda on a GPU
//! ```
//!
//! Steps on all devices return the same numbers, so that a run is the same bytes on all.

use super::score::{Directed, Factors, NullModel, Sums, Undirected};
use crate::hash::{mix, part_of};
use crate::{Label, RunError};
use ripplet_graph::{GraphView, Observer, VertexId};
use std::borrow::Cow;
use std::num::NonZeroU32;

/// The assignment of vertices to the phases of a round: vertex `v` is in phase
/// `mix(v ^ key) · phases >> 32`, with [`Clock`](crate::Clock)'s `mix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The hashed seed, step and stream.
    pub key: u32,
    /// The number of phases.
    pub phases: u32,
}

impl Draw {
    /// Returns the phase of a vertex.
    #[inline]
    pub fn phase(self, v: VertexId) -> u32 {
        part_of(mix(v ^ self.key), self.phases)
    }
}

/// Counts of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Vertices that were scheduled.
    pub visited: u64,
    /// Vertices that changed.
    pub changed: u64,
    /// Arcs read.
    pub scanned: u64,
}

impl Counts {
    /// Returns the sums.
    #[must_use]
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            visited: self.visited + other.visited,
            changed: self.changed + other.changed,
            scanned: self.scanned + other.scanned,
        }
    }
}

/// Figures of a level's graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// The number of vertices.
    pub vertices: u32,
    /// The sum of the lists' lengths.
    pub arcs: u64,
    /// A bound of the sum of a vertex's weights.
    pub largest_weight: u64,
    /// The largest mass of a vertex.
    pub largest_mass: u64,
    /// The sum of all masses.
    pub total_mass: u64,
}

/// What a round depends on beside the graph and the partition.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The factors of the score.
    pub factors: Factors,
    /// The figures of the graph.
    pub figures: Figures,
    /// The phases.
    pub draw: Draw,
}

impl Rule {
    /// Returns the key of ties: of labels of equal gain, that of the smallest
    /// `mix(label ^ mix(v ^ tie_key))` wins.
    #[must_use]
    pub fn tie_key(self) -> u32 {
        mix(self.draw.key)
    }

    /// Returns whether all gains fit 64 bits on a level with imbalances, or on one without; else they
    /// need 128.
    #[must_use]
    pub fn fits_64(self, has_imbalances: bool) -> bool {
        match has_imbalances {
            true => self.fits_64_under::<Directed>(),
            false => self.fits_64_under::<Undirected>(),
        }
    }

    /// Returns whether all gains under a null model fit 64 bits.
    pub(super) fn fits_64_under<M: NullModel>(self) -> bool {
        let Figures { largest_weight, largest_mass, total_mass, .. } = self.figures;
        self.factors.gains_fit_64::<M>(largest_weight, largest_mass, total_mass)
    }
}

/// A level's graph and its partition in the host's memory, moved from a device because the level is
/// small.
#[derive(Clone, Debug, Default)]
pub struct HostLevel {
    /// The mass of each vertex.
    pub masses: Vec<u64>,
    /// The imbalance of each vertex modulo 2⁶⁴; `None` under an undirected null model.
    pub imbalances: Option<Vec<u64>>,
    /// The begin of each vertex's list in the arrays of arcs.
    pub begins: Vec<u64>,
    /// The length of each vertex's list.
    pub degrees: Vec<u32>,
    /// The arcs' other ends.
    pub neighbors: Vec<VertexId>,
    /// The arcs' weights.
    pub weights: Vec<u64>,
    /// A bound of the sum of a vertex's weights.
    pub largest_weight: u64,
    /// The community of each vertex.
    pub labels: Vec<Label>,
    /// The vertices that stay in their community.
    pub fixed: Vec<VertexId>,
    /// The number of the input's vertices in each vertex, if sizes of communities are limited.
    pub sizes: Option<Vec<u32>>,
    /// The limit then.
    pub most_size: u32,
    /// The arcs that further contracted graphs may have together.
    pub room: u64,
}

/// The labels of a partition, and a bit for each vertex, whether it is active.
pub type Saved<'a> = (Cow<'a, [Label]>, Vec<u64>);

/// The steps of a refinement on one device.
///
/// A *community* and a *part* are named by a vertex of their level. What is not stated here is as in the
/// module's files on the steps: `moves.rs`, `subdivide.rs`, `contract.rs`.
///
/// # Errors
/// All functions return [`RunError::Cancelled`] if the observer cancels, [`RunError::OutOfMemory`] or
/// [`RunError::DeviceMemory`] if memory is refused, and [`RunError::Device`] if the device fails.
pub trait RefineSteps {
    /// The graph of a level: the input or a contracted graph.
    type Graph;
    /// A partition of a level's vertices, with the mass of each community and the active vertices.
    type Partition;
    /// A contracted graph, its partition, and how its vertices correspond to those below.
    type Contraction;

    /// Returns the figures of a graph.
    fn figures(&mut self, graph: &Self::Graph) -> Result<Figures, RunError>;

    /// Performs a round in which active vertices move to the community of the largest gain. With
    /// `keeps_active`, all vertices stay active.
    fn move_round(
        &mut self,
        graph: &Self::Graph,
        partition: &Self::Partition,
        rule: Rule,
        keeps_active: bool,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError>;

    /// Returns whether every vertex is a community of its own.
    fn is_singletons(&mut self, partition: &Self::Partition) -> Result<bool, RunError>;

    /// Subdivides the communities into connected parts, which are kept for
    /// [`RefineSteps::contract`].
    fn subdivide(
        &mut self,
        graph: &Self::Graph,
        communities: &Self::Partition,
        rule: Rule,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError>;

    /// Contracts the parts of the last subdivision, with the same communities of the contracted
    /// vertices, each named by its smallest vertex; all vertices are active. Returns `None` if there is no
    /// space for the arcs.
    fn contract(
        &mut self,
        graph: &Self::Graph,
        communities: &Self::Partition,
        observer: &dyn Observer,
    ) -> Result<Option<Self::Contraction>, RunError>;

    /// Returns the contracted graph and the partition of its vertices.
    fn contracted(contraction: &Self::Contraction) -> (&Self::Graph, &Self::Partition);

    /// Gives each vertex the community of its part, named by the community's smallest part's founder;
    /// activates the vertices whose part has another community than after the contraction, and their
    /// neighbours in other communities, where there are some. Returns the arcs read.
    fn lower(
        &mut self,
        graph: &Self::Graph,
        partition: &Self::Partition,
        contraction: Self::Contraction,
    ) -> Result<u64, RunError>;

    /// Returns the sums of a partition of the input, without the input's self-loops.
    fn sums(&mut self, graph: &Self::Graph, partition: &Self::Partition) -> Result<Sums, RunError>;

    /// Activates all vertices.
    fn activate_all(&mut self, partition: &Self::Partition) -> Result<(), RunError>;

    /// Copies the labels of a partition of the input to those of the best one, which are the initial
    /// ones at first; returns whether they are the same.
    fn keep(&mut self, partition: &Self::Partition) -> Result<bool, RunError>;

    /// Returns the labels of the best partition, and a bit for each vertex of the input, whether it is
    /// active; fixed vertices are not.
    fn state(&mut self, partition: &Self::Partition) -> Result<Saved<'_>, RunError>;

    /// Activates the vertices of the input that have a bit, and no others.
    fn activate(&mut self, partition: &Self::Partition, active: &[u64]) -> Result<(), RunError>;

    /// Returns the labels of the best partition.
    fn best(self) -> Result<Vec<Label>, RunError>;

    /// Returns a contracted graph in the host's memory if the device leaves it to the host.
    fn to_host(
        &mut self,
        _graph: &Self::Graph,
        _partition: &Self::Partition,
    ) -> Result<Option<HostLevel>, RunError> {
        Ok(None)
    }

    /// Takes the labels of a partition that [`RefineSteps::to_host`] left to the host.
    fn take_labels(
        &mut self,
        _graph: &Self::Graph,
        _partition: &Self::Partition,
        _labels: &[Label],
    ) -> Result<(), RunError> {
        Ok(())
    }
}

/// The input of a refinement on a device.
#[derive(Clone, Copy)]
pub struct DeviceInput<'a> {
    /// The graph. The arcs of a directed one are read from both ends: the list of a vertex is that of its
    /// arcs out, and that of its arcs in. Self-loops and arcs of weight 0 count as arcs read, and have
    /// no part in a gain.
    pub graph: GraphView<'a>,
    /// The mass of each vertex.
    pub masses: &'a [u64],
    /// The imbalance of each vertex modulo 2⁶⁴: what its arcs out weigh more than those in. `None` under
    /// an undirected null model.
    pub imbalances: Option<&'a [u64]>,
    /// A bound of the sum of a vertex's weights.
    pub largest_weight: u64,
    /// The communities to begin with, each named by one of its vertices.
    pub labels: &'a [Label],
    /// The vertices that stay in their community, which are never scheduled. A contracted vertex is fixed
    /// if one of its part is.
    pub fixed: &'a [VertexId],
    /// The most vertices of a community, which those to begin with do not exceed: see `sizes.rs`.
    pub max_size: Option<NonZeroU32>,
    /// The arcs that all contracted graphs may have together.
    pub room: u64,
}

/// A device that refines.
pub trait RefineDevice {
    /// Its steps.
    type Steps: RefineSteps;

    /// Moves the input to the device: returns the steps, the input's graph, and the partition to begin
    /// with; all vertices are active.
    ///
    /// # Errors
    /// See [`RefineSteps`]; also [`RunError::DeviceMemory`] if it does not fit.
    fn begin(&self, input: DeviceInput<'_>) -> Result<BegunOn<Self::Steps>, RunError>;
}

/// What [`RefineDevice::begin`] returns.
pub struct BegunOn<S: RefineSteps> {
    /// The steps.
    pub steps: S,
    /// The input's graph.
    pub graph: S::Graph,
    /// The partition to begin with.
    pub partition: S::Partition,
}
