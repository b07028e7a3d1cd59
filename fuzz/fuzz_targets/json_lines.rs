//! The first byte says the options, the rest is JSON lines of edges.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{check, options};
use ripplet_io::{Format, parse_edges};

fuzz_target!(|input: &[u8]| {
    let (options, text) = options(input);
    check(parse_edges(text, Format::JsonLines, &options), &options);
});
