//! The tests of the file formats, in one binary.

mod atomic_file;
mod batch;
mod bv;
mod checkpoint;
mod columnar;
mod delimiters;
mod exchange;
mod exchange_hostile;
mod fuzz_corpus;
mod gml;
mod graphs;
mod headers;
mod json_lines;
mod labels;
mod listings;
mod memberships;
mod named_tabs;
mod records;
mod rg;
mod rgz;
mod swarm_file;
mod tables;
mod text;
mod tu;
mod vertex_tables;
mod write;
