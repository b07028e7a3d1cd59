//! Communities by one expression, and graphs of a program's own edges.

use ripplet::communities::{Communities, CommunitiesError, CommunitySearch};
use ripplet::device::AnyExecutor;
use ripplet::graph::compressed::CompressedGraph;
use ripplet::graph::{Graph, GraphView};
use ripplet::io::write::write_graph;
use ripplet::lp::cpu::CpuExecutor;
use ripplet::lp::programs::{Cdlp, Llp, Lpa, Seed, SeedError, Seeding, Slpa};
use ripplet::lp::refine::{MergeShare, Objective, Resolution};
use ripplet::lp::small::MinSize;
use ripplet::lp::{Counter, Executor, NO_LABEL, RunError, Schedule, Settings, Sketch, Stop};
use ripplet::programs::{BuiltIn, ProgramError, ProgramName};
use ripplet::ranks::{CommError, Hosts, Threads};
use ripplet::{Device, GraphError, LoadOptions, Storage, communities, graph_from_edges};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Two triangles with one edge between them.
const BRIDGED: [(&str, &str); 7] = [
    ("eve", "fay"),
    ("ann", "bob"),
    ("fay", "dan"),
    ("bob", "cid"),
    ("cid", "ann"),
    ("dan", "eve"),
    ("cid", "dan"),
];

fn bridged() -> Graph {
    graph_from_edges(BRIDGED).unwrap()
}

fn ids<'a>(ids: impl Iterator<Item = ripplet::graph::ExternalId<'a>>) -> Vec<String> {
    ids.map(|id| id.to_string()).collect()
}

#[test]
fn members_have_the_ids_of_the_edges() {
    let graph = bridged();
    let found = communities(&graph).device(Device::cpu()).run().unwrap();
    let listed: Vec<(String, Vec<String>)> = found
        .iter()
        .map(|community| (community.id().to_string(), ids(community.members())))
        .collect();
    let expected = [
        ("ann".to_string(), ["ann", "bob", "cid"].map(String::from).to_vec()),
        ("dan".to_string(), ["dan", "eve", "fay"].map(String::from).to_vec()),
    ];
    assert_eq!(listed, expected);
    let of_eve: Vec<_> = found.of("eve").unwrap().collect();
    assert_eq!((of_eve.len(), of_eve[0].id().to_string()), (1, "dan".to_string()));
    let unknown = found.of("gil").err().unwrap();
    assert_eq!(unknown.to_string(), "the graph has no vertex gil");
    assert_eq!((found.device(), found.fallback()), ("cpu", None));
    assert_eq!(found.summary().unwrap().communities, 2);
    assert_eq!(found.by_size().len(), (&found).into_iter().len());
}

/// Runs each of two ranks with its choices.
fn ranks<'g>(
    choose: impl Fn(usize) -> CommunitySearch<'g> + Sync,
) -> Vec<Result<Communities<'g>, CommunitiesError>> {
    Threads::run(2, Duration::from_secs(20), |comm| {
        let rank = comm.rank();
        choose(rank).ranks(Arc::new(Mutex::new(comm))).run()
    })
}

#[test]
fn ranks_on_a_machine_divide_its_cores() {
    let graph = bridged();
    let plans = Threads::run(2, Duration::from_secs(20), |mut comm| {
        let share = Hosts::gather(&mut comm).unwrap().share_of(comm.rank());
        assert_eq!(share.ranks, 2);
        let search = communities(&graph).ranks(Arc::new(Mutex::new(comm)));
        let of = |search: CommunitySearch<'_>| search.plan().unwrap().total_host();
        let [default, of_share, of_more] = [
            of(search.clone()),
            of(search.clone().threads(share.threads)),
            of(search.threads(2 * share.threads)),
        ];
        (default == of_share, default < of_more)
    });
    assert_eq!(plans, [(true, true); 2]);
}

#[test]
fn ranks_load_their_parts_and_find_the_communities_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let rows: String =
        (0..90).map(|v| format!("{v},{}\n{v},{}\n", v * 7 % 90, (v + 1) % 90)).collect();
    std::fs::write(path("g.csv"), &rows).unwrap();
    std::fs::write(path("other.csv"), rows + "0,45\n").unwrap();
    let options = LoadOptions::default();
    for name in ["g", "other"] {
        let graph = ripplet::load(&path(&format!("{name}.csv")), &options).unwrap();
        write_graph(&graph, &path(&format!("{name}.rg")), None).unwrap();
    }
    let graph = ripplet::load(&path("g.csv"), &options).unwrap();
    let whole = communities(&graph).run().unwrap();
    let on_parts = |files: [&str; 2], choose: fn(CommunitySearch<'_>) -> CommunitySearch<'_>| {
        Threads::run(2, Duration::from_secs(20), |mut comm| {
            let file = path(files[comm.rank()]);
            let part = options.load_part(&file, &mut comm, true).map_err(|e| e.to_string())?;
            let search = communities(&part.graph);
            let search = search.ranks_with_parts(Arc::new(Mutex::new(comm)), part.parts);
            let found = choose(search).run().map_err(|error| error.to_string())?;
            Ok::<_, String>(found.labels().to_vec())
        })
    };
    fn same(search: CommunitySearch<'_>) -> CommunitySearch<'_> {
        search
    }
    fn join(search: CommunitySearch<'_>) -> CommunitySearch<'_> {
        search.min_size(MinSize::Join(3))
    }
    for name in ["g.csv", "g.rg"] {
        for labels in on_parts([name; 2], same) {
            assert_eq!(labels.unwrap(), whole.labels(), "{name}");
        }
    }
    let errors = |files, choose| -> Vec<String> {
        on_parts(files, choose).into_iter().map(|found| found.unwrap_err()).collect()
    };
    let differs = "rank 1 has a part of another graph than rank 0";
    assert_eq!(errors(["g.rg", "other.rg"], same), [differs; 2]);
    assert_eq!(
        errors(["g.csv", "other.csv"], same),
        ["rank 1 has other input files than rank 0"; 2]
    );
    let [first, second] = &errors(["g.rg", "none.rg"], same)[..] else { panic!("two ranks") };
    let failed = "another rank failed to load its part";
    assert!(first == failed && second.contains("none.rg"), "{first}; {second}");
    let no_parts = errors(["g.gml"; 2], same);
    assert!(no_parts.iter().all(|error| error.contains("only tables of edges and .rg")));
    let joined = errors(["g.rg"; 2], join);
    assert!(joined.iter().all(|error| error.contains("not possible on parts of a graph")));
}

#[test]
fn an_executor_that_has_chosen_labels_plans_them_and_sends_less() {
    let graph = bridged();
    let (program, settings) = (Lpa::default(), BuiltIn::from(ProgramName::Lpa).settings());
    let found = Threads::run(2, Duration::from_secs(20), |comm| {
        let comm = Arc::new(Mutex::new(comm));
        let executor = AnyExecutor::of_rank(Some(1), comm.clone()).unwrap();
        let chosen = executor.choosing_rank_labels(&graph, &program, &settings).unwrap();
        let (chosen, labels) = chosen.unwrap();
        let set = AnyExecutor::of_rank(Some(1), comm.clone()).unwrap().with_rank_labels(labels);
        let plan = |executor: &AnyExecutor| executor.plan(&graph, &program, &settings).total_host();
        assert_eq!(plan(&chosen), plan(&set));
        assert!(plan(&chosen) <= plan(&executor));
        let calls = |executor: &AnyExecutor| {
            let calls = || comm.lock().unwrap().traffic().calls;
            let before = calls();
            let found = executor.run(&graph, &program, &settings, &mut ()).unwrap();
            (found.labels, calls() - before)
        };
        let [(labels, more), (of_chosen, fewer)] = [calls(&executor), calls(&chosen)];
        (labels == of_chosen, more - fewer)
    });
    assert_eq!(found, [(true, 1); 2]);
    let cpu = AnyExecutor::cpu(Some(1)).unwrap();
    assert!(cpu.choosing_rank_labels(&graph, &program, &settings).unwrap().is_none());
}

#[test]
fn ranks_find_the_communities_of_one_process_or_all_say_why_not() {
    let (graph, other) = (bridged(), graph_from_edges([("ann", "bob"), ("eve", "fay")]).unwrap());
    let alone = communities(&graph).device(Device::cpu()).run().unwrap();
    for found in ranks(|_| communities(&graph).threads(1)) {
        assert_eq!(found.unwrap().outcome().labels, alone.outcome().labels);
    }
    for found in ranks(|rank| communities(if rank == 0 { &graph } else { &other })) {
        let differ = CommunitiesError::Run(RunError::RanksDiffer { rank: 1 });
        assert_eq!(found.err().unwrap().to_string(), differ.to_string());
    }
    // One rank refuses its choice, and the other one's run ends.
    let modularity = Objective::Modularity(Resolution::Auto);
    let mixed = ranks(|rank| match rank {
        0 => communities(&graph),
        _ => communities(&graph).refine(modularity),
    });
    let [first, second] = &mixed[..] else { panic!("two ranks") };
    assert!(matches!(second, Err(CommunitiesError::NotOnRanks("refinement"))));
    assert!(matches!(
        first,
        Err(CommunitiesError::Run(RunError::Ranks(
            CommError::Failed { .. } | CommError::Gone { .. }
        )))
    ));
}

#[test]
fn each_program_by_name_is_the_program_as_a_value() {
    let graph = bridged();
    let cpu = CpuExecutor::new(Some(2)).unwrap();
    for name in ProgramName::ALL.into_iter().filter(|&name| name != ProgramName::Seeded) {
        let found = communities(&graph)
            .program(name.as_str())
            .unwrap()
            .device(Device::cpu())
            .threads(2)
            .run()
            .unwrap();
        let settings = Settings {
            schedule: name.schedule(),
            stop: name.stop(),
            keep_disconnected: name.keeps_disconnected(),
            ..Settings::default()
        };
        let expected = match name {
            ProgramName::Lpa => cpu.run(&graph, &Lpa::default(), &settings, &mut ()),
            ProgramName::Cdlp => cpu.run(&graph, &Cdlp, &settings, &mut ()),
            ProgramName::Llp => {
                let gamma = ripplet::lp::programs::Gamma::ONE;
                cpu.run(&graph, &Llp::new(gamma), &settings, &mut ())
            }
            _ => cpu.run(&graph, &Slpa::default(), &settings, &mut ()),
        };
        assert_eq!(found.labels(), expected.unwrap().labels, "{name}");
        let given = communities(&graph).built_in(name.into()).device(Device::cpu()).run().unwrap();
        assert_eq!(given.labels(), found.labels(), "{name}");
    }
    let own = communities(&graph).own_program(Lpa::default()).device(Device::cpu());
    let boxed = communities(&graph).own_boxed(Lpa::default().into()).device(Device::cpu());
    assert_eq!(own.run().unwrap().labels(), boxed.run().unwrap().labels());
}

#[test]
fn choices_at_run_time_do_not_change_a_deterministic_result() {
    let graph = bridged();
    let compressed = CompressedGraph::of(graph.clone()).unwrap();
    let expected = communities(&graph).device(Device::cpu()).run().unwrap();
    for storage in [Storage::Plain, Storage::Compressed] {
        for threads in [1, 3] {
            let search = communities(&compressed).storage(storage).threads(threads);
            let found = search.device(Device::auto()).run().unwrap();
            assert_eq!(found.labels(), expected.labels(), "{storage} {threads}");
        }
    }
    let stopped = communities(&graph).device(Device::cpu()).stop(Stop::after(1)).run().unwrap();
    assert_eq!(stopped.outcome().rounds.len(), 1);
    let plan = communities(&graph).device(Device::cpu()).schedule(Schedule::sync()).plan();
    assert!(plan.unwrap().algorithm_host() > 0);
}

#[test]
fn overlapping_communities_and_seeds_have_strengths() {
    let graph = bridged();
    let search = communities(&graph).program("slpa").unwrap().parameter("threshold", 0.01).unwrap();
    let found = search.device(Device::cpu()).run().unwrap();
    let mut memberships = 0;
    for community in &found {
        let strengths = community.strengths().unwrap();
        assert_eq!(strengths.len(), community.len());
        assert!(strengths.iter().all(|&share| share > 0.0 && share <= 1.0));
        memberships += community.len();
        for member in community.members() {
            let mut of_member = found.of(member).unwrap();
            assert!(of_member.any(|other| other.label() == community.label()));
        }
    }
    assert!(memberships >= 6);

    let vertex = graph.ids().find("ann".into()).unwrap();
    let seed = Seed { vertex, label: vertex, strength: 1.0 };
    let seeded = || communities(&graph).program("seeded").unwrap().device(Device::cpu());
    let search = seeded().parameter("attenuation", 0.5).unwrap();
    let found = search.seeds([seed], Seeding::Fixed).run().unwrap();
    let only = found.iter().next().unwrap();
    assert_eq!((found.len(), only.len(), only.id().to_string()), (1, 6, "ann".to_string()));
    assert_eq!(only.strengths().unwrap(), [1.0, 0.5, 0.5, 0.25, 0.125, 0.125]);

    assert!(matches!(seeded().run(), Err(CommunitiesError::NoSeeds)));
    let twice = seeded().seeds([seed, seed], Seeding::Fixed).run();
    assert!(matches!(twice, Err(CommunitiesError::Seed(SeedError::Twice { .. }))));
    let bad = BuiltIn::Seeded { attenuation: 0.0 };
    let bad = seeded().built_in(bad).seeds([seed], Seeding::Fixed).run();
    assert!(matches!(bad, Err(CommunitiesError::Attenuation(_))));
    let unused = communities(&graph).device(Device::cpu()).seeds([seed], Seeding::Fixed).run();
    assert!(matches!(unused, Err(CommunitiesError::UnusedSeeds(_))));
}

#[test]
fn choices_that_do_not_fit_are_refused() {
    let graph = bridged();
    let unknown = communities(&graph).program("louvain").err().unwrap();
    assert!(matches!(unknown, ProgramError::NoProgram(_)));
    let lpa = communities(&graph).parameter("gamma", 1).err().unwrap();
    assert_eq!(lpa.to_string(), "lpa has no parameter gamma");
    let own = communities(&graph).own_program(Cdlp).parameter("guard", 1).err().unwrap();
    assert!(matches!(own, ProgramError::OwnProgram { .. }));
    let labels = communities(&graph).device(Device::cpu()).initial_labels(vec![0; 3]).run();
    assert!(matches!(labels, Err(CommunitiesError::Run(RunError::Settings(_)))));
    let memory = communities(&graph).device(Device::cpu()).device_memory(1).run();
    assert!(matches!(memory, Err(CommunitiesError::Open(_))));
}

#[test]
fn refinement_refuses_choices_of_label_propagation() {
    let graph = bridged();
    let refined = || {
        communities(&graph).refine(Objective::Modularity(Resolution::Auto)).device(Device::cpu())
    };
    assert_eq!(refined().merge(None).run().unwrap().len(), 2);
    for search in [
        refined().merge(Some(MergeShare::default())),
        refined().schedule(Schedule::sync()),
        refined().stop(Stop::after(3)),
        refined().keep_disconnected(true),
    ] {
        assert!(matches!(search.run(), Err(CommunitiesError::UnusedByRefinement(_))));
    }
}

#[test]
fn label_propagation_refuses_choices_of_refinement() {
    let graph = bridged();
    let one = Objective::Modularity(Resolution::Fixed(1.0));
    let search = || communities(&graph).device(Device::cpu());
    for search in [search().fixed([0]), search().max_size(2.try_into().unwrap())] {
        assert!(matches!(search.run(), Err(CommunitiesError::OnlyForRefinement(_))));
        assert!(matches!(search.plan(), Err(CommunitiesError::OnlyForRefinement(_))));
        assert!(search.refine(one).run().unwrap().len() > 1);
    }
    let limited = search().refine(one).max_size(2.try_into().unwrap()).run().unwrap();
    assert!(limited.iter().all(|community| community.len() <= 2));
}

#[test]
fn an_empty_graph_has_no_communities() {
    let graph = graph_from_edges(Vec::<(u32, u32)>::new()).unwrap();
    let found = communities(&graph).device(Device::cpu()).run().unwrap();
    assert!(found.is_empty() && found.iter().next().is_none());
    assert!(found.of(0_u32).is_err());
}

#[test]
fn bad_edges_are_refused() {
    let error = graph_from_edges([(1_u64, 2_u64, 1.0), (2, 3, f64::NAN)]).unwrap_err();
    assert!(error.to_string().starts_with("edge 1 has weight NaN"), "{error}");
    // The unit of 32-bit weights cannot hold both.
    let error = graph_from_edges([(1, 2, 1e298), (2, 3, 1e-300)]).unwrap_err();
    assert!(matches!(error, GraphError::Build(_)), "{error}");
}

#[test]
fn communities_are_values_of_serde() {
    let graph = graph_from_edges([(7_u64, 900_u64), (900, 12)]).unwrap();
    let found = communities(&graph).program("cdlp").unwrap().device(Device::cpu()).run().unwrap();
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["device"], "cpu");
    assert_eq!(json["rounds"], found.outcome().rounds.len());
    let members: usize = json["communities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|community| community["members"].as_array().unwrap().len())
        .sum();
    assert_eq!(members, 3);
    let graph = bridged();
    let found = communities(&graph).device(Device::cpu()).run().unwrap();
    let json = serde_json::to_value(found.iter().next().unwrap()).unwrap();
    let expected = serde_json::json!({ "community": "ann", "members": ["ann", "bob", "cid"] });
    assert_eq!(json, expected);
}

/// Cliques of 5 and 3 with an edge between them, and a pair apart.
fn of_sizes() -> Graph {
    let clique = |of: std::ops::Range<u64>| {
        of.clone().flat_map(move |a| (a + 1..of.end).map(move |b| (a, b))).collect::<Vec<_>>()
    };
    let edges = [clique(0..5), clique(5..8), vec![(4, 5), (8, 9)]].concat();
    graph_from_edges(edges).unwrap()
}

/// The sizes of communities, the largest first.
fn sizes(found: &Communities<'_>) -> Vec<usize> {
    found.by_size().iter().map(|community| community.len()).collect()
}

#[test]
fn small_communities_are_left_out_or_join_others() {
    let graph = of_sizes();
    let search = || communities(&graph).device(Device::cpu());
    assert_eq!(sizes(&search().run().unwrap()), [5, 3, 2]);
    let dropped = search().min_size(MinSize::Drop(4)).run().unwrap();
    assert_eq!(sizes(&dropped), [5]);
    assert_eq!(dropped.of(6_u32).unwrap().count(), 0);
    assert_eq!(sizes(&search().min_size(MinSize::Join(4)).run().unwrap()), [8]);
    let refined = search().refine(Objective::Modularity(Resolution::Fixed(1.0)));
    assert_eq!(sizes(&refined.clone().run().unwrap()), [5, 3, 2]);
    assert_eq!(sizes(&refined.min_size(MinSize::Drop(3)).run().unwrap()), [5, 3]);

    let slpa = || search().program("slpa").unwrap().min_size(MinSize::Drop(3));
    let all = search().program("slpa").unwrap().run().unwrap();
    let expected: Vec<usize> = sizes(&all).into_iter().filter(|&size| size >= 3).collect();
    assert!(expected.len() < all.len());
    assert_eq!(sizes(&slpa().run().unwrap()), expected);
    let refused = slpa().min_size(MinSize::Join(3)).run();
    assert!(matches!(refused, Err(CommunitiesError::JoinOverlapping(_))));
    // Labels are of communities that are left: with nothing dropped, the strongest ones as before.
    let kept = slpa().run().unwrap();
    assert!(
        kept.labels()
            .iter()
            .all(|&label| label == NO_LABEL || kept.iter().any(|c| c.label() == label))
    );
    let none = search().program("slpa").unwrap().min_size(MinSize::Drop(1)).run().unwrap();
    assert_eq!(none.labels(), all.labels());

    let one = || search().refine(Objective::Modularity(Resolution::Fixed(1.0)));
    let limited = one().max_size(NonZeroU32::new(4).unwrap());
    assert!(limited.clone().min_size(MinSize::Drop(2)).run().is_ok());
    let refused = limited.min_size(MinSize::Join(2)).run();
    assert!(matches!(refused, Err(CommunitiesError::JoinBeyondMaxSize)));

    let seeds = [0, 8].map(|vertex| Seed { vertex, label: vertex, strength: 1.0 });
    let seeded = || search().program("seeded").unwrap().seeds(seeds, Seeding::Fixed);
    assert_eq!(sizes(&seeded().run().unwrap()), [8, 2]);
    assert_eq!(sizes(&seeded().min_size(MinSize::Drop(3)).run().unwrap()), [8]);
    assert!(seeded().min_size(MinSize::Join(3)).run().is_err());
}

#[test]
fn a_limit_of_host_memory_holds_on_the_cpu_and_finds_the_counter() {
    // A star's centre makes the tables of exact counting large.
    let graph = graph_from_edges((1..60_000_u64).map(|leaf| (0, leaf))).unwrap();
    let search = || {
        let search = communities(&graph).device(Device::cpu()).threads(1).stop(Stop::after(2));
        search.schedule(Schedule::asynchronous()).keep_disconnected(true).merge(None)
    };
    let exact = search().plan().unwrap().total_host();
    let sketch = search().counter(Sketch::of_eight().into()).plan().unwrap().total_host();
    assert!(sketch < exact, "{sketch} {exact}");
    assert!(search().host_memory(exact).run().is_ok());
    match search().host_memory(exact - 1).run() {
        Err(CommunitiesError::HostMemory(error)) => {
            assert_eq!((error.needed, error.limit.bytes()), (exact, exact - 1));
            assert_eq!(error.smaller, Some(Sketch::of_eight().into()));
            assert!(error.to_string().ends_with("or count by mg:8, which fits"), "{error}");
        }
        found => panic!("{:?}", found.err()),
    }
    let refine = search().refine(Objective::Modularity(Resolution::Auto)).host_memory(1000);
    assert!(matches!(refine.clone().run(), Err(CommunitiesError::UnusedByRefinement(_))));

    let planned =
        |limit| search().fitting_counter().host_memory(limit).plan().unwrap().total_host();
    assert_eq!([planned(exact), planned(exact - 1)], [exact, sketch]);
    let chosen = Settings::nu_mg8();
    let replaced = search().fitting_counter().settings(chosen.clone()).run().unwrap();
    assert_eq!(replaced.counter(), chosen.counter);
    let found = search().fitting_counter().host_memory(exact).run().unwrap();
    assert_eq!(found.counter(), Counter::EXACT);
    let found = search().fitting_counter().host_memory(exact - 1).run().unwrap();
    assert_eq!(found.counter(), Sketch::of_eight().into());
    let expected = search().counter(Sketch::of_eight().into()).run().unwrap();
    assert_eq!(found.labels(), expected.labels());
    // A copy in another storage does not take the place of the graph.
    let converted = search().storage(Storage::Compressed);
    let plan = converted.clone().plan().unwrap().total_host();
    let least = plan + GraphView::from(&graph).bytes();
    assert!(converted.clone().host_memory(least).run().is_ok());
    assert!(converted.host_memory(least - 1).run().is_err());
    // Programs that look at every label take no sketch.
    let cdlp =
        communities(&graph).program("cdlp").unwrap().device(Device::cpu()).stop(Stop::after(1));
    let cdlp = cdlp.fitting_counter();
    assert_eq!(cdlp.clone().run().unwrap().counter(), Counter::EXACT);
    assert!(matches!(cdlp.host_memory(1000).run(), Err(CommunitiesError::HostMemory(_))));
    let small = communities(&graph).device(Device::cpu()).host_memory(1000);
    let small = small.refine(Objective::Modularity(Resolution::Auto)).run();
    assert!(matches!(small, Err(CommunitiesError::HostMemory(_))));
}

#[test]
fn a_sweep_has_the_labels_of_its_best_resolution() {
    let graph = of_sizes();
    let search = communities(&graph).device(Device::cpu()).seed(3);
    let swept = search.sweep(6).unwrap();
    assert_eq!(swept.layers.len(), 8);
    let best = swept.layers.iter().max_by(|a, b| {
        a.summary.modularity.total_cmp(&b.summary.modularity).then(std::cmp::Ordering::Greater)
    });
    let alone = search.clone().program("llp").unwrap();
    let alone = alone.parameter("gamma", best.unwrap().gamma).unwrap().run().unwrap();
    assert_eq!(swept.best.labels(), alone.labels());
    let mut places = swept.places.clone();
    places.sort_unstable();
    assert!(places.into_iter().eq(0..10));
    let refine = search.refine(Objective::Modularity(Resolution::Auto)).sweep(6);
    assert!(matches!(refine.err(), Some(CommunitiesError::UnusedByRefinement(_))));
}
