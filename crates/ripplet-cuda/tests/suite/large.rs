//! Vertices of high degree: block-mapped, with labels that overflow the table, and grid-mapped; and
//! all degrees, counted by kernels for other degrees. The results must equal the CPU's.

use crate::graphs::{Edges, Storage};
use crate::machines::{machine, takes_many};
use ripplet_cuda::lp::{Counting, Tuning};
use ripplet_graph::MAX_SHARD_ARCS;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Gamma, Guard, Llp, Lpa, Seed, Seeded, Seeding};
use ripplet_lp::{Executor, Hints, Schedule, Settings, Stop};

/// A ring, two hubs (neighbours of all vertices, or of every second), and a vertex of medium
/// degree.
fn hubs(vertices: u32) -> Edges {
    let ring = (3..vertices).map(move |v| (v, if v + 1 < vertices { v + 1 } else { 3 }));
    let all = (3..vertices).map(|v| (0, v));
    let second = (3..vertices).step_by(2).map(|v| (1, v));
    let some = (3..vertices).step_by(9).map(|v| (2, v));
    Edges::new(vertices, ring.chain(all).chain(second).chain(some))
}

/// Tunings that count a vertex of 7,000 neighbours with each of the kernels.
fn tunings() -> [Tuning; 3] {
    [
        // Grid-mapped, one vertex per batch.
        Tuning { scan_most: 0, table_slots: 1, ..Tuning::default() },
        // Scanned by a block, with room for all labels in its table.
        Tuning { scan_most: u32::MAX, ..Tuning::default() },
        // Scanned with a table that is too small, and grid-mapped if that does not decide.
        Tuning { scan_most: u32::MAX, scan_shared: 20 << 10, ..Tuning::default() },
    ]
}

fn check<P: Hints>(edges: &Edges, program: &P, settings: &Settings) {
    for storage in [Storage::Plain, Storage::Compressed] {
        check_under(&tunings(), storage, edges, program, settings);
    }
}

fn check_under<P: Hints>(
    tunings: &[Tuning],
    storage: Storage,
    edges: &Edges,
    program: &P,
    settings: &Settings,
) {
    let expected = CpuExecutor::new(Some(2)).unwrap();
    let expected = expected.run(&edges.graph(MAX_SHARD_ARCS), program, settings, &mut ()).unwrap();
    let graph = edges.stored(MAX_SHARD_ARCS, storage);
    for (order, tuning) in (0..).zip(tunings.iter().copied()) {
        let machine = machine(order, tuning);
        let found = machine.executor.run(graph.view(), program, settings, &mut ()).unwrap();
        let schedule = settings.schedule;
        let name = format!("{} {}, {storage:?}, {schedule:?}", program.name(), machine.name);
        assert_eq!(found.labels, expected.labels, "{name}");
        assert_eq!(found.columns, expected.columns, "{name}");
        assert_eq!(found.reason, expected.reason, "{name}");
        let counts = |outcome: &ripplet_lp::Outcome| -> Vec<[u64; 3]> {
            let of = |round: &ripplet_lp::Round| [round.changed, round.visited, round.scanned];
            outcome.rounds.iter().map(of).collect()
        };
        assert_eq!(counts(&found), counts(&expected), "{name}");
    }
}

fn settings(schedule: Schedule) -> Settings {
    Settings { schedule, stop: Stop::after(3), keep_disconnected: true, ..Settings::default() }
}

#[test]
fn many_labels() {
    let edges = hubs(7000);
    check(&edges, &Lpa::default(), &settings(Schedule::phased()));
    let sync = settings(Schedule::sync());
    check_under(&tunings(), Storage::Plain, &edges, &Lpa::new(Guard::OFF), &sync);
}

#[test]
fn scores_that_fall_with_the_size_of_a_label() {
    let llp = Llp::new(Gamma::new(0.25).unwrap());
    check_under(&tunings(), Storage::Plain, &hubs(5000), &llp, &settings(Schedule::sync()));
}

#[test]
fn few_labels_and_what_is_carried() {
    let edges = hubs(7000);
    let graph = edges.graph(MAX_SHARD_ARCS);
    let seed = |vertex: u32| Seed { vertex, label: vertex % 50, strength: 0.5 };
    let seeds: Vec<Seed> = (3..7000).step_by(2).map(seed).collect();
    let settings = settings(Schedule::sync());
    let settings = Seeded::begin(settings, 7000, &seeds, Seeding::Initial).unwrap();
    check(&edges, &Seeded::new(&graph, 0.75).unwrap(), &settings);
}

#[test]
fn sums_of_more_than_32_bits() {
    let mut edges = hubs(6000);
    edges.weights =
        Some((0..edges.pairs.len() as u32).map(|row| 1 + row % 7 * (1 << 20)).collect());
    check(&edges, &Lpa::default(), &settings(Schedule::sync()));
}

/// Each way of counting.
fn countings() -> [Tuning; 3] {
    [Counting::GlobalTables, Counting::SharedTables, Counting::Packed]
        .map(|counting| Tuning { counting, ..Tuning::default() })
}

/// `hubs`, and degrees of all classes between the ring's and the hubs'.
pub fn all_classes() -> Edges {
    let degrees = [6, 12, 25, 60, 120, 200, 300];
    let between = (0..).zip(degrees).flat_map(|(number, degree)| {
        (0..degree).map(move |neighbor| (100 + number, 200 + number + 3 * neighbor))
    });
    Edges::new(ALL_CLASSES, hubs(ALL_CLASSES).pairs.into_iter().chain(between))
}

/// Vertices of `all_classes`: just enough for a hub of over 1,024 neighbours, as the emulator is slow
/// with a block per vertex.
const ALL_CLASSES: u32 = 1200;

#[test]
fn every_way_of_counting() {
    let mut edges = all_classes();
    let sync = Settings { stop: Stop::after(2), ..settings(Schedule::sync()) };
    // Those of `profile` count by ones in all three ways.
    let by_ones = if takes_many() { &countings()[..] } else { &countings()[1..2] };
    check_under(by_ones, Storage::Plain, &edges, &Lpa::default(), &sync);
    // Sums of more than 32 bits, and carries.
    edges.weights =
        Some((0..edges.pairs.len() as u32).map(|row| 1 + row % 7 * (1 << 20)).collect());
    let graph = edges.graph(MAX_SHARD_ARCS);
    let seed = |vertex: u32| Seed { vertex, label: vertex % 50, strength: 0.5 };
    let seeds: Vec<Seed> = (3..ALL_CLASSES).step_by(2).map(seed).collect();
    let begun = Seeded::begin(sync.clone(), ALL_CLASSES, &seeds, Seeding::Initial).unwrap();
    let seeded = Seeded::new(&graph, 0.75).unwrap();
    check_under(&countings(), Storage::Plain, &edges, &seeded, &begun);
}

#[test]
fn tables_that_do_not_all_exist_at_once() {
    // Vertices that are neighbours of all others, or of most: their tables need several times the room, which is for
    // three pieces. Of the vertices with two pieces, one is in a batch, and leaves a piece of room.
    let few = (0..8).flat_map(|hub| (8..if hub == 3 { 8500 } else { 5000 }).map(move |v| (hub, v)));
    let ring = (8..8500).map(|v| (v, if v + 1 < 8500 { v + 1 } else { 8 }));
    let edges = Edges::new(8500, few.chain(ring));
    let sync = settings(Schedule::sync());
    check_under(&tunings(), Storage::Plain, &edges, &Lpa::default(), &sync);
}
