//! What a reader may be told beside the file's name.

use crate::Format;

/// What a reader may be told beside the file's name.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format, where the name does not tell it.
    pub format: Option<Format>,
    /// Whether to read weights. Without, a weight column is passed over unread.
    pub weighted: bool,
    /// What the ids are.
    pub ids: IdKind,
    /// The names of the columns of a table with a header: source, target, weight, graph.
    pub columns: Columns,
}

/// The names of a table's columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// One end of an edge.
    pub source: String,
    /// The other end.
    pub target: String,
    /// The weight.
    pub weight: String,
    /// The graph that the edge is of, where a table has many graphs.
    pub graph: String,
}

impl Default for Columns {
    fn default() -> Self {
        let [source, target, weight, graph] =
            ["source", "target", "weight", "graph"].map(String::from);
        Columns { source, target, weight, graph }
    }
}

/// What the ids of a text file are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdKind {
    /// Non-negative integers where the first edge's ids are such, else names.
    #[default]
    Auto,
    /// Non-negative integers below 2⁶⁴; anything else is an error.
    Unsigned,
    /// Integers from −2⁶³ to 2⁶³ − 1; anything else is an error.
    Signed,
    /// Strings, whatever they look like.
    Names,
}
