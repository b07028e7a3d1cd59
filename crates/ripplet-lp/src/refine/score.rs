//! The score of a partition, in integers.
//!
//! Modularity at resolution γ and the constant Potts model (CPM) have one form. With `inner(C)` the
//! weight inside community C, counted from both ends, and `mass(C)` the sum of its members' masses,
//!
//! ```text
//! score = Σ over communities C of   attraction · inner(C) − repulsion · mass(C)²
//!
//!                  mass of a vertex      attraction      repulsion      γ = num / den
//! modularity       weighted degree       den · M         num            M = Σ of all masses
//! CPM              1                     den             num
//! ```
//!
//! Modularity is score / (den · M²). The change by moving vertex v, alone, to community C is twice
//! `attraction · weight(v, C) − repulsion · mass(v) · mass(C)`: the gain.
//!
//! In a directed graph, modularity expects arcs in proportion to out(C) · in(C), the weights of the
//! arcs that leave and that enter the members. With the mass out + in and the imbalance out − in,
//!
//! ```text
//! 4 · out(C) · in(C) = mass(C)² − imbalance(C)²
//!
//! score = Σ over communities C of   attraction · inner(C) − repulsion · (mass(C)² − imbalance(C)²)
//! gain  = attraction · weight(v, C) − repulsion · (mass(v) · mass(C) − imbalance(v) · imbalance(C))
//! ```
//!
//! with the same factors. An undirected graph has the same communities as the directed one in which
//! each edge is an arc either way. CPM knows no chance, so that it has no imbalance; in a directed graph
//! there are twice as many pairs, and so its repulsion is 2 · num.
//!
//! References: Reichardt and Bornholdt, *Statistical mechanics of community detection*, 2006; Traag,
//! Van Dooren, Nesterov, *Narrow scope for resolution-limit-free community detection*, 2011; Leicht and
//! Newman, *Community structure in directed networks*, 2008.

use super::ratio::Ratio;
use std::ops::{Add, Mul, Sub};

/// The factors of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factors {
    /// The factor of the weight inside communities.
    pub attraction: u128,
    /// The factor of the squares of the communities' masses.
    pub repulsion: u128,
}

/// The mass of a vertex, or that of a community's members together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mass {
    pub sum: u64,
    /// What the arcs out weigh more than those in; 0 under an undirected null model.
    pub imbalance: i64,
}

impl Mass {
    /// Returns the mass of a community without a member.
    #[inline]
    pub fn without(self, member: Mass) -> Mass {
        let imbalance = self.imbalance - member.imbalance;
        Mass { sum: self.sum - member.sum, imbalance }
    }

    /// Returns the square of the sum, without that of the imbalance: 4 · out · in in a directed graph.
    #[inline]
    pub fn square(self) -> u128 {
        u128::from(self.sum).pow(2) - u128::from(self.imbalance.unsigned_abs()).pow(2)
    }
}

/// The weight that a score expects between two vertices, known at compile time for the loops over arcs.
pub(super) trait NullModel: Sync {
    /// Whether vertices have an imbalance.
    const IS_DIRECTED: bool;
}

/// Expects weight in proportion to the product of masses.
#[derive(Debug)]
pub(super) enum Undirected {}

/// Expects weight in proportion to out · in, of either direction.
#[derive(Debug)]
pub(super) enum Directed {}

impl NullModel for Undirected {
    const IS_DIRECTED: bool = false;
}

impl NullModel for Directed {
    const IS_DIRECTED: bool = true;
}

/// The type in which gains are computed: 64 bits where they fit, else 128.
pub(super) trait Gain:
    Copy + Ord + Send + Sync + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Zero: the gain of staying alone.
    const ZERO: Self;

    /// Converts a weight or a mass.
    fn of(value: u64) -> Self;

    /// Converts an imbalance.
    fn of_signed(value: i64) -> Self;

    /// Converts a factor.
    fn of_factor(value: u128) -> Self;
}

impl Gain for i64 {
    const ZERO: i64 = 0;

    #[inline]
    fn of(value: u64) -> i64 {
        value as i64
    }

    #[inline]
    fn of_signed(value: i64) -> i64 {
        value
    }

    fn of_factor(value: u128) -> i64 {
        value as i64
    }
}

impl Gain for i128 {
    const ZERO: i128 = 0;

    #[inline]
    fn of(value: u64) -> i128 {
        i128::from(value)
    }

    #[inline]
    fn of_signed(value: i64) -> i128 {
        i128::from(value)
    }

    fn of_factor(value: u128) -> i128 {
        value as i128
    }
}

/// The factors of a score in the type of its gains.
#[derive(Clone, Copy, Debug)]
pub(super) struct GainFactors<T> {
    attraction: T,
    repulsion: T,
}

/// The gains of one vertex.
#[derive(Clone, Copy, Debug)]
pub(super) struct GainsOf<T> {
    attraction: T,
    /// Repulsion times the vertex's mass.
    repulsion: T,
    /// Repulsion times the vertex's imbalance.
    imbalance: T,
}

impl<T: Gain> GainFactors<T> {
    /// Returns the gains of a vertex of this mass.
    #[inline]
    pub fn of_vertex(self, mass: Mass) -> GainsOf<T> {
        let repulsion = self.repulsion * T::of(mass.sum);
        let imbalance = self.repulsion * T::of_signed(mass.imbalance);
        GainsOf { attraction: self.attraction, repulsion, imbalance }
    }
}

impl<T: Gain> GainsOf<T> {
    /// Returns the gain of a community by the vertex's weight to it and the community's mass without
    /// the vertex.
    #[inline]
    pub fn gain(self, weight: u64, mass: Mass) -> T {
        let gain = self.attraction * T::of(weight) - self.repulsion * T::of(mass.sum);
        gain + self.imbalance * T::of_signed(mass.imbalance)
    }
}

impl Factors {
    /// Returns the factors of modularity on a graph with this sum of masses.
    pub(super) fn of_modularity(resolution: Ratio, total: u64) -> Factors {
        let attraction = u128::from(resolution.den) * u128::from(total);
        Factors { attraction, repulsion: u128::from(resolution.num) }
    }

    /// Returns the factors of the constant Potts model. `directions` is how many arcs a pair of
    /// vertices may have: 1, or 2 in a directed graph.
    pub(super) fn of_cpm(resolution: Ratio, directions: u64) -> Factors {
        let Ratio { num, den } = resolution;
        Factors { attraction: u128::from(den), repulsion: u128::from(num) * u128::from(directions) }
    }

    /// Returns whether all scores fit 127 bits, with these sums of all weights (from both ends) and
    /// of all masses.
    pub(super) fn fit(self, weight: u64, mass: u64) -> bool {
        let most = 1u128 << 125;
        let fits = |factor: u128, a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            product == 0 || factor <= most / product
        };
        fits(self.attraction, weight, 1) && fits(self.repulsion, mass, mass)
    }

    /// Returns whether gains fit 64 bits, with these largest weight and mass of a vertex, and sum of
    /// all masses.
    pub(super) fn gains_fit_64<M: NullModel>(self, weight: u64, mass: u64, total: u64) -> bool {
        // Imbalances, which masses bound, add a third product.
        let most = 1u128 << if M::IS_DIRECTED { 61 } else { 62 };
        let repulsion = u128::from(mass) * u128::from(total);
        self.attraction <= most
            && self.repulsion <= most
            && u128::from(weight) * self.attraction <= most
            && repulsion <= most
            && repulsion * self.repulsion <= most
    }

    /// Returns the factors in the type of the gains.
    pub(super) fn in_type<T: Gain>(self) -> GainFactors<T> {
        let (attraction, repulsion) = (T::of_factor(self.attraction), T::of_factor(self.repulsion));
        GainFactors { attraction, repulsion }
    }

    /// Returns the score of a partition.
    pub(super) fn score(self, sums: Sums) -> i128 {
        (self.attraction * u128::from(sums.inner)) as i128 - (self.repulsion * sums.squares) as i128
    }
}

/// Sums over the communities of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The weight inside communities, from both ends; a self-loop counts twice.
    pub inner: u64,
    /// The squares of the communities' masses, without those of their imbalances.
    pub squares: u128,
}
