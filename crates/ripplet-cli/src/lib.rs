//! The command `ripplet`: arguments become a plan before any data is touched, and each ends in a
//! whole file or in one sentence.
//!
//! The binary `ripplet` and the Python package's console script call [`run`]. The allocator of a program that links this
//! library is the one with the command's limit of memory.

// A build that lacks a part leaves helpers of its commands without a user; the full build finds those that nothing uses.
#![cfg_attr(
    not(all(
        feature = "cuda",
        feature = "draw",
        feature = "fraud",
        feature = "generate",
        feature = "jit"
    )),
    allow(dead_code, unused_imports)
)]

#[cfg(not(all(feature = "draw", feature = "fraud", feature = "generate", feature = "jit")))]
mod absent;
mod analysis;
mod apsp;
mod batch;
mod bench;
mod centrality;
mod communities;
mod completions;
mod components;
mod console;
mod convert;
mod device;
mod devices;
#[cfg(feature = "draw")]
mod draw;
mod estimate;
mod exit_status;
mod failure;
#[cfg(feature = "fraud")]
mod fraud;
#[cfg(feature = "generate")]
mod generate;
mod graphalytics;
mod info;
mod interrupt;
mod kcore;
mod lcc;
mod manual;
mod memory;
mod message;
mod named_cover;
mod on_ranks;
mod output;
mod pagerank;
mod parts;
mod quality;
mod ranks;
mod reading;
mod seed;
mod size;
mod standard_streams;
mod stats;
mod storage;
mod threads;
mod values;

use clap::error::{ContextKind, ContextValue};
use clap::{Parser, Subcommand};
use console::Console;
use exit_status::ExitStatus;
use failure::{Ending, Failure};
use ripplet::io::Fetched;
use ripplet::ranks::Launch;
use std::ffi::OsString;
use std::io::{ErrorKind, Write, stderr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Communities in graphs by label propagation.
#[derive(Parser)]
#[command(name = "ripplet", version, max_term_width = 100, arg_required_else_help = true)]
struct Ripplet {
    #[command(subcommand)]
    command: Command,
    /// Print errors, and what was skipped, only.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Also say what was chosen, such as why the CPU runs it.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Communities(Box<communities::Arguments>),
    Lcc(lcc::Arguments),
    Closeness(centrality::ClosenessArguments),
    Harmonic(centrality::HarmonicArguments),
    Betweenness(centrality::BetweennessArguments),
    Apsp(apsp::Arguments),
    Pagerank(pagerank::Arguments),
    Components(components::Arguments),
    Kcore(kcore::Arguments),
    Quality(quality::Arguments),
    #[cfg(feature = "draw")]
    Draw(draw::Arguments),
    #[cfg(not(feature = "draw"))]
    #[command(hide = true)]
    Draw(absent::Arguments),
    #[cfg(feature = "fraud")]
    Fraud(fraud::Arguments),
    #[cfg(not(feature = "fraud"))]
    #[command(hide = true)]
    Fraud(absent::Arguments),
    #[cfg(feature = "generate")]
    Generate(generate::Arguments),
    #[cfg(not(feature = "generate"))]
    #[command(hide = true)]
    Generate(absent::Arguments),
    Convert(convert::Arguments),
    Info(info::Arguments),
    Graphalytics(graphalytics::Arguments),
    Devices(devices::Arguments),
    Bench(bench::Arguments),
    Completions(completions::Arguments),
    Man(manual::Arguments),
}

impl Command {
    /// Returns whether processes that were started together share the command.
    fn is_shared(&self) -> bool {
        match self {
            Command::Communities(_)
            | Command::Pagerank(_)
            | Command::Components(_)
            | Command::Lcc(_)
            | Command::Closeness(_)
            | Command::Harmonic(_)
            | Command::Betweenness(_)
            | Command::Apsp(_)
            | Command::Kcore(_)
            | Command::Convert(_) => true,
            #[cfg(feature = "fraud")]
            Command::Fraud(arguments) => arguments.is_shared(),
            _ => false,
        }
    }
}

/// Runs the command, and returns the exit code of its process.
///
/// `arguments` begin with the name of the program, which is not used. A process calls this once, on its main thread: signals
/// and aborts are then handled as the command's, and may end the process. Outside of a Rust `main`, call
/// [`std::process::exit`] with the code, which also writes what standard output still holds.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    standard_streams::open_closed();
    let arguments: Vec<OsString> = arguments.into_iter().skip(1).collect();
    ranks::keep_arguments(&arguments);
    let launch = Launch::of_several();
    let named = std::iter::once(OsString::from("ripplet")).chain(arguments);
    let status = match Ripplet::try_parse_from(named) {
        Ok(arguments) => status_of(arguments, launch),
        Err(answer) => said_by_clap(&answer, launch.as_ref()),
    };
    status.code()
}

/// Runs a command, and reports its error.
fn status_of(arguments: Ripplet, launch: Option<Launch>) -> ExitStatus {
    memory::report_before_aborting();
    failure::leave_panics_of_table_crates_to_the_reader();
    interrupt::listen(console::clear, ranks::leave);
    let console = Console::new(arguments.quiet, arguments.verbose);
    if let Some(launch) = launch.filter(|_| !arguments.command.is_shared()) {
        ranks::wait_for_first_report(Some(&launch));
        let refused = ranks::refused(&launch);
        if !ranks::is_other(Some(&launch)) {
            refused.report();
        }
        return refused.status();
    }
    // Crates that read and write tables panic if memory is refused; unfinished outputs are removed by then.
    let ended = catch_unwind(AssertUnwindSafe(|| dispatch(arguments.command, &console)));
    let ended = ended.unwrap_or_else(|_| Err(memory::refusal().unwrap_or(Failure::Defect)));
    let Fetched { requests, bytes } = ripplet::io::fetched();
    if requests > 0 {
        let requests = message::counted(requests, "request", "requests");
        console.detail(&format!("received {bytes} bytes from object storage, in {requests}"));
    }
    let status = match ended {
        Ok(ending) => ending.status(),
        Err(failure) => {
            console.close();
            failure.report();
            failure.status()
        }
    };
    ranks::leave_if_unfinished(status);
    status
}

/// Prints help, a version, or an error in the arguments, without control characters.
///
/// Of several processes that were started together, the first one prints.
fn said_by_clap(answer: &clap::Error, launch: Option<&Launch>) -> ExitStatus {
    if ranks::is_other(launch) {
        ranks::wait_for_first_report(launch);
        return if answer.use_stderr() { ExitStatus::Wrong } else { ExitStatus::Done };
    }
    if !answer.use_stderr() {
        return match answer.print() {
            Ok(()) => ExitStatus::Done,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitStatus::Unread,
            Err(source) => {
                let failure = Failure::Print(source);
                failure.report();
                failure.status()
            }
        };
    }
    let plain = answer.to_string();
    let shown = message::lines(&plain);
    // Colours are printed only if the arguments have nothing to escape.
    let printed = match shown == plain {
        true => answer.print(),
        false => stderr().write_all(shown.as_bytes()),
    };
    let printed = match is_file_beside_another(answer) {
        true => printed.and_then(|()| {
            stderr().write_all(b"\n  help: the files of one table are named by a pattern in quotes: 'days/*.csv'\n")
        }),
        false => printed,
    };
    // If standard error is closed, the exit code is the only report.
    let _ = printed;
    ExitStatus::Wrong
}

/// Whether an argument that is not expected is a file: a shell may have replaced a pattern by the files that match.
fn is_file_beside_another(answer: &clap::Error) -> bool {
    match answer.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => {
            answer.kind() == clap::error::ErrorKind::UnknownArgument
                && Path::new(argument).is_file()
        }
        _ => false,
    }
}

fn dispatch(command: Command, console: &Console) -> Result<Ending, Failure> {
    match command {
        Command::Communities(arguments) => return communities::run(&arguments, console),
        Command::Lcc(arguments) => return lcc::run(&arguments, console),
        Command::Closeness(arguments) => return centrality::closeness_of(&arguments, console),
        Command::Harmonic(arguments) => return centrality::harmonic_of(&arguments, console),
        Command::Betweenness(arguments) => return centrality::betweenness_of(&arguments, console),
        Command::Apsp(arguments) => return apsp::run(&arguments, console),
        Command::Pagerank(arguments) => return pagerank::run(&arguments, console),
        Command::Components(arguments) => return components::run(&arguments, console),
        Command::Kcore(arguments) => return kcore::run(&arguments, console),
        #[cfg(feature = "fraud")]
        Command::Fraud(arguments) => return fraud::run(&arguments, console),
        #[cfg(not(feature = "fraud"))]
        Command::Fraud(_) => return Err(absent::refused("`ripplet fraud`", "fraud")),
        Command::Quality(arguments) => quality::run(&arguments, console)?,
        #[cfg(feature = "draw")]
        Command::Draw(arguments) => draw::run(&arguments, console)?,
        #[cfg(not(feature = "draw"))]
        Command::Draw(_) => return Err(absent::refused("`ripplet draw`", "draw")),
        #[cfg(feature = "generate")]
        Command::Generate(arguments) => generate::run(&arguments, console)?,
        #[cfg(not(feature = "generate"))]
        Command::Generate(_) => return Err(absent::refused("`ripplet generate`", "generate")),
        Command::Convert(arguments) => return convert::run(&arguments, console),
        Command::Info(arguments) => return info::run(&arguments, console),
        Command::Graphalytics(arguments) => graphalytics::run(&arguments, console)?,
        Command::Devices(arguments) => devices::run(&arguments, console)?,
        Command::Bench(arguments) => bench::run(&arguments, console)?,
        Command::Completions(arguments) => completions::run(&arguments)?,
        Command::Man(arguments) => manual::run(&arguments, console)?,
    }
    Ok(Ending::Whole)
}
