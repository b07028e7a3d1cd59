//! The fuzzer's inputs of the readers of text, read again: each is a valid table or a short error, and those of known
//! mistakes have the outcome that their names say.

use ripplet_graph::{Names, VertexIds};
use ripplet_io::batch::{BatchOptions, parse_table};
use ripplet_io::{
    Columns, Format, Header, IdKind, ReadError, ReadOptions, UnknownSeeds, ValueKind, parse_edges,
    parse_seeds, parse_vertex_table,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the options and the text of an input, as `options` in `fuzz/src/lib.rs` splits them.
fn options(input: &[u8]) -> (ReadOptions, &[u8]) {
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

/// Returns the files of a target's corpus.
fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 5, "{}: {} files", folder.display(), files.len());
    files
}

/// Result of reading an input: the number of vertices, rows or graphs, or the error.
type Outcome = Result<usize, String>;

/// Returns the sentence of an error, which must be one.
fn sentence(error: &ReadError) -> String {
    let sentence = error.to_string();
    assert!(!sentence.contains(char::is_control) && sentence.len() < 2000, "{sentence:?}");
    sentence
}

/// Reads an input as edges: how many vertices it has.
fn edges(input: &[u8], format: Format, file: &Path) -> Outcome {
    let (options, text) = options(input);
    let table = parse_edges(text, format, &options).map_err(|error| sentence(&error))?;
    assert!(table.ids().is_valid(), "{}", file.display());
    assert_eq!(table.weights().is_some(), options.weighted, "{}", file.display());
    Ok(table.ids().len())
}

/// Reads an input, and returns whether it is a graph.
fn replay(input: &[u8], format: Format, file: &Path) -> bool {
    edges(input, format, file).is_ok()
}

/// The formats of tables, in the order of the targets.
const FORMATS: [Format; 5] =
    [Format::EdgeList, Format::Tsv, Format::Csv, Format::Parquet, Format::Arrow];

/// Returns the format, the ids and the table of an input, as `about_vertices` in `fuzz/src/lib.rs` splits them.
fn about_vertices(input: &[u8]) -> (u8, Format, VertexIds, &[u8]) {
    let (&first, table) = input.split_first().unwrap_or((&0, &[]));
    let ids = match first >> 3 & 3 {
        0 => VertexIds::Consecutive { first: 0, count: 3 },
        1 => VertexIds::Unsigned(vec![1, 7, u64::MAX].into()),
        2 => VertexIds::Signed(vec![i64::MIN, -1, 7].into()),
        _ => VertexIds::Names(Names::new(["a", "b", "c"])),
    };
    (first, FORMATS[usize::from(first & 7) % FORMATS.len()], ids, table)
}

/// Reads an input of one of the targets of text.
fn outcome(target: &str, input: &[u8], file: &Path) -> Outcome {
    match target {
        "edge_list" => edges(input, Format::EdgeList, file),
        "json_lines" => edges(input, Format::JsonLines, file),
        "delimited" => {
            let is_tsv = input.first().is_some_and(|byte| byte & 16 != 0);
            edges(input, if is_tsv { Format::Tsv } else { Format::Csv }, file)
        }
        "graph_table" => {
            let (read, rest) = options(input);
            let (&second, table) = rest.split_first().unwrap_or((&0, &[]));
            let format = FORMATS[usize::from(second & 7) % FORMATS.len()];
            let options = BatchOptions { read, ..BatchOptions::default() };
            let batch = parse_table(table.to_vec(), format, &options);
            batch.map(|batch| batch.len()).map_err(|error| sentence(&error))
        }
        "vertex_table" => {
            let (_, format, ids, table) = about_vertices(input);
            let wanted = [("a", ValueKind::U32), ("w", ValueKind::F32)];
            let table = parse_vertex_table(table, format, &ids, &wanted);
            let found = table.map_err(|error| sentence(&error))?;
            Ok(found.columns.iter().flatten().count())
        }
        _ => {
            let (first, format, ids, table) = about_vertices(input);
            let unknown = [UnknownSeeds::Refuse, UnknownSeeds::Skip][usize::from(first >> 5 & 1)];
            let seeds = parse_seeds(table, format, &ids, unknown);
            seeds.map(|seeds| seeds.rows.len()).map_err(|error| sentence(&error))
        }
    }
}

/// Results for inputs with known mistakes: the target, the input, and how many vertices, graphs, columns or rows it has, or
/// a part of the error.
const KNOWN: &[(&str, &str, Result<usize, &str>)] = &[
    ("delimited", "header-anywhere", Ok(3)),
    ("delimited", "header-words", Ok(3)),
    ("delimited", "header-case", Ok(3)),
    ("delimited", "header-numbered", Ok(3)),
    ("delimited", "header-ambiguous", Err("use --header or --no-header")),
    ("delimited", "header-or-id", Err("use --header or --no-header")),
    ("delimited", "header-two-pairs", Err("more than one pair of columns")),
    ("delimited", "header-of-vertices", Err("that of a table of vertices")),
    ("delimited", "header-wide", Err("use --columns with two names or numbers")),
    ("delimited", "header-twice", Err("the column `source` twice")),
    ("delimited", "header-forced", Ok(2)),
    ("delimited", "header-forbidden", Ok(4)),
    ("delimited", "header-alone", Err("the file has no edges")),
    ("delimited", "header-years", Ok(3)),
    ("delimited", "columns-by-number", Ok(3)),
    ("delimited", "columns-beyond", Err("column 3, but the first row has 2")),
    ("delimited", "weight-twice", Err("both `amount` and `value`")),
    ("delimited", "zeros", Ok(4)),
    ("delimited", "zeros-below", Ok(5)),
    ("delimited", "zeros-unsigned", Ok(3)),
    ("delimited", "plus", Err("`+5` is not a vertex id")),
    ("delimited", "minus-zero", Err("would be the vertex 0")),
    ("delimited", "exponent", Err("`1e3` is not a vertex id")),
    ("delimited", "flood-of-lines", Ok(3)),
    ("delimited", "flood-of-comments", Ok(2)),
    ("delimited", "quoted-blanks", Ok(3)),
    ("delimited", "quoted-open", Err(":2: a quoted field does not end")),
    ("delimited", "mark-and-crlf", Ok(3)),
    ("delimited", "return-within", Err("a carriage return within the line")),
    ("delimited", "utf16", Err("the text is UTF-16")),
    ("delimited", "control", Ok(3)),
    ("delimited", "control-in-error", Err(":3: `\\u{1b}[31m\\u{7}` is not a vertex id")),
    ("delimited", "no-utf8", Err(":2: the name `a\u{fffd}` is not UTF-8")),
    ("delimited", "graph-column", Ok(2)),
    ("delimited", "empty-ids", Err(":2: a vertex id is empty")),
    ("delimited", "tabs-quoted", Ok(4)),
    ("delimited", "tabs-behind-quotes", Err("expected `\\t` after the quoted field `a`")),
    ("edge_list", "header-words", Ok(3)),
    ("edge_list", "header-ambiguous", Err("use --header or --no-header")),
    ("edge_list", "header-of-nothing", Err(":1: expected two vertex ids, found only `;;`")),
    ("edge_list", "letters", Ok(3)),
    ("edge_list", "tabs-and-blanks", Ok(3)),
    ("edge_list", "named-tabs", Ok(4)),
    ("edge_list", "named-tabs-open", Err(":2: a quoted field does not end")),
    ("edge_list", "named-tabs-alone", Err("the file has no edges")),
    ("edge_list", "zeros", Ok(3)),
    ("edge_list", "plus", Err("`+5` is not a vertex id")),
    ("edge_list", "minus-zero", Err("would be the vertex 0")),
    ("edge_list", "exponent", Err("`1e3` is not a vertex id")),
    ("edge_list", "flood-of-lines", Ok(2)),
    ("edge_list", "flood-of-comments", Ok(2)),
    ("edge_list", "mark-and-crlf", Ok(3)),
    ("edge_list", "control", Ok(3)),
    ("edge_list", "many-fields", Ok(3)),
    ("json_lines", "usual", Ok(3)),
    ("json_lines", "names", Ok(3)),
    ("json_lines", "signed", Ok(2)),
    ("json_lines", "columns", Ok(2)),
    ("json_lines", "numbers", Ok(2)),
    ("json_lines", "header-twice", Err("the column `source` twice")),
    ("json_lines", "missing", Err(":2: the key `target` is missing")),
    ("json_lines", "null", Err(":2: the key `target` has null")),
    ("json_lines", "nested", Err(":2: the key `source` has a list")),
    ("json_lines", "exponent", Err(":2: the key `source` has the number 1000.0")),
    ("json_lines", "control", Ok(2)),
    ("json_lines", "flood", Ok(2)),
    ("json_lines", "cut-short", Err(":2: expected a JSON object")),
    ("json_lines", "no-object", Err(":1: ")),
    ("json_lines", "empty", Err(":1: the first object has no keys")),
    ("vertex_table", "header-twice", Err("(bytes):1: the header has the column `a` twice")),
    ("vertex_table", "zeros", Err("no row, the first of them vertex 0")),
    ("vertex_table", "mark-and-crlf", Ok(2)),
    ("vertex_table", "numbers", Ok(2)),
    ("vertex_table", "too-large", Err("`4294967296` is not a whole number")),
    ("vertex_table", "flood", Ok(2)),
    ("vertex_table", "quoted-blanks", Err(":4: the column `w`: ` 2 ` is not a number")),
    ("vertex_table", "control", Ok(2)),
    ("vertex_table", "one-is-missing", Err("no row, the first of them vertex 1")),
    ("graph_table", "header-twice", Err("the column `source` twice")),
    ("graph_table", "no-graph", Err("there is no column `graph`")),
    ("graph_table", "zeros", Err("there is no column `graph`")),
    ("graph_table", "padded-graphs", Ok(2)),
    ("graph_table", "padded-ids", Ok(1)),
    ("graph_table", "flood", Ok(1)),
    ("graph_table", "mark-and-crlf", Ok(1)),
    ("graph_table", "control", Ok(1)),
    ("graph_table", "blanks-in-names", Ok(1)),
    ("graph_table", "empty-graph", Err(":2: the value of the column of graphs is empty")),
    ("seeds", "header-twice", Err("(bytes):1: the header has the column `cluster` twice")),
    ("seeds", "zeros", Err("`00` is no vertex")),
    ("seeds", "plus", Err("`+1` is no vertex")),
    ("seeds", "padded-clusters", Ok(2)),
    ("seeds", "mark-and-crlf", Ok(2)),
    ("seeds", "flood", Ok(2)),
    ("seeds", "tabs-and-blanks", Ok(2)),
    ("seeds", "control", Err("`\\u{7}` is no vertex")),
    ("seeds", "twice", Err(":2: vertex 1 is a seed twice")),
    ("seeds", "strength-too-large", Err("`1e3` is no strength")),
];

#[test]
fn inputs_of_tables_are_what_their_names_say() {
    for target in ["delimited", "edge_list", "json_lines", "vertex_table", "graph_table", "seeds"] {
        let mut known = 0;
        for file in corpus(target) {
            let found = outcome(target, &fs::read(&file).unwrap(), &file);
            let name = file.file_name().unwrap().to_str().unwrap();
            let expected = KNOWN.iter().find(|(of, known, _)| (*of, *known) == (target, name));
            match (expected.map(|(_, _, expected)| expected), &found) {
                (None, _) => continue,
                (Some(Ok(count)), Ok(found)) if count == found => {}
                (Some(Err(part)), Err(sentence)) if sentence.contains(part) => {}
                _ => panic!("{}: {found:?}", file.display()),
            }
            known += 1;
        }
        assert_eq!(known, KNOWN.iter().filter(|(of, ..)| *of == target).count(), "{target}");
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
