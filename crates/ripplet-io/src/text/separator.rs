//! Separators of a table, and the fields of a line.

use super::token;
use std::borrow::Cow;

/// Separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// Any sequence of these bytes; leading and trailing ones do not count.
    Runs(&'static [u8]),
    /// One byte; a field may be in double quotes.
    Each(u8),
    /// Any sequence of blanks and tabs; a field may be in double quotes.
    QuotedBlanks,
}

/// Separators of integers, in any number.
pub(super) const BLANKS: Separator = Separator::Runs(b" \t,;");

/// Bars, each between two fields.
pub(super) const BARS: Separator = Separator::Each(b'|');

/// Blanks and tabs alone, between fields that may contain commas.
pub(super) const PLAIN_BLANKS: Separator = Separator::Runs(b" \t");

/// Whether a line is neither blank nor a comment.
pub(super) fn is_row(line: &[u8]) -> bool {
    let start = line.trim_ascii_start();
    !start.is_empty() && start[0] != b'#' && start[0] != b'%'
}

/// Iterates over the fields of a line, without surrounding blanks and quotes.
pub(super) fn fields(
    line: &[u8],
    separator: Separator,
) -> impl Iterator<Item = Result<Cow<'_, [u8]>, String>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        match separator {
            Separator::Runs(set) => {
                let (field, others) = run_field(line, set)?;
                rest = Some(others);
                Some(Ok(Cow::Borrowed(field)))
            }
            Separator::Each(byte) => {
                let next = quoted_or_plain(line, byte);
                rest = next.as_ref().ok().and_then(|&(_, others)| others);
                Some(next.map(|(field, _)| field))
            }
            Separator::QuotedBlanks => {
                let start = line.iter().position(|byte| !is_blank(*byte))?;
                let next = quoted_or_blanks(&line[start..]);
                rest = next.as_ref().ok().and_then(|&(_, others)| others);
                Some(next.map(|(field, _)| field))
            }
        }
    })
}

/// Returns the first field, and what comes after it; nothing if only separators are left.
fn run_field<'a>(line: &'a [u8], set: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let start = line.iter().position(|byte| !set.contains(byte) && *byte != b' ')?;
    let line = &line[start..];
    let end = line.iter().position(|byte| set.contains(byte)).unwrap_or(line.len());
    Some((line[..end].trim_ascii_end(), &line[end..]))
}

type FieldAndRest<'a> = (Cow<'a, [u8]>, Option<&'a [u8]>);

fn quoted_or_plain(line: &[u8], separator: u8) -> Result<FieldAndRest<'_>, String> {
    let start = line.iter().position(|&byte| byte != b' ' && (byte != b'\t' || separator == b'\t'));
    if let Some(quoted) = start.and_then(|start| line[start..].strip_prefix(b"\"")) {
        return quoted_field(quoted, separator);
    }
    let end = memchr::memchr(separator, line);
    let (field, rest) = end.map_or((line, None), |end| (&line[..end], Some(&line[end + 1..])));
    Ok((Cow::Borrowed(field.trim_ascii()), rest))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns the first field of a line whose fields are separated by blanks, and the rest of the line.
fn quoted_or_blanks(line: &[u8]) -> Result<FieldAndRest<'_>, String> {
    let Some(quoted) = line.strip_prefix(b"\"") else {
        let end = line.iter().position(|byte| is_blank(*byte)).unwrap_or(line.len());
        return Ok((Cow::Borrowed(line[..end].trim_ascii_end()), Some(&line[end..])));
    };
    let (field, rest) = quoted_text(quoted)?;
    match rest.first() {
        Some(byte) if !is_blank(*byte) => {
            Err(format!("expected a blank after the quoted field `{}`", token::show(&field)))
        }
        _ => Ok((field, Some(rest))),
    }
}

/// Returns a field after its opening quote, and what comes after the separator behind it.
fn quoted_field(line: &[u8], separator: u8) -> Result<FieldAndRest<'_>, String> {
    let (field, rest) = quoted_text(line)?;
    let after = rest.iter().position(|&byte| byte != b' ').unwrap_or(rest.len());
    match rest[after..].split_first() {
        None => Ok((field, None)),
        Some((&byte, others)) if byte == separator => Ok((field, Some(others))),
        Some(_) => Err(format!(
            "expected `{}` after the quoted field `{}`",
            token::show(&[separator]),
            token::show(&field)
        )),
    }
}

/// Returns the text up to the closing quote, and what comes after that (RFC 4180, but within one line).
fn quoted_text(line: &[u8]) -> Result<(Cow<'_, [u8]>, &[u8]), String> {
    let mut field = Cow::Borrowed(&line[..0]);
    let mut rest = line;
    loop {
        let Some(quote) = memchr::memchr(b'"', rest) else {
            return Err("a quoted field does not end on its line: expected a closing `\"`".into());
        };
        let part = &rest[..quote];
        rest = &rest[quote + 1..];
        let doubled = rest.first() == Some(&b'"');
        if field.is_empty() && !doubled {
            field = Cow::Borrowed(part);
        } else {
            field.to_mut().extend_from_slice(part);
        }
        if !doubled {
            return Ok((field, rest));
        }
        field.to_mut().push(b'"');
        rest = &rest[1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str, separator: Separator) -> Result<Vec<String>, String> {
        let text = |field: Cow<'_, [u8]>| String::from_utf8(field.into_owned()).unwrap();
        fields(line.as_bytes(), separator).map(|field| field.map(text)).collect()
    }

    #[test]
    fn fields_by_runs() {
        assert_eq!(split(" 1 \t 2, 3;4 ", BLANKS).unwrap(), ["1", "2", "3", "4"]);
        let tabs = Separator::Runs(b"\t");
        assert_eq!(split("New York\t\t Boston \t", tabs).unwrap(), ["New York", "Boston"]);
        assert!(split("  ", BLANKS).unwrap().is_empty());
    }

    #[test]
    fn fields_by_commas_and_quotes() {
        let comma = Separator::Each(b',');
        assert_eq!(split(" a , b,,", comma).unwrap(), ["a", "b", "", ""]);
        assert_eq!(split(r#""a,b" , "say ""hi""",c"#, comma).unwrap(), ["a,b", r#"say "hi""#, "c"]);
        assert_eq!(split("\"\"\"\",\"\"\"a\"\"\"", comma).unwrap(), ["\"", "\"a\""]);
        assert!(split(r#""a,b"#, comma).is_err(), "open");
        assert!(split(r#""a"b,c"#, comma).is_err(), "after the quote");
        assert_eq!(split("\t\"x\t\"\t", Separator::Each(b'\t')).unwrap(), ["", "x\t", ""]);
    }
}
