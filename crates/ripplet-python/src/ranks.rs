//! Ranks: the processes that a launcher of MPI started, which share runs.
//!
//! MPI starts with the first run that is shared, or is the one that the process has started by itself, as mpi4py
//! does; it ends with the interpreter.

use crate::error::{Class, Failure};
use crate::options::Options;
use pyo3::prelude::*;
use ripplet::ranks::mpi::{self, MpiOptions};
use ripplet::ranks::{SharedComm, Sharing};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The communicator, and its deadline.
static OPENED: Mutex<Option<(SharedComm, Duration)>> = Mutex::new(None);

fn opened() -> MutexGuard<'static, Option<(SharedComm, Duration)>> {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which processes share a run, and the time after which one is lost, if it is chosen.
pub type Shared = (Sharing, Option<Duration>);

/// Returns which processes share the run, and the time after which one is lost.
pub fn of(options: &Options<'_>) -> PyResult<Shared> {
    const DEADLINES: std::ops::RangeInclusive<u64> = 1..=86_400;
    let deadline = match options.count("rank_deadline", 1)? {
        None => None,
        Some(seconds) if DEADLINES.contains(&seconds) => Some(Duration::from_secs(seconds)),
        Some(seconds) => {
            let message = format!("rank_deadline: expected at most 86400 seconds, not {seconds}");
            return Err(Failure::input(message).into());
        }
    };
    Ok((options.parsed("ranks")?.unwrap_or_default(), deadline))
}

/// Returns the communicator of the processes that share a run; `None` if this one runs alone. The deadline of the first run
/// holds for all.
///
/// # Errors
/// If none started this process, although they are asked for, MPI does not start, or another deadline is chosen than before.
pub fn comm_of((sharing, deadline): Shared) -> Result<Option<SharedComm>, Failure> {
    let launch = sharing.launch().map_err(|_| {
        Failure::input(
            "ranks=\"mpi\" is for processes that a launcher of MPI started, and none started this one: \
             start it by mpirun or srun, or leave ranks out",
        )
    })?;
    let Some(launch) = launch else { return Ok(None) };
    let mut opened = opened();
    if let Some((comm, first)) = &*opened {
        return match deadline.is_none_or(|deadline| deadline == *first) {
            true => Ok(Some(comm.clone())),
            false => Err(Failure::input(format!(
                "rank_deadline: the first shared run of this process has {} seconds, which hold for all: leave \
                 rank_deadline out",
                first.as_secs()
            ))),
        };
    }
    let deadline = deadline.unwrap_or(mpi::DEADLINE);
    let options = MpiOptions { deadline, ..MpiOptions::default() };
    let comm = mpi::open(&launch, options).map_err(|error| Failure::new(Class::Run, error))?;
    let comm = Arc::new(Mutex::new(comm));
    *opened = Some((comm.clone(), deadline));
    Ok(Some(comm))
}

/// Ends the sharing of runs: waits for the other processes, and ends MPI if ripplet started it.
///
/// Returns whether it ended in order. If not, as after the loss of a process, the functions that MPI calls at the end of
/// a process may wait for ever.
#[pyfunction]
pub fn end_ranks(py: Python<'_>) -> bool {
    py.detach(|| drop(opened().take()));
    !mpi::is_unfinished()
}
