//! Executor of label propagation on several devices of one process. Each device has the lists of
//! some vertices, and labels of all.

use super::errors::{check, named, of_device, refuse_above};
use super::known::Known;
use super::layout::Layout;
use super::limits::Limits;
use super::peers::{Peers, joined};
use super::rank::DeviceRank;
use super::rank_rounds::RankRounds;
use super::ranks::MOST_RANKS;
use super::shares;
use super::source::{Compiled, Kernels, Resident, source};
use super::task::Task;
use super::tuning::Tuning;
use ripplet_gpu::transport::{Transport, TransportKind};
use ripplet_gpu::{DeviceError, Peer};
use ripplet_graph::GraphView;
use ripplet_lp::engine::{Finisher, run_rounds};
use ripplet_lp::{DynProgram, Outcome, Plan, ProgramInfo, RoundObserver, RunError, Settings};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Executor of label propagation on several devices, which share the graph.
pub struct DevicesExecutor<D: Peer> {
    // Dropped before the devices, on which it depends.
    transport: Transport<D::Communicator>,
    devices: Vec<D>,
    names: Vec<String>,
    tuning: Tuning,
    limits: Limits,
    notes: Vec<String>,
    /// Bytes of messages that the devices received in the last run.
    exchanged: AtomicU64,
}

impl<D: Peer> DevicesExecutor<D> {
    /// Returns an executor on these devices, with the fastest transport that works between them.
    ///
    /// # Errors
    /// If there are no devices or more than [`MOST_RANKS`], or one of them fails.
    pub fn new(devices: Vec<D>) -> Result<Self, DeviceError> {
        Self::by(devices, None)
    }

    /// Returns an executor on these devices with the given transport, or with another one if it
    /// does not work.
    ///
    /// # Errors
    /// If there are no devices or more than [`MOST_RANKS`], or one of them fails.
    pub fn by(devices: Vec<D>, kind: Option<TransportKind>) -> Result<Self, DeviceError> {
        if devices.is_empty() || devices.len() > MOST_RANKS {
            return Err(DeviceError::Failed {
                what: "sharing a run".to_owned(),
                reason: format!("1 to {MOST_RANKS} can share one, not {}", devices.len()),
            });
        }
        let (transport, reason) = Transport::find(&devices, kind)?;
        let name = |(number, device): (usize, &D)| format!("{number} {}", device.properties().name);
        let names = devices.iter().enumerate().map(name).collect();
        let note = |why| format!("GPUs exchange labels by copies of the driver: {why}");
        let notes = reason.into_iter().map(note).collect();
        Ok(DevicesExecutor {
            transport,
            devices,
            names,
            tuning: Tuning::default(),
            limits: Limits::default(),
            notes,
            exchanged: AtomicU64::new(0),
        })
    }

    /// Sets the devices' names in errors. Has no effect if `names` has another length.
    #[must_use]
    pub fn with_names(self, names: Vec<String>) -> Self {
        if names.len() == self.devices.len() { DevicesExecutor { names, ..self } } else { self }
    }

    /// Sets the tuning.
    #[must_use]
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        DevicesExecutor { tuning, ..self }
    }

    /// Limits the bytes of each device's memory that a run may use.
    #[must_use]
    pub fn with_memory(mut self, limit: Option<u64>) -> Self {
        self.limits.device = limit;
        self
    }

    /// Limits the bytes of the host's memory that a run may use: see
    /// [`DeviceExecutor::with_host_memory`].
    ///
    /// [`DeviceExecutor::with_host_memory`]: super::DeviceExecutor::with_host_memory
    #[must_use]
    pub fn with_host_memory(mut self, limit: Option<u64>) -> Self {
        self.limits.host = limit;
        self
    }

    /// Returns the devices.
    pub fn devices(&self) -> &[D] {
        &self.devices
    }

    /// Returns the devices' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the transport between the devices.
    pub fn transport(&self) -> TransportKind {
        self.transport.kind()
    }

    /// Returns notes for the user, a sentence each, about things that are not errors.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the bytes of messages that the devices received in the last finished run.
    pub fn exchanged(&self) -> u64 {
        self.exchanged.load(Ordering::Relaxed)
    }

    /// Returns the bytes of each device's memory that a run may use. If a device fails here, there
    /// is no limit: the error shows when memory is reserved.
    fn rooms(&self) -> Vec<u64> {
        let room = |device: &D| self.limits.room(device.free_memory().unwrap_or(u64::MAX));
        self.devices.iter().map(room).collect()
    }

    /// Plans each device's memory.
    fn layouts(&self, task: Task<'_>) -> Vec<Layout> {
        let copies_messages = self.transport.copies_messages();
        shares::layouts(task, &self.rooms(), copies_messages, self.limits.host)
    }

    /// Returns the memory plan of each device.
    pub fn plans<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Vec<Plan> {
        let program = &program.info();
        let task = Task { graph: graph.into(), program, settings, tuning: self.tuning };
        self.layouts(task).into_iter().map(|layout| layout.plan).collect()
    }

    /// Refuses a run if the plan of a device does not fit its memory.
    ///
    /// # Errors
    /// [`RunError::DeviceMemory`], with the device's name.
    pub fn check_memory(&self, plans: &[Plan]) -> Result<(), RunError> {
        for ((plan, device), name) in plans.iter().zip(&self.devices).zip(&self.names) {
            let free = device.free_memory().map_err(|error| of_device(name, error))?;
            refuse_above([self.limits.room(free), free], name, plan)?;
        }
        Ok(())
    }
}

impl<D: Peer> DevicesExecutor<D> {
    /// Returns the tuning.
    pub fn tuning(&self) -> Tuning {
        self.tuning
    }

    /// Returns the limits of memory.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Runs a program, compiled once for both kinds of lists; the finisher ends the run, if it does.
    pub(crate) fn run_with(
        &self,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
        finisher: &dyn Finisher,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        let task = Task { graph, program, settings, tuning: self.tuning };
        check(graph, program, settings)?;
        let kernels = if self.devices.len() > 1 { Kernels::Ranked } else { Kernels::Work };
        let layouts = self.layouts(task);
        let resident = layouts.first().map_or(Resident::Whole, Layout::resident);
        let has_large = layouts.iter().any(|layout| !layout.large.is_empty());
        let source = source(graph, program, settings, Compiled { kernels, resident, has_large })?;
        let plans: Vec<Plan> = layouts.iter().map(|layout| layout.plan.clone()).collect();
        self.check_memory(&plans)?;
        let planned = plans.iter().map(Plan::algorithm_host).max().unwrap_or(0);
        observer.on_stage("compiling the kernels");
        let start = Instant::now();
        // Of several devices of one kind, the first compiles, and the others find the result in the
        // cache.
        let load = |(device, name): (&D, &String)| {
            device.load(&source).map_err(|error| of_device(name, error))
        };
        let modules = self.devices.iter().zip(&self.names).map(load);
        let modules: Vec<D::Module> = modules.collect::<Result<_, _>>()?;
        let seconds = start.elapsed().as_secs_f64();
        observer.on_stage("moving the graph to the devices");
        let rounds = self.begin(&modules, layouts, task)?;
        let outcome = run_rounds(Box::new(rounds), graph, settings, Some(finisher), observer);
        let mut outcome = outcome.map_err(|error| error.planned(planned))?;
        outcome.device_seconds.kernels += seconds;
        Ok(outcome)
    }

    /// Creates the state before the first round on each device.
    fn begin<'a>(
        &'a self,
        modules: &'a [D::Module],
        layouts: Vec<Layout>,
        task: Task<'a>,
    ) -> Result<RankRounds<'a, D, Peers<'a, D>>, RunError> {
        let start = Instant::now();
        let known = &Known::of(task)?;
        let begin = |((device, module), layout)| {
            move || DeviceRank::new(device, module, layout, task, known)
        };
        let all = self.devices.iter().zip(modules).zip(layouts);
        let begun: Vec<Result<DeviceRank<'a, D>, RunError>> = std::thread::scope(|scope| {
            let threads: Vec<_> = all.map(|one| scope.spawn(begin(one))).collect();
            threads.into_iter().map(joined).collect()
        });
        let with_name = |(begun, name): (Result<_, RunError>, &String)| {
            begun.map_err(|error| named(name, error))
        };
        let mut ranks: Vec<DeviceRank<'a, D>> =
            begun.into_iter().zip(&self.names).map(with_name).collect::<Result<_, _>>()?;
        let buffers: Vec<_> = ranks.iter().map(DeviceRank::send_buffers).collect();
        for (rank, name) in ranks.iter_mut().zip(&self.names) {
            rank.join(&buffers).map_err(|error| named(name, error))?;
        }
        // That of the first rank is counted by the rank.
        let of_first = ranks.first().map_or(0.0, DeviceRank::transfer_seconds);
        let transfer_seconds = (start.elapsed().as_secs_f64() - of_first).max(0.0);
        Ok(RankRounds { ranks, group: self.peers(), transfer_seconds })
    }

    /// Returns the group of the ranks.
    fn peers(&self) -> Peers<'_, D> {
        Peers {
            devices: &self.devices,
            transport: &self.transport,
            names: &self.names,
            exchanged: &self.exchanged,
        }
    }
}
