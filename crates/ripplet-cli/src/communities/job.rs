//! Resolves the flags to the five choices and the paths, before any data is read.

use super::arguments::{Arguments, CounterChoice, MergeChoice, PresetName};
use super::program::Program;
use super::rows::Names;
use crate::device::DeviceArguments;
use crate::estimate::EstimateForm;
use crate::failure::Failure;
use crate::named_cover::LabelColumns;
use crate::parts::is_whole;
use crate::ranks::not_on_ranks;
use crate::reading::check_standard_input;
use crate::size::Size;
use crate::standard_streams::is_standard;
use crate::stats::Choices;
use crate::threads::ThreadArguments;
use ripplet::checkpoints::{CheckpointOptions, RunCheckpoints};
use ripplet::io::Format;
use ripplet::io::write::{Target, is_graph};
use ripplet::lp::programs::Guard;
use ripplet::lp::refine::MergeShare;
use ripplet::lp::schedules::Parameter;
use ripplet::lp::small::MinSize;
use ripplet::lp::{Counter, RankLabels, RunError, Settings};
use ripplet::programs::{BuiltIn, ProgramName};
use ripplet::{LoadOptions, Storage};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A resolved command.
pub struct Job<'a> {
    pub input: PathBuf,
    pub load: LoadOptions,
    pub labels: Option<PathBuf>,
    pub labels_columns: Option<LabelColumns>,
    pub output: Option<PathBuf>,
    /// The output's format, if its name does not show it.
    pub to: Option<Format>,
    pub names: Names,
    pub small: Option<MinSize>,
    /// The number of largest communities that are listed.
    pub top: Option<u32>,
    pub stats: Option<PathBuf>,
    pub estimate: Option<EstimateForm>,
    pub checkpoint: Option<CheckpointOptions>,
    /// Whether checkpoints are kept, by this rank or another.
    pub keeps: bool,
    /// The reason why each rank reads the whole graph; `None` if it reads a part.
    pub whole_graph: Option<String>,
    /// The vertices whose labels each rank has.
    pub rank_labels: RankLabels,
    pub program: Program,
    pub settings: Settings,
    /// Whether the program's promises are tested before the run.
    pub checks_program: bool,
    /// Whether the settings are those of a preset.
    pub has_preset: bool,
    /// Whether the counter is chosen by the memory, instead of the settings.
    pub finds_counter: bool,
    /// The storage of the graph's lists, if it is not as in the file.
    pub storage: Option<Storage>,
    pub device: &'a DeviceArguments,
    pub host_memory: Option<Size>,
    pub threads: ThreadArguments,
}

impl Arguments {
    /// Resolves the flags, or returns why they contradict each other.
    pub fn resolve(&self) -> Result<Job<'_>, Failure> {
        let choices = &self.choices;
        choices.device.check()?;
        let (program, settings) = self.resolve_settings()?;
        if matches!(&program, Program::Refine(refine) if refine.profile.is_some())
            && !choices.device.is_cpu_enough()
        {
            return Err(Failure::refused(
                "--resolution-profile runs on the CPU",
                "leave --device out, or use --device cpu",
            ));
        }
        self.check_output(&program)?;
        let counted = settings.check_counter(program.name(), program.follows_frequency());
        counted.map_err(|error| Failure::from(RunError::from(error)))?;
        let schedule = settings.schedule;
        if choices.phases.is_some_and(|phases| schedule.with_phases(phases).is_none()) {
            let help = match program.registered() {
                Some(ProgramName::Cdlp) => {
                    "leave --phases out: cdlp is synchronous by its definition"
                }
                _ => "leave --phases out, or use --schedule phased",
            };
            return Err(Failure::refused(
                format!("--phases is for the phased schedule, but this one is {}", schedule.name()),
                help,
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
        let files = [Some(&*self.input), self.labels.as_deref(), program.reads()];
        let files: Vec<&Path> = files.into_iter().flatten().collect();
        check_standard_input(&files)?;
        Ok(Job {
            input: self.input.clone(),
            load: self.reading.options(&self.input, &self.building)?,
            labels: self.labels.clone(),
            labels_columns: self.labels_columns.clone(),
            to: self.to,
            output: self.output.clone().filter(|_| self.estimate.estimate.is_none()),
            names: self.names,
            small: self.min_size.map(if self.join_small { MinSize::Join } else { MinSize::Drop }),
            top: self.top,
            stats: self.stats.clone().filter(|_| self.estimate.estimate.is_none()),
            estimate: self.estimate.estimate,
            keeps: checkpoint.is_some() && self.estimate.estimate.is_none(),
            checkpoint,
            whole_graph: None,
            rank_labels: self.rank_labels.into(),
            settings,
            checks_program: self.check_program,
            has_preset: choices.preset.is_some(),
            finds_counter: choices.counter == Some(CounterChoice::Auto),
            program,
            storage: self.storage()?,
            device: &choices.device,
            host_memory: choices.host_memory,
            threads: self.threads,
        })
    }

    /// Refuses a missing output, and one that the program does not have.
    fn check_output(&self, program: &Program) -> Result<(), Failure> {
        if self.output.is_none() && self.to.is_some() {
            return Err(Failure::refused(
                "--to is the format of OUT, but without -o no communities are written",
                "add -o OUT, or leave --to out; --top prints a table for people, and `ripplet quality \
                 --per-community FILE` writes one for programs",
            ));
        }
        let of_one = |flag: &str, sentence: &str| {
            Err(Failure::refused(
                format!(
                    "{flag} {sentence}, but with {} a vertex may have several, or none",
                    program.name()
                ),
                format!("leave {flag} out, or use another --program"),
            ))
        };
        if program.is_partition() {
            return Ok(());
        }
        if self.join_small {
            return of_one("--join-small", "is for communities that share no vertex");
        }
        if self.top.is_some() {
            return of_one("--top", "is a table of communities that share no vertex");
        }
        if self.names == Names::Hub && matches!(program, Program::Seeded(_)) {
            return Err(Failure::refused(
                "--names hub is for communities without a name, but the clusters of seeded have one",
                "leave --names out",
            ));
        }
        Ok(())
    }

    /// Returns the storage of the graph's lists: plain if the graph is written, too.
    fn storage(&self) -> Result<Option<Storage>, Failure> {
        let asked = self.choices.storage.get();
        let Some(output) =
            self.output.as_deref().filter(|output| is_graph(Target::new(output, self.to)))
        else {
            return Ok(asked);
        };
        match asked {
            Some(Storage::Compressed) => Err(Failure::refused(
                format!(
                    "{} is the whole graph, which is written from plain lists",
                    output.display()
                ),
                "leave --storage out, or name a table, such as .csv or .parquet",
            )),
            Some(Storage::Plain) | None => Ok(Some(Storage::Plain)),
        }
    }

    /// Returns the program and its settings.
    fn resolve_settings(&self) -> Result<(Program, Settings), Failure> {
        let choices = &self.choices;
        if let Some(refine) = self.refine.resolve()? {
            let settings = Settings { seed: choices.seed, ..Settings::default() };
            return Ok((Program::Refine(refine), settings));
        }
        let (program, settings) = match choices.preset {
            Some(preset) => {
                self.check_parameters(Some(ProgramName::Lpa))?;
                let settings = match preset {
                    PresetName::NuMg8 => Settings::nu_mg8(),
                    PresetName::NuBm => Settings::nu_bm(),
                };
                (BuiltIn::Lpa(Guard::OFF).into(), settings)
            }
            None => {
                let (program, schedule, stop) = self.resolve_program()?;
                let counter = match choices.counter {
                    None | Some(CounterChoice::Auto) => Counter::EXACT,
                    Some(CounterChoice::This(counter)) => counter,
                };
                let keep_disconnected = choices.keep_disconnected || program.keeps_disconnected();
                // Labels to begin with are the caller's: only the rounds change them.
                let merge = program.merge().filter(|_| self.labels.is_none());
                let settings = Settings {
                    schedule,
                    counter,
                    stop,
                    keep_disconnected,
                    merge,
                    ..Settings::default()
                };
                (program, settings)
            }
        };
        let merge = match choices.merge {
            None => settings.merge,
            Some(MergeChoice::Off) => None,
            Some(MergeChoice::At(_)) if !program.is_partition() => {
                return Err(Failure::refused(
                    format!(
                        "--merge is for communities that do not overlap and hold all vertices, and {} \
                             finds others",
                        program.name()
                    ),
                    "leave --merge out, or use --program lpa",
                ));
            }
            Some(MergeChoice::At(_)) if program.registered() == Some(ProgramName::Cdlp) => {
                return Err(Failure::refused(
                    "cdlp is defined without merging",
                    "leave --merge out, or use --program lpa",
                ));
            }
            Some(MergeChoice::At(share)) => Some(share),
        };
        Ok((program, Settings { seed: choices.seed, merge, ..settings }))
    }
}

impl Job<'_> {
    /// Refuses what several ranks cannot do.
    pub fn check_ranks(&self) -> Result<(), Failure> {
        let schedule = self.settings.schedule;
        let (in_place, instead) = match self.has_preset {
            true => (
                "--preset".to_owned(),
                "leave --preset out: its schedule async has no order that ranks could keep, \
                 --schedule phased or sync have, and --counter mg:8 is that of nu-mg8",
            ),
            false => (format!("the schedule {}", schedule.name()), "use --schedule phased or sync"),
        };
        let files = [Some(&*self.input), self.labels.as_deref(), self.program.reads()];
        let reads_stream = files.into_iter().flatten().any(is_standard);
        let leave_out = |flag: &str| format!("leave {flag} out, or run it in one process");
        let refused = [
            ("refinement", matches!(self.program, Program::Refine(_)), leave_out("--refine")),
            ("--sweep", matches!(self.program, Program::Sweep(_)), "run it at one --gamma".into()),
            (&in_place, schedule.is_in_place(), instead.into()),
            ("--counter auto", self.finds_counter, "name the counter: exact, or mg:8".into()),
            ("reading standard input", reads_stream, "name a file that all ranks can read".into()),
        ];
        match refused.into_iter().find(|(_, is_asked, _)| *is_asked) {
            None => Ok(()),
            Some((what, _, help)) => Err(not_on_ranks(what, &help)),
        }
    }

    /// Returns why a rank needs the whole graph, if it does: else the lists of its own vertices are enough.
    pub fn needs_whole_graph(&self) -> Option<String> {
        if let Some(reason) = is_whole(&self.input, &self.load) {
            return Some(reason);
        }
        let joins = matches!(self.small, Some(MinSize::Join(_)));
        let reasons = [
            ("a program of a file", matches!(self.program, Program::File(_))),
            ("--program seeded", matches!(self.program, Program::Seeded(_))),
            ("--check-program", self.checks_program),
            ("--storage compressed", self.storage == Some(Storage::Compressed)),
            ("--names hub", self.names == Names::Hub),
            ("--join-small", joins),
            ("--top", self.top.is_some()),
            ("writing a graph", self.target().is_some_and(is_graph)),
        ];
        let reason = reasons.into_iter().find(|(_, needs)| *needs);
        reason.map(|(what, _)| format!("{what} needs all of it"))
    }

    /// Leaves out all outputs that another rank writes: all but one in parts.
    pub fn leave_to_first(&mut self) {
        (self.stats, self.top, self.checkpoint) = (None, None, None);
        if !self.is_in_parts() {
            self.output = None;
        }
    }

    /// Whether each rank writes a part of the communities.
    pub fn is_in_parts(&self) -> bool {
        self.target().is_some_and(|target| target.destination().is_in_parts())
    }

    /// Opens the folder of checkpoints, if one is requested.
    pub fn open_store(&self) -> Result<Option<Arc<RunCheckpoints>>, Failure> {
        let asked = self.checkpoint.as_ref().filter(|_| self.estimate.is_none());
        Ok(asked.map(CheckpointOptions::open).transpose()?.map(Arc::new))
    }

    /// Returns the output of the communities.
    pub fn target(&self) -> Option<Target<'_>> {
        self.output.as_deref().map(|output| Target::new(output, self.to))
    }

    /// Returns the choices by their names.
    pub fn choices(
        &self,
        settings: &Settings,
        storage: Storage,
        device: String,
        threads: usize,
    ) -> Choices {
        let Settings { schedule, counter, seed, .. } = settings;
        let (phases, pick_less) = match schedule.parameter() {
            Some(Parameter::Phases(phases)) => (Some(phases), None),
            Some(Parameter::PickLess(every)) => (None, Some(every.get())),
            None => (None, None),
        };
        Choices {
            program: self.program.name().into(),
            schedule: schedule.name(),
            phases,
            pick_less,
            counter: counter.to_string(),
            merge: settings.merge.map(MergeShare::value),
            storage: storage.name(),
            device,
            threads,
            seed: *seed,
            deterministic: schedule.is_deterministic(),
        }
    }
}
