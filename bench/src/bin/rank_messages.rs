//! Counts the bytes that ranks send in runs of label propagation, in either way of [`RankLabels`]:
//! `cargo run -p ripplet-bench --bin rank_messages`.
//!
//! Bytes and calls depend on neither the machine nor the build. Labels are compared with those of one process.
//!
//! With the argument `model`, in a release build, it models the seconds of `lpa` on up to 64 machines instead: those of one thread
//! on this machine, divided by the ranks, and for each exchange a latency and the bytes of the slowest rank. Nothing is sent
//! between machines, and overlap of the two is not modelled.
//!
//! With `threads`, in a release build, it measures runs of two ranks with more and more threads each, and of one process with as many
//! as both together.

use ripplet_conformance::recorded::{Network, Record, Recorded};
use ripplet_generate::{Planted, Rmat, Road, Web};
use ripplet_graph::{EdgeTable, Graph, GraphBuilder};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Gamma, Guard, Llp, Lpa, Slpa};
use ripplet_lp::refine::MergeShare;
use ripplet_lp::{
    DynProgram, Executor, Outcome, RankExecutor, RankLabels, Schedule, Settings, Stop,
};
use ripplet_ranks::{Comm, Threads};
use std::error::Error;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The longest time to wait for a rank.
const DEADLINE: Duration = Duration::from_secs(300);
/// Parts of the bytes of a run, and how the purposes of their messages begin.
const PARTS: [(&str, &[&str]); 4] = [
    ("updates", &["label updates", "total"]),
    ("frontier", &["frontier"]),
    ("gathered", &["vertices", "volumes"]),
    ("finishing", &["connected", "communities", "graph of", "merged"]),
];

/// The time until the first byte of a message is there, in the model: of MPI over Ethernet, about.
const LATENCY: Duration = Duration::from_micros(10);
/// Runs of one process, of which the model takes the fastest.
const RUNS: usize = 3;
/// Runs of which medians are taken.
const MEASURED: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        None => messages(),
        Some("model") => model(),
        Some("threads") => threads(),
        Some(other) => Err(format!("expected nothing, `model` or `threads`, not {other}").into()),
    }
}

/// Prints the modelled seconds of one graph on more and more ranks, and of a graph that grows with them.
fn model() -> Result<(), Box<dyn Error>> {
    println!("ripplet-lp {}; latency {LATENCY:?}; one thread a rank", env!("CARGO_PKG_VERSION"));
    println!(
        "scaling,graph,vertices,edges,ranks,labels,calls,bytes,seconds of one thread,local seconds,\
         network seconds at 25 Gb/s,100 Gb/s,400 Gb/s"
    );
    let ranks = [2, 4, 8, 16, 32, 64];
    for ranks in ranks {
        modelled("strong, web", &GraphBuilder::new().build(Web::new(19).generate()?)?, ranks)?;
    }
    for ranks in ranks {
        let graph = Planted::new(1 << 19, 5 << 20, 0.3).generate()?.edges;
        modelled("strong, planted", &GraphBuilder::new().build(graph)?, ranks)?;
    }
    for (scale, ranks) in (14..).zip(ranks) {
        modelled("weak, web", &GraphBuilder::new().build(Web::new(scale).generate()?)?, ranks)?;
    }
    Ok(())
}

fn modelled(name: &str, graph: &Graph, ranks: usize) -> Result<(), Box<dyn Error>> {
    let (program, merge) =
        (Box::<dyn DynProgram>::from(Lpa::default()), Some(MergeShare::default()));
    let settings =
        Settings { schedule: Lpa::schedule(), stop: Lpa::stop(), merge, ..Settings::default() };
    let executor = CpuExecutor::new(Some(1))?;
    let mut fastest = f64::INFINITY;
    for _ in 0..RUNS {
        let begun = Instant::now();
        executor.run(graph, &*program, &settings, &mut ())?;
        fastest = fastest.min(begun.elapsed().as_secs_f64());
    }
    let labels = run(graph, &*program, &settings, (ranks, 1), RankLabels::All).chosen;
    let run = run(graph, &*program, &settings, (ranks, 1), labels);
    let sent: u64 = run.records.iter().flatten().map(|record| record.sent).sum();
    let network = [25.0, 100.0, 400.0].map(|gigabits| {
        let seconds = Network::gigabits(gigabits, LATENCY).seconds_of_run(&run.records);
        format!("{seconds:.4}")
    });
    println!(
        "{name},{},{},{ranks},{labels:?},{},{sent},{fastest:.3},{:.4},{}",
        graph.vertices(),
        graph.arcs() / 2,
        run.records[0].len(),
        fastest / ranks as f64,
        network.join(",")
    );
    Ok(())
}

/// Prints the seconds of two ranks of this process with more and more threads each.
fn threads() -> Result<(), Box<dyn Error>> {
    let graphs = [
        ("rmat", GraphBuilder::new().build(Rmat::new(20).generate()?)?),
        (
            "planted",
            GraphBuilder::new().build(Planted::new(1 << 20, 10 << 20, 0.3).generate()?.edges)?,
        ),
    ];
    let settings =
        |schedule, stop, merge| Settings { schedule, stop, merge, ..Settings::default() };
    let merge = Some(MergeShare::default());
    let programs: [(&str, Box<dyn DynProgram>, Settings); 2] = [
        ("lpa", Lpa::default().into(), settings(Lpa::schedule(), Lpa::stop(), merge)),
        ("cdlp", Cdlp.into(), settings(Schedule::sync(), Stop::after(10), None)),
    ];
    println!("ripplet-lp {}; medians of {MEASURED} runs", env!("CARGO_PKG_VERSION"));
    println!(
        "graph,program,threads of each of two ranks,seconds of the ranks,seconds of one process with as many"
    );
    for (name, graph) in &graphs {
        for (program_name, program, settings) in &programs {
            for threads in [1, 2, 4, 8] {
                let executor = CpuExecutor::new(Some(2 * threads))?;
                let (mut ranks, mut one) = (Vec::new(), Vec::new());
                for _ in 0..MEASURED {
                    let begun = Instant::now();
                    let expected = executor.run(graph, &**program, settings, &mut ())?;
                    one.push(begun.elapsed().as_secs_f64());
                    let begun = Instant::now();
                    let run = run(graph, &**program, settings, (2, threads), RankLabels::Auto);
                    ranks.push(begun.elapsed().as_secs_f64());
                    assert!(run.found.iter().all(|found| found.labels == expected.labels));
                }
                let median = |seconds: &mut Vec<f64>| {
                    seconds.sort_by(f64::total_cmp);
                    seconds[MEASURED / 2]
                };
                let (ranks, one) = (median(&mut ranks), median(&mut one));
                println!("{name},{program_name},{threads},{ranks:.3},{one:.3}");
            }
        }
    }
    Ok(())
}

/// Prints the bytes of all programs on several ranks.
fn messages() -> Result<(), Box<dyn Error>> {
    let build = |table: EdgeTable| GraphBuilder::new().build(table);
    let graphs = [
        ("web", build(Web::new(15).generate()?)?),
        ("rmat", build(Rmat::new(15).generate()?)?),
        ("road", build(Road::new(15).generate()?)?),
        ("planted", build(Planted::new(1 << 15, 470_000, 0.3).generate()?.edges)?),
    ];
    let lpa = Lpa::schedule();
    let programs: [(&str, Box<dyn DynProgram>, Schedule); 5] = [
        ("lpa", Lpa::default().into(), lpa),
        ("lpa", Lpa::default().into(), Schedule::sync()),
        ("lpa without guard", Lpa::new(Guard::OFF).into(), lpa),
        ("llp 0.1", Llp::new(Gamma::new(0.1)?).into(), Schedule::phased_in(8)),
        ("slpa", Slpa::default().into(), Schedule::phased_in(8)),
    ];
    println!(
        "ripplet-lp {}; bytes that all ranks sent, in the parts of a run",
        env!("CARGO_PKG_VERSION")
    );
    println!(
        "graph,vertices,edges,program,schedule,rounds,changes,ranks,labels,chosen,calls,all,updates,frontier,gathered,finishing,other"
    );
    for (name, graph) in &graphs {
        for (program_name, program, schedule) in &programs {
            let stop = Lpa::stop();
            let merge = Some(MergeShare::default());
            let settings = Settings { schedule: *schedule, stop, merge, ..Settings::default() };
            let one = CpuExecutor::new(Some(1))?.run(graph, &**program, &settings, &mut ())?;
            let changes: u64 = one.rounds.iter().map(|round| round.changed).sum();
            for ranks in [2, 4, 8, 32] {
                for labels in [RankLabels::All, RankLabels::Ghosts] {
                    let run = run(graph, &**program, &settings, (ranks, 1), labels);
                    assert!(run.found.iter().all(|found| found.labels == one.labels));
                    println!(
                        "{name},{},{},{program_name},{} {},{},{changes},{ranks},{labels:?},{:?},{},{}",
                        graph.vertices(),
                        graph.arcs() / 2,
                        schedule.name(),
                        schedule.phases(),
                        one.rounds.len(),
                        run.chosen,
                        run.records[0].len(),
                        run.bytes(),
                    );
                }
            }
        }
    }
    Ok(())
}

/// A run of several ranks.
struct Run {
    found: Vec<Outcome>,
    records: Vec<Vec<Record>>,
    /// The choice if none is made.
    chosen: RankLabels,
}

impl Run {
    /// Returns the bytes that all ranks sent, and those of each part.
    fn bytes(&self) -> String {
        let mut bytes = [0; PARTS.len() + 1];
        for record in self.records.iter().flatten() {
            let purpose = record.step.to_string();
            let is_of = |of: &str| purpose.contains(&format!("({of}"));
            let part = PARTS.iter().position(|(_, purposes)| purposes.iter().any(|of| is_of(of)));
            bytes[part.unwrap_or(PARTS.len())] += record.sent;
        }
        let all: u64 = bytes.iter().sum();
        [all].into_iter().chain(bytes).map(|bytes| bytes.to_string()).collect::<Vec<_>>().join(",")
    }
}

fn run(
    graph: &Graph,
    program: &dyn DynProgram,
    settings: &Settings,
    (ranks, threads): (usize, usize),
    labels: RankLabels,
) -> Run {
    let wires = Threads::connect(ranks, DEADLINE).into_iter();
    let done: Vec<_> = thread::scope(|scope| {
        let ranks: Vec<_> = wires
            .map(|wire| {
                scope.spawn(move || {
                    let (wire, recording) = Recorded::new(wire);
                    let own = Arc::new(CpuExecutor::new(Some(threads)).expect("threads"));
                    let executor = RankExecutor::new(own, Comm::new(wire));
                    let chosen = executor.choose_labels(graph.into(), &program.info(), settings);
                    let executor = executor.with_labels(labels);
                    recording.take();
                    let found = executor.run(graph, program, settings, &mut ());
                    (found.expect("a run"), recording.take(), chosen.expect("a choice"))
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
    });
    let chosen = done[0].2;
    let (found, records) = done.into_iter().map(|(found, records, _)| (found, records)).unzip();
    Run { found, records, chosen }
}
