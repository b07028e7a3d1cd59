//! Progress, cancellation and stop reasons of a run.

use super::graphs::Edges;
use super::machines::run;
use super::oracle::Oracle;
use ripplet_analytics::AnalysisError;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_generate::Rmat;
use ripplet_graph::{Graph, GraphBuilder, Observer};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

fn rmat() -> Graph {
    GraphBuilder::new().build(Rmat::new(12).generate().unwrap()).unwrap()
}

/// An observer that records progress and cancels after a number of queries.
struct Watch {
    patience: usize,
    asked: AtomicUsize,
    stages: Vec<&'static str>,
    progress: Mutex<Vec<f64>>,
}

impl Watch {
    fn new(patience: usize) -> Watch {
        let (asked, progress) = (AtomicUsize::new(0), Mutex::default());
        Watch { patience, asked, stages: Vec::new(), progress }
    }
}

impl Observer for Watch {
    fn on_stage(&mut self, name: &'static str) {
        self.stages.push(name);
    }

    fn on_progress(&self, done: f64) {
        self.progress.lock().unwrap().push(done);
    }

    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Relaxed) >= self.patience
    }
}

#[test]
fn a_run_can_be_ended_at_any_time() {
    let graph = rmat();
    let mut watch = Watch::new(usize::MAX);
    let lcc = Lcc::new(Definition::Ldbc);
    lcc.run(&graph, &mut watch).unwrap();
    let asked = watch.asked.load(Relaxed);
    assert!(asked > 100, "{asked}");
    for patience in [0, 1, asked / 4, asked / 2, asked * 3 / 4, asked - 1] {
        let mut watch = Watch::new(patience);
        assert_eq!(lcc.run(&graph, &mut watch), Err(AnalysisError::Cancelled), "after {patience}");
    }
}

#[test]
fn a_run_says_what_it_does_and_how_far_it_is() {
    let mut watch = Watch::new(usize::MAX);
    Lcc::new(Definition::Ldbc).run(&rmat(), &mut watch).unwrap();
    assert_eq!(watch.stages, ["ranking vertices by degree", "counting triangles"]);
    let progress = watch.progress.into_inner().unwrap();
    assert!(progress.len() > 10 && progress.iter().all(|done| (0.0..=1.0).contains(done)));
    assert_eq!(progress.into_iter().fold(0.0, f64::max), 1.0);
}

#[test]
fn triangles_are_given_where_they_are_asked_for() {
    for directed in [false, true] {
        let graph = Edges { directed, ..Edges::undirected(3, [(0, 1), (1, 2), (2, 0)]) }.graph();
        let without = Lcc::new(Definition::Ldbc).run(&graph, &mut ()).unwrap();
        assert_eq!((without.triangles, without.triangle_count), (None, 1));
        let found = run(&graph, Definition::Ldbc, 1);
        assert_eq!((found.triangles, found.triangle_count), (Some(vec![1; 3]), 1));
        assert_eq!(found.coefficients, without.coefficients);
    }
}

#[test]
fn a_graph_of_hubs_is_the_oracles_whatever_the_threads() {
    // Lists of very different lengths, so that every intersection algorithm is used.
    let table = Rmat { edge_factor: 12, ..Rmat::new(9) }.generate().unwrap();
    let pairs = table.sources().iter().copied().zip(table.targets().iter().copied());
    let edges = Edges::directed(512, pairs);
    let oracle = Oracle::new(&edges);
    for definition in [Definition::Ldbc, Definition::Fagiolo] {
        let expected = oracle.coefficients(definition);
        for threads in [1, 2, 7] {
            let found = run(&edges.graph(), definition, threads);
            assert!(found.coefficients == expected, "{definition:?}, {threads} threads");
            assert_eq!(found.triangles.unwrap(), oracle.triangles());
        }
    }
}

#[test]
fn means_do_not_depend_on_threads() {
    let graph = rmat();
    let means = [1, 2, 7].map(|threads| run(&graph, Definition::Ldbc, threads).mean().to_bits());
    assert!(means[0] == means[1] && means[1] == means[2]);
    assert!(f64::from_bits(means[0]) > 0.0);
}
