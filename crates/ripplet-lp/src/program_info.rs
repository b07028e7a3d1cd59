//! The declarations of a program, as values.

use crate::{Activation, ColumnSpec, DeviceSource, Hints, LabelTotal, Scalar, Schedule};

/// The declarations of a program, as values.
///
/// Code that calls no hook takes this in place of a [`Hints`] program: it is then compiled once, not once
/// per program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramInfo {
    /// [`Program::name`](crate::Program::name).
    pub name: String,
    /// [`Program::activation`](crate::Program::activation).
    pub activation: Activation,
    /// [`Program::schedule`](crate::Program::schedule).
    pub schedule: Schedule,
    /// [`Program::label_total`](crate::Program::label_total).
    pub label_total: LabelTotal,
    /// [`Hints::falls_with_total`].
    pub falls_with_total: bool,
    /// [`Hints::follows_frequency`].
    pub follows_frequency: bool,
    /// [`Hints::votes_for_own_label`].
    pub votes_for_own_label: bool,
    /// [`Hints::carries`].
    pub carries: bool,
    /// [`Program::columns`](crate::Program::columns).
    pub columns: Vec<ColumnSpec>,
    /// [`Hints::parameters`].
    pub parameters: Vec<Scalar>,
    /// [`Hints::device_source`].
    pub device_source: Option<DeviceSource>,
}

impl ProgramInfo {
    /// Returns the declarations of a program.
    pub fn of<P: Hints>(program: &P) -> ProgramInfo {
        ProgramInfo {
            name: program.name().to_owned(),
            activation: program.activation(),
            schedule: program.schedule(),
            label_total: program.label_total(),
            falls_with_total: program.falls_with_total(),
            follows_frequency: program.follows_frequency(),
            votes_for_own_label: program.votes_for_own_label(),
            carries: program.carries(),
            columns: program.columns(),
            parameters: program.parameters(),
            device_source: program.device_source(),
        }
    }
}
