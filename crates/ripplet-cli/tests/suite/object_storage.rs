//! Inputs in object storage: the bytes of local files, each rank its share, and a sentence for all that fails.

use crate::ranks::launcher;
use crate::s3::{KEY, Proxy, SECRET, Server, Spoil};
use crate::sandbox::{Said, Sandbox};
use ripplet_conformance::launcher::{Mpi, output};
use std::fs;
use std::time::{Duration, Instant};

/// Runs `ripplet` with these variables, and no others of a storage; nothing that it prints has a secret.
pub fn run(sandbox: &Sandbox, arguments: &str, variables: &[(&str, String)]) -> Said {
    let mut command = sandbox.command(arguments);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("AWS_")) {
            command.env_remove(name);
        }
    }
    let variables = variables.iter().map(|(name, value)| (*name, value.as_str()));
    let said = Said::of(command.envs(variables).output().unwrap());
    for text in [&said.out, &said.error] {
        assert!(!text.contains(SECRET) && !text.contains(KEY), "{said:?}");
    }
    said
}

#[track_caller]
pub fn ok(sandbox: &Sandbox, arguments: &str, variables: &[(&str, String)]) -> Said {
    let said = run(sandbox, arguments, variables);
    assert_eq!(said.code, Some(0), "{arguments}: {said:?}");
    said
}

/// Edges of groups with some edges between them, with weights: lines of about 20 bytes.
pub fn edges(count: u64, seed: u64) -> String {
    let mut text = String::from("source,target,weight\n");
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    for _ in 0..count {
        let group = next() % 400;
        let other = if next() % 10 == 0 { next() % 400 } else { group };
        let (a, b) = (100_000 + 50 * group + next() % 50, 100_000 + 50 * other + next() % 50);
        text += &format!("{a},{b},{}\n", 1 + next() % 9);
    }
    text
}

/// The bytes that `--verbose` says were received.
fn received(said: &Said) -> u64 {
    let line = said.error.lines().find(|line| line.contains("bytes from object storage"));
    let line = line.unwrap_or_else(|| panic!("{said:?}"));
    line.split_whitespace().find_map(|word| word.parse().ok()).unwrap()
}

#[test]
fn the_bytes_are_those_of_local_files() {
    let Some(server) = Server::start() else { return };
    let sandbox = Sandbox::new();
    for (name, seed) in [("days/a.csv", 1), ("days/b.csv", 2), ("days/c.csv", 3)] {
        sandbox.write(name, edges(4000, seed));
    }
    sandbox.write("days/skipped.txt", "no table of edges\n");
    sandbox.ok("convert days/a.csv a.csv.gz --weighted");
    sandbox.ok("convert days/a.csv a.rg --weighted");
    sandbox.ok("convert days/a.csv a.rgz --weighted");
    sandbox.ok("convert days/a.csv a.graphml --weighted");
    for day in ["a", "b", "c"] {
        for format in ["parquet", "arrow"] {
            sandbox.ok(&format!("convert days/{day}.csv {day}.{format} --weighted"));
        }
    }
    let names = [
        "days/a.csv",
        "days/b.csv",
        "days/c.csv",
        "days/skipped.txt",
        "a.csv.gz",
        "a.rg",
        "a.rgz",
        "a.graphml",
        "a.parquet",
        "b.parquet",
        "c.parquet",
        "a.arrow",
    ];
    for name in names {
        server.put(&format!("data/in/{name}"), &fs::read(sandbox.path(name)).unwrap());
    }
    let variables = server.variables();
    for input in [
        "days/a.csv",
        "days/*.csv",
        "a.csv.gz",
        "a.rg",
        "a.rgz",
        "a.graphml",
        "a.parquet",
        "?.parquet",
        "a.arrow",
    ] {
        sandbox.ok(&format!("communities {input} --weighted -o local.tsv"));
        let run = format!("communities s3://data/in/{input} --weighted -o remote.tsv --verbose");
        let said = ok(&sandbox, &run, &variables);
        assert_eq!(sandbox.read("remote.tsv"), sandbox.read("local.tsv"), "{input}");
        let bytes = received(&said);
        let of_files: u64 = match input {
            "days/*.csv" => ["a", "b", "c"].map(|day| format!("days/{day}.csv")).to_vec(),
            "?.parquet" => ["a", "b", "c"].map(|day| format!("{day}.parquet")).to_vec(),
            one => vec![one.into()],
        }
        .iter()
        .map(|name| fs::metadata(sandbox.path(name)).unwrap().len())
        .sum();
        // A footer may be requested twice, and then with its columns.
        assert!(bytes <= of_files + 3 * (1 << 16), "{input}: {bytes} of {of_files}");
    }
    // The same server, as a web server without keys.
    for input in ["days/a.csv", "a.parquet"] {
        sandbox.ok(&format!("communities {input} -o local.tsv"));
        let address = server.address();
        ok(&sandbox, &format!("communities {address}/data/in/{input} -o remote.tsv"), &[]);
        assert_eq!(sandbox.read("remote.tsv"), sandbox.read("local.tsv"), "{input}");
    }
    // Other commands, and another input than the graph.
    let remote = ok(&sandbox, "info s3://data/in/a.rg", &variables).out;
    assert_eq!(remote.replace("s3://data/in/", ""), sandbox.ok("info a.rg"));
    sandbox.ok("pagerank days/b.csv -o local.tsv");
    ok(&sandbox, "pagerank s3://data/in/days/b.csv -o remote.tsv", &variables);
    assert_eq!(sandbox.read("remote.tsv"), sandbox.read("local.tsv"));
    ok(&sandbox, "convert s3://data/in/?.parquet remote.rg", &variables);
    sandbox.ok("convert ?.parquet local.rg");
    assert_eq!(
        fs::read(sandbox.path("remote.rg")).unwrap(),
        fs::read(sandbox.path("local.rg")).unwrap()
    );
    let first = sandbox.read("days/a.csv").lines().nth(1).unwrap().replace(',', "\n");
    let fixed = first.lines().next().unwrap().to_owned() + "\n";
    server.put("data/in/fixed.txt", fixed.as_bytes());
    sandbox.write("fixed.txt", fixed);
    sandbox.ok("pagerank days/a.csv --personalize fixed.txt -o local.tsv");
    let run = "pagerank s3://data/in/days/a.csv --personalize s3://data/in/fixed.txt -o remote.tsv";
    ok(&sandbox, run, &variables);
    assert_eq!(sandbox.read("remote.tsv"), sandbox.read("local.tsv"));
}

#[test]
fn each_rank_requests_its_share() {
    let Some(server) = Server::start() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("all.csv", edges(200_000, 5));
    let size = fs::metadata(sandbox.path("all.csv")).unwrap().len();
    for (name, seed) in [("a.csv", 1), ("b.csv", 2), ("c.csv", 3)] {
        sandbox.write(name, edges(30_000, seed));
        sandbox.ok(&format!("convert {name} {}", name.replace("csv", "parquet")));
    }
    // Large enough that parts are several blocks of a mebibyte.
    sandbox.ok("generate web --scale 17 -o all.rg");
    for name in ["all.csv", "a.parquet", "b.parquet", "c.parquet", "all.rg"] {
        server.put(&format!("data/{name}"), &fs::read(sandbox.path(name)).unwrap());
    }
    for input in ["all.csv", "?.parquet", "all.rg"] {
        sandbox.ok(&format!("communities {input} --threads 1 -o local.tsv"));
        for mpi in Mpi::all() {
            for &ranks in if mpi.is_open_mpi() { &[2][..] } else { &[2, 3] } {
                let mut command = launcher(&mpi, &sandbox);
                command.envs(server.variables());
                command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_ripplet")]);
                let run = format!(
                    "communities s3://data/{input} --threads 1 --stats s.json -o remote.tsv"
                );
                let said = Said::of(output(command.args(run.split_whitespace())));
                assert_eq!(said.code, Some(0), "{said:?}");
                assert_eq!(sandbox.read("remote.tsv"), sandbox.read("local.tsv"), "{input}");
                let fetched = &sandbox.json("s.json")["ranks"]["fetched"];
                let fetched: Vec<u64> =
                    fetched.as_array().unwrap().iter().map(|of| of.as_u64().unwrap()).collect();
                assert_eq!(fetched.len(), ranks);
                if input == "all.csv" {
                    // The head, of which requests of 64 and 256 KiB were made, and the lines at both ends.
                    let most = size / ranks as u64 + 8 * (64 << 10);
                    assert!(fetched.iter().all(|&of| of <= most), "{fetched:?} of {size}");
                }
                if input == "all.rg" {
                    let size = fs::metadata(sandbox.path("all.rg")).unwrap().len();
                    let most = size / ranks as u64 + (4 << 20);
                    assert!(fetched.iter().all(|&of| of <= most), "{fetched:?} of {size}");
                }
                if input == "?.parquet" {
                    // Each row group once, and the ends of files of which a rank has a share.
                    let size = |name| fs::metadata(sandbox.path(name)).unwrap().len();
                    let size: u64 = ["a.parquet", "b.parquet", "c.parquet"].map(size).iter().sum();
                    let most = size + 6 * (64 << 10);
                    assert!(fetched.iter().sum::<u64>() <= most, "{fetched:?} of {size}");
                }
            }
        }
    }
}

#[test]
fn what_fails_is_a_sentence() {
    let Some(server) = Server::start() else { return };
    let sandbox = Sandbox::new();
    let text = edges(3000, 1);
    server.put("data/a.csv", text.as_bytes());
    server.put("data/folder/b.csv", text.as_bytes());
    let variables = server.variables();
    let fails = |arguments: &str, variables: &[(&str, String)], code: i32, parts: &[&str]| {
        let before = sandbox.names();
        let said = run(&sandbox, arguments, variables);
        said.must_fail(arguments, code, parts);
        let errors = said.error.lines().filter(|line| line.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{said:?}");
        assert_eq!(sandbox.names(), before, "{arguments} leaves files");
    };
    let name = ["check the name, and AWS_ENDPOINT_URL"];
    for input in ["s3://data/no.csv", "s3://no-such-bucket/a.csv", "s3://no-such-bucket/*.csv"] {
        let parts = [&[input, ": there is no such object or bucket"][..], &name].concat();
        fails(&format!("communities {input} -o o.tsv"), &variables, 2, &parts);
    }
    for (input, part) in [
        ("s3://data/x*.csv", "s3://data/x*.csv: no object has such a name"),
        ("s3://data/*", "s3://data/folder: it is a folder, and a pattern names files"),
        ("s3://data/folder/", "a folder or a bucket is not read from object storage"),
        ("s3://data", "a folder or a bucket is not read from object storage"),
        ("s3://data//a.csv", "the name has an empty part"),
        ("s3://data/[.csv", "it is not a pattern"),
        ("https://example.org/*.csv", "a web server has no list of its files: name each of them"),
        ("s4://data/a.csv", "no storage has the scheme s4://: expected s3://"),
        ("file:///data/a.csv", "a file on a disk is named by its path: /data/a.csv"),
        (
            "https://ann:word@example.org/a.csv",
            "https://example.org/a.csv: an address with a password",
        ),
        (
            "https://example.org/a.csv?sig=word",
            "https://example.org/a.csv: an address with a password",
        ),
    ] {
        fails(&format!("communities {input} -o o.tsv"), &variables, 2, &[part]);
    }
    let with = |name: &'static str, value: &str| {
        let mut variables = server.variables();
        variables.retain(|(other, _)| *other != name);
        if !value.is_empty() {
            variables.push((name, value.into()));
        }
        variables
    };
    let run = "communities s3://data/a.csv -o o.tsv";
    let mut missing = with("AWS_ACCESS_KEY_ID", "");
    missing.retain(|(name, _)| *name != "AWS_SECRET_ACCESS_KEY");
    missing.push(("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9".into()));
    let half = with("AWS_SECRET_ACCESS_KEY", "");
    let open = with("AWS_ENDPOINT_URL", "http://storage.example.org");
    let away = with("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
    fails(run, &half, 2, &["do not fit together: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"]);
    fails(
        run,
        &open,
        2,
        &["AWS_ENDPOINT_URL is not encrypted, and on another machine", "AWS_ALLOW_HTTP=true"],
    );
    let fails = &fails;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            fails(run, &missing, 2, &["there are no credentials: set AWS_ACCESS_KEY_ID"]);
        });
        scope.spawn(|| {
            let begun = Instant::now();
            fails(
                run,
                &away,
                1,
                &["the server cannot be reached: check the name, and AWS_ENDPOINT_URL"],
            );
            assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
        });
        scope.spawn(|| {
            let proxy = Proxy::of(&server);
            proxy.spoil(Spoil::Silence);
            let mut variables = proxy.variables();
            variables.push(("AWS_TIMEOUT", "500ms".into()));
            fails(run, &variables, 1, &["the server does not answer in time"]);
        });
        scope.spawn(|| {
            let proxy = Proxy::of(&server);
            proxy.spoil(Spoil::Answer(
                "500 Internal Server Error",
                format!("<Code>InternalError</Code>{SECRET}"),
            ));
            fails(
                "communities s3://data/*.csv -o o.tsv",
                &proxy.variables(),
                1,
                &["the server failed with status 500 (InternalError): try again later"],
            );
        });
    });
}

#[test]
fn an_object_that_changes_or_ends_too_soon_is_an_error() {
    let Some(server) = Server::start() else { return };
    let (sandbox, proxy) = (Sandbox::new(), Proxy::of(&server));
    let text = edges(3000, 1);
    sandbox.write("a.csv", &text);
    sandbox.ok("communities a.csv -o local.tsv");
    sandbox.ok("convert a.csv a.rg");
    sandbox.ok("convert a.csv a.parquet");
    for name in ["a.csv", "a.rg", "a.parquet"] {
        server.put(&format!("data/{name}"), &fs::read(sandbox.path(name)).unwrap());
    }
    let variables = proxy.variables();
    // An answer that ends too soon is requested again, from where it ended.
    proxy.spoil(Spoil::CutShort(2));
    ok(&sandbox, "communities s3://data/a.csv -o remote.tsv", &variables);
    assert_eq!(sandbox.read("remote.tsv"), sandbox.read("local.tsv"));
    let ranges = proxy.requests().iter().filter(|line| line.contains("bytes=")).count();
    assert_eq!(ranges, 3, "{:?}", proxy.requests());
    for name in ["a.csv", "a.rg", "a.parquet"] {
        let run = format!("communities s3://data/{name} -o o.tsv");
        let said = |how: Spoil, code: i32, part: &str| {
            proxy.spoil(how);
            let said = self::run(&sandbox, &run, &variables);
            said.must_fail(&run, code, &[&format!("s3://data/{name}: {part}")]);
        };
        let part =
            "the object changed while it was read: run it again once it is no longer written";
        said(Spoil::OtherTag, 1, part);
        let (other, path) = (edges(3000, 2), format!("data/{name}"));
        said(Spoil::Replace(Box::leak(path.clone().into_boxed_str()), other.into_bytes()), 1, part);
        server.put(&path, &fs::read(sandbox.path(name)).unwrap());
        // The first request is for the head, whose answer has no body, and so no code.
        let part = "the server refuses access: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
        said(Spoil::Answer("403 Forbidden", String::new()), 2, part);
    }
    proxy.spoil(Spoil::Answer(
        "403 Forbidden",
        format!("<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>{KEY}</AWSAccessKeyId>{SECRET}</Error>"),
    ));
    let run = "communities s3://data/*.csv -o o.tsv";
    let part =
        "s3://data/*.csv: the server refuses access (SignatureDoesNotMatch): set AWS_ACCESS_KEY_ID";
    self::run(&sandbox, run, &variables).must_fail(run, 2, &[part]);
    // Bodies that always end too soon.
    proxy.spoil(Spoil::CutShort(usize::MAX));
    server.put("data/long.csv", edges(100_000, 3).as_bytes());
    let run = "communities s3://data/long.csv -o o.tsv";
    let part = "the connection to the server ended in the middle of an answer: try again later";
    self::run(&sandbox, run, &variables).must_fail(run, 1, &[part]);
}
