//! Exchange formats for whole graphs: GraphML, GEXF, GML, Pajek, node-link JSON, DOT.
//!
//! ```text
//! text ─▶ a format's reader ─▶ Network: ids as numbers, edges as pairs ─▶ EdgeTable    (one thread)
//! Graph and attributes ─▶ blocks of vertices, blocks of edges ─▶ a format's Syntax ─▶ text   (parallel)
//! ```
//!
//! A format is one file with its reader and its writer. They share [`network`] (nodes and edges as a reader finds
//! them), `xml`, `xml_graph` (what the readers of GraphML and GEXF share), [`xml_text`] and [`stream`] (pieces of a text of bounded size).
//!
//! Readers take vertices with their ids, edges, and weights. Other attributes are skipped. Vertices
//! without edges are kept.
//!
//! Direction: if a file declares its edges undirected, a directed graph has each edge in both directions. If it declares
//! them directed, the caller's options decide, and [`ReadSummary::directed`] reports it. Edges of both kinds in
//! one file are refused.
//!
//! Memory of a reader: 8 bytes per edge (16 with weights), 48 per vertex, and the ids, beside the table. What it holds of
//! the text at a time is at most some MiB, however large a file, a line or a value is.

mod dot;
mod gexf;
mod gml;
mod graphml;
mod network;
mod node_link;
mod pajek;
mod stream;
mod syntax;
mod write;
#[cfg(feature = "graphml")]
mod xml;
#[cfg(feature = "graphml")]
mod xml_graph;
mod xml_text;

pub(crate) use syntax::{Attribute, AttributeKind, Value};
pub(crate) use write::{check, write};

use crate::fault::Fault;
use crate::text::Text;
use crate::{Format, NotBuiltIn, ReadOptions, ReadSummary};
use ripplet_graph::EdgeTable;

/// Reads a graph in an exchange format.
pub(crate) fn read(
    text: &mut Text<'_>,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadSummary), Fault> {
    NotBuiltIn::check_reader(format).map_err(Fault::whole)?;
    let found = match format {
        #[cfg(feature = "graphml")]
        Format::GraphMl => graphml::read(text, options)?,
        #[cfg(feature = "graphml")]
        Format::Gexf => gexf::read(text, options)?,
        Format::Gml => gml::read(text, options)?,
        Format::Pajek => pajek::read(text, options)?,
        Format::NodeLink => node_link::read(text, options)?,
        format => {
            let sentence = format!(
                "{} is written, but not read: save the graph as .graphml, .gexf, .gml, .net or .json",
                format.name()
            );
            return Err(Fault::whole(sentence));
        }
    };
    let directed = found.directed == Some(true);
    let (edges, notes) = (found.edges, found.notes);
    let summary = ReadSummary { directed, notes, ..ReadSummary::of_edges(&edges) };
    Ok((edges, summary))
}
