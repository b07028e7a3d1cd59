//! Runs interrupted after each of their rounds and resumed, on the same executor or another.
//!
//! A resumed run finds what the oracle finds in one go, and its later checkpoints equal those of
//! the first run.

use crate::conformance::{
    Asked, begin, bits, cases, counts, of_cdlp, of_llp, of_lpa, of_probe, of_seeded, of_sketches,
    of_slpa, rules, run_watched,
};
use crate::graphs::{Edges, Storage, Stored, any_edges, bipartite, cliques, grid, shapes};
use crate::machines::{Machine, STRIDE, machines, takes};
use crate::oracle::{self, Activation, Counting, Lists, Rules};
use proptest::prelude::*;
use ripplet_graph::{MAX_SHARD_ARCS, Observer};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Guard, Lpa, Slpa};
use ripplet_lp::{
    Checkpoint, CheckpointError, Executor, Hints, Keeper, NO_LABEL, NotKept, Outcome, Program,
    Round, RoundObserver, RunError, RunIdentity, Schedule, Settings, SettingsError, State, Stop,
    StopReason, Ties,
};
use std::num::NonZeroU32;

/// A keeper of every state.
#[derive(Default)]
pub struct All(pub Vec<Checkpoint>);

impl Keeper for All {
    fn is_due(&mut self, _: &[Round]) -> bool {
        true
    }

    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept> {
        let State { labels, active, columns } = state;
        self.0.push(Checkpoint {
            // Times are not part of the state.
            rounds: rounds.iter().map(|&round| Round { seconds: 0.0, ..round }).collect(),
            labels: labels.into_owned().into(),
            active: active.into_owned().into(),
            columns: columns.into_iter().map(|values| values.into_owned().into()).collect(),
        });
        Ok(())
    }
}

impl Observer for All {}

impl RoundObserver for All {
    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        Some(self)
    }
}

/// The executor of a run: one under test, or the CPU.
enum Runner {
    UnderTest(Box<Machine>),
    Cpu(CpuExecutor),
}

fn runners() -> Vec<Runner> {
    let under_test = machines().into_iter().map(|machine| Runner::UnderTest(Box::new(machine)));
    under_test.chain([Runner::Cpu(CpuExecutor::new(Some(3)).unwrap())]).collect()
}

impl Runner {
    fn takes(&self, edges: &Edges, rules: Rules) -> bool {
        match self {
            Runner::UnderTest(machine) => machine.takes(edges, rules),
            Runner::Cpu(_) => true,
        }
    }

    /// Returns the graph in the form that this runner reads.
    fn stored(&self, edges: &Edges, shard_arcs: u64) -> Stored {
        match self {
            Runner::UnderTest(machine) => edges.stored(shard_arcs, machine.storage),
            Runner::Cpu(_) => edges.stored(shard_arcs, Storage::Plain),
        }
    }

    fn run(&self, graph: &Stored, rules: Rules, settings: &Settings, watch: &mut All) -> Outcome {
        let graph = graph.view();
        match self {
            Runner::UnderTest(machine) => {
                run_watched(&machine.executor, graph, rules, settings, watch)
            }
            Runner::Cpu(executor) => run_watched(executor, graph, rules, settings, watch),
        }
    }
}

/// A graph for all runs on it: the oracle's lists, and the graph that each runner reads.
struct Case<'a> {
    edges: &'a Edges,
    lists: Lists,
    each: Vec<(&'a Runner, Stored)>,
}

impl<'a> Case<'a> {
    fn new(runners: &'a [Runner], edges: &'a Edges) -> Case<'a> {
        let shard_arcs = [7, MAX_SHARD_ARCS].into_iter().cycle();
        let stored = |(runner, arcs): (&'a Runner, _)| (runner, runner.stored(edges, arcs));
        let each = runners.iter().zip(shard_arcs).map(stored).collect();
        Case { edges, lists: edges.lists(), each }
    }

    fn check(&self, rules: Rules) {
        let edges = self.edges;
        if !takes(edges, rules) {
            return;
        }
        let (start, settings) = begin(edges.vertices, rules, None);
        let expected = oracle::run(&self.lists, start, rules);
        let all = self.each.iter().filter(|(runner, _)| runner.takes(edges, rules));
        let all: Vec<&(&Runner, Stored)> = all.collect();
        let judge = |found: &Outcome| {
            assert_eq!(found.labels, expected.state.labels, "{rules:?}");
            assert_eq!(counts(found), expected.rounds, "{rules:?}");
            for column in &found.columns {
                assert_eq!(&bits(column), &expected.state.columns[&*column.name], "{rules:?}");
            }
        };
        let mut kept: Option<Vec<Checkpoint>> = None;
        for (runner, graph) in &all {
            let mut states = All::default();
            judge(&runner.run(graph, rules, &settings, &mut states));
            assert_eq!(states.0.len(), expected.rounds.len().saturating_sub(1), "{rules:?}");
            assert_eq!(kept.get_or_insert_with(|| states.0.clone()), &states.0, "{rules:?}");
        }
        let kept = kept.expect("at least one run");
        for (index, checkpoint) in kept.iter().enumerate() {
            // The next runner depends on the phases, too, as there may be fewer rounds than runners.
            let (runner, graph) = all[(index + rules.phases as usize) % all.len()];
            let settings = Settings { resume: Some(checkpoint.clone()), ..settings.clone() };
            let mut rest = All::default();
            judge(&runner.run(graph, rules, &settings, &mut rest));
            assert_eq!(rest.0, kept[index + 1..], "{rules:?}, from round {}", index + 1);
        }
    }
}

/// Returns every `step`th of the requested runs.
fn some(asked: Asked, step: usize) -> Asked {
    asked.into_iter().step_by(step).collect()
}

fn all() -> Asked {
    let activations = [Activation::Disagreement, Activation::Change, Activation::Always];
    let probes = activations.into_iter().flat_map(of_probe).collect();
    let parts = [some(of_lpa(), 1), of_cdlp(), of_llp(), of_slpa(), of_seeded(), probes];
    parts.concat().into_iter().chain(some(of_sketches(), 3)).collect()
}

#[test]
fn interrupted_after_any_round() {
    let runners = runners();
    let weights = |edges: Edges| {
        let weights = (0..edges.pairs.len() as u32).map(|row| 1 + row * 7 % 5).collect();
        Edges { weights: Some(weights), ..edges }
    };
    let kinds = [grid(9), bipartite(13, 7), weights(cliques(5, 6)), cliques(5, 6).directed()];
    // If only some runs are done, each kind of graph gets other programs.
    let step = STRIDE * STRIDE.min(2);
    for (number, edges) in kinds.iter().enumerate() {
        let asked = all().into_iter().skip(number % step).step_by(step);
        let case = Case::new(&runners, edges);
        asked.for_each(|each| case.check(rules(each)));
    }
}

#[test]
fn graphs_of_any_shape() {
    let runners = runners();
    for (_, edges) in shapes().into_iter().step_by(STRIDE) {
        let case = Case::new(&runners, &edges);
        for each in
            some(all(), 11).into_iter().filter(|(.., counting)| *counting == Counting::Exact)
        {
            case.check(rules(each));
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_graph_goes_on(edges in any_edges(), seed: u64, step in 3usize..9) {
        let runners = runners();
        let case = Case::new(&runners, &edges);
        for each in some(all(), step * STRIDE) {
            case.check(Rules { seed, ..rules(each) });
        }
    }
}

fn on_one_thread() -> CpuExecutor {
    CpuExecutor::new(Some(1)).unwrap()
}

/// Returns the states of a single-threaded run and its outcome.
fn kept<P: Hints>(edges: &Edges, program: &P, settings: &Settings) -> (Vec<Checkpoint>, Outcome) {
    let mut all = All::default();
    let graph = edges.graph(MAX_SHARD_ARCS);
    let found = on_one_thread().run(&graph, program, settings, &mut all).unwrap();
    (all.0, found)
}

#[test]
fn async_goes_on_as_well() {
    // On one thread, every run is the same.
    let edges = grid(15);
    for pick_less in [None, NonZeroU32::new(3)] {
        let schedule = Schedule::asynchronous_with(pick_less);
        let settings = Settings { schedule, stop: Stop::after(9), ..Settings::default() };
        let (states, found) = kept(&edges, &Slpa::default(), &settings);
        assert_eq!(states.len(), 8);
        for state in states {
            let settings = Settings { resume: Some(state), ..settings.clone() };
            let (_, again) = kept(&edges, &Slpa::default(), &settings);
            assert_eq!(
                (again.labels, again.columns),
                (found.labels.clone(), found.columns.clone())
            );
        }
    }
}

#[test]
fn an_oscillation_is_found_across_the_interruption() {
    let settings = Settings { schedule: Schedule::cdlp(), ..Settings::default() };
    let (states, found) = kept(&bipartite(8, 8), &Cdlp, &settings);
    assert_eq!(found.reason, StopReason::Oscillation);
    assert!(states.len() >= 2);
    for state in states {
        let settings = Settings { resume: Some(state), ..settings.clone() };
        let (_, again) = kept(&bipartite(8, 8), &Cdlp, &settings);
        assert_eq!((again.reason, again.rounds.len()), (found.reason, found.rounds.len()));
        assert_eq!((again.labels, again.split), (found.labels.clone(), found.split));
    }
}

#[test]
fn a_run_goes_on_for_longer_than_it_was_meant_to_but_not_behind_its_end() {
    let edges = grid(15);
    let with = |rounds, resume| Settings {
        stop: Stop::after(rounds),
        resume,
        schedule: Schedule::sync(),
        ..Settings::default()
    };
    let (long, found) = kept(&edges, &Lpa::new(Guard::OFF), &with(12, None));
    assert_eq!(found.rounds.len(), 12);
    let (short, _) = kept(&edges, &Lpa::new(Guard::OFF), &with(6, None));
    let (_, again) =
        kept(&edges, &Lpa::new(Guard::OFF), &with(12, Some(short.last().unwrap().clone())));
    assert_eq!(again.labels, found.labels);

    let settings = with(6, Some(long[7].clone()));
    let graph = edges.graph(MAX_SHARD_ARCS);
    let error = on_one_thread().run(&graph, &Lpa::new(Guard::OFF), &settings, &mut ());
    let error = error.unwrap_err();
    let reason = StopReason::RoundLimit;
    let ended = CheckpointError::Ended { rounds: 8, end: 6, reason };
    assert_eq!(error, RunError::Settings(SettingsError::Checkpoint(ended)));
    // A finished run has nothing left to do when it is resumed.
    let settings = with(8, Some(long[7].clone()));
    let eight = on_one_thread().run(&graph, &Lpa::new(Guard::OFF), &settings, &mut ());
    assert_eq!(eight.unwrap().rounds.len(), 8);
}

#[test]
fn checkpoints_that_cannot_be() {
    let edges = grid(9);
    let settings = Settings { schedule: Slpa::default().schedule(), ..Settings::default() };
    let (states, _) = kept(&edges, &Slpa::default(), &settings);
    let good = states[0].clone();
    let refused = |checkpoint: Checkpoint| {
        let settings = Settings { resume: Some(checkpoint), ..settings.clone() };
        let error =
            on_one_thread().run(&edges.graph(MAX_SHARD_ARCS), &Slpa::default(), &settings, &mut ());
        match error.unwrap_err() {
            RunError::Settings(SettingsError::Checkpoint(error)) => error,
            other => panic!("{other}"),
        }
    };
    let misfit = |what, found, wanted| CheckpointError::Misfit { what, found, wanted };
    let bad = Checkpoint { labels: vec![0; 80].into(), ..good.clone() };
    assert_eq!(refused(bad), misfit("labels", 80, 81));
    let bad = Checkpoint { active: vec![0; 3].into(), ..good.clone() };
    assert_eq!(refused(bad), misfit("words of active vertices", 3, 2));
    let bad = Checkpoint { active: vec![0, 3 << 16].into(), ..good.clone() };
    assert_eq!(refused(bad), misfit("active vertices behind the last", 1, 0));
    let bad = Checkpoint { columns: good.columns[..1].to_vec(), ..good.clone() };
    assert_eq!(refused(bad), misfit("written columns", 1, 2));
    let bad = Checkpoint { columns: vec![good.columns[0].clone(), vec![7].into()], ..good.clone() };
    assert_eq!(refused(bad), misfit("values of a column", 1, 8 * 81));
    let mut labels = good.labels.to_vec();
    (labels[3], labels[4]) = (NO_LABEL, 81);
    let bad = Checkpoint { labels: labels.into(), ..good };
    assert_eq!(refused(bad), CheckpointError::NoSuchLabel { vertex: 4, label: 81 });
}

/// A keeper that runs out of room after the first states.
struct Full(usize);

impl Keeper for Full {
    fn is_due(&mut self, rounds: &[Round]) -> bool {
        rounds.len().is_multiple_of(2)
    }

    fn keep(&mut self, rounds: &[Round], _: State<'_>) -> Result<(), NotKept> {
        assert!(rounds.len().is_multiple_of(2));
        self.0 = self.0.checked_sub(1).ok_or_else(|| NotKept("no room".into()))?;
        Ok(())
    }
}

impl Observer for Full {}

impl RoundObserver for Full {
    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        Some(self)
    }
}

#[test]
fn a_state_that_cannot_be_kept_ends_the_run() {
    let settings = Settings { stop: Stop::after(9), ..Settings::default() };
    let graph = grid(15).graph(MAX_SHARD_ARCS);
    for room in 0..3 {
        let error =
            on_one_thread().run(&graph, &Slpa::default(), &settings, &mut Full(room)).unwrap_err();
        let source = NotKept("no room".into());
        assert_eq!(error, RunError::NotKept { rounds: 2 * room + 2, source });
    }
    assert!(on_one_thread().run(&graph, &Slpa::default(), &settings, &mut Full(4)).is_ok());
}

#[test]
fn runs_that_differ_in_anything_are_distinguished() {
    let graph = grid(5).graph(MAX_SHARD_ARCS);
    let of = |settings: &Settings| RunIdentity::of(&graph, &Lpa::default(), settings);
    let one = of(&Settings::default());
    let same = Settings { stop: Stop::after(7), keep_disconnected: true, ..Settings::default() };
    assert_eq!(of(&same).differences(&one), [""; 0]);
    let columns = [("pull".to_owned(), ripplet_lp::ColumnValues::F32(vec![1.5; 25]))];
    for (settings, difference) in [
        (Settings { seed: 1, ..Settings::default() }, "seed: 0 there, 1 here"),
        (Settings { schedule: Schedule::sync(), ..Settings::default() }, "schedule: phased there"),
        (
            Settings { schedule: Schedule::phased_in(5), ..Settings::default() },
            "phases: 32 there, 5 here",
        ),
        (
            Settings {
                schedule: Schedule { ties: Ties::Smallest, ..Schedule::default() },
                ..Settings::default()
            },
            "ties: hashed there, smallest here",
        ),
        (Settings { counter: "mg:8".parse().unwrap(), ..Settings::default() }, "counter: exact"),
        (
            Settings { initial: Some((0..25).collect()), ..Settings::default() },
            "labels to begin with: none there",
        ),
        (Settings { columns: columns.into(), ..Settings::default() }, "column pull: none there"),
    ] {
        let differences = of(&settings).differences(&one);
        assert!(differences[0].contains(difference), "{differences:?}");
        assert_ne!(one.differences(&of(&settings)), [""; 0]);
    }
    let of_program = |of: RunIdentity| of.differences(&one);
    let plain = of_program(RunIdentity::of(&graph, &Lpa::new(Guard::OFF), &same));
    assert!(plain.len() == 1 && plain[0].starts_with("parameters: "), "{plain:?}");
    let other = of_program(RunIdentity::of(&graph, &Slpa::default(), &same));
    assert_eq!(other, ["program: lpa there, slpa here"]);
    let of_text = one.to_string().replace("program's text\t", "program's text\t5");
    let other = one.differences(&of_text.parse().unwrap());
    assert!(other.len() == 1 && other[0].starts_with("program's text: 5"), "{other:?}");
    let other = grid(6).graph(MAX_SHARD_ARCS);
    let other = of_program(RunIdentity::of(&other, &Lpa::default(), &same));
    assert_eq!(other[0], "vertices: 25 there, 36 here");
    assert_eq!(one.to_string().parse(), Ok(one.clone()));
    assert!("no tab here\n".parse::<RunIdentity>().is_err());
}
