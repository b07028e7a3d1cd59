//! Inputs that mean harm, or look as if: each is answered with a sentence, or done as it says.

use crate::sandbox::Sandbox;

/// One cent beside a thousand million and a half: 37 bits, where 32 are stored.
const COARSE: &str = "source,target,weight\na,b,0.01\nb,c,1000000000.5\n";
/// The same in one graph of a table of two.
const COARSE_GRAPHS: &str =
    "graph,source,target,weight\nfine,a,b,0.5\nrough,a,b,0.01\nrough,b,c,1000000000.5\n";

#[test]
fn weights_that_would_change_by_more_than_a_hundredth_are_refused() {
    let sandbox = Sandbox::with([("w.csv", COARSE), ("many.csv", COARSE_GRAPHS)]);
    let told = ["1 of 2 weights", "0.01 to 0.25", "--coarse-weights"];
    for command in [
        "convert w.csv out.csv",
        "communities w.csv -o out.csv",
        "pagerank w.csv -o out.csv",
        "closeness w.csv -o out.csv",
        "quality w.csv w.csv",
        "info w.csv",
    ] {
        sandbox.fails(&format!("{command} --weighted"), 2, &told);
    }
    let graphs = ["graph rough", "0.01 to 0.25", "--coarse-weights"];
    sandbox.fails("convert many.csv out.swarm --batch --weighted", 2, &graphs);
    sandbox.fails("apsp many.csv --batch --weighted -o out.csv", 2, &graphs);
}

#[test]
fn coarse_weights_are_taken_if_asked_and_counted() {
    let sandbox = Sandbox::with([("w.csv", COARSE), ("many.csv", COARSE_GRAPHS)]);
    for command in ["convert w.csv out.csv", "communities w.csv -o out.csv --quiet"] {
        let said = sandbox.run(&format!("{command} --weighted --coarse-weights"));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.error.contains("note: 1 of 2 weights changed"), "{said:?}");
        assert!(said.error.contains("2.40e3 % (0.01 to 0.25)"), "{said:?}");
    }
    let said = sandbox.run("convert many.csv out.swarm --batch --weighted --coarse-weights");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("note: 1 of 3 weights changed"), "{said:?}");
    sandbox.fails("convert w.csv o.rg --coarse-weights", 2, &["--weighted"]);
    sandbox.ok("convert w.csv o.rg --weighted --coarse-weights");
    let late = "convert o.rg o2.csv --weighted --coarse-weights";
    sandbox.fails(late, 2, &["--coarse-weights comes too late"]);
}

#[test]
fn small_losses_are_noted_and_cents_are_exact() {
    let small = "source,target,weight\na,b,0.0123456789\nb,c,1000.5\n";
    let cents = "source,target,weight\na,b,0.01\nb,c,42949672.95\nc,d,19.99\n";
    let sandbox = Sandbox::with([("small.csv", small), ("cents.csv", cents)]);
    let said = sandbox.run("convert small.csv out.csv --weighted");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("1 of 2 weights changed"), "{said:?}");
    for stored in ["cents.rg", "cents.rgz", "out.csv"] {
        let said = sandbox.run(&format!("convert cents.csv {stored} --weighted"));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(!said.error.contains("changed"), "{said:?}");
        sandbox.ok(&format!("convert {stored} back.csv --weighted"));
        let back = sandbox.read("back.csv");
        for line in ["a,b,0.01\n", "b,c,42949672.95\n", "c,d,19.99\n"] {
            assert!(back.contains(line), "{stored}: {back}");
        }
    }
    // Sums of repeated edges, too.
    sandbox.write("sums.csv", "source,target,weight\na,b,0.1\na,b,0.2\nb,c,9000000.01\n");
    let sums = sandbox.ok("convert sums.csv - --weighted --to csv");
    assert!(sums.contains("a,b,0.3\n"), "{sums}");
}

/// What makes a terminal clear its screen, ring, and write from right to left.
const OBEYED: &str = "\u{1b}[2J\u{7}\u{202e}";

#[test]
fn what_a_terminal_obeys_is_escaped_in_every_message() {
    let sandbox = Sandbox::with([
        ("names.csv", &*format!("source,target\n\"a{OBEYED}\",b\n")),
        ("truth.txt", &*format!("x{OBEYED} 1\n")),
        ("matrix.mtx", &*format!("%%MatrixMarket {OBEYED}\n")),
        ("own.rs", &*format!("fn {OBEYED}\n")),
        ("mapping.toml", &*format!("a = \"{OBEYED}\" [\n")),
        ("columns.csv", &*format!("a{OBEYED},b\n1,2\n")),
        (&*format!("file{OBEYED}.csv"), "source,target,source\n1\n"),
    ]);
    let mapping = "[columns]\npayer = \"none\"\npayee = \"b\"\ntime = \"c\"\n";
    sandbox.write("plain.toml", mapping);
    for arguments in [
        "quality names.csv truth.txt",
        "info matrix.mtx",
        "info names.csv",
        "communities names.csv -o out.txt --program-file own.rs",
        "fraud run columns.csv --mapping mapping.toml --known-bad truth.txt -o out",
        "fraud run columns.csv --mapping plain.toml --known-bad truth.txt -o out",
        "communities columns.csv -o out.txt --columns x,y",
    ] {
        let said = sandbox.run(arguments);
        check(arguments, &said.error);
        check(arguments, &said.out);
    }
    let said = sandbox.command("info").arg(format!("file{OBEYED}.csv")).output().unwrap();
    check("a file's name", &String::from_utf8(said.stderr).unwrap());
}

/// A message has lines, and nothing else that a terminal obeys, and is no longer than a screen.
#[track_caller]
fn check(what: &str, message: &str) {
    let obeyed = |c: char| (c.is_control() && !"\n\t".contains(c)) || c == '\u{202e}';
    assert!(!message.contains(obeyed), "{what}: {message:?}");
    assert!(message.len() < 4000, "{what}: {message}");
}

#[test]
fn messages_are_short_whatever_the_input_holds() {
    let long = "x".repeat(1 << 20);
    let sandbox = Sandbox::with([
        ("line.txt", &*long),
        ("field.csv", &*format!("source,target\n1,2\n{long}\n")),
        ("truth.txt", &*format!("{long} 1\n")),
        ("a.txt", "1 2\n"),
        ("own.rs", &*format!("struct {long};")),
        ("mapping.toml", &*format!("[columns]\n{long} = 1\n")),
        ("matrix.mtx", &*format!("%%MatrixMarket {long}\n")),
    ]);
    let columns: Vec<String> = (0..9999).map(|column| format!("column_{column}")).collect();
    sandbox.write("wide.csv", format!("{}\n", columns.join(",")));
    let mapping = "[columns]\nfrom = \"none\"\nto = \"b\"\ntime = \"c\"\n";
    sandbox.write("plain.toml", mapping);
    for arguments in [
        "info line.txt",
        "info field.csv",
        "quality a.txt truth.txt",
        "communities a.txt -o out.txt --program-file own.rs",
        "communities wide.csv -o out.txt --columns x,y",
        "info matrix.mtx",
        "fraud run a.csv --mapping mapping.toml --known-bad truth.txt -o out",
        "fraud run wide.csv --mapping plain.toml --known-bad truth.txt -o out",
    ] {
        let said = sandbox.run(arguments);
        assert_eq!(said.code, Some(2), "{arguments}: {}", &said.error[..said.error.len().min(999)]);
        check(arguments, &said.error);
    }
}
