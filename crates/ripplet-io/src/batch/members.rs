//! Members of folders and archives: files that are a graph each.

use super::{BatchOptions, Format, OnError, ReadLog, Skipped};
use crate::fault::Fault;
use crate::read::format_of;
use crate::summary::ReadSummary;
use crate::{Place, ReadError, ReadErrorKind};
use rayon::prelude::*;
use ripplet_graph::batch::GraphBatch;
use ripplet_graph::{Direction, EdgeTable, MAX_SHARD_ARCS, Names, VertexIds, memory};
use std::path::{Path, PathBuf};

/// Size that a file counts beside its bytes: even an empty one takes memory.
pub(super) const FILE: u64 = 64;

/// File that is to be a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member<S> {
    /// Id of the graph.
    pub(super) id: String,
    /// Location of its bytes.
    pub(super) source: S,
    /// Whether the previous member has the same id.
    pub(super) repeated: bool,
}

/// Returns the id of a file's graph, if the file is a graph: its path without extensions.
pub(super) fn graph_id(path: &str, options: &BatchOptions) -> Option<String> {
    let (folder, name) = match path.rfind('/') {
        Some(slash) => path.split_at(slash + 1),
        None => ("", path),
    };
    // A `.json` beside graphs is more often metadata than a graph, and DOT is not read.
    let is_graph = |(format, _)| !matches!(format, Format::NodeLink | Format::Dot);
    let known =
        options.read.format.is_some() || Format::of_path(Path::new(name)).is_some_and(is_graph);
    if name.is_empty() || name.starts_with('.') || !known {
        return None;
    }
    let plain = [".gz", ".zst"].iter().find_map(|end| {
        let at = name.len().checked_sub(end.len())?;
        name.get(at..)?.eq_ignore_ascii_case(end).then(|| &name[..at])
    });
    let plain = plain.unwrap_or(name);
    let stem = plain.rfind('.').map_or(plain, |dot| &plain[..dot]);
    Some(format!("{folder}{stem}"))
}

/// Files with the extension of a graph format that are skipped.
#[derive(Default)]
pub(super) struct SkippedFiles {
    /// The first of them by name.
    first: Option<String>,
    files: u64,
}

impl SkippedFiles {
    /// Counts a skipped `.json` file.
    pub(super) fn add(&mut self, path: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let format = Format::of_path(Path::new(name)).map(|(format, _)| format);
        if format != Some(Format::NodeLink) || name.starts_with('.') {
            return;
        }
        self.files += 1;
        if self.first.as_deref().is_none_or(|first| path < first) {
            self.first = Some(path.to_owned());
        }
    }

    /// Adds a note on the files to the log, once; `file` returns the path of one.
    pub(super) fn note_in(&mut self, log: &mut ReadLog, file: impl Fn(&str) -> PathBuf) {
        let SkippedFiles { first, files } = std::mem::take(self);
        if let Some(first) = first {
            let note = "left out, as a .json beside graphs is more often about them: --from json reads .json alone";
            log.summary.add_note_on(note.into(), files, || file(&first));
        }
    }
}

/// Sorts members by id, and marks duplicates.
pub(super) fn sort<S: Ord + Send>(members: &mut [Member<S>]) {
    members.par_sort_unstable_by(|a, b| (&a.id, &a.source).cmp(&(&b.id, &b.source)));
    for at in 1..members.len() {
        members[at].repeated = members[at - 1].id == members[at].id;
    }
}

/// Reads members in parallel and builds the batch of those that are graphs. `whole` is their container,
/// `path` returns the file of a member, and `read` reads it.
///
/// # Errors
/// The first error in the order of the members, if errors are not skipped, or a failed memory allocation.
pub(super) fn batch<S: Sync>(
    members: &[Member<S>],
    whole: &Path,
    options: &BatchOptions,
    log: &mut ReadLog,
    read: impl Fn(&S) -> Result<(EdgeTable, ReadSummary), ReadError> + Sync,
    path: impl Fn(&S) -> PathBuf + Sync,
) -> Result<GraphBatch, ReadError> {
    let one = |member: &Member<S>| {
        if member.repeated {
            let sentence =
                format!("another file is the graph {}, too: name it otherwise", member.id);
            return Err(ReadError::content(path(&member.source), Place::File, sentence));
        }
        let (table, mut summary) = read(&member.source)?;
        if summary.directed && options.build.direction == Direction::Undirected {
            let note = "the file says that its edges have a direction: --directed keeps it";
            summary.notes.push(note.into());
        }
        if table.len() as u64 > MAX_SHARD_ARCS / 2 {
            let sentence = format!(
                "a graph of a batch may have at most {} edges, this has {}",
                MAX_SHARD_ARCS / 2,
                table.len()
            );
            return Err(ReadError::content(path(&member.source), Place::File, sentence));
        }
        Ok((table, summary))
    };
    let read: Vec<Result<(EdgeTable, ReadSummary), ReadError>> =
        members.par_iter().map(one).collect();
    let refused = |refused| ReadError {
        path: whole.into(),
        place: Place::File,
        kind: ReadErrorKind::OutOfMemory(refused),
    };
    let mut tables = memory::with_room(members.len()).map_err(refused)?;
    let mut ids = memory::with_room(members.len()).map_err(refused)?;
    for (member, read) in members.iter().zip(read) {
        match read {
            Ok((table, summary)) => {
                log.summary.add_file(summary, || path(&member.source));
                tables.push(table);
                ids.push(&*member.id);
            }
            Err(error) if options.on_error == OnError::Skip && !error.is_out_of_memory() => {
                log.skipped.push(Skipped { graph: member.id.clone(), error });
            }
            Err(error) => return Err(error),
        }
    }
    let ids = VertexIds::Names(Names::new(ids));
    let batch = options.builder().collect(ids, tables);
    batch.map_err(|error| Fault::whole(error).of(whole))
}

/// Returns an archive's entry, for a message.
pub(super) fn inside(archive: &Path, entry: &str) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push("/");
    path.push(entry);
    path.into()
}

/// Returns the error of a folder or an archive that has no graphs.
pub(super) fn no_graphs(whole: &Path, what: &str, left_out: &SkippedFiles) -> ReadError {
    let of_json = match &left_out.first {
        None => String::new(),
        Some(first) => format!("; {first} and others that end in .json are read with --from json"),
    };
    let sentence = format!(
        "no file of {what} is a graph: expected names that end as those of a format do (.txt, .csv, \
         .gml, …), or --from with the format of all of them{of_json}"
    );
    ReadError::content(whole, Place::File, sentence)
}

/// Rejects a member of an archive whose format has several files, or cannot be read from memory.
pub(super) fn refuse_apart(path: &Path, options: &BatchOptions) -> Result<(), ReadError> {
    match format_of(path, &options.read)? {
        Format::Ldbc => {
            let sentence = "an LDBC graph is two files: unpack the archive and read the folder";
            Err(ReadError::content(path, Place::File, sentence))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    #[test]
    fn a_graph_is_called_by_its_path_without_extensions() {
        let options = BatchOptions::default();
        let id = |path: &str| graph_id(path, &options);
        let some = |id: &str| Some(id.to_owned());
        assert_eq!(id("a.txt"), some("a"));
        assert_eq!(id("a.b.CSV.GZ"), some("a.b"));
        assert_eq!(id("x/y.z/7.mtx.zst"), some("x/y.z/7"));
        for none in [
            "",
            "a",
            "a.md",
            ".a.txt",
            "x/._a.txt",
            "x.txt/",
            "a.gz",
            "a.swarm",
            "stats.json",
            "a.dot",
            "é",
        ] {
            assert_eq!(id(none), None, "{none}");
        }
        let format = Some(Format::EdgeList);
        let read = ReadOptions { format, ..ReadOptions::default() };
        let options = BatchOptions { read, ..BatchOptions::default() };
        assert_eq!(graph_id("x/a", &options), some("x/a"));
        assert_eq!(graph_id("x/a.dat.gz", &options), some("x/a"));
        assert_eq!(graph_id("x/.a", &options), None);
    }
}
