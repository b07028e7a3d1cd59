//! Views backed by tables, for the Rust side.

pub use super::math::*;
use std::cell::RefCell;

pub type Label = u32;
pub const NO_LABEL: u32 = u32::MAX;
pub const MEMORY: u32 = 3;

pub trait Program {
    type Score;
    fn pick_label(&self, v: Vertex) -> Label;
    fn load_neighbor(&self, v: Vertex, u: Neighbor) -> Vote;
    fn label_score(&self, v: Vertex, c: Candidate) -> Self::Score;
    fn score_bound(&self, frequency: u64) -> Self::Score;
    fn carry(&self, v: Vertex, u: Neighbor) -> f32;
    fn update_vertex(&self, v: &mut VertexMut, label: Label, score: Self::Score) -> Label;
}

pub struct Vote {
    pub label: u32,
    pub weight: u32,
}

impl Vote {
    pub const NONE: Vote = Vote { label: NO_LABEL, weight: 0 };

    pub fn new(label: u32, weight: u32) -> Vote {
        Vote { label, weight }
    }
}

/// Returns a value of the tables, with the numbers of views_access.h.
pub fn column(slot: u32, v: u32, index: u32) -> u32 {
    let len = if slot == 1 { MEMORY } else { 1 };
    match slot {
        _ if index >= len => 0,
        0 => (v as f32 * 0.125).to_bits(),
        1 => (v + index) % 3,
        _ => v * 7,
    }
}

#[derive(Clone, Copy)]
pub struct Vertex {
    pub id: u32,
    pub label: u32,
}

#[derive(Clone, Copy)]
pub struct Neighbor {
    pub id: u32,
    pub label: u32,
    pub weight: u32,
}

#[derive(Clone, Copy)]
pub struct Candidate {
    pub label: u32,
    pub frequency: u64,
    pub total_votes: u64,
    pub grand_total: u64,
}

impl Candidate {
    pub fn total(&self) -> u32 {
        self.label * 11 + 5
    }
}

pub struct VertexMut {
    pub id: u32,
    pub label: u32,
    pub carried: f32,
    pub frequency: u64,
    pub total_votes: u64,
    /// Slot, index and bits of each staged value; the last entry of an index counts.
    pub staged: RefCell<Vec<(u32, u32, u32)>>,
}

macro_rules! vertex {
    ($view:ty) => {
        impl $view {
            pub fn degree(&self) -> u32 {
                self.id * 3 + 1
            }
            pub fn round(&self) -> u32 {
                5
            }
            pub fn random(&self, stream: u32) -> u32 {
                (self.id * 31 + stream).wrapping_mul(0x9e37_79b1) >> 7
            }
            pub fn strength(&self) -> f32 {
                f32::from_bits(self.read(0, 0))
            }
            pub fn heard(&self, index: u32) -> u32 {
                self.read(1, index)
            }
            pub fn home(&self) -> u32 {
                self.read(2, 0)
            }
        }
    };
}

vertex!(Vertex);
vertex!(Neighbor);
vertex!(VertexMut);

impl Vertex {
    fn read(&self, slot: u32, index: u32) -> u32 {
        column(slot, self.id, index)
    }
}

impl Neighbor {
    fn read(&self, slot: u32, index: u32) -> u32 {
        column(slot, self.id, index)
    }
}

impl VertexMut {
    pub fn read(&self, slot: u32, index: u32) -> u32 {
        let staged = self.staged.borrow();
        let last = staged.iter().rev().find(|s| (s.0, s.1) == (slot, index));
        last.map_or_else(|| column(slot, self.id, index), |s| s.2)
    }
    fn stage(&mut self, slot: u32, index: u32, bits: u32) {
        if index < (if slot == 1 { MEMORY } else { 1 }) {
            self.staged.borrow_mut().push((slot, index, bits));
        }
    }
    pub fn carried(&self) -> f32 {
        self.carried
    }
    pub fn frequency(&self) -> u64 {
        self.frequency
    }
    pub fn total_votes(&self) -> u64 {
        self.total_votes
    }
    pub fn set_strength(&mut self, value: f32) {
        self.stage(0, 0, value.to_bits());
    }
    pub fn set_heard(&mut self, index: u32, value: u32) {
        self.stage(1, index, value);
    }
    pub fn set_home(&mut self, value: u32) {
        self.stage(2, 0, value);
    }
}
