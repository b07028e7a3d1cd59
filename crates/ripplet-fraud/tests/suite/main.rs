//! The tests of ripplet-fraud, in one binary.

mod chance;
#[cfg(feature = "postgres")]
mod database;
mod delta;
mod detection;
mod duckdb;
mod entity_table;
mod evaluation;
mod evidence;
mod evolution;
mod find;
mod memory;
mod models;
mod one_window;
mod output;
mod partitions;
#[cfg(feature = "postgres")]
mod postgres;
mod ranks;
mod reasons;
mod report;
mod runs;
mod streams;
mod synthetic;
mod windows;
