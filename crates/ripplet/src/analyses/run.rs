//! Runs of an analysis of one graph: its plan, the device, ranks.

use super::device::Gpu;
use super::found::Collected;
use super::{
    AnalyseError, Analysed, AnalysisDevice, AnalysisObserver, AnalysisReport, AnalysisRun, Take,
};
use crate::communities::locked;
use crate::device::{Fallback, RunSeconds, plan_on_cpu};
use crate::swarm::{Scope, SwarmError, pass};
use ripplet_analytics::pagerank::Jumps;
use ripplet_analytics::{AnalysisError, RankPart};
use ripplet_graph::{Graph, VertexId};
use ripplet_io::write::{ColumnData, Part};
use ripplet_lp::engine::Parts;
use ripplet_lp::{Plan, RunError};
use ripplet_ranks::SharedComm;
use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// What computes.
enum On<'a> {
    /// The cores of this host.
    Cpu,
    /// A GPU, with the lists that it reads.
    Gpu(&'a mut Gpu, &'a Graph),
    /// The cores of several ranks, of which this one has these vertices.
    Ranks(&'a SharedComm, Range<VertexId>),
}

impl<'g> AnalysisRun<'g> {
    /// Returns the memory that the run needs beside its values, on the device that it would run on, and the name of that
    /// device: under [`Device::auto`](crate::Device::auto) the CPU if the run does not fit the GPU. `threads` are those of
    /// the CPU: rayon's current pool has as many when the analysis runs. Ranks call it at the same time.
    ///
    /// # Errors
    /// If the device cannot be opened, the analysis is not one for its jumps or sources, or ranks differ.
    pub fn plan(&self, threads: usize) -> Result<(Plan, String), AnalyseError> {
        self.plan_with(threads, &mut ())
    }

    /// Returns the plan and the device as [`AnalysisRun::plan`] does, with an observer of what is decided.
    ///
    /// # Errors
    /// See [`AnalysisRun::plan`].
    pub fn plan_with(
        &self,
        threads: usize,
        observer: &mut dyn AnalysisObserver,
    ) -> Result<(Plan, String), AnalyseError> {
        let plan = |on: &mut On<'_>, _: &mut dyn AnalysisObserver| {
            let plan = self.plan_on(on, threads)?;
            if let (On::Gpu(gpu, _), true) = (on, self.device.is_auto()) {
                // A run that does not fit the GPU would use the CPU, with another plan.
                gpu.check_memory(&plan).map_err(SwarmError::from)?;
            }
            Ok(plan)
        };
        let (plan, device, _) = self.on_device(observer, || true, plan)?;
        Ok((plan, device))
    }

    /// Runs the analysis; the CPU uses rayon's current pool. Under [`Device::auto`](crate::Device::auto), a run that
    /// fails on the GPU is repeated on the CPU.
    ///
    /// Memory: that of the analysis, and its values. Compressed lists are analysed by the CPU, as they are.
    ///
    /// # Errors
    /// If the device cannot be opened, compressed lists are for a GPU, memory is refused, the analysis fails, or it is not one for its jumps or sources.
    pub fn run(&self) -> Result<Analysed<'g>, AnalyseError> {
        self.run_with(&mut ())
    }

    /// Runs the analysis as [`AnalysisRun::run`] does, with an observer, which may refuse the plan of the run, or cancel.
    ///
    /// # Errors
    /// See [`AnalysisRun::run`]; also if the observer refuses or cancels.
    pub fn run_with(
        &self,
        observer: &mut dyn AnalysisObserver,
    ) -> Result<Analysed<'g>, AnalyseError> {
        let values = RefCell::new(Collected::default());
        let begin_anew = || {
            values.take();
            true
        };
        let report = self.pass_rows(observer, begin_anew, &mut |part, columns| {
            values.borrow_mut().add(&part, columns)
        })?;
        Ok(Analysed::new(self.graph, self.analysis, values.into_inner(), report))
    }

    /// Runs the analysis as [`AnalysisRun::run_with`] does, and passes the rows and their columns to `take`: pairs in several
    /// parts as they are computed, so that they are never in memory all together, and others at once. Each rank passes all rows.
    ///
    /// After the first part, a run that fails on the GPU is not repeated on the CPU.
    ///
    /// # Errors
    /// See [`AnalysisRun::run_with`]; also if `take` fails.
    ///
    /// # Examples
    /// ```
    /// use ripplet::io::write::ColumnData;
    /// use ripplet::{analyse, graph_from_edges};
    ///
    /// let graph = graph_from_edges([(1, 2), (2, 3), (3, 4)])?;
    /// let mut longest = 0.0_f64;
    /// let report = analyse(&graph, "distances")?.rows_with(&mut (), |_, columns| {
    ///     if let [ColumnData::F64(distances)] = columns {
    ///         longest = distances.iter().copied().fold(longest, f64::max);
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(longest, 3.0);
    /// println!("{:.3} s on {}", report.seconds.compute, report.device);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rows_with(
        &self,
        observer: &mut dyn AnalysisObserver,
        mut take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
    ) -> Result<AnalysisReport, AnalyseError> {
        let is_begun = Cell::new(false);
        self.pass_rows(observer, || !is_begun.get(), &mut |part, columns| {
            is_begun.set(true);
            take(part, columns)
        })
    }

    /// Runs the analysis, and passes its rows to `take`, also after a failure of the GPU if `begin_anew` returns true.
    fn pass_rows(
        &self,
        observer: &mut dyn AnalysisObserver,
        begin_anew: impl Fn() -> bool,
        take: Take<'_>,
    ) -> Result<AnalysisReport, AnalyseError> {
        let (report, device, fallback) = self.on_device(observer, begin_anew, |on, observer| {
            let plan = self.plan_on(on, rayon::current_num_threads())?;
            if !observer.allows(&plan, &on.name()) {
                return Err(AnalyseError::Refused);
            }
            let report = match on {
                On::Cpu => self.pass_rows_of_cpu(observer, take)?,
                On::Gpu(gpu, graph) => gpu.pass_rows(graph, observer, take)?,
                On::Ranks(comm, own) => {
                    self.pass_rows_of_ranks(comm, own.clone(), observer, take)?
                }
            };
            Ok(AnalysisReport { plan, ..report })
        })?;
        Ok(AnalysisReport { device, fallback, ..report })
    }

    /// Does work on the device, and on the CPU if `auto` chose a GPU that fails at it and `begin_anew` returns true. Also
    /// returns the name of the device, and why it is the CPU.
    fn on_device<T>(
        &self,
        observer: &mut dyn AnalysisObserver,
        begin_anew: impl Fn() -> bool,
        mut work: impl FnMut(&mut On<'_>, &mut dyn AnalysisObserver) -> Result<T, AnalyseError>,
    ) -> Result<(T, String, Option<Fallback>), AnalyseError> {
        if let Some(comm) = &self.ranks {
            let own = self.share(comm)?;
            let done = self.compare(comm).and_then(|()| work(&mut On::Ranks(comm, own), observer));
            let done = done.inspect_err(|error| observer.on_failure(comm, error))?;
            return Ok((done, On::Cpu.name(), None));
        }
        let opened = self.opened()?;
        let mut gpu_or_fallback = opened.gpu();
        if let (Ok(gpu), Some(graph)) = (&mut *gpu_or_fallback, self.graph.as_plain()) {
            let done = work(&mut On::Gpu(gpu, graph), observer);
            gpu.notes().into_iter().for_each(|note| observer.on_device_note(note));
            let error = match done {
                Ok(done) => return Ok((done, gpu.name(), None)),
                Err(error) => error,
            };
            let fallback = self.device.fallback(&error).filter(|_| begin_anew());
            let Some(fallback) = fallback else { return Err(error) };
            // This closes the GPU, whose memory on the host the CPU may need.
            *gpu_or_fallback = Err(Some(fallback.clone()));
            observer.on_fallback(fallback, error);
        }
        drop(gpu_or_fallback);
        Ok((work(&mut On::Cpu, observer)?, On::Cpu.name(), opened.fallback()))
    }

    /// Returns the device, which is opened now unless it was before.
    fn opened(&self) -> Result<Arc<AnalysisDevice>, AnalyseError> {
        // Before a GPU is opened, which knows no selection.
        let scope = self.selection()?.scope();
        let is_plain = self.graph.as_plain().is_some();
        match &self.opened {
            Some(opened) if opened.scope == scope && (is_plain || !opened.is_gpu()) => {
                Ok(opened.clone())
            }
            _ => {
                let (lists, choice) = (self.graph.into(), &self.device);
                AnalysisDevice::open_for(lists, self.analysis, scope, choice, self.memory)
                    .map(Arc::new)
            }
        }
    }

    /// Returns the memory that the run needs.
    fn plan_on(&self, on: &On<'_>, threads: usize) -> Result<Plan, SwarmError> {
        let plan = match on {
            On::Gpu(gpu, graph) => return Ok(gpu.plan(graph)?),
            On::Cpu => self.analysis.plan_for(self.graph, self.selection()?, threads)?,
            On::Ranks(_, own) => {
                self.analysis.plan_on_ranks(self.graph, own.clone(), self.jumps.as_ref())?
            }
        };
        Ok(plan_on_cpu(self.graph, plan))
    }

    fn pass_rows_of_cpu(
        &self,
        observer: &mut dyn AnalysisObserver,
        take: Take<'_>,
    ) -> Result<AnalysisReport, SwarmError> {
        let (start, mut taking) = (Instant::now(), 0.0);
        let take = |part: Part<'_>, columns: &[ColumnData<'_>]| {
            let start = Instant::now();
            let taken = take(part, columns);
            taking += start.elapsed().as_secs_f64();
            taken
        };
        let selection = self.selection()?;
        let clustering = self.analysis.of_graph_for(self.graph, selection, observer, take)?;
        let compute = start.elapsed().as_secs_f64() - taking;
        let seconds = RunSeconds { compute, ..RunSeconds::default() };
        Ok(AnalysisReport { seconds, clustering, ..AnalysisReport::default() })
    }

    fn pass_rows_of_ranks(
        &self,
        shared: &SharedComm,
        own: Range<VertexId>,
        observer: &mut dyn AnalysisObserver,
        take: Take<'_>,
    ) -> Result<AnalysisReport, SwarmError> {
        let mut comm = locked(shared);
        let (start, before, jumps) = (Instant::now(), comm.traffic(), self.jumps.as_ref());
        let part = &mut RankPart::new(own, &mut comm);
        let found = self.analysis.of_graph_on_ranks(self.graph, jumps, part, observer);
        let (answer, clustering) = found?;
        let seconds =
            RunSeconds { compute: start.elapsed().as_secs_f64(), ..RunSeconds::default() };
        let traffic = Some(comm.traffic().since(before));
        // Who takes the rows may have messages to send.
        drop(comm);
        pass(answer, self.graph, take)?;
        Ok(AnalysisReport { seconds, clustering, traffic, ..AnalysisReport::default() })
    }

    /// Returns the vertices of this rank. What ranks do not share is refused on all of them, before the first message.
    fn share(&self, comm: &SharedComm) -> Result<Range<VertexId>, AnalyseError> {
        let is_gpu = !self.device.is_auto() && !self.device.is_cpu();
        if is_gpu || self.memory.is_some() {
            return Err(AnalyseError::GpuOnRanks);
        }
        if self.selection()?.scope() == Scope::Chosen {
            return Err(SwarmError::NotOnRanks.into());
        }
        self.analysis.plan_on_ranks(self.graph, 0..0, self.jumps.as_ref())?;
        let (rank, size) = {
            let comm = locked(comm);
            (comm.rank(), comm.size())
        };
        let parts = self.parts.clone().unwrap_or_else(|| Parts::of_ranks(self.graph, size));
        Ok(if rank < parts.ranks() { parts.of(rank) } else { 0..0 })
    }

    /// Refuses graphs and choices that differ between the ranks; graphs of which each has a part are not compared.
    fn compare(&self, comm: &SharedComm) -> Result<(), AnalyseError> {
        let graph = if self.parts.is_some() { 0 } else { self.graph.identity() };
        let mut analysis = DefaultHasher::new();
        // Numbers are written with all their digits.
        format!("{:?}", self.analysis).hash(&mut analysis);
        let own = [graph, analysis.finish(), self.jumps.as_ref().map_or(0, Jumps::identity)];
        let all = locked(comm).all_gather("graph and choices", &own);
        match all.map_err(AnalysisError::from).map_err(SwarmError::from)?.other_than_first() {
            Some(rank) => Err(AnalyseError::Ranks(RunError::RanksDiffer { rank })),
            None => Ok(()),
        }
    }
}

impl On<'_> {
    fn name(&self) -> String {
        match self {
            On::Cpu | On::Ranks(..) => "cpu".into(),
            On::Gpu(gpu, _) => gpu.name(),
        }
    }
}
