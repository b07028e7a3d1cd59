//! Transport by copies of the driver: each rank copies what it receives.

use super::transfers::Transfers;
use crate::device::Peer;
use crate::error::DeviceError;

/// Copies all messages that a rank receives from the senders' memory.
///
/// # Safety
/// As for [`Transport::exchange`](super::Transport::exchange).
pub(super) unsafe fn exchange<D: Peer>(
    devices: &[D],
    own: usize,
    transfers: &Transfers,
) -> Result<(), DeviceError> {
    transfers.received.iter().zip(&transfers.from).try_for_each(|(transfer, &from)| {
        let sender = &devices[transfer.rank];
        // SAFETY: the caller's promise.
        unsafe { devices[own].copy_from_peer(transfer.address, sender, from, transfer.bytes) }
    })
}
