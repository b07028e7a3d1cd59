//! `ripplet closeness`, `harmonic` and `betweenness`: values, statistics, plans, refusals.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// A path a – b – c – d, and e beside it, which only stands in a repeated edge to itself.
const GRAPH: &str = "a b\nb c\nc d\nb c\ne e\n";

fn values(sandbox: &Sandbox, run: &str) -> Vec<(String, f64)> {
    sandbox.ok(&format!("{run} -o out.txt"));
    let text = sandbox.read("out.txt");
    let row = |line: &str| {
        let (id, value) = line.split_once(' ').unwrap();
        (id.to_owned(), value.parse().unwrap())
    };
    text.lines().map(row).collect()
}

#[track_caller]
fn check(sandbox: &Sandbox, run: &str, expected: [f64; 5]) {
    let found = values(sandbox, run);
    assert_eq!(found.iter().map(|(id, _)| &**id).collect::<Vec<_>>(), ["a", "b", "c", "d", "e"]);
    for ((id, found), expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{run}: {id} {found}, not {expected}");
    }
}

#[test]
fn weights_that_are_not_used_are_noted() {
    let sandbox = Sandbox::with([("g.csv", "source,target,weight\na,b,5\nb,c,1\nb,d,9\n")]);
    sandbox.ok("convert g.csv g.rg --weighted");
    for analysis in ["pagerank", "closeness", "betweenness"] {
        let note = "note: the weights of the graph are not used: --weighted uses them";
        let run = |more: &str| sandbox.run(&format!("{analysis} g.rg -o out.txt {more}")).error;
        assert!(run("").contains(note), "{analysis}");
        assert!(!run("--weighted").contains(note), "{analysis}");
    }
    assert!(!sandbox.run("lcc g.rg -o out.txt").error.contains("weights"));
    assert!(!sandbox.run("kcore g.rg -o out.txt").error.contains("weights"));
}

#[test]
fn values_of_a_small_graph() {
    let sandbox = Sandbox::with([("graph.txt", GRAPH)]);
    let [near, far] = [1.0 / 4.0, 1.0 / 6.0];
    check(&sandbox, "closeness graph.txt", [far, near, near, far, 0.0]);
    let normalized = [3.0 * far, 3.0 * near, 3.0 * near, 3.0 * far, 0.0];
    check(&sandbox, "closeness graph.txt --normalized", normalized);
    let faust = normalized.map(|value| value * 3.0 / 4.0);
    check(&sandbox, "closeness graph.txt --measure wasserman-faust", faust);
    let [end, inner] = [1.0 + 1.0 / 2.0 + 1.0 / 3.0, 2.5];
    check(&sandbox, "harmonic graph.txt", [end, inner, inner, end, 0.0]);
    let normalized = [end, inner, inner, end, 0.0].map(|value| value / 4.0);
    check(&sandbox, "harmonic graph.txt --normalized", normalized);
    check(&sandbox, "betweenness graph.txt", [0.0, 2.0, 2.0, 0.0, 0.0]);
    let normalized = [0.0, 2.0 / 6.0, 2.0 / 6.0, 0.0, 0.0];
    check(&sandbox, "betweenness graph.txt --normalized", normalized);
    // Directed, ways lead one way, and distances are those to a vertex.
    check(&sandbox, "closeness graph.txt --directed", [0.0, 1.0, 1.0 / 3.0, 1.0 / 6.0, 0.0]);
    check(&sandbox, "harmonic graph.txt --directed", [0.0, 1.0, 1.5, 11.0 / 6.0, 0.0]);
    check(&sandbox, "betweenness graph.txt --directed", [0.0, 2.0, 2.0, 0.0, 0.0]);
    check(
        &sandbox,
        "betweenness graph.txt --directed --normalized",
        [0.0, 1.0 / 6.0, 1.0 / 6.0, 0.0, 0.0],
    );
}

/// A triangle whose longest edge is a detour, repeated with a greater weight than its own, and a tail.
const WEIGHTED: &str = "a b 0.5\nb c 1\na c 4\nc a 2\nc d 1\nd e 3\n";

#[test]
fn weights_are_lengths() {
    let sandbox = Sandbox::with([("graph.txt", WEIGHTED)]);
    // To a, b, c, d, e: from a 0, .5, 1.5, 2.5, 5.5 and so on.
    let sums = [10.0, 8.5, 7.5, 8.5, 17.5];
    check(&sandbox, "closeness graph.txt --weighted", sums.map(|sum| 1.0 / sum));
    check(&sandbox, "betweenness graph.txt --weighted", [0.0, 3.0, 4.0, 3.0, 0.0]);
    check(&sandbox, "betweenness graph.txt", [0.0, 0.0, 4.0, 3.0, 0.0]);
    let from_a = 1.0 / 0.5 + 1.0 / 1.5 + 1.0 / 2.5 + 1.0 / 5.5;
    let harmonic = values(&sandbox, "harmonic graph.txt --weighted");
    assert!((harmonic[0].1 - from_a).abs() < 1e-12, "{harmonic:?}");
    let said = sandbox.run("harmonic graph.txt -o out.txt --weighted --stats stats.json");
    assert!(said.error.contains("note: a weight is the length of its edge"), "{said:?}");
    assert_eq!(sandbox.json("stats.json")["lengths"], "weights");
    let said = sandbox.run("harmonic graph.txt -o out.txt");
    assert!(!said.error.contains("the length of its edge"), "{said:?}");
    sandbox.ok("harmonic graph.txt -o out.txt --stats stats.json");
    assert_eq!(sandbox.json("stats.json")["lengths"], "hops");
}

#[test]
fn edges_without_length() {
    let sandbox = Sandbox::with([("graph.txt", "a b 1\nb c 0\n")]);
    let sentence = "the edge from b to c has weight 0";
    sandbox.fails("betweenness graph.txt -o b.txt --weighted", 2, &[sentence, "positive"]);
    assert!(!sandbox.path("b.txt").exists());
    let near = values(&sandbox, "harmonic graph.txt --weighted");
    assert_eq!(near.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [2.0, 1.0, 1.0]);
}

#[test]
fn samples_estimate_betweenness() {
    let leaves: String = (1..=50).map(|leaf| format!("0 {leaf}\n")).collect();
    let sandbox = Sandbox::with([("star.txt", &*leaves)]);
    // All paths of a star lead through its centre, also those of a sample.
    let run = "betweenness star.txt --samples 10 --seed 3";
    let found = values(&sandbox, &format!("{run} --normalized"));
    assert!((found[0].1 - 1.0).abs() < 1e-12 && found[1].1 == 0.0, "{found:?}");
    sandbox.ok(&format!("{run} --edges -o edges.tsv --stats stats.json --threads 1"));
    assert_eq!(sandbox.read("edges.tsv").lines().count(), 51);
    let stats = sandbox.json("stats.json");
    assert_eq!((&stats["samples"], &stats["seed"]), (&10.into(), &3.into()));
    // Of no more vertices than there are, the values are exact.
    assert_eq!(
        values(&sandbox, "betweenness star.txt --samples 51"),
        values(&sandbox, "betweenness star.txt")
    );
    assert!(sandbox.ok(&format!("{run} -o out.txt --estimate")).contains("sampled vertices"));
    for (run, parts) in [
        ("betweenness star.txt -o out.txt --samples 1", ["--samples", "2.."]),
        ("betweenness star.txt -o out.txt --seed 1", ["--samples", "required"]),
        (
            "betweenness star.txt -o out.txt --samples 5 --device cuda",
            ["no kernel for sampled betweenness", ""],
        ),
    ] {
        sandbox.fails(run, 2, &parts);
    }
    sandbox.write("many.csv", "graph,source,target\nx,a,b\ny,a,b\n");
    let run = "betweenness many.csv --batch -o out.txt --samples 5";
    sandbox.fails(run, 2, &["a sample is of the vertices of one graph", "--samples"]);
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate rmat --scale 9 -o graph.rg");
    for command in ["closeness", "harmonic", "betweenness"] {
        sandbox.ok(&format!("{command} graph.rg -o one.parquet --threads 1"));
        sandbox.ok(&format!("{command} graph.rg -o two.parquet --threads 7"));
        let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
        assert!(bytes("one.parquet") == bytes("two.parquet"), "{command}");
        let said = sandbox.ok(&format!("{command} graph.rg -o -"));
        assert_eq!(said.lines().count(), 512, "{command}");
    }
}

#[test]
fn statistics_and_estimate() {
    let sandbox = Sandbox::with([("graph.txt", GRAPH)]);
    for (command, measure) in [
        ("closeness", "reciprocal"),
        ("closeness --measure wasserman-faust", "wasserman-faust"),
        ("harmonic", "harmonic"),
        ("betweenness", "betweenness"),
    ] {
        let run = format!("{command} graph.txt -o out.txt --threads 2");
        sandbox.ok(&format!("{run} --stats stats.json"));
        let stats = sandbox.json("stats.json");
        assert_eq!((&stats["measure"], &stats["device"]), (&measure.into(), &"cpu".into()));
        assert_eq!((&stats["vertices"], &stats["threads"]), (&5.into(), &2.into()));
        let number = |name: &str| stats[name].as_f64().unwrap();
        assert!(number("largest") > number("mean") && number("mean") > 0.0, "{stats}");
        let text = sandbox.ok(&format!("{run} --estimate"));
        assert!(text.contains("searches, one a thread") && text.contains("\ntotal "), "{text}");
        let estimate = sandbox.ok(&format!("{run} --estimate=json"));
        let estimate: Value = serde_json::from_str(&estimate).unwrap();
        assert_eq!(estimate["planned_host"], stats["bytes"]["planned_host"]);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let sandbox = Sandbox::with([("graph.txt", GRAPH)]);
    for (run, parts) in [
        ("harmonic graph.txt -o b.txt --weighted", ["graph.txt:1", "weight"]),
        ("harmonic graph.txt -o graph.txt", ["named twice", "choose another name"]),
        ("closeness graph.txt -o b.xlsx", ["b.xlsx", ".parquet"]),
        ("closeness graph.txt", ["--output", ""]),
        ("closeness missing.txt -o b.txt", ["missing.txt", "No such file"]),
        (
            "closeness graph.txt -o b.txt --measure wasserman-faust --normalized",
            ["is normalized as it is", "leave --normalized out"],
        ),
        ("betweenness graph.txt -o b.txt --host-memory 100", ["the run needs", "fewer --threads"]),
    ] {
        sandbox.fails(run, 2, &parts);
        assert!(!sandbox.path("b.txt").exists(), "{run}");
    }
    assert_eq!(sandbox.read("graph.txt"), GRAPH);
}
