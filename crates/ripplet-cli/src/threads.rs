//! The threads of a command.

use crate::failure::Failure;
use clap::Args;
use rayon::ThreadPoolBuilder;
use ripplet::lp::cpu::{MOST_THREADS, threads_of_environment};

/// The number of threads of a command.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Running")]
pub struct ThreadArguments {
    /// Threads to use [default: all cores].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS.into()))]
    threads: Option<u16>,
}

impl ThreadArguments {
    /// The requested number.
    pub fn count(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }

    /// Returns the arguments with another number; `None` is one per core.
    pub fn with_count(self, threads: Option<usize>) -> ThreadArguments {
        let narrow = |threads| u16::try_from(threads).unwrap_or(MOST_THREADS).min(MOST_THREADS);
        ThreadArguments { threads: threads.map(narrow) }
    }

    /// Returns whether the user chose a number.
    pub fn is_given(self) -> bool {
        self.threads.is_some() || threads_of_environment().is_some()
    }

    /// Starts the pool that reads, builds and writes; returns its size.
    pub fn start(&self) -> Result<usize, Failure> {
        let threads = self.count().unwrap_or(0);
        ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        Ok(rayon::current_num_threads())
    }
}
