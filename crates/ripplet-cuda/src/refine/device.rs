//! Refinement on a device.

use super::launch::Launcher;
use super::places::{Places, Size};
use super::source::source;
use super::state::{Counters, Kind, Level, NONE, Partition, WeightKind};
use super::steps::{DeviceGraph, DevicePartition, DeviceSteps};
use super::tuning::Tuning;
use super::upload::upload;
use crate::lp::{DeviceExecutor, Limits, failed};
use ripplet_gpu::{Address, Arena, Device, Source};
use ripplet_graph::{GraphView, memory};
use ripplet_lp::refine::{
    self, BegunOn, DeviceInput, Figures, RefineDevice, RefineError, RefineOptions, Refined,
};
use ripplet_lp::{DeviceSeconds, Plan, RoundObserver, RunError};
use std::cell::Cell;
use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Instant;

/// Refines communities on a device, within a limit of its memory.
#[derive(Debug)]
pub struct DeviceRefinement<'a, D> {
    device: &'a D,
    limits: Limits,
    tuning: Tuning,
    /// The seconds of the last run outside the algorithm.
    pub(super) seconds: Cell<DeviceSeconds>,
}

impl<'a, D: Device> DeviceRefinement<'a, D> {
    /// Returns a refinement on an executor's device, with the default tuning.
    pub fn new(executor: &'a DeviceExecutor<D>) -> Self {
        DeviceRefinement::within(executor.device(), executor.limits())
    }

    /// Returns a refinement on a device within these limits, with the default tuning.
    pub(crate) fn within(device: &'a D, limits: Limits) -> Self {
        let (tuning, seconds) = (Tuning::default(), Cell::default());
        DeviceRefinement { device, limits, tuning, seconds }
    }

    /// Sets the tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DeviceRefinement { tuning, ..self }
    }

    fn places(&self, size: Size) -> Places {
        Places::new(size, size_of::<Counters>() as u64, self.tuning)
    }

    /// Returns the memory plan of a run. The host's part is that of a run on the host with `threads`
    /// threads, which is more than its small graphs need.
    pub fn plan<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        options: &RefineOptions,
        threads: usize,
    ) -> Plan {
        let graph = graph.into();
        let host = refine::plan(graph, options, threads);
        let room = refine::contracted_arcs(refine::arcs_of(graph));
        let has_imbalances = options.objective.has_imbalances(graph.direction());
        let has_fixed = !options.fixed.is_empty();
        let kind = Kind { has_imbalances, is_limited: options.max_size.is_some() };
        let size = Size::of(graph, room, has_fixed, kind);
        let device = self.places(size).plan;
        Plan { graph_device: device.graph_device, device_items: device.device_items, ..host }
    }
}

impl<D: Device> DeviceRefinement<'_, D> {
    /// Finds the communities that [`refine`](ripplet_lp::refine::refine) finds: the same bytes. Also
    /// returns the seconds for compiling and moving, which are not part of the algorithm.
    ///
    /// # Errors
    /// As there; also if the device fails or has too little memory.
    pub fn run<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        options: &RefineOptions,
        observer: &mut dyn RoundObserver,
    ) -> Result<(Refined, DeviceSeconds), RefineError> {
        let refined = refine::refine_on(self, graph, options, observer)?;
        Ok((refined, self.seconds.get()))
    }
}

impl<'a, D: Device> RefineDevice for DeviceRefinement<'a, D> {
    type Steps = DeviceSteps<'a, D>;

    fn begin(&self, input: DeviceInput<'_>) -> Result<BegunOn<Self::Steps>, RunError> {
        let (has_imbalances, is_limited) = (input.imbalances.is_some(), input.max_size.is_some());
        self.begin_with(input, &source(Kind { has_imbalances, is_limited }), 1)
    }
}

impl<'a, D: Device> DeviceRefinement<'a, D> {
    /// Moves the input to the device, with the kernels of this source, and this number of stacks for
    /// contracted graphs.
    pub(super) fn begin_with(
        &self,
        input: DeviceInput<'_>,
        source: &Source,
        stacks: u64,
    ) -> Result<BegunOn<DeviceSteps<'a, D>>, RunError> {
        let DeviceInput { graph, masses, imbalances, largest_weight, labels, room, .. } = input;
        let (has_imbalances, most_size) = (imbalances.is_some(), input.max_size);
        let kind = Kind { has_imbalances, is_limited: most_size.is_some() };
        let has_fixed = !input.fixed.is_empty();
        let size = Size { stacks, ..Size::of(graph, room, has_fixed, kind) };
        let places = self.places(size);
        self.limits.check(self.device, &places.plan, 0)?;
        let device = self.device;
        let start = Instant::now();
        let module = device.load(source).map_err(failed)?;
        let kernels = start.elapsed().as_secs_f64();
        let launcher = Launcher::new(device, module, places)?;
        let places = &launcher.places;
        upload(device, &launcher.memory, places, graph)?;
        let at = |place: &Range<u64>| launcher.at(place.start);
        launcher.write(at(&places.masses), masses)?;
        launcher.write(at(&places.imbalances), imbalances.unwrap_or_default())?;
        launcher.write(at(&places.labels), labels)?;
        launcher.write(at(&places.best), labels)?;
        let level = Level {
            begins: at(&places.begins),
            degrees: at(&places.degrees),
            masses: at(&places.masses),
            ids: at(&places.ids),
            weights: at(&places.weights),
            vertices: graph.vertices(),
            kind: WeightKind::of_input(graph) as u32,
            imbalances: at(&places.imbalances),
            sizes: at(&places.sizes),
        };
        let partition = Partition {
            labels: at(&places.labels),
            totals: at(&places.totals),
            active: at(&places.active),
            imbalances: at(&places.label_imbalances),
            fixed: if has_fixed { at(&places.fixed) } else { Address(0) },
            sizes: if kind.is_limited { at(&places.label_sizes) } else { Address(0) },
        };
        if has_fixed {
            let mut fixed: Vec<u8> = memory::zeros(labels.len()).map_err(RunError::Array)?;
            input.fixed.iter().for_each(|&v| fixed[v as usize] = 1);
            launcher.write(partition.fixed, &fixed)?;
        }
        if kind.is_limited {
            let alone = memory::filled(1u32, labels.len()).map_err(RunError::Array)?;
            launcher.write(level.sizes, &alone)?;
        }
        let figures = Figures {
            vertices: graph.vertices(),
            arcs: refine::arcs_of(graph),
            largest_weight,
            largest_mass: masses.iter().copied().max().unwrap_or(0),
            total_mass: masses.iter().sum(),
        };
        let mut steps = DeviceSteps {
            launcher,
            tuning: self.tuning,
            kind,
            has_fixed,
            most_size: most_size.map_or(0, NonZeroU32::get),
            stack: Arena::default(),
            vertices_room: graph.vertices().into(),
            arcs_end: 0,
            arcs_room: room,
            joined: 0,
            finished: NONE,
        };
        let graph = DeviceGraph { level, figures, arcs: None };
        let partition = DevicePartition { partition, level };
        steps.start(&partition)?;
        device.wait().map_err(failed)?;
        let transfer = start.elapsed().as_secs_f64() - kernels;
        self.seconds.set(DeviceSeconds { kernels, transfer });
        Ok(BegunOn { steps, graph, partition })
    }
}
