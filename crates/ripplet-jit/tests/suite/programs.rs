//! Whole programs: a text compiled by rustc and by this crate gives the same run, bit by bit.

use proptest::prelude::*;
use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder, VertexIds};
use ripplet_hooks::read_program;
use ripplet_jit::{CompiledProgram, Parameters};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::{
    ColumnValues, DynProgram, Executor, NO_LABEL, Outcome, ProgramInfo, Scalar, Schedule, Settings,
    Stop, programs,
};

#[path = "../programs/cdlp.rs"]
mod cdlp;
// The language of hooks has no `is_multiple_of`.
#[allow(clippy::manual_is_multiple_of)]
#[path = "../programs/everything.rs"]
pub mod everything;
#[path = "../programs/llp.rs"]
mod llp;
#[path = "../programs/lpa.rs"]
mod lpa;
#[path = "../programs/seeded.rs"]
mod seeded;
#[path = "../programs/slpa.rs"]
mod slpa;

/// Compiles the text of a program file.
pub fn compiled(text: &str, parameters: &[(&str, Scalar)]) -> CompiledProgram {
    let module = read_program("program.rs", text).unwrap_or_else(|errors| panic!("{errors}"));
    let add = |given: Parameters, &(name, value): &(&str, Scalar)| given.with(name, value);
    let parameters = parameters.iter().fold(Parameters::new(), add);
    CompiledProgram::compile(&module, &parameters).unwrap()
}

fn run(program: &dyn DynProgram, graph: &Graph, settings: &Settings, threads: usize) -> Outcome {
    CpuExecutor::new(Some(threads)).unwrap().run(graph, program, settings, &mut ()).unwrap()
}

/// Labels, columns by name, and the counts of each round.
type Essence = (Vec<u32>, Vec<(String, Vec<u32>)>, Vec<(u64, u64, u64)>);

/// Returns the parts of an outcome that must be equal; columns by their bits, with all NaNs made
/// one.
fn essence(outcome: &Outcome) -> Essence {
    let bits = |values: &ColumnValues| match values {
        ColumnValues::U32(values) => values.clone(),
        ColumnValues::F32(values) => {
            values.iter().map(|&value| if value.is_nan() { !0 } else { value.to_bits() }).collect()
        }
    };
    let columns = outcome.columns.iter().map(|c| (c.name.to_string(), bits(&c.values)));
    let rounds = outcome.rounds.iter().map(|r| (r.changed, r.scanned, r.nan_scores));
    (outcome.labels.clone(), columns.collect(), rounds.collect())
}

/// Runs both programs under every deterministic schedule and compares the outcomes.
fn compare(
    native: &dyn DynProgram,
    compiled: &CompiledProgram,
    graph: &Graph,
    settings: &Settings,
) {
    let compiled: Box<dyn DynProgram> = compiled.clone().into();
    for schedule in [Schedule::phased(), Schedule::sync(), Schedule::cdlp()] {
        let settings = Settings { schedule, ..settings.clone() };
        let expected = run(native, graph, &settings, 1);
        for threads in [1, 3] {
            let found = run(&*compiled, graph, &settings, threads);
            assert_eq!(essence(&found), essence(&expected), "{schedule:?}, {threads} threads");
        }
    }
}

/// Generates graphs with hubs, cliques, parallel edges, weights, directions and several shards.
fn graphs() -> impl Strategy<Value = Graph> {
    let edges = prop::collection::vec((0u32..60, 0u32..60, 1u32..5000), 0..400);
    (edges, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(edges, directed, weighted, shards)| {
            let ids = VertexIds::Consecutive { first: 0, count: 60 };
            let hub = (1..40).map(|v| (0, v, v));
            let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for (s, t, w) in edges.into_iter().chain(hub) {
                sources.push(s);
                targets.push(if w % 3 == 0 { s / 6 * 6 + t % 6 } else { t });
                weights.push(f64::from(w));
            }
            let mut table = EdgeTable::new(ids, sources, targets).unwrap();
            if weighted {
                table = table.with_weights(weights).unwrap();
            }
            let direction = if directed { Direction::Directed } else { Direction::Undirected };
            let arcs = if shards { 64 } else { 1 << 20 };
            GraphBuilder::new().direction(direction).shard_arcs(arcs).build(table).unwrap()
        },
    )
}

fn settings(seed: u64, rounds: u32) -> Settings {
    Settings { seed, stop: Stop::after(rounds), ..Settings::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn lpa_is_the_same(graph in graphs(), seed: u64, guard in 0u32..200_000) {
        let file = compiled(
            include_str!("../programs/lpa.rs"),
            &[("guard", Scalar::U32(guard))],
        );
        compare(&lpa::program::Lpa { guard }, &file, &graph, &settings(seed, 20));
        let exact = f64::from(guard) / 65536.0;
        let own = programs::Lpa::new(programs::Guard::new(exact).unwrap());
        compare(&own, &file, &graph, &settings(seed, 20));
    }

    #[test]
    fn cdlp_is_the_same(graph in graphs(), seed: u64) {
        let file = compiled(include_str!("../programs/cdlp.rs"), &[]);
        compare(&cdlp::program::Cdlp, &file, &graph, &settings(seed, 10));
        compare(&programs::Cdlp, &file, &graph, &settings(seed, 10));
    }

    #[test]
    fn llp_is_the_same(graph in graphs(), seed: u64, gamma: u32) {
        let gamma = gamma >> (seed % 32);
        let file = compiled(include_str!("../programs/llp.rs"), &[("gamma", Scalar::U32(gamma))]);
        compare(&llp::program::Llp { gamma }, &file, &graph, &settings(seed, 10));
    }

    #[test]
    fn slpa_is_the_same(graph in graphs(), seed: u64, memory in 0u32..7) {
        let file = compiled(include_str!("../programs/slpa.rs"), &[("memory", Scalar::U32(memory))]);
        compare(&slpa::program::Slpa { memory }, &file, &graph, &settings(seed, 10));
    }

    #[test]
    fn seeded_is_the_same(graph in graphs(), seed: u64, share in 0.0f32..1.0) {
        let file = compiled(
            include_str!("../programs/seeded.rs"),
            &[("attenuation", Scalar::F32(share)), ("unit", Scalar::U32(65536))],
        );
        let mut settings = settings(seed, 20);
        let fixed = |v: u32| v % 7 == 3;
        let labels = (0..graph.vertices()).map(|v| if fixed(v) { v } else { NO_LABEL });
        settings.initial = Some(labels.collect());
        let column = (0..graph.vertices()).map(|v| u32::from(fixed(v))).collect();
        settings.columns.insert("fixed".into(), ColumnValues::U32(column));
        let native = seeded::program::Seeded { attenuation: share, unit: 65536 };
        compare(&native, &file, &graph, &settings);
    }

    #[test]
    fn whatever_views_know_is_the_same(
        graph in graphs(),
        (seed, shift, scale) in any::<(u64, u32, i32)>(),
        (mask, offset, pull, modest) in any::<(u64, i32, f32, bool)>(),
    ) {
        let (shift, offset) = (shift % 6, i64::from(offset));
        let file = compiled(
            include_str!("../programs/everything.rs"),
            &[
                ("shift", Scalar::U32(shift)),
                ("scale", Scalar::I32(scale)),
                ("mask", Scalar::U64(mask)),
                ("offset", Scalar::I64(offset)),
                ("pull", Scalar::F32(pull)),
                ("modest", Scalar::Bool(modest)),
            ],
        );
        let native = everything::program::Everything { shift, scale, mask, offset, pull, modest };
        compare(&native, &file, &graph, &settings(seed, 12));
    }
}

#[test]
fn programs_say_the_same_of_themselves() {
    let said =
        |text, parameters: &[_]| Box::<dyn DynProgram>::from(compiled(text, parameters)).info();
    for guard in [0, 65536] {
        let file = said(include_str!("../programs/lpa.rs"), &[("guard", Scalar::U32(guard))]);
        assert_eq!(file, ProgramInfo::of(&lpa::program::Lpa { guard }));
    }
    let file = said(include_str!("../programs/cdlp.rs"), &[]);
    assert_eq!(file, ProgramInfo::of(&cdlp::program::Cdlp));
    let file = said(include_str!("../programs/slpa.rs"), &[("memory", Scalar::U32(5))]);
    assert_eq!(file, ProgramInfo::of(&slpa::program::Slpa { memory: 5 }));
    let (attenuation, unit) = (0.5, 7);
    let parameters = [("attenuation", Scalar::F32(attenuation)), ("unit", Scalar::U32(unit))];
    let file = said(include_str!("../programs/seeded.rs"), &parameters);
    assert_eq!(file, ProgramInfo::of(&seeded::program::Seeded { attenuation, unit }));
    let file = said(include_str!("../programs/llp.rs"), &[("gamma", Scalar::U32(9))]);
    assert_eq!(file, ProgramInfo::of(&llp::program::Llp { gamma: 9 }));
}
