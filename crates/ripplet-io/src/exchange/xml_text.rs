//! Text as XML holds it: escapes of the writers of GraphML and GEXF.

use super::syntax::Value;

/// Whether XML 1.0 can hold a character at all, written as itself or by its number.
pub(super) fn can_hold(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        character => character >= ' ',
    }
}

/// Appends a value as the text of an element or an attribute.
pub(super) fn push_value(text: &mut Vec<u8>, value: &Value<'_>) {
    value.push(text, push_escaped);
}

/// Appends a text as the value of an attribute, or between tags.
fn push_escaped(text: &mut Vec<u8>, value: &str) {
    for byte in value.bytes() {
        match byte {
            b'&' => text.extend_from_slice(b"&amp;"),
            b'<' => text.extend_from_slice(b"&lt;"),
            b'>' => text.extend_from_slice(b"&gt;"),
            b'"' => text.extend_from_slice(b"&quot;"),
            // Readers turn unescaped ones into blanks.
            b'\t' => text.extend_from_slice(b"&#9;"),
            b'\n' => text.extend_from_slice(b"&#10;"),
            b'\r' => text.extend_from_slice(b"&#13;"),
            byte => text.push(byte),
        }
    }
}
