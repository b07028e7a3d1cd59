//! Communities at many resolutions.

use super::result::Communities;
use super::search::{CommunitiesError, CommunitySearch, OnDevice};
use crate::StoredGraph;
use crate::programs::ProgramName;
use ripplet_graph::{GraphView, VertexId};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::programs::LayeredOrder;
use ripplet_lp::sweep::{Layer, Sweep, SweepError};
use ripplet_lp::{Plan, RoundObserver, Settings};

/// Communities of a graph at many resolutions; see [`CommunitySearch::sweep`].
pub struct SweptCommunities<'g> {
    /// The communities of the highest modularity.
    pub best: Communities<'g>,
    /// The result at each γ, from the finest communities to the coarsest, before small ones join others or are left out.
    pub layers: Vec<Layer>,
    /// The place of each vertex in the order that all labels make: vertices close to one another in the graph have
    /// close places, so that a graph in this order compresses well.
    pub places: Vec<VertexId>,
}

impl<'g> CommunitySearch<'g> {
    /// Runs layered label propagation, `llp`, at γ = 1, 1/2, … 2^−`halvings` and 0, whatever program was chosen; see
    /// [`ripplet_lp::sweep`]. Schedule, counter, stop rule, storage, device and limits are those of the search.
    ///
    /// # Errors
    /// See [`CommunitySearch::run`]; also if refinement, ranks or seeds were chosen.
    ///
    /// # Examples
    /// ```
    /// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
    /// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
    /// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
    /// let swept = ripplet::communities(&graph).sweep(8)?;
    /// for layer in &swept.layers {
    ///     println!("γ = {}: {} communities", layer.gamma, layer.summary.communities);
    /// }
    /// assert_eq!(swept.best.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sweep(&self, halvings: u32) -> Result<SweptCommunities<'g>, CommunitiesError> {
        self.sweep_with(halvings, &mut ())
    }

    /// Returns the memory that [`CommunitySearch::sweep`] needs, on the device that it would run on.
    ///
    /// # Errors
    /// If the device cannot be opened, or a choice does not fit.
    pub fn plan_sweep(&self, halvings: u32) -> Result<Plan, CommunitiesError> {
        self.with_sweep(|search, (executor, _), graph, settings| {
            let settings = search.settings_on(&executor, graph, &*Sweep::program(), settings);
            Ok(Sweep::halved(halvings).with_order().plan(&executor, graph, &settings))
        })
    }

    /// Does work of a sweep, on the device and on the graph in the storage that were chosen.
    fn with_sweep<T>(
        &self,
        work: impl FnOnce(&Self, OnDevice, GraphView<'_>, &Settings) -> Result<T, CommunitiesError>,
    ) -> Result<T, CommunitiesError> {
        let search = self.clone().built_in(ProgramName::Llp.into());
        let settings = search.resolved_of_sweep()?;
        let opened = search.opened()?;
        let stored = search.stored()?;
        work(&search, opened, stored.as_ref().map_or(search.graph, StoredGraph::view), &settings)
    }

    /// Runs a sweep as [`CommunitySearch::sweep`] does, with an observer, which may cancel.
    ///
    /// # Errors
    /// See [`CommunitySearch::sweep`]; also if the observer cancels.
    pub fn sweep_with(
        &self,
        halvings: u32,
        observer: &mut dyn RoundObserver,
    ) -> Result<SweptCommunities<'g>, CommunitiesError> {
        self.with_sweep(|search, opened, graph, settings| {
            let sweep = Sweep::halved(halvings).with_order();
            // Modularity is measured between the runs.
            let pool = CpuExecutor::new(search.threads)?;
            let (found, device) = search.on_device(opened, |executor| {
                let program = Sweep::program();
                let settings = search.settings_on(executor, graph, &*program, settings);
                search.check_host_memory(executor, &sweep.plan(executor, graph, &settings))?;
                let watch = &mut *observer;
                let swept =
                    pool.install(|| sweep.run(executor, graph, &settings, watch, |_, _| ()));
                let swept = swept.map_err(|error| match error {
                    SweepError::Run(error) => CommunitiesError::Run(error),
                    SweepError::Quality(error) => CommunitiesError::Quality(error),
                })?;
                Ok((swept, settings.counter))
            })?;
            let (swept, counter) = found;
            let best = search.result(swept.outcome)?.counted_by(counter).computed_on(device);
            let places = swept.order.map(LayeredOrder::into_places).unwrap_or_default();
            Ok(SweptCommunities { best, layers: swept.layers, places })
        })
    }
}
