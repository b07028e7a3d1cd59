//! Deny list and allow list of a run.

use super::PipelineError;
use crate::folder::WindowRecord;
use crate::seeds::{self, ActiveEntries, ListEntry};
use crate::{Entities, KindId, KnownBad, Timestamp, Trusted, Window};
use std::path::{Path, PathBuf};

/// Deny list and allow list of a run, re-read when they change.
#[derive(Debug)]
pub struct Lists {
    bad: Option<List>,
    trusted: Option<List>,
    default: KindId,
}

#[derive(Debug)]
struct List {
    path: PathBuf,
    sha256: String,
    read: seeds::List,
}

/// Number of entries without a seen entity that a note names.
const NAMED: usize = 10;

/// Entries of both lists that are active at a window's end.
#[derive(Clone, Debug, Default)]
pub struct ActiveLists {
    /// Known bad entities.
    pub bad: ActiveEntries,
    /// Trusted entities.
    pub trusted: ActiveEntries,
}

impl Lists {
    /// Reads both lists; entries without a kind are of the kind `default`.
    ///
    /// # Errors
    /// If a list cannot be read.
    pub fn read(
        bad: Option<&Path>,
        trusted: Option<&Path>,
        entities: &Entities,
        default: &str,
    ) -> Result<Lists, PipelineError> {
        let default = entities.find_kind(default).unwrap_or(KindId(0));
        let read = |path: &Path| -> Result<List, PipelineError> {
            let sha256 = seeds::fingerprint(path)?;
            Ok(List { path: path.into(), sha256, read: seeds::read(path, entities, default)? })
        };
        let (bad, trusted) = (bad.map(read).transpose()?, trusted.map(read).transpose()?);
        Ok(Lists { bad, trusted, default })
    }

    /// Re-reads the lists that changed.
    pub(super) fn refresh(&mut self, entities: &Entities) -> Result<(), PipelineError> {
        for list in [self.bad.as_mut(), self.trusted.as_mut()].into_iter().flatten() {
            let sha256 = seeds::fingerprint(&list.path)?;
            if sha256 != list.sha256 {
                list.read = seeds::read(&list.path, entities, self.default)?;
                list.sha256 = sha256;
            }
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &List> {
        [self.bad.as_ref(), self.trusted.as_ref()].into_iter().flatten()
    }

    /// Iterates over notes on the lists: which columns were read if that is not obvious, and entries without
    /// effect.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.all().flat_map(|list| &list.read.notes).map(String::as_str)
    }

    pub(super) fn hashes(&self) -> Vec<String> {
        self.all().map(|list| list.sha256.clone()).collect()
    }

    /// Returns the entries of the deny list.
    pub(super) fn bad_entries(&self) -> &[ListEntry] {
        self.bad.as_ref().map_or(&[], |list| &list.read.entries)
    }

    /// Returns the deny list.
    pub fn known_bad(&self) -> KnownBad {
        KnownBad { entries: self.bad.iter().flat_map(|list| list.read.entries.clone()).collect() }
    }

    /// Returns the allow list.
    pub fn trusted(&self) -> Trusted {
        Trusted {
            entries: self.trusted.iter().flat_map(|list| list.read.entries.clone()).collect(),
        }
    }

    /// Returns the entries that are active when a window ends, restricted to its vertices.
    ///
    /// # Errors
    /// If an entity is on both lists.
    pub fn held(&self, entities: &Entities, window: &Window) -> Result<ActiveLists, PipelineError> {
        let at = Timestamp(window.range.until.0.saturating_sub(1));
        let vertices = window.graph.vertices();
        // The reader may be ahead of the window's end.
        let seen = |mut holding: ActiveEntries| {
            let end = holding.vertices.partition_point(|&vertex| vertex < vertices);
            let later = holding.vertices.split_off(end);
            let name = |v| (entities.kind_of(v), entities.id_of(v).to_owned());
            holding.unseen.extend(later.into_iter().map(name));
            holding.unseen.sort_unstable();
            holding
        };
        let of = |list: &Option<List>| {
            list.as_ref()
                .map(|list| seeds::holding(&list.read.entries, entities, at))
                .unwrap_or_default()
        };
        let (bad, trusted) = (seen(of(&self.bad)), seen(of(&self.trusted)));
        match bad.vertices.iter().find(|v| trusted.vertices.binary_search(v).is_ok()) {
            Some(&v) => Err(PipelineError::Both {
                kind: entities.kind_name_of(v).into(),
                id: entities.id_of(v).into(),
            }),
            None => Ok(ActiveLists { bad, trusted }),
        }
    }

    /// Returns the number of entries that are active at the end of none of these windows, without those that
    /// are never active.
    pub(super) fn never_active(&self, windows: &[WindowRecord]) -> u64 {
        let until = windows.iter().filter_map(|window| window.until.parse::<Timestamp>().ok());
        // Windows ascend.
        let ends: Vec<Timestamp> =
            until.map(|until| Timestamp(until.0.saturating_sub(1))).collect();
        let holds = |entry: &&ListEntry| {
            let first = entry.from.map_or(0, |from| ends.partition_point(|&end| end < from));
            ends.get(first).is_some_and(|&end| entry.is_active_at(end))
        };
        let entries = self.all().flat_map(|list| &list.read.entries);
        entries.filter(|entry| !entry.is_void() && !holds(entry)).count() as u64
    }

    /// Returns the number of entries whose entity was never seen, and kind and id of the first of them.
    pub fn never_seen(&self, entities: &Entities) -> (u64, Vec<String>) {
        let entries = self.all().flat_map(|list| &list.read.entries);
        let mut unseen = entries.filter(|entry| entities.find(entry.kind, &entry.id).is_none());
        let name = |entry: &ListEntry| format!("{} {}", entities.kind_name(entry.kind), entry.id);
        let first: Vec<String> = unseen.by_ref().take(NAMED).map(name).collect();
        (first.len() as u64 + unseen.count() as u64, first)
    }
}
