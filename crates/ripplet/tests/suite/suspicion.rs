//! The fraud-detection program against the oracle, on every kind of executor and storage.
//!
//! Its hooks are translated for GPUs; its crate does not depend on any executor.

use crate::graphs::{Edges, Storage, any_edges, bipartite, cliques, shapes};
use crate::oracle::{self, Counting, Counts, NONE, Rules, State, Variant};
use proptest::prelude::*;
use ripplet::cuda::lp::Tuning;
use ripplet::cuda::{DeviceExecutor, DevicesExecutor};
use ripplet::fraud::detect::{Detection, Known, Spread, Suspicion, WarmStart, spread};
use ripplet::fraud::ties::{TieRule, Ties};
use ripplet::fraud::window::Changed;
use ripplet::gpu::CudaDevice;
use ripplet::graph::MAX_SHARD_ARCS;
use ripplet::lp::cpu::CpuExecutor;
use ripplet::lp::{ColumnValues, Executor, Schedule, Settings, Stop, Ties as TieBreak};
use ripplet_emulator::EmulatedDevice;

/// A run's options: the attenuation, the phases, and whether the smallest label wins ties.
type Asked = (f32, u32, bool);

/// Combinations of options that cover all their values.
const ALL: [Asked; 6] = [
    (0.5, 1, false),
    (0.5, 1, true),
    (0.5, 5, false),
    (0.5, 32, true),
    (1.0, 5, true),
    (0.03, 1, false),
];

fn emulator(order: u64) -> EmulatedDevice {
    EmulatedDevice::with_order(order).with_resident_blocks(2)
}

/// Settings of a GPU whose memory is too small for the neighbour lists of vertices of degree 40 and
/// more.
fn streamed() -> Tuning {
    Tuning { streamed_from: Some(40), ..Tuning::default() }
}

fn on_gpu() -> bool {
    std::env::var_os("RIPPLET_GPU").is_some()
}

fn gpu(number: usize) -> CudaDevice {
    CudaDevice::new(number).unwrap_or_else(|error| panic!("RIPPLET_GPU is set, but: {error}"))
}

fn several() -> DevicesExecutor<EmulatedDevice> {
    DevicesExecutor::new((0..3).map(emulator).collect()).unwrap()
}

/// A graph, the initial state of a run, and the oracle's result.
struct Case {
    edges: Edges,
    rules: Rules,
    attenuation: f32,
    start: State,
    expected: oracle::Result,
}

impl Case {
    fn new(edges: Edges, (attenuation, phases, smallest_wins_ties): Asked) -> Case {
        let rules = Rules {
            variant: Variant::Suspicion { attenuation },
            counting: Counting::Exact,
            phases,
            smallest_wins_ties,
            seed: 42,
            max_rounds: 9,
            tolerance: 0.0,
        };
        let lists = edges.lists();
        let mut start = State::new(edges.vertices, rules.variant);
        start.labels.fill(NONE);
        for (v, list) in lists.iter().enumerate() {
            let all: u64 = list.iter().map(|(_, weight)| weight).sum();
            let share = if all > 0 { 1.0 / all as f32 } else { 0.0 };
            let mut set = |column, value| start.columns.get_mut(column).unwrap()[v] = vec![value];
            set("share", share.to_bits());
            // Known fraud, two vertices for each label; and trusted vertices.
            if v % 7 == 1 {
                set("strength", 1.0f32.to_bits());
                start.labels[v] = (v - v % 14) as u32;
            }
            set("fixed", u32::from(v % 7 == 1 || v % 11 == 3));
        }
        let expected = oracle::run(&lists, start.clone(), rules);
        Case { edges, rules, attenuation, start, expected }
    }

    /// Returns the settings of a run; stored weights are those of the table times `unit`, a power
    /// of 2.
    fn settings(&self, unit: f32) -> Settings {
        let schedule = match self.rules.phases {
            1 => Schedule::sync(),
            phases => Schedule::phased_in(phases),
        };
        let ties =
            if self.rules.smallest_wins_ties { TieBreak::Smallest } else { TieBreak::Hashed };
        let bits = |column: &str| self.start.columns[column].iter().map(|values| values[0]);
        let floats = |column| bits(column).map(f32::from_bits);
        let share = floats("share").map(|share| share / unit).collect();
        let mut settings = Settings {
            schedule: Schedule { ties, ..schedule },
            stop: Stop::after(self.rules.max_rounds),
            seed: self.rules.seed,
            initial: Some(self.start.labels.clone()),
            keep_disconnected: true,
            ..Settings::default()
        };
        let columns = &mut settings.columns;
        columns.insert("fixed".into(), ColumnValues::U32(bits("fixed").collect()));
        columns.insert("strength".into(), ColumnValues::F32(floats("strength").collect()));
        columns.insert("share".into(), ColumnValues::F32(share));
        settings
    }

    /// Runs on an executor and compares labels, strengths and the counts of each round with the
    /// oracle's.
    fn on(&self, executor: &impl Executor, storage: Storage, name: &str) {
        // A small limit on arcs makes many shards.
        let shard_arcs = if self.rules.phases == 5 { 7 } else { MAX_SHARD_ARCS };
        let unit = 1.0 / self.edges.graph(shard_arcs).weight_scale().weight(1);
        let stored = self.edges.stored(shard_arcs, storage);
        let detection = Detection { attenuation: self.attenuation.into(), ..Detection::default() };
        let program = Suspicion::new(&detection);
        let settings = self.settings(unit as f32);
        let found = executor.run(stored.view(), &program, &settings, &mut ()).unwrap();
        let context = format!("{:?} {storage:?} {name}", self.rules);
        assert_eq!(found.labels, self.expected.state.labels, "{context}");
        let [strength] = &*found.columns else { panic!("a column is written: {context}") };
        let ColumnValues::F32(strengths) = &strength.values else { panic!("{context}") };
        let strengths: Vec<Vec<u32>> = strengths.iter().map(|s| vec![s.to_bits()]).collect();
        assert_eq!(strengths, self.expected.state.columns["strength"], "{context}");
        let rounds = found.rounds.iter().map(|round| Counts {
            changed: round.changed,
            visited: round.visited,
            scanned: round.scanned,
            nan_scores: round.nan_scores,
        });
        assert_eq!(rounds.collect::<Vec<_>>(), self.expected.rounds, "{context}");
    }

    fn on_the_cpu(&self) {
        for threads in [1, 3] {
            let executor = CpuExecutor::new(Some(threads)).unwrap();
            for storage in [Storage::Plain, Storage::Compressed] {
                self.on(&executor, storage, &format!("on {threads} threads"));
            }
        }
    }
}

/// Groups with weighted edges inside; edges of later groups are heavier.
fn weighted_groups() -> Edges {
    let groups = cliques(9, 8);
    let weights = groups.pairs.iter().map(|(a, b)| 1 + (a * 7 + b) % 23 * (a / 8)).collect();
    Edges { weights: Some(weights), ..groups }
}

#[test]
fn the_cpu_equals_the_oracle_on_shapes() {
    for (name, edges) in shapes().into_iter().chain([("weighted", weighted_groups())]) {
        println!("{name}");
        ALL.into_iter().for_each(|asked| Case::new(edges.clone(), asked).on_the_cpu());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_cpu_equals_the_oracle_on_any_graph(edges in any_edges()) {
        ALL.into_iter().for_each(|asked| Case::new(edges.clone(), asked).on_the_cpu());
    }
}

/// The emulator compiles the program for each kind of graph and schedule, so only a few are run.
#[test]
fn the_kernels_equal_the_oracle() {
    let asked = |phases| (0.5, phases, phases == 1);
    for (edges, phases) in [(weighted_groups(), 1), (weighted_groups(), 5), (bipartite(30, 90), 5)]
    {
        let case = Case::new(edges, asked(phases));
        let executor = DeviceExecutor::new(emulator(phases.into()));
        case.on(&executor, Storage::Plain, "on the emulator");
    }
    let case = Case::new(weighted_groups(), asked(5));
    case.on(&DeviceExecutor::new(emulator(2)), Storage::Compressed, "on the emulator");
    for storage in [Storage::Plain, Storage::Compressed] {
        let executor = DeviceExecutor::new(emulator(3)).with_tuning(streamed());
        case.on(&executor, storage, "on the emulator, streamed");
    }
    case.on(&several(), Storage::Plain, "on three emulators");
}

/// Runs all cases on the first GPU if `RIPPLET_GPU` is set.
#[test]
fn a_gpu_equals_the_oracle() {
    if !on_gpu() {
        return;
    }
    let executors = [Tuning::default(), streamed()]
        .map(|tuning| (DeviceExecutor::new(gpu(0)).with_tuning(tuning), format!("{tuning:?}")));
    // Without a second GPU, the first one is both ranks.
    let second = CudaDevice::new(1).unwrap_or_else(|_| gpu(0));
    let both = DevicesExecutor::new(vec![gpu(0), second]).unwrap();
    for (name, edges) in shapes().into_iter().chain([("weighted", weighted_groups())]) {
        println!("{name}");
        for asked in ALL {
            let case = Case::new(edges.clone(), asked);
            for storage in [Storage::Plain, Storage::Compressed] {
                for (executor, tuning) in &executors {
                    case.on(executor, storage, &format!("on a GPU, {tuning}"));
                }
                case.on(&both, storage, "on two GPUs");
            }
        }
    }
}

/// Two windows of a transaction graph: the second lacks some edges of the first and has new ones.
fn windows() -> [Edges; 2] {
    let of = |first: u32| {
        let groups = cliques(12, 6);
        let deals = (first..first + 300).map(|at| (at * 13 % 72, at * at % 71));
        let pairs: Vec<(u32, u32)> = groups.pairs.into_iter().chain(deals).collect();
        let weights = (0..pairs.len() as u32).map(|at| 1 + at % 3).collect();
        Edges { weights: Some(weights), ..Edges::new(72, pairs) }
    };
    [of(0), of(40)]
}

/// Runs detection on two windows: with labels that start anew, and with labels that continue.
fn spread_in_windows(executor: &impl Executor, schedule: Schedule) -> [Spread; 2] {
    let [first, next] = windows().map(|edges| edges.graph(MAX_SHARD_ARCS));
    let lists = |v: u32| [&first, &next].map(|graph| graph.shards()[0].out().of(v as usize));
    let changed = (0..first.vertices()).filter(|&v| lists(v)[0] != lists(v)[1]).collect();
    let detection = Detection { schedule, ..Detection::default() };
    let known =
        [Known { bad: &[3, 17, 40], trusted: &[9] }, Known { bad: &[3, 40, 61], trusted: &[] }];
    let ties = [(&first, known[0]), (&next, known[1])]
        .map(|(graph, known)| Ties::of(graph, TieRule::default(), known.trusted).unwrap());
    let before = spread(executor, &ties[0], known[0], &detection, None, &mut ()).unwrap();
    let begin = WarmStart { before: &before, changed: &Changed::Some(changed) };
    let after = spread(executor, &ties[1], known[1], &detection, Some(begin), &mut ()).unwrap();
    [before, after]
}

/// The whole computation of a window, settings included: a device gives the CPU's results.
#[test]
fn windows_are_the_same_on_a_device() {
    for schedule in [Schedule::sync(), Schedule::phased()] {
        let expected = spread_in_windows(&CpuExecutor::new(Some(1)).unwrap(), schedule);
        let reached = expected[1].labels.iter().filter(|label| **label != NONE).count();
        assert!(reached > 6, "{reached}");
        let same = |found: [Spread; 2]| {
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.labels, expected.labels);
                assert_eq!(found.strengths, expected.strengths);
                assert_eq!(found.rounds.len(), expected.rounds.len());
                assert_eq!(found.converged, expected.converged);
            }
        };
        same(spread_in_windows(&CpuExecutor::new(Some(3)).unwrap(), schedule));
        if on_gpu() {
            same(spread_in_windows(&DeviceExecutor::new(gpu(0)), schedule));
        } else {
            same(spread_in_windows(&DeviceExecutor::new(emulator(1)), schedule));
        }
    }
}
