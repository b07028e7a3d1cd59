//! Runs on a thread of their own, without the GIL: Ctrl-C ends them, and progress is reported.

use crate::error::{Class, Failure};
use pyo3::prelude::*;
use ripplet::Observer;
use ripplet::analyses::AnalysisObserver;
use ripplet::communities::SearchObserver;
use ripplet::graph::Cancel;
use ripplet::lp::cpu::CpuExecutor;
use ripplet::lp::{Round, RoundObserver};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two looks at signals and progress.
const TICK: Duration = Duration::from_millis(20);
/// The time that a cancelled run has to end. A stage without a check, such as sorting ids, is left behind: its thread
/// ends with the stage, and its result is dropped.
const GRACE: Duration = Duration::from_millis(120);
/// The stack of a run's thread: that of a main thread.
const STACK: usize = 8 << 20;

/// What a run reports, shared with the thread that waits for it.
#[derive(Default)]
struct Shared {
    cancel: Cancel,
    reported: Mutex<Reported>,
}

/// The last report of a run.
#[derive(Clone, Debug, Default, PartialEq)]
struct Reported {
    stage: &'static str,
    /// The completed fraction of the stage, if it is known.
    done: Option<f64>,
    /// The rounds so far.
    rounds: usize,
    /// The vertices that changed in the last round.
    changed: Option<u64>,
}

/// Observer of a run, which passes its reports on and may cancel it.
#[derive(Clone, Default)]
pub struct Watch(Arc<Shared>);

impl Watch {
    fn report(&self, change: impl FnOnce(&mut Reported)) {
        change(&mut self.0.reported.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn reported(&self) -> Reported {
        self.0.reported.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the flag that cancels the run.
    pub fn cancel(&self) -> Cancel {
        self.0.cancel.clone()
    }

    /// Reports the begin of a stage that has no observer.
    pub fn stage(&self, stage: &'static str) {
        self.report(|reported| *reported = Reported { stage, ..Reported::default() });
    }
}

impl Observer for Watch {
    fn on_stage(&mut self, name: &'static str) {
        self.report(|reported| (reported.stage, reported.done) = (name, None));
    }

    fn on_progress(&self, done: f64) {
        self.report(|reported| reported.done = Some(done));
    }

    fn is_cancelled(&self) -> bool {
        self.0.cancel.is_cancelled()
    }
}

impl RoundObserver for Watch {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.report(|reported| {
            (reported.rounds, reported.changed) = (index + 1, Some(round.changed))
        });
    }
}

impl SearchObserver for Watch {}

impl AnalysisObserver for Watch {}

/// How a run is started: its threads, and the callable that takes its progress.
#[derive(Debug, Default)]
pub struct Start {
    pub threads: Option<usize>,
    /// Called with the stage, the completed fraction or `None`, the rounds and the changed vertices or `None`.
    pub progress: Option<Py<PyAny>>,
}

impl Start {
    /// Runs `work` on a pool of threads, and returns its result. The calling thread waits without the GIL.
    ///
    /// A pool of its own for each run, and none that is shared, so that a process may fork between runs.
    ///
    /// # Errors
    /// If the work fails or panics, a signal's handler raises, or the system refuses the threads.
    pub fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Watch) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let threads = self.threads;
        self.wait(py, move |watch| CpuExecutor::new(threads)?.install(move || work(watch)))
    }

    /// Runs `work`, which starts its threads by itself, as [`Start::run`] does.
    pub fn wait<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Watch) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let watch = Watch::default();
        let mut of_run = watch.clone();
        let (send, receive) = channel();
        // A receiver alone cannot be used in a closure without the GIL.
        let receive = Mutex::new(receive);
        let run = move || {
            // Without a receiver, the result is dropped.
            let _ = send.send(work(&mut of_run));
        };
        let spawned = thread::Builder::new().name("ripplet".into()).stack_size(STACK).spawn(run);
        spawned
            .map_err(|error| Failure::new(Class::Run, format!("no thread for the run: {error}")))?;
        let (mut last, mut raised) = (Reported::default(), None::<(PyErr, Instant)>);
        loop {
            let wait = || receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK);
            match py.detach(wait) {
                Ok(result) => {
                    return match raised {
                        None => result.map_err(PyErr::from),
                        Some((error, _)) => Err(error),
                    };
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let message =
                        "the run ended by a panic, which is an error of ripplet; please report it";
                    return Err(raised.map_or_else(
                        || Failure::new(Class::Run, message).into(),
                        |(error, _)| error,
                    ));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some((error, since)) = raised.take() {
                if since.elapsed() > GRACE {
                    return Err(error);
                }
                raised = Some((error, since));
                continue;
            }
            let looked = py.check_signals().and_then(|()| self.tell(py, &watch, &mut last));
            if let Err(error) = looked {
                watch.0.cancel.cancel();
                raised = Some((error, Instant::now()));
            }
        }
    }

    /// Calls the callable for progress if there is news.
    fn tell(&self, py: Python<'_>, watch: &Watch, last: &mut Reported) -> PyResult<()> {
        let Some(progress) = &self.progress else { return Ok(()) };
        let reported = watch.reported();
        if reported == *last {
            return Ok(());
        }
        let Reported { stage, done, rounds, changed } = reported;
        progress.call1(py, (stage, done, rounds, changed))?;
        let reported = Reported { stage, done, rounds, changed };
        *last = reported;
        Ok(())
    }
}
