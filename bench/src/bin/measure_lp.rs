//! Measures label propagation on a GPU: `measure_lp web 22 [--check] [--programs] [--rounds] [--shares]
//! [--smallest] [--one-profile] [--phased] [--default]` for web, social, rmat, road; and in its place, with
//! sketches, `measure_lp web 22 [--check] [--counter mg:8]… [--presets [--rounds]]`.
//!
//! Prints full iterations class by class beside their ceilings, and whole runs; `--check` compares the
//! labels with the CPU's. Times are of the device, the graph resident.

use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lp::Tuning;
use ripplet_gpu::{CudaDevice, DeviceError};
use ripplet_graph::{Graph, GraphBuilder};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::profile::Profile;
use ripplet_lp::programs::{Cdlp, Gamma, Guard, Llp, Lpa, Slpa};
use ripplet_lp::quality::Summary;
use ripplet_lp::{Counter, Executor, Hints, Schedule, Settings, Stop, Ties};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let family = arguments.first().map_or("web", String::as_str);
    let scale: u32 = arguments.get(1).map_or(Ok(20), |text| text.parse())?;

    let start = Instant::now();
    let graph = GraphBuilder::new().build(ripplet_bench::family(family, scale)?)?;
    println!(
        "# {family} {scale}: {} vertices, {} arcs, largest degree {}, made in {:.1} s",
        graph.vertices(),
        graph.arcs(),
        graph.max_degree(),
        start.elapsed().as_secs_f64()
    );
    let check = has("--check");
    let executor = DeviceExecutor::new(CudaDevice::new(0)?);
    let (lpa, plain) = (Lpa::default(), Lpa::new(Guard::OFF));
    if has("--phased") {
        let (schedule, stop) = (Schedule::phased(), Stop::default());
        return run(&executor, &graph, "lpa phased", &lpa, with(schedule, stop), check);
    }
    if has("--default") {
        let settings = with(Lpa::schedule(), Lpa::stop());
        return run(&executor, &graph, "lpa by default", &lpa, settings, check);
    }
    let counters = arguments.windows(2).filter(|pair| pair[0] == "--counter");
    for counter in counters.clone() {
        sketched(&executor, &graph, counter[1].parse()?, check)?;
    }
    let usual = [Tuning::default().async_rounds];
    let rounds = if has("--rounds") { &[1, 2, 3, 4, 6, 8, 12, u32::MAX][..] } else { &usual[..] };
    let tuned =
        |tuning| Ok::<_, DeviceError>(DeviceExecutor::new(CudaDevice::new(0)?).with_tuning(tuning));
    if has("--presets") {
        for &async_rounds in rounds {
            let executor = tuned(Tuning { async_rounds, ..Tuning::default() })?;
            for (name, settings) in [("nu-mg8", Settings::nu_mg8()), ("nu-bm", Settings::nu_bm())] {
                let name = format!("{name}, parts double each {async_rounds}");
                run(&executor, &graph, &name, &plain, settings, false)?;
            }
        }
    }
    if has("--presets") || counters.count() > 0 {
        return Ok(());
    }
    let cdlp = with(Schedule::cdlp(), Stop::after(10));
    profile(&executor, &graph, "cdlp", &Cdlp, &cdlp)?;
    if has("--one-profile") {
        return Ok(());
    }
    profile(&executor, &graph, "lpa", &lpa, &with(Schedule::sync(), Stop::default()))?;
    run(&executor, &graph, "cdlp x10", &Cdlp, cdlp, check)?;
    for &async_rounds in rounds {
        let executor = tuned(Tuning { async_rounds, ..Tuning::default() })?;
        let (schedule, stop) = (Schedule::asynchronous(), Stop::default());
        let name = |program: &str| format!("{program} async, parts double each {async_rounds}");
        run(&executor, &graph, &name("lpa"), &lpa, with(schedule, stop.clone()), false)?;
        run(&executor, &graph, &name("plain"), &plain, with(schedule, stop.clone()), false)?;
    }
    if has("--smallest") {
        let settings =
            with(Schedule { ties: Ties::Smallest, ..Schedule::asynchronous() }, Stop::default());
        run(&executor, &graph, "lpa async, smallest", &lpa, settings.clone(), false)?;
        run(&executor, &graph, "plain async, smallest", &plain, settings, false)?;
    }
    if has("--shares") {
        for pull_threshold in [1, 2, 3, 5, 8, 16, u32::MAX] {
            let executor = tuned(Tuning { pull_threshold, ..Tuning::default() })?;
            let (schedule, stop) = (Schedule::asynchronous(), Stop::default());
            let name = format!("plain async, asked from 1/{pull_threshold} of the arcs on");
            run(&executor, &graph, &name, &plain, with(schedule, stop), false)?;
        }
    }
    let (schedule, stop) = (Schedule::phased(), Stop::default());
    run(&executor, &graph, "lpa phased", &lpa, with(schedule, stop.clone()), check)?;
    run(&executor, &graph, "plain phased", &plain, with(schedule, stop), check)?;
    if has("--programs") {
        let llp = Llp::new(Gamma::new(0.25)?);
        run(&executor, &graph, "llp phased", &llp, with(schedule, Stop::after(5)), check)?;
        let slpa = Slpa::default();
        run(&executor, &graph, "slpa phased", &slpa, with(schedule, Stop::after(5)), check)?;
    }
    Ok(())
}

/// Returns a counter's full iterations, and its runs, guarded against runaway labels.
fn sketched(
    executor: &DeviceExecutor<CudaDevice>,
    graph: &Graph,
    counter: Counter,
    check: bool,
) -> Result<(), Box<dyn Error>> {
    let lpa = Lpa::default();
    let of = |schedule| Settings { schedule, counter, ..Settings::default() };
    profile(executor, graph, &counter.to_string(), &lpa, &of(Schedule::sync()))?;
    for schedule in [Schedule::phased(), Schedule::asynchronous()] {
        let name = format!("lpa {} {counter}", schedule.name());
        let check = check && schedule.is_deterministic();
        run(executor, graph, &name, &lpa, of(schedule), check)?;
    }
    Ok(())
}

fn with(schedule: Schedule, stop: Stop) -> Settings {
    Settings { schedule, stop, ..Settings::default() }
}

fn profile<P: Hints>(
    executor: &DeviceExecutor<CudaDevice>,
    graph: &Graph,
    name: &str,
    program: &P,
    settings: &Settings,
) -> Result<(), Box<dyn Error>> {
    let found = executor.profile(graph, program, settings, 10)?;
    let Profile { arcs, stream, gather, iterations } = &found;
    let rate = |arcs: u64, seconds: f64| arcs as f64 / seconds / 1e9;
    println!(
        "## {name}: stream {:.3} ms ({:.0} G arcs/s), gather {:.3} ms ({:.0} G arcs/s)",
        stream * 1e3,
        rate(*arcs, *stream),
        gather * 1e3,
        rate(*arcs, *gather)
    );
    for (index, iteration) in iterations.iter().enumerate() {
        println!(
            "iteration {:2}: {:.3} ms, {:.0} G arcs/s, {:.2} of gather; {} changed",
            index + 1,
            iteration.seconds * 1e3,
            rate(*arcs, iteration.seconds),
            gather / iteration.seconds,
            iteration.changed
        );
        if [0, 2, 4].contains(&index) || index + 1 == iterations.len() {
            for part in &iteration.parts {
                println!(
                    "    {:40} {:>9} vertices {:>10} arcs {:.3} ms {:.0} G arcs/s",
                    part.name,
                    part.vertices,
                    part.arcs,
                    part.seconds * 1e3,
                    rate(part.arcs, part.seconds)
                );
            }
        }
    }
    Ok(())
}

fn run<P: Hints>(
    executor: &DeviceExecutor<CudaDevice>,
    graph: &Graph,
    name: &str,
    program: &P,
    settings: Settings,
    check: bool,
) -> Result<(), Box<dyn Error>> {
    let settings = Settings { keep_disconnected: true, ..settings };
    let mut seconds = Vec::new();
    let mut last = None;
    for _ in 0..3 {
        let found = executor.run(graph, program, &settings, &mut ())?;
        seconds.push(found.rounds.iter().map(|round| round.seconds).sum::<f64>());
        last = Some(found);
    }
    let found = last.ok_or("no run")?;
    let Summary { communities, modularity } = Summary::of(graph, &found.labels)?;
    let times: Vec<String> = seconds.iter().map(|s| format!("{:.3}", s * 1e3)).collect();
    println!(
        "## {name}: {} ms, {} rounds ({}), {:.2} scans, Q {modularity:.4}, {communities} communities, \
         {} own bytes",
        times.join(" "),
        found.rounds.len(),
        found.reason.name(),
        found.scanned() as f64 / graph.arcs() as f64,
        executor.plan(graph, program, &settings).algorithm_device()
    );
    let rounds = found
        .rounds
        .iter()
        .map(|round| format!("{:.3}/{}/{}", round.seconds * 1e3, round.visited, round.changed));
    println!("    ms/visited/changed: {}", rounds.collect::<Vec<_>>().join(" "));
    if check {
        let expected = CpuExecutor::new(None)?.run(graph, program, &settings, &mut ())?;
        let differ = expected.labels.iter().zip(&found.labels).filter(|(a, b)| a != b).count();
        let cpu: f64 = expected.rounds.iter().map(|round| round.seconds).sum();
        let same = |of: fn(&ripplet_lp::Round) -> u64| {
            expected.rounds.iter().map(of).eq(found.rounds.iter().map(of))
        };
        println!(
            "    {} labels differ from the CPU's, columns equal {}, counts equal {} {} {}; CPU {:.0} ms",
            differ,
            expected.columns == found.columns,
            same(|round| round.visited),
            same(|round| round.scanned),
            same(|round| round.changed),
            cpu * 1e3
        );
    }
    Ok(())
}
