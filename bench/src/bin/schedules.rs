//! Compares quality and scans of the schedules on each graph; the default was chosen by these figures.
//!
//! ```text
//! cargo run --release -p ripplet-bench --bin schedules -- [--scale S] [--seeds N] [SCHEDULE…] [FILE[=TRUTH]…]
//! ```
//!
//! SCHEDULE is `sync`, `async`, `phased` or `phased:PHASES`, or `merged`: `phased` with the command's stop
//! rule for `lpa`, and communities that merge, or `merged:SHARE` at another share than the default; a FILE is any edge list that ripplet
//! reads, its TRUTH a file of `id community` lines. Generated graphs of 2^S vertices come after
//! the files. Each cell is the mean over the seeds of modularity, NMI against the truth, scans
//! (arcs counted, in units of the graph's arcs) and rounds. None of them depends on the machine.

use ripplet_bench::{Case, Result, generated};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::Lpa;
use ripplet_lp::quality::Quality;
use ripplet_lp::refine::MergeShare;
use ripplet_lp::{Executor, Schedule, Settings};

/// Means over the seeds.
#[derive(Default)]
struct Cell {
    modularity: f64,
    nmi: f64,
    scans: f64,
    rounds: f64,
}

fn main() -> Result<()> {
    let (mut schedules, mut cases, mut scale, mut seeds) = (Vec::new(), Vec::new(), 16, 5);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--scale" => scale = arguments.next().ok_or("--scale wants a number")?.parse()?,
            "--seeds" => seeds = arguments.next().ok_or("--seeds wants a number")?.parse()?,
            other => match settings(other) {
                Some(settings) => schedules.push((other.to_owned(), settings)),
                None => cases.push(Case::read(other)?),
            },
        }
    }
    if schedules.is_empty() {
        schedules = ["phased", "async", "sync"]
            .map(|name| (name.to_owned(), settings(name).unwrap_or_default()))
            .into();
    }
    generated(scale, &mut cases)?;
    report(&schedules, &cases, seeds)
}

fn settings(name: &str) -> Option<Settings> {
    let merge = match name.split_once(':') {
        Some(("merged", share)) => Some(MergeShare::new(share.parse().ok()?).ok()?),
        None if name == "merged" => Some(MergeShare::default()),
        _ => None,
    };
    if merge.is_some() {
        return Some(Settings { stop: Lpa::stop(), merge, ..Settings::default() });
    }
    schedule(name).map(|schedule| Settings { schedule, ..Settings::default() })
}

fn schedule(name: &str) -> Option<Schedule> {
    match name.split_once(':') {
        None if name == "sync" => Some(Schedule::sync()),
        None if name == "async" => Some(Schedule::asynchronous()),
        None if name == "phased" => Some(Schedule::phased()),
        Some(("phased", phases)) => Some(Schedule::phased_in(phases.parse().ok()?)),
        _ => None,
    }
}

fn cell(case: &Case, settings: &Settings, seeds: u64) -> Result<Cell> {
    let executor = CpuExecutor::new(None)?;
    let mut mean = Cell::default();
    for seed in 0..seeds {
        let settings = Settings { seed, ..settings.clone() };
        let found = executor.run(&case.graph, &Lpa::default(), &settings, &mut ())?;
        let mut quality = Quality::of(&case.graph, &found.labels)?;
        if let Some(truth) = &case.truth {
            quality = quality.against(&found.labels, truth)?;
        }
        let share = 1.0 / seeds as f64;
        mean.modularity += share * quality.modularity;
        mean.nmi += share * quality.agreement.map_or(f64::NAN, |agreement| agreement.nmi);
        mean.scans += share * found.scanned() as f64 / case.graph.arcs().max(1) as f64;
        mean.rounds += share * found.rounds.len() as f64;
    }
    Ok(mean)
}

fn report(schedules: &[(String, Settings)], cases: &[Case], seeds: u64) -> Result<()> {
    print!("{:16}", "Q NMI scans rounds");
    schedules.iter().for_each(|(name, _)| print!(" | {name:^26}"));
    println!();
    for case in cases {
        print!("{:18}", case.name);
        for (_, settings) in schedules {
            let cell = cell(case, settings, seeds)?;
            let nmi = if cell.nmi.is_nan() { "–".into() } else { format!("{:.4}", cell.nmi) };
            print!(" | {:.4} {nmi:>6} {:5.2} {:4.1}  ", cell.modularity, cell.scans, cell.rounds);
        }
        println!();
    }
    Ok(())
}
