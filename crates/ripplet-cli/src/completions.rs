//! `ripplet completions`: completion scripts for shells.

use crate::Ripplet;
use crate::failure::Failure;
use crate::output::print;
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

/// Print a script that completes commands, options and values in a shell.
///
/// For bash: `ripplet completions bash > ~/.local/share/bash-completion/completions/ripplet`. For
/// zsh: `ripplet completions zsh > FOLDER/_ripplet`, where FOLDER is in `fpath`. For fish: `ripplet
/// completions fish > ~/.config/fish/completions/ripplet.fish`.
#[derive(Args)]
pub struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    // The generator panics if it cannot write, so it writes into memory.
    let mut script = Vec::new();
    generate(arguments.shell, &mut Ripplet::command(), "ripplet", &mut script);
    print(&String::from_utf8_lossy(&script))
}
