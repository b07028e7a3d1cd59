//! What a `.properties` file says of a BV graph.

use super::bits::Code;
use crate::text::Fault;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What is needed to decode the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Properties {
    pub vertices: u32,
    pub arcs: u64,
    /// The most vertices that a list refers back; without, no list says a reference.
    pub window: u64,
    /// The least length of an interval; without, no list says intervals.
    pub least_interval: u64,
    pub outdegrees: Code,
    pub references: Code,
    pub block_counts: Code,
    pub blocks: Code,
    pub residuals: Code,
}

/// The most bytes of such a file, which mostly has some hundred: another may have the name.
const MOST_BYTES: u64 = 1 << 20;

/// The first bytes of a file.
pub(super) fn text_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

const CLASS: &str = "graphclass";

/// Whether a text says which class of WebGraph's reads the graph.
pub(super) fn names_a_class(text: &[u8]) -> bool {
    entries(text).any(|(_, key, _)| key == CLASS.as_bytes())
}

/// The lines `key=value` with their numbers from 1; comments begin with `#` or `!`.
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
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Where something is missing or no number, or the graph is of a class or in codes that are not read.
    pub fn of(text: &[u8]) -> Result<Properties, Fault> {
        let said = Said(text);
        let class = said.must(CLASS)?;
        if !class.value.ends_with("BVGraph") {
            let sentence = format!(
                "graphclass is `{}`: expected it.unimi.dsi.webgraph.BVGraph; convert the graph with WebGraph's tools, \
                 without labels",
                class.value
            );
            return Err(Fault::line(class.line, sentence));
        }
        if let Some(endianness) = said.entry("endianness")
            && !matches!(endianness.value.as_str(), "big" | "BE" | "BigEndian")
        {
            let sentence = format!(
                "endianness is `{}`: expected big, as WebGraph for Java writes it",
                endianness.value
            );
            return Err(Fault::line(endianness.line, sentence));
        }
        let most = u64::from(u32::MAX) - 1;
        let vertices = said.must("nodes")?.number(0, most)?;
        let mut properties = Properties {
            vertices: vertices as u32,
            arcs: said.must("arcs")?.number(0, u64::MAX)?,
            window: said.must("windowsize")?.number(0, most)?,
            least_interval: said.must("minintervallength")?.number(0, most)?,
            outdegrees: Code::Gamma,
            references: Code::Unary,
            block_counts: Code::Gamma,
            blocks: Code::Gamma,
            residuals: Code::Zeta(said.zeta()?),
        };
        if let Some(flags) = said.entry("compressionflags") {
            for flag in flags.value.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
                properties.set(flag).map_err(|sentence| Fault::line(flags.line, sentence))?;
            }
        }
        Ok(properties)
    }

    /// Sets the code that a flag names: `OUTDEGREES_DELTA`.
    fn set(&mut self, flag: &str) -> Result<(), String> {
        let (of, code) = flag.rsplit_once('_').unwrap_or((flag, ""));
        let code = match code {
            "GAMMA" => Some(Code::Gamma),
            "DELTA" => Some(Code::Delta),
            "UNARY" => Some(Code::Unary),
            // Of which zetak says more.
            "ZETA" if of == "RESIDUALS" => Some(self.residuals),
            _ => None,
        };
        let place = match of {
            "OUTDEGREES" => Some(&mut self.outdegrees),
            "REFERENCES" => Some(&mut self.references),
            "BLOCK_COUNT" => Some(&mut self.block_counts),
            "BLOCKS" => Some(&mut self.blocks),
            "RESIDUALS" => Some(&mut self.residuals),
            // They are in a file of their own.
            "OFFSETS" => return Ok(()),
            _ => None,
        };
        let (Some(place), Some(code)) = (place, code) else {
            return Err(format!(
                "compressionflags has `{flag}`: expected OUTDEGREES, REFERENCES, BLOCK_COUNT, BLOCKS or RESIDUALS with \
                 _GAMMA, _DELTA, _UNARY or, of residuals, _ZETA; store the graph with WebGraph's default codes"
            ));
        };
        *place = code;
        Ok(())
    }
}

/// The entries of a text.
struct Said<'a>(&'a [u8]);

/// An entry.
struct Entry {
    line: u64,
    key: &'static str,
    value: String,
}

impl Said<'_> {
    /// The last that a key has, as Java has it.
    fn entry(&self, key: &'static str) -> Option<Entry> {
        let (line, _, value) = entries(self.0).filter(|(_, k, _)| *k == key.as_bytes()).last()?;
        Some(Entry { line, key, value: String::from_utf8_lossy(value).into_owned() })
    }

    fn must(&self, key: &'static str) -> Result<Entry, Fault> {
        let sentence = || format!("expected a line `{key}=…`, as WebGraph's properties have it");
        self.entry(key).ok_or_else(|| Fault::whole(sentence()))
    }

    fn zeta(&self) -> Result<u32, Fault> {
        let shrinking = self.entry("zetak").map_or(Ok(3), |entry| entry.number(1, 32))?;
        Ok(shrinking as u32)
    }
}

impl Entry {
    fn number(&self, least: u64, most: u64) -> Result<u64, Fault> {
        let number = self.value.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            let Entry { key, value, .. } = self;
            let sentence =
                format!("{key} is `{value}`: expected an integer from {least} to {most}");
            Fault::line(self.line, sentence)
        })
    }
}
