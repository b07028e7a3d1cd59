//! Baselines for label propagation: classic scores by which accounts are ranked.
//!
//! | name | score of v |
//! |---|---|
//! | `degree` | number of partners of v |
//! | `strength` | summed weight of v's edges |
//! | `neighbours` | summed weight of v's edges to known bad vertices |
//! | `components` | share of known bad in v's component of the graph of the known bad and their neighbours; 0 outside; ties broken by the number of known bad neighbours |
//! | `pagerank` | personalized PageRank with restarts at the known bad: damping 0.85, unweighted |
//! | `pagerank, weighted` | personalized PageRank, arcs by weight |
//!
//! Each baseline is one pass over all arcs; PageRank is one a round.
//!
//! Memory: 8 bytes a vertex for the result; PageRank needs 24 more. Determinism: the same bits on any number
//! of threads, as sums follow a vertex's list, and sums over all vertices go by blocks of ids.
//!
//! Reference: Haveliwala, *Topic-sensitive PageRank*, WWW 2002 (restarts at a set).

use crate::ties::arcs;
use rayon::prelude::*;
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};

/// Vertices in one block of a sum; the bits of results depend on this constant.
const BLOCK: usize = 1 << 12;

/// Baseline score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Number of partners.
    Degree,
    /// Summed weight.
    Strength,
    /// Summed weight to known bad vertices.
    Neighbours,
    /// Share of known bad in the component around them.
    Components,
    /// Personalized PageRank.
    PageRank {
        /// Whether arcs count by weight.
        weighted: bool,
    },
}

impl Baseline {
    /// All baselines.
    pub const ALL: [Baseline; 6] = [
        Baseline::Degree,
        Baseline::Strength,
        Baseline::Neighbours,
        Baseline::Components,
        Baseline::PageRank { weighted: false },
        Baseline::PageRank { weighted: true },
    ];

    /// Returns the name that tables use.
    pub fn name(self) -> &'static str {
        match self {
            Baseline::Degree => "degree",
            Baseline::Strength => "strength",
            Baseline::Neighbours => "neighbours",
            Baseline::Components => "components",
            Baseline::PageRank { weighted: false } => "pagerank",
            Baseline::PageRank { weighted: true } => "pagerank, weighted",
        }
    }

    /// Returns the score of each vertex; `bad` are the known bad vertices, ascending.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn score(self, graph: &Graph, bad: &[VertexId]) -> Result<Vec<f64>, OutOfMemory> {
        match self {
            Baseline::Degree => each(graph, |v| arcs(graph, v).count() as f64),
            Baseline::Strength => each(graph, |v| strength(graph, v)),
            Baseline::Neighbours => each(graph, |v| {
                let known = arcs(graph, v).filter(|(u, _)| bad.binary_search(u).is_ok());
                known.map(|(_, weight)| f64::from(weight)).sum()
            }),
            Baseline::Components => components(graph, bad),
            Baseline::PageRank { weighted } => {
                page_rank(graph, bad, &PageRank { weighted, ..PageRank::default() })
            }
        }
    }
}

fn strength(graph: &Graph, v: VertexId) -> f64 {
    arcs(graph, v).map(|(_, weight)| u64::from(weight)).sum::<u64>() as f64
}

fn each(graph: &Graph, score: impl Fn(VertexId) -> f64 + Sync) -> Result<Vec<f64>, OutOfMemory> {
    let mut scores = memory::zeros::<f64>(graph.vertices() as usize)?;
    let all = scores.par_iter_mut().enumerate().with_min_len(1 << 10);
    all.for_each(|(v, to)| *to = score(v as VertexId));
    Ok(scores)
}

/// Scores by the components of the known bad and their neighbours.
fn components(graph: &Graph, bad: &[VertexId]) -> Result<Vec<f64>, OutOfMemory> {
    let vertices = graph.vertices() as usize;
    let mut inside = memory::zeros::<u8>(vertices)?;
    let mut near = memory::zeros::<u32>(vertices)?;
    for &b in bad {
        inside[b as usize] = 1;
        for (u, _) in arcs(graph, b) {
            inside[u as usize] = 1;
            near[u as usize] += 1;
        }
    }
    let mut scores = memory::zeros::<f64>(vertices)?;
    let mut members = Vec::new();
    for start in 0..graph.vertices() {
        if inside[start as usize] != 1 {
            continue;
        }
        members.clear();
        members.push(start);
        inside[start as usize] = 2;
        let mut next = 0;
        while let Some(&v) = members.get(next) {
            next += 1;
            for (u, _) in arcs(graph, v) {
                if inside[u as usize] == 1 {
                    inside[u as usize] = 2;
                    members.push(u);
                }
            }
        }
        let known = members.iter().filter(|v| bad.binary_search(v).is_ok()).count();
        let share = known as f64 / members.len() as f64;
        for &v in &members {
            // Far below the smallest difference of two shares.
            scores[v as usize] = share + f64::from(near[v as usize]) * 1e-12;
        }
    }
    Ok(scores)
}

/// Options of personalized PageRank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRank {
    /// Probability to follow an arc instead of restarting, from 0 to below 1.
    pub damping: f64,
    /// Number of rounds; the error is at most damping to this power.
    pub rounds: u32,
    /// Whether arcs count by weight.
    pub weighted: bool,
}

impl Default for PageRank {
    /// Damping 0.85; 0.85^60 is below 10⁻⁴.
    fn default() -> PageRank {
        PageRank { damping: 0.85, rounds: 60, weighted: true }
    }
}

/// Returns the personalized PageRank of each vertex; the walk restarts at a vertex without arcs. If no vertex
/// is known bad, all ranks are 0.
///
/// # Errors
/// If memory allocation fails.
pub fn page_rank(
    graph: &Graph,
    bad: &[VertexId],
    settings: &PageRank,
) -> Result<Vec<f64>, OutOfMemory> {
    let vertices = graph.vertices() as usize;
    let mut ranks = memory::zeros::<f64>(vertices)?;
    if bad.is_empty() {
        return Ok(ranks);
    }
    let jump = 1.0 / bad.len() as f64;
    bad.iter().for_each(|&v| ranks[v as usize] = jump);
    let out = each(graph, |v| match settings.weighted {
        true => strength(graph, v),
        false => arcs(graph, v).count() as f64,
    })?;
    let mut shares = memory::zeros::<f64>(vertices)?;
    for _ in 0..settings.rounds {
        let blocks = ranks.par_chunks(BLOCK).zip(out.par_chunks(BLOCK));
        let blocks = blocks.zip(shares.par_chunks_mut(BLOCK));
        let moving: Vec<f64> = blocks
            .map(|((ranks, out), shares)| {
                let mut moving = 0.0;
                for ((rank, out), share) in ranks.iter().zip(out).zip(shares) {
                    *share = if *out > 0.0 { rank / out } else { 0.0 };
                    moving += if *out > 0.0 { *rank } else { 0.0 };
                }
                moving
            })
            .collect();
        let jumps = 1.0 - settings.damping * moving.iter().sum::<f64>();
        let (shares, damping) = (&shares, settings.damping);
        let all = ranks.par_iter_mut().enumerate().with_min_len(1 << 10);
        all.for_each(|(v, rank)| {
            let coming = arcs(graph, v as VertexId);
            let coming: f64 = match settings.weighted {
                true => coming.map(|(u, w)| shares[u as usize] * f64::from(w)).sum(),
                false => coming.map(|(u, _)| shares[u as usize]).sum(),
            };
            *rank = damping * coming;
        });
        bad.iter().for_each(|&v| ranks[v as usize] += jumps * jump);
    }
    Ok(ranks)
}
