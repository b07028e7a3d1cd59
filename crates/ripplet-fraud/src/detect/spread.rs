//! Labels of the known bad, spread along ties: from the beginning, or from where they came in the window before.

use super::{DetectError, Detection, FAINT, Known, Suspicion, settings};
use crate::ties::{Ties, arcs};
use crate::window::Changed;
use rayon::prelude::*;
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use ripplet_lp::{
    Checkpoint, ColumnValues, Executor, Label, NO_LABEL, Observer, Outcome, Round, State, Stop,
};
use std::collections::BTreeMap;

/// How far the labels of the known bad came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Each vertex' label: the cluster's smallest known bad, or [`NO_LABEL`].
    pub labels: Vec<Label>,
    /// Each vertex' strength; 0 without a label.
    pub strengths: Vec<f32>,
    /// What happened, round by round.
    pub rounds: Vec<Round>,
    /// Whether nothing changed in the end.
    pub converged: bool,
}

/// Where a run begins that goes on from the window before.
///
/// Labels and strengths are those of before, where their seeds are still known. At first, those are looked at whose
/// lists changed, who have a label, and who deal with any of these; others once a neighbour of theirs changes. So what
/// differs from a run that begins anew is what changes of less than a 64th add up to, ties, and, of those whose dealings
/// and partners are as they were, labels that came within reach because others' dealings made theirs less usual.
/// Strengths that are still on their way after [`Detection::rounds_on`] rounds go on in the next window: each round halves
/// what is left, by the attenuation.
#[derive(Clone, Copy, Debug)]
pub struct Begin<'a> {
    /// Where the labels came.
    pub before: &'a Spread,
    /// Whose lists changed since.
    pub changed: &'a Changed,
}

/// Lets the labels of the known bad spread along ties that are judged; the lists are checked.
///
/// # Errors
/// Where memory is refused, or the observer cancels.
pub fn spread(
    executor: &dyn Executor,
    ties: &Ties,
    known: Known<'_>,
    detection: &Detection,
    begin: Option<Begin<'_>>,
    observer: &mut dyn Observer,
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
    if let Some(Begin { before, .. }) = begin {
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
        settings.stop = Stop::after(detection.rounds_on.min(detection.rounds));
    }
    match begin.map(|begin| begin.changed) {
        Some(Changed::Some(changed)) => {
            let active = active(graph, &labels, changed)?;
            let strengths = memory::collected(strengths.iter().map(|strength| strength.to_bits()))?;
            // A state before the first round, which has not looked at all vertices yet to come.
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

/// Who is to be looked at first, a bit a vertex: those whose lists changed, those with a label, and their neighbours.
fn active(graph: &Graph, labels: &[Label], changed: &[VertexId]) -> Result<Vec<u64>, OutOfMemory> {
    let vertices = graph.vertices();
    let mut active = memory::zeros::<u64>(State::words(vertices))?;
    let mut begun = memory::zeros::<u64>(State::words(vertices))?;
    let mark = |set: &mut [u64], v: VertexId| set[v as usize / 64] |= 1 << (v % 64);
    let labelled = (0..vertices).filter(|&v| labels[v as usize] != NO_LABEL);
    for v in changed.iter().copied().chain(labelled).filter(|&v| v < vertices) {
        mark(&mut begun, v);
    }
    // Both directions are stored, so whoever has one of them in its list is a neighbour.
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

/// The labels of the known bad: those that kept ties join have the smallest of them.
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

/// Labels and strengths of the window before, of those whose label is still one; but of nobody without ties, who would
/// hear nothing else.
fn begin_with<'a>(
    before: &Spread,
    seeds: &BTreeMap<VertexId, Label>,
    of_now: impl Iterator<Item = ((&'a mut Label, &'a mut f32), &'a f32)>,
) {
    let of_before = before.labels.iter().zip(&before.strengths);
    for ((old, &strength), ((label, to), &share)) in of_before.zip(of_now) {
        // A seed may have another label by now: that of a group that it came to.
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
