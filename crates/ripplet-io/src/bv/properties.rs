//! Parses the `.properties` file of a BV graph.

use super::bits::Code;
use crate::fault::Fault;
use crate::shown::shown;
use crate::small::is_plain_file;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Parameters of decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Properties {
    pub vertices: u32,
    pub arcs: u64,
    /// Largest distance of a reference; 0 if lists have no references.
    pub window: u64,
    /// Smallest length of an interval; 0 if lists have no intervals.
    pub least_interval: u64,
    pub outdegrees: Code,
    pub references: Code,
    pub block_counts: Code,
    pub blocks: Code,
    pub intervals: Code,
    pub residuals: Code,
}

/// Size limit of such a file in bytes, which usually has some hundred: another file may have the name.
const MOST_BYTES: u64 = 1 << 20;

/// Returns the first bytes of a file.
pub(super) fn text_of(path: &Path) -> io::Result<Vec<u8>> {
    if !is_plain_file(path) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut text = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

const CLASS: &str = "graphclass";

/// Whether a text has a `graphclass`.
pub(super) fn names_a_class(text: &[u8]) -> bool {
    entries(text).any(|(_, key, _)| key == CLASS.as_bytes())
}

/// Returns the lines `key=value` with their numbers from 1; comments begin with `#` or `!`.
fn entries(text: &[u8]) -> impl Iterator<Item = (u64, &[u8], &[u8])> {
    let lines = (1..).zip(text.split(|&byte| byte == b'\n'));
    lines.filter_map(|(line, entry)| {
        let entry = entry.trim_ascii();
        let comment = matches!(entry.first(), Some(b'#' | b'!'));
        let split = entry.iter().position(|byte| matches!(byte, b'=' | b':'));
        let split = split.filter(|_| !comment)?;
        Some((line, entry[..split].trim_ascii(), entry[split + 1..].trim_ascii()))
    })
}

impl Properties {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// If a key is missing or no number, or the graph's class or a code is not supported.
    pub fn of(text: &[u8]) -> Result<Properties, Fault> {
        let said = Said(text);
        let class = said.must(CLASS)?;
        if !class.value.ends_with("BVGraph") {
            let sentence = format!(
                "graphclass is `{}`: expected it.unimi.dsi.webgraph.BVGraph; convert the graph with WebGraph's tools, \
                 without labels",
                shown(&class.value)
            );
            return Err(Fault::line(class.line, sentence));
        }
        let endianness = said.entry("endianness");
        if let Some(endianness) = endianness.as_ref().filter(|endianness| endianness.value != "big")
        {
            let sentence = format!(
                "endianness is `{}`: expected big, as WebGraph for Java writes it",
                shown(&endianness.value)
            );
            return Err(Fault::line(endianness.line, sentence));
        }
        let most = u64::from(u32::MAX) - 1;
        let vertices = said.must("nodes")?.number(0, most)?;
        let shrinking =
            said.entry("zetak").map_or(Ok(3), |entry| entry.number(1, MOST_SHRINKING))?;
        let mut properties = Properties {
            vertices: vertices as u32,
            arcs: said.must("arcs")?.number(0, u64::MAX)?,
            window: said.must("windowsize")?.number(0, most)?,
            least_interval: said.must("minintervallength")?.number(0, most)?,
            outdegrees: Code::Gamma,
            references: Code::Unary,
            block_counts: Code::Gamma,
            blocks: Code::Gamma,
            intervals: Code::Gamma,
            residuals: Code::Zeta(shrinking as u32),
        };
        let Some(flags) = said.entry("compressionflags") else { return Ok(properties) };
        for flag in flags.value.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
            let (of, code) = flag.rsplit_once('_').unwrap_or((flag, ""));
            let places = properties.places(of, endianness.is_some());
            let code = code_of(code, shrinking as u32);
            let (Some(places), Some(code)) = (places, code) else {
                let sentence = format!(
                    "compressionflags has `{}`: expected OUTDEGREES, REFERENCES, BLOCK_COUNT, BLOCKS, INTERVALS or \
                     RESIDUALS with _UNARY, _GAMMA, _DELTA or _ZETA; store the graph with the default codes",
                    shown(flag)
                );
                return Err(Fault::line(flags.line, sentence));
            };
            places.into_iter().for_each(|place| *place = code);
        }
        Ok(properties)
    }

    /// Returns what the code of a flag applies to.
    ///
    /// In WebGraph for Java, `BLOCKS` are their lengths, and there is no flag for intervals. WebGraph for
    /// Rust, whose files have the endianness, has no flag for the number of blocks, which `BLOCKS` covers,
    /// too.
    fn places(&mut self, of: &str, counts_are_blocks: bool) -> Option<Vec<&mut Code>> {
        let places = match of {
            "OUTDEGREES" => vec![&mut self.outdegrees],
            "REFERENCES" => vec![&mut self.references],
            "BLOCK_COUNT" => vec![&mut self.block_counts],
            "BLOCKS" if counts_are_blocks => vec![&mut self.block_counts, &mut self.blocks],
            "BLOCKS" => vec![&mut self.blocks],
            "INTERVALS" => vec![&mut self.intervals],
            "RESIDUALS" => vec![&mut self.residuals],
            // Offsets are in a separate file.
            "OFFSETS" => vec![],
            _ => return None,
        };
        Some(places)
    }
}

/// Largest k of ζₖ: with a larger one, no number in range has another code.
const MOST_SHRINKING: u64 = 32;

/// Returns the code of a flag's value; `ZETA5` includes its k.
fn code_of(name: &str, shrinking: u32) -> Option<Code> {
    match name {
        "UNARY" => Some(Code::Unary),
        "GAMMA" => Some(Code::Gamma),
        "DELTA" => Some(Code::Delta),
        "ZETA" => Some(Code::Zeta(shrinking)),
        _ => {
            let shrinking = name.strip_prefix("ZETA")?.parse().ok()?;
            (1..=MOST_SHRINKING).contains(&shrinking).then_some(Code::Zeta(shrinking as u32))
        }
    }
}

/// Entries of a text.
struct Said<'a>(&'a [u8]);

/// Entry of a text.
struct Entry {
    line: u64,
    key: &'static str,
    value: String,
}

impl Said<'_> {
    /// Returns the last value of a key, as Java does.
    fn entry(&self, key: &'static str) -> Option<Entry> {
        let (line, _, value) = entries(self.0).filter(|(_, k, _)| *k == key.as_bytes()).last()?;
        Some(Entry { line, key, value: String::from_utf8_lossy(value).into_owned() })
    }

    fn must(&self, key: &'static str) -> Result<Entry, Fault> {
        let sentence = || format!("expected a line `{key}=…`, as WebGraph's properties have it");
        self.entry(key).ok_or_else(|| Fault::whole(sentence()))
    }
}

impl Entry {
    fn number(&self, least: u64, most: u64) -> Result<u64, Fault> {
        let number = self.value.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            let (key, value) = (self.key, shown(&self.value));
            let sentence =
                format!("{key} is `{value}`: expected an integer from {least} to {most}");
            Fault::line(self.line, sentence)
        })
    }
}
