//! Communities at many resolutions.

use super::error::CommunitiesError;
use super::found::{FoundLabels, Kind};
use super::observer::SearchObserver;
use super::report::RunReport;
use super::result::Communities;
use super::run::{Pool, SearchEstimate};
use super::search::{CommunitySearch, OnDevice};
use crate::StoredGraph;
use crate::device::{AnyExecutor, RunSeconds};
use crate::programs::ProgramName;
use ripplet_graph::{GraphView, VertexId};
use ripplet_lp::programs::LayeredOrder;
use ripplet_lp::quality::Summary;
use ripplet_lp::sweep::{Layer, Sweep, SweepError, Swept};
use ripplet_lp::{Plan, Settings};
use std::borrow::Cow;

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

/// Labels of a graph at many resolutions; see [`CommunitySearch::sweep_with`].
pub struct SweptLabels<'g> {
    /// The labels of the highest modularity.
    pub best: FoundLabels<'g>,
    /// The number of their communities and the modularity, before small ones join others or are left out.
    pub summary: Summary,
    /// The result at each γ, from the finest communities to the coarsest, before small ones join others or are left out.
    pub layers: Vec<Layer>,
    /// The order of the vertices that all labels make, if it was requested.
    pub order: Option<LayeredOrder>,
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
        let sweep = Sweep::halved(halvings).with_order();
        self.clone().sweep_with(sweep, &mut ())?.into_communities()
    }

    /// Returns the memory that [`CommunitySearch::sweep`] needs, on the device that it would run on.
    ///
    /// # Errors
    /// If the device cannot be opened, or a choice does not fit.
    pub fn plan_sweep(&self, halvings: u32) -> Result<Plan, CommunitiesError> {
        let sweep = Sweep::halved(halvings).with_order();
        self.estimate_sweep_with(sweep, &mut ()).map(|estimate| estimate.plan)
    }

    /// Returns the memory that [`CommunitySearch::sweep_with`] needs, and what it would run on.
    ///
    /// # Errors
    /// If the device cannot be opened, or a choice does not fit.
    pub fn estimate_sweep_with(
        &self,
        sweep: Sweep,
        observer: &mut dyn SearchObserver,
    ) -> Result<SearchEstimate, CommunitiesError> {
        self.clone().with_sweep(|search, opened, graph, settings| {
            search.estimate_on(opened, observer, |executor, observer| {
                let (settings, plan) =
                    search.planned_sweep(sweep, executor, graph, settings, observer)?;
                let of_each = executor.plans(graph, &*Sweep::program(), &settings);
                Ok((plan, of_each, settings.counter))
            })
        })
    }

    /// Runs a sweep as [`CommunitySearch::sweep`] does, with an observer, which may cancel, and returns labels without
    /// grouping the members of each community. Initial labels are moved into the runs, and not copied.
    ///
    /// # Errors
    /// See [`CommunitySearch::sweep`]; also if the observer cancels.
    pub fn sweep_with(
        self,
        sweep: Sweep,
        observer: &mut dyn SearchObserver,
    ) -> Result<SweptLabels<'g>, CommunitiesError> {
        self.with_sweep(|search, opened, graph, settings| {
            let program = Sweep::program();
            search.check(&opened.0, graph, &*program, settings, observer)?;
            let (found, computed_on) =
                search.on_device(opened, observer, |executor, observer| {
                    search.sweep_on(sweep, executor, graph, settings, observer)
                })?;
            let (Swept { layers, best: summary, outcome, order }, report) = found;
            let best = search.labels(outcome, report, computed_on, Kind::One, observer)?;
            Ok(SweptLabels { best, summary, layers, order })
        })
    }

    /// Does work of a sweep, on the device and on the graph in the storage that were chosen.
    fn with_sweep<T>(
        self,
        work: impl FnOnce(&Self, OnDevice, GraphView<'_>, &Settings) -> Result<T, CommunitiesError>,
    ) -> Result<T, CommunitiesError> {
        let mut search = self.built_in(ProgramName::Llp.into());
        let settings = search.resolved_of_sweep()?;
        let opened = search.opened()?;
        let stored = search.stored()?;
        work(&search, opened, stored.as_ref().map_or(search.graph, StoredGraph::view), &settings)
    }

    /// Returns the settings on a device, and the plan of the sweep.
    fn planned_sweep<'s>(
        &self,
        sweep: Sweep,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        settings: &'s Settings,
        observer: &mut dyn SearchObserver,
    ) -> Result<(Cow<'s, Settings>, Plan), CommunitiesError> {
        let (program, settings) = (Sweep::program(), Cow::Borrowed(settings));
        let settings = self.settings_on(executor, graph, &*program, settings, observer);
        let plan = sweep.plan(executor, graph, &settings);
        let plan = self.with_check(plan, executor, graph, &*program, &settings)?;
        Ok((settings, plan))
    }

    fn sweep_on(
        &self,
        sweep: Sweep,
        executor: &AnyExecutor,
        graph: GraphView<'_>,
        settings: &Settings,
        observer: &mut dyn SearchObserver,
    ) -> Result<(Swept, RunReport), CommunitiesError> {
        let (settings, plan) = self.planned_sweep(sweep, executor, graph, settings, observer)?;
        self.check_run_memory(executor, graph, &*Sweep::program(), &settings, &plan)?;
        // Modularity is measured between the runs.
        let pool = Pool::of(executor, self.threads)?;
        let mut seconds = RunSeconds::default();
        let run = || {
            sweep.run(executor, graph, &settings, observer, |outcome, time| {
                seconds.add(time.as_secs_f64(), outcome);
            })
        };
        let swept = pool.install(run).map_err(|error| match error {
            SweepError::Run(error) => CommunitiesError::Run(error),
            SweepError::Quality(error) => CommunitiesError::Quality(error),
        })?;
        let (counter, exchanged) = (settings.counter, executor.exchanged());
        Ok((swept, RunReport { counter, plan, seconds, exchanged, ..RunReport::default() }))
    }
}

impl<'g> SweptLabels<'g> {
    /// Groups the members of each community.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn into_communities(self) -> Result<SweptCommunities<'g>, CommunitiesError> {
        let SweptLabels { best, layers, order, .. } = self;
        let places = order.map(LayeredOrder::into_places).unwrap_or_default();
        Ok(SweptCommunities { best: best.into_communities()?, layers, places })
    }
}
