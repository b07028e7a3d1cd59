//! Tuning of a run.

/// Tuning of a run, mostly for tests. It changes the speed and the memory, and no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Limit in bytes of a block's shared memory.
    pub most_shared: u32,
    /// A graph is split if its work is more than that of all graphs over `split_over` times the
    /// resident teams of its size. 0: no graph is split.
    pub split_over: u64,
    /// Bytes of the partial sums of a source batch; more if one group of sources has more.
    pub partials: u64,
    /// Bytes of the distances of a single graph that [`DeviceSwarm::rows`] passes on at a time;
    /// more if those of one group of sources have more.
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
