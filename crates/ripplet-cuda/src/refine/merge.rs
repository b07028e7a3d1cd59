//! Splitting and merging of communities on a device, after the rounds of label propagation.
//!
//! [`merge.rs`](ripplet_lp::refine::MergeSteps) of `ripplet_lp` has the algorithm. Levels are not kept: those
//! of odd and of even depth have a stack and an array of arcs each.

use super::device::DeviceRefinement;
use super::launch::Items;
use super::source::merging_source;
use super::state::{Level, Partition, Work};
use super::steps::{DeviceSteps, Kernels};
use ripplet_gpu::{Address, Arena, Device};
use ripplet_graph::Observer;
use ripplet_lp::engine::{Communities, Finishing};
use ripplet_lp::refine::{BegunOn, Counts, DeviceInput, Draw, MergeRule, MergeSteps, arcs_of};
use ripplet_lp::{Label, RoundObserver, RunError};

const MERGE: Kernels = [
    "ripplet_refine_merge_0",
    "ripplet_refine_merge_1",
    "ripplet_refine_merge_2",
    "ripplet_refine_merge_3",
];

impl<D: Device> DeviceRefinement<'_, D> {
    /// Splits and merges the communities of a run on the device: the same bytes as on the host.
    ///
    /// # Errors
    /// [`RunError::DeviceMemory`] if the graph does not fit the device's memory; see [`MergeSteps`].
    pub fn finish(
        &self,
        run: Finishing<'_>,
        observer: &mut dyn RoundObserver,
    ) -> Result<Communities, RunError> {
        observer.on_stage("moving the graph to the device once more");
        let (masses, rule) = run.strengths()?;
        let arcs = arcs_of(run.graph);
        let input = DeviceInput {
            graph: run.graph,
            masses: &masses,
            imbalances: None,
            largest_weight: 0,
            labels: run.labels,
            fixed: &[],
            max_size: None,
            room: arcs.saturating_mul(2),
        };
        let BegunOn { steps, graph, partition } = self.begin_with(input, &merging_source(), 2)?;
        drop(masses);
        let found = steps.launcher.at(steps.launcher.places.best.start);
        let merge = DeviceMerge {
            input: graph.level,
            level: graph.level,
            partition: partition.partition,
            found,
            depth: 0,
            arcs,
            steps,
        };
        let communities = run.finish_by(merge, rule, observer)?;
        Ok(Communities { device_seconds: self.seconds.get(), ..communities })
    }
}

/// A merge on a device.
struct DeviceMerge<'a, D: Device> {
    steps: DeviceSteps<'a, D>,
    /// The graph to finish.
    input: Level,
    /// The graph of the present level, and its communities.
    level: Level,
    partition: Partition,
    /// The vertex of the level that each vertex of the input is in.
    found: Address,
    depth: u64,
    /// The arcs of the input. No level has more.
    arcs: u64,
}

impl<D: Device> DeviceMerge<'_, D> {
    /// Returns the argument of kernels that name the vertices of the input.
    fn naming(&self, work: Work) -> Work {
        Work { level: self.input, communities: self.found, ..work }
    }

    fn launch(&self, kernel: &'static str, items: Items, work: &Work) -> Result<(), RunError> {
        self.steps.launcher.launch(kernel, items, work)
    }
}

impl<D: Device> MergeSteps for DeviceMerge<'_, D> {
    fn contract(&mut self, observer: &dyn Observer) -> Result<bool, RunError> {
        if observer.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        let side = self.depth % 2;
        let stack = &self.steps.launcher.places.stack;
        self.steps.stack = Arena { bytes: side * ((stack.end - stack.start) / 2) };
        self.steps.arcs_end = side * self.arcs;
        self.steps.arcs_room = self.steps.arcs_end + self.arcs;
        // Each part is a community.
        let numbered = self.steps.number_parts(self.level, self.steps.parts())?;
        let vertices = Items::Threads(self.input.vertices.into());
        let naming = self.naming(numbered);
        if self.depth == 0 {
            self.launch("ripplet_refine_start_names", vertices, &naming)?;
        }
        self.launch("ripplet_refine_compose", vertices, &naming)?;
        self.depth += 1;
        let Some((graph, partition)) = self.steps.sum_up_parts(numbered)? else {
            return Ok(false);
        };
        (self.level, self.partition) = (graph.level, partition.partition);
        Ok(true)
    }

    fn join(
        &mut self,
        rule: MergeRule,
        draw: Draw,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        let work = Work {
            key: draw.key,
            phases: draw.phases,
            tie_key: draw.key,
            grand_total: rule.total,
            share: rule.share.steps().into(),
            ..self.steps.work(self.level, self.partition)
        };
        self.steps.phases(&work, &MERGE, true, observer)
    }

    fn divide(&mut self, observer: &dyn Observer) -> Result<u32, RunError> {
        if observer.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        let parts = self.steps.parts();
        let communities = self.partition.labels;
        let work = Work { communities, ..self.steps.work(self.level, parts) };
        let vertices = u64::from(self.level.vertices);
        self.steps.launcher.reset(0)?;
        self.launch("ripplet_refine_stand_alone", Items::Threads(vertices), &work)?;
        self.launch("ripplet_refine_unite_neighbors", Items::Lists(vertices), &work)?;
        self.launch("ripplet_refine_unite_long", Items::Threads(u64::MAX), &work)?;
        self.launch("ripplet_refine_flatten", Items::Threads(vertices), &work)?;
        self.steps.sum_masses(self.level, parts)?;
        let counted = self.steps.counted("ripplet_refine_count_joined", Items::Threads, &work)?;
        self.steps.joined = counted.different;
        Ok((vertices - counted.different) as u32)
    }

    fn named(self) -> Result<Vec<Label>, RunError> {
        let (launcher, vertices) = (&self.steps.launcher, u64::from(self.input.vertices));
        if self.depth == 0 {
            return launcher.read(self.steps.parts().labels, vertices);
        }
        let mut naming = self.naming(self.steps.work(self.input, self.partition));
        naming.contraction.names = launcher.at(launcher.places.names.start);
        launcher.fill(naming.contraction.names, 4 * vertices, 0xff)?;
        self.launch("ripplet_refine_find_names", Items::Threads(vertices), &naming)?;
        self.launch("ripplet_refine_give_names", Items::Threads(vertices), &naming)?;
        launcher.read(self.found, vertices)
    }
}
