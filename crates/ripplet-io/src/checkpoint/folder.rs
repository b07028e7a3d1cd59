//! Folders of checkpoints, on a disk and in object storage.
//!
//! ```text
//! disk            round-0000000012.checkpoint                 the file, which is renamed when it is complete
//! object storage  round-0000000012.checkpoint                 an index in JSON, written last: bytes, bytes of a part, name of the parts
//!                 round-0000000012.parts/NAME-000000, …       the bytes of such a file, 8 MiB each
//! ```
//!
//! Parts without an index are of a writer that was killed: opening the folder removes them. Of a checkpoint that is removed, the
//! index goes first.

use super::{SavedState, State, open, remove_leftovers, write_to};
use crate::address::{check_output_address, is_remote};
use crate::output::AtomicFile;
use crate::parts::PartsWriter;
use crate::{Place, ReadError, WriteError};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// File names: `round-0000000012.checkpoint` is the checkpoint after 12 rounds.
const PREFIX: &str = "round-";
const SUFFIX: &str = ".checkpoint";

/// A folder of checkpoints, each with the number of a round.
///
/// # Examples
/// ```
/// use ripplet_io::checkpoint::{Folder, State};
///
/// # let folder = tempfile::tempdir()?;
/// let folder = Folder::open(&folder.path().join("checkpoints"))?;
/// let state = State { run: "lpa", rounds: &[], labels: &[0, 0], active: &[0b11], columns: &[] };
/// folder.write(7, &state)?;
/// assert_eq!(folder.rounds()?, [7]);
/// assert_eq!(folder.read(7)?.labels[..], [0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Folder {
    place: PathBuf,
}

impl Folder {
    /// Opens a folder, and creates it if it is missing. Removes what killed writers have left.
    ///
    /// A file or an object is written and removed, so that missing rights are found at once.
    ///
    /// # Errors
    /// If the path is not a folder, or the folder cannot be created, listed or written.
    pub fn open(place: &Path) -> Result<Folder, WriteError> {
        let folder = Folder { place: place.into() };
        match is_remote(place) {
            true => {
                check_output_address(place)?;
                #[cfg(feature = "object-storage")]
                objects::open(place).map_err(|source| WriteError { path: place.into(), source })?;
            }
            false => {
                let made = match fs::create_dir(place) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
                    _ => remove_leftovers(place),
                };
                let made = made.and_then(|()| {
                    let file = AtomicFile::create(&folder.path(0));
                    file.map(drop).map_err(|error| error.source)
                });
                made.map_err(|source| WriteError { path: place.into(), source })?;
            }
        }
        Ok(folder)
    }

    /// Returns the path or the address of the folder.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Returns the path or the address of a checkpoint.
    pub fn path(&self, round: u32) -> PathBuf {
        self.place.join(format!("{PREFIX}{round:010}{SUFFIX}"))
    }

    /// Returns the rounds of the checkpoints, the newest first.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn rounds(&self) -> Result<Vec<u32>, ReadError> {
        let listed = self.numbers();
        let mut rounds = listed.map_err(|error| ReadError::io(&self.place, Place::File, error))?;
        rounds.sort_unstable_by(|a, b| b.cmp(a));
        Ok(rounds)
    }

    fn numbers(&self) -> io::Result<Vec<u32>> {
        #[cfg(feature = "object-storage")]
        if is_remote(&self.place) {
            return objects::list(&self.place).map(|(rounds, _)| rounds);
        }
        let mut rounds = Vec::new();
        for entry in fs::read_dir(&self.place)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                rounds.extend(entry.file_name().to_str().and_then(|name| round_of(name, SUFFIX)));
            }
        }
        Ok(rounds)
    }

    /// Opens a checkpoint, memory-mapped; one in object storage is copied into a file without a name before.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged in any byte.
    pub fn read(&self, round: u32) -> Result<SavedState, ReadError> {
        let path = self.path(round);
        #[cfg(feature = "object-storage")]
        if is_remote(&path) {
            return objects::read(&self.place, round, &path);
        }
        open(&path)
    }

    /// Writes a checkpoint; returns its bytes. It replaces one of the same round.
    ///
    /// # Errors
    /// If the operating system or the server refuses; an earlier checkpoint of the round is unchanged then.
    pub fn write(&self, round: u32, state: &State<'_>) -> Result<u64, WriteError> {
        let path = self.path(round);
        #[cfg(feature = "object-storage")]
        if is_remote(&path) {
            return objects::write(&self.place, round, &path, state);
        }
        write_to(PartsWriter::create(&super::FORMAT, &path)?, state)
    }

    /// Removes a checkpoint.
    ///
    /// # Errors
    /// If the operating system or the server refuses.
    pub fn remove(&self, round: u32) -> Result<(), ReadError> {
        let path = self.path(round);
        self.remove_at(round, &path).map_err(|error| ReadError::io(path, Place::File, error))
    }

    fn remove_at(&self, round: u32, path: &Path) -> io::Result<()> {
        #[cfg(feature = "object-storage")]
        if is_remote(path) {
            return objects::remove(&self.place, round, path);
        }
        let _ = round;
        fs::remove_file(path)
    }
}

/// Returns the round in a name.
fn round_of(name: &str, suffix: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.strip_suffix(suffix)?.parse().ok()
}

/// Checkpoints in object storage.
#[cfg(feature = "object-storage")]
mod objects {
    use super::{PREFIX, SUFFIX, SavedState, State, round_of, write_to};
    use crate::checkpoint::{FORMAT, from_bytes};
    use crate::map::map_file;
    use crate::object::{self, ObjectParts, PartsUpload};
    use crate::output::Output;
    use crate::parts::PartsWriter;
    use crate::source::{Pace, Source};
    use crate::{Place, ReadError, WriteError};
    use serde_json::Value;
    use std::io::{self, ErrorKind, Read};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    /// The name of the folder of a checkpoint's parts ends so.
    const PARTS: &str = ".parts";
    /// The value of `format` in an index.
    const NAME: &str = "ripplet-checkpoint";
    /// The version of the index; a reader only reads its own.
    const VERSION: u64 = 1;
    /// The most bytes of an index that are read.
    const LARGEST: u64 = 4096;
    /// The most bytes of a part that are read: each is in memory.
    const LARGEST_PART: u64 = 64 << 20;

    fn parts_of(folder: &Path, round: u32) -> PathBuf {
        folder.join(format!("{PREFIX}{round:010}{PARTS}"))
    }

    /// Removes parts without an index, and checks that objects can be written and removed.
    pub(super) fn open(folder: &Path) -> io::Result<()> {
        let (rounds, with_parts) = list(folder)?;
        for round in with_parts.into_iter().filter(|round| !rounds.contains(round)) {
            object::remove_under(&parts_of(folder, round), None)?;
        }
        // No checkpoint is of round 0: what a process leaves that is killed here, the next one removes.
        PartsUpload::check(&parts_of(folder, 0))
    }

    /// Returns the rounds with an index, and those with parts.
    pub(super) fn list(folder: &Path) -> io::Result<(Vec<u32>, Vec<u32>)> {
        let is_one =
            |name: &str| round_of(name, SUFFIX).is_some() || round_of(name, PARTS).is_some();
        let (objects, folders) = object::list(folder, &is_one)?;
        let name =
            |object: &object::Object| object.address().file_name()?.to_str().map(str::to_owned);
        let rounds = objects.iter().filter_map(name).filter_map(|name| round_of(&name, SUFFIX));
        let with_parts = folders.iter().filter_map(|name| round_of(name, PARTS));
        Ok((rounds.collect(), with_parts.collect()))
    }

    pub(super) fn write(
        folder: &Path,
        round: u32,
        path: &Path,
        state: &State<'_>,
    ) -> Result<u64, WriteError> {
        let parts = parts_of(folder, round);
        let mut name = String::new();
        let writer = PartsWriter::of(&FORMAT, path, || {
            let output = Output::in_parts(path, &parts, index)?;
            name = output.name_of_parts().unwrap_or_default().into();
            Ok(output)
        })?;
        let bytes = write_to(writer, state)?;
        // Of a checkpoint that was damaged, and that this one replaces. Surplus objects do no harm.
        let _ = object::remove_under(&parts, Some(&name));
        Ok(bytes)
    }

    /// Returns the text of an index.
    fn index(parts: &ObjectParts) -> String {
        let ObjectParts { name, bytes, part_bytes } = parts;
        format!(
            "{{\"format\": \"{NAME}\", \"version\": {VERSION}, \"bytes\": {bytes}, \"part_bytes\": {part_bytes}, \
             \"parts\": \"{name}\"}}\n"
        )
    }

    /// Returns what an index says; a sentence if it is none.
    fn parse(text: &[u8]) -> Result<ObjectParts, String> {
        let index: Value = serde_json::from_slice(text)
            .map_err(|_| "it is no index of a checkpoint in parts".to_owned())?;
        let number = |field: &str| index.get(field).and_then(Value::as_u64);
        let text = |field: &str| index.get(field).and_then(Value::as_str);
        if text("format") != Some(NAME) || number("version") != Some(VERSION) {
            return Err(format!("it is no index `{NAME}` of version {VERSION}"));
        }
        let parts = || {
            let (bytes, part_bytes) = (number("bytes")?, number("part_bytes")?);
            let name = text("parts").filter(|name| {
                !name.is_empty() && name.bytes().all(|sign| sign.is_ascii_hexdigit())
            })?;
            (1..=LARGEST_PART).contains(&part_bytes).then(|| ObjectParts {
                name: name.into(),
                bytes,
                part_bytes,
            })
        };
        parts().ok_or_else(|| "the index of its parts is damaged".into())
    }

    /// Opens a checkpoint, whose bytes are copied into a file without a name.
    pub(super) fn read(folder: &Path, round: u32, path: &Path) -> Result<SavedState, ReadError> {
        let failed = |error| ReadError::io(path, Place::File, error);
        let mut text = Vec::new();
        let reader = Source::of(path)?.reader(0..LARGEST + 1, Pace::First);
        reader.and_then(|mut reader| reader.read_to_end(&mut text)).map_err(failed)?;
        let content = |sentence| ReadError::content(path, Place::File, sentence);
        let parts = parse(&text).map_err(content)?;
        let copy = parts.copy(&parts_of(folder, round)).map_err(|error| match error.kind() {
            ErrorKind::NotFound => content("a part of it is not there".into()),
            ErrorKind::UnexpectedEof => content(error.to_string()),
            _ => failed(error),
        })?;
        from_bytes(Arc::new(map_file(copy).map_err(failed)?), path)
    }

    /// Removes a checkpoint: the index first, so that there is none whose parts are missing.
    pub(super) fn remove(folder: &Path, round: u32, path: &Path) -> io::Result<()> {
        object::remove(path)?;
        object::remove_under(&parts_of(folder, round), None)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn an_index_is_read_as_it_was_written_and_no_other() {
            let parts = ObjectParts { name: "00ff".into(), bytes: 1 << 40, part_bytes: 8 << 20 };
            let text = index(&parts);
            assert_eq!(parse(text.as_bytes()), Ok(parts));
            for (from, to) in [
                ("checkpoint", "parts"),
                ("\"version\": 1", "\"version\": 2"),
                ("\"bytes\": 1", "\"bytes\": -1"),
                ("\"part_bytes\": 8388608", "\"part_bytes\": 0"),
                ("\"part_bytes\": 8388608", "\"part_bytes\": 99999999999"),
                ("00ff", "../00ff"),
                ("00ff", ""),
                ("{", ""),
            ] {
                assert_ne!(text.replacen(from, to, 1), text);
                assert!(parse(text.replacen(from, to, 1).as_bytes()).is_err(), "{from} {to}");
            }
            assert!(parse(b"\xff").is_err());
        }
    }
}
