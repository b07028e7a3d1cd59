//! What a run will need, known before it starts.

/// What a run will need beside the graph, in bytes: an upper bound, held by a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What it is made of.
    pub items: Vec<Item>,
}

/// One purpose and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// What for.
    pub purpose: &'static str,
    /// Bytes.
    pub bytes: u64,
}

impl Plan {
    /// This plan and one purpose more.
    pub(crate) fn with(mut self, purpose: &'static str, bytes: u64) -> Plan {
        self.items.push(Item { purpose, bytes });
        self
    }

    /// The sum.
    pub fn bytes(&self) -> u64 {
        self.items.iter().fold(0, |sum, item| sum.saturating_add(item.bytes))
    }
}
