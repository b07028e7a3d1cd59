//! Tuning of a run.

/// Tuning of a run. It changes the speed and the memory, and no result.
///
/// The command and the facade have the defaults. [`DeviceLcc::profile`] counts once without hubs, which its
/// baseline cannot read. Tests set small values, so that small graphs reach the other code.
///
/// [`DeviceLcc::profile`]: super::DeviceLcc::profile
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Number of edges from which their indices have 8 bytes: at most 2³².
    pub wide_from: u64,
    /// Blocks of the first launch of a larger kernel. Later launches double as long as they take
    /// milliseconds, so that a run can be cancelled soon.
    pub first_blocks: u64,
    /// The most hubs.
    pub most_hubs: u64,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { wide_from: 1 << 32, first_blocks: 1 << 16, most_hubs: u64::MAX }
    }
}
