//! The wire over MPI: an exchange is a frame to and from each rank, then pieces.
//!
//! ```text
//! message   head 48 │ body ………………………………………………………………………
//! on MPI    [ frame: head, first bytes ] [ piece ≤ 1 GiB ] [ piece ] …
//! ```
//!
//! A receiver awaits a frame, whose length it need not know: MPI receives shorter messages than the
//! room for them. The head then has the length of the body, and so the pieces.

use super::functions::{Calls, Request};
use super::watch::{Alarm, Order, Shared, watch};
use super::{MpiOptions, OpenError, library};
use crate::step::Step;
use crate::wire::{Bytes, Head, Wire};
use crate::{CommError, Launch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The tag of messages.
const TAG: i32 = 7701;
/// The bytes of a frame: MPI sends as many at once, without asking the receiver for room.
const FRAME: usize = 4096;
/// The most bytes of a body in its frame.
const INLINE: usize = FRAME - Head::BYTES;
/// Looks at open requests before the thread leaves its core to others, and before it sleeps.
const SPINS: u32 = 64;
const YIELDS: u32 = 256;
/// The time of a sleep between two looks.
const NAP: Duration = Duration::from_micros(50);

/// A rank over MPI.
struct Mpi {
    rank: usize,
    size: usize,
    shared: Arc<Shared>,
    watch: Option<JoinHandle<bool>>,
    piece: usize,
    name: String,
    is_broken: bool,
    /// Whether the process has started MPI by itself, and so ends it.
    is_joined: bool,
}

/// Whether MPI has been opened in this process.
static OPENED: AtomicBool = AtomicBool::new(false);

/// Whether MPI has ended in order.
static FINISHED: AtomicBool = AtomicBool::new(false);

/// Returns whether MPI was opened, and has not ended in order; see [`super::is_unfinished`].
pub(super) fn is_unfinished() -> bool {
    OPENED.load(SeqCst) && !FINISHED.load(SeqCst)
}

/// Opens MPI; see [`super::open`].
pub(super) fn open(launch: &Launch, options: MpiOptions) -> Result<impl Wire + 'static, OpenError> {
    let MpiOptions { library, deadline, on_lost, piece } = options;
    let library::Opened { calls, name: library, family } =
        library::open(launch, library.as_deref())?;
    // An MPI under another's launcher may end the process as it starts.
    if let Some(launchers) = launch.family.filter(|&launchers| launchers != family) {
        let launcher = launch.variable;
        return Err(OpenError::OtherFamily { library, family, launcher, launchers });
    }
    if OPENED.swap(true, SeqCst) {
        return Err(OpenError::Twice);
    }
    let no_thread = |error| OpenError::System(format!("cannot start a thread: {error}"));
    let alarm = Alarm::start(on_lost, deadline).map_err(no_thread)?;
    let is_joined = calls.has_started().unwrap_or(false);
    let started = if is_joined { calls.join() } else { calls.start() };
    alarm.returned();
    if let Err(reason) = started {
        alarm.stop();
        // The process may go on with its own MPI.
        OPENED.store(!is_joined, SeqCst);
        return Err(OpenError::NotStarted { library, reason });
    }
    let not_started = |error: CommError| OpenError::NotStarted {
        library: library.clone(),
        reason: error.to_string(),
    };
    let rank = calls.rank().map_err(not_started)?;
    let size = calls.size().map_err(not_started)?;
    if (launch.knows_size() && size != launch.size) || size <= launch.rank {
        // Each process is a rank of its own world: nothing is in its way.
        if !is_joined {
            calls.finish();
        }
        FINISHED.store(true, SeqCst);
        alarm.stop();
        let launched = launch.size;
        return Err(OpenError::OtherLauncher { launched, connected: size, library });
    }
    let name = calls.version();
    let shared = Arc::new(Shared::new(calls, alarm, size));
    let watched = shared.clone();
    let run = move || watch(&watched, rank, size, deadline);
    let watch = thread::Builder::new().name("signs of life".into()).spawn(run);
    let watch = watch.map_err(no_thread)?;
    let (watch, is_broken) = (Some(watch), false);
    Ok(Mpi { rank, size, shared, watch, piece: piece.max(1), name, is_broken, is_joined })
}

/// The message from a rank.
enum Incoming {
    /// Its frame is awaited.
    Frame { room: Vec<u8>, request: Request },
    /// Its pieces are awaited.
    Pieces { body: Bytes, requests: Vec<Request> },
    /// It is there.
    Whole(Arc<Bytes>),
}

/// Messages on their way, with all memory that MPI reads and writes.
///
/// If they are dropped before all are there, the memory is leaked: MPI may still use it.
struct InFlight<'s> {
    shared: &'s Shared,
    rank: usize,
    step: Step,
    piece: usize,
    frames: Vec<Vec<u8>>,
    bodies: Vec<Arc<Bytes>>,
    sent: Vec<Request>,
    incoming: Vec<Incoming>,
    is_whole: bool,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.is_whole {
            std::mem::forget(std::mem::take(&mut self.frames));
            std::mem::forget(std::mem::take(&mut self.bodies));
            std::mem::forget(std::mem::take(&mut self.incoming));
        }
    }
}

impl InFlight<'_> {
    /// Begins to send and to receive.
    fn begin(&mut self) -> Result<(), CommError> {
        let calls = self.shared.calls();
        for (peer, own) in self.bodies.clone().into_iter().enumerate() {
            if peer == self.rank {
                self.incoming.push(Incoming::Whole(own));
                continue;
            }
            let mut room = vec![0; FRAME];
            // SAFETY: the room is on the heap, in `incoming`, and neither read nor freed before the request is done:
            // see `Drop`.
            let request = unsafe { calls.receive(room.as_mut_ptr(), FRAME, peer, TAG) }?;
            self.incoming.push(Incoming::Frame { room, request });
        }
        for (peer, body) in self.bodies.iter().enumerate().filter(|&(peer, _)| peer != self.rank) {
            let bytes = body.as_slice();
            let (first, rest) = bytes.split_at(bytes.len().min(INLINE));
            let head = Head { step: self.step, len: bytes.len() as u64 };
            let frame = [&head.to_bytes(), first].concat();
            // SAFETY: the frame is on the heap, in `frames`, and not written or freed before the request is done: see
            // `Drop`.
            self.sent.push(unsafe { calls.send(frame.as_ptr(), frame.len(), peer, TAG) }?);
            self.frames.push(frame);
            for piece in rest.chunks(self.piece) {
                // SAFETY: the body is on the heap, in `bodies`, and shared: nothing writes it; see `Drop`.
                self.sent.push(unsafe { calls.send(piece.as_ptr(), piece.len(), peer, TAG) }?);
            }
        }
        Ok(())
    }

    /// Yields the ranks whose message is not there.
    fn awaited(&self) -> impl Iterator<Item = usize> {
        let incoming = self.incoming.iter().enumerate();
        incoming.filter(|(_, message)| !matches!(message, Incoming::Whole(_))).map(|(peer, _)| peer)
    }

    /// Looks at all open requests. Returns whether something was done, and whether all is done.
    fn look(&mut self) -> Result<(bool, bool), CommError> {
        let calls = self.shared.calls();
        let (before, mut is_moved, mut is_whole) = (self.sent.len(), false, true);
        let mut done = Ok(());
        self.sent.retain_mut(|request| match calls.is_done(request) {
            Ok(is_done) => !is_done,
            Err(error) => {
                done = Err(error);
                true
            }
        });
        done?;
        is_moved |= self.sent.len() < before;
        for (peer, incoming) in self.incoming.iter_mut().enumerate() {
            match incoming {
                Incoming::Whole(_) => {}
                Incoming::Frame { room, request } => {
                    if !calls.is_done(request)? {
                        is_whole = false;
                        continue;
                    }
                    let head = check(room, self.rank, peer, self.step)?;
                    let (body, requests) = receive(&**calls, room, head, peer, self.piece)?;
                    *incoming = Incoming::Pieces { body, requests };
                    (is_moved, is_whole) = (true, false);
                }
                Incoming::Pieces { body, requests } => {
                    while let Some(request) = requests.last_mut() {
                        if !calls.is_done(request)? {
                            break;
                        }
                        requests.pop();
                        is_moved = true;
                    }
                    match requests.is_empty() {
                        true => *incoming = Incoming::Whole(Arc::new(std::mem::take(body))),
                        false => is_whole = false,
                    }
                }
            }
        }
        Ok((is_moved, is_whole && self.sent.is_empty()))
    }
}

/// Returns the head of a frame, if its collective is this rank's.
fn check(frame: &[u8], rank: usize, peer: usize, own: Step) -> Result<Head, CommError> {
    let head = Head::from_bytes(frame).ok_or(CommError::Foreign { peer, bytes: frame.len() })?;
    match head.step == own {
        true => Ok(head),
        false => Err(CommError::OutOfStep { rank, peer, own, theirs: head.step }),
    }
}

/// Makes room for a body, of which the frame has the first bytes, and begins to receive the rest.
fn receive(
    calls: &dyn Calls,
    frame: &[u8],
    head: Head,
    peer: usize,
    piece: usize,
) -> Result<(Bytes, Vec<Request>), CommError> {
    let mut body = Bytes::zeros(head.len)?;
    let (first, rest) = body.as_mut_slice().split_at_mut(INLINE.min(head.len as usize));
    first.iter_mut().zip(frame.iter().skip(Head::BYTES)).for_each(|(to, from)| *to = *from);
    let mut requests = Vec::new();
    let mut failed = None;
    for piece in rest.chunks_mut(piece) {
        // SAFETY: the body is on the heap, and is neither touched nor freed before all requests are done: it is kept
        // in `Incoming::Pieces`, or leaked below.
        match unsafe { calls.receive(piece.as_mut_ptr(), piece.len(), peer, TAG) } {
            Ok(request) => requests.push(request),
            Err(error) => failed = Some(error),
        }
        if failed.is_some() {
            break;
        }
    }
    match failed {
        None => Ok((body, requests)),
        Some(error) => {
            std::mem::forget(body);
            Err(error)
        }
    }
}

impl Wire for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(
        &mut self,
        step: Step,
        bodies: &[Arc<Bytes>],
    ) -> Result<Vec<Arc<Bytes>>, CommError> {
        if bodies.len() != self.size {
            return Err(CommError::Messages { given: bodies.len(), size: self.size });
        }
        if self.is_broken {
            return Err(CommError::Broken);
        }
        let done = self.carry(step, bodies);
        self.is_broken |= done.is_err();
        // A rank that is lost is the cause of what MPI reports.
        done.map_err(|error| self.shared.lost().unwrap_or(error))
    }

    fn abort(&mut self, code: u8) {
        self.is_broken = true;
        self.shared.order(Order::Fail(code));
        self.join();
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl Mpi {
    fn carry(&mut self, step: Step, bodies: &[Arc<Bytes>]) -> Result<Vec<Arc<Bytes>>, CommError> {
        let mut flight = InFlight {
            shared: &self.shared,
            rank: self.rank,
            step,
            piece: self.piece,
            frames: Vec::new(),
            bodies: bodies.to_vec(),
            sent: Vec::new(),
            incoming: Vec::new(),
            is_whole: false,
        };
        flight.begin()?;
        let mut idle = 0u32;
        loop {
            let (is_moved, is_whole) = flight.look()?;
            if is_whole {
                break;
            }
            idle = if is_moved { 0 } else { idle.saturating_add(1) };
            match idle {
                0..SPINS => std::hint::spin_loop(),
                SPINS..YIELDS => thread::yield_now(),
                _ => {
                    if let Some(lost) = self.shared.lost() {
                        return Err(lost);
                    }
                    if let Some(rank) = flight.awaited().find(|&peer| self.shared.has_ended(peer)) {
                        return Err(CommError::Gone { rank });
                    }
                    thread::sleep(NAP);
                }
            }
        }
        flight.is_whole = true;
        let incoming = std::mem::take(&mut flight.incoming);
        let whole = incoming.into_iter().filter_map(|incoming| match incoming {
            Incoming::Whole(body) => Some(body),
            Incoming::Frame { .. } | Incoming::Pieces { .. } => None,
        });
        Ok(whole.collect())
    }

    /// Waits for the end of the watch; returns whether all ranks are done.
    fn join(&mut self) -> bool {
        self.watch.take().is_some_and(|watch| watch.join().unwrap_or(false))
    }
}

impl Drop for Mpi {
    /// Waits for all ranks, and ends MPI. After an error, MPI is left as it is: its end would wait for ranks that
    /// may be gone.
    fn drop(&mut self) {
        let order = match (thread::panicking(), self.is_broken) {
            (true, _) => Order::Fail(1),
            // The watch of a rank that lost another one has ended.
            (false, true) if self.shared.lost().is_some() => Order::Stop,
            (false, true) => Order::Fail(1),
            (false, false) => Order::Close,
        };
        self.shared.order(order);
        if self.join() && order == Order::Close {
            if !self.is_joined {
                self.shared.calls().finish();
            }
            FINISHED.store(true, SeqCst);
            self.shared.alarm().stop();
        }
    }
}
