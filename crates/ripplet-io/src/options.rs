//! What a reader may be told beside the file's name.

use crate::Format;
use std::str::FromStr;

/// What a reader may be told beside the file's name.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format, if the name does not tell it.
    pub format: Option<Format>,
    /// Whether to read weights. Without, a weight column is skipped unread.
    pub weighted: bool,
    /// What the ids are.
    pub ids: IdKind,
    /// Which columns of a table are read.
    pub columns: Columns,
    /// Whether the first row of a text table names its columns.
    pub header: Header,
    /// What stands between the fields of a text table; decided by the first rows if left open.
    pub delimiter: Option<Delimiter>,
    /// The columns of ids and of labels in a table of communities, labels or seeds, by name or by number from 1;
    /// without, known names decide.
    pub label_columns: Option<[String; 2]>,
}

/// What stands between the fields of a text table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// This byte, each time; a field may stand in double quotes.
    Byte(u8),
    /// Any run of blanks and tabs.
    Blanks,
}

impl FromStr for Delimiter {
    type Err = String;

    /// Returns the delimiter that `tab`, `blanks` or one sign stands for.
    fn from_str(text: &str) -> Result<Delimiter, String> {
        match text {
            "tab" | "\t" | "\\t" => Ok(Delimiter::Byte(b'\t')),
            "blanks" | " " => Ok(Delimiter::Blanks),
            _ => match *text.as_bytes() {
                [sign] if sign.is_ascii_punctuation() && !b"\"#%".contains(&sign) => {
                    Ok(Delimiter::Byte(sign))
                }
                _ => Err("expected `tab`, `blanks`, or one sign such as `;`".into()),
            },
        }
    }
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
    /// The graph that the edge is of, if a table has many graphs. The default means: `graph`, else the only column that
    /// has that name in another case or as an id (`Graph`, `graph_id`).
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
