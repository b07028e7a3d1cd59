//! What the flags mean together: the five choices and the places, before any data is touched.

use super::Arguments;
use super::arguments::{CounterChoice, PresetName, ProgramName};
use super::checkpoint::CheckpointJob;
use super::program::Program;
use crate::estimate::EstimateForm;
use crate::failure::Failure;
use crate::machine::DeviceArguments;
use crate::output::is_standard;
use crate::size::Size;
use crate::stats::Choices;
use crate::threads::ThreadArguments;
use ripplet::lp::programs::Resolution;
use ripplet::lp::{Counter, Order, Settings};
use ripplet::{LoadOptions, Storage};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// A resolved command.
pub struct Job<'a> {
    pub input: PathBuf,
    pub load: LoadOptions,
    pub labels: Option<PathBuf>,
    pub output: Option<PathBuf>,
    pub consecutive: bool,
    pub stats: Option<PathBuf>,
    pub estimate: Option<EstimateForm>,
    pub checkpoint: Option<CheckpointJob>,
    pub program: Program,
    pub settings: Settings,
    /// Whether the counter is what the memory allows, instead of the settings'.
    pub finds_counter: bool,
    /// How the graph's lists are kept, where it is not as the file has them.
    pub storage: Option<Storage>,
    pub device: &'a DeviceArguments,
    pub host_memory: Option<Size>,
    pub threads: &'a ThreadArguments,
}

impl Arguments {
    /// What the flags mean together, or why they do not go together.
    pub fn resolve(&self) -> Result<Job<'_>, Failure> {
        let choices = &self.choices;
        choices.device.check()?;
        let (program, settings) = self.resolve_settings()?;
        let schedule = settings.schedule;
        if choices.phases.is_some() && !matches!(schedule.order, Order::Phased { .. }) {
            return Err(Failure::refused(
                format!("--phases is for the phased schedule, but this one is {}", schedule.name()),
                "leave --phases out, or use --schedule phased",
            ));
        }
        if choices.pick_less.is_some() && schedule.is_deterministic() {
            return Err(Failure::refused(
                format!(
                    "--pick-less is for the async schedule, but this one is {}",
                    schedule.name()
                ),
                "leave --pick-less out, or use --schedule async",
            ));
        }
        let checkpoint = self.resolve_checkpoint(&program)?;
        let files = [Some(&*self.input), self.labels.as_deref(), program.files().0];
        if files.into_iter().flatten().filter(|path| is_standard(path)).count() > 1 {
            return Err(Failure::refused(
                "the graph and what goes with it cannot both come from standard input",
                "name a file for one of them",
            ));
        }
        Ok(Job {
            input: self.input.clone(),
            load: self.reading.options(&self.input, self.format, &self.building)?,
            labels: self.labels.clone(),
            output: self.output.clone().filter(|_| self.estimate.estimate.is_none()),
            consecutive: self.consecutive,
            stats: self.stats.clone().filter(|_| self.estimate.estimate.is_none()),
            estimate: self.estimate.estimate,
            checkpoint,
            settings,
            finds_counter: choices.counter == Some(CounterChoice::Auto),
            program,
            storage: choices.storage.map(Storage::from),
            device: &choices.device,
            host_memory: choices.host_memory,
            threads: &self.threads,
        })
    }

    /// The program and how it is run.
    fn resolve_settings(&self) -> Result<(Program, Settings), Failure> {
        let choices = &self.choices;
        let (program, settings) = match choices.preset {
            Some(preset) => {
                self.check_parameters(Some(ProgramName::Lpa))?;
                let settings = match preset {
                    PresetName::NuMg8 => Settings::nu_mg8(),
                    PresetName::NuBm => Settings::nu_bm(),
                };
                (Program::Lpa(Resolution::OFF), settings)
            }
            None => {
                let (program, schedule, stop) = self.resolve_program()?;
                let counter = match choices.counter {
                    None | Some(CounterChoice::Auto) => Counter::Exact,
                    Some(CounterChoice::This(counter)) => counter,
                };
                let keep_disconnected = choices.keep_disconnected || program.keeps_disconnected();
                let settings =
                    Settings { schedule, counter, stop, keep_disconnected, ..Settings::default() };
                (program, settings)
            }
        };
        Ok((program, Settings { seed: choices.seed, ..settings }))
    }
}

impl Job<'_> {
    /// The choices by their names.
    pub fn choices(
        &self,
        settings: &Settings,
        storage: Storage,
        device: String,
        threads: usize,
    ) -> Choices {
        let Settings { schedule, counter, seed, .. } = settings;
        Choices {
            program: self.program.name().into(),
            schedule: schedule.name(),
            phases: match schedule.order {
                Order::Phased { phases } => Some(phases),
                Order::Sync | Order::Async { .. } => None,
            },
            pick_less: match schedule.order {
                Order::Async { pick_less } => pick_less.map(NonZeroU32::get),
                Order::Sync | Order::Phased { .. } => None,
            },
            counter: counter.to_string(),
            storage: storage.name(),
            device,
            threads,
            seed: *seed,
            deterministic: schedule.is_deterministic(),
        }
    }
}
