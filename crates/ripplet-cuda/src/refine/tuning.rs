//! Tuning of a refinement on a device.

/// Tuning of a refinement, mostly for tests. It changes the speed and the memory, and no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Contracted graphs with fewer arcs are left to the host.
    pub host_below: u64,
    /// The fewest slots of the tables of vertices with long lists, together.
    pub region_slots: u64,
    /// Parts with at least this number of arcs, of all members together, are contracted one by one by the whole device;
    /// at least 2049.
    pub huge: u32,
}

impl Default for Tuning {
    fn default() -> Tuning {
        // The blocks of other parts have a table for the longest of them, so that more blocks run at once: on
        // `rmat` and an H200, 347 ms instead of 1285 with 2^19 (`bench/runs/2026-11-27-h200/huge-parts.txt`).
        Tuning { host_below: 1 << 17, region_slots: 1 << 22, huge: 1 << 16 }
    }
}
