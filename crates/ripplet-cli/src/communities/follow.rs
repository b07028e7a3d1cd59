//! A search for communities as the command follows it: notes, rounds, and errors in the words of its options.

use super::job::Job;
use super::program::{Program, attenuation_refused};
use crate::console::{Console, Watch};
use crate::device::note_fallback;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory::Limit;
use crate::ranks::Ranks;
use ripplet::Observer;
use ripplet::communities::{
    CommunitiesError, FailedStage, HostMemoryError, PlannedRun, Resumed, SearchEvent,
    SearchObserver,
};
use ripplet::device::Fallback;
use ripplet::graph::VertexIds;
use ripplet::lp::check::{BrokenPromise, Promise};
use ripplet::lp::{ProgramInfo, RankLabels, Round, RoundObserver};
use ripplet::programs::ProgramName;
use ripplet::ranks::SharedComm;
use std::convert::Infallible;

/// Observer of a search: prints what it decides, shows its rounds, and reports errors of ranks.
pub struct Follow<'a> {
    job: &'a Job<'a>,
    ranks: &'a Ranks,
    console: &'a Console,
    /// The ids of the graph's vertices.
    ids: &'a VertexIds,
    /// The limit of host memory that the search has.
    limit: Option<Limit>,
    watch: Watch<'a>,
    /// The failure of a stage that ranks did together.
    failed: Option<Failure>,
}

impl<'a> Follow<'a> {
    /// Follows a search on a graph with these ids, under this limit of host memory.
    pub fn new(
        job: &'a Job<'a>,
        ranks: &'a Ranks,
        console: &'a Console,
        ids: &'a VertexIds,
        limit: Option<Limit>,
    ) -> Follow<'a> {
        let watch = Follow::watch(job, console, ids);
        Follow { job, ranks, console, ids, limit, watch, failed: None }
    }

    fn watch(job: &Job<'_>, console: &'a Console, ids: &VertexIds) -> Watch<'a> {
        match job.program {
            Program::Refine(_) => console.watch(),
            _ => console.watch().until(job.settings.stop.clone(), ids.len() as u32),
        }
    }

    /// Returns the failure of the command after an error of the search.
    pub fn failure(&mut self, error: CommunitiesError) -> Failure {
        if let Some(failed) = self.failed.take() {
            return failed;
        }
        match error {
            CommunitiesError::Open(error) => error.into(),
            CommunitiesError::Threads(error) => error.into(),
            CommunitiesError::Run(error) => error.into(),
            CommunitiesError::OutOfMemory(error) => error.into(),
            CommunitiesError::Quality(error) => error.into(),
            CommunitiesError::Refine(error) => error.into(),
            CommunitiesError::Checkpoint(error) => error.into(),
            CommunitiesError::HostMemory(error) => self.too_large(&error),
            CommunitiesError::Attenuation(error) => attenuation_refused(error),
            CommunitiesError::Threshold(error) => {
                Failure::refused(error.to_string(), "ask for another")
            }
            CommunitiesError::Seed(error) => Failure::refused(error.to_string(), "mend the seeds"),
            CommunitiesError::Broken(broken) => self.broken(&broken),
            // What else a search refuses, the options have refused before.
            error => Failure::refused(error.to_string(), ""),
        }
    }

    /// Returns the refusal of a run whose plan exceeds the limit.
    fn too_large(&self, error: &HostMemoryError) -> Failure {
        match self.limit {
            Some(limit) => limit.refusal(&error.plan, error.needed, &self.less(error)),
            None => Failure::refused(error.to_string(), ""),
        }
    }

    /// Returns choices with which a run needs less memory, as the end of a sentence.
    fn less(&self, error: &HostMemoryError) -> String {
        match (error.run, &self.job.program) {
            (PlannedRun::Check, _) => return ", or leave --check-program out".into(),
            (PlannedRun::Run, Program::Refine(refine)) => {
                return match refine.profile {
                    Some(_) => ", or use fewer --threads or --profile-runs".into(),
                    None => ", or use fewer --threads".into(),
                };
            }
            (PlannedRun::Run, _) if error.plan.total_device() > 0 => return String::new(),
            (PlannedRun::Run, _) => {}
        }
        let mut less = ", or use fewer --threads".to_owned();
        let is_cdlp = self.job.program.registered() == Some(ProgramName::Cdlp);
        if !is_cdlp && !self.job.settings.schedule.is_in_place() && !self.ranks.are_several() {
            less += ", or --schedule async, which needs the least";
        }
        if let Some(counter) = error.smaller {
            less += &format!(", or count by --counter {counter}, which fits");
        }
        less
    }

    /// Returns the refusal of a program that breaks a promise.
    fn broken(&self, broken: &BrokenPromise) -> Failure {
        let sentence = broken.describe(|v| self.ids.get(v).to_string());
        let meaning = broken.promise.meaning();
        let help = match broken.promise {
            Promise::Pure(_) => format!("{meaning}: write it as a function of its arguments"),
            _ => format!("by its promise, {meaning}: leave the promise out, or mend the hooks"),
        };
        Failure::refused(sentence, help)
    }

    /// Prints from where a run goes on.
    fn say_resumed(&self, Resumed { rounds, path, damaged }: &Resumed) {
        for error in damaged {
            self.console.note(&format!("{error}: taking the checkpoint before"));
        }
        self.console.remark(&format!("going on after round {rounds}, from {}", path.display()));
        interrupt::has_kept(*rounds);
    }

    /// Keeps what the command says of a stage that failed on some of the ranks.
    fn failed(&mut self, failure: Failure) -> CommunitiesError {
        self.failed = Some(failure);
        FailedStage { rank: 0, message: String::new(), own: None }.into()
    }
}

/// Returns which labels each rank has, and, if the program decides, why.
fn remark_on_labels(labels: RankLabels, program: &ProgramInfo) -> String {
    match labels {
        RankLabels::Ghosts => {
            "each rank has the labels of its vertices and their neighbours (ghosts)".into()
        }
        RankLabels::All | RankLabels::Auto if !RankLabels::has_ghosts(program) => format!(
            "each rank has the labels of all vertices: {} has label totals, and does not promise votes_for_own_label",
            program.name
        ),
        RankLabels::All | RankLabels::Auto => "each rank has the labels of all vertices".into(),
    }
}

impl Observer for Follow<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.watch.on_stage(name);
    }

    fn on_progress(&self, done: f64) {
        self.watch.on_progress(done);
    }

    fn is_cancelled(&self) -> bool {
        self.watch.is_cancelled()
    }
}

impl RoundObserver for Follow<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.watch.on_round(index, round);
    }
}

impl SearchObserver for Follow<'_> {
    fn on_event(&mut self, event: SearchEvent<'_>) {
        let console = self.console;
        match event {
            SearchEvent::FellBack { fallback, error } => {
                let reason = self.failure(error).to_string();
                note_fallback(&Fallback { reason, ..fallback }, console);
                self.watch = Follow::watch(self.job, console, self.ids);
            }
            SearchEvent::DeviceNote(note) => console.remark(&note),
            SearchEvent::Checked(checked) => console.remark(&format!(
                "no broken promise found at {} vertices with {} labels",
                checked.vertices, checked.candidates
            )),
            SearchEvent::Counter { counter, why } => {
                let why = self.failure(why);
                console.remark(&format!("counting by {counter}, as exact does not fit: {why}"));
            }
            SearchEvent::RankLabels { labels, program } => {
                console.remark(&remark_on_labels(labels, program));
            }
            SearchEvent::Resumed(from) => self.say_resumed(from),
            SearchEvent::NoCheckpoint(folder) => {
                console.remark(&format!("{} has no checkpoint: the run begins", folder.display()));
            }
            SearchEvent::Kept(rounds) => interrupt::has_kept(rounds),
            _ => {}
        }
    }

    fn end_stage(&mut self, _: &SharedComm) -> Result<(), CommunitiesError> {
        self.ranks.agree(Ok(())).map_err(|failure| self.failed(failure))
    }

    fn fail_stage(&mut self, _: &SharedComm, own: CommunitiesError) -> CommunitiesError {
        let own = self.failure(own);
        let Err(failure) = self.ranks.agree(Err::<Infallible, _>(own));
        self.failed(failure)
    }

    /// Leaves the communicator open: [`Ranks::end`] reports the error before it ends the others.
    fn on_failure(&mut self, _: &SharedComm, _: &CommunitiesError) {}
}
