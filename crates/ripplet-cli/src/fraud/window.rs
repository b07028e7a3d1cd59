//! `ripplet fraud window`: the graph of one window, as a file.

use super::feed::FeedArguments;
use super::report_rows;
use crate::console::Console;
use crate::convert::{check_graph_place, write_graph};
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::message::{counted, size_of};
use crate::standard_streams::is_standard;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::fraud::Timestamp;
use ripplet::fraud::feed::{Feed, NoWindow};
use ripplet::fraud::window::NamedError;
use std::path::PathBuf;

/// Write the graph of one window: an edge for each pair with transactions, and its weight.
///
/// The vertices are the entities with transactions in it, named by kind and id: `user:7`. OUT is a graph of any
/// format that `ripplet convert` writes, so all other commands read it.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// The file for the graph.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The window whose last day this is, or, with a time of day, that ends then [default: the last one].
    #[arg(long, value_name = "TIME", value_parser = end, help_heading = "Windows")]
    until: Option<Timestamp>,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// The parser of a window's end.
fn end(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse_last(text).map_err(|error| error.to_string())
}

/// Builds and writes the graph of the window.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    let options = arguments.feed.options(None)?;
    check_graph_place(&arguments.output, None, &[])?;
    arguments.threads.start()?;
    let mut feed = Feed::begin(&options)?;
    console.stage("reading");
    let ends = feed.slide_to(arguments.until, interrupt::requested)?;
    let ending = report_rows(feed.stream().counts(), console);
    let window = feed.window().ok_or(NoWindow { ends })?;
    console.stage("naming the vertices");
    let graph = window.named(feed.entities())?;
    write_graph(&graph, &arguments.output, None, console)?;
    if !is_standard(&arguments.output) {
        console.say(&format!(
            "{} from {}: {}; see {}",
            counted(window.transactions, "transaction", "transactions"),
            window.range,
            size_of(graph.vertices().into(), graph.edges()),
            arguments.output.display()
        ));
    }
    Ok(ending)
}

impl From<NoWindow> for Failure {
    fn from(error: NoWindow) -> Failure {
        Failure::refused(error.to_string(), error.help())
    }
}

impl From<NamedError> for Failure {
    fn from(error: NamedError) -> Failure {
        match error {
            NamedError::Edges(error) => {
                Failure::refused(error.to_string(), "choose a shorter window")
            }
            NamedError::Build(error) => error.into(),
        }
    }
}
