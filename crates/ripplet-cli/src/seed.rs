//! The value of `--seed`.

/// The parser of a seed: without it, `-1` would be taken for an option that does not exist.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}
