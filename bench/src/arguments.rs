//! What a benchmark is called with: words in their places, `--name value` and `--name`.

use crate::Result;
use std::fmt::Display;
use std::str::FromStr;

/// The arguments of a call.
pub struct Arguments(Vec<String>);

impl Arguments {
    /// Those of this process.
    pub fn of_process() -> Arguments {
        Arguments(std::env::args().skip(1).collect())
    }

    /// All of them, as they were written.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// The values behind a name, each time that it is there.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let pairs = self.0.windows(2).filter(move |pair| pair[0] == name);
        pairs.map(|pair| &*pair[1])
    }

    /// The value behind a name: the last, as a call that adds one to another's means it.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// The value behind a name, or nothing where the name is not there.
    ///
    /// # Errors
    /// Where it is no such value.
    pub fn asked<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>> {
        let value = self
            .option(name)
            .map(|text| text.parse().map_err(|error| format!("{name} {text}: {error}")));
        Ok(value.transpose()?)
    }

    /// The value behind a name, or `otherwise`.
    ///
    /// # Errors
    /// Where it is no such value.
    pub fn or<T: FromStr<Err: Display>>(&self, name: &str, otherwise: T) -> Result<T> {
        Ok(self.asked(name)?.unwrap_or(otherwise))
    }

    /// Whether a name is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|argument| argument == name)
    }
}
