//! Ranks whose vertices a device updates.

use crate::ranks::{Parts, RankStart};
use crate::rounds::Rounds;
use crate::{Outcome, Plan, ProgramInfo, RoundObserver, RunError, Settings};
use ripplet_graph::GraphView;
use ripplet_ranks::Comm;
use std::fmt;
use std::sync::Mutex;

/// A run of which a rank does its part.
pub struct RankTask<'a> {
    /// The graph.
    pub graph: GraphView<'a>,
    /// The program.
    pub program: &'a ProgramInfo,
    /// The settings.
    pub settings: &'a Settings,
    /// The number of this rank.
    pub rank: usize,
    /// The vertices of each rank.
    pub parts: &'a Parts,
    /// Whether the graph has the lists of all vertices, and not of the rank's own alone.
    pub has_all_lists: bool,
}

/// What ends a run after its rounds have begun.
pub type EndRun<'a> =
    dyn FnMut(Box<dyn Rounds + '_>, &mut dyn RoundObserver) -> Result<Outcome, RunError> + 'a;

/// A device, such as a GPU, that updates the vertices of a rank in place of the rank's cores.
///
/// Each rank of a run has one. A round of a device is that of a [`CpuRank`](crate::engine::CpuRank): the same labels, totals and
/// columns of all vertices on each, and the same counts. Messages have the format of the device, so that all ranks
/// need one of a kind.
pub trait RankDevice: fmt::Debug + Send + Sync {
    /// Returns the plan of a rank's part: what the device needs, and the host beside the graph, without splitting and merging.
    fn plan_rank(&self, task: &RankTask<'_>) -> Plan;

    /// Begins the rank's part of a run, and passes its rounds to `end`; all ranks call it at the same time.
    ///
    /// # Errors
    /// If a device fails, its memory does not suffice, it cannot run the program, or a message fails.
    fn run_rank(
        &self,
        task: RankTask<'_>,
        start: RankStart,
        comm: &Mutex<Comm>,
        observer: &mut dyn RoundObserver,
        end: &mut EndRun<'_>,
    ) -> Result<Outcome, RunError>;
}
