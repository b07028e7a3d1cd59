//! Edge tables of a program's own edges, whose ids are integers of any type or strings.

use crate::intern::{Ends, Sign, intern_integers, intern_names};
use crate::names::{InternError, NameIndex, NameSet};
use ripplet_graph::{EdgeTable, EdgeTableError, ExternalId, MAX_VERTICES, OutOfMemory, memory};
use thiserror::Error;

/// An edge: its two ends and, of some types, its weight.
///
/// It is implemented for `(id, id)`, `[id; 2]` and `(id, id, weight)`, and for references to them.
/// An id is anything that converts into an [`ExternalId`] by reference: integers, strings, or a
/// type of your own that implements [`EdgeId`].
pub trait Edge {
    /// Whether edges of this type have weights.
    const WEIGHTED: bool;

    /// Returns the ids of both ends.
    fn ends(&self) -> [ExternalId<'_>; 2];

    /// Returns the weight; 1 if edges of this type have none.
    fn weight(&self) -> f64 {
        1.0
    }
}

/// An id of a vertex in an edge.
pub trait EdgeId {
    /// Returns the id as an integer or a name.
    fn external(&self) -> ExternalId<'_>;
}

/// Error of edges that do not become an edge table.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum EdgeListError {
    /// Some ids are integers, others are strings.
    #[error("edge {edge} has an integer and a string as ids, or others than the edges before")]
    MixedIds {
        /// The edge, counted from 0.
        edge: usize,
    },
    /// Some ids are negative, others are 2⁶³ or more.
    #[error("edge {edge} has a vertex id of 2^63 or more, and other ids are negative")]
    LargeAndNegative {
        /// The edge, counted from 0.
        edge: usize,
    },
    /// The ids are more than a graph has vertices for.
    #[error("there are more distinct vertex ids than the {MAX_VERTICES} that a graph can have")]
    TooManyVertices,
    /// A weight is NaN, infinite or negative.
    #[error(transparent)]
    Table(#[from] EdgeTableError),
    /// Memory is refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl From<InternError> for EdgeListError {
    fn from(error: InternError) -> EdgeListError {
        match error {
            InternError::TooManyVertices => EdgeListError::TooManyVertices,
            InternError::OutOfMemory(error) => error.into(),
        }
    }
}

/// Collects edges in any order into an edge table. The vertices are the ids that occur, in
/// ascending order: integers by value, strings by bytes.
///
/// Memory: 8 bytes per edge while the edges come (16 with ids of 2³² or more, and 8 more with
/// weights), then as much again. The table does not depend on the number of threads.
///
/// ```
/// let table = ripplet_io::edge_table([("b", "a", 2.0), ("a", "c", 0.5)])?;
/// assert_eq!(table.ids().len(), 3);
/// assert_eq!(table.weights(), Some(&[2.0, 0.5][..]));
///
/// let table = ripplet_io::edge_table(&[(-7, 3), (3, 90)])?;
/// assert_eq!((table.sources(), table.targets()), (&[0, 1][..], &[1, 2][..]));
/// # Ok::<(), ripplet_io::EdgeListError>(())
/// ```
///
/// # Errors
/// If ids are of different kinds or too many, a weight is NaN, infinite or negative, or memory is
/// refused.
pub fn edge_table<E: Edge>(edges: impl IntoIterator<Item = E>) -> Result<EdgeTable, EdgeListError> {
    let edges = edges.into_iter();
    let mut list = EdgeList::with_room::<E>(edges.size_hint().0)?;
    for edge in edges {
        list.push(edge.ends())?;
        if E::WEIGHTED {
            memory::push(&mut list.weights, edge.weight())?;
        }
    }
    list.finish(E::WEIGHTED)
}

/// The edges so far.
struct EdgeList {
    ids: Ids,
    weights: Vec<f64>,
    len: usize,
}

/// The ids of the edges so far.
enum Ids {
    Unknown {
        room: usize,
    },
    /// Integers as bits: negative ones are in two's complement.
    Integers {
        ends: Ends,
        has_negative: bool,
        first_large: Option<usize>,
    },
    /// Numbers in the set, two per edge.
    Names {
        set: NameSet,
        index: NameIndex,
        ends: Vec<u32>,
    },
}

impl EdgeList {
    fn with_room<E: Edge>(edges: usize) -> Result<EdgeList, OutOfMemory> {
        let weights = memory::with_room(if E::WEIGHTED { edges } else { 0 })?;
        Ok(EdgeList { ids: Ids::Unknown { room: edges }, weights, len: 0 })
    }

    fn push(&mut self, pair: [ExternalId<'_>; 2]) -> Result<(), EdgeListError> {
        if let Ids::Unknown { room } = self.ids {
            self.ids = match pair[0] {
                ExternalId::Name(_) => {
                    let index = NameIndex::default();
                    let set = index.alike();
                    Ids::Names { set, index, ends: memory::with_room(2 * room)? }
                }
                ExternalId::Unsigned(_) | ExternalId::Signed(_) => Ids::Integers {
                    ends: Ends::with_room(room)?,
                    has_negative: false,
                    first_large: None,
                },
            };
        }
        let mixed = EdgeListError::MixedIds { edge: self.len };
        match &mut self.ids {
            Ids::Unknown { .. } => return Err(mixed),
            Ids::Integers { ends, has_negative, first_large } => {
                let mut bits = [0; 2];
                for (bits, id) in bits.iter_mut().zip(pair) {
                    *bits = match id {
                        ExternalId::Unsigned(id) => {
                            if i64::try_from(id).is_err() {
                                first_large.get_or_insert(self.len);
                            }
                            id
                        }
                        ExternalId::Signed(id) => {
                            *has_negative |= id < 0;
                            id as u64
                        }
                        ExternalId::Name(_) => return Err(mixed),
                    };
                }
                ends.push(bits)?;
            }
            Ids::Names { set, ends, .. } => {
                let [ExternalId::Name(source), ExternalId::Name(target)] = pair else {
                    return Err(mixed);
                };
                let numbers = [set.number(source)?, set.number(target)?];
                memory::extend(ends, &numbers)?;
            }
        }
        self.len += 1;
        Ok(())
    }

    fn finish(self, weighted: bool) -> Result<EdgeTable, EdgeListError> {
        let interned = match self.ids {
            Ids::Unknown { .. } => intern_integers(Vec::new(), Sign::Unsigned)?,
            Ids::Integers { ends, has_negative: false, .. } => {
                intern_integers(vec![ends], Sign::Unsigned)?
            }
            Ids::Integers { first_large: Some(edge), .. } => {
                return Err(EdgeListError::LargeAndNegative { edge });
            }
            Ids::Integers { mut ends, .. } => {
                ends.make_signed()?;
                intern_integers(vec![ends], Sign::Signed)?
            }
            Ids::Names { set, mut index, mut ends } => {
                let numbers = index.number_sets(std::slice::from_ref(&set))?;
                drop(set);
                let numbers = numbers.first().map_or(&[][..], |numbers| numbers);
                ends.iter_mut().for_each(|end| *end = numbers[*end as usize]);
                intern_names(index, vec![ends])?
            }
        };
        let table = EdgeTable::new(interned.ids, interned.sources, interned.targets)?;
        Ok(if weighted { table.with_weights(self.weights)? } else { table })
    }
}

impl<A: EdgeId, B: EdgeId> Edge for (A, B) {
    const WEIGHTED: bool = false;

    fn ends(&self) -> [ExternalId<'_>; 2] {
        [self.0.external(), self.1.external()]
    }
}

impl<A: EdgeId> Edge for [A; 2] {
    const WEIGHTED: bool = false;

    fn ends(&self) -> [ExternalId<'_>; 2] {
        [self[0].external(), self[1].external()]
    }
}

impl<A: EdgeId, B: EdgeId, W: Copy + Into<f64>> Edge for (A, B, W) {
    const WEIGHTED: bool = true;

    fn ends(&self) -> [ExternalId<'_>; 2] {
        [self.0.external(), self.1.external()]
    }

    fn weight(&self) -> f64 {
        self.2.into()
    }
}

impl<E: Edge> Edge for &E {
    const WEIGHTED: bool = E::WEIGHTED;

    fn ends(&self) -> [ExternalId<'_>; 2] {
        (**self).ends()
    }

    fn weight(&self) -> f64 {
        (**self).weight()
    }
}

impl EdgeId for ExternalId<'_> {
    fn external(&self) -> ExternalId<'_> {
        *self
    }
}

impl<I: EdgeId + ?Sized> EdgeId for &I {
    fn external(&self) -> ExternalId<'_> {
        (**self).external()
    }
}

macro_rules! edge_ids {
    ($variant:ident of $wide:ty: $($narrow:ty),*) => {$(
        impl EdgeId for $narrow {
            fn external(&self) -> ExternalId<'_> {
                ExternalId::$variant(*self as $wide)
            }
        }
    )*};
}

edge_ids!(Unsigned of u64: u8, u16, u32, u64, usize);
edge_ids!(Signed of i64: i8, i16, i32, i64, isize);

macro_rules! edge_names {
    ($($text:ty),*) => {$(
        impl EdgeId for $text {
            fn external(&self) -> ExternalId<'_> {
                ExternalId::Name(self)
            }
        }
    )*};
}

edge_names!(
    str,
    String,
    Box<str>,
    std::sync::Arc<str>,
    std::rc::Rc<str>,
    std::borrow::Cow<'_, str>
);

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_graph::VertexIds;

    #[test]
    fn vertices_are_the_ids_in_ascending_order() {
        let table = edge_table([[900_u64, 7], [7, u64::MAX], [900, 900]]).unwrap();
        assert_eq!(*table.ids(), VertexIds::Unsigned(vec![7, 900, u64::MAX].into()));
        assert_eq!((table.sources(), table.targets()), (&[1, 0, 1][..], &[0, 2, 1][..]));

        let table = edge_table([(5_i32, -5), (i32::MIN, 0)]).unwrap();
        let signed = vec![i64::from(i32::MIN), -5, 0, 5];
        assert_eq!(*table.ids(), VertexIds::Signed(signed.into()));
        assert_eq!((table.sources(), table.targets()), (&[3, 0][..], &[1, 2][..]));
        // Without a negative id the ids are those of unsigned types.
        let signed = edge_table([(5_i64, 8)]).unwrap();
        assert_eq!(signed, edge_table([(5_u8, 8_u8)]).unwrap());
    }

    #[test]
    fn names_are_ordered_by_bytes_and_need_not_be_borrowed() {
        let owned = vec![("b".to_string(), "Z".to_string(), 2_f32), ("Z".into(), "é".into(), 0.5)];
        let table = edge_table(&owned).unwrap();
        let names: Vec<String> = (0..3).map(|v| table.ids().get(v).to_string()).collect();
        assert_eq!(names, ["Z", "b", "é"]);
        assert_eq!((table.sources(), table.targets()), (&[1, 0][..], &[0, 2][..]));
        assert_eq!(table.weights(), Some(&[2.0, 0.5][..]));
        let borrowed = edge_table(owned.iter().map(|(a, b, w)| (&**a, &**b, *w))).unwrap();
        assert_eq!(borrowed, table);
    }

    #[test]
    fn many_edges_are_those_of_their_text() {
        let edges: Vec<(u32, u32)> =
            (0..5000).map(|i| (i * 7919 % 1013, i * 104_729 % 977)).collect();
        let text: String = edges.iter().map(|(a, b)| format!("{a} {b}\n")).collect();
        let options = crate::ReadOptions::default();
        let read = crate::parse_edges(text.as_bytes(), crate::Format::EdgeList, &options);
        assert_eq!(edge_table(&edges).unwrap(), read.unwrap());
        let named: Vec<_> = edges.iter().map(|(a, b)| (format!("n{a}"), format!("n{b}"))).collect();
        let table = edge_table(&named).unwrap();
        for (edge, (source, target)) in named.iter().enumerate() {
            let id = |vertex| table.ids().get(vertex).to_string();
            assert_eq!(id(table.sources()[edge]), *source);
            assert_eq!(id(table.targets()[edge]), *target);
        }
    }

    #[test]
    fn no_edges_are_no_vertices() {
        let table = edge_table(Vec::<(u64, u64)>::new()).unwrap();
        assert!(table.is_empty() && table.ids().is_empty());
        let table = edge_table(Vec::<(&str, &str, f64)>::new()).unwrap();
        assert_eq!(table.weights(), Some(&[][..]));
    }

    #[test]
    fn bad_edges_are_refused_by_their_number() {
        for weight in [f64::NAN, f64::INFINITY, -1.0] {
            let error = edge_table([(1, 2, 1.0), (2, 3, weight)]).unwrap_err();
            assert!(error.to_string().starts_with("edge 1 has weight"), "{error}");
        }
        let (name, number) = (ExternalId::Name("a"), ExternalId::Unsigned(1));
        let mixed = |edges: &[[ExternalId<'_>; 2]]| edge_table(edges).unwrap_err();
        assert_eq!(mixed(&[[name, number]]), EdgeListError::MixedIds { edge: 0 });
        let second = [[number, number], [number, name]];
        assert_eq!(mixed(&second), EdgeListError::MixedIds { edge: 1 });
        let (large, negative) = (ExternalId::Unsigned(1 << 63), ExternalId::Signed(-1));
        let error = mixed(&[[number, large], [negative, number]]);
        assert_eq!(error, EdgeListError::LargeAndNegative { edge: 0 });
    }
}
