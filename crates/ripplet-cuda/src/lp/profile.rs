//! Times of full iterations by degree class, beside the bandwidth ceilings.

use super::layout::{Classes, LISTED, Layout};
use super::ranks::Share;
use super::rounds::{DeviceRounds, Task, Volumes, filling, one_block};
use super::source::{Kernels, Resident, source};
use super::{DeviceExecutor, failed};
use ripplet_gpu::{Device, DeviceError, Launch};
use ripplet_graph::{Graph, GraphView};
use ripplet_lp::engine::Rounds;
use ripplet_lp::profile::{Iteration, Part, Profile};
use ripplet_lp::{DynProgram, ProgramInfo, RunError, Schedule, Settings};

/// Names of the degree classes.
const CLASSES: [&str; LISTED + 1] = [
    "degree 1-4: a lane",
    "degree 5-8: a lane",
    "degree 9-16: a lane",
    "degree 17-32: a lane",
    "degree 33-64: 2 lanes",
    "degree 65-128: 4 lanes",
    "degree 129-256: 8 lanes",
    "degree 257-512: 16 lanes",
    "degree 513-1024: a warp",
    "degree 1025-4096: a block, a table",
    "degree above 4096: in pieces",
];

/// Steps for large vertices that their sums did not decide.
const SCAN: &str = "of these, one block each";
const SPREAD: &str = "of these, many blocks each";

impl<D: Device> DeviceExecutor<D> {
    /// Measures `iterations` full iterations of a program on a graph.
    ///
    /// In each of them every vertex is active and updates in one phase, whatever the settings say.
    /// Labels continue from one iteration to the next. Each iteration is measured as a whole, and
    /// step by step in a second run with the same draws.
    ///
    /// # Errors
    /// If the settings do not fit the graph and program, or the device refuses memory or fails.
    pub fn profile(
        &self,
        graph: &Graph,
        program: &dyn DynProgram,
        settings: &Settings,
        iterations: u32,
    ) -> Result<Profile, RunError> {
        self.profile_of(graph.into(), &program.info(), settings, iterations)
    }

    fn profile_of(
        &self,
        view: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
        iterations: u32,
    ) -> Result<Profile, RunError> {
        let mut settings = settings.clone();
        if !settings.schedule.is_in_place() {
            settings.schedule.order = Schedule::sync().order;
        }
        super::check(view, program, &settings)?;
        let share = Share::whole(view.vertices());
        let classes = Classes::of(view, share.vertices(), &self.tuning);
        let task = Task { graph: view, program, settings: &settings, tuning: self.tuning };
        let layout = Layout::new(&classes, None, share, task);
        self.check_memory(&layout.plan)?;
        let source = source(view, program, &settings, Kernels::Measured, Resident::Whole)?;
        let module = self.device.load(&source).map_err(failed)?;
        let task = Task { graph: view, program, settings: &settings, tuning: self.tuning };
        let volumes = Volumes::of(task)?;
        let begin = || {
            let layout = layout.clone();
            DeviceRounds::new(&self.device, &module, layout, task, &volumes)
        };

        let mut whole = begin()?;
        let (stream, gather) = self.ceilings(&module, &whole).map_err(failed)?;
        let mut done = Vec::new();
        for index in 0..iterations {
            whole.activate_all().map_err(failed)?;
            let mut round = None;
            let seconds = self.device.timed(&mut || {
                round = Some(whole.round(index, &()));
                Ok(())
            });
            let changed = round.transpose()?.map_or(0, |round| round.changed);
            done.push(Iteration { seconds: seconds.map_err(failed)?, changed, parts: Vec::new() });
        }
        drop(whole);

        let mut parts = begin()?;
        for (index, iteration) in (0..).zip(&mut done) {
            parts.activate_all().map_err(failed)?;
            iteration.parts = parts.round_in_parts(index, &classes).map_err(failed)?;
        }
        let arcs = classes.arcs.iter().sum();
        Ok(Profile { arcs, stream, gather, iterations: done })
    }

    /// Measures the bandwidth ceilings: the least of some times for reading all arcs, and all arcs'
    /// labels.
    fn ceilings(
        &self,
        module: &D::Module,
        rounds: &DeviceRounds<'_, D>,
    ) -> Result<(f64, f64), DeviceError> {
        let least = |kernel| {
            let launch = filling(&self.device, module, one_block(kernel, 0))?;
            let mut least = f64::INFINITY;
            for _ in 0..5 {
                least = least.min(self.device.timed(&mut || rounds.launch_over_arcs(&launch))?);
            }
            Ok(least)
        };
        Ok((least("ripplet_read_ids")?, least("ripplet_gather_labels")?))
    }
}

impl<D: Device> DeviceRounds<'_, D> {
    /// Runs a round with each step and each degree class launched separately; returns their times.
    fn round_in_parts(&mut self, index: u32, classes: &Classes) -> Result<Vec<Part>, DeviceError> {
        let kernels = *self.kernels();
        self.begin_round(index);
        let step = self.step(0);
        let all = classes.vertices.iter().sum();
        let all_arcs = classes.arcs.iter().sum();
        let part = |name, vertices, arcs, seconds| Part { name, vertices, arcs, seconds };
        let mut parts = Vec::new();
        parts.push(part(
            "compact the frontier",
            all,
            all_arcs,
            self.time(&kernels.compact, &step)?,
        ));
        let members = self.members()?;
        for class in (0..=LISTED).rev().filter(|&class| members[class] > 0) {
            // Only this class has members in this launch.
            self.set_members(std::array::from_fn(|at| if at == class { members[at] } else { 0 }))?;
            let low = if class <= 2 { kernels.low } else { None };
            let mut seconds = 0.0;
            for kernel in [low, kernels.choose].iter().flatten() {
                seconds += self.time(kernel, &step)?;
            }
            parts.push(part(CLASSES[class], classes.vertices[class], classes.arcs[class], seconds));
            let of_large = [(SCAN, kernels.scanned), (SPREAD, kernels.spread)];
            for (at, (name, kernel)) in of_large.into_iter().enumerate() {
                let Some(kernel) = kernel.filter(|_| class == LISTED) else { continue };
                let vertices = u64::from(self.large()?[at]);
                parts.push(part(name, vertices, 0, self.time(&kernel, &step)?));
            }
        }
        self.set_members(std::array::from_fn(|at| members[at]))?;
        if let Some(commit) = kernels.commit {
            parts.push(part("commit labels", all, 0, self.time(&commit, &step)?));
        }
        parts.push(part(
            "activate neighbours",
            all,
            all_arcs,
            self.time(&kernels.activate, &step)?,
        ));
        self.end_phase();
        Ok(parts)
    }

    fn time(&self, launch: &Launch, step: &[u8]) -> Result<f64, DeviceError> {
        self.device().timed(&mut || self.launch(launch, step))
    }
}
