//! Devices under test: the kernels on the emulator and, if `RIPPLET_GPU` is set, on the first GPU.

use crate::graphs::{Edges, Storage};
use crate::oracle::{self, Activation, Rules, Total, Variant};
use ripplet_cuda::lp::{Counting, Supply, Tuning};
use ripplet_cuda::{DeviceExecutor, DevicesExecutor};
use ripplet_emulator::EmulatedDevice;
use ripplet_gpu::CudaDevice;
use ripplet_graph::GraphView;
use ripplet_lp::{DynProgram, Executor, Outcome, Plan, RoundObserver, RunError, Settings};
use std::sync::{Mutex, PoisonError};

/// An executor under test.
pub struct Machine {
    pub name: String,
    pub executor: On,
    pub storage: Storage,
    pub part: Part,
}

/// Which combinations a machine runs on the emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All; of few ([`takes_many`]), those of one half ([`half_of`]).
    Half(u64),
    /// Some programs and counters, as the machine differs from others in few places.
    Sampled,
}

/// An executor on one kind of device.
pub enum On {
    Emulator(DeviceExecutor<EmulatedDevice>),
    Gpu(&'static DeviceExecutor<CudaDevice>),
    Emulators(DevicesExecutor<EmulatedDevice>),
    Gpus(DevicesExecutor<CudaDevice>),
}

impl Executor for On {
    fn plan_on(&self, graph: GraphView<'_>, program: &dyn DynProgram, settings: &Settings) -> Plan {
        match self {
            On::Emulator(executor) => executor.plan(graph, program, settings),
            On::Gpu(executor) => executor.plan(graph, program, settings),
            On::Emulators(executor) => executor.plan(graph, program, settings),
            On::Gpus(executor) => executor.plan(graph, program, settings),
        }
    }

    fn run_on(
        &self,
        graph: GraphView<'_>,
        program: &dyn DynProgram,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
    ) -> Result<Outcome, RunError> {
        match self {
            On::Emulator(executor) => executor.run(graph, program, settings, observer),
            On::Gpu(executor) => executor.run(graph, program, settings, observer),
            On::Emulators(executor) => executor.run(graph, program, settings, observer),
            On::Gpus(executor) => executor.run(graph, program, settings, observer),
        }
    }
}

/// Whether the devices are GPUs.
pub fn on_gpu() -> bool {
    std::env::var_os("RIPPLET_GPU").is_some()
}

/// Whether every combination is run: on a GPU, unless `RIPPLET_GPU=sampled`, as for a tool that
/// makes it slow.
pub fn is_thorough() -> bool {
    std::env::var_os("RIPPLET_GPU").is_some_and(|value| value != "sampled")
}

/// Whether as many combinations are run as the emulator can in ten minutes, or all: on a GPU, and if
/// `RIPPLET_EVERY_COMBINATION` is set, as in the weekly run. For every change, each kind of graph, program, schedule and
/// machine is in some.
pub fn takes_many() -> bool {
    on_gpu() || std::env::var_os("RIPPLET_EVERY_COMBINATION").is_some()
}

/// The first GPU with this tuning; its executor keeps loaded kernels.
pub fn gpu(tuning: Tuning) -> &'static DeviceExecutor<CudaDevice> {
    static ALL: Mutex<Vec<(Tuning, &DeviceExecutor<CudaDevice>)>> = Mutex::new(Vec::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, executor)) = all.iter().find(|(of, _)| *of == tuning) {
        return executor;
    }
    let device = CudaDevice::new(0);
    let device = device.unwrap_or_else(|error| panic!("RIPPLET_GPU is set, but: {error}"));
    let executor = Box::leak(Box::new(DeviceExecutor::new(device).with_tuning(tuning)));
    all.push((tuning, executor));
    executor
}

/// As many GPUs as `RIPPLET_GPUS` says, or two. The first takes the roles of those that are not there, unless
/// the variable asks for them.
pub fn gpus() -> DevicesExecutor<CudaDevice> {
    let asked = std::env::var("RIPPLET_GPUS").ok();
    let count: usize = asked.as_ref().map_or(2, |count| count.parse().expect("a number of GPUs"));
    let device = |number| {
        let found = CudaDevice::new(number);
        let found = if asked.is_none() { found.or_else(|_| CudaDevice::new(0)) } else { found };
        found.unwrap_or_else(|error| panic!("no GPU {number}: {error}"))
    };
    DevicesExecutor::new((0..count).map(device).collect()).expect("several devices")
}

/// Several devices that share each run: three emulators, each with another order of threads.
fn several(streamed_from: Option<u32>, storage: Storage) -> Machine {
    let tuning = Tuning { streamed_from, ..Tuning::default() };
    let executor = match on_gpu() {
        true => On::Gpus(gpus().with_tuning(tuning)),
        false => {
            let emulator = |order| EmulatedDevice::with_order(order).with_resident_blocks(2);
            let devices =
                DevicesExecutor::new((0..3).map(emulator).collect()).expect("three emulators");
            On::Emulators(devices.with_tuning(tuning))
        }
    };
    let name = format!("on several devices, {tuning:?}, {storage:?} lists");
    Machine { name, executor, storage, part: Part::Sampled }
}

/// An executor with this tuning; on the emulator, `order` sets the order of threads.
pub fn machine(order: u64, tuning: Tuning) -> Machine {
    if on_gpu() {
        let (name, executor) = (format!("on a GPU, {tuning:?}"), On::Gpu(gpu(tuning)));
        return Machine { name, executor, storage: Storage::Plain, part: Part::Half(order) };
    }
    // The fewest blocks that wait for one another, and the fewest with one that is neither first
    // nor last.
    let device = EmulatedDevice::with_order(order).with_resident_blocks(2 + (order % 2) as u32);
    let executor = On::Emulator(DeviceExecutor::new(device).with_tuning(tuning));
    let name = format!("on the emulator in order {order}, {tuning:?}");
    Machine { name, executor, storage: Storage::Plain, part: Part::Half(order) }
}

/// Two orders on the emulator. On a GPU, the default, and all vertices counted as large.
pub fn machines() -> Vec<Machine> {
    let orders = if on_gpu() && !is_thorough() { 0..1 } else { 0..2 };
    let mut all: Vec<_> = orders.map(|order| machine(order, Tuning::default())).collect();
    let compressed = machine(1, Tuning::default());
    let name = format!("{}, compressed lists", compressed.name);
    all.push(Machine { name, storage: Storage::Compressed, part: Part::Sampled, ..compressed });
    for (storage, supply) in
        [(Storage::Plain, Supply::Pinned), (Storage::Compressed, Supply::Staged)]
    {
        let streamed = Tuning { streamed_from: Some(40), supply, ..Tuning::default() };
        let Machine { name, executor, .. } = machine(1, streamed);
        let name = format!("{name}, {storage:?} lists");
        all.push(Machine { name, executor, storage, part: Part::Sampled });
    }
    all.push(several(None, Storage::Plain));
    all.push(several(Some(40), Storage::Compressed));
    if on_gpu() {
        all.push(machine(2, Tuning { counting: Counting::SharedTables, ..Tuning::default() }));
    }
    all
}

/// Of many similar runs, one in `STRIDE` is done on the emulator, which is slow.
pub const STRIDE: usize = 5;

/// The most rounds of a run. Few start conditions differ after these, and `families` runs to the
/// end.
pub const ROUNDS: u32 = 7;

/// Random graphs for each program, by default; few, as the emulator is slow.
pub const CASES: u32 = 2;

impl Machine {
    /// Whether the machine runs these rules on this graph.
    ///
    /// Compressed or streamed lists are read in few places: on the emulator, some programs and counters
    /// reach all of them. Several devices exchange labels, totals and columns, which do not depend
    /// on the counter.
    pub fn takes(&self, edges: &Edges, rules: Rules) -> bool {
        let is_shared = matches!(self.executor, On::Emulators(_) | On::Gpus(_));
        if is_thorough() {
            return true;
        }
        if let Part::Half(half) = self.part {
            return takes_many() || half == half_of(edges, rules);
        }
        let Rules { variant, counting, phases, .. } = rules;
        let is_extreme = edges.directed == edges.weights.is_some();
        if is_shared {
            return counting == oracle::Counting::Exact
                && match variant {
                    Variant::Lpa { guard: 65536 } => is_extreme && matches!(phases, 1 | 5),
                    Variant::Seeded { attenuation: _ } | Variant::Slpa { .. } => phases == 5,
                    Variant::Probe { activation, .. } => {
                        !edges.directed && (phases == 1) == (activation == Activation::Change)
                    }
                    _ => false,
                };
        }
        match variant {
            Variant::Lpa { guard: 65536 } => match counting {
                oracle::Counting::Exact => phases == 5 && (is_extreme || takes_many()),
                oracle::Counting::Sketch { slots, twice, drawn, .. } => {
                    is_extreme && slots == Some(8) && twice && drawn
                }
            },
            Variant::Seeded { attenuation } => is_extreme && phases == 5 && attenuation == 0.625,
            Variant::Cdlp => phases == 1 && edges.directed && edges.weights.is_some(),
            _ => false,
        }
    }
}

/// The half of the combinations that these belong to. Two machines have one each, as they differ in little: the order of
/// threads, and whether graphs have many shards.
fn half_of(edges: &Edges, rules: Rules) -> u64 {
    let of_program = match rules.variant {
        Variant::Lpa { guard } => guard == 0,
        Variant::Cdlp | Variant::Llp { .. } => true,
        Variant::Probe { activation, .. } => activation == Activation::Change,
        Variant::Slpa { .. } | Variant::Seeded { .. } | Variant::Suspicion { .. } => false,
    };
    let of_counter = match rules.counting {
        oracle::Counting::Exact => false,
        oracle::Counting::Sketch { slots, .. } => matches!(slots, Some(1 | 32)),
    };
    u64::from(of_program ^ of_counter ^ edges.directed)
}

/// Whether these rules are run on this graph here.
///
/// The emulator compiles each kind of graph, program and schedule separately, and a phase takes it as
/// long as a round of few vertices. So it runs some of their combinations, and a GPU runs all.
pub fn takes(edges: &Edges, rules: Rules) -> bool {
    if let oracle::Counting::Sketch { in_parts: false, .. } = rules.counting {
        return false;
    }
    if is_thorough() {
        return true;
    }
    let plain = !edges.directed && edges.weights.is_none();
    // One program runs on all kinds of graphs, most run on the smallest and the largest
    // configuration.
    let is_extreme = edges.directed == edges.weights.is_some();
    if let oracle::Counting::Sketch { slots, twice, .. } = rules.counting {
        // Every sketch with one program and one kind of graph, and one sketch with every program.
        let is_lpa = rules.variant == Variant::Lpa { guard: 65536 };
        let is_usual = slots == Some(8) && twice;
        let is_taken = if is_usual { (is_lpa && is_extreme) || plain } else { is_lpa && plain };
        if !is_taken {
            return false;
        }
    }
    let schedule = match rules.phases {
        1 | 5 => rules.smallest_wins_ties == (rules.variant == Variant::Cdlp),
        16 | 32 => plain && !rules.smallest_wins_ties && rules.variant != Variant::Lpa { guard: 0 },
        _ => false,
    };
    schedule
        && match rules.variant {
            Variant::Lpa { guard } => guard == 65536 || (plain && guard == 0),
            Variant::Cdlp => is_extreme,
            Variant::Seeded { attenuation } => attenuation == 0.625 && is_extreme,
            Variant::Llp { gamma } => plain && gamma == 1 << 14,
            Variant::Slpa { memory } => plain && memory == 2,
            // Each kind of activation, and each total.
            Variant::Probe { activation: Activation::Change, total } => {
                total == Total::Volume && is_extreme
            }
            Variant::Probe { total, .. } => total == Total::Members && plain,
            Variant::Suspicion { .. } => false,
        }
}
