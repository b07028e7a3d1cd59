//! Column names by which a table of vertices and labels is recognised.
//!
//! Names are compared in lower case and without `_`, `-`, `:` and blanks. A table has a known pair if one
//! column has the best known name of an id and another the best known name of a label. The lists are ordered:
//! `id` is preferred to `name`, `community` to `label`. Two columns of equal rank are an error, as either
//! could be meant.

use crate::Format;
use ripplet_graph::{ExternalId, VertexIds};
use std::fmt;

/// Known names of a column of ids, best first; names of one rank are equivalent.
pub const KNOWN_ID_NAMES: [&[&str]; 4] = [
    &["id"],
    &["vertex", "node", "vertex_id", "node_id", "vertices", "nodes"],
    &[
        "user",
        "user_id",
        "account",
        "account_id",
        "member",
        "member_id",
        "person",
        "person_id",
        "customer",
        "customer_id",
        "entity",
        "entity_id",
        "key",
    ],
    &["name"],
];

/// Known names of a column of labels, best first; names of one rank are equivalent.
pub const KNOWN_LABEL_NAMES: [&[&str]; 4] = [
    &["community", "communities", "community_id"],
    &[
        "cluster",
        "clusters",
        "cluster_id",
        "module",
        "module_id",
        "modularity_class",
        "partition",
        "membership",
    ],
    &["class", "group", "group_id", "department", "club", "component", "conference", "team"],
    &["label", "labels"],
];

/// Summary of a table of vertices and labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSummary {
    /// Names of the columns of ids and of labels, if the table has names.
    pub names: Option<[String; 2]>,
    /// Indices of the columns of ids and of labels, from 0.
    pub columns: [usize; 2],
    /// Number of columns that were skipped.
    pub ignored: usize,
    /// Number of rows whose label is empty.
    pub without_label: u64,
    /// Number of rows with several labels.
    pub with_several: u64,
    /// Number of labels that are a word for a missing value, such as `NA`: they count as names.
    pub missing_names: u64,
}

impl LabelSummary {
    /// Whether the table has only one interpretation: two columns, `id` and `community` if they have names,
    /// and a label in each row.
    pub fn is_plain(&self) -> bool {
        let usual = |names: &[String; 2]| names[0] == "id" && names[1] == "community";
        self.ignored == 0
            && self.without_label == 0
            && self.with_several == 0
            && self.missing_names == 0
            && self.names.as_ref().is_none_or(usual)
            && self.columns[0] <= self.columns[1]
    }
}

/// Formats a clause on the columns that were read, and on rows without a label or with several.
impl fmt::Display for LabelSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.names {
            Some([id, label]) => {
                let [id, label] = [id, label].map(crate::shown::shown);
                write!(f, "id = \"{id}\", community = \"{label}\"")?;
                "column"
            }
            None => {
                let [id, label] = self.columns.map(|column| column + 1);
                write!(f, "id = field {id}, community = field {label}")?;
                "field"
            }
        };
        match self.ignored {
            0 => {}
            1 => write!(f, "; 1 other {what} ignored")?,
            more => write!(f, "; {more} other {what}s ignored")?,
        }
        let rows = |count: u64| if count == 1 { "row has" } else { "rows have" };
        if self.with_several > 0 {
            write!(f, "; {} {} several communities", self.with_several, rows(self.with_several))?;
        }
        if self.without_label > 0 {
            write!(f, "; {} {} no community", self.without_label, rows(self.without_label))?;
        }
        push_missing(f, self.missing_names)?;
        Ok(())
    }
}

/// Formats a clause on communities whose name is a word for a missing value, if there are some.
pub(crate) fn push_missing(f: &mut fmt::Formatter<'_>, rows: u64) -> fmt::Result {
    let rows = match rows {
        0 => return Ok(()),
        1 => "1 row".to_owned(),
        more => format!("{more} rows"),
    };
    write!(
        f,
        "; {rows} with a community such as NA or null, which counts as its name: leave the field empty if it means none"
    )
}

/// Columns that the names of a table decide on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Both columns have known names.
    Known([usize; 2]),
    /// Of two columns, one has a known name, and the other is the remaining one.
    Half([usize; 2]),
    /// Two columns have names of equal rank.
    Several([usize; 2]),
    /// No column has a known name.
    Unknown,
}

impl Choice {
    /// Chooses among columns with these names.
    pub(crate) fn of(names: &[&str]) -> Choice {
        let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
        match (best(&plain, &KNOWN_LABEL_NAMES, None), names.len()) {
            (Best::Several(both), _) => Choice::Several(both),
            (Best::One(label), width) => {
                match (best(&plain, &KNOWN_ID_NAMES, Some(label)), width) {
                    (Best::One(id), _) => Choice::Known([id, label]),
                    (Best::Several(both), _) => Choice::Several(both),
                    (Best::None, 2) => Choice::Half([1 - label, label]),
                    (Best::None, _) => Choice::Unknown,
                }
            }
            (Best::None, 2) => match best(&plain, &KNOWN_ID_NAMES, None) {
                Best::One(id) => Choice::Half([id, 1 - id]),
                _ => Choice::Unknown,
            },
            (Best::None, _) => Choice::Unknown,
        }
    }

    /// Returns the known columns if column `other`, which an equally good one competes with, is excluded.
    pub(crate) fn without(names: &[&str], other: usize) -> Option<[usize; 2]> {
        let mut names = names.to_vec();
        names[other] = "";
        match Choice::of(&names) {
            Choice::Known(both) => Some(both),
            Choice::Half(_) | Choice::Several(_) | Choice::Unknown => None,
        }
    }
}

/// Best of some columns.
enum Best {
    One(usize),
    Several([usize; 2]),
    None,
}

/// Finds the column with the best known name; `other` is excluded.
fn best(names: &[String], known: &[&[&str]], other: Option<usize>) -> Best {
    for rank in known {
        let is_known = |name: &String| rank.iter().any(|known| plain(known) == *name);
        let mut found = (0..names.len()).filter(|&at| Some(at) != other && is_known(&names[at]));
        match (found.next(), found.next()) {
            (Some(first), Some(second)) => return Best::Several([first, second]),
            (Some(first), None) => return Best::One(first),
            _ => {}
        }
    }
    Best::None
}

/// Normalizes a column name for comparison.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-' | ':' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the column with a name, or by its number from 1 if no column has that name.
///
/// # Errors
/// If no column or several match: a sentence that lists the columns.
pub(crate) fn asked(names: &[&str], wanted: &str) -> Result<(usize, bool), String> {
    let mut found = (0..names.len()).filter(|&at| names[at] == wanted);
    if let (Some(at), more) = (found.next(), found.next()) {
        return match more {
            None => Ok((at, true)),
            Some(_) => Err(format!(
                "there are two columns `{}`: name the one to read by its number",
                crate::shown::shown(wanted)
            )),
        };
    }
    place_of(wanted, names.len()).map(|at| (at, false)).ok_or_else(|| {
        let wanted = crate::shown::shown(wanted);
        format!("there is no column `{wanted}`; the columns are: {}", listed(names))
    })
}

/// Returns the index of the column with this number from 1, if there are as many.
pub(crate) fn place_of(wanted: &str, columns: usize) -> Option<usize> {
    let number = wanted.parse::<usize>().ok().filter(|number| (1..=columns).contains(number));
    number.map(|number| number - 1)
}

/// Formats the names of columns for a message.
pub(crate) fn listed(names: &[&str]) -> String {
    /// Largest number of names in a message.
    const MOST: usize = 12;
    let shown: Vec<String> = names.iter().take(MOST).map(crate::shown::shown).collect();
    let more = if names.len() > MOST { ", …" } else { "" };
    shown.join(", ") + more
}

/// Form of a file of memberships.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MembershipForm {
    /// [`MembershipForm::Rows`] or [`MembershipForm::Memberships`], as the first rows show; an error if they
    /// are ambiguous.
    #[default]
    Auto,
    /// A line or a row for each vertex and community it is in.
    Rows,
    /// A line for each vertex, with its id and then all its communities.
    Memberships,
    /// A line for each community, with the ids of its members.
    Members,
}

/// Expected contents of a table of labels.
#[derive(Clone, Copy)]
pub(crate) struct LabelTable<'a> {
    /// The vertices of the graph.
    pub(crate) ids: &'a VertexIds,
    /// Meaning of a line: a row, memberships, or detected.
    pub(crate) form: MembershipForm,
    /// Requested columns of ids and of labels, by name or by number from 1.
    pub(crate) columns: Option<&'a [String; 2]>,
    /// Whether the caller has an option for the form.
    pub(crate) has_forms: bool,
    /// Description of the contents for an error.
    pub(crate) what: &'a str,
}

/// Whether a first field is a column's name: no vertex, and either a common name or, in a table with integer
/// ids, no integer.
pub(crate) fn is_heading(ids: &VertexIds, format: Format, field: &str) -> bool {
    const USUAL: [&str; 6] = ["id", "vertex", "node", "vertex_id", "node_id", "name"];
    let integers = !matches!(ids, VertexIds::Names(_));
    let letters = integers && format != Format::EdgeList && field.parse::<i128>().is_err();
    ids.find(ExternalId::Name(field)).is_none()
        && (letters || USUAL.iter().any(|usual| field.eq_ignore_ascii_case(usual)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_columns() {
        for (names, expected) in [
            ("id,age,community", Choice::Known([0, 2])),
            ("Id,Label,Interval,community,degree", Choice::Known([0, 3])),
            ("Id,Label,modularity_class", Choice::Known([0, 2])),
            ("Id,Label,Modularity Class", Choice::Known([0, 2])),
            (",id,community", Choice::Known([1, 2])),
            ("club,member", Choice::Known([1, 0])),
            ("community,id", Choice::Known([1, 0])),
            ("id,name,department", Choice::Known([0, 2])),
            ("graph,id,community", Choice::Known([1, 2])),
            ("name,id,community", Choice::Known([1, 2])),
            ("name,label", Choice::Known([0, 1])),
            ("nodeId,communityId", Choice::Known([0, 1])),
            ("town,community", Choice::Half([0, 1])),
            ("community,town", Choice::Half([1, 0])),
            ("colour,id", Choice::Half([1, 0])),
            ("id,club,team", Choice::Several([1, 2])),
            ("user,account,community", Choice::Several([0, 1])),
            ("a,b", Choice::Unknown),
            ("a,b,community", Choice::Unknown),
            ("id,a,b", Choice::Unknown),
            ("0,1", Choice::Unknown),
            ("", Choice::Unknown),
        ] {
            let names: Vec<&str> = names.split(',').collect();
            assert_eq!(Choice::of(&names), expected, "{names:?}");
        }
    }

    #[test]
    fn columns_are_asked_for_by_name_or_number() {
        let names = ["2", "a", "b", "b"];
        assert_eq!(asked(&names, "a"), Ok((1, true)));
        assert_eq!(asked(&names, "2"), Ok((0, true)));
        assert_eq!(asked(&names, "3"), Ok((2, false)));
        assert!(asked(&names, "b").unwrap_err().contains("two columns `b`"));
        for wrong in ["5", "0", "c"] {
            let error = asked(&names, wrong).unwrap_err();
            assert!(error.ends_with("the columns are: 2, a, b, b"), "{error}");
        }
    }

    /// The page lists the names that the reader recognises.
    #[test]
    fn the_page_lists_what_is_known() {
        let page = include_str!("../../../docs/quality.md");
        let blocks: Vec<String> = page
            .split("```text\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap_or_default().replace('\n', " "))
            .collect();
        for known in [KNOWN_ID_NAMES, KNOWN_LABEL_NAMES] {
            let ranks: Vec<String> = known.iter().map(|rank| rank.join(", ")).collect();
            let list = ranks.join("; ");
            assert!(blocks.iter().any(|block| block.trim() == list), "quality.md lacks {list}");
        }
    }
}
