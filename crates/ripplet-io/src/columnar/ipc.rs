//! Validates the sizes in an Arrow IPC file before they are used.
//!
//! The arrow crate allocates a compressed buffer by the length written in front of it. In a damaged file this
//! may be any number, and a failed allocation would end the process. So the messages are walked once,
//! metadata only, and every buffer is compared with the file and, if it is compressed, with the available
//! memory.

use crate::fault::Fault;
use arrow_ipc::{Block, Message, RecordBatch};
use ripplet_graph::memory;
use std::ops::Range;

/// Magic at both ends of an Arrow IPC file; a stream has none.
pub(super) const MAGIC: &[u8] = b"ARROW1";
/// Marker before the length of a message's metadata in new streams.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Upper bound of the compression ratio: a zstd block of 128 KiB takes at least 4 bytes (RFC 8878); for LZ4
/// it is 255.
const LARGEST_RATIO: usize = 1 << 15;

/// Checks the sizes in a file or a stream. The reader validates the rest.
///
/// # Errors
/// If a buffer lies outside of its message, or does not fit in memory.
pub(super) fn check(bytes: &[u8]) -> Result<(), Fault> {
    if bytes.starts_with(MAGIC) { check_file(bytes) } else { check_stream(bytes) }
}

fn check_file(bytes: &[u8]) -> Result<(), Fault> {
    let footer = || {
        let end = bytes.len().checked_sub(MAGIC.len() + 4)?;
        let length = i32::from_le_bytes(bytes.get(end..end + 4)?.try_into().ok()?);
        let begin = end.checked_sub(usize::try_from(length).ok()?)?;
        arrow_ipc::root_as_footer(&bytes[begin..end]).ok()
    };
    let Some(footer) = footer() else { return Ok(()) };
    let blocks = |blocks: Option<flatbuffers::Vector<'_, Block>>| -> Result<(), Fault> {
        blocks.into_iter().flatten().try_for_each(|block| check_block(bytes, block))
    };
    blocks(footer.dictionaries())?;
    blocks(footer.recordBatches())
}

fn check_block(bytes: &[u8], block: &Block) -> Result<(), Fault> {
    let within = || {
        let metadata = piece(bytes.len(), block.offset(), block.metaDataLength().into())?;
        let body = piece(bytes.len(), i64::try_from(metadata.end).ok()?, block.bodyLength())?;
        Some((&bytes[metadata], &bytes[body]))
    };
    let (metadata, body) = within().ok_or_else(outside)?;
    let prefix = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
    let message = metadata.get(prefix..).ok_or_else(outside)?;
    check_message(arrow_ipc::root_as_message(message).map_err(|_| outside())?, body)
}

fn check_stream(bytes: &[u8]) -> Result<(), Fault> {
    let mut at = 0;
    while let Some(length) = message_length(bytes, &mut at) {
        let end = at + length;
        let message = bytes.get(at..end).and_then(|m| arrow_ipc::root_as_message(m).ok());
        let message = message.ok_or_else(outside)?;
        let body = piece(bytes.len(), end as i64, message.bodyLength()).ok_or_else(outside)?;
        at = body.end;
        check_message(message, &bytes[body])?;
    }
    Ok(())
}

/// Returns the length of the metadata of the message at `at`, and advances past it; `None` at the end.
fn message_length(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut word = || {
        let word = bytes.get(*at..)?.first_chunk::<4>()?;
        *at += 4;
        Some(*word)
    };
    let first = word()?;
    let length = if first == CONTINUATION { word()? } else { first };
    match i32::from_le_bytes(length) {
        0 => None,
        // A negative length is invalid: it lies outside of any stream.
        length => Some(usize::try_from(length).unwrap_or(bytes.len())),
    }
}

fn check_message(message: Message<'_>, body: &[u8]) -> Result<(), Fault> {
    let dictionary = || message.header_as_dictionary_batch()?.data();
    match message.header_as_record_batch().or_else(dictionary) {
        Some(batch) => check_batch(batch, body),
        None => Ok(()),
    }
}

fn check_batch(batch: RecordBatch<'_>, body: &[u8]) -> Result<(), Fault> {
    for buffer in batch.buffers().into_iter().flatten() {
        let within = piece(body.len(), buffer.offset(), buffer.length()).ok_or_else(outside)?;
        let packed = within.len();
        let compressed = batch.compression().and(body[within].first_chunk::<8>());
        // A negative length marks an uncompressed buffer.
        let length = compressed.and_then(|first| usize::try_from(i64::from_le_bytes(*first)).ok());
        if let Some(length) = length {
            if length > packed.saturating_mul(LARGEST_RATIO) {
                return Err(Fault::whole(format!(
                    "the Arrow file is damaged: {packed} bytes of it claim to be {length}"
                )));
            }
            memory::with_room::<u8>(length)?;
        }
    }
    Ok(())
}

/// Returns a range of the given size, if it lies within `length` bytes.
fn piece(length: usize, begin: i64, bytes: i64) -> Option<Range<usize>> {
    let (begin, bytes) = (usize::try_from(begin).ok()?, usize::try_from(bytes).ok()?);
    let end = begin.checked_add(bytes).filter(|&end| end <= length)?;
    Some(begin..end)
}

fn outside() -> Fault {
    Fault::whole(
        "this is no Arrow IPC file or stream that can be read: it is damaged or cut short, as a part \
         of it lies outside of it",
    )
}
