//! Processes that share a run: typed collectives over MPI, which is opened at run time, or over threads.
//! This crate knows no algorithm.
//!
//! | item | contents |
//! |---|---|
//! | [`Comm`] | collectives of values: all-to-all, all-gather, all-reduce, broadcast, barrier |
//! | [`Wire`] | what a connection between ranks does: one exchange of messages |
//! | [`Threads`] | ranks as threads of this process |
//! | `mpi` | ranks as processes that an MPI launcher started, with the feature of this name |
//! | [`Launch`] | what the environment says about a launcher |
//! | [`Sharing`] | whether the processes of a launcher share a run |
//! | [`Hosts`] | which ranks share a machine, and the share of its cores that each takes |
//!
//! # Rules of collectives
//! All ranks call the same collectives in the same order, with the same types. A rank that does
//! not is found out: a message carries the number, kind, purpose and value size of its collective
//! ([`Step`]), and the receiver compares. No receiver states a length, so none can be wrong.
//!
//! # Determinism
//! What a collective returns depends on the values and the number of ranks alone: messages are in
//! the order of the ranks, and a reduction combines values in this order.
//!
//! # Memory
//! A collective has a copy of what is sent, and what is received: of an all-gather the values of all
//! ranks.
//!
//! # Examples
//! Four ranks, threads of this process, each of which sends its number to the next one and sums up all. Processes that
//! `mpirun` started get their [`Comm`] from `mpi::open`, and call the same collectives.
//! ```
//! use ripplet_ranks::{CommError, Threads};
//! use std::time::Duration;
//!
//! let found = Threads::run(4, Duration::from_secs(10), |mut comm| {
//!     let (rank, size) = (comm.rank(), comm.size());
//!     let mut to = vec![Vec::new(); size];
//!     to[(rank + 1) % size].push(rank as u64);
//!     let received = comm.all_to_all("number", &to)?;
//!     let before = received.of((rank + size - 1) % size)[0];
//!     Ok::<_, CommError>((before, comm.all_reduce("sum", before, |a, b| a + b)?))
//! });
//! assert_eq!(found, [Ok((3, 6)), Ok((0, 6)), Ok((1, 6)), Ok((2, 6))]);
//! ```

#[cfg(all(doctest, feature = "mpi"))]
#[doc = include_str!("../README.md")]
mod readme {}

mod comm;
mod error;
mod hosts;
mod launch;
#[cfg(feature = "mpi")]
pub mod mpi;
mod step;
mod threads;
mod wire;

pub use comm::{Comm, Received, SharedComm, Traffic};
pub use error::CommError;
pub use hosts::{HostShare, Hosts, host_name};
pub use launch::{BadSharing, Family, Launch, NotLaunched, Sharing};
pub use step::{Collective, Step};
pub use threads::Threads;
pub use wire::{Bytes, Head, Wire};
