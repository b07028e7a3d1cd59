//! What the flags mean together: the five choices and the places, before any data is touched.

use super::Arguments;
use super::arguments::{CounterName, EstimateForm, StorageName};
use super::program::Program;
use crate::failure::Failure;
use crate::machine::{DeviceArguments, Machine};
use crate::output::is_standard;
use crate::size::Size;
use crate::stats::Choices;
use crate::threads::ThreadArguments;
use ripplet::LoadOptions;
use ripplet::lp::{Counter, Order, Settings};
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
    pub program: Program,
    pub settings: Settings,
    pub storage: StorageName,
    pub device: &'a DeviceArguments,
    pub host_memory: Option<Size>,
    pub threads: &'a ThreadArguments,
}

impl Arguments {
    /// What the flags mean together, or why they do not go together.
    pub fn resolve(&self) -> Result<Job<'_>, Failure> {
        let choices = &self.choices;
        choices.device.check()?;
        let (program, schedule, stop) = self.resolve_program()?;
        if choices.phases.is_some() && !matches!(schedule.order, Order::Phased { .. }) {
            return Err(Failure::refused(
                format!("--phases is for the phased schedule, but this one is {}", schedule.name()),
                "leave --phases out, or use --schedule phased",
            ));
        }
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
            output: self.output.clone().filter(|_| self.estimate.is_none()),
            consecutive: self.consecutive,
            stats: self.stats.clone().filter(|_| self.estimate.is_none()),
            estimate: self.estimate,
            settings: Settings {
                schedule,
                counter: match choices.counter {
                    CounterName::Exact => Counter::Exact,
                },
                stop,
                seed: choices.seed,
                keep_disconnected: choices.keep_disconnected || program.keeps_disconnected(),
                ..Settings::default()
            },
            program,
            storage: choices.storage,
            device: &choices.device,
            host_memory: choices.host_memory,
            threads: &self.threads,
        })
    }
}

impl Job<'_> {
    /// The choices by their names.
    pub fn choices(&self, settings: &Settings, machine: &Machine, threads: usize) -> Choices {
        let Settings { schedule, counter, seed, .. } = settings;
        Choices {
            program: self.program.name().into(),
            schedule: schedule.name(),
            phases: match schedule.order {
                Order::Phased { phases } => Some(phases),
                Order::Sync | Order::Async => None,
            },
            counter: counter.name(),
            storage: match self.storage {
                StorageName::Plain => "plain",
            },
            device: machine.name(),
            threads,
            seed: *seed,
            deterministic: schedule.is_deterministic(),
        }
    }
}
