//! Shared code of the benchmarks: arguments, and graphs from files and from the generated families.

mod arguments;

pub use arguments::Arguments;

use ripplet_generate::{Planted, Rmat, Road, Social, Web};
use ripplet_graph::{EdgeTable, Graph, GraphBuilder, VertexIds};
use ripplet_io::{Format, MembershipForm, ReadOptions, read_edges, read_memberships};
use std::error::Error;
use std::path::Path;

/// Result of a benchmark.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A graph with its known communities, if there are any.
pub struct Case {
    /// The name in the output.
    pub name: String,
    /// The graph.
    pub graph: Graph,
    /// The known community of each vertex.
    pub truth: Option<Vec<u32>>,
}

impl Case {
    /// Reads `FILE` or `FILE=TRUTH`: any edge list that ripplet reads, and `id community` lines.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(argument: &str) -> Result<Case> {
        let (file, truth) = match argument.split_once('=') {
            Some((file, truth)) => (Path::new(file), Some(Path::new(truth))),
            None => (Path::new(argument), None),
        };
        let format = Format::of_path(file).is_none().then_some(Format::EdgeList);
        let edges = read_edges(file, &ReadOptions { format, ..ReadOptions::default() })?;
        let graph = GraphBuilder::new().build(edges)?;
        let truth = truth.map(|truth| communities(truth, graph.ids())).transpose()?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Case { name, graph, truth })
    }

    fn generated(name: &str, edges: EdgeTable, truth: Option<Vec<u32>>) -> Result<Case> {
        Ok(Case { name: name.into(), graph: GraphBuilder::new().build(edges)?, truth })
    }
}

/// Returns the community of each vertex, from a file with a line `id community` per vertex.
fn communities(path: &Path, ids: &VertexIds) -> Result<Vec<u32>> {
    let options = ReadOptions { format: Some(Format::EdgeList), ..ReadOptions::default() };
    let read = read_memberships(path, MembershipForm::Rows, &options, ids)?;
    let mut communities = vec![None; ids.len()];
    for (vertex, community) in read.memberships {
        if communities[vertex as usize].replace(community).is_some() {
            return Err(format!("vertex {} has a second label", ids.get(vertex)).into());
        }
    }
    let all: Option<Vec<u32>> = communities.into_iter().collect();
    all.ok_or_else(|| "expected a label for each vertex".into())
}

/// Adds the generated families, of 2^scale vertices.
///
/// # Errors
/// If they do not fit in memory.
pub fn generated(scale: u32, cases: &mut Vec<Case>) -> Result<()> {
    let vertices = 1 << scale;
    for mixing in [0.3, 0.5] {
        let planted = Planted::new(vertices, 10 * vertices, mixing).generate()?;
        let name = format!("planted {mixing}");
        cases.push(Case::generated(&name, planted.edges, Some(planted.truth.to_vec()))?);
    }
    let (web, social) = (Web::new(scale), Social::new(scale));
    cases.push(Case::generated("web", web.generate()?, Some(web.blocks()?))?);
    cases.push(Case::generated("social", social.generate()?, Some(social.blocks()?))?);
    cases.push(Case::generated("road", Road::new(scale).generate()?, None)?);
    cases.push(Case::generated("rmat", Rmat::new(scale).generate()?, None)?);
    Ok(())
}

/// Returns the edges of a generated family (`web`, `social`, `rmat` or `road`) of 2^scale vertices.
///
/// # Errors
/// If there is no such family, or it does not fit in memory.
pub fn family(name: &str, scale: u32) -> Result<EdgeTable> {
    Ok(match name {
        "web" => Web::new(scale).generate()?,
        "social" => Social::new(scale).generate()?,
        "rmat" => Rmat::new(scale).generate()?,
        "road" => Road::new(scale).generate()?,
        _ => return Err("expected web, social, rmat or road".into()),
    })
}
