//! Who computes: this machine's cores, one of its GPUs, or several of them together.

use crate::console::Console;
use crate::failure::Failure;
use crate::size::Size;
use crate::stats::ExchangeFigures;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::analytics::lcc::{self, Lcc};
use ripplet::cuda::lcc::DeviceLcc;
use ripplet::cuda::{DeviceExecutor, DevicesExecutor};
use ripplet::gpu::{CudaDevice, Device, DeviceError};
use ripplet::graph::{Graph, GraphView};
use ripplet::lp::cpu::CpuExecutor;
use ripplet::lp::{
    DeviceSeconds, DynProgram, Executor, Item, Observer, Outcome, Plan, RunError, Settings,
};

/// Which device a command runs on.
#[derive(Args)]
pub struct DeviceArguments {
    /// The device that computes: auto, cpu, cuda, cuda:N, or cuda:N,M,….
    ///
    /// `cuda` is `cuda:0`, the first GPU that `ripplet devices` lists. `auto` is the first GPU if
    /// it works and the run fits its memory, and the CPU otherwise: a note says why if there is a GPU. Several
    /// GPUs share the graph of label propagation, or the graphs of a batch of distances or centralities; other
    /// work takes one. `pagerank` and `components` run on the CPU.
    #[arg(long, default_value = "auto", value_parser = choice)]
    device: Choice,
    /// Give a run no more of the GPU's memory than this: 8GiB, 500MB [default: what is free].
    #[arg(long, value_name = "SIZE")]
    device_memory: Option<Size>,
}

/// The devices.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    /// The first GPU if that works, otherwise the CPU.
    Auto,
    /// This machine's cores.
    Cpu,
    /// The GPUs of these numbers, at least one.
    Cuda(Vec<usize>),
}

fn choice(text: &str) -> Result<Choice, String> {
    let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
    let expected = || "expected auto, cpu, cuda, cuda:N or cuda:N,M,…".to_string();
    match text {
        "auto" => Ok(Choice::Auto),
        "cpu" => Ok(Choice::Cpu),
        "cuda" => Ok(Choice::Cuda(vec![0])),
        _ => {
            let list = text.strip_prefix("cuda:").ok_or_else(expected)?;
            let numbers: Option<Vec<usize>> = list.split(',').map(number).collect();
            let numbers = numbers.ok_or_else(expected)?;
            match (1..numbers.len()).find(|&at| numbers[..at].contains(&numbers[at])) {
                Some(at) => Err(format!("GPU {} is named twice", numbers[at])),
                None => Ok(Choice::Cuda(numbers)),
            }
        }
    }
}

/// One device, where several cannot share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneDevice {
    /// The first GPU if that works, otherwise the CPU.
    Auto,
    /// This machine's cores.
    Cpu,
    /// The GPU of this number.
    Cuda(usize),
}

/// The parser of a `--device` that takes one.
pub fn one_device(text: &str) -> Result<OneDevice, String> {
    match choice(text)? {
        Choice::Auto => Ok(OneDevice::Auto),
        Choice::Cpu => Ok(OneDevice::Cpu),
        Choice::Cuda(numbers) if numbers.len() == 1 => Ok(OneDevice::Cuda(numbers[0])),
        Choice::Cuda(_) => Err(ONE_GPU.into()),
    }
}

/// What several GPUs are refused with, where they cannot share the work.
const ONE_GPU: &str = "this runs on one GPU: name one, such as cuda:0";

/// What analytics on the CPU need, as all commands have it.
pub fn plan_of_cpu(graph: &Graph, plan: ripplet::analytics::Plan) -> Plan {
    let items = plan.items.into_iter();
    let items = items.map(|item| Item { purpose: item.purpose, bytes: item.bytes });
    Plan { graph_host: graph.bytes(), items: items.collect(), ..Plan::default() }
}

/// What the GPU of a number is called in figures.
pub fn name_of_gpu(number: usize, device: &CudaDevice) -> String {
    format!("cuda:{number} {}", device.properties().name)
}

impl DeviceArguments {
    /// Refuses what would be ignored.
    pub fn check(&self) -> Result<(), Failure> {
        match self.device {
            Choice::Cpu if self.device_memory.is_some() => Err(Failure::refused(
                "--device-memory is for a GPU, but the device is cpu",
                "leave --device-memory out, or use --device cuda",
            )),
            _ => Ok(()),
        }
    }

    /// Whether the CPU may do what a GPU cannot.
    pub fn is_auto(&self) -> bool {
        self.device == Choice::Auto
    }

    /// Whether the CPU was asked for.
    pub fn is_cpu(&self) -> bool {
        self.device == Choice::Cpu
    }

    /// Does `work` on the machine that was chosen; where that is a GPU which fails, and was not insisted
    /// on, says so and does it on the CPU.
    pub fn on<T>(
        &self,
        machine: &Machine,
        threads: &ThreadArguments,
        console: &Console,
        work: impl Fn(&Machine) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let done = work(machine);
        machine.notes().iter().for_each(|note| console.remark(note));
        match done {
            Err(failure) if self.is_auto() && failure.is_of_device() => {
                console.remark(&format!("running on the CPU: {failure}"));
                work(&Machine::cpu(threads)?)
            }
            done => done,
        }
    }

    /// The GPUs that were asked for; none for the CPU.
    fn numbers(&self) -> &[usize] {
        match &self.device {
            Choice::Cpu => &[],
            Choice::Auto => &[0],
            Choice::Cuda(numbers) => numbers,
        }
    }

    /// Opens the GPU that was asked for, before any data is touched; under `auto`, where one works. Refuses
    /// several.
    pub fn open_one(&self) -> Result<Opened, Failure> {
        match self.numbers() {
            [] | [_] => self.open(),
            _ => Err(several_refused()),
        }
    }

    /// Opens the GPUs that were asked for, before any data is touched; under `auto`, where one works.
    pub fn open(&self) -> Result<Opened, Failure> {
        let opened = match self.numbers() {
            [] => return Ok(Opened::Cpu { why: None }),
            &[number] => self
                .executor(number, 1)
                .map(|executor| Machine::Cuda { number, executor: Box::new(executor) }),
            numbers => self.open_together(numbers),
        };
        match opened {
            Ok(machine) => Ok(Opened::Gpu(machine)),
            Err(error) => Ok(Opened::Cpu { why: Some(self.why_not(error)?) }),
        }
    }

    /// Opens GPUs that share each run.
    fn open_together(&self, numbers: &[usize]) -> Result<Machine, DeviceError> {
        let devices = numbers.iter().map(|&number| CudaDevice::new(number));
        let devices: Vec<CudaDevice> = devices.collect::<Result<_, _>>()?;
        let names = numbers.iter().zip(&devices);
        let names = names.map(|(number, device)| name_of_gpu(*number, device)).collect();
        let executor = DevicesExecutor::new(devices)?.with_names(names);
        let executor = executor.with_memory(self.device_memory.map(|size| size.0));
        Ok(Machine::Cudas { numbers: numbers.to_vec(), executor: Box::new(executor) })
    }

    /// Opens all GPUs that were asked for, each so many times, side by side; under `auto`, where one works.
    /// None for the CPU, and a sentence where that was not asked for.
    pub fn open_all(&self, times: usize) -> Result<Result<Vec<Lane>, WhyCpu>, Failure> {
        let mut lanes = Vec::new();
        for &number in self.numbers() {
            for _ in 0..times {
                match self.executor(number, times as u64) {
                    Ok(executor) => lanes.push(Lane { number, executor }),
                    Err(error) => return self.why_not(error).map(Err),
                }
            }
        }
        Ok(Ok(lanes))
    }

    /// Why the CPU does what no GPU can, where it may.
    fn why_not(&self, error: DeviceError) -> Result<WhyCpu, Failure> {
        if !self.is_auto() {
            return Err(error.into());
        }
        let (why, is_usual) = match error {
            // Nothing is amiss on a machine without a GPU: no more words than it takes.
            DeviceError::NoLibrary => ("there is no NVIDIA driver".into(), true),
            error => (error.to_string(), false),
        };
        match self.device_memory {
            None => Ok(WhyCpu { why, is_usual }),
            Some(_) => Err(Failure::refused(
                format!("--device-memory is for a GPU, but no GPU can be used: {why}"),
                "leave --device-memory out",
            )),
        }
    }

    /// Opens a GPU, of whose memory so many share what is allowed.
    fn executor(
        &self,
        number: usize,
        shares: u64,
    ) -> Result<DeviceExecutor<CudaDevice>, DeviceError> {
        let limit = self.device_memory.map(|size| size.0 / shares);
        Ok(DeviceExecutor::new(CudaDevice::new(number)?).with_memory(limit))
    }
}

/// A way to a GPU, of which there may be several.
pub struct Lane {
    /// The GPU's number.
    pub number: usize,
    /// What runs on it.
    pub executor: DeviceExecutor<CudaDevice>,
}

/// Why the CPU does what was left open.
pub struct WhyCpu {
    /// A sentence.
    why: String,
    /// Whether nothing is amiss: there is no GPU, or it is no work for one.
    is_usual: bool,
}

impl WhyCpu {
    /// Work that no GPU does.
    pub fn no_work_for_gpu(why: impl Into<String>) -> WhyCpu {
        WhyCpu { why: why.into(), is_usual: true }
    }

    /// Says it: what is usual, to those who ask alone.
    pub fn tell(&self, console: &Console) {
        let note = format!("running on the CPU: {}", self.why);
        if self.is_usual { console.detail(&note) } else { console.remark(&note) }
    }
}

/// What was found before there is a graph.
pub enum Opened {
    /// The CPU, whose threads start when there is a graph: they take memory from reading. `why` it is
    /// no GPU, where one was looked for.
    Cpu { why: Option<WhyCpu> },
    /// A GPU.
    Gpu(Machine),
}

impl Opened {
    /// The machine, ready to run; says why it is the CPU where that was not asked for.
    pub fn start(self, threads: &ThreadArguments, console: &Console) -> Result<Machine, Failure> {
        match self {
            Opened::Gpu(machine) => Ok(machine),
            Opened::Cpu { why } => {
                why.iter().for_each(|why| why.tell(console));
                Machine::cpu(threads)
            }
        }
    }
}

/// Who computes.
pub enum Machine {
    /// This machine's cores.
    Cpu(CpuExecutor),
    /// A GPU.
    Cuda {
        /// Its number, as in `cuda:0`.
        number: usize,
        /// What runs on it.
        executor: Box<DeviceExecutor<CudaDevice>>,
    },
    /// Several GPUs that share each run.
    Cudas {
        /// Their numbers.
        numbers: Vec<usize>,
        /// What runs on them.
        executor: Box<DevicesExecutor<CudaDevice>>,
    },
}

fn several_refused() -> Failure {
    Failure::refused(
        "--device names several GPUs, and this runs on one",
        "name one, such as --device cuda:0",
    )
}

impl Machine {
    /// This machine's cores.
    pub fn cpu(threads: &ThreadArguments) -> Result<Machine, Failure> {
        Ok(Machine::Cpu(CpuExecutor::new(threads.count())?))
    }

    /// The same, where a run may have so many bytes of the host's memory.
    pub fn with_host_memory(self, limit: Option<u64>) -> Machine {
        match self {
            Machine::Cpu(executor) => Machine::Cpu(executor),
            Machine::Cuda { number, executor } => {
                Machine::Cuda { number, executor: Box::new(executor.with_host_memory(limit)) }
            }
            Machine::Cudas { numbers, executor } => {
                Machine::Cudas { numbers, executor: Box::new(executor.with_host_memory(limit)) }
            }
        }
    }

    /// What it is called in figures.
    pub fn name(&self) -> String {
        match self {
            Machine::Cpu(_) => "cpu".into(),
            Machine::Cuda { number, executor } => name_of_gpu(*number, executor.device()),
            Machine::Cudas { numbers, executor } => {
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                let names = executor.devices().iter().map(|device| &*device.properties().name);
                format!("cuda:{} {}", numbers.join(","), names.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Whether it is this machine's cores.
    pub fn is_cpu(&self) -> bool {
        matches!(self, Machine::Cpu(_))
    }

    /// What a user should know though nothing failed, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Machine::Cpu(_) => Vec::new(),
            Machine::Cuda { executor, .. } => executor.device().notes(),
            Machine::Cudas { executor, .. } => {
                let mut notes = executor.notes().to_vec();
                for note in executor.devices().iter().flat_map(CudaDevice::notes) {
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
                notes
            }
        }
    }

    /// What GPUs sent to one another in the last run; none if there are not several.
    pub fn exchange(&self) -> Option<ExchangeFigures> {
        match self {
            Machine::Cudas { executor, .. } => Some(ExchangeFigures {
                transport: executor.transport().name(),
                bytes: executor.exchanged(),
            }),
            Machine::Cpu(_) | Machine::Cuda { .. } => None,
        }
    }

    /// What each of several GPUs will need, by its name; none where there are not several.
    pub fn plans<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> Vec<(String, Plan)> {
        match self {
            Machine::Cudas { executor, .. } => {
                let plans = executor.plans(graph, program, settings);
                executor.names().iter().cloned().zip(plans).collect()
            }
            Machine::Cpu(_) | Machine::Cuda { .. } => Vec::new(),
        }
    }

    /// Refuses a run that will not fit a GPU's memory. Of several, each one's plan is looked at where the run begins.
    pub fn check_memory(&self, plan: &Plan) -> Result<(), RunError> {
        match self {
            Machine::Cpu(_) | Machine::Cudas { .. } => Ok(()),
            Machine::Cuda { executor, .. } => executor.check_memory(plan),
        }
    }

    /// Refuses a run, of this plan, that will not fit the memory of the GPUs that it is for.
    pub fn check_run<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
        plan: &Plan,
    ) -> Result<(), RunError> {
        match self {
            Machine::Cudas { executor, .. } => {
                executor.check_memory(&executor.plans(graph, program, settings))
            }
            Machine::Cpu(_) | Machine::Cuda { .. } => self.check_memory(plan),
        }
    }

    /// What finding coefficients will need, of the CPU with so many threads.
    pub fn plan_lcc(&self, graph: &Graph, lcc: Lcc, threads: usize) -> Plan {
        match self {
            // Several are refused before.
            Machine::Cpu(_) | Machine::Cudas { .. } => plan_of_cpu(graph, lcc.plan(graph, threads)),
            Machine::Cuda { executor, .. } => DeviceLcc::new(executor).plan(graph, lcc),
        }
    }

    /// Finds coefficients, on the CPU with all threads; tells what is not the algorithm's time.
    pub fn run_lcc(
        &self,
        graph: &Graph,
        lcc: Lcc,
        observer: &mut dyn ripplet::analytics::Observer,
    ) -> Result<(lcc::Outcome, DeviceSeconds), Failure> {
        Ok(match self {
            Machine::Cpu(_) => (lcc.run(graph, observer)?, DeviceSeconds::default()),
            Machine::Cuda { executor, .. } => DeviceLcc::new(executor).run(graph, lcc, observer)?,
            Machine::Cudas { .. } => return Err(several_refused()),
        })
    }
}

impl Executor for Machine {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        match self {
            Machine::Cpu(executor) => executor.plan(graph, program, settings),
            Machine::Cuda { executor, .. } => executor.plan(graph, program, settings),
            Machine::Cudas { executor, .. } => executor.plan(graph, program, settings),
        }
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        match self {
            Machine::Cpu(executor) => executor.run(graph, program, settings, observer),
            Machine::Cuda { executor, .. } => executor.run(graph, program, settings, observer),
            Machine::Cudas { executor, .. } => executor.run(graph, program, settings, observer),
        }
    }
}
