//! Texts of files and servers in messages: without control characters, and not longer than a screen.

/// The most characters of a sentence.
const SENTENCE: usize = 1200;
/// The most characters of a text of several lines.
const TEXT: usize = 8000;
/// Characters and lines that an excerpt has at most, and how many of these are the text's last.
const EXCERPT: usize = 2000;
const LINES: usize = 24;
const LAST_LINES: usize = 6;

/// Returns a sentence on one line, without characters that a terminal obeys, cut in its middle if it is
/// long.
pub fn one_line(text: &str) -> String {
    cut(text, SENTENCE).chars().flat_map(|c| shown(c, &[])).collect()
}

/// Returns a text of several lines without other characters that a terminal obeys, cut if it is long.
pub fn lines(text: &str) -> String {
    cut(text, TEXT).chars().flat_map(|c| shown(c, &['\n', '\t'])).collect()
}

/// Returns an excerpt of a user's text of several lines: its first and last lines, cut if they are long.
pub fn excerpt(text: &str) -> String {
    let all: Vec<&str> = text.lines().collect();
    if all.len() <= LINES {
        return lines(&cut(text, EXCERPT));
    }
    let (first, last) = (&all[..LINES - LAST_LINES - 1], &all[all.len() - LAST_LINES..]);
    let left_out = format!("… {} more lines …", all.len() - first.len() - last.len());
    let kept = [&first.join("\n"), &left_out, &last.join("\n")].map(|part| &**part).join("\n");
    lines(&cut(&kept, EXCERPT))
}

/// Returns a number with what it counts: `1 community`, `2 communities`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Returns the size of a graph: `1 vertex, 2 edges`.
pub fn size_of(vertices: u64, edges: u64) -> String {
    format!("{}, {}", counted(vertices, "vertex", "vertices"), counted(edges, "edge", "edges"))
}

/// Returns ` on DEVICE`, the end of a sentence on what a run did; nothing for the CPU.
pub fn on_device(name: &str) -> String {
    if name == "cpu" { String::new() } else { format!(" on {name}") }
}

/// Returns a character, or its escape if it controls how text is shown.
fn shown(c: char, kept: &[char]) -> impl Iterator<Item = char> {
    // Marks of the direction of writing can make a text look like another.
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let separates = matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    let is_escaped = (c.is_control() || turns || separates) && !kept.contains(&c);
    let escaped = is_escaped.then(|| c.escape_default());
    escaped.into_iter().flatten().chain((!is_escaped).then_some(c))
}

/// Returns the begin and the end of a text that is too long; the end often has the advice.
fn cut(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    // A text has at most as many characters as bytes.
    if text.len() <= most || text.chars().count() <= most {
        return text.into();
    }
    let before = text.char_indices().nth(most * 3 / 4).map_or(text.len(), |(at, _)| at);
    let after = text.char_indices().rev().nth(most / 4).map_or(0, |(at, _)| at);
    format!("{} … {}", &text[..before], &text[after..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(one_line("a\u{1b}[2Jb\nerror: c\u{202e}"), "a\\u{1b}[2Jb\\nerror: c\\u{202e}");
        assert_eq!(lines("a\u{7}\n\tb\r\u{9b}"), "a\\u{7}\n\tb\\r\\u{9b}");
        assert_eq!(one_line("Zürich → 東京 `x`"), "Zürich → 東京 `x`");
        let long = one_line(&"é".repeat(1 << 20));
        assert!(long.chars().count() < 2 * SENTENCE && long.contains(" … "));
        let said = format!("{}: use --no-header", "x".repeat(5000));
        assert!(one_line(&said).ends_with("use --no-header"));
    }

    #[test]
    fn an_excerpt_fits_a_screen() {
        let text: String = (0..1000).map(|line| format!("line {line}\n")).collect();
        let short = excerpt(&text);
        assert_eq!(short.lines().count(), LINES);
        assert!(short.starts_with("line 0\n") && short.ends_with("line 999"), "{short}");
        assert!(short.contains("\n… 977 more lines …\n"), "{short}");
        assert_eq!(excerpt("a\u{1b}\nb"), "a\\u{1b}\nb");
        let long = excerpt(&"x".repeat(1 << 20));
        assert!(long.chars().count() < EXCERPT + 10);
        assert_eq!(one_line("a\u{61c}b"), "a\\u{61c}b");
    }

    #[test]
    fn one_is_singular() {
        let said = [0, 1, 2].map(|number| counted(number, "community", "communities"));
        assert_eq!(said, ["0 communities", "1 community", "2 communities"]);
    }

    #[test]
    fn every_character_is_printable_or_escaped() {
        for c in '\0'..=char::MAX {
            let line = one_line(&c.to_string());
            assert!(!line.chars().any(char::is_control), "{c:?}");
            assert_eq!(one_line(&line), line, "what is escaped stays");
        }
    }
}
