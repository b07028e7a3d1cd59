//! The refusal of commands and options that a build lacks.

use crate::failure::Failure;
use clap::Args;
use std::ffi::OsString;

/// A command that this build lacks; any arguments are refused with it.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Arguments of the absent command; they are ignored.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _all: Vec<OsString>,
}

/// Returns the refusal of a command or an option, by the cargo feature that adds it.
pub fn refused(what: &'static str, feature: &'static str) -> Failure {
    let absent = ripplet::io::NotBuiltIn::new(what, feature);
    Failure::refused(absent.to_string(), format!("cargo build -p ripplet-cli --features {feature}"))
}
