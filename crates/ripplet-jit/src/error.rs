//! Errors of compilation.

use ripplet_hooks::ir;
use thiserror::Error;

/// The reason why a program cannot be compiled.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum JitError {
    /// There is no code generator for this processor.
    #[error("programs from files do not run on this machine: {0}; build them with Rust instead")]
    Machine(String),
    /// A parameter was given that the program does not have.
    #[error("the program has no parameter `{name}`; it has {}", listed(.known))]
    UnknownParameter {
        /// The given parameter.
        name: String,
        /// The program's parameters.
        known: Vec<String>,
    },
    /// A parameter was not given.
    #[error("the program's parameter `{name}` must be given: {}", a(.wanted))]
    MissingParameter {
        /// The parameter.
        name: String,
        /// The name of its type.
        wanted: &'static str,
    },
    /// The value of a parameter has the wrong type.
    #[error("the program's parameter `{name}` is {}, which {given} is not", a(.wanted))]
    ParameterType {
        /// The parameter.
        name: String,
        /// The name of its type.
        wanted: &'static str,
        /// The given value.
        given: String,
    },
    /// The value of a parameter is a number that its type does not hold.
    #[error(
        "the program's parameter `{name}` is {}, {}, which {given} is not",
        a(.wanted),
        range_of(.wanted)
    )]
    ParameterRange {
        /// The parameter.
        name: String,
        /// The name of its type.
        wanted: &'static str,
        /// The given value.
        given: String,
    },
    /// The program requests an unknown schedule.
    #[error("there is no schedule `{0}`; schedules are phased, sync, asynchronous and cdlp")]
    Schedule(String),
    /// The program has more columns than compiled hooks can read.
    #[error(
        "the program has {given} columns; from a file, a program can have {most}: put several \
         into one with #[len]"
    )]
    Columns {
        /// The number of its columns.
        given: usize,
        /// The largest number of columns.
        most: usize,
    },
    /// The caller requested a program with scores of another type.
    #[error("the program's scores are {given}, not {wanted}")]
    Score {
        /// The type of its scores.
        given: &'static str,
        /// The type that the caller requested.
        wanted: &'static str,
    },
    /// The intermediate representation is inconsistent: `ripplet_hooks` did not create it.
    #[error("the program's intermediate form is not sound: {0}")]
    Unsound(String),
    /// The code generator failed.
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
        // The alternate form includes the verifier's errors.
        JitError::Compiler(format!("{error:#?}"))
    }
}

/// Returns the least and the largest value of a type of numbers, as a part of a sentence.
fn range_of(kind: &str) -> String {
    match kind {
        "u32" => format!("from 0 to {}", u32::MAX),
        "i32" => format!("from {} to {}", i32::MIN, i32::MAX),
        "u64" => format!("from 0 to {}", u64::MAX),
        "i64" => format!("from {} to {}", i64::MIN, i64::MAX),
        _ => format!("from {:e} to {:e}", f32::MIN, f32::MAX),
    }
}

/// Returns the name of a type with its article.
fn a(kind: &str) -> String {
    let article = if kind.starts_with(['i', 'f']) { "an" } else { "a" };
    format!("{article} {kind}")
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => format!("`{}`", names.join("`, `")),
    }
}
