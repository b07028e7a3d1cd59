//! Formats names and numbers of a file for messages.

use ripplet_graph::ExternalId;

/// Formats a number for a message: with an exponent if it would have many digits.
pub(crate) fn shown_number(number: f64) -> String {
    let magnitude = number.abs();
    let is_short = magnitude == 0.0 || (1e-5..1e17).contains(&magnitude) || !magnitude.is_finite();
    if is_short { number.to_string() } else { format!("{number:e}") }
}

/// Formats a name or type for a message: on one line, shortened.
pub(crate) fn shown(text: impl std::fmt::Display) -> String {
    const LONGEST: usize = 60;
    let text = text.to_string();
    let cut = text.chars().count() > LONGEST;
    let start: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if cut { start + "…" } else { start }
}

/// Formats an id or another field for a message, shortened.
pub(crate) fn shown_id(id: ExternalId<'_>) -> String {
    let text = id.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}

/// Returns the option that reads the columns of these names or numbers, quoted for a shell; names have no single
/// quote.
pub(crate) fn columns_option(columns: &[String]) -> String {
    let columns = columns.join(",");
    let is_plain = |c: char| c.is_alphanumeric() || "_-.,:/@%+=".contains(c);
    match columns.chars().all(is_plain) {
        true => format!("--columns {columns}"),
        false => format!("--columns '{columns}'"),
    }
}
