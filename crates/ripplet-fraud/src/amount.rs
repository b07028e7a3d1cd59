//! Exact sums of money: integers in a decimal unit.

use std::fmt;

/// An exact amount: `units` of 10 to the minus `decimals`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of smallest units.
    pub units: u64,
    /// Number of decimals.
    pub decimals: u32,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Amount { units, decimals } = *self;
        match 10u64.checked_pow(decimals) {
            Some(1) | None => write!(f, "{units}"),
            Some(one) => {
                let width = decimals as usize;
                write!(f, "{}.{:0width$}", units / one, units % one)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_digit_by_digit() {
        let text = |units, decimals| Amount { units, decimals }.to_string();
        assert_eq!(text(14_780, 2), "147.80");
        assert_eq!(text(5, 2), "0.05");
        assert_eq!(text(5, 0), "5");
        assert_eq!(text(u64::MAX, 9), "18446744073.709551615");
    }
}
