//! The first byte says the options, the second the format; the rest is a table with a column of graphs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{check_batch, check_error, options, quiet};
use ripplet_graph::{BuildOptions, Direction, SelfLoops};
use ripplet_io::Format;
use ripplet_io::batch::{BatchOptions, parse_table};

fuzz_target!(init: quiet(), |input: &[u8]| {
    let (read, rest) = options(input);
    let (&second, table) = rest.split_first().unwrap_or((&0, &[]));
    let formats = [Format::EdgeList, Format::Tsv, Format::Csv, Format::Parquet, Format::Arrow];
    let format = formats[usize::from(second & 7) % formats.len()];
    let weighted = read.weighted;
    let directed = if second & 8 == 0 { Direction::Undirected } else { Direction::Directed };
    let self_loops = if second & 16 == 0 { SelfLoops::Drop } else { SelfLoops::Keep };
    let build = BuildOptions { self_loops, ..directed.into() };
    let options = BatchOptions { read, build, ..BatchOptions::default() };
    match parse_table(table.to_vec(), format, &options) {
        Ok(batch) => {
            check_batch(&batch);
            assert_eq!((batch.is_weighted(), batch.direction()), (weighted, directed));
        }
        Err(error) => check_error(&error),
    }
});
