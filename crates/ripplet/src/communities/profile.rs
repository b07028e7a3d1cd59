//! Communities at all resolutions of a range.

use super::error::{CommunitiesError, PlannedRun};
use super::found::{FoundLabels, Kind};
use super::observer::SearchObserver;
use super::report::{RefinementReport, RunReport};
use super::result::Communities;
use super::run::{ComputedOn, SearchEstimate};
use super::search::CommunitySearch;
use crate::StoredGraph;
use crate::device::{Device, RunSeconds};
use ripplet_graph::{GraphView, OutOfMemory, memory};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::refine::{
    DEFAULT_RUNS, Objective, Profile, ProfileOptions, Profiled, Resolution, profile, profile_plan,
};
use ripplet_lp::{Counter, Outcome, Plan};
use std::ops::RangeInclusive;
use std::time::Instant;

/// The best partitions of a graph over a range of resolutions; see [`CommunitySearch::resolution_profile`].
pub struct ProfiledCommunities<'g> {
    /// The communities of the widest resolutions, by their ratio.
    pub chosen: Communities<'g>,
    /// The partitions, from the coarsest to the finest.
    pub partitions: Vec<Profiled>,
    /// The index of the chosen one.
    pub chosen_at: usize,
    /// The number of runs, without one more for each partition.
    pub runs: u32,
    /// Whether the number of runs ended the search: between two partitions there may be others.
    pub is_cut: bool,
}

/// The labels of the best partitions of a graph over a range of resolutions; see
/// [`CommunitySearch::resolution_profile_with`].
pub struct ProfiledLabels<'g> {
    /// The labels of the widest resolutions, by their ratio.
    pub chosen: FoundLabels<'g>,
    /// The partitions, from the coarsest to the finest.
    pub partitions: Vec<Profiled>,
    /// The index of the chosen one.
    pub chosen_at: usize,
    /// The number of runs, without one more for each partition.
    pub runs: u32,
    /// Whether the number of runs ended the search: between two partitions there may be others.
    pub is_cut: bool,
}

/// Which resolutions are examined, and by how many runs.
///
/// # Examples
/// ```
/// use ripplet::communities::ProfileRange;
///
/// let range = ProfileRange { range: Some(0.1..=10.0), ..ProfileRange::default() };
/// assert_eq!(range.runs, 50);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileRange {
    /// The resolutions; found from the graph by default.
    pub range: Option<RangeInclusive<f64>>,
    /// The most runs, at least 2, without one more for each partition.
    pub runs: u32,
}

impl Default for ProfileRange {
    fn default() -> ProfileRange {
        ProfileRange { range: None, runs: DEFAULT_RUNS }
    }
}

impl<'g> ProfiledCommunities<'g> {
    /// Returns the communities of a partition, by its index; `None` if there is none.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn communities(&self, index: usize) -> Result<Option<Communities<'g>>, OutOfMemory> {
        let Some(partition) = self.partitions.get(index) else { return Ok(None) };
        let labels = memory::copied(&partition.labels)?;
        self.chosen.of_partition(labels).map(Some)
    }
}

impl<'g> CommunitySearch<'g> {
    /// Finds the best partitions over a range of resolutions by refinement, of the score that was chosen by
    /// [`CommunitySearch::refine`], or of modularity; see [`ripplet_lp::refine::profile`]. It runs on the CPU.
    ///
    /// # Errors
    /// See [`CommunitySearch::run`]; also if a GPU, ranks, checkpoints, fixed vertices or a largest size were chosen, or
    /// the range is empty or too wide.
    ///
    /// # Examples
    /// ```
    /// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
    /// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
    /// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
    /// let found = ripplet::communities(&graph).resolution_profile(&Default::default())?;
    /// for partition in &found.partitions {
    ///     println!("{} to {}: {} communities", partition.from, partition.to, partition.communities);
    /// }
    /// assert_eq!(found.chosen.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolution_profile(
        &self,
        range: &ProfileRange,
    ) -> Result<ProfiledCommunities<'g>, CommunitiesError> {
        self.clone().resolution_profile_with(range, &mut ())?.into_communities()
    }

    /// Returns the memory that [`CommunitySearch::resolution_profile`] needs.
    ///
    /// # Errors
    /// If a choice does not fit.
    pub fn plan_resolution_profile(&self, range: &ProfileRange) -> Result<Plan, CommunitiesError> {
        self.estimate_resolution_profile(range).map(|estimate| estimate.plan)
    }

    /// Returns the memory that [`CommunitySearch::resolution_profile`] needs, and what it would run on: the CPU.
    ///
    /// # Errors
    /// If a choice does not fit.
    pub fn estimate_resolution_profile(
        &self,
        range: &ProfileRange,
    ) -> Result<SearchEstimate, CommunitiesError> {
        let options = self.clone().profile_options(range)?;
        let threads = CpuExecutor::new(self.threads)?.threads();
        let stored = self.stored()?;
        let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
        let plan = self.profile_plan(graph, &options, threads);
        let (of_each, device, counter) = (Vec::new(), Device::cpu().to_string(), Counter::EXACT);
        Ok(SearchEstimate { plan, of_each, device, fallback: None, counter })
    }

    fn profile_plan(&self, graph: GraphView<'_>, options: &ProfileOptions, threads: usize) -> Plan {
        self.with_tables(profile_plan(graph, options, threads), graph)
    }

    fn profile_options(
        &mut self,
        range: &ProfileRange,
    ) -> Result<ProfileOptions, CommunitiesError> {
        let modularity = Objective::Modularity(Resolution::Fixed(1.0));
        let ProfileRange { range, runs } = range.clone();
        Ok(ProfileOptions { range, runs, ..self.options_of_profile(modularity)? })
    }

    /// Finds partitions as [`CommunitySearch::resolution_profile`] does, with an observer, which may cancel, and returns labels
    /// without grouping the members of each community. Initial labels are moved into the runs, and not copied.
    ///
    /// # Errors
    /// See [`CommunitySearch::resolution_profile`]; also if the observer cancels.
    pub fn resolution_profile_with(
        mut self,
        range: &ProfileRange,
        observer: &mut dyn SearchObserver,
    ) -> Result<ProfiledLabels<'g>, CommunitiesError> {
        let options = self.profile_options(range)?;
        let pool = CpuExecutor::new(self.threads)?;
        let stored = self.stored()?;
        let graph = stored.as_ref().map_or(self.graph, StoredGraph::view);
        let plan = self.profile_plan(graph, &options, pool.threads());
        self.check_host_memory(PlannedRun::Run, &plan)?;
        let start = Instant::now();
        let watch = &mut *observer;
        let found = pool.install(|| profile(graph, &options, watch))?;
        let all = start.elapsed().as_secs_f64();
        let (chosen, chosen_at) = (found.chosen()?, found.widest());
        let refinement = RefinementReport::from(&chosen);
        let objective = match options.refine.objective {
            Objective::Cpm(_) => Objective::Cpm(refinement.resolution),
            modularity => modularity,
        };
        let kind = Kind::Refined { objective, seed: options.refine.seed };
        let outcome = Outcome { split: None, ..Outcome::from(chosen) };
        let mut seconds = RunSeconds::default();
        seconds.add(all, &outcome);
        let refinement = Some(refinement);
        let report = RunReport { plan, seconds, refinement, ..RunReport::default() };
        let computed_on = ComputedOn { device: Device::cpu().to_string(), fallback: None };
        let chosen = self.labels(outcome, report, computed_on, kind, observer)?;
        let Profile { partitions, runs, is_cut, .. } = found;
        Ok(ProfiledLabels { chosen, partitions, chosen_at, runs, is_cut })
    }
}

impl<'g> ProfiledLabels<'g> {
    /// Groups the members of each of the chosen communities.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn into_communities(self) -> Result<ProfiledCommunities<'g>, CommunitiesError> {
        let ProfiledLabels { chosen, partitions, chosen_at, runs, is_cut } = self;
        let chosen = chosen.into_communities()?;
        Ok(ProfiledCommunities { chosen, partitions, chosen_at, runs, is_cut })
    }
}
