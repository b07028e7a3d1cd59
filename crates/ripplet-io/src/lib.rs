//! Every file format of ripplet, in and out.
//!
//! ```text
//! path, "-" ─▶ Format (by extension or option) ─▶ read_edges ─▶ EdgeTable     .txt .el .tsv .csv .e .mtx .graph .parquet .arrow
//!                                              └▶ rg::open   ─▶ Graph         .rg, memory-mapped
//! labels ────▶ write ─▶ a whole file or none                                  .txt .tsv .csv .parquet .arrow
//! ```
//!
//! Readers know no algorithm; what they cannot read is a [`ReadError`] that names file, line (or
//! byte, or row) and what was expected.

mod error;
mod format;
mod intern;
mod labels;
mod map;
mod names;
mod options;
mod read;
mod seeds;
mod text;
mod vertex_table;

pub mod columnar;
pub mod rg;
pub mod write;

pub use error::{Place, ReadError, ReadErrorKind, WriteError};
pub use format::{Compression, Format};
pub use labels::{parse_groups, parse_labels, read_groups, read_labels};
pub use options::{Columns, IdKind, ReadOptions};
pub use read::{parse_edges, parse_ldbc, read_edges, read_ldbc};
pub use seeds::{SeedRow, Seeds, UnknownSeeds, read_seeds};
pub use vertex_table::{ValueKind, VertexTable, VertexValues, read_vertex_table};
