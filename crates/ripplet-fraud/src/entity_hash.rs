//! A hash of entities that does not change.

use sha2::{Digest, Sha256};

/// Returns a hash of an entity, the same in all runs: the first eight bytes of the SHA-256 of the kind, a zero
/// byte and the id, as a big-endian number.
pub(crate) fn entity_hash(kind: &str, id: &str) -> u64 {
    let text = [kind.as_bytes(), &[0], id.as_bytes()].concat();
    let first = Sha256::digest(text);
    first.iter().take(8).fold(0u64, |number, &byte| number << 8 | u64::from(byte))
}
