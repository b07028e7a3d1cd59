//! Interner of entity ids: maps kind and id to a vertex.
//!
//! A vertex is a kind and an id: the user `7` and the merchant `7` are two vertices. Vertices are numbered in
//! the order in which they are first seen, and keep their numbers in all windows of a run, so that no window
//! renumbers. Numbers follow from the order of the rows alone, not from threads or hashes.
//!
//! Memory: about 27 bytes per vertex beside the bytes of its id.

use hashbrown::{DefaultHashBuilder, HashTable};
use ripplet_graph::{MAX_VERTICES, OutOfMemory, VertexId, memory};
use std::hash::BuildHasher;
use thiserror::Error;

/// Number of a kind of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub u8);

/// All entities seen so far, by kind and id.
#[derive(Clone, Debug, Default)]
pub struct Entities {
    kinds: Vec<String>,
    kind_of: Vec<KindId>,
    /// End of each id in `bytes`.
    ends: Vec<u64>,
    bytes: Vec<u8>,
    index: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

/// Vertex, and the part of its hash that the table needs when it grows.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    vertex: VertexId,
}

impl Slot {
    /// Mixes the hash, as the table uses high and low bits.
    fn spread(self) -> u64 {
        spread(self.hash)
    }
}

fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Error of adding an entity.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EntityError {
    /// The limit of entities is reached.
    #[error("there are more than {MAX_VERTICES} entities: 32 bits number no more")]
    TooMany,
    /// The limit of kinds is reached.
    #[error("there are more than 255 kinds of entities: the mapping names them all")]
    TooManyKinds,
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl Entities {
    /// Creates an empty interner.
    pub fn new() -> Entities {
        Entities::default()
    }

    /// Returns the number of a kind, and adds the kind if it is new.
    ///
    /// # Errors
    /// If there are 255 other kinds.
    pub fn kind(&mut self, name: &str) -> Result<KindId, EntityError> {
        if let Some(known) = self.find_kind(name) {
            return Ok(known);
        }
        let id = u8::try_from(self.kinds.len()).ok().filter(|&id| id < u8::MAX);
        let id = id.ok_or(EntityError::TooManyKinds)?;
        self.kinds.push(name.into());
        Ok(KindId(id))
    }

    /// Returns the number of a kind, if it exists.
    pub fn find_kind(&self, name: &str) -> Option<KindId> {
        self.kinds.iter().position(|kind| kind == name).map(|place| KindId(place as u8))
    }

    /// Returns the names of the kinds, by number.
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// Returns the number of entities.
    pub fn len(&self) -> u32 {
        self.kind_of.len() as u32
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.kind_of.is_empty()
    }

    /// Returns the kind of a vertex.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn kind_of(&self, vertex: VertexId) -> KindId {
        self.kind_of[vertex as usize]
    }

    /// Returns the name of a kind.
    ///
    /// # Panics
    /// If there is no such kind.
    pub fn kind_name(&self, kind: KindId) -> &str {
        &self.kinds[usize::from(kind.0)]
    }

    /// Returns the name of a vertex's kind.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn kind_name_of(&self, vertex: VertexId) -> &str {
        self.kind_name(self.kind_of(vertex))
    }

    /// Returns the id of a vertex.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn id_of(&self, vertex: VertexId) -> &str {
        // All ids were valid UTF-8 when they were added.
        std::str::from_utf8(self.bytes_of(vertex)).unwrap_or_default()
    }

    fn bytes_of(&self, vertex: VertexId) -> &[u8] {
        let vertex = vertex as usize;
        let begin = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin as usize..self.ends[vertex] as usize]
    }

    /// Returns the hash of a kind and id; it stays valid for the lifetime of these entities.
    pub(crate) fn hash(&self, kind: KindId, id: &str) -> u32 {
        self.hasher.hash_one((kind.0, id)) as u32
    }

    /// Returns the vertex of a kind and id, if it exists.
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

    /// Returns the vertex of a kind and id, and adds it if it is new.
    ///
    /// # Errors
    /// If the limit of entities is reached, or memory allocation fails.
    pub fn intern(&mut self, kind: KindId, id: &str) -> Result<VertexId, EntityError> {
        let hash = self.hash(kind, id);
        match self.find_hashed(kind, id, hash) {
            Some(vertex) => Ok(vertex),
            None => self.add(kind, id, hash),
        }
    }

    /// Adds an entity that does not exist yet.
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

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        let table = self.index.allocation_size() as u64;
        let arrays = self.kind_of.capacity() + 8 * self.ends.capacity() + self.bytes.capacity();
        table + arrays as u64
    }
}
