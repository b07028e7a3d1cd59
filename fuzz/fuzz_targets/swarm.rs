//! A `.swarm` of one part, whose checksums are made right first: else no input would come further.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{Aligned, check_batch, check_error};
use ripplet_io::swarm_file::SwarmFile;
use std::path::Path;
use std::sync::Arc;

/// Header and footer; what the index says of a part; bytes under one checksum, of which inputs have
/// fewer.
const HEADER: usize = 64;
const FOOTER: usize = 64;
const ENTRY: usize = 40;
const BLOCK: usize = 1 << 20;

fuzz_target!(|input: &[u8]| {
    if input.len() < HEADER + 136 + ENTRY + FOOTER || input.len() > BLOCK {
        return;
    }
    let mut bytes = input.to_vec();
    let end = bytes.len() - FOOTER;
    let index = (end - ENTRY) / 64 * 64;
    // The part is as long as the index says, if the index may then be where it is, or longer.
    let told = u64::from_le_bytes(bytes[index + 8..index + 16].try_into().unwrap()) as usize;
    let all = index - HEADER;
    let length = if all.checked_sub(told).is_some_and(|gap| gap < 64) { told } else { all };
    bytes[HEADER + length..index].fill(0);
    let words = |words: [usize; 2]| words.map(|word| (word as u64).to_le_bytes()).concat();
    bytes.drain(index + ENTRY..end);
    let end = index + ENTRY;
    bytes[index..index + 16].copy_from_slice(&words([HEADER, length]));
    bytes[end..end + 16].copy_from_slice(&words([index, 1]));
    let data_end = length - 8;
    bytes[HEADER + 80..HEADER + 88].copy_from_slice(&(data_end as u64).to_le_bytes());
    let sum = crc32fast::hash(&bytes[HEADER..HEADER + data_end]).to_le_bytes();
    let sums = HEADER + data_end;
    bytes[sums..sums + 4].copy_from_slice(&sum);
    bytes[sums + 4..sums + 8].copy_from_slice(&crc32fast::hash(&sum).to_le_bytes());
    let mut of_index = crc32fast::Hasher::new();
    of_index.update(&bytes[..HEADER]);
    of_index.update(&bytes[index..end]);
    bytes[end + 48..end + 52].copy_from_slice(&of_index.finalize().to_le_bytes());
    let own = crc32fast::hash(&bytes[end..end + 52]).to_le_bytes();
    bytes[end + 52..end + 56].copy_from_slice(&own);

    let file = SwarmFile::from_bytes(Arc::new(Aligned::of(&bytes)), Path::new("fuzz.swarm"));
    let parts = file.and_then(|file| (0..file.parts()).map(|part| file.read(part)).collect());
    let parts: Result<Vec<_>, _> = parts;
    match parts {
        Ok(parts) => parts.iter().for_each(check_batch),
        Err(error) => check_error(&error),
    }
});
