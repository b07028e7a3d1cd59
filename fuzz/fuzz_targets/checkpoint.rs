//! A `.checkpoint`, whose checksums are made right first: else no input would come further.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{Aligned, check_error, resealed};
use ripplet_io::checkpoint;
use std::path::Path;
use std::sync::Arc;

fuzz_target!(|input: &[u8]| {
    let Some(bytes) = resealed(input) else { return };
    match checkpoint::from_bytes(Arc::new(Aligned::of(&bytes)), Path::new("fuzz.checkpoint")) {
        Ok(kept) => {
            let values = kept.columns.iter().map(|values| values.len()).sum::<usize>();
            assert!(4 * (kept.labels.len() + values) + 8 * kept.active.len() < bytes.len());
        }
        Err(error) => check_error(&error),
    }
});
