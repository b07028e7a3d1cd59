//! Who computes: this machine's cores, or one of its GPUs.

use crate::console::Console;
use crate::failure::Failure;
use crate::size::Size;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::analytics::lcc::{self, Lcc};
use ripplet::cuda::device::Device;
use ripplet::cuda::lcc::DeviceLcc;
use ripplet::cuda::{CudaDevice, DeviceError, DeviceExecutor};
use ripplet::graph::Graph;
use ripplet::lp::cpu::CpuExecutor;
use ripplet::lp::{
    DeviceSeconds, Executor, Item, Observer, Outcome, Plan, Program, RunError, Settings,
};

/// Which device a command runs on.
#[derive(Args)]
pub struct DeviceArguments {
    /// Who computes: auto, cpu, cuda or cuda:N.
    ///
    /// `cuda` is `cuda:0`, the first GPU that `ripplet devices` lists. `auto` is the first GPU where
    /// it works and the run fits its memory; otherwise it says why not, and is the CPU.
    #[arg(long, default_value = "auto", value_parser = choice)]
    device: Choice,
    /// Give a run no more of the GPU's memory than this: 8GiB, 500MB [default: what is free].
    #[arg(long, value_name = "SIZE")]
    device_memory: Option<Size>,
}

/// The devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// The first GPU if that works, otherwise the CPU.
    Auto,
    /// This machine's cores.
    Cpu,
    /// The GPU of this number.
    Cuda(usize),
}

fn choice(text: &str) -> Result<Choice, String> {
    let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
    let expected = || "expected auto, cpu, cuda or cuda:N".to_string();
    match text {
        "auto" => Ok(Choice::Auto),
        "cpu" => Ok(Choice::Cpu),
        "cuda" => Ok(Choice::Cuda(0)),
        _ => match text.strip_prefix("cuda:") {
            Some(list) if list.contains(',') => {
                Err("a run takes one GPU at a time so far: name one, such as cuda:0".into())
            }
            Some(one) => number(one).map(Choice::Cuda).ok_or_else(expected),
            None => Err(expected()),
        },
    }
}

/// The parser of a device that must be a GPU: its number.
pub fn gpu(text: &str) -> Result<usize, String> {
    match choice(text)? {
        Choice::Cuda(number) => Ok(number),
        Choice::Auto | Choice::Cpu => Err("this is about GPUs: expected cuda or cuda:N".into()),
    }
}

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

    /// Opens the GPU that was asked for, before any data is touched; under `auto`, where one works.
    pub fn open(&self) -> Result<Opened, Failure> {
        let number = match self.device {
            Choice::Cpu => return Ok(Opened::Cpu { why: None }),
            Choice::Auto => 0,
            Choice::Cuda(number) => number,
        };
        match CudaDevice::new(number) {
            Ok(device) => {
                let limit = self.device_memory.map(|size| size.0);
                let executor = Box::new(DeviceExecutor::new(device).with_memory(limit));
                Ok(Opened::Gpu(Machine::Cuda { number, executor }))
            }
            Err(error) if self.is_auto() => {
                let why = match error {
                    // Nothing is amiss on a machine without a GPU: no more words than it takes.
                    DeviceError::NoLibrary => "there is no NVIDIA driver".into(),
                    error => error.to_string(),
                };
                match self.device_memory {
                    None => Ok(Opened::Cpu { why: Some(why) }),
                    Some(_) => Err(Failure::refused(
                        format!("--device-memory is for a GPU, but no GPU can be used: {why}"),
                        "leave --device-memory out",
                    )),
                }
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What was found before there is a graph.
pub enum Opened {
    /// The CPU, whose threads start when there is a graph: they take memory from reading. `why` it is
    /// no GPU, where one was looked for.
    Cpu {
        /// A sentence.
        why: Option<String>,
    },
    /// A GPU.
    Gpu(Machine),
}

impl Opened {
    /// The machine, ready to run; says why it is the CPU where that was not asked for.
    pub fn start(self, threads: &ThreadArguments, console: &Console) -> Result<Machine, Failure> {
        match self {
            Opened::Gpu(machine) => Ok(machine),
            Opened::Cpu { why } => {
                why.iter().for_each(|why| console.remark(&format!("running on the CPU: {why}")));
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
}

impl Machine {
    /// This machine's cores.
    pub fn cpu(threads: &ThreadArguments) -> Result<Machine, Failure> {
        Ok(Machine::Cpu(CpuExecutor::new(threads.count())?))
    }

    /// What it is called in figures.
    pub fn name(&self) -> String {
        match self {
            Machine::Cpu(_) => "cpu".into(),
            Machine::Cuda { number, executor } => name_of_gpu(*number, executor.device()),
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
        }
    }

    /// Refuses a run that will not fit a GPU's memory.
    pub fn check_memory(&self, plan: &Plan) -> Result<(), RunError> {
        match self {
            Machine::Cpu(_) => Ok(()),
            Machine::Cuda { executor, .. } => executor.check_memory(plan),
        }
    }

    /// What finding coefficients will need, of the CPU with so many threads.
    pub fn plan_lcc(&self, graph: &Graph, lcc: Lcc, threads: usize) -> Plan {
        match self {
            Machine::Cpu(_) => plan_of_cpu(graph, lcc.plan(graph, threads)),
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
        })
    }
}

impl Executor for Machine {
    fn plan<P: Program>(&self, graph: &Graph, program: &P, settings: &Settings) -> Plan {
        match self {
            Machine::Cpu(executor) => executor.plan(graph, program, settings),
            Machine::Cuda { executor, .. } => executor.plan(graph, program, settings),
        }
    }

    fn run<P: Program>(
        &self,
        graph: &Graph,
        program: &P,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        match self {
            Machine::Cpu(executor) => executor.run(graph, program, settings, observer),
            Machine::Cuda { executor, .. } => executor.run(graph, program, settings, observer),
        }
    }
}
