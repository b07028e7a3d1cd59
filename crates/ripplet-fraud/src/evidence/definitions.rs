//! Definitions of the evidence: names, meanings, formulas and the weights of the fixed combination.

use serde::Serialize;

/// Definition of one kind of evidence, a number that each entity of a window has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Definition {
    /// Name of its column in tables.
    pub key: &'static str,
    /// Name of the method that ranks by it alone.
    pub method: &'static str,
    /// Meaning, in a sentence.
    pub meaning: &'static str,
    /// Formula.
    pub formula: &'static str,
    /// Reference.
    pub reference: &'static str,
    /// Whether it depends on the known bad.
    pub needs_known: bool,
    /// Weight in the fixed combination: the log odds that one standard deviation adds.
    pub prior: f64,
}

/// Number of kinds of evidence.
pub const KINDS: usize = 23;

/// Number of kinds that depend on the known bad; they are the first.
pub const OF_KNOWN: usize = 9;

/// All kinds of evidence, in the order of their columns.
///
/// The weights of the fixed combination are the same for all data. ADR 0032 has the sets on which they were
/// compared.
pub const ALL: [Definition; KINDS] = [
    known(
        "pagerank",
        "evidence: pagerank",
        "How often a random walk that restarts at the known bad is at it.",
        "Σ over steps t: 0.3 · 0.7^t · P(walk from a random known bad entity is here after t steps)",
        "Haveliwala, Topic-sensitive PageRank, WWW 2002",
        0.05,
    ),
    known(
        "pagerank_by_strength",
        "evidence: pagerank by strength",
        "The same walk, compared with how often a walk from anywhere is at it.",
        "pagerank / summed weight of its edges",
        "Andersen, Chung, Lang, Local graph partitioning using PageRank vectors, FOCS 2006",
        0.3,
    ),
    known(
        "pagerank_along_ties",
        "evidence: pagerank along ties",
        "How often a random walk along ties beyond chance is at it, with restarts at the known bad.",
        "pagerank, with the weight q of ties",
        "Tumminello et al., Statistically validated networks in bipartite complex systems, PLoS ONE 6, 2011",
        0.25,
    ),
    known(
        "known_partners",
        "evidence: known partners",
        "Share of known bad among its partners, as a multiple of the share among all.",
        "(known bad partners + 2 b) / (partners + 2) / b;  b: share of known bad among all",
        "Macskassy, Provost, Classification in networked data, JMLR 8, 2007 (weighted-vote relational neighbour)",
        0.15,
    ),
    known(
        "known_weight",
        "evidence: known weight",
        "Share of known bad in its transactions, as a multiple of the share among all.",
        "(weight to known bad + 2 b) / (weight + 2) / b",
        "Macskassy, Provost, JMLR 8, 2007",
        0.15,
    ),
    known(
        "known_second",
        "evidence: known second",
        "Share of known bad among the partners of its partners, as a multiple of the share among all.",
        "mean over partners u of (known bad partners of u / (partners of u − 1)) / b",
        "Gallagher et al., Using ghost edges for classification in sparsely labeled networks, KDD 2008",
        0.15,
    ),
    known(
        "community_fine",
        "evidence: community fine",
        "Share of known bad in its community of a fine partition, as a multiple of the share among all.",
        "(known bad others + 2 b) / (others + 2) / b, layered label propagation at γ = 1/4",
        "Boldi, Rosa, Santini, Vigna, Layered label propagation, WWW 2011",
        0.15,
    ),
    known(
        "community_coarse",
        "evidence: community coarse",
        "Share of known bad in its community of a coarse partition, as a multiple of the share among all.",
        "as community_fine, at γ = 1/64",
        "Boldi, Rosa, Santini, Vigna, WWW 2011",
        0.15,
    ),
    known(
        "community_ties",
        "evidence: community ties",
        "Share of known bad in its community along ties beyond chance, as a multiple of the share among all.",
        "as community_fine, label propagation on the kept ties",
        "Raghavan, Albert, Kumara, Near linear time algorithm to detect community structures, Physical Review E 76, 2007",
        0.1,
    ),
    blind(
        "tie_surprise",
        "evidence: tie surprise",
        "How little chance explains its most surprising tie, bounded.",
        "ln(1 + max J(u, v)) over its ties",
        "Tumminello et al., PLoS ONE 6, 2011",
        0.4,
    ),
    blind(
        "partners",
        "evidence: partners",
        "Number of its partners.",
        "d",
        "degree centrality",
        0.0,
    ),
    blind(
        "strength",
        "evidence: strength",
        "Summed weight of its edges.",
        "W",
        "Barrat et al., PNAS 101, 2004",
        0.0,
    ),
    blind(
        "repetition",
        "evidence: repetition",
        "Weight of its average edge: how often it deals with the same partners.",
        "W / d",
        "Barrat et al., PNAS 101, 2004",
        0.1,
    ),
    blind(
        "partners_of_partners",
        "evidence: partners of partners",
        "How many partners its partners have.",
        "mean over partners u of ln(1 + partners of u)",
        "Akoglu, McGlohon, Faloutsos, OddBall, PAKDD 2010",
        0.0,
    ),
    blind(
        "balance",
        "evidence: balance",
        "Whether it pays (1) or is paid (−1).",
        "(payments − receipts) / (payments + receipts)",
        "Weber et al., Scalable graph learning for anti-money laundering, 2018",
        0.0,
    ),
    blind(
        "burst",
        "evidence: burst",
        "How much its transactions crowd on few days.",
        "mean over days of n² / mean of n − mean of n;  n: transactions of a day",
        "Fano factor",
        0.1,
    ),
    blind(
        "busiest_day",
        "evidence: busiest day",
        "Transactions of its busiest day.",
        "max n over days",
        "",
        0.0,
    ),
    blind(
        "fan_in",
        "evidence: fan in",
        "The most payers that it had on one day.",
        "max over days of different payers",
        "Suzumura, Kanezashi, AMLSim, 2018 (fan-in)",
        0.05,
    ),
    blind(
        "fan_out",
        "evidence: fan out",
        "The most payees that it had on one day.",
        "max over days of different payees",
        "Suzumura, Kanezashi, AMLSim, 2018 (fan-out)",
        0.0,
    ),
    blind(
        "pass_through",
        "evidence: pass through",
        "Share of what it received that it paid on the same or the next day.",
        "Σ over days of min(in, out + out of the next day) / max(Σ in, Σ out)",
        "Li et al., FlowScope, AAAI 2020",
        0.15,
    ),
    blind(
        "amount_level",
        "evidence: amount level",
        "Its average amount.",
        "mean of ln amount over its transactions",
        "",
        0.0,
    ),
    blind(
        "amount_run_out",
        "evidence: amount run out",
        "How far successive payments of it exceed its own and its payees’ usual amounts.",
        "max over runs of L ≤ 8 of Σ r / √L;  r: ln amount less both medians, in robust standard deviations, from −3 to 6",
        "Kulldorff, A spatial scan statistic, 1997; Rousseeuw, Croux, JASA 88, 1993",
        0.3,
    ),
    blind(
        "amount_run_in",
        "evidence: amount run in",
        "How far successive receipts of it exceed its own and its payers’ usual amounts.",
        "as amount_run_out, of receipts",
        "Kulldorff, 1997; Rousseeuw, Croux, JASA 88, 1993",
        0.05,
    ),
];

const fn known(
    key: &'static str,
    method: &'static str,
    meaning: &'static str,
    formula: &'static str,
    reference: &'static str,
    prior: f64,
) -> Definition {
    Definition { key, method, meaning, formula, reference, needs_known: true, prior }
}

const fn blind(
    key: &'static str,
    method: &'static str,
    meaning: &'static str,
    formula: &'static str,
    reference: &'static str,
    prior: f64,
) -> Definition {
    Definition { key, method, meaning, formula, reference, needs_known: false, prior }
}
