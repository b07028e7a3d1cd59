//! Compares three executions of the same program files: compiled with Rust, compiled at run time, interpreted.
//!
//! ```text
//! cargo run --release -p ripplet-bench --bin program_files -- [--threads T] [--repeats N] [PROGRAM…]
//! ```
//!
//! Runs the files of `crates/ripplet-jit/tests/programs` on a planted graph of 200,000 vertices and
//! 2,000,000 edges, `phased`. The three alternate, so that other load on the machine affects all
//! of them. Each line has the seconds of a run's rounds. At the end come the fastest, the median,
//! and the median ratio to the first execution in the same repetition.

mod interpreter;

use interpreter::Interpreted;
use ripplet_generate::Planted;
use ripplet_graph::{Graph, GraphBuilder};
use ripplet_jit::{CompiledProgram, JitProgram, Parameters};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::{ColumnValues, Executor, Hints, NO_LABEL, Outcome, Scalar, Settings, Stop};
use std::error::Error;
use std::time::Instant;

#[path = "../../../../crates/ripplet-jit/tests/programs/lpa.rs"]
mod lpa;
#[path = "../../../../crates/ripplet-jit/tests/programs/seeded.rs"]
mod seeded;
#[path = "../../../../crates/ripplet-jit/tests/programs/slpa.rs"]
mod slpa;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A program file, and a graph to run it on.
struct Case<'a> {
    name: &'static str,
    text: &'static str,
    parameters: Parameters,
    graph: &'a Graph,
    settings: Settings,
    executor: &'a CpuExecutor,
}

fn main() -> Result<()> {
    let (mut threads, mut repeats, mut names) = (2, 9, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => threads = arguments.next().ok_or("--threads wants a number")?.parse()?,
            "--repeats" => repeats = arguments.next().ok_or("--repeats wants a number")?.parse()?,
            name => names.push(name.to_owned()),
        }
    }
    let planted = Planted::new(200_000, 2_000_000, 0.3).generate()?;
    let graph = &GraphBuilder::new().build(planted.edges)?;
    let executor = &CpuExecutor::new(Some(threads))?;
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let settings = Settings::default();
    let case = |name, text, parameters| {
        let settings = settings.clone();
        Case { name, text, parameters, graph, settings, executor }
    };
    if wanted("lpa") {
        let parameters = Parameters::new().with("guard", Scalar::U32(65536));
        let text = include_str!("../../../../crates/ripplet-jit/tests/programs/lpa.rs");
        case("lpa", text, parameters).run(&lpa::program::Lpa { guard: 65536 }, repeats)?;
    }
    if wanted("seeded") {
        let (attenuation, unit) = (0.9, 65536);
        let parameters = Parameters::new().with("attenuation", Scalar::F32(attenuation));
        let parameters = parameters.with("unit", Scalar::U32(unit));
        let text = include_str!("../../../../crates/ripplet-jit/tests/programs/seeded.rs");
        let mut case = case("seeded", text, parameters);
        seed(&mut case.settings, graph.vertices());
        case.run(&seeded::program::Seeded { attenuation, unit }, repeats)?;
    }
    if wanted("slpa") {
        let parameters = Parameters::new().with("memory", Scalar::U32(5));
        let text = include_str!("../../../../crates/ripplet-jit/tests/programs/slpa.rs");
        let mut case = case("slpa", text, parameters);
        case.settings.stop = Stop::after(5);
        case.run(&slpa::program::Slpa { memory: 5 }, repeats)?;
    }
    Ok(())
}

/// Plants a seed at every hundredth vertex.
fn seed(settings: &mut Settings, vertices: u32) {
    let is_seed = |v: u32| v.is_multiple_of(100);
    let labels = (0..vertices).map(|v| if is_seed(v) { v } else { NO_LABEL });
    settings.initial = Some(labels.collect());
    let fixed = (0..vertices).map(|v| u32::from(is_seed(v))).collect();
    settings.columns.insert("fixed".into(), ColumnValues::U32(fixed));
}

impl Case<'_> {
    fn run(&self, native: &impl Hints, repeats: usize) -> Result<()> {
        let start = Instant::now();
        let module = ripplet_hooks::read_program(self.name, self.text)
            .map_err(|errors| errors.to_string())?;
        let read = start.elapsed();
        let start = Instant::now();
        let CompiledProgram::U64(compiled) = CompiledProgram::compile(&module, &self.parameters)?
        else {
            return Err("only programs of u64 scores are measured".into());
        };
        println!("{}: read in {read:.1?}, compiled in {:.1?}", self.name, start.elapsed());
        let interpreted = Interpreted::new(&module, &compiled);
        let mut seconds = [const { Vec::new() }; 3];
        for _ in 0..repeats {
            let labels = self.turn(native, &compiled, &interpreted, &mut seconds)?;
            if labels[1..].iter().any(|other| *other != labels[0]) {
                return Err(format!("{}: the labels differ", self.name).into());
            }
        }
        let [native, compiled, interpreted] = seconds;
        for (way, times) in
            [("rust", &native), ("compiled", &compiled), ("interpreted", &interpreted)]
        {
            let ratios = times.iter().zip(&native).map(|(time, native)| time / native).collect();
            let (least, middle) = (times.iter().copied().fold(f64::MAX, f64::min), times.clone());
            let (middle, ratio) = (median(middle), median(ratios));
            println!(
                "{:8} {way:12} best {least:.4} median {middle:.4} ratio {ratio:.2}",
                self.name
            );
        }
        Ok(())
    }

    /// Runs each execution once.
    fn turn(
        &self,
        native: &impl Hints,
        compiled: &JitProgram<u64>,
        interpreted: &Interpreted<'_>,
        seconds: &mut [Vec<f64>; 3],
    ) -> Result<[Vec<u32>; 3]> {
        let [a, b, c] = seconds;
        let labels = [self.once(native, a)?, self.once(compiled, b)?, self.once(interpreted, c)?];
        println!("{:8} {:.4} {:.4} {:.4}", self.name, last(a), last(b), last(c));
        Ok(labels)
    }

    fn once(&self, program: &impl Hints, seconds: &mut Vec<f64>) -> Result<Vec<u32>> {
        let found: Outcome = self.executor.run(self.graph, program, &self.settings, &mut ())?;
        seconds.push(found.rounds.iter().map(|round| round.seconds).sum());
        Ok(found.labels)
    }
}

fn last(values: &[f64]) -> f64 {
    values.last().copied().unwrap_or(f64::NAN)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
