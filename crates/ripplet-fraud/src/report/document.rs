//! Data of a report page: windows and clusters in columns, and each entity's id once.
//!
//! `page/data.js` reads it. What belongs to a window, a cluster or the search is packed
//! ([`ripplet_page::packed`]), and unpacked when a reader opens it. The size of a page is limited, so that a
//! browser opens it quickly. Beyond the limit, older windows are left out first, and in a window the lower ranks.

use super::events::{EVENTS, Event};
use super::others::OtherReport;
use super::run::Run;
use super::search::{EntitySet, SearchColumns};
use super::window_report::{
    ClusterReport, Evidence, ExplanationReport, FlowReport, InactiveEntryReport, ListStatus,
    MemberReport, TransactionReport, WindowReport,
};
use crate::chance::grouped;
use crate::evidence::is_of_ties;
use crate::evolution::OVERLAP_RULE;
use crate::model::Check;
use crate::scores::{BESIDE, CHANCE, Definition, OF_CLUSTERS, OF_CLUSTERS_BY_ENTITIES, OF_MEMBERS};
use crate::time::{TimeRange, Timestamp};
use hashbrown::HashMap;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Size limits of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits {
    /// Size of its data in bytes, packed. Rows of clusters, the search index, and single transactions take at most an
    /// eighth each, the entities with the highest scores a quarter, and members and edges the rest.
    pub bytes: u64,
}

/// Builder of a page's data; windows are added newest first.
#[derive(Debug)]
pub struct ReportBuilder {
    limits: PageLimits,
    kinds: Vec<String>,
    decimals: Option<u32>,
    /// Names of the pairs of columns that a row links, if there are several.
    pairs: Vec<String>,
    entities: EntityColumns,
    /// Of the newest window.
    unheld: UnheldColumns,
    place_of: HashMap<(u8, String), u32>,
    /// Windows, newest first.
    windows: Vec<WindowColumns>,
    details: Vec<PackedDetail>,
    /// For each cluster, the windows that list it, from the newest.
    windows_of: BTreeMap<String, Vec<u32>>,
    /// Whether a listed member is known bad or trusted, and whether a vertex outside of clusters is listed.
    has_standings: bool,
    has_outside: bool,
    has_scores: bool,
    of_rows: u64,
    of_scored: u64,
    of_details: u64,
    of_transactions: u64,
    of_search: u64,
    left_out: LeftOut,
}

/// Counters of what a page leaves out.
#[derive(Clone, Debug, Default)]
struct LeftOut {
    listed: u64,
    unlisted: u64,
    without_detail: u64,
    /// Windows whose search index is incomplete, newest first.
    unsearched: Vec<Part>,
    /// Windows whose list of known bad entities is incomplete, newest first.
    known: Vec<Part>,
    /// Edges without their single transactions.
    without_transactions: u64,
    /// Windows without the entities with the highest scores.
    without_scored: u64,
}

/// Window whose list is incomplete.
#[derive(Clone, Copy, Debug)]
struct Part {
    window: TimeRange,
    left_out: u64,
    all: u64,
}

impl Part {
    fn of(report: &WindowReport, left_out: u64, all: u64) -> Option<Part> {
        let window = TimeRange::new(Timestamp(report.from), Timestamp(report.until));
        (left_out > 0).then_some(Part { window, left_out, all })
    }
}

/// Number of windows that a sentence names; the others are counted.
const NAMED: usize = 3;

/// Formats what is left out of windows as a clause: `1,000 of 2,000 entities of the window of …`.
fn parts_text(parts: &[Part], things: &str) -> String {
    let number = |number: u64| grouped(number as f64);
    let named = parts.iter().take(NAMED).map(|Part { window, left_out, all }| {
        format!("{} of {} {things} of the window of {window}", number(*left_out), number(*all))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    match parts.get(NAMED..).unwrap_or_default() {
        [] => named,
        others => {
            let left_out = others.iter().map(|part| part.left_out).sum();
            let windows = if others.len() == 1 { "window" } else { "windows" };
            format!("{named}, and {} of {} other {windows}", number(left_out), others.len())
        }
    }
}

/// Data of the page, in the layout of its script.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    run: &'a Run,
    kinds: &'a [String],
    /// Digits after the decimal point of amounts.
    decimals: Option<u32>,
    /// Names of the pairs of columns that a row links, if there are several.
    pairs: &'a [String],
    /// Entries of the deny list that are not active at the end of the newest window.
    unheld: &'a UnheldColumns,
    chance: Definition,
    score: Definition,
    scores: &'static [Definition],
    member_score: Definition,
    events: &'static [Event],
    overlap_rule: &'static str,
    /// Kinds and ids, packed.
    entities: String,
    #[serde(serialize_with = "reversed")]
    windows: &'a [WindowColumns],
    details: Vec<OfWindow<'a>>,
    /// Clusters, each with the stretches of windows that list it.
    clusters: ClusterWindows<'a>,
    /// Whether entities have scores.
    has_scores: bool,
    has_standings: bool,
    has_outside: bool,
    left_out: Vec<String>,
    /// Command that finds an entity that the page lacks.
    find: String,
}

#[derive(Debug, Default, Serialize)]
struct EntityColumns {
    kind: Vec<u8>,
    id: Vec<String>,
}

#[derive(Debug, Serialize)]
struct WindowColumns {
    from: i64,
    until: i64,
    transactions: u64,
    entities: u64,
    edges: u64,
    known_bad: u64,
    clusters: u64,
    members: u64,
    too_large: u64,
    noise: f64,
    events: Vec<u64>,
    known_unseen: u64,
    /// Number of entities that cannot be searched.
    unsearched: u64,
    /// [`ClusterColumns`], packed.
    listed: String,
    /// [`SearchColumns`], packed.
    search: String,
    /// [`KnownColumns`], packed.
    known: String,
    /// [`ScoredColumns`], packed.
    scored: String,
    /// Number of entities with scores.
    scored_total: u64,
    /// Check of the scores.
    check: Option<CheckColumns>,
    /// Whether the fixed combination scored the entities.
    fixed: bool,
}

/// Check of a window's scores.
#[derive(Debug, Serialize)]
struct CheckColumns {
    average_precision: f64,
    /// Number of held-out known bad among the first 100 over all folds, and the most possible.
    found_at_100: f64,
    most_at_100: u32,
    /// Average precision of a random ranking.
    base_rate: f64,
    known_bad: u32,
    /// Average precision of each evidence alone, highest first, and the number of held-out known bad among its first 100, if
    /// it was written.
    evidence: Vec<(String, f64, Option<f64>)>,
    auc: f64,
    /// Whether the scores rank no better than chance, and whether there are too few known bad to say so.
    is_chance: bool,
    is_unclear: bool,
    /// Evidence that is clearly better than the scores.
    better: Option<(String, f64)>,
    /// Whether it is of ties, which `--model none` ranks clusters by.
    is_of_ties: bool,
}

impl CheckColumns {
    fn of(check: &Check) -> CheckColumns {
        let first = |name: &String| check.evidence_found_at_100.get(name).copied();
        let of = |(name, &value): (&String, &f64)| (name.clone(), value, first(name));
        let mut evidence: Vec<_> = check.evidence.iter().map(of).collect();
        evidence.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let better = check.clearly_better_evidence();
        CheckColumns {
            average_precision: check.average_precision,
            found_at_100: check.found_at_100(),
            most_at_100: check.most_at_100(),
            base_rate: check.chance,
            known_bad: check.known_bad,
            evidence,
            auc: check.auc,
            is_chance: check.is_chance(),
            is_unclear: check.is_unclear(),
            better: better.map(|(name, value)| (name.to_owned(), value)),
            is_of_ties: better.is_some_and(|(name, _)| is_of_ties(name)),
        }
    }
}

/// Entities with the highest scores, in columns.
#[derive(Debug, Default, Serialize)]
struct ScoredColumns {
    entity: Vec<u32>,
    score: Vec<f32>,
    rank: Vec<u32>,
    cluster: Vec<Option<String>>,
    standing: Vec<u8>,
    explanation: Vec<ExplanationColumns>,
}

/// Payer, payee, number, sum, and the seconds of the first and the last.
#[derive(Debug, Serialize)]
struct PackedFlow(u32, u32, Option<u64>, Option<Exact>, Option<f64>, Option<f64>);

/// Reasons, with entities by their numbers.
#[derive(Debug, Default, Serialize)]
struct ExplanationColumns {
    /// Evidence, points and words.
    reasons: Vec<(String, f32, String)>,
    path: Vec<u32>,
    along_ties: bool,
    flows: Vec<PackedFlow>,
    /// Payer, payee, second and amount.
    transactions: Vec<(u32, u32, f64, Option<Exact>)>,
}

/// Clusters in columns: the stretches of windows that list each.
#[derive(Debug, Default, Serialize)]
struct ClusterWindows<'a> {
    id: Vec<&'a str>,
    /// First and last window of each stretch, ascending.
    windows: Vec<Vec<usize>>,
}

/// Known bad entities of a window.
#[derive(Debug, Default, Serialize)]
struct KnownColumns {
    entity: Vec<u32>,
    cluster: Vec<Option<String>>,
    /// A [`Presence`](super::Presence).
    place: Vec<u8>,
    /// Time since when each is known, in microseconds since 1970 UTC.
    since: Vec<Option<i64>>,
    /// Number of entities that are not listed.
    left_out: u64,
}

/// Entries of the deny list that are not active at a window's end.
#[derive(Debug, Default, Serialize)]
struct UnheldColumns {
    entity: Vec<u32>,
    /// Start of each entry's validity, in microseconds since 1970 UTC.
    from: Vec<Option<i64>>,
    until: Vec<Option<i64>>,
    /// Number of entries that are not listed.
    left_out: u64,
}

#[derive(Debug, Default, Serialize)]
struct ClusterColumns {
    id: Vec<String>,
    rank: Vec<u32>,
    score: Vec<f64>,
    chance: Vec<f64>,
    why: Vec<String>,
    size: Vec<u32>,
    known: Vec<u32>,
    event: Vec<u8>,
    born: Vec<i64>,
    parents: Vec<Vec<String>>,
    scores: Vec<Vec<Option<f32>>>,
    /// Index of a cluster's detail, −1 if it was left out.
    detail: Vec<i64>,
}

/// Detail of a cluster, packed.
#[derive(Debug, Serialize)]
struct PackedDetail {
    /// Index from the newest window, the reverse of the page's order.
    #[serde(skip)]
    window: usize,
    /// [`Detail`].
    evidence: String,
    /// Newest transactions of each edge: time in seconds after the window's first instant, and amount. Empty if
    /// they are left out.
    transactions: String,
}

#[derive(Debug, Serialize)]
struct Detail {
    members: MemberColumns,
    edges: EdgeColumns,
    explanation: ExplanationColumns,
    members_total: u64,
    edges_total: u64,
}

/// Detail with the index of its window.
#[derive(Serialize)]
struct OfWindow<'a> {
    window: usize,
    #[serde(flatten)]
    detail: &'a PackedDetail,
}

#[derive(Debug, Default, Serialize)]
struct MemberColumns {
    entity: Vec<u32>,
    outside: Vec<u8>,
    standing: Vec<u8>,
    score: Vec<Option<f32>>,
    share: Vec<Option<f32>>,
    /// Probability and rank among all entities.
    entity_score: Vec<Option<(f32, u32)>>,
    distance: Vec<Option<u32>>,
}

#[derive(Debug, Default, Serialize)]
struct EdgeColumns {
    source: Vec<u32>,
    target: Vec<u32>,
    weight: Vec<f32>,
    count: Vec<Option<u64>>,
    /// Amounts in smallest units.
    amount: Vec<Option<Exact>>,
    /// Seconds after the window's first instant.
    first: Vec<Option<f64>>,
    last: Vec<Option<f64>>,
    /// Pairs of columns of each edge, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pairs: Vec<Vec<u32>>,
}

impl Default for PageLimits {
    fn default() -> PageLimits {
        PageLimits { bytes: 44 << 20 }
    }
}

impl ReportBuilder {
    /// Creates a page without windows.
    pub fn new(limits: PageLimits) -> ReportBuilder {
        ReportBuilder {
            limits,
            kinds: Vec::new(),
            decimals: None,
            pairs: Vec::new(),
            entities: EntityColumns::default(),
            unheld: UnheldColumns::default(),
            place_of: HashMap::new(),
            windows: Vec::new(),
            details: Vec::new(),
            windows_of: BTreeMap::new(),
            has_standings: false,
            has_outside: false,
            has_scores: false,
            of_rows: 0,
            of_scored: 0,
            of_details: 0,
            of_transactions: 0,
            of_search: 0,
            left_out: LeftOut::default(),
        }
    }

    /// Whether members and edges of older windows still fit. If not, a caller may clear their
    /// [`ClusterReport::evidence`] unread.
    pub fn has_room(&self) -> bool {
        self.left_out.without_detail == 0
    }

    /// Adds a window that is older than those before.
    pub fn add(&mut self, report: WindowReport) {
        let kinds: Vec<u8> = report.kinds.iter().map(|kind| self.kind(kind)).collect();
        self.decimals = self.decimals.or(report.decimals);
        if self.pairs.is_empty() {
            self.pairs.clone_from(&report.pairs);
        }
        let listed = self.listed(&report, &kinds);
        let known = self.known(&report, &kinds);
        let (search, unsearched) = self.search(&report, &kinds);
        if self.windows.is_empty() {
            self.unheld = self.unheld(&report, &kinds);
        }
        let scored = self.scored(&report, &kinds);
        self.has_scores |= report.scores.is_some();
        let check = report.scores.as_ref().and_then(|scores| scores.check.as_ref());
        self.windows.push(WindowColumns {
            from: report.from,
            until: report.until,
            transactions: report.transactions,
            entities: report.entities,
            edges: report.edges,
            known_bad: report.known_bad,
            clusters: report.clusters,
            members: report.members,
            too_large: report.too_large,
            noise: report.noise,
            events: report.events,
            known_unseen: report.known_unseen,
            unsearched,
            listed,
            search,
            known,
            scored,
            scored_total: report.scores.as_ref().map_or(0, |scores| scores.entities),
            fixed: report.scores.as_ref().is_some_and(|scores| !scores.learnt),
            check: check.map(CheckColumns::of),
        });
    }

    /// Packs the rows of a window's clusters, as many as fit, with their details.
    fn listed(&mut self, report: &WindowReport, kinds: &[u8]) -> String {
        let room = (self.limits.bytes / 8).saturating_sub(self.of_rows);
        let rows_of = |rows: usize, details: &[Option<usize>]| {
            let mut listed = ClusterColumns::default();
            for (at, cluster) in report.listed.iter().take(rows).enumerate() {
                listed.push(cluster, details.get(at).copied().flatten());
            }
            packed(&listed)
        };
        let mut rows = report.listed.len();
        while rows > 0 && rows_of(rows, &[]).len() as u64 > room {
            rows /= 2;
        }
        let newest = self.windows.len() as u32;
        let mut details = Vec::with_capacity(rows);
        for cluster in report.listed.iter().take(rows) {
            details.push(self.detail(cluster, kinds, report.from));
            self.windows_of.entry(cluster.id.clone()).or_default().push(newest);
            for member in &cluster.evidence.members {
                self.has_standings |= member.standing != ListStatus::Unknown;
                self.has_outside |= member.outside;
            }
        }
        let listed = rows_of(rows, &details);
        self.of_rows += listed.len() as u64;
        self.left_out.listed += rows as u64;
        self.left_out.unlisted += report.clusters.saturating_sub(rows as u64);
        listed
    }

    /// Returns the index of a kind among the page's.
    fn kind(&mut self, name: &str) -> u8 {
        let place = self.kinds.iter().position(|kind| kind == name).unwrap_or_else(|| {
            self.kinds.push(name.into());
            self.kinds.len() - 1
        });
        // Windows of one run share one list of fewer than 255 kinds.
        u8::try_from(place).unwrap_or(u8::MAX)
    }

    /// Keeps the detail of a cluster if it fits, and returns its index.
    fn detail(&mut self, cluster: &ClusterReport, kinds: &[u8], from: i64) -> Option<usize> {
        let ClusterReport { evidence, explanation, .. } = cluster;
        // Stop at the first detail that does not fit, so that the kept ones have no gaps.
        if self.left_out.without_detail > 0 {
            self.left_out.without_detail += 1;
            return None;
        }
        let new = |member: &&MemberReport| !self.place_of.contains_key(&key(member, kinds));
        let names: u64 = evidence.members.iter().filter(new).map(|m| bytes_of(&m.id) + 3).sum();
        let members = &evidence.members;
        let places = members.iter().map(|member| self.entity(member, kinds)).collect();
        let explanation = self.explanation(explanation, kinds, from);
        let packed_evidence = packed(&Detail::of(evidence, explanation, places, from));
        let cost = names + packed_evidence.len() as u64 + 40;
        if self.of_details + cost > self.limits.bytes / 8 * 3 {
            self.left_out.without_detail += 1;
            return None;
        }
        self.of_details += cost;
        let transactions = self.transactions(evidence, from);
        let window = self.windows.len();
        self.details.push(PackedDetail { window, evidence: packed_evidence, transactions });
        Some(self.details.len() - 1)
    }

    /// Packs the entities with the highest scores, as many as fit.
    fn scored(&mut self, report: &WindowReport, kinds: &[u8]) -> String {
        let mut columns = ScoredColumns::default();
        let mut names = 0;
        for entity in &report.scored {
            let key = (kind_at(kinds, entity.kind), entity.id.clone());
            if !self.place_of.contains_key(&key) {
                names += bytes_of(&entity.id) + 4;
            }
            columns.entity.push(self.place(key));
            columns.score.push(entity.score);
            columns.rank.push(entity.rank);
            columns.cluster.push(entity.cluster.clone());
            columns.standing.push(entity.standing as u8);
            columns.explanation.push(self.explanation(&entity.explanation, kinds, report.from));
        }
        let all = packed(&columns);
        let cost = names + all.len() as u64;
        if self.of_scored + cost > self.limits.bytes / 4 {
            self.left_out.without_scored += 1;
            return packed(&ScoredColumns::default());
        }
        self.of_scored += cost;
        all
    }

    fn explanation(
        &mut self,
        of: &ExplanationReport,
        kinds: &[u8],
        from: i64,
    ) -> ExplanationColumns {
        let names = of.names.iter().map(|(kind, id)| (kind_at(kinds, *kind), id.clone()));
        let names: Vec<u32> = names.map(|key| self.place(key)).collect();
        // An index beyond the names is of a damaged file.
        let name = |at: u32| names.get(at as usize).copied().unwrap_or_default();
        let second = |at: i64| seconds(at, from);
        let flow = |of: &FlowReport| {
            let (first, last) = of.times.unzip();
            PackedFlow(
                name(of.ends.0),
                name(of.ends.1),
                of.count,
                of.amount.map(Exact),
                first.map(second),
                last.map(second),
            )
        };
        let transaction = |of: &TransactionReport| {
            (name(of.ends.0), name(of.ends.1), second(of.time), of.amount.map(Exact))
        };
        ExplanationColumns {
            reasons: of
                .reasons
                .iter()
                .map(|(evidence, points, words)| (evidence.clone(), *points as f32, words.clone()))
                .collect(),
            path: of.path.iter().map(|&at| name(at)).collect(),
            along_ties: of.along_ties,
            flows: of.flows.iter().map(flow).collect(),
            transactions: of.transactions.iter().map(transaction).collect(),
        }
    }

    /// Returns the number of an entity in the search index, if it and `more` bytes fit.
    fn searched(&mut self, kind: u8, id: &str, more: u64) -> Option<u32> {
        let key = (kind, id.to_owned());
        let name = if self.place_of.contains_key(&key) { 0 } else { bytes_of(&id) + 4 };
        if self.of_search + name + more > self.limits.bytes / 8 {
            return None;
        }
        self.of_search += name + more;
        Some(self.place(key))
    }

    /// Lists the known bad entities of a window, as far as they fit.
    fn known(&mut self, report: &WindowReport, kinds: &[u8]) -> String {
        let mut known = KnownColumns::default();
        for OtherReport { kind, id, cluster, place, since } in &report.known {
            let more = 11 + bytes_of(cluster) + bytes_of(since);
            let Some(entity) = self.searched(kind_at(kinds, *kind), id, more) else { continue };
            known.entity.push(entity);
            known.cluster.push(cluster.clone());
            known.place.push(*place as u8);
            known.since.push(*since);
        }
        let all = report.known_bad + report.known_unseen;
        known.left_out = all.saturating_sub(known.entity.len() as u64);
        self.left_out.known.extend(Part::of(report, known.left_out, all));
        packed(&known)
    }

    /// Lists the inactive entries of the deny list at the end of a window, as far as they fit.
    fn unheld(&mut self, report: &WindowReport, kinds: &[u8]) -> UnheldColumns {
        let mut unheld = UnheldColumns::default();
        for InactiveEntryReport { kind, id, from, until } in &report.unheld {
            let more = 10 + bytes_of(from) + bytes_of(until);
            let Some(entity) = self.searched(kind_at(kinds, *kind), id, more) else { continue };
            unheld.entity.push(entity);
            unheld.from.push(*from);
            unheld.until.push(*until);
        }
        unheld.left_out = report.unheld_total.saturating_sub(unheld.entity.len() as u64);
        unheld
    }

    /// Packs the search index of a window, as far as it fits: members first. Returns it with the number of entities
    /// that it lacks.
    fn search(&mut self, report: &WindowReport, kinds: &[u8]) -> (String, u64) {
        let mut search = SearchColumns::default();
        // One bit for each numbered entity; a new one is counted with its name.
        self.of_search += EntitySet::bytes_for(self.entities.id.len());
        let listed = report.listed.iter().flat_map(|cluster| {
            let members = cluster.evidence.members.iter().filter(|member| !member.outside);
            members.map(|member| (member.kind, &member.id, Some(&cluster.id)))
        });
        let others = report.others.iter();
        let others = others.map(|other| (other.kind, &other.id, other.cluster.as_ref()));
        for (kind, id, cluster) in listed.chain(others) {
            let more = if cluster.is_some() { 8 } else { 0 };
            let Some(entity) = self.searched(kind_at(kinds, kind), id, more) else { continue };
            search.push(entity, cluster);
        }
        let left_out = report.entities.saturating_sub(search.count);
        self.left_out.unsearched.extend(Part::of(report, left_out, report.entities));
        (packed(&search), left_out)
    }

    /// Packs the single transactions of a cluster's edges, if they fit.
    fn transactions(&mut self, evidence: &Evidence, from: i64) -> String {
        let newest: Vec<Vec<(f64, Option<Exact>)>> = evidence
            .edges
            .iter()
            .map(|edge| {
                let of = edge.newest.iter();
                of.map(|&(time, units)| (seconds(time, from), units.map(Exact))).collect()
            })
            .collect();
        let transactions = packed(&newest);
        if self.of_transactions + transactions.len() as u64 > self.limits.bytes / 8 {
            let pairs = newest.iter().filter(|newest| !newest.is_empty()).count();
            self.left_out.without_transactions += pairs as u64;
            return String::new();
        }
        self.of_transactions += transactions.len() as u64;
        transactions
    }

    fn entity(&mut self, member: &MemberReport, kinds: &[u8]) -> u32 {
        self.place(key(member, kinds))
    }

    /// Returns the index of an entity among the page's.
    fn place(&mut self, key: (u8, String)) -> u32 {
        let EntityColumns { kind, id } = &mut self.entities;
        *self.place_of.entry(key).or_insert_with_key(|(of, name)| {
            kind.push(*of);
            id.push(name.clone());
            (id.len() - 1) as u32
        })
    }

    pub(super) fn document<'a>(&'a self, run: &'a Run) -> Document<'a> {
        let newest = self.windows.len().saturating_sub(1);
        let of_window =
            |detail: &'a PackedDetail| OfWindow { window: newest - detail.window, detail };
        let stretches = |windows: &[u32]| -> Vec<usize> {
            let mut stretches: Vec<usize> = Vec::new();
            for &window in windows.iter().rev() {
                let window = newest - window as usize;
                match stretches.last_mut() {
                    Some(last) if *last + 1 == window => *last = window,
                    _ => stretches.extend([window, window]),
                }
            }
            stretches
        };
        let clusters = ClusterWindows {
            id: self.windows_of.keys().map(String::as_str).collect(),
            windows: self.windows_of.values().map(|windows| stretches(windows)).collect(),
        };
        Document {
            run,
            kinds: &self.kinds,
            decimals: self.decimals,
            pairs: &self.pairs,
            unheld: &self.unheld,
            chance: CHANCE,
            score: if self.has_scores { OF_CLUSTERS_BY_ENTITIES } else { OF_CLUSTERS },
            has_scores: self.has_scores,
            scores: &BESIDE,
            member_score: OF_MEMBERS,
            events: &EVENTS,
            overlap_rule: OVERLAP_RULE,
            entities: packed(&self.entities),
            windows: &self.windows,
            details: self.details.iter().map(of_window).collect(),
            clusters,
            has_standings: self.has_standings,
            has_outside: self.has_outside,
            left_out: self.left_out.sentences(self.limits, &run.find_command()),
            find: run.find_command(),
        }
    }
}

/// Returns a member's key in the look-up: ids of different kinds are different entities.
fn key(member: &MemberReport, kinds: &[u8]) -> (u8, String) {
    (kind_at(kinds, member.kind), member.id.clone())
}

/// Returns the page's number of a window's kind.
fn kind_at(kinds: &[u8], kind: u8) -> u8 {
    kinds.get(usize::from(kind)).copied().unwrap_or(u8::MAX)
}

impl LeftOut {
    /// Returns sentences on what is left out; `find` is a command that searches the run.
    fn sentences(&self, limits: PageLimits, find: &str) -> Vec<String> {
        let size = limits.bytes.div_ceil(1 << 20);
        let mut sentences = Vec::new();
        let number = |number: u64| grouped(number as f64);
        if self.unlisted > 0 {
            sentences.push(format!(
                "{} of {} rows of clusters are not in this file, the lowest ranks of each window and \
                 those of older windows.",
                number(self.unlisted),
                number(self.listed + self.unlisted)
            ));
        }
        if self.without_detail > 0 {
            sentences.push(format!(
                "To keep its data below {size} MiB, this file has no members and transactions for {} of \
                 {} rows of clusters, those of older windows and lower ranks first; the run’s tables have \
                 them.",
                number(self.without_detail),
                number(self.listed)
            ));
        }
        if !self.unsearched.is_empty() {
            let parts = parts_text(&self.unsearched, "entities");
            sentences.push(format!(
                "The search of this file lacks {parts}. {find} finds every entity of every window."
            ));
        }
        if !self.known.is_empty() {
            let parts = parts_text(&self.known, "known bad entities");
            sentences.push(format!(
                "The lists of known bad of this file lack {parts}; each window’s known_bad.parquet has all."
            ));
        }
        if self.without_scored > 0 {
            sentences.push(format!(
                "For {} older windows this file does not list the entities with the highest scores; each window’s \
                 reasons.parquet does.",
                number(self.without_scored)
            ));
        }
        if self.without_transactions > 0 {
            sentences.push(format!(
                "For {} pairs this file has no single transactions, most of them of older windows and lower ranks; the \
                 run’s transactions.parquet have those among members.",
                number(self.without_transactions)
            ));
        }
        sentences
    }
}

impl ClusterColumns {
    fn push(&mut self, cluster: &ClusterReport, detail: Option<usize>) {
        self.id.push(cluster.id.clone());
        self.rank.push(cluster.rank);
        self.score.push(cluster.score);
        self.chance.push(cluster.chance);
        self.why.push(cluster.why.clone());
        self.size.push(cluster.size);
        self.known.push(cluster.known);
        self.event.push(cluster.event.min(EVENTS.len() as u8 - 1));
        self.born.push(cluster.born);
        self.parents.push(cluster.parents.clone());
        self.scores.resize_with(cluster.scores.len().max(self.scores.len()), Vec::new);
        for (place, column) in self.scores.iter_mut().enumerate() {
            column.push(cluster.scores.get(place).copied().flatten().map(|score| score as f32));
        }
        self.detail.push(detail.map_or(-1, |place| place as i64));
    }
}

impl Detail {
    fn of(
        evidence: &Evidence,
        explanation: ExplanationColumns,
        entity: Vec<u32>,
        from: i64,
    ) -> Detail {
        let members = &evidence.members;
        let narrow = |value: Option<f64>| value.map(|value| value as f32);
        let edges = &evidence.edges;
        Detail {
            members: MemberColumns {
                entity,
                outside: members.iter().map(|member| u8::from(member.outside)).collect(),
                standing: members.iter().map(|member| member.standing as u8).collect(),
                score: members.iter().map(|member| narrow(member.score)).collect(),
                share: members.iter().map(|member| narrow(member.share)).collect(),
                entity_score: members.iter().map(|member| member.entity_score).collect(),
                distance: members.iter().map(|member| member.distance).collect(),
            },
            edges: EdgeColumns {
                source: edges.iter().map(|edge| edge.source).collect(),
                target: edges.iter().map(|edge| edge.target).collect(),
                weight: edges.iter().map(|edge| edge.weight as f32).collect(),
                count: edges.iter().map(|edge| edge.count).collect(),
                amount: edges.iter().map(|edge| edge.amount.map(Exact)).collect(),
                first: edges.iter().map(|edge| edge.first.map(|at| seconds(at, from))).collect(),
                last: edges.iter().map(|edge| edge.last.map(|at| seconds(at, from))).collect(),
                pairs: match edges.iter().any(|edge| !edge.pairs.is_empty()) {
                    true => edges.iter().map(|edge| edge.pairs.clone()).collect(),
                    false => Vec::new(),
                },
            },
            explanation,
            members_total: evidence.members_total,
            edges_total: evidence.edges_total,
        }
    }
}

/// Returns the seconds between two instants in microseconds.
fn seconds(at: i64, from: i64) -> f64 {
    (at - from) as f64 / 1e6
}

/// Integer that a script reads exactly: as text beyond the exact range of its numbers.
#[derive(Clone, Copy, Debug)]
struct Exact(u64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 <= 1 << 53 {
            true => serializer.serialize_u64(self.0),
            false => serializer.collect_str(&self.0),
        }
    }
}

/// Returns the size of a value on a page in bytes.
fn bytes_of(value: &impl Serialize) -> u64 {
    // Serialization of these values does not fail; a failure would count as a full page.
    ripplet_page::embedded_length(value).unwrap_or(u64::MAX / 4)
}

/// Returns a packed value.
fn packed(value: &impl Serialize) -> String {
    // Serialization of these values does not fail, and nor does writing to memory.
    ripplet_page::packed(value).unwrap_or_default()
}

fn reversed<S: Serializer>(windows: &[WindowColumns], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(windows.iter().rev())
}
