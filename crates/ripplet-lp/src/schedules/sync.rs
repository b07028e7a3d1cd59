//! The synchronous order.

use super::{UpdateOrder, Visibility};

/// Synchronous order: every vertex reads the labels of the last round.
///
/// Deterministic. Labels may oscillate forever, for example between the sides of a bipartite graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncOrder;

impl UpdateOrder for SyncOrder {
    fn name(&self) -> &'static str {
        "sync"
    }

    fn summary(&self) -> &'static str {
        "All vertices at once"
    }

    fn description(&self) -> String {
        "all at once".into()
    }

    fn visibility(&self) -> Visibility {
        Visibility::LastRound
    }
}
