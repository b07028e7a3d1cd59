//! Communities that a command reads beside its graph.

use crate::failure::Failure;
use ripplet::graph::VertexIds;
use ripplet::io::{self, MembershipForm, Memberships, ReadOptions};
use ripplet::lp::quality::Cover;
use std::path::Path;

/// Communities, and what the file calls them.
pub struct NamedCover {
    /// The communities, by number.
    pub cover: Cover,
    /// Their names, by number.
    pub names: Vec<String>,
}

impl NamedCover {
    /// Reads the communities of the vertices of `ids`.
    pub fn read(path: &Path, form: MembershipForm, ids: &VertexIds) -> Result<NamedCover, Failure> {
        let Memberships { memberships, names } =
            io::read_memberships(path, form, &ReadOptions::default(), ids)?;
        let cover = Cover::new(ids.len() as u32, names.len() as u32, memberships)?;
        Ok(NamedCover { cover, names })
    }
}
