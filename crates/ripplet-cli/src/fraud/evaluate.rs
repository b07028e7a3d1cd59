//! `ripplet fraud evaluate`: measures how many held-out accounts each ranking finds.

use super::feed::{DetectionArguments, FeedArguments};
use super::run::Model;
use super::{report_rows, table_target};
use crate::console::Console;
use crate::device::{self, DeviceArguments};
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::output::{check_place, print, written};
use crate::reading::output_format;
use crate::standard_streams::is_standard;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::device::AnyExecutor;
use ripplet::fraud::Trusted;
use ripplet::fraud::entity_table::EntityTable;
use ripplet::fraud::evaluate::{EvaluateError, Evaluation, Evaluator, Method, Report, write_draws};
use ripplet::fraud::feed::{Advance, Feed, FeedOptions};
use ripplet::fraud::model::ModelFile;
use ripplet::fraud::run::{ListFiles, Lists, PipelineError};
use ripplet::fraud::source::TableSource;
use ripplet::fraud::stream::Counts;
use ripplet::fraud::{KindId, KnownBad};
use ripplet::io::Format;
use ripplet::io::write::RecordWriter;
use std::path::PathBuf;

/// Measure how many confirmed bad accounts a ranking finds that knows only a share of them.
///
/// Recall and precision at shares of the ranking, PR-AUC and days to detection, each with its 95 % interval over the
/// draws of known accounts, beside degree, strength, components and personalized PageRank. docs/fraud-evaluation.md
/// explains them.
#[derive(Args)]
#[command(mut_arg("device", device::on_one))]
pub struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// Accounts that were confirmed to be bad: a table with a column `id`, and optional columns `kind`, `from`,
    /// `until`.
    #[arg(short, long, value_name = "FILE", help_heading = "Lists")]
    confirmed: PathBuf,
    /// Trusted accounts: a table of the same columns.
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    trusted: Option<PathBuf>,
    /// Accounts that analysts found to be good, with the day in `from`: examples for the scores, as for `ripplet fraud run`.
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    cleared: Option<PathBuf>,
    /// Features of entities, which become evidence of the scores: a table, as for `ripplet fraud run`.
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    entity_table: Option<PathBuf>,
    /// The number of random draws of known accounts: 1 at least.
    #[arg(long, value_name = "N", default_value_t = Evaluation::default().draws)]
    #[arg(help_heading = "Evaluation")]
    draws: u32,
    /// The share that is known, from 0 to below 1; the others are held out.
    #[arg(long, value_name = "SHARE", default_value_t = Evaluation::default().known)]
    #[arg(help_heading = "Evaluation")]
    known: f64,
    /// The share of all accounts among which an account counts as detected: above 0, up to 1.
    #[arg(long, value_name = "SHARE", default_value_t = Evaluation::default().top)]
    #[arg(help_heading = "Evaluation")]
    top: f64,
    /// Write a table of each method's figures in each draw (.csv, .tsv, .jsonl, .parquet, .arrow), `-` with --to for
    /// standard output in place of the summary.
    #[arg(short, long, value_name = "FILE", help_heading = "Evaluation")]
    output: Option<PathBuf>,
    /// FILE's format, if its name does not show it: csv, tsv, jsonl, parquet, arrow. Without FILE, standard output has it.
    #[arg(long, value_name = "FORMAT", value_parser = output_format, help_heading = "Evaluation")]
    to: Option<Format>,
    #[command(flatten)]
    detection: DetectionArguments,
    /// How every entity gets a score, as for `ripplet fraud run`: `auto`; `none`, without scores and evidence among the methods; or
    /// the model.json of a window.
    #[arg(long, value_name = "auto|none|FILE", default_value = "auto", help_heading = "Detection")]
    model: Model,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// Evaluates; prints the tables.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    arguments.device.check()?;
    let options = arguments.feed.options(None)?;
    let target = table_target(arguments.output.as_deref(), arguments.to)?;
    if let Some(target) = target {
        RecordWriter::check(target).map_err(Failure::Place)?;
        check_place(target.path(), &[&arguments.confirmed])?;
    }
    let opened = arguments.device.open_one()?;
    arguments.threads.start()?;
    let executor = device::start(opened, &arguments.threads, console)?;
    let detection = arguments.detection.detection();
    let mut tops = Evaluation::default().tops;
    if !tops.contains(&arguments.top) {
        tops.push(arguments.top);
        tops.sort_by(f64::total_cmp);
    }
    let mut methods = Method::all();
    if matches!(arguments.model, Model::None) {
        methods.retain(|method| !matches!(method, Method::Score | Method::Evidence(_)));
    }
    let model = match &arguments.model {
        Model::File(path) => Some(ModelFile::read(path).map_err(PipelineError::from)?),
        Model::Auto | Model::None => None,
    };
    let evaluation = Evaluation {
        methods,
        tops,
        draws: arguments.draws,
        known: arguments.known,
        top: arguments.top,
        seed: detection.seed,
        detection,
    };
    let (report, counts) =
        arguments.device.on(&executor, &arguments.threads, console, |executor| {
            let evaluation = evaluation.clone();
            evaluated(arguments, &options, evaluation, model.as_ref(), executor, console)
        })?;
    let ending = report_rows(&counts, console);
    console.remark(&counted(&report));
    report.cautions().iter().for_each(|caution| console.remark(caution));
    if let Some(target) = target {
        if is_standard(target.path()) {
            console.close();
        }
        written(write_draws(target, &report))?;
    }
    if !target.is_some_and(|target| is_standard(target.path())) {
        print(&report.tables())?;
    }
    Ok(ending)
}

/// Returns the numbers of what was evaluated.
fn counted(report: &Report) -> String {
    let Report { accounts, confirmed, unseen, windows, .. } = report;
    let missing = match unseen {
        0 => String::new(),
        _ => format!("; {unseen} confirmed that no window has cannot be found"),
    };
    format!(
        "{accounts} accounts, {confirmed} of them confirmed, in {windows} {}; recall and precision are of the last{missing}",
        if *windows == 1 { "window" } else { "windows" },
    )
}

/// The failure of a list of accounts that are in no window, with the first of them.
fn no_account_seen(lists: &Lists, feed: &Feed) -> Failure {
    let kinds = feed.entities().kinds().join(", ");
    let (unseen, first) = lists.never_seen(feed.entities());
    let others = match unseen.saturating_sub(first.len() as u64) {
        0 => String::new(),
        others => format!(" and {others} others"),
    };
    let who = match first.is_empty() {
        true => String::new(),
        false => format!("; in no transaction: {}{others}", first.join(", ")),
    };
    let sentence = format!("no confirmed account that was held out is in any window{who}");
    let help = format!(
        "ids must match exactly, and an account’s kind is one of {kinds}: see the list’s column `kind`"
    );
    Failure::refused(sentence, help)
}

/// Ranks window after window; with the counts of the rows.
fn evaluated(
    arguments: &Arguments,
    options: &FeedOptions,
    evaluation: Evaluation,
    model: Option<&ModelFile>,
    executor: &AnyExecutor,
    console: &Console,
) -> Result<(Report, Counts), Failure> {
    let mut feed = Feed::begin(options)?;
    let confirmed = TableSource::from(arguments.confirmed.clone());
    let trusted = arguments.trusted.clone().map(TableSource::from);
    let cleared = arguments.cleared.clone().map(TableSource::from);
    let kind = &options.mapping.source.kind;
    let files = ListFiles {
        bad: Some(&confirmed),
        trusted: trusted.as_ref(),
        cleared: cleared.as_ref(),
        ..ListFiles::default()
    };
    let lists = Lists::read(files, feed.entities(), kind)?;
    lists.notes().for_each(|note| console.remark(note));
    let (confirmed, trusted): (KnownBad, Trusted) = (lists.known_bad(), lists.trusted());
    let evaluator = Evaluator::new(evaluation, &confirmed)?;
    let mut evaluator = evaluator.with_cleared(lists.cleared().to_vec());
    if let Some(path) = &arguments.entity_table {
        let kind = feed.entities().find_kind(kind).unwrap_or(KindId(0));
        let path = TableSource::from(path.clone());
        let table = EntityTable::read(&path, feed.entities(), kind).map_err(PipelineError::from)?;
        table.notes().iter().for_each(|note| console.remark(note));
        evaluator = evaluator.with_table(table);
    }
    if let Some(model) = model {
        evaluator = evaluator.with_model(model.clone());
    }
    console.stage("reading");
    while feed.advance(|_| Ok(()), interrupt::requested)? == Advance::Window {
        feed.slide()?;
        if let Some(window) = feed.window() {
            console.stage(format!("ranking the window of {}", window.range));
            let days: Vec<_> = feed.days().map(|(_, day)| day).collect();
            let (entities, mut watch) = (feed.entities(), console.watch());
            evaluator.window(executor, window, &days, entities, &trusted, &mut watch)?;
        }
    }
    if let Some((unseen, Some(first))) = evaluator.table().map(EntityTable::never_seen) {
        console.remark(&format!(
            "the table of entities: {unseen} are in no transaction of a window, the first is {first}"
        ));
    }
    let report = evaluator.finish().map_err(|error| match error {
        EvaluateError::NoAccountSeen => no_account_seen(&lists, &feed),
        error => error.into(),
    })?;
    Ok((report, feed.stream().counts().clone()))
}
