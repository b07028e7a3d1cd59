//! Usual sequences of commands: generate, find, measure, convert, info.

use crate::sandbox::{Sandbox, data};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Two triangles with one edge between them.
const TRIANGLES: &str = "# comment\n1 2\n2 3\n3 1\n4 5\n5 6\n6 4\n3 4\n";

#[test]
fn communities_of_a_small_graph() {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES)]);
    let said = sandbox.run("communities graph.txt -o out.txt --device cpu");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(sandbox.read("out.txt"), "1 1\n2 1\n3 1\n4 4\n5 4\n6 4\n");
    assert_eq!(said.out, "");
    assert_eq!(said.error.lines().count(), 2, "{said:?}");
    for part in [
        "read 7 edges",
        "no header",
        "2 communities",
        "modularity 0.3571",
        "rounds",
        "fixpoint",
        "out.txt",
    ] {
        assert!(said.error.contains(part), "{part} in {said:?}");
    }
    let quiet = sandbox.run("communities graph.txt -o out.csv --names number --quiet");
    assert_eq!((quiet.out.as_str(), quiet.error.as_str()), ("", ""));
    assert_eq!(sandbox.read("out.csv"), "id,community\n1,0\n2,0\n3,0\n4,1\n5,1\n6,1\n");
}

#[test]
fn the_graph_of_the_readme() {
    let sandbox = Sandbox::new();
    let graph = data("../examples/graphs/pgp.graph").display().to_string();
    sandbox.ok(&format!("communities {graph} -o communities.tsv"));
    let text = sandbox.read("communities.tsv");
    assert_eq!(text.lines().next(), Some("id\tcommunity"));
    assert_eq!(text.lines().count(), 1 + 10_680);
    let quality = sandbox.ok(&format!("quality {graph} communities.tsv"));
    let quality: Value = serde_json::from_str(&quality).unwrap();
    assert!(quality["modularity"].as_f64().unwrap() > 0.7, "{quality}");
    assert_eq!(quality["disconnected"], 0);
}

#[test]
fn standard_input_and_output() {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES)]);
    let file = std::fs::File::open(sandbox.path("graph.txt")).unwrap();
    let output = sandbox.command("communities - -o -").stdin(file).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"1 1\n2 1\n3 1\n4 4\n5 4\n6 4\n");
}

#[test]
fn from_a_generator_to_a_judgement() {
    let sandbox = Sandbox::new();
    let planted = "generate planted --vertices 2000 --edges 20000 --mixing 0.2 --seed 3";
    sandbox.ok(&format!("{planted} -o planted.rg --truth truth.txt"));
    sandbox.ok("communities planted.rg -o out.parquet --stats stats.json");
    let quality: Value =
        serde_json::from_str(&sandbox.ok("quality planted.rg out.parquet --truth truth.txt"))
            .unwrap();
    let stats = sandbox.json("stats.json");
    assert!(quality["nmi"].as_f64().unwrap() > 0.95, "{quality}");
    assert!(quality["ari"].as_f64().unwrap() > 0.8, "{quality}");
    assert_eq!(quality["disconnected"], 0);
    assert_eq!(quality["communities"], stats["communities"]);
    assert_eq!(quality["modularity"], stats["modularity"]);
    let other: Value =
        serde_json::from_str(&sandbox.ok("quality planted.rg truth.txt --resolution 0")).unwrap();
    assert_eq!(other["modularity"], other["coverage"]);
}

#[test]
fn every_generator_writes_the_same_graph_again() {
    let sandbox = Sandbox::new();
    for (name, flags) in [
        ("planted", "--vertices 500 --edges 3000 --min-size 25 --max-size 60 --max-degree 40"),
        ("web", "--scale 9 --edge-factor 4 --inside 0.8 --min-block 8 --max-block 64"),
        ("social", "--scale 9 --hub-exponent 2.2 --block-exponent 2.5"),
        ("road", "--rows 20 --columns 30 --removed 0.3"),
        ("rmat", "--scale 9 --edge-factor 8 --quadrants 0.5,0.2,0.2"),
    ] {
        sandbox.ok(&format!("generate {name} {flags} --seed 5 -o {name}.el --threads 1"));
        sandbox.ok(&format!("generate {name} {flags} --seed 5 -o again.el.gz --threads 7"));
        sandbox.ok(&format!("generate {name} {flags} --seed 6 -o other.el"));
        sandbox.ok("convert again.el.gz again.el");
        assert_eq!(sandbox.read("again.el"), sandbox.read(&format!("{name}.el")), "{name}");
        assert_ne!(sandbox.read("other.el"), sandbox.read(&format!("{name}.el")), "{name}");
    }
}

#[test]
fn swarms_are_the_same_on_any_number_of_threads() {
    let sandbox = Sandbox::new();
    let swarm = "generate swarm --graphs 300 --seed 5";
    let said = sandbox.run(&format!("{swarm} -o a.swarm --threads 1"));
    assert!(said.error.contains("300 graphs, "), "{said:?}");
    sandbox.ok(&format!("{swarm} -o b.swarm --threads 7"));
    sandbox.ok("generate swarm --graphs 300 --seed 6 -o c.swarm");
    sandbox.ok("generate swarm --graphs 0 -o none.swarm");
    let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    assert!(bytes("a.swarm") == bytes("b.swarm") && bytes("a.swarm") != bytes("c.swarm"));
}

#[test]
fn transactions_as_a_graph_and_as_a_table() {
    let sandbox = Sandbox::new();
    let generate = "generate transactions --days 12 --scale 0.00002 --ring-share 0.1 --seed 3";
    let places = "--truth truth.csv --seeds seeds.txt --known 0.3";
    let said = sandbox.run(&format!("{generate} -o a.rg {places} --threads 1"));
    assert!(said.error.contains("vertices, ") && said.error.contains(" in 1 shard"), "{said:?}");
    sandbox.ok(&format!("{generate} -o b.rg --shard-arcs 20000 --threads 7"));
    sandbox.ok(&format!("{generate} -o b.rgz --shard-arcs 20000 --threads 3"));
    sandbox.ok(&format!("{generate} -o plain.rg --no-weights"));
    sandbox.ok(&format!("{generate} -o whole.txt"));
    sandbox.ok(&format!("{generate} -o sales.csv --threads 1"));
    sandbox.ok(&format!("{generate} -o sales.csv.gz --threads 7"));
    sandbox.ok(&format!("{generate} -o sales.parquet"));

    // One graph, whatever its shards; its edges are the table's, times and all.
    let edges = |file: &str| {
        sandbox.ok(&format!("convert {file} edges.txt --weighted"));
        sandbox.read("edges.txt")
    };
    let graph = edges("a.rg");
    assert_eq!(edges("b.rg"), graph);
    assert_eq!(edges("whole.txt"), graph);
    let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    sandbox.ok("convert b.rg compressed.rgz");
    assert!(bytes("b.rgz") == bytes("compressed.rgz"));
    sandbox.ok("convert b.rgz plain_again.rg");
    assert!(bytes("b.rg") == bytes("plain_again.rg"));
    sandbox.ok("convert plain.rg plain.txt");
    assert!(sandbox.read("plain.txt").lines().count() == graph.lines().count());
    let mut times = BTreeMap::new();
    let sales = sandbox.read("sales.csv");
    let (header, rows) = sales.split_once('\n').unwrap();
    assert_eq!(header, "source,target,day,amount");
    for row in rows.lines() {
        let [source, target, day, amount] = row.split(',').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        assert!((1..=12).contains(&day.parse::<u32>().unwrap()));
        assert!(amount.parse::<f64>().unwrap() >= 1.0);
        let pair = (source.parse::<u32>().unwrap(), target.parse::<u32>().unwrap());
        *times.entry(pair).or_insert(0) += 1;
    }
    let expected =
        times.iter().map(|((source, target), times)| format!("{source} {target} {times}"));
    let found = graph.lines().filter(|line| !line.starts_with('#'));
    assert!(found.eq(expected), "the graph is not of its sales");
    sandbox.ok("convert sales.csv.gz from_gz.txt");
    sandbox.ok("convert sales.parquet from_parquet.txt");
    assert!(sandbox.read("from_gz.txt") == sandbox.read("plain.txt"));
    assert!(sandbox.read("from_parquet.txt") == sandbox.read("plain.txt"));

    // Labels that spread from the known members meet the others.
    let truth = sandbox.read("truth.csv");
    let seeded = "communities a.rg --weighted --program seeded --seeds seeds.txt --iterations 1";
    sandbox.ok(&format!("{seeded} -o found.csv"));
    // Without the strengths.
    let row = |line: &str| line.splitn(3, ',').take(2).collect::<Vec<_>>().join(",");
    let rows = |text: &str| -> BTreeSet<String> { text.lines().skip(1).map(row).collect() };
    let (truth, found) = (rows(&truth), rows(&sandbox.read("found.csv")));
    let right = found.intersection(&truth).count();
    assert!(3 * right > truth.len(), "{right} of {} members", truth.len());
}

#[test]
fn truth_fits_the_graph_even_where_the_format_drops_vertices() {
    let sandbox = Sandbox::new();
    // One link a vertex, most of them to a hub: some draw nothing but themselves.
    let web = "generate web --scale 12 --edge-factor 1 --inside 0 --hub-exponent 2.01";
    let said = sandbox.run(&format!("{web} -o web.el --truth truth.txt"));
    assert_eq!(said.code, Some(0), "{said:?}");
    sandbox.ok(&format!("{web} -o web.rg --truth all.txt"));
    assert_eq!(sandbox.read("all.txt").lines().count(), 4096);
    sandbox.ok("communities web.el -o out.txt");
    sandbox.ok("quality web.el out.txt --truth truth.txt");
    sandbox.ok("quality web.rg all.txt");
    let left_out = 4096 - sandbox.read("truth.txt").lines().count();
    let note = format!("{left_out} vertices without edges are not in web.el");
    assert_eq!(said.error.contains(&note), left_out > 0, "{said:?}");
}

#[test]
fn conversions_keep_the_graph() {
    let sandbox = Sandbox::with([("a.txt", "10 20 0.5\n20 30 2\n30 10 1\n30 40 0.25\n20 10 1\n")]);
    let labels = |input: &str, flags: &str| {
        sandbox.ok(&format!("communities {input} -o out.txt {flags}"));
        sandbox.read("out.txt")
    };
    for flags in ["", "--weighted", "--directed", "--directed --weighted"] {
        let expected = labels("a.txt", flags);
        for name in ["b.rg", "b.csv", "b.tsv.gz", "b.el.zst", "b.parquet", "b.arrow", "b.e"] {
            sandbox.ok(&format!("convert a.txt {name} {flags}"));
            assert_eq!(labels(name, flags), expected, "{name} {flags}");
        }
    }
    sandbox.ok("convert a.txt b --to csv");
    assert_eq!(sandbox.ok("convert b - --from csv"), "10 20\n10 30\n20 30\n30 40\n");
}

#[test]
fn info_tells_what_is_there() {
    let sandbox = Sandbox::with([("a.csv", "from,to\nx,y\ny,z\nx,x\ny,x\n")]);
    let text = sandbox.ok("info a.csv --columns from,to");
    for part in [
        "vertices    3",
        "edges       3",
        "self-loops  1",
        "names, x to z",
        "input       read 4 edges: source = \"from\", target = \"to\"",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json = sandbox.ok("info a.csv --columns from,to --directed --json");
    let info: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(info["edges"], 4);
    assert_eq!((&info["directed"], &info["weighted"]), (&true.into(), &false.into()));
    assert_eq!((&info["max_degree"], &info["ids"]), (&4.into(), &"names".into()));
}

#[test]
fn statistics_have_the_names_of_the_contract() {
    let sandbox = Sandbox::new();
    let graph = data("ripplet-lp/tests/data/altsoph/polblogs.edges");
    let graph = graph.display();
    for (flags, schedule) in [
        ("", "phased"),
        ("--schedule sync", "sync"),
        ("--schedule async", "async"),
        ("--program cdlp --seed 4", "sync"),
    ] {
        let flags = format!("{flags} --device cpu --threads 2");
        let run = format!("communities {graph} -o out.txt --stats stats.json {flags}");
        let said = sandbox.run(&run);
        assert_eq!(said.code, Some(0), "{said:?}");
        let differs = said.error.contains("another run may differ");
        assert_eq!(differs, schedule == "async", "{said:?}");
        let stats = sandbox.json("stats.json");
        let program = if flags.contains("cdlp") { "cdlp" } else { "lpa" };
        for (name, value) in [
            ("program", program),
            ("schedule", schedule),
            ("counter", "exact"),
            ("storage", "plain"),
            ("device", "cpu"),
            ("version", env!("CARGO_PKG_VERSION")),
        ] {
            assert_eq!(stats[name], value, "{name} in {stats}");
        }
        for name in ["vertices", "edges", "iterations", "edges_scanned", "communities", "threads"] {
            assert!(stats[name].as_u64().unwrap() > 0, "{name} in {stats}");
        }
        let rounds = stats["iterations"].as_u64().unwrap() as usize;
        for name in ["changed", "visited", "round_seconds"] {
            assert_eq!(stats[name].as_array().unwrap().len(), rounds, "{name} in {stats}");
        }
        assert_eq!(stats["deterministic"], schedule != "async", "{stats}");
        assert!(stats["converged"].is_boolean() && stats["modularity"].is_f64(), "{stats}");
        let mut shares = 0.0;
        for name in ["open", "read", "build", "kernels", "transfer", "compute", "write"] {
            assert!(stats["seconds"][name].as_f64().unwrap() >= 0.0, "{name} in {stats}");
            shares += stats["shares"][name].as_f64().unwrap();
        }
        assert!((shares - 1.0).abs() < 1e-9, "{stats}");
        let bytes = |name: &str| stats["bytes"][name].as_u64().unwrap();
        let parts = ["ids", "offsets", "neighbors", "weights"];
        let parts = parts.map(|part| stats["graph_bytes"][part].as_u64().unwrap());
        assert_eq!(parts.iter().sum::<u64>(), bytes("graph_host"));
        assert!(parts[2] == 8 * stats["edges"].as_u64().unwrap() && parts[3] == 0, "{stats}");
        assert_eq!(bytes("planned_host"), bytes("graph_host") + bytes("algorithm_host"));
        for name in ["graph_device", "algorithm_device", "planned_device", "peak_device"] {
            assert_eq!(bytes(name), 0, "{name} in {stats}");
        }
        if cfg!(target_os = "linux") {
            assert!(bytes("peak_host") > bytes("graph_host"), "{stats}");
        }
    }
}

#[test]
fn an_estimate_stops_before_the_run() {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES)]);
    let text = sandbox.ok("communities graph.txt --estimate -o out.txt --stats stats.json");
    assert!(text.contains("graph ") && text.contains("\ntotal "), "{text}");
    assert!(text.contains("  neighbours ") && !text.contains("  weights "), "{text}");
    let json = sandbox.ok("communities graph.txt --estimate=json --schedule sync");
    let estimate: Value = serde_json::from_str(&json).unwrap();
    let sum: u64 =
        estimate["plan"].as_array().unwrap().iter().map(|n| n["bytes"].as_u64().unwrap()).sum();
    assert_eq!(estimate["algorithm_host"], sum);
    assert_eq!(estimate["schedule"], "sync");
    assert_eq!(sandbox.names(), ["graph.txt"]);
    sandbox.ok("communities graph.txt -o out.txt --stats stats.json --schedule sync");
    let stats = sandbox.json("stats.json");
    assert_eq!(stats["bytes"]["planned_host"], estimate["planned_host"]);
}

#[test]
fn given_labels_are_where_a_run_begins() {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES)]);
    sandbox.write("start.txt", "1 6\n2 6\n3 6\n4 6\n5 6\n6 6\n");
    // All agree from the beginning, and plain label propagation has nothing against that.
    sandbox.ok("communities graph.txt -o out.txt --labels start.txt --guard 0");
    let expected: String = (1..=6).map(|id| format!("{id} 1\n")).collect();
    assert_eq!(sandbox.read("out.txt"), expected);
    sandbox.ok("communities graph.txt -o out.txt --labels start.txt --guard 0 --keep-disconnected");
    assert_eq!(sandbox.read("out.txt"), sandbox.read("start.txt"));
    sandbox.ok(
        "communities graph.txt -o out.txt --labels start.txt --iterations 0 --keep-disconnected",
    );
    assert_eq!(sandbox.read("out.txt"), sandbox.read("start.txt"));
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate social --scale 12 -o graph.tsv.gz");
    for flags in ["", "--schedule sync", "--program cdlp", "--seed 9 --keep-disconnected"] {
        for out in ["out.txt", "out.csv.gz", "out.parquet"] {
            let bytes = |threads: u32| {
                let run = format!("communities graph.tsv.gz -o {out} {flags} --threads {threads}");
                sandbox.ok(&run);
                std::fs::read(sandbox.path(out)).unwrap()
            };
            let one = bytes(1);
            assert!(one == bytes(2), "{flags} {out}: 2 threads differ");
            assert!(one == bytes(7), "{flags} {out}: 7 threads differ");
        }
    }
}

#[test]
fn ids_come_back() {
    let pairs = [("18446744073709551615", "9223372036854775808"), ("0", "18446744073709551615")];
    let names = [("Zoë Ω", "a b"), ("a b", "\"quoted\"")];
    let text = |pairs: &[(&str, &str)]| -> String {
        pairs.iter().map(|(a, b)| format!("{a}\t{b}\n")).collect()
    };
    let sandbox = Sandbox::with([("big.tsv", &text(&pairs)), ("names.tsv", &text(&names))]);
    let run = "--guard 0 --schedule sync";
    sandbox.ok(&format!("communities big.tsv -o out.tsv {run}"));
    let rows = sandbox.read("out.tsv");
    for id in ["0", "9223372036854775808", "18446744073709551615"] {
        assert!(rows.lines().any(|line| line.split('\t').next() == Some(id)), "{id} in {rows}");
    }
    sandbox.ok(&format!("communities names.tsv -o out.parquet {run}"));
    sandbox.ok("convert names.tsv names.rg");
    sandbox.ok("quality names.rg out.parquet");
    sandbox.ok(&format!("communities names.tsv -o out.tsv {run}"));
    let rows = sandbox.read("out.tsv");
    assert_eq!(rows.lines().count(), 4, "{rows}");
    assert!(rows.contains("Zoë Ω\t"), "{rows}");
    sandbox.write("signed.txt", "-5 7\n7 -9223372036854775808\n");
    sandbox.ok("communities signed.txt --ids signed -o out.txt");
    assert!(sandbox.read("out.txt").starts_with("-9223372036854775808 "));
}

#[test]
fn real_graphs_have_the_communities_that_people_found() {
    let sandbox = Sandbox::new();
    for (name, least) in [("karate", 0.35), ("football", 0.55), ("polbooks", 0.45)] {
        let file = |kind: &str| {
            data(&format!("ripplet-lp/tests/data/altsoph/{name}.{kind}")).display().to_string()
        };
        let (edges, truth) = (file("edges"), file("clusters"));
        sandbox.ok(&format!("communities {edges} -o out.txt"));
        let json = sandbox.ok(&format!("quality {edges} out.txt --truth {truth}"));
        let quality: Value = serde_json::from_str(&json).unwrap();
        assert!(quality["modularity"].as_f64().unwrap() > least, "{name}: {quality}");
        assert!(quality["nmi"].as_f64().unwrap() > 0.3, "{name}: {quality}");
    }
}

#[test]
fn counters_and_presets_are_run_and_told() {
    let sandbox = Sandbox::new();
    let graph = data("ripplet-lp/tests/data/altsoph/polblogs.edges");
    let run = |flags: &str| {
        let graph = graph.display();
        sandbox
            .ok(&format!("communities {graph} -o out.txt --stats stats.json --device cpu {flags}"));
        sandbox.json("stats.json")
    };
    for counter in ["mg:8", "mg:3:single:one", "bm"] {
        let stats = run(&format!("--counter {counter}"));
        assert_eq!((&stats["counter"], &stats["pick_less"]), (&counter.into(), &Value::Null));
        let is_single = counter.contains("single");
        assert!(is_single || stats["modularity"].as_f64().unwrap() > 0.3, "{stats}");
    }
    let stats = run("--schedule async --pick-less 4 --max-iterations 60");
    assert_eq!((&stats["pick_less"], &stats["deterministic"]), (&4.into(), &false.into()));
    for (preset, counter) in [("nu-mg8", "mg:8:single:first"), ("nu-bm", "bm:single:first")] {
        let stats = run(&format!("--preset {preset} --seed 3"));
        assert_eq!(stats["program"], "lpa");
        assert_eq!((&stats["counter"], &stats["schedule"]), (&counter.into(), &"async".into()));
        assert_eq!((&stats["pick_less"], &stats["seed"]), (&8.into(), &3.into()));
        assert!(stats["iterations"].as_u64().unwrap() <= 20, "{stats}");
    }
    // A star's centre makes the exact counter's tables large.
    let star: String = (1..60_000).map(|leaf| format!("0 {leaf}\n")).collect();
    let sandbox_of_star = Sandbox::with([("star.txt", &*star)]);
    for (memory, counter) in [("1GiB", "exact"), ("5MiB", "mg:8")] {
        let said = sandbox_of_star.run(&format!(
            "communities star.txt -o out.txt --stats stats.json --device cpu --schedule async \
             --threads 1 --keep-disconnected --counter auto --host-memory {memory}"
        ));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(said.error.contains("counting by mg:8"), counter == "mg:8", "{said:?}");
        assert_eq!(sandbox_of_star.json("stats.json")["counter"], counter);
    }
    let path = graph.display();
    let refused = ["cdlp needs every label's exact frequency", "--counter exact"];
    let command = format!("communities {path} -o out.txt --program cdlp --counter mg:8");
    sandbox.fails(&command, 2, &refused);
}
