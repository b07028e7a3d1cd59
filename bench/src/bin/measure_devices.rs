//! Measures label propagation on several GPUs beside one of them: `measure_devices web 25 [--devices 0,1]
//! [--program lpa|cdlp] [--schedule phased|sync|async] [--way direct|nccl|copies]… [--runs 3] [--compressed]
//! [--share F]`, for web, social, rmat, road. With a share, each GPU has memory for that share of
//! its part of the graph; the other lists stay in the host's memory.
//!
//! Prints a line of JSON for the first GPU alone, and one for all of them with each transport named by `--way`,
//! or with the default transport. `seconds` are of the rounds of each run, `seconds_a_round` of the fastest run;
//! `arcs_a_second` are arcs counted. Fails if the labels differ from those of one GPU, except under `async`.

use ripplet_bench::{Arguments, Result, family};
use ripplet_cuda::{DeviceExecutor, DevicesExecutor};
use ripplet_gpu::transport::TransportKind;
use ripplet_gpu::{CudaDevice, Device};
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{GraphBuilder, GraphView};
use ripplet_lp::programs::{Cdlp, Lpa};
use ripplet_lp::{Executor, Hints, Outcome, Plan, Schedule, Settings, Stop};
use serde_json::{Value, json};
use std::time::Instant;

/// The options, except the graph's.
struct Asked {
    numbers: Vec<usize>,
    ways: Vec<Option<TransportKind>>,
    settings: Settings,
    runs: usize,
    share: Option<f64>,
    /// Fields that are the same in each line.
    of: Value,
}

fn main() -> Result<()> {
    let arguments = Arguments::of_process();
    let words = arguments.words();
    let name = words.first().map_or("web", String::as_str);
    let scale: u32 = words.get(1).map_or(Ok(20), |text| text.parse())?;
    let program = arguments.option("--program").unwrap_or("lpa");
    let usual = if program == "cdlp" { "sync" } else { "phased" };
    let schedule = match arguments.option("--schedule").unwrap_or(usual) {
        "sync" if program == "cdlp" => Schedule::cdlp(),
        "sync" => Schedule::sync(),
        "async" => Schedule::asynchronous(),
        _ => Schedule::phased(),
    };
    let stop = if program == "cdlp" { Stop::after(10) } else { Stop::default() };
    let way = |name: &str| {
        [TransportKind::PeerAccess, TransportKind::Nccl, TransportKind::DriverCopies]
            .into_iter()
            .find(|way| way.name() == name)
    };
    let mut ways: Vec<Option<TransportKind>> = arguments.all("--way").map(way).collect();
    if ways.is_empty() {
        ways.push(None);
    }
    let numbers = arguments.option("--devices").unwrap_or("0,1");
    let numbers = numbers.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?;

    let start = Instant::now();
    let graph = GraphBuilder::new().build(family(name, scale)?)?;
    let (vertices, arcs) = (graph.vertices(), graph.arcs());
    let of = json!({
        "family": name, "scale": scale, "vertices": vertices, "arcs": arcs,
        "program": program, "schedule": schedule.name(),
        "made_in_seconds": start.elapsed().as_secs_f64(),
    });
    let settings = Settings { schedule, stop, keep_disconnected: true, ..Settings::default() };
    let (runs, share) = (arguments.or("--runs", 3)?, arguments.asked("--share")?);
    let asked = Asked { numbers, ways, settings, runs, share, of };
    if arguments.has("--compressed") {
        let graph = CompressedGraph::of(graph)?;
        return asked.measure(program, (&graph).into());
    }
    asked.measure(program, (&graph).into())
}

impl Asked {
    fn measure(&self, program: &str, graph: GraphView<'_>) -> Result<()> {
        match program {
            "cdlp" => self.measure_program(&Cdlp, graph),
            _ => self.measure_program(&Lpa::default(), graph),
        }
    }

    fn measure_program<P: Hints>(&self, program: &P, graph: GraphView<'_>) -> Result<()> {
        let first = DeviceExecutor::new(CudaDevice::new(self.numbers[0])?);
        let name = first.device().properties().name.clone();
        let limit = self.limit(&[first.plan(graph, program, &self.settings)]);
        let first = first.with_memory(limit);
        let alone = self.runs(&first, program, graph)?;
        drop(first);
        self.tell(&alone, json!({ "devices": 1, "device": name }));
        for &way in &self.ways {
            let devices = self.numbers.iter().map(|&number| CudaDevice::new(number));
            let devices = devices.collect::<std::result::Result<_, _>>()?;
            let executor = DevicesExecutor::by(devices, way)?;
            executor.notes().iter().for_each(|note| eprintln!("note: {note}"));
            let limit = self.limit(&executor.plans(graph, program, &self.settings));
            let executor = executor.with_memory(limit);
            let plans = executor.plans(graph, program, &self.settings);
            let streamed: Vec<u64> = plans.iter().map(|plan| plan.graph_streamed).collect();
            let planned: Vec<u64> = plans.iter().map(Plan::total_device).collect();
            let shared = self.runs(&executor, program, graph)?;
            let is_same = alone.outcome.labels == shared.outcome.labels;
            self.tell(
                &shared,
                json!({
                    "devices": self.numbers.len(), "device": name, "way": executor.transport().name(),
                    "exchanged_bytes": executor.exchanged(), "planned_bytes": planned,
                    "streamed_bytes": streamed,
                    "times_one": alone.least() / shared.least(), "same_labels": is_same,
                }),
            );
            if !is_same && self.settings.schedule.is_deterministic() {
                return Err("the labels are not those of one GPU".into());
            }
        }
        Ok(())
    }

    /// Returns the memory limit of each GPU, if it is less than what is free.
    fn limit(&self, plans: &[Plan]) -> Option<u64> {
        let beside = |plan: &Plan| plan.total_device() - plan.graph_device;
        let limit =
            |plan: &Plan, share: f64| beside(plan) + (plan.graph_device as f64 * share) as u64;
        self.share.map(|share| plans.iter().map(|plan| limit(plan, share)).max().unwrap_or(0))
    }

    fn runs<P: Hints>(
        &self,
        executor: &impl Executor,
        program: &P,
        graph: GraphView<'_>,
    ) -> Result<Measured> {
        let mut seconds = Vec::new();
        let mut best: Option<Outcome> = None;
        for _ in 0..self.runs.max(1) {
            let found = executor.run(graph, program, &self.settings, &mut ())?;
            let taken = found.rounds.iter().map(|round| round.seconds).sum();
            if seconds.iter().all(|&before: &f64| taken < before) {
                best = Some(found);
            }
            seconds.push(taken);
        }
        Ok(Measured { seconds, outcome: best.ok_or("no run")? })
    }

    fn tell(&self, measured: &Measured, more: Value) {
        let Measured { seconds, outcome } = measured;
        let rounds: Vec<f64> = outcome.rounds.iter().map(|round| round.seconds).collect();
        let mut line = self.of.clone();
        let said = json!({
            "seconds": seconds,
            "rounds": outcome.rounds.len(),
            "seconds_a_round": rounds,
            "visited": outcome.rounds.iter().map(|round| round.visited).collect::<Vec<_>>(),
            "arcs_counted": outcome.scanned(),
            "arcs_a_second": outcome.scanned() as f64 / measured.least(),
            "transfer_seconds": outcome.device_seconds.transfer,
        });
        for more in [more, said] {
            let more = more.as_object().cloned().unwrap_or_default();
            line.as_object_mut().into_iter().for_each(|line| line.extend(more.clone()));
        }
        println!("{line}");
    }
}

/// Repeated runs: the seconds of the rounds of each, and the fastest run.
struct Measured {
    seconds: Vec<f64>,
    outcome: Outcome,
}

impl Measured {
    fn least(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}
