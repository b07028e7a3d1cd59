//! The texts of a TU data set, with zero bytes between them: the edges, the graph indicator and maybe
//! the labels.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{check_batch, check_error};
use ripplet_graph::{Direction, SelfLoops};
use ripplet_io::tu::{self, DatasetOptions, Texts};

fuzz_target!(|input: &[u8]| {
    let mut texts = input.splitn(3, |&byte| byte == 0);
    let mut next = || texts.next();
    let (edges, graph_indicator, graph_labels) =
        (next().unwrap_or_default(), next().unwrap_or_default(), next());
    for direction in [Direction::Undirected, Direction::Directed] {
        let options = DatasetOptions { direction, self_loops: SelfLoops::Keep };
        match tu::parse(Texts { edges, graph_indicator, graph_labels }, &options) {
            Ok(read) => {
                check_batch(&read.batch);
                assert!(read.graph_labels.is_none_or(|labels| labels.len() == read.batch.len()));
            }
            Err(error) => check_error(&error),
        }
    }
});
