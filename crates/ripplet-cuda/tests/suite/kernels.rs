//! Every kernel, with every program's hooks, compiled for every architecture by NVRTC, which needs
//! no GPU.

use crate::graphs::{Edges, Storage, ring};
use ripplet_analytics::Lengths;
use ripplet_analytics::PathAnalysis;
use ripplet_analytics::closeness::Closeness;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_cuda::lcc;
use ripplet_cuda::lp::{Compiled, Kernels, Resident, source};
use ripplet_cuda::refine;
use ripplet_cuda::swarm;
use ripplet_emulator::has_nvrtc;
use ripplet_gpu::{Source, Version, nvrtc};
use ripplet_graph::MAX_SHARD_ARCS;
use ripplet_lp::programs::{Cdlp, Gamma, Llp, Lpa, Seeded, Slpa};
use ripplet_lp::{Hints, ProgramInfo, Schedule, Settings};

/// Turing to Hopper.
const ARCHITECTURES: [(u32, u32); 3] = [(7, 5), (8, 0), (9, 0)];

fn text<P: Hints>(edges: &Edges, program: &P, schedule: Schedule, counter: &str) -> Source {
    text_for((Storage::Plain, Kernels::Measured), edges, program, schedule, counter)
}

fn text_for<P: Hints>(
    (storage, kernels): (Storage, Kernels),
    edges: &Edges,
    program: &P,
    schedule: Schedule,
    counter: &str,
) -> Source {
    let counter = counter.parse().expect("a counter");
    let settings = Settings { schedule, counter, ..Settings::default() };
    let shard_arcs = if edges.directed { 7 } else { MAX_SHARD_ARCS };
    let graph = edges.stored(shard_arcs, storage);
    let compiled = Compiled { kernels, resident: Resident::Whole, has_large: true };
    source(graph.view(), &ProgramInfo::of(program), &settings, compiled).expect("a text")
}

/// The kernels of a graph whose lists are not all on the device.
fn streamed(storage: Storage, edges: &Edges, schedule: Schedule, counter: &str) -> Source {
    let counter = counter.parse().expect("a counter");
    let settings = Settings { schedule, counter, ..Settings::default() };
    let graph = edges.stored(if edges.directed { 7 } else { MAX_SHARD_ARCS }, storage);
    let program = ProgramInfo::of(&Lpa::default());
    let compiled = Compiled { kernels: Kernels::Work, resident: Resident::Partly, has_large: true };
    source(graph.view(), &program, &settings, compiled).expect("a text")
}

/// Each program, schedule, counter and kind of graph in some text, but not all combinations: every
/// kernel is in the first few, and hooks are plain arithmetic on any architecture. The last text
/// makes NVRTC recurse deepest.
fn texts() -> Vec<Source> {
    let plain = ring(5);
    let other = Edges { weights: Some(vec![2; 5]), ..ring(5).directed() };
    let (lpa, llp) = (Lpa::default(), Llp::new(Gamma::ONE));
    let seeded = Seeded::new(&plain.graph(MAX_SHARD_ARCS), 0.9).expect("an attenuation");
    let compressed = (Storage::Compressed, Kernels::Measured);
    let ranked = (Storage::Plain, Kernels::Ranked);
    let of_processes = (Storage::Plain, Kernels::OfProcesses);
    vec![
        text(&other, &Cdlp, Schedule::cdlp(), "exact"),
        text(&plain, &lpa, Schedule::asynchronous(), "bm"),
        streamed(Storage::Plain, &other, Schedule::phased(), "exact"),
        streamed(Storage::Compressed, &plain, Schedule::sync(), "mg:9:single"),
        text(&other, &llp, Schedule::phased(), "exact"),
        text(&plain, &seeded, Schedule::phased(), "exact"),
        text_for(compressed, &plain, &seeded, Schedule::phased(), "exact"),
        text_for(of_processes, &plain, &Slpa::default(), Schedule::sync(), "exact"),
        text_for(ranked, &other, &llp, Schedule::asynchronous(), "exact"),
        text(&other, &lpa, Schedule::phased(), "mg:32"),
    ]
}

/// Each kind of the clustering coefficient's kernels, except for sharded graphs and wide numbers.
fn texts_of_lcc() -> Vec<Source> {
    let of = |edges: &Edges, definition| {
        let lcc = Lcc::new(definition).with_triangles();
        lcc::source(&edges.graph(MAX_SHARD_ARCS), lcc)
    };
    let directed = ring(5).directed();
    vec![
        of(&ring(5), Definition::Ldbc),
        of(&directed, Definition::Ldbc),
        of(&directed, Definition::Fagiolo),
    ]
}

/// Kinds of the swarms' kernels that together contain all lines.
fn texts_of_swarms() -> Vec<Source> {
    let (normalized, by_arcs, by_weight) = (false, Lengths::Hops, Lengths::Weights);
    let near =
        PathAnalysis::Closeness { measure: Closeness::Harmonic, normalized, lengths: by_arcs };
    vec![
        swarm::source(near, false, false),
        swarm::source(PathAnalysis::Distances { lengths: by_arcs }, false, false),
        swarm::source(PathAnalysis::Reach { lengths: by_weight }, true, true),
        swarm::source(PathAnalysis::Betweenness { normalized, lengths: by_arcs }, false, false),
        swarm::source(PathAnalysis::EdgeBetweenness { normalized, lengths: by_arcs }, true, false),
        swarm::source(PathAnalysis::EdgeBetweenness { normalized, lengths: by_weight }, true, true),
    ]
}

/// Each kind of refinement's kernels, and those of merging. The first two contain all lines.
fn texts_of_refinement() -> Vec<Source> {
    let kind =
        |has_imbalances, is_limited| refine::source(refine::Kind { has_imbalances, is_limited });
    let merging = refine::merging_source();
    vec![kind(true, true), merging, kind(true, false), kind(false, true), kind(false, false)]
}

/// Texts that are compiled for the older architectures, too.
const EVERYWHERE: usize = 2;

/// Option that makes NVRTC skip optimisations; known from this version on.
const QUICKLY: &str = "--Ofast-compile=max";
const QUICKLY_FROM: Version = Version { major: 13, minor: 0 };

/// A thread's stack that is too small for NVRTC's recursion.
const SMALL_STACK: usize = 256 << 10;

/// All kernels compile, also when called on a small stack. For the newest architecture, the first
/// and the last text of each kind are compiled as for a run. All others are compiled without
/// optimisation, which also checks validity and architecture.
#[test]
fn every_kernel_compiles_for_every_architecture() {
    if !has_nvrtc() {
        return;
    }
    let version = nvrtc::available().expect("it is there");
    let quickly: &[&str] = if version >= QUICKLY_FROM { &[QUICKLY] } else { &[] };
    std::thread::scope(|scope| {
        for architecture in ARCHITECTURES {
            let compile = move || {
                let is_newest = ARCHITECTURES.last() == Some(&architecture);
                let [count, others] = if is_newest { [usize::MAX; 2] } else { [EVERYWHERE, 1] };
                let lp: Vec<_> = texts().into_iter().take(count).collect();
                let lcc = texts_of_lcc().into_iter().take(others).collect();
                let swarms = texts_of_swarms().into_iter().take(others).collect();
                let refinement = texts_of_refinement().into_iter().take(count).collect();
                for texts in [lp, lcc, swarms, refinement] {
                    for (number, text) in texts.iter().enumerate() {
                        let is_at_an_end = number == 0 || number + 1 == texts.len();
                        let options = if is_newest && is_at_an_end { &[] } else { quickly };
                        let code = nvrtc::compile_with(options, text, architecture);
                        let code = code.unwrap_or_else(|error| panic!("{architecture:?}: {error}"));
                        assert!(code.starts_with(b"\x7fELF"), "{architecture:?}, {}", text.name);
                        kernels_wait(&code, is_newest);
                    }
                }
            };
            let small = std::thread::Builder::new().stack_size(SMALL_STACK);
            small.spawn_scoped(scope, compile).expect("a thread");
        }
    });
}

/// All kernels of the machine code are marked as ones that wait for the previous launch, or none is.
fn kernels_wait(code: &[u8], all: bool) {
    let names = || code.split(|&byte| byte == 0);
    // The arguments of a kernel; without optimisation, other functions have code of their own, but no arguments there.
    let mut kernels = names().filter_map(|name| name.strip_prefix(b".nv.constant0.")).peekable();
    assert!(kernels.peek().is_some(), "no kernel");
    for kernel in kernels {
        let mark = [kernel, b"_waits"].concat();
        assert_eq!(names().any(|name| name == mark), all, "{}", String::from_utf8_lossy(kernel));
    }
}

/// Folder of the oldest NVRTC that the kernels are written for; its rules of names are stricter.
const OLDEST: &str = "RIPPLET_OLDEST_NVRTC";
/// Set in the process that has it.
const HAS_OLDEST: &str = "RIPPLET_TEST_HAS_OLDEST_NVRTC";

/// All texts of label propagation, which is the most, and those that contain the most lines of the others.
fn texts_for_the_oldest() -> Vec<Source> {
    let refinement = texts_of_refinement().into_iter().take(2);
    let others = texts_of_lcc().into_iter().take(1).chain(texts_of_swarms().pop());
    texts().into_iter().chain(others).chain(refinement).collect()
}

/// What it need not do: the same text is as valid without.
const UNOPTIMIZED: &str = "--device-debug";

/// They compile with the oldest NVRTC, to PTX, as it does not know the architecture.
#[test]
fn kernels_compile_with_the_oldest_compiler() {
    if std::env::var_os(HAS_OLDEST).is_some() {
        assert_eq!(nvrtc::available(), Ok(Version { major: 12, minor: 0 }));
        for text in texts_for_the_oldest() {
            let code = nvrtc::compile_with(&[UNOPTIMIZED], &text, (12, 0));
            let code = code.unwrap_or_else(|error| panic!("{error}"));
            assert!(code.starts_with(b"//\n"), "{}", text.name);
        }
        return;
    }
    let Some(folder) = std::env::var_os(OLDEST) else {
        let is_required = std::env::var_os("RIPPLET_REQUIRE_NVRTC").is_some();
        assert!(!is_required, "{OLDEST} is not set");
        return println!("skipped: {OLDEST} is not set");
    };
    let this = std::env::current_exe().expect("this program");
    let output = std::process::Command::new(this)
        .args(["--exact", "kernels::kernels_compile_with_the_oldest_compiler"])
        .env("LD_LIBRARY_PATH", folder)
        .env(HAS_OLDEST, "")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{error}");
}
