//! Quality measures take no more memory than documented, and not much less.
//!
//! This is the only test of its program: it counts every allocation of the process.

use ripplet_generate::Planted;
use ripplet_graph::{Direction, Graph, GraphBuilder};
use ripplet_lp::NO_LABEL;
use ripplet_lp::quality::{Cover, Quality, agreement, overlap_agreement};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

struct Counting;

static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes as u64, SeqCst) + bytes as u64;
    PEAK.fetch_max(live, SeqCst);
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches only atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The system moves large blocks by remapping their pages, so old and new blocks do not take
        // memory together.
        LIVE.fetch_sub(layout.size() as u64, SeqCst);
        grow(size);
        // SAFETY: the caller's contract is the same.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, SeqCst);
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const VERTICES: u32 = 60_000;
const THREADS: u64 = 3;

/// Allowance for rayon's queues and short lists of numbers, in bytes.
const SLACK: u64 = 256 << 10;

/// Runs `measure` and checks that it takes at most the documented bytes, and at least half of them.
fn check<T>(name: &str, documented: u64, measure: impl Fn() -> T) -> T {
    let (found, used) = at_most(name, documented, measure);
    assert!(used * 2 >= documented, "{name}: {used} bytes used, {documented} documented");
    found
}

/// Runs `measure` and checks that it takes at most the documented bytes. Returns its result and its
/// bytes.
fn at_most<T>(name: &str, documented: u64, measure: impl Fn() -> T) -> (T, u64) {
    let before = LIVE.load(SeqCst);
    PEAK.store(before, SeqCst);
    let found = measure();
    let used = PEAK.load(SeqCst) - before;
    println!("{name}: {used} bytes used, {documented} documented");
    assert!(used <= documented + SLACK, "{name}: {used} bytes used, {documented} documented");
    (found, used)
}

/// Returns the bytes of a cover.
fn bytes(cover: &Cover) -> u64 {
    let members: usize = (0..cover.len()).map(|community| cover.members(community).len()).sum();
    8 * (members + cover.len() + VERTICES as usize) as u64
}

fn cover(communities: u32, memberships: impl Iterator<Item = (u32, u32)>) -> Cover {
    let memberships: Vec<(u32, u32)> = memberships.collect();
    let documented = 12 * memberships.len() as u64 + 8 * u64::from(VERTICES + communities);
    let make = || Cover::new(VERTICES, communities, memberships.iter().copied()).unwrap();
    check("a cover", documented, make)
}

/// Checks the agreement of two covers; `copied` if their vertices differ, which makes a copy.
fn overlap(name: &str, a: &Cover, b: &Cover, copied: bool) {
    let (covers, communities) = (bytes(a) + bytes(b), a.len().max(b.len()) as u64);
    let of_overlaps = match a.is_disjoint() && b.is_disjoint() {
        true => 0,
        false => covers.max(20 * u64::from(VERTICES)) + 5 * u64::from(VERTICES),
    };
    let of_communities = (56 + 4 * THREADS) * communities;
    let documented = if copied { covers } else { 0 } + of_communities.max(of_overlaps);
    // Equal covers, and covers with few groups of vertices, take far less.
    at_most(name, documented, || overlap_agreement(a, b).unwrap());
}

/// Assigns blocks of `size` vertices; the first block begins `shift` vertices before the first
/// vertex.
fn blocks(size: u32, shift: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
    (0..VERTICES).map(move |v| (v, (v + shift) % VERTICES / size))
}

#[test]
fn measuring_takes_what_is_documented() {
    let edges = Planted::new(VERTICES.into(), 300_000, 0.3).generate().unwrap().edges;
    let directed = GraphBuilder::new().direction(Direction::Directed).build(edges.clone()).unwrap();
    let graph: Graph = GraphBuilder::new().build(edges).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS as usize).build().unwrap();
    let labels = |size, shift| blocks(size, shift).map(|(_, label)| label).collect::<Vec<u32>>();
    let vertices = u64::from(VERTICES);
    pool.install(|| {
        for size in [1, 20, VERTICES / 2] {
            let count = VERTICES / size;
            let (a, b) = (labels(size, 0), labels(size, size / 2 + 1));
            check("quality", 20 * vertices, || Quality::of(&graph, &a).unwrap());
            check("quality, directed", 20 * vertices, || Quality::of(&directed, &a).unwrap());
            let bytes = 16 * vertices + 16 * u64::from(count);
            check("agreement", bytes, || agreement(&a, &b).unwrap());
            let tenths =
                (0..).zip(&a).map(|(v, &label)| if v % 10 == 0 { NO_LABEL } else { label });
            let some: Vec<u32> = tenths.collect();
            check("agreement of some", bytes + 8 * vertices, || agreement(&some, &b).unwrap());
            let (a, b) = (cover(count, blocks(size, 0)), cover(count, blocks(size, size / 2)));
            let twice = cover(count, blocks(size, 0).chain(blocks(size, 7).step_by(3)));
            let some = cover(count, blocks(size, 3).filter(|(v, _)| v % 10 > 0));
            overlap("partitions", &a, &b, false);
            overlap("covers", &twice, &b, false);
            overlap("covers of some", &twice, &some, true);
        }
        // Each vertex is in three or four of four communities, so there are five groups of
        // vertices.
        let giants = |shift: u32| {
            let members = move |c: u32| (0..VERTICES).filter(move |v| (v + shift) % 5 != c);
            cover(4, (0..4).flat_map(move |c| members(c).map(move |v| (v, c))))
        };
        overlap("giants", &giants(0), &giants(1), false);
    });
}
