//! Limits on a program's text, checked before it is parsed.
//!
//! The parser and every walk over its tree recurse: once for each bracket, but also once for each
//! `-`, `!`, `else if` or `+` in a row. Every step consumes a token. Counting tokens along the way
//! down therefore bounds the nesting inside one statement.

use crate::error::Diagnostic;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::iter::Peekable;

/// The largest size of a program file, in bytes.
pub const LARGEST_FILE: usize = 1 << 20;

/// The largest depth of a token; see [`check_tokens`].
const DEEPEST: usize = 1000;

/// The largest number of nested brackets. Each costs the parser about a dozen stack frames.
const MOST_BRACKETS: usize = 100;

/// The most characters of a number. Even with underscores, numbers of the subset are shorter.
const LONGEST_NUMBER: usize = 200;

/// Rejects a text that would take unbounded stack or time to parse.
///
/// The depth of a token is its index in its statement plus the depth of the bracket around it.
pub(crate) fn check_tokens(tokens: TokenStream) -> Result<(), Diagnostic> {
    let mut open = vec![Level::of(tokens, 0)];
    while let Some(level) = open.last_mut() {
        let Some(token) = level.rest.next() else {
            open.pop();
            continue;
        };
        level.depth += 1;
        let depth = level.depth;
        if ends_statement(&token, level.rest.peek()) {
            level.depth = level.outer;
        }
        check_token(&token, depth, open.len())?;
        if let TokenTree::Group(group) = token {
            open.push(Level::of(group.stream(), depth));
        }
    }
    Ok(())
}

/// An open bracket and its remaining tokens.
struct Level {
    rest: Peekable<proc_macro2::token_stream::IntoIter>,
    /// The depth of the bracket.
    outer: usize,
    /// The depth of the last token taken from `rest`.
    depth: usize,
}

impl Level {
    fn of(tokens: TokenStream, outer: usize) -> Level {
        Level { rest: tokens.into_iter().peekable(), outer, depth: outer }
    }
}

fn check_token(token: &TokenTree, depth: usize, brackets: usize) -> Result<(), Diagnostic> {
    if depth > DEEPEST || brackets > MOST_BRACKETS {
        return Err(too_deep(token.span()));
    }
    if let TokenTree::Literal(literal) = token {
        let text = literal.to_string();
        if text.starts_with(|c: char| c.is_ascii_digit()) && text.len() > LONGEST_NUMBER {
            let message = format!("a number of {} characters", text.len());
            let help = format!("a number has at most {LONGEST_NUMBER} characters");
            return Err(Diagnostic::new(literal.span(), message, help));
        }
    }
    Ok(())
}

fn too_deep(span: Span) -> Diagnostic {
    let message = "this is too long or too deeply nested to be read as one statement";
    let help = format!(
        "at most {MOST_BRACKETS} brackets and {DEEPEST} tokens deep: give parts a name with `let`"
    );
    Diagnostic::new(span, message, help)
}

/// Returns whether the next token begins a new statement or item.
fn ends_statement(token: &TokenTree, next: Option<&TokenTree>) -> bool {
    match token {
        TokenTree::Punct(punct) => matches!(punct.as_char(), ';' | ','),
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => match next {
            Some(TokenTree::Ident(word)) => !["else", "as", "in"].iter().any(|w| word == w),
            Some(TokenTree::Punct(punct)) => punct.as_char() == '#',
            _ => false,
        },
        _ => false,
    }
}
