//! What detection takes on a window of a generated market: `measure_detection [--transactions N] [--days N] [--known F]
//! [--threads N] [--no-closure]`. The graph is that of so many transactions of the first so many days, weighed by their
//! number. Prints lines of JSON: the graph, the plan, seconds of each step beside the memory's high-water mark, and what
//! was found.

use ripplet_bench::Result;
use ripplet_fraud::Timestamp;
use ripplet_fraud::detect::{self, Detection, Known, gather, spread};
use ripplet_fraud::scores::score;
use ripplet_fraud::ties::Ties;
use ripplet_graph::VertexId;
use ripplet_graph::generate::Transactions;
use ripplet_lp::cpu::CpuExecutor;
use serde_json::json;
use std::time::Instant;

/// Transactions of the first 30 days of the market, at scale 1.
const OF_30_DAYS: f64 = 4.3e9;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let transactions: f64 = option("--transactions").map_or(Ok(50e6), str::parse)?;
    let days: u32 = option("--days").map_or(Ok(30), str::parse)?;
    let share: f64 = option("--known").map_or(Ok(0.1), str::parse)?;
    let scale = transactions / OF_30_DAYS * 30.0 / f64::from(days);
    let market = Transactions::new(days, scale).market()?;
    let graph = market.graph()?;
    let known = (0..market.rings()).flat_map(|ring| market.known(ring, share));
    let mut bad: Vec<VertexId> = known.collect();
    bad.sort_unstable();
    bad.dedup();
    let known = Known { bad: &bad, trusted: &[] };
    let mut detection = Detection::default();
    detection.ties.closure = !arguments.iter().any(|argument| argument == "--no-closure");
    let executor = CpuExecutor::new(option("--threads").map(str::parse).transpose()?)?;
    let plan = detect::plan(&executor, &graph, &detection);
    println!(
        "{}",
        json!({
            "transactions": transactions, "days": days, "vertices": graph.vertices(), "edges": graph.edges(),
            "bytes": graph.bytes(), "known": bad.len(), "rings": market.rings(), "threads": executor.threads(),
            "planned_bytes": plan.total_host(), "peak_bytes": peak(),
        })
    );
    executor.install(|| -> std::result::Result<(), String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let start = Instant::now();
        let ties = Ties::of(&graph, detection.ties, &[]).map_err(|error| text(&error))?;
        let judged = start.elapsed().as_secs_f64();
        println!(
            "{}",
            json!({ "step": "ties", "seconds": judged, "ties": ties.count(), "kept": ties.kept(), "peak_bytes": peak() })
        );
        let start = Instant::now();
        let found = spread(&executor, &ties, known, &detection, None, &mut ());
        let found = found.map_err(|error| text(&error))?;
        let (seconds, rounds) = (start.elapsed().as_secs_f64(), found.rounds.len());
        let visited: u64 = found.rounds.iter().map(|round| round.visited).sum();
        println!(
            "{}",
            json!({
                "step": "labels", "seconds": seconds, "rounds": rounds, "visited": visited,
                "converged": found.converged, "peak_bytes": peak(),
            })
        );
        let start = Instant::now();
        let detected = gather(&executor, ties, found, known, &detection, &mut ());
        let detected = detected.map_err(|error| text(&error))?;
        println!(
            "{}",
            json!({
                "step": "clusters", "seconds": start.elapsed().as_secs_f64(), "groups": detected.groups.len(),
                "alone": detected.alone, "too_large": detected.too_large, "peak_bytes": peak(),
            })
        );
        let start = Instant::now();
        let findings = score(&graph, &detected, known, Timestamp(0)).map_err(|error| text(&error))?;
        println!(
            "{}",
            json!({
                "step": "scores", "seconds": start.elapsed().as_secs_f64(), "clusters": findings.clusters.len(),
                "members": findings.members.len(), "peak_bytes": peak(),
            })
        );
        Ok(())
    })?;
    Ok(())
}

/// The most memory that the process had, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}
