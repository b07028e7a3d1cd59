//! `ripplet draw`: a picture of communities.

use crate::console::Console;
use crate::failure::Failure;
use crate::memory::{MemoryArguments, OF_A_GRAPH, OF_A_LIST, within};
use crate::message::counted;
use crate::named_cover::{Form, LabelColumns, NamedCover, label_columns, say_columns};
use crate::output::{check_not_folder, check_place, written};
use crate::reading::{
    BuildArguments, ReadArguments, check_one_graph, check_standard_input, load_stored,
};
use crate::standard_streams::is_standard;
use crate::threads::ThreadArguments;
use clap::{Args, ValueEnum};
use ripplet::draw::{DrawOptions, draw, write_html, write_svg};
use ripplet::graph::VertexIds;
use std::path::{Path, PathBuf};

/// Draw communities: circles for communities, lines for the edges between them.
///
/// COMMUNITIES has a line or a row for each vertex of GRAPH, its id and its community, as `ripplet
/// communities` writes it. A circle's area is its community's number of members, a line's width
/// grows with the weight of the edges. In a page (.html) a click opens a community down to its
/// members; the file needs no network.
#[derive(Args)]
pub struct Arguments {
    /// The graph.
    #[arg(value_name = "GRAPH")]
    input: PathBuf,
    /// The communities.
    communities: PathBuf,
    /// Meaning of a line of COMMUNITIES.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Auto)]
    labels_form: Form,
    /// The columns of ids and of communities in COMMUNITIES, by name or by number from 1 [default: those with known
    /// names, else the only two].
    #[arg(long, value_name = "ID,LABEL", value_parser = label_columns)]
    labels_columns: Option<LabelColumns>,
    /// The picture: .html or .svg (- is standard output, with --to).
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The picture's kind, if its name does not show it.
    #[arg(long = "to", value_name = "KIND", value_enum)]
    kind: Option<Kind>,
    /// Number of communities that are drawn, the largest first.
    #[arg(long, value_name = "N", default_value_t = DrawOptions::default().communities, value_parser = one_at_least)]
    largest: usize,
    /// Number of members that an opened community shows, those with the most edges inside first.
    #[arg(long, value_name = "N", default_value_t = DrawOptions::default().members)]
    members: usize,
    /// The title [default: the graph's file name].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    reading: ReadArguments,
    #[command(flatten)]
    building: BuildArguments,
    #[command(flatten)]
    memory: MemoryArguments,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A page that opens communities at a click
    Html,
    /// One static picture
    Svg,
}

impl Kind {
    /// Returns the kind that a file's name implies.
    fn of_path(path: &Path) -> Option<Kind> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "html" | "htm" => Some(Kind::Html),
            "svg" => Some(Kind::Svg),
            _ => None,
        }
    }
}

/// Draws communities.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { input, communities, output, .. } = arguments;
    let named = Kind::of_path(output);
    if let (Some(asked), Some(named)) = (arguments.kind, named)
        && asked != named
    {
        return Err(Failure::refused(
            format!("--to asks for another kind of picture than {} names", output.display()),
            "leave --to out, or name the output as the kind",
        ));
    }
    check_not_folder(output)?;
    let kind = arguments.kind.or(named).ok_or_else(|| {
        Failure::refused(
            format!("the name of the output {} does not show its format", output.display()),
            "name it .html or .svg, or add --to html or --to svg",
        )
    })?;
    check_standard_input(&[input, communities])?;
    check_place(output, &[input, communities])?;
    let read = arguments.reading.options(input, &arguments.building)?;
    check_one_graph(input, &read.read, "`ripplet draw` draws one")?;
    arguments.threads.start()?;
    let limit = arguments.memory.host_memory;
    let reading = format!("reading {}", input.display());
    let load = || load_stored(input, &read, None, console);
    let stored = within(limit, &reading, OF_A_GRAPH, load)?.graph;
    let graph = stored.view();
    let reading = format!("reading {}", communities.display());
    console.stage(&*reading);
    let read = || {
        let columns = arguments.labels_columns.as_ref();
        NamedCover::read(communities, arguments.labels_form, columns, graph.ids())
    };
    let read = within(limit, &reading, OF_A_LIST, read)?;
    say_columns(communities, &read.summary, console);
    let groups = numbers_of(communities, &read, graph.ids())?;
    console.stage("drawing");
    let options = DrawOptions {
        communities: arguments.largest,
        members: arguments.members,
        title: arguments.title.clone().unwrap_or_else(|| title_of(input)),
    };
    let picture = draw(graph, &groups, &options)?.with_names(&read.names);
    console.stage(format!("writing {}", output.display()));
    if is_standard(output) {
        console.close();
    }
    written(match kind {
        Kind::Html => write_html(output, &picture),
        Kind::Svg => write_svg(output, &picture),
    })?;
    let shown = picture.communities();
    let place =
        if is_standard(output) { String::new() } else { format!("; see {}", output.display()) };
    let outside = match shown.unassigned {
        0 => String::new(),
        1 => ", without the vertex that is in none".into(),
        count => format!(", without the {count} vertices that are in none"),
    };
    let (drawn, total) = (shown.communities.len() as u64, u64::from(shown.total));
    let drawn = match drawn == total {
        true => counted(total, "community", "communities"),
        false => format!("{drawn} of {total} communities"),
    };
    console.say(&format!("drew {drawn}{outside}{place}"));
    Ok(())
}

/// The number of each vertex's community; a vertex without a row is in none.
fn numbers_of(path: &Path, read: &NamedCover, ids: &VertexIds) -> Result<Vec<u32>, Failure> {
    let cover = &read.cover;
    match (0..cover.vertices()).find(|&vertex| cover.communities_of(vertex).len() > 1) {
        None => Ok(cover.labels()?),
        Some(vertex) => Err(Failure::refused(
            format!(
                "{}: the vertex {} is in several communities, and a circle has its members alone",
                path.display(),
                ids.get(vertex)
            ),
            "draw communities that do not overlap",
        )),
    }
}

fn one_at_least(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&number| number > 0)
        .ok_or_else(|| "expected a number, 1 or above".into())
}

fn title_of(input: &Path) -> String {
    match input.file_name() {
        Some(name) if !is_standard(input) => format!("Communities of {}", name.to_string_lossy()),
        _ => "Communities".into(),
    }
}
