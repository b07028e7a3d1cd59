//! Rows to days: order, lateness, faults, numbers of entities; from files of all formats.

use ripplet_fraud::mapping::Mapping;
use ripplet_fraud::mapping::WeightRule;
use ripplet_fraud::source::{self, Batch, SourceError};
use ripplet_fraud::stream::{FinishedDay, LONGEST_PAUSE, Stream, StreamError, StreamOptions};
use ripplet_fraud::weights::WeightFunction;
use ripplet_fraud::{Span, Timestamp};
use std::path::Path;

const MAPPING: &str = "
time = \"at\"
amount = \"eur\"
[source]
column = \"from\"
kind = \"user\"
[target]
column = \"to\"
kind = \"shop\"
";

const OPTIONS: StreamOptions = StreamOptions {
    unit: Span::DAY,
    late: None,
    skip_bad_rows: false,
    skip_late_rows: false,
    longest_gap: LONGEST_PAUSE,
    is_followed: false,
    range: ripplet_fraud::TimeRange::ALL,
};

#[derive(Debug)]
enum Refused {
    Source(SourceError),
    Stream(StreamError),
}

/// The days of a text.
fn days_of(
    text: &str,
    mapping: &str,
    options: StreamOptions,
) -> Result<(Vec<FinishedDay>, Stream), Refused> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    days_of_files(&[&path], mapping, options)
}

fn days_of_files(
    paths: &[&Path],
    mapping: &str,
    options: StreamOptions,
) -> Result<(Vec<FinishedDay>, Stream), Refused> {
    let mapping = Mapping::parse(mapping).unwrap();
    let weighing = WeightFunction::new(&WeightRule::default(), Some(2)).unwrap();
    let mut stream = Stream::new(&mapping, weighing.into(), options).unwrap();
    let mut ended = Vec::new();
    for path in paths {
        let origin = path.file_name().unwrap().to_string_lossy();
        let batches = source::open_file(path, &mapping.columns()).map_err(Refused::Source)?;
        for raw in batches {
            let raw = raw.map_err(Refused::Source)?;
            let batch = Batch::of(&raw, &mapping, &origin).map_err(Refused::Source)?;
            ended.extend(stream.push(&batch, &origin).map_err(Refused::Stream)?);
        }
    }
    ended.extend(stream.finish().map_err(Refused::Stream)?);
    Ok((ended, stream))
}

fn sentence(refused: Refused) -> String {
    match refused {
        Refused::Source(error) => error.to_string(),
        Refused::Stream(error) => error.to_string(),
    }
}

#[test]
fn rows_become_days() {
    let text = "from,to,at,eur\n\
        u1,s1,2024-05-01T10:00:00Z,1.50\n\
        u1,s1,2024-05-01 23:59:59,2\n\
        u2,u1,2024-05-03,0.005\n";
    let (ended, stream) = days_of(text, MAPPING, OPTIONS).unwrap();
    let may_first = "2024-05-01".parse::<Timestamp>().unwrap().unit(Span::DAY);
    let units: Vec<i64> = ended.iter().map(|day| day.unit).collect();
    assert_eq!(units, [may_first, may_first + 1, may_first + 2]);
    // Vertices as they were seen: the user u1, the shop s1, the user u2, the shop u1.
    let entities = stream.entities();
    let named: Vec<_> = (0..4).map(|v| (entities.kind_name_of(v), entities.id_of(v))).collect();
    assert_eq!(named, [("user", "u1"), ("shop", "s1"), ("user", "u2"), ("shop", "u1")]);
    let first = &ended[0].run;
    assert_eq!((&*first.vertices, &*first.neighbors), (&[0, 1][..], &[1, 0][..]));
    assert_eq!((&*first.counts, &*first.amounts), (&[2, 2][..], &[350, 350][..]));
    assert_eq!(ended[1].run.transactions, 0);
    assert_eq!(ended[2].run.amounts, [1, 1], "half a cent is one");
    assert_eq!(ended[0].vertices, 2, "who comes with the row that ends the day is not counted");
}

#[test]
fn a_transaction_links_more_than_two() {
    let mapping = format!(
        "{MAPPING}\n[[also]]\ncolumn = \"device\"\nkind = \"device\"\nto = [\"source\", \"target\"]\noptional = true\n"
    );
    let text = "from,to,at,eur,device\na,b,2024-05-01,1,d\na,b,2024-05-01,1,\n";
    let (ended, stream) = days_of(text, &mapping, OPTIONS).unwrap();
    assert_eq!(stream.entities().len(), 3);
    assert_eq!(ended[0].run.neighbors, [1, 2, 0, 2, 0, 1]);
    assert_eq!(ended[0].run.counts, [2, 1, 2, 1, 1, 1]);
    assert_eq!(ended[0].run.transactions, 2);
}

#[test]
fn late_rows_go_to_their_day_while_it_is_open() {
    let text = "from,to,at,eur\na,b,2024-05-01,1\na,b,2024-05-02T23:00:00,1\na,c,2024-05-01T05:00:00,1\n\
        a,b,2024-05-03T06:00:00,1\na,b,2024-05-01T07:00:00,1\n";
    let refused = days_of(text, MAPPING, OPTIONS).unwrap_err();
    assert_eq!(
        sentence(refused),
        "rows.csv:4: the transaction of 2024-05-01T05:00:00Z comes after one of 2024-05-02T23:00:00Z (rows.csv:3), \
         when its day had ended: either time may be wrong; allow for later rows, sort the input by time, or have such rows left out and counted"
    );
    let late = StreamOptions { late: Some("1d".parse().unwrap()), ..OPTIONS };
    let refused = days_of(text, MAPPING, late).unwrap_err();
    assert!(sentence(refused).starts_with("rows.csv:6: the transaction of 2024-05-01T07"));
    let (ended, stream) =
        days_of(text, MAPPING, StreamOptions { skip_late_rows: true, ..late }).unwrap();
    let transactions: Vec<u64> = ended.iter().map(|day| day.run.transactions).collect();
    assert_eq!(transactions, [2, 1, 1]);
    assert_eq!((stream.counts().late, stream.counts().out_of_order), (1, 1));
    let later = StreamOptions { late: Some("2d".parse().unwrap()), ..OPTIONS };
    assert_eq!(days_of(text, MAPPING, later).unwrap().0[0].run.transactions, 3);
}

#[test]
fn a_table_without_commas_has_semicolons_or_tabs() {
    let text = "from;to;at;eur\na;b;2024-05-01;1\n\"a;c\";b;2024-05-01;2\n";
    for text in [text.to_owned(), text.replace(';', "\t")] {
        let (ended, _) = days_of(&text, MAPPING, OPTIONS).unwrap();
        assert_eq!(ended[0].run.transactions, 2, "{text}");
    }
    // A comma in the first row is a separator, whatever else is in it.
    let mixed = "from;to,at,eur\na,2024-05-01,1\n";
    let found = sentence(days_of(mixed, MAPPING, OPTIONS).unwrap_err());
    assert!(found.contains("the columns are from;to, at, eur"), "{found}");
}

#[test]
fn faults_of_rows_name_file_and_line() {
    for (row, expected) in [
        ("a,b,2024-05-32,1", "rows.csv:3: `2024-05-32` in the column `at` is no time"),
        ("a,b,,1", "rows.csv:3: the column `at` is empty"),
        (",b,2024-05-01,1", "rows.csv:3: the column `from` is empty"),
        ("a,b,2024-05-01,-1", "rows.csv:3: the amount `-1` in the column `eur` is below 0"),
        // Amounts are quoted as the file has them.
        ("a,b,2024-05-01,-40.55", "the amount `-40.55` in the column `eur` is below 0"),
        ("a,b,2024-05-01,-1.50e1", "the amount `-1.50e1` in the column `eur` is below 0"),
        ("a,b,2024-05-01,nan", "`nan` in the column `eur` is no amount"),
        ("a,b,2024-05-01,1e400", "the amount `1e400` in the column `eur` does not fit 64 bits"),
        ("a,b,2024-05-01,much", "rows.csv:3: `much` in the column `eur` is no amount"),
        ("a,b,2024-05-01,\"3,50\"", "is no amount: expected digits, and a point before decimals"),
        ("a,b,2024-05-01", "rows.csv:3: 3 fields, where the first row has 4"),
        (
            "a,b,2154-05-01,1",
            "rows.csv:3: the time 2154-05-01 in the column `at` is more than 180d after the rows around it",
        ),
    ] {
        let text = format!("from,to,at,eur\na,b,2024-05-01,1\n{row}\na,b,2024-05-01,1\n");
        let found = sentence(days_of(&text, MAPPING, OPTIONS).unwrap_err());
        assert!(found.contains(expected), "{found}");
    }
    let text = "from,to,at,eur\na,b,2024-05-01,1\n,b,2024-05-01,-1\na,b,x,1\na,b,2024-05-01,-5\n";
    let (ended, stream) =
        days_of(text, MAPPING, StreamOptions { skip_bad_rows: true, ..OPTIONS }).unwrap();
    assert_eq!(ended[0].run.transactions, 1);
    let counts: Vec<_> = stream.counts().faults.iter().map(|(k, n)| (k.as_str(), *n)).collect();
    assert_eq!(counts, [("bad time", 1), ("empty or null", 1), ("negative amount", 1)]);
    assert_eq!(stream.counts().rows, 4);
    let found = sentence(days_of("from,shop,at\n", MAPPING, OPTIONS).unwrap_err());
    assert!(found.ends_with("rows.csv: there is no column `to`; the columns are from, shop, at: name one of them in the mapping"), "{found}");
}

#[test]
fn kinds_that_are_not_asked_for_are_passed_over() {
    let mapping = format!("kind = {{ column = \"type\", only = [\"buy\"] }}\n{MAPPING}");
    let text = "from,to,at,eur,type\na,b,2024-05-01,1,buy\na,b,2024-05-01,-1,refund\n";
    let (ended, stream) = days_of(text, &mapping, OPTIONS).unwrap();
    assert_eq!((ended[0].run.transactions, stream.counts().other_kinds), (1, 1));
}

#[test]
fn numbers_are_times_of_a_unit_since_an_origin() {
    let mapping = MAPPING.replace(
        "time = \"at\"",
        "time = { column = \"at\", unit = \"1d\", origin = \"2017-01-01\" }",
    );
    let (ended, _) = days_of("from,to,at,eur\na,b,1,1\na,b,3.5,1\n", &mapping, OPTIONS).unwrap();
    let origin = "2017-01-01".parse::<Timestamp>().unwrap().unit(Span::DAY);
    assert_eq!(ended.iter().map(|day| day.unit - origin).collect::<Vec<_>>(), [1, 2, 3]);
    // The unit is not guessed: this is a day, and not a second of 1970.
    let found = days_of("from,to,at,eur\na,b,20240531,1\n", MAPPING, OPTIONS).unwrap_err();
    let found = sentence(found);
    assert!(found.contains("rows.csv:2: `20240531` in the column `at` is no time"), "{found}");
    assert!(found.contains("where the mapping says their `unit`, a number"), "{found}");
}

/// One quote too many swallows no row, whichever fields it opens.
#[test]
fn quotes_that_do_not_fit_are_refused() {
    let good = "from,to,at,eur,memo\na,b,2024-05-01,1,\"two\nlines, \"\"quoted\"\"\"\n\"a\",b,2024-05-01,1,\"\"\n";
    assert_eq!(days_of(good, MAPPING, OPTIONS).unwrap().0[0].run.transactions, 2);
    let rest = "c,d,2024-05-01,1,\n".repeat(3);
    for (row, expected) in [
        // No other quote follows.
        ("a,\"b,2024-05-01,1,", "rows.csv:3: a field in quotes does not end"),
        ("a,b,2024-05-01,1,\"note", "rows.csv:3: a field in quotes does not end"),
        // Another one follows, as that of another name.
        (
            "\"Bob,b,2024-05-01,1,\nc,d,2024-05-01,1,\n\"Ann,b,2024-05-01,1,",
            "rows.csv:3: text follows",
        ),
        ("a,b,2024-05-01,1,\"n\nc,d,2024-05-01,1,\"m", "rows.csv:3: text follows"),
        (
            "a,b,2024-05-01,1,\"two\nlines\"x",
            "rows.csv:3: text follows the closing quote of a field",
        ),
        ("\"a\"1,b,2024-05-01,1,", "rows.csv:3: text follows the closing quote"),
        // A field that is read has no line break, wherever the closing quote is.
        (
            "\"a\nc,d,2024-05-01,1\",b,2024-05-01,1,",
            "rows.csv:3: the field that begins with `a` goes on over a line break",
        ),
        ("a,b,2024-05-01,1,\"x\ny\",\"z", "rows.csv:4: a field in quotes does not end"),
    ] {
        let text = format!("from,to,at,eur,memo\na,b,2024-05-01,1,\n{row}\n{rest}");
        for text in [text.replace('\n', "\r\n"), text] {
            let found = sentence(days_of(&text, MAPPING, OPTIONS).unwrap_err());
            assert!(found.contains(expected), "{row}: {found}");
        }
    }
    let found =
        sentence(days_of("from,\"to,at,eur\na,b,2024-05-01,1\n", MAPPING, OPTIONS).unwrap_err());
    assert!(found.contains("rows.csv:1: a field in quotes does not end"), "{found}");
}

#[test]
fn lines_are_counted_with_blank_ones_and_by_any_line_break() {
    for line_break in ["\n", "\r\n"] {
        let text =
            "from,to,at,eur\n\na,b,2024-05-01,1\n\n\na,b,2024-05-01,x\n".replace('\n', line_break);
        let found = sentence(days_of(&text, MAPPING, OPTIONS).unwrap_err());
        assert!(found.starts_with("rows.csv:6: `x`"), "{found}");
        let text = "from,to,at,eur\na,b,2024-05-01,1\na,b,2024-05-01\n".replace('\n', line_break);
        let found = sentence(days_of(&text, MAPPING, OPTIONS).unwrap_err());
        assert!(found.contains("rows.csv:3: 3 fields"), "{found}");
    }
}

/// Milliseconds that are taken for seconds are no times, rather than times of the year 55,000.
#[test]
fn numbers_of_another_unit_are_bad_rows() {
    let seconds = MAPPING.replace("time = \"at\"", "time = { column = \"at\", unit = \"1s\" }");
    let text = "from,to,at,eur\na,b,1717243200,1\na,b,1717243200000,1\na,b,-99999999999,1\n";
    let found = sentence(days_of(text, &seconds, OPTIONS).unwrap_err());
    for part in ["rows.csv:3: the time 1717243200000 (of 1s) in the column `at`", "\"1ms\""] {
        assert!(found.contains(part), "{found}");
    }
    let skip = StreamOptions { skip_bad_rows: true, ..OPTIONS };
    let (ended, stream) = days_of(text, &seconds, skip).unwrap();
    assert_eq!((ended.len(), stream.counts().faults["bad time"]), (1, 2));
}

#[test]
fn mappings_that_are_wrong_say_where() {
    let ends = "[source]\ncolumn = \"from\"\nkind = \"user\"\n\
                [target]\ncolumn = \"to\"\nkind = \"shop\"\n";
    for (top, ends, expected) in [
        ("time = { colum = \"at\" }", ends, "unknown field `colum`, expected one of `column`"),
        ("time = { unit = \"1d\" }", ends, "missing field `column`"),
        ("time = 5", ends, "expected a column's name, or a table with it"),
        ("time = { column = \"at\", unit = \"a day\" }", ends, "time.unit: `a day` is no span"),
        ("time = \"at\"\namout = \"eur\"", ends, "line 2"),
        (
            "time = \"at\"",
            &ends.replace("to", "from").replace("shop", "user"),
            "source and target are both",
        ),
        (
            "time = \"at\"",
            "[source]\ncolumn = \"from\"\nkind = \"user\"\n",
            "missing field `target`",
        ),
    ] {
        let found = Mapping::parse(&format!("{top}\n{ends}")).unwrap_err();
        assert!(found.contains(expected), "{found}");
    }
}

/// 2⁵⁰ cents are 11,258,999,068,426.24.
#[test]
fn the_row_that_makes_a_sum_too_large_is_a_bad_row() {
    let rows = "from,to,at,eur\na,b,2024-05-01,9000000000000\na,c,2024-05-01,9000000000000\n\
        a,b,2024-05-01,2258999068426.24\na,b,2024-05-01,0.01\na,b,2024-05-02,9000000000000\n\
        c,d,2024-05-02,9000000000000\nnew,d,2024-05-02,9000000000000\n";
    let said = sentence(days_of(rows, MAPPING, OPTIONS).unwrap_err());
    assert_eq!(
        said,
        "rows.csv:5: with the amount `0.01` in the column `eur`, those between user a and shop b in the 1d from 2024-05-01 \
         on sum up to more than 11258999068426.24, the most for a pair: keep fewer decimals in the mapping (amount = { \
         column = \"eur\", decimals = 0 }) (such rows can be left out and counted)"
    );
    let skipping = StreamOptions { skip_bad_rows: true, ..OPTIONS };
    let (ended, stream) = days_of(rows, MAPPING, skipping).unwrap();
    let counts = stream.counts();
    assert_eq!((counts.rows, counts.taken), (7, 6));
    assert_eq!(counts.faults["sum of amounts too large"], 1);
    assert!(counts.left_out[0].starts_with("rows.csv:5: with the amount `0.01`"), "{counts:?}");
    let most = 1 << 50;
    assert_eq!(ended[0].run.amounts, [most, 900_000_000_000_000, most, 900_000_000_000_000]);
    assert_eq!(ended[1].run.transactions, 3, "each day has sums of its own");
}

/// As in tables of edges: see docs/tables.md.
#[test]
fn blanks_around_a_field_are_no_part_of_it_unless_it_is_quoted() {
    let text = "from, to ,at,eur\n ann, \"s 1\",2024-05-01, 1\n\nann,s 1 ,2024-05-01,1\n\
        \" ann\",\"s 1\",2024-05-01,1\n\"say \"\"hi\"\"; \",\"s 1\", 2024-05-01 ,1\n";
    for text in
        [text.to_owned(), text.replace("; ", "! ").replace(',', ";"), text.replace(',', "\t")]
    {
        let (ended, stream) = days_of(&text, MAPPING, OPTIONS).unwrap();
        assert_eq!(ended[0].run.transactions, 4, "{text}");
        let entities = stream.entities();
        let ids: Vec<&str> = (0..entities.len()).map(|v| entities.id_of(v)).collect();
        assert_eq!(ids[..3], ["ann", "s 1", " ann"], "{text}");
        assert!(
            ids.len() == 4 && ids[3].starts_with("say \"hi\"") && ids[3].ends_with(' '),
            "{text}"
        );
        assert_eq!(stream.counts().trimmed, 3, "{text}");
        assert!(stream.counts().notes()[0].starts_with("3 ids had blanks around them"), "{text}");
    }
    let refused = days_of("from,to,at,eur\n  ,b,2024-05-01,1\n", MAPPING, OPTIONS).unwrap_err();
    assert!(sentence(refused).starts_with("rows.csv:2: the column `from` is empty"));
}

/// More rows than are kept at a time.
#[test]
fn quotes_are_found_in_a_long_text() {
    let row = |at: usize| match at % 3 {
        0 => format!(" u{},s,2024-05-01,1,\n", at % 10),
        1 => format!("\" u{}\",\"s\",2024-05-01,1,\"\"\n", at % 10),
        _ => format!("\"say \"\"{}\"\"\", s ,2024-05-01,1,\"two\nlines\"\r\n", at % 10),
    };
    let text: String = (0..60_000).map(row).collect();
    let (_, stream) = days_of(&format!("from,to,at,eur,memo\n{text}"), MAPPING, OPTIONS).unwrap();
    assert_eq!(stream.entities().len(), 31);
    assert_eq!(stream.counts().trimmed, 40_000);
}
