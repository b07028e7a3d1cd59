//! Graphs whose lists are not all in a device's memory: the results must equal the CPU's, whatever
//! the budget.

use crate::graphs::{Edges, Storage};
use crate::machines::on_gpu;
use ripplet_cuda::lp::{Supply, Tuning};
use ripplet_cuda::{DeviceExecutor, DevicesExecutor};
use ripplet_emulator::EmulatedDevice;
use ripplet_gpu::{CudaDevice, Device};
use ripplet_graph::{
    Adjacency, Buffer, Direction, Graph, GraphView, MAX_SHARD_ARCS, Observer, Shard, WeightScale,
};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Guard, Lpa, Slpa};
use ripplet_lp::{
    Checkpoint, Counter, Executor, Hints, Keeper, NotKept, Outcome, Plan, Round, RoundObserver,
    RunError, Schedule, Settings, State, Stop,
};
use std::sync::Arc;

/// Communities with edges between them, and two hubs.
fn web(vertices: u32) -> Edges {
    let mut state = 1u32;
    let mut draw = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(state) * u64::from(below)) >> 32) as u32
    };
    let mut pairs = Vec::new();
    for v in 2..vertices {
        for _ in 0..draw(60) {
            let near = (v / 100 * 100 + draw(100)).min(vertices - 1);
            pairs.push((v, if draw(2) == 0 { near } else { draw(vertices) }));
        }
        pairs.push((draw(2), v));
    }
    Edges::new(vertices, pairs)
}

/// Adds weights from 1 to 9.
fn weighted(edges: Edges) -> Edges {
    let weights = (0..edges.pairs.len()).map(|at| 1 + (at % 9) as u32).collect();
    Edges { weights: Some(weights), ..edges }
}

fn settings(schedule: Schedule) -> Settings {
    Settings { schedule, stop: Stop::after(3), keep_disconnected: true, ..Settings::default() }
}

fn phased(phases: u32) -> Schedule {
    Schedule::phased_in(phases)
}

/// The least memory that a run needs, with this share of the rest.
fn budget<P: Hints, D: Device>(
    on: impl Fn(Option<u64>) -> DeviceExecutor<D>,
    share: f64,
    graph: GraphView<'_>,
    program: &P,
    settings: &Settings,
) -> u64 {
    let [whole, least] =
        [None, Some(0)].map(|limit| on(limit).plan(graph, program, settings).total_device());
    assert!(least < whole, "{least} of {whole}");
    least + ((whole - least) as f64 * share) as u64
}

fn emulator(limit: Option<u64>) -> DeviceExecutor<EmulatedDevice> {
    DeviceExecutor::new(EmulatedDevice::with_order(1).with_resident_blocks(2)).with_memory(limit)
}

fn gpu(limit: Option<u64>) -> DeviceExecutor<CudaDevice> {
    DeviceExecutor::new(CudaDevice::new(0).unwrap()).with_memory(limit)
}

/// Supply of lists that are not on the device, and the share of the memory beyond the least.
type Room = (Tuning, f64);

fn supplied(supply: Supply) -> Tuning {
    Tuning { supply, ..Tuning::default() }
}

/// Runs on the GPU if there is one, otherwise on the emulator, with a share of the memory beyond the
/// least.
fn run<P: Hints>(
    room: Room,
    graph: GraphView<'_>,
    program: &P,
    settings: &Settings,
    observer: &mut dyn RoundObserver,
) -> (Result<Outcome, RunError>, Plan) {
    fn on<P: Hints, D: Device>(
        executor: impl Fn(Option<u64>) -> DeviceExecutor<D>,
        (tuning, share): Room,
        graph: GraphView<'_>,
        program: &P,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> (Result<Outcome, RunError>, Plan) {
        let executor = |limit| executor(limit).with_tuning(tuning);
        let budget = budget(executor, share, graph, program, settings);
        let executor = executor(Some(budget));
        let plan = executor.plan(graph, program, settings);
        assert!(plan.total_device() <= budget && plan.graph_streamed > 0, "{budget}: {plan:?}");
        (executor.run(graph, program, settings, observer), plan)
    }
    match on_gpu() {
        true => on(gpu, room, graph, program, settings, observer),
        false => on(emulator, room, graph, program, settings, observer),
    }
}

fn counts(outcome: &Outcome) -> Vec<[u64; 3]> {
    outcome.rounds.iter().map(|round| [round.changed, round.visited, round.scanned]).collect()
}

/// Runs with the least memory, and with more; in one shard, and in several.
fn check<P: Hints>(
    edges: &Edges,
    storage: Storage,
    program: &P,
    settings: &Settings,
    shares: &[f64],
) {
    let rooms = shares
        .iter()
        .flat_map(|&share| [(supplied(Supply::Pinned), share), (supplied(Supply::Staged), share)]);
    check_in(edges, storage, program, settings, rooms);
}

fn check_in<P: Hints>(
    edges: &Edges,
    storage: Storage,
    program: &P,
    settings: &Settings,
    rooms: impl Iterator<Item = Room>,
) {
    let expected = CpuExecutor::new(Some(2)).unwrap();
    let expected = expected.run(&edges.graph(MAX_SHARD_ARCS), program, settings, &mut ()).unwrap();
    for (shard_arcs, room) in [MAX_SHARD_ARCS, 3000, 3000].into_iter().cycle().zip(rooms) {
        let graph = edges.stored(shard_arcs, storage);
        let (found, plan) = run(room, graph.view(), program, settings, &mut ());
        let (found, name) =
            (found.unwrap(), format!("{room:?} {storage:?} {:?}", settings.schedule));
        assert_eq!(found.labels, expected.labels, "{name}");
        assert_eq!(found.columns, expected.columns, "{name}");
        assert_eq!(counts(&found), counts(&expected), "{name}");
        assert_eq!(found.lists_moved.len(), found.rounds.len());
        let moved: u64 = found.lists_moved.iter().map(|moved| moved.fetched + moved.unstaged).sum();
        assert!(moved > plan.graph_streamed / 2, "{name}: {moved} bytes of {plan:?}");
        if room.0.supply == Supply::Staged {
            assert!(found.lists_moved.iter().all(|moved| moved.unstaged == 0), "{name}");
        }
    }
}

#[test]
fn phases() {
    let edges = web(1500);
    for storage in [Storage::Plain, Storage::Compressed] {
        check(&edges, storage, &Lpa::default(), &settings(phased(3)), &[0.0, 0.3, 0.6]);
    }
}

/// Lists that consecutive phases request are fetched together, as many as there is room for.
#[test]
fn several_phases_together() {
    let edges = web(2000);
    let rooms = [1, 2, 4, 8].map(|ahead| Tuning { ahead, ..Tuning::default() });
    for storage in [Storage::Plain, Storage::Compressed] {
        let rooms = rooms.into_iter().flat_map(|tuning| [(tuning, 0.1), (tuning, 0.5)]);
        check_in(&edges, storage, &Lpa::default(), &settings(phased(16)), rooms);
    }
}

/// Most prefetched lists have room, and few are fetched twice.
#[test]
fn what_comes_ahead_has_room() {
    let graph = web(6000).stored(MAX_SHARD_ARCS, Storage::Plain);
    let settings = Settings { stop: Stop::after(1), ..settings(phased(8)) };
    for ahead in [1, 2, 4] {
        let room = (Tuning { ahead, ..Tuning::default() }, 0.7);
        let (found, plan) = run(room, graph.view(), &Lpa::default(), &settings, &mut ());
        let [moved] = found.unwrap().lists_moved[..] else { panic!("one round") };
        // Each list once in a round in which all are active.
        let (all, unstaged) = (plan.graph_streamed, moved.unstaged);
        // On a graph of few units, phases differ by more than the spare room.
        assert!(unstaged <= all / 4, "{ahead}: {unstaged} of {all} bytes");
        assert!(
            (all - unstaged..all + all / 4).contains(&moved.fetched),
            "{ahead}: {moved:?}, {all}"
        );
    }
}

#[test]
fn all_at_once() {
    let edges = web(1500);
    for storage in [Storage::Plain, Storage::Compressed] {
        check(&edges, storage, &Cdlp, &settings(Schedule::sync()), &[0.0, 0.25, 0.7]);
    }
}

#[test]
fn directions_and_weights() {
    let edges = weighted(web(1200).directed());
    check(&edges, Storage::Plain, &Lpa::new(Guard::OFF), &settings(phased(3)), &[0.4, 0.1]);
    check(&edges, Storage::Plain, &Cdlp, &settings(Schedule::cdlp()), &[0.2]);
    check(&edges, Storage::Compressed, &Lpa::default(), &settings(phased(2)), &[0.3]);
}

#[test]
fn sketches_and_columns() {
    let edges = web(1200);
    let sketched = Settings { counter: "mg:8".parse::<Counter>().unwrap(), ..settings(phased(3)) };
    check(&edges, Storage::Plain, &Lpa::default(), &sketched, &[0.4]);
    check(&edges, Storage::Plain, &Slpa::default(), &settings(Schedule::sync()), &[0.3]);
}

/// Rounds alternate between forwards and backwards: lists that are present at the end of a round
/// need not be copied again.
#[test]
fn what_is_there_is_used_first() {
    let graph = web(1500).stored(MAX_SHARD_ARCS, Storage::Plain);
    let room = (supplied(Supply::Pinned), 0.3);
    let (found, _) = run(room, graph.view(), &Cdlp, &settings(Schedule::sync()), &mut ());
    let [first, second, third] =
        &found.unwrap().lists_moved.iter().map(|moved| moved.fetched).collect::<Vec<_>>()[..]
    else {
        panic!("three rounds")
    };
    assert!(second < first && third < first, "{first}, {second}, {third}");
}

/// Lists so long that they are fetched in pieces, and counted by many blocks.
#[test]
fn long_lists() {
    let near = |v: u32| (0..6).map(move |step| (v, (v + step) % 8999 + 1));
    let (ring, hub) = ((1..9000u32).flat_map(near), (1..9000).map(|v| (0, v)));
    let second = (2..9000).step_by(2).map(|v| (1, v));
    let edges = Edges::new(9000, ring.chain(hub).chain(second));
    for schedule in [phased(2), Schedule::sync()] {
        let settings = Settings { stop: Stop::after(2), ..settings(schedule) };
        check(&edges, Storage::Plain, &Lpa::default(), &settings, &[0.0, 0.4]);
    }
    let sketched = Settings { counter: "mg:8".parse::<Counter>().unwrap(), ..settings(phased(2)) };
    check(&edges, Storage::Plain, &Lpa::default(), &sketched, &[0.0]);
}

/// Words with another owner, as those of a mapped file.
struct Elsewhere(Vec<u32>);

impl AsRef<[u8]> for Elsewhere {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

fn elsewhere(words: &[u32]) -> Buffer<u32> {
    Buffer::shared(Arc::new(Elsewhere(words.to_vec())), 0..4 * words.len()).unwrap()
}

/// A graph in a file that is larger than the host's memory limit is read from the file.
#[test]
fn a_file_that_the_host_has_no_room_for() {
    let here = web(1200).graph(3000);
    let shards = here.shards().iter().map(|shard| {
        let lists = Adjacency::new(
            elsewhere(shard.out().offsets()),
            elsewhere(shard.out().neighbors()),
            shard.out().weights().map(elsewhere),
        );
        Shard::new(shard.vertices(), lists, None)
    });
    let (ids, scale) = (here.ids().clone(), WeightScale::ONE);
    let graph = Graph::from_shards(ids, Direction::Undirected, scale, shards.collect()).unwrap();
    assert_eq!((here.shared_bytes(), graph.shared_bytes() > 100_000), (0, true));
    let (program, settings) = (Lpa::default(), settings(phased(3)));
    let [whole, least] =
        [None, Some(0)].map(|limit| emulator(limit).plan(&graph, &program, &settings));
    let limit = (least.total_device() + whole.total_device()) / 2;
    let with = |host, graph: &Graph| {
        let executor = emulator(Some(limit)).with_host_memory(host);
        (executor.plan(graph, &program, &settings), executor)
    };
    let (roomy, _) = with(Some(least.total_host()), &graph);
    let (narrow, executor) = with(Some(least.total_host() - 1), &graph);
    assert_eq!(roomy.graph_host, graph.bytes());
    assert_eq!(narrow.graph_host, graph.bytes() - graph.shared_bytes());
    assert!(narrow.items.iter().any(|item| item.purpose == "staging buffer"), "{narrow:?}");
    assert!(narrow.graph_streamed > 0 && narrow.total_device() <= limit, "{narrow:?}");
    // A graph in memory is already counted.
    assert_eq!(with(Some(0), &here).0.graph_host, here.bytes());
    let found = executor.run(&graph, &program, &settings, &mut ()).unwrap();
    let expected = CpuExecutor::new(Some(2)).unwrap();
    let expected = expected.run(&graph, &program, &settings, &mut ()).unwrap();
    assert_eq!(found.labels, expected.labels);
}

#[test]
fn in_place() {
    let edges = web(1200);
    let asynchronous = Settings { stop: Stop::after(8), ..settings(Schedule::asynchronous()) };
    let graph = edges.stored(MAX_SHARD_ARCS, Storage::Plain);
    for supply in [Supply::Pinned, Supply::Staged] {
        let room = (supplied(supply), 0.3);
        let (found, _) = run(room, graph.view(), &Lpa::default(), &asynchronous, &mut ());
        // The result differs from run to run, but has communities.
        let mut labels = found.unwrap().labels;
        labels.sort_unstable();
        labels.dedup();
        assert!(labels.len() < 600, "{supply:?}: {} labels", labels.len());
    }
}

/// Keeps the state after a round.
struct After(usize, Option<Checkpoint>);

impl Observer for After {}

impl RoundObserver for After {
    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        Some(self)
    }
}

impl Keeper for After {
    fn is_due(&mut self, done: &[Round]) -> bool {
        done.len() == self.0
    }
    fn keep(&mut self, done: &[Round], state: State<'_>) -> Result<(), NotKept> {
        self.1 = Some(Checkpoint {
            rounds: done.to_vec(),
            labels: state.labels.into_owned().into(),
            active: state.active.into_owned().into(),
            columns: Vec::new(),
        });
        Ok(())
    }
}

/// Deferred activation is completed before a state is read.
#[test]
fn a_state_is_whole() {
    let edges = web(1200);
    let graph = edges.stored(MAX_SHARD_ARCS, Storage::Plain);
    let settings = settings(Schedule::sync());
    let [mut here, mut there] = [After(2, None), After(2, None)];
    let room = (supplied(Supply::Pinned), 0.2);
    run(room, graph.view(), &Lpa::default(), &settings, &mut here).0.unwrap();
    let cpu = CpuExecutor::new(Some(1)).unwrap();
    let expected = cpu.run(graph.view(), &Lpa::default(), &settings, &mut there).unwrap();
    let (here, there) = (here.1.unwrap(), there.1.unwrap());
    assert_eq!(here.active, there.active);
    assert_eq!(here.labels, there.labels);
    // Also if devices share the run.
    let devices = (0..2).map(|order| EmulatedDevice::with_order(order).with_resident_blocks(2));
    let tuning = Tuning { streamed_from: Some(300), ..Tuning::default() };
    let devices = DevicesExecutor::new(devices.collect()).unwrap().with_tuning(tuning);
    let mut shared = After(2, None);
    devices.run(graph.view(), &Lpa::default(), &settings, &mut shared).unwrap();
    let shared = shared.1.unwrap();
    assert_eq!(shared.active, there.active);
    assert_eq!(shared.labels, there.labels);
    let resumed = Settings { resume: Some(here), ..settings };
    let room = (supplied(Supply::Staged), 0.2);
    let (found, _) = run(room, graph.view(), &Lpa::default(), &resumed, &mut ());
    assert_eq!(found.unwrap().labels, expected.labels);
}

/// The run that ends first leaves the other what it still reads.
#[test]
fn two_runs_at_once() {
    let edges = web(1200);
    let graph = edges.stored(MAX_SHARD_ARCS, Storage::Plain);
    let expected = CpuExecutor::new(Some(1)).unwrap();
    std::thread::scope(|scope| {
        for rounds in [2, 8] {
            let settings = Settings { stop: Stop::after(rounds), ..settings(Schedule::sync()) };
            let (graph, expected) = (graph.view(), &expected);
            scope.spawn(move || {
                for share in [0.1, 0.4] {
                    let room = (supplied(Supply::Pinned), share);
                    let (found, _) = run(room, graph, &Lpa::default(), &settings, &mut ());
                    let expected = expected.run(graph, &Lpa::default(), &settings, &mut ());
                    assert_eq!(found.unwrap().labels, expected.unwrap().labels);
                }
            });
        }
    });
}

#[test]
fn too_little_for_what_must_be_there() {
    let graph = web(1200).stored(MAX_SHARD_ARCS, Storage::Plain);
    let (program, settings) = (Lpa::default(), settings(phased(3)));
    let least = emulator(Some(0)).plan(graph.view(), &program, &settings).total_device();
    let refused = emulator(Some(least - 1)).run(graph.view(), &program, &settings, &mut ());
    let Err(RunError::DeviceMemory { needed, room, limited: true, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((needed, room), (least, least - 1));
    emulator(Some(needed)).run(graph.view(), &program, &settings, &mut ()).unwrap();
}
