//! What the flags mean together: the five choices and the places, before any data is touched.

use super::Arguments;
use super::arguments::{
    CounterName, Device, EstimateForm, ProgramName, ScheduleName, StopArguments, StorageName,
};
use crate::failure::Failure;
use crate::output::is_standard;
use crate::size::Size;
use crate::stats::Choices;
use crate::threads::ThreadArguments;
use ripplet::LoadOptions;
use ripplet::io::write::Naming;
use ripplet::lp::programs::Resolution;
use ripplet::lp::{Counter, Order, Schedule, Settings, Stop};
use std::path::PathBuf;

/// LDBC's customary number of iterations.
const CDLP_ITERATIONS: u32 = 10;

/// A resolved command.
pub struct Job<'a> {
    pub input: PathBuf,
    pub load: LoadOptions,
    pub labels: Option<PathBuf>,
    pub output: Option<PathBuf>,
    pub naming: Naming<'a>,
    pub stats: Option<PathBuf>,
    pub estimate: Option<EstimateForm>,
    pub program: Program,
    pub settings: Settings,
    pub storage: StorageName,
    pub device: Device,
    pub host_memory: Option<Size>,
    pub threads: &'a ThreadArguments,
}

/// A program and its parameters.
#[derive(Clone, Copy, Debug)]
pub enum Program {
    /// Label propagation with a guard.
    Lpa(Resolution),
    /// LDBC's.
    Cdlp,
}

impl Arguments {
    /// What the flags mean together, or why they do not go together.
    pub fn resolve(&self) -> Result<Job<'_>, Failure> {
        let choices = &self.choices;
        let (program, schedule, stop) = match choices.program {
            ProgramName::Lpa => self.resolve_lpa(),
            ProgramName::Cdlp => self.resolve_cdlp()?,
        };
        if choices.phases.is_some() && !matches!(schedule.order, Order::Phased { .. }) {
            return Err(Failure::refused(
                format!("--phases is for the phased schedule, but this one is {}", schedule.name()),
                "leave --phases out, or use --schedule phased",
            ));
        }
        let standard = |path: &PathBuf| is_standard(path);
        if is_standard(&self.input) && self.labels.as_ref().is_some_and(standard) {
            return Err(Failure::refused(
                "the graph and the labels cannot both come from standard input",
                "name a file for one of them",
            ));
        }
        Ok(Job {
            input: self.input.clone(),
            load: self.reading.options(&self.input, self.format, &self.building)?,
            labels: self.labels.clone(),
            output: self.output.clone().filter(|_| self.estimate.is_none()),
            naming: if self.consecutive { Naming::Consecutive } else { Naming::VertexId },
            stats: self.stats.clone().filter(|_| self.estimate.is_none()),
            estimate: self.estimate,
            program,
            settings: Settings {
                schedule,
                counter: match choices.counter {
                    CounterName::Exact => Counter::Exact,
                },
                stop,
                seed: choices.seed,
                // LDBC's labels are what they are.
                keep_disconnected: choices.keep_disconnected || matches!(program, Program::Cdlp),
                ..Settings::default()
            },
            storage: choices.storage,
            device: choices.device,
            host_memory: choices.host_memory,
            threads: &self.threads,
        })
    }

    fn resolve_lpa(&self) -> (Program, Schedule, Stop) {
        let choices = &self.choices;
        let schedule = match choices.schedule {
            None | Some(ScheduleName::Phased) => {
                let mut schedule = Schedule::phased();
                if let Some(phases) = choices.phases {
                    schedule.order = Order::Phased { phases };
                }
                schedule
            }
            Some(ScheduleName::Sync) => Schedule::sync(),
            Some(ScheduleName::Async) => Schedule::asynchronous(),
        };
        (Program::Lpa(choices.resolution.unwrap_or_default()), schedule, self.stop.rule())
    }

    fn resolve_cdlp(&self) -> Result<(Program, Schedule, Stop), Failure> {
        let cdlp_is = |what: &str, help: &str| {
            Err(Failure::refused(
                format!("cdlp is {what}"),
                format!("{help}, or use --program lpa"),
            ))
        };
        let StopArguments { iterations, max_iterations, tolerance } = self.stop;
        match self.choices.schedule {
            Some(ScheduleName::Phased | ScheduleName::Async) => {
                return cdlp_is("synchronous by its definition", "use --schedule sync");
            }
            None | Some(ScheduleName::Sync) => {}
        }
        if self.reading.weighted {
            return cdlp_is("unweighted by its definition", "leave --weighted out");
        }
        if self.choices.resolution.is_some() {
            return cdlp_is("without a resolution", "leave --resolution out");
        }
        if max_iterations.is_some() || tolerance.is_some() {
            let help = "use --iterations instead of --max-iterations and --tolerance";
            return cdlp_is("a fixed number of iterations by its definition", help);
        }
        let stop = Stop::after(iterations.unwrap_or(CDLP_ITERATIONS));
        Ok((Program::Cdlp, Schedule::cdlp(), stop))
    }
}

impl StopArguments {
    fn rule(&self) -> Stop {
        if let Some(rounds) = self.iterations {
            return Stop::after(rounds);
        }
        let default = Stop::default();
        let stop = Stop::after(self.max_iterations.unwrap_or(default.max_rounds()));
        let stop = match self.tolerance.or(default.tolerance()) {
            Some(share) => stop.at_tolerance(share),
            None => stop,
        };
        stop.at_oscillation()
    }
}

impl Job<'_> {
    /// The choices by their names.
    pub fn choices(&self, threads: usize) -> Choices {
        let Settings { schedule, counter, seed, .. } = &self.settings;
        Choices {
            program: match self.program {
                Program::Lpa(_) => "lpa",
                Program::Cdlp => "cdlp",
            },
            schedule: schedule.name(),
            phases: match schedule.order {
                Order::Phased { phases } => Some(phases),
                Order::Sync | Order::Async => None,
            },
            counter: counter.name(),
            storage: match self.storage {
                StorageName::Plain => "plain",
            },
            device: match self.device {
                Device::Cpu => "cpu",
            },
            threads,
            seed: *seed,
            deterministic: schedule.is_deterministic(),
        }
    }
}
