//! Many graphs from every source: each is what it would be by itself, and what is wrong is named.

use crate::columnar::files as columnar_files;
use crate::graphs::assert_same_graphs;
use arrow_array::{ArrayRef, Float32Array, Int16Array, StringArray, UInt64Array};
use flate2::write::GzEncoder;
use proptest::prelude::*;
use ripplet_graph::batch::{BatchBuilder, BatchGraph, BatchTable, GraphBatch, Members};
use ripplet_graph::{BuildOptions, Direction, GraphBuilder, SelfLoops};
use ripplet_io::batch::{
    BatchOptions, BatchPart, BatchReader, OnError, Skipped, is_batch, parse_table,
};
use ripplet_io::swarm_file::SwarmWriter;
use ripplet_io::{Columns, Format, Header, IdKind, ReadError, ReadOptions, parse_edges};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arcs of a graph by the names of their ends, with the weights as they are stored.
type Arcs = Vec<(String, String, Option<u32>)>;

/// Contents of a graph: its vertices' ids and its arcs.
type Seen = (Vec<String>, Arcs);

fn seen(graph: BatchGraph<'_>) -> Seen {
    let name = |vertex: u32| graph.vertex_id(vertex).to_string();
    let mut vertices: Vec<_> = (0..graph.vertices()).map(name).collect();
    let (lists, mut arcs) = (graph.out(), Vec::new());
    for vertex in 0..graph.vertices() {
        let begin = lists.offsets()[vertex as usize] as usize;
        for (at, &neighbor) in lists.of(vertex as usize).iter().enumerate() {
            let weight = lists.weights().map(|weights| weights[begin + at]);
            arcs.push((name(vertex), name(neighbor), weight));
        }
    }
    vertices.sort();
    arcs.sort();
    (vertices, arcs)
}

/// Returns the same of a text, read and built by itself.
fn alone(text: &str, format: Format, options: &BatchOptions) -> Seen {
    let read = ReadOptions { format: None, ..options.read.clone() };
    let table = parse_edges(text.as_bytes(), format, &read).unwrap();
    let builder = GraphBuilder::from(options.build.clone());
    let graph = builder.build(table).unwrap();
    let name = |vertex: u32| graph.ids().get(vertex).to_string();
    let mut vertices: Vec<_> = (0..graph.vertices()).map(name).collect();
    let mut arcs = Vec::new();
    for shard in graph.shards() {
        for local in 0..shard.out().offsets().len() - 1 {
            let begin = shard.out().offsets()[local] as usize;
            for (at, &neighbor) in shard.out().of(local).iter().enumerate() {
                let weight = shard.out().weights().map(|weights| weights[begin + at]);
                arcs.push((name(local as u32), name(neighbor), weight));
            }
        }
    }
    vertices.sort();
    arcs.sort();
    (vertices, arcs)
}

struct Read {
    graphs: BTreeMap<String, Seen>,
    parts: Vec<BatchPart>,
    skipped: Vec<(String, String)>,
}

/// Reads all parts and checks what holds of all of them.
fn read(path: &Path, options: &BatchOptions) -> Result<Read, ReadError> {
    let mut reader = BatchReader::open(path, options)?;
    let (mut graphs, mut parts, mut before) = (BTreeMap::new(), Vec::new(), 0.0);
    while let Some(part) = reader.next_part()? {
        let slice = part.slice();
        assert!(!slice.is_empty());
        let size = slice.vertices() + slice.arcs() + slice.len() as u64;
        assert!(slice.len() == 1 || size <= options.part_size);
        assert_eq!(part.batch.is_weighted(), options.read.weighted);
        for graph in slice.graphs() {
            assert!(graphs.insert(graph.id().to_string(), seen(graph)).is_none());
        }
        let progress = reader.progress();
        assert!((before..=1.0).contains(&progress), "{progress} after {before}");
        before = progress;
        parts.push(part);
    }
    assert_eq!(reader.progress(), 1.0);
    assert!(reader.next_part()?.is_none());
    let sentence = |skipped: &Skipped| (skipped.graph.clone(), skipped.error.to_string());
    Ok(Read { graphs, parts, skipped: reader.skipped().iter().map(sentence).collect() })
}

fn error(path: &Path, options: &BatchOptions) -> String {
    match read(path, options) {
        Ok(read) => panic!("{} graphs", read.graphs.len()),
        Err(error) => error.to_string(),
    }
}

fn skipping() -> BatchOptions {
    BatchOptions { on_error: OnError::Skip, ..BatchOptions::default() }
}

fn small(part_size: u64) -> BatchOptions {
    BatchOptions { part_size, ..BatchOptions::default() }
}

/// Files of some formats, of ids of all kinds, one without edges.
fn files() -> Vec<(&'static str, Format, String)> {
    vec![
        ("a.txt", Format::EdgeList, "5 7\n7 9\n5 5\n7 5\n".into()),
        ("b.x.csv", Format::Csv, "source,target\nann,bob\nbob,cy d\n".into()),
        ("c.mtx", Format::MatrixMarket, symmetric("4 4 2\n2 1\n4 1\n")),
        ("d.graph", Format::Metis, "3 1\n2\n1\n\n".into()),
        ("e.mtx", Format::MatrixMarket, symmetric("2 2 0\n")),
        ("f.el", Format::EdgeList, "18446744073709551615 0\n".into()),
        ("g.tsv", Format::Tsv, "0\t0\n".into()),
    ]
}

fn symmetric(rest: &str) -> String {
    format!("%%MatrixMarket matrix coordinate pattern symmetric\n{rest}")
}

fn write_folder(folder: &Path) {
    for (name, _, text) in files() {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(folder.join("README.md"), "no graph").unwrap();
    fs::write(folder.join(".hidden.txt"), "no graph").unwrap();
    fs::create_dir(folder.join("z.txt")).unwrap();
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, &bytes[..]).unwrap();
    }
    archive.into_inner().unwrap()
}

fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (at, (name, bytes)) in files.iter().enumerate() {
        let stored = zip::CompressionMethod::Stored;
        let options = if at % 2 == 0 { options.compression_method(stored) } else { options };
        archive.start_file(name.as_str(), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn entries(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(name, text)| (name.to_string(), text.as_bytes().to_vec())).collect()
}

/// Returns the same graphs in every form that has several files, and what becomes of a name there.
fn sources(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let plain = folder.join("plain");
    fs::create_dir(&plain).unwrap();
    write_folder(&plain);
    let packed = folder.join("packed");
    fs::create_dir(&packed).unwrap();
    let mut all = Vec::new();
    for (at, (name, _, text)) in files().into_iter().enumerate() {
        let (name, bytes) = match at % 3 {
            0 => (format!("{name}.gz"), gzipped(text.as_bytes())),
            1 => (format!("{name}.zst"), zstd::encode_all(text.as_bytes(), 1).unwrap()),
            _ => (name.to_owned(), text.into_bytes()),
        };
        fs::write(packed.join(&name), &bytes).unwrap();
        all.push((format!("x/{name}"), bytes));
    }
    all.insert(2, ("x/notes.md".into(), vec![7; 3000]));
    all.insert(3, ("x/._a.txt".into(), vec![7; 3000]));
    fs::write(folder.join("all.zip"), zip(&all)).unwrap();
    let tar = tar(&all);
    fs::write(folder.join("all.tgz"), gzipped(&tar)).unwrap();
    fs::write(folder.join("all.tar.gz"), gzipped(&tar)).unwrap();
    fs::write(folder.join("all.tar.zst"), zstd::encode_all(&tar[..], 1).unwrap()).unwrap();
    fs::write(folder.join("all.tar"), &tar).unwrap();
    let archives = ["all.zip", "all.tar", "all.tgz", "all.tar.gz", "all.tar.zst"];
    let archives = archives.into_iter().map(|name| (folder.join(name), "x/"));
    archives.chain([(plain, ""), (packed, "")]).collect()
}

#[test]
fn every_source_gives_the_graphs_that_each_file_is_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    for (path, prefix) in sources(folder.path()) {
        for direction in [Direction::Undirected, Direction::Directed] {
            for (part_size, self_loops) in
                [(0, SelfLoops::Keep), (20, SelfLoops::Drop), (1 << 20, SelfLoops::Keep)]
            {
                let ids = if part_size == 20 { IdKind::Names } else { IdKind::Auto };
                let read_options = ReadOptions { ids, ..ReadOptions::default() };
                let options = BatchOptions {
                    build: BuildOptions { self_loops, ..direction.into() },
                    part_size,
                    read: read_options,
                    ..BatchOptions::default()
                };
                let read = read(&path, &options).unwrap();
                assert!(read.skipped.is_empty());
                assert_eq!(read.graphs.len(), files().len(), "{path:?}");
                for (name, format, text) in files() {
                    let id = format!("{prefix}{}", name.rsplit_once('.').unwrap().0);
                    let expected = alone(&text, format, &options);
                    assert_eq!(read.graphs[&id], expected, "{id} of {path:?}");
                }
                let ids = read.parts.iter().flat_map(|part| part.slice().graphs().map(|g| g.id()));
                assert!(ids.map(|id| id.to_string()).is_sorted());
            }
        }
    }
}

#[test]
fn parts_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    for (path, _) in sources(folder.path()) {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| read(&path, &small(15)).unwrap())
        };
        let expected = on(1);
        for threads in [2, 5] {
            let found = on(threads);
            assert_eq!(found.parts.len(), expected.parts.len());
            for (a, b) in found.parts.iter().zip(&expected.parts) {
                assert_same_graphs(a.slice(), b.slice());
            }
        }
    }
}

#[test]
fn weights_are_read_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "1 2 0.5\n2 3 7\n").unwrap();
    fs::write(folder.path().join("b.csv"), "source,target,weight\n1,2,3\n1,2,4\n").unwrap();
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    let options = BatchOptions { read: weighted, ..BatchOptions::default() };
    let graphs = read(folder.path(), &options).unwrap().graphs;
    assert_eq!(graphs["a"], alone("1 2 0.5\n2 3 7\n", Format::EdgeList, &options));
    assert_eq!(graphs["b"].1[0], ("1".into(), "2".into(), Some(7)));
    fs::write(folder.path().join("c.txt"), "1 2 1\n1 3 -1\n").unwrap();
    let negative = error(folder.path(), &options);
    assert!(negative.contains("c.txt:2: `-1` is not a weight"), "{negative}");
}

#[test]
fn broken_files_stop_or_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let graphs = |name: &str| format!("1 {}\n", name.len() + 1);
    let mut all = Vec::new();
    for at in 0..50 {
        let name = format!("x/{at:03}.txt");
        let text = match at {
            7 => "1 2\n3\n".to_owned(),
            30 => String::new(),
            31 => "1 -2\n".to_owned(),
            _ => graphs(&name),
        };
        all.push((name, text.into_bytes()));
    }
    all.push(("x/049.csv".into(), b"1,2\n".to_vec()));
    all.push(("x/050.e".into(), b"1 2\n".to_vec()));
    let path = folder.path().join("x");
    fs::create_dir(&path).unwrap();
    for (name, bytes) in &all {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    all.sort();
    fs::write(folder.path().join("all.zip"), zip(&all)).unwrap();
    fs::write(folder.path().join("all.tar"), tar(&all)).unwrap();
    for (path, prefix) in
        [(path, ""), (folder.path().join("all.zip"), "x/"), (folder.path().join("all.tar"), "x/")]
    {
        for part_size in [1, 30, 1 << 20] {
            let stopped = error(&path, &small(part_size));
            assert!(stopped.contains("/007.txt:2: "), "{stopped}");
            let options = BatchOptions { on_error: OnError::Skip, ..small(part_size) };
            let read = read(&path, &options).unwrap();
            assert_eq!(read.graphs.len(), 47, "{path:?}");
            let ids: Vec<_> = read.skipped.iter().map(|(graph, _)| graph.as_str()).collect();
            let expected = ["007", "030", "031", "049", "050"].map(|id| format!("{prefix}{id}"));
            assert_eq!(ids, expected);
            let sentences = [
                "/007.txt:2: ",
                "/030.txt: the file has no edges",
                "/031.txt:1: ",
                "another file is the graph",
                if prefix.is_empty() { "050.v" } else { "an LDBC graph is two files" },
            ];
            for ((_, sentence), part) in read.skipped.iter().zip(sentences) {
                assert!(sentence.contains(part), "{sentence}");
            }
        }
    }
}

#[test]
fn where_nothing_is_a_graph_the_error_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for read in [BatchOptions::default(), skipping()] {
        assert!(error(folder.path(), &read).contains("no file of the folder is a graph"));
    }
    fs::write(path("a.md"), "1 2\n").unwrap();
    assert!(error(folder.path(), &skipping()).contains("no file of the folder is a graph"));
    let told = ReadOptions { format: Some(Format::EdgeList), ..ReadOptions::default() };
    let told = BatchOptions { read: told, ..BatchOptions::default() };
    assert_eq!(read(folder.path(), &told).unwrap().graphs["a"].0, ["1", "2"]);
    fs::write(path("b.json"), "{}").unwrap();
    let of_json = "; b.json and others that end in .json are read with --from json";
    assert!(error(folder.path(), &skipping()).contains(of_json));
    let none = entries(&[("a.md", "1 2\n"), ("b/.c.txt", "1 2\n")]);
    fs::write(path("a.zip"), zip(&none)).unwrap();
    fs::write(path("a.tar"), tar(&none)).unwrap();
    for name in ["a.zip", "a.tar"] {
        let found = error(&path(name), &skipping());
        assert!(found.contains("no file of the archive is a graph"), "{found}");
    }
    // An entry that is packed by LZMA.
    let mut packed = zip(&entries(&[("a.txt", "1 2\n")]));
    for (signature, method) in [(b"PK\x03\x04", 8), (b"PK\x01\x02", 10)] {
        let at = packed.windows(4).position(|bytes| bytes == signature).unwrap();
        packed[at + method] = 14;
    }
    fs::write(path("lzma.zip"), packed).unwrap();
    let found = error(&path("lzma.zip"), &BatchOptions::default());
    assert!(found.contains("a.txt: it is packed in a way that is not read here"), "{found}");
    fs::write(path("no.zip"), "1 2\n").unwrap();
    fs::write(path("no.tar"), "1 2\n".repeat(1000)).unwrap();
    fs::write(path("no.tar.gz"), "1 2\n").unwrap();
    fs::write(path("empty.tar"), "").unwrap();
    for name in
        ["empty.tar", "no.zip", "no.tar", "no.tar.gz", "missing.zip", "missing.tar", "missing"]
    {
        let found = error(&path(name), &skipping());
        assert!(found.contains(name), "{found}");
    }
}

#[test]
fn archives_that_are_cut_short_or_damaged_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let text = "1 2\n2 3\n".repeat(300);
    let all: Vec<_> =
        (0..20).map(|at| (format!("{at:02}.txt"), text.clone().into_bytes())).collect();
    let tar = tar(&all);
    for (name, bytes) in [
        ("a.zip", zip(&all)),
        ("a.tar", tar.clone()),
        ("a.tgz", gzipped(&tar)),
        ("a.tar.zst", zstd::encode_all(&tar[..], 1).unwrap()),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(read(&path, &skipping()).unwrap().graphs.len(), 20);
        let tail = if name == "a.tar" { 1024 } else { 1 };
        for cut in
            [bytes.len() - tail, bytes.len() - tail - 30, bytes.len() / 2, bytes.len() * 2 / 3]
        {
            fs::write(&path, &bytes[..cut]).unwrap();
            let found = error(&path, &skipping());
            assert!(found.contains(name), "{found}");
        }
    }
    // One entry of a .zip that is damaged is that entry's fault.
    let path = folder.path().join("b.zip");
    let mut bytes = zip(&all);
    let middle = bytes.windows(text.len()).position(|some| some == text.as_bytes()).unwrap();
    bytes[middle + 100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let read = read(&path, &skipping()).unwrap();
    assert_eq!((read.graphs.len(), read.skipped.len()), (19, 1));
    assert!(read.skipped[0].1.contains("b.zip/00.txt"), "{:?}", read.skipped);
}

#[test]
fn a_tar_in_another_order_is_read_where_it_is_small() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    fs::write(&path, tar(&entries(&[("b.txt", "1 2\n"), ("a.txt", "1 3\n"), ("c.txt", "1 4\n")])))
        .unwrap();
    let graphs = read(&path, &BatchOptions::default()).unwrap().graphs;
    assert_eq!(graphs.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    for options in [small(1), BatchOptions { part_size: 1, ..skipping() }] {
        let found = error(&path, &options);
        assert!(found.contains("the entry a.txt comes after b"), "{found}");
        assert!(found.contains("--sort=name"), "{found}");
    }
}

/// Links, pipes and files: hard links to what is before, symbolic ones to whatever is there, and to nothing.
fn tar_with_links() -> Vec<u8> {
    use tar::EntryType::{Fifo, Link, Regular, Symlink};
    let mut archive = tar::Builder::new(Vec::new());
    for (name, kind, content) in [
        ("x/a.txt", Regular, "1 2\n"),
        ("x/b.txt", Link, "x/a.txt"),
        ("x/c.txt", Symlink, "d.txt"),
        ("x/d.txt", Symlink, "../x/z.txt"),
        ("x/e.txt", Fifo, ""),
        ("x/f.txt", Symlink, "/etc/passwd"),
        ("x/g.txt", Symlink, "g.txt"),
        ("x/h.txt", Link, "x/none.txt"),
        ("x/z.txt", Regular, "1 2\n2 3\n"),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o644);
        let data = if kind == Regular { content } else { "" };
        header.set_size(data.len() as u64);
        if kind == Regular || kind == Fifo {
            archive.append_data(&mut header, name, data.as_bytes()).unwrap();
        } else {
            archive.append_link(&mut header, name, content).unwrap();
        }
    }
    archive.into_inner().unwrap()
}

fn zip_with_links() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, text) in [("x/a.txt", "1 2\n"), ("x/z.txt", "1 2\n2 3\n")] {
        archive.start_file(name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    for (name, target) in [
        ("x/b.txt", "a.txt"),
        ("x/c.txt", "d.txt"),
        ("x/d.txt", "../x/z.txt"),
        ("x/f.txt", "/etc/passwd"),
        ("x/g.txt", "g.txt"),
        ("x/h.txt", "none.txt"),
    ] {
        archive.add_symlink(name, target, options).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// None is lost in silence: a link is what it leads to, or named.
#[test]
fn links_in_an_archive_are_read_or_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, bad) in [
        ("a.tar", tar_with_links(), &["x/e", "x/f", "x/g", "x/h"][..]),
        ("a.tgz", gzipped(&tar_with_links()), &["x/e", "x/f", "x/g", "x/h"]),
        ("a.zip", zip_with_links(), &["x/f", "x/g", "x/h"]),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let stopped = error(&path, &BatchOptions::default());
        assert!(stopped.contains(&format!("{name}/{}.txt: it is a ", bad[0])), "{stopped}");
        let read = read(&path, &skipping()).unwrap();
        let ids: Vec<&str> = read.graphs.keys().map(|id| &**id).collect();
        assert_eq!(ids, ["x/a", "x/b", "x/c", "x/d", "x/z"], "{name}");
        assert!(read.graphs["x/b"] == read.graphs["x/a"], "{name}");
        assert!(["x/c", "x/d"].iter().all(|id| read.graphs[*id] == read.graphs["x/z"]), "{name}");
        let skipped: Vec<&str> = read.skipped.iter().map(|(id, _)| &**id).collect();
        assert_eq!(skipped, bad, "{name}");
        let of = |id: &str| &read.skipped.iter().find(|(graph, _)| graph == id).unwrap().1;
        assert!(
            of("x/f").contains("it is a link to /etc/passwd, which is no file"),
            "{}",
            of("x/f")
        );
        assert!(of("x/h").contains("unpack the archive"), "{}", of("x/h"));
    }
}

#[test]
fn what_unpacks_to_too_much_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = "1 2\n".repeat(70 << 18);
    let all = vec![
        ("a.txt".to_owned(), b"1 2\n".to_vec()),
        ("b.txt".to_owned(), bomb.clone().into_bytes()),
        ("c.txt.gz".to_owned(), gzipped(bomb.as_bytes())),
        ("d.txt".to_owned(), b"1 3\n".to_vec()),
    ];
    fs::write(folder.path().join("a.zip"), zip(&all)).unwrap();
    fs::write(folder.path().join("a.tgz"), gzipped(&tar(&all))).unwrap();
    for name in ["a.zip", "a.tgz"] {
        let options = BatchOptions { part_size: 1000, ..skipping() };
        let read = read(&folder.path().join(name), &options).unwrap();
        assert_eq!(read.graphs.keys().collect::<Vec<_>>(), ["a", "d"]);
        assert_eq!(read.skipped.len(), 2);
        for (_, sentence) in &read.skipped {
            assert!(sentence.contains(&format!("{}", 64 << 20)), "{sentence}");
        }
    }
}

#[test]
fn a_data_set_is_a_batch_of_its_own_ids() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tu");
    let all = ripplet_io::tu::read(&data, &Default::default()).unwrap().batch;
    for part_size in [1, 100, 1 << 20] {
        let read = read(&data, &small(part_size)).unwrap();
        assert_eq!(read.graphs.len(), 10);
        let mut first = 0;
        for part in &read.parts {
            assert_eq!(part.graphs.start, first);
            assert_same_graphs(part.slice(), all.slice(part.graphs.clone()));
            first = part.graphs.end;
        }
    }
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    let options = BatchOptions { read: weighted, ..BatchOptions::default() };
    assert!(error(&data, &options).contains("have no weights"));
}

fn swarm(folder: &Path, batch: &GraphBatch, part_size: u64) -> PathBuf {
    let path = folder.join("some.swarm");
    let mut writer = SwarmWriter::create(&path).unwrap().part_size(part_size);
    writer.append(batch.all()).unwrap();
    writer.finish().unwrap();
    path
}

#[test]
fn a_swarm_is_handed_out_as_it_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let text = "graph,source,target,weight\nb,1,2,0.5\na,5,6,1\nb,2,2,3\nc,1,9,2\nb,7,1,1\n";
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    let directed = BatchOptions {
        read: weighted,
        build: BuildOptions { self_loops: SelfLoops::Keep, ..Direction::Directed.into() },
        ..BatchOptions::default()
    };
    let batch = parse_table(text.into(), Format::Csv, &directed).unwrap();
    for (stored, read_as) in [(1, 1), (1, 1 << 20), (1 << 20, 1), (1 << 20, 1 << 20)] {
        let path = swarm(folder.path(), &batch, stored);
        let options = BatchOptions { part_size: read_as, ..directed.clone() };
        let found = read(&path, &options).unwrap();
        let mut first = 0;
        for part in &found.parts {
            let slice = part.slice();
            assert_same_graphs(slice, batch.slice(first..first + slice.len()));
            first += slice.len();
        }
        assert_eq!((first, found.parts.len()), (3, if stored * read_as > 1 << 20 { 1 } else { 3 }));
        // Without weights asked for, there are none; what has a direction keeps it.
        let plain = read(&path, &small(read_as)).unwrap();
        assert_eq!(plain.parts[0].batch.direction(), Direction::Directed);
    }
    let undirected = batch_without_directions();
    let path = swarm(folder.path(), &undirected, 1);
    let options = BatchOptions { build: Direction::Directed.into(), ..BatchOptions::default() };
    assert!(error(&path, &options).contains("stored undirected"));
    let read = ReadOptions { weighted: true, ..ReadOptions::default() };
    let options = BatchOptions { read, ..BatchOptions::default() };
    assert!(error(&path, &options).contains("stored without weights"));
}

fn batch_without_directions() -> GraphBatch {
    let members = Members::of_sizes([2, 0, 1].into_iter()).unwrap();
    BatchBuilder::new().build(BatchTable::new(members, Default::default()).unwrap()).unwrap()
}

#[test]
fn what_is_a_batch_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let plain = ReadOptions::default();
    for name in ["a.zip", "a.TAR", "a.tar.gz", "a.tgz", "a.tar.zst", "a.swarm"] {
        assert!(is_batch(&path(name), &plain), "{name}");
    }
    for name in ["a.txt", "a.csv", "a.rg", "a.gz", "-", "a_A.txt", "missing"] {
        assert!(!is_batch(&path(name), &plain), "{name}");
    }
    assert!(is_batch(folder.path(), &plain));
    fs::write(path("a_A.txt"), "1, 2\n").unwrap();
    assert!(!is_batch(&path("a_A.txt"), &plain), "an edge list may be called so");
    fs::write(path("a_graph_indicator.txt"), "1\n1\n").unwrap();
    assert!(is_batch(&path("a_A.txt"), &plain));
    let told = ReadOptions { format: Some(Format::EdgeList), ..ReadOptions::default() };
    assert!(!is_batch(&path("a_A.txt"), &told) && is_batch(folder.path(), &told));
}

fn table(text: &str, format: Format, options: &BatchOptions) -> BTreeMap<String, Seen> {
    let batch = parse_table(text.into(), format, options).unwrap();
    batch.all().graphs().map(|graph| (graph.id().to_string(), seen(graph))).collect()
}

#[test]
fn a_table_has_the_graphs_of_its_column() {
    let options = BatchOptions::default();
    let csv = "x,graph,target,source\n?,10,2,1\n?,9,1,2\n?,10,7,2\n?,10,1,2\n";
    let graphs = table(csv, Format::Csv, &options);
    assert_eq!(graphs["10"], alone("1 2\n2 7\n", Format::EdgeList, &options));
    assert_eq!(graphs["9"], alone("1 2\n", Format::EdgeList, &options));
    let text = "source target graph\nann bob 5\nbob cy 6\n";
    assert_eq!(table(text, Format::EdgeList, &options)["6"].0, ["bob", "cy"]);
    let tabs = "graph\tsource\ttarget\nmy graph\t1\t2\nother\t3\t4\nmy graph\t5\t1\n";
    for format in [Format::Tsv, Format::EdgeList] {
        assert_eq!(table(tabs, format, &options)["my graph"].0, ["1", "2", "5"]);
    }
    let [source, target, weight, graph] = ["u", "v", "w", "g"].map(String::from);
    let columns = Columns { source, target, weight, graph };
    let named = ReadOptions { columns, weighted: true, ..ReadOptions::default() };
    let named = BatchOptions { read: named, ..options.clone() };
    let graphs = table("g,w,u,v\na,2,1,2\na,3,2,1\n", Format::Csv, &named);
    assert_eq!(graphs["a"].1[0].2, Some(5));
    let names = ReadOptions { ids: IdKind::Names, ..ReadOptions::default() };
    let names = BatchOptions { read: names, ..options };
    let batch = parse_table(csv.into(), Format::Csv, &names).unwrap();
    assert_eq!(batch.graph(0).id(), ripplet_graph::ExternalId::Name("10"));
}

/// Options with such `--columns` (none where empty), `--graph-column` and header.
fn asked(columns: &str, graph: &str, header: Header) -> BatchOptions {
    let mut read = ReadOptions { header, ..ReadOptions::default() };
    if let Some((source, target)) = columns.split_once(',') {
        (read.columns.source, read.columns.target) = (source.into(), target.into());
    }
    if !graph.is_empty() {
        read.columns.graph = graph.into();
    }
    BatchOptions { read, ..BatchOptions::default() }
}

#[test]
fn the_ends_in_a_table_of_graphs_are_found_as_those_in_a_table_of_one() {
    use Header::{Absent, Auto, Present};
    let expected = table("graph,source,target\n5,1,2\n6,2,3\n", Format::Csv, &asked("", "", Auto));
    for (text, columns, graph, header) in [
        ("graph,from,to\n5,1,2\n6,2,3\n", "", "", Auto),
        ("graph,a,b\n5,1,2\n6,2,3\n", "", "", Auto),
        ("graph,a,b\n5,1,2\n6,2,3\n", "2,3", "", Auto),
        ("graph,a,b\n5,1,2\n6,2,3\n", "a,b", "", Auto),
        ("a,graph,b\n1,5,2\n2,6,3\n", "1,3", "", Auto),
        ("a,b,graph\n1,2,5\n2,3,6\n", "1,2", "", Present),
        ("graph,source,target,note,note\n5,1,2,x,y\n6,2,3,x,y\n", "2,3", "", Auto),
        ("amount,nameOrig,nameDest,Graph_ID\n9.5,1,2,5\n8,2,3,6\n", "", "", Auto),
        ("GRAPH,from,to\n5,1,2\n6,2,3\n", "", "", Auto),
        ("graphId,from,to\n5,1,2\n6,2,3\n", "", "", Auto),
        ("molecule,from,to\n5,1,2\n6,2,3\n", "", "molecule", Auto),
        ("molecule,from,to\n5,1,2\n6,2,3\n", "", "1", Auto),
        ("molecule,from,to\n5,1,2\n6,2,3\n", "", "1", Present),
        ("5,1,2\n6,2,3\n", "", "1", Absent),
        ("5,1,2\n6,2,3\n", "", "1", Auto),
        ("1,2,5\n2,3,6\n", "", "3", Auto),
        ("1,x,5,2\n2,y,6,3\n", "1,4", "3", Absent),
    ] {
        let options = asked(columns, graph, header);
        for (separator, format) in
            [(",", Format::Csv), ("\t", Format::Tsv), (" ", Format::EdgeList)]
        {
            let text = text.replace(',', separator);
            assert_eq!(table(&text, format, &options), expected, "{text}");
        }
    }
}

#[test]
fn what_a_table_of_graphs_does_not_tell_is_refused_with_the_option_to_use() {
    use Header::{Absent, Auto};
    for (text, columns, graph, header, parts) in [
        (
            "graph,Graph_id,from,to\n1,1,2,3\n",
            "",
            "g",
            Auto,
            &["no column `g`", "--graph-column"][..],
        ),
        (
            "Graph,graph_id,from,to\n1,1,2,3\n",
            "",
            "",
            Auto,
            &["`Graph` and `graph_id`", "--graph-column 1"],
        ),
        (
            "graph,graph,from,to\n1,1,2,3\n",
            "",
            "",
            Auto,
            &["`graph` and `graph`", "--graph-column 1"],
        ),
        ("1,2,3\n", "", "", Absent, &["no header", "--graph-column 1"]),
        ("1,2,3\n", "", "4", Auto, &["--graph-column asks for column 4", "has 3"]),
        ("1,2,3\n", "", "0", Auto, &["no column `0`"]),
        ("graph,a,b\n1,2,3\n", "1,2", "", Auto, &["`1`, which is the column of graphs"]),
        ("graph,a,b\n1,2,3\n", "a,graph", "", Auto, &["`graph`, which is the column of graphs"]),
        ("graph,a,b\n1,2,3\n", "2,2", "", Auto, &["both ends"]),
        ("graph,a,b\n1,2,3\n", "2,9", "", Auto, &["column 9, but the first row has 3"]),
        ("graph,a\n1,2\n", "", "", Auto, &["found only `a`", "beside \"graph\""]),
        ("graph\n1\n", "", "", Auto, &["found only `graph`"]),
        ("graph,x,y,z,q\na,u,v,w,p\n", "", "", Auto, &["--columns x,y", "beside \"graph\""]),
        (
            "1,a,b,c,d\n1,b,c,d,e\n",
            "",
            "1",
            Absent,
            &["--columns 2,3 --no-header", "beside column 1"],
        ),
        ("1,a,b,c,d\n1,b,c,d,e\n", "2,3", "1", Absent, &[]),
        ("1,a,b\n1,b,c\n", "", "1", Absent, &[]),
        (
            "graph,source,target,note,note\n1,2,3,x,y\n",
            "",
            "",
            Auto,
            &["`note` twice", "--columns 2,3"],
        ),
        ("1,a,b\n", "x,y", "1", Absent, &["no header", "--columns 2,3"]),
        (
            "graph,from,to,buyer,seller\n1,2,3,4,5\n",
            "",
            "",
            Auto,
            &["more than one pair", "--columns from,to"],
        ),
    ] {
        let options = asked(columns, graph, header);
        let found = parse_table(text.into(), Format::Csv, &options);
        if parts.is_empty() {
            found.unwrap();
            continue;
        }
        let error = found.unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{text:?}: {error}");
    }
}

#[test]
fn a_reader_says_what_it_read() {
    let folder = tempfile::tempdir().unwrap();
    let said = |name: &str| {
        let mut reader = BatchReader::open(&folder.path().join(name), &small(1)).unwrap();
        while reader.next_part().unwrap().is_some() {}
        reader.summary().to_string()
    };
    let csv = "graph,from,to,amount\n5,1,2,9\n6,2,3,9\n6,3,2,1\n";
    fs::write(folder.path().join("t.csv"), csv).unwrap();
    assert_eq!(
        said("t.csv"),
        "read 2 graphs, 4 vertices, 3 edges: graph = \"graph\", source = \"from\", target = \"to\"; \"amount\" ignored \
         (--weighted reads it)"
    );
    let files = [("a.csv", "from,to\n1,2\n1,2\n"), ("b.csv", "from,to\n1,2\n")];
    let alike = "read 2 graphs, 4 vertices, 3 edges: source = \"from\", target = \"to\"";
    fs::create_dir(folder.path().join("alike")).unwrap();
    for (name, text) in files {
        fs::write(folder.path().join("alike").join(name), text).unwrap();
    }
    fs::write(folder.path().join("alike.zip"), zip(&entries(&files))).unwrap();
    fs::write(folder.path().join("alike.tar"), tar(&entries(&files))).unwrap();
    for name in ["alike", "alike.zip", "alike.tar"] {
        assert_eq!(said(name), alike, "{name}");
    }
    let files = [files[0], ("b.txt", "1 2\n"), ("c.csv", files[1].1), ("d.graph", "2 1\n2\n1\n")];
    fs::write(folder.path().join("many.zip"), zip(&entries(&files))).unwrap();
    assert_eq!(
        said("many.zip"),
        "read 4 graphs, 8 vertices, 5 edges: 2 files (source = \"from\", target = \"to\"), 1 file (source = column 1, \
         target = column 2; no header), 1 file without columns"
    );
}

#[test]
fn a_table_on_disk_is_read_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv.gz");
    let mut text = String::from("graph,source,target\n");
    (0..90).for_each(|row| writeln!(text, "{},{},{}", row % 9, row / 9, row / 9 + 1).unwrap());
    fs::write(&path, gzipped(text.as_bytes())).unwrap();
    let parts = |part_size| read(&path, &small(part_size)).unwrap();
    assert_eq!((parts(1).parts.len(), parts(1 << 20).parts.len()), (9, 1));
    assert_eq!(parts(1).graphs, parts(70).graphs);
    assert!(parts(1).graphs.values().all(|graph| graph.0.len() == 11 && graph.1.len() == 20));
}

#[test]
fn what_is_wrong_with_a_table_has_its_line() {
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    let weighted = BatchOptions { read: weighted, ..BatchOptions::default() };
    for (text, format, part) in [
        ("", Format::Csv, "has no edges"),
        ("graph,source,target,weight\n", Format::Csv, "has no edges"),
        ("1,2,3\n", Format::Csv, "(bytes):1: there is no column `graph`"),
        ("graph,source,weight\n1,2,3\n", Format::Csv, "(bytes):1: the column `weight` seems"),
        ("graph,source,target\n1,2,3\n", Format::Csv, "(bytes):1: there is no column `weight`"),
        ("source,target,weight\n1,2,3\n", Format::Csv, "there is no column `graph`"),
        ("1 2 3\n", Format::EdgeList, "there is no column `graph`"),
        ("graph,source,target,weight\n1,2,3,-1\n", Format::Csv, "(bytes):2: `-1` is not a weight"),
        (
            "graph,source,target,weight\n1,2,3,1\nx,2,3,1\n",
            Format::Csv,
            "(bytes):3: `x` is no graph",
        ),
        ("graph,source,target,weight\n1,2,3,1\n1,2\n", Format::Csv, "(bytes):3: "),
        ("graph,source,target,weight\n1,2,3,1\n\n-1,2,3,1\n1,x,2,1\n", Format::Csv, "(bytes):4: "),
        ("graph,source,target,weight\n1,2,3,1\n1,x,3,1\n-1,2,2,1\n", Format::Csv, "(bytes):3: `x`"),
        ("a", Format::Metis, "is one graph: expected a folder"),
        ("a", Format::Ldbc, "is one graph: expected a folder"),
        ("a", Format::Parquet, "no Parquet file"),
    ] {
        let error = parse_table(text.into(), format, &weighted).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

fn column<T: arrow_array::Array + 'static>(array: T) -> ArrayRef {
    Arc::new(array)
}

#[test]
fn columns_of_parquet_and_arrow_are_those_of_a_text() {
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    let options = BatchOptions { read: weighted, ..BatchOptions::default() };
    let csv = "graph,source,target,weight\n7,1,2,1\n3,2,9,2\n7,2,1,4\n7,8,8,1\n3,2,1,0.5\n";
    let expected = parse_table(csv.into(), Format::Csv, &options).unwrap();
    let columns = |graphs: ArrayRef| {
        vec![
            ("weight", column(Float32Array::from(vec![1.0, 2.0, 4.0, 1.0, 0.5]))),
            ("graph", graphs),
            ("target", column(UInt64Array::from(vec![2, 9, 1, 8, 1]))),
            ("source", column(UInt64Array::from(vec![1, 2, 2, 8, 2]))),
        ]
    };
    let all = |graphs| columnar_files(columns(graphs)).into_iter();
    for (format, bytes) in all(column(Int16Array::from(vec![7, 3, 7, 7, 3]))) {
        assert_eq!(parse_table(bytes, format, &options).unwrap(), expected);
    }
    for (format, bytes) in all(column(Int16Array::from(vec![7, -3, 7, 7, -3]))) {
        let signed = parse_table(bytes, format, &options).unwrap();
        assert_eq!(signed.graph(0).id(), ripplet_graph::ExternalId::Signed(-3));
    }
    for (format, bytes) in all(column(StringArray::from(vec!["b", "a", "b", "b", "a"]))) {
        let named = parse_table(bytes, format, &options).unwrap();
        assert_eq!(seen(named.graph(0)), seen(expected.graph(0)));
        assert_eq!(named.graph(1).id(), ripplet_graph::ExternalId::Name("b"));
    }
    for (format, bytes) in all(column(Int16Array::from(vec![Some(7), None, Some(7), None, None]))) {
        let error = parse_table(bytes, format, &options).unwrap_err().to_string();
        assert!(error.contains(" at row 2: a null"), "{error}");
    }
    for (format, bytes) in all(column(Float32Array::from(vec![1.0; 5]))) {
        let error = parse_table(bytes, format, &options).unwrap_err().to_string();
        assert!(error.contains("the column `graph` is Float32"), "{error}");
    }
    let graphs = column(Int16Array::from(vec![7, 3, 7, 7, 3]));
    let mut renamed = columns(graphs.clone());
    for (column, name) in renamed.iter_mut().zip(["amount", "Graph_ID", "to", "from"]) {
        column.0 = name;
    }
    for (format, bytes) in columnar_files(renamed) {
        assert_eq!(parse_table(bytes, format, &options).unwrap(), expected);
    }
    let mut numbered = options.clone();
    numbered.read.columns.graph = "2".into();
    let mut renamed = columns(graphs);
    renamed[1].0 = "molecule";
    for (format, bytes) in columnar_files(renamed) {
        assert_eq!(parse_table(bytes, format, &numbered).unwrap(), expected);
    }
    let mut lacking = columns(column(Int16Array::from(vec![1; 5])));
    lacking.remove(1);
    for (format, bytes) in columnar_files(lacking) {
        let error = parse_table(bytes, format, &options).unwrap_err().to_string();
        assert!(error.contains("there is no column `graph`"), "{error}");
    }
}

#[test]
fn no_more_than_a_part_is_read_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::create_dir(&path).unwrap();
    let all: Vec<_> = (0..600u32)
        .map(|at| {
            let rows = (0..at % 50 + 1).map(|row| format!("{row} {}\n", row + 1 + at % 3));
            (format!("x/{at:04}.txt"), rows.collect::<String>().into_bytes())
        })
        .collect();
    all.iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
    fs::write(folder.path().join("a.zip"), zip(&all)).unwrap();
    fs::write(folder.path().join("a.tar"), tar(&all)).unwrap();
    for path in [path, folder.path().join("a.zip"), folder.path().join("a.tar")] {
        let mut reader = BatchReader::open(&path, &small(1000)).unwrap();
        let (mut graphs, mut batches, mut last) = (0, 0, None);
        while let Some(part) = reader.next_part().unwrap() {
            // A row has 4 bytes at least, so 4000 bytes are 1000 rows: 2000 arcs, 1000 vertices and more.
            assert!(part.batch.arcs() + part.batch.vertices() <= 4000);
            if last.as_ref().is_none_or(|last| !Arc::ptr_eq(last, &part.batch)) {
                batches += 1;
                // The reader keeps no batch that it has returned.
                assert!(
                    last.replace(part.batch.clone()).is_none_or(|old| Arc::strong_count(&old) == 1)
                );
            }
            graphs += part.slice().len();
        }
        assert_eq!(graphs, 600);
        assert!(batches > 10, "{batches} of {path:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn archives_with_other_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let all = entries(&[("a.txt", "1 2\n2 3\n"), ("b/c.gml", "graph [ node [ id 1 ] ]"), ("d.md", "x")]);
        let folder = tempfile::tempdir().unwrap();
        for (name, mut bytes) in [
            ("a.zip", zip(&all)),
            ("a.tar", tar(&all)),
            ("b.tgz", gzipped(&tar(&all))),
            ("b.tar.zst", zstd::encode_all(&tar(&all)[..], 1).unwrap()),
        ] {
            for &(at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if cuts {
                bytes.truncate(cut.index(bytes.len()));
            }
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            match read(&path, &skipping()) {
                Ok(read) => prop_assert!(read.graphs.len() <= 3),
                Err(error) => prop_assert!(error.to_string().contains(name)),
            }
        }
    }

    #[test]
    fn rows_of_a_table_are_the_edges_of_their_graphs(
        rows in prop::collection::vec((0u32..6, 0u32..9, 0u32..9, 1u32..50), 1..80),
        [names_of_graphs, names, directed, loops] in any::<[bool; 4]>(),
    ) {
        let graph = |graph: u32| if names_of_graphs { format!("g{graph}") } else { graph.to_string() };
        let vertex = |vertex: u32| if names { format!("v{vertex}") } else { (vertex * 1000).to_string() };
        let options = BatchOptions {
            read: ReadOptions { weighted: true, ..ReadOptions::default() },
            build: BuildOptions {
                direction: if directed { Direction::Directed } else { Direction::Undirected },
                self_loops: if loops { SelfLoops::Keep } else { SelfLoops::Drop },
                ..BuildOptions::default()
            },
            ..BatchOptions::default()
        };
        let mut text = String::from("source,target,weight,graph\n");
        let mut own: BTreeMap<String, String> = BTreeMap::new();
        for &(g, s, t, weight) in &rows {
            let (s, t) = (vertex(s), vertex(t));
            writeln!(text, "{s},{t},{weight},{}", graph(g)).unwrap();
            writeln!(own.entry(graph(g)).or_default(), "{s} {t} {weight}").unwrap();
        }
        let found = table(&text, Format::Csv, &options);
        prop_assert_eq!(found.len(), own.len());
        for (id, text) in own {
            prop_assert_eq!(&found[&id], &alone(&text, Format::EdgeList, &options));
        }
    }
}
