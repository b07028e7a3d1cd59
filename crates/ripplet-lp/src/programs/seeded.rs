//! Label propagation from seeds: who belongs to the clusters that are known?
//!
//! Some vertices' labels are given, the others begin without one ([`Seeded::begin`]). A vertex takes
//! the label that most of its labelled neighbours show, by weight; so labels spread from the seeds,
//! and whoever no seed's label reaches ends without one. Seeds keep their labels (*fixed*), or only
//! begin with them.
//!
//! Each label comes with a strength, a seed's being 1 or what is given. It loses a share with each
//! hop (*hop attenuation*): the strength of a vertex is `attenuation` times the largest strength
//! among the neighbours that voted for its label, and a neighbour's vote weighs as much as its
//! strength. A label whose strength has fallen below 2⁻¹⁶ is not passed on. Attenuation 1 is none: then
//! strengths that begin at 1 stay there, and votes are the weights, exactly. The result's
//! [`strengths`] are scores: how near a vertex is to what is known.
//!
//! With fixed seeds and attenuation 1 it finds what igraph's `community_label_propagation` with
//! `fixed` finds, ties aside, except that unreached vertices stay without a label.
//!
//! Directed graphs: labels spread along and against arcs, by a reciprocal neighbour's vote twice.
//! Labels spread one hop a round or more: ask for as many rounds as the graph is wide
//! ([`Seeded::stop`]), and for no tolerance, as few may change in a round while labels travel.
//!
//! Memory: 8 bytes a vertex for the columns, 4 more with `sync`.
//!
//! Reference: Raghavan et al. 2007 with labels given, as in Zhu, Ghahramani, *Learning from labeled
//! and unlabeled data with label propagation*, 2002; hop attenuation: Leung, Hui, Liò, Crowcroft,
//! *Towards real-time community detection in large networks*, Physical Review E 79, 2009.

pub use program::Seeded;

use crate::hooks::label_program;
use crate::{ColumnValues, Label, NO_LABEL, Outcome, Settings, Stop};
use rayon::prelude::*;
use ripplet_graph::compressed::{NeighborLists, ShardLists};
use ripplet_graph::{GraphView, VertexId};
use thiserror::Error;

/// A vertex whose label is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seed {
    /// The vertex.
    pub vertex: VertexId,
    /// Its label: any vertex, by which the cluster is called.
    pub label: Label,
    /// How sure that is, from 0 to 1.
    pub strength: f32,
}

/// What becomes of the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeding {
    /// They keep their labels.
    #[default]
    Fixed,
    /// They begin with their labels and may lose them.
    Initial,
}

/// An attenuation that is not a share.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("an attenuation is above 0 and at most 1 (none), not {0}")]
pub struct BadAttenuation(pub f64);

/// Seeds that cannot be planted.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SeedError {
    /// The vertex, or the label, is not there.
    #[error("a seed names vertex {vertex} with label {label}, but vertices are 0 to {last}")]
    NoSuchVertex {
        /// The vertex.
        vertex: VertexId,
        /// Its label.
        label: Label,
        /// The last vertex.
        last: VertexId,
    },
    /// A vertex is a seed of two labels, or of two strengths.
    #[error("vertex {vertex} is a seed twice; name it once")]
    Twice {
        /// The vertex.
        vertex: VertexId,
    },
    /// The strength is not a share.
    #[error("the seed at vertex {vertex} has strength {strength}; it must be from 0 to 1")]
    Strength {
        /// The vertex.
        vertex: VertexId,
        /// Its strength.
        strength: f32,
    },
}

impl Seeded {
    /// Label propagation from seeds on this graph, whose weights say how fine votes can be.
    ///
    /// # Errors
    /// Where the attenuation is not above 0 and at most 1.
    pub fn new<'g>(
        graph: impl Into<GraphView<'g>>,
        attenuation: f64,
    ) -> Result<Seeded, BadAttenuation> {
        let share = attenuation as f32;
        let fits = attenuation <= 1.0 && share > 0.0;
        fits.then(|| Seeded { attenuation: share, unit: unit(graph.into()) })
            .ok_or(BadAttenuation(attenuation))
    }

    /// The settings of a run that begins with these seeds: initial labels, the columns, and
    /// communities as they are found, since a label is a cluster's however its parts lie.
    ///
    /// # Errors
    /// Where a seed is not there, is there twice, or its strength is not from 0 to 1.
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

    /// When to stop: where nothing changes any more, or after 1000 rounds.
    pub fn stop() -> Stop {
        Stop::after(1000)
    }
}

/// The strength of each vertex's label after a run of [`Seeded`]; 0 without a label.
pub fn strengths(outcome: &Outcome) -> Vec<f32> {
    let column = outcome.column("strength").and_then(|column| column.values.as_f32());
    let strengths = column.unwrap_or(&[]).iter().zip(&outcome.labels);
    strengths.map(|(&strength, &label)| if label == NO_LABEL { 0.0 } else { strength }).collect()
}

/// The largest power of two up to 2¹⁶ that, times a weight, fits 32 bits, and times all, 62.
fn unit(graph: GraphView<'_>) -> u32 {
    let (largest, all) = match graph {
        GraphView::Plain(graph) => largest_and_all(graph.shards()),
        GraphView::Compressed(graph) => largest_and_all(graph.shards()),
    };
    let room = largest.leading_zeros().min(all.leading_zeros().saturating_sub(2)).min(16);
    1 << room
}

/// The largest weight, and the sum of those of all lists.
fn largest_and_all<S: ShardLists>(shards: &[S]) -> (u32, u64) {
    let both = |a: (u32, u64), b: (u32, u64)| (a.0.max(b.0), a.1.saturating_add(b.1));
    let of_lists = |lists: S::Lists<'_>| {
        if !lists.is_weighted() {
            return (1, lists.arcs());
        }
        let of_each = (0..lists.vertices()).into_par_iter().map(|local| {
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
        /// The share of its strength that a label keeps at a hop.
        pub(super) attenuation: f32,
        /// What a weight of 1 is multiplied by, so that weak votes differ too.
        pub(super) unit: u32,
    }

    #[columns]
    struct Columns {
        /// Not 0 where the vertex keeps its label.
        #[default(0)]
        fixed: u32,
        /// How near its label's seed is.
        #[default(1.0)]
        strength: f32,
    }

    impl Program for Seeded {
        type Score = u64;

        fn name(&self) -> &str {
            "seeded"
        }

        fn wake(&self) -> Wake {
            Wake::Change
        }

        fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            // In steps of 2⁻¹⁶, rounded up: a weak vote is never none.
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
