//! Self-contained HTML pages that draw themselves from data inside them.
//!
//! A page is one file: its style, its script, and its data as JSON. It makes no request, and its
//! Content-Security-Policy would not allow one: only the script and the style of the page run, known
//! by their hashes. Text of the data reaches the page as JSON alone, in which no byte can end an
//! element.
//!
//! Pages share their colours, the look of what all of them have (head, buttons, dialogs), and the JavaScript that makes
//! elements and moves drawings.
//!
//! Determinism: the same parts give the same bytes.

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use ripplet_io::WriteError;
use ripplet_io::write::whole_file;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::Path;

/// Colours of light and dark pages as CSS variables, and the switch between them.
const PALETTE: &str = include_str!("assets/palette.css");

/// The look of what every page has: head, panels, buttons, dialogs.
const FRAME: &str = include_str!("assets/frame.css");

/// JavaScript that makes elements, in which text only ever goes in as text.
const ELEMENTS: &str = include_str!("assets/elements.js");

/// JavaScript class `PanAndZoom`: moves a drawing by mouse, touch, wheel and keys.
const PAN_AND_ZOOM: &str = include_str!("assets/pan_and_zoom.js");

/// JavaScript function `unpacked`, which returns the value of a part of the data that [`packed`] wrote. A page that has
/// such parts names it among its [`scripts`](Page::scripts).
pub const UNPACK: &str = include_str!("assets/unpack.js");

/// The parts of a page.
///
/// `style`, `body` and `scripts` are the program's own text. They must not contain what ends their
/// element: see [`ends_no_element`].
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The title; escaped.
    pub title: &'a str,
    /// The style sheet, which follows that of all pages.
    pub style: &'a str,
    /// The elements in front of the data.
    pub body: &'a str,
    /// The files of the script, which finds the data in the element `data`. They are one function, after the
    /// JavaScript of all pages: functions and classes know one another.
    pub scripts: &'a [&'a str],
}

#[derive(Template)]
#[template(path = "page.html")]
struct Shell<'a> {
    title: &'a str,
    style: &'a str,
    style_hash: String,
    body: &'a str,
    script: &'a str,
    script_hash: String,
    data: &'a str,
}

impl Page<'_> {
    /// Writes the page with its data atomically; `-` is standard output.
    ///
    /// # Errors
    /// If the operating system refuses; nothing is left behind then.
    pub fn write(&self, path: &Path, data: &impl Serialize) -> Result<(), WriteError> {
        let Page { title, body, .. } = *self;
        let (style, script) = (&*[PALETTE, FRAME, self.style].concat(), &*self.script());
        let refused = |source| WriteError { path: path.into(), source };
        let data = embedded_json(data).map_err(refused)?;
        let (style_hash, script_hash) = (policy_hash(style), policy_hash(script));
        let shell = Shell { title, style, style_hash, body, script, script_hash, data: &data };
        whole_file(path, |out| shell.write_into(out).map_err(io::Error::other))
    }

    /// Returns the whole script.
    fn script(&self) -> String {
        let mut script = String::from("'use strict';\n(() => {\n");
        [ELEMENTS, PAN_AND_ZOOM].iter().chain(self.scripts).for_each(|part| script.push_str(part));
        script.push_str("})();\n");
        script
    }
}

/// Returns whether a style sheet or a script has nothing that would end its element, or hide what follows.
pub fn ends_no_element(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    !["</script", "</style", "<!--"].iter().any(|end| text.contains(end))
}

/// Returns the name by which a Content-Security-Policy knows a script or a style.
pub fn policy_hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Returns a value as JSON that can stand within an HTML element: it has no `<`, `>` or `&`.
///
/// # Errors
/// If the value cannot be serialized.
pub fn embedded_json(value: &impl Serialize) -> io::Result<String> {
    let mut bytes = Vec::new();
    serde_json::to_writer(Escaped(&mut bytes), value)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Returns the number of bytes that [`embedded_json`] gives, without keeping them.
///
/// # Errors
/// If the value cannot be serialized.
pub fn embedded_length(value: &impl Serialize) -> io::Result<u64> {
    struct Counted(u64);
    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    serde_json::to_writer(Escaped(&mut counted), value)?;
    Ok(counted.0)
}

/// Returns a value as a compressed text, which [`UNPACK`] reads in the browser: its size as JSON in bytes, a point, and
/// raw DEFLATE (RFC 1951) in base64. No character of it is escaped on a page.
///
/// So a page can hold many parts of which a reader opens few. Equal values give equal texts.
///
/// # Errors
/// If the value cannot be serialized.
pub fn packed(value: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_vec(value)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json)?;
    Ok(format!("{}.{}", json.len(), STANDARD.encode(encoder.finish()?)))
}

/// Replaces bytes that could open or end an element by their JSON escapes.
///
/// Outside of texts JSON has none of these bytes, and in a text `\u003c` is the same as `<`.
struct Escaped<'w>(&'w mut dyn Write);

impl Write for Escaped<'_> {
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
        let written = embedded_json(&texts).unwrap();
        assert!(!written.contains(['<', '>', '&']), "{written}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&written).unwrap(), texts);
        assert_eq!(embedded_length(&texts).unwrap(), written.len() as u64);
    }

    #[test]
    fn shared_parts_end_no_element() {
        let parts = [PALETTE, FRAME, ELEMENTS, PAN_AND_ZOOM, UNPACK];
        assert!(parts.into_iter().all(ends_no_element));
        assert!(!["a </SCRIPT >", "</style", "<!-- "].into_iter().any(ends_no_element));
    }

    #[test]
    fn a_packed_part_is_its_json_compressed() {
        use std::io::Read;
        let texts: Vec<String> = (0..1000).map(|at| format!("</script> é {}", at / 7)).collect();
        let part = packed(&texts).unwrap();
        assert!(part.len() < 4000 && !part.contains(['<', '>', '&', '"', '\\']), "{part}");
        let (size, code) = part.split_once('.').unwrap();
        let mut json = String::new();
        let bytes = STANDARD.decode(code).unwrap();
        flate2::read::DeflateDecoder::new(&*bytes).read_to_string(&mut json).unwrap();
        assert_eq!(json.len().to_string(), size);
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), texts);
    }

    #[test]
    fn a_page_has_its_parts_and_an_escaped_title() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let (style, body) = ("p { color: red; }", "<p>here</p>");
        let parts = Page { title: "a <b> & c", style, body, scripts: &["one();\n", "two();\n"] };
        parts.write(&path, &["</script>"]).unwrap();
        let page = std::fs::read_to_string(&path).unwrap();
        assert!(page.contains("<title>a &#60;b&#62; &#38; c</title>"), "{page}");
        let script = &*parts.script();
        assert!(script.ends_with("one();\ntwo();\n})();\n"));
        let style_hash = policy_hash(&[PALETTE, FRAME, style].concat());
        for part in [style, body, script, &style_hash, &policy_hash(script)] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert_eq!(page.matches("</script>").count(), 2);
    }
}
