//! Reasons of scores: the largest parts of a score in words, the path to the nearest known bad, and transactions.
//!
//! A part is the points of one kind of evidence in the window's scorecard, less the mean points of a sample of the
//! window's entities. So a reason says what an entity has that others lack, and reasons of two entities compare. Features
//! of the user's own table of entities are parts like all others.
//!
//! The path is a shortest one to a known bad entity, along kept ties if there is one of at most [`MOST_HOPS`] hops,
//! otherwise along any edges. The search visits at most [`MOST_ARCS`] arcs, and goes on from no entity with more than
//! [`HUB`] partners: a hub joins everything.
//!
//! Determinism: searches run in the order of vertex numbers and weights; equal windows give equal reasons.

use super::edges::neighbors_among;
use super::why::days;
use super::{EntityScores, WindowFindings};
use crate::chance::grouped;
use crate::entity_table::MISSING;
use crate::evidence::Definition;
use crate::ledger::{Flow, Payment};
use crate::ties::{Ties, arcs};
use crate::{Amount, Member};
use hashbrown::HashMap;
use rayon::prelude::*;
use ripplet_graph::{Graph, VertexId};

/// Number of parts that a reason names.
pub const REASONS: usize = 3;

/// Longest path to a known bad entity, in hops.
pub const MOST_HOPS: usize = 4;

/// Arcs that a search visits at most.
const MOST_ARCS: usize = 20_000;

/// Partners from which on a search does not go on from an entity.
const HUB: usize = 1_000;

/// Entities that others are compared with at most.
const SAMPLE: usize = 10_000;

/// Best members of a cluster whose parts are averaged: those that its score counts.
pub const BEST_MEMBERS: usize = 3;

/// Partners of an entity whose transactions are its latest ones, by weight.
const HEAVIEST: usize = 20;

/// Transactions of a hop, and of an entity without a path.
const OF_HOP: usize = 3;
const OF_ENTITY: usize = 6;

/// Parts below this are not worth a reason.
const LEAST_POINTS: f64 = 0.05;

/// Part of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Key of the evidence.
    pub evidence: &'static str,
    /// Its points in log odds, less the mean of all entities.
    pub points: f64,
    /// Its value in words, beside the median of all entities.
    pub text: String,
}

impl Reason {
    /// Returns the sentence with its points: `34 partners (typical: 8) +1.2`.
    pub fn sentence(&self) -> String {
        format!("{} {:+.1}", self.text, self.points)
    }
}

/// Path to a known bad entity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownBadPath {
    /// Vertices from the first to the known bad one; two at least.
    pub vertices: Vec<VertexId>,
    /// Whether each hop is a kept tie.
    pub along_ties: bool,
}

/// Sum of the transactions from one entity to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathFlow {
    /// The payer.
    pub source: VertexId,
    /// The payee.
    pub target: VertexId,
    /// The sum; `None` if the ledger has none in either direction.
    pub flow: Option<Flow>,
}

/// Single transaction behind a reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behind {
    /// The payer.
    pub source: VertexId,
    /// The payee.
    pub target: VertexId,
    /// Time and amount.
    pub payment: Payment,
}

/// Why an entity or a cluster is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The largest parts of the score, at most [`REASONS`].
    pub reasons: Vec<Reason>,
    /// The path to the nearest known bad entity, if the bounded search found one.
    pub path: Option<KnownBadPath>,
    /// Flows along the path, hop by hop: first those away from the entity.
    pub flows: Vec<PathFlow>,
    /// Latest transactions along the path, hop by hop; without one, of the entity with its heaviest partners.
    pub transactions: Vec<Behind>,
}

/// Explanations of a window: of the entities with the highest scores, and of clusters, by rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explained {
    /// Entities that are not known to be bad, by rank.
    pub entities: Vec<(VertexId, Explanation)>,
    /// The first clusters, by rank.
    pub clusters: Vec<Explanation>,
}

impl Explained {
    /// Explains the first `entities` and the first `clusters` of a window; `None` without scores.
    pub fn of(found: WindowFindings<'_>, entities: usize, clusters: usize) -> Option<Explained> {
        let explainer = Explainer::new(found)?;
        let highest = explainer.highest(entities);
        let first: Vec<_> = found.clusters().take(clusters).collect();
        let entity = |&vertex: &VertexId| (vertex, explainer.entity(vertex));
        Some(Explained {
            entities: highest.par_iter().map(entity).collect(),
            clusters: first.par_iter().map(|(_, members)| explainer.cluster(members)).collect(),
        })
    }
}

/// Explains the scores of a window.
pub struct Explainer<'a> {
    found: WindowFindings<'a>,
    scores: EntityScores<'a>,
    /// Mean points, and median value, of each column of evidence; [`MISSING`] if no entity has a value.
    mean: Vec<f64>,
    typical: Vec<f32>,
    /// Share of known bad among all entities.
    base: f64,
}

impl<'a> Explainer<'a> {
    /// Compares with the entities of a window; `None` without scores.
    pub fn new(found: WindowFindings<'a>) -> Option<Explainer<'a>> {
        let scores = found.scores?;
        let rank = &scores.scores.rank;
        let scored = rank.iter().filter(|&&rank| rank > 0).count();
        let all = (0..rank.len() as VertexId).filter(|&v| rank[v as usize] > 0);
        let sample: Vec<VertexId> = all.step_by(scored.div_ceil(SAMPLE).max(1)).collect();
        let card = &scores.scores.scorecard;
        let of_column = |kind: usize| {
            let mut values: Vec<f32> = sample.iter().map(|&v| scores.value(kind, v)).collect();
            let points = |&value: &f32| card.tables.get(kind).map_or(0.0, |table| table.at(value));
            let mean = values.iter().map(points).fold(0.0, |sum, of| sum + of);
            let mean = mean / values.len().max(1) as f64;
            values.retain(|&value| value != MISSING);
            let middle = values.len() / 2;
            let typical = match middle < values.len() {
                true => *values.select_nth_unstable_by(middle, f32::total_cmp).1,
                false => MISSING,
            };
            (mean, typical)
        };
        let columns = (0..scores.evidence.columns().len()).into_par_iter();
        let (mean, typical) = columns.map(of_column).unzip();
        let known = found.known_bad.vertices.len() as f64;
        Some(Explainer { found, scores, mean, typical, base: known / scored.max(1) as f64 })
    }

    /// Returns the entities with the highest scores that are neither known to be bad, nor trusted or cleared, by rank.
    pub fn highest(&self, most: usize) -> Vec<VertexId> {
        let rank = &self.scores.scores.rank;
        let others = (0..rank.len() as VertexId).filter(|&v| rank[v as usize] > 0);
        let others = others.filter(|&v| !self.found.is_decided(v));
        let mut highest: Vec<VertexId> = others.collect();
        let by_rank = |v: &VertexId| rank[*v as usize];
        if most < highest.len() {
            highest.select_nth_unstable_by_key(most, by_rank);
            highest.truncate(most);
        }
        highest.sort_unstable_by_key(by_rank);
        highest
    }

    /// Explains the score of an entity that is not known to be bad.
    pub fn entity(&self, vertex: VertexId) -> Explanation {
        let reasons = self.scores.row(vertex).map_or_else(Vec::new, |values| {
            let parts = self.above_mean(&values);
            largest(&parts)
                .into_iter()
                .map(|kind| self.reason(kind, parts[kind], self.phrase(kind, vertex, &values)))
                .collect()
        });
        self.explained(reasons, &[vertex])
    }

    /// Explains the rank of a cluster: the parts of its best members on average, each in the words of the member that has
    /// most of it, and the path from those that are not known to be bad.
    pub fn cluster(&self, members: &[Member]) -> Explanation {
        let mut ranked: Vec<(u32, VertexId)> = members
            .iter()
            .filter_map(|member| Some((self.scores.of(member.vertex)?.1, member.vertex)))
            .collect();
        ranked.sort_unstable();
        ranked.truncate(BEST_MEMBERS);
        let best: Vec<(VertexId, Vec<f32>, Vec<f64>)> = ranked
            .iter()
            .filter_map(|&(_, v)| {
                let values = self.scores.row(v)?;
                let parts = self.above_mean(&values);
                Some((v, values, parts))
            })
            .collect();
        let mut mean = vec![0.0; self.columns().len()];
        for (_, _, parts) in &best {
            mean.iter_mut().zip(parts).for_each(|(mean, part)| *mean += part / best.len() as f64);
        }
        let reason = |kind: usize| {
            let most =
                best.iter().max_by(|a, b| a.2[kind].total_cmp(&b.2[kind]).then(b.0.cmp(&a.0)))?;
            let phrase = self.phrase(kind, most.0, &most.1);
            Some(self.reason(kind, mean[kind], format!("{}: {phrase}", self.name(most.0))))
        };
        let reasons = largest(&mean).into_iter().filter_map(reason).collect();
        let unknown: Vec<VertexId> =
            members.iter().filter(|member| !member.known_bad).map(|member| member.vertex).collect();
        self.explained(reasons, &unknown)
    }

    /// Returns the definitions of the columns of evidence: the fixed kinds, then those of the user's own table.
    fn columns(&self) -> &[Definition] {
        self.scores.evidence.columns()
    }

    fn above_mean(&self, values: &[f32]) -> Vec<f64> {
        let points = self.scores.scores.scorecard.parts(values.iter().copied());
        points.zip(&self.mean).map(|(points, mean)| points - mean).collect()
    }

    fn reason(&self, kind: usize, points: f64, text: String) -> Reason {
        Reason { evidence: self.columns()[kind].key, points, text }
    }

    /// Adds the path from some entities, and the transactions along it.
    fn explained(&self, reasons: Vec<Reason>, from: &[VertexId]) -> Explanation {
        let path = nearest_known_bad(self.found, from);
        let mut explanation = Explanation { reasons, ..Explanation::default() };
        match &path {
            Some(path) => {
                for hop in path.vertices.windows(2) {
                    let both = [(hop[0], hop[1]), (hop[1], hop[0])];
                    let flows = both.map(|(source, target)| PathFlow {
                        source,
                        target,
                        flow: self.found.ledger.flow(source, target),
                    });
                    let known = flows.iter().filter(|flow| flow.flow.is_some()).count();
                    let shown = flows.iter().filter(|flow| known == 0 || flow.flow.is_some());
                    explanation.flows.extend(shown.take(if known == 0 { 1 } else { 2 }));
                    explanation.transactions.extend(self.newest(&both, OF_HOP));
                }
            }
            None => {
                for &vertex in from.iter().take(1) {
                    let mut partners: Vec<(VertexId, u32)> =
                        arcs(&self.found.window.graph, vertex).collect();
                    partners.sort_unstable_by_key(|&(u, weight)| (std::cmp::Reverse(weight), u));
                    let heaviest = partners.iter().take(HEAVIEST);
                    let both = heaviest.flat_map(|&(u, _)| [(vertex, u), (u, vertex)]);
                    let both: Vec<(VertexId, VertexId)> = both.collect();
                    explanation.transactions = self.newest(&both, OF_ENTITY);
                }
            }
        }
        Explanation { path, ..explanation }
    }

    /// Returns the latest transactions between some payers and payees.
    fn newest(&self, between: &[(VertexId, VertexId)], most: usize) -> Vec<Behind> {
        let mut all: Vec<Behind> = Vec::new();
        for &(source, target) in between {
            let newest = self.found.ledger.newest(source, target, most);
            all.extend(newest.into_iter().map(|payment| Behind { source, target, payment }));
        }
        let key = |of: &Behind| {
            (
                std::cmp::Reverse(of.payment.time),
                of.source,
                of.target,
                of.payment.amount.map(|a| a.units),
            )
        };
        all.sort_by_key(key);
        all.truncate(most);
        all
    }

    fn name(&self, vertex: VertexId) -> String {
        name(self.found, vertex)
    }

    /// Puts the value of a kind of evidence into words, beside what is typical.
    fn phrase(&self, kind: usize, vertex: VertexId, values: &[f32]) -> String {
        let (value, typical) = (f64::from(values[kind]), f64::from(self.typical[kind]));
        let of = &self.columns()[kind];
        let beside = |form: &dyn Fn(f64) -> String, words: &str| {
            format!("{} {words} (typical: {})", form(value), form(typical))
        };
        let named = |words: &str, form: &dyn Fn(f64) -> String| {
            format!("{words} of {} (typical: {})", form(value), form(typical))
        };
        let times = |what: &str| {
            format!(
                "{} times as many {what} as among all (typical: {})",
                number(value),
                number(typical)
            )
        };
        match of.key {
            "pagerank" => beside(&share, "of walks from the known bad are at it"),
            "pagerank_along_ties" => {
                beside(&share, "of walks along surprising ties from the known bad are at it")
            }
            "pagerank_by_strength" if typical > 0.0 => format!(
                "walks from the known bad are at it {} times as often as is typical for its weight",
                number(value / typical)
            ),
            "known_partners" | "known_weight" => self.known_among_partners(of.key, vertex),
            "known_second" => times("known bad among the partners of its partners"),
            "community_fine" => times("known bad in its community (fine partition)"),
            "community_coarse" => times("known bad in its community (coarse partition)"),
            "community_ties" => times("known bad in its community along surprising ties"),
            "tie_surprise" => {
                beside(&|v| number(v.exp_m1()), "nats of surprise in its strongest tie")
            }
            "partners" => beside(&number, "partners"),
            "strength" => named("a summed weight", &number),
            "repetition" => named("an average weight with a partner", &number),
            "partners_of_partners" => {
                beside(&|v| number(v.exp_m1()), "partners of its average partner")
            }
            "balance" => beside(&|v| share((1.0 + v) / 2.0), "of its transactions are payments"),
            "burst" => named("a burstiness", &number),
            "busiest_day" => beside(&number, "transactions on its busiest day"),
            "fan_in" => beside(&number, "different payers on one day"),
            "fan_out" => beside(&number, "different payees on one day"),
            "pass_through" => {
                beside(&share, "of its money passes through on the same or the next day")
            }
            "amount_level" => named("a usual amount", &|v| self.amount(v)),
            "amount_run_out" => {
                beside(&number, "deviations of successive payments above usual amounts")
            }
            "amount_run_in" => {
                beside(&number, "deviations of successive receipts above usual amounts")
            }
            "pagerank_forward" => {
                beside(&share, "of walks along payments from the known bad are at it")
            }
            "pagerank_backward" => {
                beside(&share, "of walks against payments from the known bad are at it")
            }
            "new_partners" => self.new_partners(vertex, value, typical),
            "growth" => beside(
                &number,
                "deviations more transactions in the last quarter of the window than before",
            ),
            "count_run" => {
                beside(&|v| number(v.exp_m1()), "nats of surprise in its most crowded time")
            }
            "cycles" => beside(&|v| number(v.exp_m1()), "short cycles of payments through it"),
            "cycles_alike" => beside(
                &|v| number(v.exp_m1()),
                "short cycles of payments of like amounts through it",
            ),
            "odd_hours" => beside(
                &|v| share((-v).exp()),
                "of all transactions are in an hour like those in which it deals",
            ),
            "amount_drop_out" => {
                beside(&number, "deviations of successive payments below usual amounts")
            }
            "amount_drop_in" => {
                beside(&number, "deviations of successive receipts below usual amounts")
            }
            "amount_shift_out" => beside(&number, "deviations by which its payments rose to stay"),
            "amount_shift_in" => beside(&number, "deviations by which its receipts rose to stay"),
            _ => {
                // Features of the user's own table: a value may be missing.
                let shown = |of: f32| match of == MISSING {
                    true => "none".to_owned(),
                    false => number(f64::from(of)),
                };
                let meaning = of.meaning.trim_end_matches('.');
                let (value, typical) = (shown(values[kind]), shown(self.typical[kind]));
                format!("{meaning}: {value} (typical: {typical})")
            }
        }
    }

    /// Says how many of an entity's partners are known bad, or which share of its weight goes to them.
    fn known_among_partners(&self, key: &str, vertex: VertexId) -> String {
        let graph = &self.found.window.graph;
        let (mut known, mut weight) = (0_u64, 0_u64);
        neighbors_among(graph, vertex, &self.found.known_bad.vertices, |u, w| {
            if u != vertex {
                (known, weight) = (known + 1, weight + u64::from(w));
            }
        });
        let (partners, all) = arcs(graph, vertex)
            .fold((0_u64, 0_u64), |(n, all), (_, w)| (n + 1, all + u64::from(w)));
        let base = share(self.base);
        match key {
            "known_partners" => {
                let are = if known == 1 { "is" } else { "are" };
                format!(
                    "{} of its {} partners {are} known bad (all entities: {base})",
                    grouped(known as f64),
                    grouped(partners as f64)
                )
            }
            _ => format!(
                "{} of its weight is with known bad (all entities: {base})",
                share(weight as f64 / all.max(1) as f64)
            ),
        }
    }

    /// Says how many of an entity's partners are new, from their share.
    fn new_partners(&self, vertex: VertexId, value: f64, typical: f64) -> String {
        let partners = arcs(&self.found.window.graph, vertex).count() as f64;
        let new = (value * partners).round();
        let are = if new == 1.0 { "is" } else { "are" };
        format!(
            "{} of its {} partners {are} new in the last quarter of the window (typical: {})",
            grouped(new),
            grouped(partners),
            share(typical)
        )
    }

    /// Formats the amount of a mean logarithm of smallest units.
    fn amount(&self, ln_units: f64) -> String {
        let decimals = self.found.ledger.decimals().unwrap_or(0);
        number(ln_units.exp() / 10_f64.powi(decimals as i32))
    }
}

/// Returns the kinds with the largest parts, if they are above the mean.
fn largest(parts: &[f64]) -> Vec<usize> {
    let mut kinds: Vec<usize> =
        (0..parts.len()).filter(|&kind| parts[kind] >= LEAST_POINTS).collect();
    kinds.sort_by(|&a, &b| parts[b].total_cmp(&parts[a]).then(a.cmp(&b)));
    kinds.truncate(REASONS);
    kinds
}

/// Formats a number with two or three digits.
fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => grouped(value),
        v if v >= 10.0 && value.fract() == 0.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        0.0 => "0".into(),
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        v if v >= 0.1 => format!("{value:.2}"),
        v if v >= 1e-6 => {
            let digits = (1.0 - v.log10().floor()) as usize;
            format!("{value:.digits$}")
        }
        _ => format!("{value:.1e}"),
    }
}

/// Formats a share as percent.
fn share(value: f64) -> String {
    format!("{} %", number(100.0 * value))
}

/// Returns an entity's id, with its kind if there are several.
pub(crate) fn name(found: WindowFindings<'_>, vertex: VertexId) -> String {
    let id = found.entities.id_of(vertex);
    match found.entities.kinds().len() {
        0 | 1 => id.into(),
        _ => format!("{} {id}", found.entities.kind_name_of(vertex)),
    }
}

/// Finds a shortest path from some entities to a known bad one, other than themselves: along kept ties, or otherwise
/// along any edges. `None` if the bounded search finds none.
pub fn nearest_known_bad(found: WindowFindings<'_>, from: &[VertexId]) -> Option<KnownBadPath> {
    let known = &found.known_bad.vertices;
    if known.is_empty() {
        return None;
    }
    let along = |graph: &Graph, is_edge: &dyn Fn(u32) -> bool| search(graph, is_edge, from, known);
    let ties = found.ties.and_then(|ties| along(ties.graph(), &Ties::is_kept));
    match ties {
        Some(vertices) => Some(KnownBadPath { vertices, along_ties: true }),
        None => along(&found.window.graph, &|_| true)
            .map(|vertices| KnownBadPath { vertices, along_ties: false }),
    }
}

/// Breadth-first search over the edges whose weight `is_edge`.
fn search(
    graph: &Graph,
    is_edge: &dyn Fn(u32) -> bool,
    from: &[VertexId],
    known: &[VertexId],
) -> Option<Vec<VertexId>> {
    let mut before: HashMap<VertexId, VertexId> = HashMap::new();
    let mut level: Vec<VertexId> = Vec::new();
    for &v in from.iter().filter(|&&v| v < graph.vertices()) {
        if before.insert(v, v).is_none() {
            level.push(v);
        }
    }
    let mut left = MOST_ARCS;
    for _ in 0..MOST_HOPS {
        for &v in &level {
            // The heaviest, then the one with the smallest number.
            let mut best: Option<(u32, VertexId)> = None;
            neighbors_among(graph, v, known, |u, weight| {
                let is_new = !before.contains_key(&u) && is_edge(weight);
                if is_new && best.is_none_or(|(most, _)| weight > most) {
                    best = Some((weight, u));
                }
            });
            if let Some((_, bad)) = best {
                let mut path = vec![bad, v];
                let mut at = v;
                while let Some(&earlier) = before.get(&at).filter(|&&earlier| earlier != at) {
                    path.push(earlier);
                    at = earlier;
                }
                path.reverse();
                return Some(path);
            }
        }
        let mut next = Vec::new();
        for &v in &level {
            if graph.degree(v) as usize > HUB && !from.contains(&v) {
                continue;
            }
            for (u, weight) in arcs(graph, v) {
                left = left.checked_sub(1)?;
                if is_edge(weight) && !before.contains_key(&u) {
                    before.insert(u, v);
                    next.push(u);
                }
            }
        }
        if next.is_empty() {
            return None;
        }
        level = next;
    }
    None
}

/// Puts a path into words: each hop with the number, sum and days of its transactions.
pub(crate) fn path_text(found: WindowFindings<'_>, explanation: &Explanation) -> Option<String> {
    explanation.path.as_ref()?;
    let hop = |of: &PathFlow| {
        let ends = format!("{} → {}", name(found, of.source), name(found, of.target));
        match of.flow {
            None => ends,
            Some(Flow { count, amount, first, last }) => {
                let sum = amount.map_or(String::new(), |sum: Amount| format!(", {sum}"));
                let several = if count == 1 { "" } else { "s" };
                format!("{ends}: {count} transaction{several}{sum}, {}", days(first, last))
            }
        }
    };
    Some(explanation.flows.iter().map(hop).collect::<Vec<_>>().join("; "))
}

/// Puts the transactions behind a reason into words.
pub(crate) fn transactions_text(found: WindowFindings<'_>, explanation: &Explanation) -> String {
    let line = |of: &Behind| {
        let sum = of.payment.amount.map_or(String::new(), |amount| format!(" {amount}"));
        let (source, target) = (name(found, of.source), name(found, of.target));
        format!("{} {source} → {target}{sum}", of.payment.time)
    };
    explanation.transactions.iter().map(line).collect::<Vec<_>>().join("; ")
}
