//! The picture as one static SVG.

use crate::picture::{counted, grouped};
use crate::{Circle, Picture};
use ripplet_io::WriteError;
use ripplet_io::write::whole_file;
use std::io::{self, Write};
use std::path::Path;

/// Margins around the circles: for the title above, for notes below.
const SIDE: f64 = 30.0;
const TOP: f64 = 64.0;
const LINE: f64 = 17.0;
/// The average width of a character, in units, at the font size `NAME`.
const LETTER: f64 = 6.6;
const NAME: f64 = 12.0;
/// Names in a large circle.
const NAMES: usize = 3;
/// The least number of characters to which a name is shortened.
const LEGIBLE: usize = 6;
/// The widest line between two communities.
const WIDEST: f64 = 9.0;

const STYLE: &str = "\
svg{color-scheme:light dark;background:#f5f4f1;font:12px 'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\
.title{font-size:18px;font-weight:600;fill:#1f2428}\
.note{fill:#515a61}\
.link{stroke:#8b969c;stroke-opacity:.45;stroke-linecap:round}\
.circle{fill:oklch(.78 .09 var(--hue));stroke:oklch(.55 .1 var(--hue));stroke-width:1}\
.name{fill:#1f2428;text-anchor:middle}\
.size{fill:#3d464c;text-anchor:middle;font-size:10.5px}\
@media(prefers-color-scheme:dark){svg{background:#121619}.title{fill:#e4e8ea}.note{fill:#aab3b9}\
.circle{fill:oklch(.42 .08 var(--hue));stroke:oklch(.65 .1 var(--hue))}\
.link{stroke:#7c888f}.name{fill:#f1f4f5}.size{fill:#c3cbd0}}";

/// Writes the picture as SVG atomically; `-` is standard output.
///
/// A circle's area is in proportion to its community's size, a line's width to the square root of
/// the weight of the edges. Names are written if they fit in the circle; each circle has
/// the names, the size and the edges in a `title` as well, which viewers show at the pointer.
///
/// # Errors
/// If the operating system refuses; then no file is left behind.
pub fn write_svg(path: &Path, picture: &Picture<'_>) -> Result<(), WriteError> {
    whole_file(path, |out| write(out, picture))
}

fn write(out: &mut dyn Write, picture: &Picture<'_>) -> io::Result<()> {
    let notes = picture.notes();
    let Frame { left, top, width, height } = Frame::of(&picture.circles, notes.len());
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{left:.1} {top:.1} {width:.1} {height:.1}\" \
         role=\"img\" aria-labelledby=\"title\">"
    )?;
    writeln!(out, "<title id=\"title\">{}</title>", escaped(&picture.title))?;
    writeln!(out, "<style>{STYLE}</style>")?;
    let text_left = left + SIDE;
    writeln!(
        out,
        "<text class=\"title\" x=\"{text_left:.1}\" y=\"{:.1}\">{}</text>",
        top + 28.0,
        escaped(&picture.title)
    )?;
    writeln!(
        out,
        "<text class=\"note\" x=\"{text_left:.1}\" y=\"{:.1}\">{}</text>",
        top + 47.0,
        escaped(&headline(picture))
    )?;
    links(out, picture)?;
    for community in 0..picture.circles.len() {
        circle(out, picture, community)?;
    }
    for (line, note) in notes.iter().enumerate() {
        let y = top + height - SIDE / 2.0 - LINE * (notes.len() - 1 - line) as f64;
        writeln!(
            out,
            "<text class=\"note\" x=\"{text_left:.1}\" y=\"{y:.1}\">{}</text>",
            escaped(note)
        )?;
    }
    writeln!(out, "</svg>")
}

/// The visible part of the plane.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn of(circles: &[Circle], notes: usize) -> Frame {
        let least = |of: fn(&Circle) -> f64| circles.iter().map(of).fold(f64::MAX, f64::min);
        let most = |of: fn(&Circle) -> f64| circles.iter().map(of).fold(f64::MIN, f64::max);
        let (mut left, mut right) = (least(|c| c.x - c.radius), most(|c| c.x + c.radius));
        let (mut up, mut down) = (least(|c| c.y - c.radius), most(|c| c.y + c.radius));
        if circles.is_empty() {
            (left, right, up, down) = (-300.0, 300.0, -50.0, 50.0);
        }
        // The title and the notes need room, too.
        let missing = (600.0 - (right - left)).max(0.0) / 2.0;
        let (left, right) = (left - missing - SIDE, right + missing + SIDE);
        let (top, bottom) = (up - TOP - SIDE / 2.0, down + SIDE + LINE * notes as f64);
        Frame { left, top, width: right - left, height: bottom - top }
    }
}

/// Returns the size of the graph and its number of communities, as text.
pub(crate) fn headline(picture: &Picture<'_>) -> String {
    format!(
        "{}, {}, {}",
        counted(u64::from(picture.graph.vertices()), "vertex", "vertices"),
        counted(picture.graph.edges(), "edge", "edges"),
        counted(u64::from(picture.communities.total), "community", "communities")
    )
}

fn links(out: &mut dyn Write, picture: &Picture<'_>) -> io::Result<()> {
    let heaviest = picture.links.first().map_or(1, |link| link.weight) as f64;
    // The heaviest are drawn last, above the others.
    for link in picture.links.iter().rev() {
        let (a, b) = (picture.circles[link.a as usize], picture.circles[link.b as usize]);
        let width = 0.6 + (WIDEST - 0.6) * (link.weight as f64 / heaviest).sqrt();
        writeln!(
            out,
            "<line class=\"link\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke-width=\"{width:.2}\"/>",
            a.x, a.y, b.x, b.y
        )?;
    }
    Ok(())
}

fn circle(out: &mut dyn Write, picture: &Picture<'_>, at: usize) -> io::Result<()> {
    let Circle { x, y, radius } = picture.circles[at];
    let community = picture.communities.communities[at];
    let names: Vec<String> = picture.names(at).take(NAMES).collect();
    let size = counted(u64::from(community.size), "member", "members");
    let title = format!(
        "Community {}: {}{}: {size}, weight {} within, {} to others",
        picture.called[at],
        names.join(", "),
        if (names.len() as u32) < community.size { ", …" } else { "" },
        picture.weight(community.inner),
        picture.weight(community.outer),
    );
    writeln!(
        out,
        "<g style=\"--hue:{}\"><title>{}</title><circle class=\"circle\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>",
        Picture::hue(at),
        escaped(&title)
    )?;
    let lines = lines_that_fit(&names, radius);
    let height = NAME * 1.25;
    let first = y - (lines.len() as f64) * height / 2.0 + NAME * 0.85;
    for (line, name) in lines.iter().enumerate() {
        let y = first + height * line as f64;
        writeln!(out, "<text class=\"name\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(name))?;
    }
    if !lines.is_empty() && (lines.len() as f64 + 1.0) * height < 1.5 * radius {
        let y = first + height * lines.len() as f64;
        let size = grouped(u64::from(community.size));
        writeln!(out, "<text class=\"size\" x=\"{x:.1}\" y=\"{y:.1}\">{size}</text>")?;
    }
    writeln!(out, "</g>")
}

/// Returns the first names that fit in a circle, one per line, shortened if they are long.
fn lines_that_fit(names: &[String], radius: f64) -> Vec<String> {
    let letters = (1.7 * radius / LETTER) as usize;
    let lines = (1.3 * radius / (NAME * 1.25)) as usize;
    let is_legible = |name: &&String| letters >= LEGIBLE || name.chars().count() <= letters;
    names.iter().take(lines).filter(is_legible).map(|name| shortened(name, letters)).collect()
}

/// Shortens a name to at most `most` characters, with an ellipsis.
fn shortened(name: &str, most: usize) -> String {
    match name.char_indices().nth(most) {
        None => name.into(),
        Some(_) => name.chars().take(most.max(2) - 1).chain(['…']).collect(),
    }
}

/// Escapes text for XML; characters that XML cannot hold become U+FFFD.
fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '&' => written.push_str("&amp;"),
            '\t' | '\n' => written.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                written.push('\u{fffd}')
            }
            // Marks that turn the direction of what follows, beyond this name.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => written.push('\u{fffd}'),
            letter => written.push(letter),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_at_letters() {
        assert_eq!(shortened("Zoë", 3), "Zoë");
        assert_eq!(shortened("Zoë and others", 6), "Zoë a…");
        assert!(lines_that_fit(&["a".into()], 3.0).is_empty());
        assert!(lines_that_fit(&["long name".into()], 20.0).is_empty());
        assert_eq!(lines_that_fit(&["long name".into()], 28.0), ["long n…"]);
    }

    #[test]
    fn xml_holds_any_text() {
        assert_eq!(escaped("a<b>&\u{1}\u{202e}\"é"), "a&lt;b&gt;&amp;\u{fffd}\u{fffd}\"é");
    }
}
