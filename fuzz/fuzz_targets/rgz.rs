//! An `.rgz` file, whose checksums are made right first: else no input would come further.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::Aligned;
use ripplet_io::rgz;
use std::path::Path;
use std::sync::Arc;

/// Header and footer; what the index says of a part; bytes under one checksum, of which inputs have
/// fewer.
const HEADER: usize = 64;
const FOOTER: usize = 64;
const ENTRY: usize = 16;
const BLOCK: usize = 1 << 20;

fuzz_target!(|input: &[u8]| {
    if input.len() < HEADER + ENTRY + FOOTER || input.len() > BLOCK {
        return;
    }
    let mut bytes = input.to_vec();
    let end = bytes.len() - FOOTER;
    let word = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes")) as usize
    };
    let index = word(&bytes, end).clamp(HEADER, end);
    for entry in (index..end).step_by(ENTRY).take_while(|entry| entry + ENTRY <= end) {
        let (begin, length) = (word(&bytes, entry), word(&bytes, entry + 8));
        let part = begin.checked_add(length).and_then(|to| bytes.get_mut(begin..to));
        let Some((data, sums)) = part.and_then(|part| part.split_last_chunk_mut::<8>()) else {
            continue;
        };
        let sum = crc32fast::hash(data).to_le_bytes();
        sums[..4].copy_from_slice(&sum);
        sums[4..].copy_from_slice(&crc32fast::hash(&sum).to_le_bytes());
    }
    let mut of_index = crc32fast::Hasher::new();
    of_index.update(&bytes[..HEADER]);
    of_index.update(&bytes[index..end]);
    bytes[end + 48..end + 52].copy_from_slice(&of_index.finalize().to_le_bytes());
    let own = crc32fast::hash(&bytes[end..end + 52]).to_le_bytes();
    bytes[end + 52..end + 56].copy_from_slice(&own);

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
