//! `ripplet quality`: measures of communities by the graph and against a truth.

use crate::console::Console;
use crate::failure::Failure;
use crate::memory::{MemoryArguments, OF_A_GRAPH, OF_A_LIST, OF_A_MEASURE, within};
use crate::message::counted;
use crate::named_cover::{Form, LabelColumns, NamedCover, label_columns, say_columns};
use crate::output::{check_output, json, print, written};
use crate::reading::{
    BuildArguments, ReadArguments, check_one_graph, check_standard_input, load_stored,
};
use crate::standard_streams::is_standard;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::graph::{GraphView, Names, VertexIds, WeightScale};
use ripplet::io::write::{self, ColumnData, VertexColumn};
use ripplet::lp::quality::{self, Agreement, CommunityQuality, Cover, OverlapAgreement, Quality};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Measure communities: modularity, coverage, sizes, and agreement with a truth, as JSON.
///
/// LABELS has a line or a row for each vertex of INPUT and community it is in, its id and the community, as
/// `ripplet communities` writes it; the communities may be called anything. A vertex may have several, or none.
#[derive(Args)]
pub struct Arguments {
    /// The graph.
    input: PathBuf,
    /// The communities.
    labels: PathBuf,
    /// The true communities, as a file like LABELS: adds how far both agree.
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Meaning of a line of LABELS.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Auto)]
    labels_form: Form,
    /// Meaning of a line of the truth.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Auto, requires = "truth")]
    truth_form: Form,
    /// The columns of ids and of communities in LABELS, by name or by number from 1 [default: those with known names,
    /// else the only two].
    #[arg(long, value_name = "ID,LABEL", value_parser = label_columns)]
    labels_columns: Option<LabelColumns>,
    /// The columns of ids and of communities in the truth.
    #[arg(long, value_name = "ID,LABEL", value_parser = label_columns, requires = "truth")]
    truth_columns: Option<LabelColumns>,
    /// Write figures of each community to this table (.tsv, .csv, .jsonl, .parquet, .arrow): size, edges, conductance,
    /// density, modularity, triangles, whether it is connected.
    #[arg(long, value_name = "FILE")]
    per_community: Option<PathBuf>,
    /// Factor of the weight expected by chance in the modularity.
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
    #[command(flatten)]
    memory: MemoryArguments,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// The printed measures.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    quality: Option<Quality>,
    #[serde(flatten)]
    overlapping: Option<Overlapping>,
    /// Vertices without a community.
    unassigned: u64,
    /// The comparison with the truth.
    compared: Option<Compared>,
    /// The agreement of partitions with the truth.
    #[serde(flatten)]
    agreement: Option<Agreement>,
    /// The agreement of overlapping communities with the truth.
    #[serde(flatten)]
    overlap: Option<OverlapAgreement>,
}

/// Communities of which some share vertices: modularity is not defined for them.
#[derive(Serialize)]
struct Overlapping {
    communities: u64,
    memberships: u64,
    /// The most communities that a vertex is in.
    most_of_a_vertex: u64,
}

/// Numbers of vertices with a community in both files, and in one of them.
#[derive(Serialize)]
struct Compared {
    vertices: u64,
    /// Vertices with a community in LABELS alone.
    without_truth: u64,
    /// Vertices with a community in the truth alone.
    without_label: u64,
}

/// Measures communities.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { input, labels, truth, resolution, per_community, .. } = arguments;
    let files = [Some(input), Some(labels), truth.as_ref()];
    let files: Vec<&Path> = files.into_iter().flatten().map(|path| path.as_path()).collect();
    check_standard_input(&files)?;
    if let Some(table) = per_community {
        let no_names = VertexIds::Consecutive { first: 0, count: 0 };
        if is_standard(table) {
            return Err(Failure::refused(
                "--per-community - asks for standard output, to which the measures are printed",
                "name a file, such as --per-community figures.csv",
            ));
        }
        write::check_community_table(table, &no_names).map_err(Failure::Place)?;
        check_output(table, &files)?;
    }
    let options = arguments.reading.options(input, &arguments.building)?;
    check_one_graph(input, &options.read, "`ripplet quality` measures the communities of one")?;
    arguments.threads.start()?;
    let limit = arguments.memory.host_memory;
    let reading = format!("reading {}", input.display());
    let load = || load_stored(input, &options, None, console);
    let stored = within(limit, &reading, OF_A_GRAPH, load)?.graph;
    let graph = stored.view();
    let read = |path: &Path, form: Form, columns: &Option<LabelColumns>| {
        let what = format!("reading {}", path.display());
        console.stage(&*what);
        let read = || NamedCover::read(path, form, columns.as_ref(), graph.ids());
        let read = within(limit, &what, OF_A_LIST, read)?;
        say_columns(path, &read.summary, console);
        Ok::<_, Failure>(read)
    };
    let labels = read(labels, arguments.labels_form, &arguments.labels_columns)?;
    let truth = truth.as_ref();
    let truth = truth.map(|truth| read(truth, arguments.truth_form, &arguments.truth_columns));
    let truth = truth.transpose()?;
    console.stage("measuring");
    let of_truth = truth.as_ref().map(|truth| &truth.cover);
    let measure = || Report::of(graph, &labels.cover, of_truth, *resolution);
    let report = within(limit, "measuring", OF_A_MEASURE, measure)?;
    if report.unassigned > 0 {
        let (some, all) = (report.unassigned, graph.vertices());
        let have = if some == 1 { "has" } else { "have" };
        let vertices = counted(u64::from(all), "vertex", "vertices");
        console.remark(&format!("{some} of {vertices} {have} no community in the labels"));
    }
    if let Some(table) = per_community {
        console.stage("measuring each community");
        let measure = || Ok(quality::per_community(graph, &labels.cover, *resolution)?);
        let figures = within(limit, "measuring each community", OF_A_MEASURE, measure)?;
        console.stage(format!("writing {}", table.display()));
        write_figures(table, &labels.names, &figures, graph.weight_scale())?;
    }
    if let Some(overlap) = &report.overlap
        && overlap.omega.is_none()
    {
        console.note("many vertices are in many large communities, for which the omega index takes too long: it is null");
    }
    print(&json(&report))
}

impl Report {
    fn of(
        graph: GraphView<'_>,
        labels: &Cover,
        truth: Option<&Cover>,
        resolution: f64,
    ) -> Result<Report, Failure> {
        let partition = labels.is_disjoint().then(|| labels.labels()).transpose()?;
        let quality = partition.as_ref();
        let quality = quality.map(|labels| Quality::at_resolution(graph, labels, resolution));
        let sizes = || (0..labels.len()).map(|community| labels.members(community).len() as u64);
        let homes = |vertex| labels.communities_of(vertex).len() as u64;
        let overlapping = partition.is_none().then(|| Overlapping {
            communities: sizes().filter(|&size| size > 0).count() as u64,
            memberships: sizes().sum(),
            most_of_a_vertex: (0..labels.vertices()).map(homes).max().unwrap_or(0),
        });
        let unassigned = u64::from(labels.vertices()) - labels.covered();
        let mut report = Report {
            quality: quality.transpose()?,
            overlapping,
            unassigned,
            compared: None,
            agreement: None,
            overlap: None,
        };
        let Some(truth) = truth else { return Ok(report) };
        let both = labels.covered_by_both(truth);
        report.compared = Some(Compared {
            vertices: both,
            without_truth: labels.covered() - both,
            without_label: truth.covered() - both,
        });
        if both == 0 {
            return Err(Failure::refused(
                "no vertex has a community both in the labels and in the truth: there is nothing to compare",
                "check that both files are about this graph",
            ));
        }
        if let Some(partition) = partition.filter(|_| truth.is_disjoint()) {
            report.agreement = Some(quality::agreement(&partition, &truth.labels()?)?);
        }
        report.overlap = Some(quality::overlap_agreement(labels, truth)?);
        Ok(report)
    }
}

/// Writes the figures of communities that have members, in the order of their names.
fn write_figures(
    path: &Path,
    names: &[String],
    figures: &[CommunityQuality],
    scale: WeightScale,
) -> Result<(), Failure> {
    let mut rows: Vec<(&String, &CommunityQuality)> =
        names.iter().zip(figures).filter(|(_, figures)| figures.size > 0).collect();
    // Names that are integers stay integers, so that the table joins with the one of the communities.
    let integers: Option<Vec<u64>> = rows.iter().map(|(name, _)| as_integer(name)).collect();
    let ids = match integers {
        Some(_) => {
            rows.sort_by_key(|(name, _)| as_integer(name));
            let sorted: Option<Vec<u64>> = rows.iter().map(|(name, _)| as_integer(name)).collect();
            VertexIds::Unsigned(sorted.unwrap_or_default().into())
        }
        None => {
            rows.sort_by_key(|(name, _)| *name);
            VertexIds::Names(Names::new(rows.iter().map(|(name, _)| name.as_str())))
        }
    };
    fn of<T>(
        rows: &[(&String, &CommunityQuality)],
        figure: impl Fn(&CommunityQuality) -> T,
    ) -> Vec<T> {
        rows.iter().map(|(_, figures)| figure(figures)).collect()
    }
    let (sizes, inner) = (of(&rows, |f| f.size), of(&rows, |f| f.inner_edges));
    let outer = of(&rows, |f| f.outer_edges);
    let connected = of(&rows, |f| f.connected);
    let floats = [
        ("inner_weight", of(&rows, |f| scale.rounded(f.inner_weight))),
        ("outer_weight", of(&rows, |f| scale.rounded(f.outer_weight))),
        ("conductance", of(&rows, |f| f.conductance)),
        ("density", of(&rows, |f| f.density)),
        ("modularity", of(&rows, |f| f.modularity)),
        ("triangle_participation", of(&rows, |f| f.triangle_participation)),
    ];
    let column = |name, values| VertexColumn { name, len: 1, values };
    let mut columns = vec![
        column("size", ColumnData::U32(&sizes)),
        column("inner_edges", ColumnData::U64(&inner)),
        column("outer_edges", ColumnData::U64(&outer)),
    ];
    columns.extend(floats.iter().map(|(name, values)| column(name, ColumnData::F64(values))));
    columns.push(column("connected", ColumnData::Bool(&connected)));
    written(write::write_community_table(path, &ids, &columns))
}

/// Returns the integer whose text is the name.
fn as_integer(name: &str) -> Option<u64> {
    name.parse().ok().filter(|number: &u64| number.to_string() == name)
}

fn resolution(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a number, 0 or above".into())
}
