//! Labels, which name communities.

use ripplet_graph::VertexId;

/// A vertex id used as a community's name.
pub type Label = VertexId;

/// The label of a vertex that has none. Never a vertex.
pub const NO_LABEL: Label = Label::MAX;
