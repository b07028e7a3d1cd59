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
//! References: Reichardt and Bornholdt, *Statistical mechanics of community detection*, 2006; Traag,
//! Van Dooren, Nesterov, *Narrow scope for resolution-limit-free community detection*, 2011.

use super::ratio::Ratio;
use std::ops::{Mul, Sub};

/// The factors of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factors {
    /// The factor of the weight inside communities.
    pub attraction: u128,
    /// The factor of the squares of the communities' masses.
    pub repulsion: u128,
}

/// The type in which gains are computed: 64 bits where they fit, else 128.
pub(super) trait Gain:
    Copy + Ord + Send + Sync + Sub<Output = Self> + Mul<Output = Self>
{
    /// Zero: the gain of staying alone.
    const ZERO: Self;

    /// Converts a weight or a mass.
    fn of(value: u64) -> Self;

    /// Converts a factor.
    fn of_factor(value: u128) -> Self;
}

impl Gain for i64 {
    const ZERO: i64 = 0;

    #[inline]
    fn of(value: u64) -> i64 {
        value as i64
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
}

impl<T: Gain> GainFactors<T> {
    /// Returns the gains of a vertex of this mass.
    #[inline]
    pub fn of_vertex(self, mass: u64) -> GainsOf<T> {
        GainsOf { attraction: self.attraction, repulsion: self.repulsion * T::of(mass) }
    }
}

impl<T: Gain> GainsOf<T> {
    /// Returns the gain of a community by the vertex's weight to it and the community's mass without
    /// the vertex.
    #[inline]
    pub fn gain(self, weight: u64, mass: u64) -> T {
        self.attraction * T::of(weight) - self.repulsion * T::of(mass)
    }
}

impl Factors {
    /// Returns the factors of modularity on a graph with this sum of masses.
    pub(super) fn of_modularity(resolution: Ratio, total: u64) -> Factors {
        let attraction = u128::from(resolution.den) * u128::from(total);
        Factors { attraction, repulsion: u128::from(resolution.num) }
    }

    /// Returns the factors of the constant Potts model.
    pub(super) fn of_cpm(resolution: Ratio) -> Factors {
        let Ratio { num, den } = resolution;
        Factors { attraction: u128::from(den), repulsion: u128::from(num) }
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
    pub(super) fn gains_fit_64(self, weight: u64, mass: u64, total: u64) -> bool {
        let most = 1u128 << 62;
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
    /// The squares of the communities' masses.
    pub squares: u128,
}
