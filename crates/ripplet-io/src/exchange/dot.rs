//! DOT, the language of Graphviz, which is written only.
//!
//! ```text
//! graph {
//!   "Ann" [community="Ann", degree=1];
//!   "Bob" [community="Ann", degree=1];
//!   "Ann" -- "Bob" [weight=0.5];
//! }
//! ```
//!
//! Quotation marks and backslashes in ids have a backslash before them, so that Graphviz shows the id as it is.
//!
//! Reference: *The DOT Language*, graphviz.org.

use super::syntax::{Edge, Graphs, Syntax, Value};
use crate::output::text::push_weight;
use ripplet_graph::{Direction, VertexId};

/// Writes a graph.
pub(super) struct Dot<'a>(pub(super) Graphs<'a>);

impl Syntax for Dot<'_> {
    fn head(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(match self.0.graph.direction() {
            Direction::Directed => b"digraph {\n",
            Direction::Undirected => b"graph {\n",
        });
    }

    fn vertex(&self, text: &mut Vec<u8>, vertex: VertexId) {
        text.extend_from_slice(b"  ");
        push_value(text, &self.0.id(vertex));
        let mut is_open = false;
        for (name, value) in self.0.attributes_of(vertex) {
            text.extend_from_slice(if is_open { b", " } else { b" [" });
            is_open = true;
            text.extend_from_slice(name.as_bytes());
            text.push(b'=');
            push_value(text, &value);
        }
        text.extend_from_slice(if is_open { b"];\n" } else { b";\n" });
    }

    fn edge(&self, text: &mut Vec<u8>, edge: Edge) {
        text.extend_from_slice(b"  ");
        push_value(text, &self.0.id(edge.source));
        text.extend_from_slice(match self.0.graph.direction() {
            Direction::Directed => b" -> ",
            Direction::Undirected => b" -- ",
        });
        push_value(text, &self.0.id(edge.target));
        if let Some(weight) = edge.weight {
            text.extend_from_slice(b" [weight=");
            // The language has no exponents outside of quotes.
            text.push(b'"');
            push_weight(text, weight);
            text.extend_from_slice(b"\"]");
        }
        text.extend_from_slice(b";\n");
    }

    fn end(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"}\n");
    }
}

fn push_value(text: &mut Vec<u8>, value: &Value<'_>) {
    value.push(text, |text, value| {
        text.push(b'"');
        for byte in value.bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.push(b'"');
    });
}
