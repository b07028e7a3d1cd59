//! What a run will need, known before it starts.

/// What a run will need, in bytes: an upper bound, held by a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The graph, which is there already.
    pub graph_host: u64,
    /// What comes beside it, by purpose.
    pub items: Vec<Item>,
    /// The graph once more, on a device.
    pub graph_device: u64,
    /// What comes beside it there, by purpose.
    pub device_items: Vec<Item>,
    /// Of the graph's lists, what does not fit the device: it stays in the host's memory, locked to its place, and is
    /// fetched from there as it is needed.
    pub graph_streamed: u64,
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
    pub fn with(mut self, purpose: &'static str, bytes: u64) -> Plan {
        self.items.push(Item { purpose, bytes });
        self
    }

    /// This plan and one purpose more on the device.
    pub fn with_device(mut self, purpose: &'static str, bytes: u64) -> Plan {
        self.device_items.push(Item { purpose, bytes });
        self
    }

    /// This plan, with so many bytes of the graph's lists left in the host's memory.
    pub fn with_streamed(self, bytes: u64) -> Plan {
        Plan { graph_streamed: bytes, ..self }
    }

    /// Bytes beside the graph.
    pub fn algorithm_host(&self) -> u64 {
        self.items.iter().fold(0, |sum, item| sum.saturating_add(item.bytes))
    }

    /// Bytes with the graph.
    pub fn total_host(&self) -> u64 {
        self.graph_host.saturating_add(self.algorithm_host())
    }

    /// Bytes beside the graph on the device.
    pub fn algorithm_device(&self) -> u64 {
        self.device_items.iter().fold(0, |sum, item| sum.saturating_add(item.bytes))
    }

    /// Bytes with the graph on the device.
    pub fn total_device(&self) -> u64 {
        self.graph_device.saturating_add(self.algorithm_device())
    }
}
