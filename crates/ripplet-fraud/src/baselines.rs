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
//! The graph is that of a window: undirected, and without self-loops. A baseline reads all arcs once, PageRank in each of its
//! rounds.
//!
//! Memory: 8 bytes per vertex for the result; PageRank needs 24 more. Determinism: the same bits on any number
//! of threads, as sums follow a vertex's list; [`ripplet_analytics::pagerank`] says so of its own.
//!
//! Reference: Haveliwala, *Topic-sensitive PageRank*, WWW 2002 (restarts at a set).

use crate::ties::arcs;
use rayon::prelude::*;
use ripplet_analytics::AnalysisError;
use ripplet_analytics::pagerank::{Jumps, JumpsError, PageRank, Stop};
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use thiserror::Error;

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

/// Error of a baseline.
#[derive(Debug, Error)]
pub enum BaselineError {
    /// The known bad vertices are not those of the graph.
    #[error(transparent)]
    Jumps(#[from] JumpsError),
    /// PageRank failed.
    #[error(transparent)]
    PageRank(#[from] AnalysisError),
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
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
    ///
    /// # Panics
    /// If a vertex of `bad` is not in the graph.
    pub fn score(self, graph: &Graph, bad: &[VertexId]) -> Result<Vec<f64>, BaselineError> {
        Ok(match self {
            Baseline::Degree => each(graph, |v| arcs(graph, v).count() as f64)?,
            Baseline::Strength => each(graph, |v| strength(graph, v))?,
            Baseline::Neighbours => each(graph, |v| {
                let known = arcs(graph, v).filter(|(u, _)| bad.binary_search(u).is_ok());
                known.map(|(_, weight)| f64::from(weight)).sum()
            })?,
            Baseline::Components => components(graph, bad)?,
            Baseline::PageRank { weighted } => {
                personalized_page_rank(graph, bad, &page_rank_settings(weighted))?
            }
        })
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

/// Returns the settings of PageRank as a baseline: damping 0.85, and 60 rounds, as 0.85^60 is below 10⁻⁴.
pub fn page_rank_settings(weighted: bool) -> PageRank {
    PageRank { damping: 0.85, stop: Stop::Rounds(60), weighted }
}

/// Returns the personalized PageRank of each vertex: walks begin at the vertices of `bad`, and jump back to them. If no
/// vertex is known bad, all ranks are 0.
///
/// # Errors
/// If a vertex of `bad` is not in the graph, a setting is out of its range, or memory allocation fails.
pub fn personalized_page_rank(
    graph: &Graph,
    bad: &[VertexId],
    settings: &PageRank,
) -> Result<Vec<f64>, BaselineError> {
    match Jumps::to(graph.vertices(), bad.iter().map(|&v| (v, 1.0))) {
        Ok(jumps) => Ok(settings.run_personalized(graph, &jumps, &mut ())?.ranks),
        Err(JumpsError::Nowhere) => Ok(memory::zeros(graph.vertices() as usize)?),
        Err(error) => Err(error.into()),
    }
}
