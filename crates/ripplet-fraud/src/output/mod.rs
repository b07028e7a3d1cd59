//! Outputs of a window beside the report: tables, and arrays for graph neural networks.
//!
//! ```text
//! window, findings, known bad ─▶ clusters, members, ended, edges, transactions, known_bad,  .parquet .arrow .csv .tsv
//!                             │  entities, active, reasons
//!                             └▶ gnn                               .npz; as tables: nodes, arcs
//! ```
//!
//! Memory: some ten thousand rows at a time. Files appear atomically.
//!
//! Determinism: equal findings give equal bytes, on any number of threads.

mod edges;
mod entities;
mod gnn;
mod known;
mod reasons;
pub(crate) mod tables;
mod why;

pub use edges::{Edge, edges_among};
pub use entities::{write_active, write_entities};
pub use gnn::{GnnScope, Split, write_arcs, write_gnn, write_nodes};
pub use known::KnownBadStatus;
pub use reasons::{
    BEST_MEMBERS, Behind, Explained, Explainer, Explanation, KnownBadPath, MOST_HOPS, PathFlow,
    REASONS, Reason, nearest_known_bad,
};
pub use tables::{
    write_clusters, write_edges, write_ended, write_known_bad, write_members, write_reasons,
    write_transactions,
};

/// Column of a table: its name, its kind, and whether it may be null.
pub(crate) type ColumnSpec = (&'static str, tables::Kind, bool);

/// Returns the columns of the table of clusters.
pub(crate) fn cluster_columns() -> Vec<ColumnSpec> {
    tables::CLUSTERS.into()
}

/// Returns the columns of the table of members.
pub(crate) fn member_columns() -> Vec<ColumnSpec> {
    tables::MEMBERS.into()
}

/// Returns the columns of the table of known bad entities.
pub(crate) fn known_bad_columns() -> Vec<ColumnSpec> {
    tables::KNOWN_BAD.into()
}

/// Returns the columns of the table of reasons.
pub(crate) fn reason_columns() -> Vec<ColumnSpec> {
    tables::REASONS.into()
}

/// Returns the columns of the table of entities.
pub(crate) fn entity_columns() -> Vec<ColumnSpec> {
    entities::columns()
}

pub(crate) use edges::neighbors_among;

use crate::evidence::{Evidence, View};
use crate::ledger::Ledger;
use crate::model::Scores;
use crate::seeds::{ActiveEntries, ListEntry};
use crate::ties::Ties;
use crate::{Cluster, Entities, Findings, Member, Window};
use ripplet_graph::VertexId;

/// Inputs of a window's outputs.
#[derive(Clone, Copy)]
pub struct WindowFindings<'a> {
    /// The window.
    pub window: &'a Window,
    /// Entities of its vertices.
    pub entities: &'a Entities,
    /// Clusters and members.
    pub findings: &'a Findings,
    /// Known bad entities when it ended.
    pub known_bad: &'a ActiveEntries,
    /// Trusted entities when it ended.
    pub trusted: &'a ActiveEntries,
    /// Cleared entities when it ended.
    pub cleared: &'a ActiveEntries,
    /// Payments in the window.
    pub ledger: &'a dyn Ledger,
    /// Noise threshold: a cluster without a known bad member whose chance is higher is noise.
    pub noise: f64,
    /// All entries of the deny list, active in this window or not.
    pub listed_bad: &'a [ListEntry],
    /// Scores of all entities; `None` without a model.
    pub scores: Option<EntityScores<'a>>,
    /// The window's ties, along which paths to known bad entities are preferred.
    pub ties: Option<&'a Ties>,
    /// Explanations; `None` without a model.
    pub explained: Option<&'a Explained>,
    /// Names of the pairs of columns that a row links: [`Mapping::pairs`](crate::Mapping::pairs).
    pub pairs: &'a [String],
}

/// Scores of a window's entities, with the evidence that they are made of.
#[derive(Clone, Copy)]
pub struct EntityScores<'a> {
    /// Scores and ranks.
    pub scores: &'a Scores,
    /// Evidence.
    pub evidence: &'a Evidence<'a>,
}

impl EntityScores<'_> {
    /// Returns probability and rank of an entity; `None` if it has no edges in the window.
    pub fn of(self, vertex: VertexId) -> Option<(f32, u32)> {
        let rank = self.scores.rank.get(vertex as usize).copied().filter(|&rank| rank > 0)?;
        Some((self.scores.probability[vertex as usize], rank))
    }

    /// Returns the value of one kind of an entity's evidence, an index into [`Evidence::columns`], which does not use
    /// its own label.
    pub fn value(self, kind: usize, vertex: VertexId) -> f32 {
        let is_blind = !self.evidence.depends_on_known(kind);
        let view = if is_blind { View::All } else { self.evidence.view_of(vertex) };
        self.evidence.value(kind, vertex, view)
    }

    /// Returns the values of an entity's evidence, which do not use its own label, in the order of
    /// [`Evidence::columns`]: those of the user's own table last. `None` if it has no edges in the window.
    pub fn row(self, vertex: VertexId) -> Option<Vec<f32>> {
        self.of(vertex)?;
        Some(self.evidence.row(vertex, self.evidence.view_of(vertex)))
    }
}

impl<'a> WindowFindings<'a> {
    /// Iterates over the clusters by rank, each with its members.
    pub(crate) fn clusters(self) -> impl Iterator<Item = (&'a Cluster, &'a [Member])> {
        let mut members = &*self.findings.members;
        self.findings.clusters.iter().map(move |cluster| {
            let own = members.iter().take_while(|member| member.cluster == cluster.id).count();
            let (own, others) = members.split_at(own);
            members = others;
            (cluster, own)
        })
    }

    /// Whether chance explains the transactions of a cluster.
    pub(crate) fn is_explained_by_chance(self, cluster: &Cluster) -> bool {
        cluster.chance > self.noise
    }

    /// Whether a cluster is noise: chance explains it, and it has no known bad member as other evidence.
    pub(crate) fn is_noise(self, cluster: &Cluster) -> bool {
        self.is_explained_by_chance(cluster) && cluster.seeds == 0
    }

    pub(crate) fn is_known_bad(self, vertex: VertexId) -> bool {
        self.known_bad.vertices.binary_search(&vertex).is_ok()
    }

    pub(crate) fn is_trusted(self, vertex: VertexId) -> bool {
        self.trusted.vertices.binary_search(&vertex).is_ok()
    }

    /// Whether it is known what an entity is: bad, trusted or cleared.
    pub(crate) fn is_decided(self, vertex: VertexId) -> bool {
        let is_cleared = self.cleared.vertices.binary_search(&vertex).is_ok();
        is_cleared || self.is_known_bad(vertex) || self.is_trusted(vertex)
    }
}
