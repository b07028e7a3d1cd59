//! Measures label propagation on a graph larger than the GPU's memory: `measure_streamed web 22 [share…]`, for web,
//! social, rmat, road. Prints a line of JSON for each run: plain and compressed lists, `phased` and `sync`, with the whole
//! graph on the device, and with memory for these shares of its bytes (a quarter by default) beside a run's least. Each line
//! says whether the labels are those of the whole graph. Each share runs twice: with lists pinned in the host's memory, and
//! with lists staged by the host as if they were in a file. Under `sync`, the host's cores and the GPU also run at the
//! same time, each on the whole graph. This bounds the gain of sharing a round between them (GLP's hybrid mode).
//!
//! `--storage plain`, `--schedule phased` and `--supply pinned` leave out the others, and sharing with the host's cores;
//! `--ahead N`, once or more, is the number of phases whose lists are fetched together.

use ripplet_bench::{Arguments, Result, family};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lp::{Supply, Tuning};
use ripplet_gpu::CudaDevice;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{GraphBuilder, GraphView};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Lpa};
use ripplet_lp::{Executor, Hints, Outcome, Schedule, Settings, Stop};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Runs, of which the one of median time is printed.
const RUNS: usize = 3;

fn main() -> Result<()> {
    let arguments = Arguments::of_process();
    let words: Vec<&String> =
        arguments.words().iter().take_while(|word| !word.starts_with("--")).collect();
    let name = words.first().map_or("web", |name| name.as_str());
    let scale: u32 = words.get(1).map_or(Ok(20), |text| text.parse())?;
    let shares = words.iter().skip(2).map(|text| text.parse());
    let mut shares = shares.collect::<std::result::Result<Vec<f64>, _>>()?;
    if shares.is_empty() {
        shares.push(0.25);
    }
    let aheads = arguments.all("--ahead").map(|text| text.parse());
    let mut aheads = aheads.collect::<std::result::Result<Vec<u32>, _>>()?;
    if aheads.is_empty() {
        aheads.push(Tuning::default().ahead);
    }
    let is_asked =
        |option: &str, value: &str| arguments.option(option).is_none_or(|it| it == value);
    let graph = GraphBuilder::new().build(family(name, scale)?)?;
    let compressed = CompressedGraph::copied(&graph)?;
    let views = [("plain", GraphView::from(&graph)), ("compressed", GraphView::from(&compressed))];
    let mut executor = Some(DeviceExecutor::new(CudaDevice::new(0)?));
    for (storage, view) in views.into_iter().filter(|(storage, _)| is_asked("--storage", storage)) {
        for (schedule, sync) in [("phased", false), ("sync", true)] {
            if !is_asked("--schedule", schedule) {
                continue;
            }
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
            let supplies = [(Supply::Pinned, "pinned"), (Supply::Staged, "staged")];
            let supplies: Vec<_> =
                supplies.into_iter().filter(|(_, supply)| is_asked("--supply", supply)).collect();
            let ways = Ways { shares: &shares, supplies: &supplies, aheads: &aheads };
            if sync {
                measure(&mut executor, view, &Cdlp, &settings, &ways, &of)?;
                if supplies.len() > 1 {
                    beside(&mut executor, view, &settings, shares[0], &of)?;
                }
            } else {
                measure(&mut executor, view, &Lpa::default(), &settings, &ways, &of)?;
            }
        }
    }
    Ok(())
}

/// The variants that are measured for a graph and a program.
struct Ways<'a> {
    shares: &'a [f64],
    supplies: &'a [(Supply, &'static str)],
    aheads: &'a [u32],
}

fn measure<P: Hints>(
    executor: &mut Option<DeviceExecutor<CudaDevice>>,
    view: GraphView<'_>,
    program: &P,
    settings: &Settings,
    ways: &Ways<'_>,
    of: &serde_json::Value,
) -> Result<()> {
    let mut with = |limit: Option<u64>, tuning| -> Result<(Outcome, ripplet_lp::Plan)> {
        let on = executor.take().ok_or("no executor")?.with_memory(Some(0)).with_tuning(tuning);
        let least = on.plan(view, program, settings).total_device();
        let on = on.with_memory(limit.map(|limit| limit.max(least)));
        let plan = on.plan(view, program, settings);
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            runs.push(on.run(view, program, settings, &mut ())?);
        }
        *executor = Some(on);
        runs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        Ok((runs.swap_remove(RUNS / 2), plan))
    };
    let (whole, plan) = with(None, Tuning::default())?;
    tell(of, (1.0, "all there", 0), &plan, &whole, true);
    for &share in ways.shares {
        for &(supply, name) in ways.supplies {
            for &ahead in ways.aheads {
                let tuning = Tuning { supply, ahead, ..Tuning::default() };
                let (found, plan) = with(Some(budget(&plan, share)), tuning)?;
                tell(of, (share, name, ahead), &plan, &found, found.labels == whole.labels);
            }
        }
    }
    Ok(())
}

/// Returns the device memory in bytes for this share of the graph, beside a run's least.
fn budget(whole: &ripplet_lp::Plan, share: f64) -> u64 {
    whole.total_device() - whole.graph_device + (whole.graph_device as f64 * share) as u64
}

/// Seconds of the host's cores alone, of the GPU alone, and of both at the same time.
fn beside(
    executor: &mut Option<DeviceExecutor<CudaDevice>>,
    view: GraphView<'_>,
    settings: &Settings,
    share: f64,
    of: &serde_json::Value,
) -> Result<()> {
    let on = executor.take().ok_or("no executor")?;
    let on = on.with_tuning(Tuning::default()).with_memory(None);
    let limit = budget(&on.plan(view, &Cdlp, settings), share);
    let on = on.with_memory(Some(limit));
    let host = CpuExecutor::new(None)?;
    let host_alone = seconds(&host.run(view, &Cdlp, settings, &mut ())?);
    let gpu_alone = seconds(&on.run(view, &Cdlp, settings, &mut ())?);
    let is_over = AtomicBool::new(false);
    let (host_beside, gpu_beside) = std::thread::scope(|scope| {
        // The GPU repeats its run until the host's is done; their median counts.
        let gpu = scope.spawn(|| -> std::result::Result<Vec<f64>, String> {
            let mut all = Vec::new();
            while !is_over.load(Ordering::Relaxed) || all.is_empty() {
                let run = on.run(view, &Cdlp, settings, &mut ());
                all.push(seconds(&run.map_err(|error| error.to_string())?));
            }
            all.sort_by(f64::total_cmp);
            Ok(all)
        });
        let start = Instant::now();
        let found = host.run(view, &Cdlp, settings, &mut ());
        is_over.store(true, Ordering::Relaxed);
        let host = found.map(|run| seconds(&run).min(start.elapsed().as_secs_f64()));
        (host, gpu.join())
    });
    let gpu_beside = gpu_beside.map_err(|_| "the GPU's thread panicked")??;
    let mut line = of.clone();
    let said = json!({
        "beside": true, "share": share, "threads": std::thread::available_parallelism()?.get(),
        "host_alone": host_alone, "gpu_alone": gpu_alone, "host_beside": host_beside?,
        "gpu_beside": gpu_beside[gpu_beside.len() / 2], "gpu_runs": gpu_beside.len(),
    });
    if let (Some(line), Some(said)) = (line.as_object_mut(), said.as_object()) {
        line.extend(said.clone());
    }
    println!("{line}");
    *executor = Some(on);
    Ok(())
}

fn seconds(outcome: &Outcome) -> f64 {
    outcome.rounds.iter().map(|round| round.seconds).sum()
}

fn tell(
    of: &serde_json::Value,
    (share, lists, ahead): (f64, &str, u32),
    plan: &ripplet_lp::Plan,
    run: &Outcome,
    equal: bool,
) {
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
        "share": share, "lists": lists, "ahead": ahead, "planned_device": plan.total_device(), "streamed_bytes": plan.graph_streamed,
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
