//! Stop rules, reports, plans and cancellation of runs.

use crate::graphs::{Edges, bipartite, cliques, grid, pairs, ring, shapes, star};
use crate::oracle;
use ripplet_graph::{MAX_SHARD_ARCS, Observer};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::hooks::label_program;
use ripplet_lp::programs::{Cdlp, Gamma, Guard, Llp, Lpa};
use ripplet_lp::{
    Activation, Candidate, ColumnKind, ColumnSpec, ColumnValues, Executor, Hints, Neighbor,
    Program, Round, RoundObserver, RunError, Scalar, Schedule, Settings, SettingsError, Stop,
    StopReason, Vertex, Vote,
};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::{Duration, Instant};

fn executor() -> CpuExecutor {
    CpuExecutor::new(Some(2)).unwrap()
}

#[test]
fn synchronous_swaps_are_found_and_phases_settle_them() {
    let graph = bipartite(8, 8).graph(MAX_SHARD_ARCS);
    let plain = Lpa::new(Guard::OFF);
    let sync = Settings { schedule: Schedule::cdlp(), ..Settings::default() };
    let found = executor().run(&graph, &Cdlp, &sync, &mut ()).unwrap();
    assert_eq!(found.reason, StopReason::Oscillation);
    assert!(!found.converged());

    let phased = Settings { stop: Stop::after(50), ..Settings::default() };
    let found = executor().run(&graph, &plain, &phased, &mut ()).unwrap();
    assert_eq!(found.reason, StopReason::Fixpoint);
    assert_eq!(found.labels, vec![0; 16]);
}

#[test]
fn phases_settle_pairs_however_far_apart() {
    for apart in 1..=130 {
        let graph = pairs(600, apart).graph(MAX_SHARD_ARCS);
        let connected = graph.edges();
        for (phases, seed) in [(8, 1), (16, 2), (32, 3), (32, 4), (64, 5)] {
            let schedule = Schedule::phased_in(phases);
            let settings = Settings { schedule, seed, ..Settings::default() };
            let found = executor().run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
            assert_eq!(found.reason, StopReason::Fixpoint, "{apart} {phases} {seed}");
            let communities: BTreeSet<u32> = found.labels.into_iter().collect();
            assert_eq!(communities.len() as u64, 600 - connected, "{apart} {phases} {seed}");
        }
    }
}

/// Plain label propagation that counts each vertex's updates, up to `most`.
#[label_program]
mod counting {
    use ripplet_lp::hooks::*;

    pub struct Counting {
        pub most: u32,
    }

    #[columns]
    struct Columns {
        #[default(0)]
        updates: u32,
    }

    impl Program for Counting {
        type Score = u64;

        fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
            c.frequency
        }

        fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, _score: u64) -> Label {
            v.set_updates((v.updates() + 1).min(self.most));
            label
        }
    }
}

#[test]
fn columns_that_change_are_no_oscillation() {
    let graph = bipartite(8, 8).graph(MAX_SHARD_ARCS);
    let settings = Settings { schedule: Schedule::cdlp(), ..Settings::default() };
    // Labels swap from the second round on; columns change in the first `most` rounds.
    for (most, rounds) in [(0, 3), (10, 12)] {
        let program = counting::Counting { most };
        let found = executor().run(&graph, &program, &settings, &mut ()).unwrap();
        assert_eq!(found.reason, StopReason::Oscillation);
        assert_eq!(found.rounds.len(), rounds, "{most}");
        let updates = found.column("updates").unwrap().values.as_u32().unwrap();
        assert_eq!(updates, vec![most; 16]);
    }
}

/// Checks that each vertex has one of the most frequent labels of its neighbours.
fn is_settled(edges: &Edges, labels: &[u32]) -> Result<(), usize> {
    for (v, list) in edges.lists().iter().enumerate() {
        let mut votes: BTreeMap<u32, u64> = BTreeMap::new();
        list.iter().for_each(|(u, w)| *votes.entry(labels[*u as usize]).or_default() += w);
        let own = votes.get(&labels[v]).copied().unwrap_or(0);
        if own < votes.values().copied().max().unwrap_or(0) {
            return Err(v);
        }
    }
    Ok(())
}

fn until_fixpoint() -> Settings {
    Settings {
        schedule: Schedule::asynchronous(),
        stop: Stop::after(500),
        keep_disconnected: true,
        ..Settings::default()
    }
}

#[test]
fn asynchronous_ends_where_no_vertex_wants_another_label() {
    // Several tasks of 512 vertices each, so that threads interleave.
    let large = [("long ring", ring(5000)), ("many cliques", cliques(500, 8)), ("field", grid(60))];
    for threads in [1, 2, 7] {
        let executor = CpuExecutor::new(Some(threads)).unwrap();
        for (name, edges) in shapes().into_iter().chain(large.clone()) {
            let graph = edges.graph(MAX_SHARD_ARCS);
            for seed in 0..4 {
                let settings = Settings { seed, ..until_fixpoint() };
                let plain = Lpa::new(Guard::OFF);
                let found = executor.run(&graph, &plain, &settings, &mut ()).unwrap();
                assert_eq!(found.reason, StopReason::Fixpoint, "{name} on {threads} threads");
                let settled = is_settled(&edges, &found.labels);
                assert_eq!(settled, Ok(()), "{name} on {threads} threads");
            }
        }
    }
}

/// Plain label propagation with a forced interleaving of two threads.
///
/// Vertex 0 reads its neighbours' labels; then vertex 512 changes its own label and finds no reason
/// to activate 0; only then does 0 change.
#[derive(Default)]
struct Interleaved {
    has_read: AtomicBool,
    has_changed: AtomicBool,
}

/// Waits for another thread, for at most 20 seconds.
fn await_set(flag: &AtomicBool) {
    let start = Instant::now();
    while !flag.load(SeqCst) && start.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
}

impl Program for Interleaved {
    type Score = u64;

    fn name(&self) -> &str {
        "interleaved"
    }

    fn activation(&self) -> Activation {
        Activation::Disagreement
    }

    fn load_neighbor(&self, v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        match v.id {
            512 => await_set(&self.has_read),
            // The next vertex of the same thread: the update of 512 is done.
            513 => self.has_changed.store(true, SeqCst),
            _ => {}
        }
        Vote { label: u.label, weight: u.weight }
    }

    fn label_score(&self, v: Vertex<'_>, c: Candidate<'_>) -> u64 {
        if v.id == 0 {
            self.has_read.store(true, SeqCst);
            await_set(&self.has_changed);
        }
        c.frequency
    }
}

impl Hints for Interleaved {}

#[test]
fn asynchronous_vertices_that_change_at_once_activate_each_other() {
    // Vertex 0 begins with label 3. Its neighbours are 1 (label 1, weight 3), 3 (label 3, weight 2)
    // and 512 (weight 2), which adopts label 3. By then 0 has chosen label 1, but label 3 has the
    // majority. Every other vertex is bound to a partner by a heavy edge.
    let ties = [(1, 2, 100), (3, 4, 100), (5, 6, 100), (512, 5, 10), (513, 6, 1)];
    let votes = [(0, 1, 3), (0, 3, 2), (0, 512, 2)];
    let rows = || ties.iter().chain(&votes).copied();
    let edges = Edges {
        weights: Some(rows().map(|(_, _, weight)| weight).collect()),
        ..Edges::new(514, rows().map(|(s, t, _)| (s, t)))
    };
    let mut initial: Vec<u32> = (0..514).collect();
    for (v, label) in [(0, 3), (2, 1), (4, 3), (5, 3), (6, 3)] {
        initial[v] = label;
    }
    let program = Interleaved::default();
    let settings = Settings { initial: Some(initial), ..until_fixpoint() };
    let found = executor().run(&edges.graph(MAX_SHARD_ARCS), &program, &settings, &mut ()).unwrap();
    assert!(program.has_changed.load(SeqCst), "the threads did not interleave");
    assert_eq!(found.reason, StopReason::Fixpoint);
    assert_eq!((found.labels[0], is_settled(&edges, &found.labels)), (3, Ok(())));
}

#[test]
fn asynchronous_on_many_threads_finds_cliques() {
    let edges = cliques(40, 10);
    let settings = Settings { schedule: Schedule::asynchronous(), ..Settings::default() };
    let graph = edges.graph(MAX_SHARD_ARCS);
    let found = CpuExecutor::new(Some(7)).unwrap();
    let found = found.run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
    // Two cliques may become one community, but no clique is split.
    assert!(found.labels.chunks(10).all(|clique| clique.iter().all(|&label| label == clique[0])));
    let communities: BTreeSet<u32> = found.labels.into_iter().collect();
    assert!(communities.len() >= 30, "{communities:?}");
}

#[test]
fn a_fixed_number_of_rounds_is_kept() {
    let graph = ring(100).graph(MAX_SHARD_ARCS);
    for rounds in [0, 1, 3] {
        let settings = Settings {
            schedule: Schedule::cdlp(),
            stop: Stop::after(rounds),
            ..Settings::default()
        };
        let found = executor().run(&graph, &Cdlp, &settings, &mut ()).unwrap();
        assert_eq!(found.rounds.len(), rounds as usize);
        assert_eq!(found.reason, StopReason::RoundLimit);
    }
}

#[test]
fn counts_add_up() {
    let edges = star(100);
    let graph = edges.graph(MAX_SHARD_ARCS);
    let found = executor().run(&graph, &Lpa::default(), &Settings::default(), &mut ()).unwrap();
    assert_eq!(found.rounds[0].visited, 101);
    assert_eq!(found.rounds[0].scanned, graph.arcs());
    assert!(found.scanned() >= graph.arcs());
    assert_eq!(found.labels, oracle::split(&edges.lists(), &found.labels));
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let graph = ring(5).graph(MAX_SHARD_ARCS);
    let refused =
        |settings: Settings| match executor().run(&graph, &Lpa::default(), &settings, &mut ()) {
            Err(RunError::Settings(error)) => error,
            other => panic!("{other:?}"),
        };
    let no_phase = Settings { schedule: Schedule::phased_in(0), ..Settings::default() };
    assert_eq!(refused(no_phase), SettingsError::NoPhase);
    for share in [-0.1, 1.5] {
        let stop = Stop::after(1).at_tolerance(share);
        let error = refused(Settings { stop, ..Settings::default() });
        assert_eq!(error, SettingsError::BadTolerance(share));
    }
    let nan = Settings { stop: Stop::after(1).at_tolerance(f64::NAN), ..Settings::default() };
    assert!(matches!(refused(nan), SettingsError::BadTolerance(_)));
    let initial =
        |labels: &[u32]| Settings { initial: Some(labels.to_vec()), ..Settings::default() };
    assert_eq!(refused(initial(&[0, 1])), SettingsError::LabelCount { labels: 2, vertices: 5 });
    assert_eq!(
        refused(initial(&[0, 1, 2, 5, 4])),
        SettingsError::NoSuchLabel { vertex: 3, label: 5, last: 4 }
    );
}

/// A program that sets all values of its two columns, the second of which is not declared as
/// written; the language of hooks cannot express that.
struct Presumptuous;

impl Program for Presumptuous {
    type Score = u64;

    fn name(&self) -> &str {
        "presumptuous"
    }

    fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
        c.frequency
    }

    fn update_vertex(&self, v: &mut ripplet_lp::VertexMut<'_>, label: u32, _score: u64) -> u32 {
        for slot in 0..3 {
            v.set_column_u32(slot, 0, 99);
        }
        assert_eq!([0, 1, 2].map(|slot| v.column_u32(slot, 0)), [99, 5, 0]);
        label
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        let default = Some(Scalar::U32(5));
        let mine = spec("mine", ColumnKind::U32, 1, default);
        vec![mine, ColumnSpec { written: false, ..spec("given", ColumnKind::U32, 1, default) }]
    }
}

impl Hints for Presumptuous {}

#[test]
fn columns_that_are_not_declared_as_written_stay() {
    let graph = ring(5).graph(MAX_SHARD_ARCS);
    let found = executor().run(&graph, &Presumptuous, &Settings::default(), &mut ()).unwrap();
    assert_eq!(found.column("mine").unwrap().values, ColumnValues::U32(vec![99; 5]));
    assert_eq!(found.column("given"), None);
}

/// A program with `carry` that promises nothing, not even that it has one.
struct Carrying;

impl Program for Carrying {
    type Score = u64;

    fn name(&self) -> &str {
        "carrying"
    }

    fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
        c.frequency
    }

    fn carry(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
        1.0 + u.id as f32
    }

    fn update_vertex(&self, v: &mut ripplet_lp::VertexMut<'_>, label: u32, _score: u64) -> u32 {
        v.set_column_u32(0, 0, v.carried() as u32);
        label
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        vec![spec("carried", ColumnKind::U32, 1, Some(Scalar::U32(0)))]
    }
}

impl Hints for Carrying {}

#[test]
fn carry_is_called_without_a_promise() {
    let graph = star(5).graph(MAX_SHARD_ARCS);
    let settings =
        Settings { schedule: Schedule::sync(), stop: Stop::after(1), ..Settings::default() };
    let found = executor().run(&graph, &Carrying, &settings, &mut ()).unwrap();
    let carried = found.column("carried").unwrap().values.as_u32().unwrap().to_vec();
    let centre = (0..6).find(|&v| graph.degree(v) > 1).unwrap();
    let leaves = carried.iter().enumerate().filter(|&(v, _)| v as u32 != centre);
    assert!(leaves.clone().count() > 1 && leaves.into_iter().all(|(_, &of)| of == 1 + centre));
}

/// A program with any given columns.
struct Columned(Vec<ColumnSpec>);

impl Program for Columned {
    type Score = u64;

    fn name(&self) -> &str {
        "columned"
    }

    fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
        c.frequency
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        self.0.clone()
    }
}

impl Hints for Columned {}

fn spec(name: &'static str, kind: ColumnKind, len: u32, default: Option<Scalar>) -> ColumnSpec {
    ColumnSpec { name: name.into(), kind, len, default, written: true }
}

#[test]
fn columns_that_do_not_fit_are_refused() {
    let graph = ring(5).graph(MAX_SHARD_ARCS);
    let specs = || {
        let pair = spec("pair", ColumnKind::U32, 2, None);
        vec![pair, spec("share", ColumnKind::F32, 1, Some(Scalar::F32(0.5)))]
    };
    let run = |specs, given: &[(&str, ColumnValues)]| {
        let given = given.iter().map(|(name, values)| ((*name).to_owned(), values.clone()));
        let settings = Settings { columns: given.collect(), ..Settings::default() };
        executor().run(&graph, &Columned(specs), &settings, &mut ())
    };
    let refused = |specs, given: &[(&str, ColumnValues)]| match run(specs, given) {
        Err(RunError::Settings(SettingsError::Columns(error))) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let pair = || ("pair", ColumnValues::U32((0..10).collect()));
    let found = run(specs(), &[pair()]).unwrap();
    assert_eq!(found.column("pair").unwrap().values, pair().1);
    assert_eq!(found.column("share").unwrap().values, ColumnValues::F32(vec![0.5; 5]));

    assert_eq!(
        refused(specs(), &[]),
        "the program's column `pair` must be given: it has no default"
    );
    assert_eq!(
        refused(specs(), &[pair(), ("pear", ColumnValues::U32(vec![1; 5]))]),
        "the program has no column `pear`; it has `pair`, `share`"
    );
    assert_eq!(
        refused(specs(), &[("pair", ColumnValues::U32(vec![1; 5]))]),
        "5 values for the column `pair`, which needs 10: 2 a vertex"
    );
    assert_eq!(
        refused(specs(), &[pair(), ("share", ColumnValues::U32(vec![1; 5]))]),
        "the column `share` holds f32 values, but u32 values were given"
    );
    let nan = ColumnValues::F32(vec![0.0, f32::INFINITY, f32::NAN, 1.0, f32::NAN]);
    assert_eq!(
        refused(specs(), &[pair(), ("share", nan)]),
        "the column `share` holds no number (NaN) for vertex 2; fill it or drop it"
    );
    let twice = vec![spec("x", ColumnKind::U32, 1, Some(Scalar::U32(0))); 2];
    assert_eq!(
        refused(twice, &[]),
        "the program has two columns `x`; a column's name must be its own"
    );
    let other = vec![spec("x", ColumnKind::U32, 1, Some(Scalar::F32(1.0)))];
    assert_eq!(refused(other, &[]), "the column `x` holds u32 values, but its default is F32(1.0)");
    assert!(refused(vec![], &[pair()]).ends_with("it has none"));
}

#[test]
fn columns_larger_than_memory_are_refused_with_the_plan() {
    // More than the address space of a process: no system can grant it.
    let graph = ring(10_000).graph(MAX_SHARD_ARCS);
    let zero = Some(Scalar::U32(0));
    let program = Columned(vec![spec("huge", ColumnKind::U32, u32::MAX, zero)]);
    for schedule in [Schedule::sync(), Schedule::phased(), Schedule::asynchronous()] {
        let settings = Settings { schedule, ..Settings::default() };
        let bytes = executor().plan(&graph, &program, &settings).algorithm_host();
        assert!(bytes >= 40_000 * u64::from(u32::MAX));
        let ended = executor().run(&graph, &program, &settings, &mut ());
        assert_eq!(ended, Err(RunError::OutOfMemory { bytes }));
    }
}

/// An observer that ends the run after a number of queries.
struct CancelAfter(AtomicU32);

impl Observer for CancelAfter {
    fn is_cancelled(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

impl RoundObserver for CancelAfter {}

#[test]
fn cancelling_ends_the_run_within_a_round() {
    let graph = ring(100_000).graph(MAX_SHARD_ARCS);
    for schedule in [Schedule::sync(), Schedule::phased(), Schedule::asynchronous()] {
        for questions in [0, 1, 20] {
            let settings = Settings { schedule, ..Settings::default() };
            let mut observer = CancelAfter(AtomicU32::new(questions));
            let ended = executor().run(&graph, &Lpa::default(), &settings, &mut observer);
            assert_eq!(ended, Err(RunError::Cancelled), "{schedule:?}");
        }
    }
}

/// An observer that records its notifications.
#[derive(Default)]
struct Log {
    stages: Vec<&'static str>,
    rounds: Vec<(usize, u64)>,
}

impl Observer for Log {
    fn on_stage(&mut self, name: &'static str) {
        self.stages.push(name);
    }
}

impl RoundObserver for Log {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.rounds.push((index, round.changed));
    }
}

#[test]
fn the_observer_sees_every_round() {
    let graph = cliques(20, 6).graph(MAX_SHARD_ARCS);
    let mut log = Log::default();
    let found = executor().run(&graph, &Lpa::default(), &Settings::default(), &mut log).unwrap();
    let rounds = found.rounds.iter().map(|round| round.changed).enumerate();
    assert_eq!(log.rounds, rounds.collect::<Vec<_>>());
    assert_eq!(log.stages, ["round 1", "splitting what is not connected"]);
}

/// Returns an `async` schedule with pick-less rounds.
fn pick_less(every: u32) -> Schedule {
    Schedule::asynchronous_with(NonZeroU32::new(every))
}

#[test]
fn labels_only_fall_in_pick_less_rounds() {
    let plain = Lpa::new(Guard::OFF);
    for (name, edges) in shapes() {
        let graph = edges.graph(MAX_SHARD_ARCS);
        let settings = Settings {
            schedule: pick_less(1),
            stop: Stop::after(9),
            keep_disconnected: true,
            ..Settings::default()
        };
        let found = executor().run(&graph, &plain, &settings, &mut ()).unwrap();
        assert!((0u32..).zip(&found.labels).all(|(v, &label)| label <= v), "{name}");
        // A vertex unchanged in a pick-less round may change in another, so no such round ends a
        // run.
        assert_eq!((found.rounds.len(), found.reason), (9, StopReason::RoundLimit), "{name}");
    }
}

#[test]
fn who_was_kept_from_a_larger_label_takes_it_in_the_next_round() {
    // A leaf whose only neighbour has label 3 and will keep it, as it has two more such neighbours.
    let graph = Edges::new(4, [(0, 1), (1, 2), (1, 3)]).graph(MAX_SHARD_ARCS);
    let run = |rounds| {
        let settings = Settings {
            schedule: pick_less(2),
            initial: Some(vec![0, 3, 3, 3]),
            stop: Stop::after(rounds),
            keep_disconnected: true,
            ..Settings::default()
        };
        let one = CpuExecutor::new(Some(1)).unwrap();
        one.run(&graph, &Lpa::new(Guard::OFF), &settings, &mut ()).unwrap()
    };
    let first = run(1);
    assert_eq!((first.labels, first.rounds[0].changed), (vec![0, 3, 3, 3], 0));
    let second = run(2);
    assert_eq!((second.labels, second.rounds[1].visited), (vec![3; 4], 1));
}

#[test]
fn pick_less_rounds_part_swapping_neighbours_on_any_counter() {
    let plain = Lpa::new(Guard::OFF);
    for counter in ["exact", "mg:8", "mg:1:single", "bm:single"] {
        let settings = Settings {
            schedule: pick_less(4),
            counter: counter.parse().unwrap(),
            stop: Stop::after(100),
            ..Settings::default()
        };
        let graph = cliques(6, 7).graph(MAX_SHARD_ARCS);
        let found = executor().run(&graph, &plain, &settings, &mut ()).unwrap();
        assert_eq!(found.reason, StopReason::Fixpoint, "{counter}");
        let cliques: BTreeSet<_> = found.labels.chunks(7).map(|clique| clique[3]).collect();
        assert!(cliques.len() > 1, "{counter}: {:?}", found.labels);
    }
}

#[test]
fn sketches_settle_as_the_exact_counter_does() {
    // More neighbours than an engine reads at a time, on one thread and on two.
    let graph = star(3000).graph(MAX_SHARD_ARCS);
    for threads in [1, 2] {
        let executor = CpuExecutor::new(Some(threads)).unwrap();
        for counter in ["mg:4", "mg:4:single", "bm"] {
            let settings = Settings {
                schedule: Schedule::asynchronous(),
                counter: counter.parse().unwrap(),
                stop: Stop::after(50),
                ..Settings::default()
            };
            let found = executor.run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
            assert!(found.converged(), "{counter}, {threads} threads: {:?}", found.reason);
        }
    }
}

#[test]
fn a_vertex_whose_candidates_are_all_lost_keeps_its_label() {
    // Two slots and three labels of one vote each: no slot keeps a weight.
    let graph = star(3).graph(MAX_SHARD_ARCS);
    let settings = Settings {
        schedule: Schedule::sync(),
        counter: "mg:2".parse().unwrap(),
        stop: Stop::after(1),
        initial: Some(vec![0, 1, 2, 3]),
        keep_disconnected: true,
        ..Settings::default()
    };
    let plain = Lpa::new(Guard::OFF);
    let found = executor().run(&graph, &plain, &settings, &mut ()).unwrap();
    assert_eq!(found.labels, [0; 4]);
    let settings = Settings { counter: "mg:3".parse().unwrap(), ..settings };
    let found = executor().run(&graph, &plain, &settings, &mut ()).unwrap();
    assert_ne!(found.labels[0], 0);
}

#[test]
fn programs_that_look_at_every_label_take_no_sketch() {
    let graph = ring(9).graph(MAX_SHARD_ARCS);
    let settings = Settings { counter: "mg:8:single".parse().unwrap(), ..Settings::default() };
    let refused = executor().run(&graph, &Cdlp, &settings, &mut ()).unwrap_err();
    let error = SettingsError::NeedsEveryLabel {
        program: "cdlp".to_owned(),
        counter: "mg:8:single".to_owned(),
    };
    assert_eq!(refused, RunError::Settings(error));
    let llp = Llp::new(Gamma::ONE);
    let refused = executor().run(&graph, &llp, &settings, &mut ()).unwrap_err();
    assert!(refused.to_string().contains("llp needs every label's exact frequency"), "{refused}");
}

#[test]
fn a_sketch_takes_no_more_memory_where_degrees_are_high() {
    let settings =
        |counter: &str| Settings { counter: counter.parse().unwrap(), ..Settings::default() };
    let plan = |graph: &Edges, counter| {
        let graph = graph.graph(MAX_SHARD_ARCS);
        executor().plan(&graph, &Lpa::default(), &settings(counter)).algorithm_host()
    };
    let (hub, ring) = (star(1 << 16), ring(1 + (1 << 16)));
    assert_eq!(plan(&hub, "mg:8"), plan(&ring, "mg:8"));
    assert_eq!(plan(&hub, "mg:8"), plan(&hub, "mg:32"));
    assert!(plan(&hub, "exact") > plan(&hub, "mg:8") + (8 << 20));
    let vertices = 1 + (1 << 16);
    assert!(plan(&hub, "mg:8") <= 9 * vertices + (16 << 20));
}
