//! Labels of the known bad, spread along ties: from scratch, or from the state of the previous window.

use super::{DetectError, Detection, FAINT, Known, Suspicion, settings};
use crate::ties::{Ties, arcs};
use crate::window::Changed;
use rayon::prelude::*;
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use ripplet_lp::{
    Checkpoint, ColumnValues, Executor, Label, NO_LABEL, Outcome, Round, RoundObserver, State, Stop,
};
use std::collections::BTreeMap;

/// Labels and strengths after spreading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Label of each vertex: the cluster's smallest known bad vertex, or [`NO_LABEL`].
    pub labels: Vec<Label>,
    /// Strength of each vertex; 0 without a label.
    pub strengths: Vec<f32>,
    /// Statistics of each round.
    pub rounds: Vec<Round>,
    /// Whether labels converged.
    pub converged: bool,
}

/// Warm start: the state of the previous window from which spreading starts.
///
/// Labels and strengths are kept if their seeds are still known. Initially active are the vertices whose
/// lists changed, the vertices with a label, and the partners of both. Other vertices become active when a
/// neighbour changes. So the result differs from a run from scratch in three ways:
/// - changes of less than a 64th that add up,
/// - ties between labels,
/// - labels that reach an unchanged vertex because the transactions of others made its ties more significant.
///
/// Strengths that have not converged after [`Detection::warm_rounds`] rounds converge further in the next
/// window: each round multiplies the error by the attenuation.
#[derive(Clone, Copy, Debug)]
pub struct WarmStart<'a> {
    /// Labels and strengths of the previous window.
    pub before: &'a Spread,
    /// Vertices whose lists changed since.
    pub changed: &'a Changed,
}

/// Spreads the labels of the known bad along scored ties; `known` must be valid.
///
/// # Errors
/// If memory allocation fails, or the observer cancels.
pub fn spread(
    executor: &dyn Executor,
    ties: &Ties,
    known: Known<'_>,
    detection: &Detection,
    begin: Option<WarmStart<'_>>,
    observer: &mut dyn RoundObserver,
) -> Result<Spread, DetectError> {
    let graph = ties.graph();
    let vertices = graph.vertices() as usize;
    let mut labels = memory::filled(NO_LABEL, vertices)?;
    let mut strengths = memory::zeros::<f32>(vertices)?;
    let mut fixed = memory::zeros::<u32>(vertices)?;
    let mut shares = memory::zeros::<f32>(vertices)?;
    shares.par_iter_mut().enumerate().with_min_len(1 << 10).for_each(|(v, share)| {
        let all: u64 = arcs(graph, v as VertexId).map(|(_, q)| u64::from(q)).sum();
        *share = if all > 0 { 1.0 / all as f32 } else { 0.0 };
    });
    let seeds = seed_labels(ties, known);
    if let Some(WarmStart { before, .. }) = begin {
        let of_now = labels.iter_mut().zip(&mut strengths).zip(&shares);
        begin_with(before, &seeds, of_now);
    }
    for (&v, &label) in &seeds {
        (labels[v as usize], strengths[v as usize], fixed[v as usize]) = (label, 1.0, 1);
    }
    for &v in known.trusted {
        (labels[v as usize], strengths[v as usize], fixed[v as usize]) = (NO_LABEL, 0.0, 1);
    }
    let mut settings = settings(detection);
    if begin.is_some() {
        settings.stop = Stop::after(detection.warm_rounds.min(detection.rounds));
    }
    match begin.map(|begin| begin.changed) {
        Some(Changed::Some(changed)) => {
            let active = active(graph, &labels, changed)?;
            let strengths = memory::collected(strengths.iter().map(|strength| strength.to_bits()))?;
            // State before the first round, in which not all vertices are active.
            settings.resume = Some(Checkpoint {
                rounds: Vec::new(),
                labels: labels.into(),
                active: active.into(),
                columns: vec![strengths.into()],
            });
        }
        _ => {
            settings.initial = Some(labels);
            settings.columns.insert("strength".into(), ColumnValues::F32(strengths));
        }
    }
    settings.columns.insert("fixed".into(), ColumnValues::U32(fixed));
    settings.columns.insert("share".into(), ColumnValues::F32(shares));
    observer.on_stage("spreading labels");
    let outcome = executor.run_on(graph.into(), &Suspicion::new(detection), &settings, observer)?;
    Ok(spread_of(outcome, &seeds))
}

/// Returns the initially active vertices, a bit a vertex: changed lists, labels, and their neighbours.
fn active(graph: &Graph, labels: &[Label], changed: &[VertexId]) -> Result<Vec<u64>, OutOfMemory> {
    let vertices = graph.vertices();
    let mut active = memory::zeros::<u64>(State::words(vertices))?;
    let mut begun = memory::zeros::<u64>(State::words(vertices))?;
    let mark = |set: &mut [u64], v: VertexId| set[v as usize / 64] |= 1 << (v % 64);
    let labelled = (0..vertices).filter(|&v| labels[v as usize] != NO_LABEL);
    for v in changed.iter().copied().chain(labelled).filter(|&v| v < vertices) {
        mark(&mut begun, v);
    }
    // Both directions are stored, so a vertex with an active one in its list is a neighbour.
    let is_begun = |v: VertexId| begun[v as usize / 64] >> (v % 64) & 1 == 1;
    active.par_iter_mut().enumerate().with_min_len(16).for_each(|(word, active)| {
        let first = word as VertexId * 64;
        for v in first..vertices.min(first.saturating_add(64)) {
            if is_begun(v) || arcs(graph, v).any(|(u, _)| is_begun(u)) {
                *active |= 1 << (v % 64);
            }
        }
    });
    Ok(active)
}

/// Returns the labels of the known bad: those connected by kept ties share the smallest label.
fn seed_labels(ties: &Ties, known: Known<'_>) -> BTreeMap<VertexId, Label> {
    let mut labels = BTreeMap::new();
    for &seed in known.bad {
        if labels.contains_key(&seed) {
            continue;
        }
        let mut reached = vec![seed];
        labels.insert(seed, seed);
        while let Some(v) = reached.pop() {
            for u in ties.kept_of(v).filter(|&u| known.is_bad(u)) {
                labels.entry(u).or_insert_with(|| {
                    reached.push(u);
                    seed
                });
            }
        }
    }
    labels
}

/// Iterates over labels and strengths of the previous window whose seeds are still known. Vertices without
/// ties are left out, as no update could reset them.
fn begin_with<'a>(
    before: &Spread,
    seeds: &BTreeMap<VertexId, Label>,
    of_now: impl Iterator<Item = ((&'a mut Label, &'a mut f32), &'a f32)>,
) {
    let of_before = before.labels.iter().zip(&before.strengths);
    for ((old, &strength), ((label, to), &share)) in of_before.zip(of_now) {
        // A seed may have another label now: that of a group that it joined.
        if let Some(&now) = seeds.get(old).filter(|_| share > 0.0) {
            (*label, *to) = (now, strength);
        }
    }
}

fn spread_of(mut outcome: Outcome, seeds: &BTreeMap<VertexId, Label>) -> Spread {
    let converged = outcome.converged();
    let at = outcome.columns.iter().position(|column| column.name == "strength");
    let values = at.map(|at| outcome.columns.swap_remove(at).values);
    let mut strengths = match values {
        Some(ColumnValues::F32(values)) => values,
        _ => vec![0.0; outcome.labels.len()],
    };
    let mut labels = outcome.labels;
    for (v, (label, strength)) in labels.iter_mut().zip(&mut strengths).enumerate() {
        if *label == NO_LABEL || (*strength < FAINT && !seeds.contains_key(&(v as VertexId))) {
            (*label, *strength) = (NO_LABEL, 0.0);
        }
    }
    Spread { labels, strengths, rounds: outcome.rounds, converged }
}
