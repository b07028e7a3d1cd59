//! Swarms on ranks: of each part, a rank answers consecutive graphs with about as much work as those of every other rank.
//!
//! ```text
//!            graphs of a part     all ranks read it, and each answers its own graphs
//!  rank 0   ▐██████░░░░░░░░░░▌ ─▶ own answer ───────────────────────────▶ sink: the answer of the part
//!  rank 1   ▐░░░░░░██████░░░░▌ ─▶ own answer ─▶ message to rank 0 ────────┘
//!  rank 2   ▐░░░░░░░░░░░░████▌ ─▶ own answer ─▶ message to rank 0 ────────┘
//! ```
//!
//! The parts are those of one process, and so is the sink's order: what is written does not depend on the number of ranks.
//! While answers are collected, all ranks already compute the next part.

use super::{Answer, BatchPart, Parts, Report, SwarmError, SwarmObserver, Worker, message, run};
use ripplet_analytics::AnalysisError;
use ripplet_graph::Observer;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_io::ReadError;
use ripplet_ranks::{Comm, CommError, Received};
use std::ops::Range;
use std::sync::Arc;

/// Returns the work of a graph, in any unit: only its share of the work of all counts.
pub type Work = Arc<dyn Fn(BatchGraph<'_>) -> u64 + Send + Sync>;

/// Runs a swarm together with other ranks, as [`run`] does alone: all ranks call it with the same input, and `sink` is
/// called on rank 0 alone, with the answers of all.
///
/// Each rank reads the whole batch. Memory: that of [`run`] with one worker; on rank 0, for a moment, the answer of a part
/// twice. Messages: each answer to rank 0, and for each part 9 bytes from each rank to each other one.
///
/// # Errors
/// All errors of [`run`]. If another rank failed, [`SwarmError::Elsewhere`]; if ranks have read different graphs, on all
/// [`SwarmError::PartsDiffer`]. After the error of messages, [`AnalysisError::Ranks`], or [`SwarmError::Cancelled`], the
/// other ranks wait until this one ends or [aborts](Comm::abort).
pub fn run_on_ranks<P: Parts>(
    parts: &mut P,
    worker: Box<dyn Worker>,
    work: Work,
    comm: &mut Comm,
    mut sink: impl FnMut(&BatchPart, Answer) -> Result<(), SwarmError>,
    observer: &dyn SwarmObserver,
) -> Result<Report, SwarmError> {
    let (rank, size) = (comm.rank(), comm.size());
    let worker = OwnGraphs { worker, work, rank, size };
    let mut parts = UpToError { parts, error: None };
    let collect = |part: &BatchPart, mut answer: Answer| {
        let identity = part.slice().identity();
        let received = exchange(comm, State::Answer, identity, Some(&mut answer))?;
        if rank > 0 {
            return Ok(());
        }
        for peer in 1..size {
            if !message::append(&mut answer, received.of(peer).get(HEAD..).unwrap_or_default())? {
                return Err(SwarmError::PartsDiffer { rank: peer });
            }
        }
        drop(received);
        sink(part, answer)
    };
    let done = run(&mut parts, vec![Box::new(worker)], collect, observer);
    let done = parts.error.map_or(done, |error| Err(error.into()));
    match &done {
        Ok(_) => drop(exchange(comm, State::End, 0, None)?),
        // All ranks have these, or end when this one does.
        Err(
            SwarmError::Elsewhere { .. }
            | SwarmError::PartsDiffer { .. }
            | SwarmError::Cancelled
            | SwarmError::Run(AnalysisError::Ranks(_)),
        ) => {}
        Err(_) => {
            let sent = exchange(comm, State::Failed, 0, None);
            if let Err(SwarmError::Run(AnalysisError::Ranks(error))) = sent {
                return Err(AnalysisError::from(error).into());
            }
        }
    }
    done
}

/// What a rank has at an exchange.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum State {
    /// The answer of its graphs of the next part.
    Answer,
    /// No more parts.
    End,
    /// An error, after which it does nothing more.
    Failed,
}

/// Bytes of a message before the answer: the state, and the identity of the part.
const HEAD: usize = 9;

/// Exchanges the states of all ranks, and sends an answer to the first one.
fn exchange(
    comm: &mut Comm,
    state: State,
    identity: u64,
    answer: Option<&mut Answer>,
) -> Result<Received<u8>, SwarmError> {
    let mut head = vec![state as u8];
    head.extend(identity.to_le_bytes());
    let mut messages = vec![head; comm.size()];
    if let Some(answer) = answer.filter(|_| comm.rank() > 0) {
        message::write(answer, &mut messages[0])?;
    }
    let of_ranks = |error: CommError| SwarmError::from(AnalysisError::from(error));
    let received = comm.all_to_all("answers of a part", &messages).map_err(of_ranks)?;
    let is_failed = |message: &[u8]| message.first() == Some(&(State::Failed as u8));
    let failed = received.iter().position(is_failed).filter(|_| state != State::Failed);
    if let Some(rank) = failed {
        return Err(SwarmError::Elsewhere { rank });
    }
    let first = received.of(0).get(..HEAD);
    let other = received.iter().position(|message| message.get(..HEAD) != first);
    match other.filter(|_| state != State::Failed) {
        Some(rank) => Err(SwarmError::PartsDiffer { rank }),
        None => Ok(received),
    }
}

/// Parts up to the first error, which ends them: all ranks answer the same ones before it.
struct UpToError<'a, P> {
    parts: &'a mut P,
    error: Option<ReadError>,
}

impl<P: Parts> Parts for UpToError<'_, P> {
    fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError> {
        Ok(self.parts.next_part().unwrap_or_else(|error| {
            self.error = Some(error);
            None
        }))
    }

    fn progress(&self) -> f64 {
        self.parts.progress()
    }
}

/// Answers the graphs of a part that are a rank's.
struct OwnGraphs {
    worker: Box<dyn Worker>,
    work: Work,
    rank: usize,
    size: usize,
}

impl Worker for OwnGraphs {
    fn name(&self) -> String {
        self.worker.name()
    }

    fn answer(
        &mut self,
        part: BatchSlice<'_>,
        observer: &dyn Observer,
    ) -> Result<Answer, SwarmError> {
        let own = own_graphs(part, &*self.work, self.rank, self.size);
        self.worker.answer(part.slice(own), observer)
    }

    fn steps(&self) -> Vec<(&'static str, f64)> {
        self.worker.steps()
    }
}

/// Returns the graphs of a part that a rank answers: consecutive ones, with about as much of the work as every other rank
/// has. A graph is the rank's in whose share of the work its middle is.
pub fn own_graphs(
    part: BatchSlice<'_>,
    work: &dyn Fn(BatchGraph<'_>) -> u64,
    rank: usize,
    size: usize,
) -> Range<usize> {
    let each = || part.graphs().map(|graph| u128::from(work(graph).max(1)));
    let (ranks, all) = (size as u128, each().sum::<u128>().max(1));
    let mut done = 0;
    let mut own = 0..0;
    for work in each() {
        // Twice the middle, of twice the work of all.
        let owner = (2 * done + work) * ranks / (2 * all);
        own.start += usize::from(owner < rank as u128);
        own.end += usize::from(owner <= rank as u128);
        done += work;
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swarm::{Analysis, Column, CommunitiesWorker, CpuWorker};
    use ripplet_analytics::closeness::Closeness;
    use ripplet_analytics::lcc::{Definition, Lcc};
    use ripplet_analytics::pagerank::PageRank;
    use ripplet_analytics::{Lengths, PathAnalysis};
    use ripplet_generate::Planted;
    use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, GraphBatch, Members};
    use ripplet_io::Place;
    use ripplet_lp::Settings;
    use ripplet_lp::programs::Lpa;
    use ripplet_ranks::Threads;
    use std::time::Duration;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A batch whose first graphs are the largest; some have no edges, or no vertices.
    fn batch() -> GraphBatch {
        let sizes = [90, 60, 0, 40, 1, 40, 31, 2, 35, 50, 33];
        let mut rows = BatchRows::default();
        for (number, size) in (0u32..).zip(sizes).filter(|(_, size)| *size > 30) {
            let edges = Planted::new(size, 3 * size, 0.2).generate().unwrap().edges;
            rows.graphs.extend(std::iter::repeat_n(number, edges.len()));
            rows.sources.extend_from_slice(edges.sources());
            rows.targets.extend_from_slice(edges.targets());
        }
        let members = Members::of_sizes(sizes.map(|size| size as u32).into_iter()).unwrap();
        BatchBuilder::new().build(BatchTable::new(members, rows).unwrap()).unwrap()
    }

    /// A batch in parts of three graphs; a part may be damaged.
    struct Threes {
        batch: Arc<GraphBatch>,
        next: usize,
        damaged: Option<usize>,
    }

    impl Threes {
        fn of(batch: &GraphBatch) -> Threes {
            Threes { batch: Arc::new(batch.clone()), next: 0, damaged: None }
        }
    }

    impl Parts for Threes {
        fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError> {
            if self.damaged == Some(self.next) {
                return Err(ReadError::content("batch", Place::File, "damaged"));
            }
            let first = 3 * self.next;
            self.next += 1;
            let graphs = first..self.batch.len().min(first + 3);
            let is_there = first < self.batch.len();
            Ok(is_there.then(|| BatchPart { batch: self.batch.clone(), graphs }))
        }

        fn progress(&self) -> f64 {
            0.0
        }
    }

    fn analyses() -> Vec<Analysis> {
        let lengths = Lengths::Hops;
        let (measure, normalized) = (Closeness::Harmonic, false);
        vec![
            PathAnalysis::Closeness { measure, normalized, lengths }.into(),
            PathAnalysis::Betweenness { normalized, lengths }.into(),
            PathAnalysis::EdgeBetweenness { normalized, lengths }.into(),
            PathAnalysis::Distances { lengths }.into(),
            PathAnalysis::Reach { lengths }.into(),
            PathAnalysis::Summary { lengths }.into(),
            Analysis::Components,
            Analysis::KCore,
            Analysis::PageRank(PageRank::default()),
            Analysis::Lcc(Lcc::new(Definition::Ldbc).with_triangles()),
        ]
    }

    type Answers = Vec<(Range<usize>, Answer)>;

    /// Runs workers on ranks; returns the report of each, and what its sink got.
    fn on_ranks(
        size: usize,
        parts: impl Fn(usize) -> Threes + Sync,
        worker: impl Fn(usize) -> Box<dyn Worker> + Sync,
        analysis: Analysis,
    ) -> Vec<(Result<Report, SwarmError>, Answers)> {
        Threads::run(size, PATIENCE, |mut comm| {
            let rank = comm.rank();
            let mut found = Vec::new();
            let take = |part: &BatchPart, answer| {
                found.push((part.graphs.clone(), answer));
                Ok(())
            };
            let work: Work = Arc::new(move |graph| analysis.work(graph));
            let report = run_on_ranks(&mut parts(rank), worker(rank), work, &mut comm, take, &());
            (report, found)
        })
    }

    #[test]
    fn the_first_rank_gets_the_answers_of_one_process() {
        let batch = batch();
        let cpu = |analysis| move |_| Box::new(CpuWorker::new(analysis)) as Box<dyn Worker>;
        let communities = |_| -> Box<dyn Worker> {
            Box::new(CommunitiesWorker::new(Lpa::default(), Settings::default(), 1).unwrap())
        };
        let check = |analysis: Analysis, worker: &(dyn Fn(usize) -> Box<dyn Worker> + Sync)| {
            let mut expected = Vec::new();
            let take = |part: &BatchPart, answer| {
                expected.push((part.graphs.clone(), answer));
                Ok(())
            };
            let of_one = run(&mut Threes::of(&batch), vec![worker(0)], take, &()).unwrap();
            for size in [1, 2, 3, 4, 7] {
                let all = on_ranks(size, |_| Threes::of(&batch), worker, analysis);
                for (rank, (report, found)) in all.into_iter().enumerate() {
                    let report = report.unwrap();
                    let sums = |report: &Report| {
                        [report.graphs, report.vertices, report.arcs, report.parts]
                    };
                    assert_eq!(sums(&report), sums(&of_one));
                    let expected = if rank == 0 { &expected[..] } else { &[] };
                    assert_eq!(found, expected, "{analysis:?}, rank {rank} of {size}");
                }
            }
        };
        for analysis in analyses() {
            check(analysis, &cpu(analysis));
        }
        check(Analysis::Components, &communities);
    }

    #[test]
    fn ranks_have_consecutive_graphs_and_like_work() {
        let batch = batch();
        for size in [1, 2, 3, 4, 7, 20] {
            let work = |graph: BatchGraph<'_>| Analysis::KCore.work(graph);
            let all: u64 = batch.all().graphs().map(work).sum();
            let most = batch.all().graphs().map(work).max().unwrap_or(0);
            let mut next = 0;
            for rank in 0..size {
                let own = own_graphs(batch.all(), &work, rank, size);
                assert_eq!(own.start, next);
                next = own.end;
                let own: u64 = batch.slice(own).graphs().map(work).sum();
                assert!(own <= all / size as u64 + most + 11, "{own} of {all}, {size} ranks");
            }
            assert_eq!(next, batch.len());
        }
        let nothing = |_: BatchGraph<'_>| 0;
        assert_eq!(own_graphs(batch.slice(0..0), &nothing, 1, 3), 0..0);
        assert_eq!(own_graphs(batch.slice(0..4), &nothing, 1, 2), 2..4);
    }

    /// Answers parts until one has this many graphs before it.
    struct FailsAt(u64, u64);

    impl Worker for FailsAt {
        fn name(&self) -> String {
            "fails".into()
        }

        fn answer(&mut self, part: BatchSlice<'_>, _: &dyn Observer) -> Result<Answer, SwarmError> {
            if self.0 == self.1 {
                return Err(SwarmError::NoLabel { graph: "x".into() });
            }
            self.0 += 1;
            Ok(Answer::Graphs(vec![Column::U64(vec![0; part.len()])]))
        }
    }

    #[test]
    fn an_error_of_one_rank_ends_all() {
        let batch = batch();
        let worker = |rank| -> Box<dyn Worker> {
            Box::new(FailsAt(0, if rank == 1 { 2 } else { u64::MAX }))
        };
        let all = on_ranks(3, |_| Threes::of(&batch), worker, Analysis::KCore);
        for (rank, (report, found)) in all.into_iter().enumerate() {
            match report {
                Err(SwarmError::NoLabel { .. }) => assert_eq!(rank, 1),
                Err(SwarmError::Elsewhere { rank: 1 }) => assert_ne!(rank, 1),
                other => panic!("{other:?}"),
            }
            assert!(found.len() <= 2);
        }
    }

    #[test]
    fn an_error_of_the_input_is_that_of_all_after_the_parts_before_it() {
        let batch = batch();
        let worker = |_| -> Box<dyn Worker> { Box::new(FailsAt(0, u64::MAX)) };
        let parts = |_| Threes { damaged: Some(3), ..Threes::of(&batch) };
        for (rank, (report, found)) in
            on_ranks(4, parts, worker, Analysis::KCore).into_iter().enumerate()
        {
            assert!(matches!(report, Err(SwarmError::Read(_))), "{report:?}");
            assert_eq!(found.len(), if rank == 0 { 3 } else { 0 });
        }
    }

    #[test]
    fn a_sink_that_fails_ends_all() {
        let batch = batch();
        let all = Threads::run(3, PATIENCE, |mut comm| {
            let take = |_: &BatchPart, _| Err(SwarmError::NoWorker);
            let work: Work = Arc::new(|_| 1);
            let worker = Box::new(CpuWorker::new(Analysis::KCore));
            run_on_ranks(&mut Threes::of(&batch), worker, work, &mut comm, take, &())
        });
        assert!(matches!(all[0], Err(SwarmError::NoWorker)), "{all:?}");
        let is_elsewhere = |end: &Result<Report, SwarmError>| {
            matches!(end, Err(SwarmError::Elsewhere { rank: 0 }))
        };
        assert!(all[1..].iter().all(is_elsewhere), "{all:?}");
    }

    #[test]
    fn ranks_that_read_different_graphs_are_refused() {
        let (batch, other) = (batch(), batch().slice(0..9).to_batch().unwrap());
        let shorter = batch.slice(0..6).to_batch().unwrap();
        let longer = batch.slice(3..11).to_batch().unwrap();
        for different in [other, shorter, longer] {
            let parts = |rank| Threes::of(if rank == 2 { &different } else { &batch });
            let worker = |_| -> Box<dyn Worker> { Box::new(FailsAt(0, u64::MAX)) };
            for (report, _) in on_ranks(3, parts, worker, Analysis::KCore) {
                assert!(matches!(report, Err(SwarmError::PartsDiffer { rank: 2 })), "{report:?}");
            }
        }
    }
}
