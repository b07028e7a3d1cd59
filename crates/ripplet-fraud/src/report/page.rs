//! Report page: one file with its style, its script and its data.

use super::document::ReportBuilder;
use super::run::Run;
use ripplet_io::WriteError;
use ripplet_page::Page;
use std::path::Path;

const STYLE: &str = include_str!("page/report.css");
const BODY: &str = include_str!("page/report.html");

/// Files of the script, concatenated; `start.js` runs it.
const SCRIPT: [&str; 11] = [
    ripplet_page::UNPACK,
    include_str!("page/data.js"),
    include_str!("page/words.js"),
    include_str!("page/table.js"),
    include_str!("page/timeline.js"),
    include_str!("page/layout.js"),
    include_str!("page/graph.js"),
    include_str!("page/evidence.js"),
    include_str!("page/entities.js"),
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
