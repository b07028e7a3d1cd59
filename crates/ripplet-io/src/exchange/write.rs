//! Writes graphs vertex by vertex and edge by edge, in any exchange format.

use super::dot::Dot;
use super::gexf::Gexf;
use super::gml::Gml;
use super::graphml::GraphMl;
use super::node_link::NodeLink;
use super::pajek::Pajek;
use super::syntax::{Attribute, Edge, Graphs, Syntax};
use super::xml_text;
use crate::output::arcs::Arcs;
use crate::output::refused;
use crate::output::text::{decimal, write_blocks, write_head};
use crate::shown::shown_id;
use crate::{Compression, Format};
use rayon::prelude::*;
use ripplet_graph::{ExternalId, Graph, VertexId, VertexIds};
use std::io::{self, Write};

/// Vertices in a block.
const ROWS: usize = 1 << 14;
/// Writes a graph in an exchange format.
pub(crate) fn write(
    out: &mut (dyn Write + Send),
    graph: &Graph,
    attributes: &[&dyn Attribute],
    format: Format,
    compression: Compression,
) -> io::Result<()> {
    let graphs = Graphs { graph, attributes };
    match format {
        Format::GraphMl => write_as(&GraphMl(graphs), out, graph, compression),
        Format::Gexf => write_as(&Gexf(graphs), out, graph, compression),
        Format::Gml => write_as(&Gml::new(graphs), out, graph, compression),
        Format::Pajek => write_as(&Pajek(graphs), out, graph, compression),
        Format::NodeLink => write_as(&NodeLink::new(graphs), out, graph, compression),
        Format::Dot => write_as(&Dot(graphs), out, graph, compression),
        format => Err(refused(format!("{} is written elsewhere", format.name()))),
    }
}

fn write_as(
    syntax: &impl Syntax,
    out: &mut (dyn Write + Send),
    graph: &Graph,
    compression: Compression,
) -> io::Result<()> {
    let (arcs, scale, vertices) =
        (Arcs::of(graph), graph.weight_scale(), graph.vertices() as usize);
    let first = first_edge(&arcs);
    let part = |out: &mut (dyn Write + Send), write: &dyn Fn(&mut Vec<u8>)| {
        let mut text = Vec::new();
        write(&mut text);
        write_head(out, compression, &String::from_utf8_lossy(&text)).map(|_| ())
    };
    part(out, &|text| syntax.head(text))?;
    write_blocks(out, compression, vertices.div_ceil(ROWS), |block, text| {
        let rows = block * ROWS..vertices.min((block + 1) * ROWS);
        rows.for_each(|vertex| syntax.vertex(text, vertex as VertexId));
        Ok(())
    })?;
    part(out, &|text| syntax.between(text))?;
    write_blocks(out, compression, arcs.blocks(), |block, text| {
        arcs.for_each_numbered_edge(block, |number, source, target, weight| {
            let weight = weight.map(|weight| decimal(scale, weight));
            let is_first = Some(number) == first;
            syntax.edge(text, Edge { source, target, weight, number, is_first });
        });
        Ok(())
    })?;
    part(out, &|text| syntax.end(text))
}

/// Returns the number of the first edge.
fn first_edge(arcs: &Arcs<'_>) -> Option<u64> {
    (0..arcs.blocks()).find_map(|block| {
        let mut first = None;
        arcs.for_each_numbered_edge(block, |number, _, _, _| first = first.or(Some(number)));
        first
    })
}

/// Rejects names of vertices, or of `what`, that a format cannot hold.
pub(crate) fn check(format: Format, ids: &VertexIds, what: &str) -> io::Result<()> {
    let VertexIds::Names(names) = ids else { return Ok(()) };
    let found = (0..names.len())
        .into_par_iter()
        .find_map_first(|at| unfit(format, names.get(at)).map(|why| (at, why)));
    match found {
        None => Ok(()),
        Some((at, why)) => {
            let id = shown_id(ExternalId::Name(names.get(at)));
            Err(refused(format!("the {what} id \"{id}\" {why}")))
        }
    }
}

/// Returns why a format cannot hold a name.
fn unfit(format: Format, name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("is empty: give the vertex a name, or write .parquet or .arrow");
    }
    match format {
        Format::GraphMl | Format::Gexf if !name.chars().all(xml_text::can_hold) => {
            Some("holds a character that XML cannot hold: write .gml or .json")
        }
        Format::Pajek if name.contains(['"', '\n', '\r']) => {
            Some("holds a quotation mark or a line end, which Pajek cannot hold: write .graphml")
        }
        Format::Dot if name.contains('\0') => {
            Some("holds a zero byte, which DOT cannot: write .json")
        }
        _ => None,
    }
}
