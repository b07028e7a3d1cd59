//! The draws of an evaluation as a table.

use super::Report;
use crate::output::tables::{Kind, Table, names, numbers, reals};
use ripplet_io::WriteError;
use ripplet_io::write::Target;

/// Writes a table of all draws: a row for each draw and method.
///
/// The target's format is that of its name, or the one given with it: CSV, TSV, JSON lines, Parquet or Arrow. Figures
/// that are not defined are null.
///
/// # Errors
/// If the target has no such format, or the operating system refuses.
pub fn write_draws<'a>(target: impl Into<Target<'a>>, report: &Report) -> Result<(), WriteError> {
    let tops: Vec<String> =
        report.options.tops.iter().map(|top| format!("found_at_{top}")).collect();
    let mut columns = vec![
        ("draw", Kind::Number, false),
        ("method", Kind::Name, false),
        ("held_out", Kind::Number, false),
    ];
    columns.extend(tops.iter().map(|name| (name.as_str(), Kind::Number, false)));
    columns.extend([
        ("average_precision", Kind::Real, true),
        ("detected", Kind::Number, false),
        ("days_to_detection", Kind::Real, true),
        ("days_waited", Kind::Real, true),
    ]);
    let all = || report.rows.iter();
    let defined = |value: f64| Some(value).filter(|value| !value.is_nan());
    let mut arrays = vec![
        numbers(all().map(|row| row.draw)),
        names(all().map(|row| row.method.name())),
        numbers(all().map(|row| row.held_out)),
    ];
    arrays.extend((0..tops.len()).map(|top| numbers(all().map(|row| row.found[top]))));
    arrays.extend([
        reals(all().map(|row| defined(row.average_precision))),
        numbers(all().map(|row| row.detected)),
        reals(all().map(|row| defined(row.days))),
        reals(all().map(|row| defined(row.waited))),
    ]);
    let mut table = Table::create(target, &columns)?;
    table.append(arrays)?;
    table.finish()
}
