//! External ids of vertices: integers or names, in ascending order.

use crate::Buffer;
use crate::memory::{self, OutOfMemory};
use std::fmt;
use std::ops::Range;

/// A vertex inside ripplet: the rank of its external id.
pub type VertexId = u32;

/// The largest number of vertices: two values above the ids are reserved for engines.
pub const MAX_VERTICES: u32 = u32::MAX - 1;

/// The external id of every vertex, ascending, so that internal and external order agree.
///
/// Integers ascend by value, names by their UTF-8 bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum VertexIds {
    /// `first, first + 1, …`: nothing is stored.
    Consecutive {
        /// The id of vertex 0.
        first: u64,
        /// The number of vertices.
        count: u32,
    },
    /// Arbitrary non-negative integers, strictly ascending.
    Unsigned(Buffer<u64>),
    /// Integers, some of them negative, strictly ascending.
    Signed(Buffer<i64>),
    /// Strings, strictly ascending by bytes.
    Names(Names),
}

/// Strings in one array, with offsets: name `i` is `bytes[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Names {
    offsets: Buffer<u64>,
    bytes: Buffer<u8>,
}

/// One external id, for comparison, lookup and printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalId<'a> {
    /// A non-negative integer.
    Unsigned(u64),
    /// A negative integer, or any integer of a graph with signed ids.
    Signed(i64),
    /// A string.
    Name(&'a str),
}

impl ExternalId<'_> {
    /// Returns whether this id is before another in ascending order: integers by value, names by
    /// bytes. An integer and a name are not ordered.
    pub fn precedes(self, other: ExternalId<'_>) -> bool {
        let integer = |id: ExternalId<'_>| match id {
            ExternalId::Unsigned(id) => Some(i128::from(id)),
            ExternalId::Signed(id) => Some(i128::from(id)),
            ExternalId::Name(_) => None,
        };
        match (self, other) {
            (ExternalId::Name(a), ExternalId::Name(b)) => a < b,
            _ => integer(self).zip(integer(other)).is_some_and(|(a, b)| a < b),
        }
    }
}

impl From<u64> for ExternalId<'_> {
    fn from(id: u64) -> Self {
        ExternalId::Unsigned(id)
    }
}

impl From<u32> for ExternalId<'_> {
    fn from(id: u32) -> Self {
        ExternalId::Unsigned(id.into())
    }
}

impl From<i64> for ExternalId<'_> {
    fn from(id: i64) -> Self {
        ExternalId::Signed(id)
    }
}

impl<'a> From<&'a str> for ExternalId<'a> {
    fn from(name: &'a str) -> Self {
        ExternalId::Name(name)
    }
}

impl<'a> From<&'a String> for ExternalId<'a> {
    fn from(name: &'a String) -> Self {
        ExternalId::Name(name)
    }
}

impl fmt::Display for ExternalId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExternalId::Unsigned(id) => id.fmt(f),
            ExternalId::Signed(id) => id.fmt(f),
            ExternalId::Name(name) => name.fmt(f),
        }
    }
}

impl Names {
    /// Joins names in the given order; [`VertexIds`] requires them to ascend.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
        let (mut offsets, mut bytes) = (vec![0u64], Vec::new());
        for name in names {
            bytes.extend_from_slice(name.as_bytes());
            offsets.push(bytes.len() as u64);
        }
        Names { offsets: offsets.into(), bytes: bytes.into() }
    }

    /// Creates names from their stored form, or returns `None` if the offsets do not ascend from 0
    /// to the end of the bytes, or a name is not UTF-8.
    pub fn from_parts(offsets: Buffer<u64>, bytes: Buffer<u8>) -> Option<Names> {
        let text = std::str::from_utf8(&bytes).ok()?;
        let whole = offsets.first() == Some(&0)
            && offsets.last() == Some(&(bytes.len() as u64))
            && offsets.windows(2).all(|pair| pair[0] <= pair[1])
            && offsets.iter().all(|&at| text.is_char_boundary(at as usize));
        whole.then_some(Names { offsets, bytes })
    }

    /// Returns the offsets and the bytes, for storage.
    pub fn parts(&self) -> (&[u64], &[u8]) {
        (&self.offsets, &self.bytes)
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns name `index`.
    ///
    /// # Panics
    /// If `index` is not below [`Names::len`].
    pub fn get(&self, index: usize) -> &str {
        std::str::from_utf8(self.bytes_of(index)).expect("the constructors accept UTF-8 only")
    }

    /// Returns a copy of a range of names.
    ///
    /// # Errors
    /// If memory allocation fails.
    ///
    /// # Panics
    /// If the range ends past [`Names::len`], or before it begins.
    pub fn copied(&self, names: Range<usize>) -> Result<Names, OutOfMemory> {
        let offsets = &self.offsets[names.start..=names.end];
        let (start, end) = (offsets[0], offsets[names.len()]);
        let bytes = memory::copied(&self.bytes[start as usize..end as usize])?;
        let offsets = memory::collected(offsets.iter().map(|offset| offset - start))?;
        Ok(Names { offsets: offsets.into(), bytes: bytes.into() })
    }

    fn bytes_of(&self, index: usize) -> &[u8] {
        &self.bytes[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }
}

impl VertexIds {
    /// Returns the number of vertices.
    pub fn len(&self) -> usize {
        match self {
            VertexIds::Consecutive { count, .. } => *count as usize,
            VertexIds::Unsigned(ids) => ids.len(),
            VertexIds::Signed(ids) => ids.len(),
            VertexIds::Names(names) => names.len(),
        }
    }

    /// Returns whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the external id of a vertex.
    ///
    /// # Panics
    /// If `vertex` is not below [`VertexIds::len`].
    pub fn get(&self, vertex: VertexId) -> ExternalId<'_> {
        match self {
            VertexIds::Consecutive { first, count } => {
                assert!(vertex < *count, "vertex {vertex} of {count}");
                ExternalId::Unsigned(first + u64::from(vertex))
            }
            VertexIds::Unsigned(ids) => ExternalId::Unsigned(ids[vertex as usize]),
            VertexIds::Signed(ids) => ExternalId::Signed(ids[vertex as usize]),
            VertexIds::Names(names) => ExternalId::Name(names.get(vertex as usize)),
        }
    }

    /// Returns the vertex of an external id, by binary search; a text that is an integer matches
    /// integers.
    pub fn find(&self, id: ExternalId<'_>) -> Option<VertexId> {
        let integer = || match id {
            ExternalId::Unsigned(id) => Some(i128::from(id)),
            ExternalId::Signed(id) => Some(i128::from(id)),
            ExternalId::Name(name) => printed_integer(name),
        };
        let rank = match self {
            VertexIds::Consecutive { first, count } => {
                let rank = integer()? - i128::from(*first);
                return (0..i128::from(*count)).contains(&rank).then_some(rank as u32);
            }
            VertexIds::Unsigned(ids) => ids.binary_search(&u64::try_from(integer()?).ok()?).ok()?,
            VertexIds::Signed(ids) => ids.binary_search(&i64::try_from(integer()?).ok()?).ok()?,
            VertexIds::Names(names) => {
                let text = match id {
                    ExternalId::Name(name) => std::borrow::Cow::Borrowed(name),
                    other => std::borrow::Cow::Owned(other.to_string()),
                };
                let (mut low, mut high) = (0, names.len());
                while low < high {
                    let middle = low + (high - low) / 2;
                    if names.get(middle) < &*text { low = middle + 1 } else { high = middle }
                }
                (low < names.len() && names.get(low) == text).then_some(low)?
            }
        };
        Some(rank as u32)
    }

    /// Returns a copy of the ids of a range of vertices.
    ///
    /// # Errors
    /// If memory allocation fails.
    ///
    /// # Panics
    /// If the range ends past [`VertexIds::len`], or before it begins.
    pub fn copied(&self, vertices: Range<usize>) -> Result<VertexIds, OutOfMemory> {
        let Range { start, end } = vertices;
        assert!(start <= end && end <= self.len(), "vertices {start}..{end} of {}", self.len());
        Ok(match self {
            VertexIds::Consecutive { first, .. } => {
                VertexIds::Consecutive { first: first + start as u64, count: (end - start) as u32 }
            }
            VertexIds::Unsigned(ids) => VertexIds::Unsigned(memory::copied(&ids[vertices])?.into()),
            VertexIds::Signed(ids) => VertexIds::Signed(memory::copied(&ids[vertices])?.into()),
            VertexIds::Names(names) => VertexIds::Names(names.copied(vertices)?),
        })
    }

    /// Returns whether the ids strictly ascend and are few enough: every graph relies on this.
    pub fn is_valid(&self) -> bool {
        self.len() <= MAX_VERTICES as usize
            && match self {
                VertexIds::Consecutive { first, count } => {
                    first.checked_add(u64::from(*count)).is_some()
                }
                VertexIds::Unsigned(ids) => ids.windows(2).all(|pair| pair[0] < pair[1]),
                VertexIds::Signed(ids) => ids.windows(2).all(|pair| pair[0] < pair[1]),
                VertexIds::Names(names) => {
                    (1..names.len()).all(|i| names.bytes_of(i - 1) < names.bytes_of(i))
                }
            }
    }

    /// Returns the bytes that the ids occupy.
    pub fn bytes(&self) -> u64 {
        match self {
            VertexIds::Consecutive { .. } => 0,
            VertexIds::Unsigned(ids) => ids.bytes(),
            VertexIds::Signed(ids) => ids.bytes(),
            VertexIds::Names(names) => names.offsets.bytes() + names.bytes.bytes(),
        }
    }
}

/// Returns the integer that prints as `name`; `None` for `007`, `+7` and `-0`, which are different
/// names.
fn printed_integer(name: &str) -> Option<i128> {
    let digits = name.strip_prefix('-').unwrap_or(name);
    let is_printed = match digits.as_bytes() {
        [b'0'] => digits.len() == name.len(),
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_printed.then(|| name.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_kind() -> Vec<VertexIds> {
        vec![
            VertexIds::Consecutive { first: 1, count: 3 },
            VertexIds::Unsigned(vec![0, 7, u64::MAX].into()),
            VertexIds::Signed(vec![i64::MIN, -1, 5].into()),
            VertexIds::Names(Names::new(["Zoë", "a", "ab"])),
        ]
    }

    #[test]
    fn find_inverts_get() {
        for ids in every_kind() {
            assert!(ids.is_valid());
            for vertex in 0..ids.len() as u32 {
                let id = ids.get(vertex);
                assert_eq!(ids.find(id), Some(vertex));
                assert_eq!(ids.find(ExternalId::Name(&id.to_string())), Some(vertex));
            }
            for missing in [
                "",
                "b",
                "99",
                "-7",
                "00",
                "+3",
                "-0",
                "03",
                "340282366920938463463374607431768211456",
            ] {
                assert_eq!(ids.find(ExternalId::Name(missing)), None, "{missing} in {ids:?}");
            }
        }
    }

    #[test]
    fn a_copied_range_has_the_ids_of_its_vertices() {
        for ids in every_kind() {
            for (start, end) in [(0, 3), (1, 3), (1, 2), (3, 3)] {
                let part = ids.copied(start..end).unwrap();
                assert!(part.is_valid() && part.len() == end - start);
                for vertex in start..end {
                    let id = part.get((vertex - start) as u32);
                    assert_eq!(id, ids.get(vertex as u32));
                }
            }
        }
    }

    #[test]
    fn integers_precede_by_value_and_names_by_bytes() {
        let (unsigned, signed) = (ExternalId::Unsigned, ExternalId::Signed);
        assert!(unsigned(1).precedes(unsigned(2)) && signed(-1).precedes(unsigned(0)));
        assert!(!unsigned(2).precedes(signed(2)) && !unsigned(u64::MAX).precedes(signed(5)));
        let name = ExternalId::Name;
        assert!(name("Z").precedes(name("a")) && !name("a").precedes(name("a")));
        assert!(!name("a").precedes(unsigned(1)) && !unsigned(1).precedes(name("a")));
    }

    #[test]
    fn order_is_checked() {
        assert!(!VertexIds::Unsigned(vec![3, 3].into()).is_valid());
        assert!(!VertexIds::Names(Names::new(["b", "a"])).is_valid());
        assert!(!VertexIds::Consecutive { first: u64::MAX, count: 2 }.is_valid());
    }

    #[test]
    fn stored_names_are_checked() {
        let parts = |offsets: &[u64], bytes: &[u8]| {
            Names::from_parts(offsets.to_vec().into(), bytes.to_vec().into()).is_some()
        };
        assert!(parts(&[0, 1, 3], "aé".as_bytes()));
        assert!(!parts(&[0, 2, 3], "aé".as_bytes()), "splits a character");
        assert!(!parts(&[0, 1, 2], "aé".as_bytes()), "ends early");
        assert!(!parts(&[0, 3, 1, 3], "aé".as_bytes()), "descends");
        assert!(!parts(&[0, 1], &[0xff]), "not UTF-8");
        assert!(!parts(&[], b""), "no offsets");
    }
}
