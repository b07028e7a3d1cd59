//! Division of a run's vertices among devices, and the memory layout of each share.

use super::classes::Classes;
use super::fit;
use super::layout::Layout;
use super::ranks::Share;
use super::task::Task;
use ripplet_lp::engine::{Loads, Parts};

/// Shares begin at multiples of 64 vertices, so that each rank's bits of the active set are words
/// of their own.
const SHARE_FROM: u32 = 64;

/// Attempts to divide the vertices so that each share fits its device.
const TRIES: usize = 8;

/// A run to be divided among devices.
struct Shares<'s> {
    task: Task<'s>,
    /// Bytes of each device's memory that the run may use.
    rooms: &'s [u64],
    /// Whether messages are transported into the memory of the device that reads them.
    copies_messages: bool,
    loads: Loads,
}

/// Plans each device's memory: equal loads, limited by `rooms` bytes of the devices' memory, and by
/// the host's limit.
///
/// A share that does not fit shrinks in proportion to its lists, and the devices with room take the
/// rest. If this does not converge, the graph does not fit. Then loads are equal, and lists that do
/// not fit are fetched from the host's memory.
pub(super) fn layouts(
    task: Task<'_>,
    rooms: &[u64],
    copies_messages: bool,
    host_limit: Option<u64>,
) -> Vec<Layout> {
    let loads = Loads::of(task.graph, SHARE_FROM);
    let shares = Shares { task, rooms, copies_messages, loads };
    let layouts = shares.layouts();
    match layouts.iter().any(|layout| layout.exceeds(host_limit, task.graph)) {
        true => Shares { task: task.staged(), ..shares }.layouts(),
        false => layouts,
    }
}

impl Shares<'_> {
    fn share(&self, parts: &Parts, rank: usize) -> (Share, Classes) {
        let Task { graph, tuning, .. } = self.task;
        let copies_messages = self.copies_messages;
        let share = Share { parts: parts.clone(), rank, copies_messages, is_of_processes: false };
        let classes = Classes::of(graph, share.vertices(), &tuning);
        (share, classes)
    }

    /// Plans each device's memory with all lists on the devices.
    fn whole(&self, parts: &Parts) -> Vec<Layout> {
        let layout = |rank| {
            let (share, classes) = self.share(parts, rank);
            Layout::new(&classes, None, share, self.task)
        };
        (0..self.rooms.len()).map(layout).collect()
    }

    /// Plans each device's memory if some lists stay in the host's memory. Then all devices stream,
    /// as ranks must agree on how vertices are activated.
    fn streamed(&self, parts: &Parts) -> Vec<Layout> {
        let layout = |(rank, &room): (usize, &u64)| {
            let (share, classes) = self.share(parts, rank);
            fit::streamed_within(room, &classes, share, self.task)
        };
        self.rooms.iter().enumerate().map(layout).collect()
    }

    /// Plans each device's memory with the supply of lists that the tuning has.
    fn layouts(&self) -> Vec<Layout> {
        let mut shares = vec![1.0; self.rooms.len()];
        let equal = self.loads.part(&shares);
        if self.task.tuning.streamed_from.is_some() && self.rooms.len() > 1 {
            return self.streamed(&equal);
        }
        let fits = |layout: &Layout, room: u64| layout.plan.total_device() <= room;
        let mut layouts = self.whole(&equal);
        for _ in 0..TRIES {
            if layouts.iter().zip(self.rooms).all(|(layout, &room)| fits(layout, room)) {
                return layouts;
            }
            let nothing = Share { copies_messages: false, ..Share::whole(0) };
            let least =
                Layout::new(&Classes::default(), None, nothing, self.task).plan.total_device();
            let (mut open, mut taken) = (0.0, 0.0);
            for ((share, layout), &room) in shares.iter_mut().zip(&layouts).zip(self.rooms) {
                if fits(layout, room) {
                    open += *share;
                } else {
                    let lists = layout.plan.total_device().saturating_sub(least).max(1);
                    let fitting = room.saturating_sub(least) as f64 / lists as f64;
                    let less = *share * (fitting * 0.97).min(0.97);
                    taken += *share - less;
                    *share = less;
                }
            }
            for ((share, layout), &room) in shares.iter_mut().zip(&layouts).zip(self.rooms) {
                if open > 0.0 && fits(layout, room) {
                    *share += taken * *share / open;
                }
            }
            if shares.iter().sum::<f64>() <= 0.0 {
                break;
            }
            layouts = self.whole(&self.loads.part(&shares));
        }
        let most = |layouts: &[Layout]| layouts.iter().map(|layout| layout.bytes).max();
        let streamed = self.streamed(&equal);
        if most(&streamed) <= most(&layouts) { streamed } else { layouts }
    }
}
