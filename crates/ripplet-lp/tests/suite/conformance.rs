//! Every program with every deterministic schedule, against the oracle, on every executor.

use crate::graphs::{Edges, any_edges, shapes};
use crate::oracle::{self, Rules, Variant};
use proptest::prelude::*;
use ripplet_graph::{Graph, MAX_SHARD_ARCS};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Lpa, Resolution};
use ripplet_lp::{Executor, Order, Outcome, Schedule, Settings, Stop, Ties};

/// The executors under test, on 1, 2 and 7 threads.
fn executors() -> Vec<CpuExecutor> {
    [1, 2, 7].map(|threads| CpuExecutor::new(Some(threads)).unwrap()).into()
}

fn rules() -> Vec<Rules> {
    let mut all = Vec::new();
    for variant in [0, 49152, 65536, 98304].map(|resolution| Variant::Lpa { resolution }) {
        for phases in [1, 2, 5, 32] {
            for smallest_wins_ties in [false, true] {
                all.push((variant, phases, smallest_wins_ties));
            }
        }
    }
    all.extend([(Variant::Cdlp, 1, true), (Variant::Cdlp, 16, false)]);
    let rules = |(variant, phases, smallest_wins_ties)| Rules {
        variant,
        phases,
        smallest_wins_ties,
        seed: 42,
        max_rounds: 12,
        tolerance: 0.0,
    };
    all.into_iter().map(rules).collect()
}

fn settings(rules: Rules, initial: Option<&[u32]>) -> Settings {
    let order = match rules.phases {
        1 => Order::Sync,
        phases => Order::Phased { phases },
    };
    let ties = if rules.smallest_wins_ties { Ties::Smallest } else { Ties::Hashed };
    Settings {
        schedule: Schedule { order, ties },
        stop: Stop::after(rules.max_rounds).at_tolerance(rules.tolerance),
        seed: rules.seed,
        initial: initial.map(<[u32]>::to_vec),
        keep_disconnected: true,
        ..Settings::default()
    }
}

fn run(executor: &impl Executor, graph: &Graph, rules: Rules, settings: &Settings) -> Outcome {
    match rules.variant {
        Variant::Cdlp => executor.run(graph, &Cdlp, settings, &mut ()),
        Variant::Lpa { resolution } => {
            let resolution = Resolution::new(resolution as f64 / 65536.0).unwrap();
            executor.run(graph, &Lpa::new(resolution), settings, &mut ())
        }
    }
    .unwrap()
}

fn check(executors: &[CpuExecutor], edges: &Edges, initial: Option<&[u32]>, rules: Rules) {
    let lists = edges.lists();
    let expected = oracle::run(&lists, initial, rules);
    let split = oracle::split(&lists, &expected.labels);
    for executor in executors {
        for shard_arcs in [MAX_SHARD_ARCS, 7] {
            let graph = edges.graph(shard_arcs);
            let mut settings = settings(rules, initial);
            let found = run(executor, &graph, rules, &settings);
            let context = format!("{rules:?} on {} threads", executor.threads());
            assert_eq!(found.labels, expected.labels, "{context}");
            let changed: Vec<u64> = found.rounds.iter().map(|round| round.changed).collect();
            assert_eq!(changed, expected.changed, "{context}");
            settings.keep_disconnected = false;
            assert_eq!(run(executor, &graph, rules, &settings).labels, split, "{context}");
        }
    }
}

#[test]
fn shapes_equal_the_oracle() {
    let executors = executors();
    for (name, edges) in shapes() {
        for rules in rules() {
            println!("{name}");
            check(&executors, &edges, None, rules);
        }
    }
}

#[test]
fn initial_labels_equal_the_oracle() {
    let executors = executors();
    for (_, edges) in shapes() {
        let initial: Vec<u32> = (0..edges.vertices).map(|v| v / 3).collect();
        for rules in rules() {
            check(&executors, &edges, Some(&initial), rules);
        }
    }
}

/// Few by default, as each runs every rule on every executor; `PROPTEST_CASES` asks for more.
fn cases() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(asked.unwrap_or(24))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_graph_equals_the_oracle(edges in any_edges(), seed: u64, tolerance in 0.0f64..0.1) {
        let executors = executors();
        for rules in rules() {
            check(&executors, &edges, None, Rules { seed, tolerance, ..rules });
        }
    }
}
