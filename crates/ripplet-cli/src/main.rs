//! The command `ripplet`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ripplet_cli::run(std::env::args_os()))
}
