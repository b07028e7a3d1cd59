//! Communities of each graph of a batch.

use super::worker::Watched;
use super::{Answer, SwarmError, Worker};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Observer, OutOfMemory, VertexId, memory};
use ripplet_lp::cpu::{CpuExecutor, ThreadError};
use ripplet_lp::{DynProgram, Executor, Label, NO_LABEL, Plan, RoundObserver, Settings};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::scope;

/// Detects communities by label propagation on the CPU, one thread per graph, as many graphs at a
/// time as there are threads.
///
/// The communities of each graph are those of a run on it alone. A program that leaves a vertex without a
/// label is an error, [`SwarmError::NoLabel`]. Memory: 4 bytes per vertex of the
/// part; and per thread a copy of its graph, and a run on it.
pub struct CommunitiesWorker {
    program: Box<dyn DynProgram>,
    settings: Settings,
    executors: Vec<CpuExecutor>,
}

/// The shared state of a part's threads.
struct Shared<'a, G> {
    /// The graphs that no thread has taken yet, with the output for their communities.
    graphs: Mutex<G>,
    ended: AtomicBool,
    error: Mutex<Option<SwarmError>>,
    observer: &'a dyn Observer,
}

impl CommunitiesWorker {
    /// Creates a worker with this number of threads that runs a program on each graph.
    ///
    /// # Errors
    /// If the system refuses the threads.
    pub fn new(
        program: impl Into<Box<dyn DynProgram>>,
        settings: Settings,
        threads: usize,
    ) -> Result<CommunitiesWorker, ThreadError> {
        let executors =
            (0..threads.max(1)).map(|_| CpuExecutor::new(Some(1))).collect::<Result<_, _>>()?;
        Ok(CommunitiesWorker { program: program.into(), settings, executors })
    }

    /// Returns the memory that the worker needs beside these graphs: per thread that of the largest
    /// graph by vertices and arcs.
    ///
    /// # Errors
    /// If the system refuses a copy of that graph.
    pub fn plan(&self, part: BatchSlice<'_>) -> Result<Plan, OutOfMemory> {
        let plan = Plan { graph_host: part.batch().bytes(), ..Plan::default() }
            .with("communities", part.vertices().saturating_mul(size_of::<VertexId>() as u64));
        let size = |graph: &BatchGraph<'_>| graph.arcs() + u64::from(graph.vertices());
        let (Some(largest), Some(executor)) =
            (part.graphs().max_by_key(size), self.executors.first())
        else {
            return Ok(plan);
        };
        let of_graph = executor.plan(&largest.to_graph()?, &*self.program, &self.settings);
        let threads = self.executors.len() as u64;
        let on_threads = |bytes: u64| bytes.saturating_mul(threads);
        let plan = plan.with("each thread's graph", on_threads(of_graph.graph_host));
        Ok(of_graph
            .items
            .iter()
            .fold(plan, |plan, item| plan.with(item.purpose, on_threads(item.bytes))))
    }

    /// Detects the communities of graphs until none are left.
    fn find<'b>(
        &self,
        executor: &CpuExecutor,
        shared: &Shared<'_, impl Iterator<Item = (BatchGraph<'b>, &'b mut [VertexId])>>,
    ) {
        while !shared.ended.load(Relaxed) {
            let Some((graph, communities)) = lock(&shared.graphs).next() else { break };
            if let Err(error) =
                self.find_of(executor, graph, communities, &mut Watched(shared.observer))
            {
                lock(&shared.error).get_or_insert(error);
                shared.ended.store(true, Relaxed);
            }
        }
    }

    fn find_of(
        &self,
        executor: &CpuExecutor,
        graph: BatchGraph<'_>,
        communities: &mut [Label],
        observer: &mut dyn RoundObserver,
    ) -> Result<(), SwarmError> {
        let graph = graph.to_graph().map_err(ripplet_analytics::AnalysisError::from)?;
        let found = executor.run(&graph, &*self.program, &self.settings, observer)?;
        communities.copy_from_slice(&found.labels);
        Ok(())
    }
}

impl Worker for CommunitiesWorker {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn answer(
        &mut self,
        part: BatchSlice<'_>,
        observer: &dyn Observer,
    ) -> Result<Answer, SwarmError> {
        let mut communities: Vec<VertexId> = memory::zeros(part.vertices() as usize)
            .map_err(ripplet_analytics::AnalysisError::from)?;
        let mut rest = &mut communities[..];
        let graphs = part.graphs().map(|graph| {
            let of_graph = rest.split_off_mut(..graph.vertices() as usize);
            (graph, of_graph.unwrap_or_default())
        });
        let shared = Shared {
            graphs: Mutex::new(graphs),
            ended: AtomicBool::new(false),
            error: Mutex::default(),
            observer,
        };
        scope(|threads| {
            for executor in &self.executors {
                threads.spawn(|| executor.install(|| self.find(executor, &shared)));
            }
        });
        let error = shared.error.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(()), Err)?;
        check_labels(part, &communities)?;
        Ok(Answer::Communities(communities))
    }
}

/// Checks that each vertex has a label; the error names the first graph with one that has none.
fn check_labels(part: BatchSlice<'_>, labels: &[Label]) -> Result<(), SwarmError> {
    let mut rest = labels;
    for graph in part.graphs() {
        let of_graph = rest.split_off(..graph.vertices() as usize).unwrap_or_default();
        if of_graph.contains(&NO_LABEL) {
            return Err(SwarmError::NoLabel { graph: graph.id().to_string() });
        }
    }
    Ok(())
}

/// Locks a mutex and ignores poisoning: the guarded values are valid at all times.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_generate::Planted;
    use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, Members};
    use ripplet_lp::programs::{Cdlp, Lpa};
    use ripplet_lp::{Hints, RunError, Schedule};

    fn check<P>(program: &P, settings: Settings)
    where
        P: Hints + Clone + Into<Box<dyn DynProgram>>,
    {
        let sizes = [0, 1, 60, 300, 2];
        let mut rows = BatchRows::default();
        for (number, size) in (0u32..).zip(sizes).filter(|(_, size)| *size > 30) {
            let edges = Planted::new(size, 4 * size, 0.2).generate().unwrap().edges;
            rows.graphs.extend(std::iter::repeat_n(number, edges.len()));
            rows.sources.extend_from_slice(edges.sources());
            rows.targets.extend_from_slice(edges.targets());
        }
        let members = Members::of_sizes(sizes.map(|size| size as u32).into_iter()).unwrap();
        let batch = BatchBuilder::new().build(BatchTable::new(members, rows).unwrap()).unwrap();
        let alone = CpuExecutor::new(Some(2)).unwrap();
        let expected: Vec<Label> = batch
            .all()
            .graphs()
            .flat_map(|graph| {
                let graph = graph.to_graph().unwrap();
                alone.run(&graph, program, &settings, &mut ()).unwrap().labels.to_vec()
            })
            .collect();
        for threads in [1, 3] {
            let mut worker =
                CommunitiesWorker::new(program.clone(), settings.clone(), threads).unwrap();
            let found = worker.answer(batch.all(), &()).unwrap();
            assert_eq!(found, Answer::Communities(expected.clone()), "{threads} threads");
            let plan = worker.plan(batch.all()).unwrap();
            let largest = batch.all().graphs().nth(3).unwrap().to_graph().unwrap();
            let of_largest = alone.plan(&largest, program, &settings).algorithm_host();
            assert!(plan.algorithm_host() > of_largest, "{plan:?}");
        }
    }

    #[test]
    fn each_graph_has_the_communities_that_it_has_alone() {
        check(&Lpa::default(), Settings::default());
        check(&Cdlp, Settings { schedule: Schedule::sync(), ..Settings::default() });
    }

    /// Two graphs of an edge each, which begin with labels.
    fn answer_from(initial: Vec<Label>) -> Result<Answer, SwarmError> {
        let members = Members::of_sizes([2, 2].into_iter()).unwrap();
        let rows = BatchRows {
            graphs: vec![0, 1],
            sources: vec![0, 0],
            targets: vec![1, 1],
            weights: None,
        };
        let batch = BatchBuilder::new().build(BatchTable::new(members, rows).unwrap()).unwrap();
        let settings = Settings { initial: Some(initial), ..Settings::default() };
        let mut worker = CommunitiesWorker::new(Lpa::default(), settings, 2).unwrap();
        worker.answer(batch.all(), &())
    }

    #[test]
    fn settings_that_do_not_fit_end_the_part() {
        let found = answer_from(vec![0; 3]);
        assert!(matches!(found, Err(SwarmError::Device(RunError::Settings(_)))));
    }

    #[test]
    fn a_vertex_without_a_label_is_an_error_that_names_the_first_graph() {
        let error = answer_from(vec![NO_LABEL; 2]).unwrap_err().to_string();
        assert!(error.contains("a vertex of the graph 0 without a label"), "{error}");
        assert!(answer_from(vec![1, 1]).is_ok());
    }
}
