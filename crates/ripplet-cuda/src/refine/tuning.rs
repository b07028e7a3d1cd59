//! Tuning of a refinement on a device.

/// Tuning of a refinement on a device. It changes the speed and the memory, and no result.
///
/// The command, the facade and the benchmarks have the defaults. Tests set small values, so that small graphs
/// reach every step on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Contracted graphs with fewer arcs are left to the host: a round on the device is up to 7 launches in
    /// each of 8 phases and two waits, however small the graph. 2^17 is not measured against other values.
    pub host_below: u64,
    /// The fewest slots of the tables of vertices with long lists, together. A list of `n` labels needs
    /// `2 n` slots, rounded up to a power of two, for each block that runs: 2^22 slots, 48 MiB, are 256 tables
    /// for 8192 labels, about as many as blocks run at once on an H200 (2 on each of 132
    /// multiprocessors). Not measured against other values.
    pub region_slots: u64,
    /// Parts with at least this number of arcs, of all members together, are contracted one by one by the whole device;
    /// at least 2049.
    pub huge: u32,
}

impl Default for Tuning {
    fn default() -> Tuning {
        // The blocks of other parts have a table for the longest of them, so that more blocks run at once with a
        // smaller `huge`: `rmat` takes 348 ms on an H200, and 1347 before there was one (medians of `huge-parts.txt`
        // and `refine-gpu.txt` in `bench/runs/2026-11-27-h200`). No raw run has other values than 2^16.
        Tuning { host_below: 1 << 17, region_slots: 1 << 22, huge: 1 << 16 }
    }
}
