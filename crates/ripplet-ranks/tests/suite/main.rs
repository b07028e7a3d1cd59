//! Collectives over threads, and over MPI.

#[cfg(feature = "mpi")]
mod mpi;
mod threads;
