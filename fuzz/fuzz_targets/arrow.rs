//! The first byte says the options, the rest is an Arrow IPC file or stream.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{check, options, quiet};
use ripplet_io::{Format, columnar};

fuzz_target!(init: quiet(), |input: &[u8]| {
    let (options, bytes) = options(input);
    check(columnar::parse(bytes.to_vec(), Format::Arrow, &options), &options);
});
