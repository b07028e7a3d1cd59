//! Files that match a pattern are one table: any split of the rows gives the table of one file.

use proptest::prelude::*;
use ripplet_graph::EdgeTable;
use ripplet_io::{
    Columns, IdKind, ReadErrorKind, ReadOptions, read_edges, read_edges_with_summary,
};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn folder_of(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn read(folder: &TempDir, pattern: &str, options: &ReadOptions) -> Result<EdgeTable, String> {
    let root = folder.path().display().to_string();
    let found = read_edges(&folder.path().join(pattern), options);
    found.map_err(|error| error.to_string().replace(&root, ""))
}

/// The rows of a table, ids as text, ascending; and its vertices.
fn contents(table: &EdgeTable) -> (Vec<(String, String, u64)>, Vec<String>) {
    let ids = table.ids();
    let name = |&vertex: &u32| ids.get(vertex).to_string();
    let weight = |row: usize| table.weights().map_or(0, |weights| weights[row].to_bits());
    let rows = table.sources().iter().zip(table.targets()).enumerate();
    let mut rows: Vec<_> = rows.map(|(at, (s, t))| (name(s), name(t), weight(at))).collect();
    rows.sort();
    (rows, (0..ids.len() as u32).map(|vertex| name(&vertex)).collect())
}

/// Writes rows as `.csv` or `.tsv`, each kind of part in turn, with a header each.
fn write_parts(folder: &Path, rows: &[(String, String, u32)], bounds: &[usize]) {
    let mut bounds: Vec<usize> = bounds.iter().map(|bound| bound % (rows.len() + 1)).collect();
    bounds.extend([0, rows.len()]);
    bounds.sort_unstable();
    for (at, range) in bounds.windows(2).enumerate() {
        let (name, sign) = if at % 2 == 0 { ("csv", ',') } else { ("tsv", '\t') };
        let mut text = format!("source{sign}target{sign}weight\n");
        for (source, target, weight) in &rows[range[0]..range[1]] {
            text += &format!("{source}{sign}{target}{sign}{weight}\n");
        }
        fs::write(folder.join(format!("part-{at:03}.{name}")), text).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_split_is_the_table_of_one_file(
        pairs in prop::collection::vec((0u64..40, 0u64..40, 1u32..9), 1..60),
        bounds in prop::collection::vec(0usize..100, 0..6),
        kind in 0..4,
    ) {
        // Few ids, far apart, signed, or names.
        let id = |id: u64| match kind {
            0 => id.to_string(),
            1 => (id * 400_000_000_000_007).to_string(),
            2 => (id as i64 * 3 - 50).to_string(),
            _ => format!("n{id}"),
        };
        let rows: Vec<_> = pairs.iter().map(|&(s, t, w)| (id(s), id(t), w)).collect();
        let ids = if kind == 2 { IdKind::Signed } else { IdKind::Auto };
        let options = ReadOptions { weighted: true, ids, ..ReadOptions::default() };
        let folder = folder_of(&[]);
        write_parts(folder.path(), &rows, &bounds);
        let one = tempfile::tempdir().unwrap();
        write_parts(one.path(), &rows, &[]);
        let expected = read_edges(&one.path().join("part-000.csv"), &options).unwrap();
        let found = read_edges(&folder.path().join("part-*"), &options).unwrap();
        // Files ascend by name, as the parts do: the rows have the order of one file, too.
        prop_assert_eq!(&found, &expected);

        // In the reverse order of the rows.
        let reverse: Vec<_> = rows.into_iter().rev().collect();
        let folder = folder_of(&[]);
        write_parts(folder.path(), &reverse, &bounds);
        let found = read_edges(&folder.path().join("part-*"), &options).unwrap();
        prop_assert_eq!(contents(&found), contents(&expected));
    }
}

#[test]
fn a_pattern_is_the_files_that_match_and_no_others() {
    let folder = folder_of(&[
        ("a/1.csv", "source,target\n1,2\n"),
        ("b/2.csv", "source,target\n2,3\n"),
        ("b/.2.csv", "not a table"),
        ("b/deep/3.csv", "source,target\n7,8\n"),
        ("[x].csv", "source,target\n5,6\n"),
    ]);
    let rows = |pattern: &str| read(&folder, pattern, &ReadOptions::default()).unwrap().len();
    assert_eq!([rows("a/*.csv"), rows("b/?.*"), rows("b/[0-9].csv")], [1, 1, 1]);
    // A file of that name.
    assert_eq!(rows("[x].csv"), 1);
    let error = read(&folder, "c/*.csv", &ReadOptions::default()).unwrap_err();
    assert!(error.starts_with("/c/*.csv: No such file"), "{error}");
    let error = read(&folder, "a/*.tsv", &ReadOptions::default()).unwrap_err();
    assert_eq!(error, "/a/*.tsv: no file has such a name");
    let error = read(&folder, "*/1.csv", &ReadOptions::default()).unwrap_err();
    assert!(error.starts_with("/*/1.csv: No such file"), "{error}");
    let error = read(&folder, "b/*", &ReadOptions::default()).unwrap_err();
    assert_eq!(
        error,
        "/b/deep: it is a folder, and a pattern names files: end the pattern with *.csv"
    );
    let error = read(&folder, "a/[", &ReadOptions::default()).unwrap_err();
    assert!(error.contains("it is not a pattern"), "{error}");

    let at = |name: &str| folder.path().join(name);
    let part = |file: &str, pattern: &str| ripplet_io::is_part_of(&at(file), &at(pattern));
    assert!(part("a/1.csv", "a/*.csv") && part("a/new.csv", "a/*.csv"));
    assert!(!part("a/1.csv", "b/*.csv") && !part("a/1.tsv", "a/*.csv"));
    assert!(!part("x.csv", "[x].csv") && !part("a/1.csv", "a/1.csv"));
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_match_and_links_to_one_file_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder_of(&[("1.csv", "source,target\n1,2\n")]);
    let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"ums\xe4tze.csv"));
    fs::write(odd, "source,target\n2,3\n").unwrap();
    assert_eq!(read(&folder, "*.csv", &ReadOptions::default()).unwrap().len(), 2);
    std::os::unix::fs::symlink("1.csv", folder.path().join("2.csv")).unwrap();
    let error = read(&folder, "?.csv", &ReadOptions::default()).unwrap_err();
    assert!(error.contains("/1.csv and /2.csv are one file"), "{error}");
}

#[test]
fn chosen_columns_hold_for_all_files() {
    let folder = folder_of(&[
        ("1.csv", "from,to,who\n1,2,a\n"),
        ("2.csv", "payer,payee,who\n2,3,b\n"),
        ("3.csv", "3,4,c\n4,5,d\n"),
    ]);
    let columns = Columns { source: "1".into(), target: "2".into(), ..Columns::default() };
    let options = ReadOptions { columns, ..ReadOptions::default() };
    assert_eq!(read(&folder, "[12].csv", &options).unwrap().len(), 2);
    assert_eq!(read(&folder, "[123].csv", &options).unwrap().len(), 4);
}

#[test]
fn the_summary_is_that_of_all_files() {
    let folder = folder_of(&[
        ("1.csv", "from,to,amount\n1,2,7\n# aside\n"),
        ("2.csv", "from,to,amount\n"),
        ("3.csv", "from,to,amount\n2,3,7\n3,4,7\n# a\n# b\n"),
    ]);
    let options = ReadOptions::default();
    let (_, summary) = read_edges_with_summary(&folder.path().join("*.csv"), &options).unwrap();
    let text = summary.to_string().replace(&folder.path().display().to_string(), "");
    assert_eq!(
        text,
        "read 3 edges: source = \"from\", target = \"to\"; \"amount\" ignored (--weighted reads it); 1 row that begins \
         with # or % left out; 2 rows that begin with # or % left out in /3.csv; from 3 files"
    );
}

#[test]
fn what_is_not_one_table_is_refused_by_the_file() {
    let refused = |files: &[(&str, &str)], expected: &str| {
        let folder = folder_of(files);
        let options = ReadOptions { weighted: true, ..ReadOptions::default() };
        let error = read(&folder, "*", &options).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    };
    let first = ("1.csv", "source,target,weight\n1,2,1\n");
    refused(
        &[first, ("2.csv", "payer,payee,weight\n1,2,1\n")],
        "/2.csv: its edges are source = \"payer\", target = \"payee\", weight = \"weight\", and those of ",
    );
    refused(
        &[first, ("2.csv", "source,target,weight\nann,bob,1\n")],
        "/2.csv: its ids are names, and those of the files before are integers: --ids names",
    );
    refused(
        &[("0.csv", "source,target,weight\nann,bob,1\n"), first],
        "/1.csv: its ids are integers, and those of the files before are names: --ids names",
    );
    refused(&[first, ("2.csv", "source,target\n3,4\n")], "/2.csv");
    refused(
        &[first, ("2.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")],
        "/2.mtx: a file in the format mtx is a graph of its own, not a part of a table",
    );
    refused(&[first, ("2.csv", "source,target,weight\n3,4,x\n")], "/2.csv:2: ");
    refused(&[first, ("_SUCCESS", "")], "/_SUCCESS: no format");
}

#[test]
fn files_without_edges_add_nothing_but_some_file_has_edges() {
    let header = "source,target\n";
    let folder = folder_of(&[("1.csv", header), ("2.csv", ""), ("3.csv", "source,target\n1,2\n")]);
    let options = ReadOptions::default();
    assert_eq!(read(&folder, "*.csv", &options).unwrap().len(), 1);
    let error = read_edges(&folder.path().join("[12].csv"), &options).unwrap_err();
    assert!(matches!(error.kind, ReadErrorKind::NoEdges(_)), "{error}");
}

#[test]
fn ids_read_as_names_are_of_one_kind() {
    let folder =
        folder_of(&[("1.csv", "source,target\n1,2\n"), ("2.csv", "source,target\nann,2\n")]);
    let options = ReadOptions { ids: IdKind::Names, ..ReadOptions::default() };
    let (_, ids) = contents(&read(&folder, "*.csv", &options).unwrap());
    assert_eq!(ids, ["1", "2", "ann"]);
}
