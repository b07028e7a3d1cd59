//! Label propagation on CPU cores; see `README.md` beside this file.

#![doc = include_str!("README.md")]

mod active;
mod asynchronous;
pub(crate) mod check;
mod drafts;
mod low_degree;
mod phased;
mod profile;
mod rank;
mod sketch;
mod state;
mod synchronous;
mod tasks;
mod totals;
mod votes;

use crate::columns::{self, ColumnSpec};
use crate::engine;
use crate::profile::Measured;
use crate::promise::{CheckError, Checked};
use crate::ranks::{CpuRank, RankStart};
use crate::rounds::{Rounds, run_rounds};
use crate::{
    Checkpoint, DynProgram, Executor, Hints, LabelTotal, Outcome, Plan, ProgramInfo, RoundObserver,
    RunError, Settings, Visibility,
};
use asynchronous::AsyncRounds;
use phased::PhasedRounds;
use rank::PhasedRank;
use ripplet_graph::{GraphView, Observer, OutOfMemory, VertexId};
use state::LpState;
use std::env;
use std::ops::Range;
use synchronous::SyncRounds;
use thiserror::Error;

/// The most threads that a user may ask for: more than any host has cores; each costs memory, and starting many
/// thousands takes minutes.
pub const MOST_THREADS: u16 = 4096;

/// Returns the number of threads that `RAYON_NUM_THREADS` in the environment sets in place of one per core, if it does.
pub fn threads_of_environment() -> Option<usize> {
    let threads = env::var("RAYON_NUM_THREADS").ok()?.parse().ok()?;
    (threads > 0).then_some(threads)
}

/// Runs label propagation on a pool of threads.
#[derive(Debug)]
pub struct CpuExecutor {
    pool: rayon::ThreadPool,
}

/// The system refused to start threads.
#[derive(Debug, Error)]
#[error("cannot start {threads} threads: {source}")]
pub struct ThreadError {
    threads: usize,
    source: rayon::ThreadPoolBuildError,
}

impl CpuExecutor {
    /// Creates an executor with this number of threads, or one per core, unless the
    /// [environment](threads_of_environment) has another number.
    ///
    /// # Errors
    /// If the system refuses the threads.
    pub fn new(threads: Option<usize>) -> Result<CpuExecutor, ThreadError> {
        let threads = threads.unwrap_or(0);
        let build = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        build.map(|pool| CpuExecutor { pool }).map_err(|source| ThreadError { threads, source })
    }

    /// Runs `work` on the executor's threads. Runs that `work` starts then need no hand-over to the
    /// pool, which matters if they take microseconds.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn plan_of(&self, graph: GraphView<'_>, program: &ProgramInfo, settings: &Settings) -> Plan {
        self.pool.install(|| plan_of(graph, program, settings, self.threads()))
    }

    /// Returns the plan of a run that updates these vertices, and takes `finishing` bytes after the rounds.
    pub(crate) fn plan_of_part(
        &self,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
        own: Range<VertexId>,
        finishing: u64,
    ) -> Plan {
        let threads = self.threads();
        self.pool.install(|| plan_of_part(graph, program, settings, threads, own, finishing))
    }
}

impl Executor for CpuExecutor {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        self.plan_of(graph, &program.info(), settings)
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        let (graph, info) = (graph, program.info());
        settings.check(graph.vertices(), &info)?;
        self.pool.install(|| {
            let planned = plan_of(graph, &info, settings, self.threads()).algorithm_host();
            let rounds = program.begin(graph, settings).map_err(RunError::from);
            let outcome =
                rounds.and_then(|rounds| run_rounds(rounds, graph, settings, None, observer));
            outcome.map_err(|error| error.planned(planned))
        })
    }
}

/// Returns the memory that a run on `threads` threads needs, by the program's declarations.
fn plan_of(
    graph: GraphView<'_>,
    program: &ProgramInfo,
    settings: &Settings,
    threads: usize,
) -> Plan {
    let finishing = engine::bytes_of_finishing(graph, settings, threads);
    plan_of_part(graph, program, settings, threads, 0..graph.vertices(), finishing)
}

/// Returns the memory of a run that updates the vertices `own`, and takes `finishing` bytes after its rounds.
fn plan_of_part(
    graph: GraphView<'_>,
    program: &ProgramInfo,
    settings: &Settings,
    threads: usize,
    own: Range<VertexId>,
    finishing: u64,
) -> Plan {
    let vertices = u64::from(graph.vertices());
    let specs = &program.columns;
    let draft_len = columns::draft_len(specs);
    let written: Vec<ColumnSpec> = specs.iter().filter(|spec| spec.written).cloned().collect();
    let written = columns::bytes_for(&written, graph.vertices());
    let votes = match settings.counter.keeps_every_label() {
        true => votes::Votes::bytes_for(graph.vertices(), graph.max_degree_of(own.clone())),
        false => sketch::VoteSketch::bytes(),
    };
    let workspace = state::Workspace::bytes_for(votes, draft_len);
    let mut plan = Plan { graph_host: graph.bytes(), ..Plan::default() }
        .with("labels", 4 * vertices)
        .with("active vertices", active::ActiveSet::bytes_for(graph.vertices()))
        .with("vote counters, one a thread", (threads as u64).saturating_mul(workspace));
    let without = plan.algorithm_host();
    plan = with_given(plan, graph, settings);
    let given = plan.algorithm_host() - without;
    if !specs.is_empty() {
        plan = plan.with("columns", columns::bytes_for(specs, graph.vertices()));
    }
    if program.label_total != LabelTotal::None {
        plan = plan.with("label totals", 4 * vertices);
    }
    plan = match settings.schedule.visibility() {
        Visibility::LastRound if written > 0 => {
            plan.with("next labels and columns", written.saturating_add(4 * vertices))
        }
        Visibility::LastRound => plan.with("next labels", 4 * vertices),
        Visibility::EarlierPhases => {
            let phases = settings.schedule.phases();
            plan.with("one phase", phased::bytes_for(own, vertices, phases, draft_len, threads))
        }
        Visibility::Current => plan,
    };
    // Splitting and merging run after all arrays but the results are freed: they add memory only if
    // the run needs less.
    let kept = written.saturating_add(given + 4 * vertices);
    let free = plan.algorithm_host().saturating_sub(kept);
    match finishing.checked_sub(free) {
        Some(more) if more > 0 => plan.with("splitting and merging, beyond that", more),
        _ => plan,
    }
}

/// Adds the labels and columns that the settings provide to a plan.
fn with_given(mut plan: Plan, graph: GraphView<'_>, settings: &Settings) -> Plan {
    if settings.initial.is_some() {
        plan = plan.with("labels to begin with", 4 * u64::from(graph.vertices()));
    }
    if !settings.columns.is_empty() {
        let bytes = settings.columns.values().map(|values| 4 * values.len() as u64).sum();
        plan = plan.with("columns to begin with", bytes);
    }
    plan
}

impl<P: Hints> DynProgram for P {
    fn info(&self) -> ProgramInfo {
        ProgramInfo::of(self)
    }

    fn begin<'a>(
        &'a self,
        graph: GraphView<'a>,
        settings: &Settings,
    ) -> Result<Box<dyn Rounds + 'a>, OutOfMemory> {
        let state = LpState::new(graph, self, settings)?;
        let schedule = settings.schedule;
        Ok(match schedule.visibility() {
            Visibility::LastRound => {
                let fingerprint = settings.resume.as_ref().map_or(0, Checkpoint::fingerprint);
                Box::new(SyncRounds::new(state, fingerprint)?)
            }
            Visibility::EarlierPhases => Box::new(PhasedRounds::new(state, schedule)?),
            Visibility::Current => Box::new(AsyncRounds::new(state, schedule)),
        })
    }

    fn begin_measured<'a>(
        &'a self,
        graph: GraphView<'a>,
        settings: &Settings,
    ) -> Result<Box<dyn Measured + 'a>, OutOfMemory> {
        Ok(Box::new(SyncRounds::new(LpState::new(graph, self, settings)?, 0)?))
    }

    fn check(
        &self,
        graph: GraphView<'_>,
        settings: &Settings,
        sample: u32,
        observer: &dyn Observer,
    ) -> Result<Checked, CheckError> {
        check::check(self, graph, settings, sample, observer)
    }

    fn begin_rank<'a>(
        &'a self,
        graph: GraphView<'a>,
        settings: &Settings,
        start: RankStart,
    ) -> Result<Box<dyn CpuRank + 'a>, OutOfMemory> {
        Ok(Box::new(PhasedRank::new(graph, self, settings, start)?))
    }
}
