//! Devices of several processes that share a run over a communicator: the results must equal the CPU's.

use crate::graphs::{Edges, Storage};
use crate::large::all_classes;
use crate::several::{counts, web, with_all};
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::lp::{Supply, Tuning};
use ripplet_emulator::EmulatedDevice;
use ripplet_graph::{Graph, GraphView, MAX_SHARD_ARCS};
use ripplet_lp::counters::Counter;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::engine::{Parts, RankDevice};
use ripplet_lp::programs::{Cdlp, Gamma, Llp, Lpa, Slpa};
use ripplet_lp::{
    DynProgram, Executor, NotKept, Outcome, RankExecutor, RankLabels, Round, RoundObserver,
    RunError, Schedule, Settings, State, Stop,
};
use ripplet_ranks::{Comm, Threads};
use std::sync::Arc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(120);

/// Returns the executor of a rank on an emulated device, whose blocks run in an order of their own.
fn on_device(comm: Comm, tuning: Tuning, memory: Option<u64>) -> RankExecutor {
    let device = EmulatedDevice::with_order(comm.rank() as u64).with_resident_blocks(2);
    let device = DeviceExecutor::new(device).with_tuning(tuning).with_memory(memory);
    let device: Arc<dyn RankDevice> = Arc::new(device);
    RankExecutor::new(Arc::new(CpuExecutor::new(Some(1)).unwrap()), comm).on_device(device)
}

/// Runs a program on several ranks, each with a device, of graphs that each has; returns the outcome of each.
fn run<'g>(
    ranks: usize,
    graph: impl Fn(usize) -> (GraphView<'g>, Option<Parts>) + Sync,
    program: &dyn DynProgram,
    settings: &Settings,
    tuning: Tuning,
) -> Vec<Result<Outcome, RunError>> {
    Threads::run(ranks, DEADLINE, |comm| {
        let (graph, parts) = graph(comm.rank());
        let executor = on_device(comm, tuning, None);
        let executor = match parts {
            Some(parts) => executor.with_parts(parts),
            None => executor,
        };
        executor.run(graph, program, settings, &mut ())
    })
}

fn equal(found: Vec<Result<Outcome, RunError>>, expected: &Outcome, name: &str) {
    for (rank, found) in found.into_iter().enumerate() {
        let found = found.unwrap_or_else(|error| panic!("{name}, rank {rank}: {error}"));
        assert_eq!(counts(&found), counts(expected), "{name}, rank {rank}");
        assert!(found.labels == expected.labels, "{name}, rank {rank}");
        assert!(found.columns == expected.columns, "{name}, rank {rank}");
        assert_eq!(
            (found.reason, found.split, found.merged),
            (expected.reason, expected.split, expected.merged),
            "{name}, rank {rank}"
        );
    }
}

fn check(
    ranks: usize,
    edges: &Edges,
    storage: Storage,
    program: &dyn DynProgram,
    settings: &Settings,
) {
    let cpu = CpuExecutor::new(Some(2)).unwrap();
    let expected = cpu.run(&edges.graph(MAX_SHARD_ARCS), program, settings, &mut ()).unwrap();
    let shard_arcs = if edges.directed { 1000 } else { MAX_SHARD_ARCS };
    let graph = edges.stored(shard_arcs, storage);
    let found = run(ranks, |_| (graph.view(), None), program, settings, Tuning::default());
    let name = format!("{} on {ranks}, {storage:?}, {:?}", program.info().name, settings.schedule);
    equal(found, &expected, &name);
}

fn settings(schedule: Schedule) -> Settings {
    Settings { schedule, stop: Stop::after(6), ..Settings::default() }
}

#[test]
fn programs_and_schedules_give_the_bytes_of_the_cpu() {
    let (edges, all) = (web(9), with_all(web(9)));
    for schedule in [Schedule::phased(), Schedule::sync()] {
        let settings = settings(schedule);
        check(2, &edges, Storage::Plain, &Lpa::default(), &settings);
        check(3, &all, Storage::Plain, &Llp::new(Gamma::new(0.1).unwrap()), &settings);
        check(2, &all, Storage::Compressed, &Cdlp, &settings);
    }
    let sketch =
        Settings { counter: "mg:8".parse::<Counter>().unwrap(), ..settings(Schedule::phased()) };
    check(2, &edges, Storage::Plain, &Lpa::default(), &sketch);
    check(4, &all_classes(), Storage::Plain, &Lpa::default(), &settings(Schedule::phased()));
}

#[test]
fn columns_that_a_program_writes_are_exchanged() {
    let edges = web(8);
    let slpa = Slpa::new(2).unwrap();
    check(3, &edges, Storage::Plain, &slpa, &settings(Schedule::sync()));
}

/// Returns the graph with the lists of some vertices alone.
fn part_of(edges: &Edges, own: std::ops::Range<u32>) -> Graph {
    let mut part = edges.clone();
    let keeps = |v: u32| own.contains(&v);
    let rows = edges.pairs.iter().enumerate();
    let kept: Vec<usize> =
        rows.filter(|(_, pair)| keeps(pair.0) || keeps(pair.1)).map(|(row, _)| row).collect();
    part.pairs = kept.iter().map(|&row| edges.pairs[row]).collect();
    part.weights =
        edges.weights.as_ref().map(|weights| kept.iter().map(|&row| weights[row]).collect());
    part.graph(MAX_SHARD_ARCS)
}

/// Other lists of a rank's graph are those of edges that cross its bounds, and not whole.
#[test]
fn a_rank_needs_the_lists_of_its_own_vertices_alone() {
    for edges in [web(9), with_all(web(9))] {
        let graph = edges.graph(MAX_SHARD_ARCS);
        let cpu = CpuExecutor::new(Some(2)).unwrap();
        for ranks in [2, 3] {
            let parts = Parts::of_ranks((&graph).into(), ranks);
            let of_ranks: Vec<Graph> =
                (0..ranks).map(|rank| part_of(&edges, parts.of(rank))).collect();
            for schedule in [Schedule::phased(), Schedule::sync()] {
                let settings = settings(schedule);
                let expected = cpu.run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
                let graph = |rank: usize| ((&of_ranks[rank]).into(), Some(parts.clone()));
                let found = run(ranks, graph, &Lpa::default(), &settings, Tuning::default());
                equal(found, &expected, &format!("{ranks} parts, {schedule:?}"));
            }
        }
    }
}

#[test]
fn lists_that_stay_in_the_hosts_memory() {
    let edges = web(9);
    let settings = settings(Schedule::phased());
    let graph = edges.graph(MAX_SHARD_ARCS);
    let expected = CpuExecutor::new(Some(2))
        .unwrap()
        .run(&graph, &Lpa::default(), &settings, &mut ())
        .unwrap();
    let tuning = Tuning { streamed_from: Some(100), supply: Supply::Pinned, ..Tuning::default() };
    let found = run(2, |_| ((&graph).into(), None), &Lpa::default(), &settings, tuning);
    equal(found, &expected, "streamed");
}

/// Keeps the state after each round.
#[derive(Default)]
struct Kept(Vec<(Vec<Round>, Vec<u32>, Vec<u64>)>);

impl ripplet_graph::Observer for Kept {}

impl RoundObserver for Kept {
    fn keeper(&mut self) -> Option<&mut dyn ripplet_lp::Keeper> {
        Some(self)
    }
}

impl ripplet_lp::Keeper for Kept {
    fn is_due(&mut self, _: &[Round]) -> bool {
        true
    }

    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept> {
        self.0.push((rounds.to_vec(), state.labels.to_vec(), state.active.to_vec()));
        Ok(())
    }
}

#[test]
fn each_rank_has_the_whole_state_of_a_checkpoint() {
    let edges = web(8);
    let graph = edges.graph(MAX_SHARD_ARCS);
    let settings = settings(Schedule::phased());
    let mut expected = Kept::default();
    CpuExecutor::new(Some(1))
        .unwrap()
        .run(&graph, &Lpa::default(), &settings, &mut expected)
        .unwrap();
    let found = Threads::run(2, DEADLINE, |comm| {
        let mut kept = Kept::default();
        let executor = on_device(comm, Tuning::default(), None);
        executor.run(&graph, &Lpa::default(), &settings, &mut kept).map(|_| kept)
    });
    let of = |kept: &Kept| {
        kept.0
            .iter()
            .map(|(_, labels, active)| (labels.clone(), active.clone()))
            .collect::<Vec<_>>()
    };
    assert!(expected.0.len() > 2);
    for found in found {
        assert!(of(&found.unwrap()) == of(&expected));
    }
}

#[test]
fn what_a_device_cannot_do_is_an_error_on_each_rank() {
    let edges = web(8);
    let graph = edges.graph(MAX_SHARD_ARCS);
    let refused = |settings: Settings, memory: Option<u64>, labels: RankLabels| {
        let found = Threads::run(2, DEADLINE, |comm| {
            let executor = on_device(comm, Tuning::default(), memory).with_labels(labels);
            executor.run(&graph, &Lpa::default(), &settings, &mut ()).map(|_| ())
        });
        found.into_iter().map(|found| found.unwrap_err()).collect::<Vec<_>>()
    };
    let errors = refused(settings(Schedule::phased()), Some(1000), RankLabels::Auto);
    assert!(
        errors.iter().all(|error| matches!(error, RunError::DeviceMemory { .. })),
        "{errors:?}"
    );
    let errors = refused(settings(Schedule::phased()), None, RankLabels::Ghosts);
    assert!(errors.iter().all(|error| matches!(error, RunError::NoGhosts { .. })), "{errors:?}");
    let errors = refused(settings(Schedule::asynchronous()), None, RankLabels::Auto);
    assert!(
        errors.iter().all(|error| matches!(error, RunError::InPlaceOnRanks { .. })),
        "{errors:?}"
    );
}
