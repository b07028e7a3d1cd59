//! A run to be done: the graph, the program, the settings and the tuning.

use super::tuning::Tuning;
use crate::lists::Supply;
use ripplet_graph::GraphView;
use ripplet_lp::{ProgramInfo, Settings};

/// A run to be done.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub graph: GraphView<'t>,
    pub program: &'t ProgramInfo,
    pub settings: &'t Settings,
    pub tuning: Tuning,
}

impl Task<'_> {
    /// Returns the task with lists that the host reads from the file and copies to the device
    /// (`Supply::Staged`).
    pub fn staged(self) -> Self {
        Task { tuning: Tuning { supply: Supply::Staged, ..self.tuning }, ..self }
    }

    /// Returns the values of written columns per vertex: the length of a draft.
    pub fn drafted(&self) -> u64 {
        let written = self.program.columns.iter().filter(|spec| spec.written);
        written.map(|spec| u64::from(spec.len)).sum()
    }
}
