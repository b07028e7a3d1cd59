//! Measures detection on a window of generated transactions: `measure_detection [--transactions N] [--days N] [--known F]
//! [--device cpu|cuda] [--threads N] [--no-closure] [--repeat N]`. The graph has N transactions of the
//! first `--days` days; an edge's weight is its number of transactions. Prints lines of JSON: the graph, the plan, the
//! seconds of each step beside the peak memory, and the result. Label propagation runs `--repeat` times.

use ripplet_bench::{Arguments, Result};
use ripplet_cuda::DeviceExecutor;
use ripplet_fraud::Timestamp;
use ripplet_fraud::detect::{self, Detection, Known, gather, spread};
use ripplet_fraud::scores::score;
use ripplet_fraud::ties::Ties;
use ripplet_generate::Transactions;
use ripplet_gpu::{CudaDevice, Device};
use ripplet_graph::{Graph, VertexId};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::{Executor, NO_LABEL};
use serde_json::json;
use std::time::Instant;

/// Transactions of the first 30 days, at scale 1.
const OF_30_DAYS: f64 = 4.3e9;

fn main() -> Result<()> {
    let arguments = Arguments::of_process();
    let count: f64 = arguments.or("--transactions", 50e6)?;
    let days: u32 = arguments.or("--days", 30)?;
    let share: f64 = arguments.or("--known", 0.1)?;
    let scale = count / OF_30_DAYS * 30.0 / f64::from(days);
    let transactions = Transactions::new(days, scale).prepare()?;
    let graph = transactions.graph()?;
    let known = (0..transactions.rings()).flat_map(|ring| transactions.known(ring, share));
    let mut bad: Vec<VertexId> = known.collect();
    bad.sort_unstable();
    bad.dedup();
    let known = Known { bad: &bad, trusted: &[] };
    let mut detection = Detection::default();
    detection.ties.closure = !arguments.has("--no-closure");
    let threads = arguments.asked("--threads")?;
    let repeat: u32 = arguments.or("--repeat", 1)?;
    println!(
        "{}",
        json!({
            "transactions": count, "days": days, "vertices": graph.vertices(), "edges": graph.edges(),
            "bytes": graph.bytes(), "known": bad.len(), "rings": transactions.rings(), "peak_bytes": peak(),
        })
    );
    drop(transactions);
    let (graph, detection) = (&graph, &detection);
    if arguments.option("--device") == Some("cuda") {
        let executor = DeviceExecutor::new(CudaDevice::new(0)?);
        println!("{}", json!({ "device": executor.device().properties().name }));
        measure(&executor, graph, known, detection, repeat)
    } else {
        let executor = CpuExecutor::new(threads)?;
        println!("{}", json!({ "device": "cpu", "threads": executor.threads() }));
        let done = executor.install(|| {
            measure(&executor, graph, known, detection, repeat).map_err(|error| error.to_string())
        });
        Ok(done?)
    }
}

fn measure<E: Executor>(
    executor: &E,
    graph: &Graph,
    known: Known<'_>,
    detection: &Detection,
    repeat: u32,
) -> Result<()> {
    let plan = detect::plan(executor, graph, detection);
    println!(
        "{}",
        json!({ "step": "plan", "bytes": plan.total_host(), "of_the_graph": plan.graph_host })
    );
    let start = Instant::now();
    let ties = Ties::of(graph, detection.ties, known.trusted)?;
    let (seconds, peak_bytes) = (start.elapsed().as_secs_f64(), peak());
    println!(
        "{}",
        json!({
            "step": "ties", "seconds": seconds, "ties": ties.count(), "kept": ties.kept(),
            "peak_bytes": peak_bytes,
        })
    );
    let mut found = None;
    for _ in 0..repeat.max(1) {
        let start = Instant::now();
        let spread = spread(executor, &ties, known, detection, None, &mut ())?;
        let (seconds, peak_bytes) = (start.elapsed().as_secs_f64(), peak());
        let in_rounds: f64 = spread.rounds.iter().map(|round| round.seconds).sum();
        let visited: u64 = spread.rounds.iter().map(|round| round.visited).sum();
        let reached = spread.labels.iter().filter(|label| **label != NO_LABEL).count();
        println!(
            "{}",
            json!({
                "step": "labels", "seconds": seconds, "seconds_in_rounds": in_rounds,
                "rounds": spread.rounds.len(), "visited": visited, "reached": reached,
                "strengths": spread.strengths.iter().map(|strength| f64::from(*strength)).sum::<f64>(),
                "converged": spread.converged, "peak_bytes": peak_bytes,
            })
        );
        found = Some(spread);
    }
    let start = Instant::now();
    let detected = gather(executor, ties, found.unwrap_or_default(), known, detection, &mut ())?;
    let (seconds, peak_bytes) = (start.elapsed().as_secs_f64(), peak());
    println!(
        "{}",
        json!({
            "step": "clusters", "seconds": seconds, "groups": detected.groups.len(),
            "alone": detected.alone, "too_large": detected.too_large, "peak_bytes": peak_bytes,
        })
    );
    let start = Instant::now();
    let findings = score(graph, &detected, known, Timestamp(0))?;
    let (seconds, peak_bytes) = (start.elapsed().as_secs_f64(), peak());
    println!(
        "{}",
        json!({
            "step": "scores", "seconds": seconds, "clusters": findings.clusters.len(),
            "members": findings.members.len(), "peak_bytes": peak_bytes,
        })
    );
    Ok(())
}

/// Returns the peak memory of the process in bytes, if the system has it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}
