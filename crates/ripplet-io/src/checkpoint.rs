//! `.checkpoint`, a run of label propagation between two rounds: the arrays from which it resumes.
//!
//! ```text
//! 0         header, 64 bytes: magic [u8; 8], version u32, zeros
//! 64        the only part
//!           index: begin u64, length u64
//! end - 64  footer: begin of the index u64, zeros, then as in `parts.rs`
//!
//! part      0 header, 128 bytes, below
//!           128 sections, each from a multiple of 64: the run, as UTF-8; the rounds, u64; labels, u32;
//!           active vertices, u64; lengths of columns, u64; columns, u32
//!           data_end checksums of the part, as an .rg has them
//!
//! header    0 data_end u64  8 bytes of the run u64  16 words of the rounds u64  24 labels u64
//! of a part 32 words of active vertices u64  40 columns u64  48 zeros
//! ```
//!
//! Numbers are little-endian. This crate does not interpret the run and its rounds: they are a text and
//! words.
//!
//! In [object storage](Folder), the bytes of such a file are several objects.
//!
//! **Reading** memory-maps the file and copies only the text. Every byte is under a verified checksum, so a
//! truncated or damaged file is an error. **Writing** is atomic, and needs only 4 bytes of memory for each
//! MiB.

mod folder;

pub use folder::Folder;

use crate::map::map;
use crate::output::left_in;
use crate::parts::{
    Format, Index, Owner, PART_HEADER_BYTES, Part, PartsWriter, damaged_part, data_end,
    out_of_memory,
};
use crate::sections::word;
use crate::{ReadError, WriteError};
use ripplet_graph::{Buffer, memory};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

const FORMAT: Format =
    Format { name: "a checkpoint", parts: "parts", magic: *b"\x89rpcheck", version: 1, entry: 2 };

/// Description of the only part in an error.
const WHAT: &str = "the state";

/// State of a run between two rounds, to be written.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// Identity of the run.
    pub run: &'a str,
    /// Statistics of its rounds.
    pub rounds: &'a [u64],
    /// Label of each vertex.
    pub labels: &'a [u32],
    /// A bit for each vertex: whether it is active.
    pub active: &'a [u64],
    /// Values of the program's columns.
    pub columns: &'a [&'a [u32]],
}

/// State of a run between two rounds, as read; the arrays lie in the mapped file.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedState {
    /// See [`State::run`].
    pub run: String,
    /// See [`State::rounds`].
    pub rounds: Buffer<u64>,
    /// See [`State::labels`].
    pub labels: Buffer<u32>,
    /// See [`State::active`].
    pub active: Buffer<u64>,
    /// See [`State::columns`].
    pub columns: Vec<Buffer<u32>>,
}

/// Writes a checkpoint atomically.
///
/// # Errors
/// If the operating system refuses; an earlier file at `path` is unchanged then.
pub fn write(path: &Path, state: &State<'_>) -> Result<(), WriteError> {
    write_to(PartsWriter::create(&FORMAT, path)?, state).map(drop)
}

/// Writes a checkpoint, and finishes the file; returns its bytes.
fn write_to(mut writer: PartsWriter, state: &State<'_>) -> Result<u64, WriteError> {
    let State { run, rounds, labels, active, columns } = *state;
    let lengths: Vec<u64> = columns.iter().map(|values| values.len() as u64).collect();
    let mut sections: Vec<&[u8]> = vec![
        run.as_bytes(),
        bytemuck::cast_slice(rounds),
        bytemuck::cast_slice(labels),
        bytemuck::cast_slice(active),
        bytemuck::cast_slice(&lengths),
    ];
    sections.extend(columns.iter().map(|values| bytemuck::cast_slice::<u32, u8>(values)));
    let mut head = [0u64; PART_HEADER_BYTES as usize / 8];
    let sizes = [run.len(), rounds.len(), labels.len(), active.len(), columns.len()];
    head[0] = data_end(&sections);
    head[1..6].copy_from_slice(&sizes.map(|size| size as u64));
    let written = writer.part(bytemuck::cast_ref(&head), &sections);
    let part = written.map_err(|source| writer.error(source))?;
    writer.finish(&part, [0; 6])
}

/// Opens a checkpoint, memory-mapped.
///
/// Cost: one pass for the checksums, on rayon's current pool.
///
/// # Errors
/// If the file cannot be read, is no checkpoint of this version, or is damaged in any byte.
pub fn open(path: &Path) -> Result<SavedState, ReadError> {
    let map = map(path)?;
    from_bytes(Arc::new(map), path)
}

/// Opens a checkpoint that lies in `owner`'s bytes; `path` is for errors.
///
/// # Errors
/// See [`open`].
pub fn from_bytes(owner: Owner, path: &Path) -> Result<SavedState, ReadError> {
    let footer = |[_, rest @ ..]: [u64; 6]| (rest == [0; 5]).then_some(((), 1));
    let Index { parts, .. } = FORMAT.index((*owner).as_ref(), path, footer)?;
    let begin = parts[0].start;
    let (mut part, head) = Part::open(&owner, path, parts[0].clone(), WHAT)?;
    let misfit = || damaged_part(path, WHAT, begin, "its arrays do not fit its header");
    if (6..16).any(|at| word(head, at) != 0) {
        return Err(misfit());
    }
    let kept = sections(&mut part, [1, 2, 3, 4, 5].map(|at| word(head, at)));
    let kept = kept.map_err(|refused| out_of_memory(path, refused))?;
    kept.filter(|_| part.is_taken()).ok_or_else(misfit)
}

/// Returns the sections of a part of these sizes, if it has them.
fn sections(
    part: &mut Part<'_>,
    [run, rounds, labels, active, columns]: [u64; 5],
) -> Result<Option<SavedState>, memory::OutOfMemory> {
    let mut first = || {
        let run: Buffer<u8> = part.section(run)?;
        let (rounds, labels) = (part.section(rounds)?, part.section(labels)?);
        let (active, lengths): (_, Buffer<u64>) = (part.section(active)?, part.section(columns)?);
        Some((run, rounds, labels, active, lengths))
    };
    let Some((run, rounds, labels, active, lengths)) = first() else { return Ok(None) };
    let Ok(run) = String::from_utf8(memory::copied(&run)?) else { return Ok(None) };
    let mut columns = memory::with_room(lengths.len())?;
    for &length in lengths.iter() {
        let Some(values) = part.section(length) else { return Ok(None) };
        columns.push(values);
    }
    Ok(Some(SavedState { run, rounds, labels, active, columns }))
}

/// Removes the temporary files of killed writers from a folder. A checkpoint that is being written there at
/// this moment fails.
///
/// # Errors
/// If the folder cannot be listed; a file that cannot be read or removed is left.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for path in left_in(folder)? {
        let mut begin = Vec::new();
        let read = File::open(&path).map(|file| file.take(8).read_to_end(&mut begin));
        // The file may be empty: nothing of it may have reached the disk.
        let is_ours = begin.is_empty() || begin == FORMAT.magic;
        if matches!(read, Ok(Ok(_))) && is_ours {
            // A failure costs only disk space.
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}
