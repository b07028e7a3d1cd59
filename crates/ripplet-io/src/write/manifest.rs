//! The manifest of a table in parts.
//!
//! `manifest.json` is written after all parts: a folder or a prefix without it is not whole. docs/communities.md describes it.

use super::column::ColumnType;
use super::refused;
use crate::source::{Pace, Source};
use crate::{Format, Place, ReadError};
use ripplet_graph::ExternalId;
use serde_json::Value;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Name of the manifest.
pub(super) const MANIFEST: &str = "manifest.json";
/// The value of `format`.
const FORMAT: &str = "ripplet-parts";
/// The version of the manifest; a reader only reads its own.
const VERSION: u64 = 1;
/// The most bytes of a manifest that are read: some hundred thousand parts.
const LARGEST: u64 = 64 << 20;

/// A manifest.
#[derive(Debug)]
pub(super) struct Manifest {
    format: Format,
    columns: Vec<ManifestColumn>,
    parts: Vec<PartRecord>,
}

/// A column of the table.
#[derive(Clone, Debug)]
pub(super) struct ManifestColumn {
    name: String,
    /// The type, as Arrow calls it.
    kind: &'static str,
}

/// A part, as the manifest has it.
#[derive(Clone, Debug, PartialEq)]
pub struct PartRecord {
    /// Name of the file or the object in the folder.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Ids of the vertices of the first and of the last row; null without rows.
    ends: [Value; 2],
}

impl PartRecord {
    pub(super) fn new(
        name: String,
        [rows, bytes]: [u64; 2],
        ends: Option<[ExternalId<'_>; 2]>,
    ) -> PartRecord {
        let value = |id: ExternalId<'_>| match id {
            ExternalId::Unsigned(id) => id.into(),
            ExternalId::Signed(id) => id.into(),
            ExternalId::Name(name) => name.into(),
        };
        let ends = ends.map_or([Value::Null, Value::Null], |ends| ends.map(value));
        PartRecord { name, rows, bytes, ends }
    }

    /// Returns the record as a line of JSON, which [`PartRecord::parse`] reads: ranks send it to each other.
    pub fn to_line(&self) -> String {
        let PartRecord { name, rows, bytes, ends: [first, last] } = self;
        let name = Value::from(name.as_str());
        format!(
            "{{\"name\": {name}, \"rows\": {rows}, \"bytes\": {bytes}, \"first\": {first}, \"last\": {last}}}"
        )
    }

    /// Reads what [`PartRecord::to_line`] returned; `None` of anything else.
    pub fn parse(line: &str) -> Option<PartRecord> {
        PartRecord::of(&serde_json::from_str(line).ok()?)
    }

    fn of(value: &Value) -> Option<PartRecord> {
        Some(PartRecord {
            name: value.get("name")?.as_str()?.into(),
            rows: value.get("rows")?.as_u64()?,
            bytes: value.get("bytes")?.as_u64()?,
            ends: [value.get("first")?.clone(), value.get("last")?.clone()],
        })
    }
}

impl ManifestColumn {
    pub(super) fn new(name: &str, kind: ColumnType) -> ManifestColumn {
        let kind = match kind {
            ColumnType::U64 => "UInt64",
            ColumnType::I64 => "Int64",
            ColumnType::Text => "Utf8",
            ColumnType::U32 => "UInt32",
            ColumnType::F32 => "Float32",
            ColumnType::F64 => "Float64",
            ColumnType::Bool => "Boolean",
        };
        ManifestColumn { name: name.into(), kind }
    }
}

impl Manifest {
    pub(super) fn new(
        format: Format,
        columns: Vec<ManifestColumn>,
        parts: Vec<PartRecord>,
    ) -> Manifest {
        Manifest { format, columns, parts }
    }

    #[cfg(feature = "object-storage")]
    pub(super) fn parts(&self) -> &[PartRecord] {
        &self.parts
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> String {
        let column = |ManifestColumn { name, kind }: &ManifestColumn| {
            let name = Value::from(name.as_str());
            format!("    {{\"name\": {name}, \"type\": \"{kind}\"}}")
        };
        let part = |part: &PartRecord| format!("    {}", part.to_line());
        let columns: Vec<String> = self.columns.iter().map(column).collect();
        let parts: Vec<String> = self.parts.iter().map(part).collect();
        let rows: u64 = self.parts.iter().map(|part| part.rows).sum();
        format!(
            "{{\n  \"format\": \"{FORMAT}\",\n  \"version\": {VERSION},\n  \"ripplet\": \"{}\",\n  \"parts_format\": \"{}\",\n  \
             \"columns\": [\n{}\n  ],\n  \"rows\": {rows},\n  \"parts\": [\n{}\n  ]\n}}\n",
            env!("CARGO_PKG_VERSION"),
            self.format.name(),
            columns.join(",\n"),
            parts.join(",\n")
        )
    }
}

/// Returns the parts of a table in a folder or under a prefix, in order, and their format.
///
/// # Errors
/// If there is no manifest, it is not valid, or a part is missing or has another size.
pub(crate) fn parts_in(folder: &Path) -> Result<(Vec<PathBuf>, Format), ReadError> {
    let path = folder.join(MANIFEST);
    let wrong = |sentence: String| ReadError::content(&path, Place::File, sentence);
    let source = Source::of(&path).map_err(|error| without_manifest(folder, error))?;
    let mut text = String::new();
    let read = source
        .reader(0..LARGEST + 1, Pace::First)
        .and_then(|mut reader| reader.read_to_string(&mut text));
    read.map_err(|error| without_manifest(folder, ReadError::io(&path, Place::File, error)))?;
    let manifest: Value = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("it is no manifest of a table in parts: {error}")))?;
    let text = |field: &str| manifest.get(field).and_then(Value::as_str);
    let version = manifest.get("version").and_then(Value::as_u64);
    if text("format") != Some(FORMAT) || version != Some(VERSION) {
        let sentence = format!("it has another format than `{FORMAT}`, version {VERSION}");
        return Err(wrong(sentence));
    }
    let format =
        text("parts_format").and_then(Format::of_name).filter(|format| format.is_listing());
    let format = format.ok_or_else(|| wrong("it names no format of tables".into()))?;
    let listed = manifest.get("parts").and_then(Value::as_array);
    let listed: Option<Vec<PartRecord>> =
        listed.and_then(|parts| parts.iter().map(PartRecord::of).collect());
    let listed = listed.ok_or_else(|| wrong("it has no list of parts".into()))?;
    let mut parts = Vec::new();
    for part in &listed {
        // A name may lead to no other folder.
        if part.name.is_empty() || part.name.contains(['/', '\\']) || part.name.starts_with('.') {
            return Err(wrong(format!("`{}` is no name of a part", part.name)));
        }
        let path = folder.join(&part.name);
        let size =
            Source::of(&path)?.size().map_err(|error| ReadError::io(&path, Place::File, error))?;
        if size != part.bytes {
            let sentence = format!(
                "it has {size} bytes, and the manifest says {}: copy the folder again",
                part.bytes
            );
            return Err(ReadError::content(&path, Place::File, sentence));
        }
        parts.push(path);
    }
    Ok((parts, format))
}

/// Says that a folder without a manifest is none of parts.
fn without_manifest(folder: &Path, error: ReadError) -> ReadError {
    match &error.kind {
        crate::ReadErrorKind::Io(io) if io.kind() == io::ErrorKind::NotFound => {
            let sentence = format!(
                "it has no {MANIFEST}, and so is no whole table in parts: name a file, or the parts by a pattern in quotes, \
                 such as …/*.parquet"
            );
            ReadError::io(folder, Place::File, io::Error::new(io::ErrorKind::NotFound, sentence))
        }
        _ => error,
    }
}

/// Rejects a format that is no table.
pub(super) fn check_format(format: Format) -> io::Result<Format> {
    match format.is_listing() {
        true => Ok(format),
        false => Err(refused(format!(
            "a folder of parts holds a table, and {} is a whole graph: give --to parquet, csv, tsv, jsonl, arrow or \
             edgelist, or name a file",
            format.name()
        ))),
    }
}
