//! Messages about the tables that a command reads, and refusals of ambiguous tables.

use crate::sandbox::{Said, Sandbox};
use std::fs::File;

/// The first line on standard error.
fn said(sandbox: &Sandbox, command: &str) -> String {
    let said = sandbox.run(command);
    assert_eq!(said.code, Some(0), "{command}: {said:?}");
    said.error.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn what_was_read_is_said_once_and_kept() {
    let table = "step,type,amount,nameOrig,nameDest\n1,PAY,9.5,C1,M1\n1,PAY,1,C1,C2\n";
    let sandbox = Sandbox::with([("paysim.csv", table), ("plain.txt", "1 2\n2 3\n")]);
    let sentence = "read 2 edges: source = \"nameOrig\", target = \"nameDest\"; \"amount\" (--weighted reads it) and 2 other columns ignored";
    assert_eq!(said(&sandbox, "communities paysim.csv -o c.csv --stats s.json"), sentence);
    assert_eq!(sandbox.json("s.json")["input"], sentence);
    let ids: Vec<String> =
        sandbox.read("c.csv").lines().map(|line| line.split(',').next().unwrap().into()).collect();
    assert_eq!(ids, ["id", "C1", "C2", "M1"]);
    assert!(sandbox.ok("info paysim.csv").contains(sentence));
    let plain = "read 2 edges: source = column 1, target = column 2; no header";
    assert_eq!(said(&sandbox, "lcc plain.txt -o l.txt"), plain);
    assert_eq!(
        said(&sandbox, "communities plain.txt -o c.txt --header"),
        "read 1 edge: source = \"1\", target = \"2\""
    );
    let quiet = sandbox.run("communities paysim.csv -o c.csv --quiet");
    assert_eq!((quiet.code, &*quiet.error), (Some(0), ""));
}

#[test]
fn a_table_that_may_mean_two_things_is_refused_with_the_option_to_use() {
    let sandbox = Sandbox::with([
        ("either.csv", "abc,xyz\nann,bob\ncyd,dan\n"),
        ("vertices.csv", "id,name,age\n1,ann,30\n2,bob,31\n"),
        ("wide.csv", "2024-01-01,ann,bob,3\n2024-01-02,bob,cyd,4\n"),
    ]);
    let run = |file: &str, flags: &str| format!("communities {file} -o - --quiet {flags}");
    sandbox.fails(
        &run("either.csv", ""),
        2,
        &["`abc,xyz` and `ann,bob`", "--header", "--no-header"],
    );
    assert_eq!(sandbox.ok(&run("either.csv", "--header")).lines().count(), 4);
    assert_eq!(sandbox.ok(&run("either.csv", "--no-header")).lines().count(), 6);
    let of_vertices =
        ["`id,name,age`", "a table of vertices", "give the table of edges", "--columns"];
    let said = sandbox.fails(&run("vertices.csv", ""), 2, &of_vertices);
    assert!(!said.error.contains("--columns id,name"), "{said:?}");
    sandbox.fails(&run("wide.csv", ""), 2, &["--columns 2,3"]);
    assert_eq!(sandbox.ok(&run("wide.csv", "--columns 2,3")).lines().count(), 3);
    sandbox.fails(&run("wide.csv", "--no-header"), 2, &["--columns 2,3 --no-header"]);
    assert_eq!(sandbox.ok(&run("wide.csv", "--columns 2,3 --no-header")).lines().count(), 3);
    sandbox.fails(&run("wide.csv", "--columns 2,2"), 2, &["both ends"]);
    sandbox.fails(&run("wide.csv", "--header --no-header"), 2, &["cannot be used with"]);
}

#[test]
fn columns_of_the_names_source_and_target_need_a_header() {
    let sandbox = Sandbox::with([
        ("words.csv", "source,target\ntarget,x\n"),
        ("other.csv", "from,to\na,b\n"),
        ("none.csv", "1,2\n2,3\n"),
    ]);
    sandbox.fails("info words.csv", 2, &["words.csv:1", "use --header or --no-header"]);
    let said = sandbox.ok("info words.csv --columns source,target");
    assert!(said.contains("source = \"source\", target = \"target\""), "{said}");
    sandbox.fails("info other.csv --columns source,target", 2, &["no column `source`", "from, to"]);
    sandbox.fails("info none.csv --columns source,target", 2, &["expected a header row"]);
}

#[test]
fn what_a_file_lacks_or_has_in_vain_is_noted() {
    let sandbox = Sandbox::with([
        ("many.csv", "graph,source,target\n1,1,2\n2,1,2\n2,2,3\n"),
        ("ids.csv", "graph_id,source,target\n1,1,2\n2,1,2\n"),
        ("bare.mtx", "3 3 2\n1 2\n2 3\n"),
        ("whole.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"),
    ]);
    let notes = |command: &str| -> Vec<String> {
        let said = sandbox.run(command);
        assert_eq!(said.code, Some(0), "{command}: {said:?}");
        let notes = said.error.lines().filter(|line| line.starts_with("note: "));
        notes.filter(|line| !line.contains("on the CPU")).map(String::from).collect()
    };
    let found = notes("communities many.csv -o a.txt");
    assert!(
        matches!(&*found, [note] if note.contains("\"graph\"") && note.contains("--batch")),
        "{found:?}"
    );
    assert!(notes("communities many.csv -o a.csv --batch").is_empty());
    let found = notes("communities ids.csv -o a.txt");
    assert!(matches!(&*found, [note] if note.contains("\"graph_id\"")), "{found:?}");
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    for name in ["a.mtx", "b.mtx", "c.mtx"] {
        sandbox.write(&format!("folder/{name}"), sandbox.read("bare.mtx"));
    }
    sandbox.write("folder/d.net", "*Vertices 2\n*Arcs\n1 2\n");
    for command in ["communities folder -o a.csv", "info folder", "convert folder a.swarm"] {
        let found = notes(command);
        assert!(
            matches!(&*found, [bare, arcs] if bare.contains("a.mtx and 2 more files: the file has no MatrixMarket banner")
                && arcs.contains("d.net: the file says that its edges have a direction")),
            "{found:?}"
        );
    }
    assert_eq!(notes("info folder --directed").len(), 1);
    let found = notes("communities bare.mtx -o a.txt");
    assert!(
        matches!(&*found, [note] if note.contains("banner") && note.contains("general")),
        "{found:?}"
    );
    assert!(notes("communities whole.mtx -o a.txt").is_empty());
}

/// `df.to_csv("edges.csv")` writes the index, too, without a name.
#[test]
fn tables_with_the_index_of_pandas() {
    let sandbox = Sandbox::with([
        ("a.csv", ",source,target\n0,ann,bob\n1,bob,cyd\n"),
        ("b.csv", ",amount,sender,receiver\n0,1.5,ann,bob\n1,2,bob,cyd\n"),
        ("c.csv", ",buyer,shop\n0,ann,bob\n1,bob,cyd\n"),
        ("d.csv", ",a\n0,b\n"),
        ("e.csv", ",source,target\nann,bob,1\n"),
    ]);
    let read = |file: &str| said(&sandbox, &format!("communities {file} -o c.tsv"));
    assert_eq!(
        read("a.csv"),
        "read 2 edges: source = \"source\", target = \"target\"; 1 other column ignored"
    );
    assert_eq!(
        read("b.csv"),
        "read 2 edges: source = \"sender\", target = \"receiver\"; \"amount\" (--weighted reads it) and 1 other column ignored"
    );
    sandbox.fails("communities c.csv -o c.tsv", 2, &["--columns"]);
    let unnamed = "the first column has no name";
    sandbox.fails("communities d.csv -o c.tsv", 2, &[unnamed, "--columns 1,2"]);
    sandbox.fails("communities c.csv -o c.tsv --header", 2, &[unnamed, "--columns buyer,shop"]);
    sandbox.fails("communities e.csv -o c.tsv", 2, &["vertex id is empty"]);
}

#[test]
fn a_wrong_weight_is_told_with_its_column() {
    let sandbox = Sandbox::with([
        ("date.csv", "from,to,when\na,b,2024-01-01\n"),
        ("none.csv", "from,to,weight\na,b,\n"),
        ("comma.csv", "from;to;weight\na;b;3,500\n"),
        ("pairs.csv", "from,to,buyer,seller\n1,2,3,4\n2,3,4,5\n"),
    ]);
    for (file, parts) in [
        ("date.csv", &["`2024-01-01` is not a weight", "in column 3"][..]),
        ("none.csv", &["the weight is empty", "in column 3"]),
        ("comma.csv", &["in column 3", "with a decimal point"]),
        ("pairs.csv", &["more than one pair", "--columns from,to"]),
    ] {
        sandbox.fails(&format!("communities {file} -o c.tsv --weighted"), 2, parts);
    }
}

/// NetworkX writes adjacency lists so, and METIS its graphs.
#[test]
fn lists_of_neighbours_are_no_edges() {
    let sandbox = Sandbox::with([
        ("lists.txt", "0 1 2 3\n1 2\n2 3 4 5 6\n"),
        ("lists.csv", "0,1,2,3\n1,2\n2,3,4\n"),
        ("some.txt", "1 2\n2 3 5\n3 4\n"),
        ("times.txt", "1 2 5 1083\n2 3 1 1084\n"),
    ]);
    for file in ["lists.txt", "lists.csv"] {
        for option in ["", "--no-header"] {
            let command = format!("communities {file} -o c.tsv {option}");
            sandbox.fails(&command, 2, &["lists of neighbours", "--columns 1,2"]);
        }
        sandbox.ok(&format!("communities {file} -o c.tsv --columns 1,2"));
    }
    for file in ["some.txt", "times.txt"] {
        sandbox.ok(&format!("communities {file} -o c.tsv"));
    }
}

#[test]
fn what_was_found_beside_the_edges_is_said() {
    let sandbox = Sandbox::with([
        ("names.csv", "from,to\n1,ann,bob\n2,bob,cyd\n"),
        ("arrows.txt", "1 -> 2\n2 -> 3\n"),
        ("comments.csv", "source,target\nann,bob\n#cyd,dan\n\n%x,y\nbob,cyd\n"),
        ("above.csv", "# made by hand\n#source,target\nann,bob\nbob,cyd\n"),
        ("twice.csv", "who,acct,to,acct\n1,ann,2,bob\n1,bob,2,cyd\n"),
        ("snap.txt", "# Directed\n# FromNodeId\tToNodeId\tWeight\n1\t2\t3\n2\t3\t4\n"),
    ]);
    for (command, sentence) in [
        (
            "names.csv",
            "read 2 edges: source = \"from\", target = \"to\"; 1 other column ignored; the first column has the names of rows",
        ),
        (
            "arrows.txt",
            "read 2 edges: source = column 1, target = column 3; no header; column 2 is the mark `->`",
        ),
        (
            "comments.csv",
            "read 2 edges: source = \"source\", target = \"target\"; 2 rows that begin with # or % left out",
        ),
        ("above.csv", "read 2 edges: source = \"source\", target = \"target\""),
        (
            "snap.txt",
            "read 2 edges: source = \"FromNodeId\", target = \"ToNodeId\"; \"Weight\" ignored (--weighted reads it)",
        ),
        (
            "twice.csv --columns 2,4",
            "read 2 edges: source = column 2, target = column 4; 2 other columns ignored",
        ),
    ] {
        assert_eq!(said(&sandbox, &format!("communities {command} -o c.tsv")), sentence);
    }
}

#[test]
fn words_for_missing_values_are_noted() {
    let sandbox = Sandbox::with([
        ("edges.csv", "source,target\nann,bob\nbob,cyd\ncyd,NA\n"),
        ("labels.csv", "community,node\n1,ann\n1,bob\nNA,cyd\n"),
    ]);
    let notes = sandbox.run("quality edges.csv labels.csv").error;
    for part in [
        "note: `NA` is a vertex",
        "id = \"node\", community = \"community\"; 1 row with a community such as NA or null",
    ] {
        assert!(notes.contains(part), "{notes} has no {part}");
    }
}

#[test]
fn a_delimiter_says_what_stands_between_fields() {
    let sandbox = Sandbox::with([
        ("two.txt", "Ann Lee,Bob Ray\nBob Ray,Cyd Dee\n"),
        ("edges.jsonl", "{\"source\": 1, \"target\": 2}\n"),
    ]);
    let run = |file: &str, flags: &str| format!("communities {file} -o - --quiet {flags}");
    sandbox.fails(&run("two.txt", ""), 2, &["--delimiter ,", "--delimiter blanks"]);
    let found = sandbox.ok(&run("two.txt", "--delimiter , --no-header"));
    assert!(found.contains("Ann Lee"), "{found}");
    let found = sandbox.ok(&run("two.txt", "--delimiter blanks --no-header --columns 1,2"));
    assert!(found.contains("Lee,Bob"), "{found}");
    sandbox.fails(&run("two.txt", "--delimiter ab"), 2, &["`tab`", "`blanks`"]);
    sandbox.fails(&run("edges.jsonl", "--delimiter tab"), 2, &["--delimiter", "jsonl"]);
}

#[test]
fn tables_from_standard_input_may_be_parquet() {
    let sandbox = Sandbox::with([("edges.csv", "source,target\nann,bob\nbob,cyd\n")]);
    sandbox.ok("communities edges.csv -o vertices.parquet");
    let run = |arguments: &str| {
        let file = File::open(sandbox.path("vertices.parquet")).unwrap();
        Said::of(sandbox.command(arguments).stdin(file).output().unwrap())
    };
    let refused = run("communities - -o c.tsv");
    refused.must_fail("text", 2, &["Parquet", "--from parquet"]);
    let said = run("communities - --from parquet --columns id,community -o c.tsv");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.starts_with("read 3 edges: source = \"id\""), "{said:?}");
}

#[test]
fn a_file_that_is_not_there_is_told_before_its_format() {
    let sandbox = Sandbox::with([("here.xlsx", "x")]);
    sandbox.fails("communities gone.xlsx -o c.tsv", 2, &["gone.xlsx", "No such file"]);
    sandbox.fails("communities here.xlsx -o c.tsv", 2, &["a spreadsheet is not read"]);
}

#[test]
fn names_of_formats_are_known_in_any_case() {
    let sandbox =
        Sandbox::with([("a.dat", "1,2\n2,3\n"), ("b.dat", "{\"source\": 1, \"target\": 2}\n")]);
    for command in
        ["a.dat --from CSV", "a.dat --from txt", "a.dat --from El", "b.dat --from ndjson"]
    {
        sandbox.ok(&format!("communities {command} -o c.tsv"));
    }
}

#[test]
fn files_that_match_a_pattern_are_one_graph() {
    let rows = ["1,2", "2,3", "3,1", "4,5", "5,6", "6,4", "3,4"];
    let text = |rows: &[&str]| format!("source,target\n{}\n", rows.join("\n"));
    let sandbox = Sandbox::with([
        ("one.csv", &*text(&rows)),
        ("days/a.csv", &*text(&rows[4..])),
        ("days/b.csv", &*text(&rows[..4])),
    ]);
    for command in ["communities", "pagerank", "lcc", "closeness"] {
        sandbox.ok(&format!("{command} one.csv -o one.{command}.csv"));
        sandbox.ok(&format!("{command} days/*.csv -o days.{command}.csv"));
        let [one, days] =
            ["one", "days"].map(|name| sandbox.read(&format!("{name}.{command}.csv")));
        assert_eq!(one, days, "{command}");
    }
    let said = sandbox.run("communities days/*.csv -o out.csv");
    assert!(
        said.error.contains("read 7 edges: ") && said.error.contains("; from 2 files"),
        "{said:?}"
    );

    let said = sandbox.run("communities days/*.tsv -o out2.csv");
    assert_eq!((said.code, sandbox.names().contains(&"out2.csv".to_owned())), (Some(2), false));
    assert!(said.error.contains("days/*.tsv: no file has such a name"), "{said:?}");

    // An output that replaces a part, or that would be one.
    for output in ["days/a.csv", "days/new.csv", "./days/new.csv"] {
        let before = sandbox.read("days/a.csv");
        for command in ["communities", "convert"] {
            let option = if command == "convert" { "" } else { "-o " };
            let said = sandbox.run(&format!("{command} days/*.csv {option}{output}"));
            assert_eq!(said.code, Some(2), "{said:?}");
            assert!(said.error.contains("is named twice"), "{said:?}");
        }
        assert_eq!(sandbox.read("days/a.csv"), before);
        assert!(!sandbox.path("days/new.csv").exists());
    }

    // What a shell makes of it without quotes.
    let said = sandbox.run("communities days/a.csv days/b.csv -o out2.csv");
    assert_eq!(said.code, Some(2));
    assert!(said.error.contains("by a pattern in quotes: 'days/*.csv'"), "{said:?}");
}

/// The notes on standard error of a command that succeeds.
fn notes(sandbox: &Sandbox, command: &str) -> Vec<String> {
    let said = sandbox.run(command);
    assert_eq!(said.code, Some(0), "{command}: {said:?}");
    let notes = said.error.lines().filter(|line| line.starts_with("note: "));
    notes.map(String::from).collect()
}

/// The user 1 and the movie 1 were merged without a word.
#[test]
fn ids_of_two_kinds_in_both_columns_are_noted() {
    let rows = "1,1,4\n2,7,3\n3,8,5\n";
    let header = |names: &str| format!("{names},stars\n{rows}");
    let sandbox = Sandbox::with([
        ("ratings.csv", &*header("userId,movieId")),
        ("items.csv", &header("item_id,user_id")),
        ("people.csv", &header("follower,followee")),
        ("apart.csv", "userId,movieId\n1,11\n2,17\n"),
        ("named.csv", "user,item\nann,m1\nbob,m2\n"),
        ("days/1.csv", "card,merchant\n1,11\n2,17\n"),
        ("days/2.csv", "card,merchant\n11,3\n5,2\n"),
    ]);
    let note = |source: &str, target: &str| {
        format!(
            "note: some ids are in \"{source}\" and in \"{target}\", and each of them is one vertex, a row that has it \
             twice a self-loop: if the columns are of two kinds, write a prefix before the ids of one, such as m1 for 1"
        )
    };
    let found = |file: &str| notes(&sandbox, &format!("communities {file} -o c.csv"));
    assert_eq!(found("ratings.csv"), [note("userId", "movieId")]);
    assert_eq!(found("items.csv"), [note("user_id", "item_id")]);
    assert_eq!(found("days/*.csv"), [note("card", "merchant")], "each file alone has no such id");
    for file in ["people.csv", "apart.csv", "named.csv"] {
        assert!(found(file).is_empty(), "{file}");
    }
}

/// Times were taken as weights without a word.
#[test]
fn weights_that_look_like_times_are_noted() {
    let sandbox = Sandbox::with([
        ("seconds.txt", "1 2 1082040961\n2 3 1082155839\n"),
        ("milliseconds.txt", "1 2 1082040961000\n2 3 1082155839123\n"),
        ("named.csv", "from,to,timestamp\n1,2,1082040961\n2,3,1082155839\n"),
        ("amounts.csv", "from,to,amount\n1,2,1082040961\n2,3,1082155839\n"),
        ("small.txt", "1 2 1082040961\n2 3 12\n"),
        ("fractions.txt", "1 2 1082040961.5\n2 3 1082155839\n"),
    ]);
    let note = |column: &str, unit: &str| {
        format!(
            "note: the weights, {column}, look like times, in {unit} since 1970: leave --weighted out, or choose another \
             column with --columns SOURCE,TARGET,WEIGHT"
        )
    };
    let found = |input: &str| notes(&sandbox, &format!("convert {input} out.rg --weighted"));
    assert_eq!(found("seconds.txt"), [note("column 3", "seconds")]);
    assert_eq!(found("milliseconds.txt"), [note("column 3", "milliseconds")]);
    assert_eq!(found("named.csv --columns from,to,timestamp"), [note("\"timestamp\"", "seconds")]);
    for file in ["amounts.csv", "small.txt", "fractions.txt"] {
        assert!(found(file).is_empty(), "{file}");
    }
}

/// Files for competitions and older programs begin with the numbers of vertices and edges.
#[test]
fn a_first_row_that_counts_the_rows_is_noted() {
    let rows: String =
        (1..=40).map(|row| format!("{} {}\n", row % 30 + 1, row * 7 % 30 + 1)).collect();
    let sandbox = Sandbox::with([
        ("counted.txt", &*format!("30 40\n{rows}")),
        ("edges.txt", &format!("30 4\n{rows}")),
        ("more.txt", &format!("30 40\n{rows}31 1\n")),
    ]);
    let found = notes(&sandbox, "communities counted.txt -o c.csv");
    let expected = "note: the first row, 30 and 40, is read as an edge, but 40 rows follow it";
    assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    for other in ["edges.txt", "more.txt"] {
        assert!(notes(&sandbox, &format!("communities {other} -o c.csv")).is_empty(), "{other}");
    }
}

/// `cat *.csv` makes a vertex of each name in the header.
#[test]
fn a_header_that_rows_repeat_is_noted() {
    let rows: String = (0..5000).map(|row| format!("u{row},u{}\n", row * 7 % 5000)).collect();
    let sandbox = Sandbox::with([
        ("joined.csv", &*format!("from,to\n{rows}from,to\na,b\n")),
        ("whole.csv", &format!("from,to\n{rows}from,a\nto,b\n")),
    ]);
    let found = notes(&sandbox, "communities joined.csv -o c.csv");
    assert!(
        found.len() == 1
            && found[0]
                .starts_with("note: 1 row repeats the names of the columns, \"from\" and \"to\""),
        "{found:?}"
    );
    assert!(notes(&sandbox, "communities whole.csv -o c.csv").is_empty());
}

#[test]
fn sums_of_amounts_are_those_of_decimals() {
    let rows = "from,to,eur\na,b,10.10\na,b,20.20\nb,c,19.99\nc,a,0.01\n";
    let sandbox = Sandbox::with([("t.csv", rows)]);
    sandbox.ok("convert t.csv once.csv --weighted");
    let once = sandbox.read("once.csv");
    let sums = ["a,b,30.3", "b,c,19.99", "0.01"];
    assert!(sums.iter().all(|sum| once.lines().any(|row| row.contains(sum))), "{once}");
    assert!(once.lines().all(|row| row.len() < "source,target,weight".len() + 1), "{once}");
    // What is written is read as it was.
    sandbox.ok("convert once.csv twice.csv --weighted");
    assert_eq!(sandbox.read("twice.csv"), once);
}
