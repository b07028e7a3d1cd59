//! The asynchronous order, and its pick-less rounds.

use super::{Parameter, UpdateOrder, Visibility};
use std::num::NonZeroU32;

/// Asynchronous order: each vertex reads the current labels.
///
/// It converges fastest, and the result **differs from run to run** on more than one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncOrder {
    /// The period of *pick-less* rounds, beginning with round 0.
    ///
    /// In such a round a vertex may not adopt a label larger than its own. A vertex that would
    /// stays as it is, including its columns, and is active in the next round. This separates
    /// neighbours that swap labels. No stop rule except the limit of rounds applies after such a
    /// round. (Sahu, *ν-LPA*, 2024.)
    pub pick_less: Option<NonZeroU32>,
}

impl UpdateOrder for AsyncOrder {
    fn name(&self) -> &'static str {
        "async"
    }

    fn summary(&self) -> &'static str {
        "Each vertex sees the newest labels: fast, and different from run to run"
    }

    fn description(&self) -> String {
        match self.pick_less {
            None => "as they come".into(),
            Some(every) => {
                format!("as they come, to smaller labels alone in every {every}th round")
            }
        }
    }

    fn visibility(&self) -> Visibility {
        Visibility::Current
    }

    fn is_pick_less(&self, round: u32) -> bool {
        self.pick_less.is_some_and(|every| round.is_multiple_of(every.get()))
    }

    fn parameter(&self) -> Option<Parameter> {
        self.pick_less.map(Parameter::PickLess)
    }
}
