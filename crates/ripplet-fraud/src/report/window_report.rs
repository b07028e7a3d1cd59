//! Part of a window in a report, kept when the window is finished.

use super::events::{DIED, EVENTS, event_of};
use super::others::{OtherReport, Presence};
use crate::findings::NO_SEED;
use crate::folder::ScoreRecord;
use crate::ledger::Payment;
use crate::output::{
    Behind, Edge, Explanation, PathFlow, Reason, WindowFindings, edges_among, neighbors_among,
};
use crate::scores::beside;
use crate::seeds::ListEntry;
use crate::{Amount, Cluster, KindId, Member};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Clusters in one parallel block: each may hold all transactions that are left, 5 MB by default.
const TOGETHER: usize = 32;

/// Limits on what is kept of a window.
#[derive(Clone, Copy, Debug)]
pub struct ReportLimits {
    /// Number of clusters, by rank.
    pub clusters: usize,
    /// Number of members of a cluster: known bad ones first, then by score.
    pub members: usize,
    /// Number of edges of a cluster, by weight.
    pub edges: usize,
    /// Number of known bad vertices around a cluster that are no members, by weight.
    pub outsiders: usize,
    /// Number of single transactions of an edge, newest first.
    pub transactions: usize,
    /// Number of single transactions of all edges of all clusters, by rank.
    pub all_transactions: usize,
    /// Number of searchable entities beside the listed members.
    pub others: usize,
    /// Number of known bad entities, and of inactive entries of the deny list.
    pub known: usize,
    /// Number of entities with the highest scores that are neither known to be bad nor trusted or cleared.
    pub entities: usize,
}

/// Report of a window. Serialized and compressed, it is the window's `report.json.gz`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WindowReport {
    /// Number of the window in the run, from 0.
    pub index: u32,
    /// First instant, in microseconds since 1970 UTC.
    pub from: i64,
    /// First instant after the window.
    pub until: i64,
    /// Number of transactions.
    pub transactions: u64,
    /// Number of entities with transactions.
    pub entities: u64,
    /// Number of pairs with transactions.
    pub edges: u64,
    /// Number of known bad entities when it ended.
    pub known_bad: u64,
    /// Number of clusters, listed or not.
    pub clusters: u64,
    /// Number of members of clusters.
    pub members: u64,
    /// Number of groups that exceed the size limit.
    #[serde(default)]
    pub too_large: u64,
    /// Number of clusters by event.
    pub events: Vec<u64>,
    /// Kinds of entities, by number.
    pub kinds: Vec<String>,
    /// Noise threshold: a cluster without a known bad member whose chance is higher is noise.
    pub noise: f64,
    /// Number of decimals of amounts; `None` if amounts are not mapped.
    pub decimals: Option<u32>,
    /// Listed clusters, by rank.
    pub listed: Vec<ClusterReport>,
    /// Searchable entities beside the listed members.
    #[serde(with = "super::others")]
    pub others: Vec<OtherReport>,
    /// Number of these entities, listed or not.
    pub others_total: u64,
    /// Known bad entities when it ended, with their clusters; those that no transaction names last.
    pub known: Vec<OtherReport>,
    /// Number of active entries whose entity was not seen.
    pub known_unseen: u64,
    /// Inactive entries of the deny list.
    #[serde(default)]
    pub unheld: Vec<InactiveEntryReport>,
    /// Number of these entries, listed or not.
    #[serde(default)]
    pub unheld_total: u64,
    /// Names of the pairs of columns that a row links, if there are several.
    #[serde(default)]
    pub pairs: Vec<String>,
    /// Entities with the highest scores that are neither known to be bad nor trusted or cleared, by rank; empty without a model.
    #[serde(default)]
    pub scored: Vec<EntityReport>,
    /// Figures of the scores, with their check; `None` without a model.
    #[serde(default)]
    pub scores: Option<ScoreRecord>,
}

/// Entity with its score and the reasons for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntityReport {
    /// Number of its kind.
    pub kind: u8,
    /// Its id.
    pub id: String,
    /// Probability that it is on the list of known bad; of a fixed combination none.
    pub score: f32,
    /// Rank among all entities, from 1.
    pub rank: u32,
    /// Its cluster, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// List that it is on.
    pub standing: ListStatus,
    /// Why it has its score.
    pub explanation: ExplanationReport,
}

/// Reasons of an entity or a cluster, in words and with what is behind them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExplanationReport {
    /// The largest parts of the score: the evidence, its points above the mean of all entities, and its value in words.
    pub reasons: Vec<(String, f64, String)>,
    /// Kinds and ids of the entities of the path and of the transactions.
    pub names: Vec<(u8, String)>,
    /// Path to the nearest known bad entity, as indices into `names`; empty if there is none.
    pub path: Vec<u32>,
    /// Whether each hop of the path is a tie beyond chance.
    pub along_ties: bool,
    /// Sums of the transactions along the path, in both directions of each hop that has them.
    pub flows: Vec<FlowReport>,
    /// Latest transactions behind the reasons.
    pub transactions: Vec<TransactionReport>,
}

/// Sum of the transactions from one entity to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowReport {
    /// The payer and the payee, as indices into [`ExplanationReport::names`].
    pub ends: (u32, u32),
    /// Number of transactions, if known.
    pub count: Option<u64>,
    /// Summed amount, in smallest units.
    pub amount: Option<u64>,
    /// Time of the first and of the last, in microseconds since 1970 UTC.
    pub times: Option<(i64, i64)>,
}

/// Single transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransactionReport {
    /// The payer and the payee, as indices into [`ExplanationReport::names`].
    pub ends: (u32, u32),
    /// Time in microseconds since 1970 UTC.
    pub time: i64,
    /// Amount in smallest units.
    pub amount: Option<u64>,
}

/// Entry of the deny list that is not active at a window's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InactiveEntryReport {
    /// Number of its kind.
    pub kind: u8,
    /// Its id.
    pub id: String,
    /// Start of its validity, in microseconds since 1970 UTC; `None` if unlimited.
    pub from: Option<i64>,
    /// End of its validity; `None` if unlimited.
    pub until: Option<i64>,
}

/// Report of a cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClusterReport {
    /// Id in all windows.
    pub id: String,
    /// Position in the ranking, from 1.
    pub rank: u32,
    /// Score by which clusters are ranked.
    pub score: f64,
    /// P-value: how often chance alone makes a group as busy.
    pub chance: f64,
    /// Explanation: a sentence on what is unusual.
    pub why: String,
    /// Number of members.
    pub size: u32,
    /// Number of known bad members.
    pub known: u32,
    /// Number of its event.
    pub event: u8,
    /// End of the window in which it was first found.
    pub born: i64,
    /// Clusters of the previous window that it has members of.
    pub parents: Vec<String>,
    /// Further scores, in the order of [`BESIDE`](crate::scores::BESIDE).
    pub scores: Vec<Option<f64>>,
    /// Members and edges.
    pub evidence: Evidence,
    /// Why it has its rank.
    #[serde(default)]
    pub explanation: ExplanationReport,
}

/// Members of a cluster and the edges among them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// Members, followed by vertices outside.
    pub members: Vec<MemberReport>,
    /// Edges, heaviest first.
    pub edges: Vec<EdgeReport>,
    /// Number of members, listed or not.
    pub members_total: u64,
    /// Number of edges among the members and the listed vertices outside.
    pub edges_total: u64,
}

/// Vertex of a cluster, or one outside that has transactions with members.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MemberReport {
    /// Its id.
    pub id: String,
    /// Number of its kind.
    pub kind: u8,
    /// Whether it is outside the cluster.
    pub outside: bool,
    /// List that it is on.
    pub standing: ListStatus,
    /// Suspicion score.
    pub score: Option<f64>,
    /// Probability that it is on the list of known bad, and its rank among all entities; `None` without a model.
    #[serde(default)]
    pub entity_score: Option<(f32, u32)>,
    /// Share of its weight that goes to known bad vertices.
    pub share: Option<f64>,
    /// Hops to the nearest known bad member.
    pub distance: Option<u32>,
}

/// List that an entity was on when the window ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum ListStatus {
    /// No list.
    #[default]
    Unknown = 0,
    /// The deny list.
    KnownBad = 1,
    /// The allow list.
    Trusted = 2,
}

/// Payments from one vertex of a cluster to another; its ends are indices into [`Evidence::members`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EdgeReport {
    /// The payer.
    pub source: u32,
    /// The payee.
    pub target: u32,
    /// Weight of the undirected edge.
    pub weight: f64,
    /// Number of transactions, if known.
    pub count: Option<u64>,
    /// Summed amount, in smallest units.
    pub amount: Option<u64>,
    /// Time of the first, in microseconds since 1970 UTC.
    pub first: Option<i64>,
    /// Time of the last.
    pub last: Option<i64>,
    /// Newest transactions, newest first: time and amount in smallest units.
    pub newest: Vec<(i64, Option<u64>)>,
    /// Pairs of columns that link the two, as indices into [`WindowReport::pairs`], if there are several.
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
            entities: 100,
        }
    }
}

impl WindowReport {
    /// Builds the report of a window.
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
            // Each cluster got all that was left before the block; now ranks are served in their order.
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
            scored: found.scored(),
            scores: found.scores.map(ScoreRecord::of),
        }
    }
}

impl WindowFindings<'_> {
    /// Returns the searchable entities beside the listed members, by number, and their total.
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
        // Members of clusters that are not listed come first.
        let (first, last): (Vec<_>, Vec<_>) = others().partition(|v| clusters.contains_key(v));
        let total = (first.len() + last.len()) as u64;
        let mut others: Vec<_> = first.into_iter().chain(last).take(most).map(report).collect();
        super::others::sort(&mut others);
        (others, total)
    }

    /// Returns the entities with the highest scores, with their reasons.
    fn scored(&self) -> Vec<EntityReport> {
        let Some((explained, scores)) = self.explained.zip(self.scores) else { return Vec::new() };
        let clusters = self.cluster_of_members();
        let entity = |(vertex, explanation): &(VertexId, Explanation)| {
            let (score, rank) = scores.of(*vertex)?;
            Some(EntityReport {
                kind: self.entities.kind_of(*vertex).0,
                id: self.entities.id_of(*vertex).into(),
                score,
                rank,
                cluster: clusters.get(vertex).map(ToString::to_string),
                standing: self.standing(*vertex),
                explanation: self.explanation(explanation),
            })
        };
        explained.entities.iter().filter_map(entity).collect()
    }

    fn explanation(&self, of: &Explanation) -> ExplanationReport {
        let mut names: Vec<VertexId> = Vec::new();
        let mut place = |vertex: VertexId| {
            let found = names.iter().position(|&name| name == vertex);
            found.unwrap_or_else(|| {
                names.push(vertex);
                names.len() - 1
            }) as u32
        };
        let units = |amount: Option<Amount>| amount.map(|amount| amount.units);
        let path = of.path.iter().flat_map(|path| &path.vertices).map(|&v| place(v)).collect();
        let flow = |of: &PathFlow| FlowReport {
            ends: (place(of.source), place(of.target)),
            count: of.flow.map(|flow| flow.count),
            amount: of.flow.and_then(|flow| units(flow.amount)),
            times: of.flow.map(|flow| (flow.first.0, flow.last.0)),
        };
        let flows = of.flows.iter().map(flow).collect();
        let transaction = |of: &Behind| TransactionReport {
            ends: (place(of.source), place(of.target)),
            time: of.payment.time.0,
            amount: units(of.payment.amount),
        };
        let transactions = of.transactions.iter().map(transaction).collect();
        let reason = |of: &Reason| (of.evidence.to_owned(), of.points, of.text.clone());
        ExplanationReport {
            reasons: of.reasons.iter().map(reason).collect(),
            path,
            along_ties: of.path.as_ref().is_some_and(|path| path.along_ties),
            flows,
            transactions,
            names: names
                .iter()
                .map(|&v| (self.entities.kind_of(v).0, self.entities.id_of(v).to_owned()))
                .collect(),
        }
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
            explanation: self
                .explained
                .and_then(|explained| explained.clusters.get(cluster.rank.checked_sub(1)? as usize))
                .map(|explanation| self.explanation(explanation))
                .unwrap_or_default(),
        }
    }

    fn evidence(&self, members: &[Member], limits: ReportLimits) -> Evidence {
        // Members are sorted by score; the sort is stable.
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

    /// Returns the known bad vertices outside a cluster with edges to `inside`, by weight, highest first,
    /// then by number.
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
            entity_score: self.scores.and_then(|scores| scores.of(member.vertex)),
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
            entity_score: self.scores.and_then(|scores| scores.of(vertex)),
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
