//! Tests of a swarm's stages: order, bounds, errors and cancellation in each of them.

use super::*;
use ripplet_analytics::closeness::Closeness;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_analytics::pagerank::PageRank;
use ripplet_analytics::{Lengths, PathAnalysis};
use ripplet_cuda::DeviceExecutor;
use ripplet_emulator::EmulatedDevice;
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchSlice, BatchTable, GraphBatch, Members};
use ripplet_graph::{Direction, EdgeTable, GraphBuilder, Observer, VertexIds};
use ripplet_io::Place;
use ripplet_io::write::{ColumnData, Part, TableShape, TableWriter};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::sleep;
use std::time::Duration;

/// A batch of paths of 0, 1, 2, … 9, 0, 1, … vertices.
fn paths(graphs: u32) -> GraphBatch {
    let sizes = || (0..graphs).map(|graph| graph % 10);
    let edges: Vec<(u32, u32)> = sizes()
        .enumerate()
        .flat_map(|(graph, size)| (1..size).map(move |vertex| (graph as u32, vertex)))
        .collect();
    let rows = BatchRows {
        graphs: edges.iter().map(|edge| edge.0).collect(),
        sources: edges.iter().map(|edge| edge.1 - 1).collect(),
        targets: edges.iter().map(|edge| edge.1).collect(),
        weights: Some(
            edges.iter().map(|edge| 0.5 * f64::from(1 + (edge.0 + edge.1) % 4)).collect(),
        ),
    };
    let members = Members::of_sizes((0..graphs as usize).map(|graph| graph as u32 % 10)).unwrap();
    BatchBuilder::new().build(BatchTable::new(members, rows).unwrap()).unwrap()
}

/// A batch in parts of `graphs` graphs; one part may be damaged.
struct Slices<'a> {
    batch: Arc<GraphBatch>,
    graphs: usize,
    next: usize,
    damaged: Option<usize>,
    /// The number of parts read.
    read: &'a AtomicUsize,
}

impl Parts for Slices<'_> {
    fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError> {
        let first = self.next * self.graphs;
        if self.damaged == Some(self.next) {
            return Err(ReadError::content("batch", Place::File, "damaged"));
        }
        if first >= self.batch.len() {
            return Ok(None);
        }
        self.next += 1;
        self.read.fetch_add(1, SeqCst);
        let graphs = first..self.batch.len().min(first + self.graphs);
        Ok(Some(BatchPart { batch: self.batch.clone(), graphs }))
    }

    fn progress(&self) -> f64 {
        (self.next * self.graphs) as f64 / self.batch.len() as f64
    }
}

/// Answers each graph with its index after a varying delay; fails, panics or waits for cancellation
/// at given graphs.
struct Counter {
    fails_at: Option<usize>,
    hangs_at: Option<usize>,
    panics_at: Option<usize>,
}

const WELL: Counter = Counter { fails_at: None, hangs_at: None, panics_at: None };

impl Worker for Counter {
    fn name(&self) -> String {
        "counter".into()
    }

    fn answer(
        &mut self,
        part: BatchSlice<'_>,
        observer: &dyn Observer,
    ) -> Result<Answer, SwarmError> {
        let numbers: Vec<u64> = part.graphs().map(|graph| graph.index() as u64).collect();
        let first = numbers[0] as usize;
        if self.fails_at == Some(first) {
            let refused = ripplet_graph::OutOfMemory { bytes: 1 };
            return Err(ripplet_analytics::AnalysisError::OutOfMemory(refused).into());
        }
        assert_ne!(self.panics_at, Some(first), "as it was asked to");
        while self.hangs_at == Some(first) {
            if observer.is_cancelled() {
                return Err(SwarmError::Cancelled);
            }
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_micros(first as u64 * 7919 % 2000));
        Ok(Answer::Graphs(vec![Column::U64(numbers)]))
    }

    fn steps(&self) -> Vec<(&'static str, f64)> {
        vec![("kernels", 0.5)]
    }
}

/// An observer that cancels when its flag is set.
#[derive(Default)]
struct Switch(AtomicBool);

impl Observer for Switch {
    fn is_cancelled(&self) -> bool {
        self.0.load(SeqCst)
    }
}

impl SwarmObserver for Switch {}

fn counters(count: usize, make: impl Fn() -> Counter) -> Vec<Box<dyn Worker>> {
    (0..count).map(|_| Box::new(make()) as Box<dyn Worker>).collect()
}

#[test]
fn answers_come_in_order_and_few_parts_at_once() {
    for workers in [1, 2, 5] {
        let (batch, read) = (Arc::new(paths(300)), AtomicUsize::new(0));
        let mut parts = Slices { batch, graphs: 7, next: 0, damaged: None, read: &read };
        let (mut found, mut written, mut ahead) = (Vec::new(), 0, 0);
        let sink = |part: &BatchPart, answer: Answer| {
            let Answer::Graphs(columns) = answer else { panic!("{answer:?}") };
            let [Column::U64(numbers)] = &columns[..] else { panic!("{columns:?}") };
            assert_eq!(numbers.len(), part.graphs.len());
            found.extend_from_slice(numbers);
            sleep(Duration::from_millis(1));
            ahead = ahead.max(read.load(SeqCst) - written);
            written += 1;
            Ok(())
        };
        let report = run(&mut parts, counters(workers, || WELL), sink, &()).unwrap();
        assert_eq!(found, (0..300).collect::<Vec<_>>());
        assert_eq!((report.graphs, report.parts, report.vertices), (300, 43, 1350));
        assert_eq!(report.arcs, 2 * 30 * (1..9).sum::<u64>());
        assert!(ahead <= 4 + 2 * workers, "{ahead} parts with {workers} workers");
        assert_eq!(report.workers.len(), workers);
        assert_eq!(report.workers.iter().map(|worker| worker.parts).sum::<u64>(), 43);
        assert_eq!(report.workers[0].steps, [("kernels", 0.5)]);
        let busy = report.read + report.write + report.compute();
        assert!(report.wall > 0.0 && busy > 0.0 && report.share(report.write) <= 1.0);
    }
}

/// Runs a swarm that fails; returns the error, and the number of parts that the sink received.
fn ended(
    damaged: Option<usize>,
    worker: impl Fn() -> Counter,
    sink: impl Fn(usize) -> Result<(), SwarmError>,
    observer: &dyn SwarmObserver,
) -> (SwarmError, usize) {
    let (batch, read) = (Arc::new(paths(200)), AtomicUsize::new(0));
    let mut parts = Slices { batch, graphs: 4, next: 0, damaged, read: &read };
    let mut taken = 0;
    let take = |_: &BatchPart, _| {
        taken += 1;
        sink(taken)
    };
    (run(&mut parts, counters(3, worker), take, observer).unwrap_err(), taken)
}

#[test]
fn an_error_of_any_stage_ends_all() {
    let fine = |_| Ok(());
    let full = |taken| match taken {
        9 => {
            Err(WriteError { path: "out".into(), source: io::ErrorKind::StorageFull.into() }.into())
        }
        _ => Ok(()),
    };
    for at in [0, 1, 17, 50] {
        let (error, taken) = ended(Some(at), || WELL, fine, &());
        assert!(matches!(&error, SwarmError::Read(error) if error.path == Path::new("batch")));
        assert!(taken <= at, "{error}");
    }
    for at in [0, 40, 196] {
        let fails = || Counter { fails_at: Some(at), ..WELL };
        let (error, taken) = ended(None, fails, fine, &());
        assert!(matches!(error, SwarmError::Run(_)) && taken <= at / 4, "{error}");
        // The other workers are cancelled in the midst of their parts.
        let fails = || Counter { fails_at: Some(at), hangs_at: Some(at + 4), panics_at: None };
        assert!(matches!(ended(None, fails, fine, &()).0, SwarmError::Run(_)));
    }
    assert!(matches!(ended(None, || WELL, full, &()), (SwarmError::Write(_), 9)));
    let hangs = || Counter { hangs_at: Some(48), ..WELL };
    assert!(matches!(ended(None, hangs, full, &()), (SwarmError::Write(_), 9)));
}

#[test]
fn every_stage_can_be_cancelled() {
    let switch = Switch::default();
    let turn = |taken| {
        switch.0.store(taken >= 5, SeqCst);
        Ok(())
    };
    assert!(matches!(ended(None, || WELL, turn, &switch), (SwarmError::Cancelled, 5)));
    // While all stages wait for a worker, once the parts before it are written.
    let (switch, written) = (Switch::default(), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while written.load(SeqCst) < 3 {
                sleep(Duration::from_millis(1));
            }
            sleep(Duration::from_millis(30));
            switch.0.store(true, SeqCst);
        });
        let hangs = || Counter { hangs_at: Some(12), ..WELL };
        let count = |taken| {
            written.store(taken, SeqCst);
            Ok(())
        };
        assert!(matches!(ended(None, hangs, count, &switch), (SwarmError::Cancelled, 3)));
    });
}

#[test]
#[should_panic(expected = "as it was asked to")]
fn a_panic_of_a_worker_is_no_deadlock() {
    ended(None, || Counter { panics_at: Some(20), ..WELL }, |_| Ok(()), &());
}

#[test]
fn without_parts_or_workers() {
    let read = AtomicUsize::new(0);
    let parts = |graphs| Slices {
        batch: Arc::new(paths(graphs)),
        graphs: 4,
        next: 0,
        damaged: None,
        read: &read,
    };
    let none = |_: &BatchPart, _| panic!("there is no part");
    let report = run(&mut parts(0), counters(2, || WELL), none, &()).unwrap();
    assert_eq!((report.graphs, report.parts), (0, 0));
    let nobody = run(&mut parts(40), Vec::new(), none, &());
    assert!(matches!(nobody, Err(SwarmError::NoWorker)));
}

#[test]
fn parts_are_cut_by_weight() {
    let read = AtomicUsize::new(0);
    let mut parts =
        Slices { batch: Arc::new(paths(25)), graphs: 12, next: 0, damaged: None, read: &read };
    let square = |graph: ripplet_graph::batch::BatchGraph<'_>| u64::from(graph.vertices()).pow(2);
    let mut cut = Cut::new(&mut parts, 30, square);
    let mut found = Vec::new();
    while let Some(part) = cut.next_part().unwrap() {
        found.push(part.graphs);
    }
    // 0 + 1 + 4 + 9 + 16 = 30; 25; 36; 49; 64; 81 | 0 + 1, and the part ends.
    let expected = [0..5, 5..6, 6..7, 7..8, 8..9, 9..12, 12..14, 14..15];
    assert_eq!(found[..5], expected[..5]);
    assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start), "{found:?}");
    assert_eq!(found.last().unwrap().end, 25);
    for graphs in found {
        let weight: usize = graphs.clone().map(|graph| (graph % 10).pow(2)).sum();
        assert!(weight <= 30 || graphs.len() == 1, "{graphs:?}");
    }
}

#[test]
fn the_cpu_finds_in_parts_what_it_finds_at_once() {
    for lengths in [Lengths::Hops, Lengths::Weights] {
        check_parts(&paths(120), lengths);
    }
}

/// Checks a batch in parts, and each of its graphs, against the whole.
fn check_parts(batch: &GraphBatch, lengths: Lengths) {
    for analysis in [
        Analysis::Paths(PathAnalysis::Betweenness { normalized: true, lengths }),
        Analysis::Paths(PathAnalysis::Closeness {
            measure: Closeness::Reciprocal,
            normalized: false,
            lengths,
        }),
        Analysis::Paths(PathAnalysis::EdgeBetweenness { normalized: true, lengths }),
        Analysis::Components,
        Analysis::KCore,
        Analysis::PageRank(PageRank::default()),
        Analysis::Lcc(Lcc::new(Definition::Ldbc).with_triangles()),
        Analysis::Paths(PathAnalysis::Distances { lengths }),
        Analysis::Paths(PathAnalysis::Reach { lengths }),
        Analysis::Paths(PathAnalysis::Summary { lengths }),
    ] {
        let whole = analysis.of_batch(batch.all(), &mut ()).unwrap();
        let read = AtomicUsize::new(0);
        let mut parts = Slices {
            batch: Arc::new(batch.clone()),
            graphs: 11,
            next: 0,
            damaged: None,
            read: &read,
        };
        let folder = tempfile::tempdir().unwrap();
        let table = |name: &str| {
            let (rows, columns) = (analysis.rows(), analysis.columns());
            let shape = TableShape { rows, of_batch: true, columns };
            TableWriter::create(&folder.path().join(name), shape).unwrap()
        };
        let mut at_once = table("at_once.csv");
        whole.append_to(&mut at_once, batch.all()).unwrap();
        at_once.finish().unwrap();
        let mut in_parts = table("in_parts.csv");
        let take = |part: &BatchPart, answer: Answer| {
            assert_eq!(answer.rows(), analysis.rows());
            Ok(answer.append_to(&mut in_parts, part.slice())?)
        };
        run(&mut parts, vec![Box::new(CpuWorker::new(analysis))], take, &()).unwrap();
        in_parts.finish().unwrap();
        let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(text("in_parts.csv"), text("at_once.csv"));
        check_graphs(analysis, batch, &text("at_once.csv"));
    }
}

/// Checks the table of a batch against those of its graphs, each built and analysed alone.
fn check_graphs(analysis: Analysis, batch: &GraphBatch, table: &str) {
    let (rows, columns) = (analysis.rows(), analysis.columns());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alone.csv");
    let mut expected = String::new();
    for graph in batch.all().graphs() {
        let n = graph.vertices();
        let (out, scale) = (graph.out(), graph.weight_scale());
        let weight =
            |at: usize| scale.weight(out.weights().map_or(1, |weights| weights[at]).into());
        let arc = |v: u32, at: usize| (v, out.neighbors()[at], weight(at));
        let arcs: Vec<(u32, u32, f64)> = (0..n)
            .flat_map(|v| {
                let offsets = &out.offsets()[v as usize..];
                (offsets[0]..offsets[1]).map(move |at| (v, at as usize))
            })
            .map(|(v, at)| arc(v, at))
            .filter(|(from, to, _)| from <= to)
            .collect();
        let ids = VertexIds::Consecutive { first: 0, count: n };
        let (sources, targets) = arcs.iter().map(|arc| (arc.0, arc.1)).unzip();
        let table = EdgeTable::new(ids, sources, targets).unwrap();
        let table = table.with_weights(arcs.iter().map(|arc| arc.2).collect()).unwrap();
        let alone = GraphBuilder::new().build(table).unwrap();
        let shape = TableShape { rows, of_batch: false, columns };
        let mut alone_table = TableWriter::create(&path, shape).unwrap();
        let take =
            |part: Part<'_>, columns: &[ColumnData<'_>]| Ok(alone_table.append(part, columns)?);
        analysis.of_graph((&alone).into(), &mut (), take).unwrap();
        alone_table.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for row in text.lines().skip(1) {
            expected += &format!("{},{row}\n", graph.id());
        }
    }
    assert_eq!(table.split_once('\n').unwrap().1, expected);
}

#[test]
fn a_summary_of_small_graphs() {
    let batch = paths(5);
    let Answer::Graphs(columns) = Analysis::Paths(PathAnalysis::Summary { lengths: Lengths::Hops })
        .of_batch(batch.all(), &mut ())
        .unwrap()
    else {
        panic!("a row a graph")
    };
    let expected = [
        Column::U32(vec![0, 1, 2, 3, 4]),
        Column::U64(vec![0, 0, 1, 2, 3]),
        Column::U64(vec![0, 0, 2, 6, 12]),
        Column::F64(vec![0.0, 0.0, 1.0, 2.0, 3.0]),
        Column::F64(vec![0.0, 0.0, 1.0, 1.0, 2.0]),
        Column::F64(vec![0.0, 0.0, 1.0, 8.0 / 6.0, 20.0 / 12.0]),
        Column::F64(vec![0.0, 0.0, 1.0, 4.0, 10.0]),
        Column::Bool(vec![true; 5]),
    ];
    assert_eq!(columns, expected);
}

/// A batch of rings of 0, 1, … 11 vertices, some with chords, directed or undirected.
fn rings(direction: Direction) -> GraphBatch {
    let edges: Vec<(u32, u32, u32)> = (0..12)
        .flat_map(|size| {
            (0..size).flat_map(move |vertex| {
                let chord = (vertex % 3 == 0).then_some((size, vertex, (vertex * 5 + 2) % size));
                std::iter::once((size, vertex, (vertex + 1) % size)).chain(chord)
            })
        })
        .filter(|(size, vertex, _)| size % 4 != 3 || *vertex != size / 2)
        .collect();
    let rows = BatchRows {
        graphs: edges.iter().map(|edge| edge.0).collect(),
        sources: edges.iter().map(|edge| edge.1).collect(),
        targets: edges.iter().map(|edge| edge.2).collect(),
        weights: Some(edges.iter().map(|edge| f64::from(edge.1 % 3 + 1)).collect()),
    };
    let members = Members::of_sizes(0..12).unwrap();
    BatchBuilder::new().direction(direction).build(BatchTable::new(members, rows).unwrap()).unwrap()
}

#[test]
fn a_device_answers_what_the_cpu_does() {
    let analyses = [Lengths::Hops, Lengths::Weights].map(|lengths| {
        [
            Analysis::Paths(PathAnalysis::Closeness {
                measure: Closeness::Reciprocal,
                normalized: true,
                lengths,
            }),
            Analysis::Paths(PathAnalysis::Betweenness { normalized: false, lengths }),
            Analysis::Paths(PathAnalysis::EdgeBetweenness { normalized: true, lengths }),
            Analysis::Paths(PathAnalysis::Distances { lengths }),
            Analysis::Paths(PathAnalysis::Reach { lengths }),
            Analysis::Paths(PathAnalysis::Summary { lengths }),
        ]
    });
    for direction in [Direction::Undirected, Direction::Directed] {
        let batch = rings(direction);
        for analysis in analyses.into_iter().flatten() {
            let executor = DeviceExecutor::new(EmulatedDevice::new());
            let mut device =
                DeviceWorker::new("emulator".into(), executor, analysis.on_device().unwrap());
            let of_cpu = CpuWorker::new(analysis).answer(batch.all(), &()).unwrap();
            let found = device.answer_about(batch.all().into(), &()).unwrap();
            assert_eq!(found, of_cpu, "{analysis:?}");
            let graph = batch.all().graphs().nth(11).unwrap().to_graph().unwrap();
            let mut found = Vec::new();
            let take = |_: Part<'_>, columns: &[ColumnData<'_>]| {
                found.push(format!("{columns:?}"));
                Ok(())
            };
            device.answer_graph(&graph, &(), take).unwrap();
            let mut expected = Vec::new();
            let take = |_: Part<'_>, columns: &[ColumnData<'_>]| {
                expected.push(format!("{columns:?}"));
                Ok(())
            };
            analysis.of_graph((&graph).into(), &mut (), take).unwrap();
            assert_eq!(found, expected, "{analysis:?}");
        }
    }
}
