//! Times opening a `.rg` of 20 million arcs, with all checks, beside the ceiling: the time to sum
//! its bytes once.
//!
//! `cargo run --release -p ripplet-bench --bin rg_load`

use rayon::prelude::*;
use ripplet_graph::{EdgeTable, EdgeTableError, GraphBuilder, VertexIds};
use ripplet_io::rg;
use std::path::Path;
use std::time::{Duration, Instant};

const VERTICES: u32 = 1_000_000;
const EDGES: usize = 10_000_000;
const TIMES: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("graph.rg");
    let graph = GraphBuilder::new().build(edges()?)?;
    let arcs = graph.arcs();
    let begin = Instant::now();
    rg::write(&graph, &path)?;
    let written = begin.elapsed();
    drop(graph);

    let (bytes, threads) = (std::fs::metadata(&path)?.len(), rayon::current_num_threads());
    println!("{VERTICES} vertices, {arcs} arcs, {bytes} bytes, {threads} threads");
    println!("write, synced to the disk: {:.1} ms", milliseconds(written));
    let (mut open, mut sum) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let begin = Instant::now();
        let graph = rg::open(&path)?;
        open.push(begin.elapsed());
        assert_eq!(graph.arcs(), arcs);
        drop(graph);
        sum.push(time_to_sum(&path)?);
    }
    report("open", &mut open);
    report("map and add up, the ceiling", &mut sum);
    Ok(())
}

/// Random edges: what they are makes no difference to a checksum.
fn edges() -> Result<EdgeTable, EdgeTableError> {
    let mut state = 1u64;
    let mut vertex = || {
        // SplitMix64 (Steele, Lea and Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % u64::from(VERTICES)) as u32
    };
    let sources = (0..EDGES).map(|_| vertex()).collect();
    let targets = (0..EDGES).map(|_| vertex()).collect();
    EdgeTable::new(VertexIds::Consecutive { first: 0, count: VERTICES }, sources, targets)
}

fn time_to_sum(path: &Path) -> std::io::Result<Duration> {
    let begin = Instant::now();
    // SAFETY: the file is this program's own, in a folder of its own.
    let map = unsafe { memmap2::Mmap::map(&std::fs::File::open(path)?) }?;
    let add = |part: &[u8]| {
        let (words, rest) = part.as_chunks::<8>();
        let sum = |sum: u64, word: &[u8; 8]| sum.wrapping_add(u64::from_le_bytes(*word));
        rest.iter().fold(words.iter().fold(0, sum), |sum, &byte| sum.wrapping_add(byte.into()))
    };
    let sum = map.par_chunks(1 << 20).map(add).reduce(|| 0, u64::wrapping_add);
    std::hint::black_box(sum);
    Ok(begin.elapsed())
}

fn report(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let [least, median, most] =
        [times[0], times[times.len() / 2], times[times.len() - 1]].map(milliseconds);
    println!("{what}: median {median:.1} ms, {least:.1} to {most:.1} of {}", times.len());
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
