//! P-value of a cluster: how often a random transaction graph has a group as busy, without knowledge of the
//! data set.
//!
//! # What it returns
//! [`Chance::of`] returns an upper bound of the probability that a window without rings has *any* group of
//! entities as busy as the busiest part of a cluster. It is a p-value, corrected for all groups: of 100
//! windows with random transactions, at most 5 have a cluster of 0.05 or less.
//!
//! The null model is the configuration model, for each pair of kinds: each entity keeps its number of
//! transactions, and partners are drawn at random. The transactions between u, of kind a, and v, of kind b,
//! are Poisson with mean
//!
//! ```text
//! λ(u, v) = W_b(u) · W_a(v) / T_ab        W_b(u)  transactions of u with entities of kind b
//!           (2 T_aa in place of T_ab       T_ab    transactions between the kinds a and b
//!            where a = b)
//! ```
//!
//! A part S of s members with X transactions among them, where Λ = Σ λ(u, v) over its pairs are expected, has
//!
//! ```text
//! p(S) = s · (s − 1) · C(n, s) · P(Poisson(Λ) ≥ X)       n: entities with a transaction in the window
//! ```
//!
//! and the cluster's chance is the least p(S) of the parts that are examined, or 1. There are C(n, s) groups
//! of s members, so the expected number of groups with P ≤ t is at most C(n, s) · t, whichever are examined.
//! Σ 1 / (s (s − 1)) over all s ≥ 2 is 1 (Boole's inequality, twice). So the bound holds for all clusters of
//! a window together.
//!
//! # Rows of more than two entities
//! With [`Mapping::also`](crate::Mapping::also), a row is an edge for each pair of columns, and these edges
//! are not independent. So each of k pairs of columns is tested alone, and a row counts once: T, W, X and Λ
//! count its edges. The chance is k times the least p (Boole's inequality, a third time), and [`BusiestPart`]
//! is that of the pair of columns with the least p.
//!
//! # Algorithm, cost, memory
//! Two families of parts are examined: each pair of members with transactions, and what is left while the
//! member with the fewest transactions within is removed, one after the other (Charikar's peeling). A cluster
//! of e edges and s members takes e log s steps, and one more for each partner of a member and day. Memory:
//! that of a cluster.
//!
//! # Determinism
//! Counts are integers, and of equal members the one with the lower number is removed first: the same bits on
//! any number of threads.
//!
//! # Limits
//! Transactions count, not their amounts or weights. The null model has no regular payments: a pair with a
//! transaction each month has a low chance, and is no fraud. A low chance rejects randomness; the raw score
//! measures the distance to the known bad.
//!
//! # References
//! Kulldorff, *A spatial scan statistic*, Communications in Statistics 26, 1997 (the busiest group of all, and its
//! p-value). Chung, Lu, *Connected components in random graphs with given expected degree sequences*, Annals of
//! Combinatorics 6, 2002 (what is expected). Charikar, *Greedy approximation algorithms for finding dense components*,
//! APPROX 2000 (peeling).

use crate::days::{ColumnPairEdges, DayAdjacency};
use crate::findings::BusiestPart;
use crate::ledger::Ledger;
use crate::surprise::Counted;
use crate::{Entities, Findings, KindId, Member};
use rayon::prelude::*;
use ripplet_graph::{Graph, VertexId};
use std::collections::{BTreeMap, BTreeSet};

/// Default threshold: a cluster without a known bad member is noise if its chance is higher.
pub const NOISE: f64 = 0.05;

/// Null model of a window, from which chances of clusters are computed.
pub struct Chance<'a> {
    days: Vec<&'a DayAdjacency>,
    entities: &'a Entities,
    ledger: &'a dyn Ledger,
    /// Transactions between two kinds; the smaller kind number comes first.
    totals: BTreeMap<(KindId, KindId), u64>,
    /// Transactions that each pair of columns links, if there are several.
    columns: Vec<u64>,
    /// Entities with a transaction.
    active: u64,
}

/// Transactions that a test counts: those of one pair of columns, or all.
#[derive(Clone, Copy)]
struct Scope<'c, 'a> {
    chance: &'c Chance<'a>,
    column: Option<usize>,
}

impl<'a> Chance<'a> {
    /// Builds the null model of a window from its graph, its days, and the entities of its vertices.
    pub fn new(
        graph: &Graph,
        days: impl IntoIterator<Item = &'a DayAdjacency>,
        entities: &'a Entities,
        ledger: &'a dyn Ledger,
    ) -> Chance<'a> {
        let days: Vec<&DayAdjacency> = days.into_iter().collect();
        let mut totals = BTreeMap::new();
        for (&(a, b), count) in days.iter().flat_map(|run| &run.links) {
            *totals.entry((a.min(b), a.max(b))).or_default() += count;
        }
        let vertices = (0..graph.vertices()).into_par_iter();
        let active = vertices.filter(|&vertex| graph.degree(vertex) > 0).count() as u64;
        let pairs = days.iter().map(|run| run.columns.len()).max().unwrap_or(0);
        let count = |run: &DayAdjacency, pair: usize| {
            run.columns.get(pair).map_or(0, ColumnPairEdges::count)
        };
        let total = |pair| days.iter().map(|run| count(run, pair)).sum();
        let columns = (0..pairs).map(total).collect();
        Chance { days, entities, ledger, totals, columns, active }
    }

    /// Sets the chance of each cluster, and its busiest part.
    pub fn judge(&self, findings: &mut Findings) {
        let Findings { clusters, members, .. } = findings;
        let mut rest: &[Member] = members;
        let mut parts = Vec::with_capacity(clusters.len());
        for cluster in clusters.iter() {
            let own = rest.iter().take_while(|member| member.cluster == cluster.id).count();
            parts.push(&rest[..own]);
            rest = &rest[own..];
        }
        clusters.par_iter_mut().zip(parts).for_each(|(cluster, members)| {
            let mut vertices: Vec<VertexId> = members.iter().map(|m| m.vertex).collect();
            vertices.sort_unstable();
            (cluster.chance, cluster.why) = self.of(&vertices);
        });
    }

    /// Returns the chance of a group of vertices and its busiest part; `members` ascend.
    pub fn of(&self, members: &[VertexId]) -> (f64, BusiestPart) {
        let scopes = match self.columns.len() {
            0 => vec![None],
            pairs => (0..pairs).map(Some).collect(),
        };
        let pairs = scopes.len() as f64;
        let mut best = (f64::NEG_INFINITY, BusiestPart::default());
        for column in scopes {
            let (nats, why) = self.busiest(Scope { chance: self, column }, members);
            // Of equal pairs the first, so that the result is deterministic.
            if nats > best.0 {
                best = (nats, why);
            }
        }
        ((pairs.ln() - best.0).exp().min(1.0), best.1)
    }

    /// Returns the largest −ln p over the parts of a group, and that part.
    fn busiest(&self, scope: Scope<'_, 'a>, members: &[VertexId]) -> (f64, BusiestPart) {
        let mut group = Group::new(scope, members);
        let mut best = (f64::NEG_INFINITY, BusiestPart::default());
        for &(a, b, count) in &group.edges {
            let expected = scope.expected_of([&group.degrees[a], &group.degrees[b]]);
            let nats = self.nats(2, count, expected);
            if nats > best.0 {
                let members = vec![members[a], members[b]];
                let pair = scope.column;
                best = (nats, BusiestPart { members, transactions: count, expected, pair });
            }
        }
        let mut cut = None;
        for left in (3..=members.len()).rev() {
            let nats = self.nats(left as u64, group.transactions, group.expected());
            if nats > best.0 {
                best = (
                    nats,
                    BusiestPart {
                        members: Vec::new(),
                        transactions: group.transactions,
                        expected: group.expected(),
                        pair: scope.column,
                    },
                );
                cut = Some(group.gone.len());
            }
            group.peel();
        }
        if let Some(cut) = cut {
            let gone: BTreeSet<usize> = group.gone[..cut].iter().copied().collect();
            let left = members.iter().enumerate().filter(|(at, _)| !gone.contains(at));
            best.1.members = left.map(|(_, &vertex)| vertex).collect();
        }
        best
    }

    /// Returns −ln p of a part: see the module.
    fn nats(&self, size: u64, transactions: u64, expected: f64) -> f64 {
        let surprise = Counted::new(transactions as f64).nats(expected);
        surprise - ln_choose(self.active, size) - ((size * (size - 1)) as f64).ln()
    }
}

impl Scope<'_, '_> {
    /// Returns the transactions between two kinds.
    fn total(self, a: KindId, b: KindId) -> u64 {
        match self.column {
            // All are of the same two kinds.
            Some(pair) => self.chance.columns[pair],
            None => self.chance.totals.get(&(a.min(b), a.max(b))).copied().unwrap_or(0),
        }
    }

    /// Returns the transactions between two entities.
    fn between(self, one: VertexId, other: VertexId) -> u64 {
        let Some(pair) = self.column else {
            let ledger = self.chance.ledger;
            let flows = [ledger.flow(one, other), ledger.flow(other, one)];
            return flows.into_iter().flatten().map(|flow| flow.count).sum();
        };
        let days = self.chance.days.iter();
        days.filter_map(|run| Some(run.columns.get(pair)?.between(one, other))).sum()
    }

    /// Returns the transactions of a vertex by the kinds of its partners.
    fn degree(self, vertex: VertexId) -> KindDegrees {
        let entities = self.chance.entities;
        let mut with: BTreeMap<KindId, u64> = BTreeMap::new();
        for run in &self.chance.days {
            for arc in run.arcs_of(vertex) {
                let partner = run.neighbors[arc];
                let count = match self.column {
                    Some(pair) => {
                        run.columns.get(pair).map_or(0, |all| all.between(vertex, partner))
                    }
                    None => u64::from(run.counts[arc]),
                };
                if count > 0 {
                    *with.entry(entities.kind_of(partner)).or_default() += count;
                }
            }
        }
        KindDegrees { kind: entities.kind_of(vertex), with }
    }

    /// Returns the expected transactions between two members.
    fn expected_of(self, degrees: [&KindDegrees; 2]) -> f64 {
        let mut sums = Sums::default();
        degrees.into_iter().for_each(|degree| sums.add(degree));
        sums.expected(self)
    }
}

/// ln C(n, k).
fn ln_choose(n: u64, k: u64) -> f64 {
    (0..k.min(n)).map(|i| ((n - i) as f64 / (i + 1) as f64).ln()).sum()
}

/// Transactions of a member by the kinds of its partners.
#[derive(Clone, Debug)]
struct KindDegrees {
    kind: KindId,
    /// Transactions by the kind of partner.
    with: BTreeMap<KindId, u64>,
}

/// Sums over a group from which its expectation follows, by kinds.
#[derive(Debug, Default)]
struct Sums {
    /// By kind of member and kind of partner: the sum, and the sum of squares.
    with: BTreeMap<(KindId, KindId), (u128, u128)>,
}

impl Sums {
    fn add(&mut self, degree: &KindDegrees) {
        for (&kind, &count) in &degree.with {
            let (sum, squares) = self.with.entry((degree.kind, kind)).or_default();
            *sum += u128::from(count);
            *squares += u128::from(count).pow(2);
        }
    }

    fn remove(&mut self, degree: &KindDegrees) {
        for (&kind, &count) in &degree.with {
            if let Some((sum, squares)) = self.with.get_mut(&(degree.kind, kind)) {
                *sum -= u128::from(count);
                *squares -= u128::from(count).pow(2);
            }
        }
    }

    /// Σ λ over the pairs.
    fn expected(&self, scope: Scope<'_, '_>) -> f64 {
        let mut expected = 0.0;
        for (&(a, b), &(sum, squares)) in &self.with {
            let total = scope.total(a, b) as f64;
            if a == b {
                expected += (sum * sum - squares) as f64 / 2.0 / (2.0 * total);
            } else if a < b {
                let other = self.with.get(&(b, a)).map_or(0, |(sum, _)| *sum);
                expected += sum as f64 * other as f64 / total;
            }
        }
        expected
    }
}

/// State of peeling a group.
struct Group<'c, 'a> {
    scope: Scope<'c, 'a>,
    degrees: Vec<KindDegrees>,
    sums: Sums,
    /// Pairs of members with transactions, by index, and their number.
    edges: Vec<(usize, usize, u64)>,
    /// The partners of each member.
    partners: Vec<Vec<(usize, u64)>>,
    /// Members that are left: transactions within, and the index.
    left: BTreeSet<(u64, usize)>,
    within: Vec<u64>,
    /// Transactions among the members that are left.
    transactions: u64,
    gone: Vec<usize>,
}

impl<'c, 'a> Group<'c, 'a> {
    fn new(scope: Scope<'c, 'a>, members: &[VertexId]) -> Group<'c, 'a> {
        let degrees: Vec<KindDegrees> =
            members.iter().map(|&vertex| scope.degree(vertex)).collect();
        let mut sums = Sums::default();
        degrees.iter().for_each(|degree| sums.add(degree));
        let mut edges = Vec::new();
        let mut partners = vec![Vec::new(); members.len()];
        for (a, &vertex) in members.iter().enumerate() {
            // Partners on any day, each once.
            let mut near = BTreeSet::new();
            for run in &scope.chance.days {
                for &other in &run.neighbors[run.arcs_of(vertex)] {
                    if let Ok(b) = members.binary_search(&other) {
                        near.insert(b);
                    }
                }
            }
            for b in near.into_iter().filter(|&b| b > a) {
                let count = scope.between(vertex, members[b]);
                if count > 0 {
                    edges.push((a, b, count));
                    partners[a].push((b, count));
                    partners[b].push((a, count));
                }
            }
        }
        let within: Vec<u64> =
            partners.iter().map(|all| all.iter().map(|(_, count)| count).sum()).collect();
        let left = within.iter().copied().zip(0..).collect();
        let transactions = edges.iter().map(|(_, _, count)| count).sum();
        Group {
            scope,
            degrees,
            sums,
            edges,
            partners,
            left,
            within,
            transactions,
            gone: Vec::new(),
        }
    }

    fn expected(&self) -> f64 {
        self.sums.expected(self.scope)
    }

    /// Removes the member with the fewest transactions within.
    fn peel(&mut self) {
        let Some((within, place)) = self.left.pop_first() else { return };
        self.transactions -= within;
        self.sums.remove(&self.degrees[place]);
        self.gone.push(place);
        for &(partner, count) in &self.partners[place] {
            let had = self.within[partner];
            if self.left.remove(&(had, partner)) {
                self.within[partner] = had - count;
                self.left.insert((had - count, partner));
            }
        }
    }
}

/// Formats a chance, such as `1 in 1,000`.
pub fn one_in(chance: f64) -> String {
    const MOST: f64 = 1e9;
    match 1.0 / chance {
        n if n < 1.05 => "always".into(),
        n if n < 1.5 => format!("{:.0} in 10", 10.0 / n),
        n if n < 10.0 => format!("1 in {n:.0}"),
        n if n < MOST => {
            let unit = 10f64.powf(n.log10().floor() - 1.0);
            format!("1 in {}", grouped((n / unit).round() * unit))
        }
        _ => "less than 1 in 1,000,000,000".into(),
    }
}

/// Formats an expectation with two digits.
pub(crate) fn expected_text(expected: f64) -> String {
    match expected {
        e if e < 0.001 => "less than 0.001".into(),
        e if e < 1.0 => {
            let digits = (1.0 - e.log10().floor()) as usize;
            format!("{e:.digits$}")
        }
        e => format!("{e:.1}"),
    }
}

/// Formats a whole number with commas between groups of three digits.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let first = digits.len() % 3;
    let sign = if number < 0.0 && digits != "0" { "-" } else { "" };
    let mut text = format!("{sign}{}", &digits[..first]);
    for at in (first..digits.len()).step_by(3) {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&digits[at..at + 3]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_read_as_odds() {
        for (chance, text) in [
            (1.0, "always"),
            (0.79, "8 in 10"),
            (0.3, "1 in 3"),
            (0.05, "1 in 20"),
            (0.001, "1 in 1,000"),
            (1.0 / 123_456.0, "1 in 120,000"),
            (1e-30, "less than 1 in 1,000,000,000"),
            (0.0, "less than 1 in 1,000,000,000"),
        ] {
            assert_eq!(one_in(chance), text, "{chance}");
        }
        assert_eq!(expected_text(0.0123), "0.012");
        assert_eq!(expected_text(12.34), "12.3");
        assert_eq!(expected_text(1e-9), "less than 0.001");
    }

    #[test]
    fn digits_are_grouped_behind_the_sign() {
        for (number, text) in [
            (0.0, "0"),
            (-0.3, "0"),
            (7.0, "7"),
            (-7.0, "-7"),
            (-100.0, "-100"),
            (-250.0, "-250"),
            (-1_234.0, "-1,234"),
            (1_234.0, "1,234"),
            (-250_000.0, "-250,000"),
            (1_234_567.0, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text, "{number}");
        }
    }

    #[test]
    fn ways_to_choose_are_counted() {
        assert!((ln_choose(10, 3) - 120f64.ln()).abs() < 1e-12);
        assert!((ln_choose(52, 5) - 2_598_960f64.ln()).abs() < 1e-9);
        assert!(ln_choose(7, 7).abs() < 1e-12);
    }
}
