//! Counters of a stream's rows: those taken, and those left out with the first of them named.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of faulty rows that are named; the others are only counted.
const NAMED: usize = 10;

const ROWS_WERE: [&str; 2] = ["row was", "rows were"];

/// Counters of a stream's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows read.
    pub rows: u64,
    /// Rows taken.
    pub taken: u64,
    /// Rows of kinds that the mapping does not take.
    pub other_kinds: u64,
    /// Rows left out because they came too late.
    pub late: u64,
    /// Rows within the bound for late rows, of a day that was not the last.
    pub out_of_order: u64,
    /// Rows outside the range of the run.
    #[serde(default)]
    pub outside: u64,
    /// The earliest and the latest time of these rows, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_times: Option<(i64, i64)>,
    /// Faulty rows left out, by fault.
    pub faults: BTreeMap<String, u64>,
    /// The first rows left out: position and fault.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// Rows taken whose two ends are one entity: they make no edge.
    pub to_themselves: u64,
    /// Rows whose amounts have too many decimals and were rounded.
    #[serde(default)]
    pub rounded: u64,
    /// Ids with surrounding blanks in a text, which were trimmed.
    #[serde(default)]
    pub trimmed: u64,
}

impl Counts {
    /// Returns the number of rows that were left out though the mapping takes their kind.
    pub fn skipped(&self) -> u64 {
        self.faults.values().sum::<u64>() + self.late
    }

    /// Counts a row outside the range of the run.
    pub(crate) fn add_outside(&mut self, time: Timestamp) {
        self.outside += 1;
        let (first, last) = self.outside_times.unwrap_or((time.0, time.0));
        self.outside_times = Some((first.min(time.0), last.max(time.0)));
    }

    /// Names a row that was left out, if it is among the first.
    pub(crate) fn name(&mut self, what: impl FnOnce() -> String) {
        if self.left_out.len() < NAMED {
            self.left_out.push(what());
        }
    }

    /// Returns notes on the rows that were left out, with the first of them.
    pub fn skipped_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (fault, &rows) in &self.faults {
            say(&mut notes, rows, ROWS_WERE, &format!("left out: {fault}"));
        }
        say(&mut notes, self.late, ROWS_WERE, "left out: too late, their day had ended");
        notes.extend(self.left_out.iter().map(|row| format!("left out: {row}")));
        let named = self.left_out.len() as u64;
        if named > 0 {
            let more = self.skipped().saturating_sub(named);
            say(&mut notes, more, ["more row was", "more rows were"], "left out");
        }
        notes
    }

    /// Returns notes on the rows for a reader of the results.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.skipped_notes();
        say(
            &mut notes,
            self.rounded,
            ["amount was", "amounts were"],
            "rounded, with more decimals than are kept: amount = { column = …, decimals = N } in the mapping keeps up to 9",
        );
        say(
            &mut notes,
            self.trimmed,
            ["id had blanks around it", "ids had blanks around them"],
            "that are no part of ids: only an id in quotes keeps them",
        );
        say(
            &mut notes,
            self.to_themselves,
            [
                "transaction of an entity with itself is",
                "transactions of an entity with itself are",
            ],
            "left out: an edge has two ends",
        );
        say(&mut notes, self.outside, ROWS_WERE, "passed over: outside --since and --before");
        let kinds = "passed over: of kinds that the mapping does not take";
        say(&mut notes, self.other_kinds, ROWS_WERE, kinds);
        notes
    }
}

/// Adds a note about a number of things, in the singular for one; none for 0.
pub(crate) fn say(notes: &mut Vec<String>, count: u64, [one, many]: [&str; 2], what: &str) {
    if count > 0 {
        notes.push(format!("{count} {} {what}", if count == 1 { one } else { many }));
    }
}
