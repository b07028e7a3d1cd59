//! Scores of clusters and their members.
//!
//! All sums are over the window's graph, whose weights w the mapping defines. E(C) are the edges between
//! members of cluster C, and W(v) is the summed weight of all arcs of v.
//!
//! | of a member v | formula |
//! |---|---|
//! | `score` | [`OF_MEMBERS`] |
//! | `seed_distance` | hops from v to the nearest known bad member, through members; [`NO_SEED`] if there is none |
//! | `share_to_known_bad` | Σ w(v, u) over known bad u, in C or not, / W(v); 0 if W(v) is 0 |
//! | `degree`, `strength` | number of partners; W(v) |
//!
//! | of a cluster C | formula |
//! |---|---|
//! | `score`, by which clusters are ranked | [`OF_CLUSTERS_BY_ENTITIES`]; without a model, [`OF_CLUSTERS`] |
//! | `suspicion` | [`OF_CLUSTERS`] |
//! | `chance` | [`CHANCE`]; set by [`Chance`](crate::chance::Chance) |
//! | `density`, `conductance`, `growth`, `age` | [`BESIDE`]; 0 if the denominator is 0 |
//! | `edges`, `weight_within` | \|E(C)\|; Σ w over E(C) |
//! | `weight_out` | Σ w over edges that leave C |
//! | `rank` | 1 for the highest score; ties go to the larger cluster, then to the smaller first member |
//!
//! # Cost, memory, determinism
//! One and a half passes over the arcs of members; 4 bytes per vertex and 1 per member of any cluster.
//! Deterministic on any number of threads: one thread processes a cluster.

mod by_entities;
mod definitions;

pub use by_entities::rank_by_entities;
pub use definitions::{
    BESIDE, CHANCE, Definition, Form, OF_CLUSTERS, OF_CLUSTERS_BY_ENTITIES, OF_MEMBERS, beside,
};

use crate::detect::{Detected, Known};
use crate::findings::{BusiestPart, NO_SEED};
use crate::ties::arcs;
use crate::{Cluster, ClusterEvent, ClusterId, Findings, Member, Timestamp};
use rayon::prelude::*;
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use std::collections::VecDeque;

/// Scores the clusters of a window, and ranks them: highest first, with members by score.
///
/// Ids are ranks, and all clusters are new, until [`evolution`](crate::evolution) matches them to the
/// previous window.
///
/// # Errors
/// If memory allocation fails.
pub fn score(
    graph: &Graph,
    detected: &Detected,
    known: Known<'_>,
    until: Timestamp,
) -> Result<Findings, OutOfMemory> {
    let mut cluster_of = memory::zeros::<u32>(graph.vertices() as usize)?;
    for (index, group) in detected.groups.iter().enumerate() {
        // 0 marks a vertex without a cluster.
        group.members.iter().for_each(|&v| cluster_of[v as usize] = index as u32 + 1);
    }
    let context = Context { graph, detected, known, cluster_of: &cluster_of, until };
    let groups = 0..detected.groups.len();
    let mut scored: Vec<(Cluster, Vec<Member>)> =
        groups.into_par_iter().map(|index| context.score(index)).collect();
    scored.sort_by(|(a, of_a), (b, of_b)| {
        let first = |members: &[Member]| members.iter().map(|member| member.vertex).min();
        let by_score = b.score.total_cmp(&a.score).then(b.size.cmp(&a.size));
        by_score.then_with(|| first(of_a).cmp(&first(of_b)))
    });
    let mut findings = Findings { too_large: detected.too_large, ..Findings::default() };
    for (rank, (mut cluster, members)) in (1..).zip(scored) {
        cluster.rank = rank;
        cluster.id = ClusterId(u64::from(rank));
        let members = members.into_iter().map(|member| Member { cluster: cluster.id, ..member });
        findings.members.extend(members);
        findings.clusters.push(cluster);
    }
    Ok(findings)
}

struct Context<'a> {
    graph: &'a Graph,
    detected: &'a Detected,
    known: Known<'a>,
    cluster_of: &'a [u32],
    until: Timestamp,
}

/// Sums over a member's arcs.
#[derive(Default)]
struct Sums {
    edges: u64,
    within: u64,
    all: u64,
    to_known_bad: u64,
    degree: u64,
}

impl Context<'_> {
    fn score(&self, index: usize) -> (Cluster, Vec<Member>) {
        let members = &self.detected.groups[index].members;
        let distances = self.distances(index, members);
        let mut total = Sums::default();
        let mut scored = Vec::with_capacity(members.len());
        for (&vertex, seed_distance) in members.iter().zip(distances) {
            let sums = self.sums(index, vertex);
            total.edges += sums.edges;
            total.within += sums.within;
            total.all += sums.all;
            scored.push(Member {
                vertex,
                cluster: ClusterId::default(),
                score: f64::from(self.detected.suspicion_of(vertex)),
                seed_distance,
                share_to_known_bad: share(sums.to_known_bad, sums.all),
                known_bad: self.known.is_bad(vertex),
                degree: sums.degree,
                strength: sums.all,
            });
        }
        let size = members.len() as u64;
        let mean = scored.iter().map(|member| member.score).sum::<f64>() / size.max(1) as f64;
        let weight_out = total.all - total.within;
        let cluster = Cluster {
            id: ClusterId::default(),
            rank: 0,
            score: mean,
            suspicion: mean,
            chance: 1.0,
            why: BusiestPart::default(),
            size: size as u32,
            seeds: scored.iter().filter(|member| member.known_bad).count() as u32,
            edges: total.edges / 2,
            weight_within: total.within / 2,
            weight_out,
            density: share(total.edges, size * size.saturating_sub(1)),
            conductance: share(weight_out, total.all),
            growth: None,
            age: 0,
            born: self.until,
            fate: ClusterEvent::Born,
            parents: Vec::new(),
        };
        scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.vertex.cmp(&b.vertex)));
        (cluster, scored)
    }

    fn is_member(&self, index: usize, vertex: VertexId) -> bool {
        self.cluster_of[vertex as usize] as usize == index + 1
    }

    fn sums(&self, index: usize, vertex: VertexId) -> Sums {
        let mut sums = Sums::default();
        for (u, weight) in arcs(self.graph, vertex) {
            let weight = u64::from(weight);
            sums.degree += 1;
            sums.all += weight;
            if self.is_member(index, u) {
                sums.edges += 1;
                sums.within += weight;
            }
            if self.known.is_bad(u) {
                sums.to_known_bad += weight;
            }
        }
        sums
    }

    /// Returns the hops from each member to the nearest known bad one.
    fn distances(&self, index: usize, members: &[VertexId]) -> Vec<u32> {
        let mut distances = vec![NO_SEED; members.len()];
        let mut queue = VecDeque::new();
        for (at, &v) in members.iter().enumerate().filter(|(_, v)| self.known.is_bad(**v)) {
            distances[at] = 0;
            queue.push_back((at, v));
        }
        while let Some((at, v)) = queue.pop_front() {
            for (u, _) in arcs(self.graph, v).filter(|&(u, _)| self.is_member(index, u)) {
                let Ok(to) = members.binary_search(&u) else { continue };
                if distances[to] == NO_SEED {
                    distances[to] = distances[at] + 1;
                    queue.push_back((to, u));
                }
            }
        }
        distances
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}
