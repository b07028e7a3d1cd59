//! Tables of results: their columns are those of a window's files.
#![cfg_attr(not(feature = "postgres"), allow(dead_code))]

use crate::output::{
    ColumnSpec, cluster_columns, entity_columns, known_bad_columns, member_columns, reason_columns,
};
use arrow_schema::DataType;

/// Table whose rows are those of a file of a window.
pub(super) struct FileTable {
    /// Name of the table, and of the file without `.parquet`.
    pub(super) name: &'static str,
    /// Columns of the file.
    pub(super) columns: Vec<ColumnSpec>,
    /// Whether the file may have further columns, features of the user's own table, which become the column
    /// [`FEATURES`].
    pub(super) has_features: bool,
    /// Whether the file is only in windows with scores.
    pub(super) needs_scores: bool,
}

/// Column of `entities` with the features of the user's own table of entities: an object of numbers and nulls by the
/// names of the file's columns, null in a run without such a table. Runs with other features share the table.
pub(super) const FEATURES: (&str, &str) = ("features", "jsonb");

/// Prefix of the names of features in a file.
pub(super) const FEATURE_PREFIX: &str = "table_";

/// Column of a table: its name, its type as `format_type` has it, and whether it may be null.
pub(super) type SqlColumn = (String, &'static str, bool);

/// Returns the tables that have the rows of files.
pub(super) fn of_files() -> [FileTable; 5] {
    let of = |name, columns| FileTable { name, columns, has_features: false, needs_scores: false };
    [
        of("clusters", cluster_columns()),
        of("members", member_columns()),
        of("known_bad", known_bad_columns()),
        FileTable { has_features: true, ..of("entities", entity_columns()) },
        FileTable { needs_scores: true, ..of("reasons", reason_columns()) },
    ]
}

impl FileTable {
    /// Returns the columns of the table: the run's id, those of the file, and [`FEATURES`] if it has any; `None` if
    /// one of them has a type that is not written.
    pub(super) fn sql(&self) -> Option<Vec<SqlColumn>> {
        let of = |(name, kind, nullable): &ColumnSpec| {
            Some(((*name).to_owned(), sql_type(&kind.data_type())?, *nullable))
        };
        let run = Some(("run".to_owned(), "text", false));
        let features = Some((FEATURES.0.to_owned(), FEATURES.1, true));
        let features = self.has_features.then_some(features);
        std::iter::once(run).chain(self.columns.iter().map(of)).chain(features).collect()
    }
}

/// Returns the type of a column in the database; `None` for types that no file has.
pub(super) fn sql_type(of: &DataType) -> Option<&'static str> {
    Some(match of {
        DataType::Utf8 => "text",
        // There are no unsigned types.
        DataType::UInt32 | DataType::UInt64 => "bigint",
        DataType::Float64 => "double precision",
        DataType::Float32 => "real",
        DataType::Boolean => "boolean",
        DataType::Timestamp(..) => "timestamp with time zone",
        _ => return None,
    })
}

/// Columns of `runs`.
pub(super) const RUNS: [(&str, &str); 5] = [
    ("run", "text"),
    ("ripplet", "text"),
    ("options", "jsonb"),
    ("state", "text"),
    ("began", "timestamp with time zone"),
];

/// Columns of `windows`.
pub(super) const WINDOWS: [(&str, &str); 13] = [
    ("run", "text"),
    ("window", "bigint"),
    ("from", "timestamp with time zone"),
    ("until", "timestamp with time zone"),
    ("transactions", "bigint"),
    ("entities", "bigint"),
    ("known_bad", "bigint"),
    ("trusted", "bigint"),
    ("clusters", "bigint"),
    ("members", "bigint"),
    ("warm", "boolean"),
    ("cut", "boolean"),
    ("figures", "jsonb"),
];

/// Returns a name in quotes, as SQL has it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_a_file_has_a_type() {
        for table in of_files() {
            let columns = table.sql().unwrap_or_else(|| panic!("{}", table.name));
            let further = 1 + usize::from(table.has_features);
            assert_eq!(columns.len(), table.columns.len() + further, "{}", table.name);
        }
    }

    #[test]
    fn names_end_at_their_quotes() {
        assert_eq!(quoted("a\"; DROP TABLE x; --"), "\"a\"\"; DROP TABLE x; --\"");
    }
}
