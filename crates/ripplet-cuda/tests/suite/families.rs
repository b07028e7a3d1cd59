//! Real graphs of the repository and the four generated families. A device must find what the CPU
//! finds, for every program with every deterministic schedule; with `async`, its results must be as
//! good.
//!
//! On a GPU the families have 2^16 vertices (`RIPPLET_GPU_SCALE` sets another power), and each
//! graph is used directed and undirected, weighted and unweighted. On the emulator they have 2^6, with
//! fewer combinations.

use crate::graphs::Edges;
use crate::machines::{Machine, is_thorough, machine, on_gpu};
use ripplet_cuda::lp::{Counting, Tuning};
use ripplet_generate::{Rmat, Road, Social, Web};
use ripplet_graph::{EdgeTable, Graph, MAX_SHARD_ARCS};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::{Cdlp, Gamma, Guard, Llp, Lpa, Seed, Seeded, Seeding, Slpa};
use ripplet_lp::quality::Quality;
use ripplet_lp::{Executor, Hints, Outcome, Round, Schedule, Settings, Stop, Ties};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Real graphs as edge lists, the small ones first; `LICENSES.md` and `LICENSE` beside them name
/// the owners.
const EDGE_LISTS: [(&str, &str); 6] = [
    ("karate", include_str!("../../../ripplet-lp/tests/data/altsoph/karate.edges")),
    ("dolphins", include_str!("../../../ripplet-lp/tests/data/altsoph/dolphins.edges")),
    ("polbooks", include_str!("../../../ripplet-lp/tests/data/altsoph/polbooks.edges")),
    ("football", include_str!("../../../ripplet-lp/tests/data/altsoph/football.edges")),
    ("polblogs", include_str!("../../../ripplet-lp/tests/data/altsoph/polblogs.edges")),
    ("eu-core", include_str!("../../../ripplet-lp/tests/data/altsoph/eu-core.edges")),
];

/// Real graphs in METIS's format.
const METIS: [(&str, &str); 3] = [
    ("jazz", include_str!("../../../ripplet-io/tests/data/networkit/jazz.graph")),
    ("celegans", include_str!("../../../ripplet-io/tests/data/networkit/celegans_metabolic.graph")),
    ("pgp", include_str!("../../../../examples/graphs/pgp.graph")),
];

/// Number of edge lists that run on the emulator, which is slow.
const SMALL: usize = 2;

/// A graph and its name.
struct Named {
    name: String,
    edges: Edges,
    graph: Graph,
}

impl Named {
    fn new(name: &str, edges: Edges) -> Named {
        let direction = if edges.directed { "directed" } else { "undirected" };
        let weights = if edges.weights.is_some() { "weighted" } else { "unweighted" };
        let graph = edges.graph(MAX_SHARD_ARCS);
        Named { name: format!("{name}, {direction}, {weights}"), edges, graph }
    }
}

fn numbers(line: &str) -> impl Iterator<Item = u32> {
    line.split_whitespace().map(|number| number.parse().expect("a number"))
}

/// Parses two vertices a line, numbered by first occurrence.
fn edge_list(text: &str) -> Edges {
    let mut ids = BTreeMap::new();
    let mut id = |name: u32| {
        let next = ids.len() as u32;
        *ids.entry(name).or_insert(next)
    };
    let mut pair = |line: &str| {
        let ends: Vec<u32> = numbers(line).take(2).map(&mut id).collect();
        (ends[0], ends[1])
    };
    let pairs: Vec<_> = text.lines().map(&mut pair).collect();
    Edges::new(ids.len() as u32, pairs)
}

/// Parses a vertex's neighbours a line, counted from 1, after a line of sizes.
fn metis(text: &str) -> Edges {
    let mut lines = text.lines().filter(|line| !line.starts_with('%'));
    let vertices = numbers(lines.next().expect("a line of sizes")).next().expect("a size");
    let pairs =
        (0..vertices).zip(lines).flat_map(|(v, line)| numbers(line).map(move |u| (v, u - 1)));
    Edges::new(vertices, pairs.filter(|(v, u)| v < u))
}

fn family(name: &str, scale: u32) -> Edges {
    let table = match name {
        "web" => Web::new(scale).generate(),
        "social" => Social::new(scale).generate(),
        "rmat" => Rmat::new(scale).generate(),
        _ => Road::new(scale).generate(),
    };
    let table: EdgeTable = table.expect("it fits");
    let pairs = table.sources().iter().copied().zip(table.targets().iter().copied());
    Edges::new(table.ids().len() as u32, pairs)
}

/// The scale of generated graphs, which have 2 to this power vertices; on the emulator `of_emulator`.
pub fn scale(of_emulator: u32) -> u32 {
    let asked = std::env::var("RIPPLET_GPU_SCALE").ok().and_then(|scale| scale.parse().ok());
    if on_gpu() { asked.unwrap_or(16) } else { of_emulator }
}

fn families() -> Vec<(&'static str, Edges)> {
    let scale = scale(6);
    ["web", "social", "rmat", "road"].map(|name| (name, family(name, scale))).into()
}

/// Variants of a graph, directed or undirected, weighted or not; weights differ by row.
fn kinds(name: &str, plain: Edges) -> Vec<Named> {
    let weights: Vec<u32> = (0..plain.pairs.len() as u32).map(|row| 1 + row % 11).collect();
    let weighted = Edges { weights: Some(weights), ..plain.clone() };
    let mut all = vec![plain.clone()];
    if on_gpu() {
        all.extend([plain.directed(), weighted.clone(), weighted.directed()]);
    }
    all.into_iter().map(|edges| Named::new(name, edges)).collect()
}

/// All graphs, created once.
fn graphs() -> &'static [Named] {
    static GRAPHS: OnceLock<Vec<Named>> = OnceLock::new();
    GRAPHS.get_or_init(|| {
        let (lists, metis_files) = match is_thorough() {
            true => (&EDGE_LISTS[..], &METIS[..]),
            false => (&EDGE_LISTS[..SMALL], &METIS[..0]),
        };
        let lists = lists.iter().map(|(name, text)| (*name, edge_list(text)));
        let metis_files = metis_files.iter().map(|(name, text)| (*name, metis(text)));
        let all = lists.chain(metis_files).chain(families());
        all.flat_map(|(name, edges)| kinds(name, edges)).collect()
    })
}

/// Every deterministic schedule: both orders, both kinds of ties.
fn schedules() -> Vec<Schedule> {
    let smallest = Schedule { ties: Ties::Smallest, ..Schedule::phased() };
    match is_thorough() {
        true => vec![Schedule::sync(), Schedule::cdlp(), Schedule::phased(), smallest],
        false => vec![Schedule::sync(), Schedule::phased()],
    }
}

/// The default counting; on a GPU, also with all vertices counted as large.
fn machines() -> Vec<Machine> {
    let mut all = vec![machine(1, Tuning::default())];
    if on_gpu() {
        all.push(machine(0, Tuning { counting: Counting::SharedTables, ..Tuning::default() }));
    }
    all
}

fn counts(outcome: &Outcome) -> Vec<[u64; 4]> {
    let of = |round: &Round| [round.changed, round.visited, round.scanned, round.nan_scores];
    outcome.rounds.iter().map(of).collect()
}

/// Runs a program, created for each graph, on every graph with every schedule. `begin` adds initial
/// values to the settings.
fn check<P: Hints>(make: impl Fn(&Graph) -> P, begin: impl Fn(Settings, &Graph) -> Settings) {
    let machines = machines();
    let cpu = CpuExecutor::new(None).unwrap();
    for Named { name, graph, .. } in graphs() {
        let program = make(graph);
        for schedule in schedules() {
            let stop = Stop::after(20);
            let settings = Settings { schedule, stop, seed: 7, ..Settings::default() };
            let settings = begin(Settings { keep_disconnected: true, ..settings }, graph);
            let expected = cpu.run(graph, &program, &settings, &mut ()).unwrap();
            for machine in &machines {
                let found = machine.executor.run(graph, &program, &settings, &mut ()).unwrap();
                let context =
                    format!("{} on {name}, {schedule:?}, {}", program.name(), machine.name);
                assert!(found.labels == expected.labels, "labels of {context}");
                assert!(found.columns == expected.columns, "columns of {context}");
                assert_eq!(counts(&found), counts(&expected), "{context}");
                assert_eq!(found.reason, expected.reason, "{context}");
            }
        }
    }
}

fn as_it_is(settings: Settings, _: &Graph) -> Settings {
    settings
}

/// Every 97th vertex is fixed, with one of a few labels.
fn from_seeds(settings: Settings, graph: &Graph) -> Settings {
    let vertices = graph.vertices();
    let seed = |vertex: u32| Seed { vertex, label: vertex % 1000 % vertices, strength: 0.75 };
    let seeds: Vec<Seed> = (0..vertices).step_by(97).map(seed).collect();
    Seeded::begin(settings, vertices, &seeds, Seeding::Fixed).unwrap()
}

#[test]
fn lpa() {
    check(|_| Lpa::default(), as_it_is);
}

#[test]
fn lpa_without_guard() {
    check(|_| Lpa::new(Guard::OFF), as_it_is);
}

#[test]
fn cdlp() {
    check(|_| Cdlp, as_it_is);
}

#[test]
fn llp() {
    check(|_| Llp::new(Gamma::new(0.25).unwrap()), as_it_is);
}

#[test]
fn slpa() {
    check(|_| Slpa::new(if on_gpu() { 5 } else { 2 }).unwrap(), as_it_is);
}

#[test]
fn seeded() {
    check(|graph| Seeded::new(graph, 0.9).unwrap(), from_seeds);
}

/// Vertex blocks of 256 consecutive ids without active vertices are skipped: after some rounds most
/// blocks are inactive, while others are activated late.
#[test]
fn idle_grains() {
    let machine = machine(1, Tuning::default());
    let cpu = CpuExecutor::new(None).unwrap();
    let road = family("road", 11);
    let graph = road.graph(MAX_SHARD_ARCS);
    for phases in [1, 5, 32, 100] {
        let schedule = if phases == 1 { Schedule::sync() } else { Schedule::phased_in(phases) };
        let stop = Stop::after(20);
        let settings = Settings { schedule, stop, keep_disconnected: true, ..Settings::default() };
        let expected = cpu.run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
        let found = machine.executor.run(&graph, &Lpa::default(), &settings, &mut ()).unwrap();
        assert!(found.labels == expected.labels, "{phases} phases");
        assert_eq!(counts(&found), counts(&expected), "{phases} phases");
        let few = |round: &Round| round.visited < u64::from(graph.vertices()) / 8;
        assert!(phases == 1 || expected.rounds.iter().any(few), "{phases} phases");
    }
}

/// The published algorithms end when they should, and in their first round labels only decrease.
#[test]
fn presets() {
    let machine = machine(1, Tuning::default());
    let program = Lpa::new(Guard::OFF);
    for Named { name, graph, .. } in graphs() {
        for settings in [Settings::nu_mg8(), Settings::nu_bm()] {
            let context = format!("{name}, {}, {}", settings.counter, machine.name);
            let found = machine.executor.run(graph, &program, &settings, &mut ()).unwrap();
            assert!(found.rounds.len() <= 20, "{context}");
            assert!(found.labels.iter().all(|&label| label < graph.vertices()), "{context}");
            let first = Settings { stop: Stop::after(1), ..settings };
            let found = machine.executor.run(graph, &program, &first, &mut ()).unwrap();
            assert!((0..).zip(&found.labels).all(|(v, &label)| label <= v), "{context}");
            let changed = (0..).zip(&found.labels).filter(|(v, label)| v != *label).count() as u64;
            assert_eq!(found.rounds[0].changed, changed, "{context}");
        }
    }
}

/// `async` differs from run to run: its labels are stable, and as good a partition as that of
/// `phased`.
#[test]
fn asynchronous() {
    let machine = machine(1, Tuning::default());
    let cpu = CpuExecutor::new(None).unwrap();
    let program = Lpa::default();
    for Named { name, edges, graph } in graphs() {
        let with = |schedule| Settings { schedule, stop: Stop::after(200), ..Settings::default() };
        let settings = with(Schedule::asynchronous());
        let found = machine.executor.run(graph, &program, &settings, &mut ()).unwrap();
        let context = format!("{name}, {}", machine.name);
        assert!(found.labels.iter().all(|&label| label < graph.vertices()), "{context}");
        assert!(found.converged(), "{context}: {:?} after {}", found.reason, found.rounds.len());
        let phased = cpu.run(graph, &program, &with(Schedule::phased()), &mut ()).unwrap();
        let modularity =
            |outcome: &Outcome| Quality::of(graph, &outcome.labels).unwrap().modularity;
        let (found, phased) = (modularity(&found), modularity(&phased));
        println!("{context}: modularity {found:.4}, phased {phased:.4}");
        // On few vertices, any run finds other communities.
        if edges.vertices >= 1 << 12 {
            assert!(found >= phased - 0.05, "{context}: modularity {found}, phased {phased}");
        }
    }
}
