//! Errors in a weight expression, each shown below its line.

use ripplet_hooks::{ProgramError, ProgramErrors};
use std::fmt;
use thiserror::Error;

/// Largest number of characters of a line that are shown.
const SHOWN: usize = 100;

/// Errors in an expression; never empty.
///
/// Each error has its line and column in the expression, both from 1, and a caret below its place:
///
/// ```text
/// weight.of:1:9: there is no `price` here
///   count * price
///           ^^^^^
/// ```
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct ExpressionErrors {
    name: String,
    text: String,
    errors: Vec<ProgramError>,
}

impl ExpressionErrors {
    /// Converts the errors of a program to places in the expression that starts at its line `first`.
    ///
    /// Errors before the expression are placed at its start, errors after it at its end.
    pub(crate) fn new(found: ProgramErrors, text: &str, first: usize) -> ExpressionErrors {
        let place = |mut error: ProgramError| {
            let lines = text.lines().count().max(1);
            if error.line < first {
                (error.line, error.column, error.width) = (1, 1, 1);
            } else if error.line - first >= lines {
                let last = text.lines().last().unwrap_or_default();
                (error.line, error.column, error.width) = (lines, last.chars().count() + 1, 1);
            } else {
                error.line -= first - 1;
            }
            error.help = help_of(&error.message).map(str::to_owned).or(error.help);
            error
        };
        let errors = found.errors.into_iter().map(place).collect();
        ExpressionErrors { name: found.path, text: text.into(), errors }
    }

    /// Returns the line of an error, and carets below its place.
    fn excerpt(&self, error: &ProgramError) -> String {
        let line = self.text.lines().nth(error.line - 1).unwrap_or_default();
        let before = error.column - 1;
        let skipped = if before < SHOWN { 0 } else { before - SHOWN / 2 };
        // One column a character: a control character is shown as a blank.
        let printed = |c: char| if c.is_control() { ' ' } else { c };
        let shown: String = line.chars().skip(skipped).take(SHOWN).map(printed).collect();
        let width = error.width.min((skipped + SHOWN).saturating_sub(before)).max(1);
        format!("  {shown}\n  {}{}", " ".repeat(before - skipped), "^".repeat(width))
    }
}

/// Replaces the help of an error that refers to functions and constants, which only programs have.
fn help_of(message: &str) -> Option<&'static str> {
    if message.starts_with("there is no function") || message.ends_with("is not known here") {
        return Some(
            "a weight has the names `count`, `amount` and `age`, and the functions `exp`, `exp2`, `ln`, `log2` and `powf`, \
             as in `ln(1.0 + amount)`",
        );
    }
    let is_of_types = message.contains("f32") && message.contains("integer");
    is_of_types.then_some("numbers of a weight have a point, as in `90.0`")
}

impl fmt::Display for ExpressionErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.errors.iter().enumerate() {
            let separator = if number == 0 { "" } else { "\n" };
            let ProgramError { line, column, message, help, .. } = error;
            write!(
                f,
                "{separator}{}:{line}:{column}: {message}\n{}",
                self.name,
                self.excerpt(error)
            )?;
            if let Some(help) = help {
                write!(f, "\n  help: {help}")?;
            }
        }
        Ok(())
    }
}
