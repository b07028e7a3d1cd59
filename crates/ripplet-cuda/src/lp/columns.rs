//! A program's columns on a device: values of vertices that its hooks read and write.

use super::run_memory::RunMemory;
use super::state::{Column, Fill};
use ripplet_gpu::Arena;
use ripplet_gpu::{Address, Device, DeviceError};
use ripplet_graph::memory::OutOfMemory;
use ripplet_lp::{ColumnKind, ColumnSpec, ColumnValues, RunError, Settings, engine};
use std::ops::Range;

/// Draft index of a column that is not written.
const NO_DRAFT: u32 = u32::MAX;

/// Byte ranges of the columns, in the program's order, and of the drafts.
#[derive(Clone, Debug, Default)]
pub struct ColumnPlaces {
    columns: Vec<(ColumnSpec, Range<u64>)>,
    drafts: Range<u64>,
}

impl ColumnPlaces {
    /// Allocates columns, and a draft of `drafted` values for each vertex.
    pub fn new(to: &mut Arena, specs: &[ColumnSpec], vertices: u32, drafted: u64) -> ColumnPlaces {
        let column =
            |spec: &ColumnSpec| (spec.clone(), to.take(4, engine::values_of(spec, vertices)));
        let columns = specs.iter().map(column).collect();
        ColumnPlaces { columns, drafts: to.take(4, drafted.saturating_mul(vertices.into())) }
    }

    /// Returns the address of the drafts.
    pub fn drafts(&self, base: Address) -> Address {
        base.plus(self.drafts.start)
    }

    /// Returns the columns as kernels have them. C++ has no empty array: without columns there is
    /// one, unused.
    pub fn state(&self, base: Address) -> Vec<Column> {
        let mut draft = 0;
        let column = |(spec, place): &(ColumnSpec, Range<u64>)| {
            let first = draft;
            draft += if spec.written { spec.len } else { 0 };
            Column {
                values: base.plus(place.start),
                length: spec.len,
                draft: if spec.written { first } else { NO_DRAFT },
            }
        };
        let mut all: Vec<Column> = self.columns.iter().map(column).collect();
        if all.is_empty() {
            all.push(Column::default());
        }
        all
    }

    /// Uploads the columns that a checkpoint or the caller has; returns the arguments that fill the
    /// others with defaults.
    pub fn upload<D: Device>(
        &self,
        memory: &RunMemory<'_, D>,
        settings: &Settings,
    ) -> Result<Vec<Fill>, DeviceError> {
        let (base, mut fills) = (memory.base(), Vec::new());
        let mut kept = settings.resume.iter().flat_map(|checkpoint| &checkpoint.columns);
        for (spec, place) in &self.columns {
            if let Some(kept) = if spec.written { kept.next() } else { None } {
                memory.write(place, 0, bytemuck::cast_slice(kept))?;
                continue;
            }
            match settings.columns.get(&*spec.name) {
                Some(ColumnValues::U32(given)) => {
                    memory.write(place, 0, bytemuck::cast_slice(given))?;
                }
                Some(ColumnValues::F32(given)) => {
                    memory.write(place, 0, bytemuck::cast_slice(given))?;
                }
                None => fills.push(Fill {
                    values: base.plus(place.start),
                    count: (place.end - place.start) / 4,
                    bits: spec.default_bits().ok().flatten().unwrap_or(0),
                    step: 0,
                }),
            }
        }
        Ok(fills)
    }

    fn written(&self) -> impl Iterator<Item = &(ColumnSpec, Range<u64>)> {
        self.columns.iter().filter(|(spec, _)| spec.written)
    }

    /// Returns the bits of the written columns, for a checkpoint.
    pub fn bits<D: Device>(
        &self,
        memory: &RunMemory<'_, D>,
        refused: impl Fn(OutOfMemory) -> RunError + Copy,
    ) -> Result<Vec<Vec<u32>>, RunError> {
        self.written().map(|(_, place)| memory.download(place, refused)).collect()
    }

    /// Returns the written columns.
    pub fn download<D: Device>(
        &self,
        memory: &RunMemory<'_, D>,
        refused: impl Fn(OutOfMemory) -> RunError + Copy,
    ) -> Result<Vec<ripplet_lp::Column>, RunError> {
        let column = |(spec, place): &(ColumnSpec, Range<u64>)| {
            let values = match spec.kind {
                ColumnKind::U32 => ColumnValues::U32(memory.download(place, refused)?),
                ColumnKind::F32 => ColumnValues::F32(memory.download(place, refused)?),
            };
            Ok(ripplet_lp::Column { name: spec.name.clone(), len: spec.len, values })
        };
        self.written().map(column).collect()
    }
}
