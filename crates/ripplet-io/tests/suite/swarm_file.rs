//! `.swarm`: what is written is what is opened, and nothing else is opened.

use crate::graphs::{any_batch, assert_same_graphs};
use proptest::prelude::*;
use ripplet_graph::batch::{BatchBuilder, BatchIds, BatchRows, BatchTable, GraphBatch, Members};
use ripplet_graph::{Direction, Names, VertexIds};
use ripplet_io::swarm_file::{SwarmFile, SwarmWriter};
use ripplet_io::{ReadError, WriteError};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Writes a batch in parts of about `part_size`, appended `step` graphs at a time.
fn write(batch: &GraphBatch, part_size: u64, step: usize, path: &Path) -> Result<(), WriteError> {
    let mut writer = SwarmWriter::create(path)?.part_size(part_size);
    for first in (0..batch.len()).step_by(step) {
        writer.append(batch.slice(first..batch.len().min(first + step)))?;
    }
    writer.finish()
}

fn written(batch: &GraphBatch, part_size: u64) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.swarm");
    write(batch, part_size, usize::MAX, &path).unwrap();
    fs::read(path).unwrap()
}

/// Returns all parts of a file.
fn parts(file: &SwarmFile) -> Result<Vec<GraphBatch>, ReadError> {
    (0..file.parts()).map(|part| file.read(part)).collect()
}

/// Opens bytes as a mapping would, aligned, and reads all.
fn opened(bytes: &[u8]) -> Result<Vec<GraphBatch>, ReadError> {
    #[repr(align(64))]
    #[derive(Clone, Copy)]
    struct Line([u8; 64]);
    struct Aligned(Vec<Line>, usize);
    impl AsRef<[u8]> for Aligned {
        fn as_ref(&self) -> &[u8] {
            // SAFETY: `Line` is 64 plain bytes without padding, and the vector owns them all.
            let all = unsafe {
                std::slice::from_raw_parts(self.0.as_ptr().cast::<u8>(), self.0.len() * 64)
            };
            &all[..self.1]
        }
    }
    let mut lines = vec![Line([0; 64]); bytes.len().div_ceil(64)];
    for (line, bytes) in lines.iter_mut().zip(bytes.chunks(64)) {
        line.0[..bytes.len()].copy_from_slice(bytes);
    }
    let owner = Arc::new(Aligned(lines, bytes.len()));
    parts(&SwarmFile::from_bytes(owner, Path::new("x.swarm"))?)
}

/// Three graphs with names, weights and directions; the second is empty.
fn example() -> GraphBatch {
    let graph_ids = VertexIds::Names(Names::new(["a", "b/c", "é"]));
    let ids = BatchIds::Names(Names::new(["x", "yy", "z", "", "x"]));
    let members = Members::new(graph_ids, vec![0, 3, 3, 5].into(), ids).unwrap();
    let rows = BatchRows {
        graphs: vec![0, 0, 2],
        sources: vec![0, 1, 1],
        targets: vec![1, 2, 0],
        weights: Some(vec![0.5, 3.0, 1e-9]),
    };
    let table = BatchTable::new(members, rows).unwrap();
    BatchBuilder::new().direction(Direction::Directed).build(table).unwrap()
}

/// Returns the file with every checksum made right again: those of its only part, of its index, its footer.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 64;
    let entry = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[end - 40 + at..][..8].try_into().unwrap()) as usize
    };
    let (begin, length) = (entry(&bytes, 0), entry(&bytes, 8));
    if let Some(part) = begin.checked_add(length).and_then(|to| bytes.get_mut(begin..to)) {
        let Some(data_end) = part.len().checked_sub(8) else { return bytes };
        let sum = crc32fast::hash(&part[..data_end]).to_le_bytes();
        part[data_end..data_end + 4].copy_from_slice(&sum);
        part[data_end + 4..].copy_from_slice(&crc32fast::hash(&sum).to_le_bytes());
    }
    let index = u64::from_le_bytes(bytes[end..end + 8].try_into().unwrap()) as usize;
    let mut sum = crc32fast::Hasher::new();
    sum.update(&bytes[..64]);
    sum.update(bytes.get(index..end).unwrap_or_default());
    bytes[end + 48..end + 52].copy_from_slice(&sum.finalize().to_le_bytes());
    let own = crc32fast::hash(&bytes[end..end + 52]);
    bytes[end + 52..end + 56].copy_from_slice(&own.to_le_bytes());
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_is_written_is_opened(batch in any_batch(), part_size in 1u64..60, step in 1usize..12) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.swarm");
        write(&batch, part_size, step, &path).unwrap();
        let file = SwarmFile::open(&path).unwrap();
        let sums = (file.graphs(), file.vertices(), file.arcs());
        prop_assert_eq!(sums, (batch.len() as u64, batch.vertices(), batch.arcs()));
        let mut first = 0;
        for part in parts(&file).unwrap() {
            let end = first + part.len();
            prop_assert_eq!((part.direction(), part.is_weighted()), (batch.direction(), batch.is_weighted()));
            prop_assert_eq!(&part, &batch.slice(first..end).to_batch().unwrap());
            assert_same_graphs(part.all(), batch.slice(first..end));
            let size = part.vertices() + part.arcs() + part.len() as u64;
            prop_assert!(part.len() == 1 || size <= part_size);
            first = end;
        }
        prop_assert_eq!(first, batch.len());
    }

    #[test]
    fn other_values_under_right_checksums_never_panic(
        batch in any_batch(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..4),
    ) {
        let mut bytes = written(&batch, 1 << 20);
        for (at, value) in changes {
            let at = at.index(bytes.len() / 8) * 8;
            let value = if value % 3 == 0 { value % 50 } else { value };
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        // An odd graph may come out; its loops must hold all the same.
        for batch in opened(&resealed(bytes)).into_iter().flatten() {
            for graph in batch.all().graphs() {
                prop_assert!((0..graph.vertices()).all(|v| graph.out().of(v as usize).is_sorted()));
            }
        }
    }
}

#[test]
fn every_flipped_byte_is_an_error() {
    for part_size in [1, 1 << 20] {
        let bytes = written(&example(), part_size);
        assert_eq!(opened(&bytes).unwrap().len(), if part_size == 1 { 3 } else { 1 });
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
    let bytes = written(&example(), 1);
    for length in 0..bytes.len() {
        assert!(opened(&bytes[..length]).is_err(), "cut to {length}");
    }
    for tail in [1, 4, 64, 1 << 21] {
        let mut bytes = bytes.clone();
        bytes.resize(bytes.len() + tail, 0);
        assert!(opened(&bytes).is_err(), "a tail of {tail}");
    }
}

#[test]
fn every_bit_under_right_checksums_is_refused_or_harmless() {
    let bytes = written(&example(), 1 << 20);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            for batch in opened(&resealed(bytes)).into_iter().flatten() {
                assert_eq!(batch.len(), 3);
            }
        }
    }
}

#[test]
fn absurd_sizes_are_refused_without_memory_for_them() {
    let bytes = written(&example(), 1 << 20);
    let end = bytes.len() - 64;
    for at in [64 + 8, 64 + 16, 64 + 24, 64 + 32, 64 + 64, 64 + 72, 64 + 80]
        .into_iter()
        .chain((end - 40..end + 48).step_by(8))
    {
        for value in [u64::MAX, u64::MAX / 2, 1 << 40, u64::MAX - 63, 0] {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            assert!(opened(&resealed(bytes)).is_err(), "{value} at {at}");
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let bytes = written(&example(), 1 << 20);
    let with = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        opened(&bytes).unwrap_err().to_string()
    };
    assert!(with(0, b'P').contains("not a .swarm file"));
    let version = with(8, 9);
    assert!(version.contains("version 9") && version.contains("reads version 1"), "{version}");
    let damaged = with(300, !bytes[300]);
    assert!(damaged.starts_with("x.swarm at byte 64: the bytes up to"), "{damaged}");
    let cut = opened(&bytes[..200]).unwrap_err().to_string();
    assert!(cut.contains("cut short"), "{cut}");
    assert!(opened(b"").unwrap_err().to_string().contains("cut short"));
}

#[test]
fn no_graphs_make_a_file_without_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.swarm");
    SwarmWriter::create(&path).unwrap().finish().unwrap();
    let file = SwarmFile::open(&path).unwrap();
    assert_eq!((file.parts(), file.graphs(), file.is_weighted()), (0, 0, false));
    let batch = example();
    let mut writer = SwarmWriter::create(&path).unwrap();
    writer.append(batch.slice(1..1)).unwrap();
    writer.finish().unwrap();
    assert_eq!(SwarmFile::open(&path).unwrap().parts(), 0);
}

#[test]
fn what_does_not_fit_what_came_before_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.swarm");
    let batch = example();
    let refused = |second: &GraphBatch, part: &str| {
        let mut writer = SwarmWriter::create(&path).unwrap();
        writer.append(batch.slice(0..2)).unwrap();
        let error = writer.append(second.all()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert!(writer.append(batch.slice(2..3)).is_err(), "after an error");
        assert!(writer.finish().is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    };
    refused(&batch, "the graph a does not come after");
    refused(&batch.clone().without_weights(), "all have weights or none have");
    let numbers = Members::of_sizes([1].into_iter()).unwrap();
    let rows = BatchRows { weights: Some(vec![]), ..BatchRows::default() };
    let table = BatchTable::new(numbers, rows).unwrap();
    let directed = BatchBuilder::new().direction(Direction::Directed);
    refused(&directed.build(table.clone()).unwrap(), "the graph 0 does not come after");
    refused(&BatchBuilder::new().build(table).unwrap(), "all have directed edges or none");
    assert!(SwarmWriter::create(Path::new("-")).is_err());
    assert!(SwarmWriter::create(&folder.path().join("no/such.swarm")).is_err());
}

#[test]
fn a_file_that_is_dropped_unfinished_does_not_appear() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = SwarmWriter::create(&folder.path().join("some.swarm")).unwrap();
    writer.append(example().all()).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn many_blocks_are_the_same_bytes_on_any_number_of_threads() {
    let graphs = 60_000;
    let members = Members::of_sizes((0..graphs).map(|graph| graph % 40)).unwrap();
    let row = |at: u32| (at % graphs).max(2) - (at % graphs).max(2) % 40 + 3;
    let rows = BatchRows {
        graphs: (0..500_000).map(|at| row(at).min(graphs - 20)).map(|g| g - g % 40 + 3).collect(),
        sources: (0..500_000).map(|at| at % 3).collect(),
        targets: (0..500_000).map(|at| at / 7 % 3).collect(),
        weights: None,
    };
    let table = BatchTable::new(members, rows).unwrap();
    let batch = BatchBuilder::new().build(table).unwrap();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let expected = pool(1).install(|| written(&batch, 1 << 30));
    assert!(expected.len() > 3 << 20);
    for threads in [2, 7] {
        assert!(pool(threads).install(|| written(&batch, 1 << 30)) == expected);
        let mut damaged = expected.clone();
        damaged[(2 << 20) + 80] ^= 4;
        damaged[(3 << 20) + 80] ^= 4;
        let error = pool(threads).install(|| opened(&damaged)).unwrap_err().to_string();
        assert!(error.contains(" at byte 2097216: the bytes up to 3145792 "), "{error}");
    }
}

#[test]
fn an_open_file_outlives_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.swarm");
    let batch = example();
    write(&batch, 1, 1, &path).unwrap();
    let file = SwarmFile::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let part = file.read(2).unwrap();
    drop(file);
    assert_eq!(part, batch.slice(2..3).to_batch().unwrap());
}
