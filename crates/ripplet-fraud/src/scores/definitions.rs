//! Definitions of scores: names, meanings and formulas, used by the code and the report alike.

use crate::Cluster;
use serde::Serialize;

/// Definition of a score of clusters or members.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Definition {
    /// Short name, for links and files.
    pub key: &'static str,
    /// Title of its column.
    pub name: &'static str,
    /// Meaning, in a sentence.
    pub meaning: &'static str,
    /// Formula.
    pub formula: &'static str,
    /// Number format.
    pub form: Form,
}

/// Number format of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A share from 0 to 1.
    Share,
    /// Natural logarithms with two decimals.
    Nats,
    /// Odds: 1 in n.
    Odds,
    /// A whole number.
    Count,
    /// A relative change.
    Change,
}

/// Score by which members are ranked: [`suspicion()`](crate::detect::suspicion()).
pub const OF_MEMBERS: Definition = Definition {
    key: "score",
    name: "Score",
    meaning: "How suspicious it is, in nats: how little chance explains its strongest tie, and how near known bad ones \
              are. 0 is a known bad one without surprising ties.",
    formula: "max(0, max J(u, v) over its ties − ln ties of the window) + ln max(strength, 2⁻¹⁶)",
    form: Form::Nats,
};

/// Score by which clusters are ranked.
pub const OF_CLUSTERS: Definition = Definition {
    key: "score",
    name: "Score",
    meaning: "How suspicious its members are on average, in nats; the ranking is by it.",
    formula: "Σ score of members / members",
    form: Form::Nats,
};

/// Score by which clusters are ranked if entities have scores.
pub const OF_CLUSTERS_BY_ENTITIES: Definition = Definition {
    key: "score",
    name: "Score",
    meaning: "How likely its members are bad on average, in log odds, and how suspicious their ties are; the ranking is by it.",
    formula: "Σ log odds of members / members + ln(1 + 11.09 + Σ suspicion of members / members)",
    form: Form::Nats,
};

/// Smallest suspicion of a member: no tie beyond chance, and the smallest strength, 2⁻¹⁶.
pub(super) const LEAST_SUSPICION: f64 = -16.0 * std::f64::consts::LN_2;

/// P-value of a cluster: [`chance`](crate::chance).
pub const CHANCE: Definition = Definition {
    key: "chance",
    name: "Chance",
    meaning: "How many windows without rings have any group as busy as the busiest part of the cluster, at most. Above the \
              threshold, a cluster without a known bad member is noise.",
    formula: "min over parts of s members: s · (s − 1) · C(entities, s) · P(Poisson(expected transactions) ≥ transactions)",
    form: Form::Odds,
};

/// Further scores of clusters.
pub const BESIDE: [Definition; 4] = [
    Definition {
        key: "density",
        name: "Density",
        meaning: "Edges among members, as a share of those that there could be.",
        formula: "2 · edges / (members · (members − 1))",
        form: Form::Share,
    },
    Definition {
        key: "conductance",
        name: "Conductance",
        meaning: "How much of the members’ weight goes to others: 0 for a closed circle.",
        formula: "weight to others / (weight to others + 2 · weight within)",
        form: Form::Share,
    },
    Definition {
        key: "growth",
        name: "Growth",
        meaning: "By how much its size changed since the last window.",
        formula: "(members − members before) / members before",
        form: Form::Change,
    },
    Definition {
        key: "age",
        name: "Age",
        meaning: "How many windows ago it was found first.",
        formula: "windows since the one it was born in",
        form: Form::Count,
    },
];

/// Returns a cluster's values of [`BESIDE`].
pub fn beside(cluster: &Cluster) -> [Option<f64>; BESIDE.len()] {
    let Cluster { density, conductance, growth, age, .. } = cluster;
    [Some(*density), Some(*conductance), *growth, Some(f64::from(*age))]
}
