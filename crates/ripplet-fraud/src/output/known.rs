//! Where the known bad are in a window: in which cluster, or in none.

use super::WindowFindings;
use crate::seeds::ListEntry;
use crate::{ClusterId, KindId, Timestamp};
use hashbrown::HashMap;
use ripplet_graph::VertexId;
use std::collections::BTreeMap;

/// Where a known bad entity is in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBadStatus {
    /// A member of this cluster.
    Cluster(ClusterId),
    /// It transacts with somebody, and is in no cluster.
    NoCluster,
    /// It has no transactions in the window.
    NoTransactions,
    /// No transaction up to the window's end names it.
    NeverSeen,
}

/// A known bad entity, and where it is in a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownBadRow<'a> {
    pub(crate) kind: KindId,
    pub(crate) id: &'a str,
    pub(crate) place: KnownBadStatus,
}

impl KnownBadStatus {
    /// The name, as tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            KnownBadStatus::Cluster(_) => "in a cluster",
            KnownBadStatus::NoCluster => "in no cluster",
            KnownBadStatus::NoTransactions => "no transactions",
            KnownBadStatus::NeverSeen => "never seen",
        }
    }

    /// The cluster, if it is in one.
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
    /// The cluster of each member; of one in several, the first by rank.
    pub(crate) fn cluster_of_members(self) -> BTreeMap<VertexId, ClusterId> {
        let mut clusters = BTreeMap::new();
        for member in &self.findings.members {
            clusters.entry(member.vertex).or_insert(member.cluster);
        }
        clusters
    }

    /// Whether an entry of a list holds at the window's last instant.
    pub(crate) fn holds(self, entry: &ListEntry) -> bool {
        entry.is_active_at(Timestamp(self.window.range.until.0.saturating_sub(1)))
    }

    /// Since when each of some known bad entities is known; nothing for who always was. Of several entries that hold, the
    /// first counts.
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

    /// Everybody known bad and where that is: those who were seen, ascending by number, then the others by kind and id.
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
