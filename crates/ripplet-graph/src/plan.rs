//! The memory that a run needs, computed before it starts.

/// The memory that a run needs, in bytes: an upper bound, enforced by a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The graph in host memory, which is already loaded.
    pub graph_host: u64,
    /// Host memory beside the graph, by purpose.
    pub items: Vec<Item>,
    /// The graph on a device.
    pub graph_device: u64,
    /// Device memory beside the graph, by purpose.
    pub device_items: Vec<Item>,
    /// The part of the graph's lists that does not fit the device: it stays in pinned host memory,
    /// and is copied as it is needed.
    pub graph_streamed: u64,
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
    pub fn with(mut self, purpose: &'static str, bytes: u64) -> Plan {
        self.items.push(Item { purpose, bytes });
        self
    }

    /// Returns this plan with one more item on the device.
    pub fn with_device(mut self, purpose: &'static str, bytes: u64) -> Plan {
        self.device_items.push(Item { purpose, bytes });
        self
    }

    /// Returns this plan with `bytes` of the graph's lists left in host memory.
    pub fn with_streamed(self, bytes: u64) -> Plan {
        Plan { graph_streamed: bytes, ..self }
    }

    /// Returns the bytes of host memory beside the graph.
    pub fn algorithm_host(&self) -> u64 {
        self.items.iter().fold(0, |sum, item| sum.saturating_add(item.bytes))
    }

    /// Returns the bytes of host memory with the graph.
    pub fn total_host(&self) -> u64 {
        self.graph_host.saturating_add(self.algorithm_host())
    }

    /// Returns the bytes of device memory beside the graph.
    pub fn algorithm_device(&self) -> u64 {
        self.device_items.iter().fold(0, |sum, item| sum.saturating_add(item.bytes))
    }

    /// Returns the bytes of device memory with the graph.
    pub fn total_device(&self) -> u64 {
        self.graph_device.saturating_add(self.algorithm_device())
    }
}
