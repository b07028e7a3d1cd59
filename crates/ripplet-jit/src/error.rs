//! Why a program cannot be compiled.

use ripplet_hooks::ir;
use thiserror::Error;

/// Why a program cannot be compiled.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum JitError {
    /// There is no code generator for this processor.
    #[error("programs from files do not run on this machine: {0}; build them with Rust instead")]
    Machine(String),
    /// A parameter was given that the program does not have.
    #[error("the program has no parameter `{name}`; it has {}", listed(.known))]
    UnknownParameter {
        /// The parameter given.
        name: String,
        /// Those it has.
        known: Vec<String>,
    },
    /// A parameter was not given.
    #[error("the program's parameter `{name}` must be given: a {wanted}")]
    MissingParameter {
        /// The parameter.
        name: String,
        /// Its type's name.
        wanted: &'static str,
    },
    /// A parameter's value is not of its type.
    #[error("the program's parameter `{name}` is a {wanted}, which {given} is not")]
    ParameterType {
        /// The parameter.
        name: String,
        /// Its type's name.
        wanted: &'static str,
        /// What was given.
        given: String,
    },
    /// The program was made for a schedule that is not there.
    #[error("there is no schedule `{0}`; schedules are phased, sync, asynchronous and cdlp")]
    Schedule(String),
    /// The program has more columns than compiled hooks can read.
    #[error(
        "the program has {given} columns; from a file, a program can have {most}: put several \
         into one with #[len]"
    )]
    Columns {
        /// Columns it has.
        given: usize,
        /// Columns it can have.
        most: usize,
    },
    /// The caller asked for a program of scores of another type.
    #[error("the program's scores are {given}, not {wanted}")]
    Score {
        /// What its scores are.
        given: &'static str,
        /// What the caller wants.
        wanted: &'static str,
    },
    /// The intermediate form breaks its own rules: it was not made by `ripplet_hooks`.
    #[error("the program's intermediate form is not sound: {0}")]
    Unsound(String),
    /// The code generator gave up.
    #[error("the program could not be compiled: {0}")]
    Compiler(String),
}

impl JitError {
    pub(crate) fn unsound(what: impl Into<String>) -> JitError {
        JitError::Unsound(what.into())
    }

    pub(crate) fn parameter(parameter: &ir::Parameter, given: String) -> JitError {
        let (name, wanted) = (parameter.name.clone(), parameter.scalar.name());
        JitError::ParameterType { name, wanted, given }
    }
}

impl From<cranelift_module::ModuleError> for JitError {
    fn from(error: cranelift_module::ModuleError) -> Self {
        // The alternate form tells what the verifier found.
        JitError::Compiler(format!("{error:#?}"))
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => format!("`{}`", names.join("`, `")),
    }
}
