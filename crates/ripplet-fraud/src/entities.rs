//! The string ids of users, merchants, devices, …, and their vertices.
//!
//! A vertex is a kind and an id: the user `7` is another vertex than the merchant `7`. Vertices are numbered as they
//! are first seen, and keep their numbers in all windows of a run, so that nothing is renumbered when a window
//! slides. Numbers follow from the order of the rows alone, not from threads or hashes.
//!
//! Memory: about 27 bytes a vertex beside its id's own bytes.

use hashbrown::{DefaultHashBuilder, HashTable};
use ripplet_graph::{MAX_VERTICES, OutOfMemory, VertexId, memory};
use std::hash::BuildHasher;
use thiserror::Error;

/// The number of a kind of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub u8);

/// All entities that were seen, by kind and id.
#[derive(Clone, Debug, Default)]
pub struct Entities {
    kinds: Vec<String>,
    kind_of: Vec<KindId>,
    /// Where each id ends in `bytes`.
    ends: Vec<u64>,
    bytes: Vec<u8>,
    index: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

/// A vertex, and the part of its hash by which it is found again when the table grows.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    vertex: VertexId,
}

impl Slot {
    /// The table looks at high and at low bits.
    fn spread(self) -> u64 {
        spread(self.hash)
    }
}

fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// An entity that cannot be taken in.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EntityError {
    /// There are as many as there can be.
    #[error("there are more than {MAX_VERTICES} entities: 32 bits number no more")]
    TooMany,
    /// There are as many kinds as there can be.
    #[error("there are more than 255 kinds of entities: the mapping names them all")]
    TooManyKinds,
    /// Memory was refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl Entities {
    /// No entities, and no kinds.
    pub fn new() -> Entities {
        Entities::default()
    }

    /// The number of a kind, which is there from now on.
    ///
    /// # Errors
    /// Where there are 255 others.
    pub fn kind(&mut self, name: &str) -> Result<KindId, EntityError> {
        if let Some(known) = self.find_kind(name) {
            return Ok(known);
        }
        let id = u8::try_from(self.kinds.len()).ok().filter(|&id| id < u8::MAX);
        let id = id.ok_or(EntityError::TooManyKinds)?;
        self.kinds.push(name.into());
        Ok(KindId(id))
    }

    /// The number of a kind, if it is there.
    pub fn find_kind(&self, name: &str) -> Option<KindId> {
        self.kinds.iter().position(|kind| kind == name).map(|place| KindId(place as u8))
    }

    /// The kinds' names, by their numbers.
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// How many entities there are.
    pub fn len(&self) -> u32 {
        self.kind_of.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kind_of.is_empty()
    }

    /// A vertex' kind.
    ///
    /// # Panics
    /// Where there is no such vertex.
    pub fn kind_of(&self, vertex: VertexId) -> KindId {
        self.kind_of[vertex as usize]
    }

    /// The name of a kind.
    ///
    /// # Panics
    /// Where there is no such kind.
    pub fn kind_name(&self, kind: KindId) -> &str {
        &self.kinds[usize::from(kind.0)]
    }

    /// The name of a vertex' kind.
    ///
    /// # Panics
    /// Where there is no such vertex.
    pub fn kind_name_of(&self, vertex: VertexId) -> &str {
        self.kind_name(self.kind_of(vertex))
    }

    /// A vertex' id.
    ///
    /// # Panics
    /// Where there is no such vertex.
    pub fn id_of(&self, vertex: VertexId) -> &str {
        // All were texts when they came.
        std::str::from_utf8(self.bytes_of(vertex)).unwrap_or_default()
    }

    fn bytes_of(&self, vertex: VertexId) -> &[u8] {
        let vertex = vertex as usize;
        let begin = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin as usize..self.ends[vertex] as usize]
    }

    /// What stands for this kind and id in the look-up; the same as long as these entities live.
    pub(crate) fn hash(&self, kind: KindId, id: &str) -> u32 {
        self.hasher.hash_one((kind.0, id)) as u32
    }

    /// The vertex of a kind and id, if it was seen.
    pub fn find(&self, kind: KindId, id: &str) -> Option<VertexId> {
        self.find_hashed(kind, id, self.hash(kind, id))
    }

    pub(crate) fn find_hashed(&self, kind: KindId, id: &str, hash: u32) -> Option<VertexId> {
        let same = |slot: &Slot| {
            slot.hash == hash
                && self.kind_of(slot.vertex) == kind
                && self.bytes_of(slot.vertex) == id.as_bytes()
        };
        self.index.find(spread(hash), same).map(|slot| slot.vertex)
    }

    /// The vertex of a kind and id, which is there from now on.
    ///
    /// # Errors
    /// Where there are as many as can be, or memory is refused.
    pub fn intern(&mut self, kind: KindId, id: &str) -> Result<VertexId, EntityError> {
        let hash = self.hash(kind, id);
        match self.find_hashed(kind, id, hash) {
            Some(vertex) => Ok(vertex),
            None => self.add(kind, id, hash),
        }
    }

    /// Adds an entity that is not there.
    pub(crate) fn add(
        &mut self,
        kind: KindId,
        id: &str,
        hash: u32,
    ) -> Result<VertexId, EntityError> {
        let vertex = self.kind_of.len();
        if vertex >= MAX_VERTICES as usize {
            return Err(EntityError::TooMany);
        }
        let bytes = 2 * self.index.allocation_size() as u64;
        let refused = |_| OutOfMemory { bytes };
        self.index.try_reserve(1, |slot| slot.spread()).map_err(refused)?;
        memory::extend(&mut self.bytes, id.as_bytes())?;
        memory::push(&mut self.kind_of, kind)?;
        memory::push(&mut self.ends, self.bytes.len() as u64)?;
        let slot = Slot { hash, vertex: vertex as VertexId };
        self.index.insert_unique(slot.spread(), slot, |slot| slot.spread());
        Ok(slot.vertex)
    }

    /// Bytes that they occupy.
    pub fn bytes(&self) -> u64 {
        let table = self.index.allocation_size() as u64;
        let arrays = self.kind_of.capacity() + 8 * self.ends.capacity() + self.bytes.capacity();
        table + arrays as u64
    }
}
