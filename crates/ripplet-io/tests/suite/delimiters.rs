//! Detection of the separator of a text table: as intended, or refused.

use ripplet_graph::EdgeTable;
use ripplet_io::{Columns, Delimiter, Format, Header, IdKind, ReadOptions, parse_edges};

fn rows_of(table: &EdgeTable) -> Vec<String> {
    let name = |&vertex: &u32| table.ids().get(vertex).to_string();
    let pairs = table.sources().iter().zip(table.targets());
    pairs.map(|(s, t)| format!("{}>{}", name(s), name(t))).collect()
}

fn read_with(text: &str, format: Format, options: &ReadOptions) -> Result<Vec<String>, String> {
    let read = parse_edges(text.as_bytes(), format, options);
    read.map(|table| rows_of(&table)).map_err(|error| error.to_string())
}

fn read(text: &str, format: Format) -> Result<Vec<String>, String> {
    read_with(text, format, &ReadOptions::default())
}

/// A text, and its edges or a part of its refusal.
type Case<'a> = (Format, &'a str, Result<&'a [&'a str], &'a str>);

/// Checks what each text is read as.
fn check(cases: &[Case<'_>]) {
    let mut wrong = Vec::new();
    for (format, text, expected) in cases {
        let found = read(text, *format);
        let is_right = match (&found, expected) {
            (Ok(found), Ok(expected)) => found == expected,
            (Err(found), Err(part)) => found.contains(part),
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{format:?} {text:?}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

use Format::{Csv, EdgeList, Tsv};

#[test]
fn text_of_several_words_is_not_cut_at_its_blanks() {
    check(&[
        (EdgeList, "source,target\nAnn Lee,Bob Ray\n", Ok(&["Ann Lee>Bob Ray"])),
        (
            EdgeList,
            "user;item;rating\nann;The Matrix;5\nbob;Up;4\n",
            Ok(&["ann>The Matrix", "bob>Up"]),
        ),
        (EdgeList, "Ann Lee,Bob Ray\nBob Ray,Cyd\n", Ok(&["Ann Lee>Bob Ray", "Bob Ray>Cyd"])),
        (EdgeList, "Ann Lee|Bob Ray\nBob Ray|Cyd\n", Ok(&["Ann Lee>Bob Ray", "Bob Ray>Cyd"])),
        (
            EdgeList,
            "New York\tBoston\nBoston\tNew York\n",
            Ok(&["New York>Boston", "Boston>New York"]),
        ),
        (EdgeList, "1,New York\n2,Boston\n", Err("--columns 1,2")),
        (
            EdgeList,
            "http://a.org/x http://b.org/y;z\nhttp://b.org/y;z http://c.org\nhttp://c.org http://a.org\n",
            Ok(&[
                "http://a.org/x>http://b.org/y;z",
                "http://b.org/y;z>http://c.org",
                "http://c.org>http://a.org",
            ]),
        ),
        (
            EdgeList,
            "ann bob\nbob cyd\ncyd Dee Roe\n",
            Err(":3: the row has 3 fields, and the first row 2"),
        ),
        (EdgeList, "ann, bob\nbob, cyd\n", Ok(&["ann>bob", "bob>cyd"])),
        (Csv, "Source|Target\nAnn Lee|Bob, Ray\n", Ok(&["Ann Lee>Bob, Ray"])),
    ]);
}

#[test]
fn integers_stand_between_whatever_they_did() {
    check(&[
        (EdgeList, "1 2\n2\t3\n3, 4\n4;5\n", Ok(&["1>2", "2>3", "3>4", "4>5"])),
        (EdgeList, "1 2 0.5\n2 3\n", Ok(&["1>2", "2>3"])),
        (EdgeList, "1,2 5\n2,3 6\n", Ok(&["1>2", "2>3"])),
        (EdgeList, "FromNodeId\tToNodeId\n1\t2\n", Ok(&["1>2"])),
        (Csv, "1 2\n2 3\n", Ok(&["1>2", "2>3"])),
    ]);
}

#[test]
fn two_ways_to_cut_are_refused_with_both() {
    let error = read("Ann Lee,Bob Ray\nBob Ray,Cyd Dee\n", EdgeList).unwrap_err();
    for part in
        ["`Ann Lee` `Bob Ray` (--delimiter ,)", "`Ann` `Lee,Bob` `Ray` (--delimiter blanks)"]
    {
        assert!(error.contains(part), "{error}");
    }
    let by = |delimiter: &str| {
        let delimiter = Some(delimiter.parse::<Delimiter>().unwrap());
        let options = ReadOptions { delimiter, header: Header::Absent, ..ReadOptions::default() };
        read_with("Ann Lee,Bob Ray\nBob Ray,Cyd Dee\n", EdgeList, &options)
    };
    assert_eq!(by(",").unwrap(), ["Ann Lee>Bob Ray", "Bob Ray>Cyd Dee"]);
    assert!(by("blanks").unwrap_err().contains("three columns of words"));
    assert!(by(";").is_err());
    for wrong in ["", "ab", "x", "\"", "#", "\n"] {
        assert!(wrong.parse::<Delimiter>().is_err(), "{wrong:?}");
    }
    assert_eq!("tab".parse(), Ok(Delimiter::Byte(b'\t')));
}

#[test]
fn a_delimiter_is_refused_where_there_is_none() {
    let options = ReadOptions { delimiter: Some(Delimiter::Blanks), ..ReadOptions::default() };
    for format in [Format::JsonLines, Format::MatrixMarket, Format::GraphMl] {
        let error = parse_edges(b"{}", format, &options).unwrap_err().to_string();
        assert!(error.contains("--delimiter") && error.contains(format.name()), "{error}");
    }
}

#[test]
fn commas_before_decimals_separate_nothing() {
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    for (format, text) in [
        (Csv, "ann;bob;3,50\nbob;cyd;4\n"),
        (Csv, "ann\tbob\t3,50\nbob\tcyd\t4\n"),
        (Tsv, "ann\tbob\t3,50\nbob\tcyd\t4\n"),
        (Csv, "sender;receiver;amount, EUR\nann;bob;3,50\nbob;cyd;4,00\n"),
        (EdgeList, "ann bob 3,50\nbob cyd 4,00\n"),
        (EdgeList, "ann;bob;3,50\nbob;cyd;4,00\n"),
    ] {
        assert_eq!(read(text, format).unwrap(), ["ann>bob", "bob>cyd"], "{text}");
        let table = parse_edges(text.as_bytes(), format, &weighted);
        let table = table.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(table.weights(), Some(&[3.5, 4.0][..]), "{text}");
    }
    let numbers = parse_edges(b"1 2 3,5\n2 3 4,5\n", EdgeList, &weighted).unwrap();
    assert_eq!(numbers.weights(), Some(&[3.5, 4.5][..]));
    for (text, part) in [
        ("ann;bob;3,50\nbob;cyd;1.5\n", "in column 3"),
        ("ann;bob;1,234\nbob;cyd;5,678\n", "between thousands"),
        ("ann;bob;1,234.50\nbob;cyd;2,5\n", "in column 3"),
    ] {
        let error = parse_edges(text.as_bytes(), Csv, &weighted).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    // Beyond the rows that decide, a point is reported with its line.
    let mut long = "ann;bob;3,50\n".repeat(5000);
    long.push_str("ann;bob;3.50\n");
    let error = parse_edges(long.as_bytes(), Csv, &weighted).unwrap_err().to_string();
    assert!(error.contains(":5001: `3.50` is not a weight"), "{error}");
}

#[test]
fn row_names_are_no_ids() {
    check(&[
        (Csv, "from,to\n1,ann,bob\n2,bob,cyd\n", Ok(&["ann>bob", "bob>cyd"])),
        (
            EdgeList,
            "\"from\" \"to\"\n\"1\" \"ann\" \"bob\"\n\"2\" \"bob\" \"cyd\"\n",
            Ok(&["ann>bob", "bob>cyd"]),
        ),
        (EdgeList, "from to\n1 7 8\n2 8 9\n", Ok(&["7>8", "8>9"])),
        (Csv, "from,to\nann,1,bob\nbob,2,cyd\n", Err(":2: the row has 3 fields, and the header 2")),
        (Csv, "x,y\n1,ann,bob\n2,bob,cyd\n", Err("--columns x,y")),
    ]);
    for [source, target] in [["x", "y"], ["2", "3"]] {
        let columns =
            Columns { source: source.into(), target: target.into(), ..Columns::default() };
        let options = ReadOptions { columns, ..ReadOptions::default() };
        let found = read_with("x,y\n1,ann,bob\n2,bob,cyd\n", Csv, &options);
        assert_eq!(found.unwrap(), ["ann>bob", "bob>cyd"]);
    }
    let absent = ReadOptions { header: Header::Absent, ..ReadOptions::default() };
    let error = read_with("x,y\n1,ann,bob\n2,bob,cyd\n", Csv, &absent).unwrap_err();
    assert!(error.contains(":2: the row has 3 fields"), "{error}");
}

#[test]
fn rows_wider_than_the_header_are_refused_with_their_line() {
    let wide = "the row has 3 fields, and the header 2";
    check(&[
        (Csv, "source,target\nMiller, Ann,bob\n", Err(&format!(":2: {wide}"))),
        (Csv, "source,target\nann,bob\nMiller, Ann,bob\n", Err(&format!(":3: {wide}"))),
        (Csv, "source,target\n\n# c\n1,2\n3,4,5\n", Err(&format!(":5: {wide}"))),
        (Csv, "source,target\nann,bob,\nbob,cyd,,\n", Ok(&["ann>bob", "bob>cyd"])),
        (Csv, "source,target\n\"Miller, Ann\",bob\n", Ok(&["Miller, Ann>bob"])),
        (
            Csv,
            "ann,bob\nbob,cyd\nMiller, Ann,bob\n",
            Err(":3: the row has 3 fields, and the first row 2"),
        ),
        (Csv, "1,2\n2,3,5\n", Ok(&["1>2", "2>3"])),
        // A line end at the end changes nothing.
        (Csv, "1,2\n2,3\n3,4,5\n", Ok(&["1>2", "2>3", "3>4"])),
        (Csv, "1,2\n2,3\n3,4,5", Ok(&["1>2", "2>3", "3>4"])),
        (EdgeList, "ann bob\nbob cyd\ncyd Dee Roe", Err(":3: the row has 3 fields")),
    ]);
    for (first, row, last) in [
        ("source,target\n", "ann,bob\n", "Miller, Ann,bob\n"),
        ("source,target\n", "1,2\n", "3,4,5\n"),
        ("", "ann,bob\n", "Miller, Ann,bob\n"),
    ] {
        for rows in [5_000, 100_000] {
            let text = format!("{first}{}{last}", row.repeat(rows));
            let error = read_with(
                &text,
                Csv,
                &ReadOptions {
                    header: if first.is_empty() { Header::Absent } else { Header::Auto },
                    ..ReadOptions::default()
                },
            )
            .unwrap_err();
            let line = rows + 1 + usize::from(!first.is_empty());
            let expected = format!(":{line}: the row has 3 fields, and the first ones 2");
            assert!(error.contains(&expected), "{error}");
        }
    }
}

#[test]
fn a_surplus_field_is_found_behind_columns_that_are_not_read() {
    let all = |text: &str, format| read(text, format).map(|rows| rows.len());
    for (format, first, row, last) in [
        (Csv, "from,to,a,b,c\n", "1,2,x,y,z\n", "1,2,x,y,z,w\n"),
        (Csv, "from,to,a,b,c\n", "1,2,x,y,z\r\n", "1,2,x,y,z,w\r\n"),
        (Csv, "from,to,a,b,c\n", "ann,bob,\"x,y\",y,z\n", "ann,bob,\"x,y\",y,z,w\n"),
        (Csv, "a,from,b,to,c\n", "x,ann,y,bob,\"z,z\"\n", "x,ann,y,bob,z,z\n"),
        (Csv, "a,from,b,to,c\n", "x,1,y,2,z\n", "x,3,1,y,2,z\n"),
        (EdgeList, "", "ann bob 2020\n", "ann bob in 2020\n"),
        (EdgeList, "from\tto\tnote\n", "a b\tc d\tx\n", "a b\tc d\tx\ty\n"),
    ] {
        for rows in [10, 5_000, 100_000] {
            let whole = format!("{first}{}", row.repeat(rows));
            assert_eq!(all(&whole, format), Ok(rows), "{row:?}");
            let error = all(&(whole + last), format).unwrap_err();
            let line = rows + 1 + usize::from(!first.is_empty());
            assert!(error.contains(&format!(":{line}: the row has ")), "{last:?}: {error}");
            assert!(error.contains(" fields, and "), "{last:?}: {error}");
        }
    }
    // Empty fields at the end, and missing ones, are none too many.
    for last in ["1,2,x,y,z,,\n", "1,2\n", "1,2,x\n", "1,2,\"x,y\",\"\"\"z,\",\"w\"\n"] {
        let text = format!("from,to,a,b,c\n{}{last}", "1,2,x,y,z\n".repeat(5_000));
        assert_eq!(all(&text, Csv), Ok(5_001), "{last:?}");
    }
    // Integers without a header may have more behind them.
    let text = format!("{}1,2,3,4\n", "1,2,3\n".repeat(5_000));
    assert_eq!(all(&text, Csv), Ok(5_001));
}

#[test]
fn quotes_hold_fields_between_blanks() {
    check(&[
        (
            EdgeList,
            "Ann Bob\nBob \"Cyd Roe\"\n\"Cyd Roe\" Ann\n",
            Ok(&["Ann>Bob", "Bob>Cyd Roe", "Cyd Roe>Ann"]),
        ),
        (Csv, "\"1\" \"2\"\n\"2\" \"3\"\n", Ok(&["1>2", "2>3"])),
        (EdgeList, "bo\"b ann\nann bo\"b\n", Ok(&["bo\"b>ann", "ann>bo\"b"])),
        (
            EdgeList,
            "\"Ann Lee\"\t\"Bob\"\n\"Bob\"\t\"Ann Lee\"\n",
            Ok(&["Ann Lee>Bob", "Bob>Ann Lee"]),
        ),
        (EdgeList, "\"ann\" bob\nbob \"cyd\n", Err(":2: a quoted field does not end")),
    ]);
}

#[test]
fn excel_says_what_stands_between_fields() {
    check(&[
        (Csv, "sep=;\nsource;target\nAnn, Lee;Bob\n", Ok(&["Ann, Lee>Bob"])),
        (Csv, "sep=|\r\nann|bob\r\nbob|ann\r\n", Ok(&["ann>bob", "bob>ann"])),
    ]);
}

#[test]
fn a_header_may_stand_in_a_comment() {
    check(&[
        (Csv, "#source,target\nann,bob\ncyd,dan\n", Ok(&["ann>bob", "cyd>dan"])),
        (
            Csv,
            "# made by hand\n# when,sender,receiver\n7,ann,bob\n8,bob,cyd\n",
            Ok(&["ann>bob", "bob>cyd"]),
        ),
        (EdgeList, "# FromNodeId\tToNodeId\n1\t2\n", Ok(&["1>2"])),
    ]);
}

#[test]
fn a_matrix_market_file_is_not_read_as_an_edge_list() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n";
    for format in [EdgeList, Csv, Tsv] {
        let error = read(text, format).unwrap_err();
        assert!(error.contains("--from mtx"), "{error}");
    }
    // Some have the banner, and the size in a comment.
    let list = "%%MatrixMarket matrix coordinate pattern symmetric\n%3 3 2\n1 2\n2 3\n";
    assert_eq!(read(list, EdgeList).unwrap(), ["1>2", "2>3"]);
}

#[test]
fn bytes_of_parquet_and_arrow_are_told() {
    for (bytes, part) in [
        (&b"PAR1\x15\x04\x15\x10"[..], "--from parquet"),
        (b"ARROW1\0\0\xff\xff\xff\xff", "--from arrow"),
    ] {
        let error = parse_edges(bytes, EdgeList, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    // Genes are called so.
    assert_eq!(read("PAR1 F2R\nF2R PAR1\n", EdgeList).unwrap(), ["PAR1>F2R", "F2R>PAR1"]);
}

#[test]
fn text_that_is_not_utf8_says_how_to_make_it_so() {
    let error = parse_edges(b"ann,Jos\xe9\nJos\xe9,ann\n", Csv, &ReadOptions::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("iconv"), "{error}");
}

#[test]
fn names_of_formats_are_known_in_any_case() {
    for (name, format) in [
        ("txt", EdgeList),
        ("el", EdgeList),
        ("EdgeList", EdgeList),
        ("CSV", Csv),
        ("ndjson", Format::JsonLines),
        ("JsonLines", Format::JsonLines),
    ] {
        assert_eq!(Format::of_name(name), Some(format), "{name}");
    }
    assert_eq!(Format::of_name("xlsx"), None);
}

#[test]
fn ids_that_are_asked_to_be_text_do_not_change_what_is_a_header() {
    let names = ReadOptions { ids: IdKind::Names, ..ReadOptions::default() };
    let found = read_with("0,1\nann,bob\nbob,cyd\n", Csv, &names).unwrap();
    assert_eq!(found, ["ann>bob", "bob>cyd"]);
    let error = read_with("5,7\nann,bob\nbob,cyd\n", Csv, &names).unwrap_err();
    assert!(error.contains("--header or --no-header"), "{error}");
}
