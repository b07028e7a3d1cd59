//! A window's part of a report: what is kept of it when it is finished.

use super::events::{DIED, EVENTS, event_of};
use crate::output::{Edge, KnownBadStatus, Payment, WindowFindings, edges_among, neighbors_among};
use crate::scores::{NO_SEED, beside};
use crate::seeds::ListEntry;
use crate::{Amount, Cluster, KindId, Member};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Clusters whose parts are made at a time, by all threads: each may hold the transactions that are left for all,
/// by default 5 MB.
const TOGETHER: usize = 32;

/// How much of a window is kept.
#[derive(Clone, Copy, Debug)]
pub struct ReportLimits {
    /// Clusters, by rank.
    pub clusters: usize,
    /// Members of a cluster: those known bad, then by score.
    pub members: usize,
    /// Edges of a cluster, by weight.
    pub edges: usize,
    /// Known bad vertices that are no members but have an edge to one, of a cluster, by weight.
    pub outsiders: usize,
    /// Single transactions of an edge, the newest.
    pub transactions: usize,
    /// Single transactions of all edges of all clusters, by rank.
    pub all_transactions: usize,
    /// Entities that can be searched, beside members that are listed.
    pub others: usize,
    /// Known bad entities that are listed, and entries of the list that do not hold.
    pub known: usize,
}

/// What a report says about a window. Serialized, it is the window's `report.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WindowReport {
    /// Which of the run's windows it is, from 0.
    pub index: u32,
    /// Its first instant, in microseconds since 1970 UTC.
    pub from: i64,
    /// The first instant behind it.
    pub until: i64,
    /// Transactions in it.
    pub transactions: u64,
    /// Entities in one of them at least.
    pub entities: u64,
    /// Pairs of entities that dealt with one another.
    pub edges: u64,
    /// Entities that were known bad when it ended.
    pub known_bad: u64,
    /// Clusters that were found, listed or not.
    pub clusters: u64,
    /// Members of these.
    pub members: u64,
    /// Groups that have more members than a cluster may have.
    #[serde(default)]
    pub too_large: u64,
    /// How often each event was.
    pub events: Vec<u64>,
    /// The kinds of entities, by number.
    pub kinds: Vec<String>,
    /// A cluster without a known bad member whose chance is higher is noise.
    pub noise: f64,
    /// Digits after the decimal point of all amounts; none where amounts are not mapped.
    pub decimals: Option<u32>,
    /// The clusters that are listed, by rank.
    pub listed: Vec<ClusterReport>,
    /// Who else transacts with somebody in it.
    pub others: Vec<OtherReport>,
    /// How many these are, listed or not.
    pub others_total: u64,
    /// Who was known bad when it ended, and where that is; those that no transaction names last.
    pub known: Vec<OtherReport>,
    /// Entries of the list that hold then and name nobody who was seen.
    pub known_unseen: u64,
    /// Entries of the list that do not hold then.
    #[serde(default)]
    pub unheld: Vec<InactiveEntryReport>,
    /// How many these are, listed or not.
    #[serde(default)]
    pub unheld_total: u64,
    /// The names of the pairs of columns that a row links, if there are several.
    #[serde(default)]
    pub pairs: Vec<String>,
}

/// An entry of the list of known bad that does not hold at a window's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InactiveEntryReport {
    /// The number of its kind.
    pub kind: u8,
    /// Its id.
    pub id: String,
    /// Since when it holds, in microseconds since 1970 UTC; always, if nothing is said.
    pub from: Option<i64>,
    /// Until when; for ever, if nothing is said.
    pub until: Option<i64>,
}

/// An entity beside the listed members of clusters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OtherReport {
    /// The number of its kind.
    pub kind: u8,
    /// Its id.
    pub id: String,
    /// Its cluster, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Whether it has transactions.
    #[serde(default, skip_serializing_if = "Presence::is_active")]
    pub place: Presence,
    /// Since when it is known bad, in microseconds since 1970 UTC, if it is and the list says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}

/// Whether an entity has transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Presence {
    /// It has some in the window.
    #[default]
    Active = 0,
    /// It has none in the window.
    Idle = 1,
    /// No transaction up to the window's end names it.
    NeverSeen = 2,
}

impl Presence {
    fn is_active(&self) -> bool {
        *self == Presence::Active
    }
}

impl From<KnownBadStatus> for Presence {
    fn from(place: KnownBadStatus) -> Presence {
        match place {
            KnownBadStatus::Cluster(_) | KnownBadStatus::NoCluster => Presence::Active,
            KnownBadStatus::NoTransactions => Presence::Idle,
            KnownBadStatus::NeverSeen => Presence::NeverSeen,
        }
    }
}

/// What a report says about a cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClusterReport {
    /// What it is called in all windows.
    pub id: String,
    /// Its place in the ranking, from 1.
    pub rank: u32,
    /// How suspicious it is.
    pub score: f64,
    /// How often chance alone makes a group as busy.
    pub chance: f64,
    /// A sentence that says what is unusual.
    pub why: String,
    /// How many members it has.
    pub size: u32,
    /// How many of them are known bad.
    pub known: u32,
    /// The number of what became of it.
    pub event: u8,
    /// The end of the window that it was found in first.
    pub born: i64,
    /// Clusters of the window before that it has members of.
    pub parents: Vec<String>,
    /// Its other scores, as [`BESIDE`](crate::scores::BESIDE) has them.
    pub scores: Vec<Option<f64>>,
    /// Who is in it, and what they dealt.
    pub evidence: Evidence,
}

/// Who is in a cluster, and what they dealt with one another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// Members, and behind them those outside.
    pub members: Vec<MemberReport>,
    /// Edges, the heaviest first.
    pub edges: Vec<EdgeReport>,
    /// Members that there are.
    pub members_total: u64,
    /// Edges that there are among the members and those outside who are listed.
    pub edges_total: u64,
}

/// A vertex of a cluster, or one outside that members transact with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MemberReport {
    /// Its id.
    pub id: String,
    /// The number of its kind.
    pub kind: u8,
    /// Whether it is no member.
    pub outside: bool,
    /// What was known of it.
    pub standing: ListStatus,
    /// How suspicious it is.
    pub score: Option<f64>,
    /// The share of its weight that goes to known bad.
    pub share: Option<f64>,
    /// Edges to the nearest known bad member.
    pub distance: Option<u32>,
}

/// What was known of an entity when the window ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum ListStatus {
    /// Nothing.
    #[default]
    Unknown = 0,
    /// It is on the black list.
    KnownBad = 1,
    /// It is on the white list.
    Trusted = 2,
}

/// What one member of a cluster paid another; its ends are places in [`Evidence::members`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EdgeReport {
    /// Who paid.
    pub source: u32,
    /// Who was paid.
    pub target: u32,
    /// What the two weigh together.
    pub weight: f64,
    /// How many transactions there are; where known.
    pub count: Option<u64>,
    /// Their sum, in smallest units.
    pub amount: Option<u64>,
    /// When the first was, in microseconds since 1970 UTC.
    pub first: Option<i64>,
    /// When the last was.
    pub last: Option<i64>,
    /// The newest of them, the newest first: when, and how much in smallest units.
    pub newest: Vec<(i64, Option<u64>)>,
    /// The places in [`WindowReport::pairs`] of the pairs of columns that link the two, if there are several.
    #[serde(default)]
    pub pairs: Vec<u32>,
}

impl Default for ReportLimits {
    fn default() -> ReportLimits {
        ReportLimits {
            clusters: 10_000,
            members: 1000,
            edges: 2000,
            outsiders: 50,
            transactions: 100,
            all_transactions: 200_000,
            others: 250_000,
            known: 100_000,
        }
    }
}

impl WindowReport {
    /// What a report says about a window.
    pub fn of(found: WindowFindings<'_>, limits: ReportLimits) -> WindowReport {
        let WindowFindings { window, findings, .. } = found;
        let mut events = vec![0; EVENTS.len()];
        for cluster in &findings.clusters {
            events[usize::from(event_of(cluster.fate))] += 1;
        }
        events[DIED] = findings.ended.len() as u64;
        let graph = &window.graph;
        let dealing = (0..graph.vertices()).filter(|&vertex| graph.degree(vertex) > 0).count();
        let clusters: Vec<_> = found.clusters().take(limits.clusters).collect();
        let mut listed: Vec<ClusterReport> = Vec::with_capacity(clusters.len());
        let mut left = limits;
        for part in clusters.chunks(TOGETHER) {
            let report =
                |&(cluster, members): &(_, &[Member])| found.cluster(cluster, members, left);
            let mut reports: Vec<ClusterReport> = part.par_iter().map(report).collect();
            // Each had what was left before all of them; ranks are served in their order.
            for edge in reports.iter_mut().flat_map(|report| &mut report.evidence.edges) {
                edge.newest.truncate(left.all_transactions);
                left.all_transactions -= edge.newest.len();
            }
            listed.append(&mut reports);
        }
        let (others, others_total) = found.others(&listed, limits.others);
        let mut places = found.known_bad_places();
        places.truncate(limits.known);
        let since = found.known_bad_since(&places);
        let known = places.iter().zip(since).map(|(known, since)| OtherReport {
            kind: known.kind.0,
            id: known.id.into(),
            cluster: known.place.cluster().map(|id| id.to_string()),
            place: known.place.into(),
            since: since.map(|since| since.0),
        });
        let unheld = || found.listed_bad.iter().filter(|entry| !found.holds(entry));
        let unheld_report = |entry: &ListEntry| InactiveEntryReport {
            kind: entry.kind.0,
            id: entry.id.clone(),
            from: entry.from.map(|from| from.0),
            until: entry.until.map(|until| until.0),
        };
        WindowReport {
            unheld: unheld().take(limits.known).map(unheld_report).collect(),
            unheld_total: unheld().count() as u64,
            pairs: if found.pairs.len() > 1 { found.pairs.to_vec() } else { Vec::new() },
            others,
            others_total,
            known: known.collect(),
            known_unseen: found.known_bad.unseen.len() as u64,
            index: window.index,
            from: window.range.from.0,
            until: window.range.until.0,
            transactions: window.transactions,
            entities: dealing as u64,
            edges: graph.edges(),
            known_bad: found.known_bad.vertices.len() as u64,
            clusters: findings.clusters.len() as u64,
            members: findings.members.len() as u64,
            too_large: findings.too_large,
            events,
            kinds: found.entities.kinds().to_vec(),
            noise: found.noise,
            decimals: found.ledger.decimals(),
            listed,
        }
    }
}

impl WindowFindings<'_> {
    /// Who transacts with somebody and is no member that is listed, by number; and how many these are.
    fn others(&self, listed: &[ClusterReport], most: usize) -> (Vec<OtherReport>, u64) {
        let members = listed.iter().flat_map(|cluster| &cluster.evidence.members);
        let inside = members.filter(|member| !member.outside);
        let entities = self.entities;
        let inside = inside.filter_map(|m| entities.find(KindId(m.kind), &m.id));
        let inside: BTreeSet<VertexId> = inside.collect();
        let clusters = self.cluster_of_members();
        let graph = &self.window.graph;
        let others = || {
            let dealing = (0..graph.vertices()).filter(|&vertex| graph.degree(vertex) > 0);
            dealing.filter(|vertex| !inside.contains(vertex))
        };
        let report = |vertex| OtherReport {
            kind: entities.kind_of(vertex).0,
            id: entities.id_of(vertex).into(),
            cluster: clusters.get(&vertex).map(ToString::to_string),
            place: Presence::Active,
            since: None,
        };
        // Members of clusters that are not listed first.
        let (first, last): (Vec<_>, Vec<_>) = others().partition(|v| clusters.contains_key(v));
        let total = (first.len() + last.len()) as u64;
        (first.into_iter().chain(last).take(most).map(report).collect(), total)
    }

    fn cluster(
        &self,
        cluster: &Cluster,
        members: &[Member],
        limits: ReportLimits,
    ) -> ClusterReport {
        ClusterReport {
            id: cluster.id.to_string(),
            rank: cluster.rank,
            score: cluster.score,
            chance: cluster.chance,
            why: self.why(cluster),
            size: cluster.size,
            known: cluster.seeds,
            event: event_of(cluster.fate),
            born: cluster.born.0,
            parents: cluster.parents.iter().map(ToString::to_string).collect(),
            scores: beside(cluster).into(),
            evidence: self.evidence(members, limits),
        }
    }

    fn evidence(&self, members: &[Member], limits: ReportLimits) -> Evidence {
        // They come by score; the sort is stable.
        let mut kept: Vec<&Member> = members.iter().collect();
        kept.sort_by_key(|member| !member.known_bad);
        kept.truncate(limits.members);
        let mut everyone: Vec<VertexId> = members.iter().map(|member| member.vertex).collect();
        everyone.sort_unstable();
        let inside: Vec<VertexId> = kept.iter().map(|member| member.vertex).collect();
        let outside = self.known_bad_around(&inside, &everyone, limits.outsiders);
        let mut places: Vec<(VertexId, u32)> =
            inside.iter().chain(&outside).copied().zip(0..).collect();
        places.sort_unstable();
        let vertices: Vec<VertexId> = places.iter().map(|&(vertex, _)| vertex).collect();
        let place_of = |vertex| {
            let found = places.binary_search_by_key(&vertex, |&(vertex, _)| vertex);
            found.ok().map(|at| places[at].1)
        };
        let mut edges = edges_among(&self.window.graph, &vertices, self.ledger);
        let edges_total = edges.len() as u64;
        edges.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        edges.truncate(limits.edges);
        let mut left = limits.all_transactions;
        let report = |edge: &Edge| {
            let ends = (place_of(edge.source)?, place_of(edge.target)?);
            let most = limits.transactions.min(left);
            let newest = self.ledger.newest(edge.source, edge.target, most);
            left -= newest.len();
            let pairs = self.ledger.pairs(edge.source, edge.target);
            Some(EdgeReport { pairs, ..edge_report(edge, ends, &newest) })
        };
        let outside = outside.iter().map(|&vertex| self.outsider(vertex));
        Evidence {
            members: kept.iter().map(|member| self.member(member)).chain(outside).collect(),
            edges: edges.iter().filter_map(report).collect(),
            members_total: members.len() as u64,
            edges_total,
        }
    }

    /// Known bad vertices that are no members, by the weight of their edges to `inside`, highest first, and among
    /// equals by number.
    fn known_bad_around(
        &self,
        inside: &[VertexId],
        everyone: &[VertexId],
        most: usize,
    ) -> Vec<VertexId> {
        let mut weights = std::collections::BTreeMap::<VertexId, u64>::new();
        for &vertex in inside {
            neighbors_among(
                &self.window.graph,
                vertex,
                &self.known_bad.vertices,
                |other, weight| {
                    if everyone.binary_search(&other).is_err() {
                        *weights.entry(other).or_default() += u64::from(weight);
                    }
                },
            );
        }
        let mut around: Vec<_> = weights.into_iter().collect();
        around.sort_by_key(|&(_, weight)| std::cmp::Reverse(weight));
        around.truncate(most);
        around.into_iter().map(|(vertex, _)| vertex).collect()
    }

    fn member(&self, member: &Member) -> MemberReport {
        let standing = match member.known_bad {
            true => ListStatus::KnownBad,
            false => self.standing(member.vertex),
        };
        MemberReport {
            id: self.entities.id_of(member.vertex).into(),
            kind: self.entities.kind_of(member.vertex).0,
            outside: false,
            standing,
            score: Some(member.score),
            share: Some(member.share_to_known_bad),
            distance: Some(member.seed_distance).filter(|&distance| distance != NO_SEED),
        }
    }

    fn outsider(&self, vertex: VertexId) -> MemberReport {
        MemberReport {
            id: self.entities.id_of(vertex).into(),
            kind: self.entities.kind_of(vertex).0,
            outside: true,
            standing: self.standing(vertex),
            score: None,
            share: None,
            distance: None,
        }
    }

    fn standing(&self, vertex: VertexId) -> ListStatus {
        match () {
            () if self.is_known_bad(vertex) => ListStatus::KnownBad,
            () if self.is_trusted(vertex) => ListStatus::Trusted,
            () => ListStatus::Unknown,
        }
    }
}

fn edge_report(edge: &Edge, (source, target): (u32, u32), newest: &[Payment]) -> EdgeReport {
    let flow = edge.flow;
    let units = |amount: Option<Amount>| amount.map(|amount| amount.units);
    EdgeReport {
        source,
        target,
        weight: edge.weight,
        count: flow.map(|flow| flow.count),
        amount: flow.and_then(|flow| units(flow.amount)),
        first: flow.map(|flow| flow.first.0),
        last: flow.map(|flow| flow.last.0),
        newest: newest.iter().map(|payment| (payment.time.0, units(payment.amount))).collect(),
        pairs: Vec::new(),
    }
}
