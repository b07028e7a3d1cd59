//! Diagnostics: what is wrong with a program, where, and what to write instead.

use proc_macro2::Span;
use std::fmt;
use thiserror::Error;

/// The most errors reported at once; further ones would hardly be read.
const MOST_ERRORS: usize = 20;

/// An error in a program, at a position that the compiler understands.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The token or expression that the error is about.
    pub span: Span,
    /// The error.
    pub message: String,
    /// Help text: what is allowed, or what to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns an error with help text.
    pub(crate) fn new(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Diagnostic { span, message: message.into(), help: Some(help.into()) }
    }

    /// Returns an error without help text.
    pub(crate) fn plain(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { span, message: message.into(), help: None }
    }
}

impl From<syn::Error> for Diagnostic {
    fn from(error: syn::Error) -> Self {
        Diagnostic::plain(error.span(), error.to_string())
    }
}

/// A list of errors without duplicates, so that several are reported at once.
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

/// An error in a program file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct ProgramError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The number of characters of that line that the error is about; at least 1.
    pub width: usize,
    /// The error.
    pub message: String,
    /// Help text: what is allowed, or what to write instead.
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

/// The errors of a program file, in the order of the text; never empty.
///
/// Displayed as `path:line:column: message`, one error below the other.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct ProgramErrors {
    /// The file's name as it was passed to [`read_program`](crate::read_program).
    pub path: String,
    /// The errors; at most 20.
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
