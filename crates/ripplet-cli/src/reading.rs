//! The arguments for an input, and loading of graphs with timing.

use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::message::counted;
use crate::output::named_input;
use crate::standard_streams;
use crate::standard_streams::is_standard;
use clap::{Args, ValueEnum};
use ripplet::graph::{
    BuildError, BuildOptions, Direction, Duplicates, Graph, SelfLoops, VertexId, VertexIds,
    WeightLedger, WeightLoss,
};
use ripplet::io::batch::{has_files, is_batch};
use ripplet::io::{
    Columns, Delimiter, Format, Header, IdKind, Place, ReadError, ReadOptions, ReadSummary,
    VertexList, check_address, read_vertex_list,
};
use ripplet::{Input, LoadOptions, Storage, StoredGraph};
use std::path::Path;
use std::time::Instant;

/// Options of reading edges from an input.
#[derive(Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadArguments {
    /// The input's format, if its name does not show it.
    #[arg(long, alias = "format", value_name = "FORMAT", value_parser = input_format)]
    from: Option<Format>,
    /// Edges have a direction (an .rg or .rgz knows).
    #[arg(long)]
    pub directed: bool,
    /// Edges have no direction, as is usual (a directed .rg, .rgz or .swarm is refused).
    #[arg(long, conflicts_with = "directed")]
    undirected: bool,
    /// Edges have weights; `communities`, `quality` and `draw` use those of an .rg or .rgz without it.
    ///
    /// The weight is the third name of --columns; else the column `weight`; else the only column with another
    /// known name, such as `amount` or `value`; else the third of three columns. docs/tables.md has the names.
    #[arg(long)]
    pub weighted: bool,
    /// Type of the ids in a text.
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Ids::Auto)]
    ids: Ids,
    /// The columns of a table, by name or by number from 1: SOURCE,TARGET, or with --weighted
    /// SOURCE,TARGET,WEIGHT.
    #[arg(long, value_name = "COLUMNS", value_parser = columns)]
    columns: Option<NamedColumns>,
    /// The first row of a text table names its columns.
    #[arg(long)]
    header: bool,
    /// The first row of a text table is an edge.
    #[arg(long, conflicts_with = "header")]
    no_header: bool,
    /// Separator of the fields of a text table: `tab`, `blanks`, or a character such as `;`.
    #[arg(long, value_name = "CHAR|tab|blanks", allow_hyphen_values = true)]
    delimiter: Option<Delimiter>,
    /// Take weights that change by more than 1 % as they become integers of 32 bits, which are refused
    /// otherwise.
    ///
    /// Weights keep their ratios to about nine digits of the largest one: amounts in cents are exact up to
    /// 42,949,672.95. What changes by more than one part in a million is counted on standard error.
    #[arg(long, requires = "weighted")]
    coarse_weights: bool,
}

/// Options of building a graph of an input's edges.
#[derive(Args, Default)]
#[command(next_help_heading = "Reading")]
pub struct BuildArguments {
    /// Keep edges from a vertex to itself, which are dropped otherwise.
    #[arg(long)]
    keep_loops: bool,
    /// Keep repeated edges, which are merged otherwise (their weights added).
    #[arg(long)]
    keep_duplicates: bool,
}

/// Columns that `--columns` names.
#[derive(Clone, Debug)]
struct NamedColumns {
    columns: Columns,
    /// Whether a third column is named, that of the weight.
    has_weight: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Ids {
    /// Integers if the first edge has integers, otherwise names
    Auto,
    /// Integers from 0 to 2^64 - 1
    Unsigned,
    /// Integers from -2^63 to 2^63 - 1
    Signed,
    /// Strings, whatever they look like
    Names,
}

/// A graph, and the seconds it took.
pub struct Loaded<G = Graph> {
    /// The graph.
    pub graph: G,
    /// Seconds to read the file.
    pub read: f64,
    /// Seconds to build the graph.
    pub build: f64,
    /// The report of the reader; `None` for a finished graph.
    pub summary: Option<ReadSummary>,
}

impl<G> Loaded<G> {
    /// Returns what was read, as a sentence.
    pub fn input(&self) -> Option<String> {
        self.summary.as_ref().map(ToString::to_string)
    }
}

/// Parses a value of `--from`.
fn input_format(name: &str) -> Result<Format, String> {
    Format::of_name(name).ok_or_else(|| format!("expected one of: {}", Format::names_read()))
}

/// Parses a value of `--to`.
pub fn output_format(name: &str) -> Result<Format, String> {
    Format::of_name(name).ok_or_else(|| format!("expected one of: {}", Format::names_written()))
}

/// Parses a value of `--to` for communities.
pub fn communities_format(name: &str) -> Result<Format, String> {
    let names = Format::names_of_communities;
    Format::of_name(name).ok_or_else(|| format!("expected one of: {}", names()))
}

/// Parses a value of `--to` for a table.
pub fn table_format(name: &str) -> Result<Format, String> {
    Format::of_name(name).ok_or_else(|| format!("expected one of: {}", Format::names_of_tables()))
}

/// Checks that at most one of a command's inputs comes from standard input.
pub fn check_standard_input(inputs: &[&Path]) -> Result<(), Failure> {
    if inputs.iter().filter(|path| is_standard(path)).count() > 1 {
        return Err(Failure::refused(
            "only one of the files can come from standard input",
            "name files for the others",
        ));
    }
    Ok(())
}

/// Reads the vertices of a graph that an option's file lists; `purpose` says what they are for, as in "vertices to
/// fix".
///
/// # Errors
/// If the file cannot be read, names a vertex that the graph does not have, or lists none.
pub fn read_list(
    path: &Path,
    option: &str,
    purpose: &str,
    ids: &VertexIds,
    console: &Console,
) -> Result<Vec<VertexId>, Failure> {
    Ok(list(path, false, option, purpose, ids, console)?.vertices)
}

/// Reads vertices as [`read_list`] does, each with its weight: that of the list's column `weight`, else 1.
///
/// # Errors
/// The errors of [`read_list`], or if a weight is none.
pub fn read_weighted_list(
    path: &Path,
    option: &str,
    purpose: &str,
    ids: &VertexIds,
    console: &Console,
) -> Result<Vec<(VertexId, f64)>, Failure> {
    let VertexList { vertices, weights, .. } = list(path, true, option, purpose, ids, console)?;
    let weights = weights.unwrap_or_else(|| vec![1.0; vertices.len()]);
    Ok(vertices.into_iter().zip(weights).collect())
}

fn list(
    path: &Path,
    weighted: bool,
    option: &str,
    purpose: &str,
    ids: &VertexIds,
    console: &Console,
) -> Result<VertexList, Failure> {
    console.stage(format!("reading {}", path.display()));
    let list = read_vertex_list(path, &ReadOptions { weighted, ..ReadOptions::default() }, ids)?;
    if list.vertices.is_empty() {
        return Err(Failure::refused(
            format!("{} has no vertices", named_input(path)),
            format!("list vertices {purpose}, or leave {option} out"),
        ));
    }
    let count = counted(list.vertices.len() as u64, "vertex", "vertices");
    let columns = match list.summary.is_plain() {
        true => String::new(),
        false => format!(": {}", list.summary),
    };
    console.say(&format!("read {count} {purpose} from {}{columns}", named_input(path)));
    Ok(list)
}

/// Refuses a batch for a command on a single graph; `does` says what the command does.
pub fn check_one_graph(path: &Path, read: &ReadOptions, does: &str) -> Result<(), Failure> {
    if is_standard(path) || !is_batch(path, read) {
        return Ok(());
    }
    let one = match (path.is_dir(), has_files(path)) {
        (true, true) => "name one of the files in the folder",
        (false, true) => "unpack the archive and name one of its files",
        _ => {
            "write the edges of one graph to a file of their own, such as a .csv, and name that: `ripplet betweenness IN \
             --edges -o edges.csv` lists those of all graphs, with a column `graph`"
        }
    };
    Err(Failure::refused(format!("{} holds many graphs, and {does}", path.display()), one))
}

impl ReadArguments {
    /// Returns the options for `path`, with the handling of loops from `build`.
    pub fn options(&self, path: &Path, build: &BuildArguments) -> Result<LoadOptions, Failure> {
        check_address(path)?;
        if is_standard(path) {
            let closed = |error| Failure::Read(ReadError::io(path, Place::File, error));
            standard_streams::check_input().map_err(closed)?;
            if let Some(format) = self.from.filter(|format| format.is_finished_graph()) {
                return Err(Failure::refused(
                    format!("an .{} file is not read from standard input", format.name()),
                    format!(
                        "save it as a file, and give the name of that, which ends in .{}",
                        format.name()
                    ),
                ));
            }
        }
        let columns = match &self.columns {
            Some(named) if named.has_weight && !self.weighted => {
                return Err(Failure::refused(
                    format!(
                        "--columns names the weight `{}`, but edges have none without --weighted",
                        named.columns.weight
                    ),
                    "add --weighted, or name two columns",
                ));
            }
            Some(named) => named.columns.clone(),
            None => Columns::default(),
        };
        let options = LoadOptions {
            read: ReadOptions {
                format: self.from,
                weighted: self.weighted,
                ids: self.ids.into(),
                columns,
                named_ends: self.columns.is_some(),
                header: self.header(),
                delimiter: self.delimiter,
                ..ReadOptions::default()
            },
            build: BuildOptions {
                direction: if self.directed { Direction::Directed } else { Direction::Undirected },
                self_loops: if build.keep_loops { SelfLoops::Keep } else { SelfLoops::Drop },
                duplicates: if build.keep_duplicates {
                    Duplicates::Keep
                } else {
                    Duplicates::Merge
                },
                weights: WeightLedger::new(self.coarse_weights),
                ..BuildOptions::default()
            },
            undirected_only: self.undirected,
        };
        if options.format_of(path).is_some_and(Format::is_finished_graph) {
            self.check_finished(path, build)?;
        }
        Ok(options)
    }

    fn header(&self) -> Header {
        match (self.header, self.no_header) {
            (true, _) => Header::Present,
            (_, true) => Header::Absent,
            (false, false) => Header::Auto,
        }
    }

    /// Refuses options on building for a finished graph, which would be ignored.
    fn check_finished(&self, path: &Path, build: &BuildArguments) -> Result<(), Failure> {
        let flags = [
            ("--ids", self.ids != Ids::Auto),
            ("--columns", self.columns.is_some()),
            ("--header", self.header),
            ("--no-header", self.no_header),
            ("--delimiter", self.delimiter.is_some()),
            ("--keep-loops", build.keep_loops),
            ("--keep-duplicates", build.keep_duplicates),
            ("--coarse-weights", self.coarse_weights),
        ];
        match flags.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(Failure::refused(
                format!("{} is a finished graph: {flag} comes too late", path.display()),
                format!("leave {flag} out here, and give it to the `ripplet convert` that made it"),
            )),
        }
    }
}

/// Loads a graph and reports progress; compressed lists are decoded.
pub fn load(path: &Path, options: &LoadOptions, console: &Console) -> Result<Loaded, Failure> {
    load_with(path, options, || options.read(path), |input| options.build(input), console)
}

/// Loads a graph like [`load`], with its lists stored as `storage` says, by default as in the file.
pub fn load_stored(
    path: &Path,
    options: &LoadOptions,
    storage: Option<Storage>,
    console: &Console,
) -> Result<Loaded<StoredGraph>, Failure> {
    load_with(path, options, || options.read(path), |input| options.store(input, storage), console)
}

/// Prints what was read.
pub fn report_summary(
    path: &Path,
    options: &LoadOptions,
    summary: &ReadSummary,
    console: &Console,
) {
    console.say(&summary.to_string());
    summary.notes.iter().for_each(|note| console.remark(note));
    let is_dropped = options.build.direction == Direction::Undirected && !options.undirected_only;
    if summary.directed && is_dropped {
        let path = named_input(path);
        console
            .remark(&format!("{path} says that its edges have a direction: --directed keeps it"));
    }
}

/// Calls `read`, and `build` with its result. `path` and the notes of `options` are printed.
pub fn load_with<G>(
    path: &Path,
    options: &LoadOptions,
    read: impl FnOnce() -> Result<Input, ReadError>,
    build: impl FnOnce(Input) -> Result<G, BuildError>,
    console: &Console,
) -> Result<Loaded<G>, Failure> {
    console.stage(format!("reading {}", named_input(path)));
    let start = Instant::now();
    let input = read()?;
    let read = start.elapsed().as_secs_f64();
    interrupt::check()?;
    let summary = input.summary().cloned();
    if let Some(summary) = &summary {
        report_summary(path, options, summary, console);
    }
    console.stage("building the graph");
    let start = Instant::now();
    let graph = build(input)?;
    let build = start.elapsed().as_secs_f64();
    interrupt::check()?;
    report_weight_loss(&options.build.weights.loss(), console);
    Ok(Loaded { graph, read, build, summary })
}

/// Notes what weights lost as they became integers, also with `--quiet`.
pub fn report_weight_loss(loss: &WeightLoss, console: &Console) {
    if loss.changed > 0 {
        console.note(&loss.to_string());
    }
}

fn columns(text: &str) -> Result<NamedColumns, String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    match *fields {
        [source, target] | [source, target, _] if source.is_empty() || target.is_empty() => {
            Err("a column's name is empty".into())
        }
        [source, target] => {
            let (source, target) = (source.into(), target.into());
            let columns = Columns { source, target, ..Columns::default() };
            Ok(NamedColumns { columns, has_weight: false })
        }
        [source, target, weight] => {
            let (source, target, weight) = (source.into(), target.into(), weight.into());
            let columns = Columns { source, target, weight, ..Columns::default() };
            Ok(NamedColumns { columns, has_weight: true })
        }
        _ => Err("expected SOURCE,TARGET or SOURCE,TARGET,WEIGHT".into()),
    }
}

impl From<Ids> for IdKind {
    fn from(ids: Ids) -> IdKind {
        match ids {
            Ids::Auto => IdKind::Auto,
            Ids::Unsigned => IdKind::Unsigned,
            Ids::Signed => IdKind::Signed,
            Ids::Names => IdKind::Names,
        }
    }
}
