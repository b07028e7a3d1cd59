//! `ripplet fraud report`: writes the report of a run again.

use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::output::print;
use clap::Args;
use ripplet::fraud::folder::RunFolder;
use ripplet::fraud::run::{notes, write_page};
use std::path::PathBuf;

/// Write a run's report.html again from what its windows kept, also of one that was killed.
#[derive(Args)]
pub struct Arguments {
    /// The run folder.
    folder: PathBuf,
}

/// Writes the report; prints its path.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    let folder = RunFolder::open(&arguments.folder)?;
    console.stage("writing the report");
    let path = write_page(&folder)?;
    let manifest = folder.manifest()?;
    for note in notes(&manifest, &folder.finished()?) {
        console.note(&note);
    }
    print(&format!("{}\n", path.display()))?;
    Ok(Ending::Whole)
}
