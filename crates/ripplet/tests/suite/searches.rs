//! What a search says of itself: events, memory, seconds; and how ranks share its checkpoints, failures and quality.

use ripplet::checkpoints::{CheckpointError, CheckpointOptions, Checkpoints, Every};
use ripplet::communities::{
    CommunitiesError, CommunitySearch, PlannedRun, SearchEvent, SearchObserver, communities,
};
use ripplet::device::HostLimit;
use ripplet::graph::{Direction, EdgeTable, Graph, GraphBuilder, VertexIds};
use ripplet::lp::hooks::*;
use ripplet::lp::programs::{Seed, Seeding};
use ripplet::lp::refine::{Objective, RefineError, Resolution};
use ripplet::lp::small::MinSize;
use ripplet::lp::sweep::Sweep;
use ripplet::lp::{
    Counter, Hints, RankLabels, Round, RoundObserver, RunError, Schedule, Sketch, Stop,
};
use ripplet::ranks::{CommError, SharedComm, Threads};
use ripplet::{Device, Observer, graph_from_edges};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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

fn search(graph: &Graph) -> CommunitySearch<'_> {
    communities(graph).device(Device::cpu()).threads(2)
}

/// Notes events, and cancels after some rounds.
#[derive(Default)]
struct Notes {
    events: Vec<String>,
    stages: Vec<&'static str>,
    rounds: usize,
    /// The rounds after which it cancels; 0 for never.
    last: usize,
}

impl Observer for Notes {
    fn on_stage(&mut self, name: &'static str) {
        self.stages.push(name);
    }

    fn is_cancelled(&self) -> bool {
        self.last > 0 && self.rounds >= self.last
    }
}

impl RoundObserver for Notes {
    fn on_round(&mut self, _index: usize, _round: &Round) {
        self.rounds += 1;
    }
}

impl SearchObserver for Notes {
    fn on_event(&mut self, event: SearchEvent<'_>) {
        self.events.push(match event {
            SearchEvent::Checked(checked) => format!("checked {}", checked.candidates > 0),
            SearchEvent::Counter { counter, .. } => format!("counter {counter}"),
            SearchEvent::RankLabels { labels, .. } => format!("labels {}", labels.name()),
            SearchEvent::Resumed(from) => format!("resumed {}", from.rounds),
            SearchEvent::NoCheckpoint(folder) => format!("none in {}", folder.display()),
            SearchEvent::Kept(rounds) => format!("kept {rounds}"),
            event => format!("{event:?}"),
        });
    }
}

fn every_round(folder: &Path, resume: bool) -> CheckpointOptions {
    let every = Every::Rounds(1.try_into().unwrap());
    CheckpointOptions { every, resume, ..CheckpointOptions::new(folder) }
}

#[test]
fn an_observer_hears_of_checkpoints_and_the_report_counts_them() {
    let graph = cliques();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("kept");
    let mut first = Notes { last: 2, ..Notes::default() };
    let begun = search(&graph).checkpoints(every_round(&folder, true));
    assert!(begun.run_with(&mut first).is_err());
    let begun = format!("none in {}", folder.display());
    assert_eq!(first.events, [begun, "kept 1".into(), "kept 2".into()]);
    assert_eq!(first.stages[0], "looking for a checkpoint");

    // Checkpoints that the caller has opened stay until it removes them.
    let opened = Arc::new(every_round(&folder, true).open().unwrap());
    let mut second = Notes::default();
    let resumed = search(&graph).open_checkpoints(Some(opened.clone()));
    let found = resumed.labels_with(&mut second).unwrap();
    let rounds = found.outcome().rounds.len();
    assert_eq!(second.events[0], "resumed 2");
    assert_eq!(second.events.len(), rounds - 2, "{:?}", second.events);
    let report = found.report();
    let written = report.checkpoints.unwrap().written;
    assert_eq!(written.checkpoints as usize, rounds - 3);
    assert_eq!(report.resumed.as_ref().unwrap().rounds, 2);
    assert!(report.seconds.compute > 0.0 && report.plan.total_host() > 0);
    assert_eq!(Checkpoints::open(&folder).unwrap().rounds().unwrap().len(), 2);
    opened.remove().unwrap();
    assert!(Checkpoints::open(&folder).unwrap().rounds().unwrap().is_empty());
    assert!(search(&graph).run().unwrap().report().checkpoints.is_none());
}

/// Prefers rare labels, but promises the opposite.
#[derive(Clone)]
struct Contrary;

impl Program for Contrary {
    type Score = u64;
    fn name(&self) -> &str {
        "contrary"
    }
    fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
        c.total_votes - c.frequency + 1
    }
}

impl Hints for Contrary {
    fn follows_frequency(&self) -> bool {
        true
    }
}

#[test]
fn promises_are_tested_before_the_run() {
    let graph = cliques();
    let mut notes = Notes::default();
    search(&graph).check_program(100).run_with(&mut notes).unwrap();
    assert_eq!(notes.events, ["checked true"]);
    assert_eq!(notes.stages[0], "checking the program");
    let weighted =
        EdgeTable::new(VertexIds::Consecutive { first: 0, count: 3 }, vec![0, 0], vec![1, 2]);
    let weighted = weighted.unwrap().with_weights(vec![1.0, 5.0]).unwrap();
    let weighted = GraphBuilder::new().build(weighted).unwrap();
    let contrary = || search(&weighted).own_program(Contrary);
    assert!(contrary().run().is_ok());
    let error = contrary().check_program(100).run().err().unwrap();
    assert!(matches!(error, CommunitiesError::Broken(_)), "{error}");
    // The plan has what the check needs beyond the run.
    let plan = |search: CommunitySearch<'_>| search.plan().unwrap().total_host();
    let star = graph_from_edges((1..20_000_u64).map(|leaf| (0, leaf))).unwrap();
    let small = || {
        let search = search(&star).schedule(Schedule::asynchronous()).merge(None);
        search.keep_disconnected(true)
    };
    assert!(plan(small().check_program(100)) > plan(small()));
    let error = search(&graph).check_program(100).host_memory(1).run().err().unwrap();
    let CommunitiesError::HostMemory(error) = error else { panic!("{error}") };
    assert_eq!(error.run, PlannedRun::Check);
    let refine = search(&graph).refine(Objective::Cpm(0.5)).check_program(100).run().err().unwrap();
    assert!(refine.to_string().contains("a check of the program"), "{refine}");
}

#[test]
fn a_limit_beside_the_graph_does_not_count_the_graph() {
    let graph = cliques();
    let estimate = search(&graph).estimate_with(&mut ()).unwrap();
    assert_eq!((&*estimate.device, estimate.counter), ("cpu", Counter::EXACT));
    assert!(estimate.fallback.is_none() && estimate.of_each.is_empty());
    let beside = estimate.plan.algorithm_host();
    let limited = |limit| search(&graph).host_limit(limit).run().map(|_| ());
    assert!(limited(HostLimit::BesideGraph(beside)).is_ok());
    let error = limited(HostLimit::BesideGraph(beside - 1)).unwrap_err().to_string();
    assert!(error.contains(&format!("needs {beside} bytes of host memory beside its graph")));
    assert!(limited(HostLimit::WithGraph(beside)).is_err());
    let mut notes = Notes::default();
    let found = search(&graph).fitting_counter().host_limit(HostLimit::BesideGraph(beside - 1));
    // Without an effect on small degrees, the sketch does not fit either.
    let _ = found.run_with(&mut notes);
    assert_eq!(notes.events, [format!("counter {}", Counter::from(Sketch::of_eight()))]);
}

#[test]
fn labels_have_the_memberships_of_the_communities() {
    let graph = cliques();
    let slpa = || search(&graph).program("slpa").unwrap().stop(Stop::after(10));
    let slpa = || slpa().parameter("threshold", 0.05).unwrap();
    for search in [slpa(), slpa().min_size(MinSize::Drop(7))] {
        let found = search.run().unwrap();
        let rows = search.labels_with(&mut ()).unwrap().memberships().unwrap().unwrap();
        let mut sizes = vec![0; 240];
        rows.labels.iter().for_each(|&label| sizes[label as usize] += 1);
        for community in &found {
            assert_eq!(sizes[community.label() as usize], community.len());
        }
        assert_eq!(rows.vertices.len(), found.iter().map(|of| of.len()).sum::<usize>());
        assert!(rows.strengths.iter().all(|strength| (0.05..=1.0).contains(strength)));
    }
    let seeds = [0, 1, 60].map(|vertex| Seed { vertex, label: vertex, strength: 1.0 });
    let seeded = search(&graph).program("seeded").unwrap().seeds(seeds, Seeding::Fixed);
    let all = seeded.clone().labels_with(&mut ()).unwrap();
    let whole = all.memberships().unwrap().unwrap();
    let largest = all.labels().iter().filter(|&&label| label == 60).count() as u32;
    let small = seeded.min_size(MinSize::Drop(largest)).labels_with(&mut ()).unwrap();
    assert_eq!(small.labels(), all.labels());
    let rows = small.memberships().unwrap().unwrap();
    assert_eq!(rows.left_out as usize, whole.labels.len() - rows.labels.len());
    assert!(rows.left_out > 0 && !rows.labels.is_empty());
    let kept = small.into_communities().unwrap();
    assert_eq!(kept.iter().map(|of| of.len()).sum::<usize>(), rows.labels.len());
    let one = search(&graph).labels_with(&mut ()).unwrap();
    assert!(one.memberships().unwrap().is_none());
}

#[test]
fn what_follows_a_refinement_is_planned_and_found() {
    let graph = cliques();
    let refined = || search(&graph).refine(Objective::Modularity(Resolution::Auto));
    let plan = |search: CommunitySearch<'_>| search.plan().unwrap().total_host();
    assert!(plan(refined().levels()) > plan(refined()));
    assert!(plan(refined().dendrogram()) > plan(refined()));
    let found = refined().labels_with(&mut ()).unwrap();
    let report = found.report().refinement.clone().unwrap();
    assert!(report.resolution > 0.0 && report.iterations > 0 && !report.rounds.is_empty());
    let levels = found.levels(&mut ()).unwrap().unwrap();
    assert!(levels.iter().all(|part| part.len() == 240));
    let numbers: Vec<u32> = found.labels().iter().map(|label| label / 6).collect();
    let merges = found.dendrogram(&numbers, &mut ()).unwrap().unwrap();
    assert!(!merges.is_empty());
    let propagated = search(&graph).labels_with(&mut ()).unwrap();
    assert!(propagated.levels(&mut ()).unwrap().is_none());
    assert!(propagated.dendrogram(&numbers, &mut ()).unwrap().is_none());
    for search in [search(&graph).levels(), search(&graph).dendrogram()] {
        assert!(matches!(search.run(), Err(CommunitiesError::OnlyForRefinement(_))));
    }
    let ids = VertexIds::Consecutive { first: 0, count: 3 };
    let arcs = EdgeTable::new(ids, vec![0, 1], vec![1, 2]).unwrap();
    let directed = GraphBuilder::new().direction(Direction::Directed).build(arcs).unwrap();
    let refused = search(&directed).refine(Objective::Cpm(0.5)).dendrogram().run();
    assert!(matches!(refused, Err(CommunitiesError::Refine(RefineError::DirectedDendrogram))));
}

#[test]
fn a_sweep_without_order_needs_less_and_finds_the_same() {
    let graph = cliques();
    let [with, without] = [Sweep::halved(3).with_order(), Sweep::halved(3)];
    let bytes = |sweep| search(&graph).estimate_sweep_with(sweep, &mut ()).unwrap();
    assert!(bytes(with).plan.total_host() > bytes(without).plan.total_host());
    let with = search(&graph).sweep_with(with, &mut ()).unwrap();
    let without = search(&graph).sweep_with(without, &mut ()).unwrap();
    assert!(with.order.is_some() && without.order.is_none());
    assert_eq!((with.best.labels(), with.summary), (without.best.labels(), without.summary));
    assert_eq!(with.best.summary().unwrap(), with.summary);
    assert!(with.best.report().seconds.compute > 0.0);
}

/// Runs `work` on some ranks.
fn on_ranks<T: Send>(ranks: usize, work: impl Fn(usize, SharedComm) -> T + Sync) -> Vec<T> {
    Threads::run(ranks, Duration::from_secs(20), |comm| {
        work(comm.rank(), Arc::new(Mutex::new(comm)))
    })
}

#[test]
fn ranks_keep_checkpoints_with_which_any_number_of_ranks_goes_on() {
    let graph = cliques();
    let whole = search(&graph).run().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("kept");
    let cancelled = on_ranks(2, |_, comm| {
        let mut notes = Notes { last: 2, ..Notes::default() };
        let begun = search(&graph).threads(1).checkpoints(every_round(&folder, false)).ranks(comm);
        let error = begun.run_with(&mut notes).err().unwrap();
        assert!(matches!(error, CommunitiesError::Run(RunError::Cancelled)), "{error}");
        notes.events
    });
    let kept = |events: &[String]| events.iter().any(|event| event.starts_with("kept"));
    assert_eq!(cancelled.iter().map(|events| kept(events)).collect::<Vec<_>>(), [true, false]);
    let gone_on = on_ranks(3, |rank, comm| {
        // The folder is on the machine of the first rank alone.
        let own = if rank == 0 { folder.clone() } else { PathBuf::from("/nowhere/at/all") };
        let mut notes = Notes::default();
        let resumed = search(&graph).threads(1).checkpoints(every_round(&own, true)).ranks(comm);
        let found = resumed.labels_with(&mut notes).unwrap();
        assert_eq!(found.labels(), whole.labels());
        assert_eq!(found.outcome().rounds.len(), whole.outcome().rounds.len());
        let report = found.report().ranks.clone().unwrap();
        assert_eq!((report.run.len(), report.rounds[0].len()), (3, 3));
        assert!(report.run.iter().all(|of| of.calls == report.run[0].calls && of.sent > 0));
        assert_ne!(report.labels, RankLabels::Auto);
        notes.events
    });
    assert!(gone_on[0].contains(&"resumed 2".to_string()), "{gone_on:?}");
    assert!(gone_on[1].iter().all(|event| event.starts_with("labels ")), "{gone_on:?}");
    assert!(!folder.exists() || Checkpoints::open(&folder).unwrap().rounds().unwrap().is_empty());
}

#[test]
fn a_stage_that_fails_on_one_rank_fails_on_all_of_them_in_step() {
    let graph = cliques();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").unwrap();
    let errors = on_ranks(2, |_, comm| {
        let options = CheckpointOptions::new(&file);
        let found = search(&graph).threads(1).checkpoints(options).ranks(comm.clone()).run();
        let Some(CommunitiesError::Stage(failed)) = found.err() else { panic!("another error") };
        // The communicator is as good as before.
        comm.lock().unwrap().barrier("after").unwrap();
        *failed
    });
    assert!(errors.iter().all(|failed| failed.rank == 0 && failed.message.contains("file")));
    assert!(matches!(errors[0].own, Some(CommunitiesError::Checkpoint(CheckpointError::Place(_)))));
    assert!(errors[1].own.is_none());
    assert!(errors[1].to_string().starts_with("rank 0 failed: "), "{}", errors[1]);
    // A plan that does not fit one rank.
    let errors = on_ranks(2, |rank, comm| {
        let limit = if rank == 1 { 1 } else { u64::MAX };
        search(&graph).threads(1).host_memory(limit).ranks(comm).run().err().unwrap().to_string()
    });
    assert!(errors.iter().all(|error| error.starts_with("rank 1 failed: the run needs")));
}

#[test]
fn an_observer_decides_whether_a_failed_rank_ends_the_others() {
    struct Patient;
    impl Observer for Patient {}
    impl RoundObserver for Patient {}
    impl SearchObserver for Patient {
        fn on_failure(&mut self, comm: &SharedComm, _: &CommunitiesError) {
            comm.lock().unwrap().abort(7);
        }
    }
    let graph = cliques();
    let found = on_ranks(2, |rank, comm| {
        let search = search(&graph).threads(1);
        let seed = Seed { vertex: 0, label: 0, strength: 1.0 };
        // Not for this program.
        let search = if rank == 1 { search.seeds([seed], Seeding::Fixed) } else { search };
        search.ranks(comm).run_with(&mut Patient).err().unwrap()
    });
    assert!(matches!(found[1], CommunitiesError::UnusedSeeds(_)), "{}", found[1]);
    assert!(matches!(
        found[0],
        CommunitiesError::Run(RunError::Ranks(
            CommError::Failed { rank: 1, code: 7 } | CommError::Gone { .. }
        ))
    ));
}

#[test]
fn ranks_measure_the_quality_of_one_process() {
    let graph = cliques();
    let alone = search(&graph).labels_with(&mut ()).unwrap();
    let summary = alone.summary().unwrap();
    assert_eq!(alone.own_vertices(), 0..240);
    let found = on_ranks(2, |_, comm| {
        let found = search(&graph).threads(1).ranks(comm).labels_with(&mut ()).unwrap();
        (found.summary().unwrap(), found.own_vertices().len())
    });
    assert!(found.iter().all(|(of_rank, _)| *of_rank == summary));
    assert_eq!(found.iter().map(|(_, own)| own).sum::<usize>(), 240);
    assert!(found.iter().all(|(_, own)| *own < 240));
}
