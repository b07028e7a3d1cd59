//! Times of full iterations by degree class, beside the bandwidth ceilings.

use super::classes::Classes;
use super::errors::{check, failed};
use super::executor::DeviceExecutor;
use super::known::Known;
use super::launch::Optional;
use super::layout::Layout;
use super::rank::DeviceRank;
use super::rank_rounds::RankRounds;
use super::ranks::Share;
use super::source::{Kernels, source};
use super::state::{LISTED, LpState, Piece, Tallies};
use super::task::Task;
use ripplet_gpu::{Device, DeviceError};
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
        check(view, program, &settings)?;
        let share = Share::whole(view.vertices());
        let classes = Classes::of(view, share.vertices(), &self.tuning);
        let task = Task { graph: view, program, settings: &settings, tuning: self.tuning };
        let layout = Layout::new(&classes, None, share, task);
        self.check_memory(&layout.plan)?;
        let source = source(view, program, &settings, layout.compiled(Kernels::Measured))?;
        let module = self.device.load(&source).map_err(failed)?;
        let task = Task { graph: view, program, settings: &settings, tuning: self.tuning };
        let known = Known::of(task)?;
        let begin = || {
            let layout = layout.clone();
            DeviceRank::new(&self.device, &module, layout, task, &known)
        };

        let mut whole = RankRounds::alone(begin()?);
        let (stream, gather) = self.ceilings(&whole.ranks[0]).map_err(failed)?;
        let mut done = Vec::new();
        for index in 0..iterations {
            whole.ranks[0].activate_all().map_err(failed)?;
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
    fn ceilings(&self, rank: &DeviceRank<'_, D>) -> Result<(f64, f64), DeviceError> {
        let least = |kernel| {
            let mut least = f64::INFINITY;
            for _ in 0..5 {
                least = least.min(rank.time_over_arcs(kernel)?);
            }
            Ok(least)
        };
        Ok((least("ripplet_read_ids")?, least("ripplet_gather_labels")?))
    }
}

impl<D: Device> DeviceRank<'_, D> {
    /// Returns the seconds of a kernel that reads all of `graph.out`; in a directed graph once
    /// more, with the incoming arcs in its place.
    fn time_over_arcs(&self, kernel: &'static str) -> Result<f64, DeviceError> {
        let (launches, arguments) = (&self.run.launches, &self.run.arguments);
        let ceiling = launches.ceiling(kernel)?;
        let mut all = vec![arguments.run()];
        let lists = self.run.layout.lists.graph.plain();
        let arcs = lists.map_or(0, |graph| graph.incoming.arcs());
        if arcs > 0 {
            let mut state: LpState = arguments.state;
            state.graph.out = state.graph.incoming;
            state.graph.arcs = arcs;
            all.push(arguments.run_with(&state));
        }
        let device = self.run.device();
        device.timed(&mut || all.iter().try_for_each(|run| launches.measure(&ceiling, run)))
    }

    /// Returns the number of members of each class.
    fn members(&self) -> Result<[u32; LISTED + 1], DeviceError> {
        Ok(self.run.tallies()?.members[self.run.arguments.parity()])
    }

    /// Returns the number of large vertices, and how many of them are left for the grid-mapped
    /// kernel.
    fn large(&self) -> Result<[u32; 2], DeviceError> {
        let (tallies, parity) = (self.run.tallies()?, self.run.arguments.parity());
        let mut listed = vec![Piece::default(); tallies.open[parity] as usize];
        let place = self.run.layout.large.open_pieces.start;
        self.run.memory.read(place, bytemuck::cast_slice_mut(&mut listed))?;
        let open = listed.iter().filter(|piece| piece.index == 0).count();
        Ok([tallies.members[parity][LISTED], open as u32])
    }

    /// Sets the number of members of the listed classes.
    fn set_members(&self, members: [u32; LISTED]) -> Result<(), DeviceError> {
        let all = std::mem::offset_of!(Tallies, members) as u64;
        let of_parity = (size_of::<[u32; LISTED + 1]>() * self.run.arguments.parity()) as u64;
        let place = &self.run.layout.tallies;
        self.run.memory.write(place, all + of_parity, bytemuck::cast_slice(&members))
    }

    /// Runs a round with each step and each degree class launched separately; returns their times.
    fn round_in_parts(&mut self, index: u32, classes: &Classes) -> Result<Vec<Part>, DeviceError> {
        self.begin_round(index);
        self.begin_phase(0);
        let step = self.run.step();
        let (device, launches) = (self.run.device(), &self.run.launches);
        let all = classes.vertices.iter().sum();
        let all_arcs = classes.arcs.iter().sum();
        let part = |name, vertices, arcs, seconds| Part { name, vertices, arcs, seconds };
        let mut parts = Vec::new();
        let seconds = device.timed(&mut || launches.compact(&step))?;
        parts.push(part("compact the frontier", all, all_arcs, seconds));
        let members = self.members()?;
        for class in (0..=LISTED).rev().filter(|&class| members[class] > 0) {
            // Only this class has members in this launch.
            self.set_members(std::array::from_fn(|at| if at == class { members[at] } else { 0 }))?;
            let mut seconds = 0.0;
            if class <= 2 {
                seconds += device.timed(&mut || launches.choose_by_thread(&step))?;
            }
            seconds += device.timed(&mut || launches.choose_by_warp_and_block(&step))?;
            parts.push(part(CLASSES[class], classes.vertices[class], classes.arcs[class], seconds));
            if class == LISTED && launches.has(Optional::ByLargeBlock) {
                let vertices = u64::from(self.large()?[0]);
                let seconds = device.timed(&mut || launches.choose_by_large_block(&step))?;
                parts.push(part(SCAN, vertices, 0, seconds));
            }
            if class == LISTED && launches.has(Optional::ByGrid) {
                let vertices = u64::from(self.large()?[1]);
                let seconds = device.timed(&mut || launches.choose_by_grid(&step))?;
                parts.push(part(SPREAD, vertices, 0, seconds));
            }
        }
        self.set_members(std::array::from_fn(|at| members[at]))?;
        if launches.has(Optional::Commit) {
            let seconds = device.timed(&mut || launches.commit(&step))?;
            parts.push(part("commit labels", all, 0, seconds));
        }
        let seconds = device.timed(&mut || launches.activate(&step))?;
        parts.push(part("activate neighbours", all, all_arcs, seconds));
        self.end_phase();
        Ok(parts)
    }
}
