//! PageRank on ranks: each computes the next ranks of its own vertices, and all have those of all.

use super::{Along, BLOCK, Jumps, PageRank, Ranks, Run, Step, Workspace, dispatch_sides};
use crate::{AnalysisError, Plan, RankPart};
use rayon::prelude::*;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{GraphView, Observer, memory};

impl PageRank {
    /// Returns the memory that [`PageRank::run_on_ranks`] needs on each rank beside its graph, that of jumps included.
    pub fn plan_on_ranks<'g>(&self, graph: impl Into<GraphView<'g>>, jumps: bool) -> Plan {
        let graph = graph.into();
        let plan = if jumps { self.plan_personalized(graph) } else { self.plan(graph) };
        // The next ranks of own vertices, and a message of all.
        plan.with("messages between ranks", 16 * u64::from(graph.vertices()))
    }

    /// Computes the ranks together with other processes, each with the lists of its own vertices: the bits of
    /// [`PageRank::run`] or, with jumps, [`PageRank::run_personalized`], on each of them.
    ///
    /// Messages: in each round the next ranks, 8 bytes per vertex, to each other rank.
    ///
    /// # Errors
    /// The errors of these; and if a message fails.
    pub fn run_on_ranks<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        jumps: Option<&Jumps>,
        part: &mut RankPart<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Ranks, AnalysisError> {
        let graph = graph.into();
        let jumps = self.check_jumps(graph, jumps)?;
        observer.on_stage("ranking vertices");
        let mut ranks = memory::zeros(graph.vertices() as usize)?;
        let mut workspace = Workspace::new(graph.vertices())?;
        let mut run = self.begin(graph, jumps, &mut ranks, &mut workspace, &*observer);
        let mut next: Vec<f64> = memory::zeros(graph.vertices() as usize)?;
        let end = dispatch_sides!(graph, Along::Arcs, lists => {
            run.begin(lists.ahead, part.places());
            part.gather("arcs of vertices", &mut run.workspace.out)?;
            run.rounds(|run, lost| run.collect_on_ranks(lists.behind, lost, part, &mut next))
        })?;
        Ok(Ranks { ranks, end })
    }
}

impl Run<'_> {
    /// Computes the next ranks of own vertices, and takes those of others; returns the sum of all absolute changes.
    fn collect_on_ranks<L: NeighborLists>(
        &mut self,
        incoming: L,
        lost: f64,
        part: &mut RankPart<'_>,
        next: &mut [f64],
    ) -> Result<f64, AnalysisError> {
        let (vertices, own) = (self.ranks.len(), part.places());
        let Workspace { shares, sums, .. } = &mut *self.workspace;
        let step = Step::new(self.settings, vertices, lost, self.jumps, shares, self.weigh);
        let of_own = next[own.clone()].par_iter_mut().zip(own).with_min_len(BLOCK);
        of_own.for_each(|(next, vertex)| *next = step.next(incoming, vertex));
        part.gather("ranks", next)?;
        let blocks = self.ranks.par_chunks_mut(BLOCK).zip(next.par_chunks(BLOCK));
        blocks.zip(&mut *sums).for_each(|((ranks, next), sum)| {
            *sum = 0.0;
            for (rank, &next) in ranks.iter_mut().zip(next) {
                *sum += (next - *rank).abs();
                *rank = next;
            }
        });
        Ok(sums[..vertices.div_ceil(BLOCK)].iter().sum())
    }
}
