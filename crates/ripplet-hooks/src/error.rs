//! What is wrong with a program, where, and what to write instead.

use proc_macro2::Span;
use std::fmt;
use thiserror::Error;

/// So many errors are told at once; the rest would hardly be read.
const MOST_ERRORS: usize = 20;

/// Something wrong with a program, at a place in the compiler's own terms.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The token or expression.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What is allowed, or what to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Something wrong, and what to do.
    pub(crate) fn new(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Diagnostic { span, message: message.into(), help: Some(help.into()) }
    }

    /// Something wrong that needs no advice.
    pub(crate) fn plain(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { span, message: message.into(), help: None }
    }
}

impl From<syn::Error> for Diagnostic {
    fn from(error: syn::Error) -> Self {
        Diagnostic::plain(error.span(), error.to_string())
    }
}

/// Collects what is wrong, so that several errors are told at once.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let place = format!("{:?}", diagnostic.span);
        let known = (self.0.iter())
            .any(|k| k.message == diagnostic.message && format!("{:?}", k.span) == place);
        if !known && self.0.len() < MOST_ERRORS {
            self.0.push(diagnostic);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}

/// Something wrong with a program file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct ProgramError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Characters of that line which it is about, at least 1.
    pub width: usize,
    /// What is wrong.
    pub message: String,
    /// What is allowed, or what to write instead.
    pub help: Option<String>,
}

impl From<Diagnostic> for ProgramError {
    fn from(diagnostic: Diagnostic) -> Self {
        let (start, end) = (diagnostic.span.start(), diagnostic.span.end());
        let (message, help) = (diagnostic.message, diagnostic.help);
        let of_line =
            if start.line == end.line { end.column.saturating_sub(start.column) } else { 1 };
        let (line, column, width) = (start.line.max(1), start.column + 1, of_line.max(1));
        ProgramError { line, column, width, message, help }
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

/// Everything found wrong with a program file, in the order of the text; never empty.
///
/// Shown as `path:line:column: message`, one below the other.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct ProgramErrors {
    /// The file's name, as the reader was given it.
    pub path: String,
    /// At most 20.
    pub errors: Vec<ProgramError>,
}

impl ProgramErrors {
    pub(crate) fn new(path: &str, diagnostics: Vec<Diagnostic>) -> Self {
        let mut errors: Vec<_> = diagnostics.into_iter().map(ProgramError::from).collect();
        errors.sort_by_key(|error| (error.line, error.column));
        ProgramErrors { path: path.to_owned(), errors }
    }
}

impl fmt::Display for ProgramErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.errors.iter().enumerate() {
            let separator = if number == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{error}", self.path)?;
        }
        Ok(())
    }
}
