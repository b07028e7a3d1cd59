//! `ripplet fraud` of tables with wrong rows, wrong columns, and lists that are none: what is named, counted and refused.

use crate::sandbox::{Said, Sandbox};
use std::fmt::Write;

const MAPPING: &str = "time = \"at\"\n[source]\ncolumn = \"from\"\nkind = \"user\"\n\
    [target]\ncolumn = \"to\"\nkind = \"shop\"\n";

/// Rows of a day each.
const A_DAY: usize = 20;
const WINDOWS: &str = "-m m.toml -w 30d -s 10d";

/// A thousand rows over fifty days from 2024-01-01 on, where `change` replaces the dates of some lines, from 2 on.
fn rows(change: impl Fn(usize) -> Option<&'static str>) -> String {
    let mut text = String::from("from,to,at\n");
    for row in 0..1000 {
        let day = row / A_DAY;
        let date = format!("2024-{:02}-{:02}", 1 + day / 31, 1 + day % 31);
        let date = change(row + 2).map_or(date, str::to_owned);
        let _ = writeln!(text, "u{},s{},{date}", row * 7 % 60, row * 11 % 17);
    }
    text
}

fn sandbox(rows: &str) -> Sandbox {
    Sandbox::with([("rows.csv", rows), ("m.toml", MAPPING), ("bad.csv", "id\nu1\nu2\n")])
}

fn run(sandbox: &Sandbox, options: &str) -> Said {
    sandbox.run(&format!("fraud run rows.csv {WINDOWS} -b bad.csv -o run {options}"))
}

/// A batch of a whole day with a wrong year is wrong from its first row on, wherever it stands, and makes no windows.
#[test]
fn a_whole_day_with_a_wrong_year() {
    let whole = run(&sandbox(&rows(|_| None)), "");
    assert_eq!(whole.code, Some(0), "{whole:?}");
    for (first, last, year, around) in [
        (502, 521, "2034-01-26", "2024-01-25"),
        (982, 1001, "2034-02-19", "2024-02-18"),
        (2, 21, "2014-01-01", "2024-01-02"),
        (972, 1001, "2204-02-18", "2024-02-18"),
        (502, 601, "2034-01-26", "2024-01-25"),
        (502, 502, "2034-01-26", "2024-01-25 in rows.csv:501"),
    ] {
        let sandbox = sandbox(&rows(|line| (first..=last).contains(&line).then_some(year)));
        let said = run(&sandbox, "");
        let place = format!("error: rows.csv:{first}: the time {year} in the column `at`");
        said.must_fail(year, 2, &[&place, around, "--longest-gap", "--on-error skip"]);
        assert!(!sandbox.path("run").exists(), "{first}: something is left");
        let said = run(&sandbox, "--on-error skip");
        assert_eq!(said.code, Some(3), "{first}: {said:?}");
        let bad = last - first + 1;
        let (was, first) = (if bad == 1 { "row was" } else { "rows were" }, first.to_string());
        for part in [
            format!("note: {bad} {was} left out: time far from its neighbours\n"),
            format!("note: left out: rows.csv:{first}: the time {year}"),
        ] {
            assert!(said.error.contains(&part), "no `{part}` in {said:?}");
        }
        if bad > 10 {
            let more = format!("note: {} more rows were left out\n", bad - 10);
            assert!(said.error.contains(&more), "{said:?}");
        }
        let manifest = sandbox.json("run/manifest.json");
        assert!(manifest["windows"].as_array().unwrap().len() <= 5, "{first}: empty windows");
        assert_eq!(manifest["counts"]["taken"], 1000 - bad);
        let named = manifest["counts"]["left_out"].as_array().unwrap();
        assert_eq!(named.len(), bad.min(10));
        assert!(named[0].as_str().unwrap().starts_with(&format!("rows.csv:{first}: ")));
    }
}

/// A possible pause needs the user's permission: no windows are made of it otherwise.
#[test]
fn a_pause_is_allowed_by_a_longer_gap_alone() {
    let mut yearly = String::from("from,to,at\n");
    (1990..2020).for_each(|year| yearly += &format!("a,b,{year}-01-01\n"));
    for options in ["", "--on-error skip"] {
        let sandbox = sandbox(&yearly);
        let said = run(&sandbox, options);
        let parts = [
            "rows.csv:3: from here on, 29 rows in a row are more than 180d after those before them",
            "1991-01-01 here, 1990-01-01 in rows.csv:2",
            "help: --longest-gap 400d",
        ];
        said.must_fail("yearly", 2, &parts);
        assert!(!sandbox.path("run").exists());
        let said = sandbox.run(
            "fraud run rows.csv -m m.toml -w 365d -s 365d -b bad.csv -o run --longest-gap 400d",
        );
        assert_eq!(said.code, Some(0), "{said:?}");
    }
}

/// A time that is too late by less than the gap looks like a right one, but both rows are named.
#[test]
fn a_row_that_comes_late_is_named_with_the_one_before() {
    let sandbox = sandbox(&rows(|line| (line == 502).then_some("2024-05-26")));
    let parts = ["rows.csv:503: ", "2024-01-26", "2024-05-26 (rows.csv:502)", "--late"];
    run(&sandbox, "").must_fail("a wrong month", 2, &parts);
    let said = run(&sandbox, "--skip-late-rows");
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.error.contains("left out: rows.csv:503: 2024-01-26 comes after 2024-05-26"));
}

/// All commands that read rows report what they left out, also with `--quiet`, which omits other notes.
#[test]
fn every_command_tells_of_rows_that_it_skips() {
    let sandbox = sandbox(&rows(|line| [100, 300].contains(&line).then_some("no date")));
    let commands = [
        format!("fraud run rows.csv {WINDOWS} -b bad.csv -o run"),
        format!("fraud window rows.csv {WINDOWS} -o w.csv"),
        format!("fraud evaluate rows.csv {WINDOWS} -c bad.csv --draws 2 --known 0"),
    ];
    for command in commands {
        sandbox.fails(&command, 2, &["rows.csv:100", "`no date`"]);
        let said = sandbox.run(&format!("{command} --on-error skip -q"));
        assert_eq!(said.code, Some(3), "{command}: {said:?}");
        let notes: Vec<&str> = said.error.lines().collect();
        assert_eq!(notes.len(), 3, "{command}: {said:?}");
        assert_eq!(notes[0], "note: 2 rows were left out: bad time");
        assert!(notes[1].starts_with("note: left out: rows.csv:100: `no date`"), "{said:?}");
        assert!(notes[2].starts_with("note: left out: rows.csv:300: `no date`"), "{said:?}");
    }
}

/// Of two columns with a name of the mapping's, neither is meant.
#[test]
fn columns_that_share_a_name_are_refused() {
    let sandbox = sandbox("from,to,at,to\na,s,2024-05-01,t\n");
    let parts = ["rows.csv: 2 columns are called `to`", "rename"];
    for command in ["run rows.csv -b bad.csv -o run", "window rows.csv -o w.csv"] {
        sandbox.fails(&format!("fraud {command} {WINDOWS}"), 2, &parts);
    }
    // Others may share one.
    sandbox.write("rows.csv", "note,from,to,at,note\nx,a,s,2024-05-01,y\n");
    sandbox.ok(&format!("fraud window rows.csv {WINDOWS} -o w.csv"));
    for list in ["id,id\na,b\n", "id,from,from\na,2024-01-01,2024-02-01\n"] {
        sandbox.write("bad.csv", list);
        let said = run(&sandbox, "");
        said.must_fail(list, 2, &["bad.csv: 2 columns are called `"]);
        assert!(!sandbox.path("run").exists());
    }
}

/// Lists without an end, or that keep their reader waiting, are refused at once.
#[cfg(unix)]
#[test]
fn a_list_is_a_plain_file_of_a_size() {
    let sandbox = sandbox(&rows(|_| None));
    let pipe = std::process::Command::new("mkfifo").arg(sandbox.path("pipe")).status().unwrap();
    assert!(pipe.success());
    std::fs::create_dir(sandbox.path("folder.csv")).unwrap();
    std::fs::File::create(sandbox.path("sparse.csv")).unwrap().set_len(20 << 30).unwrap();
    let plain = "expected a file on a disk";
    for (list, part) in [
        ("/dev/zero", plain),
        ("/dev/urandom", plain),
        ("pipe", plain),
        ("folder.csv", plain),
        ("sparse.csv", "a list has at most 1024 MiB"),
    ] {
        for command in [
            format!("run rows.csv {WINDOWS} -o run -b {list}"),
            format!("run rows.csv {WINDOWS} -o run -b bad.csv --trusted {list}"),
            format!("evaluate rows.csv {WINDOWS} -c {list}"),
        ] {
            sandbox.fails(&format!("fraud {command}"), 2, &[list, part]);
        }
    }
}
