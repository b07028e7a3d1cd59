//! The fuzzer's inputs of the readers of exchange formats, read again: each is a valid table or a short error.

use ripplet_io::{Columns, Format, IdKind, ReadOptions, parse_edges};
use std::fs;
use std::path::{Path, PathBuf};

/// The options and the text of an input, as `options` in `fuzz/src/lib.rs` splits them.
fn options(input: &[u8]) -> (ReadOptions, &[u8]) {
    let (&first, text) = input.split_first().unwrap_or((&0, &[]));
    let ids = [IdKind::Auto, IdKind::Unsigned, IdKind::Signed, IdKind::Names];
    let columns = match first & 8 {
        0 => Columns::default(),
        _ => {
            let [source, target, weight] = ["a", "b", "w"].map(String::from);
            Columns { source, target, weight, ..Columns::default() }
        }
    };
    let ids = ids[usize::from(first >> 1 & 3)];
    (ReadOptions { weighted: first & 1 != 0, ids, columns, ..ReadOptions::default() }, text)
}

/// The files of a target's corpus.
fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 5, "{}: {} files", folder.display(), files.len());
    files
}

/// Reads an input, and returns whether it is a graph.
fn replay(input: &[u8], format: Format, file: &Path) -> bool {
    let (options, text) = options(input);
    match parse_edges(text, format, &options) {
        Ok(table) => {
            assert!(table.ids().is_valid(), "{}", file.display());
            assert_eq!(table.weights().is_some(), options.weighted, "{}", file.display());
            true
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(!sentence.contains('\n') && sentence.len() < 2000, "{sentence}");
            false
        }
    }
}

#[test]
fn inputs_of_exchange_formats_are_graphs_or_short_errors() {
    // The order in `fuzz/fuzz_targets/exchange.rs`.
    let formats = [Format::GraphMl, Format::Gexf, Format::Pajek, Format::NodeLink];
    let mut graphs = [0; 4];
    for file in corpus("exchange") {
        let input = fs::read(&file).unwrap();
        let (&first, rest) = input.split_first().unwrap_or((&0, &[]));
        let at = usize::from(first) % formats.len();
        graphs[at] += usize::from(replay(rest, formats[at], &file));
    }
    // Otherwise the inputs are split in a wrong way.
    assert!(graphs.iter().all(|&graphs| graphs > 0), "{graphs:?}");
    let mut graphs = 0;
    for file in corpus("gml") {
        graphs += usize::from(replay(&fs::read(&file).unwrap(), Format::Gml, &file));
    }
    assert!(graphs > 0);
}
