//! Measures label propagation on a graph that is not all in a GPU's memory: `measure_streamed web 22 [share…]`, for web,
//! social, rmat, road. Prints a line of JSON for each run: plain and compressed lists, phased and synchronous, the whole
//! graph on the device and with these shares of its bytes (a quarter by default) beside what must be there; and whether
//! the labels are those of the whole graph.

use ripplet_bench::{Result, family};
use ripplet_cuda::{CudaDevice, DeviceExecutor};
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{GraphBuilder, GraphView};
use ripplet_lp::programs::{Cdlp, Lpa};
use ripplet_lp::{Executor, Outcome, Program, Schedule, Settings, Stop};
use serde_json::json;

/// Runs of which the one of the median time is told.
const RUNS: usize = 3;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("web", String::as_str);
    let scale: u32 = arguments.get(1).map_or(Ok(20), |text| text.parse())?;
    let shares = arguments.iter().skip(2).map(|text| text.parse());
    let mut shares = shares.collect::<std::result::Result<Vec<f64>, _>>()?;
    if shares.is_empty() {
        shares.push(0.25);
    }
    let graph = GraphBuilder::new().build(family(name, scale)?)?;
    let compressed = CompressedGraph::of(graph.clone())?;
    let views = [("plain", GraphView::from(&graph)), ("compressed", GraphView::from(&compressed))];
    let mut executor = Some(DeviceExecutor::new(CudaDevice::new(0)?));
    for (storage, view) in views {
        for (schedule, sync) in [("phased", false), ("sync", true)] {
            let settings = Settings {
                schedule: if sync { Schedule::sync() } else { Schedule::phased() },
                stop: Stop::after(if sync { 10 } else { 20 }),
                keep_disconnected: true,
                ..Settings::default()
            };
            let of = json!({
                "family": name, "scale": scale, "storage": storage, "schedule": schedule,
                "arcs": view.arcs(), "vertices": view.vertices(),
            });
            if sync {
                measure(&mut executor, view, &Cdlp, &settings, &shares, &of)?;
            } else {
                measure(&mut executor, view, &Lpa::default(), &settings, &shares, &of)?;
            }
        }
    }
    Ok(())
}

fn measure<P: Program>(
    executor: &mut Option<DeviceExecutor<CudaDevice>>,
    view: GraphView<'_>,
    program: &P,
    settings: &Settings,
    shares: &[f64],
    of: &serde_json::Value,
) -> Result<()> {
    let mut with = |limit: Option<u64>| -> Result<(Outcome, ripplet_lp::Plan)> {
        let on = executor.take().ok_or("no executor")?.with_memory(limit);
        let plan = on.plan(view, program, settings);
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            runs.push(on.run(view, program, settings, &mut ())?);
        }
        *executor = Some(on);
        runs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        Ok((runs.swap_remove(RUNS / 2), plan))
    };
    let (whole, plan) = with(None)?;
    tell(of, 1.0, &plan, &whole, true);
    let beside = plan.total_device() - plan.graph_device;
    for &share in shares {
        let budget = beside + (plan.graph_device as f64 * share) as u64;
        let (found, plan) = with(Some(budget))?;
        tell(of, share, &plan, &found, found.labels == whole.labels);
    }
    Ok(())
}

fn seconds(outcome: &Outcome) -> f64 {
    outcome.rounds.iter().map(|round| round.seconds).sum()
}

fn tell(of: &serde_json::Value, share: f64, plan: &ripplet_lp::Plan, run: &Outcome, equal: bool) {
    let moved =
        |get: &dyn Fn(&ripplet_lp::ListsMoved) -> f64| run.lists_moved.iter().map(get).sum::<f64>();
    let rounds: Vec<_> = run
        .rounds
        .iter()
        .enumerate()
        .map(|(at, round)| {
            let moved = run.lists_moved.get(at).copied().unwrap_or_default();
            json!({
                "milliseconds": 1e3 * round.seconds, "scanned": round.scanned, "changed": round.changed,
                "fetched": moved.fetched, "unstaged": moved.unstaged,
                "fetching": 1e3 * moved.fetching, "waiting": 1e3 * moved.waiting,
            })
        })
        .collect();
    let mut line = of.clone();
    let said = json!({
        "share": share, "planned_device": plan.total_device(), "streamed_bytes": plan.graph_streamed,
        "milliseconds": 1e3 * seconds(run), "fetched": moved(&|m| m.fetched as f64),
        "unstaged": moved(&|m| m.unstaged as f64), "fetching": 1e3 * moved(&|m| m.fetching),
        "waiting": 1e3 * moved(&|m| m.waiting), "transfer_seconds": run.device_seconds.transfer,
        "equal_labels": equal, "rounds": rounds,
    });
    if let (Some(line), Some(said)) = (line.as_object_mut(), said.as_object()) {
        line.extend(said.clone());
    }
    println!("{line}");
}
