//! Measures label propagation on a generated graph of transactions on a GPU: `measure_transactions DAYS [--scale F] [--storage
//! plain|compressed] [--schedules phased,async,sync] [--rounds N]`. The graph is drawn on all cores, shard by shard; with
//! compressed lists it is never in memory as a whole. Prints lines of JSON: the graph, the planned memory beside the
//! GPU memory that the run took, and each round.

use ripplet_bench::{Arguments, Result};
use ripplet_cuda::DeviceExecutor;
use ripplet_generate::Transactions;
use ripplet_gpu::{CudaDevice, Device};
use ripplet_graph::compressed::{CompressedGraph, CompressedShard};
use ripplet_graph::{Direction, Graph, GraphView, Observer, VertexIds, WeightScale};
use ripplet_lp::programs::Lpa;
use ripplet_lp::{Executor, Round, RoundObserver, Schedule, Settings, Stop};
use serde_json::json;
use std::time::Instant;

/// Arcs of a shard.
const SHARD_ARCS: u64 = 1 << 29;

fn main() -> Result<()> {
    let arguments = Arguments::of_process();
    let days = arguments.words().first().ok_or("how many days?")?.parse()?;
    let scale = arguments.or("--scale", 1.0)?;
    let rounds: u32 = arguments.or("--rounds", 20)?;
    let storage = arguments.option("--storage").unwrap_or("compressed");
    let schedules = arguments.option("--schedules").unwrap_or("phased");

    let start = Instant::now();
    let parameters = Transactions { weighted: false, ..Transactions::new(days, scale) };
    let transactions = parameters.prepare()?;
    let ids = VertexIds::Consecutive { first: 0, count: transactions.vertices() };
    let (undirected, unit) = (Direction::Undirected, WeightScale::ONE);
    let executor = DeviceExecutor::new(CudaDevice::new(0)?);
    let (mut plain, mut compressed) = (None, None);
    if storage == "plain" {
        plain = Some(transactions.graph()?);
    } else {
        let mut shards = Vec::new();
        for range in transactions.shard_ranges(SHARD_ARCS)? {
            shards.push(CompressedShard::of(&transactions.shard(range)?)?);
        }
        compressed = Some(CompressedGraph::from_shards(ids, undirected, unit, shards)?);
    }
    let plain: Option<&Graph> = plain.as_ref();
    let graph = plain.map(GraphView::from).or(compressed.as_ref().map(GraphView::from));
    let graph = graph.ok_or("a graph")?;
    println!(
        "{}",
        json!({
            "days": days, "scale": scale, "storage": storage, "vertices": graph.vertices(),
            "arcs": graph.arcs(), "shards": graph.shards(), "bytes": graph.bytes(),
            "bits_an_arc": 8.0 * graph.bytes() as f64 / graph.arcs() as f64,
            "seconds_to_make": start.elapsed().as_secs_f64(),
            "device": executor.device().properties().name,
        })
    );
    schedules.split(',').try_for_each(|schedule| run(&executor, graph, schedule, rounds))
}

fn run(
    executor: &DeviceExecutor<CudaDevice>,
    graph: GraphView<'_>,
    schedule: &str,
    rounds: u32,
) -> Result<()> {
    let settings = Settings {
        schedule: match schedule {
            "sync" => Schedule::sync(),
            "async" => Schedule::asynchronous(),
            _ => Schedule::phased(),
        },
        stop: Stop::after(rounds).at_tolerance(0.0),
        keep_disconnected: true,
        ..Settings::default()
    };
    let program = Lpa::default();
    let plan = executor.plan(graph, &program, &settings);
    let before = executor.device().free_memory()?;
    let mut watch = Watch { device: CudaDevice::new(0)?, least: before };
    let outcome = executor.run(graph, &program, &settings, &mut watch)?;
    for (number, round) in outcome.rounds.iter().enumerate() {
        println!(
            "{}",
            json!({
                "schedule": schedule, "round": number, "seconds": round.seconds, "changed": round.changed,
                "visited": round.visited, "scanned": round.scanned,
            })
        );
    }
    let seconds: f64 = outcome.rounds.iter().map(|round| round.seconds).sum();
    let used = before - watch.least;
    println!(
        "{}",
        json!({
            "schedule": schedule, "rounds": outcome.rounds.len(), "reason": outcome.reason.name(),
            "seconds_a_round": seconds / outcome.rounds.len() as f64,
            "transfer_seconds": outcome.device_seconds.transfer,
            "used": used, "planned": plan.total_device(),
            "used_of_planned": used as f64 / plan.total_device() as f64,
        })
    );
    Ok(())
}

/// The least free memory during the rounds.
struct Watch {
    device: CudaDevice,
    least: u64,
}

impl Observer for Watch {}

impl RoundObserver for Watch {
    fn on_round(&mut self, _index: usize, _round: &Round) {
        if let Ok(free) = self.device.free_memory() {
            self.least = self.least.min(free);
        }
    }
}
