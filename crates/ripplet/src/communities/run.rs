//! Runs of a search: its plan, the device, checkpoints and ranks.
//!
//! ```text
//! choices ─▶ device ─▶ checkpoints opened ─▶ promises tested ─▶ ┌ checkpoint ─▶ counter ─▶ labels of ranks ─▶ plan ─▶ rounds ┐ ─▶ small communities
//!                                                               └──────────── once more on the CPU, if a GPU fails ────────┘
//! ```
//!
//! Stages that may fail on one rank alone end with [`CommunitySearch::end_stage`].

use super::error::{CommunitiesError, HostMemoryError, PlannedRun};
use super::found::{FoundLabels, Kind};
use super::kept::{Begun, Follower, Kept};
use super::observer::{SearchEvent, SearchObserver, locked};
use super::report::{CheckpointReport, RankReport, RefinementReport, RunReport};
use super::result::Communities;
use super::search::{Choice, CommunitySearch, OnDevice, or_fail};
use crate::StoredGraph;
use crate::device::{AnyExecutor, Fallback, RunSeconds};
use crate::programs::{BuiltIn, ProgramName};
use ripplet_graph::GraphView;
use ripplet_lp::check::{CheckError, check_program, plan as plan_of_check};
use ripplet_lp::cpu::{CpuExecutor, ThreadError};
use ripplet_lp::refine::{Objective, RefineOptions, dendrogram_bytes, hierarchy_bytes};
use ripplet_lp::small::MinSize;
use ripplet_lp::{
    Counter, DynProgram, Executor, NO_LABEL, Outcome, Plan, RankLabels, RunError, RunIdentity,
    Settings, Sketch, share_checkpoint,
};
use ripplet_ranks::Traffic;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// The memory that a search needs, on the device that it would run on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchEstimate {
    /// The plan; of several GPUs that of the one that needs most.
    pub plan: Plan,
    /// The plan of each of several GPUs, with its name.
    pub of_each: Vec<(String, Plan)>,
    /// The name of the device: `cpu`, or the GPU's number and model.
    pub device: String,
    /// The reason why it is the CPU, if the choice allowed a GPU.
    pub fallback: Option<Fallback>,
    /// How votes would be counted.
    pub counter: Counter,
}

/// What computed.
pub(super) struct ComputedOn {
    pub device: String,
    pub fallback: Option<Fallback>,
}

/// The threads of the CPU beside an executor.
pub(super) enum Pool<'a> {
    /// The threads of an executor on the CPU.
    OfExecutor(&'a CpuExecutor),
    /// Threads that help a GPU.
    BesideGpu(CpuExecutor),
}

impl<'a> Pool<'a> {
    /// Returns the executor's threads; beside a GPU, starts `threads`, or one per core.
    pub fn of(executor: &'a AnyExecutor, threads: Option<usize>) -> Result<Pool<'a>, ThreadError> {
        match executor.cores() {
            Some(cpu) => Ok(Pool::OfExecutor(cpu)),
            None => Ok(Pool::BesideGpu(CpuExecutor::new(threads)?)),
        }
    }

    fn cpu(&self) -> &CpuExecutor {
        match self {
            Pool::OfExecutor(cpu) => cpu,
            Pool::BesideGpu(cpu) => cpu,
        }
    }

    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.cpu().install(work)
    }

    pub fn threads(&self) -> usize {
        self.cpu().threads()
    }
}

impl<'g> CommunitySearch<'g> {
    /// Returns the memory that the run needs, on the device that it would run on: the plan of
    /// [`CommunitySearch::estimate_with`]. [Ranks](CommunitySearch::ranks) call it at the same time.
    ///
    /// # Errors
    /// If the device cannot be opened, or a choice does not fit the graph.
    pub fn plan(&self) -> Result<Plan, CommunitiesError> {
        self.estimate_with(&mut ()).map(|estimate| estimate.plan)
    }

    /// Returns the memory that the run needs, and what it would run on. Under [`Device::auto`](crate::Device::auto) that is
    /// the CPU if the run does not fit the GPU. [Ranks](CommunitySearch::ranks) call it at the same time.
    ///
    /// # Errors
    /// If the device cannot be opened, or a choice does not fit the graph.
    ///
    /// # Examples
    /// ```
    /// use ripplet::graph_from_edges;
    ///
    /// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1)])?;
    /// let estimate = ripplet::communities(&graph).device("cpu".parse()?).estimate_with(&mut ())?;
    /// println!("{} bytes on {}", estimate.plan.total_host(), estimate.device);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn estimate_with(
        &self,
        observer: &mut dyn SearchObserver,
    ) -> Result<SearchEstimate, CommunitiesError> {
        let mut search = self.clone();
        let estimated = match search.refine {
            Some(objective) => search.estimate_refinement(objective, observer),
            None => search.estimate_program(observer),
        };
        or_fail(self.ranks.as_ref(), estimated, observer)
    }

    /// Runs the search, and returns the communities. Under [`Device::auto`](crate::Device::auto), a run that fails on
    /// the GPU is repeated on the CPU.
    ///
    /// # Errors
    /// If the device cannot be opened, a choice does not fit the graph, memory is refused, or the
    /// run fails.
    pub fn run(&self) -> Result<Communities<'g>, CommunitiesError> {
        self.run_with(&mut ())
    }

    /// Runs the search as [`CommunitySearch::run`] does, with an observer, which may cancel.
    ///
    /// # Errors
    /// See [`CommunitySearch::run`]; also if the observer cancels.
    pub fn run_with(
        &self,
        observer: &mut dyn SearchObserver,
    ) -> Result<Communities<'g>, CommunitiesError> {
        let found = self.clone().find(observer).and_then(|(found, kept)| {
            let communities = found.into_communities()?;
            kept.remove();
            Ok(communities)
        });
        or_fail(self.ranks.as_ref(), found, observer)
    }

    /// Runs the search as [`CommunitySearch::run_with`] does, and returns the labels of the vertices, without grouping the
    /// members of each community. Initial labels, columns and seeds are moved into the run, and not copied.
    ///
    /// # Errors
    /// See [`CommunitySearch::run_with`].
    pub fn labels_with(
        self,
        observer: &mut dyn SearchObserver,
    ) -> Result<FoundLabels<'g>, CommunitiesError> {
        let ranks = self.ranks.clone();
        let found = self.find(observer).map(|(found, kept)| {
            kept.remove();
            found
        });
        or_fail(ranks.as_ref(), found, observer)
    }

    /// Finds labels; also returns the checkpoints of the run, which are to be removed when the results are there.
    fn find(
        mut self,
        observer: &mut dyn SearchObserver,
    ) -> Result<(FoundLabels<'g>, Kept), CommunitiesError> {
        match self.refine {
            Some(objective) => self.find_by_refinement(objective, observer),
            None => self.find_by_program(observer),
        }
    }

    fn find_by_program(
        &mut self,
        observer: &mut dyn SearchObserver,
    ) -> Result<(FoundLabels<'g>, Kept), CommunitiesError> {
        let settings = self.resolved()?;
        let program = self.instantiated()?;
        let program = program.get();
        let opened = self.opened()?;
        if self.finds_counter && self.checkpoints.is_some() {
            return Err(CommunitiesError::CheckpointOfFittingCounter);
        }
        let kept = self.open_kept(observer)?;
        // A conversion takes long: what can be refused without it is refused before.
        let stored = self.stored()?;
        let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
        self.check(&opened.0, graph, program, &settings, observer)?;
        let work = |executor: &AnyExecutor, observer: &mut dyn SearchObserver| {
            self.run_program(executor, graph, program, &settings, &kept, observer)
        };
        let executor = opened.0.clone();
        let ((outcome, report), computed_on) = self.on_device(opened, observer, work)?;
        let found = self.labels(outcome, report, computed_on, self.kind(), observer)?;
        Ok((FoundLabels { shared: self.shared(&executor), ..found }, kept))
    }

    /// Returns how the labels of a run of the program make communities.
    pub(super) fn kind(&self) -> Kind {
        let least = self.min_size.map(MinSize::least);
        match self.program {
            Choice::BuiltIn(BuiltIn::Slpa { threshold, .. }) => Kind::Several { threshold, least },
            Choice::BuiltIn(BuiltIn::Seeded { .. }) => Kind::Seeded { least },
            Choice::BuiltIn(_) | Choice::Own(_) => Kind::One,
        }
    }

    /// Returns the labels of a run, in which small communities have joined others, or are left out.
    pub(super) fn labels(
        &self,
        mut outcome: Outcome,
        mut report: RunReport,
        ComputedOn { device, fallback }: ComputedOn,
        kind: Kind,
        observer: &mut dyn SearchObserver,
    ) -> Result<FoundLabels<'g>, CommunitiesError> {
        let unlabelled = outcome.labels.iter().filter(|&&label| label == NO_LABEL).count();
        (report.device, report.fallback) = (device, fallback);
        report.unlabelled = unlabelled as u64;
        if let (Some(size), Kind::One | Kind::Refined { .. }) = (self.min_size, kind) {
            observer.on_stage("looking for small communities");
            report.small = Some(size.apply(self.graph, &mut outcome.labels)?);
        }
        Ok(FoundLabels { graph: self.graph, outcome, report, kind, shared: None })
    }

    /// Opens the folder of checkpoints, if one is chosen.
    fn open_kept(&self, observer: &mut dyn SearchObserver) -> Result<Kept, CommunitiesError> {
        let kept = Kept::open(self.checkpoints.as_ref(), self.is_first());
        match self.checkpoints {
            Some(_) => self.end_stage(kept, observer),
            None => kept,
        }
    }

    /// Tests the promises of the program, if that is chosen and the memory suffices.
    pub(super) fn check(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn SearchObserver,
    ) -> Result<(), CommunitiesError> {
        let Some(sample) = self.check else { return Ok(()) };
        let pool = Pool::of(executor, self.threads)?;
        let Plan { graph_host, .. } = executor.plan(graph, program, settings);
        let threads = pool.threads();
        let plan = pool.install(|| plan_of_check(graph, program, settings, sample, threads));
        let plan = Plan { graph_host, ..plan };
        self.check_host_memory(PlannedRun::Check, &plan)?;
        observer.on_stage("checking the program");
        let watch: &dyn SearchObserver = observer;
        let checked = pool.install(|| check_program(graph, program, settings, sample, watch));
        match checked {
            Ok(checked) => {
                observer.on_event(SearchEvent::Checked(checked));
                Ok(())
            }
            Err(CheckError::Run(error)) => Err(error.into()),
            Err(CheckError::Broken(broken)) => Err(CommunitiesError::Broken(Box::new(broken))),
        }
    }

    /// Adds to the plan of a run what the check before it needs beyond that.
    pub(super) fn with_check(
        &self,
        plan: Plan,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Result<Plan, CommunitiesError> {
        let Some(sample) = self.check else { return Ok(plan) };
        let pool = Pool::of(executor, self.threads)?;
        let threads = pool.threads();
        let check = pool.install(|| plan_of_check(graph, program, settings, sample, threads));
        let check = check.algorithm_host();
        Ok(match check.checked_sub(plan.algorithm_host()) {
            Some(more) if more > 0 => plan.with("checking, beyond that", more),
            _ => plan,
        })
    }

    /// Runs `work` on the device. If `auto` chose a GPU that fails, runs it on the CPU. Also returns what it ran on.
    pub(super) fn on_device<T>(
        &self,
        (executor, fallback): OnDevice,
        observer: &mut dyn SearchObserver,
        mut work: impl FnMut(&AnyExecutor, &mut dyn SearchObserver) -> Result<T, CommunitiesError>,
    ) -> Result<(T, ComputedOn), CommunitiesError> {
        let mut run = |executor: &AnyExecutor, fallback, observer: &mut dyn SearchObserver| {
            let done = work(executor, observer);
            for note in executor.notes() {
                observer.on_event(SearchEvent::DeviceNote(note));
            }
            Ok((done?, ComputedOn { device: executor.name(), fallback }))
        };
        let error = match run(&executor, fallback, observer) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let Some(fallback) = self.device.fallback(&error) else { return Err(error) };
        observer.on_event(SearchEvent::FellBack { fallback: fallback.clone(), error });
        run(&AnyExecutor::cpu(self.threads)?, Some(fallback), observer)
    }

    /// Runs a program on a device.
    fn run_program(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        kept: &Kept,
        observer: &mut dyn SearchObserver,
    ) -> Result<(Outcome, RunReport), CommunitiesError> {
        // Only what reads a graph or a checkpoint beside a GPU needs threads.
        let pool = kept.any.then(|| Pool::of(executor, self.threads)).transpose()?;
        let identity = || match &pool {
            // An executor of a rank does so together with the others.
            Some(pool) if self.ranks.is_none() => {
                pool.install(|| executor.identity(graph, program, settings))
            }
            _ => executor.identity(graph, program, settings),
        };
        let begun = kept.begin(identity, pool.as_ref().map(Pool::cpu), observer);
        let Begun { keeper, resumed, state, looking } = match kept.any {
            true => self.end_stage(begun, observer)?,
            false => begun?,
        };
        let state = match &self.ranks {
            Some(comm) if kept.any => {
                share_checkpoint(&mut locked(comm), state).map_err(RunError::from)?
            }
            _ => state,
        };
        let mut settings = Cow::Borrowed(settings);
        if state.is_some() {
            settings.to_mut().resume = state;
        }
        let (chosen, labels, settings, plan) =
            self.planned(executor, graph, program, settings, observer)?;
        let fits = self.check_run_memory(executor, graph, program, &settings, &plan);
        self.end_stage(fits, observer)?;
        let executor = chosen.as_ref().unwrap_or(executor);
        let start = Instant::now();
        let mut follower = Follower::new(observer, keeper, self.ranks.as_ref());
        let watch = &mut follower;
        let mut run = || executor.run(graph, program, &settings, watch);
        let outcome = match &pool {
            Some(pool) if !executor.is_cpu() => pool.install(run)?,
            _ => run()?,
        };
        follower.measure();
        let measured = measured(start.elapsed(), &follower, &outcome, looking);
        let ranks = self.rank_report(labels, &follower.traffic)?;
        let (counter, exchanged) = (settings.counter, executor.exchanged());
        let report = RunReport { counter, plan, resumed, exchanged, ranks, ..measured };
        Ok((outcome, report))
    }

    /// Returns the traffic of all ranks, from that of this one before the run, after each round, and at the end.
    fn rank_report(
        &self,
        labels: Option<RankLabels>,
        traffic: &[Traffic],
    ) -> Result<Option<RankReport>, RunError> {
        let (Some(comm), Some(labels), [first, .., last]) = (&self.ranks, labels, traffic) else {
            return Ok(None);
        };
        let rounds = &traffic[..traffic.len() - 1];
        let rounds = rounds.windows(2).map(|pair| pair[1].since(pair[0]));
        let parts: Vec<Traffic> = [last.since(*first)].into_iter().chain(rounds).collect();
        let mut parts = Traffic::gather(&mut locked(comm), &parts)?.into_iter();
        let run = parts.next().unwrap_or_default();
        Ok(Some(RankReport { labels, run, rounds: parts.collect() }))
    }

    /// Returns the executor of a rank with the labels that it has chosen, and these; the settings, with the counter that is
    /// to be found for the device's memory; and the plan of the run.
    fn planned<'s>(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: Cow<'s, Settings>,
        observer: &mut dyn SearchObserver,
    ) -> Result<Planned<'s>, CommunitiesError> {
        let settings = self.settings_on(executor, graph, program, settings, observer);
        let chosen = executor.choosing_rank_labels(graph, program, &settings);
        let chosen = self.end_stage(chosen.map_err(CommunitiesError::from), observer)?;
        let (chosen, labels) = chosen.unzip();
        let executor = chosen.as_ref().unwrap_or(executor);
        if let Some(labels) = labels {
            observer.on_event(SearchEvent::RankLabels { labels, program: &program.info() });
        }
        let plan = executor.plan(graph, program, &settings);
        let plan = match self.checkpoints {
            Some(_) => executor.add_checkpoints(plan, graph, program),
            None => plan,
        };
        let plan = self.with_check(plan, executor, graph, program, &settings)?;
        Ok((chosen, labels, settings, plan))
    }

    fn estimate_program(
        &mut self,
        observer: &mut dyn SearchObserver,
    ) -> Result<SearchEstimate, CommunitiesError> {
        let settings = self.resolved()?;
        let program = self.instantiated()?;
        let program = program.get();
        let opened = self.opened()?;
        let stored = self.stored()?;
        let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
        self.estimate_on(opened, observer, |executor, observer| {
            let settings = Cow::Borrowed(&settings);
            let (chosen, _, settings, plan) =
                self.planned(executor, graph, program, settings, observer)?;
            let executor = chosen.as_ref().unwrap_or(executor);
            Ok((plan, executor.plans(graph, program, &settings), settings.counter))
        })
    }

    /// Returns the estimate of a run on the device that it would run on, of its plan, the plan of each GPU, and the counter.
    pub(super) fn estimate_on(
        &self,
        opened: OnDevice,
        observer: &mut dyn SearchObserver,
        mut plan: impl FnMut(&AnyExecutor, &mut dyn SearchObserver) -> Result<Plans, CommunitiesError>,
    ) -> Result<SearchEstimate, CommunitiesError> {
        let work = |executor: &AnyExecutor, observer: &mut dyn SearchObserver| {
            let (plan, of_each, counter) = plan(executor, observer)?;
            let fits = match self.device.is_auto() {
                // A run that does not fit a GPU would use the CPU, with another plan.
                true => executor.check_memory(&plan).map_err(CommunitiesError::from),
                false => Ok(()),
            };
            self.end_stage(fits, observer)?;
            Ok((plan, of_each, counter))
        };
        let ((plan, of_each, counter), computed_on) = self.on_device(opened, observer, work)?;
        let ComputedOn { device, fallback } = computed_on;
        Ok(SearchEstimate { plan, of_each, device, fallback, counter })
    }

    /// Returns the settings, with the counter that is to be found for the device's memory.
    pub(super) fn settings_on<'s>(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: Cow<'s, Settings>,
        observer: &mut dyn SearchObserver,
    ) -> Cow<'s, Settings> {
        if !self.finds_counter {
            return settings;
        }
        let fits = |plan: &Plan| self.check_host_memory(PlannedRun::Run, plan);
        let (counter, why) = executor.fitting_counter(graph, program, &settings, fits);
        if let Some(why) = why {
            observer.on_event(SearchEvent::Counter { counter, why });
        }
        match counter == settings.counter {
            true => settings,
            false => Cow::Owned(Settings { counter, ..settings.into_owned() }),
        }
    }

    /// Refuses a plan that exceeds the limit of host memory, with the graph that was given if the run works on a copy.
    pub(super) fn check_host_memory(
        &self,
        run: PlannedRun,
        plan: &Plan,
    ) -> Result<(), CommunitiesError> {
        let Some(limit) = self.host_memory else { return Ok(()) };
        let original = match self.is_converted() {
            true => self.graph.bytes(),
            false => 0,
        };
        let needed = limit.needed(plan).saturating_add(original);
        if needed <= limit.bytes() {
            return Ok(());
        }
        Err(HostMemoryError { run, plan: plan.clone(), needed, limit, smaller: None }.into())
    }

    /// Refuses a plan of label propagation as [`CommunitySearch::check_host_memory`] does; its error has a counter that fits.
    pub(super) fn check_run_memory(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        plan: &Plan,
    ) -> Result<(), CommunitiesError> {
        self.check_host_memory(PlannedRun::Run, plan).map_err(|error| match error {
            CommunitiesError::HostMemory(mut error) => {
                error.smaller = self.smaller_counter(executor, graph, program, settings);
                CommunitiesError::HostMemory(error)
            }
            error => error,
        })
    }

    /// Returns a counter that needs less memory on the CPU than these settings, and fits.
    fn smaller_counter(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Option<Counter> {
        let is_cdlp = matches!(self.program, Choice::BuiltIn(of) if of.name() == ProgramName::Cdlp);
        let follows = program.info().follows_frequency && !is_cdlp;
        if !executor.is_cpu() || !settings.counter.keeps_every_label() || !follows {
            return None;
        }
        let counter = Counter::from(Sketch::of_eight());
        let plan = executor.plan(graph, program, &Settings { counter, ..settings.clone() });
        self.check_host_memory(PlannedRun::Run, &plan).is_ok().then_some(counter)
    }

    fn find_by_refinement(
        &mut self,
        objective: Objective,
        observer: &mut dyn SearchObserver,
    ) -> Result<(FoundLabels<'g>, Kept), CommunitiesError> {
        let options = self.refinement(objective)?;
        let opened = self.opened()?;
        let stored = self.stored()?;
        let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
        let kept = self.open_kept(observer)?;
        let ((outcome, report), computed_on) =
            self.on_device(opened, observer, |executor, observer| {
                self.refine_on(executor, graph, &options, &kept, observer)
            })?;
        let kind = Kind::Refined { objective, seed: options.seed };
        Ok((self.labels(outcome, report, computed_on, kind, observer)?, kept))
    }

    /// Refines on a device.
    fn refine_on(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        options: &RefineOptions,
        kept: &Kept,
        observer: &mut dyn SearchObserver,
    ) -> Result<(Outcome, RunReport), CommunitiesError> {
        let pool = Pool::of(executor, self.threads)?;
        let plan = self.refinement_plan(executor, graph, options, pool.threads());
        self.check_host_memory(PlannedRun::Run, &plan)?;
        let identity = || Ok(pool.install(|| RunIdentity::of_refinement(graph, options)));
        let Begun { keeper, resumed, state, looking } =
            kept.begin(identity, Some(pool.cpu()), observer)?;
        let mut options = Cow::Borrowed(options);
        if state.is_some() {
            options.to_mut().resume = state;
        }
        let start = Instant::now();
        let mut follower = Follower::new(observer, keeper, None);
        let watch = &mut follower;
        let (refined, device_seconds) =
            pool.install(|| executor.run_refinement(graph, &options, watch))?;
        let all = start.elapsed();
        let refinement = Some(RefinementReport::from(&refined));
        let outcome = Outcome { device_seconds, ..Outcome::from(refined) };
        let measured = measured(all, &follower, &outcome, looking);
        let report = RunReport { plan, resumed, refinement, ..measured };
        Ok((outcome, report))
    }

    fn estimate_refinement(
        &mut self,
        objective: Objective,
        observer: &mut dyn SearchObserver,
    ) -> Result<SearchEstimate, CommunitiesError> {
        let options = self.refinement(objective)?;
        let opened = self.opened()?;
        let stored = self.stored()?;
        let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
        self.estimate_on(opened, observer, |executor, _| {
            let threads = Pool::of(executor, self.threads)?.threads();
            let plan = self.refinement_plan(executor, graph, &options, threads);
            Ok((plan, Vec::new(), Counter::EXACT))
        })
    }

    /// Returns the plan of a refinement, with that of its checkpoints and of what is found after it.
    fn refinement_plan(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        options: &RefineOptions,
        threads: usize,
    ) -> Plan {
        let plan = executor.plan_refinement(graph, options, threads);
        let plan = self.with_tables(plan, graph);
        match self.checkpoints {
            Some(_) => executor.add_checkpoints_of_refinement(plan, graph),
            None => plan,
        }
    }

    /// Adds to the plan of a refinement what is found after it.
    pub(super) fn with_tables(&self, mut plan: Plan, graph: GraphView<'_>) -> Plan {
        let vertices = graph.vertices().into();
        if self.levels {
            plan = plan.with("levels", hierarchy_bytes(vertices));
        }
        if self.dendrogram {
            // At most: each vertex may be a community.
            plan = plan.with("a dendrogram", dendrogram_bytes(vertices, graph.arcs()));
        }
        plan
    }
}

/// Returns the report of a run that took this time in all: its seconds, and its checkpoints.
fn measured(all: Duration, follower: &Follower<'_>, outcome: &Outcome, looking: f64) -> RunReport {
    let written = follower.written();
    let mut seconds = RunSeconds::default();
    seconds.add(all.as_secs_f64() - written.map_or(0.0, |written| written.seconds), outcome);
    let checkpoints = written.map(|written| CheckpointReport { written, looking });
    RunReport { seconds, checkpoints, ..RunReport::default() }
}

/// What a run on a device begins with; see [`CommunitySearch::planned`].
type Planned<'s> = (Option<AnyExecutor>, Option<RankLabels>, Cow<'s, Settings>, Plan);

/// The plan of a run, that of each of several GPUs, and the counter.
type Plans = (Plan, Vec<(String, Plan)>, Counter);
