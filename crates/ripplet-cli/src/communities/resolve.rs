//! The program, schedule, stop rule and checkpoints that the arguments choose together, or why they do not fit.

use super::arguments::{Arguments, CounterChoice, StopArguments};
use super::checkpoint::CheckpointArguments;
use super::program::{Program, RefineJob, SeededJob, SweepJob};
use crate::failure::Failure;
use ripplet::checkpoints::{CheckpointOptions, Every};
use ripplet::io::UnknownSeeds;
use ripplet::lp::programs::Seeding;
use ripplet::lp::{Schedule, Stop};
use ripplet::programs::{BuiltIn, ProgramName, StopChoice};

impl Arguments {
    /// The program, its schedule and when it stops, or why the flags do not go together.
    pub(super) fn resolve_program(&self) -> Result<(Program, Schedule, Stop), Failure> {
        if self.file.program_file.is_some() {
            self.check_parameters(None)?;
        }
        if let Some(mut file) = self.file.resolve()? {
            let schedule = self.resolve_schedule(file.schedule);
            file.columns_out = self.columns_out.clone();
            let stop = self.stop.choice().or(Stop::default());
            return Ok((Program::File(Box::new(file)), schedule, stop));
        }
        let name = self.choices.program.unwrap_or(ProgramName::Lpa);
        self.check_parameters(Some(name))?;
        let parameters = &self.parameters;
        let program = match (BuiltIn::from(name), parameters.sweep) {
            (BuiltIn::Cdlp, _) => return self.resolve_cdlp(),
            (BuiltIn::Lpa(guard), _) => BuiltIn::Lpa(parameters.guard.unwrap_or(guard)).into(),
            (BuiltIn::Llp(_), Some(halvings)) => {
                Program::Sweep(SweepJob { halvings, order: parameters.order.clone() })
            }
            (BuiltIn::Llp(gamma), None) => BuiltIn::Llp(parameters.gamma.unwrap_or(gamma)).into(),
            (BuiltIn::Slpa { program, threshold }, _) => BuiltIn::Slpa {
                program: parameters.memory.unwrap_or(program),
                threshold: parameters.threshold.unwrap_or(threshold),
            }
            .into(),
            (BuiltIn::Seeded { attenuation }, _) => {
                Program::Seeded(self.resolve_seeded(attenuation)?)
            }
        };
        let stop = self.stop.choice().for_program(name).map_err(|_| {
            Failure::refused(
                "slpa never settles: it runs a fixed number of iterations",
                "use --iterations instead of --max-iterations and --tolerance",
            )
        })?;
        Ok((program, self.resolve_schedule(name.schedule()), stop))
    }

    fn resolve_schedule(&self, default: Schedule) -> Schedule {
        let chosen = self.choices.schedule.map(|chosen| chosen.with_phases_of(default));
        let schedule = chosen.unwrap_or(default);
        let schedule = schedule.with_pick_less(self.choices.pick_less).unwrap_or(schedule);
        let phases = self.choices.phases;
        phases.and_then(|phases| schedule.with_phases(phases)).unwrap_or(schedule)
    }

    /// Refuses parameters of another program: they would be ignored.
    pub(super) fn check_parameters(&self, program: Option<ProgramName>) -> Result<(), Failure> {
        use ProgramName::{Llp, Lpa, Seeded, Slpa};
        let given = &self.parameters;
        let flags = [
            ("guard", Lpa, given.guard.is_some()),
            ("gamma", Llp, given.gamma.is_some()),
            ("sweep", Llp, given.sweep.is_some()),
            ("memory", Slpa, given.memory.is_some()),
            ("threshold", Slpa, given.threshold.is_some()),
            ("seeds", Seeded, given.seeds.is_some()),
            ("seeds-columns", Seeded, given.seeds_columns.is_some()),
            ("attenuation", Seeded, given.attenuation.is_some()),
            ("loose-seeds", Seeded, given.loose_seeds),
            ("skip-unknown-seeds", Seeded, given.skip_unknown_seeds),
        ];
        match flags.iter().find(|&&(_, of, is_given)| is_given && Some(of) != program) {
            None => Ok(()),
            Some(&(flag, of, _)) => {
                let program = program.map_or("from a file", ProgramName::as_str);
                Err(Failure::refused(
                    format!("--{flag} is a parameter of {of}, but the program is {program}"),
                    format!("leave --{flag} out, or use --program {of}"),
                ))
            }
        }
    }

    fn resolve_cdlp(&self) -> Result<(Program, Schedule, Stop), Failure> {
        let cdlp_is = |what: &str, help: &str| {
            Err(Failure::refused(
                format!("cdlp is {what}"),
                format!("{help}, or use --program lpa"),
            ))
        };
        if self.choices.schedule.is_some_and(|schedule| schedule != Schedule::sync()) {
            return cdlp_is("synchronous by its definition", "use --schedule sync");
        }
        if self.reading.weighted {
            return cdlp_is("unweighted by its definition", "leave --weighted out");
        }
        let name = ProgramName::Cdlp;
        let Ok(stop) = self.stop.choice().for_program(name) else {
            let help = "use --iterations instead of --max-iterations and --tolerance";
            return cdlp_is("a fixed number of iterations by its definition", help);
        };
        Ok((BuiltIn::Cdlp.into(), name.schedule(), stop))
    }

    fn resolve_seeded(&self, attenuation: f64) -> Result<SeededJob, Failure> {
        let given = &self.parameters;
        let Some(seeds) = given.seeds.clone() else {
            return Err(Failure::refused(
                "seeded begins with vertices whose cluster is known, but none are given",
                "name a file of them with --seeds",
            ));
        };
        if self.labels.is_some() {
            return Err(Failure::refused(
                "seeded begins with --seeds, and --labels would give every vertex a label",
                "leave --labels out",
            ));
        }
        Ok(SeededJob {
            seeds,
            columns: given.seeds_columns.clone(),
            unknown: if given.skip_unknown_seeds {
                UnknownSeeds::Skip
            } else {
                UnknownSeeds::Refuse
            },
            seeding: if given.loose_seeds { Seeding::Initial } else { Seeding::Fixed },
            attenuation: given.attenuation.unwrap_or(attenuation),
        })
    }
}

impl Arguments {
    /// Resolves the checkpoints of the run.
    pub(super) fn resolve_checkpoint(
        &self,
        program: &Program,
    ) -> Result<Option<CheckpointOptions>, Failure> {
        let CheckpointArguments { checkpoint, checkpoint_every, resume } = &self.checkpoint;
        let Some(folder) = checkpoint.clone() else { return Ok(None) };
        if let Program::Sweep(_) = program {
            return Err(Failure::refused(
                "--sweep is many runs, and --checkpoint keeps the state of one",
                "leave --checkpoint out, or run it at one --gamma",
            ));
        }
        if let Program::Refine(RefineJob { profile: Some(_), .. }) = program {
            return Err(Failure::refused(
                "--resolution-profile is many runs, and --checkpoint keeps the state of one",
                "leave --checkpoint out, or run it at one --resolution",
            ));
        }
        if self.choices.counter == Some(CounterChoice::Auto) {
            return Err(Failure::refused(
                "--counter auto depends on the memory at hand, and a run that goes on must count as \
                 it began",
                "name the counter: exact, or mg:8",
            ));
        }
        Ok(Some(CheckpointOptions {
            folder,
            every: checkpoint_every.unwrap_or(Every::DEFAULT),
            resume: *resume,
        }))
    }
}

impl StopArguments {
    /// Returns the choice that the flags make.
    fn choice(&self) -> StopChoice {
        let &StopArguments { iterations, max_iterations, tolerance } = self;
        StopChoice { iterations, max_iterations, tolerance }
    }
}
