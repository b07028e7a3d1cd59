//! An `.rgz` file, whose checksums are made right first: else no input would come further.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{Aligned, resealed};
use ripplet_io::rgz;
use std::path::Path;
use std::sync::Arc;

fuzz_target!(|input: &[u8]| {
    let Some(bytes) = resealed(input) else { return };
    // A graph's arrays must be aligned, as they are in a mapping.
    if let Ok(graph) = rgz::from_bytes(Arc::new(Aligned::of(&bytes)), Path::new("fuzz.rgz")) {
        let arcs = graph.arcs();
        // Runs may stand for many arcs in few bytes.
        if arcs < 1 << 24 {
            let plain = graph.into_plain().expect("there is memory");
            assert_eq!(plain.arcs(), arcs);
        }
    }
});
