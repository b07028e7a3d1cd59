//! The value of `--seed`.

/// Parses a seed. `-1` is an error here; clap would report an unknown option.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}
