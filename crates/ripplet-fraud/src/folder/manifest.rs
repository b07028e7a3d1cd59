//! Manifest of a run, and the record of each window.

use super::FolderError;
use crate::TimeRange;
use crate::counts::Counts;
use crate::model::{Check, Scores};
use crate::output::EntityScores;
use crate::source::reader::Input;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Contents of `manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of ripplet that wrote the run.
    pub ripplet: String,
    /// Version of the folder's file formats: [`FORMAT`].
    #[serde(default = "first_format")]
    pub format: u32,
    /// Id of the run: 16 hexadecimal digits; empty for runs of versions without one.
    #[serde(default)]
    pub run_id: String,
    /// Settings that decide the results, by name.
    pub options: BTreeMap<String, String>,
    /// Inputs, in the order in which they were read.
    pub inputs: Vec<Input>,
    /// Counters of rows.
    pub counts: Counts,
    /// Records of the finished windows.
    pub windows: Vec<WindowRecord>,
    /// State of the run: `running`, `finished`, or why it ended.
    pub state: String,
    /// Number of transactions after the end of the last window.
    pub transactions_behind: u64,
    /// Number of list entries whose entity was never seen.
    pub unseen: u64,
    /// Kind and id of the first of these.
    #[serde(default)]
    pub unseen_first: Vec<String>,
    /// Number of list entries that are active at the end of no window, by their `from` and `until`.
    #[serde(default)]
    pub unheld: u64,
    /// Number of threads.
    pub threads: usize,
    /// Seconds since the run started, or was resumed.
    pub seconds: f64,
}

/// Version of a run folder's file formats; it changes whenever older versions of ripplet cannot read the
/// files.
pub const FORMAT: u32 = 1;

/// Format of manifests without a format number.
fn first_format() -> u32 {
    1
}

/// Contents of `window.json`: the figures of one window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WindowRecord {
    /// Number of the window, from 0.
    pub index: u32,
    /// First instant of the window.
    pub from: String,
    /// First instant after the window.
    pub until: String,
    /// Name of its folder.
    pub folder: String,
    /// Number of transactions in the window.
    pub transactions: u64,
    /// Number of these that are of an entity with itself, and make no edge; `None` if rows link more than two
    /// entities.
    #[serde(default)]
    pub to_themselves: Option<u64>,
    /// Number of entities seen when the window ended.
    pub vertices: u32,
    /// Arcs of its graph: two for each pair.
    pub arcs: u64,
    /// Number of known bad entities when the window ended.
    pub known_bad: u64,
    /// Number of deny list entries active then whose entity was not seen so far.
    pub known_bad_unseen: u64,
    /// Number of trusted entities.
    pub trusted: u64,
    /// Number of cleared entities.
    #[serde(default)]
    pub cleared: u64,
    /// SHA-256 of the lists at that time.
    pub lists_sha256: Vec<String>,
    /// Number of clusters.
    pub clusters: u64,
    /// Number of members of clusters.
    pub members: u64,
    /// Whether the graph was merged from the previous window instead of built of all its days.
    pub merged: bool,
    /// Whether its last day ended because the input did. A resumed run builds it again, since there may be
    /// more transactions of that day or slide.
    #[serde(default)]
    pub cut: bool,
    /// Whether labels started from the previous window.
    pub warm: bool,
    /// Number of vertices whose lists changed since the previous window; `None` if the graph was built anew.
    pub changed: Option<u64>,
    /// Share of the significant ties of plain transaction counts that the weight keeps. `None` if weights are
    /// counts, if these ties are too few for a cluster, or if memory is scarce.
    #[serde(default)]
    pub weight_keeps: Option<f64>,
    /// Scores of entities; `None` without a model.
    #[serde(default)]
    pub scores: Option<ScoreRecord>,
    /// Rounds of label propagation.
    pub rounds: u32,
    /// Arcs scanned in these rounds.
    pub scanned: u64,
    /// Whether labels converged.
    pub converged: bool,
    /// Seconds by stage.
    pub seconds: BTreeMap<String, f64>,
    /// Planned bytes by purpose: the state of the stream and the windows, and the working memory of
    /// detection.
    pub bytes_planned: BTreeMap<String, u64>,
    /// Peak memory of the process in bytes, if the system reports it.
    pub bytes_peak: Option<u64>,
}

/// Figures of the scores of a window's entities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreRecord {
    /// Number of entities that have a score.
    pub entities: u64,
    /// Whether a scorecard was learnt and calibrated; otherwise scores are the fixed combination, drawn towards the known bad if
    /// there are any.
    pub learnt: bool,
    /// Number of known bad with transactions.
    pub known_bad: u32,
    /// Number of other entities that the scorecard was learnt from.
    pub others: u32,
    /// Check of the ranking by held-out known bad, if a scorecard was learnt.
    pub check: Option<Check>,
}

impl ScoreRecord {
    /// Returns the figures of a window's scores.
    pub fn of(of: EntityScores<'_>) -> ScoreRecord {
        let Scores { rank, scorecard, check, .. } = of.scores;
        ScoreRecord {
            entities: rank.iter().filter(|&&rank| rank > 0).count() as u64,
            learnt: scorecard.learnt,
            known_bad: scorecard.known_bad,
            others: scorecard.others,
            check: check.clone(),
        }
    }
}

impl WindowRecord {
    /// Formats its first and last day.
    pub fn days(&self) -> String {
        match (self.from.parse(), self.until.parse()) {
            (Ok(from), Ok(until)) => TimeRange::new(from, until).to_string(),
            _ => format!("{} to {}", self.from, self.until),
        }
    }
}

impl Manifest {
    /// Returns the options as JSON.
    ///
    /// # Errors
    /// If they cannot be formatted.
    pub fn options_json(&self) -> Result<String, FolderError> {
        serde_json::to_string(&self.options).map_err(|error| FolderError::Damaged {
            path: "manifest.json".into(),
            why: error.to_string(),
        })
    }

    /// Returns the first difference to another run's options.
    pub fn difference(&self, options: &BTreeMap<String, String>) -> Option<[String; 3]> {
        let names = self.options.keys().chain(options.keys());
        let value = |of: &BTreeMap<String, String>, name: &str| {
            of.get(name).cloned().unwrap_or_else(|| "nothing".into())
        };
        let triple =
            |name: &String| [name.clone(), value(&self.options, name), value(options, name)];
        names.map(triple).find(|[_, there, here]| there != here)
    }

    /// Checks that inputs are those that were read before, as far as both go.
    ///
    /// # Errors
    /// If one was replaced, or another comes in its place.
    pub fn check_inputs(&self, inputs: &[Input]) -> Result<(), FolderError> {
        for (there, here) in self.inputs.iter().zip(inputs) {
            if there.path != here.path {
                let (there, here) = (there.path.clone(), here.path.clone());
                return Err(FolderError::OtherInput { there, here });
            }
            if there.sha256 != here.sha256 {
                return Err(FolderError::Replaced { path: here.path.clone() });
            }
        }
        Ok(())
    }
}
