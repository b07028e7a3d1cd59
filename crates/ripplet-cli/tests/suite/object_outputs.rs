//! Outputs in object storage: the bytes of local files, and nothing of an output that is not whole.

use crate::object_storage::{edges, ok, run};
use crate::ranks::{launcher, one_error};
use crate::s3::{Proxy, SECRET, Server, Spoil};
use crate::sandbox::{Said, Sandbox};
use ripplet_conformance::launcher::{Mpi, output};
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The rows of a table in parts as text, under one header.
fn joined(server: &Server, prefix: &str) -> String {
    let manifest = server.get(&format!("{prefix}manifest.json"));
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let mut all = String::new();
    for part in manifest["parts"].as_array().unwrap() {
        let text = server.get(&format!("{prefix}{}", part["name"].as_str().unwrap()));
        assert_eq!(part["bytes"].as_u64(), Some(text.len() as u64));
        let text = String::from_utf8(text).unwrap();
        let (header, rows) = text.split_once('\n').unwrap();
        if all.is_empty() {
            all = format!("{header}\n");
        }
        all += rows;
    }
    all
}

#[test]
fn the_bytes_are_those_of_local_files() {
    let Some(server) = Server::start() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("g.csv", edges(4000, 1));
    let variables = server.variables();
    for name in ["o.tsv", "o.csv.gz", "o.parquet", "o.arrow", "o.graphml"] {
        sandbox.ok(&format!("communities g.csv --weighted -o {name}"));
        let run = format!("communities g.csv --weighted -o s3://data/out/{name}");
        let said = ok(&sandbox, &run, &variables);
        assert!(said.error.contains(&format!("; see s3://data/out/{name}")), "{said:?}");
        let local = fs::read(sandbox.path(name)).unwrap();
        assert!(server.get(&format!("data/out/{name}")) == local, "{name}");
    }
    // An object that is there is replaced, as a file is.
    ok(&sandbox, "communities g.csv --names number -o s3://data/out/o.tsv", &variables);
    sandbox.ok("communities g.csv --names number -o o.tsv");
    assert!(server.get("data/out/o.tsv") == fs::read(sandbox.path("o.tsv")).unwrap());
    for (remote, local) in [
        ("pagerank g.csv -o s3://data/x/a.csv", "pagerank g.csv -o a.csv"),
        ("lcc g.csv -o s3://data/x/a.csv", "lcc g.csv -o a.csv"),
        (
            "quality g.csv o.csv.gz --per-community s3://data/x/a.csv",
            "quality g.csv o.csv.gz --per-community a.csv",
        ),
        (
            "communities g.csv --refine modularity -o b.csv --levels s3://data/x/a.csv",
            "communities g.csv --refine modularity -o b.csv --levels a.csv",
        ),
    ] {
        ok(&sandbox, remote, &variables);
        sandbox.ok(local);
        let local = fs::read(sandbox.path("a.csv")).unwrap();
        assert!(server.get("data/x/a.csv") == local, "{remote}");
    }
    ok(&sandbox, "communities g.csv -o b.csv --stats s3://data/x/s.json", &variables);
    let stats: serde_json::Value = serde_json::from_slice(&server.get("data/x/s.json")).unwrap();
    assert!(stats["modularity"].is_number());
    assert_eq!(server.uploads("data"), 0);
}

#[test]
fn parts_come_first_and_the_manifest_last() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (Sandbox::new(), Proxy::of(&server));
    sandbox.write("g.csv", edges(4000, 1));
    sandbox.ok("communities g.csv -o one.csv");
    sandbox.ok("communities g.csv -o out/");
    let variables = proxy.variables();
    ok(&sandbox, "communities g.csv -o s3://data/out/", &variables);
    assert_eq!(server.objects("data", "out/"), ["out/manifest.json", "out/part-00000.parquet"]);
    for name in ["manifest.json", "part-00000.parquet"] {
        let local = fs::read(sandbox.path("out").join(name)).unwrap();
        assert!(server.get(&format!("data/out/{name}")) == local, "{name}");
    }
    let requests = proxy.requests();
    let at = |part: &str| {
        requests.iter().rposition(|line| line.starts_with("PUT") && line.contains(part))
    };
    assert!(at("manifest.json") > at("part-00000"), "{requests:?}");
    let expected = sandbox.ok("quality g.csv one.csv");
    for labels in ["s3://data/out/", "s3://data/out/part-*.parquet"] {
        let said = ok(&sandbox, &format!("quality g.csv {labels}"), &variables);
        assert_eq!(said.out, expected, "{labels}");
    }
    for mpi in Mpi::all() {
        for &ranks in if mpi.is_open_mpi() { &[2][..] } else { &[1, 2, 3] } {
            let mut command = launcher(&mpi, &sandbox);
            command.envs(server.variables());
            command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_ripplet")]);
            let run = format!("communities g.csv -o s3://data/{ranks}/ --to csv --ranks mpi");
            let said = Said::of(output(command.args(run.split_whitespace())));
            assert_eq!(said.code, Some(0), "{said:?}");
            let prefix = format!("{ranks}/");
            assert_eq!(server.objects("data", &prefix).len(), ranks + 1);
            assert_eq!(joined(&server, &format!("data/{prefix}")), sandbox.read("one.csv"));
            let said = Said::of(output(&mut command));
            one_error(&said, 2, &["objects of this prefix exist already: choose another name"]);
            server.delete("data", &prefix);
        }
    }
    assert_eq!(server.uploads("data"), 0);
}

#[test]
fn what_cannot_be_written_is_found_before_the_work() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (Sandbox::new(), Proxy::of(&server));
    sandbox.write("g.csv", edges(300, 1));
    server.put("data/full/x", b"x");
    let variables = server.variables();
    let fails = |arguments: &str, variables: &[(&str, String)], code: i32, parts: &[&str]| {
        let before = sandbox.names();
        let said = run(&sandbox, arguments, variables);
        said.must_fail(arguments, code, parts);
        let errors = said.error.lines().filter(|line| line.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{said:?}");
        assert_eq!(sandbox.names(), before, "{arguments} leaves files");
    };
    for (out, part) in [
        ("s3://no-such-bucket/o.tsv", "s3://no-such-bucket/o.tsv: there is no such bucket"),
        ("s3://no-such-bucket/out/", "s3://no-such-bucket/out/: there is no such bucket"),
        ("s3://data", "s3://data: "),
        ("s3://data//o.tsv", "the name has an empty part"),
        ("s3://data/full/", "s3://data/full/: objects of this prefix exist already"),
        ("https://example.org/o.tsv", "a web server takes no outputs: name a path"),
        ("https://example.org/out/", "a web server takes no outputs: name a path"),
        ("https://ann:word@example.org/o.tsv", "https://example.org/o.tsv: "),
        ("s4://data/o.tsv", "no storage has the scheme s4://: expected s3://"),
        ("file:///data/o.tsv", "a file on a disk is named by its path: /data/o.tsv"),
        ("s3://data/new/ --to gexf", "gexf is a whole graph"),
    ] {
        // The input does not exist: it is not looked at.
        fails(&format!("communities none.csv -o {out}"), &variables, 2, &[part]);
    }
    for run in [
        "convert g.csv s3://data/a.rg",
        "convert g.csv s3://data/a.csv",
        "generate road -o s3://data/a.rg",
        "man -o s3://data/man",
    ] {
        fails(run, &variables, 2, &["on a disk, not behind s3://"]);
    }
    let refused = format!("<Error><Code>AccessDenied</Code>{SECRET}</Error>");
    proxy.spoil(Spoil::Answer("403 Forbidden", refused));
    for out in ["s3://data/o.tsv", "s3://data/out/"] {
        let parts =
            ["the server refuses access (AccessDenied): set AWS_ACCESS_KEY_ID", "who may write it"];
        let parts = if out.ends_with('/') { &parts[1..] } else { &parts[..] };
        fails(&format!("communities none.csv -o {out}"), &proxy.variables(), 2, parts);
    }
    let mut away = server.variables();
    away.retain(|(name, _)| *name != "AWS_ENDPOINT_URL");
    away.push(("AWS_ENDPOINT_URL", "http://127.0.0.1:9".into()));
    fails("communities none.csv -o s3://data/o.tsv", &away, 1, &["the server cannot be reached"]);
    assert_eq!((server.objects("data", "").len(), server.uploads("data")), (1, 0));
}

/// A graph whose output takes several parts of an upload.
fn large(sandbox: &Sandbox) -> &'static str {
    sandbox.ok("generate road --scale 21 -o g.rg");
    "pagerank g.rg --iterations 2 --quiet -o s3://data/large.csv"
}

#[test]
fn a_large_output_is_uploaded_in_parts_and_aborted_if_one_fails() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (Sandbox::new(), Proxy::of(&server));
    let (run, variables) = (large(&sandbox), proxy.variables());
    sandbox.ok("pagerank g.rg --iterations 2 -o local.csv");
    ok(&sandbox, run, &variables);
    let local = fs::read(sandbox.path("local.csv")).unwrap();
    assert!(local.len() > 3 * (16 << 20), "{} bytes are few parts", local.len());
    assert!(server.get("data/large.csv") == local);
    let parts =
        |proxy: &Proxy| proxy.requests().iter().filter(|line| line.contains("partNumber=")).count();
    assert_eq!(parts(&proxy), local.len().div_ceil(16 << 20));
    assert_eq!(server.uploads("data"), 0);
    server.delete("data", "");
    // A part that the server refuses.
    proxy.spoil(Spoil::Parts("403 Forbidden"));
    let said = self::run(&sandbox, run, &variables);
    let sentence = "cannot write s3://data/large.csv: the server refuses access";
    said.must_fail(run, 1, &[sentence, "no object of it appeared"]);
    assert_eq!((server.objects("data", "").len(), server.uploads("data")), (0, 0));
    // The server is gone from the first part on: it cannot abort the upload.
    proxy.spoil(Spoil::AwayAtParts);
    let said = self::run(&sandbox, run, &variables);
    said.must_fail(
        run,
        1,
        &["cannot write s3://data/large.csv", "could not be asked to remove the parts"],
    );
    assert_eq!(server.objects("data", "").len(), 0);
}

#[test]
fn an_interruption_aborts_the_upload() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (Sandbox::new(), Proxy::of(&server));
    let run = large(&sandbox);
    for out in ["s3://data/large.csv", "s3://data/large/ --to csv"] {
        proxy.spoil(Spoil::SilentParts);
        let run = match out.ends_with("csv") && !out.contains(' ') {
            true => run.to_owned(),
            false => format!("communities g.rg --iterations 1 --quiet -o {out}"),
        };
        let mut command = sandbox.command(&run);
        command.envs(proxy.variables()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let begun = Instant::now();
        while !proxy.requests().iter().any(|line| line.contains("partNumber=")) {
            assert!(begun.elapsed() < Duration::from_secs(120), "no part is sent");
            sleep(Duration::from_millis(10));
        }
        assert_eq!(server.uploads("data"), 1);
        let sent = Instant::now();
        // SIGINT is ignored by what was started in the background.
        let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        let said = Said::of(child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(143), "{said:?}");
        assert!(said.error.contains("interrupted; nothing was written"), "{said:?}");
        assert!(sent.elapsed() < Duration::from_secs(5), "{:?}", sent.elapsed());
        assert_eq!((server.objects("data", "").len(), server.uploads("data")), (0, 0), "{out}");
    }
}

#[test]
fn ranks_that_fail_leave_no_objects() {
    let Some(server) = Server::start() else { return };
    let Some(mpi) = Mpi::mpich() else { return };
    let (sandbox, proxy) = (Sandbox::new(), Proxy::of(&server));
    sandbox.write("g.csv", edges(4000, 1));
    // The part of rank 2, or the manifest, is refused when the others are there.
    for refused in ["out/part-00002.csv", "out/manifest.json"] {
        proxy.spoil(Spoil::Object(refused, "403 Forbidden"));
        let mut command = launcher(&mpi, &sandbox);
        command.envs(proxy.variables()).args(["-n", "3", env!("CARGO_BIN_EXE_ripplet")]);
        let run = "communities g.csv --threads 1 -o s3://data/out/ --to csv";
        let said = Said::of(output(command.args(run.split_whitespace())));
        one_error(
            &said,
            1,
            &["error: rank ", "cannot write s3://data/out/", "the server refuses access"],
        );
        assert_eq!(server.objects("data", ""), [""; 0], "{refused}");
        assert_eq!(server.uploads("data"), 0);
    }
}
