//! Columns: one array per vertex attribute, in which a program keeps state beside the label.
//!
//! A column holds `len` 32-bit values per vertex, vertex by vertex. `f32`s are stored as bits, so
//! that a change is a change of bits. A program declares its columns
//! ([`Program::columns`](crate::Program::columns)). Hooks read the values of the vertex and of its
//! neighbours, and [`update_vertex`](crate::Program::update_vertex) writes the columns that are
//! declared as written. Read-only columns are filled once, before the run.
//!
//! Memory: 4 bytes per value.

use crate::scalar::Scalar;
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{Buffer, VertexId, as_plain};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use thiserror::Error;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// `u32`.
    U32,
    /// `f32`.
    F32,
}

/// The declaration of a program's column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    /// The name.
    pub name: Cow<'static, str>,
    /// The type of its values.
    pub kind: ColumnKind,
    /// Values per vertex.
    pub len: u32,
    /// The initial value if none are given; without a default, values must be given.
    pub default: Option<Scalar>,
    /// Whether `update_vertex` writes it.
    pub written: bool,
}

/// The values of a column, vertex by vertex.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    /// `u32` values.
    U32(Vec<u32>),
    /// `f32` values. Given ones must not be NaN; infinities are allowed.
    F32(Vec<f32>),
}

/// A written column after a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name.
    pub name: Cow<'static, str>,
    /// Values per vertex.
    pub len: u32,
    /// `len` values per vertex. `f32`s may be NaN if the program wrote NaN.
    pub values: ColumnValues,
}

/// Given columns that do not fit a program, or a program's columns that are inconsistent.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ColumnError {
    /// A column was given that the program does not have.
    #[error("the program has no column `{name}`; it has {}", listed(.known))]
    Unknown {
        /// The given column.
        name: String,
        /// The program's columns.
        known: Vec<String>,
    },
    /// A column without a default was not given.
    #[error("the program's column `{name}` must be given: it has no default")]
    Missing {
        /// The column.
        name: String,
        /// Values per vertex.
        len: u32,
    },
    /// The given values have the other type.
    #[error("the column `{name}` holds {wanted} values, but {given} values were given")]
    Kind {
        /// The column.
        name: String,
        /// The type that the program declares.
        wanted: ColumnKind,
        /// The type that was given.
        given: ColumnKind,
    },
    /// The number of given values differs from what the vertices need.
    #[error("{given} values for the column `{name}`, which needs {wanted}: {len} a vertex")]
    Length {
        /// The column.
        name: String,
        /// Values given.
        given: usize,
        /// Values needed.
        wanted: u64,
        /// Values per vertex.
        len: u32,
    },
    /// A given value is NaN.
    #[error("the column `{name}` holds no number (NaN) for vertex {vertex}; fill it or drop it")]
    NotANumber {
        /// The column.
        name: String,
        /// The first vertex with NaN.
        vertex: usize,
    },
    /// Two columns of the program have the same name.
    #[error("the program has two columns `{name}`; a column's name must be its own")]
    Twice {
        /// The name.
        name: String,
    },
    /// A default has another type than its column.
    #[error("the column `{name}` holds {wanted} values, but its default is {default:?}")]
    Default {
        /// The column.
        name: String,
        /// The column's type.
        wanted: ColumnKind,
        /// The default.
        default: Scalar,
    },
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => format!("`{}`", names.join("`, `")),
    }
}

impl std::fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ColumnKind::U32 => "u32",
            ColumnKind::F32 => "f32",
        })
    }
}

impl ColumnValues {
    /// Returns the type of the values.
    pub fn kind(&self) -> ColumnKind {
        match self {
            ColumnValues::U32(_) => ColumnKind::U32,
            ColumnValues::F32(_) => ColumnKind::F32,
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            ColumnValues::U32(values) => values.len(),
            ColumnValues::F32(values) => values.len(),
        }
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values if they are `u32`s.
    pub fn as_u32(&self) -> Option<&[u32]> {
        match self {
            ColumnValues::U32(values) => Some(values),
            ColumnValues::F32(_) => None,
        }
    }

    /// Returns the values if they are `f32`s.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match self {
            ColumnValues::F32(values) => Some(values),
            ColumnValues::U32(_) => None,
        }
    }
}

impl ColumnSpec {
    /// Returns the default as bits, if there is one.
    ///
    /// # Errors
    /// If the default has another type than the column.
    pub fn default_bits(&self) -> Result<Option<u32>, ColumnError> {
        match (self.kind, self.default) {
            (_, None) => Ok(None),
            (ColumnKind::U32, Some(Scalar::U32(value))) => Ok(Some(value)),
            (ColumnKind::F32, Some(Scalar::F32(value))) => Ok(Some(value.to_bits())),
            (wanted, Some(default)) => {
                Err(ColumnError::Default { name: self.name.clone().into_owned(), wanted, default })
            }
        }
    }

    /// Checks the values given for the column.
    fn check(&self, values: &ColumnValues, vertices: u32) -> Result<(), ColumnError> {
        let name = || self.name.clone().into_owned();
        if values.kind() != self.kind {
            let (wanted, given) = (self.kind, values.kind());
            return Err(ColumnError::Kind { name: name(), wanted, given });
        }
        let (given, wanted, len) = (values.len(), values_of(self, vertices), self.len);
        if given as u64 != wanted {
            return Err(ColumnError::Length { name: name(), given, wanted, len });
        }
        match values.as_f32().and_then(|values| values.iter().position(|value| value.is_nan())) {
            Some(at) => Err(ColumnError::NotANumber { name: name(), vertex: at / len as usize }),
            None => Ok(()),
        }
    }
}

/// Checks a program's columns and the values given for them.
pub(crate) fn check(
    specs: &[ColumnSpec],
    given: &BTreeMap<String, ColumnValues>,
    vertices: u32,
) -> Result<(), ColumnError> {
    for (index, spec) in specs.iter().enumerate() {
        let name = || spec.name.clone().into_owned();
        if specs[..index].iter().any(|other| other.name == spec.name) {
            return Err(ColumnError::Twice { name: name() });
        }
        match (given.get(&*spec.name), spec.default_bits()?) {
            (Some(values), _) => spec.check(values, vertices)?,
            (None, None) => return Err(ColumnError::Missing { name: name(), len: spec.len }),
            (None, Some(_)) => {}
        }
    }
    match given.keys().find(|name| specs.iter().all(|spec| spec.name != **name)) {
        Some(name) => {
            let known = specs.iter().map(|spec| spec.name.clone().into_owned()).collect();
            Err(ColumnError::Unknown { name: name.clone(), known })
        }
        None => Ok(()),
    }
}

/// Returns the bytes of the columns for `vertices` vertices.
pub(crate) fn bytes_for(specs: &[ColumnSpec], vertices: u32) -> u64 {
    let values = specs.iter().map(|spec| values_of(spec, vertices));
    values.fold(0, u64::saturating_add).saturating_mul(4)
}

/// Returns the number of written values per vertex: the length of a draft.
pub(crate) fn draft_len(specs: &[ColumnSpec]) -> u64 {
    specs.iter().filter(|spec| spec.written).map(|spec| u64::from(spec.len)).sum()
}

/// Returns the number of values of a column for `vertices` vertices. It cannot overflow: both
/// factors have 32 bits.
pub(crate) fn values_of(spec: &ColumnSpec, vertices: u32) -> u64 {
    u64::from(spec.len) * u64::from(vertices)
}

/// Makes an array that several threads may write.
fn atomics(
    values: impl IndexedParallelIterator<Item = u32>,
) -> Result<Vec<AtomicU32>, OutOfMemory> {
    let mut array = memory::with_room(values.len())?;
    array.par_extend(values.map(AtomicU32::new));
    Ok(array)
}

/// The columns of a run, in the program's order.
///
/// The *draft* of a vertex holds the new values of its written columns, column by column.
/// `update_vertex` fills it; the schedule commits it later.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    stores: Vec<Store>,
    draft_len: usize,
}

#[derive(Debug)]
struct Store {
    values: Vec<AtomicU32>,
    /// Values per vertex.
    len: u32,
    /// The begin of the column in a vertex's draft; `None` for read-only columns.
    draft: Option<usize>,
}

impl Columns {
    /// Fills the columns for the first round of a run with checked settings: from the checkpoint if
    /// there is one.
    pub fn new(
        specs: &[ColumnSpec],
        given: &BTreeMap<String, ColumnValues>,
        kept: &[Buffer<u32>],
        vertices: u32,
    ) -> Result<Columns, OutOfMemory> {
        let mut columns = Columns::default();
        let mut kept = kept.iter();
        for spec in specs {
            let kept = if spec.written { kept.next() } else { None };
            let values = match (kept, given.get(&*spec.name)) {
                (Some(bits), _) => atomics(bits.par_iter().with_min_len(MIN_LEN).copied())?,
                (None, Some(ColumnValues::U32(given))) => {
                    atomics(given.par_iter().with_min_len(MIN_LEN).copied())?
                }
                (None, Some(ColumnValues::F32(given))) => {
                    atomics(given.par_iter().with_min_len(MIN_LEN).map(|number| number.to_bits()))?
                }
                (None, None) => {
                    let count = usize::try_from(values_of(spec, vertices)).unwrap_or(usize::MAX);
                    let bits = spec.default_bits().ok().flatten().unwrap_or(0);
                    atomics(rayon::iter::repeat_n(bits, count))?
                }
            };
            let draft = spec.written.then_some(columns.draft_len);
            columns.draft_len += if spec.written { spec.len as usize } else { 0 };
            columns.stores.push(Store { values, len: spec.len, draft });
        }
        Ok(columns)
    }

    /// Returns the written columns as bits, in the program's order.
    pub fn state(&mut self) -> Vec<Cow<'_, [u32]>> {
        let written = self.stores.iter_mut().filter(|store| store.draft.is_some());
        written.map(|store| Cow::Borrowed(&*as_plain(&mut store.values))).collect()
    }

    /// Returns the number of values in a vertex's draft.
    #[inline]
    pub fn draft_len(&self) -> usize {
        self.draft_len
    }

    /// Returns value `index` of a vertex in column `slot`; 0 if there is no such value.
    #[inline]
    pub fn get(&self, slot: usize, v: VertexId, index: u32) -> u32 {
        let Some(store) = self.stores.get(slot).filter(|store| index < store.len) else { return 0 };
        let at = v as usize * store.len as usize + index as usize;
        store.values.get(at).map_or(0, |value| value.load(Relaxed))
    }

    /// Returns the values of column `slot`, vertex by vertex; empty if there is no such column.
    #[inline]
    pub fn values(&self, slot: usize) -> &[AtomicU32] {
        self.stores.get(slot).map_or(&[], |store| &store.values)
    }

    /// Returns the place of a written column's value in a vertex's draft.
    #[inline]
    pub fn drafted(&self, slot: usize, index: u32) -> Option<usize> {
        let store = self.stores.get(slot).filter(|store| index < store.len)?;
        store.draft.map(|first| first + index as usize)
    }

    /// Fills `draft` with the vertex's written columns.
    #[inline]
    pub fn begin_draft(&self, v: VertexId, draft: &mut Vec<u32>) {
        if self.draft_len > 0 {
            draft.clear();
            for values in self.written_parts(v) {
                draft.extend(values.iter().map(|value| value.load(Relaxed)));
            }
        }
    }

    /// Returns whether a vertex's written columns differ from the draft.
    #[inline]
    pub fn differ(&self, v: VertexId, draft: &[u32]) -> bool {
        let mut rest = draft;
        self.draft_len > 0
            && self.written_parts(v).any(|values| {
                let (here, behind) = rest.split_at(values.len().min(rest.len()));
                rest = behind;
                values.iter().zip(here).any(|(value, &next)| value.load(Relaxed) != next)
            })
    }

    /// Commits a vertex's draft to the columns, where other vertices read it.
    #[inline]
    pub fn commit(&self, v: VertexId, draft: impl IntoIterator<Item = u32>) {
        let mut draft = draft.into_iter();
        for values in self.written_parts(v) {
            values.iter().zip(&mut draft).for_each(|(value, next)| value.store(next, Relaxed));
        }
    }

    /// Yields the values of a vertex's written columns, in the order of its draft.
    #[inline]
    pub fn written(&self, v: VertexId) -> impl Iterator<Item = &AtomicU32> {
        self.written_parts(v).flatten()
    }

    /// Yields the values of each of a vertex's written columns. Loops over these slices are faster
    /// than over [`Columns::written`].
    #[inline]
    fn written_parts(&self, v: VertexId) -> impl Iterator<Item = &[AtomicU32]> {
        self.stores.iter().filter(|store| store.draft.is_some()).map(move |store| {
            let (first, len) = (v as usize * store.len as usize, store.len as usize);
            &store.values[first..first + len]
        })
    }

    /// Returns the written columns and frees the others.
    pub fn into_written(self, specs: Vec<ColumnSpec>) -> Vec<Column> {
        let stores = specs.into_iter().zip(self.stores).filter(|(spec, _)| spec.written);
        let column = |(spec, store): (ColumnSpec, Store)| Column {
            name: spec.name,
            len: spec.len,
            values: match spec.kind {
                ColumnKind::U32 => {
                    ColumnValues::U32(store.values.into_iter().map(AtomicU32::into_inner).collect())
                }
                ColumnKind::F32 => {
                    let bits = store.values.into_iter().map(AtomicU32::into_inner);
                    ColumnValues::F32(bits.map(f32::from_bits).collect())
                }
            },
        };
        stores.map(column).collect()
    }
}
