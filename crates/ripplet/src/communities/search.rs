//! The builder of a run.

use super::kept::Kept;
use super::result::{Communities, ComputedOn};
use crate::checkpoints::{CheckpointError, CheckpointOptions, ResumeError};
use crate::device::{AnyExecutor, Device, DeviceFailure, Fallback, OpenError, threads_beside};
use crate::programs::{BuiltIn, ProgramError, ProgramName};
use crate::{Storage, StoredGraph};
use ripplet_graph::{GraphView, OutOfMemory, VertexId};
use ripplet_lp::cpu::{CpuExecutor, ThreadError};
use ripplet_lp::engine::Parts;
use ripplet_lp::programs::{
    BadAttenuation, BadThreshold, Seed, SeedError, Seeded, Seeding, memberships, strengths,
};
use ripplet_lp::quality::QualityError;
use ripplet_lp::refine::{MergeShare, Objective, ProfileOptions, RefineError, RefineOptions};
use ripplet_lp::small::{MinSize, drop_small_memberships};
use ripplet_lp::{
    Counter, DynProgram, Executor, Label, NO_LABEL, Outcome, Plan, RankLabels, RoundObserver,
    RunError, RunIdentity, Schedule, Settings, Stop,
};
use ripplet_ranks::SharedComm;
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::{Arc, PoisonError};
use thiserror::Error;

/// Starts the choices of a run of label propagation on a graph; see [`CommunitySearch`].
///
/// The graph has plain or compressed lists; the communities are the same. Unless something else is chosen, the program is
/// `lpa` and the device [`Device::auto`].
///
/// # Examples
/// ```
/// use ripplet::graph_from_edges;
///
/// // Two triangles with one edge between them.
/// let pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "f"), ("f", "d"), ("c", "d")];
/// let graph = graph_from_edges(pairs)?;
/// let found = ripplet::communities(&graph).run()?;
/// let sizes: Vec<usize> = found.iter().map(|community| community.len()).collect();
/// assert_eq!(sizes, [3, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn communities<'g>(graph: impl Into<GraphView<'g>>) -> CommunitySearch<'g> {
    CommunitySearch {
        graph: graph.into(),
        program: Choice::BuiltIn(ProgramName::Lpa.into()),
        refine: None,
        fixed: Vec::new(),
        max_size: None,
        min_size: None,
        finds_counter: false,
        device: Device::auto(),
        schedule: None,
        stop: None,
        keep_disconnected: None,
        merge: None,
        storage: None,
        settings: Settings::default(),
        seeds: Vec::new(),
        seeding: Seeding::default(),
        threads: None,
        device_memory: None,
        host_memory: None,
        checkpoints: None,
        ranks: None,
        parts: None,
        rank_labels: RankLabels::Auto,
    }
}

/// Choices of a run of label propagation on a graph, with a default for each.
///
/// ```
/// use ripplet::lp::{Counter, Schedule, Stop};
/// use ripplet::{Device, Storage};
/// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
/// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
/// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
///
/// let found = ripplet::communities(&graph)
///     .program("llp")?
///     .parameter("gamma", 0.25)?
///     .device("cpu".parse()?)
///     .schedule(Schedule::sync())
///     .counter(Counter::EXACT)
///     .storage(Storage::Compressed)
///     .stop(Stop::after(20))
///     .seed(7)
///     .run()?;
/// assert!(found.outcome().rounds.len() <= 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CommunitySearch<'g> {
    pub(super) graph: GraphView<'g>,
    program: Choice,
    /// The score to increase by refinement, in place of the program.
    refine: Option<Objective>,
    /// The vertices that keep their community under refinement.
    fixed: Vec<VertexId>,
    /// The most vertices of a community under refinement.
    max_size: Option<NonZeroU32>,
    /// The least size of a community, and what becomes of smaller ones.
    min_size: Option<MinSize>,
    /// Whether the counter is the one that fits the memory, instead of the settings'.
    finds_counter: bool,
    device: Device,
    schedule: Option<Schedule>,
    stop: Option<Stop>,
    keep_disconnected: Option<bool>,
    merge: Option<Option<MergeShare>>,
    storage: Option<Storage>,
    /// The settings for which programs have no default.
    settings: Settings,
    seeds: Vec<Seed>,
    seeding: Seeding,
    pub(super) threads: Option<usize>,
    device_memory: Option<u64>,
    host_memory: Option<u64>,
    checkpoints: Option<CheckpointOptions>,
    ranks: Option<SharedComm>,
    /// The vertices of each rank, if it has their lists alone.
    parts: Option<Parts>,
    rank_labels: RankLabels,
}

#[derive(Clone)]
enum Choice {
    BuiltIn(BuiltIn),
    Own(Arc<dyn DynProgram>),
}

/// Error of a search for communities.
#[derive(Debug, Error)]
pub enum CommunitiesError {
    /// The program or a parameter does not exist.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The device cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The system refuses the threads.
    #[error(transparent)]
    Threads(#[from] ThreadError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Memory for the graph in another storage, or for the result, is refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The attenuation of `seeded` is out of its range.
    #[error(transparent)]
    Attenuation(#[from] BadAttenuation),
    /// The threshold of `slpa` is out of its range.
    #[error(transparent)]
    Threshold(#[from] BadThreshold),
    /// A seed does not fit the graph.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// `seeded` has no seeds.
    #[error("seeded begins with vertices whose cluster is known, but no seeds are given")]
    NoSeeds,
    /// The modularity of a sweep could not be measured.
    #[error(transparent)]
    Quality(#[from] QualityError),
    /// Refinement is not possible on this graph, or with these choices of it.
    #[error(transparent)]
    Refine(#[from] RefineError),
    /// A choice of label propagation is made for refinement, which has none of it.
    #[error("{0} is a choice of label propagation, and refinement has none; leave it out")]
    UnusedByRefinement(&'static str),
    /// A choice is made for a resolution profile, which has none of it.
    #[error("a resolution profile has no choice of {0}; leave it out")]
    UnusedByProfile(&'static str),
    /// A choice of refinement is made for label propagation, which has none of it.
    #[error("{0} are a choice of refinement, and label propagation has none; choose refinement")]
    OnlyForRefinement(&'static str),
    /// A choice is not possible on several ranks.
    #[error("{0} is not possible on several ranks; leave it out, or run it in one process")]
    NotOnRanks(&'static str),
    /// A choice needs the whole graph on each rank.
    #[error(
        "{0} is not possible on parts of a graph; leave it out, or load the whole graph on each rank"
    )]
    NotOnParts(&'static str),
    /// Communities that share vertices cannot join one another.
    #[error(
        "small communities join others only if communities share no vertex, but the program is {0}; drop them"
    )]
    JoinOverlapping(String),
    /// Communities that join may exceed the limit of sizes.
    #[error(
        "small communities that join others may make ones larger than the limit of sizes; drop them, or leave the limit out"
    )]
    JoinBeyondMaxSize,
    /// The run needs more host memory than it may use.
    #[error(
        "the run needs {needed} bytes of host memory with its graph, more than the limit of {limit}; allow more, or \
         choose a smaller sketch or compressed storage"
    )]
    HostMemory {
        /// The bytes of the plan.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// The run cannot keep checkpoints, or go on from one.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A checkpoint keeps the state of one run.
    #[error("{0} is many runs, and a checkpoint keeps the state of one; leave one of both out")]
    CheckpointOfMany(&'static str),
    /// A counter that fits may be another one when the run goes on.
    #[error(
        "a counter that fits depends on the memory at hand, and a run that goes on must count as it began; name the \
         counter"
    )]
    CheckpointOfFittingCounter,
    /// Seeds are given to another program.
    #[error("seeds are for the program seeded, but the program is {0}")]
    UnusedSeeds(String),
}

impl From<ResumeError> for CommunitiesError {
    fn from(error: ResumeError) -> CommunitiesError {
        CheckpointError::Resume(error).into()
    }
}

impl DeviceFailure for CommunitiesError {
    fn is_of_device(&self) -> bool {
        match self {
            CommunitiesError::Run(error) => error.is_of_device(),
            CommunitiesError::Refine(error) => error.is_of_device(),
            _ => false,
        }
    }
}

impl<'g> CommunitySearch<'g> {
    /// Chooses a program by name, with its default parameters; see [`crate::programs`].
    ///
    /// # Errors
    /// If there is no such program.
    pub fn program(mut self, name: &str) -> Result<Self, ProgramError> {
        self.program = Choice::BuiltIn(BuiltIn::from_name(name)?);
        Ok(self)
    }

    /// Sets a parameter of the program that was chosen by name.
    ///
    /// # Errors
    /// If the program has no such parameter, or the value does not fit it.
    pub fn parameter(mut self, name: &str, value: impl ToString) -> Result<Self, ProgramError> {
        match &mut self.program {
            Choice::BuiltIn(program) => *program = program.with(name, &value.to_string())?,
            Choice::Own(program) => {
                let program = program.info().name;
                return Err(ProgramError::OwnProgram { program, parameter: name.into() });
            }
        }
        Ok(self)
    }

    /// Chooses a program that ripplet ships, as a value.
    #[must_use]
    pub fn built_in(mut self, program: BuiltIn) -> Self {
        self.program = Choice::BuiltIn(program);
        self
    }

    /// Chooses a program of your own, as a value: a [`Program`](ripplet_lp::Program).
    #[must_use]
    pub fn own_program(mut self, program: impl DynProgram + 'static) -> Self {
        self.program = Choice::Own(Arc::new(program));
        self
    }

    /// Chooses a program of your own in a box, such as one compiled from a file.
    #[must_use]
    pub fn own_boxed(mut self, program: Box<dyn DynProgram>) -> Self {
        self.program = Choice::Own(program.into());
        self
    }

    /// Chooses refinement of a score in place of label propagation: communities of the quality of
    /// the Leiden algorithm; see [`ripplet_lp::refine`].
    ///
    /// It runs on the CPU or on one GPU. Seed, initial labels, storage and threads apply as well;
    /// schedule, counter, stop rule and seeds do not.
    ///
    /// ```
    /// use ripplet::lp::refine::{Objective, Resolution};
    /// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
    /// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
    /// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
    ///
    /// let found = ripplet::communities(&graph).refine(Objective::Modularity(Resolution::Auto)).run()?;
    /// assert_eq!(found.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn refine(mut self, objective: Objective) -> Self {
        self.refine = Some(objective);
        self
    }

    /// Sets the vertices that keep the community that they begin with, for refinement: see
    /// [`RefineOptions::fixed`].
    ///
    /// ```
    /// use ripplet::lp::refine::{Objective, Resolution};
    /// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
    /// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
    /// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
    ///
    /// // The first two vertices begin apart, and stay so.
    /// let one = Objective::Modularity(Resolution::Fixed(1.0));
    /// let found = ripplet::communities(&graph).refine(one).fixed([0, 1]).run()?;
    /// assert_eq!(found.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fixed(mut self, vertices: impl IntoIterator<Item = VertexId>) -> Self {
        self.fixed = vertices.into_iter().collect();
        self
    }

    /// Limits the vertices of a community, for refinement.
    #[must_use]
    pub fn max_size(mut self, vertices: NonZeroU32) -> Self {
        self.max_size = Some(vertices);
        self
    }

    /// Sets the least size of a community, and what becomes of smaller ones: their members are left out, or join a
    /// neighbour, also those that are [fixed](CommunitySearch::fixed). With `slpa`, `seeded` and
    /// [`CommunitySearch::max_size`] they can only be left out.
    ///
    /// ```
    /// use ripplet::lp::small::MinSize;
    /// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 5 };
    /// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3], vec![1, 2, 0, 4])?;
    /// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
    ///
    /// // A triangle, and a pair that no edge connects to it.
    /// let found = ripplet::communities(&graph).min_size(MinSize::Join(3)).run()?;
    /// assert_eq!(found.iter().map(|community| community.len()).collect::<Vec<_>>(), [3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn min_size(mut self, size: MinSize) -> Self {
        self.min_size = Some(size);
        self
    }

    /// Chooses the device.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Chooses the schedule.
    #[must_use]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = Some(schedule);
        self
    }

    /// Chooses the counter of votes.
    #[must_use]
    pub fn counter(mut self, counter: Counter) -> Self {
        self.settings.counter = counter;
        self.finds_counter = false;
        self
    }

    /// Chooses the counter by the memory: exact if its tables fit the device and [`CommunitySearch::host_memory`], and
    /// otherwise a sketch of eight labels ([`AnyExecutor::fitting_counter`]). [`Communities::counter`] says which.
    #[must_use]
    pub fn fitting_counter(mut self) -> Self {
        self.finds_counter = true;
        self
    }

    /// Chooses the storage of the neighbour lists. If the graph has the other one, the run works
    /// on a converted copy.
    #[must_use]
    pub fn storage(mut self, storage: Storage) -> Self {
        self.storage = Some(storage);
        self
    }

    /// Chooses the stop rule.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Sets the seed of all random draws.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Sets whether disconnected communities stay as they are. Otherwise each connected part is a
    /// community.
    #[must_use]
    pub fn keep_disconnected(mut self, keep: bool) -> Self {
        self.keep_disconnected = Some(keep);
        self
    }

    /// Sets whether communities merge at the end, and at which share of their votes; `lpa` does so by
    /// default, unless it has initial labels.
    #[must_use]
    pub fn merge(mut self, share: Option<MergeShare>) -> Self {
        self.merge = Some(share);
        self
    }

    /// Sets the initial labels, one per vertex; by default each vertex has its own.
    #[must_use]
    pub fn initial_labels(mut self, labels: Vec<Label>) -> Self {
        self.settings.initial = Some(labels);
        self
    }

    /// Sets the vertices whose cluster is known, for the program `seeded`.
    ///
    /// ```
    /// use ripplet::lp::programs::{Seed, Seeding};
    /// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
    /// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
    /// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
    ///
    /// let bad = graph.ids().find(4_u32.into()).ok_or("no such vertex")?;
    /// let seed = Seed { vertex: bad, label: bad, strength: 1.0 };
    /// let search = ripplet::communities(&graph).program("seeded")?.parameter("attenuation", 0.5)?;
    /// let found = search.seeds([seed], Seeding::Fixed).device("cpu".parse()?).run()?;
    /// assert_eq!(found.iter().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn seeds(mut self, seeds: impl IntoIterator<Item = Seed>, seeding: Seeding) -> Self {
        self.seeds = seeds.into_iter().collect();
        self.seeding = seeding;
        self
    }

    /// Replaces all settings at once: for columns, checkpoints, and published settings such as
    /// [`Settings::nu_mg8`].
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.schedule = Some(settings.schedule);
        self.stop = Some(settings.stop.clone());
        self.keep_disconnected = Some(settings.keep_disconnected);
        self.merge = Some(settings.merge);
        self.finds_counter = false;
        self.settings = settings;
        self
    }

    /// Sets the threads of the CPU; by default one per core, and on [ranks](CommunitySearch::ranks) that share a machine, a
    /// rank's [share](ripplet_ranks::Hosts::share_of) of the cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Limits the bytes of a GPU's memory that the run may use; by default all that is free.
    #[must_use]
    pub fn device_memory(mut self, bytes: u64) -> Self {
        self.device_memory = Some(bytes);
        self
    }

    /// Limits the bytes of host memory of the run's plan, the graph among them. A run whose plan exceeds it is refused; a
    /// GPU then keeps less on the host, if it can. What comes after the run, small communities and the members of each
    /// (see [`Communities`]), is not in the plan.
    #[must_use]
    pub fn host_memory(mut self, bytes: u64) -> Self {
        self.host_memory = Some(bytes);
        self
    }

    /// Keeps the state of the run in a folder from time to time, so that it can go on after it was killed; see
    /// [`crate::checkpoints`]. The checkpoints are removed when the communities are found.
    ///
    /// A run that goes on has the labels, columns and counts of one that was not interrupted, also on another number of
    /// threads or on another device. [`Communities::resumed`] says from where it went on.
    #[must_use]
    pub fn checkpoints(mut self, options: CheckpointOptions) -> Self {
        self.checkpoints = Some(options);
        self
    }

    /// Shares the run with other processes, the ranks, which all make the same choices on the same graph.
    ///
    /// Each rank updates a part of the vertices on its CPU, and each gets the communities of one process. Ranks on one
    /// machine divide its cores, unless [`CommunitySearch::threads`] or the
    /// [environment](ripplet_lp::cpu::threads_of_environment) has a number. A run that fails on a rank aborts the
    /// communicator, and fails on all.
    ///
    /// ```
    /// use ripplet::ranks::Threads;
    /// use std::sync::{Arc, Mutex};
    /// use std::time::Duration;
    /// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
    /// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
    /// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
    ///
    /// // Processes that `mpirun` started call `ripplet::ranks::mpi::open` instead.
    /// let found = Threads::run(2, Duration::from_secs(10), |comm| {
    ///     let comm = Arc::new(Mutex::new(comm));
    ///     ripplet::communities(&graph).ranks(comm).run().map(|found| found.len())
    /// });
    /// for communities in found {
    ///     assert_eq!(communities?, 2);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ranks(mut self, comm: SharedComm) -> Self {
        (self.ranks, self.parts) = (Some(comm), None);
        self
    }

    /// Shares the run as [`CommunitySearch::ranks`] does, of a graph of which each rank has the lists of its own vertices:
    /// see [`LoadOptions::load_part`](crate::LoadOptions::load_part), which has an example.
    ///
    /// `seeded` and small communities that join others need the whole graph on each rank. Hooks of a program of your own must
    /// not read the degrees of neighbours. Members have ids on the ranks whose graph has them.
    #[must_use]
    pub fn ranks_with_parts(mut self, comm: SharedComm, parts: Parts) -> Self {
        (self.ranks, self.parts) = (Some(comm), Some(parts));
        self
    }

    /// Sets the vertices whose labels each rank has in the rounds; by default, what sends fewer bytes. Communities do not
    /// depend on it.
    #[must_use]
    pub fn rank_labels(mut self, labels: RankLabels) -> Self {
        self.rank_labels = labels;
        self
    }

    /// Returns the settings of the run of a sweep, with the program's defaults.
    pub(super) fn resolved_of_sweep(&self) -> Result<Settings, CommunitiesError> {
        if self.refine.is_some() {
            return Err(CommunitiesError::UnusedByRefinement("a sweep"));
        }
        if self.ranks.is_some() {
            return Err(CommunitiesError::NotOnRanks("a sweep"));
        }
        if self.checkpoints.is_some() {
            return Err(CommunitiesError::CheckpointOfMany("a sweep"));
        }
        self.resolved()
    }

    /// Returns the settings of the run, with the program's defaults.
    fn resolved(&self) -> Result<Settings, CommunitiesError> {
        let need_lists = [
            ("seeded", matches!(self.program, Choice::BuiltIn(BuiltIn::Seeded { .. }))),
            ("joining small communities", matches!(self.min_size, Some(MinSize::Join(_)))),
            ("another storage of the lists", self.is_converted()),
        ];
        if let Some(&(choice, _)) = need_lists.iter().find(|(_, needs)| *needs)
            && self.parts.is_some()
        {
            return Err(CommunitiesError::NotOnParts(choice));
        }
        if !self.fixed.is_empty() {
            return Err(CommunitiesError::OnlyForRefinement("fixed vertices"));
        }
        if self.max_size.is_some() {
            return Err(CommunitiesError::OnlyForRefinement("limits of sizes"));
        }
        let Settings { schedule, stop, keep_disconnected: keeps, merge, .. } = match &self.program {
            Choice::BuiltIn(program) => program.settings(),
            Choice::Own(program) => Settings {
                schedule: program.info().schedule,
                keep_disconnected: false,
                merge: None,
                ..Settings::default()
            },
        };
        if let (Some(MinSize::Join(_)), Choice::BuiltIn(program)) = (self.min_size, &self.program)
            && !program.name().is_partition()
        {
            return Err(CommunitiesError::JoinOverlapping(program.name().to_string()));
        }
        let settings = Settings {
            schedule: self.schedule.unwrap_or(schedule),
            stop: self.stop.clone().unwrap_or(stop),
            keep_disconnected: self.keep_disconnected.unwrap_or(keeps),
            merge: self.merge.unwrap_or(merge.filter(|_| self.settings.initial.is_none())),
            ..self.settings.clone()
        };
        match &self.program {
            Choice::BuiltIn(BuiltIn::Seeded { .. }) if self.seeds.is_empty() => {
                Err(CommunitiesError::NoSeeds)
            }
            Choice::BuiltIn(BuiltIn::Seeded { .. }) => {
                let vertices = self.graph.vertices();
                Ok(Seeded::begin(settings, vertices, &self.seeds, self.seeding)?)
            }
            _ if self.seeds.is_empty() => Ok(settings),
            Choice::BuiltIn(program) => {
                Err(CommunitiesError::UnusedSeeds(program.name().to_string()))
            }
            Choice::Own(program) => Err(CommunitiesError::UnusedSeeds(program.info().name)),
        }
    }

    fn instantiated(&self) -> Result<Instance, BadAttenuation> {
        Ok(match &self.program {
            Choice::BuiltIn(program) => Instance::BuiltIn(program.instantiate(self.graph)?),
            Choice::Own(program) => Instance::Own(program.clone()),
        })
    }

    pub(super) fn opened(&self) -> Result<OnDevice, CommunitiesError> {
        if let Some(comm) = &self.ranks {
            let refused = [
                ("refinement", self.refine.is_some()),
                ("a GPU", !self.device.is_cpu() && !self.device.is_auto()),
                ("a limit of device memory", self.device_memory.is_some()),
                ("a counter that fits", self.finds_counter),
                ("a checkpoint", self.checkpoints.is_some()),
            ];
            if let Some(&(choice, _)) = refused.iter().find(|(_, is_made)| *is_made) {
                return Err(CommunitiesError::NotOnRanks(choice));
            }
            let threads = threads_beside(self.threads, comm).map_err(RunError::from)?;
            let executor = AnyExecutor::of_rank(threads, comm.clone())?;
            let executor = executor.with_rank_labels(self.rank_labels);
            return Ok(match &self.parts {
                Some(parts) => (executor.with_parts(parts.clone()), None),
                None => (executor, None),
            });
        }
        let (executor, fallback) = self.device.open(self.device_memory)?.start(self.threads)?;
        Ok((executor.with_host_memory(self.host_memory), fallback))
    }

    /// Returns the memory that the run needs, on the device that it would run on. [Ranks](CommunitySearch::ranks) call it
    /// at the same time.
    ///
    /// # Errors
    /// If the device cannot be opened, or a choice does not fit the graph.
    pub fn plan(&self) -> Result<Plan, CommunitiesError> {
        self.or_abort(self.planned())
    }

    fn planned(&self) -> Result<Plan, CommunitiesError> {
        if let Some(objective) = self.refine {
            let options = self.refinement(objective)?;
            let threads = CpuExecutor::new(self.threads)?.threads();
            let (executor, _) = self.opened()?;
            let stored = self.stored()?;
            let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
            return Ok(self.refinement_plan(&executor, graph, &options, threads));
        }
        let settings = self.resolved()?;
        let program = self.instantiated()?;
        let (executor, _) = self.opened()?;
        let stored = self.stored()?;
        let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
        let settings = self.settings_on(&executor, graph, program.get(), &settings);
        Ok(self.plan_on(&executor, graph, program.get(), &settings))
    }

    /// Returns the plan of a run, with the copy of a GPU's state that a checkpoint takes.
    fn plan_on(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Plan {
        let plan = executor.plan(graph, program, settings);
        match self.checkpoints {
            Some(_) => executor.add_checkpoints(plan, graph, program),
            None => plan,
        }
    }

    /// Returns the plan of a refinement, with that of its checkpoints.
    fn refinement_plan(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        options: &RefineOptions,
        threads: usize,
    ) -> Plan {
        let plan = executor.plan_refinement(graph, options, threads);
        match self.checkpoints {
            Some(_) => executor.add_checkpoints_of_refinement(plan, graph),
            None => plan,
        }
    }

    /// Runs the program, and returns the communities. Under [`Device::auto`], a run that fails on
    /// the GPU is repeated on the CPU.
    ///
    /// # Errors
    /// If the device cannot be opened, a choice does not fit the graph, memory is refused, or the
    /// run fails.
    pub fn run(&self) -> Result<Communities<'g>, CommunitiesError> {
        self.run_with(&mut ())
    }

    /// Runs the program as [`CommunitySearch::run`] does, with an observer, which may cancel.
    ///
    /// # Errors
    /// See [`CommunitySearch::run`]; also if the observer cancels.
    pub fn run_with(
        &self,
        observer: &mut dyn RoundObserver,
    ) -> Result<Communities<'g>, CommunitiesError> {
        self.or_abort(match self.refine {
            Some(objective) => self.run_refinement(objective, observer),
            None => self.run_program(observer),
        })
    }

    /// Ends the work of all ranks if this one failed.
    fn or_abort<T>(&self, done: Result<T, CommunitiesError>) -> Result<T, CommunitiesError> {
        // What is not possible on ranks is refused on all of them, before the first message.
        let is_refused =
            matches!(done, Err(CommunitiesError::NotOnRanks(_) | CommunitiesError::NotOnParts(_)));
        if let (Some(comm), Err(_), false) = (&self.ranks, &done, is_refused) {
            comm.lock().unwrap_or_else(PoisonError::into_inner).abort(1);
        }
        done
    }

    fn run_program(
        &self,
        observer: &mut dyn RoundObserver,
    ) -> Result<Communities<'g>, CommunitiesError> {
        let settings = self.resolved()?;
        let program = self.instantiated()?;
        let program = program.get();
        let opened = self.opened()?;
        if self.finds_counter && self.checkpoints.is_some() {
            return Err(CommunitiesError::CheckpointOfFittingCounter);
        }
        let kept = Kept::open::<CommunitiesError>(self.checkpoints.as_ref(), self.threads)?;
        // A conversion takes long: what can be refused without it is refused before.
        let stored = self.stored()?;
        let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
        let (found, device) = self.on_device(opened, |executor| {
            let mut settings = self.settings_on(executor, graph, program, &settings);
            self.check_host_memory(executor, &self.plan_on(executor, graph, program, &settings))?;
            let identity = || executor.identity(graph, program, &settings);
            let (mut run, state) = kept.begin::<CommunitiesError>(identity)?;
            if state.is_some() {
                settings.to_mut().resume = state;
            }
            let watch = &mut run.watch(observer);
            let outcome = kept.install(|| executor.run(graph, program, &settings, watch))?;
            Ok((outcome, settings.counter, run.resumed))
        })?;
        let (outcome, counter, resumed) = found;
        let communities = self.result(outcome)?.counted_by(counter).computed_on(device);
        kept.remove();
        Ok(communities.resumed_from(resumed))
    }

    /// Runs `work` on the device. If `auto` chose a GPU that fails, runs it on the CPU. Also returns what it ran on.
    pub(super) fn on_device<T>(
        &self,
        (executor, fallback): OnDevice,
        mut work: impl FnMut(&AnyExecutor) -> Result<T, CommunitiesError>,
    ) -> Result<(T, ComputedOn), CommunitiesError> {
        self.device.run_on(&executor, self.threads, |executor, failed| {
            let fallback = failed.or(fallback.as_ref()).cloned();
            let done = work(executor)?;
            Ok((done, ComputedOn { device: executor.name(), fallback }))
        })
    }

    /// Returns the settings, with the counter that is to be found for the device's memory.
    pub(super) fn settings_on<'s>(
        &self,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &'s Settings,
    ) -> Cow<'s, Settings> {
        if !self.finds_counter {
            return Cow::Borrowed(settings);
        }
        let fits = |plan: &Plan| self.check_host_memory(executor, plan);
        match executor.fitting_counter(graph, program, settings, fits) {
            (counter, _) if counter == settings.counter => Cow::Borrowed(settings),
            (counter, _) => Cow::Owned(Settings { counter, ..settings.clone() }),
        }
    }

    /// Refuses a plan of the CPU that exceeds the limit of host memory, with the graph that was given if the run works on a
    /// copy; GPUs check theirs.
    pub(super) fn check_host_memory(
        &self,
        executor: &AnyExecutor,
        plan: &Plan,
    ) -> Result<(), CommunitiesError> {
        let original = match self.is_converted() {
            true => self.graph.bytes(),
            false => 0,
        };
        let needed = plan.total_host().saturating_add(original);
        match self.host_memory.filter(|&limit| executor.is_cpu() && needed > limit) {
            Some(limit) => Err(CommunitiesError::HostMemory { needed, limit }),
            None => Ok(()),
        }
    }

    fn run_refinement(
        &self,
        objective: Objective,
        observer: &mut dyn RoundObserver,
    ) -> Result<Communities<'g>, CommunitiesError> {
        let options = self.refinement(objective)?;
        let opened = self.opened()?;
        let stored = self.stored()?;
        let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
        let pool = CpuExecutor::new(self.threads)?;
        let kept = Kept::open::<CommunitiesError>(self.checkpoints.as_ref(), self.threads)?;
        let (found, device) = self.on_device(opened, |executor| {
            let plan = self.refinement_plan(executor, graph, &options, pool.threads());
            self.check_host_memory(executor, &plan)?;
            let identity = || Ok(RunIdentity::of_refinement(graph, &options));
            let (mut run, state) = kept.begin::<CommunitiesError>(identity)?;
            let mut options = Cow::Borrowed(&options);
            if state.is_some() {
                options.to_mut().resume = state;
            }
            let watch = &mut run.watch(observer);
            let refined = pool.install(|| executor.run_refinement(graph, &options, watch))?.0;
            Ok((refined, run.resumed))
        })?;
        let (refined, resumed) = found;
        let mut outcome = Outcome::from(refined);
        self.apply_min_size(&mut outcome)?;
        let communities = Communities::of_labels(self.graph, outcome, None)?.computed_on(device);
        kept.remove();
        Ok(communities.resumed_from(resumed))
    }

    /// Returns the options of a refinement, or why the choices do not fit.
    fn refinement(&self, objective: Objective) -> Result<RefineOptions, CommunitiesError> {
        let unused = [
            ("a schedule", self.schedule.is_some()),
            ("a stop rule", self.stop.is_some()),
            ("a counter", self.settings.counter != Counter::EXACT || self.finds_counter),
            ("to keep disconnected communities", self.keep_disconnected == Some(true)),
            ("merging", self.merge.flatten().is_some()),
            ("seeds", !self.seeds.is_empty()),
        ];
        if let Some(&(choice, _)) = unused.iter().find(|(_, is_made)| *is_made) {
            return Err(CommunitiesError::UnusedByRefinement(choice));
        }
        if let (Some(_), Some(MinSize::Join(_))) = (self.max_size, self.min_size) {
            return Err(CommunitiesError::JoinBeyondMaxSize);
        }
        let Settings { seed, initial, .. } = self.settings.clone();
        let (fixed, max_size) = (self.fixed.clone(), self.max_size);
        Ok(RefineOptions { seed, initial, fixed, max_size, ..RefineOptions::new(objective) })
    }

    /// Returns the options of a resolution profile with its own range, or why the choices do not fit.
    pub(super) fn options_of_profile(
        &self,
        default: Objective,
    ) -> Result<ProfileOptions, CommunitiesError> {
        let unused = [
            ("a GPU", !self.device.is_cpu() && !self.device.is_auto()),
            ("ranks", self.ranks.is_some()),
            ("fixed vertices", !self.fixed.is_empty()),
            ("limits of sizes", self.max_size.is_some()),
        ];
        if let Some(&(choice, _)) = unused.iter().find(|(_, is_made)| *is_made) {
            return Err(CommunitiesError::UnusedByProfile(choice));
        }
        if self.checkpoints.is_some() {
            return Err(CommunitiesError::CheckpointOfMany("a resolution profile"));
        }
        let objective = self.refine.unwrap_or(default);
        let RefineOptions { seed, initial, .. } = self.refinement(objective)?;
        // The runs of a profile are those of a fixed resolution.
        let ProfileOptions { refine, range, runs } = ProfileOptions::new(objective);
        Ok(ProfileOptions { refine: RefineOptions { seed, initial, ..refine }, range, runs })
    }

    /// Returns the communities of a run of the program, without those that are too small.
    pub(super) fn result(&self, mut outcome: Outcome) -> Result<Communities<'g>, CommunitiesError> {
        let graph = self.graph;
        Ok(match &self.program {
            Choice::BuiltIn(BuiltIn::Slpa { threshold, .. }) => {
                let mut rows = memberships(&outcome, *threshold)?;
                if let Some(size) = self.min_size {
                    drop_small_memberships(&mut rows, graph.vertices(), size.least())?;
                    // The strongest one that is left comes first.
                    outcome.labels.fill(NO_LABEL);
                    let strongest = rows.iter().rev().map(|row| (row.vertex as usize, row.label));
                    strongest.for_each(|(vertex, label)| outcome.labels[vertex] = label);
                }
                Communities::overlapping(graph, outcome, &rows)?
            }
            Choice::BuiltIn(BuiltIn::Seeded { .. }) => {
                let strengths = strengths(&outcome);
                self.apply_min_size(&mut outcome)?;
                Communities::of_labels(graph, outcome, Some(&strengths))?
            }
            _ => {
                self.apply_min_size(&mut outcome)?;
                Communities::of_labels(graph, outcome, None)?
            }
        })
    }

    /// Merges small communities into neighbours or leaves them out, if that was chosen.
    pub(super) fn apply_min_size(&self, outcome: &mut Outcome) -> Result<(), OutOfMemory> {
        let applied = self.min_size.map(|size| size.apply(self.graph, &mut outcome.labels));
        applied.transpose().map(drop)
    }

    /// Returns the graph in the storage that was chosen, if it has the other one.
    pub(super) fn stored(&self) -> Result<Option<StoredGraph>, OutOfMemory> {
        let other = self.storage.filter(|_| self.is_converted());
        other.map(|storage| StoredGraph::copied(self.graph, storage)).transpose()
    }

    /// Returns whether the run works on a copy of the graph in another storage.
    fn is_converted(&self) -> bool {
        self.storage.is_some_and(|storage| storage != self.graph.into())
    }
}

/// An executor on the device, and why that is the CPU if the choice allowed a GPU.
pub(super) type OnDevice = (AnyExecutor, Option<Fallback>);

/// A program on a graph.
enum Instance {
    BuiltIn(Box<dyn DynProgram>),
    Own(Arc<dyn DynProgram>),
}

impl Instance {
    fn get(&self) -> &dyn DynProgram {
        match self {
            Instance::BuiltIn(program) => &**program,
            Instance::Own(program) => &**program,
        }
    }
}
