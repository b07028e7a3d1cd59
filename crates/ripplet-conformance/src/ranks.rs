//! Several executors of one machine that share a run and exchange messages, as devices or machines
//! do.
//!
//! A rank is a [`CpuRank`]. It holds the labels, totals and columns of all vertices (see
//! [`ripplet_lp::engine::Rank`]), so that memory grows with the number of ranks, and a run is no
//! faster than on one executor with all threads. It serves as a test, and as a model for
//! implementations of [`Exchange`].

use ripplet_graph::{GraphView, Observer, OutOfMemory};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::engine::{
    CpuRank, Exchange, Finished, Loads, Parts, Rank, Rounds, Update, run_phase, run_rounds,
};
use ripplet_lp::{
    Checkpoint, DynProgram, Executor, Item, Outcome, Plan, Round, RoundObserver, RunError,
    Settings, State,
};
use std::borrow::Cow;
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
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        if settings.schedule.is_in_place() {
            return self.ranks[0].run(graph, program, settings, observer);
        }
        settings.check(graph.vertices(), &program.info())?;
        let planned = self.plan(graph, program, settings).algorithm_host();
        let refused = |_| RunError::OutOfMemory { bytes: planned };
        let parts = Loads::of(graph, WORD).part(&vec![1.0; self.ranks.len()]);
        let begin = |(number, executor): (usize, &CpuExecutor)| {
            let resumed = settings.resume.as_ref().map_or(0, Checkpoint::fingerprint);
            let fingerprint = if number == 0 { resumed } else { 0 };
            let own = parts.of(number);
            executor.install(|| program.begin_rank(graph, settings, own, fingerprint))
        };
        let ranks =
            self.ranks.iter().enumerate().map(begin).collect::<Result<Vec<_>, OutOfMemory>>();
        let rounds = RanksRounds {
            executors: &self.ranks,
            ranks: ranks.map_err(refused)?,
            phases: settings.schedule.phases(),
            parts: &parts,
        };
        run_rounds(Box::new(rounds), graph, settings, None, observer)
    }
}

/// A message between ranks.
enum Message {
    /// Label updates.
    Updates(Vec<Update>),
    /// Frontier updates: words of the active set.
    Frontier(Vec<(usize, u64)>),
}

/// A rank with the observer that may cancel its work.
struct Watched<'w, 'a> {
    rank: &'w mut (dyn CpuRank + 'a),
    observer: &'w dyn Observer,
}

impl Watched<'_, '_> {
    /// Performs a round of this number of phases, unless the observer cancels.
    fn do_round(
        &mut self,
        index: u32,
        phases: u32,
        channels: &mut Channels,
    ) -> Result<Round, RunError> {
        self.rank.begin_round(index);
        for _ in 0..phases {
            run_phase(self, channels)?;
        }
        Ok(self.rank.end_round())
    }

    fn apply(&mut self, message: Message) {
        match message {
            Message::Updates(updates) => self.rank.apply_updates(updates),
            Message::Frontier(words) => self.rank.apply_frontier(words),
        }
    }
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

impl Exchange<Watched<'_, '_>> for Channels {
    fn exchange_updates(&mut self, watched: &mut Watched<'_, '_>) -> Result<(), RunError> {
        let mut messages = Vec::new();
        let own = |_| Message::Updates(watched.rank.updates());
        self.all_to_all(own, |message| messages.push(message))?;
        messages.into_iter().for_each(|message| watched.apply(message));
        Ok(())
    }

    fn exchange_frontier(&mut self, watched: &mut Watched<'_, '_>) -> Result<(), RunError> {
        let activated = watched.rank.take_frontier();
        let of = |rank: usize| {
            let its = self.parts.of(rank);
            let of_its = |&&(number, _): &&(usize, u64)| its.contains(&(number as u32 * WORD));
            Message::Frontier(activated.iter().filter(of_its).copied().collect())
        };
        self.all_to_all(of, |message| watched.apply(message))
    }
}

/// A run in progress: each rank has a thread, and the threads of its executor.
struct RanksRounds<'a> {
    executors: &'a [CpuExecutor],
    ranks: Vec<Box<dyn CpuRank + 'a>>,
    phases: u32,
    parts: &'a Parts,
}

impl Rounds for RanksRounds<'_> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let phases = self.phases;
        let channels = Channels::between(self.parts);
        let done: Vec<Result<Round, RunError>> = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for ((executor, rank), mut channels) in
                self.executors.iter().zip(&mut self.ranks).zip(channels)
            {
                let part = move || {
                    let mut watched = Watched { rank: &mut **rank, observer };
                    executor.install(|| watched.do_round(index, phases, &mut channels))
                };
                threads.push(scope.spawn(part));
            }
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
            let words = rank.state().active;
            active.resize(words.len(), 0);
            active.iter_mut().zip(&*words).for_each(|(all, word)| *all |= word);
        }
        let state = self.ranks[0].state();
        Ok(State { active: Cow::Owned(active), ..state })
    }

    /// Labels and columns are replicated: the first rank returns them.
    fn finish(mut self: Box<Self>) -> Result<Finished, RunError> {
        self.ranks.swap_remove(0).finish()
    }
}
