//! Evolution of clusters: matches the clusters of a window to those of the previous one.
//!
//! # The rule
//! A current cluster C and a previous cluster P *overlap* if they share at least half of the members of the
//! smaller one: |C ∩ P| ≥ ½ · min(|C|, |P|). Overlapping pairs are processed by the number of shared members,
//! largest first, then by |C ∩ P| / |C ∪ P|, then by P's id and C's rank. A pair gives P's id to C if C has
//! no id yet and P's id is still free. So ids continue one to one, along the largest overlaps.
//!
//! | event of C | condition |
//! |---|---|
//! | `born` | C overlaps with no previous cluster; it has a new id |
//! | `split` | C overlaps with previous clusters whose ids others have; it has a new id |
//! | `merged` | C has the id of one previous cluster, and overlaps with others whose ids ended |
//! | `grew`, `shrank`, `stayed` | C has a previous id, and more, fewer, or as many members |
//!
//! A previous cluster whose id no current cluster has *ended*. It died, or it is a part of the overlapping
//! cluster that it shares most members with ([`Findings::ended`]).
//!
//! `parents` of C are all previous clusters that overlap with it. `growth` is its relative growth, `age` the
//! windows since its id was born, and `born` the end of that window. Ids are counted from 1 and never reused.
//!
//! # Memory, cost, determinism
//! Memory: the members of the clusters of two windows. Cost: sorting. No hashing, so the order is
//! deterministic.
//!
//! # Reference
//! Greene, Doyle, Cunningham, *Tracking the evolution of communities in dynamic social networks*, ASONAM 2010.
//! The overlap is relative to the smaller cluster instead of the Jaccard index, so that small clusters
//! are seen to merge into large ones.

use crate::{ClusterEvent, ClusterId, Findings, Timestamp};
use ripplet_graph::VertexId;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The overlap rule, in the words of the report.
pub const OVERLAP_RULE: &str = "Two clusters overlap where they share at least half of the members of the smaller one. An \
     id goes on to the overlapping cluster that shares most members, one to one.";

/// Clusters of the last window, and the ids that were used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracker {
    used: u64,
    last: Vec<Tracked>,
}

/// Cluster of the last window.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tracked {
    id: ClusterId,
    born: Timestamp,
    age: u32,
    /// Members, ascending.
    members: Vec<VertexId>,
}

/// Text that is no tracker.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line} of the clusters kept from the last window: expected {expected}")]
pub struct BadTracker {
    /// Line number, from 1.
    pub line: usize,
    /// Expected contents of the line.
    pub expected: &'static str,
}

/// Current and previous cluster that overlap.
struct Overlap {
    shared: usize,
    of: usize,
    before: usize,
    now: usize,
}

impl Tracker {
    /// Creates a tracker without windows.
    pub fn new() -> Tracker {
        Tracker::default()
    }

    /// Assigns ids, events, ages and growth to the clusters of the next window, which ends at `until`, and
    /// the ids to their members. Records which clusters ended.
    pub fn follow(&mut self, findings: &mut Findings, until: Timestamp) {
        let members = members_of(findings);
        let overlaps = overlaps(&self.last, &members);
        let mut heir: Vec<Option<usize>> = vec![None; self.last.len()];
        let mut ancestor: Vec<Option<usize>> = vec![None; members.len()];
        for overlap in &overlaps {
            if heir[overlap.before].is_none() && ancestor[overlap.now].is_none() {
                heir[overlap.before] = Some(overlap.now);
                ancestor[overlap.now] = Some(overlap.before);
            }
        }
        let mut next = Vec::with_capacity(members.len());
        let mut ids = BTreeMap::new();
        for (now, members) in members.into_iter().enumerate() {
            let parents: Vec<usize> =
                overlaps.iter().filter(|o| o.now == now).map(|o| o.before).collect();
            let cluster = &mut findings.clusters[now];
            let (fate, tracked) = match ancestor[now] {
                None => {
                    self.used += 1;
                    let fate =
                        if parents.is_empty() { ClusterEvent::Born } else { ClusterEvent::Split };
                    (fate, Tracked { id: ClusterId(self.used), born: until, age: 0, members })
                }
                Some(before) => {
                    let before = &self.last[before];
                    let took = parents.iter().any(|&parent| heir[parent].is_none());
                    let fate = match members.len().cmp(&before.members.len()) {
                        _ if took => ClusterEvent::Merged,
                        std::cmp::Ordering::Less => ClusterEvent::Shrank,
                        std::cmp::Ordering::Equal => ClusterEvent::Stayed,
                        std::cmp::Ordering::Greater => ClusterEvent::Grew,
                    };
                    let had = before.members.len() as f64;
                    cluster.growth = Some((members.len() as f64 - had) / had);
                    let age = before.age.saturating_add(1);
                    (fate, Tracked { id: before.id, born: before.born, age, members })
                }
            };
            ids.insert(cluster.id, tracked.id);
            (cluster.id, cluster.fate) = (tracked.id, fate);
            (cluster.born, cluster.age) = (tracked.born, tracked.age);
            cluster.parents = parents.into_iter().map(|parent| self.last[parent].id).collect();
            cluster.parents.sort_unstable();
            next.push(tracked);
        }
        for member in &mut findings.members {
            member.cluster = ids.get(&member.cluster).copied().unwrap_or(member.cluster);
        }
        let gone = self.last.iter().enumerate().filter(|(before, _)| heir[*before].is_none());
        findings.ended = gone
            .map(|(before, tracked)| {
                // Overlaps with most shared members come first.
                let into = overlaps.iter().find(|overlap| overlap.before == before);
                (tracked.id, into.map(|overlap| next[overlap.now].id))
            })
            .collect();
        findings.ended.sort_unstable();
        self.last = next;
    }
}

/// Returns the members of each cluster, ascending.
fn members_of(findings: &Findings) -> Vec<Vec<VertexId>> {
    let places = findings.clusters.iter().enumerate().map(|(at, cluster)| (cluster.id, at));
    let places: BTreeMap<ClusterId, usize> = places.collect();
    let mut members = vec![Vec::new(); findings.clusters.len()];
    for member in &findings.members {
        if let Some(&at) = places.get(&member.cluster) {
            members[at].push(member.vertex);
        }
    }
    members.iter_mut().for_each(|of| of.sort_unstable());
    members
}

/// Returns all overlapping pairs, in the order of the rule.
fn overlaps(before: &[Tracked], now: &[Vec<VertexId>]) -> Vec<Overlap> {
    let mut places: Vec<(VertexId, usize)> = Vec::new();
    for (at, tracked) in before.iter().enumerate() {
        places.extend(tracked.members.iter().map(|&v| (v, at)));
    }
    places.sort_unstable();
    let mut shared: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (at, members) in now.iter().enumerate() {
        for &v in members {
            let first = places.partition_point(|place| place.0 < v);
            for place in places[first..].iter().take_while(|place| place.0 == v) {
                *shared.entry((place.1, at)).or_default() += 1;
            }
        }
    }
    let pairs = shared.into_iter().map(|((of_before, of_now), shared)| Overlap {
        shared,
        of: before[of_before].members.len() + now[of_now].len() - shared,
        before: of_before,
        now: of_now,
    });
    let smaller = |o: &Overlap| before[o.before].members.len().min(now[o.now].len());
    let mut pairs: Vec<Overlap> = pairs.filter(|o| 2 * o.shared >= smaller(o)).collect();
    pairs.sort_by(|a, b| {
        // |A ∩ B| / |A ∪ B| of equal intersections: the smaller union first.
        b.shared
            .cmp(&a.shared)
            .then(a.of.cmp(&b.of))
            .then(before[a.before].id.cmp(&before[b.before].id))
            .then(a.now.cmp(&b.now))
    });
    pairs
}

/// Formats the state that [`Tracker::from_str`] parses, for a resumed run.
///
/// A line `clusters USED LISTED`, then a line for each of the listed clusters: id, born (microseconds), age, members.
impl fmt::Display for Tracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "clusters {} {}", self.used, self.last.len())?;
        for Tracked { id, born, age, members } in &self.last {
            write!(f, "{} {} {age}", id.0, born.0)?;
            members.iter().try_for_each(|v| write!(f, " {v}"))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

impl FromStr for Tracker {
    type Err = BadTracker;

    fn from_str(text: &str) -> Result<Tracker, BadTracker> {
        let bad = |line, expected| BadTracker { line, expected };
        let mut lines = text.lines().enumerate();
        let head = lines.next().and_then(|(_, line)| line.strip_prefix("clusters "));
        let head = head.and_then(|head| head.split_once(' '));
        let head = head.and_then(|(used, listed)| used.parse().ok().zip(listed.parse().ok()));
        let head: (u64, usize) = head.ok_or(bad(
            1,
            "`clusters`, the number of ids that were used, and of the lines below",
        ))?;
        let (used, listed) = head;
        let mut last = Vec::new();
        for (index, line) in lines {
            let numbers: Result<Vec<i64>, _> = line.split(' ').map(str::parse).collect();
            let expected = "a cluster's id, birth and age, and its members, ascending";
            let wrong = || bad(index + 1, expected);
            let numbers = numbers.map_err(|_| wrong())?;
            let [id, born, age, members @ ..] = &*numbers else { return Err(wrong()) };
            let id = u64::try_from(*id).ok().filter(|id| (1..=used).contains(id));
            let age = u32::try_from(*age).ok();
            let members: Result<Vec<VertexId>, _> =
                members.iter().map(|&v| VertexId::try_from(v)).collect();
            let members = members.ok().filter(|m| !m.is_empty() && m.is_sorted_by(|a, b| a < b));
            match (id, age, members) {
                (Some(id), Some(age), Some(members)) => {
                    last.push(Tracked { id: ClusterId(id), born: Timestamp(*born), age, members });
                }
                _ => return Err(wrong()),
            }
        }
        // A text that is cut off has fewer lines, or a last one without its end.
        if last.len() != listed {
            let expected = "as many clusters as the first line says";
            return Err(bad(last.len() + 2, expected));
        }
        if !text.ends_with('\n') {
            return Err(bad(last.len() + 1, "the end of the line"));
        }
        Ok(Tracker { used, last })
    }
}
