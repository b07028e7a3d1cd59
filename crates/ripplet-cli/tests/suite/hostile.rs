//! Hostile inputs, and valid ones that look hostile: each gives an error message or a right result.

use crate::sandbox::{Said, Sandbox};

/// One cent beside a thousand million and a half: 37 bits, where 32 are stored.
const COARSE: &str = "source,target,weight\na,b,0.01\nb,c,1000000000.5\n";
/// The weights of [`COARSE`] in one graph of a table of two.
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
        assert!(said.error.contains("2400 % (0.01 to 0.25)"), "{said:?}");
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

/// Characters that make a terminal clear its screen, ring, and write from right to left.
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

#[test]
fn texts_that_people_write_by_hand_have_a_limit() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n"), ("t.csv", "a,b,at\nx,y,2024-01-01\n")]);
    sandbox.write("large.txt", vec![b'a'; (1 << 20) + 1]);
    for endless in ["large.txt", "/dev/zero"] {
        for arguments in [
            "communities a.txt -o out.txt --program-file FILE",
            "fraud run t.csv --mapping FILE --known-bad a.txt -o out",
            "graphalytics FILE",
        ] {
            let arguments = arguments.replace("FILE", endless);
            sandbox.fails(&arguments, 2, &["it has more than 1048576 bytes: expected"]);
        }
    }
    let mapping = "time = \"at\"\n[source]\ncolumn = \"a\"\nkind = \"u\"\n\
                   [target]\ncolumn = \"b\"\nkind = \"u\"\n";
    sandbox.write("m.toml", mapping);
    sandbox.write("known.csv", "id\nx\n");
    let server = "--postgres postgres://u@127.0.0.1:1/d?sslmode=verify-ca&sslrootcert=/dev/zero";
    let run = format!("fraud run {server} --query SELECT --mapping m.toml");
    let said = sandbox.run(&format!("{run} --known-bad known.csv -o out"));
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.error.contains("it has more than 16777216 bytes"), "{said:?}");
}

#[cfg(unix)]
#[test]
fn archives_and_lists_that_never_end_are_refused() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n")]);
    for name in ["z.tar", "z.tar.gz", "z.zip", "z.swarm", "z.rg", "z.parquet"] {
        std::os::unix::fs::symlink("/dev/zero", sandbox.path(name)).unwrap();
        sandbox.fails(&format!("info {name}"), 2, &[name, "a file on a disk"]);
    }
    // A file of zeros is an archive that ends at once, and has a very long padding.
    let sparse = std::fs::File::create(sandbox.path("s.tar")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    sandbox.fails("info s.tar", 2, &["more than 64 MiB follow the end of the archive"]);
    for arguments in ["quality a.txt /dev/zero", "communities a.txt -o out.txt --labels /dev/zero"]
    {
        let said = sandbox.run(arguments);
        assert_eq!(said.code, Some(2), "{arguments}: {said:?}");
    }
}

#[test]
fn memory_has_a_limit_for_every_command_that_reads() {
    let rows: String = (0..200_000).map(|row| format!("{row} {}\n", row * 7 % 200_000)).collect();
    let labels: String = (0..200_000).map(|row| format!("{row} 1\n")).collect();
    let sandbox = Sandbox::with([("a.txt", &*rows), ("labels.txt", &*labels)]);
    for command in [
        "info a.txt",
        "convert a.txt out.csv",
        "quality a.txt labels.txt",
        "draw a.txt labels.txt -o out.svg",
        "communities a.txt -o out.txt",
        "components a.txt -o out.txt",
    ] {
        let told = ["reading a.txt needs more memory than 1.0 MiB", "--host-memory"];
        sandbox.fails(&format!("{command} --host-memory 1MiB"), 2, &told);
        // Without the option, the environment decides.
        let limited = |limit: &str| {
            let mut command = sandbox.command(command);
            Said::of(command.env("RIPPLET_HOST_MEMORY", limit).output().unwrap())
        };
        let told = ["than 2.0 MiB, which is what RIPPLET_HOST_MEMORY allows", "--host-memory"];
        limited("2MiB").must_fail(command, 2, &told);
        limited("much").must_fail(command, 2, &["RIPPLET_HOST_MEMORY", "8GiB"]);
    }
    let said = sandbox.run("info a.txt --host-memory 1GiB");
    assert_eq!(said.code, Some(0), "{said:?}");
    // A list of the known bad, too, whichever command of `fraud` reads it.
    let mapping = "time = \"at\"\n[source]\ncolumn = \"a\"\nkind = \"u\"\n\
                   [target]\ncolumn = \"b\"\nkind = \"u\"\n";
    sandbox.write("m.toml", mapping);
    sandbox.write("t.csv", "a,b,at\nx,y,2024-01-01\n");
    let ids: String =
        (0..800_000).map(|id| format!("an-id-that-is-somewhat-long-{id}\n")).collect();
    sandbox.write("known.csv", format!("id\n{ids}"));
    for (command, out) in [("run --known-bad", "out"), ("evaluate --confirmed", "out.csv")] {
        let run = format!("fraud {command} known.csv t.csv --mapping m.toml -o {out}");
        let mut limited = sandbox.command(&run);
        let said = Said::of(limited.env("RIPPLET_HOST_MEMORY", "64MiB").output().unwrap());
        let told = ["needs more memory than 64.0 MiB, which is what RIPPLET_HOST_MEMORY allows"];
        said.must_fail(command, 2, &told);
        let _ = std::fs::remove_dir_all(sandbox.path("out"));
    }
    // The limit also holds for files beside a graph.
    sandbox.ok("convert a.txt a.rg");
    let run = "communities a.rg -o out.txt --labels labels.txt --host-memory 1MiB";
    sandbox.fails(run, 2, &["reading labels.txt needs more memory"]);
    let rows: String =
        (0..200_000).map(|row| format!("{},{row},{}\n", row / 100, row + 1)).collect();
    sandbox.write("many.csv", format!("graph,source,target\n{rows}"));
    for command in ["info many.csv --batch", "convert many.csv out.swarm --batch"] {
        let told = ["the batch many.csv needs more memory than 1.0 MiB"];
        sandbox.fails(&format!("{command} --host-memory 1MiB"), 2, &told);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_refused_and_not_waited_for() {
    use std::time::{Duration, Instant};
    let sandbox = Sandbox::with([]);
    std::fs::create_dir_all(sandbox.path("folder")).unwrap();
    sandbox.write("folder/a.txt", "1 2\n");
    sandbox.write("folder/c.csv", "a,b,at\nx,y,2024-01-01\n");
    let fifo = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(sandbox.path(name)).status().unwrap();
        assert!(made.success());
    };
    fifo("folder/b.txt");
    let start = Instant::now();
    let told = ["folder/b.txt", "a pipe, a socket, a device"];
    sandbox.fails("info folder --from edgelist", 2, &told);
    let said = sandbox.run("info folder --on-error skip");
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.error.contains("skipped b: "), "{said:?}");
    // Beside a METIS graph, where the properties of a BV graph may be; and as the other file of LDBC.
    sandbox.write("g.graph", "2 1\n2\n1\n");
    fifo("g.properties");
    sandbox.ok("info g.graph");
    sandbox.write("h.e", "1 2\n");
    fifo("h.v");
    sandbox.fails("info h.e", 2, &["h.v"]);
    fifo("folder/d.csv");
    let mapping = "time = \"at\"\n[source]\ncolumn = \"a\"\nkind = \"u\"\n\
                   [target]\ncolumn = \"b\"\nkind = \"u\"\n";
    sandbox.write("m.toml", mapping);
    sandbox.write("known.csv", "id\nx\n");
    for inputs in ["folder", "folder/d.csv", "folder/*.csv"] {
        let run = format!("fraud run {inputs} --mapping m.toml --known-bad known.csv -o out");
        sandbox.run(&run).must_fail(&run, 2, &["folder/d.csv", "a pipe, a socket or a device"]);
        let _ = std::fs::remove_dir_all(sandbox.path("out"));
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// A mapping, and a list of the known bad, for transactions from elsewhere.
fn sandbox_of_transactions() -> Sandbox {
    let mapping = "time = \"at\"\n[source]\ncolumn = \"a\"\nkind = \"u\"\n\
                   [target]\ncolumn = \"b\"\nkind = \"u\"\n";
    Sandbox::with([("m.toml", mapping), ("known.csv", "id\nx\n"), ("empty", "\n")])
}

#[test]
fn a_database_server_that_is_silent_has_a_deadline() {
    use std::time::{Duration, Instant};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sandbox = sandbox_of_transactions();
    let flags = "--query SELECT --mapping m.toml --known-bad known.csv -o out";
    let start = Instant::now();
    let run = |more: &str| {
        let server = format!("postgres://u@127.0.0.1:{port}/d?connect_timeout=1");
        let run = format!("fraud run --postgres {server} {flags} {more}");
        let said = sandbox.run(&run);
        let _ = std::fs::remove_dir_all(sandbox.path("out"));
        said
    };
    let told = ["did not answer within 1 s", "connect_timeout=SECONDS"];
    run("").must_fail("a silent server", 1, &told);
    assert!(start.elapsed() < Duration::from_secs(30));
    run("--password-file empty").must_fail("no password", 2, &["the first line of empty is empty"]);
    run("--password-file none").must_fail("no file", 2, &["none: No such file"]);
    drop(listener);
}

#[cfg(unix)]
#[test]
fn a_standard_output_that_is_closed_is_an_error() {
    let sandbox = Sandbox::with([("a.txt", "1 2\n"), ("labels.txt", "1 1\n2 1\n")]);
    let binary = env!("CARGO_BIN_EXE_ripplet");
    for arguments in [
        "communities a.txt -o -",
        "convert a.txt -",
        "pagerank a.txt -o -",
        "apsp a.txt -o -",
        "info a.txt",
        "quality a.txt labels.txt",
        "devices",
    ] {
        let shell = |redirected: &str| {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &format!("exec {binary} {arguments} {redirected}")]);
            Said::of(command.current_dir(sandbox.path("")).output().unwrap())
        };
        let said = shell(">&-");
        said.must_fail(arguments, 1, &["cannot write to standard output: it is closed"]);
        assert_eq!(shell(">/dev/null").code, Some(0), "{arguments}");
    }
}

#[cfg(unix)]
#[test]
fn who_reads_no_further_ends_a_command_quietly() {
    let rows: String = (0..50_000).map(|row| format!("{row} {}\n", row + 1)).collect();
    let sandbox = Sandbox::with([("a.txt", &*rows)]);
    let binary = env!("CARGO_BIN_EXE_ripplet");
    for arguments in ["communities a.txt -o -", "convert a.txt -", "pagerank a.txt -o -"] {
        // The code of the command goes to standard error.
        let line = format!("({binary} --quiet {arguments}; echo code $? >&2) | head -n 1");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line]).current_dir(sandbox.path(""));
        let said = Said::of(command.output().unwrap());
        assert_eq!(said.error, "code 141\n", "{arguments}");
        assert_eq!(said.out.lines().count(), 1, "{said:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_standard_input_that_is_closed_is_an_error() {
    let sandbox = Sandbox::new();
    let binary = env!("CARGO_BIN_EXE_ripplet");
    for arguments in ["info -", "communities - -o out.txt", "convert - out.csv"] {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("exec {binary} {arguments} <&-")]);
        let said = Said::of(command.current_dir(sandbox.path("")).output().unwrap());
        said.must_fail(arguments, 2, &["standard input: standard input is closed"]);
        assert!(sandbox.names().is_empty(), "{:?}", sandbox.names());
    }
}

/// The parser of arguments quotes them without characters that a terminal obeys.
#[test]
fn arguments_in_errors_are_escaped() {
    let sandbox = Sandbox::new();
    for argument in ["--a\u{1b}[2Jb", "--a\u{202e}b", "--a\u{61c}b"] {
        let mut command = sandbox.command("info");
        let said = Said::of(command.arg(argument).output().unwrap());
        said.must_fail(argument, 2, &["error: unexpected argument '--a\\u{"]);
        assert!(!said.error.contains(&argument[3..6]), "{said:?}");
    }
}

/// Help that cannot be written is a failure; a closed pipe is not.
#[cfg(target_os = "linux")]
#[test]
fn help_to_an_output_that_takes_none() {
    let sandbox = Sandbox::new();
    for arguments in ["--help", "--version"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let said = Said::of(sandbox.command(arguments).stdout(full).output().unwrap());
        said.must_fail(arguments, 1, &["cannot write to standard output", "No space left"]);
        assert_eq!(sandbox.run(arguments).code, Some(0), "{arguments}");
    }
}

/// Numbers are asked for, and zeros in front count for nothing; that a sign does not is said.
#[test]
fn a_minus_zero_is_no_other_name_of_zero() {
    let sandbox = Sandbox::with([("zero.txt", "0 1\n-0 2\n"), ("padded.txt", "05 1\n5 2\n")]);
    let parts = ["zero.txt:2: the vertex id -0 would be the vertex 0", "--ids names"];
    sandbox.fails("communities zero.txt -o out.csv --ids signed", 2, &parts);
    sandbox.ok("communities zero.txt -o names.csv --ids names");
    assert_eq!(sandbox.read("names.csv").lines().count(), 1 + 4);
    sandbox.ok("communities padded.txt -o padded.csv --ids unsigned");
    assert_eq!(sandbox.read("padded.csv").lines().count(), 1 + 3);
}
