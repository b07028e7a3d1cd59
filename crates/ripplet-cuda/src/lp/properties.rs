//! Properties of schedules that the engine uses.

use ripplet_lp::{Order, Schedule};

/// Which changes of other vertices a vertex sees when it updates.
pub(super) enum Visibility {
    LastRound,
    EarlierPhases,
    Current,
}

pub(super) trait Properties {
    fn phases(&self) -> u32;
    fn is_in_place(&self) -> bool;
    fn is_traced(&self) -> bool;
    fn visibility(&self) -> Visibility;
}

impl Properties for Schedule {
    fn phases(&self) -> u32 {
        match self.order {
            Order::Phased { phases } => phases,
            Order::Sync | Order::Async { .. } => 1,
        }
    }
    fn is_in_place(&self) -> bool {
        matches!(self.order, Order::Async { .. })
    }
    fn is_traced(&self) -> bool {
        self.order == Order::Sync
    }
    fn visibility(&self) -> Visibility {
        match self.order {
            Order::Phased { .. } => Visibility::EarlierPhases,
            Order::Async { .. } => Visibility::Current,
            Order::Sync => Visibility::LastRound,
        }
    }
}
