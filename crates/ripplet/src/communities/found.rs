//! What a run found, by vertex, and how it was run.

use super::error::CommunitiesError;
use super::observer::locked;
use super::report::RunReport;
use super::result::Communities;
use ripplet_graph::{GraphView, VertexId, memory};
use ripplet_lp::programs::{Membership, memberships, strengths};
use ripplet_lp::quality::{QualityError, Summary};
use ripplet_lp::refine::{Merge, Objective, RefineError, Resolution, dendrogram, hierarchy};
use ripplet_lp::small::{drop_small, drop_small_memberships};
use ripplet_lp::{Label, NO_LABEL, Outcome, RoundObserver, RunError};
use ripplet_ranks::SharedComm;
use std::ops::Range;

/// The labels that a search found, one per vertex, and how it was run; see
/// [`CommunitySearch::labels_with`](super::CommunitySearch::labels_with).
///
/// Other than [`Communities`], it does not group the members of each community, which takes time and memory.
///
/// # Examples
/// ```
/// use ripplet::graph_from_edges;
///
/// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1), (4, 5), (5, 6), (6, 4), (3, 4)])?;
/// let found = ripplet::communities(&graph).device("cpu".parse()?).labels_with(&mut ())?;
/// assert_eq!(found.labels().len(), 6);
/// assert_eq!(found.summary()?.communities, 2);
/// let report = found.report();
/// println!("{} took {} s", report.device, report.seconds.compute);
/// let communities = found.into_communities()?;
/// assert_eq!(communities.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FoundLabels<'g> {
    pub(super) graph: GraphView<'g>,
    pub(super) outcome: Outcome,
    pub(super) report: RunReport,
    pub(super) kind: Kind,
    /// The ranks that share the graph, and this one's own vertices.
    pub(super) shared: Option<(SharedComm, Range<VertexId>)>,
}

/// How the labels of a run make communities.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A vertex has one community.
    One,
    /// A vertex has the community of a seed, whose strength is in a column, or none.
    Seeded {
        /// The least size of a community.
        least: Option<u32>,
    },
    /// A vertex has the communities that fill this share of its memory.
    Several {
        threshold: f64,
        /// The least size of a community.
        least: Option<u32>,
    },
    /// Refinement of a score, with this seed.
    Refined { objective: Objective, seed: u64 },
}

/// Memberships of vertices in communities, by vertex, the strongest of a vertex first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memberships {
    /// The vertex of each.
    pub vertices: Vec<VertexId>,
    /// The label of its community: the vertex that names it.
    pub labels: Vec<Label>,
    /// The strength, from 0 to 1.
    pub strengths: Vec<f32>,
    /// The number of memberships that are left out, as their communities are too small.
    pub left_out: u64,
}

impl<'g> FoundLabels<'g> {
    /// Returns the label of each vertex: the vertex that names its community, or [`NO_LABEL`]. With `slpa`, that is the
    /// strongest community in the vertex's memory; [`FoundLabels::memberships`] has what threshold and least size leave.
    pub fn labels(&self) -> &[Label] {
        &self.outcome.labels
    }

    /// Returns the outcome of the run: labels, columns, rounds.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Returns how it was run.
    pub fn report(&self) -> &RunReport {
        &self.report
    }

    /// Returns the vertices whose neighbour lists this process has read: all, or those of a rank.
    pub fn own_vertices(&self) -> Range<VertexId> {
        self.shared.as_ref().map_or(0..self.graph.vertices(), |(_, own)| own.clone())
    }

    /// Returns the number of communities and the modularity of the labels. Cost: a pass over the graph, which ranks share:
    /// all call it at the same time. It runs on rayon's current pool.
    ///
    /// # Errors
    /// If memory is refused, or a message between ranks fails.
    pub fn summary(&self) -> Result<Summary, CommunitiesError> {
        let (graph, labels) = (self.graph, self.labels());
        let summary = match &self.shared {
            None => Summary::of(graph, labels),
            Some((comm, own)) => Summary::of_ranks(graph, labels, own.clone(), &mut locked(comm)),
        };
        summary.map_err(|error| match error {
            QualityError::Ranks(error) => RunError::Ranks(error).into(),
            error => error.into(),
        })
    }

    /// Returns the memberships of `slpa` and `seeded`, which have strengths, without those in communities that are too small;
    /// `None` of other programs and of refinement: see [`FoundLabels::labels`].
    ///
    /// # Errors
    /// If memory is refused, or the threshold of `slpa` is out of its range.
    pub fn memberships(&self) -> Result<Option<Memberships>, CommunitiesError> {
        if let Some((rows, left_out)) = self.rows_of_several()? {
            return Ok(Some(Memberships {
                vertices: memory::collected(rows.iter().map(|row| row.vertex))?,
                labels: memory::collected(rows.iter().map(|row| row.label))?,
                strengths: memory::collected(rows.iter().map(|row| row.strength))?,
                left_out,
            }));
        }
        let Kind::Seeded { least } = self.kind else { return Ok(None) };
        let mut labels = memory::copied(self.labels())?;
        let left_out = match least {
            Some(least) => drop_small(&mut labels, least)?.unassigned.into(),
            None => 0,
        };
        let mut strengths = strengths(&self.outcome);
        let mut vertices = memory::with_room(labels.len())?;
        vertices
            .extend((0..).zip(&labels).filter(|(_, label)| **label != NO_LABEL).map(|(v, _)| v));
        keep(&mut strengths, &labels);
        labels.retain(|&label| label != NO_LABEL);
        Ok(Some(Memberships { vertices, labels, strengths, left_out }))
    }

    /// Returns the memberships of `slpa` by vertex, the strongest first, and how many are left out.
    fn rows_of_several(&self) -> Result<Option<(Vec<Membership>, u64)>, CommunitiesError> {
        let Kind::Several { threshold, least } = self.kind else { return Ok(None) };
        let mut rows = memberships(&self.outcome, threshold)?;
        let left_out = match least {
            Some(least) => drop_small_memberships(&mut rows, self.graph.vertices(), least)?,
            None => 0,
        };
        Ok(Some((rows, left_out)))
    }

    /// Finds the parts of the communities of a refinement, the finest first; `None` of label propagation. See
    /// [`ripplet_lp::refine::hierarchy`]. It runs on rayon's current pool.
    ///
    /// # Errors
    /// If memory is refused, or the observer cancels.
    pub fn levels(
        &self,
        observer: &mut dyn RoundObserver,
    ) -> Result<Option<Vec<Vec<Label>>>, RefineError> {
        let (Kind::Refined { objective, seed }, Some(found)) = (self.kind, &self.report.refinement)
        else {
            return Ok(None);
        };
        // At the resolution that was found.
        let objective = match objective {
            Objective::Modularity(_) => Objective::Modularity(Resolution::Fixed(found.resolution)),
            cpm => cpm,
        };
        hierarchy(self.graph, objective, seed, self.labels(), observer).map(Some)
    }

    /// Finds how communities of a refinement join, pair by pair; `None` of label propagation. `numbers` are the communities of
    /// the vertices, as numbers from 0. See [`ripplet_lp::refine::dendrogram`]. It runs on rayon's current pool.
    ///
    /// # Errors
    /// If the graph is directed, memory is refused, or the observer cancels.
    pub fn dendrogram(
        &self,
        numbers: &[Label],
        observer: &mut dyn RoundObserver,
    ) -> Result<Option<Vec<Merge>>, RefineError> {
        let Kind::Refined { objective, .. } = self.kind else { return Ok(None) };
        // The merges of a score are those of all its resolutions.
        dendrogram(self.graph, objective, numbers, observer).map(Some)
    }

    /// Groups the members of each community.
    ///
    /// # Errors
    /// If memory is refused, or the threshold of `slpa` is out of its range.
    pub fn into_communities(self) -> Result<Communities<'g>, CommunitiesError> {
        let rows = self.rows_of_several()?;
        let FoundLabels { graph, mut outcome, report, kind, .. } = self;
        Ok(match (kind, rows) {
            (Kind::Several { least, .. }, Some((rows, _))) => {
                if least.is_some() {
                    // The strongest one that is left comes first.
                    outcome.labels.fill(NO_LABEL);
                    let strongest = rows.iter().rev().map(|row| (row.vertex as usize, row.label));
                    strongest.for_each(|(vertex, label)| outcome.labels[vertex] = label);
                }
                Communities::overlapping(graph, outcome, &rows, report)?
            }
            (Kind::Seeded { least }, _) => {
                let strengths = strengths(&outcome);
                if let Some(least) = least {
                    drop_small(&mut outcome.labels, least)?;
                }
                Communities::of_labels(graph, outcome, Some(&strengths), report)?
            }
            _ => Communities::of_labels(graph, outcome, None, report)?,
        })
    }
}

/// Keeps the values of vertices that have a label.
fn keep(values: &mut Vec<f32>, labels: &[Label]) {
    let mut labels = labels.iter();
    values.retain(|_| labels.next().is_some_and(|&label| label != NO_LABEL));
}
