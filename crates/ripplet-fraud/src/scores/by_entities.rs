//! Ranking of clusters by the scores of their members and by their own ties.

use super::definitions::LEAST_SUSPICION;
use crate::model::Scores;
use crate::{Cluster, Findings, Member};
use std::collections::BTreeMap;

/// Weight of a cluster's own evidence: of 0 to 2, the one whose order is best or near the best on each development set
/// that has clusters (`bench/runs/2026-11-27-2-cores/fraud-cluster-ranking.txt`).
const OWN: f64 = 1.0;

/// Ranks the clusters by [`OF_CLUSTERS_BY_ENTITIES`](super::OF_CLUSTERS_BY_ENTITIES), and members by the rank of the
/// entity.
///
/// Ties go to the larger cluster, then to the smaller id.
pub fn rank_by_entities(findings: &mut Findings, scores: &Scores) {
    let mut own: BTreeMap<_, Vec<Member>> = BTreeMap::new();
    for member in findings.members.drain(..) {
        own.entry(member.cluster).or_default().push(member);
    }
    for cluster in &mut findings.clusters {
        let members = own.get(&cluster.id).map_or(&[][..], Vec::as_slice);
        cluster.score = score(cluster, members, scores);
    }
    findings.clusters.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then(b.size.cmp(&a.size)).then(a.id.cmp(&b.id))
    });
    let rank_of = |member: &Member| {
        scores
            .rank
            .get(member.vertex as usize)
            .copied()
            .filter(|&rank| rank > 0)
            .unwrap_or(u32::MAX)
    };
    for (cluster, rank) in findings.clusters.iter_mut().zip(1..) {
        cluster.rank = rank;
        let mut members = own.remove(&cluster.id).unwrap_or_default();
        members.sort_by_key(|member| (rank_of(member), member.vertex));
        findings.members.append(&mut members);
    }
}

/// Returns the mean log odds of the members, and the logarithm of the cluster's suspicion above the least.
fn score(cluster: &Cluster, members: &[Member], scores: &Scores) -> f64 {
    let calibration = scores.scorecard.calibration;
    let odds = |member: &Member| {
        let points = scores.points.get(member.vertex as usize).copied().unwrap_or_default();
        calibration.slope * f64::from(points) + calibration.offset
    };
    let mean = members.iter().map(odds).sum::<f64>() / members.len().max(1) as f64;
    mean + OWN * (cluster.suspicion - LEAST_SUSPICION).max(0.0).ln_1p()
}
