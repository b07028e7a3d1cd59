//! `ripplet devices`: who can compute here.

use crate::console::print;
use crate::failure::Failure;
use crate::size::Size;
use crate::stats::available_memory;
use clap::Args;

/// List the devices that can compute.
#[derive(Args)]
pub struct Arguments {}

/// Lists the devices.
pub fn run(_: &Arguments) -> Result<(), Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = available_memory().map_or_else(String::new, |bytes| {
        let size = Size(bytes);
        format!(", {size} of memory free")
    });
    print(&format!("cpu   {threads} threads{memory}\ncuda  none: this build has no GPU engine\n"))
}
