//! WebGraph's BV graphs: `NAME.graph` with `NAME.properties` beside it.
//!
//! ```text
//! NAME.properties   nodes, arcs, windowsize, minintervallength, zetak, compressionflags
//! NAME.graph        list after list, most significant bit first, of a vertex and its sorted neighbours:
//!   outdegree
//!   reference r     if it is not 0, parts of the list of the r-th previous vertex are copied:
//!     blocks        their number and lengths: copied and skipped alternately; the rest of the list is one more block
//!   intervals       their number, then left ends and lengths, minintervallength or more
//!   residuals       the other neighbours: gaps
//! ```
//!
//! Lists are decoded sequentially, so the offsets (`NAME.offsets`) are not read. Vertices are 0 to nodes − 1.
//! Each arc is a row, so without `--directed` an arc and its reverse are one edge. (Boldi and Vigna, *The
//! WebGraph Framework I: Compression Techniques*, WWW 2004; codes as in dsiutils. The crate `dsi-bitstream`
//! has these codes, too, but does not validate them.)
//!
//! METIS files have the extension `.graph`, too: a file is a BV graph if the properties beside it have a
//! `graphclass`.
//!
//! Memory: twice the table, and 8 bytes per vertex; the file is memory-mapped.

mod bits;
mod lists;
mod properties;

use crate::fault::Fault;
use crate::map::map;
use crate::{Place, ReadError, ReadOptions};
use properties::Properties;
use ripplet_graph::{EdgeTable, VertexIds};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Reads the arcs of a BV graph with the properties beside it.
///
/// # Errors
/// If a file cannot be read, is damaged or uses an unsupported feature, or if weights are requested.
pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<EdgeTable, ReadError> {
    let beside = properties_beside(path);
    let text = properties::text_of(&beside).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let sentence =
                format!("a BV graph has its properties in {}: they are missing", beside.display());
            ReadError::content(path, Place::File, sentence)
        }
        _ => ReadError::io(&beside, Place::File, error),
    })?;
    let properties = properties_of(&text, &beside, options)?;
    let bytes = map(path)?;
    table(bytes.as_ref(), &properties).map_err(|fault| fault.of(path))
}

/// Parses a BV graph from the contents of its `.properties` and `.graph` files; errors name them so.
///
/// # Errors
/// If a file is damaged or uses an unsupported feature, or if weights are requested.
pub fn parse(
    properties: &[u8],
    graph: &[u8],
    options: &ReadOptions,
) -> Result<EdgeTable, ReadError> {
    let properties = properties_of(properties, Path::new("(bytes).properties"), options)?;
    table(graph, &properties).map_err(|fault| fault.of(Path::new("(bytes).graph")))
}

/// Whether a properties file beside a file has a `graphclass`.
pub(crate) fn is_beside(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("graph"))
        && properties::text_of(&properties_beside(path))
            .is_ok_and(|text| properties::names_a_class(&text))
}

fn properties_beside(path: &Path) -> PathBuf {
    path.with_extension("properties")
}

fn properties_of(text: &[u8], path: &Path, options: &ReadOptions) -> Result<Properties, ReadError> {
    let properties = Properties::of(text).map_err(|fault| fault.of(path))?;
    match options.weighted {
        true => Err(Fault::whole("a BV graph has no weights: leave --weighted out").of(path)),
        false => Ok(properties),
    }
}

fn table(bytes: &[u8], properties: &Properties) -> Result<EdgeTable, Fault> {
    let (sources, targets) = lists::arcs(bytes, properties)?;
    let ids = VertexIds::Consecutive { first: 0, count: properties.vertices };
    Ok(EdgeTable::new(ids, sources, targets)?)
}
