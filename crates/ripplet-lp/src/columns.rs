//! Columns: one array a vertex attribute, by which a program keeps state of its own.
//!
//! A column holds `len` values of 32 bits a vertex, one vertex behind the other; `f32`s by their
//! bits, so that a change is a change of bits. A program says what columns it has
//! ([`Program::columns`](crate::Program::columns)); hooks read them of the vertex and of its
//! neighbours, and [`update_vertex`](crate::Program::update_vertex) writes those that are declared
//! as written. Columns that are only read are filled once, before the run.
//!
//! Memory: 4 bytes a value.

use crate::Settings;
use crate::program::Scalar;
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{VertexId, as_plain};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use thiserror::Error;

/// What a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// `u32`.
    U32,
    /// `f32`.
    F32,
}

/// A column that a program wants.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What its values are.
    pub kind: ColumnKind,
    /// Values a vertex.
    pub len: u32,
    /// What all its values begin with where none are given; without it they must be.
    pub default: Option<Scalar>,
    /// Whether `update_vertex` sets it.
    pub written: bool,
}

/// The values of a column, one vertex behind the other.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    /// `u32`s.
    U32(Vec<u32>),
    /// `f32`s. Given ones must be numbers; infinite ones may be.
    F32(Vec<f32>),
}

/// A column after a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Values a vertex.
    pub len: u32,
    /// `len` values for each vertex. `f32`s may be NaN where the program wrote that.
    pub values: ColumnValues,
}

/// Columns that do not fit a program, or a program's columns that do not fit one another.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ColumnError {
    /// A column was given that the program does not have.
    #[error("the program has no column `{name}`; it has {}", listed(.known))]
    Unknown {
        /// The column given.
        name: String,
        /// Those it has.
        known: Vec<String>,
    },
    /// A column without a default was not given.
    #[error("the program's column `{name}` must be given: it has no default")]
    Missing {
        /// The column.
        name: String,
    },
    /// The values are of the other type.
    #[error("the column `{name}` holds {wanted} values, but {given} values were given")]
    Kind {
        /// The column.
        name: String,
        /// What the program wants.
        wanted: ColumnKind,
        /// What was given.
        given: ColumnKind,
    },
    /// Not as many values as the vertices need.
    #[error("{given} values for the column `{name}`, which needs {wanted}: {len} a vertex")]
    Length {
        /// The column.
        name: String,
        /// Values given.
        given: usize,
        /// Values needed.
        wanted: u64,
        /// Values a vertex.
        len: u32,
    },
    /// A value that is not a number.
    #[error("the column `{name}` holds no number (NaN) for vertex {vertex}; fill it or drop it")]
    NotANumber {
        /// The column.
        name: String,
        /// The first such vertex.
        vertex: usize,
    },
    /// Two columns of one name.
    #[error("the program has two columns `{name}`; a column's name must be its own")]
    Twice {
        /// The name.
        name: String,
    },
    /// A default of another type than the column.
    #[error("the column `{name}` holds {wanted} values, but its default is {default:?}")]
    Default {
        /// The column.
        name: String,
        /// What it holds.
        wanted: ColumnKind,
        /// Its default.
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
    /// What they are.
    pub fn kind(&self) -> ColumnKind {
        match self {
            ColumnValues::U32(_) => ColumnKind::U32,
            ColumnValues::F32(_) => ColumnKind::F32,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            ColumnValues::U32(values) => values.len(),
            ColumnValues::F32(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values where they are `u32`s.
    pub fn as_u32(&self) -> Option<&[u32]> {
        match self {
            ColumnValues::U32(values) => Some(values),
            ColumnValues::F32(_) => None,
        }
    }

    /// The values where they are `f32`s.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match self {
            ColumnValues::F32(values) => Some(values),
            ColumnValues::U32(_) => None,
        }
    }
}

impl ColumnSpec {
    /// The bits of its default, where it has one.
    ///
    /// # Errors
    /// Where the default is of another type than the column.
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

    /// Checks the values given for it.
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

/// Checks a program's columns and those given for them.
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
            (None, None) => return Err(ColumnError::Missing { name: name() }),
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

/// Bytes of the columns of so many vertices.
pub(crate) fn bytes_for(specs: &[ColumnSpec], vertices: u32) -> u64 {
    let values = specs.iter().map(|spec| values_of(spec, vertices));
    values.fold(0, u64::saturating_add).saturating_mul(4)
}

/// Values of the written columns for each vertex: the length of its draft.
pub(crate) fn draft_len(specs: &[ColumnSpec]) -> u64 {
    specs.iter().filter(|spec| spec.written).map(|spec| u64::from(spec.len)).sum()
}

/// Values of a column of so many vertices. Fits, as both have 32 bits.
pub(crate) fn values_of(spec: &ColumnSpec, vertices: u32) -> u64 {
    u64::from(spec.len) * u64::from(vertices)
}

/// Values that several threads write.
fn atomics(
    values: impl IndexedParallelIterator<Item = u32>,
) -> Result<Vec<AtomicU32>, OutOfMemory> {
    let mut array = memory::with_room(values.len())?;
    array.par_extend(values.map(AtomicU32::new));
    Ok(array)
}

/// The columns of a run, in the program's order.
///
/// A vertex's written columns, one behind the other, are its *draft* while `update_vertex` runs
/// and until the schedule shows them to others.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    stores: Vec<Store>,
    draft_len: usize,
}

#[derive(Debug)]
struct Store {
    values: Vec<AtomicU32>,
    /// Values a vertex.
    len: u32,
    /// Where its values begin in a vertex's draft; only written columns are there.
    draft: Option<usize>,
}

impl Columns {
    /// The columns before the first round that is done here; the settings are checked.
    pub fn new(
        specs: &[ColumnSpec],
        settings: &Settings,
        vertices: u32,
    ) -> Result<Columns, OutOfMemory> {
        let mut columns = Columns::default();
        let mut kept = settings.resume.iter().flat_map(|checkpoint| &checkpoint.columns);
        for spec in specs {
            let kept = if spec.written { kept.next() } else { None };
            let values = match (kept, settings.columns.get(&*spec.name)) {
                (Some(bits), _) => atomics(bits.par_iter().copied())?,
                (None, Some(ColumnValues::U32(given))) => atomics(given.par_iter().copied())?,
                (None, Some(ColumnValues::F32(given))) => {
                    atomics(given.par_iter().map(|number| number.to_bits()))?
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

    /// What the written columns hold, in the program's order.
    pub fn state(&mut self) -> Vec<Cow<'_, [u32]>> {
        let written = self.stores.iter_mut().filter(|store| store.draft.is_some());
        written.map(|store| Cow::Borrowed(&*as_plain(&mut store.values))).collect()
    }

    /// Values of a vertex's draft.
    #[inline]
    pub fn draft_len(&self) -> usize {
        self.draft_len
    }

    /// Value `index` of a vertex in column `slot`; 0 where there is none.
    #[inline]
    pub fn get(&self, slot: usize, v: VertexId, index: u32) -> u32 {
        let Some(store) = self.stores.get(slot).filter(|store| index < store.len) else { return 0 };
        let at = v as usize * store.len as usize + index as usize;
        store.values.get(at).map_or(0, |value| value.load(Relaxed))
    }

    /// The values of column `slot`, one vertex behind the other; none where there is no column.
    #[inline]
    pub fn values(&self, slot: usize) -> &[AtomicU32] {
        self.stores.get(slot).map_or(&[], |store| &store.values)
    }

    /// Where a written column's value is in a vertex's draft.
    #[inline]
    pub fn drafted(&self, slot: usize, index: u32) -> Option<usize> {
        let store = self.stores.get(slot).filter(|store| index < store.len)?;
        store.draft.map(|first| first + index as usize)
    }

    /// Makes `draft` what the vertex's written columns hold.
    #[inline]
    pub fn begin_draft(&self, v: VertexId, draft: &mut Vec<u32>) {
        if self.draft_len > 0 {
            draft.clear();
            draft.extend(self.written(v).map(|value| value.load(Relaxed)));
        }
    }

    /// Whether a vertex's written columns hold anything else than the draft.
    #[inline]
    pub fn differ(&self, v: VertexId, draft: &[u32]) -> bool {
        self.draft_len > 0
            && self.written(v).zip(draft).any(|(value, &next)| value.load(Relaxed) != next)
    }

    /// Shows a vertex's draft to everybody.
    #[inline]
    pub fn commit(&self, v: VertexId, draft: impl IntoIterator<Item = u32>) {
        self.written(v).zip(draft).for_each(|(value, next)| value.store(next, Relaxed));
    }

    /// The values of a vertex's written columns, in the order of its draft.
    #[inline]
    pub fn written(&self, v: VertexId) -> impl Iterator<Item = &AtomicU32> {
        self.stores.iter().filter(|store| store.draft.is_some()).flat_map(move |store| {
            let (first, len) = (v as usize * store.len as usize, store.len as usize);
            &store.values[first..first + len]
        })
    }

    /// Gives back what was written, and frees the rest.
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
