//! The common arguments for the source and the length of windows.

use crate::failure::Failure;
use crate::seed::seed;
use clap::{Args, ValueEnum};
use ripplet::fraud::detect::Detection;
use ripplet::fraud::feed::FeedOptions;
use ripplet::fraud::source::postgres::with_password;
use ripplet::fraud::source::reader::{Reading, Sources};
use ripplet::fraud::stream::LONGEST_PAUSE;
use ripplet::fraud::ties::TieRule;
use ripplet::fraud::window::Shape;
use ripplet::fraud::{Mapping, Span, TimeRange, Timestamp};
use ripplet::io::{LARGEST_TEXT, read_small_text};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Options of the transactions and their windows.
#[derive(Args)]
pub struct FeedArguments {
    /// Transactions: files (.parquet, .arrow, .csv, .tsv; text also .gz, .zst), folders of such files, which may be
    /// partitioned by date, Delta tables, or patterns in quotes. Files are read in the order of their paths.
    #[arg(value_name = "INPUT", required_unless_present_any = ["postgres", "duckdb"], conflicts_with_all = ["postgres", "duckdb"])]
    inputs: Vec<String>,
    /// A PostgreSQL server to ask --query: postgres://user:password@host/database?sslmode=verify-full, as psql takes it.
    #[arg(long, value_name = "URL", requires = "query", help_heading = "Reading")]
    postgres: Option<String>,
    /// The file whose first line is the password for --postgres, such as a container's secret.
    ///
    /// Without it the address, PGPASSWORD, or a line of ~/.pgpass (passfile=FILE, PGPASSFILE) has it.
    #[arg(long, value_name = "FILE", requires = "postgres", help_heading = "Reading")]
    password_file: Option<PathBuf>,
    /// A DuckDB file to ask --query, by the command `duckdb`, or the one that RIPPLET_DUCKDB names.
    #[arg(long, value_name = "FILE", requires = "query", conflicts_with = "postgres")]
    #[arg(help_heading = "Reading")]
    duckdb: Option<PathBuf>,
    /// The query whose rows are transactions, in the order of time.
    #[arg(long, value_name = "SQL", help_heading = "Reading")]
    query: Option<String>,
    /// The mapping of columns: a TOML file, described in docs/fraud-sources.md.
    #[arg(short, long, value_name = "FILE", help_heading = "Reading")]
    mapping: PathBuf,
    /// Take rows that are late by SPAN at most: their time is so far before that of a row already read. Without, a row of a
    /// day that has ended is an error.
    #[arg(long, value_name = "SPAN", value_parser = span, help_heading = "Reading")]
    late: Option<Span>,
    /// Behaviour at a bad row, one with nulls, or with a time or an amount that is none or does not fit: stop, or skip
    /// and count it.
    #[arg(long, value_name = "WHAT", default_value = "stop", help_heading = "Reading")]
    on_error: OnBadRow,
    /// `--on-error skip`, as it was called.
    #[arg(long, hide = true)]
    skip_bad_rows: bool,
    /// Rows whose times are further from those of the rows around them are bad: a wrong year, most often. A pause that is
    /// longer is refused.
    #[arg(long, value_name = "SPAN", default_value_t = LONGEST_PAUSE, value_parser = span)]
    #[arg(help_heading = "Reading")]
    longest_gap: Span,
    /// Leave out, and count, rows that are later than --late allows.
    #[arg(long, help_heading = "Reading")]
    skip_late_rows: bool,
    /// Take only transactions from this instant on: 2024-03-01, 2024-03-01T12:00. Files of earlier partitions are not opened
    /// if the mapping's time has `partition`.
    #[arg(long, value_name = "TIME", value_parser = instant, help_heading = "Reading")]
    since: Option<Timestamp>,
    /// Take only transactions before this instant.
    #[arg(long, value_name = "TIME", value_parser = instant, help_heading = "Reading")]
    before: Option<Timestamp>,
    /// Pass over files with the content of one that was read before.
    #[arg(long, help_heading = "Reading")]
    skip_repeated_files: bool,
    /// Length of windows: 30d, 12h, 2w.
    #[arg(short, long, value_name = "SPAN", default_value = "30d", value_parser = span)]
    #[arg(help_heading = "Windows")]
    window: Span,
    /// By how much they slide.
    #[arg(short, long, value_name = "SPAN", default_value = "1d", value_parser = span)]
    #[arg(help_heading = "Windows")]
    slide: Span,
    /// Begin with a window of one slide, and let windows grow until they are as long as --window says.
    #[arg(long, help_heading = "Windows")]
    growing: bool,
    /// End the last window a full slide after the one before it, and leave out the transactions behind it; without, a
    /// last window ends with the last day (with a slide of hours or minutes: with the last of these that has transactions).
    #[arg(long, help_heading = "Windows")]
    full_slides: bool,
}

/// Behaviour at a bad row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnBadRow {
    Stop,
    Skip,
}

/// Options of detecting clusters.
#[derive(Args)]
#[command(next_help_heading = "Detection")]
pub struct DetectionArguments {
    /// The share of its strength that a label keeps at a hop: above 0, up to 1.
    #[arg(long, value_name = "SHARE", default_value_t = Detection::default().attenuation)]
    attenuation: f64,
    /// Rounds of label propagation at most.
    #[arg(long, value_name = "N", default_value_t = Detection::default().rounds)]
    max_iterations: u32,
    /// Rounds at most, if labels continue from the window before.
    #[arg(long, value_name = "N", default_value_t = Detection::default().warm_rounds)]
    warm_iterations: u32,
    /// Members that a cluster has at least: 1 or more.
    #[arg(long, value_name = "N", default_value_t = Detection::default().min_size)]
    min_size: u32,
    /// Members that a cluster has at most.
    #[arg(long, value_name = "N", default_value_t = Detection::default().max_size)]
    max_size: u32,
    /// Find clusters around the known bad alone.
    #[arg(long)]
    seeded_only: bool,
    /// A vertex with more partners is a hub, and does not count as a partner in common.
    #[arg(long, value_name = "N", default_value_t = Detection::default().ties.hub_degree)]
    hub_degree: u32,
    /// Do not count partners in common.
    #[arg(long)]
    no_closure: bool,
    /// Draws orders and ties.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
}

impl DetectionArguments {
    /// Returns the options of the library.
    pub fn detection(&self) -> Detection {
        Detection {
            ties: TieRule { closure: !self.no_closure, hub_degree: self.hub_degree },
            attenuation: self.attenuation,
            rounds: self.max_iterations,
            warm_rounds: self.warm_iterations,
            min_size: self.min_size,
            max_size: self.max_size,
            unseeded: !self.seeded_only,
            schedule: Detection::default().schedule,
            seed: self.seed,
        }
    }
}

impl FeedArguments {
    /// Returns the options of the library; `follow` is the interval of polling.
    pub fn options(&self, follow: Option<Duration>) -> Result<FeedOptions, Failure> {
        let mapping = Mapping::read(&self.mapping)?;
        let shape = Shape::new(self.window, self.slide).map_err(|error| {
            Failure::refused(error.to_string(), "for example --window 30d --slide 1d")
        })?;
        let range = TimeRange::new(
            self.since.unwrap_or(TimeRange::ALL.from),
            self.before.unwrap_or(TimeRange::ALL.until),
        );
        if range.from >= range.until {
            let help = "--since is the first instant, and --before the first one after the last";
            return Err(Failure::refused("no time is between --since and --before", help));
        }
        if self.query.is_some() && self.postgres.is_none() && self.duckdb.is_none() {
            let help = "add --postgres URL or --duckdb FILE";
            return Err(Failure::refused("--query needs a database", help));
        }
        let sources = match (&self.postgres, &self.query) {
            (Some(server), Some(query)) if follow.is_none() => Sources::Query {
                server: server_address(server, self.password_file.as_deref())?,
                query: query.clone(),
            },
            (None, Some(query)) if follow.is_none() => {
                let file = self.duckdb.clone().unwrap_or_default();
                Sources::DuckDb { file, query: query.clone() }
            }
            (Some(_), _) | (_, Some(_)) => {
                let help = "ask again, with --resume, when there is more";
                return Err(Failure::refused("--follow watches folders, not a query", help));
            }
            _ if self.inputs.iter().any(|input| input == "-") => {
                return Err(Failure::refused(
                    "transactions are not read from standard input: they are read twice, first for a checksum",
                    "save them as a file, such as rows.csv, and name that; a file that is called `-` is ./-",
                ));
            }
            _ => Sources::Files(self.inputs.clone()),
        };
        Ok(FeedOptions {
            sources,
            reading: Reading { follow, skip_repeated: self.skip_repeated_files },
            mapping,
            shape: if self.growing { shape.growing() } else { shape },
            late: self.late,
            skip_bad_rows: self.skip_bad_rows || self.on_error == OnBadRow::Skip,
            skip_late_rows: self.skip_late_rows,
            longest_gap: self.longest_gap,
            range,
            full_slides: self.full_slides,
            from_scratch: false,
        })
    }

    /// Reads the text of the mapping.
    pub fn mapping_text(&self) -> Result<String, Failure> {
        let text = read_small_text(&self.mapping, LARGEST_TEXT, "a mapping");
        text.map_err(|error| match error.is_out_of_memory() {
            true => Failure::Read(error),
            false => Failure::refused(error.to_string(), "name a mapping with --mapping"),
        })
    }
}

/// Returns a server's address, with the password of a file.
pub fn server_address(address: &str, file: Option<&Path>) -> Result<String, Failure> {
    let Some(file) = file else { return Ok(address.to_owned()) };
    let text = read_small_text(file, LARGEST_TEXT, "a password on its first line")?;
    match text.lines().next().unwrap_or_default() {
        "" => Err(Failure::refused(
            format!("the first line of {} is empty", file.display()),
            "write the password there",
        )),
        password => Ok(with_password(address, password)),
    }
}

/// Parses an instant.
fn instant(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|error: ripplet::fraud::time::BadTime| error.to_string())
}

/// Parses a span of time.
pub fn span(text: &str) -> Result<Span, String> {
    text.parse().map_err(|error: ripplet::fraud::time::BadSpan| error.to_string())
}
