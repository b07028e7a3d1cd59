//! The refusal of programs from files by a build without the feature `jit`.

use super::file_arguments::FileArguments;
use crate::absent;
use crate::console::Console;
use crate::failure::Failure;
use ripplet::graph::VertexIds;
use ripplet::lp::{DynProgram, Outcome, Schedule, Settings};
use std::convert::Infallible;
use std::path::PathBuf;

/// A program from a file: none in this build.
#[derive(Clone, Debug)]
pub struct FileJob {
    /// The program's name.
    pub name: String,
    /// The schedule that it is made for.
    pub schedule: Schedule,
    /// Whether frequent labels are enough for it.
    pub follows_frequency: bool,
    /// The table that its columns are read from.
    pub table: Option<PathBuf>,
    /// The table that its columns are written to.
    pub columns_out: Option<PathBuf>,
    never: Infallible,
}

impl FileArguments {
    /// Refuses `--program-file`.
    pub fn resolve(&self) -> Result<Option<FileJob>, Failure> {
        match self.program_file {
            Some(_) => Err(absent::refused("`--program-file`", "jit")),
            None => Ok(None),
        }
    }
}

impl FileJob {
    /// Refuses a table of columns if the program writes none.
    pub fn check_columns_out(&self) -> Result<(), Failure> {
        match self.never {}
    }

    /// Returns a column that must be given.
    pub fn column_to_give(&self) -> Option<&str> {
        match self.never {}
    }

    /// Returns the program.
    pub fn program(&self) -> Box<dyn DynProgram> {
        match self.never {}
    }

    /// Adds the columns of the vertex table to settings.
    pub fn fill(&self, _: Settings, _: &VertexIds, _: &Console) -> Result<Settings, Failure> {
        match self.never {}
    }

    /// Writes the columns that the program wrote.
    pub fn write_columns(&self, _: &Outcome, _: &VertexIds) -> Result<(), Failure> {
        match self.never {}
    }
}
