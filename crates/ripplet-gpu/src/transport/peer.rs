//! Peer access: kernels read and write the memory of other devices.

use crate::device::Peer;
use crate::error::DeviceError;

/// Enables peer access from each device to every other. Returns whether all have it. Access that
/// works between some devices also makes the driver's copies between these faster.
pub(super) fn enable_all<D: Peer>(devices: &[D]) -> Result<bool, DeviceError> {
    let mut all = true;
    for (number, device) in devices.iter().enumerate() {
        for (other, peer) in devices.iter().enumerate() {
            all &= number == other || device.enable_peer_access(peer)?;
        }
    }
    Ok(all)
}
