//! `.rg`: what is written is what is opened, and nothing else is opened.

use crate::graphs::{any_graph, example};
use proptest::prelude::*;
use ripplet_generate::Transactions;
use ripplet_graph::{
    Direction, EdgeTable, Graph, GraphBuilder, Names, Shard, VertexIds, WeightScale,
};
use ripplet_io::rg::{self, RgShape, RgWriter};
use std::path::Path;
use std::sync::Arc;

fn written(graph: &Graph) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.rg");
    rg::write(graph, &path).unwrap();
    std::fs::read(path).unwrap()
}

/// Opens bytes as a mapping would: aligned.
fn opened(bytes: &[u8]) -> Result<Graph, ripplet_io::ReadError> {
    #[repr(align(64))]
    #[derive(Clone, Copy)]
    struct Line([u8; 64]);
    struct Aligned(Vec<Line>, usize);
    impl AsRef<[u8]> for Aligned {
        fn as_ref(&self) -> &[u8] {
            &self.0.as_flattened_bytes()[..self.1]
        }
    }
    trait Flat {
        fn as_flattened_bytes(&self) -> &[u8];
    }
    impl Flat for Vec<Line> {
        fn as_flattened_bytes(&self) -> &[u8] {
            // SAFETY: `Line` is 64 plain bytes without padding, and the vector owns them all.
            unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.len() * 64) }
        }
    }
    let mut lines = vec![Line([0; 64]); bytes.len().div_ceil(64)];
    for (line, bytes) in lines.iter_mut().zip(bytes.chunks(64)) {
        line.0[..bytes.len()].copy_from_slice(bytes);
    }
    rg::from_bytes(Arc::new(Aligned(lines, bytes.len())), Path::new("x.rg"))
}

/// Returns the file with the checksum of its only block, and the checksum of that, made right again.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let data_end = bytes.len() - 8;
    assert!(data_end <= 1 << 20, "one block");
    let sum = crc32fast::hash(&bytes[..data_end]).to_le_bytes();
    bytes[data_end..data_end + 4].copy_from_slice(&sum);
    bytes[data_end + 4..].copy_from_slice(&crc32fast::hash(&sum).to_le_bytes());
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_is_written_is_opened(graph in any_graph()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.rg");
        rg::write(&graph, &path).unwrap();
        prop_assert_eq!(rg::open(&path).unwrap(), graph);
    }

    #[test]
    fn other_values_under_right_checksums_never_panic(
        graph in any_graph(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..4),
    ) {
        let mut bytes = written(&graph);
        for (at, value) in changes {
            let words = (bytes.len() - 8) / 8;
            let at = at.index(words) * 8;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        // An odd graph may come out; its loops must hold all the same.
        if let Ok(graph) = opened(&resealed(bytes)) {
            prop_assert!(graph.edges() <= graph.arcs());
            graph.max_degree();
        }
    }
}

#[test]
fn every_flipped_byte_is_an_error() {
    for graph in [example(Direction::Directed), example(Direction::Undirected)] {
        let bytes = written(&graph);
        assert_eq!(opened(&bytes).unwrap(), graph);
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] ^= flip;
                assert!(opened(&bytes).is_err(), "byte {at} flipped by {flip:#x}");
            }
        }
    }
}

#[test]
fn every_cut_and_every_tail_is_an_error() {
    let bytes = written(&example(Direction::Directed));
    for length in 0..bytes.len() {
        assert!(opened(&bytes[..length]).is_err(), "cut to {length}");
    }
    for tail in [1, 4, 64, 1 << 21] {
        let mut bytes = bytes.clone();
        bytes.resize(bytes.len() + tail, 0);
        let error = opened(&bytes).unwrap_err().to_string();
        assert!(error.contains("has a tail"), "{error}");
    }
}

#[test]
fn every_header_and_table_bit_under_right_checksums_is_refused_or_harmless() {
    let bytes = written(&example(Direction::Directed));
    for at in 8..1000.min(bytes.len() - 8) {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            if let Ok(graph) = opened(&resealed(bytes)) {
                assert!(graph.vertices() < 1000);
            }
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let bytes = written(&example(Direction::Directed));
    let with = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        opened(&bytes).unwrap_err().to_string()
    };
    assert!(with(0, b'P').contains("not an .rg file"));
    let version = with(8, 9);
    assert!(version.contains("version 9") && version.contains("reads version 1"), "{version}");
    let damaged = with(bytes.len() / 2, !bytes[bytes.len() / 2]);
    assert!(damaged.starts_with("x.rg at byte 0: the bytes up to"), "{damaged}");
    assert!(damaged.contains("damaged"), "{damaged}");
    let cut = opened(&bytes[..100]).unwrap_err().to_string();
    assert!(cut.starts_with("x.rg at byte 100: ") && cut.contains("cut short"), "{cut}");
    assert!(opened(b"").unwrap_err().to_string().contains("has only 0"));
}

#[test]
fn absurd_sizes_are_refused_without_memory_for_them() {
    let bytes = written(&example(Direction::Directed));
    let with = |at: usize, value: u64| {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        opened(&resealed(bytes)).unwrap_err().to_string()
    };
    assert!(with(16, u64::MAX).contains("more bytes than can be"), "end of the data");
    assert!(with(16, u64::MAX / 2).contains("cut short"), "end of the data");
    assert!(with(24, u64::from(u32::MAX)).contains("do not fit"), "vertices");
    assert!(with(44, u64::MAX).contains("do not fit"), "shards and sections");
    for section in 0..4 {
        let entry = 64 + 24 * section;
        assert!(with(entry + 8, u64::MAX - 63).contains("not where"), "begin");
        assert!(with(entry + 16, u64::MAX - 63).contains("not where"), "length");
    }
}

#[test]
fn a_file_of_many_blocks_names_the_damaged_one_for_any_thread_count() {
    let edges = 600_000;
    let (sources, targets) = (0..edges).map(|i| (i % 1000, 1000 + i)).unzip();
    let ids = VertexIds::Consecutive { first: 5, count: 1000 + edges };
    let table = EdgeTable::new(ids, sources, targets).unwrap();
    let graph = GraphBuilder::new().build(table).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.rg");
    rg::write(&graph, &path).unwrap();
    assert_eq!(rg::open(&path).unwrap(), graph);

    let mut bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() > 5 << 20);
    bytes[(3 << 20) + 17] ^= 4;
    bytes[(4 << 20) + 1] ^= 4;
    std::fs::write(&path, bytes).unwrap();
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let error = pool.install(|| rg::open(&path)).unwrap_err().to_string();
        assert!(error.contains(" at byte 3145728: the bytes up to 4194304 "), "{error}");
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(rg::open(folder.path()).unwrap_err().to_string().contains("a file on a disk"));
    let missing = rg::open(&folder.path().join("missing.rg")).unwrap_err().to_string();
    assert!(missing.contains("missing.rg") && missing.contains("No such file"), "{missing}");
}

#[test]
fn an_open_graph_outlives_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.rg");
    let graph = example(Direction::Undirected);
    rg::write(&graph, &path).unwrap();
    let open = rg::open(&path).unwrap();
    let ids = VertexIds::Names(Names::new(["other"]));
    let other = EdgeTable::new(ids, vec![], vec![]).unwrap();
    rg::write(&GraphBuilder::new().build(other).unwrap(), &path).unwrap();
    assert_eq!(open, graph, "the old pages");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(open, graph, "no file at all");
}

/// Returns a transactions's graph in these shards, in memory and as a file that they were appended to.
fn appended(of: &Transactions, arcs: u64) -> (Graph, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.rg");
    let transactions = of.prepare().unwrap();
    let ranges = transactions.shard_ranges(arcs).unwrap().into_iter();
    let shards: Vec<Shard> = ranges.map(|range| transactions.shard(range).unwrap()).collect();
    let (vertices, count) = (transactions.vertices(), shards.len() as u32);
    let shape = RgShape { vertices, shards: count, weighted: of.weighted };
    let mut file = RgWriter::create(&path, shape).unwrap();
    shards.iter().for_each(|shard| file.append(shard).unwrap());
    assert!(!path.exists(), "the file appears when it is whole");
    file.finish().unwrap();
    let ids = VertexIds::Consecutive { first: 0, count: vertices };
    let graph = Graph::from_shards(ids, Direction::Undirected, WeightScale::ONE, shards);
    (graph.unwrap(), std::fs::read(path).unwrap())
}

#[test]
fn shard_by_shard_the_bytes_are_the_same() {
    for (scale, weighted, arcs) in [
        (1e-6, true, 1 << 31),
        (2e-5, true, 1000),
        (2e-5, false, 1 << 31),
        // A megabyte and more of shards' names.
        (4e-5, true, 1),
    ] {
        let of = Transactions { weighted, ..Transactions::new(10, scale) };
        let (graph, bytes) = appended(&of, arcs);
        assert!(bytes == written(&graph), "{scale}, {weighted}, {arcs}");
        assert!(opened(&bytes).unwrap() == graph);
    }
}

#[test]
fn shards_that_are_not_the_next_are_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.rg");
    let transactions = Transactions::new(10, 1e-6).prepare().unwrap();
    let vertices = transactions.vertices();
    let shape = RgShape { vertices, shards: 2, weighted: true };
    let shard = |range| transactions.shard(range).unwrap();
    let not_the_next = |shape: RgShape, shards: &[Shard]| {
        let mut file = RgWriter::create(&path, shape).unwrap();
        let (last, first) = shards.split_last().unwrap();
        first.iter().for_each(|shard| file.append(shard).unwrap());
        let error = file.append(last).unwrap_err().to_string();
        assert!(error.contains("graph.rg") && error.contains("is not the next"), "{error}");
    };
    not_the_next(shape, &[shard(1..vertices)]);
    not_the_next(shape, &[shard(0..9), shard(10..vertices)]);
    not_the_next(shape, &[shard(0..9), shard(9..20), shard(20..vertices)]);
    not_the_next(RgShape { vertices: 5, ..shape }, &[shard(0..9)]);
    not_the_next(RgShape { weighted: false, ..shape }, &[shard(0..9)]);
    for end in [9, vertices] {
        let mut file = RgWriter::create(&path, shape).unwrap();
        file.append(&shard(0..end)).unwrap();
        let error = file.finish().unwrap_err().to_string();
        assert!(error.contains("lists of"), "{error}");
    }
    let many = RgWriter::create(&path, RgShape { shards: u32::MAX, ..shape }).unwrap_err();
    assert!(many.to_string().contains("too many"), "{many}");
    #[cfg(unix)]
    {
        let device = RgWriter::create(Path::new("/dev/null"), shape).unwrap_err();
        assert!(device.to_string().contains("name a file"), "{device}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
