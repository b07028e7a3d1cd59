//! A memory plan is a tight upper bound on what a run allocates; a refused allocation is an error.
//!
//! The allocator counts every allocation of the process, and other tests allocate, too. Each case
//! therefore runs in its own process.

use ripplet_analytics::closeness::{self, Closeness};
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_analytics::pagerank::PageRank;
use ripplet_analytics::{
    AnalysisError, Lengths, Sample, Sources, apsp, betweenness, edge_betweenness,
};
use ripplet_generate::{Rmat, Road};
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchSlice, BatchTable, Members};
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder};
use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// Environment variable that names the case for the measuring process.
const CASE: &str = "RIPPLET_ANALYTICS_MEMORY_CASE";
const CASES: [&str; 7] =
    ["rmat", "directed rmat", "road", "directed road", "weighted", "directed weighted", COMPRESSED];
const COMPRESSED: &str = "compressed";

struct Counting;

static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);
/// Total above which the allocator refuses large requests.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
const LARGE: usize = 4 << 10;

// SAFETY: every call goes to the system's allocator unchanged, or returns null, which the trait
// allows; counting touches only atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size() as u64, SeqCst) + layout.size() as u64;
        if layout.size() > LARGE && live > LIMIT.load(SeqCst) {
            LIVE.fetch_sub(layout.size() as u64, SeqCst);
            return std::ptr::null_mut();
        }
        PEAK.fetch_max(live, SeqCst);
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, SeqCst);
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allowance for rayon's queues beside the plan, in bytes.
const SLACK: u64 = 64 << 10;

fn graph(case: &str) -> Graph {
    let edges: EdgeTable = match case.ends_with("road") {
        true => Road { rows: 400, columns: 500, ..Road::new(0) }.generate().unwrap(),
        false => Rmat { edge_factor: 8, ..Rmat::new(16) }.generate().unwrap(),
    };
    let directed = case.starts_with("directed");
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    GraphBuilder::new().direction(direction).build(edges).unwrap()
}

fn measure(case: &str) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build().unwrap();
    if case == COMPRESSED {
        return measure_compressed();
    }
    match case.strip_suffix("weighted") {
        Some(directed) => pool.install(|| measure_lengths(case, !directed.is_empty())),
        None => pool.install(|| measure_lcc(case)),
    }
}

/// Number of threads of the runs.
const THREADS: usize = 3;

fn measure_lcc(case: &str) {
    let graph = graph(case);
    for lcc in [Lcc::new(Definition::Ldbc), Lcc::new(Definition::Fagiolo).with_triangles()] {
        let planned = lcc.plan(&graph, THREADS).algorithm_host();
        hold(&format!("{case} {lcc:?}"), planned, || {
            let found = lcc.run(&graph, &mut ())?;
            assert_eq!(found.coefficients.len(), graph.vertices() as usize);
            Ok(())
        });
    }
}

/// Measures distances between all vertices of a graph and of a batch of three such graphs.
fn measure_lengths(case: &str, directed: bool) {
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    let edges = Rmat { edge_factor: 4, ..Rmat::new(10) }.generate().unwrap();
    let weights: Vec<f64> = (0..edges.len()).map(|row| 1.0 + (row % 9) as f64).collect();
    let members = Members::of_sizes([1024, 1024, 1024].into_iter()).unwrap();
    let rows = BatchRows {
        graphs: [0, 1, 2].into_iter().flat_map(|graph| vec![graph; edges.len()]).collect(),
        sources: edges.sources().repeat(3),
        targets: edges.targets().repeat(3),
        weights: Some(weights.repeat(3)),
    };
    let edges = edges.with_weights(weights).unwrap();
    let one = GraphBuilder::new().direction(direction).build(edges).unwrap();
    let table = BatchTable::new(members, rows).unwrap();
    let batch = BatchBuilder::new().direction(direction).build(table).unwrap();
    for lengths in [Lengths::Hops, Lengths::Weights] {
        measure_graph(&format!("{case} {lengths:?}"), &one, lengths);
        measure_batch(&format!("{case} {lengths:?}, batch"), batch.all(), lengths);
    }
}

fn measure_graph(case: &str, graph: &Graph, lengths: Lengths) {
    let harmonic = Closeness::Harmonic;
    let planned = closeness::plan(graph, harmonic, lengths, THREADS).algorithm_host();
    hold(&format!("{case} closeness"), planned, || {
        closeness::closeness(graph, harmonic, false, lengths, &mut ()).map(drop)
    });
    let planned = apsp::plan_of_summary(graph, lengths, THREADS).algorithm_host();
    hold(&format!("{case} summary"), planned, || apsp::summary(graph, lengths, &mut ()).map(drop));
    let planned = apsp::plan_of_weighted_rows(graph, None, THREADS).algorithm_host();
    hold(&format!("{case} rows"), planned, || {
        apsp::weighted_rows(graph, &mut (), |_, _| Ok::<_, AnalysisError>(()))
    });
    let planned = edge_betweenness::plan(graph, lengths, THREADS).algorithm_host();
    hold(&format!("{case} edges"), planned, || {
        edge_betweenness::edge_betweenness(graph, false, lengths, &mut ()).map(drop)
    });
    let ranks = PageRank { weighted: lengths == Lengths::Weights, ..PageRank::default() };
    hold(&format!("{case} ranks"), ranks.plan(graph).algorithm_host(), || {
        ranks.run(graph, &mut ()).map(drop)
    });
    let planned = betweenness::plan(graph, lengths, THREADS).algorithm_host();
    hold(&format!("{case} betweenness"), planned, || {
        betweenness::betweenness(graph, false, lengths, &mut ()).map(drop)
    });
    let sample = Sample { vertices: 64, seed: 1 };
    for measure in [Closeness::Reciprocal, Closeness::Harmonic] {
        let planned = closeness::plan_of_sampled(graph, measure, lengths, sample, THREADS);
        hold(&format!("{case} sampled {measure:?}"), planned.algorithm_host(), || {
            closeness::sampled_closeness(graph, measure, false, lengths, sample, &mut ()).map(drop)
        });
    }
    let some = Sources::new(graph.vertices(), [1, 64, 65, 900]).unwrap();
    for measure in [Closeness::Reciprocal, Closeness::Harmonic] {
        let planned = closeness::plan_of_some(graph, &some, measure, lengths, THREADS);
        hold(&format!("{case} {measure:?} of some"), planned.algorithm_host(), || {
            closeness::closeness_of_some(graph, &some, measure, false, lengths, &mut ()).map(drop)
        });
    }
    let planned = betweenness::plan_of_sampled(graph, lengths, sample, THREADS).algorithm_host();
    hold(&format!("{case} sampled betweenness"), planned, || {
        betweenness::sampled_betweenness(graph, false, lengths, sample, &mut ()).map(drop)
    });
    let planned =
        edge_betweenness::plan_of_sampled(graph, lengths, sample, THREADS).algorithm_host();
    hold(&format!("{case} sampled edges"), planned, || {
        edge_betweenness::sampled_edge_betweenness(graph, false, lengths, sample, &mut ()).map(drop)
    });
}

fn measure_batch(case: &str, graphs: BatchSlice<'_>, lengths: Lengths) {
    let harmonic = Closeness::Harmonic;
    let planned = closeness::plan_of_batch(graphs, harmonic, lengths, THREADS).algorithm_host();
    hold(&format!("{case} closeness"), planned, || {
        closeness::closeness_of_batch(graphs, harmonic, false, lengths, &mut ()).map(drop)
    });
    let planned = apsp::plan_of_batch(graphs, lengths, THREADS).algorithm_host();
    hold(&format!("{case} summary"), planned, || {
        apsp::summary_of_batch(graphs, lengths, &mut ()).map(drop)
    });
    let planned = edge_betweenness::plan_of_batch(graphs, lengths, THREADS).algorithm_host();
    hold(&format!("{case} edges"), planned, || {
        edge_betweenness::edge_betweenness_of_batch(graphs, false, lengths, &mut ()).map(drop)
    });
    let lcc = Lcc::new(Definition::Fagiolo).with_triangles();
    let planned = lcc.plan_of_batch(graphs, THREADS).algorithm_host();
    hold(&format!("{case} lcc"), planned, || lcc.run_batch(graphs, &mut ()).map(drop));
    let ranks = PageRank { weighted: lengths == Lengths::Weights, ..PageRank::default() };
    let planned = ranks.plan_of_batch(graphs, THREADS).algorithm_host();
    hold(&format!("{case} ranks"), planned, || ranks.run_batch(graphs, &mut ()).map(drop));
    let planned = betweenness::plan_of_batch(graphs, lengths, THREADS).algorithm_host();
    hold(&format!("{case} betweenness"), planned, || {
        betweenness::betweenness_of_batch(graphs, false, lengths, &mut ()).map(drop)
    });
}

/// Measures analyses of compressed graphs on one thread: beside the graph they need less memory than
/// its decoded lists.
fn measure_compressed() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let graph = |scale, edge_factor| {
        let edges = Rmat { edge_factor, ..Rmat::new(scale) }.generate().unwrap();
        let graph = GraphBuilder::new().build(edges).unwrap();
        let plain = graph.bytes();
        (CompressedGraph::of(graph).unwrap(), plain)
    };
    let below = |case: &str, plain: u64, planned: u64, run: &(dyn Fn() + Sync)| {
        let before = LIVE.load(SeqCst);
        PEAK.store(before, SeqCst);
        pool.install(run);
        let used = PEAK.load(SeqCst) - before;
        println!("{case}: {used} bytes used, {planned} planned; plain lists: {plain}");
        assert!(used <= planned + SLACK, "{case}: {used} bytes used, {planned} planned");
        assert!(used < plain, "{case}: {used} bytes used beside plain lists of {plain}");
    };
    let (large, plain) = graph(15, 48);
    let lcc = Lcc::new(Definition::Ldbc);
    below("compressed lcc", plain, lcc.plan(&large, 1).algorithm_host(), &|| {
        lcc.run(&large, &mut ()).unwrap();
    });
    let ranks = PageRank::default();
    below("compressed ranks", plain, ranks.plan(&large).algorithm_host(), &|| {
        ranks.run(&large, &mut ()).unwrap();
    });
    // More arcs than the engine for small graphs takes.
    let (dense, plain) = graph(11, 96);
    let (harmonic, hops) = (Closeness::Harmonic, Lengths::Hops);
    let planned = closeness::plan(&dense, harmonic, hops, 1).algorithm_host();
    below("compressed closeness", plain, planned, &|| {
        closeness::closeness(&dense, harmonic, false, hops, &mut ()).unwrap();
    });
    let planned = betweenness::plan(&dense, hops, 1).algorithm_host();
    below("compressed betweenness", plain, planned, &|| {
        betweenness::betweenness(&dense, false, hops, &mut ()).unwrap();
    });
    // Without scratch for decoded lists, as on a plain graph.
    let planned = apsp::plan_of_summary(&dense, hops, 1).algorithm_host();
    below("compressed summary", plain, planned, &|| {
        apsp::summary(&dense, hops, &mut ()).unwrap();
    });
}

/// Runs with all memory and with less, and checks that the use is as planned and refusals are
/// errors.
fn hold(case: &str, planned: u64, run: impl Fn() -> Result<(), AnalysisError>) {
    let before = LIVE.load(SeqCst);
    PEAK.store(before, SeqCst);
    run().unwrap();
    let used = PEAK.load(SeqCst) - before;
    println!("{case}: {used} bytes used, {planned} planned");
    assert!(used <= planned + SLACK, "{case}: {used} bytes used, {planned} planned");
    // The plan counts a directed edge in both directions as two.
    assert!((used + SLACK) * 10 >= planned * 7, "{case}: {used} bytes used, {planned} planned");

    // With less memory, the run returns an error and frees everything.
    let mut refused = 0;
    for part in 0..20 {
        LIMIT.store(before + planned * part / 20, SeqCst);
        let found = run();
        LIMIT.store(u64::MAX, SeqCst);
        match found {
            Ok(()) => assert!(part > 10, "{case}: {part} 20ths suffice"),
            Err(AnalysisError::OutOfMemory(error)) => {
                assert!(error.bytes > 0);
                refused += 1;
            }
            Err(error) => panic!("{case}: {error}"),
        }
    }
    assert!(refused > 10);
    let left = LIVE.load(SeqCst).saturating_sub(before);
    assert!(left < SLACK, "{case}: {left} bytes are left");
}

#[test]
fn runs_allocate_what_they_planned() {
    if let Ok(case) = std::env::var(CASE) {
        return measure(&case);
    }
    for case in CASES {
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "memory::runs_allocate_what_they_planned", "--nocapture"])
            .env(CASE, case)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        println!("{}", text(&run.stdout));
        assert!(run.status.success(), "{}{}", text(&run.stdout), text(&run.stderr));
        assert!(text(&run.stdout).contains("bytes used"), "{case} was not measured");
    }
}

#[test]
fn a_plan_names_its_parts() {
    let parts = |lcc: Lcc, case: &str| -> Vec<(&'static str, u64)> {
        lcc.plan(&graph(case), 2).items.iter().map(|item| (item.purpose, item.bytes)).collect()
    };
    let graph = graph("road");
    let (vertices, edges) = (u64::from(graph.vertices()), graph.edges());
    let plain = parts(Lcc::new(Definition::Ldbc), "road");
    assert_eq!(plain[0], ("each edge once, by rank", 4 * edges));
    let (purpose, bytes) = plain[1];
    assert_eq!(purpose, "ranks, places, coefficients");
    assert!((16 * vertices..17 * vertices).contains(&bytes), "{bytes}");
    assert_eq!(plain[2], ("hubs' lists, as bits", 2 << 20));
    // At most 3/8 of a megabyte and the memory of lists of √(2 · edges), for each of 2 threads.
    let (purpose, bytes) = plain[3];
    assert_eq!(purpose, "marks, a piece a thread");
    assert!(bytes < 2 * ((384 << 10) + 16 * 900), "{bytes}");
    assert_eq!(plain.len(), 4);
    let directed = parts(Lcc::new(Definition::Fagiolo).with_triangles(), "directed road");
    let names: Vec<&str> = directed.iter().map(|&(purpose, _)| purpose).collect();
    let rest = [
        "edges in both directions",
        "triangles",
        "hubs' lists, as bits",
        "marks, a piece a thread",
    ];
    assert_eq!(names[2..], rest);
    assert_eq!((directed[3].1, directed[4].1), (8 * vertices, 4 << 20));
}
