//! Ranks that share a run: what the conformance suite leaves out.

use ripplet_conformance::graphs::shapes;
use ripplet_generate::Planted;
use ripplet_graph::{
    Adjacency, Direction, EdgeTable, Graph, GraphBuilder, GraphView, Neighbors, Observer,
    SelfLoops, Shard, VertexIds,
};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::engine::Parts;
use ripplet_lp::programs::{Cdlp, Gamma, Llp, Lpa, Slpa};
use ripplet_lp::quality::Summary;
use ripplet_lp::refine::MergeShare;
use ripplet_lp::{
    Candidate, DynProgram, Executor, Hints, LabelTotal, NO_LABEL, Outcome, Program, RankExecutor,
    RankLabels, RoundObserver, RunError, Schedule, Settings, Stop, Vertex,
};
use ripplet_ranks::{Bytes, Comm, CommError, Step, Threads, Wire};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

/// Runs each rank with its own settings and observer.
fn run<O: RoundObserver>(
    size: usize,
    graph: &ripplet_graph::Graph,
    labels: RankLabels,
    settings: impl Fn(usize) -> Settings + Sync,
    observer: impl Fn(usize) -> O + Sync,
) -> Vec<Result<Outcome, RunError>> {
    Threads::run(size, SOON, |comm| {
        let (rank, own) = (comm.rank(), CpuExecutor::new(Some(1)).unwrap());
        let executor = RankExecutor::new(Arc::new(own), comm).with_labels(labels);
        executor.run(graph, &Lpa::default(), &settings(rank), &mut observer(rank))
    })
}

#[test]
fn splitting_and_merging_are_those_of_one_process() {
    let one = CpuExecutor::new(Some(2)).unwrap();
    for (name, edges) in shapes() {
        let graph = edges.graph(1 << 20);
        for merge in [None, Some(MergeShare::default())] {
            let settings = Settings { merge, ..Settings::default() };
            let expected = one.run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
            for size in [1, 3] {
                for labels in [RankLabels::Auto, RankLabels::All, RankLabels::Ghosts] {
                    for found in run(size, &graph, labels, |_| settings.clone(), |_| ()) {
                        let found = found.unwrap();
                        let what = format!("{name}, {size} ranks, {labels:?}");
                        assert_eq!(found.labels, expected.labels, "{what}");
                        assert_eq!((found.split, found.merged), (expected.split, expected.merged));
                        assert_eq!(found.rounds.len(), expected.rounds.len());
                    }
                }
            }
        }
    }
}

/// Rounds of many active vertices are shared by the threads of a rank, and later ones are not.
#[test]
fn threads_of_a_rank_share_its_phases() {
    let edges = Planted::new(6_000, 30_000, 0.4).generate().unwrap().edges;
    let graph = GraphBuilder::new().build(edges).unwrap();
    let programs: [Box<dyn DynProgram>; 3] =
        [Lpa::default().into(), Cdlp.into(), Slpa::default().into()];
    for program in &programs {
        for schedule in [Schedule::sync(), Schedule::phased_in(8)] {
            let stop = Stop::after(12);
            let settings = Settings { schedule, stop, ..Settings::default() };
            let one = CpuExecutor::new(Some(1)).unwrap();
            let expected = one.run(&graph, &**program, &settings, &mut ()).unwrap();
            let counts = |found: &Outcome| -> Vec<[u64; 3]> {
                let rounds = found.rounds.iter();
                rounds.map(|round| [round.changed, round.visited, round.scanned]).collect()
            };
            for labels in [RankLabels::All, RankLabels::Ghosts] {
                let ranks = Threads::run(2, SOON, |comm| {
                    let own = Arc::new(CpuExecutor::new(Some(3)).unwrap());
                    let executor = RankExecutor::new(own, comm).with_labels(labels);
                    executor.run(&graph, &**program, &settings, &mut ())
                });
                for found in ranks {
                    let (found, what) = (
                        found.unwrap(),
                        format!("{} {schedule:?} {labels:?}", program.info().name),
                    );
                    assert_eq!(found.labels, expected.labels, "{what}");
                    assert_eq!(found.columns, expected.columns, "{what}");
                    assert_eq!(counts(&found), counts(&expected), "{what}");
                }
            }
        }
    }
}

#[test]
fn ranks_that_differ_are_refused_on_each() {
    let (_, grid) = shapes().into_iter().find(|(name, _)| *name == "grid").unwrap();
    let graph = grid.graph(1 << 20);
    let settings = |rank| Settings { seed: rank as u64 % 2, ..Settings::default() };
    let found = run(3, &graph, RankLabels::Auto, settings, |_| ());
    for (rank, found) in found.into_iter().enumerate() {
        let other = if rank == 1 { 0 } else { 1 };
        assert_eq!(found.err(), Some(RunError::RanksDiffer { rank: other }), "rank {rank}");
    }
    let settings = |_| Settings { schedule: Schedule::asynchronous(), ..Settings::default() };
    for found in run(2, &graph, RankLabels::Ghosts, settings, |_| ()) {
        assert_eq!(found.err(), Some(RunError::InPlaceOnRanks { schedule: "async" }));
    }
}

/// Cancels at once, or never.
struct Cancels(bool);

impl Observer for Cancels {
    fn is_cancelled(&self) -> bool {
        self.0
    }
}

impl RoundObserver for Cancels {}

#[test]
fn a_cancelled_rank_ends_the_others() {
    let (_, cliques) = shapes().into_iter().find(|(name, _)| *name == "cliques").unwrap();
    let graph = cliques.graph(1 << 20);
    let found =
        run(2, &graph, RankLabels::Ghosts, |_| Settings::default(), |rank| Cancels(rank == 1));
    assert_eq!(found[1].as_ref().err(), Some(&RunError::Cancelled));
    let failed = RunError::Ranks(CommError::Failed { rank: 1, code: 1 });
    assert_eq!(found[0].as_ref().err(), Some(&failed));
}

/// Returns a graph with the lists of these vertices alone; those of others are empty.
fn part_of(graph: &Graph, own: &Range<u32>) -> Graph {
    let (ids, direction, scale, shards) = graph.clone().into_shards();
    let of_own = |first: u32, lists: Neighbors<'_>| {
        let (mut offsets, mut neighbors, mut weights) = (vec![0], Vec::new(), Vec::new());
        for local in 0..lists.offsets().len() - 1 {
            if own.contains(&(first + local as u32)) {
                neighbors.extend_from_slice(lists.of(local));
                weights.extend_from_slice(lists.weights_of(local).unwrap_or_default());
            }
            offsets.push(neighbors.len() as u32);
        }
        let weights = lists.weights().map(|_| weights.into());
        Adjacency::new(offsets.into(), neighbors.into(), weights)
    };
    let shards = shards.iter().map(|shard| {
        let (vertices, out) = (shard.vertices(), shard.out());
        let incoming = shard.incoming().map(|lists| of_own(vertices.start, lists));
        Shard::new(vertices.clone(), of_own(vertices.start, out), incoming)
    });
    Graph::from_shards(ids, direction, scale, shards.collect()).unwrap()
}

/// Cliques in rings of rings, with weights, loops, and arcs of one direction between them.
fn rings(direction: Direction, weighted: bool, shard_arcs: u64) -> Graph {
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    for clique in 0..60u32 {
        let first = 7 * clique;
        for a in first..first + 6 {
            (a + 1..first + 6).for_each(|b| {
                sources.push(a);
                targets.push(b);
            });
        }
        // A vertex between two cliques, which are otherwise not connected, and a loop.
        let next = 7 * ((clique + 1) % 60);
        for (a, b) in [(first, first + 6), (first + 6, next), (next + 3, first + 5), (first, first)]
        {
            sources.push(a);
            targets.push(b);
        }
    }
    let ids = VertexIds::Consecutive { first: 0, count: 450 };
    let weights = (0..sources.len()).map(|row| 1.0 + (row * row % 7) as f64).collect();
    let mut edges = EdgeTable::new(ids, sources, targets).unwrap();
    if weighted {
        edges = edges.with_weights(weights).unwrap();
    }
    let builder = GraphBuilder::new().direction(direction).self_loops(SelfLoops::Keep);
    builder.shard_arcs(shard_arcs).build(edges).unwrap()
}

#[test]
fn a_rank_needs_no_other_s_lists() {
    let one = CpuExecutor::new(Some(1)).unwrap();
    let graphs = [
        rings(Direction::Undirected, false, 1 << 20),
        rings(Direction::Undirected, true, 500),
        rings(Direction::Directed, true, 1 << 20),
        rings(Direction::Directed, false, 700),
    ];
    let programs: [Box<dyn DynProgram>; 4] = [
        Lpa::default().into(),
        Llp::new(Gamma::new(0.2).unwrap()).into(),
        Cdlp.into(),
        Slpa::default().into(),
    ];
    let merged = Settings { merge: Some(MergeShare::default()), ..Settings::default() };
    let kept = Settings { keep_disconnected: true, schedule: Schedule::sync(), ..merged.clone() };
    let mut unlabelled: Vec<u32> = (0..450).collect();
    unlabelled[10..50].fill(NO_LABEL);
    let begun = Settings { initial: Some(unlabelled), stop: Stop::after(3), ..merged.clone() };
    let (mut splits, mut merges) = (0, 0);
    for graph in &graphs {
        for program in &programs {
            for settings in [&merged, &kept, &begun] {
                let settings = Settings { stop: Stop::after(6), ..settings.clone() };
                let expected = one.run(graph, &**program, &settings, &mut ()).unwrap();
                let summary = Summary::of(graph, &expected.labels).unwrap();
                splits += expected.split.unwrap_or(0);
                merges += expected.merged.unwrap_or(0);
                let sizes: &[usize] = if settings.keep_disconnected { &[3] } else { &[1, 2, 4, 7] };
                let labels = [RankLabels::All, RankLabels::Ghosts];
                for (&size, labels) in sizes.iter().flat_map(|size| labels.map(|of| (size, of))) {
                    let parts = Parts::of_ranks(graph.into(), size);
                    let found = Threads::run(size, SOON, |mut comm| {
                        let own = parts.of(comm.rank());
                        let part = part_of(graph, &own);
                        let executor = Arc::new(CpuExecutor::new(Some(1)).unwrap());
                        let lists = GraphView::from(&part).identity_of_lists(own.clone());
                        let sum = comm.all_reduce("sum", lists, u64::wrapping_add).unwrap();
                        let summary = Summary::of_ranks(&part, &expected.labels, own, &mut comm);
                        let executor = RankExecutor::new(executor, comm).with_parts(parts.clone());
                        let executor = executor.with_labels(labels);
                        (executor.run(&part, &**program, &settings, &mut ()), summary, sum)
                    });
                    for (found, found_summary, lists) in found {
                        let found = found.unwrap();
                        let what = format!("{}, {size} ranks, {labels:?}", program.info().name);
                        assert_eq!(found.labels, expected.labels, "{what}");
                        assert_eq!(found.columns, expected.columns, "{what}");
                        assert_eq!((found.split, found.merged), (expected.split, expected.merged));
                        let counts = |outcome: &Outcome| -> Vec<_> {
                            let rounds = outcome.rounds.iter();
                            rounds
                                .map(|r| (r.changed, r.visited, r.scanned, r.fingerprint))
                                .collect()
                        };
                        assert_eq!(counts(&found), counts(&expected), "{what}");
                        let bits = |s: Summary| (s.communities, s.modularity.to_bits());
                        assert_eq!(bits(found_summary.unwrap()), bits(summary), "{what}");
                        let view = GraphView::from(graph);
                        assert_eq!(
                            lists.wrapping_add(view.identity_without_lists()),
                            view.identity()
                        );
                    }
                }
            }
        }
    }
    assert!(splits > 0 && merges > 0, "{splits} {merges}");
}

#[test]
fn ghosts_send_less_where_few_neighbours_are_elsewhere_and_are_chosen_there() {
    let graph = rings(Direction::Undirected, false, 1 << 20);
    let settings = Settings::default();
    let run = |labels| {
        Threads::run(7, SOON, |comm| {
            let own = Arc::new(CpuExecutor::new(Some(1)).unwrap());
            let executor = RankExecutor::new(own, comm).with_labels(labels);
            let info = DynProgram::info(&Lpa::default());
            let chosen = executor.choose_labels((&graph).into(), &info, &settings).unwrap();
            let before = executor.traffic();
            executor.run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
            (chosen, executor.traffic().since(before).sent)
        })
    };
    let sent = |labels| run(labels).iter().map(|(_, sent)| sent).sum::<u64>();
    let (all, ghosts) = (sent(RankLabels::All), sent(RankLabels::Ghosts));
    // Both also send what splitting needs, a third of all.
    assert!(5 * ghosts < 3 * all, "{ghosts} {all}");
    assert!(sent(RankLabels::Auto) < ghosts + 1000);
    assert!(run(RankLabels::Auto).iter().all(|(chosen, _)| *chosen == RankLabels::Ghosts));
}

/// A program with label totals that promises nothing.
struct Unpromising;

impl Program for Unpromising {
    type Score = u64;

    fn name(&self) -> &str {
        "unpromising"
    }

    fn label_total(&self) -> LabelTotal {
        LabelTotal::Members
    }

    fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
        c.frequency * 100 / u64::from(c.total().max(1))
    }
}

impl Hints for Unpromising {}

#[test]
fn a_program_that_may_vote_for_any_label_has_no_ghosts() {
    let graph = rings(Direction::Undirected, false, 1 << 20);
    let settings = Settings::default();
    let one = CpuExecutor::new(Some(1)).unwrap();
    let expected = one.run(&graph, &Unpromising, &settings, &mut ()).unwrap();
    let run = |labels| {
        Threads::run(3, SOON, |comm| {
            let own = Arc::new(CpuExecutor::new(Some(1)).unwrap());
            let executor = RankExecutor::new(own, comm).with_labels(labels);
            executor.run(&graph, &Unpromising, &settings, &mut ())
        })
    };
    assert!(
        run(RankLabels::Auto).into_iter().all(|found| found.unwrap().labels == expected.labels)
    );
    let refused = RunError::NoGhosts { program: "unpromising".into() };
    assert!(run(RankLabels::Ghosts).into_iter().all(|found| found.err() == Some(refused.clone())));
}

/// A wire that replaces the messages of one purpose by other words.
struct Damaged {
    wire: Threads,
    purpose: &'static str,
    words: &'static [u64],
}

impl Wire for Damaged {
    fn rank(&self) -> usize {
        self.wire.rank()
    }

    fn size(&self) -> usize {
        self.wire.size()
    }

    fn exchange(
        &mut self,
        step: Step,
        bodies: &[Arc<Bytes>],
    ) -> Result<Vec<Arc<Bytes>>, CommError> {
        let is_damaged =
            self.rank() == 1 && step.to_string().contains(&format!("({},", self.purpose));
        match is_damaged {
            true => {
                let damaged = Arc::new(Bytes::of(self.words)?);
                self.wire.exchange(step, &vec![damaged; bodies.len()])
            }
            false => self.wire.exchange(step, bodies),
        }
    }

    fn abort(&mut self, code: u8) {
        self.wire.abort(code);
    }

    fn name(&self) -> String {
        self.wire.name()
    }
}

#[test]
fn messages_that_no_rank_can_mean_end_the_run() {
    let graph = rings(Direction::Undirected, false, 1 << 20);
    const NONE: &[u64] = &[u64::MAX - 7; 3];
    const CUT: &[u64] = &[5];
    let both = [RankLabels::All, RankLabels::Ghosts];
    let ghosts = [RankLabels::Ghosts; 2];
    for (purpose, labels) in [
        ("label updates", both),
        ("frontier", both),
        ("total updates", ghosts),
        ("totals", ghosts),
        ("vertices", ghosts),
    ] {
        for (labels, words) in labels.into_iter().flat_map(|of| [(of, NONE), (of, CUT)]) {
            let wires = Threads::connect(2, SOON).into_iter();
            let wires = wires.map(|wire| Damaged { wire, purpose, words });
            let found: Vec<_> = std::thread::scope(|scope| {
                let run = |wire| {
                    let own = Arc::new(CpuExecutor::new(Some(1)).unwrap());
                    let executor = RankExecutor::new(own, Comm::new(wire)).with_labels(labels);
                    executor.run(&graph, &Lpa::default(), &Settings::default(), &mut ())
                };
                let threads: Vec<_> = wires.map(|wire| scope.spawn(move || run(wire))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let error = found[0].as_ref().err();
            let is_foreign =
                matches!(error, Some(RunError::Ranks(CommError::Foreign { peer: 1, .. })));
            assert!(is_foreign, "{purpose}, {labels:?}: {error:?}");
        }
    }
}
