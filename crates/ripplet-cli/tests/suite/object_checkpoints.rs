//! Checkpoints in object storage: runs that are killed at any moment go on, by any number of ranks, and leave nothing.

use crate::object_storage::{edges, ok, run};
use crate::ranks::{launcher, one_error};
use crate::s3::{KEY, Proxy, SECRET, Server, Spoil};
use crate::sandbox::{Said, Sandbox, wait_for};
use ripplet_conformance::launcher::{Mpi, output};
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A program that needs all its rounds, and has columns.
const SLPA: &str = "--program slpa --iterations 9 --device cpu";
const KEPT: &str = "--checkpoint s3://data/kept/ --checkpoint-every 1";

/// The rounds with an index, and those with parts.
fn rounds(server: &Server) -> (Vec<u32>, Vec<u32>) {
    let number = |key: &str, suffix: &str| {
        let name = key.strip_prefix("kept/round-")?;
        name.split_once(suffix)?.0.parse::<u32>().ok()
    };
    let keys = server.objects("data", "kept/");
    let with = |suffix: &str| {
        let mut all: Vec<u32> = keys.iter().filter_map(|key| number(key, suffix)).collect();
        all.dedup();
        all
    };
    (with(".checkpoint"), with(".parts/"))
}

#[track_caller]
fn nothing_is_left(server: &Server) {
    assert_eq!(server.objects("data", "kept"), [""; 0]);
    assert_eq!(server.uploads("data"), 0);
}

/// Kills all processes of a sandbox, so that none tidies up.
fn kill_all(sandbox: &Sandbox, child: &mut Child) {
    let folder = fs::canonicalize(sandbox.path("")).unwrap();
    wait_for("end of all", || {
        let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let own: Vec<String> = entries
            .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|to| to == folder))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        own.iter().for_each(|process| {
            let _ = Command::new("kill").args(["-9", process]).stderr(Stdio::null()).status();
        });
        child.try_wait().unwrap().filter(|_| own.is_empty())
    });
}

/// The command of a run on this number of ranks.
fn command(sandbox: &Sandbox, ranks: usize, run: &str, variables: &[(&str, String)]) -> Command {
    let mut command = match Mpi::mpich().filter(|_| ranks > 1) {
        None => sandbox.command(run),
        Some(mpi) => {
            let mut launcher = launcher(&mpi, sandbox);
            launcher.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_ripplet")]);
            launcher.args(run.split_whitespace());
            launcher
        }
    };
    command.envs(variables.iter().map(|(name, value)| (*name, value.as_str())));
    command
}

/// Resumes a run on this number of ranks, after this round: it has the bytes and the figures of one without an interruption.
#[track_caller]
fn goes_on(sandbox: &Sandbox, server: &Server, ranks: usize, after: u32) {
    let run = format!("communities g.csv -o out.csv --stats s.json --resume {SLPA} {KEPT}");
    let said = Said::of(output(&mut command(sandbox, ranks, &run, &server.variables())));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!said.error.contains(SECRET) && !said.error.contains(KEY), "{said:?}");
    let note = format!(
        "note: going on after round {after}, from s3://data/kept/round-{after:010}.checkpoint"
    );
    assert!(said.error.contains(&note), "{said:?}");
    assert!(sandbox.read("out.csv") == sandbox.read("whole.csv"), "{ranks} ranks");
    let (found, whole) = (sandbox.json("s.json"), sandbox.json("whole.json"));
    for name in ["iterations", "changed", "visited", "edges_scanned", "stop", "modularity"] {
        assert_eq!(found[name], whole[name], "{name}");
    }
    assert_eq!(found["checkpoints"]["resumed_after"], after);
    nothing_is_left(server);
}

/// A sandbox with a graph, and what its run finds without checkpoints.
fn begun() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("g.csv", edges(3000, 1));
    sandbox.ok(&format!("communities g.csv -o whole.csv --stats whole.json {SLPA}"));
    sandbox
}

/// Begins a run whose requests are not answered from one on that has this in its first line, and waits until it is there.
fn stuck(sandbox: &Sandbox, proxy: &Proxy, ranks: usize, at: &'static str) -> Child {
    proxy.spoil(Spoil::Silent(at));
    let run = format!("communities g.csv -o out.csv {SLPA} {KEPT}");
    let mut command = command(sandbox, ranks, &run, &proxy.variables());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("request", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        proxy.requests().iter().any(|line| line.contains(at)).then_some(())
    });
    child
}

const INDEX: &str = "PUT /data/kept/round-0000000003.checkpoint";
const PART: &str = "PUT /data/kept/round-0000000003.parts/";

#[test]
fn parts_come_first_the_index_then_and_older_ones_go_last() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (Sandbox::new(), Proxy::of(&server));
    sandbox.ok("generate road --scale 18 -o g.rg");
    let flags = "--program slpa --iterations 5 --device cpu";
    sandbox.ok(&format!("communities g.rg -o whole.csv {flags}"));
    let line = format!("communities g.rg -o out.csv --stats s.json {flags} {KEPT}");
    ok(&sandbox, &line, &proxy.variables());
    assert!(sandbox.read("out.csv") == sandbox.read("whole.csv"));
    nothing_is_left(&server);
    let figures = &sandbox.json("s.json")["checkpoints"];
    assert_eq!((&figures["written"], &figures["resumed_after"]), (&4.into(), &Value::Null));
    // 262,144 vertices, of 4 bytes and a bit each, and 64 bytes of columns.
    let bytes = figures["bytes"].as_u64().unwrap() / 4;
    assert!((17_800_000..18_000_000).contains(&bytes), "{bytes}");
    let requests = proxy.requests();
    let all = |part: &str| -> Vec<usize> {
        let places = requests.iter().enumerate().filter(|(_, line)| line.contains(part));
        places.map(|(place, _)| place).collect()
    };
    for round in 1..=4 {
        let parts = all(&format!("PUT /data/kept/round-{round:010}.parts/"));
        let index = all(&format!("PUT /data/kept/round-{round:010}.checkpoint"));
        assert_eq!((parts.len(), index.len()), (3, 1), "{requests:?}");
        assert!(parts.iter().all(|&part| part < index[0]), "{requests:?}");
    }
    // Two remain: the first one goes after the third is there, its index first.
    let gone = all("DELETE /data/kept/round-0000000001.checkpoint");
    assert!(gone.len() == 1 && gone[0] > all(INDEX)[0], "{requests:?}");
    let parts = all("DELETE /data/kept/round-0000000001.parts/");
    assert!(parts.len() == 3 && parts.iter().all(|&part| part > gone[0]), "{requests:?}");
    assert!(!requests.iter().any(|line| line.contains("uploads")), "an upload in parts was begun");
}

#[test]
fn killed_between_the_parts_and_the_index() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (begun(), Proxy::of(&server));
    let numbers: &[(usize, usize)] = match Mpi::mpich() {
        Some(_) => &[(1, 1), (1, 3), (2, 1), (4, 2)],
        None => &[(1, 1)],
    };
    for &(begin, end) in numbers {
        let mut child = stuck(&sandbox, &proxy, begin, INDEX);
        kill_all(&sandbox, &mut child);
        assert_eq!(rounds(&server), (vec![1, 2], vec![1, 2, 3]), "{begin} ranks");
        goes_on(&sandbox, &server, end, 2);
    }
    // Before the first index, there is nothing to go on from.
    let mut child = stuck(&sandbox, &proxy, 1, "PUT /data/kept/round-0000000001.checkpoint");
    kill_all(&sandbox, &mut child);
    assert_eq!(rounds(&server), (vec![], vec![1]));
    let line = format!("communities g.csv -o out.csv --resume {SLPA} {KEPT}");
    let said = ok(&sandbox, &line, &server.variables());
    let note = "note: s3://data/kept/ has no checkpoint: the run begins";
    assert!(said.error.contains(note), "{said:?}");
    assert!(sandbox.read("out.csv") == sandbox.read("whole.csv"));
    nothing_is_left(&server);
}

#[test]
fn killed_at_any_moment() {
    let Some(server) = Server::start() else { return };
    let sandbox = Sandbox::new();
    sandbox.ok("generate social --scale 11 -o g.rg");
    let flags = "--program slpa --iterations 30 --device cpu";
    sandbox.ok(&format!("communities g.rg -o whole.csv {flags}"));
    let line = format!("communities g.rg -o out.csv --resume {flags} {KEPT}");
    let (mut kills, mut moment) = (0u64, 150u64);
    loop {
        let before = rounds(&server).0.into_iter().max();
        let mut command = command(&sandbox, 1, &line, &server.variables());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        // A round is done at least, so that the run ends.
        wait_for("round", || {
            let is_further = rounds(&server).0.into_iter().max() > before;
            (is_further || child.try_wait().unwrap().is_some()).then_some(())
        });
        moment = (moment * 7919) % 211;
        sleep(Duration::from_millis(moment));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        let said = Said::of(child.wait_with_output().unwrap());
        // No index names parts that are not there.
        assert!(!said.error.contains("taking the checkpoint before"), "{said:?}");
        match said.code {
            Some(0) => break,
            None => {}
            Some(_) => panic!("{said:?}"),
        }
    }
    println!("killed {kills} times");
    assert!(kills >= 3, "{kills}");
    assert!(sandbox.read("out.csv") == sandbox.read("whole.csv"));
    nothing_is_left(&server);
}

#[test]
fn an_interruption_leaves_what_is_whole() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (begun(), Proxy::of(&server));
    for at in [PART, INDEX] {
        let child = stuck(&sandbox, &proxy, 1, at);
        let sent = Instant::now();
        // SIGINT is ignored by what was started in the background.
        let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        let said = Said::of(child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(143), "{said:?}");
        assert!(said.error.contains("the run can --resume after round 2"), "{said:?}");
        assert!(sent.elapsed() < Duration::from_secs(5), "{:?}", sent.elapsed());
        assert_eq!(rounds(&server), (vec![1, 2], vec![1, 2]), "{at}");
        goes_on(&sandbox, &server, 1, 2);
    }
}

#[test]
fn a_state_that_cannot_be_written_leaves_those_before() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (begun(), Proxy::of(&server));
    let mpich = usize::from(Mpi::mpich().is_some());
    for (at, ranks) in [(PART, 1), (INDEX, 1), (INDEX, 1 + 2 * mpich)] {
        proxy.spoil(Spoil::Refused(at, "403 Forbidden", SECRET.into()));
        let line = format!("communities g.csv -o out.csv {SLPA} {KEPT}");
        let said = Said::of(output(&mut command(&sandbox, ranks, &line, &proxy.variables())));
        let parts = [
            "the state after round 3 could not be kept: ",
            "kept: s3://data/kept/round-0000000003.checkpoint: the server refuses access",
            "what was kept before stands",
        ];
        match ranks {
            1 => one_error(&said, 1, &parts),
            // MPICH may kill another rank before it ends by itself: its launcher says so, and has the code of the signal.
            _ => {
                assert!(said.code != Some(0), "{said:?}");
                assert!(parts.iter().all(|part| said.error.contains(part)), "{said:?}");
                assert_eq!(said.error.matches("error: ").count(), 1, "{said:?}");
            }
        }
        assert!(!said.error.contains(SECRET) && !said.error.contains(KEY), "{said:?}");
        assert_eq!(rounds(&server), (vec![1, 2], vec![1, 2]), "{at}");
        assert!(!sandbox.path("out.csv").exists());
        goes_on(&sandbox, &server, 1, 2);
        fs::remove_file(sandbox.path("out.csv")).unwrap();
    }
}

#[test]
fn damaged_checkpoints_and_those_of_other_runs() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (begun(), Proxy::of(&server));
    let mut child = stuck(&sandbox, &proxy, 1, INDEX);
    kill_all(&sandbox, &mut child);
    let line = format!("communities g.csv -o out.csv --resume {SLPA} {KEPT}");
    let variables = server.variables();
    let fails = |line: &str, parts: &[&str]| {
        run(&sandbox, line, &variables).must_fail(line, 2, parts);
    };
    let other = format!("{line} --seed 5");
    fails(
        &other,
        &["round-0000000002.checkpoint is a checkpoint of another run: seed: 0 there, 5"],
    );
    let begins = line.replace("--resume", "");
    fails(&begins, &["s3://data/kept/ has a checkpoint of a run, after round 2", "--resume"]);
    // The address of a folder may end in a slash or not.
    let begins = begins.replace("kept/ ", "kept ");
    fails(&begins, &["s3://data/kept has a checkpoint of a run, after round 2", "--resume"]);
    // What a killed run has left is gone.
    assert_eq!(rounds(&server), (vec![1, 2], vec![1, 2]));
    let objects = |round: u32| {
        let keys = server.objects("data", &format!("kept/round-{round:010}"));
        let whole = |key: String| (format!("data/{key}"), server.get(&format!("data/{key}")));
        keys.into_iter().map(whole).collect::<Vec<_>>()
    };
    let both = [objects(1), objects(2)];
    let [(index, _), (part, bytes)] = &both[1][..] else { panic!("{}", both[1].len()) };
    let mut flipped = bytes.clone();
    flipped[300] ^= 1;
    let damages: [(&str, &[u8], &str); 5] = [
        (part, &flipped, "the bytes up to"),
        (part, &bytes[1..], "bytes instead of"),
        (index, b"{}", "it is no index `ripplet-checkpoint` of version 1"),
        (index, b"\x89", "it is no index of a checkpoint"),
        (index, &[b' '; 10_000], "it is no index of a checkpoint"),
    ];
    for (address, damage, why) in damages {
        server.put(address, damage);
        let said = ok(&sandbox, &line, &variables);
        let note = "note: s3://data/kept/round-0000000002.checkpoint";
        for part in [note, why, "taking the checkpoint before", "going on after round 1"] {
            assert!(said.error.contains(part), "no `{part}` in {said:?}");
        }
        assert!(sandbox.read("out.csv") == sandbox.read("whole.csv"));
        nothing_is_left(&server);
        both.iter().flatten().for_each(|(address, bytes)| server.put(address, bytes));
    }
    // A part that is not there, and then none of both checkpoints.
    server.delete("data", "kept/round-0000000002.parts");
    server.delete("data", "kept/round-0000000001.parts");
    let parts =
        ["no checkpoint is whole: s3://data/kept/round-0000000002", "a part of it is not there"];
    fails(&line, &parts);
}

#[test]
fn a_folder_that_cannot_be_written_is_found_before_the_input_is_read() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (Sandbox::new(), Proxy::of(&server));
    let fails = |address: &str, variables: &[(&str, String)], code: i32, part: &str| {
        // The input does not exist: it is not looked at.
        let line = format!("communities none.csv -o o.csv --checkpoint {address} --resume");
        let said = run(&sandbox, &line, variables);
        said.must_fail(&line, code, &[part]);
        assert_eq!(said.error.matches("error: ").count(), 1, "{said:?}");
        assert_eq!(sandbox.names(), [""; 0]);
    };
    let variables = server.variables();
    for (address, part) in [
        ("s3://no-such-bucket/kept", "cannot write s3://no-such-bucket/kept: there is no such"),
        ("s3://data//kept", "the name has an empty part"),
        ("https://example.org/kept/", "a web server takes no outputs"),
        ("https://ann:word@example.org/kept", "https://example.org/kept: "),
        ("s4://data/kept", "no storage has the scheme s4://: expected s3://"),
    ] {
        fails(address, &variables, 2, part);
    }
    let twice = "communities none.csv -o s3://data/o.csv --checkpoint s3://data/o.csv";
    run(&sandbox, twice, &variables).must_fail(twice, 2, &["s3://data/o.csv is named twice"]);
    for request in ["GET /data?", "PUT /data/kept/", "DELETE /data/kept/"] {
        proxy.spoil(Spoil::Refused(request, "403 Forbidden", SECRET.into()));
        let variables = proxy.variables();
        let part = "cannot write s3://data/kept: the server refuses access";
        fails("s3://data/kept", &variables, 2, part);
        server.delete("data", "kept");
    }
    let mut away = server.variables();
    away.retain(|(name, _)| *name != "AWS_ENDPOINT_URL");
    away.push(("AWS_ENDPOINT_URL", "http://127.0.0.1:9".into()));
    fails("s3://data/kept", &away, 1, "the server cannot be reached");
    nothing_is_left(&server);
    // A run that fails later leaves nothing either, and an estimate keeps nothing.
    fails("s3://data/kept", &variables, 2, "none.csv");
    sandbox.write("g.csv", edges(300, 1));
    let line = "communities g.csv --estimate --device cpu --checkpoint s3://no-such-bucket/kept";
    ok(&sandbox, line, &variables);
    nothing_is_left(&server);
}
