//! Transports of messages between the devices of one process that share a run.
//!
//! Kernels write label updates and activations into send buffers in their own device's memory
//! (`kernels/lp/exchange.cuh`). If many vertices may change at once, values are exchanged through
//! mirrors instead. Three transports bring both to the peers:
//!
//! | transport | data movement | requirement |
//! |---|---|---|
//! | [`TransportKind::PeerAccess`] | kernels read the peers' messages in place, and write the peers' mirrors | peer access between all devices; the host never waits within a round |
//! | [`TransportKind::Nccl`] | NCCL sends the bytes of a message, or the mirror | the NCCL library; the host waits for the number of bytes |
//! | [`TransportKind::DriverCopies`] | the driver copies the bytes of a message, or the mirror | none; the host waits for the number of bytes |
//!
//! The labels do not depend on the transport.

mod barrier;

pub(crate) use barrier::{AllGatherBarrier, Ended};

use crate::device::{DeviceError, Peer};
use std::fmt;

/// Transport of messages between devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// Kernels read messages in the peers' memory, and write the peers' mirrors.
    PeerAccess,
    /// NCCL sends messages.
    Nccl,
    /// The driver copies messages.
    DriverCopies,
}

impl TransportKind {
    /// Returns the name, as statistics have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TransportKind::PeerAccess => "direct",
            TransportKind::Nccl => "nccl",
            TransportKind::DriverCopies => "copies",
        }
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A transport with its resources.
pub(crate) enum Transport<C> {
    PeerAccess,
    Nccl(C),
    DriverCopies,
}

impl<C> Transport<C> {
    /// Returns the kind of transport.
    pub fn kind(&self) -> TransportKind {
        match self {
            Transport::PeerAccess => TransportKind::PeerAccess,
            Transport::Nccl(_) => TransportKind::Nccl,
            Transport::DriverCopies => TransportKind::DriverCopies,
        }
    }

    /// Whether messages are transported into the memory of the device that reads them.
    pub fn copies_messages(&self) -> bool {
        !matches!(self, Transport::PeerAccess)
    }

    /// Returns the transport that was asked for, or the fastest that works, with a note for the
    /// user.
    ///
    /// Direct access is fastest: the host does not wait within a phase, and no message is copied.
    /// If NCCL was asked for, or is the fastest left, and does not work, the driver copies; the
    /// note has the reason.
    ///
    /// # Errors
    /// If a device fails when it is asked for peer access.
    pub fn find<D: Peer<Communicator = C>>(
        devices: &[D],
        asked: Option<TransportKind>,
    ) -> Result<(Transport<C>, Option<String>), DeviceError> {
        let reach_all = reach_all(devices)?;
        match asked {
            Some(TransportKind::DriverCopies) => return Ok((Transport::DriverCopies, None)),
            None | Some(TransportKind::PeerAccess) if reach_all => {
                return Ok((Transport::PeerAccess, None));
            }
            _ => {}
        }
        match D::communicator(devices) {
            Ok(communicator) => Ok((Transport::Nccl(communicator), None)),
            Err(why) => {
                let note = format!("GPUs exchange labels by copies of the driver: {why}");
                Ok((Transport::DriverCopies, Some(note)))
            }
        }
    }
}

/// Whether each device's kernels can access every other device's memory. Peer access that works
/// between some devices also makes the driver's copies between these faster.
fn reach_all<D: Peer>(devices: &[D]) -> Result<bool, DeviceError> {
    let mut all = true;
    for (number, device) in devices.iter().enumerate() {
        for (other, peer) in devices.iter().enumerate() {
            all &= number == other || device.reach(peer)?;
        }
    }
    Ok(all)
}
