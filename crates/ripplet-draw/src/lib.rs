//! Pictures of a graph's communities: circles for communities, lines for the edges between them.
//!
//! ```text
//! graph, communities ─▶ CommunityGraph ─▶ layout ─▶ Picture ─▶ svg    one static picture
//!                       (the largest)                       └▶ html   a page: click a community to open it
//! ```
//!
//! The graph of communities is drawn, not the graph: a circle's area is its community's
//! number of members, a line's width grows with the total weight of the edges between two
//! communities. Communities beyond [`DrawOptions::communities`] and members beyond
//! [`DrawOptions::members`] are left out of the picture, and the picture says how many.
//!
//! Memory: 16 bytes per vertex, 8 bytes per pair of drawn communities and thread, and the picture.
//!
//! Time: one pass over the arcs, parallel; the layout takes `O(communities²)` per step.
//!
//! Determinism: the same graph, communities and options give the same picture on any number of
//! threads.
//!
//! Directed graphs: an edge counts between two communities in either direction.

mod community_graph;
mod html;
mod layout;
mod members;
mod picture;
mod svg;

pub use community_graph::{Community, CommunityGraph, Link};
pub use html::write_html;
pub use layout::{Circle, Spring, layout};
pub use members::Members;
pub use picture::{DrawOptions, Picture, draw};
pub use svg::write_svg;

use ripplet_graph::OutOfMemory;
use thiserror::Error;

/// The community of a vertex that is in none.
pub const NO_COMMUNITY: u32 = u32::MAX;

/// Errors of drawing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DrawError {
    /// The communities are not those of this graph's vertices.
    #[error("the graph has {vertices} vertices, and {communities} of them have a community given")]
    OtherGraph {
        /// Vertices of the graph.
        vertices: u32,
        /// Entries of the communities.
        communities: usize,
    },
    /// More communities or members are asked for than a picture can show.
    #[error("a picture shows at most {most} {what}, and {asked} are asked for")]
    TooMany {
        /// `communities`, or `members of a community`.
        what: &'static str,
        /// The limit.
        most: usize,
        /// The requested number.
        asked: usize,
    },
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}
