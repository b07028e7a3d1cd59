//! What is compiled before there is a run is what usual runs load.

use crate::graphs::{Edges, star};
use ripplet_analytics::Lengths;
use ripplet_analytics::closeness::Closeness;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_cuda::lcc::DeviceLcc;
use ripplet_cuda::refine::DeviceRefinement;
use ripplet_cuda::swarm::DeviceSwarm;
use ripplet_cuda::{DeviceExecutor, built_in};
use ripplet_emulator::EmulatedDevice;
use ripplet_graph::{Graph, MAX_SHARD_ARCS};
use ripplet_lp::engine::Finishing;
use ripplet_lp::programs::{Cdlp, Lpa};
use ripplet_lp::refine::{MergeShare, Objective, RefineOptions, Resolution};
use ripplet_lp::{Executor, Schedule, Settings};
use std::collections::HashSet;
use std::num::NonZeroU32;

/// A device that keeps what it is to compile, and refuses it.
fn executor() -> DeviceExecutor<EmulatedDevice> {
    DeviceExecutor::new(EmulatedDevice::new().without_compiler())
}

/// With and without directions, weights and a hub.
fn graphs() -> Vec<Graph> {
    let small_and_large = [star(3), star(5000)].into_iter();
    let directed = small_and_large.flat_map(|edges| {
        [Edges { directed: false, ..edges.clone() }, Edges { directed: true, ..edges }]
    });
    let weighted = directed.flat_map(|edges| {
        let weights = Some(vec![3; edges.pairs.len()]);
        [edges.clone(), Edges { weights, ..edges }]
    });
    weighted.map(|edges| edges.graph(MAX_SHARD_ARCS)).collect()
}

#[test]
fn usual_runs_load_what_is_compiled_ahead() {
    let ahead = built_in().expect("every program has a device source");
    let texts: HashSet<&str> = ahead.iter().map(|source| &*source.text).collect();
    assert_eq!(texts.len(), ahead.len(), "a text is there twice");
    let mut loaded = HashSet::new();
    let mut check = |what: &str, executor: &DeviceExecutor<EmulatedDevice>| {
        let refused = executor.device().refused();
        assert!(!refused.is_empty(), "{what} loads nothing");
        for source in refused {
            assert!(texts.contains(&*source.text), "{what} loads other kernels of {}", source.name);
            loaded.insert(source.text);
        }
    };
    for graph in graphs() {
        for schedule in [Schedule::phased(), Schedule::asynchronous()] {
            let executor = executor();
            let settings = Settings { schedule, ..Settings::default() };
            executor.run(&graph, &Lpa::default(), &settings, &mut ()).expect_err("no compiler");
            check("lpa", &executor);
        }
        let cdlp = executor();
        let settings = Settings { schedule: Schedule::cdlp(), ..Settings::default() };
        cdlp.run(&graph, &Cdlp, &settings, &mut ()).expect_err("no compiler");
        check("cdlp", &cdlp);

        let of_labels = executor();
        let labels: Vec<u32> = (0..graph.vertices()).collect();
        let merge = Some(MergeShare::default());
        let run = Finishing { graph: (&graph).into(), labels: &labels, merge, seed: 0 };
        DeviceRefinement::new(&of_labels).finish(run, &mut ()).expect_err("no compiler");
        check("merging", &of_labels);

        let usual = RefineOptions::new(Objective::Modularity(Resolution::Auto));
        for max_size in [None, NonZeroU32::new(3)] {
            let executor = executor();
            let options = RefineOptions { max_size, ..usual.clone() };
            let refinement = DeviceRefinement::new(&executor);
            refinement.run(&graph, &options, &mut ()).map(|_| ()).expect_err("no compiler");
            check("refinement", &executor);
        }
        for definition in [Definition::Ldbc, Definition::Fagiolo] {
            let executor = executor();
            let lcc = DeviceLcc::new(&executor);
            lcc.run(&graph, Lcc::new(definition), &mut ()).map(|_| ()).expect_err("no compiler");
            check("clustering coefficients", &executor);
        }
    }
    let hops = Lengths::Hops;
    for graph in graphs() {
        let mut swarm = DeviceSwarm::new(executor());
        for measure in [Closeness::Reciprocal, Closeness::Harmonic] {
            swarm.closeness(&graph, measure, false, hops, &()).map(drop).expect_err("no compiler");
        }
        swarm.reach(&graph, hops, &()).map(drop).expect_err("no compiler");
        swarm.distances(&graph, hops, &()).map(drop).expect_err("no compiler");
        swarm.betweenness(&graph, false, hops, &()).map(drop).expect_err("no compiler");
        swarm.edge_betweenness(&graph, false, hops, &()).map(drop).expect_err("no compiler");
        check("swarms", swarm.executor());
    }
    assert_eq!(
        loaded.len(),
        ahead.len(),
        "some kernels are compiled ahead, and no usual run needs them"
    );
}
