//! Rows of a stream, counted: those taken, and those left out with the first of them named.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows with faults that are named; the others are counted.
const NAMED: usize = 10;

const ROWS_WERE: [&str; 2] = ["row was", "rows were"];

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows read.
    pub rows: u64,
    /// Of these, those taken.
    pub taken: u64,
    /// Of kinds that the mapping does not take.
    pub other_kinds: u64,
    /// That came too late and were left out.
    pub late: u64,
    /// That came within the bound, for a day that was not the last.
    pub out_of_order: u64,
    /// With faults, by what these are, which were left out.
    pub faults: BTreeMap<String, u64>,
    /// The first rows that were left out: where each is, and why.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// Taken, but between a vertex and itself, so that they are no edge.
    pub to_themselves: u64,
    /// Whose amounts have more decimals than are kept, and were rounded.
    #[serde(default)]
    pub rounded: u64,
    /// Ids that had blanks around them in a text, which are no part of them.
    #[serde(default)]
    pub trimmed: u64,
}

impl Counts {
    /// Returns the number of rows that were left out though the mapping takes their kind.
    pub fn skipped(&self) -> u64 {
        self.faults.values().sum::<u64>() + self.late
    }

    /// Names a row that was left out, if it is one of the first.
    pub(crate) fn name(&mut self, what: impl FnOnce() -> String) {
        if self.left_out.len() < NAMED {
            self.left_out.push(what());
        }
    }

    /// Returns how many rows were left out and why, with the first of them.
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

    /// Returns what a reader of the results should know of the rows.
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
