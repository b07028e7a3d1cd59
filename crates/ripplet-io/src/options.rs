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
    /// Which columns of a table are read.
    pub columns: Columns,
    /// Whether the first row of a text table names its columns.
    pub header: Header,
    /// The columns of ids and of labels in a table of communities, labels or seeds, by name or by number from 1;
    /// without, known names decide.
    pub label_columns: Option<[String; 2]>,
}

/// Whether the first row of a text table names its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// Decided by the first rows; refused where these leave it open.
    #[default]
    Auto,
    /// It does.
    Present,
    /// It is an edge.
    Absent,
}

/// The columns of a table, by name, or by number from 1 (`"2"`) where no column has that name.
///
/// The default means: columns called `source` and `target`, or others whose names are known to mean the
/// ends of an edge, as the first rows tell.
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
