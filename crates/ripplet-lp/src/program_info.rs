//! The declarations of a program, as values.

use crate::{ColumnSpec, DeviceSource, LabelTotal, Program, Scalar, Schedule, Wake};

/// The declarations of a program, as values.
///
/// Code that calls no hook takes this in place of a [`Program`]: it is then compiled once, not once
/// per program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramInfo {
    /// [`Program::name`].
    pub name: String,
    /// [`Program::wake`].
    pub wake: Wake,
    /// [`Program::schedule`].
    pub schedule: Schedule,
    /// [`Program::label_total`].
    pub label_total: LabelTotal,
    /// [`Program::falls_with_total`].
    pub falls_with_total: bool,
    /// [`Program::follows_frequency`].
    pub follows_frequency: bool,
    /// [`Program::carries`].
    pub carries: bool,
    /// [`Program::columns`].
    pub columns: Vec<ColumnSpec>,
    /// [`Program::parameters`].
    pub parameters: Vec<Scalar>,
    /// [`Program::device_source`].
    pub device_source: Option<DeviceSource>,
}

impl ProgramInfo {
    /// Returns the declarations of a program.
    pub fn of<P: Program>(program: &P) -> ProgramInfo {
        ProgramInfo {
            name: program.name().to_owned(),
            wake: program.wake(),
            schedule: program.schedule(),
            label_total: program.label_total(),
            falls_with_total: program.falls_with_total(),
            follows_frequency: program.follows_frequency(),
            carries: program.carries(),
            columns: program.columns(),
            parameters: program.parameters(),
            device_source: program.device_source(),
        }
    }
}
