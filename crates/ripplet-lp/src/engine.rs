//! Building blocks of an executor: the run loop, the exchange between ranks, and items of a plan.
//!
//! An executor checks the settings ([`Settings::check`](crate::Settings::check)) and creates an
//! implementation of [`Rounds`], which performs one round after another. It passes it to
//! [`run_rounds`], which applies the stop rules. [`Schedule`](crate::Schedule) and
//! [`Program`](crate::Program) define a round; [`cpu`](crate::cpu) is an example. Executors that
//! share a run are [`Rank`]s of an [`Exchange`]; a [`CpuRank`] is one on the CPU, and a [`RankDevice`] has others.

pub use crate::finishing::{Communities, Finisher, Finishing, finish_on_host};
pub use crate::ranked::{EndRun, RankDevice, RankTask, join_active, sum_of_ranks};
pub use crate::ranks::{
    CpuRank, Exchange, Loads, Parts, Rank, RankStart, RankTotals, SingleRank, Update, run_phase,
};
pub use crate::rounds::{Finished, Rounds, run_rounds};
pub use crate::volume::VolumeUnit;

use crate::refine::merge;
use crate::{ColumnSpec, Settings};
use ripplet_graph::{Direction, GraphView};

/// Returns the bytes of host memory that a run takes after its rounds: to split disconnected
/// communities, then to merge communities on this many threads.
pub fn bytes_of_finishing(graph: GraphView<'_>, settings: &Settings, threads: usize) -> u64 {
    let splitting = match settings.keep_disconnected {
        true => 0,
        false => crate::communities::bytes_for(graph.vertices()),
    };
    let arcs = match graph.direction() {
        Direction::Undirected => graph.arcs(),
        Direction::Directed => graph.arcs().saturating_mul(2),
    };
    let merging = settings
        .merge
        .map_or(0, |_| merge::bytes_for(u64::from(graph.vertices()), arcs, threads as u64));
    splitting.max(merging)
}

/// Returns the bytes of a run's [`State`](crate::State), of a program with these columns.
pub fn bytes_of_state(vertices: u32, columns: &[ColumnSpec]) -> u64 {
    crate::checkpoint::bytes_of_state(vertices, columns)
}

/// Returns the number of values of a column for `vertices` vertices.
pub fn values_of(column: &ColumnSpec, vertices: u32) -> u64 {
    crate::columns::values_of(column, vertices)
}
