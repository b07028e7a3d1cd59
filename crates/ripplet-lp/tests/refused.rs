//! Quality measures and refinement return an error for each refused allocation.
//!
//! This is the only test of its program: its allocator refuses.

use ripplet_generate::Planted;
use ripplet_graph::{Graph, GraphBuilder, Plan};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::Lpa;
use ripplet_lp::quality::{
    Cover, Quality, QualityError, agreement, overlap_agreement, per_community,
};
use ripplet_lp::refine::{self, MergeShare, Objective, RefineError, RefineOptions, Resolution};
use ripplet_lp::{Executor, NO_LABEL, RunError, Settings, Stop};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

const VERTICES: u32 = 3000;

struct Refusing;

/// Smaller allocations, in bytes, do not grow with the input and are always granted.
static LEAST: AtomicU64 = AtomicU64::new(256);

/// The number of the large allocation that is refused, counted from 1.
static REFUSED: AtomicU64 = AtomicU64::new(0);
static LARGE: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged, or returns null, which the trait
// allows; counting touches only atomics.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let is_large = layout.size() as u64 >= LEAST.load(SeqCst);
        if is_large && LARGE.fetch_add(1, SeqCst) + 1 == REFUSED.load(SeqCst) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Runs `measure` with every large allocation granted, then once for each with that one refused.
fn check<T>(name: &str, measure: impl Fn() -> Result<T, QualityError>) {
    let is_refused = |error: &QualityError| matches!(error, QualityError::OutOfMemory { .. });
    check_each(name, measure, is_refused);
}

/// Does what [`check`] does, for any error.
fn check_each<T, E>(
    name: &str,
    measure: impl Fn() -> Result<T, E>,
    is_refused: impl Fn(&E) -> bool,
) {
    let with = |refused: u64| {
        LARGE.store(0, SeqCst);
        REFUSED.store(refused, SeqCst);
        let found = measure();
        REFUSED.store(0, SeqCst);
        found
    };
    assert!(with(0).is_ok(), "{name}");
    let all = LARGE.load(SeqCst);
    assert!(all > 0, "{name} needs no memory");
    for refused in 1..=all {
        let error = with(refused).err();
        assert!(
            error.is_some_and(|error| is_refused(&error)),
            "{name}: allocation {refused} of {all} was refused in vain"
        );
    }
}

#[test]
fn every_large_allocation_of_a_measure_may_be_refused() {
    let edges = Planted::new(VERTICES.into(), 40_000, 0.3).generate().unwrap().edges;
    let graph: Graph = GraphBuilder::new().build(edges).unwrap();
    let blocks: Vec<u32> = (0..VERTICES).map(|v| v / 100).collect();
    let others: Vec<u32> =
        (0..VERTICES).map(|v| if v % 7 == 0 { NO_LABEL } else { v % 50 }).collect();
    let cover = |labels: &[u32], twice: u32| {
        let first = (0..).zip(labels).filter(|&(_, &label)| label != NO_LABEL);
        let first = first.map(|(v, &label)| (v, label));
        Cover::new(VERTICES, 60, first.chain((0..twice).map(|v| (v, 59))))
    };
    let (a, b) = (cover(&blocks, 0).unwrap(), cover(&others, 0).unwrap());
    let (both, all) = (cover(&others, 600).unwrap(), cover(&[], VERTICES).unwrap());
    // 300 vertices in ten communities each: there are fewer pairs of vertices than sets of
    // communities.
    let crowd = (0..300).flat_map(|v| (0..10).map(move |community| (v, community)));
    let rest = (300..VERTICES).map(|v| (v, 10 + v % 50));
    let crowded = Cover::new(VERTICES, 60, crowd.chain(rest)).unwrap();
    // One thread, so that the allocations come in the same order in every run.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        check("quality", || Quality::of(&graph, &others));
        check("agreement", || agreement(&blocks, &others));
        check("a cover", || cover(&others, 600));
        check("labels", || a.labels());
        check("what both have", || both.within(&b));
        check("agreement of partitions", || overlap_agreement(&a, &b));
        check("agreement of covers", || overlap_agreement(&a, &both));
        check("agreement of covers in many sets", || overlap_agreement(&crowded, &both));
        check("each community", || per_community(&graph, &both, 1.0));
        check("one community of all", || per_community(&graph, &all, 1.0));
    });
    // Smaller ones are of the rounds and of tasks.
    LEAST.store(8192, SeqCst);
    pool.install(|| refinement(&graph, &blocks));
}

/// Errors of refinement and merging have the planned bytes of the whole run.
fn refinement(graph: &Graph, blocks: &[u32]) {
    let planned = |plan: Plan| {
        let bytes = plan.algorithm_host();
        move |error: &RefineError| *error == RunError::OutOfMemory { bytes }.into()
    };
    let objective = Objective::Modularity(Resolution::Fixed(1.0));
    let options = RefineOptions::new(objective);
    let plan = refine::plan(graph, &options, 1);
    check_each("refinement", || refine::refine(graph, &options, &mut ()), planned(plan.clone()));
    let plan = plan.with("levels", refine::hierarchy_bytes(VERTICES.into()));
    let hierarchy = || refine::hierarchy(graph, objective, 0, blocks, &mut ());
    check_each("a hierarchy", hierarchy, planned(plan));
    let plan = refine::plan(graph, &options, 1);
    let bytes = refine::dendrogram_bytes(VERTICES.into(), graph.arcs());
    let dendrogram = || refine::dendrogram(graph, objective, blocks, &mut ());
    check_each("a dendrogram", dendrogram, planned(plan.with("a dendrogram", bytes)));
    let settings = Settings {
        merge: Some(MergeShare::default()),
        initial: Some(blocks.into()),
        stop: Stop::after(1),
        ..Settings::default()
    };
    let executor = CpuExecutor::new(Some(1)).unwrap();
    let bytes = executor.plan(graph, &Lpa::default(), &settings).algorithm_host();
    // The lists of contracted graphs; a program's labels are collected without a check.
    LEAST.store(100_000, SeqCst);
    let run = || executor.run(graph, &Lpa::default(), &settings, &mut ());
    check_each("merging", run, |error| *error == RunError::OutOfMemory { bytes });
}
