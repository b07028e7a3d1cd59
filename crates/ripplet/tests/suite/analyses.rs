//! Analyses by name.

use ripplet::analyses::{
    AnalyseError, AnalysisDevice, AnalysisName, AnalysisObserver, AnalysisRun,
};
use ripplet::analytics::betweenness::betweenness;
use ripplet::analytics::closeness::Closeness;
use ripplet::analytics::pagerank::{Jumps, PageRank};
use ripplet::analytics::{Lengths, Sample, Sources};
use ripplet::device::OpenWorkersError;
use ripplet::graph::{Graph, GraphView};
use ripplet::io::write::{ColumnData, Part};
use ripplet::lp::engine::Parts;
use ripplet::lp::{Plan, RunError};
use ripplet::ranks::{SharedComm, Threads};
use ripplet::swarm::{Analysis, Clustering, Column, Scope, SwarmError};
use ripplet::{Device, Observer, Storage, StoredGraph, analyse, graph_from_edges};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A path of three vertices, and an edge.
fn graph() -> Graph {
    graph_from_edges([("bob", "ann"), ("cid", "bob"), ("dan", "eve")]).unwrap()
}

#[test]
fn each_name_is_an_analysis() {
    let graph = graph();
    for name in AnalysisName::ALL {
        assert_eq!(name.to_string().parse(), Ok(name));
        let found = analyse(&graph, name.as_str()).unwrap().device(Device::cpu()).run().unwrap();
        assert_eq!(found.device(), "cpu");
        assert!(!found.columns().is_empty(), "{name}");
        let expected = match name {
            AnalysisName::EdgeBetweenness => 3,
            AnalysisName::Distances => 25,
            AnalysisName::Summary => 1,
            _ => 5,
        };
        for (column, values) in found.columns() {
            let len = match values {
                Column::U32(values) => values.len(),
                Column::U64(values) => values.len(),
                Column::F64(values) => values.len(),
                Column::Bool(values) => values.len(),
            };
            assert_eq!(len, expected, "{name} {column}");
        }
        let by_vertex = found.by_vertex().is_ok();
        assert_eq!(by_vertex, expected == 5, "{name}");
    }
    let unknown = analyse(&graph, "girth").unwrap_err();
    assert!(unknown.to_string().starts_with("there is no analysis girth: expected closeness, "));
}

/// A GPU has a kernel for the clustering coefficients of one graph: if it is missing, the error and the reason for the CPU
/// are about the GPU.
#[test]
fn clustering_coefficients_are_for_a_gpu() {
    let graph = graph_from_edges([(1, 2), (2, 3), (3, 1), (3, 4)]).unwrap();
    let run = |device| analyse(&graph, "lcc").unwrap().device(device).run();
    match run(Device::cuda(0)) {
        Ok(found) => {
            assert_ne!(found.device(), "cpu");
            assert_eq!(found.columns(), run(Device::cpu()).unwrap().columns());
            assert_ne!(run(Device::auto()).unwrap().device(), "cpu");
        }
        Err(error) => {
            assert!(matches!(error, AnalyseError::Open(OpenWorkersError::Open(_))), "{error}");
            let found = run(Device::auto()).unwrap();
            let reason = &found.fallback().unwrap().reason;
            assert!(!reason.contains("kernel"), "{reason}");
        }
    }
    let several = run(Device::gpus([0, 1]).unwrap()).unwrap_err();
    assert!(matches!(several, AnalyseError::SeveralGpus), "{several}");
    let compressed = StoredGraph::copied((&graph).into(), Storage::Compressed).unwrap();
    let run = |device| analyse(compressed.view(), "lcc").unwrap().device(device).run();
    assert!(run(Device::cuda(0)).unwrap_err().to_string().contains("compressed"));
    assert_eq!(run(Device::auto()).unwrap().device(), "cpu");
}

/// Values of compressed lists are those of plain ones, bit by bit, for every analysis.
#[test]
fn storage_does_not_change_a_value() {
    // Scattered edges and a cycle, with weights that differ.
    let edges = (0..400_u64).flat_map(|v| {
        [(v, v * v % 397, 1.0 + (v % 7) as f64), (v, (v + 1) % 400, 2.0), (v / 9, v, 0.5)]
    });
    let graph = graph_from_edges(edges).unwrap();
    let compressed = StoredGraph::copied((&graph).into(), Storage::Compressed).unwrap();
    assert!(graph.is_weighted());
    for name in AnalysisName::ALL {
        for lengths in [Lengths::Hops, Lengths::Weights] {
            let run = |graph: GraphView<'_>| {
                let run = analyse(graph, name.as_str()).unwrap().device(Device::cpu());
                let found = run.lengths(lengths).run().unwrap();
                let of_vertices: Vec<_> = found.by_vertex().map_or_else(
                    |_| Vec::new(),
                    |values| values.map(|(id, value)| (id.to_string(), value.to_bits())).collect(),
                );
                let edges = found.edges().map(|ends| ends.map(<[_]>::to_vec));
                (bits(found.columns()), of_vertices, edges)
            };
            assert_eq!(run((&graph).into()), run(compressed.view()), "{name} by {lengths:?}");
        }
    }
}

/// The columns, with the bits of each number.
fn bits(columns: &[(&'static str, Column)]) -> Vec<(&'static str, Vec<u64>)> {
    let bits = |column: &Column| match column {
        Column::U32(values) => values.iter().copied().map(u64::from).collect(),
        Column::U64(values) => values.clone(),
        Column::F64(values) => values.iter().map(|value| value.to_bits()).collect(),
        Column::Bool(values) => values.iter().copied().map(u64::from).collect(),
    };
    columns.iter().map(|(name, column)| (*name, bits(column))).collect()
}

#[test]
fn values_are_those_of_the_analysis() {
    let graph = graph();
    let found = analyse(&graph, "betweenness").unwrap().device(Device::cpu()).run().unwrap();
    let values: Vec<f64> = found.by_vertex().unwrap().map(|(_, value)| value).collect();
    assert_eq!(values, betweenness(&graph, false, Lengths::Hops, &mut ()).unwrap());
    let found = analyse(&graph, "pagerank").unwrap().device(Device::auto()).run().unwrap();
    let values: Vec<f64> = found.by_vertex().unwrap().map(|(_, value)| value).collect();
    assert_eq!(values, PageRank::default().run(&graph, &mut ()).unwrap().ranks);
    let reason = found.fallback().unwrap().to_string();
    assert!(reason.starts_with("running on the CPU: "), "{reason}");

    let found = analyse(&graph, "components").unwrap().device(Device::cpu()).run().unwrap();
    let named: Vec<_> = found.by_vertex().unwrap().map(|(id, of)| (id.to_string(), of)).collect();
    assert_eq!(named[2], ("cid".to_string(), 0.0));
    assert_eq!(named[4], ("eve".to_string(), 3.0));
    let found = analyse(&graph, "edge-betweenness").unwrap().device(Device::cpu()).run().unwrap();
    assert_eq!(found.edges().unwrap(), [[0, 1, 3], [1, 2, 4]]);
    let error = found.by_vertex().err().unwrap();
    assert!(matches!(error, AnalyseError::NotByVertex));
}

/// A GPU reads plain lists, so that compressed ones are the CPU's.
#[test]
fn compressed_lists_are_not_decoded_for_a_gpu() {
    let graph = graph();
    let compressed = StoredGraph::copied((&graph).into(), Storage::Compressed).unwrap();
    let run = |device| analyse(compressed.view(), "closeness").unwrap().device(device);
    let (plan, device) = run(Device::auto()).plan(1).unwrap();
    assert_eq!((plan.graph_host, &*device), (compressed.view().bytes(), "cpu"));
    let found = run(Device::auto()).run().unwrap();
    assert!(found.fallback().unwrap().reason.contains("plain lists"));
    for refused in
        [run(Device::cuda(0)).run().err(), run(Device::auto()).device_memory(9).run().err()]
    {
        assert!(refused.unwrap().to_string().contains("those of the graph are compressed"));
    }
    // What no GPU has a kernel for is the CPU's for that reason.
    let ranks = || analyse(compressed.view(), "pagerank").unwrap();
    let found = ranks().run().unwrap();
    assert!(found.fallback().unwrap().reason.contains("no kernel for PageRank"));
    for refused in [ranks().device(Device::cuda(0)).run(), ranks().device_memory(9).run()] {
        assert!(refused.err().unwrap().to_string().contains("no kernel for PageRank"));
    }
}

/// The closeness of chosen vertices is that of all, with its ids; a GPU by name, other choices and samples are refused.
#[test]
fn closeness_of_chosen_vertices_is_that_of_all() {
    let graph = graph_from_edges((0..600_u64).map(|v| (v, (v * 7 + 1) % 600))).unwrap();
    let some = || Sources::new(600, [5, 6, 99, 599]).unwrap();
    for name in ["closeness", "harmonic"] {
        let run = || analyse(&graph, name).unwrap().device(Device::cpu());
        let all: Vec<_> = run().run().unwrap().by_vertex().unwrap().collect();
        let found = run().vertices(some()).run().unwrap();
        let found: Vec<_> = found.by_vertex().unwrap().collect();
        assert_eq!(found, [5, 6, 99, 599].map(|vertex| all[vertex]));
        let (plan, device) = run().vertices(some()).plan(4).unwrap();
        assert!(plan.items.iter().any(|item| item.purpose == "chosen vertices"));
        assert_eq!(device, "cpu");
        let refused = |run: AnalysisRun<'_>, reason: &str| {
            let error = run.run().err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        };
        refused(run().vertices(some()).device(Device::cuda(0)), "closeness of chosen vertices");
        refused(run().vertices(some()).sources(some()), "only distances are searched");
    }
    let sample = Some(Sample { vertices: 9, seed: 1 });
    let sampled = Analysis::closeness(Closeness::Harmonic, false, Lengths::Hops, sample);
    let error = AnalysisRun::new(&graph, sampled).vertices(some()).run().err().unwrap();
    assert!(error.to_string().contains("only closeness by all distances"), "{error}");
}

/// Distances from chosen vertices have the rows of all pairs, however many are passed on at once.
#[test]
fn distances_from_sources_are_rows_of_all_pairs() {
    // More pairs than are passed on at once.
    let edges = (0..600_u64).flat_map(|v| [(v, (v * 7 + 1) % 600), (v, (v + 1) % 600)]);
    let graph = graph_from_edges(edges).unwrap();
    let run = || analyse(&graph, "distances").unwrap().device(Device::cpu());
    let Column::F64(all) = run().run().unwrap().columns()[0].1.clone() else { panic!("distances") };
    let every: Vec<u32> = (0..500).chain((500..600).step_by(2)).collect();
    for sources in [every, vec![599], vec![]] {
        let expected: Vec<f64> = sources
            .iter()
            .flat_map(|&source| all[source as usize * 600..][..600].to_vec())
            .collect();
        let found = run().sources(Sources::new(600, sources).unwrap()).run().unwrap();
        let found = found.columns().iter().map(|(_, column)| column.clone());
        let found: Vec<Column> = found.collect();
        match expected.is_empty() {
            true => assert!(found.is_empty()),
            false => assert!(found == [Column::F64(expected)]),
        }
    }
    let (plan, _) = run().sources(Sources::new(600, [3]).unwrap()).plan(4).unwrap();
    assert!(
        plan.items
            .iter()
            .any(|item| item.purpose == "rows to be passed on" && item.bytes == 8 * 600)
    );
    let of_some = run().vertices(Sources::new(600, [3]).unwrap()).run();
    assert!(of_some.err().unwrap().to_string().contains("only closeness by all distances"));
    let jumps = || Jumps::to(600, [(0, 1.0)]).unwrap();
    let both = run().sources(Sources::new(600, [3]).unwrap()).personalize(jumps()).run();
    assert!(both.err().unwrap().to_string().contains("only PageRank has walks"));
}

/// Observer that keeps the plans, and allows the run or not.
#[derive(Default)]
struct Plans {
    seen: Vec<(u64, String)>,
    refuses: bool,
    failures: usize,
}

impl Observer for Plans {}

impl AnalysisObserver for Plans {
    fn allows(&mut self, plan: &Plan, device: &str) -> bool {
        self.seen.push((plan.total_host(), device.into()));
        !self.refuses
    }

    fn on_failure(&mut self, comm: &SharedComm, error: &AnalyseError) {
        ().on_failure(comm, error);
        self.failures += 1;
    }
}

#[test]
fn an_observer_sees_the_plan_and_may_refuse_it() {
    let graph = graph();
    let run = analyse(&graph, "harmonic").unwrap().device(Device::cpu());
    let (plan, _) = run.plan(rayon::current_num_threads()).unwrap();
    let mut plans = Plans::default();
    let found = run.run_with(&mut plans).unwrap();
    assert_eq!(plans.seen, [(plan.total_host(), "cpu".to_string())]);
    assert_eq!(found.report().plan, plan);
    let mut plans = Plans { refuses: true, ..Plans::default() };
    let never = |_: Part<'_>, _: &[ColumnData<'_>]| panic!("a row of a run that was refused");
    let refused = run.rows_with(&mut plans, never).unwrap_err();
    assert!(matches!(refused, AnalyseError::Refused), "{refused}");
}

/// Rows are those of the whole run, in parts that are small, and an error of their receiver ends the run.
#[test]
fn rows_are_passed_as_they_are_computed() {
    let graph = graph_from_edges((0..600_u64).map(|v| (v, (v * 7 + 1) % 600))).unwrap();
    for name in AnalysisName::ALL {
        let run = analyse(&graph, name.as_str()).unwrap().device(Device::cpu());
        let whole = run.run().unwrap();
        let (mut parts, mut values) = (0, Vec::new());
        let report = run.rows_with(&mut (), |part, columns| {
            parts += 1;
            if let Part::Components { components, .. } = part {
                values.extend(components.iter().map(|&component| f64::from(component)));
            }
            if let Some(ColumnData::F64(more)) = columns.first() {
                assert!(more.len() <= 1 << 18);
                values.extend_from_slice(more);
            }
            Ok(())
        });
        assert_eq!(report.unwrap().device, "cpu");
        assert_eq!(parts > 1, name == AnalysisName::Distances, "{name}");
        let (_, expected) = &whole.columns()[0];
        if let Column::F64(_) = expected {
            let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
            assert_eq!(bits, self::bits(&[("", expected.clone())])[0].1, "{name}");
        }
        let failed = run.rows_with(&mut (), |_, _| Err(SwarmError::Cancelled)).unwrap_err();
        assert!(matches!(failed, AnalyseError::Run(SwarmError::Cancelled)), "{failed}");
    }
}

#[test]
fn a_device_is_opened_before_the_graph() {
    let graph = graph();
    let closeness = AnalysisName::Closeness.analysis(Lengths::Hops);
    let open = |scope, device| AnalysisDevice::open(closeness, scope, &device, None);
    let device = open(Scope::All, Device::cpu()).unwrap();
    assert!(!device.is_gpu() && device.fallback().is_none());
    let expected = analyse(&graph, "closeness").unwrap().device(Device::cpu()).run().unwrap();
    let run = AnalysisRun::on(device, &graph);
    assert_eq!(run.run().unwrap().columns(), expected.columns());
    // The choice of other lengths is not lost.
    let weighted = graph_from_edges([(1, 2, 2.0), (2, 3, 4.0)]).unwrap();
    let device = open(Scope::All, Device::cpu()).unwrap();
    let found = AnalysisRun::on(device, &weighted).lengths(Lengths::Weights).run().unwrap();
    assert_eq!(found.columns()[0].1, Column::F64(vec![1.0 / 8.0, 1.0 / 6.0, 1.0 / 10.0]));
    // What no GPU has a kernel for is refused, or left to the CPU, before there is a graph.
    let refused = open(Scope::Chosen, Device::cuda(0)).unwrap_err();
    assert!(refused.to_string().contains("no kernel for closeness of chosen vertices"));
    let device = open(Scope::Chosen, Device::auto()).unwrap();
    let reason = device.fallback().unwrap();
    assert!(reason.is_usual && reason.reason.contains("closeness of chosen vertices"));
    let some = Sources::new(5, [1]).unwrap();
    let found = AnalysisRun::on(device, &graph).vertices(some).run().unwrap();
    assert_eq!(found.fallback(), Some(&reason));
}

#[test]
fn coefficients_have_figures() {
    let graph = graph_from_edges([(1, 2), (2, 3), (3, 1), (3, 4)]).unwrap();
    let found = analyse(&graph, "lcc").unwrap().device(Device::cpu()).run().unwrap();
    let mean = (1.0 + 1.0 + 1.0 / 3.0) / 4.0;
    assert_eq!(found.report().clustering, Some(Clustering { triangles: 1, mean }));
    let found = analyse(&graph, "kcore").unwrap().device(Device::cpu()).run().unwrap();
    assert_eq!(found.report().clustering, None);
}

/// Each rank has the values of one process, also with vertices that are divided in another way, and knows its messages.
#[test]
fn ranks_share_a_run() {
    let graph =
        graph_from_edges((0..300_u64).flat_map(|v| [(v, v * v % 299), (v, v / 2)])).unwrap();
    let parts = Parts::of_bounds(vec![0, 64, 64, graph.vertices()]).unwrap();
    for name in ["pagerank", "components", "lcc"] {
        let run = || analyse(&graph, name).unwrap().device(Device::cpu());
        let alone = run().run().unwrap();
        let shared = Threads::run(3, Duration::from_secs(10), |comm| {
            let comm = Arc::new(Mutex::new(comm));
            let (plan, device) = run().ranks(comm.clone()).plan(1).unwrap();
            assert!(plan.graph_host > 0 && device == "cpu");
            let mut plans = Plans::default();
            let found = run().ranks_with_parts(comm, parts.clone()).run_with(&mut plans).unwrap();
            assert_eq!((plans.seen.len(), plans.failures), (1, 0));
            found
        });
        for found in shared {
            assert_eq!(found.columns(), alone.columns(), "{name}");
            assert!(found.report().traffic.unwrap().calls > 0);
            assert_eq!(found.report().clustering, alone.report().clustering);
        }
    }
    let shared = Threads::run(2, Duration::from_secs(10), |comm| {
        let jumps = Jumps::to(graph.vertices(), [(comm.rank() as u32, 1.0)]).unwrap();
        let run = analyse(&graph, "pagerank").unwrap().personalize(jumps);
        let mut plans = Plans::default();
        let error = run.ranks(Arc::new(Mutex::new(comm))).run_with(&mut plans).unwrap_err();
        assert_eq!((plans.seen.len(), plans.failures), (0, 1));
        error
    });
    for error in shared {
        assert!(matches!(error, AnalyseError::Ranks(RunError::RanksDiffer { rank: 1 })), "{error}");
    }
    // What is not shared is refused without a message, and with no failure that others wait for.
    let refused = Threads::run(2, Duration::from_secs(10), |comm| {
        let mut plans = Plans::default();
        let run = analyse(&graph, "kcore").unwrap().ranks(Arc::new(Mutex::new(comm)));
        let error = run.run_with(&mut plans).unwrap_err();
        assert_eq!((plans.seen.len(), plans.failures), (0, 0));
        error
    });
    assert!(refused.iter().all(|error| matches!(error, AnalyseError::Run(SwarmError::NotOnRanks))));
    let on_gpu: [fn(AnalysisRun<'_>) -> AnalysisRun<'_>; 2] =
        [|run| run.device(Device::cuda(0)), |run| run.device_memory(9)];
    for on_gpu in on_gpu {
        let refused = Threads::run(2, Duration::from_secs(10), |comm| {
            let run = on_gpu(analyse(&graph, "pagerank").unwrap());
            run.ranks(Arc::new(Mutex::new(comm))).run().err()
        });
        assert!(refused.iter().all(|error| matches!(error, Some(AnalyseError::GpuOnRanks))));
    }
}
