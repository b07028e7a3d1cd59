//! State of the known bad entities in a window: in a cluster, in none, or without transactions.

use super::WindowFindings;
use crate::seeds::ListEntry;
use crate::{ClusterId, KindId, Timestamp};
use hashbrown::HashMap;
use ripplet_graph::VertexId;
use std::collections::BTreeMap;

/// State of a known bad entity in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBadStatus {
    /// A member of this cluster.
    Cluster(ClusterId),
    /// It has transactions, and is in no cluster.
    NoCluster,
    /// It has no transactions in the window.
    NoTransactions,
    /// No transaction up to the window's end names it.
    NeverSeen,
}

/// Known bad entity with its state in a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownBadRow<'a> {
    pub(crate) kind: KindId,
    pub(crate) id: &'a str,
    pub(crate) place: KnownBadStatus,
}

impl KnownBadStatus {
    /// Returns the name that tables use.
    pub const fn name(self) -> &'static str {
        match self {
            KnownBadStatus::Cluster(_) => "in a cluster",
            KnownBadStatus::NoCluster => "in no cluster",
            KnownBadStatus::NoTransactions => "no transactions",
            KnownBadStatus::NeverSeen => "never seen",
        }
    }

    /// Returns the cluster, if it is in one.
    pub fn cluster(self) -> Option<ClusterId> {
        match self {
            KnownBadStatus::Cluster(id) => Some(id),
            KnownBadStatus::NoCluster
            | KnownBadStatus::NoTransactions
            | KnownBadStatus::NeverSeen => None,
        }
    }
}

impl<'a> WindowFindings<'a> {
    /// Returns the cluster of each member; for a vertex in several, the first by rank.
    pub(crate) fn cluster_of_members(self) -> BTreeMap<VertexId, ClusterId> {
        let mut clusters = BTreeMap::new();
        for member in &self.findings.members {
            clusters.entry(member.vertex).or_insert(member.cluster);
        }
        clusters
    }

    /// Whether an entry of a list is active at the window's last instant.
    pub(crate) fn holds(self, entry: &ListEntry) -> bool {
        entry.is_active_at(Timestamp(self.window.range.until.0.saturating_sub(1)))
    }

    /// Returns the time since when each of some known bad entities is known; `None` if unlimited. Of several
    /// active entries, the first counts.
    pub(crate) fn known_bad_since(self, known: &[KnownBadRow<'a>]) -> Vec<Option<Timestamp>> {
        let names = known.iter().map(|known| (known.kind, known.id));
        let place_of: HashMap<(KindId, &str), usize> = names.zip(0..).collect();
        let mut since: Vec<Option<Option<Timestamp>>> = vec![None; known.len()];
        for entry in self.listed_bad.iter().filter(|entry| self.holds(entry)) {
            if let Some(&place) = place_of.get(&(entry.kind, &*entry.id)) {
                let before = since[place].unwrap_or(entry.from);
                since[place] = Some(before.min(entry.from));
            }
        }
        since.into_iter().map(Option::flatten).collect()
    }

    /// Returns all known bad entities with their states: those seen so far, ascending by number, then the
    /// others by kind and id.
    pub(crate) fn known_bad_places(self) -> Vec<KnownBadRow<'a>> {
        let clusters = self.cluster_of_members();
        let graph = &self.window.graph;
        let place = |vertex: VertexId| match clusters.get(&vertex) {
            Some(&id) => KnownBadStatus::Cluster(id),
            None if vertex < graph.vertices() && graph.degree(vertex) > 0 => {
                KnownBadStatus::NoCluster
            }
            None => KnownBadStatus::NoTransactions,
        };
        let entities = self.entities;
        let seen = self.known_bad.vertices.iter().map(|&vertex| KnownBadRow {
            kind: entities.kind_of(vertex),
            id: entities.id_of(vertex),
            place: place(vertex),
        });
        let unseen = self.known_bad.unseen.iter().map(|(kind, id)| KnownBadRow {
            kind: *kind,
            id,
            place: KnownBadStatus::NeverSeen,
        });
        seen.chain(unseen).collect()
    }
}
