//! Writes text in blocks, plain or compressed, and formats ids and weights.

use super::{in_order, refused};
use crate::deflate::set_up;
use crate::format::NAMED_TABS;
use crate::{Compression, Format};
use rayon::prelude::*;
use ripplet_graph::memory;
use ripplet_graph::{ExternalId, Names, VertexId, VertexIds, WeightScale};
use std::fmt::Display;
use std::io::{self, Write};
use std::ops::Range;

/// Initial capacity of a block of text: most fit.
const BLOCK_BYTES: usize = 1 << 20;
/// Default level of zstd.
const ZSTD_LEVEL: i32 = 3;

/// Writes `head` and the blocks `0..blocks`, which `format` appends to an empty text.
pub(crate) fn write_text(
    out: &mut (dyn Write + Send),
    compression: Compression,
    head: &str,
    blocks: usize,
    format: impl Fn(usize, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let has_head = write_head(out, compression, head)?;
    write_blocks(out, compression, blocks, |block, text| {
        format(block, text);
        Ok(())
    })?;
    write_end(out, compression, !has_head && blocks == 0)
}

/// Writes what precedes all blocks; returns whether there is anything.
pub(crate) fn write_head(
    out: &mut (dyn Write + Send),
    compression: Compression,
    head: &str,
) -> io::Result<bool> {
    if !head.is_empty() {
        out.write_all(&packed(compression, head.into())?)?;
    }
    Ok(!head.is_empty())
}

/// Writes the blocks `0..blocks`, which `format` appends to an empty text.
pub(crate) fn write_blocks(
    out: &mut (dyn Write + Send),
    compression: Compression,
    blocks: usize,
    format: impl Fn(usize, &mut Vec<u8>) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let make = |block| {
        let refused = |error| io::Error::new(io::ErrorKind::OutOfMemory, error);
        let mut text = memory::with_room(BLOCK_BYTES).map_err(refused)?;
        format(block, &mut text)?;
        packed(compression, text)
    };
    in_order(blocks, make, |bytes| out.write_all(&bytes))
}

/// Ends a text: a compressed empty file still has a frame.
pub(crate) fn write_end(
    out: &mut (dyn Write + Send),
    compression: Compression,
    is_empty: bool,
) -> io::Result<()> {
    if is_empty { out.write_all(&packed(compression, Vec::new())?) } else { Ok(()) }
}

fn packed(compression: Compression, text: Vec<u8>) -> io::Result<Vec<u8>> {
    match compression {
        Compression::None => Ok(text),
        Compression::Gzip => {
            let level = flate2::Compression::default();
            let mut out = set_up(|| flate2::write::GzEncoder::new(Vec::new(), level))?;
            out.write_all(&text)?;
            out.finish()
        }
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => Err(super::refused(crate::NotBuiltIn::ZSTD.to_string())),
        #[cfg(feature = "zstd")]
        Compression::Zstd => zstd::bulk::compress(&text, ZSTD_LEVEL),
    }
}

/// Separators of the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fields {
    /// A blank between them, and no header.
    Blank,
    /// A tab, and no header: for names that contain blanks.
    BareTab,
    /// A tab, under a comment that names the columns; fields that need it are in quotes.
    NamedTab,
    /// A tab; fields that need it are in quotes.
    Tab,
    /// A comma; fields that need it are in quotes.
    Comma,
    /// Members of a JSON object, named as the columns.
    Json,
}

/// Texts around the fields of a line.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) fields: Fields,
    /// Text before each field.
    before: Vec<String>,
}

impl Line {
    /// Returns a line of the columns with these names.
    pub(crate) fn new<S: AsRef<str>>(fields: Fields, names: impl IntoIterator<Item = S>) -> Line {
        let before = |(at, name): (usize, S)| match fields {
            Fields::Json => {
                let mut text = vec![if at == 0 { b'{' } else { b',' }];
                push_json(&mut text, name.as_ref());
                text.push(b':');
                String::from_utf8_lossy(&text).into_owned()
            }
            _ if at == 0 => String::new(),
            _ => fields.separator().to_string(),
        };
        Line { fields, before: names.into_iter().enumerate().map(before).collect() }
    }

    /// Appends the text before a field.
    #[inline]
    pub(crate) fn begin(&self, text: &mut Vec<u8>, field: usize) {
        text.extend_from_slice(self.before[field].as_bytes());
    }

    /// Appends the text after the last field.
    #[inline]
    pub(crate) fn end(&self, text: &mut Vec<u8>) {
        if self.fields == Fields::Json {
            let end: &[u8] = if self.before.is_empty() { b"{}" } else { b"}" };
            text.extend_from_slice(end);
        }
        text.push(b'\n');
    }
}

/// Whether some names begin with a character other than a-z.
fn are_unlike_words(ids: &VertexIds) -> bool {
    let VertexIds::Names(names) = ids else { return false };
    let is_unlike = |at: usize| !names.get(at).starts_with(|first: char| first.is_alphabetic());
    (0..names.len()).into_par_iter().any(is_unlike)
}

impl Fields {
    /// Returns the fields of a table's format, `None` if it is no table of text.
    pub(crate) fn of(format: Format) -> Option<Fields> {
        match format {
            Format::EdgeList => Some(Fields::Blank),
            Format::Tsv => Some(Fields::Tab),
            Format::Csv => Some(Fields::Comma),
            Format::JsonLines => Some(Fields::Json),
            _ => None,
        }
    }

    /// Returns these fields, with tabs between them if names contain blanks.
    pub(crate) fn spaced(self, ids: &VertexIds) -> Fields {
        match ids {
            VertexIds::Names(names) => self.spaced_names(names, 0..names.len()),
            _ => self,
        }
    }

    /// [`Fields::spaced`], of some names.
    pub(crate) fn spaced_names(self, names: &Names, range: Range<usize>) -> Fields {
        let holds_blank = |at: usize| names.get(at).contains([' ', ',', ';']);
        match self {
            Fields::Blank if range.into_par_iter().any(holds_blank) => Fields::BareTab,
            fields => fields,
        }
    }

    /// Returns these fields, or those of an edge list under a comment if names contain blanks, or if a reader
    /// could take some of them for numbers, dates or marks.
    pub(crate) fn of_edges(self, ids: &VertexIds) -> Fields {
        match self {
            Fields::Blank if self.check(ids).is_err() || are_unlike_words(ids) => Fields::NamedTab,
            fields => fields,
        }
    }

    fn separator(self) -> char {
        match self {
            Fields::Blank => ' ',
            Fields::BareTab | Fields::NamedTab | Fields::Tab => '\t',
            Fields::Comma | Fields::Json => ',',
        }
    }

    /// Returns the first line, if there is one.
    pub(crate) fn header(self, names: &[&str]) -> String {
        match self {
            Fields::Blank | Fields::BareTab | Fields::Json => String::new(),
            Fields::NamedTab => format!("{NAMED_TABS}{}\n", names.join("\t")),
            _ => names.join(&self.separator().to_string()) + "\n",
        }
    }

    /// Rejects names that would be ambiguous for a reader.
    pub(crate) fn check(self, ids: &VertexIds) -> io::Result<()> {
        match ids {
            VertexIds::Names(names) => self.check_names(names, 0..names.len(), "vertex"),
            _ => Ok(()),
        }
    }

    /// Rejects names of `what` that would be ambiguous for a reader.
    pub(crate) fn check_names(
        self,
        names: &Names,
        range: Range<usize>,
        what: &str,
    ) -> io::Result<()> {
        let found = range
            .into_par_iter()
            .find_map_first(|at| self.unfit(names.get(at)).map(|why| (at, why)));
        match found {
            Some((at, why)) => Err(refused(format!("the {what} id {:?} {why}", names.get(at)))),
            None => Ok(()),
        }
    }

    /// Returns the reason that a name would be ambiguous for a reader; nothing if it is not.
    fn unfit(self, name: &str) -> Option<&'static str> {
        match self {
            Fields::Json => None,
            _ if name.contains(['\n', '\r']) => {
                Some("holds a line end: write .parquet, .arrow or .jsonl (--to parquet)")
            }
            _ if name.is_empty() => {
                Some("is empty: write .parquet, .arrow or .jsonl (--to parquet)")
            }
            Fields::Comma | Fields::Tab | Fields::NamedTab => None,
            _ if name.starts_with(['#', '%']) => {
                Some("would be read as a comment: write .csv (--to csv)")
            }
            Fields::BareTab if name.contains('\t') => Some("holds a tab: write .csv (--to csv)"),
            Fields::Blank if name.contains([' ', '\t', ',', ';']) => {
                Some("holds a blank, tab, comma or semicolon: write .csv (--to csv)")
            }
            _ if name.starts_with('\u{feff}') => {
                Some("begins with a byte order mark: write .csv (--to csv)")
            }
            _ if name.trim().len() < name.len() => {
                Some("has blanks around it: write .csv (--to csv)")
            }
            _ => None,
        }
    }

    /// Rejects a name that would be ambiguous for a reader.
    pub(crate) fn check_name(self, name: &str) -> io::Result<()> {
        match self.unfit(name) {
            Some(why) => Err(refused(format!("the text {name:?} {why}"))),
            None => Ok(()),
        }
    }

    /// Appends a vertex's external id.
    pub(crate) fn push_id(self, text: &mut Vec<u8>, ids: &VertexIds, vertex: VertexId) {
        self.push_external(text, ids.get(vertex));
    }

    /// Appends an external id.
    pub(crate) fn push_external(self, text: &mut Vec<u8>, id: ExternalId<'_>) {
        match id {
            ExternalId::Unsigned(id) => push_integer(text, id),
            ExternalId::Signed(id) => push_integer(text, id),
            ExternalId::Name(name) => match self {
                Fields::Comma => push_quoted(text, ',', name),
                Fields::Tab | Fields::NamedTab => push_quoted(text, '\t', name),
                Fields::Json => push_json(text, name),
                Fields::Blank | Fields::BareTab => text.extend_from_slice(name.as_bytes()),
            },
        }
    }

    /// Appends a number that may be infinite or NaN, which JSON cannot represent.
    #[inline]
    pub(crate) fn push_number(self, text: &mut Vec<u8>, number: impl Display + Into<f64> + Copy) {
        match self {
            Fields::Json if !number.into().is_finite() => text.extend_from_slice(b"null"),
            _ => push_shortest(text, number),
        }
    }
}

/// Appends a JSON string in quotes.
pub(crate) fn push_json(text: &mut Vec<u8>, string: &str) {
    text.push(b'"');
    for byte in string.bytes() {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            byte if byte < b' ' => {
                let _ = write!(text, "\\u{byte:04x}");
            }
            byte => text.push(byte),
        }
    }
    text.push(b'"');
}

/// Appends a field of a `.csv` or `.tsv`, in quotes if it could end the field, begin a comment, or be
/// trimmed.
fn push_quoted(text: &mut Vec<u8>, separator: char, name: &str) {
    let plain = name.trim().len() == name.len()
        && !name.starts_with(['#', '%'])
        && !name.contains([separator, '"']);
    if plain {
        return text.extend_from_slice(name.as_bytes());
    }
    text.push(b'"');
    for part in name.split_inclusive('"') {
        text.extend_from_slice(part.as_bytes());
        if part.ends_with('"') {
            text.push(b'"');
        }
    }
    text.push(b'"');
}

pub(crate) fn push_integer(text: &mut Vec<u8>, value: impl itoa::Integer) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a weight: a decimal with the same value.
pub(crate) fn push_weight(text: &mut Vec<u8>, weight: f64) {
    // Up to here every integer is exact in a double, and prints as itself.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    let written = match weight {
        w if w.fract() == 0.0 && w < WHOLE => {
            push_integer(text, w as u64);
            Ok(())
        }
        w if (1e-5..1e17).contains(&w) => write!(text, "{w}"),
        w => write!(text, "{w:e}"),
    };
    written.expect("memory takes every byte");
}

/// Appends a number of any precision: the shortest decimal with the same value.
pub(crate) fn push_shortest(text: &mut Vec<u8>, number: impl Display) {
    write!(text, "{number}").expect("memory takes every byte");
}

/// Returns the weight of a stored one, as the shortest decimal with the same stored form.
///
/// A stored weight has up to 32 bits, so ten digits always identify it. A weight such as 0.1, which is stored
/// as 0.0999999996, prints as 0.1 again. A decimal scale is exact.
pub(crate) fn decimal(scale: WeightScale, stored: u32) -> f64 {
    let exact = scale.weight(u64::from(stored));
    if exact == 0.0 || scale.is_whole() || scale.is_decimal() {
        return exact;
    }
    let magnitude = exact.log10().floor() as i32 + 1;
    let with_digits = |digits: i32| {
        let factor = 10f64.powi(digits - magnitude);
        (exact * factor).round() / factor
    };
    // The largest stored weight also stands for all above it: the exact one is near it.
    let unit = scale.weight(1);
    let same = |w: &f64| scale.quantize(*w) == stored && (w - exact).abs() <= unit;
    (1..=10).map(with_digits).find(same).unwrap_or(exact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decimals_are_stored_as_what_they_came_from(
            stored in 1u32.., exponent in -60i32..300,
        ) {
            let scale = WeightScale::from_code(exponent).unwrap();
            let weight = decimal(scale, stored);
            prop_assert_eq!(scale.quantize(weight), stored);
            let mut text = Vec::new();
            push_weight(&mut text, weight);
            let text = String::from_utf8(text).unwrap();
            prop_assert_eq!(text.parse::<f64>().unwrap(), weight);
        }
    }

    #[test]
    fn the_largest_stored_weight_is_not_rounded_up() {
        let binary = WeightScale::from_code(-1).unwrap();
        for scale in [WeightScale::ONE, binary, WeightScale::from_code(7).unwrap()] {
            let exact = scale.weight(u64::from(u32::MAX));
            assert!((decimal(scale, u32::MAX) - exact).abs() <= scale.weight(1), "{scale:?}");
        }
        assert_eq!(decimal(WeightScale::from_code(4098).unwrap(), u32::MAX), 42_949_672.95);
    }

    #[test]
    fn short_decimals_come_back_short() {
        let weights = [0.1, 0.25, 3.7, 123.456, 0.001];
        let scale = WeightScale::fitting(&weights);
        for weight in weights {
            assert_eq!(decimal(scale, scale.quantize(weight)), weight);
        }
    }

    #[test]
    fn names_that_would_be_read_as_something_else_are_refused_or_quoted() {
        let ids = |name: &str| VertexIds::Names(Names::new([name]));
        for name in ["a b", "a,b", "#a", "%", " a", "a\tb", "\u{feff}a"] {
            assert!(Fields::Blank.check(&ids(name)).is_err(), "{name:?} in .txt");
            assert_eq!(Fields::Blank.of_edges(&ids(name)), Fields::NamedTab, "{name:?}");
            for fields in [Fields::Comma, Fields::Tab, Fields::NamedTab] {
                assert!(fields.check(&ids(name)).is_ok(), "{name:?} in {fields:?}");
            }
        }
        for name in ["a", "a#"] {
            assert_eq!(Fields::Blank.of_edges(&ids(name)), Fields::Blank, "{name:?}");
        }
        for name in ["7", "2024-01-31", "->", "\"a\""] {
            assert_eq!(Fields::Blank.of_edges(&ids(name)), Fields::NamedTab, "{name:?}");
        }
        for name in ["a\nb", "a\r", ""] {
            for fields in [Fields::Blank, Fields::NamedTab, Fields::Tab, Fields::Comma] {
                assert!(fields.check(&ids(name)).is_err(), "{name:?}");
            }
        }
        for (name, quoted) in
            [("a", "a"), ("a,b", "\"a,b\""), ("say \"a\"", "\"say \"\"a\"\"\""), (" ", "\" \"")]
        {
            let mut text = Vec::new();
            Fields::Comma.push_id(&mut text, &ids(name), 0);
            assert_eq!(String::from_utf8(text).unwrap(), quoted);
        }
    }
}
