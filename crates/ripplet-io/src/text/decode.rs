//! Decompresses gzip and zstd.

use crate::Compression;
use crate::deflate::set_up;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// First bytes of a gzip member (RFC 1952) and of a zstd frame (RFC 8878).
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Returns the compression by the first bytes, ignoring the name: standard input has none.
pub(crate) fn compression_of(first: &[u8]) -> Compression {
    if first.starts_with(GZIP) {
        Compression::Gzip
    } else if first.starts_with(ZSTD) {
        Compression::Zstd
    } else {
        Compression::None
    }
}

/// Returns the compression of a named file by its first bytes.
///
/// # Errors
/// If the name has another compression than the content.
pub(crate) fn compression_of_named(
    named: Compression,
    first: &[u8],
) -> Result<Compression, String> {
    let found = compression_of(first);
    // A file truncated within its first bytes is reported when it is read.
    let may_be_cut = |magic: &[u8]| first.len() < magic.len() && magic.starts_with(first);
    let is_cut = match named {
        Compression::None => return Ok(found),
        Compression::Gzip => may_be_cut(GZIP),
        Compression::Zstd => may_be_cut(ZSTD),
    };
    if found == named || is_cut {
        return Ok(named);
    }
    let is = match found {
        Compression::None => "not compressed",
        Compression::Gzip => "gzip data",
        Compression::Zstd => "zstd data",
    };
    let (suffix, name) = match named {
        Compression::Zstd => (".zst", "zstd data"),
        _ => (".gz", "gzip data"),
    };
    Err(format!(
        "the name ends in {suffix}, but the content is {is}: expected {name}, or another name"
    ))
}

/// Returns the decompressed bytes of `reader`: all members of a gzip file, all frames of a zstd file.
///
/// Zeros after a gzip member are padding, as tapes and block devices leave it.
pub(crate) fn decoder<'a>(
    reader: impl Read + Send + 'a,
    compression: Compression,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    Ok(match compression {
        Compression::None => Box::new(reader),
        Compression::Gzip => Box::new(GzipMembers::new(BufReader::new(reader))?),
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => {
            return Err(io::Error::new(io::ErrorKind::Unsupported, crate::NotBuiltIn::ZSTD));
        }
        #[cfg(feature = "zstd")]
        Compression::Zstd => {
            // Creating the decoder only allocates memory.
            let decoder = zstd::stream::read::Decoder::new(reader);
            Box::new(decoder.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?)
        }
    })
}

/// The members of a gzip file concatenated.
struct GzipMembers<R> {
    /// Member that is being read; `None` after the last.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipMembers<R> {
    fn new(reader: R) -> io::Result<GzipMembers<R>> {
        Ok(GzipMembers { member: Some(set_up(|| GzDecoder::new(reader))?) })
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let length = member.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            let rest = self.member.take().map(GzDecoder::into_inner);
            self.member = match rest {
                Some(mut rest) => match skip_zeros(&mut rest)? {
                    Some(first) if first == GZIP[0] => Some(set_up(|| GzDecoder::new(rest))?),
                    Some(_) => {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, TrailingBytes));
                    }
                    None => None,
                },
                None => None,
            };
        }
        Ok(0)
    }
}

/// Bytes after the end of gzip data that are neither zeros nor another member.
#[derive(Debug, thiserror::Error)]
#[error(
    "the gzip data has other bytes behind its end: cut them off, such as with \"gzip -dc FILE > PLAIN\", which passes over \
     them with a warning"
)]
pub(crate) struct TrailingBytes;

/// Whether reading failed with [`TrailingBytes`].
pub(crate) fn is_trailing_bytes(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<TrailingBytes>())
}

/// Skips zeros; returns the byte after them.
fn skip_zeros(reader: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let ahead = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            ahead => ahead?,
        };
        let zeros = ahead.iter().take_while(|&&byte| byte == 0).count();
        let (behind, none) = (ahead.get(zeros).copied(), ahead.is_empty());
        reader.consume(zeros);
        if none || behind.is_some() {
            return Ok(behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn member(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        decoder(bytes, Compression::Gzip)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn zeros_behind_a_member_are_padding() {
        let zeros = vec![0; 100_000];
        assert_eq!(read(&[member("a"), zeros.clone()].concat()).unwrap(), "a");
        let between = [member("a"), zeros.clone(), member("b"), zeros].concat();
        assert_eq!(read(&between).unwrap(), "ab");
        assert_eq!(read(&[member(""), member("b")].concat()).unwrap(), "b");
        for trash in ["t", "trash!!", "\0\0t"] {
            let error = read(&[member("a"), trash.into()].concat()).unwrap_err();
            assert!(is_trailing_bytes(&error), "{error}");
        }
        for length in [12, member("abc").len() - 1] {
            let error = read(&member("abc")[..length]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{length}");
        }
        let cut = [member("a"), member("b")[..5].to_vec()].concat();
        assert_eq!(read(&cut).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_name_and_a_content_that_differ_are_told() {
        let of = |named, first: &[u8]| compression_of_named(named, first);
        assert_eq!(of(Compression::None, GZIP), Ok(Compression::Gzip));
        assert_eq!(of(Compression::Gzip, GZIP), Ok(Compression::Gzip));
        assert_eq!(of(Compression::Zstd, &ZSTD[..3]), Ok(Compression::Zstd));
        let text = of(Compression::Gzip, b"1 2\n").unwrap_err();
        assert!(text.contains("ends in .gz, but the content is not compressed"), "{text}");
        let other = of(Compression::Gzip, ZSTD).unwrap_err();
        assert!(other.contains("the content is zstd data: expected gzip data"), "{other}");
    }
}
