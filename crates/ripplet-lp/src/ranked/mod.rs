//! Label propagation by ranks that share nothing: processes on several machines, or threads of a test.
//!
//! Each rank updates its own range of vertices, of about as many arcs as every other range (see [`Rank`](crate::engine::Rank)).
//! A phase has two exchanges: label updates, then activations to the owner of the vertex. There are two ways, which
//! [`RankLabels`] chooses from:
//!
//! ```text
//!              labels and columns on a rank    a label update goes to     label totals
//! All          of all vertices                 all ranks                  of all labels, on each rank
//! Ghosts       of own vertices and ghosts,     ranks that have a          of a label at its owner, which sends
//!              their neighbours elsewhere      neighbour of the vertex    them to the ranks that have the label
//!
//!   rank 0      │ rank 1                v changes:  ─▶ rank 1, which has u
//!    t ─── v ───┼── u ─── w             u changes:  ─▶ rank 0, which has v
//!    ghost: u   │   ghost: v            t, w change: ─▶ no rank
//! ```
//!
//! After the rounds, all ranks have the labels of all vertices; they split and merge communities together
//! (`finishing.rs`), and all get the result.
//!
//! | file | contents |
//! |---|---|
//! | `rank_labels.rs` | the choice |
//! | `link.rs` | the exchanges of a phase |
//! | `messages.rs` | formats and validation |
//! | `rank_sets.rs`, `label_totals.rs` | subscribers of vertices, and totals at the owners of labels |
//! | `rounds.rs`, `together.rs` | the rounds, and their observer |
//! | `device.rs` | rounds on a device of each rank, which has the labels of all vertices |
//! | `finishing.rs` | splitting and merging |
//!
//! Memory: room for labels, active vertices, totals and columns of all vertices on each rank, and of a phase the updates
//! received. With [`RankLabels::All`], also the weighted degrees of all vertices. A rank
//! reads the lists of its own vertices alone, before, in and after the rounds: lists in a mapped file take memory only
//! where they are read. A program whose hooks read the degrees of neighbours reads these, too.
//!
//! Determinism: the bytes of one process, for any number of ranks.

mod device;
mod finishing;
mod label_totals;
mod link;
mod messages;
mod rank_labels;
mod rank_sets;
mod rounds;
mod together;

pub use device::{EndRun, RankDevice, RankTask};
pub use rank_labels::{BadRankLabels, RankLabels};
pub use rounds::{join_active, sum_of_ranks};

use crate::cpu::CpuExecutor;
use crate::ranks::{Parts, RankStart, RankTotals};
use crate::rounds::{Rounds, run_rounds};
use crate::volume::VolumeUnit;
use crate::{
    Checkpoint, DynProgram, Executor, LabelTotal, Outcome, Plan, ProgramInfo, RoundObserver,
    RunError, Schedule, Settings,
};
use finishing::RanksFinisher;
use label_totals::{Contributions, LabelTotals};
use link::{Ghosts, Link};
use messages::Messages;
use rank_labels::{SAMPLE, bytes_of_ghosts, bytes_of_updates, ends_at_first, values_of};
use rank_sets::RankSets;
use rayon::prelude::*;
use ripplet_graph::memory;
use ripplet_graph::{Direction, GraphView, VertexId};
use ripplet_ranks::{Comm, SharedComm, Traffic};
use rounds::RankRounds;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use together::Together;

/// Executor on a rank of several, which call it at the same time with the same graph and settings.
///
/// Each rank returns the outcome of one process. Stop rules must not depend on seconds, which differ between ranks: they
/// would end in [`CommError::OutOfStep`](ripplet_ranks::CommError::OutOfStep). Checkpoints are due if they are due on any rank, and each rank with a
/// keeper gets the whole state.
///
/// After an error, the other ranks get one, too, and the communicator is of no more use.
#[derive(Clone, Debug)]
pub struct RankExecutor {
    executor: Arc<CpuExecutor>,
    /// What updates the rank's vertices, if it is not the executor.
    device: Option<Arc<dyn RankDevice>>,
    comm: SharedComm,
    /// Whether the communicator ends with the first error.
    aborts: bool,
    /// The vertices of each rank, if the graph has the lists of this rank's alone.
    parts: Option<Parts>,
    labels: RankLabels,
}

impl RankExecutor {
    /// Creates the executor of a rank.
    pub fn new(executor: Arc<CpuExecutor>, comm: Comm) -> RankExecutor {
        RankExecutor { aborts: true, ..RankExecutor::sharing(executor, Arc::new(Mutex::new(comm))) }
    }

    /// Creates the executor of a rank whose communicator the caller uses, too, between runs.
    ///
    /// After an error of a run, the caller aborts the communicator: before that, it can report the error.
    pub fn sharing(executor: Arc<CpuExecutor>, comm: SharedComm) -> RankExecutor {
        let labels = RankLabels::Auto;
        RankExecutor { executor, device: None, comm, aborts: false, parts: None, labels }
    }

    /// Has a device update the rank's vertices. Each rank needs one of the same kind; it has the labels of all vertices, and
    /// [ghosts](RankLabels::Ghosts) are refused.
    #[must_use]
    pub fn on_device(self, device: Arc<dyn RankDevice>) -> RankExecutor {
        RankExecutor { device: Some(device), ..self }
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

    /// Sets the vertices whose labels each rank has, equally on all ranks.
    #[must_use]
    pub fn with_labels(self, labels: RankLabels) -> RankExecutor {
        RankExecutor { labels, ..self }
    }

    /// Returns the vertices whose labels each rank has in a run of a program, [all](RankLabels::All) or
    /// [ghosts](RankLabels::Ghosts); all ranks call it at the same time.
    ///
    /// # Errors
    /// [`RunError::NoGhosts`] if they are set to ghosts, and the program has none. [`RunError::Ranks`] if a message fails.
    pub fn choose_labels(
        &self,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
    ) -> Result<RankLabels, RunError> {
        let parts = self.parts_of(graph);
        self.executor.install(|| self.chosen_labels(graph, program, settings, &parts))
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

    fn parts_of(&self, graph: GraphView<'_>) -> Parts {
        match &self.parts {
            Some(parts) => parts.clone(),
            None => {
                let ranks = self.comm().size();
                self.executor.install(|| Parts::of_ranks(graph, ranks))
            }
        }
    }

    fn chosen_labels(
        &self,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
        parts: &Parts,
    ) -> Result<RankLabels, RunError> {
        let has_ghosts = RankLabels::has_ghosts(program) && self.device.is_none();
        match (self.labels, has_ghosts) {
            (RankLabels::Ghosts, false) => {
                Err(RunError::NoGhosts { program: program.name.clone() })
            }
            (RankLabels::Auto, true) if parts.ranks() > 1 => {
                let rank = self.comm().rank();
                let own = RankSets::sampled(graph, parts, rank, SAMPLE);
                let sum = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
                let sampled = self.comm().all_reduce("neighbours", own, sum)?;
                match RankLabels::ghosts_send_less(program, settings, parts.ranks(), sampled) {
                    true => Ok(RankLabels::Ghosts),
                    false => Ok(RankLabels::All),
                }
            }
            (RankLabels::Auto, _) => Ok(RankLabels::All),
            (set, _) => Ok(set),
        }
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
        let parts = self.parts_of(graph);
        self.check_alike(graph, &info, settings, &parts)?;
        let planned = self.plan(graph, program, settings).algorithm_host();
        let planned_bytes = |error: RunError| error.planned(planned);
        let refused = |error| planned_bytes(RunError::Array(error));
        let rank = self.comm().rank();
        let own = parts.of(rank);
        let (totals, ghosts) = match self.chosen_labels(graph, &info, settings, &parts)? {
            RankLabels::Ghosts => {
                let (ghosts, grand) =
                    self.ghosts(graph, &info, settings, &parts).map_err(planned_bytes)?;
                (RankTotals::Set { grand }, Some(ghosts))
            }
            RankLabels::All | RankLabels::Auto => {
                let own = self.contributions(graph, &info, settings, &own)?;
                let volumes = own.map(|own| self.volumes_of_all(graph, own)).transpose()?.flatten();
                (RankTotals::OfAll { volumes }, None)
            }
        };
        let resumed = settings.resume.as_ref().map_or(0, Checkpoint::fingerprint);
        let fingerprint = if rank == 0 { resumed } else { 0 };
        let start = RankStart { own: own.clone(), fingerprint, totals };
        let has_keeper = [u8::from(observer.keeper().is_some())];
        let has_keeper = self.comm().all_gather("keepers", &has_keeper)?;
        let keepers = has_keeper.iter().enumerate().filter(|(_, has)| has.contains(&1));
        let keepers: Vec<usize> = keepers.map(|(rank, _)| rank).collect();
        let keeps = !keepers.is_empty();
        let finisher = RanksFinisher { comm: &self.comm, settings, own };
        let mut observer = Together { inner: observer, comm: &self.comm, keeps };
        let mut end = |rounds: Box<dyn Rounds + '_>, observer: &mut dyn RoundObserver| {
            run_rounds(rounds, graph, settings, Some(&finisher), observer)
        };
        if let Some(device) = &self.device {
            let task = self.task((graph, &info, settings), rank, &parts);
            return device.run_rank(task, start, &self.comm, &mut observer, &mut end);
        }
        let mut state = program.begin_rank(graph, settings, start).map_err(refused)?;
        let (vertices, values) = (graph.vertices(), values_of(&info) as usize);
        let messages = Messages { parts, rank, vertices, values };
        let mut link = Link { comm: &self.comm, messages, ghosts };
        link.begin(&mut *state)?;
        let phases = settings.schedule.phases();
        let ends_at_first = ends_at_first(&info, settings);
        let rounds = RankRounds { state, link, phases, keepers, ends_at_first };
        end(Box::new(rounds), &mut observer)
    }

    /// Returns a rank's part of a run on a device.
    fn task<'a>(
        &self,
        (graph, program, settings): (GraphView<'a>, &'a ProgramInfo, &'a Settings),
        rank: usize,
        parts: &'a Parts,
    ) -> RankTask<'a> {
        RankTask { graph, program, settings, rank, parts, has_all_lists: self.parts.is_none() }
    }

    /// Returns what a rank with ghosts knows of the others, and the sum of all vertices' contributions to label totals.
    fn ghosts(
        &self,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
        parts: &Parts,
    ) -> Result<(Ghosts, u64), RunError> {
        let rank = self.comm().rank();
        let own = parts.of(rank);
        let subscribers = RankSets::of_neighbors(graph, parts, rank)?;
        let mut ghosts = Ghosts { subscribers, totals: None, to_send: Vec::new() };
        let Some(contributions) = self.contributions(graph, program, settings, &own)? else {
            return Ok((ghosts, 0));
        };
        let are_positive = u64::from(contributions.are_positive(graph, own.clone()));
        let sums = [contributions.sum(own.clone()), are_positive];
        let sum = |a: [u64; 2], b: [u64; 2]| [a[0].wrapping_add(b[0]), a[1] & b[1]];
        let [grand, are_positive] = self.comm().all_reduce("grand total", sums, sum)?;
        let totals = LabelTotals::new(own, parts.ranks(), contributions, are_positive > 0)?;
        ghosts.totals = Some(totals);
        Ok((ghosts, grand))
    }

    /// Returns the contributions of own vertices to label totals, if the program has totals.
    fn contributions(
        &self,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
        own: &Range<VertexId>,
    ) -> Result<Option<Contributions>, RunError> {
        match program.label_total {
            LabelTotal::None => return Ok(None),
            LabelTotal::Members => return Ok(Some(Contributions::Members)),
            LabelTotal::Volume => {}
        }
        let each = || own.clone().into_par_iter().with_min_len(1 << 8);
        let sum: u64 = each().map(|v| graph.strength(v)).sum();
        let all = self.comm().all_reduce("strengths", sum, u64::wrapping_add)?;
        let unit = VolumeUnit::for_all(all, settings.seed);
        let mut volumes = memory::with_room(own.len())?;
        volumes.par_extend(each().map(|v| unit.share(v, graph.strength(v))));
        Ok(Some(Contributions::Volumes(volumes)))
    }

    /// Returns the contribution of each vertex of all ranks, if they are not equal.
    fn volumes_of_all(
        &self,
        graph: GraphView<'_>,
        own: Contributions,
    ) -> Result<Option<Vec<u32>>, RunError> {
        let Contributions::Volumes(own) = own else { return Ok(None) };
        let received = self.comm().all_gather("volumes", &own)?;
        drop(own);
        let mut all = memory::with_room(graph.vertices() as usize)?;
        received.iter().for_each(|volumes| all.extend_from_slice(volumes));
        Ok(Some(all))
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
        let choices = format!(
            "{schedule:?} {counter} {stop:?} {seed} {keep_disconnected} {merge:?} {:?}",
            self.labels
        );
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
        let parts = self.parts_of(graph);
        let mut plan = match &self.device {
            Some(device) if rank < parts.ranks() => {
                let task = self.task((graph, &info, &settings), rank, &parts);
                device.plan_rank(&task).with("splitting and merging", finishing)
            }
            _ => self.executor.plan_of_part(graph, &info, &settings, own.clone(), finishing),
        };
        if self.parts.is_some() {
            let arc = if graph.is_weighted() { 8 } else { 4 };
            let offsets = 4 * (own.len() as u64 + 1) * directions;
            plan.graph_host = graph.bytes_by_part().ids + offsets + arc * arcs;
        }
        let degrees = if info.label_total == LabelTotal::Volume { 4 * vertices } else { 0 };
        let all = [degrees, bytes_of_updates(&info, vertices, phases)];
        let ghosts = || {
            let sample = self.executor.install(|| RankSets::sampled(graph, &parts, rank, SAMPLE));
            let own = parts.of(rank).len() as u64;
            bytes_of_ghosts(&info, [vertices, own], phases, parts.ranks(), sample)
        };
        let [state, messages] = match self.labels {
            // The parts are those of another number of ranks, which the run refuses.
            _ if rank >= parts.ranks() => all,
            RankLabels::All => all,
            RankLabels::Ghosts => ghosts(),
            RankLabels::Auto
                if parts.ranks() > 1 && RankLabels::has_ghosts(&info) && self.device.is_none() =>
            {
                let ghosts = ghosts();
                [all[0].max(ghosts[0]), all[1].max(ghosts[1])]
            }
            RankLabels::Auto => all,
        };
        if state > 0 {
            plan = plan.with("weighted degrees, or subscribers", state);
        }
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
