//! `--top`: the largest communities as a table for people.

use super::rows::Rows;
use crate::failure::Failure;
use ripplet::draw::{Community, CommunityGraph, NO_COMMUNITY};
use ripplet::graph::{GraphView, memory};
use std::fmt::Write;

/// The members that are named of each.
const MEMBERS: usize = 3;
/// The number of characters of an id that are shown.
const LONGEST: usize = 24;

/// Checks that this build has `--top`.
pub fn check() -> Result<(), Failure> {
    Ok(())
}

/// The table of the `most` largest communities.
///
/// A community's conductance is the share of its edges that leave it: the weight of those to other vertices over the
/// summed degrees of its members or, where these are fewer, of all others.
pub fn table(
    graph: GraphView<'_>,
    rows: &Rows<'_>,
    numbered: bool,
    most: usize,
) -> Result<String, Failure> {
    let vertices = graph.vertices();
    let mut of_vertex = memory::filled(NO_COMMUNITY, vertices as usize)?;
    for (row, &label) in rows.communities.iter().enumerate() {
        of_vertex[rows.vertex(row) as usize] = label;
    }
    let communities = CommunityGraph::new(graph, &of_vertex, most)?;
    let members = communities.leading_members(MEMBERS)?;
    let volumes = Volumes::of(graph, &of_vertex, &communities);
    let unit = if graph.is_weighted() { "inner weight" } else { "inner edges" };
    let mut lines = vec![["community", "size", unit, "conductance", "members"].map(String::from)];
    let scale = graph.weight_scale();
    let id = |vertex: u32| shortened(&graph.ids().get(vertex).to_string());
    for (place, (community, members)) in communities.communities.iter().zip(&members).enumerate() {
        let name = if numbered { place.to_string() } else { id(community.number) };
        let members: Vec<String> = members.iter().map(|&member| id(member)).collect();
        lines.push([
            name,
            community.size.to_string(),
            scale.rounded(scale.weight(community.inner)).to_string(),
            format!("{:.4}", volumes.conductance(place, community)),
            members.join(", "),
        ]);
    }
    Ok(aligned(&lines))
}

/// Summed degrees.
struct Volumes {
    all: u64,
    of_each: Vec<u64>,
}

impl Volumes {
    fn of(graph: GraphView<'_>, of_vertex: &[u32], communities: &CommunityGraph) -> Volumes {
        let mut volumes = Volumes { all: 0, of_each: vec![0; communities.communities.len()] };
        for v in 0..of_vertex.len() as u32 {
            let strength = graph.strength(v);
            volumes.all += strength;
            if let Some(place) = communities.place_of(v) {
                volumes.of_each[place as usize] += strength;
            }
        }
        volumes
    }

    fn conductance(&self, place: usize, community: &Community) -> f64 {
        let within = self.of_each[place];
        let smaller = within.min(self.all - within);
        if smaller == 0 { 0.0 } else { community.outer as f64 / smaller as f64 }
    }
}

fn shortened(id: &str) -> String {
    let safe: String = id.escape_debug().collect();
    match safe.chars().count() > LONGEST {
        true => safe.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => safe,
    }
}

/// Columns as wide as their widest field; numbers to the right.
fn aligned(lines: &[[String; 5]]) -> String {
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let mut text = String::new();
    for [name, size, inner, conductance, members] in lines {
        let [w0, w1, w2, w3] = widths;
        let line = format!("{name:<w0$}  {size:>w1$}  {inner:>w2$}  {conductance:>w3$}  {members}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
