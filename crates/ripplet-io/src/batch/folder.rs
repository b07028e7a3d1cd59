//! Reads a folder of files that are a graph each.

use super::members::{FILE, Member, SkippedFiles, batch, graph_id, no_graphs, sort};
use super::{BatchOptions, ReadLog, Source, share};
use crate::small::check_plain;
use crate::{Place, ReadError, read_edges_with_summary};
use ripplet_graph::batch::GraphBatch;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files that are left to read.
pub(super) struct Folder {
    path: PathBuf,
    options: BatchOptions,
    /// Files by id.
    members: Vec<Member<OsString>>,
    skipped_files: SkippedFiles,
    next: usize,
}

impl Folder {
    pub(super) fn open(path: &Path, options: &BatchOptions) -> Result<Folder, ReadError> {
        let list = || -> io::Result<(Vec<Member<OsString>>, SkippedFiles)> {
            let mut skipped_files = SkippedFiles::default();
            let mut members = Vec::new();
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                let (name, kind) = (entry.file_name(), entry.file_type()?);
                let shown = name.to_string_lossy();
                let Some(id) = graph_id(&shown, options) else {
                    skipped_files.add(&shown);
                    continue;
                };
                // The target of a link is looked up only for links.
                let is_folder = kind.is_dir() || kind.is_symlink() && path.join(&name).is_dir();
                if !is_folder {
                    members.push(Member { id, source: name, repeated: false });
                }
            }
            Ok((members, skipped_files))
        };
        let (mut members, skipped_files) =
            list().map_err(|error| ReadError::io(path, Place::File, error))?;
        if members.is_empty() {
            return Err(no_graphs(path, "the folder", &skipped_files));
        }
        sort(&mut members);
        Ok(Folder { path: path.into(), options: options.clone(), members, skipped_files, next: 0 })
    }

    /// Returns the next block of files, at least one.
    fn some(&self) -> &[Member<OsString>] {
        let rest = &self.members[self.next..];
        let mut bytes = 0u64;
        let fits = |member: &&Member<OsString>| {
            // A file whose size is unknown counts as empty: reading it will report the error.
            let size = fs::metadata(self.path.join(&member.source)).map_or(0, |file| file.len());
            bytes = bytes.saturating_add(FILE).saturating_add(size);
            bytes <= self.options.bytes_at_once()
        };
        let some = rest.iter().take_while(fits).count();
        &rest[..some.max(1).min(rest.len())]
    }
}

impl Source for Folder {
    fn next(&mut self, log: &mut ReadLog) -> Result<Option<GraphBatch>, ReadError> {
        self.skipped_files.note_in(log, |name| self.path.join(name));
        let some = self.some();
        if some.is_empty() {
            return Ok(None);
        }
        let path = |name: &OsString| self.path.join(name);
        let read = |name: &OsString| {
            let path = path(name);
            // A pipe without a writer would block.
            check_plain(&path)?;
            read_edges_with_summary(&path, &self.options.read)
        };
        let batch = batch(some, &self.path, &self.options, log, read, path)?;
        self.next += some.len();
        Ok(Some(batch))
    }

    fn progress(&self) -> f64 {
        share(self.next as u64, self.members.len() as u64)
    }
}
