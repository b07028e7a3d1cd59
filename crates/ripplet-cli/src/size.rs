//! Sizes of memory: `8GiB` in, `7.5 GiB` out.

use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

const BINARY: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
const DECIMAL: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
const LETTERS: [&str; 5] = ["", "K", "M", "G", "T"];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let expected = || format!("expected a size such as 8GiB, 500MB or 1.5G, not `{text}`");
        let text = text.trim();
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (number, unit) = (&text[..end], text[end..].trim_start());
        let number: f64 = number.parse().map_err(|_| expected())?;
        let power_of = |base: f64, units: &[&str; 5]| {
            let at = units.iter().position(|known| known.eq_ignore_ascii_case(unit))?;
            Some(base.powi(at as i32))
        };
        let factor = power_of(1024.0, &BINARY)
            .or_else(|| power_of(1000.0, &DECIMAL))
            .or_else(|| power_of(1024.0, &LETTERS))
            .ok_or_else(expected)?;
        Ok(Size((number * factor) as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = (self.0.max(1).ilog2() / 10).min(4) as usize;
        match power {
            0 => write!(f, "{} B", self.0),
            _ => write!(f, "{:.1} {}", self.0 as f64 / 1024f64.powi(power as i32), BINARY[power]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let read = |text: &str| text.parse::<Size>().map(|size| size.0);
        assert_eq!(read("8GiB"), Ok(8 << 30));
        assert_eq!(read("1.5G"), Ok(3 << 29));
        assert_eq!(read("500 MB"), Ok(500_000_000));
        assert_eq!(read("12"), Ok(12));
        assert_eq!(read("7b"), Ok(7));
        for bad in ["", "GiB", "-1", "1.2.3", "8 gigs", "NaN", "é"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_shown() {
        let shown = [0, 1023, 1024, 3 << 29, u64::MAX].map(|bytes| Size(bytes).to_string());
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.5 GiB", "16777216.0 TiB"]);
    }
}
