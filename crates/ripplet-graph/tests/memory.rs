//! Peak memory of building a graph or a batch, and of compressing lists.
//!
//! The limit is the input table (nothing for lists), the result, and 5 %.
//!
//! The measure is the process's peak resident memory as the kernel counts it, not the sum of
//! requests to the allocator. The builder reserves room for duplicates that it never touches, which
//! costs addresses and no memory. Each case runs in its own process, so that nothing freed by
//! another case is left over. Large blocks are returned to the system at once.

#![cfg(target_os = "linux")]

use ripplet_generate::{Road, Web};
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, Members};
use ripplet_graph::compressed::CompressedAdjacency;
use ripplet_graph::{Direction, EdgeTable, GraphBuilder};
use std::process::Command;

/// Environment variable that names the case for the measuring process.
const CASE: &str = "RIPPLET_MEMORY_CASE";
/// Allowance beyond the 5 %: thread stacks, the allocator's own blocks, tables of ranges.
const SLACK: u64 = 1 << 20;

/// Returns a table of about 3 million edges.
fn table(case: &str) -> EdgeTable {
    let web = || Web { edge_factor: 24, ..Web::new(17) }.generate().unwrap();
    match case {
        "undirected" | "directed" => web(),
        "duplicates" => {
            // Each edge twice in both directions.
            let once = Web { edge_factor: 6, ..Web::new(17) }.generate().unwrap();
            let [s, t] = [once.sources(), once.targets()];
            EdgeTable::new(once.ids().clone(), [s, t, s, t].concat(), [t, s, t, s].concat())
                .unwrap()
        }
        "low degree" => Road { rows: 1600, columns: 1600, ..Road::new(0) }.generate().unwrap(),
        "weighted" | "weighted directed" => {
            let table = web();
            let weights = (0..table.len()).map(|row| 0.25 + (row % 1000) as f64).collect();
            table.with_weights(weights).unwrap()
        }
        other => panic!("no case is named {other}"),
    }
}

/// Returns 30,000 graphs of 40 vertices with 50 edges each, in both directions, some of them twice.
fn batch_table(weighted: bool) -> BatchTable {
    const GRAPHS: u32 = 30_000;
    let mut rows = BatchRows::default();
    for graph in 0..GRAPHS {
        for edge in 0..50 {
            let (s, t) = (edge % 40, (edge * 7 + graph % 5 + 1) % 40);
            for (s, t) in [(s, t), (t, s)] {
                rows.graphs.push(graph);
                rows.sources.push(s);
                rows.targets.push(t);
            }
        }
    }
    for column in [&mut rows.graphs, &mut rows.sources, &mut rows.targets] {
        column.shrink_to_fit();
    }
    rows.weights =
        weighted.then(|| (0..rows.graphs.len()).map(|row| 0.25 + (row % 1000) as f64).collect());
    let members = Members::of_sizes((0..GRAPHS as usize).map(|_| 40)).unwrap();
    BatchTable::new(members, rows).unwrap()
}

/// The bytes of the input, and the construction, which returns the bytes of its result.
type Building = (u64, Box<dyn FnOnce() -> u64 + Send>);

fn building(case: &str) -> Building {
    let directed = case.ends_with("directed") && case != "undirected";
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    if case.starts_with("batch") {
        let table = batch_table(case.contains("weighted"));
        let starts = size_of_val(table.members().vertex_starts()) as u64;
        let build = move |table| BatchBuilder::new().direction(direction).build(table).unwrap();
        // The starts of graphs are counted once: the batch takes them over from the table.
        return (table.bytes(), Box::new(move || build(table).bytes() - starts));
    }
    if case == "compressed" {
        let graph = GraphBuilder::new().build(table("undirected")).unwrap();
        let compress = move || CompressedAdjacency::of(graph.shards()[0].out(), 0).unwrap().bytes();
        return (0, Box::new(compress));
    }
    let table = table(case);
    let build = move |table| GraphBuilder::new().direction(direction).build(table).unwrap();
    (table.bytes(), Box::new(move || build(table).bytes()))
}

const CASES: [&str; 10] = [
    "undirected",
    "directed",
    "duplicates",
    "low degree",
    "weighted",
    "weighted directed",
    "batch",
    "batch weighted",
    "batch directed",
    "compressed",
];

/// Returns a field of the process's status, in bytes.
fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).expect("a field of Linux");
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

fn measure(case: &str) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    // Code and threads are paged in before anything is counted.
    let small = || EdgeTable::new(Web::new(8).generate().unwrap().ids().clone(), vec![], vec![]);
    pool.install(|| GraphBuilder::new().build(small().unwrap()).unwrap());

    let (table_bytes, build) = building(case);
    // "5" resets the peak (proc_pid_clear_refs(5)).
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS:") - table_bytes;
    let built = pool.install(build);
    let peak = status("VmHWM:") - before;

    let parts = table_bytes + built;
    let limit = parts + parts / 20 + SLACK;
    println!(
        "{case}: peak {peak}, table {table_bytes}, built {built}, limit {limit}: {:+.2} %",
        100.0 * (peak as f64 / parts as f64 - 1.0)
    );
    // A little of the result may reuse memory of something freed by now, such as a table.
    assert!(peak > built - built / 10, "{case}: the measure sees what is built");
    assert!(peak <= limit, "{case}: peak {peak} beyond {limit}");
}

#[test]
fn the_peak_is_the_table_the_graph_and_5_percent() {
    if let Ok(case) = std::env::var(CASE) {
        return measure(&case);
    }
    for case in CASES {
        let run = Command::new(std::env::current_exe().unwrap())
            .arg("--nocapture")
            .env(CASE, case)
            .env("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=65536")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        println!("{}", text(&run.stdout));
        assert!(run.status.success(), "{}{}", text(&run.stdout), text(&run.stderr));
    }
}
