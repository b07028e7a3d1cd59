//! Lists of a run: known bad and trusted entities, and what analysts confirmed and cleared.

use super::PipelineError;
use crate::folder::WindowRecord;
use crate::seeds::{self, ActiveEntries, Conflict, ListEntry};
use crate::source::TableSource;
use crate::{Entities, KindId, KnownBad, Timestamp, Trusted, Window};
use ripplet_graph::VertexId;

/// Sources of the lists of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListFiles<'a> {
    /// Known bad entities.
    pub bad: Option<&'a TableSource>,
    /// Trusted entities.
    pub trusted: Option<&'a TableSource>,
    /// Entities that an analyst confirmed to be bad: known bad from their date on.
    pub confirmed: Option<&'a TableSource>,
    /// Entities that an analyst found to be good.
    pub cleared: Option<&'a TableSource>,
}

/// Lists of a run, re-read when they change.
#[derive(Debug)]
pub struct Lists {
    bad: Option<List>,
    trusted: Option<List>,
    confirmed: Option<List>,
    cleared: Option<List>,
    /// Entries of known bad and confirmed entities.
    all_bad: Vec<ListEntry>,
    default: KindId,
}

#[derive(Debug)]
struct List {
    source: TableSource,
    sha256: String,
    read: seeds::List,
}

/// Number of entries without a seen entity that a note names.
const NAMED: usize = 10;

/// Entries of all lists that are active at a window's end.
#[derive(Clone, Debug, Default)]
pub struct ActiveLists {
    /// Known bad and confirmed entities.
    pub bad: ActiveEntries,
    /// Trusted entities.
    pub trusted: ActiveEntries,
    /// Cleared entities.
    pub cleared: ActiveEntries,
}

impl Lists {
    /// Reads all lists; entries without a kind are of the kind `default`.
    ///
    /// # Errors
    /// If a list cannot be read.
    pub fn read(
        files: ListFiles<'_>,
        entities: &Entities,
        default: &str,
    ) -> Result<Lists, PipelineError> {
        let default = entities.find_kind(default).unwrap_or(KindId(0));
        let read = |list: Option<&TableSource>| -> Result<Option<List>, PipelineError> {
            let Some(list) = list else { return Ok(None) };
            let sha256 = seeds::fingerprint(list)?;
            let read = seeds::read(list, entities, default)?;
            Ok(Some(List { source: list.clone(), sha256, read }))
        };
        let mut lists = Lists {
            bad: read(files.bad)?,
            trusted: read(files.trusted)?,
            confirmed: read(files.confirmed)?,
            cleared: read(files.cleared)?,
            all_bad: Vec::new(),
            default,
        };
        lists.all_bad = lists.collected_bad();
        Ok(lists)
    }

    fn collected_bad(&self) -> Vec<ListEntry> {
        let both = [&self.bad, &self.confirmed].into_iter().flatten();
        both.flat_map(|list| list.read.entries.iter().cloned()).collect()
    }

    /// Re-reads the lists that changed.
    pub(super) fn refresh(&mut self, entities: &Entities) -> Result<(), PipelineError> {
        let all = [&mut self.bad, &mut self.trusted, &mut self.confirmed, &mut self.cleared];
        let mut changed = false;
        for list in all.into_iter().flatten() {
            let sha256 = seeds::fingerprint(&list.source)?;
            if sha256 != list.sha256 {
                list.read = seeds::read(&list.source, entities, self.default)?;
                list.sha256 = sha256;
                changed = true;
            }
        }
        if changed {
            self.all_bad = self.collected_bad();
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &List> {
        [&self.bad, &self.trusted, &self.confirmed, &self.cleared].into_iter().flatten()
    }

    /// Iterates over notes on the lists: which columns were read if that is not obvious, and entries without
    /// effect.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.all().flat_map(|list| &list.read.notes).map(String::as_str)
    }

    pub(super) fn hashes(&self) -> Vec<String> {
        self.all().map(|list| list.sha256.clone()).collect()
    }

    /// Returns the entries of known bad and confirmed entities.
    pub(super) fn bad_entries(&self) -> &[ListEntry] {
        &self.all_bad
    }

    /// Returns the known bad and confirmed entities.
    pub fn known_bad(&self) -> KnownBad {
        KnownBad { entries: self.all_bad.clone() }
    }

    /// Returns the allow list.
    pub fn trusted(&self) -> Trusted {
        Trusted {
            entries: self.trusted.iter().flat_map(|list| list.read.entries.clone()).collect(),
        }
    }

    /// Returns the entries of cleared entities.
    pub fn cleared(&self) -> &[ListEntry] {
        entries_of(&self.cleared)
    }

    /// Returns the entries that are active when a window ends, restricted to its vertices.
    ///
    /// Of an entity that is cleared, and known to be bad or confirmed, the later entry decides; an entry without `from`
    /// is the earliest.
    ///
    /// # Errors
    /// If an entity is known to be bad and trusted, or bad and cleared from the same instant on.
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
        let of = |entries: &[ListEntry]| seen(seeds::holding(entries, entities, at));
        let (mut bad, trusted) = (of(&self.all_bad), of(entries_of(&self.trusted)));
        let mut cleared = of(entries_of(&self.cleared));
        let both = |of: &ActiveEntries, other: &ActiveEntries| -> Vec<VertexId> {
            let common = of.vertices.iter().filter(|v| other.vertices.binary_search(v).is_ok());
            common.copied().collect()
        };
        let contested = both(&bad, &cleared);
        // The latest beginning of the active entries of each.
        let since = |all: &[ListEntry]| {
            let mut since = vec![None; contested.len()];
            for entry in all.iter().filter(|entry| entry.is_active_at(at)) {
                let found = entities.find(entry.kind, &entry.id);
                if let Some(place) = found.and_then(|v| contested.binary_search(&v).ok()) {
                    since[place] = since[place].max(entry.from);
                }
            }
            since
        };
        let decisions = since(&self.all_bad).into_iter().zip(since(entries_of(&self.cleared)));
        let decided = contested.iter().copied().zip(decisions);
        if let Some((v, (since, _))) = decided.clone().find(|(_, (bad, cleared))| bad == cleared) {
            let (kind, id) = (entities.kind_name_of(v).into(), entities.id_of(v).into());
            return Err(Conflict::Cleared { kind, id, since }.into());
        }
        let is_cleared: Vec<bool> = decided.map(|(_, (bad, cleared))| bad < cleared).collect();
        let decision = |v: &VertexId| Some(is_cleared[contested.binary_search(v).ok()?]);
        bad.vertices.retain(|v| decision(v) != Some(true));
        cleared.vertices.retain(|v| decision(v) != Some(false));
        match both(&bad, &trusted).first() {
            Some(&v) => {
                let (kind, id) = (entities.kind_name_of(v).into(), entities.id_of(v).into());
                Err(Conflict::Trusted { kind, id }.into())
            }
            None => Ok(ActiveLists { bad, trusted, cleared }),
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

fn entries_of(list: &Option<List>) -> &[ListEntry] {
    list.as_ref().map_or(&[], |list| &list.read.entries)
}
