//! Signs of life: a thread of each rank sends one to all others, and reads theirs.
//!
//! A sign is a state: alive, done, or failed with an exit code. A rank that ends in order says that it is
//! done, and waits until all others are. So no message is on its way when MPI ends. A rank that fails
//! says so, and waits until all others have answered that they are done: a launcher kills them as
//! soon as it ends, and with them their last words.

use super::OnLost;
use super::functions::{Calls, Request};
use crate::CommError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The tag of signs.
const TAG: i32 = 7702;
/// The longest time between two signs; a tenth of the deadline if that is less.
const PERIOD: Duration = Duration::from_millis(500);
/// The time between two looks for others' signs.
const LOOKS: Duration = Duration::from_millis(50);
/// The time between two looks while a rank ends.
const LAST_LOOKS: Duration = Duration::from_millis(1);
/// The longest time by which a rank's last message comes after its sign that it is done.
const ON_ITS_WAY: Duration = Duration::from_secs(1);
/// The longest time in which a failure is sent to the others.
const FAREWELL: Duration = Duration::from_secs(2);

/// What a rank orders its watch to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Send signs of life.
    Live,
    /// Send all others the sign that the rank is done, and wait for theirs.
    Close,
    /// Send all others the sign that the rank has failed.
    Fail(u8),
    /// Stop at once.
    Stop,
}

/// What the threads of a rank share.
pub(super) struct Shared {
    calls: Mutex<Box<dyn Calls>>,
    order: Mutex<Order>,
    ordered: Condvar,
    lost: Mutex<Option<CommError>>,
    /// When each rank was found to be done.
    ended: Mutex<Vec<Option<Instant>>>,
    alarm: Arc<Alarm>,
}

/// Reports once that a rank is lost, also if MPI does not return.
///
/// A call of MPI may wait for another process: at the start, at the end, and for locks in shared memory. So no thread
/// that calls MPI can report that it hangs.
pub(super) struct Alarm {
    on_lost: Mutex<Option<OnLost>>,
    /// When a call last returned; `None` if nothing is to be watched.
    returned: Mutex<Option<Instant>>,
    changed: Condvar,
}

impl Alarm {
    /// Starts a thread that waits for calls that do not return within the deadline.
    pub fn start(on_lost: Option<OnLost>, deadline: Duration) -> std::io::Result<Arc<Alarm>> {
        let alarm = Arc::new(Alarm {
            on_lost: Mutex::new(on_lost),
            returned: Mutex::new(Some(Instant::now())),
            changed: Condvar::new(),
        });
        let own = alarm.clone();
        let watch = move || own.watch(deadline);
        std::thread::Builder::new().name("alarm".into()).spawn(watch)?;
        Ok(alarm)
    }

    fn watch(&self, deadline: Duration) {
        // A rank that is silent is found by the signs of life, which say more: they come first.
        let late = deadline.saturating_add(deadline / 4).saturating_add(2 * LOOKS);
        let mut returned = locked(&self.returned);
        while let Some(last) = *returned {
            let waited = last.elapsed();
            let Some(left) = late.checked_sub(waited) else {
                drop(returned);
                self.ring(&CommError::Stuck { waited });
                return;
            };
            let wait = left.max(LAST_LOOKS);
            let woken = self.changed.wait_timeout(returned, wait);
            returned = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Notes that a call of MPI has returned.
    pub fn returned(&self) {
        if let Some(last) = &mut *locked(&self.returned) {
            *last = Instant::now();
        }
    }

    /// Ends the watch: MPI has ended, or is not called again.
    pub fn stop(&self) {
        *locked(&self.returned) = None;
        self.changed.notify_all();
    }

    fn ring(&self, lost: &CommError) {
        let on_lost = locked(&self.on_lost).take();
        if let Some(on_lost) = on_lost {
            on_lost(lost);
        }
    }
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub fn new(calls: Box<dyn Calls>, alarm: Arc<Alarm>, size: usize) -> Shared {
        Shared {
            alarm,
            ended: Mutex::new(vec![None; size]),
            calls: Mutex::new(calls),
            order: Mutex::new(Order::Live),
            ordered: Condvar::new(),
            lost: Mutex::new(None),
        }
    }

    /// Returns the functions of MPI, for this thread alone until it is dropped.
    pub fn calls(&self) -> MutexGuard<'_, Box<dyn Calls>> {
        locked(&self.calls)
    }

    /// Gives an order to the watch.
    pub fn order(&self, order: Order) {
        *locked(&self.order) = order;
        self.ordered.notify_all();
    }

    /// Returns whether a rank is done for so long that no message of it can be on its way.
    pub fn has_ended(&self, rank: usize) -> bool {
        let ended = locked(&self.ended);
        ended.get(rank).copied().flatten().is_some_and(|at| at.elapsed() >= ON_ITS_WAY)
    }

    /// Returns the alarm.
    pub fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Returns why a rank is lost.
    pub fn lost(&self) -> Option<CommError> {
        locked(&self.lost).clone()
    }
}

/// A state of a rank, as a sign has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Alive,
    Done,
    Failed(u8),
}

/// The bytes of a sign: "RPLS", a kind, an exit code.
const BYTES: usize = 8;
const MAGIC: [u8; 4] = *b"RPLS";

impl Sign {
    fn to_bytes(self) -> [u8; BYTES] {
        let (kind, code) = match self {
            Sign::Alive => (0, 0),
            Sign::Done => (1, 0),
            Sign::Failed(code) => (2, code),
        };
        let [a, b, c, d] = MAGIC;
        [a, b, c, d, kind, code, 0, 0]
    }

    fn from_bytes(bytes: [u8; BYTES]) -> Option<Sign> {
        let [a, b, c, d, kind, code, ..] = bytes;
        match (kind, code) {
            _ if [a, b, c, d] != MAGIC => None,
            (0, _) => Some(Sign::Alive),
            (1, _) => Some(Sign::Done),
            (2, code) => Some(Sign::Failed(code)),
            _ => None,
        }
    }
}

/// Another rank.
struct Peer {
    rank: usize,
    last_sign: Instant,
    is_done: bool,
    last_sent: Option<Sign>,
    /// Not touched while the request is open.
    receive_buffer: Box<[u8; BYTES]>,
    receiving: Option<Request>,
    /// Not touched while the request is open.
    send_buffer: Box<[u8; BYTES]>,
    sending: Option<Request>,
}

impl Peer {
    fn new(rank: usize) -> Peer {
        Peer {
            rank,
            last_sign: Instant::now(),
            is_done: false,
            last_sent: None,
            receive_buffer: Box::new([0; BYTES]),
            receiving: None,
            send_buffer: Box::new([0; BYTES]),
            sending: None,
        }
    }

    /// Reads the signs that have arrived. A rank that failed is done.
    fn read(&mut self, calls: &dyn Calls) -> Result<(), CommError> {
        while !self.is_done {
            let Some(request) = &mut self.receiving else {
                // SAFETY: the receive_buffer is on the heap, and is not touched before the request is done; an unfinished
                // one is leaked by `watch`.
                let begun = unsafe {
                    calls.receive(self.receive_buffer.as_mut_ptr(), BYTES, self.rank, TAG)
                };
                self.receiving = Some(begun?);
                continue;
            };
            if !calls.is_done(request)? {
                break;
            }
            self.receiving = None;
            self.last_sign = Instant::now();
            match Sign::from_bytes(*self.receive_buffer) {
                Some(Sign::Alive) => {}
                Some(Sign::Done) => self.is_done = true,
                Some(Sign::Failed(code)) => {
                    self.is_done = true;
                    return Err(CommError::Failed { rank: self.rank, code });
                }
                None => return Err(CommError::Foreign { peer: self.rank, bytes: BYTES }),
            }
        }
        Ok(())
    }

    /// Sends a sign, unless the one before is still on its way.
    fn send(&mut self, sign: Sign, calls: &dyn Calls) -> Result<(), CommError> {
        if !self.is_sent(calls)? {
            return Ok(());
        }
        *self.send_buffer = sign.to_bytes();
        // SAFETY: the send_buffer is on the heap, and is not touched before the request is done; an unfinished one is
        // leaked by `watch`.
        self.sending =
            Some(unsafe { calls.send(self.send_buffer.as_ptr(), BYTES, self.rank, TAG) }?);
        self.last_sent = Some(sign);
        Ok(())
    }

    /// Returns whether no sign is on its way.
    fn is_sent(&mut self, calls: &dyn Calls) -> Result<bool, CommError> {
        if let Some(request) = &mut self.sending {
            if !calls.is_done(request)? {
                return Ok(false);
            }
            self.sending = None;
        }
        Ok(true)
    }
}

/// Watches the other ranks of `size` until an order ends it. Returns whether all of them are done.
pub(super) fn watch(shared: &Arc<Shared>, rank: usize, size: usize, deadline: Duration) -> bool {
    let mut peers: Vec<Peer> = (0..size).filter(|&peer| peer != rank).map(Peer::new).collect();
    let period = PERIOD.min(deadline / 10).max(LAST_LOOKS);
    let mut spoken: Option<Instant> = None;
    let mut failing: Option<Instant> = None;
    loop {
        let order = *locked(&shared.order);
        // Other orders are carried out at once, signs of life at their time.
        let is_due = order != Order::Live || spoken.is_none_or(|last| last.elapsed() >= period);
        let looked = look(&mut peers, shared, order, is_due, deadline);
        shared.alarm.returned();
        if is_due {
            spoken = Some(Instant::now());
        }
        if let Order::Fail(_) = order {
            let begun = *failing.get_or_insert_with(Instant::now);
            let is_over = begun.elapsed() >= FAREWELL;
            if is_over || !matches!(looked, Ok(false)) {
                break;
            }
        }
        match looked {
            Ok(true) => return true,
            Ok(false) if order == Order::Stop => break,
            Ok(false) => {}
            Err(lost) => {
                *locked(&shared.lost) = Some(lost.clone());
                if let CommError::Failed { .. } = lost {
                    answer(&mut peers, shared);
                }
                // Ranks end now, and MPI may crash in a call when their connections break: no other thread calls it
                // meanwhile.
                let _calls = shared.calls();
                shared.alarm.ring(&lost);
                break;
            }
        }
        let wait = if order == Order::Live { period.min(LOOKS) } else { LAST_LOOKS };
        let guard = locked(&shared.order);
        if *guard == order {
            // A spurious wake-up is one more look.
            drop(shared.ordered.wait_timeout(guard, wait));
        }
    }
    // Nothing calls MPI any more.
    shared.alarm.stop();
    // MPI may still read or write the buffers of open requests.
    std::mem::forget(peers);
    false
}

/// Sends all others the sign that this rank is done, after one of them failed; in vain if they are gone.
fn answer(peers: &mut [Peer], shared: &Shared) {
    let begun = Instant::now();
    let answered = |peer: &mut Peer| {
        let calls = shared.calls();
        if peer.last_sent != Some(Sign::Done) {
            let _ = peer.send(Sign::Done, &**calls);
        }
        peer.last_sent == Some(Sign::Done) && peer.is_sent(&**calls).unwrap_or(true)
    };
    while !peers.iter_mut().fold(true, |all, peer| all & answered(peer))
        && begun.elapsed() < FAREWELL
    {
        std::thread::sleep(LAST_LOOKS);
    }
}

/// Reads and sends signs. Returns whether the order is carried out: all others are done, and know that this rank is.
fn look(
    peers: &mut [Peer],
    shared: &Shared,
    order: Order,
    is_due: bool,
    deadline: Duration,
) -> Result<bool, CommError> {
    let calls = shared.calls();
    let calls = &**calls;
    let sign = match order {
        Order::Live => Sign::Alive,
        Order::Close => Sign::Done,
        Order::Fail(code) => Sign::Failed(code),
        Order::Stop => return Ok(false),
    };
    let mut is_over = order != Order::Live;
    for peer in peers {
        // A rank that ends by its own failure does not care for others'.
        match peer.read(calls) {
            Err(_) if matches!(order, Order::Fail(_)) => continue,
            read => read?,
        }
        if peer.is_done
            && let Some(ended) = locked(&shared.ended).get_mut(peer.rank)
        {
            ended.get_or_insert_with(Instant::now);
        }
        if is_due && (order == Order::Live || peer.last_sent != Some(sign)) {
            peer.send(sign, calls)?;
        }
        let is_known = peer.last_sent == Some(sign) && peer.is_sent(calls)?;
        is_over &= is_known && peer.is_done;
        let waited = peer.last_sign.elapsed();
        if !peer.is_done && waited >= deadline {
            return Err(CommError::Silent { rank: peer.rank, waited });
        }
    }
    Ok(is_over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_read_as_they_were_written_and_nothing_else_is() {
        for sign in [Sign::Alive, Sign::Done, Sign::Failed(0), Sign::Failed(255)] {
            assert_eq!(Sign::from_bytes(sign.to_bytes()), Some(sign));
        }
        assert_eq!(Sign::from_bytes(*b"RPLS\x03\0\0\0"), None);
        assert_eq!(Sign::from_bytes([0; BYTES]), None);
    }
}
