//! A rank's part of an analysis that several processes share.

use crate::AnalysisError;
use bytemuck::Pod;
use ripplet_graph::VertexId;
use ripplet_ranks::{Comm, CommError};
use std::ops::Range;

/// A rank's part of an analysis that ranks, processes that share a run, do together: [`PageRank`](crate::pagerank::PageRank),
/// [`components`](crate::components) or [`Lcc`](crate::lcc::Lcc).
///
/// Ranks have consecutive ranges of vertices, in their order. The graph of a rank needs the lists of its own vertices
/// alone, and no list of another is read. All ranks call the same analysis at the same time, with the same settings, and
/// each returns the result of one process.
///
/// After an error, the other ranks wait: end them by [`Comm::abort`].
#[derive(Debug)]
pub struct RankPart<'c> {
    pub(crate) own: Range<VertexId>,
    pub(crate) comm: &'c mut Comm,
}

impl<'c> RankPart<'c> {
    /// The part of a rank that has the vertices `own`.
    pub fn new(own: Range<VertexId>, comm: &'c mut Comm) -> RankPart<'c> {
        RankPart { own, comm }
    }

    /// Returns the rank's own vertices, as positions in an array of all.
    pub(crate) fn places(&self) -> Range<usize> {
        self.own.start as usize..self.own.end as usize
    }

    /// Completes values of all vertices, of which each rank has computed those of its own.
    pub(crate) fn gather<T: Pod>(
        &mut self,
        purpose: &'static str,
        values: &mut [T],
    ) -> Result<(), AnalysisError> {
        let own = values.get(self.places()).unwrap_or_default();
        let received = self.comm.all_gather(purpose, own)?;
        let mut rest = values;
        for (peer, some) in received.iter().enumerate() {
            let foreign = CommError::Foreign { peer, bytes: size_of_val(some) };
            let (filled, others) = rest.split_at_mut_checked(some.len()).ok_or(foreign)?;
            filled.copy_from_slice(some);
            rest = others;
        }
        match rest.len() {
            0 => Ok(()),
            missing => {
                let bytes = missing * size_of::<T>();
                Err(CommError::Foreign { peer: self.comm.size() - 1, bytes }.into())
            }
        }
    }
}
