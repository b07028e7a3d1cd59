//! The memory that a run needs, computed before it starts.

/// The memory that a run needs beside the graph, in bytes: an upper bound, enforced by a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The memory by purpose.
    pub items: Vec<Item>,
}

/// The memory for one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The purpose.
    pub purpose: &'static str,
    /// Bytes.
    pub bytes: u64,
}

impl Plan {
    /// Returns this plan with one more item.
    pub(crate) fn with(mut self, purpose: &'static str, bytes: u64) -> Plan {
        self.items.push(Item { purpose, bytes });
        self
    }

    /// Returns the total bytes.
    pub fn bytes(&self) -> u64 {
        self.items.iter().fold(0, |sum, item| sum.saturating_add(item.bytes))
    }
}
