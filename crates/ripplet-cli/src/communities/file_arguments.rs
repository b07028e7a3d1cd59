//! The arguments of a program from a file.

use clap::Args;
use std::path::PathBuf;

/// Options of a program file: see docs/your-own-variant.md.
#[derive(Args)]
#[command(next_help_heading = "A program of your own")]
pub struct FileArguments {
    /// Run the program in this file: four hooks in a subset of Rust (docs/hooks.md).
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    pub program_file: Option<PathBuf>,
    /// A parameter of the program, once for each.
    #[arg(long, value_name = "NAME=VALUE", value_parser = named, requires = "program_file")]
    pub param: Vec<(String, String)>,
    /// A table with one row per vertex (.csv, .tsv, .parquet, .arrow): a column `id`, and columns that
    /// the program reads.
    #[arg(long, value_name = "FILE", requires = "program_file")]
    pub vertex_table: Option<PathBuf>,
}

fn named(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("expected NAME=VALUE".into()),
    }
}
