//! What the targets of the text readers share: the options that an input's first byte asks for, and
//! what must hold of every table.

use ripplet_graph::batch::GraphBatch;
use ripplet_graph::{EdgeTable, Names, VertexIds};
use ripplet_io::{Columns, Format, Header, IdKind, ReadError, ReadOptions};

/// Takes the first byte off as options; the rest is the text.
pub fn options(input: &[u8]) -> (ReadOptions, &[u8]) {
    let (&first, text) = input.split_first().unwrap_or((&0, &[]));
    let ids = [IdKind::Auto, IdKind::Unsigned, IdKind::Signed, IdKind::Names];
    let columns = |names: [&str; 3]| {
        let [source, target, weight] = names.map(String::from);
        Columns { source, target, weight, ..Columns::default() }
    };
    let columns = match first & 0x88 {
        0 => Columns::default(),
        8 => columns(["a", "b", "w"]),
        _ => columns(["3", "2", "1"]),
    };
    let headers = [Header::Auto, Header::Present, Header::Absent, Header::Auto];
    let header = headers[usize::from(first >> 5 & 3)];
    let ids = ids[usize::from(first >> 1 & 3)];
    let weighted = first & 1 != 0;
    let options = ReadOptions { weighted, ids, columns, header, ..ReadOptions::default() };
    (options, text)
}

/// Checks what readers promise beyond what a table checks itself.
pub fn check(read: Result<EdgeTable, ReadError>, options: &ReadOptions) {
    match read {
        Ok(table) => {
            assert!(table.ids().is_valid());
            assert_eq!(table.weights().is_some(), options.weighted);
        }
        Err(error) => check_error(&error),
    }
}

/// Looks at each graph of a batch in the ways that loops do.
pub fn check_batch(batch: &GraphBatch) {
    for graph in batch.all().graphs() {
        graph.id().to_string();
        for lists in [Some(graph.out()), graph.incoming()].into_iter().flatten() {
            assert_eq!(lists.offsets().len(), graph.vertices() as usize + 1);
            for vertex in 0..graph.vertices() {
                graph.vertex_id(vertex).to_string();
                let list = lists.of(vertex as usize);
                assert!(list.is_sorted() && list.iter().all(|&to| to < graph.vertices()));
            }
        }
    }
}

/// Bytes that begin at a multiple of 8, as those of a mapping do.
pub struct Aligned(Vec<u64>, usize);

impl Aligned {
    /// Returns a copy.
    pub fn of(bytes: &[u8]) -> Aligned {
        let word = |some: &[u8]| {
            let mut word = [0; 8];
            word[..some.len()].copy_from_slice(some);
            u64::from_ne_bytes(word)
        };
        Aligned(bytes.chunks(8).map(word).collect(), bytes.len())
    }
}

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the vector owns eight times as many bytes as it has words, and `self.1` is at
        // most that; bytes have no alignment and any value.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.1) }
    }
}

/// Returns a file of parts of which the index has nothing but the positions, with every checksum made right: those
/// of its parts, of its index, of its footer. Nothing of what is too short, or has more than one block under
/// a checksum.
pub fn resealed(input: &[u8]) -> Option<Vec<u8>> {
    const HEADER: usize = 64;
    const FOOTER: usize = 64;
    /// What the index says of a part.
    const ENTRY: usize = 16;
    const BLOCK: usize = 1 << 20;
    if input.len() < HEADER + ENTRY + FOOTER || input.len() > BLOCK {
        return None;
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
    Some(bytes)
}

/// Checks that an error is a sentence.
pub fn check_error(error: &ReadError) {
    let sentence = error.to_string();
    assert!(!sentence.contains('\n'), "{sentence}");
    assert!(sentence.len() < 2000, "{sentence}");
}

/// Takes the first byte off, which says the format of a table about vertices and the ids of these:
/// the byte, both, and the table.
pub fn about_vertices(input: &[u8]) -> (u8, Format, VertexIds, &[u8]) {
    let (&first, table) = input.split_first().unwrap_or((&0, &[]));
    let formats = [Format::EdgeList, Format::Tsv, Format::Csv, Format::Parquet, Format::Arrow];
    let ids = match first >> 3 & 3 {
        0 => VertexIds::Consecutive { first: 0, count: 3 },
        1 => VertexIds::Unsigned(vec![1, 7, u64::MAX].into()),
        2 => VertexIds::Signed(vec![i64::MIN, -1, 7].into()),
        _ => VertexIds::Names(Names::new(["a", "b", "c"])),
    };
    (first, formats[usize::from(first & 7) % formats.len()], ids, table)
}

/// Lets a panic of the arrow and parquet crates, which ripplet-io catches, pass: libfuzzer's own hook
/// would end the process. Any other panic still does.
pub fn quiet() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or("", |location| location.file());
        let foreign =
            ["/arrow-", "/parquet-", "/flatbuffers-"].iter().any(|name| place.contains(name));
        if !foreign {
            hook(panic);
        }
    }));
}
