//! `ripplet fraud evaluate`: how many of those held out are found, beside simpler ways.

use super::feed::{DetectionArguments, FeedArguments};
use crate::console::{Console, print};
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::machine::{DeviceArguments, Machine};
use crate::output::{check_place, written};
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::fraud::KnownBad;
use ripplet::fraud::Trusted;
use ripplet::fraud::evaluate::{Evaluation, Evaluator, Report};
use ripplet::fraud::feed::{Advance, Feed, FeedOptions};
use ripplet::fraud::run::Lists;
use ripplet::io::write::whole_file;
use std::path::PathBuf;

/// Hold out a share of those who were confirmed to be bad, look for them, and tell how many are found.
///
/// Recall and precision at shares of the ranking, PR-AUC and days to detection, each with its 95 % interval over the
/// draws of who is known, beside degree, strength, components and personalized PageRank. docs/fraud-evaluation.md
/// explains them.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// Who was confirmed to be bad in the end: a table with a column `id`, and, where they are there, `kind`, `from`,
    /// `until`.
    #[arg(short, long, value_name = "FILE", help_heading = "Lists")]
    confirmed: PathBuf,
    /// Who is trusted: a table of the same columns.
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    trusted: Option<PathBuf>,
    /// How often it is drawn who is known.
    #[arg(long, value_name = "N", default_value_t = Evaluation::default().draws)]
    #[arg(help_heading = "Evaluation")]
    draws: u32,
    /// The share that is known; the others are held out.
    #[arg(long, value_name = "SHARE", default_value_t = Evaluation::default().known)]
    #[arg(help_heading = "Evaluation")]
    known: f64,
    /// The share of all accounts among which an account counts as detected.
    #[arg(long, value_name = "SHARE", default_value_t = Evaluation::default().top)]
    #[arg(help_heading = "Evaluation")]
    top: f64,
    /// Write each method's figures in each draw to this file, a .csv.
    #[arg(short, long, value_name = "FILE", help_heading = "Evaluation")]
    output: Option<PathBuf>,
    #[command(flatten)]
    detection: DetectionArguments,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// Evaluates; prints the tables.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    arguments.device.check()?;
    let options = arguments.feed.options(None)?;
    if let Some(output) = &arguments.output {
        check_place(output, &[])?;
    }
    let opened = arguments.device.open_one()?;
    arguments.threads.start()?;
    let machine = opened.start(&arguments.threads, console)?;
    let detection = arguments.detection.detection();
    let mut tops = Evaluation::default().tops;
    if !tops.contains(&arguments.top) {
        tops.push(arguments.top);
        tops.sort_by(f64::total_cmp);
    }
    let evaluation = Evaluation {
        tops,
        draws: arguments.draws,
        known: arguments.known,
        top: arguments.top,
        seed: detection.seed,
        detection,
        ..Evaluation::default()
    };
    let report = arguments.device.on(&machine, &arguments.threads, console, |machine| {
        evaluated(arguments, &options, evaluation.clone(), machine, console)
    })?;
    if let Some(output) = &arguments.output {
        written(whole_file(output, |out| report.write_rows(out)))?;
    }
    print(&report.tables())?;
    Ok(Ending::Whole)
}

/// Ranks window after window.
fn evaluated(
    arguments: &Arguments,
    options: &FeedOptions,
    evaluation: Evaluation,
    machine: &Machine,
    console: &Console,
) -> Result<Report, Failure> {
    let mut feed = Feed::begin(options)?;
    let (confirmed, trusted) = (&arguments.confirmed, arguments.trusted.as_deref());
    let kind = &options.mapping.source.kind;
    let lists = Lists::read(Some(confirmed), trusted, feed.entities(), kind)?;
    let (confirmed, trusted): (KnownBad, Trusted) = (lists.known_bad(), lists.trusted());
    let mut evaluator = Evaluator::new(evaluation, &confirmed)?;
    console.stage("reading");
    while feed.advance(|_| Ok(()), interrupt::requested)? == Advance::Window {
        feed.slide()?;
        if let Some(window) = feed.window() {
            console.stage(format!("ranking the window until {}", window.range.until));
            evaluator.window(machine, window, feed.entities(), &trusted, &mut console.watch())?;
        }
    }
    Ok(evaluator.finish()?)
}
