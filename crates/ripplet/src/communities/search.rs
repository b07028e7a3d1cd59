//! The builder of a run.

use super::error::CommunitiesError;
use super::kept::Place;
use super::observer::{SearchObserver, locked};
use crate::checkpoints::{CheckpointOptions, RunCheckpoints};
use crate::device::{AnyExecutor, Device, Fallback, HostLimit, threads_of_rank};
use crate::programs::{BuiltIn, ProgramError, ProgramName};
use crate::{Storage, StoredGraph};
use ripplet_graph::{Direction, GraphView, OutOfMemory, VertexId};
use ripplet_lp::engine::Parts;
use ripplet_lp::programs::{BadAttenuation, Seed, Seeded, Seeding};
use ripplet_lp::refine::{MergeShare, Objective, ProfileOptions, RefineError, RefineOptions};
use ripplet_lp::small::MinSize;
use ripplet_lp::{Counter, DynProgram, Label, RankLabels, RunError, Schedule, Settings, Stop};
use ripplet_ranks::{Hosts, SharedComm};
use std::mem;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

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
        check: None,
        levels: false,
        dendrogram: false,
        device: Device::auto(),
        executor: None,
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
    pub(super) program: Choice,
    /// The score to increase by refinement, in place of the program.
    pub(super) refine: Option<Objective>,
    /// The vertices that keep their community under refinement.
    fixed: Vec<VertexId>,
    /// The most vertices of a community under refinement.
    max_size: Option<NonZeroU32>,
    /// The least size of a community, and what becomes of smaller ones.
    pub(super) min_size: Option<MinSize>,
    /// Whether the counter is the one that fits the memory, instead of the settings'.
    pub(super) finds_counter: bool,
    /// The vertices on which the program's promises are tested before the run.
    pub(super) check: Option<u32>,
    /// Whether the parts of the communities of a refinement are found after it.
    pub(super) levels: bool,
    /// Whether it is found after a refinement how its communities join.
    pub(super) dendrogram: bool,
    pub(super) device: Device,
    /// The executor that has started on the device, and why that is the CPU.
    executor: Option<(Arc<AnyExecutor>, Option<Fallback>)>,
    schedule: Option<Schedule>,
    stop: Option<Stop>,
    keep_disconnected: Option<bool>,
    merge: Option<Option<MergeShare>>,
    storage: Option<Storage>,
    /// The settings for which programs have no default.
    pub(super) settings: Settings,
    seeds: Vec<Seed>,
    seeding: Seeding,
    pub(super) threads: Option<usize>,
    device_memory: Option<u64>,
    pub(super) host_memory: Option<HostLimit>,
    pub(super) checkpoints: Option<Place>,
    pub(super) ranks: Option<SharedComm>,
    /// The vertices of each rank, if it has their lists alone.
    parts: Option<Parts>,
    rank_labels: RankLabels,
}

/// A program that is chosen.
#[derive(Clone)]
pub(super) enum Choice {
    BuiltIn(BuiltIn),
    Own(Arc<dyn DynProgram>),
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

    /// Tests the promises of the program on a sample of this many vertices before the run; see [`ripplet_lp::check`].
    /// Without refinement, which has no program.
    #[must_use]
    pub fn check_program(mut self, sample: u32) -> Self {
        self.check = Some(sample);
        self
    }

    /// Says that [`FoundLabels::levels`](super::FoundLabels::levels) are found after a refinement: its plan has their memory.
    #[must_use]
    pub fn levels(mut self) -> Self {
        self.levels = true;
        self
    }

    /// Says that [`FoundLabels::dendrogram`](super::FoundLabels::dendrogram) is found after a refinement: its plan has the
    /// memory, and a directed graph, which has none, is refused before the run.
    #[must_use]
    pub fn dendrogram(mut self) -> Self {
        self.dendrogram = true;
        self
    }

    /// Chooses the device.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Runs on an executor that was started on the chosen device before, as [`Opened::start`](crate::device::Opened::start)
    /// returns it, so that a GPU is checked before the graph is loaded. Limits of device memory and of what a GPU keeps on
    /// the host are the executor's. [Ranks](CommunitySearch::ranks) start their own.
    ///
    /// ```
    /// use ripplet::{Device, graph_from_edges};
    ///
    /// let device = Device::auto();
    /// let opened = device.open(None)?;
    /// // Loading a large graph would come here.
    /// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1)])?;
    /// let found = ripplet::communities(&graph).device(device).executor(opened.start(Some(2))?).run()?;
    /// assert_eq!(found.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn executor(mut self, (executor, fallback): (AnyExecutor, Option<Fallback>)) -> Self {
        self.executor = Some((Arc::new(executor), fallback));
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
    /// otherwise a sketch of eight labels ([`AnyExecutor::fitting_counter`]). [`Communities::counter`](super::Communities::counter) says which.
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
    /// GPU keeps less on the host, if it can. What comes after the run, small communities and the members of each
    /// (see [`Communities`](super::Communities)), is not in the plan.
    #[must_use]
    pub fn host_memory(self, bytes: u64) -> Self {
        self.host_limit(HostLimit::WithGraph(bytes))
    }

    /// Limits the host memory of the run's plan as [`CommunitySearch::host_memory`] does, or that beside the graph.
    ///
    /// ```
    /// use ripplet::device::{HostLimit, available_memory};
    /// # let graph = ripplet::graph_from_edges([(1, 2), (2, 3), (3, 1)])?;
    ///
    /// // The graph is in memory already: the rest must fit in half of what is free.
    /// let mut search = ripplet::communities(&graph);
    /// if let Some(free) = available_memory() {
    ///     search = search.host_limit(HostLimit::BesideGraph(free / 2));
    /// }
    /// assert!(search.run().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn host_limit(mut self, limit: HostLimit) -> Self {
        self.host_memory = Some(limit);
        self
    }

    /// Keeps the state of the run in a folder from time to time, so that it can go on after it was killed; see
    /// [`crate::checkpoints`]. The checkpoints are removed when the communities are found.
    ///
    /// A run that goes on has the labels, columns and counts of one that was not interrupted, also on another number of
    /// threads, on another device, or on another number of ranks, of which the first one has the folder.
    /// [`Communities::resumed`](super::Communities::resumed) says from where it went on.
    #[must_use]
    pub fn checkpoints(mut self, options: CheckpointOptions) -> Self {
        self.checkpoints = Some(Place::Folder(options));
        self
    }

    /// Keeps checkpoints as [`CommunitySearch::checkpoints`] does, in a folder that is open, such as since before the graph was
    /// loaded. The caller [removes](RunCheckpoints::remove) them, once it has made its results safe. All ranks call it,
    /// with `None` on those that do not have the folder.
    #[must_use]
    pub fn open_checkpoints(mut self, checkpoints: Option<Arc<RunCheckpoints>>) -> Self {
        self.checkpoints = Some(Place::Opened(checkpoints));
        self
    }

    /// Shares the run with other processes, the ranks, which all make the same choices on the same graph.
    ///
    /// Each rank updates a part of the vertices on its CPU, or on a GPU if [`CommunitySearch::device`] names some: the ranks of a
    /// host take those of the choice in turn. Each gets the communities of one process. Ranks on one machine divide its cores, unless [`CommunitySearch::threads`] or the
    /// [environment](ripplet_lp::cpu::threads_of_environment) has a number. A run that fails on a rank fails
    /// on all: see [`SearchObserver::fail_stage`] and [`SearchObserver::on_failure`].
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

    /// Takes the settings of the run of a sweep out of the search, with the program's defaults.
    pub(super) fn resolved_of_sweep(&mut self) -> Result<Settings, CommunitiesError> {
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

    /// Takes the settings of the run out of the search, with the program's defaults: their arrays may be large.
    pub(super) fn resolved(&mut self) -> Result<Settings, CommunitiesError> {
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
        if self.levels {
            return Err(CommunitiesError::OnlyForRefinement("parts of communities"));
        }
        if self.dendrogram {
            return Err(CommunitiesError::OnlyForRefinement("dendrograms"));
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
            ..mem::take(&mut self.settings)
        };
        let seeds = mem::take(&mut self.seeds);
        match &self.program {
            Choice::BuiltIn(BuiltIn::Seeded { .. }) if seeds.is_empty() => {
                Err(CommunitiesError::NoSeeds)
            }
            Choice::BuiltIn(BuiltIn::Seeded { .. }) => {
                let vertices = self.graph.vertices();
                Ok(Seeded::begin(settings, vertices, &seeds, self.seeding)?)
            }
            _ if seeds.is_empty() => Ok(settings),
            Choice::BuiltIn(program) => {
                Err(CommunitiesError::UnusedSeeds(program.name().to_string()))
            }
            Choice::Own(program) => Err(CommunitiesError::UnusedSeeds(program.info().name)),
        }
    }

    /// Returns the program on the graph.
    pub(super) fn instantiated(&self) -> Result<Instance, BadAttenuation> {
        Ok(match &self.program {
            Choice::BuiltIn(program) => Instance::BuiltIn(program.instantiate(self.graph)?),
            Choice::Own(program) => Instance::Own(program.clone()),
        })
    }

    pub(super) fn opened(&self) -> Result<OnDevice, CommunitiesError> {
        if let Some(comm) = &self.ranks {
            let refused = [
                ("refinement", self.refine.is_some()),
                ("a counter that fits", self.finds_counter),
            ];
            if let Some(&(choice, _)) = refused.iter().find(|(_, is_made)| *is_made) {
                return Err(CommunitiesError::NotOnRanks(choice));
            }
            let (rank, hosts) = {
                let mut comm = locked(comm);
                (comm.rank(), Hosts::gather(&mut comm).map_err(RunError::from)?)
            };
            let threads = threads_of_rank(self.threads, &hosts, rank);
            let executor = AnyExecutor::of_rank(threads, comm.clone())?;
            let place = hosts.rank_on_host(rank);
            let executor = executor.with_rank_gpu(&self.device, self.device_memory, place)?;
            let executor = executor.with_rank_labels(self.rank_labels);
            return Ok(match &self.parts {
                Some(parts) => (Arc::new(executor.with_parts(parts.clone())), None),
                None => (Arc::new(executor), None),
            });
        }
        if let Some(started) = &self.executor {
            return Ok(started.clone());
        }
        let (executor, fallback) = self.device.open(self.device_memory)?.start(self.threads)?;
        let limit = self.host_memory.map(HostLimit::bytes);
        Ok((Arc::new(executor.with_host_memory(limit)), fallback))
    }

    /// Returns whether this process is the first one of those that share the run.
    pub(super) fn is_first(&self) -> bool {
        self.ranks.as_ref().is_none_or(|comm| locked(comm).rank() == 0)
    }

    /// Returns the communicator of ranks, and the vertices whose lists this one reads.
    pub(super) fn shared(&self, executor: &AnyExecutor) -> Option<(SharedComm, Range<VertexId>)> {
        let (comm, cores) = (self.ranks.as_ref()?, executor.cores()?);
        let (rank, ranks) = {
            let comm = locked(comm);
            (comm.rank(), comm.size())
        };
        let parts = match &self.parts {
            Some(parts) => parts.clone(),
            None => cores.install(|| Parts::of_ranks(self.graph, ranks)),
        };
        let own = if rank < parts.ranks() { parts.of(rank) } else { 0..0 };
        Some((comm.clone(), own))
    }

    /// Ends a stage that ranks do together: if it failed on one of them, it fails on all.
    pub(super) fn end_stage<T>(
        &self,
        own: Result<T, CommunitiesError>,
        observer: &mut dyn SearchObserver,
    ) -> Result<T, CommunitiesError> {
        let Some(comm) = &self.ranks else { return own };
        match own {
            Ok(done) => observer.end_stage(comm).map(|()| done),
            Err(error) => Err(observer.fail_stage(comm, error)),
        }
    }

    /// Takes the options of a refinement out of the search, or returns why the choices do not fit.
    pub(super) fn refinement(
        &mut self,
        objective: Objective,
    ) -> Result<RefineOptions, CommunitiesError> {
        let unused = [
            ("a schedule", self.schedule.is_some()),
            ("a stop rule", self.stop.is_some()),
            ("a counter", self.settings.counter != Counter::EXACT || self.finds_counter),
            ("to keep disconnected communities", self.keep_disconnected == Some(true)),
            ("merging", self.merge.flatten().is_some()),
            ("seeds", !self.seeds.is_empty()),
            ("a check of the program", self.check.is_some()),
        ];
        if let Some(&(choice, _)) = unused.iter().find(|(_, is_made)| *is_made) {
            return Err(CommunitiesError::UnusedByRefinement(choice));
        }
        if let (Some(_), Some(MinSize::Join(_))) = (self.max_size, self.min_size) {
            return Err(CommunitiesError::JoinBeyondMaxSize);
        }
        if self.dendrogram && self.graph.direction() == Direction::Directed {
            return Err(RefineError::DirectedDendrogram.into());
        }
        let Settings { seed, initial, .. } = mem::take(&mut self.settings);
        let (fixed, max_size) = (mem::take(&mut self.fixed), self.max_size);
        Ok(RefineOptions { seed, initial, fixed, max_size, ..RefineOptions::new(objective) })
    }

    /// Takes the options of a resolution profile with its own range out of the search, or returns why the choices do not fit.
    pub(super) fn options_of_profile(
        &mut self,
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

    /// Returns the graph in the storage that was chosen, if it has the other one.
    pub(super) fn stored(&self) -> Result<Option<StoredGraph>, OutOfMemory> {
        let other = self.storage.filter(|_| self.is_converted());
        other.map(|storage| StoredGraph::copied(self.graph, storage)).transpose()
    }

    /// Returns whether the run works on a copy of the graph in another storage.
    pub(super) fn is_converted(&self) -> bool {
        self.storage.is_some_and(|storage| storage != self.graph.into())
    }
}

/// An executor on the device, and why that is the CPU if the choice allowed a GPU.
pub(super) type OnDevice = (Arc<AnyExecutor>, Option<Fallback>);

/// A program on a graph.
pub(super) enum Instance {
    BuiltIn(Box<dyn DynProgram>),
    Own(Arc<dyn DynProgram>),
}

impl Instance {
    pub fn get(&self) -> &dyn DynProgram {
        match self {
            Instance::BuiltIn(program) => &**program,
            Instance::Own(program) => &**program,
        }
    }
}

/// Ends the work of all ranks if this one failed, and the others do not know it.
pub(super) fn or_fail<T>(
    ranks: Option<&SharedComm>,
    done: Result<T, CommunitiesError>,
    observer: &mut dyn SearchObserver,
) -> Result<T, CommunitiesError> {
    if let (Some(comm), Err(error)) = (ranks, &done)
        && !error.is_of_all_ranks()
    {
        observer.on_failure(comm, error);
    }
    done
}
