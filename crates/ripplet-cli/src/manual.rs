//! `ripplet man`: the manual pages, from the same text as `--help`.

use crate::Ripplet;
use crate::console::Console;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::output::{print, written};
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use ripplet::io::write::whole_file;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Print a manual page, or write all of them into a folder.
///
/// `ripplet man | man -l -` shows the page of ripplet, `ripplet man fraud run` prints that of a
/// command. `ripplet man -o ~/.local/share/man/man1` installs all of them for `man`.
#[derive(Args)]
pub struct Arguments {
    /// The command that the page is about; ripplet itself if none is named.
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Vec<String>,
    /// A folder for all pages, such as ripplet.1 and ripplet-communities.1; made if it does not exist.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Prints one page, or writes all.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let mut ripplet = without_help_commands(Ripplet::command());
    ripplet.build();
    match &arguments.output {
        None => {
            let command = find(&ripplet, &arguments.command)?;
            print(&String::from_utf8_lossy(&page(command)))
        }
        Some(folder) => {
            let written = write_all(&ripplet, folder)?;
            console.say(&format!("{written} pages; see {}", folder.display()));
            Ok(())
        }
    }
}

/// Leaves out the commands `help`, of which a manual has no need.
fn without_help_commands(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help_commands)
}

/// The command of this name, such as `["fraud", "run"]`.
fn find<'a>(ripplet: &'a Command, name: &[String]) -> Result<&'a Command, Failure> {
    name.iter().try_fold(ripplet, |command, part| {
        command.find_subcommand(part).ok_or_else(|| {
            let known: Vec<_> = pages(command).map(Command::get_name).collect();
            let help = match known.is_empty() {
                true => format!("{} has no commands of its own", command.get_name()),
                false => format!("it has {}", known.join(", ")),
            };
            Failure::refused(format!("{} has no command `{part}`", command.get_name()), help)
        })
    })
}

/// The commands of a command that have a page.
fn pages(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set())
}

/// Writes the pages of a command and of all its commands; returns how many.
fn write_all(command: &Command, folder: &Path) -> Result<usize, Failure> {
    let on_disk = ripplet::io::check_on_disk(folder, "outputs");
    if let Err(source) = on_disk.and_then(|()| fs::create_dir_all(folder)) {
        let error = ripplet::io::WriteError { path: folder.into(), source };
        return Err(Failure::Place(error));
    }
    let name = command.get_display_name().unwrap_or(command.get_name());
    let path = folder.join(format!("{name}.1"));
    written(whole_file(&path, |out| out.write_all(&page(command))))?;
    pages(command).try_fold(1, |count, sub| Ok(count + write_all(sub, folder)?))
}

/// Returns the page of a command.
fn page(command: &Command) -> Vec<u8> {
    let mut text = Vec::new();
    render(command, &mut text).expect("memory takes every byte");
    text
}

fn render(command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    let source = concat!("ripplet ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).manual("ripplet").render(out)?;
    exit_section().to_writer(out)
}

fn exit_section() -> Roff {
    let mut section = Roff::new();
    section.control("SH", ["EXIT STATUS"]);
    for status in ExitStatus::ALL {
        section.control("TP", []);
        section.text([bold(status.code().to_string())]);
        section.text([roman(status.meaning())]);
    }
    section
}
