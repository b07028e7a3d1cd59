//! Command-line arguments of a benchmark: positional words, `--name value` and `--name`.

use crate::Result;
use std::fmt::Display;
use std::str::FromStr;

/// The arguments of a call.
pub struct Arguments(Vec<String>);

impl Arguments {
    /// Returns the arguments of this process.
    pub fn of_process() -> Arguments {
        Arguments(std::env::args().skip(1).collect())
    }

    /// Returns all arguments, as they were written.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// Returns the values of a repeatable option, in order.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let pairs = self.0.windows(2).filter(move |pair| pair[0] == name);
        pairs.map(|pair| &*pair[1])
    }

    /// Returns the value of an option. The last one counts, so that a script can append its own.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Returns the parsed value of an option, or `None` if the option is absent.
    ///
    /// # Errors
    /// If the value does not parse.
    pub fn asked<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>> {
        let value = self
            .option(name)
            .map(|text| text.parse().map_err(|error| format!("{name} {text}: {error}")));
        Ok(value.transpose()?)
    }

    /// Returns the parsed value of an option, or `otherwise` if the option is absent.
    ///
    /// # Errors
    /// If the value does not parse.
    pub fn or<T: FromStr<Err: Display>>(&self, name: &str, otherwise: T) -> Result<T> {
        Ok(self.asked(name)?.unwrap_or(otherwise))
    }

    /// Returns whether a flag is present.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|argument| argument == name)
    }
}
