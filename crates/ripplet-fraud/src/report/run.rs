//! Description of a run in a report.

use serde::Serialize;

/// Description of a run in a report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    /// Title of the page.
    pub title: String,
    /// Names and values: versions, options, timings.
    pub facts: Vec<(String, String)>,
    /// Inputs with their rows, bytes and hashes.
    pub inputs: Vec<(String, String)>,
    /// Notes for the reader: skipped rows, warm starts.
    pub notes: Vec<String>,
    /// Run folder, quoted for a shell.
    pub folder: String,
}

impl Run {
    /// Returns the command that finds an entity that the page lacks.
    pub(super) fn find_command(&self) -> String {
        let folder = if self.folder.is_empty() { "RUN" } else { &self.folder };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        match folder.chars().all(is_plain) {
            true => format!("“ripplet fraud find ID {folder}”"),
            false => format!("“ripplet fraud find ID '{}'”", folder.replace('\'', r"'\''")),
        }
    }
}
