//! Events of clusters, in the words of a report.

use crate::ClusterEvent;
use serde::Serialize;

/// Event of a cluster, in the words of a report.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Event {
    key: &'static str,
    name: &'static str,
    rule: &'static str,
}

/// Events by their numbers in a document; the last one is the end of a cluster.
pub(super) const EVENTS: [Event; 7] = [
    event(ClusterEvent::Born, "Born", "New: it overlaps with no cluster of the window before."),
    event(ClusterEvent::Grew, "Grew", "It goes on with more members."),
    event(ClusterEvent::Shrank, "Shrank", "It goes on with fewer members."),
    event(ClusterEvent::Stayed, "Stayed", "It goes on with as many members."),
    event(
        ClusterEvent::Merged,
        "Merged",
        "It goes on, and overlaps with others that no longer go on themselves.",
    ),
    event(ClusterEvent::Split, "Split", "It overlaps with clusters before that go on in others."),
    Event {
        key: "died",
        name: "Died",
        rule: "It was in the window before, and does not go on: gone, or a part of another now.",
    },
];

const fn event(fate: ClusterEvent, name: &'static str, rule: &'static str) -> Event {
    Event { key: fate.name(), name, rule }
}

/// Returns the number of an event in [`EVENTS`].
pub(super) fn event_of(fate: ClusterEvent) -> u8 {
    match fate {
        ClusterEvent::Born => 0,
        ClusterEvent::Grew => 1,
        ClusterEvent::Shrank => 2,
        ClusterEvent::Stayed => 3,
        ClusterEvent::Merged => 4,
        ClusterEvent::Split => 5,
    }
}

/// Number of the end of a cluster in [`EVENTS`].
pub(super) const DIED: usize = 6;
