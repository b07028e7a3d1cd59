//! Formats names and numbers of a file for messages.

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
