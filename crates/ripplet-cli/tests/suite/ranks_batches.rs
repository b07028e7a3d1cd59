//! Batches whose graphs are shared by several processes, which the launchers of MPICH and Open MPI start.

use crate::ranks::{on_each_rank, on_ranks, one_error};
use crate::sandbox::Sandbox;
use ripplet_conformance::launcher::Mpi;
use serde_json::Value;
use std::fs;

/// A table of graphs of different sizes with weights: a ring with chords each.
fn table(graphs: u32) -> String {
    let mut rows = String::from("graph,source,target,weight\n");
    for graph in 0..graphs {
        let size = 3 + graph * 7 % 40;
        for vertex in 0..size {
            let weight = 1 + (graph + vertex) % 5;
            rows += &format!("g{graph},{vertex},{},{weight}\n", (vertex + 1) % size);
            if vertex % 3 == 0 {
                rows += &format!("g{graph},{vertex},{},2\n", vertex * 5 % size);
            }
        }
    }
    rows
}

/// A table of graphs, a folder of files with names and integers as ids, and a batch of several parts.
fn inputs() -> Sandbox {
    let sandbox = Sandbox::with([("t.csv", &*table(60))]);
    for file in 0..9 {
        let name =
            |vertex: u32| if file % 3 == 0 { format!("n{vertex}") } else { vertex.to_string() };
        let rows = (0..20).map(|row| format!("{} {}\n", name(row * row % 13), name(row % 7 + 20)));
        sandbox.write(&format!("m/{file}.txt"), rows.collect::<String>());
    }
    sandbox.ok("generate swarm --graphs 60 -o s.swarm --quiet");
    sandbox
}

/// The figures of a run that do not depend on the number of ranks.
const FIGURES: [&str; 16] = [
    "input",
    "graphs",
    "vertices",
    "edges",
    "directed",
    "weighted",
    "largest",
    "mean",
    "components",
    "communities",
    "median_size",
    "largest_size",
    "parts",
    "skipped",
    "storage",
    "device",
];

#[test]
fn the_bytes_are_those_of_one_process() {
    let sandbox = inputs();
    // With 24 MB, the swarm comes in several parts.
    let runs = [
        ("closeness s.swarm --host-memory 24MB", "csv"),
        ("harmonic t.csv --batch --weighted --normalized", "csv"),
        ("betweenness m", "tsv"),
        ("betweenness s.swarm --edges --host-memory 24MB", "parquet"),
        ("apsp t.csv --batch --weighted", "csv"),
        ("apsp s.swarm --rows vertices --host-memory 24MB", "parquet"),
        ("apsp m --rows graphs", "jsonl"),
        ("pagerank s.swarm --host-memory 24MB", "csv"),
        ("pagerank t.csv --batch --weighted --directed", "arrow"),
        ("components m", "csv"),
        ("kcore s.swarm --host-memory 24MB", "parquet"),
        ("lcc s.swarm --triangles --host-memory 24MB", "csv"),
        ("communities s.swarm --host-memory 24MB", "parquet"),
        ("communities t.csv --batch --weighted --names number", "csv"),
        ("communities m --names hub --program cdlp", "csv"),
    ];
    for (arguments, ending) in runs {
        let run = format!("{arguments} --threads 1 --stats s.json -o");
        sandbox.ok(&format!("{run} one.{ending}"));
        let read = |name: &str| fs::read(sandbox.path(&format!("{name}.{ending}"))).unwrap();
        let (expected, of_one) = (read("one"), sandbox.json("s.json"));
        if arguments.contains("24MB") {
            assert!(of_one["parts"].as_u64() > Some(1), "{arguments}: {of_one}");
        }
        for mpi in Mpi::all() {
            if mpi.is_open_mpi() && !arguments.starts_with("communities") {
                continue;
            }
            for &ranks in if mpi.is_open_mpi() { &[2, 3][..] } else { &[1, 2, 3, 4, 7] } {
                let said =
                    on_ranks(&mpi, &sandbox, ranks, &format!("{run} several.{ending} --ranks mpi"));
                assert_eq!((said.code, &*said.out), (Some(0), ""), "{said:?}");
                assert!(read("several") == expected, "{arguments}, {ranks} ranks");
                let found = sandbox.json("s.json");
                for figure in FIGURES {
                    assert_eq!(
                        found[figure], of_one[figure],
                        "{figure}, {arguments}, {ranks} ranks"
                    );
                }
                assert!(of_one["graphs"].as_u64() > Some(8), "{of_one}");
                assert_eq!(found["ranks"]["graph"], "whole");
                let numbers = |of: &Value| of.as_array().map_or(0, Vec::len);
                assert_eq!(numbers(&found["ranks"]["peak_memory"]), ranks);
                assert_eq!(numbers(&found["workers"]), ranks);
                let last = format!(" s on {ranks} ranks; see several.{ending}");
                assert_eq!(said.error.matches(&last).count(), 1, "{said:?}");
                assert_eq!(said.error.matches("read ").count(), 1, "{said:?}");
            }
        }
    }
}

#[test]
fn the_first_rank_alone_prints() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = inputs();
    let said = on_ranks(&mpi, &sandbox, 3, "kcore m -o - --quiet");
    assert_eq!((said.out, said.error), (sandbox.ok("kcore m -o - --quiet"), String::new()));
    let said = on_ranks(&mpi, &sandbox, 3, "closeness t.csv --batch --estimate");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.out.matches("of the first part: 60 graphs").count(), 1, "{said:?}");
    let said = on_ranks(&mpi, &sandbox, 2, "communities m --estimate=json");
    let estimate: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(estimate["graphs"], 9, "{said:?}");
    // A file that is no graph is listed once.
    sandbox.write("m/5.txt", "1 2\n3\n");
    let said = on_ranks(&mpi, &sandbox, 2, "components m --on-error skip -o o.csv");
    assert_eq!(said.code, Some(3), "{said:?}");
    assert_eq!(said.error.matches("skipped 5: m/5.txt:2: ").count(), 1, "{said:?}");
    sandbox.run("components m --on-error skip -o one.csv");
    assert_eq!(sandbox.read("o.csv"), sandbox.read("one.csv"));
}

#[test]
fn an_error_is_reported_once_and_leaves_no_file() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = inputs();
    // In the last graph: of one rank alone.
    sandbox.write("z.csv", table(60) + "z,1,2,0\n");
    let before = sandbox.names();
    let check = |ranks, arguments: &str, code, parts: &[&str]| {
        one_error(&on_ranks(&mpi, &sandbox, ranks, arguments), code, parts);
        assert_eq!(sandbox.names(), before, "{arguments}");
    };
    let zero = "betweenness z.csv --batch --weighted -o o.csv";
    check(3, zero, 2, &["error: rank 2 on ", ": the edge from 1 to 2 of graph z has weight 0"]);
    check(
        3,
        "kcore m -o /dev/full --to csv",
        1,
        &["error: rank 0 on ", ": cannot write /dev/full"],
    );
    check(2, "kcore m -o no/o.csv", 2, &["no/o.csv"]);
    check(
        2,
        "closeness m --samples 3 -o o.csv",
        2,
        &["error: a sample is of the vertices of one graph"],
    );
    check(2, "lcc none -o o.csv --batch", 2, &["error: none: "]);
    // All ranks find it: as one process says it.
    sandbox.write("m/5.txt", "1 2\n3\n");
    check(3, "communities m -o o.csv", 2, &["error: m/5.txt:2: ", "--on-error skip"]);
    // Ranks that read different files.
    for folder in ["a", "b"] {
        sandbox.write(&format!("{folder}/m/1.txt"), "1 2\n2 3\n");
        sandbox.write(&format!("{folder}/m/2.txt"), format!("1 2\n2 {}\n", folder.len() + 2));
    }
    let run = "kcore m -o o.csv";
    assert_eq!(on_each_rank(&mpi, &sandbox, &[("a", run), ("b", run)]).code, Some(0));
    sandbox.write("b/m/2.txt", "1 2\n2 4\n");
    fs::remove_file(sandbox.path("a/o.csv")).unwrap();
    let said = on_each_rank(&mpi, &sandbox, &[("a", run), ("b", run)]);
    one_error(&said, 2, &["error: rank 1 has read other graphs than rank 0"]);
    assert!(!sandbox.path("a/o.csv").exists());
}
