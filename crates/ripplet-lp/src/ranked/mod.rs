//! Label propagation by ranks that share nothing: processes on several machines, or threads of a test.
//!
//! Each rank has the labels, totals and columns of all vertices, and updates its own range of vertices, of about as
//! many arcs as every other range (see [`Rank`]). A phase has two exchanges: label updates go to all
//! ranks, activations to the owner of the vertex. After the rounds, the ranks split and merge communities together
//! (`finishing.rs`), and all get the result.
//!
//! Memory: labels, active vertices, totals and columns on each rank, and of a phase the updates of all ranks. A rank
//! reads the lists of its own vertices alone, before, in and after the rounds: lists in a mapped file take memory only
//! where they are read. A program whose hooks read the degrees of neighbours reads these, too.
//!
//! Determinism: the bytes of one process, for any number of ranks.

mod finishing;

use crate::cpu::CpuExecutor;
use crate::ranks::{CpuRank, Exchange, Parts, Rank, RankStart, Update, WORD, run_phase};
use crate::rounds::{Finished, Rounds, run_rounds};
use crate::schedules::largest_phase;
use crate::volume::VolumeUnit;
use crate::{
    Checkpoint, DynProgram, Executor, Keeper, LabelTotal, NO_LABEL, NotKept, Outcome, Plan,
    ProgramInfo, Round, RoundObserver, RunError, Schedule, Settings, State,
};
use finishing::RanksFinisher;
use rayon::prelude::*;
use ripplet_graph::memory;
use ripplet_graph::{Direction, GraphView, Observer, VertexId};
use ripplet_ranks::{Comm, CommError, SharedComm, Traffic};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Executor on a rank of several, which call it at the same time with the same graph and settings.
///
/// Each rank returns the outcome of one process. Stop rules must not depend on seconds, which differ between ranks: they
/// would end in [`CommError::OutOfStep`]. Checkpoints are due if they are due on any rank, and each rank with a
/// keeper gets the whole state.
///
/// After an error, the other ranks get one, too, and the communicator is of no more use.
#[derive(Debug)]
pub struct RankExecutor {
    executor: Arc<CpuExecutor>,
    comm: SharedComm,
    /// Whether the communicator ends with the first error.
    aborts: bool,
    /// The vertices of each rank, if the graph has the lists of this rank's alone.
    parts: Option<Parts>,
}

impl RankExecutor {
    /// Creates the executor of a rank.
    pub fn new(executor: Arc<CpuExecutor>, comm: Comm) -> RankExecutor {
        RankExecutor { executor, comm: Arc::new(Mutex::new(comm)), aborts: true, parts: None }
    }

    /// Creates the executor of a rank whose communicator the caller uses, too, between runs.
    ///
    /// After an error of a run, the caller aborts the communicator: before that, it can report the error.
    pub fn sharing(executor: Arc<CpuExecutor>, comm: SharedComm) -> RankExecutor {
        RankExecutor { executor, comm, aborts: false, parts: None }
    }

    /// Sets the vertices of each rank. Each rank's graph then needs the lists of its own vertices alone; of others, it
    /// may have any lists.
    ///
    /// Bounds must be multiples of 64 or the number of vertices, which [`Parts::of_ranks`] gives. Hooks must not
    /// read the degrees of neighbours. Whether the ranks have parts of the same graph is for the caller to compare.
    #[must_use]
    pub fn with_parts(self, parts: Parts) -> RankExecutor {
        RankExecutor { parts: Some(parts), ..self }
    }

    /// Returns the vertices of each rank, if they were set.
    pub fn parts(&self) -> Option<&Parts> {
        self.parts.as_ref()
    }

    /// Returns what this rank has sent and received.
    pub fn traffic(&self) -> Traffic {
        self.comm().traffic()
    }

    fn comm(&self) -> MutexGuard<'_, Comm> {
        locked(&self.comm)
    }

    fn run_rank(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        let info = program.info();
        settings.check(graph.vertices(), &info)?;
        if settings.schedule.is_in_place() {
            return Err(RunError::InPlaceOnRanks { schedule: settings.schedule.name() });
        }
        let comm = self.comm();
        let (rank, size) = (comm.rank(), comm.size());
        drop(comm);
        let parts = match &self.parts {
            Some(parts) => parts.clone(),
            None => Parts::of_ranks(graph, size),
        };
        self.check_alike(graph, &info, settings, &parts)?;
        let planned = self.plan(graph, program, settings).algorithm_host();
        let resumed = settings.resume.as_ref().map_or(0, Checkpoint::fingerprint);
        let fingerprint = if rank == 0 { resumed } else { 0 };
        let own = parts.of(rank);
        let volumes = match info.label_total {
            LabelTotal::Volume => Some(self.volumes(graph, settings.seed, own.clone())?),
            LabelTotal::None | LabelTotal::Members => None,
        };
        let start = RankStart { own: own.clone(), fingerprint, volumes };
        let begun = program.begin_rank(graph, settings, start);
        let state = begun.map_err(|_| RunError::OutOfMemory { bytes: planned })?;
        let values = info.columns.iter().filter(|column| column.written);
        let values: usize = values.map(|column| column.len as usize).sum();
        let vertices = graph.vertices();
        let link = Link { comm: &self.comm, parts, vertices, values };
        let rounds = RankRounds { state, link, phases: settings.schedule.phases() };
        let finisher = RanksFinisher { comm: &self.comm, settings, own };
        let has_keeper = u8::from(observer.keeper().is_some());
        let keeps = self.comm().all_reduce("keepers", has_keeper, u8::max)?;
        let mut observer = Together { inner: observer, comm: &self.comm, keeps: keeps > 0 };
        run_rounds(Box::new(rounds), graph, settings, Some(&finisher), &mut observer)
    }

    /// Returns the contribution of each vertex to label totals, of all ranks.
    fn volumes(
        &self,
        graph: GraphView<'_>,
        seed: u64,
        own: Range<VertexId>,
    ) -> Result<Vec<u32>, RunError> {
        let each = |own: Range<VertexId>| own.into_par_iter().with_min_len(1 << 8);
        let sum: u64 = each(own.clone()).map(|v| graph.strength(v)).sum();
        let all = self.comm().all_reduce("strengths", sum, u64::wrapping_add)?;
        let unit = VolumeUnit::for_all(all, seed);
        let mut volumes = memory::with_room(own.len())?;
        volumes.par_extend(each(own).map(|v| unit.share(v, graph.strength(v))));
        let received = self.comm().all_gather("volumes", &volumes)?;
        drop(volumes);
        let mut all = memory::with_room(graph.vertices() as usize)?;
        received.iter().for_each(|volumes| all.extend_from_slice(volumes));
        Ok(all)
    }

    /// Compares the run with the other ranks'.
    fn check_alike(
        &self,
        graph: GraphView<'_>,
        info: &ProgramInfo,
        settings: &Settings,
        parts: &Parts,
    ) -> Result<(), RunError> {
        let mut hasher = DefaultHasher::new();
        let ProgramInfo { name, parameters, .. } = info;
        let Settings { schedule, counter, stop, seed, keep_disconnected, merge, .. } = settings;
        let program = format!("{} {name} {parameters:?}", env!("CARGO_PKG_VERSION"));
        let choices =
            format!("{schedule:?} {counter} {stop:?} {seed} {keep_disconnected} {merge:?}");
        (program, choices).hash(&mut hasher);
        let initial = settings.initial.as_ref().map_or(u64::MAX, |labels| labels.len() as u64);
        let rounds = settings.resume.as_ref().map_or(0, |state| state.rounds.len() as u64);
        // A part of a graph has other arcs.
        let arcs = if self.parts.is_some() { 0 } else { graph.arcs() };
        let bounds = parts.bounds().iter().copied().map(u64::from);
        let own = [hasher.finish(), u64::from(graph.vertices()), arcs, initial, rounds];
        let own: Vec<u64> = own.into_iter().chain(bounds).collect();
        let mut comm = self.comm();
        let all = comm.all_gather("run", &own)?;
        let fits = parts.ranks() == comm.size() && parts.bounds().last() == Some(&graph.vertices());
        if !fits {
            return Err(RunError::RanksDiffer { rank: comm.rank() });
        }
        drop(comm);
        match all.iter().position(|other| other != own) {
            None => Ok(()),
            Some(rank) => Err(RunError::RanksDiffer { rank }),
        }
    }
}

impl Executor for RankExecutor {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        let info = program.info();
        // Ranks run a synchronous round as one phase.
        let phases = settings.schedule.phases();
        let schedule = Schedule { ties: settings.schedule.ties, ..Schedule::phased_in(phases) };
        let settings = Settings { schedule, ..settings.clone() };
        let (vertices, rank) = (u64::from(graph.vertices()), self.comm().rank());
        let own = match &self.parts {
            Some(parts) if rank < parts.ranks() => parts.of(rank),
            _ => 0..graph.vertices(),
        };
        let directions = if graph.direction() == Direction::Directed { 2 } else { 1 };
        let arcs = self.executor.install(|| graph.arcs_of(own.clone())).saturating_mul(directions);
        let finishing = finishing::bytes_for(vertices, own.len() as u64, arcs, &settings);
        let mut plan = self.executor.plan_of_part(graph, &info, &settings, own.clone(), finishing);
        if self.parts.is_some() {
            let arc = if graph.is_weighted() { 8 } else { 4 };
            let offsets = 4 * (own.len() as u64 + 1) * directions;
            plan.graph_host = graph.bytes_by_part().ids + offsets + arc * arcs;
        }
        if info.label_total == LabelTotal::Volume {
            plan = plan.with("weighted degrees", 4 * vertices);
        }
        let values = info.columns.iter().filter(|column| column.written);
        let values: u64 = values.map(|column| u64::from(column.len)).sum();
        let largest = largest_phase(graph.vertices().into(), phases);
        // Words of an update as a value, as a message that is sent, and as one that is received.
        let messages = largest.saturating_mul(4 * (2 + values)).saturating_mul(3);
        plan.with("messages between ranks", messages)
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        let done = self.executor.install(|| self.run_rank(graph, program, settings, observer));
        if done.is_err() && self.aborts {
            self.comm().abort(1);
        }
        done
    }
}

fn locked(comm: &Mutex<Comm>) -> MutexGuard<'_, Comm> {
    comm.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of a rank, and the observer that may cancel.
struct Watched<'w, 'a> {
    rank: &'w mut (dyn CpuRank + 'a),
    observer: &'w dyn Observer,
}

impl Rank for Watched<'_, '_> {
    fn choose(&mut self) -> Result<(), RunError> {
        self.rank.choose(self.observer)
    }

    fn activate_neighbors(&mut self) -> Result<(), RunError> {
        self.rank.activate_neighbors();
        Ok(())
    }
}

/// The messages of label propagation over a communicator.
///
/// ```text
/// label update      vertex │ label │ values of written columns …   words of 32 bits
/// frontier update   number of a word of the active set │ its bits   words of 64 bits
/// ```
struct Link<'c> {
    comm: &'c Mutex<Comm>,
    parts: Parts,
    vertices: u32,
    /// The values of written columns of a vertex.
    values: usize,
}

impl Link<'_> {
    /// Returns the updates of a message of another rank, which has only its own vertices.
    fn updates(&self, peer: usize, words: &[u32]) -> Result<Vec<Update>, RunError> {
        let foreign = || CommError::Foreign { peer, bytes: size_of_val(words) };
        let own = self.parts.of(peer);
        let chunks = words.chunks_exact(2 + self.values);
        if !chunks.remainder().is_empty() {
            return Err(foreign().into());
        }
        let update = |record: &[u32]| match *record {
            [vertex, label, ref values @ ..]
                if own.contains(&vertex) && (label < self.vertices || label == NO_LABEL) =>
            {
                Ok(Update { vertex, label, values: values.to_vec() })
            }
            _ => Err(foreign().into()),
        };
        chunks.map(update).collect()
    }
}

impl Exchange<Watched<'_, '_>> for Link<'_> {
    fn exchange_updates(&mut self, watched: &mut Watched<'_, '_>) -> Result<(), RunError> {
        let mut words = Vec::new();
        for Update { vertex, label, values } in watched.rank.updates() {
            words.extend([vertex, label]);
            words.extend(values);
        }
        let mut comm = locked(self.comm);
        let received = comm.all_gather("label updates", &words)?;
        let own = comm.rank();
        drop(comm);
        for (peer, words) in received.iter().enumerate().filter(|&(peer, _)| peer != own) {
            watched.rank.apply_updates(self.updates(peer, words)?);
        }
        Ok(())
    }

    fn exchange_frontier(&mut self, watched: &mut Watched<'_, '_>) -> Result<(), RunError> {
        let activated = watched.rank.take_frontier();
        let mut comm = locked(self.comm);
        let mut to: Vec<Vec<u64>> = vec![Vec::new(); comm.size()];
        let mut owner = 0;
        for (number, bits) in activated {
            // Words ascend, and so do owners.
            let first = number as u32 * WORD;
            while owner + 1 < to.len() && !self.parts.of(owner).contains(&first) {
                owner += 1;
            }
            to[owner].extend([number as u64, bits]);
        }
        let received = comm.all_to_all("frontier", &to)?;
        let own = comm.rank();
        drop(comm);
        let range = self.parts.of(own);
        for (peer, words) in received.iter().enumerate().filter(|&(peer, _)| peer != own) {
            let word = |pair: &[u64]| match *pair {
                [number, bits]
                    if number < u64::from(self.vertices.div_ceil(WORD))
                        && range.contains(&(number as u32 * WORD)) =>
                {
                    Ok((number as usize, bits))
                }
                _ => Err(CommError::Foreign { peer, bytes: size_of_val(words) }),
            };
            let words = words.chunks(2).map(word).collect::<Result<Vec<_>, _>>()?;
            watched.rank.apply_frontier(words);
        }
        Ok(())
    }
}

/// A run in progress on a rank.
struct RankRounds<'a> {
    state: Box<dyn CpuRank + 'a>,
    link: Link<'a>,
    phases: u32,
}

impl Rounds for RankRounds<'_> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        self.state.begin_round(index);
        for _ in 0..self.phases {
            let mut watched = Watched { rank: &mut *self.state, observer };
            run_phase(&mut watched, &mut self.link)?;
        }
        let Round { changed, visited, scanned, nan_scores, fingerprint, .. } =
            self.state.end_round();
        let counts = [changed, visited, scanned, nan_scores, fingerprint.unwrap_or(0)];
        let sum = |a: [u64; 5], b: [u64; 5]| std::array::from_fn(|at| a[at].wrapping_add(b[at]));
        let [changed, visited, scanned, nan_scores, print] =
            locked(self.link.comm).all_reduce("counts", counts, sum)?;
        let fingerprint = fingerprint.map(|_| print);
        Ok(Round { changed, visited, scanned, nan_scores, fingerprint, ..Round::default() })
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        let state = self.state.state();
        let words = (0..).zip(&*state.active).filter(|&(_, &word)| word != 0);
        let own: Vec<u64> = words.flat_map(|(at, &word)| [at, word]).collect();
        let received = locked(self.link.comm).all_gather("active vertices", &own)?;
        let mut active = vec![0; state.active.len()];
        for pair in received.iter().flat_map(|words| words.chunks_exact(2)) {
            if let Some(word) = active.get_mut(pair[0] as usize) {
                *word |= pair[1];
            }
        }
        Ok(State { active: Cow::Owned(active), ..state })
    }

    fn finish(self: Box<Self>) -> Result<Finished, RunError> {
        self.state.finish()
    }
}

/// An observer whose checkpoints are due on all ranks at the same time.
struct Together<'a> {
    inner: &'a mut dyn RoundObserver,
    comm: &'a Mutex<Comm>,
    /// Whether a rank has a keeper.
    keeps: bool,
}

impl Observer for Together<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.inner.on_stage(name);
    }

    fn on_progress(&self, done: f64) {
        self.inner.on_progress(done);
    }

    fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }
}

impl RoundObserver for Together<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.inner.on_round(index, round);
    }

    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        if self.keeps { Some(self) } else { None }
    }
}

impl Keeper for Together<'_> {
    fn is_due(&mut self, rounds: &[Round]) -> bool {
        let own = self.inner.keeper().is_some_and(|keeper| keeper.is_due(rounds));
        let any = locked(self.comm).all_reduce("due", u8::from(own), u8::max);
        // After an error, the next collective returns one.
        any.is_ok_and(|any| any > 0)
    }

    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept> {
        self.inner.keeper().map_or(Ok(()), |keeper| keeper.keep(rounds, state))
    }
}
