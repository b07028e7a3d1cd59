//! Compares counters (exact and sketches) on each graph: time, memory and quality. `bench/sketches.md` has the results.
//!
//! ```text
//! cargo run --release -p ripplet-bench --bin counters -- [--scale S] [--turns N] [--schedule NAME] [FILE[=TRUTH]…]
//! ```
//!
//! Each repetition runs `lpa` with every counter, one after the other, and the presets. Seconds are those of
//! the rounds, as medians over the repetitions, like the ratios to the exact counter of the same repetition.
//! Modularity and NMI are means over the repetitions, whose seeds differ. `same` is the NMI of a counter's
//! communities with those of the exact counter. Bytes are per vertex, as planned, without the graph. A FILE
//! is any edge list that ripplet reads, its TRUTH a file of `id community` lines. Generated graphs of
//! 2^S vertices follow the files.

use ripplet_bench::{Case, Result, generated};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Guard, Lpa};
use ripplet_lp::quality::{Quality, agreement};
use ripplet_lp::{Executor, Schedule, Settings};

const COUNTERS: [&str; 10] = [
    "exact",
    "mg:2",
    "mg:4",
    "mg:8",
    "mg:16",
    "mg:32",
    "bm",
    "mg:8:one",
    "mg:8:single",
    "bm:single",
];

/// A counter with its settings and results.
struct Row {
    name: String,
    program: Lpa,
    settings: Settings,
    turns: Vec<Turn>,
}

struct Turn {
    seconds: f64,
    modularity: f64,
    nmi: f64,
    same: f64,
    rounds: usize,
    bytes: f64,
}

fn main() -> Result<()> {
    let (mut cases, mut scale, mut turns) = (Vec::new(), 16, 5);
    let mut schedule = Schedule::phased();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--scale" => scale = arguments.next().ok_or("--scale wants a number")?.parse()?,
            "--turns" => turns = arguments.next().ok_or("--turns wants a number")?.parse()?,
            "--schedule" => {
                schedule = match arguments.next().as_deref() {
                    Some("phased") => Schedule::phased(),
                    Some("async") => Schedule::asynchronous(),
                    _ => return Err("--schedule wants phased or async".into()),
                }
            }
            file => cases.push(Case::read(file)?),
        }
    }
    if scale > 0 {
        generated(scale, &mut cases)?;
    }
    let executor = CpuExecutor::new(None)?;
    for case in &cases {
        report(case, rows(&executor, case, schedule, turns)?);
    }
    Ok(())
}

fn rows(executor: &CpuExecutor, case: &Case, schedule: Schedule, turns: u64) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for name in COUNTERS {
        let settings = Settings { schedule, counter: name.parse()?, ..Settings::default() };
        rows.push(Row { name: name.into(), program: Lpa::default(), settings, turns: Vec::new() });
    }
    for (name, settings) in [("nu-mg8", Settings::nu_mg8()), ("nu-bm", Settings::nu_bm())] {
        let program = Lpa::new(Guard::OFF);
        rows.push(Row { name: name.into(), program, settings, turns: Vec::new() });
    }
    for seed in 0..turns {
        let mut exact = Vec::new();
        for row in &mut rows {
            let settings = Settings { seed, ..row.settings.clone() };
            let found = executor.run(&case.graph, &row.program, &settings, &mut ())?;
            let mut quality = Quality::of(&case.graph, &found.labels)?;
            if let Some(truth) = &case.truth {
                quality = quality.against(&found.labels, truth)?;
            }
            if exact.is_empty() {
                exact.clone_from(&found.labels);
            }
            let plan = executor.plan(&case.graph, &row.program, &settings);
            row.turns.push(Turn {
                seconds: found.rounds.iter().map(|round| round.seconds).sum(),
                modularity: quality.modularity,
                nmi: quality.agreement.map_or(f64::NAN, |agreement| agreement.nmi),
                same: agreement(&found.labels, &exact)?.nmi,
                rounds: found.rounds.len(),
                bytes: plan.algorithm_host() as f64 / f64::from(case.graph.vertices().max(1)),
            });
        }
    }
    Ok(rows)
}

fn report(case: &Case, rows: Vec<Row>) {
    let Case { name, graph, .. } = case;
    println!("## {name}: {} vertices, {} arcs", graph.vertices(), graph.arcs());
    println!(
        "counter      |  seconds | x exact |      Q |    NMI |   same | rounds | bytes a vertex"
    );
    let Some(exact) = rows.first() else { return };
    for row in &rows {
        let of = |value: fn(&Turn) -> f64| row.turns.iter().map(value).collect::<Vec<f64>>();
        let mean = |value| of(value).iter().sum::<f64>() / row.turns.len().max(1) as f64;
        let ratios = row.turns.iter().zip(&exact.turns);
        let ratios = ratios.map(|(turn, exact)| turn.seconds / exact.seconds).collect();
        println!(
            "{:12} | {:8.5} | {:7.2} | {:6.4} | {:6.4} | {:6.4} | {:6.1} | {:8.2}",
            row.name,
            median(of(|turn| turn.seconds)),
            median(ratios),
            mean(|turn| turn.modularity),
            mean(|turn| turn.nmi),
            mean(|turn| turn.same),
            mean(|turn| turn.rounds as f64),
            mean(|turn| turn.bytes),
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
