//! Memory layout of a run on a device: one allocation, planned before it is reserved.

use super::classes::Classes;
use super::columns::ColumnPlaces;
use super::frontier::FrontierPlaces;
use super::members::{Choices, LargePlaces, MemberPlaces};
use super::ranks::{RankPlaces, Share};
use super::source::{Compiled, Kernels, Resident};
use super::stage::StagePlaces;
use super::state::{LpState, Tallies};
use super::task::Task;
use super::totals::{TotalPlaces, has_shares};
use crate::lists::{STAGING_BUFFER_BYTES, Split, Supply};
use ripplet_gpu::Address;
use ripplet_gpu::Arena;
use ripplet_graph::GraphView;
use ripplet_lp::{Plan, engine};
use std::ops::Range;

/// Byte ranges of all arrays, in one allocation.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub lists: StagePlaces,
    pub labels: Range<u64>,
    pub frontier: FrontierPlaces,
    pub totals: TotalPlaces,
    /// Degrees of all vertices, if a rank shares compressed lists, or a run with other processes.
    pub degrees: Range<u64>,
    pub columns: ColumnPlaces,
    pub tallies: Range<u64>,
    pub members: MemberPlaces,
    pub large: LargePlaces,
    /// The share of the run that the layout is for.
    pub share: Share,
    pub ranks: RankPlaces,
    /// Bytes of the allocation.
    pub bytes: u64,
    pub plan: Plan,
}

impl Layout {
    /// Plans a share of a run whose vertices have these classes, with all of its lists on the
    /// device (`None`) or with those that the split has there.
    pub fn new(classes: &Classes, split: Option<Split>, share: Share, task: Task<'_>) -> Layout {
        let Task { graph, program, settings, tuning } = task;
        let (vertices, drafted) = (u64::from(graph.vertices()), task.drafted());
        let phases = u64::from(settings.schedule.phases().max(1));
        let (own, is_ranked) = (share.vertices(), share.is_ranked());
        // A share's bounds may cut a block of `8 * phases` vertices.
        let cut = u64::from(is_ranked);
        let most_at_once = |own: u64| own.min((own.div_ceil(8 * phases) + cut) * 8);
        let at_once = most_at_once(own.len() as u64);
        let may_pull = tuning.pull_threshold_of(settings.schedule) > 0;
        let is_whole = split.is_none();

        let mut places = Arena::default();
        let lists = StagePlaces::new(&mut places, graph, own, split, at_once);
        let graph_bytes = places.bytes;

        let labels = places.take(4, vertices);
        // Vertices of a streamed graph may pull after others have updated again, so stamps of the
        // previous phase are kept too.
        let stamps = if is_whole { vertices } else { 2 * vertices };
        let mut frontier =
            FrontierPlaces::new(&mut places, vertices, if may_pull { stamps } else { 0 });
        let of_labels = places.bytes;

        let totals = TotalPlaces::new(&mut places, task);
        let has_degrees =
            is_ranked && (share.is_of_processes || matches!(graph, GraphView::Compressed(_)));
        let degrees = places.take(4, if has_degrees { vertices } else { 0 });
        let of_totals = places.bytes;

        let columns = ColumnPlaces::new(&mut places, &program.columns, graph.vertices(), drafted);
        let of_columns = places.bytes;

        let tallies = places.take(size_of::<Tallies>() as u64, 1);
        let choices = match (settings.schedule.is_in_place() && !is_ranked, is_whole) {
            (true, _) => Choices::InPlace,
            (false, true) => Choices::Packed,
            (false, false) => Choices::AsMembers,
        };
        let members = MemberPlaces::new(&mut places, classes, at_once, choices);
        frontier.take_hubs(&mut places, if may_pull { classes.hub_pieces } else { 0 });
        let of_members = places.bytes;

        let large = LargePlaces::new(&mut places, classes, settings, &tuning);
        let of_tables = places.bytes;

        let ranks = RankPlaces::new(&mut places, &share, drafted, settings.schedule, most_at_once);

        // A file from which the host reads lists need not be in memory as a whole.
        let mapped = if tuning.supply == Supply::Staged { graph.shared_bytes() } else { 0 };
        let graph_host = graph.bytes() - mapped;
        let mut plan = Plan { graph_host, graph_device: graph_bytes, ..Plan::default() }
            .with_streamed(lists.streamed().map_or(0, |streamed| streamed.far_bytes))
            .with_device("labels and active vertices", of_labels - graph_bytes)
            .with_device("label totals", of_totals - of_labels)
            .with_device("columns", of_columns - of_totals)
            .with_device("vertex lists and choices", of_members - of_columns)
            .with_device("tables of large vertices", of_tables - of_members)
            .with_device("messages between GPUs", places.bytes - of_tables);
        plan.device_items.retain(|item| item.bytes > 0);
        if split.is_some_and(|split| split.supply == Supply::Staged) {
            plan = plan.with("staging buffer", 4 * lists.most_wanted + STAGING_BUFFER_BYTES);
        }
        let plan = host_plan(plan, task, &share);
        Layout {
            lists,
            labels,
            frontier,
            totals,
            degrees,
            columns,
            tallies,
            members,
            large,
            share,
            ranks,
            bytes: places.bytes,
            plan,
        }
    }

    /// Whether the host's limit is below the plan, and the graph is in a file, so that lists can be
    /// read from it instead.
    pub fn exceeds(&self, host_limit: Option<u64>, graph: GraphView<'_>) -> bool {
        host_limit.is_some_and(|limit| self.plan.total_host() > limit) && graph.shared_bytes() > 0
    }

    /// Returns whether the whole graph is on the device.
    pub fn resident(&self) -> Resident {
        if self.lists.streamed().is_some() { Resident::Partly } else { Resident::Whole }
    }

    /// Returns what these kernels are compiled for.
    pub fn compiled(&self, kernels: Kernels) -> Compiled {
        Compiled { kernels, resident: self.resident(), has_large: !self.large.is_empty() }
    }

    /// Returns the addresses of all arrays, in memory that begins at `base`.
    pub fn state(&self, base: Address) -> LpState {
        let at = |range: &Range<u64>| base.plus(range.start);
        let members = self.members.first(base);
        let mut state = LpState {
            labels: at(&self.labels),
            frontier: self.frontier.state(base),
            totals: self.totals.state(base),
            members: self.members.state(base),
            large: self.large.state(base),
            tallies: at(&self.tallies),
            mirrors: at(&self.ranks.mirrors_at),
            streamed: self.lists.state(base, &self.share.vertices(), members),
            drafts: self.columns.drafts(base),
            ..LpState::default()
        };
        state.graph.out = self.lists.graph.lists(base, 0);
        state.graph.incoming = self.lists.graph.lists(base, 1);
        state.graph.shards = at(self.lists.graph.shards());
        state.graph.degrees = at(&self.degrees);
        state
    }
}

/// Adds the host's memory beside the graph: what the caller gave, and results. Processes that share a run finish it together, in
/// another way.
fn host_plan(plan: Plan, task: Task<'_>, share: &Share) -> Plan {
    let Task { graph, program, settings, .. } = task;
    let vertices = u64::from(graph.vertices());
    let written = program.columns.iter().filter(|spec| spec.written);
    let written: u64 = written.map(|spec| 4 * engine::values_of(spec, graph.vertices())).sum();
    let given: u64 = settings.columns.values().map(|values| 4 * values.len() as u64).sum();
    let mut plan = plan.with("labels", 4 * vertices);
    for (purpose, bytes) in [
        ("labels to begin with", if settings.initial.is_some() { 4 * vertices } else { 0 }),
        ("columns to begin with", given),
        ("columns", written),
        ("shares of label totals", if has_shares(task) { 4 * vertices } else { 0 }),
        (
            "splitting and merging",
            match share.is_of_processes {
                true => 0,
                false => engine::bytes_of_finishing(graph, settings, rayon::current_num_threads()),
            },
        ),
    ] {
        if bytes > 0 {
            plan = plan.with(purpose, bytes);
        }
    }
    plan
}
