//! What building a graph costs: at its peak the edge table, the finished graph, and 5 %.
//!
//! The measure is the process's peak resident memory as the kernel counts it, not what was asked
//! of the allocator: the builder reserves room for duplicates that it never touches, which costs
//! addresses and no memory. Each case runs in a process of its own, so that nothing that another
//! one freed is left over, with large blocks given back to the system at once.

#![cfg(target_os = "linux")]

use ripplet_graph::generate::{Road, Web};
use ripplet_graph::{Direction, EdgeTable, GraphBuilder};
use std::process::Command;

/// Names the case for the process that measures it.
const CASE: &str = "RIPPLET_MEMORY_CASE";
/// Beyond the 5 %: thread stacks, the allocator's own blocks, tables of ranges.
const SLACK: u64 = 1 << 20;

/// About 3 million edges in each case.
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

const CASES: [&str; 6] =
    ["undirected", "directed", "duplicates", "low degree", "weighted", "weighted directed"];

/// A field of the process's status, in bytes.
fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).expect("a field of Linux");
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

fn measure(case: &str) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    // The code and the threads are paged in before anything is counted.
    let small = || EdgeTable::new(Web::new(8).generate().unwrap().ids().clone(), vec![], vec![]);
    pool.install(|| GraphBuilder::new().build(small().unwrap()).unwrap());

    let table = table(case);
    let table_bytes = table.bytes();
    let direction = if case.ends_with("directed") && case != "undirected" {
        Direction::Directed
    } else {
        Direction::Undirected
    };
    // "5" resets the peak (proc_pid_clear_refs(5)).
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS:") - table_bytes;
    let graph = pool.install(|| GraphBuilder::new().direction(direction).build(table)).unwrap();
    let peak = status("VmHWM:") - before;

    let parts = table_bytes + graph.bytes();
    let limit = parts + parts / 20 + SLACK;
    println!(
        "{case}: peak {peak}, table {table_bytes}, graph {}, limit {limit}: {:+.2} %",
        graph.bytes(),
        100.0 * (peak as f64 / parts as f64 - 1.0)
    );
    assert!(peak > graph.bytes(), "{case}: the measure sees the graph");
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
