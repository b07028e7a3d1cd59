//! The threads of a command.

use crate::failure::Failure;
use clap::Args;
use rayon::ThreadPoolBuilder;
use ripplet::lp::cpu::MOST_THREADS;

/// The variable of the number of threads if `--threads` is not given.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// The number of threads of a command.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Running")]
pub struct ThreadArguments {
    /// Threads to use [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS.into()))]
    threads: Option<u16>,
}

impl ThreadArguments {
    /// The requested number.
    pub fn count(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }

    /// Returns the arguments with a default in place of all cores. RAYON_NUM_THREADS in the environment is another default,
    /// which stays.
    pub fn or(self, threads: usize) -> ThreadArguments {
        if self.is_given() {
            return self;
        }
        let threads = u16::try_from(threads).unwrap_or(MOST_THREADS).min(MOST_THREADS);
        ThreadArguments { threads: Some(threads) }
    }

    /// Returns whether the user chose a number.
    pub fn is_given(self) -> bool {
        let of_variable = std::env::var(VARIABLE).ok().and_then(|text| text.parse::<usize>().ok());
        self.threads.is_some() || of_variable.is_some_and(|threads| threads > 0)
    }

    /// Starts the pool that reads, builds and writes; returns its size.
    pub fn start(&self) -> Result<usize, Failure> {
        let threads = self.count().unwrap_or(0);
        ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        Ok(rayon::current_num_threads())
    }
}
