//! The output in parts: each rank writes the rows of its own vertices.
//!
//! ```text
//! rank 0: begin ─▶ its name to all ─▶ each: its part ─▶ each: commit ─▶ records to rank 0 ─▶ manifest
//! ```
//!
//! Each arrow is an agreement of all ranks: if one of them fails, each removes what it has written.

use super::rows::{Names, Rows};
use crate::failure::{Failure, unwritten};
use crate::output::written;
use crate::ranks::Ranks;
use ripplet::graph::{GraphView, VertexId};
use ripplet::io::write::{PartRecord, TableParts, Target};
use std::ops::Range;

/// Writes the rows of this rank's vertices as a part. All ranks call it, and each has the rows of all vertices.
pub fn write_part(
    rows: &Rows<'_>,
    (target, own): (Target<'_>, Range<VertexId>),
    graph: GraphView<'_>,
    names: Names,
    ranks: &Ranks,
) -> Result<(), Failure> {
    let number = ranks.number();
    let begun = ranks.is_first().then(|| TableParts::begin(target)).transpose();
    let begun = ranks.agree(begun.map_err(Failure::Place))?;
    let token = begun.as_ref().map(TableParts::token).unwrap_or_default();
    let token = ranks.together(|comm| comm.broadcast("parts", 0, token.as_bytes()));
    let token = String::from_utf8(token.unwrap_or_default()).unwrap_or_default();
    let joined = begun.map_or_else(|| TableParts::join(target, &token, number), Ok);
    let mut parts = ranks.agree(joined.map_err(Failure::Place))?;
    let own = rows.write_part(&mut parts, (number, own), graph, names);
    let own = ranks.agree(own)?;
    ranks.agree(parts.commit().map_err(unwritten))?;
    let line = own.to_line();
    let lines = ranks.together(|comm| comm.all_gather("parts", line.as_bytes()));
    let ended = match ranks.is_first() {
        true => {
            let records = lines.map_or_else(
                || Some(vec![own]),
                |lines| {
                    let record = |line: &[u8]| PartRecord::parse(&String::from_utf8_lossy(line));
                    lines.iter().map(record).collect()
                },
            );
            match records {
                Some(records) => written(parts.finish(records)),
                None => Err(Failure::Elsewhere),
            }
        }
        false => {
            parts.leave();
            Ok(())
        }
    };
    ranks.agree(ended)
}
