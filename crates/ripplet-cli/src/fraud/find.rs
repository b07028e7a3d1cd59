//! `ripplet fraud find`: in which windows and clusters of a run an entity was.

use super::table_target;
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::message::one_line;
use crate::output::{check_place, print, written};
use crate::reading::output_format;
use crate::standard_streams::is_standard;
use clap::Args;
use ripplet::fraud::TimeRange;
use ripplet::fraud::find::{FindError, FoundEntities, NotFound, Query, find, write_found};
use ripplet::fraud::folder::RunFolder;
use ripplet::fraud::run::PipelineError;
use ripplet::fraud::source::SourceError;
use ripplet::io::Format;
use ripplet::io::write::RecordWriter;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Find an entity in all windows of a run: its score and rank, its clusters, and when it was known to be bad.
///
/// Every entity of every window is found, in a cluster or not, and all known bad. The report's search is quicker,
/// but a large run's report does not have all entities.
#[derive(Args)]
pub struct Arguments {
    /// The entity's id, as the data has it.
    #[arg(value_name = "ID")]
    id: String,
    /// The run folder.
    folder: PathBuf,
    /// Find ids that contain ID, in upper or lower case.
    #[arg(long)]
    part: bool,
    /// Entities of this kind alone, such as user.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// The most entities that are shown; others are counted.
    #[arg(long, value_name = "N", default_value = "100", value_parser = at_least_one)]
    most: NonZeroUsize,
    /// Write a table of a row for each entity and window (.csv, .tsv, .jsonl, .parquet, .arrow), `-` with --to for standard
    /// output; without, a table for people is printed.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// FILE's format, if its name does not show it: csv, tsv, jsonl, parquet, arrow. Without FILE, standard output has it.
    #[arg(long, value_name = "FORMAT", value_parser = output_format, help_heading = "Output")]
    to: Option<Format>,
}

/// The parser of a number of entities.
fn at_least_one(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "expected a whole number from 1 on")
}

/// Searches; prints or writes what is found.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    let target = table_target(arguments.output.as_deref(), arguments.to)?;
    if let Some(target) = target {
        RecordWriter::check(target).map_err(Failure::Place)?;
        check_place(target.path(), &[])?;
    }
    let folder = RunFolder::open(&arguments.folder)?;
    let query = Query {
        text: arguments.id.clone(),
        part: arguments.part,
        kind: arguments.kind.clone(),
        most: arguments.most.get(),
    };
    console.stage("searching");
    let found = find(&folder, &query, &interrupt::requested)?.or_not_found(&folder, &query)?;
    found.notes("--most ").iter().for_each(|note| console.note(note));
    match target {
        None => print(&table(&found))?,
        Some(target) => {
            if is_standard(target.path()) {
                console.close();
            }
            written(write_found(target, &found))?;
        }
    }
    Ok(Ending::Whole)
}

/// Returns a line for each entity and window.
fn table(found: &FoundEntities) -> String {
    let head = [
        "kind",
        "id",
        "window",
        "days",
        "place",
        "score",
        "rank",
        "cluster",
        "cluster rank",
        "suspicion",
        "known bad",
    ];
    let mut lines = vec![head.map(String::from)];
    for entity in &found.entities {
        for occurrence in &entity.occurrences {
            let member = occurrence.membership.as_ref();
            let rank = member.and_then(|member| member.rank);
            let score = occurrence.score;
            lines.push([
                one_line(&entity.kind),
                one_line(&entity.id),
                occurrence.folder.clone(),
                TimeRange::new(occurrence.from, occurrence.until).to_string(),
                occurrence.place().to_owned(),
                score.map_or(String::new(), |score| probability(score.probability)),
                score.map_or(String::new(), |score| score.rank.to_string()),
                member.map_or(String::new(), |member| member.cluster.clone()),
                rank.map_or(String::new(), |rank| rank.to_string()),
                member.map_or(String::new(), |member| format!("{:.3}", member.suspicion)),
                if occurrence.known_bad { "yes" } else { "no" }.to_owned(),
            ]);
        }
    }
    aligned(&lines)
}

/// Formats a probability: very small ones by their first two digits.
fn probability(value: f32) -> String {
    if value >= 1e-3 || value == 0.0 { format!("{value:.4}") } else { format!("{value:.1e}") }
}

/// Columns as wide as their widest field.
fn aligned<const COLUMNS: usize>(lines: &[[String; COLUMNS]]) -> String {
    let length = |text: &String| text.chars().count();
    let width = |column: usize| lines.iter().map(|line| length(&line[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let fields = line.iter().zip(&widths).map(|(field, &width)| format!("{field:<width$}"));
        text.push_str(fields.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

impl From<NotFound> for Failure {
    fn from(error: NotFound) -> Failure {
        Failure::refused(error.to_string(), error.help("--part"))
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Failure {
        let help = match &error {
            FindError::OlderRun(_) => {
                "run it again into a new folder; the report’s search has some of them"
            }
            _ => "the run folder is damaged: run it again into a new one",
        };
        match error {
            FindError::Cancelled => interrupt::Interrupted.into(),
            FindError::Folder(error) => PipelineError::from(error).into(),
            FindError::Source(SourceError::Read(error)) => Failure::Read(error),
            error => Failure::refused(error.to_string(), help),
        }
    }
}
