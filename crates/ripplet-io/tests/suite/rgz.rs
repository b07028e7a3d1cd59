//! `.rgz`: what is written is what is opened, and nothing else is opened.

use crate::graphs::{any_graph, example};
use proptest::prelude::*;
use ripplet_graph::compressed::{CompressedGraph, CompressedShard};
use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder, VertexIds};
use ripplet_io::ReadError;
use ripplet_io::rgz::{self, RgzWriter};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn written(graph: &Graph) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.rgz");
    rgz::write(graph, &path).unwrap();
    fs::read(path).unwrap()
}

/// Bytes as a mapping has them: aligned for every value.
pub fn mapped(bytes: &[u8]) -> Arc<dyn AsRef<[u8]> + Send + Sync> {
    struct Aligned(Vec<u64>, usize);
    impl AsRef<[u8]> for Aligned {
        fn as_ref(&self) -> &[u8] {
            &bytemuck::cast_slice(&self.0)[..self.1]
        }
    }
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    Arc::new(Aligned(words, bytes.len()))
}

fn opened(bytes: &[u8]) -> Result<CompressedGraph, ReadError> {
    rgz::from_bytes(mapped(bytes), Path::new("x.rgz"))
}

pub fn word(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..][..8].try_into().unwrap()) as usize
}

/// Returns the file with every checksum made right again: those of its parts, of its index, its footer.
pub fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 64;
    let index = word(&bytes, end);
    for entry in (index..end).step_by(16).take_while(|entry| entry + 16 <= end) {
        let (begin, length) = (word(&bytes, entry), word(&bytes, entry + 8));
        let part = begin.checked_add(length).and_then(|to| bytes.get_mut(begin..to));
        if let Some(part) = part.filter(|part| part.len() >= 8) {
            let data_end = part.len() - 8;
            let sum = crc32fast::hash(&part[..data_end]).to_le_bytes();
            part[data_end..data_end + 4].copy_from_slice(&sum);
            part[data_end + 4..].copy_from_slice(&crc32fast::hash(&sum).to_le_bytes());
        }
    }
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
    fn what_is_written_is_opened(graph in any_graph()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.rgz");
        rgz::write(&graph, &path).unwrap();
        let opened = rgz::open(&path).unwrap();
        prop_assert_eq!((opened.vertices(), opened.arcs()), (graph.vertices(), graph.arcs()));
        prop_assert_eq!(opened.shards().len(), graph.shards().len());
        let loops = (opened.self_loops(), opened.edges());
        prop_assert_eq!(loops, (graph.self_loops(), graph.edges()));
        prop_assert_eq!(opened.into_plain().unwrap(), graph);
    }

    #[test]
    fn other_values_under_right_checksums_never_panic(
        graph in any_graph(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..4),
    ) {
        let mut bytes = written(&graph);
        for (at, value) in changes {
            let at = at.index(bytes.len() / 8) * 8;
            let value = if value % 3 == 0 { value % 50 } else { value };
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        // An odd graph may come out; its loops must hold all the same.
        if let Ok(graph) = opened(&resealed(bytes)) {
            prop_assert!(graph.into_plain().unwrap().max_degree() < 1 << 20);
        }
    }
}

#[test]
fn every_flipped_byte_is_an_error() {
    for graph in [example(Direction::Directed), example(Direction::Undirected)] {
        let bytes = written(&graph);
        assert!(graph.shards().len() > 1);
        assert_eq!(opened(&bytes).unwrap().into_plain().unwrap(), graph);
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
        assert!(opened(&bytes).is_err(), "a tail of {tail}");
    }
}

#[test]
fn every_bit_under_right_checksums_is_refused_or_harmless() {
    let graph = example(Direction::Directed);
    let bytes = written(&graph);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            if let Ok(opened) = opened(&resealed(bytes)) {
                assert_eq!(opened.arcs(), graph.arcs(), "byte {at}");
                assert_eq!(opened.into_plain().unwrap().vertices(), 4);
            }
        }
    }
}

#[test]
fn absurd_sizes_are_refused_without_memory_for_them() {
    let bytes = written(&example(Direction::Directed));
    let end = bytes.len() - 64;
    let index = word(&bytes, end);
    let header_of_part = (64..64 + 96).step_by(8);
    for at in header_of_part.chain((index..end + 48).step_by(8)) {
        for value in [u64::MAX, u64::MAX / 2, 1 << 40, u64::MAX - 63] {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            assert!(opened(&resealed(bytes)).is_err(), "{value} at {at}");
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
    assert!(with(0, b'P').contains("not an .rgz file"));
    let version = with(8, 9);
    assert!(version.contains("version 9") && version.contains("reads version 2"), "{version}");
    let index = word(&bytes, bytes.len() - 64);
    let second = word(&bytes, index + 16);
    let damaged = with(second + 130, !bytes[second + 130]);
    let expected = format!("x.rgz at byte {second}: shard 1: the bytes up to");
    assert!(damaged.starts_with(&expected), "{damaged}");
    let header = with(second, !bytes[second]);
    assert!(header.contains("shard 1 of the file is damaged"), "{header}");
    let cut = opened(&bytes[..200]).unwrap_err().to_string();
    assert!(cut.contains("cut short"), "{cut}");
    assert!(opened(b"").unwrap_err().to_string().contains("cut short"));
}

#[test]
fn shards_that_make_no_graph_are_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.rgz");
    let graph = example(Direction::Directed);
    let shards: Vec<_> = graph.shards().iter().map(|s| CompressedShard::of(s).unwrap()).collect();
    let error = |shards: &[CompressedShard], direction| {
        let mut writer = RgzWriter::create(&path).unwrap();
        shards.iter().for_each(|shard| writer.append(shard).unwrap());
        writer.finish(graph.ids(), direction, graph.weight_scale()).unwrap();
        rgz::open(&path).unwrap_err().to_string()
    };
    let reversed: Vec<_> = shards.iter().rev().cloned().collect();
    assert!(error(&reversed, Direction::Directed).contains("no graph"));
    assert!(error(&shards[1..], Direction::Directed).contains("no graph"));
    assert!(error(&shards, Direction::Undirected).contains("shard 0 of the file is damaged"));
    let plain = GraphBuilder::new().build(rows()).unwrap();
    let without = CompressedShard::of(&plain.shards()[0]).unwrap();
    assert!(error(&[without], Direction::Directed).contains("shard 0 of the file is damaged"));
}

fn rows() -> EdgeTable {
    let ids = VertexIds::Consecutive { first: 0, count: 4 };
    EdgeTable::new(ids, vec![0, 1], vec![1, 2]).unwrap()
}

#[test]
fn a_file_that_is_dropped_unfinished_does_not_appear() {
    let folder = tempfile::tempdir().unwrap();
    let graph = example(Direction::Undirected);
    let mut writer = RgzWriter::create(&folder.path().join("some.rgz")).unwrap();
    writer.append(&CompressedShard::of(&graph.shards()[0]).unwrap()).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(RgzWriter::create(Path::new("-")).is_err());
    assert!(RgzWriter::create(&folder.path().join("no/such.rgz")).is_err());
}

#[test]
fn a_larger_graph_takes_a_third_of_its_rg() {
    let edges = ripplet_generate::Web::new(12).generate().unwrap();
    let graph = GraphBuilder::new().shard_arcs(30_000).build(edges).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("web.rgz");
    rgz::write(&graph, &path).unwrap();
    let opened = rgz::open(&path).unwrap();
    assert!(opened.shards().len() > 3);
    let bytes = fs::metadata(&path).unwrap().len();
    assert!(opened.bytes() < bytes && bytes < graph.bytes() / 3, "{bytes} of {}", graph.bytes());
    assert_eq!(opened.into_plain().unwrap(), graph);
}
