//! Measures a slide of a window beside a rebuild: `measure_windows [--transactions N] [--window DAYS] [--slides N]
//! [--weight RULE]`. A window of `--window` days has N transactions of `ripplet generate transactions`; vertices are numbered
//! as they are first seen. Each slide is a day. Prints lines of JSON: the windows, and for each slide the seconds of
//! sorting the day and of merging it, beside two rebuilds of the same window: by merging its days, and by the graph
//! builder from its transactions. Their arrays are compared. With `--labels`, it also compares the rounds of label
//! propagation from the start with those from the labels of the window before, with 10 % of the rings' buyers known.

use ripplet_bench::{Arguments, Result};
use ripplet_fraud::days::DayAdjacency;
use ripplet_fraud::detect::{Detection, Known, Spread, WarmStart, spread};
use ripplet_fraud::mapping::WeightRule;
use ripplet_fraud::payments::Transfer;
use ripplet_fraud::ties::Ties;
use ripplet_fraud::weights::WeightFunction;
use ripplet_fraud::window::{Shape, Sliding};
use ripplet_fraud::{Span, Timestamp};
use ripplet_generate::{TransactionGraph, Transactions};
use ripplet_graph::{EdgeTable, GraphBuilder, VertexId, VertexIds};
use ripplet_lp::NO_LABEL;
use ripplet_lp::cpu::CpuExecutor;
use serde_json::json;
use std::collections::VecDeque;
use std::time::Instant;

/// Transactions of the first 30 days at scale 1, in units of 10^9.
const OF_30_DAYS: f64 = 4.3e9;
/// The share of the rings' buyers that are known.
const KNOWN: f64 = 0.1;

fn main() -> Result<()> {
    let arguments = Arguments::of_process();
    let transactions: f64 = arguments.or("--transactions", 50e6)?;
    let length: u32 = arguments.or("--window", 30)?;
    let slides: u32 = arguments.or("--slides", 5)?;
    let rule = arguments.option("--weight").unwrap_or("count");
    let unit_value = 0.01;
    let with_labels = arguments.has("--labels");
    let (executor, detection) = (CpuExecutor::new(None)?, Detection::default());
    let mut labels: Option<Spread> = None;

    let scale = transactions / OF_30_DAYS * 30.0 / f64::from(length);
    let transactions = Transactions::new(length + slides, scale).prepare()?;
    let mut days = Days {
        transactions: &transactions,
        numbers: vec![VertexId::MAX; transactions.vertices() as usize],
        seen: 0,
    };
    let shape = Shape::new(Span::of_days(length.into()).ok_or("days")?, Span::DAY)?;
    let weighing =
        || WeightFunction::new(&WeightRule { of: Some(rule.into()), resolution: None }, Some(2));
    let mut sliding = Sliding::new(shape, weighing()?, unit_value);
    let mut kept: VecDeque<Vec<Transfer>> = VecDeque::new();
    for day in 1..=length + slides {
        let transfers = days.of(day)?;
        kept.push_back(transfers.clone());
        let start = Instant::now();
        let rows = transfers.len();
        let run = DayAdjacency::of(transfers, rows as u64, true)?;
        let run_seconds = start.elapsed().as_secs_f64();
        if !sliding.push(i64::from(day), run) {
            continue;
        }
        if kept.len() > length as usize {
            kept.pop_front();
        }
        let start = Instant::now();
        let (window, changed) = sliding.slide(days.seen)?;
        let merge_seconds = start.elapsed().as_secs_f64();
        let graph = window.graph.clone();
        let mut line = json!({
            "day": day, "window_days": length, "weight": rule, "transactions": window.transactions,
            "day_transactions": rows, "vertices": graph.vertices(), "arcs": graph.arcs(),
            "run_seconds": run_seconds, "merge_seconds": merge_seconds, "threads": rayon::current_num_threads(),
        });
        if day == length || day + 1 >= length + slides {
            let slide = run_seconds + merge_seconds;
            let runs: Vec<DayAdjacency> = sliding.days().map(|(_, run)| run.clone()).collect();
            let mut anew = Sliding::new(shape, weighing()?, unit_value).from_scratch();
            for (index, run) in runs.into_iter().enumerate() {
                anew.push(index as i64, run);
            }
            let start = Instant::now();
            let (rebuilt, _) = anew.slide(days.seen)?;
            let from_runs = start.elapsed().as_secs_f64();
            let same = rebuilt.graph == graph;
            drop(anew);
            line["rebuild_from_runs_seconds"] = json!(from_runs);
            line["rebuild_from_runs_is_same"] = json!(same);
            if rule == "count" {
                let ids = VertexIds::Consecutive { first: 0, count: days.seen };
                let ends = |end: fn(&Transfer) -> VertexId| {
                    kept.iter().flatten().map(end).collect::<Vec<_>>()
                };
                let (sources, targets) =
                    (ends(|transfer| transfer.source), ends(|transfer| transfer.target));
                let ones = vec![1.0; sources.len()];
                let start = Instant::now();
                let edges = EdgeTable::new(ids, sources, targets)?.with_weights(ones)?;
                let built = GraphBuilder::new().build(edges)?;
                let from_rows = start.elapsed().as_secs_f64();
                line["rebuild_from_transactions_seconds"] = json!(from_rows);
                line["rebuild_from_transactions_is_same"] = json!(built == graph);
                line["slide_share_of_rebuild"] = json!(slide / from_rows);
            }
            line["slide_share_of_rebuild_from_runs"] = json!(slide / from_runs);
        }
        if with_labels {
            let known = (0..transactions.rings()).flat_map(|ring| transactions.known(ring, KNOWN));
            let mut bad: Vec<VertexId> = known.map(|v| days.numbers[v as usize]).collect();
            bad.retain(|&v| v < days.seen);
            bad.sort_unstable();
            bad.dedup();
            let known = Known { bad: &bad, trusted: &[] };
            let ties = Ties::of(&graph, detection.ties, &[])?;
            let mut of = |name: &str, before: Option<WarmStart<'_>>| -> Result<Spread> {
                let start = Instant::now();
                let spread = spread(&executor, &ties, known, &detection, before, &mut ())?;
                let seconds = start.elapsed().as_secs_f64();
                let rounds: Vec<[u64; 2]> =
                    spread.rounds.iter().map(|round| [round.changed, round.visited]).collect();
                let scanned: u64 = spread.rounds.iter().map(|round| round.scanned).sum();
                line[name] = json!({
                    "rounds": rounds.len(), "changed_and_visited": rounds, "scanned": scanned, "seconds": seconds,
                    "reached": spread.labels.iter().filter(|label| **label != NO_LABEL).count(),
                });
                Ok(spread)
            };
            let cold = of("anew", None)?;
            let next = match &labels {
                Some(before) => of("warm", Some(WarmStart { before, changed: &changed }))?,
                None => cold.clone(),
            };
            let same = next.labels.iter().zip(&cold.labels).filter(|(one, other)| one == other);
            line["same_labels"] = json!(same.count());
            labels = Some(next);
        }
        println!("{line}");
    }
    Ok(())
}

/// The days of generated transactions, their vertices numbered as they are first seen.
struct Days<'a> {
    transactions: &'a TransactionGraph,
    numbers: Vec<VertexId>,
    seen: u32,
}

impl Days<'_> {
    fn of(&mut self, day: u32) -> Result<Vec<Transfer>> {
        let mut transfers = Vec::new();
        for part in self.transactions.sales_parts().filter(|part| part.day == day) {
            let sales = self.transactions.sales(&part)?;
            for ((&buyer, &item), &amount) in
                sales.buyers.iter().zip(&sales.items).zip(&sales.amounts)
            {
                let source = self.number(buyer);
                let target = self.number(item);
                let time = Timestamp(i64::from(day) * Span::DAY.micros());
                let amount = (amount * 100.0).round() as u64;
                transfers.push(Transfer { source, target, time, amount });
            }
        }
        Ok(transfers)
    }

    fn number(&mut self, vertex: VertexId) -> VertexId {
        let number = &mut self.numbers[vertex as usize];
        if *number == VertexId::MAX {
            *number = self.seen;
            self.seen += 1;
        }
        *number
    }
}
