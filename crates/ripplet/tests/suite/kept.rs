//! Searches that keep checkpoints, and searches over all resolutions.

use ripplet::checkpoints::{CheckpointError, CheckpointOptions, Checkpoints, Every, ResumeError};
use ripplet::communities::{CommunitiesError, CommunitySearch, ProfileRange, SearchObserver};
use ripplet::graph::{EdgeTable, Graph, GraphBuilder, VertexIds};
use ripplet::lp::refine::{
    Objective, ProfileOptions, RefineError, RefineOptions, Resolution, profile,
};
use ripplet::lp::{Round, RoundObserver, RunError, Stop};
use ripplet::{Device, Observer, communities, graph_from_edges};
use std::path::Path;

/// A ring of cliques of six, which takes several rounds.
fn cliques() -> Graph {
    let edges = (0..40_u32).flat_map(|clique| {
        let first = 6 * clique;
        let inside = (0..6).flat_map(move |a| (0..a).map(move |b| (first + a, first + b)));
        inside.chain([(first, (first + 9) % 240), (first + 1, (first + 14) % 240)])
    });
    let (sources, targets) = edges.unzip();
    let ids = VertexIds::Consecutive { first: 0, count: 240 };
    GraphBuilder::new().build(EdgeTable::new(ids, sources, targets).unwrap()).unwrap()
}

/// Cancels after some rounds.
struct After {
    rounds: usize,
    seen: usize,
}

impl Observer for After {
    fn is_cancelled(&self) -> bool {
        self.seen >= self.rounds
    }
}

impl RoundObserver for After {
    fn on_round(&mut self, _index: usize, _round: &Round) {
        self.seen += 1;
    }
}

impl SearchObserver for After {}

fn every_round(folder: &Path, resume: bool) -> CheckpointOptions {
    let every = Every::Rounds(1.try_into().unwrap());
    CheckpointOptions { every, resume, ..CheckpointOptions::new(folder) }
}

/// Runs a search until it is cancelled before its last round, then goes on, and compares with a run that was not
/// interrupted.
fn goes_on(search: &CommunitySearch<'_>) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("kept");
    let whole = search.clone().threads(1).run().unwrap();
    let rounds = whole.outcome().rounds.len() - 1;
    let mut observer = After { rounds, seen: 0 };
    let begun = search.clone().checkpoints(every_round(&folder, false));
    let cancelled = begun.run_with(&mut observer).err().unwrap();
    let is_cancelled = matches!(
        cancelled,
        CommunitiesError::Run(RunError::Cancelled)
            | CommunitiesError::Refine(RefineError::Run(RunError::Cancelled))
    );
    assert!(is_cancelled, "{cancelled}");
    let kept = Checkpoints::open(&folder).unwrap().rounds().unwrap();
    assert!(!kept.is_empty());

    // Not by accident: a run that begins finds the checkpoints of another.
    let error = begun.run().err().unwrap();
    let is_refused = matches!(
        &error,
        CommunitiesError::Checkpoint(CheckpointError::Begun { round, .. }) if *round == kept[0]
    );
    assert!(is_refused, "{error}");
    // Another seed is another run.
    let error = search.clone().seed(9).checkpoints(every_round(&folder, true)).run().err().unwrap();
    let is_other = matches!(
        &error,
        CommunitiesError::Checkpoint(CheckpointError::Resume(ResumeError::OtherRun { .. }))
    );
    assert!(is_other, "{error}");

    let found = search.clone().checkpoints(every_round(&folder, true)).threads(2).run().unwrap();
    let resumed = found.resumed().unwrap();
    assert_eq!(resumed.rounds, kept[0] as usize);
    assert!(resumed.path.starts_with(&folder) && resumed.damaged.is_empty());
    assert_eq!(found.labels(), whole.labels());
    let counts = |round: &Round| (round.changed, round.visited, round.scanned);
    let of = |found: &ripplet::communities::Communities<'_>| -> Vec<_> {
        found.outcome().rounds.iter().map(counts).collect()
    };
    assert_eq!(of(&found), of(&whole));
    // The results are there: the checkpoints are not needed any more. The folder was there before this run.
    assert!(Checkpoints::open(&folder).unwrap().rounds().unwrap().is_empty());
}

#[test]
fn a_search_that_was_interrupted_goes_on() {
    let graph = cliques();
    let search = communities(&graph).device(Device::cpu());
    goes_on(&search);
    goes_on(&search.clone().program("slpa").unwrap().stop(Stop::after(6)));
    let refined = search.refine(Objective::Modularity(Resolution::Fixed(1.0)));
    goes_on(&refined);
}

#[test]
fn a_folder_that_the_run_made_goes_with_its_last_checkpoint() {
    let graph = cliques();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("kept");
    let search = communities(&graph).device(Device::cpu());
    let found = search.checkpoints(every_round(&folder, true)).run().unwrap();
    assert!(found.resumed().is_none());
    assert!(!folder.exists());
}

#[test]
fn a_damaged_checkpoint_is_passed_over_and_named() {
    let graph = cliques();
    let folder = tempfile::tempdir().unwrap();
    let search = communities(&graph).device(Device::cpu());
    let begun = search.clone().checkpoints(every_round(folder.path(), false));
    let cancelled = begun.run_with(&mut After { rounds: 3, seen: 0 });
    assert!(cancelled.is_err());
    let kept = Checkpoints::open(folder.path()).unwrap().rounds().unwrap();
    let newest = folder.path().join(format!("round-{:010}.checkpoint", kept[0]));
    std::fs::write(&newest, "no checkpoint").unwrap();
    let found = search.checkpoints(every_round(folder.path(), true)).run().unwrap();
    let resumed = found.resumed().unwrap();
    assert_eq!(resumed.rounds, kept[1] as usize);
    assert_eq!(resumed.damaged.len(), 1);
    assert_eq!(found.labels(), communities(&graph).device(Device::cpu()).run().unwrap().labels());
}

#[test]
fn what_keeps_no_checkpoint_is_refused_before_a_folder_is_made() {
    let graph = graph_from_edges([("a", "b"), ("b", "c")]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("kept");
    let search = communities(&graph).device(Device::cpu());
    let search = search.checkpoints(CheckpointOptions::new(&folder));
    let error = search.clone().fitting_counter().run().err().unwrap().to_string();
    assert!(error.contains("name the counter"), "{error}");
    let error = search.sweep(2).err().unwrap().to_string();
    assert!(error.starts_with("a sweep is many runs"), "{error}");
    let error = search.resolution_profile(&ProfileRange::default()).err().unwrap().to_string();
    assert!(error.starts_with("a resolution profile is many runs"), "{error}");
    assert!(!folder.exists());
    std::fs::write(&folder, "a file").unwrap();
    let error = search.run().err().unwrap();
    let is_place = matches!(error, CommunitiesError::Checkpoint(CheckpointError::Place(_)));
    assert!(is_place, "{error}");
}

#[test]
fn a_resolution_profile_is_that_of_refinement() {
    let graph = cliques();
    for objective in [Objective::Modularity(Resolution::Auto), Objective::Cpm(0.2)] {
        let search = communities(&graph).device(Device::cpu()).seed(3).refine(objective);
        let range = ProfileRange { range: Some(0.01..=5.0), runs: 12 };
        let found = search.resolution_profile(&range).unwrap();
        let refine = RefineOptions { seed: 3, ..ProfileOptions::new(objective).refine };
        let options = ProfileOptions { refine, range: Some(0.01..=5.0), runs: 12 };
        let expected = profile(&graph, &options, &mut ()).unwrap();
        assert_eq!(found.partitions, expected.partitions);
        assert_eq!((found.runs, found.is_cut), (expected.runs, expected.is_cut));
        assert_eq!(found.chosen_at, expected.widest());
        assert_eq!(found.chosen.labels(), expected.partitions[found.chosen_at].labels);
    }
    let search = communities(&graph).device(Device::cpu());
    let whole = ProfileRange::default();
    let error = search.clone().fixed([0]).resolution_profile(&whole).err().unwrap().to_string();
    assert!(error.contains("no choice of fixed vertices"), "{error}");
    let backwards = ProfileRange { range: Some(2.0..=1.0), ..whole };
    let error = search.resolution_profile(&backwards).err().unwrap();
    let is_range = matches!(error, CommunitiesError::Refine(RefineError::Range { .. }));
    assert!(is_range, "{error}");
}

#[test]
fn a_profile_of_a_graph_without_vertices_has_one_partition() {
    let graph = graph_from_edges::<(&str, &str)>([]).unwrap();
    let search = communities(&graph).device(Device::cpu());
    let found = search.resolution_profile(&ProfileRange::default()).unwrap();
    assert_eq!((found.partitions.len(), found.chosen.len()), (1, 0));
}
