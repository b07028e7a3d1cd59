//! Transfers of a rank in one exchange.

use crate::device::{Address, Transfer};

/// Transfers of a rank in one exchange. A transfer of no bytes is left out, at both ends.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    pub(super) sent: Vec<Transfer>,
    pub(super) received: Vec<Transfer>,
    /// By received transfer, its address in the sender's memory.
    pub(super) from: Vec<Address>,
}

impl Transfers {
    /// Adds `bytes` bytes at an address of this rank's device, for rank `rank`.
    pub fn send(&mut self, rank: usize, address: Address, bytes: u64) {
        if bytes > 0 {
            self.sent.push(Transfer { rank, address, bytes });
        }
    }

    /// Adds `bytes` bytes from rank `rank`, where they are at address `from`, to an address of this
    /// rank's device.
    pub fn receive(&mut self, rank: usize, address: Address, from: Address, bytes: u64) {
        if bytes > 0 {
            self.received.push(Transfer { rank, address, bytes });
            self.from.push(from);
        }
    }
}
