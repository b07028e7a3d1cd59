//! The plan is an upper bound on what a run allocates, and not a loose one.
//!
//! One test in a program of its own: it counts every allocation of the process.

use ripplet_graph::generate::Planted;
use ripplet_graph::{Graph, GraphBuilder};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Lpa, Resolution};
use ripplet_lp::{Executor, Program, Schedule, Settings};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

struct Counting;

static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged; counting touches only atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size() as u64, SeqCst) + layout.size() as u64;
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

/// What rayon's queues and the list of rounds may take beside the plan.
const SLACK: u64 = 64 << 10;

fn check<P: Program>(graph: &Graph, program: &P, schedule: Schedule, keep_disconnected: bool) {
    let executor = CpuExecutor::new(Some(3)).unwrap();
    let settings = Settings { schedule, keep_disconnected, ..Settings::default() };
    let plan = executor.plan(graph, program, &settings);
    let before = LIVE.load(SeqCst);
    PEAK.store(before, SeqCst);
    let found = executor.run(graph, program, &settings, &mut ()).unwrap();
    let used = PEAK.load(SeqCst) - before;
    assert_eq!(found.labels.len(), graph.vertices() as usize);

    let planned = plan.algorithm_host();
    let case = format!("{} {} keep {keep_disconnected}", program.name(), schedule.name());
    println!("{case}: {used} bytes used, {planned} planned");
    assert!(used <= planned + SLACK, "{case}: {used} bytes used, {planned} planned");
    assert!(used * 10 >= planned * 8, "{case}: {used} bytes used, {planned} planned");

    let tables = plan.items.iter().find(|item| item.purpose.contains("thread")).unwrap().bytes;
    let a_vertex = (planned - tables) as f64 / f64::from(graph.vertices());
    let most = if schedule.name() == "sync" { 12.2 } else { 9.0 };
    assert!(a_vertex <= most, "{case}: {a_vertex} bytes a vertex");
}

#[test]
fn runs_allocate_what_they_planned() {
    let edges = Planted::new(100_000, 300_000, 0.3).generate().unwrap().edges;
    let graph = GraphBuilder::new().build(edges).unwrap();
    for keep in [false, true] {
        for schedule in [Schedule::phased(), Schedule::sync(), Schedule::asynchronous()] {
            check(&graph, &Lpa::default(), schedule, keep);
            check(&graph, &Lpa::new(Resolution::OFF), schedule, keep);
        }
        check(&graph, &Cdlp, Schedule::cdlp(), keep);
    }
}
