//! The stages of a swarm as a pipeline: one thread per stage, and queues between them.

use super::{
    Answer, BatchPart, Parts, Progress, Report, SwarmError, SwarmObserver, Worker, WorkerReport,
};
use ripplet_graph::Observer;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle, panicking, scope};
use std::time::{Duration, Instant};

/// The most parts that wait for a worker.
const READ_AHEAD: usize = 2;
/// Interval at which a waiting stage polls for cancellation.
const PATIENCE: Duration = Duration::from_millis(20);

/// Runs a swarm: reads part by part, lets one of `workers` answer each, and passes the answers to
/// `sink` in the order of the parts, on the calling thread.
///
/// The calling thread blocks on the workers: if it belongs to rayon's global pool, that pool should
/// have other threads.
///
/// # Errors
/// The first error of a stage; [`SwarmError::Cancelled`] if the observer cancels. All stages have
/// ended by then.
pub fn run<P: Parts>(
    parts: &mut P,
    workers: Vec<Box<dyn Worker>>,
    mut sink: impl FnMut(&BatchPart, Answer) -> Result<(), SwarmError>,
    observer: &dyn SwarmObserver,
) -> Result<Report, SwarmError> {
    if workers.is_empty() {
        return Err(SwarmError::NoWorker);
    }
    let start = Instant::now();
    let line = Line {
        state: Mutex::default(),
        moved: Condvar::new(),
        ended: AtomicBool::new(false),
        most_taken: 2 * workers.len() + 1,
        observer,
    };
    let mut report = scope(|threads| {
        let reader = line.spawn(threads, "ripplet-reader".into(), || line.read(parts));
        let spawn = |(number, worker)| {
            line.spawn(threads, format!("ripplet-worker-{number}"), || line.work(worker))
        };
        let workers: Vec<_> = workers.into_iter().enumerate().map(spawn).collect();
        let mut report = line.write(&mut sink);
        report.read = joined(reader).unwrap_or_default();
        report.workers = workers.into_iter().filter_map(joined).collect();
        report
    });
    report.wall = start.elapsed().as_secs_f64();
    let state = line.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    state.error.map_or(Ok(report), Err)
}

/// Returns the result of a stage; `None` if its thread did not start. Propagates a panic.
fn joined<T>(thread: Option<ScopedJoinHandle<'_, T>>) -> Option<T> {
    thread.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// The shared state of the stages.
struct Line<'a> {
    state: Mutex<State>,
    /// Notified whenever the state changes.
    moved: Condvar,
    /// Whether an error ended the swarm.
    ended: AtomicBool,
    /// The most parts that are taken by workers and not yet written.
    most_taken: usize,
    observer: &'a dyn SwarmObserver,
}

#[derive(Default)]
struct State {
    /// Parts that wait for a worker, in order.
    read: VecDeque<Numbered>,
    /// The number of parts read.
    parts: usize,
    is_all_read: bool,
    /// Answers that wait for those before them, by number.
    answered: BTreeMap<usize, (Numbered, Answer)>,
    /// The number of parts written.
    written: usize,
    /// The error that ended the swarm.
    error: Option<SwarmError>,
}

/// A part with its number, and the fraction of the batch that was read up to it.
struct Numbered {
    number: usize,
    part: BatchPart,
    progress: f64,
}

/// Ends the swarm if a stage panics, so that no stage waits for it.
struct EndAtPanic<'a, 'b>(&'a Line<'b>);

impl Drop for EndAtPanic<'_, '_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.ended.store(true, Relaxed);
            self.0.moved.notify_all();
        }
    }
}

impl Line<'_> {
    fn spawn<'scope, T: Send + 'scope>(
        &'scope self,
        threads: &'scope Scope<'scope, '_>,
        name: String,
        work: impl FnOnce() -> T + Send + 'scope,
    ) -> Option<ScopedJoinHandle<'scope, T>> {
        let thread = Builder::new().name(name).spawn_scoped(threads, work);
        thread.map_err(|error| self.end(SwarmError::Thread(error))).ok()
    }

    /// Runs the first stage; returns the seconds in which it was busy.
    fn read(&self, parts: &mut impl Parts) -> f64 {
        let _end = EndAtPanic(self);
        let mut busy = 0.0;
        while self.wait(|state| state.read.len() < READ_AHEAD).is_some() {
            let start = Instant::now();
            let next = parts.next_part();
            busy += start.elapsed().as_secs_f64();
            let progress = parts.progress();
            match next {
                Err(error) => self.end(error.into()),
                Ok(next) => {
                    let is_last = next.is_none();
                    let mut state = self.lock();
                    let number = state.parts;
                    state.parts += usize::from(!is_last);
                    state.read.extend(next.map(|part| Numbered { number, part, progress }));
                    state.is_all_read = is_last;
                    self.moved.notify_all();
                    if is_last {
                        break;
                    }
                }
            }
        }
        busy
    }

    /// Runs the second stage for one worker.
    fn work(&self, mut worker: Box<dyn Worker>) -> WorkerReport {
        let _end = EndAtPanic(self);
        let mut report = WorkerReport { name: worker.name(), ..WorkerReport::default() };
        // The part to be written next is always taken first: a full pipeline cannot deadlock.
        let is_next = |state: &State| match state.read.front() {
            Some(part) => part.number < state.written + self.most_taken,
            None => state.is_all_read,
        };
        while let Some(mut state) = self.wait(is_next) {
            let Some(part) = state.read.pop_front() else { break };
            drop(state);
            self.moved.notify_all();
            let start = Instant::now();
            let answer = worker.answer(part.part.slice(), self);
            report.busy += start.elapsed().as_secs_f64();
            report.parts += 1;
            match answer {
                Err(error) => self.end(error),
                Ok(answer) => {
                    self.lock().answered.insert(part.number, (part, answer));
                    self.moved.notify_all();
                }
            }
        }
        report.steps = worker.steps();
        report
    }

    /// Runs the last stage.
    fn write(&self, sink: &mut impl FnMut(&BatchPart, Answer) -> Result<(), SwarmError>) -> Report {
        let _end = EndAtPanic(self);
        let mut report = Report::default();
        let is_next = |state: &State| {
            let is_done = state.is_all_read && state.written == state.parts;
            is_done || state.answered.contains_key(&state.written)
        };
        while let Some(mut state) = self.wait(is_next) {
            let next = state.written;
            let Some((Numbered { part, progress, .. }, answer)) = state.answered.remove(&next)
            else {
                break;
            };
            drop(state);
            let start = Instant::now();
            let written = sink(&part, answer);
            report.write += start.elapsed().as_secs_f64();
            if let Err(error) = written {
                self.end(error);
                break;
            }
            report.add(&part);
            self.lock().written += 1;
            self.moved.notify_all();
            let Report { graphs, vertices, .. } = report;
            self.observer.on_part(&Progress { graphs, vertices, done: progress });
        }
        report
    }

    /// Waits until `is_there` returns true; `None` if the swarm has ended.
    fn wait(&self, is_there: impl Fn(&State) -> bool) -> Option<MutexGuard<'_, State>> {
        let mut state = self.lock();
        loop {
            if self.ended.load(Relaxed) {
                return None;
            }
            if self.observer.is_cancelled() {
                drop(state);
                self.end(SwarmError::Cancelled);
                return None;
            }
            if is_there(&state) {
                return Some(state);
            }
            let waited = self.moved.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the swarm; only the first error is kept.
    fn end(&self, error: SwarmError) {
        self.lock().error.get_or_insert(error);
        self.ended.store(true, Relaxed);
        self.moved.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is valid at all times, also if a thread panicked while holding the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The observer of workers: a swarm that has ended is cancelled for them.
impl Observer for Line<'_> {
    fn is_cancelled(&self) -> bool {
        self.ended.load(Relaxed) || self.observer.is_cancelled()
    }
}

impl Report {
    fn add(&mut self, part: &BatchPart) {
        let graphs = part.slice();
        self.graphs += graphs.len() as u64;
        self.vertices += graphs.vertices();
        self.arcs += graphs.arcs();
        self.parts += 1;
    }
}
