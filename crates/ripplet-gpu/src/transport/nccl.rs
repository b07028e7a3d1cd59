//! Transport by a communicator, such as NCCL's: sends and receives in one group.

use super::transfers::Transfers;
use crate::device::Peer;
use crate::error::DeviceError;

/// Sends and receives all messages of a rank.
///
/// # Safety
/// As for [`Transport::exchange`](super::Transport::exchange).
pub(super) unsafe fn exchange<D: Peer>(
    device: &D,
    communicator: &D::Communicator,
    own: usize,
    transfers: &Transfers,
) -> Result<(), DeviceError> {
    // SAFETY: the caller's promise.
    unsafe { device.send_and_receive(communicator, own, &transfers.sent, &transfers.received) }
}
