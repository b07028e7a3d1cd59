//! Label propagation from seeds: extends known clusters to other vertices.
//!
//! Some vertices' labels are given; the others start without one ([`Seeded::begin`]). A vertex
//! adopts the most frequent label among its labelled neighbours, by weight. Labels thus spread from
//! the seeds, and a vertex that none reaches ends without one. Seeds keep their labels (*fixed*),
//! or only start with them.
//!
//! Each label has a strength; a seed's is 1 unless given. It decays with each hop (*hop
//! attenuation*): the strength of a vertex is `attenuation` times the largest strength among the
//! neighbours that voted for its label. A neighbour's vote is weighted by its strength. A label
//! whose strength is below 2⁻¹⁶ does not spread. Attenuation 1 disables the decay: strengths that
//! start at 1 stay there, and votes are exactly the weights. The result's [`strengths`] are scores
//! of proximity to the known clusters.
//!
//! With fixed seeds and attenuation 1 the result is that of igraph's `community_label_propagation`
//! with `fixed`, except for ties and for unreached vertices, which stay without a label.
//!
//! Directed graphs: labels spread along and against arcs, and a reciprocal neighbour votes twice.
//! Labels spread at least one hop per round: allow as many rounds as the diameter
//! ([`Seeded::stop`]), and no tolerance, as few vertices may change per round while labels spread.
//!
//! Memory: 8 bytes per vertex for the columns, 4 more with `sync`.
//!
//! Reference: Raghavan et al. 2007 with labels given, as in Zhu, Ghahramani, *Learning from labeled
//! and unlabeled data with label propagation*, 2002; hop attenuation: Leung, Hui, Liò, Crowcroft,
//! *Towards real-time community detection in large networks*, Physical Review E 79, 2009.

pub use program::Seeded;

use crate::hooks::label_program;
use crate::{ColumnValues, Label, NO_LABEL, Outcome, Settings, Stop};
use rayon::prelude::*;
use ripplet_graph::storage::{NeighborLists, ShardLists};
use ripplet_graph::{GraphView, VertexId, dispatch_storage};
use thiserror::Error;

/// A vertex with a given label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seed {
    /// The vertex.
    pub vertex: VertexId,
    /// The label: any vertex, which names the cluster.
    pub label: Label,
    /// The confidence in the label, from 0 to 1.
    pub strength: f32,
}

/// Whether seeds may change their labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeding {
    /// Seeds keep their labels.
    #[default]
    Fixed,
    /// Seeds start with their labels and may change them.
    Initial,
}

/// The attenuation is not above 0 and at most 1.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("an attenuation is above 0 and at most 1 (none), not {0}")]
pub struct BadAttenuation(pub f64);

/// A list of seeds is invalid.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SeedError {
    /// The vertex or the label does not exist.
    #[error("a seed names vertex {vertex} with label {label}, but vertices are 0 to {last}")]
    NoSuchVertex {
        /// The vertex.
        vertex: VertexId,
        /// Its label.
        label: Label,
        /// The last vertex.
        last: VertexId,
    },
    /// A vertex is in the list twice.
    #[error("vertex {vertex} is a seed twice; name it once")]
    Twice {
        /// The vertex.
        vertex: VertexId,
    },
    /// A strength is not from 0 to 1.
    #[error("the seed at vertex {vertex} has strength {strength}; it must be from 0 to 1")]
    Strength {
        /// The vertex.
        vertex: VertexId,
        /// Its strength.
        strength: f32,
    },
}

impl Seeded {
    /// Creates label propagation from seeds for this graph, whose weights determine the resolution
    /// of votes.
    ///
    /// # Errors
    /// If the attenuation is not above 0 and at most 1.
    pub fn new<'g>(
        graph: impl Into<GraphView<'g>>,
        attenuation: f64,
    ) -> Result<Seeded, BadAttenuation> {
        let attenuation = Seeded::check_attenuation(attenuation)?;
        Ok(Seeded { attenuation, unit: unit(graph.into()) })
    }

    /// Returns the attenuation as runs have it.
    ///
    /// # Errors
    /// If it is not above 0 and at most 1.
    pub fn check_attenuation(attenuation: f64) -> Result<f32, BadAttenuation> {
        let share = attenuation as f32;
        let fits = attenuation <= 1.0 && share > 0.0;
        fits.then_some(share).ok_or(BadAttenuation(attenuation))
    }

    /// Returns the settings of a run with these seeds: initial labels and columns.
    ///
    /// Disconnected communities are kept, since a label stands for its cluster.
    ///
    /// # Errors
    /// If a seed does not exist or is listed twice, or if its strength is not from 0 to 1.
    pub fn begin(
        settings: Settings,
        vertices: u32,
        seeds: &[Seed],
        seeding: Seeding,
    ) -> Result<Settings, SeedError> {
        let mut labels = vec![NO_LABEL; vertices as usize];
        let (mut fixed, mut strengths) = (vec![0; labels.len()], vec![1.0; labels.len()]);
        for &Seed { vertex, label, strength } in seeds {
            if vertex.max(label) >= vertices {
                let last = vertices.saturating_sub(1);
                return Err(SeedError::NoSuchVertex { vertex, label, last });
            }
            if !(0.0..=1.0).contains(&strength) {
                return Err(SeedError::Strength { vertex, strength });
            }
            let v = vertex as usize;
            if labels[v] != NO_LABEL {
                return Err(SeedError::Twice { vertex });
            }
            (labels[v], strengths[v]) = (label, strength);
            fixed[v] = u32::from(seeding == Seeding::Fixed);
        }
        let mut settings = Settings { initial: Some(labels), keep_disconnected: true, ..settings };
        settings.columns.insert("fixed".into(), ColumnValues::U32(fixed));
        settings.columns.insert("strength".into(), ColumnValues::F32(strengths));
        Ok(settings)
    }

    /// The most rounds of [`Seeded::stop`].
    pub const ROUNDS: u32 = 1000;

    /// Returns the stop rule: at a fixpoint, or after [`Seeded::ROUNDS`].
    pub fn stop() -> Stop {
        Stop::after(Seeded::ROUNDS)
    }
}

/// Returns the strength of each vertex's label after a run of [`Seeded`]; 0 without a label.
pub fn strengths(outcome: &Outcome) -> Vec<f32> {
    let column = outcome.column("strength").and_then(|column| column.values.as_f32());
    let strengths = column.unwrap_or(&[]).iter().zip(&outcome.labels);
    strengths.map(|(&strength, &label)| if label == NO_LABEL { 0.0 } else { strength }).collect()
}

/// Returns the largest power of two up to 2¹⁶ by which a weight still fits 32 bits, and the sum of
/// all weights 62.
fn unit(graph: GraphView<'_>) -> u32 {
    let (largest, all) = dispatch_storage!(graph, graph => largest_and_all(graph.shards()));
    let room = largest.leading_zeros().min(all.leading_zeros().saturating_sub(2)).min(16);
    1 << room
}

/// Returns the largest weight, and the sum of all weights.
fn largest_and_all<S: ShardLists>(shards: &[S]) -> (u32, u64) {
    let both = |a: (u32, u64), b: (u32, u64)| (a.0.max(b.0), a.1.saturating_add(b.1));
    let of_lists = |lists: S::Lists<'_>| {
        if !lists.is_weighted() {
            return (1, lists.arcs());
        }
        let of_each = (0..lists.vertices()).into_par_iter().with_min_len(1 << 8).map(|local| {
            let weights = lists.each_weight_of(local).into_iter().flatten();
            weights.map(|weight| (weight, u64::from(weight))).fold((0, 0), both)
        });
        of_each.reduce(|| (0, 0), both)
    };
    shards.iter().flat_map(S::lists).map(of_lists).fold((0, 0), both)
}

#[label_program]
mod program {
    use crate::hooks::*;

    /// Label propagation from seeds.
    #[derive(Clone, Copy, Debug)]
    pub struct Seeded {
        /// The factor that a label's strength is multiplied by at each hop.
        pub(super) attenuation: f32,
        /// The factor that a vote's weight is multiplied by, so that weak votes differ.
        pub(super) unit: u32,
    }

    #[columns]
    struct Columns {
        /// Nonzero if the vertex keeps its label.
        #[default(0)]
        fixed: u32,
        /// The strength of the label.
        #[default(1.0)]
        strength: f32,
    }

    impl Program for Seeded {
        type Score = u64;

        fn name(&self) -> &str {
            "seeded"
        }

        fn activation(&self) -> Activation {
            Activation::Change
        }

        fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            // In steps of 2⁻¹⁶, rounded up: a weak vote is never 0.
            let strength = (u.strength() * 65536.0) as u64;
            let loudest = u.weight as u64 * self.unit as u64;
            let weight = (loudest * strength.min(65536) + 65535) >> 16;
            Vote { label: u.label, weight: weight as u32 }
        }

        fn follows_frequency(&self) -> bool {
            true
        }

        fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
            c.frequency
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }

        fn carry(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
            u.strength()
        }

        fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, _score: u64) -> Label {
            if v.fixed() != 0 {
                return v.label;
            }
            v.set_strength(v.carried() * self.attenuation);
            label
        }
    }
}
