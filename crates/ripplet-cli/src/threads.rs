//! The threads of a command.

use crate::failure::Failure;
use clap::Args;
use rayon::ThreadPoolBuilder;

/// More than any host has cores; each costs memory, and starting many thousands takes minutes.
const MOST_THREADS: i64 = 4096;

/// The number of threads of a command.
#[derive(Args)]
#[command(next_help_heading = "Running")]
pub struct ThreadArguments {
    /// Threads to use [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    threads: Option<u16>,
}

impl ThreadArguments {
    /// The requested number.
    pub fn count(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }

    /// Starts the pool that reads, builds and writes; returns its size.
    pub fn start(&self) -> Result<usize, Failure> {
        let threads = self.count().unwrap_or(0);
        ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        Ok(rayon::current_num_threads())
    }
}
