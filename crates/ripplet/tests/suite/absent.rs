//! A build without features refuses what they add, and names the feature.

use ripplet::io::batch::{BatchOptions, BatchReader};
use ripplet::io::write::{Communities, Naming, write_communities, write_graph};
use ripplet::io::{ReadErrorKind, ReadOptions, read_labels};
use ripplet::{LoadError, LoadOptions, load};
use std::fs;

/// The file names of each feature.
const OF_FEATURES: [(&str, &[&str]); 3] = [
    ("columnar", &["a.parquet", "a.arrow", "a.feather"]),
    ("graphml", &["a.graphml", "a.gexf"]),
    ("zstd", &["a.csv.zst", "a.gml.zst"]),
];

#[test]
fn a_file_of_an_absent_format_is_refused_by_the_name_of_its_feature() {
    let folder = tempfile::tempdir().unwrap();
    for (feature, names) in OF_FEATURES {
        for name in names {
            let path = folder.path().join(name);
            // The first bytes identify zstd, whatever the name.
            let content: &[u8] = match feature {
                "zstd" => &[0x28, 0xb5, 0x2f, 0xfd],
                _ => b"<graph/>",
            };
            fs::write(&path, content).unwrap();
            let error = load(&path, &LoadOptions::default()).unwrap_err();
            let sentence = error.to_string();
            assert!(sentence.contains(&format!("the cargo feature `{feature}`")), "{sentence}");
            assert!(sentence.contains(name), "{sentence}");
            if feature == "columnar" {
                let LoadError::Read(error) = error else { panic!("{sentence}") };
                let ReadErrorKind::NotBuiltIn(absent) = error.kind else { panic!("{sentence}") };
                assert_eq!(absent.feature(), feature);
            }
        }
    }
}

#[test]
fn tables_and_batches_of_absent_formats_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["a.parquet", "a.zip", "a.tar", "a.tar.gz"] {
        fs::write(path(name), b"PAR1").unwrap();
    }
    fs::write(path("a.txt"), "1 2\n").unwrap();
    let graph = load(&path("a.txt"), &LoadOptions::default()).unwrap();
    let options = ReadOptions::default();
    let error = read_labels(&path("a.parquet"), &options, graph.ids()).unwrap_err().to_string();
    assert!(error.contains("`columnar`"), "{error}");
    for name in ["a.zip", "a.tar", "a.tar.gz"] {
        let error = BatchReader::open(&path(name), &BatchOptions::default()).err().unwrap();
        assert!(error.to_string().contains("`archives`"), "{error}");
    }
}

#[test]
fn nothing_is_left_of_an_output_in_an_absent_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.txt"), "1 2\n").unwrap();
    let graph = load(&path("a.txt"), &LoadOptions::default()).unwrap();
    let outputs = [("o.parquet", "columnar"), ("o.arrow", "columnar"), ("o.csv.zst", "zstd")];
    for (name, feature) in outputs {
        let told = format!("the cargo feature `{feature}`");
        let error = write_graph(&graph, &path(name), None).unwrap_err().to_string();
        assert!(error.contains(&told), "{error}");
        let communities = Communities::of_all(&[0, 0]);
        let written = write_communities(&path(name), graph.ids(), &communities, Naming::VertexId);
        let error = written.unwrap_err().to_string();
        assert!(error.contains(&told), "{error}");
        assert!(!path(name).exists());
    }
    // GraphML is written without the feature that reads it.
    assert_eq!(write_graph(&graph, &path("o.graphml"), None).unwrap(), 0);
}
