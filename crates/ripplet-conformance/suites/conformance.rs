//! Every program with every deterministic schedule, against the oracle, on every executor that the
//! suite's `machines.rs` lists.

use crate::graphs::{Edges, Stored, any_edges, shapes};
use crate::machines::{CASES, Machine, ROUNDS, STRIDE, machines, takes};
use crate::oracle::{
    self, Activation, Counting, Counts, Lists, NONE, Rules, State, Total, Variant,
};
use crate::probe::Probe;
use proptest::prelude::*;
use ripplet_graph::{GraphView, MAX_SHARD_ARCS};
use ripplet_lp::counters::{Parts, Rule, Scans, Sketch, Slots, Start};
use ripplet_lp::programs::{Cdlp, Gamma, Guard, Llp, Lpa, Seed, Seeded, Seeding, Slpa};
use ripplet_lp::{
    Column, ColumnValues, Counter, Executor, Outcome, RoundObserver, Schedule, Settings, Stop, Ties,
};

/// The requested runs of a program: a variant, its phases, whether the smallest label wins ties,
/// and how votes are counted.
pub type Asked = Vec<(Variant, u32, bool, Counting)>;

const EXACT: Counting = Counting::Exact;

pub fn of_lpa() -> Asked {
    let mut all = Vec::new();
    for variant in [0, 49152, 65536, 98304].map(|guard| Variant::Lpa { guard }) {
        for phases in [1, 2, 5, 32] {
            all.extend([false, true].map(|smallest| (variant, phases, smallest, EXACT)));
        }
    }
    all
}

pub fn of_cdlp() -> Asked {
    vec![(Variant::Cdlp, 1, true, EXACT), (Variant::Cdlp, 16, false, EXACT)]
}

/// Combines each variant with schedules that cover every option.
fn of(variants: impl IntoIterator<Item = Variant>) -> Asked {
    let schedules = [(1, false), (1, true), (5, false), (32, true)];
    let with = |variant| schedules.map(|(phases, smallest)| (variant, phases, smallest, EXACT));
    variants.into_iter().flat_map(with).collect()
}

pub fn of_llp() -> Asked {
    of([0, 1 << 14, 1 << 16, 5 << 16].map(|gamma| Variant::Llp { gamma }))
}

pub fn of_slpa() -> Asked {
    of([1, 2, 5].map(|memory| Variant::Slpa { memory }))
}

pub fn of_seeded() -> Asked {
    of([1.0, 0.625, 0.001].map(|attenuation| Variant::Seeded { attenuation }))
}

pub fn of_probe(activation: Activation) -> Asked {
    of([Total::Members, Total::Volume].map(|total| Variant::Probe { activation, total }))
}

/// Returns sketches of all kinds for the programs that take them.
pub fn of_sketches() -> Asked {
    let mut all = Vec::new();
    let variants = [
        Variant::Lpa { guard: 0 },
        Variant::Lpa { guard: 65536 },
        Variant::Slpa { memory: 2 },
        Variant::Seeded { attenuation: 0.625 },
    ];
    let schedules = [(1, false), (5, false), (32, true)].into_iter().cycle();
    let kinds = [None, Some(1), Some(2), Some(8), Some(32)];
    let kinds = kinds.into_iter().flat_map(|slots| {
        let with =
            move |(twice, in_parts, drawn)| Counting::Sketch { slots, twice, in_parts, drawn };
        [(true, true, true), (false, true, false), (true, false, true), (false, false, true)]
            .map(with)
    });
    for (counting, (phases, smallest)) in kinds.zip(schedules) {
        all.extend(variants.map(|variant| (variant, phases, smallest, counting)));
    }
    all
}

fn counter(counting: Counting) -> Counter {
    let Counting::Sketch { slots, twice, in_parts, drawn } = counting else {
        return Counter::EXACT;
    };
    Counter::Sketch(Sketch {
        rule: match slots {
            Some(slots) => Rule::MisraGries(Slots::new(slots as u32).unwrap()),
            None => Rule::BoyerMoore,
        },
        scans: if twice { Scans::Double } else { Scans::Single },
        parts: if in_parts { Parts::Merged } else { Parts::One },
        start: if drawn { Start::Drawn } else { Start::First },
    })
}

pub fn rules(
    (variant, phases, smallest_wins_ties, counting): (Variant, u32, bool, Counting),
) -> Rules {
    Rules {
        variant,
        counting,
        phases,
        smallest_wins_ties,
        seed: 42,
        max_rounds: ROUNDS,
        tolerance: 0.0,
    }
}

fn settings(rules: Rules, initial: Option<&[u32]>) -> Settings {
    let schedule = match rules.phases {
        1 => Schedule::sync(),
        phases => Schedule::phased_in(phases),
    };
    let ties = if rules.smallest_wins_ties { Ties::Smallest } else { Ties::Hashed };
    Settings {
        schedule: Schedule { ties, ..schedule },
        stop: Stop::after(rules.max_rounds).at_tolerance(rules.tolerance),
        seed: rules.seed,
        counter: counter(rules.counting),
        initial: initial.map(<[u32]>::to_vec),
        keep_disconnected: true,
        ..Settings::default()
    }
}

/// Returns seeds: every ninth vertex, some with equal labels, every other one weaker.
fn seeds(vertices: u32) -> Vec<Seed> {
    let seed = |vertex: u32| Seed {
        vertex,
        label: vertex * 5 % vertices,
        strength: if vertex.is_multiple_of(2) { 1.0 } else { 0.75 },
    };
    (0..vertices).filter(|v| v % 9 == 1).map(seed).collect()
}

/// Returns the initial state of a run, for the oracle and for the engine.
pub fn begin(vertices: u32, rules: Rules, initial: Option<&[u32]>) -> (State, Settings) {
    let mut state = State::new(vertices, rules.variant);
    let mut settings = settings(rules, initial);
    if let Some(labels) = initial {
        state.labels = labels.to_vec();
    }
    match rules.variant {
        Variant::Seeded { .. } => {
            let seeds = seeds(vertices);
            let seeding = if rules.phases == 5 { Seeding::Initial } else { Seeding::Fixed };
            state.labels.fill(NONE);
            for seed in &seeds {
                let v = seed.vertex as usize;
                state.labels[v] = seed.label;
                let fixed = u32::from(rules.phases != 5);
                state.columns.get_mut("fixed").unwrap()[v] = vec![fixed];
                state.columns.get_mut("strength").unwrap()[v] = vec![seed.strength.to_bits()];
            }
            settings = Seeded::begin(settings, vertices, &seeds, seeding).unwrap();
        }
        Variant::Probe { .. } => {
            let pull: Vec<f32> = (0..vertices).map(|v| (v % 5) as f32 - 1.0).collect();
            let bits = pull.iter().map(|pull| vec![pull.to_bits()]).collect();
            *state.columns.get_mut("pull").unwrap() = bits;
            settings.columns.insert("pull".into(), ColumnValues::F32(pull));
            if initial.is_none() {
                // Some vertices begin without a label.
                let unlabelled = state.labels.iter_mut().step_by(3);
                unlabelled.for_each(|label| *label = NONE);
                settings.initial = Some(state.labels.clone());
            }
        }
        _ => {}
    }
    (state, settings)
}

fn run(
    executor: &impl Executor,
    graph: GraphView<'_>,
    rules: Rules,
    settings: &Settings,
) -> Outcome {
    run_watched(executor, graph, rules, settings, &mut ())
}

pub fn run_watched(
    executor: &impl Executor,
    graph: GraphView<'_>,
    rules: Rules,
    settings: &Settings,
    watch: &mut dyn RoundObserver,
) -> Outcome {
    match rules.variant {
        Variant::Cdlp => executor.run(graph, &Cdlp, settings, watch),
        Variant::Lpa { guard } => {
            let guard = Guard::new(guard as f64 / 65536.0).unwrap();
            executor.run(graph, &Lpa::new(guard), settings, watch)
        }
        Variant::Llp { gamma } => {
            let gamma = Gamma::new(gamma as f64 / 65536.0).unwrap();
            executor.run(graph, &Llp::new(gamma), settings, watch)
        }
        Variant::Slpa { memory } => {
            executor.run(graph, &Slpa::new(memory as u32).unwrap(), settings, watch)
        }
        Variant::Seeded { attenuation } => {
            let seeded = Seeded::new(graph, attenuation.into()).unwrap();
            executor.run(graph, &seeded, settings, watch)
        }
        Variant::Probe { activation, total } => {
            // The variants have the numbers of the parameters' values.
            let program = Probe { activation: activation as u32, total: total as u32 };
            executor.run(graph, &program, settings, watch)
        }
        Variant::Suspicion { .. } => unreachable!("the suite of ripplet runs it"),
    }
    .unwrap()
}

/// Returns the number of columns that a program writes.
fn written(variant: Variant) -> usize {
    match variant {
        Variant::Lpa { .. } | Variant::Cdlp | Variant::Llp { .. } => 0,
        Variant::Seeded { .. } | Variant::Suspicion { .. } => 1,
        Variant::Slpa { .. } | Variant::Probe { .. } => 2,
    }
}

/// Returns the counts of each round, in the oracle's form.
pub fn counts(found: &Outcome) -> Vec<Counts> {
    let counts = found.rounds.iter().map(|round| Counts {
        changed: round.changed,
        visited: round.visited,
        scanned: round.scanned,
        nan_scores: round.nan_scores,
    });
    counts.collect()
}

/// Returns a column in the oracle's form.
pub fn bits(column: &Column) -> Vec<Vec<u32>> {
    let bits: Vec<u32> = match &column.values {
        ColumnValues::U32(values) => values.clone(),
        ColumnValues::F32(values) => values.iter().map(|value| value.to_bits()).collect(),
    };
    bits.chunks(column.len as usize).map(<[u32]>::to_vec).collect()
}

/// A graph for all runs on it: the oracle's lists, and the graph that each machine reads.
struct Case<'a> {
    edges: &'a Edges,
    lists: Lists,
    each: Vec<(&'a Machine, Stored)>,
}

impl<'a> Case<'a> {
    fn new(machines: &'a [Machine], edges: &'a Edges) -> Case<'a> {
        // A small limit on arcs makes many shards.
        let shard_arcs = [7, MAX_SHARD_ARCS].into_iter().cycle();
        let stored =
            |(machine, arcs): (&'a Machine, _)| (machine, edges.stored(arcs, machine.storage));
        let each = machines.iter().zip(shard_arcs).map(stored).collect();
        Case { edges, lists: edges.lists(), each }
    }

    fn check(&self, initial: Option<&[u32]>, rules: Rules) {
        let edges = self.edges;
        if !takes(edges, rules) {
            return;
        }
        let (start, mut settings) = begin(edges.vertices, rules, initial);
        let expected = oracle::run(&self.lists, start, rules);
        let split = oracle::split(&self.lists, &expected.state.labels);
        let mut takers = self.each.iter().filter(|(machine, _)| machine.takes(edges, rules));
        for (machine, graph) in takers.clone() {
            let found = run(&machine.executor, graph.view(), rules, &settings);
            let context = format!("{rules:?} {}", machine.name);
            assert_eq!(found.labels, expected.state.labels, "{context}");
            assert_eq!(counts(&found), expected.rounds, "{context}");
            assert_eq!(found.columns.len(), written(rules.variant));
            for column in &found.columns {
                let values = &expected.state.columns[&*column.name];
                assert_eq!(&bits(column), values, "{context}: {}", column.name);
            }
        }
        if rules.phases > 1 {
            // Splitting follows the rounds and does not depend on their phases.
            return;
        }
        settings.keep_disconnected = false;
        let (machine, graph) = takers.next().expect("a machine");
        let found = run(&machine.executor, graph.view(), rules, &settings);
        assert_eq!(found.labels, split, "{rules:?}");
    }
}

fn check_shapes(asked: Asked) {
    let machines = machines();
    for (name, edges) in shapes() {
        println!("{name}");
        let case = Case::new(&machines, &edges);
        asked.iter().for_each(|&each| case.check(None, rules(each)));
    }
}

fn check_initial_labels(asked: Asked) {
    let machines = machines();
    for (number, (name, edges)) in shapes().into_iter().enumerate() {
        println!("{name}");
        let case = Case::new(&machines, &edges);
        let all: Vec<u32> = (0..edges.vertices).map(|v| v / 3).collect();
        let partly = all.iter().map(|&label| if label % 4 == 1 { NONE } else { label });
        let kinds = [partly.collect(), all];
        // If only some runs are done, the kinds alternate.
        let kinds = kinds.iter().skip(number % STRIDE.min(2)).step_by(STRIDE.min(2));
        for initial in kinds {
            asked.iter().for_each(|&each| case.check(Some(initial), rules(each)));
        }
    }
}

/// Returns the configuration of random tests. Few cases by default, as each runs all of a program's
/// rules on every executor; `PROPTEST_CASES` sets more.
pub fn cases() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(asked.unwrap_or(CASES))
}

/// Defines the tests of one program. Each program has its own, so that several run at once.
macro_rules! equal_the_oracle {
    ($($program:ident: $asked:expr;)*) => {$(
        mod $program {
            use super::*;

            #[test]
            fn shapes_equal_the_oracle() {
                check_shapes($asked);
            }

            #[test]
            fn initial_labels_equal_the_oracle() {
                check_initial_labels($asked);
            }

            proptest! {
                #![proptest_config(cases())]

                #[test]
                fn any_graph_equals_the_oracle(
                    edges in any_edges(),
                    seed: u64,
                    tolerance in 0.0f64..0.1,
                ) {
                    let machines = machines();
                    let case = Case::new(&machines, &edges);
                    for each in $asked {
                        case.check(None, Rules { seed, tolerance, ..rules(each) });
                    }
                }
            }
        }
    )*};
}

equal_the_oracle! {
    lpa: of_lpa();
    cdlp: of_cdlp();
    llp: of_llp();
    slpa: of_slpa();
    seeded: of_seeded();
    probe_active_after_disagreement: of_probe(Activation::Disagreement);
    probe_active_after_change: of_probe(Activation::Change);
    probe_always_active: of_probe(Activation::Always);
    sketches: of_sketches();
}

/// Vertices with more arcs than an engine reads at a time, and with many parts.
#[test]
fn sketches_of_hubs_equal_the_oracle() {
    let machines = machines();
    // Two hubs with the same leaves; one of them has arcs in the other direction, too.
    let leaves = 1300;
    let pairs = (2..leaves).flat_map(|v| [(0, v), (v, 1)]).chain((2..900).map(|v| (v, 0)));
    let plain = Edges::new(leaves, pairs.collect::<Vec<_>>());
    let weights = (0..plain.pairs.len() as u32).map(|row| 1 + row * 7 % 5).collect();
    let directed = Edges { weights: Some(weights), ..plain.clone().directed() };
    // Few labels of many vertices, and many labels of few.
    let initial = |v: u32| if v.is_multiple_of(3) { v % 20 } else { v / 4 };
    let initial: Vec<u32> = (0..leaves).map(initial).collect();
    for edges in [plain, directed] {
        let case = Case::new(&machines, &edges);
        for each in of_sketches().into_iter().filter(|(_, phases, ..)| *phases < 32) {
            let rules = Rules { max_rounds: 2, ..rules(each) };
            case.check(Some(&initial), rules);
        }
    }
}
