//! Measures what compressed lists cost on a GPU beside plain ones: `measure_compressed web 22 [--runs]`, for web,
//! social, rmat, road. Prints a line of JSON for each.
//!
//! Without `--runs`, it times reading: kernels that sum the neighbours or their labels, for several degrees from which a
//! whole warp reads a list, and kernels that decode all lists to memory. Each time is the least of ten launches. With
//! `--runs`, it times rounds of label propagation on both kinds of lists, and compares their labels. Decoding first
//! (the paper's CGLP) would take the decoding and a round on plain lists.

use ripplet_bench::{Result, family};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::compressed::{DeviceLists, Lists};
use ripplet_gpu::{CudaDevice, Device};
use ripplet_graph::compressed::{CompressedAdjacency, CompressedGraph};
use ripplet_graph::{Graph, GraphBuilder, GraphView};
use ripplet_lp::programs::{Cdlp, Lpa};
use ripplet_lp::{Executor, Hints, Outcome, Schedule, Settings, Stop};
use serde_json::json;

/// Least lengths of lists that a warp reads.
const LONG_FROM: [u32; 6] = [0, 8, 16, 32, 64, 256];

/// Runs per median.
const RUNS: usize = 5;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("web", String::as_str);
    let scale: u32 = arguments.get(1).map_or(Ok(20), |text| text.parse())?;
    let graph = GraphBuilder::new().build(family(name, scale)?)?;
    let device = CudaDevice::new(0)?;
    let of = json!({
        "family": name, "scale": scale, "device": device.properties().name, "arcs": graph.arcs(),
    });
    let tell = |said: serde_json::Value| {
        let (mut line, said) = (of.clone(), said.as_object().cloned().unwrap_or_default());
        line.as_object_mut().into_iter().for_each(|line| line.extend(said.clone()));
        println!("{line}");
    };
    match arguments.iter().any(|argument| argument == "--runs") {
        true => runs(&DeviceExecutor::new(device), graph, tell),
        false => reading(&device, &graph, tell),
    }
}

fn reading(device: &CudaDevice, graph: &Graph, tell: impl Fn(serde_json::Value)) -> Result<()> {
    let [shard] = graph.shards() else { return Err("a graph of one shard is measured".into()) };
    let plain = shard.out();
    let compressed = CompressedAdjacency::of(plain, 0)?;
    let labels: Vec<u32> = (0..graph.vertices()).collect();
    let lists = DeviceLists::new(device, plain, &compressed, &labels)?;
    let sums = lists.sums(Lists::Plain, 32)?;
    let bytes = [4 * (u64::from(graph.vertices()) + 1 + graph.arcs()), compressed.bytes()];
    let least = |seconds: &dyn Fn() -> std::result::Result<f64, _>| -> Result<f64> {
        let mut least = f64::INFINITY;
        for _ in 0..10 {
            least = least.min(seconds()?);
        }
        Ok::<_, Box<dyn std::error::Error>>(1e3 * least)
    };
    for with_labels in [false, true] {
        for (kind, bytes) in [Lists::Plain, Lists::Compressed].into_iter().zip(bytes) {
            for long_from in LONG_FROM {
                let differ = lists.sums(kind, long_from)? != sums;
                let milliseconds = least(&|| lists.seconds(kind, long_from, with_labels))?;
                tell(json!({
                    "lists": format!("{kind:?}"), "bytes": bytes, "labels": with_labels,
                    "long_from": long_from, "milliseconds": milliseconds, "differ": differ,
                }));
            }
        }
    }
    for long_from in LONG_FROM {
        let differ = lists.decoded(long_from)? != plain.neighbors();
        let milliseconds = least(&|| lists.seconds_to_decode(long_from))?;
        tell(json!({
            "decoded_to_memory": true, "long_from": long_from, "milliseconds": milliseconds,
            "differ": differ,
        }));
    }
    Ok(())
}

fn runs(
    executor: &DeviceExecutor<CudaDevice>,
    graph: Graph,
    tell: impl Fn(serde_json::Value),
) -> Result<()> {
    let compressed = CompressedGraph::copied(&graph)?;
    let views = [GraphView::from(&graph), GraphView::from(&compressed)];
    for (schedule_name, schedule) in [
        ("sync", Schedule::sync()),
        ("phased", Schedule::phased()),
        ("async", Schedule::asynchronous()),
    ] {
        let settings = Settings {
            schedule,
            stop: Stop::after(20).at_tolerance(0.0),
            keep_disconnected: true,
            ..Settings::default()
        };
        measure(executor, views, ("lpa", schedule_name), &Lpa::default(), &settings, &tell)?;
        if schedule_name == "sync" {
            measure(executor, views, ("cdlp", "cdlp"), &Cdlp, &settings, &tell)?;
        }
    }
    Ok(())
}

/// Alternates runs on both kinds of lists.
fn measure<P: Hints>(
    executor: &DeviceExecutor<CudaDevice>,
    views: [GraphView<'_>; 2],
    (program, schedule): (&str, &str),
    work: &P,
    settings: &Settings,
    tell: impl Fn(serde_json::Value),
) -> Result<()> {
    let mut outcomes: [Vec<Outcome>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        for (view, done) in views.into_iter().zip(&mut outcomes) {
            done.push(executor.run(view, work, settings, &mut ())?);
        }
    }
    let equal = outcomes[0][0].labels == outcomes[1][0].labels;
    for (done, (storage, view)) in
        outcomes.iter().zip(["plain", "compressed"].into_iter().zip(views))
    {
        let median = |of: &dyn Fn(&Outcome) -> f64| {
            let mut all: Vec<f64> = done.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let seconds = median(&|outcome| outcome.rounds.iter().map(|round| round.seconds).sum());
        let first = median(&|outcome| outcome.rounds[0].seconds);
        let scanned: u64 = done[0].rounds.iter().map(|round| round.scanned).sum();
        tell(json!({
            "program": program, "schedule": schedule, "storage": storage, "bytes": view.bytes(),
            "rounds": done[0].rounds.len(), "scanned": scanned, "milliseconds": 1e3 * seconds,
            "first_round_milliseconds": 1e3 * first,
            "arcs_per_second": scanned as f64 / seconds, "equal_labels": equal,
        }));
    }
    Ok(())
}
