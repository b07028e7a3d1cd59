//! Who is known to be bad, and from when until when that is known; and who is trusted.

use crate::entities::KindId;
use crate::{Entities, Timestamp};
use ripplet_graph::VertexId;

/// The black list: who is known to be bad, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownBad {
    /// Its entries, in their order.
    pub entries: Vec<Listed>,
}

/// The white list: who is trusted whatever is near.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trusted {
    /// Its entries, in their order.
    pub entries: Vec<Listed>,
}

/// An entry of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The kind of entity.
    pub kind: KindId,
    /// Its id.
    pub id: String,
    /// Since when it is known; always, where nothing is said.
    pub from: Option<Timestamp>,
    /// Until when; for ever, where nothing is said.
    pub until: Option<Timestamp>,
}

impl Listed {
    /// Whether it holds at an instant.
    pub fn holds_at(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until)
    }
}

/// Who of a list holds at an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// The vertices, ascending, each once.
    pub vertices: Vec<VertexId>,
    /// Entries that hold but name nobody who was seen so far.
    pub unseen: u64,
}

fn holding(entries: &[Listed], entities: &Entities, at: Timestamp) -> Holding {
    let mut holding = Holding::default();
    for entry in entries.iter().filter(|entry| entry.holds_at(at)) {
        match entities.find(entry.kind, &entry.id) {
            Some(vertex) => holding.vertices.push(vertex),
            None => holding.unseen += 1,
        }
    }
    holding.vertices.sort_unstable();
    holding.vertices.dedup();
    holding
}

impl KnownBad {
    /// Who is known to be bad at an instant: of a window, at its last one ([`Window::range`](crate::Window)'s
    /// `until` is the first behind it, and what is known from then on is not known yet).
    pub fn at(&self, entities: &Entities, at: Timestamp) -> Holding {
        holding(&self.entries, entities, at)
    }

    /// Who is known to be bad when a window ends.
    pub fn at_end_of(&self, entities: &Entities, range: crate::TimeRange) -> Holding {
        self.at(entities, Timestamp(range.until.0.saturating_sub(1)))
    }
}

impl Trusted {
    /// Who is trusted at an instant.
    pub fn at(&self, entities: &Entities, at: Timestamp) -> Holding {
        holding(&self.entries, entities, at)
    }

    /// Who is trusted when a window ends.
    pub fn at_end_of(&self, entities: &Entities, range: crate::TimeRange) -> Holding {
        self.at(entities, Timestamp(range.until.0.saturating_sub(1)))
    }
}
