//! `ripplet quality`: how good communities are, by the graph and against a truth.

use crate::console::{Console, print};
use crate::failure::Failure;
use crate::memory::{MemoryArguments, OF_A_GRAPH, OF_A_LIST, within};
use crate::output::{is_standard, json};
use crate::reading::{BuildArguments, ReadArguments, format, load_stored};
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::io::{self, Format, ReadOptions};
use ripplet::lp::quality::Quality;
use std::path::PathBuf;

/// Measure communities: modularity, coverage, sizes, and agreement with a truth, as JSON.
///
/// LABELS has a line or a row for each vertex of INPUT, its id and its community, as `ripplet
/// communities` writes it; the communities may be called anything.
#[derive(Args)]
pub struct Arguments {
    /// The graph.
    input: PathBuf,
    /// The communities.
    labels: PathBuf,
    /// The true communities, as a file like LABELS: adds nmi and ari.
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// How much chance counts in the modularity.
    #[arg(
        long,
        value_name = "G",
        default_value_t = 1.0,
        value_parser = resolution,
        allow_negative_numbers = true
    )]
    resolution: f64,
    #[command(flatten)]
    reading: ReadArguments,
    #[command(flatten)]
    building: BuildArguments,
    /// The input's format, where its name does not tell.
    #[arg(long, value_parser = format, help_heading = "Reading")]
    format: Option<Format>,
    #[command(flatten)]
    memory: MemoryArguments,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// Measures communities.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { input, labels, truth, resolution, .. } = arguments;
    let files = [Some(input), Some(labels), truth.as_ref()];
    if files.iter().flatten().filter(|path| is_standard(path)).count() > 1 {
        return Err(Failure::refused(
            "only one of the files can come from standard input",
            "name files for the others",
        ));
    }
    let options = arguments.reading.options(input, arguments.format, &arguments.building)?;
    arguments.threads.start()?;
    let limit = arguments.memory.host_memory;
    let reading = format!("reading {}", input.display());
    let load = || load_stored(input, &options, None, console);
    let stored = within(limit, &reading, OF_A_GRAPH, load)?.graph;
    let graph = stored.view();
    let groups = |path: &PathBuf| {
        let what = format!("reading {}", path.display());
        console.stage(&*what);
        let read = || Ok(io::read_groups(path, &ReadOptions::default(), graph.ids())?);
        within(limit, &what, OF_A_LIST, read)
    };
    let labels = groups(labels)?;
    let truth = truth.as_ref().map(groups).transpose()?;
    console.stage("measuring");
    let mut quality = Quality::at_resolution(graph, &labels, *resolution)?;
    if let Some(truth) = truth {
        quality = quality.against(&labels, &truth)?;
    }
    print(&json(&quality))
}

fn resolution(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a number, 0 or above".into())
}
