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
pub const KINDS: usize = 37;

/// Number of kinds that depend on the known bad; they are the first.
pub const OF_KNOWN: usize = 11;

/// All kinds of evidence, in the order of their columns.
///
/// The weights of the fixed combination are the same for all data: the mean of those that a regression fits on
/// nine sets with half of the bad known, without negative ones. ADR 0032 has what they give on each set if they come
/// from the eight others.
pub const ALL: [Definition; KINDS] = [
    known(
        "pagerank",
        "evidence: pagerank",
        "How often a random walk that restarts at the known bad is at it.",
        "Σ over steps t: 0.3 · 0.7^t · P(walk from a random known bad entity is here after t steps)",
        "Haveliwala, Topic-sensitive PageRank, WWW 2002",
        0.07,
    ),
    known(
        "pagerank_by_strength",
        "evidence: pagerank by strength",
        "The same walk, compared with how often a walk from anywhere is at it.",
        "pagerank / summed weight of its edges",
        "Andersen, Chung, Lang, Local graph partitioning using PageRank vectors, FOCS 2006",
        0.32,
    ),
    known(
        "pagerank_along_ties",
        "evidence: pagerank along ties",
        "How often a random walk along ties beyond chance is at it, with restarts at the known bad.",
        "pagerank, with the weight q of ties",
        "Tumminello et al., Statistically validated networks in bipartite complex systems, PLoS ONE 6, 2011",
        0.21,
    ),
    known(
        "pagerank_forward",
        "evidence: pagerank forward",
        "How often a random walk from the known bad to those that they paid, and so on, is at it.",
        "pagerank, from payers to payees: an edge's weight times the share of transactions in its direction",
        "Haveliwala, WWW 2002; Hu et al., Characterizing and detecting money laundering on Bitcoin, 2019",
        0.05,
    ),
    known(
        "pagerank_backward",
        "evidence: pagerank backward",
        "How often a random walk from the known bad to those that paid them, and so on, is at it.",
        "as pagerank_forward, from payees to payers",
        "Gyöngyi, Garcia-Molina, Pedersen, Combating web spam with TrustRank, VLDB 2004 (reversed links)",
        0.05,
    ),
    known(
        "known_partners",
        "evidence: known partners",
        "Share of known bad among its partners, as a multiple of the share among all.",
        "(known bad partners + 2 b) / (partners + 2) / b;  b: share of known bad among all",
        "Macskassy, Provost, Classification in networked data, JMLR 8, 2007 (weighted-vote relational neighbour)",
        0.02,
    ),
    known(
        "known_weight",
        "evidence: known weight",
        "Share of known bad in its transactions, as a multiple of the share among all.",
        "(weight to known bad + 2 b) / (weight + 2) / b",
        "Macskassy, Provost, JMLR 8, 2007",
        0.03,
    ),
    known(
        "known_second",
        "evidence: known second",
        "Share of known bad among the partners of its partners, as a multiple of the share among all.",
        "mean over partners u of (known bad partners of u / (partners of u − 1)) / b",
        "Gallagher et al., Using ghost edges for classification in sparsely labeled networks, KDD 2008",
        0.2,
    ),
    known(
        "community_fine",
        "evidence: community fine",
        "Share of known bad in its community of a fine partition, as a multiple of the share among all.",
        "(known bad others + 2 b) / (others + 2) / b, layered label propagation at γ = 1/4",
        "Boldi, Rosa, Santini, Vigna, Layered label propagation, WWW 2011",
        0.08,
    ),
    known(
        "community_coarse",
        "evidence: community coarse",
        "Share of known bad in its community of a coarse partition, as a multiple of the share among all.",
        "as community_fine, at γ = 1/64",
        "Boldi, Rosa, Santini, Vigna, WWW 2011",
        0.08,
    ),
    known(
        "community_ties",
        "evidence: community ties",
        "Share of known bad in its community along ties beyond chance, as a multiple of the share among all.",
        "as community_fine, label propagation on the kept ties",
        "Raghavan, Albert, Kumara, Near linear time algorithm to detect community structures, Physical Review E 76, 2007",
        0.04,
    ),
    blind(
        "tie_surprise",
        "evidence: tie surprise",
        "How little chance explains its most surprising tie, bounded.",
        "ln(1 + max J(u, v)) over its ties",
        "Tumminello et al., PLoS ONE 6, 2011",
        0.28,
    ),
    blind(
        "partners",
        "evidence: partners",
        "Number of its partners.",
        "d",
        "degree centrality",
        0.02,
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
        0.01,
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
        "mean over the window’s days (UTC) of n² / mean of n − mean of n;  n: transactions of a day",
        "Fano factor",
        0.13,
    ),
    blind(
        "busiest_day",
        "evidence: busiest day",
        "Transactions of its busiest day.",
        "max n over days",
        "",
        0.01,
    ),
    blind(
        "fan_in",
        "evidence: fan in",
        "The most payers that it had on one day.",
        "max over days of different payers",
        "Suzumura, Kanezashi, AMLSim, 2018 (fan-in)",
        0.08,
    ),
    blind(
        "fan_out",
        "evidence: fan out",
        "The most payees that it had on one day.",
        "max over days of different payees",
        "Suzumura, Kanezashi, AMLSim, 2018 (fan-out)",
        0.01,
    ),
    blind(
        "pass_through",
        "evidence: pass through",
        "Share of what it received that it paid on the same or the next day.",
        "Σ over days of min(in, out + out of the next day) / max(Σ in, Σ out)",
        "Li et al., FlowScope, AAAI 2020",
        0.07,
    ),
    blind(
        "amount_level",
        "evidence: amount level",
        "Its average amount.",
        "mean of ln(amount in smallest units, such as cents) over its transactions",
        "",
        0.06,
    ),
    blind(
        "amount_run_out",
        "evidence: amount run out",
        "How far successive payments of it exceed its own and its payees’ usual amounts.",
        "max over runs of L ≤ 8 of Σ r / √L;  r: ln amount less both medians, in robust standard deviations, from −3 to 6; for L > 1, the mean of those of one instant",
        "Kulldorff, A spatial scan statistic, 1997; Rousseeuw, Croux, JASA 88, 1993",
        0.34,
    ),
    blind(
        "amount_run_in",
        "evidence: amount run in",
        "How far successive receipts of it exceed its own and its payers’ usual amounts.",
        "as amount_run_out, of receipts",
        "Kulldorff, 1997; Rousseeuw, Croux, JASA 88, 1993",
        0.06,
    ),
    blind(
        "amount_drop_out",
        "evidence: amount drop out",
        "How far successive payments of it are below its own and its payees’ usual amounts, as trials are.",
        "as amount_run_out, of −r",
        "Kulldorff, 1997; Rousseeuw, Croux, JASA 88, 1993",
        0.0,
    ),
    blind(
        "amount_drop_in",
        "evidence: amount drop in",
        "How far successive receipts of it are below its own and its payers’ usual amounts.",
        "as amount_run_in, of −r",
        "Kulldorff, 1997; Rousseeuw, Croux, JASA 88, 1993",
        0.0,
    ),
    blind(
        "amount_shift_out",
        "evidence: amount shift out",
        "How much larger its payments are from some instant on than before.",
        "max over instants of (mean r from it on − mean r before it) · √(n before · n after / n), r from −6 to 6",
        "Sen, Srivastava, On tests for detecting change in mean, Annals of Statistics 3, 1975",
        0.0,
    ),
    blind(
        "amount_shift_in",
        "evidence: amount shift in",
        "How much larger its receipts are from some instant on than before.",
        "as amount_shift_out, of receipts",
        "Sen, Srivastava, Annals of Statistics 3, 1975",
        0.0,
    ),
    blind(
        "amount_spread_out",
        "evidence: amount spread out",
        "How much its payments differ from its usual amount.",
        "median |r| over its payments, in robust standard deviations of all",
        "Rousseeuw, Croux, JASA 88, 1993",
        0.0,
    ),
    blind(
        "amount_spread_in",
        "evidence: amount spread in",
        "How much its receipts differ from its usual amount.",
        "as amount_spread_out, of receipts",
        "Rousseeuw, Croux, JASA 88, 1993",
        0.0,
    ),
    blind(
        "odd_hours",
        "evidence: odd hours",
        "How rare the hours of the day are at which it deals.",
        "mean over its transactions of −ln(share of all transactions in the same hour, UTC)",
        "Bahnsen et al., Feature engineering strategies for credit card fraud detection, 2016",
        0.0,
    ),
    blind(
        "count_run",
        "evidence: count run",
        "How little chance explains the most transactions that it has in a short part of the window.",
        "ln(1 + max over L of −ln P(Poisson(n L) ≥ most transactions within L)); L: 1/64 to 1/8 of the window's span",
        "Kulldorff, A spatial scan statistic, 1997",
        0.0,
    ),
    blind(
        "growth",
        "evidence: growth",
        "Its transactions in the last quarter of the window, against those before.",
        "(n − e) / √(e + 1);  n: in the last quarter of the window's span, e: a third of those before",
        "standardized Poisson difference",
        0.0,
    ),
    blind(
        "new_partners",
        "evidence: new partners",
        "Share of partners that it first met in the last quarter of the window.",
        "partners without earlier transactions / partners",
        "Bahnsen et al., 2016",
        0.0,
    ),
    blind(
        "cycles",
        "evidence: cycles",
        "Short cycles of payments in the order of time through it.",
        "ln(1 + cycles of 3 to 6 entities within a quarter of the window's span, one for each first payment, of like amounts if there is one); a search looks at 128 payments forward at most, and at 64 from the end",
        "Kumar, Calders, 2SCENT: an efficient algorithm for enumerating all simple temporal cycles, VLDB 2018",
        0.1,
    ),
    blind(
        "cycles_alike",
        "evidence: cycles alike",
        "The same, of amounts about as large as the ones before.",
        "as cycles, of those with each amount 0.8 to 1.05 times the one before",
        "Kumar, Calders, VLDB 2018; Suzumura, Kanezashi, AMLSim, 2018 (cycle)",
        0.1,
    ),
];

/// Whether an evidence is a ranking by ties beyond chance, which `--model none` ranks clusters by: of all keys, also those of
/// features.
pub fn is_of_ties(key: &str) -> bool {
    ["tie_surprise", "repetition", "pagerank_along_ties", "community_ties"].contains(&key)
}

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
