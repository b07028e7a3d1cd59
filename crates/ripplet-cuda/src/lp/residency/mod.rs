//! Residency of neighbour lists: where the lists of a run are, and how a phase gets them.
//!
//! | residency | the lists | a phase |
//! |---|---|---|
//! | [`Residency::Resident`] | all on the device | one part, no transfers (`resident.rs`) |
//! | [`Residency::Pinned`] | some pinned in the host's memory | fetched by list (`by_list.rs`), or copied by range (`by_range.rs`) |
//! | [`Residency::Staged`] | some in a file | the host copies those that the phase needs (`staged.rs`) |
//!
//! The engine calls the same functions for each, so nothing else depends on where lists are. The
//! labels do not depend on it either. Compression is no residency: lists of any residency are plain
//! or compressed (`crate::lists`, `kernels/lp/{plain,compressed}.cuh`).
//!
//! Kernels look for a list in the *staging area* first, a part of the device's memory (`area.rs`).

mod area;
mod by_list;
mod by_range;
mod moves;
mod pinned;
mod resident;
mod staged;

use super::device_run::DeviceRun;
use super::state::Tallies;
use crate::lists::Supply;
use pinned::Pinned;
use ripplet_gpu::{Device, DeviceError};
use ripplet_graph::GraphView;
use ripplet_lp::ListsMoved;
use staged::Staged;

/// Residency of the lists of a run, with the state of their transfers.
pub(super) enum Residency<'a, D: Device> {
    /// All lists are on the device.
    Resident,
    /// Some lists are pinned in the host's memory.
    Pinned(Box<Pinned<'a, D>>),
    /// Some lists are in a file, from which the host copies them.
    Staged(Box<Staged<'a, D>>),
}

impl<'a, D: Device> Residency<'a, D> {
    /// Returns the residency that the layout of a run has; `mapped` has the pinned lists.
    pub fn new(
        run: &DeviceRun<'a, D>,
        graph: GraphView<'a>,
        mapped: Option<D::Mapped<'a>>,
    ) -> Residency<'a, D> {
        let (Some(places), Some(mapped)) = (run.layout.lists.streamed(), mapped) else {
            return Residency::Resident;
        };
        match places.split.supply {
            Supply::Pinned => Residency::Pinned(Box::new(Pinned::new(run, places, graph, mapped))),
            Supply::Staged => Residency::Staged(Box::new(Staged::new(run, places, graph))),
        }
    }

    /// Launches the choices of the current phase and their commit, with all lists that they need.
    pub fn choose(&mut self, run: &mut DeviceRun<'a, D>) -> Result<(), DeviceError> {
        match self {
            Residency::Resident => resident::choose(run),
            Residency::Pinned(lists) => lists.choose(run),
            Residency::Staged(lists) => lists.choose(run),
        }
    }

    /// Launches the activation of the neighbours of changed vertices, or defers it until inactive
    /// vertices can pull.
    pub fn activate(&mut self, run: &mut DeviceRun<'a, D>) -> Result<(), DeviceError> {
        match self {
            Residency::Resident => resident::activate(run),
            Residency::Pinned(lists) => lists.activate(run),
            Residency::Staged(lists) => lists.activate(run),
        }
    }

    /// Completes the set of active vertices before it is read.
    pub fn settle(&mut self, run: &DeviceRun<'a, D>) -> Result<(), DeviceError> {
        match self {
            Residency::Pinned(lists) => lists.settle(run),
            Residency::Resident | Residency::Staged(_) => Ok(()),
        }
    }

    /// Records what a round moved, from the counters before and after it.
    pub fn end_round(
        &mut self,
        device: &D,
        before: &Tallies,
        now: &Tallies,
    ) -> Result<(), DeviceError> {
        match self {
            Residency::Resident => Ok(()),
            Residency::Pinned(lists) => lists.moves.end_round(device, before, now),
            Residency::Staged(lists) => lists.moves.end_round(device, before, now),
        }
    }

    /// Sets what to expect of the next round, from the arcs that all ranks read in the last one.
    pub fn expect(&mut self, scanned: u64) {
        if let Residency::Pinned(lists) = self {
            lists.expect(scanned);
        }
    }

    /// Returns what each round moved of the lists, after all rounds.
    pub fn finish(self, device: &D) -> Result<Vec<ListsMoved>, DeviceError> {
        match self {
            Residency::Resident => Ok(Vec::new()),
            Residency::Pinned(lists) => lists.finish(device),
            Residency::Staged(lists) => {
                device.wait()?;
                Ok(lists.moves.rounds)
            }
        }
    }
}
