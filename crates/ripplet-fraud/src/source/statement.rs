//! A query's text without what ends it: blanks, semicolons and comments behind its last word.

/// Returns a query without the semicolons, comments and blanks at its end, so that it can be put between
/// brackets.
///
/// A comment that ends the query would comment the bracket out; a semicolon would end it early. Those
/// within texts, names and dollar quotes stay.
pub(super) fn statement(query: &str) -> &str {
    let bytes = query.as_bytes();
    let (mut at, mut end) = (0, 0);
    while at < bytes.len() {
        let next = token_end(query, at);
        let is_comment = bytes[at..].starts_with(b"--") || bytes[at..].starts_with(b"/*");
        if !is_comment && bytes[at] != b';' && !bytes[at].is_ascii_whitespace() {
            end = next;
        }
        at = next;
    }
    query[..end].trim_start()
}

/// Returns the end of the token that begins at `at`; an unclosed token ends with the text.
fn token_end(query: &str, at: usize) -> usize {
    let rest = &query[at..];
    let bytes = rest.as_bytes();
    let length = match bytes[0] {
        b'-' if bytes.starts_with(b"--") => rest.find('\n').unwrap_or(rest.len()),
        b'/' if bytes.starts_with(b"/*") => comment(bytes),
        b'\'' => {
            // `E'…'` has escapes by backslashes.
            let before = query[..at].trim_end_matches(['e', 'E']);
            let escapes = at - before.len() == 1
                && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            quoted(bytes, b'\'', escapes)
        }
        b'"' => quoted(bytes, b'"', false),
        b'$' if !query[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
            dollar_quoted(rest).unwrap_or(1)
        }
        _ => rest.chars().next().map_or(1, char::len_utf8),
    };
    at + length
}

/// The length of a comment, in which others may nest.
fn comment(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of what is between two quotes; a doubled quote closes one and opens the next.
fn quoted(bytes: &[u8], quote: u8, escapes: bool) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The length of `$tag$…$tag$`, if it is that.
fn dollar_quoted(text: &str) -> Option<usize> {
    let close = 1 + text[1..].find('$')?;
    let tag = &text[..=close];
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if !tag[1..close].chars().all(is_name) || tag[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let body = &text[tag.len()..];
    Some(body.find(tag).map_or(text.len(), |end| tag.len() + end + tag.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_ends_a_query_is_left_out_and_nothing_else() {
        for (query, expected) in [
            ("  SELECT 1 ; -- all of them", "SELECT 1"),
            ("SELECT 1 -- all;\n/* of /* them */ ; */ ;\n;", "SELECT 1"),
            ("SELECT '--' ; ", "SELECT '--'"),
            ("SELECT 'it''s; --' -- x", "SELECT 'it''s; --'"),
            (r"SELECT E'it\'s; --' -- x", r"SELECT E'it\'s; --'"),
            (r"SELECT 'a\' -- x", r"SELECT 'a\'"),
            (r#"SELECT "a;--" -- x"#, r#"SELECT "a;--""#),
            ("SELECT $x$ ; -- $$ $x$;", "SELECT $x$ ; -- $$ $x$"),
            ("SELECT $1 -- $1", "SELECT $1"),
            ("SELECT a/*x*/,b", "SELECT a/*x*/,b"),
            ("SELECT 1; SELECT 2;", "SELECT 1; SELECT 2"),
            ("SELECT 'é' -- é", "SELECT 'é'"),
            ("-- nothing", ""),
            ("", ""),
            ("SELECT 'open -- ;", "SELECT 'open -- ;"),
        ] {
            assert_eq!(statement(query), expected, "{query}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_an_end(text in r#"[-/*'"$;a \\\né]{0,40}"#) {
            let found = statement(&text);
            prop_assert!(text.contains(found));
            prop_assert_eq!(statement(found), found);
        }
    }
}
