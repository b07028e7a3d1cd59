//! Parses numbers from bytes.

use crate::intern::{Sign, signed};
use ripplet_graph::weight_flaw;

/// Reason that a token is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotAnId {
    /// A minus sign and digits.
    Negative,
    /// Digits, but too many.
    TooLarge,
    /// A number with a point or an exponent.
    Fraction,
    /// An integer that is not in canonical form: with leading zeros, or a minus zero.
    Padded,
    /// A minus zero, if numbers are requested.
    MinusZero,
    /// Anything else.
    NoNumber,
}

/// Parses an id in canonical form, in the form of [`crate::intern::Ends`].
pub(super) fn exact_id(token: &[u8], sign: Sign) -> Result<u64, NotAnId> {
    let value = id(token, sign)?;
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let is_padded = digits[0] == b'0' && token.len() > 1;
    if is_padded { Err(NotAnId::Padded) } else { Ok(value) }
}

/// Parses an id as a number: leading zeros are ignored, but `-0` is an error, as it would silently equal `0`.
pub(super) fn number_id(token: &[u8], sign: Sign) -> Result<u64, NotAnId> {
    let value = id(token, sign)?;
    let is_minus_zero = token.first() == Some(&b'-') && value == signed(0);
    if is_minus_zero { Err(NotAnId::MinusZero) } else { Ok(value) }
}

/// Parses an id in the form of [`crate::intern::Ends`].
pub(super) fn id(token: &[u8], sign: Sign) -> Result<u64, NotAnId> {
    let (negative, digits) = match token.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, token),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(if is_number(token) { NotAnId::Fraction } else { NotAnId::NoNumber });
    }
    let value = digits
        .iter()
        .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    match (sign, negative) {
        (Sign::Unsigned, true) => Err(NotAnId::Negative),
        (Sign::Unsigned, false) => value.ok_or(NotAnId::TooLarge),
        (Sign::Signed, false) => {
            let value = value.and_then(|value| i64::try_from(value).ok());
            value.map(signed).ok_or(NotAnId::TooLarge)
        }
        (Sign::Signed, true) => {
            let value = value.and_then(|value| 0i64.checked_sub_unsigned(value));
            value.map(signed).ok_or(NotAnId::TooLarge)
        }
    }
}

/// Whether a token is written as a number, with digits: `nan` and `inf` may be names.
pub(super) fn is_number(token: &[u8]) -> bool {
    token.iter().any(u8::is_ascii_digit) && parse::<f64>(token).is_some()
}

/// Parses a value of `T`.
pub(crate) fn parse<T: std::str::FromStr>(token: &[u8]) -> Option<T> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// Parses a weight: finite, 0 or above.
pub(crate) fn weight(token: &[u8]) -> Result<f64, String> {
    let Some(weight) = parse::<f64>(token) else {
        if token.is_empty() {
            return Err("the weight is empty: expected a number".into());
        }
        let has_point = |part: &[u8]| parse::<f64>(part).is_some() && !part.contains(&b'.');
        let expected = match token.iter().position(|&byte| byte == b',') {
            Some(at) if has_point(&[&token[..at], &token[at + 1..]].concat()) => {
                "a number with a decimal point and without separators"
            }
            _ => "a number",
        };
        return Err(format!("`{}` is not a weight: expected {expected}", show(token)));
    };
    if let Some(expected) = weight_flaw(weight) {
        return Err(format!("`{}` is not a weight: expected {expected}", show(token)));
    }
    // No negative zero: sums and output do not need two zeros.
    Ok(weight + 0.0)
}

/// Parses a weight with a decimal comma.
pub(super) fn weight_with_comma(token: &[u8]) -> Result<f64, String> {
    let mut with_point = token.to_vec();
    match token.iter().position(|&byte| byte == b',') {
        Some(comma) if !token.contains(&b'.') => with_point[comma] = b'.',
        Some(_) => {}
        None if token.contains(&b'.') => {
            return Err(format!(
                "`{}` is not a weight: expected a comma before decimals, as other rows have it, not a point",
                show(token)
            ));
        }
        None => {}
    }
    weight(&with_point).map_err(|_| {
        format!(
            "`{}` is not a weight: expected a number, 0 or above, with a comma before its decimals and no other sign",
            show(token)
        )
    })
}

/// Parses the digits at `at` as [`digits`] does, if they are in canonical form: without leading zeros.
#[inline(always)]
pub(super) fn exact_digits(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let (value, end) = digits(bytes, at)?;
    (bytes[at] != b'0' || end == at + 1).then_some((value, end))
}

/// Returns the digits at `at`: their value and where they end. `None` if there are none, or more than
/// 19 (a value that may not fit), or fewer than 8 bytes left: the slow path handles these.
///
/// Eight bytes at a time: a byte is a digit where adding 0x76 to it, less `'0'`, leaves bit 7 clear;
/// the digits are then moved to the high end and added up in a tree of pairs.
#[inline(always)]
pub(super) fn digits(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?) ^ ZEROS;
    let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
    if others == 0 {
        return more_digits(bytes, at, sum_of_eight(word));
    }
    let bits = others.trailing_zeros() & !7;
    if bits == 0 {
        return None;
    }
    Some((sum_of_eight(word << (64 - bits)), at + bits as usize / 8))
}

const ZEROS: u64 = u64::from_le_bytes(*b"00000000");

/// Returns the value of eight digits, the first in the lowest byte.
#[inline]
fn sum_of_eight(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    low.wrapping_add(high) >> 32
}

/// Returns the rest of a number whose first eight digits are `first`.
fn more_digits(bytes: &[u8], at: usize, first: u64) -> Option<(u64, usize)> {
    let rest = &bytes[at + 8..];
    let more = rest.iter().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    if more > 11 {
        return None;
    }
    let value =
        rest[..more].iter().fold(first, |value, digit| value * 10 + u64::from(digit - b'0'));
    Some((value, at + 8 + more))
}

/// Powers of ten that are exact in a double, as far as needed.
const TENS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Returns a plain decimal at `at`, such as `12` or `0.25`, and where it ends; `None` leaves it to the slow path.
///
/// A quotient of two integers that a double holds exactly is rounded as the decimal is, so this
/// gives the same bits as the slow path (Clinger, PLDI 1990).
#[inline]
pub(super) fn decimal(bytes: &[u8], at: usize) -> Option<(f64, usize)> {
    let (whole, end) = digits(bytes, at)?;
    if bytes.get(end) != Some(&b'.') {
        return (whole < 1 << 53).then_some((whole as f64, end));
    }
    let (fraction, fraction_end) = digits(bytes, end + 1)?;
    let places = fraction_end - end - 1;
    if end - at + places > 15 {
        return None;
    }
    let tens = TENS[places];
    // Both are below 10¹⁵, so the sum is exact too.
    Some(((whole as f64 * tens + fraction as f64) / tens, fraction_end))
}

/// Returns a token for a message: printable, and not too long.
pub(crate) fn show(token: &[u8]) -> String {
    shortened(token, 40)
}

/// Returns a row for a message: printable, and not too long.
pub(super) fn show_row(row: &[u8]) -> String {
    shortened(row, 120)
}

fn shortened(token: &[u8], longest: usize) -> String {
    let text = String::from_utf8_lossy(&token[..token.len().min(4 * longest)]);
    let mut shown: String = text.chars().take(longest).flat_map(printable).collect();
    if token.len() > 4 * longest || text.chars().count() > longest {
        shown.push('…');
    }
    shown
}

fn printable(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = escaped.is_none().then_some(c);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_and_what_is_none() {
        let unsigned = |token: &str| id(token.as_bytes(), Sign::Unsigned);
        assert_eq!(unsigned("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(unsigned("0000000000000000000000012"), Ok(12));
        assert_eq!(unsigned("18446744073709551616"), Err(NotAnId::TooLarge));
        assert_eq!(unsigned("-3"), Err(NotAnId::Negative));
        assert_eq!(unsigned("1.5"), Err(NotAnId::Fraction));
        for none in ["", "-", "x", "1x", "+", "nan", "é"] {
            assert_eq!(unsigned(none), Err(NotAnId::NoNumber), "{none}");
        }
        let number = |token: &str| number_id(token.as_bytes(), Sign::Signed);
        assert_eq!(number("-07"), Ok(signed(-7)));
        assert_eq!(number("00"), Ok(signed(0)));
        assert_eq!([number("-0"), number("-00")], [Err(NotAnId::MinusZero); 2]);
        let by_sign = |token: &str| id(token.as_bytes(), Sign::Signed);
        assert_eq!(by_sign("-9223372036854775808"), Ok(signed(i64::MIN)));
        assert_eq!(by_sign("9223372036854775807"), Ok(signed(i64::MAX)));
        assert_eq!(by_sign("-9223372036854775809"), Err(NotAnId::TooLarge));
        assert_eq!(by_sign("9223372036854775808"), Err(NotAnId::TooLarge));
    }

    #[test]
    fn exact_ids_print_as_they_are() {
        let exact = |token: &str| exact_id(token.as_bytes(), Sign::Signed);
        for printed in ["0", "7", "-7", "100", "9223372036854775807"] {
            assert_eq!(exact(printed), Ok(signed(printed.parse().unwrap())), "{printed}");
        }
        for padded in ["00", "007", "-0", "-07", "0000000000000000000000012"] {
            assert_eq!(exact(padded), Err(NotAnId::Padded), "{padded}");
        }
        assert_eq!(exact("+5"), Err(NotAnId::Fraction));
        assert_eq!(exact("1e3"), Err(NotAnId::Fraction));
    }

    #[test]
    fn weights_are_finite_and_not_negative() {
        assert_eq!(weight(b"2.5e-3"), Ok(0.0025));
        assert_eq!(weight(b"-0").map(f64::to_bits), Ok(0));
        for bad in ["nan", "inf", "-1", "1e999", "abc", "", "\u{7}"] {
            assert!(weight(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_shown_token_is_short_and_printable() {
        assert_eq!(show(b"a\x07b"), "a\\u{7}b");
        assert_eq!(show(&[b'x'; 500]).chars().count(), 41);
        assert_eq!(show(b"\xffZo\xc3\xab"), "\u{fffd}Zoë");
    }

    proptest! {
        #[test]
        fn digits_agree_with_the_standard_library(value: u64, width in 0usize..25, tail in "[^0-9][ -~]{8}") {
            let text = format!("{value:0width$}");
            let line = format!("{text}{tail}");
            let expected = (text.len() <= 19).then_some((value, text.len()));
            prop_assert_eq!(digits(line.as_bytes(), 0), expected);
            let exact = expected.filter(|_| text == value.to_string());
            prop_assert_eq!(exact_digits(line.as_bytes(), 0), exact);
        }

        #[test]
        fn digits_stop_at_any_other_byte(bytes in prop::collection::vec(any::<u8>(), 8..40)) {
            let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let found = digits(&bytes, 0).map(|(_, end)| end);
            prop_assert_eq!(found, (1..=19).contains(&length).then_some(length));
        }

        #[test]
        fn decimals_agree_with_the_standard_library(whole in 0u64..1 << 54, places in 0usize..12, fraction: u32) {
            let text = format!("{whole}.{:0places$}", fraction);
            let line = format!("{text}\t12345678");
            if let Some((value, end)) = decimal(line.as_bytes(), 0) {
                prop_assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits());
                prop_assert_eq!(end, text.len());
            }
        }
    }
}
