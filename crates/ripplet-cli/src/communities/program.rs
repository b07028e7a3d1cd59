//! The programs with their parameters, initial labels and output rows.

use super::file::FileJob;
use super::rows::Rows;
use crate::console::Console;
use crate::failure::Failure;
use crate::message::counted;
use crate::named_cover::LabelColumns;
use clap::ValueEnum;
use ripplet::graph::GraphView;
use ripplet::io::{self, ReadOptions, Seeds, UnknownSeeds};
use ripplet::lp::programs::{BadAttenuation, Seed, Seeded, Seeding, memberships, strengths};
use ripplet::lp::refine::{MergeShare, Objective};
use ripplet::lp::{DynProgram, Outcome, Settings};
use ripplet::programs::{BuiltIn, ProgramName};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// A program and its parameters.
#[derive(Clone, Debug)]
pub enum Program {
    /// A built-in program without seeds.
    BuiltIn(BuiltIn),
    /// Layered label propagation, at many γ.
    Sweep(SweepJob),
    /// From seeds.
    Seeded(SeededJob),
    /// Moves and contraction.
    Refine(RefineJob),
    /// The user's own.
    File(Box<FileJob>),
}

/// Layered label propagation at γ = 1, 1/2, …
#[derive(Clone, Debug)]
pub struct SweepJob {
    pub halvings: u32,
    /// The output of the order of the vertices.
    pub order: Option<PathBuf>,
}

/// The scores by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScoreName {
    /// Modularity: the weight inside communities, minus the weight expected there by chance
    Modularity,
    /// Constant Potts model: the weight inside communities, minus the resolution for each pair of members
    Cpm,
}

impl ScoreName {
    /// Returns the name, as the command line knows it.
    pub fn as_str(self) -> &'static str {
        match self {
            ScoreName::Modularity => "modularity",
            ScoreName::Cpm => "cpm",
        }
    }
}

/// Refinement of a score.
#[derive(Clone, Debug)]
pub struct RefineJob {
    /// The name of the score.
    pub score: ScoreName,
    pub objective: Objective,
    /// The output of the parts that communities are made of.
    pub levels: Option<PathBuf>,
    /// The vertices that keep their community.
    pub fixed: Option<PathBuf>,
    /// The most vertices of a community.
    pub max_size: Option<NonZeroU32>,
    /// The output of the merges of communities.
    pub dendrogram: Option<PathBuf>,
    /// The partitions at many resolutions, in place of one.
    pub profile: Option<ProfileJob>,
}

/// The best partitions over a range of resolutions.
#[derive(Clone, Debug)]
pub struct ProfileJob {
    /// The output of the table.
    pub path: PathBuf,
    pub range: Option<RangeInclusive<f64>>,
    /// The most runs.
    pub runs: u32,
}

/// Label propagation from seeds.
#[derive(Clone, Debug)]
pub struct SeededJob {
    pub seeds: PathBuf,
    pub columns: Option<LabelColumns>,
    pub unknown: UnknownSeeds,
    pub seeding: Seeding,
    pub attenuation: f64,
}

impl Program {
    /// Returns its name in the registry, unless it is the user's own.
    pub fn registered(&self) -> Option<ProgramName> {
        match self {
            Program::BuiltIn(program) => Some(program.name()),
            Program::Sweep(_) => Some(ProgramName::Llp),
            Program::Seeded(_) => Some(ProgramName::Seeded),
            Program::File(_) | Program::Refine(_) => None,
        }
    }

    /// The name, as the command line knows it.
    pub fn name(&self) -> &str {
        match self {
            Program::File(file) => &file.name,
            Program::Refine(refine) => refine.score.as_str(),
            program => program.registered().map_or("", ProgramName::as_str),
        }
    }

    /// The table that it reads beside the graph.
    pub fn reads(&self) -> Option<&Path> {
        match self {
            Program::Seeded(seeded) => Some(&seeded.seeds),
            Program::Refine(refine) => refine.fixed.as_deref(),
            Program::File(file) => file.table.as_deref(),
            _ => None,
        }
    }

    /// The tables that it writes beside OUT.
    pub fn writes(&self) -> Vec<&Path> {
        let writes = match self {
            Program::Sweep(sweep) => [sweep.order.as_deref(), None, None],
            Program::Refine(refine) => {
                let profile = refine.profile.as_ref().map(|profile| &*profile.path);
                [refine.levels.as_deref(), refine.dendrogram.as_deref(), profile]
            }
            Program::File(file) => [file.columns_out.as_deref(), None, None],
            _ => [None, None, None],
        };
        writes.into_iter().flatten().collect()
    }

    /// Returns whether each vertex has exactly one community, without a name.
    pub fn is_partition(&self) -> bool {
        self.registered().is_none_or(ProgramName::is_partition)
    }

    /// Returns the share at which communities merge at the end by default, if they do.
    pub fn merge(&self) -> Option<MergeShare> {
        match self {
            Program::BuiltIn(program) => program.merge(),
            _ => None,
        }
    }

    /// Returns whether communities stay as the program returns them, also if they are disconnected.
    pub fn keeps_disconnected(&self) -> bool {
        self.registered().is_some_and(ProgramName::keeps_disconnected)
    }
}

impl From<BuiltIn> for Program {
    fn from(program: BuiltIn) -> Program {
        Program::BuiltIn(program)
    }
}

/// Returns the output rows of a program of the registry; with `slpa` a row per membership.
pub fn rows_of(program: BuiltIn, outcome: &Outcome) -> Result<Rows<'_>, Failure> {
    let BuiltIn::Slpa { threshold, .. } = program else { return Ok(Rows::of_labels(outcome)) };
    let found = memberships(outcome, threshold);
    let found = found.map_err(|error| Failure::refused(error.to_string(), "ask for another"))?;
    Ok(Rows {
        vertices: Some(found.iter().map(|member| member.vertex).collect()),
        communities: found.iter().map(|member| member.label).collect(),
        strengths: Some(found.iter().map(|member| member.strength).collect()),
        clusters: None,
    })
}

/// Returns the failure of an attenuation out of its range.
pub fn attenuation_refused(error: BadAttenuation) -> Failure {
    Failure::refused(error.to_string(), "give --attenuation such a number")
}

/// Seeded label propagation on a graph: the program, the settings that begin with the seeds, and the seeds.
pub struct SeededRun {
    pub program: Box<dyn DynProgram>,
    pub settings: Settings,
    pub seeds: Seeds,
}

impl SeededJob {
    /// Reads the seeds and begins with them.
    pub fn resolve(
        &self,
        graph: GraphView<'_>,
        settings: Settings,
        console: &Console,
    ) -> Result<SeededRun, Failure> {
        console.stage(format!("reading {}", self.seeds.display()));
        let program = BuiltIn::Seeded { attenuation: self.attenuation };
        let program = program.instantiate(graph).map_err(attenuation_refused)?;
        let label_columns = self.columns.as_ref().map(|columns| columns.0.clone());
        let options = ReadOptions { label_columns, ..ReadOptions::default() };
        let seeds = io::read_seeds(&self.seeds, &options, graph.ids(), self.unknown)?;
        console.say(&seeds.summary.to_string());
        if seeds.skipped > 0 {
            let all = seeds.skipped + seeds.rows.len() as u64;
            let skipped = seeds.skipped;
            let are = if skipped == 1 { "is no vertex" } else { "are no vertices" };
            let all = counted(all, "seed", "seeds");
            console.note(&format!("{skipped} of {all} {are} of the graph: skipped"));
        }
        if seeds.rows.is_empty() {
            let is = match seeds.skipped {
                0 => "has no seeds",
                _ => "names no vertex of the graph",
            };
            return Err(Failure::refused(
                format!("{} {is}", self.seeds.display()),
                "give seeds that are vertices",
            ));
        }
        // A cluster's label is the first of its seeds.
        let mut first = vec![u32::MAX; seeds.clusters.len()];
        for row in &seeds.rows {
            let first = &mut first[row.cluster as usize];
            *first = row.vertex.min(*first);
        }
        let planted = seeds.rows.iter().map(|row| Seed {
            vertex: row.vertex,
            label: first[row.cluster as usize],
            strength: row.strength,
        });
        let planted: Vec<Seed> = planted.collect();
        let settings = Seeded::begin(settings, graph.vertices(), &planted, self.seeding)
            .map_err(|error| Failure::refused(error.to_string(), "mend the seeds"))?;
        Ok(SeededRun { program, settings, seeds })
    }
}

/// Returns the output rows of label propagation from seeds: vertices that no seed reached have no row.
pub fn rows_of_seeded(seeds: Seeds, outcome: &Outcome) -> Rows<'_> {
    let (rows, all) = (Rows::of_labels(outcome), strengths(outcome));
    let kept = match &rows.vertices {
        Some(vertices) => vertices.iter().map(|&vertex| all[vertex as usize]).collect(),
        None => all,
    };
    let mut of = vec![u32::MAX; outcome.labels.len()];
    seeds.rows.iter().for_each(|row| of[row.vertex as usize] = row.cluster);
    Rows { strengths: Some(kept), clusters: Some((seeds.clusters, of)), ..rows }
}
