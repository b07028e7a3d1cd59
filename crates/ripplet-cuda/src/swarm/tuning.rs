//! Tuning of a run.

/// Tuning of a run. It changes the speed and the memory, and no result.
///
/// The command and the facade have the defaults. `measure_swarm --split` (in `bench`) compares values of
/// `split_over`. Tests set the others, so that small graphs are split, or do not fit shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Limit in bytes of a block's shared memory.
    pub most_shared: u32,
    /// A graph is split if its work is more than that of all graphs over `split_over` times the
    /// resident teams of its size. 0: no graph is split. No measurement chose 4: betweenness of 600 rings
    /// of 33 vertices takes 0.062 to 0.074 ms with 1, 4, 16 and 64, and 0.056 ms without splitting
    /// (`bench/runs/2026-11-22-h200/swarm-split.txt`). Graphs large beside their batch are not measured.
    pub split_over: u64,
    /// Bytes of the partial sums of a source batch; more if one group of sources has more. 256 MiB
    /// bounds memory: 8 bytes for each unit and value of the split graphs. Not measured against other
    /// values.
    pub partials: u64,
    /// Bytes of the distances of a single graph that [`DeviceSwarm::rows`] passes on at a time;
    /// more if those of one group of sources have more. 64 MiB bounds memory on device and host, and is
    /// not measured against other values.
    ///
    /// [`DeviceSwarm::rows`]: super::DeviceSwarm::rows
    pub rows: u64,
    /// Limit in bytes of the device's memory for the state of searches.
    pub most_scratch: u64,
    /// Items of the first launch of each size of team. Later launches double as long as they take
    /// milliseconds, so that a run can be cancelled soon.
    pub first_items: u32,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            most_shared: u32::MAX,
            split_over: 4,
            partials: 256 << 20,
            rows: 64 << 20,
            most_scratch: u64::MAX,
            first_items: 1 << 11,
        }
    }
}
