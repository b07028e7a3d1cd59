//! What follows the rounds of a run: disconnected communities are split, and communities merge.
//!
//! The host does both after the rounds of any executor, unless the executor has a [`Finisher`].

use crate::communities::{Marks, split_disconnected};
use crate::refine::MergeShare;
use crate::refine::merge::{MergeRule, MergeSteps, merge, merge_communities, strengths, total_of};
use crate::{DeviceSeconds, Label, RoundObserver, RunError, Settings};
use rayon::prelude::*;
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{GraphView, OutOfMemory};

/// A device that finishes runs.
pub trait Finisher {
    /// Splits disconnected communities, and merges communities, as the host would: the same bytes.
    /// Returns `None` if it leaves this to the host.
    ///
    /// # Errors
    /// If the observer cancels, memory is refused, or the device fails.
    fn finish(
        &self,
        run: Finishing<'_>,
        observer: &mut dyn RoundObserver,
    ) -> Result<Option<Communities>, RunError>;

    /// Returns whether [`Finisher::finish`] also takes runs whose disconnected communities stay, or that have vertices
    /// without a label. By default the host finishes them.
    fn takes_all(&self) -> bool {
        false
    }
}

/// A run after its rounds.
#[derive(Clone, Copy)]
pub struct Finishing<'a> {
    /// The graph.
    pub graph: GraphView<'a>,
    /// The label of each vertex, which is the id of a vertex.
    pub labels: &'a [Label],
    /// Whether communities merge.
    pub merge: Option<MergeShare>,
    /// The seed of the run.
    pub seed: u64,
}

/// Communities at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Communities {
    /// The community of each vertex.
    pub labels: Vec<Label>,
    /// The number of communities that splitting added; `None` if none were split.
    pub split: Option<u32>,
    /// How many communities fewer there are by merging; `None` if none merge.
    pub merged: Option<u32>,
    /// The seconds of a device outside the algorithm.
    pub device_seconds: DeviceSeconds,
}

impl Finishing<'_> {
    /// Returns the strength of each vertex, the summed weight of its arcs, and the rule by which
    /// communities merge, if they do.
    ///
    /// # Errors
    /// [`RunError::Array`] if the system refuses memory, [`RunError::MergeWeights`] if communities merge
    /// and the sum of all strengths does not fit 64 bits.
    pub fn strengths(&self) -> Result<(Vec<u64>, Option<MergeRule>), RunError> {
        let strengths = strengths(self.graph)?;
        let rule = match self.merge {
            Some(share) => Some(MergeRule { share, total: total_of(&strengths)? }),
            None => None,
        };
        Ok((strengths, rule))
    }

    /// Splits and merges communities by a device's steps, whose level is the graph and whose communities
    /// are the labels; with a rule, communities merge.
    ///
    /// # Errors
    /// See [`MergeSteps`].
    pub fn finish_by(
        &self,
        mut steps: impl MergeSteps,
        rule: Option<MergeRule>,
        observer: &mut dyn RoundObserver,
    ) -> Result<Communities, RunError> {
        let labels = count_distinct(self.labels).map_err(RunError::Array)?;
        observer.on_stage("splitting what is not connected");
        let parts = steps.divide(&*observer)?;
        let split = Some(parts.saturating_sub(labels));
        let device_seconds = DeviceSeconds::default();
        let Some(rule) = rule else {
            let labels = steps.named()?;
            return Ok(Communities { labels, split, merged: None, device_seconds });
        };
        observer.on_stage("merging communities");
        let (left, labels) = merge_communities(steps, parts, rule, self.seed, &*observer)?;
        Ok(Communities { labels, split, merged: Some(parts - left), device_seconds })
    }
}

/// Returns the number of distinct labels, which are ids of vertices.
fn count_distinct(labels: &[Label]) -> Result<u32, OutOfMemory> {
    let seen = Marks::new(labels.len() as u32)?;
    labels.par_iter().with_min_len(MIN_LEN).for_each(|&label| {
        if !seen.has(label) {
            seen.set(label);
        }
    });
    Ok(seen.count())
}

/// Splits and merges communities as the settings say, on the finisher's device or on the host.
pub(crate) fn finish(
    graph: GraphView<'_>,
    labels: Vec<Label>,
    settings: &Settings,
    finisher: Option<&dyn Finisher>,
    observer: &mut dyn RoundObserver,
) -> Result<Communities, RunError> {
    let is_vertex = |&label: &Label| label < graph.vertices();
    if let Some(finisher) = finisher
        && (finisher.takes_all()
            || (!settings.keep_disconnected
                && labels.par_iter().with_min_len(MIN_LEN).all(is_vertex)))
    {
        let (merge, seed) = (settings.merge, settings.seed);
        let run = Finishing { graph, labels: &labels, merge, seed };
        if let Some(finished) = finisher.finish(run, observer)? {
            return Ok(finished);
        }
    }
    finish_on_host(graph, labels, settings, observer)
}

/// Splits and merges communities as the settings say, on rayon's current pool.
///
/// # Errors
/// If the observer cancels, memory is refused, or sums of weights do not fit 64 bits.
pub fn finish_on_host(
    graph: GraphView<'_>,
    mut labels: Vec<Label>,
    settings: &Settings,
    observer: &mut dyn RoundObserver,
) -> Result<Communities, RunError> {
    let split = if settings.keep_disconnected {
        None
    } else {
        observer.on_stage("splitting what is not connected");
        Some(split_disconnected(graph, &mut labels, &|| observer.is_cancelled())?)
    };
    let merged = match settings.merge {
        None => None,
        Some(share) => {
            observer.on_stage("merging communities");
            let is_named = split.is_some();
            Some(merge(graph, &mut labels, is_named, share, settings.seed, &*observer)?)
        }
    };
    Ok(Communities { labels, split, merged, device_seconds: DeviceSeconds::default() })
}
