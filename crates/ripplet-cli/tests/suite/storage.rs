//! Lists kept plain or compressed, in files and in memory: the same answers.

use crate::sandbox::Sandbox;
use serde_json::Value;
use std::fmt::Write;

const PROGRAM: &str = "
struct Wary;
impl Program for Wary {
    type Score = u64;
    fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
        Vote::new(u.label, if u.degree() > 9 { 1 } else { 8 * u.weight })
    }
    fn label_score(&self, _v: Vertex, c: Candidate) -> u64 { c.frequency }
}";

/// A sandbox with a graph of groups: `a.txt`, edges with weights; and what programs begin with.
fn sandbox() -> Sandbox {
    let (mut edges, mut labels) = (String::new(), String::new());
    for row in 0..1500u64 {
        let draw = row.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        let source = row % 300;
        let target = if draw % 9 == 0 { draw % 300 } else { source / 20 * 20 + draw / 9 % 20 };
        let _ = writeln!(edges, "v{source} v{target} {}", 1 + draw / 512 % 5);
    }
    for vertex in 0..300 {
        let _ = writeln!(labels, "v{vertex} v{}", vertex / 5 * 5);
    }
    let seeds = "v1\nv77\nv150\nv299\n";
    Sandbox::with([
        ("a.txt", &edges),
        ("labels.txt", &labels),
        ("seeds.txt", seeds),
        ("wary.rs", PROGRAM),
    ])
}

fn bytes(sandbox: &Sandbox, name: &str) -> Vec<u8> {
    std::fs::read(sandbox.path(name)).unwrap()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn communities_are_the_same_bytes_however_lists_are_kept() {
    let sandbox = sandbox();
    for (graph, programs) in [
        ("", ["", "--labels labels.txt", "--program cdlp"]),
        ("--weighted", ["", "--program slpa", "--program llp --sweep 1"]),
        (
            "--weighted --directed",
            ["--schedule sync", "--program seeded --seeds seeds.txt", "--program-file wary.rs"],
        ),
    ] {
        sandbox.ok(&format!("convert a.txt a.rg {graph}"));
        sandbox.ok(&format!("convert a.txt a.rgz {graph}"));
        for program in programs {
            let mut found = Vec::new();
            for input in [
                "a.rg",
                "a.rgz --threads 1",
                "a.rg --storage compressed",
                "a.rgz --storage plain",
                "a.txt --storage compressed --threads 3",
            ] {
                let run = format!("communities {input} {graph} {program} --device cpu");
                sandbox.ok(&format!("{run} -o out.txt"));
                found.push(sandbox.read("out.txt"));
            }
            let lines = found[0].lines().collect::<Vec<_>>();
            assert!(lines.len() > 100, "{graph} {program}: {} lines", lines.len());
            assert!(found.iter().all(|other| *other == found[0]), "{graph} {program}");
        }
    }
}

#[test]
fn estimate_and_stats_name_the_storage_and_count_its_bytes() {
    let sandbox = sandbox();
    sandbox.ok("convert a.txt a.rgz --weighted");
    let mut of_graph = Vec::new();
    for (input, storage) in [
        ("a.rgz", "compressed"),
        ("a.rgz --storage plain", "plain"),
        ("a.txt --storage compressed", "compressed"),
        ("a.txt", "plain"),
    ] {
        let run = format!("communities {input} --weighted --device cpu");
        let estimate = parsed(&sandbox.ok(&format!("{run} --estimate=json")));
        sandbox.ok(&format!("{run} -o out.txt --stats stats.json"));
        let stats = sandbox.json("stats.json");
        assert_eq!((&estimate["storage"], &stats["storage"]), (&storage.into(), &storage.into()));
        assert_eq!(estimate["graph_bytes"], stats["graph_bytes"]);
        assert_eq!(estimate["graph_host"], stats["bytes"]["graph_host"]);
        assert_eq!(estimate["edges"], stats["edges"]);
        let parts = estimate["graph_bytes"].as_object().unwrap().values();
        let sum: u64 = parts.map(|part| part.as_u64().unwrap()).sum();
        assert_eq!(estimate["graph_host"], sum);
        assert_eq!(estimate["graph_bytes"]["weights"] == 0, storage == "compressed");
        of_graph.push(sum);
    }
    assert!(2 * of_graph[0] < of_graph[1], "{of_graph:?}");
    assert_eq!(of_graph[..2], of_graph[2..]);
    let info = parsed(&sandbox.ok("info a.rgz --json"));
    assert_eq!((&info["storage"], &info["bytes"]), (&"compressed".into(), &of_graph[0].into()));
    let run = "communities a.rgz --weighted --device cpu";
    let text = sandbox.ok(&format!("{run} --estimate"));
    assert!(text.contains("  compressed lists ") && !text.contains("neighbours"), "{text}");
    let text = sandbox.ok(&format!("{run} --storage plain --estimate"));
    assert!(text.contains("  neighbours ") && !text.contains("compressed"), "{text}");
}

#[test]
fn analyses_have_the_same_bytes_without_decoding_the_graph() {
    let sandbox = sandbox();
    for (directed, weighted) in [("", ""), ("", "--weighted"), ("--directed", "--weighted")] {
        sandbox.ok(&format!("convert a.txt a.rg {directed} --weighted"));
        sandbox.ok(&format!("convert a.txt a.rgz {directed} --weighted"));
        for analysis in [
            "lcc --triangles",
            "components",
            "kcore",
            &format!("pagerank {weighted}"),
            &format!("closeness {weighted}"),
            &format!("harmonic {weighted}"),
            &format!("betweenness {weighted}"),
            &format!("betweenness --edges {weighted}"),
            &format!("apsp {weighted}"),
            &format!("apsp --rows vertices {weighted}"),
            &format!("apsp --rows graphs {weighted}"),
        ] {
            let mut found = Vec::new();
            for (input, storage) in [
                ("a.rg", "plain"),
                ("a.rgz", "compressed"),
                ("a.rgz --storage plain", "plain"),
                ("a.rg --storage compressed", "compressed"),
            ] {
                let name = analysis.replacen(' ', &format!(" {input} "), 1);
                let name = if name == analysis { format!("{analysis} {input}") } else { name };
                sandbox.ok(&format!("{name} --device cpu --threads 2 -o out.csv --stats s.json"));
                found.push(sandbox.read("out.csv"));
                // Compressed weights are counted as neighbours.
                let stats = parsed(&sandbox.read("s.json"));
                let no_weights = stats["graph_bytes"]["weights"] == 0;
                assert_eq!(no_weights, storage == "compressed", "{name}");
                assert_eq!(stats["storage"], storage, "{name}");
            }
            assert!(found.iter().all(|other| *other == found[0]), "{analysis} {directed}");
        }
    }
}

/// The estimate of compressed lists also says what plain ones need: as the estimate with these, or more by
/// the room for decoded lists.
#[test]
fn estimates_say_the_memory_of_both_storages() {
    let sandbox = sandbox();
    sandbox.ok("convert a.txt a.rgz --weighted");
    for analysis in ["lcc", "closeness", "betweenness", "pagerank", "components", "kcore", "apsp"] {
        let run = format!("{analysis} a.rgz --device cpu --threads 1");
        let [compressed, plain] = ["", "--storage plain"]
            .map(|storage| parsed(&sandbox.ok(&format!("{run} {storage} --estimate=json"))));
        assert_eq!(
            (&compressed["storage"], &plain["storage"]),
            (&"compressed".into(), &"plain".into())
        );
        let total = |key: &Value| key.as_u64().unwrap();
        let both = ["planned_host", "planned_host_plain"].map(|key| total(&compressed[key]));
        assert!(both[0] < both[1], "{analysis}: {both:?}");
        let decoded = total(&compressed["algorithm_host"]) - total(&plain["algorithm_host"]);
        assert_eq!(both[1], total(&plain["planned_host"]) + decoded, "{analysis}");
        assert!(plain.get("planned_host_plain").is_none(), "{analysis}");
        let text = sandbox.ok(&format!("{run} --estimate"));
        assert!(text.lines().last().unwrap().starts_with("with --storage plain "), "{text}");
        let limited = format!("{run} -o out.txt --host-memory {}", both[0]);
        sandbox.fails(&format!("{limited} --storage plain"), 2, &["the run needs"]);
        sandbox.ok(&limited);
    }
}

#[test]
fn compressed_lists_of_analyses_are_for_one_graph_on_the_cpu() {
    let sandbox = sandbox();
    for analysis in ["lcc", "closeness", "pagerank"] {
        let run = format!("{analysis} a.txt -o out.txt --storage compressed");
        sandbox.ok(&run);
        // What no GPU has a kernel for is refused for that reason, in either storage.
        let plain = ["a GPU reads plain lists", "leave --storage out"];
        let of_cuda = match analysis {
            "pagerank" => [
                ["no kernel for PageRank", "--device cpu"],
                ["no kernel for PageRank", "leave --device-memory"],
            ],
            _ => [plain, plain],
        };
        sandbox.fails(&format!("{run} --device cuda"), 2, &of_cuda[0]);
        sandbox.fails(&format!("{run} --device-memory 1GiB"), 2, &of_cuda[1]);
        let of_batch = ["--storage compressed is of the lists of one graph", "batch"];
        sandbox.fails(&format!("{run} --batch"), 2, &of_batch);
    }
}

#[test]
fn what_does_not_fit_plain_may_fit_compressed() {
    let sandbox = sandbox();
    sandbox.ok("convert a.txt a.rgz --weighted");
    let run = "communities a.rgz --weighted --device cpu --threads 1";
    let plan = parsed(&sandbox.ok(&format!("{run} --estimate=json")));
    let limited = format!("{run} -o out.txt --host-memory {}", plan["planned_host"]);
    sandbox.fails(&format!("{limited} --storage plain"), 2, &["the run needs"]);
    sandbox.ok(&limited);
}

#[test]
fn conversions_there_and_back_are_the_same_file() {
    let sandbox = sandbox();
    for flags in ["", "--weighted --directed --keep-loops --keep-duplicates"] {
        sandbox.ok(&format!("convert a.txt a.rg {flags}"));
        sandbox.ok("convert a.rg b.rgz");
        sandbox.ok("convert b.rgz c.rg");
        assert!(bytes(&sandbox, "a.rg") == bytes(&sandbox, "c.rg"), "{flags}");
        sandbox.ok(&format!("convert a.txt d.file --to rgz {flags} --threads 1"));
        assert!(bytes(&sandbox, "b.rgz") == bytes(&sandbox, "d.file"), "{flags}");
        sandbox.ok("convert d.file e.rg --from rgz");
        assert!(bytes(&sandbox, "a.rg") == bytes(&sandbox, "e.rg"), "{flags}");
    }
    sandbox.fails("convert a.rg - --to rgz", 2, &["standard output"]);
    std::fs::create_dir(sandbox.path("batch")).unwrap();
    sandbox.ok("convert a.rg batch/a.rgz");
    sandbox.fails("components batch -o out.txt", 2, &["a.rgz", "finished graph"]);
    sandbox.ok("generate road --scale 9 -o road.rg");
    sandbox.ok("generate road --scale 9 -o road.rgz");
    sandbox.ok("convert road.rg again.rgz");
    assert!(bytes(&sandbox, "road.rgz") == bytes(&sandbox, "again.rgz"));
}

#[test]
fn every_command_that_reads_a_graph_reads_compressed_lists() {
    let sandbox = sandbox();
    sandbox.ok("convert a.txt a.rg --weighted");
    sandbox.ok("convert a.rg a.rgz");
    for command in ["lcc", "components", "pagerank", "closeness", "betweenness --weighted"] {
        let found = ["a.rg", "a.rgz"].map(|input| {
            sandbox.ok(&format!("{command} {input} -o out.txt --device cpu"));
            sandbox.read("out.txt")
        });
        assert!(found[0] == found[1] && found[0].lines().count() == 300, "{command}");
    }
    let of_both = |command: &str| ["a.rg", "a.rgz"].map(|input| command.replace("INPUT", input));
    let [plain, compressed] = of_both("quality INPUT labels.txt").map(|run| sandbox.ok(&run));
    assert_eq!(plain, compressed);
    let mut told = of_both("info INPUT --json").map(|run| parsed(&sandbox.ok(&run)));
    assert!(told[1]["bits_per_arc"].as_f64() < told[0]["bits_per_arc"].as_f64(), "{told:?}");
    for info in &mut told {
        for key in ["bytes", "graph_bytes", "bits_per_arc", "storage"] {
            assert!(info.as_object_mut().unwrap().remove(key).is_some(), "{key}");
        }
    }
    assert_eq!(told[0], told[1]);
    assert!(sandbox.ok("info a.rgz").contains(", compressed to "));
}
