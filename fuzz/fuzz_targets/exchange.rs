//! The first byte says the format, the second the options; the rest is a GraphML, GEXF, Pajek or JSON file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{check, options};
use ripplet_io::{Format, parse_edges};

const FORMATS: [Format; 4] = [Format::GraphMl, Format::Gexf, Format::Pajek, Format::NodeLink];

fuzz_target!(|input: &[u8]| {
    let (&first, rest) = input.split_first().unwrap_or((&0, &[]));
    let (options, text) = options(rest);
    check(parse_edges(text, FORMATS[usize::from(first) % FORMATS.len()], &options), &options);
});
