//! Several executors of one machine that share a run and exchange messages, as devices or machines
//! do.
//!
//! A rank is a [`PhasedRounds`] whose active set is restricted to its own vertices. It holds the
//! labels, totals and columns of all vertices (see [`crate::engine::Rank`]), so that memory grows
//! with the number of ranks, and a run is no faster than on one executor with all threads. It
//! serves as a test, and as a model for implementations of [`Exchange`].

use super::CpuExecutor;
use super::phased::PhasedRounds;
use super::state::LpState;
use super::synchronous::trace;
use crate::engine::{Exchange, Loads, Parts, Rank, run_phase};
use crate::hash::{Clock, mix};
use crate::rounds::{Finished, Observer, Rounds, run_rounds};
use crate::{
    Checkpoint, DynProgram, Executor, Hints, Item, Label, Outcome, Plan, Round, RunError, Settings,
    State,
};
use rayon::ThreadPool;
use ripplet_graph::{GraphView, VertexId};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Vertices of a word of the active set; a word belongs to one rank.
const WORD: u32 = 64;

/// Runs label propagation on several executors, which share the graph's vertices.
///
/// The labels are those of one executor. `async` runs on the first executor alone, as it has no
/// barriers.
#[derive(Debug)]
pub struct RanksExecutor {
    ranks: Vec<CpuExecutor>,
}

impl RanksExecutor {
    /// Creates an executor of these, at least one.
    pub fn new(first: CpuExecutor, others: impl IntoIterator<Item = CpuExecutor>) -> Self {
        RanksExecutor { ranks: [first].into_iter().chain(others).collect() }
    }
}

impl Executor for RanksExecutor {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        let plans = self.ranks.iter().map(|rank| rank.plan(graph, program, settings));
        let both = |mut plan: Plan, other: Plan| {
            let add =
                |(to, item): (&mut Item, Item)| to.bytes = to.bytes.saturating_add(item.bytes);
            plan.items.iter_mut().zip(other.items).for_each(add);
            plan
        };
        plans.reduce(both).unwrap_or_default()
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        if settings.schedule.is_in_place() {
            return self.ranks[0].run(graph, program, settings, observer);
        }
        settings.check(graph.vertices(), &program.info())?;
        let pools: Vec<&ThreadPool> = self.ranks.iter().map(|rank| &rank.pool).collect();
        let planned = self.plan(graph, program, settings).algorithm_host();
        program.run_on_ranks(&pools, graph, settings, observer).map_err(|error| match error {
            RunError::OutOfMemory { .. } => RunError::OutOfMemory { bytes: planned },
            error => error,
        })
    }
}

/// Runs a program on several pools; an asynchronous order runs as a synchronous one.
pub(super) fn run<P: Hints>(
    program: &P,
    pools: &[&ThreadPool],
    graph: GraphView<'_>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    // In one phase, no vertex sees another's change before all have chosen.
    let phases = settings.schedule.phases();
    // The caller inserts the planned bytes.
    let refused = |_| RunError::OutOfMemory { bytes: 0 };
    let parts = Loads::of(graph, WORD).part(&vec![1.0; pools.len()]);
    let begin = |(number, pool): (usize, &&ThreadPool)| {
        let rounds = pool.install(|| {
            let state = LpState::new(graph, program, settings)?;
            PhasedRounds::new(state, phases)
        });
        let mut rounds = rounds.map_err(refused)?;
        keep_own(&mut rounds.state, &parts.of(number));
        let resumed = settings.resume.as_ref().map_or(0, Checkpoint::fingerprint);
        let is_traced = settings.schedule.is_traced();
        let fingerprint = is_traced.then_some(if number == 0 { resumed } else { 0 });
        Ok(CpuRank {
            rounds,
            phases,
            own: parts.of(number),
            at: None,
            fingerprint,
            round: Round::default(),
        })
    };
    let ranks = pools.iter().enumerate().map(begin).collect::<Result<_, RunError>>()?;
    let rounds = RanksRounds { pools, ranks, parts: &parts };
    run_rounds(Box::new(rounds), graph, settings, observer)
}

/// Removes the vertices of other ranks from the active set; returns their words by number.
fn keep_own<P: Hints>(state: &mut LpState<'_, P>, own: &Range<VertexId>) -> Vec<(usize, u64)> {
    let words = own.start as usize / 64..(own.end as usize).div_ceil(64);
    let mut others = Vec::new();
    let words_before = state.active.state().to_vec();
    for (number, bits) in words_before.into_iter().enumerate() {
        // An empty range has no words, whatever its start.
        let is_own = !own.is_empty() && words.contains(&number);
        if bits != 0 && !is_own {
            state.active.take(number..number + 1, &mut Vec::new());
            others.push((number, bits));
        }
    }
    others
}

/// A rank: one of the executors that share a run.
struct CpuRank<'a, P> {
    rounds: PhasedRounds<'a, P>,
    phases: u32,
    own: Range<VertexId>,
    /// The current phase.
    at: Option<(Clock, u32)>,
    /// The fingerprint of the rank's vertices, if the schedule detects oscillation.
    fingerprint: Option<u64>,
    /// The counts of the current round.
    round: Round,
}

/// A message between ranks.
enum Message {
    /// Label updates: changed vertices with their labels and the values of their written columns.
    Updates(Vec<(VertexId, Label, Vec<u32>)>),
    /// Frontier updates: words of the active set.
    Frontier(Vec<(usize, u64)>),
}

impl<P: Hints> CpuRank<'_, P> {
    /// Returns the change of the fingerprint in this phase.
    fn trace(&self) -> u64 {
        let state = &self.rounds.state;
        let mut print = 0u64;
        for (v, label, draft) in self.rounds.choices() {
            let before = state.label(v);
            print = print.wrapping_add(trace(v, label)).wrapping_sub(trace(v, before));
            for (index, (value, next)) in state.columns.written(v).zip(draft).enumerate() {
                let place = mix(v ^ mix(index as u32 + 1));
                let before = value.load(std::sync::atomic::Ordering::Relaxed);
                print = print.wrapping_add(trace(place, next)).wrapping_sub(trace(place, before));
            }
        }
        print
    }

    fn updates(&self) -> Message {
        Message::Updates(self.rounds.choices().collect())
    }

    fn apply(&mut self, message: Message) {
        let state = &self.rounds.state;
        match message {
            Message::Updates(changes) => {
                for (v, label, draft) in changes {
                    if state.label(v) != label {
                        state.commit(v, label);
                    }
                    state.columns.commit(v, draft);
                }
            }
            Message::Frontier(words) => {
                for (number, bits) in words {
                    let first = number as u32 * WORD;
                    (0..WORD)
                        .filter(|bit| bits >> bit & 1 == 1)
                        .for_each(|bit| state.active.insert(first + bit));
                }
            }
        }
    }

    /// Performs a round, unless the observer cancels.
    fn do_round(
        &mut self,
        index: u32,
        observer: &dyn Observer,
        channels: &mut Channels,
    ) -> Result<Round, RunError> {
        let clock = self.rounds.state.begin_round(index);
        self.round = Round::default();
        for phase in 0..self.phases {
            self.at = Some((clock, phase));
            run_phase(&mut Watched { rank: self, observer }, channels)?;
        }
        self.rounds.state.end_round();
        keep_own(&mut self.rounds.state, &self.own);
        Ok(Round { fingerprint: self.fingerprint, ..self.round })
    }
}

/// A rank with the observer that may cancel its work.
struct Watched<'w, 'a, P> {
    rank: &'w mut CpuRank<'a, P>,
    observer: &'w dyn Observer,
}

impl<P: Hints> Rank for Watched<'_, '_, P> {
    fn choose(&mut self) -> Result<(), RunError> {
        let rank = &mut *self.rank;
        let Some((clock, phase)) = rank.at else { return Ok(()) };
        rank.rounds.compact_frontier(clock, phase);
        let tally = rank.rounds.choose(clock, self.observer)?;
        rank.round = rank.round.plus(tally);
        rank.rounds.drop_unchanged();
        if let Some(before) = rank.fingerprint {
            rank.fingerprint = Some(before.wrapping_add(rank.trace()));
        }
        // Only after the fingerprint: a commit overwrites the labels and columns that it compares.
        rank.rounds.commit();
        Ok(())
    }

    fn activate_neighbors(&mut self) -> Result<(), RunError> {
        self.rank.rounds.activate_neighbors();
        Ok(())
    }
}

/// The channels of a rank to and from each other rank.
struct Channels {
    to: Vec<Sender<Message>>,
    from: Vec<Receiver<Message>>,
    parts: Parts,
    others: Vec<usize>,
}

impl Channels {
    /// Connects all ranks.
    fn between(parts: &Parts) -> Vec<Channels> {
        let count = parts.ranks();
        let others = |own: usize| (0..count).filter(move |&rank| rank != own);
        let none = |own| Channels {
            to: Vec::new(),
            from: Vec::new(),
            parts: parts.clone(),
            others: others(own).collect(),
        };
        let mut all: Vec<Channels> = (0..count).map(none).collect();
        for receiver in 0..count {
            for sender in others(receiver) {
                let (to, from) = channel();
                all[sender].to.push(to);
                all[receiver].from.push(from);
            }
        }
        all
    }

    /// Sends a message to each other rank, and passes each received one to `take`.
    fn all_to_all(
        &self,
        message: impl Fn(usize) -> Message,
        mut take: impl FnMut(Message),
    ) -> Result<(), RunError> {
        // A rank hangs up only if it was cancelled.
        let left = RunError::Cancelled;
        for (to, &rank) in self.to.iter().zip(&self.others) {
            to.send(message(rank)).map_err(|_| left.clone())?;
        }
        let each = self.from.iter().map(|from| from.recv().map_err(|_| left.clone()));
        each.into_iter().try_for_each(|message| message.map(&mut take))
    }
}

impl<P: Hints> Exchange<Watched<'_, '_, P>> for Channels {
    fn exchange_updates(&mut self, watched: &mut Watched<'_, '_, P>) -> Result<(), RunError> {
        let mut messages = Vec::new();
        self.all_to_all(|_| watched.rank.updates(), |message| messages.push(message))?;
        messages.into_iter().for_each(|message| watched.rank.apply(message));
        Ok(())
    }

    fn exchange_frontier(&mut self, watched: &mut Watched<'_, '_, P>) -> Result<(), RunError> {
        let rank = &mut *watched.rank;
        let activated = keep_own(&mut rank.rounds.state, &rank.own);
        let of = |rank: usize| {
            let its = self.parts.of(rank);
            let of_its = |&&(number, _): &&(usize, u64)| its.contains(&(number as u32 * WORD));
            Message::Frontier(activated.iter().filter(of_its).copied().collect())
        };
        self.all_to_all(of, |message| rank.apply(message))
    }
}

/// A run in progress: each rank has a thread, and the threads of its executor.
struct RanksRounds<'a, P> {
    pools: &'a [&'a ThreadPool],
    ranks: Vec<CpuRank<'a, P>>,
    parts: &'a Parts,
}

impl<P: Hints> Rounds for RanksRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let channels = Channels::between(self.parts);
        let all = self.pools.iter().zip(&mut self.ranks).zip(channels);
        let done: Vec<Result<Round, RunError>> = std::thread::scope(|scope| {
            let part =
                |((pool, rank), mut channels): ((&&ThreadPool, &mut CpuRank<'_, P>), Channels)| {
                    pool.install(|| rank.do_round(index, observer, &mut channels))
                };
            let threads: Vec<_> = all.map(|one| scope.spawn(move || part(one))).collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        let rounds = done.into_iter().collect::<Result<Vec<Round>, _>>()?;
        Ok(rounds.into_iter().reduce(Round::plus).unwrap_or_default())
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        let mut active = Vec::new();
        for rank in &mut self.ranks {
            let words = rank.rounds.state.active.state();
            active.resize(words.len(), 0);
            active.iter_mut().zip(words).for_each(|(all, word)| *all |= word);
        }
        let state = self.ranks[0].rounds.state.state();
        Ok(State { active: Cow::Owned(active), ..state })
    }

    /// Labels and columns are replicated: the first rank returns them.
    fn finish(mut self: Box<Self>) -> Result<Finished, RunError> {
        Box::new(self.ranks.swap_remove(0).rounds).finish()
    }
}
