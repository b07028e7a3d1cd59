//! The programs beside `lpa` and `cdlp`: their parameters, inputs and outputs.

use crate::documents::files_of;
use crate::sandbox::{Sandbox, data};
use std::collections::BTreeMap;

/// Two cliques of five that share vertex `x`.
fn two_cliques() -> Sandbox {
    let mut text = String::new();
    for clique in [["a", "b", "c", "d", "x"], ["x", "p", "q", "r", "s"]] {
        for (i, u) in clique.iter().enumerate() {
            clique[i + 1..].iter().for_each(|v| text += &format!("{u} {v}\n"));
        }
    }
    Sandbox::with([("g.txt", text.as_str())])
}

/// The rows of a `.csv`, without its header.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

#[test]
fn overlapping_communities_share_a_vertex() {
    // Two cliques that share v9.
    let cliques: String = [0..10u32, 9..19]
        .into_iter()
        .flat_map(|clique| clique.clone().map(move |u| (u, u + 1..clique.end)))
        .flat_map(|(u, others)| others.map(move |v| format!("v{u} v{v}\n")))
        .collect();
    let sandbox = Sandbox::with([("g.txt", cliques.as_str())]);
    sandbox.ok("communities g.txt -o c.csv --program slpa");
    let text = sandbox.read("c.csv");
    assert!(text.starts_with("id,community,strength\n"), "{text}");
    let mut of: BTreeMap<&str, Vec<(&str, f32)>> = BTreeMap::new();
    for row in rows(&text) {
        of.entry(row[0]).or_default().push((row[1], row[2].parse().unwrap()));
    }
    assert_eq!((of.len(), of["v9"].len()), (19, 2), "{of:?}");
    for (vertex, communities) in &of {
        let sum: f32 = communities.iter().map(|(_, strength)| strength).sum();
        assert!(sum > 0.5 && sum <= 1.0001, "{vertex}: {communities:?}");
        assert!(communities.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{communities:?}");
    }
    sandbox.ok("communities g.txt -o all.csv --program slpa --threshold 1");
    assert_eq!(rows(&sandbox.read("all.csv")).len(), 19, "one each where all of it is asked for");
}

#[test]
fn seeds_call_their_clusters_by_name_and_leave_the_unreached_out() {
    let sandbox = two_cliques();
    sandbox.write("more.txt", sandbox.read("g.txt") + "lone ly\n");
    sandbox.write("seeds.csv", "id,cluster,strength\na,ring 1,1\np,ring 2,0.5\n");
    let run = "communities more.txt -o c.csv --program seeded --seeds seeds.csv --stats s.json";
    let said = sandbox.run(run);
    let columns = "read 2 seeds: id = \"id\", community = \"cluster\", strength = \"strength\"\n";
    assert!(said.code == Some(0) && said.error.contains(columns), "{said:?}");
    let text = sandbox.read("c.csv");
    let of: BTreeMap<&str, (&str, f32)> =
        rows(&text).iter().map(|row| (row[0], (row[1], row[2].parse().unwrap()))).collect();
    assert_eq!(of.len(), 9, "lone and ly have no row: {of:?}");
    assert_eq!((of["a"], of["p"]), (("ring 1", 1.0), ("ring 2", 0.5)), "seeds keep what is given");
    assert!("bcd".chars().all(|v| of[v.to_string().as_str()].0 == "ring 1"));
    assert!("qrs".chars().all(|v| of[v.to_string().as_str()] == ("ring 2", 0.5)));
    assert_eq!(sandbox.json("s.json")["unlabelled"], 2);

    sandbox.ok(&format!("{run} --attenuation 0.5 --names number"));
    let text = sandbox.read("c.csv");
    let near = rows(&text).into_iter().find(|row| row[0] == "b").unwrap();
    assert_eq!(near[1..], ["0", "0.5"], "one hop from a");
}

#[test]
fn seeds_that_are_not_there_are_refused_or_counted() {
    let sandbox = two_cliques();
    sandbox.write("seeds.txt", "a ring\nzoe ring\n");
    let run = "communities g.txt -o c.txt --program seeded --seeds seeds.txt";
    sandbox.fails(run, 2, &["seeds.txt:2", "`zoe` is no vertex", "--skip-unknown-seeds"]);
    let said = sandbox.run(&format!("{run} --skip-unknown-seeds"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("note: 1 of 2 seeds is no vertex of the graph"), "{said:?}");
    sandbox.write("seeds.txt", "zoe ring\n");
    let run = format!("{run} --skip-unknown-seeds");
    sandbox.fails(&run, 2, &["seeds.txt names no vertex of the graph"]);
    sandbox.write("seeds.csv", "id,cluster\n");
    let run = "communities g.txt -o c.txt --program seeded --seeds seeds.csv";
    sandbox.fails(run, 2, &["seeds.csv has no seeds"]);
}

#[test]
fn a_sweep_keeps_the_best_layer_and_writes_the_order() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate planted --vertices 2000 --edges 12000 -o g.rg");
    sandbox.ok("communities g.rg -o c.txt --program llp --sweep 5 --order o.csv --stats s.json");
    let stats = sandbox.json("s.json");
    let layers = stats["sweep"].as_array().unwrap();
    let gammas: Vec<f64> = layers.iter().map(|layer| layer["gamma"].as_f64().unwrap()).collect();
    assert_eq!(gammas, [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.0]);
    let modularity = |value: &serde_json::Value| value["modularity"].as_f64().unwrap();
    let best = layers.iter().map(modularity).fold(f64::MIN, f64::max);
    assert_eq!(modularity(&stats), best);
    let text = sandbox.read("o.csv");
    let mut places: Vec<u32> = rows(&text).iter().map(|row| row[1].parse().unwrap()).collect();
    places.sort_unstable();
    assert_eq!(places, (0..2000).collect::<Vec<_>>());
    let last = gammas.iter().position(|&gamma| gamma == 0.0).unwrap();
    sandbox.ok("communities g.rg -o d.txt --program llp --gamma 0 --stats t.json");
    assert_eq!(sandbox.json("t.json")["communities"], layers[last]["communities"]);
}

#[test]
fn parameters_are_checked_before_the_run() {
    let sandbox = two_cliques();
    sandbox.write("seeds.txt", "a ring\n");
    sandbox.write("loud.txt", "a ring 2\n");
    let run = |flags: &str| format!("communities g.txt -o c.txt {flags}");
    for (flags, parts) in [
        ("--gamma 1", ["--gamma is a parameter of llp", "--program llp"]),
        ("--program llp --guard 1", ["--guard is a parameter of lpa", "program is llp"]),
        ("--program cdlp --memory 3", ["--memory is a parameter of slpa", "program is cdlp"]),
        ("--program slpa --loose-seeds", ["--loose-seeds is a parameter of seeded", "slpa"]),
        ("--program llp --gamma inf", ["from 0", "not inf"]),
        ("--program llp --gamma -1", ["from 0", "not -1"]),
        ("--program llp --gamma 1 --sweep 3", ["--gamma", "--sweep"]),
        ("--program llp --sweep 3 --order o.txt", ["o.txt", ".tsv, .csv or .jsonl"]),
        ("--program llp --sweep 3 --order no/o.csv", ["no/o.csv", "does not exist"]),
        ("--program llp --sweep 3 --order g.txt", ["g.txt", "choose"]),
        ("--program slpa --memory 0", ["1 to 64 labels, not 0", "--memory"]),
        ("--program slpa --memory 65", ["1 to 64 labels, not 65", "--memory"]),
        ("--program slpa --threshold 1.1", ["from 0 to 1", "--threshold"]),
        ("--program slpa --tolerance 0.1", ["never settles", "--iterations"]),
        ("--program seeded", ["none are given", "--seeds"]),
        ("--program seeded --seeds no.txt", ["no.txt", "No such file"]),
        ("--program seeded --seeds loud.txt", ["loud.txt:1", "`2` is no strength"]),
        ("--program seeded --seeds seeds.txt --attenuation 0", ["above 0", "--attenuation"]),
        ("--program seeded --seeds seeds.txt --attenuation nan", ["above 0", "--attenuation"]),
        ("--program seeded --seeds seeds.txt --labels l.txt", ["every vertex", "--labels"]),
    ] {
        sandbox.fails(&run(flags), 2, &parts);
    }
    let same = "communities g.txt -o seeds.txt --program seeded --seeds seeds.txt";
    sandbox.fails(same, 2, &["seeds.txt is named twice"]);
}

/// The files of the guide, as its reader saves them.
fn guide() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, text) in files_of("docs/your-own-variant.md") {
        sandbox.write(&name, text);
    }
    assert_eq!(sandbox.names(), ["accounts.csv", "payments.txt", "wary.rs"]);
    sandbox
}

const WARY: &str = "communities payments.txt -o groups.tsv --program-file wary.rs";

#[test]
fn without_the_guides_program_the_seed_decides_where_the_shop_is() {
    let sandbox = guide();
    let found = |seed: u32| {
        sandbox.ok(&format!("communities payments.txt -o all{seed}.tsv --seed {seed}"));
        sandbox.read(&format!("all{seed}.tsv"))
    };
    assert!(found(1).contains("\nshop\tann\n") && found(1).contains("\nfay\tdee\n"));
    assert!(found(2).lines().skip(1).all(|line| line.ends_with("\tann")));
}

#[test]
fn the_variant_in_the_readme_is_short() {
    let files = files_of("README.md");
    let (_, program) = files.iter().find(|(name, _)| name == "discount.rs").unwrap();
    assert!(program.lines().count() < 20);
}

#[test]
fn program_files_that_cannot_run_are_refused() {
    let sandbox = guide();
    sandbox.write("bad.csv", "id,chargebacks\nann,2\n");
    sandbox.write("none.csv", "id,age\nann,2\nbob,1\ncyd,1\ndee,1\neve,1\nfay,1\nshop,1\n");
    sandbox.write("latin.rs", b"struct \xe9;");
    sandbox.write("open.rs", "struct X { ");
    sandbox.write("loop.rs", LOOPS);
    for (flags, parts) in [
        ("", ["parameter `popular` must be given: a u32", "help: give it: --param popular=VALUE"]),
        (
            "--param popular=5",
            ["column `chargebacks` must be given: it has no default", "--vertex-table FILE"],
        ),
        ("--param popular=x", ["`popular` is a u32", "`x`"]),
        ("--param popular=-1", ["`popular` is a u32", "`-1`"]),
        ("--param hub=5", ["no parameter `hub`", "`popular`"]),
        ("--param popular", ["NAME=VALUE", "--param"]),
        ("--param popular=5 --param popular=6", ["gives popular twice", "once"]),
        ("--program lpa", ["--program", "--program-file"]),
        ("--gamma 1", ["--gamma is a parameter of llp", "from a file"]),
        ("--param popular=5 --vertex-table bad.csv", ["bad.csv", "6 of 7 vertices have no row"]),
        ("--param popular=5 --vertex-table none.csv", ["none.csv has none", "chargebacks"]),
        ("--param popular=5 --columns-out c.txt", ["c.txt", ".tsv, .csv or .jsonl"]),
    ] {
        sandbox.fails(&format!("{WARY} {flags}"), 2, &parts);
    }
    for (file, parts) in [
        ("missing.rs", ["missing.rs", "No such file"]),
        ("latin.rs", ["latin.rs at byte 7", "not UTF-8"]),
        ("open.rs", ["open.rs", "bracket"]),
        ("loop.rs", ["loop.rs:5:", "while"]),
    ] {
        sandbox.fails(
            &format!("communities payments.txt -o g.txt --program-file {file}"),
            2,
            &parts,
        );
    }
    sandbox.fails("communities payments.txt -o g.txt --param a=1", 2, &["--program-file"]);
}

/// A program that does not end.
const LOOPS: &str = "struct Loops;
impl Program for Loops {
    type Score = u64;
    fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
        while c.frequency > 0 { }
        1
    }
}
";

#[test]
fn scores_that_are_no_numbers_are_counted() {
    let sandbox = guide();
    sandbox.write(
        "nan.rs",
        "struct Nan;
        impl Program for Nan {
            type Score = f32;
            fn label_score(&self, v: Vertex, c: Candidate) -> f32 {
                if v.degree() > 5 { 0.0 / 0.0 } else { c.frequency as f32 }
            }
        }",
    );
    let said =
        sandbox.run("communities payments.txt -o g.txt --program-file nan.rs --stats s.json");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("no number"), "{said:?}");
    assert!(sandbox.json("s.json")["nan_scores"].as_u64().unwrap() > 0);
}

#[test]
fn a_table_is_refused_by_a_program_that_reads_none() {
    let sandbox = guide();
    sandbox.write("t.csv", "id,score\na,1\n");
    let run = "communities payments.txt -o g.txt --program-file nan.rs --vertex-table t.csv";
    sandbox.write("nan.rs", LOOPS.replace("while c.frequency > 0 { }\n        1", "c.frequency"));
    sandbox.fails(run, 2, &["the program reads no columns of a table", "leave --vertex-table out"]);
}

/// A program with what stands in the module before its hooks, and beside `label_score`.
fn program(columns: &str, hooks: &str) -> String {
    format!(
        "struct Own;\n{columns}\nimpl Program for Own {{ type Score = u64;\n{hooks}\n\
         fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {{ c.frequency }} }}\n"
    )
}

#[test]
fn vertices_that_a_program_leaves_without_a_label_are_noted() {
    let sandbox = guide();
    let run = "communities payments.txt -o g.csv --program-file own.rs";
    // One vertex keeps its label in the first: all of its neighbours have lost theirs.
    for (count, hooks) in [
        (6, "fn update_vertex(&self, _v: &mut VertexMut, _l: Label, _s: u64) -> Label { 9999 }"),
        (7, "fn load_neighbor(&self, _v: Vertex, _u: Neighbor) -> Vote { Vote::new(12345, 1) }"),
    ] {
        sandbox.write("own.rs", program("", hooks));
        let said = sandbox.run(&format!("{run} --quiet"));
        let note =
            format!("note: {count} vertices have no label: g.csv has no community for them\n");
        assert!(said.code == Some(0) && said.error.contains(&note), "{said:?}");
        assert_eq!(rows(&sandbox.read("g.csv")).len(), 7 - count);
    }
    sandbox.write("own.rs", program("", ""));
    let said = sandbox.run(&format!("{run} --min-size 100"));
    assert!(said.code == Some(0) && !said.error.contains("no label"), "{said:?}");
}

#[test]
fn columns_of_several_values_need_a_default() {
    let sandbox = guide();
    sandbox.write("own.rs", program("#[columns] struct C { #[len(3)] heard: [u32] }", ""));
    let run = "communities payments.txt -o g.csv --program-file own.rs";
    let parts = ["`heard` must be given", "give it #[default(VALUE)] in the program", "3 values"];
    sandbox.fails(run, 2, &parts);
    let parts = ["accounts.csv gives one value", "`heard` has 3", "leave --vertex-table out"];
    sandbox.fails(&format!("{run} --vertex-table accounts.csv"), 2, &parts);
}

#[test]
fn columns_are_not_written_by_a_program_that_sets_none() {
    let sandbox = guide();
    sandbox.write("own.rs", program("", ""));
    let run = "communities payments.txt -o g.csv --program-file own.rs --columns-out c.csv";
    sandbox.fails(run, 2, &["the program writes no columns", "leave --columns-out out"]);
}

#[test]
fn the_help_on_hooks_names_all_that_there_is() {
    let sandbox = guide();
    let run = "communities payments.txt -o g.csv --program-file own.rs";
    sandbox.write("own.rs", program("", "fn nam(&self) -> u32 { 1 }"));
    sandbox.fails(run, 2, &["no function `nam`", "carries, name, schedule"]);
    let total = "fn label_total(&self) -> LabelTotal { LabelTotal::Degree }";
    sandbox.write("own.rs", program("", total));
    let values = "LabelTotal::None, LabelTotal::Members, LabelTotal::Volume";
    sandbox.fails(
        run,
        2,
        &["`LabelTotal::Degree` is not known here", values, "Activation::Always"],
    );
}

#[test]
fn a_broken_promise_is_found_where_it_is_asked_for() {
    let sandbox = guide();
    let run = "communities payments.txt -o g.csv --program-file own.rs --check-program";
    sandbox.write("own.rs", program("", "fn score_bound(&self, f: u64) -> u64 { f }"));
    let said = sandbox.run(run);
    assert!(said.code == Some(0) && said.error.contains("no broken promise found"), "{said:?}");
    sandbox.write("own.rs", program("", "fn score_bound(&self, f: u64) -> u64 { f / 2 }"));
    let parts = ["`score_bound` does not hold at vertex ann in round 1", "above the bound 0"];
    sandbox.fails(run, 2, &parts);
    sandbox.ok(&run.replace(" --check-program", ""));
}

/// The check runs under `sync` on the CPU: what exceeds the run's own plan is in the estimate, and under the
/// limit of memory.
#[test]
fn the_memory_of_a_check_is_planned() {
    let sandbox = Sandbox::new();
    sandbox.ok("generate planted --vertices 20000 --edges 60000 -o g.rg");
    let run = "communities g.rg --device cpu --threads 1 --merge off --check-program";
    let estimate = |run: &str| -> serde_json::Value {
        serde_json::from_str(&sandbox.ok(&format!("{run} --estimate=json"))).unwrap()
    };
    let (with, without) = (estimate(run), estimate(&run.replace(" --check-program", "")));
    let bytes = |estimate: &serde_json::Value| estimate["planned_host"].as_u64().unwrap();
    let item = with["plan"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["purpose"] == "checking, beyond that");
    let more = item.unwrap()["bytes"].as_u64().unwrap();
    assert!(more > 0 && bytes(&with) == bytes(&without) + more, "{with}");
    let limited = format!("{run} -o out.txt --host-memory {}", bytes(&with) - 1);
    sandbox.fails(&limited, 2, &["the run needs", "leave --check-program out"]);
    sandbox.ok(&limited.replace(" --check-program", ""));
    sandbox.ok(&format!("{run} -o out.txt --host-memory {}", bytes(&with)));
}

#[test]
fn columns_that_a_program_wrote_come_back() {
    let sandbox = Sandbox::new();
    let root = data("../examples");
    let (graph, program) =
        (root.join("graphs/pgp.graph"), root.join("programs/hop_attenuation.rs"));
    let run = format!(
        "communities {} -o c.csv --program-file {} --param attenuation=0.05 \
         --param preference=0.1 --columns-out s.parquet --stats s.json",
        graph.display(),
        program.display()
    );
    sandbox.ok(&run);
    let stats = sandbox.json("s.json");
    assert_eq!(stats["program"], "hop_attenuation");
    assert!(stats["modularity"].as_f64().unwrap() > 0.75, "{stats}");
    // Another run may begin with its output.
    sandbox
        .ok(&format!("{run} --vertex-table s.parquet")
            .replace("s.parquet --stats", "t.csv --stats"));
    let strengths = sandbox.read("t.csv");
    assert!(strengths.starts_with("id,strength\n") && strengths.lines().count() == 10_681);
}
