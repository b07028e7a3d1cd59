//! What can be asked of the graphs of a batch.

use super::{Answer, Column, SwarmError};
use ripplet_analytics::betweenness::{self, betweenness_of_batch};
use ripplet_analytics::closeness::{self, Closeness, closeness_of_batch};
use ripplet_analytics::{Lengths, Observer, Plan};
use ripplet_graph::batch::BatchSlice;
use ripplet_io::write::{ColumnKind, Rows};

/// What is asked of each graph of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Analysis {
    /// Each vertex's closeness: a column `value`.
    Closeness {
        /// Which closeness.
        measure: Closeness,
        /// Whether it is normalized.
        normalized: bool,
    },
    /// Each vertex's betweenness: a column `value`.
    Betweenness {
        /// Whether it is normalized.
        normalized: bool,
    },
}

impl Analysis {
    /// What the rows of its table are about.
    pub fn rows(self) -> Rows {
        match self {
            Analysis::Closeness { .. } | Analysis::Betweenness { .. } => Rows::Vertices,
        }
    }

    /// The columns of its answers: their names, and what they hold.
    pub fn columns(self) -> &'static [(&'static str, ColumnKind)] {
        match self {
            Analysis::Closeness { .. } | Analysis::Betweenness { .. } => {
                &[("value", ColumnKind::F64)]
            }
        }
    }

    /// The memory that the CPU needs beside these graphs on so many threads.
    pub fn plan(self, graphs: BatchSlice<'_>, threads: usize) -> Plan {
        match self {
            Analysis::Closeness { measure, .. } => {
                closeness::plan_of_batch(graphs, measure, Lengths::Hops, threads)
            }
            Analysis::Betweenness { .. } => {
                betweenness::plan_of_batch(graphs, Lengths::Hops, threads)
            }
        }
    }

    /// What the CPU finds, on rayon's current pool.
    pub(super) fn of_part(
        self,
        graphs: BatchSlice<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Answer, SwarmError> {
        Ok(match self {
            Analysis::Closeness { measure, normalized } => {
                let values =
                    closeness_of_batch(graphs, measure, normalized, Lengths::Hops, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Betweenness { normalized } => {
                let values = betweenness_of_batch(graphs, normalized, Lengths::Hops, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
        })
    }
}
