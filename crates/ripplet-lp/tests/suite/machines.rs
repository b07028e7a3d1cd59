//! Executors of the conformance suite: the CPU, on 1, 2 and 3 threads, with plain and with
//! compressed lists, and several executors as ranks of one run.

use crate::graphs::{Edges, Storage};
use crate::oracle::{Counting, Rules};
use ripplet_conformance::ranks::RanksExecutor;
use ripplet_graph::GraphView;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::{
    DynProgram, Executor, Outcome, Plan, RankLabels, RoundObserver, RunError, Settings,
};

/// An executor under test.
pub struct Machine {
    pub name: String,
    pub executor: On,
    pub storage: Storage,
}

/// One executor, or several as ranks of one run.
pub enum On {
    One(CpuExecutor),
    Ranks(RanksExecutor),
}

impl Executor for On {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        match self {
            On::One(executor) => executor.plan(graph, program, settings),
            On::Ranks(executor) => executor.plan(graph, program, settings),
        }
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        match self {
            On::One(executor) => executor.run(graph, program, settings, observer),
            On::Ranks(executor) => executor.run(graph, program, settings, observer),
        }
    }
}

pub fn machines() -> Vec<Machine> {
    let on = |(threads, storage)| Machine {
        name: format!("on {threads} threads, {storage:?}"),
        executor: On::One(CpuExecutor::new(Some(threads)).unwrap()),
        storage,
    };
    let on_ranks = |labels, storage| Machine {
        name: format!("on 1 to 7 ranks with labels of {labels:?}, {storage:?}"),
        executor: On::Ranks(RanksExecutor::new(&[3, 1, 7, 2, 4], &[1, 2], labels)),
        storage,
    };
    let ranks = [
        on_ranks(RankLabels::All, Storage::Plain),
        on_ranks(RankLabels::Ghosts, Storage::Plain),
        on_ranks(RankLabels::Ghosts, Storage::Compressed),
    ];
    let plain = [1, 2, 3].map(|threads| (threads, Storage::Plain));
    let compressed = [1, 2].map(|threads| (threads, Storage::Compressed));
    plain.into_iter().chain(compressed).map(on).chain(ranks).collect()
}

impl Machine {
    /// Returns whether the executor supports these rules. All do, except that ranks support exact
    /// counting only.
    pub fn takes(&self, _: &Edges, rules: Rules) -> bool {
        matches!(self.executor, On::One(_)) || rules.counting == Counting::Exact
    }
}

/// Every `STRIDE`th of many runs of one kind is done.
pub const STRIDE: usize = 1;

/// Limit on the rounds of a run.
pub const ROUNDS: u32 = 12;

/// Number of random graphs per program, by default.
pub const CASES: u32 = 8;

/// Returns whether these rules run on this graph here: all do.
pub fn takes(_: &Edges, _: Rules) -> bool {
    true
}
