//! Evaluates the detection of fraud on a file of transactions: `fraud_evaluation TRANSACTIONS MAPPING LABELS [options]`.
//!
//! LABELS is a CSV file whose column `--id` (the first) names accounts of the kind of the mapping's source, confirmed
//! where its column `--where COLUMN=VALUE` says so, or all of them. `--window` and `--slide` in spans (150d), `--draws`,
//! `--known`, `--seed`, `--top`, `--attenuation`, `--no-closure`, `--threads`. Prints the tables; `--rows FILE` (.tsv, .csv,
//! .parquet) gets a row for each draw and method.

use ripplet_bench::{Arguments, Result};
use ripplet_fraud::evaluate::{Evaluation, Evaluator, write_draws};
use ripplet_fraud::seeds::ListEntry;
use ripplet_fraud::source::{Batch, open_file};
use ripplet_fraud::stream::{FinishedDay, LONGEST_PAUSE, Stream, StreamOptions};
use ripplet_fraud::time::TimeRange;
use ripplet_fraud::weights::WeightFunction;
use ripplet_fraud::window::{Shape, Sliding};
use ripplet_fraud::{KnownBad, Mapping, Trusted};
use ripplet_lp::cpu::CpuExecutor;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<()> {
    let arguments = Arguments::of_process();
    let [transactions, mapping, labels, ..] = arguments.words() else {
        return Err("fraud_evaluation TRANSACTIONS MAPPING LABELS [options]".into());
    };
    let mapping = Mapping::read(Path::new(mapping))?;
    let span = |name, default: &str| arguments.option(name).unwrap_or(default).parse();
    let shape = Shape::new(span("--window", "30d")?, span("--slide", "30d")?)?.growing();
    let mut options = Evaluation::default();
    options.draws = arguments.or("--draws", options.draws)?;
    options.known = arguments.or("--known", options.known)?;
    options.seed = arguments.or("--seed", options.seed)?;
    options.top = arguments.or("--top", options.top)?;
    options.detection.attenuation = arguments.or("--attenuation", options.detection.attenuation)?;
    options.detection.ties.closure = !arguments.has("--no-closure");
    let executor = CpuExecutor::new(arguments.asked("--threads")?)?;

    let start = Instant::now();
    let stream_options = StreamOptions {
        unit: shape.unit(),
        late: None,
        skip_bad_rows: false,
        skip_late_rows: false,
        longest_gap: LONGEST_PAUSE,
        is_followed: false,
        range: TimeRange::ALL,
    };
    let decimals = mapping.amount.as_ref().map(|of| of.decimals);
    let weighing = Arc::new(WeightFunction::new(&mapping.weight, decimals)?);
    let mut stream = Stream::new(&mapping, weighing.clone(), stream_options)?;
    let amount = mapping.amount.as_ref().map_or(1.0, |of| 0.1_f64.powi(of.decimals as i32));
    let mut sliding = Sliding::new(shape, weighing, amount);
    let mut evaluator = None;
    let mut ended_with = |stream: &Stream, ended: Vec<FinishedDay>, last: bool| -> Result<()> {
        let count = ended.len();
        for (at, FinishedDay { unit, run, vertices, .. }) in ended.into_iter().enumerate() {
            let whole = sliding.push(unit, run);
            if whole || (last && at + 1 == count) {
                sliding.slide(vertices)?;
                let Some(window) = sliding.window() else { continue };
                let days: Vec<_> = sliding.days().map(|(_, day)| day).collect();
                let evaluator = match &mut evaluator {
                    Some(evaluator) => evaluator,
                    none => {
                        let confirmed = confirmed(labels, stream, &mapping, &arguments)?;
                        none.insert(Evaluator::new(options.clone(), &confirmed)?)
                    }
                };
                let trusted = Trusted::default();
                let entities = stream.entities();
                evaluator.window(&executor, window, &days, entities, &trusted, &mut ())?;
            }
        }
        Ok(())
    };
    for raw in open_file(Path::new(transactions), &mapping.columns())? {
        let batch = Batch::of(&raw?, &mapping, transactions)?;
        let ended = stream.push(&batch, transactions)?;
        ended_with(&stream, ended, false)?;
    }
    let ended = stream.finish()?;
    ended_with(&stream, ended, true)?;
    let report = evaluator.ok_or("no transactions")?.finish()?;
    println!("Command: fraud_evaluation {}\n", arguments.words().join(" "));
    println!(
        "{} accounts, {} of {} confirmed ones there, {} draws of {}, {} windows, {:.1} s; first {} %: {} accounts; best \
         baseline: {}\n",
        report.accounts,
        report.confirmed,
        report.confirmed + report.unseen,
        report.options.draws,
        report.options.known,
        report.windows,
        start.elapsed().as_secs_f64(),
        100.0 * report.options.top,
        (report.options.top * f64::from(report.accounts)).round(),
        report.best_baseline.map_or("none", |baseline| baseline.name()),
    );
    print!("{}", report.tables());
    if let Some(rows) = arguments.option("--rows") {
        write_draws(Path::new(rows), &report)?;
    }
    Ok(())
}

/// Returns the accounts that the file of labels confirms.
fn confirmed(
    labels: &str,
    stream: &Stream,
    mapping: &Mapping,
    arguments: &Arguments,
) -> Result<KnownBad> {
    let kind = stream.entities().find_kind(&mapping.source.kind).ok_or("no such kind")?;
    let text = std::fs::read_to_string(labels)?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().ok_or("no header")?.split(',').collect();
    let place = |name: &str| {
        let place = names.iter().position(|known| *known == name);
        place.ok_or_else(|| format!("{labels} has no column {name}"))
    };
    let id = arguments.option("--id").map_or(Ok(0), place)?;
    let wanted = match arguments.option("--where").map(|condition| condition.split_once('=')) {
        Some(Some((column, value))) => Some((place(column)?, value)),
        Some(None) => return Err("--where COLUMN=VALUE".into()),
        None => None,
    };
    let mut bad = KnownBad::default();
    for line in lines {
        let values: Vec<&str> = line.split(',').collect();
        let take = wanted.is_none_or(|(place, value)| values.get(place) == Some(&value));
        if let (true, Some(id)) = (take, values.get(id)) {
            bad.entries.push(ListEntry { kind, id: (*id).into(), from: None, until: None });
        }
    }
    Ok(bad)
}
