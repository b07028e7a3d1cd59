//! Transports of messages between the devices of one process that share a run.
//!
//! Each rank is a device with a thread of the host. Ranks write messages into their own memory, and
//! meet at an [`AllGatherBarrier`], where each publishes the sizes of its messages. A transport then
//! brings the messages to the ranks that read them:
//!
//! | transport | data movement | requirement |
//! |---|---|---|
//! | [`TransportKind::PeerAccess`] | kernels read and write the peers' memory in place | peer access between all devices; the host need not know the sizes |
//! | [`TransportKind::Nccl`] | NCCL sends the bytes | the NCCL library; the host waits for the sizes |
//! | [`TransportKind::DriverCopies`] | the receiver's driver copies the bytes | none; the host waits for the sizes |
//!
//! The bytes that arrive do not depend on the transport.

mod barrier;
mod copy;
mod nccl;
mod peer;
mod transfers;

pub use barrier::{AllGatherBarrier, Ended};
pub use transfers::Transfers;

use crate::device::Peer;
use crate::error::DeviceError;
use std::fmt;

/// Kind of transport between devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// Kernels access the peers' memory.
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

/// A transport with its resources. `C` is the devices' [`Peer::Communicator`].
pub enum Transport<C> {
    /// Kernels access the peers' memory.
    PeerAccess,
    /// A communicator sends messages.
    Nccl(C),
    /// The driver copies messages.
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

    /// Whether messages are copied into the memory of the device that reads them.
    pub fn copies_messages(&self) -> bool {
        !matches!(self, Transport::PeerAccess)
    }

    /// Returns the requested transport, or the fastest that works. If the driver copies because
    /// there is no communicator, also returns the reason, as a sentence.
    ///
    /// Peer access is fastest: the host does not wait for sizes, and no message is copied. If NCCL
    /// is requested, or the fastest left, and does not start, the driver copies.
    ///
    /// # Errors
    /// If a device fails when it enables peer access.
    pub fn find<D: Peer<Communicator = C>>(
        devices: &[D],
        requested: Option<TransportKind>,
    ) -> Result<(Transport<C>, Option<String>), DeviceError> {
        let all_have_access = peer::enable_all(devices)?;
        match requested {
            Some(TransportKind::DriverCopies) => return Ok((Transport::DriverCopies, None)),
            None | Some(TransportKind::PeerAccess) if all_have_access => {
                return Ok((Transport::PeerAccess, None));
            }
            _ => {}
        }
        match D::communicator(devices) {
            Ok(communicator) => Ok((Transport::Nccl(communicator), None)),
            Err(reason) => Ok((Transport::DriverCopies, Some(reason))),
        }
    }

    /// Transports the messages of rank `own`, behind all work in the default stream of its device.
    /// With peer access there is nothing to do.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Safety
    /// All ranks call this at the same time, each from a thread of its own, and sends match
    /// receives in size. The ranges of each transfer are in their device's memory, kept until the
    /// transfer is done, and written by no other work meanwhile.
    pub unsafe fn exchange<D: Peer<Communicator = C>>(
        &self,
        devices: &[D],
        own: usize,
        transfers: &Transfers,
    ) -> Result<(), DeviceError> {
        match self {
            Transport::PeerAccess => Ok(()),
            // SAFETY: the caller's promise.
            Transport::Nccl(communicator) => unsafe {
                nccl::exchange(&devices[own], communicator, own, transfers)
            },
            // SAFETY: the caller's promise.
            Transport::DriverCopies => unsafe { copy::exchange(devices, own, transfers) },
        }
    }
}
