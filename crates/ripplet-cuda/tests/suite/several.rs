//! Several devices that share a run: the results must equal the CPU's, for all shares and
//! transports.

use crate::graphs::{Edges, Storage, cliques};
use crate::large::all_classes;
use ripplet_cuda::lp::{Supply, Tuning};
use ripplet_cuda::{DeviceExecutor, DevicesExecutor};
use ripplet_emulator::EmulatedDevice;
use ripplet_generate::Web;
use ripplet_gpu::transport::TransportKind;
use ripplet_gpu::{Device, DeviceError};
use ripplet_graph::MAX_SHARD_ARCS;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::hooks::label_program;
use ripplet_lp::programs::{Cdlp, Gamma, Llp, Lpa, Seed, Seeded, Seeding, Slpa};
use ripplet_lp::{Executor, Hints, Outcome, Plan, Round, RunError, Schedule, Settings, Stop};

/// A vote counts less the more neighbours the voter has; its lists may be on another device.
#[label_program]
mod modest {
    use ripplet_lp::hooks::*;

    pub struct Modest {}

    impl Program for Modest {
        type Score = u64;

        fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            Vote { label: u.label, weight: u.weight % 1000 * 1024 / u.degree().max(1) }
        }

        fn label_score(&self, v: Vertex<'_>, c: Candidate<'_>) -> u64 {
            c.frequency + (v.degree() % 2) as u64
        }
    }
}

use modest::Modest;

/// The smallest label within reach spreads, a step a round.
#[label_program]
mod flood {
    use ripplet_lp::hooks::*;

    pub struct Flood {}

    impl Program for Flood {
        type Score = u64;

        fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
            0xffff_ffff - u64::from(c.label)
        }

        fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, _score: u64) -> Label {
            if label < v.label { label } else { v.label }
        }
    }
}

use flood::Flood;

const WAYS: [TransportKind; 3] =
    [TransportKind::PeerAccess, TransportKind::Nccl, TransportKind::DriverCopies];

fn emulator(number: u64, way: TransportKind) -> EmulatedDevice {
    let device = EmulatedDevice::with_order(number).with_resident_blocks(2);
    if way == TransportKind::PeerAccess { device } else { device.apart(way == TransportKind::Nccl) }
}

/// `count` emulated devices with this transport.
fn devices(count: u64, way: TransportKind) -> DevicesExecutor<EmulatedDevice> {
    let devices = (0..count).map(|number| emulator(number, way)).collect();
    let executor = DevicesExecutor::new(devices).unwrap();
    assert_eq!(executor.transport(), way);
    executor
}

pub fn web(scale: u32) -> Edges {
    let table = Web::new(scale).generate().unwrap();
    let pairs = table.sources().iter().copied().zip(table.targets().iter().copied());
    Edges::new(table.ids().len() as u32, pairs)
}

/// Adds a weight and a direction to each edge.
pub fn with_all(edges: Edges) -> Edges {
    let weights = (0..edges.pairs.len() as u32).map(|row| 1 + row % 7).collect();
    Edges { weights: Some(weights), ..edges.directed() }
}

pub fn counts(outcome: &Outcome) -> Vec<([u64; 4], Option<u64>)> {
    let of = |round: &Round| {
        ([round.changed, round.visited, round.scanned, round.nan_scores], round.fingerprint)
    };
    outcome.rounds.iter().map(of).collect()
}

fn settings(schedule: Schedule) -> Settings {
    Settings { schedule, stop: Stop::after(6), keep_disconnected: true, ..Settings::default() }
}

fn in_phases(phases: u32) -> Settings {
    settings(Schedule::phased_in(phases))
}

fn check<P: Hints>(
    executor: &DevicesExecutor<EmulatedDevice>,
    edges: &Edges,
    storage: Storage,
    program: &P,
    settings: &Settings,
) {
    let cpu = CpuExecutor::new(Some(2)).unwrap();
    let expected = cpu.run(&edges.graph(MAX_SHARD_ARCS), program, settings, &mut ()).unwrap();
    // A directed graph has several shards, with bounds that differ from the shares'.
    let shard_arcs = if edges.directed { 1000 } else { MAX_SHARD_ARCS };
    let graph = edges.stored(shard_arcs, storage);
    let found = executor.run(graph.view(), program, settings, &mut ()).unwrap();
    let (ranks, way, schedule) =
        (executor.devices().len(), executor.transport(), settings.schedule);
    let name = format!("{} on {ranks}, {way}, {storage:?}, {schedule:?}", program.name());
    assert_eq!(counts(&found), counts(&expected), "{name}");
    assert!(found.labels == expected.labels, "{name}");
    assert!(found.columns == expected.columns, "{name}");
    assert_eq!(found.reason, expected.reason, "{name}");
}

/// All transports move the same number of bytes, except in `sync`: there mirrors are sent whole, or
/// written in place.
#[test]
fn by_every_way() {
    let (edges, lpa) = (web(9), Lpa::default());
    for settings in [settings(Schedule::sync()), settings(Schedule::phased())] {
        let exchanged = WAYS.map(|way| {
            let executor = devices(2, way);
            check(&executor, &edges, Storage::Plain, &lpa, &settings);
            executor.exchanged()
        });
        let is_sync = settings.schedule == Schedule::sync();
        assert!(exchanged[0] > 0 && exchanged[1..] == [exchanged[1]; 2], "{exchanged:?}");
        assert!(
            if is_sync { exchanged[0] < exchanged[1] } else { exchanged[0] == exchanged[1] },
            "{exchanged:?}"
        );
        let rounds = 6 * if is_sync { 1 } else { 32 };
        let all = u64::from(edges.vertices) * (4 + 2) + 2 * 64 * rounds;
        assert!(exchanged[1] < all * rounds, "{exchanged:?}");
    }
}

/// Two floods from the ends of paths of different lengths. Rounds that visit few vertices, with few
/// or many changes, follow rounds that visit nearly all, and precede them. Changes must arrive with
/// either kind of exchange.
#[test]
fn few_after_many_and_many_after_few() {
    let web = web(9);
    let (inner, paths) = (web.vertices, [6, 15]);
    let vertices = inner + paths.iter().sum::<u32>();
    let path = |first: u32, to: u32, length| {
        (0..length).map(move |step| (first + step, if step == 0 { to } else { first + step - 1 }))
    };
    let ends = [inner + paths[0] - 1, vertices - 1];
    let pairs = web.pairs.iter().copied();
    let pairs = pairs.chain(path(inner, 0, paths[0])).chain(path(ends[0] + 1, inner - 1, paths[1]));
    let edges = Edges::new(vertices, pairs);
    let mut labels = vec![vertices - 1; vertices as usize];
    [labels[ends[0] as usize], labels[ends[1] as usize]] = [7, 3];
    let begun =
        Settings { stop: Stop::after(40), initial: Some(labels), ..settings(Schedule::sync()) };
    let cpu = CpuExecutor::new(Some(1)).unwrap();
    let graph = edges.graph(MAX_SHARD_ARCS);
    let rounds = cpu.run(&graph, &Flood {}, &begun, &mut ()).unwrap().rounds;
    // Changes are mirrored at once after a round that visited a quarter; a message has room for a
    // sixteenth.
    let [many, room] = [4, 16].map(|share| u64::from(vertices) / share);
    let pairs = || rounds.windows(2).map(|two| (two[0].visited >= many, two[1].changed));
    assert!(pairs().any(|(is_full, changed)| !is_full && changed > room), "{rounds:?}");
    assert!(pairs().any(|(is_full, changed)| !is_full && (1..=room / 4).contains(&changed)));
    assert!(pairs().skip(4).any(|(is_full, changed)| is_full && changed > 0), "{rounds:?}");
    for way in WAYS {
        check(&devices(2, way), &edges, Storage::Plain, &Flood {}, &begun);
    }
}

/// Vertices of all degrees, one of them with half of the arcs; shares that begin within a block of
/// a phase's units.
#[test]
fn three_uneven_shares() {
    let executor = devices(3, TransportKind::PeerAccess);
    let edges = all_classes();
    check(&executor, &edges, Storage::Plain, &Lpa::default(), &in_phases(5));
    let edges = with_all(edges);
    check(&executor, &edges, Storage::Plain, &Modest {}, &settings(Schedule::sync()));
    check(&executor, &edges, Storage::Compressed, &Modest {}, &in_phases(3));
}

/// The default program uses totals of degrees, which compressed lists of other ranks cannot
/// provide.
#[test]
fn compressed_lists() {
    let executor = devices(2, TransportKind::DriverCopies);
    check(&executor, &web(9), Storage::Compressed, &Lpa::default(), &settings(Schedule::phased()));
}

#[test]
fn more_devices_than_there_is_work_for() {
    let executor = devices(5, TransportKind::PeerAccess);
    let lpa = Lpa::default();
    for edges in [Edges::new(0, []), Edges::new(1, []), cliques(9, 8), Edges::new(300, [(3, 290)])]
    {
        check(&executor, &edges, Storage::Plain, &lpa, &in_phases(2));
    }
    check(
        &devices(1, TransportKind::PeerAccess),
        &cliques(9, 8),
        Storage::Plain,
        &lpa,
        &in_phases(2),
    );
}

#[test]
fn every_program() {
    let (executor, edges) = (devices(2, TransportKind::PeerAccess), web(8));
    let graph = edges.graph(MAX_SHARD_ARCS);
    let (sync, phased) = (settings(Schedule::sync()), in_phases(8));
    check(&executor, &edges.clone().directed(), Storage::Plain, &Cdlp, &settings(Schedule::cdlp()));
    let llp = Llp::new(Gamma::new(0.25).unwrap());
    check(&executor, &edges, Storage::Plain, &llp, &phased);
    let slpa = Slpa::new(2).unwrap();
    for settings in [&sync, &phased] {
        check(&executor, &edges, Storage::Plain, &slpa, settings);
    }
    let seeds: Vec<Seed> = (0..edges.vertices)
        .step_by(9)
        .map(|vertex| Seed { vertex, label: vertex % 50, strength: 0.5 })
        .collect();
    let seeded = Seeded::new(&graph, 0.75).unwrap();
    for settings in [sync, phased] {
        let begun = Seeded::begin(settings, edges.vertices, &seeds, Seeding::Initial).unwrap();
        check(&executor, &edges, Storage::Plain, &seeded, &begun);
    }
}

/// `async` differs from run to run, but converges: then every vertex has a label that most of its
/// neighbours have.
#[test]
fn asynchronous() {
    let edges = web(9);
    let graph = edges.graph(MAX_SHARD_ARCS);
    let begin = |schedule| Settings { stop: Stop::after(200), ..settings(schedule) };
    let cdlp = Lpa::new(ripplet_lp::programs::Guard::OFF);
    for (way, settings) in [
        (TransportKind::PeerAccess, begin(Schedule::asynchronous())),
        (TransportKind::DriverCopies, Settings { stop: Stop::after(200), ..Settings::nu_mg8() }),
    ] {
        let found = devices(3, way).run(&graph, &cdlp, &settings, &mut ()).unwrap();
        assert!(found.converged(), "{:?} after {}", found.reason, found.rounds.len());
        assert!(found.labels.iter().all(|&label| label < graph.vertices()));
        let lists = edges.lists();
        let wrong = (0..graph.vertices()).filter(|&v| {
            let votes = |label| {
                let alike =
                    lists[v as usize].iter().filter(|(u, _)| found.labels[*u as usize] == label);
                alike.count()
            };
            let most =
                lists[v as usize].iter().map(|(u, _)| votes(found.labels[*u as usize])).max();
            most.is_some_and(|most| votes(found.labels[v as usize]) < most)
        });
        // The published algorithm ends when at most 5 % change.
        assert!(wrong.count() as u32 <= graph.vertices() / 8, "{way}");
    }
}

/// No device waits for one that was lost, at any point of a round.
#[test]
fn a_lost_device_ends_the_run() {
    let graph = web(8).graph(MAX_SHARD_ARCS);
    for way in WAYS {
        for launches in [0, 3, 40, 41, 42, 43, 44, 45] {
            let lost = emulator(1, way).lost_after(launches);
            let executor =
                DevicesExecutor::new(vec![emulator(0, way), lost, emulator(2, way)]).unwrap();
            let names = ["a", "b", "c"].map(str::to_owned).to_vec();
            let executor = executor.with_names(names);
            let error = executor.run(&graph, &Lpa::default(), &Settings::default(), &mut ());
            let Err(RunError::Device(said)) = error else { panic!("{way}, {launches}: {error:?}") };
            assert!(said.starts_with("b: the GPU failed") && said.contains("lost"), "{said}");
        }
    }
}

fn needs(plans: &[Plan]) -> Vec<u64> {
    plans.iter().map(Plan::total_device).collect()
}

/// The smaller device gets fewer vertices. If the arrays that every device needs do not fit, the
/// error names it.
#[test]
fn devices_of_unequal_memory() {
    let graph = web(12).graph(MAX_SHARD_ARCS);
    let (lpa, settings) = (Lpa::default(), settings(Schedule::sync()));
    let equal = needs(&devices(2, TransportKind::PeerAccess).plans(&graph, &lpa, &settings));
    let alone = DeviceExecutor::new(EmulatedDevice::new()).plan(&graph, &lpa, &settings);
    let small = equal[1] - (alone.total_device() - equal[1]) / 4;
    let with = |bytes| {
        let second = emulator(1, TransportKind::PeerAccess).with_memory(bytes);
        DevicesExecutor::new(vec![emulator(0, TransportKind::PeerAccess), second]).unwrap()
    };
    let executor = with(small);
    let plans = executor.plans(&graph, &lpa, &settings);
    let found = needs(&plans);
    assert!(found[1] <= small && found[0] > equal[0], "{found:?} {small} {equal:?}");
    assert_eq!(executor.check_memory(&plans), Ok(()));
    assert_eq!(executor.plan(&graph, &lpa, &settings), plans[0]);
    let cpu = CpuExecutor::new(Some(2)).unwrap().run(&graph, &lpa, &settings, &mut ()).unwrap();
    let labels = executor.run(&graph, &lpa, &settings, &mut ()).unwrap().labels;
    assert!(labels == cpu.labels);
    let error = with(1000).run(&graph, &lpa, &settings, &mut ());
    let Err(RunError::DeviceMemory { device, room: 1000, limited: false, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(device, "1 emulator");
    let error = with(1 << 30).with_memory(Some(2000)).run(&graph, &lpa, &settings, &mut ());
    assert!(matches!(error, Err(RunError::DeviceMemory { room: 2000, limited: true, .. })));
}

/// Lists from one of a rank's vertices on are fetched: all of some ranks', and none of others'. A
/// share may begin within a block, and within a shard.
#[test]
fn lists_that_stay_in_the_hosts_memory() {
    let (edges, lpa) = (web(9), Lpa::default());
    let vertices = edges.vertices;
    let with = |count, way, (from, supply)| {
        let tuning = Tuning { streamed_from: Some(from), supply, ..Tuning::default() };
        devices(count, way).with_tuning(tuning)
    };
    let places =
        [(0, Supply::Staged), (vertices / 3, Supply::Pinned), (vertices / 2 + 17, Supply::Staged)];
    for (way, place) in WAYS.into_iter().zip(places) {
        let executor = with(2, way, place);
        for settings in [settings(Schedule::sync()), in_phases(3)] {
            check(&executor, &edges, Storage::Plain, &lpa, &settings);
            check(&executor, &edges, Storage::Compressed, &lpa, &settings);
        }
    }
    let edges = with_all(all_classes());
    for (storage, supply) in
        [(Storage::Plain, Supply::Staged), (Storage::Compressed, Supply::Pinned)]
    {
        let executor = with(3, TransportKind::PeerAccess, (edges.vertices / 2, supply));
        check(&executor, &edges, storage, &Modest {}, &settings(Schedule::sync()));
        check(&executor, &edges, storage, &Modest {}, &in_phases(2));
    }
    check(
        &with(4, TransportKind::PeerAccess, (9, Supply::Pinned)),
        &cliques(9, 8),
        Storage::Plain,
        &lpa,
        &in_phases(2),
    );
}

/// Lists that two devices together have no room for stay in the host's memory, within each device's
/// limit.
#[test]
fn a_graph_that_fits_no_devices() {
    let graph = web(12).graph(MAX_SHARD_ARCS);
    let (lpa, settings) = (Lpa::default(), settings(Schedule::sync()));
    let whole = needs(&devices(2, TransportKind::PeerAccess).plans(&graph, &lpa, &settings));
    let with = |bytes| devices(2, TransportKind::PeerAccess).with_memory(Some(bytes));
    let least = needs(&with(0).plans(&graph, &lpa, &settings)).into_iter().max().unwrap();
    assert!(least < whole[0], "{least} {whole:?}");
    let cpu = CpuExecutor::new(Some(2)).unwrap().run(&graph, &lpa, &settings, &mut ()).unwrap();
    for bytes in [least, (least + whole[0]) / 2] {
        let executor = with(bytes);
        let plans = executor.plans(&graph, &lpa, &settings);
        assert!(plans.iter().all(|plan| plan.total_device() <= bytes), "{bytes}: {plans:?}");
        assert!(plans.iter().any(|plan| plan.graph_streamed > 0), "{bytes}: {plans:?}");
        let found = executor.run(&graph, &lpa, &settings, &mut ()).unwrap();
        assert!(found.labels == cpu.labels);
        let moved: u64 = found.lists_moved.iter().map(|moved| moved.fetched + moved.unstaged).sum();
        let streamed: u64 = plans.iter().map(|plan| plan.graph_streamed).sum();
        assert!(moved > streamed, "{moved} bytes of {streamed}");
        assert_eq!(found.lists_moved.len(), found.rounds.len());
    }
    let error = with(least - 1).run(&graph, &lpa, &settings, &mut ());
    assert!(matches!(error, Err(RunError::DeviceMemory { limited: true, .. })), "{error:?}");
}

#[test]
fn what_is_not_there_is_a_note() {
    let apart =
        || vec![emulator(0, TransportKind::DriverCopies), emulator(1, TransportKind::DriverCopies)];
    let executor = DevicesExecutor::by(apart(), Some(TransportKind::Nccl)).unwrap();
    assert_eq!((executor.transport(), executor.notes().len()), (TransportKind::DriverCopies, 1));
    let executor = DevicesExecutor::by(
        vec![emulator(0, TransportKind::PeerAccess)],
        Some(TransportKind::DriverCopies),
    )
    .unwrap();
    assert_eq!((executor.transport(), executor.notes().len()), (TransportKind::DriverCopies, 0));
    for count in [0, 17] {
        let none = DevicesExecutor::new(
            (0..count).map(|number| emulator(number, TransportKind::PeerAccess)).collect(),
        );
        assert!(matches!(none.map(|_| ()), Err(DeviceError::Failed { .. })));
    }
    assert_eq!(executor.devices()[0].properties().name, "emulator");
}
