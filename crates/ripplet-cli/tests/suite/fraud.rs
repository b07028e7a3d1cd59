//! `ripplet fraud`: what it writes, says, and refuses, and its exit codes.

use crate::sandbox::Sandbox;
use std::path::Path;

const MAPPING: &str = "time = \"at\"\n[source]\ncolumn = \"from\"\nkind = \"user\"\n\
    [target]\ncolumn = \"to\"\nkind = \"shop\"\n";

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fraud");
    folder.join(name).display().to_string()
}

fn small() -> Sandbox {
    let rows: String = (1..6)
        .flat_map(|day| {
            ["a,s", "a,t", "b,s", "b,t", "c,u"].map(|ends| format!("{ends},2024-05-0{day}\n"))
        })
        .collect();
    let rows = format!("from,to,at\n{rows}");
    Sandbox::with([("rows.csv", &rows), ("m.toml", MAPPING), ("bad.csv", "id\na\nz\n")])
}

#[test]
fn the_readme_s_command_and_what_comes_after_it() {
    let sandbox = Sandbox::new();
    let feed = format!(
        "{} -m {} --window 30d --slide 5d",
        example("transactions.csv.gz"),
        example("mapping.toml")
    );
    let said = sandbox.run(&format!("fraud run {feed} -b {} -o rings", example("known.csv")));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("23383 rows, 4 windows"), "{said:?}");
    let manifest = sandbox.json("rings/manifest.json");
    assert_eq!(manifest["windows"].as_array().unwrap().len(), 4);
    std::fs::remove_file(sandbox.path("rings/report.html")).unwrap();
    assert_eq!(sandbox.ok("fraud report rings"), "rings/report.html\n");
    assert!(sandbox.read("rings/report.html").starts_with("<!"));
    let said = sandbox.run(&format!("fraud run {feed} -b {} -o rings", example("known.csv")));
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.error.contains("has a run in it already"), "{said:?}");

    let tables = sandbox.ok(&format!(
        "fraud evaluate {feed} -c {} --draws 2 -o draws.csv",
        example("confirmed.csv")
    ));
    assert!(tables.contains("suspicion") && tables.contains("pagerank"), "{tables}");
    let draws = sandbox.read("draws.csv");
    assert!(draws.starts_with("draw,method,held_out,found_at_0.0025,"), "{draws}");
    let method = |line: &str| line.split(',').nth(1).map(str::to_owned);
    let methods: std::collections::BTreeSet<_> = draws.lines().skip(1).filter_map(method).collect();
    assert!(methods.len() >= 35, "{methods:?}");
    assert_eq!(draws.lines().count(), 1 + 2 * methods.len());
}

/// The table of draws has the format of its name, and what was evaluated is noted.
#[test]
fn an_evaluation_s_draws_are_a_table() {
    let sandbox = small();
    let evaluate = |options: &str| {
        sandbox.run(&format!(
            "fraud evaluate rows.csv -m m.toml -c confirmed.csv -w 2d -s 1d --draws 2 {options}"
        ))
    };
    sandbox.write("confirmed.csv", "id\na\nb\nstranger\n");
    let said = evaluate("-o draws.parquet");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(std::fs::read(sandbox.path("draws.parquet")).unwrap().starts_with(b"PAR1"));
    for part in ["3 accounts, 2 of them confirmed, in 4 windows", "1 confirmed that no window has"]
    {
        assert!(said.error.contains(part), "{part} in {said:?}");
    }
    let said = evaluate("--to tsv");
    assert!(said.out.starts_with("draw\tmethod\theld_out\t"), "{said:?}");
    assert!(!said.out.contains("PR-AUC"), "the summary is in the table: {said:?}");
    // As `run` takes them: without scores, by a model, and with accounts that were cleared.
    let methods = |said: &crate::sandbox::Said| said.out.contains("\n| score |");
    assert!(methods(&evaluate("")), "{:?}", evaluate(""));
    let none = evaluate("--model none");
    assert!(!methods(&none) && none.out.contains("suspicion"), "{none:?}");
    assert!(!none.out.contains("evidence: "), "{none:?}");
    sandbox.ok("fraud run rows.csv -m m.toml -b bad.csv -w 2d -s 1d -o rings");
    let model = "rings/windows/0000-2024-05-03/model.json";
    assert!(methods(&evaluate(&format!("--model {model}"))));
    sandbox.write("cleared.csv", "id,from\nc,2024-05-02\n");
    assert!(methods(&evaluate("--cleared cleared.csv")));
    sandbox.write("cleared.csv", "id\na\n");
    let refused = ["the user `a` is known to be bad and cleared"];
    evaluate("--cleared cleared.csv").must_fail("both", 2, &refused);
    // An account that is confirmed and trusted is refused with and without accounts that were cleared.
    sandbox.write("cleared.csv", "id,from\nc,2024-05-02\n");
    sandbox.write("trusted.csv", "id\nb\n");
    let refused = ["the user `b` is known to be bad and trusted"];
    evaluate("--trusted trusted.csv").must_fail("both", 2, &refused);
    evaluate("--trusted trusted.csv --cleared cleared.csv").must_fail("both", 2, &refused);
    sandbox.write("model.json", "{}");
    evaluate("--model model.json").must_fail("no model", 2, &["model.json", "`format`"]);
    evaluate("-o draws.xlsx").must_fail("a spreadsheet", 2, &["draws.xlsx", ".parquet"]);
    assert!(!sandbox.path("draws.xlsx").exists());
}

#[test]
fn a_window_is_a_graph_for_other_commands() {
    let sandbox = small();
    let said =
        sandbox.run("fraud window rows.csv -m m.toml -w 2d -s 1d --until 2024-05-03 -o w.csv");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("10 transactions from 2024-05-02 to 2024-05-03: "), "{said:?}");
    let mut lines: Vec<String> = sandbox.read("w.csv").lines().map(str::to_owned).collect();
    lines.sort();
    let expected = [
        "shop:s,user:a,2",
        "shop:s,user:b,2",
        "shop:t,user:a,2",
        "shop:t,user:b,2",
        "shop:u,user:c,2",
    ];
    assert_eq!(&lines[..5], expected);
    let window = |until: &str| {
        let growing = "-w 3d -s 1d --growing -o grown.csv";
        sandbox.ok(&format!("fraud window rows.csv -m m.toml {growing} --until {until}"));
        sandbox.read("grown.csv")
    };
    assert_eq!(window("2024-05-02"), window("2024-05-03T00:00:00Z"), "a day is in the window");
    assert_ne!(window("2024-05-02"), window("2024-05-03"));
    let said =
        sandbox.run("fraud window rows.csv -m m.toml -w 2d -s 1d --until 2030-01-01 -o w.csv");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(
        said.error.contains("the last days of the 4 windows are 2024-05-02 to 2024-05-05"),
        "{said:?}"
    );
}

#[test]
fn bad_rows_are_skipped_if_asked_and_a_list_is_not_needed() {
    let sandbox = small();
    let rows = sandbox.read("rows.csv").replacen("b,s,2024-05-03", "b,s,2924-05-03", 1);
    sandbox.write("year.csv", &rows);
    let said = sandbox.run("fraud run year.csv -m m.toml -w 2d -s 1d -o year");
    said.must_fail("a wrong year", 2, &["year.csv:14: the time 2924-05-03", "--on-error skip"]);
    assert!(!sandbox.path("year").exists(), "nothing is left");
    let said = sandbox.run("fraud run year.csv -m m.toml -w 2d -s 1d -o year --on-error skip");
    assert_eq!(said.code, Some(3), "{said:?}");
    for part in ["4 windows", "1 row was left out: time far from its neighbours"] {
        assert!(said.error.contains(part), "{part} in {said:?}");
    }
    assert!(said.error.contains("there is no list of known bad"), "{said:?}");
    let said = sandbox.run("fraud run rows.csv -m m.toml -w 2d -s 1d -o seeded --seeded-only");
    said.must_fail("stranger known", 2, &["--known-bad"]);
    let said = sandbox.run("fraud run rows.csv -m m.toml -w 3d -s 3d -o full --full-slides");
    assert!(said.error.contains("10 transactions lie behind"), "{said:?}");
    let said = sandbox.run("fraud window rows.csv -m m.toml -w 3d -s 3d -o w.csv");
    assert!(said.error.contains("from 2024-05-03 to 2024-05-05"), "{said:?}");
}

/// Spreadsheets write CSV so where numbers have a comma.
#[test]
fn fields_between_semicolons() {
    let sandbox = small();
    let rows = sandbox.read("rows.csv").replace(',', ";");
    sandbox.write("semicolons.csv", &rows);
    for (file, folder) in [("rows.csv", "commas"), ("semicolons.csv", "semicolons")] {
        let said =
            sandbox.run(&format!("fraud run {file} -m m.toml -b bad.csv -w 2d -s 1d -o {folder}"));
        assert_eq!(said.code, Some(0), "{said:?}");
    }
    let tables = |folder: &str| {
        let windows = std::fs::read_dir(sandbox.path(&format!("{folder}/windows"))).unwrap();
        let mut windows: Vec<_> = windows.map(|window| window.unwrap().path()).collect();
        windows.sort();
        let tables = windows.iter().flat_map(|window| {
            ["members", "edges", "entities"].map(|name| window.join(format!("{name}.parquet")))
        });
        tables.map(|table| std::fs::read(table).unwrap()).collect::<Vec<_>>()
    };
    assert!(tables("commas") == tables("semicolons"));
    sandbox.write("m2.toml", format!("amount = \"eur\"\n{}", sandbox.read("m.toml")));
    sandbox.write("cents.csv", "from;to;at;eur\na;s;2024-05-01;3,50\n");
    let said = sandbox.run("fraud run cents.csv -m m2.toml -o cents");
    said.must_fail("cents", 2, &["cents.csv:2", "`3,50`", "a point before decimals"]);
    let said = sandbox.run("fraud run rows.csv -m m.toml -o rows.csv");
    said.must_fail("a file", 2, &["rows.csv is a file", "-o"]);
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let sandbox = small();
    let run = |arguments: &str| {
        sandbox.run(&format!("fraud run -m m.toml -b bad.csv -w 2d -s 1d {arguments}"))
    };
    sandbox.write(
        "late.csv",
        "from,to,at\na,s,2024-05-01\na,s,2024-05-03\nb,s,2024-05-01\nb,,2024-05-03\n",
    );
    let said = run("late.csv -o one");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.error.contains("late.csv:4: the transaction of 2024-05-01"), "{said:?}");
    assert!(said.error.contains("--late 2d"), "{said:?}");
    let said = run("late.csv -o two --skip-late-rows");
    assert!(said.error.contains("late.csv:5: the column `to` is empty"), "{said:?}");
    assert!(said.error.contains("--on-error skip"), "{said:?}");
    let said = run("late.csv -o three --skip-late-rows --on-error skip");
    assert_eq!(said.code, Some(3), "{said:?}");
    for part in [
        "1 row was left out: empty or null",
        "1 row was left out: too late",
        "1 entry of the lists is in no transaction: ",
    ] {
        assert!(said.error.contains(part), "{part} in {said:?}");
    }
    let said = run("rows.csv -o four --slide 3d");
    assert_eq!(said.code, Some(2), "{said:?}");
    let said = run("rows.csv -o five --resume");
    assert!(said.error.contains("has no run in it: there is no manifest.json"), "{said:?}");
    let said = sandbox.run("fraud run rows.csv -m m.toml -b none.csv -o six");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.error.contains("error: none.csv: No such file"), "{said:?}");
    for (option, part) in [
        ("--attenuation 2", "an attenuation is above 0 and at most 1"),
        ("--min-size 9 --max-size 8", "9 members at least and 8 at most"),
        ("--min-size 0 --max-size 0", "0 members at least and 0 at most"),
        ("--min-size 0", "0 members at least and 100 at most: the least is 1 or more"),
    ] {
        let said = run(&format!("rows.csv -o seven {option}"));
        said.must_fail(option, 2, &[part]);
        assert!(!said.error.contains("--resume"), "{said:?}");
        assert!(!sandbox.path("seven").exists(), "nothing was touched");
    }
    let ask = "fraud run -m m.toml -b bad.csv -o six --query SELECT";
    let said = sandbox.run(&format!("{ask} --postgres postgres://db/shop?sslmode=allow"));
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.error.contains("sslmode=allow: expected disable, prefer, require"), "{said:?}");
    assert!(said.error.contains("help: docs/fraud-sources.md has addresses"), "{said:?}");
    let evaluate = "fraud evaluate rows.csv -m m.toml -c bad.csv -w 2d -s 1d --draws 2";
    let said = sandbox.run(&format!("{evaluate} --top 0.03 --known 0"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("3 %"), "{said:?}");
    sandbox.write("m.toml", "time = \"at\"\n[source]\ncolumn = \"from\"\n");
    let said = run("rows.csv -o six");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.error.contains("m.toml"), "{said:?}");
}

#[test]
fn errors_in_a_weight_s_expression_point_into_it() {
    let sandbox = small();
    sandbox.write("m.toml", format!("{MAPPING}[weight]\nof = \"count * powf(0.5, days)\"\n"));
    sandbox.write(
        "open.toml",
        format!("{MAPPING}[weight]\nof = \"\"\"\ncount *\n  (1.0 + age\"\"\"\n"),
    );
    let feed = "rows.csv -w 2d -s 1d";
    for command in [
        format!("fraud run {feed} -b bad.csv -o run"),
        format!("fraud evaluate {feed} -c bad.csv --draws 2"),
        format!("fraud window {feed} --until 2024-05-03 -o w.csv"),
    ] {
        let unknown =
            ["weight.of:1:19: ", "\n  count * powf(0.5, days)\n                    ^^^^\n"];
        sandbox.fails(&format!("{command} -m m.toml"), 2, &unknown);
        let open = ["weight.of:2:3: ", "\n    (1.0 + age\n    ^\n"];
        sandbox.fails(&format!("{command} -m open.toml"), 2, &open);
    }
}

/// Its GPU is one that has memory, but cannot compute.
#[cfg(target_os = "linux")]
#[test]
fn a_gpu_that_fails_leaves_windows_to_the_cpu_under_auto_alone() {
    let sandbox = small();
    crate::driver::driver(&sandbox, crate::driver::FAKE);
    let fraud = |arguments: &str| crate::driver::run(&sandbox, &format!("fraud {arguments}"), &[]);
    let run = "run rows.csv -m m.toml -b bad.csv -w 2d -s 1d";
    assert_eq!(fraud(&format!("{run} -o cpu --device cpu")).code, Some(0));
    let said = fraud(&format!("{run} -o gpu --device cuda"));
    said.must_fail("on the GPU", 1, &["GPU", "--device cpu"]);
    let said = fraud(&format!("{run} -o auto"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("note: running on the CPU: "), "{said:?}");
    for of in ["0000-2024-05-03/members.parquet", "0003-2024-05-06/clusters.parquet"] {
        let [cpu, auto] = ["cpu", "auto"]
            .map(|run| std::fs::read(sandbox.path(&format!("{run}/windows/{of}"))).unwrap());
        assert_eq!(cpu, auto, "{of}");
    }
    let evaluate = "evaluate rows.csv -m m.toml -c bad.csv -w 2d -s 1d --draws 2 --known 0";
    fraud(&format!("{evaluate} --device cuda")).must_fail("on the GPU", 1, &["GPU"]);
    let said = fraud(evaluate);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.out, fraud(&format!("{evaluate} --device cpu")).out);
}

/// All files below a folder, by their places in it.
#[cfg(unix)]
fn files_in(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        match path.is_dir() {
            true => files.extend(files_in(&path).iter().map(|file| format!("{name}/{file}"))),
            false => files.push(name.to_owned()),
        }
    }
    files.sort();
    files
}

/// Whichever file is the first for which there is no room: it is named, finished windows stand, nothing
/// unfinished is left, and with room the run has what it would have had.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_during_a_run() {
    let sandbox = small();
    let line = |folder: &str| {
        format!("fraud run rows.csv -m m.toml -w 2d -s 1d -b bad.csv --device cpu -o {folder}")
    };
    sandbox.ok(&line("whole"));
    let all = files_in(&sandbox.path("whole"));
    let full = |blocks: u64, file: &str| {
        let said = sandbox.run_with_blocks(blocks, &line("cut"));
        let sentence = format!("error: cannot write cut/{file}: File too large");
        said.must_fail(file, 1, &[&sentence]);
        let foreign = said.error.lines().find(|line| {
            !["note: ", "error: ", "help: "].iter().any(|begin| line.starts_with(begin))
        });
        assert_eq!(foreign, None, "{said:?}");
        let there = files_in(&sandbox.path("cut"));
        assert!(
            there.iter().all(|file| all.contains(file)
                || file.ends_with("/labels.checkpoint")
                || file.ends_with("/clusters.txt")
                || file.ends_with("/weights.json")),
            "{there:?}"
        );
        said
    };
    let before = sandbox.names();
    full(0, "manifest.json");
    assert_eq!(sandbox.names(), before);

    let said = full(8, "windows/.part-0000-2024-05-03/entities.parquet");
    assert!(said.error.contains("run the same command again"), "{said:?}");
    assert!(!said.error.contains("--resume"), "{said:?}");
    assert_eq!(sandbox.names(), before, "there is no window, so nothing is left");
    sandbox.ok(&line("cut"));
    assert_eq!(files_in(&sandbox.path("cut")), all);
    std::fs::remove_dir_all(sandbox.path("cut")).unwrap();

    // Every window has room, and the report has none.
    let said = full(32, "report.html");
    assert!(said.error.contains("finished windows are kept: go on with --resume"), "{said:?}");
    sandbox.ok(&format!("{} --resume", line("cut")));
    assert_eq!(files_in(&sandbox.path("cut")), all);
    for file in all.iter().filter(|file| file.ends_with(".parquet") || file.ends_with(".npz")) {
        let read = |run: &str| std::fs::read(sandbox.path(run).join(file)).unwrap();
        assert!(read("cut") == read("whole"), "{file}");
    }
}

#[test]
fn find_says_where_any_entity_was() {
    let sandbox = small();
    let rows = sandbox.read("rows.csv") + "c,u,2024-05-06\nd e,u,2024-05-06\n";
    sandbox.write("rows.csv", rows);
    sandbox.write("bad.csv", "id,from\na,\nz,2024-05-04\n");
    sandbox.ok("fraud run rows.csv -m m.toml -b bad.csv -w 2d -s 1d -o rings");
    // In no cluster, and in one window alone.
    let said = sandbox.ok("fraud find u rings --kind shop");
    let lines: Vec<Vec<&str>> =
        said.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..5], ["kind", "id", "window", "days", "place"]);
    assert_eq!(lines.len(), 6, "{said}");
    assert!(lines[1..].iter().all(|line| line[0] == "shop" && line.ends_with(&["no"])), "{said}");
    // Known bad; a table has the same.
    let csv = sandbox.ok("fraud find a rings --to csv");
    let (head, rest) = csv.split_once('\n').unwrap();
    let columns = "window,from,until,kind,id,place,probability,entity_rank,cluster,cluster_rank,suspicion,known_bad";
    assert_eq!(head, columns);
    assert_eq!(rest.lines().count(), 5, "{csv}");
    // In no cluster, and yet with a probability and a rank.
    let first = "0,2024-05-01T00:00:00Z,2024-05-03T00:00:00Z,user,a,in no cluster,0.";
    assert!(rest.starts_with(first) && rest.lines().all(|line| line.ends_with(",true")), "{csv}");
    for line in rest.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        assert!((0.0..=1.0).contains(&cells[6].parse::<f32>().unwrap()), "{csv}");
        assert!((1..=8).contains(&cells[7].parse::<u32>().unwrap()), "{csv}");
    }
    let said = sandbox.run("fraud find a rings");
    assert!(!said.error.contains("--model none"), "{said:?}");
    // One or two are known bad, of one fold.
    let few = "in all windows, scores are a fixed combination of the evidence, drawn towards the known bad";
    assert!(said.error.contains(few) && said.error.contains("are no probabilities"), "{said:?}");
    sandbox.ok("fraud find a rings -o a.parquet");
    sandbox.ok("fraud find a rings -o a.csv");
    assert_eq!(sandbox.read("a.csv"), csv);
    assert!(sandbox.path("a.parquet").exists());
    // An account without transactions, known from the third window on.
    let csv = sandbox.ok("fraud find z rings --to csv");
    let z: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(z.len(), 3, "{csv}");
    assert!(z[0].starts_with("2,") && z.iter().all(|l| l.ends_with("user,z,never seen,,,,,,true")));
    // Parts of ids; no more than asked for.
    let said = sandbox.run("fraud find D rings --part --to tsv");
    assert!(said.out.contains("\td e\tin no cluster\t"), "{said:?}");
    assert!(said.out.ends_with("\tfalse\n") && said.out.lines().count() == 2, "{said:?}");
    // a, b, c, d e, s, t, u and z.
    let said = sandbox.run("fraud find --part --most 2 --to csv -- \u{200b} rings");
    said.must_fail("stranger", 2, &["no window of rings has an entity whose id contains"]);
    let mut all = sandbox.command("fraud find rings --part --most 2");
    let all = crate::sandbox::Said::of(all.arg("").output().unwrap());
    assert_eq!(all.code, Some(2), "the folder comes last: {all:?}");
    let mut all = sandbox.command("fraud find --part --most 2");
    let all = crate::sandbox::Said::of(all.args(["", "rings"]).output().unwrap());
    assert!(all.error.contains("6 other entities match: --most 8 shows them"), "{all:?}");

    // Without scores, a note says why there are none.
    sandbox.ok("fraud run rows.csv -m m.toml -b bad.csv -w 2d -s 1d --model none -o plain");
    let said = sandbox.run("fraud find a plain --to csv");
    assert!(said.error.contains("the run has no probabilities and ranks of entities"), "{said:?}");
    assert!(said.error.contains("--model none"), "{said:?}");
    assert!(!said.error.contains("fixed combination"), "{said:?}");
    assert!(
        said.out.lines().skip(1).all(|line| line.ends_with(",in no cluster,,,,,,true")),
        "{said:?}"
    );
    sandbox.fails("fraud find A rings", 2, &["with the id `A`", "--part"]);
    sandbox.fails("fraud find a rings --kind shop", 2, &["entity of kind shop"]);
    let kinds = ["no window of rings has an entity of kind users", "are user, shop"];
    sandbox.fails("fraud find a rings --kind users", 2, &kinds);
    sandbox.fails("fraud find a none", 2, &["none has no run in it"]);
    sandbox.fails("fraud find a rings --to rg", 2, &[".parquet or .arrow"]);
    sandbox.fails("fraud find a rings --most 0", 2, &["--most", "a whole number from 1 on"]);
    let entities = "rings/windows/0000-2024-05-03/entities.parquet";
    sandbox.write(entities, "damaged");
    sandbox.fails("fraud find a rings", 2, &["entities.parquet"]);
    std::fs::remove_file(sandbox.path(entities)).unwrap();
    sandbox.fails("fraud find a rings", 2, &["an older version of ripplet", "run it again"]);
}

/// One process at a time writes to a run folder, and the lock of a killed one does not stay.
#[cfg(target_os = "linux")]
#[test]
fn two_processes_on_one_run() {
    use crate::sandbox::wait_for;
    use std::process::Stdio;
    let sandbox = small();
    let run = "fraud run rows.csv -m m.toml -b bad.csv -w 2d -o run";
    /// A process that does not outlive a failed test.
    struct Killed(std::process::Child);
    impl Drop for Killed {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    let mut first = sandbox.command(&format!("{run} --follow --every 1s"));
    let first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let first = Killed(first);
    let has_window = || sandbox.path("run/windows/0000-2024-05-03/window.json").exists();
    wait_for("window", || has_window().then_some(()));
    let busy = ["another process is writing to the run in run", "wait until it ends, or end it"];
    sandbox.fails(&format!("{run} --resume"), 1, &busy);
    sandbox.fails(run, 2, &["has a run in it already"]);
    // Who reads does not wait.
    sandbox.ok("fraud find a run");
    drop(first);
    sandbox.ok(&format!("{run} --resume"));
    sandbox.ok(&format!("{run} --resume"));
    let mut left: Vec<_> = std::fs::read_dir(sandbox.path("run")).unwrap().collect();
    left.retain(|entry| entry.as_ref().unwrap().file_name() != "windows");
    assert_eq!(left.len(), 2, "the manifest and the report: {left:?}");
}

/// Nothing was begun, so there is nothing to resume.
#[test]
fn a_server_that_never_answered_leaves_nothing_to_resume() {
    let sandbox = small();
    let ask = "fraud run -m m.toml -o six --query SELECT --postgres postgres://127.0.0.1:1/shop";
    let said = sandbox.run(ask);
    said.must_fail("no server", 1, &["run the same command again once the server answers"]);
    assert!(!said.error.contains("--resume"), "{said:?}");
    assert!(!sandbox.path("six").exists());
}

#[test]
fn databases_that_cannot_be_used_are_told_from_wrong_options() {
    let sandbox = small();
    let to = "fraud run rows.csv -m m.toml -o six";
    let said = sandbox.run(&format!("{to} --to-postgres postgres://risk:hunter2@127.0.0.1:1/shop"));
    said.must_fail("no server", 1, &["PostgreSQL: cannot connect", "once the server answers"]);
    assert!(!said.error.contains("hunter2"), "{said:?}");
    sandbox.fails(
        &format!("{to} --to-postgres postgres://db/?sslmode=allow"),
        2,
        &["sslmode=allow"],
    );
    let long = "x".repeat(64);
    let named = format!("{to} --to-postgres postgres://127.0.0.1:1/x --schema {long}");
    sandbox.fails(
        &named,
        2,
        &["is no name of a schema: expected 1 to 63 bytes", "--schema ripplet"],
    );
    for option in ["--schema x", "--to-password-file x"] {
        sandbox.fails(&format!("{to} {option}"), 2, &["--to-postgres"]);
    }
    assert!(!sandbox.path("six").exists(), "something is left");
    let of = "fraud run -m m.toml -o six";
    sandbox.fails(
        &format!("{of} --duckdb none.duckdb --query SELECT"),
        2,
        &["none.duckdb: No such file"],
    );
    sandbox.fails(&format!("{of} --duckdb none.duckdb"), 2, &["--query"]);
    sandbox.fails(
        &format!("{of} rows.csv --query SELECT"),
        2,
        &["--query needs a database", "--duckdb FILE"],
    );
    sandbox.fails(&format!("{of} --duckdb a --postgres b --query c"), 2, &["cannot be used with"]);
    let follow = format!("{of} --duckdb none.duckdb --query SELECT --follow");
    sandbox.fails(&follow, 2, &["--follow watches folders, not a query"]);
    let empty = format!("{to} --since 2024-05-02 --before 2024-05-02");
    sandbox.fails(&empty, 2, &["no time is between --since and --before"]);
    sandbox.fails(&format!("{to} --since 2.5.2024"), 2, &["2.5.2024"]);
    sandbox.ok(&format!("{to} --since 2024-05-02"));
    assert_eq!(sandbox.json("six/manifest.json")["options"]["since"], "2024-05-02");
}

#[test]
fn standard_input_is_not_read_for_transactions() {
    let sandbox = small();
    for command in ["run - -o run", "window - -o w.csv", "evaluate - -c bad.csv"] {
        let expected = ["not read from standard input", "save them as a file", "./-"];
        sandbox.fails(&format!("fraud {command} -m m.toml"), 2, &expected);
    }
    std::fs::rename(sandbox.path("rows.csv"), sandbox.path("-")).unwrap();
    let said = sandbox.run("fraud run ./- -m m.toml -o run");
    assert!(!said.error.contains("standard input"), "{said:?}");
}

#[test]
fn a_kind_has_a_name() {
    let sandbox = small();
    for (table, kind) in [("source", "user"), ("target", "shop")] {
        let mapping = MAPPING.replace(&format!("\"{kind}\""), "\" \"");
        sandbox.write("m.toml", mapping);
        let expected = format!("m.toml: {table}.kind of column");
        sandbox.fails("fraud run rows.csv -m m.toml -o run", 2, &[&expected, "is empty"]);
    }
}

/// Transactions of an account with itself are counted and noted by each command that reads them.
#[test]
fn transactions_of_an_account_with_itself_are_noted() {
    let sandbox = small();
    let mapping = MAPPING.replace("shop", "user");
    sandbox.write("m.toml", &mapping);
    sandbox.write("rows.csv", sandbox.read("rows.csv") + "a,a,2024-05-05\nb,b,2024-05-05\n");
    let note = "note: 2 transactions of an entity with itself are left out";
    let said = sandbox.run("fraud run rows.csv -m m.toml -w 2d -s 1d -o run");
    assert!(said.error.contains(note), "{said:?}");
    assert_eq!(sandbox.json("run/manifest.json")["counts"]["to_themselves"], 2);
    let said = sandbox.run("fraud window rows.csv -m m.toml -w 2d -s 1d -o w.csv");
    assert!(said.error.contains(note), "{said:?}");
}

/// Entries of a list that have no effect are noted.
#[test]
fn entries_of_a_list_without_effect_are_noted() {
    let sandbox = small();
    let run = |list: &str| {
        sandbox.write("list.csv", list);
        let _ = std::fs::remove_dir_all(sandbox.path("run"));
        let said = sandbox.run("fraud run rows.csv -m m.toml -b list.csv -w 2d -s 1d -o run");
        assert_eq!(said.code, Some(0), "{said:?}");
        said.error
    };
    let notes = run("id\n");
    assert!(notes.contains("note: list.csv: the list has no entries\n"), "{notes}");
    let notes = run(
        "id,from,until\na,,\nb,2024-05-04,2024-05-02\nc,2024-06-01,\ns,2024-05-02,2024-05-02\n",
    );
    assert!(
        notes.contains("list.csv:3: 2 entries never hold: `until` is not after `from`"),
        "{notes}"
    );
    let nowhere = "1 entry of the lists holds at the end of no window, by `from` and `until`";
    assert!(notes.contains(nowhere), "{notes}");
    let notes = run("id,from,until\na,,\nb,2024-05-04,2024-05-06\n");
    let of_entries = ["never hold", "hold at the end", "holds at the end"];
    assert!(of_entries.iter().all(|note| !notes.contains(note)), "{notes}");
}

/// The help names a lateness that allows for the row.
#[test]
fn a_late_row_is_told_with_what_allows_for_it() {
    let sandbox = small();
    let rows = "from,to,at\na,s,2024-05-01 12:00\na,s,2024-05-05 18:00\nb,s,2024-05-01 13:00\n";
    sandbox.write("late.csv", rows);
    let run = "fraud run late.csv -m m.toml -w 2d -s 1d -o run";
    sandbox.fails(run, 2, &["--late 5d allows for rows as late as this one"]);
    sandbox.ok(&format!("{run} --late 5d"));
}

/// An end is a day that is in the window, wherever it is said in words.
#[test]
fn windows_are_named_by_their_last_day() {
    let sandbox = small();
    let said = sandbox.run("fraud run rows.csv -m m.toml -b bad.csv -w 2d -s 1d -o run");
    for days in ["2024-05-01 to 2024-05-02", "2024-05-04 to 2024-05-05"] {
        assert!(said.error.contains(&format!("note: window of {days}: 10 trans")), "{said:?}");
    }
    let found = sandbox.ok("fraud find a run");
    assert!(found.contains("  0000-2024-05-03  2024-05-01 to 2024-05-02  "), "{found}");
    let said = sandbox.run("fraud window rows.csv -m m.toml -w 2d -s 1d -o w.csv");
    assert!(said.error.contains("10 transactions from 2024-05-04 to 2024-05-05: "), "{said:?}");
}

#[test]
fn a_table_on_standard_output_needs_a_format() {
    let sandbox = small();
    sandbox.ok("fraud run rows.csv -m m.toml -b bad.csv -w 2d -s 1d -o run");
    for command in ["find a run", "evaluate rows.csv -m m.toml -c bad.csv -w 2d -s 1d --draws 2"] {
        sandbox.fails(&format!("fraud {command} -o -"), 2, &["add --to csv", "-o - --to csv"]);
        let said = sandbox.ok(&format!("fraud {command} -o - --to csv"));
        assert!(said.lines().next().unwrap().contains(','), "{said}");
        assert_eq!(said, sandbox.ok(&format!("fraud {command} --to csv")));
    }
}

/// Of few accounts, what can be said is said, and nothing is infinite.
#[test]
fn an_evaluation_of_few_accounts() {
    let sandbox = small();
    let evaluate = |confirmed: &str, options: &str| {
        sandbox.write("confirmed.csv", confirmed);
        let feed = "rows.csv -m m.toml -c confirmed.csv -w 2d -s 1d";
        sandbox.run(&format!("fraud evaluate {feed} {options}"))
    };
    evaluate("id\n", "").must_fail("none", 2, &["no account is confirmed"]);
    let expected =
        ["is in any window; in no transaction: user stranger, user none", "one of user, shop"];
    evaluate("id\nstranger\nnone\n", "").must_fail("stranger", 2, &expected);
    for (option, expected) in [
        ("--draws 0", ["must be 1 at least", "--draws 100"]),
        ("--known 1", ["from 0 to below 1, not 1", "--known 0.2"]),
        ("--top 0", ["above 0, up to 1, not 0", "--top 0.02"]),
    ] {
        evaluate("id\nc\n", option).must_fail(option, 2, &expected);
    }
    // c has the least degree: no ranking has it first.
    for (confirmed, counted) in [
        ("id\nc\n", "of 1 confirmed account, 1 is held out"),
        ("id\nc\nstranger\n", "of 2 confirmed accounts, "),
    ] {
        let said = evaluate(confirmed, "--draws 4");
        assert_eq!(said.code, Some(0), "{said:?}");
        for part in ["too few to conclude anything", counted, "no account is known in any draw"] {
            assert!(said.error.contains(part), "{part} in {said:?}");
        }
        assert!(!said.out.contains("inf") && !said.out.contains("NaN"), "{said:?}");
        assert!(said.out.contains("–: not defined ("), "{said:?}");
        let table = evaluate(confirmed, "--draws 4 --to jsonl");
        assert!(!table.out.contains("inf") && !table.out.contains("NaN"), "{table:?}");
    }
    // Half of two: some draws hold out the account that is in no window, and then measure nothing.
    let said = evaluate("id\nc\nstranger\n", "--known 0.5 --draws 8 --to jsonl");
    assert!(said.out.contains("\"average_precision\":null"), "{said:?}");
    assert!(said.out.contains("\"average_precision\":0."), "{said:?}");
}

/// The column of ids in a list is evident, noted, or refused.
#[test]
fn the_ids_of_a_list_are_found_by_a_known_name_or_asked_for() {
    let sandbox = small();
    let run = |list: &str| {
        sandbox.write("list.csv", list);
        let _ = std::fs::remove_dir_all(sandbox.path("run"));
        sandbox.run("fraud run rows.csv -m m.toml -b list.csv -w 2d -s 1d -o run")
    };
    let known = |said: &crate::sandbox::Said| {
        assert_eq!(said.code, Some(0), "{said:?}");
        sandbox.json("run/manifest.json")["windows"][0]["known_bad"].as_u64()
    };
    for plain in ["id\na\n", "id,kind,from\na,user,2024-01-01\n", "id,ID\na,b\n"] {
        assert_eq!(known(&run(plain)), Some(1), "{plain}");
    }
    for (list, said) in [
        ("account\na\n", "list.csv: ids are in the column `account`"),
        ("ID;since\na;2023\n", "in the column `ID`; the column `since` is ignored"),
        (
            "name,Customer ID,Kind\nb,a,user\n",
            "in the column `Customer ID`; the column `name` is ignored",
        ),
        ("konto\n12\n13\n", "in the column `konto`"),
        ("konto\nC12\nC13\nC14\n", "in the column `konto`"),
    ] {
        let output = run(list);
        assert!(output.error.contains(&format!("{said}\n")), "{said} in {output:?}");
        assert!(known(&output).is_some(), "{list}");
    }
    for (list, parts) in [
        ("konto,name\n12,ann\n", ["no column is called `id`", "`konto,name` and `12,ann`"]),
        ("user,account\na,b\n", ["`user` and `account` may both be", "`user,account` and `a,b`"]),
        ("ann\nbob\n", ["the first row `ann` may be an id", "rows are `ann` and `bob`"]),
        ("12\n13\n", ["the first row `12` may be an id", "rows are `12` and `13`"]),
        ("konto\n", ["the first row `konto` may be", "the first row is `konto`"]),
    ] {
        let said = run(list);
        said.must_fail(list, 2, &parts);
        assert!(said.error.contains("help: write `id` above the column"), "{said:?}");
    }
}

#[test]
fn blanks_around_ids_are_no_part_of_them_in_transactions_and_lists() {
    let sandbox = small();
    let rows = sandbox.read("rows.csv").replace("a,s", " a , s").replace("b,s", "\" b\",s");
    sandbox.write("rows.csv", rows);
    sandbox.write("bad.csv", "id\n a\n\" b\"\nb \n");
    let said = sandbox.run("fraud run rows.csv -m m.toml -b bad.csv -w 2d -s 1d -o run");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("10 ids had blanks around them"), "{said:?}");
    let windows = sandbox.json("run/manifest.json");
    assert_eq!(windows["windows"][0]["known_bad"], 3, "a, b and the b in quotes");
    assert!(!said.error.contains("in no transaction"), "{said:?}");
}

/// Another version's folder is read where its form is the same, and gone on with by that version alone.
#[test]
fn a_run_folder_of_another_version() {
    let sandbox = small();
    let run = "fraud run rows.csv -m m.toml -b bad.csv -w 2d -s 1d -o run";
    sandbox.ok(run);
    let now = sandbox.read("run/manifest.json");
    let version = format!("\"ripplet\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(now.contains(&version) && now.contains("\"format\": 1"), "{now}");
    let older = now.replace(&version, "\"ripplet\": \"0.0.9\"");
    sandbox.write("run/manifest.json", &older);
    sandbox.ok("fraud find a run");
    sandbox.ok("fraud report run");
    let expected = ["ripplet 0.0.9 began the run in run", "run again into a new folder"];
    sandbox.fails(&format!("{run} --resume"), 2, &expected);
    let other_form = older.replace("\"format\": 1", "\"format\": 9");
    let before_forms = older.replace("\"format\": 1,", "").replace("\"counts\"", "\"count\"");
    for manifest in [other_form, before_forms] {
        sandbox.write("run/manifest.json", &manifest);
        for command in ["fraud find a run", "fraud report run", run, &format!("{run} --resume")] {
            let expected =
                ["run is a run folder of ripplet 0.0.9, in another form", "into a new folder"];
            sandbox.fails(command, 2, &expected);
        }
    }
    assert!(sandbox.path("run/report.html").exists(), "nothing was touched");
}

/// Before anything is read.
#[test]
fn a_limit_below_what_any_run_needs_is_refused() {
    let sandbox = small();
    let run = "fraud run rows.csv -m m.toml -b bad.csv -w 2d -s 1d -o run";
    for (limit, shown) in [("0", "0 B"), ("1", "1 B"), ("1MiB", "1.0 MiB"), ("63MiB", "63.0 MiB")] {
        let expected =
            format!("a run needs 64.0 MiB at least, but {shown} is what --host-memory allows");
        let help = "help: allow --host-memory 67108864, or more";
        let said = sandbox.fails(&format!("{run} --host-memory {limit}"), 2, &[&expected, help]);
        assert_eq!(said.error.lines().count(), 2, "{said:?}");
    }
    sandbox.ok(&format!("{run} --host-memory 67108864"));
    for command in [
        "window rows.csv -m m.toml -o w.csv",
        "evaluate rows.csv -m m.toml -c bad.csv",
        "find a run",
    ] {
        let mut command = sandbox.command(&format!("fraud {command}"));
        let said =
            crate::sandbox::Said::of(command.env("RIPPLET_HOST_MEMORY", "1MiB").output().unwrap());
        said.must_fail(
            "a variable",
            2,
            &[
                "at least, but 1.0 MiB is what RIPPLET_HOST_MEMORY allows",
                "help: set RIPPLET_HOST_MEMORY to",
            ],
        );
    }
}

#[test]
fn an_input_that_is_named_twice_is_refused() {
    let sandbox = small();
    sandbox.fails(
        "fraud run rows.csv rows.csv -m m.toml -w 2d -s 1d -o run",
        2,
        &[
            "error: the inputs name rows.csv twice: its transactions would count twice",
            "help: --skip-repeated-files passes over such files",
        ],
    );
}

#[test]
fn a_run_with_another_hub_degree_is_told_as_it_was_typed() {
    let sandbox = small();
    let run = "fraud run rows.csv -m m.toml -w 2d -s 1d -o run --hub-degree";
    sandbox.ok(&format!("{run} 500"));
    let sentence =
        "the run in run has hub degree 500, and here it is 400: go on with the same options";
    sandbox.fails(&format!("{run} 400 --resume"), 2, &[sentence]);
    sandbox.ok(&format!("{run} 500 --resume"));
}

/// The expression is to blame, and not the rows.
#[test]
fn a_weight_that_is_none_is_told_with_its_expression() {
    let sandbox = small();
    for (of, parts) in [
        ("1.0/0.0", ["the weight `1.0/0.0` is infinite for all transactions", "from 0 on"]),
        (
            "0.0/0.0",
            ["the weight `0.0/0.0` of the edge between user a and shop s is NaN", "mend `of`"],
        ),
        ("0.0 - count", ["the weight `0.0 - count` of the edge between user a and", "0 or above"]),
    ] {
        sandbox.write("m.toml", format!("{MAPPING}[weight]\nof = \"{of}\"\n"));
        sandbox.fails("fraud run rows.csv -m m.toml -w 2d -s 1d -o run", 2, &parts);
        assert!(!sandbox.path("run").exists());
    }
}
