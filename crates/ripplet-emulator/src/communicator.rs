//! Communicator between emulated devices, as NCCL is between GPUs.

use crate::mutex::lock;
use ripplet_gpu::Transfer;
use std::collections::{BTreeMap, VecDeque};
use std::ptr;
use std::sync::{Condvar, Mutex, PoisonError};

/// Messages in transit, in the order of sending.
type Messages = VecDeque<Vec<u8>>;

/// A communicator between emulated devices. Between two ranks, messages arrive in the order of
/// sending.
#[derive(Default)]
pub struct EmulatedCommunicator {
    /// By sender and receiver.
    sent: Mutex<BTreeMap<(usize, usize), Messages>>,
    has_arrived: Condvar,
}

impl EmulatedCommunicator {
    /// Sends all messages, then waits for those to receive.
    ///
    /// # Panics
    /// If a message has another size than its receiver expects.
    ///
    /// # Safety
    /// The transfers are within memory of the host, and no other work writes to it meanwhile.
    pub(crate) unsafe fn send_and_receive(
        &self,
        rank: usize,
        sent: &[Transfer],
        received: &[Transfer],
    ) {
        for transfer in sent {
            // SAFETY: the caller's promise.
            let bytes = unsafe {
                std::slice::from_raw_parts(transfer.address.0 as *const u8, transfer.bytes as usize)
            };
            let mut all = lock(&self.sent);
            all.entry((rank, transfer.rank)).or_default().push_back(bytes.to_vec());
            self.has_arrived.notify_all();
        }
        for transfer in received {
            let bytes = self.next(transfer.rank, rank);
            assert_eq!(bytes.len() as u64, transfer.bytes, "sender and receiver agree on the size");
            let to = transfer.address.0 as *mut u8;
            // SAFETY: the caller's promise; the message is as long as the range.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
    }

    /// Waits for the next message from `sender` to `receiver`.
    fn next(&self, sender: usize, receiver: usize) -> Vec<u8> {
        let mut all = lock(&self.sent);
        loop {
            if let Some(bytes) = all.entry((sender, receiver)).or_default().pop_front() {
                return bytes;
            }
            all = self.has_arrived.wait(all).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
