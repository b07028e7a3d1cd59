//! The first byte says the options; then come the `.v` file, a zero byte, and the `.e` file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{check, options};
use ripplet_io::parse_ldbc;

fuzz_target!(|input: &[u8]| {
    let (options, text) = options(input);
    let mut parts = text.splitn(2, |&byte| byte == 0);
    let (vertices, edges) = (parts.next().unwrap_or(&[]), parts.next().unwrap_or(&[]));
    check(parse_ldbc(vertices, edges, &options), &options);
});
