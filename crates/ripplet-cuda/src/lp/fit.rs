//! Choice of a layout that fits a device's memory: as many lists as possible are on the device.

use super::classes::Classes;
use super::layout::Layout;
use super::ranks::Share;
use super::stage::most_parts;
use super::task::Task;
use crate::lists::{Split, Supply};
use ripplet_lp::Visibility;

/// Plans a run in `room` bytes of the device's memory: as many lists as fit are on the device, the
/// others stay in the host's memory. If even that does not fit, returns the smallest layout.
pub(super) fn within(room: u64, task: Task<'_>) -> Layout {
    let share = Share::whole(task.graph.vertices());
    let classes = Classes::of(task.graph, share.vertices(), &task.tuning);
    if task.tuning.streamed_from.is_none() {
        let whole = Layout::new(&classes, None, share.clone(), task);
        if whole.bytes <= room {
            return whole;
        }
        let streamed = streamed_within(room, &classes, share, task);
        return if streamed.bytes <= whole.bytes { streamed } else { whole };
    }
    streamed_within(room, &classes, share, task)
}

/// Plans a share of a run with some lists in the host's memory, in `room` bytes of the device's
/// memory. If it does not fit, returns the smallest layout.
pub(super) fn streamed_within(
    room: u64,
    classes: &Classes,
    share: Share,
    task: Task<'_>,
) -> Layout {
    let Task { graph, settings, tuning, .. } = task;
    let own = share.vertices();
    let layout = |split| Layout::new(classes, Some(split), share.clone(), task);
    let staged = || Split::least_staged(graph, &own, most_parts(graph.arcs()));
    let phases = u64::from(settings.schedule.phases().max(1));
    // Lists for the next phases are prefetched while a phase runs, but not if each phase has all
    // vertices.
    let most_ahead = match settings.schedule.visibility() {
        Visibility::EarlierPhases => tuning.ahead(),
        Visibility::Current => 1,
        Visibility::LastRound => 0,
    };
    if let Some(v) = tuning.streamed_from {
        let least = match tuning.supply {
            Supply::Staged => staged(),
            Supply::Pinned => Split::least(graph, &own, most_ahead).with_region(4096),
        };
        return layout(least.until(graph, v));
    }
    let with = |split: Split| (split, layout(split));
    let (start, least) = match tuning.supply {
        Supply::Staged => with(staged()),
        Supply::Pinned => {
            // Prefetches for as many phases together as there is room for.
            let halved = |ahead: &u32| (*ahead > 0).then_some(ahead / 2);
            let all = std::iter::successors(Some(most_ahead), halved);
            let mut all = all.map(|ahead| with(Split::least(graph, &own, ahead)));
            let suits = |(start, least): &(Split, Layout)| {
                least.bytes <= room && start.suits(graph, room - least.bytes, phases)
            };
            all.find(suits).unwrap_or_else(|| with(Split::least(graph, &own, 0)))
        }
    };
    let left = room.saturating_sub(least.bytes);
    let best = layout(start.within(graph, left, phases));
    if best.bytes <= room { best } else { least }
}
