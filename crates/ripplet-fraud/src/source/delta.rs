//! Files of a Delta Lake table, according to its log.
//!
//! A folder with a folder `_delta_log` is a table. The log has a JSON file for each version, and now and then a checkpoint
//! in Parquet: all actions that count up to its version. The table's files are those that the newest complete checkpoint
//! and the versions after it add and do not remove.
//!
//! | of the protocol | read |
//! |---|---|
//! | reader versions 1 and 2 | yes |
//! | reader version 3 | with the features `timestampNtz` and `vacuumProtocolCheck` alone |
//! | deletion vectors, column mapping, checkpoints of form V2, all other features | refused by their names |
//!
//! Files are ordered by the values of the partition columns, then by the time at which they were written, then by
//! path. Columns of the table's schema that a file lacks are null there: they were added later.
//!
//! Memory: the log's list of files. References: the Delta Transaction Log Protocol,
//! <https://github.com/delta-io/delta/blob/master/PROTOCOL.md>.

use super::SourceError;
use super::data_file::DataFile;
use super::decode::texts;
use super::partitions::{Partition, ranked, unescaped};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, StructArray};
use ripplet_io::tables::TableFile;
use ripplet_io::{Format, read_small_text};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Folder of the log.
const LOG: &str = "_delta_log";
/// Most bytes of a version of the log.
const MOST_BYTES: u64 = 1 << 30;
/// Features of readers that change nothing about how these files are read.
const FEATURES: [&str; 2] = ["timestampNtz", "vacuumProtocolCheck"];
/// Digits of a version in the name of a file.
const DIGITS: usize = 20;

/// Whether a folder is a Delta table.
pub(super) fn is_table(folder: &Path) -> bool {
    folder.join(LOG).is_dir()
}

/// Returns the files of a table's newest version, in the order of their rows.
///
/// # Errors
/// If the log is damaged, or the table uses a part of the protocol that is not read.
pub(super) fn files_of(folder: &Path) -> Result<Vec<DataFile>, SourceError> {
    let log = Log::list(&folder.join(LOG))?;
    let mut table = TableState::default();
    let of = |path: &Path| {
        let path = path.display().to_string();
        move |why: String| SourceError::Delta { table: path.clone(), why }
    };
    if let Some((_, parts)) = &log.checkpoint {
        for part in parts {
            table.read_checkpoint(part)?;
        }
    }
    for (_, path) in &log.versions {
        let text = read_small_text(path, MOST_BYTES, "a version of a Delta table's log")?;
        for (line, action) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let action: Action = serde_json::from_str(action)
                .map_err(|error| of(path)(format!("line {}: {error}", line + 1)))?;
            table.apply(action).map_err(of(path))?;
        }
    }
    table.files(folder).map_err(of(folder))
}

/// Files of a log that count.
#[derive(Debug)]
struct Log {
    /// The newest complete checkpoint: its version and its parts.
    checkpoint: Option<(u64, Vec<PathBuf>)>,
    /// Versions after it, without a gap.
    versions: Vec<(u64, PathBuf)>,
}

impl Log {
    fn list(folder: &Path) -> Result<Log, SourceError> {
        let failed = |why: String| SourceError::Delta { table: folder.display().to_string(), why };
        let mut versions = BTreeMap::new();
        // By version and number of parts: the parts.
        let mut checkpoints: BTreeMap<(u64, u64), BTreeMap<u64, PathBuf>> = BTreeMap::new();
        let mut is_v2 = false;
        for entry in std::fs::read_dir(folder).map_err(|error| failed(error.to_string()))? {
            let path = entry.map_err(|error| failed(error.to_string()))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let words: Vec<&str> = name.split('.').collect();
            let Some(version) = words.first().and_then(|word| number(word, DIGITS)) else {
                continue;
            };
            match words[1..] {
                ["json"] => {
                    versions.insert(version, path);
                }
                ["checkpoint", "parquet"] => {
                    checkpoints.entry((version, 1)).or_default().insert(1, path);
                }
                ["checkpoint", part, of, "parquet"] => {
                    if let (Some(part), Some(of)) = (number(part, 10), number(of, 10)) {
                        checkpoints.entry((version, of)).or_default().insert(part, path);
                    }
                }
                ["checkpoint", ..] => is_v2 = true,
                _ => {}
            }
        }
        let is_whole = |((_, of), parts): &(&(u64, u64), &BTreeMap<u64, PathBuf>)| {
            parts.len() as u64 == *of && parts.keys().copied().eq(1..=*of)
        };
        let newest = checkpoints.iter().rev().find(is_whole);
        let checkpoint =
            newest.map(|((version, _), parts)| (*version, parts.values().cloned().collect()));
        let first = checkpoint
            .as_ref()
            .map_or(Some(0), |(version, _): &(u64, Vec<PathBuf>)| version.checked_add(1));
        let versions: Vec<(u64, PathBuf)> = match first {
            Some(first) => {
                versions.range(first..).map(|(version, path)| (*version, path.clone())).collect()
            }
            None => Vec::new(),
        };
        for (at, (version, path)) in versions.iter().enumerate() {
            let expected = first.unwrap_or(0).saturating_add(at as u64);
            if *version != expected {
                let hint = match (is_v2, checkpoint.is_some()) {
                    (true, false) => "; its checkpoint is of form V2, which is not read",
                    _ => "",
                };
                return Err(failed(format!(
                    "version {expected} is missing before {}{hint}",
                    path.file_name().unwrap_or_default().to_string_lossy()
                )));
            }
        }
        if versions.is_empty() && checkpoint.is_none() {
            return Err(failed(
                "it has no version: this is no Delta table, or its log was not copied".into(),
            ));
        }
        Ok(Log { checkpoint, versions })
    }
}

/// Returns a number of exactly these many digits.
fn number(text: &str, digits: usize) -> Option<u64> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Line of a version. Other actions do not concern readers.
#[derive(Deserialize)]
struct Action {
    protocol: Option<Protocol>,
    #[serde(rename = "metaData")]
    metadata: Option<Metadata>,
    add: Option<Add>,
    remove: Option<Remove>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Protocol {
    min_reader_version: i64,
    reader_features: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    format: Option<FileFormat>,
    schema_string: String,
    partition_columns: Vec<String>,
    configuration: Option<BTreeMap<String, Option<String>>>,
}

#[derive(Deserialize)]
struct FileFormat {
    provider: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Add {
    path: String,
    partition_values: BTreeMap<String, Option<String>>,
    modification_time: i64,
    deletion_vector: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Remove {
    path: String,
}

/// Schema of a table: the names of its columns.
#[derive(Deserialize)]
struct TableSchema {
    fields: Vec<SchemaField>,
}

#[derive(Deserialize)]
struct SchemaField {
    name: String,
}

/// What is known of a table up to a version.
#[derive(Default)]
struct TableState {
    has_protocol: bool,
    /// Columns, and those of partitions.
    columns: Option<(Arc<[String]>, Vec<String>)>,
    /// Files by their path in the log.
    files: BTreeMap<String, (BTreeMap<String, Option<String>>, i64)>,
}

impl TableState {
    fn apply(&mut self, action: Action) -> Result<(), String> {
        let Action { protocol, metadata, add, remove } = action;
        if let Some(Protocol { min_reader_version, reader_features }) = protocol {
            self.take_protocol(min_reader_version, &reader_features.unwrap_or_default())?;
        }
        if let Some(metadata) = metadata {
            self.take_metadata(metadata)?;
        }
        if let Some(Add { path, partition_values, modification_time, deletion_vector }) = add {
            if deletion_vector.is_some() {
                return Err(unread("deletion vectors"));
            }
            self.files.insert(path, (partition_values, modification_time));
        }
        if let Some(Remove { path }) = remove {
            self.files.remove(&path);
        }
        Ok(())
    }

    fn take_protocol(&mut self, version: i64, features: &[String]) -> Result<(), String> {
        self.has_protocol = true;
        match version {
            1 | 2 => Ok(()),
            3 => match features.iter().find(|feature| !FEATURES.contains(&&***feature)) {
                Some(feature) => Err(unread(&format!("the reader feature `{feature}`"))),
                None => Ok(()),
            },
            _ => Err(unread(&format!("reader version {version} of the protocol"))),
        }
    }

    fn take_metadata(&mut self, metadata: Metadata) -> Result<(), String> {
        let Metadata { format, schema_string, partition_columns, configuration } = metadata;
        if let Some(FileFormat { provider }) = format.filter(|format| format.provider != "parquet")
        {
            return Err(unread(&format!("files of the format `{provider}`")));
        }
        let mode = configuration.as_ref().and_then(|all| all.get("delta.columnMapping.mode"));
        match mode.and_then(Option::as_deref) {
            None | Some("none") => {}
            Some(mode) => return Err(unread(&format!("column mapping by {mode}"))),
        }
        let schema: TableSchema = serde_json::from_str(&schema_string)
            .map_err(|error| format!("its schema cannot be read: {error}"))?;
        let columns = schema.fields.into_iter().map(|field| field.name).collect();
        self.columns = Some((columns, partition_columns));
        Ok(())
    }

    /// Reads a part of a checkpoint.
    fn read_checkpoint(&mut self, path: &Path) -> Result<(), SourceError> {
        let failed = |why: String| SourceError::Delta { table: path.display().to_string(), why };
        let file = TableFile::open(path, Format::Parquet)?;
        let names: Vec<&str> = file.schema().fields().iter().map(|field| &**field.name()).collect();
        let wanted: Vec<usize> = (0..names.len())
            .filter(|&at| ["protocol", "metaData", "add"].contains(&names[at]))
            .collect();
        for rows in file.batches(&wanted)? {
            let batch = rows?.batch;
            let column = |name: &str| batch.column_by_name(name).and_then(|c| c.as_struct_opt());
            if let Some(protocols) = column("protocol") {
                self.checkpoint_protocols(protocols).map_err(failed)?;
            }
            if let Some(metadata) = column("metaData") {
                self.checkpoint_metadata(metadata).map_err(failed)?;
            }
            if let Some(adds) = column("add") {
                self.checkpoint_adds(adds).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn checkpoint_protocols(&mut self, rows: &StructArray) -> Result<(), String> {
        let versions = child(rows, "minReaderVersion")?;
        let versions = versions.as_primitive_opt::<Int32Type>();
        let versions = versions.ok_or("`protocol.minReaderVersion` is no number of 32 bits")?;
        let features = rows.column_by_name("readerFeatures");
        for row in valid(rows) {
            let of_row = |lists: &ArrayRef| -> Result<Vec<String>, String> {
                let lists =
                    lists.as_list_opt::<i32>().ok_or("`protocol.readerFeatures` is no list")?;
                if lists.is_null(row) {
                    return Ok(Vec::new());
                }
                let all =
                    texts(&lists.value(row)).ok_or("`protocol.readerFeatures` has no texts")?;
                Ok(all.iter().flatten().map(str::to_owned).collect())
            };
            let features = features.map(of_row).transpose()?.unwrap_or_default();
            self.take_protocol(versions.value(row).into(), &features)?;
        }
        Ok(())
    }

    fn checkpoint_metadata(&mut self, rows: &StructArray) -> Result<(), String> {
        let schemas = string_child(rows, "schemaString")?;
        let partitions = child(rows, "partitionColumns")?;
        let partitions = partitions.as_list_opt::<i32>();
        let partitions = partitions.ok_or("`metaData.partitionColumns` is no list")?;
        let configuration = rows.column_by_name("configuration");
        let format = rows.column_by_name("format").and_then(|format| format.as_struct_opt());
        let providers = format.and_then(|format| format.column_by_name("provider")).and_then(texts);
        for row in valid(rows) {
            let columns =
                texts(&partitions.value(row)).ok_or("`metaData.partitionColumns` has no texts")?;
            let provider = providers.as_ref().filter(|all| !all.is_null(row));
            self.take_metadata(Metadata {
                format: provider.map(|all| FileFormat { provider: all.value(row).to_owned() }),
                schema_string: schemas.value(row).to_owned(),
                partition_columns: columns.iter().flatten().map(str::to_owned).collect(),
                configuration: configuration.map(|maps| map_of(maps, row)).transpose()?,
            })?;
        }
        Ok(())
    }

    fn checkpoint_adds(&mut self, rows: &StructArray) -> Result<(), String> {
        let paths = string_child(rows, "path")?;
        let values = child(rows, "partitionValues")?;
        let times = child(rows, "modificationTime")?;
        let times = times.as_primitive_opt::<Int64Type>();
        let times = times.ok_or("`add.modificationTime` is no number of 64 bits")?;
        let vectors = rows.column_by_name("deletionVector");
        for row in valid(rows) {
            if vectors.is_some_and(|vectors| vectors.is_valid(row)) {
                return Err(unread("deletion vectors"));
            }
            let of = (map_of(values, row)?, times.value(row));
            self.files.insert(paths.value(row).to_owned(), of);
        }
        Ok(())
    }

    /// Returns the files in the order of their rows.
    fn files(self, folder: &Path) -> Result<Vec<DataFile>, String> {
        if !self.has_protocol {
            return Err("its log says no version of the protocol".into());
        }
        let (schema, columns) = self.columns.ok_or("its log has no schema (`metaData`)")?;
        let mut all = Vec::new();
        for (path, (values, time)) in self.files {
            let place = place_of(&path)
                .ok_or_else(|| unread(&format!("the file `{path}`, which is not in its folder")))?;
            let of = |key: &String| {
                // Both stand for null.
                let value = values.get(key).cloned().flatten().filter(|value| !value.is_empty());
                Partition { key: key.clone(), value }
            };
            let partitions: Vec<Partition> = columns.iter().map(of).collect();
            let path = folder.join(place);
            if !path.is_file() {
                return Err(format!(
                    "the file {} is missing, which its log has: copy the whole table, or restore the file",
                    path.display()
                ));
            }
            let schema = Some(schema.clone());
            all.push((time, DataFile { path, partitions, schema, table: Some(folder.into()) }));
        }
        all.sort_by(|(time, one), (other_time, other)| {
            let values = |file: &'_ DataFile| -> Vec<Option<(bool, usize, String)>> {
                let of = |text: &String| {
                    let (kind, digits, text) = ranked(text);
                    (kind, digits, text.to_owned())
                };
                file.partitions.iter().map(|partition| partition.value.as_ref().map(of)).collect()
            };
            let by_value = values(one).cmp(&values(other));
            by_value.then(time.cmp(other_time)).then_with(|| one.path.cmp(&other.path))
        });
        Ok(all.into_iter().map(|(_, file)| file).collect())
    }
}

/// Returns the sentence that refuses a part of the protocol.
fn unread(what: &str) -> String {
    format!(
        "it uses {what}, which is not read: write the table again without, or name its current Parquet files yourself"
    )
}

/// Returns the path of a file in a table's folder; `None` if it is elsewhere.
fn place_of(path: &str) -> Option<PathBuf> {
    let plain = unescaped(path);
    let place = PathBuf::from(&plain);
    let is_inside = place.components().all(|part| matches!(part, Component::Normal(_)));
    let is_address = plain.split('/').next().is_some_and(|first| first.ends_with(':'));
    (is_inside && !is_address && !plain.is_empty() && !plain.contains('\0')).then_some(place)
}

fn valid(rows: &StructArray) -> impl Iterator<Item = usize> + '_ {
    (0..rows.len()).filter(|&row| rows.is_valid(row))
}

fn child<'a>(rows: &'a StructArray, name: &str) -> Result<&'a ArrayRef, String> {
    rows.column_by_name(name).ok_or_else(|| format!("it has no column `{name}`"))
}

fn string_child(rows: &StructArray, name: &str) -> Result<arrow_array::StringArray, String> {
    texts(child(rows, name)?).ok_or_else(|| format!("its column `{name}` has no texts"))
}

/// Returns a map of texts in a row; an absent one is empty.
fn map_of(column: &ArrayRef, row: usize) -> Result<BTreeMap<String, Option<String>>, String> {
    let wrong = "a map of its checkpoint has no texts";
    let maps = column.as_map_opt().ok_or(wrong)?;
    if maps.is_null(row) {
        return Ok(BTreeMap::new());
    }
    let entries = maps.value(row);
    let [keys, values] = entries.columns() else { return Err(wrong.into()) };
    let (keys, values) = (texts(keys).ok_or(wrong)?, texts(values).ok_or(wrong)?);
    let pairs = keys.iter().zip(values.iter());
    Ok(pairs.filter_map(|(key, value)| Some((key?.to_owned(), value.map(str::to_owned)))).collect())
}
