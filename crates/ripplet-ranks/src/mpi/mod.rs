//! Ranks as processes that an MPI launcher started, over an MPI that is opened at run time.
//!
//! A build needs no MPI. [`open`] finds a library, in one of three binary interfaces, and uses 13
//! of its functions:
//!
//! | interface | library | MPIs |
//! |---|---|---|
//! | MPICH ABI | `libmpi.so.12` | MPICH, Intel MPI, Cray MPICH, MVAPICH |
//! | Open MPI | `libmpi.so.40` | Open MPI 4 and 5 |
//! | standard ABI | `libmpi_abi.so.1` | MPICH 5 |
//!
//! # Messages
//! No call of MPI blocks, but its start and end: a message is sent and received by `MPI_Isend` and `MPI_Irecv`, and
//! awaited by `MPI_Test`. So a wait ends when a rank is lost. The first 4 KiB of a
//! message have its length; the rest follows in pieces of at most 1 GiB, because counts of MPI have 32 bits.
//!
//! # Lost ranks
//! A thread of each rank sends a sign of life to all others twice a second or more often, and reads theirs. A rank
//! without one for as long as the deadline is [silent](crate::CommError::Silent): it hangs, its machine is gone, or the
//! network is down. A rank that only computes for long is not silent.
//!
//! MPI's traffic is plain text, and not authenticated: use networks that only the ranks' machines are on.

#[cfg(unix)]
mod functions;
#[cfg(unix)]
mod library;
#[cfg(unix)]
mod watch;
#[cfg(unix)]
mod wire;

use crate::{Comm, CommError, Family, Launch};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// The variable that names an MPI library.
pub const LIBRARY: &str = "RIPPLET_MPI";

/// The time without a sign of life after which a rank is lost, by default.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The most bytes of a call of MPI, by default.
pub const PIECE: usize = 1 << 30;

/// What happens when a rank is lost.
pub type OnLost = Box<dyn Fn(&CommError) + Send>;

/// Options of [`open`].
pub struct MpiOptions {
    /// The library; by default, [`LIBRARY`]'s value, or the first that is found.
    pub library: Option<PathBuf>,
    /// The time without a sign of life after which a rank is lost.
    pub deadline: Duration,
    /// Called once, in a thread of its own, when a rank is lost, or MPI does not start in time.
    pub on_lost: Option<OnLost>,
    /// The most bytes of a call of MPI; equal on all ranks.
    pub piece: usize,
}

impl Default for MpiOptions {
    fn default() -> MpiOptions {
        MpiOptions { library: None, deadline: DEADLINE, on_lost: None, piece: PIECE }
    }
}

impl fmt::Debug for MpiOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MPI {:?}, deadline {:?}", self.library, self.deadline)
    }
}

/// The reason why there is no communicator over MPI.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OpenError {
    /// No MPI is found.
    #[error("no MPI was found: none of {} can be opened", .tried.join(", "))]
    NotFound {
        /// The names that were tried.
        tried: Vec<String>,
    },
    /// A library cannot be opened.
    #[error("cannot open {library}: {reason}")]
    NotOpened {
        /// The library.
        library: String,
        /// The system's explanation.
        reason: String,
    },
    /// A library is none of the known interfaces.
    #[error(
        "{library} is no MPI that is known: expected libmpi.so.12, libmpi.so.40 or libmpi_abi.so.1"
    )]
    NotKnown {
        /// The library.
        library: String,
    },
    /// A library lacks a function.
    #[error("{library} has no {function}, which MPI 3 has")]
    NoFunction {
        /// The library.
        library: String,
        /// The function.
        function: &'static str,
    },
    /// The launcher starts ranks of several MPIs, and several are found.
    #[error("two MPIs were found, {} and {}, and {launcher} may start ranks of either", .found[0], .found[1])]
    Several {
        /// The libraries.
        found: [String; 2],
        /// The variable by which the launcher was found.
        launcher: &'static str,
    },
    /// The library is not the launcher's.
    #[error(
        "the launcher started {launched} processes, but {library} connects {connected} of them: it is not the \
         MPI of this launcher"
    )]
    OtherLauncher {
        /// The number of processes by the environment.
        launched: usize,
        /// The number of ranks by the library.
        connected: usize,
        /// The library.
        library: String,
    },
    /// The library is of another family than the launcher.
    #[error("{library} is {}, and {launcher} is of the launcher of {}", .family.name(), .launchers.name())]
    OtherFamily {
        /// The library.
        library: String,
        /// Its family.
        family: Family,
        /// The variable by which the launcher was found.
        launcher: &'static str,
        /// The family of the launcher.
        launchers: Family,
    },
    /// MPI does not start.
    #[error("{library} does not start: {reason}")]
    NotStarted {
        /// The library.
        library: String,
        /// MPI's explanation.
        reason: String,
    },
    /// A process opens MPI a second time.
    #[error("MPI starts once in a process, and it has started before")]
    Twice,
    /// The system has no MPI that this crate knows, or refuses a thread.
    #[error("{0}")]
    System(String),
}

/// Connects this process with the others that a launcher started.
///
/// All ranks must open it. When the communicator is dropped, it waits until all others are dropped.
///
/// If the process has loaded an MPI, as mpi4py does, this is the one; if it has started it, the communicator
/// joins it, and its end is left to the process. Messages have tags of their own, 7701 and 7702.
///
/// # Errors
/// If no MPI is found, it is not the launcher's, or does not start; or if the process has started it, but not for
/// several threads at the same time (`MPI_THREAD_MULTIPLE`).
#[cfg(unix)]
pub fn open(launch: &Launch, options: MpiOptions) -> Result<Comm, OpenError> {
    wire::open(launch, options).map(Comm::new)
}

/// Connects this process with the others that a launcher started: not on this system.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn open(_: &Launch, _: MpiOptions) -> Result<Comm, OpenError> {
    Err(OpenError::System("this system has no MPI that is known".into()))
}

/// Returns whether MPI was opened in this process, and has not ended in order, as after the loss of a rank.
///
/// The end of such a process by `exit`, or by the end of `main`, calls functions of MPI that may wait for ranks that are
/// gone: end it by `_exit` instead. A process whose MPI has ended in order must not do so: some MPIs report their end to
/// the launcher in `exit`.
pub fn is_unfinished() -> bool {
    #[cfg(unix)]
    return wire::is_unfinished();
    #[cfg(not(unix))]
    return false;
}
