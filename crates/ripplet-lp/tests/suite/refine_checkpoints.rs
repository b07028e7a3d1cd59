//! Refinements that resume from a checkpoint end as if they had not been interrupted.

use crate::definitions::{Edges, table};
use proptest::prelude::*;
use ripplet_graph::{Direction, Graph, GraphBuilder, Observer};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::refine::{Objective, RefineError, RefineOptions, Refined, Resolution, refine};
use ripplet_lp::{
    Checkpoint, CheckpointError, Keeper, NotKept, Round, RoundObserver, RunError, RunIdentity,
    State,
};
use std::num::NonZeroU32;

const AUTO: Objective = Objective::Modularity(Resolution::Auto);
const ONE: Objective = Objective::Modularity(Resolution::Fixed(1.0));

fn graph(vertices: u32, edges: &Edges, weighted: bool) -> Graph {
    GraphBuilder::new().build(table(vertices, edges, weighted)).unwrap()
}

/// Rings of cliques: the second iteration has something to do.
fn cliques(count: u32) -> Edges {
    let inner = |clique: u32| {
        let pairs = (0..5u32).flat_map(|u| (0..u).map(move |v| (u, v)));
        pairs.map(move |(u, v)| (5 * clique + u, 5 * clique + v, 1))
    };
    let ring = (0..count).map(|c| (5 * c, 5 * ((c + 1) % count) + 1, 1));
    let far = (0..count).map(|c| (5 * c + 2, (5 * (c * 7 % count) + 3), 1));
    let all = (0..count).flat_map(inner).chain(ring).chain(far);
    all.filter(|edge| edge.0 != edge.1).collect()
}

/// Saves every state.
#[derive(Default)]
struct All(Vec<Checkpoint>);

impl Keeper for All {
    fn is_due(&mut self, rounds: &[Round]) -> bool {
        assert!(!rounds.is_empty());
        true
    }

    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept> {
        self.0.push(Checkpoint {
            rounds: rounds.to_vec(),
            labels: state.labels.to_vec().into(),
            active: state.active.to_vec().into(),
            columns: state.columns.iter().map(|column| column.to_vec().into()).collect(),
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

fn without_seconds(mut found: Refined) -> Refined {
    found.rounds.iter_mut().for_each(|round| round.round.seconds = 0.0);
    found
}

/// Resumes from every state of a run, on other numbers of threads; returns the number of states.
fn check(graph: &Graph, options: &RefineOptions) -> usize {
    let on = |threads, options: &RefineOptions| {
        let (mut states, executor) = (All::default(), CpuExecutor::new(Some(threads)).unwrap());
        let found = executor.install(|| refine(graph, options, &mut states)).unwrap();
        (without_seconds(found), states.0)
    };
    let (whole, states) = on(2, options);
    assert_eq!(without_seconds(refine(graph, options, &mut ()).unwrap()), whole);
    assert!(states.len() < options.iterations as usize);
    for (index, state) in states.iter().enumerate() {
        let resumed = RefineOptions { resume: Some(state.clone()), ..options.clone() };
        for threads in [1, 3] {
            let (found, later) = on(threads, &resumed);
            assert_eq!(found, whole);
            let counts = |states: &[Checkpoint]| {
                states
                    .iter()
                    .map(|state| (state.labels.to_vec(), state.columns[0].to_vec()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(counts(&later), counts(&states[index + 1..]));
        }
    }
    states.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn resumed_runs_are_the_same(
        edges in prop::collection::vec((0u32..70, 0u32..70, 1u32..9), 60..240),
        weighted: bool,
        seed: u64,
        begin in prop::option::of(prop::collection::vec(0u32..12, 70)),
        directed: bool,
        fixed in prop::collection::btree_set(0u32..70, 0..9),
        limited: bool,
    ) {
        let edges: Edges = edges.into_iter().filter(|edge| edge.0 != edge.1).collect();
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let builder = GraphBuilder::new().direction(direction);
        let graph = builder.build(table(70, &edges, weighted)).unwrap();
        // Communities to begin with have 70 vertices at most, and alone they have 1.
        let most = if begin.is_some() { 70 } else { 6 };
        let max_size = NonZeroU32::new(most).filter(|_| limited);
        let fixed: Vec<u32> = fixed.into_iter().collect();
        for objective in [ONE, AUTO, Objective::Cpm(0.3)] {
            let initial = begin.clone();
            let own = RefineOptions { seed, initial, ..RefineOptions::new(objective) };
            let options = RefineOptions { fixed: fixed.clone(), max_size, ..own };
            check(&graph, &RefineOptions { iterations: 4, ..options.clone() });
            check(&graph, &options);
        }
    }
}

#[test]
fn an_estimated_resolution_is_kept() {
    let graph = graph(200, &cliques(40), false);
    assert_eq!(check(&graph, &RefineOptions::new(AUTO)), 2);
    assert_eq!(check(&graph, &RefineOptions::new(ONE)), 1);
    // The last iteration is not saved, and neither is a single one.
    assert_eq!(check(&graph, &RefineOptions { iterations: 1, ..RefineOptions::new(ONE) }), 0);
}

#[test]
fn checkpoints_of_other_runs_are_refused() {
    let graph = graph(200, &cliques(40), false);
    let options = RefineOptions::new(AUTO);
    let mut states = All::default();
    refine(&graph, &options, &mut states).unwrap();
    let whole = states.0.remove(0);
    let refused = |change: &dyn Fn(&mut Checkpoint), options: &RefineOptions| {
        let mut state = whole.clone();
        change(&mut state);
        let resumed = RefineOptions { resume: Some(state), ..options.clone() };
        match refine(&graph, &resumed, &mut ()) {
            Err(RefineError::Checkpoint(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let is_misfit = |error: CheckpointError, of: &str| match error {
        CheckpointError::Misfit { what, .. } => assert!(what.contains(of), "{what}"),
        other => panic!("{other}"),
    };
    is_misfit(refused(&|state| state.labels = vec![0; 3].into(), &options), "labels");
    is_misfit(refused(&|state| state.active = vec![0; 3].into(), &options), "active");
    is_misfit(refused(&|state| state.columns = vec![], &options), "columns");
    is_misfit(refused(&|state| _ = state.rounds.pop(), &options), "progress");
    for label in [200, u32::MAX] {
        let error = refused(&|state| state.labels = vec![label; 200].into(), &options);
        assert_eq!(error, CheckpointError::NoSuchLabel { vertex: 0, label });
    }
    let with = |at: usize, word: u32| {
        move |state: &mut Checkpoint| {
            let mut words = state.columns[0].to_vec();
            words[at] = word;
            state.columns[0] = words.into();
        }
    };
    for iterations in [0, 3, u32::MAX] {
        is_misfit(refused(&with(0, iterations), &options), "iterations");
    }
    is_misfit(refused(&with(4, 0), &options), "resolution");
    // At a fixed resolution there is no other one.
    is_misfit(
        refused(&|_| (), &RefineOptions { iterations: 3, ..RefineOptions::new(ONE) }),
        "resolution",
    );
    // No score fits such a resolution.
    let mut state = whole.clone();
    with(7, u32::MAX)(&mut state);
    with(5, u32::MAX)(&mut state);
    let resumed = RefineOptions { resume: Some(state), ..options.clone() };
    let found = refine(&graph, &resumed, &mut ());
    assert!(matches!(found, Err(RefineError::Weights { .. }) | Ok(_)), "{found:?}");
}

#[test]
fn identities_name_what_differs() {
    let graph = graph(200, &cliques(40), false);
    let of = |options: &RefineOptions| RunIdentity::of_refinement(&graph, options);
    let options = RefineOptions::new(ONE);
    let own = of(&options);
    assert!(own.differences(&of(&options.clone())).is_empty());
    assert_eq!(own.to_string().parse::<RunIdentity>().unwrap(), own);
    let others = [
        (RefineOptions { seed: 7, ..options.clone() }, "seed: 7 there, 0 here"),
        (RefineOptions { iterations: 9, ..options.clone() }, "iterations: 9 there, 2 here"),
        (RefineOptions { objective: AUTO, ..options.clone() }, "resolution: auto there, 1 here"),
        (
            RefineOptions { objective: Objective::Cpm(1.0), ..options.clone() },
            "program: refine cpm there, refine modularity here",
        ),
        (RefineOptions { initial: Some(vec![0; 200]), ..options.clone() }, "labels to begin with"),
        (RefineOptions { fixed: vec![3], ..options.clone() }, "fixed vertices"),
        (
            RefineOptions { max_size: NonZeroU32::new(7), ..options.clone() },
            "most vertices of a community",
        ),
    ];
    for (other, difference) in others {
        let found = own.differences(&of(&other));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with(difference), "{found:?}");
    }
}

#[test]
fn a_state_that_cannot_be_kept_ends_the_run() {
    struct Full;
    impl Keeper for Full {
        fn is_due(&mut self, _: &[Round]) -> bool {
            true
        }
        fn keep(&mut self, _: &[Round], _: State<'_>) -> Result<(), NotKept> {
            Err(NotKept("full".into()))
        }
    }
    impl Observer for Full {}
    impl RoundObserver for Full {
        fn keeper(&mut self) -> Option<&mut dyn Keeper> {
            Some(self)
        }
    }
    let graph = graph(200, &cliques(40), false);
    let found = refine(&graph, &RefineOptions::new(ONE), &mut Full);
    assert!(matches!(found, Err(RefineError::Run(RunError::NotKept { .. }))), "{found:?}");
}
