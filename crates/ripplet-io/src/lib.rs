//! Readers and writers of all file formats of ripplet.
//!
//! ```text
//! path, "-" ─▶ Format (by extension or option) ─▶ read_edges ─▶ EdgeTable     .txt .el .tsv .csv .e .mtx .graph .graphml .gexf .gml .net .json .parquet .arrow, BV
//!                                              ├▶ rg::open   ─▶ Graph         .rg, memory-mapped
//!                                              └▶ rgz::open  ─▶ CompressedGraph .rgz, memory-mapped
//! folder of a TU data set ──▶ tu::read ──▶ GraphBatch                         DS_A.txt, DS_graph_indicator.txt
//! batch in parts ────────────▶ swarm_file ─▶ GraphBatch, part by part         .swarm, memory-mapped
//! many graphs ───────────────▶ batch ──────▶ GraphBatch, part by part         folder, .zip, .tar, a table, and the two above
//! run between two rounds ─▶ checkpoint ─▶ saved state                         .checkpoint, memory-mapped
//! s3://bucket/key, https://… ─▶ ranges of bytes of an object, or a local copy         read as a file of that name
//! labels ────▶ write ─▶ atomic files                                           .txt .tsv .csv .parquet .arrow
//! ```
//!
//! Readers are independent of algorithms. An input that cannot be read is a [`ReadError`] with file, line (or
//! byte, or row) and the expected contents.
//!
//! If memory allocation fails (a container's limit, `ulimit -v`), a reader returns an error, too:
//! [`ReadError::is_out_of_memory`]. There are two exceptions:
//! - The arrow and parquet crates allocate decoded columns infallibly. Sizes in a file are validated first if
//!   possible.
//! - Small allocations that do not grow with the input use the standard library. If one fails, the process
//!   ends.

// A build that lacks a format leaves helpers of its reader and writer without a user; the full build finds those that
// nothing uses.
#![cfg_attr(
    not(all(feature = "archives", feature = "columnar", feature = "graphml", feature = "zstd")),
    allow(dead_code, unused_imports)
)]

mod address;
mod built_in;
mod column_names;
#[cfg(not(feature = "columnar"))]
#[path = "columnar_absent.rs"]
mod columnar;
mod deflate;
mod edge_list;
mod error;
mod exchange;
mod fault;
mod fetched;
mod format;
mod intern;
mod label_table;
mod labelled;
mod labels;
mod map;
mod memberships;
mod missing;
mod names;
#[cfg(feature = "object-storage")]
mod object;
mod options;
mod output;
mod parts;
mod read;
mod sections;
mod seeds;
mod shown;
mod slices;
mod small;
mod source;
mod summary;
mod text;
mod values;
mod vertex_rows;
mod vertex_table;
mod vertices;

pub mod batch;
pub mod bv;
pub mod checkpoint;
#[cfg(feature = "columnar")]
pub mod columnar;
pub mod ranked;
pub mod rg;
pub mod rgz;
pub mod swarm_file;
mod table_parts;
#[cfg(feature = "columnar")]
pub mod tables;
pub mod tu;
pub mod write;

pub use address::{check_address, check_on_disk, is_remote};
pub use built_in::NotBuiltIn;
pub use column_names::{KNOWN_COLUMN_PAIRS, KNOWN_WEIGHT_NAMES, UNSPECIFIC_WORDS};
pub use edge_list::{Edge, EdgeId, EdgeListError, edge_table};
pub use error::{Place, ReadError, ReadErrorKind, WriteError};
pub use fetched::{Fetched, fetched};
pub use format::{Compression, Format};
pub use label_table::{KNOWN_ID_NAMES, KNOWN_LABEL_NAMES, LabelSummary, MembershipForm};
pub use labels::{
    InitialLabels, parse_initial_labels, parse_labels, read_initial_labels, read_labels,
};
pub use memberships::{Memberships, parse_memberships, read_memberships};
pub use options::{Columns, Delimiter, Header, IdKind, ReadOptions};
pub use read::{parse_edges, parse_ldbc, read_edges, read_edges_with_summary, read_ldbc};
pub use seeds::{SeedRow, SeedSummary, Seeds, UnknownSeeds, parse_seeds, read_seeds};
pub use small::{LARGEST_TEXT, check_plain, is_plain_file, read_small, read_small_text};
pub use summary::{ReadColumn, ReadColumns, ReadGraphColumns, ReadSummary};
pub use table_parts::is_part_of;
pub use values::{parse_values, read_values};
pub use vertex_rows::ValueKind;
pub use vertex_table::{VertexTable, VertexValues, parse_vertex_table, read_vertex_table};
pub use vertices::{ListSummary, VertexList, parse_vertices, read_vertex_list, read_vertices};
