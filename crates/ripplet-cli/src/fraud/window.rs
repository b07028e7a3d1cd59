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
use ripplet::fraud::feed::{Advance, Feed};
use ripplet::fraud::{Entities, Timestamp, Window};
use ripplet::graph::{EdgeTable, Graph, GraphBuilder, Names, VertexId, VertexIds};
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
    let mut ends = Vec::new();
    console.stage("reading");
    while feed.advance(|_| Ok(()), interrupt::requested)? == Advance::Window {
        let until = feed.range().until;
        ends.push(until);
        if arguments.until.is_none_or(|wanted| wanted == until) {
            feed.slide()?;
        } else {
            feed.pass();
        }
        if arguments.until == Some(until) {
            break;
        }
    }
    let ending = report_rows(feed.stream().counts(), console);
    let Some(window) = feed.window() else {
        let help = match (ends.first(), ends.last()) {
            (Some(first), Some(last)) => {
                let (first, last) = (first.as_last(), last.as_last());
                format!("the last days of the {} windows are {first} to {last}", ends.len())
            }
            _ => "there are no transactions in the input".into(),
        };
        return Err(Failure::refused("there is no window that ends then", help));
    };
    console.stage("naming the vertices");
    let graph = named(window, feed.entities())?;
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

/// Returns the graph without isolated vertices, with names as ids.
fn named(window: &Window, entities: &Entities) -> Result<Graph, Failure> {
    let graph = &window.graph;
    let name = |v: VertexId| format!("{}:{}", entities.kind_name_of(v), entities.id_of(v));
    let dealt = (0..graph.vertices()).filter(|&v| graph.degree(v) > 0);
    let mut names: Vec<(String, VertexId)> = dealt.map(|v| (name(v), v)).collect();
    names.sort_unstable();
    let mut numbers = vec![0; graph.vertices() as usize];
    for (number, (_, v)) in names.iter().enumerate() {
        numbers[*v as usize] = number as VertexId;
    }
    let ids = VertexIds::Names(Names::new(names.iter().map(|(name, _)| &**name)));
    let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for shard in graph.shards() {
        let out = shard.out();
        for (local, v) in shard.vertices().enumerate() {
            let stored = out.weights_of(local).unwrap_or(&[]);
            for (&u, &weight) in out.of(local).iter().zip(stored).filter(|(u, _)| **u > v) {
                sources.push(numbers[v as usize]);
                targets.push(numbers[u as usize]);
                weights.push(graph.weight_scale().weight(u64::from(weight)));
            }
        }
    }
    let edges = EdgeTable::new(ids, sources, targets).and_then(|edges| edges.with_weights(weights));
    let edges =
        edges.map_err(|error| Failure::refused(error.to_string(), "choose a shorter window"))?;
    Ok(GraphBuilder::new().build(edges)?)
}
