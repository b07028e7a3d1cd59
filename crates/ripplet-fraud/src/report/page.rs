//! Report page: one file with its style, its script and its data.

use super::document::ReportBuilder;
use ripplet_io::WriteError;
use ripplet_page::Page;
use serde::Serialize;
use std::path::Path;

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

const STYLE: &str = include_str!("page/report.css");
const BODY: &str = include_str!("page/report.html");

/// Files of the script, concatenated; `start.js` runs it.
const SCRIPT: [&str; 9] = [
    include_str!("page/data.js"),
    include_str!("page/words.js"),
    include_str!("page/table.js"),
    include_str!("page/timeline.js"),
    include_str!("page/layout.js"),
    include_str!("page/graph.js"),
    include_str!("page/evidence.js"),
    include_str!("page/ranking.js"),
    include_str!("page/start.js"),
];

/// Writes a report atomically.
///
/// # Errors
/// If the operating system refuses; no partial file remains.
pub fn write_report(path: &Path, run: &Run, windows: &ReportBuilder) -> Result<(), WriteError> {
    let page = Page { title: &run.title, style: STYLE, body: BODY, scripts: &SCRIPT };
    page.write(path, &windows.document(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_and_the_style_end_where_they_should() {
        assert!(SCRIPT.into_iter().chain([STYLE]).all(ripplet_page::ends_no_element));
    }
}
