//! Tuning of a refinement on a device.

/// Tuning of a refinement, mostly for tests. It changes the speed and the memory, and no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Contracted graphs with fewer arcs are left to the host.
    pub host_below: u64,
    /// The fewest slots of the tables of vertices with long lists, together.
    pub region_slots: u64,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { host_below: 1 << 17, region_slots: 1 << 22 }
    }
}
