//! The flags of `ripplet communities`.

use super::checkpoint::CheckpointArguments;
use super::file_arguments::FileArguments;
use super::refine_arguments::RefineArguments;
use super::rows::Names;
use crate::batch::BatchArguments;
use crate::device::DeviceArguments;
use crate::estimate::EstimateArguments;
use crate::named_cover::{LabelColumns, label_columns};
use crate::ranks::RanksArguments;
use crate::reading::{BuildArguments, ReadArguments, communities_format};
use crate::seed::seed;
use crate::size::Size;
use crate::storage::StorageArguments;
use crate::threads::ThreadArguments;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use ripplet::io::Format;
use ripplet::lp::counters::BadCounter;
use ripplet::lp::programs::{Gamma, Guard, Lpa, Seeded, Slpa};
use ripplet::lp::refine::MergeShare;
use ripplet::lp::stop::{DEFAULT_ROUNDS, DEFAULT_TOLERANCE};
use ripplet::lp::{Counter, DEFAULT_PHASES, RankLabels, Schedule};
use ripplet::programs::{self, ProgramName};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Find the communities of a graph, or of each graph of a batch.
///
/// INPUT is an edge list (.txt, .el, .tsv, .csv, .jsonl), LDBC (.e with its .v beside it), MatrixMarket
/// (.mtx), METIS (.graph), WebGraph's BV (.graph with its .properties beside it), GraphML
/// (.graphml), GEXF (.gexf), GML (.gml), Pajek (.net), node-link JSON (.json), Parquet, Arrow, or ripplet's own .rg and .rgz; the text ones also as .gz or .zst; `-` is standard
/// input. A pattern in quotes, 'days/*.csv', reads all tables that match as one. A batch is a folder or an archive of such files, a TU data set,
/// a .swarm or, with --batch, a table.
///
/// OUT has one line or row per vertex, its id and its community, which is called by the id of one of
/// its vertices; `--program slpa` and `seeded` add a strength, and a vertex may have several rows or
/// none; of a batch, the first column is `graph`. It is .txt, .tsv, .csv or .jsonl (each also .gz or .zst), .parquet or .arrow; `-` is
/// standard output. As .graphml, .gexf, .gml, .json (node-link) or .dot (each also .gz or .zst), it is the graph, and the
/// community and degree are attributes of its vertices. A name that ends in / is that of a folder: each rank writes its part of the table there, as .parquet or as
/// --to says, and manifest.json comes last. OUT may be an address in object storage (s3://, gs://, az://). It appears whole or not at all.
#[derive(Args)]
pub struct Arguments {
    /// The graph.
    pub input: PathBuf,
    /// The file, the folder (OUT/) or the object (s3://BUCKET/KEY) for the communities.
    #[arg(short, long, value_name = "OUT", required_unless_present_any = ["estimate", "top"])]
    pub output: Option<PathBuf>,
    /// OUT's format, if its name does not show it: edgelist (.txt), csv, tsv, jsonl, parquet, arrow, graphml, gexf, gml,
    /// json, dot.
    #[arg(long, value_name = "FORMAT", value_parser = communities_format, help_heading = "Output")]
    pub to: Option<Format>,
    #[command(flatten)]
    pub choices: ChoiceArguments,
    #[command(flatten)]
    pub parameters: ParameterArguments,
    #[command(flatten)]
    pub refine: RefineArguments,
    #[command(flatten)]
    pub file: FileArguments,
    #[command(flatten)]
    pub stop: StopArguments,
    #[command(flatten)]
    pub reading: ReadArguments,
    #[command(flatten)]
    pub building: BuildArguments,
    #[command(flatten)]
    pub batch: BatchArguments,
    /// Labels to begin with: a file or a folder as OUT is, with one community per vertex.
    ///
    /// It is .txt, .tsv, .csv, .jsonl, .parquet or .arrow, or several files by a pattern in quotes. Vertices without a row begin without a label. If a label is no vertex of the graph, as with --names number, all
    /// are names, and each is a community.
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub labels: Option<PathBuf>,
    /// The columns of ids and of labels in --labels, by name or by number from 1 [default: those with known names, else
    /// the only two].
    #[arg(long, value_name = "ID,LABEL", value_parser = label_columns, requires = "labels", help_heading = "Reading")]
    pub labels_columns: Option<LabelColumns>,
    /// Names of communities.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Names::Vertex, help_heading = "Output")]
    pub names: Names,
    /// Leave the members of communities with fewer than N vertices out of OUT.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Output")]
    pub min_size: Option<u32>,
    /// Join communities smaller than --min-size to the neighbour they have most edges to, the smallest
    /// first; those without a neighbour are left out.
    #[arg(long, requires = "min_size", help_heading = "Output")]
    pub join_small: bool,
    /// Print a table of the N largest communities: size, inner edges, conductance, three members.
    ///
    /// It goes to standard output, or to standard error if OUT is standard output.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Output")]
    pub top: Option<u32>,
    /// Write the columns that a program of your own wrote, as a table with one row per vertex.
    #[arg(long, value_name = "FILE", requires = "program_file", help_heading = "Output")]
    pub columns_out: Option<PathBuf>,
    /// Before the run, test the promises of the program, such as `score_bound`, on a sample of
    /// vertices; a broken promise ends the command.
    #[arg(long, help_heading = "A program of your own")]
    pub check_program: bool,
    /// Write figures of the run (rounds, seconds, bytes, modularity) to this JSON file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub stats: Option<PathBuf>,
    #[command(flatten)]
    pub checkpoint: CheckpointArguments,
    #[command(flatten)]
    pub estimate: EstimateArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub ranks: RanksArguments,
    /// The vertices whose labels each process of several has in the rounds.
    ///
    /// With ghosts, it has those of its own vertices and of their neighbours, and sends a changed label only to the processes
    /// that have a neighbour. By default, they are chosen if that is fewer bytes by an estimate. The communities are the same.
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value_t = RankLabelsChoice::Auto,
        help_heading = "Several machines"
    )]
    pub rank_labels: RankLabelsChoice,
}

/// The vertices whose labels each rank has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RankLabelsChoice {
    /// Ghosts if they need fewer bytes of messages, else all
    Auto,
    /// All vertices
    All,
    /// Its own vertices and their neighbours
    Ghosts,
}

impl From<RankLabelsChoice> for RankLabels {
    fn from(choice: RankLabelsChoice) -> RankLabels {
        match choice {
            RankLabelsChoice::Auto => RankLabels::Auto,
            RankLabelsChoice::All => RankLabels::All,
            RankLabelsChoice::Ghosts => RankLabels::Ghosts,
        }
    }
}

/// Choices of a run: program, schedule, counter, storage, device.
#[derive(Args)]
#[command(next_help_heading = "Choices")]
pub struct ChoiceArguments {
    /// The program: the weight of a vote and the score of a label [default: lpa].
    #[arg(long, value_parser = program_names())]
    pub program: Option<ProgramName>,
    /// The schedule: the vertices that update at the same time [default: phased; sync for cdlp].
    #[arg(long, value_parser = schedules())]
    pub schedule: Option<Schedule>,
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=4096),
        help = format!(
            "Phases of a round of the phased schedule [default: {} for lpa, {DEFAULT_PHASES} for others]",
            Lpa::PHASES
        ),
        long_help = format!(
            "Phases of a round of the phased schedule: more need fewer scans and more barriers \
             [default: {} for lpa, {DEFAULT_PHASES} for others]",
            Lpa::PHASES
        )
    )]
    pub phases: Option<u32>,
    /// The counter of a vertex's votes: `exact`; or by a sketch, `mg:K` (Misra-Gries, K slots from 1
    /// to 32) or `bm` (Boyer-Moore, one slot), with `:single` for one scan, `:one` for one sketch a
    /// vertex and `:first` to begin with its first arc; or `auto`: exact, or mg:8 where exact does not
    /// fit the memory [default: exact].
    #[arg(long, value_name = "COUNTER", value_parser = counter)]
    pub counter: Option<CounterChoice>,
    /// In every Nth round of the async schedule, from the first on, vertices may only take smaller
    /// labels, which parts neighbours that swap theirs.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..).try_map(NonZeroU32::try_from)
    )]
    pub pick_less: Option<NonZeroU32>,
    /// A published algorithm as it was: its counter, schedule, guard and rules to stop.
    #[arg(
        long,
        value_enum,
        conflicts_with_all = [
            "program", "schedule", "phases", "counter", "pick_less", "guard", "program_file",
            "iterations", "max_iterations", "tolerance",
        ]
    )]
    pub preset: Option<PresetName>,
    #[command(flatten)]
    pub storage: StorageArguments,
    #[command(flatten)]
    pub device: DeviceArguments,
    /// Refuse a run whose plan (see --estimate) needs more memory than this: 8GiB, 500MB.
    ///
    /// Reading and building the graph are held to it as well, as they go (but not to less than
    /// 1 MiB; mapped files and the threads' stacks do not count). On a GPU, a mapped file for which it has
    /// no room is read as it is needed, which is slower.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub host_memory: Option<Size>,
    /// Keep communities whose members are not connected; otherwise each of their parts is a community.
    #[arg(long)]
    pub keep_disconnected: bool,
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = merge_choice,
        help = format!(
            "At the end, let a community join the neighbouring one with most of its votes, if this one has \
             at least this share of them and more than by chance: from 0 (merge most) to 1; or off \
             [default: {:.4} for lpa with a guard and without --labels, otherwise off]",
            MergeShare::default().value()
        )
    )]
    pub merge: Option<MergeChoice>,
    /// The seed of all random draws.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
}

/// Parameters of single programs.
#[derive(Args)]
#[command(next_help_heading = "Parameters of programs")]
pub struct ParameterArguments {
    #[arg(
        long,
        value_name = "G",
        value_parser = programs::guard,
        allow_negative_numbers = true,
        help = parameter_help("guard")
    )]
    pub guard: Option<Guard>,
    #[arg(
        long,
        value_name = "G",
        value_parser = programs::gamma,
        allow_negative_numbers = true,
        help = parameter_help("gamma")
    )]
    pub gamma: Option<Gamma>,
    /// llp: try gamma 1, 1/2, … 1/2^N and 0, and keep the communities of the highest modularity.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(0..=16),
        conflicts_with = "gamma"
    )]
    pub sweep: Option<u32>,
    /// llp: write the order of the vertices that the sweep finds (rows of `id` and `place`).
    #[arg(long, value_name = "FILE", requires = "sweep")]
    pub order: Option<PathBuf>,
    #[arg(
        long,
        value_name = "N",
        value_parser = programs::memory,
        allow_negative_numbers = true,
        help = parameter_help("memory")
    )]
    pub memory: Option<Slpa>,
    #[arg(
        long,
        value_name = "F",
        value_parser = programs::share,
        allow_negative_numbers = true,
        help = parameter_help("threshold")
    )]
    pub threshold: Option<f64>,
    /// seeded: the vertices whose cluster is known: `id [cluster [strength]]` a line, or a table
    /// with columns of these names.
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// seeded: the columns of ids and of clusters in the seeds, by name or by number from 1 [default: those with known
    /// names, else the first two].
    #[arg(long, value_name = "ID,LABEL", value_parser = label_columns)]
    pub seeds_columns: Option<LabelColumns>,
    #[arg(
        long,
        value_name = "F",
        allow_negative_numbers = true,
        help = parameter_help("attenuation")
    )]
    pub attenuation: Option<f64>,
    /// seeded: seeds only begin with their clusters, and may be won over.
    #[arg(long)]
    pub loose_seeds: bool,
    /// seeded: count seeds that are no vertices of the graph instead of refusing them.
    #[arg(long)]
    pub skip_unknown_seeds: bool,
}

/// When it is enough.
#[derive(Args)]
#[command(next_help_heading = "Stopping")]
pub struct StopArguments {
    /// Do exactly N rounds, unless nothing would change [default: 10 for cdlp, 40 for slpa].
    #[arg(long, value_name = "N", conflicts_with_all = ["max_iterations", "tolerance"])]
    pub iterations: Option<u32>,
    #[arg(
        long,
        value_name = "N",
        help = format!("Do at most N rounds [default: {DEFAULT_ROUNDS}, {} for seeded]", Seeded::ROUNDS)
    )]
    pub max_iterations: Option<u32>,
    #[arg(
        long,
        value_name = "F",
        value_parser = programs::share,
        allow_negative_numbers = true,
        help = format!(
            "Stop when at most this share of the vertices changed in a round [default: {} for lpa, \
             none for cdlp, seeded and slpa, {DEFAULT_TOLERANCE} for others]",
            Lpa::TOLERANCE
        )
    )]
    pub tolerance: Option<f64>,
}

/// Reads a schedule by its name.
fn schedules() -> impl TypedValueParser<Value = Schedule> {
    let value = |of: Schedule| PossibleValue::new(of.name()).help(of.summary());
    let names = PossibleValuesParser::new(Schedule::NAMED.map(value));
    // The parser passes no other name on.
    names.map(|name| Schedule::named(&name).unwrap_or_default())
}

/// Whether communities merge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MergeChoice {
    /// They do not.
    Off,
    /// At this share.
    At(MergeShare),
}

/// Reads whether communities merge.
fn merge_choice(text: &str) -> Result<MergeChoice, String> {
    if text == "off" {
        return Ok(MergeChoice::Off);
    }
    let share = text.parse().map_err(|_| "expected a number from 0 to 1, or off")?;
    MergeShare::new(share).map(MergeChoice::At).map_err(|error| error.to_string())
}

/// A counter, or how to find one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterChoice {
    /// Exact if that fits the memory, and otherwise eight slots.
    Auto,
    /// This one.
    This(Counter),
}

/// The published algorithms by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetName {
    /// νMG8-LPA (Sahu, 2024): eight slots, every eighth round pick-less, 5 % may change, 20 rounds
    NuMg8,
    /// νBM-LPA: the same with one slot
    NuBm,
}

fn counter(text: &str) -> Result<CounterChoice, String> {
    if text == "auto" {
        return Ok(CounterChoice::Auto);
    }
    text.parse().map(CounterChoice::This).map_err(|error| match error {
        BadCounter::Slots(_) => error.to_string(),
        // The library has no `auto`: the command chooses.
        BadCounter::Text(_) => error.to_string().replacen("expected", "expected auto,", 1),
    })
}

/// Returns the parser of `--program`.
fn program_names() -> impl TypedValueParser<Value = ProgramName> {
    let values = ProgramName::ALL.map(|name| PossibleValue::new(name.as_str()).help(name.help()));
    PossibleValuesParser::new(values).try_map(|text| text.parse::<ProgramName>())
}

/// Returns the help of a program's parameter: the program, what it does, its default.
fn parameter_help(parameter: &str) -> String {
    ProgramName::with_parameter(parameter).map_or_else(String::new, |(program, parameter)| {
        format!("{program}: {} [default: {}]", parameter.help, parameter.default)
    })
}
