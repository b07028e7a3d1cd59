//! An analysis of one graph.

use super::{Choices, Chosen, Figures, Listed, Request, noted};
use crate::console::Console;
use crate::device::note_fallback;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory::{self, OF_A_LIST};
use crate::message::on_device;
use crate::output::written;
use crate::reading::Loaded;
use crate::stats::{Bytes, Stages};
use crate::values::Weights;
use ripplet::device::peak_memory;
use ripplet::device::{GpuWorker, WorkerSeconds, plan_on_cpu};
use ripplet::graph::{Graph, GraphView};
use ripplet::io::write::{ColumnData, Part, Rows, TableShape};
use ripplet::lp::Plan;
use ripplet::swarm::{SwarmError, Worker};
use ripplet::{LoadOptions, Storage, StoredGraph};
use serde::Serialize;
use std::cell::Cell;
use std::time::Instant;

/// The receiver of rows and their columns.
type Take<'a> = &'a mut dyn FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>;

/// The number of rows from which it is printed before they are written.
const MANY_ROWS: u64 = 100_000_000;

impl<C: Serialize> Request<'_, C> {
    /// Runs the analysis of one graph.
    pub(super) fn of_graph(
        &self,
        options: &LoadOptions,
        threads: usize,
        console: &Console,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let gpus = match self.listed.map_or(Ok(()), Listed::on_device) {
            Err(why) => self.device.workers_without_kernel(why)?,
            Ok(()) => self.device.open_workers(self.analysis, 1)?,
        };
        if gpus.as_ref().is_ok_and(|gpus| gpus.len() > 1) {
            return Err(Failure::refused(
                "several GPUs share the graphs of a batch, but the input is one graph",
                "name one, such as --device cuda:0",
            ));
        }
        let open = start.elapsed().as_secs_f64();
        let on_gpu = gpus.as_ref().is_ok_and(|gpus| !gpus.is_empty());
        let loaded = self.values.load(options, on_gpu, console)?;
        let has_weights = loaded.graph.view().is_weighted();
        if has_weights && !self.values.is_weighted() && !matches!(self.weights, Weights::Useless(_))
        {
            console.remark("the weights of the graph are not used: --weighted uses them");
        }
        let graph = loaded.graph.view();
        if let (Some(gpu), Some(plain)) = (noted(gpus, console).pop(), graph.as_plain()) {
            let (is_written, graph) = (Cell::new(false), (&loaded, plain));
            let done = self.of_graph_on(gpu, graph, open, threads, &is_written, console);
            let Err(failure) = done else { return done };
            // Rows on standard output cannot be taken back.
            let fallback = self.device.device().fallback(&failure).filter(|_| !is_written.get());
            let Some(fallback) = fallback else { return Err(failure) };
            note_fallback(&fallback, console);
        }
        let limit = self.values.host_memory();
        let chosen = memory::within(limit, "reading the list of vertices", OF_A_LIST, || {
            self.chosen(graph, console)
        })?;
        let plan = self.analysis.plan_for(graph, chosen.selection(), threads)?;
        let plan = plan_on_cpu(graph, plan);
        let choices = self.choices(graph.into(), "cpu".into(), threads);
        if self.values.is_estimate(graph, &choices, &choices.device, &plan)? {
            return Ok(());
        }
        self.announce(graph, &chosen, console);
        let start = Instant::now();
        let watch = &mut console.watch();
        let answer =
            |take: Take<'_>| self.analysis.of_graph_for(graph, chosen.selection(), watch, take);
        let (figures, write) = self.write(&Cell::new(false), console, answer)?;
        let compute = start.elapsed().as_secs_f64() - write;
        let (read, build) = (loaded.read, loaded.build);
        let seconds = Stages { open, read, build, compute, write, ..Stages::default() };
        self.report_result(&loaded, &choices, &plan, figures, seconds, console)
    }

    /// Reads the vertices that the analysis is about.
    pub(super) fn chosen(
        &self,
        graph: GraphView<'_>,
        console: &Console,
    ) -> Result<Chosen, Failure> {
        self.listed.map_or(Ok(Chosen::All), |listed| listed.read(graph, console))
    }

    /// Runs the analysis on a GPU; records whether rows were written, also on errors.
    fn of_graph_on(
        &self,
        mut gpu: GpuWorker,
        (loaded, graph): (&Loaded<StoredGraph>, &Graph),
        open: f64,
        threads: usize,
        is_written: &Cell<bool>,
        console: &Console,
    ) -> Result<(), Failure> {
        let plan = gpu.plan_graph(graph)?;
        if self.values.asks_estimate() && self.device.device().is_auto() {
            // A run that does not fit a GPU would use the CPU, with another plan.
            gpu.check_memory(&plan)?;
        }
        let choices = self.choices(Storage::Plain, gpu.name(), threads);
        if self.values.is_estimate(graph.into(), &choices, &choices.device, &plan)? {
            return Ok(());
        }
        let answer = |take: Take<'_>| gpu.answer_graph(graph, &console.watch(), take);
        let (figures, write) = self.write(is_written, console, answer)?;
        gpu.notes().iter().for_each(|note| console.remark(note));
        let (read, build) = (loaded.read, loaded.build);
        let WorkerSeconds { kernels, upload, compute, download } = gpu.seconds();
        let transfer = upload + download;
        let seconds = Stages { open, read, build, kernels, transfer, compute, write };
        self.report_result(loaded, &choices, &plan, figures, seconds, console)
    }

    /// Reports the result and the time of each stage.
    fn report_result(
        &self,
        loaded: &Loaded<StoredGraph>,
        choices: &Choices<'_, C>,
        plan: &Plan,
        figures: Figures,
        seconds: Stages,
        console: &Console,
    ) -> Result<(), Failure> {
        let (bytes, found) = (Bytes::new(plan, peak_memory()), figures.found());
        let compute = seconds.compute;
        self.values.write_stats(loaded, None, choices, found, seconds, bytes)?;
        let place = self.values.see();
        let device = on_device(&choices.device);
        console.say(&format!("{found}, in {compute:.3} s{device}{place}"));
        Ok(())
    }

    /// Writes an answer as it arrives. Returns its figures and the seconds of writing.
    pub(super) fn write(
        &self,
        is_written: &Cell<bool>,
        console: &Console,
        answer: impl FnOnce(Take<'_>) -> Result<(), SwarmError>,
    ) -> Result<(Figures, f64), Failure> {
        let (rows, columns) = (self.analysis.rows(), self.analysis.columns());
        let shape = TableShape { rows, of_batch: false, columns };
        let begin = || self.values.table(shape, console);
        let (mut table, mut figures, mut seconds) = (None, Figures::default(), 0.0);
        answer(&mut |part, columns| {
            let start = Instant::now();
            let mut begun = table.take().map_or_else(begin, Ok)?;
            is_written.set(true);
            figures.add(&part, columns);
            begun.append(part, columns)?;
            table = Some(begun);
            seconds += start.elapsed().as_secs_f64();
            Ok(())
        })?;
        interrupt::check()?;
        console.stage("finishing the output");
        let start = Instant::now();
        written(table.map_or_else(begin, Ok)?.finish())?;
        Ok((figures, seconds + start.elapsed().as_secs_f64()))
    }

    /// Prints the number of rows before writing, if it is large.
    fn announce(&self, graph: GraphView<'_>, chosen: &Chosen, console: &Console) {
        let vertices = u64::from(graph.vertices());
        let (sources, fewer) = match chosen {
            Chosen::From(sources) => {
                (sources.vertices().len() as u64, "fewer --sources have fewer")
            }
            _ => (vertices, "--rows vertices or --rows graphs sums them up"),
        };
        let rows = sources * vertices.saturating_sub(1);
        if self.analysis.rows() == Rows::Pairs && rows >= MANY_ROWS {
            console.remark(&format!("{rows} rows are to come, one a pair; {fewer}"));
        }
    }
}
