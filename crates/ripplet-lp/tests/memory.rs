//! A memory plan is a tight upper bound on what a run allocates.
//!
//! This is the only test of its program: it counts every allocation of the process.

use ripplet_generate::Planted;
use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder, Observer, VertexIds};
use ripplet_lp::check::{SAMPLE, check_program};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::engine::Parts;
use ripplet_lp::programs::{Cdlp, Gamma, Guard, Llp, Lpa, Seed, Seeded, Seeding, Slpa};
use ripplet_lp::refine::{self, Objective, ProfileOptions, RefineOptions, Resolution};
use ripplet_lp::{
    DynProgram, Executor, Hints, Keeper, NotKept, Plan, RankExecutor, RankLabels, Round,
    RoundObserver, Schedule, Settings, State, Stop,
};
use ripplet_ranks::Threads;
use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Counting;

static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged; counting touches only atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size() as u64, SeqCst) + layout.size() as u64;
        PEAK.fetch_max(live, SeqCst);
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, SeqCst);
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A keeper that borrows the state after each round.
struct Looks;

impl Keeper for Looks {
    fn is_due(&mut self, _: &[Round]) -> bool {
        true
    }

    fn keep(&mut self, _: &[Round], state: State<'_>) -> Result<(), NotKept> {
        assert_eq!(state.active.len(), state.labels.len().div_ceil(64));
        Ok(())
    }
}

impl Observer for Looks {}

impl RoundObserver for Looks {
    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        Some(self)
    }
}

/// Allowance for rayon's queues and the list of rounds beside the plan, in bytes.
const SLACK: u64 = 64 << 10;

/// Checks the plan of a program with `state` bytes per vertex beside the label: in columns that it
/// writes, and in columns that it only reads.
fn check<P: Hints>(graph: &Graph, program: &P, settings: &Settings, state: (f64, f64)) {
    let executor = CpuExecutor::new(Some(3)).unwrap();
    let plan = executor.plan(graph, program, settings);
    let before = LIVE.load(SeqCst);
    PEAK.store(before, SeqCst);
    let found = executor.run(graph, program, settings, &mut Looks).unwrap();
    let used = PEAK.load(SeqCst) - before;
    assert_eq!(found.labels.len(), graph.vertices() as usize);

    // What the settings hold is allocated before the run.
    let given = plan.items.iter().filter(|item| item.purpose.contains("to begin with"));
    let planned = plan.algorithm_host() - given.map(|item| item.bytes).sum::<u64>();
    let schedule = settings.schedule.name();
    let case = format!("{} {schedule} keep {}", program.name(), settings.keep_disconnected);
    println!("{case}: {used} bytes used, {planned} planned");
    assert!(used <= planned + SLACK, "{case}: {used} bytes used, {planned} planned");
    assert!(used * 10 >= planned * 8, "{case}: {used} bytes used, {planned} planned");

    let tables = plan.items.iter().find(|item| item.purpose.contains("thread")).unwrap().bytes;
    let a_vertex = (planned - tables) as f64 / f64::from(graph.vertices());
    let (written, read) = state;
    let most = match schedule {
        "sync" => 12.2 + 2.0 * written + read,
        // Drafts of the vertices of one phase, with a mark for each.
        "phased" => 9.0 + written + read + (written + 4.0) / 30.0,
        _ => 9.0 + written + read,
    };
    assert!(a_vertex <= most, "{case}: {a_vertex} bytes a vertex, not {most}");
}

/// Checks the plans of four ranks together, which allocate at the same time.
fn check_ranks(graph: &Graph, program: &dyn DynProgram, settings: &Settings, labels: RankLabels) {
    let parts = Parts::of_ranks(graph.into(), 4);
    let before = LIVE.load(SeqCst);
    PEAK.store(before, SeqCst);
    let plans = Threads::run(4, Duration::from_secs(60), |comm| {
        let own = Arc::new(CpuExecutor::new(Some(1)).unwrap());
        let executor = RankExecutor::new(own, comm).with_parts(parts.clone()).with_labels(labels);
        let plan = executor.plan(graph, program, settings);
        executor.run(graph, program, settings, &mut ()).unwrap();
        plan
    });
    let used = PEAK.load(SeqCst) - before;
    let planned: u64 = plans.iter().map(Plan::algorithm_host).sum();
    let case = format!("{} {} on ranks, {labels:?}", program.info().name, settings.schedule.name());
    println!("{case}: {used} bytes used, {planned} planned");
    assert!(used <= planned + 4 * SLACK, "{case}: {used} bytes used, {planned} planned");
}

/// Checks the plan of a test of a program's promises, of which at least `least` per cent are used.
fn check_promises<P: Hints>(graph: &Graph, program: &P, settings: &Settings, least: u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    pool.install(|| {
        let plan = ripplet_lp::check::plan(graph, program, settings, SAMPLE, 3);
        let before = LIVE.load(SeqCst);
        PEAK.store(before, SeqCst);
        check_program(graph, program, settings, SAMPLE, &()).unwrap();
        let used = PEAK.load(SeqCst) - before;
        let given = plan.items.iter().filter(|item| item.purpose.contains("to begin with"));
        let planned = plan.algorithm_host() - given.map(|item| item.bytes).sum::<u64>();
        let case = format!("checking {}: {used} bytes used, {planned} planned", program.name());
        println!("{case}");
        assert!(used <= planned + SLACK, "{case}");
        assert!(used * 100 >= planned * least, "{case}");
    });
}

/// A vertex that all others are neighbours of: each list of a sample may be as long as the graph.
fn star() -> Graph {
    let ids = VertexIds::Consecutive { first: 0, count: 100_000 };
    let edges = EdgeTable::new(ids, vec![0; 99_999], (1..100_000).collect()).unwrap();
    GraphBuilder::new().build(edges).unwrap()
}

/// All pairs of 1000 vertices.
fn dense() -> Graph {
    let ids = VertexIds::Consecutive { first: 0, count: 1000 };
    let (sources, targets) = (0..1000).flat_map(|u| (0..u).map(move |v| (v, u))).unzip();
    GraphBuilder::new().build(EdgeTable::new(ids, sources, targets).unwrap()).unwrap()
}

/// Neighbours in a row.
fn path() -> Graph {
    let ids = VertexIds::Consecutive { first: 0, count: 100_000 };
    let edges = EdgeTable::new(ids, (0..99_999).collect(), (1..100_000).collect()).unwrap();
    GraphBuilder::new().build(edges).unwrap()
}

/// Checks the plan of a refinement, which bounds contracted graphs that the run alone knows.
fn check_refinement(graph: &Graph, options: &RefineOptions) {
    let executor = CpuExecutor::new(Some(3)).unwrap();
    let planned = refine::plan(graph, options, 3).algorithm_host();
    let before = LIVE.load(SeqCst);
    PEAK.store(before, SeqCst);
    executor.install(|| refine::refine(graph, options, &mut ())).unwrap();
    let used = PEAK.load(SeqCst) - before;
    let RefineOptions { objective, max_size, .. } = options;
    let case = format!("{objective:?} {max_size:?}: {used} bytes used, {planned} planned");
    println!("{case}");
    assert!(used <= planned + SLACK, "{case}");
    assert!(used * 2 >= planned, "{case}");
}

/// Checks the plan of a resolution profile, which bounds the partitions that are kept.
fn check_profile(graph: &Graph, objective: Objective) {
    let executor = CpuExecutor::new(Some(3)).unwrap();
    let options = ProfileOptions { runs: 4, ..ProfileOptions::new(objective) };
    let planned = refine::profile_plan(graph, &options, 3).algorithm_host();
    let before = LIVE.load(SeqCst);
    PEAK.store(before, SeqCst);
    let found = executor.install(|| refine::profile(graph, &options, &mut ())).unwrap();
    let used = PEAK.load(SeqCst) - before;
    let case = format!("profile of {objective:?}: {used} bytes used, {planned} planned");
    println!("{case}");
    assert_eq!(found.runs, 4);
    assert!(used <= planned + SLACK, "{case}");
    assert!(used * 2 >= planned, "{case}");
}

/// An observer that measures the peak between two of its polls.
struct Windows(Mutex<Vec<u64>>);

impl Observer for Windows {
    fn is_cancelled(&self) -> bool {
        let peak = PEAK.swap(LIVE.load(SeqCst), SeqCst);
        let mut peaks = self.0.lock().unwrap();
        assert!(peaks.len() < peaks.capacity(), "the windows must not allocate");
        peaks.push(peak);
        false
    }
}

impl RoundObserver for Windows {}

/// Checks the bound of a dendrogram in which each vertex is a community: all of it with the plan of a
/// refinement, and the merges, which are the last polls of the run, alone.
fn check_dendrogram(name: &str, graph: &Graph, objective: Objective) {
    let executor = CpuExecutor::new(Some(3)).unwrap();
    let plan = refine::plan(graph, &RefineOptions::new(objective), 3);
    let vertices = u64::from(graph.vertices());
    let own = refine::dendrogram_bytes(vertices, graph.arcs());
    let labels: Vec<u32> = (0..graph.vertices()).collect();
    let mut windows = Windows(Mutex::new(Vec::with_capacity(1 << 20)));
    let before = LIVE.load(SeqCst);
    PEAK.store(before, SeqCst);
    let found = executor.install(|| refine::dendrogram(graph, objective, &labels, &mut windows));
    let last = PEAK.load(SeqCst);
    let merges = found.unwrap().len();
    let mut peaks = windows.0.into_inner().unwrap();
    peaks.push(last);
    let used = peaks.iter().max().unwrap() - before;
    // Without the first window, which begins before the merges.
    let of_merges = &peaks[peaks.len() - merges / 256..];
    // The masses of the input.
    let merging = of_merges.iter().max().unwrap() - before - 8 * vertices;
    let case = format!(
        "dendrogram of {name}: {used} bytes used, {merging} by merges, {own} bound, {} planned",
        plan.algorithm_host()
    );
    println!("{case}");
    assert!(merging <= own + SLACK, "{case}");
    assert!(merging * 3 >= own, "{case}");
    assert!(used <= plan.algorithm_host() + own + SLACK, "{case}");
}

#[test]
fn runs_allocate_what_they_planned() {
    let edges = Planted::new(50_000, 150_000, 0.3).generate().unwrap().edges;
    let graph = GraphBuilder::new().build(edges).unwrap();
    for keep_disconnected in [false, true] {
        let stop = Stop::after(4);
        let settings = |schedule| Settings {
            schedule,
            stop: stop.clone(),
            keep_disconnected,
            ..Settings::default()
        };
        for schedule in [Schedule::phased(), Schedule::sync(), Schedule::asynchronous()] {
            let settings = settings(schedule);
            check(&graph, &Lpa::default(), &settings, (0.0, 0.0));
            check(&graph, &Lpa::new(Guard::OFF), &settings, (0.0, 0.0));
            check(&graph, &Llp::new(Gamma::ZERO), &settings, (0.0, 0.0));
            check(&graph, &Slpa::default(), &settings, (64.0, 0.0));
            let seeds = (0..1000).map(|v| Seed { vertex: v, label: v, strength: 1.0 });
            let seeds: Vec<Seed> = seeds.collect();
            let seeded = Seeded::begin(settings, graph.vertices(), &seeds, Seeding::Fixed).unwrap();
            let settings = Settings { keep_disconnected, ..seeded };
            check(&graph, &Seeded::new(&graph, 0.5).unwrap(), &settings, (4.0, 4.0));
            check_promises(&graph, &Seeded::new(&graph, 0.5).unwrap(), &settings, 80);
        }
        for schedule in [Schedule::phased_in(8), Schedule::sync()] {
            for labels in [RankLabels::All, RankLabels::Ghosts] {
                let settings = settings(schedule);
                check_ranks(&graph, &Lpa::default(), &settings, labels);
                check_ranks(&graph, &Lpa::new(Guard::OFF), &settings, labels);
                check_ranks(&graph, &Slpa::default(), &settings, labels);
            }
        }
        check_promises(&graph, &Lpa::default(), &settings(Schedule::phased()), 80);
        check_promises(&graph, &Slpa::default(), &settings(Schedule::sync()), 80);
        // One thread at most has the long list, but any thread may.
        check_promises(&star(), &Lpa::default(), &settings(Schedule::phased()), 20);
        check(&graph, &Cdlp, &settings(Schedule::cdlp()), (0.0, 0.0));
    }
    let edges = Planted::new(50_000, 150_000, 0.3).generate().unwrap().edges;
    let directed = GraphBuilder::new().direction(Direction::Directed).build(edges).unwrap();
    for graph in [&graph, &directed] {
        let options = RefineOptions::new(Objective::Modularity(Resolution::Auto));
        check_refinement(graph, &options);
        check_refinement(graph, &RefineOptions::new(Objective::Cpm(0.5)));
        let (fixed, max_size) = ((0..1000).collect(), NonZeroU32::new(20));
        check_refinement(graph, &RefineOptions { fixed, max_size, ..options });
        check_profile(graph, Objective::Modularity(Resolution::Auto));
        check_profile(graph, Objective::Cpm(0.5));
    }
    let modularity = Objective::Modularity(Resolution::Auto);
    check_dendrogram("a planted graph", &graph, modularity);
    check_dendrogram("a planted graph by cpm", &graph, Objective::Cpm(0.5));
    check_dendrogram("a star", &star(), modularity);
    check_dendrogram("a dense graph", &dense(), modularity);
    check_dendrogram("a dense graph by cpm", &dense(), Objective::Cpm(0.5));
    check_dendrogram("a path", &path(), modularity);
}
