//! The page: one file with its style, its script and its data.

use super::document::ReportBuilder;
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ripplet_io::WriteError;
use ripplet_io::write::whole_file;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::Path;

/// What a report says about its run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    /// The page's title.
    pub title: String,
    /// Names and values: versions, options, timings.
    pub facts: Vec<(String, String)>,
    /// Inputs, and what is to be said of them: rows, bytes, hashes.
    pub inputs: Vec<(String, String)>,
    /// Sentences that a reader should know: what was skipped, what was warm-started.
    pub notes: Vec<String>,
}

const STYLE: &str = include_str!("page/report.css");

/// One script of several files: functions and classes know one another, `start.js` begins.
const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("page/data.js"),
    include_str!("page/words.js"),
    include_str!("page/table.js"),
    include_str!("page/timeline.js"),
    include_str!("page/layout.js"),
    include_str!("page/graph.js"),
    include_str!("page/evidence.js"),
    include_str!("page/ranking.js"),
    include_str!("page/start.js"),
    "})();\n",
);

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    style: &'static str,
    style_hash: String,
    script: &'static str,
    script_hash: String,
    data: &'a str,
}

/// Writes a report, whole or not at all.
///
/// # Errors
/// Where the operating system refuses; nothing is left behind.
pub fn write_report(path: &Path, run: &Run, windows: &ReportBuilder) -> Result<(), WriteError> {
    let refused = |source| WriteError { path: path.into(), source };
    let mut data = Escaped(Vec::new());
    let document = windows.document(run);
    serde_json::to_writer(&mut data, &document).map_err(|error| refused(error.into()))?;
    let data = String::from_utf8(data.0).map_err(|error| refused(io::Error::other(error)))?;
    let page = Page {
        title: &run.title,
        style: STYLE,
        style_hash: hash(STYLE),
        script: SCRIPT,
        script_hash: hash(SCRIPT),
        data: &data,
    };
    whole_file(path, |out| page.write_into(out).map_err(io::Error::other))
}

/// What a Content-Security-Policy knows a script or a style by.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Writes JSON so that it can stand in HTML: nothing in it opens or ends an element, or is a reference.
///
/// Outside of texts JSON has none of these bytes, and in a text `\u003c` is the same as `<`.
pub(super) struct Escaped<W>(pub(super) W);

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'<' | b'>' | b'&')) {
            self.0.write_all(&rest[..at])?;
            write!(self.0, "\\u{:04x}", rest[at])?;
            rest = &rest[at + 1..];
        }
        self.0.write_all(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_an_element_is_escaped() {
        let texts = ["</script><img src=x onerror=alert(1)>", "<!--", "a & b", "\u{2028}é", "]]>"];
        let mut out = Escaped(Vec::new());
        serde_json::to_writer(&mut out, &texts).unwrap();
        let written = String::from_utf8(out.0).unwrap();
        assert!(!written.contains(['<', '>', '&']), "{written}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&written).unwrap(), texts);
    }

    #[test]
    fn the_script_and_the_style_end_where_they_should() {
        for text in [SCRIPT, STYLE] {
            assert!(!text.to_ascii_lowercase().contains("</script"));
            assert!(!text.to_ascii_lowercase().contains("</style"));
            assert!(!text.contains("<!--"));
        }
    }
}
