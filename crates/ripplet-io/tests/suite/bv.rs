//! WebGraph's BV graphs: as WebGraph for Rust writes them, bit by bit, and damaged.

use proptest::prelude::*;
use ripplet_graph::{EdgeTable, VertexIds};
use ripplet_io::{Format, ReadError, ReadOptions, bv, read_edges};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/webgraph").join(name)
}

fn arcs(table: &EdgeTable) -> Vec<(u32, u32)> {
    table.sources().iter().copied().zip(table.targets().iter().copied()).collect()
}

/// Returns the graph of the data: residuals on both sides, intervals, empty lists, much that earlier lists have, and all.
fn expected() -> Vec<(u32, u32)> {
    let n = 400;
    let mut lists: Vec<BTreeSet<u32>> = vec![];
    for v in 0..n {
        let mut list = BTreeSet::new();
        if v % 7 != 5 {
            list.extend([(v * v + 3) % n, (v * 31 + 11) % n]);
            if v % 3 == 0 {
                list.extend(v / 2..(v / 2 + 4 + v % 9).min(n));
            }
            if v % 5 == 1 {
                list.extend(n - 30..n - 30 + v % 23);
            }
            if v % 4 == 2 {
                list.extend(lists[v as usize - 2].iter().filter(|u| **u % 5 != 0));
            }
            if v == 123 {
                list.extend(0..n);
            }
        }
        lists.push(list);
    }
    (0..).zip(lists).flat_map(|(v, list)| list.into_iter().map(move |u| (v, u))).collect()
}

#[test]
fn graphs_that_webgraph_wrote() {
    for name in ["usual", "delta", "gamma", "plain"] {
        let path = data(name).with_extension("graph");
        let table = read_edges(&path, &ReadOptions::default()).unwrap();
        assert_eq!(*table.ids(), VertexIds::Consecutive { first: 0, count: 400 });
        assert!(table.weights().is_none());
        assert!(arcs(&table) == expected(), "{name}");
    }
}

const PROPERTIES: &str = "\
#BVGraph properties
! another comment
graphclass = class it.unimi.dsi.webgraph.BVGraph
nodes=NODES
arcs: ARCS
windowsize=7
maxrefcount=3
minintervallength=2
compressionflags=FLAGS
zetak=3
";

fn properties(nodes: u64, arcs: u64, flags: &str) -> String {
    let text = PROPERTIES.replace("NODES", &nodes.to_string());
    text.replace("ARCS", &arcs.to_string()).replace("FLAGS", flags)
}

/// Bytes of bits from `0` and `1`; others are skipped.
fn packed(bits: &str) -> Vec<u8> {
    let bits: Vec<u8> = bits.bytes().filter(|b| b"01".contains(b)).map(|b| b - b'0').collect();
    bits.chunks(8).map(|eight| (0..).zip(eight).map(|(at, bit)| bit << (7 - at)).sum()).collect()
}

fn parse(properties: &str, bits: &str) -> Result<EdgeTable, ReadError> {
    bv::parse(properties.as_bytes(), &packed(bits), &ReadOptions::default())
}

/// Vertex 0: outdegree 3, no reference, no intervals, residuals 0 (+0), 3, 7. Vertex 1: outdegree 0. Vertex 2:
/// outdegree 6, of vertex 0 a block of 1, one of 1 left out, the rest; an interval of 2 from 1 (−1); residuals 4, 6.
/// Vertex 3 to 7: none.
const BITS: &str = "00100  1  1  100 1011 1100
                    1
                    00111  001  011 010 1  010 010 1  1101 1010
                    1 1 1 1 1";

#[test]
fn bit_by_bit() {
    let table = parse(&properties(8, 9, ""), BITS).unwrap();
    let expected = [(0, 0), (0, 3), (0, 7), (2, 0), (2, 1), (2, 2), (2, 4), (2, 6), (2, 7)];
    assert_eq!(arcs(&table), expected);
    // Of two vertices 1 and 0: outdegrees in δ, references in γ, residuals in γ.
    let flags = "OUTDEGREES_DELTA | REFERENCES_GAMMA|RESIDUALS_GAMMA|OFFSETS_DELTA";
    let table = parse(&properties(2, 2, flags), "0100 1 1 011  0100 1 1 010").unwrap();
    assert_eq!(arcs(&table), [(0, 1), (1, 0)]);
    // Nothing at all.
    let table = parse(&properties(0, 0, ""), "").unwrap();
    assert_eq!(*table.ids(), VertexIds::Consecutive { first: 0, count: 0 });
}

#[test]
fn damaged_files() {
    let error =
        |nodes, arcs, bits| parse(&properties(nodes, arcs, ""), bits).unwrap_err().to_string();
    for (nodes, arcs, bits, expected) in [
        (9, 9, "0010011", "cannot have the lists of 9 vertices"),
        (4, 9, "00100 1 1", "(bytes).graph at byte 0: the list of vertex 0"),
        (4, 9, "00100 1 1", "ends in it"),
        (2, 9, "00101 1 1", "its outdegree is 4, of 2 vertices"),
        (8, 2, BITS, "more than 2 arcs"),
        (8, 10, BITS, "the lists have 9 arcs, but the properties say 10"),
        (2, 1, "1 010 0001 000000", "refers 3 vertices back, 1 at most"),
        (3, 3, "011 1 1 100 100  010 01 010 00100 000000", "copies more than vertex 0"),
        (3, 5, "011 1 1 100 100  010 01 1 000000", "copies 2 neighbours, but its outdegree is 1"),
        (4, 4, "011 1 010 1 010 000000", "an interval of 3 is more"),
        (4, 4, "011 1 010 00111 1 000000", "neighbour 4: expected 0 to 3"),
        (4, 1, "010 1 1 1010 0000000", "neighbour -1"),
    ] {
        let found = error(nodes, arcs, bits);
        assert!(found.contains(expected), "{bits}: {found}");
    }
    // One neighbour in an interval and as a residual.
    let found = error(4, 3, "00100 1 010 1 1 100 1 1 1");
    assert!(found.contains("neighbour 0 twice"), "{found}");
    let long = format!("{BITS}{}", "0".repeat(200));
    assert!(error(8, 9, &long).contains("goes on"));
}

#[test]
fn properties_that_are_not_read() {
    let error = |text: &str| parse(text, BITS).unwrap_err().to_string();
    let usual = properties(8, 9, "");
    assert!(parse(&usual, BITS).is_ok());
    for (from, to, expected) in [
        (
            "it.unimi.dsi.webgraph.BVGraph",
            "a.BitStreamArcLabelledImmutableGraph",
            "properties:3: graphclass",
        ),
        ("graphclass", "class", "expected a line `graphclass=…`"),
        ("nodes=8", "nodes=x", "properties:4: nodes is `x`: expected an integer"),
        ("nodes=8", "nodes=4294967295", "expected an integer from 0 to 4294967294"),
        ("arcs: 9", "", "expected a line `arcs=…`"),
        ("windowsize=7", "windowsize=-1", "windowsize is `-1`"),
        ("minintervallength=2", "", "expected a line `minintervallength=…`"),
        ("zetak=3", "zetak=0", "zetak is `0`"),
        ("zetak=3", "endianness=little", "endianness is `little`"),
        (
            "flags=",
            "flags=RESIDUALS_GOLOMB",
            "properties:9: compressionflags has `RESIDUALS_GOLOMB`",
        ),
        ("flags=", "flags=LABELS_GAMMA", "has `LABELS_GAMMA`"),
        ("flags=", "flags=GAMMA", "has `GAMMA`"),
    ] {
        let found = error(&usual.replace(from, to));
        assert!(found.contains(expected), "{to}: {found}");
    }
    // A long text of the file is shortened, and on one line.
    for (from, name) in [
        ("graphclass = class it.unimi.dsi.webgraph.BVGraph", "graphclass"),
        ("nodes=", "nodes"),
        ("zetak=", "zetak"),
        ("zetak=3", "endianness"),
        ("compressionflags=", "compressionflags"),
    ] {
        let found = error(
            &usual.replace(from, &format!("{name}={}\r{}", "x".repeat(50), "y".repeat(5000))),
        );
        assert!(found.contains(name) && found.contains("xx\\ry"), "{found}");
        assert!(found.len() < 400, "{found}");
    }
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    let found = bv::parse(usual.as_bytes(), &packed(BITS), &weighted).unwrap_err().to_string();
    assert!(found.contains("leave --weighted out"), "{found}");
}

/// A `.graph` file is METIS's but if properties beside it name a class.
#[test]
fn told_from_metis_by_what_is_beside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.graph");
    let read = || read_edges(&path, &ReadOptions::default());
    let as_bv =
        || read_edges(&path, &ReadOptions { format: Some(Format::Bv), ..ReadOptions::default() });
    std::fs::write(&path, "2 1\n2\n1\n").unwrap();
    assert_eq!(arcs(&read().unwrap()), [(0, 1)]);
    assert!(as_bv().unwrap_err().to_string().contains("some.properties: they are missing"));
    std::fs::write(path.with_extension("properties"), "graph.some.directed = true\n").unwrap();
    assert_eq!(arcs(&read().unwrap()), [(0, 1)]);
    std::fs::write(path.with_extension("properties"), properties(8, 9, "")).unwrap();
    std::fs::write(&path, packed(BITS)).unwrap();
    assert_eq!(read().unwrap(), as_bv().unwrap());
    assert_eq!(read().unwrap().len(), 9);
    assert_eq!(Format::of_name("bv"), Some(Format::Bv));
}

proptest! {
    /// Whatever the bytes are: a table as the properties promise it, or an error.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60), nodes in 0u64..40, arcs in 0u64..200) {
        let properties = properties(nodes, arcs, "");
        if let Ok(table) = bv::parse(properties.as_bytes(), &bytes, &ReadOptions::default()) {
            prop_assert_eq!(table.len() as u64, arcs);
        }
    }

    /// One flipped bit of a file that WebGraph wrote.
    #[test]
    fn a_flipped_bit(at in any::<prop::sample::Index>()) {
        let read = |extension: &str| std::fs::read(data("usual").with_extension(extension)).unwrap();
        let (properties, mut bytes) = (read("properties"), read("graph"));
        let bit = at.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(table) = bv::parse(&properties, &bytes, &ReadOptions::default()) {
            prop_assert_eq!(table.len(), expected().len());
        }
    }
}
