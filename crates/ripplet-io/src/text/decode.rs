//! Compressed bytes to plain ones.

use crate::Compression;
use std::io::{self, Read};

/// The first bytes of a gzip member (RFC 1952) and of a zstd frame (RFC 8878).
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How the content that starts so is compressed, whatever its name says: standard input has none.
pub(crate) fn compression_of(first: &[u8]) -> Compression {
    if first.starts_with(GZIP) {
        Compression::Gzip
    } else if first.starts_with(ZSTD) {
        Compression::Zstd
    } else {
        Compression::None
    }
}

/// The plain bytes of `reader`: all members of a gzip file, all frames of a zstd file.
pub(crate) fn decoder<'a>(
    reader: impl Read + Send + 'a,
    compression: Compression,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    Ok(match compression {
        Compression::None => Box::new(reader),
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(reader)),
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(reader)?),
    })
}
