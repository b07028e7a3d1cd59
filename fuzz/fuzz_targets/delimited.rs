//! The first byte says the options and whether the rest is a `.csv` or a `.tsv` table.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{check, options};
use ripplet_io::{Format, parse_edges};

fuzz_target!(|input: &[u8]| {
    let format =
        if input.first().is_some_and(|byte| byte & 16 != 0) { Format::Tsv } else { Format::Csv };
    let (options, text) = options(input);
    check(parse_edges(text, format, &options), &options);
});
