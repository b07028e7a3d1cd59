//! Refinement on a device against the CPU, whose suite compares it with its definition: the same
//! labels, rounds and counts.

use crate::checkpoints::All;
use crate::families;
use crate::graphs::{Edges, Storage};
use crate::machines::{gpu, is_thorough, on_gpu, takes_many};
use proptest::prelude::*;
use ripplet_cuda::DeviceExecutor;
use ripplet_cuda::refine::{DeviceRefinement, Tuning};
use ripplet_emulator::EmulatedDevice;
use ripplet_generate::{Rmat, Road, Social, Web};
use ripplet_graph::{
    Direction, EdgeTable, Graph, GraphBuilder, GraphView, MAX_SHARD_ARCS, Observer,
};
use ripplet_lp::refine::{Objective, RefineError, RefineOptions, Refined, Resolution, refine};
use ripplet_lp::{Checkpoint, NO_LABEL, RoundObserver, RunError};
use std::num::NonZeroU32;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Contracted graphs stay on the device whatever their size, and tables are as small as they may be.
pub const ALL_ON_DEVICE: Tuning = Tuning { host_below: 0, region_slots: 1, huge: 1 << 19 };
/// The second or a later contracted graph is left to the host.
const LAST_ON_HOST: Tuning = Tuning { host_below: 300, ..ALL_ON_DEVICE };
/// All parts of the largest class are contracted by the whole device.
pub const LARGE_AS_HUGE: Tuning = Tuning { huge: 0, ..ALL_ON_DEVICE };

fn on_device(
    graph: GraphView<'_>,
    options: &RefineOptions,
    (tuning, order): (Tuning, u64),
    observer: &mut dyn RoundObserver,
) -> Result<Refined, RefineError> {
    if on_gpu() {
        let refinement = DeviceRefinement::new(gpu(ripplet_cuda::lp::Tuning::default()));
        return Ok(refinement.with_tuning(tuning).run(graph, options, observer)?.0);
    }
    let executor = DeviceExecutor::new(EmulatedDevice::with_order(order));
    Ok(DeviceRefinement::new(&executor).with_tuning(tuning).run(graph, options, observer)?.0)
}

/// The result without the seconds of its rounds.
fn timeless(mut refined: Refined) -> Refined {
    refined.rounds.iter_mut().for_each(|round| round.round.seconds = 0.0);
    refined
}

fn check(graph: GraphView<'_>, options: &RefineOptions, tuning: Tuning, order: u64, name: &str) {
    let expected = timeless(refine(graph, options, &mut ()).unwrap());
    let found = timeless(on_device(graph, options, (tuning, order), &mut ()).unwrap());
    let differing = expected.labels.iter().zip(&found.labels).filter(|(a, b)| a != b).count();
    assert_eq!(differing, 0, "{name}, {options:?}, {tuning:?}: vertices with another label");
    assert_eq!(expected, found, "{name}, {options:?}, {tuning:?}");
}

/// Saves every state on the device and on the CPU, which are the same, and resumes from each of them on both; returns
/// their number.
fn check_resumed(graph: GraphView<'_>, options: &RefineOptions, tuning: Tuning) -> usize {
    let (mut of_cpu, mut of_device) = (All::default(), All::default());
    let whole = timeless(refine(graph, options, &mut of_cpu).unwrap());
    on_device(graph, options, (tuning, 1), &mut of_device).unwrap();
    let contents = |states: &All| -> Vec<_> {
        let of = |state: &Checkpoint| {
            let columns: Vec<_> = state.columns.iter().map(|values| values.to_vec()).collect();
            (state.rounds.clone(), state.labels.to_vec(), state.active.to_vec(), columns)
        };
        states.0.iter().map(of).collect()
    };
    assert!(contents(&of_cpu) == contents(&of_device), "{options:?}: states differ");
    for state in of_device.0 {
        let options = RefineOptions { resume: Some(state), ..options.clone() };
        assert_eq!(timeless(refine(graph, &options, &mut ()).unwrap()), whole);
        assert_eq!(timeless(on_device(graph, &options, (tuning, 2), &mut ()).unwrap()), whole);
    }
    of_cpu.0.len()
}

/// After the first iteration, half of the vertices or fewer are active.
#[test]
fn runs_resume_on_any_device() {
    let table = Web::new(families::scale(8)).generate().unwrap();
    let mut states = 0;
    for direction in [Direction::Undirected, Direction::Directed] {
        let graph = GraphBuilder::new().direction(direction).build(table.clone()).unwrap();
        for resolution in [Resolution::Fixed(1.0), Resolution::Auto] {
            let options = modularity(resolution);
            states += check_resumed((&graph).into(), &options, LAST_ON_HOST);
            let options = limited(with_fixed(options, graph.vertices(), 3), 9);
            states += check_resumed((&graph).into(), &options, ALL_ON_DEVICE);
        }
    }
    assert!(states >= 8, "{states} states");
}

fn modularity(resolution: Resolution) -> RefineOptions {
    RefineOptions::new(Objective::Modularity(resolution))
}

fn graph(table: EdgeTable) -> Graph {
    GraphBuilder::new().build(table).unwrap()
}

#[test]
fn families_are_the_same_on_every_device() {
    let scale = families::scale(7);
    let tables = [
        ("rmat", Rmat::new(scale).generate().unwrap()),
        ("social", Social::new(scale).generate().unwrap()),
        ("web", Web::new(scale).generate().unwrap()),
        ("road", Road::new(scale).generate().unwrap()),
    ];
    for (number, (name, table)) in (0..).zip(tables) {
        for (parity, direction) in (0..).zip([Direction::Undirected, Direction::Directed]) {
            if number % 2 != parity && !takes_many() {
                continue;
            }
            let builder = GraphBuilder::new().direction(direction);
            let graph = builder.build(table.clone()).unwrap();
            let name = format!("{name}, {direction:?}");
            let all = [modularity(Resolution::Fixed(1.0)), modularity(Resolution::Auto)];
            for options in all.into_iter().chain([RefineOptions::new(Objective::Cpm(0.05))]) {
                check((&graph).into(), &options, ALL_ON_DEVICE, number, &name);
                check((&graph).into(), &options, LAST_ON_HOST, number, &name);
                check((&graph).into(), &options, Tuning::default(), number, &name);
                let options = with_fixed(options, graph.vertices(), 3);
                check((&graph).into(), &options, ALL_ON_DEVICE, number, &name);
                check((&graph).into(), &options, LAST_ON_HOST, number, &name);
                let fixed_and_limited = limited(options.clone(), 9);
                check((&graph).into(), &fixed_and_limited, LARGE_AS_HUGE, number, &name);
                let options = RefineOptions { initial: None, fixed: Vec::new(), ..options };
                for most in [2, 6, 40] {
                    let options = limited(options.clone(), most);
                    check((&graph).into(), &options, ALL_ON_DEVICE, number, &name);
                    check((&graph).into(), &options, LAST_ON_HOST, number, &name);
                }
            }
        }
    }
}

/// Lengths of lists of every class of degrees.
pub fn list_lengths() -> &'static [u32] {
    if is_thorough() { &[130, 2100, 9000, 200_000] } else { &[130, 2100, 7000] }
}

/// Two hubs with `length` neighbours each, which are cliques of four.
pub fn hubs_among_cliques(length: u32) -> Edges {
    let cliques = (0..length).flat_map(|v| (1..4).map(move |k| (v, v / 4 * 4 + (v + k) % 4)));
    let hubs = (0..2).flat_map(|hub| (0..length).map(move |v| (length + hub, v)));
    Edges::new(length + 2, cliques.filter(|&(a, b)| b < length && a != b).chain(hubs))
}

/// A hub with a list of each class of degrees, among cliques, so that blocks sum up vertices and parts.
#[test]
fn lists_of_every_length_are_summed_up() {
    for &length in list_lengths() {
        let edges = hubs_among_cliques(length);
        for edges in [edges.clone(), both_ways(edges).directed()] {
            let graph = edges.graph(MAX_SHARD_ARCS);
            let name = format!("{length} leaves, directed: {}", edges.directed);
            let both = [(false, Resolution::Fixed(1.0)), (true, Resolution::Auto)];
            for (_, resolution) in
                both.into_iter().filter(|(directed, _)| *directed == edges.directed || takes_many())
            {
                let options = modularity(resolution);
                check((&graph).into(), &options, ALL_ON_DEVICE, 1, &name);
                check((&graph).into(), &options, LARGE_AS_HUGE, 1, &name);
            }
            // The hubs stay alone, and leaves join them.
            let fixed = vec![length, length + 1];
            let options = RefineOptions { fixed, ..modularity(Resolution::Fixed(0.5)) };
            check((&graph).into(), &options, ALL_ON_DEVICE, 1, &name);
            for most in [3, length / 3] {
                check((&graph).into(), &limited(options.clone(), most), ALL_ON_DEVICE, 1, &name);
            }
        }
    }
}

/// One vertex in `apart` is fixed, in a community of up to five vertices.
fn with_fixed(options: RefineOptions, vertices: u32, apart: usize) -> RefineOptions {
    let fixed = (0..vertices).rev().step_by(apart).collect();
    let initial = Some((0..vertices).map(|v| v / 5 * 5).collect());
    RefineOptions { fixed, initial, ..options }
}

/// No community has more than `most` vertices.
fn limited(options: RefineOptions, most: u32) -> RefineOptions {
    RefineOptions { max_size: NonZeroU32::new(most), ..options }
}

/// In a star, all leaves of a phase claim the community of the hub, more than four blocks sort: all steps of
/// the sort have pairs.
#[test]
fn many_vertices_claim_room_in_one_community() {
    let leaves = if is_thorough() { 300_000 } else { 18_000 };
    for edges in [crate::graphs::star(leaves), crate::graphs::star(leaves).directed()] {
        let graph = edges.graph(MAX_SHARD_ARCS);
        for most in [1, 2, 700, leaves / 2] {
            let options = limited(modularity(Resolution::Fixed(0.1)), most);
            check((&graph).into(), &options, ALL_ON_DEVICE, 3, &format!("at most {most}"));
        }
    }
}

#[test]
fn communities_to_begin_with_may_not_exceed_the_limit() {
    let graph = crate::graphs::ring(9).graph(MAX_SHARD_ARCS);
    let initial = Some(vec![7, 7, 7, 1, 1, NO_LABEL, NO_LABEL, NO_LABEL, NO_LABEL]);
    let options = RefineOptions { initial, ..modularity(Resolution::Fixed(1.0)) };
    for (most, expected) in [(2, Some(RefineError::InitialSize { size: 3, most: 2 })), (3, None)] {
        let options = limited(options.clone(), most);
        let refused = on_device((&graph).into(), &options, (ALL_ON_DEVICE, 0), &mut ()).err();
        assert_eq!(refused, expected);
        assert_eq!(refine(&graph, &options, &mut ()).err(), expected);
    }
}

/// Most arcs to the first hub lead to it, most arcs of the second from it, and cliques have arcs both ways.
pub fn both_ways(edges: Edges) -> Edges {
    let first_hub = edges.vertices - 2;
    let arcs = edges.pairs.into_iter().enumerate().flat_map(|(number, (a, b))| {
        let turned = a == first_hub && number % 9 != 0;
        let arc = if turned { (b, a) } else { (a, b) };
        let back = (a < first_hub || number % 31 == 0).then_some((arc.1, arc.0));
        [Some(arc), back].into_iter().flatten()
    });
    Edges::new(first_hub + 2, arcs)
}

pub fn edges() -> impl Strategy<Value = Edges> {
    (2u32..60).prop_flat_map(|vertices| {
        let pairs = prop::collection::vec((0..vertices, 0..vertices), 0..200);
        let weights = prop::option::of(prop::sample::select(vec![1u32, 3, 0, 1 << 20]));
        let of = |(vertices, pairs, weight, directed): (_, Vec<_>, Option<u32>, _)| Edges {
            weights: weight
                .map(|w| (0..pairs.len() as u32).map(|i| w.wrapping_mul(i % 5)).collect()),
            directed,
            ..Edges::new(vertices, pairs)
        };
        (Just(vertices), pairs, weights, any::<bool>()).prop_map(of)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if on_gpu() { 128 } else { 20 }))]

    #[test]
    fn any_graph_is_the_same_on_every_device(
        edges in edges(),
        objective in prop::sample::select(vec![
            Objective::Modularity(Resolution::Fixed(1.0)),
            Objective::Modularity(Resolution::Fixed(1234.56789)),
            Objective::Modularity(Resolution::Auto),
            Objective::Cpm(0.1),
            Objective::Cpm(1e-9),
        ]),
        storage in prop::sample::select(vec![Storage::Plain, Storage::Compressed]),
        initial: bool,
        fixed in prop::sample::select(vec![0, 1, 2, 4, 9]),
        most in prop::sample::select(vec![None, None, Some(1), Some(2), Some(3), Some(5), Some(20)]),
        on_host: bool,
        shard_arcs in 20u64..400,
        seed in 0u64..9,
    ) {
        let stored = edges.stored(shard_arcs, storage);
        let label = |v| if v % 7 == 6 { NO_LABEL } else { v / 3 };
        // Communities to begin with have up to three vertices.
        let max_size = most.map(|most| if initial { most.max(3) } else { most });
        let max_size = max_size.and_then(NonZeroU32::new);
        let initial = initial.then(|| (0..edges.vertices).map(label).collect());
        let is_fixed = |v: &u32| fixed > 0 && v.wrapping_mul(0x9e37_79b9) >> 16 < 0x10000 / fixed;
        let fixed = (0..edges.vertices).filter(is_fixed).collect();
        let options =
            RefineOptions { seed, initial, fixed, max_size, ..RefineOptions::new(objective) };
        // With few arcs, contracted graphs are left to the host after the first, or at once.
        let tuning = if on_host { Tuning { host_below: 90, ..ALL_ON_DEVICE } } else { ALL_ON_DEVICE };
        check(stored.view(), &options, tuning, seed, "a drawn graph");
    }
}

/// A drawn graph in which vertices without mass begin in the community of a finished one: levels on the host, on a device,
/// and on both were not the same.
#[test]
fn few_arcs_among_many_vertices() {
    let pairs =
        [(4, 14), (23, 21), (29, 23), (18, 2), (35, 40), (15, 29), (23, 5), (25, 32), (13, 2)];
    let graph = Edges::new(57, pairs).directed().graph(198);
    let initial = (0..57).map(|v| if v % 7 == 6 { NO_LABEL } else { v / 3 }).collect();
    let options = RefineOptions { initial: Some(initial), ..modularity(Resolution::Auto) };
    for options in [options.clone(), limited(options, 4)] {
        for host_below in [0, 90] {
            check((&graph).into(), &options, Tuning { host_below, ..ALL_ON_DEVICE }, 0, "few arcs");
        }
    }
}

#[test]
fn graphs_without_edges_have_single_vertices() {
    for vertices in [0, 1, 40] {
        for edges in [Edges::new(vertices, []), Edges::new(vertices, []).directed()] {
            let graph = edges.graph(MAX_SHARD_ARCS);
            for objective in [Objective::Modularity(Resolution::Auto), Objective::Cpm(1.0)] {
                let options = RefineOptions::new(objective);
                check((&graph).into(), &options, ALL_ON_DEVICE, 0, "no edges");
            }
        }
    }
}

#[test]
fn a_run_that_does_not_fit_is_refused_with_the_plan() {
    let executor = DeviceExecutor::new(EmulatedDevice::new().with_memory(1000));
    let refinement = DeviceRefinement::new(&executor);
    let needed = |edges: Edges, options: RefineOptions| {
        let graph = edges.graph(MAX_SHARD_ARCS);
        let plan = refinement.plan(&graph, &options, 1);
        let refused = refinement.run(&graph, &options, &mut ());
        let Err(RefineError::Run(RunError::DeviceMemory { needed, room: 1000, .. })) = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!(needed, plan.total_device());
        needed
    };
    let (ring, options) = (|| crate::graphs::ring(3000), modularity(Resolution::Auto));
    let least = needed(ring(), options.clone());
    let cpm = RefineOptions::new(Objective::Cpm(0.1));
    let twice = needed(ring().directed(), cpm);
    // The arcs of either end are as many, and take no more.
    assert_eq!(twice, least);
    let more = |edges, options| needed(edges, options) - least;
    // Arrays begin at multiples of 256 bytes.
    let of_vertices = |bytes: u64| bytes * 3000 - 256..bytes * 3000 + 4096;
    assert!(of_vertices(40).contains(&more(ring().directed(), options.clone())));
    let fixed = RefineOptions { fixed: vec![1], ..options.clone() };
    assert!(of_vertices(2).contains(&more(ring(), fixed)));
    assert!(of_vertices(32).contains(&more(ring(), limited(options, 5))));
}

/// Cancels after a number of checks.
pub struct Watch {
    pub patience: usize,
    pub asked: AtomicUsize,
}

impl Observer for Watch {
    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Relaxed) >= self.patience
    }
}

impl RoundObserver for Watch {}

#[test]
fn a_run_can_be_cancelled_and_a_lost_device_is_an_error() {
    let graph = graph(Web::new(7).generate().unwrap());
    let of_limited = limited(modularity(Resolution::Fixed(1.0)), 9);
    for options in [modularity(Resolution::Fixed(1.0)), of_limited] {
        cancel_and_lose(&graph, &options);
    }
}

fn cancel_and_lose(graph: &Graph, options: &RefineOptions) {
    let run = |device: EmulatedDevice, patience| {
        let executor = DeviceExecutor::new(device);
        let refinement = DeviceRefinement::new(&executor).with_tuning(ALL_ON_DEVICE);
        let mut watch = Watch { patience, asked: AtomicUsize::new(0) };
        let refined = refinement.run(graph, options, &mut watch);
        (refined, watch.asked.into_inner())
    };
    let (refined, asked) = run(EmulatedDevice::new(), usize::MAX);
    assert!(refined.is_ok() && asked > 10, "{asked}");
    for patience in [0, 1, asked / 2] {
        let (refined, _) = run(EmulatedDevice::new(), patience);
        let is_cancelled = matches!(refined, Err(RefineError::Run(RunError::Cancelled)));
        assert!(is_cancelled, "after {patience}: {refined:?}");
    }
    for launches in [0, 5, 100] {
        let (refined, _) = run(EmulatedDevice::new().lost_after(launches), usize::MAX);
        let is_lost = matches!(refined, Err(RefineError::Run(RunError::Device(_))));
        assert!(is_lost, "after {launches} launches: {refined:?}");
    }
}
