//! Quality measures return an error for each refused allocation.
//!
//! This is the only test of its program: its allocator refuses.

use ripplet_generate::Planted;
use ripplet_graph::{Graph, GraphBuilder};
use ripplet_lp::NO_LABEL;
use ripplet_lp::quality::{
    Cover, Quality, QualityError, agreement, overlap_agreement, per_community,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

struct Refusing;

/// Smaller allocations, in bytes, do not grow with the input and are always granted.
const LEAST: usize = 256;

/// The number of the large allocation that is refused, counted from 1.
static REFUSED: AtomicU64 = AtomicU64::new(0);
static LARGE: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged, or returns null, which the trait
// allows; counting touches only atomics.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= LEAST && LARGE.fetch_add(1, SeqCst) + 1 == REFUSED.load(SeqCst) {
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
        let found = with(refused);
        let is_refused = matches!(found, Err(QualityError::OutOfMemory { .. }));
        assert!(is_refused, "{name}: allocation {refused} of {all} was refused in vain");
    }
}

#[test]
fn every_large_allocation_of_a_measure_may_be_refused() {
    const VERTICES: u32 = 3000;
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
}
