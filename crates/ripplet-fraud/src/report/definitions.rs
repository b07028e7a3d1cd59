//! What the scores and events of a report mean, as text beside them.

use crate::Fate;
use serde::Serialize;

/// A score and its formula, as an analyst reads them.
#[derive(Clone, Debug, Serialize)]
pub struct ScoreDefinition {
    /// A short name, for links and files.
    pub key: String,
    /// The head of its column.
    pub name: String,
    /// What it says, in a sentence.
    pub meaning: String,
    /// How it is computed.
    pub formula: String,
    /// How it is written.
    pub form: ScoreForm,
}

/// How a score is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreForm {
    /// From 0 to 1.
    Share,
    /// Any number.
    Number,
    /// How little chance explains: natural logarithms, with two decimals.
    Nats,
    /// A whole number.
    Count,
    /// A share more or less than before.
    Change,
}

/// All that a report defines.
#[derive(Clone, Debug)]
pub struct Definitions {
    /// The score that clusters are ranked by.
    pub score: ScoreDefinition,
    /// The other scores of clusters: density, conductance, growth, age.
    pub scores: Vec<ScoreDefinition>,
    /// The score that members are ranked by.
    pub member_score: ScoreDefinition,
    /// Which cluster goes on, and which is new.
    pub overlap_rule: String,
}

/// What becomes of a cluster.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Event {
    key: &'static str,
    name: &'static str,
    rule: &'static str,
}

/// The events, by their numbers in a document; the last are the ended ones.
pub(super) const EVENTS: [Event; 7] = [
    event(Fate::Born, "Born", "New: it overlaps with no cluster of the window before."),
    event(Fate::Grew, "Grew", "It goes on with more members."),
    event(Fate::Shrank, "Shrank", "It goes on with fewer members."),
    event(Fate::Stayed, "Stayed", "It goes on with as many members."),
    event(
        Fate::Merged,
        "Merged",
        "It goes on, and overlaps with others that no longer go on themselves.",
    ),
    event(Fate::Split, "Split", "It overlaps with clusters before that go on in others."),
    Event {
        key: "died",
        name: "Died",
        rule: "It was in the window before, and does not go on: gone, or a part of another now.",
    },
];

const fn event(fate: Fate, name: &'static str, rule: &'static str) -> Event {
    Event { key: fate.name(), name, rule }
}

/// The number of a fate among [`EVENTS`].
pub(super) fn event_of(fate: Fate) -> u8 {
    match fate {
        Fate::Born => 0,
        Fate::Grew => 1,
        Fate::Shrank => 2,
        Fate::Stayed => 3,
        Fate::Merged => 4,
        Fate::Split => 5,
    }
}

/// The number of those that ended among [`EVENTS`].
pub(super) const DIED: usize = 6;

impl ScoreDefinition {
    /// A definition from its texts.
    pub fn new(key: &str, name: &str, meaning: &str, formula: &str, form: ScoreForm) -> Self {
        ScoreDefinition {
            key: key.into(),
            name: name.into(),
            meaning: meaning.into(),
            formula: formula.into(),
            form,
        }
    }
}

impl Default for Definitions {
    fn default() -> Definitions {
        let define = ScoreDefinition::new;
        Definitions {
            score: define(
                "score",
                "Score",
                "How suspicious its members are on average, in nats; the ranking is by it.",
                "Σ score of members / members",
                ScoreForm::Nats,
            ),
            scores: vec![
                define(
                    "density",
                    "Density",
                    "Edges among members, as a share of those that there could be.",
                    "2 · edges / (members · (members − 1))",
                    ScoreForm::Share,
                ),
                define(
                    "conductance",
                    "Conductance",
                    "How much of the members’ weight goes to others: 0 for a closed circle.",
                    "weight to others / (weight to others + 2 · weight within)",
                    ScoreForm::Share,
                ),
                define(
                    "growth",
                    "Growth",
                    "By how much its size changed since the last window.",
                    "(members − members before) / members before",
                    ScoreForm::Change,
                ),
                define(
                    "age",
                    "Age",
                    "How many windows ago it was found first.",
                    "windows since the one it was born in",
                    ScoreForm::Count,
                ),
            ],
            member_score: define(
                "score",
                "Score",
                "How suspicious it is, in nats: how little chance explains its strongest tie, and how near known \
                 bad ones are. 0 is a known bad one without surprising ties.",
                "max(0, max J(u, v) over its ties − ln ties of the window) + ln max(strength, 2⁻¹⁶)",
                ScoreForm::Nats,
            ),
            overlap_rule: "Two clusters overlap where they share at least half of the members of the smaller \
                           one. An id goes on to the overlapping cluster that shares most members, one to one."
                .into(),
        }
    }
}
