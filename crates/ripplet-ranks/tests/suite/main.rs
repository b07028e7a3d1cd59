//! Collectives over threads, and over MPI.

mod mpi;
mod threads;
