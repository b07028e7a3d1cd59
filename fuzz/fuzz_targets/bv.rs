//! The first byte says the options; then come the `.properties` file, a zero byte, and the `.graph` file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{check, options};
use ripplet_io::bv;

fuzz_target!(|input: &[u8]| {
    let (options, text) = options(input);
    let mut parts = text.splitn(2, |&byte| byte == 0);
    let (properties, graph) = (parts.next().unwrap_or(&[]), parts.next().unwrap_or(&[]));
    check(bv::parse(properties, graph, &options), &options);
});
