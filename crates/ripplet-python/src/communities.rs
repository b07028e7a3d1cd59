//! Runs of label propagation and refinement, and what they found.

use crate::analyses::{Planned, planned};
use crate::array::{Array, arrays_of};
use crate::arrow::capsule_of;
use crate::column::column_of;
use crate::error::Failure;
use crate::graph::{Graph, format_of, ids_of};
use crate::job::Watch;
use crate::options::{Options, vertices};
use crate::program::{Own, Written, broken_promise, written};
use crate::ranks::{self, Shared, comm_of};
use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, Float32Array, Int64Array, RecordBatch, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyTuple};
use ripplet::checkpoints::CheckpointOptions;
use ripplet::communities::{
    Communities, CommunitiesError, CommunitySearch, Resumed, columns_of_dendrogram,
};
use ripplet::graph::{ExternalId, GraphView, VertexId, VertexIds, memory};
use ripplet::io::write::{
    Communities as Rows, Naming, Target, check_communities_or_graph, numbered_by_size,
    write_communities, write_communities_or_graph,
};
use ripplet::lp::check::SAMPLE;
use ripplet::lp::programs::{Cdlp, Guard, Llp, Lpa, Seed, Seeding};
use ripplet::lp::quality::{Quality, Summary};
use ripplet::lp::refine::{MergeShare, Objective, Resolution, dendrogram, hierarchy};
use ripplet::lp::small::MinSize;
use ripplet::lp::{Counter, DynProgram, NO_LABEL, RankLabels, Schedule, Settings, Stop, hubs};
use ripplet::programs::{BuiltIn, ProgramName, StopChoice};
use ripplet::ranks::Sharing;
use ripplet::{Device, Storage, StoredGraph};
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The communities of a run.
#[pyclass(frozen, module = "ripplet._native")]
pub struct Found {
    graph: Arc<StoredGraph>,
    rows: Arc<Memberships>,
    run: Run,
    /// The columns that a program wrote.
    columns: Written,
}

/// Labels, and memberships by community, the largest first.
struct Memberships {
    /// The label of each vertex.
    labels: Vec<VertexId>,
    /// The label of each community; of equally large ones the smallest comes first.
    communities: Vec<VertexId>,
    /// The begin of each community's members, and the end of the last one's.
    starts: Vec<u64>,
    /// The members, ascending within a community.
    members: Vec<VertexId>,
    /// The strength of each membership.
    strengths: Option<Vec<f32>>,
    /// Whether a vertex may have several communities.
    overlap: bool,
}

/// What a run did.
struct Run {
    /// Vertices that changed, that were updated, arcs that were read, and seconds, of each round.
    rounds: Vec<(u64, u64, u64, f64)>,
    reason: String,
    device: String,
    fallback: Option<String>,
    is_usual: bool,
    seconds: f64,
    /// How votes were counted.
    counter: String,
    /// The rounds, the path, and the damaged newer ones of the checkpoint from which the run went on.
    // The path is a text: a path of Python would have one slash in the address of an object.
    resumed: Option<(usize, OsString, Vec<String>)>,
}

impl Run {
    fn of(found: &Communities<'_>, seconds: f64) -> Run {
        let outcome = found.outcome();
        let rounds = outcome.rounds.iter();
        let resumed = found.resumed().cloned();
        Run {
            rounds: rounds.map(|r| (r.changed, r.visited, r.scanned, r.seconds)).collect(),
            reason: outcome.reason.name().to_string(),
            device: found.device().into(),
            fallback: found.fallback().map(|fallback| fallback.reason.clone()),
            is_usual: found.fallback().is_some_and(|fallback| fallback.is_usual),
            counter: found.counter().to_string(),
            seconds,
            resumed: resumed
                .map(|Resumed { rounds, path, damaged }| (rounds, path.into_os_string(), damaged)),
        }
    }
}

impl Memberships {
    fn of(found: &Communities<'_>, overlap: bool) -> Result<Memberships, Failure> {
        let by_size = found.by_size();
        let all = by_size.iter().map(|community| community.len()).sum();
        let mut communities = memory::with_room(by_size.len())?;
        let mut starts: Vec<u64> = memory::with_room(by_size.len() + 1)?;
        let mut members: Vec<VertexId> = memory::with_room(all)?;
        let has_strengths = by_size.iter().any(|community| community.strengths().is_some());
        let mut strengths: Vec<f32> = memory::with_room(if has_strengths { all } else { 0 })?;
        for community in &by_size {
            communities.push(community.label());
            starts.push(members.len() as u64);
            members.extend_from_slice(community.vertices());
            strengths.extend_from_slice(community.strengths().unwrap_or_default());
        }
        starts.push(members.len() as u64);
        Ok(Memberships {
            labels: memory::copied(found.labels())?,
            communities,
            starts,
            members,
            strengths: has_strengths.then_some(strengths),
            overlap,
        })
    }
}

/// The choices of a run.
pub struct Choices {
    program: BuiltIn,
    /// A program of the user's own, in place of the built-in one.
    own: Option<Own>,
    refine: Option<Objective>,
    settings: Option<Settings>,
    device: Device,
    schedule: Option<Schedule>,
    /// The counter; `None` for the one that fits the memory.
    counter: Option<Counter>,
    stop: Option<Stop>,
    seed: u64,
    keep_disconnected: Option<bool>,
    merge: Option<Option<MergeShare>>,
    storage: Option<Storage>,
    initial: Option<Vec<VertexId>>,
    seeds: Vec<Seed>,
    seeding: Seeding,
    fixed: Vec<VertexId>,
    max_size: Option<NonZeroU32>,
    min_size: Option<MinSize>,
    pub threads: Option<usize>,
    device_memory: Option<u64>,
    host_memory: Option<u64>,
    checkpoints: Option<CheckpointOptions>,
    /// Which processes share the run, and the time without a sign of life after which one is lost.
    pub ranks: Shared,
    pub rank_labels: RankLabels,
}

/// Parameters of programs, by their names on the command line.
const PARAMETERS: [&str; 5] = ["guard", "gamma", "memory", "threshold", "attenuation"];

impl Choices {
    pub fn of(options: &Options<'_>) -> PyResult<Choices> {
        let name = options.parsed::<ProgramName>("program")?;
        let program = name.unwrap_or(ProgramName::Lpa);
        let own = Own::of(options)?;
        let refine = objective(options, name, own.is_some())?;
        let mut built_in = BuiltIn::from(program);
        for parameter in PARAMETERS {
            let Some(value) = options.number(parameter)? else { continue };
            if own.is_some() {
                let of =
                    ProgramName::with_parameter(parameter).map_or("another", |(of, _)| of.as_str());
                return Err(Failure::input(format!(
                    "{parameter} is a parameter of {of}, but the program is your own: leave {parameter} out, or use \
                     program=\"{of}\""
                ))
                .into());
            }
            built_in = built_in.with(parameter, &value.to_string()).map_err(|error| {
                let hint = match ProgramName::with_parameter(parameter) {
                    Some((of, _)) if of != program => format!("; it is a parameter of {of}"),
                    _ => String::new(),
                };
                Failure::input(format!("{error}{hint}"))
            })?;
        }
        let stop = StopChoice {
            iterations: options.count32("iterations", 0)?,
            max_iterations: options.count32("max_iterations", 0)?,
            tolerance: options.number("tolerance")?,
        };
        if stop.iterations.is_some() && (stop.max_iterations.is_some() || stop.tolerance.is_some())
        {
            let message =
                "iterations is an exact number of rounds: leave max_iterations and tolerance out";
            return Err(Failure::input(message).into());
        }
        let chosen = (stop != StopChoice::default()).then(|| match own {
            Some(_) => Ok(stop.or(Stop::default())),
            None => stop.for_program(program),
        });
        let stop = chosen.transpose().map_err(Failure::input)?;
        let settings = match options.text("preset")?.as_deref() {
            None => None,
            Some("nu-mg8") => Some(Settings::nu_mg8()),
            Some("nu-bm") => Some(Settings::nu_bm()),
            Some(other) => {
                return Err(Failure::input(format!(
                    "preset: expected nu-mg8 or nu-bm, not {other}"
                ))
                .into());
            }
        };
        if settings.is_some() {
            if own.is_some() {
                return Err(Failure::input(
                    "a preset has a program of its own: leave preset or program out",
                )
                .into());
            }
            built_in = BuiltIn::Lpa(Guard::OFF);
        }
        let labels = |name| {
            options
                .any(name)
                .and_then(|labels| labels.map(|labels| vertices(&labels, name)).transpose())
        };
        let seeding = match options.flag("loose_seeds")? {
            true => Seeding::Initial,
            false => Seeding::Fixed,
        };
        let of_own = own.as_ref().map(|own| own.boxed().info().schedule);
        Ok(Choices {
            program: built_in,
            own,
            refine,
            settings,
            device: options.parsed("device")?.unwrap_or_else(Device::auto),
            schedule: schedule(options, program, of_own)?,
            counter: match options.text("counter")?.as_deref() {
                Some("auto") => None,
                _ => Some(options.parsed("counter")?.unwrap_or(Counter::EXACT)),
            },
            stop,
            seed: options.count("seed", 0)?.unwrap_or(0),
            keep_disconnected: options.choice("keep_disconnected")?.filter(|&keep| keep),
            merge: merge(options)?,
            storage: None,
            initial: labels("initial")?,
            seeds: seeds(options)?,
            seeding,
            fixed: labels("fixed")?.unwrap_or_default(),
            max_size: options.count32("max_size", 1)?.and_then(NonZeroU32::new),
            min_size: min_size(options)?,
            threads: options.count32("threads", 1)?.map(|threads| threads as usize),
            device_memory: options.count("device_memory", 1)?,
            host_memory: options.count("host_memory", 1)?,
            checkpoints: checkpoints(options)?,
            ranks: ranks::of(options)?,
            rank_labels: options.parsed("rank_labels")?.unwrap_or_default(),
        })
    }

    /// Returns the settings of a program of the user's own.
    fn settings_of_own(&self, own: &Own) -> Settings {
        let mut settings = Settings {
            schedule: self.schedule.unwrap_or(own.boxed().info().schedule),
            stop: self.stop.clone().unwrap_or_default(),
            counter: self.counter.unwrap_or(Counter::EXACT),
            seed: self.seed,
            initial: self.initial.clone(),
            ..Settings::default()
        };
        own.fill(&mut settings);
        settings
    }

    /// Returns the program and the settings of a run on each graph of a batch.
    ///
    /// # Errors
    /// If a choice is about one graph, or about a GPU.
    pub fn of_each_graph(self) -> Result<(Box<dyn DynProgram>, Settings), Failure> {
        let of_one = [
            ("refine", self.refine.is_some()),
            ("max_size", self.max_size.is_some()),
            ("min_size", self.min_size.is_some()),
            ("counter=\"auto\"", self.counter.is_none()),
            ("initial", self.initial.is_some()),
            ("seeds", !self.seeds.is_empty()),
            ("fixed", !self.fixed.is_empty()),
            ("checkpoint", self.checkpoints.is_some()),
            ("ranks", self.ranks.0 != Sharing::None),
        ];
        if let Some((name, _)) = of_one.iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::input(format!(
                "{name} is about one graph: leave it out, or use ripplet.communities for each graph"
            )));
        }
        if !self.device.is_auto() && !self.device.is_cpu() {
            return Err(Failure::input("the communities of a batch are for the CPU so far"));
        }
        if let Some(column) = self.own.as_ref().and_then(Own::column_to_give) {
            return Err(Failure::input(format!(
                "the program needs the column `{column}`, but the input is a batch, which has no columns: give it a \
                 default in the program, or use ripplet.communities for each graph"
            )));
        }
        let (program, settings) = match &self.own {
            Some(own) => (own.boxed(), self.settings_of_own(own)),
            None => (self.built_in_of_each_graph()?, self.settings_of_built_in()),
        };
        let settings = Settings {
            schedule: self.schedule.unwrap_or(settings.schedule),
            stop: self.stop.unwrap_or(settings.stop),
            keep_disconnected: self.keep_disconnected.unwrap_or(settings.keep_disconnected),
            merge: self.merge.unwrap_or(settings.merge),
            seed: self.seed,
            ..settings
        };
        Ok((program, settings))
    }

    /// Returns a built-in program that gives each vertex of a graph one community.
    fn built_in_of_each_graph(&self) -> Result<Box<dyn DynProgram>, Failure> {
        Ok(match self.program {
            BuiltIn::Lpa(guard) => Lpa::new(guard).into(),
            BuiltIn::Cdlp => Cdlp.into(),
            BuiltIn::Llp(gamma) => Llp::new(gamma).into(),
            BuiltIn::Slpa { .. } | BuiltIn::Seeded { .. } => {
                return Err(Failure::input(format!(
                    "program: expected lpa, cdlp or llp for the graphs of a batch, not {}",
                    self.program.name()
                )));
            }
        })
    }

    /// Returns the settings of a built-in program: those of the preset, or its own.
    fn settings_of_built_in(&self) -> Settings {
        self.settings.clone().unwrap_or_else(|| Settings {
            counter: self.counter.unwrap_or(Counter::EXACT),
            ..self.program.settings()
        })
    }

    pub fn search<'g>(self, graph: GraphView<'g>) -> CommunitySearch<'g> {
        let mut search = ripplet::communities(graph).built_in(self.program);
        if let Some(own) = &self.own {
            search = search.own_boxed(own.boxed()).settings(self.settings_of_own(own));
            if own.is_checked() {
                search = search.check_program(SAMPLE);
            }
        }
        search = search.device(self.device);
        if let Some(settings) = self.settings {
            search = search.settings(settings);
        } else if let Some(counter) = self.counter {
            search = search.counter(counter);
        }
        if self.counter.is_none() {
            search = search.fitting_counter();
        }
        if let Some(size) = self.min_size {
            search = search.min_size(size);
        }
        search = search.seed(self.seed).seeds(self.seeds, self.seeding).fixed(self.fixed);
        if let Some(objective) = self.refine {
            search = search.refine(objective);
        }
        if let Some(schedule) = self.schedule {
            search = search.schedule(schedule);
        }
        if let Some(stop) = self.stop {
            search = search.stop(stop);
        }
        if let Some(keep) = self.keep_disconnected {
            search = search.keep_disconnected(keep);
        }
        if let Some(merge) = self.merge {
            search = search.merge(merge);
        }
        if let Some(storage) = self.storage {
            search = search.storage(storage);
        }
        if let Some(initial) = self.initial {
            search = search.initial_labels(initial);
        }
        if let Some(most) = self.max_size {
            search = search.max_size(most);
        }
        if let Some(threads) = self.threads {
            search = search.threads(threads);
        }
        if let Some(bytes) = self.device_memory {
            search = search.device_memory(bytes);
        }
        if let Some(bytes) = self.host_memory {
            search = search.host_memory(bytes);
        }
        if let Some(checkpoints) = self.checkpoints {
            search = search.checkpoints(checkpoints);
        }
        search
    }
}

/// Returns where the run keeps its state, if it does.
fn checkpoints(options: &Options<'_>) -> PyResult<Option<CheckpointOptions>> {
    let (every, resume) = (options.parsed("checkpoint_every")?, options.flag("resume")?);
    match options.text("checkpoint")? {
        Some(folder) => {
            let begun = CheckpointOptions::new(folder);
            Ok(Some(CheckpointOptions { every: every.unwrap_or(begun.every), resume, ..begun }))
        }
        None if every.is_some() || resume => {
            let message = "checkpoint_every and resume are about checkpoints: give checkpoint a folder, or leave them out";
            Err(Failure::input(message).into())
        }
        None => Ok(None),
    }
}

/// Returns the least size of a community, if one is chosen.
fn min_size(options: &Options<'_>) -> PyResult<Option<MinSize>> {
    let (least, joins) = (options.count32("min_size", 1)?, options.flag("join_small")?);
    match (least, joins) {
        (None, true) => {
            let message = "join_small is for communities with fewer than min_size vertices: give min_size, or leave it out";
            Err(Failure::input(message).into())
        }
        (least, true) => Ok(least.map(MinSize::Join)),
        (least, false) => Ok(least.map(MinSize::Drop)),
    }
}

/// Returns the score to refine, if one is chosen.
fn objective(
    options: &Options<'_>,
    program: Option<ProgramName>,
    is_own: bool,
) -> PyResult<Option<Objective>> {
    let refused = |message: &str| Err(Failure::input(message).into());
    let resolution = match options.any("resolution")? {
        None => None,
        Some(value) if value.extract::<&str>().is_ok_and(|text| text == "auto") => {
            Some(Resolution::Auto)
        }
        Some(_) => options.number("resolution")?.map(Resolution::Fixed),
    };
    let Some(score) = options.text("refine")? else {
        return match resolution {
            None => Ok(None),
            Some(_) => refused(
                "label propagation has no resolution: use refine=\"modularity\" with it, or program=\"llp\" with gamma",
            ),
        };
    };
    if program.is_some() || is_own {
        return refused("refine replaces the program: leave one of both out");
    }
    match (&*score, resolution) {
        ("modularity", resolution) => {
            Ok(Some(Objective::Modularity(resolution.unwrap_or(Resolution::Auto))))
        }
        ("cpm", Some(Resolution::Fixed(resolution))) => Ok(Some(Objective::Cpm(resolution))),
        ("cpm", _) => refused(
            "cpm has no resolution that suits every graph: it is the least density of a community; give resolution \
             a number, such as 0.05",
        ),
        _ => Err(Failure::input(format!("refine: expected modularity or cpm, not {score}")).into()),
    }
}

fn schedule(
    options: &Options<'_>,
    program: ProgramName,
    of_own: Option<Schedule>,
) -> PyResult<Option<Schedule>> {
    let refused = |message: String| Err(Failure::input(message).into());
    let named = match options.text("schedule")? {
        None => None,
        Some(name) => match Schedule::named(&name) {
            Some(schedule) => Some(schedule),
            None => {
                let names = Schedule::NAMED.map(Schedule::name).join(", ");
                return refused(format!("schedule: expected one of {names}, not {name}"));
            }
        },
    };
    if program == ProgramName::Cdlp && named.is_some_and(|named| named != Schedule::sync()) {
        return refused(
            "cdlp is synchronous by its definition: use schedule=\"sync\", or another program"
                .into(),
        );
    }
    let default = of_own.unwrap_or(program.schedule());
    let named = named.map(|named| named.with_phases_of(default));
    let (phases, pick_less) = (options.count32("phases", 1)?, options.count32("pick_less", 1)?);
    if program == ProgramName::Cdlp || phases.is_none() && pick_less.is_none() {
        // That of cdlp also has the rule for ties.
        return Ok(named.filter(|_| program != ProgramName::Cdlp));
    }
    let mut schedule = named.unwrap_or(default);
    if let Some(phases) = phases {
        match schedule.with_phases(phases).filter(|_| phases <= 4096) {
            Some(with) => schedule = with,
            None if phases > 4096 => {
                return refused(format!("phases: expected at most 4096, not {phases}"));
            }
            None => {
                return refused(format!(
                    "phases is for the phased schedule, but this one is {}",
                    schedule.name()
                ));
            }
        }
    }
    if let Some(pick_less) = pick_less {
        match schedule.with_pick_less(NonZeroU32::new(pick_less)) {
            Some(with) => schedule = with,
            None => {
                return refused(format!(
                    "pick_less is for the async schedule, but this one is {}",
                    schedule.name()
                ));
            }
        }
    }
    Ok(Some(schedule))
}

fn merge(options: &Options<'_>) -> PyResult<Option<Option<MergeShare>>> {
    let Some(value) = options.any("merge")? else { return Ok(None) };
    if value.extract::<&str>().is_ok_and(|text| text == "off")
        || value.extract::<bool>().is_ok_and(|on| !on)
    {
        return Ok(Some(None));
    }
    let Some(share) = options.number("merge")? else { return Ok(None) };
    let share =
        MergeShare::new(share).map_err(|error| Failure::input(format!("merge: {error}")))?;
    Ok(Some(Some(share)))
}

fn seeds(options: &Options<'_>) -> PyResult<Vec<Seed>> {
    let Some(seeds) = options.any("seeds")? else { return Ok(Vec::new()) };
    let columns = seeds.cast::<PyTuple>()?;
    let vertex = vertices(&columns.get_item(0)?, "seeds")?;
    let label = vertices(&columns.get_item(1)?, "seeds")?;
    let strength = pyo3::buffer::PyBuffer::<f32>::get(&columns.get_item(2)?)?.to_vec(seeds.py())?;
    let ends = vertex.into_iter().zip(label).zip(strength);
    Ok(ends.map(|((vertex, label), strength)| Seed { vertex, label, strength }).collect())
}

/// Finds communities.
#[pyfunction]
pub fn communities(py: Python<'_>, graph: &Graph, options: Bound<'_, PyDict>) -> PyResult<Found> {
    let options = Options(options);
    let choices = Choices::of(&options)?;
    let stored = graph.stored.clone();
    let start = options.start()?;
    match choices.program {
        // It reads the weights in parallel before it starts its threads.
        BuiltIn::Seeded { .. } => start.run(py, move |watch| found(stored, choices, watch)),
        _ => start.wait(py, move |watch| found(stored, choices, watch)),
    }
}

/// Returns the memory that a run needs.
#[pyfunction]
pub fn plan_communities(
    py: Python<'_>,
    graph: &Graph,
    options: Bound<'_, PyDict>,
) -> PyResult<Planned> {
    let options = Options(options);
    let choices = Choices::of(&options)?;
    let stored = graph.stored.clone();
    options.start()?.run(py, move |_| {
        let plan = choices.search(stored.view()).plan()?;
        let device = if plan.total_device() > 0 { "gpu" } else { "cpu" };
        Ok(planned(&plan, device.into()))
    })
}

fn found(stored: Arc<StoredGraph>, choices: Choices, watch: &mut Watch) -> Result<Found, Failure> {
    let begin = Instant::now();
    let overlap = matches!(choices.program, BuiltIn::Slpa { .. }) && choices.refine.is_none();
    watch.stage("running");
    let labels = choices.rank_labels;
    let comm = comm_of(choices.ranks)?;
    let search = choices.search(stored.view());
    let search = match comm {
        None => search,
        Some(comm) => search.ranks(comm).rank_labels(labels),
    };
    let found = search.run_with(watch).map_err(|error| match error {
        CommunitiesError::Broken(broken) => broken_promise(&broken, stored.view().ids()),
        error => error.into(),
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    watch.stage("collecting communities");
    let rows = Arc::new(Memberships::of(&found, overlap)?);
    let columns = written(&found.outcome().columns)?;
    let run = Run::of(&found, seconds);
    drop(found);
    Ok(Found { graph: stored, rows, run, columns })
}

impl Found {
    /// Returns communities that share no vertex.
    pub fn of(
        graph: &Arc<StoredGraph>,
        found: &Communities<'_>,
        seconds: f64,
    ) -> Result<Found, Failure> {
        let (rows, run) = (Memberships::of(found, false)?, Run::of(found, seconds));
        Ok(Found { graph: graph.clone(), rows: Arc::new(rows), run, columns: Vec::new() })
    }
}

#[pymethods]
impl Found {
    /// The label of each vertex: the vertex that names its community.
    #[getter]
    fn labels(&self) -> Array {
        Array::within(self.rows.clone(), |rows| &rows.labels[..])
    }

    /// The labels of the communities, the largest first.
    #[getter]
    fn communities(&self) -> Array {
        Array::within(self.rows.clone(), |rows| &rows.communities[..])
    }

    /// The begin of each community's members, and the end of the last one's.
    #[getter]
    fn starts(&self) -> Array {
        Array::within(self.rows.clone(), |rows| &rows.starts[..])
    }

    /// The members of all communities.
    #[getter]
    fn members(&self) -> Array {
        Array::within(self.rows.clone(), |rows| &rows.members[..])
    }

    /// The strength of each member.
    #[getter]
    fn strengths(&self) -> Option<Array> {
        self.rows.strengths.as_ref()?;
        Some(Array::within(self.rows.clone(), |rows| rows.strengths.as_deref().unwrap_or_default()))
    }

    /// Whether a vertex may have several communities.
    #[getter]
    fn overlap(&self) -> bool {
        self.rows.overlap
    }

    /// Changed and updated vertices, arcs that were read, and seconds, of each round.
    #[getter]
    fn rounds(&self) -> Vec<(u64, u64, u64, f64)> {
        self.run.rounds.clone()
    }

    #[getter]
    fn reason(&self) -> &str {
        &self.run.reason
    }

    #[getter]
    fn device(&self) -> &str {
        &self.run.device
    }

    /// The reason why it was the CPU, if the choice allowed a GPU, and whether that is usual.
    #[getter]
    fn fallback(&self) -> Option<(String, bool)> {
        self.run.fallback.clone().map(|reason| (reason, self.run.is_usual))
    }

    #[getter]
    fn counter(&self) -> &str {
        &self.run.counter
    }

    /// The rounds, the path, and the damaged newer ones of the checkpoint from which the run went on.
    #[getter]
    fn resumed(&self) -> Option<(usize, OsString, Vec<String>)> {
        self.run.resumed.clone()
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.run.seconds
    }

    /// The columns that a program wrote: names, values per vertex, and values.
    #[getter]
    fn columns(&self) -> Written {
        self.columns.clone()
    }

    /// The number of communities and the modularity of the labels.
    fn summary(&self, py: Python<'_>) -> PyResult<(u64, f64)> {
        let (graph, rows) = (self.graph.clone(), self.rows.clone());
        Options(PyDict::new(py)).start()?.run(py, move |_| {
            let Summary { communities, modularity } = Summary::of(graph.view(), &rows.labels)?;
            Ok((communities, modularity))
        })
    }

    /// Measures of the communities, as JSON.
    fn quality(&self, py: Python<'_>, resolution: f64) -> PyResult<String> {
        let (graph, rows) = (self.graph.clone(), self.rows.clone());
        Options(PyDict::new(py)).start()?.run(py, move |_| {
            let quality = Quality::at_resolution(graph.view(), &rows.labels, resolution)?;
            serde_json::to_string(&quality).map_err(Failure::input)
        })
    }

    /// Partitions of the vertices into parts of the communities, the finest first, and the communities; parts have numbers from
    /// 0, the largest first.
    fn parts(
        &self,
        py: Python<'_>,
        score: &str,
        resolution: f64,
        options: Bound<'_, PyDict>,
    ) -> PyResult<Vec<Array>> {
        let options = Options(options);
        let seed = options.count("seed", 0)?.unwrap_or(0);
        let objective = fixed_objective(score, resolution);
        let (graph, rows) = (self.graph.clone(), self.rows.clone());
        options.start()?.run(py, move |watch| {
            let parts = hierarchy(graph.view(), objective, seed, &rows.labels, watch)?;
            let all = parts.iter().chain([&rows.labels]);
            all.map(|labels| Ok(Array::of(numbered_by_size(labels, labels.len())?))).collect()
        })
    }

    /// How communities join, pair by pair, as columns by their names; communities have numbers from 0, the largest first.
    fn dendrogram(
        &self,
        py: Python<'_>,
        score: &str,
        options: Bound<'_, PyDict>,
    ) -> PyResult<Vec<(&'static str, Array)>> {
        // The merges of a score are those of all its resolutions.
        let objective = fixed_objective(score, 1.0);
        let (graph, rows) = (self.graph.clone(), self.rows.clone());
        Options(options).start()?.run(py, move |watch| {
            let numbers = numbered_by_size(&rows.labels, rows.labels.len())?;
            let merges = dendrogram(graph.view(), objective, &numbers, watch)?;
            Ok(arrays_of(columns_of_dendrogram(&merges)?))
        })
    }

    /// Writes the communities to a file, as the command does.
    ///
    /// `names` is `vertex`, `hub` or `number`. `clusters` are the names of seeds' clusters, ascending, and the number of the name of each vertex that stands for
    /// one.
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        names: &str,
        clusters: Option<(Bound<'_, PyAny>, Vec<u32>)>,
    ) -> PyResult<()> {
        let format = format.map(format_of).transpose()?;
        let (by_size, by_hub) = (names == "number", names == "hub");
        if by_hub && clusters.is_some() {
            let message =
                "names: hub is for communities without a name, but the clusters of seeds have one";
            return Err(Failure::input(message).into());
        }
        let named = match clusters {
            None => None,
            Some((names, of)) => {
                let names = ids_of(&column_of(&names, "seeds")?)?;
                let count = names.len();
                let is_named = |&vertex: &VertexId| {
                    of.get(vertex as usize).is_some_and(|&name| (name as usize) < count)
                };
                if of.len() != self.rows.labels.len() || !self.rows.communities.iter().all(is_named)
                {
                    return Err(Failure::input("the clusters are not those of the seeds").into());
                }
                Some((names, of))
            }
        };
        let (graph, rows) = (self.graph.clone(), self.rows.clone());
        Options(PyDict::new(py)).start()?.run(py, move |_| {
            let (vertices, mut communities, strengths) = rows.by_vertex()?;
            if by_hub {
                let members = vertices.iter().copied().zip(communities.iter().copied());
                let hubs = hubs(graph.view(), members)?;
                communities.iter_mut().for_each(|label| *label = hubs[*label as usize]);
            }
            let table = Rows {
                vertices: Some(&vertices),
                communities: &communities,
                strengths: strengths.as_deref(),
            };
            let naming = match &named {
                _ if by_size => Naming::BySize,
                Some((names, of)) => Naming::Given { names, of },
                None => Naming::VertexId,
            };
            let target = Target::new(&path, format);
            match graph.view().as_plain() {
                Some(plain) => {
                    check_communities_or_graph(target, plain.ids())?;
                    write_communities_or_graph(target, plain, &table, naming)?;
                }
                None => write_communities(target, graph.view().ids(), &table, naming)?,
            }
            Ok(())
        })
    }

    /// The vertex, the community and the strength of each row of the command's table.
    fn rows(&self) -> PyResult<(Array, Array, Option<Array>)> {
        let (vertices, communities, strengths) = self.rows.by_vertex()?;
        Ok((Array::of(vertices), Array::of(communities), strengths.map(Array::of)))
    }

    /// Returns a capsule of an Arrow stream of the rows: `id`, `community` and perhaps `strength`.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let (graph, rows) = (self.graph.clone(), self.rows.clone());
        let batch = Options(PyDict::new(py)).start()?.run(py, move |_| {
            let (vertices, communities, strengths) = rows.by_vertex()?;
            let ids = graph.view().ids();
            let mut columns =
                vec![("id", ids_at(ids, &vertices)?), ("community", ids_at(ids, &communities)?)];
            if let Some(strengths) = strengths {
                columns.push(("strength", Arc::new(Float32Array::from(strengths)) as ArrayRef));
            }
            RecordBatch::try_from_iter(columns).map_err(Failure::input)
        })?;
        capsule_of(py, batch)
    }

    /// The state, for pickling.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = PyDict::new(py);
        let bytes = |values: &[u32]| -> Bound<'py, PyBytes> {
            PyBytes::new(py, bytemuck::cast_slice(values))
        };
        let Memberships { labels, communities, starts, members, strengths, overlap } = &*self.rows;
        state.set_item("labels", bytes(labels))?;
        state.set_item("communities", bytes(communities))?;
        state.set_item("starts", PyBytes::new(py, bytemuck::cast_slice(starts)))?;
        state.set_item("members", bytes(members))?;
        let strengths = strengths.as_ref().map(|all| PyBytes::new(py, bytemuck::cast_slice(all)));
        state.set_item("strengths", strengths)?;
        state.set_item("overlap", overlap)?;
        let Run { rounds, reason, device, fallback, is_usual, seconds, counter, resumed } =
            &self.run;
        state.set_item("rounds", rounds)?;
        state.set_item("reason", reason)?;
        state.set_item("device", device)?;
        state.set_item("fallback", fallback)?;
        state.set_item("is_usual", is_usual)?;
        state.set_item("seconds", seconds)?;
        state.set_item("counter", counter)?;
        state.set_item("resumed", resumed)?;
        let columns = self.columns.iter().map(|(name, len, values)| {
            (name.clone(), *len, values.is_integer(), PyBytes::new(py, values.as_bytes()))
        });
        state.set_item("columns", columns.collect::<Vec<_>>())?;
        Ok(state)
    }

    /// Returns the communities of a state that was pickled.
    #[staticmethod]
    fn of_state(graph: &Graph, state: Bound<'_, PyDict>) -> PyResult<Found> {
        let broken = || Failure::input("the pickled communities are damaged");
        let item = |name: &str| -> PyResult<Bound<'_, PyAny>> {
            state.get_item(name)?.ok_or_else(|| broken().into())
        };
        fn values<T: bytemuck::Pod>(bytes: &Bound<'_, PyAny>) -> Option<Vec<T>> {
            let bytes = bytes.cast::<PyBytes>().ok()?.as_bytes();
            (bytes.len() % size_of::<T>() == 0).then(|| bytemuck::pod_collect_to_vec(bytes))
        }
        let numbers = |name: &str| -> PyResult<Vec<u32>> {
            values(&item(name)?).ok_or_else(|| broken().into())
        };
        let strengths = item("strengths")?;
        let strengths = match strengths.is_none() {
            true => None,
            false => Some(values(&strengths).ok_or_else(broken)?),
        };
        let rows = Memberships {
            labels: numbers("labels")?,
            communities: numbers("communities")?,
            starts: values(&item("starts")?).ok_or_else(broken)?,
            members: numbers("members")?,
            strengths,
            overlap: item("overlap")?.extract()?,
        };
        if !rows.is_of(graph.view().vertices()) {
            return Err(broken().into());
        }
        let run = Run {
            rounds: item("rounds")?.extract()?,
            reason: item("reason")?.extract()?,
            device: item("device")?.extract()?,
            fallback: item("fallback")?.extract()?,
            is_usual: item("is_usual")?.extract()?,
            seconds: item("seconds")?.extract()?,
            counter: item("counter")?.extract()?,
            resumed: item("resumed")?.extract()?,
        };
        let columns: Vec<(String, u32, bool, Vec<u8>)> = item("columns")?.extract()?;
        let mut written: Written = Vec::new();
        for (name, len, is_integer, bytes) in columns {
            let values = u64::from(graph.view().vertices()) * u64::from(len);
            if values.checked_mul(4) != Some(bytes.len() as u64) {
                return Err(broken().into());
            }
            let values = match is_integer {
                true => Array::of::<u32>(bytemuck::pod_collect_to_vec(&bytes)),
                false => Array::of::<f32>(bytemuck::pod_collect_to_vec(&bytes)),
            };
            written.push((name, len, values));
        }
        Ok(Found { graph: graph.stored.clone(), rows: Arc::new(rows), run, columns: written })
    }
}

/// Returns a score at a resolution.
fn fixed_objective(score: &str, resolution: f64) -> Objective {
    match score {
        "cpm" => Objective::Cpm(resolution),
        _ => Objective::Modularity(Resolution::Fixed(resolution)),
    }
}

/// Vertices, communities and strengths of rows.
type ByVertex = (Vec<VertexId>, Vec<VertexId>, Option<Vec<f32>>);

impl Memberships {
    /// Returns the rows by vertex; those of a vertex begin with the strongest.
    fn by_vertex(&self) -> Result<ByVertex, Failure> {
        let Some(strengths) = &self.strengths else {
            let mut vertices: Vec<VertexId> = memory::with_room(self.members.len())?;
            let mut communities: Vec<VertexId> = memory::with_room(self.members.len())?;
            for (vertex, &label) in (0..).zip(&self.labels) {
                if label != NO_LABEL {
                    vertices.push(vertex);
                    communities.push(label);
                }
            }
            return Ok((vertices, communities, None));
        };
        let mut rows: Vec<(VertexId, VertexId, f32)> = memory::with_room(self.members.len())?;
        for (community, range) in self.communities.iter().zip(self.starts.windows(2)) {
            let range = range[0] as usize..range[1] as usize;
            let members = self.members[range.clone()].iter().zip(&strengths[range]);
            rows.extend(members.map(|(&vertex, &strength)| (vertex, *community, strength)));
        }
        rows.sort_by(|a, b| a.0.cmp(&b.0).then(b.2.total_cmp(&a.2)).then(a.1.cmp(&b.1)));
        let vertices = memory::collected(rows.iter().map(|row| row.0))?;
        let communities = memory::collected(rows.iter().map(|row| row.1))?;
        let strengths = memory::collected(rows.iter().map(|row| row.2))?;
        Ok((vertices, communities, Some(strengths)))
    }

    /// Returns whether all numbers are within a graph's.
    fn is_of(&self, vertices: u32) -> bool {
        let are_vertices = |numbers: &[u32]| numbers.iter().all(|&number| number < vertices);
        self.labels.len() == vertices as usize
            && self.labels.iter().all(|&label| label < vertices || label == NO_LABEL)
            && are_vertices(&self.communities)
            && are_vertices(&self.members)
            && self.starts.len() == self.communities.len() + 1
            && self.starts.first() == Some(&0)
            && self.starts.last() == Some(&(self.members.len() as u64))
            && self.starts.windows(2).all(|pair| pair[0] <= pair[1])
            && self.strengths.as_ref().is_none_or(|all| all.len() == self.members.len())
    }
}

/// Returns the ids of vertices as an Arrow array.
pub fn ids_at(ids: &VertexIds, vertices: &[VertexId]) -> Result<ArrayRef, Failure> {
    let unsigned = |vertex: &VertexId| match ids.get(*vertex) {
        ExternalId::Unsigned(id) => id,
        _ => 0,
    };
    Ok(match ids {
        VertexIds::Consecutive { .. } | VertexIds::Unsigned(_) => {
            Arc::new(UInt64Array::from(memory::collected(vertices.iter().map(unsigned))?))
        }
        VertexIds::Signed(ids) => Arc::new(Int64Array::from(memory::collected(
            vertices.iter().map(|&v| ids[v as usize]),
        )?)),
        VertexIds::Names(names) => {
            let mut column = LargeStringBuilder::with_capacity(vertices.len(), 0);
            vertices.iter().for_each(|&vertex| column.append_value(names.get(vertex as usize)));
            Arc::new(column.finish())
        }
    })
}
