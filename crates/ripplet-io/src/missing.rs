//! Words that other programs write for a missing value.

/// Words for a missing value, as R, pandas, Excel and databases write them. They may also be names: `NA` is the code of
/// Namibia.
pub(crate) const MISSING_NAMES: [&str; 10] =
    ["NA", "<NA>", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "NaT"];

/// Whether a text is a word for a missing value.
pub(crate) fn is_missing_name(text: &str) -> bool {
    MISSING_NAMES.contains(&text)
}
